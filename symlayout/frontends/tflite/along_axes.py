"""TensorFlow Lite's reductions, and what it computes along an axis."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from symlayout.compute import along_axis, reductions
from symlayout.compute.demands import demanding
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx import indexing
from symlayout.frontends.onnx import reductions as onnx
from symlayout.frontends.onnx.elementwise import apply
from symlayout.frontends.onnx.operator import as_tensor, known, known_number, operator
from symlayout.frontends.onnx.types import cast_to, dequantize_linear
from symlayout.frontends.openvino.along_axes import cum_sum as summed
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import NotDeclaredError
from symlayout.ops.concatenate import stack
from symlayout.ops.take import take
from symlayout.tensors.chain import Tensor

_KINDS = "rank, bad_axis, attr_dtype"
_ABOUT = {
    "axes": "Negative ones count from the end; no axis is no reduction.",
    "axis": "Negative ones count from the end.",
    "beta": "The factor of the exponents.",
    "exclusive": "Whether a sum leaves its own element out.",
    "k": "How many: a constant.",
    "keep_dims": "Whether the axes stay, with extent 1.",
    "output_type": "The element type of the positions, by NumPy's name.",
    "reverse": "Whether to begin at the end.",
}

_MOST_SEGMENTS = 1 << 12

ROWS: dict[str, tuple[Callable[..., Any], bool]] = {
    "MEAN": (reductions.mean, False),
    "REDUCE_ALL": (reductions.least, True),
    "REDUCE_ANY": (reductions.greatest, True),
    "REDUCE_MAX": (reductions.greatest, True),
    "REDUCE_MIN": (reductions.least, True),
    "REDUCE_PROD": (reductions.product, False),
    "SUM": (reductions.total, False),
}


def _registered(name: str, function: Callable[..., Any], exact: bool) -> Callable[..., Tensor]:
    def applied(input: Tensor, axes: Any, keep_dims: Any = False) -> Tensor:
        given = known("axes", axes).reshape(-1) if hasattr(axes, "shape") else axes
        along = list(dict.fromkeys(n % input.rank if -input.rank <= n < input.rank else n
                                   for n in attributes.constants("axes", given)))  # fmt: skip
        along = attributes.axes("axes", along, input.rank)
        if not along:
            return input
        return reductions.reduced(input, along, function, keepdims=attributes.flag("keep_dims", keep_dims), exact=exact)

    applied.__name__ = applied.__qualname__ = name.lower()
    meaning = (inspect.getdoc(function) or "").removeprefix("Return the ").partition(";")[0].partition(",")[0]
    applied.__doc__ = f"Return the {meaning.rstrip('.').partition(':')[0]} along *axes*."
    example = ("N, C, H", "axes=[1], keep_dims=True", "(N, 1, H)")
    return operator(f"tflite:{name}", example=example, kinds=_KINDS, about=_ABOUT)(applied)


globals().update({name.lower(): _registered(name, *row) for name, row in ROWS.items()})


def members(segment_ids: Any, num_segments: Any) -> list[list[int]]:
    """Return the places of each segment, in order.

    Raises
    ------
    ShapeError
        ``attr_dtype`` if they are no vector of constants, ``attr_range`` for an id that is no segment's: TensorFlow
        leaves an id below 0 out.
    """
    ids, count = known("segment_ids", segment_ids), int(known_number("num_segments", num_segments))
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise ShapeError(f"segment_ids are integers of rank 1, not {ids.dtype} of rank {ids.ndim}", "attr_dtype")
    if count < 0 or count > _MOST_SEGMENTS or any(n >= count for n in ids.tolist()):
        raise ShapeError(f"there are {count} segments, one is called {max(ids.tolist(), default=0)}", "attr_range")
    return [[place for place, n in enumerate(ids.tolist()) if n == k] for k in range(count)]


@operator(
    "tflite:UNSORTED_SEGMENT_PROD", example=("3, C", "segment_ids=[0, 1, 0], num_segments=2", "(2, C)"),
    kinds=f"{_KINDS}, attr_range, size_mismatch",
    about={"segment_ids": "The segment of each index of the first axis: constants.", "num_segments": "Their number."},
)  # fmt: skip
def unsorted_segment_prod(data: Tensor, segment_ids: Any, num_segments: Any) -> Tensor:
    """Return the products of the slices along the first axis that have one segment; none of them give ones."""
    require_rank("UNSORTED_SEGMENT_PROD", data, 1)
    given = known("segment_ids", segment_ids).reshape(-1)
    data = demanding(data, "there are {} slices, {} have a segment", [(data.shape[0], given.size)])
    parts = []
    for places in members(segment_ids, num_segments):
        slices = take(data, np.array(places, np.int64), 0)
        parts.append(reductions.reduced(slices, [0], reductions.product, keepdims=False))
    if not parts:
        raise NotDeclaredError("UNSORTED_SEGMENT_PROD without segments")
    return stack(parts, 0)


@operator("tflite:SOFTMAX", example=("N, C", "beta=1.0", "(N, C)"), kinds=_KINDS, about=_ABOUT)
def softmax(input: Tensor, beta: Any = 1.0) -> Tensor:
    """Return exponentials of *beta* times the input, divided by their sum along the last axis."""
    rank = require_rank("SOFTMAX", input, 1)
    factor = attributes.number("beta", beta)
    if factor != 1:
        input = apply("Mul", input, as_tensor("SOFTMAX", "beta", factor, input))
    return along_axis.along(input, [rank - 1], along_axis.softmax)


@operator("tflite:LOG_SOFTMAX", example=("N, C", "", "(N, C)"), kinds=_KINDS, about=_ABOUT)
def log_softmax(input: Tensor) -> Tensor:
    """Return the logarithm of the softmax along the last axis."""
    return along_axis.along(input, [require_rank("LOG_SOFTMAX", input, 1) - 1], along_axis.log_softmax)


@operator("tflite:CUMSUM", example=("N, C", "axis=1", "(N, C)"), kinds=_KINDS, about=_ABOUT)
def cumsum(input: Tensor, axis: Any, exclusive: Any = False, reverse: Any = False) -> Tensor:
    """Return the sums of all elements up to each one along *axis*."""
    made: Tensor = summed(input, axis, exclusive, reverse)
    return made


def _extreme(function: Callable[..., Any], input: Tensor, axis: Any, output_type: Any) -> Tensor:
    made: Tensor = function(input, axis=int(known_number("axis", axis)), keepdims=0)
    return cast_to(made, np.dtype(output_type))


@operator("tflite:ARG_MAX", example=("N, C", "axis=1", "(N,)"), kinds=_KINDS, about=_ABOUT)
def arg_max(input: Tensor, axis: Any, output_type: str = "int64") -> Tensor:
    """Return the position of the first of the largest elements along *axis*."""
    return _extreme(onnx.arg_max, input, axis, output_type)


@operator("tflite:ARG_MIN", example=("N, C", "axis=1", "(N,)"), kinds=_KINDS, about=_ABOUT)
def arg_min(input: Tensor, axis: Any, output_type: str = "int64") -> Tensor:
    """Return the position of the first of the least elements along *axis*."""
    return _extreme(onnx.arg_min, input, axis, output_type)


@operator("tflite:TOPK_V2", example=("N, 9", "k=3", "[(N, 3), (N, 3)]"), kinds=_KINDS, about=_ABOUT)
def topk_v2(input: Tensor, k: Any) -> list[Tensor]:
    """Return the largest elements along the last axis, best first, and their positions."""
    values, places = indexing.top_k(input, np.array([int(known_number("k", k))]))
    return [values, cast_to(places, np.dtype(np.int32))]


@operator(
    "tflite:DEQUANTIZE", example=("N, C", "scale=[0.5], zero_point=[3]", "(N, C)"), kinds=_KINDS,
    about={"scale": "The distance of levels: one, or one for each index of *axis*; None is none.",
           "zero_point": "The level of 0.", "axis": "The axis that has several scales."},
)  # fmt: skip
def dequantize(input: Tensor, scale: Any = None, zero_point: Any = None, axis: Any = 0) -> Tensor:
    """Return the numbers that levels stand for, as float32; without a scale, *input* in that type."""
    single = np.dtype(np.float32)
    if scale is None:
        return cast_to(input, single)
    scales = np.asarray(scale, single).reshape(-1)
    zeros = np.zeros(scales.shape, np.int64) if zero_point is None else np.asarray(zero_point, np.int64).reshape(-1)
    if zeros.shape != scales.shape:
        raise ShapeError(f"there are {zeros.size} zero points for {scales.size} scales", "length_mismatch")
    levels = np.dtype(np.int8) if input.dtype is None else input.dtype
    if levels.kind not in "iu":
        raise ShapeError(f"levels are integers, not {levels}", "attr_dtype")
    narrow = zeros.astype(levels)
    if not np.array_equal(narrow, zeros):
        raise ShapeError(f"a zero point is no {input.dtype}", "overflow")
    shape = () if scales.size == 1 else scales.shape
    parameters = [as_tensor("DEQUANTIZE", "levels", p.reshape(shape)) for p in (scales, narrow)]
    return dequantize_linear(input, parameters[0], parameters[1], attributes.constant("axis", axis))
