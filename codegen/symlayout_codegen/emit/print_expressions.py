"""Print integer expressions as C: in range, or with each step checked for overflow."""

from __future__ import annotations

from collections.abc import Sequence

from symlayout_codegen.emit.text import literal
from symlayout_codegen.ir.factor_polynomial import factored
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
)
from symlayout_codegen.ir.queries import SignFacts, negate

_SUM, _PRODUCT, _ATOM = range(3)


class ExpressionPrinter:
    """Prints an expression whose values are in range; `/` and `%` only where both signs are proved."""

    def __init__(self, facts: SignFacts) -> None:
        self.facts = facts

    def __call__(self, expr: Expr) -> str:
        """Return the C of *expr*."""
        return self.text(expr)[0]

    def within(self, expr: Expr, level: int) -> str:
        """Return *expr* in parentheses if it binds less tightly than *level*."""
        text, binds = self.text(expr)
        return text if binds >= level else f"({text})"

    def text(self, expr: Expr) -> tuple[str, int]:
        """Return the C of *expr* and how tightly its outermost operator binds."""
        match expr:
            case IntLiteral(value):
                return literal(value), _ATOM if value >= 0 else _SUM
            case NamedInt(name):
                return name, _ATOM
            case Summation(terms):
                return self.sum(terms), _SUM
            case Product((IntLiteral(-1), *rest)):
                return f"-{self.product(rest)}", _SUM
            case Product((IntLiteral(value), *_) as factors) if value < 0:
                return self.product(factors), _SUM
            case Product(factors):
                return self.product(factors), _PRODUCT
            case FloorDiv(numerator, denominator):
                return self.division("/", "sl_floor_div", numerator, denominator)
            case FloorMod(numerator, denominator):
                return self.division("%", "sl_floor_mod", numerator, denominator)
            case Minimum(left, right):
                return f"sl_min({self(left)}, {self(right)})", _ATOM
            case Maximum(left, right):
                return f"sl_max({self(left)}, {self(right)})", _ATOM

    def sum(self, terms: Sequence[Expr]) -> str:
        """Return the terms with their signs as operators."""
        text = self.within(terms[0], _SUM)
        for term in terms[1:]:
            if is_negative(term):
                text += f" - {self.within(negate(term), _PRODUCT)}"
            else:
                text += f" + {self.within(term, _PRODUCT)}"
        return text

    def product(self, factors: Sequence[Expr]) -> str:
        """Return the factors; a quotient among them keeps its parentheses, since `/` truncates."""
        first, *rest = factors
        texts = [literal(first.value) if isinstance(first, IntLiteral) else self.within(first, _ATOM)]
        return "*".join(texts + [self.within(factor, _ATOM) for factor in rest])

    def division(self, operator: str, helper: str, numerator: Expr, denominator: Expr) -> tuple[str, int]:
        """Return C's own operator if it is proved to be the floor one, else the helper's call."""
        if self.facts.is_nonnegative(numerator) and self.facts.is_positive(denominator):
            text = f"{self.within(numerator, _PRODUCT)} {operator} {self.within(denominator, _ATOM)}"
            return text, _PRODUCT
        return f"{helper}({self(numerator)}, {self(denominator)})", _ATOM


def is_negative(term: Expr) -> bool:
    """Return whether *term* prints with a leading minus that negation takes away."""
    match term:
        case IntLiteral(value) | Product((IntLiteral(value), *_)):
            return -(2**63) < value < 0
        case _:
            return False


def _is_nonzero(factor: Expr) -> bool:
    """Return whether *factor* is a number other than 0, or at least such a number above 0."""
    match factor:
        case IntLiteral(value):
            return value != 0
        case Maximum(left, right):
            return any(isinstance(part, IntLiteral) and part.value > 0 for part in (left, right))
        case _:
            return False


class CheckedPrinter:
    """Prints an expression over arbitrary arguments: each step sets ``overflow`` where it leaves int64.

    With *empty*, arrays may be empty: where a factor is 0, the product of the others may be beyond int64.
    """

    def __init__(self, *, empty: bool = False) -> None:
        self.empty = empty

    def __call__(self, expr: Expr) -> str:
        """Return the C of *expr*."""
        match expr:
            case IntLiteral(value):
                return literal(value)
            case NamedInt(name):
                return name
            case Summation(terms):
                if self.empty and isinstance(product := factored(expr), Product):
                    return self.product(product.factors)
                return self.fold("sl_add", terms)
            case Product(factors):
                return self.product(factors)
            case FloorDiv(Summation((*terms, IntLiteral(more))), denominator) if self.empty and terms and more > 0:
                return f"sl_checked_ceil_div({self(add(*terms))}, {literal(more)}, {self(denominator)}, &overflow)"
            case FloorDiv(numerator, denominator):
                return f"sl_checked_floor_div({self(numerator)}, {self(denominator)}, &overflow)"
            case FloorMod(numerator, denominator):
                return f"sl_checked_floor_mod({self(numerator)}, {self(denominator)}, &overflow)"
            case Minimum(left, right):
                return f"sl_min({self(left)}, {self(right)})"
            case Maximum(left, right):
                return f"sl_max({self(left)}, {self(right)})"

    def product(self, factors: Sequence[Expr]) -> str:
        """Return the product of *factors*."""
        text = self.fold("sl_mul", factors)
        zeros = [factor for factor in factors if not _is_nonzero(factor)]
        if not self.empty or len(factors) == 2 or not zeros:
            return text
        zeros.sort(key=lambda factor: not isinstance(factor, NamedInt))  # what may overflow comes last
        return f"({' && '.join(map(self, zeros))} ? {text} : 0)"

    def fold(self, helper: str, parts: Sequence[Expr]) -> str:
        """Return the parts combined from the left."""
        text = self(parts[0])
        for part in parts[1:]:
            text = f"{helper}({text}, {self(part)}, &overflow)"
        return text
