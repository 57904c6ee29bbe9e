"""What a model computes of its shapes: integers, floats and choices, as expressions in dims."""
