"""Model files: the outputs of a model as chains."""
