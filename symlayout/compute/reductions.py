"""Reductions: bodies that read a box of terms, in any order, and the views of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symlayout.compute.scalars import is_narrow
from symlayout.compute.trace import elements, fold, larger, number_of_terms, smaller
from symlayout.ops.axes import expand_dims
from symlayout.ops.transpose import transpose
from symlayout.tensors.chain import Applicable, Tensor
from symlayout.tensors.computation import compute
from symlayout.tensors.declaration import Body
from symlayout.tensors.element_types import end_of_type

Array = np.ndarray[Any, Any]
Axes = tuple[int, ...]


def wide(x: Array) -> Array:
    """Return narrow floats as float32, and other arrays unchanged."""
    return x.astype(np.float32) if is_narrow(x.dtype) else x


def in_order(x: Array) -> Array:
    """Return terms in the type in which they are added: real floats as float64, others unchanged."""
    return x.astype(np.float64) if x.dtype.kind == "f" or is_narrow(x.dtype) else x


def total(x: Array, axes: Axes) -> Array:
    """Return the sum: floats are added in float64, in order, and rounded once."""
    if x.dtype.kind == "O":  # an expression over the real numbers, where the order does not matter
        return np.asarray(x.sum(axes))
    return elements(fold(np.add, in_order(x), axes, 0)).astype(x.dtype)


def product(x: Array, axes: Axes) -> Array:
    """Return the product: floats are multiplied in float64, in order, and rounded once."""
    return elements(fold(np.multiply, in_order(x), axes, 1)).astype(x.dtype)


def mean(x: Array, axes: Axes) -> Array:
    """Return the mean: the sum in float64 over the number of terms, rounded once; that of integers is cut towards 0."""
    if x.dtype.kind == "O":
        return np.asarray(x.mean(axes))
    terms = in_order(x) if x.dtype.kind == "c" else x.astype(np.float64)
    return elements(fold(np.add, terms, axes, 0) / number_of_terms(x, axes)).astype(x.dtype)


def greatest(x: Array, axes: Axes) -> Array:
    """Return the maximum; the least value of the type if there is no term."""
    return _extreme(np.maximum, x, axes, least=True)


def least(x: Array, axes: Axes) -> Array:
    """Return the minimum; the largest value of the type if there is no term."""
    return _extreme(np.minimum, x, axes, least=False)


def _extreme(ufunc: Any, x: Array, axes: Axes, *, least: bool) -> Array:
    if x.dtype.kind == "O":
        return np.asarray(x.max(axes) if least else x.min(axes))
    found = fold(ufunc, x, axes, end_of_type(x.dtype, lowest=least), exact=True)
    if x.dtype.kind not in "fV":  # a type of ml_dtypes is V
        return found
    sign = 1 if least else -1  # of zeros, 0.0 is the maximum and -0.0 the minimum: as sums of zeros have it
    zero = fold(np.add, np.where(x == 0, x * sign, -x.dtype.type(0)), axes, -0.0, exact=True) * sign
    return np.where(found == 0, zero, found)


def sum_of_absolutes(x: Array, axes: Axes) -> Array:
    """Return the sum of absolute values."""
    return total(np.abs(x), axes)


def sum_of_squares(x: Array, axes: Axes) -> Array:
    """Return the sum of squares."""
    return total(np.square(wide(x)), axes).astype(x.dtype)


def root_of_squares(x: Array, axes: Axes) -> Array:
    """Return the square root of the sum of squares."""
    return np.asarray(np.sqrt(total(np.square(wide(x)), axes))).astype(x.dtype)


def log_of_sum(x: Array, axes: Axes) -> Array:
    """Return the logarithm of the sum."""
    return np.asarray(np.log(total(wide(x), axes))).astype(x.dtype)


def log_of_exponentials(x: Array, axes: Axes) -> Array:
    """Return the logarithm of the sum of exponentials, computed without overflow."""
    v = wide(x) if x.dtype.kind != "i" else x.astype(np.float64)
    top = v.max(axes, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    found = np.log(np.exp(v - top).sum(axes, keepdims=True)) + top
    return np.asarray(np.squeeze(found, axes)).astype(x.dtype)


def norm(x: Array, axes: Axes, p: int = 2) -> Array:
    """Return the norm of exponent *p*."""
    v = np.abs(wide(x))
    return np.asarray(np.power(np.power(v, v.dtype.type(p)).sum(axes), v.dtype.type(1 / p))).astype(x.dtype)


JOINS: dict[Callable[..., Any], Callable[..., Any]] = {
    total: np.add,
    product: np.multiply,
    greatest: larger,
    least: smaller,
}
"""The folds, and what makes the fold of all terms from the folds of two parts."""


_EXACT_OF_INTEGERS = (total, product, sum_of_absolutes, sum_of_squares, root_of_squares, log_of_sum)


def fold_body(
    function: Callable[..., Any],
    dtype: Any,
    *,
    exact: bool = False,
    commutative: bool = True,
    attributes: tuple[tuple[str, Any], ...] = (),
) -> Body:
    """Return the body of a reduction of elements of a type.

    >>> fold_body(total, np.dtype("int32")).exact, fold_body(total, np.dtype("float32")).exact
    (True, False)
    """
    exact = exact or (function in _EXACT_OF_INTEGERS and dtype is not None and dtype.kind in "iub")
    return Body(
        function.__name__,
        function,
        attributes,
        over=True,
        commutative=commutative,
        exact=exact,
        joins=JOINS.get(function),
        idempotent=function in (greatest, least),
    )


def reduced(
    x: Tensor,
    axes: Sequence[int],
    function: Callable[..., Any],
    *,
    keepdims: bool,
    exact: bool = False,
    commutative: bool = True,
    attributes: tuple[tuple[str, Any], ...] = (),
) -> Tensor:
    """Return *x* reduced along *axes*, each of which is 0 <= axis < rank; without axes, single elements are reduced.

    >>> import symlayout as sl
    >>> reduced(sl.tensor("N, C, H", name="x"), [1], total, keepdims=True).shape
    (N, 1, H)
    """
    if isinstance(x, Applicable):
        given = {"keepdims": keepdims, "exact": exact, "commutative": commutative, "attributes": attributes}
        return x.applied("_reduced", (axes, function), given)  # type: ignore[no-any-return]
    kept = [k for k in range(x.rank) if k not in axes]
    order = [*kept, *sorted(axes)]
    view = x if order == list(range(x.rank)) else transpose(x, order)
    body = fold_body(function, x.dtype, exact=exact, commutative=commutative, attributes=attributes)
    made = compute(body, [view], batch=len(kept), dtype=x.dtype)
    return expand_dims(made, sorted(axes)) if keepdims and axes else made
