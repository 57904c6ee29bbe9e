"""Shapes, coordinates and modes of layouts: what is made of them, and how two of them compare."""
