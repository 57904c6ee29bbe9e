"""Expressions in digits, in the symbols of another system: what a declared map computes of its coordinates."""

from __future__ import annotations

from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import is_digital
from symlayout.algebra.polynomial import Extent, collapse, product, terms_of
from symlayout.tensors.declaration import Operand


class Translated:
    """Translates extents from the system of a map to the symbols of an operand; knows digits with one value."""

    def __init__(self, z: Operand, facts: Facts) -> None:
        self.z, self.facts = z, facts
        self.fixed: dict[str, Extent] = {}

    def __call__(self, e: Extent) -> Extent:
        """Return *e* in the symbols of the operand."""
        return self.z.translate(self.facts.reduce(e), self.facts)


class Expression:
    """An expression in digits and floors of digits, with translated coefficients."""

    def __init__(self, e: Extent, translated: Translated) -> None:
        facts = translated.facts
        terms: dict[tuple[str, ...], Extent] = {}
        self.floors: dict[str, DigitQuotient] = {}
        for monomial, c in terms_of(facts.reduce(e)).items():
            digits = [n for n in monomial if is_digital(n, facts)]
            for n in digits:
                if n in facts.floors and n not in self.floors:
                    self.floors[n] = DigitQuotient(*facts.floors[n], translated)
                    if (fixed := self.floors[n].fixed) is not None:
                        translated.fixed[n] = fixed
            term = translated(collapse({tuple(n for n in monomial if n not in digits): c}))
            term = product([translated.fixed[n] for n in digits if n in translated.fixed]) * term
            varying = tuple(n for n in digits if n not in translated.fixed)
            terms[varying] = terms.get(varying, 0) + term
        self.terms = list(terms.items())

    def __call__(self, values: dict[str, Any]) -> Any:
        """Return what it is where the digits have these values."""
        total: Any = 0
        known = {**values, **{n: quotient(values) for n, quotient in self.floors.items()}}
        for varying, coefficient in self.terms:
            term: Any = coefficient
            for n in varying:
                term = known[n] * term
            total = term + total
        return total


class DigitQuotient:
    """A floor of an expression, which may have no digit."""

    def __init__(self, numerator: Extent, denominator: Extent, translated: Translated) -> None:
        self.numerator, self.denominator = Expression(numerator, translated), translated(denominator)
        self.fixed: Extent | None = None
        if not any(varying for varying, _ in self.numerator.terms):
            self.fixed = translated.z.floor_div(self.numerator({}), self.denominator)

    def __call__(self, values: dict[str, Any]) -> Any:
        """Return what it is where the digits have these values."""
        return self.numerator(values) // self.denominator if self.fixed is None else self.fixed
