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
class Literal:
    """An integer constant."""

    value: int


@dataclass(frozen=True, slots=True)
class Name:
    """A kernel parameter, a derived local, or a loop digit, by its C identifier."""

    name: str


@dataclass(frozen=True, slots=True)
class Sum:
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


Expr = Literal | Name | Sum | Product | FloorDiv | FloorMod | Minimum | Maximum


def add(*terms: Expr | int) -> Expr:
    """Return the sum of *terms*, flattened, with the literals folded into one at the end.

    >>> add(Name("n"), 2, 3)
    Sum(terms=(Name(name='n'), Literal(value=5)))
    """
    constant, rest = 0, list[Expr]()
    for term in terms:
        if isinstance(term, int):
            constant += term
        elif isinstance(term, Literal):
            constant += term.value
        elif isinstance(term, Sum):
            for inner in term.terms:
                if isinstance(inner, Literal):
                    constant += inner.value
                else:
                    rest.append(inner)
        else:
            rest.append(term)
    if constant or not rest:
        rest.append(Literal(constant))
    return rest[0] if len(rest) == 1 else Sum(tuple(rest))


def mul(*factors: Expr | int) -> Expr:
    """Return the product of *factors*, flattened, with the literals folded into one in front.

    >>> mul(2, Name("n"), 3)
    Product(factors=(Literal(value=6), Name(name='n')))
    """
    constant, rest = 1, list[Expr]()
    for factor in factors:
        if isinstance(factor, int):
            constant *= factor
        elif isinstance(factor, Literal):
            constant *= factor.value
        elif isinstance(factor, Product):
            for inner in factor.factors:
                if isinstance(inner, Literal):
                    constant *= inner.value
                else:
                    rest.append(inner)
        else:
            rest.append(factor)
    if constant == 0 or not rest:
        return Literal(constant)
    if constant != 1:
        rest.insert(0, Literal(constant))
    return rest[0] if len(rest) == 1 else Product(tuple(rest))


def evaluate(expr: Expr, values: Mapping[str, int]) -> int:
    """Return the exact value of *expr* where each name has the value in *values*.

    >>> evaluate(FloorDiv(Name("n"), Literal(2)), {"n": -3})
    -2
    """
    match expr:
        case Literal(value):
            return value
        case Name(name):
            return values[name]
        case Sum(terms):
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
