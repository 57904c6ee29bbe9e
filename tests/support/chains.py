"""What a random chain has to satisfy: the interpreter, the kernel and brute force agree bit for bit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import symlayout as sl
from tests.support import oracle
from tests.support.strategies import Case

# Where every attribute may be a dim: its name, and the least value of the dim.
SYMBOLIC = {
    "block_shape": 1, "block_size": 1, "paddings": 0, "crops": 0, "pad_width": 0, "shift": 0, "reps": 0, "repeats": 0,
    "window_shape": 1, "strides": 1, "dilation": 1, "padding": 0, "shape": 1, "block": 1, "groups": 1,
}  # fmt: skip


def build(x: sl.Tensor, steps: Iterable[oracle.Step]) -> sl.Tensor:
    """Apply a chain of core operations to *x*."""
    for name, attributes in steps:
        x = x[tuple(attributes["key"])] if name == "getitem" else getattr(sl, name)(x, **attributes)
    return x


def check_interpreter(case: Case) -> None:
    """Assert that shape and elements are what brute force gives."""
    x = case.array()
    y = build(sl.tensor(case.shape, name="x"), case.steps)
    expected = oracle.run(oracle.grid(x), case.steps)
    assert y.shape == expected.shape
    check(sl.interpret(y, x), expected)


def check_kernel(case: Case) -> None:
    """Assert that the kernel, which has the shape fixed, gives what brute force gives."""
    x = case.array()
    y = build(sl.tensor(case.shape, dtype=x.dtype, name="x"), case.steps)
    expected = oracle.run(oracle.grid(x), case.steps)
    check(sl.compile(y, strict=True)(x), expected)


def check_dynamic(case: Case, *, compiled: bool) -> bool:
    """Assert the same of the chain for all shapes and attributes at once, which are given at the call.

    Return whether a kernel was compiled: with symbolic attributes it is an honest answer that a read was not
    shown to be inside its source for all of them, and then NumPy computes.
    """
    x = case.array()
    dims: dict[str, int] = {}
    steps = [(name, symbolic(k, attributes, dims)) for k, (name, attributes) in enumerate(case.steps)]
    leaf = sl.tensor([sl.dim(f"n{k}") for k in range(x.ndim)], dtype=x.dtype, name="x")
    y = build(leaf, steps)
    expected = oracle.run(oracle.grid(x), case.steps)
    bound = y.subs({**dims, **{f"n{k}": n for k, n in enumerate(case.shape)}})
    assert bound.shape == expected.shape
    for n, (low, high) in zip(expected.shape, y.bounds(), strict=True):
        assert (low or 0) <= n <= (n if high is None else high)
    check(sl.interpret(y, x, dims=dims), expected)
    if not compiled:
        return False
    try:
        kernel = sl.compile(y, strict=True)
    except sl.InconclusiveError:
        return False
    check(kernel(x, dims=dims), expected)
    return True


def check(result: np.ndarray[Any, Any], expected: oracle.Grid) -> None:
    """Assert that an array has the shape, the type and the bits of *expected*."""
    assert result.shape == expected.shape
    assert result.dtype == expected.dtype
    assert result.tobytes() == expected.data()


def symbolic(step: int, attributes: Any, dims: dict[str, int]) -> dict[str, Any]:
    """Return the attributes of a step with dims for blocks, pads and crops; their values go to *dims*."""

    def named(name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [named(f"{name}_{i}", v) for i, v in enumerate(value)]
        dims[name] = value
        return sl.dim(name, min=min(value, least))

    made = {}
    for name, value in attributes.items():
        least = SYMBOLIC.get(name)
        made[name] = value if least is None else named(f"{name}{step}", value)
    return made
