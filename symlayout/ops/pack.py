"""Blocked layouts: an axis is cut into blocks, which move to the end, as in ``NCHW -> N(C/4)HW[4c]``."""

from __future__ import annotations

from typing import Any

from symlayout.errors import ShapeError
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.declaration import Declared, Fill, Operand, index_map


@core_operation
def pack(x: Operand, axis: int, block: Any, constant_values: Any = 0) -> Declared:
    """Return *x* with *axis* cut into blocks, and the position in the block as a new last axis.

    The output has extent ``ceil(n / block)`` on *axis*.  With ``c`` the last coordinate, it reads
    ``i = o * block + c`` on *axis*.  Where ``i >= n``, the element is *constant_values*.

    Parameters
    ----------
    axis : int
        The axis to cut.
    block : int, dim or expression
        The number of elements in a block, >= 1.
    constant_values : scalar
        The fill of the last block, cast to the element type.

    Raises
    ------
    ShapeError
        ``block_lt_1``, ``bad_axis``, ``overflow``.

    References
    ----------
    The blocked layouts of oneDNN, and MLIR's ``linalg.pack``.

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> sl.pack(sl.tensor("N, C, H, W"), axis=1, block=4).shape
    (N, ceiling(C/4), H, W, 4)
    >>> sl.interpret(sl.pack(sl.tensor("C"), 0, 4), np.array([1, 2, 3, 4, 5]))
    array([[1, 2, 3, 4],
           [5, 0, 0, 0]])
    """
    along = x.axis(axis)
    size = x.extent(block, "block")
    x.require(size - 1, "block_lt_1", "block {} is not >= 1", size)
    domain = [*x.shape, size]
    domain[along] = x.floor_div(x.shape[along] + size - 1, size)

    def coords(*o: Any) -> list[Any]:
        *i, c = o
        i[along] = i[along] * size + c
        return i

    return index_map(domain, coords, fill=Fill(constant_values))


@core_operation
def unpack(x: Operand, axis: int, extent: Any = None) -> Declared:
    """Return *x* with its last axis joined to *axis*: the inverse of `pack`.

    Let ``block`` be the extent of the last axis.  The coordinate ``o`` on *axis* reads ``o // block`` on *axis* and
    ``o % block`` on the last axis.

    Parameters
    ----------
    axis : int
        The axis of the result that was cut.
    extent : int, dim or expression, optional
        The number of its elements to keep; None keeps all.

    Raises
    ------
    ShapeError
        ``crop_exceeds`` if *extent* exceeds the number of elements, ``rank`` for fewer than two axes, ``bad_axis``.

    References
    ----------
    The blocked layouts of oneDNN, and MLIR's ``linalg.unpack``.

    Examples
    --------
    >>> import symlayout as sl
    >>> C = sl.dim("C")
    >>> x = sl.tensor((C,), name="x")
    >>> y = sl.unpack(sl.pack(x, axis=0, block=4), axis=0, extent=C)
    >>> sl.prove_equal(y, x).verdict
    <Verdict.PROVED: 'proved'>
    """
    if x.rank < 2:
        raise ShapeError(f"{x.where}: rank {x.rank} has no axis and a last one of its blocks", "rank")
    *shape, block = x.shape
    along = Operand((tuple(shape),), x.facts, x.where).axis(axis)
    whole = shape[along] * block
    kept = whole if extent is None else x.extent(extent, "extent")
    x.require(kept, "crop_exceeds", "extent {} is negative", kept)
    x.require(whole - kept, "crop_exceeds", "extent {} exceeds {}", kept, whole)
    shape[along] = kept

    def coords(*o: Any) -> list[Any]:
        return [c // block if k == along else c for k, c in enumerate(o)] + [o[along] % block]

    return index_map(shape, coords)
