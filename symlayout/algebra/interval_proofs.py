"""Why an expression is within its interval, as derivations.

`Intervals.interval` computes with integers alone.  Where a certificate has to say why, the same sum is written here as
products of what is >= 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symlayout.algebra.derivation import Derivation, Factor
from symlayout.algebra.intervals import Intervals
from symlayout.algebra.polynomial import Extent, Poly, product, substitute, symbol, terms_of


def at_least(system: Intervals, e: Extent) -> Derivation | None:
    """Return why *e* is at least the lower end of its interval; None if it has none."""
    least = system.interval(e)[0]
    if least is None:
        return None
    goal = e - least
    if not isinstance(e, Poly):
        return Derivation(goal)
    if goal in system.known:
        return Derivation(goal, ((1, goal),))
    if system.sum_interval(e)[0] == least:
        return Derivation(goal, tuple(_pieces(system, e)))
    name = system.extreme_of(e)
    return None if name is None else _of_extreme(system, e, name, least)


def linear(
    system: Intervals, parts: Sequence[tuple[int, Extent]], constant: int, positive: Extent = 1
) -> Derivation | None:
    """Return why ``c_1*e_1 + c_2*e_2 + ... + constant >= 0`` by the intervals of the parts; None if that is too little.

    It is known that *positive*, which may be one of the parts, is >= 1.
    """
    goal: Extent = constant
    least = constant
    products: list[tuple[Factor, Factor]] = []
    for c, e in parts:
        side = e if c > 0 else -e
        goal = goal + abs(c) * side
        proof: Factor | None = at_least(system, side) if c else 0
        end = system.interval(side)[0] if c else 0
        if side == positive and (end is None or end < 1):
            proof, end = side - 1, 1
        if proof is None or end is None:
            return None
        products.append((abs(c), proof))
        least += abs(c) * end
    return Derivation(goal, (*products, (1, least))) if least >= 0 else None


def _pieces(system: Intervals, e: Poly) -> Iterator[tuple[Factor, Factor]]:
    """Yield products that add up to *e* less the sum of its terms' lower bounds, where each has one."""
    starts = system.starts(e)
    shifted = substitute(e, {name: symbol(name) + low for name, low in starts.items()})
    for monomial, c in terms_of(shifted).items():
        over = [symbol(name) - starts.get(name, 0) for name in monomial]  # each symbol less its start
        if c > 0:
            yield c, product(over) - product((system.low[name] or 0) - starts.get(name, 0) for name in monomial)
            continue
        highs = [_high(system, name) for name in monomial]
        ends = [end - starts.get(name, 0) for (end, _), name in zip(highs, monomial, strict=True)]
        for k, (_, below) in enumerate(highs):  # one after the other is replaced by its end
            yield -c * product([*over[:k], *ends[k + 1 :]]), below


def _high(system: Intervals, name: str) -> tuple[int, Factor]:
    """Return the upper bound of a symbol that has one as a number, and why the symbol is not above."""
    high = system.high[name]
    proof = at_least(system, -high) if isinstance(high, Poly) else None
    most = high if proof is None else system.interval(high or 0)[1]
    assert high is not None
    assert isinstance(most, int)
    below = high - symbol(name)
    return most, below if proof is None else Derivation(most - symbol(name), ((1, below), (1, proof)))


def _of_extreme(system: Intervals, e: Poly, name: str, least: int) -> Derivation | None:
    """Return why a maximum or a minimum is >= *least*, by that of its two values."""
    m, other = symbol(name), system.definitions[name].right
    sign = e.terms[(name,)]
    found: list[Factor] = []
    for value, above in ((0, m), (other, m - other)):
        side = e + (value - m) * sign
        proof, end = at_least(system, side), system.interval(side)[0]
        if proof is None or end is None or end < least:
            continue
        reached = Derivation(side - least, ((1, proof), (1, end - least)))
        if sign == 1:  # the maximum is at least either
            return Derivation(e - least, ((1, above), (1, reached)))
        found.append(reached)
    return Derivation(e - least, tuple((1, proof) for proof in found), maximum=name) if len(found) == 2 else None
