"""The derivation of a proof as data, and the checker that reads it."""
