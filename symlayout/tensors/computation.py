"""Computed values: ``out[b, p] = body(view_1[b, :], ..., view_k[b, :])[p]``.

A computed value has a box ``b`` of batch coordinates.  At each batch coordinate, its body gets one vector per operand:
the elements of the operand's view over a second box, ``over``.  The body returns a vector over the box ``p`` of
results.  A view is a tensor like any other: an index map from ``(b, over)`` to the elements that the operation reads.

Elementwise operations, reductions, fibres and opaque operations are cases of this form:

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
from typing import Any, NamedTuple

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent
from symlayout.errors import ShapeError
from symlayout.tensors.apply_operation import Application, joined, mapped, operand_of
from symlayout.tensors.chain import Tensor, check_tensors
from symlayout.tensors.declaration import Body, Case, Coords, Declared, Fill, Operand, Places, Replacement
from symlayout.tensors.element_types import as_array, element_type

Result = Sequence[Any] | Callable[[Operand, tuple[Tensor, ...]], Sequence[Extent]]
_NUMBER = itertools.count()
UNKNOWN_TYPE = "unknown"
"""The element type of a result that is not known, as the *dtype* of `compute`."""


def compute(body: Body, views: Sequence[Tensor], *, batch: int, result: Result = (), dtype: Any = None) -> Tensor:
    """Return the value that *body* computes from *views*.

    Parameters
    ----------
    body : Body
        The function to apply at each batch coordinate.
    views : sequence of Tensor
        One view or more.  The first *batch* axes of each view are the batch; their extents agree.  The body reads the
        other axes as one vector.
    batch : int
        The number of batch axes.
    result : sequence of int, dim or expression, or a function
        The extents of the result's axes after the batch.  A function gets an `Operand` with the shapes of the views,
        and the views, and returns these extents.
    dtype : dtype_like, optional
        The element type of the result; None means that of the first view, `UNKNOWN_TYPE` that it is not known.

    Returns
    -------
    Tensor
        A leaf whose elements are computed.

    Raises
    ------
    ShapeError
        ``rank`` or ``size_mismatch`` if the batches of the views differ; ``dim_conflict`` if two dims share a name.

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
    for v in views:
        if v.rank < batch or (v.rank > batch and not body.over):
            expected = f"{batch}" if not body.over else f"{batch} or more"
            raise ShapeError(f"{body.name}: {v!r} has rank {v.rank}, expected {expected}", "rank")
    operand = operand_of(body.name, views, values)
    shapes = operand.shapes
    for k, shape in enumerate(shapes[1:], start=1):
        for axis, (e, n) in enumerate(zip(shape[:batch], shapes[0], strict=False)):
            if e is not n and e != n:
                e, n = operand.facts.reduce(e), operand.facts.reduce(n)
                rule = "operand {} has extent {} on axis {}, operand 0 has {}"
                operand.require_equal(e, n, "size_mismatch", rule, k, e, axis, n)
    if callable(result):
        made = list(result(operand, views))
    else:
        made = [operand.extent(e, "extent of the result") for e in result]
        for axis, e in enumerate(made):
            operand.require(e, "infeasible", "extent {} of axis {} of the result is negative", e, batch + axis)
    return value_of(operand, views, (*shapes[0][:batch], *made), Computation(body, batch, result, dtype, values))


def value_of(
    operand: Operand,
    views: tuple[Tensor, ...],
    extents: Sequence[Extent],
    again: Computation,
    known: tuple[Extent, ...] = (),
    count: int = 1,
) -> Tensor:
    """Return the value that a body computes of *views*, whose facts *operand* has.

    Before its *extents*, some may be *known*: in the symbols that remain, with at least *count* elements.
    """
    for places in again.body.places:
        _require_places(operand, places, views, again.batch)
    if extents:
        operand.check_countable(extents, count)
        known = (*known, *operand.facts.reduce_all(extents))
    dtype = again.dtype
    if isinstance(dtype, str) and dtype == UNKNOWN_TYPE:
        dtype = None
    else:
        dtype = views[0].dtype if dtype is None or dtype is views[0].dtype else element_type(dtype)
    return Tensor(
        again.body.name,
        dtype,
        known,
        operand.facts,
        inputs=views,
        again=again,
        key=f"{again.body.name}.{next(_NUMBER)}",
        body=again.body,
        batch=again.batch,
    )


def _require_places(operand: Operand, places: Places, views: tuple[Tensor, ...], batch: int) -> None:
    """Require that axes have the places, or are as long as the lengths, that a constant operand names."""
    if not (spans := places.spans(views, batch)):
        return
    view = views[places.operand]
    leaf, *others = view.leaves_read() or [view]
    direct = leaf is view or any(leaf is source for source in view.inputs)
    if others or leaf.values is None or not leaf.values.size or not direct:
        return
    columns = leaf.values.reshape(-1, len(spans)).T if leaf.values.size % len(spans) == 0 else ()
    if len(spans) > 1 and leaf.values.shape[-1:] != (len(spans),):
        return
    for column, extent in zip(columns, spans, strict=False):
        named = column if places.other is None else column[column != places.other]
        if not named.size:
            continue
        low, high = int(named.min()), int(named.max())
        rule = f"{'a length' if places.lengths else 'an index'} of {{}} is out of range for extent {{}}"
        allowed = places.allowed_ends(extent)
        operand.require(allowed[1] - high, "bad_axis", rule, high, extent)
        operand.require(low - allowed[0], "bad_axis", rule, low, extent)


class Computation(NamedTuple):
    """A body with its batch and result; a call computes the value again from other views."""

    body: Body
    batch: int
    result: Result
    dtype: Any
    values: Mapping[str, Extent]

    def __call__(self, bound: tuple[Tensor, ...], values: Mapping[str, Extent]) -> Tensor:
        """Return the value of the views *bound*, with the dims of *values* replaced."""
        both = Replacement.of(self.values).then(values)
        return _computed(bound, self.body, self.batch, self.result, self.dtype, both)

    def record(self) -> tuple[Any, ...]:
        """Return data from which another process makes it again."""
        return _computed, (self.body, self.batch, self.result, self.dtype), {}, self.values, None


def with_extents_of(t: Tensor, other: Tensor, inputs: tuple[Tensor, ...]) -> Tensor:
    """Return a computed value of *inputs* with its extents named as those of *other*, which has the same body.

    The caller knows that both read equal views.
    """
    made, named = t.again, other.again
    assert isinstance(made, Computation)
    assert isinstance(named, Computation)
    return made._replace(result=named.result, values=named.values)(inputs, {})


def constant(array: Any, name: str = "constant", *, rounding: float = 0.0) -> Tensor:
    """Return a tensor with the elements of *array*.

    Two constants are equal if their elements are equal bit for bit.

    Parameters
    ----------
    array : array_like
        The elements.  The tensor keeps the array and makes it read-only.
    name : str, optional
        The name of the constant in messages.
    rounding : float
        How far an element may be from what another runtime computes in its place: the law ``"fold-batchnorm"`` takes
        constants that are as near to each other for equal.

    Raises
    ------
    ArrayError
        The elements of *array* have no fixed size.

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> sl.interpret(constant(np.array([1, 2]))[::-1]).tolist()
    [2, 1]
    """
    elements = as_array(np.asarray(array), name)
    elements.flags.writeable = False
    key = f"constant.{next(_NUMBER)}"
    return Tensor(name, elements.dtype, elements.shape, Facts(), key=key, values=elements, rounding=rounding)


# ---------------------------------------------------------------------- declarations in coordinates


def is_pointwise(t: Tensor) -> bool:
    """Return whether each element of a computed value is a function of one element of each view."""
    return t.body is not None and not t.body.over and t.batch == t.rank


class View(NamedTuple):
    """The elements that a body reads of one operand: an input at ``coords(*batch, *over)``.

    Attributes
    ----------
    coords : function
        Takes the coordinates in the batch and in *over*, and returns the coordinate in the input.
    over : tuple of Extent
        The extents of the box that is read as one vector.
    source : int
        The number of the input.
    fill : Fill or None
        The value outside the input; None if every coordinate is inside.

    Examples
    --------
    >>> View(lambda i, r: (i + r,), over=(3,)).coords(4, 2)
    (6,)
    """

    coords: Coords
    over: tuple[Extent, ...] = ()
    source: int = 0
    fill: Fill | None = None


class Computed(NamedTuple):
    """The value that the declaration of a computing operation returns.

    Attributes
    ----------
    batch : tuple of Extent
        The extents of the batch axes, which come first in the result.
    views : tuple of View
        The elements that the body reads of each operand.
    body : Body
        The function to apply at each batch coordinate.
    result : tuple of Extent
        The extents of the result's axes after the batch.
    dtype : dtype_like
        The element type of the result; None means that of the first view.

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
    """Make a computing operation on tensors from its declaration.

    The declaration gets one `Operand` for all tensors, with their shapes in ``x.shapes``, and the attributes.  The
    engine calls it again when dims get values.  So a requirement that fails raises the same kind both times.  A
    declaration need not prove that its views read inside: the engine proves that where it matters.

    Parameters
    ----------
    declaration : function
        Takes an `Operand` and the attributes, and returns a `Computed`.

    Returns
    -------
    function
        Takes tensors and the attributes, and returns a tensor.

    Raises
    ------
    TypeError
        Raised by the operation: no argument is a tensor.
    ShapeError
        Raised by the operation: an extent of the batch is negative (``infeasible``), or a requirement of the
        declaration fails.

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
        given = 0
        while given < len(xs) and isinstance(xs[given], Tensor):
            given += 1
        if given == 0:
            check_tensors(declaration.__name__, *xs[:1])
        tensors, args = xs[:given], xs[given:]
        inputs, operand = joined(declaration.__name__, tensors, (args, attributes))
        declared = declaration(operand, *args, **attributes)
        _require_batch(operand, declared.batch)
        batch = operand.facts.reduce_all(declared.batch)
        count = operand.check_countable(batch)
        views = []
        for k, view in enumerate(declared.views):
            again = Application(_ViewOf(applied, k), args, attributes, {}, own=False)
            views.append(mapped(operand, _map_of(declared, view), inputs, again, batch, count))
        result: Result = functools.partial(_result, applied, args, attributes) if declared.result else ()
        remake = Computation(declared.body, len(batch), result, declared.dtype, {})
        return value_of(operand, tuple(views), declared.result, remake, batch, count)

    functools.update_wrapper(applied, declaration)
    applied.__signature__ = inspect.signature(declaration)  # type: ignore[attr-defined]
    return applied


@dataclass(slots=True)
class _ViewOf:
    """The declaration of one view of a computing operation."""

    applied: Any
    number: int

    @property
    def __name__(self) -> str:
        name: str = self.applied.__name__
        return name

    def __call__(self, x: Operand, *args: Any, **attributes: Any) -> Declared:
        declared: Computed = self.applied.__wrapped__(x, *args, **attributes)
        _require_batch(x, declared.batch)
        return _map_of(declared, declared.views[self.number])


def _require_batch(x: Operand, batch: Sequence[Extent]) -> None:
    least_of = x.facts.least
    for axis, e in enumerate(batch):
        if (least := least_of(e)) is None or least < 0:
            x.require(e, "infeasible", "extent {} of axis {} is negative", e, axis)


def _map_of(declared: Computed, view: View) -> Declared:
    """Return the index map of a view."""
    return Declared((*declared.batch, *view.over), (Case(view.coords, view.source, fill=view.fill),))


def _result(
    operation: Any, args: Any, attributes: Any, operand: Operand, views: tuple[Tensor, ...]
) -> Sequence[Extent]:
    """Return the extents of an operation's result, given the operands that its views read."""
    operand.shapes = tuple(tuple(operand.facts.reduce(e) for e in x.extents) for x in views[0].inputs)
    declared: Computed = operation.__wrapped__(operand, *args, **attributes)
    return declared.result
