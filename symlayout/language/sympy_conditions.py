"""Conditions on dims in SymPy: conjunctions of requirements, tried in order, and what remains of each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd
from typing import Any

from symlayout.algebra.facts import Facts, Requirement
from symlayout.algebra.polynomial import terms_of
from symlayout.errors import ShapeError
from symlayout.language.sympy_bridge import to_relation

Conjunction = tuple[Requirement, ...]


def separated(cases: Sequence[tuple[Conjunction, Any]], facts: Facts) -> dict[Any, Any]:
    """Return one SymPy condition for each different value of *cases*, of which the first that holds counts.

    The conditions exclude each other.
    """
    import sympy

    found: dict[Any, list[Any]] = {}
    for k, (own, value) in enumerate(cases):
        parts = [to_relation(r, facts) for r in own]
        for earlier, other in cases[:k]:
            if other != value and not excluded(own, earlier):
                left = [r for r in earlier if not any(r.states(one) for one in own)]
                parts.append(_joined(sympy.Or, [_negated(to_relation(r, facts)) for r in left]))
        found.setdefault(value, []).append(_joined(sympy.And, parts))
    return {_joined(sympy.Or, parts): value for value, parts in found.items()}


def excluded(one: Conjunction, other: Conjunction) -> bool:
    """Return whether two conjunctions are seen to have no point in common."""
    return any(_apart(a, b) or _apart(b, a) for a in one for b in other)


def _apart(a: Requirement, b: Requirement) -> bool:
    left, right = terms_of(a.value), terms_of(b.value)
    if {m: c for m, c in left.items() if m} != {m: c for m, c in right.items() if m}:
        return False
    gap = left.get((), 0) - right.get((), 0)
    if a.relation == "zero":
        if b.relation == "divides":
            return isinstance(b.modulus, int) and gap % b.modulus != 0
        return gap != 0 if b.relation == "zero" else gap > 0  # b's value is -gap
    if a.relation != "divides" or b.relation != "divides":
        return False
    return isinstance(a.modulus, int) and isinstance(b.modulus, int) and gap % gcd(a.modulus, b.modulus) != 0


def conjunction(relations: Sequence[Any]) -> Any:
    """Return the SymPy condition that all relations hold, as they are."""
    import sympy

    return _joined(sympy.And, relations)


def at_most(e: Any, most: Any) -> Any:
    """Return the SymPy relation ``e <= most``, as it is."""
    import sympy

    return sympy.Le(e, most, evaluate=False)


def _joined(form: Any, parts: Sequence[Any]) -> Any:
    """Return the conjunction or disjunction of parts as they are: SymPy would try to solve them."""
    import sympy

    settles = sympy.true if form is sympy.Or else sympy.false
    kept = list(dict.fromkeys(part for part in parts if part is not (~settles)))
    if settles in kept:
        return settles
    if not kept:
        return ~settles
    return kept[0] if len(kept) == 1 else form(*kept, evaluate=False)


def _negated(relation: Any) -> Any:
    import sympy

    opposite = {sympy.Eq: sympy.Ne, sympy.Ge: sympy.Lt, sympy.Le: sympy.Gt}.get(type(relation))
    if opposite is None:
        return sympy.Not(relation)
    return opposite(relation.lhs, relation.rhs, evaluate=False)


def number_at(e: Any, dims: Mapping[Any, Any]) -> int:
    """Return the value of an expression where dims, given by symbol or by name, have these values.

    Raises
    ------
    ShapeError
        ``unbound_dim`` if the expression depends on another dim; ``infeasible`` if the value is not an integer.
    """
    import sympy

    values = {str(name): value for name, value in dims.items()}
    if isinstance(e, int):
        return e
    found = e.subs({s: values[s.name] for s in e.free_symbols if s.name in values})
    if found.free_symbols:
        free = sorted(s.name for s in found.free_symbols)[0]
        raise ShapeError(f"the answer depends on {free}\n  help: at({{'{free}': ...}})", "unbound_dim")
    found = found.replace(
        lambda part: part.func.__name__ == "gcd", lambda part: sympy.Integer(gcd(*map(int, part.args)))
    )
    if not found.is_Integer:
        raise ShapeError(f"{e} is {found}, and not an integer", "infeasible")
    return int(found)


def greatest_common_divisor(values: Sequence[Any]) -> Any:
    """Return ``gcd(a, b, ...)`` of expressions, which SymPy keeps as it is: its own gcd is that of polynomials."""
    import sympy

    return sympy.Function("gcd", integer=True, positive=True)(*values)
