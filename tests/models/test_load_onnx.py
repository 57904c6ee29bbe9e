"""ONNX models load with their dims; every hostile file is a typed error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

import symlayout as sl
from symlayout.errors import (
    FormatError,
    ShapeError,
)
from tests.models.onnx_files import FINE, ZERO, constants, extent_nodes, joined, load, loaded
from tests.support.onnx_writer import INT64, model, node, tensor, value_info


def test_names_in_a_shape_are_dims(tmp_path: Path) -> None:
    x = value_info("x", ("N", "2*h + 1", 3, None, "a size", "N", -1))
    y = loaded(tmp_path, node("Identity", "x", "y"), x=x)
    assert [str(n) for n in y.shape] == ["N", "2*h + 1", "3", "x.3", "a_size", "N", "x.6"]
    assert y.bounds()[1] == (1, None)


@pytest.mark.parametrize(
    ("stated", "shape"),
    [
        (("batch-size", "seq len", "a.b", "2D"), "(batch_size, seq_len, a_b, _2D)"),
        (("batch-size", "batch_size"), "(batch_size_2, batch_size)"),
        (("batch-size", "batch", "size"), "(batch - size, batch, size)"),
        (("past + sequence", "past", "sequence"), "(past + sequence, past, sequence)"),
        (("a+b", "a*b"), "(a_b, a_b_2)"),
        (("2*h", "h-1"), "(2*h, h_1)"),
        (("2*h", "h-1", "h"), "(2*h, h - 1, h)"),
        (("-N", "--"), "(_N, __)"),
    ],
)
def test_a_dim_has_a_name_unless_it_is_an_expression_of_others(
    tmp_path: Path, stated: tuple[str, ...], shape: str
) -> None:
    y = loaded(tmp_path, node("Relu", "x", "y"), x=value_info("x", stated))
    assert str(y.shape) == shape


def test_a_dim_is_one_over_all_inputs_and_names_that_become_alike_stay_apart(tmp_path: Path) -> None:
    inputs = [value_info("a", ("N", "b c")), value_info("b", ("N", "b_c")), value_info("a.", ("N", "b/c"))]
    y = load(tmp_path, model([node("Concat", "a, b, a.", "y", axis=-1)], inputs))["y"]
    assert [leaf.name for leaf in y.leaves()] == ["a", "b", "a_"]
    assert str(y.shape) == "(N, b_c + b_c_2 + b_c_3)"


def test_element_types(tmp_path: Path) -> None:
    assert loaded(tmp_path, node("Identity", "x", "y"), x=value_info("x", (2,), 10)).dtype == np.dtype(np.float16)
    with pytest.raises(FormatError, match=r"element type number 99 has no elements of fixed size\n  in: input 'x'"):
        loaded(tmp_path, node("Identity", "x", "y"), x=value_info("x", (2,), 99))


def test_outputs_are_in_the_order_of_the_file_and_nodes_that_they_do_not_need_count(tmp_path: Path) -> None:
    nodes = [
        node("Transpose", "x", "t"),
        node("MatMul", "x, x", "unused"),
        node("Split", "x", "a, b", axis=1, num_outputs=2),
    ]
    data = model(nodes, [value_info("x", ("N", 6))], outputs=("b", "t", "x"))
    outputs = load(tmp_path, data)
    assert {name: str(t.shape) for name, t in outputs.items()} == {"b": "(N, 3)", "t": "(6, N)", "x": "(N, 6)"}
    assert all(t.requires == () for t in outputs.values())
    read = sl.read_model(tmp_path / "model.onnx")
    assert [str(r) for r in read.requires] == ["Eq(N, 6)"]
    assert [[n.op_type for n in nodes] for nodes in (read.nodes, read.unused)] == [["Transpose", "Split"], ["MatMul"]]
    with pytest.raises(sl.ShapeError, match="Conv takes rank 3 or more"):  # onnxruntime 1.32 refuses it, too
        load(tmp_path, model([node("Conv", "x, x", "unused"), *nodes[::2]], [value_info("x", ("N", 6))], ("b",)))


def test_constants_of_all_kinds(tmp_path: Path) -> None:
    raw = numpy_helper.from_array(np.array([0, 1, 0, 2], np.int64), "pads")
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
    # 0 would copy an extent of 2
    assert [str(r) for r in y.requires] == ["Eq(Mod(H, 2), 0)", "Eq(Mod(W, 2), 0)", "W >= 2", "H >= 2"]
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


def test_a_quotient_of_a_rounded_quotient_is_exact_alone(tmp_path: Path) -> None:
    """A stride of 4 takes any H; windows of 4 need that what it leaves is a multiple of 4, not that H is."""
    y = loaded(
        tmp_path,
        node("MaxPool", "x", "x4", kernel_shape=[4], strides=[4]),
        node("Shape", "x4", "s"),
        node("Gather", "s, two", "h"),
        node("Div", "h, four", "windows"),
        node("Unsqueeze", "windows, zero", "windows1"),
        node("Concat", "one1, one1, windows1, four1", "target", axis=0),
        node("Reshape", "x4, target", "y"),
        constants=(
            *ZERO,
            *constants(two=2, four=4),
            numpy_helper.from_array(np.array([1]), "one1"),
            numpy_helper.from_array(np.array([4]), "four1"),
        ),
        x=value_info("x", (1, 1, "H")),
    )
    rows = np.arange(18, dtype=np.float32).reshape(1, 1, 18)
    assert sl.interpret(y, rows).tolist() == [[[[3, 7, 11, 15]]]]
    with pytest.raises(ShapeError, match="5 is not a multiple of 4"):
        y.subs({"H": 20})


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


def test_the_last_elements_are_all_where_they_are_as_many(tmp_path: Path) -> None:
    """T5 reads its last S positions of S: from -S on."""
    y = loaded(
        tmp_path,
        *extent_nodes(n=0),
        node("Neg", "n", "before_the_end"),
        node("Unsqueeze", "before_the_end, zero", "start"),
        node("Slice", "x, start, last", "y"),
        constants=(*ZERO, *constants(last=[2**63 - 1])),
        x=value_info("x", ("N",)),
    )
    assert (str(y.shape), y.requires) == ("(N,)", ())
    assert sl.interpret(y, np.arange(3, dtype=np.float32)).tolist() == [0, 1, 2]


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
        ([node("Split", "shape", "e_list, f", num_outputs=2), node("Squeeze", "e_list, zero", "e")], "N"),
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


def test_a_number_that_is_not_decided_is_a_dim_of_its_own(tmp_path: Path) -> None:
    undecided = [node("Equal", "n, two", "q"), node("Where", "q, one, n", "e"), node("Tile", "x, e", "y")]
    x = value_info("x", ("N",))
    y = loaded(tmp_path, *extent_nodes(n=0), *undecided, constants=constants(two=2, one=1), x=x)
    assert [str(n).partition("_")[0] for n in y.shape] == ["Tile"]


def test_a_quotient_of_unknown_sign_requires_that_its_numerator_is_not_negative(tmp_path: Path) -> None:
    rounded = [node("Sub", "n, two", "d"), node("Div", "d, two", "e"), *joined("r", "e"), node("Tile", "x, r", "y")]
    given = (*constants(two=2), *ZERO)
    y = loaded(tmp_path, *extent_nodes(n=0), *rounded, constants=given, x=value_info("x", ("N",)))
    assert str(y.shape) == "(N*floor(N/2) - N,)"
    assert [str(r) for r in y.requires] == ["N >= 2"]


def test_a_graph_that_stands_twice_is_merged_as_protobuf_does(tmp_path: Path) -> None:
    rest = ModelProto(graph=GraphProto(node=[node("Flatten", "y", "z")], output=[value_info("z", None)]))
    assert str(load(tmp_path, FINE + rest.SerializeToString())["z"].shape) == "(N, C*H*W)"


def test_constants_of_half_bytes(tmp_path: Path) -> None:
    fill = helper.make_tensor("fill", TensorProto.INT4, [], [-3])
    x = value_info("x", (1,), TensorProto.INT4)
    y = loaded(tmp_path, node("Pad", "x, pads, fill", "y"), constants=(fill, *constants(pads=[1, 0])), x=x, opset=25)
    assert sl.interpret(y, np.ones(1, y.dtype)).astype(int).tolist() == [-3, 1]


def test_a_quotient_is_exact_beside_a_copied_extent(tmp_path: Path) -> None:
    nodes = [
        *extent_nodes(H=2),
        node("Constant", "", "two", value=tensor([2], [])),
        node("Div", "H, two", "h"),
        *joined("target", "0", "0", "h", "2", "5"),
        node("Reshape", "x, target", "y"),
    ]
    y = loaded(tmp_path, *nodes, constants=ZERO, x=value_info("x", ("N", "C", "H", 5)))
    assert str(y.requires) == "(Eq(Mod(H, 2), 0),)"
    assert str(y.shape) == "(N, C, H/2, 2, 5)"


def test_numbers_with_more_axes_than_numpy_broadcasts_have_a_shape(tmp_path: Path) -> None:
    shape = [1] * 31 + [2, 1]
    nodes = [node("Shape", "x", "s"), node("Reshape", "s,t", "r"), node("Add", "r,r", "y")]
    x = value_info("x", ("N", "C"))
    (y,) = load(tmp_path, model(nodes, [x], constants=[tensor(shape, name="t")])).values()
    assert list(y.shape) == shape
