"""Assumptions that may decide a claim that is open: relations that its own dims and constants suggest.

They are for the text of the verdict UNKNOWN, which says which of them decides the claim.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, islice, permutations, zip_longest

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, names_of, symbol
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.language import sympy_bridge
from symlayout.proof.attempts import decide
from symlayout.proof.congruence import Congruence
from symlayout.proof.counterexample import WitnessSearch
from symlayout.proof.decide_equal import dtype_of
from symlayout.proof.verdict import Proof, Verdict
from symlayout.tensors.assumptions import Relation, assumption
from symlayout.tensors.chain import Tensor

_MOST_CONSTANTS = 3  # values that a dim is set equal to
_MOST_TRIED = 12  # assumptions that are tried
_GOALS = (100, 400)  # goals of each attempt: first all assumptions with few goals, then all with more
_POINTS = 20  # points that each attempt evaluates


def advice(left: Tensor, right: Tensor, facts: Facts, *, laws: frozenset[str]) -> str:
    """Return what to try for a claim that is open, as text: an assumption that decides it, if a short search finds one.

    *facts* is the joint system of both sides, and *laws* are granted.
    """
    if not facts.dims:
        return "\n  help: there is no dim to assume anything about; compare smaller sizes, or raise budget="
    claims = list(islice(assumed(left, right, facts), _MOST_TRIED))
    for goals in _GOALS:
        for relation, call, a, b in claims:
            found = _decided_briefly(a, b, goals, laws)
            if found is not None and found.verdict is Verdict.PROVED:
                return f"\n  help: it is proved where {relation}: {call}"
            if found is not None:
                return f"\n  help: the claim is false, since it is refuted where {relation}: {found.witness}"
    return (
        f"\n  help: none of the {len(claims)} assumptions about its dims that were tried decides it;"
        " bind dims to numbers with subs, or raise budget="
    )


def _decided_briefly(left: Tensor, right: Tensor, goals: int, laws: frozenset[str]) -> Proof | None:
    """Return the proof or the refutation that a short attempt finds; None for a proof about no element."""
    facts = left.facts.fork()
    try:
        facts.merge(right.facts)
        known = Congruence(facts, goals, laws), Congruence(facts, goals, laws)
        proof = decide(left, right, facts, known, budget=_POINTS)
        if proof.verdict is Verdict.PROVED and not WitnessSearch(left, right, facts, dtype_of(left, right)).run(1)[1]:
            return None
    except (ShapeError, InconclusiveError):  # the assumption leaves no sizes
        return None
    return None if proof.verdict is Verdict.UNKNOWN else proof


def assumed(left: Tensor, right: Tensor, facts: Facts) -> Iterator[tuple[str, str, Tensor, Tensor]]:
    """Yield ``(relation, call, left, right)``: the claim under one assumption about its dims, the likeliest first.

    *call* is how a user makes the assumption.  A dim that equals a number is bound to it: the algebra knows more then.
    *facts* is the joint system of both sides.  Assumptions that hold anyway or never hold are left out.
    """
    sides = {"left": left, "right": right}
    for e, sign, value in _relations(left, right, facts):
        text = f"{' % '.join(map(str, e))} {sign} {value}"
        of = [sympy_bridge.symbol_of(facts.dims[v]) if isinstance(v, str) else v for v in (*e, value)]
        names = {v for v in (*e, value) if isinstance(v, str)}
        side = next((side for side, t in sides.items() if names <= t.facts.dims.keys()), "")
        try:
            if len(of) == 2 and sign == "==" and isinstance(value, int):
                bound = "{" + f'"{e[0]}": {value}' + "}"
                yield (
                    text,
                    f"left.subs({bound}), right.subs({bound})",
                    left.subs({e[0]: value}),
                    right.subs({e[0]: value}),
                )
            elif side:
                quantity = of[0] % of[1] if len(e) == 2 else of[0]
                made = assumption(sides[side], Relation(quantity, sign, of[-1], text))
                joint = facts.fork()
                joint.merge(made.facts)
                if len(joint.requirements) > len(facts.requirements):
                    yield text, f'sl.assume({side}, "{text}")', *((made, right) if side == "left" else (left, made))
        except (ShapeError, InconclusiveError):  # it never holds
            continue


_Row = tuple[tuple[str] | tuple[str, str | int], str, str | int]  # a dim or a remainder, a sign, a dim or a number


def _relations(left: Tensor, right: Tensor, facts: Facts) -> Iterator[_Row]:
    """Yield the relations, from each kind in turn."""
    fractions = _fractions(facts)
    divisors = {d for _, d in fractions if isinstance(d, int)}
    extents = [e for t in chain(left.nodes(), right.nodes()) for e in t.extents if isinstance(e, int)]
    constants = [*dict.fromkeys(c for c in (*sorted(divisors), *sorted(extents)) if c > 1)][:_MOST_CONSTANTS]
    dims = sorted(facts.dims, key=lambda name: not any(name in names_of(e) for pair in fractions for e in pair))
    below = {name for _, d in fractions for name in names_of(d)}
    kinds: tuple[Iterator[_Row], ...] = (
        (((n,), ">=", 1) for n in dims),
        (((n, d), "==", 0) for n in dims for d in _divisors(n, fractions)),
        (((n,), "==", c) for c in (*constants, 1) for n in sorted(dims, key=lambda n: n not in below)),
        (((a,), ">=", b) for a, b in permutations(dims, 2)),
        (((a,), "==", b) for a, b in combinations(dims, 2)),
    )
    return (row for rows in zip_longest(*kinds) for row in rows if row is not None)


def _fractions(facts: Facts) -> list[tuple[Extent, Extent]]:
    """Return the numerators and denominators of the claim, those of floors first."""
    floors = [(d.left, d.right) for d in facts.definitions.values() if d.form == "floor"]
    divided = [(r.value, r.modulus) for r in facts.requirements if r.relation == "divides"]
    return [*floors, *divided, *facts.quotients.values()]


def _divisors(name: str, fractions: list[tuple[Extent, Extent]]) -> Iterator[str | int]:
    """Yield the numbers and dims that divide an expression in which the dim *name* occurs."""
    found: dict[str | int, None] = {}
    for n, d in fractions:
        if name in names_of(n):
            others = [other for other in sorted(names_of(d)) if other != name and d == symbol(other)]
            found.update(dict.fromkeys([d] if isinstance(d, int) else others))
    yield from found
