"""A tensor becomes the kernel of what it does, which another process rebuilds with its options."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.run.compile_tensor import compile
from symlayout.run.computed_kernel import ComputedKernel
from symlayout.run.kernel import Kernel

X = sl.tensor("N, 4", dtype="float32", name="x")
MOVED = sl.flip(X, 1)
COMPUTED = sl.flip(sl.onnx.relu(X), 1)


@pytest.mark.parametrize(
    ("t", "kind"), [(MOVED, Kernel), (COMPUTED, ComputedKernel), (sl.adjoint(MOVED), Kernel)], ids=["M", "C", "A"]
)
def test_a_kernel_is_of_the_kind_of_its_tensor_there_and_back(t: Any, kind: type[Kernel]) -> None:
    kernel = compile(t, strict=True, threads=2)
    again = pickle.loads(pickle.dumps(kernel))
    assert type(kernel) is type(again) is kind
    assert again._threads == 2
    a = np.arange(-4, 8, dtype="float32").reshape(3, 4)
    assert np.array_equal(again(a), kernel(a))
    assert np.array_equal(kernel(a), sl.interpret(t, a))


def test_a_type_is_refused_where_something_is_computed_of_the_declared_one() -> None:
    assert compile(MOVED, dtype="uint8")(np.ones((1, 4), "uint8")).dtype == np.uint8
    with pytest.raises(sl.ArrayError, match="dtype uint8 is not the tensor's float32"):
        compile(COMPUTED, dtype="uint8")
