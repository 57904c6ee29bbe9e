"""An extent that is scaled by a float is known only where all runtimes compute the same one.

The extents of onnxruntime 1.32 and of `onnx.reference` (onnx 1.22) are written down: they multiply in float32 and in
float64.  OpenVINO's shapes are those of openvino 2026.3, whose scale is a little larger.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.frontends.scales import is_dyadic, rounded, same_places, scaled

H = sl.dim("H")


@pytest.mark.parametrize(
    ("n", "scale", "extents"),  # of onnxruntime, of onnx.reference, of OpenVINO
    [
        (10, 0.7, (7, 6, 7)),
        (5, 0.6, (3, 3, 3)),  # 0.6 is a little above in float32
        (20, 0.7, (14, 13, 14)),
        (10, 0.3, (3, 3, 3)),
        (9, 0.7, (6, 6, 6)),
        (0, 0.7, (0, 0, 0)),
        (47, 2 / 47, (1, 1, 2)),
        (61, 4 / 61, (3, 3, 4)),
        (100, 1 / 3, (33, 33, 33)),
        (3, 1 / 3, (1, 1, 1)),
        (7, 2.5, (17, 17, 17)),
        (224, 0.25, (56, 56, 56)),
    ],
)
def test_an_extent_is_known_where_runtimes_agree(n: int, scale: float, extents: tuple[int, int, int]) -> None:
    found = scaled(n, np.float32(scale))
    assert int(np.float32(n) * np.float32(scale)) == extents[0]
    assert int(n * float(np.float32(scale))) == extents[1]
    assert found == (extents[0] if len(set(extents)) == 1 else None)
    (low, high) = sl.onnx.resize(sl.tensor((n,), name="x"), scales=[np.float32(scale)]).bounds()[0]
    assert low == min(extents)
    assert high == max(extents)


def test_every_known_extent_is_that_of_float32_and_of_float64() -> None:
    rng = np.random.default_rng(0)
    for _ in range(3000):
        n = int(rng.integers(0, 4097))
        scale = np.float32(rng.choice([rng.uniform(0.01, 4), rng.integers(1, 40) / rng.integers(1, 40)]))
        near = {int(np.float32(n) * scale), int(n * float(scale)), int(np.floor(n * (float(scale) + 1e-6)))}
        assert scaled(n, scale) in {None, *near}
        assert len(near) == 1 or scaled(n, scale) is None or is_dyadic(Fraction(float(scale)))


@pytest.mark.parametrize(
    ("scale", "extent"),
    [(2.0, "2*H"), (0.5, "floor(H/2)"), (1.5, "H + floor(H/2)"), (3.0, "3*H"), (0.75, "floor(3*H/4)"), (0.7, None)],
)
def test_a_size_is_scaled_by_short_dyadic_fractions(scale: float, extent: str | None) -> None:
    y = sl.onnx.resize(sl.tensor((H, 4), name="x"), scales=[scale, 1.0])
    if extent is None:
        assert y.shape[0].free_symbols.isdisjoint({H})
        assert y.shape[1] == 4
    else:
        assert str(y.shape[0]) == extent


@pytest.mark.parametrize(
    ("n", "ratio", "extent"), [(2, Fraction(7, 4), 4), (4, Fraction(2, 3), 3), (9, Fraction(1, 6), None)]
)
def test_an_extent_that_is_rounded_is_known_away_from_halves(n: int, ratio: Fraction, extent: int | None) -> None:
    assert rounded(n, ratio) == extent


def _is_map(n: Any, extent: Any, **keywords: Any) -> bool:
    y = sl.onnx.resize(sl.tensor((n,), name="x"), sizes=[extent], **keywords)
    return all(node.body is None for node in y.graph())


def test_nearest_elements_are_a_map_where_float32_finds_the_same() -> None:
    floor = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    assert not same_places(14, 2, Fraction(1, 7), "asymmetric")  # 1 / float32(1/7) is 6.9999995: 6, not 7
    assert not _is_map(14, 2, **floor)
    assert _is_map(14, 28, **floor)
    assert _is_map(H, 2 * H, **floor)
    assert not _is_map(H, 5, **floor)
    for n in range(1, 40):
        for extent in range(1, 40):
            place = np.arange(extent, dtype=np.float32) / (np.float32(extent) / np.float32(n))
            exact = np.arange(extent) * n // extent
            same = bool(np.array_equal(np.floor(place), exact))
            assert same or not same_places(n, extent, Fraction(extent, n), "asymmetric")
