"""Values that are moved, and have one constant everywhere: ConstantOfShape makes them, whose shape is computed.

The states that a recurrent layer begins with are zeros, of which exported models cut, join and expand parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.errors import one_line
from symlayout.models.model import Model
from symlayout.optimize_models.movement_cost import Movement, cost_of
from symlayout.optimize_models.movement_regions import is_end
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten
from symlayout.optimize_models.spellings.movement_steps import emit_shape
from symlayout.optimize_models.spellings.reshape_steps import ComputedExtent, computed_shape
from symlayout.tensors.chain import Tensor
from symlayout.tensors.element_types import same_fill
from symlayout.tensors.uniform_constants import uniform

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

_SINCE = 9  # the version that has ConstantOfShape
_MAX_NODES = 64  # operations that move one value


def make_fills(model: Model, untouched: Set[str] = frozenset()) -> tuple[ModelProto, list[Rewritten]]:
    """Return the model with values of one constant made by ConstantOfShape, and what was changed.

    Parameters
    ----------
    untouched : set of str
        Values that are made as they are.
    """
    graph = EditedGraph(model.source)
    if graph.opset < _SINCE:
        return graph.message, []
    movement = Movement(model)
    needed, readers = graph.outputs | graph.captured(), graph.readers()
    changes: list[Rewritten] = []
    for node in list(graph.nodes):
        for name in node.output:
            if name not in movement.sources or name in untouched or not is_end(name, movement, readers, needed):
                continue
            new = _made(graph, movement, node, name)
            if new:
                node.output[list(node.output).index(name)] = graph.new_name(f"{name}_before")
                graph.insert(new, before=node)
                changes.append(
                    Rewritten(name, f"{one_line(name)} is one constant everywhere: ConstantOfShape", ends=(name,))
                )
    return graph.finish(), changes


def _made(graph: EditedGraph, movement: Movement, node: NodeProto, name: str) -> list[NodeProto]:
    """Return the nodes that fill a value; none if it has no constant, or nothing is saved."""
    t = movement.tensors[name]
    if t is None or t.dtype is None or not t.rank or not cost_of([node], movement.tensors, [name]).typical():
        return []
    value = _constant(t)
    found = next(_shapes(graph, movement, t), None) if value is not None else None
    if value is None or found is None:
        return []
    from onnx import numpy_helper

    nodes: list[NodeProto] = []
    shape = emit_shape(graph, *found, name, nodes)
    fill = numpy_helper.from_array(np.asarray(value, t.dtype).reshape(1), "value")
    return [*nodes, graph.node("ConstantOfShape", [shape], name, value=fill)]


def _shapes(graph: EditedGraph, movement: Movement, t: Tensor) -> Iterator[tuple[str, list[ComputedExtent]]]:
    """Yield the inputs of a model from whose extents the shape of a value is computed, and how."""
    for given in graph.message.graph.input:
        known = movement.tensors.get(given.name)
        if known is not None and known.rank:
            parts = computed_shape((), t.shape, known.shape)
            if parts is not None:
                yield given.name, parts


def _constant(t: Tensor) -> Any:
    """Return the constant that all elements of a value are, bit for bit; None if there is none."""
    nodes = t.nodes()
    if len(nodes) > _MAX_NODES or any(x.body is not None for x in nodes):
        return None
    values = [uniform(x.values) if x.values is not None else None for x in t.leaves()]
    if not values or any(v is None for v in values):
        return None
    fills = [case.fill.value for x in nodes if x.declared is not None for case in x.declared.cases if case.fill]
    return values[0] if all(same_fill(values[0], v, t.dtype) for v in (*values[1:], *fills)) else None
