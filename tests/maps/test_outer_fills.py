"""The printed map is the whole map: its text, evaluated at every coordinate, gives what the interpreter gives."""

from __future__ import annotations

import itertools
import random
import re
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.maps.outer_fills import outer_fills

N, M = sl.dims("N M")
A = sl.dim("a")
X = sl.tensor((N, 3), name="x")
Y = sl.tensor((M, 3), name="y")


def joined(*parts: sl.Tensor) -> sl.Tensor:
    return sl.concatenate(list(parts))


def padded(t: sl.Tensor, width: Any, fill: int) -> sl.Tensor:
    return sl.pad(t, ((width, width), (0, 0)), constant_values=fill)


CHAINS: dict[str, sl.Tensor] = {
    "a pad of a join": padded(joined(X, Y), 1, 7),
    "two pads of a join": padded(padded(joined(X, Y), 1, 7), 2, 8),
    "a join of a pad": joined(padded(X, 1, 7), Y),
    "a pad of a join of a pad": padded(joined(padded(X, 1, 7), Y), 1, 8),
    "a pad of a join of a pad of a join": padded(joined(padded(joined(X, Y), 1, 7), Y), A, 8),
    "a pad of a roll": padded(sl.roll(X, A, 0), 1, 7),
    "a join of a pad of a roll": joined(padded(sl.roll(X, A, 0), 1, 7), Y),
    "a pad of an edge pad": padded(sl.pad(X, ((1, 1), (2, 0)), mode="edge"), 1, 7),
    "a pad of a stack": sl.pad(sl.stack([X, X[::-1]]), 1, constant_values=7),
    "a pad of an interior pad": sl.pad(sl.pad(X, 1, constant_values=7, interior=1), 1, constant_values=8),
    "a slice of a pad of a join": padded(joined(X, Y), 2, 7)[1:],
}


def evaluated(text: str, shape: tuple[int, ...], sizes: dict[str, int], arrays: dict[str, Any]) -> list[Any]:
    """Return what the text of a map says of each coordinate, in row-major order; its parts may not overlap."""
    names, parts = text.split(" -> ", 1)
    axes = re.findall(r"\w+", names)
    only = next(iter(arrays.values()))

    def read(array: Any) -> Any:
        return lambda *i: (
            array[i] if all(0 <= k < n for k, n in zip(i, array.shape, strict=True)) else pytest.fail(text)
        )

    scope: dict[str, Any] = {name: read(a) for name, a in arrays.items()} | {"only": read(only), "max": max, "min": min}
    results = []
    for at in itertools.product(*(range(n) for n in shape)):
        values = scope | sizes | dict(zip(axes, at, strict=True))
        found, rest = [], []
        for part in parts.split("; "):
            element, _, condition = part.partition(" where ")
            element = re.sub(r"^\((?=.*,)", "only(", element)
            if element.endswith(" elsewhere"):
                rest.append(element.removesuffix(" elsewhere"))
            elif not condition or eval(condition, {}, values):
                found.append(element)
        assert len(found) <= 1, (text, at)
        results.append(eval((found or rest)[0], {}, values))
    return results


@pytest.mark.parametrize("name", CHAINS)
def test_the_text_is_the_whole_map(name: str) -> None:
    t = CHAINS[name]
    for n, m, a in ((3, 2, 1), (1, 4, 2), (2, 0, 0)):
        values = {"N": n, "M": m, "a": a}
        arrays = {"x": np.arange(3 * n).reshape(n, 3), "y": -np.arange(3 * m).reshape(m, 3) - 1}
        given = {leaf.name: arrays[leaf.name] for leaf in t.leaves()}
        dims = {d: values[d] for d in t.facts.dims}
        expected = sl.interpret(t, dims=dims, **given)
        assert evaluated(str(t.index_map), expected.shape, dims, given) == expected.ravel().tolist()


@pytest.mark.parametrize("seed", range(25))
def test_the_text_of_a_random_chain_is_the_whole_map(seed: int) -> None:
    rng = random.Random(seed)
    t = rng.choice((X, Y))
    for step in range(rng.randint(2, 5)):
        t = rng.choice(
            (
                lambda t=t, step=step: padded(t, rng.randint(0, 2), 90 + step),
                lambda t=t: joined(t, rng.choice((X, Y, t))),
                lambda t=t: joined(sl.full((1, 3), 80), t),
                lambda t=t: t[::-1],
                lambda t=t: t[1:],
            )
        )()
    values = {"N": 2, "M": 3}
    arrays = {"x": np.arange(6).reshape(2, 3), "y": -np.arange(9).reshape(3, 3) - 1}
    given = {leaf.name: arrays[leaf.name] for leaf in t.leaves()}
    dims = {d: values[d] for d in t.facts.dims}
    expected = sl.interpret(t, dims=dims, **given)
    assert evaluated(str(t.index_map), expected.shape, dims, given) == expected.ravel().tolist(), t.index_map


def test_a_fill_of_all_cases_stands_once() -> None:
    t = CHAINS["a pad of a join"]
    assert str(t.index_map) == (
        "(i0, i1) -> x(i0 - 1, i1) where 0 <= i0 - 1 < N; y(i0 - N - 1, i1) where 0 <= i0 - N - 1 < M; 7 elsewhere"
    )
    assert t.index_map.latex().endswith(r"7 & \text{otherwise}\end{cases}")
    assert str(t.index_map.guard) == "(i0 - 1 >= 0) & (i0 - 1 < M + N)"
    pieces, fills = outer_fills(t, t.index_map.pieces)
    assert [len(piece.guards) for piece in pieces] == [0, 0]
    assert [len(outer.guards) for outer in fills] == [1]
    assert outer_fills(X, X.index_map.pieces) == (X.index_map.pieces, [])
