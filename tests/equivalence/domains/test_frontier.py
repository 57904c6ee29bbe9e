"""The region of a refutation: the first values that are not the same although everything before them is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from onnx import NodeProto

import symlayout as sl
from symlayout.equivalence.frontier import Frontier
from symlayout.proof.attempts import pairs_known
from symlayout.proof.congruence import Pair, Way
from tests.support.onnx_writer import model, node, value_info
from tests.support.steps import counted

REFUTED, UNKNOWN = sl.Verdict.REFUTED, sl.Verdict.UNKNOWN


def file(folder: Path, nodes: Sequence[NodeProto], x: str = "x") -> Path:
    path = folder / f"{len(list(folder.iterdir()))}.onnx"
    path.write_bytes(model(nodes, [value_info(x, ("S", "S"))]))
    return path


def swish(perm: list[int]) -> list[NodeProto]:
    return [
        node("Sigmoid", "x", "s"),
        node("Mul", "x, s", "m"),
        node("Transpose", "m", "t", perm=perm),
        node("Mul", "t, m", "y"),
    ]


def test_the_region_is_no_pair_of_equal_values(tmp_path: Path) -> None:
    found = sl.verify(file(tmp_path, swish([0, 1])), file(tmp_path, swish([1, 0])))
    assert (found.verdict, found.region, found.frontier) == (REFUTED, ("t", "t"), (("t", "t"),))
    assert found.witness is not None
    assert found.parted is not None
    coord, left, right = found.parted
    x = found.witness.inputs["x"].astype(np.float64)
    m = x / (1 + np.exp(-x))
    assert coord is not None
    np.testing.assert_allclose([left, right], [m[coord], m.T[coord]], rtol=1e-5)
    assert "there at" in found.explain()


@pytest.mark.parametrize(
    ("changed", "region"),
    [
        ({"b": "Cos"}, (("b", "b"),)),
        ({"c": "Tanh"}, (("c", "c"),)),
        ({"b": "Cos", "c": "Tanh"}, (("b", "b"), ("c", "c"))),
        ({"y": "Sub"}, (("y", "y"),)),
        ({"a": "Abs"}, (("a", "a"),)),
    ],
)
def test_all_values_that_part_first_are_named(
    tmp_path: Path, changed: dict[str, str], region: tuple[tuple[str, str], ...]
) -> None:
    def nodes(ops: dict[str, str]) -> list[NodeProto]:
        return [
            node(ops["a"], "x", "a"),
            node(ops["b"], "a", "b"),
            node(ops["c"], "a", "c"),
            node(ops["y"], "b, c", "y"),
        ]

    ops = {"a": "Neg", "b": "Sin", "c": "Exp", "y": "Add"}
    found = sl.verify(file(tmp_path, nodes(ops)), file(tmp_path, nodes(ops | changed)))
    assert (found.verdict, set(found.frontier)) == (REFUTED, set(region))
    assert found.region in region


def test_a_value_that_the_other_model_computes_in_one_piece_is_passed(tmp_path: Path) -> None:
    """The chain of a swish is another operator after; what reads it differs."""
    chain = [node("Sigmoid", "x", "s"), node("Mul", "x, s", "m"), node("Sin", "m", "n"), node("Relu", "n", "y")]
    other = [node("Sigmoid", "x", "s"), node("Mul", "s, x", "m"), node("Cos", "m", "n"), node("Relu", "n", "y")]
    found = sl.verify(file(tmp_path, chain), file(tmp_path, other))
    assert (found.verdict, found.frontier) == (REFUTED, (("n", "n"),))


@pytest.mark.parametrize("name", ["in-0", "a/b:0", "in.0", "0"])
def test_the_arrays_of_a_witness_have_the_names_of_the_model(tmp_path: Path, name: str) -> None:
    models = [file(tmp_path, [node("Transpose", name, "y", perm=perm)], x=name) for perm in ([0, 1], [1, 0])]
    found = sl.verify(*models)
    assert found.witness is not None
    with np.load(found.witness.save(tmp_path / "witness"), allow_pickle=False) as arrays:
        assert list(arrays) == [name]
        np.testing.assert_array_equal(arrays[name], found.witness.inputs[name])
        assert arrays[name].shape == (2, 2)


def test_without_names_the_outputs_themselves_part() -> None:
    x = sl.tensor("N", name="x")
    a, b = sl.onnx.relu(sl.onnx.exp(x)), sl.onnx.relu(sl.onnx.tanh(x))
    known = pairs_known(x.facts, (), None, ([a], [b]))
    assert Frontier(({}, {}), x.facts, known).of([(a, b)]) == [(a, b)]


def test_twice_the_known_pairs_take_twice_the_work() -> None:
    small, large = _steps_among(100), _steps_among(200)
    assert large < 2.5 * small


def _steps_among(count: int) -> int:
    """Return the steps of a search among outputs whose operands are *count* known pairs."""
    x = sl.tensor("N", name="x")
    made = [[sl.onnx.exp(sl.onnx.mul(x, sl.onnx.mul(x, x))) for _ in range(count)] for _ in range(2)]
    outputs = [(sl.onnx.relu(a), sl.onnx.relu(b)) for a, b in zip(*made, strict=True)]
    known = pairs_known(x.facts, (), None, ([a for a, _ in outputs], [b for _, b in outputs]))
    pairs = list(zip(*made, strict=True))
    known[0].known.update({(a, b, (0,)): Pair(a, b, Way(()), False) for a, b in pairs})
    search = Frontier(({}, {}), x.facts, known)
    with counted() as steps:
        assert search.of(outputs) == outputs
    return steps.count
