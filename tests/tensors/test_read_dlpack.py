"""Arrays of DLPack whose element types NumPy lacks are read over the same memory."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.errors import ArrayError
from symlayout.tensors.element_types import as_array
from symlayout.tensors.read_dlpack import TYPES, read_dlpack

ml_dtypes = pytest.importorskip("ml_dtypes")
torch = pytest.importorskip("torch")

CUTS = {
    "all": np.s_[:, :],
    "columns": np.s_[:, 1:],
    "every second": np.s_[::2, ::2],
    "nothing": np.s_[:, :0],
    "one row": np.s_[1],
}


def numbers(dtype: Any) -> Any:
    return torch.arange(20, dtype=torch.float32).reshape(4, 5).to(dtype)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"])
def test_the_elements_are_those_of_the_exporter(name: str, cut: str) -> None:
    t = numbers(getattr(torch, name))[CUTS[cut]]
    a = as_array(t, "x")
    assert a.dtype == np.dtype(getattr(ml_dtypes, name))
    assert np.array_equal(a.astype(np.float32), t.float().numpy())


def test_the_memory_is_shared_and_lives_as_long_as_the_array() -> None:
    t = numbers(torch.bfloat16)
    a = as_array(t, "x")
    t[0, 0] = 7
    assert a[0, 0] == 7
    del t
    gc.collect()
    again = numbers(torch.bfloat16)  # would take the memory if it were free
    assert a[0, 0] == 7
    assert again[0, 0] == 0


def test_a_chain_takes_the_array() -> None:
    x = sl.tensor("N, C", name="x")
    y = sl.transpose(x, (1, 0))
    t = numbers(torch.bfloat16)
    for made in (sl.interpret(y, t), sl.compile(y)(t)):
        assert made.dtype == ml_dtypes.bfloat16
        assert np.array_equal(made.astype(np.float32), t.float().numpy().T)


@pytest.mark.parametrize("exported", [object(), None, 3])
def test_what_is_no_capsule_is_refused(exported: Any) -> None:
    class Exporter:
        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

        def __dlpack__(self, **_: Any) -> Any:
            return exported

    assert read_dlpack(Exporter()) is None
    with pytest.raises(ArrayError, match="array x of type Exporter cannot be read"):
        as_array(Exporter(), "x")


@pytest.mark.filterwarnings("ignore:ComplexHalf")
def test_a_type_without_a_name_is_refused() -> None:
    with pytest.raises(ArrayError, match="cannot be read as an array"):
        as_array(torch.zeros(2, dtype=torch.complex32), "x")


def test_each_type_is_one_of_ml_dtypes() -> None:
    assert [name for name in TYPES.values() if not hasattr(ml_dtypes, name)] == []
