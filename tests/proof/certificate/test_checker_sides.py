"""The checker on the two sides of a claim: what they read, at which coordinates, and what is taken for granted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from symlayout.algebra.polynomial import Extent, symbol
from tests.support.certificates.handmade import (
    CHECKER,
    I0,
    NO_CERTIFICATE,
    NOT_TRUSTED,
    OPEN,
    N,
    U,
    W,
    X,
    Y,
    Z,
    agreement,
    all_of,
    at,
    case,
    claim,
    known,
    node,
    reader,
    said,
    steps_said,
)

# ---------------------------------------------------------------------- what the two sides read


INSIDE = [(">=", Z), (">=", N - 1 - Z)]
READS: dict[str, tuple[Sequence[Any], Any, Any, Sequence[dict[str, Any]]]] = {
    # assumptions, the two paths, the nodes after the input x[n]
    "inside, without a fill": (INSIDE, [[0, None]], [[0, None]], [reader(at(Z)), reader(at(Z))]),
    "inside, with a fill": (INSIDE, [[0, None]], [[0, None]], [reader(at(Z, fill="0")), reader(at(Z))]),
    "below": ([(">=", -1 - Z)], [[0, [0, "below"]]], [[0, [0, "below"]]], [reader(at(Z, fill="0"))] * 2),
    "above": ([(">=", Z - N)], [[0, [0, "above"]]], [[0, [0, "above"]]], [reader(at(Z, fill="0"))] * 2),
    "empty": ([(">=", -N)], [[0, [0, "empty"]]], [[0, [0, "empty"]]], [reader(at(Z, fill="0"))] * 2),
    "a case that holds": (
        [*INSIDE, (">=", X - 3), (">=", 5 - X)],
        [[1, None]], [[0, None]],
        [reader(at(5, where=[[["extent", -X], N]]), at(Z, where=[[["extent", X - 3], 3]])), reader(at(Z))],
    ),
    "two coordinates that are equal": (
        [*INSIDE, (">=", U), (">=", N - 1 - U), ("==", U - Z)],
        [[0, None]], [[0, None]],
        [reader(at(U)), reader(at(Z))],
    ),
    "two extents of an input that are equal": (
        [*INSIDE, (">=", X - 1 - Z), ("==", N - X)],
        [[0, None]], [[0, None]],
        [{"input": "x", "shape": [X]}, reader(at(Z)), reader(at(Z), inputs=[1])],
    ),
    "one after the other": (
        [*INSIDE, (">=", U), (">=", 2 - U)],
        [[0, None], [0, None]], [[0, None]],
        [node([3], at(Z)), reader(at(U, fill="0"), inputs=[1]), reader(at(Z))],
    ),
    "below, after another": (
        [*INSIDE, (">=", X - 3), (">=", 5 - X), (">=", -1 - U)],
        [[0, None], [1, [0, "below"]]], [[0, [0, "below"]]],
        [
            node([N], at(7), at(U, fill="0", where=[[["extent", X - 3], 3]])),
            reader(at(Z), inputs=[1]),
            reader(at(U, fill="0")),
        ],
    ),
    "the second of two sources": (
        [*INSIDE], [[0, None]], [[0, None]],
        [{"input": "y", "shape": [N]}, reader(at(Z, source=1), inputs=[1, 0]), reader(at(Z))],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", READS)
def test_sides_that_read_the_same_agree(name: str) -> None:
    given, left, right, nodes = READS[name]
    assert agreement(left, right, claim(*nodes, assumptions=given)) == ""


@pytest.mark.parametrize(("name", "missing"), [(name, k) for name, row in READS.items() for k in range(len(row[0]))])
def test_sides_do_not_agree_where_one_thing_is_not_known(name: str, missing: int) -> None:
    given, left, right, nodes = READS[name]
    relation, e = given[missing]
    about = claim(*nodes, assumptions=[row if k != missing else [">=", 0] for k, row in enumerate(given)])
    assert agreement(left, right, about) == f"{e} {relation} 0 is not shown"


def test_a_read_without_a_fill_is_taken_to_be_inside_where_the_claim_says_so() -> None:
    _, left, right, nodes = READS["inside, without a fill"]
    said_of = [agreement(left, right, claim(*nodes, trusted=trusted)) for trusted in (True, False, 1, "yes", None)]
    assert said_of == ["", *["z >= 0 is not shown"] * 4]


def test_a_read_with_a_fill_is_never_taken_to_be_inside() -> None:
    _, left, right, nodes = READS["inside, with a fill"]
    assert agreement(left, right, claim(*nodes, trusted=True)) == "z >= 0 is not shown"


TWO = [reader(at(0, fill="0")), reader(at(0, fill="1"))]
FULL = {"dims": [["n", 3, None, 1]], "assumptions": [[">=", N - 1]]}
EMPTY = {"dims": [["n", 0, 0, 1]], "assumptions": [[">=", -N]]}
WIDE = {"input": "x", "shape": [3, 3]}
HERE, EDGE = [[0, None]], [[0, [0, "empty"]]]


def inputs(*names: Any) -> dict[str, Any]:
    """Return the claim that two inputs are equal."""
    return claim(nodes=[{"input": name, "shape": [N]} for name in names], right=1)


@pytest.mark.parametrize(
    ("left", "right", "about", "reason"),
    [
        ([], [], inputs("x", "y"), "the sides read (('input', 'x'), [#0, n]) and (('input', 'y'), [#0, n])"),
        ([], [], inputs(1, True), "the sides read (('input', 1), [#0, n]) and (('input', True), [#0, n])"),
        (EDGE, EDGE, claim(*TWO, **EMPTY), "the sides read (('fill', '0'), []) and (('fill', '1'), [])"),
        (
            EDGE, EDGE,
            claim(reader(at(0, fill=0)), reader(at(0, fill=False)), **EMPTY),
            "the sides read (('fill', 0), []) and (('fill', False), [])",
        ),
        (
            [], HERE,
            claim(nodes=[{"input": "x", "shape": [1]}, reader(at(0, 0), inputs=[2]), WIDE], right=1),
            "the sides read (('input', 'x'), [#0, 1]) and (('input', 'x'), [0, 0, 3, 3])",
        ),
        (HERE, EDGE, claim(*TWO, **FULL), "-n >= 0 is not shown"),
        (EDGE, EDGE, claim(reader(at(0)), reader(at(0)), **EMPTY), "a case without a fill reads outside its source"),
        (EDGE, EDGE, claim(reader(at(0, 0, fill="0")), TWO[0], **EMPTY), "a case gives 2 coordinates in 1 axes"),
        ([*EDGE, [0, None]], HERE, claim(*TWO, **EMPTY), "a path goes on outside a source"),
        ([*HERE, [0, None]], HERE, claim(*TWO, **FULL), NO_CERTIFICATE + "KeyError('cases')"),
        ([], HERE, claim(*TWO, **FULL), NO_CERTIFICATE + "KeyError('input')"),
        ([[1, None]], HERE, claim(*TWO, **FULL), NO_CERTIFICATE + "IndexError"),
        (HERE, HERE, claim(reader(at()), TWO[0], **FULL), "a case gives 0 coordinates in 1 axes"),
        (HERE, HERE, claim(TWO[0], reader(at(0), inputs=[1]), **FULL), NO_CERTIFICATE + "KeyError('input')"),
        (HERE, HERE, claim(reader(at(1)), reader(at(1)), **FULL), "n - 2 >= 0 is not shown"),
    ],
    ids=str,
)  # fmt: skip
def test_sides_that_read_other_things_are_refused(left: Any, right: Any, about: dict[str, Any], reason: str) -> None:
    found = agreement(left, right, about)
    assert found.startswith(reason) if reason.startswith(NO_CERTIFICATE) else found == reason, found


# ---------------------------------------------------------------------- coordinates


def reads_at(expression: Any, place: Extent, *steps: Any, **changes: Any) -> str:
    """Return why it is refused that *expression*, in the output coordinate, is *place*."""
    nodes = [reader(case(expression)), reader(at(place))]
    about = claim(*nodes, **({"trusted": True} | changes))
    return agreement([[0, None]], [[0, None]], about, *steps)


OF = {name: ["extent", symbol(name)] for name in "xyzn"}


@pytest.mark.parametrize(
    ("expression", "place"),
    [
        (["+", OF["x"], OF["y"]], X + Y),
        (["-", OF["x"], OF["y"]], X - Y),
        (["*", OF["x"], OF["y"]], X * Y),
        (["//", OF["x"], OF["y"]], Z),
        (["%", OF["x"], OF["y"]], X - Y * Z),
        (["-", ["*", ["extent", 2], ["-", OF["x"], OF["y"]]], ["+", ["axis", 0], OF["n"]]], 2 * X - 2 * Y - N),
        (["+", ["%", OF["x"], OF["y"]], ["*", ["//", OF["x"], OF["y"]], OF["y"]]], X),
    ],
    ids=str,
)
def test_a_coordinate_is_what_its_expression_says(expression: Any, place: Extent) -> None:
    given = [[">=", X - Y * Z], [">=", Y * Z + Y - 1 - X]]
    steps = [["equal", I0], ["solve", "#0", 0], ["divide", X, Y, Z]]
    assert reads_at(expression, place, *steps, assumptions=given) == ""
    assert reads_at(expression, place + 1, *steps, assumptions=given) == "-1 == 0 is not shown"
    assert reads_at(expression, place + N, *steps, assumptions=given) == "-n == 0 is not shown"


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        (["//", OF["x"], OF["y"]], "floor(x / y) is not shown"),
        (["%", OF["x"], OF["y"]], "floor(x / y) is not shown"),
        (["/", OF["x"], OF["y"]], "there is no operator '/'"),
        (["+", OF["x"]], NO_CERTIFICATE + "ValueError"),
        (["axis", 1], NO_CERTIFICATE + "IndexError"),
        (["extent", W], "w has names without a meaning"),
        (["axis"], NO_CERTIFICATE + "IndexError"),
        ([], NO_CERTIFICATE + "ValueError"),
        (5, NO_CERTIFICATE + "TypeError"),
    ],
    ids=str,
)
def test_a_coordinate_without_a_value_is_refused(expression: Any, reason: str) -> None:
    assert reads_at(expression, X).startswith(reason)


def test_an_expression_is_not_nested_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHECKER, "_MAX_DEPTH", 3)
    for depth, reason in ((3, ""), (4, "an expression is nested too deeply")):
        expression: Any = OF["x"]
        for _ in range(depth):
            expression = ["+", expression, ["extent", 0]]
        assert reads_at(expression, X) == reason
        plain = reader(at(X))
        where = claim(reader(at(X, where=[[expression, X + 1]])), plain, trusted=True)
        assert agreement(HERE, HERE, where) == reason
        filled = reader(case(expression, fill="0"))
        assert inside(0, HERE, claim(reader(case(expression)), plain, trusted=True)) == (reason or OPEN)
        for side, assumption in (("below", -1 - X), ("above", X - N)):
            outside = claim(filled, filled, assumptions=[[">=", assumption]])
            assert agreement([[0, [0, side]]], [[0, [0, side]]], outside) == reason


def test_each_axis_of_a_coordinate_is_its_own() -> None:
    wide = {"input": "x", "shape": [2, N]}
    swapped = node([N, 2], case(["axis", 1], ["axis", 0]), inputs=[0])
    back = node([2, N], case(["axis", 1], ["axis", 0]), inputs=[1])
    about = claim(nodes=[wide, swapped, back], left=0, right=2, trusted=True)
    assert agreement([], [[0, None], [0, None]], about) == ""
    kept = node([2, N], case(["axis", 0], ["axis", 1]), inputs=[1])
    about = claim(nodes=[wide, swapped, kept], left=0, right=2, trusted=True)
    assert agreement([], [[0, None], [0, None]], about) == "#0 - #1 == 0 is not shown"


# ---------------------------------------------------------------------- shapes


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        ([X], [Y], "x - y == 0 is not shown"),
        ([2, X], [2, X + 1], "-1 == 0 is not shown"),
        ([X], [X, X], NO_CERTIFICATE + "ValueError"),
        ([X, X], [X], NO_CERTIFICATE + "ValueError"),
        ([X], [W], "w has names without a meaning"),
        ([X], 5, NO_CERTIFICATE + "TypeError"),
    ],
    ids=str,
)
def test_shapes_that_are_not_shown_to_be_equal_are_refused(left: Any, right: Any, reason: str) -> None:
    nodes = [{"input": "x", "shape": left}, {"input": "x", "shape": right}]
    assert steps_said(["point"], about=claim(nodes=nodes, right=1)).startswith(reason)


def test_nothing_is_read_before_the_shapes_are_compared() -> None:
    about = claim(reader(at(0)), trusted=True)
    steps = all_of(about)
    assert said({"steps": steps, "agree": [[], [[0, None]]]}, about) == "the shapes are not compared"
    assert said({"steps": [*steps, ["inside", 1, [[0, None]]]], "absurd": []}, about) == "the shapes are not compared"
    some: list[list[Any]] = [[], [[]], [[], [], []]]
    for paths in some:
        assert said({"steps": [*all_of(claim()), ["point"]], "agree": paths}, claim()).startswith(
            NO_CERTIFICATE + "ValueError"
        )


def test_there_is_one_point() -> None:
    assert steps_said(["point"], ["point"]) == "the symbol #0 is not new"


# ---------------------------------------------------------------------- what is taken for granted


def inside(side: int, path: Any, about: dict[str, Any]) -> str:
    return steps_said(["point"], ["inside", side, path], about=about)


def test_the_claim_may_take_it_for_granted_that_a_read_is_inside() -> None:
    plain, filled = reader(at(Z)), reader(at(Z, fill="0"))
    assert inside(1, [[0, None]], claim(filled, plain, trusted=True)) == OPEN
    context = known(["point"], ["inside", 1, [[0, None]]], about=claim(filled, plain, trusted=True))
    before = known(["point"], about=claim(filled, plain, trusted=True))
    assert context.nonnegative - before.nonnegative == {Z, N - 1 - Z}
    assert inside(0, [[0, None]], claim(filled, plain, trusted=True)) == NOT_TRUSTED
    for trusted in (False, 1, "yes", None):
        assert inside(1, [[0, None]], claim(filled, plain, trusted=trusted)) == NOT_TRUSTED


def test_what_is_taken_for_granted_is_about_the_last_case_of_the_path() -> None:
    first = node([9], at(7, fill="0"), at(U))
    about = claim(first, reader(at(2), inputs=[1]), reader(at(2), inputs=[1]), trusted=True)
    assert inside(1, [[0, None], [1, None]], about) == OPEN
    assert inside(1, [[0, None], [0, None]], about) == NOT_TRUSTED
    assert known(["point"], ["inside", 1, [[0, None], [1, None]]], about=about).nonnegative >= {U, N - 1 - U}


def test_what_is_taken_for_granted_is_about_a_case_that_holds() -> None:
    about = claim(reader(at(Z)), reader(at(Z, where=[[["extent", Z], 5]])), trusted=True)
    assert inside(1, [[0, None]], about) == "z >= 0 is not shown"
    behind = claim(reader(at(Z, fill="0")), reader(at(0), inputs=[1]), trusted=True)
    assert inside(1, [[0, None], [0, None]], behind) == NOT_TRUSTED
    beyond = claim(reader(at(0)), reader(at(Z, fill="0"), inputs=[1]), trusted=True)
    assert inside(1, [[0, None], [0, None]], beyond) == "z >= 0 is not shown"


# ---------------------------------------------------------------------- one fill


def masked(left: Any, right: Any, about: dict[str, Any]) -> str:
    """Return why a proof is refused whose branches suppose that the left or the right reads no fill."""
    return said(
        {"steps": [*all_of(about), ["point"], ["equal", I0], ["solve", "#0", 0]], "masked": [left, right]}, about
    )


def supposing(side: int, *steps: Any) -> dict[str, Any]:
    return {"steps": [["inside", side, [[0, None]]], *steps], "agree": [[[0, None]], [[0, None]]]}


def test_where_neither_side_reads_inside_both_read_the_fill() -> None:
    about = claim(reader(at(Z, fill="0")), reader(at(Z, fill="0")))
    assert masked(supposing(0), supposing(1), about) == ""


@pytest.mark.parametrize("side", [0, 1])
def test_each_branch_supposes_it_of_its_own_side_only(side: int) -> None:
    about = claim(reader(at(Z, fill="0")), reader(at(U, fill="0")), assumptions=[["==", Z - U]])
    alike = [["solve", "z", U]]
    assert masked(supposing(0, *alike), supposing(1, *alike), about) == ""
    wrong = [supposing(0, *alike), supposing(1, *alike)]
    wrong[side] = supposing(1 - side, *alike)
    assert masked(wrong[0], wrong[1], about) == NOT_TRUSTED
    other = claim(reader(at(Z, fill="0")), reader(at(U, fill="0")))
    found = masked(supposing(0), supposing(1), other)
    assert found == "u >= 0 is not shown"


def test_two_sides_of_one_fill_that_read_inside_elsewhere_are_refused() -> None:
    about = claim(reader(at(Z, fill="0")), reader(at(Z - 1, fill="0")))
    nothing: list[dict[str, Any]] = [{"steps": [], "agree": [[], []]}, {"steps": [], "absurd": []}]
    for branch in (supposing(0), *nothing):
        assert masked(branch, branch, about) != ""
        assert masked(branch, supposing(1), about) != ""
    impossible = [["combine", -1, 1, [[Z, 1], [-1 - Z, 1]], []]]
    below = claim(reader(at(Z, fill="0")), reader(at(Z - 1, fill="0")), assumptions=[[">=", -1 - Z]])
    never = {"steps": [["inside", 0, [[0, None]]], *impossible], "absurd": []}
    nor = {"steps": [["inside", 1, [[0, None]]], ["combine", -2, 1, [[Z - 1, 1], [-1 - Z, 1]], []]], "absurd": []}
    assert masked(never, nor, below) == ""
    assert masked(never, {"steps": [], "absurd": []}, below) == OPEN


@pytest.mark.parametrize("branches", [[], [supposing(0)], [supposing(0), supposing(1), supposing(1)]], ids=len)
def test_there_is_a_branch_for_each_side(branches: Any) -> None:
    about = claim(reader(at(Z, fill="0")), reader(at(Z, fill="0")))
    steps = [*all_of(about), ["point"]]
    assert said({"steps": steps, "masked": branches}, about).startswith(NO_CERTIFICATE + "ValueError")


SEVERAL = "there are several cases or fills"


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ([reader(at(Z, fill="0")), reader(at(Z, fill="1"))], SEVERAL),
        ([reader(at(Z, fill=0)), reader(at(Z, fill=False))], SEVERAL),
        ([reader(at(Z, fill="0")), reader(at(Z, fill="0", where=[[["extent", 0], 1]]))], SEVERAL),
        ([reader(at(Z, fill="0")), reader(at(Z, fill="0"), at(Z, fill="0"))], SEVERAL),
        ([reader(at(Z, fill="0")), reader()], SEVERAL),
        ([reader(at(Z, fill="0")), {"input": "x", **reader(at(Z, fill="1"))}], SEVERAL),
        ([reader(at(Z)), reader(at(Z))], NOT_TRUSTED),
        ([reader(at(Z)), reader(at(Z, fill="0"))], NOT_TRUSTED),
        ([reader(at(Z, fill="0")), reader(at(Z))], "z >= 0 is not shown"),
    ],
    ids=str,
)
def test_one_fill_and_one_case_are_needed(nodes: Any, reason: str) -> None:
    first = supposing(0)
    second = supposing(1) if reason != "z >= 0 is not shown" else {"steps": [], "agree": [[[0, None]], [[0, None]]]}
    assert masked(first, second, claim(*nodes)) == reason
