"""Slices whose bounds and steps are dims are NumPy's at every small size."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import symlayout as sl

N, P, Q = sl.dims("N p q")
A, B = (sl.dim(name, min=None) for name in "ab")
S = sl.dim("s", min=1)
D = sl.dim("d", min=None, max=-1)
X = sl.tensor((N,), name="x")

SLICES = {
    "steps": slice(None, None, S),
    "steps from": slice(1, None, S),
    "steps down": slice(None, None, D),
    "steps down from": slice(-2, None, D),
    "start": slice(P, None),
    "start and stop": slice(P, Q),
    "start and stop of any sign": slice(A, B),
    "all": slice(A, B, S),
    "all down": slice(A, B, D),
    "from the end": slice(-P, None, 2),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", SLICES)
def test_a_symbolic_slice_is_numpys(name: str) -> None:
    key = SLICES[name]
    t = sl.getitem(X, (key,), bounds="numpy")
    assert t.requires == ()
    used = [d for d in (P, Q, A, B, S, D) if any(d in getattr(e, "free_symbols", ()) for e in _parts(key))]
    values = {P: range(7), Q: range(7), A: range(-6, 7, 2), B: range(-6, 7, 3), S: (1, 2, 4), D: (-1, -3)}
    kernel = sl.compile(t)
    for n in (0, 1, 4, 5):
        data = np.arange(n)
        for at in itertools.product(*(values[d] for d in used)):
            dims = dict(zip(used, at, strict=True))
            expected = data[slice(*(e.subs(dims) if hasattr(e, "subs") else e for e in _parts(key)))]
            assert sl.interpret(t, data, dims=dims).tolist() == expected.tolist(), (n, dims)
            assert kernel(data, dims=dims).tolist() == expected.tolist(), (n, dims)


def _parts(key: slice) -> list[Any]:
    return [key.start, key.stop, key.step]


def test_a_step_that_may_be_0_is_required_to_be_positive() -> None:
    step = sl.dim("t")
    t = X[::step]
    assert str(t.requires) == "(t >= 1,)"
    assert sl.prove_equal(X[::S][::step], X[:: S * step]).verdict is sl.Verdict.PROVED
    with pytest.raises(sl.ShapeError) as caught:
        t.subs({step: 0})
    assert caught.value.kind == "bad_axis"


@pytest.mark.sample(4)
@pytest.mark.parametrize("key", [slice(-P, None), slice(None, -P), slice(-P - 1, -1), slice(-P, None, 2)])
def test_a_bound_that_is_never_positive_counts_from_the_end(key: slice) -> None:
    """As in ONNX and OpenVINO."""
    t = sl.getitem(sl.tensor((N + P + 1,), name="x"), (key,), bounds="clamp_start")
    for n, p in itertools.product(range(4), range(4)):
        data = np.arange(n + p + 1)
        dims = {N: n, P: p}
        expected = data[slice(*(e.subs(dims) if hasattr(e, "subs") else e for e in _parts(key)))]
        if p == 0 and key.start != -P - 1:  # 0 does not count from the end
            with pytest.raises(sl.ShapeError) as caught:
                sl.interpret(t, data, dims=dims)
            assert caught.value.kind == "crop_exceeds"
        else:
            assert sl.interpret(t, data, dims=dims).tolist() == expected.tolist(), dims
    assert str(t.requires) == ("()" if key.start == -P - 1 else "(p >= 1,)")


def test_the_last_elements_of_an_axis_are_all_where_they_are_as_many() -> None:
    t = sl.onnx.slice(X, starts=[-N], ends=[2**63 - 1])
    assert (t.shape, t.requires) == ((N,), ())
    assert sl.prove_equal(t, X).verdict is sl.Verdict.PROVED


@pytest.mark.parametrize("step", [2**62, 2**63 - 1, 2**63, 10**30])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_step_beyond_every_axis_takes_one_element(step: int, sign: int) -> None:
    for key in (slice(None, None, sign * step), slice(1, 4, sign * step), slice(-1, 0, sign * step)):
        t = X[key]
        kernel = sl.compile(t, strict=True)
        for size in (0, 1, 5):
            a = np.arange(size)
            assert np.array_equal(sl.interpret(t, a), a[key])
            assert np.array_equal(kernel(a), a[key])
            assert np.array_equal(sl.interpret(sl.tensor((size,))[key], a), a[key])
