"""Models of TensorFlow Lite: values are those of LiteRT, unknown operators are opaque, damaged files are refused."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.frontends import names
from symlayout.frontends.tflite.elementwise import ACTIVATIONS
from symlayout.models.formats.tflite_schema import ACTIVATION, BUILTINS
from tests.models.tflite.cases import CASES, Case
from tests.models.tflite.files import Op, T, const, flat_model, write

_NOT_RUN = {"RANGE"}  # of shapes: see the models below


def run(path: Path, arrays: dict[str, Any]) -> list[np.ndarray[Any, Any]]:
    """Return what LiteRT computes, with its reference kernels where it has them."""
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    kinds = litert.OpResolverType
    try:
        interpreter = litert.Interpreter(str(path), experimental_op_resolver_type=kinds.BUILTIN_REF)
    except ValueError:
        plain = kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        interpreter = litert.Interpreter(str(path), experimental_op_resolver_type=plain)
    for place, array in zip(interpreter.get_input_details(), arrays.values(), strict=True):
        interpreter.resize_tensor_input(place["index"], array.shape)
    interpreter.allocate_tensors()
    for place, array in zip(interpreter.get_input_details(), arrays.values(), strict=True):
        interpreter.set_tensor(place["index"], array)
    interpreter.invoke()
    return [interpreter.get_tensor(place["index"]) for place in interpreter.get_output_details()]


def values_of(model: sl.Model, arrays: dict[str, Any]) -> list[np.ndarray[Any, Any]]:
    made = []
    for y in model.outputs.values():
        leaves = {t.name for t in y.arguments()}
        made.append(sl.interpret(y, **{n: a for n, a in arrays.items() if n in leaves}))
    return made


def test_the_activations_are_those_of_the_schema() -> None:
    assert ACTIVATIONS == ACTIVATION


def test_each_row_has_a_declaration_and_a_case() -> None:
    assert {f"tflite:{row.name}" for row in BUILTINS.values()} == {n for n in names() if n.startswith("tflite:")}
    assert {row.name for row in BUILTINS.values()} - _NOT_RUN == {case.op for case in CASES.values()}


@pytest.mark.parametrize("name", CASES)
def test_shapes_and_values_are_those_of_the_runtime(tmp_path: Path, name: str) -> None:
    case: Case = CASES[name]
    path = write(tmp_path, **case.model)
    model = sl.read_model(path)
    arrays = case.arrays()
    theirs = run(path, arrays)
    for ours, expected in zip(values_of(model, arrays), theirs, strict=True):
        assert (ours.shape, ours.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-5)
    assert not any("tflite" in str(t.body and t.body.name) for y in model.outputs.values() for t in y.graph())


DRAW = np.random.default_rng(3)
CONV, DEPTH, DENSE = (DRAW.normal(size=shape).astype(np.float32) for shape in ((8, 3, 3, 3), (1, 3, 3, 8), (5, 8)))
BIASES = [DRAW.normal(size=n).astype(np.float32) for n in (8, 8, 5)]
POOL = {"padding": "VALID", "stride_w": 2, "stride_h": 2, "filter_width": 2, "filter_height": 2}
NHWC = (None, None, None, 8)


def network(
    folder: Path, name: str = "net.tflite", *, axes: tuple[int, ...] = (1, 2), turned: bool = False, **changed: Any
) -> Path:
    """Write a small network of images: two convolutions, a sum, a pool, a mean and a product."""
    kernel = np.ascontiguousarray(CONV.swapaxes(1, 2)) if turned else CONV
    first = {"padding": "SAME", "stride_w": 1, "stride_h": 1, "fused_activation_function": "RELU6"}
    tensors = [
        T("x", (None, None, None, 3)),
        *(const(n, a) for n, a in zip(("w0", "w1", "w2"), (kernel, DEPTH, DENSE), strict=True)),
        *(const(f"b{k}", b) for k, b in enumerate(BIASES)),
        const("axes", list(axes), np.int32),
        *(T(n, NHWC) for n in ("c", "d", "s", "p")),
        T("m", (None, 8)),
        T("f", (None, 5)),
        T("y", (None, 5)),
    ]
    operators = [
        Op("CONV_2D", "x w0 b0", "c", first | changed),
        Op("DEPTHWISE_CONV_2D", "c w1 b1", "d", first | {"fused_activation_function": "RELU"}),
        Op("ADD", "c d", "s"),
        Op("MAX_POOL_2D", "s", "p", POOL),
        Op("MEAN", "p axes", "m"),
        Op("FULLY_CONNECTED", "m w2 b2", "f"),
        Op("SOFTMAX", "f", "y", {"beta": 1.0}),
    ]
    return write(folder, tensors, operators, name=name, signature={"x": "image", "y": "scores"})


def same_in_onnx(folder: Path) -> Path:
    """Write the network of `network` in ONNX: NCHW, with weights as ONNX has them."""
    numpy_helper = pytest.importorskip("onnx.numpy_helper")
    writer = pytest.importorskip("tests.support.onnx_writer")
    node = writer.node
    pads = {"pads": [1, 1, 1, 1]}
    weights = {
        "w0": CONV.transpose(0, 3, 1, 2), "w1": DEPTH.transpose(3, 0, 1, 2), "w2": DENSE.T,
        **{f"b{k}": b for k, b in enumerate(BIASES)},
        "low": np.float32(0), "high": np.float32(6), "axes": np.array([2, 3]),
    }  # fmt: skip
    nodes = [
        node("Conv", "image, w0, b0", "c0", **pads), node("Clip", "c0, low, high", "c"),
        node("Conv", "c, w1, b1", "d0", group=8, **pads), node("Relu", "d0", "d"), node("Add", "c, d", "s"),
        node("MaxPool", "s", "p", kernel_shape=[2, 2], strides=[2, 2]), node("ReduceMean", "p, axes", "m", keepdims=0),
        node("MatMul", "m, w2", "f0"), node("Add", "f0, b2", "f"), node("Softmax", "f", "scores", axis=1),
    ]  # fmt: skip
    path = folder / "net.onnx"
    constants = [numpy_helper.from_array(np.ascontiguousarray(a), n) for n, a in weights.items()]
    images = [writer.value_info("image", ("N", 3, "H", "W"))]
    path.write_bytes(writer.model(nodes, images, ["scores"], constants))
    return path


LAYOUT = {"image": "NHWC:NCHW"}


def test_a_network_is_the_one_that_onnx_has_in_another_layout(tmp_path: Path) -> None:
    path, other = network(tmp_path), same_in_onnx(tmp_path)
    model = sl.read_model(path)
    assert {name: [str(n) for n in t.shape] for name, t in model.inputs.items()} == {
        "image": ["image.0", "image.1", "image.2", "3"]
    }
    assert model.format == "TFLite"
    found = sl.verify(path, other, layout=LAYOUT, laws=("reassociate",))
    assert found.verdict is sl.Verdict.PROVED, found.explain()
    assert sl.verify(other, path, layout={"image": "NCHW:NHWC"}, laws=("reassociate",)).verdict is sl.Verdict.PROVED
    assert sl.check(found.certificate, before=path, after=other)


@pytest.mark.parametrize(
    "change",
    [{"turned": True}, {"fused_activation_function": "RELU"}, {"padding": "VALID"}, {"axes": (1,)}, {"stride_w": 2}],
    ids=str,
)
def test_another_network_is_refuted(tmp_path: Path, change: dict[str, Any]) -> None:
    found = sl.verify(network(tmp_path, **change), same_in_onnx(tmp_path), layout=LAYOUT, laws=("reassociate",))
    assert found.verdict is sl.Verdict.REFUTED


def test_shapes_that_a_model_computes_are_in_dims(tmp_path: Path) -> None:
    tensors = [
        T("x", (None, None, None, 6)), T("s", (4,), np.int32),
        *(const(n, [v], np.int32) for n, v in (("zero", 0), ("one", 1), ("two", 2), ("three", 3))),
        *(const(n, v, np.int32) for n, v in (("minus", -1), ("half", 2))),
        T("n", (), np.int32), T("h", (), np.int32), T("g", (), np.int32), T("t", (3,), np.int32),
        T("y", (None, None, None)),
    ]  # fmt: skip
    slice_ = {"shrink_axis_mask": 1}
    operators = [
        Op("SHAPE", "x", "s", {"out_type": np.int32}),
        Op("STRIDED_SLICE", "s zero one one", "n", slice_),
        Op("STRIDED_SLICE", "s one two one", "h", slice_),
        Op("MUL", "h half", "g"),
        Op("PACK", "n g minus", "t", {"values_count": 3}),
        Op("RESHAPE", "x t", "y"),
    ]
    path = write(tmp_path, tensors, operators)
    model = sl.read_model(path)
    assert [str(n) for n in model.outputs["y"].shape] == ["x.0", "2*x.1", "3*x.2"]
    x = np.arange(2 * 3 * 5 * 6, dtype=np.float32).reshape(2, 3, 5, 6)
    np.testing.assert_array_equal(sl.interpret(model.outputs["y"], x), x.reshape(2, 6, 15))
    (theirs,) = run(path, {"x": x})
    np.testing.assert_array_equal(theirs, x.reshape(2, 6, 15))


def unary(folder: Path, op: Op, x: T, y: T, name: str = "model.tflite") -> Path:
    return write(folder, [x, y], [op], name=name)


def test_quantised_operands_are_opaque_but_where_they_are_moved(tmp_path: Path) -> None:
    x = T("x", (2, 3), np.int8, None, [0.5], [3])
    coarse = T("y", (2, 3), np.int8, None, [0.25], [3])
    add = unary(tmp_path, Op("ABS", "x", "y"), x, coarse)
    (y,) = sl.read_model(add).outputs.values()
    assert y.body is not None
    assert y.body.function is None
    assert sl.verify(add, add).verdict is sl.Verdict.PROVED
    other = unary(tmp_path, Op("ABS", "x", "y"), x, T("y", (2, 3), np.int8, None, [0.5], [3]), "other.tflite")
    assert sl.verify(add, other, run=False).verdict is sl.Verdict.UNKNOWN
    turned = [x, const("p", [1, 0], np.int32), T("y", (3, 2), np.int8, None, [0.5], [3])]
    (y,) = sl.read_model(write(tmp_path, turned, [Op("TRANSPOSE", "x p", "y")])).outputs.values()
    assert str(y.index_map) == "(i0, i1) -> (i1, i0)"
    turned[-1] = T("y", (3, 2), np.int8, None, [0.25], [3])
    (y,) = sl.read_model(write(tmp_path, turned, [Op("TRANSPOSE", "x p", "y")])).outputs.values()
    assert y.body is not None


@pytest.mark.parametrize("name", [146, "MyOp", 44])
def test_an_operator_without_a_row_is_opaque(tmp_path: Path, name: Any) -> None:
    x, y = T("x", (None, 3)), T("y", (None, 4))
    path = unary(tmp_path, Op(name, "x", "y", custom=b"a" if name == "MyOp" else b""), x, y)
    (made,) = sl.read_model(path).outputs.values()
    assert made.shape[1] == 4
    assert made.dtype == np.float32
    same = sl.Verdict.UNKNOWN if name == 146 else sl.Verdict.PROVED  # which draws numbers
    assert sl.verify(path, path, run=False).verdict is same
    other = unary(
        tmp_path, Op(name, "x", "y", custom=b"b" if name == "MyOp" else b""), x, T("y", (None, 5)), "b.tflite"
    )
    assert sl.verify(path, other, run=False).verdict is not sl.Verdict.PROVED


def test_a_state_is_not_known(tmp_path: Path) -> None:
    tensors = [T("x", (2,)), T("v", (2,), variable=True), T("y", (2,))]
    path = write(tmp_path, tensors, [Op("ADD", "x v", "y")])
    (y,) = sl.read_model(path).outputs.values()
    assert any(t.body is not None and t.body.function is None for t in y.graph())


def broken(**changed: Any) -> bytes:
    given: dict[str, Any] = {
        "tensors": [T("x", (2, 3)), const("c", [[1.0, 2.0, 3.0]], np.float32), T("y", (2, 3))],
        "operators": [Op("ADD", "x c", "y")],
    }
    return flat_model(**given | changed)


X, C, Y = T("x", (2, 3)), const("c", [[1.0, 2.0, 3.0]], np.float32), T("y", (2, 3))
ADD = Op("ADD", "x c", "y")
DAMAGED: dict[str, tuple[dict[str, Any], str]] = {
    "a number of bytes": ({"tensors": [X, T("c", (5,), np.float32, np.zeros(3)), Y]}, "needs 20"),
    "elements of an input": ({"tensors": [T("x", (1,), np.float32, [1.0]), C, Y]}, "is an input"),
    "two writers": ({"operators": [ADD, ADD]}, "has a value already"),
    "a cycle": ({"tensors": [X, T("z", (2, 3)), Y], "operators": [Op("ADD", "x z", "y"), Op("ABS", "y", "z")]},
                "nothing before it computes"),
    "no writer": ({"operators": []}, "nothing computes it"),
    "another result": ({"tensors": [X, C, T("y", (2, 3), np.int32)]}, "computes float32"),
    "two results": ({"tensors": [X, C, Y, T("z", (2, 3))], "operators": [Op("ADD", "x c", "y z")]}, "has 2 outputs"),
    "another version": ({"version": 4}, "version 4"),
    "a negative extent": ({"tensors": [X, C, Y, T("z", (-2, 3))]}, "has no shape"),
    "no option": ({"operators": [Op("PACK", "x x", "y", {"values_count": 3})]}, "states 3 values"),
    "a missing operand": ({"operators": [Op("ADD", "x -", "y")]}, "is left out"),
    "too many operands": ({"operators": [Op("ABS", "x c", "y")]}, "argument"),
    "no values": ({"operators": [Op("PACK", "", "y")]}, "there is none"),
    "no terms": ({"operators": [Op("ADD_N", "", "y")]}, "there is none"),
    "two element types": ({"tensors": [X, const("c", [1], np.int32), Y]}, "dtypes float32 and int32"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_an_inconsistent_file_is_refused(tmp_path: Path, name: str) -> None:
    changed, text = DAMAGED[name]
    path = tmp_path / "m.tflite"
    path.write_bytes(broken(**changed))
    with pytest.raises(sl.SymlayoutError, match=text):
        sl.read_model(path)


def test_damaged_bytes_end_in_a_typed_error(tmp_path: Path) -> None:
    """Cut the file everywhere, and change bytes at random: a model is read, or the error is one of ours."""
    path, good = tmp_path / "m.tflite", network(tmp_path).read_bytes()
    draw = np.random.default_rng(0)
    tables = len(good) - 2600  # weights stand before most tables
    spoiled = [good[:n] for n in (0, 3, 7, 8, 11, *range(12, len(good), 97))]
    for _ in range(400):
        data = np.frombuffer(good, np.uint8).copy()
        places = draw.integers(0, len(good), 3) if draw.random() < 0.3 else draw.integers(tables, len(good), 2)
        data[places] = draw.choice(np.array([0, 1, 2, 127, 128, 255], np.uint8), len(places))
        spoiled.append(data.tobytes())
    for bad in spoiled:
        path.write_bytes(bad)
        try:
            sl.read_model(path)
        except sl.SymlayoutError:
            continue


def test_the_fields_are_those_of_the_schema() -> None:
    """The package ``tflite`` has the generated classes: numbers of operations, of options and of their fields."""
    tflite = pytest.importorskip("tflite")
    operations = {number: name for name, number in vars(tflite.BuiltinOperator).items() if isinstance(number, int)}
    options = {number: name for name, number in vars(tflite.BuiltinOptions).items() if isinstance(number, int)}
    for number, row in BUILTINS.items():
        assert operations[number] == row.name
        if row.options:
            kind = getattr(tflite, options[row.options])
            for f in row.fields:
                source = inspect.getsource(getattr(kind, "".join(w.capitalize() for w in f.name.split("_"))))
                assert f"Offset({2 * f.number + 4}))" in source, (row.name, f.name)


def test_no_index_counts_from_the_end(tmp_path: Path) -> None:
    """ONNX takes indices below 0, TensorFlow Lite refuses them: so the one may stand for the other, not conversely."""
    writer = pytest.importorskip("tests.support.onnx_writer")
    tensors = [T("t", (5, 3)), T("i", (None,), np.int32), T("y", (None, 3))]
    path = write(tmp_path, tensors, [Op("GATHER", "t i", "y")], inputs="t i")
    other = tmp_path / "gather.onnx"
    ends = [writer.value_info("t", (5, 3)), writer.value_info("i", ("N",), 6)]
    other.write_bytes(writer.model([writer.node("Gather", "t, i", "y", axis=0)], ends))
    assert sl.verify(path, other).verdict is sl.Verdict.PROVED
    assert sl.verify(path, path).verdict is sl.Verdict.PROVED
    assert sl.verify(other, path).verdict is not sl.Verdict.PROVED
    tensors[1] = const("i", [0, -1], np.int32)
    with pytest.raises(sl.ShapeError, match="an index is -1"):
        sl.read_model(write(tmp_path, tensors, [Op("GATHER", "t i", "y")], inputs="t"))


def test_a_remainder_of_floats_is_opaque(tmp_path: Path) -> None:
    tensors = [T("a", (3,)), T("c", (3,)), T("y", (3,))]
    (y,) = sl.read_model(write(tmp_path, tensors, [Op("FLOOR_MOD", "a c", "y")], inputs="a c")).outputs.values()
    assert y.body is not None
    assert y.body.function is None


def test_products_of_sizes_of_segments_are_expressions(tmp_path: Path) -> None:
    """As converters write the reshape before a product over several axes."""
    tensors = [
        T("x", (None, None, 2, 8)), T("s", (4,), np.int32), const("ids", [0, 1, 2, 2], np.int32),
        const("n", 3, np.int32), T("t", (3,), np.int32), T("y", (None, None, 16)),
    ]  # fmt: skip
    operators = [
        Op("SHAPE", "x", "s", {"out_type": np.int32}),
        Op("UNSORTED_SEGMENT_PROD", "s ids n", "t"),
        Op("RESHAPE", "x t", "y"),
    ]
    (y,) = sl.read_model(write(tmp_path, tensors, operators)).outputs.values()
    assert [str(n) for n in y.shape] == ["x.0", "x.1", "16"]
