"""Measurements of symlayout's kernels beside memcpy, NumPy and the peers: ``python -m benchmarks``."""
