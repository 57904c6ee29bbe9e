"""TensorFlow's operations: move blocks of space to the batch or the depth, and back."""

from __future__ import annotations

from typing import Any

from symlayout.errors import ShapeError, shown
from symlayout.frontends import attributes
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import register
from symlayout.language.sympy_arithmetic import at_least
from symlayout.ops import space_batch, space_depth
from symlayout.ops.split import split_sizes
from symlayout.tensors.chain import Tensor

# data_format: rank, axis of the depth, axes of height and width.  NCHW_VECT_C holds channel 4*i + j at
# [:, i, :, :, j], so that whole groups of four move as NCHW and the last axis stays.
_FORMATS = {
    "NHWC": (4, 3, (1, 2)),
    "NCHW": (4, 1, (2, 3)),
    "NCHW_VECT_C": (5, 1, (2, 3)),
}
_VECTOR = 4


@register("tensorflow:SpaceToBatchND")
def space_to_batch_nd(input: Tensor, block_shape: Any, paddings: Any) -> Tensor:
    """Return *input* padded with zeros; its block digits become the major part of the batch.

    Parameters
    ----------
    input : Tensor
        Rank ``M + 1`` or more.
    block_shape : sequence of int
        ``M`` blocks of the axes 1 to ``M``, at least 1 each; ``M`` may be 0.
    paddings : sequence of pairs of int
        ``M`` times ``[begin, end]``, at least 0 each.

    Raises
    ------
    ShapeError
        ``rank``, ``length_mismatch``, ``attr_dtype``, ``block_lt_1``, ``negative_pad``,
        ``non_divisible``, ``overflow``.

    References
    ----------
    TensorFlow, raw op SpaceToBatchND: https://www.tensorflow.org/api_docs/python/tf/raw_ops/SpaceToBatchND

    Examples
    --------
    >>> import symlayout as sl
    >>> y = sl.tensorflow.space_to_batch_nd(sl.tensor("N, H, W, C"), block_shape=[2, 2], paddings=[[1, 1], [0, 0]])
    >>> y.shape
    (4*N, H/2 + 1, W/2, C)
    >>> y.requires
    (Eq(Mod(H, 2), 0), Eq(Mod(W, 2), 0))
    """
    block, pairs = _nd("SpaceToBatchND", input, block_shape, "paddings", paddings)
    return space_batch.space_to_batch(input, block, pairs)


@register("tensorflow:BatchToSpaceND")
def batch_to_space_nd(input: Tensor, block_shape: Any, crops: Any) -> Tensor:
    """Return *input* with the major part of its batch interleaved into the axes 1 to ``M``, then cropped.

    Parameters
    ----------
    input : Tensor
        Rank ``M + 1`` or more.
    block_shape : sequence of int
        ``M`` blocks of the axes 1 to ``M``, at least 1 each; ``M`` may be 0.
    crops : sequence of pairs of int
        ``M`` times ``[begin, end]``, at least 0 each.

    Raises
    ------
    ShapeError
        ``rank``, ``length_mismatch``, ``attr_dtype``, ``block_lt_1``, ``negative_crop``,
        ``crop_exceeds``, ``non_divisible``, ``overflow``.

    References
    ----------
    TensorFlow, raw op BatchToSpaceND: https://www.tensorflow.org/api_docs/python/tf/raw_ops/BatchToSpaceND

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.batch_to_space_nd(sl.tensor("4*N, h, w, C"), block_shape=[2, 2], crops=[[0, 0], [0, 0]]).shape
    (N, 2*h, 2*w, C)
    """
    block, pairs = _nd("BatchToSpaceND", input, block_shape, "crops", crops)
    return space_batch.batch_to_space(input, block, pairs)


@register("tensorflow:SpaceToBatch")
def space_to_batch(input: Tensor, paddings: Any, block_size: Any) -> Tensor:
    """Return the NHWC tensor *input* padded with zeros, with its square blocks moved to the batch.

    Parameters
    ----------
    input : Tensor
        Rank 4.
    paddings : sequence of pairs of int
        ``[[top, bottom], [left, right]]``, at least 0 each.
    block_size : int
        At least 2.

    Raises
    ------
    ShapeError
        ``rank``, ``length_mismatch``, ``attr_dtype``, ``block_lt_1``, ``block_lt_2``,
        ``negative_pad``, ``non_divisible``, ``overflow``.

    References
    ----------
    TensorFlow, raw op SpaceToBatch: https://www.tensorflow.org/api_docs/python/tf/raw_ops/SpaceToBatch

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.space_to_batch(sl.tensor("N, H, W, C"), paddings=[[1, 1], [0, 0]], block_size=2).shape
    (4*N, H/2 + 1, W/2, C)
    """
    return space_batch.space_to_batch(input, *_square("SpaceToBatch", input, block_size, "paddings", paddings))


@register("tensorflow:BatchToSpace")
def batch_to_space(input: Tensor, crops: Any, block_size: Any) -> Tensor:
    """Return the NHWC tensor *input* with the major part of its batch moved to rows and columns, cropped.

    Parameters
    ----------
    input : Tensor
        Rank 4.
    crops : sequence of pairs of int
        ``[[top, bottom], [left, right]]``, at least 0 each.
    block_size : int
        At least 2.

    Raises
    ------
    ShapeError
        ``rank``, ``length_mismatch``, ``attr_dtype``, ``block_lt_1``, ``block_lt_2``,
        ``negative_crop``, ``crop_exceeds``, ``non_divisible``, ``overflow``.

    References
    ----------
    TensorFlow, raw op BatchToSpace: https://www.tensorflow.org/api_docs/python/tf/raw_ops/BatchToSpace

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.batch_to_space(sl.tensor("4*N, h, w, C"), crops=[[0, 0], [0, 0]], block_size=2).shape
    (N, 2*h, 2*w, C)
    """
    block, pairs = _square("BatchToSpace", input, block_size, "crops", crops)
    return space_batch.batch_to_space(input, block, pairs)


@register("tensorflow:SpaceToDepth")
def space_to_depth(input: Tensor, block_size: Any, data_format: str = "NHWC") -> Tensor:
    """Return *input* with its square blocks moved to the depth; the block digits are the depth's major part.

    Parameters
    ----------
    input : Tensor
        Rank 4, or 5 for ``"NCHW_VECT_C"``, whose last axis has extent 4.
    block_size : int
        At least 2.
    data_format : str
        ``"NHWC"``, ``"NCHW"`` or ``"NCHW_VECT_C"``.

    Raises
    ------
    ShapeError
        ``rank``, ``bad_format``, ``size_mismatch``, ``attr_dtype``, ``block_lt_1``, ``block_lt_2``,
        ``non_divisible``, ``overflow``.

    References
    ----------
    TensorFlow, raw op SpaceToDepth: https://www.tensorflow.org/api_docs/python/tf/raw_ops/SpaceToDepth

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.space_to_depth(sl.tensor("N, 2*h, 2*w, C"), block_size=2).shape
    (N, h, w, 4*C)
    >>> sl.tensorflow.space_to_depth(sl.tensor("N, C, 2*h, 2*w"), block_size=2, data_format="NCHW").shape
    (N, 4*C, h, w)
    """
    block = _block_size(block_size)
    input, depth, spatial = _layout("SpaceToDepth", input, data_format)
    return space_depth.space_to_depth(input, block, depth_axis=depth, spatial_axes=spatial)


@register("tensorflow:DepthToSpace")
def depth_to_space(input: Tensor, block_size: Any, data_format: str = "NHWC") -> Tensor:
    """Return *input* with the major part of its depth moved to rows and columns: undoes `space_to_depth`.

    Parameters
    ----------
    input : Tensor
        Rank 4, or 5 for ``"NCHW_VECT_C"``, whose last axis has extent 4.
    block_size : int
        At least 2.
    data_format : str
        ``"NHWC"``, ``"NCHW"`` or ``"NCHW_VECT_C"``.

    Raises
    ------
    ShapeError
        ``rank``, ``bad_format``, ``size_mismatch``, ``attr_dtype``, ``block_lt_1``, ``block_lt_2``,
        ``non_divisible``, ``overflow``.

    References
    ----------
    TensorFlow, raw op DepthToSpace: https://www.tensorflow.org/api_docs/python/tf/raw_ops/DepthToSpace

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.depth_to_space(sl.tensor("N, h, w, 4*c"), block_size=2).shape
    (N, 2*h, 2*w, c)
    """
    block = _block_size(block_size)
    input, depth, spatial = _layout("DepthToSpace", input, data_format)
    return space_depth.depth_to_space(input, block, depth_axis=depth, spatial_axes=spatial)


def _nd(op: str, input: Tensor, block_shape: Any, name: str, amounts: Any) -> tuple[list[Any], list[list[Any]]]:
    """Return block shape and pairs; if one of them is unknown, it gets the length of the other."""
    if block_shape is None:
        found = attributes.pairs(name, amounts, None)
        block = [None] * len(found)
    else:
        block = attributes.vector("block_shape", block_shape)
        found = attributes.pairs(name, amounts, len(block))
    require_rank(f"{op} with {len(block)} blocks", input, len(block) + 1)
    return attributes.fill("block_shape", block, 1), attributes.fill_pairs(name, found)


def _square(op: str, input: Tensor, block_size: Any, name: str, amounts: Any) -> tuple[list[Any], list[list[Any]]]:
    """Return block shape and pairs of the older ops: one block for height and width."""
    require_rank(op, input, 4, 4)
    pairs = attributes.fill_pairs(name, attributes.pairs(name, amounts, 2))
    return [_block_size(block_size)] * 2, pairs


def _block_size(value: Any) -> Any:
    """Return the block of one of the older ops, which must be 2 or more."""
    block = attributes.scalar("block_size", value, 2)
    if isinstance(block, int) and block < 1:
        return block  # the core op refuses it
    if not at_least(block, 2):
        raise ShapeError(
            f"block_size is {block}, which is not at least 2\n"
            "  help: the ND operations take a block of 1; a dim as a block is declared with min=2",
            "block_lt_2",
        )
    return block


def _layout(op: str, input: Tensor, data_format: str) -> tuple[Tensor, int, tuple[int, int]]:
    """Return the input, checked, the axis of the depth and those of height and width."""
    if not isinstance(data_format, str) or data_format not in _FORMATS:
        known = ", ".join(map(repr, _FORMATS))
        raise ShapeError(f"data_format is {shown(data_format)}, none of {known}", "bad_format")
    rank, depth, spatial = _FORMATS[data_format]
    require_rank(f"{op} in {data_format}", input, rank, rank)
    if data_format == "NCHW_VECT_C":
        (input,) = split_sizes(input, [_VECTOR], -1)  # the same elements: it demands the extent
    return input, depth, spatial
