"""OpenVINO's operations: permute, reshape, add axes, repeat, roll and cut."""

from __future__ import annotations

import math
from typing import Any

from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import AttributeNameError, register
from symlayout.ops.axes import expand_dims
from symlayout.ops.axes import squeeze as core_squeeze
from symlayout.ops.broadcast import broadcast_to, broadcast_with
from symlayout.ops.reshape import copying_reshape
from symlayout.ops.reshape import reshape as core_reshape
from symlayout.ops.roll import roll as core_roll
from symlayout.ops.split import split as core_split
from symlayout.ops.tile import tile as core_tile
from symlayout.ops.transpose import transpose as core_transpose
from symlayout.tensors.chain import Tensor

_BROADCASTS = ("numpy", "explicit", "bidirectional")


@register("openvino:Transpose-1")
def transpose(arg: Tensor, input_order: Any) -> Tensor:
    """Return *arg* with its axes permuted: output axis ``k`` is ``input_order[k]``.

    Parameters
    ----------
    arg : Tensor
        Of any rank.
    input_order : sequence of int
        A permutation of the axes, from 0; an empty list reverses them.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``bad_axis``.

    References
    ----------
    OpenVINO, operation specification Transpose-1.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.openvino.transpose(sl.tensor("N, C, H, W"), input_order=[0, 2, 3, 1]).shape
    (N, H, W, C)
    """
    require_rank("Transpose-1", arg, 0)
    return core_transpose(arg, attributes.permutation("input_order", input_order) or None)


@register("openvino:Reshape-1")
def reshape(data: Tensor, shape: Any, special_zero: Any) -> Tensor:
    """Return the elements of *data* in row-major order in another shape.

    Parameters
    ----------
    data : Tensor
        Of any rank.
    shape : sequence of int
        The extents; one -1 stands for the remaining elements.
    special_zero : bool
        Whether a 0 copies the extent of that axis.  The value of -1 does not depend on copied axes, so it is
        defined even if these are empty.

    Raises
    ------
    ShapeError
        ``size_mismatch``, ``bad_axis`` for a 0 where *data* has no axis, ``length_mismatch``, ``attr_dtype``;
        ``non_divisible`` for a -1 beside copied axes; ``left_out`` for a symbolic extent that may be 0, and is not
        that of *data*.

    References
    ----------
    OpenVINO, operation specification Reshape-1.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.openvino.reshape(sl.tensor("N, C, H"), shape=[0, -1], special_zero=True).shape
    (N, C*H)
    """
    rank = require_rank("Reshape-1", data, 0)
    target = attributes.fill("shape", attributes.vector("shape", shape), 0)
    copies = attributes.flag("special_zero", special_zero)
    copied = attributes.copied_axes("shape", target, rank) if copies else []
    others = [n for k, n in enumerate(target) if k not in copied]
    target = [data.shape[k] if k in copied else n for k, n in enumerate(target)]
    may_copy = attributes.copying(target, data) if copies else ()
    if copied and others.count(-1) == 1:
        rest = math.prod(n for k, n in enumerate(data.shape) if k not in copied)
        target[target.index(-1)] = _quotient(rest, -math.prod(others))
    return copying_reshape(data, target, may_copy) if may_copy else core_reshape(data, target)


@register("openvino:Squeeze-1")
def squeeze(data: Tensor, axes: Any = None) -> Tensor:
    """Return *data* without those of the *axes* whose extent is 1.

    Parameters
    ----------
    data : Tensor
        Of any rank.
    axes : int or sequence of int, optional
        None and an empty list are all axes of extent 1.  Others are kept, as the specification has it since 2024.3;
        an axis that may be of extent 1 is removed, and that it is 1 becomes a requirement.

    Raises
    ------
    ShapeError
        ``attr_dtype``, ``bad_axis``, ``size_mismatch`` for an extent that turns out not to be 1, ``unknown_rank``.

    References
    ----------
    `Squeeze-1
    <https://docs.openvino.ai/2024/documentation/openvino-ir-format/operation-sets/operation-specs/shape/squeeze-1.html>`_.

    Examples
    --------
    >>> import symlayout as sl
    >>> squeeze(sl.tensor("N, 1, 3"), [1, 2]).shape
    (N, 3)
    """
    rank = require_rank("Squeeze-1", data, 0)
    given = [] if axes is None else attributes.axes("axes", axes, rank)
    if not given:
        return core_squeeze(data)
    is_other = [data.facts.positive(e - 1) or data.facts.nonnegative(-e) for e in data.extents]
    return core_squeeze(data, [k for k in given if not is_other[k]])


@register("openvino:Unsqueeze-1")
def unsqueeze(data: Tensor, axes: Any) -> Tensor:
    """Return *data* with new axes of extent 1.

    Parameters
    ----------
    data : Tensor
        Of any rank.
    axes : int or sequence of int
        The positions of the new axes in the result; one or more.

    Raises
    ------
    ShapeError
        ``attr_dtype``, ``length_mismatch`` for no axes, ``bad_axis`` if one is out of range or repeated.

    References
    ----------
    OpenVINO, operation specification Unsqueeze-1.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.openvino.unsqueeze(sl.tensor("H, W"), axes=[0]).shape
    (1, H, W)
    """
    require_rank("Unsqueeze-1", data, 0)
    new = attributes.constants("axes", axes)
    if not new:
        raise ShapeError("Unsqueeze-1 takes one axis or more, axes is empty", "length_mismatch")
    return expand_dims(data, new)


@register("openvino:Tile-1")
def tile(data: Tensor, repeats: Any) -> Tensor:
    """Return *repeats* copies of *data* side by side, along its last axes.

    Parameters
    ----------
    data : Tensor
        Of any rank.
    repeats : sequence of int
        At least 0 each; more numbers than axes make new axes before those of *data*.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``size_mismatch``, ``overflow``.

    References
    ----------
    OpenVINO, operation specification Tile-1.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.openvino.tile(sl.tensor("H, W"), repeats=[2, 1]).shape
    (2*H, W)
    """
    require_rank("Tile-1", data, 0)
    return core_tile(data, attributes.fill("repeats", attributes.vector("repeats", repeats), 0))


@register("openvino:Broadcast-3")
def broadcast(data: Tensor, target_shape: Any, axes_mapping: Any = None, mode: str = "numpy") -> Tensor:
    """Return *data* broadcast to *target_shape*.

    Parameters
    ----------
    data : Tensor
        Of any rank.
    target_shape : sequence of int
        The extents; with ``"bidirectional"`` one of them may be 1 where *data* has more.
    axes_mapping : sequence of int, optional
        With ``"explicit"`` only: for each axis of *data*, the number of its axis in *target_shape*.
    mode : str
        ``"numpy"``, ``"explicit"`` or ``"bidirectional"``.

    Raises
    ------
    ShapeError
        ``bad_mode``, ``attr_missing`` or ``attr_unknown`` for *axes_mapping*, ``length_mismatch``,
        ``attr_dtype``, ``bad_axis``, ``rank``, ``size_mismatch``, ``overflow``.

    References
    ----------
    OpenVINO, operation specification Broadcast-3.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.openvino.broadcast(sl.tensor("1, 3"), target_shape=[5, 2, 3]).shape
    (5, 2, 3)
    """
    rank = require_rank("Broadcast-3", data, 0)
    attributes.choice("mode", mode, _BROADCASTS)
    if (axes_mapping is not None) != (mode == "explicit"):
        kind = "attr_missing" if axes_mapping is None else "attr_unknown"
        raise AttributeNameError("Broadcast-3 has axes_mapping if mode is 'explicit', and only then", kind)
    target = attributes.fill("target_shape", attributes.vector("target_shape", target_shape), 0)
    if mode == "bidirectional":
        return broadcast_with(data, target)
    if mode == "explicit":
        mapping = attributes.constants("axes_mapping", axes_mapping)
        if len(mapping) != rank:
            raise ShapeError(f"axes_mapping has {len(mapping)} values, the rank is {rank}", "length_mismatch")
        if mapping != sorted(set(mapping)) or any(not 0 <= k < len(target) for k in mapping):
            raise ShapeError(f"axes_mapping {mapping} is not increasing within 0 .. {len(target) - 1}", "bad_axis")
        data = expand_dims(data, [k for k in range(len(target)) if k not in mapping])
    return broadcast_to(data, target)


@register("openvino:Roll-7")
def roll(data: Tensor, shift: Any, axes: Any) -> Tensor:
    """Return *data* with its elements moved along *axes*; elements that leave come back.

    Parameters
    ----------
    data : Tensor
        Rank 1 or more.
    shift : int or sequence of int
        One for each axis of *axes*; a single int is used for all of them.
    axes : int or sequence of int
        An axis may be repeated; its shifts add up.

    Raises
    ------
    ShapeError
        ``rank``, ``length_mismatch``, ``attr_dtype``, ``bad_axis``, ``overflow``.

    References
    ----------
    OpenVINO, operation specification Roll-7.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.openvino.roll(sl.tensor("H, W"), shift=1, axes=[1]).index_map
    (i0, i1) -> (i0, (i1 - 1) % W)
    """
    require_rank("Roll-7", data, 1)
    along = attributes.constants("axes", axes)
    return core_roll(data, attributes.fill("shift", attributes.each("shift", shift, len(along)), 0), along)


@register("openvino:Split-1")
def split(data: Tensor, axis: Any, num_splits: Any) -> list[Tensor]:
    """Return *data* cut into *num_splits* equal parts along *axis*.

    Parameters
    ----------
    data : Tensor
        Rank 1 or more.
    axis : int
        Negative ones count from the end.
    num_splits : int
        At least 1.

    Raises
    ------
    ShapeError
        ``rank``, ``attr_dtype``, ``bad_axis``, ``block_lt_1``, ``non_divisible``.

    References
    ----------
    OpenVINO, operation specification Split-1.

    Examples
    --------
    >>> import symlayout as sl
    >>> [part.shape for part in sl.openvino.split(sl.tensor("2*h, W"), axis=0, num_splits=2)]
    [(h, W), (h, W)]
    """
    require_rank("Split-1", data, 1)
    return core_split(data, attributes.constant("num_splits", num_splits), attributes.constant("axis", axis))


def _quotient(numerator: Any, denominator: Any) -> Any:
    """Return an exact quotient; the core operation checks symbolic ones."""
    if not isinstance(numerator, int) or not isinstance(denominator, int):
        return numerator / denominator
    if denominator < 1 or numerator % denominator:
        raise ShapeError(f"-1 stands for {numerator} / {denominator}", "non_divisible")
    return numerator // denominator
