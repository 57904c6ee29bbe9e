"""How the work of `verify` grows, in goals of the algebra and in calls of functions, where models have unknown dims."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import NodeProto, ValueInfoProto

import symlayout as sl
from symlayout.algebra import fact_store
from symlayout.equivalence.verify_models import verify
from symlayout.proof.points import bound_as_one
from symlayout.tensors.apply_operation import Application
from symlayout.tensors.computation import Computation
from tests.support.onnx_writer import FLOAT, INT64, model, node, tensor, value_info
from tests.support.steps import counted


def with_unknown_dims(nodes: list[NodeProto], inputs: list[ValueInfoProto], ranks: dict[str, int]) -> bytes:
    """Return a model with operations of the domain "own", and values of these ranks without names for the extents."""
    made = onnx.ModelProto.FromString(model(nodes, inputs, constants=[tensor([0, 0, 2, 4], name="heads")]))
    made.opset_import.append(onnx.helper.make_opsetid("own", 1))
    made.graph.value_info.extend(value_info(name, [None] * rank) for name, rank in ranks.items())
    data: bytes = made.SerializeToString()
    return data


def broadcasts(count: int) -> bytes:
    """Return *count* sums with values whose dims are unknown, as the graphs of training have them."""
    ranks: dict[str, int] = {}
    nodes, at = [], "x"
    for k in range(count):
        out = f"v{k}" if k < count - 1 else "y"
        nodes += [node("Known", "x", f"u{k}", domain="own", k=k), node("Add", f"{at}, u{k}", out)]
        ranks[f"u{k}"], at = 2, out
    return with_unknown_dims(nodes, [value_info("x", ("N", "C"))], ranks)


def layers(count: int, *, ranks: bool) -> bytes:
    """Return *count* layers of attention with normalisations and rotations that nothing is known of."""
    known: dict[str, int] = {}
    nodes, at = [], "x"
    for k in range(count):
        nodes += [node("Norm", at, f"n{k}", domain="own")]
        for part in "qkv":
            nodes.append(node("Reshape", f"n{k}, heads", f"{part}r{k}"))
            nodes.append(node("Transpose", f"{part}r{k}", f"{part}t{k}", perm=[0, 2, 1, 3]))
        nodes += [
            node("Rotate", f"qt{k}, at", f"qo{k}", domain="own"), node("Rotate", f"kt{k}, at", f"ko{k}", domain="own"),
            node("Transpose", f"ko{k}", f"kk{k}", perm=[0, 1, 3, 2]), node("MatMul", f"qo{k}, kk{k}", f"s{k}"),
            node("Softmax", f"s{k}", f"p{k}", axis=-1), node("MatMul", f"p{k}, vt{k}", f"o{k}"),
            node("Transpose", f"o{k}", f"ot{k}", perm=[0, 2, 1, 3]), node("Merge", f"ot{k}", f"m{k}", domain="own"),
            node("Add", f"{at}, m{k}", f"y{k}" if k < count - 1 else "y"),
        ]  # fmt: skip
        known |= {f"n{k}": 3, f"m{k}": 3, f"qo{k}": 4, f"ko{k}": 4} if ranks else {f"m{k}": 3}
        at = f"y{k}"
    return with_unknown_dims(nodes, [value_info("x", ("B", "S", 8), FLOAT), value_info("at", ("B", "S"), INT64)], known)


def read_twice(data: bytes, folder: Path) -> list[sl.Model]:
    (folder / "model.onnx").write_bytes(data)
    return [sl.read_model(folder / "model.onnx") for _ in range(2)]


@pytest.fixture
def goals(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the goals that are visited from now on."""
    spent: list[int] = []
    monkeypatch.setattr(fact_store, "spend_goals", spent.append)
    return spent


def test_unknown_dims_that_are_broadcast_do_not_multiply_what_is_asked(tmp_path: Path, goals: list[int]) -> None:
    before, after = read_twice(broadcasts(6), tmp_path)  # 7 dims on each axis, 21 pairs of which fit
    reading = sum(goals)
    assert reading < 10_000  # each sign of two unknown dims would be searched for with up to 3 facts
    goals.clear()
    assert verify(before, after).verdict is sl.Verdict.PROVED
    assert sum(goals) < reading  # the maxima that both models have are not decided again


def test_a_model_beside_itself_is_proved_without_a_question_to_the_algebra_for_each_pair(
    tmp_path: Path, goals: list[int]
) -> None:
    for ranks in (False, True):
        found = []
        for count in (1, 3):
            before, after = read_twice(layers(count, ranks=ranks), tmp_path)
            goals.clear()
            assert verify(before, after).verdict is sl.Verdict.PROVED
            found.append(sum(goals))
        assert found[1] <= 3.5 * found[0] + 200


def test_twice_the_layers_take_twice_the_calls(tmp_path: Path) -> None:
    def calls(count: int) -> int:
        before, after = read_twice(layers(count, ranks=False), tmp_path)
        with counted() as steps:
            assert verify(before, after).verdict is sl.Verdict.PROVED
        return steps.count

    calls(1)  # imports and caches
    assert calls(8) < 2.5 * calls(4)  # 3.4 when each value walked through all that it is made of


def test_what_both_sides_make_by_the_same_steps_is_made_and_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def chain() -> sl.Tensor:
        return sl.flip(sl.onnx.relu(sl.transpose(sl.onnx.add(sl.tensor("N, C", name="x", dtype="float32"), 1.0))))

    made: list[str] = []

    def noted(cls: type) -> Callable[..., sl.Tensor]:
        plain: Callable[..., sl.Tensor] = cls.__call__

        def call(self: object, *args: object) -> sl.Tensor:
            t = plain(self, *args)
            made.append(t.name)
            return t

        return call

    sides = chain(), chain(), sl.onnx.relu(chain())
    for cls in (Application, Computation):
        monkeypatch.setattr(cls, "__call__", noted(cls))
    a, b, c = bound_as_one(sides, {"N": 2, "C": 3})
    assert a is b
    assert c.inputs == (a,)
    assert len(made) == len(set(map(id, c.graph()))) - len([t for t in c.graph() if not t.inputs])


def test_other_attributes_constants_and_types_are_other_steps() -> None:
    x = sl.tensor("N", name="x", dtype="float32")
    again = sl.tensor("N", name="x", dtype="float64")
    zeros = sl.onnx.add(x, 0.0), sl.onnx.add(x, -0.0)
    sides = sl.flip(x), sl.roll(x, 1, 0), sl.roll(x, 2, 0), *zeros, sl.flip(again)
    assert len(set(map(id, bound_as_one(sides, {"N": 3})))) == len(sides)
