"""The checker's rule about all points of a box, and the table of rules that it stands in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from symlayout.algebra.polynomial import symbol
from symlayout.proof.certificate.checker import points, rules
from symlayout.proof.certificate.checker.blocks import RULES
from tests.support.certificates.handmade import OPEN, Q, T, X, Y, Z, claim, known, steps_said

BOX = [["y", 2, 9]]
HILL = (Y - 2) * (9 - Y)
THIRD = ["floor", "q", Y, 3]
TABLE = [5, 0, 7]
ENTRY = ["entry", "t", TABLE, Y - 4]

SHOWN: dict[str, Sequence[Any]] = {
    "a polynomial": [["points", HILL, BOX, [], []]],
    "one beside a symbol from outside": [["points", X * HILL + X + 3, BOX, [], []]],
    "a floor": [THIRD, ["points", 3 * Q * Q - 2 * Q + Y - 2, BOX, [["q", Y, 3]], []]],
    "a floor of a floor": [
        THIRD,
        ["floor", "t", Q + 1, 2],
        ["points", T * (2 - T), BOX, [["q", Y, 3], ["t", Q + 1, 2]], []],
    ],
    "an entry of a table, beyond its ends too": [ENTRY, ["points", T * (T - 5), BOX, [["t", Y - 4, TABLE]], []]],
    "an entry and its place": [ENTRY, ["points", (Y - 5) * (T - 6), BOX, [["t", Y - 4, TABLE]], []]],
    "a fact about the box": [["points", Y - 5, BOX, [], [Y - 5]]],
}

REFUSED: dict[str, tuple[Sequence[Any], str]] = {
    "a goal that fails at a point": ([["points", HILL - 1, BOX, [], []]], "-y*y + 11*y - 19 >= 0 fails at a point"),
    "one that fails beside a symbol": ([["points", X * (Y - 3), BOX, [], []]], "x*y - 3*x >= 0 fails at a point"),
    "a box that is too small above": ([["points", HILL, [["y", 2, 8]], [], []]], "-y + 8 >= 0 is not shown"),
    "a box that is too small below": ([["points", HILL, [["y", 3, 9]], [], []]], "y - 3 >= 0 is not shown"),
    "an end that is not known": ([["points", 9 - X, [["x", 0, 9]], [], []]], "-x + 9 >= 0 is not shown"),
    "a box without a point": ([["points", -1, [["y", 3, 2]], [], []]], "a box has 0 points, and 0 functions of them"),
    "a box with too many": (
        [["points", HILL, [["y", 2, 10**9]], [], []]],
        f"a box has {10**9 - 1} points, and 0 functions of them",
    ),
    "a symbol from outside that may be negative": ([["points", Z * HILL, BOX, [], []]], "z >= 0 is not shown"),
    "a floor that is none": ([["points", X - Y, BOX, [["x", Y, 2]], []]], "-2*x + y >= 0 is not shown"),
    "a floor by 0": ([THIRD, ["points", Q, BOX, [["q", Y, 0]], []]], "-1 >= 0 is not shown"),
    "a floor that is not in the box": ([THIRD, ["points", Q * (Y - 5), BOX, [], []]], "q >= 0 is not shown"),
    "a floor of a symbol from outside": (
        [["floor", "q", X, 3], ["points", HILL, BOX, [["q", X, 3]], []]],
        "x has symbols from outside the box",
    ),
    "an entry of another table": (
        [ENTRY, ["points", T * (T - 5), BOX, [["t", Y - 4, [5, 0, 8]]], []]],
        "t is not known to be the entry of a table at y - 4",
    ),
    "an entry at another place": (
        [ENTRY, ["points", T * (T - 5), BOX, [["t", Y - 3, TABLE]], []]],
        "t is not known to be the entry of a table at y - 3",
    ),
    "an entry that does not fit": (
        [["entry", "t", [2**62, 0], Y], ["points", T, BOX, [["t", Y, [2**62, 0]]], []]],
        "an entry of a table may be too large for 64 bits",
    ),
    "a fact that is not known": ([["points", Y - 3, BOX, [], [Y - 3]]], "y - 3 >= 0 is not shown"),
    "a fact about a symbol from outside": ([["points", Y - 3, BOX, [], [X]]], "x has symbols from outside the box"),
    "numbers that may not fit 64 bits": (
        [["points", Y * Y * 2**57, BOX, [], []]],
        f"{2**57}*y*y may be too large for 64 bits",
    ),
    "ends that do not fit": ([["points", 1, [["y", 2**70, 2**70]], [], []]], f"y - {2**70} >= 0 is not shown"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_what_holds_at_all_points_is_shown(name: str) -> None:
    about = claim(assumptions=[[">=", Y - 5]] if "fact" in name else [])
    assert steps_said(*SHOWN[name], about=about) == OPEN


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_is_refused(name: str) -> None:
    steps, reason = REFUSED[name]
    assert steps_said(*steps) == reason


def test_the_goal_alone_is_added() -> None:
    before, after = known(THIRD), known(THIRD, ["points", HILL, BOX, [["q", Y, 3]], []])
    assert after.nonnegative - before.nonnegative == {HILL}


def test_each_point_counts_as_work(monkeypatch: pytest.MonkeyPatch) -> None:
    about = [claim(dims=[["y", 0, most, 1]], nodes=[{"input": "x", "shape": []}]) for most in (9_999, 999_999)]
    steps = [["points", symbol("y"), [["y", 0, row["dims"][0][2]]], [], []] for row in about]
    done = [known(step, about=row).known.work.done for step, row in zip(steps, about, strict=True)]
    assert done[1] - done[0] > 990_000 // 500
    monkeypatch.setattr(points, "MAX_POINTS", 9_999)
    assert steps_said(steps[0], about=about[0]) == "a box has 10000 points, and 0 functions of them"


def test_each_rule_is_one_function_with_what_it_shows_in_its_first_line() -> None:
    functions = {name: row[0] for name, row in RULES.items()}
    assert functions["combine"] is rules.combine
    assert functions["points"] is points.points
    assert len(set(functions.values())) == len(functions)
    assert all(function.__doc__ for function in functions.values())
