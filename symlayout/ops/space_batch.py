"""Move blocks of space to the batch, and back.

The maps are written with named axes.  The OpenVINO specifications print axis lists for the same operations; these are
out of range and are not used.

Sources: TensorFlow `SpaceToBatchND` and `BatchToSpaceND`, OpenVINO SpaceToBatch-2 and BatchToSpace-2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symlayout.algebra.polynomial import Extent, product
from symlayout.errors import ShapeError
from symlayout.ops.reshape import linear, mixed_radix
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.declaration import Declared, Fill, Operand, index_map


@core_operation
def space_to_batch(x: Operand, block_shape: Any, paddings: Any) -> Declared:
    """Return *x* with axes 1 to M padded with zeros and cut into blocks; the position in the block moves to the batch.

    The output coordinate ``((d_1, ..., d_M, n), c_1, ..., c_M, rest)`` reads
    ``(n, c_k * block_k + d_k - begin_k, rest)``.  Its first entry is one row-major number.

    Parameters
    ----------
    block_shape : sequence of int, dim or expression
        M block sizes, each >= 1.
    paddings : sequence of pairs
        M pairs ``(begin, end)``, each >= 0, with ``begin + extent + end`` a multiple of the block.

    Raises
    ------
    ShapeError
        ``block_lt_1``, ``negative_pad``, ``non_divisible``, ``length_mismatch``, ``rank``, ``overflow``.

    References
    ----------
    TensorFlow's SpaceToBatchND (https://www.tensorflow.org/api_docs/python/tf/raw_ops/SpaceToBatchND),
    OpenVINO's SpaceToBatch-2.

    Examples
    --------
    >>> import symlayout as sl
    >>> y = sl.space_to_batch(sl.tensor("N, H, W, C"), [2, 2], [[1, 1], [1, 1]])
    >>> y.shape
    (4*N, H/2 + 1, W/2 + 1, C)
    >>> y.requires
    (Eq(Mod(H, 2), 0), Eq(Mod(W, 2), 0))
    """
    block, pads = _blocks(x, block_shape, paddings, "paddings", "negative_pad")
    batch, space, rest = x.shape[0], x.shape[1 : len(block) + 1], x.shape[len(block) + 1 :]
    moved = x.countable(batch * x.countable(product(block), "block size"), "batch")
    cells = [x.divide(begin + n + end, b) for n, b, (begin, end) in zip(space, block, pads, strict=True)]

    def coords(place: Any, *o: Any) -> list[Any]:
        *digits, n = mixed_radix(place, [*block, batch])
        inner = [c * b + d - begin for c, b, d, (begin, _) in zip(o, block, digits, pads, strict=False)]
        return [n, *inner, *o[len(block) :]]

    return index_map([moved, *cells, *rest], coords, fill=Fill(0))


@core_operation
def batch_to_space(x: Operand, block_shape: Any, crops: Any) -> Declared:
    """Return *x* with blocks moved from the batch to axes 1 to M, which are then cropped.

    Let ``u_k = s_k + begin_k``.  The output coordinate ``(n, s_1, ..., s_M, rest)`` reads
    ``((u_1 % block_1, ..., u_M % block_M, n), u_1 // block_1, ..., u_M // block_M, rest)``, whose first entry is one
    row-major number.

    Parameters
    ----------
    block_shape : sequence of int, dim or expression
        M block sizes, each >= 1, whose product divides the batch.
    crops : sequence of pairs
        M pairs ``(begin, end)``, each >= 0; the sum of a pair is at most the extent of its axis.

    Raises
    ------
    ShapeError
        ``block_lt_1``, ``negative_crop``, ``crop_exceeds``, ``non_divisible``, ``length_mismatch``, ``rank``.

    References
    ----------
    TensorFlow's BatchToSpaceND (https://www.tensorflow.org/api_docs/python/tf/raw_ops/BatchToSpaceND),
    OpenVINO's BatchToSpace-2.

    Examples
    --------
    >>> import symlayout as sl
    >>> y = sl.batch_to_space(sl.tensor("4*N, h, w, C"), [2, 2], [[1, 1], [0, 0]])
    >>> y.shape
    (N, 2*h - 2, 2*w, C)
    >>> y.requires
    (h >= 1,)
    """
    block, cuts = _blocks(x, block_shape, crops, "crops", "negative_crop")
    space, rest = x.shape[1 : len(block) + 1], x.shape[len(block) + 1 :]
    batch = x.divide(x.shape[0], x.countable(product(block), "block size"))
    whole = [x.countable(n * b, f"extent of axis {k}") for k, (n, b) in enumerate(zip(space, block, strict=True), 1)]
    kept = [w - begin - end for w, (begin, end) in zip(whole, cuts, strict=True)]
    for k, (e, w, (begin, end)) in enumerate(zip(kept, whole, cuts, strict=True), 1):
        x.require(e, "crop_exceeds", "axis {}: crops {} + {} exceed {}", k, begin, end, w)

    def coords(n: Any, *o: Any) -> list[Any]:
        u = [c + begin for c, (begin, _) in zip(o, cuts, strict=False)]
        digits = [c % b for c, b in zip(u, block, strict=True)]
        cells = [c // b for c, b in zip(u, block, strict=True)]
        return [linear([*digits, n], [*block, batch]), *cells, *o[len(block) :]]

    return index_map([batch, *kept, *rest], coords)


def _blocks(
    x: Operand, block_shape: Any, margins: Any, what: str, kind: str
) -> tuple[list[Extent], Sequence[tuple[Extent, Extent]]]:
    block = x.extents(block_shape, "block_shape")
    for k, b in enumerate(block, 1):
        x.require(b - 1, "block_lt_1", "block_shape[{}] = {} is not >= 1", k - 1, b)
    if x.rank < len(block) + 1:
        raise ShapeError(f"{x.where}: rank {x.rank} has no batch and {len(block)} blocked axes", "rank")
    pairs = x.pairs(margins, what, len(block))
    for k, pair in enumerate(pairs):
        for e in pair:
            x.require(e, kind, "{}[{}] = [{}, {}] has a negative value", what, k, *pair)
    return block, pairs
