"""Use a chain as a function of JAX: jit, vmap, grad, and an export whose shapes stay expressions.

pip install symlayout[jax]
python examples/jax_function.py
"""

from __future__ import annotations

import jax
import numpy as np

import symlayout as sl
from symlayout.interop.jax import function

patches = function(sl.space_to_depth(sl.tensor("N, H, W, C", name="image"), 4, depth_axis=3))  # as in ViT


def energy(image: jax.Array) -> jax.Array:
    """Return the sum of squares over all patches."""
    return (patches(image) ** 2).sum()


image = np.random.default_rng(0).normal(size=(2, 8, 12, 3)).astype(np.float32)
print(f"patches: {jax.jit(patches)(image).shape}")
print(f"gradient is 2*image: {np.allclose(jax.jit(jax.grad(energy))(image), 2 * image)}")
print(f"a batch of batches: {jax.vmap(patches)(np.stack([image, image])).shape}")

shape = jax.export.symbolic_shape("n, 4*h, 4*w, c")
exported = jax.export.export(jax.jit(patches))(jax.ShapeDtypeStruct(shape, np.float32))
print(f"exported: {exported.in_avals[0].shape} -> {exported.out_avals[0].shape}")
print(f"the same values: {np.array_equal(exported.call(image), patches(image))}")
