"""What a fold makes of equal terms, however many there are, and of none: which fills may be left out or repeated."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from symlayout.tensors.declaration import UNDETERMINED, Body, Fill
from symlayout.tensors.element_types import same_fill


class Copies(NamedTuple):
    """What a fold makes of any number of equal terms, and whether it also makes that of no term."""

    value: Any
    of_none: bool


def fold_of_copies(body: Body, term: Any) -> Copies | None:
    """Return what a fold makes of one or more copies of *term*; None if that depends on their number.

    If two copies make what one makes, so does each further one.
    """
    if body.function is None or body.joins is None:
        return None
    given = dict(body.attributes)
    with np.errstate(all="ignore"):
        one, none = (np.asarray(body.function(np.full(n, term), axes=(-1,), **given)) for n in (1, 0))
        two = np.asarray(body.joins(one, one)).astype(one.dtype)
    return Copies(one, none.tobytes() == one.tobytes()) if two.tobytes() == one.tobytes() else None


def neutral(body: Body | None, dtype: Any) -> Any:
    """Return the element that a fold makes of no term, which changes nothing as a further term; None without one.

    >>> import symlayout as sl
    >>> y = sl.onnx.reduce_max(sl.tensor("N, C", "float32", name="x"), axes=[1], keepdims=0)
    >>> neutral(y.body, y.dtype).item()
    -inf
    """
    if body is None or body.function is None or body.joins is None or dtype is None:
        return None
    if body.sums_products:
        return np.zeros((), dtype)
    with np.errstate(all="ignore"):
        none = np.asarray(body.function(np.zeros(0, dtype), axes=(-1,), **dict(body.attributes)))
    found = fold_of_copies(body, none[()]) if none.dtype == dtype else None
    return none if found is not None and found.of_none and same_fill(found.value.item(), none.item(), dtype) else None


def is_neutral(fill: Fill, body: Body | None, dtype: Any) -> bool:
    """Return whether a fill is the neutral element of a fold of elements of a type."""
    value = neutral(body, dtype)
    return value is not None and fill.value is not UNDETERMINED and same_fill(fill.value, value.item(), dtype)
