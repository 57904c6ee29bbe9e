"""ONNX's operations, by the attribute and input names of the operator schemas.

>>> from symlayout import tensor
>>> depth_to_space(tensor("N, 4*c, h, w"), blocksize=2, mode="CRD").shape
(N, c, 2*h, 2*w)
"""

from __future__ import annotations

from typing import Any

from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import register
from symlayout.ops import space_depth
from symlayout.tensor import Tensor

_MODES = {"DCR": "blocks_first", "CRD": "depth_first"}


@register("onnx:SpaceToDepth")
def space_to_depth(input: Tensor, blocksize: Any) -> Tensor:
    """Return the NCHW tensor *input* with its blocks moved to the channels, as their major part.

    Parameters
    ----------
    input : Tensor
        Rank 4.
    blocksize : int
        At least 1.

    Raises
    ------
    ShapeError
        ``rank``, ``attr_dtype``, ``block_lt_1``, ``non_divisible``, ``overflow``.
    """
    require_rank("SpaceToDepth", input, 4, 4)
    return space_depth.space_to_depth(input, attributes.scalar("blocksize", blocksize, 1))


@register("onnx:DepthToSpace")
def depth_to_space(input: Tensor, blocksize: Any, mode: str = "DCR") -> Tensor:
    """Return the NCHW tensor *input* with block digits of its channels moved to rows and columns.

    Parameters
    ----------
    input : Tensor
        Rank 4.
    blocksize : int
        At least 1.
    mode : str
        ``"DCR"``: the block digits are the major part of the channels; ``"CRD"``: the minor part.

    Raises
    ------
    ShapeError
        ``rank``, ``attr_dtype``, ``bad_mode``, ``block_lt_1``, ``non_divisible``, ``overflow``.
    """
    require_rank("DepthToSpace", input, 4, 4)
    if not isinstance(mode, str) or mode not in _MODES:
        raise ShapeError(f"mode is {mode!r:.80}, neither 'DCR' nor 'CRD'", "bad_mode")
    return space_depth.depth_to_space(input, attributes.scalar("blocksize", blocksize, 1), _MODES[mode])
