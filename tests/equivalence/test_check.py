"""Certificates of models: they are checked against the models, and what is altered is refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.equivalence.check import check
from symlayout.equivalence.verify_models import check_models
from symlayout.proof.certificate.check_computed import refusal_alone
from symlayout.proof.certificate.checker.schema import sealed
from tests.equivalence.test_verify_models import model, network
from tests.proof.test_congruence import conv, conv_nhwc, relu


def certificate_of(before: Any, after: Any, laws: tuple[str, ...] = ()) -> Any:
    found = sl.verify(before, after, laws=laws)
    assert found.verdict is sl.Verdict.PROVED
    return json.loads(json.dumps(found.certificate))


@pytest.fixture(scope="module")
def shown() -> Any:
    return certificate_of(network(2), network(2, nhwc=True))


def test_a_certificate_is_about_the_models_that_it_was_made_of(shown: Any) -> None:
    assert check(shown)
    assert check(shown, before=network(2), after=network(2, nhwc=True))
    assert not check(shown, before=network(2), after=network(2, nhwc=True, wrong=1))
    assert not check(shown, before=network(2, changed=1), after=network(2, nhwc=True))
    assert not check(shown, before=network(3), after=network(3, nhwc=True))
    assert not check(shown, before=network(2, nhwc=True), after=network(2))


def test_models_that_differ_have_none() -> None:
    assert sl.verify(network(2), network(2, nhwc=True, wrong=1)).certificate is None


def _alter(certificate: Any, change: Any) -> Any:
    altered = copy.deepcopy(certificate)
    change(altered)
    return sealed(altered)


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["pairs"].pop(),
        lambda c: c["pairs"].pop(0),
        lambda c: c["pairs"][0].update(before=c["pairs"][0]["after"], after=c["pairs"][0]["before"]),
        lambda c: c["pairs"][0].update(function=c["pairs"][1]["function"]),
        lambda c: c["pairs"][0].update(views=c["pairs"][1]["views"]),
        lambda c: c["pairs"].reverse(),
        lambda c: c["pairs"][0].update(before=c["pairs"][1]["before"]),
        lambda c: c["pairs"][0].update(order=[0, 0, 1, 2]),
        lambda c: c["pairs"][0].update(order=[0, 1, 3, 2]),
        lambda c: c["pairs"][0].update(swapped=True),
        lambda c: c["pairs"][0].update(box=[[1, 0, 2], [[0, 1], [1, 2], [2, 3]]]),
        lambda c: c["pairs"][0].update(box=[["x"], None, False, []]),
        lambda c: c["pairs"][1].update(box=[[], None, 0, []]),
        lambda c: c["pairs"][0].update(laws=["reassociate"]),
        lambda c: c["pairs"].append(copy.deepcopy(c["pairs"][-1])),
        lambda c: c["pairs"][0]["views"].pop(),
        lambda c: c["pairs"][0]["views"].reverse(),
        lambda c: c["outputs"].clear(),
        lambda c: c["laws"].append("reassociate"),
        lambda c: c.update(pairs=None),
        lambda c: c["pairs"][0].update(before="0"),
    ],
)
def test_what_is_altered_and_sealed_again_is_refused(shown: Any, change: Any) -> None:
    altered = _alter(shown, change)
    assert check_models(altered, network(2), network(2, nhwc=True)) != ""


def test_equal_expressions_need_no_proof_and_others_do() -> None:
    same = certificate_of(network(2), network(2))
    assert [view for pair in same["pairs"] for view in pair["views"]] == [None] * sum(
        len(pair["views"]) for pair in same["pairs"]
    )
    assert check_models(same, network(2), network(2)) == ""
    for other in (network(2, nhwc=True, wrong=1), network(2, changed=1), network(2, nhwc=True)):
        assert check_models(same, network(2), other) != ""


def test_a_proof_that_is_left_out_is_missed(shown: Any) -> None:
    places = [
        (k, j) for k, pair in enumerate(shown["pairs"]) for j, view in enumerate(pair["views"]) if view is not None
    ]
    assert places
    for k, j in places:
        altered = _alter(shown, lambda c, k=k, j=j: c["pairs"][k]["views"].__setitem__(j, None))
        assert "no proof" in check_models(altered, network(2), network(2, nhwc=True))


def test_constants_with_the_same_bits_and_another_element_type_are_others() -> None:
    bits = np.array([1, 2, 3], np.int64)
    x = sl.tensor("3", "float32", "x")

    def made(values: Any) -> Any:
        return model(y=sl.onnx.add(x, sl.onnx.cast(sl.constant(values), to=1)))

    shown = certificate_of(made(bits), made(bits))
    assert check_models(shown, made(bits), made(bits)) == ""
    assert "element types" in check_models(shown, made(bits), made(bits.view(np.float64)))


def test_the_seal_shows_accidents(shown: Any) -> None:
    altered = copy.deepcopy(shown)
    altered["laws"] = ["reassociate"]
    assert "seal" in refusal_alone(altered)
    assert "seal" in check_models(altered, network(2), network(2, nhwc=True))
    others: tuple[Any, ...] = ({}, {"pairs": []}, None, 3, {"pairs": [], "outputs": {}, "laws": [], "seal": ""})
    for nothing in others:
        assert not check(nothing)
        assert not check(nothing, before=network(1), after=network(1))


def test_the_law_that_a_sum_needs_is_in_the_certificate() -> None:
    x, w = sl.tensor("N, H, W, C", "float32", "x"), sl.tensor("M, C, K, L", "float32", "w")
    before = model(y=conv_nhwc(x, w))
    after = model(y=sl.transpose(conv(sl.transpose(x, (0, 3, 1, 2)), w), (0, 2, 3, 1)))
    shown = certificate_of(before, after, ("reassociate",))
    assert shown["laws"] == ["reassociate"]
    assert check(shown, before=before, after=after)
    assert "no law allows it" in check_models(_alter(shown, lambda c: c.update(laws=[])), before, after)


def test_a_proof_of_computed_chains_has_a_certificate() -> None:
    x = sl.tensor("N, C", name="x")
    shown = sl.prove_equal(relu(sl.transpose(x)), sl.transpose(relu(x))).certificate
    assert shown is not None
    assert check(shown)
    assert not check(_alter(shown, lambda c: c["outputs"][""]["claim"].update(left=0)))


def test_a_proof_that_compares_a_value_and_a_fill_has_none() -> None:
    x = sl.tensor("N, C", name="x")
    proof = sl.prove_equal(relu(sl.pad(x, 1)), sl.pad(relu(x), 1))
    assert proof.verdict is sl.Verdict.PROVED
    with pytest.raises(sl.InconclusiveError, match="some coordinates only"):
        _ = proof.certificate
