"""The report names each rewrite, and of rules that rewrite in many places the first few."""

from __future__ import annotations

import pytest

import symlayout as sl
from symlayout.optimize_models.movement_cost import Cost
from symlayout.optimize_models.optimize_report import Change, OptimizeReport
from symlayout.optimize_models.rewritten import Rewritten


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
