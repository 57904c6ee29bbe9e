"""Functions that keep or turn the order of elements go through maxima and minima, and through padded pools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.compute.contractions import Spatial
from symlayout.compute.pooling import max_pool
from symlayout.compute.trace import larger, smaller
from symlayout.proof.certificate.check_computed import refusal_of_computed
from symlayout.proof.fills.monotone_functions import direction, has_a_term
from symlayout.tensors.apply_operation import operand_of
from tests.compute.values import differ

N, C, H, W = sl.dims("N C H W", min=1)
op: Any = sl.onnx
Sides = tuple[sl.Tensor, sl.Tensor]
Function = Callable[[sl.Tensor], sl.Tensor]
TINY = np.finfo(np.float32).smallest_subnormal
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3e38, -3e38, 1e-38, TINY, -TINY)


def number(value: Any, dtype: Any = np.float32) -> sl.Tensor:
    """Return a constant."""
    return sl.constant(np.array(value, dtype))


GROWING: dict[str, tuple[Function, int]] = {
    "relu": (op.relu, 1),
    "leaky relu": (lambda t: op.leaky_relu(t, alpha=0.1), 1),
    "ceil": (op.ceil, 1),
    "floor": (op.floor, 1),
    "round": (op.round, 1),
    "negative": (op.neg, -1),
    "sum": (lambda t: op.add(t, number(2.5)), 1),
    "difference": (lambda t: op.sub(t, number(2.5)), 1),
    "difference from a constant": (lambda t: op.sub(number(2.5), t), -1),
    "product": (lambda t: op.mul(number(2.5), t), 1),
    "product with a negative number": (lambda t: op.mul(t, number(-2.5)), -1),
    "small product": (lambda t: op.mul(t, number(1e-30)), 1),
    "quotient": (lambda t: op.div(t, number(3.0)), 1),
    "quotient by a negative number": (lambda t: op.div(t, number(-3.0)), -1),
    "maximum": (lambda t: op.max(t, number(0.0)), 1),
    "minimum": (lambda t: op.min(t, number(-0.0)), 1),
}
OTHERS: dict[str, Function] = {
    "absolute value": op.abs,
    "exponential, which a library rounds as it likes": op.exp,
    "leaky relu with a negative slope": lambda t: op.leaky_relu(t, alpha=-0.1),
    "sum with infinity": lambda t: op.add(t, number(np.inf)),
    "product with 0": lambda t: op.mul(t, number(0.0)),
    "product with infinity": lambda t: op.mul(t, number(np.inf)),
    "quotient of a constant": lambda t: op.div(number(3.0), t),
    "product of two": lambda t: op.mul(t, t),
    "quantised": lambda t: op.quantize_linear(t, number(0.1), number(3, np.uint8)),
}


@pytest.mark.parametrize("name", GROWING)
def test_a_function_that_keeps_or_turns_the_order_goes_through_extremes_bit_for_bit(name: str) -> None:
    function, sign = GROWING[name]
    x = sl.tensor("N", "float32", name="x")
    y = function(x)
    found = direction(y)
    assert found is not None
    assert found[1] == sign
    rng = np.random.default_rng(0)
    values = np.array([*SPECIAL, *rng.standard_normal(20), *10.0 ** rng.uniform(-40, 38, 20)], np.float32)
    a, b = (np.asarray(side) for side in (np.repeat(values, len(values)), np.tile(values, len(values))))
    one, other = (sl.interpret(y, x=v) for v in (a, b))
    for extreme, opposite in ((larger, smaller), (smaller, larger)):
        with np.errstate(all="ignore"):
            whole = sl.interpret(y, x=extreme(a, b))
            parts = (extreme if sign > 0 else opposite)(one, other)
        assert np.array_equal(np.isnan(whole), np.isnan(parts))
        kept = ~np.isnan(whole)
        assert whole[kept].tobytes() == parts[kept].tobytes()


@pytest.mark.parametrize("name", OTHERS)
def test_other_functions_are_not_taken_for_such(name: str) -> None:
    assert direction(OTHERS[name](sl.tensor("N", "float32", name="x"))) is None


def _image(h: Any = H + 4) -> sl.Tensor:
    return sl.tensor((N, C, h, W + 4), "float32", name="x")


def _through(
    outer: Function, inner: Function, kernel: int = 3, pads: tuple[int, ...] = (1, 1, 1, 1), stride: int = 2
) -> Sides:
    given = {"kernel_shape": (kernel, kernel), "pads": pads, "strides": (stride, stride)}
    return outer(op.max_pool(_image(), **given)), op.max_pool(inner(_image()), **given)


def _pooled(x: sl.Tensor, pads: int) -> sl.Tensor:
    """Return a pool with windows of pads alone, which operators of files do not have."""
    return max_pool(x, (3, 3), Spatial((1, 1), (1, 1), ((pads, pads),) * 2))


def _clip(t: sl.Tensor, high: float = 6.0) -> sl.Tensor:
    return op.clip(t, number(0.0), number(high))  # type: ignore[no-any-return]


def _leaky(t: sl.Tensor) -> sl.Tensor:
    return op.leaky_relu(t, alpha=0.1)  # type: ignore[no-any-return]


def _falling(t: sl.Tensor) -> sl.Tensor:
    return op.leaky_relu(t, alpha=-0.5)  # type: ignore[no-any-return]


def _padded_by_hand(value: float = 0.0) -> Sides:
    y, given = op.relu(_image()), {"kernel_shape": (3, 3), "strides": (2, 2)}
    padded = sl.pad(y, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=value)
    return op.max_pool(padded, **given), op.max_pool(y, pads=(1, 1, 1, 1), **given)


def _dequantized(scale: float = 0.1) -> Sides:
    x, given = sl.tensor((N, C, H + 4), "uint8", name="x"), {"kernel_shape": (3,), "pads": (1, 1)}

    def real(t: sl.Tensor, s: float = 0.1) -> sl.Tensor:
        return op.dequantize_linear(t, number(s), number(3, np.uint8))  # type: ignore[no-any-return]

    return real(op.max_pool(x, **given)), op.max_pool(real(x, scale), **given)


def _least(turned: bool = True) -> Sides:
    reduce = op.reduce_max if turned else op.reduce_min
    return op.neg(op.reduce_min(_image(), axes=[2])), reduce(op.neg(_image()), axes=[2])


TRUE: dict[str, Callable[[], Sides]] = {
    "relu and a padded pool": lambda: _through(op.relu, op.relu),
    "relu and a pool without pads": lambda: _through(op.relu, op.relu, pads=(0, 0, 0, 0)),
    "relu and a large pool": lambda: _through(op.relu, op.relu, 5, (2, 2, 2, 2), 3),
    "relu and pads at the end": lambda: _through(op.relu, op.relu, 2, (0, 0, 1, 1), 1),
    "clip and a padded pool": lambda: _through(_clip, _clip),
    "leaky relu and a padded pool": lambda: _through(_leaky, _leaky),
    "a pool of relu, padded with 0": _padded_by_hand,
    "dequantised pool": _dequantized,
    "the negative of a minimum": _least,
}
FALSE: dict[str, Callable[[], Sides]] = {
    "clips at other numbers": lambda: _through(_clip, lambda t: _clip(t, 5.0)),
    "absolute values": lambda: _through(op.abs, op.abs),
    "negative values": lambda: _through(op.neg, op.neg, pads=(0, 0, 0, 0)),
    "leaky relu with a negative slope": lambda: _through(_falling, _falling),
    "a pool of relu, padded with 1": lambda: _padded_by_hand(1.0),
    "dequantised by another scale": lambda: _dequantized(0.2),
    "the negative of a minimum as a minimum": lambda: _least(turned=False),
}


@pytest.mark.parametrize("name", TRUE)
def test_a_true_claim_is_proved(name: str) -> None:
    proof = sl.prove_equal(*TRUE[name]())
    assert proof.verdict is sl.Verdict.PROVED, proof.explain()
    assert proof.laws == ()


@pytest.mark.parametrize("name", FALSE)
def test_a_false_claim_is_refuted(name: str) -> None:
    sides = FALSE[name]()
    proof = sl.prove_equal(*sides)
    assert proof.verdict is sl.Verdict.REFUTED
    assert proof.witness is not None
    assert differ(sides, proof.witness.dims, proof.witness.coord) or "clips" in name


def test_a_window_of_pads_alone_is_below_what_relu_makes() -> None:
    """The maximum of no element is minus infinity on one side, and the relu of that on the other."""
    left, right = op.relu(_pooled(_image(), 3)), _pooled(op.relu(_image()), 3)
    assert sl.prove_equal(left, right).verdict is sl.Verdict.REFUTED


def test_a_maximum_of_no_element_is_not_moved() -> None:
    x = sl.tensor("N, C>=0", "float32", name="x")
    sides = op.relu(op.reduce_max(x, axes=[1])), op.reduce_max(op.relu(x), axes=[1])
    assert sl.prove_equal(*sides).verdict is sl.Verdict.REFUTED


def test_whether_each_window_has_an_element() -> None:
    for pads, has in (((1, 1), True), ((0, 2), True), ((3, 3), False)):
        x = sl.tensor("N, C, H>=1", "float32", name="x")
        (view,) = max_pool(x, (3,), Spatial((1,), (1,), (pads,))).inputs
        assert has_a_term(view, 3) is has


def test_certificates_are_about_the_merged_sides() -> None:
    sides = TRUE["relu and a pool without pads"]()
    certificate = sl.prove_equal(*sides).certificate
    assert certificate is not None
    assert certificate["merged"] is True
    claim = {"": sides[0]}, {"": sides[1]}
    assert refusal_of_computed(certificate, *claim, operand_of("joint", sides).facts) == ""
    wrong = FALSE["negative values"]()
    assert refusal_of_computed(certificate, {"": wrong[0]}, {"": wrong[1]}, operand_of("joint", wrong).facts) != ""
    without = {key: value for key, value in certificate.items() if key != "merged"}
    assert refusal_of_computed(without, *claim, operand_of("joint", sides).facts) != ""


def test_a_proof_that_each_window_has_an_element_has_no_certificate() -> None:
    with pytest.raises(sl.InconclusiveError, match="has a certificate"):
        _ = sl.prove_equal(*TRUE["relu and a padded pool"]()).certificate
