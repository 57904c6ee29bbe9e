"""Load a model in OpenVINO's intermediate representation: from its layers to its outputs as tensors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from symlayout import frontends, openvino_ir
from symlayout.errors import FormatError
from symlayout.layers import Constant, Value, apply_layer, identifier
from symlayout.openvino_ir import Layer, Port
from symlayout.tensor import Tensor, tensor


def load_openvino(file: Path) -> dict[str, Tensor]:
    """Return the outputs of the IR in *file*, an ``.xml`` with its ``.bin`` beside it: see `symlayout.load.load`."""
    graph = openvino_ir.read(file)
    names: dict[Port, str] = {}
    values: dict[Port, Value] = {}
    leaves: set[str] = set()
    for layer in graph.layers:
        inputs = [values[port] for port in layer.inputs]
        results: Sequence[Value]
        if layer.type == "Parameter":
            results = [_parameter(layer, identifier(_name(layer, 0), leaves))]
        elif layer.type == "Const":
            results = [graph.constant(layer)]
        elif layer.type == "Convert" and len(inputs) == 1 and isinstance(inputs[0], np.ndarray):
            results = [_converted(inputs[0], layer)]
        else:
            attributes = {name: _attribute(text) for name, text in layer.attributes.items()}
            results = apply_layer(_operation(layer), inputs, attributes, str(layer))
        if len(results) != len(layer.tensor_names):
            ports = len(layer.tensor_names)
            raise FormatError(f"layer has {ports} outputs, its operation has {len(results)}\n  in: {layer}")
        for k, value in enumerate(results):
            names[Port(layer.id, k)], values[Port(layer.id, k)] = _name(layer, k), value
    outputs: dict[str, Tensor] = {}
    for result in graph.results:
        name, value = _result(result, names, values)
        if outputs.setdefault(name, value) is not value:
            raise FormatError(f"two outputs are called {name[:80]!r}\n  in: {result}")
    return outputs


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
    """Return a truth value or an integer of the ``<data>`` element as such; other text as it is."""
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?[0-9]{1,19}", text, re.ASCII) else text
