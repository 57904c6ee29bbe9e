"""Spell a model otherwise: nodes around it that change nothing, or nearly nothing, nodes that nothing reads."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper

from tests.attack.bases import constant, copied, version_of

Made = tuple[list[NodeProto], list[TensorProto]]
Spelling = Callable[[str, str, int, np.dtype[Any], int, random.Random], Made | None]
"""From the names of a value and of its copy, the value's rank, element type, and the version."""

MOST = 2**63 - 1


def node(op: str, inputs: list[str], output: str, **attributes: Any) -> NodeProto:
    """Return a node with one output."""
    return helper.make_node(op, inputs, [output], **attributes)


def _transposes(x: str, y: str, rank: int, dtype: Any, version: int, rnd: random.Random) -> Made | None:
    if not rank:
        return None
    perm = rnd.sample(range(rank), rank)
    back = [perm.index(k) for k in range(rank)] if rnd.random() < 0.8 else perm
    return [node("Transpose", [x], f"{y}_t", perm=perm), node("Transpose", [f"{y}_t"], y, perm=back)], []


def _slice(x: str, y: str, rank: int, dtype: Any, version: int, rnd: random.Random) -> Made | None:
    if not rank:
        return None
    axis = rnd.randrange(-rank, rank)
    start = rnd.choice((0, 0, 0, 1, -1, -MOST, -100, MOST))
    end = rnd.choice((MOST, MOST, 2**31 - 1, 1000, 3, -1, 0, -MOST - 1))
    step = rnd.choice((1, 1, 1, 1, 2, -1))
    if version < 10:
        return [node("Slice", [x], y, starts=[start], ends=[end], axes=[axis])], []
    names = [f"{y}_{k}" for k in ("starts", "ends", "axes", "steps")]
    return [node("Slice", [x, *names], y)], [
        constant(n, [v]) for n, v in zip(names, (start, end, axis, step), strict=True)
    ]


def _reversed_twice(x: str, y: str, rank: int, dtype: Any, version: int, rnd: random.Random) -> Made | None:
    if version < 10 or not rank:
        return None
    axis, other = rnd.randrange(rank), rnd.randrange(-rank, 0)
    made = [
        node("Slice", [x, f"{y}_s", f"{y}_e", f"{y}_a", f"{y}_p"], f"{y}_r"),
        node("Slice", [f"{y}_r", f"{y}_s", f"{y}_e", f"{y}_b", f"{y}_p"], y),
    ]
    values = {
        "s": rnd.choice((-1, MOST, 100)),
        "e": rnd.choice((-MOST - 1, -MOST, -100)),
        "a": axis,
        "b": other,
        "p": -1,
    }
    return made, [constant(f"{y}_{n}", [v]) for n, v in values.items()]


def _reshape(x: str, y: str, rank: int, dtype: Any, version: int, rnd: random.Random) -> Made:
    target = rnd.choice(([-1], [0] * rank, [0] * max(rank - 1, 0) + [-1], [-1, *[0] * max(rank - 1, 0)], [1, -1]))
    back = rnd.choice((True, True, False))
    made = [node("Reshape", [x, f"{y}_target"], f"{y}_flat" if back else y)]
    if back:
        made += [node("Shape", [x], f"{y}_shape"), node("Reshape", [f"{y}_flat", f"{y}_shape"], y)]
    return made, [constant(f"{y}_target", target)]


def _squeezed(x: str, y: str, rank: int, dtype: Any, version: int, rnd: random.Random) -> Made:
    axis = rnd.randrange(-rank - 1, rank + 1)
    other = axis if rnd.random() < 0.7 else rnd.randrange(-rank - 1, rank + 1)
    if version < 11:  # axes count from the first one
        axis, other = axis % (rank + 1), other % (rank + 1)
    if version < 13:
        return [node("Unsqueeze", [x], f"{y}_u", axes=[axis]), node("Squeeze", [f"{y}_u"], y, axes=[other])], []
    made = [node("Unsqueeze", [x, f"{y}_a"], f"{y}_u"), node("Squeeze", [f"{y}_u", f"{y}_b"], y)]
    return made, [constant(f"{y}_a", [axis]), constant(f"{y}_b", [other])]


def _pad(x: str, y: str, rank: int, dtype: Any, version: int, rnd: random.Random) -> Made | None:
    if not rank:
        return None
    pads = [0] * (2 * rank)
    how = rnd.randrange(4)
    k = rnd.randrange(2 * rank)
    if how:
        pads[k] = rnd.choice((-1, 1, 2, -2))
    mode = rnd.choice(("constant", "constant", "edge", "reflect"))
    if version < 11:
        return [node("Pad", [x], y if how < 2 else f"{y}_p", pads=pads, mode=mode)] + (
            [] if how < 2 else [node("Pad", [f"{y}_p"], y, pads=[-p for p in pads])]
        ), []
    made = [node("Pad", [x, f"{y}_pads"], y if how < 2 else f"{y}_p", mode=mode)]
    held = [constant(f"{y}_pads", pads)]
    if how >= 2:
        made.append(node("Pad", [f"{y}_p", f"{y}_back"], y))
        held.append(constant(f"{y}_back", [-p for p in pads]))
    return made, held


def _split_joined(x: str, y: str, rank: int, dtype: Any, version: int, rnd: random.Random) -> Made | None:
    if version < 13 or not rank:
        return None
    axis = rnd.randrange(rank)
    given = {} if version < 18 else {"num_outputs": 2}
    order = [f"{y}_0", f"{y}_1"] if rnd.random() < 0.7 else [f"{y}_1", f"{y}_0"]
    split = helper.make_node("Split", [x], [f"{y}_0", f"{y}_1"], axis=axis, **given)
    return [split, node("Concat", order, y, axis=rnd.choice((axis, axis - rank)))], []


def _neutral(x: str, y: str, rank: int, dtype: Any, version: int, rnd: random.Random) -> Made | None:
    number = 1 if dtype.kind in "iu" else rnd.choice((0.0, -0.0, 1.0))
    if dtype.kind not in "fiu":
        return None
    op = rnd.choice(("Add", "Sub", "Mul", "Div", "Pow", "Max", "Min"))
    if op in ("Add", "Sub"):
        number = 0 if dtype.kind in "iu" else rnd.choice((0.0, -0.0))
    shape = rnd.choice(((), (1,), (1,) * rank, (1,) * (rank + 1)))
    inputs = [x, f"{y}_c"]
    if op in ("Add", "Mul", "Max", "Min") and rnd.random() < 0.5:
        inputs.reverse()
    return [node(op, inputs, y)], [constant(f"{y}_c", np.full(shape, number), dtype)]


def _cast(x: str, y: str, rank: int, dtype: Any, version: int, rnd: random.Random) -> Made:
    own = helper.np_dtype_to_tensor_dtype(dtype)
    wide = rnd.choice((own, 1, 10, 11, 6, 7, 9, 2, 3))
    return [node("Cast", [x], f"{y}_w", to=wide), node("Cast", [f"{y}_w"], y, to=own)], []


def _tiled(x: str, y: str, rank: int, dtype: Any, version: int, rnd: random.Random) -> Made:
    if rnd.random() < 0.5:
        return [node("Tile", [x, f"{y}_c"], y)], [constant(f"{y}_c", [1] * rank)]
    return [node("Expand", [x, f"{y}_c"], y)], [constant(f"{y}_c", [1] * rnd.randint(0, rank + 1))]


def _twice(x: str, y: str, rank: int, dtype: Any, version: int, rnd: random.Random) -> Made | None:
    if dtype.kind != "f":
        return None
    op = rnd.choice(("Neg", "Abs", "Relu", "Reciprocal", "Floor", "Identity", "Clip", "Sign"))
    return [node(op, [x], f"{y}_1"), node(op, [f"{y}_1"], y)], []


def _identity(x: str, y: str, rank: int, dtype: Any, version: int, rnd: random.Random) -> Made:
    op = rnd.choice(("Identity", "Dropout", "Concat", "Flatten", "Max"))
    return [node(op, [x], y, **({"axis": rnd.randint(0, max(rank - 1, 0))} if op in ("Concat", "Flatten") else {}))], []


def _gathered(x: str, y: str, rank: int, dtype: Any, version: int, rnd: random.Random) -> Made | None:
    if not rank:
        return None
    axis = rnd.randrange(rank)
    indices = rnd.choice(([0], [0, 1], [-1], [1, 0], [-1, -2], [0, 0]))
    return [node("Gather", [x, f"{y}_i"], y, axis=axis)], [constant(f"{y}_i", indices)]


def _depth(x: str, y: str, rank: int, dtype: Any, version: int, rnd: random.Random) -> Made | None:
    if rank != 4:
        return None
    given: dict[str, Any] = {"mode": rnd.choice(("DCR", "CRD"))} if version >= 11 and rnd.random() < 0.5 else {}
    if rnd.random() < 0.5:
        return [
            node("SpaceToDepth", [x], f"{y}_d", blocksize=2),
            node("DepthToSpace", [f"{y}_d"], y, blocksize=2, **given),
        ], []
    return [
        node("DepthToSpace", [x], f"{y}_d", blocksize=2, **given),
        node("SpaceToDepth", [f"{y}_d"], y, blocksize=2),
    ], []


def _where(x: str, y: str, rank: int, dtype: Any, version: int, rnd: random.Random) -> Made | None:
    if version < 9:
        return None
    shape = rnd.choice(((), (1,) * rank))
    return [node("Where", [f"{y}_c", x, x], y)], [constant(f"{y}_c", np.full(shape, rnd.random() < 0.5), bool)]


SPELLINGS: tuple[Spelling, ...] = (
    _transposes, _slice, _slice, _reversed_twice, _reshape, _reshape, _squeezed, _pad, _pad, _split_joined, _neutral,
    _cast, _tiled, _twice, _identity, _gathered, _depth, _where,
)  # fmt: skip


def spelled(proto: ModelProto, ranks: dict[str, int], rnd: random.Random) -> tuple[str, ModelProto] | None:
    """Return the model with nodes that copy one of its inputs or its first output, more or less."""
    made = copied(proto)
    graph = made.graph
    spelling = rnd.choice(SPELLINGS)
    at_input = bool(graph.input) and rnd.random() < 0.6
    types = {x.name: helper.tensor_dtype_to_np_dtype(x.type.tensor_type.elem_type) for x in graph.input}
    if at_input:
        x = rnd.choice(graph.input).name
        found = spelling(x, "copy", ranks[x], types[x], version_of(made), rnd)
        if found is None:
            return None
        for n in graph.node:
            for k, name in enumerate(n.input):
                if name == x:
                    n.input[k] = "copy"
        nodes = [*found[0], *graph.node]
    else:
        y = graph.output[0].name
        if y not in ranks:
            return None
        found = spelling("inner", y, ranks[y], types.get(y, np.dtype(np.float32)), version_of(made), rnd)
        if found is None:
            return None
        for n in graph.node:
            for names in (n.input, n.output):
                for k, name in enumerate(names):
                    if name == y:
                        names[k] = "inner"
        nodes = [*graph.node, *found[0]]
    del graph.node[:]
    graph.node.extend(nodes)
    graph.initializer.extend(found[1])
    return f"{'input' if at_input else 'output'}{spelling.__name__}", made


def dead(proto: ModelProto, ranks: dict[str, int], rnd: random.Random) -> tuple[str, ModelProto] | None:
    """Return the model with a node that nothing reads, or that is read for its shape only."""
    made = copied(proto)
    if not made.graph.input:
        return None
    x = rnd.choice(made.graph.input).name
    other = rnd.choice(made.graph.input).name
    rank = ranks[x]
    cases: list[tuple[NodeProto, list[TensorProto]]] = [
        (
            node("Reshape", [x, "dead_c"], "dead"),
            [constant("dead_c", rnd.choice(([2, -1], [3, -1], [0, -1], [-1, 0], [6])))],
        ),
        (node("MatMul", [x, other], "dead"), []),
        (node("Add", [x, other], "dead"), []),
        (node("Gather", [x, "dead_c"], "dead", axis=0), [constant("dead_c", rnd.choice(([0], [2], [-3])))]),
        (node("Concat", [x, other], "dead", axis=0), []),
        (node("Expand", [x, "dead_c"], "dead"), [constant("dead_c", [3] * max(rank, 1))]),
        (node("Relu", [x], "dead"), []),
    ]
    if version_of(made) >= 13:
        cases.append((node("Squeeze", [x, "dead_c"], "dead"), [constant("dead_c", [0])]))
        cases.append(
            (helper.make_node("Split", [x, "dead_c"], ["dead", "dead2"], axis=0), [constant("dead_c", [1, 2])])
        )
    chosen, held = rnd.choice(cases)
    made.graph.node.append(chosen)
    made.graph.initializer.extend(held)
    how = "dead"
    if rnd.random() < 0.4:
        made.graph.node.append(node("Shape", ["dead"], "dead_shape"))
        how = "shape of"
    return f"{how} {chosen.op_type}", made


def for_shape(proto: ModelProto) -> ModelProto:
    """Return a model of the shape of the first output."""
    made = copied(proto)
    y = made.graph.output[0].name
    made.graph.node.append(node("Shape", [y], "shape_of_output"))
    del made.graph.output[:]
    made.graph.output.append(helper.make_empty_tensor_value_info("shape_of_output"))
    return made
