"""Which polynomial to split a case on: its sign is known in each of the two branches."""

from __future__ import annotations

from collections.abc import Sequence

from symlayout.algebra.fact_store import DIGIT
from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import is_digital
from symlayout.algebra.polynomial import Extent, Poly, coefficient_of, names_of, symbol

MAX_VALUES = 16  # a symbol with at most so many values may be split into its values
_MOST_DIVIDED = 4096  # a number up to this one may be split into its divisors


def sign_to_decide(facts: Facts, value: Extent, taken: tuple[Extent, ...]) -> Extent:
    """Return the polynomial whose sign to decide before that of *value*.

    It is the argument of a maximum, or it halves a digit or remainder that is multiplied by an extent.  For example,
    ``(i % 2)*C + c`` lies in another range of channels for each value of the remainder.  Where the extents are numbers,
    it halves the leading digit of several.
    """
    value = facts.reduce(facts.question(facts.reduce(value)))  # a digit may have been solved since *value* was asked
    if not isinstance(value, Poly):
        return value
    for name in sorted(n for n in value.names if n in facts.floors or n[0] == DIGIT):
        step = coefficient_of(value, name)
        if step is not None and isinstance(step[0], Poly):
            between = _halved(facts, name) if name[0] == DIGIT else _remainder(facts, name, taken)
            if between is not None:
                return between
    leading = _leading(facts, value)
    return value if leading is None else _halved(facts, leading) or value


def split_by_values(facts: Facts, values: Sequence[Extent], taken: tuple[Extent, ...]) -> Extent | None:
    """Return the polynomial of a split that halves the range of a symbol with few values, or separates its least value.

    None is returned if there is no such symbol.
    """
    ranges: list[tuple[int, int, str]] = []
    for place, (name, low) in enumerate(facts.low.items()):
        high = facts.high[name]
        if isinstance(high, Poly):
            high = facts.interval(high)[1]
        if low is not None and high is not None and low < high <= low + MAX_VALUES and name not in facts.floors:
            ranges.append((high - low, place, name))
    if ranges:
        size, _, name = min(ranges)
        return symbol(name) - (facts.low[name] or 0) - (size + 1) // 2
    names = {name for e in values for name in names_of(facts.reduce(e))}
    for name in sorted(names & facts.floors.keys()):
        if (between := _remainder(facts, name, taken)) is not None:
            return between
    for name in sorted(names & facts.low.keys()):
        low = facts.low[name]
        apart = symbol(name) - ((low or 0) + 1)
        if low is not None and name[0] != DIGIT and name not in facts.floors and -1 - apart not in taken:
            return apart
    return None


def split_by_divisors(facts: Facts) -> Extent | None:
    """Return the polynomial of a split between the values of a symbol that divides a number; None if there is none."""
    found: list[tuple[bool, int, Extent]] = []
    for rule in facts.rules:
        number = rule.value
        if not isinstance(number, int) or not 0 < number <= _MOST_DIVIDED:
            continue
        for name in sorted(set(rule.monomial)):
            low, high = max(facts.low[name] or 1, 1), facts.interval(symbol(name))[1]
            last = number if high is None else min(number, high)
            values = [v for v in range(low, last + 1) if number % v ** rule.monomial.count(name) == 0]
            if high == low or (not values and (high is None or high > low + MAX_VALUES)):
                continue
            apart = (low + 1 + last) // 2 if not values else values[len(values) // 2] if values[-1] > low else low + 1
            found.append((name in facts.quotients, len(values), symbol(name) - apart))
    return min(found, key=lambda each: each[:2], default=(False, 0, None))[2]


def has_symbols(value: Extent, facts: Facts) -> bool:
    """Return whether *facts* have the symbols of a split of an earlier proof, which may have met others before it."""
    return names_of(value) <= facts.low.keys() | facts.solved.keys()


def _leading(facts: Facts, value: Poly) -> str | None:
    """Return the digit of *value* whose coefficient is an integer beyond what all its other digits add up to."""
    steps = {m[0]: abs(c) for m, c in value.terms.items() if len(m) == 1 and m[0][0] == DIGIT}
    if len(steps) < 2 or steps.keys() != {name for name in value.names if is_digital(name, facts)}:
        return None
    first = max(steps, key=lambda name: steps[name])
    rest: Extent = 0
    for name, step in steps.items():
        high = facts.high[name]
        if high is None:
            return None
        rest = rest + step * (high - (facts.low[name] or 0)) * (name != first)
    return first if facts.nonnegative(steps[first] - 1 - rest) else None


def _halved(facts: Facts, name: str) -> Extent | None:
    """Return the polynomial of a split that halves the range of a digit; None if it has many values."""
    low, high = facts.low[name], facts.high[name]
    if low is None or not isinstance(high, int) or not low < high < low + MAX_VALUES:
        return None
    return symbol(name) - (low + high + 1) // 2


def _remainder(facts: Facts, name: str, taken: tuple[Extent, ...]) -> Extent | None:
    """Return the polynomial of a split that halves the values of ``n - d*floor(n/d)``; None unless *d* is small."""
    numerator, d = facts.floors[name]
    if not isinstance(d, int) or d > MAX_VALUES:
        return None
    remainder = facts.reduce(numerator - d * symbol(name))
    apart = [[k - 1 - remainder, remainder - k - 1] for k in range(d)]
    left = [k for k, ends in enumerate(apart) if not any(facts.nonnegative(end) for end in ends)]
    if len(left) == 1:  # add the only value as a fact, so that the algebra can use it
        ends = [remainder - left[0]] * (left[0] > 0) + [left[0] - remainder] * (left[0] < d - 1)
        return next((end for end in ends if end not in facts.known and end not in taken), None)
    return remainder - left[len(left) // 2] if left else None
