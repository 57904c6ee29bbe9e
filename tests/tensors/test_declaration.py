"""A declaration means the same whatever numbers its coordinates are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import sympy

import symlayout as sl

X = sl.tensor((2, 4, 6, 4), name="x")
CASES = {
    "transpose": sl.transpose(X, (0, 3, 1, 2)),
    "reshape": sl.reshape(X, (8, 3, 8)),
    "flip": sl.flip(X, (1, 3)),
    "pad": sl.pad(X, [(0, 1), (2, 0), (0, 0), (1, 1)]),
    "slice": X[:, 1:, ::-2, 3],
    "space_to_batch": sl.space_to_batch(X, [2, 3], [[1, 1], [0, 3]]),
    "batch_to_space": sl.batch_to_space(X, [2], [[1, 0]]),
    "space_to_depth": sl.space_to_depth(X, 2, depth_axis=3),
    "space_to_depth, depth first": sl.space_to_depth(X, [2, 3], "depth_first", depth_axis=3),
    "depth_to_space": sl.depth_to_space(X, 2, depth_axis=1, spatial_axes=[2]),
}


@pytest.mark.sample(9)
@pytest.mark.parametrize("name", CASES)
def test_sympy_and_the_normal_form_agree_on_a_declared_map(name: str) -> None:
    t = CASES[name]
    assert t.declared is not None
    (case,) = t.declared.cases
    symbols = sympy.symbols([f"i{k}" for k in range(t.rank)], integer=True, nonnegative=True)
    declared = [sympy.sympify(c) for c in case.coords(*symbols)]
    coordinates = list(itertools.product(*(range(int(n)) for n in t.shape)))
    rng = np.random.default_rng(0)
    for at in rng.permutation(len(coordinates))[:40]:
        values = dict(zip(symbols, coordinates[at], strict=True))
        read = [int(c.subs(values)) for c in declared]
        inside = all(0 <= c < n for c, n in zip(read, X.shape, strict=True))
        printed = dict(zip(t.index_map.indices, coordinates[at], strict=True))
        assert bool(sympy.sympify(t.index_map.guard).subs(printed)) == inside
        if inside:
            assert [int(sympy.sympify(c).subs(printed)) for c in t.index_map.coords] == read
