"""Models changed in one place: no change is proved to be none, and each is refuted; onnxruntime is the judge."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("onnxruntime", reason="onnxruntime, the judge, is not installed")

from tests.mutation import models


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_no_verdict_on_a_mutant_is_wrong(
    seed: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["models", "--count", "60", "--seed", str(seed)])
    assert models.main() == 0
    printed = capsys.readouterr().out
    assert "differs, refuted" in printed
    assert "differs, proved" not in printed
