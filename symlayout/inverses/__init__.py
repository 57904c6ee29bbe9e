"""Inverses of index maps, and proofs of their properties."""
