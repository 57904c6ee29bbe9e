"""Small models that would cost much: what is in them is deep, repeated or growing, and the depth can be chosen.

`DEEP` has each kind with the depth at which it is tried.  A bomb that was mended for one depth only falls at another.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from typing import Any

from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, ValueInfoProto, helper

from tests.models.onnx_files import X, extent_nodes, joined
from tests.support.onnx_writer import FLOAT, INT64, node, tensor, value_info

CONDITION = value_info("c", (), TensorProto.BOOL)
TRIPS = value_info("n", (), INT64)
MATRIX = value_info("x", ("N", "C"))


def made_of(
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto] = (X,),
    held: Sequence[TensorProto] = (),
    functions: Sequence[FunctionProto] = (),
    outputs: Sequence[str] = ("y",),
) -> ModelProto:
    """Return a model; the domains of its functions are imported."""
    graph = helper.make_graph(nodes, "graph", inputs, [ValueInfoProto(name=name) for name in outputs], held)
    opsets = [helper.make_opsetid("", 20), *(helper.make_opsetid(d, 1) for d in {f.domain for f in functions})]
    made: ModelProto = helper.make_model(graph, opset_imports=opsets, ir_version=9, functions=functions)
    return made


def body(nodes: Sequence[NodeProto], inputs: Sequence[ValueInfoProto], outputs: Sequence[str]) -> GraphProto:
    """Return a subgraph."""
    return helper.make_graph(nodes, "body", inputs, [ValueInfoProto(name=name) for name in outputs])


def _held(**values: list[int] | int | float) -> list[TensorProto]:
    """Return initializers: a list has one axis, a number none."""
    return [
        tensor(v, name=n) if isinstance(v, list)
        else helper.make_tensor(n, FLOAT if isinstance(v, float) else INT64, [], [v])
        for n, v in values.items()
    ]  # fmt: skip


def _chain(depth: int, make: Callable[[int, str, str], list[NodeProto]], last: str = "y") -> list[NodeProto]:
    """Return nodes in a row: *make* gets the number of a step, what it reads, and what it gives."""
    read = ["x", *(f"t{k}" for k in range(1, depth)), last]
    return [made for k in range(depth) for made in make(k, read[k], read[k + 1])]


def _row(op: str, others: str = "", held: Sequence[TensorProto] = (), **attributes: Any) -> Callable[[int], ModelProto]:
    """Return a row of one operation."""
    return lambda depth: made_of(_chain(depth, lambda k, a, b: [node(op, f"{a}{others}", b, **attributes)]), held=held)


# What runs within what runs


def _branches(depth: int) -> ModelProto:
    nodes = [node("Relu", "x", "y0")]
    for k in range(1, depth + 1):
        then, other = body(nodes, [], [f"y{k - 1}"]), body([node("Neg", "x", f"z{k}")], [], [f"z{k}"])
        nodes = [node("If", "c", f"y{k}", then_branch=then, else_branch=other)]
    return made_of([*nodes, node("Identity", f"y{depth}", "y")], [X, CONDITION])


def _loops(grow: Callable[[str, str], list[NodeProto]], trips: int | None = None) -> Callable[[int], ModelProto]:
    """Return loops within each other, which carry a value; *grow* is what the innermost one makes of it."""

    def made(depth: int) -> ModelProto:
        nodes, inner = grow(f"v{depth}", "y0"), "y0"
        for k in range(depth, 0, -1):
            given = [
                value_info(f"i{k}", (), INT64),
                value_info(f"g{k}", (), TensorProto.BOOL),
                ValueInfoProto(name=f"v{k}"),
            ]
            loop = body([*nodes, node("Identity", f"g{k}", f"h{k}")], given, [f"h{k}", inner])
            nodes, inner = [node("Loop", f"n, c, {f'v{k - 1}' if k > 1 else 'x'}", f"r{k}", body=loop)], f"r{k}"
        nodes = [*nodes, node("Identity", inner, "y")]
        return (
            made_of(nodes, [X, CONDITION, TRIPS]) if trips is None else made_of(nodes, [X, CONDITION], _held(n=trips))
        )

    return made


def _loops_that_collect(depth: int) -> ModelProto:
    nodes, inner = [node("Relu", "x", "y0")], "y0"
    for k in range(depth, 0, -1):
        given = [value_info(f"i{k}", (), INT64), value_info(f"g{k}", (), TensorProto.BOOL)]
        loop = body([*nodes, node("Identity", f"g{k}", f"h{k}")], given, [f"h{k}", inner])
        nodes, inner = [node("Loop", "n, c", f"r{k}", body=loop)], f"r{k}"
    return made_of([*nodes, node("Identity", inner, "y")], [X, CONDITION, TRIPS])


def _loops_of_many_values(depth: int) -> ModelProto:
    """Return a loop whose values become each other in turn, and one of which grows."""
    carried = [f"v{k}" for k in range(depth)]
    given = [
        value_info("i", (), INT64),
        value_info("g", (), TensorProto.BOOL),
        *(ValueInfoProto(name=v) for v in carried),
    ]
    nodes = [node("Concat", f"{carried[0]}, {carried[-1]}", "w", axis=1), node("Identity", "g", "h")]
    loop = body(nodes, given, ["h", *carried[1:], "w"])
    made = node("Loop", f"n, c, {', '.join(['x'] * depth)}", ", ".join(f"r{k}" for k in range(depth)), body=loop)
    return made_of([made, node("Identity", "r0", "y")], [X, CONDITION, TRIPS])


def _scans(depth: int) -> ModelProto:
    nodes, inner = [node("Relu", f"s{depth}", "y0")], "y0"
    for k in range(depth, 0, -1):
        scan = body(nodes, [ValueInfoProto(name=f"s{k}")], [inner])
        made = node("Scan", f"s{k - 1}" if k > 1 else "x", f"r{k}", body=scan, num_scan_inputs=1)
        nodes, inner = [made], f"r{k}"
    return made_of([*nodes, node("Identity", inner, "y")], [value_info("x", [2] * (depth + 1))])


def _scans_with_states(depth: int) -> ModelProto:
    nodes, inner = [node("Concat", f"s{depth}, s{depth}", "y0", axis=0)], "y0"
    for k in range(depth, 0, -1):
        scan = body(
            [*nodes, node("Identity", f"e{k}", f"o{k}")],
            [ValueInfoProto(name=n) for n in (f"s{k}", f"e{k}")],
            [inner, f"o{k}"],
        )
        made = node("Scan", f"{f's{k - 1}' if k > 1 else 'x'}, x", f"r{k}, q{k}", body=scan, num_scan_inputs=1)
        nodes, inner = [made], f"r{k}"
    return made_of([*nodes, node("Identity", inner, "y")])


def _mixed(depth: int) -> ModelProto:
    nodes, inner = [node("Relu", "x", "y0")], "y0"
    for k in range(1, depth + 1):
        if k % 2:
            other = body([node("Neg", "x", f"z{k}")], [], [f"z{k}"])
            nodes = [node("If", "c", f"r{k}", then_branch=body(nodes, [], [inner]), else_branch=other)]
        else:
            given = [value_info(f"i{k}", (), INT64), value_info(f"g{k}", (), TensorProto.BOOL)]
            loop = body([*nodes, node("Identity", f"g{k}", f"h{k}")], given, [f"h{k}", inner])
            nodes = [node("Loop", "n, c", f"r{k}", body=loop)]
        inner = f"r{k}"
    return made_of([*nodes, node("Identity", inner, "y")], [X, CONDITION, TRIPS])


def _branches_in_a_row(depth: int) -> ModelProto:
    """Return branches that give values of unlike shapes, each read by the next."""

    def step(k: int, a: str, b: str) -> list[NodeProto]:
        then = body([node("Concat", f"{a}, {a}", f"p{k}", axis=0)], [], [f"p{k}"])
        return [node("If", "c", b, then_branch=then, else_branch=body([node("Relu", a, f"q{k}")], [], [f"q{k}"]))]

    return made_of(_chain(depth, step), [X, CONDITION])


def _slices_in_branches(depth: int) -> ModelProto:
    """Return branches of slices, each of which ends where data says."""

    def branch(name: str) -> GraphProto:
        made = [node("Slice", f"{f'{name}{k - 1}' if k else 'x'}, starts, ends", f"{name}{k}") for k in range(depth)]
        return body(made, [], [f"{name}{depth - 1}"])

    ends = [value_info(n, (1,), INT64) for n in ("starts", "ends")]
    return made_of([node("If", "c", "y", then_branch=branch("p"), else_branch=branch("q"))], [X, CONDITION, *ends])


# Functions of the model


def _function(name: str, *nodes: NodeProto) -> FunctionProto:
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("own", 1)]
    made: FunctionProto = helper.make_function("own", name, ["x"], ["y"], list(nodes), opsets)
    return made


def _doubling(*first: NodeProto) -> Callable[[int], ModelProto]:
    """Return functions that call the one before twice."""

    def made(depth: int) -> ModelProto:
        functions = [_function("f0", *first)]
        for k in range(1, depth):
            call = f"f{k - 1}"
            functions.append(_function(f"f{k}", node(call, "x", "t", domain="own"), node(call, "t", "y", domain="own")))
        return made_of([node(f"f{depth - 1}", "x", "y", domain="own")], functions=functions)

    return made


def _calls(depth: int) -> ModelProto:
    functions = [_function("f0", node("Relu", "x", "y"))]
    functions += [_function(f"f{k}", node(f"f{k - 1}", "x", "y", domain="own")) for k in range(1, depth)]
    return made_of([node(f"f{depth - 1}", "x", "y", domain="own")], functions=functions)


def _doubling_in_branches(depth: int) -> ModelProto:
    functions = [_function("f0", node("Relu", "x", "y"))]
    for k in range(1, depth):
        sides = {
            side: body([node(f"f{k - 1}", "x", "v", domain="own")], [], ["v"])
            for side in ("then_branch", "else_branch")
        }
        made = [
            node("Constant", "", "c", value=helper.make_tensor("", TensorProto.BOOL, [], [1])),
            node("If", "c", "y", **sides),
        ]
        functions.append(_function(f"f{k}", *made))
    return made_of([node(f"f{depth - 1}", "x", "y", domain="own")], functions=functions)


def _cyclic_functions(depth: int) -> ModelProto:
    functions = [_function(f"f{k}", node(f"f{(k + 1) % depth}", "x", "y", domain="own")) for k in range(depth)]
    return made_of([node("f0", "x", "y", domain="own")], functions=functions)


# Sizes that are computed


def _sizes(*ops: str, shape: str = "n") -> Callable[[int], ModelProto]:
    """Return a size of x that goes through operations in turn, whose other operand is a size or 2."""

    def made(depth: int) -> ModelProto:
        nodes = extent_nodes(n=0, c=1)
        for k in range(depth):
            nodes.append(node(ops[k % len(ops)], f"{f't{k - 1}' if k else 'n'}, {'c' if k % 3 else 'two'}", f"t{k}"))
        nodes += [*joined("shape_", f"t{depth - 1}"), node("Expand", "one, shape_", "y")]
        return made_of(nodes, held=_held(two=2, three=3, one=[1], zero=[0]))

    return made


def _with_two(*ops: tuple[str, str]) -> Callable[[int], ModelProto]:
    """Return a size of x that goes through operations in turn, each with its constant."""

    def made(depth: int) -> ModelProto:
        nodes, last = extent_nodes(n=0), "n"
        for k in range(depth):
            op, other = ops[k % len(ops)]
            nodes.append(node(op, f"{last}, {other}", f"t{k}"))
            last = f"t{k}"
        nodes += [*joined("shape_", last), node("Expand", "one_, shape_", "y")]
        return made_of(nodes, held=_held(unit=1, two=2, three=3, seven=7, one_=[1], zero=[0]))

    return made


def _squared(depth: int) -> ModelProto:
    nodes, last = extent_nodes(n=0), "n"
    for k in range(depth):
        nodes.append(node("Mul", f"{last}, {last}", f"q{k}"))
        last = f"q{k}"
    return made_of([*nodes, *joined("shape_", last), node("Expand", "one, shape_", "y")], held=_held(one=[1], zero=[0]))


def _floats_of_sizes(depth: int) -> ModelProto:
    nodes, last = [*extent_nodes(n=0), node("Cast", "n", "f", to=FLOAT)], "f"
    for k in range(depth):
        op = ("Mul", "Floor", "Add", "Sqrt", "Div", "Ceil")[k % 6]
        nodes.append(node(op, last if op in ("Floor", "Sqrt", "Ceil") else f"{last}, third", f"t{k}"))
        last = f"t{k}"
    nodes += [node("Cast", last, "i", to=INT64), *joined("shape_", "i"), node("Expand", "one, shape_", "y")]
    return made_of(nodes, held=_held(third=1 / 3, one=[1], zero=[0]))


def _choices_of_sizes(depth: int) -> ModelProto:
    nodes, last = extent_nodes(n=0, c=1), "n"
    for k in range(depth):
        nodes += [
            node(("Less", "Equal", "Greater")[k % 3], f"{last}, c", f"b{k}"),
            node("Add", f"{last}, two", f"p{k}"), node("Mul", f"{last}, c", f"m{k}"),
            node("Where", f"b{k}, p{k}, m{k}", f"t{k}"),
        ]  # fmt: skip
        last = f"t{k}"
    return made_of(
        [*nodes, *joined("shape_", last), node("Expand", "one, shape_", "y")], held=_held(two=2, one=[1], zero=[0])
    )


def _shapes_of_reshapes(depth: int) -> ModelProto:
    """Return reshapes to what is computed of the shape before."""

    def step(k: int, a: str, b: str) -> list[NodeProto]:
        return [
            node("Shape", a, f"s{k}"), node("Gather", f"s{k}, order", f"g{k}"), node("Reshape", f"{a}, g{k}", f"r{k}"),
            node("Concat", f"r{k}, r{k}", b, axis=k % 4),
        ]  # fmt: skip

    return made_of(_chain(depth, step), held=_held(order=[1, 2, 3, 0]))


def _minus_ones(depth: int) -> ModelProto:
    """Return reshapes, each of which needs another number to divide the size."""
    primes = [p for p in range(2, 2000) if all(p % q for q in range(2, p))][:depth]
    shapes = {f"s{k}": [p, -1] for k, p in enumerate(primes)}
    return made_of(_chain(len(primes), lambda k, a, b: [node("Reshape", f"{a}, s{k}", b)]), held=_held(**shapes))


def _broadcasts(same: bool) -> Callable[[int], ModelProto]:
    """Return sums of inputs with dims of their own, or of slices of one input."""

    def made(depth: int) -> ModelProto:
        inputs = [value_info("x", ("A", "B")), *(value_info(f"w{k}", (f"a{k}", f"b{k % 7}")) for k in range(depth))]
        return made_of(_chain(depth, lambda k, a, b: [node("Add", f"{a}, w{k}", b)]), inputs)

    def slices(depth: int) -> ModelProto:
        def step(k: int, a: str, b: str) -> list[NodeProto]:
            return [node("Slice", f"{a}, start, end{k % 5}, axis", f"s{k}"), node("Max", f"x, s{k}", b)]

        ends = {f"end{k}": [3 + 2 * k] for k in range(5)}
        return made_of(_chain(depth, step), held=_held(start=[1], axis=[3], **ends))

    return slices if same else made


def _products(depth: int) -> ModelProto:
    inputs = [value_info("x", ("A", "B")), *(value_info(f"w{k}", (f"r{k}", f"c{k}")) for k in range(depth))]
    return made_of(_chain(depth, lambda k, a, b: [node("MatMul", f"{a}, w{k}", b)]), inputs)


def _unknown_extents(op: str, outputs: str = "", **attributes: Any) -> Callable[[int], ModelProto]:
    """Return an operation in a row, whose extents depend on data."""
    return lambda depth: made_of(_chain(depth, lambda k, a, b: [node(op, a, b, **attributes)]), [MATRIX])


def _compressed(depth: int) -> ModelProto:
    def step(k: int, a: str, b: str) -> list[NodeProto]:
        return [
            node("NonZero", a, f"z{k}"), node("Transpose", f"z{k}", f"i{k}", perm=[1, 0]),
            node("GatherND", f"{a}, i{k}", f"g{k}"), node("Unsqueeze", f"g{k}, zero", b),
        ]  # fmt: skip

    return made_of(_chain(depth, step), [MATRIX], _held(zero=[0]))


# Movement


def _flips(depth: int) -> ModelProto:
    def step(k: int, a: str, b: str) -> list[NodeProto]:
        return [node("Slice", f"{a}, last, first, zero, down", f"f{k}"), node("Concat", f"{a}, f{k}", b, axis=0)]

    return made_of(_chain(depth, step), held=_held(last=[-1], first=[-(1 << 62)], zero=[0], down=[-1]))


def _transposes_of_many_axes(depth: int) -> ModelProto:
    draw = random.Random(0)
    orders = [draw.sample(range(48), 48) for _ in range(depth)]
    return made_of(
        _chain(depth, lambda k, a, b: [node("Transpose", a, b, perm=orders[k])]),
        [value_info("x", [f"d{k}" for k in range(48)])],
    )


def _pads_of_many_axes(depth: int) -> ModelProto:
    return made_of(
        [node("Pad", "x, p", "y")], [value_info("x", [f"d{k}" for k in range(depth)])], _held(p=[1] * 2 * depth)
    )


def _moves(depth: int) -> ModelProto:
    ops = itertools.cycle([("SpaceToDepth", 2), ("DepthToSpace", 2), ("DepthToSpace", 3), ("SpaceToDepth", 3)])
    drawn = [next(ops) for _ in range(depth)]
    return made_of(_chain(depth, lambda k, a, b: [node(drawn[k][0], a, b, blocksize=drawn[k][1])]))


def _slices(depth: int) -> ModelProto:
    def step(k: int, a: str, b: str) -> list[NodeProto]:
        return [node("Slice", f"{a}, one, big, axis, step{k % 2}", f"s{k}"), node("Pad", f"s{k}, pads", b)]

    held = _held(one=[1], big=[1 << 62], axis=[2], step0=[1], step1=[2], pads=[0, 0, 2, 0, 0, 0, 1, 0])
    return made_of(_chain(depth, step), held=held)


def _gathers(depth: int) -> ModelProto:
    draw = random.Random(0)
    tables = {f"g{k}": draw.sample(range(300), 300) for k in range(depth)}
    return made_of(
        _chain(depth, lambda k, a, b: [node("Gather", f"{a}, g{k}", b, axis=1)]),
        [value_info("x", ("N", 300))],
        _held(**tables),
    )


def _windows(depth: int) -> ModelProto:
    step = [
        lambda k, a, b: [node("MaxPool", a, b, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=k % 2)],
        lambda k, a, b: [node("Resize", f"{a}, , scales", b)],
    ]
    made = _chain(depth, lambda k, a, b: step[k % 2](k, a, b))
    scales = helper.make_tensor("scales", FLOAT, [4], [1, 1, 1.7, 0.7])
    return made_of(made, held=[scales])


# What is wide


def _parts(depth: int) -> ModelProto:
    names = [f"p{k}" for k in range(depth)]
    nodes = [node("Split", "x", ", ".join(names), axis=1, num_outputs=depth)]
    return made_of([*nodes, node("Concat", ", ".join(reversed(names)), "y", axis=1)])


def _joined_inputs(depth: int) -> ModelProto:
    inputs = [value_info(f"x{k}", (f"n{k}", f"c{k}")) for k in range(depth)]
    return made_of([node("Concat", ", ".join(i.name for i in inputs), "y", axis=1)], inputs)


def _sums(depth: int) -> ModelProto:
    return made_of(_chain(depth, lambda k, a, b: [node("Add", f"{a}, {a}", b)]))


def _diamonds(depth: int) -> ModelProto:
    def step(k: int, a: str, b: str) -> list[NodeProto]:
        return [
            node("Relu", a, f"l{k}"),
            node("Transpose", a, f"r{k}", perm=[0, 1, 3, 2]),
            node("MatMul", f"l{k}, r{k}", b),
        ]

    return made_of(_chain(depth, step), [value_info("x", ("N", "C", "S", "S"))])


def _letters(depth: int) -> ModelProto:
    term = "abcdefghijklmnopqrstuvwxyz"
    inputs = [value_info(f"x{k}", (2,) * 13) for k in range(depth)]
    equation = ",".join(term[k % 13 : k % 13 + 13] for k in range(depth)) + "->" + term[:13]
    return made_of([node("Einsum", ", ".join(i.name for i in inputs), "y", equation=equation)], inputs)


def _outputs(depth: int) -> ModelProto:
    nodes = [node("Slice", f"x, s{k}, e{k}, axis", f"y{k}") for k in range(depth)]
    ends = {f"{c}{k}": [k + (c == "e")] for k in range(depth) for c in "se"}
    return made_of(nodes, held=_held(axis=[1], **ends), outputs=[f"y{k}" for k in range(depth)])


def _long_cycle(depth: int) -> ModelProto:
    return made_of([*(node("Relu", f"v{k}", f"v{(k + 1) % depth}") for k in range(depth)), node("Relu", "v0", "y")])


def _backwards(depth: int) -> ModelProto:
    return made_of(_chain(depth, lambda k, a, b: [node("Relu", a, b)])[::-1])


def _annotated(depth: int) -> ModelProto:
    made = made_of(_chain(20, lambda k, a, b: [node("Relu", a, b)]))
    made.graph.value_info.extend(value_info(f"t{k}", [f"q{k}", f"r{k}", None, k + 1]) for k in range(depth))
    return made


# Types of values


def _input_of_type(depth: int) -> ModelProto:
    made = TypeProto(tensor_type=TypeProto.Tensor(elem_type=FLOAT))
    for k in range(depth):
        made = (helper.make_optional_type_proto if k % 2 else helper.make_sequence_type_proto)(made)
    return made_of([node("SequenceAt", "s, zero", "y")], [ValueInfoProto(name="s", type=made)], _held(zero=0))


def _sequences(depth: int) -> ModelProto:
    made = [node("SequenceConstruct", f"s{k}, s{k}", f"s{k + 1}") for k in range(depth)]
    nodes = [node("SequenceConstruct", "x, x", "s0"), *made, node("SequenceAt", f"s{depth}, zero", "y")]
    return made_of(nodes, held=_held(zero=0))


def _inserted(depth: int) -> ModelProto:
    made = [node("SequenceInsert", f"s{k}, x", f"s{k + 1}") for k in range(depth)]
    nodes = [node("SequenceEmpty", "", "s0"), *made, node("ConcatFromSequence", f"s{depth}", "y", axis=0)]
    return made_of(nodes)


def _optionals(depth: int) -> ModelProto:
    made = [node("Optional", f"o{k}", f"o{k + 1}") for k in range(depth)]
    return made_of([node("Optional", "x", "o0"), *made, node("OptionalGetElement", f"o{depth}", "y")])


def _constants(depth: int) -> ModelProto:
    """Return constants that grow as they are computed."""
    return made_of(
        [*_chain(depth, lambda k, a, b: [node("Concat", f"{a}, {a}", b, axis=0)], "s"), node("Reshape", "w, s", "y")],
        [value_info("w", ("N",))],
        [tensor([1, 1], name="x")],
    )


_RELU = node("Relu", "x", "y")
_BYTES = node("Constant", "", "k", value=helper.make_tensor("", FLOAT, [20_000], bytes(80_000), raw=True))
_HALVED = (("Add", "unit"), ("Div", "two"))
DEEP: dict[str, tuple[Callable[[int], ModelProto], int]] = {
    "branches in branches": (_branches, 30),
    "branches in a row": (_branches_in_a_row, 100),
    "slices in branches": (_slices_in_branches, 100),
    "loops in loops": (_loops(lambda a, b: [node("Relu", a, b)]), 20),
    "loops in loops of growing values": (_loops(lambda a, b: [node("Concat", f"{a}, {a}", b, axis=1)]), 20),
    "loops in loops that turn": (_loops(lambda a, b: [node("Transpose", a, b, perm=[1, 2, 3, 0])]), 20),
    "loops in loops of growing ranks": (_loops(lambda a, b: [node("Expand", f"{a}, n", b)]), 30),
    "loops in loops of known trips": (_loops(lambda a, b: [node("Concat", f"{a}, {a}", b, axis=1)], 3), 20),
    "loops in loops of many trips": (_loops(lambda a, b: [node("Relu", a, b)], 1 << 62), 20),
    "loops that collect": (_loops_that_collect, 30),
    "a loop of many values": (_loops_of_many_values, 200),
    "scans in scans": (_scans, 30),
    "scans with states": (_scans_with_states, 20),
    "loops in branches in loops": (_mixed, 30),
    "functions that double": (_doubling(_RELU), 60),
    "functions that double constants": (_doubling(_BYTES, _RELU), 14),
    "functions that double their values": (_doubling(node("Concat", "x, x", "y", axis=0)), 10),
    "functions in a row": (_calls, 3000),
    "functions that double in branches": (_doubling_in_branches, 40),
    "functions that call each other": (_cyclic_functions, 2),
    "many functions that call each other": (_cyclic_functions, 3000),
    "sums and quotients of sizes": (_sizes("Add", "Div"), 500),
    "sums of 1, quotients by 2 of sizes": (_with_two(*_HALVED), 500),
    "sums of 1, quotients by 2 and 3 of sizes": (_with_two(*_HALVED, ("Add", "unit"), ("Div", "three")), 200),
    "sums, remainders and products of sizes": (_with_two(("Add", "seven"), ("Mod", "three"), ("Mul", "two")), 500),
    "quotients and products of sizes": (_with_two(("Div", "seven"), ("Mul", "three")), 40),
    "extremes of sizes": (_sizes("Min", "Add", "Max", "Sub"), 16),
    "products of sizes": (_sizes("Mul"), 200),
    "powers of sizes": (_with_two(("Pow", "two"), ("Add", "unit")), 60),
    "quotients and remainders of sizes": (_sizes("Div", "Mod", "Max", "Mul", "Sub"), 100),
    "a size squared": (_squared, 200),
    "floats of sizes": (_floats_of_sizes, 300),
    "choices of sizes": (_choices_of_sizes, 200),
    "shapes of reshapes": (_shapes_of_reshapes, 60),
    "sizes that many numbers divide": (_minus_ones, 150),
    "broadcasts of inputs": (_broadcasts(same=False), 100),
    "broadcasts of slices": (_broadcasts(same=True), 2),
    "products of inputs": (_products, 300),
    "extents that depend on data": (_unknown_extents("NonZero"), 8),
    "what is distinct": (_unknown_extents("Unique", axis=0), 8),
    "what is compressed": (_compressed, 100),
    "joins with what is flipped": (_flips, 24),
    "transposes of many axes": (_transposes_of_many_axes, 200),
    "pads of many axes": (_pads_of_many_axes, 64),
    "pads of more axes": (_pads_of_many_axes, 500),
    "blocks of space and depth": (_moves, 200),
    "slices and pads": (_slices, 20),
    "gathers by tables": (_gathers, 50),
    "windows and scales": (_windows, 60),
    "doubled": (_row("Concat", ", x", axis=0), 300),
    "tiled": (_row("Tile", ", r", held=_held(r=[2, 3, 5, 7])), 100),
    "padded": (_row("Pad", ", r", held=_held(r=[1] * 8)), 300),
    "activations": (_row("Relu"), 20_000),
    "transposes": (_row("Transpose", perm=[0, 2, 3, 1]), 20_000),
    "identities": (_row("Identity"), 20_000),
    "unknown operations": (_row("Strange", domain="x.y"), 5000),
    "flattened": (_row("Flatten"), 5000),
    "sums of squares": (_row("ReduceSumSquare", keepdims=1), 3000),
    "norms": (_row("LayerNormalization", ", x"), 1000),
    "cast": (_row("Cast", to=FLOAT), 5000),
    "parts": (_parts, 3000),
    "joined inputs": (_joined_inputs, 1000),
    "sums of itself": (_sums, 2000),
    "diamonds": (_diamonds, 300),
    "products of many letters": (_letters, 40),
    "many outputs": (_outputs, 2000),
    "a long cycle": (_long_cycle, 3000),
    "nodes backwards": (_backwards, 5000),
    "annotations": (_annotated, 10_000),
    "an input of a deep type": (_input_of_type, 40),
    "sequences in sequences": (_sequences, 30),
    "a sequence of many": (_inserted, 1000),
    "optionals in optionals": (_optionals, 30),
    "constants that grow": (_constants, 40),
}  # fmt: skip
