"""TensorFlow Lite's convolutions, pools, resizes and products of matrices: images are NHWC."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from symlayout.compute import contractions, pooling
from symlayout.compute.contractions import Spatial
from symlayout.compute.demands import demanding
from symlayout.compute.elementwise import common_dtype
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.elementwise import apply
from symlayout.frontends.onnx.operator import Sizes, operator
from symlayout.frontends.onnx.resampling import resize
from symlayout.frontends.onnx.windows import with_bias
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import NotDeclaredError
from symlayout.frontends.tflite.elementwise import ABOUT, activated
from symlayout.ops.axes import moveaxis, swapaxes
from symlayout.ops.reshape import reshape
from symlayout.ops.transpose import transpose
from symlayout.tensors.chain import Tensor

_PADS = {"SAME": "SAME_UPPER", "VALID": "VALID"}
_KINDS = "rank, size_mismatch, infeasible, attr_dtype, block_lt_1, bad_mode, overflow"
_ABOUT = {
    **ABOUT,
    "adj_x": "Whether the last two axes of *x* change places.",
    "adj_y": "Whether the last two axes of *y* change places.",
    "align_corners": "Whether the first and last elements keep their places.",
    "dilation_h_factor": "The distance of rows in a window.",
    "dilation_w_factor": "The distance of columns in a window.",
    "filter_height": "The rows of a window.",
    "filter_width": "The columns of a window.",
    "half_pixel_centers": "Whether elements lie at the centres of their cells.",
    "keep_num_dims": "Whether the axes of the input stay.",
    "padding": '``"SAME"`` or ``"VALID"``.',
    "output_shape": "The extents of the result.",
    "size": "The rows and columns of the result.",
    "stride_h": "The distance of windows along the rows.",
    "stride_w": "The distance of windows along the columns.",
    "weights_format": 'Only ``"DEFAULT"`` has a declaration.',
}


def _spatial(padding: str, strides: tuple[Any, Any], dilations: tuple[Any, Any] = (1, 1)) -> Spatial:
    mode = _PADS[attributes.choice("padding", padding, _PADS)]
    steps, apart = (
        tuple(attributes.scalar("stride or dilation", n, 1) for n in numbers) for numbers in (strides, dilations)
    )
    return Spatial(steps, apart, mode)


def _images(name: str, x: Tensor) -> Tensor:
    """Return NHWC images with their channels first."""
    require_rank(name, x, 4, 4)
    return moveaxis(x, -1, 1)


def _finished(y: Tensor, bias: Tensor | None, activation: str) -> Tensor:
    return activated(moveaxis(with_bias(y, bias), 1, -1), activation)


@operator("tflite:CONV_2D", example=("N, H, W, C; M, 3, 3, C; M", 'padding="SAME"', "(N, H, W, M)"), kinds=_KINDS,
          about=_ABOUT)  # fmt: skip
def conv_2d(
    input: Tensor,
    filter: Tensor,
    bias: Tensor | None = None,
    padding: str = "SAME",
    stride_w: Any = 1,
    stride_h: Any = 1,
    fused_activation_function: str = "NONE",
    dilation_w_factor: Any = 1,
    dilation_h_factor: Any = 1,
) -> Tensor:
    """Return the convolution of images with filters (out, rows, columns, in); the groups follow from the channels."""
    images, kernels = _images("CONV_2D", input), _images("CONV_2D", filter)
    common_dtype("CONV_2D", (input, filter))
    channels, each = input.shape[-1], filter.shape[-1]
    groups: Any = 1
    if channels != each:
        if not isinstance(channels, int) or not isinstance(each, int) or each < 1 or channels % each:
            raise ShapeError(f"filters of {each} channels do not fit {channels}", "size_mismatch")
        groups = channels // each
    way = _spatial(padding, (stride_h, stride_w), (dilation_h_factor, dilation_w_factor))
    return _finished(contractions.conv(images, kernels, groups, way), bias, fused_activation_function)


@operator("tflite:DEPTHWISE_CONV_2D", example=("N, H, W, 4; 1, 3, 3, 4; 4", 'padding="VALID"',
          "(N, H - 2, W - 2, 4)"), kinds=_KINDS, about=_ABOUT)  # fmt: skip
def depthwise_conv_2d(
    input: Tensor,
    filter: Tensor,
    bias: Tensor | None = None,
    padding: str = "SAME",
    stride_w: Any = 1,
    stride_h: Any = 1,
    fused_activation_function: str = "NONE",
    dilation_w_factor: Any = 1,
    dilation_h_factor: Any = 1,
) -> Tensor:
    """Return the convolution of each channel with filters of its own, (1, rows, columns, channels * filters)."""
    images = _images("DEPTHWISE_CONV_2D", input)
    require_rank("DEPTHWISE_CONV_2D", filter, 4, 4)
    common_dtype("DEPTHWISE_CONV_2D", (input, filter))
    filter = demanding(filter, "the filters have {} as their first extent, not {}", [(filter.shape[0], 1)])
    kernels = transpose(filter, (3, 0, 1, 2))
    way = _spatial(padding, (stride_h, stride_w), (dilation_h_factor, dilation_w_factor))
    return _finished(contractions.conv(images, kernels, input.shape[-1], way), bias, fused_activation_function)


@operator("tflite:TRANSPOSE_CONV", example=("1, 4, 4, 3; 5, 2, 2, 3",
          'output_shape=(1, 8, 8, 5), padding="VALID", stride_h=2, stride_w=2', "(1, 8, 8, 5)"), kinds=_KINDS,
          about=_ABOUT)  # fmt: skip
def transpose_conv(
    input: Tensor,
    weights: Tensor,
    output_shape: Sizes,
    bias: Tensor | None = None,
    padding: str = "SAME",
    stride_w: Any = 1,
    stride_h: Any = 1,
    fused_activation_function: str = "NONE",
) -> Tensor:
    """Return the transposed convolution of images with filters (out, rows, columns, in), of the stated shape.

    Extents are numbers here, and the input is as large as the convolution that is transposed gives.
    """
    images, kernels = _images("TRANSPOSE_CONV", input), transpose(_images("TRANSPOSE_CONV", weights), (1, 0, 2, 3))
    common_dtype("TRANSPOSE_CONV", (input, weights))
    mode = attributes.choice("padding", padding, _PADS)
    wanted = attributes.fill("output_shape", attributes.vector("output_shape", output_shape, 4), 0)
    steps = [attributes.scalar("stride", n, 1) for n in (stride_h, stride_w)]
    if any(isinstance(s, int) and s < 1 for s in steps):
        raise ShapeError(f"strides are {steps}, each is at least 1", "block_lt_1")
    around = []
    for n, size, s, out in zip(input.shape[1:3], weights.shape[1:3], steps, wanted[1:3], strict=True):
        if not all(isinstance(e, int) for e in (n, size, out, s)):
            raise NotDeclaredError("TRANSPOSE_CONV of sizes that are not numbers")
        if n != (-(-out // s) if mode == "SAME" else (out + s - size) // s):
            raise NotDeclaredError(f"TRANSPOSE_CONV of {n} elements to {out}, which no convolution takes to {n}")
        taken = (n - 1) * s + size - out
        begin = max(taken, 0) // 2
        around.append((begin, taken - begin))
    made = contractions.conv_transpose(images, kernels, 1, steps, (1, 1), around, (0, 0))
    pairs = [(made.shape[0], wanted[0]), (made.shape[1], wanted[3])]
    made = demanding(made, "the result has an extent of {}, output_shape says {}", pairs)
    return _finished(made, bias, fused_activation_function)


def _pooled(name: str, about: str, pool: Callable[[Tensor, Any, Spatial], Tensor]) -> Callable[..., Tensor]:
    def applied(
        input: Tensor,
        padding: str = "SAME",
        stride_w: Any = 1,
        stride_h: Any = 1,
        filter_width: Any = 1,
        filter_height: Any = 1,
        fused_activation_function: str = "NONE",
    ) -> Tensor:
        kernel = [attributes.scalar("filter", n, 1) for n in (filter_height, filter_width)]
        made = pool(_images(name, input), kernel, _spatial(padding, (stride_h, stride_w)))
        return _finished(made, None, fused_activation_function)

    applied.__name__ = applied.__qualname__ = name.lower()
    applied.__doc__ = about
    halves = 'padding="VALID", stride_w=2, stride_h=2, filter_width=2, filter_height=2'
    example = ("N, 2*h, 2*w, C", halves, "(N, h, w, C)")
    return operator(f"tflite:{name}", example=example, kinds=_KINDS, about=_ABOUT)(applied)


average_pool_2d = _pooled(
    "AVERAGE_POOL_2D",
    "Return the mean of each window, of the elements that lie inside.",
    partial(pooling.average_pool, count_pads=False),
)
max_pool_2d = _pooled("MAX_POOL_2D", "Return the maximum of each window.", pooling.max_pool)


@operator("tflite:FULLY_CONNECTED", example=("N, C; M, C; M", "", "(N, M)"), kinds=_KINDS, about=_ABOUT)
def fully_connected(
    input: Tensor,
    weights: Tensor,
    bias: Tensor | None = None,
    fused_activation_function: str = "NONE",
    weights_format: str = "DEFAULT",
    keep_num_dims: Any = False,
) -> Tensor:
    """Return the product of rows with weights (out, in); *keep_num_dims*: axes of the input stay."""
    if weights_format != "DEFAULT":
        raise NotDeclaredError(f"weights in the format {weights_format} have no declaration")
    require_rank("FULLY_CONNECTED", weights, 2, 2)
    require_rank("FULLY_CONNECTED", input, 1)
    common_dtype("FULLY_CONNECTED", (input, weights))
    if not attributes.flag("keep_num_dims", keep_num_dims) and input.rank != 2:
        input = reshape(input, (-1, weights.shape[1]))
    made = contractions.matmul(input, swapaxes(weights, 0, 1))
    if bias is not None:
        require_rank("FULLY_CONNECTED", bias, 1, 1)
        bias = demanding(bias, "there are {} biases for {} columns", [(bias.shape[0], weights.shape[0])])
        made = apply("Add", made, bias)
    return activated(made, fused_activation_function)


@operator("tflite:BATCH_MATMUL", example=("B, M, K; B, N, K", "adj_y=True", "(B, M, N)"), kinds=_KINDS, about=_ABOUT)
def batch_matmul(x: Tensor, y: Tensor, adj_x: Any = False, adj_y: Any = False) -> Tensor:
    """Return the matrix product of *x* and *y*, whose first axes are broadcast together."""
    flags = attributes.flag("adj_x", adj_x), attributes.flag("adj_y", adj_y)
    for t in (x, y):
        require_rank("BATCH_MATMUL", t, 2)
    common_dtype("BATCH_MATMUL", (x, y))
    left, right = (swapaxes(t, -1, -2) if turned else t for t, turned in zip((x, y), flags, strict=True))
    return contractions.matmul(left, right)


def _resized(name: str, x: Tensor, size: Any, mode: str, coordinates: str, nearest: str) -> Tensor:
    require_rank(name, x, 4, 4)
    made: Tensor = resize(
        x, sizes=size, axes=(1, 2), mode=mode, coordinate_transformation_mode=coordinates, nearest_mode=nearest
    )
    return made


@operator("tflite:RESIZE_BILINEAR", example=("N, H, W, C", "size=(8, 8)", "(N, 8, 8, C)"), kinds=_KINDS, about=_ABOUT)
def resize_bilinear(images: Tensor, size: Sizes, align_corners: Any = False, half_pixel_centers: Any = False) -> Tensor:
    """Return images with other rows and columns, interpolated linearly."""
    corners = attributes.flag("align_corners", align_corners)
    centers = attributes.flag("half_pixel_centers", half_pixel_centers)
    if corners and centers:
        raise NotDeclaredError("align_corners and half_pixel_centers exclude each other")
    coordinates = "align_corners" if corners else "half_pixel" if centers else "asymmetric"
    return _resized("RESIZE_BILINEAR", images, size, "linear", coordinates, "floor")


@operator("tflite:RESIZE_NEAREST_NEIGHBOR", example=("N, H, W, C", "size=(8, 8)", "(N, 8, 8, C)"), kinds=_KINDS,
          about=_ABOUT)  # fmt: skip
def resize_nearest_neighbor(
    images: Tensor, size: Sizes, align_corners: Any = False, half_pixel_centers: Any = False
) -> Tensor:
    """Return images with other rows and columns, by nearest elements."""
    corners = attributes.flag("align_corners", align_corners)
    centers = attributes.flag("half_pixel_centers", half_pixel_centers)
    if corners and centers:
        raise NotDeclaredError("align_corners with half_pixel_centers has no declaration")
    if corners:
        return _resized("RESIZE_NEAREST_NEIGHBOR", images, size, "nearest", "align_corners", "round_prefer_ceil")
    coordinates = "tf_half_pixel_for_nn" if centers else "asymmetric"
    return _resized("RESIZE_NEAREST_NEIGHBOR", images, size, "nearest", coordinates, "floor")
