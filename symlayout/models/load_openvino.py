"""Read a model in OpenVINO's intermediate representation: from its layers to its values as tensors."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from symlayout import frontends
from symlayout.deadlines import at_phase, check_time
from symlayout.errors import FormatError, shortened
from symlayout.frontends.onnx.types import cast_to
from symlayout.models import openvino_ir
from symlayout.models.apply_node import Constant, identifier
from symlayout.models.arithmetic.shape_arithmetic import exact_target, is_shape_node, required, settled
from symlayout.models.evaluate_graph import Evaluation
from symlayout.models.formats.node_values import (
    FormatNode,
    Stated,
    declared_values,
    node_values,
    of_stated_type,
    opaque_values,
)
from symlayout.models.known_dims import KnownDims
from symlayout.models.model import Items, Model, ModelNode, Tensors, Unshaped, Value
from symlayout.models.model_file import MAX_CONSTANT, MAX_RANK
from symlayout.models.openvino_ir import IRGraph, Layer, Port
from symlayout.tensors.chain import Tensor
from symlayout.tensors.input_tensor import tensor

# Operations that compute shapes, with ONNX's names for them.
_SHAPE_LAYERS = {
    "ShapeOf": "Shape", "Gather": "Gather", "Add": "Add", "Subtract": "Sub", "Multiply": "Mul", "Divide": "Div",
    "FloorMod": "Mod", "Minimum": "Min", "Maximum": "Max", "Equal": "Equal", "Select": "Where", "Convert": "Cast",
    "Range": "Range", "ReduceProd": "ReduceProd",
}  # fmt: skip

# Operations between these that move elements.
_MOVES = (
    "Concat", "Unsqueeze", "Squeeze", "Reshape", "Slice", "StridedSlice", "Split", "Transpose", "Broadcast", "Tile",
)  # fmt: skip

_COUNT = itertools.count()  # tells values apart that are equal to no other
_RANDOM = ("RandomUniform", "Multinomial")

# Operations whose result has the shape of an input of the same rank.
_SAME_SHAPE = frozenset([
    "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BatchNormInference", "Ceiling", "Clamp", "Convert",
    "ConvertLike", "Cos", "Cosh", "CumSum", "Elu", "Erf", "Exp", "FakeQuantize", "Floor", "Gelu", "GRN", "HSigmoid",
    "HSwish", "HardSigmoid", "IsFinite", "IsInf", "IsNaN", "Log", "LogSoftmax", "LogicalNot", "MVN", "Mish",
    "Negative", "NormalizeL2", "PRelu", "ReLU", "Round", "Selu", "Sigmoid", "Sign", "Sin", "Sinh", "SoftPlus",
    "SoftSign", "Softmax", "Sqrt", "Swish", "Tan", "Tanh", "ReverseSequence", "GroupNormalization", "BitwiseNot",
])  # fmt: skip


def read_openvino(file: Path, known: KnownDims) -> Model:
    """Return the model in the IR *file*, an ``.xml`` with its ``.bin`` beside it (see `symlayout.read_model`)."""
    graph = openvino_ir.read(file)
    constants = graph.constants()
    evaluation = settled(lambda exact: _evaluated(graph, constants, exact, known), len(graph.layers))
    outputs: dict[str, Tensor | Unshaped] = {}
    for result in graph.results:
        if len(result.inputs) != 1:
            raise FormatError(f"a result is one value\n  in: {result}")
        port = result.inputs[0]
        name, value = evaluation.stated[port], evaluation.shown(evaluation.values[evaluation.names[port]])
        if outputs.setdefault(name, value) is not value:
            raise FormatError(f"two outputs are called {shortened(name)!r}\n  in: {result}")
    inputs = {name: evaluation.shown(evaluation.values[name], name) for name in evaluation.inputs}
    tensors = Tensors(evaluation.values, evaluation.shown)
    nodes = tuple(evaluation.nodes)
    return Model(
        file,
        "OpenVINO IR",
        inputs,
        outputs,
        tensors,
        nodes,
        graph,
        evaluation.demands,
        demanded_by=evaluation.demanded_by,
        partial=evaluation.partial,
        assumed=evaluation.assumed,
    )


class OpenVINOEvaluation(Evaluation):
    """The values of an IR.  A port has the name of its tensor; a name that stands twice gets the layer's number."""

    def __init__(self, exact: Collection[Any], nodes: int = 0) -> None:
        super().__init__({}, exact, nodes)
        self.exact = set(exact)
        self.names: dict[Port, str] = {}
        self.stated: dict[Port, str] = {}
        self.inputs: list[str] = []
        self.nodes: list[ModelNode] = []
        self.digests: dict[Port, str] = {}

    def name(self, layer: Layer, number: int) -> str:
        """Return the name of an output of *layer*, and keep it."""
        stated = _name(layer, number)
        name = stated if stated not in self.values else f"{stated}:{layer.id}.{number}"
        self.names[Port(layer.id, number)], self.stated[Port(layer.id, number)] = name, stated
        return name

    def digest(self, layer: Layer, constant: np.ndarray[Any, Any] | None) -> None:
        """Keep text for each output that two values share only if they are equal."""
        parts = [layer.type, str(layer.opset), repr(sorted(layer.attributes.items()))]
        if constant is not None:
            elements = hashlib.sha256(constant.tobytes()).hexdigest() if constant.size <= MAX_CONSTANT else ""
            parts = [f"{constant.dtype} {constant.shape} {elements or next(_COUNT)}"]
        if layer.type == "Parameter":
            parts = [f"input {_name(layer, 0)}"]
        if layer.type in _RANDOM:
            parts.append(f"{id(self)}.{next(_COUNT)}")
        text = "\n".join([*parts, *(self.digests[port] for port in layer.inputs)])
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        for k in range(len(layer.tensor_names)):
            self.digests[Port(layer.id, k)] = f"{digest}.{k}"


def _evaluated(
    graph: IRGraph, constants: Mapping[int, Constant], exact: Collection[Any], known: KnownDims
) -> tuple[OpenVINOEvaluation, set[Any]]:
    """Return the values of the graph, and the rounded quotients that some layer requires to be exact.

    *exact* holds the quotients already known to be exact, from an earlier evaluation; earlier layers use them, too.
    """
    evaluation = OpenVINOEvaluation(exact, len(graph.layers))
    leaves: set[str] = set()
    for k, layer in enumerate(graph.layers):
        check_time()
        at_phase("read", k, len(graph.layers))
        inputs: list[Value] = [evaluation.values[evaluation.names[port]] for port in layer.inputs]
        if layer.type == "Reshape" and len(inputs) == 2:
            target, quotients = exact_target(*inputs)  # type: ignore[arg-type]
            inputs = [inputs[0], inputs[1] if target is None else target]
            evaluation.exact |= quotients
        read = tuple(evaluation.names[port] for port in layer.inputs)
        constant = None
        if layer.type == "Result":
            continue
        if layer.type == "Parameter":
            leaf = _parameter(layer, identifier(_name(layer, 0), leaves))
            if isinstance(leaf, Tensor):
                leaf = required(known.of_leaf(leaf), exact)
                evaluation.shapes.leaf_dims.append(set(leaf.facts.dims))
            results: Sequence[Value | None] = [leaf]
        elif layer.type == "Const":
            constant = constants[layer.id]
            results = [constant]
        else:
            results = []
        evaluation.digest(layer, constant)
        if not results:
            results = _computed(evaluation, layer, inputs)
        if len(results) != len(layer.tensor_names):
            ports = len(layer.tensor_names)
            raise FormatError(f"layer has {ports} outputs, its operation has {len(results)}\n  in: {layer}")
        written = []
        for k, value in enumerate(results):
            name = evaluation.name(layer, k)
            written.append(name)
            if layer.type != "Const":
                value = of_stated_type(value, openvino_ir.dtype_of(layer.stated[k][1]))
            evaluation.note_type(value, openvino_ir.dtype_of(layer.stated[k][1]))
            if value is not None:
                evaluation.define(name, value)
        if layer.type == "Parameter":
            evaluation.inputs.append(written[0])
        elif layer.type != "Const":
            version = layer.opset or 0
            evaluation.nodes.append(ModelNode(layer.name, layer.type, "openvino", read, tuple(written), version, layer))
    return evaluation, evaluation.exact | evaluation.shapes.supposed


def _node(evaluation: OpenVINOEvaluation, layer: Layer) -> FormatNode:
    """Return a layer as a node of any format."""
    stated: list[Stated] = []
    for extents, precision in layer.stated:
        known = precision and extents  # a port of unknown rank has no extents in the file, as one of rank 0 has none
        stated.append((extents if known else None, openvino_ir.dtype_of(precision)))
    return FormatNode(
        f"openvino:{layer.type}",
        str(layer),
        {name.replace("-", "_"): _attribute(text) for name, text in layer.attributes.items()},
        tuple(stated),
        arithmetic=_SHAPE_LAYERS.get(layer.type, ""),
        moves=layer.type in _MOVES,
        keeps_shape=layer.type in _SAME_SHAPE,
        random=layer.type in _RANDOM,
        key=(("version", layer.opset), *sorted(layer.attributes.items())),
        digest=evaluation.digests.get(Port(layer.id, 0), f"{id(evaluation)}.{layer.id}"),
    )


def _computed(evaluation: OpenVINOEvaluation, layer: Layer, inputs: list[Value]) -> Sequence[Value | None]:
    """Return the outputs of a layer that has inputs."""
    evaluation.partly = None
    node = _node(evaluation, layer)
    made = _by_declaration(evaluation, layer, node, inputs)
    return opaque_values(evaluation, node, inputs) if made is None else made


def _by_declaration(
    evaluation: OpenVINOEvaluation, layer: Layer, node: FormatNode, inputs: list[Value]
) -> Sequence[Value | None] | None:
    """Return the outputs by the operation's declaration; None if it has none, or does not take these inputs."""
    if any(isinstance(v, Unshaped | Items) for v in inputs):
        return None
    attributes = node.attributes
    node = replace(node, title=_operation(layer))
    if layer.type == "StridedSlice":  # which is TensorFlow's, with lists of 0 and 1 for its masks
        masks = {name: _mask(layer, name) for name in layer.attributes}
        node = replace(node, title="tensorflow:StridedSlice", attributes=masks)
    ends = evaluation.ends_of_range(inputs) if layer.type == "Range" else None
    if ends is not None and evaluation.counts_up(ends):
        counted = evaluation.range_of(inputs, ends)
        return [cast_to(counted, openvino_ir.element_type(layer, "output_type"))]
    kept: dict[str, Any] = {}
    operands = list(inputs)
    if layer.type == "Divide" and attributes.get("m_pythondiv", True):
        node = replace(node, arithmetic="FloorDiv")
    elif layer.type == "Convert":
        if len(inputs) == 1 and isinstance(value := inputs[0], np.ndarray) and value.dtype != object:
            converted = _converted(value, layer)
            return _convert(evaluation, layer, node, inputs) if converted is None else [converted]
        return _convert(evaluation, layer, node, inputs)
    elif layer.type == "ReduceProd":
        kept = {"keepdims": attributes.get("keep_dims", False)}
    elif layer.type == "Gather" and len(inputs) == 3:
        if attributes.get("batch_dims", 0) != 0:
            node = replace(node, arithmetic="")
        kept = {"axis": operands.pop()}
    return node_values(evaluation, node, inputs, operands, kept)


def _convert(
    evaluation: OpenVINOEvaluation, layer: Layer, node: FormatNode, inputs: list[Value]
) -> Sequence[Value | None] | None:
    """Return a conversion, with the numbers that floats stand for."""
    to = {"to": openvino_ir.element_type(layer, "destination_type")}
    if is_shape_node("Cast", inputs):  # type: ignore[arg-type]
        made = evaluation.shape_values("Cast", inputs, to, str(layer))
        if made is not None:
            return made
    results = declared_values(evaluation, node, inputs)
    if results is None:
        return None
    return evaluation.with_reals("Cast", inputs, to, list(results), str(layer))  # type: ignore[arg-type]


def _mask(layer: Layer, name: str) -> int:
    """Return a list of 0 and 1, one for each axis, as the integer with these bits, the first one the lowest."""
    digits = [digit.strip() for digit in layer.attribute(name).split(",")]
    if digits == [""]:
        return 0
    if len(digits) > MAX_RANK or not set(digits) <= {"0", "1"}:
        raise FormatError(f"{name} {shortened(layer.attribute(name), 40)!r} is no list of 0 and 1\n  in: {layer}")
    return sum(1 << k for k, digit in enumerate(digits) if digit == "1")


def _name(layer: Layer, number: int) -> str:
    """Return what an output of *layer* is called: by its first tensor name, else as the layer."""
    if number < len(layer.tensor_names) and layer.tensor_names[number]:
        return layer.tensor_names[number][0]
    return layer.name if len(layer.tensor_names) == 1 else f"{layer.name}.{number}"


def _parameter(layer: Layer, name: str) -> Tensor | Unshaped:
    """Return the leaf of a ``Parameter``."""
    shape, dtype = openvino_ir.parameter_shape(layer), openvino_ir.element_type(layer)
    return Unshaped(tensor((), dtype, name)) if shape is None else tensor(shape, dtype, name)


def _converted(value: Constant, layer: Layer) -> Constant | None:
    """Return an integer constant in another integer type; None if it has other elements there."""
    dtype = openvino_ir.element_type(layer, "destination_type")
    made = value.astype(dtype) if value.dtype.kind in "iu" and dtype.kind in "iu" else None
    if made is None or not np.array_equal(made, value):
        return None
    return made


def _operation(layer: Layer) -> str:
    """Return the name of the operation: its newest version when the operation set of *layer* was made."""
    catalogue = frontends.names()
    versions = [f"openvino:{layer.type}-{n}" for n in range(layer.opset or 0, 0, -1)]
    return next((name for name in versions if name in catalogue), f"openvino:{layer.type}")


def _attribute(text: str) -> Any:
    """Return text of the ``<data>`` element: numbers, lists of them and truth values as such, other text unchanged."""
    if text in ("true", "false"):
        return text == "true"
    entries = [entry.strip() for entry in text.split(",")]
    if all(re.fullmatch(r"-?[0-9]{1,19}", entry, re.ASCII) for entry in entries):
        numbers: tuple[Any, ...] = tuple(map(int, entries))
    elif all(re.fullmatch(r"-?([0-9.]{1,40}(e[-+]?[0-9]{1,4})?|inf)", entry, re.ASCII) for entry in entries):
        try:
            numbers = tuple(map(float, entries))
        except ValueError:
            return text
    else:
        return text
    return numbers if numbers[1:] else numbers[0]
