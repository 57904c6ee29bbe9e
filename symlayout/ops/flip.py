"""Reverse the order of elements along axes."""

from __future__ import annotations

from typing import Any

from symlayout.errors import ShapeError
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.declaration import Declared, Operand, as_list, index_map


@core_operation
def flip(x: Operand, axis: Any = None) -> Declared:
    """Return *x* reversed along *axis*: ``i = n - 1 - o`` there, ``i = o`` elsewhere.

    Parameters
    ----------
    axis : int or sequence of int, optional
        None reverses every axis.

    Raises
    ------
    ShapeError
        ``bad_axis`` if an axis is out of range or repeated.

    References
    ----------
    `numpy.flip`.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.flip(sl.tensor("H, W"), axis=1).index_map
    (i0, i1) -> (i0, W - i1 - 1)
    """
    axes = list(range(x.rank)) if axis is None else [x.axis(a) for a in as_list(axis)]
    if len(set(axes)) != len(axes):
        raise ShapeError(f"{x.where}: axis {axis} repeats an axis", "bad_axis")
    return index_map(
        x.shape,
        lambda *o: [n - 1 - c if k in axes else c for k, (c, n) in enumerate(zip(o, x.shape, strict=True))],
    )
