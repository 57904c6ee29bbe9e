"""Tensors with a group of axes of unknown number, and claims about them for all ranks."""
