"""Random networks with transposes at random places: optimized, proved, run, optimized again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.optimize_models.spellings.nhwc_models import TO_NCHW, TO_NHWC, Network
from tests.optimize_models.test_layouts import carried

PERMS = (TO_NHWC, TO_NCHW, [0, 2, 1, 3], [0, 3, 2, 1], [2, 3, 0, 1])


def network(seed: int, steps: int = 20) -> onnx.ModelProto:
    """Return a random network of values with four axes, whose extents are tracked."""
    random = np.random.default_rng(seed)
    n = Network(opset=18)
    values: list[tuple[str, tuple[int | str, ...]]] = [("x", ("N", 4, 6, 8))]

    def pick() -> tuple[str, tuple[int | str, ...]]:
        return values[-1 - int(random.integers(min(3, len(values))) if random.integers(3) == 0 else 0)]

    def add(name: str, shape: tuple[int | str, ...]) -> None:
        values.append((name, shape))

    for _ in range(steps):
        x, shape = pick()
        axis = int(random.integers(4))
        known = [k for k in range(4) if isinstance(shape[k], int)]
        k = known[int(random.integers(len(known)))]
        extent = int(shape[k])
        kind = int(random.integers(13))
        if kind < 4:
            perm = PERMS[int(random.integers(2 if random.integers(3) else len(PERMS)))]
            add(n("Transpose", x, perm=perm), tuple(shape[j] for j in perm))
        elif kind == 4:
            add(n("Relu", x), shape)
        elif kind == 5:
            values_of = n.given(random.normal(size=[extent if j == k else 1 for j in range(k, 4)]))
            add(n(("Add", "Mul", "PRelu")[axis % 3], x, values_of), shape)
        elif kind == 6:
            add(n("Softmax", x, axis=k - 4 * (axis % 2)), shape)
        elif kind == 7:
            widths = [0] * 8
            widths[k], widths[k + 4] = 1, axis
            add(
                n("Pad", x, n.given(widths, np.int64)),
                tuple(extent + 1 + axis if j == k else e for j, e in enumerate(shape)),
            )
        elif kind == 8:
            given = [n.given([value], np.int64) for value in (1, 100, k)]
            add(n("Slice", x, *given), tuple(extent - 1 if j == k else e for j, e in enumerate(shape)))
        elif kind == 9:
            same = [name for name, s in values if s == shape]
            add(n("Add", x, same[int(random.integers(len(same)))]), shape)
        elif kind == 10:
            others = [
                (name, s)
                for name, s in values
                if all(a == b for j, (a, b) in enumerate(zip(s, shape, strict=True)) if j != k)
            ]
            other, s = others[int(random.integers(len(others)))]
            add(n("Concat", x, other, axis=k), tuple(extent + int(s[k]) if j == k else e for j, e in enumerate(shape)))
        elif kind == 11:
            m = n("ReduceMax", x, n.given([k], np.int64), keepdims=1)
            add(n("Sub", x, m), shape)
        elif shape[0] == "N" and isinstance(shape[1], int):
            add(n("Conv", x, n.weights(4, shape[1], 1, 1)), ("N", 4, *shape[2:]))
        if max(e for e in values[-1][1] if isinstance(e, int)) > 40:
            values.pop()
    return n.model(("N", 4, 6, 8), values[-1][0], 4)


SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 40))]


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("layout", [None, "NCHW"])
def test_random_networks_are_equal_and_move_no_more(tmp_path: Path, seed: int, layout: str | None) -> None:
    o = carried(tmp_path, network(seed), layout)
    if layout is None:
        assert o.report.after.at_most(o.report.before)
        assert [c for c in o.report.changes if c.reason] == []
