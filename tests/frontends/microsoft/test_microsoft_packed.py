"""Weights of a few bits: their packing is an index map, so a product with them is one with what a file has unpacked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.frontends.microsoft_packed import unpacked

RANDOM = np.random.default_rng(3)
BITS = (2, 4, 8)


def packed(levels: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    """Return numbers in bytes, low bits first; the last axis is filled up with zeros."""
    each = 8 // bits
    full = np.pad(levels, [(0, 0)] * (levels.ndim - 1) + [(0, -levels.shape[-1] % each)])
    parts = full.reshape(*full.shape[:-1], -1, each) << (np.arange(each) * bits)
    return np.asarray(parts.sum(-1), np.uint8)


@pytest.mark.parametrize("bits", BITS)
def test_bytes_hold_low_bits_first(bits: int) -> None:
    levels = RANDOM.integers(0, 1 << bits, (3, 8))
    found = sl.interpret(unpacked(sl.tensor("N, C", "uint8", name="x"), bits), packed(levels, bits))
    assert np.array_equal(found, levels)


def product(bits: int, k: int, n: int, block: int, zeros: str) -> tuple[sl.Tensor, np.ndarray[Any, Any]]:
    """Return a product with packed weights, and the matrix that these are."""
    blocks = -(-k // block)
    levels = RANDOM.integers(0, 1 << bits, (n, blocks, block))
    scales = np.abs(RANDOM.standard_normal((n, blocks))).astype(np.float32)
    given: Any = None
    points: Any = np.full((n, blocks), 1 << (bits - 1))
    if zeros == "packed":
        points = RANDOM.integers(0, 1 << bits, (n, blocks))
        given = packed(points, bits)
    elif zeros == "real":
        given = points = RANDOM.standard_normal((n, blocks)).astype(np.float32)
    a = sl.tensor(f"M, {k}", "float32", name="a")
    sizes = {"K": k, "N": n, "bits": bits, "block_size": block}
    y = sl.op("microsoft:MatMulNBits")(a, packed(levels, bits), scales.reshape(-1), given, **sizes)
    matrix = ((levels - points[..., None]) * scales[..., None]).reshape(n, -1)[:, :k].T
    return y, matrix


PACKINGS = [(b, zeros) for b in BITS for zeros in ("", "packed", "real") if (b, zeros) != (8, "real")]


@pytest.mark.parametrize(("bits", "zeros"), PACKINGS)
@pytest.mark.parametrize("k", [32, 40])
def test_a_product_with_packed_weights(bits: int, zeros: str, k: int) -> None:
    y, matrix = product(bits, k, 3, 16, zeros)
    a = RANDOM.standard_normal((2, k)).astype(np.float32)
    np.testing.assert_allclose(sl.interpret(y, a), a @ matrix, rtol=1e-5, atol=1e-4)


A = sl.tensor("M, 32", "float32", name="a")
Q = sl.tensor("3, 2, 8", "uint8", name="q")
SCALES = sl.tensor("3, 2", "float32", name="s")
SIZES = {"K": 32, "N": 3, "block_size": 16}


def by_standard(order: tuple[int, int] = (0, 1), *, other: bool = False) -> sl.Tensor:
    """Return the product with weights that are unpacked by the standard's operations; halves are in this *order*."""
    low = sl.onnx.bitwise_and(Q, np.uint8(15))
    high = sl.onnx.bit_shift(Q, np.uint8(4), direction="RIGHT")
    halves = [low, high]
    levels = sl.reshape(sl.stack([halves[k] for k in order], -1), (3, 32))
    scales = sl.reshape(sl.transpose(SCALES, (1, 0)), (3, 2)) if other else SCALES
    weights = sl.onnx.dequantize_linear(levels, scales, np.full((3, 2), 8, np.uint8), axis=1, block_size=16)
    made: sl.Tensor = sl.onnx.mat_mul(A, sl.transpose(weights, (1, 0)))
    return made


def test_the_order_of_halves_and_the_axis_of_scales_are_proved_or_refuted() -> None:
    y = sl.op("microsoft:MatMulNBits")(A, Q, SCALES, **SIZES)
    assert sl.prove_equal(y, by_standard()).verdict is sl.Verdict.PROVED
    assert sl.prove_equal(y, by_standard((1, 0))).verdict is sl.Verdict.REFUTED
    assert sl.prove_equal(y, by_standard(other=True)).verdict is sl.Verdict.REFUTED


def test_a_product_that_rounds_what_is_multiplied_is_another_function() -> None:
    plain, rounded = (sl.op("microsoft:MatMulNBits")(A, Q, SCALES, **SIZES, accuracy_level=n) for n in (0, 4))
    assert sl.prove_equal(plain, rounded).verdict is sl.Verdict.UNKNOWN
    assert sl.prove_equal(rounded, rounded).verdict is sl.Verdict.PROVED


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"B": "3, 2, 4"}, "size_mismatch"),
        ({"scales": "5"}, "size_mismatch"),
        ({"B": "3, 16"}, "rank"),
        ({"bits": 3}, "not_declared"),
        ({"B": "3, b, 8"}, "not_declared"),
        ({"weight_prepacked": 1}, "not_declared"),
        ({"K": None}, "attr_missing"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any], kind: str) -> None:
    given: dict[str, Any] = {"A": A, "B": Q, "scales": SCALES, **SIZES, **change}
    for name in ("B", "scales"):
        if isinstance(given[name], str):
            given[name] = sl.tensor(given[name], "uint8" if name == "B" else "float32", name=name)
    with pytest.raises(sl.ShapeError) as found:
        sl.op("microsoft:MatMulNBits")(**given)
    assert found.value.kind == kind


def test_codes_of_four_bits_begin_with_the_high_half() -> None:
    codes = np.array([0x01, 0x23], np.uint8)
    y = sl.op("microsoft:MatMulBnb4")(
        sl.tensor("M, 2", "float32", name="a"), codes, np.array([2], np.float32), K=2, N=2, block_size=16, quant_type=1
    )
    found = sl.interpret(y, np.eye(2, dtype=np.float32))
    np.testing.assert_allclose(found, 2 * np.array([[-1, -0.52507305], [-0.6961928, -0.3949175]]), rtol=1e-6)


def test_rows_of_a_table_with_packed_elements_are_known_by_their_shape() -> None:
    table, places = sl.tensor("V, 64", "uint8", name="t"), sl.tensor("N, S", "int64", name="i")
    scales = sl.tensor("V, 8", "float32", name="s")
    y = sl.op("microsoft:GatherBlockQuantized")(table, places, scales, block_size=16)
    assert str(y.shape) == "(N, S, 128)"
    assert y.dtype == np.float32
    with pytest.raises(sl.ShapeError):
        sl.op("microsoft:GatherBlockQuantized")(table, places, sl.tensor("V, 7", "float32", name="s"), block_size=16)


def test_a_table_of_codes_is_no_formula() -> None:
    """A proof tries each function on formulas, which are no places of a table."""
    a, codes, factors = sl.tensor("M, 64", "float32"), sl.tensor("1024", "uint8"), sl.tensor("32", "float32")
    given = {"K": 64, "N": 32, "block_size": 64, "quant_type": 1}
    made = [sl.op("microsoft:MatMulBnb4")(x, codes, factors, **given) for x in (a, sl.flip(sl.flip(a, 0), 0))]
    assert sl.prove_equal(*made).verdict is sl.Verdict.PROVED
