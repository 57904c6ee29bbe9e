"""Models that run, and inputs for them: random nodes, and node tests of the package ``onnx``; some dims symbolic."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, defs, helper, numpy_helper

from tests import onnx_nodes
from tests.attack.runner import unhurried
from tests.onnx_nodes.against_onnxruntime import model_of
from tests.onnx_nodes.draw_nodes import DRAWS
from tests.onnx_nodes.random_nodes import Draw

Array = np.ndarray[Any, Any]
LATEST = defs.onnx_opset_version()
_MOST_ELEMENTS = 1 << 14


@dataclass(frozen=True)
class Base:
    """A model, inputs that it accepts, and the sizes of its dims there."""

    subject: str
    proto: ModelProto
    data: Mapping[str, Array]
    sizes: Mapping[str, int]


def drawn_base(rnd: random.Random) -> Base:
    """Return a random node."""
    seed = rnd.getrandbits(31)
    case = DRAWS[seed % len(DRAWS)](Draw(seed))
    data = {f"x{k}": a for k, a in enumerate(case.inputs) if a is not None and k not in case.constants}
    return symbolic(case.op, model_of(case), data, rnd)


@cache
def node_tests() -> tuple[Any, ...]:
    """Return the small node tests of tensors."""
    with unhurried():  # a module of tests that is made in part only is never made again
        found = [case for module in onnx_nodes.modules() for case in onnx_nodes.cases(module)]
    return tuple(
        case for case in found if onnx_nodes.has_tensors_only(case) and len(case.data_sets) and _is_small(case)
    )


def _is_small(case: Any) -> bool:
    given, _ = next(onnx_nodes.data_sets(case))
    count = sum(a.size for a in given.values())
    return count <= _MOST_ELEMENTS and len(case.model.graph.node) <= 12 and "expanded" not in case.name


def tested_base(rnd: random.Random) -> Base:
    """Return a node test; small inputs of integers become constants now and then."""
    case = rnd.choice(node_tests())
    given, _ = next(onnx_nodes.data_sets(case))
    proto = ModelProto.FromString(case.model.SerializeToString())
    data = dict(given)
    for k, x in enumerate(list(proto.graph.input)):
        a = data[x.name]
        if k and a.size <= 16 and a.dtype.kind in "iufb" and rnd.random() < (0.8 if a.dtype.kind == "i" else 0.3):
            proto.graph.input.remove(x)
            proto.graph.initializer.append(numpy_helper.from_array(a, x.name))
            del data[x.name]
    return symbolic(onnx_nodes.operator(case.model.graph.node[0]), proto, data, rnd)


def symbolic(subject: str, proto: ModelProto, data: Mapping[str, Array], rnd: random.Random) -> Base:
    """Return a model with dims in place of extents: one for each extent, one for each axis, or some of both."""
    manner = rnd.choice(("value", "value", "own", "some", "some", "none"))
    at: dict[str, int] = {}
    inputs = []
    for x in proto.graph.input:
        shape: list[int | str] = []
        for axis, n in enumerate(data[x.name].shape):
            kept = manner == "none" or (manner == "some" and rnd.random() < 0.5)
            name = f"d{n}" if manner == "value" or (manner == "some" and rnd.random() < 0.5) else f"{x.name}_{axis}"
            shape.append(n if kept else name)
            if not kept:
                at[name] = n
        inputs.append(helper.make_tensor_value_info(x.name, x.type.tensor_type.elem_type, shape))
    del proto.graph.input[:]
    proto.graph.input.extend(inputs)
    del proto.graph.value_info[:]
    for y in proto.graph.output:
        y.ClearField("type")
    proto.ir_version = min(max(proto.ir_version, 8), 11)
    if not proto.opset_import:
        proto.opset_import.append(helper.make_opsetid("", 17))
    return Base(subject, proto, data, at)


def version_of(proto: ModelProto) -> int:
    """Return the version of the standard's operators."""
    return next((o.version for o in proto.opset_import if o.domain in ("", "ai.onnx")), 17)


def with_version(proto: ModelProto, version: int) -> ModelProto:
    """Return the model with another version of the standard's operators."""
    made = copied(proto)
    for o in made.opset_import:
        if o.domain in ("", "ai.onnx"):
            o.version = version
    return made


def copied(proto: ModelProto) -> ModelProto:
    """Return a copy."""
    made = ModelProto()
    made.CopyFrom(proto)
    return made


def constant(name: str, values: Any, dtype: Any = np.int64) -> TensorProto:
    """Return an initializer."""
    return numpy_helper.from_array(np.asarray(values, dtype), name)
