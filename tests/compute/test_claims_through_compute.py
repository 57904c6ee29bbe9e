"""True claims through operations that compute are proved for all sizes; false ones are refuted, and NumPy agrees."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof.certificate.check_computed import refusal_of_computed
from symlayout.tensors.apply_operation import operand_of
from tests.compute.claims import CLAIMS, Claim, Sides
from tests.compute.values import differ, drawn, evaluated

FALSE = [(f"{claim.name}, wrong {k}", false) for claim in CLAIMS for k, false in enumerate(claim.false)]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_true_claim_is_proved_and_holds_in_numpy(claim: Claim) -> None:
    left, right = claim.true()
    laws = (claim.law,) if claim.law else ()
    proof = sl.prove_equal(left, right, laws=laws)
    assert proof.verdict is sl.Verdict.PROVED, proof.explain()
    assert set(proof.laws) <= set(laws)
    dims = {s: 3 - k % 2 for k, s in enumerate(sorted({*left.facts.dims, *right.facts.dims}))}
    arrays = drawn((left, right), dims, np.random.default_rng(1))
    for name, array in arrays.items():
        arrays[name] = array % 2 if array.dtype.kind == "i" else array  # an index of an axis of two elements
    np.testing.assert_allclose(evaluated(left, dims, arrays), evaluated(right, dims, arrays), rtol=1e-4, atol=1e-5)


@pytest.mark.sample(10)
@pytest.mark.parametrize(("name", "sides"), FALSE, ids=[name for name, _ in FALSE])
def test_a_false_claim_is_refuted_with_a_witness_that_numpy_confirms(name: str, sides: Callable[[], Sides]) -> None:
    left, right = sides()
    proof = sl.prove_equal(left, right, laws=("reassociate",))
    assert proof.verdict is sl.Verdict.REFUTED, proof.explain()
    assert proof.witness is not None
    assert differ((left, right), proof.witness.dims, proof.witness.coord)


@pytest.mark.parametrize(
    "name", ["sum over reshaped axes", "maximum over reshaped axes", "product blocked by a reshape"]
)
@pytest.mark.parametrize("turned", [False, True])
def test_boxes_that_are_joined_on_either_side_have_a_certificate(name: str, turned: bool) -> None:
    (claim,) = (c for c in CLAIMS if c.name == name)
    left, right = claim.true()[::-1] if turned else claim.true()
    certificate = sl.prove_equal(left, right).certificate
    assert certificate is not None
    sides = {"": left}, {"": right}
    facts = operand_of("joint", (left, right)).facts
    assert refusal_of_computed(certificate, *sides, facts) == ""
    wrong = claim.false[0]()[1]
    if [str(n) for n in wrong.shape] == [str(n) for n in right.shape]:
        assert refusal_of_computed(certificate, {"": left}, {"": wrong}, operand_of("joint", (left, wrong)).facts)
