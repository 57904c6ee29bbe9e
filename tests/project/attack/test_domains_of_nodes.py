"""The sizes for which nodes are valid are those that onnxruntime runs: a part of tests.attack.domains."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.attack import domains
from tests.attack.bases import symbolic
from tests.attack.domains import SizedNode, drawn_sized, findings
from tests.attack.domains.exceptions import EXCEPTIONS, exceptions
from tests.attack.one_nodes import OneNode, arrays_of, model_of
from tests.attack.runtimes import has_onnxruntime
from tests.attack.tally import Tally

CASES = {  # the numbers of cases of operators
    "ArgMax,ArgMin,Gather,GatherElements": range(40, 44),
    "MaxPool,AveragePool,LpPool,GlobalMaxPool": range(40, 44),
    "LayerNormalization,RMSNormalization,BatchNormalization": range(40, 43),
    "Conv,ConvTranspose,QuantizeLinear,DequantizeLinear": range(40, 44),
    "Pad,Resize,TopK": range(40, 44),
    "Attention,LinearAttention,RotaryEmbedding,TensorScatter": range(40, 46),
    "RNN,GRU,LSTM": range(40, 45),
    "ScatterElements,ScatterND,ReverseSequence,Compress": range(40, 44),
    "DFT,STFT,GridSample,RoiAlign,OneHot": range(40, 45),
    "NegativeLogLikelihoodLoss,SoftmaxCrossEntropyLoss,NonMaxSuppression": range(40, 44),
}

pytestmark = pytest.mark.skipif(not has_onnxruntime(), reason="onnxruntime is not installed, which judges the sizes")


def sized(op: str, opset: int, *inputs: np.ndarray, **attributes: object) -> SizedNode:
    """Return a node with a dim for each extent, or for several."""
    one = OneNode(op, "", opset, list(inputs), attributes)
    base = symbolic(op, model_of(one), arrays_of(one), random.Random(7))
    return SizedNode(op, one, base.proto, base.data, base.sizes)


@pytest.mark.parametrize("operators", CASES)
def test_a_node_is_valid_where_onnxruntime_runs_it(operators: str) -> None:
    tally = Tally()
    for number in CASES[operators]:
        domains.attack_of(tuple(operators.split(",")), number, tally)
    assert not tally.wrong, tally.wrong[0].text
    assert tally.totals()["both run"]


def test_a_demand_that_is_not_stated_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    case = sized("MatMul", 13, np.ones((3, 4), np.float32), np.ones((4, 5), np.float32))
    assert not {"wrong"} & {outcome for outcome, _, _ in findings(case, random.Random(0))}
    monkeypatch.setattr(domains.Reading, "refusal", lambda *_: ("", False))
    monkeypatch.setattr(domains.Reading, "other_shape", lambda *_: "")
    assert "wide" in {kind for outcome, kind, _ in findings(case, random.Random(0)) if outcome == "wrong"}


def test_a_demand_too_many_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    case = sized("Relu", 14, np.ones((3, 4), np.float32))
    monkeypatch.setattr(domains.Reading, "refusal", lambda *_: ("infeasible: N - 9 >= 0", False))
    assert {kind for _, kind, _ in findings(case, random.Random(0))} == {"narrow"}


def test_each_operator_of_a_case_is_drawn() -> None:
    drawn = [drawn_sized(seed, ("Pad", "TopK")) for seed in range(20)]
    assert {case.one.op for case in drawn if case is not None} == {"Pad", "TopK"}


def test_an_exception_is_about_one_kind_of_finding() -> None:
    one = OneNode("LRN", "", 13, [], {})
    assert exceptions(one, "wide", "size_ % 2 == 1 was false") in EXCEPTIONS
    assert exceptions(one, "narrow", "size_ % 2 == 1 was false") == ""
