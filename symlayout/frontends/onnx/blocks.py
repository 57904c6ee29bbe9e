"""ONNX's operations: move blocks of space to the depth, and back."""

from __future__ import annotations

from typing import Any

from symlayout.frontends import attributes
from symlayout.frontends.onnx.operator import movement
from symlayout.frontends.rank import require_rank
from symlayout.ops import space_depth
from symlayout.tensors.chain import Tensor

_MODES = {"DCR": "blocks_first", "CRD": "depth_first"}


@movement("SpaceToDepth")
def space_to_depth(input: Tensor, blocksize: Any, mode: str = "DCR") -> Tensor:
    """Return the NCHW tensor *input* with its blocks moved to the channels.

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

    References
    ----------
    ONNX, operator SpaceToDepth: https://onnx.ai/onnx/operators/onnx__SpaceToDepth.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.onnx.space_to_depth(sl.tensor("N, C, 2*h, 2*w"), blocksize=2).shape
    (N, 4*C, h, w)
    """
    require_rank("SpaceToDepth", input, 4, 4)
    order = _MODES[attributes.choice("mode", mode, _MODES)]
    return space_depth.space_to_depth(input, attributes.scalar("blocksize", blocksize, 1), order)


@movement("DepthToSpace")
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

    References
    ----------
    ONNX, operator DepthToSpace: https://onnx.ai/onnx/operators/onnx__DepthToSpace.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.onnx.depth_to_space(sl.tensor("N, 4*c, h, w"), blocksize=2, mode="CRD").shape
    (N, c, 2*h, 2*w)
    """
    require_rank("DepthToSpace", input, 4, 4)
    order = _MODES[attributes.choice("mode", mode, _MODES)]
    return space_depth.depth_to_space(input, attributes.scalar("blocksize", blocksize, 1), order)
