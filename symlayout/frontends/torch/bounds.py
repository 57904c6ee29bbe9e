"""PyTorch's operations: pads and windows."""

from __future__ import annotations

from typing import Any

from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.pads import padded
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import AttributeNameError, register
from symlayout.ops.axes import expand_dims, squeeze
from symlayout.ops.window import window
from symlayout.tensors.chain import Tensor

_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}  # NumPy's names


@register("torch:pad")
def pad(input: Tensor, pad: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """Return *input* with elements added at both ends of its last axes; negative widths remove elements.

    Parameters
    ----------
    input : Tensor
        Of any rank; with another mode than ``"constant"`` one or two more than there are pairs.
    pad : sequence of int
        ``[begin, end]`` of the last axis, then of the one before it, and so on.
    mode : str
        ``"constant"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
    value : scalar, optional
        What ``"constant"`` adds; None is 0.

    Raises
    ------
    ShapeError
        ``rank``, ``length_mismatch``, ``attr_dtype``, ``bad_mode``, ``attr_unknown`` for a value in another mode
        than ``"constant"``, ``crop_exceeds``, ``size_mismatch`` where there are not as many elements to repeat as are
        added, ``overflow``.

    References
    ----------
    torch: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pad.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.torch.pad(sl.tensor("H, W"), pad=[1, 2]).shape
    (H, W + 3)
    """
    rank = require_rank("pad", input, 0)
    numpy_mode = _MODES[attributes.choice("mode", mode, _MODES)]
    fill = attributes.fill_value("value", value)
    if mode != "constant" and fill != 0:
        raise AttributeNameError(f"pad {mode!r} adds no value, got {fill}", "attr_unknown")
    flat = attributes.fill("pad", attributes.vector("pad", pad), 0)
    if len(flat) % 2 or len(flat) > 2 * rank:
        raise ShapeError(f"pad has {len(flat)} values, not a pair for each of at most {rank} axes", "length_mismatch")
    given = len(flat) // 2
    if mode != "constant" and not (1 <= given <= 3 and given + 1 <= rank <= given + 2):
        raise ShapeError(f"pad {mode!r} of {given} axes takes rank {given + 1} or {given + 2}, not {rank}", "rank")
    widths = [[0, 0]] * (rank - given) + [[flat[k], flat[k + 1]] for k in range(len(flat) - 2, -1, -2)]
    return padded(input, widths, numpy_mode, fill, crops_first=mode == "circular", refills=False)


@register("torch:unfold")
def unfold(input: Tensor, dimension: Any, size: Any, step: Any) -> Tensor:
    """Return the windows of one axis; the position in the window is a new last axis.

    Parameters
    ----------
    input : Tensor
        Of any rank; a tensor of rank 0 is one window of one element.
    dimension : int
        The axis.
    size : int
        The number of elements in a window, at least 1.
    step : int
        The distance between two windows, at least 1.

    Raises
    ------
    ShapeError
        ``attr_dtype``, ``bad_axis``, ``block_lt_1``, ``size_mismatch`` for a window beyond the axis.

    References
    ----------
    torch: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.unfold.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.torch.unfold(sl.tensor("N, 2*l + 3"), dimension=1, size=3, step=2).shape
    (N, l + 1, 3)
    """
    if require_rank("unfold", input, 0) == 0:
        return squeeze(unfold(expand_dims(input, 0), dimension, size, step), 0)
    axis = attributes.constant("dimension", dimension)
    return window(input, attributes.scalar("size", size, 1), axis, strides=attributes.scalar("step", step, 1))
