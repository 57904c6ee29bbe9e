"""Both doors try the same forms of a claim: one strategy decides what `prove_equal` and `verify` are asked."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof import rewritings
from symlayout.proof.rewritings import MERGED, OUTERMOST, TURNED, rewritten
from symlayout.tensors.chain import Tensor

o = sl.onnx
PROVED, UNKNOWN = sl.Verdict.PROVED, sl.Verdict.UNKNOWN
SUMS, MEANS = ("reassociate",), ("reassociate", "real")
X = sl.tensor("N, C, H, W", "float32", "x")


def of(inputs: Tensor, **outputs: Tensor) -> Any:
    return SimpleNamespace(inputs={"x": inputs}, outputs=outputs, tensors={"x": inputs, **outputs})


def nested(reduce: Any, dtype: str = "float32") -> tuple[Tensor, Tensor, Tensor]:
    """Return an input, its fold along axis 3 and then axis 2, and its fold along both."""
    x = sl.tensor("N, C, H, W", dtype, "x")
    return x, reduce(reduce(x, axes=[3], keepdims=0), axes=[2], keepdims=0), reduce(x, axes=[2, 3], keepdims=0)


@pytest.mark.parametrize(
    ("reduce", "dtype", "laws"),
    [
        (o.reduce_max, "float32", ()),
        (o.reduce_min, "float32", ()),
        (o.reduce_sum, "int32", ()),
        (o.reduce_sum, "float32", SUMS),
        (o.reduce_mean, "float32", MEANS),
    ],
)
def test_a_fold_of_folds_is_proved_by_both_doors_and_both_certificates_are_accepted(
    reduce: Any, dtype: str, laws: tuple[str, ...]
) -> None:
    x, left, right = nested(reduce, dtype)
    proof = sl.prove_equal(left, right, laws=laws)
    found = sl.verify(of(x, y=left), of(x, y=right), laws=laws)
    assert (proof.verdict, found.verdict) == (PROVED, PROVED)
    assert set(proof.laws) == set(found.laws) == set(laws)
    assert proof.point == found.point
    assert proof.point
    assert sl.check(json.loads(json.dumps(proof.certificate)), before=left, after=right)
    shown = json.loads(json.dumps(found.certificate))
    assert sl.check(shown, before=of(x, y=left), after=of(x, y=right))
    assert not sl.check(shown, before=of(x, y=left), after=of(x, y=o.neg(right)))


def test_a_mean_of_means_divides_terms_of_a_sum_which_reassociate_alone_does_not_allow() -> None:
    x, left, right = nested(o.reduce_mean)
    proof = sl.prove_equal(left, right, laws=SUMS)
    found = sl.verify(of(x, y=left), of(x, y=right), laws=SUMS, run=False)
    assert (proof.verdict, found.verdict) == (UNKNOWN, UNKNOWN)
    for obligation in (proof.obligation, found.proofs["y"].obligation):
        assert obligation.startswith("the law real, reassociate holds")


def test_outputs_that_need_other_forms_have_one_certificate() -> None:
    _, maxima, maximum = nested(o.reduce_max)
    before = of(X, first=maxima, second=o.relu(sl.flip(X, 1)))
    after = of(X, first=maximum, second=sl.flip(o.relu(X), 1))
    found = sl.verify(before, after)
    assert found.verdict is PROVED
    assert found.proofs["first"].form == {MERGED}
    assert found.proofs["second"].form == set()
    assert sl.check(json.loads(json.dumps(found.certificate)), before=before, after=after)


def test_a_law_is_not_named_where_folds_merge_without_it() -> None:
    """Both sides have the same sum of sums, which a granted law would merge, too."""
    x, sums, _ = nested(o.reduce_sum)
    _, maxima, maximum = nested(o.reduce_max)
    left, right = o.add(sums, maxima), o.add(sums, maximum)
    assert sl.prove_equal(left, right, laws=SUMS).laws == ()
    assert sl.verify(of(x, y=left), of(x, y=right), laws=SUMS).laws == ()


def steps(count: int) -> tuple[Tensor, Tensor]:
    """Return so many steps of an addition and Relu, whose addition is channels last on the left."""
    left = right = X
    for k in range(count):
        last = o.add(sl.transpose(left, (0, 2, 3, 1)), np.float32(k + 1.5))
        left, right = o.relu(sl.transpose(last, (0, 3, 1, 2))), o.relu(o.add(right, np.float32(k + 1.5)))
    return left, right


@pytest.mark.parametrize("count", [10, 20, 60])
def test_what_the_first_attempt_proves_is_not_rewritten(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def counted(*args: Any, **options: Any) -> Any:
        asked.append(args[2])
        return rewritten(*args, **options)

    monkeypatch.setattr(rewritings, "rewritten", counted)
    left, right = steps(count)
    assert sl.prove_equal(left, right).verdict is PROVED
    assert sl.verify(of(X, y=left), of(X, y=right)).verdict is PROVED
    assert asked == []


def test_a_form_says_whether_it_makes_a_difference() -> None:
    _, maxima, maximum = nested(o.reduce_max)
    sides = {"": maxima}, {"": maximum}
    assert {form: rewritten(*sides, {form}, ()).changed for form in (MERGED, TURNED, OUTERMOST)} == {
        MERGED: True,
        TURNED: False,
        OUTERMOST: False,
    }
    moved = {"": sl.flip(o.relu(X), 0)}
    assert rewritten(moved, moved, {OUTERMOST}, ()).left[""].name == "Relu"
