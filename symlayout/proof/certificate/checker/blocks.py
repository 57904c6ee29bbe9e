"""Check a certificate: its form, then its proof, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symlayout.proof.certificate.checker import points, readings, rules, sizes
from symlayout.proof.certificate.checker.known import Known
from symlayout.proof.certificate.checker.polynomials import Refused, Work
from symlayout.proof.certificate.checker.schema import (
    Kind,
    anything,
    check_claim,
    function,
    index,
    integer,
    items,
    members,
    name,
    one_of,
    optional,
    polynomial,
    row,
    seal,
    size,
    table,
)

LEAST_WORK = 100_000  # operations on terms that the check of any certificate may take
WORK_PER_CHARACTER = 20  # additional operations for each character; certificates of the prover take 1 or 2


def check(certificate: Any) -> bool:
    """Return whether *certificate* proves its claim.

    Parameters
    ----------
    certificate : dict
        The value of `Proof.certificate`, or the same data read back from JSON.  Any other object gives False; no object
        raises an error.

    Returns
    -------
    bool
        True if the claim is proved, and sizes are given that it is about.  False says nothing about the claim;
        `refusal` returns the reason.

    Examples
    --------
    >>> import symlayout as sl
    >>> x = sl.tensor("N, C", name="x")
    >>> certificate = sl.prove_equal(sl.transpose(sl.transpose(x)), x).certificate
    >>> sl.check(certificate)
    True
    >>> certificate["claim"]["dims"][0][1] = -1  # altered: N may be negative
    >>> sl.check(certificate)
    False
    """
    return refusal(certificate) == "" and "point" in certificate


def refusal(certificate: Any) -> str:
    """Return the reason why *certificate* does not prove its claim; an empty text if it does.

    A certificate that is a part of another one has no point: that one has it.
    """
    try:
        work = Work(budget(size(certificate)))
        check_form(certificate)
        check_proof(Known(certificate["claim"], work), certificate["proof"])
        if "point" in certificate:
            sizes.check_point(certificate["claim"], certificate["point"], certificate["evaluated"])
    except Refused as error:
        return str(error)
    except (RecursionError, ValueError) as error:  # nested too deeply for Python, or an int with too many digits
        return f"this is not a certificate: {error!r:.200}"
    return ""


def check_form(certificate: Any) -> None:
    """Refuse data that is not a sealed certificate, or whose claim refers to a missing name or number."""
    pointed = POINTED if type(certificate) is dict and "point" in certificate else {}
    members(claim=anything, proof=anything, seal=name, **pointed)(certificate, "the certificate")
    if certificate["seal"] != seal(certificate):
        raise Refused("the seal does not match: the certificate was altered")
    _proof(certificate["proof"], "proof")
    check_claim(certificate["claim"])


def budget(characters: int) -> int:
    """Return the most operations on terms that the check of a certificate with so many characters may take."""
    return LEAST_WORK + WORK_PER_CHARACTER * characters


def check_proof(known: Known, proof: dict[str, Any]) -> None:
    """Refuse a proof that does not prove the claim; its form has been checked by `check_form`."""
    take_all(known, proof["given"])
    readings.check_given(known)
    operations = [number for number, node in enumerate(known.claim["nodes"]) if "cases" in node]
    if len(operations) != len(proof["maps"]):
        raise Refused(f"the proof is about {len(proof['maps'])} maps, the claim has {len(operations)}")
    for number, block in zip(operations, proof["maps"], strict=True):
        if "alone" in block:  # nothing is known at first: the block takes from the claim what it needs
            place, block = Known(known.claim, known.work), block["alone"]
        else:
            place = known.fork()
        place.place = number
        check_block(place, block)
    for left, right, block in proof.get("parts", []):
        if left == right or max(left, right) >= len(known.claim["nodes"]):
            raise Refused(f"nodes {left} and {right} are no two parts of the sides")
        part = known.fork()
        part.sides = left, right
        check_block(part, block)
        known.equal.append((left, right))
    check_block(known, proof["sides"])


def check_block(known: Known, block: dict[str, Any]) -> None:
    """Check the steps of a block, and its end."""
    take_all(known, block["steps"])
    if "split" in block:
        w, yes, no = block["split"]
        for bound, branch in ((known.read(w), yes), (-1 - known.read(w), no)):
            supposed = known.fork()
            supposed.nonnegative.add(bound)
            check_block(supposed, branch)
    elif "masked" in block:
        for supposed, branch in zip(readings.suppositions(known), block["masked"], strict=True):
            check_block(supposed, branch)
    else:
        check_end(known, block)


def check_end(known: Known, block: dict[str, Any]) -> None:
    """Check the end of a block that has no branches, after its steps."""
    if "agree" in block:
        readings.check_agreement(known, *block["agree"])
    elif "meet" in block:
        readings.check_meeting(known, *block["meet"])
    elif "elements" in block:
        readings.check_equal_elements(known, *block["elements"])
    elif "case" in block:
        readings.check_case(known, *block["case"])
    elif not known.is_absurd():
        raise Refused("a block ends as absurd, but no known fact is false")


def take_all(known: Known, steps: Sequence[Any]) -> None:
    """Check steps in order, and add the facts that they prove."""
    for step in steps:
        take(known, step)


def take(known: Known, step: Sequence[Any]) -> None:
    """Check one step, and add the facts that it proves; its form has been checked by `RULES`."""
    rule, *parts = step
    known.work.spend(1)
    RULES[rule][0](known, *parts)


def cases(known: Known, goal: Any, w: Any, yes: list[Any], no: list[Any]) -> None:
    """``g >= 0`` both where ``w >= 0`` and where ``w < 0``."""
    g = known.read(goal)
    for bound, steps in ((known.read(w), yes), (-1 - known.read(w), no)):
        supposed = known.fork()
        supposed.nonnegative.add(bound)
        take_all(supposed, steps)
        if supposed.point != known.point:
            raise Refused("a coordinate is introduced in a case, where that is not allowed")
        if not supposed.is_absurd():
            supposed.need(supposed.reduce(g))
    known.nonnegative.add(g)


# ---------------------------------------------------------------------- the form of a proof


def _step(value: Any, place: str) -> None:
    rule = value[0] if type(value) is list and value else None
    if type(rule) is not str or rule not in RULES:
        raise Refused(f"there is no rule {rule!r:.80}")
    row(name, *RULES[rule][1:])(value, f"the rule {rule}")


def _block(value: Any, place: str) -> None:
    ends = [key for key in value if key != "steps"] if type(value) is dict else []
    if len(ends) != 1 or ends[0] not in ENDS:
        raise Refused(f"{place}: {ends!r:.80} is not one end of a block")
    members(steps=STEPS, **{ends[0]: ENDS[ends[0]]})(value, place)


def _map(value: Any, place: str) -> None:
    if type(value) is dict and "alone" in value:
        members(alone=_block)(value, place)
    else:
        _block(value, place)


def _proof(value: Any, place: str) -> None:
    parts = {"parts": PARTS} if type(value) is dict and "parts" in value else {}
    members(given=STEPS, maps=items(_map), sides=_block, **parts)(value, place)


END = one_of("below", "above", "empty")
PATH = items(row(index, optional(row(index, END))))
PAIRS = items(row(polynomial, polynomial))
STEPS = items(_step)
PARTS = items(row(index, index, _block))
ENDS: dict[str, Kind] = {
    "split": row(polynomial, _block, _block),
    "absurd": row(),
    "case": row(index, items(row(index, END))),
    "agree": row(PATH, PATH),
    "meet": row(PATH, PATH),
    "elements": row(PATH, PATH, index, items(polynomial)),
    "masked": row(_block, _block),
}
RULES: dict[str, tuple[Any, ...]] = {  # the function that checks a step, and the kinds of its parts
    "dim": (rules.dim, name),
    "assume": (rules.assume, index),
    "mean": (rules.mean, name, polynomial),
    "point": (readings.point,),
    "inside": (readings.inside, one_of(*readings.SIDES), PATH),
    "define": (rules.define, name, polynomial),
    "floor": (rules.floor, name, polynomial, polynomial),
    "max": (rules.maximum, name, polynomial),
    "lows": (rules.lows, polynomial, items(row(name, integer))),
    "combine": (rules.combine, polynomial, polynomial, PAIRS, PAIRS),
    "points": (
        points.points,
        polynomial,
        items(row(name, integer, integer)),
        items(row(name, polynomial, function)),
        items(polynomial),
    ),
    "cases": (cases, polynomial, polynomial, STEPS, STEPS),
    "equation": (rules.equation, polynomial, polynomial, PAIRS),
    "equal": (rules.equal, polynomial),
    "resolve": (rules.resolve, name),
    "solve": (rules.solve, name, polynomial),
    "rewrite": (rules.rewrite, integer, items(name), polynomial),
    "entry": (rules.entry, name, table, polynomial),
    "divide": (rules.divide, polynomial, polynomial, polynomial),
}
POINTED: dict[str, Kind] = {"point": sizes.POINT, "evaluated": sizes.EVALUATED}
