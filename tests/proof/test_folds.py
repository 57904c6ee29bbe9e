"""Claims about folds of folds, and about folds that are joined: each true claim beside one with one thing wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import symlayout as sl
from symlayout.proof.folds import Merging
from symlayout.proof.verdict import Verdict

o = sl.onnx
LAW = ("reassociate",)
Sizes = dict[str, Any]
Claim = Callable[[Sizes, bool], tuple[Any, Any]]

MODES: dict[str, Sizes] = {
    "symbolic": {k: k for k in "NCDHWKLPM"},
    "static": {"N": 2, "C": 3, "D": 2, "H": 5, "W": 6, "K": 3, "L": 2, "P": 4, "M": 2},
    "mixed": {"N": "N", "C": 3, "D": "D", "H": 5, "W": "W", "K": 3, "L": "L", "P": 4, "M": "M"},
}


def _given(s: Sizes, axes: str, name: str, dtype: str = "float32") -> Any:
    return sl.tensor(", ".join(str(s.get(a, a)) for a in axes.split()), name=name, dtype=dtype)


def _reduce_of_concat(reduce: Any, join: Any, axis: int, dtype: str, turned: bool = False) -> Claim:
    def claim(s: Sizes, false: bool) -> tuple[Any, Any]:
        x = _given(s, "N C H" if axis == 1 else "C N H", "x", dtype)
        y = _given(s, "N D H" if axis == 1 else "D N H", "y", dtype)
        parts = [reduce(t, axes=[axis]) for t in ((y, x) if turned else (x, y))]
        if false:
            parts[1] = parts[0]
        return reduce(o.concat([x, y], axis=axis), axes=[axis]), join(*parts)

    return claim


def _nested(reduce: Any, dtype: str, keepdims: int) -> Claim:
    def claim(s: Sizes, false: bool) -> tuple[Any, Any]:
        x = _given(s, "N C H W", "x", dtype)
        whole = reduce(sl.flip(x, 0) if false else x, axes=[2, 3], keepdims=keepdims)
        return reduce(reduce(x, axes=[3], keepdims=keepdims), axes=[2], keepdims=keepdims), whole

    return claim


def _matmul_of_concat(s: Sizes, false: bool) -> tuple[Any, Any]:
    x, y = _given(s, "M K", "x"), _given(s, "M L", "y")
    w, v = _given(s, "K P", "w"), _given(s, "L P", "v")
    part = o.mat_mul(y, sl.flip(v, 0) if false else v)
    return o.mat_mul(o.concat([x, y], axis=1), o.concat([w, v], axis=0)), o.add(o.mat_mul(x, w), part)


def _conv_of_concat(s: Sizes, false: bool) -> tuple[Any, Any]:
    x, y = _given(s, "N C 7 W", "x"), _given(s, "N D 7 W", "y")
    w, v = _given(s, "M C 3 1", "w"), _given(s, "M D 3 1", "v")
    part = o.conv(sl.flip(y, 2) if false else y, v)
    return o.conv(o.concat([x, y], axis=1), o.concat([w, v], axis=1)), o.add(o.conv(x, w), part)


def _pools(s: Sizes, false: bool) -> tuple[Any, Any]:
    x = _given(s, "N C 9 9", "x")
    inner = o.max_pool(x, kernel_shape=[3, 1], strides=[3, 1])
    whole = o.max_pool(x, kernel_shape=[3, 3], strides=[3, 3])
    outer = o.max_pool(inner, kernel_shape=[1, 2 if false else 3], strides=[1, 3])
    return outer, whole


def _pool_of_one(s: Sizes, false: bool) -> tuple[Any, Any]:
    x = _given(s, "N C H W", "x")
    return o.max_pool(x, kernel_shape=[1, 1]), sl.flip(x, 3) if false else x


CLAIMS: dict[str, Claim] = {
    "the sum over a concatenated axis": _reduce_of_concat(o.reduce_sum, o.add, 1, "float32"),
    "the sum, with the second part first": _reduce_of_concat(o.reduce_sum, o.add, 1, "float32", turned=True),
    "the sum over a concatenated first axis": _reduce_of_concat(o.reduce_sum, o.add, 0, "float64"),
    "the integer sum over a concatenated axis": _reduce_of_concat(o.reduce_sum, o.add, 1, "int32"),
    "the maximum over a concatenated axis": _reduce_of_concat(o.reduce_max, o.max, 1, "float32"),
    "the minimum over a concatenated axis": _reduce_of_concat(o.reduce_min, o.min, 0, "float32"),
    "the product over a concatenated axis": _reduce_of_concat(o.reduce_prod, o.mul, 1, "int64"),
    "a sum of sums": _nested(o.reduce_sum, "float32", 0),
    "a sum of sums with kept axes": _nested(o.reduce_sum, "float32", 1),
    "an integer sum of sums": _nested(o.reduce_sum, "int32", 1),
    "a maximum of maxima": _nested(o.reduce_max, "float32", 0),
    "a minimum of minima": _nested(o.reduce_min, "int8", 1),
    "a matmul of concatenations": _matmul_of_concat,
    "a convolution of concatenations": _conv_of_concat,
    "a pool of pools": _pools,
    "a pool of one element": _pool_of_one,
}
EXACT = [name for name in CLAIMS if any(word in name for word in ("maxim", "minim", "integer", "product", "pool"))]


@pytest.mark.sample(26)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CLAIMS)
def test_a_fold_of_folds_is_proved_and_its_certificate_is_accepted(name: str, mode: str) -> None:
    left, right = CLAIMS[name](MODES[mode], False)
    laws = () if name in EXACT else LAW
    proof = sl.prove_equal(left, right, laws=laws)
    assert proof.verdict is Verdict.PROVED, str(proof)
    assert proof.laws == laws
    certificate = proof.certificate
    assert certificate is not None
    assert certificate.get("laws", []) == list(laws)  # one about movement alone needs no laws
    assert sl.check(certificate)


@pytest.mark.sample(11)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_with_one_thing_wrong_is_refuted(name: str, mode: str) -> None:
    left, right = CLAIMS[name](MODES[mode], True)
    proof = sl.prove_equal(left, right, laws=LAW)
    assert proof.verdict is Verdict.REFUTED, str(proof)
    assert proof.witness is not None


@pytest.mark.parametrize("name", [name for name in CLAIMS if name not in EXACT])
def test_float_sums_are_not_merged_without_the_law(name: str) -> None:
    sides = CLAIMS[name](MODES["symbolic"], False)
    without, granted = Merging(frozenset()), Merging(frozenset(LAW))
    for merging in (without, granted):
        for t in sides:
            merging.of(t)
    assert (without.merged, without.used, without.wanted) == (0, set(), {*LAW})
    assert granted.merged > 0
    assert granted.used == {*LAW}


def test_a_sum_of_squares_of_sums_is_not_merged() -> None:
    x = sl.tensor("N, H, W", name="x", dtype="int32")
    inner = o.reduce_sum(x, axes=[2], keepdims=0)
    left = o.reduce_sum_square(inner, axes=[1], keepdims=0)
    assert sl.prove_equal(left, o.reduce_sum_square(x, axes=[1, 2], keepdims=0)).verdict is Verdict.REFUTED
    assert sl.prove_equal(left, o.reduce_sum(x, axes=[1, 2], keepdims=0)).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    "move",
    [lambda t: sl.flip(t, 2), lambda t: sl.roll(t, 1, 2), lambda t: sl.transpose(t, (0, 2, 1, *range(3, t.rank)))],
)
def test_a_fold_of_a_moved_fold_is_one_fold(move: Callable[[Any], Any]) -> None:
    x = sl.tensor("N, C, H, W", name="x", dtype="float32")
    left = o.reduce_max(move(o.reduce_max(x, axes=[3], keepdims=0)), axes=[2], keepdims=0)
    proof = sl.prove_equal(left, o.reduce_max(move(x), axes=[2, 3], keepdims=0))
    assert proof.verdict is Verdict.PROVED
    assert sl.prove_equal(left, o.reduce_min(move(x), axes=[2, 3], keepdims=0)).verdict is Verdict.REFUTED
