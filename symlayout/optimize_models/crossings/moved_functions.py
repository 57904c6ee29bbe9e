"""Functions of single elements that are computed before the movement of their operands, where movement then cancels.

``M2(f(M1(x)))`` is ``(M2 M1)(f(x))``, whatever the movement: windows are taken out of an image and put back, or an axis
is put in and taken out.  Several functions in a row cross together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symlayout.deadlines import work
from symlayout.errors import one_line
from symlayout.models.model import Model
from symlayout.optimize_models.movement_cost import Cost, Movement, cost_of
from symlayout.optimize_models.movement_regions import Ways, dead_without
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten
from symlayout.optimize_models.spellings.spell_movement import Speller, Spelling
from symlayout.tensors.chain import Tensor
from symlayout.tensors.chain_key import chain_key
from symlayout.tensors.computation import is_pointwise
from symlayout.tensors.stand_in import rebased
from symlayout.walks import Walk

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

_MOST_SOURCES = 8  # values on the way to an operand that are tried, the furthest ones first


def move_functions(model: Model, kept: Set[str], speller: Speller) -> tuple[ModelProto, list[Rewritten]]:
    """Return the model with functions before the movement that cancels behind them, and what was changed.

    Parameters
    ----------
    kept : set of str
        Values that are made as they are.
    speller : Speller
        One that remembers the spellings of other models with these operations.
    """
    graph = EditedGraph(model.source)
    functions = _Functions(graph, Movement(model), kept, speller)
    changes = [change for node in list(graph.nodes) if (change := functions.move(node)) is not None]
    return graph.finish(), changes


@dataclass(frozen=True, slots=True)
class _Block:
    """Nodes that compute functions of single elements, one after the other.

    Attributes
    ----------
    nodes : list of NodeProto
        The nodes in order; the last one computes what is moved behind them.
    moved : list of str
        The values of the block's shape that it reads, each of them moved.
    """

    nodes: list[NodeProto]
    moved: list[str]


class _Functions:
    """The functions of a graph while they are moved."""

    def __init__(self, graph: EditedGraph, movement: Movement, kept: Set[str], speller: Speller) -> None:
        self.graph, self.movement, self.kept, self.speller = graph, movement, kept, speller
        self.tensors = movement.tensors
        self.producers, self.uses, self.readers = graph.producers(), graph.uses(), graph.readers()
        self.needed = graph.outputs | graph.captured()
        self.named = graph.named()
        self.ways = Ways(movement, [n for node in graph.nodes for n in node.output if n in movement.sources])
        self.touched: set[str] = set()

    def move(self, last: NodeProto) -> Rewritten | None:
        """Move the block that ends in a node; return what was done, or None if that saves nothing."""
        made = last.output[0]
        readers = self.readers.get(made, ())
        if len(last.output) != 1 or made in self.needed or not readers:
            return None
        if not all(set(node.output) <= self.movement.sources.keys() for node in readers):
            return None
        block = self._block(last)
        if block is None or self.touched.intersection(name for node in block.nodes for name in node.input):
            return None
        ends = list(self._ends(made))
        if not ends or not self.kept.isdisjoint(ends):
            return None
        for sources in self._sources(block.moved):
            if self.touched.isdisjoint((*sources, *ends)) and (spelled := self._spelled(block, made, sources, ends)):
                return self._apply(block, made, sources, spelled)
        return None

    def _block(self, last: NodeProto) -> _Block | None:
        """Return the longest block that ends in a node; None if that is none, or reads what is not moved."""
        value = self.tensors.get(last.output[0])
        inside: dict[int, NodeProto] = {}
        moved: dict[str, None] = {}
        waiting = {last.output[0]}
        while waiting:
            name = waiting.pop()
            node = self.producers.get(name)
            if value is None or node is None or not self._is_of_elements(node, value):
                return None
            inside[id(node)] = node
            for read in filter(None, node.input):
                t = self.tensors.get(read)
                if t is None or t.extents != value.extents:  # one element for all; `_is_of_elements` has seen it
                    continue
                if read in self.movement.sources:
                    moved[read] = None
                elif read in self.needed or any(id(r) not in inside for r in self.readers.get(read, ())):
                    return None
                else:
                    waiting.add(read)
        nodes = [node for node in self.graph.nodes if id(node) in inside] if moved else []
        work(len(self.graph.nodes) if moved else 1)
        return _Block(nodes, list(moved)) if nodes else None

    def _is_of_elements(self, node: NodeProto, value: Tensor) -> bool:
        """Return whether a node computes each element of *value*'s shape from the elements there, and from numbers."""
        if len(node.output) != 1 or (t := self.tensors.get(node.output[0])) is None or t.extents != value.extents:
            return False
        first = self.tensors.get(node.input[0]) if node.input else None
        if t.dtype == np.float16 and first is not None and first.dtype not in (None, t.dtype):
            return False  # onnxruntime does not round to float16 before what it computes in float32
        ends = {self.tensors.get(name) for name in node.input}
        walk = Walk([t])
        for at in walk:
            if at.extents != value.extents:
                if at.rank > value.rank or any(e != 1 for e in at.extents):
                    return False
            elif at not in ends or at is t:
                if not at.inputs or (at.body is not None and (at.body.random or not is_pointwise(at))):
                    return False
                walk.to(at.inputs)
        return t.body is not None

    def _ends(self, made: str) -> Iterator[str]:
        """Yield the values that are moved from a value and read by what is no movement from it."""
        walk = Walk([made])
        for at in walk:
            onwards = [out for r in self.readers.get(at, ()) for out in r.output if self.ways.before.get(out) == at]
            if at != made and (at in self.needed or len(onwards) < len(self.readers.get(at, ()))):
                yield at
            walk.to(onwards)
        work(len(walk.seen))

    def _sources(self, moved: Sequence[str]) -> Iterator[list[str]]:
        """Yield values of one shape from which the operands are moved in one way, the furthest ones first."""
        chains = [list(self._before(name)) for name in moved]
        for source in chains[0][::-1][:_MOST_SOURCES]:
            way = self._way(source, moved[0])
            found = [source]
            for name, chain in zip(moved[1:], chains[1:], strict=True):
                same = (s for s in chain if way is not None and self._way(s, name) == way)
                if (other := next(same, None)) is None:
                    break
                found.append(other)
            else:
                yield found

    def _before(self, name: str) -> Iterator[str]:
        while (name := self.ways.before.get(name, "")) != "":
            if name in self.named and self.tensors.get(name) is not None:
                yield name

    def _way(self, source: str, name: str) -> object:
        """Return a key for the movement between two values, whatever their elements."""
        start, end = self.tensors[source], self.tensors[name]
        key = None if start is None or end is None else chain_key(start, end)
        return None if not isinstance(key, tuple) else (key[1], key[3])

    def _spelled(
        self, block: _Block, made: str, sources: Sequence[str], ends: Sequence[str]
    ) -> dict[str, Spelling] | None:
        """Return how each end is moved from the functions of the sources; None if that costs no less than now."""
        inside = set(map(id, block.nodes))
        alone = [v for v in block.moved if v not in self.needed and inside.issuperset(map(id, self.readers[v]))]
        dead = {id(n): n for v, s in zip(block.moved, sources, strict=True) if v in alone for n in self._dead(v, s)}
        behind = {id(n): n for end in ends for n in self._dead(end, made)}
        below = cost_of([*dead.values(), *behind.values()], self.tensors, self.movement.sources)
        found: dict[str, Spelling] = {}
        first, source, value = (self.tensors[n] for n in (block.moved[0], sources[0], made))
        assert first is not None
        assert source is not None
        assert value is not None
        leaf = Tensor("x", value.dtype, source.extents, source.facts, key="moved function")
        operand = rebased(first, {id(source): leaf})
        for end in ends:
            t = self.tensors[end]
            wanted = None if t is None or operand is None else rebased(t, {id(value): operand})
            spelling = None if wanted is None else self.speller.cheapest(leaf, wanted, below)
            if spelling is None:
                return None
            found[end] = spelling
            below = Cost(below.sizes - spelling.cost.sizes, below.transposes - spelling.cost.transposes, below.nodes)
        return found

    def _dead(self, name: str, source: str) -> list[NodeProto]:
        return dead_without(name, source, self.producers, self.uses)

    def _apply(self, block: _Block, made: str, sources: Sequence[str], spelled: Mapping[str, Spelling]) -> Rewritten:
        graph = self.graph
        names = dict(zip(block.moved, sources, strict=True))
        new: list[NodeProto] = []
        for node in block.nodes:
            copy = type(node)()
            copy.CopyFrom(node)
            copy.name = graph.new_name(f"{node.name or node.output[0]}_before")
            copy.input[:] = [names.get(name, name) for name in node.input]
            names[node.output[0]] = copy.output[0] = graph.new_name(f"{node.output[0]}_before")
            new.append(copy)
        graph.insert(new, before=block.nodes[-1])
        source = self.tensors[sources[0]]
        assert source is not None
        for end, spelling in spelled.items():
            producer = self.producers[end]
            for k, out in enumerate(producer.output):
                if out == end:
                    producer.output[k] = graph.new_name(f"{end}_moved")
            steps = spelling.emit(graph, names[made], source.shape, end)
            graph.insert(steps or [graph.node("Identity", [names[made]], end)], before=producer)
        self.touched.update((*spelled, *block.moved, *(out for node in block.nodes for out in node.output)))
        ops = ", ".join(node.op_type for node in block.nodes)
        counts = Counter(step.op for spelling in spelled.values() for step in spelling.steps)
        behind = ", ".join(f"{op} x {n}" if n > 1 else op for op, n in counts.items()) or "nothing"
        first = next(iter(spelled))
        text = f"{one_line(first)}: {ops} before the movement of {one_line(block.moved[0])}, then {behind}"
        return Rewritten(first, text, ends=tuple(spelled))
