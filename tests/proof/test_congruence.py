"""Equality through operations that compute, for all sizes; each with its false neighbour, which has a witness."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.declare import Fill, Operand
from symlayout.proof import attempts, decide_equal
from symlayout.proof.cases.compare_constants import same_elements
from symlayout.proof.cases.split_cases import CaseDecision
from symlayout.proof.congruence import Way, equal
from tests.tensors.depthwise import depthwise, sum_of_products

PROVED, REFUTED, UNKNOWN = sl.Verdict.PROVED, sl.Verdict.REFUTED, sl.Verdict.UNKNOWN


def _relu(x: Any) -> Any:
    return np.maximum(x, 0)


RELU = sl.Body("relu", _relu)
GREATEST = sl.Body("max", lambda x, axes: x.max(axes), over=True, commutative=True, exact=True)


def relu(x: sl.Tensor) -> sl.Tensor:
    return sl.compute(RELU, [x], batch=len(x.shape))


@sl.computation
def conv(x: Operand, dilation: Any = 1) -> sl.Computed:
    (n, c, h, w), (m, c2, k, q) = x.shapes
    d = x.extent(dilation)
    x.require_equal(c, c2, "size_mismatch")
    views = (
        sl.View(lambda n, m, y, x, c, i, j: (n, c, y + i * d, x + j * d), (c, k, q)),
        sl.View(lambda n, m, y, x, c, i, j: (m, c, i, j), (c, k, q), 1),
    )
    return sl.Computed((n, m, h - d * (k - 1), w - d * (q - 1)), views, sum_of_products)


@sl.computation
def conv_nhwc(x: Operand) -> sl.Computed:
    (n, h, w, c), (m, c2, k, q) = x.shapes
    x.require_equal(c, c2, "size_mismatch")
    views = (
        sl.View(lambda n, y, x, m, i, j, c: (n, y + i, x + j, c), (k, q, c)),
        sl.View(lambda n, y, x, m, i, j, c: (m, c, i, j), (k, q, c), 1),
    )
    return sl.Computed((n, h - k + 1, w - q + 1, m), views, sum_of_products)


@sl.computation
def matmul(x: Operand) -> sl.Computed:
    (m, k), (k2, n) = x.shapes
    x.require_equal(k, k2, "size_mismatch")
    views = sl.View(lambda i, j, r: (i, r), (k,)), sl.View(lambda i, j, r: (r, j), (k,), 1)
    return sl.Computed((m, n), views, sum_of_products)


X = sl.tensor("N, C, H, W", name="x")
Y = sl.tensor("N, C, H, W", name="y")
FOLDED = sl.tensor("N, C, 2*h, 2*w", name="x")


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        (relu(sl.transpose(X)), sl.transpose(relu(X)), PROVED),
        (relu(sl.transpose(X, (0, 2, 1, 3))), sl.transpose(relu(X), (0, 2, 3, 1)), REFUTED),
        (relu(sl.space_to_depth(FOLDED, 2)), sl.space_to_depth(relu(FOLDED), 2), PROVED),
        (relu(sl.space_to_depth(FOLDED, 2)), sl.space_to_depth(relu(FOLDED), 2, "depth_first"), REFUTED),
        (relu(sl.pad(X, 1)), sl.pad(relu(X), 1), PROVED),
        (relu(sl.pad(X, 1, constant_values=2)), sl.pad(relu(X), 1, constant_values=2), PROVED),
        (relu(sl.pad(X, 1, constant_values=-2)), sl.pad(relu(X), 1, constant_values=-2), REFUTED),
        (sl.concatenate([relu(X), relu(Y)], 1), relu(sl.concatenate([X, Y], 1)), PROVED),
        (sl.concatenate([relu(Y), relu(X)], 1), relu(sl.concatenate([X, Y], 1)), REFUTED),
        (relu(X)[:, :, 1:-1], relu(X[:, :, 1:-1]), PROVED),
        (relu(X)[:, :, 1:-1], relu(X[:, :, 2:]), REFUTED),
    ],
)
def test_an_elementwise_value_moves_with_its_operand(left: sl.Tensor, right: sl.Tensor, verdict: sl.Verdict) -> None:
    assert sl.prove_equal(left, right).verdict is verdict


def test_two_functions_of_one_name_are_not_one() -> None:
    other = sl.Body("relu", lambda x: x)
    assert sl.prove_equal(relu(X), sl.compute(other, [X], batch=4)).verdict is REFUTED


@pytest.mark.slow
def test_convolution_in_two_layouts_needs_the_order_of_the_sum() -> None:
    x, w = sl.tensor("N, H, W, C", name="x"), sl.tensor("M, C, K, L", name="w")
    left, right = conv_nhwc(x, w), sl.transpose(conv(sl.transpose(x, (0, 3, 1, 2)), w), (0, 2, 3, 1))
    without = sl.prove_equal(left, right)
    assert without.verdict is UNKNOWN
    assert "reassociate" in without.obligation
    granted = sl.prove_equal(left, right, laws=("reassociate",))
    assert (granted.verdict, granted.laws) == (PROVED, ("reassociate",))
    same = sl.prove_equal(right, right, laws=("reassociate",))
    assert (same.verdict, same.laws) == (PROVED, ())
    wrong = sl.transpose(conv(sl.transpose(x, (0, 3, 2, 1)), w), (0, 3, 2, 1))
    assert sl.prove_equal(left, wrong, laws=("reassociate",)).verdict is REFUTED


def test_the_order_of_integers_and_of_a_maximum_does_not_matter() -> None:
    x, w = sl.tensor("N, H, W, C", "int32", "x"), sl.tensor("M, C, K, L", "int32", "w")
    left, right = conv_nhwc(x, w), sl.transpose(conv(sl.transpose(x, (0, 3, 1, 2)), w), (0, 2, 3, 1))
    assert sl.prove_equal(left, right).verdict is PROVED
    z = sl.tensor("N, H, W", name="z")
    left, right = (sl.compute(GREATEST, [t], batch=1) for t in (z, sl.transpose(z, (0, 2, 1))))
    assert sl.prove_equal(left, right).verdict is PROVED
    flat = sl.compute(GREATEST, [sl.reshape(z, (sl.dim("N"), -1))], batch=1)
    assert sl.prove_equal(left, flat).verdict is PROVED
    part = sl.compute(GREATEST, [z[:, 1:]], batch=1)
    assert sl.prove_equal(left, part).verdict is REFUTED


@pytest.mark.parametrize("right_dilation", [True, False])
def test_convolution_between_space_to_batch_and_back_is_the_dilated_one(right_dilation: bool) -> None:
    d, (n, c, h, w) = sl.dim("d", min=1), sl.dims("n c h w")
    x, kernel = sl.tensor((n, c, d * h, d * w), name="x"), sl.tensor("M, c, K, L", name="w")
    blocks = sl.transpose(sl.space_to_batch(sl.transpose(x, (0, 2, 3, 1)), (d, d), ((0, 0), (0, 0))), (0, 3, 1, 2))
    back = sl.batch_to_space(sl.transpose(conv(blocks, kernel), (0, 2, 3, 1)), (d, d), ((0, 0), (0, 0)))
    proof = sl.prove_equal(conv(x, kernel, d if right_dilation else 1), sl.transpose(back, (0, 3, 1, 2)))
    assert proof.verdict is (PROVED if right_dilation else REFUTED)
    if not right_dilation:
        assert proof.witness is not None


def test_a_product_of_transposes_is_the_transpose_of_the_product() -> None:
    a, b = sl.tensor("M, K", name="a"), sl.tensor("K, N", name="b")
    left = sl.transpose(matmul(a, b))
    assert sl.prove_equal(left, matmul(sl.transpose(b), sl.transpose(a))).verdict is PROVED
    square = [sl.tensor("N, N", name=name) for name in "ab"]
    left = sl.transpose(matmul(*square))
    assert sl.prove_equal(left, matmul(sl.transpose(square[0]), sl.transpose(square[1]))).verdict is REFUTED
    assert "sides are" in str(sl.prove_equal(left, matmul(*square)))


def test_a_shared_value_is_compared_once_however_often_it_is_read() -> None:
    add = sl.Body("add", np.add, symmetric=True)
    left = right = sl.tensor("N, C", name="x")
    right = sl.transpose(right)
    for _ in range(60):  # a comparison for each path would take 2**60 steps
        left, right = (sl.compute(add, [relu(t), t], batch=2) for t in (left, right))
    assert sl.prove_equal(left, sl.transpose(right)).verdict is PROVED


@pytest.mark.slow
def test_a_random_value_is_equal_to_itself_only() -> None:
    noise = sl.Body("noise", None, random=True)
    first, second = (sl.compute(noise, [X], batch=4) for _ in range(2))
    assert sl.prove_equal(sl.transpose(sl.transpose(first)), first).verdict is PROVED
    assert sl.prove_equal(first, second).verdict is UNKNOWN


def test_depthwise_convolution_moves_with_its_channels() -> None:
    x, w = sl.tensor("n, c, h, w", name="x"), sl.tensor("c, 3, 3", name="w")
    s, d = sl.dim("s", min=1), sl.dim("d", min=1)
    left = depthwise(sl.flip(x, 1), sl.flip(w, 0), s, d)
    assert sl.prove_equal(left, sl.flip(depthwise(x, w, s, d), 1)).verdict is PROVED
    assert sl.prove_equal(left, depthwise(x, w, s, d)).verdict is REFUTED


def test_constants_are_equal_by_their_bits_under_the_maps() -> None:
    a = np.random.default_rng(0).normal(size=(4, 3, 2)).astype("float32")
    left, right = sl.constant(a), sl.constant(np.ascontiguousarray(a.transpose(2, 0, 1)))
    assert sl.prove_equal(sl.transpose(left, (2, 0, 1)), right).verdict is PROVED
    changed = a.copy()
    changed[1, 2, 1] = np.nextafter(changed[1, 2, 1], 1)
    assert sl.prove_equal(left, sl.constant(changed)).verdict is not PROVED
    zeros = sl.constant(np.zeros(3)), sl.constant(-np.zeros(3))
    assert sl.prove_equal(*zeros).verdict is not PROVED
    assert sl.prove_equal(sl.pad(sl.constant(np.zeros(3)), 1), sl.constant(np.zeros(5))).verdict is PROVED


@pytest.mark.slow
def test_values_of_two_types_are_not_one() -> None:
    cast = sl.Body("cast", lambda x: x)
    left, right = (sl.compute(cast, [X], batch=4, dtype=dtype) for dtype in ("int8", "int16"))
    with pytest.raises(sl.ArrayError):
        sl.prove_equal(left, right)
    left, right = (sl.compute(RELU, [t], batch=4, dtype="int32") for t in (left, right))
    assert sl.prove_equal(left, right).verdict is not PROVED


def test_a_box_is_that_of_another_body_axis_by_axis_or_row_major() -> None:
    facts = X.facts
    n, c, h = X.extents[:3]
    way = Way((0, 2, 1), ((0, 1), (1, 3)))
    assert way.extents([n, c, h]) == [n, c * h]
    assert way.coordinates([1, 2, 3], [5, 6, 7]) == [1, 3 * 6 + 2]
    assert equal(c * h - h * c + n, n, facts)


def test_constants_of_unknown_coordinates_are_not_compared() -> None:
    facts = sl.tensor("n", name="x").facts.fork()
    from symlayout.algebra.polynomial import symbol

    a = np.zeros(3)
    assert not same_elements(a, a, (symbol("n"),), (symbol("n"),), facts)


@pytest.mark.parametrize("turned", [False, True])
def test_constants_behind_a_dynamic_extent_are_compared(turned: bool) -> None:
    x = sl.tensor((sl.dim("N"), 2), name="x")
    w = np.arange(6, dtype="float32").reshape(3, 2)
    order = -1 if turned else 1
    whole = sl.concatenate([x, sl.constant(w)], 0)
    parts = [sl.constant(w[::order][at][::order]) for at in (slice(0, 1), slice(1, 3))]
    split = sl.concatenate([x, *parts[::order]], 0)
    if turned:
        whole, split = sl.flip(whole, 0), sl.concatenate([sl.flip(p, 0) for p in [*parts, x]], 0)
    assert sl.prove_equal(whole, split).verdict is sl.Verdict.PROVED
    other = sl.concatenate([x, sl.constant(w[::-1].copy())], 0)
    assert sl.prove_equal(whole, other).verdict is sl.Verdict.REFUTED


def test_a_fill_is_read_through_a_function_only_where_it_is_read() -> None:
    add = sl.Body("add", np.add, symmetric=True)
    padded = sl.compute(add, [sl.pad(X, 1, constant_values=2), sl.pad(Y, 1, constant_values=3)], batch=4)
    inner = sl.compute(add, [X, Y], batch=4)
    assert sl.prove_equal(padded, sl.pad(inner, 1, constant_values=5)).verdict is PROVED
    assert sl.prove_equal(padded, sl.pad(inner, 1, constant_values=4)).verdict is REFUTED
    assert Fill(5).value == 5


def test_max_pool_commutes_with_a_crop_that_fits() -> None:
    @sl.computation
    def pool(x: Operand) -> sl.Computed:
        n, h = x.shape
        return sl.Computed((n, h - 2), (sl.View(lambda n, y, i: (n, y + i), (3,)),), GREATEST)

    x = sl.tensor("N, H", name="x")
    assert sl.prove_equal(pool(x)[:, 1:-1], pool(x[:, 1:-1])).verdict is PROVED
    assert sl.prove_equal(pool(x)[:, 1:-1], pool(x[:, :-2])).verdict is REFUTED


def test_what_differs_at_the_fifth_size_is_refuted_before_the_long_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows in another order are the same for N = 1 and for S = 1; a deep chain costs many points a size."""
    x = sl.tensor("N, S, 4", "float32", "x")
    left, right = x, sl.transpose(x, (1, 0, 2))
    left, right = (sl.reshape(t, (-1, 4)) for t in (left, right))
    for _ in range(120):
        left, right = relu(left), relu(right)
    made = []
    attempt = decide_equal.attempt

    def counted(*args: Any, finite: bool, **options: Any) -> Any:
        made.append(finite)
        return attempt(*args, finite=finite, **options)

    monkeypatch.setattr(attempts, "attempt", counted)
    proof = sl.prove_equal(left, right)
    assert proof.verdict is REFUTED
    assert made == [False]


@pytest.mark.slow
def test_an_open_pair_leaves_little_work_for_what_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pair that is not proved costs all of its goals; without a common account, each pair above would do so again."""
    weights = np.random.default_rng(0).normal(size=(2, 2, 3, 3)).astype("float32")
    other = weights.copy()
    other[-1, -1, -1, -1] += 0.25

    def network(first: Any) -> Any:
        y = sl.onnx.conv(sl.tensor("N, 2, H, W", "float32", "x"), sl.constant(first), pads=[1, 1, 1, 1])
        for _ in range(2):
            y = sl.onnx.max_pool(y, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
            y = sl.onnx.conv(y, sl.constant(weights), pads=[1, 1, 1, 1])
        return y

    counted: list[int] = []
    split = CaseDecision._split

    def counting(*args: Any) -> Any:
        counted.append(1)
        return split(*args)

    monkeypatch.setattr(sl.limits, "decision_goals", 3000)
    monkeypatch.setattr(CaseDecision, "_split", counting)
    assert sl.prove_equal(network(weights), network(other), budget=1).verdict is REFUTED  # at sizes of 16
    assert len(counted) < 340  # 389 if each pair has an account of its own


@pytest.mark.slow
def test_a_product_over_a_reversed_axis_is_a_convolution_over_three() -> None:
    """The one has five axes before the sum and one in it, the other four and three."""
    x, w = sl.tensor("N, 4, 1, 1", name="x", dtype="float32"), sl.tensor("6, 4, 1, 1", name="w", dtype="float32")
    parts = sl.reshape(sl.onnx.conv(x, w), (x.shape[0], 2, 3, 1, 1))
    turned = sl.reshape(sl.flip(x, 1), (x.shape[0], 4)), sl.reshape(sl.flip(w, 1), (2, 3, 4, 1, 1))
    product = sl.onnx.einsum(*turned, equation="nc,mkcij->nmkij")
    for sides in ((product, parts), (parts, product)):
        assert sl.prove_equal(*sides).verdict is sl.Verdict.UNKNOWN
        assert sl.prove_equal(*sides, laws=("reassociate",)).verdict is sl.Verdict.PROVED
