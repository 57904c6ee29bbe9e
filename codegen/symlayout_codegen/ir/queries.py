"""Questions about integer expressions: their names, a substitution, equality, a proved sign.

Everything here is sound and incomplete: `equal` and the signs answer False where a cleverer
argument is needed, and the schedule then takes the slower way that needs no fact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce

from symlayout_codegen.ir.integer_expressions import (
    Expr,
    FloorDiv,
    FloorMod,
    Literal,
    Maximum,
    Minimum,
    Name,
    Product,
    Sum,
    add,
    mul,
)

ZERO = Literal(0)
ONE = Literal(1)


def names(expr: Expr) -> frozenset[str]:
    """Return the names that *expr* mentions."""
    match expr:
        case Literal():
            return frozenset()
        case Name(name):
            return frozenset((name,))
        case Sum(parts) | Product(parts):
            return frozenset().union(*map(names, parts))
        case FloorDiv(left, right) | FloorMod(left, right) | Minimum(left, right) | Maximum(left, right):
            return names(left) | names(right)


def substitute(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """Return *expr* with the names in *values* replaced, and literals folded again."""
    if not values:
        return expr
    match expr:
        case Literal():
            return expr
        case Name(name):
            return values.get(name, expr)
        case Sum(terms):
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
    """Return ``floor(numerator / denominator)``, what a literal divides exactly taken out.

    >>> floor_div(add(mul(4, Name("n")), 5), Literal(2)) == add(mul(2, Name("n")), 2)
    True
    """
    match numerator, denominator:
        case _, Literal(1):
            return numerator
        case Literal(a), Literal(b) if b:
            return Literal(a // b)
        case _, Literal(b) if b > 0:
            whole, rest = list[Expr](), list[Expr]()
            for term in numerator.terms if isinstance(numerator, Sum) else (numerator,):
                match term:
                    case Literal(a):
                        whole.append(Literal(a // b))
                        rest.append(Literal(a % b))
                    case Product((Literal(a), *factors)) if a % b == 0:
                        whole.append(mul(a // b, *factors))
                    case _:
                        rest.append(term)
            left = add(*rest)
            inner = Literal(left.value // b) if isinstance(left, Literal) else FloorDiv(left, denominator)
            return add(*whole, inner)
        case _:
            return FloorDiv(numerator, denominator)


def floor_mod(numerator: Expr, denominator: Expr) -> Expr:
    """Return Python's ``numerator % denominator``, folded where it is literal or modulo one."""
    match numerator, denominator:
        case _, Literal(1):
            return ZERO
        case Literal(a), Literal(b) if b:
            return Literal(a % b)
        case _:
            return FloorMod(numerator, denominator)


def minimum(left: Expr, right: Expr) -> Expr:
    """Return the smaller value, folded where both differ by a known constant."""
    difference = _constant(subtract(left, right))
    if difference is not None:
        return left if difference <= 0 else right
    return Minimum(left, right)


def maximum(left: Expr, right: Expr) -> Expr:
    """Return the larger value, folded where both differ by a known constant."""
    difference = _constant(subtract(left, right))
    if difference is not None:
        return left if difference >= 0 else right
    return Maximum(left, right)


def negate(expr: Expr) -> Expr:
    """Return ``-expr``, the sign moved into the terms of a sum."""
    if isinstance(expr, Sum):
        return add(*(mul(-1, term) for term in expr.terms))
    return mul(-1, expr)


def subtract(left: Expr, right: Expr) -> Expr:
    """Return ``left - right``, expanded where that cancels something.

    >>> subtract(add(Name("w"), Name("p")), Name("w"))
    Name(name='p')
    """
    if right == ZERO:
        return left
    mine, others = monomials(left), monomials(right)
    difference = _plus(mine, _times({(): -1}, others))
    if len(difference) < len(mine) + len(others):
        return _expression(difference)
    return add(left, negate(right))


def expanded(expr: Expr) -> Expr:
    """Return *expr* multiplied out, its like terms gathered: the same expression for the same polynomial.

    >>> expanded(add(mul(2, add(Name("n"), 1)), mul(-2, Name("n"))))
    Literal(value=2)
    """
    return _expression(monomials(expr))


def is_polynomial(expr: Expr) -> bool:
    """Return whether *expr* has neither quotients nor minima nor maxima."""
    match expr:
        case Literal() | Name():
            return True
        case Sum(parts) | Product(parts):
            return all(map(is_polynomial, parts))
        case _:
            return False


def linear(expr: Expr, name: str) -> tuple[Expr, Expr]:
    """Return ``(coefficient, rest)`` with ``expr == coefficient * name + rest``.

    *expr* is a sum of products in which *name* is a factor at most once and stands nowhere else;
    `affine` builds such sums.
    """
    coefficients: list[Expr] = []
    rest: list[Expr] = []
    wanted = Name(name)
    for term in expr.terms if isinstance(expr, Sum) else (expr,):
        if term == wanted:
            coefficients.append(ONE)
        elif isinstance(term, Product) and wanted in term.factors:
            at = term.factors.index(wanted)
            coefficients.append(mul(*term.factors[:at], *term.factors[at + 1 :]))
        else:
            rest.append(term)
    return add(*coefficients), add(*rest)


Monomials = dict[tuple[Expr, ...], int]


@lru_cache(maxsize=4096)
def monomials(expr: Expr) -> Monomials:
    """Return *expr* as ``{sorted atoms: coefficient}``; quotients, minima and the like are atoms.

    The result is shared: it is read, never changed.
    """
    match expr:
        case Literal(value):
            return {(): value} if value else {}
        case Sum(terms):
            return reduce(_plus, map(monomials, terms), {})
        case Product(factors):
            return reduce(_times, map(monomials, factors), {(): 1})
        case Name():
            return {(expr,): 1}
        case FloorDiv(left, right) | FloorMod(left, right) | Minimum(left, right) | Maximum(left, right):
            return {(type(expr)(_expression(monomials(left)), _expression(monomials(right))),): 1}


def _expression(terms: Monomials) -> Expr:
    """Return the sum of the monomials: the same expression for the same polynomial."""
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
    """Return the value of *expr* if it is the same for all values of its names, as a polynomial."""
    terms = monomials(expr)
    return terms.get((), 0) if not terms.keys() - {()} else None


def equal(left: Expr, right: Expr) -> bool:
    """Return whether both expand to the same polynomial.

    >>> equal(mul(2, add(Name("n"), 1)), add(2, mul(Name("n"), 2)))
    True
    """
    return left == right or monomials(left) == monomials(right)


def magnitude(expr: Expr) -> int:
    """Return a typical size of ``|expr|``, for ordering loops: never for deciding what is right.

    A name counts 16: larger than a usual literal block, so that symbolic strides sort as they grow.
    """
    match expr:
        case Literal(value):
            return abs(value)
        case Name():
            return 16
        case Sum(terms):
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
class Facts:
    """What has been proved of the signs: ``e >= 1`` for *positive*, ``e >= 0`` for *nonnegative*.

    >>> Facts.of(positive=[Name("b")]).is_positive(mul(2, Name("b")))
    True
    """

    positive: frozenset[Expr] = frozenset()
    nonnegative: frozenset[Expr] = frozenset()

    @staticmethod
    def of(positive: Iterable[Expr] = (), nonnegative: Iterable[Expr] = ()) -> Facts:
        """Return the facts as sets."""
        return Facts(frozenset(positive), frozenset(nonnegative))

    def and_nonnegative(self, more: Iterable[Expr]) -> Facts:
        """Return these facts and ``e >= 0`` for each in *more*."""
        return Facts(self.positive, self.nonnegative | frozenset(more))

    def minimum(self, left: Expr, right: Expr) -> Expr:
        """Return the smaller value; one of the two where the facts say which."""
        if self.is_nonnegative(subtract(right, left)):
            return left
        return right if self.is_nonnegative(subtract(left, right)) else Minimum(left, right)

    def maximum(self, left: Expr, right: Expr) -> Expr:
        """Return the larger value; one of the two where the facts say which."""
        if self.is_nonnegative(subtract(right, left)):
            return right
        return left if self.is_nonnegative(subtract(left, right)) else Maximum(left, right)

    def is_positive(self, expr: Expr) -> bool:
        """Return whether ``expr >= 1`` is proved."""
        if expr in self.positive:
            return True
        match expr:
            case Literal(value):
                return value >= 1
            case Sum(terms):
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
            case Literal(value):
                return value >= 0
            case Sum(parts) | Product(parts):
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
