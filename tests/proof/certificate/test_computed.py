"""The certificate of computed values has a claim of movement for each view of each pair, in the order of need."""

from __future__ import annotations

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof.attempts import decide, pairs_known, pairs_of
from symlayout.proof.certificate.check_computed import refusal_alone, refusal_of_computed
from symlayout.proof.certificate.computed import certificate_of_computed

X = sl.tensor("N, C", name="x")
RELU = sl.Body("relu", lambda x: np.maximum(x, 0))
NEGATED = sl.Body("negated", np.negative)


def after_relu(t: sl.Tensor, body: sl.Body = NEGATED) -> sl.Tensor:
    return sl.compute(body, [sl.compute(RELU, [t], batch=2)], batch=2)


LEFT = {"turned": sl.transpose(after_relu(X)), "same": after_relu(X)}
RIGHT = {"turned": after_relu(sl.transpose(X)), "same": after_relu(X)}


@pytest.mark.parametrize("brief", [True, False])
def test_each_view_of_each_pair_has_a_claim_and_outputs_of_one_expression_only_unless_brief(brief: bool) -> None:
    facts = X.facts.fork()
    known = pairs_known(facts, ())
    proofs = [decide(t, RIGHT[name], facts, known) for name, t in LEFT.items()]
    shown = certificate_of_computed(LEFT, RIGHT, facts, pairs_of(proofs, facts), brief=brief)
    assert [pair["function"][0] for pair in shown["pairs"]] == ["relu", "negated", "relu", "negated"]
    assert [pair["order"] for pair in shown["pairs"]] == [[1, 0], [1, 0], [0, 1], [0, 1]]
    assert {name: claim is None for name, claim in shown["outputs"].items()} == {"turned": False, "same": brief}
    assert refusal_of_computed(shown, LEFT, RIGHT, facts) == ""
    assert refusal_alone(shown) == ""
    other = {**RIGHT, "turned": after_relu(sl.transpose(X), RELU)}
    assert refusal_of_computed(shown, LEFT, other, facts) != ""


def test_a_proof_without_a_certificate_says_which_step_has_none() -> None:
    x = sl.tensor("N, C", "float32", name="x")
    padded = sl.pad(x, [(0, 0), (2, 3)], constant_values=-np.inf)
    found = sl.prove_equal(sl.onnx.reduce_max(padded, axes=[1]), sl.onnx.reduce_max(x, axes=[1]))
    assert found.verdict is sl.Verdict.PROVED
    with pytest.raises(sl.InconclusiveError, match="folds have the same terms but for some that change nothing"):
        _ = found.certificate
