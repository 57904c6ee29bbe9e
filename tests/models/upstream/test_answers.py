"""The shape tests of the package onnx, with data propagation, and of onnx-shape-inference, beside our answers.

Recorded with onnx 1.23.2 and its tests of 2026-08-22, and onnx-shape-inference 0.4.0.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.upstream.answers import ANSWERS, answer_to, facts


@pytest.mark.sample(150)
@pytest.mark.parametrize("number", range(len(facts())))
def test_our_answer_is_as_it_was_or_better(number: int, tmp_path: Path) -> None:
    fact = facts()[number]
    found = answer_to(fact.model, fact.values, tmp_path / "model.onnx")
    assert ANSWERS.index(found) >= ANSWERS.index(fact.answer), fact.test


def test_each_answer_that_is_worse_than_theirs_has_a_reason() -> None:
    worse = [f for f in facts() if ANSWERS.index(f.answer) < ANSWERS.index("equal")]
    assert [f.test for f in worse if not f.reason] == []
    assert len(worse) * 3 < len(facts())
    assert len({f.test for f in facts() if f.test.startswith("onnx:")}) > 700
    assert len({f.test for f in facts() if f.test.startswith("onnx-shape-inference:")}) > 700
