"""Digits that are read backwards: the axis becomes its digits, and one Slice turns those.

Two halves that change places are a digit of two that is turned, whatever slices and joins do it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from symlayout.optimize_models.spellings.movement_digits import Digit, Digits
from symlayout.optimize_models.spellings.reshape_steps import Groups, Shape


def turned(start: Shape, digits: Digits) -> tuple[Groups, Groups, list[int], Digits] | None:
    """Return how the digits that are read backwards get axes of their own: the axes before and after, and the digits.

    The third element has the axes to turn.  None if no digit is turned, or not every element is read once.
    """
    backwards = {d.source for d in digits.digits if d.source >= 0 and d.step < 0}
    if not backwards or any(d.source < 0 for d in digits.digits):
        return None
    before: list[tuple[int, ...]] = []
    after: list[tuple[int, ...]] = []
    axes: list[int] = []
    places: dict[int, tuple[int, int]] = {}  # the axis of each digit, and its step there
    for axis, extent in enumerate(start):
        own = [k for k, d in enumerate(digits.digits) if d.source == axis]
        own.sort(key=lambda k: -abs(digits.digits[k].step))
        if not _fills(digits, own, axis) or prod((digits.digits[k].extent for k in own), start=1) != extent:
            return None
        before.append(tuple(own))
        for group in [(k,) for k in own] if axis in backwards else [tuple(own)]:
            for k in group:
                places[k] = len(after), 1 if axis in backwards else digits.digits[k].step
            axes += [len(after)] if any(digits.digits[k].step < 0 for k in group) else []
            after.append(group)
    starts = tuple(
        tuple(prod(digits.digits[k].numbers[example] for k in group) for group in after)
        for example in range(len(digits.starts))
    )
    made = [_at(d, *places[k], starts[0]) for k, d in enumerate(digits.digits)]
    corners = tuple((0,) * len(after) for _ in starts)
    return tuple(before), tuple(after), axes, Digits(tuple(made), corners, starts)


def _fills(digits: Digits, own: Sequence[int], axis: int) -> bool:
    """Return whether digits of one axis, the largest steps first, read it once, from its start or its end on."""
    for example, corner in enumerate(digits.corners):
        step, first = 1, 0
        for k in reversed(own):
            d = digits.digits[k]
            if abs(d.step) != step:
                return False
            first += (d.numbers[example] - 1) * step if d.step < 0 else 0
            step *= d.numbers[example]
        if corner[axis] != first:
            return False
    return True


def _at(digit: Digit, axis: int, step: int, sizes: Sequence[int]) -> Digit:
    return replace(digit, source=axis, step=step, stride=step * prod(sizes[axis + 1 :]))
