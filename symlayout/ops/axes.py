"""Add, remove, move and join axes; the elements stay in order, or move with their axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symlayout.errors import ShapeError
from symlayout.ops.reshape import reshape
from symlayout.ops.transpose import transpose
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.chain import Applicable, Tensor, check_tensors
from symlayout.tensors.declaration import Declared, Operand, as_list, index_map


@core_operation
def squeeze(x: Operand, axis: Any = None) -> Declared:
    """Return *x* without axes of extent 1: ``i = 0`` on a removed axis, ``i = o`` on the others.

    Parameters
    ----------
    axis : int or sequence of int, optional
        None removes every axis of extent 1.  Then each extent must be known to be 1, or known not to be 1.

    Raises
    ------
    ShapeError
        ``size_mismatch`` if a given axis has another extent, ``bad_axis`` if an axis is out of range or repeated,
        ``unknown_rank`` if it is not known which axes have extent 1.

    References
    ----------
    `numpy.squeeze`.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.squeeze(sl.tensor("N, C, 1, 1"), axis=(2, 3)).shape
    (N, C)
    """
    if axis is None:
        removed = [k for k, n in enumerate(x.shape) if n == 1]
        for k, n in enumerate(x.shape):
            if not (k in removed or x.facts.positive(n - 1) or x.facts.nonnegative(-n)):
                rule = f"extent {x.spell(n)} of axis {k} may be 1\n  help: give the axes"
                raise ShapeError(f"{x.where}: the rank is unknown: {rule}", "unknown_rank")
    else:
        removed = [x.axis(a) for a in as_list(axis)]
        _check_distinct(x, removed)
        for k in removed:
            n = x.shape[k]
            x.require_equal(n, 1, "size_mismatch", "extent {} of axis {} is not 1", n, k)
    kept = [k for k in range(x.rank) if k not in removed]

    def coords(*o: Any) -> list[Any]:
        return [0 if k in removed else o[kept.index(k)] for k in range(x.rank)]

    return index_map([x.shape[k] for k in kept], coords)


@core_operation
def expand_dims(x: Operand, axis: Any) -> Declared:
    """Return *x* with new axes of extent 1, whose coordinate is dropped.

    Parameters
    ----------
    axis : int or sequence of int
        The positions of the new axes in the result.

    Raises
    ------
    ShapeError
        ``bad_axis`` if an axis is out of range for the result, or repeated.

    References
    ----------
    `numpy.expand_dims`.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.expand_dims(sl.tensor("H, W"), (0, -1)).shape
    (1, H, W, 1)
    """
    given = as_list(axis)
    result = Operand(((1,) * (x.rank + len(given)),), x.facts, x.where)
    new = [result.axis(a) for a in given]
    _check_distinct(x, new)
    kept = [k for k in range(result.rank) if k not in new]
    domain = [1 if k in new else x.shape[kept.index(k)] for k in range(result.rank)]
    return index_map(domain, lambda *o: [o[k] for k in kept])


def moveaxis(x: Tensor, source: Any, destination: Any) -> Tensor:
    """Return *x* with axes moved to other positions; the other axes keep their order.

    Parameters
    ----------
    x : Tensor
        Of any rank.
    source, destination : int or sequence of int
        The old and the new positions, in lists of one length.

    Raises
    ------
    ShapeError
        ``bad_axis`` if an axis is out of range or repeated, ``length_mismatch`` if the lists differ in length.

    References
    ----------
    `numpy.moveaxis`.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.moveaxis(sl.tensor("N, C, H, W"), 1, -1).shape
    (N, H, W, C)
    """
    if isinstance(x, Applicable):
        return x.applied("moveaxis", (source, destination), {})  # type: ignore[no-any-return]
    check_tensors("moveaxis", x)
    operand = Operand((x.extents,), x.facts, "moveaxis")
    moved = [operand.axis(a, "source") for a in as_list(source)]
    places = [operand.axis(a, "destination") for a in as_list(destination)]
    if len(moved) != len(places):
        raise ShapeError(f"moveaxis: {len(moved)} axes for {len(places)} places", "length_mismatch")
    _check_distinct(operand, moved)
    _check_distinct(operand, places)
    return transpose(x, moved_order(x.rank, moved, places))


def moved_order(rank: int, moved: Sequence[int], places: Sequence[int]) -> list[int]:
    """Return the permutation that moves axes to other places; the other axes keep their order.

    >>> moved_order(4, [1], [3])
    [0, 2, 3, 1]
    """
    order = [a for a in range(rank) if a not in moved]
    for place, a in sorted(zip(places, moved, strict=True)):
        order.insert(place, a)
    return order


def swapaxes(x: Tensor, axis1: int, axis2: int) -> Tensor:
    """Return *x* with two axes exchanged.

    Parameters
    ----------
    x : Tensor
        Of any rank.
    axis1, axis2 : int
        The axes; negative ones count from the end.

    Raises
    ------
    ShapeError
        ``bad_axis`` if an axis is out of range.

    References
    ----------
    `numpy.swapaxes`.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.swapaxes(sl.tensor("N, C, H"), 0, -1).shape
    (H, C, N)
    """
    if isinstance(x, Applicable):
        return x.applied("swapaxes", (axis1, axis2), {})  # type: ignore[no-any-return]
    check_tensors("swapaxes", x)
    operand = Operand((x.extents,), x.facts, "swapaxes")
    a, b = operand.axis(axis1, "axis1"), operand.axis(axis2, "axis2")
    order = list(range(x.rank))
    order[a], order[b] = b, a
    return transpose(x, order)


def ravel(x: Tensor) -> Tensor:
    """Return the elements of *x* in row-major order, on one axis.

    Parameters
    ----------
    x : Tensor
        Of any rank.

    Raises
    ------
    ShapeError
        ``overflow`` if the number of elements exceeds int64.

    References
    ----------
    `numpy.ravel`.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.ravel(sl.tensor("H, W")).shape
    (H*W,)
    """
    return reshape(x, -1)


def _check_distinct(x: Operand, axes: list[int]) -> None:
    if len(set(axes)) != len(axes):
        raise ShapeError(f"{x.where}: axes {axes} repeat an axis", "bad_axis")
