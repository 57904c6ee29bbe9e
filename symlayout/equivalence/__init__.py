"""Whether two models compute the same, for all sizes and all inputs."""
