"""The rank that an operation of a framework takes: the one rule that the core ops do not have."""

from __future__ import annotations

from typing import Any

from symlayout.errors import ShapeError
from symlayout.tensor import Tensor


def require_rank(name: str, x: Any, least: int, most: int | None = None) -> int:
    """Return the rank of *x*, which has to be *least*, ..., *most*; None is unbounded.

    Raises
    ------
    ShapeError
        ``rank`` outside the range.
    TypeError
        *x* is no tensor.
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"{name} takes a symlayout tensor, not {type(x).__name__}; make one with tensor()")
    if x.rank < least or (most is not None and x.rank > most):
        wanted = f"rank {least}" if least == most else f"rank {least} or more"
        raise ShapeError(f"{name} takes {wanted}, the tensor has rank {x.rank}", "rank")
    return x.rank
