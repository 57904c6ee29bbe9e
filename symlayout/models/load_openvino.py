"""Load a model in OpenVINO's intermediate representation: from its layers to its outputs as tensors."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from symlayout import frontends
from symlayout.errors import FormatError
from symlayout.models import openvino_ir
from symlayout.models.apply_node import Constant, Value, apply_layer, identifier
from symlayout.models.model_file import MAX_RANK
from symlayout.models.openvino_ir import IRGraph, Layer, Port
from symlayout.models.shape_arithmetic import ShapeNodes, exact_target, is_shape_node, settled
from symlayout.tensors.chain import Tensor, tensor

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


def load_openvino(file: Path) -> dict[str, Tensor]:
    """Return the outputs of the IR in *file*, an ``.xml`` with its ``.bin`` beside it (see `symlayout.load`)."""
    graph = openvino_ir.read(file)
    names, values = settled(lambda exact: _evaluated(graph, exact))
    outputs: dict[str, Tensor] = {}
    for result in graph.results:
        name, value = _result(result, names, values)
        if outputs.setdefault(name, value) is not value:
            raise FormatError(f"two outputs are called {name[:80]!r}\n  in: {result}")
    return outputs


def _evaluated(graph: IRGraph, exact: Collection[Any]) -> tuple[tuple[dict[Port, str], dict[Port, Value]], set[Any]]:
    """Return the names and values of the graph, and the rounded quotients that some layer requires to be exact.

    *exact* holds the quotients already known to be exact, from an earlier evaluation; earlier layers use them, too.
    """
    names: dict[Port, str] = {}
    values: dict[Port, Value] = {}
    leaves: set[str] = set()
    shapes, found = ShapeNodes(exact), set(exact)
    for layer in graph.layers:
        inputs: list[Value] = [values[port] for port in layer.inputs]
        if layer.type == "Reshape" and len(inputs) == 2:
            target, quotients = exact_target(*inputs)
            inputs = [inputs[0], inputs[1] if target is None else target]
            found |= quotients
        if layer.type == "Parameter":
            results: Sequence[Value] = [_parameter(layer, identifier(_name(layer, 0), leaves))]
        elif layer.type == "Const":
            results = [graph.constant(layer)]
        else:
            results = _computed(layer, inputs, shapes)
        if len(results) != len(layer.tensor_names):
            ports = len(layer.tensor_names)
            raise FormatError(f"layer has {ports} outputs, its operation has {len(results)}\n  in: {layer}")
        for k, value in enumerate(results):
            names[Port(layer.id, k)], values[Port(layer.id, k)] = _name(layer, k), value
    return (names, values), found


def _computed(layer: Layer, inputs: list[Value], shapes: ShapeNodes) -> Sequence[Value]:
    """Return the outputs of a layer that has inputs."""
    attributes = {name: _attribute(text) for name, text in layer.attributes.items()}
    title = _operation(layer)
    if layer.type == "StridedSlice":  # which is TensorFlow's, with lists of 0 and 1 for its masks
        title, attributes = "tensorflow:StridedSlice", {name: _mask(layer, name) for name in layer.attributes}
    op = "FloorDiv" if layer.type == "Divide" and attributes.get("m_pythondiv", True) else _SHAPE_LAYERS.get(layer.type)
    if op is None or not is_shape_node(op, inputs):
        if layer.type in _MOVES and inputs and is_shape_node("", inputs):
            return shapes.compute(title, inputs, attributes, str(layer))
        return apply_layer(title, inputs, attributes, str(layer))
    kept: dict[str, Any] = {}
    if layer.type == "Convert":
        if len(inputs) == 1 and isinstance(value := inputs[0], np.ndarray) and value.dtype != object:
            return [_converted(value, layer)]
        kept = {"to": openvino_ir.element_type(layer, "destination_type")}
    elif layer.type == "ReduceProd":
        kept = {"keepdims": attributes.get("keep_dims", False)}
    elif layer.type == "Gather" and len(inputs) == 3:
        if attributes.get("batch_dims", 0) != 0:
            raise FormatError(f"values are gathered in batches\n  in: {layer}")
        kept = {"axis": inputs.pop()}
    return shapes.compute(op, inputs, kept, str(layer))


def _mask(layer: Layer, name: str) -> int:
    """Return a list of 0 and 1, one for each axis, as the integer with these bits, the first one the lowest."""
    digits = [digit.strip() for digit in layer.attribute(name).split(",")]
    if digits == [""]:
        return 0
    if len(digits) > MAX_RANK or not set(digits) <= {"0", "1"}:
        raise FormatError(f"{name} {layer.attribute(name)[:40]!r} is no list of 0 and 1\n  in: {layer}")
    return sum(1 << k for k, digit in enumerate(digits) if digit == "1")


def _name(layer: Layer, number: int) -> str:
    """Return what an output of *layer* is called: by its first tensor name, else as the layer."""
    if number < len(layer.tensor_names) and layer.tensor_names[number]:
        return layer.tensor_names[number][0]
    return layer.name if len(layer.tensor_names) == 1 else f"{layer.name}.{number}"


def _parameter(layer: Layer, name: str) -> Tensor:
    """Return the leaf of a ``Parameter``; ``unknown_rank`` if its shape has no rank."""
    return tensor(openvino_ir.parameter_shape(layer), openvino_ir.element_type(layer), name)


def _result(layer: Layer, names: dict[Port, str], values: dict[Port, Value]) -> tuple[str, Tensor]:
    sources = layer.inputs
    if len(sources) != 1 or not isinstance(value := values[sources[0]], Tensor):
        raise FormatError(f"a result is one tensor that is computed from an input\n  in: {layer}")
    return names[sources[0]], value


def _converted(value: Constant, layer: Layer) -> Constant:
    """Return an integer constant in another integer type, in which it has to fit."""
    dtype = openvino_ir.element_type(layer, "destination_type")
    made = value.astype(dtype) if value.dtype.kind in "iu" and dtype.kind in "iu" else None
    if made is None or not np.array_equal(made, value):
        raise FormatError(f"constant of {value.dtype} cannot be converted to {dtype} exactly\n  in: {layer}")
    return made


def _operation(layer: Layer) -> str:
    """Return the name of the operation: its newest version when the operation set of *layer* was made."""
    catalogue = frontends.names()
    versions = [f"openvino:{layer.type}-{n}" for n in range(layer.opset or 0, 0, -1)]
    return next((name for name in versions if name in catalogue), f"openvino:{layer.type}")


def _attribute(text: str) -> bool | int | str:
    """Return text of the ``<data>`` element: a truth value as a bool, an integer as an int, other text unchanged."""
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?[0-9]{1,19}", text, re.ASCII) else text
