"""The evaluation of a graph notes where its values show dims, and what they demand."""

from __future__ import annotations

import numpy as np

import symlayout as sl
from symlayout.models.evaluate_graph import Evaluation
from symlayout.tensors.chain import Tensor


def test_requirements_are_noted_of_values_whose_facts_are_at_the_place_of_facts_that_are_gone() -> None:
    evaluation = Evaluation({})
    for k in range(200):  # as values of bodies that are evaluated: their memory is used again
        dim = sl.dim(f"d{k}")
        evaluation.define(f"v{k}", sl.reshape(sl.tensor((dim,), name="x"), (2, dim / 2)))
        evaluation.values.clear()
        assert len(evaluation.demands[f"v{k}"]) == 1


def test_dims_are_noted_of_each_value_where_facts_are_shared() -> None:
    dim, other = sl.dims("d e")
    first = sl.tensor((dim * other,), name="x")
    second = Tensor("y", None, sl.tensor((dim,), name="y").extents, first.facts, key="y")
    evaluation = Evaluation({})
    evaluation.define("first", first)
    evaluation.define("second", second)
    assert evaluation.tensor(np.array([dim], object)).shape == (1,)
