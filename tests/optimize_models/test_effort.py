"""How much work `sl.optimize` does: counted in calls, which are the same on every machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import pytest
from onnx import TensorProto, helper, save

import symlayout as sl
from symlayout.deadlines import goals_within
from symlayout.equivalence.verify_models import verify
from symlayout.errors import ShapeError
from symlayout.maps.interpreter import interpret
from symlayout.optimize_models import optimize_model
from symlayout.optimize_models.fewer_nodes import known_constants
from symlayout.optimize_models.spellings.movement_digits import examples
from symlayout.optimize_models.spellings.spell_movement import Speller
from symlayout.proof.counterexample import WitnessSearch
from symlayout.tensors import stand_in
from symlayout.tensors.chain import Tensor
from tests.promises.deep_models import DEEP


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


def _saved(path: Path, nodes: list[Any], shape: list[Any], outputs: list[str]) -> Path:
    """Write a model of one input x, whose outputs have no shape."""
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    made = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph(nodes, "graph", [given], made)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def _turned(count: int) -> list[Any]:
    """Return nodes that transpose and compute in turn: each pair of transposes cancels."""
    names = ["x", *(f"v{k}" for k in range(2 * count))]
    return [
        helper.make_node("Relu" if k % 2 else "Transpose", [a], [b], **({} if k % 2 else {"perm": [1, 0]}))
        for k, (a, b) in enumerate(pairwise(names))
    ]


@pytest.mark.parametrize("count", [4, 24])
def test_what_is_not_equal_to_itself_is_compared_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    nodes = [*_turned(count), helper.make_node("RandomNormalLike", ["x"], ["noise"], dtype=1)]
    compared = []

    def counted(*given: Any, **options: Any) -> Any:
        compared.append(given)
        return verify(*given, **options)

    monkeypatch.setattr(optimize_model, "verify", counted)
    report = sl.optimize(_saved(tmp_path / "m.onnx", nodes, ["N", "C"], [f"v{2 * count - 1}", "noise"])).report
    assert len(compared) == 2
    assert [c.reason for c in report.changes] == ["output noise is UNKNOWN"]


def test_work_of_values_that_are_moved_from_several_grows_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where half of a value is computed anew, again and again, no movement goes back to the first one."""
    steps: Counter[int] = Counter()
    for count in (8, 32):
        nodes: list[Any] = []
        for k in range(count):
            nodes += [
                helper.make_node("Split", [f"v{k}" if k else "x"], [f"a{k}", f"b{k}"], axis=1),
                helper.make_node("Neg", [f"a{k}"], [f"c{k}"]),
                helper.make_node("Concat", [f"c{k}", f"b{k}"], [f"v{k + 1}"], axis=1),
            ]

        def counted(done: int, count: int = count) -> None:
            steps[count] += done

        monkeypatch.setattr(stand_in, "work", counted)
        sl.optimize(_saved(tmp_path / f"{count}.onnx", nodes, ["N", 4], [f"v{count}"]))
    assert 0 < steps[32] <= 5 * steps[8]


def test_a_search_without_goals_ends_with_what_is_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _saved(tmp_path / "m.onnx", _turned(4), ["N", "C"], ["v7"])
    whole = sl.optimize(path).report
    assert (whole.out_of_goals, whole.after.transposes) == (False, 0)
    monkeypatch.setattr(sl.limits, "optimize_value_goals", 0)
    ended = []
    for goals in (0, 60, 200, 600, 10_000):
        monkeypatch.setattr(sl.limits, "optimize_goals", goals)
        o = sl.optimize(path)
        ended.append(o.report.out_of_goals)
        assert o.report.out_of_goals == ("optimize_goals ended the search" in str(o.report))
        assert sl.verify(path, o, run=False).verdict is sl.Verdict.PROVED
    assert ended[0]
    assert not ended[-1]


def test_what_movement_reads_at_examples_counts_as_goals() -> None:
    """A value that is joined with itself again and again has twice the parts each time, and as many more elements."""

    def joined(times: int) -> Tensor:
        t = sl.tensor("N", name="x")
        for _ in range(times):
            t = sl.concatenate([t, t])
        return t

    def spent(t: Tensor, ask: Callable[[Tensor], object]) -> int:
        return next(k for k in range(30) if goals_within(1 << k, lambda: (ask(t), True)[1], lambda: False))

    def searched(t: Tensor) -> object:
        return WitnessSearch(t, t, t.facts, None).run(2)

    for ask in (examples, searched):
        assert spent(joined(9), ask) >= spent(joined(3), ask) + 4


def test_constants_of_no_use_are_not_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def noted(t: Tensor) -> Any:
        sizes.append(prod(t.shape))
        return interpret(t)

    monkeypatch.setattr(known_constants, "interpret", noted)
    path = tmp_path / "model.onnx"
    path.write_bytes(DEEP["constants that grow"][0](20).SerializeToString())
    sl.optimize(path)
    assert 1 << 10 < max(sizes) <= 1 << 13  # 64 KiB
