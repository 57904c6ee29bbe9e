"""OpenVINO's operations: pads and slices."""

from __future__ import annotations

from typing import Any

from symlayout.frontends import attributes
from symlayout.frontends.pads import padded
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import register
from symlayout.frontends.slices import sliced
from symlayout.tensors.chain import Tensor

_PADS = ("constant", "edge", "reflect", "symmetric")


@register("openvino:Pad-12")
def pad(data: Tensor, pads_begin: Any, pads_end: Any, pad_value: Any = 0, *, pad_mode: str) -> Tensor:
    """Return *data* with elements added at both ends of its axes; negative pads then remove elements.

    Parameters
    ----------
    data : Tensor
        Of any rank.
    pads_begin, pads_end : sequence of int
        One per axis.
    pad_value : scalar
        What ``"constant"`` adds.
    pad_mode : str
        ``"constant"``, ``"edge"``, ``"reflect"`` or ``"symmetric"``.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``bad_mode``, ``crop_exceeds``, ``size_mismatch`` where there are
        not as many elements to reflect as are added, ``overflow``.

    References
    ----------
    OpenVINO, operation specification Pad-12.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.openvino.pad(sl.tensor("H, W"), pads_begin=[1, 0], pads_end=[2, 0], pad_mode="edge").shape
    (H + 3, W)
    """
    rank = require_rank("Pad-12", data, 0)
    mode = attributes.choice("pad_mode", pad_mode, _PADS)
    begin = attributes.fill("pads_begin", attributes.vector("pads_begin", pads_begin, rank), 0)
    end = attributes.fill("pads_end", attributes.vector("pads_end", pads_end, rank), 0)
    widths = [[a, b] for a, b in zip(begin, end, strict=True)]
    return padded(data, widths, mode, attributes.fill_value("pad_value", pad_value), crops_first=False)


@register("openvino:Slice-8")
def slice(data: Tensor, start: Any, stop: Any, step: Any, axes: Any = None) -> Tensor:
    """Return the part of *data* from *start* to before *stop*, every *step*-th element.

    Bounds clamp to the axis, symbolic ones too.  With a negative step, a start before the first element is the first
    element.

    Parameters
    ----------
    data : Tensor
        Rank 1 or more.
    start, stop, step : sequence of int
        One per axis of *axes*; negative bounds count from the end, and a step is not 0.
    axes : sequence of int, optional
        None is the first axes.

    Raises
    ------
    ShapeError
        ``rank``, ``length_mismatch``, ``attr_dtype``, ``bad_axis``.

    References
    ----------
    OpenVINO, operation specification Slice-8.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.openvino.slice(sl.tensor("8, W"), start=[1], stop=[-1], step=[2]).shape
    (3, W)
    """
    require_rank("Slice-8", data, 1)
    return sliced(data, start, stop, step, axes)
