"""Write a polynomial as a product where it is one of linear factors: strides, for the most part."""

from __future__ import annotations

from collections import Counter
from math import gcd

from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, NamedInt, add, mul
from symlayout_codegen.ir.queries import Monomials, expanded, monomials


def factored(expr: Expr) -> Expr:
    """Return a product that is *expr*, or *expr* where none is found: of a number, names and sums ``n + c``.

    >>> n, m = NamedInt("n"), NamedInt("m")
    >>> factored(add(mul(2, n, m), mul(2, n), mul(2, m), 2)) == mul(2, add(m, 1), add(n, 1))
    True
    """
    terms = monomials(expanded(expr))  # in the order of the expanded sum, so that equal polynomials print alike
    if not terms:
        return IntLiteral(0)
    if not all(isinstance(atom, NamedInt) for atoms in terms for atom in atoms):
        return expr
    content = gcd(*terms.values())
    left = {names: value // content for names, value in terms.items()}
    factors: list[Expr] = []
    count = Counter(name for names in left for name in names)
    for name in sorted(count, key=repr):
        # Q * (name + c) has the name in each term if c is 0, otherwise in every second term.
        while count[name] in (len(left), len(left) / 2) and (found := _without(left, name)) is not None:
            left, constant = found
            count = Counter(name for names in left for name in names)
            factors.append(add(name, constant))
    if left.keys() == {()}:
        return mul(content * left[()], *factors)
    return expr if not factors else mul(content, *factors, add(*(mul(value, *names) for names, value in left.items())))


def _without(terms: Monomials, name: Expr) -> tuple[Monomials, int] | None:
    """Return ``(Q, c)`` with ``terms == Q * (name + c)``, where *name* is not in ``Q``; None where none is."""
    quotient, rest = Monomials(), Monomials()
    for names, value in terms.items():
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
