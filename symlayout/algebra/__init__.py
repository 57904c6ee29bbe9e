"""Integer polynomials, and what is known of named integers: bounds, divisibility, equations."""
