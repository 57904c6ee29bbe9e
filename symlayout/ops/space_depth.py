"""Move blocks of space to the depth (channels), and back.

Sources: OpenVINO SpaceToDepth-1 and DepthToSpace-1; ONNX (DCR is ``blocks_first``, CRD is
``depth_first``); TensorFlow (``blocks_first``); torch pixel_shuffle (``depth_first``).
"""

from __future__ import annotations

from typing import Any

from symlayout.algebra.polynomial import Extent, product
from symlayout.errors import ShapeError, shown
from symlayout.ops.reshape import linear, mixed_radix
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.declaration import Declared, Operand, as_list, index_map, is_list

MODES = ("blocks_first", "depth_first")


@core_operation
def space_to_depth(
    x: Operand, block_size: Any, mode: str = "blocks_first", depth_axis: int = 1, spatial_axes: Any = None
) -> Declared:
    """Return *x* with the position of each element in its block moved to the depth.

    The output's depth is the row-major number of ``(d_1, ..., d_K, c)`` in mode ``"blocks_first"``, and of
    ``(c, d_1, ..., d_K)`` in mode ``"depth_first"``.  The output reads depth ``c``, and ``o_k * block_k + d_k`` on
    spatial axis ``k``.

    Parameters
    ----------
    block_size : int, dim, expression, or one per spatial axis
        Each >= 1 and a divisor of its axis.
    mode : str
        ``"blocks_first"``: the position in the block is the major part of the depth; ``"depth_first"``: the minor.
    depth_axis : int
        The axis of the channels.
    spatial_axes : sequence of int, optional
        None is every axis except 0 and *depth_axis*.

    Raises
    ------
    ShapeError
        ``block_lt_1``, ``non_divisible``, ``bad_mode``, ``bad_axis``, ``length_mismatch``, ``overflow``.

    References
    ----------
    OpenVINO's SpaceToDepth-1, TensorFlow's and ONNX's SpaceToDepth, torch's ``torch.nn.PixelUnshuffle``.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.space_to_depth(sl.tensor("N, C, 2*h, 2*w"), 2).shape
    (N, 4*C, h, w)
    >>> sl.space_to_depth(sl.tensor("N, H, W, C"), 2, depth_axis=3).index_map
    (i0, i1, i2, i3) -> (i0, 2*i1 + i3//(2*C), 2*i2 + (i3//C % 2), i3 % C)
    """
    depth, axes, block = _axes(x, block_size, mode, depth_axis, spatial_axes)
    domain = list(x.shape)
    domain[depth] = x.countable(x.shape[depth] * x.countable(product(block), "block size"), "depth")
    for a, b in zip(axes, block, strict=True):
        domain[a] = x.divide(x.shape[a], b)

    def coords(*o: Any) -> list[Any]:
        i = list(o)
        if mode == "blocks_first":
            *digits, i[depth] = mixed_radix(o[depth], [*block, x.shape[depth]])
        else:
            i[depth], *digits = mixed_radix(o[depth], [x.shape[depth], *block])
        for a, b, d in zip(axes, block, digits, strict=True):
            i[a] = o[a] * b + d
        return i

    return index_map(domain, coords)


@core_operation
def depth_to_space(
    x: Operand, block_size: Any, mode: str = "blocks_first", depth_axis: int = 1, spatial_axes: Any = None
) -> Declared:
    """Return *x* with a part of the depth moved to the position of each element in its block.

    The inverse of `space_to_depth`.  The output reads ``o_k // block_k`` on spatial axis ``k``.  The row-major digits
    of the depth that it reads are ``(o_1 % block_1, ..., o_K % block_K, c)`` in mode ``"blocks_first"``, and
    ``(c, o_1 % block_1, ...)`` in mode ``"depth_first"``.

    Parameters
    ----------
    block_size, mode, depth_axis, spatial_axes
        As in `space_to_depth`; the product of the blocks divides the depth.

    Raises
    ------
    ShapeError
        ``block_lt_1``, ``non_divisible``, ``bad_mode``, ``bad_axis``, ``length_mismatch``, ``overflow``.

    References
    ----------
    OpenVINO's DepthToSpace-1, TensorFlow's and ONNX's DepthToSpace, torch's ``torch.nn.PixelShuffle``.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.depth_to_space(sl.tensor("N, 4*c, h, w"), 2, mode="depth_first").shape
    (N, c, 2*h, 2*w)
    """
    depth, axes, block = _axes(x, block_size, mode, depth_axis, spatial_axes)
    domain = list(x.shape)
    domain[depth] = x.divide(x.shape[depth], x.countable(product(block), "block size"))
    for a, b in zip(axes, block, strict=True):
        domain[a] = x.shape[a] * b

    def coords(*o: Any) -> list[Any]:
        i = list(o)
        digits = [o[a] % b for a, b in zip(axes, block, strict=True)]
        if mode == "blocks_first":
            i[depth] = linear([*digits, o[depth]], [*block, domain[depth]])
        else:
            i[depth] = linear([o[depth], *digits], [domain[depth], *block])
        for a, b in zip(axes, block, strict=True):
            i[a] = o[a] // b
        return i

    return index_map(domain, coords)


def _axes(
    x: Operand, block_size: Any, mode: str, depth_axis: int, spatial_axes: Any
) -> tuple[int, list[int], list[Extent]]:
    if not isinstance(mode, str) or mode not in MODES:
        raise ShapeError(f"{x.where}: mode {shown(mode)} is not one of {', '.join(MODES)}", "bad_mode")
    depth = x.axis(depth_axis, "depth_axis")
    if spatial_axes is None:
        axes = [a for a in range(x.rank) if a not in (0, depth)]
    else:
        axes = [x.axis(a, "spatial axis") for a in as_list(spatial_axes)]
    if depth in axes or len(set(axes)) != len(axes):
        raise ShapeError(f"{x.where}: depth axis {depth} and spatial axes {axes} are not distinct", "bad_axis")
    sizes = block_size if is_list(block_size) else [block_size] * len(axes)
    block = x.extents(sizes, "block_size", len(axes))
    for b in block:
        x.require(b - 1, "block_lt_1", "block_size {} is not >= 1", b)
    return depth, axes, block
