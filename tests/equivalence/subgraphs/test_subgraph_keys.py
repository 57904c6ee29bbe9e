"""The attributes of a node with subgraphs are equal only for nodes that compute the same of equal values."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from onnx import GraphProto, NodeProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from symlayout.errors import FormatError
from symlayout.models.subgraph_keys import attribute_key
from tests.support.onnx_writer import node, value_info


def graph(nodes: list[NodeProto], outputs: str, *, inputs: str = "k, go, v", **constants: Any) -> GraphProto:
    begin, end = ([value_info(name, None) for name in names.split(", ") if name] for names in (inputs, outputs))
    made = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    return helper.make_graph(nodes, "body", begin, end, made)


def loop(body: GraphProto) -> NodeProto:
    return node("Loop", "n, c, x", "y", body=body)


def key(made: NodeProto, opset: int = 17, around: Callable[[str], str | int] | None = None) -> Any:
    return attribute_key(made, {"": opset}, numpy_helper.to_array, around)


TWO = np.float32(2)
MUL, ADD = node("Mul", "v, two", "t"), node("Add", "t, r", "w")
PLAIN = loop(graph([MUL, ADD], "go, w", two=TWO))


@pytest.mark.parametrize(
    "other",
    [
        loop(graph([ADD, MUL], "go, w", two=TWO)),  # no runtime reads this order, but the graph is the same
        loop(graph([MUL, node("Neg", "t", "unread"), ADD], "go, w", two=TWO)),
        loop(graph([node("Identity", "v", "u"), node("Mul", "u, two", "t"), ADD], "go, w", two=TWO)),
        loop(graph([MUL, ADD, node("Identity", "w", "z"), node("Identity", "go", "on")], "on, z", two=TWO)),
        loop(graph([node("Constant", "", "two", value_float=2.0), MUL, ADD], "go, w")),
        loop(graph([MUL, ADD], "go, w", two=TWO, more=TWO)),
        loop(graph([MUL, node("Mul", "v, more", "s"), node("Add", "t, r", "w")], "go, w", two=TWO, more=TWO)),
        loop(graph([node("Mul", "b, f", "t"), node("Add", "t, r", "w")], "a, w", inputs="i, a, b", f=TWO)),
    ],
    ids=["order", "unread", "copy", "copied outputs", "node", "unread constant", "twice", "names"],
)
def test_bodies_that_are_one_function_have_one_key(other: NodeProto) -> None:
    assert key(other) == key(PLAIN)


@pytest.mark.parametrize(
    "other",
    [
        loop(graph([MUL, ADD], "go, t", two=TWO)),
        loop(graph([MUL, ADD], "go, w", inputs="k, v, go", two=TWO)),
        loop(graph([MUL, ADD], "go, w", two=np.float32(3))),
        loop(graph([MUL, ADD], "go, w", two=np.float64(2))),
        loop(graph([MUL, ADD], "go, w", two=np.full(1, 2, np.float32))),
        loop(graph([node("Mul", "v, v", "t"), ADD], "go, w")),
        loop(graph([MUL, node("Add", "r, t", "w")], "go, w", two=TWO)),
        loop(graph([MUL, node("Sub", "t, r", "w")], "go, w", two=TWO)),
        loop(graph([MUL, node("Add", "t, two", "w")], "go, w", two=TWO)),
        loop(graph([MUL, node("Add", "t, r", "w", domain="other")], "go, w", two=TWO)),
        loop(graph([MUL, node("Identity", "t", "s", domain="other"), node("Add", "s, r", "w")], "go, w", two=TWO)),
        loop(graph([MUL, ADD], "go, w, w", two=TWO)),
    ],
)
def test_bodies_that_compute_something_else_have_another_key(other: NodeProto) -> None:
    assert key(other) != key(PLAIN)


def test_outputs_of_one_node_are_told_apart() -> None:
    split = node("Split", "v", "a, b", axis=0, num_outputs=2)
    three = node("Split", "v", "a, b, c", axis=0, num_outputs=3)
    keys = [key(loop(graph([made], f"go, {name}"))) for made in (split, three) for name in "ab"]
    assert len({repr(k) for k in keys}) == 4


def test_the_version_of_an_operation_counts() -> None:
    softmax = loop(graph([node("Softmax", "v", "w")], "go, w"))
    assert key(softmax, 12) != key(softmax, 13)
    assert key(softmax, 13) == key(softmax, 14)


def test_values_around_stand_in_the_order_in_which_outputs_read_them() -> None:
    first, second = node("Mul", "v, r", "t"), node("Add", "v, s", "u")
    end = node("Sub", "t, u", "w")
    for order in permutations([first, second, end]):
        assert key(loop(graph(list(order), "go, w"))) == key(loop(graph([first, second, end], "go, w")))
    swapped = [node("Mul", "v, s", "t"), node("Add", "v, r", "u"), end]
    found, other = key(loop(graph([first, second, end], "go, w"))), key(loop(graph(swapped, "go, w")))
    assert (found[1], other[1]) == (["r", "s"], ["s", "r"])
    assert found[0] == other[0]
    same = [node("Mul", "v, r", "t"), node("Add", "v, r", "u"), end]
    assert key(loop(graph(same, "go, w")))[0] != found[0]


def test_constants_around_a_subgraph_are_those_in_it() -> None:
    from symlayout.models.subgraph_keys import digest_of_array

    def around(name: str) -> str | int:
        return digest_of_array(np.asarray(TWO)) if name == "two" else 1 if name in ("r", "also r") else 2

    moved = loop(graph([MUL, ADD], "go, w"))
    assert key(moved, around=around) == key(PLAIN, around=around) == (key(PLAIN)[0], ["r"])
    both = [node("Mul", "v, r", "t"), node("Add", "t, also r", "w")]
    one = [node("Mul", "v, r", "t"), node("Add", "t, r", "w")]
    assert key(loop(graph(both, "go, w")), around=around) == key(loop(graph(one, "go, w")), around=around)


def nested(*inner: NodeProto, outer: tuple[NodeProto, ...] = (), ends: str = "go2, w2") -> NodeProto:
    body = graph(list(inner), ends, inputs="k2, go2, v2")
    return loop(graph([*outer, node("Loop", "n, go, v", "w", body=body)], "go, w"))


def test_a_value_that_moves_out_of_a_nested_subgraph_is_the_same_if_nothing_refuses_it() -> None:
    add = node("Add", "v2, t", "w2")
    inside = nested(node("Exp", "v", "t"), add)
    outside = nested(add, outer=(node("Exp", "v", "t"),))
    assert key(inside) == key(outside)
    assert key(nested(node("Exp", "v2", "t"), add)) != key(inside)
    assert key(nested(node("Exp", "v", "t"), node("Add", "v, t", "w2"))) != key(inside)
    product = node("Mul", "v, r", "t")  # of shapes that may not broadcast; without a pass inside, nobody asks
    assert key(nested(product, add)) != key(nested(add, outer=(product,)))


GATHER, OTHER = node("Gather", "v, r", "unread"), node("Gather", "v, s", "too", axis=1)


def test_nodes_that_no_output_needs_count_in_any_order() -> None:
    def made(*nodes: NodeProto) -> Any:
        return key(loop(graph(list(nodes), "go, w", two=TWO)))

    both = made(MUL, ADD, GATHER, node("Mul", "unread, q", "more"))
    for order in permutations([MUL, ADD, GATHER, node("Mul", "unread, q", "more")]):
        assert made(*order) == both
    assert both[1] == ["r", "q"]
    assert both != made(MUL, ADD, GATHER) != made(MUL, ADD) == key(PLAIN)
    assert made(MUL, ADD, GATHER) != made(MUL, ADD, OTHER)
    assert made(MUL, ADD, GATHER, node("Gather", "v, r", "again")) == made(GATHER, MUL, ADD)
    assert made(MUL, ADD, GATHER, node("Exp", "unread", "more")) == made(MUL, ADD, GATHER)
    assert made(MUL, ADD, node("Exp", "v", "more", domain="other")) != made(MUL, ADD)


@pytest.mark.parametrize("needed", [True, False])
def test_nodes_that_no_output_of_a_nested_subgraph_needs_count(needed: bool) -> None:
    def made(*inner: NodeProto, outer: tuple[NodeProto, ...] = ()) -> Any:
        branch = graph([*inner, node("Exp", "v", "u")], "u", inputs="")
        choice = node("If", "go", "w", then_branch=branch, else_branch=graph([], "v", inputs=""))
        return key(loop(graph([*outer, choice], "go, w" if needed else "go, v")))

    assert made(GATHER) == made(GATHER, node("Exp", "unread", "more"))
    keys = [made(), made(GATHER), made(outer=(GATHER,)), made(GATHER, outer=(GATHER,)), made(OTHER, outer=(GATHER,))]
    assert len({repr(k) for k in keys}) == 5


def test_random_nodes_are_never_one() -> None:
    draw = [node("RandomNormalLike", "v", name) for name in "ab"]
    two = key(loop(graph([*draw, node("Sub", "a, b", "w")], "go, w")))
    assert two != key(loop(graph([draw[0], node("Sub", "a, a", "w")], "go, w")))


def test_constants_without_numbers_are_equal_by_their_bytes() -> None:
    def made(text: bytes, name: str) -> Any:
        body = graph([node("Equal", "v, text", "w")], "go, w")
        body.initializer.append(helper.make_tensor(name, TensorProto.STRING, [1], [text]))
        body.node[0].input[1] = name
        return attribute_key(loop(body), {"": 19})

    assert made(b"a", "text") == made(b"a", "other") != made(b"b", "text")


@pytest.mark.parametrize("kind", [0, 1, 2, 5, 10])
def test_values_around_a_body_are_noted_whatever_its_attribute_says_that_it_is(kind: int) -> None:
    found = loop(graph([MUL, ADD], "go, w", two=TWO))
    other = loop(graph([MUL], "go, t", two=TWO))
    for made in (found, other):
        made.attribute[0].type = kind
    assert key(found)[1] == ["r"]
    assert key(found) != key(other)


def test_two_attributes_of_one_name_both_count() -> None:
    bodies = [graph([MUL, ADD], "go, w", two=TWO), graph([MUL], "go, t", two=TWO)]
    made = [loop(bodies[0]), loop(bodies[1]), loop(bodies[1])]
    for one, body in zip(made, (bodies[1], bodies[0], bodies[1]), strict=True):
        one.attribute.append(helper.make_attribute("body", body))
    assert len({repr(key(one)) for one in made}) == 3


@pytest.mark.parametrize(
    "nodes",
    [
        [node("Mul", "v, w", "t"), node("Neg", "t", "w")],
        [node("Neg", "v", "w"), node("Relu", "v", "w")],
        [node("Neg", "k", "v"), node("Relu", "v", "w")],
        [node("If", "go", "w", then_branch=graph([], "w", inputs=""), else_branch=graph([], "v", inputs=""))],
    ],
    ids=["circle", "twice", "input", "own output"],
)
def test_what_is_no_graph_of_data_is_refused(nodes: list[NodeProto]) -> None:
    with pytest.raises(FormatError):
        key(loop(graph(nodes, "go, w")))


def random_branch(draw: random.Random, around: list[str], depth: int) -> GraphProto:
    """Return a subgraph without inputs that computes one value of two or three nodes, by names that it draws."""
    known, nodes = list(around), []
    for place in range(draw.choice((1, 2, 3))):
        name = f"{draw.choice('pqs')}{depth}{place}"
        if depth < 2 and draw.random() < 0.2:
            branches = [random_branch(draw, known, depth + 1) for _ in range(2)]
            nodes.append(node("If", "c", name, then_branch=branches[0], else_branch=branches[1]))
        elif draw.random() < 0.2:
            nodes.append(node("Constant", "", name, value_float=float(draw.choice((2, 3)))))
        else:
            op, count = draw.choice((("Sub", 2), ("Identity", 1), ("Neg", 1), ("Mul", 2)))
            nodes.append(node(op, ", ".join(draw.choice(known) for _ in range(count)), name))
        known.append(name)
    return graph(nodes, known[-1], inputs="")


@pytest.mark.slow
def test_equal_keys_compute_equal_values() -> None:
    draw = random.Random(20)
    given = {"c": np.bool_(True), "x": np.float32(1.25), "y": np.float32(-0.375)}
    found: dict[str, list[tuple[float, ...]]] = {}
    for _ in range(800):
        branches = [random_branch(draw, ["x", "y"], 0) for _ in range(2)]
        made = node("If", "c", "z", then_branch=branches[0], else_branch=branches[1])
        inputs = [value_info("c", (), TensorProto.BOOL), value_info("x", ()), value_info("y", ())]
        whole = helper.make_graph([made], "model", inputs, [value_info("z", ())])
        run = ReferenceEvaluator(helper.make_model(whole, opset_imports=[helper.make_opsetid("", 17)])).run
        values = [run(None, {**given, "c": np.bool_(c)})[0] for c in (False, True)]
        found.setdefault(repr(key(made)), []).append(tuple(float(v) for v in values))
    assert all(len(set(values)) == 1 for values in found.values())
    assert sum(len(values) for values in found.values() if len(values) > 1) > 30
