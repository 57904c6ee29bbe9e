"""Moves that the operation after does itself: pads of 0 before convolutions, and repeats where operands broadcast."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.errors import SymlayoutError
from symlayout.models.model import Model
from symlayout.ops.broadcast import broadcast_to
from symlayout.optimize_models.movement_cost import Movement
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten
from symlayout.optimize_models.spell_movement import rebased
from symlayout.proof.prove import Verdict, prove_equal
from symlayout.tensors.chain import Tensor

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

_POINTS = 64  # at which a repeat is compared
_BROADCAST = (
    "Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater", "GreaterOrEqual",
    "Less", "LessOrEqual", "MatMul", "Max", "Mean", "Min", "Mod", "Mul", "Or", "Pow", "Sub", "Sum", "Where", "Xor",
)  # fmt: skip
"""Operations of the standard whose operands broadcast from version `_SINCE` on."""
_SINCE = 8


def fold_pads(model: Model, untouched: Set[str] = frozenset()) -> tuple[ModelProto, list[Rewritten]]:
    """Return the model with pads of 0 as attributes of the convolutions that read them, and what was changed.

    Nothing is proved here.

    Parameters
    ----------
    untouched : set of str
        Values of pads that stay.
    """
    graph, pads = EditedGraph(model.source), _Pads(model)
    kept = graph.outputs | graph.captured()
    changes = []
    for node in list(graph.nodes):
        readers = [n for n in graph.nodes if node.output and node.output[0] in n.input]
        widths = pads.widths(graph, node)
        if widths is None or node.output[0] in kept | untouched:
            continue
        if not all(_takes(graph, n, node.output[0]) for n in readers):
            continue
        for reader in readers:
            _add(graph, reader, widths)
            reader.input[0] = node.input[0]
        text = f"{node.output[0][:80]}: Pad became pads of {', '.join(n.op_type for n in readers)}"
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
    changes = []
    for name, sources in movement.sources.items():
        readers = [n for n in graph.nodes if name in n.input]
        if name in kept or len(sources) != 1 or not readers or not _is_repeat(tensors, name, sources[0]):
            continue
        if any(out in movement.sources for n in readers for out in n.output):
            continue
        if not all(_broadcasts(graph, n, name, tensors, sources[0]) for n in readers):
            continue
        graph.redirect(name, sources[0])
        ends = tuple(out for n in readers for out in n.output if out)
        text = f"{name[:80]}: {', '.join(n.op_type for n in readers)} repeats elements itself"
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
