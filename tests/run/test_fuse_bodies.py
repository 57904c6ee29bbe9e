"""A kernel computes the bodies that have steps, and reads the rest; the way to the output has one reduction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.compute.trace import BodyTrace, UntraceableError
from symlayout.run.fuse_bodies import MOST_STEPS, Fusion, call_body
from symlayout.tensors.chain import Tensor

X = sl.tensor("N, C", dtype="float32", name="x")
TYPES = {"x": np.dtype("float32")}


def computed(t: Tensor) -> list[str]:
    fusion = Fusion(t, TYPES)
    return [leaf.name for leaf in t.graph() if leaf.body is not None and fusion.computes(leaf)]


def test_bodies_with_movement_between_them_are_one_kernel_of_the_input() -> None:
    t = sl.onnx.relu(sl.transpose(sl.onnx.add(X, X)))
    fusion = Fusion(t, TYPES)
    assert fusion.fuses
    assert [leaf.name for leaf in fusion.sources()] == ["x"]
    assert fusion.view_type(t) == np.float32
    assert len(computed(t)) == 2


def test_of_two_reductions_after_each_other_the_later_one_reads_a_source() -> None:
    inner = sl.onnx.reduce_sum(X, axes=[1], keepdims=0)
    outer = sl.onnx.reduce_max(sl.onnx.relu(inner), axes=[0], keepdims=0)
    fusion = Fusion(outer, TYPES)
    assert fusion.computes(inner.leaves()[0])
    assert not fusion.computes(outer.leaves()[0])
    assert not fusion.fuses


def test_a_value_that_is_stopped_is_a_source() -> None:
    inner = sl.onnx.add(X, X)
    t = sl.onnx.relu(inner)
    fusion = Fusion(t, TYPES)
    before = [leaf.name for leaf in fusion.sources()]
    (leaf,) = inner.leaves()
    fusion.stop(leaf)
    assert before == ["x"]
    assert fusion.sources() == [leaf]


def test_inputs_are_sources_in_the_order_of_the_arguments() -> None:
    z = sl.tensor("N, C", dtype="float32", name="z")
    held = sl.constant(np.ones(3, np.float32))
    t = sl.concatenate([sl.onnx.add(z, X), sl.onnx.relu(sl.reshape(held, (1, 3)))], 0)
    found = Fusion(t, {**TYPES, "z": np.dtype("float32")}).sources()
    assert [leaf.name for leaf in found[:2]] == [leaf.name for leaf in t.arguments()] == ["z", "x"]
    assert found[2].values is not None


def test_an_input_without_a_type_is_an_error() -> None:
    x = sl.tensor("N", name="x")
    with pytest.raises(sl.InconclusiveError, match="the element type of x is known"):
        Fusion(x, {}).type_of(x)


def test_a_body_with_too_many_steps_is_not_traced() -> None:
    def long(a: Any) -> Any:
        for _ in range(MOST_STEPS + 1):
            a = a + a
        return a

    t = sl.compute(sl.Body("long", long), [X], batch=2)
    (node,) = t.leaves()
    trace = BodyTrace()
    with pytest.raises(UntraceableError, match="more than 256 steps"):
        call_body(trace, node, [trace.load(0, np.dtype("float32"), reduced=False)])
    assert computed(t) == []
