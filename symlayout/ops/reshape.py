"""Change the shape; the elements stay in row-major order."""

from __future__ import annotations

from typing import Any

from symlayout.algebra.polynomial import Extent, product
from symlayout.errors import ShapeError
from symlayout.tensors.chain import core_operation
from symlayout.tensors.declaration import Declared, Operand, as_list, index_map


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


def linear(coordinate: Any, shape: Any) -> Any:
    """Return the row-major number of *coordinate* in *shape*."""
    number = 0
    for c, extent in zip(coordinate, shape, strict=True):
        number = number * extent + c
    return number


def mixed_radix(number: Any, shape: Any) -> list[Any]:
    """Return the coordinate in *shape* that has the row-major *number*."""
    coordinate = []
    for extent in reversed(shape[1:]):
        coordinate.append(number % extent)
        number = number // extent
    return [number, *reversed(coordinate)] if shape else []
