"""Translate bounds of slices from the frameworks to NumPy's slices."""

from __future__ import annotations

from typing import Any

from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.ops.slicing import getitem
from symlayout.tensors.chain import Tensor

_INT64 = 2**63
PAST_THE_END = _INT64 - 1
"""From this bound on a slice ends with its axis, whatever the extent: extents fit int64."""


def sliced(x: Tensor, start: Any, stop: Any, step: Any, axes: Any) -> Tensor:
    """Return a slice of *x* as ONNX and OpenVINO have it; see `getitem` for the one case where NumPy differs.

    Bounds clamp to the axis and count from the end where they are negative, symbolic ones too.  An unknown start or
    stop is a dim that is not negative.

    Parameters
    ----------
    start, stop : sequence of int
        One for each sliced axis.
    step : sequence of int, optional
        None is 1 for all.
    axes : sequence of int, optional
        None is the first ones.

    Raises
    ------
    ShapeError
        ``length_mismatch`` if there are not as many of one as of another, or more than axes; ``bad_axis`` for
        an axis out of range or repeated, or a step of 0; ``attr_dtype``.
    """
    first = attributes.fill("start", attributes.vector("start", start), 0)
    last = attributes.fill("stop", attributes.vector("stop", stop), 0)
    steps = [1] * len(first) if step is None else attributes.constants("step", attributes.vector("step", step))
    along = list(range(len(first))) if axes is None else attributes.constants("axes", attributes.vector("axes", axes))
    lengths = [len(first), len(last), len(steps), len(along)]
    if len(set(lengths)) > 1 or len(first) > x.rank:
        raise ShapeError(
            f"start, stop, step and axes have {lengths} values for rank {x.rank}, not one per axis", "length_mismatch"
        )
    key = [slice(None)] * x.rank
    for axis, a, b, s in zip(attributes.distinct("axes", along, x.rank), first, last, steps, strict=True):
        key[axis] = slice_of(a, b, s)
    return getitem(x, tuple(key), bounds="clamp_start")


def slice_of(start: Any, stop: Any, step: int) -> slice:
    """Return a slice without the bounds that lie outside every axis, on the side of their end."""
    return slice(_unless_outside(start, -step), _unless_outside(stop, step), step)


def _unless_outside(bound: Any, side: int) -> Any:
    """Return a bound, or None if it lies outside every axis on the *side* of its end: extents fit int64.

    PyTorch writes ``-(2**63 - 1)`` for the end of a flip, which only an axis of as many elements could tell.
    """
    if not isinstance(bound, int):
        return bound
    return None if (bound < -_INT64 + 2 and side < 0) or (bound >= PAST_THE_END and side > 0) else bound
