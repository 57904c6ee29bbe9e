"""StableHLO: a module of MLIR to the values of its graph."""
