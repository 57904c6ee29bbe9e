"""Operands that onnxruntime packs if they are constants of the graph: then its kernels round in another way.

So a float that a node makes must not become such a constant without a law, unless the product rounds alike.
``docs/kernel-bits.md`` says what was measured, and ``tests/optimize_models/measured/kernel_bits.py`` measures again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from symlayout.models.model import Model
from symlayout.models.subgraph_keys import STANDARD
from symlayout.optimize_models.crossings.permuted_nodes import rounds_alike
from symlayout.optimize_models.movement_cost import tensors_of
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.tensors.chain import Tensor

if TYPE_CHECKING:
    from onnx import NodeProto

_PRODUCTS = {"MatMul": 1, "Gemm": 1}  # the operand of two axes that is packed
_LAYERS = {"LSTM": 2, "GRU": 2}


def packed_constants(model: Model) -> set[str]:
    """Return the values that nodes make of constants and that must not be constants of the graph without a law."""
    graph, tensors = EditedGraph(model.source), tensors_of(model)
    readers = graph.readers()
    made = [name for node in graph.nodes if node.op_type != "Constant" for name in node.output if name]
    doubtful = [name for name in made if name in readers and not keeps_bits(name, readers[name], tensors)]
    return {name for name in doubtful if (t := tensors.get(name)) is not None and _is_constant(t)}


def _is_constant(t: Tensor) -> bool:
    return all(leaf.values is not None for leaf in t.leaves_read())


def keeps_bits(name: str, readers: Iterable[NodeProto], tensors: Mapping[str, Tensor | None]) -> bool:
    """Return whether a value that a node makes may be a constant of the graph: its readers round as before.

    Parameters
    ----------
    readers : iterable of NodeProto
        The nodes that read the value *name*.
    tensors : mapping
        The values of the graph.
    """
    value = tensors.get(name)
    if value is None or value.dtype is None or value.dtype.kind != "f":
        return True
    return all(
        _rounds_alike(node, value, tensors)
        for node in readers
        if node.domain in STANDARD
        for k, read in enumerate(node.input)
        if read == name and k == {**_PRODUCTS, **_LAYERS}.get(node.op_type)
    )


def _rounds_alike(node: NodeProto, weights: Tensor, tensors: Mapping[str, Tensor | None]) -> bool:
    """Return whether a node that packs *weights* rounds as it does for a value that it does not pack."""
    made = tensors.get(node.output[0]) if node.output else None
    if node.op_type in _LAYERS or made is None or weights.dtype != np.dtype(np.float32):
        return False
    if weights.rank != 2 or made.rank < 2:
        return weights.rank > 2  # batches of matrices are not packed
    rows, columns = made.extents[-2:]
    size = weights.extents[0] * weights.extents[1]
    if not isinstance(size, int) or not isinstance(columns, int):
        return False
    return rounds_alike(size // max(columns, 1), rows, columns, made.facts)
