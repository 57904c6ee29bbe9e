"""Nodes beside the standard's schemas: what does not follow them is a typed error that names the node."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import symlayout as sl
from symlayout.models.model import Unshaped
from symlayout.models.onnx_nodes.schemas import schema_of

Array = np.ndarray[Any, Any]


def written(
    path: Path,
    op: str,
    opset: int,
    inputs: Sequence[Any],
    attributes: dict[str, Any] | None = None,
    outputs: int = 1,
    constants: Sequence[int] = (),
) -> Path:
    """Write a model of one node; an input is a shape of float32, an array, or None for one that is left out."""
    names, values, known = [], [], []
    for k, x in enumerate(inputs):
        names.append("" if x is None else f"x{k}")
        if isinstance(x, np.ndarray) and k in constants:
            known.append(numpy_helper.from_array(x, f"x{k}"))
        elif x is not None:
            kind = helper.np_dtype_to_tensor_dtype(x.dtype) if isinstance(x, np.ndarray) else TensorProto.FLOAT
            values.append(
                helper.make_tensor_value_info(f"x{k}", kind, x.shape if isinstance(x, np.ndarray) else list(x))
            )
    results = [f"y{k}" for k in range(outputs)]
    node = helper.make_node(op, names, results, name="it", **(attributes or {}))
    graph = helper.make_graph([node], "g", values, [helper.make_empty_tensor_value_info(r) for r in results], known)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    path.write_bytes(model.SerializeToString())
    return path


def ints(*values: int, dtype: str = "int64") -> Array:
    return np.array(values, dtype)


def f32(values: Any) -> Array:
    return np.array(values, np.float32)


def f16(values: Any) -> Array:
    return np.array(values, np.float16)


def i8(values: Any) -> Array:
    return np.array(values, np.int8)


X, M = ("N", 4, 8, 8), ("N", "C")
ATTENTION = [("B", 4, "S", 8), ("B", 4, "T", 8), ("B", 4, "T", 8)]
WRONG: dict[str, tuple[str, int, list[Any], dict[str, Any], int]] = {
    "a sequence is not made": ("SequenceInsert", 11, [], {}, 1),
    "an element of no sequence": ("SequenceAt", 11, [], {}, 1),
    "no sequence to join": ("ConcatFromSequence", 11, [], {"axis": 0}, 1),
    "a tensor is no sequence": ("SequenceAt", 11, [M, ints(0)], {}, 1),
    "a term of a sum is left out": ("Sum", 13, [M, None, M], {}, 1),
    "a term of a mean is left out": ("Mean", 13, [None], {}, 1),
    "a first operand is left out": ("Min", 13, [None, M], {}, 1),
    "a last operand is left out": ("Max", 13, [M, None], {}, 1),
    "a condition is left out": ("Compress", 11, [M, None], {}, 1),
    "Celu of two": ("Celu", 12, [M, M], {}, 1),
    "LeakyRelu of two": ("LeakyRelu", 16, [M, M], {}, 1),
    "IsInf of two": ("IsInf", 20, [M, M], {}, 1),
    "TopK of three": ("TopK", 11, [M, ints(1), M], {}, 2),
    "a range without a step": ("Range", 11, [np.zeros((), np.int64), np.ones((), np.int64)], {}, 1),
    "a range of bfloat16": (
        "Range", 11, [np.zeros((), helper.tensor_dtype_to_np_dtype(TensorProto.BFLOAT16))] * 3, {}, 1),
    "no groups": ("GroupNormalization", 21, [X, (4,), (4,)], {"num_groups": 0}, 1),
    "no heads": ("Attention", 23, [("B", "S", 8)] * 3, {"q_num_heads": 0, "kv_num_heads": 0}, 1),
    "keys of low rank": ("Attention", 23, [ATTENTION[0], ("T",), ATTENTION[2]], {}, 1),
    "queries in the place of a mask": (
        "Attention", 23, [np.zeros((4, 4), bool), ATTENTION[1], ATTENTION[2], ATTENTION[0]], {}, 1),
    "no kernel": ("MaxUnpool", 11, [("N", 1, 4), np.zeros((2, 1, 4), np.int64)], {}, 1),
    "an equation with an operand that is left out": ("Einsum", 12, [M, None], {"equation": "ij,jk->ik"}, 1),
    "an output shape of 1 for two axes": (
        "ConvTranspose", 11, [("N", 2, 8, 8), (2, 3, 3, 3)], {"output_shape": [1]}, 1),
    "a scale in the place of the images": (
        "QLinearConv", 10, [np.ones((), np.float32), ints(1, dtype="uint8"), *[np.ones((), np.uint8)] * 6], {}, 1),
    "weights in the place of lengths": ("LSTM", 14, [(2, 1, 3), (1, 8, 3), (1, 8, 2), None, M], {"hidden_size": 2}, 1),
    "a window of -2 channels": ("LRN", 13, [X], {"size": -2}, 1),
    "an exponent of 3": ("LpNormalization", 22, [M], {"p": 3}, 1),
    "fmod of 2": ("Mod", 13, [ints(1), ints(2)], {"fmod": 2}, 1),
    "a mode of version 20 before it": ("GridSample", 16, [X, ("N", 5, 5, 2)], {"mode": "linear"}, 1),
    "a mode of version 16 after it": ("GridSample", 20, [X, ("N", 5, 5, 2)], {"mode": "bilinear"}, 1),
    "attributes that became inputs": ("Clip", 11, [M], {"min": 0.0, "max": 1.0}, 1),
    "axes that became an input": ("Squeeze", 13, [("N", 1)], {"axes": [1]}, 1),
    "an attribute of another type": ("Softmax", 13, [M], {"axis": 1.0}, 1),
    "an attribute that is missing": ("Concat", 13, [M, M], {}, 1),
    "an attribute of no version": ("Relu", 14, [M], {"slope": 1.0}, 1),
    "an operator that was taken away": ("Upsample", 10, [X, np.ones(4, np.float32)], {}, 1),
    "an element type of a later version": ("Relu", 13, [ints(1, dtype="int32")], {}, 1),
    "operands of two types": ("Add", 14, [M, np.ones((1, 1))], {}, 1),
    "an operator of a later version": ("Sign", 8, [M], {}, 1),
    "an operator of a later version, which runtimes had otherwise": (
        "MeanVarianceNormalization", 8, [X], {"axes": [0]}, 1),
    "scales along axis 1 of a vector": ("QuantizeLinear", 13, [(3,), (3,), np.zeros(3, np.uint8)], {}, 1),
    "scales back along axis 1 of a vector": (
        "DequantizeLinear", 19, [np.zeros(3, np.uint8), (3,), np.zeros(3, np.uint8)], {}, 1),
    "a type beside a zero point of another": (
        "QuantizeLinear", 21, [(3,), (), np.zeros((), np.uint8)], {"output_dtype": TensorProto.INT8}, 1),
    "other heads than those of rank 4": ("Attention", 23, ATTENTION, {"kv_num_heads": 1}, 1),
    "sequences along an axis after the second": (
        "ReverseSequence", 10, [(2, 3, 4), ints(1, 1, 1, 1)], {"batch_axis": 2}, 1),
    "sequences along an axis from the end": (
        "ReverseSequence", 10, [(2, 3), ints(1, 1)], {"batch_axis": -2, "time_axis": 1}, 1),
    "outputs that it does not have": ("MaxPool", 12, [X], {"kernel_shape": [2, 2]}, 3),
    "a cell without enough activations": (
        "GRU", 14, [(2, 1, 3), (2, 6, 3), (2, 6, 2)],
        {"hidden_size": 2, "direction": "bidirectional", "activations": ["Sigmoid", "Tanh"]}, 1),
}  # fmt: skip
"""onnxruntime 1.32 refuses each of these, or ends its process (the sums without an operand)."""


@pytest.mark.parametrize("case", WRONG)
def test_a_node_that_does_not_follow_its_schema_is_refused_by_name(tmp_path: Path, case: str) -> None:
    op, opset, inputs, attributes, outputs = WRONG[case]
    with pytest.raises((sl.FormatError, sl.ShapeError)) as caught:
        sl.read_model(written(tmp_path / "m.onnx", op, opset, inputs, attributes, outputs))
    assert f"in: node 'it', {op}" in "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])


RUN: dict[str, tuple[str, int, list[Any], dict[str, Any], int]] = {
    "keepdims of 2": ("ReduceSum", 13, [M], {"keepdims": 2}, 1),
    "a transpose of 2": ("Gemm", 13, [(2, 3), (2, 3)], {"transA": 2}, 1),
    "axes twice": ("ReduceSum", 11, [(2, 3)], {"axes": [1, 1]}, 1),
    "a condition that is too long": ("Compress", 11, [(3, 2), np.ones(5, bool)], {"axis": 0}, 1),
    "the exponent 0": ("GlobalLpPool", 2, [X], {"p": 0}, 1),
    "an attribute that a runtime keeps for itself": ("Relu", 14, [M], {"__layout": 1}, 1),
    "an operator that runtimes had first": ("LayerNormalization", 11, [(2, 3), (3,)], {}, 1),
    "one scale beside an axis that is not there": (
        "QuantizeLinear",
        19,
        [(2, 3), (1,), ints(0, dtype="uint8")],
        {"axis": 7},
        1,
    ),
    "the heads of rank 4": ("Attention", 23, [(2, 4, 3, 8)] * 3, {"q_num_heads": 4, "kv_num_heads": 4}, 1),
    "groups by version 18": ("GroupNormalization", 18, [X, (2,), (2,)], {"num_groups": 2}, 1),
}
"""onnxruntime 1.32 runs each of these, of which the standard says nothing, or what it says was taken back."""


@pytest.mark.parametrize("case", RUN)
def test_what_a_runtime_runs_is_read(tmp_path: Path, case: str) -> None:
    op, opset, inputs, attributes, outputs = RUN[case]
    path = written(tmp_path / "m.onnx", op, opset, inputs, attributes, outputs, constants=(1,))
    assert list(sl.read_model(path).outputs) == ["y0"]


def test_a_flag_that_is_no_truth_value_leaves_the_shape_open(tmp_path: Path) -> None:
    path = written(tmp_path / "m.onnx", "Reshape", 14, [(2, 3, 4), ints(1, 0, 4, 2)], {"allowzero": -1}, constants=(1,))
    assert sl.read_model(path).outputs["y0"].rank is None  # onnx infers (1, 0, 4, 2), onnxruntime makes (1, 3, 4, 2)


@pytest.mark.parametrize(
    ("op", "opset", "inputs", "attributes"),
    [
        ("TopK", 11, [("N", 4), ints(3)], {"sorted": 0}),  # any order
        ("TopK", 11, [("N", 4), ints(3)], {"sorted": -1}),  # onnx.reference sorts, onnxruntime does not
    ],
)
def test_what_runtimes_differ_in_has_no_meaning(
    tmp_path: Path, op: str, opset: int, inputs: list[Any], attributes: dict[str, Any]
) -> None:
    path = written(tmp_path / "m.onnx", op, opset, inputs, attributes, constants=(1,))
    y = sl.read_model(path).outputs["y0"]
    body = (y.handle if isinstance(y, Unshaped) else y).body
    assert body is not None
    assert body.function is None


IMAGE = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
SPECIAL = np.array([np.inf, -np.inf, np.nan], np.float32)
BY_VERSION: dict[str, tuple[str, int, list[Any], dict[str, Any], Any]] = {
    "Resize of version 10 reads at the place itself, up where it shrinks": (
        "Resize", 10, [IMAGE, f32([1, 1, 0.5, 1.5])], {},
        [[[[0, 0, 1, 2, 2, 3], [8, 8, 9, 10, 10, 11]]]]),
    "Resize of version 10 rounds up along an axis that becomes shorter": (
        "Resize", 10, [f32([[10, 11, 12, 13, 14]]), f32([1, 0.75])], {}, [[10, 12, 13]]),
    "Upsample of version 9 rounds down": (
        "Upsample", 9, [f32([[0, 1, 2, 3]]), f32([1, 1.5])], {}, [[0, 0, 1, 2, 2, 3]]),
    "DFT of version 17 has axis 1 where none is given": (
        "DFT", 17, [f32([[[[1], [2]], [[3], [4]]]])], {},
        [[[[4, 0], [6, 0]], [[-2, 0], [-2, 0]]]]),
    "Clip of version 6 has the largest float32 as its limit": (
        "Clip", 6, [SPECIAL], {}, [3.4028234663852886e38, -3.4028234663852886e38, np.nan]),
    "Clip without a limit has the last finite number as one": (
        "Clip", 13, [SPECIAL], {}, [3.4028234663852886e38, -3.4028234663852886e38, np.nan]),
    "Softmax of version 11 is over all axes from 1 on": (
        "Hardmax", 11, [f32([[[1, 2], [4, 3]]])], {}, [[[0, 0], [1, 0]]]),
    "Hardmax of version 13 is over the last axis": (
        "Hardmax", 13, [f32([[[1, 2], [4, 3]]])], {}, [[[0, 1], [1, 0]]]),
    "the sign of NaN": ("Sign", 13, [SPECIAL], {}, [1, -1, np.nan]),
    "integers shrink as real numbers do": (
        "Shrink", 9, [ints(-2, -1, 0, 1, 2)], {"bias": 1.5, "lambd": 1.0}, [0, 0, 0, 0, 0]),
    "the determinant of narrow floats": ("Det", 22, [f16([[2, 1], [1, 3]])], {}, 5),
    "one scale has no axis": (
        "QuantizeLinear", 18, [f32([[-0.5, 1.375, 0.0]]), f32([0.625]), i8([1])], {"axis": -3},
        [[0, 3, 1]]),
}  # fmt: skip
"""What onnxruntime 1.32 computes, by opset (and ``onnx.reference``, where it has the version)."""


@pytest.mark.parametrize("case", BY_VERSION)
def test_each_version_has_its_own_meaning_and_defaults(tmp_path: Path, case: str) -> None:
    op, opset, inputs, attributes, expected = BY_VERSION[case]
    path = written(tmp_path / "m.onnx", op, opset, inputs, attributes, constants=(1, 2))
    y = sl.read_model(path).outputs["y0"]
    made = sl.interpret(y, inputs[0])
    np.testing.assert_allclose(made.astype(np.float64), np.asarray(expected, np.float64), rtol=1e-6, atol=1e-6)


def test_a_version_is_not_another_one(tmp_path: Path) -> None:
    sides = [
        written(tmp_path / "10.onnx", "Resize", 10, [(1, 1, "H", "W"), f32([1, 1, 1.5, 1.5])], constants=(1,)),
        written(
            tmp_path / "11.onnx", "Resize", 11,
            [(1, 1, "H", "W"), np.zeros(0, np.float32), f32([1, 1, 1.5, 1.5])], constants=(1, 2),
        ),
    ]  # fmt: skip
    assert sl.verify(*sides).verdict is not sl.Verdict.PROVED
    x = [("A", "B", "C", 1)]
    sides = [
        written(tmp_path / "1.onnx", "DFT", 17, x),
        written(tmp_path / "2.onnx", "DFT", 17, x, {"axis": 2}),
        written(tmp_path / "3.onnx", "DFT", 17, x, {"axis": 1}),
    ]
    assert sl.verify(sides[0], sides[1]).verdict is not sl.Verdict.PROVED
    assert sl.verify(sides[0], sides[2]).verdict is sl.Verdict.PROVED
    half = written(tmp_path / "half.onnx", "DFT", 17, [("A", 8, "C", 1)], {"onesided": 1})
    assert str(sl.read_model(half).outputs["y0"].shape) == "(A, 5, C, 2)"


def test_a_batch_normalization_of_version_9_with_all_outputs_trains(tmp_path: Path) -> None:
    inputs = [("N", 2, "H"), *[(2,)] * 4]
    plain = written(tmp_path / "1.onnx", "BatchNormalization", 9, inputs)
    trains = written(tmp_path / "5.onnx", "BatchNormalization", 9, inputs, outputs=5)
    y = sl.read_model(trains).outputs["y0"]
    assert y.body is not None
    assert y.body.function is None  # an opaque function, of the shape of the input
    assert sl.read_model(plain).outputs["y0"].shape == y.shape


def test_constants_are_computed_in_their_own_types(tmp_path: Path) -> None:
    path = written(tmp_path / "m.onnx", "Add", 14, [i8([100]), i8([100])], constants=(0, 1))
    made = sl.read_model(path).outputs["y0"]
    assert (made.dtype, sl.interpret(made).tolist()) == (np.int8, [-56])
    path = written(tmp_path / "n.onnx", "Cast", 25, [f16([1.1, 2])], {"to": TensorProto.FLOAT8E8M0}, constants=(0,))
    assert sl.interpret(sl.read_model(path).outputs["y0"]).astype(np.float32).tolist() == [2, 2]


def test_a_schema_says_what_may_be_left_out() -> None:
    clip, total = schema_of("Clip", 13, ""), schema_of("Sum", 13, "")
    assert clip is not None
    assert total is not None
    assert [i.optional for i in clip.inputs] == [False, True, True]
    assert [i.optional for i in total.inputs] == [False]
    assert schema_of("Clip", 13, "nobody") is None


@pytest.mark.parametrize(("version", "known"), [(1 << 40, 14), (-(1 << 40), None)])
def test_a_version_beyond_32_bits_is_one_of_a_later_or_of_no_standard(version: int, known: int | None) -> None:
    found = schema_of("Relu", version, "")
    assert (None if found is None else found.since) == known


@pytest.mark.parametrize(("to", "taken"), [(TensorProto.INT64, False), (TensorProto.FLOAT, True)])
def test_the_type_of_an_array_of_sizes_is_checked(to: int, taken: bool, tmp_path: Path) -> None:
    """Pad takes no integers before version 11; an array of sizes does not say its own type."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "M"])
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Cast", ["s"], ["c"], to=to),
        helper.make_node("Pad", ["c"], ["y"], name="it", pads=[0, 1], mode="constant"),
    ]
    graph = helper.make_graph(nodes, "g", [x], [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 10)], ir_version=9)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    if taken:
        assert sl.read_model(tmp_path / "m.onnx").outputs["y"].shape == (3,)
    else:
        with pytest.raises(sl.FormatError, match=r"is a tensor\(int64\), which Pad does not take"):
            sl.read_model(tmp_path / "m.onnx")


@pytest.mark.parametrize(("parts", "outputs"), [(3, 4), (4, 3), (3, 3)])
def test_a_node_whose_outputs_vary_has_all_of_them(parts: int, outputs: int, tmp_path: Path) -> None:
    """The package's own inference ends the process for a fourth output of three parts."""
    path = written(tmp_path / "m.onnx", "Split", 18, [(12,)], {"num_outputs": parts}, outputs)
    if parts == outputs:
        assert sl.read_model(path).outputs["y0"].shape == (4,)
    else:
        with pytest.raises(sl.FormatError, match=f"has {outputs} outputs, its operation has {parts}"):
            sl.read_model(path)


@pytest.mark.parametrize("axis", [1 << 31, (1 << 32) - 3, -(1 << 40)])
def test_numbers_beyond_32_bits_are_kept_from_the_inference_of_the_package(axis: int, tmp_path: Path) -> None:
    """It ends the process: it cuts them off, and then takes the axis for one that is there."""
    node = helper.make_node("LayerNormalization", ["x", "scale"], ["y", "mean"], axis=axis)
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", [2, 3]), ("scale", None))]
    graph = helper.make_graph([node], "g", ends, [helper.make_empty_tensor_value_info("mean")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    assert not isinstance(sl.read_model(tmp_path / "m.onnx").outputs["mean"], sl.Tensor)


def _array(kind: Any, *shape: int) -> Any:
    return np.zeros(shape, kind)


@pytest.mark.parametrize(
    ("op", "opset", "inputs", "attributes", "text"),
    [
        ("ConstantOfShape", 20, [_array(np.int64, 2)], {"value": numpy_helper.from_array(np.zeros(2))}, "value is one"),
        ("ConstantOfShape", 20, [_array(np.int64, 2)], {"value": numpy_helper.from_array(np.zeros(0))}, "value is one"),
        ("Dropout", 13, [(2, 3), _array(np.float32, 2)], {}, "ratio is one number"),
        ("Dropout", 13, [(2, 3), _array(np.float32), _array(bool, 0)], {}, "training_mode is one number"),
        ("MelWeightMatrix", 17, [_array(np.int64, k) for k in (2, 1, 1)] + [_array(np.float32)] * 2, {}, "mel_bins is"),
        ("MelWeightMatrix", 17, [_array(np.int64)] * 3 + [_array(np.float32, 0)] * 2, {}, "lower_edge_hertz is one"),
        ("HannWindow", 17, [_array(np.int64)], {"output_datatype": 8}, "no type of numbers"),
        ("DFT", 20, [(4, 3, 1), None, _array(np.int64, 0)], {}, "axis is one number"),
        ("STFT", 17, [(2, 9, 1), _array(np.int64, 4)], {}, "frame_step is one number"),
        ("ReduceSum", 13, [(2, 3), _array(np.int64)], {}, "axes is 0, it has to be a list"),
    ],
)
def test_constants_of_another_rank_are_refused_by_their_name(
    op: str, opset: int, inputs: list[Any], attributes: dict[str, Any], text: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "m.onnx", op, opset, inputs, attributes, constants=range(9))
    with pytest.raises(sl.SymlayoutError, match=text):
        sl.read_model(path)


def test_exponents_of_version_1_are_floats(tmp_path: Path) -> None:
    path = written(tmp_path / "m.onnx", "GlobalLpPool", 1, [(2, 3, 4, 5)], {"p": 2.0})
    assert sl.read_model(path).outputs["y0"].shape == (2, 3, 1, 1)
    path = written(tmp_path / "m.onnx", "GlobalLpPool", 1, [(2, 3, 4, 5)], {"p": 2.5})
    assert not isinstance(made := sl.read_model(path).outputs["y0"], sl.Tensor) or made.computes


def test_scores_without_classes_bound_no_number_of_boxes(tmp_path: Path) -> None:
    """The row does not see the node: a rank is not known."""
    node = helper.make_node("NonMaxSuppression", ["boxes", "scores", "most"], ["y"])
    kinds = (
        ("boxes", TensorProto.FLOAT, [2, 5, 4]),
        ("scores", TensorProto.FLOAT, [2]),
        ("most", TensorProto.INT64, None),
    )
    ends = [helper.make_tensor_value_info(*kind) for kind in kinds]
    graph = helper.make_graph([node], "g", ends, [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=10)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    assert sl.read_model(tmp_path / "m.onnx").outputs["y"].dtype == np.int64


@pytest.mark.parametrize("shape", [(1 << 40, 0), (1 << 31, 1 << 30, 0)])
def test_an_empty_constant_with_long_axes_is_not_computed(shape: tuple[int, ...], tmp_path: Path) -> None:
    path = written(tmp_path / "m.onnx", "ConstantOfShape", 20, [np.array(shape)], constants=[0])
    assert sl.read_model(path).outputs["y0"].shape == shape
