"""The report names each rewrite, and of rules that rewrite in many places the first few."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.optimize_models.movement_cost import Cost
from symlayout.optimize_models.optimize_report import Change, OptimizeReport
from symlayout.optimize_models.report_in_words import what_stayed
from symlayout.optimize_models.rewritten import Rewritten
from tests.optimize_models.run_both import constants, optimized_and_run
from tests.support.onnx_writer import node


def report(rule: str, count: int, *, accepted: bool = True, reason: str = "") -> OptimizeReport:
    rewritten = tuple(Rewritten(f"v{k}", f"v{k} is gone", ()) for k in range(count))
    change = Change(rule, rewritten, accepted, reason)
    return OptimizeReport((change,), Cost(nodes=9), Cost(nodes=1), (9, 1), {"y": sl.Verdict.PROVED})


@pytest.mark.parametrize(("rule", "named"), [("movement", 9), ("nodes", 6)])
def test_a_rule_with_many_places_names_the_first(rule: str, named: int) -> None:
    made = report(rule, 9)
    assert str(made).count(" is gone") == named
    assert made.to_json()["changes"][0]["details"] == [f"v{k} is gone" for k in range(9)]


def test_a_rewrite_that_is_not_done_says_so() -> None:
    made = report("layout", 1, accepted=False, reason="no proof")
    assert "not done: layout: v0 is gone" in str(made)
    assert made.to_json()["changes"][0]["reason"] == "no proof"


def test_the_report_says_what_went_and_what_stayed_and_why(tmp_path: Path) -> None:
    nodes = [
        node("Transpose", "x", "a", perm=[1, 0]),
        node("Transpose", "a", "b", perm=[1, 0]),
        node("Relu", "b", "c"),
        node("Transpose", "v", "w", perm=[1, 0]),
        node("MatMul", "c, w", "y"),
    ]
    given = constants(v=np.random.default_rng(0).normal(size=(256, 256)))
    o = optimized_and_run(tmp_path, nodes, {"x": ("N", 256)}, given, runs=3)
    data = o.report.to_json()
    (stays,) = data["stayed"]
    assert (stays["op"], stays["value"], stays["bytes"]) == ("Transpose", "w", "262144")
    assert stays["why"].endswith("(law reassociate)")
    assert data["regions"][0]["went"] == "Transpose x 2, Relu became Relu"
    assert data["regions"][0]["why"] == [{"rule": "movement", "values": ["b"], "proved": 1}]
    text = o.report.in_words()
    assert "1. Transpose x 2, Relu became Relu." in text
    assert "What still moves:\n- Transpose " in text


def test_a_result_without_movement_says_so(tmp_path: Path) -> None:
    nodes = [node("Transpose", "x", "a", perm=[1, 0]), node("Relu", "a", "b"), node("Transpose", "b", "y", perm=[1, 0])]
    o = optimized_and_run(tmp_path, nodes, {"x": ("N", 4)}, runs=3)
    assert o.report.stayed == ()
    assert o.report.in_words().endswith("Nothing moves any more.")


@pytest.mark.parametrize(
    ("refused", "held", "why"),
    [
        ([(Rewritten("t", "t", ()), "layout", "no proof")], [], "layout was not done: no proof"),
        ([], ["ReduceSum s"], "ReduceSum s beside it adds up terms in this order (law reassociate)"),
        ([], [], "it reads an input, whose layout is given"),
    ],
)
def test_why_a_node_moves(tmp_path: Path, refused: list[Any], held: list[str], why: str) -> None:
    nodes = [node("Transpose", "x", "t", perm=[1, 0]), node("ReduceSum", "t", "s", name="s"), node("Exp", "s", "y")]
    optimized_and_run(tmp_path, nodes, {"x": ("N", 4)}, runs=3)
    model = sl.read_model(tmp_path / "before.onnx")
    assert [each.why for each in what_stayed(model, refused, held)] == [why]
