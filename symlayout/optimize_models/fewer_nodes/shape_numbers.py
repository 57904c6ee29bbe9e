"""Numbers of shapes, computed in the fewest nodes: as whole vectors, from the shape of one value.

A target such as ``(N, H/4, 4, W/4, 4, C)`` is written by exporters as one chain of Gather, Div, Unsqueeze for each
number, and a Concat.  Here all numbers are gathered at once from a pool, the shape with some constants behind it, and
multiplied and divided as vectors: ``Gather(pool, [0, 1, 4, 2, 4, 3]) / [1, 4, 1, 4, 1, 1]``.  A pool serves all vectors
that are made of that shape.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.errors import FormatError, one_line
from symlayout.models.model import Model
from symlayout.optimize_models.movement_cost import exact_steps
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten, ends_of
from symlayout.optimize_models.spellings.movement_digits import is_number
from symlayout.walks import Walk

if TYPE_CHECKING:
    from onnx import NodeProto

_MAX_FACTORS = 3  # extents in one product
_MAX_BASES = 16  # values whose shapes are tried
_MAX_TRIED = 64  # vectors that are tried one by one
_MAX_NUMBERS = 16  # of a vector


@dataclass(frozen=True, slots=True)
class _Number:
    """A number of a shape: a product of extents of a value and of a constant, divided by a constant.

    Attributes
    ----------
    axes : tuple of int
        The axes of the extents.
    times, by : int
        The constants.
    """

    axes: tuple[int, ...]
    times: int
    by: int = 1


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a vector is computed from the shape of a value.

    Attributes
    ----------
    name : str
        The vector.
    base, rank : str, int
        The value, and how many extents it has.
    numbers : tuple of _Number
        Its numbers, in order.
    shape : tuple of int
        Its shape: one axis, or none.
    """

    name: str
    base: str
    rank: int
    numbers: tuple[_Number, ...]
    shape: tuple[int, ...]

    @property
    def is_whole(self) -> bool:
        """Whether it is the shape itself."""
        wanted = tuple(_Number((axis,), 1) for axis in range(self.rank))
        return self.numbers == wanted and len(self.shape) == 1

    def columns(self) -> list[list[tuple[bool, int]]]:
        """Return the factors by which the vector is multiplied up: each an axis or a constant for each number."""
        rows = []
        for n in self.numbers:
            row = [(True, axis) for axis in n.axes]
            rows.append(row + [(False, n.times)] * (n.times != 1 or not row))
        width = max(map(len, rows))
        for row in rows:
            row += [(False, 1)] * (width - len(row))
        return [[row[k] for row in rows] for k in range(width)]

    @property
    def constants(self) -> list[int]:
        """The constants that stand in the pool."""
        mixed = [c for c in self.columns() if any(is_axis for is_axis, _ in c)]
        return list(dict.fromkeys(n for column in mixed for is_axis, n in column if not is_axis))

    @property
    def nodes(self) -> int:
        """How many nodes it takes beside the shape and the pool."""
        if self.is_whole:
            return 0
        columns = self.columns()
        gathered = sum(any(is_axis for is_axis, _ in c) for c in columns)
        return gathered + len(columns) - 1 + any(n.by != 1 for n in self.numbers)


def respell_numbers(graph: EditedGraph, model: Model, kept: Set[str]) -> list[Rewritten]:
    """Compute the numbers of shapes in fewer nodes, and return what was changed.

    Nothing is proved here.

    Parameters
    ----------
    model : Model
        What the graph is a copy of.
    kept : set of str
        Values that are made as they are.
    """
    numbers = _Numbers(graph, model, kept)
    plans = numbers.chosen()
    readers = graph.readers()
    changes = []
    for plan in plans:
        ends = ends_of(n for n in readers.get(plan.name, ()) if id(n) not in numbers.inner)
        changes.append(
            Rewritten(plan.name, f"{one_line(plan.name)}: from the shape of {one_line(plan.base)}", ends=ends)
        )
    numbers.apply(plans)
    return changes


class _Numbers:
    """The nodes of a graph that compute numbers of shapes.

    Attributes
    ----------
    inner : dict of int to NodeProto
        Those of which all outputs are such numbers, by their ids.
    """

    def __init__(self, graph: EditedGraph, model: Model, kept: Set[str]) -> None:
        self.graph, self.model = graph, model
        self.place = {id(node): k for k, node in enumerate(graph.nodes)}
        self.made = graph.producers()
        self.fixed = graph.outputs | graph.captured()
        requires = [r for t in model.outputs.values() for r in t.requires]
        self.steps = exact_steps(requires)
        self.exact: dict[Any, Any] = {}  # expressions at sizes that meet the requirements
        values = model.tensors
        self.inner = {
            id(node): node for node in graph.nodes if all(values.numbers(n) is not None for n in node.output if n)
        }
        self.needed = set(self.fixed)
        self.first: dict[str, NodeProto] = {}  # the first node that reads a value and computes no such numbers
        for node in graph.nodes:
            if id(node) not in self.inner:
                self.needed.update(node.input)
                for name in node.input:
                    self.first.setdefault(name, node)
        bases = self._bases()
        self.plans: dict[str, _Plan] = {}
        for node in self.inner.values():
            if len(node.output) == 1 and node.output[0] in self.first and node.output[0] not in kept:
                plan = self._plan(node.output[0], bases)
                if plan is not None:
                    self.plans[plan.name] = plan

    # ------------------------------------------------------------------ plans

    def _bases(self) -> dict[str, tuple[int, list[Any]]]:
        """Return the values whose shapes nodes read: the place where each is made, and its extents."""
        bases = {}
        for node in self.inner.values():
            if not self.graph.is_standard(node, "Shape"):
                continue
            name = node.input[0]
            try:
                t = self.model.tensors.shaped.get(name)
            except FormatError:  # numbers of dims that no value shows
                continue
            if t is not None:
                place = self.place[id(self.made[name])] if name in self.made else -1
                bases[name] = place, [self._exact(e) for e in t.shape]
        return bases

    def _read_by(self, name: str) -> list[str]:
        """Return the values from whose shapes a vector is computed."""
        walk, found = Walk([name]), []
        for at in walk:
            node = self.made.get(at)
            if node is not None and self.graph.is_standard(node, "Shape"):
                found.append(node.input[0])
            elif node is not None and id(node) in self.inner:
                walk.to(node.input)
        return found

    def _exact(self, e: Any) -> Any:
        """Return a number of a shape at sizes that meet the requirements, so that exact quotients are not rounded."""
        if is_number(e):
            return int(e)
        if e not in self.exact:
            self.exact[e] = e.subs(self.steps, simultaneous=True) if self.steps else e
        return self.exact[e]

    def _plan(self, name: str, bases: Mapping[str, tuple[int, list[Any]]]) -> _Plan | None:
        """Return how a vector is computed from one of the shapes that it is computed from; the first value is best."""
        values = self.model.tensors.numbers(name)
        assert values is not None
        if values.ndim > 1 or not 0 < values.size <= _MAX_NUMBERS or any(type(n) is bool for n in values.reshape(-1)):
            return None
        wanted = [self._exact(n) for n in values.reshape(-1)]
        if all(isinstance(n, int) for n in wanted) or not self._is_int64(name):
            return None
        near = sorted({base for base in self._read_by(name) if base in bases}, key=lambda base: bases[base][0])
        for base in near[:_MAX_BASES]:
            extents = bases[base][1]
            found = [_number_of(n, extents) for n in wanted]
            if all(n is not None for n in found):
                return _Plan(name, base, len(extents), tuple(n for n in found if n is not None), values.shape)
        return None

    def _is_int64(self, name: str) -> bool:
        try:
            return self.model.tensors.shaped[name].dtype == np.int64
        except FormatError:
            return False

    # ------------------------------------------------------------------ choice

    def chosen(self) -> list[_Plan]:
        """Return the plans that leave the fewest nodes together, in the order in which their vectors are read."""
        chosen = dict(self.plans)
        before = self._count({})
        count = self._count(chosen)
        for name in list(chosen) if len(chosen) <= _MAX_TRIED else ():
            fewer = {k: plan for k, plan in chosen.items() if k != name}
            if (n := self._count(fewer)) <= count:
                chosen, count = fewer, n
        if count >= before:
            return []
        return sorted(chosen.values(), key=lambda plan: self.place[id(self.first[plan.name])])

    def _count(self, chosen: Mapping[str, _Plan]) -> int:
        """Return how many nodes compute numbers of shapes where some vectors are computed by plans."""
        walk = Walk(name for name in self.needed if name in self.made)
        nodes: set[int] = set()
        shapes: dict[str, bool] = {}
        own = 0
        for name in walk:
            if name in chosen:
                plan = chosen[name]
                own += plan.nodes
                shapes[plan.base] = shapes.get(plan.base, False) or bool(plan.constants)
                continue
            node = self.made.get(name)
            if node is None or id(node) not in self.inner:
                continue
            if self.graph.is_standard(node, "Shape") and not node.attribute:
                shapes.setdefault(node.input[0], False)
                continue
            nodes.add(id(node))
            walk.to(node.input)
        return own + len(nodes) + len(shapes) + sum(shapes.values())

    # ------------------------------------------------------------------ the new nodes

    def apply(self, plans: Sequence[_Plan]) -> None:
        """Write the nodes of plans into the graph."""
        graph = self.graph
        pools: dict[str, _Pool] = {}
        for plan in plans:
            pools.setdefault(plan.base, _Pool(plan.base, plan.rank)).take(plan.constants)
        before: dict[int, list[NodeProto]] = {}
        for plan in plans:
            nodes = before.setdefault(id(self.first[plan.name]), [])
            old = self.made[plan.name]
            old.output[0] = graph.new_name(f"{plan.name}_before")
            nodes += pools[plan.base].nodes(graph, plan)
        graph.nodes[:] = [n for node in graph.nodes for n in (*before.get(id(node), ()), node)]


@dataclass(slots=True)
class _Pool:
    """The shape of a value, and constants behind it, from which vectors are gathered.

    Attributes
    ----------
    base : str
        The value.
    rank : int
        How many extents it has.
    constants : list of int
        The constants.
    names : list of str
        What the shape and the pool are called, once there are nodes for them.
    """

    base: str
    rank: int
    constants: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def take(self, constants: Sequence[int]) -> None:
        """Put constants into the pool."""
        self.constants += [n for n in constants if n not in self.constants]

    def nodes(self, graph: EditedGraph, plan: _Plan) -> list[NodeProto]:
        """Return the nodes that compute the vector of a plan."""
        made: list[NodeProto] = []

        def constant(values: Any) -> str:
            name, extra = graph.constant(np.array(values, np.int64).reshape(plan.shape), f"{plan.name}_numbers")
            made.extend(extra)
            return name

        if not self.names:
            shape = graph.new_name(f"{self.base}_shape")
            made.append(graph.node("Shape", [self.base], shape))
            self.names = [shape, shape]
            if self.constants:
                numbers, extra = graph.constant(np.array(self.constants, np.int64), f"{self.base}_numbers")
                self.names[1] = graph.new_name(f"{self.base}_pool")
                made += [*extra, graph.node("Concat", [shape, numbers], self.names[1], axis=0)]
        if plan.is_whole:
            return [*made, graph.node("Identity", [self.names[0]], plan.name)]
        columns = plan.columns()
        divisors = [n.by for n in plan.numbers]
        ops = ["Mul"] * (len(columns) - 1) + ["Div"] * (set(divisors) != {1})

        def named(is_last: bool) -> str:
            return plan.name if is_last else graph.new_name(f"{plan.name}_part")

        operands = []
        for column in columns:
            if not any(is_axis for is_axis, _ in column):
                operands.append(constant([n for _, n in column]))
                continue
            places = [n if is_axis else self.rank + self.constants.index(n) for is_axis, n in column]
            source = self.names[0] if all(is_axis for is_axis, _ in column) else self.names[1]
            operands.append(named(not ops))
            made.append(graph.node("Gather", [source, constant(places)], operands[-1], axis=0))
        at = operands[0]
        for k, op in enumerate(ops):
            out = named(k == len(ops) - 1)
            made.append(graph.node(op, [at, operands[k + 1] if op == "Mul" else constant(divisors)], out))
            at = out
        return made


def _number_of(n: Any, extents: Sequence[Any]) -> _Number | None:
    """Return a number as a product of extents, times and divided by constants; None if it is no such product."""
    if isinstance(n, int):
        return _Number((), n)
    rounded = n.args[0] if n.func.__name__ == "floor" else n
    for axes in _choices(extents):
        ratio = rounded / prod(extents[axis] for axis in axes)
        if ratio.is_Rational and ratio > 0 and (rounded is n or ratio.q != 1):
            return _Number(axes, int(ratio.p), int(ratio.q))
        if rounded is not n:
            ratio = n / prod(extents[axis] for axis in axes)
            if ratio.is_Rational and ratio > 0:
                return _Number(axes, int(ratio.p), int(ratio.q))
    return None


def _choices(extents: Sequence[Any]) -> Iterator[tuple[int, ...]]:
    """Yield axes whose extents are no numbers, few ones first."""
    axes = [axis for axis, e in enumerate(extents) if not isinstance(e, int)]
    for count in range(1, _MAX_FACTORS + 1):
        yield from itertools.combinations(axes, count)
