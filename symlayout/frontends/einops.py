"""einops' operations that move elements, with its patterns of named axes.

>>> from symlayout import tensor
>>> rearrange(tensor("b, h, w, c"), "b (h p) (w q) c -> b h w (p q c)", p=2, q=2).shape
(b, h/2, w/2, 4*c)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symlayout.errors import FormatError
from symlayout.language.axis_patterns import parse_pattern
from symlayout.ops.concatenate import stack
from symlayout.ops.reshape import rearrange as core_rearrange
from symlayout.tensors.chain import Applicable, Tensor, check_tensors

__all__ = ["rearrange", "repeat"]


def rearrange(x: Tensor | Sequence[Tensor], pattern: str, /, **sizes: Any) -> Tensor:
    """Return *x* with its axes split, joined and permuted as *pattern* says.

    Parameters
    ----------
    x : Tensor or sequence of Tensor
        Tensors of one shape are stacked along a new first axis.
    pattern : str
        ``"b (h p) c -> b h p c"``: names of axes, in parentheses where one axis is split or several are joined;
        ``...`` for the axes in between; ``1`` or ``()`` for an axis of extent 1.
    **sizes : int, dim or expression
        Sizes of named axes, >= 0.  Those that follow from the shape may be left out.

    Raises
    ------
    FormatError
        The pattern cannot be read, names an axis on one side alone, or a size is given for no axis of it.
    ShapeError
        ``rank``, ``non_divisible``, ``size_mismatch``, ``unbound_dim`` for sizes that nothing determines.

    References
    ----------
    einops: https://einops.rocks/api/rearrange/

    Examples
    --------
    >>> import symlayout as sl
    >>> N, p = sl.dims("N p")
    >>> y = sl.einops.rearrange(sl.tensor((N, 3)), "(n p) c -> n (c p)", p=p)
    >>> y.shape, y.requires
    ((N/p, 3*p), (p >= 1, Eq(Mod(N, p), 0)))
    """
    if isinstance(x, Applicable):
        return x.applied("rearrange", (pattern, sizes), {})  # type: ignore[no-any-return]
    return _arranged(x, pattern, sizes, repeats=False)


def repeat(x: Tensor | Sequence[Tensor], pattern: str, /, **sizes: Any) -> Tensor:
    """Return *x* rearranged, with its elements repeated along the axes that the right side of *pattern* adds.

    Parameters
    ----------
    x, pattern
        As `rearrange`; the right side may have more axes, and numbers as axes without a name.
    **sizes : int, dim or expression
        Sizes of named axes, >= 0; of those that the right side adds, all.

    Raises
    ------
    FormatError, ShapeError
        As `rearrange`.

    References
    ----------
    einops: https://einops.rocks/api/repeat/

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> y = sl.einops.repeat(sl.tensor("h, w"), "h w -> (h 2) w c", c=3)
    >>> y.shape
    (2*h, w, 3)
    """
    return _arranged(x, pattern, sizes, repeats=True)


def _arranged(x: Tensor | Sequence[Tensor], pattern: str, sizes: dict[str, Any], *, repeats: bool) -> Tensor:
    operand: Any = stack(x) if isinstance(x, (list, tuple)) else x
    check_tensors("rearrange", operand)
    groups = parse_pattern(pattern, operand.rank, repeats=repeats)
    used = {name for group in (*groups.left, *groups.right) for name in group}
    if unknown := [name for name in sizes if name not in used]:
        raise FormatError(f"{unknown[0]} is no axis of the pattern {pattern}\n  known: {', '.join(sorted(used))}")
    return core_rearrange(operand, groups.left, groups.right, {**sizes, **groups.sizes})
