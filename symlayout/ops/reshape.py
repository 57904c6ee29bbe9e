"""Change the shape: the elements stay in row-major order, or are read at strides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from symlayout.algebra.polynomial import Extent, content, exact_quotient, product
from symlayout.errors import LEFT_OUT, ShapeError, shown
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.declaration import Declared, Operand, as_list, index_map, is_list

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
    return _reshaped(x, shape)


@core_operation
def copying_reshape(x: Operand, shape: Any, copies: Sequence[int]) -> Declared:
    """Return the elements of *x* in another shape, some of whose entries copy an extent where they are 0.

    Parameters
    ----------
    shape : sequence of int, dim or expression
        As that of `reshape`.
    copies : sequence of int
        The entries that copy the extent of that axis where they are 0, as in ONNX.  Of a symbolic entry that may be 0
        where the extent is not, these sizes are left out by a requirement.

    Raises
    ------
    ShapeError
        As `reshape`; ``bad_axis`` where there is no extent to copy; ``left_out``.

    References
    ----------
    ONNX, operator Reshape: https://onnx.ai/onnx/operators/onnx__Reshape.html

    Examples
    --------
    >>> import symlayout as sl
    >>> N, C = sl.dims("N C")
    >>> copying_reshape(sl.tensor((N, C)), (C, N), copies=[0, 1]).requires
    (C >= 1, N >= 1)
    """
    return _reshaped(x, shape, copies)


def _reshaped(x: Operand, shape: Any, copies: Sequence[int] = ()) -> Declared:
    entries = as_list(shape)
    free = [k for k, entry in enumerate(entries) if type(entry) is int and entry == -1]
    new: list[Extent] = [1 if k in free else x.extent(entry, "shape") for k, entry in enumerate(entries)]
    for k, e in enumerate(new):
        if k in copies:
            new[k] = _copied(x, k, e)
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


def _copied(x: Operand, k: int, e: Extent) -> Extent:
    """Return entry *k* of a target in which 0 copies an extent; require that *e* is not 0 if it is not known."""
    if k >= x.rank:
        x.require(e - 1, "bad_axis", "entry {} of the shape is {}, and 0 copies no axis of rank {}", k, e, x.rank)
    elif e == 0:
        return x.shape[k]
    elif type(e) is not int:
        e, own = x.facts.reduce(e), x.facts.reduce(x.shape[k])
        if isinstance(e, int) or exact_quotient(content(e.terms) * own, e) is not None:
            return e  # which is 0 only where the extent is 0 too
        apart = exact_quotient(e, own) or e
        x.require(apart - 1, LEFT_OUT, "entry {} of the shape is {}, and 0 would copy {}", k, e, x.shape[k])
    return e


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


@core_operation
def as_strided(x: Operand, shape: Any, strides: Any, offset: Any = 0) -> Declared:
    """Return the elements of *x* at ``offset + i_0*strides[0] + i_1*strides[1] + ...``, counted in row-major order.

    Parameters
    ----------
    shape : sequence of int, dim, expression, or nested sequences of them
        The extents of the result.  A nested entry is one axis with several digits, the first digit fastest, as in a
        layout of CuTe (see `symlayout.layout`).
    strides : sequence of the same form
        The step of each axis or digit, in elements; it may be 0 or negative.
    offset : int, dim or expression
        The element that coordinate 0 reads.

    Raises
    ------
    ShapeError
        ``length_mismatch`` if *shape* and *strides* have different forms, ``infeasible`` for a negative extent,
        ``size_mismatch`` if the result reads outside *x*.

    References
    ----------
    `numpy.lib.stride_tricks.as_strided` (its strides are in bytes), `torch.as_strided`.

    Examples
    --------
    >>> import symlayout as sl
    >>> N = sl.dim("N", min=1)
    >>> windows = sl.as_strided(sl.tensor((N + 2,), name="x"), (N, 3), (1, 1))
    >>> windows.index_map
    (i0, i1) -> (i0 + i1)
    >>> sl.as_strided(sl.tensor("8", name="x"), [(2, 4)], [(4, 1)]).index_map
    (i0) -> (4*(i0 % 2) + i0//2)
    """
    axes = as_list(shape)
    if not is_list(shape) or not is_list(strides) or len(axes) != len(as_list(strides)):
        raise _different(x, shape, strides)
    modes = [_digits(x, size, step) for size, step in zip(axes, as_list(strides), strict=True)]
    low = high = base = x.extent(offset, "offset")
    for axis, mode in enumerate(modes):
        for size, step in mode:
            x.require(size, "infeasible", "extent {} of axis {} is negative", size, axis)
            reach = (size - 1) * step
            sign = x.facts.sign(step)
            low = low + (reach if sign < 0 else 0 if sign > 0 else x.minimum(reach, 0))
            high = high + (reach if sign > 0 else 0 if sign < 0 else x.maximum(reach, 0))
    count = product(x.shape)
    if not any(size == 0 for mode in modes for size, _ in mode):
        x.require(low, "size_mismatch", "element {} is outside of {} elements", low, count)
        x.require(count - 1 - high, "size_mismatch", "element {} is outside of {} elements", high, count)

    def coords(*o: Any) -> list[Any]:
        number = base
        for c, mode in zip(o, modes, strict=True):
            digits = mixed_radix(c, [size for size, _ in reversed(mode)])
            for digit, (_, step) in zip(reversed(digits), mode, strict=True):
                number = number + digit * step
        return mixed_radix(number, x.shape)

    return index_map([product([size for size, _ in mode]) for mode in modes], coords)


def _digits(x: Operand, sizes: Any, steps: Any) -> list[tuple[Extent, Extent]]:
    """Return the digits of an axis, the fastest first: their sizes and steps."""
    if not is_list(sizes) and not is_list(steps):
        return [(x.extent(sizes, "shape"), x.extent(steps, "strides"))]
    if not is_list(sizes) or not is_list(steps) or len(as_list(sizes)) != len(as_list(steps)):
        raise _different(x, sizes, steps)
    return [mode for pair in zip(as_list(sizes), as_list(steps), strict=True) for mode in _digits(x, *pair)]


def _different(x: Operand, shape: Any, strides: Any) -> ShapeError:
    return ShapeError(
        f"{x.where}: shape {shown(shape)} and strides {shown(strides)} have different forms", "length_mismatch"
    )


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
