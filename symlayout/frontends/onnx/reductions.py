"""ONNX's reductions: one row each.  Axes are an input or an attribute."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from symlayout.compute import reductions
from symlayout.compute.along_axis import arg_extreme
from symlayout.compute.demands import nonempty
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.operator import known, operator, snake_case
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import NotDeclaredError
from symlayout.tensors.chain import Applicable, Tensor

# Operator: its function, and whether no order of the terms changes the value.
ROWS: dict[str, tuple[Callable[..., Any], bool]] = {
    "ReduceL1": (reductions.sum_of_absolutes, False),
    "ReduceL2": (reductions.root_of_squares, False),
    "ReduceLogSum": (reductions.log_of_sum, False),
    "ReduceLogSumExp": (reductions.log_of_exponentials, False),
    "ReduceMax": (reductions.greatest, True),
    "ReduceMean": (reductions.mean, False),
    "ReduceMin": (reductions.least, True),
    "ReduceProd": (reductions.product, False),
    "ReduceSum": (reductions.total, False),
    "ReduceSumSquare": (reductions.sum_of_squares, False),
}


def _reduce(
    function: Callable[..., Any], exact: bool, data: Tensor, axes: Any, keepdims: Any, noop_with_empty_axes: Any
) -> Tensor:
    rank = data.rank
    listed = [] if axes is None else known("axes", axes).tolist() if hasattr(axes, "shape") else axes
    if isinstance(listed, int):
        raise ShapeError(f"axes is {listed}, it has to be a list", "attr_dtype")
    along = attributes.axes("axes", listed, rank) if listed != [] else []
    if len(along) < len(listed):
        raise NotDeclaredError(f"axes is {listed}, which repeats an axis", "bad_axis")
    if not along and not attributes.flag("noop_with_empty_axes", noop_with_empty_axes):
        along = list(range(rank))
    if not along and function in (reductions.total, reductions.product, reductions.greatest, reductions.least):
        return data
    if function is reductions.mean and isinstance(data, Tensor):
        data = nonempty(data, along)  # the mean of nothing is undefined: 0 in onnxruntime, NaN in the evaluator
    keep = attributes.flag("keepdims", keepdims)
    return reductions.reduced(data, along, function, keepdims=keep, exact=exact)


def _registered(name: str, function: Callable[..., Any], exact: bool) -> Callable[..., Tensor]:
    def applied(data: Tensor, axes: Any = None, keepdims: Any = 1, noop_with_empty_axes: Any = 0) -> Tensor:
        if not isinstance(data, Applicable):
            require_rank(name, data, 0)
        return _reduce(function, exact, data, axes, keepdims, noop_with_empty_axes)

    applied.__name__ = applied.__qualname__ = snake_case(name)
    meaning = (inspect.getdoc(function) or "").removeprefix("Return the ").partition(";")[0].partition(",")[0]
    applied.__doc__ = f"Return the {meaning.rstrip('.')} along *axes*."
    kinds = "bad_axis, attr_dtype, length_mismatch"
    return operator(name, example=("N, C, H", "axes=[1]", "(N, 1, H)"), kinds=kinds, any_rank=True)(applied)


globals().update({snake_case(name): _registered(name, *row) for name, row in ROWS.items()})

_ABOUT = {"select_last_index": "Whether the last of equal elements counts, not the first."}


@operator("ArgMax", example=("N, C, H", "axis=1", "(N, 1, H)"), kinds="bad_axis, attr_dtype", about=_ABOUT)
def arg_max(data: Tensor, axis: Any = 0, keepdims: Any = 1, select_last_index: Any = 0) -> Tensor:
    """Return the index of the largest element along *axis*, as int64."""
    return _extreme("ArgMax", data, axis, keepdims, select_last_index)


@operator("ArgMin", example=("N, C, H", "axis=1", "(N, 1, H)"), kinds="bad_axis, attr_dtype", about=_ABOUT)
def arg_min(data: Tensor, axis: Any = 0, keepdims: Any = 1, select_last_index: Any = 0) -> Tensor:
    """Return the index of the smallest element along *axis*, as int64."""
    return _extreme("ArgMin", data, axis, keepdims, select_last_index)


def _extreme(name: str, data: Tensor, axis: Any, keepdims: Any, last: Any) -> Tensor:
    rank = require_rank(name, data, 1)
    along = attributes.axis("axis", axis, rank)
    keep, final = attributes.flag("keepdims", keepdims), attributes.flag("select_last_index", last)
    return arg_extreme(data, along, largest=name == "ArgMax", last=final, keepdims=keep)
