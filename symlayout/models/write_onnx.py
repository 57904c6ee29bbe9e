"""Write an ONNX model, with the shapes of its values if other tools are to know them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symlayout.errors import FormatError, shortened
from symlayout.models.model import Model
from symlayout.models.onnx_values import number_of

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto

_LONGEST = 400  # characters of an extent; a longer one is left out


def write_shapes(model: Model, path: str | os.PathLike[str]) -> int:
    """Write the ONNX model with a ``value_info`` for each value, and return how many there are.

    An extent is a number, a dim's name, or an expression such as ``2*h`` as the name.  Everything else stays as it is.

    Parameters
    ----------
    model : Model
        A model of ONNX.
    path : str or path
        The new file.

    Raises
    ------
    FormatError
        The model is of another format, or has constants in other files and *path* is in another folder.
    OSError
        The file cannot be written.
    """
    if model.format != "ONNX":
        raise FormatError(f"shapes are written into ONNX models, this one is {model.format}")
    from onnx import ModelProto

    made: ModelProto = ModelProto()
    made.CopyFrom(model.source)
    count = _add(made, model)
    _write(made, model, path)
    return count


def write_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write the message of an ONNX model into a file.

    Raises
    ------
    FormatError
        The model has constants in other files, and *path* is in another folder.
    OSError
        The file cannot be written.
    """
    _write(model.source, model, path)


def _write(made: ModelProto, model: Model, path: str | os.PathLike[str]) -> None:
    target = Path(path)
    if _has_external(made.graph) and target.resolve().parent != model.path.resolve().parent:
        raise FormatError(
            "the model has constants in other files, which are found beside it\n"
            f"  help: write to a file in {shortened(str(model.path.parent), 400)}"
        )
    target.write_bytes(made.SerializeToString())


def _has_external(graph: GraphProto) -> bool:
    return any(tensor.external_data for tensor in graph.initializer)


def _add(made: ModelProto, model: Model) -> int:
    """Give each value of the graph its shape."""
    from onnx import helper

    graph = made.graph
    stated = {value.name: value for values in (graph.value_info, graph.output) for value in values}
    known = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    count = 0
    for name in (name for node in graph.node for name in node.output if name and name not in known):
        if name not in model.tensors.shaped:
            continue
        t = model.tensors.shaped[name]
        number = number_of(t.dtype)
        if number is None:
            continue
        info = helper.make_tensor_value_info(name, number, [_extent(e) for e in t.shape])
        if name in stated:
            _refine(stated[name], info)
        else:
            graph.value_info.append(info)
        count += 1
    return count


def _refine(stated: Any, info: Any) -> None:
    """Replace the shape that the file states; the element type stays."""
    if stated.type.WhichOneof("value") in ("tensor_type", None):
        number = stated.type.tensor_type.elem_type
        stated.type.CopyFrom(info.type)
        if number:
            stated.type.tensor_type.elem_type = number


def _extent(e: Any) -> int | str | None:
    if isinstance(e, int):
        return e
    text = str(e)
    return text if len(text) <= _LONGEST else None
