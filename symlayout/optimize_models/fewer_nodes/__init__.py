"""Nodes that compute what is known, what is computed already, or what fewer nodes compute."""
