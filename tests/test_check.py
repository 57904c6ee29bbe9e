"""The checker: every rule where it applies and where its side condition fails, and data that is no certificate."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symlayout as sl
from symlayout import check as checker
from symlayout.check import Context, Refused, decode, encode, refusal, seal
from symlayout.polynomial import Poly, symbol

X, Y, Z, N, I = (symbol(name) for name in ("x", "y", "z", "n", "#0"))
NO_CERTIFICATE = "this is no certificate: "
OPEN = "the block ends in 'absurd', which is not shown"  # what is said of a block whose steps are all accepted


def data(value: Any) -> Any:
    """Return lists and tuples with the polynomials in them as data."""
    if isinstance(value, Poly):
        return encode(value)
    return [data(item) for item in value] if isinstance(value, list | tuple) else value


def case(*coords: Any, where: Sequence[Any] = (), fill: str | None = None, source: int = 0) -> dict[str, Any]:
    return {"source": source, "where": data(where), "coords": data(coords), "fill": fill}


def node(shape: Sequence[Any], *cases: dict[str, Any], inputs: Sequence[int] = (0,)) -> dict[str, Any]:
    return {"op": "an operation", "inputs": list(inputs), "shape": data(shape), "cases": list(cases)}


def claim(*nodes: dict[str, Any], shape: Sequence[Any] = (N,), **changes: Any) -> dict[str, Any]:
    """Return the claim that the last node is the last but one, or the input x if there is no other."""
    every = [{"input": "x", "shape": data(shape)}, *nodes]
    dims = [["x", 0, None, 1], ["y", 2, 9, 1], ["z", -3, None, 1], ["n", 0, None, 1]]
    sides = {"left": max(len(every) - 2, 0), "right": len(every) - 1}
    given = {"dims": dims, "symbols": [], "assumptions": [], "nodes": every, **sides, "trusted": False}
    return given | {key: data(value) for key, value in changes.items()}


def said(block: dict[str, Any], about: dict[str, Any]) -> str:
    """Return why a proof of a claim is refused."""
    certificate = {"claim": about, "proof": block}
    return refusal(json.loads(json.dumps({**certificate, "seal": seal(certificate)})))


def steps_said(*steps: Any, about: dict[str, Any] | None = None, dims: str = "xyzn") -> str:
    """Return why steps are refused, or `OPEN`; *dims* are introduced first."""
    first = [["dim", name] for name in dims]
    return said({"steps": [*first, *data(steps)], "absurd": []}, about or claim())


def known(*steps: Any, about: dict[str, Any] | None = None, dims: str = "xyzn") -> Context:
    """Return what is known after steps."""
    context = Context(about or claim())
    for step in [*(["dim", name] for name in dims), *data(steps)]:
        context.step(step)
    return context


def assuming(*assumptions: Any, **changes: Any) -> dict[str, Any]:
    return claim(assumptions=list(assumptions), **changes)


def given_that(*assumptions: Any) -> dict[str, Any]:
    """Return keywords for `known` and `steps_said`: a claim that assumes these; the first steps take them up."""
    return {"about": assuming(*assumptions)}


def taken(count: int) -> list[Any]:
    return [["assume", number] for number in range(count)]


# ---------------------------------------------------------------------- what the claim gives


def test_a_dim_is_within_its_bounds_and_a_multiple() -> None:
    about = claim(dims=[["x", -2, 5, 3], ["y", 0, None, 1]])
    context = known(about=about, dims="xy")
    assert context.nonnegative == {X + 2, 5 - X, Y}
    assert context.zero == {X - symbol("?x") * 3}
    assert context.symbols == {"x", "?x", "y"}


@pytest.mark.parametrize(
    ("steps", "dims", "reason"),
    [
        ([["dim", "x"]], [["x", 0, None, 1]], "the symbol x is not new"),
        ([], [["x", 0, None, 1], ["x", 0, None, 1]], NO_CERTIFICATE + "ValueError"),
        ([], [["y", 0, None, 1]], NO_CERTIFICATE + "ValueError"),
        ([], [["x", None, None, 1]], NO_CERTIFICATE + "TypeError"),
        ([], [["x", 0.0, None, 1]], NO_CERTIFICATE + "TypeError"),
        ([], [["x", 0, "9", 1]], NO_CERTIFICATE + "TypeError"),
        ([], [[7, 0, None, 1]], NO_CERTIFICATE + "ValueError"),
    ],
    ids=str,
)
def test_a_dim_that_is_not_declared_once_is_refused(steps: Any, dims: Any, reason: str) -> None:
    assert steps_said(*steps, about=claim(dims=dims), dims="x").startswith(reason)


def test_assumptions_are_taken_up_by_number() -> None:
    context = known(*taken(3), **given_that([">=", X - 3], ["==", X - Y], ["divides", X + 1, Y]))
    assert {X - 3} <= context.nonnegative
    assert context.zero == {X - Y, X + 1 - Y * symbol("?2")}


@pytest.mark.parametrize(
    ("assumptions", "reason"),
    [
        ([], NO_CERTIFICATE + "IndexError"),
        ([["<=", X]], "there is no relation '<='"),
        ([[">=", symbol("w")]], "w has names without a meaning"),
        ([["divides", X, symbol("w")]], "w has names without a meaning"),
        ([["divides", X]], NO_CERTIFICATE + "IndexError"),
    ],
    ids=str,
)
def test_what_is_not_assumed_is_refused(assumptions: Any, reason: str) -> None:
    assert steps_said(["assume", 0], about=assuming(*assumptions)).startswith(reason)


def test_one_assumption_of_divisibility_gives_one_quotient() -> None:
    assert steps_said(["assume", 0], ["assume", 0], **given_that(["divides", X, 2])) == "the symbol ?0 is not new"


def test_a_dim_of_the_claim_has_its_name_in_the_proof_to_itself() -> None:
    assert steps_said(["define", "x", 0], ["dim", "x"], dims="") == "the symbol x is not new"


DEFINED = {
    "quotient": ["w", "/", X, Y],
    "floor": ["w", "//", X, Y],
    "larger": ["w", "max", X, Y],
    "root": ["w", "sqrt", X, Y],
}


def meaning(form: str, value: Any, *assumptions: Any, before: Sequence[Any] = ()) -> str:
    about = assuming(*assumptions, symbols=[DEFINED[form]])
    return steps_said(*taken(len(assumptions)), *before, ["mean", "w", value], about=about)


@pytest.mark.parametrize(
    ("form", "value", "assumptions", "before"),
    [
        ("quotient", Z, [["==", Y * Z - X], [">=", Y - 1]], []),
        ("floor", Z, [[">=", X - Y * Z], [">=", Y * Z + Y - 1 - X]], []),
        ("larger", X, [[">=", X - Y]], []),
        ("larger", Y, [[">=", Y - X]], []),
        ("larger", X + symbol("m"), [], [["max", "m", Y - X]]),
        ("larger", Y + symbol("m"), [], [["max", "m", X - Y]]),
        ("larger", Z, [["==", X - 4], ["==", Y - 4], ["==", Z - 4]], [["equation", Z - X, 1, [[1, Z - 4], [-1, X - 4]]]]),
    ],
    ids=str,
)
def test_a_symbol_means_what_its_definition_determines(form: str, value: Any, assumptions: Any, before: Any) -> None:
    extra = [["combine", value - side, 1, [[value - Y - X, 1], [other, 1]], []] for side, other in ((X, Y), (Y, X))]
    if form != "larger" or not before:
        extra = []
    if before and before[0][0] == "max":  # x + max(0, y - x) is at least y by what a maximum is, and x by its sign
        extra = [["combine", e, 1, [[e, 1]], []] for e in (symbol("m"),)]
    if form == "larger" and value is Z:
        extra = [["combine", e, 1, [[0, 1]], [[1, Z - 4], [-1, other - 4]]] for e, other in ((Z - X, X), (Z - Y, Y))]
    assert meaning(form, value, *assumptions, before=[*before, *extra]) == OPEN
