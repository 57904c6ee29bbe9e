"""Load an ONNX model: from its nodes to its outputs as tensors."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout import frontends
from symlayout.errors import FormatError, ShapeError, UnknownOpError
from symlayout.language.grammar_trees import Tree
from symlayout.language.parse import evaluate, names_of, parse_shape
from symlayout.language.sympy_bridge import dim
from symlayout.models import onnx_model
from symlayout.models.apply_node import Constant, Value, apply_layer, identifier
from symlayout.models.onnx_model import Input, OnnxGraph, dtype_of, label
from symlayout.models.shape_arithmetic import OPS, ShapeNodes, exact_target, is_shape_node, settled
from symlayout.tensors.chain import Tensor, tensor

if TYPE_CHECKING:
    from onnx import NodeProto

MAX_NODES = 10_000  # needed by the outputs, plus the inputs

_RENAMED = {"Pad": {"value": "constant_value"}}  # attributes with another name in an older version
_CONSTANTS = ("value", "value_int", "value_ints", "value_float", "value_floats")  # attributes of a Constant


def load_onnx(file: Path) -> dict[str, Tensor]:
    """Return the outputs of the model in *file*, an ``.onnx``: see `symlayout.models.load_outputs.load`."""
    graph = onnx_model.read(file)
    for node in graph.nodes:
        _require_known(node)
    if (count := len(graph.nodes) + len(graph.inputs)) > MAX_NODES:
        raise FormatError(f"model has {count} nodes and inputs, at most {MAX_NODES} are read")
    values = settled(lambda exact: _evaluated(graph, exact))
    outputs: dict[str, Tensor] = {}
    for name in graph.outputs:
        value = _value(graph, values, name)
        if not isinstance(value, Tensor):
            raise FormatError(f"output {name[:80]!r} is not computed from the elements of an input")
        outputs[name] = value
    return outputs


def _evaluated(graph: OnnxGraph, exact: Collection[Any]) -> tuple[dict[str, Value], set[Any]]:
    """Return the values of the graph by name, and the rounded quotients that some node requires to be exact.

    *exact* holds the quotients already known to be exact, from an earlier evaluation; earlier nodes use them, too.
    """
    values: dict[str, Value] = {x.name: leaf for x, leaf in zip(graph.inputs, _leaves(graph.inputs), strict=True)}
    shapes, found = ShapeNodes(exact), set(exact)
    for node in graph.nodes:
        inputs = [_value(graph, values, name) for name in node.input]
        if node.op_type == "Reshape" and len(inputs) == 2:
            inputs[1], quotients = exact_target(*inputs)
            found |= quotients
        results = _computed(node, inputs, onnx_model.attributes(node), shapes)
        if len(results) < len(node.output):
            expected, got = len(node.output), len(results)
            raise FormatError(f"node has {expected} outputs, its operation has {got}\n  in: {label(node)}")
        values.update(zip(node.output, results, strict=False))
    return values, found


def _require_known(node: NodeProto) -> None:
    """Raise `UnknownOpError` for an operation that is not in the catalogue."""
    domain = "onnx" if node.domain in ("", "ai.onnx") else node.domain
    title = f"{domain}:{node.op_type}"
    if domain != "onnx" or (node.op_type not in OPS and node.op_type != "Constant"):
        try:
            frontends.find(title)
        except UnknownOpError as error:
            raise UnknownOpError(f"{error}\n  in: {label(node)}") from None


def _value(graph: OnnxGraph, values: dict[str, Value], name: str) -> Value | None:
    """Return what is called *name*; constants are read when they are first asked for."""
    if not name:
        return None
    if name not in values:
        values[name] = graph.constant(name)
    return values[name]


def _computed(
    node: NodeProto, inputs: list[Value | None], attributes: dict[str, Any], shapes: ShapeNodes
) -> list[Tensor] | list[Constant]:
    """Return the outputs of a node."""
    attributes = {_RENAMED.get(node.op_type, {}).get(name, name): value for name, value in attributes.items()}
    if node.op_type == "Cast" and "to" in attributes:
        attributes["to"] = dtype_of(attributes["to"], label(node))
    if node.op_type == "Constant":
        return [_constant(node, attributes)]
    if node.op_type == "Split" and len(inputs) < 2 and not {"split", "num_outputs"} & attributes.keys():
        attributes["split"] = _equal_parts(node, inputs, attributes)
    if is_shape_node(node.op_type, inputs):
        title = node.op_type if node.op_type in OPS else f"onnx:{node.op_type}"
        return shapes.compute(title, inputs, attributes, label(node))
    if f"onnx:{node.op_type}" not in frontends.names():
        what = "reads the elements of a tensor, and is known on shapes only"
        raise UnknownOpError(f"onnx:{node.op_type[:40]} {what}\n  in: {label(node)}")
    return apply_layer(f"onnx:{node.op_type}", inputs, attributes, label(node))


def _constant(node: NodeProto, attributes: Mapping[str, Any]) -> Constant:
    """Return the value of a ``Constant``."""
    if len(attributes) != 1 or not attributes.keys() <= set(_CONSTANTS):
        raise FormatError(f"constant is given by {', '.join(attributes)[:80] or 'nothing'}\n  in: {label(node)}")
    ((name, value),) = attributes.items()
    return np.asarray(value, np.int64 if "int" in name else np.float32 if "float" in name else None)


def _equal_parts(node: NodeProto, inputs: list[Value | None], attributes: Mapping[str, Any]) -> list[Any]:
    """Return the extents of parts that are equal, as `Split` has them before version 18 where none are given."""
    axis, data = attributes.get("axis", 0), inputs[0] if inputs else None
    if data is None or not isinstance(axis, int) or not -len(data.shape) <= axis < len(data.shape):
        raise FormatError(f"input or axis is not there\n  in: {label(node)}")
    extent, count = data.shape[axis], len(node.output)
    if isinstance(extent, int) and extent % count:
        raise ShapeError(f"{extent} is no {count} equal parts\n  in: {label(node)}", "size_mismatch")
    return [extent // count if isinstance(extent, int) else extent / count] * count


def _leaves(inputs: tuple[Input, ...]) -> list[Tensor]:
    """Return the leaf of each input; what is called alike in their shapes is one dim."""
    trees: dict[str, Tree] = {}
    for name in (n for x in inputs for n in x.shape or () if isinstance(n, str)):
        if name not in trees and (tree := _expression(name)) is not None:
            trees[name] = tree
    dims = {name: dim(name, *bounds) for name, bounds in names_of(*trees.values()).items()}
    taken = set(dims)
    sizes = {name: evaluate(tree, dims) for name, tree in trees.items()}
    for name in (n for x in inputs for n in x.shape or () if isinstance(n, str)):
        if name not in sizes:
            sizes[name] = dim(identifier(name, taken))
    names: set[str] = set()
    return [
        tensor(
            None if x.shape is None else [sizes[n] if isinstance(n, str) else n for n in x.shape],
            x.dtype,
            identifier(x.name, names),
        )
        for x in inputs
    ]


def _expression(text: str) -> Tree | None:
    """Return an extent such as ``N`` or ``2*h + 1``; None for a name that is nothing of the kind."""
    if not re.fullmatch(r"[\w+* -]{1,80}", text, re.ASCII) or not re.search(r"[^\W\d]", text) or "**" in text:
        return None
    try:
        (tree,) = parse_shape(text)
    except (FormatError, ValueError):
        return None
    return tree
