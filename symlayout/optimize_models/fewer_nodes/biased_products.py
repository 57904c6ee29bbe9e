"""Products with a constant matrix, to which a constant row is added: one Gemm computes both.

Gemm takes matrices.  Axes before the rows join these: a Reshape before it and one after it move nothing, where an Add
reads and writes all elements once more.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.errors import FormatError, one_line
from symlayout.models.model import Model
from symlayout.ops.reshape import reshape
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten
from symlayout.optimize_models.spellings.movement_steps import Step
from symlayout.optimize_models.spellings.spell_movement import accepts
from symlayout.tensors.chain import Tensor

if TYPE_CHECKING:
    from onnx import NodeProto

# onnxruntime adds the row to a sum of at most as many terms after the terms, as Add does: measured for float32.
_MAX_TERMS = 128
_SINCE = 7  # the version from which on the operand that Gemm adds broadcasts


def add_rows(graph: EditedGraph, model: Model, kept: Set[str]) -> list[Rewritten]:
    """Let one Gemm multiply and add where its bits are those of MatMul and Add, and return what was changed.

    Nothing is proved here.

    Parameters
    ----------
    model : Model
        What the graph is a copy of.
    kept : set of str
        Values that are made as they are.
    """
    if graph.opset < _SINCE:
        return []
    made, uses = graph.producers(), graph.uses()
    matrices: dict[str, str] = {}  # the values that are reshaped, with the matrices that they become
    changes = []
    for node in list(graph.nodes):
        if not graph.is_standard(node, "Add") or node.output[0] in kept:
            continue
        for product, row in (node.input, reversed(node.input)):
            source = made.get(product)
            if source is None or not graph.is_standard(source, "MatMul") or uses[product] > 1 or product in kept:
                continue
            found = _gemm(model, source, row)
            if found is not None:
                name = node.output[0]
                graph.insert(found.nodes(graph, source, row, name, matrices), before=node)
                graph.nodes[:] = [n for n in graph.nodes if n is not node and n is not source]
                changes.append(Rewritten(name, f"{one_line(name)}: MatMul, Add became Gemm", ends=(name,)))
                break
    return changes


@dataclass(frozen=True, slots=True)
class _Gemm:
    """The shapes of a product whose axes before the rows join these.

    Attributes
    ----------
    before, after : tuple
        The shapes of the operand and of the product.
    """

    before: tuple[Any, ...]
    after: tuple[Any, ...]

    def nodes(
        self, graph: EditedGraph, product: NodeProto, row: str, name: str, matrices: dict[str, str]
    ) -> list[NodeProto]:
        """Return the nodes that compute the sum of a product and a row, which is called *name*."""
        x, weights = product.input
        if len(self.before) == 2:
            return [graph.node("Gemm", [x, weights, row], name)]
        rows = prod(self.before[:-1])
        nodes: list[NodeProto] = []
        if x not in matrices:
            matrices[x] = graph.new_name(f"{x}_rows")
            step = Step("Reshape", (), (rows, self.before[-1]))
            nodes += step.emit(graph, x, self.before, matrices[x], (x, self.before))
        flat = graph.new_name(f"{name}_rows")
        nodes.append(graph.node("Gemm", [matrices[x], weights, row], flat))
        step, shape = Step("Reshape", (), self.after), (rows, self.after[-1])
        return nodes + step.emit(graph, flat, shape, name, (flat, shape))


def _gemm(model: Model, product: NodeProto, row: str) -> _Gemm | None:
    """Return a product with a constant matrix with few terms, to which a row is added; None if it is not that.

    That the reshapes take all sizes is proved.
    """
    x, w, b, y = (_tensor(model, name) for name in (*product.input, row, product.output[0]))
    if x is None or w is None or b is None or y is None or w.values is None or b.values is None:
        return None
    if any(t.dtype != np.float32 for t in (x, w, b)) or x.rank < 2 or w.rank != 2:
        return None
    terms, columns = w.shape
    if terms > _MAX_TERMS or b.rank not in (1, 2) or tuple(b.shape) not in ((columns,), (1, columns)):
        return None
    if x.rank > 2:
        rows = prod(x.shape[:-1])
        flat = reshape(y, (rows, columns))
        if not accepts(x, (rows, terms), y.facts) or not accepts(flat, tuple(y.shape), y.facts):
            return None
    return _Gemm(tuple(x.shape), tuple(y.shape))


def _tensor(model: Model, name: str) -> Tensor | None:
    try:
        return model.tensors.shaped.get(name)
    except FormatError:  # numbers of dims that no value shows
        return None
