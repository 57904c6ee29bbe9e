"""TensorFlow's operations: permute, reshape, repeat, roll, reverse and join."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.rank import require_rank, require_tensors
from symlayout.frontends.registry import register
from symlayout.ops.broadcast import broadcast_to as core_broadcast_to
from symlayout.ops.concatenate import concatenate
from symlayout.ops.flip import flip
from symlayout.ops.reshape import reshape as core_reshape
from symlayout.ops.roll import roll as core_roll
from symlayout.ops.tile import tile as core_tile
from symlayout.ops.transpose import transpose as core_transpose
from symlayout.tensors.chain import Tensor


@register("tensorflow:Transpose")
def transpose(x: Tensor, perm: Any) -> Tensor:
    """Return *x* with its axes permuted: output axis ``k`` is ``perm[k]``.

    Parameters
    ----------
    x : Tensor
        Of any rank.
    perm : sequence of int
        A permutation of the axes; negative ones count from the end.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``bad_axis``.

    References
    ----------
    TensorFlow, raw op Transpose: https://www.tensorflow.org/api_docs/python/tf/raw_ops/Transpose

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.transpose(sl.tensor("N, H, W, C"), perm=[0, 3, 1, 2]).shape
    (N, C, H, W)
    """
    require_rank("Transpose", x, 0)
    return core_transpose(x, attributes.constants("perm", perm))


@register("tensorflow:Reshape")
def reshape(tensor: Tensor, shape: Any) -> Tensor:
    """Return the elements of *tensor* in row-major order in another shape.

    Parameters
    ----------
    tensor : Tensor
        Of any rank.
    shape : sequence of int
        The extents; one -1 stands for the remaining elements.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``size_mismatch``.

    References
    ----------
    TensorFlow, raw op Reshape: https://www.tensorflow.org/api_docs/python/tf/raw_ops/Reshape

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.reshape(sl.tensor("N, H, W"), shape=[6, -1]).shape
    (6, H*N*W/6)
    """
    require_rank("Reshape", tensor, 0)
    return core_reshape(tensor, attributes.fill("shape", attributes.vector("shape", shape), 0))


@register("tensorflow:Tile")
def tile(input: Tensor, multiples: Any) -> Tensor:
    """Return copies of *input* side by side.

    Parameters
    ----------
    input : Tensor
        Of any rank.
    multiples : sequence of int
        One per axis, at least 0.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``size_mismatch``, ``overflow``.

    References
    ----------
    TensorFlow, raw op Tile: https://www.tensorflow.org/api_docs/python/tf/raw_ops/Tile

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.tile(sl.tensor("H, W"), multiples=[2, 1]).shape
    (2*H, W)
    """
    rank = require_rank("Tile", input, 0)
    return core_tile(input, attributes.fill("multiples", attributes.vector("multiples", multiples, rank), 0))


@register("tensorflow:Roll")
def roll(input: Tensor, shift: Any, axis: Any) -> Tensor:
    """Return *input* with its elements moved along *axis*; elements that leave come back at the other end.

    Parameters
    ----------
    input : Tensor
        Rank 1 or more.
    shift : int or sequence of int
        The distances, one for each axis of *axis*.
    axis : int or sequence of int
        An axis may be repeated; its shifts add up.

    Raises
    ------
    ShapeError
        ``rank``, ``length_mismatch``, ``attr_dtype``, ``bad_axis``, ``overflow``.

    References
    ----------
    TensorFlow, raw op Roll: https://www.tensorflow.org/api_docs/python/tf/raw_ops/Roll

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.roll(sl.tensor("H, W"), shift=[1], axis=[0]).index_map
    (i0, i1) -> ((i0 - 1) % H, i1)
    """
    require_rank("Roll", input, 1)
    along = attributes.constants("axis", axis)
    return core_roll(input, attributes.fill("shift", attributes.listed("shift", shift, len(along)), 0), along)


@register("tensorflow:ReverseV2")
def reverse_v2(tensor: Tensor, axis: Any) -> Tensor:
    """Return *tensor* reversed along *axis*.

    Parameters
    ----------
    tensor : Tensor
        Of any rank.
    axis : sequence of int
        Negative ones count from the end.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``bad_axis`` if one is out of range or repeated.

    References
    ----------
    TensorFlow, raw op ReverseV2: https://www.tensorflow.org/api_docs/python/tf/raw_ops/ReverseV2

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.reverse_v2(sl.tensor("H, W"), axis=[1]).index_map
    (i0, i1) -> (i0, W - i1 - 1)
    """
    require_rank("ReverseV2", tensor, 0)
    return flip(tensor, attributes.constants("axis", attributes.vector("axis", axis)))


@register("tensorflow:BroadcastTo")
def broadcast_to(input: Tensor, shape: Any) -> Tensor:
    """Return *input* broadcast to *shape*: axes of extent 1 are repeated, and new axes come first.

    Parameters
    ----------
    input : Tensor
        Of any rank.
    shape : sequence of int
        At least 0 each.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``rank``, ``size_mismatch``, ``overflow``.

    References
    ----------
    TensorFlow, raw op BroadcastTo: https://www.tensorflow.org/api_docs/python/tf/raw_ops/BroadcastTo

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.tensorflow.broadcast_to(sl.tensor("1, 3"), shape=[5, 2, 3]).shape
    (5, 2, 3)
    """
    require_rank("BroadcastTo", input, 0)
    return core_broadcast_to(input, attributes.fill("shape", attributes.vector("shape", shape), 0))


@register("tensorflow:ConcatV2", joint=True)
def concat_v2(values: Sequence[Tensor], axis: Any) -> Tensor:
    """Return *values* one after the other along *axis*.

    Parameters
    ----------
    values : sequence of Tensor
        Two or more, of rank 1 or more.
    axis : int
        Negative ones count from the end.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``rank``, ``attr_dtype``, ``bad_axis``, ``size_mismatch``, ``overflow``.

    References
    ----------
    TensorFlow, raw op ConcatV2: https://www.tensorflow.org/api_docs/python/tf/raw_ops/ConcatV2

    Examples
    --------
    >>> import symlayout as sl
    >>> x, y = sl.tensor("H, W", name="x"), sl.tensor("K, W", name="y")
    >>> sl.tensorflow.concat_v2([x, y], axis=0).shape
    (H + K, W)
    """
    if len(require_tensors("ConcatV2", values, 1)) < 2:
        raise ShapeError("ConcatV2 takes two tensors or more, there is one", "length_mismatch")
    return concatenate(values, attributes.constant("axis", axis))
