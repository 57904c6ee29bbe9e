"""Arithmetic on SymPy expressions in dims: quotients, lower bounds, equal products.

What is decided is decided by the algebra, not by SymPy's simplification.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, exact_quotient
from symlayout.language.sympy_bridge import to_extent, to_fraction, to_sympy

_MOST_NESTED = 2  # floors of floors that are kept
_MOST_DIVISOR = 1 << 48  # of a floor that is written for a floor of a floor: its numbers are sizes


def at_least(value: Any, low: int) -> bool:
    """Return whether ``value >= low`` is proved for all values of its dims."""
    facts = Facts()
    return facts.nonnegative(to_extent(value, facts) - low)


def total(sizes: Mapping[Any, int]) -> Any:
    """Return the sum of sizes times how often each occurs, as an int or an expanded expression.

    >>> from symlayout.language.sympy_bridge import dim
    >>> total({dim("H") + 1: 2, 3: 1})
    2*H + 5
    """
    import sympy

    known = sum(size * count for size, count in sizes.items() if isinstance(size, int))
    terms = [size * count for size, count in sizes.items() if not isinstance(size, int)]
    return sympy.Add(known, *terms).expand() if terms else known  # at once: sums of sums take quadratic time


def quotients(values: Iterable[Any]) -> set[Any]:
    """Return the floors in the SymPy expressions among *values*."""
    import sympy

    return {part for e in values if hasattr(e, "atoms") for part in e.atoms(sympy.floor)}


def floor_quotient(a: Any, b: Any) -> Any:
    """Return ``a // b``; a floor of many floors plus an integer, by a positive integer, as one floor.

    SymPy keeps floors of floors, and takes time that grows with the cube of their number.  A few are kept, since each
    may turn out to be exact by itself.

    >>> from symlayout.language.sympy_bridge import dim
    >>> e = dim("H")
    >>> for _ in range(30):
    ...     e = floor_quotient(e + 1, 2)
    >>> len(rounded(e))
    2
    """
    import sympy

    if isinstance(b, int) and b >= 1 and isinstance(a, sympy.Expr):
        constant, rest = a.as_coeff_Add()
        if isinstance(rest, sympy.floor) and constant.is_Integer and len(quotients([rest])) >= _MOST_NESTED:
            numerator, denominator = fraction_of((rest.args[0] + constant) / b)
            if not denominator.is_Integer or denominator <= _MOST_DIVISOR:
                return sympy.floor(sympy.expand(numerator / denominator))
    return a // b


def rounded(e: Any) -> set[Any]:
    """Return the quotients in a SymPy expression that are rounded, up or down.

    >>> from symlayout.language.sympy_bridge import dim
    >>> rounded(dim("H") // 2 + 1)
    {floor(H/2)}
    """
    import sympy

    return set(e.atoms(sympy.floor, sympy.ceiling)) if hasattr(e, "atoms") else set()


def exact_quotients(values: Iterable[Any], apart_from: Iterable[Any] = ()) -> list[Any]:
    """Return *values* with each floor replaced by its argument, except the floors that occur in *apart_from*.

    >>> from symlayout.language.sympy_bridge import dim
    >>> H = dim("H")
    >>> exact_quotients([2, H // 2, (H + 1) // 2], [(H + 1) // 2])
    [2, H/2, floor(H/2 + 1/2)]
    """
    import sympy

    kept = quotients(apart_from)

    def exact(e: Any) -> Any:
        if not hasattr(e, "replace"):
            return e
        return e.replace(lambda part: isinstance(part, sympy.floor) and part not in kept, lambda part: part.args[0])

    return [exact(e) for e in values]


def exact_ratio(a: Any, b: Any) -> Any:
    """Return ``a / b`` as an int or a polynomial in dims and floors; None if it is none.

    >>> from symlayout.language.sympy_bridge import dims
    >>> H, W = dims("H W")
    >>> exact_ratio(H * (W // 4 + 2) + H, H)
    floor(W/4) + 3
    """
    facts = Facts()
    (n, over_n), (d, over_d) = to_fraction(a, facts), to_fraction(b, facts)
    quotient = exact_quotient(n * over_d, d * over_n)
    return None if quotient is None else to_sympy(quotient, facts)


def least(e: Any) -> int | None:
    """Return a lower bound of an integer expression, read off its form and the bounds of its dims; None if unbounded.

    >>> from symlayout.language.sympy_bridge import dim
    >>> H = dim("H", min=3)
    >>> least(2 * H + 1), least(H - 5), least(-H), least(H // 2)
    (7, -2, None, 1)
    """
    if isinstance(e, int):
        return e
    if (record := getattr(e, "record", None)) is not None:
        return record.min  # type: ignore[no-any-return]
    if e.is_Rational:
        return int(e.p) // int(e.q)
    name = type(e).__name__
    if name in ("floor", "ceiling"):  # its argument is read once: floors of floors would take exponential time
        return _least_ratio(e.args[0])
    if name == "Mod":
        return 0
    bounds = [least(part) for part in e.args]
    known = [bound for bound in bounds if bound is not None]
    if e.is_Add and len(known) == len(bounds):
        return sum(known)
    if e.is_Mul and all(bound >= 0 for bound in known) and len(known) == len(bounds):
        return math.prod(known)
    if name == "Max":
        return max(known, default=None)
    if name == "Min" and len(known) == len(bounds):
        return min(known)
    return None


def _least_ratio(e: Any) -> int | None:
    """Return a lower bound of ``floor(e)``."""
    numerator, denominator = fraction_of(e)
    bound = least(numerator)
    if bound is None:
        return None
    if denominator.is_Integer:
        return bound // int(denominator)
    return min(bound, 0) if (least(denominator) or 0) >= 1 or bound >= 0 else None


def fraction_of(e: Any) -> tuple[Any, Any]:
    """Return the numerator and the denominator of a rational number or expression, as SymPy expressions."""
    import sympy

    if isinstance(e, Fraction):
        return sympy.Integer(e.numerator), sympy.Integer(e.denominator)
    return e.together().as_numer_denom()  # type: ignore[no-any-return]


def rounded_down(e: Any) -> Any:
    """Return the floor of a rational number or expression, as an int if it is a constant.

    >>> from symlayout.language.sympy_bridge import dim
    >>> rounded_down(dim("H") / 2 + 3), rounded_down(Fraction(7, 2))
    (floor(H/2) + 3, 3)
    """
    import sympy

    if isinstance(e, Fraction):
        return math.floor(e)
    found = sympy.floor(e)
    return int(found) if found.is_Integer else found


def same_products(left: Iterable[Any], right: Iterable[Any]) -> bool:
    """Return whether the products of two lists of expressions are equal when multiplied out.

    >>> from symlayout.language.sympy_bridge import dims
    >>> H, W = dims("H W")
    >>> same_products([H + 2, W], [2, H / 2 + 1, W])
    True
    """
    facts, sides = Facts(), []
    counts = Counter(left), Counter(right)
    for values in ((counts[0] - counts[1]).elements(), (counts[1] - counts[0]).elements()):  # common factors cancel
        top: Extent = 1
        bottom: Extent = 1
        for e in values:
            n, d = to_fraction(e, facts)
            top, bottom = top * n, bottom * d
        sides.append((top, bottom))
    (a, over_a), (b, over_b) = sides
    return bool(facts.reduce(a * over_b) == facts.reduce(b * over_a))
