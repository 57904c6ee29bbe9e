"""Steps of random graphs: what one appends to a value."""
