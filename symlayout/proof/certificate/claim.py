"""Write the claim that two tensors are equal as data.  The package `checker` describes the format."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

import numpy as np

from symlayout.algebra.arithmetic import Arithmetic
from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, encode, names_of
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Case
from symlayout.tensors.element_types import fill_text
from symlayout.walks import Walk


class Claim:
    """The claim that *left* and *right* are equal for all sizes that satisfy *facts*.

    Attributes
    ----------
    data : dict
        The claim as data.
    symbols : dict
        The definition of each symbol of the shapes: a form and two operands.
    operations : dict
        The operations by the numbers of their nodes, in order.
    """

    def __init__(self, left: Tensor, right: Tensor, facts: Facts, dtype: Any) -> None:
        self.left, self.right, self.facts, self.dtype = left, right, facts, dtype
        self.symbols: dict[str, tuple[str, Extent, Extent]] = {}  # operands before the symbols that use them
        self._numbers: dict[int, int] = {}
        self._nodes: list[dict[str, Any]] = []
        self._inputs: dict[str, str] = {}
        self.operations: dict[int, Tensor] = {}
        assumptions = [self._assumption(r.relation, r.value, r.modulus) for r in facts.requirements]
        for node in (*left.nodes(), *right.nodes()):
            if id(node) not in self._numbers:
                self._nodes.append(self._node(node))
                self._numbers[id(node)] = len(self._nodes) - 1
        self.data: dict[str, Any] = {
            "dims": [[d.name, d.min, d.max, d.multiple_of] for d in facts.dims.values()],
            "symbols": [[name, form, encode(a), encode(b)] for name, (form, a, b) in self.symbols.items()],
            "assumptions": assumptions,
            "nodes": self._nodes,
            "left": self._numbers[id(left)],
            "right": self._numbers[id(right)],
        }

    def number(self, node: Tensor) -> int:
        """Return the number of a node of one of the sides."""
        return self._numbers[id(node)]

    def dims_of(self, expressions: Iterable[Extent]) -> set[str]:
        """Return the names of the dims that expressions are made of."""
        walk = Walk(name for e in expressions for name in names_of(e))
        for name in walk:
            walk.to(part for e in self.symbols.get(name, ())[1:] for part in names_of(e))
        return walk.seen.keys() & self.facts.dims.keys()

    def _assumption(self, relation: str, value: Extent, modulus: Extent) -> list[Any]:
        e = self._extent(value, self.facts)
        if relation == "divides":
            return [relation, e, self._extent(modulus, self.facts)]
        return [">=" if relation == "nonnegative" else "==", e]

    def _node(self, node: Tensor) -> dict[str, Any]:
        shape = [self._extent(e, node.facts) for e in node.extents]
        if node.declared is None:
            name = node.key
            if "." in name:  # it numbers the tensors of the process; the claim numbers its own inputs
                number = f"{node.name}.{len(self._inputs)}"
                name = number if node.values is None else constant_name(node.values)
            return {"input": self._inputs.setdefault(node.key, name), "shape": shape}
        self.operations[len(self._nodes)] = node
        return {
            "op": node.name,
            "inputs": [self._numbers[id(source)] for source in node.inputs],
            "shape": shape,
            "cases": [self._case(case, node) for case in node.declared.cases],
        }

    def _case(self, case: Case, node: Tensor) -> dict[str, Any]:
        axes = [TracedCoordinate(("axis", k)) for k in range(node.rank)]

        def data(value: Any) -> Any:
            return self._expression(
                value.data if isinstance(value, TracedCoordinate) else ("extent", value), node.facts
            )

        where = [] if case.where is None else case.where(*axes)
        return {
            "source": case.source,
            "where": [[data(value), self._extent(extent, node.facts)] for value, extent in where],
            "coords": [data(c) for c in case.coords(*axes)],
            "fill": None if case.fill is None else fill_text(case.fill.value, self.dtype),
        }

    def _expression(self, data: tuple[Any, ...], facts: Facts) -> list[Any]:
        if data[0] == "axis":
            return list(data)
        if data[0] == "extent":
            return ["extent", self._extent(data[1], facts)]
        if data[0] == "entry":
            return ["entry", list(data[1]), self._expression(data[2], facts)]
        return [data[0], *(self._expression(part, facts) for part in data[1:])]

    def _extent(self, e: Extent, facts: Facts) -> Any:
        for name in sorted(names_of(e)):
            self._meet(name, facts)
        return encode(e)

    def _meet(self, name: str, facts: Facts) -> None:
        """Store the definition of a symbol, after the symbols that the definition mentions."""
        if name in self.symbols or name in self.facts.dims:
            return
        if name in facts.quotients:
            form, (a, b) = "/", facts.quotients[name]
        else:
            d = facts.definitions[name]
            form, a, b = "//" if d.form == "floor" else "max", d.left, d.right
        for part in sorted(names_of(a) | names_of(b)):
            self._meet(part, facts)
        self.symbols[name] = form, a, b


def constant_name(values: np.ndarray[Any, Any]) -> str:
    """Return what claims call a constant: a digest of its element type, its shape and its bits."""
    kind = values.dtype.newbyteorder("=")
    head = f"{kind.name} {values.shape} ".encode()
    return f"constant {sha256(head + values.astype(kind, copy=False).tobytes()).hexdigest()}"


class TracedCoordinate(Arithmetic):
    """A coordinate that records the expression computed from it."""

    __slots__ = ("data",)

    def __init__(self, data: tuple[Any, ...]) -> None:
        self.data = data

    def _with(self, operator: str, other: Any, *, swapped: bool = False) -> TracedCoordinate:
        operand = other.data if isinstance(other, TracedCoordinate) else ("extent", other)
        return TracedCoordinate((operator, operand, self.data) if swapped else (operator, self.data, operand))

    def __add__(self, other: Any) -> TracedCoordinate:
        return self._with("+", other)

    def __radd__(self, other: Any) -> TracedCoordinate:
        return self._with("+", other, swapped=True)

    def __sub__(self, other: Any) -> TracedCoordinate:
        return self._with("-", other)

    def __rsub__(self, other: Any) -> TracedCoordinate:
        return self._with("-", other, swapped=True)

    def __mul__(self, other: Any) -> TracedCoordinate:
        return self._with("*", other)

    def __rmul__(self, other: Any) -> TracedCoordinate:
        return self._with("*", other, swapped=True)

    def __floordiv__(self, other: Any) -> TracedCoordinate:
        return self._with("//", other)

    def __mod__(self, other: Any) -> TracedCoordinate:
        return self._with("%", other)

    def entry_of(self, table: Any) -> TracedCoordinate:
        """Return the entry of a `Table` at this coordinate."""
        return TracedCoordinate(("entry", tuple(table.values), self.data))
