"""Fused functions are their formulas; laws make chains equal that round in different ways, and only those."""

from __future__ import annotations

from functools import partial
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
        (sl.op("microsoft:SimplifiedLayerNormalization")(X, S), root_mean_square(X)),
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
    from symlayout.proof.laws import LAWS

    assert sl.prove_equal(fused, chain, laws=LAWS, budget=40).verdict is not PROVED


def test_nothing_is_cancelled_without_the_law_of_real_numbers() -> None:
    zero = op("Sub", Y, Y)
    one = op("Div", Y, Y)
    laws = ("reassociate", "reciprocal", "fold-batchnorm")
    for spoilt in (op("Add", op("Gelu", X), zero), op("Mul", op("Gelu", X), one)):
        assert sl.prove_equal(gelu(X), spoilt, laws=laws, budget=40).verdict is not PROVED
    assert sl.prove_equal(op("Gelu", X), op("Mul", gelu(X), one), laws=(*laws, "real"), budget=40).verdict is not PROVED


@pytest.mark.slow
def test_a_quotient_is_a_product_under_a_law_that_is_named() -> None:
    quotient, product = op("Div", X, Y), op("Mul", X, op("Div", 1.0, Y))
    proof = sl.prove_equal(quotient, product)
    assert (proof.verdict, "reciprocal" in proof.obligation) == (UNKNOWN, True)
    proof = sl.prove_equal(quotient, product, laws=("reassociate", "reciprocal"))
    assert (proof.verdict, proof.laws) == (PROVED, ("reciprocal",))
    assert sl.prove_equal(quotient, op("Mul", Y, op("Div", 1.0, X)), laws=("reciprocal",)).verdict is REFUTED


@pytest.mark.slow
def test_a_factor_moves_through_products_under_a_law_also_if_it_is_a_power_of_two() -> None:
    a, b = sl.tensor("G, M, K", "float32", "a"), sl.tensor("G, K, N", "float32", "b")
    for factor in (0.125, 0.1):
        for before, after, laws in (
            (
                op("Mul", op("MatMul", a, b), factor),
                op("MatMul", op("Mul", a, factor), b),
                ("real", "reassociate"),
            ),
            (op("Mul", op("Mul", X, factor), Y), op("Mul", X, op("Mul", Y, factor)), ("reassociate",)),
        ):
            proof = sl.prove_equal(before, after)
            assert (proof.verdict, all(law in proof.obligation for law in laws)) == (UNKNOWN, True)
            proof = sl.prove_equal(before, after, laws=laws)
            assert (proof.verdict, proof.laws) == (PROVED, laws)


def test_a_power_of_two_that_moves_changes_what_overflows_and_what_underflows() -> None:
    before, after = op("Mul", op("Mul", X, 2.0), Y), op("Mul", X, op("Mul", Y, 2.0))
    for x, y in ((3e38, 0.25), (0.25, 3e38)):
        values = [sl.interpret(t, *(np.full((1, 1, 1), v, np.float32) for v in (x, y))) for t in (before, after)]
        assert np.isinf(values[0]) != np.isinf(values[1])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (op("Add", X, X), op("Mul", X, 2.0)),
        (op("Div", op("Relu", X), 4.0), op("Mul", op("Relu", X), 0.25)),
        (op("Neg", X), op("Mul", -1.0, X)),
    ],
)
def test_one_operation_that_is_exact_up_to_its_rounding_needs_no_law(one: sl.Tensor, other: sl.Tensor) -> None:
    proof = sl.prove_equal(one, other)
    assert (proof.verdict, proof.laws) == (PROVED, ())


def nudged(value: float, ulps: int) -> float:
    """Return the float32 that is some units in the last place from a number."""
    return float((np.array(value, np.float32).view(np.int32) + np.int32(ulps)).view(np.float32))


def gelu_of(root: float = 2**0.5, one: float = 1.0, half: float = 0.5) -> sl.Tensor:
    return op("Mul", op("Mul", X, op("Add", op("Erf", op("Div", X, root)), one)), half)


def gelu_of_product(root: float = 0.5**0.5, half: float = 0.5) -> sl.Tensor:
    return op("Mul", op("Mul", X, half), op("Add", op("Erf", op("Mul", X, root)), 1.0))


def tanh_gelu_of(cubic: float = 0.044715, root: float = (2 / np.pi) ** 0.5, half: float = 0.5) -> sl.Tensor:
    inner = op("Add", X, op("Mul", op("Pow", X, 3.0), cubic))
    return op("Mul", op("Mul", half, X), op("Add", 1.0, op("Tanh", op("Mul", inner, root))))


def hard_swish_of(slope: float = 1 / 6, half: float = 0.5, top: float = 1.0) -> sl.Tensor:
    return op("Mul", X, op("Clip", op("Add", op("Mul", X, slope), half), 0.0, top))


EXACT, ROUNDED, PRODUCT = 0, 0, 1  # units in the last place: a product of two rounded numbers may be one off


def test_a_power_of_a_half_is_no_root() -> None:
    """They differ at -0, and at minus infinity."""
    root, power = op("Sqrt", X), op("Pow", X, 0.5)
    assert sl.prove_equal(power, root).verdict is not sl.Verdict.PROVED
    assert sl.prove_equal(power, root, laws=("reassociate",)).verdict is not sl.Verdict.REFUTED


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("fused", "chain", "name", "value", "bound"),
    [
        (op("Gelu", X), gelu_of, "root", 2**0.5, ROUNDED),
        (op("Gelu", X), gelu_of, "one", 1.0, EXACT),
        (op("Gelu", X), gelu_of, "half", 0.5, EXACT),
        (op("Gelu", X), gelu_of_product, "root", 0.5**0.5, ROUNDED),
        (op("Gelu", X), gelu_of_product, "half", 0.5, EXACT),
        (op("Gelu", X, approximate="tanh"), tanh_gelu_of, "cubic", 0.044715, PRODUCT),
        (op("Gelu", X, approximate="tanh"), tanh_gelu_of, "root", (2 / np.pi) ** 0.5, ROUNDED),
        (op("Gelu", X, approximate="tanh"), tanh_gelu_of, "half", 0.5, EXACT),
        (op("HardSwish", X), hard_swish_of, "slope", 1 / 6, ROUNDED),
        (op("HardSwish", X), hard_swish_of, "half", 0.5, EXACT),
        (op("HardSwish", X), hard_swish_of, "top", 1.0, EXACT),
        (op("LayerNormalization", X, S, B, epsilon=1e-5), partial(layer_norm, X), "epsilon", 1e-5, ROUNDED),
        (op("LayerNormalization", X, S, B, epsilon=nudged(1e-5, 0)), partial(layer_norm, X), "epsilon", 1e-5, EXACT),
    ],
)
def test_a_constant_is_that_of_the_formula_up_to_its_rounding(
    fused: sl.Tensor, chain: Any, name: str, value: float, bound: int
) -> None:
    from symlayout.proof.laws import LAWS

    assert sl.prove_equal(fused, chain(**{name: value}), budget=1).verdict is PROVED
    for ulps in (1, 2, 4, 16, 100):
        for sign in (1, -1):
            spoilt = chain(**{name: nudged(value, sign * ulps)})
            for laws in ((), LAWS):
                if not laws and sl.prove_equal(fused, spoilt, budget=1).verdict is PROVED:
                    assert ulps <= bound


@pytest.mark.slow
def test_constants_that_are_no_part_of_a_formula_are_compared_by_bits() -> None:
    for ulps in (1, 2, 16, 100):
        factor, other = op("Mul", op("Relu", Y), 0.3), op("Mul", op("Relu", Y), nudged(0.3, ulps))
        for left, right in (
            (factor, other),
            (op("Gelu", factor), gelu(other)),
            (sl.op("microsoft:BiasGelu")(factor, B), gelu(op("Add", other, B))),
            (op("Add", op("Gelu", X), factor), op("Add", gelu(X), other)),
        ):
            assert sl.prove_equal(left, right, budget=1).verdict is not PROVED


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


@pytest.mark.slow
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
    laws = ("reassociate", "real", "reciprocal", "fold-batchnorm")
    assert sl.prove_equal(left, right, laws=laws, budget=100).verdict is REFUTED
    same = op("ReduceMean", op("Mul", square, op("Mul", rows, 0.3)), axes=[0])
    assert sl.prove_equal(left, same, laws=laws, budget=100).verdict is PROVED


def test_the_work_grows_with_the_depth_of_a_model_and_not_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    from symlayout.proof.forms.compare_forms import laws_of

    def residual(depth: int, normalize: Any) -> sl.Tensor:
        x = X
        for _ in range(depth):
            x = op("Add", x, op("Relu", normalize(x)))
        return x

    counts: list[int] = []

    def counted(*args: Any, **options: Any) -> Any:
        counts[-1] += 1
        return laws_of(*args, **options)

    monkeypatch.setattr("symlayout.proof.compare_computed.laws_of", counted)
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
    proof = sl.prove_equal(before, after, laws=("reassociate", "real", "reciprocal", "fold-batchnorm"))
    assert (proof.verdict, proof.laws) == (PROVED, ("reciprocal",))


def test_a_power_of_one_half_is_not_a_root() -> None:
    power, root = op("Pow", X, 0.5), op("Sqrt", X)  # of -0.0: 0.0 and -0.0; of negative infinity: infinity and NaN
    assert sl.prove_equal(power, root, budget=1).verdict is not sl.Verdict.PROVED


@pytest.mark.slow
def test_formulas_count_as_goals(monkeypatch: pytest.MonkeyPatch) -> None:
    from symlayout.proof.laws import LAWS

    x, w = sl.tensor("N, C", name="x", dtype="float32"), sl.tensor("C, M", name="w", dtype="float32")
    half = sl.constant(np.float32(0.3))
    left = sl.onnx.mat_mul(sl.onnx.mul(x, half), w)
    right = sl.onnx.mul(sl.onnx.mat_mul(x, w), half)
    assert sl.prove_equal(left, right, laws=LAWS).verdict is sl.Verdict.PROVED
    monkeypatch.setattr(sl.limits, "decision_goals", 2)
    assert sl.prove_equal(left, right, laws=LAWS).verdict is sl.Verdict.UNKNOWN


def test_digits_of_a_box_are_none_that_a_reader_around_has() -> None:
    from symlayout.algebra.facts import Facts
    from symlayout.proof.cases.read_element import SideRead
    from symlayout.proof.forms.compare_forms import _Reader

    facts = Facts()
    value = sl.onnx.relu(sl.tensor("16, 2", "float32", name="x"))
    read = SideRead(value, (0, 0), None, ())
    outer = _Reader(None, facts.fork(), (read, read))  # type: ignore[arg-type]
    box = outer._box((3, 16, 2), ())
    inner = _Reader(None, outer.facts.fork(), (read, read))  # type: ignore[arg-type]
    found = inner._box((5, 2, 7), (box[1][0],))
    assert {str(digit) for digit, _ in box}.isdisjoint(str(digit) for digit, _ in found)
    assert [inner.facts.high[str(digit)] for digit, _ in (*box, *found)] == [2, 15, 1, 4, 1, 6]
