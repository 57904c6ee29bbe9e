"""Pads with the frameworks' limits, and with negative widths that remove elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symlayout.ops.pad import pad
from symlayout.tensors.chain import Tensor


def padded(
    x: Tensor,
    widths: Sequence[Sequence[Any]],
    mode: str,
    fill: Any,
    *,
    crops_first: bool,
    bounded: bool = True,
    refills: bool = True,
) -> Tensor:
    """Return *x* with ``[begin, end]`` elements added on each axis; negative ones take some away.

    Parameters
    ----------
    widths : sequence of pairs of int, dim or expression
        One pair per axis.  Of symbolic ones only those of mode ``"constant"`` may be negative.
    mode : str
        As in `pad`.
    fill : scalar
        What ``"constant"`` adds.
    crops_first : bool
        Whether what is taken away is not repeated, in modes that repeat elements.
    bounded : bool
        Whether, in these, an axis is repeated at most once on each side.
    refills : bool
        Whether, in mode ``"constant"``, one side may take more than there is if the other one adds it again.

    Raises
    ------
    ShapeError
        As `pad`; unless it *refills*, ``crop_exceeds`` also if one side takes more than there is and the other adds it
        again.
    """
    if mode == "constant" and refills:
        return pad(x, widths, mode, fill)
    taken = [[min(e, 0) if isinstance(e, int) else 0 for e in pair] for pair in widths]
    added = [[max(e, 0) if isinstance(e, int) else e for e in pair] for pair in widths]
    if mode == "constant":
        return pad(_cropped(x, taken), added, mode, fill)
    if crops_first:
        return pad(_cropped(x, taken), added, mode, bounded=bounded)
    return _cropped(pad(x, added, mode, bounded=bounded), taken)


def _cropped(x: Tensor, taken: Sequence[Sequence[int]]) -> Tensor:
    return pad(x, taken) if any(e for pair in taken for e in pair) else x
