"""The parts of `sl.optimize`: the cut, costs, spellings, regions and the edited graph."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from onnx import ModelProto

import symlayout as sl
from symlayout.optimize_models.crossings.transpose_cut import (
    ORIGINAL,
    PERMUTED,
    Crossing,
    Vertex,
    crossings_of,
    minimum_cut,
    run_permuted,
)
from symlayout.optimize_models.movement_cost import Cost, bytes_of, typical
from symlayout.optimize_models.movement_regions import cost_of_model, respell_regions
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.spellings.reshape_steps import target_shape
from symlayout.optimize_models.spellings.spell_movement import Speller
from symlayout.tensors.stand_in import rebased
from tests.support.onnx_writer import model, node, value_info

N, H = sl.dim("N"), sl.dim("H")


@pytest.mark.parametrize("seed", range(20))
def test_the_cut_has_the_least_weight_of_all(seed: int) -> None:
    random = np.random.default_rng(seed)
    inner: list[Vertex] = [("node", k) for k in range(4)]
    vertices = [PERMUTED, *inner, ORIGINAL]
    weights = {(a, b): int(random.integers(0, 5)) for a in vertices for b in vertices if a != b}
    edges: dict[Vertex, dict[Vertex, float]] = defaultdict(lambda: defaultdict(float))
    for (a, b), w in weights.items():
        edges[a][b] = float(w)

    def weight(side: set[Vertex]) -> int:
        return sum(w for (a, b), w in weights.items() if a in side and b not in side)

    subsets = itertools.chain.from_iterable(itertools.combinations(inner, k) for k in range(5))
    least = min(weight({PERMUTED, *chosen}) for chosen in subsets)
    assert weight(minimum_cut(edges, PERMUTED, ORIGINAL)) == least


@pytest.mark.parametrize(
    ("shape", "wanted", "numbers"),
    [
        ((N, 8), (N, 2, 4), [0, 2, 4]),
        ((N, 8, H), (N, 8 * H), [0, -1]),
        ((8, N), (N, 8), [-1, 8]),
        ((N, H), (H, N), None),
        ((N,), (N, 0), None),
    ],
)
def test_reshape_has_a_constant_for_its_shape(
    shape: tuple[object, ...], wanted: tuple[object, ...], numbers: list[int] | None
) -> None:
    assert target_shape(shape, wanted) == numbers


def test_a_cost_rounds_no_quotient_that_a_requirement_makes_exact() -> None:
    """A report said ``1760*N*floor(H/4)*floor(W/4)`` of a model that requires multiples of 4."""
    cost = Cost(Counter({16 * N * (H // 4): 2, 8 * H * N: 1, 4 * (N // 2): 1, 10: 3}), 1, 7)
    requires = [sympy.Eq(sympy.Mod(H, 4), 0), N >= 2]
    assert cost.where(requires).total == 16 * N * H + 4 * (N // 2) + 30
    assert cost.where(requires).transposes == 1
    assert cost.where([sympy.Eq(sympy.Mod(H, 2), 0)]).total == cost.total


def test_costs_compare_for_all_sizes() -> None:
    small, large = Cost(Counter({4 * N: 1}), 1, 1), Cost(Counter({4 * N: 2}), 1, 2)
    other = Cost(Counter({8 * H: 1}), 1, 1)
    assert small.at_most(large)
    assert not large.at_most(small)
    assert not small.at_most(other)
    assert not other.at_most(small)
    assert (large.total, typical(4 * N)) == (8 * N, 64)
    assert bytes_of(sl.tensor((N, 3), "float64")) == 24 * N


def test_a_spelling_is_proved_and_cheaper() -> None:
    x = sl.tensor("N, C, 4, 6", "float32", "x")
    y = sl.transpose(sl.transpose(sl.flip(x, 0), (0, 2, 3, 1)), (2, 1, 0, 3))
    flipped = y.inputs[0].inputs[0]
    limit = Cost(Counter({bytes_of(y): 2}), 2, 2)
    speller = Speller(20)
    found = speller.cheapest(flipped, y, limit)
    assert found is not None
    assert [s.op for s in found.steps] == ["Transpose"]
    assert sl.prove_equal(found.steps[0].apply(flipped), y).verdict is sl.Verdict.PROVED
    assert speller.cheapest(flipped, y, Cost(Counter({bytes_of(y): 1}), 1, 1)) is None
    turned = speller.cheapest(x, y, limit)
    assert turned is not None
    assert [s.op for s in turned.steps] == ["Slice", "Transpose"]
    assert rebased(y, {id(flipped): flipped}) is not None
    assert rebased(sl.concatenate([y, y], 0), {id(y): y}) is not None
    assert rebased(x, {id(flipped): flipped}) is None


def test_what_nobody_read_before_stays(tmp_path: Path) -> None:
    nodes = [
        node("Transpose", "x", "a", perm=[1, 0]),
        node("Transpose", "a", "b", perm=[1, 0]),
        node("Neg", "x", "unread"),
        node("Relu", "b", "y"),
    ]
    path = tmp_path / "m.onnx"
    path.write_bytes(model(nodes, [value_info("x", ("N", 3))]))
    m = sl.read_model(path)
    assert cost_of_model(m).transposes == 2
    made, changes = respell_regions(m)
    assert [n.op_type for n in made.graph.node] == ["Neg", "Relu"]
    assert [c.text for c in changes] == ["b from x: Transpose, Transpose became nothing"]
    assert [c.perm for c in crossings_of(m) if not (c.counted or c.flipped or c.absorbed)] == [(1, 0)]
    assert run_permuted(m, Crossing((1, 0))).changes == []
    graph = EditedGraph(ModelProto.FromString(path.read_bytes()))
    assert graph.uses()["x"] == 2
    assert graph.new_name("a") == "a_2"


@pytest.mark.parametrize("perm", [[3, -(2**31)], [0.5, 1.0], 7], ids=str)
def test_a_transpose_without_a_meaning_is_refused(tmp_path: Path, perm: Any) -> None:
    made = ModelProto.FromString(model([node("Transpose", "x, x", "y", perm=perm)], [value_info("x", (4, 4))]))
    made.graph.output[0].CopyFrom(value_info("y", (4, 4)))
    path = tmp_path / "m.onnx"
    path.write_bytes(made.SerializeToString())
    with pytest.raises(sl.FormatError, match="Transpose has 1 inputs, the node has 2"):
        sl.optimize(path)


def test_quotients_are_those_at_the_sizes_that_a_model_takes() -> None:
    wide = sl.dim("W")
    cost = Cost(Counter({-(-wide // 4): 1, (wide + 2) // 4: 1, (wide + 1) // 4: 1, wide // 4: 1, (H + 1) // 2: 1}))
    found = cost.where((sympy.Eq(sympy.Mod(wide, 4), 0),))
    assert found.sizes == Counter({wide / 4: 4, (H + 1) // 2: 1})
    for size in (0, 4, 8, 20):
        assert all(int(e.subs({wide: size, H: 3})) == (2 if H in e.free_symbols else size // 4) for e in found.sizes)
