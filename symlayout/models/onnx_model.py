"""Read an ``.onnx`` file with the package ``onnx``, and check that its graph holds together.

The file is not trusted.  Its fields are counted before the package makes messages of them, because a message takes a
hundred times the memory of its two bytes in the file.  An inconsistent file is a `FormatError`.  Attributes and
constants are converted when a node needs them.  `symlayout.models.load_onnx` knows what operations mean.

Local functions are inlined.  Constants in other files are mapped, not read.  Left out: inputs that are sequences, maps
or optionals, and sparse tensors.  Format: ONNX, ``onnx.proto``, IR versions 3 to 14.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.errors import FormatError, MissingPackageError, printable, shortened
from symlayout.models.model_file import MAX_RANK, ConstantFiles, open_model
from symlayout.tensors.element_types import element_type

if TYPE_CHECKING:
    from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, ValueInfoProto

MAX_BYTES = 2 << 30  # what protobuf itself can read
MAX_FIELDS = 2_000_000  # of one file, including numbers packed into one field
MAX_INLINED = 200_000  # nodes, once local functions are inlined
IR_VERSIONS = range(3, 15)
_DEFAULTS = 4  # the IR version from which on callers may give another value for an initializer that is an input
OPSETS = range(1, 29)  # newer ones may give a name another meaning

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types

COUNT = itertools.count()  # tells values apart that are equal to no other

Constant = np.ndarray[Any, Any]
Attribute = int | float | str | list[int] | list[float] | list[str] | Constant


@dataclass(frozen=True, slots=True)
class Input:
    """An input of the model; its shape has an int, a name or None for an axis, and is None if the rank is unknown."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int | str | None, ...] | None


@dataclass(frozen=True, slots=True)
class OnnxGraph:
    """A model.

    Attributes
    ----------
    inputs : tuple of Input
        Without inputs that have a constant as their default.
    nodes : tuple of NodeProto
        The nodes that the outputs need, each after the nodes that it reads.
    outputs : tuple of str
        Their names.
    constants : mapping
        The initializers by name.
    opsets : mapping
        The version of each domain's operation set.
    types : mapping
        The types that the file states for values.
    source : ModelProto or None
        The file; None for a subgraph.
    files : ConstantFiles
        The files with constants.
    """

    inputs: tuple[Input, ...]
    nodes: tuple[NodeProto, ...]
    outputs: tuple[str, ...]
    constants: Mapping[str, TensorProto]
    opsets: Mapping[str, int]
    types: Mapping[str, TypeProto]
    source: ModelProto | None
    files: ConstantFiles

    def constant(self, name: str) -> Constant:
        """Return the value of an initializer (see `array`)."""
        return array(self.constants[name], f"initializer {shortened(name)!r}", self.files)


def read(path: Path) -> OnnxGraph:
    """Return the graph of the model in the ``.onnx`` file *path*.

    Raises
    ------
    FormatError
        If *path* is no regular file, larger than `MAX_BYTES`, has more than `MAX_FIELDS` fields, is no ONNX model of
        one of `IR_VERSIONS` and `OPSETS`, or a graph that does not hold together: a name defined twice, or read
        before it is defined.
    MissingFileError
        If there is no such file.
    MissingPackageError
        If the package ``onnx`` cannot be imported.
    """
    return graph_of(_message(path), path.parent)


def graph_of(source: ModelProto, folder: Path, *, defaults: bool = False) -> OnnxGraph:
    """Return the graph of a model that is in memory; *folder* has the files with its constants.

    Parameters
    ----------
    defaults : bool
        Whether initializers that are inputs too are only the defaults of these inputs, from IR version 4 on, as they
        are for runtimes.  Without it they are constants.

    Raises
    ------
    FormatError
        The graph does not hold together.
    """
    model = _inlined(source) if source.functions else source
    graph = model.graph
    constants = _constants(graph)
    if defaults and model.ir_version >= _DEFAULTS:
        given = {value.name for value in graph.input}
        constants = {name: tensor for name, tensor in constants.items() if name not in given}
    inputs: dict[str, Input] = {}
    for value in graph.input:
        if value.name not in constants:
            inputs[_new(value.name, inputs)] = _input(value)
    outputs = tuple(value.name for value in graph.output)
    if not outputs:
        raise FormatError("model has no output")
    nodes = _needed(outputs, graph.node, {*constants, *inputs})
    _check_opset(model)
    opsets = {"" if o.domain == "ai.onnx" else o.domain: o.version for o in model.opset_import}
    files = ConstantFiles(folder)
    return OnnxGraph(tuple(inputs.values()), nodes, outputs, constants, opsets, _types(graph), source, files)


def inner(outer: OnnxGraph, graph: GraphProto) -> OnnxGraph:
    """Return a subgraph, which also reads the constants of the graph around it."""
    constants = {**outer.constants, **_constants(graph)} if graph.initializer else outer.constants
    outputs = tuple(value.name for value in graph.output)
    nodes = tuple(graph.node)
    return OnnxGraph((), nodes, outputs, constants, outer.opsets, _types(graph), None, outer.files)


def inner_nodes(node: NodeProto) -> Iterator[NodeProto]:
    """Yield the nodes of the subgraphs of *node*, and of theirs."""
    waiting = [g for a in node.attribute for g in ([a.g] if a.HasField("g") else a.graphs)]
    while waiting:
        graph = waiting.pop()
        for found in graph.node:
            yield found
            waiting.extend(g for a in found.attribute for g in ([a.g] if a.HasField("g") else a.graphs))


def outer_names(node: NodeProto) -> list[str]:
    """Return the names that the subgraphs of *node* read from the graph around it, in order of first use."""
    found: dict[str, None] = {}
    waiting = [(g, frozenset[str]()) for a in node.attribute for g in ([a.g] if a.HasField("g") else a.graphs)]
    while waiting:
        graph, around = waiting.pop()
        own = {v.name for v in graph.input} | {t.name for t in graph.initializer}
        own |= {name for made in graph.node for name in made.output}
        known = around | own
        for reader in graph.node:
            found.update((name, None) for name in reader.input if name and name not in known)
            waiting.extend((g, known) for a in reader.attribute for g in ([a.g] if a.HasField("g") else a.graphs))
        found.update((value.name, None) for value in graph.output if value.name not in known)
    return list(found)


def plain_attribute(a: AttributeProto) -> Any:
    """Return an attribute without subgraphs as a plain value: equal values for equal attributes."""
    if a.type == a.INT:
        return a.i
    if a.type == a.INTS:
        return tuple(a.ints)
    if a.type == a.STRING:
        return a.s
    return a.f.hex() if a.type == a.FLOAT else a.SerializeToString(deterministic=True)


def _constants(graph: GraphProto) -> dict[str, TensorProto]:
    constants: dict[str, TensorProto] = {}
    for tensor in graph.initializer:
        constants[_new(tensor.name, constants)] = tensor
    return constants


def _types(graph: GraphProto) -> dict[str, TypeProto]:
    return {value.name: value.type for values in (graph.value_info, graph.output) for value in values}


def _inlined(model: ModelProto) -> ModelProto:
    """Return the model without local functions: their bodies stand where they are called."""
    functions = {(f.domain, f.name, f.overload): f for f in model.functions}
    sizes: dict[tuple[str, str, str], int] = {}

    def size(nodes: Sequence[NodeProto], calls: tuple[tuple[str, str, str], ...]) -> int:
        total = 0
        for node in itertools.chain(nodes, *(inner_nodes(node) for node in nodes)):
            key = (node.domain, node.op_type, node.overload)
            if key in calls:
                raise FormatError(f"function {shortened(node.op_type)!r} calls itself")
            if key in functions and key not in sizes:
                if len(calls) > _MAX_CALLS:
                    raise FormatError(f"functions call each other more than {_MAX_CALLS} deep")
                sizes[key] = size(functions[key].node, (*calls, key))
            total += sizes.get(key, 1)
            if total > MAX_INLINED:
                raise FormatError(f"model has more than {MAX_INLINED} nodes, with its functions inlined")
        return total

    size(model.graph.node, ())
    from onnx import inliner

    try:
        inlined: ModelProto = inliner.inline_local_functions(model)
    except Exception as error:  # of the package's C++, which does not document them
        raise FormatError(f"functions of the model cannot be inlined: {printable(error):.200}") from None
    return inlined


_MAX_CALLS = 64


def label(node: NodeProto) -> str:
    """Return the name of *node* for messages."""
    return f"node {shortened(node.name or next(iter(node.output), ''))!r}, {shortened(node.op_type, 40)}"


def attributes(node: NodeProto) -> dict[str, Attribute]:
    """Return the attributes of *node*.

    Raises
    ------
    FormatError
        If one has a type that holds no numbers or text, such as a graph, stands twice, or has text that is not UTF-8.
    """
    found: dict[str, Attribute] = {}
    for attribute in node.attribute:
        if attribute.name in found:
            raise FormatError(f"attribute {shortened(attribute.name, 40)!r} stands twice\n  in: {label(node)}")
        found[attribute.name] = _value(attribute, f"attribute {shortened(attribute.name, 40)!r} of {label(node)}")
    return found


def array(tensor: TensorProto, where: str, files: ConstantFiles | None = None) -> Constant:
    """Return the value of a ``TensorProto``; mapped if it is kept in another file, one of *files*.

    Raises
    ------
    FormatError
        If it has not the bytes or elements of its shape and type, a type without elements of fixed size, or is kept
        in a file outside their folder.
    """
    dtype, shape = dtype_of(tensor.data_type, where), list(tensor.dims)
    if len(shape) > MAX_RANK or any(n < 0 for n in shape):
        raise FormatError(f"constant has shape {shortened(str(shape))}\n  in: {where}")
    if tensor.external_data or tensor.data_location:
        return _mapped(tensor, dtype, shape, where, files)
    try:
        if tensor.HasField("raw_data") and dtype.isbuiltin and dtype.kind in "iufcb":
            return np.frombuffer(tensor.raw_data, dtype.newbyteorder("<")).reshape(shape)
        return np.array(_onnx().numpy_helper.to_array(tensor))
    except Exception as error:  # the package raises what NumPy raises
        raise FormatError(f"constant is no {dtype} {shape}: {printable(error):.200}\n  in: {where}") from None


def _mapped(
    tensor: TensorProto, dtype: np.dtype[Any], shape: list[int], where: str, files: ConstantFiles | None
) -> Constant:
    """Return a constant of another file, which is not read before its elements are."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    if files is None or not location or Path(location).is_absolute() or ".." in Path(location).parts:
        raise FormatError(
            f"constant is kept in {shortened(location)!r}, outside the folder of the model\n  in: {where}"
        )
    file = files.folder / location
    if not file.resolve().is_relative_to(files.folder.resolve()):
        raise FormatError(
            f"constant is kept in {shortened(location)!r}, outside the folder of the model\n  in: {where}"
        )
    if dtype.itemsize * 8 != _bits(tensor.data_type):
        raise FormatError(f"constant of {dtype} is packed in another file, which is not read\n  in: {where}")
    size = math.prod(shape) * dtype.itemsize
    start, length = (_number(entries.get(key), default, where) for key, default in (("offset", 0), ("length", size)))
    if length != size:
        raise FormatError(f"constant has {length} bytes, {dtype} {shape} needs {size}\n  in: {where}")
    return files.part(file, start, size, where).view(dtype.newbyteorder("<")).reshape(shape)


def _number(text: str | None, default: int, where: str) -> int:
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise FormatError(f"{shortened(text, 40)!r} is not a number of bytes\n  in: {where}")
    return int(text)


def _bits(number: int) -> int:
    """Return how many bits an element takes in a file."""
    kind = _onnx().TensorProto
    small = {kind.INT4: 4, kind.UINT4: 4, getattr(kind, "FLOAT4E2M1", -1): 4, getattr(kind, "INT2", -1): 2}
    small[getattr(kind, "UINT2", -2)] = 2
    return small.get(number, int(_onnx().helper.tensor_dtype_to_np_dtype(number).itemsize) * 8)


def dtype_of(number: int, where: str) -> np.dtype[Any]:
    """Return the element type of ONNX's *number*; `FormatError` if it has no fixed size or NumPy has none for it."""
    if (dtype := dtype_or_none(number)) is None:
        raise FormatError(f"element type number {number} has no elements of fixed size\n  in: {where}")
    return dtype


def dtype_or_none(number: Any) -> np.dtype[Any] | None:
    """Return the element type of ONNX's *number*; None if it has no fixed size or NumPy has none for it."""
    try:
        return element_type(_onnx().helper.tensor_dtype_to_np_dtype(number))
    except (KeyError, TypeError):  # `ArrayError` is a TypeError
        return None


def _onnx() -> Any:
    """Return the package ``onnx``."""
    try:
        import onnx
    except Exception as error:  # protobuf refuses other versions of itself by errors of its own
        raise MissingPackageError(
            f"an .onnx file is read by the package onnx, which cannot be imported: {printable(error):.200}\n"
            "  help: pip install symlayout[onnx]"
        ) from error
    return onnx


def _message(path: Path) -> ModelProto:
    """Return the file as a message, of a known version."""
    kind = _onnx().ModelProto
    where = f"in: {shortened(path.name)!r}"
    with open_model(path) as file:
        if (size := os.fstat(file.fileno()).st_size) > MAX_BYTES:
            raise FormatError(f"model has more than {MAX_BYTES} bytes\n  {where}")
        data = file.read(size)
    try:
        _check_fields(data, kind.DESCRIPTOR)
        model = kind.FromString(data)
    except Exception as error:  # of protobuf, which does not document them all
        raise FormatError(f"file cannot be read as an ONNX model: {printable(error):.200}\n  {where}") from None
    if model.ir_version not in IR_VERSIONS or not model.HasField("graph"):
        known = f"{IR_VERSIONS[0]} to {IR_VERSIONS[-1]}"
        raise FormatError(f"file is no ONNX model of IR version {known}\n  {where}")
    return model


def _check_fields(data: bytes, model: Any) -> None:
    """Raise `FormatError` if *data*, a message of the kind *model*, has more than `MAX_FIELDS` fields, or is damaged.

    Format: Protocol Buffers, "Encoding", without groups, which ONNX does not have.
    """
    left = MAX_FIELDS
    messages = [(0, len(data), model)]
    while messages:
        at, end, kind = messages.pop()
        fields = _fields(kind)
        while at < end:
            tag, at = _varint(data, at)
            wire, field, size = tag & 7, fields.get(tag >> 3), 0
            if wire == _VARINT:
                _, at = _varint(data, at)
            elif wire == _BYTES:
                size, at = _varint(data, at)
            elif wire in (_FIXED32, _FIXED64):
                size = 4 if wire == _FIXED32 else 8
            else:
                raise FormatError(f"protobuf has a field of wire type {wire}")
            at += size
            if at > end:
                raise FormatError("protobuf ends inside a field")
            left -= size + 1 if field is int else 1
            if left < 0:
                raise FormatError(f"protobuf has more than {MAX_FIELDS} fields")
            if wire == _BYTES and field is str:
                data[at - size : at].decode()
            elif wire == _BYTES and field not in (None, int):
                messages.append((at - size, at, field))


@cache
def _fields(message: Any) -> dict[int, Any]:
    """Return for each number of a field of *message* what it holds: `str`, `int` or another message.

    Fields whose memory is that of their bytes are left out: bytes, and numbers of a fixed size.
    """
    found: dict[int, Any] = {}
    for field in message.fields:
        if field.message_type is not None:
            found[field.number] = field.message_type
        elif field.type == field.TYPE_STRING:
            found[field.number] = str
        elif field.cpp_type not in (field.CPPTYPE_STRING, field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
            found[field.number] = int
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the integer at *at*, 7 bits a byte and the lowest first, and where it ends."""
    byte = data[at]
    if byte < 0x80:
        return byte, at + 1
    value = 0
    for k, byte in enumerate(data[at : at + 10]):
        value |= (byte & 0x7F) << 7 * k
        if byte < 0x80:
            return value, at + k + 1
    raise FormatError("protobuf has an integer without an end")


def _value(attribute: AttributeProto, where: str) -> Attribute:
    """Return the value of an attribute."""
    try:
        value = _onnx().helper.get_attribute_value(attribute)
        if attribute.type == attribute.STRING:
            return str(value, "utf-8")
        if attribute.type == attribute.STRINGS:
            return [str(text, "utf-8") for text in value]
    except ValueError as error:  # a reference, a type that is not known, or no UTF-8
        raise FormatError(f"{where} is not read: {printable(error):.200}") from None
    if attribute.type == attribute.TENSOR:
        return array(value, where)
    if attribute.type not in (attribute.INT, attribute.INTS, attribute.FLOAT, attribute.FLOATS):
        raise FormatError(f"{where} has type {attribute.type}, which is not read")
    return value  # type: ignore[no-any-return]


def _input(value: ValueInfoProto) -> Input:
    where = f"input {shortened(value.name)!r}"
    if value.type.WhichOneof("value") != "tensor_type":
        raise FormatError(f"input is no tensor\n  in: {where}")
    kind = value.type.tensor_type
    dtype = dtype_of(kind.elem_type, where)
    if not kind.HasField("shape"):
        return Input(value.name, dtype, None)
    dims = [dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None for dim in kind.shape.dim]
    if len(dims) > MAX_RANK:
        raise FormatError(f"shape has {len(dims)} axes, at most {MAX_RANK} are known\n  in: {where}")
    return Input(value.name, dtype, tuple(dims))


def _needed(outputs: tuple[str, ...], nodes: Sequence[NodeProto], known: set[str]) -> tuple[NodeProto, ...]:
    """Return the nodes that *outputs* need, in the order of the file, in which each has to follow what it reads."""
    wanted, found = set(outputs), []
    for node in reversed(nodes):
        if not wanted.isdisjoint(node.output):
            found.append(node)
            wanted.update(node.input)
            wanted.update(outer_names(node))
    for node in reversed(found):
        for name in (*node.input, *outer_names(node)):
            if name and name not in known:
                raise FormatError(f"{shortened(name)!r} is read before it is defined\n  in: {label(node)}")
        for name in node.output:
            if name:
                known.add(_new(name, known))
    for name in outputs:
        if name not in known:
            raise FormatError(f"output {shortened(name)!r} is not defined")
    return tuple(reversed(found))


def _new(name: str, known: Mapping[str, Any] | set[str]) -> str:
    """Return *name*, which must not be among *known*."""
    if name in known:
        raise FormatError(f"{shortened(name)!r} is defined twice")
    return name


def _check_opset(model: ModelProto) -> None:
    """Refuse a model whose version of ONNX's own operations is not known."""
    for opset in model.opset_import:
        if opset.domain in ("", "ai.onnx"):
            if opset.version not in OPSETS:
                raise FormatError(f"operation set {opset.version} is not known\n  known: {OPSETS[0]} to {OPSETS[-1]}")
            return
    raise FormatError("model does not say which operation set of ONNX it uses")
