"""ONNX's operations: pads and slices."""

from __future__ import annotations

from typing import Any

from symlayout.compute.demands import demanding
from symlayout.errors import LEFT_OUT, ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.operator import movement
from symlayout.frontends.pads import padded
from symlayout.frontends.rank import require_rank
from symlayout.frontends.slices import sliced
from symlayout.tensors.chain import Tensor

_PADS = ("constant", "reflect", "edge", "wrap")


@movement("Pad")
def pad(data: Tensor, pads: Any, constant_value: Any = None, axes: Any = None, mode: str = "constant") -> Tensor:
    """Return *data* after removing elements by negative pads, and then adding elements at both ends of its axes.

    Parameters
    ----------
    data : Tensor
        Of any rank.
    pads : sequence of int
        The pads at the beginnings of *axes*, then those at their ends.
    constant_value : scalar, optional
        What ``"constant"`` adds; None is 0.
    axes : sequence of int, optional
        None is all axes.
    mode : str
        ``"constant"``, ``"reflect"``, ``"edge"`` or ``"wrap"``.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``bad_axis``, ``bad_mode``, ``crop_exceeds``, ``size_mismatch``
        where there are not as many elements to reflect as are added, ``overflow``.

    References
    ----------
    ONNX, operator Pad: https://onnx.ai/onnx/operators/onnx__Pad.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.onnx.pad(sl.tensor("H, W"), pads=[1, 0, 2, 0]).shape
    (H + 3, W)
    >>> sl.onnx.pad(sl.tensor("H, W"), pads=[1, 2], axes=[0], mode="edge").shape
    (H + 3, W)
    """
    rank = require_rank("Pad", data, 0)
    attributes.choice("mode", mode, _PADS)
    along = list(range(rank)) if axes is None else attributes.distinct("axes", axes, rank)
    flat = attributes.fill("pads", attributes.vector("pads", pads, None if pads is not None else 2 * len(along)), 0)
    if len(flat) != 2 * len(along):
        raise ShapeError(
            f"pads has {len(flat)} values, not a begin and an end for {len(along)} axes", "length_mismatch"
        )
    widths = [[0, 0] for _ in range(rank)]
    for axis, begin, end in zip(along, flat[: len(along)], flat[len(along) :], strict=True):
        widths[axis] = [begin, end]
    if getattr(constant_value, "size", 0) == 1:  # some models have a list of one value
        constant_value = constant_value.reshape(())
    fill = attributes.fill_value("constant_value", constant_value)
    if mode != "constant":  # where negative pads take all there is, the standard does not say what is repeated
        less = [-sum(e for e in pair if isinstance(e, int) and e < 0) for pair in widths]
        taken = [(n, e) for n, e in zip(data.shape, less, strict=True) if e]
        data = demanding(data, "an axis has extent {}, {} are taken away", at_least=taken, kind="crop_exceeds")
        what = "an axis has extent {}, of {} one is left"
        data = demanding(data, what, at_least=[(n, e + 1) for n, e in taken], kind=LEFT_OUT)
    return padded(data, widths, mode, fill, crops_first=True, bounded=mode != "wrap")


@movement("Slice")
def slice(data: Tensor, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Tensor:
    """Return the part of *data* from *starts* to before *ends*, every *steps*-th element.

    Bounds clamp to the axis, symbolic ones too.  With a negative step, a start before the first element is the first
    element.

    Parameters
    ----------
    data : Tensor
        Rank 1 or more.
    starts, ends : sequence of int
        One per axis of *axes*; negative ones count from the end.
    axes : sequence of int, optional
        None is the first axes.
    steps : sequence of int, optional
        One per axis of *axes*, not 0; None is 1 for all.

    Raises
    ------
    ShapeError
        ``rank``, ``length_mismatch``, ``attr_dtype``, ``bad_axis``.

    References
    ----------
    ONNX, operator Slice: https://onnx.ai/onnx/operators/onnx__Slice.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.onnx.slice(sl.tensor("8, W"), starts=[1, -1], ends=[-1, -9], steps=[2, -1]).shape
    (3, Min(8, W))
    """
    require_rank("Slice", data, 1)
    return sliced(data, starts, ends, steps, axes)
