"""The meaning of computed values, in NumPy: gather the elements that each body reads, and call its function."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from symlayout.errors import InconclusiveError, ShapeError, printable
from symlayout.maps.gather_elements import constant_type, gathered, gathers, int_extents
from symlayout.tensors.chain import Tensor, graph_of
from symlayout.tensors.declaration import Body
from symlayout.tensors.element_types import check_axes, new_array

Array = np.ndarray[Any, Any]
Seen = Callable[[Body, Sequence[Array], Array], None]
Change = Callable[[Tensor, Array], Array]
BLOCK = 1 << 22
"""Most elements of a view to gather at once, if the batch can be cut."""
_KEPT = 1 << 16  # most elements of a view whose coordinates are kept, not computed again


def evaluated(
    tensors: Sequence[Tensor],
    arrays: Mapping[str, Array],
    *,
    seen: Seen | None = None,
    change: Change | None = None,
) -> dict[int, Array]:
    """Return the elements of *tensors* by ``id``; all extents are ints.

    If the elements do not depend on an axis, the array may have extent 1 there.

    Parameters
    ----------
    arrays : mapping
        The arrays of the inputs, by key.
    seen : callable, optional
        Called with each body that is computed, what it reads and its value, once for each block.
    change : callable, optional
        Called with each computed value and its elements; it returns what takes their place.

    Raises
    ------
    InconclusiveError
        A body has no function.
    """
    wanted = {id(t) for t in tensors}
    made = each_value(tensors, arrays, seen=seen, change=change)
    return {id(t): value for t, value in made if id(t) in wanted and value is not None}


def each_value(
    tensors: Sequence[Tensor],
    arrays: Mapping[str, Array],
    *,
    partial: bool = False,
    seen: Seen | None = None,
    change: Change | None = None,
) -> Iterator[tuple[Tensor, Array | None]]:
    """Yield each computed value that *tensors* need, and these themselves, with its elements: see `evaluated`.

    If *partial*, the elements are None of what cannot be computed, and of what reads it.
    """
    sources = dict(arrays)
    wanted = {id(t) for t in tensors}
    left: dict[str, int] = {}  # by source, the number of values that still read it
    order = graph_of(tensors)
    readers = [node for node in order if node.body is not None or id(node) in wanted]
    reads = [_reads(node) for node in readers]
    for keys in reads:
        for key in keys:
            left[key] = left.get(key, 0) + 1
    for node in order:
        if node.values is not None:
            sources[node.key] = node.values
    for node, keys in zip(readers, reads, strict=True):
        value: Array | None = None
        if not partial or keys <= sources.keys():
            try:
                value = _computed(node, sources, seen) if node.body is not None else moved(node, sources)
                if node.body is not None:
                    value = value if change is None else change(node, value)
                    sources[node.key] = _spread(value, int_extents(node), node)
            except (InconclusiveError, ShapeError):
                value = None
                if not partial:
                    raise
        yield node, value
        for key in keys:
            left[key] -= 1
            if not left[key]:
                sources.pop(key, None)


def _reads(node: Tensor) -> set[str]:
    """Return the keys of the tensors that a value is moved or computed from."""
    views = node.inputs if node.body is not None else (node,)
    return {leaf.key for v in views for leaf in v.leaves()}


def moved(t: Tensor, sources: Mapping[str, Array], box: Sequence[slice] | None = None) -> Array:
    """Return the elements of *t* in a box; an axis that they do not depend on has extent 1."""
    if t.declared is None:
        return sources[t.key][tuple(box or ())]
    extents = int_extents(t)
    check_axes(t.rank)
    ranges = [range(n)[s] for n, s in zip(extents, box or [slice(None)] * t.rank, strict=True)]
    grid = [
        np.arange(r.start, r.stop, dtype=np.int64).reshape([-1 if k == axis else 1 for k in range(t.rank)])
        for axis, r in enumerate(ranges)
    ]
    leaves = t.leaves()
    given = [sources[leaf.key].dtype for leaf in leaves]
    dtype = t.dtype or (np.result_type(*given) if given else constant_type(t.dtype))
    if 0 in extents:
        return np.empty([len(r) for r in ranges], dtype)
    parts = list(gathers(t, grid)) if prod(len(r) for r in ranges) <= _KEPT else None
    shapes = [a.shape for part in parts or gathers(t, grid) for a in (part.mask, *part.coords)]
    shape = tuple(next((n for n in extents if n != 1), 1) for extents in zip(*shapes, strict=True))
    return gathered(t, sources, dtype, grid, shape, parts)


def _computed(node: Tensor, sources: Mapping[str, Array], seen: Seen | None) -> Array:
    """Return the value that a body computes, block by block of its batch."""
    body = node.body
    assert body is not None
    if body.function is None:
        raise InconclusiveError(f"the body of {node.name} has a function")
    batch = node.batch
    extents = int_extents(node)
    out: Array | None = None
    for box in _blocks(node, batch):
        arrays = []
        for v in node.inputs:
            over = int_extents(v)[batch:]
            cut = None if box is None else (*box, *(slice(None) for _ in over))
            a = moved(v, sources, cut)
            arrays.append(_spread(a, (*a.shape[: a.ndim - len(over)], *over), node) if over else a)
        named = dict(body.attributes)
        if body.over:
            named["axes"] = tuple(range(batch - node.inputs[0].rank, 0))
        try:
            with np.errstate(all="ignore"):
                value = np.asarray(body.function(*arrays, **named))
        except (ValueError, TypeError, IndexError, ArithmeticError, RuntimeError) as error:  # NumPy refuses these sizes
            raise InconclusiveError(f"{node.name} has a value here: {printable(error)}") from error
        if node.dtype is not None and value.dtype != node.dtype:
            value = value.astype(node.dtype)
        if seen is not None:
            seen(body, arrays, value)
        if box is None:
            return value
        if out is None:
            out = new_array(extents, value.dtype)
        out[tuple(box)] = _spread(value, out[tuple(box)].shape, node)
    assert out is not None
    return out


def _spread(value: Array, extents: Sequence[int], node: Tensor) -> Array:
    """Return an array with the extents that are declared, if what a body reads or computes fits them."""
    try:
        return np.broadcast_to(value, extents)
    except ValueError as error:  # an extent is negative, or the function returns another shape
        raise InconclusiveError(f"{node.name} has a value here: {printable(error)}") from error


def _blocks(node: Tensor, batch: int) -> Iterator[tuple[slice, ...] | None]:
    """Yield boxes that cover the batch, so that a view has at most about `BLOCK` elements; None is the whole batch."""
    extents = int_extents(node)[:batch]
    count = max((prod(int_extents(v)) for v in node.inputs if v.declared is not None), default=0)
    if count <= BLOCK or not node.body or not node.body.over or 0 in extents:
        yield None
        return
    parts = -(-count // BLOCK)
    steps = []
    for n in extents:  # the first axes are cut into single coordinates before the next one is cut
        step = max(1, n // parts)
        steps.append(step)
        parts = -(-parts // -(-n // step))
    for corner in itertools.product(*(range(0, n, step) for n, step in zip(extents, steps, strict=True))):
        yield tuple(slice(c, min(c + s, n)) for c, s, n in zip(corner, steps, extents, strict=True))


def stirred(a: Array) -> Array:
    """Return an array of floats with each element changed by about as much as a sum in another order is."""
    if a.dtype.kind != "f" or a.dtype.itemsize < 2:  # types of 8 bits have no finfo, and no element that is near
        return a
    step = 2.0 ** (4 - np.finfo(a.dtype).nmant)
    return np.asarray(a * (1 + step * np.random.default_rng(0).uniform(-1, 1, a.shape)), a.dtype)
