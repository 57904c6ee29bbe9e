"""A slice of what digits read, and the digits over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

from symlayout.optimize_models.spellings.computed_bounds import Bounds
from symlayout.optimize_models.spellings.movement_digits import Digits
from symlayout.optimize_models.spellings.movement_steps import END, Step
from symlayout.optimize_models.spellings.reshape_steps import Shape


def slice_of_digits(
    start: Shape, digits: Digits, computed: Bounds | None = None
) -> tuple[list[Step], Shape, Digits] | None:
    """Return a slice of what is read, and the digits over it; None if that is no slice.

    Bounds that no constants are for all sizes are *computed*.
    """
    bounds: list[tuple[int, Any, Any, int]] = []  # axis, start, end, step
    shape = list(start)
    sizes = [list(s) for s in digits.starts]
    steps: dict[int, int] = {}
    for axis in range(len(start)):
        own = sorted(
            (k for k, d in enumerate(digits.digits) if d.source == axis), key=lambda k: abs(digits.digits[k].step)
        )
        unit = digits.digits[own[0]].step if own else 1
        counts = [1] * len(sizes)
        for k in own:
            d = digits.digits[k]
            if d.step != unit * counts[0]:
                return None
            steps[k] = counts[0]
            counts = [c * n for c, n in zip(counts, d.numbers, strict=True)]
        extent = prod((digits.digits[k].extent for k in own), start=1)
        firsts = [corner[axis] for corner in digits.corners]
        if unit != 1 or extent != start[axis]:
            bound = _bounds(firsts, unit, counts, [s[axis] for s in sizes])
            if unit == 1 and computed is not None and (bound is None or _names(extent) > _names(start[axis])):
                whole = [s[axis] for s in sizes], start[axis]
                bound = _computed(computed, axis, firsts, whole, extent) or bound
            if bound is None:
                return None
            bounds.append((axis, *bound, unit))
        shape[axis] = extent
        for size, count in zip(sizes, counts, strict=True):
            size[axis] = count
    if not bounds:
        return [], start, digits
    made = tuple(
        d if d.source < 0 else replace(d, step=steps[k], stride=steps[k] * prod(sizes[0][d.source + 1 :]))
        for k, d in enumerate(digits.digits)
    )
    axes, firsts, ends, units = (list(column) for column in zip(*bounds, strict=True))
    given = (("starts", firsts), ("ends", ends), ("axes", axes), ("steps", units))
    corners = tuple((0,) * len(start) for _ in sizes)
    return [Step("Slice", given, tuple(shape))], tuple(shape), Digits(made, corners, tuple(map(tuple, sizes)))


def one_slice(start: Shape, digits: Digits) -> tuple[tuple[tuple[str, Any], ...], Shape, Digits] | None:
    """Return the bounds of the slice that digits read, its shape, and the digits over it; None if they read none."""
    found = slice_of_digits(start, digits)
    return None if found is None or not found[0] else (found[0][0].attributes, *found[1:])


def _bounds(firsts: Sequence[int], unit: int, counts: Sequence[int], sizes: Sequence[int]) -> tuple[int, int] | None:
    """Return constants for the start and the end of a slice, counted from either end; None if none fit all examples."""
    begin = _constant(firsts, sizes)
    past = [f + unit * c for f, c in zip(firsts, counts, strict=True)]
    if unit > 0 and all(p >= n for p, n in zip(past, sizes, strict=True)):
        stop: int | None = END
    elif unit < 0 and all(p < 0 for p in past):
        stop = -END
    else:
        stop = _constant([p - unit + (1 if unit > 0 else -1) for p in past], sizes)
    return None if begin is None or stop is None else (begin, stop)


def _computed(
    computed: Bounds, axis: int, firsts: Sequence[int], whole: tuple[Sequence[int], Any], extent: Any
) -> tuple[Any, Any] | None:
    """Return the start and the end of a slice, at least one of which nodes compute; None if none can.

    *whole* is the extent that is cut: in each example, and as an expression, to which an end clamps anyway.
    """
    begin: Any = _constant(firsts, whole[0])
    if begin is None or begin < 0:
        begin = computed.computed(computed.start(axis))
    if begin is None:
        return None
    past = begin + extent
    if type(past).__name__ == "Min":
        past = past.func(*(e for e in past.args if e != whole[1]))
    stop = computed.computed(past)
    return None if stop is None else (begin, stop)


def _names(extent: Any) -> set[Any]:
    """Return the dims of an extent."""
    return set(getattr(extent, "free_symbols", ()))


def _constant(places: Sequence[int], sizes: Sequence[int]) -> int | None:
    """Return a place counted from the start, or from the end, as a constant."""
    if len(set(places)) == 1:
        return places[0]
    from_end = {p - n for p, n in zip(places, sizes, strict=True)}
    return from_end.pop() if len(from_end) == 1 and max(from_end) < 0 else None
