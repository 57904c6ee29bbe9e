"""ONNX's operations on sequences of known length: they are done while the model is read."""

from __future__ import annotations

import numpy as np

from symlayout.models.evaluate_graph import Evaluation
from symlayout.models.model import Items, ModelNode, Value
from symlayout.tensors.chain import Tensor

_MAX_PARTS = 1024  # of a tensor that is split without sizes


def _sequence_construct(graph: Evaluation, node: ModelNode, inputs: list[Value | None]) -> list[Value] | None:
    return [Items(tuple(v for v in inputs if v is not None))]


def _sequence_empty(graph: Evaluation, node: ModelNode, inputs: list[Value | None]) -> list[Value] | None:
    return [Items(())]


def _sequence_insert(graph: Evaluation, node: ModelNode, inputs: list[Value | None]) -> list[Value] | None:
    sequence, value = inputs[0], inputs[1]
    if not isinstance(sequence, Items) or value is None:
        return None
    count = len(sequence.elements)
    end = np.array(count) if len(inputs) < 3 else inputs[2]
    at = _place(end, count, last=count)
    return None if at is None else [Items((*sequence.elements[:at], value, *sequence.elements[at:]))]


def _sequence_at(graph: Evaluation, node: ModelNode, inputs: list[Value | None]) -> list[Value] | None:
    sequence = inputs[0]
    if not isinstance(sequence, Items):
        return None
    at = _place(inputs[1], len(sequence.elements), last=len(sequence.elements) - 1)
    return None if at is None else [sequence.elements[at]]


def _sequence_length(graph: Evaluation, node: ModelNode, inputs: list[Value | None]) -> list[Value] | None:
    sequence = inputs[0]
    return [np.array(len(sequence.elements), np.int64)] if isinstance(sequence, Items) else None


def _split_to_sequence(graph: Evaluation, node: ModelNode, inputs: list[Value | None]) -> list[Value] | None:
    data, split = inputs[0], inputs[1] if len(inputs) > 1 else None
    axis = next((a.i for a in node.source.attribute if a.name == "axis"), 0)
    keepdims = next((a.i for a in node.source.attribute if a.name == "keepdims"), 1)
    if not isinstance(data, Tensor) or not -data.rank <= axis < data.rank:
        return None
    extent = data.shape[axis]
    if isinstance(split, np.ndarray) and split.ndim == 1:
        sizes = list(split)
    elif not isinstance(extent, int) or extent > _MAX_PARTS:
        return None
    elif split is None:
        sizes = [1] * extent
    elif isinstance(split, np.ndarray) and split.size == 1 and isinstance(split.item(), int) and split.item() > 0:
        step = split.item()
        sizes = [min(step, extent - start) for start in range(0, extent, step)]
    else:
        return None
    parts = graph.declared(["onnx:Split"], [data, np.array(sizes, object)], {"axis": axis}, str(node))
    if parts is not None and split is None and not keepdims:
        parts = [_one(graph.declared(["onnx:Squeeze"], [p, np.array([axis])], {}, str(node))) for p in parts]
    return None if parts is None else [Items(tuple(parts))]


def _concat_from_sequence(graph: Evaluation, node: ModelNode, inputs: list[Value | None]) -> list[Value] | None:
    sequence = inputs[0]
    axis = next((a.i for a in node.source.attribute if a.name == "axis"), 0)
    stacked = next((a.i for a in node.source.attribute if a.name == "new_axis"), 0)
    if not isinstance(sequence, Items) or not sequence.elements:
        return None
    parts: list[Value | None] = list(sequence.elements)
    if stacked:
        parts = [_one(graph.declared(["onnx:Unsqueeze"], [p, np.array([axis])], {}, str(node))) for p in parts]
    return graph.declared(["onnx:Concat"], parts, {"axis": axis}, str(node))


def _one(results: list[Value] | None) -> Value:
    assert results is not None
    return results[0]


def _place(value: Value | None, count: int, last: int) -> int | None:
    """Return the place among *count* elements that a node names, counted from the end if negative; None beyond *last*.

    None is also returned if the place is not one known number.
    """
    if not isinstance(value, np.ndarray) or value.size != 1 or not isinstance(at := value.item(), int):
        return None
    return at + count * (at < 0) if -count <= at <= last else None


SEQUENCES = {
    "SequenceConstruct": _sequence_construct,
    "SequenceEmpty": _sequence_empty,
    "SequenceInsert": _sequence_insert,
    "SequenceAt": _sequence_at,
    "SequenceLength": _sequence_length,
    "SplitToSequence": _split_to_sequence,
    "ConcatFromSequence": _concat_from_sequence,
}
"""The function for each operator: it takes the evaluation, the node and the inputs; None if the length is not known."""
