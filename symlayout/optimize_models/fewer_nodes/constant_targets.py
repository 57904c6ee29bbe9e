"""Reshapes and broadcasts whose target a constant states for all sizes, so that no node has to compute it."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.errors import FormatError, one_line
from symlayout.models.model import Model
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten
from symlayout.optimize_models.spellings.movement_digits import is_number
from symlayout.optimize_models.spellings.reshape_steps import target_shape
from symlayout.optimize_models.spellings.spell_movement import accepts
from symlayout.tensors.chain import Tensor

if TYPE_CHECKING:
    from onnx import NodeProto


def state_targets(graph: EditedGraph, model: Model, kept: Set[str]) -> list[Rewritten]:
    """Give reshapes and broadcasts constant targets where one is right for all sizes, and return what was changed.

    That a Reshape takes all sizes is proved here, the rest is not.

    Parameters
    ----------
    model : Model
        What the graph is a copy of.
    kept : set of str
        Values that are made as they are.
    """
    made = graph.producers()
    changes = []
    for node in list(graph.nodes):
        if not graph.is_standard(node, "Reshape", "Expand") or len(node.input) != 2 or node.output[0] in kept:
            continue
        if node.input[1] not in made or made[node.input[1]].op_type == "Constant":
            continue
        values = _tensors(model, node)
        if values is None:
            continue
        target = _target(node.op_type, *values)
        if target is None or (node.op_type == "Reshape" and graph.attribute(node, "allowzero")):
            continue
        name, extra = graph.constant(np.array(target, np.int64), f"{node.output[0]}_target")
        if extra:
            graph.insert(extra, before=node)
        node.input[1] = name
        text = f"{one_line(node.output[0])}: {node.op_type} to {target}, a constant"
        changes.append(Rewritten(node.output[0], text, ends=(node.output[0],)))
    return changes


def _tensors(model: Model, node: NodeProto) -> tuple[Tensor, Tensor] | None:
    """Return the operand and the output of a node; None if one is not known."""
    values: Mapping[str, Tensor] = model.tensors.shaped
    try:
        x, y = values.get(node.input[0]), values.get(node.output[0])
    except FormatError:  # numbers of dims that no value shows
        return None
    return None if x is None or y is None or x.values is not None else (x, y)


def _target(op: str, x: Tensor, y: Tensor) -> list[int] | None:
    """Return the constant with which an operation makes a value of another; None if none does for all sizes."""
    if op == "Reshape":
        return target_shape(x.shape, y.shape) if accepts(x, tuple(y.shape), y.facts) else None
    own: list[Any] = [*(1,) * (y.rank - x.rank), *x.shape]
    found = [int(e) if is_number(e) else 1 for e in y.shape]
    return found if all(n != 1 or e == own[k] for k, (n, e) in enumerate(zip(found, y.shape, strict=True))) else None
