"""Write folded coordinates as text, with as few parentheses as the precedence of Python and of C allows.

Products, quotients and remainders bind alike in both, from the left.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent
from symlayout.language.notations import TEXT, Notation
from symlayout.language.readable import Apply, Factor, Sum, fold_fixed


def spell(e: Sum, notation: Notation = TEXT) -> str:
    """Return a sum as text, with terms of higher degree first; ``...`` if it is nested too deeply.

    *e* has only operations of the notation (see `notations.lowered`).

    >>> from symlayout.language.notations import CUTE_CPP
    >>> e = Sum(((1, ("i",)), (-2, ("b", "b", "j"))))
    >>> spell(e), spell(e, CUTE_CPP)
    ('i - 2*b**2*j', 'i - Int<2>{}*b*b*j')
    """
    try:
        return _spelled(e, notation)
    except RecursionError:
        return "..."


def spell_extent(e: Extent, facts: Facts) -> str:
    """Return an extent as text that a shape may have: floors, remainders and maxima as a person writes them."""
    if isinstance(e, int) or e.names.isdisjoint(facts.definitions):
        return facts.spell(e)
    return spell(fold_fixed(facts.reduce(e), facts))


def _spelled(e: Sum, notation: Notation) -> str:
    if not e.terms:
        return notation.number(0)
    if len(e.terms) == 1 and e.terms[0][0] == 1 and len(e.terms[0][1]) == 1:
        return _factor(e.terms[0][1][0], notation)
    (c, factors), *others = ordered(e)
    first = f"-{_term(-c, factors, notation, negated=True)}" if c < 0 else _term(c, factors, notation)
    more = (f"{'-' if c < 0 else '+'} {_term(abs(c), factors, notation)}" for c, factors in others)
    return " ".join([first, *more])


def ordered(e: Sum) -> list[tuple[int, tuple[Factor, ...]]]:
    """Return the terms in the order in which they are written: by falling degree, but a positive term first."""
    terms = sorted(e.terms, key=lambda term: (-len(term[1]), [_sort_key(f) for f in term[1]]))
    if terms[0][0] < 0:  # 4 - h rather than -h + 4
        first = next((k for k, (c, _) in enumerate(terms) if c > 0), 0)
        terms.insert(0, terms.pop(first))
    return terms


def _sort_key(factor: Factor) -> str:
    return _factor(factor, TEXT).lstrip("(")


def _term(coefficient: int, factors: tuple[Factor, ...], notation: Notation, *, negated: bool = False) -> str:
    if not factors:
        return notation.number(coefficient)
    alone = coefficient == 1 and len(factors) == 1 and not negated  # -i//b is not -(i//b)
    parts = [] if coefficient == 1 else [notation.number(coefficient)]
    for factor in dict.fromkeys(factors):
        power = factors.count(factor)
        base = _addend(factor, notation) if alone else _operand(factor, notation)
        parts += [f"{base}**{power}"] if power > 1 and notation.has_power else [base] * power
    return "*".join(parts)


def _addend(factor: Factor, notation: Notation) -> str:
    written = _factor(factor, notation)
    return f"({written})" if isinstance(factor, Apply) and factor.form == "%" else written


def _operand(factor: Factor, notation: Notation) -> str:
    """Return a factor of a product, in parentheses if it is an infix operation."""
    infix = isinstance(factor, Apply) and factor.form in ("//", "%", "/")
    return f"({_factor(factor, notation)})" if infix else _factor(factor, notation)


@lru_cache(maxsize=512)  # each factor is spelled twice: to sort the terms, and to write them
def _factor(factor: Factor, notation: Notation) -> str:
    if isinstance(factor, str):
        return factor
    if factor.table is not None:
        return f"{factor.table!r}[{_spelled(factor.parts[0], notation)}]"
    sign = notation.operations[factor.form]
    if factor.form not in ("//", "%", "/"):
        return f"{sign}({', '.join(_spelled(part, notation) for part in factor.parts)})"
    left, right = factor.parts
    return f"{_dividend(left, notation)}{sign}{_divisor(right, notation)}"


def _dividend(e: Sum, notation: Notation) -> str:
    """Return the left operand of ``//``, ``%`` or ``/``, in parentheses if it is a sum, negative or a remainder."""
    if len(e.terms) > 1 or (e.terms and e.terms[0][0] < 0):
        return f"({_spelled(e, notation)})"
    if e.terms and any(isinstance(f, Apply) and f.form == "%" for f in e.terms[0][1]):
        return f"({_spelled(e, notation)})"
    return _spelled(e, notation)


def _divisor(e: Sum, notation: Notation) -> str:
    """Return the right operand of ``//``, ``%`` or ``/``.

    It needs parentheses unless it is a number, or a power of one factor that is not an infix operation.
    """
    if not e.terms:
        return notation.number(0)
    (c, factors), *others = e.terms
    alike = len(set(factors)) <= 1 if notation.has_power else len(factors) <= 1
    simple = alike and (c == 1 or (c > 0 and not factors)) and not others
    infix = any(isinstance(f, Apply) and f.form in ("//", "%", "/") for f in factors)
    return _spelled(e, notation) if simple and not infix else f"({_spelled(e, notation)})"


def axis_names(rank: int, taken: Collection[str]) -> tuple[str, ...]:
    """Return a name for each axis of a coordinate: a letter and a number.  No name is in *taken*, the dims' names.

    >>> axis_names(2, ()), axis_names(2, {"i1"})
    (('i0', 'i1'), ('o0', 'o1'))
    """
    prefix = next(p for p in ("i", "o", "k", "index_") if not any(f"{p}{k}" in taken for k in range(rank)))
    return tuple(f"{prefix}{k}" for k in range(rank))
