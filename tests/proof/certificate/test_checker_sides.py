"""The checker on the two sides of a claim: what they read, at which coordinates, and what is taken for granted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from symlayout.algebra.polynomial import Extent, symbol
from symlayout.proof.certificate.checker import Refused
from symlayout.proof.certificate.checker.readings import SIDES, evaluate
from tests.support.certificates.handmade import (
    I0,
    OPEN,
    SUPPOSED,
    N,
    U,
    W,
    X,
    Y,
    Z,
    agreement,
    at,
    case,
    claim,
    data,
    extent,
    known,
    node,
    reader,
    said,
    steps_said,
    text,
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
        [*INSIDE, (">=", X - 1 - Z), ("==", X - N)],
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
            node([N], at(7, where=[[["extent", -X], N]]), at(U, fill="0", where=[[["extent", X - 3], 3]])),
            reader(at(Z), inputs=[1]),
            reader(at(U, fill="0")),
        ],
    ),
    "the second of two sources": (
        [*INSIDE], [[0, None]], [[0, None]],
        [{"input": "y", "shape": [N]}, reader(at(Z, source=1), inputs=[1, 0]), reader(at(Z))],
    ),
}  # fmt: skip


MAPS: dict[str, list[list[Any]]] = {  # the case of each operation that holds, and where each other fails
    "a case that holds": [[1, [[0, "below"]]], [0, []]],
    "below, after another": [[1, [[0, "below"]]], [0, []], [0, []]],
}
NOT_ZERO = ["combine", X - 1, 1, [[X - 3, 1], [2, 1]], []]


def maps_of(name: str) -> list[Any] | None:
    blocks = [{"steps": [["point"], *[NOT_ZERO] * (end[0] == 1)], "case": end} for end in MAPS.get(name, ())]
    return blocks or None


@pytest.mark.parametrize("name", READS)
def test_sides_that_read_the_same_agree(name: str) -> None:
    given, left, right, nodes = READS[name]
    assert agreement(left, right, claim(*nodes, assumptions=given), shown=maps_of(name)) == ""


@pytest.mark.parametrize(("name", "missing"), [(name, k) for name, row in READS.items() for k in range(len(row[0]))])
def test_sides_do_not_agree_where_one_thing_is_not_known(name: str, missing: int) -> None:
    given, left, right, nodes = READS[name]
    relation, e = given[missing]
    about = claim(*nodes, assumptions=[row if k != missing else [">=", 0] for k, row in enumerate(given)])
    assert agreement(left, right, about, shown=maps_of(name)) == f"{text(e)} {relation} 0 is not shown"


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
        ([], [], inputs("x", "y"), "the sides read ('input', 'x') and ('input', 'y')"),
        (EDGE, EDGE, claim(*TWO, **EMPTY), "the sides read ('fill', '0') and ('fill', '1')"),
        (HERE, EDGE, claim(TWO[0], reader(at(0, fill="0")), **EMPTY), "n - 1 >= 0 is not shown"),
        (
            [], HERE,
            claim(nodes=[{"input": "x", "shape": [1]}, WIDE, reader(at(0, 0), inputs=[1])], left=0, right=2),
            "the shapes of x differ in rank",
        ),
        (HERE, EDGE, claim(*TWO, **FULL), "-n >= 0 is not shown"),
        (EDGE, EDGE, claim(TWO[0], reader(at(0)), **FULL), "-n >= 0 is not shown"),
        (HERE, EDGE, claim(TWO[0], reader(at(0)), **FULL), "a case without a fill reads outside its source"),
        (EDGE, EDGE, claim(reader(at(0, 0, fill="0")), TWO[0], **EMPTY), "a case gives 2 coordinates in 1 axes"),
        ([*EDGE, [0, None]], HERE, claim(*TWO, **EMPTY), "a path goes on outside a source"),
        ([[0, [1, "empty"]]], HERE, claim(*TWO, **EMPTY), "a case without a fill reads outside its source"),
        ([*HERE, [0, None]], HERE, claim(*TWO, **FULL), "an input has no case 0"),
        ([], HERE, claim(*TWO, **FULL), "a path ends at an operation, which is not an input"),
        ([[1, None]], HERE, claim(*TWO, **FULL), "an operation has no case 1"),
        (HERE, HERE, claim(reader(at()), TWO[0], **FULL), "a case gives 0 coordinates in 1 axes"),
        (
            HERE, HERE, claim(TWO[0], reader(at(0), inputs=[1]), **FULL),
            "a path ends at an operation, which is not an input",
        ),
        (HERE, HERE, claim(reader(at(1)), reader(at(1)), **FULL), "n - 2 >= 0 is not shown"),
        (None, HERE, claim(*TWO, **FULL), "proof.sides.agree: None is not a list"),
        ([[0]], HERE, claim(*TWO, **FULL), "proof.sides.agree: [0] is not a list of 2"),
        ([[True, None]], HERE, claim(*TWO, **FULL), "proof.sides.agree: True is not a number >= 0"),
        ([[-1, None]], HERE, claim(*TWO, **FULL), "proof.sides.agree: -1 is not a number >= 0"),
        (
            [[0, [0, "beyond"]]], HERE, claim(*TWO, **FULL),
            "proof.sides.agree: 'beyond' is not one of below, above, empty",
        ),
    ],
    ids=str,
)  # fmt: skip
def test_sides_that_read_other_things_are_refused(left: Any, right: Any, about: dict[str, Any], reason: str) -> None:
    assert agreement(left, right, about) == reason


# ---------------------------------------------------------------------- coordinates


OF = {name: ["extent", symbol(name)] for name in "xyzn"}
QUOTIENT = [[">=", X - Y * Z], [">=", Y * Z + Y - 1 - X]]


def value_of(expression: Any, *steps: Any) -> Extent:
    """Return a coordinate, in the coordinate of an output of one axis, where ``x//y`` is *z*."""
    found = known(["point"], *steps, about=claim(assumptions=QUOTIENT)).known
    return extent(evaluate(found, data(expression), found.point))


@pytest.mark.parametrize(
    ("expression", "place"),
    [
        (["+", OF["x"], OF["y"]], X + Y),
        (["-", OF["x"], OF["y"]], X - Y),
        (["*", OF["x"], OF["y"]], X * Y),
        (["//", OF["x"], OF["y"]], Z),
        (["%", OF["x"], OF["y"]], X - Y * Z),
        (["-", ["*", ["extent", 2], ["-", OF["x"], OF["y"]]], ["+", ["axis", 0], OF["n"]]], 2 * X - 2 * Y - N - I0),
        (["+", ["%", OF["x"], OF["y"]], ["*", ["//", OF["x"], OF["y"]], OF["y"]]], X),
    ],
    ids=str,
)
def test_a_coordinate_is_what_its_expression_says(expression: Any, place: Extent) -> None:
    assert value_of(expression, ["divide", X, Y, Z]) == place


@pytest.mark.parametrize("operator", ["//", "%"])
def test_a_floor_that_is_not_shown_has_no_value(operator: str) -> None:
    with pytest.raises(Refused, match=r"floor\(\(x\) / \(y\)\) is not shown"):
        value_of([operator, OF["x"], OF["y"]])


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        (["/", OF["x"], OF["y"]], "'/' is not one of +, -, *, //, %"),
        (["+", OF["x"]], "['+', ['extent', [[1, 'x']]]] is not a list of 3"),
        (["axis", 1], "node 1 has no axis 1"),
        (["axis", -1], "-1 is not a number >= 0"),
        (["axis", True], "True is not a number >= 0"),
        (["extent", W], "the claim does not say what w is"),
        (["+", ["axis", 0], ["*", ["extent", W], ["extent", 2]]], "the claim does not say what w is"),
        (["axis"], "['axis'] is not a list of 2"),
        ([], "[] is not a list of 3"),
        (5, "5 is not a list of 3"),
    ],
    ids=str,
)
def test_a_coordinate_without_a_value_is_refused(expression: Any, reason: str) -> None:
    for where in (False, True):
        broken = reader(at(0, where=[[expression, 1]]) if where else case(expression))
        found = agreement(HERE, HERE, claim(broken, reader(at(0)), **FULL))
        assert found.rpartition("where: " if where else "coords: ")[2] == reason


def test_each_axis_of_a_coordinate_is_its_own() -> None:
    wide = {"input": "x", "shape": [2, N]}
    swapped = node([N, 2], case(["axis", 1], ["axis", 0]), inputs=[0])
    back = node([2, N], case(["axis", 1], ["axis", 0]), inputs=[1])
    about = claim(nodes=[wide, swapped, back], left=0, right=2)
    assert agreement([], [[0, None], [0, None]], about) == ""
    square = {"input": "x", "shape": [N, N]}
    turned = node([N, N], case(["axis", 1], ["axis", 0]), inputs=[0])
    kept = node([N, N], case(["axis", 0], ["axis", 1]), inputs=[1])
    about = claim(nodes=[square, turned, kept], left=0, right=2)
    assert agreement([], [[0, None], [0, None]], about) == "#0 - #1 == 0 is not shown"


# ---------------------------------------------------------------------- shapes


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        ([X], [Y], "x - y == 0 is not shown"),
        ([2, X], [2, X + 1], "-1 == 0 is not shown"),
        ([X], [X, X], "the two sides differ in rank"),
        ([X, X], [X], "the two sides differ in rank"),
        ([X], [W], "the claim does not say what w is"),
        ([X], 5, "claim.nodes.shape: 5 is not a list"),
    ],
    ids=str,
)
def test_shapes_that_are_not_shown_to_be_equal_are_refused(left: Any, right: Any, reason: str) -> None:
    nodes = [{"input": "x", "shape": left}, {"input": "y", "shape": right}]
    assert steps_said(["point"], about=claim(nodes=nodes, right=1)) == reason


def test_one_input_has_one_shape() -> None:
    nodes = [{"input": "x", "shape": [X]}, {"input": "x", "shape": [Y]}]
    assert steps_said(about=claim(nodes=nodes, right=1)) == "-x + y == 0 is not shown"
    assert steps_said(about=claim(nodes=nodes, right=1, assumptions=[["==", X - Y]])) == OPEN


def test_nothing_is_read_before_the_shapes_are_compared() -> None:
    about = claim(reader(at(Z)), reader(at(Z)), assumptions=[*INSIDE])
    assert said({"steps": [], "agree": [HERE, HERE]}, about) == "no coordinate is introduced"
    assert said({"steps": [["inside", "right", HERE]], "absurd": []}, about) == "no coordinate is introduced"
    some: list[list[Any]] = [[], [[]], [[], [], []]]
    for paths in some:
        assert said({"steps": [["point"]], "agree": paths}, claim()).endswith("is not a list of 2")


def test_there_is_one_point() -> None:
    assert steps_said(["point"], ["point"]) == "the symbol #0 is not new"


def test_there_is_no_point_before_the_maps_are_shown() -> None:
    """A map shown at the output's coordinate alone would say nothing of the others."""
    about = claim(node([N], case(["*", ["extent", 2], ["axis", 0]])), left=1, right=1)
    early = "a coordinate is introduced before the maps, which have coordinates of their own"
    assert said({"steps": [], "absurd": []}, about, start=[["point"]], shown=[{"steps": [], "case": [0, []]}]) == early
    cases = [["cases", X, X, [["point"]], [["point"]]]]
    assert steps_said(*cases) == "a coordinate is introduced in a case, where that is not allowed"


# ---------------------------------------------------------------------- maps


ROW = ["axis", 0]
ALL: dict[str, Any] = {"steps": [["point"]], "case": [0, []]}
LOWER, UPPER = [ROW, X], [["-", ROW, OF["x"]], N - X]  # 0 <= i < x and 0 <= i - x < n - x


def cases_said(shown: Any, *cases: dict[str, Any], **changes: Any) -> str:
    """Return why a proof that an operation is a map is refused, or ``"shown"``."""
    about = claim(node([N], *cases), left=1, right=1, **changes)
    found = said({"steps": [], "absurd": []}, about, shown=[shown])
    return "shown" if found == OPEN else found


FIRST_PART, SECOND_PART = case(ROW, where=[LOWER]), case(ROW, where=[UPPER])
TWO_PARTS = {
    "steps": [["point"]],
    "split": [
        X - 1 - I0,
        {"steps": [], "case": [0, [[0, "below"]]]},
        {
            "steps": [["combine", I0 - X, 1, [[-1 - (X - 1 - I0), 1]], []]],
            "case": [1, [[0, "above"]]],
        },
    ],
}


def test_cases_that_share_the_domain_between_them_are_a_map() -> None:
    assert cases_said(TWO_PARTS, FIRST_PART, SECOND_PART) == "shown"


def test_cases_that_overlap_are_no_map() -> None:
    everywhere = case(ROW)
    for others in ([], [[0, "below"]], [[0, "above"]], [[1, "empty"]]):
        block = {"steps": [["point"]], "case": [0, others]}
        assert cases_said(block, everywhere, everywhere) in (
            "the end does not tell apart all cases of node 1",
            "a case has no window 0",
            "a case has no window 1",
        )
    wider = case(ROW, where=[[ROW, X + 1]])
    assert cases_said(TWO_PARTS, wider, SECOND_PART) != "shown"
    assert cases_said(TWO_PARTS, FIRST_PART, case(ROW, where=[[["-", ROW, ["extent", X - 1]], N - X + 1]])) != "shown"


def test_cases_that_leave_a_coordinate_out_are_no_map() -> None:
    assert cases_said(TWO_PARTS, FIRST_PART, case(ROW, where=[[["-", ROW, ["extent", X + 1]], N - X]])) != "shown"
    assert cases_said(TWO_PARTS, FIRST_PART) == "the end does not tell apart all cases of node 1"
    assert cases_said(ALL) == "the end does not tell apart all cases of node 1"
    nowhere = {"steps": [["point"], ["combine", -1, 1, [[I0, 1], [N - 1 - I0, 1], [-N, 1]], []]], "absurd": []}
    assert cases_said(nowhere) == "-n >= 0 is not shown"
    assert cases_said(nowhere, assumptions=[[">=", -N]]) == "shown"


def test_a_case_with_a_fill_may_read_outside_and_one_without_may_not() -> None:
    assert cases_said(ALL, case(["extent", Z], fill="0")) == "shown"
    assert cases_said(ALL, case(["extent", Z])) == "z >= 0 is not shown"
    assert cases_said({"steps": [], "case": [0, []]}, case(ROW, fill="0")) == "no coordinate is introduced"


def test_every_operation_is_shown_to_be_a_map() -> None:
    about = claim(node([N], case(ROW)), node([N], case(ROW), inputs=[1]))
    sides = {"steps": [["point"]], "agree": [HERE, [*HERE, *HERE]]}
    assert said(sides, about) == ""
    assert said(sides, about, shown=[ALL]) == "the proof is about 1 maps, the claim has 2"
    assert said(sides, about, shown=[ALL] * 3) == "the proof is about 3 maps, the claim has 2"


def test_a_block_is_about_one_map_or_about_both_sides() -> None:
    about = claim(node([N], case(ROW)), left=1, right=1)
    agreed = {"steps": [["point"]], "agree": [HERE, HERE]}
    assert said(agreed, about, shown=[agreed]) == "a side is read in a block that is about one operation"
    inside = {"steps": [["point"], ["inside", "left", HERE]], "case": [0, []]}
    assert said(agreed, about, shown=[inside]) == "a side is read in a block that is about one operation"
    masked = {"steps": [], "masked": [ALL, ALL]}
    assert said(agreed, about, shown=[masked]) == "there are several cases or fills"
    assert said(ALL, about) == "a case is named where the proof is about both sides"


# ---------------------------------------------------------------------- what is supposed


def inside(side: str, path: Any, about: dict[str, Any], *, shown: Sequence[Any] | None = None) -> str:
    return said({"steps": [["point"], ["inside", side, path]], "absurd": []}, about, shown=shown)


def test_a_read_without_a_fill_is_inside_since_its_operation_is_a_map() -> None:
    about = claim(reader(at(Z, fill="0")), reader(at(Z)), assumptions=INSIDE)
    assert inside("right", HERE, about) == OPEN
    assert inside("left", HERE, about) == SUPPOSED
    found = [known(["point"], *steps, about=about).nonnegative for steps in ([["inside", "right", HERE]], [])]
    assert found[0] == found[1] >= {Z, N - 1 - Z}


def test_what_is_inside_is_about_the_last_case_of_the_path() -> None:
    first = node([9], case(["+", ["axis", 0], ["extent", U]], fill="0"))
    about = claim(first, reader(at(2), inputs=[1]), reader(at(2), inputs=[1]), left=2, right=3)
    assert inside("right", [*HERE, *HERE], about) == SUPPOSED
    assert inside("right", HERE, about) == OPEN
    assert known(["point"], ["inside", "right", HERE], about=about).nonnegative >= {2, 6}
    for path in ([], [[0, [0, "below"]]]):
        assert inside("right", path, about) == "no case ends the path"


def test_what_is_inside_is_about_a_case_that_holds() -> None:
    below = case(ROW, fill="0", where=[[["-", OF["x"], ["+", ROW, ["extent", 1]]], X]])
    about = claim(node([N], below, case(ROW, where=[UPPER])), left=1, right=1)
    shown = [{"steps": [["point"]], "split": [I0 - X, SECOND, FIRST]}]
    assert inside("right", [[1, None]], about, shown=shown) == "#0 - x >= 0 is not shown"
    apart = {"steps": [["inside", "right", [[1, None]]]], "absurd": []}
    split = {"steps": [["point"]], "split": [I0 - X, apart, {"steps": [], "absurd": []}]}
    assert said(split, about, shown=shown) == OPEN
    assert inside("right", [[2, None]], about, shown=shown) == "an operation has no case 2"


FIRST = {  # of what has a case below x and one from there on, where i is below x
    "steps": [["combine", X - 1 - I0, 1, [[-1 - (I0 - X), 1]], []]],
    "case": [0, [[0, "below"]]],
}
SECOND = {
    "steps": [["combine", N - 1 - I0, 1, [[N - 1 - I0, 1]], []]],
    "case": [1, [[0, "below"]]],
}


# ---------------------------------------------------------------------- one fill


def masked(left: Any, right: Any, about: dict[str, Any]) -> str:
    """Return why a proof is refused whose branches suppose that the left or the right reads no fill."""
    return said({"steps": [["point"], ["equal", I0], ["solve", "#0", 0]], "masked": [left, right]}, about)


def supposing(side: str, *steps: Any) -> dict[str, Any]:
    return {"steps": [["inside", side, HERE], *steps], "agree": [HERE, HERE]}


def test_where_neither_side_reads_inside_both_read_the_fill() -> None:
    about = claim(reader(at(Z, fill="0")), reader(at(Z, fill="0")))
    assert masked(supposing("left"), supposing("right"), about) == ""


@pytest.mark.parametrize("side", [0, 1])
def test_each_branch_supposes_it_of_its_own_side_only(side: int) -> None:
    about = claim(reader(at(Z, fill="0")), reader(at(U, fill="0")), assumptions=[["==", Z - U]])
    alike = [["solve", "z", U]]
    assert masked(supposing("left", *alike), supposing("right", *alike), about) == ""
    wrong = [supposing("left", *alike), supposing("right", *alike)]
    wrong[side] = supposing(SIDES[1 - side], *alike)
    assert masked(wrong[0], wrong[1], about) == SUPPOSED
    other = claim(reader(at(Z, fill="0")), reader(at(U, fill="0")))
    found = masked(supposing("left"), supposing("right"), other)
    assert found == "u >= 0 is not shown"


def test_two_sides_of_one_fill_that_read_inside_elsewhere_are_refused() -> None:
    about = claim(reader(at(Z, fill="0")), reader(at(Z - 1, fill="0")))
    nothing: list[dict[str, Any]] = [{"steps": [], "agree": [[], []]}, {"steps": [], "absurd": []}]
    for branch in (supposing("left"), *nothing):
        assert masked(branch, branch, about) != ""
        assert masked(branch, supposing("right"), about) != ""
    impossible = [["combine", -1, 1, [[Z, 1], [-1 - Z, 1]], []]]
    below = claim(reader(at(Z, fill="0")), reader(at(Z - 1, fill="0")), assumptions=[[">=", -1 - Z]])
    never = {"steps": [["inside", "left", HERE], *impossible], "absurd": []}
    nor = {"steps": [["inside", "right", HERE], ["combine", -2, 1, [[Z - 1, 1], [-1 - Z, 1]], []]], "absurd": []}
    assert masked(never, nor, below) == ""
    assert masked(never, {"steps": [], "absurd": []}, below) == OPEN


@pytest.mark.parametrize("sides", [(), ("left",), ("left", "right", "right")], ids=len)
def test_there_is_a_branch_for_each_side(sides: Sequence[str]) -> None:
    about = claim(reader(at(Z, fill="0")), reader(at(Z, fill="0")))
    found = said({"steps": [["point"]], "masked": list(map(supposing, sides))}, about)
    assert found.startswith("proof.sides.masked: ")
    assert found.endswith("is not a list of 2")


SEVERAL = "there are several cases or fills"
ZERO_AT = reader(at(Z, fill="0"))


@pytest.mark.parametrize(
    ("nodes", "shown", "reason"),
    [
        ([ZERO_AT, reader(at(Z, fill="1"))], [ALL, ALL], SEVERAL),
        ([ZERO_AT, reader(at(Z, fill="0", where=[[["extent", 0], 1]]))], [ALL, ALL], SEVERAL),
        (
            [ZERO_AT, reader(at(Z, fill="0"), at(Z, fill="0", where=[[["extent", -1], 1]]))],
            [ALL, {"steps": [["point"]], "case": [0, [[0, "below"]]]}],
            SEVERAL,
        ),
        ([reader(at(0)), reader(at(0))], [ALL, ALL], ""),
        ([reader(at(0)), ZERO_AT], [ALL, ALL], "z >= 0 is not shown"),
        ([ZERO_AT, reader(at(0))], [ALL, ALL], "z == 0 is not shown"),
    ],
    ids=str,
)
def test_one_fill_and_one_case_are_needed(nodes: Any, shown: Any, reason: str) -> None:
    ends = {"steps": [["point"]], "masked": [supposing("left"), supposing("right")]}
    assert said(ends, claim(*nodes, dims=[["n", 1, None, 1], ["z", -3, None, 1]]), shown=shown) == reason
