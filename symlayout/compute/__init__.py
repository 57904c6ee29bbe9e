"""Operations that compute: bodies in NumPy, and the views that they read (see `symlayout.tensors.computation`)."""
