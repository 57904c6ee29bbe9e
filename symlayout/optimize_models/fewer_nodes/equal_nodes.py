"""Values that are computed twice: by nodes that do the same, or as numbers of a shape that are the same expressions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Set
from typing import TYPE_CHECKING

from symlayout.errors import FormatError, one_line
from symlayout.models.model import Model
from symlayout.models.onnx_subgraphs import has_graphs
from symlayout.models.subgraph_keys import STANDARD, draws
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten, ends_of

if TYPE_CHECKING:
    from onnx import NodeProto

_SMALL = 1 << 10  # bytes of a constant that is known by its bits; a larger one is known by its name


def merge_equal(graph: EditedGraph, model: Model, kept: Set[str]) -> list[Rewritten]:
    """Let each value be computed once, and return what was changed.

    Two nodes compute the same if they are one operation of the standard with the same attributes, of the same operands.
    Two values of a shape are the same if they are the same expressions in the dims of the model.

    Nothing is proved here.

    Parameters
    ----------
    model : Model
        What the graph is a copy of.
    kept : set of str
        Values that are made as they are.
    """
    fixed = kept | graph.outputs | graph.captured()
    constants, readers = _constants(graph), graph.readers()
    known: dict[Hashable, list[str]] = {}
    same: dict[str, str] = {}
    nodes = []
    for node in graph.nodes:
        for k, name in enumerate(node.input):
            node.input[k] = same.get(name, name)
        keys = [_key(node, constants), *_of_numbers(node, model)]
        found = next((known[key] for key in keys if key is not None and key in known), None)
        if found is not None and fixed.isdisjoint(node.output):
            same.update((name, first) for name, first in zip(node.output, found, strict=True) if name)
            continue
        nodes.append(node)
        for key in keys:
            if key is not None:
                known.setdefault(key, list(node.output))
    graph.nodes[:] = nodes
    return [
        Rewritten(name, f"{one_line(name)}: {one_line(first)}, which is the same", ends=ends_of(readers.get(name, ())))
        for name, first in same.items()
    ]


def _constants(graph: EditedGraph) -> dict[str, bytes]:
    """Return the bits of small initializers, with their types and shapes."""
    inputs = {v.name for v in graph.message.graph.input}
    found = {}
    for t in graph.message.graph.initializer:
        if t.name not in inputs and not t.data_location and t.ByteSize() <= _SMALL:
            plain = type(t)()
            plain.CopyFrom(t)
            plain.ClearField("name")
            plain.ClearField("doc_string")
            found[t.name] = plain.SerializeToString(deterministic=True)
    return found


def _key(node: NodeProto, constants: Mapping[str, bytes]) -> Hashable | None:
    """Return what two nodes share only if they compute the same; None for a node that may compute anything."""
    if node.domain not in STANDARD or draws(node) or node.op_type in ("Constant", "Dropout"):
        return None
    if has_graphs(node):
        return None
    attributes = []
    for a in node.attribute:
        plain = type(a)()
        plain.CopyFrom(a)
        plain.ClearField("doc_string")
        attributes.append(plain.SerializeToString(deterministic=True))
    operands = tuple(constants.get(name, name) for name in node.input)
    return node.op_type, operands, tuple(sorted(attributes)), tuple(map(bool, node.output))


def _of_numbers(node: NodeProto, model: Model) -> list[Hashable]:
    """Return what the outputs of a node share only with equal values of a shape."""
    if len(node.output) != 1:
        return []
    name = node.output[0]
    numbers = model.tensors.numbers(name)
    if numbers is None:
        return []
    try:
        dtype = model.tensors.shaped[name].dtype
    except FormatError:  # numbers of dims that no value shows
        return []
    return [(dtype, numbers.shape, *((type(n) is bool, n) for n in numbers.reshape(-1)))]
