"""Load a model: from a file to its outputs as tensors."""

from __future__ import annotations

import inspect
import itertools
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from symlayout import frontends, openvino_ir
from symlayout.errors import FormatError, SymlayoutError
from symlayout.openvino_ir import Layer, Port
from symlayout.tensor import Tensor, tensor

_LONGEST_NAME = 80  # of a leaf: names in a file have no limit

Constant = np.ndarray[Any, Any]
Value = Tensor | Constant  # what a layer computes


def load(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    """Return the outputs of the model in *path* by name, each as a lazy tensor.

    Read is OpenVINO IR, an ``.xml`` with its ``.bin`` beside it.  An output is called as the tensor that it
    returns (the first in the alphabet, if that has several names), else as the layer that computes it.  An
    input's leaf is called alike, with ``_`` for each character that a name may not have.

    Parameters
    ----------
    path : str or path
        The file.

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

    Examples
    --------
    >>> from pathlib import Path
    >>> import symlayout as sl
    >>> models = Path(sl.__file__).parents[1] / "examples" / "models"  # in a checkout
    >>> load(models / "round_trip_dynamic.xml")
    {'result': Tensor(batch_to_space: (data.0, data.1, data.2, data.3), dtype=float32)}
    """
    file = Path(path)
    if file.suffix != ".xml":
        raise FormatError(f"{file.name[:80]!r} is no model that can be read\n  known: .xml, OpenVINO IR")
    graph = openvino_ir.read(file)
    names: dict[Port, str] = {}
    values: dict[Port, Value] = {}
    leaves: set[str] = set()
    for layer in graph.layers:
        inputs = [values[port] for port in layer.inputs]
        made: Value | list[Tensor]
        if layer.type == "Parameter":
            made = _parameter(layer, _leaf_name(_name(layer, 0), leaves))
        elif layer.type == "Const":
            made = graph.constant(layer)
        elif layer.type == "Convert" and len(inputs) == 1 and isinstance(inputs[0], np.ndarray):
            made = _converted(inputs[0], layer)
        else:
            made = _applied(layer, inputs)
        results = made if isinstance(made, list) else [made]
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


def _applied(layer: Layer, inputs: list[Value]) -> Tensor | list[Tensor]:
    """Return the operation of *layer* applied to its first input, the others being its attributes.

    A joint operation, such as ``Concat``, is applied to all of them.
    """
    title = _operation(layer)
    operation = frontends.find(title)
    known = list(inspect.signature(operation).parameters)
    tensors = len(inputs) if frontends.is_joint(title) else 1
    for k, value in enumerate(inputs[:tensors] or [None]):
        if not isinstance(value, Tensor):
            name = known[0] if tensors == 1 else f"{known[0]}[{k}]"
            raise FormatError(f"input {name} is not computed from an input of the model\n  in: {layer}")
    for k, value in enumerate(inputs[tensors:], start=tensors):
        if isinstance(value, Tensor):
            name = known[k] if k < len(known) else str(k)
            raise FormatError(f"input {name} is not a constant\n  in: {layer}")
    attributes = {name: _attribute(text) for name, text in layer.attributes.items()}
    arguments = [inputs] if frontends.is_joint(title) else inputs
    try:
        result: Tensor | list[Tensor] = operation(*arguments, **attributes)
    except SymlayoutError as error:
        error.add_note(f"in: {layer}")
        raise
    return result


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
