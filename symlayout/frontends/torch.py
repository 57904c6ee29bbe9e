"""PyTorch's functions, by the argument names of ``torch.nn.functional``.

>>> from symlayout import tensor
>>> pixel_shuffle(tensor("N, 4*c, h, w"), upscale_factor=2).shape
(N, c, 2*h, 2*w)
"""

from __future__ import annotations

from typing import Any

from symlayout.frontends import attributes
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import register
from symlayout.ops import space_depth
from symlayout.tensor import Tensor


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
    """
    require_rank("pixel_unshuffle", input, 3)
    block = attributes.scalar("downscale_factor", downscale_factor, 1)
    return space_depth.space_to_depth(input, block, "depth_first", depth_axis=-3, spatial_axes=(-2, -1))
