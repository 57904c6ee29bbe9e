"""ONNX's operations: permute, reshape, add axes, repeat and cut."""

from __future__ import annotations

import math
from typing import Any

from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.operator import AT_LEAST_0, movement, operator
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import AttributeNameError
from symlayout.ops.axes import expand_dims
from symlayout.ops.axes import squeeze as core_squeeze
from symlayout.ops.broadcast import broadcast_with
from symlayout.ops.reshape import copying_reshape
from symlayout.ops.reshape import reshape as core_reshape
from symlayout.ops.split import split_ceil, split_sizes
from symlayout.ops.tile import tile as core_tile
from symlayout.ops.transpose import transpose as core_transpose
from symlayout.tensors.chain import Tensor


@movement("Transpose")
def transpose(data: Tensor, perm: Any = None) -> Tensor:
    """Return *data* with its axes permuted: output axis ``k`` is ``perm[k]``.

    Parameters
    ----------
    data : Tensor
        Of any rank.
    perm : sequence of int, optional
        A permutation of the axes, from 0; None reverses them.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``bad_axis``.

    References
    ----------
    ONNX, operator Transpose: https://onnx.ai/onnx/operators/onnx__Transpose.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.onnx.transpose(sl.tensor("N, C, H, W"), perm=[0, 2, 3, 1]).shape
    (N, H, W, C)
    """
    require_rank("Transpose", data, 0)
    return core_transpose(data, None if perm is None else attributes.permutation("perm", perm))


@movement("Reshape")
def reshape(data: Tensor, shape: Any, allowzero: Any = 0) -> Tensor:
    """Return the elements of *data* in row-major order in another shape.

    Parameters
    ----------
    data : Tensor
        Of any rank.
    shape : sequence of int
        The extents; one -1 stands for the remaining elements.
    allowzero : int
        0: an extent of 0 copies that of *data*.  1: it is 0.

    Raises
    ------
    ShapeError
        ``size_mismatch``, ``bad_axis`` for a 0 where *data* has no axis, ``length_mismatch``, ``attr_dtype``;
        ``left_out`` for a symbolic extent that may be 0, and is not that of *data*.

    References
    ----------
    ONNX, operator Reshape: https://onnx.ai/onnx/operators/onnx__Reshape.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.onnx.reshape(sl.tensor("N, C, H"), shape=[0, -1]).shape
    (N, C*H)
    """
    rank = require_rank("Reshape", data, 0)
    target = attributes.fill("shape", attributes.vector("shape", shape), 0)
    if attributes.flag("allowzero", allowzero):
        return core_reshape(data, target)
    for k in attributes.copied_axes("shape", target, rank):
        target[k] = data.shape[k]
    copies = attributes.copying(target, data)
    return copying_reshape(data, target, copies) if copies else core_reshape(data, target)


@movement("Flatten")
def flatten(input: Tensor, axis: Any = 1) -> Tensor:
    """Return *input* as a matrix: the axes before *axis* become rows, the others columns.

    Parameters
    ----------
    input : Tensor
        Of any rank.
    axis : int
        0 to the rank; negative ones count from the end.

    Raises
    ------
    ShapeError
        ``attr_dtype``, ``bad_axis``, ``overflow``.

    References
    ----------
    ONNX, operator Flatten: https://onnx.ai/onnx/operators/onnx__Flatten.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.onnx.flatten(sl.tensor("N, C, H, W"), axis=1).shape
    (N, C*H*W)
    """
    rank = require_rank("Flatten", input, 0)
    cut = attributes.constant("axis", axis)
    if not -rank <= cut <= rank:
        raise ShapeError(f"axis {cut} is out of range for rank {rank}", "bad_axis")
    cut += rank if cut < 0 else 0
    return core_reshape(input, [math.prod(input.shape[:cut]), math.prod(input.shape[cut:])])


@operator(
    "Flatten-1",
    "Flatten-9",
    example=("N, C, H, W", "axis=1", "(N, C*H*W)"),
    kinds="attr_dtype, bad_axis, overflow",
    allowed={"axis": AT_LEAST_0},
)
def flatten_9(input: Tensor, axis: Any = 1) -> Tensor:
    """Return *input* as a matrix, as until opset 10: *axis* counts from the first one."""
    made: Tensor = flatten(input, axis)
    return made


@movement("Unsqueeze")
def unsqueeze(data: Tensor, axes: Any) -> Tensor:
    """Return *data* with new axes of extent 1.

    Parameters
    ----------
    data : Tensor
        Of any rank.
    axes : int or sequence of int
        The positions of the new axes in the result.

    Raises
    ------
    ShapeError
        ``attr_dtype``, ``bad_axis`` if one is out of range or repeated.

    References
    ----------
    ONNX, operator Unsqueeze: https://onnx.ai/onnx/operators/onnx__Unsqueeze.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.onnx.unsqueeze(sl.tensor("H, W"), axes=[0, -1]).shape
    (1, H, W, 1)
    """
    require_rank("Unsqueeze", data, 0)
    return expand_dims(data, attributes.constants("axes", axes))


@operator(
    "Unsqueeze-1",
    example=("H, W", "axes=[0, 3]", "(1, H, W, 1)"),
    kinds="attr_dtype, bad_axis",
    allowed={"axes": AT_LEAST_0},
)
def unsqueeze_1(data: Tensor, axes: Any) -> Tensor:
    """Return *data* with new axes of extent 1, as until opset 10: *axes* count from the first one."""
    made: Tensor = unsqueeze(data, axes)
    return made


@movement("Identity")
def identity(input: Tensor) -> Tensor:
    """Return *input*.

    Parameters
    ----------
    input : Tensor
        Of any rank.

    Raises
    ------
    TypeError
        If *input* is no tensor.

    References
    ----------
    ONNX, operator Identity: https://onnx.ai/onnx/operators/onnx__Identity.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.onnx.identity(sl.tensor("H, W")).shape
    (H, W)
    """
    require_rank("Identity", input, 0)
    return input


@movement("Tile")
def tile(input: Tensor, repeats: Any) -> Tensor:
    """Return copies of *input* side by side.

    Parameters
    ----------
    input : Tensor
        Of any rank.
    repeats : sequence of int
        One per axis, at least 0.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``size_mismatch``, ``overflow``.

    References
    ----------
    ONNX, operator Tile: https://onnx.ai/onnx/operators/onnx__Tile.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.onnx.tile(sl.tensor("H, W"), repeats=[2, 1]).shape
    (2*H, W)
    """
    rank = require_rank("Tile", input, 0)
    return core_tile(input, attributes.fill("repeats", attributes.vector("repeats", repeats, rank), 0))


@movement("Expand")
def expand(input: Tensor, shape: Any) -> Tensor:
    """Return *input* broadcast with *shape*.

    Parameters
    ----------
    input : Tensor
        Of any rank.
    shape : sequence of int
        Extents of the last axes; they may be 1 where *input* has more.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``size_mismatch``, ``overflow``.

    References
    ----------
    ONNX, operator Expand: https://onnx.ai/onnx/operators/onnx__Expand.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.onnx.expand(sl.tensor("1, 3"), shape=[5, 2, 1]).shape
    (5, 2, 3)
    """
    require_rank("Expand", input, 0)
    return broadcast_with(input, attributes.fill("shape", attributes.vector("shape", shape), 0))


@movement("Split")
def split(input: Tensor, split: Any = None, num_outputs: Any = None, axis: Any = 0) -> list[Tensor]:
    """Return *input* cut into parts along *axis*.

    Parameters
    ----------
    input : Tensor
        Rank 1 or more.
    split : sequence of int, optional
        The extents of the parts, at least 0; their sum is the extent of the axis.
    num_outputs : int, optional
        The number of parts, at least 1.  The extent of a part is that of the axis divided by it, rounded up; the
        last part has the rest.  Give either *split* or *num_outputs*.
    axis : int
        Negative ones count from the end.

    Raises
    ------
    ShapeError
        ``rank``, ``attr_dtype``, ``attr_missing``, ``attr_unknown``, ``length_mismatch``, ``bad_axis``,
        ``block_lt_1``, ``size_mismatch`` if the parts do not fill the axis.

    References
    ----------
    ONNX, operator Split: https://onnx.ai/onnx/operators/onnx__Split.html

    Examples
    --------
    >>> import symlayout as sl
    >>> [part.shape for part in sl.onnx.split(sl.tensor("7, W"), num_outputs=2)]
    [(4, W), (3, W)]
    """
    require_rank("Split", input, 1)
    if (split is None) == (num_outputs is None):
        kind = "attr_missing" if split is None else "attr_unknown"
        raise AttributeNameError("Split has either split or num_outputs", kind)
    along = attributes.constant("axis", axis)
    if split is None:
        return split_ceil(input, attributes.constant("num_outputs", num_outputs), along)
    sizes = attributes.fill("split", attributes.vector("split", split), 0)
    if not sizes:
        raise ShapeError("split is empty", "length_mismatch")
    return split_sizes(input, sizes, along)


@movement("Squeeze")
def squeeze(data: Tensor, axes: Any = None) -> Tensor:
    """Return *data* without the *axes*, whose extent is 1.

    Parameters
    ----------
    data : Tensor
        Of any rank.
    axes : int or sequence of int, optional
        None and an empty list are all axes of extent 1.

    Raises
    ------
    ShapeError
        ``attr_dtype``, ``bad_axis``, ``size_mismatch`` for another extent than 1, ``unknown_rank``.

    References
    ----------
    ONNX, operator Squeeze: https://onnx.ai/onnx/operators/onnx__Squeeze.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.onnx.squeeze(sl.tensor("N, C, 1, 1"), axes=[2, 3]).shape
    (N, C)
    """
    rank = require_rank("Squeeze", data, 0)
    return core_squeeze(data, None if axes is None else attributes.axes("axes", axes, rank) or None)


@operator(
    "Squeeze-1",
    example=("N, C, 1, 1", "axes=[2, 3]", "(N, C)"),
    kinds="attr_dtype, bad_axis, size_mismatch, unknown_rank",
    allowed={"axes": AT_LEAST_0},
)
def squeeze_1(data: Tensor, axes: Any = None) -> Tensor:
    """Return *data* without the *axes*, as until opset 10: they count from the first one."""
    made: Tensor = squeeze(data, axes)
    return made
