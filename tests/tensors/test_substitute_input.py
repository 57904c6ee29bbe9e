"""A chain continued by another is what NumPy computes of one after the other."""

from __future__ import annotations

import numpy as np
import pytest

import symlayout as sl
from symlayout.tensors.substitute_input import compose, demand_rank, demand_shape


def test_what_is_composed_computes_one_after_the_other() -> None:
    first = sl.transpose(sl.tensor("A, B", name="x"))
    then = sl.pad(sl.tensor("H, W", name="y"), 1)
    both = compose(first, then)
    x = np.arange(6).reshape(2, 3)
    assert np.array_equal(sl.interpret(both, x), np.pad(x.T, 1))
    assert [str(e) for e in both.shape] == ["B + 2", "A + 2"]


def test_an_extent_that_the_second_chain_divides_is_required_of_the_first() -> None:
    both = compose(sl.tensor("3*N", name="x"), sl.reshape(sl.tensor("M", name="y"), (2, -1)))
    assert sl.interpret(both, np.arange(6)).shape == (2, 3)
    assert [str(r) for r in both.requires] == ["Eq(Mod(N, 2), 0)"]
    with pytest.raises(sl.ShapeError) as caught:
        both.subs({"N": 3})
    assert caught.value.kind == "size_mismatch"


def test_an_input_is_named_where_there_are_several() -> None:
    a, b = sl.tensor("N", name="a"), sl.tensor("N", name="b")
    joined = sl.concatenate([a, b])
    with pytest.raises(sl.ShapeError) as caught:
        compose(sl.tensor("N", name="x"), joined)
    assert caught.value.kind == "source"
    flipped = compose(sl.flip(sl.tensor("N", name="x")), joined, "b")
    assert np.array_equal(sl.interpret(flipped, a=np.arange(3), x=np.arange(3)), [0, 1, 2, 2, 1, 0])


def test_another_rank_or_extent_is_refused() -> None:
    with pytest.raises(sl.ShapeError) as caught:
        demand_rank(sl.tensor("N"), sl.tensor("N, M"))
    assert caught.value.kind == "rank"
    with pytest.raises(sl.ShapeError) as caught:
        demand_shape(sl.tensor((2,)), sl.tensor((3,)))
    assert caught.value.kind == "size_mismatch"
    x = sl.tensor("N", name="x")
    assert demand_shape(x, x) is x
