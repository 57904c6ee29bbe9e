"""Certificates: the derivation of a proof as data, and the checker that verifies it."""
