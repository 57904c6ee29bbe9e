"""Fused functions are their formulas; laws make chains equal that round in different ways, and only those."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symlayout as sl

PROVED, UNKNOWN, REFUTED = sl.Verdict.PROVED, sl.Verdict.UNKNOWN, sl.Verdict.REFUTED
X, Y = sl.tensor("N, C, H", "float32", "x"), sl.tensor("N, C, H", "float32", "y")
S, B = sl.tensor("H", "float32", "s"), sl.tensor("H", "float32", "b")
IMAGE = sl.tensor("N, 3, H, W", "float32", "i")


def op(name: str, *inputs: Any, **attributes: Any) -> sl.Tensor:
    """Return an operator of ONNX, where Python's numbers are float32."""
    made: sl.Tensor = sl.op(f"onnx:{name}")(
        *(np.float32(x) if isinstance(x, float) else x for x in inputs), **attributes
    )
    return made


def gelu(x: sl.Tensor, *, half: float = 0.5) -> sl.Tensor:
    return op("Mul", op("Mul", x, op("Add", op("Erf", op("Div", x, 2**0.5)), 1.0)), half)


def tanh_gelu(x: sl.Tensor) -> sl.Tensor:
    cubic = op("Add", x, op("Mul", op("Pow", x, 3.0), 0.044715))
    return op("Mul", op("Mul", 0.5, x), op("Add", 1.0, op("Tanh", op("Mul", cubic, (2 / np.pi) ** 0.5))))


def layer_norm(x: sl.Tensor, *, epsilon: float = 1e-5, axis: int = -1) -> sl.Tensor:
    centred = op("Sub", x, op("ReduceMean", x, axes=[axis]))
    variance = op("ReduceMean", op("Pow", centred, 2.0), axes=[axis])
    return op("Add", op("Mul", op("Div", centred, op("Sqrt", op("Add", variance, epsilon))), S), B)


def root_mean_square(x: sl.Tensor) -> sl.Tensor:
    mean = op("ReduceMean", op("Mul", x, x), axes=[-1])
    return op("Mul", S, op("Mul", x, op("Reciprocal", op("Sqrt", op("Add", mean, 1e-5)))))


@pytest.mark.parametrize(
    ("fused", "chain"),
    [
        (op("HardSwish", X), op("Mul", X, op("HardSigmoid", X, alpha=float(np.float32(1 / 6)), beta=0.5))),
        (op("HardSwish", X), op("Mul", X, op("Clip", op("Add", op("Div", X, 6.0), 0.5), 0.0, 1.0))),
        (op("Gelu", X), gelu(X)),
        (op("Gelu", op("Add", X, Y)), gelu(op("Add", X, Y))),
        (op("Gelu", X, approximate="tanh"), tanh_gelu(X)),
        (sl.op("microsoft:BiasGelu")(X, B), gelu(op("Add", X, B))),
        (sl.op("microsoft:FastGelu")(X, B), tanh_gelu(op("Add", X, B))),
        (sl.op("microsoft:QuickGelu")(X, alpha=1.5), op("Mul", X, op("Sigmoid", op("Mul", X, 1.5)))),
        (op("LayerNormalization", X, S, B), layer_norm(X)),
        (sl.op("microsoft:SkipLayerNormalization")(X, Y, S, B, epsilon=1e-5), layer_norm(op("Add", X, Y))),
        (op("RMSNormalization", X, S), root_mean_square(X)),
        (sl.op("onnx:SimplifiedLayerNormalization")(X, S), root_mean_square(X)),
        (op("Mish", X), op("Mul", X, op("Tanh", op("Softplus", X)))),
    ],
)
def test_a_fused_function_is_the_chain_that_has_its_formula(fused: sl.Tensor, chain: sl.Tensor) -> None:
    for left, right in ((fused, chain), (chain, fused)):
        proof = sl.prove_equal(op("Relu", left), op("Relu", right))
        assert (proof.verdict, proof.laws) == (PROVED, ())


@pytest.mark.parametrize(
    ("fused", "chain"),
    [
        (op("HardSwish", X), op("Mul", X, op("HardSigmoid", X, alpha=0.2, beta=0.5))),
        (op("HardSwish", X), op("Mul", Y, op("HardSigmoid", X, alpha=1 / 6, beta=0.5))),
        (op("Gelu", X), gelu(X, half=0.51)),
        (op("Gelu", X), tanh_gelu(X)),
        (op("LayerNormalization", X, S, B), layer_norm(X, epsilon=0.5)),
        (op("LayerNormalization", X, S, B), op("LayerNormalization", X, B, S)),
        (sl.op("microsoft:SkipLayerNormalization")(X, Y, S, B, epsilon=1e-5), layer_norm(X)),
        (op("RMSNormalization", X, S), layer_norm(X)),
    ],
)
def test_another_formula_is_not_proved_whatever_law_is_granted(fused: sl.Tensor, chain: sl.Tensor) -> None:
    from symlayout.proof.compare_forms import LAWS

    assert sl.prove_equal(fused, chain, laws=LAWS, budget=40).verdict is not PROVED


def test_nothing_is_cancelled() -> None:
    zero = op("Sub", Y, Y)
    one = op("Div", Y, Y)
    laws = ("reassociate", "reciprocal", "fold-batchnorm")
    for spoilt in (op("Add", op("Gelu", X), zero), op("Mul", op("Gelu", X), one)):
        assert sl.prove_equal(gelu(X), spoilt, laws=laws, budget=40).verdict is not PROVED
    assert sl.prove_equal(op("Gelu", X), op("Add", gelu(X), zero), laws=laws, budget=40).verdict is not PROVED


def test_a_quotient_is_a_product_under_a_law_that_is_named() -> None:
    quotient, product = op("Div", X, Y), op("Mul", X, op("Div", 1.0, Y))
    proof = sl.prove_equal(quotient, product)
    assert (proof.verdict, "reciprocal" in proof.obligation) == (UNKNOWN, True)
    proof = sl.prove_equal(quotient, product, laws=("reassociate", "reciprocal"))
    assert (proof.verdict, proof.laws) == (PROVED, ("reciprocal",))
    assert sl.prove_equal(quotient, op("Mul", Y, op("Div", 1.0, X)), laws=("reciprocal",)).verdict is REFUTED


def test_a_power_of_two_moves_through_a_product_and_other_factors_need_a_law() -> None:
    a, b = sl.tensor("G, M, K", "float32", "a"), sl.tensor("G, K, N", "float32", "b")
    for factor, laws in ((0.125, ()), (0.1, ("reassociate",))):
        before, after = op("Mul", op("MatMul", a, b), factor), op("MatMul", op("Mul", a, factor), b)
        assert (sl.prove_equal(before, after).verdict is PROVED) == (laws == ())
        proof = sl.prove_equal(before, after, laws=("reassociate",))
        assert (proof.verdict, proof.laws) == (PROVED, laws)


def folded(*, bias: float = 1.0, pads: Any = (1, 1, 1, 1)) -> tuple[sl.Tensor, sl.Tensor]:
    """Return a batch normalisation of a convolution, and the convolution that it is folded into."""
    draw = np.random.default_rng(3)
    w = draw.normal(size=(8, 3, 3, 3)).astype("float32")
    scale, shift, mean = (draw.normal(size=8).astype("float32") for _ in range(3))
    variance = draw.random(8).astype("float32") + np.float32(0.5)
    factor = (scale / np.sqrt(variance + 1e-5)).astype("float32")
    before = op("BatchNormalization", op("Conv", IMAGE, w, pads=[1, 1, 1, 1]), scale, shift, mean, variance)
    weights, offset = w * factor[:, None, None, None], (shift - mean * factor) * np.float32(bias)
    return op("Relu", before), op("Relu", op("Conv", IMAGE, weights, offset, pads=list(pads)))


def test_a_batch_normalisation_is_folded_into_a_convolution_under_a_law() -> None:
    before, after = folded()
    proof = sl.prove_equal(before, after)
    assert (proof.verdict, "fold-batchnorm" in proof.obligation) == (UNKNOWN, True)
    proof = sl.prove_equal(before, after, laws=("fold-batchnorm",))
    assert (proof.verdict, proof.laws) == (PROVED, ("fold-batchnorm",))
    with pytest.raises(sl.InconclusiveError):
        _ = proof.certificate
    deep = [op("Relu", op("Add", t, IMAGE[:, :1])) for t in (before, after)]
    assert sl.prove_equal(*deep, laws=("fold-batchnorm",)).verdict is PROVED


def test_a_wrong_fold_is_not_proved() -> None:
    for before, after in (folded(bias=1.01), folded(pads=(1, 1, 0, 2))):
        assert sl.prove_equal(before, after, laws=("fold-batchnorm",)).verdict is REFUTED


def test_digits_of_a_box_are_not_those_that_are_outside_of_it() -> None:
    square = sl.tensor("N, N", "float32", "square")
    rows, columns = op("ReduceMean", square, axes=[1]), op("ReduceMean", square, axes=[0])
    left = op("ReduceMean", op("Mul", op("Mul", square, rows), 0.3), axes=[0])
    right = op("ReduceMean", op("Mul", square, op("Mul", columns, 0.3)), axes=[0])
    laws = ("reassociate", "reciprocal", "fold-batchnorm")
    assert sl.prove_equal(left, right, laws=laws, budget=100).verdict is REFUTED
    same = op("ReduceMean", op("Mul", square, op("Mul", rows, 0.3)), axes=[0])
    assert sl.prove_equal(left, same, laws=laws, budget=100).verdict is PROVED


def test_the_work_grows_with_the_depth_of_a_model_and_not_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    from symlayout.proof.compare_forms import laws_of

    def residual(depth: int, normalize: Any) -> sl.Tensor:
        x = X
        for _ in range(depth):
            x = op("Add", x, op("Relu", normalize(x)))
        return x

    counts: list[int] = []

    def counted(*args: Any, **options: Any) -> Any:
        counts[-1] += 1
        return laws_of(*args, **options)

    monkeypatch.setattr("symlayout.proof.decide_equal.laws_of", counted)
    for depth in (4, 8):
        counts.append(0)
        fused = residual(depth, lambda x: op("LayerNormalization", x, S, B))
        assert sl.prove_equal(residual(depth, layer_norm), fused).verdict is PROVED
    assert counts[1] <= 2 * counts[0] + 4


def test_only_the_law_is_named_that_the_difference_needs() -> None:
    x = op("Relu", X)
    root = op("Sqrt", op("Add", op("ReduceMean", op("Mul", x, x), axes=[-1]), 1e-5))
    scaled = op("Mul", op("Add", x, np.arange(3, dtype=np.float32)[:, None]), np.array([[2], [3], [5]], np.float32))
    before, after = op("Mul", scaled, op("Div", 1.0, root)), op("Div", scaled, root)
    proof = sl.prove_equal(before, after, laws=("reassociate", "reciprocal", "fold-batchnorm"))
    assert (proof.verdict, proof.laws) == (PROVED, ("reciprocal",))
