"""Permute axes."""

from __future__ import annotations

from collections.abc import Sequence

from symlayout.errors import ShapeError
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.declaration import Declared, Operand, as_list, index_map


@core_operation
def transpose(x: Operand, axes: Sequence[int] | None = None) -> Declared:
    """Return *x* with its axes permuted: ``y[o] = x[i]`` with ``i[axes[k]] = o[k]``.

    Parameters
    ----------
    axes : sequence of int, optional
        A permutation of the axes; negative ones count from the end.  None reverses them.

    Raises
    ------
    ShapeError
        ``length_mismatch`` if *axes* has another length than the rank, ``bad_axis`` if it is not a permutation.

    References
    ----------
    `numpy.transpose`.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.transpose(sl.tensor("N, C, H, W"), (0, 2, 3, 1)).shape
    (N, H, W, C)
    """
    given = list(reversed(range(x.rank))) if axes is None else as_list(axes)
    if len(given) != x.rank:
        raise ShapeError(f"{x.where}: axes has {len(given)} values, the rank is {x.rank}", "length_mismatch")
    order = [x.axis(a) for a in given]
    if len(set(order)) != x.rank:
        raise ShapeError(f"{x.where}: axes {given} repeat an axis", "bad_axis")
    where = [order.index(a) for a in range(x.rank)]
    return index_map([x.shape[a] for a in order], lambda *o: [o[k] for k in where])
