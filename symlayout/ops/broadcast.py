"""Give an array a larger shape by reading elements more than once."""

from __future__ import annotations

from typing import Any

from symlayout.declare import Declared, Operand, index_map
from symlayout.errors import ShapeError
from symlayout.polynomial import Extent
from symlayout.tensor import operation


@operation
def broadcast_to(x: Operand, shape: Any) -> Declared:
    """Return *x* in another shape: ``i = 0`` on an axis of extent 1, ``i = o`` on others, new axes first.

    Parameters
    ----------
    shape : int, dim, expression, or a sequence of them
        An extent that is not proved to be 1 has to be the one that *shape* says.

    Raises
    ------
    ShapeError
        ``size_mismatch`` for another extent than 1 and the one of *shape*, or one that is negative;
        ``rank`` for fewer axes than *x* has, ``overflow``.

    References
    ----------
    `numpy.broadcast_to`.

    Examples
    --------
    >>> import symlayout as sl
    >>> W = sl.dim("W")
    >>> sl.broadcast_to(sl.tensor((1, W)), (5, 2, W)).shape
    (5, 2, W)
    """
    target = x.extents(shape, "shape")
    new = len(target) - x.rank
    if new < 0:
        raise ShapeError(f"{x.where}: shape has {len(target)} values, the rank is {x.rank}", "rank")
    for k, e in enumerate(target):
        x.require(e, "size_mismatch", "extent {} of axis {} is negative", e, k)
    kept = [_fitting(x, k, n, e) for k, (n, e) in enumerate(zip(x.shape, target[new:], strict=True))]
    return index_map(target, lambda *o: [c % n if one is None else 0 if one else c for c, n, one in zip(o[new:], x.shape, kept, strict=True)])


def _fitting(x: Operand, axis: int, n: Extent, e: Extent) -> bool | None:
    """Return whether an axis of extent *n* is repeated to fill *e*, and demand that it fits; None if nothing says."""
    if n == 1:
        return True
    rule = "axis {}: extent {} is not 1 and not {}"
    if e != 1 and not x.facts.positive(n - 1) and not x.facts.nonnegative(-n):
        x.require_equal((n - 1) * (n - e), 0, "size_mismatch", rule, axis, n, e)
        return None
    x.require_equal(n, e, "size_mismatch", rule, axis, n, e)
    return False
