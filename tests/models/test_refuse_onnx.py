"""ONNX files that are hostile, broken or not supported are refused with typed errors."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

import symlayout as sl
from symlayout.errors import (
    FormatError,
    MissingFileError,
    ShapeError,
    SymlayoutError,
)
from symlayout.models.arithmetic.shape_arithmetic import MAX_PASSES, MAX_WORK
from symlayout.models.load_onnx import MAX_NODES
from symlayout.models.model import Unshaped
from symlayout.models.onnx_model import MAX_BYTES
from symlayout.models.protobuf_fields import MAX_FIELDS
from tests.models.onnx_files import FINE, ZERO, X, constants, extent_nodes, joined, load, loaded, only
from tests.support.onnx_writer import model, node, tensor, value_info
from tests.support.paths import ROOT


def power(count: int) -> list[NodeProto]:
    """Return nodes that square an extent *count* times."""
    return [*extent_nodes(n=0), *(node("Mul", f"{a}, {a}", b) for a, b in chain("n", count))]


def chain(first: str, count: int) -> list[tuple[str, str]]:
    names = [first, *(f"v{k}" for k in range(count - 1)), "last"]
    return list(itertools.pairwise(names))


UNREAD = "file cannot be read as an ONNX model: protobuf"
EXTERNAL = tensor([], name="s", data_location=TensorProto.EXTERNAL)


def with_attribute(made: NodeProto, *attributes: AttributeProto) -> NodeProto:
    made.attribute.extend(attributes)
    return made


HOSTILE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "file is no ONNX model"),
    "text": (b"this is no protobuf", UNREAD),
    "XML": (b"<net/>", f"{UNREAD} has a field of wire type 4"),
    "ends inside": (FINE[:-1], f"{UNREAD} ends inside a field"),
    "a length beyond the end": (b"\x08\x09\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", f"{UNREAD} ends inside"),
    "an integer without end": (b"\x08" + b"\xff" * 100, f"{UNREAD} has an integer without an end"),
    "many fields": (b"\x10\x00" * (MAX_FIELDS + 1), f"{UNREAD} has more than {MAX_FIELDS} fields"),
    "much that is packed": (
        only(node("Tile", "x, r", "y"), constants=(tensor([1] * MAX_FIELDS, name="r"),)),
        f"{UNREAD} has more than {MAX_FIELDS} fields",
    ),
    "too large": (bytes(1), f"model has more than {MAX_BYTES} bytes"),
    "deeply nested": (b"\x08\x09" + b"\x3a\x80\x01" * 100_000, UNREAD),
    "a group": (b"\x08\x09\x0b\x0c", f"{UNREAD} has a field of wire type 3"),
    "an attribute that is not UTF-8": (
        only(node("LpPool", "x", "y", auto_pad=b"\xff", kernel_shape=[1])),
        "attribute 'auto_pad' of node 'y', LpPool is not read: 'utf-8'",
    ),
    "a reference to an attribute": (
        only(
            with_attribute(
                node("LpPool", "x", "y", kernel_shape=[1]), AttributeProto(name="auto_pad", ref_attr_name="m", type=3)
            )
        ),
        "attribute 'auto_pad' of node 'y', LpPool is not read: Cannot get value of reference",
    ),
    "a cast to a type that is none": (
        only(node("Shape", "x", "s"), node("Cast", "s", "v", to=99), node("Tile", "x, v", "y")),
        "element type number 99 has no elements of fixed size",
    ),
    "a cast to a list": (
        only(node("Shape", "x", "s"), node("Cast", "s", "v", to=[7]), node("Tile", "x, v", "y")),
        "attribute 'to' is of type INTS, not INT",
    ),
    "not UTF-8": (FINE.replace(b"Transpose", b"Transpos\xff"), "file cannot be read as an ONNX model: 'utf-8'"),
    "another type of field": (b"\x0a\x019" + FINE[2:], "file is no ONNX model of IR"),
    "no version": (FINE[2:], "file is no ONNX model of IR version"),
    "a future version": (model([], [X], ir_version=99), "file is no ONNX model of IR version"),
    "a future operation set": (model([], [X], outputs=("x",), opset=99), "operation set 99 is not known"),
    "no operation set": (
        ModelProto(
            ir_version=9, graph=GraphProto(node=[node("Identity", "x", "y")], input=[X], output=[value_info("y", None)])
        ).SerializeToString(),
        "model does not say",
    ),
    "no output": (model([], [X], outputs=()), "model has no output"),
    "output of nothing": (model([], [X]), "output 'y' is not defined"),
    "read and not defined": (only(node("Identity", "z", "y")), "'z' is read and not defined"),
    "a cycle": (only(node("Identity", "z", "y"), node("Identity", "y", "z")), "a node reads what it computes"),
    "a cycle of one": (only(node("Identity", "y", "y")), "a node reads what it computes"),
    "defined twice": (only(node("Identity", "x", "y"), node("Identity", "x", "y")), "'y' is defined twice"),
    "two inputs of a name": (model([node("Identity", "x", "y")], [X, X]), "'x' is defined twice"),
    "an input that is no tensor": (only(node("Identity", "x", "y"), x=ValueInfoProto(name="x")), "input has no type"),
    "an axis too many": (
        only(node("Identity", "x", "y"), x=value_info("x", [1] * 65)),
        "shape has 65 axes, at most 64 are known",
    ),
    "no data": (only(node("Transpose", "", "y")), "Transpose has 1 inputs, the node has 0"),
    "no operand": (only(node("MatMul", "x, ", "y")), "input B is left out"),
    "no first operand": (only(node("Add", ", x", "y")), "input A is left out"),
    "more outputs": (only(node("Transpose", "x", "y, z")), "Transpose has at most 1 outputs, the node has 2"),
    "an attribute twice": (
        only(with_attribute(node("Transpose", "x", "y", perm=[0]), helper.make_attribute("perm", [0]))),
        "attribute 'perm' stands twice",
    ),
    "an attribute of another type": (
        only(node("Transpose", "x", "y", perm=GraphProto())),
        "attribute 'perm' is of type GRAPH, not INTS",
    ),
    "external data": (
        only(node("Reshape", "x, s", "y"), constants=(EXTERNAL,)),
        "constant is kept in '', outside the folder of the model",
    ),
    "a constant of another size": (
        only(node("Reshape", "x, s", "y"), constants=(tensor([1, 2], [3], "s"),)),
        "constant is no int64 [3]: cannot reshape array of size 2",
    ),
    "a raw constant of another size": (
        only(node("Reshape", "x, s", "y"), constants=(tensor([], [2], "s", raw_data=b"123"),)),
        "constant is no int64 [2]: buffer size must be a multiple",
    ),
    "a constant of negative size": (
        only(node("Reshape", "x, s", "y"), constants=(tensor([], [-1], "s"),)),
        "constant has shape [-1]",
    ),
    "a huge constant": (
        only(node("Reshape", "x, s", "y"), constants=(tensor([], [1 << 40, 1 << 40], "s"),)),
        f"constant is no int64 [{1 << 40}, {1 << 40}]: cannot reshape array of size 0",
    ),
    "an index out of range": (
        only(node("Shape", "x", "s"), node("Gather", "s, i", "v"), node("Tile", "x, v", "y"), constants=constants(i=4)),
        "Gather cannot be computed from input 0 = [N, C, H, W], input 1 = 4",
    ),
    "a division by zero": (
        only(node("Div", "a, b", "v"), node("Tile", "x, v", "y"), constants=constants(a=1, b=0)),
        "Div cannot be computed",
    ),
    "an input too many": (
        only(node("Shape", "x, x, x, x", "v"), node("Tile", "x, v", "y")),
        "Shape has 1 inputs, the node has 4",
    ),
    "many nodes": (
        only(*(node("Identity", a, b) for a, b in chain("x", MAX_NODES)), node("Identity", "last", "y")),
        f"model has {MAX_NODES + 2} nodes and inputs",
    ),
}


LARGE = {
    "a huge value": only(
        node("ConstantOfShape", "s", "v"), node("Tile", "x, v", "y"), constants=constants(s=[1 << 40, 1 << 40])
    ),
    "a huge range": only(
        node("Range", "a, b, c", "v"), node("Tile", "x, v", "y"), constants=constants(a=0, b=1 << 60, c=1)
    ),
    "a huge repetition": only(node("Tile", "s, s", "v"), node("Tile", "x, v", "y"), constants=constants(s=[1 << 40])),
    "a power": only(*power(8), node("Tile", "x, last", "y")),
    "much work": only(
        *extent_nodes(n=0),
        *(node("Div", f"n, d{k}", f"q{k}") for k in range(1, MAX_WORK // 100 + 2)),
        node("Concat", ", ".join(f"q{k}" for k in range(1, MAX_WORK // 100 + 2)), "r", axis=0),
        node("Tile", "x, r", "y"),
        constants=constants(**{f"d{k}": [k + 1] for k in range(1, MAX_WORK // 100 + 2)}),
    ),
}


@pytest.mark.parametrize("case", LARGE)
def test_what_is_too_large_to_compute_is_a_value_nevertheless(tmp_path: Path, case: str) -> None:
    with contextlib.suppress(ShapeError):  # of more elements than int64 counts
        assert load(tmp_path, LARGE[case])["y"].rank == 4


@pytest.mark.sample(20)
@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_is_a_format_error(tmp_path: Path, case: str) -> None:
    data, message = HOSTILE[case]
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    if case == "too large":
        os.truncate(path, MAX_BYTES + 1)  # a sparse file
    with pytest.raises(FormatError) as caught:
        sl.load(path)
    assert str(caught.value).startswith(message)
    assert len(str(caught.value)) < 600  # whatever stands in the file


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (only(node("Identity", "x", "y"), x=value_info("x", [-2])), "infeasible"),
        (
            only(node("Add", "a, b", "v"), node("Tile", "x, v", "y"), constants=constants(a=[1, 2], b=[1, 2, 3])),
            "size_mismatch",
        ),
        (only(node("DepthToSpace", "x", "y", blocksize=2), x=value_info("x", (1, 3, 1, 1))), "non_divisible"),
        (only(node("DepthToSpace", "x", "y")), "attr_missing"),
        (only(node("DepthToSpace", "x", "y", blocksize=2, block=2)), "attr_unknown"),
        (only(node("Shape", "x", "v", end=1, stop=2), node("Tile", "x, v", "y")), "attr_unknown"),
        (only(node("Transpose", "x", "y", perm=[0, 0, 1, 2])), "bad_axis"),
        (only(*extent_nodes(n=0), node("Mul", "n, n", "s"), node("Mul", "s, big", "q"), node("Mul", "q, big", "r"),
              node("Tile", "x, r", "y"), constants=constants(big=1 << 62)), "overflow"),
    ],
)  # fmt: skip
def test_wrong_attributes_have_the_kind_of_the_operation(tmp_path: Path, data: bytes, kind: str) -> None:
    with pytest.raises(ShapeError) as caught:
        load(tmp_path, data)
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("made", "title"),
    [
        (node("Transpos", "x", "y", name="t1"), "onnx:Transpos"),
        (node("Attend", "x", "y", domain="com.microsoft"), "microsoft:Attend"),
        (node("x" * 1_000_000, "x", "y"), "onnx:xxx"),
    ],
    ids=["misspelled", "domain", "long"],
)
def test_an_operation_that_nobody_knows_is_opaque(tmp_path: Path, made: NodeProto, title: str) -> None:
    y = load(tmp_path, only(made))["y"]
    assert isinstance(y, Unshaped)
    assert (y.rank, y.shape, str(y)) == (None, None, "?")
    assert y.dtype == np.float32  # which the file states
    assert y.name.startswith(title)
    assert sl.verify(tmp_path / "model.onnx", tmp_path / "model.onnx").verdict is sl.Verdict.PROVED


LIST = [*extent_nodes(n=0), *joined("listed", "n")]


@pytest.mark.parametrize(
    "nodes",
    [
        [*LIST, node("Slice", "x, zero, listed, none", "y")],
        [*LIST, node("Slice", "x, zero, n, zero", "y")],
        [*LIST, *joined("two", "n", "n"), node("Range", "none, two, one", "y")],
        [node("SplitToSequence", "x, pair", "s", axis=3), node("SequenceAt", "s, none", "y")],
    ],
    ids=["axes without an axis", "ends without an axis", "a range to two numbers", "parts with two axes"],
)
def test_arguments_of_a_wrong_rank_are_an_error_or_an_opaque_value(tmp_path: Path, nodes: list[NodeProto]) -> None:
    given = (*ZERO, *constants(none=0, one=1), tensor([2, 2, 2, 2], [2, 2], "pair"))
    with contextlib.suppress(SymlayoutError):
        x = value_info("x", ("N", "C", "H", 8))
        assert loaded(tmp_path, *nodes, constants=given, x=x).name


def test_passes_over_a_model_are_few() -> None:
    assert MAX_PASSES < 10


def test_a_missing_file_is_both_ours_and_a_file_not_found_error(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"there is no file 'none.onnx'") as caught:
        sl.load(tmp_path / "none.onnx")
    assert isinstance(caught.value, SymlayoutError)
    assert isinstance(caught.value, FileNotFoundError)
    (tmp_path / "folder.onnx").mkdir()
    os.mkfifo(tmp_path / "pipe.onnx")
    for name in ("folder.onnx", "pipe.onnx"):
        with pytest.raises(FormatError, match="is not a regular file"):
            sl.load(tmp_path / name)


def external(location: str, **entries: object) -> TensorProto:
    held = TensorProto(name="p", dims=[4], data_type=TensorProto.INT64, data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **entries}.items():
        held.external_data.add(key=key, value=str(value))
    return held


def test_external_data_is_mapped(tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(b"12345678" + np.array([1, 2, 1, 3], np.int64).tobytes())
    y = loaded(tmp_path, node("Tile", "x, p", "y"), constants=(external("weights.bin", offset=8, length=32),))
    assert str(y.shape) == "(N, 2*C, H, 3*W)"
    data = model([node("Identity", "p", "y")], [X], constants=(external("weights.bin", offset=8),))
    p = load(tmp_path, data)["y"]
    assert sl.interpret(p).tolist() == [1, 2, 1, 3]
    assert p.values is not None
    assert not p.values.flags.owndata


def test_a_file_of_constants_is_mapped_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "weights.bin").write_bytes(np.array([1, 2, 1, 3], np.int64).tobytes())
    mapping = Mock(side_effect=np.memmap)
    monkeypatch.setattr(np, "memmap", mapping)
    nodes = [node("Tile", "x, p", "t"), node("Tile", "t, q", "y"), node("Identity", "q", "z")]
    other = external("weights.bin")
    other.name = "q"
    assert load(tmp_path, model(nodes, [X], ["y", "z"], constants=(external("weights.bin"), other)))
    assert mapping.call_count == 1


@pytest.mark.parametrize(
    ("location", "entries", "message"),
    [
        ("../secret", {}, "outside the folder of the model"),
        ("data.bin\0", {}, "of a file with a constant has a NUL"),
        ("/etc/passwd", {}, "outside the folder of the model"),
        ("link.bin", {}, "outside the folder of the model"),
        ("weights.bin", {"offset": 8}, "constant is at bytes 8 to 40, 'weights.bin' has 32"),
        ("weights.bin", {"length": 8}, "constant has 8 bytes"),
        ("weights.bin", {"offset": -8}, "'-8' is not a number of bytes"),
        ("none.bin", {}, "there is no file 'none.bin'"),
    ],
)
def test_external_data_that_is_not_there(
    tmp_path: Path, location: str, entries: dict[str, object], message: str
) -> None:
    (tmp_path / "weights.bin").write_bytes(np.array([1, 1, 1, 1], np.int64).tobytes())
    (tmp_path / "link.bin").symlink_to("/etc/passwd")
    with pytest.raises((FormatError, MissingFileError), match=message):
        loaded(tmp_path, node("Tile", "x, p", "y"), constants=(external(location, **entries),))


WITHOUT = """
import sys
sys.modules["onnx"] = None  # as if it were not installed
import symlayout as sl
try:
    sl.load(sys.argv[1])
except sl.errors.MissingPackageError as error:
    print(isinstance(error, ImportError), error)
"""


@pytest.mark.slow
def test_without_the_package_the_error_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(FINE)
    done = started(WITHOUT, str(tmp_path / "model.onnx"))
    assert done == (
        "True an .onnx file is read by the package onnx, which cannot be imported: "
        "import of onnx halted; None in sys.modules\n  help: pip install symlayout[onnx]\n"
    )


@pytest.mark.slow
def test_the_package_is_imported_for_a_model_in_its_format_only(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(FINE)
    ir = ROOT / "examples" / "models" / "round_trip_dynamic.xml"
    program = (
        "import sys, symlayout as sl\nfor path in sys.argv[1:]: sl.load(path); print('onnx' in sys.modules, end=' ')"
    )
    assert started(program, str(ir), str(tmp_path / "model.onnx")) == "False True "


def started(program: str, *arguments: str) -> str:
    """Return what a Python program prints in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


DYNAMIC = model(
    [
        *extent_nodes(n=0, c=1, h=2, w=3),
        node("Div", "h, two", "h2"),
        *joined("parts", "n", "c", "h2", "2", "w"),
        node("Reshape", "x, parts", "r"),
        node("Slice", "r, zero, ends, zero, steps", "s"),
        node("Pad", "s, pads", "y", mode="edge"),
    ],
    [X],
    constants=(*ZERO, *constants(two=2, ends=[9], steps=[1], pads=[0, 0, 0, 0, 1, 0, 0, 1, 0, 0])),
)


@pytest.mark.parametrize("seed", range(200))
def test_altered_bytes_are_a_model_or_a_typed_error(tmp_path: Path, seed: int) -> None:
    source = random.Random(seed)
    data = bytearray(source.choice([FINE, DYNAMIC]))
    for _ in range(source.choice([1, 1, 2, 8])):
        at = source.randrange(len(data))
        what = source.randrange(4)
        if what == 0:
            data[at] ^= 1 << source.randrange(8)
        elif what == 1:
            data[at] = source.choice([0, 1, 0x7F, 0x80, 0xFF])
        elif what == 2:
            data[at:at] = source.choice(
                [b"\0", b"\1", b"\x80" * 4 + b"\x08", b"\xff" * 8 + b"\x7f", b"\xff" * 9 + b"\x01"]
            )
        else:
            del data[at : at + source.randrange(1, 9)]
    with contextlib.suppress(SymlayoutError):
        assert all(isinstance(y, sl.Tensor | Unshaped) for y in load(tmp_path, bytes(data)).values())


def test_every_prefix_of_a_model_is_a_typed_error(tmp_path: Path) -> None:
    for end in range(0, len(DYNAMIC), 7):
        with pytest.raises(SymlayoutError):
            load(tmp_path, DYNAMIC[:end])
