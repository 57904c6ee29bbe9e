"""How elements are stored in arrays: whole, or as two halves of each byte.

An array of bytes with the shape ``(..., n)`` stores a tensor of half bytes with the shape ``(..., n, 2)``.  The last
coordinate is the place in the byte: 0 is the low half.  The user sees the shape ``(..., 2*n)``.  So a chain on half
bytes is the user's chain with `joined` before it and `paired` after it, and its kernel is derived from that
composed map like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symlayout.errors import ArrayError, ShapeError, shown
from symlayout.maps.adjoint_map import Adjoint
from symlayout.maps.interpreter import interpret
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Declared, Operand, index_map
from symlayout.tensors.element_types import fill_element

Array = np.ndarray[Any, Any]
BYTE = np.dtype(np.uint8)


class Whole:
    """Storage for elements of any NumPy type: one array element for each."""

    halves = False

    def chain(self, t: Tensor | Adjoint) -> Tensor | Adjoint:
        """Return the tensor that maps the input arrays to the output array, for *t*, which the user declared."""
        return t

    def check(self, a: Array) -> None:
        """Raise `ArrayError` if *a* does not store such elements."""

    def tensor_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape, in the tensor of `chain`, of an array of *shape*."""
        return shape

    def array_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of the array that stores a tensor of *shape* of `chain`."""
        return shape

    def strides(self, strides: tuple[int, ...]) -> tuple[int, ...]:
        """Return the strides that a kernel takes as parameters, from an array's *strides* in elements."""
        return strides

    def straight(self, a: Array) -> bool:
        """Return whether a kernel can read *a*: each stride is a whole number of elements.

        It is not for a view of one field of a structured array, for example.
        """
        return not any(s % a.itemsize for s in a.strides)

    def fill(self, value: Any, dtype: np.dtype[Any]) -> bytes:
        """Return the bytes of a fill as a kernel takes them; raise `ArrayError` if the type cannot hold the value."""
        return fill_element(value, dtype).tobytes()

    def interpret(self, t: Tensor | Adjoint, arrays: Sequence[Array], dims: Mapping[str, int]) -> Array:
        """Return the result of the tensor of `chain` on *arrays*, computed by NumPy."""
        return interpret(t, *arrays, dims=dims)


@dataclass(frozen=True, slots=True)
class Nibbles(Whole):
    """Storage for elements of half a byte with the values *least* to *least* + 15: two in each byte of uint8."""

    name: str
    least: int

    halves = True

    def __str__(self) -> str:
        return self.name

    def chain(self, t: Tensor | Adjoint) -> Tensor:
        """Return *t* on half bytes: its leaves and its result have shapes ``(..., n, 2)``.

        Raises
        ------
        ArrayError
            *t* is an adjoint, has another element type, or has a fill that half a byte cannot hold.
        ShapeError
            ``non_divisible`` if the last extent of a leaf or of the result is odd; ``rank`` if one has no axes.
        """
        if isinstance(t, Adjoint):
            raise ArrayError(f"a kernel cannot add elements of {self}\n  help: use int8 or uint8, one element a byte")
        if t.dtype is not None and t.dtype.name != self.name.removesuffix("x2"):
            raise ArrayError(f"dtype {self} is not the tensor's {t.dtype}")
        for case in (case for node in t.nodes() if node.declared is not None for case in node.declared.cases):
            if case.fill is not None:
                self.fill(case.fill.value, BYTE)
        for part in (*t.leaves(), t):
            if not part.rank:
                raise ShapeError(f"{part!r} has no axis along which two elements share a byte", "rank")
        return paired(t.replace({leaf.key: joined(_in_bytes(leaf)) for leaf in t.leaves()}))

    def check(self, a: Array) -> None:
        """Raise `ArrayError` if *a* is not an array of uint8."""
        if a.dtype != BYTE:
            raise ArrayError(
                f"elements of {self} are two to a byte of uint8, the array has {a.dtype}\n  help: pass a.view('uint8')"
            )

    def tensor_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return *shape* with a last axis of extent 2 for the halves."""
        return (*shape, 2)

    def array_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return *shape* without the axis of the halves."""
        return shape[:-1]

    def strides(self, strides: tuple[int, ...]) -> tuple[int, ...]:
        """Return the strides without that of the last axis, which is 1."""
        return strides[:-1]

    def straight(self, a: Array) -> bool:
        """Return whether *a* is contiguous along its last axis."""
        return a.ndim == 0 or a.shape[-1] <= 1 or a.strides[-1] == 1

    def fill(self, value: Any, dtype: np.dtype[Any]) -> bytes:
        """Return a byte with the fill in both halves; raise `ArrayError` if half a byte cannot hold the value."""
        made = fill_element(value, np.dtype(np.int64))
        if not self.least <= made < self.least + 16:
            raise ArrayError(f"fill {shown(value)} is no {self}\n  help: fill with {self.least} to {self.least + 15}")
        half = int(made) % 16
        return bytes([half | half << 4])

    def interpret(self, t: Tensor | Adjoint, arrays: Sequence[Array], dims: Mapping[str, int]) -> Array:
        """Return the bytes of the result of the tensor of `chain` on *arrays*, computed by NumPy."""
        halves = [np.stack([a & 15, a >> 4], axis=-1).astype(np.int8) for a in arrays]
        low, high = np.moveaxis(interpret(t, *halves, dims=dims).astype(BYTE) & 15, -1, 0)
        return np.asarray(low | high << 4)


WHOLE = Whole()
NIBBLES = {made.name: made for made in (Nibbles("uint4x2", 0), Nibbles("int4x2", -8))}
"""The storage of each element type of half a byte, by name."""


def nibbles(dtype: Any) -> Nibbles | None:
    """Return the storage of *dtype* if it is the name of an element type of half a byte, else None."""
    return NIBBLES.get(dtype) if isinstance(dtype, str) else None


@core_operation
def paired(x: Operand) -> Declared:
    """Return *x* with its last axis cut into pairs: ``(..., 2*n)`` becomes ``(..., n, 2)``."""
    *lead, n = x.shape
    return index_map((*lead, x.divide(n, 2), 2), lambda *o: (*o[:-2], 2 * o[-2] + o[-1]))


@core_operation
def joined(x: Operand) -> Declared:
    """Return *x* with its last two axes as one, the inverse of `paired`: ``(..., n, 2)`` becomes ``(..., 2*n)``."""
    *lead, n, _ = x.shape
    return index_map((*lead, 2 * n), lambda *o: (*o[:-1], o[-1] // 2, o[-1] % 2))


def _in_bytes(leaf: Tensor) -> Tensor:
    """Return *leaf* as its array of bytes stores it: ``(..., 2*n)`` becomes ``(..., n, 2)``."""
    facts = leaf.facts.fork()
    count = facts.divide(leaf.extents[-1], 2, "non_divisible", leaf.name)
    extents = (*(facts.reduce(e) for e in leaf.extents[:-1]), facts.reduce(count), 2)
    return Tensor(leaf.name, None, extents, facts, key=leaf.key)
