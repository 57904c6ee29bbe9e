"""ONNX's normalisations, softmax and its kin."""

from __future__ import annotations

import operator as python
from collections.abc import Callable
from typing import Any

from symlayout.compute import along_axis, normalization, reductions
from symlayout.compute.demands import demanding, nonempty, spread
from symlayout.compute.normalization import normalized
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.element_types import of_number
from symlayout.frontends.onnx.elementwise import apply
from symlayout.frontends.onnx.operator import AT_LEAST_1, operator
from symlayout.frontends.onnx.types import cast_to
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import NotDeclaredError
from symlayout.ops.axes import expand_dims, squeeze
from symlayout.ops.reshape import reshape
from symlayout.tensors.chain import Tensor

_AXIS = "bad_axis, attr_dtype"
_SIZES = "rank, size_mismatch, bad_axis"


def _along(name: str, x: Tensor, axis: Any, function: Callable[..., Any], attributes_: Any = ()) -> Tensor:
    rank = require_rank(name, x, 0)
    return along_axis.along(x, attributes.axes("axis", axis, rank), function, attributes_)


@operator("Softmax", "Softmax-13", example=("N, C", "axis=1", "(N, C)"), kinds=_AXIS)
def softmax(input: Tensor, axis: Any = -1) -> Tensor:
    """Return exponentials divided by their sum along *axis*."""
    return _along("Softmax", input, axis, along_axis.softmax)


@operator("LogSoftmax", "LogSoftmax-13", example=("N, C", "axis=1", "(N, C)"), kinds=_AXIS)
def log_softmax(input: Tensor, axis: Any = -1) -> Tensor:
    """Return the logarithm of the softmax along *axis*."""
    return _along("LogSoftmax", input, axis, along_axis.log_softmax)


@operator("Hardmax", "Hardmax-13", example=("N, C", "axis=1", "(N, C)"), kinds=_AXIS)
def hardmax(input: Tensor, axis: Any = -1) -> Tensor:
    """Return 1 at the first of the largest elements along *axis*, and 0 elsewhere."""
    return _along("Hardmax", input, axis, along_axis.hardmax)


def _flat(name: str, x: Tensor, axis: Any, function: Callable[..., Any]) -> Tensor:
    along = attributes.axis("axis", axis, require_rank(name, x, 1))
    return along_axis.along(x, range(along, x.rank), function)


@operator("Softmax-11", "Softmax-1", example=("N, C, H", "", "(N, C, H)"), kinds=_AXIS)
def softmax_11(input: Tensor, axis: Any = 1) -> Tensor:
    """Return exponentials divided by their sum over all axes from *axis* on, as until opset 12."""
    return _flat("Softmax", input, axis, along_axis.softmax)


@operator("LogSoftmax-11", "LogSoftmax-1", example=("N, C, H", "", "(N, C, H)"), kinds=_AXIS)
def log_softmax_11(input: Tensor, axis: Any = 1) -> Tensor:
    """Return the logarithm of the softmax over all axes from *axis* on, as until opset 12."""
    return _flat("LogSoftmax", input, axis, along_axis.log_softmax)


@operator("Hardmax-11", "Hardmax-1", example=("N, C, H", "", "(N, C, H)"), kinds=_AXIS)
def hardmax_11(input: Tensor, axis: Any = 1) -> Tensor:
    """Return 1 at the first of the largest elements of all axes from *axis* on, as until opset 12."""
    return _flat("Hardmax", input, axis, along_axis.hardmax)


@operator("LpNormalization", example=("N, C", "axis=1", "(N, C)"), kinds=_AXIS, allowed={"p": (1, 2)})
def lp_normalization(input: Tensor, axis: Any = -1, p: Any = 2) -> Tensor:
    """Return elements divided by the norm along *axis*."""
    return _along("LpNormalization", input, axis, along_axis.lp_normalized, (("p", python.index(p)),))


@operator("MeanVarianceNormalization", example=("N, C, H, W", "", "(N, C, H, W)"), kinds=_AXIS)
def mean_variance_normalization(X: Tensor, axes: Any = (0, 2, 3)) -> Tensor:
    """Return elements minus their mean along *axes*, divided by their standard deviation."""
    along = attributes.axes("axes", axes, require_rank("MeanVarianceNormalization", X, 1))
    return along_axis.along(X, along, along_axis.standardized)


@operator(
    "BatchNormalization",
    example=("N, C, H; C; C; C; C", "", "(N, C, H)"),
    kinds=_SIZES,
    about={"spatial": "As in the versions before 9.", "training_mode": "Whether the statistics are those of *X*."},
)
def batch_normalization(
    X: Tensor,
    scale: Tensor,
    B: Tensor,
    input_mean: Tensor,
    input_var: Tensor,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: Any = 0,
    spatial: Any = 1,
    outputs: int = 1,
) -> Tensor | list[Tensor]:
    """Return *X* minus a mean for each channel, divided by the deviation; *scale* and *B* are applied after."""
    if require_rank("BatchNormalization", X, 1) == 1:  # one channel
        given = {"epsilon": epsilon, "momentum": momentum, "training_mode": training_mode, "spatial": spatial}
        made = batch_normalization(expand_dims(X, 1), scale, B, input_mean, input_var, **given, outputs=outputs)
        return [squeeze(made[0], 1), *made[1:]] if isinstance(made, list) else squeeze(made, 1)
    if not attributes.flag("spatial", spatial):
        raise NotDeclaredError("spatial is 0: parameters of each element are not supported")
    training = attributes.flag("training_mode", training_mode)
    if outputs != (3 if training else 1):
        raise ShapeError(f"there are {outputs} outputs, {'training has 3' if training else 'one is due'}", "attr_range")
    mean, variance = input_mean, input_var
    for p in (scale, B, mean, variance):
        require_rank("a parameter by channel", p, 1, 1)
        X = demanding(X, "there are {} numbers for {} channels", [(p.shape[0], X.shape[1])])
    if training:
        axes = [k for k in range(X.rank) if k != 1]
        X = nonempty(X, axes)
        mean = reductions.reduced(X, axes, reductions.mean, keepdims=False)
        centred = apply("Sub", X, expand_dims(mean, list(range(1, X.rank - 1))) if X.rank > 2 else mean)
        variance = reductions.reduced(apply("Mul", centred, centred), axes, reductions.mean, keepdims=False)
        mean, variance = (cast_to(s, like.dtype) for s, like in ((mean, input_mean), (variance, input_var)))
    y = normalization.batch_norm(X, scale, B, mean, variance, float(epsilon))
    if not training:
        return y
    kept = [(input_mean, mean), (input_var, variance)]
    return [y, *(_blend(old, new, float(momentum)) for old, new in kept)]


@operator(
    "BatchNormalization-9",
    "BatchNormalization-7",
    example=("N, C, H; C; C; C; C", "", "(N, C, H)"),
    kinds=_SIZES,
    about={"spatial": "As in the versions before 9."},
)
def batch_normalization_9(
    X: Tensor,
    scale: Tensor,
    B: Tensor,
    mean: Tensor,
    var: Tensor,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    spatial: Any = 1,
    outputs: int = 1,
) -> Tensor | list[Tensor]:
    """Return *X* minus a mean for each channel, divided by the deviation; then *scale* and *B*, as until opset 13.

    With several outputs, these versions train.
    """
    if outputs > 1:
        raise NotDeclaredError("BatchNormalization of version 9 has no declaration for training")
    return batch_normalization(X, scale, B, mean, var, epsilon, momentum, spatial=spatial)


def _blend(old: Tensor, new: Tensor, momentum: float) -> Tensor:
    from symlayout.frontends.onnx.products import scaled

    return apply("Add", scaled(old, momentum), scaled(new, 1 - momentum))


@operator("InstanceNormalization", example=("N, C, H; C; C", "", "(N, C, H)"), kinds=_SIZES)
def instance_normalization(input: Tensor, scale: Tensor, B: Tensor, epsilon: float = 1e-5) -> Tensor:
    """Return each channel of each image minus its mean, divided by its deviation; then *scale* and *B*."""
    rank = require_rank("InstanceNormalization", input, 3)
    scale, B = (_by_channel(p, input.shape[1]) for p in (scale, B))
    made = along_axis.along(input, range(2, rank), normalized, (("epsilon", float(epsilon)),))
    inner = list(range(1, rank - 1))
    return apply("Add", apply("Mul", made, expand_dims(scale, inner)), expand_dims(B, inner))


_STASH = {
    "stash_type": "The number of the element type in which the mean is computed.",
    "num_groups": "The number of groups of channels.",
}


def _by_channel(parameter: Tensor, count: Any) -> Tensor:
    """Return numbers of which there is one for each channel or group."""
    require_rank("a parameter by channel", parameter, 1, 1)
    return demanding(parameter, "there are {} numbers for {} channels", [(parameter.shape[0], count)])


def _grouped(X: Tensor, num_groups: Any, epsilon: float) -> tuple[Tensor, int]:
    rank = require_rank("GroupNormalization", X, 2)
    groups = attributes.constant("num_groups", num_groups)
    X = nonempty(X)
    n, c, *spatial = X.shape
    each = c // groups if isinstance(c, int) and c % groups == 0 else c / groups
    split = reshape(X, (n, groups, each, *spatial))
    made = along_axis.along(split, range(2, rank + 1), normalized, (("epsilon", float(epsilon)),))
    return made, groups


@operator(
    "GroupNormalization",
    example=("N, 4*c, H; 4*c; 4*c", "num_groups=4", "(N, 4*c, H)"),
    kinds=_SIZES,
    about=_STASH,
    allowed={"num_groups": AT_LEAST_1},
)
def group_normalization(
    X: Tensor, scale: Tensor, bias: Tensor, num_groups: Any, epsilon: float = 1e-5, stash_type: Any = 1
) -> Tensor:
    """Return each group of channels minus its mean, divided by its deviation; then *scale* and *bias* by channel."""
    made, _ = _grouped(X, num_groups, epsilon)
    scale, bias = (_by_channel(p, X.shape[1]) for p in (scale, bias))
    whole, inner = reshape(made, X.shape), list(range(1, X.rank - 1))
    s, b = (expand_dims(p, inner) if inner else p for p in (scale, bias))
    return apply("Add", apply("Mul", whole, s), b)


@operator(
    "GroupNormalization-18",
    example=("N, 4*c, H; 4; 4", "num_groups=4", "(N, 4*c, H)"),
    kinds=_SIZES,
    about=_STASH,
    allowed={"num_groups": AT_LEAST_1},
)
def group_normalization_18(X: Tensor, scale: Tensor, bias: Tensor, num_groups: Any, epsilon: float = 1e-5) -> Tensor:
    """Return each group of channels minus its mean, divided by its deviation; then *scale* and *bias* by group."""
    made, groups = _grouped(X, num_groups, epsilon)
    s, b = (expand_dims(_by_channel(p, groups), list(range(1, made.rank - 1))) for p in (scale, bias))
    return reshape(apply("Add", apply("Mul", made, s), b), X.shape)


@operator(
    "LayerNormalization",
    "microsoft:LayerNormalization",
    example=("N, S, D; D; D", "", "(N, S, D)"),
    kinds=_SIZES,
    about=_STASH,
)
def layer_normalization(
    X: Tensor,
    Scale: Tensor,
    B: Tensor | None = None,
    axis: Any = -1,
    epsilon: float = 1e-5,
    stash_type: Any = 1,
    outputs: int = 1,
) -> Tensor | list[Tensor]:
    """Return *X* minus its mean over the axes from *axis* on, divided by its deviation; then *Scale* and *B*.

    Other outputs are the mean and the inverse of the deviation.
    """
    rank = require_rank("LayerNormalization", X, 1)
    first = attributes.axis("axis", axis, rank)
    axes, given = range(first, rank), (("epsilon", float(epsilon)),)
    X = nonempty(X, axes)
    y = apply("Mul", along_axis.along(X, axes, normalized, given), spread(Scale, X.shape))
    if B is not None:
        y = apply("Add", y, spread(B, X.shape))
    if outputs == 1:
        return y
    stash = of_number("stash_type", stash_type)
    x = cast_to(X, stash)
    mean = reductions.reduced(x, axes, reductions.mean, keepdims=True)
    deviation = reductions.reduced(x, axes, normalization.inverse_deviation, keepdims=True, attributes=given)
    return [y, mean, deviation][:outputs]


@operator("RMSNormalization", example=("N, S, D; D", "", "(N, S, D)"), kinds=_SIZES, about=_STASH)
def rms_normalization(X: Tensor, scale: Tensor, axis: Any = -1, epsilon: float = 1e-5, stash_type: Any = 1) -> Tensor:
    """Return *X* divided by the root of its mean square over the axes from *axis* on, times *scale*."""
    rank = require_rank("RMSNormalization", X, 1)
    first = attributes.axis("axis", axis, rank)
    given = (("epsilon", float(epsilon)),)
    X = nonempty(X, range(first, rank))
    made = along_axis.along(X, range(first, rank), normalization.root_mean_square_normalized, given)
    return apply("Mul", made, spread(scale, X.shape))


@operator(
    "LRN",
    example=("N, C, H, W", "size=5", "(N, C, H, W)"),
    kinds="rank, attr_dtype",
    about={"size": "The number of channels."},
    allowed={"size": AT_LEAST_1},
)
def lrn(X: Tensor, size: Any, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0) -> Tensor:
    """Return elements divided by a power of the sum of squares of the channels around them."""
    require_rank("LRN", X, 3)
    return normalization.lrn(X, attributes.constant("size", size), float(alpha), float(beta), float(bias))
