"""Move elements along axes; elements that leave at one end come back at the other."""

from __future__ import annotations

from typing import Any

from symlayout.algebra.polynomial import Extent, product
from symlayout.errors import ShapeError
from symlayout.ops.reshape import linear, mixed_radix
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.declaration import Declared, Operand, as_list, index_map


@core_operation
def roll(x: Operand, shift: Any, axis: Any = None) -> Declared:
    """Return *x* rolled along *axis*: ``i = (o - shift) % n`` there, ``i = o`` elsewhere.

    Parameters
    ----------
    shift : int, dim, expression, or a sequence of them
        The number of positions that elements move to higher coordinates; of any sign and size.
    axis : int or sequence of int, optional
        One for each shift.  A single shift is used for all axes, and a single axis for all shifts.  Shifts of a
        repeated axis add up.  None rolls the elements in row-major order.

    Raises
    ------
    ShapeError
        ``bad_axis``, ``length_mismatch`` if the numbers of shifts and axes differ, ``overflow``.

    References
    ----------
    `numpy.roll`.

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> sl.roll(sl.tensor("N"), 1).index_map
    (i0) -> ((i0 - 1) % N)
    >>> sl.interpret(sl.roll(sl.tensor("N"), 1), np.array([1, 2, 3]))
    array([3, 1, 2])
    """
    shifts = x.extents(shift, "shift")
    if axis is None:
        size = product(x.shape)
        step = _within(x, sum(shifts, 0), size)
        return index_map(x.shape, lambda *o: mixed_radix((linear(o, x.shape) - step) % size, x.shape))
    axes = [x.axis(a) for a in as_list(axis)]
    if len(shifts) == 1:
        shifts *= len(axes)
    if len(axes) == 1:
        axes *= len(shifts)
    if len(shifts) != len(axes):
        raise ShapeError(f"{x.where}: shift has {len(shifts)} values for {len(axes)} axes", "length_mismatch")
    total: dict[int, Extent] = {}
    for a, s in zip(axes, shifts, strict=True):
        total[a] = total.get(a, 0) + s
    steps = {a: _within(x, s, x.shape[a]) for a, s in total.items()}

    def coords(*o: Any) -> list[Any]:
        return [(c - steps[k]) % n if k in steps else c for k, (c, n) in enumerate(zip(o, x.shape, strict=True))]

    return index_map(x.shape, coords)


def _within(x: Operand, shift: Extent, n: Extent) -> Extent:
    """Return a shift with the same effect on an axis of extent *n*: reduced modulo *n* if both are ints."""
    if n in (0, 1):
        return 0
    if isinstance(shift, int) and isinstance(n, int):
        return shift % n
    if isinstance(shift, int):
        x.countable(abs(shift), "shift")
    return shift
