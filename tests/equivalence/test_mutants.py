"""Models changed in one place: no change is proved to be none, and each is refuted; onnxruntime is the judge."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

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


def test_a_mutant_that_is_refused_at_the_sizes_of_a_witness_differs(tmp_path: Path) -> None:
    image, out = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["N", 1, "H", "W"]) for n in "xy")
    weight = numpy_helper.from_array(np.ones((1, 1, 3, 3), np.float32), "w")
    made = []
    for pads in ([1, 1, 1, 1], [1, 1, 0, 1]):  # at even heights, no window begins where the pad is left out
        conv = helper.make_node("Conv", ["x", "w"], ["y"], pads=pads, strides=[2, 2])
        graph = helper.make_graph([conv], "strided", [image], [out], [weight])
        made.append(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
    subject = models.Subject("strided", made[0], tmp_path)
    subject.feeds = [{"x": np.ones((1, 1, 4, 4), np.float32)}]
    before, after = (subject.run(model, subject.feeds) for model in made)
    assert before is not None
    assert after is not None
    subject.results = before
    assert subject.judged("pads", made[1], after).line == "differs, refuted"
