"""Model files: from a file to the values of its graph as lazy tensors."""
