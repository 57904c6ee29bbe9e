"""Queries on integer expressions: names, substitution, equality, coefficients, proved signs.

The queries are sound and incomplete.  `equal` and the signs answer False where they find no proof; the passes then
emit slower code that needs none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce

from symlayout_codegen.ir.integer_expressions import (
    Expr,
    FloorDiv,
    FloorMod,
    IntLiteral,
    Maximum,
    Minimum,
    NamedInt,
    Product,
    Summation,
    add,
    mul,
)

ZERO = IntLiteral(0)
ONE = IntLiteral(1)


def names(expr: Expr) -> frozenset[str]:
    """Return the names that *expr* mentions."""
    match expr:
        case IntLiteral():
            return frozenset()
        case NamedInt(name):
            return frozenset((name,))
        case Summation(parts) | Product(parts):
            return frozenset().union(*map(names, parts))
        case FloorDiv(left, right) | FloorMod(left, right) | Minimum(left, right) | Maximum(left, right):
            return names(left) | names(right)


def substitute(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """Return *expr* with the names in *values* replaced and the literals folded."""
    if not values:
        return expr
    match expr:
        case IntLiteral():
            return expr
        case NamedInt(name):
            return values.get(name, expr)
        case Summation(terms):
            return add(*(substitute(term, values) for term in terms))
        case Product(factors):
            return mul(*(substitute(factor, values) for factor in factors))
        case FloorDiv(numerator, denominator):
            return floor_div(substitute(numerator, values), substitute(denominator, values))
        case FloorMod(numerator, denominator):
            return floor_mod(substitute(numerator, values), substitute(denominator, values))
        case Minimum(left, right):
            return minimum(substitute(left, values), substitute(right, values))
        case Maximum(left, right):
            return maximum(substitute(left, values), substitute(right, values))


def floor_div(numerator: Expr, denominator: Expr) -> Expr:
    """Return ``floor(numerator / denominator)``; terms that a literal denominator divides are taken out of the floor.

    >>> floor_div(add(mul(4, NamedInt("n")), 5), IntLiteral(2)) == add(mul(2, NamedInt("n")), 2)
    True
    """
    match numerator, denominator:
        case _, IntLiteral(1):
            return numerator
        case IntLiteral(a), IntLiteral(b) if b:
            return IntLiteral(a // b)
        case _, IntLiteral(b) if b > 0:
            whole, rest = list[Expr](), list[Expr]()
            for term in numerator.terms if isinstance(numerator, Summation) else (numerator,):
                match term:
                    case IntLiteral(a):
                        whole.append(IntLiteral(a // b))
                        rest.append(IntLiteral(a % b))
                    case Product((IntLiteral(a), *factors)) if a % b == 0:
                        whole.append(mul(a // b, *factors))
                    case _:
                        rest.append(term)
            left = add(*rest)
            inner = IntLiteral(left.value // b) if isinstance(left, IntLiteral) else FloorDiv(left, denominator)
            return add(*whole, inner)
        case _:
            return FloorDiv(numerator, denominator)


def floor_mod(numerator: Expr, denominator: Expr) -> Expr:
    """Return Python's ``numerator % denominator``, folded where both are literals or the denominator is 1."""
    match numerator, denominator:
        case _, IntLiteral(1):
            return ZERO
        case IntLiteral(a), IntLiteral(b) if b:
            return IntLiteral(a % b)
        case _:
            return FloorMod(numerator, denominator)


def minimum(left: Expr, right: Expr) -> Expr:
    """Return the smaller value: one of the two where their difference is a constant."""
    difference = _constant(subtract(left, right))
    if difference is not None:
        return left if difference <= 0 else right
    return Minimum(left, right)


def maximum(left: Expr, right: Expr) -> Expr:
    """Return the larger value: one of the two where their difference is a constant."""
    difference = _constant(subtract(left, right))
    if difference is not None:
        return left if difference >= 0 else right
    return Maximum(left, right)


def negate(expr: Expr) -> Expr:
    """Return ``-expr``; of a sum each term is negated."""
    if isinstance(expr, Summation):
        return add(*(mul(-1, term) for term in expr.terms))
    return mul(-1, expr)


def subtract(left: Expr, right: Expr) -> Expr:
    """Return ``left - right``, multiplied out where terms cancel.

    >>> subtract(add(NamedInt("w"), NamedInt("p")), NamedInt("w"))
    NamedInt(name='p')
    """
    if right == ZERO:
        return left
    mine, others = monomials(left), monomials(right)
    difference = _plus(mine, _times({(): -1}, others))
    if len(difference) < len(mine) + len(others):
        return _expression(difference)
    return add(left, negate(right))


def expanded(expr: Expr) -> Expr:
    """Return *expr* multiplied out, with like terms collected: one expression for each polynomial.

    >>> expanded(add(mul(2, add(NamedInt("n"), 1)), mul(-2, NamedInt("n"))))
    IntLiteral(value=2)
    """
    return _expression(monomials(expr))


def linear(expr: Expr, name: str) -> tuple[Expr, Expr]:
    """Return ``(coefficient, rest)`` with ``expr == coefficient * name + rest``.

    *expr* must be a sum of products in which *name* is a factor at most once, and must not mention *name* elsewhere.
    The offsets of statements are such sums: `bound_loops` builds them from affine forms.
    """
    coefficients: list[Expr] = []
    rest: list[Expr] = []
    wanted = NamedInt(name)
    for term in expr.terms if isinstance(expr, Summation) else (expr,):
        if term == wanted:
            coefficients.append(ONE)
        elif isinstance(term, Product) and wanted in term.factors:
            at = term.factors.index(wanted)
            coefficients.append(mul(*term.factors[:at], *term.factors[at + 1 :]))
        else:
            rest.append(term)
    return add(*coefficients), add(*rest)


Monomials = dict[tuple[Expr, ...], int]
"""A polynomial: the coefficient of each product of atoms."""


@lru_cache(maxsize=4096)
def monomials(expr: Expr) -> Monomials:
    """Return *expr* multiplied out, as ``{sorted atoms: coefficient}``, without coefficients 0.

    An atom is a name, a quotient, a remainder, a minimum or a maximum.  The result is cached: do not change it.
    """
    match expr:
        case IntLiteral(value):
            return {(): value} if value else {}
        case Summation(terms):
            return reduce(_plus, map(monomials, terms), {})
        case Product(factors):
            return reduce(_times, map(monomials, factors), {(): 1})
        case NamedInt():
            return {(expr,): 1}
        case FloorDiv(left, right) | FloorMod(left, right) | Minimum(left, right) | Maximum(left, right):
            return {(type(expr)(_expression(monomials(left)), _expression(monomials(right))),): 1}


def _expression(terms: Monomials) -> Expr:
    """Return the sum of *terms*, in one order for each polynomial: sorted by the atoms' reprs, the constant last."""
    ordered = sorted(terms.items(), key=lambda item: (not item[0], repr(item[0])))
    return add(*(mul(coefficient, *atoms) for atoms, coefficient in ordered))


def _plus(left: Monomials, right: Monomials) -> Monomials:
    total = dict(left)
    for atoms, coefficient in right.items():
        if value := total.get(atoms, 0) + coefficient:
            total[atoms] = value
        else:
            total.pop(atoms, None)
    return total


def _times(left: Monomials, right: Monomials) -> Monomials:
    total: Monomials = {}
    for a, x in left.items():
        for b, y in right.items():
            total = _plus(total, {tuple(sorted(a + b, key=repr)): x * y})
    return total


def _constant(expr: Expr) -> int | None:
    """Return the value of *expr* if its polynomial is a constant, else None."""
    polynomial = monomials(expr)
    return polynomial.get((), 0) if polynomial.keys() <= {()} else None


def is_polynomial(expr: Expr) -> bool:
    """Return whether *expr* consists of literals, names, sums and products alone."""
    match expr:
        case IntLiteral() | NamedInt():
            return True
        case Summation(parts) | Product(parts):
            return all(map(is_polynomial, parts))
        case _:
            return False


def equal(left: Expr, right: Expr) -> bool:
    """Return whether both are the same polynomial.

    >>> equal(mul(2, add(NamedInt("n"), 1)), add(2, mul(NamedInt("n"), 2)))
    True
    """
    return left == right or monomials(left) == monomials(right)


def magnitude(expr: Expr) -> int:
    """Return a typical size of ``|expr|``: a heuristic by which loops are ordered.  No proof may rest on it.

    A name counts 16, which is more than a usual literal block: symbolic strides sort by the number of their factors.
    """
    match expr:
        case IntLiteral(value):
            return abs(value)
        case NamedInt():
            return 16
        case Summation(terms):
            return sum(map(magnitude, terms))
        case Product(factors):
            return reduce(lambda size, factor: size * magnitude(factor), factors, 1)
        case FloorDiv(numerator, denominator):
            return max(1, magnitude(numerator) // max(1, magnitude(denominator)))
        case FloorMod(_, denominator):
            return magnitude(denominator)
        case Minimum(left, right) | Maximum(left, right):
            return max(magnitude(left), magnitude(right))


@dataclass(frozen=True, slots=True)
class SignFacts:
    """Proved signs: ``e >= 1`` for each of *positive*, ``e >= 0`` for each of *nonnegative*.

    >>> SignFacts.of(positive=[NamedInt("b")]).is_positive(mul(2, NamedInt("b")))
    True
    """

    positive: frozenset[Expr] = frozenset()
    nonnegative: frozenset[Expr] = frozenset()

    @staticmethod
    def of(positive: Iterable[Expr] = (), nonnegative: Iterable[Expr] = ()) -> SignFacts:
        """Return the facts of two iterables."""
        return SignFacts(frozenset(positive), frozenset(nonnegative))

    def and_nonnegative(self, more: Iterable[Expr]) -> SignFacts:
        """Return these facts and ``e >= 0`` for each in *more*."""
        return SignFacts(self.positive, self.nonnegative | frozenset(more))

    def minimum(self, left: Expr, right: Expr) -> Expr:
        """Return the smaller value: one of the two where the facts decide."""
        if self.is_nonnegative(subtract(right, left)):
            return left
        return right if self.is_nonnegative(subtract(left, right)) else Minimum(left, right)

    def maximum(self, left: Expr, right: Expr) -> Expr:
        """Return the larger value: one of the two where the facts decide."""
        if self.is_nonnegative(subtract(right, left)):
            return right
        return left if self.is_nonnegative(subtract(left, right)) else Maximum(left, right)

    def is_positive(self, expr: Expr) -> bool:
        """Return whether ``expr >= 1`` is proved."""
        if expr in self.positive:
            return True
        match expr:
            case IntLiteral(value):
                return value >= 1
            case Summation(terms):
                return all(map(self.is_nonnegative, terms)) and any(map(self.is_positive, terms))
            case Product(factors):
                return all(map(self.is_positive, factors))
            case Maximum(left, right):
                return self.is_positive(left) or self.is_positive(right)
            case Minimum(left, right):
                return self.is_positive(left) and self.is_positive(right)
            case _:
                return False

    def is_nonnegative(self, expr: Expr) -> bool:
        """Return whether ``expr >= 0`` is proved."""
        if expr in self.positive or expr in self.nonnegative:
            return True
        match expr:
            case IntLiteral(value):
                return value >= 0
            case Summation(parts) | Product(parts):
                return all(map(self.is_nonnegative, parts))
            case FloorDiv(numerator, denominator):
                return self.is_nonnegative(numerator) and self.is_positive(denominator)
            case FloorMod(_, denominator):
                return self.is_positive(denominator)
            case Maximum(left, right):
                return self.is_nonnegative(left) or self.is_nonnegative(right)
            case Minimum(left, right):
                return self.is_nonnegative(left) and self.is_nonnegative(right)
            case _:
                return False
