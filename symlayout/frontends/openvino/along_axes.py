"""OpenVINO's reductions and normalisations, and what is computed along one axis."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from symlayout.compute import along_axis, normalization, reductions
from symlayout.frontends import attributes
from symlayout.frontends.onnx import normalization as onnx
from symlayout.frontends.onnx.elementwise import apply
from symlayout.frontends.onnx.operator import known, known_number, operator, snake_case
from symlayout.frontends.onnx.types import cast_to
from symlayout.frontends.openvino.element_types import of_name
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import NotDeclaredError
from symlayout.tensors.chain import Tensor

ROWS: dict[str, tuple[Callable[..., Any], bool]] = {
    "ReduceL1-4": (reductions.sum_of_absolutes, False),
    "ReduceL2-4": (reductions.root_of_squares, False),
    "ReduceLogicalAnd-1": (reductions.least, True),
    "ReduceLogicalOr-1": (reductions.greatest, True),
    "ReduceMax-1": (reductions.greatest, True),
    "ReduceMean-1": (reductions.mean, False),
    "ReduceMin-1": (reductions.least, True),
    "ReduceProd-1": (reductions.product, False),
    "ReduceSum-1": (reductions.total, False),
}
_AXIS = "bad_axis, attr_dtype"
_ABOUT = {
    "keep_dims": "Whether the axes stay, with extent 1.",
    "axes": "Negative ones count from the end; no axis is no reduction.",
    "eps": "What is added, or the least value of a norm.",
    "eps_mode": "Where *eps* is added, as the specification spells it.",
    "across_channels": "Whether the channels have one mean.",
    "normalize_variance": "Whether values are divided by the deviation.",
    "num_groups": "The number of groups of channels.",
    "size": "The number of channels.",
    "bias": "What is added to the sum of squares.",
    "k": "How many: a constant.",
    "mode": '``"max"`` or ``"min"``.',
    "sort": '``"value"``, ``"index"`` or ``"none"``: the order of the result.',
    "stable": "Has no effect: of equal elements, the first ones come first.",
    "index_element_type": "The element type of the positions.",
}


def _axes(data: Tensor, axes: Any) -> list[int]:
    return attributes.axes("axes", known("axes", axes).reshape(-1) if hasattr(axes, "shape") else axes, data.rank)


def _registered(name: str, function: Callable[..., Any], exact: bool) -> Callable[..., Tensor]:
    def applied(data: Tensor, axes: Any, keep_dims: Any = False) -> Tensor:
        along = _axes(data, axes)
        if not along:
            return data
        return reductions.reduced(data, along, function, keepdims=attributes.flag("keep_dims", keep_dims), exact=exact)

    applied.__name__ = applied.__qualname__ = snake_case(name)
    meaning = (inspect.getdoc(function) or "").removeprefix("Return the ").partition(";")[0].partition(",")[0]
    applied.__doc__ = f"Return the {meaning.rstrip('.').partition(':')[0]} along *axes*."
    return operator(
        f"openvino:{name}", example=("N, C, H", "axes=[1], keep_dims=True", "(N, 1, H)"), kinds=_AXIS, about=_ABOUT
    )(applied)


globals().update({snake_case(name): _registered(name, *row) for name, row in ROWS.items()})


@operator("openvino:SoftMax-1", "openvino:SoftMax-8", example=("N, C", "axis=1", "(N, C)"), kinds=_AXIS)
def soft_max(data: Tensor, axis: Any = 1) -> Tensor:
    """Return exponentials divided by their sum along *axis*."""
    return along_axis.along(data, attributes.axes("axis", axis, data.rank), along_axis.softmax)


@operator("openvino:LogSoftmax-5", example=("N, C", "axis=1", "(N, C)"), kinds=_AXIS)
def log_softmax(data: Tensor, axis: Any = -1) -> Tensor:
    """Return the logarithm of the softmax along *axis*."""
    return along_axis.along(data, attributes.axes("axis", axis, data.rank), along_axis.log_softmax)


def _normalized(data: Tensor, axes: list[int], variance: Any, eps: float, inside: bool) -> Tensor:
    if not attributes.flag("normalize_variance", variance):
        mean = reductions.reduced(data, axes, reductions.mean, keepdims=True)
        return apply("Sub", data, mean)
    function = normalization.normalized if inside else normalization.normalized_outside
    return along_axis.along(data, axes, function, (("epsilon", eps),))


@operator(
    "openvino:MVN-6", example=("N, C, H", 'axes=[2], normalize_variance=True, eps=1e-5, eps_mode="INSIDE_SQRT"',
    "(N, C, H)"), kinds=f"{_AXIS}, bad_mode", about=_ABOUT,
)  # fmt: skip
def mvn(data: Tensor, axes: Any, normalize_variance: Any, eps: float, eps_mode: str) -> Tensor:
    """Return *data* minus its mean along *axes*, divided by its deviation."""
    mode = attributes.choice("eps_mode", str(eps_mode).upper(), ("INSIDE_SQRT", "OUTSIDE_SQRT"))
    return _normalized(
        data, _axes(data, axes), normalize_variance, attributes.number("eps", eps), mode == "INSIDE_SQRT"
    )


@operator("openvino:MVN-1", example=("N, C, H, W", "", "(N, C, H, W)"), kinds="rank, attr_dtype", about=_ABOUT)
def mvn_1(data: Tensor, across_channels: Any = False, normalize_variance: Any = True, eps: float = 1e-9) -> Tensor:
    """Return *data* minus its mean over the spatial axes, divided by its deviation."""
    rank = require_rank("MVN-1", data, 3)
    first = 1 if attributes.flag("across_channels", across_channels) else 2
    return _normalized(data, list(range(first, rank)), normalize_variance, attributes.number("eps", eps), inside=True)


@operator(
    "openvino:NormalizeL2-1", example=("N, C, H", 'axes=[1], eps=1e-8, eps_mode="add"', "(N, C, H)"),
    kinds=f"{_AXIS}, bad_mode", about=_ABOUT,
)  # fmt: skip
def normalize_l2(data: Tensor, axes: Any, eps: float, eps_mode: str) -> Tensor:
    """Return *data* divided by the root of the sum of squares along *axes*."""
    mode = attributes.choice("eps_mode", eps_mode, ("add", "max"))
    given = (("epsilon", attributes.number("eps", eps)), ("added", mode == "add"))
    return along_axis.along(data, _axes(data, axes), normalization.length_normalized, given)


@operator(
    "openvino:BatchNormInference-5", example=("N, C, H; C; C; C; C", "epsilon=1e-5", "(N, C, H)"),
    kinds="rank, size_mismatch",
)  # fmt: skip
def batch_norm_inference(
    data: Tensor, gamma: Tensor, beta: Tensor, mean: Tensor, variance: Tensor, epsilon: float
) -> Tensor:
    """Return *data* minus a mean for each channel, divided by the deviation; *gamma* and *beta* are applied after."""
    return normalization.batch_norm(data, gamma, beta, mean, variance, attributes.number("epsilon", epsilon))


@operator(
    "openvino:BatchNormInference-1", example=("C; C; N, C, H; C; C", "epsilon=1e-5", "(N, C, H)"),
    kinds="rank, size_mismatch",
)  # fmt: skip
def batch_norm_inference_1(
    gamma: Tensor, beta: Tensor, data: Tensor, mean: Tensor, variance: Tensor, epsilon: float
) -> Tensor:
    """Return *data* minus a mean for each channel, divided by the deviation; *gamma* and *beta* are applied after."""
    return batch_norm_inference(data, gamma, beta, mean, variance, epsilon)


@operator(
    "openvino:GroupNormalization-12", example=("N, 4*c, H; 4*c; 4*c", "num_groups=4, epsilon=1e-5", "(N, 4*c, H)"),
    kinds="rank, size_mismatch, attr_dtype", about=_ABOUT,
)  # fmt: skip
def group_normalization(data: Tensor, scale: Tensor, bias: Tensor, num_groups: Any, epsilon: float) -> Tensor:
    """Return each group of channels minus its mean, divided by its deviation; then *scale* and *bias* by channel."""
    made: Tensor = onnx.group_normalization(data, scale, bias, num_groups, attributes.number("epsilon", epsilon))
    return made


@operator(
    "openvino:LRN-1", example=("N, C, H", "axes=[1], alpha=1e-4, beta=0.75, bias=1.0, size=5", "(N, C, H)"),
    kinds="rank, bad_axis, attr_dtype, not_declared", about=_ABOUT,
)  # fmt: skip
def lrn(data: Tensor, axes: Any, alpha: float, beta: float, bias: float, size: Any) -> Tensor:
    """Return elements divided by a power of the sum of squares of the channels around them."""
    if _axes(data, axes) != [1]:
        raise NotDeclaredError("LRN-1 adds squares of elements of other axes than the channels")
    made: Tensor = onnx.lrn(
        data,
        attributes.constant("size", size),
        attributes.number("alpha", alpha),
        attributes.number("beta", beta),
        attributes.number("bias", bias),
    )
    return made


@operator("openvino:GRN-1", example=("N, C, H, W", "bias=1.0", "(N, C, H, W)"), kinds="rank", about=_ABOUT)
def grn(data: Tensor, bias: float) -> Tensor:
    """Return *data* divided by the root of the sum of squares of its channels plus *bias*."""
    require_rank("GRN-1", data, 2)
    given = (("epsilon", attributes.number("bias", bias)), ("added", True))
    return along_axis.along(data, [1], normalization.length_normalized, given)


@operator("openvino:CumSum-3", example=("N, C", "axis=1", "(N, C)"), kinds=_AXIS)
def cum_sum(data: Tensor, axis: Any, exclusive: Any = False, reverse: Any = False) -> Tensor:
    """Return the sums of the elements up to each one along *axis*."""
    along = attributes.axis("axis", known_number("axis", axis) if hasattr(axis, "shape") else axis, data.rank)
    flags = {"exclusive": attributes.flag("exclusive", exclusive), "reverse": attributes.flag("reverse", reverse)}
    return along_axis.cumulative(data, along, **flags)


@operator(
    "openvino:TopK-1", "openvino:TopK-3", "openvino:TopK-11",
    example=("N, 9", 'k=3, axis=1, mode="max", sort="value"', "[(N, 3), (N, 3)]"),
    kinds="bad_axis, attr_dtype, bad_mode, crop_exceeds", about=_ABOUT,
)  # fmt: skip
def top_k(
    data: Tensor, k: Any, axis: Any, mode: str, sort: str, index_element_type: str = "i32", stable: Any = False
) -> list[Tensor]:
    """Return the largest or smallest elements along *axis*, and their positions."""
    along = attributes.axis("axis", axis, require_rank("TopK", data, 1))
    largest = attributes.choice("mode", mode, ("max", "min")) == "max"
    order = attributes.choice("sort", sort, ("value", "index", "none"))
    count = attributes.listed("k", known("k", k).reshape(-1) if hasattr(k, "shape") else k, 1)[0]
    values, positions = along_axis.top_k(data, count, along, largest=largest)
    if order == "index":
        values, positions = (along_axis.in_order_of(x, positions, along) for x in (values, positions))
    return [values, cast_to(positions, of_name("index_element_type", index_element_type))]
