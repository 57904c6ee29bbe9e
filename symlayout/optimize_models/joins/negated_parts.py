"""Parts of one value of which some are negated, joined, and multiplied by what has fewer elements.

The halves of a rotary embedding are ``concat(-x[D/2:], x[:D/2]) * sin``.  With the signs in the smaller factor, this is
``concat(x[D/2:], x[:D/2]) * (sin * signs)``, and the joined parts are one movement of ``x``.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.errors import SymlayoutError, one_line
from symlayout.models.model import Model
from symlayout.ops.concatenate import concatenate
from symlayout.optimize_models.movement_cost import Cost, Movement, bytes_of, cost_of, typical
from symlayout.optimize_models.movement_regions import dead_without
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten
from symlayout.optimize_models.spellings.movement_digits import examples
from symlayout.optimize_models.spellings.spell_movement import Speller, Spelling
from symlayout.tensors.chain import Tensor
from symlayout.tensors.stand_in import rebased

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

_MAX_CHAIN = 8  # operations between a part and the value that it is of, and between the join and the product
_MAX_SIGNS = 1 << 16

Array = np.ndarray[Any, Any]


def negate_factors(
    model: Model, untouched: Set[str] = frozenset(), speller: Speller | None = None
) -> tuple[ModelProto, list[Rewritten]]:
    """Return the model with the signs of joined parts in the factor that they are multiplied by, and what was changed.

    The movement of the joined parts is proved here; the products are not.

    Parameters
    ----------
    untouched : set of str
        Values that are made as they are.
    speller : Speller, optional
        One that remembers the spellings of other models with these operations.
    """
    graph = EditedGraph(model.source)
    if not any(graph.is_standard(node, "Neg") for node in graph.nodes):
        return graph.message, []
    parts = _Parts(graph, Movement(model), speller or Speller(graph.opset))
    joins = [node for node in graph.nodes if graph.is_standard(node, "Concat")]
    changes = [c for node in joins if (c := parts.rewrite(node, untouched)) is not None]
    return graph.finish(), changes


@dataclass(frozen=True, slots=True)
class _Part:
    """What a join reads: values that it is moved from, the nearest first, and whether it is negated before them.

    Attributes
    ----------
    values : list of str
        The values behind the last negation.
    negations : tuple of (str, str)
        The outputs of negations on the way, each with its operand.
    """

    values: list[str]
    negations: tuple[tuple[str, str], ...]

    @property
    def sign(self) -> int:
        """1 or -1."""
        return -1 if len(self.negations) % 2 else 1


class _Parts:
    """The joins of a graph while they are rewritten."""

    def __init__(self, graph: EditedGraph, movement: Movement, speller: Speller) -> None:
        self.graph, self.movement, self.tensors, self.speller = graph, movement, movement.tensors, speller
        self.uses, self.producers, self.readers = graph.uses(), graph.producers(), graph.readers()
        self.factors: dict[tuple[str, bytes], str] = {}  # that have signs already

    def rewrite(self, join: NodeProto, untouched: Set[str]) -> Rewritten | None:
        """Take the signs of what a Concat joins to the factor of the product after it, and return what was done."""
        parts = [self._part(name) for name in join.input]
        signs = [part.sign for part in parts]
        if len(set(signs)) == 1 or self.tensors.get(join.output[0]) is None:
            return None
        common = [n for n in parts[0].values if all(n in part.values for part in parts)]
        found = self._product(join.output[0])
        if not common or found is None or found[1].output[0] in untouched:
            return None
        name, product, factor = found
        pattern = self._signs(join, signs, name)
        spelling = None if pattern is None else self._spelling(join, parts, common[0], name)
        if pattern is None or spelling is None:
            return None
        self._apply(common[0], spelling, name, product, factor, pattern)
        made = ", ".join(s.op for s in spelling.steps) or "nothing"
        text = f"{one_line(name)} from {one_line(common[0])}: {made}, and {one_line(factor)} has the signs of parts"
        return Rewritten(product.output[0], text, ends=(product.output[0],))

    def _part(self, name: str) -> _Part:
        values, negations = [name], []
        for _ in range(_MAX_CHAIN):
            node = self.producers.get(name)
            if node is not None and self.graph.is_standard(node, "Neg"):
                negations.append((name, node.input[0]))
                name = node.input[0]
                values = [name]
                continue
            sources = self.movement.sources.get(name, [])
            if len(sources) != 1:
                break
            (name,) = sources
            values.append(name)
        return _Part(values, tuple(negations))

    def _product(self, name: str) -> tuple[str, NodeProto, str] | None:
        """Return the value, moved from *name*, of a product with a smaller factor; the product, and the factor."""
        for _ in range(_MAX_CHAIN):
            readers = self.readers.get(name, [])
            if len(readers) != 1 or self.uses[name] != 1:
                return None
            (node,) = readers
            if self.graph.is_standard(node, "Mul"):
                (factor,) = (n for n in node.input if n != name)
                return (name, node, factor) if self._is_smaller(factor, name) else None
            if len(node.output) != 1 or self.movement.sources.get(node.output[0]) != [name]:
                return None
            name = node.output[0]
        return None

    def _is_smaller(self, factor: str, name: str) -> bool:
        t, value = self.tensors.get(factor), self.tensors.get(name)
        if t is None or value is None or t.rank > value.rank or t.dtype is None or t.dtype.kind != "f":
            return False
        return typical(bytes_of(t)) < typical(bytes_of(value))

    def _is_stated(self, name: str) -> bool:
        """Return whether a constant is in the model, not computed of others."""
        node = self.producers.get(name)
        return node is None or self.graph.is_standard(node, "Constant")

    def _signs(self, join: NodeProto, signs: Sequence[int], name: str) -> Array | None:
        """Return the sign of each column of a value that is moved from a join; None if rows have other signs."""
        whole, value = self.tensors[join.output[0]], self.tensors[name]
        assert whole is not None
        assert value is not None
        axis = self.graph.attribute(join, "axis") % whole.rank
        extents = [self._extent(part, axis) for part in join.input]
        columns = value.shape[-1] if value.rank else 0
        if None in extents or not isinstance(columns, int) or not 1 < columns <= _MAX_SIGNS:
            return None
        own = np.repeat(signs, [int(e) for e in extents if e is not None])
        bare = Tensor("x", None, whole.extents, whole.facts, key="joined parts")
        moved = rebased(value, {id(whole): bare})
        if moved is None:
            return None
        if moved is bare:
            return own if axis == whole.rank - 1 else None
        rows = []
        for x in examples(moved) if moved.leaves() == [bare] else ():
            if (x.reads < 0).any():
                return None
            rows.append(own[np.unravel_index(x.reads, x.start)[axis]].reshape(-1, columns))
        pattern = rows[0][0] if rows and rows[0].size else None
        return pattern if pattern is not None and all((r == pattern).all() for r in rows) else None

    def _extent(self, name: str, axis: int) -> int | None:
        t = self.tensors.get(name)
        return t.shape[axis] if t is not None and isinstance(t.shape[axis], int) else None

    def _spelling(self, join: NodeProto, parts: Sequence[_Part], source: str, name: str) -> Spelling | None:
        """Return how the joined parts without their signs are moved from a value; None if that costs no less."""
        whole, value, start = (self.tensors[n] for n in (join.output[0], name, source))
        if whole is None or value is None or start is None:
            return None
        axis = self.graph.attribute(join, "axis")
        try:
            plain = [self._plain(part_name, part) for part_name, part in zip(join.input, parts, strict=True)]
            made = [t for t in plain if t is not None]
            moved = rebased(value, {id(whole): concatenate(made, axis)}) if len(made) == len(plain) else None
        except SymlayoutError:
            return None
        dead = dead_without(name, source, self.producers, self.uses)
        moves = cost_of(dead, self.tensors, self.movement.sources)
        gone = Cost(moves.sizes, moves.transposes, sum(n.op_type != "Constant" for n in dead))
        return None if moved is None else self.speller.cheapest(start, moved, gone)

    def _plain(self, name: str, part: _Part) -> Tensor | None:
        """Return a part without its negations."""
        t = self.tensors[name]
        for output, operand in part.negations:
            negated, plain = self.tensors[output], self.tensors[operand]
            if t is None or negated is None or plain is None:
                return None
            t = rebased(t, {id(negated): plain})
        return t

    def _apply(
        self, source: str, spelling: Spelling, name: str, product: NodeProto, factor: str, pattern: Array
    ) -> None:
        graph, t, start = self.graph, self.tensors[factor], self.tensors[source]
        assert t is not None
        assert start is not None
        moved = graph.new_name(f"{name}_unsigned")
        new = spelling.emit(graph, source, start.shape, moved) if spelling.steps else []
        key = factor, pattern.tobytes()
        if key not in self.factors:
            signs = pattern.astype(t.dtype)
            if t.values is not None and self._is_stated(factor):
                self.factors[key], nodes = graph.constant(np.asarray(t.values) * signs, f"{factor}_signed")
            else:
                constant, nodes = graph.constant(signs, f"{factor}_signs")
                self.factors[key] = graph.new_name(f"{factor}_signed")
                nodes = [*nodes, graph.node("Mul", [factor, constant], self.factors[key])]
            new = [*nodes, *new]
        for k, read in enumerate(product.input):
            product.input[k] = (moved if spelling.steps else source) if read == name else self.factors[key]
        graph.insert(new, before=product)
