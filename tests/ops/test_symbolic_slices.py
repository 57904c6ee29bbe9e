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


def _clamped(n: int, start: int | None, stop: int | None, step: int) -> slice:
    """Return the slice of ONNX and OpenVINO: as NumPy's, but a falling start before the axis is its first element."""
    return slice(-n if step < 0 and start is not None and start < -n else start, stop, step)


CLAMPED = {
    "a start that is never positive": slice(-P, None),
    "a stop that is never positive": slice(None, -P),
    "a start before the end": slice(-P - 1, -1),
    "up to a size": slice(0, P),
    "from a size to a size": slice(P, Q),
    "of any sign": slice(A, B, 2),
    "of any sign, down": slice(A, B, -1),
    "down from a size": slice(P - 1, -Q - 1, -2),
}


@pytest.mark.parametrize("name", CLAMPED)
@pytest.mark.parametrize("extent", [N, 3])
def test_symbolic_bounds_clamp_in_models(name: str, extent: Any) -> None:
    """As in ONNX and OpenVINO, where a slice is there for all bounds."""
    key = CLAMPED[name]
    t = sl.getitem(sl.tensor((extent,), name="x"), (key,), bounds="clamp_start")
    assert t.requires == ()
    used = [d for d in (P, Q, A, B) if any(d in getattr(e, "free_symbols", ()) for e in _parts(key))]
    values = {P: range(5), Q: range(5), A: range(-5, 6, 2), B: range(-6, 7, 3)}
    for n in (0, 1, 3) if extent is N else (3,):
        data = np.arange(n)
        for at in itertools.product(*(values[d] for d in used)):
            dims = dict(zip(used, at, strict=True))
            start, stop, step = (int(e.subs(dims)) if hasattr(e, "subs") else e for e in _parts(key))
            expected = data[_clamped(n, start, stop, step or 1)]
            assert sl.interpret(t, data, dims=dims).tolist() == expected.tolist(), (n, dims)


@pytest.mark.parametrize(
    ("extent", "key", "shape"),
    [
        (10, slice(0, P), "(Min(10, p),)"),
        (P + 3, slice(0, P), "(p,)"),
        (P + Q, slice(P, P + Q), "(q,)"),
        (P + 1, slice(-P - 1, -1), "(p,)"),
        (N, slice(-1, -P - 1, -1), "(Min(N, p),)"),
    ],
)
def test_a_clamp_that_is_idle_is_not_there(extent: Any, key: slice, shape: str) -> None:
    t = sl.getitem(sl.tensor((extent,), name="x"), (key,), bounds="clamp_start")
    assert (str(t.shape), t.requires) == (shape, ())


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
