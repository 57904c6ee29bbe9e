"""Check a certificate of a claim for all ranks: it has the proofs of two claims, and the shapes that join them.

``any_rank``
    ``input`` and ``sides``: the entries of the shape of the input, and of both sides.  An entry is ``[each, joined]``.
    ``each`` says for each digit whether it is an axis of the claim ``each`` or of the claim ``plain``.  Both claims
    have their axes in this order.  ``joined``: the digits are those of one axis, and a digit of ``each`` stands for as
    many digits as the group has axes.  Otherwise there is one digit, and one of ``each`` stands for as many axes.
``plain``, ``each``
    The certificates of the claim about the axes outside of the group, and of that about an arbitrary axis of it.  The
    names of ``each`` have a value for each axis.
``seal``
    The SHA-256 of the other members.

What is claimed: take the left sides of both claims.  With any number of axes in the group, let an element be read where
the left side of ``plain`` and, for each axis of the group, the left side of ``each`` read; elsewhere it is the fill.
Then the right sides read the same element.  That follows: each coordinate of the input is given by one of the maps,
and these are equal.  It needs that there is one fill, so that it is no matter which of the maps is outside.
"""

from __future__ import annotations

from typing import Any

from symlayout.proof.certificate.checker.blocks import refusal
from symlayout.proof.certificate.checker.polynomials import Refused
from symlayout.proof.certificate.checker.schema import anything, digest, items, members, name, row, size


def refusal_of_all_ranks(certificate: Any) -> str:
    """Return why *certificate* does not prove its claim for all ranks; an empty text if it does."""
    try:
        size(certificate)
        _FORM(certificate, "the certificate")
        if certificate["seal"] != seal_of(certificate):
            return "the seal does not match: the certificate was altered"
        claims = []
        for part in ("plain", "each"):
            if reason := refusal(certificate[part]):
                return f"{part}: {reason}"
            claims.append(certificate[part]["claim"])
        _check_product(certificate["any_rank"], *claims)
    except Refused as error:
        return str(error)
    except (RecursionError, ValueError) as error:
        return f"this is not a certificate: {error!r:.200}"
    return ""


def seal_of(body: dict[str, Any]) -> str:
    """Return the digest of a certificate.  It reveals only accidental changes: anybody can make it."""
    return digest([body["any_rank"], body["plain"], body["each"]])


def _check_product(shapes: dict[str, Any], plain: dict[str, Any], each: dict[str, Any]) -> None:
    """Refuse two claims that are not about one product of maps."""
    inputs = []
    for claim in (plain, each):
        first, *others = [node for node in claim["nodes"] if "input" in node]
        if any(node != first for node in others):
            raise Refused("a claim for all ranks is about one input, not two")
        inputs.append(first)
    if inputs[0]["input"] != inputs[1]["input"]:
        raise Refused(f"the claims are about two inputs, {inputs[0]['input']} and {inputs[1]['input']}")
    ends = [
        (node["shape"], claim["nodes"][claim["left"]]["shape"])
        for node, claim in zip(inputs, (plain, each), strict=True)
    ]
    for k, place in enumerate(("input", "sides")):
        digits = [is_each for entry, _ in shapes[place] for is_each in entry]
        for is_each, ranks in zip((False, True), ends, strict=True):
            if digits.count(is_each) != len(ranks[k]):
                raise Refused(
                    f"{place}: the shape has {digits.count(is_each)} axes of a claim that has {len(ranks[k])}"
                )
        for entry, joined in shapes[place]:
            if not joined and len(entry) != 1:
                raise Refused(f"{place}: an axis with {len(entry)} digits is not joined")
    fills = {
        case["fill"]
        for claim in (plain, each)
        for node in claim["nodes"]
        for case in node.get("cases", ())
        if case["fill"]
    }
    if len(fills) > 1:
        raise Refused(f"there are {len(fills)} fills, so that it matters which map is outside")
    known = [{n for n, *_ in (*claim["dims"], *claim["symbols"])} for claim in (plain, each)]
    if both := known[0] & known[1]:
        raise Refused(f"{min(both)} has one value, and one for each axis of the group")


def _flag(value: Any, place: str) -> None:
    if type(value) is not bool:
        raise Refused(f"{place}: {value!r:.80} is neither true nor false")


_SHAPE = items(row(items(_flag), _flag))
_FORM = members(any_rank=members(input=_SHAPE, sides=_SHAPE), plain=anything, each=anything, seal=name)
