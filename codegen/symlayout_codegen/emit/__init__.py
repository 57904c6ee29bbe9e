"""Statements as C11 text, and the runtime headers that it includes."""
