"""Concat nodes whose parts are joined in another way."""
