"""Arrays of ml_dtypes: they move bit for bit, in the interpreter, in kernels and from the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.commands.command_line import main
from symlayout.errors import ArrayError

NAMES = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "int4", "uint4", "int2"]


def moved() -> sl.Tensor:
    return sl.space_to_depth(sl.pad(sl.tensor("N, C, H, W", name="x"), [(0, 0), (0, 0), (1, 1), (0, 2)]), 2)


@pytest.fixture(params=NAMES)
def x(request: pytest.FixtureRequest) -> np.ndarray[Any, Any]:
    """Return an array with every pattern of bits that fits."""
    types: Any = pytest.importorskip("ml_dtypes", reason="the extra ml_dtypes is not installed")
    dtype = np.dtype(getattr(types, request.param))
    if request.param.lstrip("u").startswith("int"):
        return np.arange(192).reshape(2, 4, 4, 6).astype(np.int8).astype(dtype)
    return np.frombuffer(np.random.default_rng(0).bytes(192 * dtype.itemsize), dtype).reshape(2, 4, 4, 6)


@pytest.mark.sample(6)
def test_interpreter_and_kernel_move_bits(x: np.ndarray[Any, Any]) -> None:
    bits = x.view(f"u{x.itemsize}")
    expected = sl.interpret(moved(), bits)
    found = sl.interpret(moved(), x)
    assert found.dtype == x.dtype
    assert np.array_equal(found.view(bits.dtype), expected)
    assert np.array_equal(sl.compile(moved(), strict=True)(x).view(bits.dtype), expected)


def test_names_are_element_types(x: np.ndarray[Any, Any]) -> None:
    y = sl.pad(sl.tensor("N, C, H, W", dtype=x.dtype.name, name="x"), 1, constant_values=1)
    assert y.dtype == x.dtype
    found = sl.compile(y, strict=True)(x)
    assert found[0, 0, 0, 0] == x.dtype.type(1)
    with pytest.raises(ArrayError, match="declared is"):
        sl.interpret(y, x.astype(np.float32))


def test_file_of_a_type_that_npy_has_no_name_for(x: np.ndarray[Any, Any], tmp_path: Path) -> None:
    if x.dtype.name == "float8_e5m2":
        pytest.skip("NumPy writes it as <f1, which it does not read")
    np.save(tmp_path / "x.npy", x)
    words = ["run", "N,C,H,W", "transpose()", "--dtype", x.dtype.name, "-i", str(tmp_path / "x.npy")]
    assert main([*words, "-o", str(tmp_path / "y.npy")]) == 0
    found = np.load(tmp_path / "y.npy").view(x.dtype)
    assert np.array_equal(found.view(f"u{x.itemsize}"), x.T.copy().view(f"u{x.itemsize}"))


def test_without_the_package_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(ArrayError, match=r"(?s)bfloat16 needs ml_dtypes.*pip install symlayout\[ml_dtypes\]"):
        sl.tensor("N", dtype="bfloat16")
    with pytest.raises(ArrayError, match="not an element type"):
        sl.tensor("N", dtype="float8_of_mine")
