"""ONNX's operators of signals have the values that NumPy computes, for symbolic lengths."""

from __future__ import annotations

import numpy as np
import pytest

import symlayout as sl
from symlayout.frontends.onnx import signals

RNG = np.random.default_rng(7)


@pytest.mark.parametrize("onesided", [0, 1])
def test_a_transform_is_that_of_numpy(onesided: int) -> None:
    y = signals.dft(sl.tensor("N, L, 1", "float32", name="x"), axis=1, onesided=onesided)
    x = RNG.random((2, 6, 1), np.float32)
    expected = (np.fft.rfft if onesided else np.fft.fft)(x[..., 0], axis=1)
    found = sl.interpret(y, x)
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], expected, rtol=1e-5, atol=1e-5)


def test_half_a_transform_has_real_numbers_only() -> None:
    with pytest.raises(sl.ShapeError, match="complex numbers"):
        signals.dft(sl.tensor("N, 6, 2"), axis=1, onesided=1)


@pytest.mark.parametrize(("window", "first"), [("hann_window", 0.5), ("hamming_window", 25 / 46)])
def test_a_window_is_a_cosine(window: str, first: float) -> None:
    found = sl.interpret(getattr(signals, window)(8, periodic=0))
    np.testing.assert_allclose(found, first - (1 - first) * np.cos(np.arange(8) * 2 * np.pi / 7), atol=1e-6)
