"""Judge random claims through operations that compute: true ones by sound rewrites, false ones by one mutation."""
