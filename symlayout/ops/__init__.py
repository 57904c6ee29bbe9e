"""The core operations: one declaration each, in coordinates (see `symlayout.tensors.declaration`)."""
