"""The subgraphs of ONNX's nodes, such as the branches of an If: their nodes, and what they read from around them.

And the operation sets that nodes are of, in subgraphs too.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import AttributeProto, GraphProto, NodeProto


def graphs_of(a: AttributeProto) -> list[GraphProto]:
    """Return the graphs that an attribute has, whatever its stated type is."""
    return [*([a.g] if a.HasField("g") else []), *a.graphs]


def has_graphs(node: NodeProto) -> bool:
    """Return whether a node has subgraphs."""
    return any(map(graphs_of, node.attribute))


def inner_nodes(node: NodeProto) -> Iterator[NodeProto]:
    """Yield the nodes of the subgraphs of *node*, and of theirs."""
    waiting = [g for a in node.attribute for g in graphs_of(a)]
    while waiting:
        graph = waiting.pop()
        for found in graph.node:
            yield found
            waiting.extend(g for a in found.attribute for g in graphs_of(a))


def outer_names(node: NodeProto) -> list[str]:
    """Return the names that the subgraphs of *node* read from the graph around it, in order of first use."""
    found: dict[str, None] = {}
    waiting = [(g, frozenset[str]()) for a in node.attribute for g in graphs_of(a)]
    while waiting:
        graph, around = waiting.pop()
        own = {v.name for v in graph.input} | {t.name for t in graph.initializer}
        own |= {name for made in graph.node for name in made.output}
        known = around | own
        for reader in graph.node:
            found.update((name, None) for name in reader.input if name and name not in known)
            waiting.extend((g, known) for a in reader.attribute for g in graphs_of(a))
        found.update((value.name, None) for value in graph.output if value.name not in known)
    return list(found)


def standard(domain: str) -> str:
    """Return a domain as this package calls it: ONNX's own has two names."""
    return "" if domain == "ai.onnx" else domain


OWN_VERSION = f"symlayout {secrets.token_hex(16)}"  # the key of a mark, which no file can have


def version_of(node: NodeProto, opsets: Mapping[str, int]) -> int:
    """Return the version of the operation set that a node is of; *opsets* has those of the model, by domain.

    A node of a local function may be of another version than the model's: it has a mark then.
    """
    own = next((p.value for p in node.metadata_props if p.key == OWN_VERSION), None)
    return opsets.get(standard(node.domain), 1) if own is None else int(own)
