"""Steps whose shapes, bounds, places and branches a model computes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper

from tests.attack.bases import constant
from tests.attack.spellings import MOST, node

Made = tuple[list[NodeProto], list[TensorProto], int]
"""Nodes, constants, and the rank of the result."""
Step = Callable[[str, str, int, int, random.Random], Made | None]
"""From the names of operand and result, the operand's rank, and the version."""


def _extent(x: str, y: str, axis: int, rnd: random.Random, *, scalar: bool = False) -> Made:
    """Return the extent of an axis, or a number that is computed of it, as ``{y}_e``: of rank 1, or a scalar."""
    index: Any = axis if scalar else [axis]
    made = [node("Shape", [x], f"{y}_s"), node("Gather", [f"{y}_s", f"{y}_i"], f"{y}_g", axis=0)]
    held = [constant(f"{y}_i", index)]
    op, number = rnd.choice(
        (("Add", 0), ("Div", 2), ("Sub", 1), ("Add", 1), ("Mul", 2), ("Mod", 2), ("Min", 2), ("Max", 1))
    )
    operand: Any = number if scalar else [number]
    return [*made, node(op, [f"{y}_g", f"{y}_n"], f"{y}_e")], [*held, constant(f"{y}_n", operand)], 0


def _reshape(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    if not rank:
        return None
    nodes, held, _ = _extent(x, y, rnd.randrange(-rank, rank), rnd)
    parts = rnd.choice(([f"{y}_e", f"{y}_m"], [f"{y}_m", f"{y}_e"], [f"{y}_e"], [f"{y}_o", f"{y}_e", f"{y}_m"]))
    nodes += [node("Concat", parts, f"{y}_t", axis=0), node("Reshape", [x, f"{y}_t"], y)]
    return nodes, [*held, constant(f"{y}_m", [-1]), constant(f"{y}_o", [rnd.choice((0, 1, 2))])], len(parts)


def _flat_and_back(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made:
    nodes = [node("Shape", [x], f"{y}_s"), node("Reshape", [x, f"{y}_m"], f"{y}_f")]
    last = rnd.choice(("Reshape", "Expand"))
    if last == "Expand":
        nodes.append(node("Expand", [x, f"{y}_s"], y))
    else:
        nodes.append(node("Reshape", [f"{y}_f", f"{y}_s"], y))
    return nodes, [constant(f"{y}_m", [-1])], rank


def _slice(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    if not rank:
        return None
    axis = rnd.randrange(-rank, rank)
    nodes, held, _ = _extent(x, y, rnd.choice((axis, axis, rnd.randrange(-rank, rank))), rnd)
    start, end = rnd.choice(((f"{y}_e", f"{y}_b"), (f"{y}_a", f"{y}_e"), (f"{y}_z", f"{y}_e")))
    held += [constant(f"{y}_a", [rnd.choice((0, 1, -1))]), constant(f"{y}_z", [0]), constant(f"{y}_b", [MOST])]
    held += [constant(f"{y}_x", [axis])]
    return [*nodes, node("Slice", [x, start, end, f"{y}_x"], y)], held, rank


def _pad(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    if rank != 1:
        return None
    nodes, held, _ = _extent(x, y, 0, rnd)
    parts = rnd.choice(([f"{y}_e", f"{y}_z"], [f"{y}_z", f"{y}_e"]))
    nodes += [node("Concat", parts, f"{y}_p", axis=0), node("Pad", [x, f"{y}_p"], y)]
    return nodes, [*held, constant(f"{y}_z", [rnd.choice((0, 1, -1))])], rank


def _expand(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made:
    nodes = [node("Shape", [x], f"{y}_s"), node("Concat", [f"{y}_c", f"{y}_s"], f"{y}_t", axis=0)]
    return [*nodes, node("Expand", [x, f"{y}_t"], y)], [constant(f"{y}_c", [rnd.choice((0, 1, 2))])], rank + 1


def _range(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    if not rank:
        return None
    axis = rnd.randrange(rank)
    nodes, held, _ = _extent(x, y, rnd.choice((axis, axis, rnd.randrange(rank))), rnd, scalar=True)
    step = rnd.choice((1, 1, 2))
    ends = [f"{y}_z", f"{y}_e", f"{y}_d"]
    nodes += [node("Range", ends, f"{y}_r"), node("Gather", [x, f"{y}_r"], y, axis=axis)]
    return nodes, [*held, constant(f"{y}_z", 0), constant(f"{y}_d", step)], rank


def _positions(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    """Add the place of each element along the last axis."""
    if not rank:
        return None
    nodes = [node("Shape", [x], f"{y}_s"), node("Gather", [f"{y}_s", f"{y}_i"], f"{y}_g", axis=0)]
    nodes += [node("Range", [f"{y}_z", f"{y}_g", f"{y}_d"], f"{y}_r"), node("Cast", [f"{y}_r"], f"{y}_f", to=1)]
    held = [constant(f"{y}_i", -1), constant(f"{y}_z", 0), constant(f"{y}_d", 1)]
    return [*nodes, node(rnd.choice(("Add", "Mul")), [x, f"{y}_f"], y)], held, rank


def _filled(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made:
    value = helper.make_tensor("value", TensorProto.FLOAT, [1], [rnd.choice((0.0, -0.0, 1.0))])
    nodes = [node("Shape", [x], f"{y}_s"), node("ConstantOfShape", [f"{y}_s"], f"{y}_c", value=value)]
    return [*nodes, node(rnd.choice(("Add", "Mul", "Max")), [x, f"{y}_c"], y)], [], rank


def _scaled(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    """Multiply with or divide by an extent."""
    if not rank:
        return None
    nodes, held, _ = _extent(x, y, rnd.randrange(-rank, rank), rnd, scalar=True)
    nodes += [node("Cast", [f"{y}_e"], f"{y}_f", to=1), node(rnd.choice(("Mul", "Div", "Add")), [x, f"{y}_f"], y)]
    return nodes, held, rank


def _branch(name: str, op: str, x: str, made: Sequence[Any] = ()) -> Any:
    out = helper.make_empty_tensor_value_info(name)
    return helper.make_graph([node(op, [x], name)], name, [], [out], list(made))


def _if(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    if not rank:
        return None
    then, other = (rnd.choice(("Relu", "Neg", "Identity", "Abs")) for _ in range(2))
    branches = {"then_branch": _branch(f"{y}_then", then, x), "else_branch": _branch(f"{y}_else", other, x)}
    if rnd.random() < 0.3:
        return [node("If", [f"{y}_b"], y, **branches)], [constant(f"{y}_b", rnd.random() < 0.5, np.bool_)], rank
    nodes, held, _ = _extent(x, y, rnd.randrange(-rank, rank), rnd, scalar=True)
    nodes.append(node(rnd.choice(("Equal", "Greater", "Less")), [f"{y}_e", f"{y}_k"], f"{y}_b"))
    return [*nodes, node("If", [f"{y}_b"], y, **branches)], [*held, constant(f"{y}_k", rnd.choice((0, 1, 2, 3)))], rank


def _loop(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    info = [
        helper.make_tensor_value_info(f"{y}_it", TensorProto.INT64, []),
        helper.make_tensor_value_info(f"{y}_go", TensorProto.BOOL, []),
        helper.make_tensor_value_info(f"{y}_in", TensorProto.FLOAT, [f"{y}_{k}" for k in range(rank)]),
    ]
    op = rnd.choice(("Neg", "Relu", "Abs", "Transpose"))
    body = [node(op, [f"{y}_in"], f"{y}_out"), node("Identity", [f"{y}_go"], f"{y}_on")]
    outs = [
        helper.make_tensor_value_info(f"{y}_on", TensorProto.BOOL, []),
        helper.make_empty_tensor_value_info(f"{y}_out"),
    ]
    stacks = rnd.random() < 0.4
    if stacks:
        body.append(node("Identity", [f"{y}_in"], f"{y}_each"))
        outs.append(helper.make_empty_tensor_value_info(f"{y}_each"))
    inner = helper.make_graph(body, f"{y}_body", info, outs)
    held = [constant(f"{y}_c", True, np.bool_)]
    if rnd.random() < 0.6 or not rank:
        nodes, trips = [], f"{y}_k"
        held.append(constant(trips, rnd.choice((0, 1, 2, 3))))
    else:
        made = _extent(x, y, rnd.randrange(rank), rnd, scalar=True)
        nodes, trips = made[0], f"{y}_e"
        held += made[1]
    outputs = [f"{y}_last", y] if stacks else [y]
    nodes.append(helper.make_node("Loop", [trips, f"{y}_c", x], outputs, body=inner))
    return nodes, held, rank + stacks


def _scan(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    if not rank:
        return None
    part = helper.make_tensor_value_info(f"{y}_in", TensorProto.FLOAT, [f"{y}_{k}" for k in range(rank - 1)])
    state = helper.make_tensor_value_info(f"{y}_st", TensorProto.FLOAT, [])
    op = rnd.choice(("Neg", "Relu", "Identity"))
    body = [node(op, [f"{y}_in"], f"{y}_o"), node("Identity", [f"{y}_st"], f"{y}_so")]
    outs = [
        helper.make_tensor_value_info(f"{y}_so", TensorProto.FLOAT, []),
        helper.make_empty_tensor_value_info(f"{y}_o"),
    ]
    inner = helper.make_graph(body, f"{y}_body", [state, part], outs)
    axis, back = rnd.randrange(rank), rnd.randrange(rank)
    given = {"scan_input_axes": [axis], "scan_output_axes": [back]}
    given |= {"scan_input_directions": [rnd.randint(0, 1)], "scan_output_directions": [rnd.randint(0, 1)]}
    made = helper.make_node("Scan", [f"{y}_0", x], [f"{y}_end", y], body=inner, num_scan_inputs=1, **given)
    return [made], [constant(f"{y}_0", 0.0, np.float32)], rank


def _sequence(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    if not rank:
        return None
    axis = rnd.randrange(rank)
    split = rnd.choice(([1], [2], 2, 1, None))
    inputs = [x] if split is None else [x, f"{y}_k"]
    held = [] if split is None else [constant(f"{y}_k", split)]
    keeps = rnd.randint(0, 1)
    nodes = [helper.make_node("SplitToSequence", inputs, [f"{y}_q"], axis=axis, keepdims=keeps)]
    left = rank if split is not None or keeps else rank - 1
    if rnd.random() < 0.4:
        held.append(constant(f"{y}_at", rnd.choice((0, -1, 1))))
        return [*nodes, node("SequenceAt", [f"{y}_q", f"{y}_at"], y)], held, left
    new = int(left < rank)
    return [*nodes, node("ConcatFromSequence", [f"{y}_q"], y, axis=rnd.randrange(rank), new_axis=new)], held, rank


def _nonzero(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    if rnd.random() < 0.5 and rank:
        keep = [rnd.random() < 0.6 for _ in range(rnd.randint(1, 3))]
        return (
            [node("Compress", [x, f"{y}_k"], y, axis=rnd.randrange(rank))],
            [constant(f"{y}_k", keep, np.bool_)],
            rank,
        )
    nodes = [
        node("NonZero", [x], f"{y}_n"),
        node("Transpose", [f"{y}_n"], f"{y}_t"),
        node("GatherND", [x, f"{y}_t"], y),
    ]
    return (nodes, [], 1) if rank else None


def _picked(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    """Take elements at places that are computed of elements."""
    if not rank:
        return None
    axis = rnd.randrange(-rank, rank)
    kind = rnd.randrange(4)
    if kind == 0:
        nodes = [node(rnd.choice(("ArgMax", "ArgMin")), [x], f"{y}_a", axis=axis, keepdims=1)]
        return [*nodes, node("GatherElements", [x, f"{y}_a"], y, axis=axis)], [], rank
    if kind == 1:
        held = [constant(f"{y}_k", [rnd.choice((1, 2))])]
        given = {"largest": rnd.randint(0, 1), "axis": axis}
        return [helper.make_node("TopK", [x, f"{y}_k"], [y, f"{y}_places"], **given)], held, rank
    if kind == 2:
        nodes = [node("Shape", [x], f"{y}_s"), node("Gather", [f"{y}_s", f"{y}_i"], f"{y}_g", axis=0)]
        nodes += [
            node("Unsqueeze", [f"{y}_g", f"{y}_o"], f"{y}_u"),
            helper.make_node("TopK", [x, f"{y}_u"], [y, f"{y}_p"], axis=axis),
        ]
        return nodes, [constant(f"{y}_i", axis), constant(f"{y}_o", [0])], rank
    if rank < 2:
        return None
    return [node("Trilu", [x], y, upper=rnd.randint(0, 1))], [], rank


def _cast(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made:
    to = rnd.choice((TensorProto.INT32, TensorProto.FLOAT16, TensorProto.BOOL, TensorProto.INT64, TensorProto.DOUBLE))
    return [node("Cast", [x], f"{y}_c", to=to), node("Cast", [f"{y}_c"], y, to=TensorProto.FLOAT)], [], rank


def _where(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made:
    nodes = [node(rnd.choice(("Greater", "Less", "GreaterOrEqual", "Equal")), [x, f"{y}_z"], f"{y}_b")]
    zero = constant(f"{y}_z", rnd.choice((0.0, -0.0, 1.0)), np.float32)
    operands = [x, f"{y}_z"]
    rnd.shuffle(operands)
    return [*nodes, node("Where", [f"{y}_b", *operands], y)], [zero], rank


def _scattered(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    """Put a constant into the first or last slice of the first axis, by `ScatterND` of a shape that is computed."""
    if not rank:
        return None
    nodes = [node("Gather", [x, f"{y}_i"], f"{y}_g", axis=0), node("Neg", [f"{y}_g"], f"{y}_u")]
    held = [constant(f"{y}_i", [rnd.choice((0, -1, 1))]), constant(f"{y}_at", [[rnd.choice((0, 0, -1, 1))]])]
    return [*nodes, node("ScatterND", [x, f"{y}_at", f"{y}_u"], y)], held, rank


COMPUTED: tuple[Step, ...] = (
    _reshape, _reshape, _flat_and_back, _slice, _slice, _pad, _expand, _range, _positions, _filled, _scaled, _if, _if,
    _loop, _loop, _scan, _sequence, _nonzero, _picked, _picked, _cast, _where, _scattered,
)  # fmt: skip
