"""The checker's rules: each where it applies and where its side condition fails; and data that is no certificate.

What the two sides of a claim read is in `tests.proof.certificate.test_checker_sides`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from symlayout.algebra.polynomial import Extent, symbol
from tests.support.certificates.handmade import (
    I0,
    OPEN,
    M,
    N,
    Q,
    T,
    W,
    X,
    Y,
    Z,
    claim,
    known,
    steps_said,
    text,
)


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
        [(">=", Z - Y), ("==", Z - X, "-x + z >= 0 is not shown")], [["mean", "w", Z]], about=defined("max")
    ),
    "the larger equals the right": Rule(
        [(">=", Z - X), ("==", Z - Y, "-y + z >= 0 is not shown")], [["mean", "w", Z]], about=defined("max")
    ),
    "the larger is the left and an excess": Rule(
        [], [["max", "m", Y - X], ["mean", "w", X + M]], about=defined("max")
    ),
    "the larger is the right and an excess": Rule(
        [], [["max", "m", X - Y], ["mean", "w", Y + M]], about=defined("max")
    ),
    "a point": Rule(
        [("==", X - Y)], [["point"]], [I0, X - 1 - I0],
        about={"nodes": [{"input": "x", "shape": [X]}, {"input": "y", "shape": [Y]}], "right": 1},
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
        [(">=", 2 * Z - 2 * X - 1, "-2*x + 2*z - 1 >= 0 is not shown")],
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
    "a monomial rewritten": Rule([("==", X * Y - 6)], [["rewrite", 1, ["y", "x"], 6]], zero=[0]),
    "a multiple rewritten": Rule([("==", X * 2 - Y * Z)], [["rewrite", 2, ["x"], Y * Z]], zero=[0]),
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
    expected = reason[0] if reason else f"{text(e)} {relation} 0 is not shown"
    assert steps_said(*rule.steps, about=rule.claim(missing)) == expected


REFUSED: dict[str, tuple[Sequence[Any], str]] = {
    # dims, assumptions, meanings
    "a dim twice": ([["dim", "x"]], "the symbol x is not new"),
    "a dim that is not declared": ([["dim", "w"]], "w is not one of the claim's dims"),
    "an assumption that there is not": ([["assume", 0]], "there is no assumption 0"),
    "a meaning without a definition": ([["mean", "w", X]], "w is not one of the claim's symbols"),
    "a meaning for a dim": ([["mean", "x", X]], "x is not one of the claim's symbols"),
    # new symbols
    "a name for what is not known": ([["define", "w", T]], "t has symbols that nothing introduced"),
    "a name that is not new": ([["define", "x", Y]], "the symbol x is not new"),
    "a name that is no text": ([["define", 5, Y]], "the rule define: 5 is not a name"),
    "a floor that is not new": ([["floor", "x", X, 2]], "the symbol x is not new"),
    "a floor by 0": ([["floor", "q", X, 0]], "-1 >= 0 is not shown"),
    "a floor by less than 0": ([["floor", "q", X, -2]], "-3 >= 0 is not shown"),
    "a floor by what may be 0": ([["floor", "q", X, N]], "n - 1 >= 0 is not shown"),
    "a maximum that is not new": ([["max", "x", X]], "the symbol x is not new"),
    # inequalities
    "a negative coefficient": ([["lows", 9 - X, [["x", 0]]]], "-x + 9 >= 0 does not follow from the lower bounds"),
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
    "a product of one": ([["combine", X, 1, [[X]], []]], "the rule combine: [[[1, 'x']]] is not a list of 2"),
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
    "a symbol by itself": ([["solve", "x", X]], "x cannot be replaced by x"),
    "a symbol by what has it": (
        [["define", "w", W]], "w has symbols that nothing introduced",
    ),
    "a symbol that there is not": ([["solve", "w", 0]], "w cannot be replaced by 0"),
    "a symbol by what it is not": ([["solve", "x", Y]], "x - y == 0 is not shown"),
    "a symbol twice": (
        [["define", "w", X], ["solve", "w", X], ["solve", "w", X]], "w cannot be replaced by x",
    ),
    "two symbols by each other": (
        [["define", "w", X], ["solve", "w", X], ["solve", "x", W]], "x cannot be replaced by x",
    ),
    "a monomial by what it is not": ([["rewrite", 1, ["x", "y"], 6]], "x*y - 6 == 0 is not shown"),
    "a multiple by what it is not": ([["rewrite", 2, ["x"], Y]], "2*x - y == 0 is not shown"),
    "no multiple of a monomial": ([["rewrite", 0, ["x"], 0]], "0 times a monomial cannot be replaced"),
    "a monomial of what there is not": ([["rewrite", 1, ["t"], T]], "t has symbols that nothing introduced"),
    # maxima and floors
    "a maximum whose sign is not known": ([["max", "m", Z], ["resolve", "m"]], "-z >= 0 is not shown"),
    "a maximum that there is not": ([["resolve", "x"]], "x is not a maximum"),
    "a quotient that is too small": ([["divide", 7, 2, 2]], "-2 >= 0 is not shown"),
    "a quotient that is too large": ([["divide", 7, 2, 4]], "-1 >= 0 is not shown"),
    "a quotient by 0": ([["divide", 0, 0, 0]], "-1 >= 0 is not shown"),
    "a quotient by less than 0": ([["divide", 6, -2, -3]], "-3 >= 0 is not shown"),
    # cases
    "a case without a reason": ([["cases", Z * Z, Z, [], SQUARE_BELOW]], "z*z >= 0 is not shown"),
    "the other case without a reason": ([["cases", Z * Z, Z, SQUARE, []]], "z*z >= 0 is not shown"),
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
    "a rule without its parts": ([["combine", X]], "the rule combine: ['combine', [[1, 'x']]] is not a list of 5"),
    "a step of no parts": ([[]], "there is no rule None"),
    "a rule that is no text": ([[7]], "there is no rule 7"),
    # polynomials
    "a term of 0": ([["define", "w", [[0, "x"]]]], "[[0, 'x']] is not a polynomial"),
    "a monomial twice": (
        [["define", "w", [[1, "x", "y"], [2, "y", "x"]]]], "[[1, 'x', 'y'], [2, 'y', 'x']] is not a polynomial",
    ),
    "a coefficient that is no number": ([["define", "w", [[True, "x"]]]], "the rule define: True is not an integer"),
    "a fraction": ([["define", "w", [[0.5, "x"]]]], "a float is not part of a certificate"),
    "a number that is none": ([["define", "w", 1.0]], "a float is not part of a certificate"),
    "a truth value for a number": ([["define", "w", True]], "the rule define: True is not a list"),
    "a term without a coefficient": ([["define", "w", [[]]]], "the rule define: [] is not a term"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_step_whose_condition_fails_is_refused(name: str) -> None:
    steps, reason = REFUSED[name]
    found = steps_said(*steps)
    assert found == reason


@pytest.mark.parametrize(
    ("changes", "step", "reason"),
    [
        ({"dims": [["x", 0, None, 1]] * 2}, ["point"], "the name x stands for two things"),
        ({"dims": [["x", "0", None, 1]]}, ["point"], "claim.dims: '0' is not an integer"),
        ({"dims": [["x", 0.0, None, 1]]}, ["point"], "a float is not part of a certificate"),
        ({"dims": [["x", 0, "9", 1]]}, ["point"], "claim.dims: '9' is not an integer"),
        ({"assumptions": [["<=", X]]}, ["point"], "claim.assumptions: '<=' is not one of divides, >=, =="),
        ({"assumptions": [[">=", W]]}, ["point"], "the claim does not say what w is"),
        ({"assumptions": [["divides", X, W]]}, ["point"], "the claim does not say what w is"),
        ({"assumptions": [["divides", X]]}, ["point"], "claim.assumptions: ['divides', [[1, 'x']]] is not a list of 3"),
        ({"assumptions": [["divides", X, 2]]}, ["assume", 0], "the symbol ?0 is not new"),
        ({"symbols": [["w", "sqrt", X, Y]]}, ["mean", "w", X], "claim.symbols: 'sqrt' is not one of /, //, max"),
        ({"symbols": [["w", "max", X, Y]]}, ["mean", "w", X], "x - y >= 0 is not shown"),
        ({"symbols": [["w", "max", X, N]]}, ["mean", "w", X + N], "n + x is not shown to be max(x, n)"),
        ({"symbols": [["w", "/", X, 0]]}, ["mean", "w", X], "-1 >= 0 is not shown"),
        ({"symbols": [["w", "/", X, 1]]}, ["mean", "w", X - 1], "-1 == 0 is not shown"),
        ({"symbols": [["w", "//", X, 1]]}, ["mean", "w", X - 1], "-1 >= 0 is not shown"),
        ({"symbols": [["w", "//", X, 1]]}, ["mean", "w", X + 1], "-1 >= 0 is not shown"),
        ({"symbols": [["w", "/", T, 1]]}, ["mean", "w", X], "the claim does not say what t is"),
        ({"symbols": [["w", "/", X, 1]] * 2}, ["mean", "w", X], "the name w stands for two things"),
        ({"symbols": [["x", "max", 3, 5]]}, ["mean", "x", 5], "the name x stands for two things"),
    ],
    ids=str,
)  # fmt: skip
def test_what_the_claim_does_not_give_is_refused(changes: Any, step: Any, reason: str) -> None:
    found = steps_said(step, about=claim(**changes))
    assert found == reason


def test_a_symbol_means_one_thing() -> None:
    about = claim(symbols=[["w", "//", X, 1]])
    assert steps_said(["mean", "w", X], about=about) == OPEN
    assert steps_said(["mean", "w", X], ["mean", "w", X], about=about) == "w already has a value"
    assert steps_said(about=about) == "w has no meaning"


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
    assert steps_said(*steps, about=about) == f"{text(value)} is not shown to be max(x, y)"
    assert steps_said(*steps[:-1], about=about) == "w has no meaning"


def test_a_dim_may_have_no_bounds() -> None:
    context = known(about=claim(dims=[["x", None, 7, 1], ["y", None, None, 2]]))
    assert context.nonnegative == {7 - X}
    assert context.zero == {Y - symbol("?y") * 2}


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
