"""Attributes are one key by type and bits: for bodies, for what is kept by them, and so for verdicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.tensors.attribute_key import attribute_key, kept_by_attributes

NAN = float("nan")
X = sl.tensor("N", "float32", name="x")
op: Any = sl.onnx
APART = [
    (0.0, -0.0), (1, 1.0), (1, True), (1.0, True), (0, False), (0, 0.0), (np.float32(1), np.float64(1)),
    (1.0, np.float64(1)),
    ((0.0,), (-0.0,)), ([1, [0.0]], [1, [-0.0]]), (np.zeros(2), -np.zeros(2)), (np.zeros(2), np.zeros((1, 2))),
    ({"a": 0.0}, {"a": -0.0}), (0j, -0j), ("1", 1), (None, 0), (NAN, -NAN),
]  # fmt: skip
ALIKE = [
    (NAN, float("nan")), ((NAN,), [float("nan")]), ([1, (2.0, "a")], (1, [2.0, "a"])), (np.zeros(2), np.zeros(2)),
    (np.float32("nan"), np.float32("nan")), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), (np.dtype("int8"), np.dtype("int8")),
    (np.array([1], ">i4"), np.array([1], "<i4")),
]  # fmt: skip


@pytest.mark.parametrize("pair", APART, ids=str)
def test_values_that_a_function_tells_apart_have_two_keys(pair: tuple[Any, Any]) -> None:
    assert attribute_key(pair[0]) != attribute_key(pair[1])
    bodies = [
        sl.Body("f", np.add, (("a", value if not isinstance(value, list | dict) else str(value)),)) for value in pair
    ]
    assert attribute_key(bodies[0].attributes) != attribute_key(bodies[1].attributes)


@pytest.mark.parametrize("pair", ALIKE, ids=str)
def test_a_value_is_itself(pair: tuple[Any, Any]) -> None:
    assert attribute_key(pair[0]) == attribute_key(pair[1])
    assert hash(attribute_key(pair[0])) == hash(attribute_key(pair[1]))


def test_bodies_are_compared_and_hashed_by_the_keys_of_their_attributes() -> None:
    one, other, same = (sl.Body("f", np.add, (("a", value),)) for value in (0.0, -0.0, 0.0))
    assert (one == same, one != same, hash(one) == hash(same)) == (True, False, True)
    assert (one == other, one != other, len({one, other, same})) == (False, True, 2)
    nan = [sl.Body("f", np.add, (("a", float("nan")),)) for _ in range(2)]
    assert nan[0] == nan[1]


def test_what_is_kept_for_0_is_not_given_for_minus_0() -> None:
    signs = kept_by_attributes(lambda x: bool(np.signbit(x)))
    assert [signs(0.0), signs(-0.0), signs(0.0)] == [False, True, False]
    x = np.array([-1, 1], np.float32)
    for first, second in ((0.0, -0.0), (-0.0, 0.0)):  # onnxruntime 1.32: -1 * 0.0 is -0.0, and -1 * -0.0 is 0.0
        found = [sl.interpret(op.leaky_relu(X, alpha=alpha), x) for alpha in (first, second)]
        assert [bool(np.signbit(y[0])) for y in found] == [not np.signbit(first), not np.signbit(second)]


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("leaky_relu", "alpha"),
        ("elu", "alpha"),
        ("selu", "alpha"),
        ("selu", "gamma"),
        ("hard_sigmoid", "beta"),
        ("shrink", "bias"),
    ],
)
def test_an_attribute_of_0_is_not_minus_0(name: str, attribute: str) -> None:
    made = [getattr(op, name)(X, **{attribute: value}) for value in (0.0, -0.0, 0.0, NAN, float("nan"))]
    assert sl.prove_equal(made[0], made[1], budget=50).verdict is not sl.Verdict.PROVED
    assert sl.prove_equal(made[0], made[2]).verdict is sl.Verdict.PROVED
    assert sl.prove_equal(made[3], made[4]).verdict is sl.Verdict.PROVED


def test_bounds_and_fills_of_0_are_not_minus_0() -> None:
    for zero in (np.float32(0), np.float32(-0.0)):
        bounds = op.clip(X, sl.constant(zero), sl.constant(np.float32(1)))
        padded = sl.pad(X, [(1, 1)], constant_values=float(zero))
        for other in (np.float32(0), np.float32(-0.0)):
            same = bool(np.signbit(zero) == np.signbit(other))
            proofs = (
                sl.prove_equal(bounds, op.clip(X, sl.constant(other), sl.constant(np.float32(1))), budget=50),
                sl.prove_equal(padded, sl.pad(X, [(1, 1)], constant_values=float(other)), budget=50),
            )
            assert [p.verdict is sl.Verdict.PROVED for p in proofs] == [same, same]
