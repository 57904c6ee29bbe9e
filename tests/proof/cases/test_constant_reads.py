"""A read is a constant if no input determines it: a fill, a constant, and functions and folds of those."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof.cases.constant_reads import ConstantReads
from symlayout.proof.cases.read_element import read_element
from symlayout.tensors.chain import Tensor


def constant(y: Tensor, *coords: int) -> Any:
    """Return the constant that *y* is at a coordinate, or None."""
    facts = y.facts.fork()
    facts.splits = {}
    read = partial(read_element, side=0, limit=10**6, shown=True)
    return ConstantReads(read, itertools.count(1000)).element(read(y, coords, facts), facts)


X = sl.tensor("N, 3", dtype="float32", name="x")
BORDERED = sl.pad(X, ((1, 1), (0, 0)), constant_values=2.0)
CASES = {
    "a fill": (BORDERED, 2.0),
    "a constant of equal elements": (sl.constant(np.full((2, 3), 5.0, np.float32)), 5.0),
    "a function of a fill": (sl.onnx.exp(BORDERED), np.exp(np.float32(2))),
    "a sum of as many fills as an axis has": (sl.onnx.reduce_sum(BORDERED, axes=[1], keepdims=0), None),
    "a maximum of fills": (sl.onnx.reduce_max(BORDERED, axes=[1], keepdims=0), 2.0),
    "an input": (X, None),
    "a function of an input": (sl.onnx.exp(X), None),
    "a maximum of a fill and of inputs": (sl.onnx.reduce_max(BORDERED, axes=[0], keepdims=0), None),
    "elements that differ": (sl.constant(np.arange(6, dtype=np.float32).reshape(2, 3)), None),
}


@pytest.mark.parametrize("name", CASES)
def test_the_first_element_is_that_constant(name: str) -> None:
    y, expected = CASES[name]
    found = constant(y, *[0] * y.rank)
    assert (found is None) == (expected is None)
    if expected is not None:
        assert found.item() == np.float32(expected)
        array = np.random.default_rng(0).random((2, 3), np.float32)
        assert sl.interpret(y, *[array for _ in y.arguments()]).flat[0] == np.float32(expected)
