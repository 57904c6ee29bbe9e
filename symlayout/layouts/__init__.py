"""Strided layouts and their algebra."""
