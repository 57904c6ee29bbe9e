"""The checker's rules: each where it applies and where its side condition fails; and data that is no certificate.

What the two sides of a claim read is in `tests.proof.certificate.test_checker_sides`.
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
from symlayout.algebra.polynomial import Extent, Poly, symbol
from symlayout.proof.certificate.checker import Context, Refused, decode, encode, refusal, seal
from tests.support.certificates.handmade import (
    CHECKER,
    I0,
    NO_CERTIFICATE,
    OPEN,
    M,
    N,
    Q,
    T,
    U,
    W,
    X,
    Y,
    Z,
    all_of,
    at,
    claim,
    data,
    known,
    reader,
    said,
    steps_said,
)
from tests.support.effort import examples

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
    "the larger is the left and an excess": Rule(
        [], [["max", "m", Y - X], ["mean", "w", X + M]], about=defined("max")
    ),
    "the larger is the right and an excess": Rule(
        [], [["max", "m", X - Y], ["mean", "w", Y + M]], about=defined("max")
    ),
    "a point": Rule(
        [("==", X - Y)], [["point"]], [I0, X - 1 - I0],
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


REFUSED: dict[str, tuple[Sequence[Any], str]] = {
    # dims, assumptions, meanings
    "a dim twice": ([["dim", "x"]], "the symbol x is not new"),
    "a dim that is not declared": ([["dim", "w"]], NO_CERTIFICATE + "ValueError"),
    "an assumption that there is not": ([["assume", 0]], NO_CERTIFICATE + "IndexError"),
    "a meaning without a definition": ([["mean", "w", X]], NO_CERTIFICATE + "ValueError"),
    "a meaning for a dim": ([["mean", "x", X]], "x has a meaning already"),
    # new symbols
    "a name for what is not known": ([["define", "w", T]], "t has symbols that nothing introduced"),
    "a name that is not new": ([["define", "x", Y]], "the symbol x is not new"),
    "a name that is no text": ([["define", 5, Y]], "the symbol 5 is not new"),
    "a floor that is not new": ([["floor", "x", X, 2]], "the symbol x is not new"),
    "a floor by 0": ([["floor", "q", X, 0]], "-1 >= 0 is not shown"),
    "a floor by less than 0": ([["floor", "q", X, -2]], "-3 >= 0 is not shown"),
    "a floor by what may be 0": ([["floor", "q", X, N]], "n - 1 >= 0 is not shown"),
    "a maximum that is not new": ([["max", "x", X]], "the symbol x is not new"),
    # inequalities
    "a negative coefficient": ([["lows", 9 - X, [["x", 0]]]], "9 - x >= 0 does not follow from the lower bounds"),
    "a negative constant": ([["lows", X - 1, [["x", 0]]]], "x - 1 >= 0 does not follow from the lower bounds"),
    "a negative number": ([["lows", -1, []]], "-1 >= 0 does not follow from the lower bounds"),
    "a symbol without a lower bound": (
        [["lows", X + Y, [["x", 0]]]], "x + y >= 0 does not follow from the lower bounds",
    ),
    "a lower bound that is too high": ([["lows", X - 1, [["x", 1]]]], "x - 1 >= 0 is not shown"),
    "a product of what may be negative": (
        [["lows", Z * X, [["z", -3], ["x", 0]]]], "x*z >= 0 does not follow from the lower bounds",
    ),
    "a scale of 0": ([["combine", X - 5, 0, [], []]], "-1 >= 0 is not shown"),
    "a scale below 0": ([["combine", -X, -1, [[X, 1]], [[1, 2]]]], "-2 >= 0 is not shown"),
    "a scale that may be 0": ([["combine", X - 5, X, [], []]], "x - 1 >= 0 is not shown"),
    "an identity with a rest": ([["combine", X - 1, 1, [[X, 1]], []]], "the identity leaves -1"),
    "an identity with less": ([["combine", X + 1, 1, [[X, 1]], []]], "the identity leaves 1"),
    "a scale of 2 for 2*g": ([["combine", X - 1, 2, [[X, 2]], []]], "the identity leaves -1"),
    "a left factor that may be negative": ([["combine", X * Z, 1, [[Z, X]], []]], "z >= 0 is not shown"),
    "a right factor that may be negative": ([["combine", X * Z, 1, [[X, Z]], []]], "z >= 0 is not shown"),
    "a multiple of what is not 0": ([["combine", X - Z, 1, [[X, 1]], [[-1, Z]]]], "z == 0 is not shown"),
    "a product of one": ([["combine", X, 1, [[X]], []]], NO_CERTIFICATE + "ValueError"),
    # equations
    "an equation of what is not 0": ([["equation", X, 1, [[1, X]]]], "x == 0 is not shown"),
    "an equation with a rest": ([["equation", X, 1, []]], "the identity leaves x"),
    "an equation by 0": ([["equation", X, 0, []]], "-1 >= 0 is not shown"),
    "an equation by what may be 0": ([["equation", X, N, []]], "n - 1 >= 0 is not shown"),
    "an equation for what is not negative only": ([["equal", X]], "-x >= 0 is not shown"),
    "an equation for what is not positive only": (
        [["combine", -Y + 9, 1, [[9 - Y, 1]], []], ["equal", Y - 9]], "y - 9 >= 0 is not shown",
    ),
    # equations in use
    "a symbol by itself": ([["solve", "x", X]], "x cannot be written as x"),
    "a symbol by what has it": (
        [["define", "w", W]], "w has symbols that nothing introduced",
    ),
    "a symbol that there is not": ([["solve", "w", 0]], "w cannot be written as 0"),
    "a symbol by what it is not": ([["solve", "x", Y]], "x - y == 0 is not shown"),
    "a symbol twice": (
        [["define", "w", X], ["solve", "w", X], ["solve", "w", X]], "w cannot be written as x",
    ),
    "two symbols by each other": (
        [["define", "w", X], ["solve", "w", X], ["solve", "x", W]], "x cannot be written as x",
    ),
    "a monomial by what it is not": ([["rewrite", ["x", "y"], 6]], "x*y - 6 == 0 is not shown"),
    "a monomial of what there is not": ([["rewrite", ["t"], T]], "t has symbols that nothing introduced"),
    # maxima and floors
    "a maximum whose sign is not known": ([["max", "m", Z], ["resolve", "m"]], "-z >= 0 is not shown"),
    "a maximum that there is not": ([["resolve", "x"]], NO_CERTIFICATE + "KeyError"),
    "a quotient that is too small": ([["divide", 7, 2, 2]], "-2 >= 0 is not shown"),
    "a quotient that is too large": ([["divide", 7, 2, 4]], "-1 >= 0 is not shown"),
    "a quotient by 0": ([["divide", 0, 0, 0]], "-1 >= 0 is not shown"),
    "a quotient by less than 0": ([["divide", 6, -2, -3]], "-3 >= 0 is not shown"),
    # cases
    "a case without a reason": ([["cases", Z * Z, Z, [], SQUARE_BELOW]], "z**2 >= 0 is not shown"),
    "the other case without a reason": ([["cases", Z * Z, Z, SQUARE, []]], "z**2 >= 0 is not shown"),
    "a case that is told apart by too much": (
        [["cases", Z, Z, [], [["combine", Z, 1, [[-Z, 1]], []]]]], "-z >= 0 is not shown",
    ),
    "what one case shows is not known after it": (
        [["cases", Z * Z, Z, [*SQUARE, ["combine", Z + 1, 1, [[Z, 1], [1, 1]], []]], SQUARE_BELOW], ["equal", Z + 1]],
        "z + 1 >= 0 is not shown",
    ),
    "what one case names is not known after it": (
        [["cases", X, Z, [["define", "w", X]], []], ["equal", W]], "w has symbols that nothing introduced",
    ),
    # steps
    "no rule": ([["believe", X]], "there is no rule 'believe'"),
    "a part of the checker that is no rule": ([["balance", X, []]], "there is no rule 'balance'"),
    "a rule without its parts": ([["combine", X]], NO_CERTIFICATE + "TypeError"),
    "a step of no parts": ([[]], NO_CERTIFICATE + "ValueError"),
    "a rule that is no text": ([[7]], NO_CERTIFICATE + "AttributeError"),
    # polynomials
    "a term of 0": ([["define", "w", [[0, "x"]]]], "[[0, 'x']] is no polynomial"),
    "a monomial twice": (
        [["define", "w", [[1, "x", "y"], [2, "y", "x"]]]], "[[1, 'x', 'y'], [2, 'y', 'x']] is no polynomial",
    ),
    "a coefficient that is no number": ([["define", "w", [[True, "x"]]]], "[[True, 'x']] is no polynomial"),
    "a fraction": ([["define", "w", [[0.5, "x"]]]], "[[0.5, 'x']] is no polynomial"),
    "a number that is none": ([["define", "w", 1.0]], NO_CERTIFICATE + "TypeError"),
    "a truth value for a number": ([["define", "w", True]], NO_CERTIFICATE + "TypeError"),
    "a term without a coefficient": ([["define", "w", [[]]]], NO_CERTIFICATE + "ValueError"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_step_whose_condition_fails_is_refused(name: str) -> None:
    steps, reason = REFUSED[name]
    found = steps_said(*steps)
    assert found.startswith(reason) if reason.startswith(NO_CERTIFICATE) else found == reason


@pytest.mark.parametrize(
    ("changes", "step", "reason"),
    [
        ({"dims": [["x", 0, None, 1]] * 2}, ["point"], NO_CERTIFICATE + "ValueError"),
        ({"dims": [["x", None, None, 1]]}, ["point"], NO_CERTIFICATE + "TypeError"),
        ({"dims": [["x", 0.0, None, 1]]}, ["point"], NO_CERTIFICATE + "TypeError"),
        ({"dims": [["x", 0, "9", 1]]}, ["point"], NO_CERTIFICATE + "TypeError"),
        ({"assumptions": [["<=", X]]}, ["point"], "there is no relation '<='"),
        ({"assumptions": [[">=", W]]}, ["point"], "w has names without a meaning"),
        ({"assumptions": [["divides", X, W]]}, ["point"], "w has names without a meaning"),
        ({"assumptions": [["divides", X]]}, ["point"], NO_CERTIFICATE + "IndexError"),
        ({"assumptions": [["divides", X, 2]]}, ["assume", 0], "the symbol ?0 is not new"),
        ({"symbols": [["w", "sqrt", X, Y]]}, ["mean", "w", X], "there is no form 'sqrt'"),
        ({"symbols": [["w", "max", X, Y]]}, ["mean", "w", X], "x - y >= 0 is not shown"),
        ({"symbols": [["w", "max", X, N]]}, ["mean", "w", X + N], "n + x is not shown to be max(x, n)"),
        ({"symbols": [["w", "/", X, 0]]}, ["mean", "w", X], "-1 >= 0 is not shown"),
        ({"symbols": [["w", "/", X, 1]]}, ["mean", "w", X - 1], "-1 == 0 is not shown"),
        ({"symbols": [["w", "//", X, 1]]}, ["mean", "w", X - 1], "-1 >= 0 is not shown"),
        ({"symbols": [["w", "//", X, 1]]}, ["mean", "w", X + 1], "-1 >= 0 is not shown"),
        ({"symbols": [["w", "/", T, 1]]}, ["mean", "w", X], "t has names without a meaning"),
        ({"symbols": [["w", "/", X, 1]] * 2}, ["mean", "w", X], NO_CERTIFICATE + "ValueError"),
        ({"symbols": [["x", "max", 3, 5]]}, ["mean", "x", 5], "x has a meaning already"),
    ],
    ids=str,
)  # fmt: skip
def test_what_the_claim_does_not_give_is_refused(changes: Any, step: Any, reason: str) -> None:
    found = steps_said(step, about=claim(**changes))
    assert found.startswith(reason) if reason.startswith(NO_CERTIFICATE) else found == reason


def test_a_symbol_means_one_thing() -> None:
    about = claim(symbols=[["w", "//", X, 1]])
    assert steps_said(["mean", "w", X], about=about) == OPEN
    assert steps_said(["mean", "w", X], ["mean", "w", X], about=about) == "w has a meaning already"
    before = said({"steps": [["mean", "x", 5]], "absurd": []}, claim(symbols=[["x", "max", 3, 5]]))
    assert before == "x has a meaning already"


@pytest.mark.parametrize(
    ("maximum", "value"),
    [
        (Z, X + M),  # x and an excess, but not that of y over x
        (Y - X, X + N),  # the excess of y over x is known, but this is another
    ],
    ids=str,
)
def test_what_is_at_least_both_is_not_the_larger(maximum: Extent, value: Extent) -> None:
    about = claim(symbols=[["w", "max", X, Y]], assumptions=[[">=", X - Y]])
    steps = [["max", "m", maximum], ["combine", value - Y, 1, [[value - X, 1], [X - Y, 1]], []], ["mean", "w", value]]
    assert steps_said(*steps, about=about) == f"{value} is not shown to be max(x, y)"
    assert steps_said(*steps[:-1], about=about) == OPEN


def test_what_the_claim_gives_is_known() -> None:
    about = claim(
        dims=[["x", -2, 5, 3], ["y", 0, None, 1]],
        assumptions=[[">=", X - 3], ["==", X - Y], ["divides", X + 1, Y]],
    )
    context = known(about=about)
    assert context.nonnegative == {X + 2, 5 - X, Y, X - 3}
    assert context.zero == {X - symbol("?x") * 3, X - Y, X + 1 - Y * symbol("?2")}
    assert context.symbols == {"x", "?x", "y", "?2"}
    assert context.meaning == {"x": X, "y": Y}


# ---------------------------------------------------------------------- equations in use


def test_a_solved_symbol_is_written_out_everywhere() -> None:
    about = claim(
        assumptions=[["==", X - Z - 1], ["==", Z - N], [">=", X - 7], ["==", X * Y - 8], [">=", X * Y - N]],
        symbols=[["w", "/", Z, 1]],
    )
    steps = [
        ["max", "m", Z], ["mean", "w", Z], ["divide", Z * 2, 2, Z], ["solve", "x", Z + 1],
        ["rewrite", ["y", "z"], 8 - Y], ["solve", "z", N],
    ]  # fmt: skip
    context = known(*steps, about=about)
    assert {N - 6, 8 - N} <= context.nonnegative
    assert all(e.names <= {"n", "y", "m", "u"} for e in context.nonnegative | context.zero if isinstance(e, Poly))
    assert context.solved == {"x": N + 1, "z": N}
    assert context.maxima == {"m": N}
    assert context.meaning == {"x": N + 1, "y": Y, "z": N, "n": N, "u": U, "w": N}
    assert context.floors == {(2 * N, 2): N}
    assert context.rules == []
    assert context.read(data(X * Z)) == (N + 1) * N


def test_a_rewritten_monomial_is_written_out_everywhere() -> None:
    context = known(
        ["rewrite", ["y", "x"], N], ["solve", "n", 4], about=claim(assumptions=[["==", X * Y - N], ["==", N - 4]])
    )
    assert context.rules == [(("x", "y"), 4)]
    assert context.read(data(X * X * Y * Y + X * 3)) == 16 + X * 3


def test_rewriting_in_circles_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHECKER, "_REWRITES", 5)
    context = known(["rewrite", ["x"], X * X], about=claim(assumptions=[["==", X - X * X]]))
    assert context.read(data(X)) == symbol("x") * X * X * X * X * X


def test_a_degree_does_not_double_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    squares = [
        step
        for k in range(12)
        for step in (["define", f"a{k + 1}", [[1, f"a{k}", f"a{k}"]]], ["solve", f"a{k + 1}", [[1, f"a{k}", f"a{k}"]]])
    ]
    assert steps_said(["define", "a0", X], *squares) == "a polynomial has a degree beyond 200"
    monkeypatch.setattr(CHECKER, "_MAX_DEGREE", 3)
    assert steps_said(["define", "w", X * Y * Z]) == OPEN
    assert steps_said(["define", "w", X * Y * Z * N]) == "a polynomial has a degree beyond 3"
    assert steps_said(["define", "w", X * Y * Z * N + 1]) == "a polynomial has a degree beyond 3"


# ---------------------------------------------------------------------- blocks


def test_a_block_has_one_end() -> None:
    steps = [*all_of(claim()), ["point"]]
    agreed = {"steps": steps, "agree": [[], []]}
    assert said(agreed, claim()) == ""
    assert said({"steps": steps}, claim()).startswith(NO_CERTIFICATE + "ValueError")
    assert said({**agreed, "absurd": []}, claim()).startswith(NO_CERTIFICATE + "ValueError")
    assert said({"agree": [[], []]}, claim()).startswith(NO_CERTIFICATE + "KeyError")
    for known_to_be in (0, -1):
        about = claim(assumptions=[[">=", known_to_be]])
        end = {"steps": [*all_of(about), ["point"]], "believe": []}
        assert said(end, about) == "the block ends in 'believe', which is not shown"


@pytest.mark.parametrize(
    ("assumption", "is_absurd"),
    [([">=", -1], True), ([">=", 0], False), (["==", 1], True), (["==", -1], True), (["==", 0], False)],
    ids=str,
)
def test_a_block_is_absurd_where_a_false_constant_is_known(assumption: Any, is_absurd: bool) -> None:
    assert (steps_said(about=claim(assumptions=[assumption])) == "") == is_absurd


MEET = {"steps": [["point"]], "agree": [[], []]}


def split(w: Any, yes: Any, no: Any, **changes: Any) -> str:
    about = claim(**changes)
    return said({"steps": all_of(about), "split": [w, yes, no]}, about)


def test_both_branches_of_a_split_are_checked_with_what_they_suppose() -> None:
    absurd: dict[str, Any] = {"steps": [], "absurd": []}
    assert split(Z, MEET, MEET) == ""
    assert split(Z, MEET, absurd) == OPEN
    assert split(Z, absurd, MEET) == OPEN
    assert split(Z, absurd, MEET, assumptions=[[">=", -1 - Z]]) == OPEN
    excluded = {"steps": [["combine", -1, 1, [[Z, 1], [-1 - Z, 1]], []]], "absurd": []}
    assert split(Z, excluded, MEET, assumptions=[[">=", -1 - Z]]) == ""
    assert split(Z, MEET, excluded, assumptions=[[">=", Z]]) == ""
    assert split(Z, MEET, excluded, assumptions=[[">=", Z + 1]]) == "z >= 0 is not shown"
    assert split(Z, excluded, MEET, assumptions=[[">=", -Z]]) == "-z - 1 >= 0 is not shown"
    assert split(T, MEET, MEET) == "t has symbols that nothing introduced"


def test_a_proof_is_not_nested_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHECKER, "_MAX_DEPTH", 3)
    about = claim(nodes=[{"input": "x", "shape": []}], dims=[])
    for depth, reason in ((3, ""), (4, "the proof is nested too deeply")):
        met: dict[str, Any] = {"steps": [["point"]], "agree": [[], []]}
        block = met
        for _ in range(depth):
            block = {"steps": [], "split": [0, block, {"steps": [], "absurd": []}]}
        assert said(block, about) == reason
        block = met
        for _ in range(depth):
            block = {"steps": [], "masked": [met, block]}
        assert said(block, about) == reason


# ---------------------------------------------------------------------- data that is no certificate

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda items: st.lists(items, max_size=4) | st.dictionaries(st.text(max_size=8), items, max_size=4),
    max_leaves=12,
)
NAMES = ["dim", "assume", "mean", "point", "define", "floor", "max", "lows", "combine", "cases", "equation", "equal"]
NAMES += ["resolve", "solve", "rewrite", "divide", "inside"]
PARTS = st.sampled_from([0, 1, -1, "x", "n", [[1, "x"]], [[1, "n"], [-1]], [[0, None]], [], None]) | JSON


@given(JSON)
def test_a_value_of_any_kind_is_no_certificate(value: Any) -> None:
    assert not sl.check(value)
    assert refusal(value)


@given(JSON, JSON)
def test_a_claim_and_a_proof_of_any_kind_are_no_certificate(about: Any, block: Any) -> None:
    for parts in ({"claim": about, "proof": block}, {"claim": claim(), "proof": block}, {"claim": about, "proof": {}}):
        assert refusal({**parts, "seal": seal(parts)})


@settings(max_examples=examples(300))
@given(st.sampled_from(NAMES), st.lists(PARTS, max_size=4))
def test_a_step_of_any_parts_does_not_show_what_is_false(name: str, parts: list[Any]) -> None:
    assert steps_said([name, *parts])


@given(st.sampled_from(["dims", "symbols", "assumptions", "nodes", "left", "right", "trusted"]), PARTS)
def test_a_claim_with_a_part_of_any_kind_raises_nothing(key: str, value: Any) -> None:
    about = {**claim(reader(at(Z, fill="0"))), key: value}
    ends: list[dict[str, Any]] = [
        {"agree": [[], [[0, None]]]},
        {"absurd": []},
        {"masked": [{"steps": [], "absurd": []}] * 2},
    ]
    for end in ends:
        certificate = {"claim": about, "proof": {"steps": [["point"], ["dim", "x"], ["assume", 0]], **end}}
        assert refusal({**certificate, "seal": seal(certificate)})


@pytest.mark.parametrize(
    "value",
    [{1, 2}, object(), {"claim": {1}, "proof": {}, "seal": ""}, {"claim": 0, "proof": 0, "seal": 0, "more": 0}],
    ids=["a set", "an object", "a claim that is a set", "parts that are numbers"],
)
def test_what_is_not_json_is_no_certificate(value: Any) -> None:
    assert refusal(value)


@pytest.mark.parametrize("depth", [500, 5000, 200_000])
def test_data_that_is_nested_deeply_is_refused(depth: int) -> None:
    nested: Any = []
    for _ in range(depth):
        nested = [nested]
    assert refusal({"claim": claim(), "proof": nested, "seal": "0"})
    for step in (["define", "w", nested], [nested], ["cases", X, Z, nested, []]):
        with pytest.raises((Refused, *MALFORMED)):
            known(step)
    expression: Any = ["axis", 0]
    for _ in range(depth):
        expression = ["-", ["extent", 0], expression]
    with pytest.raises((Refused, RecursionError)):
        Context(claim())._value(expression, [I0], 0)


MALFORMED = (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError)


def test_polynomials_are_written_and_read() -> None:
    for e in (0, -7, X, X * X * Y - 3 * X + 5, -X):
        assert decode(json.loads(json.dumps(encode(e)))) == e
    assert encode(X * Y - 2) == [[-2], [1, "x", "y"]]
    assert decode([]) == 0
    assert decode([[4]]) == 4
