"""Constants: tensors whose elements are one value."""

from __future__ import annotations

from typing import Any

from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Declared, Fill, Operand, index_map
from symlayout.tensors.input_tensor import empty_source


def full(shape: Any, value: Any, dtype: Any = None) -> Tensor:
    """Return a tensor of the given shape whose elements are all *value*; it takes no array.

    It is an operand like any other: ``concatenate([x, full((1, W), -1)])``.

    Parameters
    ----------
    shape : int, dim, expression, or a sequence of them
        Extents >= 0.
    value : scalar
        A number, or an element of NumPy.
    dtype : dtype_like, optional
        None fits the element type of whatever the constant is joined with.

    Raises
    ------
    ShapeError
        ``infeasible`` for a negative extent, ``attr_dtype``, ``overflow``.
    ArrayError
        *dtype* is no element type, or cannot hold *value*.

    References
    ----------
    `numpy.full`.

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> x = sl.tensor("N", name="x")
    >>> y = sl.concatenate([sl.full((2,), 7), x])
    >>> y.index_map
    (i0) -> 7 where 0 <= i0 < 2; (i0 - 2) where 0 <= i0 - 2 < N
    >>> sl.interpret(y, np.array([1, 2]))
    array([7, 7, 1, 2])
    """
    return constant(empty_source(dtype), shape, value)


@core_operation
def constant(x: Operand, shape: Any, value: Any) -> Declared:
    """Return *value* everywhere: each coordinate is outside of *x*, which has no element."""
    domain = x.extents(shape, "shape")
    for axis, e in enumerate(domain):
        x.require(e, "infeasible", "extent {} of axis {} is negative", e, axis)
    return index_map(domain, lambda *_: [-1], fill=Fill(value))
