"""Transposes that cancel through computing operations: which operations to run in the permuted layout is a minimum cut.

For a permutation ``p`` each operation that may run in both layouts is on one of two sides.  A value that is computed on
one side and read on the other one is transposed once.  A transpose by ``p`` gives the permuted side its value for
nothing; a transpose back reads from the permuted side for nothing.  The cut of least weight, in bytes, says what is on
which side.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.models.model import Model
from symlayout.optimize_models.movement_cost import Movement, bytes_of, typical
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.tensors.chain import Tensor

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

_BY_AXIS = {"Concat": 0, "Softmax": -1, "LogSoftmax": -1, "Hardmax": -1, "Split": 0}
"""Operations with one axis as an attribute, and its default; from version 13 on Softmax has one axis only."""
_REDUCTIONS = ("ReduceMax", "ReduceMin")
"""Reductions whose terms may come in any order; runtimes add up the terms of others in an order that layouts change."""
_ONE_AXIS = 13
_MAX_CONSTANT = 1 << 20  # bytes of a constant that is permuted

Perm = tuple[int, ...]
Vertex = tuple[str, Any]
PERMUTED: Vertex = ("side", "permuted")
ORIGINAL: Vertex = ("side", "original")


def permutations_of(model: Model) -> list[Perm]:
    """Return the permutations of the model's transposes, and their inverses."""
    graph = EditedGraph(model.source)
    found: dict[Perm, None] = {}
    for node in graph.nodes:
        if graph.is_standard(node, "Transpose") and node.output[0] in model.tensors:
            perm = graph.permutation(node, model.tensors[node.output[0]].rank)
            assert perm is not None
            found[perm] = None
            found[inverse(perm)] = None
    return list(found)


def inverse(perm: Perm) -> Perm:
    """Return the permutation that undoes *perm*."""
    return tuple(int(k) for k in np.argsort(perm))


def run_permuted(model: Model, perm: Perm) -> tuple[ModelProto, list[str]]:
    """Return the model with those operations in the layout before *perm* that the cut says, and their names."""
    graph = EditedGraph(model.source)
    layout = _Layout(graph, Movement(model), perm)
    permuted = layout.cut()
    if not permuted:
        return graph.message, []
    changes = [f"{node.output[0][:80]}: {node.op_type} runs before Transpose {list(perm)}" for node in permuted]
    layout.apply(permuted)
    return graph.finish(), changes


class _Layout:
    """The operations of a graph on both sides of one permutation."""

    def __init__(self, graph: EditedGraph, movement: Movement, perm: Perm) -> None:
        self.graph, self.tensors, self.perm = graph, movement.tensors, perm
        self.producers = graph.producers()
        self.constants = {t.name: t for t in graph.message.graph.initializer}
        inputs = {v.name for v in graph.message.graph.input}
        self.constants = {name: t for name, t in self.constants.items() if name not in inputs}
        self.captured = graph.captured()
        self.flexible = {id(node): node for node in graph.nodes if self._is_flexible(node)}
        self.forward: set[int] = set()
        self.back: set[int] = set()
        for node in graph.nodes:
            t = self.tensors.get(node.output[0]) if node.output else None
            if t is None or t.rank != len(perm):
                continue
            found = graph.permutation(node, len(perm))
            source = self.producers.get(node.input[0]) if node.input else None
            follows = source is not None and id(source) in self.flexible
            if found == perm and not (found == inverse(perm) and follows):
                self.forward.add(id(node))
            elif found == inverse(perm):
                self.back.add(id(node))

    # ------------------------------------------------------------------ which operations run in both layouts

    def _is_flexible(self, node: NodeProto) -> bool:
        outputs = [self.tensors.get(name) for name in node.output if name]
        if not outputs or node.domain not in ("", "ai.onnx") or any(a.HasField("g") for a in node.attribute):
            return False
        if any(t is None or t.rank != len(self.perm) for t in outputs):
            return False
        if any(name in self.captured for name in node.output):
            return False
        if not node.input or not any(self._is_whole(name) for name in node.input):
            return False
        if self.graph.is_standard(node, *_BY_AXIS):
            is_new = self.graph.opset >= _ONE_AXIS or node.op_type in ("Concat", "Split")
            data = list(node.input) if node.op_type == "Concat" else [node.input[0]]
            return is_new and all(self._is_whole(name) for name in data)
        if self.graph.is_standard(node, *_REDUCTIONS):
            return self._reduced(node) is not None and self._is_whole(node.input[0])
        return all(t is not None and _is_elementwise(t) for t in outputs) and self._broadcasts(node)

    def _is_whole(self, name: str) -> bool:
        """Return whether a value has the rank of the permutation."""
        t = self.tensors.get(name)
        return t is not None and t.rank == len(self.perm)

    def _broadcasts(self, node: NodeProto) -> bool:
        if any(a.name in ("axis", "axes", "perm", "block_size") for a in node.attribute):
            return False
        if self.graph.is_standard(node, "QuantizeLinear", "DequantizeLinear"):
            return all(self._is_single(name) for name in node.input[1:] if name)
        return all(self._is_whole(n) or self._is_single(n) or self._is_constant(n) for n in node.input if n)

    def _is_single(self, name: str) -> bool:
        """Return whether a value has one element, and no more axes than the permutation."""
        t = self.tensors.get(name)
        return t is not None and t.rank <= len(self.perm) and all(e == 1 for e in t.shape)

    def _is_constant(self, name: str) -> bool:
        t = self.tensors.get(name)
        if t is None or name not in self.constants or t.values is None or t.rank > len(self.perm):
            return False
        return t.values.nbytes <= _MAX_CONSTANT

    def _reduced(self, node: NodeProto) -> list[int] | None:
        """Return the axes that a reduction with ``keepdims`` reduces; None if they are not known."""
        if self.graph.attribute(node, "keepdims") == 0:
            return None
        axes = self.graph.attribute(node, "axes")
        if axes is None and len(node.input) > 1 and node.input[1] in self.constants:
            t = self.tensors.get(node.input[1])
            axes = None if t is None or t.values is None else t.values.tolist()
        return None if axes is None else [int(a) for a in axes]

    # ------------------------------------------------------------------ the cut

    def cut(self) -> list[NodeProto]:
        """Return the operations on the permuted side of the cut of least weight."""
        if not self.forward or not self.flexible:
            return []
        edges: dict[Vertex, dict[Vertex, float]] = defaultdict(lambda: defaultdict(float))
        readers: dict[str, list[Vertex]] = defaultdict(list)
        for node in self.graph.nodes:
            side = self._reading_side(node)
            for k, name in enumerate(node.input):
                if name and not (side[0] == "node" and self._is_free(node, k)):
                    readers[name].append(side)
        for name in (*self.graph.outputs, *self.captured):
            readers[name].append(ORIGINAL)
        for name, sides in readers.items():
            t = self.tensors.get(name)
            if t is None or t.rank != len(self.perm) or name in self.constants:
                continue
            weight = max(float(typical(bytes_of(t))), 1.0)
            source = self._making_side(name)
            one, all_ = ("one", name), ("all", name)
            edges[one][source] += weight  # cut if a reader is on the permuted side, and the value is made original
            edges[source][all_] += weight  # cut if a reader is on the original side, and the value is made permuted
            for side in sides:
                edges[side][one] = float("inf")
                edges[all_][side] = float("inf")
        reached = minimum_cut(edges, PERMUTED, ORIGINAL)
        return [node for key, node in self.flexible.items() if ("node", key) in reached]

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
        return ("node", id(node)) if id(node) in self.flexible else ORIGINAL

    def _is_free(self, node: NodeProto, k: int) -> bool:
        """Return whether an operand of a flexible node costs nothing in either layout."""
        if self.graph.is_standard(node, *_REDUCTIONS, *(op for op in _BY_AXIS if op != "Concat")):
            return k > 0
        name = node.input[k]
        return not self._is_whole(name) or self._is_single(name) or self._is_constant(name)

    # ------------------------------------------------------------------ the new graph

    def apply(self, permuted: list[NodeProto]) -> None:
        """Run *permuted* in the layout before the permutation, and transpose values that both sides read."""
        side = {id(node) for node in permuted}
        names: dict[str, str] = {}  # of values in the permuted layout
        made: list[NodeProto] = []
        late: dict[str, str] = {}  # values that are made permuted: original names
        permanent = {id(node): list(node.output) for node in permuted}
        for node in self.graph.nodes:
            if id(node) in self.forward:
                names[node.output[0]] = node.input[0]
            if id(node) in side:
                for name in node.output:
                    if name:
                        names[name] = self.graph.new_name(f"{name}_permuted")
                        late[name] = names[name]
        read_original = self._read_original(side)

        def permuted_name(name: str) -> str:
            if name not in names:
                names[name] = self.graph.new_name(f"{name}_permuted")
                back = list(inverse(self.perm))
                made.append(self.graph.node("Transpose", [name], names[name], perm=back))
            return names[name]

        for node in self.graph.nodes:
            if id(node) in self.back and node.input[0] in names:
                made.append(self.graph.node("Identity", [names[node.input[0]]], node.output[0]))
            elif id(node) in self.back:
                names[node.input[0]] = node.output[0]
                made.append(node)
            elif id(node) in side:
                self._permute(node, permuted_name, made)
                for name in permanent[id(node)]:
                    if name and name in read_original:
                        made.append(self.graph.node("Transpose", [late[name]], name, perm=list(self.perm)))
            else:
                made.append(node)
        self.graph.nodes[:] = made

    def _read_original(self, side: set[int]) -> set[str]:
        """Return the names that are read in the original layout."""
        found = {*self.graph.outputs, *self.captured}
        for node in self.graph.nodes:
            if id(node) not in side and id(node) not in self.back:
                found.update(node.input)
        return found

    def _permute(self, node: NodeProto, permuted_name: Any, made: list[NodeProto]) -> None:
        """Append the node in the permuted layout."""
        from onnx import helper

        graph = self.graph
        new = type(node)()
        new.CopyFrom(node)
        rank = len(self.perm)
        for k, name in enumerate(node.input):
            if not name:
                continue
            if self._is_free(node, k):
                if not graph.is_standard(node, *_REDUCTIONS, *_BY_AXIS) and not self._is_single(name):
                    new.input[k] = self._permuted_constant(name, made)
            else:
                new.input[k] = permuted_name(name)
        for k, name in enumerate(node.output):
            if name:
                new.output[k] = permuted_name(name)
        if graph.is_standard(node, *_BY_AXIS):
            axis = graph.attribute(node, "axis")
            _drop(new, "axis")
            moved = self.perm[(_BY_AXIS[node.op_type] if axis is None else axis) % rank]
            new.attribute.append(helper.make_attribute("axis", moved))
        elif graph.is_standard(node, *_REDUCTIONS):
            axes = self._reduced(node)
            assert axes is not None
            permuted = [self.perm[a % rank] for a in axes]
            if len(new.input) > 1:
                new.input[1], extra = graph.constant(np.array(permuted, np.int64), f"{node.output[0]}_axes")
                made.extend(extra)
            else:
                _drop(new, "axes")
                new.attribute.append(helper.make_attribute("axes", permuted))
        made.append(new)

    def _permuted_constant(self, name: str, made: list[NodeProto]) -> str:
        t = self.tensors[name]
        assert t is not None
        assert t.values is not None
        values = t.values.reshape((1,) * (len(self.perm) - t.rank) + t.values.shape)
        new, extra = self.graph.constant(values.transpose(inverse(self.perm)), f"{name}_permuted")
        made.extend(extra)
        return new


def _is_elementwise(t: Tensor) -> bool:
    """Return whether each element of a value is computed from one element of each operand."""
    return t.body is not None and not t.body.over and t.batch == t.rank


def _drop(node: NodeProto, name: str) -> None:
    for k in reversed(range(len(node.attribute))):
        if node.attribute[k].name == name:
            del node.attribute[k]


def minimum_cut(edges: dict[Vertex, dict[Vertex, float]], source: Vertex, sink: Vertex) -> set[Vertex]:
    """Return the vertices on the source's side of a cut of least capacity, as few as there can be (Edmonds and Karp).

    Parameters
    ----------
    edges : dict
        The capacity of each edge, by its ends.  What is left of it is written back.
    """
    while True:
        before: dict[Vertex, Vertex] = {source: source}
        waiting = deque([source])
        while waiting and sink not in before:
            at = waiting.popleft()
            for to, capacity in edges[at].items():
                if capacity > 0 and to not in before:
                    before[to] = at
                    waiting.append(to)
        if sink not in before:
            return set(before)
        path = list(_path(before, source, sink))
        least = min(edges[a][b] for a, b in path)
        for a, b in path:
            edges[a][b] -= least
            edges[b][a] += least


def _path(before: dict[Vertex, Vertex], source: Vertex, sink: Vertex) -> Iterator[tuple[Vertex, Vertex]]:
    at = sink
    while at != source:
        yield before[at], at
        at = before[at]
