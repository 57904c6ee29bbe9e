"""The attack itself: a part of it, judged by the reference evaluator, and that it finds what is wrong."""

from __future__ import annotations

import json
import random
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import symlayout as sl
from symlayout.equivalence.verify_models import verify
from tests.attack import buckets, claims, judge, node_tests, pairs, runner, runtimes
from tests.attack.bases import constant
from tests.attack.judge import Pair, Side
from tests.attack.replay import changed, refuted
from tests.attack.runtimes import Sessions, apart
from tests.attack.tally import Tally, Wrong, add, page
from tests.equivalence import unoptimized_onnxruntime

CASES = {  # by the numbers of cases, which take some seconds together
    "pairs": (pairs.attack, range(112, 121)),
    "node_tests": (node_tests.attack, range(100, 108)),
    "buckets": (buckets.attack, range(100, 106)),
}


def side(op: str, *constants: TensorProto, **attributes: object) -> Side:
    node = helper.make_node(op, ["x", *(c.name for c in constants)], ["y"], **attributes)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "M"])
    graph = helper.make_graph([node], "g", [x], [helper.make_empty_tensor_value_info("y")], constants)
    return Side(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9))


def answered(verdict: sl.Verdict, before: Side, after: Side, monkeypatch: pytest.MonkeyPatch) -> Tally:
    """Return what the judge says if the answer for the pair is *verdict*, by the witness of a pair that differs."""
    real = verify(side("Abs").model, side("Neg").model, run=False)
    given = real if verdict is sl.Verdict.REFUTED else verify(before.model, before.model, run=False)
    monkeypatch.setattr(sl, "verify", lambda *_, **__: given)
    monkeypatch.setattr(judge, "_asked", set())
    tally = Tally()
    judge.ask(Pair("subject", "kind", before, after, {"N": 2, "M": 3}), random.Random(0), tally)
    return tally


@pytest.fixture
def by_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge by the reference evaluator, also where onnxruntime is installed."""
    monkeypatch.setattr(judge, "has_onnxruntime", lambda: False)
    monkeypatch.setattr(claims, "has_onnxruntime", lambda: False)


@pytest.mark.slow
@pytest.mark.usefixtures("by_reference")
@pytest.mark.parametrize("part", CASES)
def test_no_verdict_of_a_part_of_the_attack_is_wrong(part: str) -> None:
    attack, cases = CASES[part]
    tally = Tally()
    for number in cases:
        attack(number, tally)
    assert not [w for w in tally.wrong if "disputed" not in w.kind], tally.wrong[0].text
    assert min(tally.totals()[verdict] for verdict in ("PROVED", "REFUTED")) > 5


@pytest.mark.usefixtures("by_reference")
def test_a_wrong_proof_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answered(sl.Verdict.PROVED, side("Relu"), side("Abs"), monkeypatch).totals()["wrong"] == 1


def test_which_of_two_zeros_is_the_larger_is_open_and_nothing_more() -> None:
    def of(op: str, *names: str) -> Sessions:
        inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N"]) for name in ("x", "z")]
        outputs = [helper.make_empty_tensor_value_info("y")]
        return Sessions(
            helper.make_model(helper.make_graph([helper.make_node(op, names, ["y"])], "g", inputs, outputs))
        )

    given = {"x": np.array([0, -0.0, 1, np.nan], np.float32), "z": np.array([-0.0, -0.0, 2, 1], np.float32)}
    for op, expected in (("Max", [0.0, -0.0, 2, np.nan]), ("Min", [-0.0, -0.0, 1, np.nan])):
        for names in (("x", "z"), ("z", "x")):
            made = of(op, *names).with_ordered_zeros(given).arrays
            assert made is not None
            assert apart(made, [np.array(expected, np.float32)]) == ""
    made = of("Sub", "x", "z").with_ordered_zeros(given).arrays
    assert made is not None
    assert made[0][2] == -1


@pytest.mark.usefixtures("by_reference")
def test_a_witness_at_which_nothing_differs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answered(sl.Verdict.REFUTED, side("Abs"), side("Abs"), monkeypatch).totals()["wrong"] == 1


def test_a_witness_has_an_array_for_an_input_without_axes() -> None:
    models = []
    for op in ("Floor", "Round"):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [])
        y = helper.make_empty_tensor_value_info("y")
        graph = helper.make_graph([helper.make_node(op, ["x"], ["y"])], "g", [x], [y])
        models.append(Side(helper.make_model(graph, ir_version=9)).model)
    witness = verify(*models, run=False).witness
    assert witness is not None
    assert isinstance(witness.inputs["x"], np.ndarray)  # onnxruntime takes no NumPy scalars


@pytest.mark.usefixtures("by_reference")
def test_right_answers_are_not_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not answered(sl.Verdict.PROVED, side("Abs"), side("Abs"), monkeypatch).totals()["wrong"]
    assert not answered(sl.Verdict.REFUTED, side("Abs"), side("Neg"), monkeypatch).totals()["wrong"]


@pytest.mark.usefixtures("by_reference")
def test_a_claim_is_asked_once() -> None:
    tally = Tally()
    for _ in range(2):
        judge.ask(Pair("subject", "kind", side("Abs"), side("Neg")), random.Random(0), tally)
    assert tally.totals() == {"REFUTED": 1, "asked before": 1}


@pytest.mark.usefixtures("by_reference")
def test_models_that_agree_are_pairs_in_both_directions() -> None:
    sides = [side("Abs"), side("Abs", name="other"), side("Neg"), side("Reshape", constant("c", [5, 7]))]
    points = judge.points_of(sides, {"N": 2, "M": 3}, {}, random.Random(0))
    agreeing, differing = claims.paired(sides, points, random.Random(0))
    assert {tuple(map(sides.index, pair)) for pair in agreeing} == {(0, 1), (1, 0)}
    assert {tuple(map(sides.index, pair)) for pair in differing} == {(0, 2), (2, 0), (1, 2), (2, 1)}


def test_bits_are_compared() -> None:
    a = np.array([1, 0, np.nan], np.float32)
    assert apart([a], [a.copy()]) == ""
    assert apart([a], [np.array([1, -0.0, np.nan], np.float32)]) == "value"
    assert apart([a], [np.array([1, 0, 1], np.float32)]) == "value"
    assert apart([a], [np.array([np.nextafter(np.float32(1), np.float32(2)), 0, np.nan], np.float32)]) == "rounding"
    assert apart([a], [a.astype(np.float64)]) == "type"
    assert apart([a], [a.reshape(1, 3)]) == "shape"


def test_replays_of_the_suites_find_wrong_verdicts() -> None:
    if not unoptimized_onnxruntime.is_installed():
        pytest.skip("onnxruntime is not installed: nothing is replayed")
    relu, absolute = side("Relu").model, side("Abs").model
    assert "find another value" in changed(relu, absolute.source)
    assert not changed(relu, relu.source)
    assert "refuses the model after" in changed(relu, side("Reshape", constant("c", [5, 7])).model.source)
    apart_ = sl.verify(relu, absolute, run=False)
    assert apart_.verdict is sl.Verdict.REFUTED
    assert not refuted(relu, absolute, apart_)
    assert "both models compute" in refuted(absolute, absolute, apart_)


def test_a_case_that_fails_is_a_finding_and_the_run_goes_on() -> None:
    def attack(seed: int, tally: Tally) -> None:
        if seed == 1:
            raise ValueError("a crash")
        tally.note("subject", "PROVED")

    tally = Tally()
    for _, found in runner.run(attack, 0, 4, 60.0):
        tally.merge(found)
    assert tally.totals() == {"PROVED": 3, "wrong": 1}
    assert "a crash" in tally.wrong[0].text


def test_the_parts_are_the_modules_with_an_attack() -> None:
    assert {"pairs", "node_tests", "buckets"} <= runner.parts().keys()


def test_the_page_has_the_counts_of_each_run(tmp_path: Path) -> None:
    tally = Tally()
    tally.note("Relu", "PROVED")
    tally.note_wrong("Relu", Wrong("kind", "text"))
    for _ in range(2):
        add(tmp_path / "counts.json", "pairs", tally)
    text = page(json.loads((tmp_path / "counts.json").read_text()))
    assert "| Relu | 2 | 0 | 0 | 2 |" in text
    assert tally.wrong[0].save(tmp_path).joinpath("verdict.txt").read_text() == "text\n"


def test_the_reference_evaluator_does_not_run_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtimes, "_LONGEST", 0.2)
    shapes = {"x": (TensorProto.FLOAT, [1, 1, 4, 4]), "r": (TensorProto.FLOAT, [1, 4]), "b": (TensorProto.INT64, [1])}
    inputs = [helper.make_tensor_value_info(name, *of) for name, of in shapes.items()]
    align = helper.make_node("RoiAlign", list(shapes), ["y"], output_height=2, output_width=2)
    graph = helper.make_graph([align], "g", inputs, [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)
    box = np.array([[0, 0, 1e7, 1e7]], np.float32)  # as many samples as elements of the box
    given: dict[str, Any] = {"x": np.ones((1, 1, 4, 4), np.float32), "r": box, "b": np.zeros(1, np.int64)}
    assert Sessions(model).by_reference(given).lacks


def test_the_reference_evaluator_crops_by_pads_below_0() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    pads = constant("pads", np.array([-1, 2, 0, -3], np.int64))
    made = side("Pad", pads).sessions.by_reference({"x": x}).arrays
    assert made is not None
    assert made[0].tolist() == [[0, 0, 4], [0, 0, 8]]
    too_many = constant("pads", np.array([-2, 0, -2, 0], np.int64))
    refused = side("Pad", too_many).sessions.by_reference({"x": x})
    assert refused.arrays is None
    assert not refused.lacks


@pytest.mark.parametrize(("elem_type", "judges"), [(TensorProto.FLOAT, True), (TensorProto.INT32, False)])
def test_onnxruntime_judges_logarithms_of_floats_only(elem_type: int, judges: bool) -> None:
    pytest.importorskip("onnxruntime")
    model = side("ReduceLogSumExp").proto
    model.graph.input[0].type.tensor_type.elem_type = elem_type
    x = np.array([[-4, -8]], helper.tensor_dtype_to_np_dtype(elem_type))
    assert (Sessions(model).by_onnxruntime({"x": x}).arrays is not None) is judges


@pytest.mark.parametrize(("elem_type", "outcome"), [(TensorProto.FLOAT, "wrong"), (TensorProto.INT64, "not judged")])
def test_what_is_no_model_is_not_judged(elem_type: int, outcome: str) -> None:
    pytest.importorskip("onnxruntime")
    before, after = (side("Pad", pads=[0, 0, 0, 0], mode="constant") for _ in range(2))
    for s in (before, after):
        s.proto.opset_import[0].version = 10
        s.proto.graph.input[0].type.tensor_type.elem_type = elem_type
    given = {"x": np.zeros((2, 3), helper.tensor_dtype_to_np_dtype(elem_type))}
    assert judge._replayed(Pair("Pad", "kind", before, after, {}), given, False)[0] == outcome


def test_the_end_of_the_evaluator_may_come_while_it_is_handled(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is freed after the first end takes longer than the time until the next one."""

    def twice(*_: object) -> Any:
        try:
            raise TimeoutError("NotImplemented: once")
        except TimeoutError:
            raise TimeoutError("NotImplemented: once more") from None

    monkeypatch.setattr(runtimes, "_ran", twice)
    before = signal.getsignal(signal.SIGVTALRM)
    assert side("Relu").sessions.by_reference({}).lacks
    assert signal.getsignal(signal.SIGVTALRM) is before
