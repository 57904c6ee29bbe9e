"""Load a model: from a file to its outputs as tensors."""

from __future__ import annotations

import inspect
import itertools
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from symlayout import frontends, openvino_ir
from symlayout.errors import FormatError, SymlayoutError
from symlayout.openvino_ir import Layer
from symlayout.tensor import Tensor, tensor

_LONGEST_NAME = 80  # of a leaf: names in a file have no limit

Constant = np.ndarray[Any, Any]
Value = Tensor | Constant  # what a layer computes


def load(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    """Return the outputs of the model in *path* by name, each as a lazy tensor.

    Read is OpenVINO IR, an ``.xml`` with its ``.bin`` beside it.  An output is called as the tensor that it
    returns (the first in the alphabet, if that has several names), else as the layer that computes it.  An
    input's leaf is called alike, with ``_`` for each character that a name may not have.

    Raises
    ------
    FormatError
        If a file is malformed, too large, or of another format; if an input that must be constant, such as
        ``block_shape``, is computed; or if data is a constant.
    UnknownOpError
        If an output needs an operation that is not in the catalogue.
    ShapeError
        If shapes and attributes cannot belong together, as when the operation is applied directly.
    FileNotFoundError
        If the file, or the ``.bin`` that it needs, is not there.
    """
    file = Path(path)
    if file.suffix != ".xml":
        raise FormatError(f"{file.name[:80]!r} is no model that can be read\n  known: .xml, OpenVINO IR")
    graph = openvino_ir.read(file)
    names = {layer.id: _name(layer) for layer in graph.layers}
    values: dict[int, Value] = {}
    leaves: set[str] = set()
    for layer in graph.layers:
        inputs = [values[port.layer] for port in layer.inputs]
        if len(layer.tensor_names) != 1:
            raise FormatError(f"layer has {len(layer.tensor_names)} outputs, one is known\n  in: {layer}")
        if layer.type == "Parameter":
            values[layer.id] = _parameter(layer, _leaf_name(names[layer.id], leaves))
        elif layer.type == "Const":
            values[layer.id] = graph.constant(layer)
        elif layer.type == "Convert" and len(inputs) == 1 and isinstance(inputs[0], np.ndarray):
            values[layer.id] = _converted(inputs[0], layer)
        else:
            values[layer.id] = _applied(layer, inputs)
    outputs: dict[str, Tensor] = {}
    for result in graph.results:
        name, value = _result(result, names, values)
        if outputs.setdefault(name, value) is not value:
            raise FormatError(f"two outputs are called {name[:80]!r}\n  in: {result}")
    return outputs


def _name(layer: Layer) -> str:
    """Return what the output of *layer* is called: by its first tensor name, else as the layer."""
    return next((name for names in layer.tensor_names for name in names), layer.name)


def _leaf_name(name: str, taken: set[str]) -> str:
    """Return *name* as an identifier that is not in *taken*, and add it there."""
    stem = re.sub(r"\W", "_", name[:_LONGEST_NAME], flags=re.ASCII)
    stem = stem if stem.isidentifier() else f"_{stem}"
    made = next(n for n in itertools.chain([stem], (f"{stem}_{k}" for k in itertools.count(2))) if n not in taken)
    taken.add(made)
    return made


def _parameter(layer: Layer, name: str) -> Tensor:
    """Return the leaf of a ``Parameter``; ``unknown_rank`` if its shape has no rank."""
    return tensor(openvino_ir.parameter_shape(layer), openvino_ir.element_type(layer), name)


def _result(layer: Layer, names: dict[int, str], values: dict[int, Value]) -> tuple[str, Tensor]:
    sources = [port.layer for port in layer.inputs]
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


def _applied(layer: Layer, inputs: list[Value]) -> Tensor:
    """Return the operation of *layer* applied to its first input, the others being its attributes."""
    operation = _operation(layer)
    known = list(inspect.signature(operation).parameters)
    if not inputs or not isinstance(inputs[0], Tensor):
        raise FormatError(f"input {known[0]} is not computed from an input of the model\n  in: {layer}")
    for k, value in enumerate(inputs[1:], start=1):
        if isinstance(value, Tensor):
            name = known[k] if k < len(known) else k
            raise FormatError(f"input {name} is not a constant\n  in: {layer}")
    attributes = {name: _attribute(text) for name, text in layer.attributes.items()}
    try:
        result: Tensor = operation(*inputs, **attributes)
    except SymlayoutError as error:
        error.add_note(f"in: {layer}")
        raise
    return result


def _operation(layer: Layer) -> Callable[..., Any]:
    """Return the operation: the newest version that was known when the operation set of *layer* was made."""
    catalogue = frontends.names()
    versions = [f"openvino:{layer.type}-{n}" for n in range(layer.opset or 0, 0, -1)]
    return frontends.find(next((name for name in versions if name in catalogue), f"openvino:{layer.type}"))


def _attribute(text: str) -> int | str:
    """Return an integer of the ``<data>`` element as such; the operation refuses text that should be one."""
    return int(text) if re.fullmatch(r"-?[0-9]{1,19}", text, re.ASCII) else text
