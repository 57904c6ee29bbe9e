"""What tests share and is no test: oracles, generators, drawings of chains, paths."""
