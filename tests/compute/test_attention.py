"""The scores that ONNX's Attention gives beside its result, by NumPy as the standard's text says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symlayout as sl


@pytest.mark.parametrize("mode", range(4))
def test_the_scores_are_those_of_the_mode(mode: int) -> None:
    random = np.random.default_rng(0)
    q, k, v = (random.normal(size=(1, 2, 3, 4)).astype(np.float32) for _ in range(3))
    mask = random.normal(size=(3, 3)).astype(np.float32)
    raw = (q / 2) @ k.swapaxes(-1, -2)
    capped = 2 * np.tanh(raw / 2)
    exponentials = np.exp(capped + mask)
    expected = (raw, capped, capped + mask, exponentials / exponentials.sum(-1, keepdims=True))[mode]
    names = [sl.tensor(a.shape, "float32", name) for name, a in (("q", q), ("k", k), ("v", v), ("mask", mask))]
    scores = sl.onnx.attention(*names, softcap=2.0, qk_matmul_output_mode=mode, outputs=4)[3]
    given: dict[str, Any] = {t.name: a for t, a in zip(names, (q, k, v, mask), strict=True) if t in scores.arguments()}
    np.testing.assert_allclose(sl.interpret(scores, **given), expected, 1e-5, 1e-6)
