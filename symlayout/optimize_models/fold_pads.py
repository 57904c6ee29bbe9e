"""Pads that a convolution does itself: both read the same elements, or 0."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.models.model import Model
from symlayout.optimize_models.movement_cost import Movement
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto


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
