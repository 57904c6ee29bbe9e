"""Read an ``.onnx`` file to a typed graph.

The file is a stranger's: whatever it says is checked before it is used, and whatever does not hold together is a
`FormatError`.  Attributes and constants are read when they are asked for.  What operations mean is not known here
(see `symlayout.frontends.models.load_onnx`).

Left out: the shapes between the nodes (``value_info``), which are another program's inference; local functions,
whose nodes have a domain; sequences, maps, optionals and sparse tensors.  Format: ONNX, ``onnx.proto3``, IR
versions 3 to 14.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from symlayout.errors import ArrayError, FormatError
from symlayout.frontends.models.model_file import open_model
from symlayout.frontends.models.protobuf import Field, Reader, Schema
from symlayout.tensors.element_types import element_type

MAX_BYTES = 256 << 20
MAX_RANK = 64  # NumPy's
MAX_CONSTANT = 4096  # elements of a constant that is read: attributes have a few per axis
IR_VERSIONS = range(3, 15)
OPSETS = range(1, 29)  # newer ones may mean something else by a name

# Names of element types in the order of their numbers; None has no fixed size.
_DTYPES = (
    None, "float32", "uint8", "int8", "uint16", "int16", "int32", "int64", None, "bool", "float16", "float64",
    "uint32", "uint64", "complex64", "complex128", "bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
    "float8_e5m2fnuz", "uint4", "int4", "float4_e2m1fn", "float8_e8m0fnu", "uint2", "int2",
)  # fmt: skip
_PACKED_BITS = ("uint4", "int4", "float4_e2m1fn", "uint2", "int2")  # several elements a byte

_MODEL: Schema = {1: Field("ir_version", "int"), 7: Field("graph", "bytes"), 8: Field("opsets", "bytes", many=True)}
_OPSET: Schema = {1: Field("domain", "text"), 2: Field("version", "int")}
_GRAPH: Schema = {
    1: Field("nodes", "bytes", many=True),
    5: Field("initializers", "bytes", many=True),
    11: Field("inputs", "bytes", many=True),
    12: Field("outputs", "bytes", many=True),
}
_NODE: Schema = {
    1: Field("inputs", "text", many=True),
    2: Field("outputs", "text", many=True),
    3: Field("name", "text"),
    4: Field("op", "text"),
    5: Field("attributes", "bytes", many=True),
    7: Field("domain", "text"),
}
_ATTRIBUTE: Schema = {
    1: Field("name", "text"),
    2: Field("float", "float"),
    3: Field("int", "int"),
    4: Field("text", "text"),
    5: Field("tensor", "bytes"),
    7: Field("floats", "float", many=True),
    8: Field("ints", "int", many=True),
    9: Field("texts", "text", many=True),
    20: Field("type", "int"),
}
_ATTRIBUTE_TYPES = {1: "float", 2: "int", 3: "text", 4: "tensor", 6: "floats", 7: "ints", 8: "texts"}
_TENSOR_NAME: Schema = {8: Field("name", "text")}
_TENSOR: Schema = {
    1: Field("shape", "int", many=True),
    2: Field("type", "int"),
    4: Field("floats", "float", many=True),
    5: Field("ints32", "int", many=True),
    7: Field("ints", "int", many=True),
    9: Field("raw", "bytes"),
    10: Field("doubles", "double", many=True),
    11: Field("uints", "int", many=True),
    13: Field("external", "bytes", many=True),
    14: Field("location", "int"),
}
# Where a tensor's elements are that are not raw; other types are kept as integers of 32 bits.
_HELD = {"float32": "floats", "float64": "doubles", "int64": "ints", "uint64": "uints", "uint32": "uints"}
_VALUE: Schema = {1: Field("name", "text"), 2: Field("type", "bytes")}
_TYPE: Schema = {1: Field("tensor", "bytes")}
_TENSOR_TYPE: Schema = {1: Field("type", "int"), 2: Field("shape", "bytes")}
_SHAPE: Schema = {1: Field("dims", "bytes", many=True)}
_DIM: Schema = {1: Field("value", "int"), 2: Field("name", "text")}

Constant = np.ndarray[Any, Any]
Attribute = int | float | str | list[int] | list[float] | list[str] | Constant


@dataclass(frozen=True, slots=True)
class Input:
    """An input of the model; its shape has an int, a name or None for an axis, and is None if the rank is unknown."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int | str | None, ...] | None


@dataclass(frozen=True, slots=True)
class Node:
    """One operation of the graph: the names of what it reads and computes, ``""`` where there is none."""

    name: str
    op: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[memoryview, ...]

    def __str__(self) -> str:
        return f"node {(self.name or next(iter(self.outputs), ''))[:80]!r}, {self.op[:40]}"


@dataclass(frozen=True, slots=True)
class Graph:
    """A model.

    Attributes
    ----------
    inputs : tuple of Input
        Without those that have a constant as their default.
    nodes : tuple of Node
        What the outputs need, each after what it reads.
    outputs : tuple of str
        Their names.
    constants : mapping
        The initializers by name.
    """

    inputs: tuple[Input, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    constants: Mapping[str, memoryview]
    reader: Reader

    def constant(self, name: str) -> Constant:
        """Return the value of an initializer (see `tensor`)."""
        return self.tensor(self.constants[name], f"initializer {name[:80]!r}")

    def attributes(self, node: Node) -> dict[str, Attribute]:
        """Return the attributes of *node*.

        Raises
        ------
        FormatError
            If one has a type that holds no numbers or text, such as a graph, or stands twice.
        """
        found: dict[str, Attribute] = {}
        for data in node.attributes:
            read = self.reader.read(data, _ATTRIBUTE, str(node))
            name, kind = read["name"] or "", _ATTRIBUTE_TYPES.get(read["type"] or 0)
            if kind is None or name in found:
                what = f"has type {read['type']}, which is not read" if kind is None else "stands twice"
                raise FormatError(f"attribute {name[:40]!r} {what}\n  in: {node}")
            value = read[kind]
            if value is None:  # zero is not written
                value = {"int": 0, "float": 0.0, "text": "", "tensor": memoryview(b"")}[kind]
            found[name] = self.tensor(value, f"attribute {name[:40]!r} of {node}") if kind == "tensor" else value
        return found

    def tensor(self, data: memoryview, where: str) -> Constant:
        """Return the value of a ``TensorProto``.

        Raises
        ------
        FormatError
            If it is kept in another file, has not the bytes or elements of its shape and type, has more than
            `MAX_CONSTANT` elements, or a type without elements of whole bytes.
        """
        read = self.reader.read(data, _TENSOR, where)
        if read["external"] or read["location"]:
            raise FormatError(
                f"constant is kept in another file, which is not read\n  in: {where}\n"
                "  help: save the model with onnx.save(..., save_as_external_data=False)"
            )
        dtype, shape = dtype_of(read["type"], where), read["shape"]
        if len(shape) > MAX_RANK or any(n < 0 for n in shape):
            raise FormatError(f"constant has shape {str(shape)[:80]}\n  in: {where}")
        if (count := math.prod(shape)) > MAX_CONSTANT:
            raise FormatError(f"constant of shape {shape} has more than {MAX_CONSTANT} elements\n  in: {where}")
        if dtype.name in _PACKED_BITS:
            raise FormatError(f"constant has elements of {dtype}, which are no whole bytes\n  in: {where}")
        if read["raw"] is not None:
            if len(read["raw"]) != count * dtype.itemsize:
                size = len(read["raw"])
                needed = count * dtype.itemsize
                raise FormatError(f"constant has {size} bytes, {dtype} {shape} needs {needed}\n  in: {where}")
            return np.frombuffer(read["raw"], dtype.newbyteorder("<"), count).reshape(shape).astype(dtype)
        values = read[_HELD.get(dtype.name, "ints32")]
        if len(values) != count:
            raise FormatError(f"constant has {len(values)} elements, shape {shape} needs {count}\n  in: {where}")
        return _held(values, dtype).reshape(shape)


def read(path: Path) -> Graph:
    """Return the graph of the model in the ``.onnx`` file *path*.

    Raises
    ------
    FormatError
        If *path* is no regular file, larger than `MAX_BYTES`, no ONNX model of one of `IR_VERSIONS` and `OPSETS`,
        or a graph that does not hold together: a name defined twice, or read before it is defined.
    MissingFileError
        If there is no such file.
    """
    with open_model(path) as file:
        data = file.read(MAX_BYTES + 1) if os.fstat(file.fileno()).st_size <= MAX_BYTES else None
    if data is None or len(data) > MAX_BYTES:
        raise FormatError(f"model has more than {MAX_BYTES} bytes\n  in: {path.name[:80]!r}")
    reader = Reader()
    model = reader.read(memoryview(data), _MODEL, "the model")
    if model["ir_version"] not in IR_VERSIONS or model["graph"] is None:
        known = f"{IR_VERSIONS[0]} to {IR_VERSIONS[-1]}"
        raise FormatError(f"file is no ONNX model of IR version {known}\n  in: {path.name[:80]!r}")
    graph = reader.read(model["graph"], _GRAPH, "the graph")
    constants: dict[str, memoryview] = {}
    for tensor in graph["initializers"]:
        constants[_new(reader.read(tensor, _TENSOR_NAME, "an initializer")["name"], constants)] = tensor
    inputs: dict[str, Input] = {}
    for value in graph["inputs"]:
        if (name := reader.read(value, _VALUE, "an input")["name"] or "") not in constants:
            inputs[_new(name, inputs)] = _input(reader, value)
    outputs = tuple(reader.read(value, _VALUE, "an output")["name"] or "" for value in graph["outputs"])
    if not outputs:
        raise FormatError("model has no output")
    nodes = _needed(outputs, [_node(reader, node) for node in graph["nodes"]], {*constants, *inputs})
    _check_opset(reader, model["opsets"])
    return Graph(tuple(inputs.values()), nodes, outputs, constants, reader)


def dtype_of(number: int | None, where: str) -> np.dtype[Any]:
    """Return the element type of ONNX's *number*; `FormatError` if it has no fixed size or NumPy has none for it."""
    name = _DTYPES[number] if number is not None and 0 <= number < len(_DTYPES) else None
    if name is None:
        raise FormatError(f"element type number {number or 0} has no elements of fixed size\n  in: {where}")
    try:
        return element_type(name)
    except ArrayError as error:
        raise FormatError(f"{error}\n  in: {where}") from None


def _held(values: list[Any], dtype: np.dtype[Any]) -> Constant:
    """Return elements that were kept as numbers: floats of 16 bits or less are kept as the integer of their bits."""
    if dtype.name in ("float32", "float64"):
        return np.array(values, dtype)
    if dtype.kind in "iub":
        return np.array([v & 0xFFFF_FFFF_FFFF_FFFF for v in values], np.uint64).astype(dtype)
    if dtype.itemsize > 2:
        raise FormatError(f"constant of {dtype} is not raw")
    return np.array([v & 0xFFFF for v in values], np.uint16).astype(f"<u{dtype.itemsize}").view(dtype)


def _input(reader: Reader, data: memoryview) -> Input:
    value = reader.read(data, _VALUE, "an input")
    name = value["name"] or ""
    where = f"input {name[:80]!r}"
    of = reader.read(value["type"] or memoryview(b""), _TYPE, where)["tensor"]
    if of is None:
        raise FormatError(f"input is no tensor\n  in: {where}")
    found = reader.read(of, _TENSOR_TYPE, where)
    dtype = dtype_of(found["type"], where)
    if found["shape"] is None:
        return Input(name, dtype, None)
    dims = [reader.read(dim, _DIM, where) for dim in reader.read(found["shape"], _SHAPE, where)["dims"]]
    if len(dims) > MAX_RANK:
        raise FormatError(f"shape has {len(dims)} axes, at most {MAX_RANK} are known\n  in: {where}")
    return Input(name, dtype, tuple((dim["name"] or None) if dim["value"] is None else dim["value"] for dim in dims))


def _node(reader: Reader, data: memoryview) -> Node:
    read = reader.read(data, _NODE, "a node")
    domain = "" if read["domain"] in (None, "ai.onnx") else read["domain"]
    names = tuple(read["inputs"]), tuple(read["outputs"])
    return Node(read["name"] or "", read["op"] or "", domain, *names, tuple(read["attributes"]))


def _needed(outputs: tuple[str, ...], nodes: list[Node], known: set[str]) -> tuple[Node, ...]:
    """Return the nodes that *outputs* need, in the order of the file, in which each has to follow what it reads."""
    wanted, found = set(outputs), []
    for node in reversed(nodes):
        if not wanted.isdisjoint(node.outputs):
            found.append(node)
            wanted.update(node.inputs)
    for node in reversed(found):
        for name in node.inputs:
            if name and name not in known:
                raise FormatError(f"{name[:80]!r} is read before it is defined\n  in: {node}")
        for name in node.outputs:
            if name:
                known.add(_new(name, known))
    for name in outputs:
        if name not in known:
            raise FormatError(f"output {name[:80]!r} is not defined")
    return tuple(reversed(found))


def _new(name: str | None, known: Mapping[str, Any] | set[str]) -> str:
    """Return a name that is not among *known*."""
    if (name or "") in known:
        raise FormatError(f"{(name or '')[:80]!r} is defined twice")
    return name or ""


def _check_opset(reader: Reader, opsets: list[memoryview]) -> None:
    """Refuse a model whose version of ONNX's own operations is not known."""
    for data in opsets:
        read = reader.read(data, _OPSET, "an operation set")
        if read["domain"] in (None, "", "ai.onnx"):
            if (version := read["version"] or 0) not in OPSETS:
                raise FormatError(f"operation set {version} is not known\n  known: {OPSETS[0]} to {OPSETS[-1]}")
            return
    raise FormatError("model does not say which operation set of ONNX it uses")
