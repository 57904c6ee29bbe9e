"""What ONNX Runtime answers on known shapes, and ONNX's shape inference on others."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from tests.peers.case import Array, Case
from tests.peers.worker import Intervals

SETTINGS = {"perm", "allowzero", "mode", "axis", "num_outputs", "blocksize"}
OPSET = 21
onnxruntime.set_default_logger_severity(4)


def results(case: Case) -> list[Array]:
    """Return the arrays that a session makes."""
    model = _model(case, case.shapes)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found: list[Array] = session.run(None, {f"x{k}": x for k, x in enumerate(case.arrays())})
    return found


def extents(case: Case) -> list[Intervals | None]:
    """Return the shapes that inference gives the outputs."""
    known = [[e if isinstance(e, int) else e[0] if e[0] == e[1] else None for e in entries] for entries in case.known]
    inferred = onnx.shape_inference.infer_shapes(_model(case, known), strict_mode=True, data_prop=True)
    return [_intervals(output.type.tensor_type) for output in inferred.graph.output]


def _model(case: Case, shapes: Any) -> Any:
    title = case.op.partition(":")[2]
    element = helper.np_dtype_to_tensor_dtype(np.dtype(case.dtype))
    order = [i.name for i in onnx.defs.get_schema(title, OPSET).inputs][1:]
    given = {k: v for k, v in case.attributes.items() if k not in SETTINGS}
    last = max((k for k, name in enumerate(order, 1) if name in given), default=0)
    inputs = [f"x{k}" for k in range(len(shapes))] + [n if n in given else "" for n in order[:last]]
    sizes = case.attributes.get("split")
    count = len(sizes) if isinstance(sizes, list) else max(1, int(case.attributes.get("num_outputs", 1)))
    outputs = [f"y{k}" for k in range(count)]
    settings = {k: v for k, v in case.attributes.items() if k in SETTINGS}
    graph = helper.make_graph(
        [_node(title, inputs, outputs, settings)],
        "case",
        [helper.make_tensor_value_info(f"x{k}", element, shape) for k, shape in enumerate(shapes)],
        [helper.make_tensor_value_info(name, element, None) for name in outputs],
        [numpy_helper.from_array(_array(k, v, case), k) for k, v in given.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


def _node(title: str, inputs: list[str], outputs: list[str], settings: dict[str, Any]) -> Any:
    node = helper.make_node(title, inputs, outputs)
    for name, value in settings.items():
        kind = onnx.AttributeProto.INTS if value == [] else None  # which an empty list does not show
        node.attribute.append(helper.make_attribute(name, value, attr_type=kind))
    return node


def _array(name: str, value: Any, case: Case) -> Array:
    if name == "constant_value":
        return np.asarray(value, case.dtype)
    array = np.asarray(value)
    return array.astype(np.int64) if array.dtype.kind == "i" or array.size == 0 else array


def _intervals(kind: Any) -> Intervals | None:
    if not kind.HasField("shape"):
        return None
    return [(n.dim_value, n.dim_value) if n.HasField("dim_value") else (0, None) for n in kind.shape.dim]
