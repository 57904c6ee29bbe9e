"""A chain as one composed index map, and its meaning in NumPy."""
