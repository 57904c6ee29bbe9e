"""Write small ONNX models with the package ``onnx``, those too that its own helpers would refuse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def names(text: str) -> list[str]:
    """Return names that are separated by commas; an empty one stands for an input that is left out."""
    return [name.strip() for name in text.split(",")] if text else []


def value_info(name: str, shape: Sequence[int | str | None] | None, dtype: int = FLOAT) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def tensor(values: Sequence[int], shape: Sequence[int] | None = None, name: str = "", **fields: Any) -> TensorProto:
    """Return integers of 64 bits, whether or not they fit the shape; of one axis, if no shape is given."""
    dims = [len(values)] if shape is None else shape
    return TensorProto(dims=dims, data_type=INT64, int64_data=values, name=name, **fields)


def node(op: str, inputs: str, outputs: str, domain: str = "", name: str = "", **attributes: Any) -> NodeProto:
    return helper.make_node(op, names(inputs), names(outputs), name, domain=domain, **attributes)


def model(
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto],
    outputs: Sequence[str] = ("y",),
    constants: Sequence[TensorProto] = (),
    opset: int = 20,
    ir_version: int = 9,
) -> bytes:
    """Return a model as the bytes of its file."""
    graph = helper.make_graph(nodes, "graph", inputs, [value_info(name, None) for name in outputs], constants)
    opsets = [helper.make_opsetid("", opset)]
    made: ModelProto = helper.make_model(graph, opset_imports=opsets, ir_version=ir_version)
    data: bytes = made.SerializeToString()
    return data
