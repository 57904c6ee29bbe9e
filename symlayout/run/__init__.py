"""Arrays in, arrays out: from a composed map to a kernel and its calls."""
