"""Tensors, maps, kernels, proofs and the like are the same in another process, and after a deep copy."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.any_rank.grouped_tensor import AnyRankTensor
from symlayout.any_rank.prove_all_ranks import AnyRankProof
from symlayout.language.sympy_bridge import fresh
from symlayout.tensors.declaration import Declared, Operand, index_map
from symlayout.tensors.pickled_chain import pickled, rebuilt

N, H, K = sl.dims("N H K")
B = sl.dim("b", min=1)
X = sl.tensor((N,), name="x")
ANY_RANK = sl.tensor("N, *S, C", name="x", dtype="float32")


@sl.operation
def every_third(x: Operand, start: Any = 0) -> Declared:
    (n,) = x.shape
    first = x.extent(start)
    x.require(first, "negative_pad")
    return index_map((x.floor_div(n + 2, 3),), lambda i: (3 * i,))


def assumed() -> sl.Tensor:
    with sl.assume("N % 4 == 0"):
        return sl.reshape(sl.tensor((N,), name="x"), (-1, 4))


TENSORS: dict[str, Callable[[], sl.Tensor]] = {
    "leaf": lambda: sl.tensor((N, 2 * H + 1, None, (1, 4)), dtype="float32", name="x"),
    "without a name": lambda: sl.flip(sl.tensor((3,))),
    "blocks": lambda: sl.space_to_batch(sl.tensor((N, B * H), name="x"), [B], [[B, 0]]),
    "framework": lambda: sl.onnx.space_to_depth(sl.tensor("N, C, 2*h, 2*w", name="x"), blocksize=2),
    "joint": lambda: sl.concatenate([X, sl.flip(X), sl.tensor((K,), name="w")]),
    "slice": lambda: X[1:-2:3],
    "bound": lambda: sl.tile(X, K).subs({N: 2 * H, K: 3}),
    "user's": lambda: every_third(X, start=K),
    "assumed": assumed,
    "inverse": lambda: sl.inverse(sl.roll(sl.pad(X, 1), K))(sl.tensor((N + 2,), name="z")),
    "long": lambda: long(600),
}


def long(steps: int) -> sl.Tensor:
    t = X
    for k in range(steps):
        t = sl.roll(t, k) if k % 2 else sl.flip(t)
    return t


def any_rank() -> Any:
    """Return a tensor of any rank that has been through each kind of rule."""
    blocks = sl.batch_to_space(sl.space_to_batch(ANY_RANK, B, (K, K)), B, (0, K))
    first, _ = sl.split(sl.stack([blocks, blocks], -1), 2, -1)
    return sl.onnx.reduce_sum(sl.onnx.relu(sl.einops.rearrange(sl.squeeze(first, -1), "N *S C -> C *S N")), axes=[0])


THINGS: dict[str, Callable[[], Any]] = {
    **TENSORS,
    "map": lambda: sl.pad(X, 1).index_map,
    "kernel": lambda: sl.compile(sl.pad(X, 1), dtype="uint8", threads=2),
    "half bytes": lambda: sl.compile(sl.flip(sl.tensor((2 * N, 4), name="x"), axis=0), dtype="uint4x2"),
    "proof": lambda: sl.prove_equal(sl.roll(sl.roll(X, K), N - K), X),
    "refutation": lambda: sl.prove_equal(sl.pad(X, 1), sl.pad(X, 1, constant_values=2)),
    "inverse with proofs": lambda: sl.inverse(sl.pad(X, 1)),
    "adjoint": lambda: sl.adjoint(sl.tile(X, 2)),
    "finding": lambda: sl.is_injective(sl.tile(X, 2)),
    "any rank": any_rank,
    "any rank, without a name": lambda: sl.tile(sl.tensor("N, *S, 3", dtype="int8"), (1, B, 2)),
    "any rank, proof": lambda: sl.prove_equal(sl.flip(sl.flip(ANY_RANK)), ANY_RANK),
    "any rank, refutation": lambda: sl.prove_equal(sl.onnx.relu(sl.flip(ANY_RANK)), sl.onnx.relu(ANY_RANK)),
    "dim": lambda: sl.dim("s", min=None, multiple_of=3) * 2 + 1,
    "trace": lambda: sl.trace(sl.pad(X, 1), (0,), dims={N: 3}),
    "reason": lambda: sl.reasons(sl.reshape(X, (-1, 2))),
    "image": lambda: sl.pad(X, 1).index_map.image([None]),
    "solution": lambda: sl.solve_shape(sl.reshape(X, (-1, 2)), (4, 2)),
    "error of a shape": lambda: sl.ShapeError("no", "rank"),
    "error of a proof": lambda: sl.InconclusiveError("a >= b", ["a"]),
}


def told(thing: Any) -> str:
    """Return what a thing says of itself."""
    parts = [repr(thing)]
    if isinstance(thing, sl.Tensor):
        parts += [str(thing.shape), str(thing.requires), str(thing.bounds()), str(thing.dtype)]
        parts += [str(thing.index_map) if len(thing.nodes()) < 100 else ""]
    if isinstance(thing, AnyRankTensor):
        at = thing.at(2)
        parts += [str(thing.shape), str(thing.requires), str(at.shape), str(at.dtype), str(at.requires)]
        parts += [str(thing.plain.index_map), str(thing.each.index_map)] if not thing.plain.computes else []
    if isinstance(thing, sl.Kernel):
        parts += [thing.source]
    if isinstance(thing, (sl.Proof, AnyRankProof)):
        parts += [str(thing.requires), thing.explain(), str(thing.witness)]
        parts += [str(sl.check(thing.certificate)) if thing.certificate else ""]
    if isinstance(thing, sl.Inverse):
        parts += [thing.explain(), str(thing(sl.tensor(thing.tensor.shape, name="z")).index_map)]
    if isinstance(thing, sl.SymlayoutError):
        parts += [str(thing), str(vars(thing))]
    return "\n".join(parts)


def echoed(thing: Any) -> tuple[str, Any]:
    return told(thing), thing


@pytest.mark.sample(16)
@pytest.mark.parametrize("name", THINGS)
def test_copies_say_the_same(name: str) -> None:
    thing = THINGS[name]()
    assert told(pickle.loads(pickle.dumps(thing))) == told(thing)
    assert told(copy.deepcopy(thing)) == told(thing)
    assert told(copy.copy(thing)) == told(thing)


@pytest.mark.slow
def test_another_process_says_the_same() -> None:
    """A new interpreter has other hashes, and has made other tensors without names."""
    made = {name: make() for name, make in THINGS.items()}
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.map(echoed, made.values())
    for (name, thing), (text, back) in zip(made.items(), there, strict=True):
        assert text == told(thing), name
        assert told(back) == told(thing), name
        if isinstance(thing, sl.Tensor):
            assert sl.prove_equal(back, thing).verdict is sl.Verdict.PROVED, name


def computed(kernel: sl.Kernel, data: np.ndarray[Any, Any]) -> Any:
    return kernel(data)


def failing(kernel: sl.Kernel, data: np.ndarray[Any, Any]) -> Any:
    return kernel(data[None])


def unnamed(_: int) -> sl.Tensor:
    return sl.tensor((3,))


@pytest.mark.slow
def test_kernels_compute_in_another_process_and_errors_come_back() -> None:
    kernel, data = sl.compile(sl.pad(X, 1), strict=True), np.arange(5)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(computed, (kernel, data)).tolist() == [0, 0, 1, 2, 3, 4, 0]
        with pytest.raises(sl.ShapeError) as caught:
            pool.apply(failing, (kernel, data))
        assert caught.value.kind == "rank"


@pytest.mark.slow
def test_inputs_without_names_of_two_processes_are_two_inputs() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        others = pool.map(unnamed, range(3))
    mine = [sl.tensor((3,)) for _ in range(3)]
    keys = {x.key for x in (*others, *mine)}
    assert len(keys) == 6
    assert sl.prove_equal(others[0], mine[0]).verdict is sl.Verdict.REFUTED


def test_dims_without_names_of_two_processes_do_not_meet() -> None:
    here = fresh("block")
    there = type(here)(copy.replace(here.record, process="1.ab")) if hasattr(copy, "replace") else None
    other = pickle.loads(pickle.dumps(here).replace(here.record.process.encode(), here.record.process[::-1].encode()))
    assert pickle.loads(pickle.dumps(here)) == here
    for foreign in filter(None, (there, other)):
        with pytest.raises(sl.ShapeError) as caught:
            sl.tensor((here, foreign))
        assert caught.value.kind == "dim_conflict"


def test_a_chain_is_one_record_for_each_tensor_inputs_first() -> None:
    function, (records,) = pickled(sl.concatenate([X, sl.flip(X)]))
    assert function is rebuilt
    assert [inputs for inputs, *_ in records] == [None, (0,), (0, 1)]
    assert records[1][1] is sl.flip
    assert rebuilt(records[:2]).index_map.domain == (N,)
