"""Floats by which models make their shapes, beside NumPy's float32."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from onnx import NodeProto, TensorProto

import symlayout as sl
from symlayout.models.arithmetic.real_arithmetic import OPERATIONS, Real, floor_of, real
from tests.models.onnx_files import ZERO, constants, extent_nodes, joined, loaded
from tests.support.onnx_writer import node, value_info


def rounded(tmp_path: Path, *steps: NodeProto, **floats: float) -> sl.Tensor:
    """Return the result of a model with the extent that float *steps* make of ``n`` as ``r``."""
    given = [node("Constant", "", name, value_float=value) for name, value in floats.items()]
    nodes = [*extent_nodes(n=0), *given, node("Cast", "n", "f", to=TensorProto.FLOAT), *steps]
    nodes += [node("Cast", "r", "i", to=TensorProto.INT64), *joined("target", "i"), node("Expand", "one, target", "y")]
    return loaded(tmp_path, *nodes, constants=(*ZERO, *constants(one=[0])), x=value_info("x", ("N",)))


@pytest.mark.parametrize(
    ("steps", "floats", "expected"),
    [
        ([node("Mul", "f, s", "p"), node("Floor", "p", "r")], {"s": 2.0}, "2*N"),
        ([node("Mul", "f, s", "p"), node("Floor", "p", "r")], {"s": 0.5}, "floor(N/2)"),
        ([node("Div", "f, s", "p"), node("Ceil", "p", "r")], {"s": 3.0}, "ceiling(N/3)"),
        ([node("Div", "f, s", "p"), node("Ceil", "p", "c"), node("Mul", "c, s", "r")], {"s": 2.0}, "2*ceiling(N/2)"),
        ([node("Add", "f, e", "a"), node("Div", "a, s", "q"), node("Mul", "q, s", "r")], {"e": 0.1, "s": 14.0}, "N"),
    ],
    ids=["doubled", "halved", "a third, up", "a multiple of two", "a tenth more"],
)
def test_a_float_that_is_rounded_is_an_expression(
    tmp_path: Path, steps: list[NodeProto], floats: dict[str, float], expected: str
) -> None:
    assert str(rounded(tmp_path, *steps, **floats).shape) == f"({expected},)"


def test_a_float_that_rounding_may_change_is_a_dim_of_its_own(tmp_path: Path) -> None:
    """``floor(n * 0.1)`` in float32 is 1 for 10, as for the real number; nothing says so for all extents."""
    y = rounded(tmp_path, node("Mul", "f, s", "p"), node("Floor", "p", "r"), s=0.1)
    assert "N" not in str(y.shape)


@pytest.mark.parametrize("divisor", [3, 7, 10, 14, 49, 1000, 4097])
def test_the_floor_of_a_rounded_quotient_is_exact(divisor: int) -> None:
    extents = np.concatenate([np.arange(50_000), np.arange(2**24 - 50_000, 2**24)])
    assert np.array_equal(np.floor(extents.astype(np.float32) / np.float32(divisor)), extents // divisor)


@pytest.mark.parametrize(("factor", "divisor"), [(0.5, 1), (3.5, 1), (2.0, 3), (1 / 32, 1)])
def test_a_floor_that_is_computed_is_that_of_float32(factor: float, divisor: int) -> None:
    h = sl.dim("H")
    scaled = OPERATIONS["Mul"](Real(h), real(factor))
    assert scaled is not None
    over = OPERATIONS["Div"](scaled, Real(Fraction(divisor)))
    assert over is not None
    found = floor_of(over)
    assert found is not None
    for n in (0, 1, 2, 5, 7, 96, 640, 4095, 65535):
        exact = np.floor(np.float32(n) * np.float32(factor) / np.float32(divisor))
        assert int(found.subs({h: n})) == int(exact)


def test_numbers_without_a_simple_form_are_not_known() -> None:
    assert real(float("inf")) is None
    assert real(float("nan")) is None
    assert real(np.float32(0.123456)) is None
    assert floor_of(Real(sl.dim("H") / 10, 2)) is None
