"""Shapes that are written into a model are what onnx accepts, and what the next reader reads."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

import symlayout as sl
from symlayout.commands.command_line import main
from symlayout.commands.output.model_table import data, table
from symlayout.models.write_onnx import write_shapes
from tests.support.onnx_writer import model, node, tensor, value_info

X = value_info("x", ("N", "2*h", "W"))
NODES = [node("Transpose", "x", "t", perm=[2, 0, 1]), node("Concat", "t, t", "u", axis=2), node("Shape", "u", "s"),
         node("NonZero", "u", "z"), node("Reshape", "u, minus", "y")]  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "model.onnx"
    proto = onnx.ModelProto.FromString(
        model(NODES, [X], outputs=("y", "s", "z"), constants=(tensor([-1], name="minus"),))
    )
    for value in proto.graph.output[1:]:
        value.type.tensor_type.elem_type = onnx.TensorProto.INT64
    made.write_bytes(proto.SerializeToString())
    return made


def test_onnx_accepts_what_is_written(path: Path) -> None:
    m = sl.read_model(path)
    assert write_shapes(m, path.with_name("out.onnx")) == 5
    made = onnx.load(path.with_name("out.onnx"))
    onnx.checker.check_model(made, full_check=True)
    shapes = {
        value.name: [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in [*made.graph.value_info, *made.graph.output]
    }
    assert shapes["u"] == ["W", "N", "4*h"]
    assert shapes["y"] == ["4*N*W*h"]
    assert shapes["s"] == [3]
    assert shapes["z"][0] == 3
    assert [str(e) for e in sl.read_model(path.with_name("out.onnx")).tensors["u"].shape] == ["W", "N", "4*h"]


def test_the_rest_of_the_file_stays(path: Path) -> None:
    write_shapes(sl.read_model(path), path.with_name("out.onnx"))
    before, after = onnx.load(path), onnx.load(path.with_name("out.onnx"))
    assert before.graph.node == after.graph.node
    assert before.graph.initializer == after.graph.initializer
    assert before.opset_import == after.opset_import


def test_the_command_lists_every_value(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["infer", str(path), "--all", "--write", str(path.with_name("out.onnx"))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:6]] == ["x", "t", "u", "y", "s"]
    assert lines[3].split()[-1] == "Concat"
    assert lines[-1].startswith("wrote     5 shapes to")
    assert path.with_name("out.onnx").exists()
    assert main(["infer", str(path), "--all", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["values"]["u"]["shape"] == ["W", "N", "4*h"]
    assert main(["infer", "N, C", "--all"]) == 1


def test_a_table_has_aligned_columns(path: Path) -> None:
    lines = table(sl.read_model(path), every=True).splitlines()
    assert len({line.index("float32") for line in lines if "float32" in line}) == 1
    assert set(data(sl.read_model(path), every=False)) == {"x", "y", "s", "z"}
