"""Products of matrices with a constant, to which a constant row is added: one Gemm computes both."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

import numpy as np

from symlayout.errors import FormatError
from symlayout.models.model import Model
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten
from symlayout.tensors.chain import Tensor

if TYPE_CHECKING:
    from onnx import NodeProto

# onnxruntime adds the row to a sum of at most as many terms after the terms, as Add does: measured for float32.
_MAX_TERMS = 128
_SINCE = 7  # the version from which on the operand that Gemm adds broadcasts
_SHOWN = 80


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
    changes = []
    for node in list(graph.nodes):
        if not graph.is_standard(node, "Add") or node.output[0] in kept:
            continue
        for product, row in (node.input, reversed(node.input)):
            source = made.get(product)
            if source is None or not graph.is_standard(source, "MatMul") or uses[product] > 1 or product in kept:
                continue
            if _is_gemm(model, source, row):
                name = node.output[0]
                graph.insert([graph.node("Gemm", [*source.input, row], name)], before=node)
                graph.nodes[:] = [n for n in graph.nodes if n is not node and n is not source]
                changes.append(Rewritten(name, f"{name[:_SHOWN]}: MatMul, Add became Gemm", ends=(name,)))
                break
    return changes


def _is_gemm(model: Model, product: NodeProto, row: str) -> bool:
    """Return whether a product is one of matrices with a constant, with few terms, and a row has its columns."""
    x, w, b = (_tensor(model, name) for name in (*product.input, row))
    if x is None or w is None or b is None or w.values is None or b.values is None:
        return False
    if any(t.dtype != np.float32 for t in (x, w, b)) or x.rank != 2 or w.rank != 2:
        return False
    terms, columns = w.shape
    return terms <= _MAX_TERMS and b.rank in (1, 2) and tuple(b.shape) in ((columns,), (1, columns))


def _tensor(model: Model, name: str) -> Tensor | None:
    try:
        return model.tensors.get(name)
    except FormatError:  # numbers of dims that no value shows
        return None
