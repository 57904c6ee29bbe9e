"""StableHLO's convolutions, products of tensors, reductions, and reductions of windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symlayout.compute import contractions, pooling, reductions
from symlayout.compute.contractions import Spatial
from symlayout.compute.demands import demanding
from symlayout.compute.elementwise import common_dtype
from symlayout.errors import LEFT_OUT, ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.operator import Sizes, operator
from symlayout.frontends.onnx.types import cast_to
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import NotDeclaredError
from symlayout.frontends.stablehlo.elementwise import FUNCTIONS
from symlayout.frontends.stablehlo.movement import axes_of, plain
from symlayout.ops.axes import moveaxis
from symlayout.ops.broadcast import broadcast_to
from symlayout.ops.concatenate import concatenate
from symlayout.ops.flip import flip
from symlayout.ops.pad import pad
from symlayout.ops.split import split
from symlayout.ops.transpose import transpose
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Fill
from symlayout.tensors.element_types import end_of_type

_KINDS = "rank, length_mismatch, size_mismatch, infeasible, attr_dtype, bad_axis, block_lt_1, not_declared, overflow"
_ABOUT = {
    "base_dilations": "The distance of elements of the operand within its windows.",
    "batch_group_count": "How many groups the batch has, each with kernels of its own.",
    "body": "What makes one element of two, by the name of the operation: one for each result.",
    "dimensions": "The axes, from 0 on.",
    "dtype": "The element type of the result, by NumPy's name.",
    "feature_group_count": "How many groups the channels have.",
    "input_dimensions": "The axes of batch, channels, then space of the images.",
    "kernel_dimensions": "The axes of results, channels, then space of the kernels.",
    "lhs_batching_dimensions": "Axes of *lhs* that *rhs* and the result have too.",
    "lhs_contracting_dimensions": "Axes of *lhs* over which products are added.",
    "lhs_dilation": "The distance of elements of the images.",
    "output_dimensions": "The axes of batch, channels, then space of the result.",
    "padding": "What is added, as ``[begin, end]`` of each axis; a negative number takes away.",
    "rhs_batching_dimensions": "Those axes of *rhs*.",
    "rhs_contracting_dimensions": "Those axes of *rhs*.",
    "rhs_dilation": "The distance of elements of the kernels.",
    "window_dilations": "The distance of elements of a window.",
    "window_dimensions": "The extent of a window along each axis.",
    "window_reversal": "Which axes of the kernels are reversed.",
    "window_strides": "The distance of windows.",
}


@dataclass(frozen=True, slots=True)
class _Fold:
    """An operation of two elements that is a reduction: the function of all of them, and what changes nothing."""

    function: Callable[..., Any]
    exact: bool
    neutral: Callable[[np.dtype[Any]], Any]


def _zero(dtype: np.dtype[Any]) -> Any:
    return dtype.type(0)


def _one(dtype: np.dtype[Any]) -> Any:
    return dtype.type(1)


def _truth(value: bool) -> Callable[[np.dtype[Any]], Any]:
    def neutral(dtype: np.dtype[Any]) -> Any:
        if dtype.kind != "b":
            raise NotDeclaredError("bits of all elements")
        return np.bool_(value)

    return neutral


FOLDS: dict[str, _Fold] = {
    "add": _Fold(reductions.total, False, _zero),
    "and": _Fold(reductions.least, True, _truth(True)),
    "maximum": _Fold(reductions.greatest, True, lambda dtype: end_of_type(dtype, lowest=True)),
    "minimum": _Fold(reductions.least, True, lambda dtype: end_of_type(dtype, lowest=False)),
    "multiply": _Fold(reductions.product, False, _one),
    "or": _Fold(reductions.greatest, True, _truth(False)),
}
_OF_TRUTHS = {"add": "or", "multiply": "and", "maximum": "or", "minimum": "and"}


def _fold(name: str, x: Tensor) -> tuple[str, _Fold]:
    """Return the fold that a body stands for, of elements of the type of *x*.

    Raises
    ------
    NotDeclaredError
        It stands for none.
    """
    kind = _type(x).kind
    name = _OF_TRUTHS.get(name, name) if kind == "b" else name
    if name not in FOLDS or (kind == "c" and name not in ("add", "multiply")):
        raise NotDeclaredError(f"a reduction by {name}")
    return name, FOLDS[name]


def _type(x: Tensor) -> np.dtype[Any]:
    return np.dtype(np.float32) if x.dtype is None else x.dtype


def _is_neutral(init: Tensor | None, fold: _Fold, dtype: np.dtype[Any]) -> bool:
    """Return whether a constant is the start of a fold, which changes nothing."""
    neutral = np.asarray(fold.neutral(dtype), dtype)
    if init is None or init.values is None:
        return init is None
    found = init.values.reshape(())
    return bool(found == neutral) or (found.tobytes() == neutral.tobytes())


def _with_starts(
    name: str, operands: Sequence[Tensor], body: Sequence[str]
) -> Iterator[tuple[Tensor, Tensor | None, str]]:
    """Yield tensors with their starts and the names of their folds; without starts, they are what changes nothing."""
    count = len(body)
    if not count or len(operands) not in (count, 2 * count):
        raise ShapeError(f"{name} has {len(operands)} operands and {count} bodies", "length_mismatch")
    starts: Sequence[Tensor | None] = operands[count:] or (None,) * count
    for x, start, fold in zip(operands, starts, body, strict=False):
        if start is not None:
            common_dtype(name, (x, start))
            if start.rank:
                raise ShapeError(f"the start of a reduction has rank {start.rank}, not 0", "rank")
        yield x, start, fold


def _after(name: str, made: Tensor, init: Tensor | None) -> Tensor:
    """Return what the operation of a fold makes of its start and of all elements."""
    assert init is not None
    start = broadcast_to(init, made.shape) if made.rank else init
    result: Tensor = FUNCTIONS[name](start, made)
    return result


@operator("stablehlo:reduce", example=("N, C", 'dimensions=[1], body=("maximum",)', "[(N,)]"), kinds=_KINDS,
          about=_ABOUT)  # fmt: skip
def reduce(*operands: Tensor, dimensions: Any, body: Any) -> list[Tensor]:
    """Return tensors reduced along axes: *operands* are these, then their starts, if any."""
    made = []
    for x, init, name in _with_starts("reduce", operands, body):
        along = axes_of("dimensions", dimensions, x.rank)
        name, fold = _fold(name, x)
        one = reductions.reduced(x, along, fold.function, keepdims=False, exact=fold.exact) if along else x
        made.append(one if _is_neutral(init, fold, _type(x)) else _after(name, one, init))
    return made


def _pairs(name: str, given: Any, count: int) -> list[tuple[Any, Any]]:
    if given is None:
        return [(0, 0)] * count
    return [(low, high) for low, high in attributes.pairs(name, plain(given), count)]


def _each(name: str, given: Any, count: int, default: Any = 1) -> list[Any]:
    return [default] * count if given is None else attributes.vector(name, plain(given), count)


@operator(
    "stablehlo:reduce_window",
    example=("N, 9, 9, C",
             'window_dimensions=[1, 3, 3, 1], window_strides=[1, 3, 3, 1], body=("maximum",)', "[(N, 3, 3, C)]"),
    kinds=_KINDS, about=_ABOUT,
)  # fmt: skip
def reduce_window(
    *operands: Tensor,
    window_dimensions: Any,
    body: Any,
    window_strides: Any = None,
    base_dilations: Any = None,
    window_dilations: Any = None,
    padding: Any = None,
) -> list[Tensor]:
    """Return what *body* makes of each window of tensors: *operands* are these, then their starts, if any."""
    made = []
    for x, init, name in _with_starts("reduce_window", operands, body):
        name, fold = _fold(name, x)
        neutral = _is_neutral(init, fold, _type(x))
        around = _pairs("padding", padding, x.rank)
        inside = all(e == 0 for pair in around for e in pair)
        if not neutral and not inside and name not in ("maximum", "minimum", "and", "or"):
            raise NotDeclaredError("windows with pads whose start changes the result")
        sizes, strides = (
            _each("window_dimensions or window_strides", given, x.rank) for given in (window_dimensions, window_strides)
        )
        bases, dilations = (
            _each("base_dilations or window_dilations", given, x.rank) for given in (base_dilations, window_dilations)
        )
        one = _windows(x, fold, list(zip(sizes, strides, bases, dilations, around, strict=True)))
        made.append(one if neutral else _after(name, one, init))
    return made


def _windows(x: Tensor, fold: _Fold, axes: Sequence[tuple[Any, Any, Any, Any, tuple[Any, Any]]]) -> Tensor:
    """Return a fold of windows; *axes* has for each one its window, stride, base dilation, dilation and pads."""
    neutral = fold.neutral(_type(x))
    value = neutral.item() if isinstance(neutral, np.generic) and _type(x).kind in "biufc" else neutral
    gaps = [base - 1 for _, _, base, _, _ in axes]
    if any(gap != 0 for gap in gaps):
        x = pad(x, [(0, 0)] * x.rank, constant_values=value, interior=gaps)
    along = [k for k, entry in enumerate(axes) if (*entry[:2], *entry[3:]) != (1, 1, 1, (0, 0))]
    if not along:
        return x
    kept = [k for k in range(x.rank) if k not in along]
    order = [*kept, *along]
    view = x if order == list(range(x.rank)) else transpose(x, order)
    kernel, strides, _, dilations, around = zip(*(axes[k] for k in along), strict=True)
    body = reductions.fold_body(fold.function, x.dtype, exact=fold.exact)
    made = pooling.pooled(
        view, kernel, Spatial(strides, dilations, around, unfit=LEFT_OUT), body, Fill(value), len(kept)
    )
    back = sorted(range(x.rank), key=order.__getitem__)
    return made if order == list(range(x.rank)) else transpose(made, back)


def _contraction(
    lhs: Tensor, rhs: Tensor, batch: tuple[list[int], list[int]], over: tuple[list[int], list[int]]
) -> Tensor:
    names: dict[tuple[str, int], str] = {}
    for kind, pairs in (("b", batch), ("k", over)):
        for number, (i, j) in enumerate(zip(*pairs, strict=True)):
            names["l", i] = names["r", j] = f"{kind}{number}"
    left = tuple(names.get(("l", k), f"l{k}") for k in range(lhs.rank))
    right = tuple(names.get(("r", k), f"r{k}") for k in range(rhs.rank))
    shared = [f"b{k}" for k in range(len(batch[0]))]
    output = (*shared, *(a for a in left if a[0] == "l"), *(a for a in right if a[0] == "r"))
    extents = [(lhs.shape[i], rhs.shape[j]) for i, j in zip(batch[0] + over[0], batch[1] + over[1], strict=True)]
    rhs = demanding(rhs, "an extent of {} beside one of {}", extents)
    result: Tensor = contractions.einsum(lhs, rhs, (left, right), output)
    return result


@operator(
    "stablehlo:dot_general",
    example=("B, M, K; B, K, N", "lhs_batching_dimensions=[0], rhs_batching_dimensions=[0], "
             "lhs_contracting_dimensions=[2], rhs_contracting_dimensions=[1]", "(B, M, N)"), kinds=_KINDS, about=_ABOUT,
)  # fmt: skip
def dot_general(
    lhs: Tensor,
    rhs: Tensor,
    lhs_batching_dimensions: Any,
    rhs_batching_dimensions: Any,
    lhs_contracting_dimensions: Any,
    rhs_contracting_dimensions: Any,
    dtype: Any = None,
) -> Tensor:
    """Return sums of products: batch axes first, then the other axes of *lhs*, then those of *rhs*."""
    left = axes_of("lhs_batching_dimensions", lhs_batching_dimensions, lhs.rank)
    right = axes_of("rhs_batching_dimensions", rhs_batching_dimensions, rhs.rank)
    inner = axes_of("lhs_contracting_dimensions", lhs_contracting_dimensions, lhs.rank)
    other = axes_of("rhs_contracting_dimensions", rhs_contracting_dimensions, rhs.rank)
    for a, b, given in ((left, right, lhs.rank), (inner, other, lhs.rank)):
        if len(a) != len(b):
            raise ShapeError(f"dot_general has {len(a)} axes of {given} beside {len(b)}", "length_mismatch")
    if set(left) & set(inner) or set(right) & set(other):
        raise ShapeError("dot_general adds over an axis that it keeps", "bad_axis")
    lhs, rhs, to = _of_one_type("dot_general", lhs, rhs, dtype)
    return cast_to(_contraction(lhs, rhs, (left, right), (inner, other)), to)


def _of_one_type(name: str, lhs: Tensor, rhs: Tensor, dtype: Any) -> tuple[Tensor, Tensor, Any]:
    """Return operands in the type in which products are made, and the type of the result.

    Products of a wider type are made in it; a narrower one rounds their sum.
    """
    to = None if dtype is None else np.dtype(dtype)
    if to is None:
        return lhs, rhs, common_dtype(name, (lhs, rhs))
    types = [x.dtype for x in (lhs, rhs) if x.dtype is not None]
    if any(t.itemsize > to.itemsize or t.kind == "b" for t in types):
        return lhs, rhs, common_dtype(name, (lhs, rhs)) and to
    return cast_to(lhs, to), cast_to(rhs, to), to


@operator(
    "stablehlo:convolution",
    example=("N, H, W, C; 3, 3, C, M",
             "input_dimensions=[0, 3, 1, 2], kernel_dimensions=[3, 2, 0, 1], output_dimensions=[0, 3, 1, 2]",
             "(N, H - 2, W - 2, M)"),
    kinds=_KINDS, about=_ABOUT,
)  # fmt: skip
def convolution(
    lhs: Tensor,
    rhs: Tensor,
    padding: Sizes = None,
    window_strides: Any = None,
    lhs_dilation: Any = None,
    rhs_dilation: Any = None,
    window_reversal: Any = None,
    input_dimensions: Any = (0, 1),
    kernel_dimensions: Any = (0, 1),
    output_dimensions: Any = (0, 1),
    feature_group_count: Any = 1,
    batch_group_count: Any = 1,
    dtype: Any = None,
) -> Tensor:
    """Return the convolution of images *lhs* with kernels *rhs*."""
    rank = require_rank("convolution", lhs, 2)
    require_rank("convolution", rhs, rank, rank)
    orders = [
        attributes.permutation(name, plain(given))
        for name, given in (
            ("input_dimensions", input_dimensions), ("kernel_dimensions", kernel_dimensions),
            ("output_dimensions", output_dimensions),
        )
    ]  # fmt: skip
    if any(sorted(order) != list(range(rank)) for order in orders):
        raise ShapeError(f"the dimensions of a convolution are {orders}, for rank {rank}", "bad_axis")
    lhs, rhs, to = _of_one_type("convolution", lhs, rhs, dtype)
    images, kernels = transpose(lhs, orders[0]), transpose(rhs, orders[1])
    count = rank - 2
    turned_axes = [0] * count if window_reversal is None else list(plain(window_reversal))
    if len(turned_axes) != count:
        raise ShapeError(f"window_reversal has {len(turned_axes)} values for {count} axes", "length_mismatch")
    flags = [attributes.flag("window_reversal", e) for e in turned_axes]
    if any(flags):
        kernels = flip(kernels, [2 + k for k, turned in enumerate(flags) if turned])
    way = [
        _each(name, given, count)
        for name, given in (
            ("window_strides", window_strides), ("lhs_dilation", lhs_dilation), ("rhs_dilation", rhs_dilation)
        )
    ]  # fmt: skip
    around = _pairs("padding", padding, count)
    groups, batches = (
        attributes.constant(name, n)
        for name, n in (("feature_group_count", feature_group_count), ("batch_group_count", batch_group_count))
    )
    if min(groups, batches) < 1:
        raise ShapeError(f"a convolution has {min(groups, batches)} groups, at least 1", "block_lt_1")
    if batches > 1:
        parts = zip(split(images, batches, 0), split(kernels, batches, 0), strict=True)
        made = concatenate([_convolved(x, w, groups, way, around) for x, w in parts], 1)
    else:
        made = _convolved(images, kernels, groups, way, around)
    return cast_to(transpose(made, sorted(range(rank), key=orders[2].__getitem__)), to)


def _convolved(
    images: Tensor, kernels: Tensor, groups: int, steps: list[list[Any]], around: list[tuple[Any, Any]]
) -> Tensor:
    """Return the convolution of (n, c, ...) with (m, c/groups, ...)."""
    strides, spread, dilations = steps
    if any(d != 1 for d in spread):
        if groups == 1 and all(s == 1 for s in strides) and all(n != 0 for n in kernels.shape[2:]):
            reaches = [d * (n - 1) for n, d in zip(kernels.shape[2:], dilations, strict=True)]
            cropped = [(r - low, r - high) for r, (low, high) in zip(reaches, around, strict=True)]
            turned = moveaxis(flip(kernels, list(range(2, kernels.rank))), 0, 1)
            return contractions.conv_transpose(images, turned, 1, spread, dilations, cropped, (0,) * len(spread))
        gaps = [0, 0, *(d - 1 for d in spread)]
        images = pad(images, [(0, 0)] * images.rank, interior=gaps)
    least = [(min(low, 0), min(high, 0)) if isinstance(low, int) and isinstance(high, int) else (0, 0)
             for low, high in around]  # fmt: skip
    if any(e < 0 for pair in least for e in pair):
        images = pad(images, [(0, 0), (0, 0), *least])
        around = [(low - a, high - b) for (low, high), (a, b) in zip(around, least, strict=True)]
    way = Spatial(tuple(strides), tuple(dilations), tuple(around), unfit=LEFT_OUT)
    return contractions.conv(images, kernels, groups, way)
