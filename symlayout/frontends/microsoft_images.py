"""onnxruntime's operations of images and diffusion models (domain ``com.microsoft``): channels are last, mostly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symlayout.compute import contractions
from symlayout.compute.demands import demanding, spread
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.microsoft import fast_gelu, fused_conv
from symlayout.frontends.onnx.elementwise import apply
from symlayout.frontends.onnx.normalization import group_normalization, softmax_11
from symlayout.frontends.onnx.operator import AT_LEAST_1, operator
from symlayout.frontends.onnx.transformer_layers import part
from symlayout.frontends.onnx.windows import conv, with_conv_attributes
from symlayout.frontends.rank import require_rank, require_shape
from symlayout.frontends.registry import NotDeclaredError
from symlayout.ops.axes import moveaxis
from symlayout.ops.reshape import reshape
from symlayout.ops.slicing import getitem
from symlayout.tensors.chain import Tensor

_SIZES = "rank, size_mismatch, bad_axis"
_CONV = "rank, size_mismatch, length_mismatch, bad_mode"
_IMAGES = {"X": "Images whose channels are the last axis.", "Z": "What is added, like the result."}


def first(x: Tensor) -> Tensor:
    """Return *x* with its last axis, the channels, after the first."""
    require_rank("an image", x, 3)
    return moveaxis(x, -1, 1)


def last(x: Tensor) -> Tensor:
    """Return *x* with its second axis, the channels, at the end."""
    return moveaxis(x, 1, -1)


@operator(
    "microsoft:NhwcConv",
    example=("N, H, W, C; M, 3, 3, C", "pads=(1, 1, 1, 1)", "(N, H, W, M)"),
    kinds=_CONV,
    about=_IMAGES | {"W": "Kernels whose channels are the last axis, as tools write them."},
)
@with_conv_attributes
def nhwc_conv(X: Tensor, W: Tensor, B: Tensor | None = None, **window: Any) -> Tensor:
    """Return the convolution of images with kernels, plus the bias *B*."""
    return last(conv(first(X), first(W), B, **window))


@operator(
    "microsoft:NhwcFusedConv",
    example=("N, H, W, C; M, C, 3, 3", 'pads=(1, 1, 1, 1), activation="Relu"', "(N, H, W, M)"),
    kinds=_CONV,
    about=_IMAGES
    | {
        "W": "Kernels, with their channels first.",
        "activation": "The name of an elementwise operator of the standard; empty for none.",
        "activation_params": "Its attributes, in the standard's order.",
    },
)
@with_conv_attributes
def nhwc_fused_conv(
    X: Tensor,
    W: Tensor,
    B: Tensor | None = None,
    Z: Tensor | None = None,
    activation: str = "",
    activation_params: Sequence[float] = (),
    **window: Any,
) -> Tensor:
    """Return the activation of a convolution, to which *Z* is added."""
    beside = None if Z is None else first(Z)
    return last(fused_conv(first(X), W, B, beside, activation, activation_params, **window))


_GROUPS = {
    "X": "Images.",
    "gamma": "A factor for each channel.",
    "beta": "What is added to each channel.",
    "skip": "What is added before: an image, or one number for each channel of each image.",
    "bias": "What is added to each channel before.",
    "groups": "The number of groups of channels.",
    "activation": "0 for none; 1 multiplies by the sigmoid.",
    "channels_last": "Whether the channels are the last axis.",
}


@operator(
    "microsoft:GroupNorm",
    example=("N, H, W, 4*c; 4*c; 4*c", "groups=4, activation=1", "(N, H, W, 4*c)"),
    kinds=f"{_SIZES}, attr_missing",
    about=_GROUPS,
    allowed={"groups": AT_LEAST_1, "activation": (0, 1)},
)
def group_norm(
    X: Tensor,
    gamma: Tensor,
    beta: Tensor,
    activation: Any = None,
    channels_last: Any = 1,
    epsilon: float = 1e-5,
    groups: Any = None,
) -> Tensor:
    """Return each group of channels minus its mean, divided by its deviation; then *gamma* and *beta*."""
    if groups is None or activation is None:
        raise ShapeError("GroupNorm needs groups and activation", "attr_missing")
    require_rank("GroupNorm", X, 4, 4)
    if len({x.dtype for x in (X, gamma, beta)} - {None}) > 1:
        what = "GroupNorm has no declaration for images of another type than gamma"
        raise NotDeclaredError(what, result=(X.dtype, X.shape))
    is_last = attributes.flag("channels_last", channels_last)
    made = group_normalization(first(X) if is_last else X, gamma, beta, groups, epsilon)
    if activation:
        made = apply("Swish", made, alpha=1.0)
    return last(made) if is_last else made


@operator(
    "microsoft:SkipGroupNorm",
    example=("N, H, W, 4*c; 4*c; 4*c; N, 4*c", "groups=4, activation=0", "(N, H, W, 4*c)"),
    kinds=f"{_SIZES}, attr_missing",
    about=_GROUPS,
    allowed={"groups": AT_LEAST_1, "activation": (0, 1)},
)
def skip_group_norm(
    X: Tensor,
    gamma: Tensor,
    beta: Tensor,
    skip: Tensor,
    bias: Tensor | None = None,
    activation: Any = None,
    channels_last: Any = 1,
    epsilon: float = 1e-5,
    groups: Any = None,
    outputs: int = 1,
) -> Tensor | list[Tensor]:
    """Return what GroupNorm does of the sum of *X*, *skip* and *bias*; the second output is the sum."""
    require_rank("SkipGroupNorm", X, 4, 4)
    if not attributes.flag("channels_last", channels_last):
        what = "SkipGroupNorm has no declaration for channels that are not last"
        raise NotDeclaredError(what, result=(X.dtype, X.shape))
    count = X.shape[3]
    if require_rank("the skip", skip, 2, 4) != 4:
        flat = require_shape("the skip", skip, (X.shape[0], count))
        skip = reshape(flat, (X.shape[0], 1, 1, count))
    else:
        skip = spread(require_shape("the skip", skip, (X.shape[0], *skip.shape[1:3], count)), X.shape)
    total = apply("Add", X, skip)
    if bias is not None:
        total = apply("Add", total, require_shape("the bias", bias, (count,)))
    made: Tensor = group_norm(total, gamma, beta, activation, 1, epsilon, groups)
    return [made, total][:outputs] if outputs > 1 else made


@operator("microsoft:BiasAdd", example=("N, S, C; C; N, S, C", "", "(N, S, C)"), kinds=_SIZES)
def bias_add(X: Tensor, bias: Tensor, skip: Tensor) -> Tensor:
    """Return the sum of *X*, *bias* and *skip*."""
    require_rank("BiasAdd", X, 3, 3)
    total = apply("Add", X, require_shape("the bias", bias, X.shape[2:]))
    return apply("Add", total, require_shape("the skip", skip, X.shape))


@operator("microsoft:BiasSplitGelu", example=("N, S, 2*d; 2*d", "", "(N, S, d)"), kinds=f"{_SIZES}, non_divisible")
def bias_split_gelu(X: Tensor, bias: Tensor) -> Tensor:
    """Return the first half of the sum of *X* and *bias*, times the Gelu of the second one."""
    require_rank("BiasSplitGelu", X, 3, 3)
    half = part(X.shape[2], 2)
    total = apply("Add", X, require_shape("the bias", bias, X.shape[2:]))
    left, right = getitem(total, (..., slice(0, half))), getitem(total, (..., slice(half, None)))
    return apply("Mul", left, apply("Gelu", right))


@operator(
    "microsoft:BiasSoftmax",
    example=("N, H, S, T; N, 1, 1, T", "axis=3, is_inner_broadcast=1", "(N, H, S, T)"),
    kinds=f"{_SIZES}, attr_missing",
    about={
        "data": "Scores.",
        "bias": "What is added to them, broadcast.",
        "is_inner_broadcast": "Whether axes before *axis* are broadcast, else the first ones.",
    },
)
def bias_softmax(data: Tensor, bias: Tensor, axis: Any = 1, is_inner_broadcast: Any = None) -> Tensor:
    """Return the softmax of the sum of *data* and *bias* over all axes from *axis* on."""
    if is_inner_broadcast is None:
        raise ShapeError("is_inner_broadcast is missing", "attr_missing")
    attributes.flag("is_inner_broadcast", is_inner_broadcast)
    made: Tensor = softmax_11(apply("Add", data, spread(bias, data.shape)), axis)
    return made


@operator("microsoft:GemmFastGelu", example=("B, M, K; K, N; N", "", "(B, M, N)"), kinds=_SIZES)
def gemm_fast_gelu(X: Tensor, W: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return the FastGelu of the product of *X* and the matrix *W*, to which *bias* is added."""
    require_rank("GemmFastGelu", X, 2)
    require_rank("GemmFastGelu", W, 2, 2)
    X = demanding(X, "{} elements to multiply, not {}", [(X.shape[-1], W.shape[0])])
    made: Tensor = fast_gelu(contractions.matmul(X, W), bias)
    return made
