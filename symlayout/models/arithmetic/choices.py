"""Integers that a model chooses by a comparison of dims: what ``Where(Equal(a, b), then, other)`` computes.

A choice becomes one expression where both sides meet: if *other* has the value of *then* wherever the compared numbers
are equal, the choice is *other* everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from symlayout.language.sympy_arithmetic import exact_ratio


@dataclass(frozen=True, slots=True)
class Choice:
    """An integer or truth value that depends on whether an expression is 0.

    Attributes
    ----------
    zero : expression
        In dims.
    then, other : int, bool, expression or Choice
        The value where *zero* is 0, and elsewhere.
    """

    zero: Any
    then: Any
    other: Any


def compared(a: Any, b: Any) -> Choice:
    """Return whether two expressions are equal, as a choice.

    >>> from symlayout.language.sympy_bridge import dim
    >>> H = dim("H")
    >>> compared(4, H) == compared(H, 4)
    True
    """
    zero = a - b
    return Choice(-zero if zero.could_extract_minus_sign() else zero, True, False)


def is_open(values: Any) -> bool:
    """Return whether one of the values is a choice."""
    return any(isinstance(value, Choice) for value in values)


def branches(numbers: Sequence[Any]) -> tuple[Any, list[Any], list[Any]]:
    """Return the expression that the first choice among *numbers* depends on, and the numbers on each side of it."""
    zero = next(n.zero for n in numbers if isinstance(n, Choice))
    mine = [isinstance(n, Choice) and n.zero == zero for n in numbers]
    then = [n.then if own else 0 if n in (zero, -zero) else n for own, n in zip(mine, numbers, strict=True)]
    return zero, then, [n.other if own else n for own, n in zip(mine, numbers, strict=True)]


def joined(zero: Any, then: Any, other: Any) -> Any:
    """Return the value that is *then* where *zero* is 0 and *other* elsewhere, without a choice if both sides meet.

    Both meet if their difference is a multiple of *zero*.

    >>> from symlayout.language.sympy_bridge import dim
    >>> H = dim("H")
    >>> joined(H - 4, 2 * H, H**2 - 2 * H)
    H**2 - 2*H
    >>> joined(H - 4, 7, H).then
    7
    """
    if any(isinstance(side, Choice | bool) for side in (then, other)):
        return other if then == other and type(then) is type(other) else Choice(zero, then, other)
    return other if exact_ratio(other - then, zero) is not None else Choice(zero, then, other)
