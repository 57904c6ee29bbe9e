"""Transposes that cancel through computing operations: which operations to run in the permuted layout is a minimum cut.

For a permutation ``p`` each operation that may run in both layouts is on one of two sides.  A value that is computed on
one side and read on the other one is transposed once.  A transpose by ``p`` gives the permuted side its value for
nothing; a transpose back reads from the permuted side for nothing.  Any other transpose takes either side's value, and
so does whatever reads a shape.  The cut of least weight says what is on which side.

`permuted_nodes` says which operations may run in both layouts.
"""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.deadlines import work
from symlayout.errors import one_line
from symlayout.models.model import Model
from symlayout.ops.reshape import reshape
from symlayout.optimize_models.crossings.layout_joints import Joint, add_joints, drop_joints
from symlayout.optimize_models.crossings.permuted_nodes import (
    Entries,
    Found,
    Perm,
    PermutedNode,
    PermutedNodes,
    inverse,
    name_of,
)
from symlayout.optimize_models.movement_cost import Movement, bytes_of, typical
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten
from symlayout.optimize_models.spellings.reshape_steps import target_shape
from symlayout.optimize_models.spellings.spell_movement import Speller
from symlayout.tensors.chain import Tensor

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

Vertex = tuple[str, Any]
PERMUTED: Vertex = ("side", "permuted")
ORIGINAL: Vertex = ("side", "original")

_FREE = 1e-3  # the weight of a transpose at an input or output of the model that may have one
_RESHAPE = 1e-2  # the weight of a transpose that moves axes of extent 1 only, and so is a reshape
_ONE = float(1 << 20)  # the weight of a transpose where transposes are counted, to which its bytes are small


@dataclass(frozen=True, slots=True)
class Crossing:
    """What is to be cut.

    Attributes
    ----------
    perm : tuple of int
        The permutation.  The permuted side has the layout before it.
    flipped : bool
        Where the permutation is its own inverse: which transposes lead to the permuted side.
    counted : bool
        Whether to minimise the number of transposes, and their bytes only after that.
    free_ends : bool
        Whether a transpose of an input or an output of the model weighs nothing.
    reorder : bool
        Whether sums may move whose terms runtimes add up in an order that the layout changes.
    absorbed : bool
        Whether movement with a Transpose of its own takes and gives values in either layout for nothing.
    """

    perm: Perm
    flipped: bool = False
    counted: bool = False
    free_ends: bool = False
    reorder: bool = False
    absorbed: bool = False


def crossings_of(model: Model, *, reorder: bool = False) -> list[Crossing]:
    """Return the crossings that may save transposes: by the model's permutations and their inverses."""
    graph = EditedGraph(model.source)
    found: dict[Perm, None] = {}
    for node in graph.nodes:
        if graph.is_standard(node, "Transpose") and node.output[0] in model.tensors.shaped:
            perm = graph.permutation(node, model.tensors.shaped[node.output[0]].rank)
            if perm is not None:
                found[perm] = None
                found[inverse(perm)] = None
    return [
        Crossing(perm, flipped, counted, reorder=reorder, absorbed=absorbed)
        for absorbed in (False, True)
        for counted in (False, True)
        for perm in found
        if perm != tuple(range(len(perm)))
        for flipped in ((False, True) if perm == inverse(perm) else (False,))
    ]


@dataclass(frozen=True, slots=True)
class Crossed:
    """A model with operations in another layout.

    Attributes
    ----------
    source : ModelProto
        The model.
    changes : list of Rewritten
        What runs in another layout; empty if nothing does.
    reordered : tuple of str
        Sums among them whose terms runtimes add up in an order that the layout changes.
    refused : tuple of str
        Such sums that stay.
    failed : list of str
        Operators that would have been run in the other layout, but have no spelling there.
    """

    source: ModelProto
    changes: list[Rewritten]
    reordered: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    failed: list[str] = field(default_factory=list)


def run_permuted(
    model: Model,
    crossing: Crossing,
    known: Found | None = None,
    kept: Set[str] = frozenset(),
    speller: Speller | None = None,
) -> Crossed:
    """Return the model with those operations in the layout before the permutation that the cut says.

    Parameters
    ----------
    known : dict, optional
        What was found for nodes of the model before; see `PermutedNodes`.
    kept : set of str
        Values whose nodes run in their layout.
    speller : Speller, optional
        One that remembers the spellings of other models with these operations.
    """
    graph, movement = EditedGraph(model.source), Movement(model)
    _reshape_first(graph, movement.tensors, {crossing.perm, inverse(crossing.perm)})
    joints: list[Joint] = []
    if crossing.absorbed:
        joints = add_joints(graph, movement, crossing.perm, speller or Speller(graph.opset))
    if crossing.absorbed and not joints:
        return Crossed(graph.message, [])
    layout = _Layout(graph, movement, crossing, {} if known is None else known, kept)
    permuted = layout.proved_cut({id(joint.node): joint for joint in joints})
    refused = tuple(sorted(layout.permuted_nodes.refused))
    ends = {id(joint.node) for joint in joints}
    added = {joint.added for joint in joints if id(joint.node) in layout.transposes}
    if all(id(node) in ends or node.output[0] in added or node.input[0] in added for node in permuted):
        return Crossed(graph.message, [], (), refused, layout.failed)
    perm = list(crossing.perm)
    changes = [
        Rewritten(
            node.output[0],
            f"{one_line(node.output[0])}: {node.op_type} runs before Transpose {perm}",
            layout.flexible[id(node)].proofs if id(node) in layout.flexible else (),
        )
        for node in permuted
        if id(node) not in ends
    ]
    reordered = layout.permuted_nodes.reordered & {name_of(node) for node in permuted}
    layout.apply(permuted)
    drop_joints(graph, joints)
    return Crossed(graph.finish(), changes, tuple(sorted(reordered)), refused, layout.failed)


def _reshape_first(graph: EditedGraph, tensors: dict[str, Tensor | None], perms: Set[Perm]) -> None:
    """Merge axes that stay together before a Transpose, not by a Reshape after it, where that makes it one of *perms*.

    A new value gets its tensor.
    """
    uses, producers = graph.uses(), graph.producers()
    for node in list(graph.nodes):
        turned = producers.get(node.input[0]) if graph.is_standard(node, "Reshape") else None
        x = tensors.get(turned.input[0]) if turned is not None else None
        y = tensors.get(node.output[0])
        if turned is None or x is None or y is None or uses[node.input[0]] != 1:
            continue
        perm = graph.permutation(turned, x.rank)
        if perm is None:
            continue
        groups: list[list[int]] = []
        for axis in perm:
            if groups and axis == groups[-1][-1] + 1:
                groups[-1].append(axis)
            else:
                groups.append([axis])
        merged = tuple(sorted(range(len(groups)), key=lambda k: groups[k]))
        shape = tuple(prod((x.shape[axis] for axis in groups[k]), start=1) for k in merged)
        numbers = target_shape(x.shape, shape)
        if inverse(merged) not in perms or tuple(shape[k] for k in inverse(merged)) != tuple(y.shape) or not numbers:
            continue
        name = graph.new_name(f"{node.output[0]}_reshape")
        target, nodes = graph.constant(np.array(numbers, np.int64), f"{name}_shape")
        tensors[name] = reshape(x, shape)
        nodes.append(graph.node("Reshape", [turned.input[0], target], name))
        nodes.append(graph.node("Transpose", [name], node.output[0], perm=list(inverse(merged))))
        graph.replace(node, nodes)
        graph.replace(turned, [])


class _Layout:
    """The operations of a graph on both sides of one permutation."""

    def __init__(
        self, graph: EditedGraph, movement: Movement, crossing: Crossing, known: Found, kept: Set[str]
    ) -> None:
        self.graph, self.tensors, self.crossing = graph, movement.tensors, crossing
        self.perm = crossing.perm
        self.producers = graph.producers()
        self.captured = graph.captured()
        self.inputs = {v.name for v in graph.message.graph.input}
        self.permuted_nodes = PermutedNodes(
            graph, self.tensors, self.perm, known, movement.numbers, reorder=crossing.reorder
        )
        self.transposes: dict[int, Perm] = {}
        self.flexible: dict[int, PermutedNode] = {}
        self.failed: list[str] = []
        for node in graph.nodes:
            t = self.tensors.get(node.output[0]) if node.output else None
            found = None if t is None or t.rank != len(self.perm) else graph.permutation(node, t.rank)
            if found is not None:
                self.transposes[id(node)] = found
            elif not kept.isdisjoint(node.output):
                continue
            elif (proposal := self.permuted_nodes.propose(node)) is not None:
                self.flexible[id(node)] = proposal
        self.forward, self.back = self._roles()

    def _roles(self) -> tuple[set[int], set[int]]:
        """Return the transposes that lead from the permuted side, and those that lead to it."""
        back = inverse(self.perm)
        if self.perm != back:
            forward, backward = ({k for k, p in self.transposes.items() if p == q} for q in (self.perm, back))
            return forward, backward
        ours = [n for n in self.graph.nodes if self.transposes.get(id(n)) == self.perm]
        colours = self._colours(ours)
        forward = {id(n) for n in ours if colours[n.input[0]] == self.crossing.flipped}
        return forward, {id(n) for n in ours} - forward

    def _colours(self, ours: list[NodeProto]) -> dict[str, bool]:
        """Return one of two colours for each value: a transpose changes it, and operations keep it if they can."""
        near: dict[str, list[tuple[str, bool]]] = defaultdict(list)
        for node in ours:
            near[node.input[0]].append((node.output[0], True))
            near[node.output[0]].append((node.input[0], True))
        for node in self.graph.nodes:
            proposal = self.flexible.get(id(node))
            if proposal is None:
                continue
            ends = [n for k, n in enumerate(node.input) if proposal.reads_permuted(k)]
            ends += [n for n, permuted in zip(node.output, proposal.outputs, strict=True) if permuted]
            for a, b in itertools.pairwise(ends):
                near[a].append((b, False))
                near[b].append((a, False))
        colours: dict[str, bool] = {}
        for start in near:
            waiting = [start] if start not in colours else []
            colours.setdefault(start, False)
            while waiting:
                at = waiting.pop()
                for to, changes in near[at]:
                    if to not in colours:
                        colours[to] = colours[at] ^ changes
                        waiting.append(to)
        return colours

    # ------------------------------------------------------------------ the cut

    def proved_cut(self, joints: Mapping[int, Joint]) -> list[NodeProto]:
        """Return the operations on the permuted side of the cut of least weight, each proved to run there.

        Of the *joints*, by the ``id`` of their nodes, those are there that fit.  The others are nodes that keep all
        axes in either layout.  If none fits, nothing is there: another crossing finds that.
        """
        proved: set[int] = set()
        tried: set[int] = set()
        open_joints = dict(joints)
        while True:
            chosen = self.cut()
            side = {id(node) for node in chosen}
            used = {n for n, j in open_joints.items() if n in side or id(self.producers.get(j.node.input[0])) in side}
            unfit = [number for number in used - tried if not joints[number].fits()]
            tried |= used
            for number in unfit:
                del self.transposes[number], open_joints[number]
                if (proposal := self.permuted_nodes.propose(joints[number].node)) is not None:
                    self.flexible[number] = proposal  # what is beyond it may run in the other layout still
            if unfit:
                continue
            if joints and not used:
                return []
            open_ = [node for node in chosen if id(node) not in proved and id(node) in self.flexible]
            if not open_:
                return chosen
            for node in open_:
                found = self.permuted_nodes.find(node)
                if found is None:
                    del self.flexible[id(node)]
                    self.failed.append(name_of(node))
                else:
                    self.flexible[id(node)] = found
                    proved.add(id(node))

    def cut(self) -> list[NodeProto]:
        """Return the operations on the permuted side of the cut of least weight."""
        if not self.forward and not self.back:
            return []
        edges: dict[Vertex, dict[Vertex, float]] = defaultdict(lambda: defaultdict(float))
        readers: dict[str, list[Vertex]] = defaultdict(list)
        for node in self.graph.nodes:
            proposal = self.flexible.get(id(node))
            if self._takes_both(node):
                continue
            for k, name in enumerate(node.input):
                if name and (proposal is None or proposal.reads_permuted(k)):
                    readers[name].append(self._reading_side(node))
        for name in (*self.graph.outputs, *self.captured):
            readers[name].append(ORIGINAL)
        for name, sides in readers.items():
            t = self.tensors.get(name)
            if t is None or t.rank != len(self.perm) or t.values is not None:
                continue
            source = self._making_side(name)
            one, all_ = ("one", name), ("all", name)
            weight = self._weight(name)
            edges[one][source] += _FREE if self.crossing.free_ends and name in self.inputs else weight
            edges[source][all_] += _FREE if self.crossing.free_ends and name in self.graph.outputs else weight
            for side in sides:
                edges[side][one] = float("inf")
                edges[all_][side] = float("inf")
        reached = minimum_cut(edges, PERMUTED, ORIGINAL)
        return [node for node in self.graph.nodes if ("node", id(node)) in reached]

    def _weight(self, name: str) -> float:
        """Return what it weighs to transpose a value."""
        t = self.tensors[name]
        assert t is not None
        kept = [k for k in self.perm if t.shape[k] != 1]
        if kept == sorted(kept):
            return _RESHAPE
        size = max(float(typical(bytes_of(t))), 1.0)
        return _ONE + size / _ONE if self.crossing.counted else size

    def _takes_both(self, node: NodeProto) -> bool:
        """Return whether a node takes its operand in either layout for nothing."""
        if id(node) in self.transposes:
            return id(node) not in self.forward and id(node) not in self.back
        return self.graph.is_standard(node, "Shape", "Size")

    def _reading_side(self, node: NodeProto) -> Vertex:
        if id(node) in self.back:
            return PERMUTED
        return ("node", id(node)) if id(node) in self.flexible else ORIGINAL

    def _making_side(self, name: str) -> Vertex:
        node = self.producers.get(name)
        if node is None:
            return ORIGINAL
        if id(node) in self.forward:
            return PERMUTED
        if id(node) in self.transposes and id(node) not in self.back:
            return ("node", id(node))
        proposal = self.flexible.get(id(node))
        if proposal is None or not proposal.outputs[list(node.output).index(name)]:
            return ORIGINAL
        return ("node", id(node))

    # ------------------------------------------------------------------ the new graph

    def apply(self, permuted: list[NodeProto]) -> None:
        """Run *permuted* in the layout before the permutation, and transpose values that both sides read."""
        side = {id(node) for node in permuted}
        names: dict[str, str] = {}  # of values in the permuted layout
        late: set[str] = set()  # values that are made permuted
        made: list[NodeProto] = []
        for node in self.graph.nodes:
            if id(node) in self.forward:
                names[node.output[0]] = node.input[0]
            if id(node) in side:
                for name in self._permuted_outputs(node):
                    names[name] = self.graph.new_name(f"{name}_permuted")
                    late.add(name)
        read_original = self._read_original(side)

        def permuted_name(name: str) -> str:
            if name not in names:
                names[name] = self.graph.new_name(f"{name}_permuted")
                made.append(self.graph.node("Transpose", [name], names[name], perm=list(inverse(self.perm))))
            return names[name]

        for node in self.graph.nodes:
            if id(node) in self.back and node.input[0] in names:
                made.append(self.graph.node("Identity", [names[node.input[0]]], node.output[0]))
            elif id(node) in self.back:
                names[node.input[0]] = node.output[0]
                made.append(node)
            elif self._takes_both(node):
                gone = node.input[0] in late and node.input[0] not in read_original
                self._take(node, names[node.input[0]] if gone else None, names if id(node) in side else {}, made)
            elif id(node) in side:
                self._permute(node, permuted_name, made)
            else:
                made.append(node)
            if id(node) in side:
                for name in self._permuted_outputs(node):
                    if name in read_original:
                        made.append(self.graph.node("Transpose", [names[name]], name, perm=list(self.perm)))
        self.graph.nodes[:] = made

    def _permuted_outputs(self, node: NodeProto) -> list[str]:
        proposal = self.flexible.get(id(node))
        flags = [True] if proposal is None else proposal.outputs
        return [name for name, permuted in zip(node.output, flags, strict=True) if name and permuted]

    def _read_original(self, side: set[int]) -> set[str]:
        """Return the names that are read in the original layout."""
        found = {*self.graph.outputs, *self.captured}
        for node in self.graph.nodes:
            if self._takes_both(node) or id(node) in self.back:
                continue
            proposal = self.flexible[id(node)] if id(node) in side else None
            found.update(n for k, n in enumerate(node.input) if proposal is None or not proposal.reads_permuted(k))
        return found

    def _take(self, node: NodeProto, permuted: str | None, names: dict[str, str], made: list[NodeProto]) -> None:
        """Append a node that takes its operand in either layout: *permuted* is its name there, if it is only there."""
        graph, back = self.graph, inverse(self.perm)
        output = node.output[0]
        if graph.is_standard(node, "Size"):
            made.append(node if permuted is None else graph.node("Size", [permuted], output))
            return
        if graph.is_standard(node, "Shape"):
            if permuted is None:
                made.append(node)
                return
            start, end = (graph.attribute(node, name) for name in ("start", "end"))
            shape = graph.new_name(f"{output}_permuted")
            order, extra = graph.constant(np.array(self.perm[slice(start, end)], np.int64), f"{output}_order")
            made += [*extra, graph.node("Shape", [permuted], shape)]
            made.append(graph.node("Gather", [shape, order], output, axis=0))
            return
        perm: Perm = self.transposes[id(node)]
        if permuted is not None:
            perm = tuple(self.perm[k] for k in perm)
        if output in names:
            perm = tuple(perm[k] for k in back)
        target, source = names.get(output, output), node.input[0] if permuted is None else permuted
        if perm == self.transposes[id(node)] and (target, source) == (output, node.input[0]):
            made.append(node)
        elif perm == tuple(range(len(perm))):
            made.append(graph.node("Identity", [source], target))
        else:
            made.append(graph.node("Transpose", [source], target, perm=list(perm)))

    def _permute(self, node: NodeProto, permuted_name: Callable[[str], str], made: list[NodeProto]) -> None:
        """Append the node in the permuted layout."""
        proposal = self.flexible[id(node)]
        new = type(node)()
        new.CopyFrom(proposal.node)
        del new.input[:]
        for k in proposal.order:
            operand, name = proposal.operands[k], node.input[k] if k < len(node.input) else ""
            if isinstance(operand, Entries):
                name = self._gathered(name, operand, made)
            elif not isinstance(operand, str):
                name = self._constant(name or f"{node.output[0]}_axes", operand, made)
            elif operand == "permuted":
                name = permuted_name(name)
            new.input.append(name)
        for k, (name, permuted) in enumerate(zip(node.output, proposal.outputs, strict=True)):
            if name and permuted:
                new.output[k] = permuted_name(name)
        made.append(new)

    def _gathered(self, name: str, entries: Entries, made: list[NodeProto]) -> str:
        """Return the name of computed numbers in another order."""
        new = self.graph.new_name(f"{name}_permuted")
        order, extra = self.graph.constant(np.array(entries.order, np.int64), f"{name}_order")
        made += [*extra, self.graph.node("Gather", [name, order], new, axis=0)]
        return new

    def _constant(self, name: str, values: np.ndarray[Any, Any], made: list[NodeProto]) -> str:
        """Return the name of a constant that takes the place of another one; the other one if they are equal."""
        t = self.tensors.get(name)
        if t is not None and t.values is not None and np.array_equal(t.values, values) and t.rank == values.ndim:
            return name
        new, extra = self.graph.constant(values, f"{name}_permuted")
        made.extend(extra)
        return new


def minimum_cut(edges: dict[Vertex, dict[Vertex, float]], source: Vertex, sink: Vertex) -> set[Vertex]:
    """Return the vertices on the source's side of a cut of least capacity, as few as there can be (Dinitz).

    Parameters
    ----------
    edges : dict
        The capacity of each edge, by its ends.  What is left of it is written back.
    """
    while True:
        level = {source: 0}
        waiting = deque([source])
        while waiting:
            at = waiting.popleft()
            for to, capacity in edges[at].items():
                if capacity > 0 and to not in level:
                    level[to] = level[at] + 1
                    waiting.append(to)
        work(len(level))
        if sink not in level:
            return set(level)
        _block(edges, level, source, sink)


def _block(edges: dict[Vertex, dict[Vertex, float]], level: Mapping[Vertex, int], source: Vertex, sink: Vertex) -> None:
    """Send as much along shortest paths as fits, until each of them has an edge without capacity.

    A path goes one level on with each edge.  An edge to a vertex that no edge leads on from is not tried again.
    """
    ahead = {at: [to for to, c in edges[at].items() if c > 0 and level.get(to) == level[at] + 1] for at in level}
    path = [source]
    while path:
        at = path[-1]
        if at == sink:
            steps = list(itertools.pairwise(path))
            work(len(steps))
            least = min(edges[a][b] for a, b in steps)
            for a, b in steps:
                edges[a][b] -= least
                edges[b][a] += least
            del path[next(k for k, (a, b) in enumerate(steps) if edges[a][b] <= 0) + 1 :]
            continue
        while ahead[at] and edges[at][ahead[at][-1]] <= 0:
            ahead[at].pop()
        if ahead[at]:
            path.append(ahead[at][-1])
        else:
            path.pop()
            if path:
                ahead[path[-1]].pop()
