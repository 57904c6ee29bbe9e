"""An order of channels that is made by movement, and summed over with constant weights, becomes that of the weights.

``sum_c w[c] * v[p(c)]`` has the terms of ``sum_c w[q(c)] * v[c]`` in another order, where q undoes p.  So the movement
may leave the channels in the order in which it is cheapest.  This needs the law ``"reassociate"``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.compute.gather import take
from symlayout.deadlines import work
from symlayout.errors import SymlayoutError, one_line
from symlayout.models.model import Model
from symlayout.models.onnx_subgraphs import has_graphs
from symlayout.ops.reshape import reshape
from symlayout.ops.transpose import transpose
from symlayout.optimize_models.movement_cost import Cost, Movement, cost_of
from symlayout.optimize_models.movement_regions import Ways, dead_without
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten
from symlayout.optimize_models.spellings.movement_digits import digits_of, examples
from symlayout.optimize_models.spellings.spell_movement import Speller, Spelling
from symlayout.proof.laws import REASSOCIATE
from symlayout.proof.prove import prove_equal
from symlayout.proof.verdict import Proof, Verdict
from symlayout.tensors.chain import Tensor
from symlayout.tensors.stand_in import dims_of, rebased, stand_in

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

_MOST_SOURCES = 4  # values on the way to an operand that are tried, the furthest ones first
_MOST_DIGITS = 4  # of an axis whose orders are all tried
_MAX_CONSTANT = 1 << 26  # bytes of weights that are written anew
_POINTS = 64  # at which weights in another order are compared before they are proved

Order = tuple[int, ...]
"""For each channel the number of the same channel in the order before."""


def permute_terms(model: Model, kept: Set[str], speller: Speller) -> tuple[ModelProto, list[Rewritten]]:
    """Return the model with channels in the order in which their movement is cheapest, and what was changed.

    Parameters
    ----------
    kept : set of str
        Values that are made as they are.
    speller : Speller
        One that remembers the spellings of other models with these operations.
    """
    graph = EditedGraph(model.source)
    terms = _Terms(graph, Movement(model), speller)
    nodes = [node for node in graph.nodes if node.output and node.output[0] not in kept]
    changes = [change for node in nodes if (change := terms.rewrite(node)) is not None]
    return graph.finish(), changes


class _Terms:
    """The sums of a graph while their terms are put in another order."""

    def __init__(self, graph: EditedGraph, movement: Movement, speller: Speller) -> None:
        self.graph, self.movement, self.tensors, self.speller = graph, movement, movement.tensors, speller
        self.uses, self.producers, self.named = graph.uses(), graph.producers(), graph.named()
        moved = [n for node in graph.nodes for n in node.output if n in movement.sources]
        self.ways = Ways(movement, moved)
        self.touched: set[str] = set()

    def rewrite(self, node: NodeProto) -> Rewritten | None:
        """Put the terms of a node in the order in which they are moved most cheaply; return what was done, or None."""
        if len(node.output) != 1 or has_graphs(node):
            return None
        moved = [n for n in node.input if n in self.movement.sources and self.uses[n] == 1]
        constants = [n for n in node.input if n and (t := self.tensors.get(n)) is not None and t.values is not None]
        for name, weights in itertools.product(moved, constants):
            value, values = self.tensors[name], self._values(weights)
            if value is None or values.ndim < 2 or values.nbytes > _MAX_CONSTANT or name in self.touched:
                continue
            for axis, extent in enumerate(value.shape):
                for other in (k for k, n in enumerate(values.shape) if n == extent and n > 1):
                    if (made := self._permuted(node, name, axis, weights, other)) is not None:
                        return made
        return None

    def _values(self, name: str) -> np.ndarray[Any, Any]:
        t = self.tensors[name]
        assert t is not None
        return np.asarray(t.values)

    def _permuted(self, node: NodeProto, name: str, axis: int, weights: str, other: int) -> Rewritten | None:
        """Put channels along an axis of an operand, and of the weights, in the cheapest order, if that is proved."""
        best: tuple[tuple[int, int, int], str, Spelling, Order] | None = None
        for source in self._sources(name):
            below = cost_of(dead_without(name, source, self.producers, self.uses), self.tensors, self.movement.sources)
            for spelling, order in self._spellings(source, name, axis, below):
                key = spelling.key()
                if best is None or key < best[0]:
                    best = key, source, spelling, order
        if best is None:
            return None
        _, source, spelling, order = best
        proof = self._proof(node, name, axis, weights, other, order)
        if proof is None:
            return None
        graph, start = self.graph, self.tensors[source]
        assert start is not None
        made, nodes = graph.constant(np.take(self._values(weights), order, other), f"{weights}_ordered")
        target = graph.new_name(f"{name}_ordered")
        nodes += spelling.emit(graph, source, start.shape, target)
        for k, read in enumerate(node.input):
            node.input[k] = {name: target if spelling.steps else source, weights: made}.get(read, read)
        graph.insert(nodes, before=node)
        self.touched.add(name)
        steps = ", ".join(s.op for s in spelling.steps) or "nothing"
        text = f"{one_line(name)} from {one_line(source)}: {steps}, with channels in the order of the weights' terms"
        return Rewritten(node.output[0], text, (proof, *spelling.proofs), (node.output[0],))

    def _sources(self, name: str) -> list[str]:
        """Return values from which a value is moved, the furthest ones first."""
        found = []
        while (name := self.ways.before.get(name, "")) != "":
            if name in self.named and self.tensors.get(name) is not None:
                found.append(name)
        return found[::-1][:_MOST_SOURCES]

    def _spellings(self, source: str, name: str, axis: int, below: Cost) -> Iterator[tuple[Spelling, Order]]:
        """Yield movements from *source* to the value with its channels in other orders, for less than *below*."""
        start, value = self.tensors[source], self.tensors[name]
        assert start is not None
        assert value is not None
        for sizes, turned in self._orders(start, value, axis):
            work(1)
            shape = value.shape
            try:
                wide = reshape(value, (*shape[:axis], *sizes, *shape[axis + 1 :]))
                places = [axis + k for k in turned]
                perm = (*range(axis), *places, *range(axis + len(sizes), wide.rank))
                wanted = reshape(transpose(wide, perm), shape)
            except SymlayoutError:
                continue
            found = self.speller.cheapest(start, wanted, below)
            if found is not None:
                numbers = np.arange(int(shape[axis])).reshape(sizes).transpose(turned).ravel()
                yield found, tuple(map(int, numbers))

    def _orders(self, start: Tensor, value: Tensor, axis: int) -> Iterator[tuple[list[int], Order]]:
        """Yield the digits of an axis with which *value* reads *start*, and other orders of them."""
        leaf = Tensor("x", None, start.extents, start.facts, key="channels")
        moved = rebased(value, {id(start): leaf})
        found = [] if moved is None or moved.leaves() != [leaf] else examples(moved)
        digits = digits_of(found, tuple(start.shape), tuple(value.shape)) if found else None
        if digits is None:
            return
        own = [d for d in digits.digits if d.target == axis]
        if not 2 <= len(own) <= _MOST_DIGITS or any(len(set(d.numbers)) > 1 or d.source < 0 for d in own):
            return
        sizes = [d.numbers[0] for d in own]
        for turned in itertools.permutations(range(len(own))):
            if turned != tuple(range(len(own))):
                yield sizes, turned

    def _proof(
        self, node: NodeProto, name: str, axis: int, weights: str, other: int, order: Sequence[int]
    ) -> Proof | None:
        """Return the proof that the node computes the same of channels and weights in this order, or None."""
        values: dict[str, Any] = {n: t for n in node.input if n and (t := self.tensors.get(n)) is not None}
        dims = frozenset(dim for t in values.values() for dim in dims_of(t))
        for k, (n, t) in enumerate(values.items()):
            values[n] = t.values if t.values is not None else stand_in(t, dims, f"stand-in {k}")
        ordered = take(values[name], np.array(order, np.int64), axis)
        if ordered is None:
            return None
        try:
            (before,) = self.graph.evaluated(node, values)
            turned = {name: ordered, weights: np.take(values[weights], order, other)}
            (after,) = self.graph.evaluated(node, {**values, **turned})
            proof = prove_equal(before, after, laws=(REASSOCIATE,), budget=_POINTS)
        except SymlayoutError:
            return None
        return proof if proof.verdict is Verdict.PROVED else None
