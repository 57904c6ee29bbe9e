"""Random shapes and attributes for each operation of the catalogue, most of them valid."""

from __future__ import annotations

import random
from dataclasses import replace

from symlayout.frontends import is_joint
from tests.peers.case import Case, blurred, disturbed
from tests.peers.draw_blocks import depth, openvino_blocks, tensorflow_blocks
from tests.peers.draw_bounds import (
    onnx_pad,
    openvino_pad,
    sliced,
    strided_slice,
    tensorflow_pad,
    tensorflow_slice,
    torch_pad,
)
from tests.peers.draw_shapes import (
    broadcast,
    flattened,
    in_groups,
    joined,
    onnx_split,
    openvino_broadcast,
    permuted,
    repeated,
    reshaped,
    reversed_along,
    rolled,
    squeezed,
    unchanged,
    unsqueezed,
    windows,
)
from tests.peers.extents import Draw

DTYPES = {
    "onnx": ("float32", "float32", "int64", "int32", "uint8", "float64", "bool", "int8", "float16"),
    "openvino": ("float32", "float32", "int32", "uint8", "int8", "float16", "bool"),  # int64 is computed in int32
    "tensorflow": ("float32", "float32", "int64", "int32", "uint8", "float64", "int8", "int16", "float16", "complex64"),
    "torch": ("float32", "float32", "int64", "int32", "uint8", "float64", "bool", "int8", "int16", "complex64"),
}


def drawn(op: str, number: int) -> Case:
    """Return case *number* of an operation: valid if it is even, disturbed if it is odd."""
    rng = random.Random(f"{op}:{number}")
    shapes, attributes = DRAWS[op](rng)
    joint = is_joint(op)
    case = Case(
        op,
        tuple(map(tuple, shapes)) if joint else (tuple(shapes),),
        attributes,
        rng.choice(DTYPES[op.partition(":")[0]]),
        number,
        joint,
    )
    if number % 2:
        case = disturbed(rng, case)
    return replace(case, known=blurred(rng, case.shapes))


MODES = ("blocks_first", "depth_first")
FORMATS = ("NHWC", "NHWC", "NCHW", "NCHW_VECT_C")
DRAWS: dict[str, Draw] = {
    "onnx:Concat": joined,
    "onnx:DepthToSpace": depth("blocksize", deep=True, mode=("DCR", "CRD")),
    "onnx:Expand": broadcast("shape", both=True),
    "onnx:Flatten": flattened,
    "onnx:Identity": unchanged,
    "onnx:Pad": onnx_pad,
    "onnx:Reshape": reshaped("allowzero", 0, 0, 1),
    "onnx:Slice": sliced("starts", "ends", "steps", "axes", step_last=True),
    "onnx:SpaceToDepth": depth("blocksize", deep=False),
    "onnx:Split": onnx_split,
    "onnx:Squeeze": squeezed,
    "onnx:Tile": repeated("repeats", 0),
    "onnx:Transpose": permuted("perm", optional=True),
    "onnx:Unsqueeze": unsqueezed,
    "openvino:BatchToSpace-2": openvino_blocks("crops"),
    "openvino:Broadcast-3": openvino_broadcast,
    "openvino:Concat-1": joined,
    "openvino:DepthToSpace-1": depth("block_size", deep=True, axes=(1, 2, 3), mode=MODES),
    "openvino:Pad-12": openvino_pad,
    "openvino:Reshape-1": reshaped("special_zero", True, False),
    "openvino:Roll-7": rolled("shift", "axes", scalar=True),
    "openvino:ShuffleChannels-1": in_groups(1, "group", "axis"),
    "openvino:Slice-8": sliced("start", "stop", "step", "axes", step_last=False),
    "openvino:SpaceToBatch-2": openvino_blocks("pads"),
    "openvino:SpaceToDepth-1": depth("block_size", deep=False, axes=(1, 2, 3), mode=MODES),
    "openvino:Split-1": in_groups(1, "num_splits", "axis"),
    "openvino:Squeeze-1": squeezed,
    "openvino:Tile-1": repeated("repeats", -1, 0, 0, 1),
    "openvino:Transpose-1": permuted("input_order"),
    "openvino:Unsqueeze-1": unsqueezed,
    "tensorflow:BatchToSpace": tensorflow_blocks("crops", square=True),
    "tensorflow:BatchToSpaceND": tensorflow_blocks("crops"),
    "tensorflow:BroadcastTo": broadcast("shape", both=False),
    "tensorflow:ConcatV2": joined,
    "tensorflow:DepthToSpace": depth("block_size", deep=True, least=2, data_format=FORMATS),
    "tensorflow:MirrorPad": tensorflow_pad("mode", "REFLECT", "SYMMETRIC"),
    "tensorflow:Pad": tensorflow_pad(),
    "tensorflow:PadV2": tensorflow_pad("constant_values"),
    "tensorflow:Reshape": reshaped(),
    "tensorflow:ReverseV2": reversed_along("axis"),
    "tensorflow:Roll": rolled("shift", "axis", scalar=True),
    "tensorflow:Slice": tensorflow_slice,
    "tensorflow:SpaceToBatch": tensorflow_blocks("paddings", square=True),
    "tensorflow:SpaceToBatchND": tensorflow_blocks("paddings"),
    "tensorflow:SpaceToDepth": depth("block_size", deep=False, least=2, data_format=FORMATS),
    "tensorflow:StridedSlice": strided_slice,
    "tensorflow:Tile": repeated("multiples", 0),
    "tensorflow:Transpose": permuted("perm", negative=True),
    "torch:channel_shuffle": in_groups(3, "groups"),
    "torch:flip": reversed_along("dims"),
    "torch:pad": torch_pad,
    "torch:permute": permuted("dims", negative=True),
    "torch:pixel_shuffle": depth("upscale_factor", deep=True, more=1),
    "torch:pixel_unshuffle": depth("downscale_factor", deep=False, more=1),
    "torch:reshape": reshaped(),
    "torch:roll": rolled("shifts", "dims", scalar=True),
    "torch:tile": repeated("dims", -2, -1, 0, 1),
    "torch:unfold": windows,
}
