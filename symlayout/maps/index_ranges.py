"""The values that inputs must have where operations read at them: places, labels, lengths, divisors (`Places`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from symlayout.algebra.polynomial import Extent
from symlayout.errors import InconclusiveError
from symlayout.tensors.chain import Tensor, graph_of

_CAST = "cast"  # the body that changes the element type
_DIVISORS = range(1, 8)  # that are drawn


def ranges_of(values: Iterable[Tensor], extent: Callable[[Tensor, Extent], int | None]) -> dict[str, range]:
    """Return, by the key of each input that operations read at, the values that all of them allow.

    Parameters
    ----------
    values : iterable of Tensor
        What the operations compute.
    extent : function
        Returns an extent of a tensor as a number; None if it is not known.
    """
    found: dict[str, range] = {}
    for node in graph_of(values):
        for places in node.body.places if node.body is not None else ():
            if places.operand >= len(node.inputs):  # it is left out
                continue
            if places.divisors:
                allowed = _DIVISORS
            elif places.limits is not None:
                allowed = range(places.limits[0], places.limits[1] + (not places.below))
            else:
                sizes = [extent(node.inputs[places.into], e) for e in places.spans(node.inputs, node.batch)]
                known = [n for n in sizes if n is not None]
                if not known:
                    continue
                allowed = places.allowed(min(known))
            for leaf in _inputs_read(node.inputs[places.operand]):
                other = found.get(leaf.key, allowed)
                found[leaf.key] = range(max(allowed.start, other.start), min(allowed.stop, other.stop))
    return found


def in_range(drawn: np.ndarray[Any, Any], allowed: range) -> np.ndarray[Any, Any]:
    """Return integers of this range in the place of others.

    Raises
    ------
    InconclusiveError
        The range is empty, and the array is not.

    Examples
    --------
    >>> in_range(np.array([-9, 0, 9]), range(0, 4)).tolist()
    [3, 0, 1]
    """
    if not allowed and drawn.size:
        raise InconclusiveError("an axis has a place to read at")
    return np.asarray(allowed.start + (drawn - allowed.start) % max(len(allowed), 1))


def _inputs_read(view: Tensor) -> Iterator[Tensor]:
    """Yield the inputs whose elements a view reads, in another element type too."""
    waiting = [view]
    while waiting:
        for leaf in waiting.pop().leaves_read():
            if leaf.body is not None and leaf.body.name == _CAST:
                waiting += leaf.inputs
            elif leaf.body is None and leaf.values is None:
                yield leaf
