"""PyTorch's operations: move blocks of pixels to the channels, and back."""

from __future__ import annotations

from typing import Any

from symlayout.frontends import attributes
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import register
from symlayout.ops import space_depth
from symlayout.ops.channel_shuffle import channel_shuffle as core_channel_shuffle
from symlayout.tensors.chain import Tensor


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
    """Return *input* with the channels of its groups interleaved; axis 1 has the channels.

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
    (i0, i1, i2, i3) -> (i0, 3*(i1 % 2) + i1//2, i2, i3)
    """
    require_rank("channel_shuffle", input, 3)
    return core_channel_shuffle(input, attributes.scalar("groups", groups, 1))
