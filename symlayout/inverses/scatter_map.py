"""Tensors whose map is a function of the input's indices: it says where each element goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symlayout.errors import InconclusiveError, ShapeError
from symlayout.inverses.find_inverse import inverse
from symlayout.maps.sympy_maps import index_map, reached
from symlayout.proof.verdict import Proof, Verdict
from symlayout.tensors.chain import Tensor, check_tensors
from symlayout.tensors.input_tensor import tensor


def transform_layout(
    x: Tensor, f: Callable[..., Any], *, shape: Sequence[Any] | None = None, fill: Any = None
) -> Tensor:
    """Return the tensor that has the element ``x[i, j, ...]`` at ``f(i, j, ...)``.

    This is the direction of TVM's ``transform_layout``; `index_map` takes maps in the other direction.  The map is
    inverted as by `inverse`, and it is proved that no two elements go to the same place.

    Parameters
    ----------
    x : Tensor
        The input.
    f : function
        Takes one SymPy integer for each axis of *x*, and returns the coordinate in the result, written as for
        `index_map`.  Without *shape*, ``Min``, ``Max``, ``Abs`` and ``Piecewise`` are refused.
    shape : sequence, optional
        The extents of the result.  By default, the coordinates from 0 to the largest ones of *f*, by interval
        arithmetic: ``e // k`` ends at the last quotient, and ``e % k`` has *k* values.
    fill : scalar, optional
        The element at places to which no element goes.  Without a fill, it is proved that there are none.

    Raises
    ------
    ShapeError
        ``no_inverse`` if two elements go to the same place, or if, without a fill, some place gets no element.
    InconclusiveError
        Neither is decided, no inverse is found, or a coordinate is not proved to be inside *shape*.
    FormatError
        *f* returns something other than integer expressions.

    References
    ----------
    TVM: ``tir.Schedule.transform_layout`` and ``tir.IndexMap``.

    Examples
    --------
    >>> import symlayout as sl
    >>> H, W = sl.dims("H W")
    >>> x = sl.tensor((4 * H, W), name="x")
    >>> sl.transform_layout(x, lambda i, j: (i // 4, j, i % 4)).index_map
    (i0, i1, i2) -> (4*i0 + i2, i1)
    >>> sl.transform_layout(sl.tensor("14"), lambda i: (i // 4, i % 4), fill=0).index_map
    (i0, i1) -> (4*i0 + i1) if 0 <= 4*i0 + i1 < 14 else 0
    """
    check_tensors("transform_layout", x)
    places = tensor(reached(x, f) if shape is None else shape, x.dtype, "z")
    found = inverse(index_map(places, x.shape, f))
    _demand(found.right, "no two elements go to the same place", "")
    if fill is None:
        help_ = "\n  help: give fill=, or a shape= whose requirements exclude such places"
        _demand(found.left, "an element goes to each place of the result", help_)
    return found(x, 0 if fill is None else fill)


def _demand(proof: Proof, claim: str, help_: str) -> None:
    if proof.verdict is Verdict.REFUTED:
        raise ShapeError(
            f"transform_layout: it is false that {claim}\n  known: {proof.conclusion}{help_}", "no_inverse"
        )
    if proof.verdict is Verdict.UNKNOWN:
        raise InconclusiveError(claim, [proof.conclusion])
