"""Values only: integer expressions, the nest, loop statements.  No pass, no C."""
