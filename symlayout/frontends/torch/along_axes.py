"""PyTorch's reductions, and what it computes along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symlayout.compute import along_axis, normalization, reductions
from symlayout.compute.demands import nonempty
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.elementwise import apply
from symlayout.frontends.onnx.operator import operator
from symlayout.frontends.onnx.shape_values import trilu
from symlayout.frontends.onnx.types import cast_to
from symlayout.frontends.registry import NotDeclaredError
from symlayout.frontends.torch.promotion import kind_of, number, to_floats, typed
from symlayout.ops.axes import squeeze
from symlayout.ops.reshape import reshape
from symlayout.ops.split import equal_part
from symlayout.tensors.chain import Tensor

KINDS = "rank, bad_axis, attr_dtype, not_declared"
ABOUT = {
    "correction": "What is subtracted from the number of elements; None is 1.",
    "descending": "Whether the largest comes first.",
    "diagonal": "The number of the diagonal.",
    "dim": "The axis, or the axes; negative ones count from the end.  None is all.",
    "dtype": "The element type of the result, by NumPy's name.",
    "half_to_float": "Whether the result of float16 is float32.",
    "k": "How many.",
    "keepdim": "Whether the axes stay, with extent 1.",
    "largest": "Whether the largest are returned, not the smallest.",
    "ord": "The exponent of the norm: 1 or 2.",
    "p": "The exponent of the norm: 1 or 2.",
    "sorted": "Whether they are in order.",
    "stable": "Whether equal elements keep their order.",
    "unbiased": "Whether 1 is subtracted from the number of elements.",
}


def _axes(input: Tensor, dim: Any) -> list[int]:
    """Return the axes of a reduction: all of them where none are given."""
    if dim is None or (isinstance(dim, list | tuple) and not dim):
        return list(range(input.rank))
    if input.rank == 0:  # which has the axes 0 and -1
        attributes.axes("dim", dim, 1)
        return []
    return attributes.axes("dim", dim, input.rank)


def _along(input: Tensor, dim: Any) -> int:
    return attributes.axis("dim", dim, input.rank)


def _reduced(x: Tensor, dim: Any, keepdim: Any, function: Callable[..., Any], **given: Any) -> Tensor:
    axes = _axes(x, dim)
    return reductions.reduced(x, axes, function, keepdims=attributes.flag("keepdim", keepdim), **given)


def _wide(x: Tensor, dtype: Any) -> Tensor:
    """Return integers as int64, as sums take them, or in *dtype*."""
    if dtype is None and x.dtype is not None and kind_of(x.dtype) < 2:
        return cast_to(x, np.dtype(np.int64))
    return typed(x, dtype)


@operator("torch:sum", example=("N, C, H", "dim=[1]", "(N, H)"), kinds=KINDS, about=ABOUT)
def sum(input: Tensor, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Tensor:
    """Return the sum along axes; that of integers is int64."""
    return _reduced(_wide(input, dtype), dim, keepdim, reductions.total)


@operator("torch:prod", example=("N, C, H", "dim=1", "(N, H)"), kinds=KINDS, about=ABOUT)
def prod(input: Tensor, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Tensor:
    """Return the product along an axis; that of integers is int64."""
    return _reduced(_wide(input, dtype), dim, keepdim, reductions.product)


@operator("torch:mean", example=("N, C, H", "dim=[1], keepdim=True", "(N, 1, H)"), kinds=KINDS, about=ABOUT)
def mean(input: Tensor, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Tensor:
    """Return the mean along axes."""
    x = typed(input, dtype)
    return _reduced(nonempty(x, _axes(x, dim)), dim, keepdim, reductions.mean)


@operator("torch:amax", example=("N, C, H", "dim=[1]", "(N, H)"), kinds=KINDS, about=ABOUT)
def amax(input: Tensor, dim: Any = (), keepdim: Any = False) -> Tensor:
    """Return the largest elements along axes."""
    return _reduced(nonempty(input, _axes(input, dim)), dim, keepdim, reductions.greatest, exact=True)


@operator("torch:amin", example=("N, C, H", "dim=[1]", "(N, H)"), kinds=KINDS, about=ABOUT)
def amin(input: Tensor, dim: Any = (), keepdim: Any = False) -> Tensor:
    """Return the least elements along axes."""
    return _reduced(nonempty(input, _axes(input, dim)), dim, keepdim, reductions.least, exact=True)


def _truths(x: Tensor) -> Tensor:
    return cast_to(x, np.dtype(bool))


@operator("torch:all", example=("N, C, H", "dim=1", "(N, H)"), kinds=KINDS, about=ABOUT)
def all(input: Tensor, dim: Any = None, keepdim: Any = False) -> Tensor:
    """Return whether all elements along axes are not 0."""
    return _reduced(_truths(input), dim, keepdim, reductions.least, exact=True)


@operator("torch:any", example=("N, C, H", "dim=1", "(N, H)"), kinds=KINDS, about=ABOUT)
def any(input: Tensor, dim: Any = None, keepdim: Any = False) -> Tensor:
    """Return whether an element along axes is not 0."""
    return _reduced(_truths(input), dim, keepdim, reductions.greatest, exact=True)


def _with_places(input: Tensor, dim: Any, keepdim: Any, largest: bool) -> list[Tensor]:
    keeps = attributes.flag("keepdim", keepdim)
    if not input.rank:
        attributes.axis("dim", dim, 1)
        return [input, number("max", 0, np.dtype(np.int64))]
    axis = _along(input, dim)
    x = nonempty(input, [axis])
    function = reductions.greatest if largest else reductions.least
    values = reductions.reduced(x, [axis], function, keepdims=keeps, exact=True)
    return [values, along_axis.arg_extreme(x, axis, largest=largest, last=False, keepdims=keeps)]


@operator("torch:max.dim", example=("N, C, H", "dim=1", "[(N, H), (N, H)]"), kinds=KINDS, about=ABOUT)
def max_dim(input: Tensor, dim: Any, keepdim: Any = False) -> list[Tensor]:
    """Return the largest elements along an axis, and the positions of the first ones."""
    return _with_places(input, dim, keepdim, True)


@operator("torch:min.dim", example=("N, C, H", "dim=1", "[(N, H), (N, H)]"), kinds=KINDS, about=ABOUT)
def min_dim(input: Tensor, dim: Any, keepdim: Any = False) -> list[Tensor]:
    """Return the least elements along an axis, and the positions of the first ones."""
    return _with_places(input, dim, keepdim, False)


def _position(input: Tensor, dim: Any, keepdim: Any, largest: bool) -> Tensor:
    keeps = attributes.flag("keepdim", keepdim)
    if dim is None:
        if keeps:
            raise NotDeclaredError("the position in all elements, with axes")
        input, dim = reshape(input, (-1,)), 0
    return _with_places(input, dim, keeps, largest)[1]


@operator("torch:argmax", example=("N, C, H", "dim=1", "(N, H)"), kinds=KINDS, about=ABOUT)
def argmax(input: Tensor, dim: Any = None, keepdim: Any = False) -> Tensor:
    """Return the position of the first of the largest elements along an axis."""
    return _position(input, dim, keepdim, True)


@operator("torch:argmin", example=("N, C, H", "dim=1", "(N, H)"), kinds=KINDS, about=ABOUT)
def argmin(input: Tensor, dim: Any = None, keepdim: Any = False) -> Tensor:
    """Return the position of the first of the least elements along an axis."""
    return _position(input, dim, keepdim, False)


def _variance(input: Tensor, dim: Any, correction: Any, keepdim: Any) -> tuple[Tensor, Tensor]:
    """Return the variance and the mean along axes."""
    axes, keeps = _axes(input, dim), attributes.flag("keepdim", keepdim)
    x = nonempty(input, axes)
    less = 1 if correction is None else correction
    count: Any = 1
    for axis in axes:
        count = count * x.shape[axis]
    middle = reductions.reduced(x, axes, reductions.mean, keepdims=True)
    centred = apply("Sub", x, middle)
    squares = apply("Mul", centred, centred)
    if less == 0:
        made = reductions.reduced(squares, axes, reductions.mean, keepdims=keeps)
    elif isinstance(count, int) and count > less:
        total = reductions.reduced(squares, axes, reductions.total, keepdims=keeps)
        made = apply("Div", total, number("var", float(count - less), x.dtype or np.dtype(np.float32)))
    else:
        raise NotDeclaredError("a variance of elements whose number depends on sizes, less a correction")
    return made, middle if keeps or not axes else squeeze(middle, axes)


def _correction(unbiased: Any, correction: Any) -> Any:
    return correction if unbiased is None else int(attributes.flag("unbiased", unbiased))


@operator("torch:var", example=("N, 5", "dim=[1], correction=0", "(N,)"), kinds=KINDS, about=ABOUT)
def var(input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: Any = False, correction: Any = None) -> Tensor:
    """Return the variance along axes."""
    return _variance(input, dim, _correction(unbiased, correction), keepdim)[0]


@operator("torch:std", example=("N, 5", "dim=[1], correction=0", "(N,)"), kinds=KINDS, about=ABOUT)
def std(input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: Any = False, correction: Any = None) -> Tensor:
    """Return the standard deviation along axes."""
    return apply("Sqrt", _variance(input, dim, _correction(unbiased, correction), keepdim)[0])


@operator("torch:var_mean", example=("N, 5", "dim=[1], correction=0", "[(N,), (N,)]"), kinds=KINDS, about=ABOUT)
def var_mean(
    input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: Any = False, correction: Any = None
) -> list[Tensor]:
    """Return the variance and the mean along axes."""
    return [*_variance(input, dim, _correction(unbiased, correction), keepdim)]


@operator("torch:linalg_vector_norm", example=("N, C", "dim=[1]", "(N,)"), kinds=KINDS, about=ABOUT)
def linalg_vector_norm(input: Tensor, ord: Any = 2, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Tensor:
    """Return the norm along axes."""
    functions = {1: reductions.sum_of_absolutes, 2: reductions.root_of_squares}
    if ord not in functions:
        raise NotDeclaredError(f"a norm of exponent {ord}")
    return _reduced(typed(input, dtype), dim, keepdim, functions[ord])


@operator("torch:norm", example=("N, C", "dim=[1]", "(N,)"), kinds=KINDS, about=ABOUT)
def norm(input: Tensor, p: Any = 2, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Tensor:
    """Return the norm along axes."""
    made: Tensor = linalg_vector_norm(input, 2 if p is None else p, dim, keepdim, dtype)
    return made


@operator("torch:logsumexp", example=("N, C", "dim=[1]", "(N,)"), kinds=KINDS, about=ABOUT)
def logsumexp(input: Tensor, dim: Any, keepdim: Any = False) -> Tensor:
    """Return the logarithm of the sum of exponentials along axes."""
    return _reduced(to_floats("logsumexp", input), dim, keepdim, reductions.log_of_exponentials)


def _fibres(input: Tensor, dim: Any, function: Callable[..., Any]) -> Tensor:
    if not input.rank:
        raise NotDeclaredError("a function along an axis of a tensor of rank 0")
    return along_axis.along(input, [_along(input, dim)], function)


@operator("torch:softmax", example=("N, C", "dim=1", "(N, C)"), kinds=KINDS, about=ABOUT)
def softmax(input: Tensor, dim: Any, dtype: Any = None, half_to_float: Any = False) -> Tensor:
    """Return exponentials divided by their sum along an axis."""
    if attributes.flag("half_to_float", half_to_float):
        dtype = np.dtype(np.float32)
    return _fibres(typed(input, dtype), dim, along_axis.softmax)


@operator("torch:log_softmax", example=("N, C", "dim=1", "(N, C)"), kinds=KINDS, about=ABOUT)
def log_softmax(input: Tensor, dim: Any, dtype: Any = None, half_to_float: Any = False) -> Tensor:
    """Return the logarithm of the softmax along an axis."""
    if attributes.flag("half_to_float", half_to_float):
        dtype = np.dtype(np.float32)
    return _fibres(typed(input, dtype), dim, along_axis.log_softmax)


@operator("torch:cumsum", example=("N, C", "dim=1", "(N, C)"), kinds=KINDS, about=ABOUT)
def cumsum(input: Tensor, dim: Any, dtype: Any = None) -> Tensor:
    """Return the sums of all elements up to each one along an axis; those of integers are int64."""
    x = _wide(input, dtype)
    return along_axis.cumulative(x, _along(x, dim)) if x.rank else x


@operator("torch:cumprod", example=("N, C", "dim=1", "(N, C)"), kinds=KINDS, about=ABOUT)
def cumprod(input: Tensor, dim: Any, dtype: Any = None) -> Tensor:
    """Return the products of all elements up to each one along an axis; those of integers are int64."""
    x = _wide(input, dtype)
    return along_axis.cumulative(x, _along(x, dim), product=True) if x.rank else x


@operator("torch:topk", example=("N, 9", "k=3", "[(N, 3), (N, 3)]"), kinds=f"{KINDS}, crop_exceeds", about=ABOUT)
def topk(input: Tensor, k: Any, dim: Any = -1, largest: Any = True, sorted: Any = True) -> list[Tensor]:
    """Return the largest or smallest elements along an axis, best first, and their positions."""
    if not attributes.flag("sorted", sorted):
        raise NotDeclaredError("the order is open")
    count = attributes.scalar("k", k, 0)
    return along_axis.top_k(input, count, _along(input, dim), largest=attributes.flag("largest", largest))


@operator("torch:sort", example=("N, 9", "dim=1", "[(N, 9), (N, 9)]"), kinds=KINDS, about=ABOUT)
def sort(input: Tensor, dim: Any = -1, descending: Any = False, stable: Any = None) -> list[Tensor]:
    """Return the elements in order along an axis, and their positions; equal ones keep their order."""
    axis = _along(input, dim)
    given = (("largest", attributes.flag("descending", descending)),)
    functions = ((along_axis.ordered_values, input.dtype), (along_axis.ordered_positions, np.int64))
    return [along_axis.along(input, [axis], function, given, dtype) for function, dtype in functions]


@operator("torch:argsort", example=("N, 9", "dim=1", "(N, 9)"), kinds=KINDS, about=ABOUT)
def argsort(input: Tensor, dim: Any = -1, descending: Any = False, stable: Any = None) -> Tensor:
    """Return the positions of the elements in order along an axis."""
    made: Tensor = sort(input, dim, descending)[1]
    return made


@operator("torch:glu", example=("N, 2*c", "", "(N, c)"), kinds=f"{KINDS}, non_divisible", about=ABOUT)
def glu(input: Tensor, dim: Any = -1) -> Tensor:
    """Return the first half of an axis times the sigmoid of the second one."""
    axis = _along(input, dim)
    first, second = (equal_part(input, k, 2, axis) for k in range(2))
    return apply("Mul", first, apply("Sigmoid", second))


def _triangle(input: Tensor, diagonal: Any, upper: bool) -> Tensor:
    made: Tensor = trilu(input, np.array(attributes.constant("diagonal", diagonal)), upper=int(upper))
    return made


@operator("torch:tril", example=("N, H, W", "", "(N, H, W)"), kinds=KINDS, about=ABOUT)
def tril(input: Tensor, diagonal: Any = 0) -> Tensor:
    """Return the elements on and below a diagonal of each matrix, and 0 elsewhere."""
    return _triangle(input, diagonal, False)


@operator("torch:triu", example=("N, H, W", "", "(N, H, W)"), kinds=KINDS, about=ABOUT)
def triu(input: Tensor, diagonal: Any = 0) -> Tensor:
    """Return the elements on and above a diagonal of each matrix, and 0 elsewhere."""
    return _triangle(input, diagonal, True)


@operator(
    "torch:_weight_norm", example=("M, C, 3; M, 1, 1", "", "(M, C, 3)"), kinds=KINDS,
    about={"dim": "The axis that the lengths have."},
)  # fmt: skip
def _weight_norm(v: Tensor, g: Tensor, dim: Any = 0) -> Tensor:
    """Return *v* divided by its norm over all axes but one, times *g*."""
    axis = _along(v, dim)
    others = [k for k in range(v.rank) if k != axis]
    if not others:
        raise ShapeError("a weight of rank 1 has no norm", "rank")
    length = reductions.reduced(v, others, reductions.root_of_squares, keepdims=True)
    return apply("Mul", v, apply("Div", g, length))


def standardized(x: Tensor, axes: list[int], eps: Any) -> Tensor:
    """Return *x* minus its mean along *axes*, divided by its deviation."""
    return along_axis.along(nonempty(x, axes), axes, normalization.normalized, (("epsilon", float(eps)),))
