"""Verdicts on named claims, and on random ones that enumeration checks (see `tests.fuzz_prove`)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import symlayout as sl
from symlayout import Verdict, limits
from tests.fuzz_prove import Claim, build, check, random_claim
from tests.support import brute, brute_compare
from tests.support.brute import Chain

N, C = sl.dims("N C")
RANKS = (1, 2, 3, 4)


def space(m: int) -> tuple[sl.Tensor, list[Any], list[list[Any]]]:
    """Return a tensor with *m* spatial axes, and a block and a pair of pads for each."""
    x = sl.tensor([N, *sl.dims(" ".join(f"s{k}" for k in range(m))), C], name="x")
    block = list(sl.dims(" ".join(f"b{k}" for k in range(m)), min=1))
    pads = [list(sl.dims(f"p{k} q{k}")) for k in range(m)]
    return x, block, pads


# ---------------------------------------------------------------------- named claims


@pytest.mark.parametrize("m", RANKS)
def test_batch_to_space_undoes_space_to_batch_for_all_sizes(m: int) -> None:
    x, block, pads = space(m)
    z = sl.batch_to_space(sl.space_to_batch(x, block, pads), block, pads)
    proof = sl.prove_equal(z, x)
    assert proof.verdict is Verdict.PROVED
    assert proof.witness is None
    assert len(proof.requires) == m
    assert not proof.same_requires


@pytest.mark.parametrize("m", RANKS)
def test_batch_to_space_undoes_it_without_pads_both_ways(m: int) -> None:
    x, block, _ = space(m)
    none = [[0, 0]] * m
    assert (
        sl.prove_equal(sl.batch_to_space(sl.space_to_batch(x, block, none), block, none), x).verdict is Verdict.PROVED
    )
    assert (
        sl.prove_equal(sl.space_to_batch(sl.batch_to_space(x, block, none), block, none), x).verdict is Verdict.PROVED
    )


@pytest.mark.parametrize("m", RANKS)
def test_the_derivation_names_each_step(m: int) -> None:
    x, block, pads = space(m)
    proof = sl.prove_equal(sl.batch_to_space(sl.space_to_batch(x, block, pads), block, pads), x)
    text = proof.explain()
    assert "batch_to_space" in text
    assert "space_to_batch" in text
    assert text.splitlines()[-1].startswith("PROVED")


def refuted(left: sl.Tensor, right: sl.Tensor) -> sl.Witness:
    proof = sl.prove_equal(left, right)
    assert proof.verdict is Verdict.REFUTED, str(proof)
    assert proof.witness is not None
    return proof.witness


def dims_of(witness: sl.Witness) -> dict[str, int]:
    return {symbol.name: value for symbol, value in witness.dims.items()}


def test_the_other_order_with_crops_loses_the_edges() -> None:
    x = sl.tensor([N, *sl.dims("H")], name="x")
    p, q = sl.dims("p q")
    witness = refuted(sl.space_to_batch(sl.batch_to_space(x, [2], [[p, q]]), [2], [[p, q]]), x)
    assert dims_of(witness) == {"N": 2, "H": 1, "p": 0, "q": 1}
    assert witness.coord == (1, 0)
    assert (witness.left, witness.right) == (("fill", 0), ("x", (1, 0)))


def test_unequal_crops_read_the_neighbour() -> None:
    x = sl.tensor([N, *sl.dims("H")], name="x")
    y = sl.space_to_batch(x, [2], [[1, 1]])
    witness = refuted(sl.batch_to_space(y, [2], [[0, 2]]), x)
    assert dims_of(witness) == {"N": 1, "H": 2}
    assert witness.coord == (0, 0)
    assert (witness.left, witness.right) == (("fill", 0), ("x", (0, 0)))


def test_crops_of_another_total_change_the_shape() -> None:
    x = sl.tensor([N, *sl.dims("H")], name="x")
    y = sl.space_to_batch(x, [2], [[1, 1]])
    witness = refuted(sl.batch_to_space(y, [2], [[1, 0]]), x)
    assert dims_of(witness) == {"N": 0, "H": 0}
    assert witness.coord is None
    assert (witness.left, witness.right) == ((0, 1), (0, 0))


def test_swapped_blocks_differ() -> None:
    x = sl.tensor([1, *sl.dims("H W")], name="x")
    a, b = sl.dims("a b", min=1)
    none = [[0, 0], [0, 0]]
    left, right = sl.space_to_batch(x, [a, b], none), sl.space_to_batch(x, [b, a], none)
    witness = refuted(left, right)
    assert witness.coord is None
    assert check(Claim(_batches("a", "b"), _batches("b", "a"), "swapped", _dims("H W", "a b"))) == "refuted"


def _batches(*block: str) -> Chain:
    return Chain((1, "H", "W"), (("space_to_batch", {"block_shape": list(block), "paddings": [[0, 0], [0, 0]]}),))


def _dims(free: str, blocks: str) -> list[brute.Dim]:
    return [*map(brute.Dim, free.split()), *(brute.Dim(b, 1) for b in blocks.split())]


@pytest.mark.parametrize("there", ["blocks_first", "depth_first"])
def test_mixed_modes_of_depth_to_space_differ(there: str) -> None:
    h, w = sl.dims("h w")
    x = sl.tensor([N, C, 2 * h, 2 * w], name="x")
    back = {"blocks_first": "depth_first", "depth_first": "blocks_first"}[there]
    same = sl.depth_to_space(sl.space_to_depth(x, 2, there), 2, there)
    assert sl.prove_equal(same, x).verdict is Verdict.PROVED
    witness = refuted(sl.depth_to_space(sl.space_to_depth(x, 2, there), 2, back), x)
    assert dims_of(witness) == {"N": 1, "C": 2, "h": 1, "w": 1}
    assert witness.coord is not None


def test_fills_of_other_bits_are_told_apart() -> None:
    x = sl.tensor([sl.dim("H")], dtype="float32", name="x")
    witness = refuted(sl.pad(x, 1), sl.pad(x, 1, constant_values=-0.0))
    assert dims_of(witness) == {"H": 0}
    assert witness.coord == (0,)


def test_a_proof_has_no_truth_value() -> None:
    x = sl.tensor("N", name="x")
    with pytest.raises(TypeError, match="three outcomes"):
        bool(sl.prove_equal(sl.flip(x), x))


def test_pads_add_up() -> None:
    x = sl.tensor([sl.dim("H")], name="x")
    p, q = sl.dims("p q")
    assert sl.prove_equal(sl.pad(sl.pad(x, [[p, 0]]), [[q, 1]]), sl.pad(x, [[p + q, 1]])).verdict is Verdict.PROVED


def test_inputs_of_other_names_are_other_elements() -> None:
    a, b = (sl.tensor([sl.dim("H")], name=name) for name in "ab")
    witness = refuted(a, b)
    assert (dims_of(witness), witness.left, witness.right) == ({"H": 1}, ("a", (0,)), ("b", (0,)))


def test_a_claim_that_no_sizes_are_valid_for_is_infeasible() -> None:
    h = sl.dim("h")
    x = sl.tensor([h], name="x")
    even = sl.reshape(x, [h / 2, 2])
    odd = sl.reshape(sl.pad(x, [[0, 1]]), [(h + 1) / 2, 2])
    with pytest.raises(sl.ShapeError) as caught:
        sl.prove_equal(even, odd)
    assert caught.value.kind == "infeasible"


def test_sides_that_are_always_empty_are_equal() -> None:
    h = sl.dim("h", max=1)
    x = sl.tensor([2, h], name="x")
    empty = x[:, 2:]
    assert sl.prove_equal(sl.flip(empty), empty).verdict is Verdict.PROVED


@pytest.mark.slow
def test_an_input_that_is_always_empty_is_all_fill() -> None:
    x = sl.tensor([N, sl.dim("H", max=0)], name="x")
    y = sl.pad(x, 1)
    assert sl.prove_equal(y, sl.flip(y)).verdict is Verdict.PROVED
    assert sl.prove_equal(y, sl.pad(sl.pad(x, [[1, 0], [1, 0]]), [[0, 1], [0, 1]])).verdict is Verdict.PROVED


def test_fills_around_an_input_that_is_always_empty_are_compared() -> None:
    b = sl.dim("b", min=1)
    empty = sl.tensor([N, b * C], name="x")[:, 2:0:3]
    left, right = (sl.reshape(sl.pad(empty, 1, constant_values=v), [-1]) for v in (-1, 0))
    assert refuted(left, right).coord == (0,)
    assert sl.prove_equal(left, left).verdict is Verdict.PROVED


def test_fills_around_what_turns_out_to_be_empty_further_in_are_compared() -> None:
    p = sl.dim("p", min=1)
    inner = sl.tensor([N, p], name="x")[:, 2:0:3]
    for t in (sl.reshape(inner, [N * 0, 1]), sl.flip(inner), sl.transpose(inner)):
        left, right = (sl.pad(sl.flip(sl.pad(t, [[1, 0], [0, 0]])), 1, constant_values=v) for v in (-1, 0))
        assert refuted(left, right).coord == (0, 0)


def test_other_dtypes_are_a_typed_error() -> None:
    h = sl.dim("h")
    with pytest.raises(sl.ArrayError):
        sl.prove_equal(sl.tensor([h], dtype="f4", name="x"), sl.tensor([h], dtype="f8", name="x"))


def test_a_division_by_a_dim_that_can_be_0_does_not_stop_the_search() -> None:
    h, w = sl.dims("h w")
    x = sl.tensor([h, w], name="x")
    t = sl.reshape(x, [h * w / w, -1])
    witness = refuted(sl.flip(t, 1), x)
    assert dims_of(witness) == {"h": 1, "w": 2}


# ---------------------------------------------------------------------- random claims


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 180, 30))
def test_random_claims_are_decided_right(start: int) -> None:
    counts: Counter[str] = Counter()
    for seed in range(start, start + 30):
        counts[check(random_claim(random.Random(seed)), budget=40).split()[0]] += 1
    assert counts["proved"] > 3
    assert counts["refuted"] > 3


CHANGES: dict[str, tuple[Chain, Chain, list[brute.Dim]]] = {
    "a pad moved by one": (
        Chain(("H",), (("pad", {"pad_width": [["p", 1]], "constant_values": 0}),)),
        Chain(("H",), (("pad", {"pad_width": [[("+", "p", 1), 0]], "constant_values": 0}),)),
        [brute.Dim("H"), brute.Dim("p")],
    ),
    "a transposed pair": (
        Chain(("N", "H"), (("transpose", {"axes": [1, 0]}), ("reshape", {"shape": [-1]}))),
        Chain(("N", "H"), (("reshape", {"shape": [-1]}),)),
        [brute.Dim("N"), brute.Dim("H")],
    ),
    "a flip left out": (
        Chain(("N", ("*", "b", "H")), (("flip", {"axis": [1]}),)),
        Chain(("N", ("*", "b", "H")), ()),
        [brute.Dim("N"), brute.Dim("H"), brute.Dim("b", 1)],  # H*b, as the shape is written
    ),
    "bounds that leave one value": (
        Chain(("H",), (("flip", {"axis": [0]}),)),
        Chain(("H",), ()),
        [brute.Dim("H", 3, 4, 2)],
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_map_is_refuted_at_the_smallest_sizes(name: str) -> None:
    left, right, dims = CHANGES[name]
    assert check(Claim(left, right, "changed", dims)) == "refuted"
    symbols = {d.name: sl.dim(d.name, d.min, d.max, d.multiple_of) for d in dims}
    witness = refuted(build(left, symbols), build(right, symbols))
    expected = brute_compare.compare(left, right, dims, 6).difference
    assert expected is not None
    assert dims_of(witness) == expected.dims
    assert (witness.coord, witness.left, witness.right) == (expected.coord, expected.left, expected.right)


LONG: dict[str, Callable[[sl.Tensor, int], sl.Tensor]] = {
    "pads": lambda x, k: sl.pad(x, 1),
    "slices": lambda x, k: x[:, 1:],
    "rolls": lambda x, k: sl.roll(x, 1, 1),
    "turns": lambda x, k: sl.flip(x, 0) if k % 2 else sl.transpose(x, (1, 0)),
}
LONG_RESULTS: dict[str, Callable[[sl.Tensor], sl.Tensor]] = {
    "pads": lambda x: sl.pad(x, 500),
    "slices": lambda x: x[:, 500:],
    "rolls": lambda x: sl.roll(x, 500, 1),
    "turns": lambda x: sl.flip(x),  # 250 quarter turns
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", LONG)
def test_long_chains_are_decided_within_the_budget_of_goals(kind: str) -> None:
    """500 operations: the work is counted in goals, which no clock disturbs."""
    x = sl.tensor("N, H", name="x")
    y = x
    for k in range(500):
        y = LONG[kind](y, k)
    expected = LONG_RESULTS[kind](x)
    before = y.facts.effort
    assert sl.prove_equal(y, expected).verdict is sl.Verdict.PROVED
    assert y.facts.effort - before < 40_000


def test_sizes_of_too_many_elements_are_not_evaluated() -> None:
    x = sl.tensor((10**6, 10**6), name="x")
    proof = sl.prove_equal(sl.flip(x, 0), x)
    assert proof.verdict is Verdict.UNKNOWN
    assert "1 sizes searched" in str(proof)


def test_a_witness_in_words() -> None:
    x = sl.tensor("N", name="x")
    assert str(refuted(sl.flip(x), x)) == "N = 2: at (0,) the sides read x[1] and x[0]"
    assert str(refuted(sl.pad(x, 1)[:-2], x)) == "N = 1: at (0,) the sides read fill 0 and x[0]"
    assert str(refuted(sl.pad(x, 1), x)) == "N = 0: the shapes are (2,) and (0,)"


def test_a_normal_form_that_takes_too_many_goals_is_inconclusive_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    t = sl.tensor("N, 2*h")
    for k in range(60):
        t = sl.roll(sl.pad(t, [[1, 1], [1, 2]])[:, 1:-1], k, axis=1)
    monkeypatch.setattr(limits, "normal_form_goals", 50)
    with pytest.raises(sl.InconclusiveError, match="within 50 goals"):
        str(t.index_map)
