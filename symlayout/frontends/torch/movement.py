"""PyTorch's operations that move elements, and that make tensors: those of its graphs, beside `shapes`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, ParamSpec, TypeVar

import numpy as np

from symlayout.compute.demands import demanding
from symlayout.compute.elementwise import aligned
from symlayout.compute.whole import where_elements
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx import data_dependent, indexing, shape_values
from symlayout.frontends.onnx.elementwise import where as chosen
from symlayout.frontends.onnx.operator import Sizes, as_tensor, known, operator
from symlayout.frontends.onnx.types import cast_to
from symlayout.frontends.registry import NotDeclaredError
from symlayout.frontends.torch import shapes
from symlayout.frontends.torch.promotion import SINGLE, number, promoted, typed
from symlayout.ops import reshape as core
from symlayout.ops.axes import expand_dims, moveaxis, swapaxes
from symlayout.ops.axes import squeeze as core_squeeze
from symlayout.ops.broadcast import broadcast_to
from symlayout.ops.concatenate import concatenate
from symlayout.ops.concatenate import stack as core_stack
from symlayout.ops.slicing import getitem
from symlayout.ops.split import split_sizes
from symlayout.ops.tile import repeat as core_repeat
from symlayout.ops.tile import tile
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Places

P = ParamSpec("P")
R = TypeVar("R")

KINDS = "rank, length_mismatch, attr_dtype, bad_axis, size_mismatch, crop_exceeds, not_declared, overflow"
ABOUT = {
    "accumulate": "Whether values are added to what is there.",
    "chunks": "The number of parts.",
    "dim": "The axis; negative ones count from the end.",
    "dim0": "One axis.",
    "dim1": "The other axis.",
    "destination": "Where the axes go.",
    "dtype": "The element type of the result, by NumPy's name.",
    "end": "What no element reaches.",
    "end_dim": "The last of the axes that become one.",
    "fill_value": "The value of each element.",
    "implicit": "Has no effect.",
    "index": "Coordinates.",
    "length": "The number of elements.",
    "m": "The number of columns; None is *n*.",
    "n": "The number of rows.",
    "other": "The tensor that has the shape.",
    "outputs": "The number of parts.",
    "output_size": "Has no effect.",
    "padding_idx": "Has no effect.",
    "pad": "``[begin, end]`` of the last axis, then of the one before it, and so on.",
    "repeats": "The number of copies.",
    "scale_grad_by_freq": "Has no effect.",
    "size": "The extents; one -1 stands for the remaining elements, or for the extent that is there.",
    "sizes": "The extents.",
    "source": "The axes that move.",
    "sparse": "Has no effect.",
    "sparse_grad": "Has no effect.",
    "split_size": "The extent of a part.",
    "split_sizes": "The extents of the parts.",
    "start": "The first element.",
    "start_dim": "The first of the axes that become one.",
    "step": "The distance of elements.",
    "storage_offset": "The number of the first element.",
    "stride": "The distances of elements on each axis, in elements.",
    "value": "The added value.",
}
_FROM_THE_START = Places(0, limits=(0, 1 << 62))


def _row(
    name: str, example: tuple[str, str, str], *, joint: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    return operator(f"torch:{name}", example=example, kinds=KINDS, about=ABOUT, joint=joint)


def _axis(x: Tensor, dim: Any, more: int = 0) -> int:
    """Return an axis of *x*, which may have *more* of them."""
    return attributes.axis("dim", dim, x.rank + more)


def _listed(name: str, sizes: Any) -> list[Any]:
    return attributes.fill(name, attributes.listed(name, sizes), 0)


def reshaped(x: Tensor, size: Any) -> Tensor:
    """Return the elements of *x* in row-major order in another shape."""
    return core.reshape(x, _listed("size", size))


@_row("view", ("N, H, W", "size=[6, -1]", "(6, H*N*W/6)"))
def view(input: Tensor, size: Sizes) -> Tensor:
    """Return the elements of *input* in row-major order in another shape."""
    return reshaped(input, size)


@_row("view_as", ("N, 6; N, 2, 3", "", "(N, 2, 3)"))
def view_as(input: Tensor, other: Tensor) -> Tensor:
    """Return the elements of *input* in row-major order in the shape of *other*."""
    return core.reshape(input, other.shape)


@_row("flatten", ("N, 2, 3", "start_dim=1", "(N, 6)"))
def flatten(input: Tensor, start_dim: Any = 0, end_dim: Any = -1) -> Tensor:
    """Return *input* with neighbouring axes as one."""
    if not input.rank:
        return expand_dims(input, 0)
    first, last = (attributes.axis("dim", d, input.rank) for d in (start_dim, end_dim))
    if first > last:
        raise ShapeError(f"start_dim is {first}, after end_dim {last}", "bad_axis")
    return core.reshape(input, (*input.shape[:first], prod(input.shape[first : last + 1]), *input.shape[last + 1 :]))


@_row("unflatten", ("N, 6", "dim=1, sizes=[2, 3]", "(N, 2, 3)"))
def unflatten(input: Tensor, dim: Any, sizes: Sizes) -> Tensor:
    """Return *input* with an axis as several; one -1 stands for the remaining elements."""
    axis, parts = _axis(input, dim), _listed("sizes", sizes)
    if -1 in parts:
        known_ = prod(n for n in parts if n != -1)
        n = input.shape[axis]
        parts[parts.index(-1)] = (
            n // known_ if isinstance(n, int) and isinstance(known_, int) and known_ else n / known_
        )
    return core.reshape(input, (*input.shape[:axis], *parts, *input.shape[axis + 1 :]))


@_row("transpose", ("N, H, W", "dim0=1, dim1=2", "(N, W, H)"))
def transpose(input: Tensor, dim0: Any, dim1: Any) -> Tensor:
    """Return *input* with two axes exchanged."""
    return swapaxes(input, _axis(input, dim0), _axis(input, dim1)) if input.rank else input


@_row("t", ("H, W", "", "(W, H)"))
def t(input: Tensor) -> Tensor:
    """Return a matrix transposed; a vector stays."""
    if input.rank > 2:
        raise ShapeError(f"t takes rank 2 or less, the tensor has rank {input.rank}", "rank")
    return swapaxes(input, 0, 1) if input.rank == 2 else input


@_row("movedim", ("N, H, W", "source=[2], destination=[1]", "(N, W, H)"))
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Return *input* with axes moved to other places."""
    return moveaxis(input, attributes.constants("source", source), attributes.constants("destination", destination))


@_row("unsqueeze", ("N, C", "dim=1", "(N, 1, C)"))
def unsqueeze(input: Tensor, dim: Any) -> Tensor:
    """Return *input* with a new axis of extent 1."""
    return expand_dims(input, _axis(input, dim, 1))


@_row("squeeze", ("N, 1, C", "dim=1", "(N, C)"))
def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Return *input* without axes of extent 1; axes *dim* of other extents stay.

    torch counts an extent that is not known as another one.
    """
    axes = list(range(input.rank)) if dim is None else attributes.axes("dim", dim, max(input.rank, 1))
    ones = [k for k in axes if k < input.rank and input.shape[k] == 1]
    return core_squeeze(input, ones) if ones else input


@_row("expand", ("1, C", "size=[3, 4, -1]", "(3, 4, C)"))
def expand(input: Tensor, size: Sizes, implicit: Any = False) -> Tensor:
    """Return *input* broadcast to a shape; -1 is the extent that is there."""
    wanted = _listed("size", size)
    before = len(wanted) - input.rank
    if before < 0:
        raise ShapeError(f"expand has {len(wanted)} extents for rank {input.rank}", "rank")
    return broadcast_to(
        input, [input.shape[k - before] if n == -1 and k >= before else n for k, n in enumerate(wanted)]
    )


@_row("expand_as", ("1, C; N, C", "", "(N, C)"))
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """Return *input* broadcast to the shape of *other*."""
    return broadcast_to(input, other.shape)


@_row("repeat", ("H, W", "repeats=[2, 1]", "(2*H, W)"))
def repeat(input: Tensor, repeats: Sizes) -> Tensor:
    """Return copies of *input* side by side; further numbers make new axes before."""
    counts = _listed("repeats", repeats)
    if len(counts) < input.rank:
        raise ShapeError(f"repeat has {len(counts)} numbers for rank {input.rank}", "length_mismatch")
    return tile(input, counts)


@_row("repeat_interleave", ("N, C", "repeats=2, dim=1", "(N, 2*C)"))
def repeat_interleave(input: Tensor, repeats: Sizes, dim: Any = None, output_size: Any = None) -> Tensor:
    """Return *input* with each element repeated along an axis."""
    count = attributes.scalar("repeats", repeats, 0)
    return core_repeat(input, count, None if dim is None else _axis(input, dim))


def _promoted(xs: Sequence[Tensor]) -> list[Tensor]:
    if not xs:
        raise ShapeError("there are no tensors to join", "length_mismatch")
    dtype = xs[0].dtype
    for x in xs[1:]:
        dtype = None if dtype is None or x.dtype is None else promoted(dtype, x.dtype)
    return [cast_to(x, dtype) for x in xs]


@_row("cat", ("N, C; N, C", "dim=1", "(N, 2*C)"), joint=True)
def cat(tensors: Sequence[Tensor], dim: Any = 0) -> Tensor:
    """Return tensors joined along an axis; vectors without elements are left out."""
    xs = [x for x in tensors if x.shape != (0,)] or list(tensors)[:1]
    return concatenate(_promoted(xs), attributes.axis("dim", dim, max((x.rank for x in xs), default=1)))


@_row("stack", ("N, C; N, C", "dim=1", "(N, 2, C)"), joint=True)
def stack(tensors: Sequence[Tensor], dim: Any = 0) -> Tensor:
    """Return tensors joined along a new axis."""
    made = _promoted(tensors)
    return core_stack(made, attributes.axis("dim", dim, made[0].rank + 1))


@_row("select", ("N, 5, C", "dim=1, index=2", "(N, C)"))
def select(input: Tensor, dim: Any, index: Sizes) -> Tensor:
    """Return the elements at one coordinate of an axis; negative ones count from the end."""
    axis = _axis(input, dim)
    n, at = input.shape[axis], attributes.scalar("index", index, 0)
    if isinstance(at, int) and isinstance(n, int) and not -n <= at < n:
        raise ShapeError(f"index {at} of an axis of extent {n}", "bad_axis")
    return getitem(input, (*(slice(None),) * axis, at))


def _past(end: Any) -> Any:
    return None if end is None or (isinstance(end, int) and end >= 1 << 62) else end


@_row("slice", ("N, 8, C", "dim=1, start=1, end=6, step=2", "(N, 3, C)"))
def slice_(input: Tensor, dim: Any = 0, start: Sizes = None, end: Sizes = None, step: Any = 1) -> Tensor:
    """Return elements of an axis in steps; bounds beyond the axis clamp, negative ones count from the end."""
    axis = _axis(input, dim)
    first, last = (None if e is None else attributes.scalar("bound", e, 0) for e in (start, end))
    by = attributes.scalar("step", step, 1)
    if isinstance(by, int) and by < 1:
        raise ShapeError(f"step is {by}, it is at least 1", "block_lt_1")
    part = slice(first, _past(last), None if isinstance(by, int) and by == 1 else by)
    return getitem(input, (*(slice(None),) * axis, part), bounds="numpy")


@_row("narrow", ("N, 8, C", "dim=1, start=1, length=3", "(N, 3, C)"))
def narrow(input: Tensor, dim: Any, start: Sizes, length: Sizes) -> Tensor:
    """Return *length* elements of an axis, from *start* on."""
    first, count = (attributes.scalar("bound", e, 0) for e in (start, length))
    part = slice(first, first + count)
    return getitem(input, (*(slice(None),) * _axis(input, dim), part), bounds="exact")


def _parts(x: Tensor, axis: int, size: Any, outputs: Any) -> list[Tensor]:
    """Return parts of one extent; the last one has the rest."""
    n = x.shape[axis]
    if isinstance(n, int) and isinstance(size, int):
        if size < 1:
            raise ShapeError(f"parts have an extent of {size}", "block_lt_1")
        count = max(-(-n // size), 1)
        return split_sizes(x, [min(size, n - k * size) for k in range(count)], axis)
    count = attributes.constant("outputs", outputs)
    if count < 1:
        raise ShapeError("there are no parts", "length_mismatch")
    x = demanding(x, "{} elements, not as many as {} in the parts before the last", at_least=[
        (n, (count - 1) * size + 1)])  # fmt: skip
    x = demanding(x, "{} elements in the parts, fewer than {}", at_least=[(count * size, n)])
    return split_sizes(x, [*[size] * (count - 1), n - (count - 1) * size], axis)


@_row("split", ("N, 6", "split_size=2, dim=1", "[(N, 2), (N, 2), (N, 2)]"))
def split(input: Tensor, split_size: Sizes, dim: Any = 0, outputs: Any = 1) -> list[Tensor]:
    """Return parts of an axis with one extent; the last one has the rest."""
    return _parts(input, _axis(input, dim), attributes.scalar("split_size", split_size, 1), outputs)


@_row("split_with_sizes", ("N, 6", "split_sizes=[2, 4], dim=1", "[(N, 2), (N, 4)]"))
def split_with_sizes(input: Tensor, split_sizes: Sizes, dim: Any = 0) -> list[Tensor]:
    """Return parts of an axis with these extents."""
    return _split_sizes(input, _listed("split_sizes", split_sizes), _axis(input, dim))


_split_sizes = split_sizes


@_row("chunk", ("N, 6", "chunks=2, dim=1", "[(N, 3), (N, 3)]"))
def chunk(input: Tensor, chunks: Any, dim: Any = 0, outputs: Any = 1) -> list[Tensor]:
    """Return at most *chunks* parts of an axis with one extent; the last one has the rest."""
    axis, count = _axis(input, dim), attributes.constant("chunks", chunks)
    if count < 1:
        raise ShapeError(f"there are {count} parts", "block_lt_1")
    n = input.shape[axis]
    size = -(-n // count) if isinstance(n, int) else (n + count - 1) // count
    if isinstance(n, int):
        return _parts(input, axis, max(size, 1), outputs)
    return _parts(input, axis, size, count if outputs == 1 else outputs)


@_row("unbind", ("2, N, C", "", "[(N, C), (N, C)]"))
def unbind(input: Tensor, dim: Any = 0, outputs: Any = 1) -> list[Tensor]:
    """Return the elements at each coordinate of an axis."""
    axis = _axis(input, dim)
    n = input.shape[axis]
    if not isinstance(n, int):
        raise NotDeclaredError("as many parts as an extent that is not known")
    return [getitem(input, (*(slice(None),) * axis, k)) for k in range(n)]


@_row("constant_pad_nd", ("H, W", "pad=[1, 2]", "(H, W + 3)"))
def constant_pad_nd(input: Tensor, pad: Sizes, value: Any = 0) -> Tensor:
    """Return *input* with a value added at both ends of its last axes; negative widths remove elements."""
    made: Tensor = shapes_pad(input, pad, "constant", value)
    return made


def shapes_pad(input: Tensor, pad: Any, mode: str, value: Any = None) -> Tensor:
    """Return `pad` of torch."""
    from symlayout.frontends.torch.bounds import pad as padded

    return padded(input, pad, mode, value)


def _repeating(name: str, mode: str) -> Callable[..., Tensor]:
    def applied(input: Tensor, padding: Sizes) -> Tensor:
        return shapes_pad(input, padding, mode)

    applied.__name__ = applied.__qualname__ = name
    applied.__doc__ = f"Return *input* with its last axes extended, in the mode {mode}."
    about = {"padding": ABOUT["pad"]}
    rows = [f"torch:{name}{k}d" for k in (1, 2, 3)]
    return operator(*rows, example=("N, C, 8", "padding=[1, 2]", "(N, C, 11)"), kinds=KINDS, about=about)(applied)


reflection_pad, replication_pad = _repeating("reflection_pad", "reflect"), _repeating("replication_pad", "replicate")


@_row("as_strided", ("4, 6", "size=[6, 4], stride=[1, 6]", "(6, 4)"))
def as_strided(input: Tensor, size: Sizes, stride: Sizes, storage_offset: Any = None) -> Tensor:
    """Return the elements of *input* at distances in row-major order.

    torch reads the storage: this is it where *input* is contiguous and is its whole storage, as a reader of models
    has to know.
    """
    offset = 0 if storage_offset is None else storage_offset
    return core.as_strided(input, _listed("size", size), _listed("stride", stride), offset)


def _not_below_0(made: Tensor, index: Any) -> Tensor:
    """Return what is read at coordinates, none of which is below 0."""
    places = as_tensor("index", "index", index)
    if places.values is None:
        return where_elements(made, places, "indices_from_the_start", _FROM_THE_START)
    if places.values.size and places.values.min() < 0:
        raise ShapeError(f"an index is {places.values.min()}, at least 0 is read", "attr_range")
    return made


@_row("index_select", ("N, C, H; 2", "dim=1", "(N, 2, H)"))
def index_select(input: Tensor, index: Tensor | Any, dim: Any) -> Tensor:
    """Return slices along an axis in the order of *index*."""
    made: Tensor = indexing.gather(input, index, _axis(input, dim))
    return _not_below_0(made, index)


@_row("embedding", ("V, C; N, T", "", "(N, T, C)"))
def embedding(
    weight: Tensor, indices: Tensor | Any, padding_idx: Any = -1, scale_grad_by_freq: Any = False, sparse: Any = False
) -> Tensor:
    """Return the rows of *weight* in the order of *indices*."""
    made: Tensor = indexing.gather(weight, indices, 0)
    return _not_below_0(made, indices)


@_row("gather", ("N, C; N, 3", "dim=1", "(N, 3)"))
def gather(input: Tensor, index: Tensor, dim: Any, sparse_grad: Any = False) -> Tensor:
    """Return the element at the coordinate of each index, with the index in place of that on an axis."""
    axis = _axis(input, dim)
    if not input.rank or input.rank != index.rank:
        raise NotDeclaredError("gather of tensors without axes")
    pairs = [(n, e) for k, (n, e) in enumerate(zip(input.shape, index.shape, strict=True)) if k != axis]
    x = demanding(input, "an extent of {}, fewer than the {} of the indices", at_least=pairs)
    key = tuple(slice(None) if k == axis else slice(0, e) for k, e in enumerate(index.shape))
    if any(k != axis and n != e for k, (n, e) in enumerate(zip(input.shape, index.shape, strict=True))):
        x = getitem(x, key, bounds="exact")
    made: Tensor = indexing.gather_elements(x, index, axis)
    return _not_below_0(made, index)


@_row("scatter", ("N, C; N, 3; N, 3", "dim=1", "(N, C)"))
def scatter(input: Tensor, index: Tensor, src: Tensor | Any, dim: Any) -> Tensor:
    """Return *input* with *src* written where each index replaces the coordinate on an axis."""
    if isinstance(src, bool | int | float):
        source = broadcast_to(number("scatter", src, input.dtype or SINGLE), index.shape)
    else:
        source = as_tensor("scatter", "src", src)
    made: Tensor = data_dependent.scatter_elements(input, index, source, _axis(input, dim))
    return _not_below_0(made, index)


def _integers(index: Any) -> Tensor:
    made = as_tensor("index", "an index", index)
    if made.dtype is not None and made.dtype.kind not in "iu":
        raise NotDeclaredError(f"indices of type {made.dtype}, whose number depends on them")
    return made


def _joint(indices: Sequence[Tensor]) -> Tensor:
    """Return indices of several axes as coordinates in a last axis."""
    views = aligned([cast_to(x, np.dtype(np.int64)) for x in indices])
    return core_stack(views, views[0].rank)


@_row("index", ("N, C, H; 2", "", "(2, C, H)"))
def index(input: Tensor, *indices: Tensor | Any) -> Tensor:
    """Return the elements at coordinates, an index for each axis; None is all of an axis.

    Axes of the result that the indices have stand in the place of the first indexed axis if these are neighbours, else
    at the begin.
    """
    along = [k for k, i in enumerate(indices) if i is not None]
    if len(indices) > input.rank or not along:
        raise ShapeError(f"there are {len(along)} indices for rank {input.rank}", "rank")
    places = [_integers(indices[k]) for k in along]
    if len(along) == 1:
        made: Tensor = indexing.gather(input, places[0], along[0])
        return made
    order = [*along, *(k for k in range(input.rank) if k not in along)]
    moved = shapes.permute(input, order) if order != list(range(input.rank)) else input
    found: Tensor = indexing.gather_nd(moved, _joint(places))
    if along[-1] - along[0] != len(along) - 1 or not along[0]:
        return found
    count = found.rank - (input.rank - len(along))
    return moveaxis(found, list(range(count)), list(range(along[0], along[0] + count)))


@_row("index_put", ("N, C; C; 2", "", "(N, C)"))
def index_put(input: Tensor, values: Tensor, *indices: Tensor | Any, accumulate: Any = False) -> Tensor:
    """Return *input* with *values* written at coordinates, an index for each of the first axes."""
    indices = tuple(None if i is None else as_tensor("index_put", "an index", i) for i in indices)
    if len(indices) == 1 and indices[0] is not None and indices[0].dtype == np.bool_ and not values.rank:
        if attributes.flag("accumulate", accumulate):
            raise NotDeclaredError("values that are added where a condition holds")
        mask = indices[0]
        mask = expand_dims(mask, list(range(mask.rank, input.rank))) if mask.rank < input.rank else mask
        made: Tensor = chosen(mask, cast_to(values, input.dtype), input)
        return made
    if any(i is None for i in indices) or not 1 <= len(indices) <= input.rank:
        raise NotDeclaredError("values that are written on axes after others")
    places = _joint([_integers(i) for i in indices])
    shape = (*places.shape[:-1], *input.shape[len(indices) :])
    how = "add" if attributes.flag("accumulate", accumulate) else "none"
    written: Tensor = data_dependent.scatter_nd(input, places, broadcast_to(cast_to(values, input.dtype), shape), how)
    return written


def select_scatter(input: Tensor, src: Tensor, dim: Any, index: Any) -> Tensor:
    """Return *input* with *src* in the place of one coordinate of an axis."""
    axis = _axis(input, dim)
    at = attributes.scalar("index", index, 0)
    return slice_scatter(input, expand_dims(src, axis), axis, at, None if at == -1 else at + 1)


def slice_scatter(
    input: Tensor, src: Tensor, dim: Any = 0, start: Any = None, end: Any = None, step: Any = 1
) -> Tensor:
    """Return *input* with *src* in the place of elements of an axis, in steps."""
    axis = _axis(input, dim)
    n = input.shape[axis]
    first: Any = 0 if start is None else attributes.scalar("start", start, 0)
    last: Any = n if end is None or _past(end) is None else attributes.scalar("end", end, 0)
    by = attributes.constant("step", step)
    first, last = (n + e if isinstance(e, int) and e < 0 else e for e in (first, last))
    if isinstance(n, int) and isinstance(first, int) and isinstance(last, int):
        first, last = (min(max(e, 0), n) for e in (first, last))
    count = src.shape[axis]
    if by != 1 or (last - first) != count:
        raise NotDeclaredError("elements that are written in steps, or beyond an axis")
    key = (*(slice(None),) * axis,)
    before = getitem(input, (*key, slice(0, first)), bounds="exact")
    after = getitem(input, (*key, slice(last, n)), bounds="exact")
    kept = [x for x in (before, cast_to(src, input.dtype), after) if x.shape[axis] != 0]
    return concatenate(kept, axis) if kept else input


@_row("clone", ("N, C", "", "(N, C)"))
def clone(input: Tensor) -> Tensor:
    """Return *input*: its copy, a contiguous one, one without gradients."""
    return input


def filled(size: Any, value: Any, dtype: Any) -> Tensor:
    """Return a tensor whose elements are one number; without a type, of that which torch gives it."""
    given = value.dtype if dtype is None and isinstance(value, Tensor) else dtype
    if given is None:
        given = np.dtype(bool) if isinstance(value, bool) else np.dtype(np.int64) if isinstance(value, int) else SINGLE
    element = cast_to(value, np.dtype(given)) if isinstance(value, Tensor) else number("full", value, np.dtype(given))
    return broadcast_to(element, tuple(_listed("size", size)))


@_row("full", ("", "size=[2, 3], fill_value=1.5", "(2, 3)"))
def full(size: Sizes, fill_value: Any, dtype: Any = None) -> Tensor:
    """Return a tensor whose elements are one number."""
    return filled(size, _plain(fill_value), dtype)


def _plain(value: Any) -> Any:
    """Return a number of an array as Python's."""
    if isinstance(value, Tensor) or not hasattr(value, "__array__"):
        return value
    return known("a number", value).reshape(()).item()


@_row("zeros", ("", "size=[2, 3]", "(2, 3)"))
def zeros(size: Sizes, dtype: Any = None) -> Tensor:
    """Return a tensor whose elements are 0."""
    return filled(size, 0.0, dtype) if dtype is None else filled(size, 0, dtype)


@_row("ones", ("", "size=[2, 3]", "(2, 3)"))
def ones(size: Sizes, dtype: Any = None) -> Tensor:
    """Return a tensor whose elements are 1."""
    return filled(size, 1.0, dtype) if dtype is None else filled(size, 1, dtype)


@_row("full_like", ("N, C", "fill_value=1.5", "(N, C)"))
def full_like(input: Tensor, fill_value: Any, dtype: Any = None) -> Tensor:
    """Return a tensor of the shape of *input* whose elements are one number."""
    return filled(input.shape, _plain(fill_value), dtype or input.dtype)


@_row("zeros_like", ("N, C", "", "(N, C)"))
def zeros_like(input: Tensor, dtype: Any = None) -> Tensor:
    """Return zeros in the shape of *input*."""
    return filled(input.shape, 0, dtype or input.dtype or SINGLE)


@_row("ones_like", ("N, C", "", "(N, C)"))
def ones_like(input: Tensor, dtype: Any = None) -> Tensor:
    """Return ones in the shape of *input*."""
    return filled(input.shape, 1, dtype or input.dtype or SINGLE)


@_row("new_full", ("3", "size=[2, 3], fill_value=1.5", "(2, 3)"))
def new_full(input: Tensor, size: Sizes, fill_value: Any, dtype: Any = None) -> Tensor:
    """Return a tensor whose elements are one number, of the type of *input*."""
    return filled(size, _plain(fill_value), dtype or input.dtype)


@_row("new_zeros", ("3", "size=[2, 3]", "(2, 3)"))
def new_zeros(input: Tensor, size: Sizes, dtype: Any = None) -> Tensor:
    """Return zeros of the type of *input*."""
    return filled(size, 0, dtype or input.dtype or SINGLE)


@_row("new_ones", ("3", "size=[2, 3]", "(2, 3)"))
def new_ones(input: Tensor, size: Sizes, dtype: Any = None) -> Tensor:
    """Return ones of the type of *input*."""
    return filled(size, 1, dtype or input.dtype or SINGLE)


@_row("scalar_tensor", ("", "s=2.0", "()"))
def scalar_tensor(s: Any, dtype: Any = None) -> Tensor:
    """Return a number as a tensor without axes."""
    return filled((), _plain(s), dtype or SINGLE)


@_row("arange", ("", "end=5", "(5,)"))
def arange(end: Sizes, start: Sizes = 0, step: Any = 1, dtype: Any = None) -> Tensor:
    """Return numbers from *start* on in steps, up to *end*, which is left out."""
    first, last, by = (_plain(v) for v in (start, end, step))
    if not all(isinstance(v, int) or hasattr(v, "free_symbols") for v in (first, last, by)):
        raise NotDeclaredError("a range of floats, whose number of elements depends on rounding")
    values = [np.array(v, object) if hasattr(v, "free_symbols") else np.array(v) for v in (first, last, by)]
    made: Tensor = shape_values.range(*values)
    return typed(made, dtype)


@_row("eye", ("", "n=3", "(3, 3)"))
def eye(n: Any, m: Any = None, dtype: Any = None) -> Tensor:
    """Return ones on the diagonal of a matrix, and 0 elsewhere."""
    rows = attributes.constant("n", n)
    columns = rows if m is None else attributes.constant("m", m)
    return as_tensor("eye", "eye", np.eye(rows, columns, dtype=np.dtype(dtype or SINGLE)))
