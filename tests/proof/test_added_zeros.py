"""The law `signed-zero`: a sum with constants 0 may be replaced by the other summand, and by nothing else."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.equivalence.check import check
from symlayout.proof.added_zeros import without_added_zeros
from symlayout.proof.certificate.checker.schema import sealed

PROVED = sl.Verdict.PROVED
LAW = ("signed-zero",)
OTHERS = ("reassociate", "reciprocal", "fold-batchnorm")
x = sl.tensor("N, 4", name="x", dtype="float32")
zeros = sl.constant(np.zeros(4, np.float32))
add, sub, mul = sl.onnx.add, sl.onnx.sub, sl.onnx.mul


def model(y: Any) -> Any:
    return SimpleNamespace(inputs={"x": x}, outputs={"y": y}, tensors={"x": x, "y": y})


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "make",
    [
        lambda v: v,
        lambda v: sl.onnx.relu(v),
        lambda v: sl.onnx.reciprocal(v),  # tells -0 from 0: it is a function of the replaced value
        lambda v: sl.onnx.softmax(sl.transpose(v, (1, 0))),
        lambda v: sl.onnx.reduce_sum(sl.flip(v, 1)),
    ],
)
@pytest.mark.parametrize(
    "zero",
    [
        lambda: add(x, zeros),
        lambda: add(zeros, x),
        lambda: add(x, sl.constant(np.array([0, -0.0, 0, -0.0], np.float32))),
        lambda: sub(x, sl.constant(np.full(4, -0.0, np.float32))),
        lambda: add(x, sl.pad(sl.constant(np.zeros(2, np.float32)), ((1, 1),))),
        lambda: add(add(x, zeros), zeros),
    ],
)
def test_a_sum_with_0_is_replaced_under_the_law_only(make: Any, zero: Any) -> None:
    left, right = make(zero()), make(x)
    assert sl.prove_equal(left, right, budget=30).verdict is not PROVED
    proof = sl.prove_equal(left, right, budget=30, laws=LAW)
    assert (proof.verdict, proof.laws) == (PROVED, LAW)
    before, after = model(left), model(right)
    for laws in ((), OTHERS[:1] if make(x) is x else ()):
        found = sl.verify(before, after, laws=laws, budget=30)
        assert found.verdict is not PROVED
        if found.verdict is sl.Verdict.UNKNOWN:
            assert "the law signed-zero holds" in found.explain()
    found = sl.verify(before, after, laws=LAW, budget=30)
    assert (found.verdict, found.laws) == (PROVED, LAW)
    assert "under the laws: signed-zero" in found.explain()
    shown = json.loads(json.dumps(found.certificate))
    assert check(shown, before=before, after=after)
    changes: list[dict[str, Any]] = [{"laws": []}, {"without_added_zeros": False}]
    for change in (*changes, changes[0] | changes[1]):
        assert not check(sealed({**shown, **change}), before=before, after=after)


def test_a_proof_that_does_not_need_the_law_does_not_name_it() -> None:
    left, right = sl.onnx.relu(add(x, zeros)), sl.onnx.relu(add(x, zeros))
    for proof in (sl.prove_equal(left, right, laws=LAW), sl.verify(model(left), model(right), laws=LAW)):
        assert (proof.verdict, proof.laws) == (PROVED, ())


def narrow(v: Any, w: Any) -> Any:
    return (v.astype(np.float16) + w).astype(np.float32)


def scaled(v: Any, w: Any) -> Any:
    return (v * 2 + w) / 2


@pytest.mark.parametrize(
    "other",
    [
        lambda: add(x, sl.constant(np.array([0, 0, 0, 1e-45], np.float32))),
        lambda: add(x, sl.constant(np.array([0, np.nan, 0, 0], np.float32))),
        lambda: add(x, sl.pad(sl.constant(np.zeros(2, np.float32)), ((1, 1),), constant_values=1.0)),
        lambda: sub(zeros, x),
        lambda: mul(x, zeros),
        lambda: add(x, mul(x, zeros)),  # 0 * x is no constant
        lambda: sl.onnx.max(x, zeros),
        lambda: sl.onnx.pow(x, zeros),
        lambda: sl.compute(sl.Body("narrow", narrow), [x, add(x, zeros).inputs[1]], batch=2),
        lambda: sl.compute(sl.Body("scaled", scaled), [x, add(x, zeros).inputs[1]], batch=2),
    ],
)
def test_other_values_are_not_replaced(other: Any) -> None:
    left = other()
    assert without_added_zeros({"y": left})["y"] is left
    assert sl.prove_equal(left, x, laws=LAW, budget=30).verdict is not PROVED
    assert sl.verify(model(left), model(x), laws=LAW, budget=30).verdict is not PROVED


def test_a_wrong_sum_beside_a_sum_with_0_is_refuted() -> None:
    left, right = sl.onnx.relu(add(x, zeros)), sl.onnx.relu(sl.flip(x, 1))
    for laws in ((), LAW):
        assert sl.prove_equal(left, right, laws=laws).verdict is sl.Verdict.REFUTED
        assert sl.verify(model(left), model(right), laws=laws).verdict is sl.Verdict.REFUTED


@pytest.mark.slow
def test_a_certificate_cannot_take_the_law_for_a_sum_with_another_number() -> None:
    before, wrong = model(add(x, zeros)), model(add(x, sl.constant(np.full(4, 1e-30, np.float32))))
    shown = sl.verify(before, model(x), laws=LAW).certificate
    assert check(shown, before=before, after=model(x))
    assert not check(shown, before=wrong, after=model(x))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_what_replaces_a_sum_differs_from_it_in_the_sign_of_0_only(dtype: Any, zero: float) -> None:
    v = sl.tensor("N", name="v", dtype=dtype)
    number = sl.constant(np.full(1, zero, dtype))
    info = np.finfo(dtype)
    values = np.array([0, -0.0, np.inf, -np.inf, np.nan, info.smallest_subnormal, -info.tiny, info.max, -1.5], dtype)
    for t in (add(v, number), add(number, v), sub(v, number)):
        assert all(node.body is None for node in without_added_zeros({"y": t})["y"].graph())
        made = sl.interpret(t, values)
        np.testing.assert_array_equal(made, values)  # counts 0 and -0, and two NaNs, as equal
        signs = np.signbit(made) == np.signbit(values)
        assert signs[(values != 0) & ~np.isnan(values)].all()


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda v: v, lambda v: sl.onnx.reciprocal(v), lambda v: sl.flip(sl.transpose(v), 0)])
def test_the_certificate_of_two_chains_names_the_law(make: Any) -> None:
    shown = sl.prove_equal(make(add(x, zeros)), make(x), laws=LAW).certificate
    assert shown is not None
    assert (shown["laws"], shown["without_added_zeros"]) == (["signed-zero"], True)
    assert sl.check(json.loads(json.dumps(shown)))


@pytest.mark.slow
def test_one_output_may_need_the_law_and_another_one_not() -> None:
    def two(first: Any, second: Any) -> Any:
        return SimpleNamespace(inputs={"x": x}, outputs={"y": first, "z": second}, tensors={})

    before = two(sl.onnx.relu(add(x, zeros)), sl.onnx.exp(sl.flip(sl.flip(add(x, zeros), 1), 1)))
    after = two(sl.onnx.relu(x), sl.onnx.exp(add(x, zeros)))
    found = sl.verify(before, after, laws=LAW)
    assert (found.verdict, found.proofs["y"].laws, found.proofs["z"].laws) == (PROVED, LAW, ())
    assert check(found.certificate, before=before, after=after)
