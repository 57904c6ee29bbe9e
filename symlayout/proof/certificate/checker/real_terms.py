"""The formulas of fused functions, over the real numbers.

The standard defines Gelu and others by a formula, and no order in which it is rounded.  A chain of functions is a fused
function of an operand if over the real numbers it is that formula: both are written as sums of products of the operand
and of other functions, with rational coefficients.  A number of the chain may be one of the formula that was rounded to
the precision of the elements.  The operand itself is not taken apart.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import isqrt
from typing import Any

Form = dict[tuple[int, ...], tuple[Fraction, Fraction]]  # by a product of atoms: its coefficient, and how far it is off
_EXACT = 2**10  # a number whose numerator and denominator are below this is the number that is meant
_SYMMETRIC = ("larger", "smaller")
_MOST_TERMS, _MOST_POWER = 64, 4

_PI = Fraction(3141592653589793238462643383279503, 10**33)


def _root(x: Fraction) -> Fraction:
    return Fraction(isqrt(int(x * 10**60)), 10**30)


def _real(value: Fraction | int) -> tuple[str, Fraction]:
    return "real", Fraction(value)


_X = ("x",)
_HALF = _real(Fraction(1, 2))
_CUBE = ("multiply", _real(Fraction(44715, 10**6)), ("power", _X, _real(3)))
FORMULAS: dict[str, Callable[..., Any]] = {  # of the numbers of the function, as texts
    "gelu": lambda: (
        "multiply", ("multiply", _HALF, _X), ("add", _real(1), ("erf", ("divide", _X, _real(_root(Fraction(2)))))),
    ),
    "gelu_tanh": lambda: (
        "multiply", ("multiply", _HALF, _X),
        ("add", _real(1), ("tanh", ("multiply", _real(_root(2 / _PI)), ("add", _X, _CUBE)))),
    ),
    "hard_sigmoid": lambda alpha, beta: ("hard_sigmoid", alpha, beta, _X),
    "hard_swish": lambda: ("multiply", _X, ("hard_sigmoid", Fraction(1, 6), Fraction(1, 2), _X)),
    "swish": lambda alpha: ("multiply", _X, ("sigmoid", ("multiply", ("number", alpha), _X))),
    "softsign": lambda: ("divide", _X, ("add", _real(1), ("absolute", _X))),
    "mish": lambda: ("multiply", _X, ("tanh", ("softplus", _X))),
}  # fmt: skip


class _UnformedError(Exception):
    """A term has no form."""


def are_one_formula(fused: Any, other: Any, is_operand: Callable[[Any], bool], bits: int) -> bool:
    """Return whether a term is the formula of a fused function; *is_operand* says which terms are its operand."""
    forms = _Forms(is_operand, bits)
    try:
        return forms.are_near(forms.of(FORMULAS[fused[0]](*fused[1:-1])), forms.of(other))
    except _UnformedError:
        return False


class _Forms:
    """Writes terms as sums of products; atom 0 is the operand, and others are functions of forms."""

    def __init__(self, is_operand: Callable[[Any], bool], bits: int) -> None:
        self._is_operand, self._rounding = is_operand, Fraction(1, 2**bits)
        self._atoms: list[tuple[str, list[Form]]] = [("x", [])]

    def of(self, term: Any) -> Form:
        """Return the form of a term of the certificate, or of a formula above."""
        kind, *parts = term
        if kind == "x" or (type(term) is list and self._is_operand(term)):
            return {(0,): (Fraction(1), Fraction(0))}
        if kind == "real":
            return _constant(parts[0])
        if kind == "number":
            return self._rounded(parts[0])
        if kind == "view":
            raise _UnformedError
        operands = [self._part(x) for x in parts]
        if kind == "add":
            return _sum(*operands)
        if kind in ("subtract", "negate"):
            negated = _product(_constant(-1), operands[-1])
            return _sum(operands[0], negated) if kind == "subtract" else negated
        if kind in ("multiply", "scaled"):
            return _product(*operands)
        if kind in ("divide", "reciprocal"):
            inverse = self._inverse(operands[-1])
            return _product(operands[0], inverse) if kind == "divide" else inverse
        if kind == "power":
            return _power(*operands)
        if kind == "hard_sigmoid":
            slope, start, x = operands
            above = self._atom("larger", [_sum(_product(slope, x), start), _constant(0)])
            return self._atom("smaller", [above, _constant(1)])
        return self._atom(kind, operands)

    def _part(self, part: Any) -> Form:
        """Return the form of an operand, or of a number of a function."""
        if type(part) is Fraction:
            return _constant(part)
        return self._rounded(part) if type(part) is str else self.of(part)

    def _inverse(self, form: Form) -> Form:
        if form.keys() == {()} and abs(form[()][0]) > form[()][1]:
            value, error = form[()]
            return {(): (1 / value, error / (abs(value) * (abs(value) - error)))}
        return self._atom("reciprocal", [form])

    def _atom(self, kind: str, operands: list[Form]) -> Form:
        for number, (name, others) in enumerate(self._atoms):
            orders = (others, others[::-1]) if kind in _SYMMETRIC else (others,)
            if name == kind and any(all(map(self.are_near, operands, order)) for order in orders):
                return {(number,): (Fraction(1), Fraction(0))}
        self._atoms.append((kind, operands))
        return {(len(self._atoms) - 1,): (Fraction(1), Fraction(0))}

    def _rounded(self, text: str) -> Form:
        value = Fraction(float.fromhex(text))
        is_exact = abs(value.numerator) < _EXACT and value.denominator < _EXACT
        return {(): (value, Fraction(0) if is_exact else abs(value) * self._rounding)}

    def are_near(self, a: Form, b: Form) -> bool:
        """Return whether two forms have the same products, with coefficients that only rounding tells apart."""
        return a.keys() == b.keys() and all(abs(x - b[key][0]) <= e + b[key][1] for key, (x, e) in a.items())


def _constant(value: Fraction | int) -> Form:
    return {(): (Fraction(value), Fraction(0))}


def _sum(a: Form, b: Form) -> Form:
    found = dict(a)
    for key, (value, error) in b.items():
        other, more = found.get(key, (Fraction(0), Fraction(0)))
        found[key] = value + other, error + more
    if len(found) > _MOST_TERMS:
        raise _UnformedError
    return found


def _product(a: Form, b: Form) -> Form:
    found: Form = {}
    for (one, (x, d)), (other, (y, e)) in product(a.items(), b.items()):
        found = _sum(found, {tuple(sorted(one + other)): (x * y, abs(x) * e + abs(y) * d + d * e)})
    return found


def _power(base: Form, exponent: Form) -> Form:
    whole, _ = exponent.get((), (Fraction(0), None))
    if exponent.keys() != {()} or whole.denominator != 1 or not 1 <= whole <= _MOST_POWER:
        raise _UnformedError
    found = base
    for _ in range(int(whole) - 1):
        found = _product(found, base)
    return found
