"""Text, SymPy and LaTeX, in and out."""
