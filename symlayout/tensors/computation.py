"""Values that are computed: ``out[b, p] = body(view_1[b, :], ..., view_k[b, :])[p]``.

A computed value has a box ``b`` of batch coordinates.  At each of them its body gets one vector per operand: what the
operand's view holds there, over a box of its own, ``over``.  The body returns a vector over the box ``p`` of results.
The views are tensors: index maps, as every other chain, from ``(b, over)`` to what the operation reads.

Elementwise operations, contractions, fibres and whole operands are points of this one form:

===============  ==================  ===============  =========================
operation        ``over``            result           the body sees
===============  ==================  ===============  =========================
elementwise      nothing             one element      one element of each operand
reduction        a box               one element      the terms, in any order if the body is commutative
fibre            ordered axes        a vector         a vector, in order
opaque           the whole operand   the whole value  whole operands; the batch is nothing
===============  ==================  ===============  =========================
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent
from symlayout.errors import ShapeError
from symlayout.tensors.chain import Tensor, apply, check_tensors
from symlayout.tensors.declaration import Body, Case, Coords, Declared, Fill, Operand
from symlayout.tensors.element_types import as_array, element_type

Result = Sequence[Any] | Callable[[Operand, tuple[Tensor, ...]], Sequence[Extent]]
_NUMBER = itertools.count()


def compute(body: Body, views: Sequence[Tensor], *, batch: int, result: Result = (), dtype: Any = None) -> Tensor:
    """Return the value that *body* computes of *views*.

    Parameters
    ----------
    body : Body
        What is computed at each batch coordinate.
    views : sequence of Tensor
        One or more.  The first *batch* axes of each are the batch and agree in extent; the others are what the body
        reads at once.
    batch : int
        How many axes are the batch.
    result : sequence of int, dim or expression, or a function
        The extents of the axes of the result that follow the batch; or a function that returns them, of an `Operand`
        whose ``shapes`` are those of the views, and of the views.
    dtype : dtype_like, optional
        The element type of the result; that of the first view if None.

    Raises
    ------
    ShapeError
        ``rank`` or ``size_mismatch`` if the views' batches differ, and ``dim_conflict`` between them.

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> total = Body("total", lambda x, axes: x.sum(axes), over=True)
    >>> y = compute(total, [sl.tensor("N, C", name="x")], batch=1)
    >>> y.shape
    (N,)
    >>> sl.interpret(y, np.array([[1, 2, 3], [4, 5, 6]])).tolist()
    [6, 15]
    """
    check_tensors(body.name, *views)
    return _computed(tuple(views), body, batch, result if callable(result) else tuple(result), dtype, {})


def _computed(
    views: tuple[Tensor, ...], body: Body, batch: int, result: Result, dtype: Any, values: Mapping[str, Extent]
) -> Tensor:
    facts = views[0].facts
    for v in views:
        if v.rank < batch or (v.rank > batch and not body.over):
            expected = f"{batch}" if not body.over else f"{batch} or more"
            raise ShapeError(f"{body.name}: {v!r} has rank {v.rank}, expected {expected}", "rank")
        if v.facts is not facts:
            facts = facts.fork()
            facts.merge(v.facts)
    shapes = tuple(v.extents if v.facts is facts else tuple(facts.reduce(e) for e in v.extents) for v in views)
    operand = Operand(shapes, facts, body.name, values)
    for k, shape in enumerate(shapes[1:], start=1):
        for axis, (e, n) in enumerate(zip(shape[:batch], shapes[0], strict=False)):
            if e != n:
                e, n = operand.facts.reduce(e), operand.facts.reduce(n)
                rule = "operand {} has extent {} on axis {}, operand 0 has {}"
                operand.require_equal(e, n, "size_mismatch", rule, k, e, axis, n)
    if callable(result):
        made = list(result(operand, views))
    else:
        made = [operand.extent(e, "extent of the result") for e in result]
        for axis, e in enumerate(made):
            operand.require(e, "infeasible", "extent {} of axis {} of the result is negative", e, batch + axis)
    extents = (*shapes[0][:batch], *made)
    operand.check_countable(extents)
    facts = operand.facts
    return Tensor(
        body.name,
        views[0].dtype if dtype is None else element_type(dtype),
        tuple(facts.reduce(e) for e in extents),
        facts,
        inputs=views,
        again=_Computation(body, batch, result, dtype, values),
        key=f"{body.name}.{next(_NUMBER)}",
        body=body,
        batch=batch,
    )


@dataclass(frozen=True, slots=True)
class _Computation:
    """What makes a computed value again on other views."""

    body: Body
    batch: int
    result: Result
    dtype: Any
    values: Mapping[str, Extent]

    def __call__(self, bound: tuple[Tensor, ...], values: Mapping[str, Extent]) -> Tensor:
        return _computed(bound, self.body, self.batch, self.result, self.dtype, {**self.values, **values})

    def record(self) -> tuple[Any, ...]:
        return _computed, (self.body, self.batch, self.result, self.dtype), {}, dict(self.values), None


def constant(array: Any, name: str = "constant") -> Tensor:
    """Return a tensor whose elements are those of *array*.

    Constants are equal if their elements are, bit for bit.

    Parameters
    ----------
    array : array_like
        It is kept, and made read-only.
    name : str, optional
        What the constant is called in messages.

    Raises
    ------
    ArrayError
        *array* has no elements of a fixed size.

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> sl.interpret(constant(np.array([1, 2]))[::-1]).tolist()
    [2, 1]
    """
    elements = as_array(np.asarray(array), name)
    elements.flags.writeable = False
    return Tensor(name, elements.dtype, elements.shape, Facts(), key=f"constant.{next(_NUMBER)}", values=elements)


# ---------------------------------------------------------------------- declarations in coordinates


@dataclass(frozen=True, slots=True)
class View:
    """What a body reads of one operand: an input at ``coords(*batch, *over)``.

    Attributes
    ----------
    coords : function
        Of the coordinates in the batch and in *over*; it returns the coordinate in the input.
    over : tuple of Extent
        The extents of the box that is read at once.
    source : int
        The number of the input.
    fill : Fill or None
        What is read outside the input; None where that never happens.

    Examples
    --------
    >>> View(lambda i, r: (i + r,), over=(3,)).coords(4, 2)
    (6,)
    """

    coords: Coords
    over: tuple[Extent, ...] = ()
    source: int = 0
    fill: Fill | None = None


@dataclass(frozen=True, slots=True)
class Computed:
    """What the declaration of a computing operation returns.

    Attributes
    ----------
    batch : tuple of Extent
        The extents of the result, or of its first axes.
    views : tuple of View
        What the body reads of each operand.
    body : Body
        What is computed at each coordinate of the batch.
    result : tuple of Extent
        The extents of the axes of the result that follow the batch.
    dtype : dtype_like
        The element type of the result; that of the first view if None.

    Examples
    --------
    >>> add = Body("add", np.add)
    >>> Computed((3,), (View(lambda i: (i,)), View(lambda i: (2 - i,), source=1)), add).batch
    (3,)
    """

    batch: tuple[Extent, ...]
    views: tuple[View, ...]
    body: Body
    result: tuple[Extent, ...] = ()
    dtype: Any = None


def computation(declaration: Callable[..., Computed]) -> Callable[..., Tensor]:
    """Make an operation on tensors that computes, from its declaration.

    The declaration gets the tensors together as one `Operand`, with their shapes in ``x.shapes``, and the attributes.
    It is called again when dims are bound, so a rule that fails then fails with the same kind.  The views need not
    show that they read inside: this is proved where it matters.

    Parameters
    ----------
    declaration : function
        Of an `Operand` and the attributes; it returns what is `Computed`.

    Raises
    ------
    TypeError
        When it is applied to no tensor.
    ShapeError
        When it is applied: ``infeasible`` for a negative extent of the batch, and what the declaration demands.

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> dot = Body("dot", lambda x, w, axes: (x * w).sum(axes), over=True, commutative=True)
    >>> @computation
    ... def correlate(x, stride):
    ...     (n,), (k,) = x.shapes
    ...     s = x.extent(stride)
    ...     size = x.floor_div(n - k, s) + 1
    ...     return Computed((size,), (View(lambda o, r: (s * o + r,), (k,)), View(lambda o, r: (r,), (k,), 1)), dot)
    >>> y = correlate(sl.tensor("10", name="x"), sl.tensor("3", name="w"), stride=2)
    >>> sl.interpret(y, np.arange(10), np.array([1, 0, 1])).tolist()
    [2, 6, 10, 14]
    """

    def applied(*xs: Any, **attributes: Any) -> Tensor:
        count = next((k for k, x in enumerate(xs) if not isinstance(x, Tensor)), len(xs))
        check_tensors(declaration.__name__, *xs[: max(count, 1)])
        tensors, args = xs[:count], xs[count:]
        first = apply(_viewed, tensors, (applied, 0, args, attributes), {}, own=False)
        shapes = tuple(tuple(first.facts.reduce(e) for e in x.extents) for x in tensors)
        declared = declaration(Operand(shapes, first.facts, declaration.__name__), *args, **attributes)
        rest = [
            apply(_viewed, tensors, (applied, k, args, attributes), {}, own=False)
            for k in range(1, len(declared.views))
        ]
        result = functools.partial(_result, applied, args, attributes) if declared.result else ()
        return _computed((first, *rest), declared.body, len(declared.batch), result, declared.dtype, {})

    functools.update_wrapper(applied, declaration)
    applied.__signature__ = inspect.signature(declaration)  # type: ignore[attr-defined]
    return applied


def _viewed(x: Operand, operation: Any, number: int, args: Any, attributes: Any) -> Declared:
    """Return the map of one view of a computing operation."""
    declared: Computed = operation.__wrapped__(x, *args, **attributes)
    view = declared.views[number]
    for axis, e in enumerate(declared.batch):
        x.require(e, "infeasible", "extent {} of axis {} is negative", e, axis)
    return Declared((*declared.batch, *view.over), (Case(view.coords, view.source, fill=view.fill),))


def _result(
    operation: Any, args: Any, attributes: Any, operand: Operand, views: tuple[Tensor, ...]
) -> Sequence[Extent]:
    """Return the extents of the result of an operation, of the operands that its views read."""
    operand.shapes = tuple(tuple(operand.facts.reduce(e) for e in x.extents) for x in views[0].inputs)
    declared: Computed = operation.__wrapped__(operand, *args, **attributes)
    return declared.result
