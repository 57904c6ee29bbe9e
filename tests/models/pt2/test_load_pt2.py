"""Models of torch.export: values are those of PyTorch, equal files of ONNX are proved equal, others refuted."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.models.formats.load_pt2 import read_pt2
from symlayout.models.known_dims import KnownDims

FOLDER = Path(__file__).parent.parent / "exported"
FILES = sorted(p.stem.removeprefix("torch_") for p in FOLDER.glob("torch_*.pt2"))
ALL = ("reassociate", "signed-zero")


def rewritten(source: Path, made: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Write an archive with another graph."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename.endswith("models/model.json"):
                program = json.loads(data)
                change(program)
                data = json.dumps(program).encode()
            new.writestr(entry.filename, data)
    return made


def nodes(program: dict[str, Any], target: str) -> list[dict[str, Any]]:
    found = [n for n in program["graph_module"]["graph"]["nodes"] if n["target"] == f"torch.ops.aten.{target}"]
    assert found
    return found


def argument(node: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(a["arg"] for a in node["inputs"] if a["name"] == name)
    return found


@pytest.mark.parametrize("name", FILES)
def test_shapes_and_values_are_those_of_torch(name: str) -> None:
    model = sl.read_model(FOLDER / f"torch_{name}.pt2")
    arrays = np.load(FOLDER / f"torch_{name}.npz")
    given = {k[3:]: arrays[k] for k in arrays.files if k.startswith("in.")}
    assert list(given) == list(model.inputs)
    dims = {str(e): n for t, x in zip(model.inputs.values(), given.values(), strict=True)
            for e, n in zip(t.shape, x.shape, strict=True)}  # fmt: skip
    assert len(model.outputs) == sum(k.startswith("out.") for k in arrays.files)
    for k, (title, y) in enumerate(model.outputs.items()):
        expected = arrays[f"out.{k}"]
        opaque = {t.body.name for t in y.graph() if t.body is not None and t.body.function is None}
        assert not opaque, title
        leaves = {t.name for t in y.arguments()}
        open_dims = {} if leaves else {"dims": {d: dims[d] for d in y.facts.dims}}
        made = sl.interpret(y, **{n: x for n, x in given.items() if n in leaves}, **open_dims)
        assert (made.shape, made.dtype) == (expected.shape, expected.dtype), title
        np.testing.assert_allclose(made, expected, rtol=1e-4, atol=1e-5, err_msg=title)


def test_movements_have_the_same_bits() -> None:
    model, arrays = sl.read_model(FOLDER / "torch_patches.pt2"), np.load(FOLDER / "torch_patches.npz")
    (y,) = model.outputs.values()
    np.testing.assert_array_equal(sl.interpret(y, image=arrays["in.image"]), arrays["out.0"])


@pytest.mark.parametrize(
    ("name", "laws"),
    [("patches", ()), ("upsampled", ()), ("block", ALL), ("residual", ("fold-batchnorm", "signed-zero"))],
)
def test_the_file_of_onnx_is_the_same_model(name: str, laws: tuple[str, ...]) -> None:
    pytest.importorskip("onnx")
    files = FOLDER / f"torch_{name}.pt2", FOLDER / f"torch_{name}.onnx"
    found = sl.verify(*files, by_position=True, laws=laws, run=False)
    assert found.verdict is sl.Verdict.PROVED, found.explain()


def _other_axes(program: dict[str, Any]) -> None:
    argument(nodes(program, "flip.default")[0], "dims")["as_ints"] = [2]


def _other_roll(program: dict[str, Any]) -> None:
    argument(nodes(program, "roll.default")[1], "shifts")["as_ints"] = [1, -1]


def _other_permutation(program: dict[str, Any]) -> None:
    argument(nodes(program, "permute.default")[1], "dims")["as_ints"] = [0, 5, 1, 4, 2, 3]


def _other_pad(program: dict[str, Any]) -> None:
    argument(nodes(program, "pad.default")[0], "pad")["as_ints"] = [0, 1, 0, 1]


@pytest.mark.parametrize("change", [_other_axes, _other_roll, _other_permutation, _other_pad])
def test_a_changed_movement_is_refuted(tmp_path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    pytest.importorskip("onnx")
    made = rewritten(FOLDER / "torch_patches.pt2", tmp_path / "m.pt2", change)
    found = sl.verify(made, FOLDER / "torch_patches.onnx", by_position=True, run=False)
    assert found.verdict is sl.Verdict.REFUTED, found.explain()


def _other_order(program: dict[str, Any]) -> None:
    argument(nodes(program, "cat.default")[0], "tensors")["as_tensors"].reverse()


def _other_function(program: dict[str, Any]) -> None:
    nodes(program, "silu.default")[0]["target"] = "torch.ops.aten.mish.default"


@pytest.mark.parametrize("change", [_other_order, _other_function])
def test_a_changed_network_is_refuted(tmp_path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    pytest.importorskip("onnx")
    made = rewritten(FOLDER / "torch_upsampled.pt2", tmp_path / "m.pt2", change)
    found = sl.verify(made, FOLDER / "torch_upsampled.onnx", by_position=True, run=False)
    assert found.verdict is sl.Verdict.REFUTED, found.explain()


def test_bounds_and_guards_are_said() -> None:
    model = read_pt2(FOLDER / "torch_residual.pt2", KnownDims({}))
    assert [str(n) for n in model.inputs["image"].shape] == ["s40", "3", "s73", "s6"]
    assert model.inputs["image"].bounds()[0] == (1, 64)
    assert [str(r) for r in model.requires] == ["floor(s6/2) >= 2", "floor(s73/2) >= 2"]
    assert [note for note in model.notes if note.startswith("s73 >= 2 is a bound of torch.export")]
    with pytest.raises(sl.ShapeError):
        sl.read_model(FOLDER / "torch_residual.pt2", dims={"s6": 1})


def test_what_is_not_known_is_opaque(tmp_path: Path) -> None:
    def change(program: dict[str, Any]) -> None:
        for node in nodes(program, "silu.default"):
            node["target"] = "torch.ops.aten.silu.other"

    model = sl.read_model(rewritten(FOLDER / "torch_upsampled.pt2", tmp_path / "m.pt2", change))
    y = list(model.outputs.values())[1]
    assert {t.body.name for t in y.graph() if t.body is not None and t.body.function is None} == {
        "torch:aten.silu.other"
    }
    assert [str(n) for n in y.shape] == ["s40", "3", "s39 - 2", "s94"]


def test_a_number_in_the_place_of_a_tensor_is_no_operand(tmp_path: Path) -> None:
    """A damaged file had one: it was a TypeError."""

    def change(program: dict[str, Any]) -> None:
        node = nodes(program, "flip.default")[0]
        next(a for a in node["inputs"] if a["name"] == "self")["arg"] = {"as_int": 3}

    (y,) = sl.read_model(rewritten(FOLDER / "torch_patches.pt2", tmp_path / "m.pt2", change)).outputs.values()
    assert "torch:aten.flip.default" in {t.body.name for t in y.graph() if t.body is not None}


def test_dropout_in_place_leaves_its_input(tmp_path: Path) -> None:
    """MobileNet ends in one; it was opaque."""

    def change(program: dict[str, Any]) -> None:
        node = nodes(program, "relu_.default")[0]
        node["target"] = "torch.ops.aten.dropout_.default"
        node["inputs"] += [
            {"name": "p", "arg": {"as_float": 0.2}, "kind": 1},
            {"name": "train", "arg": {"as_bool": False}, "kind": 1},
        ]

    model = sl.read_model(rewritten(FOLDER / "torch_residual.pt2", tmp_path / "m.pt2", change))
    (y,) = model.outputs.values()
    assert all(t.body is None or t.body.function is not None for t in y.graph())


def test_a_write_that_is_not_known_leaves_nothing_known(tmp_path: Path) -> None:
    """An operator of unknown meaning may write to what it reads, so that later readers know nothing."""

    def change(program: dict[str, Any]) -> None:
        nodes(program, "silu.default")[0]["target"] = "torch.ops.mine.silu_.default"
        graph = program["graph_module"]["graph"]
        read = argument(next(n for n in graph["nodes"] if "silu" in n["target"]), "self")["as_tensor"]["name"]
        (spec,) = [s for s in program["graph_module"]["signature"]["output_specs"][:1]]
        spec["user_output"]["arg"]["as_tensor"]["name"] = read

    model = sl.read_model(rewritten(FOLDER / "torch_upsampled.pt2", tmp_path / "m.pt2", change))
    y = next(iter(model.outputs.values()))
    assert {t.body.name for t in y.graph() if t.body is not None and t.body.function is None} == {"torch:written"}
    assert any("after a write in place" in note for note in model.notes)
