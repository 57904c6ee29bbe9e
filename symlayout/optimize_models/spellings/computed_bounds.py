"""Bounds of slices that a graph computes: where a movement begins to read, as expressions in dims, and their nodes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.errors import SymlayoutError
from symlayout.language.sympy_bridge import to_sympy
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.spellings.movement_digits import is_number, plain
from symlayout.proof.cases.read_element import OpenSign, Stuck, read_element
from symlayout.tensors.chain import Tensor

if TYPE_CHECKING:
    from onnx import NodeProto

Places = Mapping[Any, tuple[str, int]]
"""For dims an input of the model that has them, and the axis there."""

_GOALS = 200  # to find where a movement begins to read
_INTEGERS_HAVE_EXTREMES = 12  # the version from which Max and Min take integers


class Bounds:
    """Where a movement begins to read on each axis of its source, as expressions that a graph can compute.

    Parameters
    ----------
    moved : Tensor
        A movement of one leaf.
    places : mapping
        The dims that a graph can compute with, and where it finds them.
    opset : int
        The version of ONNX's operations.
    """

    def __init__(self, moved: Tensor, places: Places, opset: int) -> None:
        self._moved, self._places, self._opset = moved, places, opset
        self._corner: tuple[Any, ...] | None = None

    def start(self, axis: int) -> Any:
        """Return where the axis is read from first; None if no nodes can compute it."""
        if self._corner is None:
            self._corner = self._found()
        return self._corner[axis] if self._corner else None

    def computed(self, bound: Any) -> Any:
        """Return an expression in dims, if nodes can compute it; else None."""
        if bound is None or node_count_of(bound, self._places, self._opset) is None:
            return None
        return plain(bound)

    def _found(self) -> tuple[Any, ...]:
        t = self._moved
        facts = t.facts.fork()
        try:
            read = read_element(t, [0] * t.rank, facts, side=0, limit=facts.effort + _GOALS, shown=True)
            return tuple(to_sympy(e, facts) for e in read.coords)
        except (OpenSign, Stuck, SymlayoutError, KeyError):  # the facts do not say it, or say it in other symbols
            return ()


def places_of(inputs: Mapping[str, Tensor]) -> Places:
    """Return the dims that are extents of a model's inputs: the first input that has each, and the axis."""
    found: dict[Any, tuple[str, int]] = {}
    for name, t in inputs.items():
        for axis, e in enumerate(t.shape or ()):
            if not is_number(e) and e.is_Symbol:
                found.setdefault(e, (name, axis))
    return found


def node_count_of(bound: Any, places: Places, opset: int) -> int | None:
    """Return how many nodes compute a bound as a vector of one number; None if none do."""
    if is_number(bound):
        return 0
    count = itertools.count()

    def put(*_given: Any, **_attributes: Any) -> str:
        next(count)
        return ""

    made = _written(bound, places, opset, put, lambda *_numbers: "")
    return None if made is None else next(count)


def emit_bounds(graph: EditedGraph, bounds: Sequence[Any], places: Places, target: str, nodes: list[NodeProto]) -> str:
    """Append the nodes that compute a vector of bounds, at least one of them no constant, and return its name."""

    def constant(*numbers: int) -> str:
        name, extra = graph.constant(np.array(numbers, np.int64), f"{target}_number")
        nodes.extend(extra)
        return name

    def put(op: str, *inputs: str, **attributes: Any) -> str:
        name = graph.new_name(f"{target}_{op.lower()}")
        nodes.append(graph.node(op, inputs, name, **attributes))
        return name

    names = []
    for bound in bounds:
        made = constant(int(bound)) if is_number(bound) else _written(bound, places, graph.opset, put, constant)
        assert made is not None
        names.append(made)
    return names[0] if len(names) == 1 else put("Concat", *names, axis=0)


def _written(e: Any, places: Places, opset: int, put: Callable[..., str], constant: Callable[..., str]) -> str | None:
    """Return the name of an expression as a vector of one number, made by *put* and *constant*; None if it has none."""
    if is_number(e):
        return constant(int(e))
    if e.is_Symbol:
        found = places.get(e)
        return None if found is None else put("Gather", put("Shape", found[0]), constant(found[1]), axis=0)
    if type(e).__name__ == "floor":
        return _quotient(e.args[0], places, opset, put, constant)
    if e.is_Mul and not e.as_coeff_Mul()[0].is_Integer:
        return _quotient(e, places, opset, put, constant)
    op = {"Add": "Add", "Mul": "Mul", "Max": "Max", "Min": "Min"}.get(type(e).__name__)
    if op is None or (op in ("Max", "Min") and opset < _INTEGERS_HAVE_EXTREMES):
        return None
    parts = [_written(part, places, opset, put, constant) for part in e.args]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    made = known[0]
    for other in known[1:]:
        made = put(op, made, other)
    return made


def _quotient(e: Any, places: Places, opset: int, put: Callable[..., str], constant: Callable[..., str]) -> str | None:
    """Return the name of a quotient by a number, which is rounded down: the dividend is not negative."""
    numerator, denominator = e.as_numer_denom()
    if not is_number(denominator):
        return None
    made = _written(numerator, places, opset, put, constant)
    return None if made is None else put("Div", made, constant(int(denominator)))
