"""How much work `sl.optimize` does: counted in calls, which are the same on every machine."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from onnx import TensorProto, helper, save

import symlayout as sl
from symlayout.errors import ShapeError
from symlayout.optimize_models import optimize_model
from symlayout.optimize_models.spellings.movement_digits import examples
from symlayout.optimize_models.spellings.spell_movement import Speller
from symlayout.tensors.chain import Tensor


def _layers(path: Path, count: int) -> Path:
    """Write a model of layers that move alike: heads are cut, and joined after a softmax."""
    nodes, name = [], "x"
    for k in range(count):
        nodes += [
            helper.make_node("Reshape", [name, "heads"], [f"cut{k}"]),
            helper.make_node("Transpose", [f"cut{k}"], [f"heads{k}"], perm=[0, 2, 1, 3]),
            helper.make_node("Softmax", [f"heads{k}"], [f"soft{k}"], axis=1),
            helper.make_node("Transpose", [f"soft{k}"], [f"back{k}"], perm=[0, 2, 1, 3]),
            helper.make_node("Reshape", [f"back{k}", "whole"], [f"layer{k}"]),
        ]
        name = f"layer{k}"
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "S", 8])
    made = helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", "S", 8])
    numbers = [
        helper.make_tensor("heads", TensorProto.INT64, [4], [0, 0, 2, 4]),
        helper.make_tensor("whole", TensorProto.INT64, [3], [0, 0, 8]),
    ]
    graph = helper.make_graph(nodes, "layers", [given], [made], numbers)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def test_movement_is_spelled_once_for_layers_that_move_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Speller._found
    counts: Counter[int] = Counter()
    for count in (3, 9):

        def counted(self: Speller, *given: Any, count: int = count) -> Any:
            counts[count] += 1
            return found(self, *given)

        monkeypatch.setattr(Speller, "_found", counted)
        o = sl.optimize(_layers(tmp_path / f"{count}.onnx", count))
        assert o.report.after.transposes == 0
        assert o.report.verdicts == {f"layer{count - 1}": sl.Verdict.PROVED}
    assert 0 < counts[9] <= counts[3]


def test_no_rule_is_tried_twice_on_one_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: Counter[tuple[int, Any]] = Counter()
    kept = []
    for name in ("dilate", "join_elsewhere", "fold_pads", "fold_repeats"):
        rule = getattr(optimize_model, name)

        def counted(model: Any, *given: Any, rule: Any = rule) -> Any:
            kept.append(model)  # so that no other has its id
            tried[id(model), rule] += 1
            return rule(model, *given)

        monkeypatch.setattr(optimize_model, name, counted)
    sl.optimize(_layers(tmp_path / "model.onnx", 3))
    assert len({id(m) for m in kept}) > 1
    assert set(tried.values()) == {1}


def test_sizes_are_chosen_before_anything_is_applied(monkeypatch: pytest.MonkeyPatch) -> None:
    """The declarations run once for each of two examples, not for each size that is tried."""
    bound = []
    subs = Tensor.subs

    def counted(t: Tensor, values: Any) -> Tensor:
        bound.append(values)
        return subs(t, values)

    monkeypatch.setattr(Tensor, "subs", counted)
    x = sl.tensor("N, 4*h, 6*w, C", name="x")
    found = examples(sl.transpose(sl.space_to_depth(x[:, 1:-1], 2), (0, 3, 1, 2)))
    assert len(found) == len(bound) == 2
    assert [any(n < 2 for n in (*each.start, *each.end)) for each in found] == [False, False]


def test_sizes_for_which_nothing_can_be_applied_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def refuses(*given: Any) -> Any:
        tries.append(given)
        raise ShapeError("no size will do", "infeasible")

    monkeypatch.setattr(Tensor, "subs", refuses)
    assert examples(sl.transpose(sl.tensor("A, B, C, D", name="x"))) == []
    assert 0 < len(tries) <= 8


def test_a_long_way_of_moves_is_one_region(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spelled = Speller.cheapest
    counts: Counter[int] = Counter()
    for count in (100, 400):
        names = ["x", *(f"v{k}" for k in range(count))]
        nodes = [helper.make_node("Transpose", [a], [b], perm=[1, 0]) for a, b in pairwise(names)]
        shapes = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", "M"]) for name in names}
        graph = helper.make_graph(nodes, "way", [shapes["x"]], [shapes[names[-1]]])
        save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "way.onnx")

        def counted(self: Speller, *given: Any, count: int = count) -> Any:
            counts[count] += 1
            return spelled(self, *given)

        monkeypatch.setattr(Speller, "cheapest", counted)
        assert sl.optimize(tmp_path / "way.onnx").report.nodes == (count, 1)
    assert counts[400] < counts[100] + 10
