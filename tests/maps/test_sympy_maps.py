"""Maps go out to SymPy and come back the same; maps that are written in SymPy read what brute force says."""

from __future__ import annotations

import contextlib
import itertools
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
from sympy import And, Eq, IndexedBase, Lambda, Max, Min, Mod, Ne, Or, Piecewise, ceiling, floor

import symlayout as sl
from symlayout.commands.output.ops_page import CORE_EXAMPLES, FRAMEWORK_EXAMPLES, _entry
from symlayout.maps.sympy_maps import from_sympy
from tests.fuzz_prove.judge import build
from tests.fuzz_prove.steps import random_chain

N = sl.dim("N", min=1)
H, K = sl.dims("H K")
B = sl.dim("b", min=1)
I, J = sympy.symbols("i j", integer=True)  # noqa: E741
X = sl.tensor((N,), name="x")

ALIKE = {
    "microsoft:QLinearConcat",
    "ml:FeatureVectorizer",
    "tflite:UNSORTED_SEGMENT_PROD",
}  # read two computed values of one name, which a SymPy map does not tell apart
EXAMPLES = {k: v for k, v in {**CORE_EXAMPLES, **FRAMEWORK_EXAMPLES}.items() if k not in ALIKE}


MANY = Or(*[Eq(Mod(I, k), 1) for k in range(2, 40)])


def returned(t: sl.Tensor) -> sl.Tensor:
    """Return *t* after its map went to SymPy and came back."""
    return from_sympy(t.leaves(), t.index_map.domain, t.index_map.to_sympy())


@pytest.mark.sample(141)
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_map_of_every_operation_comes_back(name: str) -> None:
    t = _entry(name, *EXAMPLES[name]).result
    assert sl.prove_equal(returned(t), t).verdict is sl.Verdict.PROVED


def test_a_question_about_a_digit_that_was_solved_is_decided() -> None:
    """The proof of this claim meets a question in a digit that a fact has replaced: it was a KeyError."""
    once = sl.pad(sl.pad(sl.tensor("3", name="x"), (4, 1), mode="wrap"), (4, 0), mode="reflect")
    t = sl.concatenate([once, sl.flip(once, 0)])
    assert sl.prove_equal(returned(t), t).verdict is sl.Verdict.PROVED


def test_maps_of_random_symbolic_chains_come_back() -> None:
    proved = 0
    for seed in range(40):
        rnd = random.Random(seed)
        chain = random_chain(rnd, 2).chain
        try:
            t = build(chain, {name: sl.dim(name, min=1 if name in "bc" else 0) for name in chain.names()})
        except sl.ShapeError:
            continue
        verdict = sl.prove_equal(returned(t), t).verdict
        assert verdict is not sl.Verdict.REFUTED, chain
        proved += verdict is sl.Verdict.PROVED
    assert proved > 35


# ---------------------------------------------------------------------- against Python

Reading = Callable[..., Any]  # of a coordinate and the extent n of x: the index that is read, or None for the fill

WRITTEN: dict[str, tuple[Any, Any, Any, Reading]] = {  # shape, map, where, and what it means
    "quotient and remainder": ((N, 3), ((I, J), (Mod(2 * I + J, N),)), None, lambda i, j, n: (2 * i + j) % n),
    "minimum": ((N, 4), ((I, J), (Min(I + J, N - 1),)), None, lambda i, j, n: min(i + j, n - 1)),
    "maximum and minimum": (
        (N + 4,),
        ((I,), (Max(0, Min(I - 2, N - 1)),)),
        None,
        lambda i, n: max(0, min(i - 2, n - 1)),
    ),
    "absolute": ((N,), ((I,), (sympy.Abs(I - floor(N / 2)),)), None, lambda i, n: abs(i - n // 2)),
    "pieces": (
        (2 * N,),
        ((I,), (Piecewise((I, I < N), (2 * N - 1 - I, True)),)),
        None,
        lambda i, n: i if i < n else 2 * n - 1 - i,
    ),
    "pieces within a quotient": (
        (N,),
        ((I,), (floor(Piecewise((I, Eq(Mod(I, 2), 0)), (I - 1, True)) / 2),)),
        None,
        lambda i, n: (i if i % 2 == 0 else i - 1) // 2,
    ),
    "condition": ((N + 3,), ((I,), (I - 1,)), And(I >= 1, I <= N), lambda i, n: i - 1 if 1 <= i <= n else None),
    "either condition": (
        (2 * N,),
        ((I,), (Mod(I, N),)),
        Or(I < 1, Eq(I, N), Ne(Mod(I, 3), 0)),
        lambda i, n: i % n if i < 1 or i == n or i % 3 != 0 else None,
    ),
    "rational condition": ((N,), ((I,), (I,)), I / 2 < (N - 1) / 3, lambda i, n: i if i / 2 < (n - 1) / 3 else None),
    "rounded up": ((N,), ((I,), (ceiling((N - 1 - I) / 2),)), None, lambda i, n: -((i - n + 1) // 2)),
    "product": ((N, N), ((I, J), (floor(I * J / N),)), None, lambda i, j, n: i * j // n),
    "lambda": ((N, 2), Lambda((I, J), (Mod(I + J, N),)), None, lambda i, j, n: (i + j) % n),
    "element": (
        (N + 2,),
        Lambda(I, Piecewise((7, I < 1), (IndexedBase("x")[I - 1], I <= N), (7, True))),
        None,
        lambda i, n: i - 1 if 1 <= i <= n else None,
    ),
}


def test_symbols_and_coordinates_may_be_given_apart() -> None:
    together = sl.from_sympy(X, (2, N), ((J, I), (N - 1 - I,)), where=I > J, fill=7)
    apart = sl.from_sympy(X, (2, N), (J, I), (N - 1 - I,), where=I > J, fill=7)
    data = np.arange(5)
    assert (
        sl.interpret(apart, data).tolist()
        == sl.interpret(together, data).tolist()
        == [[7, 3, 2, 1, 0], [7, 7, 2, 1, 0]]
    )
    assert sl.interpret(sl.from_sympy(X, (N,), I, IndexedBase("x")[I]), data).tolist() == data.tolist()
    with pytest.raises(sl.FormatError, match="the coordinates are given apart"):
        sl.from_sympy(X, (N,), Lambda(I, (I,)), (I,))


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_is_what_is_read(name: str) -> None:
    shape, f, where, reads = WRITTEN[name]
    t = sl.from_sympy(X, shape, f, where=where, fill=None if where is None else 7)
    for n in (1, 2, 3, 5, 8):
        data = np.arange(100, 100 + n)
        found = sl.interpret(t, data)
        assert found.shape == tuple(int(sympy.sympify(e).subs(N, n)) for e in shape)
        for o in np.ndindex(*found.shape):
            at = reads(*o, n)
            assert found[o] == (7 if at is None else data[at]), (o, n)
        if name == "product":  # loops add a constant step to an offset; the step of i*j in i is j
            with pytest.raises(sl.InconclusiveError, match=r"#0\*#1 is affine in the loop digits"):
                sl.compile(t, strict=True)(data)
        else:
            assert np.array_equal(sl.compile(t, strict=True)(data), found)
    assert sl.prove_equal(t, pickle.loads(pickle.dumps(t))).verdict is sl.Verdict.PROVED
    with contextlib.suppress(sl.FormatError):  # many conditions have too many cases
        assert sl.prove_equal(returned(t), t).verdict is not sl.Verdict.REFUTED


def test_a_function_of_indices() -> None:
    x = sl.tensor((N, H), name="x")
    turned = sl.index_map(x, (H, N), lambda i, j: (j, H - 1 - i))
    assert sl.prove_equal(turned, sl.flip(sl.transpose(x), 0)).verdict is sl.Verdict.PROVED
    assert sl.prove_equal(turned.subs({H: 3}), sl.flip(sl.transpose(x), 0).subs({H: 3})).verdict is sl.Verdict.PROVED
    four = sl.index_map(X, (4, N), lambda i, j: (4 * j + i,), fill=-1, where=lambda i, j: j < N - 1)
    data = np.arange(1, 10)
    flat = np.array([[4 * j + i if j < 8 and 4 * j + i < 9 else -1 for j in range(9)] for i in range(4)])
    assert np.array_equal(sl.interpret(four, data), np.where(flat < 0, -1, data[np.maximum(flat, 0)]))
    assert sl.prove_equal(sl.index_map(X, (N,), lambda i: (-i - 1) % N), sl.flip(X)).verdict is sl.Verdict.PROVED
    blocks = sl.index_map(sl.tensor((B * N,), name="x"), (B, N), lambda i, j: (i + B * j,))
    assert (
        sl.prove_equal(blocks, sl.transpose(sl.reshape(sl.tensor((B * N,), name="x"), (N, B)))).verdict.value
        == "proved"
    )


def test_several_inputs_and_fills() -> None:
    x, w = sl.tensor((N,), name="x"), sl.tensor((H,), name="w")
    t = sl.pad(sl.concatenate([x, sl.flip(w)]), [(1, 2)], constant_values=[(5, -0.5)])
    assert sl.prove_equal(returned(t), t).verdict is sl.Verdict.PROVED
    scalar = sl.broadcast_to(sl.tensor((), name="s"), (N,))
    assert sl.prove_equal(returned(scalar), scalar).verdict is sl.Verdict.PROVED


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: sl.from_sympy(X, (N,), ((I,), (I, I))), "rank"),
        (lambda: sl.from_sympy(X, (N, N), ((I,), (I,))), "rank"),
        (lambda: sl.from_sympy(X, (N - 5 - 2 * N,), ((I,), (0,))), "infeasible"),
        (lambda: sl.from_sympy([X, sl.tensor((N,), name="w")], (N,), Lambda(I, IndexedBase("v")[I])), "source"),
        (lambda: sl.from_sympy(X, (N,), ((I,), (sympy.sin(I),))), sl.FormatError),
        (lambda: sl.from_sympy(X, (N,), ((I,), (I / 2,))), "non_divisible"),
        (lambda: sl.from_sympy(X, (N,), ((I,), (floor(5 / (I + 1)),))), sl.FormatError),
        (lambda: sl.from_sympy(X, (N,), ((I, I), (I,))), sl.FormatError),
        (lambda: sl.from_sympy(X, (N,), ((I,), (I,)), where=I), sl.FormatError),
        (lambda: sl.from_sympy(X, (N,), "i"), sl.FormatError),
        (lambda: sl.from_sympy(X, (N,), ((I,), ("i",))), sl.FormatError),
        (lambda: sl.from_sympy(X, (N,), ((I,), (Piecewise((I, I < 3)),))), sl.FormatError),
        (lambda: sl.from_sympy(X, (N,), ((I,), (I,)), where=MANY), sl.FormatError),
        (lambda: sl.index_map(X, (N,), lambda i: (i,), where=lambda i: 1 <= i < 3), sl.FormatError),
        (lambda: sl.pad(X, 1, constant_values=float("nan")).index_map.to_sympy(), sl.FormatError),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_a_typed_error(make: Callable[[], Any], error: Any) -> None:
    with pytest.raises((sl.ShapeError, sl.FormatError)) as caught:
        make()
    assert getattr(caught.value, "kind", type(caught.value)) == error


@pytest.mark.slow
def test_a_read_that_may_be_outside_is_not_taken_for_granted() -> None:
    t = sl.index_map(X, (N,), lambda i: (i + K,))
    with pytest.raises(sl.InconclusiveError, match="inside"):
        sl.compile(t, strict=True)
    with pytest.raises(sl.InconclusiveError):
        sl.interpret(t, np.arange(3), dims={K: 1})
    assert sl.prove_equal(t, sl.index_map(X, (N,), lambda i: (i,))).verdict is not sl.Verdict.PROVED


def test_requirements_of_divisions_are_those_of_shapes() -> None:
    t = sl.index_map(X, (H / 2,), lambda i: (i + H / 2,), fill=0)
    assert str(t.requires) == "(Eq(Mod(H, 2), 0),)"
    assert [(n, sl.interpret(t, np.arange(n), dims={H: 4}).tolist()) for n in (3, 4)] == [(3, [2, 0]), (4, [2, 3])]
    assert list(itertools.islice(t.shape, 1)) == [H / 2]
