"""What is the frameworks' own: names, defaults, ranks, unknown attributes, and how their modes coincide."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.frontends import is_joint, names
from symlayout.tensors.computation import constant
from tests.frontends.calls import MOVEMENT, C, H, N, W, kind_of

MODULES = {
    "openvino": sl.openvino,
    "tensorflow": sl.tensorflow,
    "onnx": sl.onnx,
    "torch": sl.torch,
}

CATALOGUE = {
    "openvino": "BatchToSpace-2 Broadcast-3 Concat-1 DepthToSpace-1 Pad-12 Reshape-1 Roll-7 ShuffleChannels-1 Slice-8 "
    "SpaceToBatch-2 SpaceToDepth-1 Split-1 Squeeze-1 Tile-1 Transpose-1 Unsqueeze-1",
    "tensorflow": "BatchToSpace BatchToSpaceND BroadcastTo ConcatV2 DepthToSpace MirrorPad Pad PadV2 Reshape ReverseV2 "
    "Roll Slice SpaceToBatch SpaceToBatchND SpaceToDepth StridedSlice Tile Transpose",
    "onnx": "Concat DepthToSpace Expand Flatten Identity Pad Reshape Slice SpaceToDepth Split Squeeze Tile Transpose "
    "Unsqueeze",
    "torch": "channel_shuffle flip pad permute pixel_shuffle pixel_unshuffle reshape roll tile unfold",
}


def test_the_registry_has_the_catalogue() -> None:
    expected = {f"{framework}:{name}" for framework, titles in CATALOGUE.items() for name in titles.split()}
    assert set(MOVEMENT) == expected
    assert list(names()) == sorted(names())


@pytest.mark.parametrize("name", [*MOVEMENT, *(n for n in names() if n.startswith("onnx:") and "-" not in n)])
def test_each_operation_is_a_function_of_its_framework_in_snake_case(name: str) -> None:
    framework, _, title = name.partition(":")
    base = title.partition("-")[0].rpartition(".")[2]  # without a domain
    words = "".join(f"_{c}" if c.isupper() and not base[i - 1].isupper() else c for i, c in enumerate(base))
    assert getattr(MODULES[framework], words.lower().strip("_")) is sl.op(name)


@pytest.mark.parametrize(
    ("name", "defaults"),
    [
        ("openvino:SpaceToDepth-1", {"block_size": 1}),
        ("openvino:DepthToSpace-1", {"block_size": 1}),
        ("onnx:DepthToSpace", {"mode": "DCR"}),
        ("tensorflow:SpaceToDepth", {"data_format": "NHWC"}),
        ("tensorflow:DepthToSpace", {"data_format": "NHWC"}),
        ("tensorflow:SpaceToBatchND", {}),
        ("torch:pixel_shuffle", {}),
        ("openvino:Pad-12", {"pad_value": 0}),
        ("openvino:Broadcast-3", {"axes_mapping": None, "mode": "numpy"}),
        ("openvino:ShuffleChannels-1", {"axis": 1, "group": 1}),
        ("onnx:Reshape", {"allowzero": 0}),
        ("onnx:Pad", {"constant_value": None, "axes": None, "mode": "constant"}),
        ("onnx:Flatten", {"axis": 1}),
        ("torch:pad", {"mode": "constant", "value": None}),
    ],
)
def test_defaults_are_those_of_the_specification(name: str, defaults: dict[str, Any]) -> None:
    parameters = inspect.signature(sl.op(name)).parameters.values()
    assert {p.name: p.default for p in parameters if p.default is not p.empty} == defaults


def test_an_unknown_name_is_an_error_that_lists_the_nearest() -> None:
    with pytest.raises(sl.UnknownOpError) as caught:
        sl.op("openvino:BatchToSpace")
    assert str(caught.value) == (
        "no operation is called 'openvino:BatchToSpace'\n"
        "  help: the nearest are openvino:BatchToSpace-2, openvino:DepthToSpace-1, tensorflow:BatchToSpace"
    )


@pytest.mark.parametrize("name", ["", "x" * 10**6, "openvino:batchtospace-2", "\x00", None, [], 3])
def test_a_strange_name_is_unknown(name: Any) -> None:
    with pytest.raises(sl.UnknownOpError):
        sl.op(name)


def test_a_missing_and_an_unknown_attribute_are_typed_errors_and_type_errors() -> None:
    x = sl.tensor((N, C, H, W))
    with pytest.raises(sl.SymlayoutError, match="blocksize") as missing:
        sl.onnx.space_to_depth(x)  # type: ignore[call-arg]
    assert isinstance(missing.value, TypeError)
    assert kind_of(lambda: sl.op("onnx:SpaceToDepth")(x)) == "attr_missing"
    assert kind_of(lambda: sl.op("openvino:SpaceToDepth-1")(x, block_size=2)) == "attr_missing"
    assert kind_of(lambda: sl.op("onnx:SpaceToDepth")(x, blocksize=2, block=2)) == "attr_unknown"
    assert kind_of(lambda: sl.op("onnx:SpaceToDepth")(x, 2, "DCR", 3)) == "attr_unknown"


def test_a_constant_may_be_the_first_of_any_number_of_inputs() -> None:
    ones = np.ones((2, 3))
    y = sl.onnx.einsum(constant(ones), sl.tensor("3, N", name="x"), equation="ij,jk->ik")
    assert y.shape == (2, N)
    x = np.arange(6.0).reshape(3, 2)
    assert np.array_equal(sl.interpret(y, x), ones @ x)


@pytest.mark.parametrize(
    ("dtype", "numbers", "made"),
    [
        ("float32", [0.5, 2, 3], "float32"),
        ("float32", [[1], [2]], "float32"),
        ("uint8", (1, 2, 255), "uint8"),
        (None, [1, 2, 3], "int64"),
    ],
    ids=str,
)
def test_lists_of_numbers_are_constants(dtype: str | None, numbers: Any, made: str) -> None:
    y = sl.onnx.mul(sl.tensor("2, 3", dtype), numbers)
    (leaf,) = (t for t in y.graph() if t.values is not None)
    assert leaf.values is not None
    assert leaf.values.dtype == made
    assert leaf.values.tolist() == np.asarray(numbers).tolist()


@pytest.mark.parametrize("numbers", [[0.5, 2, 3], [1, 2, 256]], ids=str)
def test_numbers_that_a_type_does_not_hold_are_not_cast_to_it(numbers: Any) -> None:
    with pytest.raises(sl.SymlayoutError):
        sl.onnx.mul(sl.tensor("2, 3", "uint8"), numbers)


@pytest.mark.parametrize("value", [[[1, 2], [3]], ["a"], [None], [10**5000]], ids=["ragged", "text", "none", "huge"])
def test_other_lists_are_no_tensors(value: Any) -> None:
    with pytest.raises(TypeError, match="Mul takes a symlayout tensor, not list"):
        sl.onnx.mul(sl.tensor("2, 3", "float32"), value)


def test_an_array_is_no_tensor() -> None:
    for name in MOVEMENT:
        parameters = list(inspect.signature(sl.op(name)).parameters.values())[1:]
        lists = ("block_shape", "paddings", "crops")
        given: dict[str, Any] = {p.name: [] if p.name in lists else 2 for p in parameters if p.default is p.empty}
        if not name.startswith("onnx:") or is_joint(name):  # ONNX has constants as inputs
            with pytest.raises(TypeError, match="takes a symlayout tensor, not ndarray"):
                sl.op(name)(np.zeros((2, 2)), **given)
        with pytest.raises(TypeError, match=r"takes a (symlayout tensor|list of tensors), not"):
            sl.op(name)(sl.tensor((2, 2)) if is_joint(name) else [sl.tensor((2, 2))], **given)


@pytest.mark.parametrize(
    ("ranks", "call"),
    [
        ({2, 3, 4, 5, 6}, lambda x: sl.openvino.space_to_batch(x, [1] * x.rank, [0] * x.rank, [0] * x.rank)),
        ({2, 3, 4, 5, 6}, lambda x: sl.openvino.batch_to_space(x, [1] * x.rank, [0] * x.rank, [0] * x.rank)),
        ({3, 4, 5, 6}, lambda x: sl.openvino.space_to_depth(x, "blocks_first")),
        ({3, 4, 5, 6}, lambda x: sl.openvino.depth_to_space(x, "depth_first", 1)),
        ({1, 2, 3, 4, 5, 6}, lambda x: sl.tensorflow.space_to_batch_nd(x, [], [])),
        ({1, 2, 3, 4, 5, 6}, lambda x: sl.tensorflow.batch_to_space_nd(x, [], [])),
        ({3, 4, 5, 6}, lambda x: sl.tensorflow.batch_to_space_nd(x, [1, 1], [[0, 0], [0, 0]])),
        ({4}, lambda x: sl.tensorflow.space_to_batch(x, [[0, 0], [0, 0]], 2)),
        ({4}, lambda x: sl.tensorflow.batch_to_space(x, [[0, 0], [0, 0]], 2)),
        ({4}, lambda x: sl.tensorflow.space_to_depth(x, 2)),
        ({4}, lambda x: sl.tensorflow.depth_to_space(x, 2, "NCHW")),
        ({5}, lambda x: sl.tensorflow.depth_to_space(x, 2, "NCHW_VECT_C")),
        ({4}, lambda x: sl.onnx.space_to_depth(x, 2)),
        ({4}, lambda x: sl.onnx.depth_to_space(x, 2)),
        ({3, 4, 5, 6}, lambda x: sl.torch.pixel_shuffle(x, 2)),
        ({3, 4, 5, 6}, lambda x: sl.torch.pixel_unshuffle(x, 2)),
    ],
)
def test_each_framework_has_its_own_ranks(ranks: set[int], call: Any) -> None:
    for rank in range(7):
        x = sl.tensor((4,) * rank)
        if rank in ranks:
            assert call(x).rank == rank
        else:
            assert kind_of(lambda x=x: call(x)) == "rank"


def test_a_tensorflow_data_format_says_which_axes() -> None:
    d = sl.dim("d")
    assert sl.tensorflow.depth_to_space(sl.tensor((N, H, W, 4 * d)), 2).shape == (N, 2 * H, 2 * W, d)
    assert sl.tensorflow.depth_to_space(sl.tensor((N, 4 * d, H, W)), 2, "NCHW").shape == (N, d, 2 * H, 2 * W)
    vectors = sl.tensorflow.depth_to_space(sl.tensor((N, 4 * d, H, W, 4)), 2, "NCHW_VECT_C")
    assert vectors.shape == (N, d, 2 * H, 2 * W, 4)
    strange: list[Any] = ["nhwc", "NDHWC", "", None, 3, []]
    for wrong in strange:
        with pytest.raises(sl.ShapeError) as caught:
            sl.tensorflow.space_to_depth(sl.tensor((4, 4, 4, 4)), 2, wrong)
        assert caught.value.kind == "bad_format"
    assert kind_of(lambda: sl.tensorflow.space_to_depth(sl.tensor((1, 4, 4, 4, 3)), 2, "NCHW_VECT_C")) == (
        "size_mismatch"
    )


def test_vectors_of_four_channels_move_as_their_channels_do() -> None:
    """NCHW_VECT_C holds channel ``4*i + j`` at ``[:, i, :, :, j]``: both layouts give the same channels."""
    x = np.arange(2 * 8 * 4 * 6).reshape(2, 8, 4, 6)
    packed = x.reshape(2, 2, 4, 4, 6).transpose(0, 1, 3, 4, 2)
    y = sl.interpret(sl.tensorflow.space_to_depth(sl.tensor(x.shape), 2, "NCHW"), x)
    z = sl.interpret(sl.tensorflow.space_to_depth(sl.tensor(packed.shape), 2, "NCHW_VECT_C"), packed)
    assert np.array_equal(z.transpose(0, 1, 4, 2, 3).reshape(y.shape), y)


@pytest.mark.parametrize(
    "block",
    [
        [1, 2, 3],
        (1, 2, 3),
        np.array([1, 2, 3], "u1"),
        np.array([1, 2, 3], ">i8"),
        [np.int8(1), np.uint64(2), np.array(3)],
        range(1, 4),
    ],
    ids=repr,
)
def test_integers_of_any_type_are_taken_exactly(block: Any) -> None:
    assert sl.openvino.batch_to_space(sl.tensor((12, 2, 3)), block, [0] * 3, [0] * 3).shape == (2, 4, 9)


@pytest.mark.parametrize(
    "block",
    [
        [1, 2.0, 2],
        [True, 2, 2],
        [1, True, 2],
        [1, "2", 2],
        [1, np.float32(2), 2],
        np.array([1.0, 2.0, 2.0]),
        np.array([True, True, True]),
        np.array([1, 2, 2], "c8"),
        [1, 2, np.bool_(True)],
        pytest.param([1, object(), 2], id="[1, an object, 2]"),
        [1, H / 2 + 0.5, 2],
    ],
    ids=repr,
)
def test_what_is_no_integer_is_refused(block: Any) -> None:
    x = sl.tensor((4, 4, 4))
    assert kind_of(lambda: sl.openvino.space_to_batch(x, block, [0] * 3, [0] * 3)) == "attr_dtype"


@pytest.mark.parametrize("block", [[], [1], [1, 2, 2, 1], 2, "1,2,2", [[1, 2, 2]], [1, [2], 2], np.ones((3, 1), int)])
def test_what_is_no_list_of_one_per_axis_is_refused(block: Any) -> None:
    x = sl.tensor((4, 4, 4))
    assert kind_of(lambda: sl.openvino.space_to_batch(x, block, [0] * 3, [0] * 3)) == "length_mismatch"


@pytest.mark.parametrize("pads", [0, [0, 0], [[0], [0]], [[0, 0, 0]] * 2, [[0, 0]], [[0, 0]] * 3, [[[0, 0]] * 2]])
def test_what_is_no_list_of_pairs_is_refused(pads: Any) -> None:
    x = sl.tensor((4, 4, 4))
    assert kind_of(lambda: sl.tensorflow.space_to_batch_nd(x, [2, 2], pads)) == "length_mismatch"
    assert kind_of(lambda: sl.tensorflow.batch_to_space_nd(x, [2, 2], pads)) == "length_mismatch"


def test_a_block_size_is_one_integer() -> None:
    x = sl.tensor((4, 4, 4, 4))
    assert kind_of(lambda: sl.onnx.space_to_depth(x, [2, 2])) == "length_mismatch"
    assert kind_of(lambda: sl.torch.pixel_shuffle(x, 2.0)) == "attr_dtype"
    assert sl.torch.pixel_shuffle(x, np.int64(2)).shape == (4, 1, 8, 8)


@pytest.mark.parametrize(
    ("entries", "kind"),
    [
        (([2, 2], [0, 0], [0, 0]), "batch_block_not_one"),
        (([0, 2], [0, 0], [0, 0]), "block_lt_1"),
        (([1, 0], [0, 0], [0, 0]), "block_lt_1"),
        (([1, 2], [1, 0], [0, 0]), "batch_pad_nonzero"),
        (([1, 2], [0, 0], [2, 0]), "batch_pad_nonzero"),
        (([1, 2], [-1, 0], [0, 0]), "negative_pad"),
        (([1, 2], [0, -1], [0, 1]), "negative_pad"),
        (([sl.dim("b", min=1), 2], [0, 0], [0, 0]), "batch_block_not_one"),
    ],
    ids=repr,
)
def test_the_batch_of_openvino_has_neither_block_nor_pads(entries: Any, kind: str) -> None:
    assert kind_of(lambda: sl.openvino.space_to_batch(sl.tensor((4, 4)), *entries)) == kind
    crop = kind.replace("pad", "crop")
    assert kind_of(lambda: sl.openvino.batch_to_space(sl.tensor((4, 4)), *entries)) == crop


@pytest.mark.parametrize("block", [-1, 0, 1])
def test_the_older_operations_of_tensorflow_take_a_block_from_two(block: int) -> None:
    kind = "block_lt_2" if block == 1 else "block_lt_1"
    x = sl.tensor((4, 4, 4, 4))
    none = [[0, 0], [0, 0]]
    assert kind_of(lambda: sl.tensorflow.space_to_batch(x, none, block)) == kind
    assert kind_of(lambda: sl.tensorflow.batch_to_space(x, none, block)) == kind
    assert kind_of(lambda: sl.tensorflow.space_to_depth(x, block)) == kind
    assert kind_of(lambda: sl.tensorflow.depth_to_space(x, block)) == kind


def test_a_dim_is_a_block_of_the_older_operations_if_it_cannot_be_one() -> None:
    x = sl.tensor((N, H, W, C))
    b, one = sl.dim("b", min=2), sl.dim("one", min=1)
    assert sl.tensorflow.space_to_depth(x, b).shape == (N, H / b, W / b, C * b**2)
    assert sl.tensorflow.space_to_depth(x, 2 * one).rank == 4
    assert kind_of(lambda: sl.tensorflow.space_to_depth(x, one)) == "block_lt_2"


def test_unknown_attributes_are_dims_within_the_range_of_the_specification() -> None:
    x = sl.tensor((6, 4, 4))
    y = sl.openvino.space_to_batch(x, None, [0, None, 1], None)
    assert y.bounds() == [(6, None), (1, None), (1, None)]
    same = sl.openvino.space_to_batch(x, [None, None, 2], [None, 0, 0], [0, 0, 0])
    assert same.bounds() == [(12, 48), (1, 4), (2, 2)]
    z = sl.tensorflow.batch_to_space_nd(sl.tensor((8, 4, 4)), [2, 2], None)
    assert z.bounds() == [(2, 2), (0, 8), (0, 8)]
    w = sl.tensorflow.batch_to_space_nd(sl.tensor((8, 4, 4)), None, [[0, 0], [3, 0]])
    assert w.bounds()[1][0] == 4
    assert sl.onnx.space_to_depth(sl.tensor((1, 1, 4, 6)), None).bounds() == [(1, 1), (1, 4), (2, 4), (3, 6)]


def test_block_and_pairs_cannot_both_be_unknown_where_the_rank_says_nothing() -> None:
    assert kind_of(lambda: sl.tensorflow.space_to_batch_nd(sl.tensor((4, 4)), None, None)) == "length_mismatch"


def test_the_modes_of_the_frameworks_coincide_as_their_documents_say() -> None:
    x = sl.tensor((N, 4 * C, H, W), name="x")
    to_nhwc = (0, 2, 3, 1)
    dcr = sl.onnx.depth_to_space(x, 2)
    crd = sl.onnx.depth_to_space(x, 2, "CRD")
    same = [
        (dcr, sl.openvino.depth_to_space(x, "blocks_first", 2)),
        (dcr, sl.tensorflow.depth_to_space(x, 2, "NCHW")),
        (sl.transpose(dcr, to_nhwc), sl.tensorflow.depth_to_space(sl.transpose(x, to_nhwc), 2)),
        (crd, sl.openvino.depth_to_space(x, "depth_first", 2)),
        (crd, sl.torch.pixel_shuffle(x, 2)),
    ]
    for left, right in same:
        assert sl.prove_equal(left, right).verdict is sl.Verdict.PROVED
    assert sl.prove_equal(dcr, crd).verdict is sl.Verdict.REFUTED


def test_each_pair_of_operations_is_inverse() -> None:
    x = sl.tensor((N, C, 2 * H, 2 * W), name="x")
    block, begin, end = [1, 1, 2, 2], [0, 0, 1, 2], [0, 0, 1, 0]
    round_trips = [
        sl.onnx.depth_to_space(sl.onnx.space_to_depth(x, 2), 2),
        sl.torch.pixel_shuffle(sl.torch.pixel_unshuffle(x, 2), 2),
        sl.openvino.depth_to_space(sl.openvino.space_to_depth(x, "depth_first", 2), "depth_first", 2),
        sl.openvino.batch_to_space(sl.openvino.space_to_batch(x, block, begin, end), block, begin, end),
    ]
    for y in round_trips:
        assert y.shape == x.shape
        assert sl.prove_equal(y, x).verdict is sl.Verdict.PROVED


@pytest.mark.parametrize(
    ("y", "shape"),
    [
        (lambda: sl.torch.pixel_shuffle(sl.tensor("b, 8, h, w"), 2), "(b, 2, 2*h, 2*w)"),
        (lambda: sl.torch.pixel_shuffle(sl.tensor("2, c, 3, 5"), 2), "(2, c/4, 6, 10)"),
        (lambda: sl.torch.pixel_unshuffle(sl.tensor("2, 8, h, 6"), 2), "(2, 32, h/2, 3)"),
        (lambda: sl.torch.pixel_unshuffle(sl.tensor("2, 8, 2*h, 6"), 2), "(2, 32, h, 3)"),
        (lambda: sl.torch.pixel_unshuffle(sl.tensor("b, 8, h, 6"), 2), "(b, 32, h/2, 3)"),
        (
            lambda: sl.tensorflow.batch_to_space_nd(sl.tensor("b, h, w, c"), [2, 3], [[0, 0]] * 2),
            "(b/6, 2*h, 3*w, c)",
        ),
        (
            lambda: sl.tensorflow.batch_to_space_nd(sl.tensor("6*b, h, w, c"), [2, 3], [[0, 0]] * 2),
            "(b, 2*h, 3*w, c)",
        ),
        (lambda: sl.tensorflow.space_to_depth(sl.tensor("b, h, w, c"), 2), "(b, h/2, w/2, 4*c)"),
        (lambda: sl.tensorflow.space_to_depth(sl.tensor("b, 2*h, 2*w, c"), 2), "(b, h, w, 4*c)"),
        (lambda: sl.onnx.space_to_depth(sl.tensor("N, C, H, 6"), 2), "(N, 4*C, H/2, 3)"),
        (lambda: sl.onnx.space_to_depth(sl.tensor("N, C, H, 6"), 1), "(N, C, H, 6)"),
    ],
)  # the inputs of conformance/symbolic.json, where torch.export, JAX and ONNX lose or blow up some of these
def test_symbolic_shapes_stay_exact(y: Any, shape: str) -> None:
    assert str(y().shape) == shape
