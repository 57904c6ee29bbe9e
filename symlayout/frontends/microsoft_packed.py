"""onnxruntime's products with weights of a few bits, packed by blocks (domain ``com.microsoft``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from symlayout.compute import contractions, quantization
from symlayout.compute.demands import demanding
from symlayout.compute.elementwise import elementwise
from symlayout.compute.whole import as_runtimes_round, whole
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.elementwise import apply
from symlayout.frontends.onnx.operator import AT_LEAST_0, AT_LEAST_1, operator
from symlayout.frontends.onnx.types import cast_to, dequantize_linear
from symlayout.frontends.rank import require_rank, require_shape
from symlayout.frontends.registry import NotDeclaredError
from symlayout.ops.concatenate import stack
from symlayout.ops.reshape import reshape
from symlayout.ops.slicing import getitem
from symlayout.ops.tile import repeat
from symlayout.ops.transpose import transpose
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import constant
from symlayout.tensors.declaration import Body

_BITS = (2, 4, 8)
_OF_A_BYTE = 8
_SINGLE = 1  # the level of accuracy of a product of floats of 32 bits


def unpacked(x: Tensor, bits: int) -> Tensor:
    """Return the numbers of *bits* that bytes have, the last axis as many times as long: low bits come first.

    >>> import numpy as np
    >>> import symlayout as sl
    >>> sl.interpret(unpacked(sl.tensor("N", dtype="uint8", name="x"), 4), np.uint8([0x21, 0x43])).tolist()
    [1, 2, 3, 4]
    """
    if bits == _OF_A_BYTE:
        return x
    mask = constant(np.asarray((1 << bits) - 1, np.uint8), "mask")
    parts = []
    for low in range(0, _OF_A_BYTE, bits):
        by = constant(np.asarray(low, np.uint8), "bits")
        moved = apply("BitShift", x, by, direction="RIGHT") if low else x
        parts.append(apply("BitwiseAnd", moved, mask) if low + bits < _OF_A_BYTE else moved)
    return reshape(stack(parts, -1), (*x.shape[:-1], x.shape[-1] * len(parts)))


@operator(
    "microsoft:MatMulNBits",
    example=("B, M, 64; 32, 2, 16; 32, 2", "K=64, N=32, bits=4, block_size=32", "(B, M, 32)"),
    kinds="rank, size_mismatch, attr_missing",
    about={
        "A": "What is multiplied.",
        "B": "The columns of the matrix, each in blocks, of which each has the bits of its elements, low ones first.",
        "scales": "The scale of each block.",
        "zero_points": "What stands for 0 in each block, packed likewise, or real; without it, half of the range.",
        "g_idx": "The block of each row: then there is no declaration.",
        "K": "The number of rows of the matrix.",
        "N": "The number of its columns.",
        "bits": "The bits of an element: others than 2, 4 and 8 have no declaration.",
        "block_size": "How many elements of a column are a block.",
        "accuracy_level": "The least type of the products: 4 rounds *A* to 8 bits, 0 and 1 are products of floats.",
        "weight_prepacked": "Whether the matrix is packed for one processor: then there is no declaration.",
    },
    allowed={"K": AT_LEAST_1, "N": AT_LEAST_1, "block_size": AT_LEAST_1},
)
def mat_mul_n_bits(
    A: Tensor,
    B: Tensor,
    scales: Tensor,
    zero_points: Tensor | None = None,
    g_idx: Tensor | None = None,
    bias: Tensor | None = None,
    K: Any = None,
    N: Any = None,
    bits: Any = 4,
    block_size: Any = None,
    accuracy_level: Any = 0,
    weight_prepacked: Any = 0,
) -> Tensor:
    """Return the product of *A* and a matrix whose elements have a few bits."""
    if K is None or N is None or block_size is None:
        raise ShapeError("MatMulNBits needs K, N and block_size", "attr_missing")
    rank = require_rank("MatMulNBits", A, 1)
    rows, columns, block = (attributes.constant("size", n) for n in (K, N, block_size))
    A = demanding(A, "{} elements to multiply, not {}", [(A.shape[rank - 1], rows)])
    width, level = attributes.constant("bits", bits), attributes.constant("level", accuracy_level)
    result = A.dtype, (*A.shape[: rank - 1], columns)
    is_real = zero_points is not None and zero_points.dtype not in (None, np.dtype(np.uint8))
    is_open = g_idx is not None or attributes.constant("prepacked", weight_prepacked) or width not in _BITS
    if is_open or (is_real and width == _OF_A_BYTE) or block * width % _OF_A_BYTE or not _are_counted(B):
        what = "packings of one processor, other widths, groups of rows, and matrices that may be left out"
        raise NotDeclaredError(f"MatMulNBits has no declaration for {what}", result=result)
    matrix = _columns(B, scales, zero_points, (columns, rows, block), width)
    made = contractions.matmul(A, transpose(matrix, (1, 0)))
    if bias is not None:
        made = apply("Add", made, require_shape("the bias", bias, (columns,)))
    if level <= _SINGLE:
        return made
    read = [A, B, scales, *(x for x in (zero_points, bias) if x is not None)]
    given = ("operands", (zero_points is not None, bias is not None))
    return as_runtimes_round("mat_mul_n_bits", made, read, [("level", level), ("sizes", (rows, block, width)), given])


def _are_counted(x: Tensor) -> bool:
    """Return whether all extents are numbers from 1 on: onnxruntime leaves an empty matrix out."""
    return all(isinstance(n, int) and n > 0 for n in x.shape)


def _columns(
    packed: Tensor, scales: Tensor, zero_points: Tensor | None, sizes: tuple[int, int, int], bits: int
) -> Tensor:
    """Return the columns of a matrix, as rows; *sizes* are how many, their length, and that of a block."""
    columns, rows, block = sizes
    blocks = -(-rows // block)
    packed = require_shape("the matrix", packed, (columns, blocks, block * bits // _OF_A_BYTE))
    levels = reshape(unpacked(packed, bits), (columns, blocks * block))
    levels = getitem(levels, (slice(None), slice(0, rows)))
    scales = _by_column("scales", scales, (columns, blocks))
    if zero_points is None:
        zero = constant(np.full((columns, blocks), 1 << (bits - 1), np.uint8), "zero")
    elif zero_points.dtype != np.uint8:
        zero = _by_column("zero points", zero_points, (columns, blocks))
    else:
        zero = unpacked(_by_column("zero points", zero_points, (columns, -(-blocks * bits // _OF_A_BYTE))), bits)
        zero = getitem(zero, (slice(None), slice(0, blocks)))
    made: Tensor = dequantize_linear(levels, scales, zero, axis=1, block_size=block)
    return made


def _by_column(what: str, x: Tensor, shape: tuple[int, int]) -> Tensor:
    """Return numbers of each column, which may stand in one axis."""
    if require_rank(what, x, 1, 2) == 2:
        return require_shape(what, x, shape)
    return reshape(require_shape(what, x, (shape[0] * shape[1],)), shape)


_LEVELS = {
    0: (
        0.0, 5.208333333e-03, 0.66666667, 1.0, 0.33333333, 0.5, 0.16666667, 0.25,
        -0.0, -5.208333333e-03, -0.66666667, -1.0, -0.33333333, -0.5, -0.16666667, -0.25,
    ),
    1: (
        -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
        -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
        0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
    ),
}  # fmt: skip
"""The numbers that codes of 4 bits stand for, FP4 and NF4 of bitsandbytes."""


@operator(
    "microsoft:MatMulBnb4",
    example=("M, 64; 1024; 32", "K=64, N=32, block_size=64, quant_type=1", "(M, 32)"),
    kinds="rank, size_mismatch, attr_missing",
    about={
        "A": "What is multiplied.",
        "B": "Codes of 4 bits, two to a byte, the high one first: those of one column after the other.",
        "absmax": "The factor of each block.",
        "K": "The number of rows of the matrix.",
        "N": "The number of its columns.",
        "block_size": "How many codes, one after the other, are a block.",
        "quant_type": "What codes stand for: 0 is FP4, 1 is NF4.",
        "training_mode": "Has no effect.",
        "transB": "Whether the columns are multiplied; else there is no declaration.",
    },
    allowed={"K": AT_LEAST_1, "N": AT_LEAST_1, "block_size": AT_LEAST_1, "quant_type": (0, 1)},
)
def mat_mul_bnb4(
    A: Tensor,
    B: Tensor,
    absmax: Tensor,
    K: Any = None,
    N: Any = None,
    block_size: Any = None,
    quant_type: Any = None,
    training_mode: Any = 0,
    transB: Any = 1,
) -> Tensor:
    """Return the product of *A* and a matrix whose elements are codes of 4 bits."""
    if K is None or N is None or block_size is None or quant_type is None:
        raise ShapeError("MatMulBnb4 needs K, N, block_size and quant_type", "attr_missing")
    rank = require_rank("MatMulBnb4", A, 1)
    rows, columns, block = (attributes.constant("size", n) for n in (K, N, block_size))
    turned, count = attributes.flag("transB", transB), rows * columns
    A = demanding(A, "{} elements to multiply, not {}", [(A.shape[rank - 1], rows if turned else columns)])
    if not turned:
        what = "MatMulBnb4 has no declaration for rows, which onnxruntime multiplies on some processors only"
        raise NotDeclaredError(what, result=(A.dtype, (*A.shape[: rank - 1], rows)))
    codes = require_shape("the matrix", B, (-(-count // 2),))
    factors = require_shape("the factors", absmax, (-(-count // block),))
    by = constant(np.asarray(4, np.uint8), "bits")
    mask = constant(np.asarray(15, np.uint8), "mask")
    halves = stack([apply("BitShift", codes, by, direction="RIGHT"), apply("BitwiseAnd", codes, mask)], -1)
    levels = getitem(reshape(halves, (2 * codes.shape[0],)), slice(0, count))
    body = Body("looked_up", quantization.looked_up, (("table", _LEVELS[int(quant_type)]),))
    real = cast_to(elementwise(body, levels, dtype=np.dtype(np.float32)), absmax.dtype)
    factor = getitem(repeat(factors, block, 0), slice(0, count))
    matrix = reshape(apply("Mul", real, factor), (columns, rows))
    return contractions.matmul(A, transpose(matrix, (1, 0)))


@operator(
    "microsoft:GatherBlockQuantized",
    example=("V, 64; N, S; V, 4", "block_size=32, quantize_axis=1", "(N, S, 128)"),
    kinds="rank, size_mismatch, bad_axis, attr_range",
    about={
        "data": "A table, quantized by blocks; bytes hold several elements of the last axis.",
        "indices": "Places on the axis: 0 is read outside of it.",
        "scales": "The scale of each block.",
        "zero_points": "What stands for 0 in each block.",
        "bits": "The bits of an element, where the table is of bytes.",
        "block_size": "How many elements of an axis are a block; 0 is all of it.",
        "quantize_axis": "The axis with blocks.",
        "gather_axis": "The axis of which slices are read.",
    },
    allowed={"bits": _BITS, "block_size": AT_LEAST_0},
)
def gather_block_quantized(
    data: Tensor,
    indices: Tensor,
    scales: Tensor,
    zero_points: Tensor | None = None,
    bits: Any = 4,
    block_size: Any = 128,
    quantize_axis: Any = 1,
    gather_axis: Any = 0,
) -> Tensor:
    """Return slices of a table, as real numbers: nothing is known of the values but what they depend on."""
    name = "GatherBlockQuantized"
    rank = require_rank(name, data, 1)
    along, by = (attributes.axis("axis", a, rank) for a in (gather_axis, quantize_axis))
    width, block = attributes.constant("bits", bits), attributes.constant("block_size", block_size)
    is_packed = data.dtype in (None, np.dtype(np.uint8))
    each = _OF_A_BYTE // width if is_packed else 1
    if is_packed and along:
        raise ShapeError(f"gather_axis is {along}, a table of bytes is gathered along axis 0", "bad_axis")
    if is_packed and each > 1 and along == by:
        raise ShapeError("gather_axis is quantize_axis", "bad_axis")
    shape = [*data.shape[:-1], data.shape[-1] * each]
    require_rank("the scales", scales, rank, rank)
    pairs = [(n, m) for k, (n, m) in enumerate(zip(scales.shape, shape, strict=True)) if k != by]
    if data.dtype is None or not data.dtype.name.startswith("float"):  # others may have one scale for all
        scales = demanding(scales, "scales have an extent of {}, not {}", pairs)
    if block:
        scales = demanding(scales, "{} blocks, not {}", [(scales.shape[by], (shape[by] + block - 1) // block)])
    if zero_points is not None:
        ends = scales.shape[-1] if each == 1 else (scales.shape[-1] + each - 1) // each
        zero_points = require_shape("the zero points", zero_points, (*scales.shape[:-1], ends))
    read = [data, indices, scales, *([] if zero_points is None else [zero_points])]
    given = [("axes", (along, by)), ("packing", (width, block)), ("zeros", zero_points is not None)]
    result = (*shape[:along], *indices.shape, *shape[along + 1 :])
    return whole("gather_block_quantized", read, result, attributes=given, dtype=scales.dtype, total=True)
