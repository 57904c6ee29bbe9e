"""Passes: nest to nest, nest to loops, loops to loops.  Each runs alone."""
