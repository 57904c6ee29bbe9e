"""Regions of movement: each value that is moved, and the value from which it can be moved most cheaply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING

from symlayout.deadlines import work
from symlayout.errors import SymlayoutError, one_line
from symlayout.models.model import Model
from symlayout.ops.pad import pad
from symlayout.optimize_models.movement_cost import Cost, Movement, cost_of
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten
from symlayout.optimize_models.spellings.spell_movement import Speller, Spelling, copy_of
from symlayout.tensors.chain import EMPTY, Tensor
from symlayout.tensors.stand_in import rebased

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

_MOST_PARTS = 8  # of a join, each of which is tried as the source of what is moved from the join
_COPY = Cost(nodes=2)  # more than one node that names a value costs
_NEAREST = 24  # values on the way to a value that are all tried as its source; of those behind, fewer and fewer


def respell_regions(
    model: Model, kept: Set[str] = frozenset(), speller: Speller | None = None
) -> tuple[ModelProto, list[Rewritten]]:
    """Return the model with each region of movement in its cheapest spelling, and what was changed.

    Parameters
    ----------
    kept : set of str
        Values that are made as they are.
    speller : Speller, optional
        One that remembers the spellings of other models with these operations.
    """
    graph = EditedGraph(model.source)
    regions = _Regions(graph, Movement(model), kept, speller or Speller(graph.opset))
    changes = regions.run()
    return graph.finish(), changes


def is_end(name: str, movement: Movement, readers: Mapping[str, Sequence[NodeProto]], needed: Set[str]) -> bool:
    """Return whether a value is *needed*, or is read by what is not a move, or by a move that joins several values."""
    if name in needed:
        return True
    made = [out for n in readers.get(name, []) for out in n.output if out]
    return any(len(set(movement.sources.get(out, ()))) != 1 for out in made)


def dead_without(
    name: str, source: str, producers: Mapping[str, NodeProto], uses: Mapping[str, int]
) -> list[NodeProto]:
    """Return the nodes that nobody needs if *name* is made of *source* anew.

    *producers* are the nodes that make values, and *uses* says how often each is read.
    """
    gone: Counter[str] = Counter({source: -1})  # the reads of each value by dead nodes
    node = producers[name]
    others = [out for out in node.output if out and out != name and uses[out] > gone[out]]
    dead: list[NodeProto] = []
    seen: set[int] = set()
    waiting = [] if others else [node]
    while waiting:
        at = waiting.pop()
        if id(at) in seen:
            continue
        seen.add(id(at))
        dead.append(at)
        for read, count in Counter(n for n in at.input if n).items():
            gone[read] += count
            made = producers.get(read)
            if made is not None and not any(uses[out] > gone[out] for out in made.output if out):
                waiting.append(made)
    dead.reverse()
    return dead


class Ways:
    """The values that all elements of a moved value come through, on whatever way.

    Parameters
    ----------
    names : sequence of str
        The moved values, each after those that it is moved from.

    Attributes
    ----------
    before : dict of str to str
        For each moved value the nearest of them; a value that has none is not in it.
    """

    def __init__(self, movement: Movement, names: Sequence[str]) -> None:
        self.before: dict[str, str] = {}
        self._depth: dict[str, int] = {}
        for name in names:
            read = [n for n in movement.sources[name] if (t := movement.tensors[n]) is not None and t.key != EMPTY]
            met = read[0] if read else ""
            for other in read[1:]:
                met = self._met(met, other)
            if met:
                self.before[name] = met
                self._depth[name] = self._depth.get(met, 0) + 1

    def _met(self, a: str, b: str) -> str:
        """Return the nearest value that all elements of two values come through; an empty text if there is none."""
        steps = 0
        while a != b and a and b:
            steps += 1
            if self._depth.get(a, 0) >= self._depth.get(b, 0):
                a = self.before.get(a, "")
            else:
                b = self.before.get(b, "")
        work(steps)
        return a if a == b else ""


def _nothing(start: Tensor, other: Tensor) -> Tensor:
    """Return a value of the shape of *other* that reads no element of *start*, and has a fill in its place."""
    none = start[(slice(0, 0),) * start.rank]
    return pad(none, [(0, e) for e in other.shape])


class _Regions:
    """The regions of a graph while they are rewritten."""

    def __init__(self, graph: EditedGraph, movement: Movement, kept: Set[str], speller: Speller) -> None:
        self.graph, self.movement, self.kept, self.speller = graph, movement, kept, speller
        self.touched: set[str] = set()
        self.at_hand: dict[int, bool] = {}
        self.named = graph.named()
        self.uses, self.made_by, self.captured = graph.uses(), graph.producers(), graph.captured()
        self.readers = graph.readers()
        self.moved = [n for node in graph.nodes for n in node.output if n in movement.sources]
        self.ways = Ways(movement, self.moved)

    def run(self) -> list[Rewritten]:
        """Rewrite what ends in a value that is read, then what ends in a join or before a repeat on the way there."""
        needed = self.graph.outputs | self.graph.captured()
        ends = [n for n in self.moved if is_end(n, self.movement, self.readers, needed)]
        joins = [n for n in self.moved if len(set(self.movement.sources[n])) > 1]
        names = (n for n in dict.fromkeys((*ends, *joins, *self._repeated())) if n not in self.kept)
        return [change for n in names if (change := self._rewrite(n)) is not None]

    def _repeated(self) -> Iterator[str]:
        """Yield moved values that are repeated as often as the graph computes: no spelling has such a repeat."""
        constants = {n for n, t in self.movement.tensors.items() if t is not None and t.values is not None}
        for name in self.moved:
            readers = (n for n in self.readers.get(name, []) if self.graph.is_standard(n, "Tile", "Expand"))
            if any(n.input[0] == name and n.input[1] not in constants for n in readers):
                yield name

    def _ancestors(self, name: str) -> Iterator[str]:
        """Yield values that all elements of a value come through: the nearest, then fewer of them, up to the first."""
        distance = 1
        while (name := self.ways.before.get(name, "")) != "":
            if distance <= _NEAREST or distance.bit_count() == 1 or name not in self.ways.before:
                yield name
            distance += 1

    def _parts(self, name: str, value: Tensor) -> Iterator[tuple[str, Tensor]]:
        """Yield values that are joined on the way to a value, and it with nothing in the places of the others.

        If that is moved from the part, no element of the others is read.
        """
        last = name
        while (before := self.ways.before.get(last, "")) != "":
            last = before
        joined = list(dict.fromkeys(self.movement.sources.get(last, ())))
        parts = {n: t for n in joined if (t := self.movement.tensors[n]) is not None and t.key != EMPTY}
        if last == name or not 1 < len(parts) <= _MOST_PARTS:
            return
        for source, start in parts.items():
            try:
                nothing = {id(t): _nothing(start, t) for t in parts.values() if t is not start}
            except SymlayoutError:
                continue
            whole = rebased(value, {id(start): start, **nothing})
            if whole is not None:
                yield source, whole

    def _sources(self, name: str, value: Tensor) -> Iterator[tuple[str, Tensor, Tensor]]:
        """Yield the values that a value may be moved from by name, and itself as it is moved from that."""
        for source, moved in (*((source, value) for source in self._ancestors(name)), *self._parts(name, value)):
            start = self.movement.tensors.get(source)
            if start is not None and source not in self.touched and source in self.named:
                yield source, start, moved

    def _is_at_hand(self, node: NodeProto) -> bool:
        """Return whether a node has several outputs that are read, and each equals a value that there is without it."""
        if id(node) not in self.at_hand:
            read = {
                out: t for out in node.output if self.uses[out] and (t := self.movement.tensors.get(out)) is not None
            }
            self.at_hand[id(node)] = len(read) > 1 and all(
                any(self.speller.cheapest(start, moved, _COPY) for _, start, moved in self._sources(out, t))
                for out, t in read.items()
            )
        return self.at_hand[id(node)]

    def _rewrite(self, name: str) -> Rewritten | None:
        """Rewrite the region that ends in a value; return what was done, or None."""
        producer = self.made_by.get(name)
        value = self.movement.tensors.get(name)
        if producer is None or value is None or name in self.touched:
            return None
        best: tuple[tuple[int, int, int], str, Spelling, list[NodeProto]] | None = None
        at_hand = self._is_at_hand(producer)
        for source, start, moved in self._sources(name, value):
            dead = dead_without(name, source, self.made_by, self.uses)
            moves = cost_of(dead, self.movement.tensors, self.movement.sources)
            gone = Cost(moves.sizes, moves.transposes, sum(n.op_type != "Constant" for n in dead))
            if at_hand and not dead:
                gone = _COPY
            found = self.speller.cheapest(start, moved, gone)
            if found is not None and not found.steps and self._needs_copy(name, source):
                found = copy_of(value, gone, found)
            if found is not None:
                saved = gone.key()
                key = tuple(a - b for a, b in zip(found.key(), saved, strict=True))
                if best is None or key < best[0]:
                    best = (key[0], key[1], key[2]), source, found, dead
        if best is None:
            return None
        _, source, found, dead = best
        self._apply(name, source, found, producer)
        ops = ", ".join(n.op_type for n in dead)
        made = ", ".join(s.op for s in found.steps) or "nothing"
        return Rewritten(name, f"{one_line(name)} from {one_line(source)}: {ops} became {made}", found.proofs)

    def _needs_copy(self, name: str, source: str) -> bool:
        """Return whether a value that equals its source still needs a node that names it."""
        graph = self.graph
        if name in self.captured:
            return True
        if name not in graph.outputs:
            return False
        return source not in self.made_by or source in graph.outputs or source in self.captured

    def _apply(self, name: str, source: str, spelling: Spelling, producer: NodeProto) -> None:
        graph = self.graph
        self.touched.add(name)
        if spelling.steps:
            start = self.movement.tensors[source]
            assert start is not None
            self._rename(producer, name, graph.new_name(f"{name}_before"))
            new = spelling.emit(graph, source, start.shape, name)
            graph.insert(new, before=producer)
            for node in new:
                self.made_by.update((out, node) for out in node.output)
                for read, count in Counter(n for n in node.input if n).items():
                    self.uses[read] += count
                    self.readers.setdefault(read, []).append(node)
        elif name in graph.outputs:
            self._rename(producer, name, graph.new_name(f"{name}_before"))
            self._rename(self.made_by[source], source, name)
            self._redirect(source, name)
            self.touched.add(source)
        else:
            self._redirect(name, source)

    def _rename(self, node: NodeProto, old: str, new: str) -> None:
        """Give an output of a node another name; what reads it reads the old one still."""
        for k, out in enumerate(node.output):
            if out == old:
                node.output[k] = new
        self.made_by.pop(old, None)
        self.made_by[new] = node

    def _redirect(self, old: str, new: str) -> None:
        """Let the nodes that read *old* read *new*."""
        moved = self.readers.pop(old, [])
        for node in moved:
            for k, name in enumerate(node.input):
                if name == old:
                    node.input[k] = new
                    self.uses[old] -= 1
                    self.uses[new] += 1
        readers = self.readers.setdefault(new, [])
        known = set(map(id, readers))
        readers += [node for node in moved if id(node) not in known]


def cost_of_model(model: Model) -> Cost:
    """Return what the movement of the main graph costs."""
    movement = Movement(model)
    return cost_of(EditedGraph(model.source).nodes, movement.tensors, movement.sources)
