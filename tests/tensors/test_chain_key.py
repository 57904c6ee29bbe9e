"""Keys of chains: equal for chains made twice, different for whatever could make another map of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import symlayout as sl
from symlayout.tensors.chain_key import chain_key
from symlayout.tensors.stand_in import dims_between, dims_of, stand_in

CHAINS: list[Callable[[sl.Tensor], sl.Tensor]] = [
    lambda x: x,
    lambda x: sl.transpose(x, (0, 2, 1)),
    lambda x: sl.transpose(x, (1, 0, 2)),
    lambda x: sl.transpose(sl.transpose(x, (0, 2, 1)), (1, 0, 2)),
    lambda x: sl.flip(x, 1),
    lambda x: sl.flip(x, 2),
    lambda x: sl.pad(x, ((0, 0), (1, 0), (0, 0))),
    lambda x: sl.pad(x, ((0, 0), (1, 0), (0, 0)), constant_values=1.0),
    lambda x: sl.pad(x, ((0, 0), (1, 0), (0, 0)), constant_values=1),
    lambda x: sl.pad(x, ((0, 0), (1, 0), (0, 0)), constant_values=True),
    lambda x: sl.pad(x, ((0, 0), (1, 0), (0, 0)), constant_values=-0.0),
    lambda x: sl.concatenate([x, sl.flip(x, 1)], 0),
    lambda x: sl.concatenate([sl.flip(x, 1), x], 0),
    lambda x: sl.reshape(x, (-1,)),
    lambda x: sl.take(x, np.array([2, 0, 1]), 1),
    lambda x: sl.take(x, np.array([2, 1, 0]), 1),
]


@pytest.mark.parametrize("shape", ["N, 4, C", "2, 4, 3", "N, 4, 2*C"])
def test_keys_are_equal_for_equal_chains_only(shape: str) -> None:
    def keys(name: str) -> list[object]:
        x = sl.tensor(shape, name=name)
        return [chain_key(x, chain(x)) for chain in CHAINS]

    first, again = keys("x"), keys("y")
    assert first == again
    assert None not in first
    assert len(set(first)) == len(CHAINS)


def test_keys_have_the_shape_the_type_and_the_facts() -> None:
    sources = [
        sl.tensor("N, C", name="x"),
        sl.tensor("N, D", name="x"),
        sl.tensor("N, C", "float32", name="x"),
        sl.tensor((sl.dim("N", 1), sl.dim("C")), name="x"),
        sl.space_to_depth(sl.tensor("N, C, 4, 2", name="x"), 2)[:, :, 0, 0],
    ]
    assert len({chain_key(x, sl.transpose(x)) for x in sources}) == len(sources)


def test_a_stand_in_has_the_facts_of_its_own_dims_and_no_others() -> None:
    x = sl.space_to_depth(sl.tensor("N, H, W, C", name="x"), 2, depth_axis=3)
    assert dims_of(x) == {"N", "H", "W", "C"}
    cut = x[:, :, 0, :]  # no extent has W now
    assert dims_of(cut) == {"N", "H", "C"}
    assert dims_between(cut, sl.flip(cut, 1)) == {"N", "H", "C"}
    assert len(cut.facts.requirements) > len(stand_in(cut, dims_of(cut), "y").facts.requirements)
    leaf = stand_in(cut, dims_of(cut), "y")
    assert leaf.facts.dims.keys() == {"N", "H", "C"}
    assert leaf.shape == cut.shape
    assert [str(r) for r in leaf.requires] == ["Eq(Mod(H, 2), 0)"]


def test_dims_of_attributes_and_within_floors_are_mentioned() -> None:
    x = sl.tensor("N, C", name="x")
    k = sl.dim("K")
    assert dims_between(x, sl.roll(x, k, 1)) == {"N", "C", "K"}
    halves = x[:, ::2]
    assert dims_of(halves) == {"N", "C"}
    assert dims_of(halves[0]) == {"C"}


def test_slices_have_keys_by_their_bounds() -> None:
    x, y = sl.tensor("N, C", name="x"), sl.tensor("N, C", name="y")
    n, _ = x.shape
    cut = [(slice(1, None), slice(None)), (slice(1, None), slice(None, None, 2)), (slice(n, None), slice(None))]
    keys = [[chain_key(t, t[key]) for key in cut] for t in (x, y)]
    assert None not in keys[0]
    assert keys[0] == keys[1]
    assert len(set(keys[0])) == 3
