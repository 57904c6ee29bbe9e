"""Elementwise operations: a body that reads one element of each operand, after broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symlayout.algebra.polynomial import Extent
from symlayout.errors import ArrayError
from symlayout.ops.broadcast import joint_extents
from symlayout.tensors.apply_operation import Application, core_joint_operation, joined, mapped, operand_of
from symlayout.tensors.chain import Applicable, Tensor, check_tensors
from symlayout.tensors.computation import Computation, value_of
from symlayout.tensors.declaration import Body, Case, Declared, Operand, Places
from symlayout.tensors.element_types import type_name


@core_joint_operation
def broadcast_jointly(x: Operand, number: int) -> Declared:
    """Return tensor *number* of a list, broadcast together with the others.

    Parameters
    ----------
    number : int
        Which tensor is read; the others only have their extents.

    Raises
    ------
    ShapeError
        ``size_mismatch`` if two extents are not equal and neither is 1; ``overflow``.

    References
    ----------
    `numpy.broadcast_arrays`.

    Examples
    --------
    >>> import symlayout as sl
    >>> broadcast_jointly([sl.tensor("4, 1", name="x"), sl.tensor("W", name="y")], 0).shape
    (4, W)
    """
    return _read(tuple(joint_extents(x, x.shapes)), x.shapes[number], number)


def _read(domain: tuple[Extent, ...], own: Sequence[Extent], number: int) -> Declared:
    """Return the map from a joint domain to tensor *number*, which has the extents *own*."""
    new = len(domain) - len(own)

    def coords(*o: Any) -> list[Any]:
        return [0 if n == 1 else c if n == m else c % n for c, n, m in zip(o[new:], own, domain[new:], strict=True)]

    return Declared(domain, (Case(coords, number),))


def aligned(xs: Sequence[Tensor]) -> list[Tensor]:
    """Return tensors broadcast together; those that have one shape already are returned unchanged."""
    return list(xs if _have_one_shape(xs) else _broadcast(xs)[1])


def _have_one_shape(xs: Sequence[Tensor]) -> bool:
    first = xs[0].extents
    return all([x.extents == first for x in xs[1:]])


def _broadcast(xs: Sequence[Tensor]) -> tuple[Operand, tuple[Tensor, ...], tuple[Extent, ...], int]:
    """Return tensors broadcast together, with their operand, their joint extents, and the least number of elements."""
    inputs, operand = joined(broadcast_jointly.__name__, tuple(xs), ())
    domain = tuple(joint_extents(operand, operand.shapes))
    known = operand.facts.reduce_all(domain)
    count = operand.check_countable(known)
    views = []
    for k, own in enumerate(operand.shapes):
        again = Application(broadcast_jointly.__wrapped__, (k,), {}, {}, own=True)  # type: ignore[attr-defined]
        views.append(mapped(operand, _read(domain, own, k), inputs, again, known, count))
    return operand, tuple(views), known, count


def divisors(y: Tensor, dtype: np.dtype[Any] | None) -> tuple[Places, ...]:
    """Return which elements a body of two operands takes that divides by *y*: integers are not divided by 0.

    >>> import symlayout as sl
    >>> divisors(sl.tensor("N", dtype="int64", name="y"), np.dtype("int64"))[0].divisors
    True
    """
    if dtype is None or dtype.kind not in "iu" or (y.values is not None and np.all(y.values)):
        return ()
    return (Places(1, divisors=True),)


def elementwise(body: Body, *xs: Tensor, dtype: Any = None) -> Tensor:
    """Return what *body* computes of the elements of *xs*, broadcast together.

    >>> import numpy as np
    >>> import symlayout as sl
    >>> elementwise(Body("add", np.add), sl.tensor("N, 1", name="x"), sl.tensor("C", name="y")).shape
    (N, C)
    """
    for x in xs:
        if isinstance(x, Applicable):
            return x.applied_to_several("_elementwise", xs, (body,), {"dtype": dtype})  # type: ignore[no-any-return]
    check_tensors(body.name, *xs)
    if _have_one_shape(xs):
        operand = operand_of(body.name, xs)
        return value_of(operand, xs, operand.shapes[0], Computation(body, xs[0].rank, (), dtype, {}))
    operand, views, extents, count = _broadcast(xs)
    return value_of(operand, views, (), Computation(body, len(extents), (), dtype, {}), extents, count)


def common_dtype(name: str, xs: Sequence[Tensor]) -> Any:
    """Return the element type of tensors that have one; None if no type is known.

    Raises
    ------
    ArrayError
        Two types differ.
    """
    known = [x.dtype for x in xs if x.dtype is not None]
    for dtype in known[1:]:
        if dtype != known[0]:
            raise ArrayError(f"{name}: the inputs have dtypes {type_name(known[0])} and {type_name(dtype)}")
    return known[0] if known else None


def same_extents(batch: int, x: Operand, views: tuple[Tensor, ...]) -> Sequence[Extent]:
    """Return the extents of the vectors of the first view, for results that have them too."""
    return x.shapes[0][batch:]
