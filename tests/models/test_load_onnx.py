"""ONNX models load with their dims; every hostile file is a typed error."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

import symlayout as sl
from symlayout.errors import (
    FormatError,
    InconclusiveError,
    MissingFileError,
    ShapeError,
    SymlayoutError,
    UnknownOpError,
)
from symlayout.models.load_onnx import MAX_NODES
from symlayout.models.model_file import MAX_CONSTANT
from symlayout.models.onnx_model import MAX_BYTES, MAX_FIELDS
from symlayout.models.shape_arithmetic import MAX_PASSES, MAX_TERMS, MAX_WORK
from tests.support.onnx_writer import INT64, model, node, tensor, value_info
from tests.support.paths import ROOT

NCHW = ("N", "C", "H", "W")
X = value_info("x", NCHW)


def load(folder: Path, data: bytes) -> dict[str, sl.Tensor]:
    path = folder / "model.onnx"
    path.write_bytes(data)
    return sl.load(path)


def loaded(
    folder: Path, *nodes: NodeProto, constants: Sequence[TensorProto] = (), x: ValueInfoProto = X, opset: int = 20
) -> sl.Tensor:
    """Return the output y of a model with the input x."""
    return load(folder, model(nodes, [x], constants=constants, opset=opset))["y"]


def constants(**values: list[int] | int) -> tuple[TensorProto, ...]:
    """Return initializers; an int has no axes."""
    return tuple(tensor([v], [], name) if isinstance(v, int) else tensor(v, name=name) for name, v in values.items())


def extent_nodes(**axes: int) -> list[NodeProto]:
    """Return nodes as PyTorch writes them, each of which gives an extent of x by its name, without axes."""
    made = [node("Shape", "x", "shape")]
    for name, axis in axes.items():
        made.append(node("Constant", "", f"axis_{name}", value=tensor([axis], [])))
        made.append(node("Gather", f"shape, axis_{name}", name, axis=0))
    return made


def joined(target: str, *names: str) -> list[NodeProto]:
    """Return nodes that make a list of scalars and lists; ``1`` stands for a constant."""
    made = []
    for k, name in enumerate(names):
        if name.lstrip("-").isdigit():
            made.append(node("Constant", "", f"{target}_{k}", value_ints=[int(name)]))
        else:
            made.append(node("Unsqueeze", f"{name}, zero", f"{target}_{k}"))
    return [*made, node("Concat", ", ".join(f"{target}_{k}" for k in range(len(names))), target, axis=0)]


ZERO = constants(zero=[0])

# ---------------------------------------------------------------------- what is read


def test_names_in_a_shape_are_dims(tmp_path: Path) -> None:
    x = value_info("x", ("N", "2*h + 1", 3, None, "a size", "N", -1))
    y = loaded(tmp_path, node("Identity", "x", "y"), x=x)
    assert [str(n) for n in y.shape] == ["N", "2*h + 1", "3", "x.3", "a_size", "N", "x.6"]
    assert y.bounds()[1] == (1, None)


def test_a_dim_is_one_over_all_inputs_and_names_that_become_alike_stay_apart(tmp_path: Path) -> None:
    inputs = [value_info("a", ("N", "b c")), value_info("b", ("N", "b_c")), value_info("a.", ("N", "b/c"))]
    y = load(tmp_path, model([node("Concat", "a, b, a.", "y", axis=-1)], inputs))["y"]
    assert [leaf.name for leaf in y.leaves()] == ["a", "b", "a_"]
    assert str(y.shape) == "(N, b_c + b_c_2 + b_c_3)"


def test_element_types(tmp_path: Path) -> None:
    assert loaded(tmp_path, node("Identity", "x", "y"), x=value_info("x", (2,), 10)).dtype == np.dtype(np.float16)
    with pytest.raises(FormatError, match=r"element type number 8 has no elements of fixed size\n  in: input 'x'"):
        loaded(tmp_path, node("Identity", "x", "y"), x=value_info("x", (2,), 8))


def test_outputs_are_in_the_order_of_the_file_and_only_what_they_need_is_read(tmp_path: Path) -> None:
    nodes = [
        node("Transpose", "x", "t"),
        node("Conv", "x, t", "never"),
        node("Split", "x", "a, b", axis=1),
    ]
    outputs = load(tmp_path, model(nodes, [value_info("x", ("N", 6))], outputs=("b", "t", "x")))
    assert {name: str(t.shape) for name, t in outputs.items()} == {"b": "(N, 3)", "t": "(6, N)", "x": "(N, 6)"}


def test_constants_of_all_kinds(tmp_path: Path) -> None:
    raw = numpy_helper.from_array(np.array([0, 1, 0, 2], np.int32), "pads")
    fill = helper.make_tensor("fill", TensorProto.FLOAT, [], [7.5])
    y = loaded(tmp_path, node("Pad", "x, pads, fill", "y"), constants=(raw, fill), x=value_info("x", (1, 1)))
    assert sl.interpret(y, np.ones((1, 1), np.float32)).tolist() == [[7.5, 1, 7.5, 7.5]]
    y = loaded(tmp_path, node("Constant", "", "p", value_ints=[0, 0, 1, 0]), node("Pad", "x, p", "y", mode="edge"),
               x=value_info("x", (1, 1)))  # fmt: skip
    assert y.shape == (2, 1)


def test_older_versions(tmp_path: Path) -> None:
    y = loaded(tmp_path, node("Pad", "x", "y", pads=[0, 0, 0, 1, 0, 0, 0, 0], value=2.0), opset=2)
    assert sl.interpret(y, np.zeros((1, 1, 1, 1), np.float32)).tolist() == [[[[2.0, 0.0]]]]
    assert str(loaded(tmp_path, node("Unsqueeze", "x", "y", axes=[0]), opset=11).shape) == "(1, N, C, H, W)"
    thirds = loaded(tmp_path, node("Split", "x", "y, b, c", axis=1), opset=13)
    assert (str(thirds.shape), str(thirds.requires)) == ("(N, C/3, H, W)", "(Eq(Mod(C, 3), 0),)")
    with pytest.raises(ShapeError, match="7 is no 2 equal parts"):
        loaded(tmp_path, node("Split", "x", "y, b"), x=value_info("x", (7,)), opset=13)


def test_an_input_with_an_initializer_is_that_constant(tmp_path: Path) -> None:
    inputs = [value_info("x", ("N", 4)), value_info("shape", (2,), INT64)]
    data = model([node("Reshape", "x, shape", "y")], inputs, constants=constants(shape=[-1, 2]))
    assert str(load(tmp_path, data)["y"].shape) == "(2*N, 2)"


def test_inputs_that_are_left_out(tmp_path: Path) -> None:
    y = loaded(tmp_path, node("Slice", "x, a, b, , s", "y"), constants=constants(a=[-1], b=[-(2**63) + 1], s=[-1]))
    assert str(y.index_map) == "(i0, i1, i2, i3) -> (N - i0 - 1, i1, i2, i3)"


# ---------------------------------------------------------------------- shapes that the model computes


def test_pixel_unshuffle_as_pytorch_writes_it_is_pixel_unshuffle(tmp_path: Path) -> None:
    y = loaded(
        tmp_path,
        *extent_nodes(n=0, c=1, h=2, w=3),
        node("Div", "h, two", "h2"),
        node("Cast", "h2", "h3", to=INT64),
        node("Div", "w, two", "w2"),
        node("Mul", "c, four", "c4"),
        *joined("parts", "n", "c", "h3", "2", "w2", "2"),
        *joined("result", "n", "c4", "h3", "w2"),
        node("Reshape", "x, parts", "r"),
        node("Transpose", "r", "t", perm=[0, 1, 3, 5, 2, 4]),
        node("Reshape", "t, result", "y"),
        constants=(*ZERO, *constants(two=2, four=4)),
    )
    (x,) = y.leaves()
    assert str(y.shape) == "(N, 4*C, H/2, W/2)"
    assert [str(r) for r in y.requires] == ["Eq(Mod(H, 2), 0)", "Eq(Mod(W, 2), 0)"]
    assert sl.prove_equal(y, sl.torch.pixel_unshuffle(x, downscale_factor=2)).verdict is sl.Verdict.PROVED
    with pytest.raises(ShapeError) as caught:
        y.subs({"H": 3})
    assert caught.value.kind == "non_divisible"


def test_a_quotient_is_exact_where_a_later_node_needs_it(tmp_path: Path) -> None:
    """The first Reshape would take a rounded quotient too, since -1 is what remains; the last would not."""
    y = loaded(
        tmp_path,
        *extent_nodes(n=0, c=1, h=2),
        node("Div", "h, two", "h2"),
        *joined("parts", "-1", "c", "h2", "2"),
        *joined("result", "n", "c", "h2", "2"),
        node("Reshape", "x, parts", "r"),
        node("Reshape", "r, result", "y"),
        constants=(*ZERO, *constants(two=2)),
        x=value_info("x", ("N", "C", "H")),
    )
    assert str(y.shape) == "(N, C, H/2, 2)"
    assert "Eq(Mod(H, 2), 0)" in map(str, y.requires)


def test_a_quotient_that_may_be_rounded_is(tmp_path: Path) -> None:
    """The first half of the rows, without the one in the middle."""
    y = loaded(
        tmp_path,
        *extent_nodes(n=0),
        node("Div", "n, two", "half"),
        node("Unsqueeze", "half, zero", "end"),
        node("Slice", "x, zero, end", "y"),
        constants=(*ZERO, *constants(two=2)),
        x=value_info("x", ("N",)),
    )
    assert (str(y.shape), y.requires) == ("(floor(N/2),)", ())
    assert sl.interpret(y, np.arange(7, dtype=np.float32)).tolist() == [0, 1, 2]


def test_a_size_that_is_rounded_stays_rounded_in_a_reshape(tmp_path: Path) -> None:
    """Every other row is ceil(N / 2) rows, which are split in two where they can be."""
    y = loaded(
        tmp_path,
        node("Slice", "x, zero, end, zero, step", "odd"),
        node("Shape", "odd", "shape"),
        node("Div", "shape, step", "half"),
        node("Concat", "half, step", "parts", axis=0),
        node("Reshape", "odd, parts", "y"),
        constants=(*ZERO, *constants(end=[2**63 - 1], step=[2])),
        x=value_info("x", ("N",)),
    )
    for n in range(1, 12):
        x = np.arange(n, dtype=np.float32)
        if len(x[::2]) % 2 == 0:
            assert sl.interpret(y, x).tolist() == x[::2].reshape(-1, 2).tolist()
        else:
            with pytest.raises(ShapeError):
                sl.interpret(y, x)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ([node("Add", "n, two", "e")], "N + 2"),
        ([node("Sub", "two, n", "d"), node("Neg", "d", "e")], "N - 2"),
        ([node("Mul", "n, n", "e")], "N**2"),
        ([node("Mod", "n, two", "d"), node("Sub", "n, d", "e")], "2*floor(N/2)"),
        ([node("Min", "n, two", "e")], "Min(2, N)"),
        ([node("Max", "n, two", "e")], "Max(2, N)"),
        ([node("Identity", "n", "e")], "N"),
        ([node("Size", "x", "e")], "3*N"),
        ([node("ReduceProd", "shape", "e", keepdims=0)], "3*N"),
        ([node("Equal", "n, minus", "q"), node("Where", "q, two, n", "e")], "N"),
        ([node("Div", "minus, two", "d"), node("Add", "n, d", "e")], "N"),  # rounded towards 0
        ([node("Range", "nought, two, one", "r"), node("Gather", "r, one", "d"), node("Add", "n, d", "e")], "N + 1"),
        ([node("Tile", "shape, wide", "r"), node("Gather", "r, two", "e")], "N"),
        ([node("Expand", "n, wide", "r"), node("Gather", "r, one", "e")], "N"),
        ([node("Slice", "shape, minus_list, first_list, zero, minus_list", "r"), node("Gather", "r, one", "e")], "N"),
        ([node("Split", "shape", "e_list, f"), node("Squeeze", "e_list, zero", "e")], "N"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_shape_nodes(tmp_path: Path, nodes: list[NodeProto], expected: str) -> None:
    """The result *e* is how often an element is repeated."""
    known = constants(two=2, minus=-1, one=1, nought=0, wide=[2], minus_list=[-1], first_list=[-9])
    repeated = [node("Unsqueeze", "e, zero", "repeats"), node("Tile", "z, repeats", "y")]
    inputs = [value_info("x", ("N", 3)), value_info("z", (1,))]
    data = model([*extent_nodes(n=0), *nodes, *repeated], inputs, constants=(*ZERO, *known))
    assert str(load(tmp_path, data)["y"].shape[0]) == expected


def test_shape_of_a_part_and_constant_of_shape(tmp_path: Path) -> None:
    y = loaded(
        tmp_path,
        node("Shape", "x", "last", start=-1),
        node("Constant", "", "three", value_ints=[3]),
        node("ConstantOfShape", "three", "ones", value=tensor([1])),
        node("Concat", "last, ones", "target", axis=0),
        node("Expand", "x, target", "y"),
        x=value_info("x", ("N", 1, 1, "N")),
    )
    assert str(y.shape) == "(N, 1, 1, N)"


def test_a_decision_that_is_open_is_said_to_be(tmp_path: Path) -> None:
    undecided = [node("Equal", "n, two", "q"), node("Where", "q, two, n", "e"), node("Tile", "x, e", "y")]
    with pytest.raises(InconclusiveError, match="whether N == 2") as caught:
        loaded(tmp_path, *extent_nodes(n=0), *undecided, constants=constants(two=2), x=value_info("x", ("N",)))
    assert caught.value.__notes__ == ["in: node 'q', Equal"]
    rounded = [node("Sub", "n, two", "d"), node("Div", "d, two", "e"), node("Tile", "x, e", "y")]
    with pytest.raises(InconclusiveError, match=r"whether N - 2 >= 0, on which the rounding"):
        loaded(tmp_path, *extent_nodes(n=0), *rounded, constants=constants(two=2), x=value_info("x", ("N",)))


# ---------------------------------------------------------------------- what is refused

FINE = model([node("Transpose", "x", "y", perm=[0, 2, 3, 1])], [X])


def only(*nodes: NodeProto, x: ValueInfoProto = X, constants: Sequence[TensorProto] = (), **keywords: Any) -> bytes:
    return model(nodes, [x], constants=constants, **keywords)


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
        only(node("Pad", "x", "y", mode=b"\xff")),
        "attribute 'mode' of node 'y', Pad is not read: 'utf-8'",
    ),
    "a reference to an attribute": (
        only(with_attribute(node("Pad", "x", "y"), AttributeProto(name="mode", ref_attr_name="m", type=3))),
        "attribute 'mode' of node 'y', Pad is not read: Cannot get value of reference",
    ),
    "a cast to a type that is none": (
        only(node("Shape", "x", "s"), node("Cast", "s", "v", to=99), node("Tile", "x, v", "y")),
        "element type number 99 has no elements of fixed size",
    ),
    "a cast to a list": (
        only(node("Shape", "x", "s"), node("Cast", "s", "v", to=[7]), node("Tile", "x, v", "y")),
        "element type number [7] has no elements of fixed size",
    ),
    "not UTF-8": (FINE.replace(b"Transpose", b"Transpos\xff"), "file cannot be read as an ONNX model: 'utf-8'"),
    "another type of field": (b"\x0a\x019" + FINE[2:], "file is no ONNX model of IR"),
    "no version": (FINE[2:], "file is no ONNX model of IR version"),
    "a future version": (model([], [X], ir_version=99), "file is no ONNX model of IR version"),
    "a future operation set": (model([], [X], outputs=("x",), opset=99), "operation set 99 is not known"),
    "no operation set": (
        ModelProto(ir_version=9, graph=GraphProto(input=[X], output=[X])).SerializeToString(),
        "model does not say",
    ),
    "no output": (model([], [X], outputs=()), "model has no output"),
    "output of nothing": (model([], [X]), "output 'y' is not defined"),
    "read before it is defined": (only(node("Identity", "z", "y"), node("Identity", "y", "z")), "'z' is read before"),
    "a cycle": (only(node("Identity", "y", "y")), "'y' is read before it is defined"),
    "defined twice": (only(node("Identity", "x", "y"), node("Identity", "x", "y")), "'y' is defined twice"),
    "two inputs of a name": (model([node("Identity", "x", "y")], [X, X]), "'x' is defined twice"),
    "an input that is no tensor": (only(node("Identity", "x", "y"), x=ValueInfoProto(name="x")), "input is no tensor"),
    "an axis too many": (
        only(node("Identity", "x", "y"), x=value_info("x", [1] * 65)),
        "shape has 65 axes, at most 64 are known",
    ),
    "a data that is constant": (only(node("Transpose", "c", "y"), constants=constants(c=[1])), "output 'y' is not"),
    "an attribute that is computed": (only(node("Reshape", "x, x", "y")), "input shape is not a constant"),
    "no data": (only(node("Transpose", "", "y")), "data is left out"),
    "more outputs": (only(node("Transpose", "x", "y, z")), "node has 2 outputs, its operation has 1"),
    "an attribute twice": (
        only(with_attribute(node("Transpose", "x", "y", perm=[0]), helper.make_attribute("perm", [0]))),
        "attribute 'perm' stands twice",
    ),
    "an attribute of another type": (
        only(node("Transpose", "x", "y", body=GraphProto())),
        "attribute 'body' of node 'y', Transpose has type 5, which is not read",
    ),
    "external data": (
        only(node("Reshape", "x, s", "y"), constants=(EXTERNAL,)),
        "constant is kept in another file, which is not read",
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
        f"constant of shape [{1 << 40}, {1 << 40}] has more than {MAX_CONSTANT} elements",
    ),
    "a huge value": (
        only(node("ConstantOfShape", "s", "v"), node("Tile", "x, v", "y"), constants=constants(s=[1 << 40, 1 << 40])),
        f"a value of shape ({1 << 40}, {1 << 40}) has not 0 to {MAX_CONSTANT} elements",
    ),
    "a huge range": (
        only(node("Range", "a, b, c", "v"), node("Tile", "x, v", "y"), constants=constants(a=0, b=1 << 60, c=1)),
        "a value of shape",
    ),
    "a huge repetition": (
        only(node("Tile", "s, s", "v"), node("Tile", "x, v", "y"), constants=constants(s=[1 << 40])),
        "a value of shape",
    ),
    "an index out of range": (
        only(node("Shape", "x", "s"), node("Gather", "s, i", "v"), node("Tile", "x, v", "y"), constants=constants(i=4)),
        "Gather cannot be computed: index 4 is out of bounds",
    ),
    "a division by zero": (
        only(node("Div", "a, b", "v"), node("Tile", "x, v", "y"), constants=constants(a=1, b=0)),
        "Div cannot be computed",
    ),
    "shapes that are not broadcast": (
        only(node("Add", "a, b", "v"), node("Tile", "x, v", "y"), constants=constants(a=[1, 2], b=[1, 2, 3])),
        "Add cannot be computed",
    ),
    "an input too many": (only(node("Shape", "x, x, x, x", "v"), node("Tile", "x, v", "y")), "Shape cannot be"),
    "an attribute too many": (only(node("Shape", "x", "v", end=1, stop=2), node("Tile", "x, v", "y")), "Shape cannot"),
    "a power": (only(*power(8), node("Tile", "x, last", "y")), f"an expression of a shape has more than {MAX_TERMS}"),
    "much work": (
        only(
            *extent_nodes(n=0),
            *(node("Div", f"n, d{k}", f"q{k}") for k in range(1, MAX_WORK // 100 + 2)),
            node("Concat", ", ".join(f"q{k}" for k in range(1, MAX_WORK // 100 + 2)), "r", axis=0),
            node("Tile", "x, r", "y"),
            constants=constants(**{f"d{k}": k + 1 for k in range(1, MAX_WORK // 100 + 2)}),
        ),
        "model computes with too many different expressions",
    ),
    "many nodes": (
        only(*(node("Identity", a, b) for a, b in chain("x", MAX_NODES)), node("Identity", "last", "y")),
        f"model has {MAX_NODES + 2} nodes and inputs",
    ),
}


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
        (only(node("Identity", "x", "y"), x=value_info("x", None)), "unknown_rank"),
        (only(node("Identity", "x", "y"), x=value_info("x", [-2])), "infeasible"),
        (only(node("DepthToSpace", "x", "y", blocksize=2), x=value_info("x", (1, 3, 1, 1))), "non_divisible"),
        (only(node("DepthToSpace", "x", "y")), "attr_missing"),
        (only(node("DepthToSpace", "x", "y", blocksize=2, block=2)), "attr_unknown"),
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
    ("made", "message"),
    [
        (node("Transpos", "x", "y", name="t1"), r"(?s)'onnx:Transpos'.*nearest are onnx:Transpose.*in: node 't1'"),
        (node("Conv", "x", "y"), r"(?s)'onnx:Conv'.*in: node 'y', Conv"),
        (node("Add", "x, x", "y"), r"(?s)onnx:Add reads the elements of a tensor.*in: node 'y', Add"),
        (node("Attention", "x", "y", domain="com.microsoft"), r"(?s)'com.microsoft:Attention'.*in: node 'y'"),
        (node("x" * 1_000_000, "x", "y"), r"onnx:xxx"),
    ],
    ids=["misspelled", "other", "on elements", "domain", "long"],
)
def test_operation_that_is_not_in_the_catalogue(tmp_path: Path, made: bytes, message: str) -> None:
    with pytest.raises(UnknownOpError, match=message) as caught:
        load(tmp_path, only(made))
    assert len(str(caught.value)) < 500


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


def test_a_graph_that_stands_twice_is_merged_as_protobuf_does(tmp_path: Path) -> None:
    rest = ModelProto(graph=GraphProto(node=[node("Flatten", "y", "z")], output=[value_info("z", None)]))
    assert str(load(tmp_path, FINE + rest.SerializeToString())["z"].shape) == "(N, C*H*W)"


def test_constants_of_half_bytes(tmp_path: Path) -> None:
    fill = helper.make_tensor("fill", TensorProto.INT4, [], [-3])
    x = value_info("x", (1,), TensorProto.INT4)
    y = loaded(tmp_path, node("Pad", "x, pads, fill", "y"), constants=(fill, *constants(pads=[1, 0])), x=x)
    assert sl.interpret(y, np.ones(1, y.dtype)).astype(int).tolist() == [-3, 1]


@pytest.mark.parametrize("location", ["../secret", "/etc/passwd", "weights.bin"])
def test_external_data_is_not_read(tmp_path: Path, location: str) -> None:
    (tmp_path / "weights.bin").write_bytes(np.array([1, 1, 1, 1], np.int64).tobytes())
    held = tensor([], [4], "p")
    held.data_location = TensorProto.EXTERNAL
    held.external_data.add(key="location", value=location)
    with pytest.raises(FormatError, match="constant is kept in another file"):
        loaded(tmp_path, node("Tile", "x, p", "y"), constants=(held,))


WITHOUT = """
import sys
sys.modules["onnx"] = None  # as if it were not installed
import symlayout as sl
try:
    sl.load(sys.argv[1])
except sl.errors.MissingPackageError as error:
    print(isinstance(error, ImportError), error)
"""


def test_without_the_package_the_error_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(FINE)
    done = started(WITHOUT, str(tmp_path / "model.onnx"))
    assert done == (
        "True an .onnx file is read by the package onnx, which cannot be imported: "
        "import of onnx halted; None in sys.modules\n  help: pip install symlayout[onnx]\n"
    )


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
        assert all(isinstance(y, sl.Tensor) for y in load(tmp_path, bytes(data)).values())


def test_every_prefix_of_a_model_is_a_typed_error(tmp_path: Path) -> None:
    for end in range(0, len(DYNAMIC), 7):
        with pytest.raises(SymlayoutError):
            load(tmp_path, DYNAMIC[:end])
