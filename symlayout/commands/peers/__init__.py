"""Other libraries as oracles and rivals: each runs a chain that was written once."""
