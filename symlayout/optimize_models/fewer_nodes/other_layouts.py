"""Values that are computed twice, in two orders of their axes: the later one is a Transpose of the earlier one."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING

from symlayout.deadlines import work
from symlayout.errors import one_line
from symlayout.models.model import Model
from symlayout.optimize_models.movement_cost import Cost, Movement, bytes_of, cost_of
from symlayout.optimize_models.movement_regions import dead_without
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten
from symlayout.proof.classes import Classes

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto


def transpose_computed(model: Model, kept: Set[str] = frozenset()) -> tuple[ModelProto, list[Rewritten]]:
    """Return the model with such values transposed, where that moves no more than before, and what was changed.

    Parameters
    ----------
    kept : set of str
        Values that are made as they are.
    """
    graph, movement = EditedGraph(model.source), Movement(model)
    producers, uses = graph.producers(), graph.uses()
    changes: list[Rewritten] = []
    gone: set[int] = set()
    work(len(graph.nodes))
    for node, first, perm in reversed(list(_twice(graph, movement))):
        name = node.output[0]
        dead = dead_without(name, first, producers, uses)
        if name in kept or id(node) in gone or any(id(n) in gone or first in n.output for n in dead):
            continue
        value = movement.tensors[name]
        assert value is not None
        cost = Cost(transposes=1, nodes=1)
        cost.sizes[bytes_of(value)] += 1
        if not cost.at_most(cost_of(dead, movement.tensors, movement.sources), value.requires):
            continue
        node.output[0] = graph.new_name(f"{name}_before")
        graph.insert([graph.node("Transpose", [first], name, perm=list(perm))], before=node)
        gone.update(map(id, dead))
        changes.append(Rewritten(name, f"{one_line(name)} is a Transpose of {one_line(first)}", ends=(name,)))
    return graph.finish(), changes


def _twice(graph: EditedGraph, movement: Movement) -> Iterator[tuple[NodeProto, str, tuple[int, ...]]]:
    """Yield the nodes that compute what another one before has computed, its output, and the order of its axes here."""
    classes = Classes()
    first: dict[int, str] = {}
    named = graph.named()
    for node in graph.nodes:
        name = node.output[0]
        t = movement.tensors.get(name)
        if len(node.output) != 1 or t is None or name in movement.sources or name not in named or t.rank < 2:
            continue
        earlier = first.setdefault(classes.member(t).root, name)
        before = movement.tensors[earlier]
        perm = None if earlier == name or before is None else classes.order_of(before, t)
        if perm is not None and perm != tuple(range(t.rank)):
            yield node, earlier, perm
