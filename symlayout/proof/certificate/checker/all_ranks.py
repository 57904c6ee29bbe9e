"""Check a certificate of a claim for all ranks: it has the proofs of two claims, and the shapes that join them.

``any_rank``
    ``inputs``, by their names, and ``sides``: the entries of the shapes of inputs, and of both sides.  An entry is
    ``[each, joined]``.
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
and these are equal.  It needs that there is one fill, so that it is no matter which of the maps is outside.  Where
``plain`` reads several inputs, it says which one is read, and the input of ``each`` stands for the axes of all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
        inputs = check_shapes(certificate["any_rank"])
        check_product(claims, inputs, certificate["any_rank"]["sides"])
    except Refused as error:
        return str(error)
    except (KeyError, RecursionError, ValueError) as error:
        return f"this is not a certificate: {error!r:.200}"
    return ""


def seal_of(body: dict[str, Any]) -> str:
    """Return the digest of a certificate.  It reveals only accidental changes: anybody can make it."""
    return digest([body["any_rank"], body["plain"], body["each"]])


def check_product(claims: Sequence[dict[str, Any]], inputs: Mapping[str, Any], sides: Any = None) -> None:
    """Refuse two claims, about the axes outside of the group and about one of it, that are not about one product."""
    if any("elements" in claim for claim in claims):
        raise Refused("elements of constants are stated to be equal: these are of tensors of one rank")
    read, own = map(_inputs_of, claims)
    if len(own) != 1 or not own.keys() <= read.keys():
        raise Refused(f"the claims are about other inputs, {', '.join(read)} and {', '.join(own)}")
    if len(read) > 1 and any(" " in known for known in read):
        raise Refused("values that are computed are joined: their axes may be in other orders")
    (group,) = own.values()
    shapes = [(known, inputs[known], read[known], group) for known in read if " " not in known]
    if sides is not None:
        shapes.append(("sides", sides, *(claim["nodes"][claim["left"]] for claim in claims)))
    for place, slots, *nodes in shapes:
        digits = [is_each for entry, _ in slots for is_each in entry]
        for is_each, node in zip((False, True), nodes, strict=True):
            if digits.count(is_each) != len(node["shape"]):
                raise Refused(
                    f"{place}: the shape has {digits.count(is_each)} axes of a claim that has {len(node['shape'])}"
                )
        for entry, joined in slots:
            if not joined and len(entry) != 1:
                raise Refused(f"{place}: an axis with {len(entry)} digits is not joined")
    fills = {
        case["fill"] for claim in claims for node in claim["nodes"] for case in node.get("cases", ()) if case["fill"]
    }
    if len(fills) > 1:
        raise Refused(f"there are {len(fills)} fills, so that it matters which map is outside")
    known = [{n for n, *_ in (*claim["dims"], *claim["symbols"])} for claim in claims]
    if both := known[0] & known[1]:
        raise Refused(f"{min(both)} has one value, and one for each axis of the group")


def _inputs_of(claim: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs that the sides of a claim can read, by name; operations may have others for their extents."""
    nodes = claim["nodes"]
    reached = {claim["left"], claim["right"]}
    for number in reversed(range(len(nodes))):
        if number in reached and "op" in nodes[number]:
            reached |= {nodes[number]["inputs"][case["source"]] for case in nodes[number]["cases"]}
    found: dict[str, Any] = {}
    for number in sorted(reached):
        node = nodes[number]
        if "input" in node and found.setdefault(node["input"], node) != node:
            raise Refused(f"input {node['input']} has two shapes")
    return found


def check_shapes(shapes: Any) -> dict[str, Any]:
    """Return the slots of each input, by its name; refuse shapes of another form."""
    _SHAPES(shapes, "any_rank")
    return {known: slots for known, slots in shapes["inputs"]}


def _flag(value: Any, place: str) -> None:
    if type(value) is not bool:
        raise Refused(f"{place}: {value!r:.80} is neither true nor false")


_SHAPE = items(row(items(_flag), _flag))
_SHAPES = members(inputs=items(row(name, _SHAPE)), sides=_SHAPE)
_FORM = members(any_rank=_SHAPES, plain=anything, each=anything, seal=name)
