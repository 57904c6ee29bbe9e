"""One claim through both doors: `symlayout.prove_equal` of two tensors, and `symlayout.verify` of two models of them.

Both models demand of the sizes what both tensors do, and have an input with every dim: so the questions are one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import symlayout as sl
from symlayout.language.sympy_bridge import symbol_of
from tests.equivalence.random_pairs import drawn_pair, written
from tests.fuzz_compute.claims import built, random_claim
from tests.proof.test_claims import build
from tests.support import claim as corpus
from tests.support.claim import Claim

BUDGET = 100  # points that each search evaluates
ONNX: Any = sl.onnx
DIMS = sl.dims("N C H W")


def verdicts(left: sl.Tensor, right: sl.Tensor, laws: Sequence[str] = ()) -> tuple[str, str]:
    """Return what `prove_equal` and `verify` say of a claim; the kind of the error if they refuse it."""
    dims = {**right.facts.dims, **left.facts.dims}
    sizes = sl.tensor([symbol_of(d) for d in dims.values()], name="sizes")
    inputs = {t.name: t for t in (*right.arguments(), *left.arguments(), sizes)}

    def model(y: sl.Tensor) -> Any:
        return SimpleNamespace(inputs=inputs, outputs={"y": y}, tensors={**inputs, "left": left, "right": right})

    doors = (
        lambda: sl.prove_equal(left, right, laws=laws, budget=BUDGET).verdict.value,
        lambda: sl.verify(model(left), model(right), laws=laws, budget=BUDGET).verdict.value,
    )
    first, second = map(said, doors)
    return first, second


def said(decide: Callable[[], str]) -> str:
    try:
        return decide()
    except sl.ShapeError as error:
        return error.kind


@pytest.mark.sample(60)
@pytest.mark.parametrize("claim", corpus.load(), ids=str)
def test_both_doors_say_the_same_of_a_claim_of_movement(claim: Claim) -> None:
    first, second = verdicts(*build(claim))
    assert first == second


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(150))
def test_both_doors_say_the_same_of_a_random_claim_through_functions(seed: int) -> None:
    left, right, needs_law, _ = random_claim(seed)
    try:
        sides = built(left), built(right)
    except sl.ShapeError:  # of a mutation that does not fit
        return
    first, second = verdicts(*sides, ("reassociate",) if needs_law else ())
    assert first == second


@pytest.mark.sample(20)
@pytest.mark.parametrize("seed", range(200))
def test_both_doors_say_the_same_of_a_random_pair_of_graphs(seed: int, tmp_path: Path) -> None:
    sides, given = drawn_pair(seed)
    path = tmp_path / "model.onnx"
    outputs = []
    for side in sides:
        path.write_bytes(written(side, given))
        try:
            outputs.append(sl.read_model(path).outputs["y"])
        except sl.SymlayoutError:  # a graph that is no model
            return
    left, right = outputs
    if isinstance(left, sl.Tensor) and isinstance(right, sl.Tensor) and left.dtype == right.dtype:
        first, second = verdicts(left, right)
        assert first == second


# ---------------------------------------------------------------------- folds, and functions inside movement


def fold_of_a_fold(name: str, dtype: str, laws: Sequence[str]) -> tuple[sl.Tensor, sl.Tensor, Sequence[str]]:
    """Return a reduction over axis 3 and then 2, and over both."""
    reduce, x = getattr(ONNX, name), sl.tensor(DIMS, dtype, name="x")
    return reduce(reduce(x, axes=[3], keepdims=0), axes=[2], keepdims=0), reduce(x, axes=[2, 3], keepdims=0), laws


def functions_in_turn(steps: int) -> tuple[sl.Tensor, sl.Tensor, Sequence[str]]:
    """Return so many steps of a sum and Relu, each on a transposed value, and on one that is not."""
    x, y = (sl.tensor((DIMS[0], DIMS[0]), "float32", name=name) for name in "xy")
    left, right = x, x
    for _ in range(steps):
        left = ONNX.relu(sl.transpose(ONNX.add(sl.transpose(left), sl.transpose(y))))
        right = ONNX.relu(ONNX.add(right, y))
    return left, right, ()


SPELLINGS: dict[str, Callable[[], tuple[sl.Tensor, sl.Tensor, Sequence[str]]]] = {
    "ReduceMax of float32 over 3, then 2": partial(fold_of_a_fold, "reduce_max", "float32", ()),
    "ReduceMin of float32 over 3, then 2": partial(fold_of_a_fold, "reduce_min", "float32", ()),
    "ReduceSum of int32 over 3, then 2": partial(fold_of_a_fold, "reduce_sum", "int32", ()),
    "ReduceSum of float32 over 3, then 2": partial(fold_of_a_fold, "reduce_sum", "float32", ("reassociate",)),
    "ReduceMean of float32 over 3, then 2": partial(fold_of_a_fold, "reduce_mean", "float32", ("reassociate", "real")),
    "ReduceProd of int32 over 3, then 2": partial(fold_of_a_fold, "reduce_prod", "int32", ()),
    "ReduceL1 of float32 over 3, then 2": partial(fold_of_a_fold, "reduce_l1", "float32", ("reassociate", "real")),
    "1 step of functions in turn": partial(functions_in_turn, 1),
    "8 steps of functions in turn": partial(functions_in_turn, 8),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_both_doors_say_the_same_of_another_spelling(name: str) -> None:
    first, second = verdicts(*SPELLINGS[name]())
    assert first == second
    assert first == "proved" or "L1" in name
