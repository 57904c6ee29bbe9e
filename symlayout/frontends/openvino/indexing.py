"""OpenVINO's operations that read and write at indices, and whose extents depend on data."""

from __future__ import annotations

from typing import Any

import numpy as np

from symlayout.compute import gather as core
from symlayout.compute import whole as functions
from symlayout.compute.whole import whole
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx import data_dependent, shape_values
from symlayout.frontends.onnx import indexing as onnx
from symlayout.frontends.onnx.elementwise import apply, where
from symlayout.frontends.onnx.operator import as_tensor, known, known_number, operator
from symlayout.frontends.onnx.types import cast_to
from symlayout.frontends.openvino.element_types import of_name
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import NotDeclaredError
from symlayout.ops.axes import expand_dims
from symlayout.ops.split import split_sizes
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Places

_KINDS = "rank, bad_axis, size_mismatch, attr_dtype"
_ABOUT = {
    "axis": "Negative ones count from the end.",
    "batch_dims": "How many of the first axes both inputs have.",
    "depth": "The extent of the new axis.",
    "indices": "Coordinates; negative ones count from the end.",
    "off_value": "The value elsewhere.",
    "on_value": "The value at the index.",
    "output_type": "The element type of the result.",
    "reduction": "How several values become one, as the specification spells it.",
    "seq_axis": "The axis that is reversed.",
    "batch_axis": "The axis that *seq_lengths* has.",
    "split_lengths": "The extents of the parts; one may be -1.",
    "start": "The first value.",
    "stop": "What no value reaches.",
    "step": "The distance of values.",
    "updates": "What is written.",
    "use_init_val": "Whether the element before counts.",
    "with_right_bound": "Whether a bucket has its upper limit.",
}


def _axis(name: str, axis: Any, rank: int) -> int:
    given = known(name, axis).reshape(-1) if hasattr(axis, "shape") else axis
    return attributes.axes(name, given, rank)[0]


@operator(
    "openvino:Gather-1", "openvino:Gather-7", "openvino:Gather-8",
    example=("N, C, H; 2", "axis=1", "(N, 2, H)"), kinds=_KINDS, about=_ABOUT,
)  # fmt: skip
def gather(data: Tensor, indices: Tensor | Any, axis: Any, batch_dims: Any = 0) -> Tensor:
    """Return slices of *data* along *axis* in the order of *indices*, whose axes replace *axis*."""
    along = _axis("axis", axis, require_rank("Gather", data, 1))
    count = attributes.constant("batch_dims", batch_dims)
    index = as_tensor("Gather", "indices", indices)
    if count < 0:
        count += index.rank
    if not 0 <= count <= min(along, index.rank):
        raise ShapeError(f"batch_dims is {count} for axis {along} and indices of rank {index.rank}", "bad_axis")
    if count:
        return core.gather_runtime(data, index, along, count)
    made: Tensor = onnx.gather(data, indices, axis=along)
    return made


@operator("openvino:GatherElements-6", example=("N, C; N, 3", "axis=1", "(N, 3)"), kinds=_KINDS, about=_ABOUT)
def gather_elements(data: Tensor, indices: Tensor, axis: Any) -> Tensor:
    """Return the element of *data* at the coordinate of each index, with the index in place of that on *axis*."""
    return core.gather_elements(data, indices, _axis("axis", axis, require_rank("GatherElements-6", data, 1)))


@operator("openvino:GatherND-8", example=("N, C, H; M, 2", "", "(M, H)"), kinds=f"{_KINDS}, unknown_rank", about=_ABOUT)
def gather_nd(data: Tensor, indices: Tensor, batch_dims: Any = 0) -> Tensor:
    """Return slices of *data* at the coordinates that the last axis of *indices* has."""
    require_rank("GatherND-8", data, 1)
    return core.gather_nd(data, indices, attributes.constant("batch_dims", batch_dims))


@operator("openvino:GatherND-5", example=("N, C, H; M, 2", "", "(M, H)"), kinds=f"{_KINDS}, not_declared", about=_ABOUT)
def gather_nd_5(data: Tensor, indices: Tensor, batch_dims: Any = 0) -> Tensor:
    """Return slices of *data* at coordinates, as `gather_nd`, of tensors without a batch or with one axis of it."""
    if attributes.constant("batch_dims", batch_dims) > 1:
        raise NotDeclaredError("GatherND-5 joins the axes of the batch")
    return core.gather_nd(data, indices, attributes.constant("batch_dims", batch_dims))


@operator(
    "openvino:ScatterUpdate-3", example=("N, C; 2; N, 2", "axis=1", "(N, C)"), kinds="rank, bad_axis", about=_ABOUT
)
def scatter_update(data: Tensor, indices: Tensor, updates: Tensor, axis: Any) -> Tensor:
    """Return *data* with slices of *updates* written at the *indices* of *axis*."""
    along = _axis("axis", axis, require_rank("ScatterUpdate-3", data, 1))
    require_rank("ScatterUpdate-3", updates, data.rank + indices.rank - 1, data.rank + indices.rank - 1)
    xs, given = [data, indices, updates], [("axis", along)]
    places = (Places(1, axes=(along,)),)
    scattered = functions.scattered_slices
    return whole("scattered_slices", xs, data.shape, function=scattered, attributes=given, places=places)


@operator(
    "openvino:ScatterElementsUpdate-3", example=("N, C; N, 2; N, 2", "axis=1", "(N, C)"), kinds="rank, bad_axis",
    about=_ABOUT,
)  # fmt: skip
def scatter_elements_update_3(data: Tensor, indices: Tensor, updates: Tensor, axis: Any) -> Tensor:
    """Return *data* with *updates* written where each index replaces the coordinate on *axis*."""
    along = _axis("axis", axis, require_rank("ScatterElementsUpdate-3", data, 1))
    made: Tensor = data_dependent.scatter_elements(data, indices, updates, axis=along)
    return made


@operator(
    "openvino:ScatterElementsUpdate-12", example=("N, C; N, 2; N, 2", "axis=1", "(N, C)"),
    kinds="rank, bad_axis, bad_mode, not_declared", about=_ABOUT,
)  # fmt: skip
def scatter_elements_update(
    data: Tensor, indices: Tensor, updates: Tensor, axis: Any, reduction: str = "none", use_init_val: Any = True
) -> Tensor:
    """Return *data* with *updates* written, or added, where each index replaces the coordinate on *axis*."""
    mode = _reduction(reduction, ("none", "sum", "prod", "min", "max", "mean"))
    if mode == "mean" or not (mode == "none" or attributes.flag("use_init_val", use_init_val)):
        raise NotDeclaredError("ScatterElementsUpdate-12 takes means, or updates without the element before")
    along = _axis("axis", axis, require_rank("ScatterElementsUpdate-12", data, 1))
    made: Tensor = data_dependent.scatter_elements(data, indices, updates, axis=along, reduction=mode)
    return made


@operator("openvino:ScatterNDUpdate-4", example=("N, C; 2, 1; 2, C", "", "(N, C)"), kinds="rank", about=_ABOUT)
def scatter_nd_update(data: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """Return *data* with slices of *updates* written at the coordinates in the last axis of *indices*."""
    made: Tensor = data_dependent.scatter_nd(data, indices, updates)
    return made


def _reduction(given: Any, known_: tuple[str, ...]) -> str:
    mode = attributes.choice("reduction", given, known_)
    return {"sum": "add", "prod": "mul"}.get(mode, mode)


@operator("openvino:ReverseSequence-1", example=("N, T, C; N", "", "(N, T, C)"), kinds="rank, bad_axis", about=_ABOUT)
def reverse_sequence(data: Tensor, seq_lengths: Tensor, batch_axis: Any = 0, seq_axis: Any = 1) -> Tensor:
    """Return *data* with the first elements of each sequence in reverse order."""
    return data_dependent.reversed_sequences(data, seq_lengths, batch_axis, seq_axis)


@operator(
    "openvino:OneHot-1", example=("N", "depth=4, on_value=1.0, off_value=0.0, axis=-1", "(N, 4)"),
    kinds="bad_axis, attr_dtype", about=_ABOUT,
)  # fmt: skip
def one_hot(indices: Tensor, depth: Any, on_value: Tensor, off_value: Tensor, axis: Any) -> Tensor:
    """Return *on_value* at each index along a new axis, and *off_value* elsewhere."""
    rank = indices.rank
    along = attributes.axis("axis", axis, rank + 1)
    count = int(known_number("depth", depth))
    numbers = np.arange(count, dtype=indices.dtype or np.int64).reshape(-1, *(1,) * (rank - along))
    here = apply("Equal", expand_dims(indices, along), as_tensor("OneHot-1", "depth", numbers))
    return where(here, on_value, off_value)


@operator("openvino:NonZero-3", example=("4, 5", "", "2"), kinds="infeasible, attr_dtype", about=_ABOUT)
def non_zero(data: Tensor, output_type: str = "i64") -> Tensor:
    """Return the coordinates of the elements that are not 0, in row-major order: one column for each."""
    return cast_to(data_dependent.non_zero(data), of_name("output_type", output_type))


@operator("openvino:ShapeOf-1", "openvino:ShapeOf-3", example=("N, C, H", "", "(3,)"), kinds="attr_dtype", about=_ABOUT)
def shape_of(data: Tensor, output_type: str = "i64") -> Tensor:
    """Return the extents of *data*."""
    return cast_to(shape_values.shape(data), of_name("output_type", output_type))


@operator(
    "openvino:Range-4", example=("", 'start=0, stop=10, step=3, output_type="i64"', "(4,)"),
    kinds="attr_dtype, infeasible", about=_ABOUT,
)  # fmt: skip
def range(start: Any, stop: Any, step: Any, output_type: str) -> Tensor:
    """Return the values from *start* to before *stop*, every *step*."""
    dtype = of_name("output_type", output_type)
    first, last, by = (np.asarray(known("value", v)).reshape(()) for v in (start, stop, step))
    if dtype.kind in "iu" and all(v.dtype.kind == "f" for v in (first, last, by)):
        first, last, by = (np.trunc(v).astype(np.int64) for v in (first, last, by))
    made: Tensor = shape_values.range(first, last, by)
    return cast_to(made, dtype)


@operator("openvino:Bucketize-3", example=("N, C; K", "", "(N, C)"), kinds="rank, attr_dtype", about=_ABOUT)
def bucketize(data: Tensor, buckets: Tensor, output_type: str = "i64", with_right_bound: Any = True) -> Tensor:
    """Return the number of the bucket of each element; *buckets* has their limits in increasing order."""
    require_rank("Bucketize-3", buckets, 1, 1)
    right = attributes.flag("with_right_bound", with_right_bound)
    xs, given = [data, buckets], [("right", right)]
    made = whole("bucket", xs, data.shape, function=functions.bucket, attributes=given, dtype=np.int64)
    return cast_to(made, of_name("output_type", output_type))


@operator(
    "openvino:VariadicSplit-1", example=("N, 9", "axis=1, split_lengths=(2, -1)", "[(N, 2), (N, 7)]"),
    kinds="bad_axis, length_mismatch, size_mismatch, attr_dtype", about=_ABOUT,
)  # fmt: skip
def variadic_split(data: Tensor, axis: Any, split_lengths: Any) -> list[Tensor]:
    """Return the parts of *data* along *axis*, of the extents *split_lengths*."""
    along = _axis("axis", axis, require_rank("VariadicSplit-1", data, 1))
    lengths = attributes.listed("split_lengths", split_lengths)
    rest = [k for k, n in enumerate(lengths) if isinstance(n, int) and n == -1]
    if len(rest) > 1:
        raise ShapeError(f"split_lengths is {lengths}, with several -1", "length_mismatch")
    if rest:
        lengths[rest[0]] = data.shape[along] - sum(n for k, n in enumerate(lengths) if k != rest[0])
    return split_sizes(data, lengths, along)
