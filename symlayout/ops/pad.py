"""Add elements around an array, or take some away."""

from __future__ import annotations

from typing import Any

from symlayout.declare import Declared, Fill, Operand, as_list, index_map, is_list
from symlayout.errors import ShapeError
from symlayout.tensor import operation


@operation
def pad(x: Operand, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Declared:
    """Return *x* with ``(before, after)`` elements added on each axis: ``i = o - before``.

    Where ``0 <= i < n`` fails the element is *constant_values*.  A negative width takes elements away.

    Parameters
    ----------
    pad_width : int, (before, after), or one pair per axis
        As in NumPy: a single value or pair stands for all axes.
    mode : str
        ``"constant"``.
    constant_values : scalar
        The fill, cast to the element type when data is at hand.

    Raises
    ------
    ShapeError
        ``crop_exceeds`` if more is taken away than there is, ``length_mismatch``, ``bad_mode``.

    See `numpy.pad`.
    """
    if mode != "constant":
        raise ShapeError(f"{x.where}: mode {mode!r:.80} is not 'constant'", "bad_mode")
    if is_list(constant_values):
        raise ShapeError(f"{x.where}: constant_values {constant_values!r:.80} is not one value", "length_mismatch")
    widths = x.pairs(_widths(pad_width, x.rank), "pad_width", x.rank)
    domain = [before + n + after for n, (before, after) in zip(x.shape, widths, strict=True)]
    for k, (e, (before, after)) in enumerate(zip(domain, widths, strict=True)):
        rule = f"axis {k}: {x.spell(-before)} + {x.spell(-after)} taken from {x.spell(x.shape[k])}"
        x.require(e, "crop_exceeds", rule)
    return index_map(
        domain,
        lambda *o: [c - before for c, (before, _) in zip(o, widths, strict=True)],
        fill=Fill(constant_values),
    )


def _widths(pad_width: Any, rank: int) -> list[Any]:
    items = as_list(pad_width)
    if not any(is_list(item) for item in items):
        if len(items) == 1:
            return [(items[0], items[0])] * rank
        if len(items) == 2:
            return [tuple(items)] * rank
    if len(items) == 1 and rank != 1 and is_list(items[0]):
        return items * rank
    return items
