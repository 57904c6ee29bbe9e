"""What a random chain on elements of half a byte has to satisfy: kernel, interpreter and brute force agree.

Bytes are cut and joined here by Python's own numbers; nothing of symlayout has a part in what is expected.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symlayout as sl
from tests.support import oracle
from tests.support.chains import build, symbolic
from tests.support.strategies import Case

Array = np.ndarray[Any, Any]


def cut(a: Array) -> Array:
    """Return the elements of half a byte of *a*, one to a byte: the low half first."""
    values = [half for byte in a.tobytes() for half in (byte % 16, byte // 16)]
    return np.array(values, np.uint8).reshape(*a.shape[:-1], 2 * a.shape[-1])


def joined(a: Array) -> Array:
    """Return the bytes that hold the elements of *a*, two to each."""
    values = list(a.tobytes())
    pairs = [low + 16 * high for low, high in zip(values[::2], values[1::2], strict=True)]
    return np.array(pairs, np.uint8).reshape(*a.shape[:-1], a.shape[-1] // 2)


def expected(case: Case, bytes_in: Array) -> Array | None:
    """Return the bytes that the chain of *case* makes of *bytes_in*, by brute force; None if they are not whole."""
    made = oracle.run(oracle.grid(cut(bytes_in)), case.steps)
    if not made.shape or made.shape[-1] % 2:
        return None
    return joined(np.frombuffer(made.data(), np.uint8).reshape(made.shape))


def arrays(case: Case) -> list[Array]:
    """Return the same random bytes for the shape of *case*, whose last extent is even, under several strides."""
    shape = (*case.shape[:-1], case.shape[-1] // 2)
    wide = np.random.default_rng(case.seed).integers(0, 256, (*(2 * n for n in shape[:-1]), shape[-1] + 3), np.uint8)
    every_second = wide[tuple(slice(None, None, 2) for _ in shape[:-1])]
    view = every_second[..., 2 : 2 + shape[-1]]
    apart = np.repeat(view, 2, axis=-1)[..., ::2]
    return [np.ascontiguousarray(view), view, view[::-1][::-1], apart]


def check_halves(case: Case, *, dynamic: bool = False) -> bool:
    """Assert that the kernel and NumPy give what brute force does, or that what is no whole byte is refused.

    Return whether there was something to compare.
    """
    dims: dict[str, int] = {}
    steps = case.steps
    shape: Any = case.shape
    if dynamic:
        steps = tuple((name, symbolic(k, attributes, dims)) for k, (name, attributes) in enumerate(case.steps))
        shape = [sl.dim(f"n{k}") for k in range(len(case.shape))]
    y = build(sl.tensor(shape, name="x"), steps)
    if not case.shape or (case.shape[-1] % 2 and not dynamic):
        with pytest.raises(sl.ShapeError) as caught:
            sl.compile(y, dtype="uint4x2")
        assert caught.value.kind == ("non_divisible" if case.shape else "rank")
        return False
    if case.shape[-1] % 2:
        return False
    given = arrays(case)
    want = expected(case, given[0])
    if want is None:
        with pytest.raises(sl.ShapeError) as caught:
            sl.compile(y, dtype="uint4x2")(given[0], dims=dims)
        assert caught.value.kind in ("non_divisible", "rank", "infeasible")
        return False
    try:
        kernel = sl.compile(y, dtype="uint4x2", strict=True)
    except sl.InconclusiveError:
        assert dynamic
        return False
    for a in given:
        result = kernel(a, dims=dims)
        assert (result.dtype, result.shape) == (np.uint8, want.shape)
        np.testing.assert_array_equal(result, want)
    for threads in (2, 3):
        out = np.full_like(want, 0x5A)
        np.testing.assert_array_equal(kernel(given[0], dims=dims, out=out, threads=threads), want)
    room = np.full((*want.shape[:-1], 2 * want.shape[-1] + 1), 0x5A, np.uint8)
    beside, apart = room.copy(), room.copy()
    kernel(given[0], dims=dims, out=beside[..., 1 : 1 + want.shape[-1]])
    np.testing.assert_array_equal(beside[..., 1 : 1 + want.shape[-1]], want)
    beside[..., 1 : 1 + want.shape[-1]] = 0x5A
    assert (beside == 0x5A).all()
    kernel(given[0], dims=dims, out=apart[..., 1::2])
    np.testing.assert_array_equal(apart[..., 1::2], want)
    assert (apart[..., ::2] == 0x5A).all()
    return True
