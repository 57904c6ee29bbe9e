"""The rules of a proof that are not about maps.

The docstring of a rule states the facts that it adds; the code checks its side conditions.  ``docs/algebra.md`` states
why each rule is sound.
"""

from __future__ import annotations

from typing import Any

from symlayout.proof.certificate.checker.known import Known
from symlayout.proof.certificate.checker.polynomials import Polynomial, Refused

# ---------------------------------------------------------------------- what the claim gives


def dim(known: Known, name: str) -> None:
    """``min <= d <= max``; and ``d = k*t`` for a new ``t`` if the claim says that ``d`` is a multiple of ``k``."""
    _, low, high, multiple = _row(known, "dims", name)
    d = known.introduce(name)
    known.mean(name, d)
    if low is not None:
        known.nonnegative.add(d - low)
    if high is not None:
        known.nonnegative.add(known.number(high) - d)
    if multiple != 1:
        known.zero.add(d - known.introduce("?" + name) * multiple)


def _row(known: Known, part: str, name: str) -> list[Any]:
    """Return the entry of the claim for one of its names."""
    known.work.spend(len(known.claim[part]))
    rows: list[list[Any]] = [row for row in known.claim[part] if row[0] == name]
    if not rows:
        raise Refused(f"{name} is not one of the claim's {part}")
    return rows[0]


def assume(known: Known, number: int) -> None:
    """Use an assumption of the claim; that ``k`` divides ``e`` becomes ``e = k*t`` for a new ``t``."""
    if number >= len(known.claim["assumptions"]):
        raise Refused(f"there is no assumption {number}")
    relation, *parts = known.claim["assumptions"][number]
    e = known.claimed(parts[0])
    if relation == "divides":
        known.zero.add(e - known.claimed(parts[1]) * known.introduce(f"?{number}"))
    else:
        (known.nonnegative if relation == ">=" else known.zero).add(e)


def mean(known: Known, name: str, value: Any) -> None:
    """``name = value`` for a symbol of the claim: its definition determines it."""
    _, form, *operands = _row(known, "symbols", name)
    if name in known.meaning:
        raise Refused(f"{name} already has a value")
    v, (a, b) = known.read(value), map(known.claimed, operands)
    if form == "//":
        known.need_floor(a, b, v)
    elif form == "/":
        known.need(b - 1)
        known.need_zero(known.reduce(b * v - a))
    else:
        known.need(known.reduce(v - a))
        known.need(known.reduce(v - b))
        if not any(_is_maximum(known, known.reduce(v - x), y - x) for x, y in ((a, b), (b, a))):
            raise Refused(f"{v} is not shown to be max({a}, {b})")
    known.mean(name, v)


def _is_maximum(known: Known, excess: Polynomial, e: Polynomial) -> bool:
    """Return whether *excess* is ``max(0, e)``; the caller has checked that it is >= 0 and >= *e*."""
    if known.vanishes(excess) or known.vanishes(known.reduce(excess - e)):
        return True
    e = known.reduce(e)
    return any(known.reduce(known.symbol(m)) == excess and known.reduce(s) == e for m, s in known.maxima.items())


# ---------------------------------------------------------------------- new symbols


def define(known: Known, name: str, value: Any) -> None:
    """``t = e`` for a new name ``t``."""
    e = known.read(value)
    known.zero.add(known.introduce(name) - e)


def floor(known: Known, name: str, numerator: Any, denominator: Any) -> None:
    """``q = floor(n/d)`` for ``d >= 1``: ``0 <= n - d*q <= d - 1``."""
    n, d = known.read(numerator), known.read(denominator)
    known.need(d - 1)
    q = known.introduce(name)
    known.nonnegative |= {n - d * q, d * q + d - 1 - n}


def maximum(known: Known, name: str, value: Any) -> None:
    """``m = max(0, e)``."""
    e = known.read(value)
    m = known.introduce(name)
    known.maxima[name] = e
    known.nonnegative |= {m, m - e}


# ---------------------------------------------------------------------- inequalities


def lows(known: Known, goal: Any, bounds: list[Any]) -> None:
    """``g >= 0``: with each symbol written as its lower bound plus a new symbol, no coefficient is negative."""
    g = known.read(goal)
    shifts: dict[str, Polynomial] = {}
    for name, low in bounds:
        known.need(known.read([[1, name]]) - low)
        shifts[name] = known.symbol(name) + low
    if not g.names <= shifts.keys() or any(c < 0 for c in g.substitute(shifts).terms.values()):
        raise Refused(f"{g} >= 0 does not follow from the lower bounds")
    known.nonnegative.add(g)


def combine(known: Known, goal: Any, scale: Any, products: list[Any], equations: list[Any]) -> None:
    """``g >= 0``: ``s*g + s - 1``, for ``s >= 1``, is a sum of products of polynomials that are known to be >= 0.

    So ``g > -1``.  Multiples of polynomials that are known to be 0 may be added.
    """
    g, s = known.read(goal), known.read(scale)
    known.need(s - 1)
    rest = s * g + s - 1
    for left, right in products:
        a, b = known.read(left), known.read(right)
        known.need(a)
        known.need(b)
        rest = rest - a * b
    _balance(known, rest, equations)
    known.nonnegative.add(g)


def _balance(known: Known, rest: Polynomial, equations: list[Any]) -> None:
    """Refuse the certificate unless *rest* is a sum of multiples of polynomials that are known to be 0."""
    for factor, equation in equations:
        zero = known.read(equation)
        known.need_zero(zero)
        rest = rest - known.read(factor) * zero
    if (rest := known.reduce(rest)).terms:
        raise Refused(f"the identity leaves {rest}")


# ---------------------------------------------------------------------- equations


def equation(known: Known, goal: Any, scale: Any, equations: list[Any]) -> None:
    """``g == 0``: ``s*g``, for ``s >= 1``, is a sum of multiples of polynomials that are known to be 0."""
    g, s = known.read(goal), known.read(scale)
    known.need(s - 1)
    _balance(known, s * g, equations)
    known.zero.add(g)


def equal(known: Known, goal: Any) -> None:
    """``g == 0``: ``g`` is known to be >= 0 and <= 0."""
    g = known.read(goal)
    known.need(g)
    known.need(-g)
    known.zero.add(g)


def resolve(known: Known, name: str) -> None:
    """``max(0, e) = e`` if ``e >= 0`` or the maximum is >= 1; ``max(0, e) = 0`` if ``e <= 0``."""
    if name not in known.maxima:
        raise Refused(f"{name} is not a maximum")
    m, e = known.read([[1, name]]), known.maxima[name]
    if known.holds(e) or known.holds(m - 1):
        known.zero.add(known.reduce(m - e))
    else:
        known.need(-e)
        known.zero.add(m)


def solve(known: Known, name: str, value: Any) -> None:
    """Replace a symbol by *value* everywhere; both are known to be equal."""
    v = known.read(value)
    if name in v.names or name in known.solved or name not in known.symbols:
        raise Refused(f"{name} cannot be replaced by {v}")
    known.need_zero(known.reduce(known.symbol(name) - v))
    known.solve(name, v)


def rewrite(known: Known, times: int, monomial: list[str], value: Any) -> None:
    """Replace *times* a monomial by *value* everywhere; both are known to be equal."""
    if times < 1:
        raise Refused(f"{times} times a monomial cannot be replaced")
    m, v = known.read([[times, *monomial]]), known.read(value)
    known.need_zero(known.reduce(m - v))
    known.rewrite(times, tuple(sorted(monomial)), v)


def entry(known: Known, name: str, table: list[int], at: Any) -> None:
    """``min(table) <= t <= max(table)`` for a new ``t``, the entry of a table of the claim at a place."""
    place = known.read(at)
    known.work.spend(len(table))
    t = known.entries[tuple(table), place] = known.introduce(name)
    known.nonnegative |= {t - min(table), known.number(max(table)) - t}


def divide(known: Known, numerator: Any, denominator: Any, quotient: Any) -> None:
    """``q = floor(e/k)``: ``0 <= e - k*q <= k - 1``."""
    e, k, q = (known.read(part) for part in (numerator, denominator, quotient))
    known.need_floor(e, k, q)
    known.floors[e, k] = q
