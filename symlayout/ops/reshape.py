"""Change the shape; the elements stay in row-major order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from symlayout.algebra.polynomial import Extent, product
from symlayout.errors import ShapeError
from symlayout.tensors.chain import core_operation
from symlayout.tensors.declaration import Declared, Operand, as_list, index_map

Groups = Sequence[Sequence[str]]


@core_operation
def reshape(x: Operand, shape: Any) -> Declared:
    """Return the elements of *x* in row-major order in another shape.

    ``y[o] = x[i]``, where *o* in the new shape and *i* in the old shape have the same row-major number.

    Parameters
    ----------
    shape : int, dim, expression, or a sequence of them
        One entry may be -1.  It becomes the number of elements divided by the product of the others, which must
        divide that number and not be 0.

    Raises
    ------
    ShapeError
        ``size_mismatch`` if the numbers of elements differ, or no extent fits -1.

    References
    ----------
    `numpy.reshape`.

    Examples
    --------
    >>> import symlayout as sl
    >>> H, W = sl.dims("H W")
    >>> y = sl.reshape(sl.tensor((H, W)), (W, -1, 2))
    >>> y.shape
    (W, H/2, 2)
    >>> y.requires
    (W >= 1, Eq(Mod(H, 2), 0))
    """
    entries = as_list(shape)
    free = [k for k, entry in enumerate(entries) if type(entry) is int and entry == -1]
    new: list[Extent] = [1 if k in free else x.extent(entry, "shape") for k, entry in enumerate(entries)]
    for k, e in enumerate(new):
        x.require(e, "size_mismatch", "extent {} of axis {} is negative", e, k)
    size, others = product(x.shape), x.countable(product(new), "number of elements")
    if len(free) > 1:
        raise ShapeError(f"{x.where}: shape {entries} has more than one -1", "size_mismatch")
    if free:
        x.require(others - 1, "size_mismatch", "-1 stands for anything where the other extents hold no element")
        new[free[0]] = x.divide(size, others, "size_mismatch")
    else:
        x.require_equal(
            size,
            others,
            "size_mismatch",
            "{} elements do not fill a shape of {}",
            size,
            others,
        )

    def coords(*o: Any) -> list[Any]:
        number = linear(o, new)
        return mixed_radix(number, x.shape)

    return index_map(new, coords)


@core_operation
def rearrange(x: Operand, left: Groups, right: Groups, sizes: Mapping[str, Any]) -> Declared:
    """Return *x* with its axes regrouped: each axis is a group of named axes, in row-major order.

    The digits of output axis ``k`` in the sizes of ``right[k]`` are the coordinates of these axes.  Input axis ``k``
    is read at the number that the coordinates of ``left[k]`` make.  Axes that are only in *right* repeat elements.

    Parameters
    ----------
    left, right : sequence of sequence of str
        The groups of the input and of the output: no name twice on a side; an empty group is an axis of extent 1.
    sizes : mapping
        From names to ints, dims or expressions.  A group of *left* may have one name without a size.

    Raises
    ------
    ShapeError
        ``rank`` for another number of groups than axes; ``non_divisible`` or ``size_mismatch`` if sizes do not fill an
        axis; ``unbound_dim`` for a size that nothing determines; ``infeasible`` for a negative size.
    """
    if len(left) != x.rank:
        raise ShapeError(f"{x.where}: the pattern has {len(left)} axes, the rank is {x.rank}", "rank")
    known: dict[str, Extent] = {name: x.extent(size, f"size of {name}") for name, size in sizes.items()}
    for name, size in known.items():
        x.require(size, "infeasible", "size {} of {} is negative", size, name)
    for axis, (group, n) in enumerate(zip(left, x.shape, strict=True)):
        _fill(x, axis, group, n, known)
    if free := [name for group in right for name in group if name not in known]:
        raise ShapeError(f"{x.where}: nothing determines the size of {free[0]}\n  help: pass {free[0]}=", "unbound_dim")

    def extents(group: Sequence[str]) -> list[Extent]:
        return [known[name] for name in group]

    def coords(*o: Any) -> list[Any]:
        at: dict[str, Any] = {}
        for c, group in zip(o, right, strict=True):
            at |= zip(group, mixed_radix(c, extents(group)), strict=True)
        return [linear([at[name] for name in group], extents(group)) for group in left]

    return index_map([product(extents(group)) for group in right], coords)


def _fill(x: Operand, axis: int, group: Sequence[str], n: Extent, known: dict[str, Extent]) -> None:
    """Add the size that a group leaves to the one name without a size; require that the group fills its axis."""
    free = [name for name in group if name not in known]
    whole = product([known[name] for name in group if name in known])
    if len(free) > 1:
        names = " and ".join(free)
        raise ShapeError(
            f"{x.where}: axis {axis} does not determine the sizes of {names}\n  help: pass {free[0]}=", "unbound_dim"
        )
    if not free:
        x.require_equal(n, whole, "size_mismatch", "axis {} has {} elements, its group has {}", axis, n, whole)
    elif whole == 1:
        known[free[0]] = n
    else:
        x.require(whole - 1, "size_mismatch", "axis {}: any size of {} fills a group of none", axis, free[0])
        known[free[0]] = x.divide(n, whole)


def linear(coordinate: Any, shape: Any) -> Any:
    """Return the row-major number of *coordinate* in *shape*."""
    number = 0
    for c, extent in zip(coordinate, shape, strict=True):
        number = number * extent + c
    return number


def mixed_radix(number: Any, shape: Any) -> list[Any]:
    """Return the coordinate in *shape* that has the row-major *number*."""
    if isinstance(number, int) and number == 0:  # of an output without axes: no coordinate computes with extents
        return [0] * len(shape)
    coordinate = []
    for extent in reversed(shape[1:]):
        coordinate.append(number % extent)
        number = number // extent
    return [number, *reversed(coordinate)] if shape else []
