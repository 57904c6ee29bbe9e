"""Read a part of an array, as NumPy's basic indexing does, or write one over it."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from symlayout.algebra.polynomial import Extent
from symlayout.errors import ShapeError, shown
from symlayout.tensors.apply_operation import core_joint_operation, core_operation
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Case, Declared, Operand, index_map

_LONGEST = 2**63 - 1  # extent of an axis
Bounds = Literal["clamp", "clamp_start", "exact", "numpy"]


@core_operation
def getitem(x: Operand, key: Any, bounds: Bounds = "clamp") -> Declared:
    """Return ``x[key]``: ``i = start + step * o`` on a sliced axis, ``i = start`` on an indexed one.

    Parameters
    ----------
    key : int, slice, None, ... or a tuple of them
        As in NumPy's basic indexing; the bounds of slices may be dims and expressions.  Symbolic bounds neither
        clamp nor count from the end: ``0 <= start <= stop <= n`` is proved or becomes a requirement.  The step may
        be a dim too; unless it is known to be negative, it is required to be positive.
    bounds : str
        How bounds outside the axis are read.  ``"clamp"``: integers clamp as in NumPy.  ``"exact"``: integers are
        refused, like symbolic bounds, and none counts from the end.  ``"numpy"``: symbolic bounds clamp and count
        from the end as well.  ``"clamp_start"``: as ``"numpy"``, but with a negative step a start before the first
        element also clamps to the first element, as in ONNX and OpenVINO.

    Raises
    ------
    ShapeError
        ``bad_axis`` for too many indices or an index out of range, ``attr_dtype`` for an index that is not an
        integer, ``crop_exceeds`` for bounds that are out of range and do not clamp.

    References
    ----------
    NumPy, basic indexing: https://numpy.org/doc/stable/user/basics.indexing.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensor("H, W")[1:, ::-2].shape
    (Max(0, H - 1), ceiling(W/2))
    >>> sl.tensor("H, W")[..., None].shape
    (H, W, 1)
    """
    domain: list[Extent] = []
    reads: list[tuple[Extent, Extent, int | None]] = []  # start, step, output axis
    axis = 0
    for item in _expanded(x, key):
        if item is None:
            domain.append(1)
            continue
        n = x.shape[axis]
        if isinstance(item, slice) and item == slice(None):
            reads.append((0, 1, len(domain)))
            domain.append(n)
        elif isinstance(item, slice):
            start, step, count = _range(x, item, n, axis, bounds)
            reads.append((start, step, len(domain)))
            domain.append(count)
        else:
            start = _index(x, item, n, axis)
            reads.append((start, 0, None))
        axis += 1
    return index_map(domain, lambda *o: [start if k is None else start + o[k] * step for start, step, k in reads])


def _expanded(x: Operand, key: Any) -> list[Any]:
    items = list(key) if isinstance(key, tuple) else [key]
    used, dots = 0, []
    for k, item in enumerate(items):
        if item is Ellipsis:
            dots.append(k)
        elif item is not None:
            used += 1
    if len(dots) > 1:
        raise ShapeError(f"{x.where}: an index can have one ...", "bad_axis")
    if used > x.rank:
        raise ShapeError(f"{x.where}: {used} indices for rank {x.rank}", "bad_axis")
    at = dots[0] if dots else len(items)
    return items[:at] + [slice(None)] * (x.rank - used) + items[at + 1 :]


def _index(x: Operand, item: Any, n: Extent, axis: int) -> Extent:
    index = x.extent(item, f"index of axis {axis}")
    if isinstance(index, int) and index < 0 and not _is_symbolic(item):
        index = n + index
    rule = "index {} is out of range for axis {} of extent {}"
    x.require(index, "bad_axis", rule, item, axis, n)
    x.require(n - 1 - index, "bad_axis", rule, item, axis, n)
    return index


def _step(x: Operand, given: Any, axis: int) -> tuple[Extent, bool]:
    """Return the step of a slice, and whether it is positive, which an unknown one is required to be."""
    if not _is_symbolic(given):
        try:
            step: Extent = 1 if given is None else operator.index(given)
        except TypeError:
            raise ShapeError(f"{x.where}: step {shown(given)} of axis {axis} is not an integer", "attr_dtype") from None
    else:
        step = x.extent(given, f"step of axis {axis}")
    if step == 0:
        raise ShapeError(f"{x.where}: the step of axis {axis} is 0", "bad_axis")
    if isinstance(step, int):
        return step, step > 0
    if x.facts.nonnegative(-1 - step):
        return step, False
    x.require(step - 1, "bad_axis", "the step {} of axis {} is not positive", given, axis)
    return step, True


def _range(x: Operand, item: slice, n: Extent, axis: int, bounds: Bounds) -> tuple[Extent, Extent, Extent]:
    """Return ``(start, step, count)`` of a slice of an axis of extent *n*."""
    step, rises = _step(x, item.step, axis)
    if isinstance(step, int) and abs(step) >= _LONGEST:  # no axis has a second element so far on
        first, unit, count = _range(x, slice(item.start, item.stop, 1 if rises else -1), n, axis, bounds)
        return first, unit, x.minimum(count, 1)
    size = step if rises else -step
    symbolic = _is_symbolic(item.start) or _is_symbolic(item.stop)
    if symbolic and bounds in ("numpy", "clamp_start"):
        first, span = _clamped_range(x, item, n, axis, rises, 0 if bounds == "clamp_start" else -1)
        return first, step, _steps(x, span, size)
    first = _bound(x, item.start, n, 0 if rises else n - 1, axis, bounds)
    last = _bound(x, item.stop, n, n if rises else -1, axis, bounds)
    if bounds == "exact" or symbolic:
        span = last - first if rises else first - last
        rule = f"axis {axis}: {item.start}:{item.stop}:{step} is not a range of {x.spell(n)}"
        for inside in (span, first, n - last) if rises else (span, n - 1 - first, last + 1):
            x.require(inside, "crop_exceeds", rule)
    else:
        if bounds == "clamp_start" and not rises and isinstance(item.start, int) and item.start < -1:
            span = _span_from_first(x, first, last, n)
            first = x.maximum(first, 0)
        else:
            span = _clamped_span(x, first, last, n, rises)
        first = x.maximum(first, 0) if rises else x.minimum(first, n - 1)
    return first, step, _steps(x, span, size)


def _steps(x: Operand, span: Extent, size: Extent) -> Extent:
    """Return the number of elements of a range over *span* elements, of which every one in *size* is read."""
    return span if size == 1 else x.floor_div(span + size - 1, size)


def _clamped_range(x: Operand, item: slice, n: Extent, axis: int, rises: bool, before: int) -> tuple[Extent, Extent]:
    """Return where a range starts, and over how many elements it goes, if all bounds clamp to the axis.

    With a step that falls, a start before the first element clamps to *before*.
    """
    first = 0 if rises else n - 1
    if item.start is not None:
        first = _counted(x, item.start, n, axis, rises)
        first = x.maximum(first, 0) if rises else x.minimum(x.maximum(first, before), n - 1)
    last = n if rises else -1
    if item.stop is not None:
        last = _counted(x, item.stop, n, axis, rises)
        last = x.minimum(last, n) if rises else x.maximum(last, -1)
    return first, x.maximum(last - first if rises else first - last, 0)


def _counted(x: Operand, given: Any, n: Extent, axis: int, rises: bool) -> Extent:
    """Return a bound, counted from the end where it is negative; it is clamped after that.

    ``n - c`` is negative for ``n < c`` only.  Counted from the end it is ``2*n - c``, which clamps to 0 just as
    ``n - c`` does if ``c <= 2``.
    """
    bound = x.extent(given, f"bound of axis {axis}")
    short = n - bound
    return bound if rises and isinstance(short, int) and 0 <= short <= 2 else x.counted(bound, n)


def _clamped_span(x: Operand, first: Extent, last: Extent, n: Extent, rises: bool) -> Extent:
    """Return the distance from *first* to *last* within an axis; 0 if the step leads the other way."""
    if not rises:  # count both from the other end
        first, last = n - 1 - first, n - 1 - last
    if isinstance(n, int) and isinstance(first, int) and isinstance(last, int):
        return max(min(last, n) - max(first, 0), 0)
    limits = [last - first]
    if not isinstance(n - last, int):  # last may be behind the axis
        limits.append(n - first)
    if not isinstance(first, int):  # first may be before the axis
        limits.append(last)
    if len(limits) == 3:
        limits.append(n)
    known = [max(e, 0) for e in limits if isinstance(e, int)]
    spans = [x.maximum(e, 0) for e in limits if not isinstance(e, int)] + ([min(known)] if known else [])
    return functools.reduce(x.minimum, spans)


def _span_from_first(x: Operand, first: Extent, last: Extent, n: Extent) -> Extent:
    """Return the distance down from *first*, clamped to the first element, to *last*."""
    below = x.maximum(x.minimum(last + 1, n) if isinstance(last, int) else last + 1, 0)  # elements up to the stop
    span = x.maximum(first, 0) + 1 - below
    ordered = isinstance(steps := first - last, int) and steps >= 0  # both count from the end
    return x.minimum(span if ordered or below == 0 else x.maximum(span, 0), n)  # none of an empty axis


def _bound(x: Operand, given: Any, n: Extent, default: Extent, axis: int, bounds: Bounds) -> Extent:
    """Return a bound of a range; a negative int counts from the end unless bounds are exact."""
    if given is None:
        return default
    bound = x.extent(given, f"bound of axis {axis}")
    if bounds == "exact" or (isinstance(bound, int) and bound >= 0):
        return bound
    return n + bound if isinstance(bound, int) and not _is_symbolic(given) else bound


def _is_symbolic(given: Any) -> bool:
    return hasattr(given, "free_symbols") and not hasattr(given, "__index__")


def update_slice(x: Tensor, update: Tensor, starts: Any) -> Tensor:
    """Return *x* with *update* in place of the elements from *starts* on.

    On each axis of extent ``n``, where *update* has ``m <= n``, the start clamps: ``s = min(max(start, 0), n - m)``,
    after a negative one is counted from the end.  *update* is read at ``o - s`` where ``0 <= o - s < m`` on all axes,
    and *x* is read at ``o`` elsewhere.

    Parameters
    ----------
    update : Tensor
        Of the rank of *x*, with no extent larger than that of *x*.
    starts : sequence of int, dim or expression
        One for each axis.

    Raises
    ------
    ShapeError
        ``rank``, ``size_mismatch`` if *update* is larger than *x*; ``length_mismatch``, ``attr_dtype``.

    References
    ----------
    JAX's ``jax.lax.dynamic_update_slice``.

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> x, u = sl.tensor("N", name="x"), sl.tensor((2,), name="u")
    >>> y = update_slice(x, u, (1,))
    >>> sl.interpret(y, u=np.array([7, 8]), x=np.array([1, 2, 3, 4]))
    array([1, 7, 8, 4])
    >>> sl.interpret(y, u=np.array([7, 8]), x=np.array([1, 2]))
    array([7, 8])
    """
    return updated_slice([x, update], starts)


@core_joint_operation
def updated_slice(x: Operand, starts: Any) -> Declared:
    """Return input 0 with input 1 over its elements from *starts* on."""
    sizes = x.shapes[1]
    if len(sizes) != x.rank:
        raise ShapeError(f"{x.where}: the update has rank {len(sizes)}, the operand {x.rank}", "rank")
    places = []
    for axis, (n, m, start) in enumerate(zip(x.shape, sizes, x.extents(starts, "starts", x.rank), strict=True)):
        x.require(n - m, "size_mismatch", "axis {}: an update of {} exceeds {}", axis, m, n)
        places.append(x.minimum(x.maximum(x.counted(start, n), 0), n - m))

    def inside(o: Sequence[Any], axes: int) -> list[tuple[Any, Extent]]:
        """Return the windows that keep the first *axes* axes inside the update."""
        windows = zip(o[:axes], places, sizes, x.shape, strict=False)
        return [(c - s, m) for c, s, m, n in windows if m != n]

    def cases() -> Iterator[Case]:
        yield Case(
            lambda *o: [c - s for c, s in zip(o, places, strict=True)], source=1, where=lambda *o: inside(o, x.rank)
        )
        for axis, (n, m, s) in enumerate(zip(x.shape, sizes, places, strict=True)):
            for begin, count in ((0, s), (s + m, n - s - m)):
                if count != 0:
                    yield Case(
                        lambda *o: o,
                        where=lambda *o, k=axis, b=begin, e=count: [*inside(o, k), (o[k] - b, e)],
                    )

    return Declared(x.shape, tuple(cases()))
