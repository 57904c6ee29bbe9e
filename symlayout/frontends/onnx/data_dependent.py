"""ONNX's operators whose results have as many elements as the data says, and operators that write."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symlayout.compute import whole as core
from symlayout.compute.demands import chosen_from, demanding
from symlayout.compute.reductions import reduced
from symlayout.compute.sampling import chosen_boxes
from symlayout.compute.whole import whole
from symlayout.errors import LEFT_OUT, ShapeError, shown
from symlayout.frontends import attributes
from symlayout.frontends.onnx.indexing import gather
from symlayout.frontends.onnx.operator import as_tensor, is_known, known, operator
from symlayout.frontends.rank import require_number, require_rank, require_shape
from symlayout.frontends.registry import NotDeclaredError
from symlayout.language.sympy_bridge import fresh
from symlayout.ops.axes import moveaxis
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Places
from symlayout.tensors.uniform_constants import everywhere

_REDUCTION = ("none", "add", "mul", "max", "min")


@operator("NonZero", example=("4, 5", "", "2"), kinds="infeasible")
def non_zero(X: Tensor) -> Tensor:
    """Return the coordinates of the elements that are not 0, in row-major order: one column for each.

    Their number is a new dim, at most the number of elements.  Of a constant that is the same everywhere, it is known.
    """
    total = math.prod(X.shape)
    value = everywhere([X])
    if value is not None and value.dtype.kind in "biuf":
        return whole("nonzero", [X], (X.rank, total if value else 0), function=core.nonzero, dtype=np.int64)
    count = fresh("nnz", 0)
    return whole("nonzero", [X], (X.rank, count), function=core.nonzero, dtype=np.int64, limits=[(count, total)])


@operator("Compress", example=("4, 5; 4", "axis=0", "2"), kinds="rank, bad_axis")
def compress(input: Tensor, condition: Tensor | Any, axis: Any = None) -> Tensor:
    """Return the slices of *input* where a condition holds.

    Without *axis*, elements in row-major order.  A number that is read at run time is a new dim.  What runtimes make of
    a condition that is longer than the axis is not declared.
    """
    along = None if axis is None else attributes.axes("axis", axis, require_rank("Compress", input, 1))[0]
    total = math.prod(input.shape) if along is None else input.shape[along]
    length = np.shape(condition)[:1] if is_known(condition) else condition.shape[:1]
    what = "{} elements, fewer than the {} of the condition"
    input = demanding(input, what, at_least=[(total, n) for n in length], kind=LEFT_OUT)
    if is_known(condition) and along is not None:
        chosen, extent = known("condition", condition), input.shape[along]
        if isinstance(extent, int) and chosen.size > extent:
            raise NotDeclaredError(f"condition has {chosen.size} values for {extent} elements")
        return gather(input, np.flatnonzero(chosen), axis=along)
    count = fresh("selected", 0)
    shape = (count,) if along is None else (*input.shape[:along], count, *input.shape[along + 1 :])
    xs = [input, as_tensor("Compress", "condition", condition)]
    given = [("axis", along)]
    return whole("compressed", xs, shape, function=core.compressed, attributes=given, limits=[(count, total)])


@operator("Unique", example=("6, 5", "", "1"), kinds="bad_axis", about={"sorted": "Whether they are in order."})
def unique(X: Tensor, axis: Any = None, sorted: Any = 1, outputs: int = 1) -> Tensor | list[Tensor]:
    """Return the distinct elements, or slices along *axis*; then first places, inverse places and counts."""
    along = None if axis is None else attributes.axes("axis", axis, require_rank("Unique", X, 1))[0]
    total = math.prod(X.shape) if along is None else X.shape[along]
    count = fresh("distinct", 0)
    shape = (count,) if along is None else (*X.shape[:along], count, *X.shape[along + 1 :])
    found = []
    for k, extents in enumerate((shape, (count,), (total,), (count,))[:outputs]):
        given = [("axis", along), ("ordered", attributes.flag("sorted", sorted)), ("output", k)]
        dtype = X.dtype if k == 0 else np.int64
        limits = [(count, total)]
        found.append(whole("unique", [X], extents, function=core.unique, attributes=given, dtype=dtype, limits=limits))
    return found if outputs > 1 else found[0]


@operator(
    "NonMaxSuppression",
    example=("N, 10, 4; N, C, 10", "", "2"),
    kinds="rank, attr_range, size_mismatch",
    about={"center_point_box": "How boxes are written."},
    allowed={"center_point_box": range(2)},
)
def non_max_suppression(
    boxes: Tensor,
    scores: Tensor,
    max_output_boxes_per_class: Tensor | None = None,
    iou_threshold: Tensor | None = None,
    score_threshold: Tensor | None = None,
    center_point_box: Any = 0,
) -> Tensor:
    """Return the chosen boxes: for each its batch, its class and its number."""
    require_rank("NonMaxSuppression", boxes, 3, 3)
    require_rank("NonMaxSuppression", scores, 3, 3)
    boxes = require_shape("the boxes", boxes, (scores.shape[0], scores.shape[2], 4))
    numbers = (max_output_boxes_per_class, iou_threshold, score_threshold)
    given = tuple(x if x is None else require_number("a limit of NonMaxSuppression", x) for x in numbers)
    xs = [boxes, scores, *(x for x in given if x is not None)]
    places: tuple[Places, ...] = ()
    if iou_threshold is not None:
        share = Places(2 + (max_output_boxes_per_class is not None), limits=(0, 1))
        if iou_threshold.values is None:
            places = (share,)
        elif share.refuses(iou_threshold.values):
            raise ShapeError(f"iou_threshold is {shown(iou_threshold.values)}, not from 0 to 1", "attr_range")
    count = fresh("boxes", 0)
    present = [("center_point_box", int(center_point_box)), ("given", [x is not None for x in given])]
    limits = [(count, math.prod(scores.shape))]
    return whole(
        "non_max_suppression",
        xs,
        (count, 3),
        function=chosen_boxes,
        attributes=present,
        dtype=np.int64,
        limits=limits,
        places=places,
    )


@operator(
    "ScatterElements",
    "Scatter",
    example=("N, C; N, 2; N, 2", "axis=1", "(N, C)"),
    kinds="rank, size_mismatch, bad_axis, bad_mode",
)
def scatter_elements(data: Tensor, indices: Tensor, updates: Tensor, axis: Any = 0, reduction: str = "none") -> Tensor:
    """Return *data* with *updates* written where each index replaces the coordinate on *axis*."""
    rank = require_rank("ScatterElements", data, 1)
    for x in (indices, updates):
        require_rank("ScatterElements", x, rank, rank)
    along = attributes.axis("axis", axis, rank)
    mode = attributes.choice("reduction", reduction, _REDUCTION)
    equal = list(zip(updates.shape, indices.shape, strict=True))
    within = [pair for k, pair in enumerate(zip(data.shape, indices.shape, strict=True)) if k != along]
    data = demanding(data, "an extent of {} beside one of {} in the indices", equal, within)
    data = chosen_from(data, [along], indices.shape)
    given = [("axis", along), ("reduction", mode)]
    xs, places = [data, indices, updates], (Places(1, axes=(along,)),)
    return whole("scattered", xs, data.shape, function=core.scattered, attributes=given, places=places)


@operator("ScatterND", example=("N, C; 2, 1; 2, C", "", "(N, C)"), kinds="rank, size_mismatch, bad_mode")
def scatter_nd(data: Tensor, indices: Tensor, updates: Tensor, reduction: str = "none") -> Tensor:
    """Return *data* with slices of *updates* written at the coordinates in the last axis of *indices*."""
    require_rank("ScatterND", data, 1)
    require_rank("ScatterND", indices, 1)
    given = [("reduction", attributes.choice("reduction", reduction, _REDUCTION))]
    count = indices.rank - 1 + data.rank - updates.rank  # of coordinates
    if not 0 <= count <= data.rank:
        raise ShapeError(f"updates have rank {updates.rank}, for indices that have {indices.rank}", "size_mismatch")
    indices = require_shape("the indices", indices, (*indices.shape[:-1], count))
    updates = require_shape("the updates", updates, (*indices.shape[:-1], *data.shape[count:]))
    data = chosen_from(data, range(count), indices.shape[:-1])
    xs, places = [data, indices, updates], (Places(1),)
    return whole("scattered_nd", xs, data.shape, function=core.scattered_nd, attributes=given, places=places)


@operator(
    "ReverseSequence",
    example=("T, N, C; N", "", "(T, N, C)"),
    kinds="rank, size_mismatch, bad_axis",
    about={"batch_axis": "The axis that *sequence_lens* has.", "time_axis": "The axis that is reversed."},
    allowed={"batch_axis": range(2), "time_axis": range(2)},
)
def reverse_sequence(input: Tensor, sequence_lens: Tensor, batch_axis: Any = 1, time_axis: Any = 0) -> Tensor:
    """Return *input* with the first elements of each sequence in reverse order."""
    return reversed_sequences(input, sequence_lens, batch_axis, time_axis)


def reversed_sequences(input: Tensor, sequence_lens: Tensor, batch_axis: Any, time_axis: Any) -> Tensor:
    """Return *input* with the first elements of each sequence along any axis in reverse order."""
    rank = require_rank("ReverseSequence", input, 2)
    axes = [attributes.axes(name, a, rank)[0] for name, a in (("batch_axis", batch_axis), ("time_axis", time_axis))]
    if axes[0] == axes[1]:
        raise ShapeError("batch_axis and time_axis are one axis", "bad_axis")
    require_rank("ReverseSequence", sequence_lens, 1, 1)
    what, fitting = "{} lengths of {} sequences", [(sequence_lens.shape[0], input.shape[axes[0]])]
    input = demanding(input, what, at_least=fitting)
    input = demanding(input, what, fitting, kind=LEFT_OUT)  # onnxruntime reads the first ones
    view = moveaxis(input, axes, [0, 1])
    places = (Places(1, axes=(1,), lengths=True),)
    made = whole("reversed_parts", [view, sequence_lens], view.shape, function=core.reversed_parts, places=places)
    return moveaxis(made, [0, 1], axes)


@operator("Det", example=("N, 3, 3", "", "(N,)"), kinds="rank, size_mismatch")
def det(X: Tensor) -> Tensor:
    """Return the determinant of each matrix."""
    rank = require_rank("Det", X, 2)
    X = demanding(X, "a matrix of {} rows and {} columns has no determinant", [(X.shape[-2], X.shape[-1])])
    X = demanding(X, "matrices of {} rows and {} columns", [X.shape[-2:]])
    return reduced(X, [rank - 2, rank - 1], core.determinant, keepdims=False, commutative=False)
