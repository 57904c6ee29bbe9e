"""Cut an array into several."""

from __future__ import annotations

import operator
from typing import Any

from symlayout.declare import Operand, is_list
from symlayout.errors import ShapeError
from symlayout.tensor import Tensor


def split(x: Tensor, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Return the parts of *x* along *axis*, in order.

    Parameters
    ----------
    indices_or_sections : int or sequence of int, dim or expression
        An int is the number of equal parts.  A sequence has the coordinates where to cut; they are
        bounds of slices, which ``x[...]`` explains.
    axis : int
        The axis to cut.

    Raises
    ------
    ShapeError
        ``non_divisible`` if there are no equal parts, ``block_lt_1`` for less than one, ``bad_axis``,
        ``attr_dtype`` for a number of parts that is no int, ``crop_exceeds`` for symbolic cuts out of range.

    See `numpy.split`.
    """
    operand = Operand((x.extents,), x.facts, "split")
    along = operand.axis(axis)
    if is_list(indices_or_sections):
        cuts = list(indices_or_sections)
    else:
        count = _sections(operand, indices_or_sections)
        operand.divide(operand.shape[along], count)
        n = x.shape[along]
        cuts = [n * k // count if isinstance(n, int) else n * k / count for k in range(1, count)]
    return [x[(slice(None),) * along + (slice(a, b),)] for a, b in zip([0, *cuts], [*cuts, None], strict=True)]


def _sections(x: Operand, sections: Any) -> int:
    try:
        count = operator.index(sections)
    except TypeError:
        raise ShapeError(f"{x.where}: sections {sections!r:.80} is not an int", "attr_dtype") from None
    if count < 1:
        raise ShapeError(f"{x.where}: sections {count} is not >= 1", "block_lt_1")
    return count
