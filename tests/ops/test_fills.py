"""Fills have exactly the bits of their element type, or are refused; interpreter and kernel agree."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy

import symlayout as sl
from symlayout.tensors.declaration import Declared, Fill, Operand, index_map
from symlayout.tensors.element_types import fill_text, same_fill

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
    ("f4", 2**70, "00008062"),
    ("f8", -(2**70), "00000000000050c4"),
]
REFUSED: list[tuple[Any, Any]] = [
    ("i1", 200), ("u1", -1), ("u8", 2**64), ("f2", 2**70), ("i4", 1.5), ("i4", np.int64(2**40)), ("u1", np.int16(-1)),
    ("i4", float("nan")), ("f4", 1e300), ("f4", 10**400), ("f4", 1 + 1j), ("f4", "1"), ("i4", None), ("S3", 5),
]  # fmt: skip


@pytest.mark.sample(25)
@pytest.mark.parametrize(("dtype", "fill", "bits"), HELD, ids=str)
def test_a_fill_has_the_bits_of_its_type(dtype: Any, fill: Any, bits: str) -> None:
    x = np.zeros(2, dtype)
    for declared in (None, dtype):
        y = sl.pad(sl.tensor("N", name="x", dtype=declared), [(1, 2)], constant_values=fill)
        for result in (sl.interpret(y, x), sl.compile(y, strict=True)(x)):
            assert result.tobytes().hex() == bits + x.tobytes().hex() + 2 * bits


@pytest.mark.parametrize(("dtype", "fill"), REFUSED, ids=str)
def test_a_fill_that_the_type_cannot_hold_is_refused_as_soon_as_the_type_is_known(dtype: Any, fill: Any) -> None:
    with pytest.raises((sl.ArrayError, sl.ShapeError), match=r"does not fit|is not an element"):
        sl.pad(sl.tensor("N", dtype=dtype), [(1, 2)], constant_values=fill)
    x = np.zeros(2, dtype)
    if fill is None or isinstance(fill, str):  # no element of all types
        return
    y = sl.pad(sl.tensor("N", name="x"), [(1, 2)], constant_values=fill)
    with pytest.raises(sl.ArrayError, match="does not fit"):
        sl.interpret(y, x)
    with pytest.raises(sl.ArrayError, match="does not fit"):
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
    with pytest.raises(sl.ArrayError, match="does not fit"):
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


NO_ELEMENTS = [
    sl.dim("v"), sl.dim("v") + 1, sympy.pi, sympy.Rational(1, 2), sl.tensor("N"), "a", None, (1, 2), [1], {}, object(),
    int, Fraction(1, 2), Decimal(1), ..., np.array([1]), np.ma.masked,
]  # fmt: skip
FILLED: dict[str, Callable[[Any], sl.Tensor]] = {
    "pad": lambda value: sl.pad(sl.tensor("N"), 1, constant_values=[(value, value)]),
    "pack": lambda value: sl.pack(sl.tensor("N"), 0, 4, constant_values=value),
    "index_map": lambda value: declared(value),
}


def declared(value: Any) -> sl.Tensor:
    @sl.operation
    def shifted(x: Operand) -> Declared:
        return index_map(x.shape, lambda i: (i + 1,), fill=Fill(value))

    return shifted(sl.tensor("N"))


@pytest.mark.parametrize("value", NO_ELEMENTS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("name", FILLED)
def test_what_is_no_element_is_refused_at_construction(name: str, value: Any) -> None:
    with pytest.raises(sl.ShapeError) as caught:
        FILLED[name](value)
    assert caught.value.kind == "attr_dtype"


ELEMENTS = [
    0, 1, -0.0, 0.5, 2**70, True, 1j, complex(0.0, -0.0), complex(1.0, -0.0), complex(-0.0, 2.0), float("nan"), PAYLOAD,
    SIGNALLING, float("inf"), -np.inf, np.float32(0.1), 0.1, np.array(2), sympy.Integer(3), b"ab", np.void(b"ab"),
    np.datetime64("2020-01-01"), np.datetime64("2020-01-01", "s"), np.timedelta64(5, "s"), np.str_("ab"), np.True_,
    np.array((1, 2.0), RECORD)[()],
]  # fmt: skip


@pytest.mark.parametrize("value", ELEMENTS, ids=repr)
def test_every_element_has_a_certificate_and_one_text(value: Any) -> None:
    x = sl.tensor("N", name="x")
    y = sl.pad(sl.flip(x), 1, constant_values=value)
    proof = sl.prove_equal(y, sl.flip(sl.pad(x, 1, constant_values=value)))
    assert proof.verdict is sl.Verdict.PROVED
    assert sl.check(proof.certificate)
    for other in ELEMENTS:
        assert (fill_text(value, None) == fill_text(other, None)) == same_fill(value, other, None)
