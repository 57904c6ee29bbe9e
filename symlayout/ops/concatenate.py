"""Join tensors along an existing axis, or along a new one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symlayout.algebra.polynomial import Extent, product
from symlayout.errors import ShapeError
from symlayout.ops.reshape import mixed_radix
from symlayout.tensors.apply_operation import core_joint_operation
from symlayout.tensors.declaration import Case, Declared, Operand


@core_joint_operation
def concatenate(x: Operand, axis: int | None = 0) -> Declared:
    """Return the inputs one after the other along *axis*.

    Input *k* is read where ``start_k <= o[axis] < start_k + n_k``: at ``o[axis] - start_k`` on that axis, and at *o* on
    the others.

    Parameters
    ----------
    x : sequence of Tensor
        One or more, of one rank, with equal extents on all axes but *axis*.
    axis : int or None
        Counted from the end if negative.  None joins all elements, in row-major order.

    Raises
    ------
    ShapeError
        ``rank`` if the ranks differ, ``size_mismatch`` if extents of other axes differ, ``bad_axis``.

    References
    ----------
    `numpy.concatenate`.

    Examples
    --------
    >>> import symlayout as sl
    >>> x, y = sl.tensor("H, W", name="x"), sl.tensor("K, W", name="y")
    >>> sl.concatenate([x, y]).shape
    (H + K, W)
    """
    if axis is None:
        return _joined_flat(x)
    at = x.axis(axis)
    _require_same(x, skip=at)
    starts: list[Extent] = [0]
    for shape in x.shapes:
        starts.append(starts[-1] + shape[at])
    domain = [starts[-1] if k == at else n for k, n in enumerate(x.shape)]
    return Declared(tuple(domain), tuple(_part(k, at, starts[k], shape[at]) for k, shape in enumerate(x.shapes)))


def _joined_flat(x: Operand) -> Declared:
    """Return the map that puts all elements of all inputs on one axis."""
    sizes = [product(shape) for shape in x.shapes]
    starts = [sum(sizes[:k], 0) for k in range(len(sizes))]

    def part(number: int) -> Case:
        shape, start, size = x.shapes[number], starts[number], sizes[number]
        return Case(lambda o: mixed_radix(o - start, shape), source=number, where=lambda o: [(o - start, size)])

    return Declared((sum(sizes, 0),), tuple(part(k) for k in range(len(sizes))))


def _part(number: int, axis: int, start: Extent, count: Extent) -> Case:
    """Return the case of one input of a concatenation."""

    def where(*o: Any) -> Sequence[tuple[Any, Extent]]:
        return [(o[axis] - start, count)]

    def coords(*o: Any) -> Sequence[Any]:
        return [c - start if k == axis else c for k, c in enumerate(o)]

    return Case(coords, source=number, where=where)


@core_joint_operation
def stack(x: Operand, axis: int = 0) -> Declared:
    """Return the inputs, which have one shape, along a new *axis*: ``o[axis]`` is the number of the input.

    Parameters
    ----------
    x : sequence of Tensor
        One or more.
    axis : int
        The position of the new axis in the result.

    Raises
    ------
    ShapeError
        ``rank``, ``size_mismatch`` if the shapes differ, ``bad_axis``.

    References
    ----------
    `numpy.stack`.

    Examples
    --------
    >>> import symlayout as sl
    >>> x, y = sl.tensor("H, W", name="x"), sl.tensor("H, W", name="y")
    >>> sl.stack([x, y], axis=-1).shape
    (H, W, 2)
    """
    at = Operand(((*x.shape, 1),), x.facts, x.where).axis(axis)
    _require_same(x)

    def layer(number: int) -> Case:
        return Case(lambda *o: [*o[:at], *o[at + 1 :]], source=number, where=lambda *o: [(o[at] - number, 1)])

    domain = (*x.shape[:at], len(x.shapes), *x.shape[at:])
    return Declared(domain, tuple(layer(k) for k in range(len(x.shapes))))


def _require_same(x: Operand, skip: int | None = None) -> None:
    """Require that all inputs have the extents of the first one, except on axis *skip*."""
    for number, shape in enumerate(x.shapes[1:], 1):
        if len(shape) != x.rank:
            raise ShapeError(f"{x.where}: input {number} has rank {len(shape)}, input 0 has {x.rank}", "rank")
    for number, shape in enumerate(x.shapes[1:], 1):
        for k, (n, e) in enumerate(zip(x.shape, shape, strict=True)):
            if k != skip:
                rule = "axis {} of input {} has extent {}, of input 0 {}"
                x.require_equal(e, n, "size_mismatch", rule, k, number, e, n)
