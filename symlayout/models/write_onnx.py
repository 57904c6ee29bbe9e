"""Write an ONNX model, with the shapes of its values if other tools are to know them.

A model may keep constants in other files, at locations that are relative to its folder and must not lead out of it.  So
either the folder that it is written to has the files somewhere below, or the data go along, into one file beside it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from symlayout.errors import FormatError, ShapeError, shortened
from symlayout.models.model import Model
from symlayout.models.model_file import ConstantFiles, open_model
from symlayout.models.onnx_subgraphs import graphs_of
from symlayout.models.onnx_values import external_file, number_of, number_of_bytes
from symlayout.show.whole_file import write_file, write_with

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto

DATA = ("copy", "refer")
_ALIGNED = 4096  # a constant begins at a multiple, so that it can be mapped
_PART = 1 << 20  # bytes that are copied at once
_LONGEST = 400  # characters of an extent; a longer one is left out


def write_shapes(model: Model, path: str | os.PathLike[str], data: str = "copy") -> int:
    """Write the ONNX model with a ``value_info`` for each value, and return how many there are.

    An extent is a number, a dim's name, or an expression such as ``2*h`` as the name.  Everything else stays as it is.

    Parameters
    ----------
    model : Model
        A model of ONNX.
    path : str or path
        The new file.
    data : {"copy", "refer"}
        What becomes of constants in other files: see `write_model`.

    Raises
    ------
    FormatError
        The model is of another format, or its constants would not be found.
    OSError
        The file cannot be written.
    """
    if model.format != "ONNX":
        raise FormatError(f"shapes are written into ONNX models, this one is {model.format}")
    from onnx import ModelProto

    made: ModelProto = ModelProto()
    made.CopyFrom(model.source)
    count = _add(made, model)
    _write(made, model, path, data)
    return count


def write_model(model: Model, path: str | os.PathLike[str], data: str = "copy") -> None:
    """Write the message of an ONNX model into a file.

    Parameters
    ----------
    model : Model
        A model of ONNX.
    path : str or path
        The new file.
    data : {"copy", "refer"}
        What becomes of constants in other files where *path* is in another folder than the model: they are copied into
        one file beside it, called as *path* with ``.data`` after it, or found where they are, which has to be in the
        folder of *path* or below.

    Raises
    ------
    FormatError
        The constants would not be found.
    ShapeError
        ``bad_mode`` for another *data*.
    OSError
        A file cannot be written.
    """
    _write(model.source, model, path, data)


def _write(made: ModelProto, model: Model, path: str | os.PathLike[str], data: str) -> None:
    target = Path(path)
    written = _with_data(made, model.path.parent, target, data)
    write_file(target, written.SerializeToString())


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


def _with_data(source: ModelProto, folder: Path, target: Path, data: str) -> ModelProto:
    """Return the message of a model in *folder* as it stands in the new file *target*; data that go along are written.

    Raises
    ------
    ShapeError
        ``bad_mode`` if *data* is none of `DATA`.
    FormatError
        A file is outside the folder of the model; or, with ``"refer"``, outside that of *target*.
    """
    if data not in DATA:
        raise ShapeError(f"data is {data!r}, not one of {', '.join(DATA)}", "bad_mode")
    if target.resolve().parent == folder.resolve() or not any(map(_is_external, _tensors(source))):
        return source
    made: ModelProto = type(source)()
    made.CopyFrom(source)
    found = [tensor for tensor in _tensors(made) if _is_external(tensor)]
    files = ConstantFiles(folder)
    places = [external_file(tensor, files, f"constant {shortened(tensor.name)!r}").resolve() for tensor in found]
    for file in set(places):
        open_model(file).close()
    if data == "refer":
        _refer(found, places, target)
    else:
        _copy(found, places, target)
    return made


def _refer(tensors: list[TensorProto], files: list[Path], target: Path) -> None:
    """Write where the files are, seen from the folder of *target*."""
    around = target.resolve().parent
    for tensor, file in zip(tensors, files, strict=True):
        if not file.is_relative_to(around):
            raise FormatError(
                f"the constants in {shortened(file.name)!r} are outside the folder of the new model\n"
                "  help: copy them: data='copy', --data copy"
            )
        _set(tensor, "location", file.relative_to(around).as_posix())


def _copy(tensors: list[TensorProto], files: list[Path], target: Path) -> None:
    """Write the constants into one file beside *target*."""
    path = target.with_name(f"{target.name}.data")
    if path.resolve() in files:
        raise FormatError(f"{shortened(path.name)!r} has the constants of the model that is read, and stays")

    def write(out: BinaryIO) -> None:
        for tensor, file in zip(tensors, files, strict=True):
            entries = {entry.key: entry.value for entry in tensor.external_data}
            where = f"constant {shortened(tensor.name)!r}"
            start = number_of_bytes(entries.get("offset"), 0, where)
            with open_model(file) as given:
                rest = os.fstat(given.fileno()).st_size - start
                count = number_of_bytes(entries.get("length"), max(rest, 0), where)
                if count > rest:
                    raise FormatError(f"{where} is {count} bytes from {start} on, the file has {rest} there")
                given.seek(start)
                out.write(bytes(-out.tell() % _ALIGNED))
                for key, value in (("location", path.name), ("offset", out.tell()), ("length", count)):
                    _set(tensor, key, str(value))
                while count > 0:
                    part = given.read(min(count, _PART))
                    if not part:
                        raise FormatError(f"{shortened(file.name)!r} ends while it is read")
                    out.write(part)
                    count -= len(part)

    write_with(path, write)


def _set(tensor: TensorProto, key: str, value: str) -> None:
    """Give an entry of a constant's place a value; what is known of the whole old file goes."""
    kept = [entry for entry in tensor.external_data if entry.key not in (key, "checksum")]
    pairs = [*((entry.key, entry.value) for entry in kept), (key, value)]
    del tensor.external_data[:]
    for name, text in pairs:
        tensor.external_data.add(key=name, value=text)


def _is_external(tensor: TensorProto) -> bool:
    return bool(tensor.external_data)


def _tensors(model: ModelProto) -> Iterator[TensorProto]:
    """Yield all constants of a model: of its graph, subgraphs, functions and attributes."""
    graphs: list[GraphProto] = [model.graph]
    nodes: list[NodeProto] = [node for function in model.functions for node in function.node]
    while graphs or nodes:
        if graphs:
            graph = graphs.pop()
            yield from graph.initializer
            yield from _dense(graph.sparse_initializer)
            nodes.extend(graph.node)
            continue
        for a in nodes.pop().attribute:
            yield from (*([a.t] if a.HasField("t") else []), *a.tensors)
            yield from _dense((*([a.sparse_tensor] if a.HasField("sparse_tensor") else []), *a.sparse_tensors))
            graphs.extend(graphs_of(a))


def _dense(tensors: Any) -> Iterator[TensorProto]:
    for tensor in tensors:
        yield from (tensor.values, tensor.indices)
