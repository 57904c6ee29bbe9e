"""Integer expressions over kernel parameters, with Python's floor semantics.

The nodes are what the printer knows: a literal, a named parameter, sums, products, floor
division, floor remainder, minimum and maximum.  Values are exact integers; nothing here
knows C.  The constructors fold literals, so equal constants are equal nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod


@dataclass(frozen=True, slots=True)
class IntLiteral:
    """An integer constant."""

    value: int


@dataclass(frozen=True, slots=True)
class NamedInt:
    """A kernel parameter, a derived local, or a loop digit, by its C identifier."""

    name: str


@dataclass(frozen=True, slots=True)
class Summation:
    """The sum of two or more terms."""

    terms: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """The product of two or more factors."""

    factors: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class FloorDiv:
    """``floor(numerator / denominator)``; the denominator is positive."""

    numerator: Expr
    denominator: Expr


@dataclass(frozen=True, slots=True)
class FloorMod:
    """``numerator - denominator * floor(numerator / denominator)``; the denominator is positive."""

    numerator: Expr
    denominator: Expr


@dataclass(frozen=True, slots=True)
class Minimum:
    """The smaller of two values."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Maximum:
    """The larger of two values."""

    left: Expr
    right: Expr


Expr = IntLiteral | NamedInt | Summation | Product | FloorDiv | FloorMod | Minimum | Maximum


def add(*terms: Expr | int) -> Expr:
    """Return the sum of *terms*, flattened, with the literals folded into one at the end.

    >>> add(NamedInt("n"), 2, 3)
    Summation(terms=(NamedInt(name='n'), IntLiteral(value=5)))
    """
    constant, rest = 0, list[Expr]()
    for term in terms:
        if isinstance(term, int):
            constant += term
        elif isinstance(term, IntLiteral):
            constant += term.value
        elif isinstance(term, Summation):
            for inner in term.terms:
                if isinstance(inner, IntLiteral):
                    constant += inner.value
                else:
                    rest.append(inner)
        else:
            rest.append(term)
    if constant or not rest:
        rest.append(IntLiteral(constant))
    return rest[0] if len(rest) == 1 else Summation(tuple(rest))


def mul(*factors: Expr | int) -> Expr:
    """Return the product of *factors*, flattened, with the literals folded into one in front.

    >>> mul(2, NamedInt("n"), 3)
    Product(factors=(IntLiteral(value=6), NamedInt(name='n')))
    """
    constant, rest = 1, list[Expr]()
    for factor in factors:
        if isinstance(factor, int):
            constant *= factor
        elif isinstance(factor, IntLiteral):
            constant *= factor.value
        elif isinstance(factor, Product):
            for inner in factor.factors:
                if isinstance(inner, IntLiteral):
                    constant *= inner.value
                else:
                    rest.append(inner)
        else:
            rest.append(factor)
    if constant == 0 or not rest:
        return IntLiteral(constant)
    if constant != 1:
        rest.insert(0, IntLiteral(constant))
    return rest[0] if len(rest) == 1 else Product(tuple(rest))


def evaluate(expr: Expr, values: Mapping[str, int]) -> int:
    """Return the exact value of *expr* where each name has the value in *values*.

    >>> evaluate(FloorDiv(NamedInt("n"), IntLiteral(2)), {"n": -3})
    -2
    """
    match expr:
        case IntLiteral(value):
            return value
        case NamedInt(name):
            return values[name]
        case Summation(terms):
            return sum(evaluate(term, values) for term in terms)
        case Product(factors):
            return prod(evaluate(factor, values) for factor in factors)
        case FloorDiv(numerator, denominator):
            return evaluate(numerator, values) // evaluate(denominator, values)
        case FloorMod(numerator, denominator):
            return evaluate(numerator, values) % evaluate(denominator, values)
        case Minimum(left, right):
            return min(evaluate(left, values), evaluate(right, values))
        case Maximum(left, right):
            return max(evaluate(left, values), evaluate(right, values))
