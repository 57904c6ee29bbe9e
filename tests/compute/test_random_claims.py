"""Verdicts on random claims through compute: NumPy alone says which sides are equal."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest

import symlayout as sl
from tests.fuzz_compute import __main__ as command
from tests.fuzz_compute.claims import everywhere, mutated, random_claim, random_expression
from tests.fuzz_compute.truth import Node


@pytest.mark.parametrize("seed", [1, 2, 3, 5, 8, 13, 21, 34, 123, 900068])
def test_no_verdict_is_wrong(seed: int) -> None:
    """Seed 123 repeats an operand of extent 1; the maxima of seed 900068 differ for one draw of arrays in eight."""
    outcome, text = command.judged(seed)
    assert not outcome.startswith(("wrong", "refused")), text


@pytest.mark.slow
def test_no_verdict_of_many_is_wrong_and_most_claims_are_decided() -> None:
    found = [command.judged(seed) for seed in range(60)]
    assert not [text for outcome, text in found if outcome.startswith(("wrong", "refused"))]
    assert sum(outcome in ("true: PROVED", "false: REFUTED") for outcome, _ in found) > 54


@pytest.mark.parametrize(("verdict", "wrong"), [("PROVED", "wrong PROVED"), ("REFUTED", "wrong REFUTED")])
def test_the_judge_finds_a_wrong_verdict(monkeypatch: pytest.MonkeyPatch, verdict: str, wrong: str) -> None:
    x = Node("leaf", (), ("x",))
    other = Node("neg", (x,)) if verdict == "PROVED" else x
    monkeypatch.setattr(command, "random_claim", lambda seed: (x, other, False, other is x))
    witness: Any = SimpleNamespace(dims={}, coord=(0, 0, 0, 0), is_special=False)
    answer = SimpleNamespace(verdict=sl.Verdict[verdict], witness=witness)
    monkeypatch.setattr(sl, "prove_equal", lambda *sides, laws: answer)
    assert command.judged(0)[0] == wrong


def test_a_claim_is_the_same_each_time_and_its_parts_vary() -> None:
    assert random_claim(7) == random_claim(7)
    made = [random_expression(random.Random(seed)) for seed in range(200)]
    assert {e.op for e in made} >= {"softmax", "sum", "join", "relu"}
    assert all(mutated(random.Random(1), e) != e for e in made)
    assert sum(1 for e in made if list(everywhere(e))) > 150
