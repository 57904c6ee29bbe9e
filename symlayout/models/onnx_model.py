"""Read an ``.onnx`` file with the package ``onnx``, and check that its graph holds together.

The file is not trusted: its fields are counted before the package makes messages of them, and an inconsistent file is a
`FormatError`.  Attributes and constants are converted when a node needs them (`symlayout.models.onnx_values`).
`symlayout.models.load_onnx` knows what operations mean.

Local functions are inlined.  Constants in other files are mapped, not read.  Left out: inputs that are sequences, maps
or optionals, and sparse tensors.  Format: ONNX, ``onnx.proto``, IR versions 3 to 14.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.errors import FormatError, printable, shortened
from symlayout.models.model_file import MAX_RANK, ConstantFiles, open_model
from symlayout.models.onnx_subgraphs import inner_nodes, outer_names
from symlayout.models.onnx_values import Constant, array, dtype_of, label, onnx_package
from symlayout.models.protobuf_fields import check_fields

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, ValueInfoProto

MAX_BYTES = 2 << 30  # what protobuf itself can read
MAX_INLINED = 200_000  # nodes, once local functions are inlined
MAX_COPIED = 32 << 20  # bytes of nodes, beyond twice what the file has, once local functions are inlined
IR_VERSIONS = range(3, 15)
_DEFAULTS = 4  # the IR version from which on callers may give another value for an initializer that is an input
OPSETS = range(1, 29)  # newer ones may give a name another meaning

COUNT = itertools.count()  # tells values apart that are equal to no other


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
    unused : tuple of NodeProto
        The other nodes, in the same order.  Runtimes compute these, too.
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
    unused: tuple[NodeProto, ...]
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
    nodes, unused = _in_two(outputs, graph.node, {*constants, *inputs})
    _check_opset(model)
    opsets = {"" if o.domain == "ai.onnx" else o.domain: o.version for o in model.opset_import}
    files = ConstantFiles(folder)
    return OnnxGraph(tuple(inputs.values()), nodes, unused, outputs, constants, opsets, _types(graph), source, files)


def inner(outer: OnnxGraph, graph: GraphProto) -> OnnxGraph:
    """Return a subgraph, which also reads the constants of the graph around it."""
    constants = {**outer.constants, **_constants(graph)} if graph.initializer else outer.constants
    outputs = tuple(value.name for value in graph.output)
    nodes = tuple(graph.node)
    return OnnxGraph((), nodes, (), outputs, constants, outer.opsets, _types(graph), None, outer.files)


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
    bodies = (model.graph.node, *(f.node for f in model.functions))
    most = MAX_COPIED + 2 * sum(node.ByteSize() for nodes in bodies for node in nodes)
    sizes: dict[tuple[str, str, str], tuple[int, int]] = {}

    def size(nodes: Sequence[NodeProto], calls: tuple[tuple[str, str, str], ...]) -> tuple[int, int]:
        """Return how many nodes and bytes a body has."""
        count, length = 0, sum(node.ByteSize() for node in nodes)
        for node in itertools.chain(nodes, *(inner_nodes(node) for node in nodes)):
            key = (node.domain, node.op_type, node.overload)
            if key in calls:
                raise FormatError(f"function {shortened(node.op_type)!r} calls itself")
            if key in functions and key not in sizes:
                if len(calls) > _MAX_CALLS:
                    raise FormatError(f"functions call each other more than {_MAX_CALLS} deep")
                sizes[key] = size(functions[key].node, (*calls, key))
            more, longer = sizes.get(key, (1, 0))
            count, length = count + more, length + longer
            if count > MAX_INLINED:
                raise FormatError(f"model has more than {MAX_INLINED} nodes, with its functions inlined")
            if length > most:
                raise FormatError(f"nodes of the model have more than {most} bytes, with its functions inlined")
        return count, length

    size(model.graph.node, ())
    from onnx import inliner

    try:
        inlined: ModelProto = inliner.inline_local_functions(model)
    except Exception as error:  # of the package's C++, which does not document them
        raise FormatError(f"functions of the model cannot be inlined: {printable(error)}") from None
    return inlined


_MAX_CALLS = 64


def _message(path: Path) -> ModelProto:
    """Return the file as a message, of a known version."""
    kind = onnx_package().ModelProto
    where = f"in: {shortened(path.name)!r}"
    with open_model(path) as file:
        if (size := os.fstat(file.fileno()).st_size) > MAX_BYTES:
            raise FormatError(f"model has more than {MAX_BYTES} bytes\n  {where}")
        data = file.read(size)
    try:
        check_fields(data, kind.DESCRIPTOR)
        model = kind.FromString(data)
    except Exception as error:  # of protobuf, which does not document them all
        raise FormatError(f"file cannot be read as an ONNX model: {printable(error)}\n  {where}") from None
    if model.ir_version not in IR_VERSIONS or not model.HasField("graph"):
        known = f"{IR_VERSIONS[0]} to {IR_VERSIONS[-1]}"
        raise FormatError(f"file is no ONNX model of IR version {known}\n  {where}")
    return model


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


def _in_two(
    outputs: tuple[str, ...], nodes: Sequence[NodeProto], known: set[str]
) -> tuple[tuple[NodeProto, ...], tuple[NodeProto, ...]]:
    """Return the nodes that *outputs* need, and the others, in the order of the file: each follows what it reads."""
    needed, wanted = set(), set(outputs)
    for place, node in reversed(list(enumerate(nodes))):
        if not wanted.isdisjoint(node.output):
            needed.add(place)
            wanted.update(node.input)
            wanted.update(outer_names(node))
    for node in nodes:
        for name in (*node.input, *outer_names(node)):
            if name and name not in known:
                raise FormatError(f"{shortened(name)!r} is read before it is defined\n  in: {label(node)}")
        for name in node.output:
            if name:
                known.add(_new(name, known))
    for name in outputs:
        if name not in known:
            raise FormatError(f"output {shortened(name)!r} is not defined")
    return tuple(n for k, n in enumerate(nodes) if k in needed), tuple(
        n for k, n in enumerate(nodes) if k not in needed
    )


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
