"""A question with a time limit ends: with UNKNOWN, with the best result that was proved, or with a typed error.

The clock of these tests is a counter, so that they say the same on every machine.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import symlayout as sl
from symlayout import deadlines
from tests.commands.outcome import MODELS
from tests.support.paths import ROOT

SWIN = ROOT / "tests" / "models" / "exported" / "swin_dynamic.onnx"


@pytest.fixture
def ticks(monkeypatch: pytest.MonkeyPatch) -> itertools.count[int]:
    """Return a clock that advances by a second each time that it is read."""
    clock = itertools.count()
    monkeypatch.setattr(deadlines, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    return clock


def round_trip() -> tuple[sl.Tensor, sl.Tensor]:
    x = sl.tensor("N, H, W, C", name="x")
    y = sl.space_to_batch(x, (2, 2), ((1, 1), (1, 1)))
    return sl.batch_to_space(y, (2, 2), ((1, 1), (1, 1))), x


def test_a_proof_out_of_time_is_unknown(ticks: object) -> None:
    left, right = round_trip()
    proof = sl.prove_equal(left, right, time_limit=0.5)
    assert proof.verdict is sl.Verdict.UNKNOWN
    assert "within 0.5 seconds" in proof.conclusion
    assert sl.prove_equal(left, right, time_limit=10_000).verdict is sl.Verdict.PROVED


def test_a_proof_for_all_ranks_out_of_time_is_unknown(ticks: object) -> None:
    x = sl.tensor("N, *S, C", name="x")
    assert sl.prove_equal(sl.flip(sl.flip(x, 1), 1), x, time_limit=0.5).verdict is sl.Verdict.UNKNOWN


def test_a_model_that_is_not_read_in_time_is_a_typed_error(ticks: object) -> None:
    with pytest.raises(sl.TimeLimitError, match=r"'pixel_unshuffle.onnx' is not read within 0.5 seconds"):
        sl.read_model(MODELS / "pixel_unshuffle.onnx", time_limit=0.5)
    with pytest.raises(TimeoutError):
        sl.read_model(MODELS / "space_to_depth.xml", time_limit=0.5)


@pytest.mark.parametrize("seconds", [1, 60, 300])
def test_models_that_are_not_compared_in_time_are_unknown(ticks: object, seconds: int) -> None:
    found = sl.verify(SWIN, SWIN, time_limit=seconds, run=False)
    assert found.verdict is sl.Verdict.UNKNOWN
    assert set(found.outputs.values()) <= {sl.Verdict.UNKNOWN}
    assert found.certificate is None
    assert "the time limit ended the comparison" in str(found)


def test_a_model_that_is_not_optimised_in_time_is_the_best_that_was_proved(
    ticks: Iterator[int], tmp_path: Path
) -> None:
    model = sl.read_model(ROOT / "examples" / "models" / "unet.onnx")
    begin = next(ticks)
    whole = sl.optimize(model, time_limit=10**9)
    taken = next(ticks) - begin
    assert not whole.report.out_of_time
    nodes = [whole.report.nodes[0]]
    for share in (8, 2):
        part = sl.optimize(model, time_limit=taken / share)
        assert part.report.out_of_time
        assert part.report.to_json()["out_of_time"]
        assert "the time limit ended the search" in str(part.report)
        nodes.append(part.report.nodes[1])
    assert [*nodes, whole.report.nodes[1]] == sorted([*nodes, whole.report.nodes[1]], reverse=True)
    part.save(tmp_path / "part.onnx")
    assert sl.verify(model, tmp_path / "part.onnx", run=False).verdict is sl.Verdict.PROVED


def test_an_inner_limit_does_not_extend_an_outer_one() -> None:
    with deadlines.deadline(1), deadlines.deadline(1000):
        assert deadlines.remaining() <= 1
    with deadlines.deadline(1000), deadlines.deadline(1), deadlines.no_deadline():
        deadlines.check_time()
    assert deadlines.remaining() == float("inf")


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), "1", True])
def test_a_limit_is_a_positive_number(seconds: object) -> None:
    with pytest.raises(sl.FormatError, match="is no positive number of seconds"):
        sl.prove_equal(*round_trip(), time_limit=seconds)  # type: ignore[arg-type]


def test_commands_take_a_time_limit(
    ticks: object, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from symlayout.commands.command_line import main

    monkeypatch.chdir(tmp_path)
    shutil.copy(MODELS / "pixel_unshuffle.onnx", "m.onnx")
    assert main(["verify", "m.onnx", "m.onnx", "--time-limit", "0.5"]) == 3
    assert main(["infer", "m.onnx", "--time-limit", "0.5"]) == 4
    assert "TimeLimitError" in capsys.readouterr().err
    assert main(["prove", "N, H, W", "flip(1)", "flip(1)", "--time-limit", "0.5"]) == 3


def test_the_goals_of_a_question_end_its_attempts_and_not_its_search(monkeypatch: pytest.MonkeyPatch) -> None:
    left, right = round_trip()
    before, after, other = (SimpleNamespace(inputs={"x": right}, outputs={"y": y}, tensors={"x": right, "y": y})
                            for y in (left, right, sl.flip(right, 1)))  # fmt: skip
    assert sl.verify(before, after).verdict is sl.Verdict.PROVED
    monkeypatch.setattr(sl.limits, "question_goals", 1)
    monkeypatch.setattr(sl.limits, "value_goals", 0)
    found = sl.verify(before, after)
    assert found.verdict is sl.Verdict.UNKNOWN
    assert "within the goals of one question" in str(found)
    assert found.certificate is None
    assert sl.verify(before, other).verdict is sl.Verdict.REFUTED
    monkeypatch.setattr(sl.limits, "value_goals", 100)
    assert sl.verify(before, after).verdict is sl.Verdict.PROVED
