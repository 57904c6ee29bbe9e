"""The products of a graph with constant weights, and the columns that are read together.

Which columns a value reads, its composed map says at examples.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.optimize_models.crossings.permuted_nodes import is_as_fast
from symlayout.optimize_models.movement_cost import Movement
from symlayout.optimize_models.movement_regions import is_end
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.spellings.movement_digits import Example, examples
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import is_pointwise
from symlayout.tensors.stand_in import rebased

if TYPE_CHECKING:
    from onnx import NodeProto

Array = np.ndarray[Any, Any]
Columns = tuple[int, ...]

_MAX_CONSTANT = 1 << 26  # bytes of weights that are cut
_MAX_ENDS = 32  # values that are moved from one product
_MAX_RUNS = 64  # of neighbouring columns in one part
# onnxruntime rounds a sum of these alike for any number of columns of constant weights; of other floats it does not.
ROUNDED_ALIKE = np.dtype(np.float32)
_MAX_CHAIN = 16  # elementwise operations after a product


@dataclass(frozen=True, slots=True)
class JointProduct:
    """A product with constant weights, and the elementwise operations with constants that follow it.

    Attributes
    ----------
    nodes : tuple of NodeProto
        The product, and the operations after it.
    carried : tuple of int
        For each operation which operand is computed by the one before; of the product which one is no constant.
    value : str
        The last value.
    columns : int
        The extent of its last axis.
    """

    nodes: tuple[NodeProto, ...]
    carried: tuple[int, ...]
    value: str
    columns: int

    @property
    def source(self) -> str:
        """The operand of the product that is no constant."""
        return str(self.nodes[0].input[0])


@dataclass(frozen=True, slots=True)
class ColumnPart:
    """Columns that are read together.

    Attributes
    ----------
    columns : tuple of int
        Their numbers, in order.
    ends : tuple of str
        The values that read them.
    likeness : tuple
        What is equal for parts that are moved alike.
    """

    columns: Columns
    ends: tuple[str, ...]
    likeness: tuple[Any, ...]


class JointProducts:
    """The products of a graph, and the parts in which their columns are read."""

    def __init__(self, graph: EditedGraph, movement: Movement) -> None:
        self.graph, self.movement, self.tensors = graph, movement, movement.tensors
        self.needed = graph.outputs | graph.captured()
        self.named = graph.named()
        self.readers = graph.readers()

    def product(self, node: NodeProto) -> JointProduct | None:
        """Return the product that a node begins; None if it begins none."""
        graph = self.graph
        y = self.tensors.get(node.output[0])
        if not graph.is_standard(node, "MatMul", "Gemm") or y is None or y.rank < 2 or not is_whole(y.shape[-1]):
            return None
        weights = self.values(node.input[1])
        if weights is None or weights.ndim != 2 or weights.nbytes > _MAX_CONSTANT or self._is_constant(node.input[0]):
            return None
        if len(node.input) > 2 and node.input[2] and not self._is_constant(node.input[2]):
            return None
        if y.dtype is None or (y.dtype.kind == "f" and y.dtype != ROUNDED_ALIKE):
            return None
        nodes, carried, at = [node], [0], node.output[0]
        while len(nodes) < _MAX_CHAIN and at not in self.needed and len(self.readers.get(at, [])) == 1:
            (reader,) = self.readers[at]
            if at not in self.movement.sources and not self._follows(reader, at):
                break
            nodes.append(reader)
            carried.append(list(reader.input).index(at))
            at = reader.output[0]
        return JointProduct(tuple(nodes), tuple(carried), at, int(y.shape[-1]))

    def region(self, name: str) -> tuple[list[str], set[str]] | None:
        """Return the first values that are read of those moved from a value, and all on the way; None if it is one."""
        if is_end(name, self.movement, self.readers, self.needed):
            return None
        ends: dict[str, None] = {}
        inside: set[str] = set()
        waiting = [name]
        while waiting:
            for node in self.readers.get(waiting.pop(), []):
                for out in node.output:
                    if not out or out in inside:
                        continue
                    inside.add(out)
                    if is_end(out, self.movement, self.readers, self.needed):
                        ends[out] = None
                    else:
                        waiting.append(out)
        return (list(ends), inside) if 0 < len(ends) <= _MAX_ENDS else None

    def parts(self, product: JointProduct, ends: Sequence[str]) -> list[ColumnPart]:
        """Return the parts, those with the first columns first; none if that is not known."""
        value = self.tensors[product.value]
        assert value is not None
        reads: dict[str, list[Example]] = {}
        columns: dict[str, Columns] = {}
        for name in ends:
            bare = Tensor("x", None, value.extents, value.facts, key="the product")
            t = self.tensors.get(name)
            moved = None if t is None else rebased(t, {id(value): bare})
            if moved is None or moved.leaves() != [bare]:
                return []
            reads[name] = examples(moved)
            found = {tuple(int(c) for c in np.unique(x.reads % product.columns)) for x in reads[name]}
            if len(found) != 1:
                return []
            (columns[name],) = found
        parts = []
        for group in _joined(columns):
            union = tuple(sorted({c for name in group for c in columns[name]}))
            if len(runs(union)) > _MAX_RUNS:
                return []
            parts.append(ColumnPart(union, tuple(group), tuple(self._likeness(n, reads[n], union) for n in group)))
        return sorted(parts, key=lambda part: part.columns)

    def is_joined_again(self, product: JointProduct, parts: Sequence[ColumnPart], ends: Sequence[str]) -> bool:
        """Return whether all parts are read by one join, and products of so few columns would take longer."""
        joins = {id(node): node for name in ends for node in self.readers.get(name, [])}
        if len(parts) < 2 or len(joins) != 1 or not self.graph.is_standard(next(iter(joins.values())), "Concat"):
            return False
        weights, facts = self.values(product.nodes[0].input[1]), self.tensor(product.value).facts
        return weights is None or not all(is_as_fast(weights.shape[0], len(part.columns), facts) for part in parts)

    def values(self, name: str) -> Array | None:
        """Return the elements of a constant that has a name in the graph; None if a value is none."""
        t = self.tensors.get(name)
        return None if t is None or t.values is None or name not in self.named else np.asarray(t.values)

    def tensor(self, name: str) -> Tensor:
        """Return a value whose shape is known."""
        t = self.tensors[name]
        assert t is not None
        return t

    def _follows(self, node: NodeProto, name: str) -> bool:
        """Return whether a node computes each element of one element of a value, and of constants."""
        t, made = self.tensors.get(name), self.tensors.get(node.output[0])
        if t is None or made is None or not is_pointwise(made):
            return False
        if list(node.input).count(name) != 1 or len(node.output) != 1 or made.shape != t.shape:
            return False
        others = [n for n in node.input if n and n != name]
        return all(self._fits_columns(n, t) for n in others)

    def _fits_columns(self, name: str, t: Tensor) -> bool:
        """Return whether a value is a constant that has an element for each column, or one for all."""
        values = self.values(name)
        return values is not None and (values.size == 1 or values.shape[-1] in (1, t.shape[-1]))

    def _is_constant(self, name: str) -> bool:
        return self.values(name) is not None

    def _likeness(self, name: str, reads: Sequence[Example], columns: Columns) -> tuple[Any, ...]:
        """Return what is equal for values that are moved alike from their parts."""
        t = self.tensors[name]
        assert t is not None
        patterns = []
        for x in reads:
            row, column = np.divmod(x.reads, x.start[-1])
            patterns.append((x.start[:-1], row.tobytes(), np.searchsorted(columns, column).tobytes()))
        return tuple(t.shape), len(columns), tuple(patterns)


def _joined(columns: dict[str, Columns]) -> list[list[str]]:
    """Return the names in groups whose columns overlap, in order."""
    groups: list[tuple[set[int], list[str]]] = []
    for name, own in columns.items():
        near = [g for g in groups if not g[0].isdisjoint(own)]
        groups = [g for g in groups if g[0].isdisjoint(own)]
        groups.append((set(own).union(*(g[0] for g in near)), [*itertools.chain(*(g[1] for g in near)), name]))
    return [names for _, names in groups]


def runs(columns: Sequence[int]) -> list[tuple[int, int]]:
    """Return where neighbouring columns start and end.

    >>> runs((0, 1, 2, 6, 7))
    [(0, 3), (6, 8)]
    """
    ends = [k for k in range(1, len(columns)) if columns[k] != columns[k - 1] + 1]
    bounds = itertools.pairwise([0, *ends, len(columns)])
    return [(columns[a], columns[b - 1] + 1) for a, b in bounds]


def is_whole(extent: Any) -> bool:
    """Return whether an extent is a number that can be cut."""
    return isinstance(extent, int) and extent > 1
