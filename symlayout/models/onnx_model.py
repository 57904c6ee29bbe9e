"""Read an ``.onnx`` file with the package ``onnx``, and check that its graph holds together.

The file is not trusted.  Its fields are counted before the package makes messages of them, because a message takes a
hundred times the memory of its two bytes in the file.  An inconsistent file is a `FormatError`.  Attributes and
constants are converted when a node needs them.  `symlayout.models.load_onnx` knows what operations mean.

Left out: the shapes between the nodes (``value_info``), which are another program's inference; local functions,
whose nodes have a domain; sequences, maps, optionals and sparse tensors.  Format: ONNX, ``onnx.proto``, IR
versions 3 to 14.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.errors import FormatError, MissingPackageError, printable
from symlayout.models.model_file import MAX_CONSTANT, MAX_RANK, open_model
from symlayout.tensors.element_types import element_type

if TYPE_CHECKING:
    from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

MAX_BYTES = 256 << 20
MAX_FIELDS = 1_000_000  # of one file, including numbers packed into one field
IR_VERSIONS = range(3, 15)
OPSETS = range(1, 29)  # newer ones may give a name another meaning

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types

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
    """

    inputs: tuple[Input, ...]
    nodes: tuple[NodeProto, ...]
    outputs: tuple[str, ...]
    constants: Mapping[str, TensorProto]

    def constant(self, name: str) -> Constant:
        """Return the value of an initializer (see `array`)."""
        return array(self.constants[name], f"initializer {name[:80]!r}")


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
    model = _message(path)
    graph = model.graph
    constants: dict[str, TensorProto] = {}
    for tensor in graph.initializer:
        constants[_new(tensor.name, constants)] = tensor
    inputs: dict[str, Input] = {}
    for value in graph.input:
        if value.name not in constants:
            inputs[_new(value.name, inputs)] = _input(value)
    outputs = tuple(value.name for value in graph.output)
    if not outputs:
        raise FormatError("model has no output")
    nodes = _needed(outputs, graph.node, {*constants, *inputs})
    _check_opset(model)
    return OnnxGraph(tuple(inputs.values()), nodes, outputs, constants)


def label(node: NodeProto) -> str:
    """Return the name of *node* for messages."""
    return f"node {(node.name or next(iter(node.output), ''))[:80]!r}, {node.op_type[:40]}"


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
            raise FormatError(f"attribute {attribute.name[:40]!r} stands twice\n  in: {label(node)}")
        found[attribute.name] = _value(attribute, f"attribute {attribute.name[:40]!r} of {label(node)}")
    return found


def array(tensor: TensorProto, where: str) -> Constant:
    """Return the value of a ``TensorProto``.

    Raises
    ------
    FormatError
        If it is kept in another file, has not the bytes or elements of its shape and type, has more than
        `MAX_CONSTANT` elements, or a type without elements of fixed size.
    """
    if tensor.external_data or tensor.data_location:
        raise FormatError(
            f"constant is kept in another file, which is not read\n  in: {where}\n"
            "  help: save the model with onnx.save(..., save_as_external_data=False)"
        )
    dtype, shape = dtype_of(tensor.data_type, where), list(tensor.dims)
    if len(shape) > MAX_RANK or any(n < 0 for n in shape):
        raise FormatError(f"constant has shape {str(shape)[:80]}\n  in: {where}")
    if math.prod(shape) > MAX_CONSTANT:
        raise FormatError(f"constant of shape {shape} has more than {MAX_CONSTANT} elements\n  in: {where}")
    try:
        return np.array(_onnx().numpy_helper.to_array(tensor))
    except Exception as error:  # the package raises what NumPy raises
        raise FormatError(f"constant is no {dtype} {shape}: {printable(error):.200}\n  in: {where}") from None


def dtype_of(number: int, where: str) -> np.dtype[Any]:
    """Return the element type of ONNX's *number*; `FormatError` if it has no fixed size or NumPy has none for it."""
    try:
        return element_type(_onnx().helper.tensor_dtype_to_np_dtype(number))
    except (KeyError, TypeError):  # `ArrayError` is a TypeError
        raise FormatError(f"element type number {number} has no elements of fixed size\n  in: {where}") from None


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
    where = f"in: {path.name[:80]!r}"
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
    where = f"input {value.name[:80]!r}"
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
    for node in reversed(found):
        for name in node.input:
            if name and name not in known:
                raise FormatError(f"{name[:80]!r} is read before it is defined\n  in: {label(node)}")
        for name in node.output:
            if name:
                known.add(_new(name, known))
    for name in outputs:
        if name not in known:
            raise FormatError(f"output {name[:80]!r} is not defined")
    return tuple(reversed(found))


def _new(name: str, known: Mapping[str, Any] | set[str]) -> str:
    """Return *name*, which must not be among *known*."""
    if name in known:
        raise FormatError(f"{name[:80]!r} is defined twice")
    return name


def _check_opset(model: ModelProto) -> None:
    """Refuse a model whose version of ONNX's own operations is not known."""
    for opset in model.opset_import:
        if opset.domain in ("", "ai.onnx"):
            if opset.version not in OPSETS:
                raise FormatError(f"operation set {opset.version} is not known\n  known: {OPSETS[0]} to {OPSETS[-1]}")
            return
    raise FormatError("model does not say which operation set of ONNX it uses")
