"""How elements lie in arrays: one in each place, or two of half a byte in each byte.

An array of bytes of the shape ``(..., n)`` holds a tensor of half bytes of the shape ``(..., n, 2)``, whose last
coordinate is the place in the byte, the low half first; to the user this is one of shape ``(..., 2*n)``.  A chain on
such tensors is the chain itself between two maps, `joined` before it and `paired` after it.  All that follows from its
map, C included, follows from the composed one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symlayout.errors import ArrayError, ShapeError, shown
from symlayout.maps.adjoint_map import Adjoint
from symlayout.maps.interpreter import interpret
from symlayout.tensors.chain import Tensor, core_operation
from symlayout.tensors.declaration import Declared, Operand, index_map
from symlayout.tensors.element_types import fill_element

Array = np.ndarray[Any, Any]
BYTE = np.dtype(np.uint8)


class Whole:
    """Elements of any type of NumPy's, one in each place of an array."""

    halves = False

    def chain(self, t: Tensor | Adjoint) -> Tensor | Adjoint:
        """Return *t* as a map between arrays."""
        return t

    def check(self, a: Array) -> None:
        """Raise `ArrayError` if *a* has no such elements."""

    def tensor_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape in `chain` of an array's *shape*."""
        return shape

    def array_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of the array for a *shape* in `chain`."""
        return shape

    def strides(self, strides: tuple[int, ...]) -> tuple[int, ...]:
        """Return those of an array's *strides*, in elements, that a kernel takes."""
        return strides

    def straight(self, a: Array) -> bool:
        """Return whether a kernel can walk *a*: no stride is a part of an element, as in a field of a structure."""
        return not any(s % a.itemsize for s in a.strides)

    def fill(self, value: Any, dtype: np.dtype[Any]) -> bytes:
        """Return a fill as the kernel takes it; `ArrayError` if the type cannot hold it."""
        return fill_element(value, dtype).tobytes()

    def interpret(self, t: Tensor | Adjoint, arrays: Sequence[Array], dims: Mapping[str, int]) -> Array:
        """Return what `chain` makes of *arrays*, by NumPy."""
        return interpret(t, *arrays, dims=dims)


@dataclass(frozen=True, slots=True)
class Nibbles(Whole):
    """Elements of half a byte, of 16 values from *least* on, two in each byte of an array of uint8."""

    name: str
    least: int

    halves = True

    def __str__(self) -> str:
        return self.name

    def chain(self, t: Tensor | Adjoint) -> Tensor:
        """Return *t* on the half bytes of its inputs, with those of the result, all of shapes ``(..., n, 2)``.

        Raises
        ------
        ArrayError
            It is an adjoint, of another element type, or has a fill that this one cannot hold.
        ShapeError
            ``non_divisible`` if the last extent of an input or of the result is odd, ``rank`` if there is none.
        """
        if isinstance(t, Adjoint):
            raise ArrayError(f"elements of {self} do not add up\n  help: take the adjoint of one element a byte")
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
        """Raise `ArrayError` if *a* is not of bytes."""
        if a.dtype != BYTE:
            raise ArrayError(
                f"elements of {self} are two to a byte of uint8, the array has {a.dtype}\n  help: pass a.view('uint8')"
            )

    def tensor_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return *shape* with an axis for the halves."""
        return (*shape, 2)

    def array_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return *shape* without the axis of the halves."""
        return shape[:-1]

    def strides(self, strides: tuple[int, ...]) -> tuple[int, ...]:
        """Return the strides but for that of the last axis, which is 1."""
        return strides[:-1]

    def straight(self, a: Array) -> bool:
        """Return whether the bytes of *a* follow each other along its last axis."""
        return a.ndim == 0 or a.shape[-1] <= 1 or a.strides[-1] == 1

    def fill(self, value: Any, dtype: np.dtype[Any]) -> bytes:
        """Return a byte of two fills; `ArrayError` if the type cannot hold the value."""
        made = fill_element(value, np.dtype(np.int64))
        if not self.least <= made < self.least + 16:
            raise ArrayError(f"fill {shown(value)} is no {self}\n  help: fill with {self.least} to {self.least + 15}")
        return bytes([int(made) % 16 * 17])

    def interpret(self, t: Tensor | Adjoint, arrays: Sequence[Array], dims: Mapping[str, int]) -> Array:
        """Return the bytes that `chain` makes of *arrays*."""
        halves = [np.stack([a & 15, a >> 4], axis=-1).astype(np.int8) for a in arrays]
        low, high = np.moveaxis(interpret(t, *halves, dims=dims).astype(BYTE) & 15, -1, 0)
        return np.asarray(low | high << 4)


WHOLE = Whole()
NIBBLES = {made.name: made for made in (Nibbles("uint4x2", 0), Nibbles("int4x2", -8))}
"""The element types of half a byte, by name."""


def nibbles(dtype: Any) -> Nibbles | None:
    """Return the element type of half a byte that *dtype* names, if it names one."""
    return NIBBLES.get(dtype) if isinstance(dtype, str) else None


@core_operation
def paired(x: Operand) -> Declared:
    """Return *x* with the last axis cut in pairs, which become a new last axis."""
    *lead, n = x.shape
    return index_map((*lead, x.divide(n, 2), 2), lambda *o: (*o[:-2], 2 * o[-2] + o[-1]))


@core_operation
def joined(x: Operand) -> Declared:
    """Return *x* without its last axis of pairs, which go on in the axis before: the inverse of `paired`."""
    *lead, n, _ = x.shape
    return index_map((*lead, 2 * n), lambda *o: (*o[:-1], o[-1] // 2, o[-1] % 2))


def _in_bytes(leaf: Tensor) -> Tensor:
    """Return the input *leaf* as it lies in an array of bytes."""
    facts = leaf.facts.fork()
    count = facts.divide(leaf.extents[-1], 2, "non_divisible", leaf.name)
    extents = (*(facts.reduce(e) for e in leaf.extents[:-1]), facts.reduce(count), 2)
    return Tensor(leaf.name, None, extents, facts, key=leaf.key)
