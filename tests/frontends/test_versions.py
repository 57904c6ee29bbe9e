"""Operators in each version beside the runtimes, and nodes that are odd in one place: a sample of two long runs."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnx", reason="its tests, its schemas and its reference evaluator are used")

from tests.attack import one_node_models, operators
from tests.attack.one_nodes import OneNode, versions
from tests.attack.tally import Tally
from tests.onnx_nodes import operators_page

COMPARED = range(1, 570, 19)
ODD = range(5, 570, 13)


def test_each_version_of_an_operator_is_compared() -> None:
    """Where the package has 28 versions of the standard, these are 570 pairs."""
    every = versions()
    assert len(every) >= 500
    assert {("Resize", "", 10, 10), ("DFT", "", 17, 19), ("Softmax", "", 11, 12)} <= set(every)


@pytest.mark.slow
def test_drawn_nodes_of_all_versions_have_the_values_of_a_runtime() -> None:
    tally = Tally()
    for number in COMPARED:
        operators.attack(number, tally)
    assert not tally.wrong, tally.wrong[0].text
    assert tally.totals()["not run"] < len(COMPARED) // 2


@pytest.mark.slow
def test_nodes_that_are_odd_in_one_place_are_read_or_refused_by_an_error_of_ours() -> None:
    tally = Tally()
    for number in ODD:
        one_node_models.attack(number, tally)
    assert not tally.wrong, tally.wrong[0].text
    assert tally.totals()["answer"] > len(ODD) // 5


def test_a_wrong_reading_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    one = OneNode("Relu", "", 14, [np.array([-1, 2], np.float32)], {})
    assert operators.compare(one)[1] == ""
    monkeypatch.setattr(operators, "ours", lambda *_: [np.array([0, -2], np.float32)])
    outcome, text = operators.compare(one)
    assert outcome == "wrong"
    assert "beside" in text


def test_the_page_counts_by_operator() -> None:
    counts = {
        "Relu-14": {"onnxruntime and reference": 3, "not run": 1},
        "Relu-13": {"reference": 2},
        "Tanh-6": {"not run": 1},
        "crash": {"wrong": 1},
    }
    text = operators_page.page(counts)
    assert "2 pairs of an operator and a version were compared, in 5 cases." in text
    assert "| Relu | 13, 14 | 3 | 0 | 2 | 0 | 0 | 0 |" in text
    assert "Tanh" not in text
