"""Moves that the operation after does itself: pads of 0 before convolutions, and repeats where operands broadcast."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.deadlines import work
from symlayout.errors import SymlayoutError, one_line
from symlayout.models.model import Model
from symlayout.ops.broadcast import broadcast_to
from symlayout.ops.reshape import reshape
from symlayout.optimize_models.movement_cost import Cost, Movement
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten
from symlayout.optimize_models.spellings.movement_digits import is_number
from symlayout.optimize_models.spellings.spell_movement import Speller
from symlayout.proof.prove import prove_equal
from symlayout.proof.verdict import Verdict
from symlayout.tensors.chain import Tensor
from symlayout.tensors.stand_in import rebased

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

_POINTS = 64  # at which a repeat is compared
_BROADCAST = (
    "Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater", "GreaterOrEqual",
    "Less", "LessOrEqual", "MatMul", "Max", "Mean", "Min", "Mod", "Mul", "Or", "Pow", "Sub", "Sum", "Where", "Xor",
)  # fmt: skip
"""Operations of the standard whose operands broadcast from version `_SINCE` on."""
_SINCE = 8
_MAX_CHAIN = 6  # moves before a value that is a repeat
_ANY = Cost(nodes=64)  # of a reshape, which moves nothing


def fold_pads(model: Model, untouched: Set[str] = frozenset()) -> tuple[ModelProto, list[Rewritten]]:
    """Return the model with pads of 0 as attributes of the convolutions that read them, and what was changed.

    Nothing is proved here.

    Parameters
    ----------
    untouched : set of str
        Values of pads that stay.
    """
    graph, pads = EditedGraph(model.source), _Pads(model)
    kept = graph.outputs | graph.captured() | untouched
    changes = []
    for node in list(graph.nodes):
        widths = pads.widths(graph, node)
        if widths is None or node.output[0] in kept:
            continue
        readers = [n for n in graph.nodes if node.output[0] in n.input]
        if not readers or not all(_takes(graph, n, node.output[0]) for n in readers):
            continue
        for reader in readers:
            _add(graph, reader, widths)
            reader.input[0] = node.input[0]
        text = f"{one_line(node.output[0])}: Pad became pads of {', '.join(n.op_type for n in readers)}"
        changes.append(Rewritten(node.output[0], text, ends=tuple(n.output[0] for n in readers)))
    return graph.finish(), changes


class _Pads:
    """The pads of a model."""

    def __init__(self, model: Model) -> None:
        self._tensors = Movement(model).tensors

    def _values(self, node: NodeProto, k: int) -> np.ndarray[Any, Any] | None:
        t = self._tensors.get(node.input[k]) if len(node.input) > k and node.input[k] else None
        return None if t is None or t.values is None else np.asarray(t.values)

    def widths(self, graph: EditedGraph, node: NodeProto) -> list[int] | None:
        """Return the widths on the axes after the channels, as Conv has them; None if a convolution has no such."""
        if not graph.is_standard(node, "Pad") or graph.attribute(node, "mode") not in (None, b"constant"):
            return None
        t = self._tensors.get(node.output[0])
        given = graph.attribute(node, "pads") if len(node.input) == 1 else self._values(node, 1)
        value = graph.attribute(node, "value") if len(node.input) == 1 else self._values(node, 2)
        if t is None or given is None or (value is None and len(node.input) > 2 and node.input[2]):
            return None
        if value is not None and (np.any(np.asarray(value) != 0) or np.any(np.signbit(value))):
            return None
        named = self._values(node, 3)
        if named is None and len(node.input) > 3 and node.input[3]:
            return None
        axes = list(range(t.rank)) if named is None else [int(a) % t.rank for a in named]
        found = np.zeros((2, t.rank), np.int64)
        found[:, axes] = np.asarray(given).reshape(2, -1)
        return None if found[:, :2].any() or (found < 0).any() else [int(n) for n in found[:, 2:].ravel()]


def _takes(graph: EditedGraph, node: NodeProto, name: str) -> bool:
    """Return whether a node is a convolution of a value whose pads are numbers."""
    if not graph.is_standard(node, "Conv") or name in list(node.input)[1:]:
        return False
    return graph.attribute(node, "auto_pad") in (None, b"NOTSET", b"VALID")


def _add(graph: EditedGraph, node: NodeProto, widths: list[int]) -> None:
    from onnx import helper

    given = graph.attribute(node, "pads") or [0] * len(widths)
    kept = [a for a in node.attribute if a.name not in ("pads", "auto_pad")]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute("pads", [a + b for a, b in zip(given, widths, strict=True)])])


def fold_repeats(model: Model, untouched: Set[str] = frozenset()) -> tuple[ModelProto, list[Rewritten]]:
    """Return the model without repeats along axes of extent 1 where all that read them broadcast, and what was changed.

    A value is proved to be such a repeat.  Of what reads it nothing is proved here but the shapes.

    Parameters
    ----------
    untouched : set of str
        Values that stay.
    """
    graph, movement = EditedGraph(model.source), Movement(model)
    kept = graph.outputs | graph.captured() | untouched
    tensors = dict(movement.tensors)
    all_readers = graph.readers()
    changes = []
    for name, sources in movement.sources.items():
        readers = all_readers.get(name, [])
        if name in kept or len(sources) != 1 or not readers or not _is_repeat(tensors, name, sources[0]):
            continue
        if any(out in movement.sources for n in readers for out in n.output):
            continue
        if not all(_broadcasts(graph, n, name, tensors, sources[0]) for n in readers):
            continue
        for reader in readers:
            for k, each in enumerate(reader.input):
                if each == name:
                    reader.input[k] = sources[0]
        all_readers.setdefault(sources[0], []).extend(readers)
        ends = tuple(out for n in readers for out in n.output if out)
        text = f"{one_line(name)}: {', '.join(n.op_type for n in readers)} repeats elements itself"
        changes.append(Rewritten(name, text, ends=ends))
    return graph.finish(), changes


def _is_repeat(tensors: Mapping[str, Tensor | None], name: str, source: str) -> bool:
    """Return whether a value is proved to be its source, repeated along axes of extent 1."""
    x, y = tensors[source], tensors[name]
    if x is None or y is None or x.rank > y.rank or tuple(x.shape) == tuple(y.shape):
        return False
    extents = tuple(y.shape)[y.rank - x.rank :]
    if any(e not in (1, n) for e, n in zip(x.shape, extents, strict=True)):
        return False
    leaf = Tensor("x", x.dtype, x.extents, y.facts, key="the source of a repeat")
    wanted = rebased(y, {id(x): leaf})
    return (
        wanted is not None
        and prove_equal(broadcast_to(leaf, y.shape), wanted, budget=_POINTS).verdict is Verdict.PROVED
    )


def _broadcasts(
    graph: EditedGraph, node: NodeProto, name: str, tensors: Mapping[str, Tensor | None], source: str
) -> bool:
    """Return whether the outputs of a node have the same shapes if it reads the source of a repeat instead."""
    if not graph.is_standard(node, *_BROADCAST) or graph.opset < _SINCE:
        return False
    read = type(node)()
    read.CopyFrom(node)
    operands = {}
    for k, each in enumerate(node.input):
        if each == name:
            read.input[k] = source
        if each:
            t = tensors.get(read.input[k])
            if t is None:
                return False
            operands[read.input[k]] = t if t.values is None else t.values
    try:
        made = graph.evaluated(read, operands)
    except SymlayoutError:
        return False
    wanted = [tensors.get(out) for out in node.output]
    return all(
        t is not None and isinstance(now, Tensor) and tuple(now.shape) == tuple(t.shape)
        for t, now in zip(wanted, made, strict=False)
    )


def split_repeats(
    model: Model, untouched: Set[str] = frozenset(), speller: Speller | None = None
) -> tuple[ModelProto, list[Rewritten]]:
    """Return the model without repeats of the elements of an axis where all that read them broadcast, and what changed.

    Keys and values that are repeated for the queries of their group are an example.  What reads them runs with the axis
    in two: the places of the source, and the repeats, along which it has extent 1.  The first of them joins the axis
    before it if it can, so that the rank stays.  A value is proved to be such a repeat.  Of what reads it nothing is
    proved here.

    Parameters
    ----------
    untouched : set of str
        Values that stay.
    speller : Speller, optional
        One that remembers the spellings of other models with these operations.
    """
    graph, movement = EditedGraph(model.source), Movement(model)
    kept = graph.outputs | graph.captured() | untouched
    speller = speller or Speller(graph.opset)
    changes: list[Rewritten] = []
    touched: set[str] = set()
    all_readers = graph.readers()
    for name in list(movement.sources):
        readers = all_readers.get(name, [])
        if name in kept or not readers or touched & {x for n in readers for x in (*n.input, *n.output)}:
            continue
        for source in _ancestors(movement, name):
            found = _repeated_axis(movement.tensors, name, source)
            for is_joined in (True, False) if found is not None else ():
                assert found is not None
                split = _Split(graph, speller, movement.tensors, *found, is_joined)
                new = [split.nodes(n, name, source) for n in readers]
                if all(new):
                    for reader, nodes in zip(readers, new, strict=True):
                        assert nodes is not None
                        graph.replace(reader, nodes)
                    all_readers = graph.readers()
                    work(len(graph.nodes))
                    ends = tuple(out for n in readers for out in n.output if out)
                    touched.update(ends)
                    ops = ", ".join(n.op_type for n in readers)
                    text = f"{one_line(name)}: {ops} repeats the elements of an axis itself"
                    changes.append(Rewritten(name, text, ends=ends))
                    break
            if found is not None:
                break
    return graph.finish(), changes


def _ancestors(movement: Movement, name: str) -> Iterator[str]:
    """Yield the values that a value alone is moved from, the nearest first."""
    for _ in range(_MAX_CHAIN):
        sources = movement.sources.get(name, [])
        if len(sources) != 1:
            return
        (name,) = sources
        yield name


def _repeated_axis(tensors: Mapping[str, Tensor | None], name: str, source: str) -> tuple[int, int] | None:
    """Return the axis whose elements a value is proved to repeat, and how often; None if there is none."""
    x, y = tensors.get(source), tensors[name]
    if x is None or y is None or x.rank != y.rank or x.values is not None:
        return None
    axes = [k for k, (a, b) in enumerate(zip(x.shape, y.shape, strict=True)) if a != b]
    if len(axes) != 1 or x.shape[axes[0]] in (0, 1):
        return None
    (axis,) = axes
    count = y.shape[axis] // x.shape[axis] if y.shape[axis] % x.shape[axis] == 0 else 0
    if not is_number(count) or count < 1:
        return None
    leaf = Tensor("x", x.dtype, x.extents, y.facts, key="the source of a repeat")
    wanted = rebased(y, {id(x): leaf})
    ones = (*x.shape[: axis + 1], 1, *x.shape[axis + 1 :])
    wide = (*x.shape[: axis + 1], int(count), *x.shape[axis + 1 :])
    made = reshape(broadcast_to(reshape(leaf, ones), wide), y.shape)
    if wanted is None or prove_equal(made, wanted, budget=_POINTS).verdict is not Verdict.PROVED:
        return None
    return axis, int(count)


@dataclass(frozen=True, slots=True)
class _Split:
    """How operations run with an axis in two: the places of the source of a repeat, and the repeats.

    Attributes
    ----------
    axis, count : int
        The axis, and how often it repeats each element.
    is_joined : bool
        Whether the places join the axis before.
    """

    graph: EditedGraph
    speller: Speller
    tensors: Mapping[str, Tensor | None]
    axis: int
    count: int
    is_joined: bool

    def nodes(self, node: NodeProto, name: str, source: str) -> list[NodeProto] | None:
        """Return what takes the place of a node that reads the repeat *name* of *source*; None if nothing can."""
        graph = self.graph
        values = [self.tensors.get(x) for x in (*node.input, *node.output)]
        if not graph.is_standard(node, *_BROADCAST) or graph.opset < _SINCE or len(node.output) != 1:
            return None
        y = values[-1]
        if y is None or any(t is None for t in values):
            return None
        matrix = 2 if node.op_type == "MatMul" else 0
        if self.axis >= y.rank - matrix or y.rank != self.tensors[name].rank:  # type: ignore[union-attr]
            return None
        made: list[NodeProto] = []
        new = type(node)()
        new.CopyFrom(node)
        for k, x in enumerate(node.input):
            operand = self.tensors[source if x == name else x]
            assert operand is not None
            shape = self._shape(operand, y, x == name)
            if shape is None or operand.rank < matrix:
                return None
            at = self._reshaped(source if x == name else x, operand, shape, made)
            if at is None:
                return None
            new.input[k] = at
        shape = self._shape(y, y, False)
        if shape is None:
            return None
        wide = Tensor("x", y.dtype, reshape(y, shape).extents, y.facts, key="an axis in two")
        found = self.speller.cheapest(wide, reshape(wide, y.shape), _ANY)
        if found is None:
            return None
        new.output[0] = graph.new_name(f"{node.output[0]}_split")
        new.name = graph.new_name(f"{new.output[0]}_{node.op_type}")
        return [*made, new, *found.emit(graph, new.output[0], wide.shape, node.output[0])]

    def _shape(self, t: Tensor, y: Tensor, is_source: bool) -> tuple[Any, ...] | None:
        """Return the shape of an operand of *y* with the axis in two; None if it has none."""
        at = self.axis - (y.rank - t.rank)
        if at < 0:
            return tuple(t.shape)
        before, extent, after = tuple(t.shape[:at]), t.shape[at], tuple(t.shape[at + 1 :])
        if is_source:
            places, repeats = extent, 1
        elif extent == 1:
            places, repeats = 1, 1
        elif extent == y.shape[self.axis]:
            places, repeats = extent / self.count if not isinstance(extent, int) else extent // self.count, self.count
        else:
            return None
        if not self.is_joined:
            return (*before, places, repeats, *after)
        if self.axis == 0 or (at > 0 and extent == 1 and before[-1] != 1):
            return None
        if at == 0 and extent != 1:
            return None
        if at > 0 and extent != 1 and before[-1] == 1 and y.shape[self.axis - 1] != 1:
            return None
        return (*before[:-1], *([before[-1] * places] if at else []), repeats, *after)

    def _reshaped(self, name: str, t: Tensor, shape: tuple[Any, ...], made: list[NodeProto]) -> str | None:
        """Append what gives a value another shape; return its name, or None if nothing does."""
        if tuple(t.shape) == shape:
            return name
        new = f"{name}_split"
        if t.values is not None:
            constant, extra = self.graph.constant(np.asarray(t.values).reshape([int(e) for e in shape]), new)
            made += extra
            return constant
        leaf = Tensor("x", t.dtype, t.extents, t.facts, key="an operand")
        found = self.speller.cheapest(leaf, reshape(leaf, shape), _ANY)
        if found is None:
            return None
        new = self.graph.new_name(new)
        made += found.emit(self.graph, name, t.shape, new)
        return new
