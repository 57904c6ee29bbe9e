"""A small part of ``python -m tests.attack.rules``: no wrong answer about drawn pairs of small expressions."""

from __future__ import annotations

from collections import Counter

import pytest

import symlayout as sl
from tests.attack.rules import judged


def test_no_answer_about_drawn_pairs_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sl.limits, "decision_goals", 300)
    found = [judged(seed, budget=2) for seed in range(2000, 2040)]
    assert [text for _, text in found if text] == []
    counts = Counter(outcome.partition(" ")[0] for outcome, _ in found)
    assert counts["PROVED"] > 3
    assert counts["REFUTED"] > 3
