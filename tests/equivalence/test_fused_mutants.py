"""Chains that are changed in one place are not proved to be what onnxruntime fused of them before."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from tests.equivalence import fused_mutants


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_no_verdict_on_a_changed_chain_is_wrong(seed: int, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime, which fuses and is the judge, is not installed")
    tally: Counter[str] = Counter()
    assert fused_mutants.tried(random.Random(seed), 8, tmp_path, tally) == []
    assert sum(number for text, number in tally.items() if "differs: refuted" in text) > 0
