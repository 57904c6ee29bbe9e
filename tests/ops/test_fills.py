"""Fills have exactly the bits of their element type, or are refused; interpreter and kernel agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symlayout as sl

PAYLOAD = np.array([0x7FC12345], np.uint32).view(np.float32)[0]
SIGNALLING = np.array([0x7FF0000000000001], np.uint64).view(np.float64)[0]
RECORD = np.dtype([("a", "<i2"), ("b", ">f4")])

HELD: list[tuple[Any, Any, str]] = [
    ("bool", True, "01"),
    ("bool", 2, "01"),
    ("i1", -128, "80"),
    ("u1", 255, "ff"),
    ("i8", -(2**63), "0000000000000080"),
    ("u8", 2**64 - 1, "ffffffffffffffff"),
    (">i4", 258, "00000102"),
    (">f8", 1.5, "3ff8000000000000"),
    ("f2", -0.0, "0080"),
    ("f4", -0.0, "00000080"),
    ("f4", 0.0, "00000000"),
    ("f4", PAYLOAD, "4523c17f"),
    (">f4", PAYLOAD, "7fc12345"),
    ("f8", SIGNALLING, "010000000000f07f"),
    ("f4", -float("inf"), "000080ff"),
    ("f4", np.float64(0.1), "cdcccc3d"),
    ("c8", 1 - 2j, "0000803f000000c0"),
    ("c8", complex(-0.0, 0.0), "0000008000000000"),
    ("c8", complex(0.0, -0.0), "0000000000000080"),
    ("M8[D]", np.datetime64("2020-01-01"), "5647000000000000"),
    ("M8[D]", np.datetime64("NaT"), "0000000000000080"),
    ("m8[s]", np.timedelta64(5, "s"), "0500000000000000"),
    (RECORD, np.array((1, 2.0), RECORD)[()], "010040000000"),
    (RECORD, 0, "000000000000"),
    ("S3", b"ab", "616200"),
    ("V5", np.void(b"abcde"), "6162636465"),
    ("i4", 2.0, "02000000"),
]
REFUSED: list[tuple[Any, Any]] = [
    ("i1", 200), ("u1", -1), ("u8", 2**64), ("i4", 1.5), ("i4", np.int64(2**40)), ("u1", np.int16(-1)),
    ("i4", float("nan")), ("f4", 1e300), ("f4", 10**400), ("f4", 1 + 1j), ("f4", "1"), ("i4", None), ("S3", 5),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "fill", "bits"), HELD, ids=str)
def test_a_fill_has_the_bits_of_its_type(dtype: Any, fill: Any, bits: str) -> None:
    x = np.zeros(2, dtype)
    for declared in (None, dtype):
        y = sl.pad(sl.tensor("N", name="x", dtype=declared), [(1, 2)], constant_values=fill)
        for result in (sl.interpret(y, x), sl.compile(y, strict=True)(x)):
            assert result.tobytes().hex() == bits + x.tobytes().hex() + 2 * bits


@pytest.mark.parametrize(("dtype", "fill"), REFUSED, ids=str)
def test_a_fill_that_the_type_cannot_hold_is_refused_as_soon_as_the_type_is_known(dtype: Any, fill: Any) -> None:
    with pytest.raises(sl.ArrayError, match="is no"):
        sl.pad(sl.tensor("N", dtype=dtype), [(1, 2)], constant_values=fill)
    y = sl.pad(sl.tensor("N", name="x"), [(1, 2)], constant_values=fill)
    x = np.zeros(2, dtype)
    with pytest.raises(sl.ArrayError, match="is no"):
        sl.interpret(y, x)
    with pytest.raises(sl.ArrayError, match="is no"):
        sl.compile(y)(x)


@pytest.mark.parametrize(
    ("name", "value", "bits"), [("bfloat16", 1.5, "c03f"), ("int4", -8, "08"), ("uint4", 15, "0f")]
)
def test_fills_of_ml_dtypes(name: str, value: Any, bits: str) -> None:
    ml_dtypes: Any = pytest.importorskip("ml_dtypes")
    dtype = np.dtype(getattr(ml_dtypes, name))
    y = sl.pad(sl.tensor("N", name="x"), [(1, 0)], constant_values=value)
    for result in (sl.interpret(y, np.zeros(1, dtype)), sl.compile(y, strict=True)(np.zeros(1, dtype))):
        assert result[:1].tobytes().hex() == bits
    with pytest.raises(sl.ArrayError, match="is no"):
        sl.pad(sl.tensor("N", dtype=dtype), [(1, 0)], constant_values=1e300 if name == "bfloat16" else 99)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (0.0, -0.0, False),
        (0, 0.0, True),
        (complex(-0.0, 1), complex(0.0, 1), False),
        (float("nan"), np.float32("nan"), True),
        (float("nan"), SIGNALLING, False),
        (np.void(b"ab"), np.void(b"ab"), True),
        (np.void(b"ab"), np.void(b"ac"), False),
        (-3, -3.0, True),
    ],
)
def test_pads_are_equal_where_their_fills_have_the_same_bits(a: Any, b: Any, same: bool) -> None:
    x = sl.tensor("N", name="x")
    left, right = (sl.pad(x, [(1, 1)], constant_values=fill) for fill in (a, b))
    assert (sl.prove_equal(left, right).verdict is sl.Verdict.PROVED) == same
