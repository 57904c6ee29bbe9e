"""Write a polynomial as a product where it is one of linear factors: strides, for the most part."""

from __future__ import annotations

from math import gcd

from symlayout_codegen.ir.integer_expressions import Expr, Literal, Name, Product, Sum, add, mul
from symlayout_codegen.ir.queries import expanded

_Monomials = dict[tuple[str, ...], int]


def factored(expr: Expr) -> Expr:
    """Return a product that is *expr*, or *expr* where none is found: of a number, names and sums ``n + c``.

    >>> n, m = Name("n"), Name("m")
    >>> factored(add(mul(2, n, m), mul(2, n), mul(2, m), 2)) == mul(2, add(m, 1), add(n, 1))
    True
    """
    monomials = _monomials(expanded(expr))
    if monomials is None:
        return expr
    if not any(monomials.values()):
        return Literal(0)
    content = gcd(*monomials.values())
    left = {names: value // content for names, value in monomials.items()}
    factors: list[Expr] = []
    for name in sorted({name for names in left for name in names}):
        while (found := _without(left, name)) is not None:
            left, constant = found
            factors.append(add(Name(name), constant))
    if left.keys() == {()}:
        return mul(content * left[()], *factors)
    return expr if not factors else mul(content, *factors, _sum(left))


def _monomials(expr: Expr) -> _Monomials | None:
    """Return a sum of products of names as ``{sorted names: coefficient}``; None where it is none."""
    monomials: _Monomials = {}
    for term in expr.terms if isinstance(expr, Sum) else (expr,):
        value, names = 1, list[str]()
        for factor in term.factors if isinstance(term, Product) else (term,):
            match factor:
                case Literal(number):
                    value *= number
                case Name(name):
                    names.append(name)
                case _:
                    return None
        monomials[tuple(sorted(names))] = value
    return monomials


def _without(monomials: _Monomials, name: str) -> tuple[_Monomials, int] | None:
    """Return ``(Q, c)`` with ``monomials == Q * (name + c)``, where *name* is not in ``Q``; None where none is."""
    quotient, rest = _Monomials(), _Monomials()
    for names, value in monomials.items():
        if name in names:
            at = names.index(name)
            quotient[names[:at] + names[at + 1 :]] = value
        else:
            rest[names] = value
    if not quotient or any(name in names for names in quotient):
        return None
    constant = next(iter(rest.values())) // quotient.get(next(iter(rest)), 1) if rest else 0
    scaled = {names: value * constant for names, value in quotient.items()} if constant else {}
    return (quotient, constant) if scaled == rest else None


def _sum(monomials: _Monomials) -> Expr:
    return add(*(mul(value, *map(Name, names)) for names, value in monomials.items()))
