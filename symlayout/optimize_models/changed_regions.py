"""Which parts of a graph an optimisation changed: the nodes of each part before and after."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symlayout.models.model import Model
from symlayout.optimize_models.movement_cost import Movement, bytes_of
from symlayout.tensors.chain import Tensor

if TYPE_CHECKING:
    from onnx import NodeProto


@dataclass(frozen=True, slots=True)
class RegionNode:
    """A node of a region, as a picture shows it.

    Attributes
    ----------
    op : str
        Its operation.
    inputs, outputs : tuple of str
        The names of the values of the region's data; shapes and constants are left out.
    shape : str
        The extents of its first output.
    bytes : str
        How many bytes it moves; an empty text if it computes.
    """

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    shape: str
    bytes: str = ""


@dataclass(frozen=True, slots=True)
class ChangedRegion:
    """A part of the graph that was changed.

    Attributes
    ----------
    before, after : tuple of RegionNode
        Its nodes in order.
    shape_nodes : tuple of int
        How many more nodes compute shapes, before and after.
    count : int
        How many parts of the graph look like this one.
    """

    before: tuple[RegionNode, ...]
    after: tuple[RegionNode, ...]
    shape_nodes: tuple[int, int]
    count: int = 1

    def to_json(self) -> dict[str, Any]:
        """Return the region as JSON data."""
        sides = {"before": self.before, "after": self.after}
        return {
            "count": self.count,
            **{
                side: [{"op": n.op, "outputs": list(n.outputs), "shape": n.shape, "bytes": n.bytes} for n in nodes]
                for side, nodes in sides.items()
            },
        }


def changed_regions(before: Model, after: Model) -> tuple[ChangedRegion, ...]:
    """Return the parts of the graph that differ, those that look alike as one with their count."""
    graphs = [list(model.source.graph.node) for model in (before, after)]
    keys = [{node.SerializeToString() for node in graph} for graph in graphs]
    others = reversed(keys)
    changed = [
        [n for n in nodes if n.SerializeToString() not in other] for nodes, other in zip(graphs, others, strict=True)
    ]
    made = {name for nodes in changed for node in nodes for name in node.output if name}
    root = {name: name for name in made}

    def find(name: str) -> str:
        while root[name] != name:
            root[name] = name = root[root[name]]
        return name

    for node in (n for nodes in changed for n in nodes):
        first, *others = [name for name in (*node.output, *node.input) if name in made]
        for name in others:
            root[find(name)] = find(first)
    movements = [Movement(model) for model in (before, after)]
    parts: dict[str, list[list[NodeProto]]] = defaultdict(lambda: [[], []])
    for side, nodes in enumerate(changed):
        for node in nodes:
            parts[find(next(name for name in node.output if name))][side].append(node)
    regions: dict[Any, ChangedRegion] = {}
    counts: Counter[Any] = Counter()
    for sides in parts.values():
        drawn = [_drawn(nodes, movement) for nodes, movement in zip(sides, movements, strict=True)]
        key = tuple(tuple((n.op, n.shape) for n in nodes) for nodes in drawn)
        hidden = len(sides[0]) - len(drawn[0]), len(sides[1]) - len(drawn[1])
        regions.setdefault(key, ChangedRegion(drawn[0], drawn[1], hidden))
        counts[key] += 1
    return tuple(
        ChangedRegion(r.before, r.after, r.shape_nodes, counts[key])
        for key, r in regions.items()
        if r.before or r.after
    )


def _drawn(nodes: Iterable[NodeProto], movement: Movement) -> tuple[RegionNode, ...]:
    """Return the nodes that compute no shapes."""
    made = []
    for node in nodes:
        first = next((movement.tensors.get(name) for name in node.output if name), None)
        if node.op_type == "Constant" or _is_shape(first):
            continue
        data = tuple(n for n in node.input if n and not _is_small(n, movement.tensors))
        moved = bytes_of(first) if first is not None and node.output[0] in movement.sources else ""
        made.append(RegionNode(node.op_type, data, tuple(filter(None, node.output)), _shape(first), str(moved)))
    return tuple(made)


def _is_shape(t: Tensor | None) -> bool:
    return t is not None and t.rank <= 1 and t.dtype is not None and t.dtype.kind in "iu"


def _is_small(name: str, tensors: Mapping[str, Tensor | None]) -> bool:
    t = tensors.get(name)
    return name not in tensors or t is None or t.values is not None or _is_shape(t)


def _shape(t: Tensor | None) -> str:
    return "?" if t is None else "(" + ", ".join(str(e) for e in t.shape) + ")"
