"""PyTorch's functions and methods, by its argument names.

>>> from symlayout import tensor
>>> pixel_shuffle(tensor("N, 4*c, h, w"), upscale_factor=2).shape
(N, c, 2*h, 2*w)
"""

from __future__ import annotations

from typing import Any

from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.pads import padded
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import AttributeNameError, register
from symlayout.ops import space_depth
from symlayout.ops.axes import expand_dims, squeeze
from symlayout.ops.channel_shuffle import channel_shuffle as core_channel_shuffle
from symlayout.ops.flip import flip as core_flip
from symlayout.ops.reshape import reshape as core_reshape
from symlayout.ops.roll import roll as core_roll
from symlayout.ops.tile import tile as core_tile
from symlayout.ops.transpose import transpose
from symlayout.ops.window import window
from symlayout.tensor import Tensor

_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}  # NumPy's names


@register("torch:pixel_shuffle")
def pixel_shuffle(input: Tensor, upscale_factor: Any) -> Tensor:
    """Return ``(..., C*r*r, H, W)`` as ``(..., C, H*r, W*r)``: the minor channel digits become pixels.

    Parameters
    ----------
    input : Tensor
        Rank 3 or more.
    upscale_factor : int
        ``r``, at least 1.

    Raises
    ------
    ShapeError
        ``rank``, ``attr_dtype``, ``block_lt_1``, ``non_divisible``, ``overflow``.

    References
    ----------
    torch: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pixel_shuffle.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.torch.pixel_shuffle(sl.tensor("N, 4*c, h, w"), upscale_factor=2).shape
    (N, c, 2*h, 2*w)
    """
    require_rank("pixel_shuffle", input, 3)
    block = attributes.scalar("upscale_factor", upscale_factor, 1)
    return space_depth.depth_to_space(input, block, "depth_first", depth_axis=-3, spatial_axes=(-2, -1))


@register("torch:pixel_unshuffle")
def pixel_unshuffle(input: Tensor, downscale_factor: Any) -> Tensor:
    """Return ``(..., C, H*r, W*r)`` as ``(..., C*r*r, H, W)``: undoes `pixel_shuffle`.

    Parameters
    ----------
    input : Tensor
        Rank 3 or more.
    downscale_factor : int
        ``r``, at least 1.

    Raises
    ------
    ShapeError
        ``rank``, ``attr_dtype``, ``block_lt_1``, ``non_divisible``, ``overflow``.

    References
    ----------
    torch: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pixel_unshuffle.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.torch.pixel_unshuffle(sl.tensor("N, C, 2*h, 2*w"), downscale_factor=2).shape
    (N, 4*C, h, w)
    """
    require_rank("pixel_unshuffle", input, 3)
    block = attributes.scalar("downscale_factor", downscale_factor, 1)
    return space_depth.space_to_depth(input, block, "depth_first", depth_axis=-3, spatial_axes=(-2, -1))


@register("torch:channel_shuffle")
def channel_shuffle(input: Tensor, groups: Any) -> Tensor:
    """Return *input* with one channel of each group after the other; axis 1 has the channels.

    Parameters
    ----------
    input : Tensor
        Rank 3 or more.
    groups : int
        At least 1.

    Raises
    ------
    ShapeError
        ``rank``, ``attr_dtype``, ``block_lt_1``, ``non_divisible``.

    References
    ----------
    torch: https://docs.pytorch.org/docs/stable/generated/torch.nn.ChannelShuffle.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.torch.channel_shuffle(sl.tensor("N, 6, H, W"), groups=2).index_map
    (i0, i1, i2, i3) -> (i0, 3*i1 - 5*(i1//2), i2, i3)
    """
    require_rank("channel_shuffle", input, 3)
    return core_channel_shuffle(input, attributes.scalar("groups", groups, 1))


@register("torch:permute")
def permute(input: Tensor, dims: Any) -> Tensor:
    """Return *input* with its axes permuted: output axis ``k`` is ``dims[k]``.

    Parameters
    ----------
    input : Tensor
        Of any rank.
    dims : sequence of int
        A permutation of the axes; negative ones count from the end.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``bad_axis``.

    References
    ----------
    torch: https://docs.pytorch.org/docs/stable/generated/torch.permute.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.torch.permute(sl.tensor("N, C, H, W"), dims=[0, 2, 3, 1]).shape
    (N, H, W, C)
    """
    require_rank("permute", input, 0)
    return transpose(input, attributes.constants("dims", dims))


@register("torch:reshape")
def reshape(input: Tensor, shape: Any) -> Tensor:
    """Return the elements of *input* in row-major order under another shape.

    Parameters
    ----------
    input : Tensor
        Of any rank.
    shape : sequence of int
        The extents; one -1 stands for what remains.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``size_mismatch``.

    References
    ----------
    torch: https://docs.pytorch.org/docs/stable/generated/torch.reshape.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.torch.reshape(sl.tensor("N, H, W"), shape=[6, -1]).shape
    (6, H*N*W/6)
    """
    require_rank("reshape", input, 0)
    return core_reshape(input, attributes.fill("shape", attributes.listed("shape", shape), 0))


@register("torch:pad")
def pad(input: Tensor, pad: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """Return *input* with elements added at both ends of its last axes, or taken away by negative widths.

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
    return padded(input, widths, numpy_mode, fill, crops_first=mode == "circular")


@register("torch:flip")
def flip(input: Tensor, dims: Any) -> Tensor:
    """Return *input* reversed along the axes *dims*.

    Parameters
    ----------
    input : Tensor
        Of any rank; one of rank 0 has the axis 0.
    dims : int or sequence of int
        Negative ones count from the end.

    Raises
    ------
    ShapeError
        ``attr_dtype``, ``bad_axis`` if one is out of range or repeated.

    References
    ----------
    torch: https://docs.pytorch.org/docs/stable/generated/torch.flip.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.torch.flip(sl.tensor("H, W"), dims=[1]).index_map
    (i0, i1) -> (i0, W - i1 - 1)
    """
    if require_rank("flip", input, 0) == 0:
        return squeeze(core_flip(expand_dims(input, 0), attributes.constants("dims", dims)), 0)
    return core_flip(input, attributes.constants("dims", dims))


@register("torch:roll")
def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Return *input* with its elements moved along the axes *dims*, coming back at the other end.

    Parameters
    ----------
    input : Tensor
        Of any rank.
    shifts : int or sequence of int
        How far, one per axis of *dims*.
    dims : int or sequence of int, optional
        None moves the elements in row-major order.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``bad_axis``, ``overflow``.

    References
    ----------
    torch: https://docs.pytorch.org/docs/stable/generated/torch.roll.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.torch.roll(sl.tensor("H, W"), shifts=1, dims=1).index_map
    (i0, i1) -> (i0, (i1 - 1) % W)
    """
    require_rank("roll", input, 0)
    steps = attributes.fill("shifts", attributes.listed("shifts", shifts), 0)
    along = None if dims is None else attributes.constants("dims", dims) or None
    if len(steps) != (1 if along is None else len(along)):
        raise ShapeError(f"shifts has {len(steps)} values, not one for each of dims {along}", "length_mismatch")
    return core_roll(input, steps, along)


@register("torch:tile")
def tile(input: Tensor, dims: Any) -> Tensor:
    """Return *input* put side by side with itself, *dims* times along its last axes.

    Parameters
    ----------
    input : Tensor
        Of any rank.
    dims : sequence of int
        At least 0 each; more of them than axes make new axes before those of *input*.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``size_mismatch``, ``overflow``.

    References
    ----------
    torch: https://docs.pytorch.org/docs/stable/generated/torch.tile.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.torch.tile(sl.tensor("H, W"), dims=[2, 1]).shape
    (2*H, W)
    """
    require_rank("tile", input, 0)
    return core_tile(input, attributes.fill("dims", attributes.listed("dims", dims), 0))


@register("torch:unfold")
def unfold(input: Tensor, dimension: Any, size: Any, step: Any) -> Tensor:
    """Return the windows of one axis, as ``Tensor.unfold`` does: which window there, where in it at the end.

    Parameters
    ----------
    input : Tensor
        Of any rank; one of rank 0 is one window, of one element.
    dimension : int
        The axis.
    size : int
        How many elements a window has, at least 1.
    step : int
        How far a window is from the one before, at least 1.

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
