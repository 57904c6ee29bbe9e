"""Write folded coordinates as Python expressions, with as few parentheses as Python's precedence allows."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent
from symlayout.language.readable import Apply, Factor, Sum, fold_fixed


def spell(e: Sum) -> str:
    """Return a sum as text, with terms of higher degree first; ``...`` if it is nested too deeply.

    >>> spell(Sum(((1, ("i",)), (-2, ("b", "b", "j")))))
    'i - 2*b**2*j'
    """
    try:
        return _spelled(e)
    except RecursionError:
        return "..."


def spell_extent(e: Extent, facts: Facts) -> str:
    """Return an extent as text that a shape may have: floors, remainders and maxima as a person writes them."""
    if isinstance(e, int) or e.names.isdisjoint(facts.definitions):
        return facts.spell(e)
    return spell(fold_fixed(facts.reduce(e), facts))


def _spelled(e: Sum) -> str:
    if not e.terms:
        return "0"
    if len(e.terms) == 1 and e.terms[0][0] == 1 and len(e.terms[0][1]) == 1:
        return _factor(e.terms[0][1][0])
    (c, factors), *others = ordered(e)
    first = f"-{_term(-c, factors, negated=True)}" if c < 0 else _term(c, factors)
    return " ".join([first, *(f"{'-' if c < 0 else '+'} {_term(abs(c), factors)}" for c, factors in others)])


def ordered(e: Sum) -> list[tuple[int, tuple[Factor, ...]]]:
    """Return the terms in the order in which they are written: by falling degree, but a positive term first."""
    terms = sorted(e.terms, key=lambda term: (-len(term[1]), [_sort_key(f) for f in term[1]]))
    if terms[0][0] < 0:  # 4 - h rather than -h + 4
        first = next((k for k, (c, _) in enumerate(terms) if c > 0), 0)
        terms.insert(0, terms.pop(first))
    return terms


def _sort_key(factor: Factor) -> str:
    return _factor(factor).lstrip("(")


def _term(coefficient: int, factors: tuple[Factor, ...], *, negated: bool = False) -> str:
    if not factors:
        return str(coefficient)
    alone = coefficient == 1 and len(factors) == 1 and not negated  # -i//b is not -(i//b)
    parts = [] if coefficient == 1 else [str(coefficient)]
    for factor in dict.fromkeys(factors):
        power = factors.count(factor)
        parts.append((_addend(factor) if alone else _operand(factor)) + (f"**{power}" if power > 1 else ""))
    return "*".join(parts)


def _addend(factor: Factor) -> str:
    return f"({_factor(factor)})" if isinstance(factor, Apply) and factor.form == "%" else _factor(factor)


def _operand(factor: Factor) -> str:
    """Return a factor of a product, in parentheses if it is an infix operation."""
    infix = isinstance(factor, Apply) and factor.form in ("//", "%", "/")
    return f"({_factor(factor)})" if infix else _factor(factor)


@lru_cache(maxsize=512)  # each factor is spelled twice: to sort the terms, and to write them
def _factor(factor: Factor) -> str:
    if isinstance(factor, str):
        return factor
    if factor.table is not None:
        return f"{factor.table!r}[{_spelled(factor.parts[0])}]"
    if factor.form not in ("//", "%", "/"):
        return f"{factor.form}({', '.join(map(_spelled, factor.parts))})"
    left, right = factor.parts
    sign = " % " if factor.form == "%" else factor.form
    return f"{_dividend(left)}{sign}{_divisor(right)}"


def _dividend(e: Sum) -> str:
    """Return the left operand of ``//``, ``%`` or ``/``, in parentheses if it is a sum, negative or a remainder."""
    if len(e.terms) > 1 or (e.terms and e.terms[0][0] < 0):
        return f"({_spelled(e)})"
    if e.terms and any(isinstance(f, Apply) and f.form == "%" for f in e.terms[0][1]):
        return f"({_spelled(e)})"
    return _spelled(e)


def _divisor(e: Sum) -> str:
    """Return the right operand of ``//``, ``%`` or ``/``.

    It needs parentheses unless it is a number, or a power of one factor that is not an infix operation.
    """
    if not e.terms:
        return "0"
    (c, factors), *others = e.terms
    simple = len(set(factors)) <= 1 and (c == 1 or (c > 0 and not factors)) and not others
    infix = any(isinstance(f, Apply) and f.form in ("//", "%", "/") for f in factors)
    return _spelled(e) if simple and not infix else f"({_spelled(e)})"


def axis_names(rank: int, taken: Collection[str]) -> tuple[str, ...]:
    """Return a name for each axis of a coordinate: a letter and a number.  No name is in *taken*, the dims' names.

    >>> axis_names(2, ()), axis_names(2, {"i1"})
    (('i0', 'i1'), ('o0', 'o1'))
    """
    prefix = next(p for p in ("i", "o", "k", "index_") if not any(f"{p}{k}" in taken for k in range(rank)))
    return tuple(f"{prefix}{k}" for k in range(rank))
