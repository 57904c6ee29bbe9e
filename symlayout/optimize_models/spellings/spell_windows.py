"""Windows as slices that are joined along an axis of their own: those that overlap, and blocks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from symlayout.optimize_models.spellings.movement_digits import Digit, Digits, is_number
from symlayout.optimize_models.spellings.reshape_steps import Shape

WINDOWS = "windows"
_MAX_PIECES = 64  # slices of one spelling

Attributes = tuple[tuple[str, Any], ...]
Cut = Callable[[Shape, Digits], "tuple[Attributes, Shape, Digits] | None"]


def stacked(start: Shape, digits: Digits, cut: Cut) -> Iterator[tuple[int, tuple[Attributes, ...], Shape, Digits]]:
    """Yield the ways to cut windows: the axis of the pieces, their slices, the shape of all of them, and its digits.

    Parameters
    ----------
    start : tuple
        The shape that is cut.
    digits : Digits
        What is read of it.
    cut : function
        Returns the bounds of one slice of a shape, its shape and digits; None if the digits read no slice.
    """
    windows = _windows(digits, len(start))
    counts = [int(digits.digits[k].extent) for k in windows]
    if not windows or prod(counts) > _MAX_PIECES:
        return
    rest = [k for k in range(len(digits.digits)) if k not in windows]
    pieces = []
    for place in itertools.product(*map(range, counts)):
        corners = [list(corner) for corner in digits.corners]
        for k, n in zip(windows, place, strict=True):
            for corner in corners:
                corner[digits.digits[k].source] += n * digits.digits[k].step
        moved = replace(digits, digits=tuple(digits.digits[k] for k in rest), corners=tuple(map(tuple, corners)))
        piece = cut(start, moved)
        if piece is None:
            return
        pieces.append(piece)
    _, shape, inner = pieces[0]
    if any(other != shape for _, other, _ in pieces):
        return
    sizes = inner.starts[0]
    for axis in range(len(start) + 1):
        made: dict[int, Digit] = {}
        wide = (*sizes[:axis], len(pieces), *sizes[axis:])
        for k, d in zip(rest, inner.digits, strict=True):
            source = d.source + (d.source >= axis) if d.source >= 0 else -1
            made[k] = replace(d, source=source, stride=d.step * prod(wide[source + 1 :]) if source >= 0 else 0)
        for at, k in enumerate(windows):
            step = prod(counts[at + 1 :])
            made[k] = replace(digits.digits[k], source=axis, step=step, stride=step * prod(wide[axis + 1 :]))
        starts = tuple((*s[:axis], len(pieces), *s[axis:]) for s in inner.starts)
        corners_of_all = tuple((0,) * len(s) for s in starts)
        yield (
            axis,
            tuple(bounds for bounds, _, _ in pieces),
            (*shape[:axis], len(pieces), *shape[axis:]),
            Digits(tuple(made[k] for k in sorted(made)), corners_of_all, starts),
        )


def tiled(shape: Shape, slices: Sequence[Attributes]) -> tuple[int, int] | None:
    """Return the axis that slices cut into pieces of one size, and the number of pieces; None if they are others.

    >>> tiled((5, 6), [(("starts", [k]), ("ends", [k + 3]), ("axes", [1]), ("steps", [1])) for k in (0, 3)])
    (1, 2)
    """
    bounds = [dict(given) for given in slices]
    (axis, *others) = bounds[0]["axes"]
    extent = shape[axis]
    if others or not is_number(extent) or int(extent) % len(bounds):
        return None
    size = int(extent) // len(bounds)
    for k, given in enumerate(bounds):
        first, last = given["starts"][0], given["ends"][0]
        if given["axes"] != [axis] or given["steps"] != [1] or first % int(extent) != k * size:
            return None
        if (last if last > 0 else last + int(extent)) != (k + 1) * size and not (last >= int(extent) == (k + 1) * size):
            return None
    return axis, len(bounds)


def _windows(digits: Digits, rank: int) -> list[int]:
    """Return the digits that are places in windows, in output order: on each axis of several digits the smallest one.

    The list is empty if there are none, or if an axis has more than one.
    """
    found = []
    for axis in range(rank):
        own = [k for k, d in enumerate(digits.digits) if d.source == axis]
        if len(own) < 2:
            continue
        fixed = sorted((k for k in own if is_number(digits.digits[k].extent)), key=lambda k: digits.digits[k].extent)
        window = next((k for k in fixed if _is_slice(digits, [j for j in own if j != k])), None)
        if window is not None:
            found.append(window)
        elif not _is_slice(digits, own):
            return []
    return sorted(found)


def _is_slice(digits: Digits, own: Sequence[int]) -> bool:
    """Return whether digits of one axis are those of a slice: each step is that of the digits below it, all of them."""
    order = sorted(own, key=lambda k: abs(digits.digits[k].step))
    step = digits.digits[order[0]].step if order else 1
    for k in order:
        if digits.digits[k].step != step:
            return False
        step *= digits.digits[k].numbers[0]
    return True
