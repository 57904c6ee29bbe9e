"""A copy of an ONNX model with other names of its values, and its nodes in another order."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto


def renamed_copy(model: ModelProto) -> ModelProto:
    """Return the model with all values but inputs and outputs renamed; of nodes that may be next, the last one is."""
    made = ModelProto.FromString(model.SerializeToString())
    graph = made.graph
    kept = {value.name for value in (*graph.input, *graph.output)}
    values = [*(c.name for c in graph.initializer), *(name for node in graph.node for name in node.output)]
    names = {name: f"copy of {name}" for name in values if name and name not in kept}
    for constant in graph.initializer:
        constant.name = names.get(constant.name, constant.name)
    for node in graph.node:
        node.output[:] = [names.get(name, name) for name in node.output]
    _rename_reads(graph, names)
    nodes = [NodeProto.FromString(node.SerializeToString()) for node in _in_another_order(graph)]
    del graph.node[:], graph.value_info[:]
    graph.node.extend(nodes)
    return made


def _subgraphs(node: NodeProto) -> Iterator[GraphProto]:
    for attribute in node.attribute:
        yield from [attribute.g] if attribute.type == AttributeProto.GRAPH else attribute.graphs


def _rename_reads(graph: GraphProto, names: Mapping[str, str]) -> None:
    for node in graph.node:
        node.name = ""
        node.input[:] = [names.get(name, name) for name in node.input]
        for inner in _subgraphs(node):
            _rename_reads(inner, names)
            for output in inner.output:
                output.name = names.get(output.name, output.name)


def _reads(node: NodeProto) -> set[str]:
    found = set(node.input)
    for inner in _subgraphs(node):
        found.update(*map(_reads, inner.node), (output.name for output in inner.output))
    return found


def _in_another_order(graph: GraphProto) -> list[NodeProto]:
    nodes = list(graph.node)
    made = {name for node in nodes for name in node.output}
    missing = [_reads(node) & made for node in nodes]
    users: dict[str, list[int]] = {}
    for place, names in enumerate(missing):
        for name in names:
            users.setdefault(name, []).append(place)
    ready = [-place for place, names in enumerate(missing) if not names]
    heapq.heapify(ready)
    found = []
    while ready:
        node = nodes[-heapq.heappop(ready)]
        found.append(node)
        for name in node.output:
            for place in users.get(name, []):
                missing[place].remove(name)
                if not missing[place]:
                    heapq.heappush(ready, -place)
    assert len(found) == len(nodes)
    return found
