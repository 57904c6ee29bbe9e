"""Lower a composed map to a kernel, and call the kernel on arrays."""
