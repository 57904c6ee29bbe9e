"""The checker: each rule where it applies and where its side condition fails, and data that is no certificate.

The claims are made for the purpose: what a rule needs is what the claim assumes, so that it can be left out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symlayout as sl
from symlayout import check as checker
from symlayout.check import Context, Refused, decode, encode, refusal, seal
from symlayout.polynomial import Extent, Poly, symbol

X, Y, Z, N, I, M, Q, W = (symbol(name) for name in ("x", "y", "z", "n", "#0", "m", "q", "w"))
NO_CERTIFICATE = "this is no certificate: "
NOT_TRUSTED = "it is not taken for granted that this case reads inside its source"
OPEN = "the block ends in 'absurd', which is not shown"  # what is said of a block whose steps are all accepted


def data(value: Any) -> Any:
    """Return a value with the polynomials in it as data."""
    if isinstance(value, Poly):
        return encode(value)
    if isinstance(value, dict):
        return {key: data(item) for key, item in value.items()}
    return [data(item) for item in value] if isinstance(value, list | tuple) else value


def case(*coords: Any, where: Sequence[Any] = (), fill: Any = None, source: int = 0) -> dict[str, Any]:
    return {"source": source, "where": list(where), "coords": list(coords), "fill": fill}


def node(shape: Sequence[Any], *cases: dict[str, Any], inputs: Sequence[int] = (0,)) -> dict[str, Any]:
    return {"op": "an operation", "inputs": list(inputs), "shape": list(shape), "cases": list(cases)}


def claim(*nodes: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the claim that the last two nodes are equal; the first is the input ``x[n]``."""
    every = [{"input": "x", "shape": [N]}, *nodes]
    dims = [["x", 0, None, 1], ["y", 2, 9, 1], ["z", -3, None, 1], ["n", 0, None, 1]]
    sides = {"left": max(len(every) - 2, 0), "right": len(every) - 1}
    about = {"dims": dims, "symbols": [], "assumptions": [], "nodes": every, **sides, "trusted": False}
    found: dict[str, Any] = data(about | changes)
    return found


def said(block: Any, about: Any) -> str:
    """Return why a proof of a claim is refused."""
    certificate = {"claim": about, "proof": data(block)}
    return refusal(json.loads(json.dumps({**certificate, "seal": seal(certificate)})))


def all_of(about: dict[str, Any]) -> list[Any]:
    """Return the steps that take up the dims and assumptions of a claim."""
    dims = [["dim", name] for name, *_ in about["dims"]]
    return dims + [["assume", number] for number in range(len(about["assumptions"]))]


def steps_said(*steps: Any, about: dict[str, Any] | None = None) -> str:
    """Return why steps are refused, or `OPEN`."""
    about = about or claim()
    return said({"steps": [*all_of(about), *steps], "absurd": []}, about)


def known(*steps: Any, about: dict[str, Any] | None = None) -> Context:
    """Return what is known after steps."""
    about = about or claim()
    context = Context(about)
    for step in data([*all_of(about), *steps]):
        context.step(step)
    return context


# ---------------------------------------------------------------------- rules and what each needs


@dataclass(frozen=True, slots=True)
class Rule:
    """Steps that are accepted where the claim assumes what is *given*, and what they show.

    ``given`` has what is said where an assumption is missing, if it is not that this very thing is not shown.
    """

    given: Sequence[tuple[Any, ...]]
    steps: Sequence[Any]
    shown: Sequence[Extent] = ()
    zero: Sequence[Extent] = ()
    about: dict[str, Any] = field(default_factory=dict)

    def claim(self, missing: int | None = None) -> dict[str, Any]:
        """Return the claim; instead of assumption number *missing* it assumes nothing."""
        given = [list(row[:2]) if k != missing else [">=", 0] for k, row in enumerate(self.given)]
        return claim(**{"assumptions": given, **self.about})


def defined(form: str) -> dict[str, Any]:
    return {"symbols": [["w", form, X, Y]]}


SQUARE = [["combine", Z * Z, 1, [[Z, Z]], []]]
SQUARE_BELOW = [["combine", Z * Z, 1, [[-1 - Z, -1 - Z], [-1 - Z, 2], [1, 1]], []]]

RULES = {
    "a quotient": Rule(
        [(">=", Y - 1), ("==", Y * Z - X)], [["mean", "w", Z]], about=defined("/"),
    ),
    "a floor's value": Rule(
        [(">=", X - Y * Z), (">=", Y * Z + Y - 1 - X)], [["mean", "w", Z]], about=defined("//"),
    ),
    "the left is larger": Rule([(">=", X - Y)], [["mean", "w", X]], about=defined("max")),
    "the right is larger": Rule([(">=", Y - X)], [["mean", "w", Y]], about=defined("max")),
    "the larger equals the left": Rule(
        [(">=", Z - Y), ("==", Z - X, "z - x >= 0 is not shown")], [["mean", "w", Z]], about=defined("max")
    ),
    "the larger equals the right": Rule(
        [(">=", Z - X), ("==", Z - Y, "z - y >= 0 is not shown")], [["mean", "w", Z]], about=defined("max")
    ),
    "the larger is the left and an excess": Rule([], [["max", "m", Y - X], ["mean", "w", X + M]], about=defined("max")),
    "the larger is the right and an excess": Rule([], [["max", "m", X - Y], ["mean", "w", Y + M]], about=defined("max")),
    "a point": Rule(
        [("==", X - Y)], [["point"]], [I, X - 1 - I],
        about={"nodes": [{"input": "x", "shape": [X]}, {"input": "x", "shape": [Y]}], "right": 1},
    ),
    "a new name": Rule([], [["define", "w", X * Y - 2]], zero=[W - X * Y + 2]),
    "a floor": Rule([(">=", Y - 1)], [["floor", "q", X, Y]], [X - Y * Q, Y * Q + Y - 1 - X]),
    "a maximum": Rule([], [["max", "m", Z]], [M, M - Z]),
    "lower bounds": Rule(
        [(">=", X - 5)], [["lows", X * Y - 10, [["x", 5], ["y", 2]]]], [X * Y - 10],
    ),
    "a combination": Rule(
        [(">=", Y - 1), (">=", X - 1), (">=", N - 1), ("==", Y * Z + Y - 1 - (X - 1) * (N - 1))],
        [["combine", Z, Y, [[X - 1, N - 1]], [[1, Y * Z + Y - 1 - (X - 1) * (N - 1)]]]],
        [Z],
    ),
    "a multiple of an equation": Rule(
        [("==", X - Z)], [["combine", X * X - Z * X + N, 1, [[N, 1]], [[X, X - Z]]]], [X * X - Z * X + N],
    ),
    "an equation": Rule(
        [(">=", Y - 1), ("==", Y * Z - X), ("==", X)],
        [["equation", Z, Y, [[1, Y * Z - X], [1, X]]]],
        zero=[Z],
    ),
    "both signs": Rule([(">=", Z), (">=", -Z)], [["equal", Z]], zero=[Z]),
    "two cases": Rule([], [["cases", Z * Z, Z, SQUARE, SQUARE_BELOW]], [Z * Z]),
    "a case that cannot be": Rule(
        [(">=", 2 * Z - 2 * X - 1, "2*z - 2*x - 1 >= 0 is not shown")],
        [["cases", Z - X, Z - X, [], [["combine", -3, 1, [[-1 - Z + X, 2], [2 * Z - 2 * X - 1, 1]], []]]]],
        [Z - X],
    ),
    "a maximum where it is not 0 by its value": Rule(
        [(">=", Z, "-z >= 0 is not shown")], [["max", "m", Z], ["resolve", "m"]], zero=[M - Z]
    ),
    "a maximum where it is 0": Rule([(">=", -Z)], [["max", "m", Z], ["resolve", "m"]], zero=[M]),
    "a maximum that is at least 1": Rule(
        [(">=", Z - 1)],
        [["max", "m", Z], ["combine", M - 1, 1, [[M - Z, 1], [Z - 1, 1]], []], ["resolve", "m"]],
        zero=[M - Z],
    ),
    "a symbol solved for": Rule([("==", X - Y - 1)], [["solve", "x", Y + 1]], [Y + 1], [0]),
    "a monomial rewritten": Rule([("==", X * Y - 6)], [["rewrite", ["y", "x"], 6]], zero=[0]),
    "a quotient of the two sides": Rule(
        [(">=", X - Y * Z), (">=", Y * Z + Y - 1 - X)], [["divide", X, Y, Z]],
    ),
}  # fmt: skip
RULE_NAMES = pytest.mark.parametrize("name", RULES)


@RULE_NAMES
def test_a_rule_shows_what_it_says(name: str) -> None:
    rule = RULES[name]
    assert steps_said(*rule.steps, about=rule.claim()) == OPEN
    before, after = (known(*steps, about=rule.claim()) for steps in (rule.steps[:-1], rule.steps))
    assert after.nonnegative - before.nonnegative == set(rule.shown)
    assert after.zero - before.zero == set(rule.zero)


MISSING = [(name, k) for name, rule in RULES.items() for k in range(len(rule.given))]


@pytest.mark.parametrize(("name", "missing"), MISSING)
def test_a_rule_is_refused_where_one_thing_it_needs_is_not_known(name: str, missing: int) -> None:
    rule = RULES[name]
    relation, e, *reason = rule.given[missing]
    expected = reason[0] if reason else f"{e} {relation} 0 is not shown"
    assert steps_said(*rule.steps, about=rule.claim(missing)) == expected
