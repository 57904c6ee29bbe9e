"""What OpenVINO answers: its CPU plugin on known shapes, its shape inference on intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import openvino
from openvino import opset13
from openvino.utils.node_factory import NodeFactory

from tests.peers.case import Array, Case
from tests.peers.worker import Intervals

SETTINGS = {"special_zero", "pad_mode", "mode", "group", "num_splits", "block_size"}
ABSORBED = 2**50  # a greater limit is what division has left of infinity
CORE = openvino.Core()
FACTORY = NodeFactory("opset13")


def results(case: Case) -> list[Array]:
    """Return the arrays that a compiled model makes."""
    data = [opset13.parameter(shape, np.dtype(case.dtype)) for shape in case.shapes]
    node = _node(case, data)
    found = CORE.compile_model(openvino.Model(list(node.outputs()), data), "CPU")(case.arrays())
    return [np.array(found[k]) for k in range(len(node.outputs()))]


def extents(case: Case) -> list[Intervals | None]:
    """Return the partial shapes of the node's outputs."""
    shapes = [openvino.PartialShape([_dimension(e) for e in entries]) for entries in case.known]
    node = _node(case, [opset13.parameter(shape, np.dtype(case.dtype)) for shape in shapes])
    return [_intervals(output.get_partial_shape()) for output in node.outputs()]


def _node(case: Case, data: list[Any]) -> Any:
    title = case.op.partition(":")[2].partition("-")[0]
    own = SETTINGS | ({"axis"} if title in ("Concat", "ShuffleChannels") else set())
    inputs = [opset13.constant(_array(k, v, case)).output(0) for k, v in case.attributes.items() if k not in own]
    settings = {k: v for k, v in case.attributes.items() if k in own}
    return FACTORY.create(title, [x.output(0) for x in data] + inputs, settings)


def _array(name: str, value: Any, case: Case) -> Array:
    if name == "pad_value":
        return np.asarray(value, case.dtype)
    array = np.asarray(value)
    return array.astype(np.int64) if array.dtype.kind == "i" or array.size == 0 else array


def _dimension(entry: Any) -> Any:
    low, high = entry if isinstance(entry, tuple) else (entry, entry)
    return openvino.Dimension(low, -1 if high is None else high)


def _intervals(shape: Any) -> Intervals | None:
    if shape.rank.is_dynamic:
        return None
    found: Intervals = []
    for k in range(shape.rank.get_length()):
        dimension = shape.get_dimension(k)
        high = dimension.get_max_length()
        found.append((dimension.get_min_length(), None if high < 0 or high > ABSORBED else high))
    return found
