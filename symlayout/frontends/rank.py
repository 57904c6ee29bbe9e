"""Check the inputs of a framework's operation: that they are tensors, and their rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symlayout.compute.demands import demanding
from symlayout.errors import ShapeError
from symlayout.tensors.chain import Tensor, not_a_tensor


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
        raise not_a_tensor(name, x)
    if x.rank < least or (most is not None and x.rank > most):
        wanted = f"rank {least}" if least == most else f"rank {least} or more"
        raise ShapeError(f"{name} takes {wanted}, the tensor has rank {x.rank}", "rank")
    return x.rank


def require_shape(what: str, x: Tensor, shape: Sequence[Any], kind: str = "size_mismatch") -> Tensor:
    """Return *x*, which has to have this shape.

    Parameters
    ----------
    what : str
        What the message calls it.
    shape : sequence of int, dim or expression
        The extents.
    kind : str
        The kind of the error about an extent.

    Raises
    ------
    ShapeError
        ``rank`` if the rank is another one; *kind* if an extent is.

    Examples
    --------
    >>> import symlayout as sl
    >>> require_shape("the bias", sl.tensor("C"), (3,)).requires
    (Eq(C, 3),)
    """
    require_rank(what, x, len(shape), len(shape))
    return demanding(x, f"an extent of {{}}, not {{}}, of {what}", list(zip(x.shape, shape, strict=True)), kind=kind)


def require_number(what: str, x: Tensor) -> Tensor:
    """Return *x*, which has to be one number: it has no axes, or one of one element, as runtimes take it, too.

    Raises
    ------
    ShapeError
        ``rank`` for more axes; ``size_mismatch`` if there is another number of elements.
    """
    return require_shape(what, x, (1,)) if x.rank else x


def require_tensors(name: str, xs: Any, least: int = 0) -> Sequence[Tensor]:
    """Return a list of one or more tensors, whose rank has to be at least *least*.

    Raises
    ------
    ShapeError
        ``rank`` outside the range, ``length_mismatch`` for an empty list.
    TypeError
        *xs* is no list of tensors.
    """
    if not isinstance(xs, list | tuple):
        require_rank(name, xs, 0)
        raise TypeError(f"{name} takes a list of tensors, not one")
    if not xs:
        raise ShapeError(f"{name} takes one tensor or more, the list is empty", "length_mismatch")
    for x in xs:
        require_rank(name, x, least)
    return xs
