"""A witness says what the installed runtimes compute there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import symlayout as sl
from symlayout.equivalence.replay import Replay
from symlayout.equivalence.shared_ends import SharedEnds
from tests.support.onnx_writer import model, node, value_info


@pytest.fixture(autouse=True)
def _one_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symlayout.equivalence.replay.installed_runtimes", lambda: ("onnx",))


def written(folder: Path, name: str, op: str) -> Path:
    """Write a model whose input has a name that is no identifier."""
    (folder / name).write_bytes(model([node(op, "file", "y")], [value_info("file", ("N",))]))
    return folder / name


def test_a_witness_is_printed_by_each_runtime(tmp_path: Path) -> None:
    before, after = written(tmp_path, "a.onnx", "Identity"), written(tmp_path, "b.onnx", "Neg")
    found = sl.verify(before, after)
    assert found.witness is not None
    (x,) = found.witness.inputs.values()
    assert found.witness.coord is not None
    element = x[found.witness.coord]
    assert found.printed == {"onnx": (str(element), str(-element))}
    assert sl.verify(before, before).printed == {}


def test_a_model_that_a_runtime_refuses_is_said_so(tmp_path: Path) -> None:
    models = tuple(sl.read_model(written(tmp_path, f"{op}.onnx", op)) for op in ("Identity", "Foo"))
    assert len(models) == 2
    replay = Replay((models[0], models[1]), SharedEnds((("file", "file"),), (("y", "y"),), {}))
    x = sl.interpret(models[0].outputs["y"], np.ones(3, np.float32))
    printed = replay.printed(({"file": x}, {"file": x}), "y", None)
    assert printed["onnx"][0] == "float32 of shape (3,)"
    assert printed["onnx"][1].startswith("refused (")
