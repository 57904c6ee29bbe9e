"""The certificate that computed values are equal: a certificate of movement for each view of each pair of them.

Two computed values are one if their function is one and each view of the first is that view of the second.  Views are
movement, from inputs and from other computed values.  In the claims each computed value after stands as an input of
its own, ``value k`` for pair number k, and the value before that equals it stands as that input with its axes permuted.
The text says of both sides which values are in pairs, of which functions, and what they read.  Where both sides of a
view's claim are then the same operations of the same inputs, None stands for its certificate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.budgets import limits
from symlayout.errors import InconclusiveError
from symlayout.proof.certificate.checker.formulas import agreements
from symlayout.proof.certificate.checker.schema import sealed
from symlayout.proof.certificate.computed_claims import (
    ClaimText,
    ComputedClaims,
    function_of,
    laws_of_pairs,
    nodes_of,
)
from symlayout.proof.certificate.formula_terms import DEEPEST, term_of
from symlayout.proof.certificate.write import certify
from symlayout.proof.classes import are_one_expression
from symlayout.proof.congruence import Congruence, Pair
from symlayout.proof.decide_equal import attempt
from symlayout.proof.rewritings import FORMS, OUTERMOST, Form, RewrittenSides, rewritten
from symlayout.tensors.chain import Tensor


def certificate_of_computed(
    left: Mapping[str, Tensor],
    right: Mapping[str, Tensor],
    facts: Facts,
    known: Congruence,
    laws: Sequence[str] = (),
    *,
    form: Form = frozenset(),
    brief: bool = True,
) -> dict[str, Any]:
    """Return the certificate of a proof under *laws* that tensors of the same names are equal.

    The proof's pairs are *known*.  If it rewrote the tensors to a *form*, or compares values at some coordinates only,
    it is made once more of the rewritten tensors: the last form has functions outermost, so that values are compared as
    a whole.  *brief* leaves out the certificates of outputs that are one expression on both sides.

    Raises
    ------
    InconclusiveError
        That is not proved, or a claim of movement has no certificate.
    """
    sides = RewrittenSides(form, dict(left), dict(right), set(), set(), changed=False)
    if not form and not known.uncertified:
        try:
            return certify_computed(sides, facts, known, brief=brief)
        except InconclusiveError:
            if not any(why is not None and why.by_formula for why in known.known.values()):
                raise
    for tried in dict.fromkeys((form, form | {OUTERMOST})) if form else [frozenset({OUTERMOST})]:
        sides = rewritten(left, right, tried, laws)
        known = Congruence(facts, limits.decision_goals, frozenset(laws))
        claims = [(t, sides.right[name]) for name, t in sides.left.items()]
        if any(isinstance(attempt(*claim, facts, known, finite=True), str) for claim in claims):
            known.uncertified.add("another form is not proved equal")
        if not known.uncertified:
            break
    return certify_computed(sides, facts, known, brief=brief)


def certify_computed(sides: RewrittenSides, facts: Facts, known: Congruence, *, brief: bool = True) -> dict[str, Any]:
    """Return the certificate that each tensor on the left of *sides* equals that of the same name on the right.

    Unless *brief*, the tensors themselves get a certificate of movement even where both sides are one expression, and
    views where only the inputs that are read are the same.

    Raises
    ------
    InconclusiveError
        The proof compared more than pairs of whole values, or a claim of movement has no certificate.
    """
    left, right = sides.left, sides.right
    if known.uncertified:
        raise InconclusiveError(f"the proof has a certificate: {'; '.join(sorted(known.uncertified))}")
    places = [{id(node): k for k, node in enumerate(nodes_of(side.values()))} for side in (left, right)]
    claims = ComputedClaims(facts)
    text = ClaimText(claims, places)
    pairs: list[dict[str, Any]] = []
    for (_, _, order), why in known.known.items():
        if why is None or id(why.a) not in places[0] or id(why.b) not in places[1] or claims.join(why):
            continue
        if why.by_formula:
            claims, pair = _formula(claims, why, order, places, known.laws, brief=brief)
            text.claims = claims
            claims.add(len(pairs), why, order)
            pairs.append(pair)
            continue
        in_order = list(order) == sorted(order)  # else a view is shown, so that the order can be checked
        views = [_shown(sides, brief=brief) for sides in claims.views(why, order)]
        if not in_order and (not brief or not any(views)):
            views = [_shown_in_full(sides) for sides in claims.views(why, order)]
        if not in_order and not any(views):
            raise InconclusiveError("the proof has a certificate: no view shows in which order the axes are")
        text.add(why)
        claims.add(len(pairs), why, order)
        groups = None if why.way.groups is None else [list(group) for group in why.way.groups]
        pairs.append(
            {
                "before": places[0][id(why.a)],
                "after": places[1][id(why.b)],
                "function": function_of(why.a),
                "order": list(order),
                "swapped": why.swapped,
                "box": [list(why.way.order), groups, why.way.back, list(why.way.reversed)],
                "law": why.way.law,
                "views": views,
            }
        )
        if why.way.places is not None:
            shown = [_shown(claims.movement(*sides), brief=brief) for sides in why.way.places.claims()]
            pairs[-1]["bijection"] = {"number": why.way.number, "is_one": shown}
    show = _shown if brief else _shown_in_full
    outputs = {name: show(claims.movement(t, right[name])) for name, t in left.items()}
    text.end(left, right)
    needed = sorted({*laws_of_pairs(pairs), *sides.laws})
    form = {name: True for name in FORMS if name in sides.form}
    return sealed({"pairs": pairs, "outputs": outputs, "laws": needed, "text": text.data, **form})


def _formula(
    claims: ComputedClaims,
    why: Pair,
    order: tuple[int, ...],
    places: Sequence[Mapping[int, int]],
    laws: frozenset[str],
    *,
    brief: bool,
) -> tuple[ComputedClaims, dict[str, Any]]:
    """Return the pair of two values that have one formula, and the claims with what stands for the values in it."""
    for depths in sorted(product(range(DEEPEST + 1), repeat=2), key=sum):
        terms = [term_of(t, depth) for t, depth in zip((why.a, why.b), depths, strict=True)]
        if terms[0] is None or terms[1] is None or list(order) != sorted(order):
            break
        (left, views), (right, others) = terms[0], terms[1]
        for law, fused, needed in agreements(left, right):
            if law and law not in laws:
                continue
            trial, at = claims.copy(), sorted(map(list, needed))
            with suppress(InconclusiveError):
                shown = [_shown(two, brief=brief) for two in trial.views_of_terms((views, others), at, order)]
                reads = [[trial.read_by(v, places[0]) for v in views], [trial.read_by(v, places[1]) for v in others]]
                formula = {
                    "left": left, "right": right, "depths": list(depths), "places": at, "reads": reads, "fused": fused,
                }  # fmt: skip
                return trial, {
                    "before": places[0][id(why.a)],
                    "after": places[1][id(why.b)],
                    "function": ["formula", "()"],
                    "order": list(order),
                    "swapped": False,
                    "box": [[], None, False, []],
                    "law": law,
                    "views": shown,
                    "formula": formula,
                }
    raise InconclusiveError(f"the proof has a certificate: {why.a.name} and {why.b.name} have one formula")


def _shown(sides: tuple[Tensor, Tensor, Facts, Any], *, brief: bool = True) -> dict[str, Any] | None:
    """Return the certificate of a claim, or None where both sides are one expression (see `are_one_expression`)."""
    return None if are_one_expression(*sides[:2], unread=not brief) else certify(*sides)


def _shown_in_full(sides: tuple[Tensor, Tensor, Facts, Any], *, brief: bool = False) -> dict[str, Any] | None:
    """Return the certificate of a claim; None where there is none, and both sides are one expression."""
    try:
        return certify(*sides)
    except InconclusiveError:
        if are_one_expression(*sides[:2]):
            return None
        raise
