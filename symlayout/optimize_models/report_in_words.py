"""What an optimisation did, in words: what went and why that is right for each region, and what stayed and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symlayout.errors import one_line
from symlayout.models.model import Model
from symlayout.optimize_models.changed_regions import ChangedRegion, RegionNode
from symlayout.optimize_models.crossings.permuted_nodes import name_of
from symlayout.optimize_models.fewer_nodes.packed_operands import packed_constants
from symlayout.optimize_models.movement_cost import COPY_FREE, Movement, bytes_of
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten
from symlayout.proof.verdict import Verdict

if TYPE_CHECKING:
    from onnx import NodeProto

_MOST_OPS = 6  # that a line names one by one
_NEIGHBOURS = 4  # nodes that move nothing, one after the other, behind which a sum is looked for


@dataclass(frozen=True, slots=True)
class Stayed:
    """A node of the result that moves elements.

    Attributes
    ----------
    value, op : str
        What it makes, and its operation.
    bytes : str
        How many bytes it writes.
    why : str
        Why it is there.
    """

    value: str
    op: str
    bytes: str
    why: str

    def to_json(self) -> dict[str, str]:
        """Return it as JSON data."""
        return {"value": self.value, "op": self.op, "bytes": self.bytes, "why": self.why}

    def __str__(self) -> str:
        return f"{self.op} {one_line(self.value)}, {self.bytes} bytes: {self.why}"


Refusals = Sequence[tuple[Rewritten, str, str]]
"""What was rewritten in vain, the rule, and why it was not done."""


def what_stayed(model: Model, refused: Refusals, held: Sequence[str]) -> tuple[Stayed, ...]:
    """Return the nodes of a result that write moved elements, each with the reason.

    Parameters
    ----------
    refused : sequence
        The rewrites that were not done.
    held : sequence of str
        The operations that stay in their layout, by `name_of`.
    """
    graph, movement = EditedGraph(model.source), Movement(model)
    vain = {each.value: f"{rule} was not done: {reason}" for each, rule, reason in refused}
    around = _Around(graph, movement, set(held))
    packed = packed_constants(model)  # what is moved of constants is known, and no movement of the graph
    found = []
    for node in graph.nodes:
        made = [name for name in node.output if name in movement.sources or name in packed]
        if not made or node.op_type in COPY_FREE:
            continue
        sizes = [bytes_of(t) for name in made if (t := movement.tensors[name]) is not None]
        why = next((vain[name] for name in made if name in vain), "")
        if not why and not packed.isdisjoint(made):
            why = "as a constant, onnxruntime would pack it and round in another way (law reassociate)"
        found.append(Stayed(made[0], node.op_type, str(sum(sizes)), why or around.why(node)))
    return tuple(found)


class _Around:
    """What stands beside the movement of a graph."""

    def __init__(self, graph: EditedGraph, movement: Movement, held: Set[str]) -> None:
        self._graph, self._movement, self._held = graph, movement, held
        self._producers, self._readers = graph.producers(), graph.readers()
        self._inputs = {v.name for v in graph.message.graph.input}

    def why(self, node: NodeProto) -> str:
        """Return why a node moves elements, by what it reads and what reads it."""
        if (held := self._held_beside(node)) is not None:
            return f"{held} beside it adds up terms in this order (law reassociate)"
        if not self._graph.outputs.isdisjoint(node.output):
            return "it makes an output, whose layout is given"
        if not self._inputs.isdisjoint(node.input[:1]):
            return "it reads an input, whose layout is given"
        read = Counter(r.op_type for name in node.output for r in self._readers.get(name, ()))
        readers = f"{_counted(read)} read" + ("s" if sum(read.values()) == 1 else "")
        return f"{readers} its elements in this order, and no spelling that costs less was proved"

    def _held_beside(self, node: NodeProto) -> str | None:
        """Return the nearest operation that stays in its layout; None if there is none nearby."""
        for step in (self._behind, self._before):
            at = [node]
            for _ in range(_NEIGHBOURS):
                at = [other for each in at for other in step(each)]
                names = [name_of(other) for other in at]
                if (held := next((name for name in names if name in self._held), None)) is not None:
                    return held
        return None

    def _behind(self, node: NodeProto) -> list[NodeProto]:
        return [r for name in node.output for r in self._readers.get(name, ())]

    def _before(self, node: NodeProto) -> list[NodeProto]:
        return [self._producers[name] for name in node.input if name in self._producers]


def words_of(region: ChangedRegion, accepted: Mapping[str, Sequence[Rewritten]]) -> dict[str, Any]:
    """Return what became of a region and why that is right, as JSON data.

    Parameters
    ----------
    accepted : mapping
        What was rewritten, by the rule.
    """
    names = {name for side in (region.before, region.after) for n in side for name in n.outputs}
    why = []
    for rule, rewritten in accepted.items():
        own = [each for each in rewritten if not names.isdisjoint((each.value, *each.ends))]
        if own:
            proofs = [proof for each in own for proof in each.proofs]
            proved = sum(proof.verdict is Verdict.PROVED for proof in proofs)
            why.append({"rule": rule, "values": [each.value for each in own], "proved": proved})
    return {"went": went(region), "why": why}


def went(region: ChangedRegion) -> str:
    """Return what became of a region, as a line.

    >>> node = RegionNode("Transpose", ("x",), ("y",), "(N, 3)", "12*N")
    >>> went(ChangedRegion((node, node), (), (3, 0), 2))
    'Transpose x 2 and 3 nodes of shapes became nothing, in 2 places'
    """
    sides = [
        _side(nodes, shapes) for nodes, shapes in zip((region.before, region.after), region.shape_nodes, strict=True)
    ]
    places = f", in {region.count} places" if region.count > 1 else ""
    return f"{sides[0]} became {sides[1]}{places}"


def _side(nodes: Sequence[RegionNode], shapes: int) -> str:
    parts = [_counted(Counter(n.op for n in nodes))] if nodes else []
    parts += [f"{shapes} node{'s' if shapes > 1 else ''} of shapes"] if shapes else []
    return " and ".join(parts) or "nothing"


def _counted(ops: Mapping[str, int]) -> str:
    named = [f"{op} x {n}" if n > 1 else op for op, n in ops.items()]
    others = len(named) - _MOST_OPS
    return ", ".join(named[:_MOST_OPS]) + (f" and {others} other operations" if others > 0 else "")


def lines_of(regions: Iterable[tuple[ChangedRegion, Mapping[str, Any]]], stayed: Sequence[Stayed]) -> list[str]:
    """Return the whole of it as lines: each region, why it is right, and what stayed."""
    lines: list[str] = []
    for k, (_, words) in enumerate(regions, start=1):
        lines.append(f"{k}. {words['went']}.")
        lines += [
            f"   {each['rule']}: {len(each['values'])} value{'s' if len(each['values']) > 1 else ''}, "
            f"{each['proved']} proof{'s' if each['proved'] != 1 else ''} of their own, for all sizes"
            for each in words["why"]
        ]
    lines += ["", "What still moves:"] if stayed else ["", "Nothing moves any more."]
    return lines + [f"- {each}" for each in stayed]
