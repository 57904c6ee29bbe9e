"""Peers: other libraries that run the same chain, to compare results and times."""
