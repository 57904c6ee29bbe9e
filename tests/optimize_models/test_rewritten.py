"""Each value that is rewritten has its own proof; one that is not proved does not keep the others."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from onnx import numpy_helper

import symlayout as sl
from symlayout.equivalence.verify_models import verify
from symlayout.optimize_models import optimize_model
from symlayout.optimize_models.rewritten import Rewritten
from tests.support.onnx_writer import model, node, tensor, value_info

TO_NHWC, TO_NCHW = [0, 2, 3, 1], [0, 3, 1, 2]


def branches(folder: Path, count: int) -> Path:
    """Write a model in which each of some branches has a pair of transposes."""
    nodes = []
    for k in range(count):
        nodes += [
            node("Elu", "x", f"a{k}", alpha=float(k + 1)),
            node("Transpose", f"a{k}", f"b{k}", perm=TO_NHWC),
            node("Transpose", f"b{k}", f"c{k}", perm=TO_NCHW),
        ]
    nodes.append(node("Sum", ", ".join(f"c{k}" for k in range(count)), "y"))
    path = folder / "m.onnx"
    path.write_bytes(model(nodes, [value_info("x", ("N", 3, "H", "W"))]))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("bad", [(), (2,), (0, 3), tuple(range(4))])
def test_the_rest_of_a_round_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: tuple[int, ...]) -> None:
    """A judge that decides no model in which one of the bad branches is changed, as `verify` may."""
    asked = []

    def judge(before: Any, after: Any, **options: Any) -> Any:
        asked.append(after)
        made = {name for n in after.nodes for name in n.outputs}
        if any(f"b{k}" not in made for k in bad):
            return SimpleNamespace(outputs={"y": sl.Verdict.UNKNOWN}, laws=())
        return verify(before, after, **options)

    monkeypatch.setattr(optimize_model, "verify", judge)
    o = sl.optimize(branches(tmp_path, 4))
    made = {name for n in o.source.graph.node for name in n.output}
    assert [k for k in range(4) if f"b{k}" in made] == list(bad)
    refused = [c for c in o.report.changes if not c.accepted and c.rule == "movement"]
    assert [r.value for c in refused for r in c.rewritten] == [f"c{k}" for k in bad]
    assert all(c.reason == "output y is UNKNOWN" for c in refused)
    assert len(asked) <= 40


def test_each_value_has_its_own_proof(tmp_path: Path) -> None:
    nodes = [
        node("Pad", "x, widths", "p"),
        node("Conv", "p, w", "c"),
        node("Transpose", "c", "b", perm=TO_NHWC),
        node("Softmax", "b", "s", axis=3),
        node("Transpose", "s", "y", perm=TO_NCHW),
    ]
    weights = numpy_helper.from_array(np.ones((3, 3, 1, 1), np.float32), "w")
    widths = tensor([0, 0, 1, 1, 0, 0, 1, 1], name="widths")
    path = tmp_path / "m.onnx"
    path.write_bytes(model(nodes, [value_info("x", ("N", 3, "H", "W"))], constants=[weights, widths]))
    report = sl.optimize(path).report
    rules = {c.rule for c in report.changes if c.accepted}
    assert rules == {"layout", "pads"}
    rewritten = [r for c in report.changes if c.accepted for r in c.rewritten]
    assert all(r.proofs and all(p.verdict is sl.Verdict.PROVED for p in r.proofs) for r in rewritten)
    assert "layout: s: Softmax runs before Transpose [0, 2, 3, 1] (PROVED)" in str(report).splitlines()
    data = report.to_json(certificates=True)
    found = [c for change in data["changes"] for r in change["rewritten"] for c in r["certificates"]]
    assert len(found) == len(rewritten)
    assert all(isinstance(c, dict) for c in found)
    assert Rewritten("y", "text").to_json() == {"value": "y", "text": "text", "proofs": []}
