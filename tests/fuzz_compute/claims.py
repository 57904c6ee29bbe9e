"""Random expressions, sound rewrites of them, and mutations."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import symlayout as sl
from tests.fuzz_compute.truth import BINARY, UNARY, Node

N, C, H, W, M = DIMS = sl.dims("N C H W M", min=1)
SHAPES: dict[str, tuple[Any, ...]] = {
    "x": (N, 2 * C, H + 6, W + 6), "y": (N, 2 * C, H + 6, W + 6), "v": (N, H + 6, W + 6, 2 * C),
    "w": (2 * M, 2 * C, 3, 3), "u": (2 * M, C, 3, 3), "a": (N, H + 6, W + 6), "b": (N, W + 6, M + 3),
}  # fmt: skip
RANK = {name: len(shape) for name, shape in SHAPES.items()}
_ONNX: Any = sl.onnx
_UNARY = {"relu": "relu", "sigmoid": "sigmoid", "neg": "neg", "abs": "abs", "exp": "exp"}
_BINARY = {"add": "add", "sub": "sub", "mul": "mul", "max": "max"}


def built(node: Node) -> sl.Tensor:
    """Return an expression as a tensor."""
    if node.op == "leaf":
        return sl.tensor(SHAPES[node.given[0]], "float32", name=node.given[0])
    xs, g = [built(x) for x in node.inputs], node.given
    x = xs[0]
    made: Any
    match node.op:
        case op if op in _UNARY:
            made = getattr(_ONNX, _UNARY[op])(x)
        case op if op in _BINARY:
            made = getattr(_ONNX, _BINARY[op])(*xs)
        case "transpose":
            made = sl.transpose(x, g[0])
        case "flip":
            made = sl.flip(x, g[0])
        case "crop":
            made = x[(slice(None),) * g[0] + (slice(g[1], x.shape[g[0]] - g[2]),)]
        case "pad":
            widths = [(g[1], g[2]) if k == g[0] else (0, 0) for k in range(x.rank)]
            made = sl.pad(x, widths, constant_values=g[3])
        case "concat":
            made = sl.concatenate(xs, g[0])
        case "join":
            made = sl.reshape(x, (*x.shape[: g[0]], x.shape[g[0]] * x.shape[g[0] + 1], *x.shape[g[0] + 2 :]))
        case "softmax":
            made = _ONNX.softmax(x, axis=g[0])
        case "sum":
            made = _ONNX.reduce_sum(x, axes=[g[0]])
        case "top":
            made = _ONNX.reduce_max(x, axes=[g[0]])
        case "cumsum":
            made = _ONNX.cum_sum(x, axis=g[0])
        case "matmul":
            made = _ONNX.matmul(*xs)
        case "conv":
            made = _ONNX.conv(*xs, strides=g[0], pads=g[1], group=g[2])
        case _:
            lead = x.rank - 1
            flat = sl.reshape(x, (1, _product(x.shape[:lead]), x.shape[-1]))
            pooled = _ONNX.max_pool(flat, kernel_shape=(g[0],), strides=(g[1],))
            made = sl.reshape(pooled, (*x.shape[:lead], pooled.shape[-1]))
    return made  # type: ignore[no-any-return]


def _product(extents: Any) -> Any:
    total: Any = 1
    for n in extents:
        total *= n
    return total


def rank(node: Node) -> int:
    """Return the rank of an expression."""
    if node.op == "leaf":
        return RANK[node.given[0]]
    return rank(node.inputs[0]) - (node.op == "join")


def leaf(name: str) -> Node:
    """Return a leaf."""
    return Node("leaf", (), (name,))


def random_expression(r: random.Random) -> Node:
    """Return a layer on leaves, with movement and elementwise operations around it."""
    x, y = leaf("x"), leaf("y")
    pads = tuple(r.randint(0, 2) for _ in range(4))
    strides = (r.randint(1, 2), r.randint(1, 2))
    options = (
        Node("conv", (_moved(r, x, (0, 2, 3)), leaf("w")), (strides, pads, 1)),
        Node("conv", (Node("transpose", (leaf("v"),), ((0, 3, 1, 2),)), leaf("w")), (strides, pads, 1)),
        Node("conv", (x, leaf("u")), (strides, pads, 2)),
        Node("matmul", (_moved(r, leaf("a"), (1,)), leaf("b"))),
        Node("matmul", (x, Node("transpose", (y,), ((0, 1, 3, 2),)))),
        Node("concat", (x, y), (r.randrange(4),)),
        Node(r.choice(tuple(BINARY)), (x, y)),
        Node("pool", (x,), (r.randint(1, 3), r.randint(1, 2))),
        x,
        leaf("a"),
    )  # fmt: skip
    made = r.choice(options)
    for _ in range(r.randint(1, 3)):
        made = _wrapped(r, made)
    return made


def _moved(r: random.Random, x: Node, axes: tuple[int, ...]) -> Node:
    axis = r.choice(axes)
    return r.choice((
        x, Node("flip", (x,), (axis,)), Node("pad", (x,), (axis, r.randint(0, 2), r.randint(0, 2), 0.0)),
    ))  # fmt: skip


def _wrapped(r: random.Random, x: Node) -> Node:
    n = rank(x)
    axis = r.randrange(n)
    kinds = [*UNARY, "transpose", "transpose", "flip", "pad", "softmax", "sum", "top", "cumsum", "join", "crop"]
    op = r.choice(kinds)
    if op in UNARY:
        return Node(op, (x,))
    if op == "transpose":
        return Node(op, (x,), (tuple(r.sample(range(n), n)),))
    if op == "pad":
        return Node(op, (x,), (axis, r.randint(0, 2), r.randint(0, 2), r.choice((0.0, 0.0, 1.0))))
    if op == "join":
        return Node(op, (x,), (r.randrange(n - 1),)) if n > 2 else x
    if op == "crop":  # after a pad, so that it fits
        low, high = r.randint(0, 1), r.randint(0, 1)
        return Node(op, (Node("pad", (x,), (axis, low, high, 0.0)),), (axis, low, high))
    return Node(op, (x,), (axis,))


MOVES = ("transpose", "flip", "crop", "join")  # without a fill
ALONG = ("softmax", "cumsum", "sum", "top")


def rewrites(e: Node) -> Iterator[tuple[Node, bool]]:
    """Yield expressions equal to *e* by one rule at its root, and whether a law of real numbers is needed."""
    if not e.inputs:
        return
    x = e.inputs[0]
    if e.op in UNARY and x.op in (*MOVES, "concat"):
        yield replace(x, inputs=tuple(Node(e.op, (i,)) for i in x.inputs)), False
    if e.op in MOVES and x.op in UNARY:
        yield Node(x.op, (replace(e, inputs=x.inputs),)), False
    if e.op in MOVES and x.op in BINARY:
        yield replace(x, inputs=tuple(replace(e, inputs=(i,)) for i in x.inputs)), False
    if e.op in ("relu", "abs", "neg") and x.op == "pad" and x.given[3] == 0:
        yield replace(x, inputs=(Node(e.op, x.inputs),)), False
    if e.op in ("add", "mul"):
        yield replace(e, inputs=e.inputs[::-1]), False
    if e.op in ALONG and x.op == "transpose":
        yield replace(x, inputs=(replace(e, inputs=x.inputs, given=(x.given[0][e.given[0]],)),)), False
    if e.op == "transpose" and x.op in ALONG:
        axis = e.given[0].index(x.given[0])
        yield replace(x, inputs=(replace(e, inputs=x.inputs),), given=(axis,)), False
    if e.op in ALONG and x.op in ("flip", "pad", "crop", "concat") and x.given[0] != e.given[0]:
        inner = tuple(replace(e, inputs=(i,)) for i in x.inputs)
        if x.op != "pad" or (e.op in ("sum", "top", "cumsum") and x.given[3] == 0):
            yield replace(x, inputs=inner), False
    if e.op == "transpose" and x.op == "matmul" and e.given[0] == (*range(rank(x) - 2), rank(x) - 1, rank(x) - 2):
        yield Node("matmul", tuple(replace(e, inputs=(i,)) for i in x.inputs[::-1])), False
    if e.op == "matmul":
        turned = (*range(rank(x) - 2), rank(x) - 1, rank(x) - 2)
        product = Node("matmul", tuple(Node("transpose", (i,), (turned,)) for i in e.inputs[::-1]))
        yield Node("transpose", (product,), (turned,)), False
        if x.op in ("flip", "pad") and x.given[0] == rank(x) - 2 and (x.op == "flip" or x.given[3] == 0):
            yield replace(x, inputs=(replace(e, inputs=(x.inputs[0], e.inputs[1])),)), False
    if e.op == "conv":
        yield from _of_conv(e)
    if e.op == "pool":
        yield Node("flip", (replace(e, inputs=(Node("flip", e.inputs, (1,)),)),), (1,)), False
    if e.op == "transpose":
        yield Node("flip", (Node("flip", (e,), (0,)),), (0,)), False


def _of_conv(e: Node) -> Iterator[tuple[Node, bool]]:
    x, w = e.inputs
    strides, pads, groups = e.given
    if x.op == "flip" and x.given[0] == 0:
        yield replace(x, inputs=(replace(e, inputs=(x.inputs[0], w)),)), False
    filled = x
    for axis, (low, high) in enumerate(((pads[0], pads[2]), (pads[1], pads[3])), 2):
        filled = Node("pad", (filled,), (axis, low, high, 0.0))
    yield replace(e, inputs=(filled, w), given=(strides, (0, 0, 0, 0), groups)), False
    if x.op == "pad" and x.given[0] in (2, 3) and x.given[3] == 0:
        more = list(pads)
        more[x.given[0] - 2] += x.given[1]
        more[x.given[0]] += x.given[2]
        yield replace(e, inputs=(x.inputs[0], w), given=(strides, tuple(more), groups)), False
    turned = Node("flip", (replace(e, inputs=(x, Node("flip", (w,), (0,)))),), (1,))
    if groups == 1:
        yield turned, False
        both = replace(e, inputs=(Node("flip", (x,), (1,)), Node("flip", (w,), (1,))))
        yield both, True
    swap = (0, 1, 3, 2)
    sides = tuple(Node("transpose", (i,), (swap,)) for i in (x, w))
    given = (strides[::-1], (pads[1], pads[0], pads[3], pads[2]), groups)
    yield Node("transpose", (Node("conv", sides, given),), (swap,)), True


def everywhere(e: Node) -> Iterator[tuple[Node, bool]]:
    """Yield expressions equal to *e* by one rule at one place."""
    yield from rewrites(e)
    for k, x in enumerate(e.inputs):
        for new, law in everywhere(x):
            yield replace(e, inputs=(*e.inputs[:k], new, *e.inputs[k + 1 :])), law


def mutated(r: random.Random, e: Node) -> Node:
    """Return *e* with one attribute, or the order of two operands, changed at one place."""
    places = [path for path, node in _paths(e) if node.op != "leaf" and (node.given or len(node.inputs) > 1)]
    if not places:
        return Node("neg", (e,))
    path = r.choice(places)
    return _replaced(e, path, lambda node: _changed(r, node))


def _paths(e: Node, at: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Node]]:
    yield at, e
    for k, x in enumerate(e.inputs):
        yield from _paths(x, (*at, k))


def _replaced(e: Node, path: tuple[int, ...], change: Any) -> Node:
    if not path:
        made: Node = change(e)
        return made
    k, rest = path[0], path[1:]
    return replace(e, inputs=(*e.inputs[:k], _replaced(e.inputs[k], rest, change), *e.inputs[k + 1 :]))


def _changed(r: random.Random, e: Node) -> Node:
    g = list(e.given)
    if e.op in ("concat", "sub") and r.random() < 0.7:
        return replace(e, inputs=e.inputs[::-1])
    if e.op == "transpose":
        i, j = r.sample(range(len(g[0])), 2)
        order = list(g[0])
        order[i], order[j] = order[j], order[i]
        return replace(e, given=(tuple(order),))
    if e.op in (*ALONG, "flip", "concat"):
        return replace(e, given=((g[0] + 1) % rank(e.inputs[0]),))
    if e.op == "pad":
        return replace(e, given=(g[0], g[1] + 1, max(g[2] - 1, 0), g[3]) if r.random() < 0.5 else (*g[:3], g[3] + 1.0))
    if e.op == "crop":
        return replace(e, given=(g[0], g[2], g[1])) if g[1] != g[2] else Node("flip", (e,), (g[0],))
    if e.op == "conv":
        pads = list(g[1])
        k = r.randrange(2)
        pads[k], pads[k + 2] = pads[k] + 1, max(pads[k + 2] - 1, 0)
        return replace(e, given=(g[0], tuple(pads), g[2]))
    if e.op == "pool":
        return replace(e, given=(g[0] + 1, g[1]))
    if e.op == "join":
        return replace(e, inputs=(Node("flip", e.inputs, (g[0],)),))
    return replace(e, inputs=(Node("neg", (e.inputs[0],)), *e.inputs[1:]))


def random_claim(seed: int) -> tuple[Node, Node, bool, bool]:
    """Return both sides of a claim, whether a law is needed, and whether the sides are equal by the rules."""
    r = random.Random(seed)
    left = right = random_expression(r)
    laws = False
    for _ in range(r.randint(1, 3)):
        found = list(everywhere(right))
        if not found:
            break
        right, law = r.choice(found)
        laws |= law
    wrong = r.random() < 0.5
    return left, mutated(r, right) if wrong else right, laws, not wrong
