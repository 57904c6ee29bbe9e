"""What the package ``onnx`` knows of the outputs of one operation: element types, and extents that are copied or fixed.

The package has no arithmetic on dims.  An extent that it does not know depends on data, as far as it goes.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.models.model import TENSOR, Items, ModelNode, Unshaped, Value
from symlayout.models.model_file import MAX_RANK
from symlayout.models.onnx_model import kind_of
from symlayout.models.onnx_nodes.schemas import package_schema
from symlayout.models.onnx_values import dtype_or_none, number_of
from symlayout.models.opaque import OutputType, SameAs, UnknownExtent
from symlayout.tensors.chain import Tensor

if TYPE_CHECKING:
    from onnx import TypeProto

_MAX_DATA = 4096  # elements of a constant that the inference may read
_LAST = 1 << 31


def output_types(
    node: ModelNode,
    inputs: Sequence[Value | None],
    operands: Sequence[Tensor | None],
    hints: MutableMapping[str, Any],
) -> list[OutputType | None]:
    """Return what is known of each output of a node; None for one that is left out.

    Parameters
    ----------
    inputs, operands : sequence
        The inputs as values, and as the tensors that the result is a function of.
    hints : mapping
        The types that the file states for values, by name.  An int there is believed where the rank is.  The types of
        sequences and optionals that are inferred are noted there, so that what is taken out of these has a type.
    """
    tokens: dict[Any, str] = {}
    places: dict[str, SameAs] = {}
    inferred = _inferred(node, inputs, tokens, places, hints)
    hints.update((name, t) for name, t in inferred.items() if t.WhichOneof("value") in _CONTAINERS)
    found: list[OutputType | None] = []
    for name in node.outputs:
        if not name:
            found.append(None)
            continue
        made = _output(inferred.get(name), places)
        stated = _output(hints.get(name), {})
        rank = _RANKS.get(node.op_type) if node.domain == "" else None
        if rank is not None and stated is not None and stated.shape is not None and len(stated.shape) != rank:
            stated = None  # a false shape
        if made is None or (made.shape is None and stated is not None and stated.kind == made.kind):
            made = stated or OutputType(None, None)
        if made.dtype is None and stated is not None and stated.kind == made.kind:
            made = OutputType(stated.dtype, made.shape, made.kind)
        found.append(made)
    return _refined(node, operands, found)


def _inferred(
    node: ModelNode,
    inputs: Sequence[Value | None],
    tokens: dict[Any, str],
    places: dict[str, SameAs],
    hints: Mapping[str, Any],
) -> dict[str, TypeProto]:
    """Return the types that the package infers of one node; nothing if it refuses.

    An element type that is not known may be any.  Two are tried; what has one of them in turn is not known.
    """
    found = _inferred_of(node, inputs, tokens, places, hints, _ANY[0])
    if any(isinstance(v, Tensor | Unshaped) and v.dtype is None for v in inputs):
        other = _inferred_of(node, inputs, tokens, places, hints, _ANY[1])
        for name, kind in found.items():
            if kind.WhichOneof("value") == "tensor_type" and (name not in other or other[name] != kind):
                kind.tensor_type.elem_type = 0
    return found


_CONTAINERS = ("sequence_type", "optional_type", "map_type")
_ANY = (1, 6)  # float and int32


def _inferred_of(
    node: ModelNode,
    inputs: Sequence[Value | None],
    tokens: dict[Any, str],
    places: dict[str, SameAs],
    hints: Mapping[str, Any],
    unknown: int,
) -> dict[str, TypeProto]:
    """Return the types of the outputs, with number *unknown* for element types that are not known.

    The package is not told how long an operand of one axis is that is longer than any shape: it would make so many
    unknown extents.  Nor is it asked about a node with a number beyond 32 bits: it cuts such an axis off to one that it
    does not check, and the process ends.
    """
    import onnx
    from onnx import helper, numpy_helper, shape_inference

    schema = package_schema(node.op_type, node.version, node.domain)
    if schema is None or schema.deprecated or any(not -_LAST <= a.i < _LAST for a in node.source.attribute):
        return {}
    types: dict[str, TypeProto] = {}
    data = {}
    names = []
    for k, value in enumerate(inputs):
        name = f"i{k}" if value is not None else ""
        names.append(name)
        if value is None:
            continue
        if isinstance(value, Items) or (isinstance(value, Unshaped) and value.kind != TENSOR):
            stated = _sequence_of(value, unknown) if isinstance(value, Items) else hints.get(node.inputs[k])
            if stated is not None:
                types[name] = stated
            continue
        if isinstance(value, Unshaped):
            types[name] = helper.make_tensor_type_proto(_number(value.dtype, unknown), None)
            continue
        if isinstance(value, np.ndarray) and value.dtype == object:
            types[name] = helper.make_tensor_type_proto(7, value.shape)
            continue
        shape: list[Any] = []
        is_long = len(value.shape) == 1 and isinstance(value.shape[0], int) and value.shape[0] > MAX_RANK
        for axis, e in enumerate(value.shape):
            if isinstance(e, (int, np.integer)) and not is_long:
                shape.append(int(e))
                continue
            token = tokens.setdefault(e, f"d{k}_{axis}")
            places.setdefault(token, SameAs(k, axis))
            shape.append(token)
        types[name] = helper.make_tensor_type_proto(_number(value.dtype, unknown), shape)
        known = value.values if isinstance(value, Tensor) else value
        if known is not None and known.size <= _MAX_DATA:
            try:
                data[name] = numpy_helper.from_array(np.ascontiguousarray(known))
            except (KeyError, TypeError, ValueError):
                continue
    bare = onnx.NodeProto(op_type=node.op_type, domain=node.domain, input=names, output=node.outputs)
    bare.attribute.extend(node.source.attribute)
    try:
        return dict(
            shape_inference.infer_node_outputs(
                schema, bare, types, data, opset_imports=[helper.make_opsetid(node.domain, node.version)]
            )
        )
    except Exception:  # a refusal of the package says nothing about the model: custom types, references to outer values
        return {}


def _sequence_of(value: Items, unknown: int) -> TypeProto | None:
    """Return the type of a sequence: what its elements have in common; None if they are no tensors, or none."""
    from onnx import helper

    kinds = {v.dtype if isinstance(v, Tensor) else None for v in value.elements}
    if not value.elements or len(kinds) != 1 or not all(isinstance(v, Tensor) for v in value.elements):
        return None
    shapes = [[e if isinstance(e, int) else None for e in v.shape] for v in value.elements]
    shape = None
    if len({len(s) for s in shapes}) == 1:
        shape = [es[0] if len(set(es)) == 1 else None for es in zip(*shapes, strict=True)]
    return helper.make_sequence_type_proto(helper.make_tensor_type_proto(_number(kinds.pop(), unknown), shape))


def _number(dtype: np.dtype[Any] | None, unknown: int) -> int:
    return unknown if (number := number_of(dtype)) is None else number


def _output(kind: Any, places: Mapping[str, SameAs]) -> OutputType | None:
    if kind is None or not kind.WhichOneof("value"):
        return None
    if (field := kind.WhichOneof("value")) != "tensor_type":
        return OutputType(None, None, kind_of(field))
    tensor = kind.tensor_type
    dtype = dtype_or_none(tensor.elem_type)
    if not tensor.HasField("shape") or len(tensor.shape.dim) > MAX_RANK:
        return OutputType(dtype, None)
    entries: list[Any] = []
    for dim in tensor.shape.dim:
        if dim.HasField("dim_value") and dim.dim_value >= 0:
            entries.append(dim.dim_value)
        else:
            entries.append(places.get(dim.dim_param, UnknownExtent()) if dim.dim_param else UnknownExtent())
    return OutputType(dtype, tuple(entries))


_RANKS = {
    "OptionalHasElement": 0, "SequenceLength": 0, "Size": 0, "BlackmanWindow": 1, "HammingWindow": 1, "HannWindow": 1,
    "Range": 1, "Shape": 1, "EyeLike": 2, "Gemm": 2, "MelWeightMatrix": 2, "Multinomial": 2, "NonZero": 2,
    "NonMaxSuppression": 2, "ImageDecoder": 3, "DepthToSpace": 4, "MaxRoiPool": 4, "RoiAlign": 4, "STFT": 4,
    "SpaceToDepth": 4,
}  # fmt: skip
"""The rank of the results of operations, whatever their operands are."""


def _has_rank(operands: Sequence[Tensor | None], rank: int) -> bool:
    """Return whether the operands are there and have this rank."""
    return bool(operands) and all(t is not None and t.rank == rank for t in operands)


def _refined(
    node: ModelNode, operands: Sequence[Tensor | None], found: list[OutputType | None]
) -> list[OutputType | None]:
    """Bound the extents that depend on data, where the operation says by what, and give ranks that it fixes."""
    if node.domain == "" and (rank := _RANKS.get(node.op_type)) is not None:
        unknown = tuple(UnknownExtent() for _ in range(rank))
        found = [OutputType(o.dtype, unknown) if o and o.shape is None else o for o in found]
    first = operands[0] if operands else None
    if first is None or node.domain not in ("", "ai.onnx"):
        return found
    if node.op_type in ("Resize", "Upsample") and (len(operands) < 4 or operands[3] is None):  # by scales
        return [_without_numbers(o) for o in found]
    if node.op_type == "Range":
        return [_without_numbers(o) for o in found]
    size = tuple(SameAs(0, axis) for axis in range(first.rank))
    if node.op_type == "NonZero":
        return [OutputType(o.dtype, (first.rank, UnknownExtent(0, size))) if o else None for o in found]
    if node.op_type == "Compress" and not any(a.name == "axis" for a in node.source.attribute):
        return [OutputType(o.dtype, (UnknownExtent(0, size),)) if o else None for o in found]
    if node.op_type == "Unique" and not any(a.name == "axis" for a in node.source.attribute):
        return [
            o if o is None else OutputType(o.dtype, size if k == 2 and first.rank == 1 else (UnknownExtent(0, size),))
            for k, o in enumerate(found)
        ]
    if node.op_type == "NonMaxSuppression" and first.rank == 3 and _has_rank(operands[1:2], 3):
        most = (SameAs(1, 0), SameAs(1, 1), SameAs(0, 1))
        return [OutputType(o.dtype, (UnknownExtent(0, most), 3)) if o else None for o in found]
    return found


def _without_numbers(known: OutputType | None) -> OutputType | None:
    """Leave out extents that the package computes with floats: runtimes scale differently."""
    if known is None or known.shape is None:
        return known
    return OutputType(known.dtype, tuple(UnknownExtent() if isinstance(e, int) else e for e in known.shape))
