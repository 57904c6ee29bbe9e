"""Declared index maps and the lazy chain of them: shapes, requirements, bounds."""
