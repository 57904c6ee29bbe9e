"""Read an ``.onnx`` file with the package ``onnx``, and check that its graph holds together.

The file is not trusted: its fields are counted before the package makes messages of them, and an inconsistent file is a
`FormatError`.  Attributes and constants are converted when a node needs them (`symlayout.models.onnx_values`).
`symlayout.models.load_onnx` knows what operations mean.

Local functions are inlined.  Constants in other files are mapped, not read.  Left out: sparse
tensors.  Format: ONNX, ``onnx.proto``, IR versions 3 to 14.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.errors import FormatError, printable, shortened
from symlayout.models.model import TENSOR
from symlayout.models.model_file import MAX_RANK, ConstantFiles, open_model
from symlayout.models.onnx_subgraphs import OWN_VERSION, inner_nodes, outer_names, standard
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

OUT_OF_ORDER = "the file has nodes before those that they read: they are sorted"
COUNT = itertools.count()  # tells values apart that are equal to no other


@dataclass(frozen=True, slots=True)
class Input:
    """An input of the model.

    Attributes
    ----------
    dtype : numpy.dtype or None
        The element type; None if it is no tensor.
    shape : tuple or None
        An int, a name or None for each axis; None if the rank is unknown.
    kind : str
        What it is: see `Unshaped`.
    """

    name: str
    dtype: np.dtype[Any] | None
    shape: tuple[int | str | None, ...] | None
    kind: str = TENSOR


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
    notes : tuple of str
        What is unusual about the file.
    """

    inputs: tuple[Input, ...]
    nodes: tuple[NodeProto, ...]
    unused: tuple[NodeProto, ...]
    outputs: tuple[str, ...]
    constants: Mapping[str, TensorProto]
    opsets: Mapping[str, int]
    types: MutableMapping[str, TypeProto]
    source: ModelProto | None
    files: ConstantFiles
    notes: tuple[str, ...] = ()

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
        and not defined, or a node that reads what it computes.
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
    nodes = in_order(graph.node)
    notes = (OUT_OF_ORDER,) if nodes != tuple(graph.node) else ()
    needed, unused = _in_two(outputs, nodes, {*constants, *inputs})
    _check_opset(model, nodes)
    opsets = {standard(o.domain): o.version for o in model.opset_import}
    files, types, leaves = ConstantFiles(folder), _types(graph), tuple(inputs.values())
    return OnnxGraph(leaves, needed, unused, outputs, constants, opsets, types, source, files, notes)


def inner(outer: OnnxGraph, graph: GraphProto) -> OnnxGraph:
    """Return a subgraph, which also reads the constants of the graph around it."""
    constants = {**outer.constants, **_constants(graph)} if graph.initializer else outer.constants
    outputs = tuple(value.name for value in graph.output)
    nodes = in_order(graph.node)
    return OnnxGraph((), nodes, (), outputs, constants, outer.opsets, _types(graph), None, outer.files)


def _constants(graph: GraphProto) -> dict[str, TensorProto]:
    constants: dict[str, TensorProto] = {}
    for tensor in graph.initializer:
        constants[_new(tensor.name, constants)] = tensor
    return constants


def _types(graph: GraphProto) -> dict[str, TypeProto]:
    stated = {value.name: value.type for values in (graph.value_info, graph.output) for value in values}
    return stated | {v.name: v.type for v in graph.input if v.type.WhichOneof("value") != "tensor_type"}


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

    marked = _marked(model)
    try:
        inlined: ModelProto = inliner.inline_local_functions(marked)
    except Exception as error:  # of the package's C++, which does not document them
        raise FormatError(f"functions of the model cannot be inlined: {printable(error)}") from None
    for node in inlined.graph.node:
        for each in (node, *inner_nodes(node)):
            if (each.domain, each.op_type, each.overload) in functions:
                raise FormatError(f"functions of the model cannot be inlined: {shortened(each.op_type)!r} is left")
    return inlined


def _marked(model: ModelProto) -> ModelProto:
    """Return the model with the nodes of functions marked that are of other versions than the model imports.

    The package inlines only functions of the operation sets of the model: the functions state those here, and the marks
    say what `version_of` a node is.  The model imports what only functions import, too.
    """
    stated = {standard(o.domain): o.version for o in model.opset_import}
    imports = [(standard(o.domain), o.version) for f in model.functions for o in f.opset_import]
    if all(stated.get(domain) == version for domain, version in imports):
        return model
    marked = type(model)()
    marked.CopyFrom(model)
    for domain, version in imports:
        if domain not in stated:
            stated[domain] = version
            marked.opset_import.add(domain=domain, version=version)
    for function in marked.functions:
        own = {standard(o.domain): o.version for o in function.opset_import}
        others = {domain for domain, version in own.items() if stated[domain] != version}
        if "" in others and own[""] not in OPSETS:
            raise FormatError(f"function {shortened(function.name)!r} is of opset {own['']}, which is not known")
        for node in function.node:
            for each in (node, *inner_nodes(node)):
                if (domain := standard(each.domain)) in others:
                    each.metadata_props.add(key=OWN_VERSION, value=str(own[domain]))
        for o in function.opset_import:
            o.version = stated[standard(o.domain)]
    return marked


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
    if (field := value.type.WhichOneof("value")) is None:
        raise FormatError(f"input has no type\n  in: {where}")
    if field != "tensor_type":
        return Input(value.name, None, None, kind_of(field))
    kind = value.type.tensor_type
    dtype = dtype_of(kind.elem_type, where)
    if not kind.HasField("shape"):
        return Input(value.name, dtype, None)
    dims = [dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None for dim in kind.shape.dim]
    if len(dims) > MAX_RANK:
        raise FormatError(f"shape has {len(dims)} axes, at most {MAX_RANK} are known\n  in: {where}")
    return Input(value.name, dtype, tuple(dims))


def kind_of(field: str) -> str:
    """Return what a value is: see `Unshaped`; *field* is the one of its type in the file."""
    return field.removesuffix("_type").replace("_", " ")


def _in_two(
    outputs: tuple[str, ...], nodes: Sequence[NodeProto], known: set[str]
) -> tuple[tuple[NodeProto, ...], tuple[NodeProto, ...]]:
    """Return the nodes that *outputs* need, and the others, in their order, in which each follows what it reads."""
    needed, wanted = set(), set(outputs)
    for place, node in reversed(list(enumerate(nodes))):
        if not wanted.isdisjoint(node.output):
            needed.add(place)
            wanted.update(node.input)
            wanted.update(outer_names(node))
    for node in nodes:
        for name in (*node.input, *outer_names(node)):
            if name and name not in known:
                raise FormatError(f"{shortened(name)!r} is read and not defined\n  in: {label(node)}")
        for name in node.output:
            if name:
                known.add(_new(name, known))
    for name in outputs:
        if name not in known:
            raise FormatError(f"output {shortened(name)!r} is not defined")
    return tuple(n for k, n in enumerate(nodes) if k in needed), tuple(
        n for k, n in enumerate(nodes) if k not in needed
    )


def _makers(nodes: Sequence[NodeProto]) -> dict[str, list[int]]:
    """Return the numbers of the nodes that make each value."""
    makers: dict[str, list[int]] = {}
    for number, node in enumerate(nodes):
        for name in filter(None, node.output):
            makers.setdefault(name, []).append(number)
    return makers


def _read_by(node: NodeProto) -> list[str]:
    return [name for name in (*node.input, *outer_names(node)) if name]


def in_order(nodes: Sequence[NodeProto]) -> tuple[NodeProto, ...]:
    """Return *nodes* so that each follows those that it reads; the order stays where it can.

    Raises
    ------
    FormatError
        A node reads what it computes.
    """
    makers = _makers(nodes)
    read = [[maker for name in _read_by(node) for maker in makers.get(name, ())] for node in nodes]
    if all(maker < number for number, found in enumerate(read) for maker in found):
        return tuple(nodes)
    placed: dict[int, None] = {}
    opened: set[int] = set()
    for number in range(len(nodes)):
        waiting = [number]
        while waiting:
            at = waiting[-1]
            missing = [maker for maker in read[at] if maker not in placed] if at not in placed else []
            if not missing:
                placed[waiting.pop()] = None
                continue
            if at in opened:
                raise FormatError(f"a node reads what it computes\n  in: {label(nodes[at])}")
            opened.add(at)
            waiting += reversed(missing)
    return tuple(nodes[number] for number in placed)


def _new(name: str, known: Mapping[str, Any] | set[str]) -> str:
    """Return *name*, which must not be among *known*."""
    if name in known:
        raise FormatError(f"{shortened(name)!r} is defined twice")
    return name


def _check_opset(model: ModelProto, nodes: Sequence[NodeProto]) -> None:
    """Refuse a model whose version of ONNX's own operations is not known, if *nodes* need it."""
    for opset in model.opset_import:
        if opset.domain in ("", "ai.onnx"):
            if opset.version not in OPSETS:
                raise FormatError(f"operation set {opset.version} is not known\n  known: {OPSETS[0]} to {OPSETS[-1]}")
            return
    own = (n for node in nodes for n in (node, *inner_nodes(node)) if n.domain in ("", "ai.onnx"))
    if (node := next(own, None)) is not None:
        raise FormatError(f"model does not say which operation set of ONNX it uses\n  in: {label(node)}")
