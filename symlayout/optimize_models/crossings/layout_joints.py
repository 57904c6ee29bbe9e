"""Where movement with a Transpose of its own begins and ends: another layout of the value there costs nothing.

Attention ends in a Transpose and a Reshape.  If what is added to it has another layout, its Transpose makes that layout
at once.  For the cut that says which operations run in which layout, a Transpose that keeps all axes stands at such a
place: what it becomes in the other layout is one with the Transpose beside it, once the region is spelled again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from symlayout.ops.transpose import transpose
from symlayout.optimize_models.crossings.permuted_nodes import Perm, inverse
from symlayout.optimize_models.movement_cost import Cost, Movement, cost_of
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.spellings.spell_movement import Speller
from symlayout.tensors.chain import Tensor
from symlayout.tensors.stand_in import rebased

if TYPE_CHECKING:
    from onnx import NodeProto

_MAX_CHAIN = 6  # moves between a value and the Transpose beside it
_MORE_NODES = Cost(nodes=8)  # that reshapes in another layout may take


@dataclass(frozen=True, slots=True)
class Joint:
    """A Transpose that keeps all axes.

    Attributes
    ----------
    value : str
        The value that is read or made beside it.
    added : str
        The name that was added: what the Transpose makes of the value, or what the value is made of.
    node : NodeProto
        The Transpose.
    fits : function
        Returns whether the movement costs no more from, or to, the value in its other layout; this takes a while.
    """

    value: str
    added: str
    node: NodeProto
    fits: Callable[[], bool]


def add_joints(graph: EditedGraph, movement: Movement, perm: Perm, speller: Speller) -> list[Joint]:
    """Put a Transpose that keeps all axes where movement with another Transpose begins or ends, and return all of them.

    The other layout of a value is that before the permutation *perm*.  New values get their tensors.
    """
    chains = _Chains(graph, movement, perm, speller)
    made: list[Joint] = []
    kept = list(range(len(perm)))
    for node in list(graph.nodes):
        for name in node.output:
            t = movement.tensors.get(name) if name else None
            if t is None or t.rank != len(perm) or t.values is not None:
                continue
            if (fits := chains.end_in(name)) is not None:
                added = graph.new_name(f"{name}_moved")
                node.output[list(node.output).index(name)] = added
                new = graph.node("Transpose", [added], name, perm=kept)
                graph.replace(node, [node, new])
                movement.tensors[added] = t
                made.append(Joint(name, added, new, fits))
                continue
            for reader, fits in chains.that_begin_at(name):
                added = graph.new_name(f"{name}_taken")
                reader.input[0] = added
                new = graph.node("Transpose", [name], added, perm=kept)
                graph.insert([new], before=reader)
                movement.tensors[added] = t
                made.append(Joint(name, added, new, fits))
    return made


def drop_joints(graph: EditedGraph, joints: Sequence[Joint]) -> None:
    """Take out those that still keep all axes."""
    producers = graph.producers()
    gone: dict[str, str] = {}
    for joint in joints:
        for node in (producers.get(joint.value), producers.get(joint.added)):
            if node is None or not _keeps_axes(graph, node):
                continue
            (source,), (target,) = node.input, node.output
            if {source, target} != {joint.value, joint.added}:
                continue
            graph.replace(node, [])
            if source == joint.added:  # the value has its name again
                made_by = producers[source]
                made_by.output[list(made_by.output).index(source)] = target
            gone[joint.added] = joint.value
    graph.redirect_all(gone)


def _keeps_axes(graph: EditedGraph, node: NodeProto) -> bool:
    perm = graph.attribute(node, "perm") if graph.is_standard(node, "Transpose") else None
    return graph.is_standard(node, "Identity") or (perm is not None and perm == sorted(perm))


class _Chains:
    """Chains of movement in a graph, each value of which is read once."""

    def __init__(self, graph: EditedGraph, movement: Movement, perm: Perm, speller: Speller) -> None:
        self.graph, self.movement, self.sources, self.perm, self.speller = (
            graph,
            movement,
            movement.sources,
            perm,
            speller,
        )
        self.readers: Mapping[str, Sequence[NodeProto]] = graph.readers()
        self.uses, self.producers = graph.uses(), graph.producers()

    def end_in(self, name: str) -> Callable[[], bool] | None:
        """Return what says whether a joint fits, if a value is moved by a Transpose and other moves; else None."""
        if len(self.sources.get(name, ())) != 1 or self._is_transpose(self.producers[name]):
            return None
        at, nodes = name, list["NodeProto"]()
        while len(nodes) < _MAX_CHAIN and (not nodes or self.uses[at] == 1):
            node = self.producers.get(at)
            if node is None or len(self.sources.get(at, ())) != 1:
                break
            nodes.append(node)
            (at,) = self.sources[at]
        start, end = self.movement.tensors.get(at), self.movement.tensors.get(name)
        if start is None or end is None or not self._turns(nodes):
            return None
        return lambda: self._costs_no_more(start, transpose(end, inverse(self.perm)), nodes)

    def that_begin_at(self, name: str) -> Iterator[tuple[NodeProto, Callable[[], bool]]]:
        """Yield the nodes that move a computed value before a Transpose, and what says whether a joint fits."""
        if name in self.sources:
            return
        for reader in list(self.readers.get(name, [])):
            if reader.input[0] == name and not self._is_transpose(reader):
                fits = self._taken(reader, name)
                if fits is not None:
                    yield reader, fits

    def _taken(self, node: NodeProto, name: str) -> Callable[[], bool] | None:
        at, nodes = name, list["NodeProto"]()
        while len(nodes) < _MAX_CHAIN and len(node.output) == 1 and self.sources.get(node.output[0]) == [at]:
            nodes.append(node)
            at = node.output[0]
            if self.uses[at] != 1 or len(self.readers.get(at, [])) != 1:
                break
            (node,) = self.readers[at]
        start, end = self.movement.tensors.get(name), self.movement.tensors.get(at)
        if start is None or end is None or not self._turns(nodes):
            return None
        return lambda: self._fits_before(start, end, nodes)

    def _fits_before(self, start: Tensor, end: Tensor, nodes: Sequence[NodeProto]) -> bool:
        extents = tuple(start.extents[k] for k in inverse(self.perm))
        other = Tensor("x", start.dtype, extents, start.facts, key="the other layout")
        moved = rebased(end, {id(start): transpose(other, self.perm)})
        return moved is not None and self._costs_no_more(other, moved, nodes)

    def _turns(self, nodes: Sequence[NodeProto]) -> bool:
        """Return whether there is a Transpose, and none of many more axes than the value, which take long to spell."""
        ranks = [t.rank for n in nodes if self._is_transpose(n) and (t := self.movement.tensors.get(n.output[0]))]
        return bool(ranks) and max(ranks) <= len(self.perm) + 1

    def _costs_no_more(self, start: Tensor, end: Tensor, nodes: Sequence[NodeProto]) -> bool:
        cost = cost_of(nodes, self.movement.tensors, self.sources)
        return self.speller.cheapest(start, end, cost + _MORE_NODES) is not None

    def _is_transpose(self, node: NodeProto) -> bool:
        return self.graph.is_standard(node, "Transpose")
