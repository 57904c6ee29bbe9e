"""C text to a callable: compiler, cache, loading, threads."""
