"""Shapes that are written into a model are what onnx accepts, and what the next reader reads."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, checker, helper

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
    assert main(["infer", "N, C", "--all"]) == 4


def test_a_table_has_aligned_columns(path: Path) -> None:
    lines = table(sl.read_model(path), every=True).splitlines()
    assert len({line.index("float32") for line in lines if "float32" in line}) == 1
    assert set(data(sl.read_model(path), every=False)) == {"x", "y", "s", "z"}


def with_external_data(folder: Path) -> Path:
    """Write a model with constants in other files: of its graph, and of a branch."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = np.arange(12, dtype=np.float32).reshape(4, 3)
    (folder / "data").mkdir()
    (folder / "data" / "w.bin").write_bytes(b"skip" + weights.tobytes())
    (folder / "b.bin").write_bytes(np.array([5, 6, 7], np.float32).tobytes())

    def kept(name: str, shape: list[int], **entries: str) -> TensorProto:
        made = TensorProto(name=name, data_type=1, dims=shape, data_location=TensorProto.EXTERNAL)
        for key, value in entries.items():
            made.external_data.add(key=key, value=value)
        return made

    w = kept("w", [4, 3], location="data/w.bin", offset="4", length="48")
    b = kept("b", [3], location="b.bin")
    inner = [helper.make_graph([node("Add", "m, b", "z")], "g", [], [value_info("z", None)], [b]) for _ in range(2)]
    nodes = [node("Transpose", "x", "t"), node("Transpose", "t", "u"), node("MatMul", "u, w", "m"),
             node("If", "c", "y", then_branch=inner[0], else_branch=inner[1])]  # fmt: skip
    c = value_info("c", (), TensorProto.BOOL)
    (folder / "m.onnx").write_bytes(model(nodes, [value_info("x", ("N", 4)), c], constants=[w]))
    return folder / "m.onnx"


@pytest.mark.parametrize("target", ["o.onnx", "sub/o.onnx", "../o.onnx", "../other/o.onnx"])
@pytest.mark.parametrize("data", ["copy", "refer"])
def test_a_model_in_another_folder_finds_its_constants(tmp_path: Path, target: str, data: str) -> None:
    path = with_external_data(tmp_path / "a" / "b")
    before = {file: file.read_bytes() for file in path.parent.rglob("*") if file.is_file()}
    out = (path.parent / target).resolve()
    out.parent.mkdir(parents=True, exist_ok=True)
    if data == "refer" and target in ("sub/o.onnx", "../other/o.onnx"):
        with pytest.raises(sl.FormatError, match="outside the folder of the new model\n  help: copy them"):
            sl.optimize(path).save(out, data)
        assert not out.exists()
        return
    sl.optimize(path).save(out, data)
    assert sl.verify(path, out, run=False).verdict is sl.Verdict.PROVED
    assert [n.op_type for n in sl.read_model(out).nodes] == ["MatMul", "If"]
    assert before == {file: file.read_bytes() for file in before}
    copied = out.with_name("o.onnx.data")
    assert copied.exists() == (data == "copy" and target != "o.onnx")
    write_shapes(sl.read_model(path), out, data)
    assert sl.verify(path, out, run=False).verdict is sl.Verdict.PROVED
    checker.check_model(str(out))  # which looks at the places of constants


def test_data_of_the_model_that_is_read_are_not_written_over(tmp_path: Path) -> None:
    path = with_external_data(tmp_path)
    made = ModelProto.FromString(path.read_bytes())
    (tmp_path / "data" / "o.onnx.data").write_bytes((tmp_path / "data" / "w.bin").read_bytes())
    made.graph.initializer[0].external_data[0].value = "data/o.onnx.data"
    path.write_bytes(made.SerializeToString())
    with pytest.raises(sl.FormatError, match="has the constants of the model that is read, and stays"):
        sl.optimize(path).save(tmp_path / "data" / "o.onnx")
    with pytest.raises(sl.ShapeError, match="data is 'move', not one of copy, refer"):
        sl.optimize(path).save(tmp_path / "data" / "o.onnx", "move")


def test_damaged_places_of_constants_are_typed_errors(tmp_path: Path) -> None:
    damage = [("length", "99"), ("offset", "99"), ("location", "../w"), ("location", "n")]
    for number, (key, value) in enumerate(damage):
        path = with_external_data(tmp_path / str(number))
        made = ModelProto.FromString(path.read_bytes())
        spare = made.graph.initializer.add()  # which no node reads
        spare.CopyFrom(made.graph.initializer[0])
        spare.name = "spare"
        next(e for e in spare.external_data if e.key == key).value = value
        path.write_bytes(made.SerializeToString())
        (path.parent / "sub").mkdir()
        with pytest.raises(sl.SymlayoutError):
            write_shapes(sl.read_model(path), path.parent / "sub" / "o.onnx")
        assert list((path.parent / "sub").iterdir()) == []
