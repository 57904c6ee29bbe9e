"""Inverses of index maps, and what is proved of them."""
