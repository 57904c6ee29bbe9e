"""OpenVINO's convolutions, pools and products of matrices."""

from __future__ import annotations

import dataclasses
from typing import Any

from symlayout.compute import contractions, pooling, reductions
from symlayout.compute.contractions import Spatial
from symlayout.compute.elementwise import common_dtype
from symlayout.frontends import attributes
from symlayout.frontends.onnx.operator import operator
from symlayout.frontends.onnx.products import einsum as einsum_of
from symlayout.frontends.onnx.types import cast_to
from symlayout.frontends.onnx.windows import spatial_of, transposed_conv
from symlayout.frontends.openvino.element_types import of_name
from symlayout.frontends.rank import require_rank
from symlayout.ops.axes import swapaxes
from symlayout.ops.reshape import reshape
from symlayout.tensors.chain import Tensor

_AUTO = {
    "explicit": "NOTSET", "notset": "NOTSET", "valid": "VALID", "same_upper": "SAME_UPPER", "same_lower": "SAME_LOWER",
}  # fmt: skip
_KINDS = "rank, size_mismatch, infeasible, length_mismatch, attr_dtype, block_lt_1, bad_mode, overflow"
_ABOUT = {
    "auto_pad": '``"explicit"``: the pads count.  ``"same_upper"``, ``"same_lower"`` or ``"valid"``.',
    "axis": "The first axis of those in which a position is counted.",
    "exclude_pad": "Whether the pads do not count as elements.",
    "index_element_type": "The element type of the positions.",
    "kernel": "The extents of a window.",
    "output_padding": "What is added at the end of each spatial axis.",
    "output_shape": "The spatial extents of the result.",
    "pads_begin": "Elements before each spatial axis.",
    "pads_end": "Elements after each spatial axis.",
    "rounding_type": '``"floor"``, ``"ceil"`` or ``"ceil_torch"``: whether a last window may reach past the end.',
    "strides": "One for each spatial axis.",
    "transpose_a": "Whether the last two axes of *a* change places.",
    "transpose_b": "Whether the last two axes of *b* change places.",
}


def _mode(auto_pad: Any) -> str:
    return _AUTO[attributes.choice("auto_pad", auto_pad, _AUTO)]


def _pads(rank: int, *pads: Any) -> list[list[Any]]:
    return [[0] * rank if e is None or e == "" else attributes.listed("pads", e, rank) for e in pads]


def _spatial(rank: int, strides: Any, pads_begin: Any, pads_end: Any, dilations: Any, auto_pad: Any) -> Spatial:
    begin, end = (
        [0] * rank if e is None or e == "" else attributes.listed("pads", e, rank) for e in (pads_begin, pads_end)
    )
    steps, spread = (None if e is None else attributes.listed("strides", e, rank) for e in (strides, dilations))
    return spatial_of(rank, _mode(auto_pad), spread, [*begin, *end], steps)


@operator(
    "openvino:Convolution-1",
    example=(
        "N, C, H, W; M, C, 3, 3",
        "strides=(1, 1), pads_begin=(1, 1), pads_end=(1, 1), dilations=(1, 1)",
        "(N, M, H, W)",
    ),
    kinds=_KINDS,
    about=_ABOUT,
)
def convolution(
    data: Tensor,
    filters: Tensor,
    strides: Any,
    pads_begin: Any,
    pads_end: Any,
    dilations: Any,
    auto_pad: str = "explicit",
) -> Tensor:
    """Return the convolution of images with filters."""
    rank = require_rank("Convolution-1", data, 3) - 2
    common_dtype("Convolution-1", (data, filters))
    return contractions.conv(data, filters, 1, _spatial(rank, strides, pads_begin, pads_end, dilations, auto_pad))


@operator(
    "openvino:GroupConvolution-1",
    example=("N, 4*C, H; 4, M, C, 3", "strides=(1,), pads_begin=(1,), pads_end=(1,), dilations=(1,)", "(N, 4*M, H)"),
    kinds=_KINDS,
    about=_ABOUT,
)
def group_convolution(
    data: Tensor,
    filters: Tensor,
    strides: Any,
    pads_begin: Any,
    pads_end: Any,
    dilations: Any,
    auto_pad: str = "explicit",
) -> Tensor:
    """Return the convolution of each group of channels with the filters of its own, which axis 0 of *filters* has."""
    rank = require_rank("GroupConvolution-1", data, 3) - 2
    require_rank("GroupConvolution-1", filters, rank + 3, rank + 3)
    common_dtype("GroupConvolution-1", (data, filters))
    groups, each, *rest = filters.shape
    way = _spatial(rank, strides, pads_begin, pads_end, dilations, auto_pad)
    return contractions.conv(data, reshape(filters, (groups * each, *rest)), groups, way)


def _backprop(
    data: Tensor,
    filters: Tensor,
    groups: Any,
    output_shape: Any,
    strides: Any,
    pads_begin: Any,
    pads_end: Any,
    dilations: Any,
    auto_pad: str,
    output_padding: Any,
) -> Tensor:
    rank = data.rank - 2
    begin, end = (
        [0] * rank if e is None or e == "" else attributes.listed("pads", e, rank) for e in (pads_begin, pads_end)
    )
    mode = _mode(auto_pad)
    if output_shape is not None:  # the longer half is removed on the other side than in ONNX
        mode = {"SAME_UPPER": "SAME_LOWER", "SAME_LOWER": "SAME_UPPER"}.get(mode, mode)
    extra = None if output_padding in (None, "", ()) else attributes.listed("output_padding", output_padding, rank)
    return transposed_conv(
        data,
        filters,
        None,
        auto_pad=mode,
        dilations=attributes.listed("dilations", dilations, rank),
        group=groups,
        kernel_shape=None,
        output_padding=extra,
        output_shape=None if output_shape is None else attributes.listed("output_shape", output_shape, rank),
        pads=[*begin, *end],
        strides=attributes.listed("strides", strides, rank),
        beyond=True,
    )


@operator(
    "openvino:ConvolutionBackpropData-1",
    example=("N, 8, H; 8, M, 3", "strides=(2,), pads_begin=(0,), pads_end=(0,), dilations=(1,)", "(N, M, 2*H + 1)"),
    kinds=_KINDS,
    about=_ABOUT,
)
def convolution_backprop_data(
    data: Tensor,
    filters: Tensor,
    output_shape: Any = None,
    strides: Any = None,
    pads_begin: Any = None,
    pads_end: Any = None,
    dilations: Any = None,
    auto_pad: str = "explicit",
    output_padding: Any = None,
) -> Tensor:
    """Return the transposed convolution of images with filters."""
    require_rank("ConvolutionBackpropData-1", data, 3)
    return _backprop(data, filters, 1, output_shape, strides, pads_begin, pads_end, dilations, auto_pad, output_padding)


@operator(
    "openvino:GroupConvolutionBackpropData-1",
    example=(
        "N, 8, H; 2, 4, M, 3",
        "strides=(2,), pads_begin=(0,), pads_end=(0,), dilations=(1,)",
        "(N, 2*M, 2*H + 1)",
    ),
    kinds=_KINDS,
    about=_ABOUT,
)
def group_convolution_backprop_data(
    data: Tensor,
    filters: Tensor,
    output_shape: Any = None,
    strides: Any = None,
    pads_begin: Any = None,
    pads_end: Any = None,
    dilations: Any = None,
    auto_pad: str = "explicit",
    output_padding: Any = None,
) -> Tensor:
    """Return the transposed convolution of each group of channels with the filters of its own."""
    rank = require_rank("GroupConvolutionBackpropData-1", data, 3)
    require_rank("GroupConvolutionBackpropData-1", filters, rank + 1, rank + 1)
    groups, each, *rest = filters.shape
    joined = reshape(filters, (groups * each, *rest))
    return _backprop(
        data, joined, groups, output_shape, strides, pads_begin, pads_end, dilations, auto_pad, output_padding
    )


def _pool(
    name: str, data: Tensor, kernel: Any, strides: Any, begin: Any, end: Any, dilations: Any, auto: Any, rounding: Any
) -> tuple[list[Any], Spatial]:
    rank = require_rank(name, data, 3) - 2
    given = _spatial(rank, strides, begin, end, dilations, auto)
    mode = attributes.choice("rounding_type", rounding, ("floor", "ceil", "ceil_torch"))
    way = dataclasses.replace(given, ceil=mode != "floor", outside=mode == "ceil")
    return attributes.listed("kernel", kernel, rank), way


@operator(
    "openvino:MaxPool-1",
    example=("N, C, 2*h, 2*w", "strides=(2, 2), pads_begin=(0, 0), pads_end=(0, 0), kernel=(2, 2)", "(N, C, h, w)"),
    kinds=_KINDS,
    about=_ABOUT,
)
def max_pool_1(
    data: Tensor,
    strides: Any,
    pads_begin: Any,
    pads_end: Any,
    kernel: Any,
    rounding_type: str = "floor",
    auto_pad: str = "explicit",
) -> Tensor:
    """Return the maximum of each window."""
    window, way = _pool("MaxPool-1", data, kernel, strides, pads_begin, pads_end, None, auto_pad, rounding_type)
    return pooling.max_pool(data, window, way)


@operator(
    "openvino:MaxPool-8",
    "openvino:MaxPool-14",
    example=(
        "N, C, 2*h",
        "strides=2, dilations=1, pads_begin=0, pads_end=0, kernel=2",
        "[(N, C, h), (N, C, h)]",
    ),
    kinds=_KINDS,
    about=_ABOUT,
)
def max_pool(
    data: Tensor,
    strides: Any,
    dilations: Any,
    pads_begin: Any,
    pads_end: Any,
    kernel: Any,
    rounding_type: str = "floor",
    auto_pad: str = "explicit",
    index_element_type: str = "i64",
    axis: Any = 0,
) -> list[Tensor]:
    """Return the maximum of each window, and its position in the axes from *axis* on, flattened."""
    window, way = _pool("MaxPool-8", data, kernel, strides, pads_begin, pads_end, dilations, auto_pad, rounding_type)
    first = attributes.axis("axis", axis, data.rank)
    dtype = of_name("index_element_type", index_element_type)
    numbers = pooling.max_pool_numbers(data, window, way, pooling.numbers_from_axis, (("axis", first),))
    return [pooling.max_pool(data, window, way), cast_to(numbers, dtype)]


@operator(
    "openvino:AvgPool-1",
    "openvino:AvgPool-14",
    example=(
        "N, C, 2*h",
        "strides=2, pads_begin=0, pads_end=0, kernel=2, exclude_pad=True",
        "(N, C, h)",
    ),
    kinds=_KINDS,
    about=_ABOUT,
)
def avg_pool(
    data: Tensor,
    strides: Any,
    pads_begin: Any,
    pads_end: Any,
    kernel: Any,
    exclude_pad: Any,
    rounding_type: str = "floor",
    auto_pad: str = "explicit",
) -> Tensor:
    """Return the mean of each window."""
    window, way = _pool("AvgPool-1", data, kernel, strides, pads_begin, pads_end, None, auto_pad, rounding_type)
    return pooling.average_pool(data, window, way, count_pads=not attributes.flag("exclude_pad", exclude_pad))


@operator(
    "openvino:AdaptiveAvgPool-8",
    example=("N, C, 2*h, 2*w", "output_shape=(1, 1)", "(N, C, 1, 1)"),
    kinds="rank, length_mismatch",
    about=_ABOUT,
)
def adaptive_avg_pool(data: Tensor, output_shape: Any) -> Tensor:
    """Return the means of *output_shape* parts of each spatial axis, which may overlap by one element."""
    rank = require_rank("AdaptiveAvgPool-8", data, 3) - 2
    wanted = attributes.fill("output_shape", attributes.listed("output_shape", output_shape, rank), 1)
    if wanted == [1] * rank:
        return reductions.reduced(data, list(range(2, rank + 2)), reductions.mean, keepdims=True)
    for k, m in enumerate(wanted):
        data = pooling.means_of_parts(data, 2 + k, m)
    return data


@operator(
    "openvino:MatMul-1",
    example=("B, M, K; N, K", "transpose_b=True", "(B, M, N)"),
    kinds="rank, size_mismatch, attr_dtype, overflow",
    about=_ABOUT,
)
def mat_mul(a: Tensor, b: Tensor, transpose_a: Any = False, transpose_b: Any = False) -> Tensor:
    """Return the matrix product of *a* and *b*, whose first axes are broadcast together."""
    common_dtype("MatMul-1", (a, b))
    flags = (attributes.flag("transpose_a", transpose_a), attributes.flag("transpose_b", transpose_b))
    left, right = (swapaxes(x, -1, -2) if turned and x.rank > 1 else x for x, turned in zip((a, b), flags, strict=True))
    return contractions.matmul(left, right)


@operator(
    "openvino:Einsum-7",
    example=("B, I, K; B, K, J", 'equation="bik,bkj->bij"', "(B, I, J)"),
    kinds="rank, size_mismatch, bad_format",
    about={"equation": "Letters for the axes of each input, and of the result after ``->``."},
)
def einsum(*inputs: Tensor, equation: str) -> Tensor:
    """Return a sum of products, written as an equation of axes."""
    return einsum_of(*inputs, equation=equation)
