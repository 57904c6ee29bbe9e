"""Where the judge of the attack excuses a runtime: just at the known fault, and a wrong verdict beside it is found."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, helper

from tests.attack import judge, runner
from tests.attack.domains.exceptions import EXCEPTIONS, exceptions
from tests.attack.judge import Pair, Point, Side
from tests.attack.one_nodes import OneNode, arrays_of, model_of
from tests.attack.runtimes import Ran, Sessions, has_onnxruntime, in_runtime
from tests.attack.tally import Tally

FLOATS = np.array([np.inf, -np.inf, 3.0, -2.0], np.float32)
MOST = 2**63 - 1
needs_onnxruntime = pytest.mark.skipif(not has_onnxruntime(), reason="onnxruntime is not installed, which is excused")


def sessions(op: str, *inputs: Any, version: int = 13, **attributes: Any) -> tuple[Sessions, dict[str, Any]]:
    """Return a model of one node, and its inputs; integers are constants, as a Slice of the attack has them."""
    arrays = [None if a is None else np.asarray(a) for a in inputs]
    one = OneNode(op, "", version, arrays, attributes)
    one.constants = {k for k, a in enumerate(arrays) if a is not None and a.dtype == np.int64}
    return Sessions(model_of(one)), arrays_of(one)


def reversed_to(end: int, step: int = -1) -> tuple[Sessions, dict[str, Any]]:
    return sessions("Slice", FLOATS, [3], [end], [0], [step])


# ---------------------------------------------------------------------- one runtime that does not judge a model


@needs_onnxruntime
@pytest.mark.parametrize(
    ("end", "step", "judges"),
    [(MOST, -1, False), (2**31 - 1, -2, False), (MOST - 1, -1, True), (-5, -1, True), (MOST, 1, True), (0, -1, True)],
)
def test_the_largest_end_is_excused_with_a_step_below_0_only(end: int, step: int, judges: bool) -> None:
    slices, given = reversed_to(end, step)
    assert ("largest end" not in slices.by_onnxruntime(given).refusal) is judges
    assert slices.by_reference(given).arrays is not None


@needs_onnxruntime
def test_onnxruntime_reads_the_largest_end_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """If this fails, the excuse has lost its reason."""
    monkeypatch.setattr("tests.attack.runtimes._ends_at_most", lambda *_: False)
    slices, given = reversed_to(MOST)
    theirs, standard = slices.by_onnxruntime(given), slices.by_reference(given)
    assert theirs.arrays is not None
    assert standard.arrays is not None
    assert [a.size for a in (*theirs.arrays, *standard.arrays)] == [4, 0]


@pytest.mark.parametrize(
    ("op", "inputs", "version", "attributes", "judges"),
    [
        ("RNN", "layer", 14, {"hidden_size": 4, "clip": 0.5}, False),
        ("RNN", "layer", 14, {"hidden_size": 4}, True),
        ("Hardmax", [FLOATS], 12, {}, False),
        ("Hardmax", [FLOATS], 13, {}, True),
    ],
)
def test_the_reference_evaluator_is_excused_from_what_it_leaves_out(
    op: str, inputs: Any, version: int, attributes: dict[str, Any], judges: bool
) -> None:
    if inputs == "layer":
        inputs = [np.ones(shape, np.float32) for shape in ((2, 1, 3), (1, 4, 3), (1, 4, 4))]
    model, given = sessions(op, *inputs, version=version, **attributes)
    ran = model.by_reference(given)
    assert (ran.arrays is not None) is judges
    assert ran.lacks is not judges


@needs_onnxruntime
@pytest.mark.parametrize(
    ("bounds", "version", "attributes"),
    [
        ([], 13, {}),
        ([np.float32(0)], 13, {}),
        ([None, np.float32(1)], 13, {}),
        ([np.float32(0), np.float32(1)], 13, {}),
        ([], 6, {"min": 0.0}),
        ([], 6, {"min": 0.0, "max": 1.0}),
    ],
)
def test_the_evaluator_has_the_bounds_by_default(bounds: list[Any], version: int, attributes: dict[str, Any]) -> None:
    x = np.array([-np.inf, -2, 0.5, 2, np.inf, np.nan], np.float32)
    model, given = sessions("Clip", x, *bounds, version=version, **attributes)
    one, other = model.by_reference(given).arrays, model.by_onnxruntime(given).arrays
    assert one is not None
    assert other is not None
    np.testing.assert_array_equal(one[0], other[0])


@needs_onnxruntime
@pytest.mark.parametrize(
    ("attributes", "lacks"),
    [
        ({"size": 2}, True),
        ({"size": 3, "alpha": 0.0}, True),
        ({"size": 3, "beta": -1.0}, True),
        ({"size": 0}, False),
        ({"size": -1}, False),
        ({}, False),
    ],
)
def test_onnxruntime_is_excused_from_what_its_lrn_demands_beyond_the_standard(
    attributes: dict[str, Any], lacks: bool
) -> None:
    model, given = sessions("LRN", np.ones((1, 3, 2, 2), np.float32), **attributes)
    ran = model.by_onnxruntime(given)
    assert ran.arrays is None
    assert ran.lacks is lacks


@needs_onnxruntime
@pytest.mark.parametrize(
    ("shape", "version", "scales", "biases", "judges"),
    [
        ((1, 4, 3), 21, 4, 1, False),
        ((1, 4, 3), 21, 1, 4, False),
        ((1, 4, 3), 21, 4, 4, True),
        ((1, 1, 3), 21, 1, 1, True),
        ((1, 4, 3), 18, 1, 1, True),
    ],
)
def test_one_scale_for_several_channels_is_outside(
    shape: tuple[int, ...], version: int, scales: int, biases: int, judges: bool
) -> None:
    inputs = [np.arange(np.prod(shape), dtype=np.float32).reshape(shape)]
    inputs += [np.ones(n, np.float32) for n in (scales, biases)]
    model, given = sessions("GroupNormalization", *inputs, version=version, num_groups=1)
    for ran in (model.by_onnxruntime(given), model.by_reference(given)):
        assert ("stretched" not in ran.refusal) is judges
        assert not ran.lacks


@needs_onnxruntime
@pytest.mark.parametrize(("width", "judges"), [(4, False), (32, True)])
def test_one_key_for_several_elements_of_a_query_is_outside(width: int, judges: bool) -> None:
    inputs = [np.ones((2, 4, n), np.float32) for n in (32, width, 32)]
    heads = {"q_num_heads": 4, "kv_num_heads": 4, "update_rule": "linear"}
    model, given = sessions("LinearAttention", *inputs, version=27, **heads)
    assert ("stretched" not in model.by_reference(given).refusal) is judges


@needs_onnxruntime
@pytest.mark.parametrize(
    ("first", "after", "disputed"),
    [
        (np.nan, {"storage_order": 1}, True),
        (np.nan, {"strides": [2, 2]}, False),
        (-np.inf, {"storage_order": 1}, True),
        (-np.inf, {"strides": [2, 2]}, False),
        (-0.0, {"storage_order": 1}, True),
        (1.0, {"storage_order": 1}, False),
    ],
)
def test_a_max_pool_of_no_maximum_is_disputed_where_nothing_else_differs(
    first: float, after: dict[str, Any], disputed: bool
) -> None:
    x = np.arange(36, dtype=np.float32).reshape(1, 1, 6, 6)
    x[0, 0, :3, :3] = first
    made = [sessions("MaxPool", x, kernel_shape=[3, 3], **given) for given in ({}, after)]
    before, other = (Side(each.model) for each, _ in made)
    pair = Pair("MaxPool", "kind", before, other, {})
    assert bool(judge._agree_without(pair, Point({}, made[0][1]), False)) is disputed


@needs_onnxruntime
@pytest.mark.parametrize(
    ("first", "after", "disputed"), [(-0.0, "Identity", True), (-0.0, "Neg", False), (0.0, "Neg", False)]
)
def test_a_where_of_minus_zero_is_disputed_where_nothing_else_differs(first: float, after: str, disputed: bool) -> None:
    x, yes = np.array([first, 2], np.float32), np.array([True, True])
    (chosen, given), (other, _) = (sessions("Where", yes, x, x) for _ in range(2))
    node = other.model.graph.node[0]
    node.op_type = after
    node.input[:] = node.input[1:2]
    pair = Pair("Where", "kind", Side(chosen.model), Side(other.model), {})
    assert bool(judge._agree_without(pair, Point({}, given), False)) is disputed


@needs_onnxruntime
def test_runtimes_stretch_scales(monkeypatch: pytest.MonkeyPatch) -> None:
    """If this fails, the excuse has lost its reason."""
    monkeypatch.setattr(Sessions, "_stretches", lambda *_: False)
    inputs = np.ones((1, 4, 3), np.float32), np.ones(4, np.float32), np.ones(1, np.float32)
    model, given = sessions("GroupNormalization", *inputs, version=21, num_groups=1)
    assert model.by_onnxruntime(given).arrays is not None
    assert model.by_reference(given).arrays is not None


@pytest.mark.parametrize(("version", "lacks"), [(10, True), (16, False)])
def test_the_evaluator_is_excused_from_versions_that_it_takes_for_newer_ones(version: int, lacks: bool) -> None:
    boxes, places = np.array([[0, 0, 2, 2]], np.float32), np.array([0])
    model, given = sessions("RoiAlign", np.ones((1, 1, 4, 4), np.float32), boxes, places, version=version)
    assert model.by_reference(given).lacks is lacks


@needs_onnxruntime
@pytest.mark.parametrize(("extent", "lacks"), [(0, True), (2, False)])
def test_onnxruntime_is_excused_from_the_mode_wrap_where_an_axis_is_empty(extent: int, lacks: bool) -> None:
    x = np.ones((extent, 3), np.float32)
    model, given = sessions("Pad", x, np.array([0, 1, 0, 1]), version=25, mode="wrap")
    ran = model.by_onnxruntime(given)
    assert ran.lacks is lacks
    assert (ran.arrays is None) is lacks


@needs_onnxruntime
@pytest.mark.parametrize(("shape", "pads"), [((0, 3), [1, 0, 0, 0]), ((2, 0), [0, 1, 0, 0]), ((0, 0), [0, 0, 1, 0])])
def test_what_nobody_can_wrap_is_refused_and_not_excused(shape: tuple[int, int], pads: list[int]) -> None:
    model, given = sessions("Pad", np.ones(shape, np.float32), np.array(pads), version=25, mode="wrap")
    ran = model.by_onnxruntime(given)
    assert ran.arrays is None
    assert not ran.lacks


@pytest.mark.parametrize(("pads", "excused"), [([0, 1, 0, 1], True), ([1, 0, 0, 1], False), ([1, -1, 0, 0], True)])
def test_the_mode_wrap_is_excused_if_an_axis_is_left_as_it_is(pads: list[int], excused: bool) -> None:
    one = OneNode("Pad", "", 25, [np.ones((1, 3), np.float32), np.array(pads)], {"mode": "wrap"})
    assert bool(exceptions(one, "wide", "at {'N': 0}: refused, Unexpected mode of 3")) is excused
    for kind, text in (("wide", "at {'N': 1}: refused, Unexpected mode of 3"), ("narrow", "at {'N': 0}: refused")):
        assert not exceptions(one, kind, text)


# ---------------------------------------------------------------------- what counts as a wrong verdict


class Told(Side):
    """A model of which it is told what the runtimes compute at every point, or at the first one and at all others."""

    def __init__(self, onnxruntime: Sequence[Ran], reference: Sequence[Ran]) -> None:
        super().__init__(ModelProto())
        self.told = {"onnxruntime": onnxruntime, "reference": reference}

    def _tell(self, runtime: str, point: Point) -> Ran:
        return self.told[runtime][min(point.at["N"], len(self.told[runtime]) - 1)]

    def by_onnxruntime(self, point: Point) -> Ran:
        return self._tell("onnxruntime", point)

    def by_reference(self, point: Point) -> Ran:
        return self._tell("reference", point)


ONE, TWO = (Ran([np.array([n], np.float32)]) for n in (1, 2))
REFUSES, LACKS = Ran(None, "it is no model"), Ran(None, "NotImplemented: no kernel")


@pytest.fixture
def two_runtimes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "has_onnxruntime", lambda: True)
    monkeypatch.setattr(judge, "apart_from_itself", lambda *_: False)


def outcome_of_a_proof(before: Side, after: Side, inside: Sequence[bool] = (True,)) -> str:
    """Return what the judge says of a PROVED, at points that are in the stated domain or not."""
    points = [Point({"N": n}, {}) for n in range(len(inside))]
    found = SimpleNamespace(laws=(), formulas=(), assumed=(), requires=[_Meets(inside)])
    pair = Pair("subject", "kind", before, after, points=points)
    return judge.judged_proof(pair, found, random.Random(0))[0]


class _Meets:
    """A relation in N that holds at points."""

    def __init__(self, inside: Sequence[bool]) -> None:
        self.inside = inside
        self.free_symbols = {_Name("N")}

    def subs(self, known: Any) -> str:
        (at,) = known.values()
        return str(self.inside[at])


class _Name:
    def __init__(self, name: str) -> None:
        self.name = name


@pytest.mark.usefixtures("two_runtimes")
@pytest.mark.parametrize(
    ("reference_before", "inside", "outcome"),
    [
        (REFUSES, False, "disputed"),
        (REFUSES, True, "wrong"),
        (LACKS, False, "wrong"),
        (LACKS, True, "wrong"),
        (ONE, False, "wrong"),
        (ONE, True, "wrong"),
    ],
)
@pytest.mark.parametrize("after", [TWO, REFUSES])
def test_a_difference_is_disputed_outside_of_the_stated_sizes_where_a_runtime_refuses_them(
    after: Ran, reference_before: Ran, inside: bool, outcome: str
) -> None:
    before = Told([ONE], [reference_before])
    assert outcome_of_a_proof(before, Told([after], [after]), [inside]) == outcome


@pytest.mark.usefixtures("two_runtimes")
def test_a_disputed_point_hides_no_wrong_one() -> None:
    before, after = Told([ONE], [REFUSES, ONE]), Told([TWO], [TWO])
    assert outcome_of_a_proof(before, after, [False, True]) == "wrong"
    assert outcome_of_a_proof(before, after, [False]) == "disputed"


@pytest.mark.usefixtures("two_runtimes")
def test_the_reference_evaluator_judges_in_the_domain_what_onnxruntime_is_excused_from() -> None:
    assert outcome_of_a_proof(Told([LACKS], [ONE]), Told([LACKS], [TWO])) == "wrong"
    assert outcome_of_a_proof(Told([LACKS], [ONE]), Told([LACKS], [ONE])) == ""
    assert outcome_of_a_proof(Told([LACKS], [ONE]), Told([LACKS], [TWO]), [False]) == "not judged"


@pytest.mark.parametrize(("count", "outcome"), [(4, "disputed"), (1, "wrong")])
def test_several_limits_of_chosen_boxes_are_what_the_standard_has_not(
    count: int, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge, "apart_from_itself", lambda *_: False)
    chosen = helper.make_node("NonMaxSuppression", ["b", "s", "", "limit"], ["y"])
    proto = helper.make_model(helper.make_graph([chosen], "g", [], []))
    told = [Side(proto), Side(proto)]
    for side, number in zip(told, (ONE, TWO), strict=True):
        monkeypatch.setattr(side, "by_reference", lambda _, number=number: number)
    point = Point({"N": count}, {"limit": np.zeros(count, np.float32)})
    pair = Pair("NonMaxSuppression", "kind", told[0], told[1])
    assert judge._second(pair, point, False, "onnxruntime: differ", ONE, TWO)[0] == outcome


@pytest.mark.parametrize(("steps", "outcome"), [(0, "disputed"), (1, "wrong")])
def test_last_states_of_a_layer_without_steps_are_memory_as_it_was(
    steps: int, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge, "apart_from_itself", lambda *_: False)
    layer = helper.make_node("LSTM", ["x", "w", "r"], ["", "", "y"], hidden_size=3)
    proto = helper.make_model(helper.make_graph([layer], "g", [], []))
    told = [Side(proto), Side(proto)]
    for side, number in zip(told, (ONE, TWO), strict=True):
        monkeypatch.setattr(side, "by_reference", lambda _, number=number: number)
    point = Point({"N": steps}, {"x": np.zeros((steps, 2, 3), np.float32)})
    found = judge._second(Pair("LSTM", "kind", told[0], told[1]), point, False, "onnxruntime: differ", ONE, TWO)
    assert found[0] == outcome


# ---------------------------------------------------------------------- a process that ends


@pytest.mark.parametrize(
    ("within", "status", "noted"),
    [
        (True, -signal.SIGKILL, "ended by a runtime"),
        (False, -signal.SIGKILL, "wrong"),
        (True, 3, "wrong"),
        (False, 3, "wrong"),
    ],
)
def test_a_process_is_excused_if_a_signal_ends_it_in_a_runtime(within: bool, status: int, noted: str) -> None:
    def end() -> None:
        if status < 0:
            os.kill(os.getpid(), -status)
        os._exit(status)

    def attack(seed: int, tally: Tally) -> None:
        if seed == 0:
            if within:
                with in_runtime():
                    end()
            with in_runtime():
                pass
            end()
        tally.note("case", "done")

    tally = Tally()
    for _, found in runner.run(attack, 0, 2, 30.0):
        tally.merge(found)
    assert dict(tally.totals()) == {noted: 1, "done": 1}


# ---------------------------------------------------------------------- the sizes of single nodes

AT = "at {'N': 2}: refused, "
EMPTY = "at {'N': 0, 'M': 2}: runs, gives [(0, 2)]; we refuse: infeasible"
FULL = "at {'N': 3, 'M': 2}: runs, gives [(3, 2)]; we refuse: infeasible"


@pytest.mark.parametrize(
    ("op", "version", "kind", "text", "excused"),
    [
        ("Gather", 13, "narrow", EMPTY, True),
        ("Gather", 13, "narrow", FULL, False),
        ("MatMul", 13, "narrow", EMPTY, False),
        ("LRN", 13, "wide", f"{AT}Exception during initialization: nn/lrn.h size_ % 2 == 1 was false.", True),
        ("LRN", 13, "wide", f"{AT}Exception during initialization: nn/lrn.h size_ > 0 was false.", False),
        ("RNN", 14, "wide", f"{AT}Exception during initialization: &hidden_size_).IsOK() was false.", True),
        ("RNN", 14, "wide", f"{AT}Exception during initialization: direction_ was false.", False),
        ("LSTM", 14, "wide", f"{AT}LSTM operator does not support double yet", True),
        ("Conv", 11, "wide", f"{AT}Conv does not support double", False),
        ("ReduceMax", 20, "wide", f"{AT}ReduceMax is not defined for empty set with bool type", True),
        ("ReduceSum", 13, "wide", f"{AT}ReduceSum is not defined for empty set with bool type", False),
        ("OneHot", 11, "wide", f"{AT}Received non-negative", True),
        ("TopK", 11, "wide", f"{AT}Received non-negative", False),
        ("GroupNormalization", 21, "wide", f"{AT}Type Error: Type parameter", True),
        ("Add", 14, "wide", f"{AT}Type Error: Type parameter", False),
        ("STFT", 17, "wide", f"{AT}shape.Size() must be", True),
        ("DFT", 17, "wide", f"{AT}shape.Size() must be", False),
    ],
)
def test_an_exception_applies_to_its_fault_only(op: str, version: int, kind: str, text: str, excused: bool) -> None:
    why = exceptions(OneNode(op, "", version, [], {}), kind, text)
    assert (why in EXCEPTIONS) is excused
    other = {"wide": "narrow", "narrow": "wide"}[kind]
    assert exceptions(OneNode(op, "", version, [], {}), other, text) == ""
