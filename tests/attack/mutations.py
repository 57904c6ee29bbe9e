"""Change a model in one place: an attribute, a constant, the version, the order of inputs, what an input is."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from onnx import AttributeProto, ModelProto, NodeProto, defs, helper, numpy_helper

from tests.attack.bases import LATEST, Base, copied, node_tests, version_of, with_version

Mutation = Callable[[Base, random.Random], tuple[str, ModelProto] | None]

TEXTS = {
    "auto_pad": ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"),
    "mode": ("constant", "reflect", "edge", "wrap", "nearest", "linear", "cubic", "bilinear", "bicubic", "DCR", "CRD",
             "avg", "max", "align_corners"),
    "coordinate_transformation_mode": ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel",
                                       "half_pixel_symmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn",
                                       "output_half_pixel"),
    "nearest_mode": ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
    "keep_aspect_ratio_policy": ("stretch", "not_larger", "not_smaller"),
    "reduction": ("none", "add", "mul", "max", "min", "mean", "sum"),
    "approximate": ("none", "tanh"), "direction": ("forward", "reverse", "bidirectional", "LEFT", "RIGHT"),
    "padding_mode": ("zeros", "border", "reflection"), "case_change_action": ("NONE", "LOWER", "UPPER"),
    "equation": ("ij->ji", "ij->", "ij->i", "ij,jk->ik", "ij,jk->ki", "bij,bjk->bik", "...ii->...i", "i,i->"),
}  # fmt: skip
_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-5, float("nan"), float("inf"))


def schema_of(node: NodeProto, proto: ModelProto) -> Any:
    """Return the schema of a node's operator in the model's version; None if there is none."""
    try:
        return defs.get_schema(node.op_type, version_of(proto), node.domain)
    except defs.SchemaError:
        return None


def _pick(base: Base, rnd: random.Random) -> tuple[ModelProto, NodeProto, Any]:
    made = copied(base.proto)
    node = rnd.choice(made.graph.node)
    return made, node, schema_of(node, made)


def attribute(base: Base, rnd: random.Random) -> tuple[str, ModelProto] | None:
    """Give an attribute another value, or one that is not written a value."""
    made, node, schema = _pick(base, rnd)
    if schema is None or not schema.attributes:
        return None
    name = rnd.choice(sorted(schema.attributes))
    kind = schema.attributes[name].type
    given = next((a for a in node.attribute if a.name == name), None)
    old = helper.get_attribute_value(given) if given is not None else _default(schema, name)
    new = _other(name, kind, old, rnd, node)
    if new is None:
        return None
    if given is not None:
        node.attribute.remove(given)
    node.attribute.append(helper.make_attribute(name, new, attr_type=kind.value if isinstance(new, list) else None))
    return f"attribute {name}", made


def _other(name: str, kind: Any, old: Any, rnd: random.Random, node: NodeProto) -> Any:
    kinds = defs.OpSchema.AttrType
    if kind == kinds.INT:
        steps = (0, 1, -1, 2, 3) if old is None else (0, 1, -1, 2, old + 1, old - 1, -old)
        return rnd.choice(steps) if name not in ("to", "dtype", "output_datatype") else rnd.randint(1, 16)
    if kind == kinds.FLOAT:
        return rnd.choice(
            (*_FLOATS, *(() if old is None else (-old, np.nextafter(np.float32(old), np.float32(9)).item())))
        )
    if kind == kinds.STRING:
        known = [v for v in (*TEXTS.get(name, ()), *_texts_of_tests().get((node.op_type, name), ()))]
        return rnd.choice(known) if known else None
    if kind == kinds.INTS:
        old = list(old) if old else [0] * rnd.randint(1, 3)
        how = rnd.randrange(5)
        at = rnd.randrange(len(old))
        if how == 0:
            old[at] += rnd.choice((1, -1))
        elif how == 1:
            old[at] = rnd.choice((0, 1, 2, -1, -old[at]))
        elif how == 2:
            rnd.shuffle(old)
        elif how == 3:
            old.reverse()
        else:
            old = old[:-1] if rnd.random() < 0.5 else [*old, rnd.choice((0, 1, 2))]
        return old
    if kind == kinds.FLOATS and old:
        old = list(old)
        old[rnd.randrange(len(old))] = rnd.choice(_FLOATS)
        return old
    return None


@cache
def _texts_of_tests() -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], set[str]] = {}
    for case in node_tests():
        for node in case.model.graph.node:
            for a in node.attribute:
                if a.type == AttributeProto.STRING:
                    found.setdefault((node.op_type, a.name), set()).add(a.s.decode("utf-8", "replace"))
    return {key: sorted(texts) for key, texts in found.items()}


def _default(schema: Any, name: str) -> Any:
    default = schema.attributes[name].default_value
    return helper.get_attribute_value(default) if default.type else None


def default_written(base: Base, rnd: random.Random) -> tuple[str, ModelProto] | None:
    """Write out the default of an attribute."""
    made, node, schema = _pick(base, rnd)
    if schema is None:
        return None
    given = {a.name for a in node.attribute}
    names = [n for n in schema.attributes if n not in given and _default(schema, n) is not None]
    if not names:
        return None
    name = rnd.choice(sorted(names))
    node.attribute.append(helper.make_attribute(name, _default(schema, name)))
    return f"default of {name} written", made


def attribute_removed(base: Base, rnd: random.Random) -> tuple[str, ModelProto] | None:
    """Leave an attribute out."""
    made, node, _ = _pick(base, rnd)
    if not node.attribute:
        return None
    a = rnd.choice(list(node.attribute))
    name = a.name
    node.attribute.remove(a)
    return f"attribute {name} left out", made


def opset(base: Base, rnd: random.Random) -> tuple[str, ModelProto] | None:
    """Read the same text as another version."""
    node = rnd.choice(base.proto.graph.node)
    version = version_of(base.proto)
    since = [s.since_version for s in _schemas() if s.name == node.op_type and s.domain == node.domain]
    near = [v for s in since for v in (s, s - 1) if 7 <= v <= LATEST and v != version]
    other = rnd.choice(near or [v for v in range(7, LATEST + 1) if v != version])
    return f"opset {version} to {other}", with_version(base.proto, other)


@cache
def _schemas() -> list[Any]:
    return list(defs.get_all_schemas_with_history())


def constant(base: Base, rnd: random.Random) -> tuple[str, ModelProto] | None:
    """Change one number of a constant, or spell a bound or an axis otherwise."""
    made = copied(base.proto)
    if not made.graph.initializer:
        return None
    at = rnd.randrange(len(made.graph.initializer))
    proto = made.graph.initializer[at]
    a = numpy_helper.to_array(proto).copy()
    if not a.size or a.dtype.kind not in "iufb":
        return None
    flat = a.reshape(-1)
    k = rnd.randrange(flat.size)
    old = flat[k].item()
    if a.dtype.kind == "i":
        new = rnd.choice(
            (old + 1, old - 1, -old, 0, -1, 1, 2, old + 2, old - 4, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))
        )
        if abs(new) > 2**30 and not any(n.op_type in ("Slice", "Clip") for n in made.graph.node):
            new = old + rnd.choice((-2, 3, 5))
        info = np.iinfo(a.dtype)
        flat[k] = min(max(new, info.min), info.max)
    elif a.dtype.kind == "f":
        flat[k] = rnd.choice((0.0, -0.0, 1.0, -old, old * 2, 0.5, np.nan))
    elif a.dtype.kind == "u":
        flat[k] = rnd.choice((0, 1, 2, np.iinfo(a.dtype).max))
    else:
        flat[k] = not old
    if rnd.random() < 0.1:
        rnd.shuffle(flat)
    made.graph.initializer[at].CopyFrom(numpy_helper.from_array(a, proto.name))
    return f"constant {_place(made, proto.name)}", made


def _place(proto: ModelProto, name: str) -> str:
    for node in proto.graph.node:
        for k, given in enumerate(node.input):
            if given == name:
                return f"input {k}"
    return "unread"


def swapped(base: Base, rnd: random.Random) -> tuple[str, ModelProto] | None:
    """Swap two inputs of a node."""
    made, node, _ = _pick(base, rnd)
    if len(node.input) < 2:
        return None
    i, k = rnd.sample(range(len(node.input)), 2)
    node.input[i], node.input[k] = node.input[k], node.input[i]
    return "inputs swapped", made


def input_left_out(base: Base, rnd: random.Random) -> tuple[str, ModelProto] | None:
    """Leave out an input of a node, the last one or by an empty name."""
    made, node, _ = _pick(base, rnd)
    if len(node.input) < 2:
        return None
    k = rnd.randrange(1, len(node.input))
    if k == len(node.input) - 1 and rnd.random() < 0.5:
        del node.input[k]
    else:
        node.input[k] = ""
    return f"input {k} left out", made


def operator(base: Base, rnd: random.Random) -> tuple[str, ModelProto] | None:
    """Put a related operator in its place."""
    made, node, _ = _pick(base, rnd)
    for family in FAMILIES:
        if node.op_type in family:
            old = node.op_type
            node.op_type = rnd.choice([n for n in family if n != old])
            return f"{old} to {node.op_type}", made
    return None


FAMILIES = (
    ("Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "Mean", "Pow", "Mod", "PRelu"),
    ("Relu", "Abs", "Neg", "LeakyRelu", "Elu", "Selu", "Celu", "HardSigmoid", "Sigmoid", "Softplus", "Softsign", "Tanh",
     "Sign", "Floor", "Ceil", "Round", "Identity", "Sqrt", "Exp", "Erf", "Gelu", "HardSwish", "ThresholdedRelu", "Clip",
     "Mish", "Swish", "Shrink", "Reciprocal"),
    ("And", "Or", "Xor", "Equal"), ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"),
    ("ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare",
     "ReduceLogSum", "ReduceLogSumExp"),
    ("ArgMax", "ArgMin"), ("Softmax", "LogSoftmax", "Hardmax"), ("MaxPool", "AveragePool", "LpPool"),
    ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"), ("Gather", "GatherElements", "GatherND"),
    ("ScatterElements", "ScatterND"), ("Squeeze", "Unsqueeze"), ("DepthToSpace", "SpaceToDepth"),
    ("BitwiseAnd", "BitwiseOr", "BitwiseXor"), ("LpNormalization", "InstanceNormalization"),
    ("Tile", "Expand", "Reshape"),
    ("Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh"), ("IsNaN", "IsInf"),
)  # fmt: skip

MUTATIONS: tuple[tuple[Mutation, int], ...] = (
    (attribute, 8), (default_written, 3), (attribute_removed, 2), (opset, 4), (constant, 4), (swapped, 2),
    (input_left_out, 1), (operator, 2),
)  # fmt: skip


def mutated(base: Base, rnd: random.Random) -> tuple[str, ModelProto] | None:
    """Return how a model is changed, and the changed one; None if the change that is drawn has no place in it."""
    chosen, weights = zip(*MUTATIONS, strict=True)
    (mutation,) = rnd.choices(chosen, weights)
    made: tuple[str, ModelProto] | None = mutation(base, rnd)
    return made
