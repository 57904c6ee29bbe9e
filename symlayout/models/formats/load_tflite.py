"""Read a model of TensorFlow Lite: from its operators to its values as tensors."""

from __future__ import annotations

import hashlib
import inspect
import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from symlayout import frontends
from symlayout.deadlines import at_phase, check_time
from symlayout.errors import FormatError, shortened
from symlayout.frontends.tflite.along_axes import members
from symlayout.models.apply_node import identifier
from symlayout.models.arithmetic.shape_arithmetic import exact_target, required, settled
from symlayout.models.evaluate_graph import Evaluation
from symlayout.models.formats import tflite_graph
from symlayout.models.formats.node_values import (
    FormatNode,
    Stated,
    digest_of,
    node_values,
    of_stated_type,
    opaque_values,
)
from symlayout.models.formats.tflite_graph import OperatorRecord, TensorRecord, TFLiteGraph
from symlayout.models.known_dims import KnownDims
from symlayout.models.model import Model, ModelNode, Tensors, Unshaped, Value
from symlayout.models.model_file import MAX_CONSTANT
from symlayout.models.opaque import OutputType, opaque
from symlayout.tensors.chain import Tensor
from symlayout.tensors.input_tensor import tensor

_COUNT = itertools.count()  # tells values apart that are equal to no other


def read_tflite(file: Path, known: KnownDims) -> Model:
    """Return the model in the ``.tflite`` *file* (see `symlayout.read_model`)."""
    graph = tflite_graph.read(file)
    evaluation = settled(lambda exact: _evaluated(graph, exact, known), len(graph.operators))

    def ends(pairs: tuple[tuple[str, int], ...]) -> dict[str, Tensor | Unshaped]:
        return {name: evaluation.shown(evaluation.values[evaluation.names[n]], name) for name, n in pairs}

    return Model(
        file,
        "TFLite",
        ends(graph.inputs),
        ends(graph.outputs),
        Tensors(evaluation.values, evaluation.shown),
        tuple(evaluation.nodes),
        graph,
        evaluation.demands,
        demanded_by=evaluation.demanded_by,
        partial=evaluation.partial,
        assumed=evaluation.assumed,
    )


class TFLiteEvaluation(Evaluation):
    """The values of a graph.  An input has the name that callers use, another tensor its own; each name stands once."""

    def __init__(self, graph: TFLiteGraph, exact: Collection[Any]) -> None:
        super().__init__({}, exact, len(graph.operators))
        self.exact = set(exact)
        self.nodes: list[ModelNode] = []
        self.digests: dict[int, str] = {}
        self.names: dict[int, str] = {n: name for name, n in graph.inputs}
        taken = {*self.names.values()}
        for record in graph.tensors:
            if record.number not in self.names:
                name = record.name or f"tensor_{record.number}"
                name = name if name not in taken else f"{name}:{record.number}"
                while name in taken:
                    name += "'"
                taken.add(name)
                self.names[record.number] = name

    def set(self, record: TensorRecord, value: Value, digest: str) -> None:
        """Give a tensor its value, and text that two tensors share only if they are equal."""
        self.note_type(value, record.dtype)
        self.define(self.names[record.number], value)
        self.digests[record.number] = digest


def _evaluated(graph: TFLiteGraph, exact: Collection[Any], known: KnownDims) -> tuple[TFLiteEvaluation, set[Any]]:
    """Return the values of the graph, and the rounded quotients that some operator requires to be exact."""
    evaluation = TFLiteEvaluation(graph, exact)
    leaves: set[str] = set()
    for name, n in graph.inputs:
        record = graph.tensors[n]
        title = identifier(name, leaves)
        leaf: Tensor | Unshaped
        if record.extents is None:
            leaf = Unshaped(tensor((), record.dtype, title))
        else:
            leaf = required(known.of_leaf(tensor(list(record.extents), record.dtype, title)), exact)
            evaluation.shapes.leaf_dims.append(set(leaf.facts.dims))
        evaluation.set(record, leaf, f"input {name}")
    read = {n for operator in graph.operators for n in operator.inputs} | {n for _, n in graph.outputs}
    written = {n for operator in graph.operators for n in operator.outputs}
    for record in graph.tensors:
        if record.number in read and record.number not in evaluation.digests and record.number not in written:
            evaluation.set(record, *_stored(record, graph))
    for k, operator in enumerate(graph.operators):
        check_time()
        at_phase("read", k, len(graph.operators))
        for n in operator.inputs:  # a variable that an operator writes has a value before it, too
            if n != -1 and n not in evaluation.digests:
                evaluation.set(graph.tensors[n], *_stored(graph.tensors[n], graph))
        _apply(evaluation, graph, operator)
    return evaluation, evaluation.exact | evaluation.shapes.supposed


def _stored(record: TensorRecord, graph: TFLiteGraph) -> tuple[Value, str]:
    """Return a tensor whose elements are in the file, or that keeps a state, and its digest."""
    if record.constant is not None:
        array = record.constant
        elements = hashlib.sha256(array.tobytes()).hexdigest() if array.size <= MAX_CONSTANT else next(_COUNT)
        return array, f"{array.dtype} {array.shape} {elements}"
    if not record.unread and not record.is_variable:
        assert record.extents is not None
        shape = [0 if n is None else n for n in record.extents]
        if record.dtype is not None:
            return np.zeros(shape, record.dtype), f"{record.dtype} {shape} "
    identity = record.unread or f"{graph.digest} {record.number}"
    types = [OutputType(record.dtype, _known(record.extents))]
    key = (("elements", identity),)
    (made,) = opaque("tflite:stored", [], key, types, stem="stored", identity=identity, total=True)
    assert made is not None
    return made, identity


def _known(extents: tuple[int | None, ...] | None) -> tuple[int, ...] | None:
    return None if extents is None or None in extents else tuple(n for n in extents if n is not None)


def _apply(evaluation: TFLiteEvaluation, graph: TFLiteGraph, operator: OperatorRecord) -> None:
    """Give the outputs of an operator their values."""
    values = evaluation.values
    inputs = [None if n == -1 else values[evaluation.names[n]] for n in operator.inputs]
    records = [None if n == -1 else graph.tensors[n] for n in operator.inputs]
    node = _node(evaluation, graph, operator)
    made: Sequence[Value | None] | None = None
    evaluation.partly = None
    if operator.builtin is not None and _stands_for_itself(operator, graph):
        made = _declared(evaluation, operator, node, inputs, records)
    if made is None:
        made = opaque_values(evaluation, node, inputs)
    if len(made) != len(operator.outputs):
        raise FormatError(f"{operator} has {len(operator.outputs)} outputs, its operation has {len(made)}")
    for k, (n, value) in enumerate(zip(operator.outputs, made, strict=True)):
        record = graph.tensors[n]
        if isinstance(value, Tensor) and value.dtype is not None and record.dtype not in (None, value.dtype):
            raise FormatError(f"{operator} computes {value.dtype}, the file states {record.dtype} for its result")
        value = of_stated_type(value, record.dtype)
        assert value is not None
        evaluation.set(record, value, f"{node.digest}.{k}")
    names = [evaluation.names[n] if n != -1 else "" for n in operator.inputs]
    written = tuple(evaluation.names[n] for n in operator.outputs)
    name = next(iter(written), "")
    evaluation.nodes.append(ModelNode(name, operator.name, "tflite", tuple(names), written, operator.version, operator))


def _node(evaluation: TFLiteEvaluation, graph: TFLiteGraph, operator: OperatorRecord) -> FormatNode:
    outputs = [graph.tensors[n] for n in operator.outputs]
    levels = tuple(graph.tensors[n].levels for n in (*operator.inputs, *operator.outputs) if n != -1)
    key: tuple[tuple[str, Any], ...] = tuple(sorted(operator.attributes.items()))
    if operator.builtin is None:  # its options are not read
        key = (("options", operator.custom or f"{graph.digest} {operator.number}"),)
    key = (("version", operator.version), *key, *((("levels", levels),) if any(levels) else ()))
    stated: tuple[Stated, ...] = tuple((t.extents, t.dtype) for t in outputs)
    parts = [operator.name, repr(key), repr(stated), *(evaluation.digests.get(n, "") for n in operator.inputs)]
    if operator.is_random:
        parts.append(str(next(_COUNT)))
    builtin, fused = operator.builtin, operator.attributes.get("fused_activation_function", "NONE")
    return FormatNode(
        f"tflite:{operator.name}",
        str(operator),
        operator.attributes,
        stated,
        arithmetic=builtin.arithmetic if builtin is not None and fused == "NONE" else "",
        moves=builtin is not None and builtin.moves and fused == "NONE",
        random=operator.is_random,
        key=key,
        digest=digest_of(parts),
    )


def _stands_for_itself(operator: OperatorRecord, graph: TFLiteGraph) -> bool:
    """Return whether no operand is quantised, or the operation moves levels that are the same on both sides."""
    assert operator.builtin is not None
    tensors = [graph.tensors[n] for n in (*operator.inputs, *operator.outputs) if n != -1]
    levels = {t.levels for t in tensors if t.levels is not None}
    if not levels or operator.builtin.name == "DEQUANTIZE":
        return True
    first, *others = (graph.tensors[n].levels for n in (*_data(operator), *operator.outputs))
    return operator.builtin.levels and all(one == first for one in others) and first is not None and not first.scale[1:]


def _data(operator: OperatorRecord) -> tuple[int, ...]:
    """Return the inputs that have the elements: all of a joint operation, else the first one of the declaration."""
    assert operator.builtin is not None
    first = operator.builtin.order[0] if operator.builtin.order else 0
    joint = frontends.is_joint(f"tflite:{operator.name}")
    return tuple(n for n in (operator.inputs if joint else operator.inputs[first : first + 1]) if n != -1)


def _declared(
    evaluation: TFLiteEvaluation,
    operator: OperatorRecord,
    node: FormatNode,
    inputs: list[Value | None],
    records: list[TensorRecord | None],
) -> Sequence[Value | None] | None:
    """Return the outputs of an operator by its row; None if that does not take these inputs."""
    assert operator.builtin is not None
    if (order := operator.builtin.order) and len(inputs) > len(order):
        raise FormatError(f"{operator} has {len(inputs)} inputs, at most {len(order)} are known")
    attributes = dict(node.attributes)
    if order:
        inputs = [inputs[k] if k < len(inputs) else None for k in order]
    if not frontends.is_joint(node.title):
        parameters = list(inspect.signature(frontends.find(node.title)).parameters)
        for name in parameters[: len(inputs)]:
            attributes.pop(name, None)
    to = node.stated[0][1] if node.stated else None
    if operator.name == "CAST":
        if to is None:
            return None
        attributes["to"] = to.name
    elif operator.name == "DEQUANTIZE":
        if to != np.float32:
            return None
        attributes |= _levels(operator, records)
    elif operator.name == "RESHAPE" and len(inputs) == 2:
        target, quotients = exact_target(*inputs)  # type: ignore[arg-type]
        inputs = [inputs[0], inputs[1] if target is None else target]
        evaluation.exact |= quotients
    elif operator.name == "RANGE":
        ends = evaluation.ends_of_range(inputs)
        if ends is not None and evaluation.counts_up(ends):
            return [evaluation.range_of(inputs, ends)]
    elif (
        operator.name == "UNSORTED_SEGMENT_PROD" and (made := _products_of_sizes(evaluation, inputs, node)) is not None
    ):
        return made
    numbers, kept, arithmetic = _in_onnx(operator, node, inputs, to)
    node = replace(node, attributes=attributes, arithmetic=arithmetic)
    return node_values(evaluation, node, inputs, numbers, kept)


def _products_of_sizes(
    evaluation: TFLiteEvaluation, inputs: list[Value | None], node: FormatNode
) -> list[Value] | None:
    """Return the products of the sizes of each segment, as converters write a reshape; None for other numbers."""
    if len(inputs) != 3 or not evaluation.is_shape_node("ReduceProd", inputs):
        return None
    data, ids, count = inputs
    if not all(isinstance(v, np.ndarray) and v.dtype != object for v in (ids, count)):
        return None
    if not isinstance(data, np.ndarray) or not isinstance(ids, np.ndarray) or data.ndim != 1 or ids.shape != data.shape:
        return None
    found: list[Value] = []
    for places in members(ids, count):
        made = evaluation.shape_values("ReduceProd", [data[places]], {"keepdims": 0}, node.where)
        if made is None:
            return None
        found += made
    return evaluation.shape_values("tflite:PACK", found, {}, node.where) if found else None


def _in_onnx(
    operator: OperatorRecord, node: FormatNode, inputs: list[Value | None], to: Any
) -> tuple[list[Value | None], dict[str, Any], str]:
    """Return the inputs and attributes of arithmetic on shapes as ONNX's operation has them, and that operation."""
    given: Mapping[str, Any] = operator.attributes
    if node.arithmetic == "Gather":
        return inputs, {"axis": given["axis"]}, "" if given["batch_dims"] else "Gather"
    if node.arithmetic == "Cast":
        return inputs, {"to": to}, node.arithmetic
    if node.arithmetic == "ReduceProd":
        return inputs, {"keepdims": int(given["keep_dims"])}, node.arithmetic
    return inputs, {}, node.arithmetic


def _levels(operator: OperatorRecord, records: list[TensorRecord | None]) -> dict[str, Any]:
    """Return what the integers of a quantised tensor stand for, as attributes."""
    record = records[0] if records else None
    if record is None:
        raise FormatError(f"{operator} has no input")
    if (levels := record.levels) is None:
        if record.dtype is not None and record.dtype.kind in "iu":
            raise FormatError(f"{operator} reads integers that stand for no numbers: {shortened(record.name)!r}")
        return {}
    return {"scale": levels.scale, "zero_point": levels.zero_point, "axis": levels.axis}
