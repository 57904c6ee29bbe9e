"""Floats by which a model makes its shapes: rational expressions in dims, until they are rounded to integers again.

A float stands for a rational expression, with the number of roundings that lie between both.  Rounding to an integer
is exact, for extents below 2**24 (float32), in three cases: the float equals the expression; the float is one quotient
of integers, correctly rounded, because ``floor(fl(a/b)) == floor(a/b)`` for ``0 <= a < 2**24``; or the expression stays
away from the integers by more than the roundings can amount to, as ``(h + 0.1)/8 * 8`` does.  Any other float is not
computed.

Left out: square roots, logarithms and powers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any

from symlayout.frontends.scales import MAX_DENOMINATOR, is_dyadic
from symlayout.language.sympy_arithmetic import fraction_of, rounded_down

_FAR = Fraction(1, 1 << 10)  # from the integers
_CLOSE = Fraction(1, 1 << 23)  # relative difference of a decimal constant and its float32


@dataclass(frozen=True, slots=True)
class Real:
    """A float that a model computes from its dims.

    Attributes
    ----------
    value : Fraction or SymPy expression
        The rational expression that the float stands for.
    roundings : int
        0 if the float equals the expression, 1 if it is a correctly rounded quotient of integers, 2 otherwise.
    """

    value: Any
    roundings: int = 0


def real(number: Any) -> Real | None:
    """Return a number or an integer expression as a `Real`; None for infinities and constants of no simple form.

    >>> real(0.5), real(3)
    (Real(value=Fraction(1, 2), roundings=0), Real(value=Fraction(3, 1), roundings=0))
    >>> import numpy as np
    >>> real(np.float32(0.1))
    Real(value=Fraction(1, 10), roundings=2)
    """
    if isinstance(number, Real):
        return number
    if hasattr(number, "free_symbols"):
        return Real(number)
    try:
        exact = Fraction(float(number)) if not isinstance(number, int) else Fraction(number)
    except (OverflowError, ValueError):
        return None
    if is_dyadic(exact):
        return Real(exact)
    near = exact.limit_denominator(MAX_DENOMINATOR)
    return Real(near, 2) if abs(exact - near) <= abs(near) * _CLOSE else None


def _times(a: Real, b: Real) -> Real | None:
    exact = a.roundings == b.roundings == 0 and (isinstance(a.value, Fraction) or isinstance(b.value, Fraction))
    return Real(_product(a.value, b.value), 0 if exact else 2)


def _over(a: Real, b: Real) -> Real | None:
    if b.value == 0:
        return None
    if isinstance(b.value, Fraction) and not b.roundings and is_dyadic(1 / b.value):
        return Real(_product(a.value, 1 / b.value), a.roundings)
    whole = a.roundings == b.roundings == 0 and fraction_of(a.value)[1] == fraction_of(b.value)[1] == 1
    inverse = 1 / b.value
    return Real(_product(a.value, inverse), 1 if whole else 2)


def _sum(a: Real, b: Real, sign: int = 1) -> Real | None:
    value = a.value + b.value * sign if _alike(a.value, b.value) else _symbolic(a.value) + _symbolic(b.value) * sign
    return Real(value, 0 if a.roundings == b.roundings == 0 else 2)


def _product(a: Any, b: Any) -> Any:
    return a * b if _alike(a, b) else _symbolic(a) * _symbolic(b)


def _alike(a: Any, b: Any) -> bool:
    return isinstance(a, Fraction) and isinstance(b, Fraction)


def _symbolic(e: Any) -> Any:
    return e if not isinstance(e, Fraction) else fraction_of(e)[0] / fraction_of(e)[1]


def negated(a: Real) -> Real:
    """Return ``-a``."""
    return Real(-a.value, a.roundings)


def _same(a: Real) -> Real:
    return a


OPERATIONS: dict[str, Callable[..., Real | None]] = {
    "Mul": _times, "Div": _over, "Add": _sum, "Sub": lambda a, b: _sum(a, b, -1),
    "Neg": negated, "Identity": _same,
}  # fmt: skip


def floor_of(a: Real) -> Any:
    """Return the floor of a float as an int or an integer expression; None if the roundings may change it.

    >>> floor_of(Real(Fraction(7, 2)))
    3
    """
    if a.roundings > 1 and not _is_far_from_integers(a.value):
        return None
    return rounded_down(a.value)


def _is_far_from_integers(value: Any) -> bool:
    """Return whether the expression is at least `_FAR` from each integer, whatever its dims are."""
    if isinstance(value, Fraction):
        top, bottom, constant = 0, 1, value
    else:
        top, bottom = fraction_of(value)
        if not isinstance(bottom, int) and not bottom.is_Integer:
            return False
        offset = top.as_coeff_Add()[0]  # the coefficients of the dims are integers, all over *bottom*
        constant = Fraction(int(offset), int(bottom))
        bottom = _step(top - offset, int(bottom))
    rest = constant * bottom % 1 if bottom else constant
    return min(rest, 1 - rest) / bottom >= _FAR


def _step(e: Any, bottom: int) -> int:
    """Return *d* so that the integer combination *e* over *bottom* is always a multiple of ``1/d``."""
    content = 0
    for term in e.expand().as_ordered_terms():
        content = gcd(content, int(term.as_coeff_Mul()[0]))
    return bottom // gcd(content, bottom) if content else 1
