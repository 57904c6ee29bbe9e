"""Check a certificate that computed values are equal (`symlayout.proof.certificate.computed`).

The claims are made again from the models, and compared with those of the certificate.  The proofs are checked by the
checker, which imports nothing of the project.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from json import dumps
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.errors import SymlayoutError
from symlayout.proof.certificate.checker import refusal
from symlayout.proof.certificate.checker.all_ranks import check_product, check_shapes, seal_of
from symlayout.proof.certificate.checker.elements import refusal_of_elements
from symlayout.proof.certificate.checker.formulas import check_formula
from symlayout.proof.certificate.checker.pairs import check_pairs
from symlayout.proof.certificate.checker.polynomials import Refused
from symlayout.proof.certificate.checker.schema import check_claim, size
from symlayout.proof.certificate.checker.sizes import EVALUATED, POINT, check_point
from symlayout.proof.certificate.claim import Claim
from symlayout.proof.certificate.computed_claims import (
    ClaimText,
    ComputedClaims,
    function_of,
    is_sealed,
    laws_needed,
    nodes_of,
    why_no_pair,
)
from symlayout.proof.certificate.formula_terms import bits_of, views_of
from symlayout.proof.classes import are_one_expression
from symlayout.proof.congruence import Pair, Way, matching
from symlayout.proof.decide_equal import dtype_of
from symlayout.proof.idle_functions import without_idle_functions
from symlayout.proof.rewritings import FORMS, rewritten
from symlayout.tensors.chain import Tensor


def refusal_of_computed(certificate: Any, left: Mapping[str, Tensor], right: Mapping[str, Tensor], facts: Facts) -> str:
    """Return why *certificate* does not prove that the tensors are equal; an empty text if it does.

    The claims are made again from the models, and compared with those of the certificate.  The proofs are checked by
    the checker, which imports nothing of the project.
    """
    try:
        if not is_sealed(certificate):
            return "the seal does not match: the certificate was altered"
        form = [name for name in FORMS if certificate.get(name)]
        compared = rewritten(left, right, form, certificate["laws"])
        left, right = compared.left, compared.right
        nodes = nodes_of(left.values()), nodes_of(right.values())
        claims = ComputedClaims(facts)
        text = ClaimText(claims, [{id(node): k for k, node in enumerate(side)} for side in nodes])
        for place, other in certificate.get("rounded", []):
            if reason := claims.add_rounded(nodes[0][place], nodes[1][other]):
                return reason
        for number, pair in enumerate(certificate["pairs"]):
            a, b = nodes[0][pair["before"]], nodes[1][pair["after"]]
            order, way = tuple(pair["order"]), _way(pair["box"], pair["law"])
            if "formula" in pair:
                why = Pair(a, b, way, swapped=False, by_formula=True)
                if reason := _other_formula(claims, why, pair, text.places):
                    return f"pair {number}: {reason}"
                claims.add(number, why, order)
                continue
            if "bijection" in pair:
                way = _with_places(
                    way, list(matching(a, b, order, pair["swapped"], facts)), pair["bijection"]["number"]
                )
            why = Pair(a, b, way, pair["swapped"], reshaped="reshaped" in pair)
            if reason := why_no_pair(why, order, certificate["laws"], facts):
                return f"pair {number}: {reason}"
            if list(pair["function"]) != list(function_of(a)):
                return f"pair {number}: the function is another one"
            for sides, shown in zip(claims.views(why, order), pair["views"], strict=True):
                if reason := _other(sides, shown):
                    return f"pair {number}: {reason}"
            if way.places is not None:
                for two, shown in zip(way.places.claims(), pair["bijection"]["is_one"], strict=True):
                    if reason := _other(claims.movement(*two), shown):
                        return f"pair {number}: {reason}"
            if why.reshaped and pair["reshaped"] != b.batch:
                return f"pair {number}: its batch has another rank"
            text.add(why)
            claims.add(number, why, order)
        needed = laws_needed(certificate["pairs"], certificate.get("rounded", []))
        if certificate["laws"] != sorted({*needed, *compared.laws}):
            return "the laws are not those that the pairs need"
        if certificate["outputs"].keys() != left.keys():
            return "the outputs are not those of the models"
        for name, t in left.items():
            if reason := _other(claims.movement(t, right[name]), certificate["outputs"][name]):
                return f"output {name}: {reason}"
        text.end(left, right)
        if dumps(text.data) != dumps(certificate["text"]):
            return "the values and what they read are others"
        check_pairs(certificate)
        if "point" in certificate:
            views = [view for pair in certificate["pairs"] for view in pair["views"]]
            _check_point(certificate, [*views, *certificate["outputs"].values()])
            if facts.failing(facts.values(certificate["point"])) is not None:
                return "a requirement fails at the point"
    except Refused as error:
        return str(error)
    except SymlayoutError as error:
        return str(error).splitlines()[0]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, AssertionError) as error:
        return f"the certificate has another form: {type(error).__name__}"
    return ""


def refusal_of_chains(certificate: Any, left: Tensor, right: Tensor) -> str:
    """Return why *certificate* does not prove that two chains of one rank are equal; an empty text if it does."""
    if not isinstance(certificate, dict) or "point" not in certificate:
        return "there are no sizes at which both sides were evaluated"
    try:
        sides = without_idle_functions({"left": left, "right": right})[0]
        left, right = sides["left"], sides["right"]
        facts = left.facts.fork()
        facts.merge(right.facts)
        if "pairs" in certificate:
            return refusal_alone(certificate) or refusal_of_computed(certificate, {"": left}, {"": right}, facts)
        return _other((left, right, facts, dtype_of(left, right)), certificate)
    except SymlayoutError as error:
        return str(error).splitlines()[0]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return f"the certificate has another form: {type(error).__name__}"


def refusal_alone(certificate: Any) -> str:
    """Return why the claims of *certificate* are not all proved; an empty text if they are.

    Whether they are claims about two given chains or models, and whether both sides of a view without a proof are one
    expression, only `refusal_of_computed` tells.
    """
    try:
        if not is_sealed(certificate):
            return "the seal does not match: the certificate was altered"
        check_pairs(certificate)
        claims = [view for pair in certificate["pairs"] for view in pair["views"]]
        claims += certificate["outputs"].values()
        if "point" in certificate:
            _check_point(certificate, claims)
        claims += [view for pair in certificate["pairs"] for view in pair.get("bijection", {}).get("is_one", ())]
        for shown in claims:
            if shown is not None and (reason := refusal(shown)):
                return reason
        for part in certificate.get("data", []):
            if reason := refusal_alone(part["operands"]):
                return reason
    except Refused as error:
        return str(error)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return f"the certificate has another form: {type(error).__name__}"
    return ""


def _check_point(certificate: Any, claims: Iterable[Any]) -> None:
    """Refuse a point at which a claim of movement of the certificate does not hold; each claim has a good form."""
    POINT(certificate["point"], "point")
    EVALUATED(certificate["evaluated"], "evaluated")
    for shown in claims:
        if shown is not None:
            check_claim(shown["claim"])
            check_point(shown["claim"], certificate["point"], certificate["evaluated"])


def refusal_of_computed_ranks(certificate: Any) -> str:
    """Return why a certificate for all ranks, about computed values, is no proof of its claims; empty text if it is.

    It has a certificate for the axes outside of the group and one for an arbitrary axis of it.  Pair by pair, both are
    about one function, and view by view about one product of maps.
    """
    try:
        size(certificate)
        if certificate["seal"] != seal_of(certificate):
            return "the seal does not match: the certificate was altered"
        halves = certificate["plain"], certificate["each"]
        inputs = check_shapes(certificate["any_rank"])
        for place, half in zip(("plain", "each"), halves, strict=True):
            if half["laws"]:
                return f"{place}: laws hold for the axes of one tensor, not for all ranks"
            if reason := refusal_alone(half):
                return f"{place}: {reason}"
        for number, (one, other) in enumerate(zip(*(half["pairs"] for half in halves), strict=True)):
            if {"formula", "reshaped"} & {*one, *other}:
                return f"pair {number}: a formula or a reshape is not about all ranks"
            if [one[key] for key in ("function", "swapped", "law")] != [
                other[key] for key in ("function", "swapped", "law")
            ]:
                return f"pair {number}: it is about one value outside of the group, and about another one in it"
            for views in zip(one["views"], other["views"], strict=True):
                if None not in views:
                    check_product([view["claim"] for view in views], inputs)
        check_product([half["outputs"][""]["claim"] for half in halves], inputs, certificate["any_rank"]["sides"])
    except Refused as error:
        return str(error)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return f"the certificate has another form: {type(error).__name__}"
    return ""


def _way(box: Any, law: str) -> Way:
    order, groups, back, backwards = box
    joined = None if groups is None else tuple((first, last) for first, last in groups)
    return Way(tuple(order), joined, law, back, tuple(backwards))


def _with_places(way: Way, found: Iterable[Way], number: int) -> Way:
    """Return *way* with the bijection of this number among those that are found."""
    (same,) = (other for other in found if other.number == number)
    return replace(way, places=same.places, number=number)


def _other_formula(
    claims: ComputedClaims, why: Pair, pair: Mapping[str, Any], places: Sequence[Mapping[int, int]]
) -> str:
    """Return why a pair does not have the formulas of its values, and the proofs of their views; empty if it does."""
    formula, order = pair["formula"], tuple(pair["order"])
    check_formula(formula, dict(pair), "a formula")
    if why.a.dtype != why.b.dtype or order != tuple(range(why.a.batch)) or why.a.batch != why.b.batch:
        return "the values of a formula have other types or axes"
    if formula["bits"] != bits_of(why.a):
        return "the elements of a formula have another precision"
    left, right = views_of(why.a, formula["left"]), views_of(why.b, formula["right"])
    if left is None or right is None:
        return "the formula of a value is another one"
    views = left, right
    sides = claims.views_of_terms(views, formula["places"], order)
    for two, shown in zip(sides, pair["views"], strict=True):
        if reason := _other(two, shown):
            return reason
    reads = [[claims.read_by(v, numbers) for v in side] for side, numbers in zip(views, places, strict=True)]
    return "" if reads == formula["reads"] else "a formula reads other values"


def _other(sides: tuple[Tensor, Tensor, Facts, Any], shown: Any) -> str:
    """Return why *shown* is no proof of this claim; an empty text if it is."""
    if len({side.dtype for side in sides[:2]} - {None}) > 1:
        return "the element types differ"
    if shown is None:
        return "" if are_one_expression(*sides[:2]) else "the sides are two expressions, and no proof is given"
    claim = Claim(*sides).data
    stated = {key: part for key, part in shown["claim"].items() if key != "elements"}
    if dumps(claim, sort_keys=True) != dumps(stated, sort_keys=True):
        return "the claim is another"
    constants = {x.key: x.values for side in sides[:2] for x in side.leaves() if x.values is not None}
    return refusal(shown) or refusal_of_elements(shown["claim"], constants)
