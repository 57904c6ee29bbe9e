"""Branches and loops whose bodies a tool changed are one function if the bodies are proved to be one."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import GraphProto, NodeProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import symlayout as sl
from tests.support.onnx_writer import INT64, model, names, node, value_info

BOOL = TensorProto.BOOL
PROVED = sl.Verdict.PROVED
NUMBERS = np.random.default_rng(28)
WEIGHTS: Mapping[str, Any] = {
    "w": NUMBERS.normal(size=(4, 4)).astype(np.float32),
    "b": NUMBERS.normal(size=4).astype(np.float32),
    "other": NUMBERS.normal(size=4).astype(np.float32),
    "three": np.int64(3),
    "four": np.int64(4),
    "yes": np.bool_(True),
    "no": np.bool_(False),
}


def body(nodes: Sequence[NodeProto], inputs: str, outputs: str, **constants: Any) -> GraphProto:
    begin, end = ([value_info(name, None) for name in names(text)] for text in (inputs, outputs))
    made = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    return helper.make_graph(nodes, "body", begin, end, made)


def written(path: Path, *nodes: NodeProto, outputs: tuple[str, ...] = ("y",), rank: int = 2) -> Path:
    shape = ("N", 4)[:rank]
    inputs = [value_info("x", shape), value_info("z", shape), value_info("c", (), BOOL), value_info("n", (), INT64)]
    constants = [numpy_helper.from_array(np.asarray(value), name) for name, value in WEIGHTS.items()]
    path.write_bytes(model(nodes, inputs, outputs, constants, opset=17))
    return path


def are_one(before: Path, after: Path) -> None:
    """Assert that the models are proved equal, and that the certificate is about these two."""
    found = sl.verify(before, after, run=False)
    assert found.verdict is PROVED, found.explain()
    assert not found.laws
    assert sl.check(found.certificate, before=before, after=after)


def are_two(before: Path, after: Path, other: Path) -> None:
    """Assert that a model that differs is not proved equal, and has no use for the certificate of an equal one."""
    assert sl.verify(before, other, run=False, budget=50).verdict is not PROVED
    assert not sl.check(sl.verify(before, after, run=False).certificate, before=before, after=other)


# ---------------------------------------------------------------------- loops


def layer(path: Path, *, fused: bool, first: str = "x, z", **changed: str) -> Path:
    """Write a layer that keeps two states, and adds the second one to the result of each pass."""
    at = {"bias": "b", "state": "h", "on": "go", "trips": "three", "begin": "c", "ends": "h1, k1"} | changed
    steps = [node("Gemm", f"{at['state']}, w, {at['bias']}", "s")]
    if not fused:
        steps = [node("MatMul", f"{at['state']}, w", "p"), node("Add", f"p, {at['bias']}", "s")]
    steps = [node("Less", "i, four", "early"), *steps, node("Tanh", "s", "h1"), node("Sub", "k, h1", "k1")]
    steps += [node("Add", "s, k", "row"), node("Identity", at["on"], "again")]
    pass_ = body(steps, "i, go, h, k", f"again, {at['ends']}, row")
    loop = node("Loop", f"{at['trips']}, {at['begin']}, {first}", "p0, q0, rows", body=pass_)
    return written(path, loop, outputs=("p0", "q0", "rows"))


OTHER_LAYERS = [
    {"bias": "other"},  # the bias of another row
    {"state": "k"},
    {"ends": "k1, h1"},
    {"on": "early"},  # may stop after a pass
    {"trips": "four"},
    {"trips": "n"},
    {"begin": "yes"},
    {"begin": ""},
    {"first": "x, x"},
    {"first": "z, x"},
]


@pytest.mark.parametrize("other", OTHER_LAYERS, ids=str)
def test_a_gemm_in_a_loop_is_the_product_and_the_sum(other: dict[str, str], tmp_path: Path) -> None:
    before, after = layer(tmp_path / "before.onnx", fused=False), layer(tmp_path / "after.onnx", fused=True)
    are_one(before, after)
    are_two(before, after, layer(tmp_path / "other.onnx", fused=True, **other))


def test_values_that_start_alike_are_told_apart(tmp_path: Path) -> None:
    before, after = (layer(tmp_path / f"{k}.onnx", fused=bool(k), first="x, x") for k in range(2))
    are_one(before, after)
    are_two(before, after, layer(tmp_path / "other.onnx", fused=True, first="x, x", state="k"))
    are_two(before, after, layer(tmp_path / "swapped.onnx", fused=True, first="x, x", ends="k1, h1"))


def test_values_around_are_compared_wherever_they_are_computed(tmp_path: Path) -> None:
    """What does not change from pass to pass may be computed in the body, or around it and by another name."""

    def made(name: str, around: list[NodeProto], inside: list[NodeProto], reads: str) -> Path:
        pass_ = body([*inside, node("Mul", f"h, {reads}", "t"), node("Sub", "t, s", "h1")], "i, go, h", "go, h1")
        path = tmp_path / f"{name}.onnx"
        return written(path, *around, node("Loop", "n, c, x", "y", body=pass_))

    relu, neg = node("Relu", "z", "r"), node("Neg", "x", "s")
    before, after = made("before", [relu, neg], [], "r"), made("after", [neg], [relu], "r")
    are_one(before, after)
    are_two(before, after, made("other", [node("Neg", "z", "s")], [relu], "r"))
    are_two(before, after, made("swapped", [node("Relu", "z", "s"), node("Neg", "x", "r")], [], "r"))


def test_a_value_that_grows_from_pass_to_pass_has_one_type_for_all(tmp_path: Path) -> None:
    def made(name: str, steps: list[NodeProto]) -> Path:
        pass_ = body([*steps, node("Concat", "s, h", "h1", axis=0)], "i, go, h", "go, h1, s")
        return written(tmp_path / f"{name}.onnx", node("Loop", "n, c, x", "y, rows", body=pass_))

    before = made("before", [node("MatMul", "h, w", "p"), node("Add", "p, b", "s")])
    after = made("after", [node("Gemm", "h, w, b", "s")])
    are_one(before, after)
    are_two(before, after, made("other", [node("Gemm", "h, w, other", "s")]))


def test_loops_beside_each_other_are_told_apart(tmp_path: Path) -> None:
    def made(name: str, *ops: str) -> Path:
        loops = [
            node("Loop", "n, c, x", f"y{k}", body=body([node(op, "h", "h1")], "i, go, h", "go, h1"))
            for k, op in enumerate(ops)
        ]
        return written(tmp_path / f"{name}.onnx", *loops, node("Sub", "y0, y1", "y"))

    before = made("before", "Tanh", "Neg")
    are_one(before, made("after", "Tanh", "Neg"))
    are_two(before, before, made("other", "Neg", "Tanh"))
    are_two(before, before, made("same", "Tanh", "Tanh"))


def test_random_operations_in_a_body_are_equal_to_nothing(tmp_path: Path) -> None:
    noise = [node("RandomNormalLike", "h", "r"), node("Add", "h, r", "h1")]
    loop = node("Loop", "n, c, x", "y", body=body(noise, "i, go, h", "go, h1"))
    before, after = written(tmp_path / "before.onnx", loop), written(tmp_path / "after.onnx", loop)
    assert sl.verify(before, after, run=False, budget=50).verdict is not PROVED


# ---------------------------------------------------------------------- branches


def chosen(
    path: Path, *, folded: bool, value: float = 0.5, other: str = "Neg", c: str = "c", turned: bool = False
) -> Path:
    """Write a choice, of which one branch adds a constant that it computes."""
    steps = [node("Add", "x, sum", "t")]
    constants: dict[str, Any] = {"sum": np.full((4,), value + 0.25, np.float32)}
    if not folded:
        constants = {"half": np.full((4,), value, np.float32), "quarter": np.float32(0.25)}
        steps = [node("Add", "half, quarter", "sum"), *steps]
    branches = [body(steps, "", "t", **constants), body([node(other, "x", "e")], "", "e")]
    then, otherwise = branches[::-1] if turned else branches
    choice = node("If", c, "y", then_branch=then, else_branch=otherwise)
    return written(path, node("Not", "c", "d"), choice)


@pytest.mark.parametrize("other", [{"value": 0.75}, {"other": "Tanh"}, {"c": "d"}, {"turned": True}], ids=str)
def test_a_constant_that_a_branch_computes_may_be_folded(other: dict[str, Any], tmp_path: Path) -> None:
    before, after = chosen(tmp_path / "before.onnx", folded=False), chosen(tmp_path / "after.onnx", folded=True)
    are_one(before, after)
    are_two(before, after, chosen(tmp_path / "other.onnx", folded=True, **other))


def test_what_a_branch_demands_of_sizes_is_not_demanded_where_it_is_not_taken(tmp_path: Path) -> None:
    """One branch takes even sizes only.  The other ones differ for odd sizes."""

    def made(name: str, pairs: str, *otherwise: NodeProto) -> Path:
        constants = {"pairs": np.array([-1, 2]), "all": np.array([-1]), "two": np.array([2]), "zero": np.array([0])}
        then = [node("Reshape", f"x, {pairs}", "s"), node("ReduceSum", "s", "t", keepdims=0)]
        branches = [body(steps, "", end, **constants) for steps, end in ((then, "t"), (otherwise, "e"))]
        choice = node("If", "c", "y", then_branch=branches[0], else_branch=branches[1])
        return written(tmp_path / f"{name}.onnx", choice, rank=1)

    size = [node("Shape", "x", "n0"), node("Div", "n0, two", "half"), node("Mul", "half, two", "even")]
    cut = [*size, node("Slice", "x, zero, even", "s"), node("ReduceMax", "s", "e", keepdims=0)]
    before = made("before", "pairs", node("ReduceMax", "x", "e", keepdims=0))
    are_one(before, before)
    are_two(before, before, made("other", "pairs", *cut))


@pytest.mark.parametrize("read", [True, False], ids=["read", "size only"])
def test_extents_that_depend_on_data_in_a_branch_are_one(read: bool, tmp_path: Path) -> None:
    """The size of a value may be all that is read of it."""

    def made(name: str, of: str, *steps: NodeProto) -> Path:
        ends = [node("Shape", "places", "size"), node("ConstantOfShape", "size", "t")]
        ends = [node("Cast", "places", "t", to=1)] if read else ends
        then = body([*steps, node("NonZero", of, "places"), *ends], "", "t")
        otherwise = body([node("NonZero", "z", "p"), node("Cast", "p", "e", to=1)], "", "e")
        choice = node("If", "c", "chosen", then_branch=then, else_branch=otherwise)
        return written(tmp_path / f"{name}.onnx", choice, node("Relu", "chosen", "y"))

    turned = [node("Transpose", name, f"{name}t", perm=[1, 0]) for name in ("x", "xt")]
    before = made("before", "xtt", *turned)
    are_one(before, made("after", "x"))
    are_two(before, before, made("other", "z"))


def test_extents_that_depend_on_data_in_a_pass_are_one(tmp_path: Path) -> None:
    def made(name: str, *steps: NodeProto, of: str = "s") -> Path:
        ends = [node("NonZero", of, "p"), node("Shape", "p", "size"), node("ReduceSum", "size", "t", keepdims=0)]
        ends += [node("Cast", "t", "u", to=1), node("Add", "h, u", "h1"), node("Cast", "p", "row", to=1)]
        pass_ = body([*steps, *ends], "i, go, h", "go, h1, row")
        return written(tmp_path / f"{name}.onnx", node("Loop", "n, c, x", "y, rows", body=pass_), outputs=("y", "rows"))

    before = made("before", node("MatMul", "h, w", "p0"), node("Add", "p0, b", "s"))
    fused = node("Gemm", "h, w, b", "s")
    are_one(before, made("after", fused))
    are_two(before, before, made("other", fused, of="h"))


# ---------------------------------------------------------------------- scans


def scanned(
    path: Path, *, turned: bool, op: str = "Tanh", ends: str = "a1, b1", rows: str = "x, z", **more: Any
) -> Path:
    turn = [node("Unsqueeze", "r, zero", "u"), node("Transpose", "u", "t", perm=[1, 0])]
    turn += [node(op, "t", "m"), node("Transpose", "m", "v", perm=[1, 0]), node("Squeeze", "v, zero", "s")]
    steps = [*(turn if turned else [node(op, "r", "s")]), node("Add", "a, s", "a1"), node("Sub", "b, q", "b1")]
    pass_ = body([*steps, node("Mul", "a1, s", "row")], "a, b, r, q", f"{ends}, row", zero=np.array([0]))
    scan = node("Scan", f"b, other, {rows}", "p, q, y", body=pass_, num_scan_inputs=2, **more)
    return written(path, scan, outputs=("p", "q", "y"))


@pytest.mark.parametrize(
    "other",
    [{"op": "Neg"}, {"ends": "b1, a1"}, {"rows": "z, x"}, {"scan_input_directions": [1, 0]}],
    ids=str,
)
def test_transposes_that_undo_each_other_in_a_scan_are_nothing(other: dict[str, Any], tmp_path: Path) -> None:
    before, after = scanned(tmp_path / "before.onnx", turned=True), scanned(tmp_path / "after.onnx", turned=False)
    are_one(before, after)
    are_two(before, after, scanned(tmp_path / "other.onnx", turned=False, **other))


# ---------------------------------------------------------------------- bodies within bodies


def nested(
    path: Path, *, fused: bool, reads: str = "g", c: str = "go2", ends: str = "g1", bias: str = "b", first: str = "h"
) -> Path:
    """Write a loop in a loop, with a choice in it."""
    steps = [node("MatMul", f"{reads}, w", "p"), node("Add", f"p, {bias}", "t")]
    if fused:
        steps = [node("Gemm", f"{reads}, w, {bias}", "t")]
    choice = node("If", c, "g1", then_branch=body(steps, "", "t"), else_branch=body([node("Neg", "h", "e")], "", "e"))
    odd = [node("Mod", "i2, two", "m"), node("Equal", "m, zero", "odd")]
    inner = body([*odd, choice], "i2, go2, g", f"odd, {ends}", two=np.int64(2), zero=np.int64(0))
    outer = body([node("Loop", f"i, go, {first}", "h1", body=inner)], "i, go, h", "go, h1")
    return written(path, node("Loop", "n, c, x", "y", body=outer))


@pytest.mark.parametrize(
    "other", [{"reads": "h"}, {"c": "go"}, {"c": "odd"}, {"ends": "g"}, {"bias": "other"}], ids=str
)
def test_bodies_within_bodies_are_compared_as_they_are_alone(other: dict[str, str], tmp_path: Path) -> None:
    before, after = nested(tmp_path / "before.onnx", fused=False), nested(tmp_path / "after.onnx", fused=True)
    are_one(before, after)
    are_two(before, after, nested(tmp_path / "other.onnx", fused=True, **other))


def test_loops_within_loops_that_start_alike_are_told_apart(tmp_path: Path) -> None:
    before, after = (nested(tmp_path / f"{k}.onnx", fused=bool(k), first="x") for k in range(2))
    are_one(before, after)
    are_two(before, after, nested(tmp_path / "other.onnx", fused=True, first="x", reads="h"))


# ---------------------------------------------------------------------- at random


class Drawn:
    """A model at random, of elementwise operations, and of choices and loops around them.

    Attributes
    ----------
    changed : int
        The number of the operation that is another one; -1 if none is.
    turned : bool
        Whether some operations read what two transposes turn and turn back.
    """

    def __init__(self, seed: int, changed: int = -1, *, turned: bool = False) -> None:
        self.draw, self.names, self.changed, self.turned, self.made = random.Random(seed), 0, changed, turned, 0

    def name(self) -> str:
        self.names += 1
        return f"v{self.names}"

    def steps(self, known: list[str], flags: list[str], depth: int) -> tuple[list[NodeProto], str]:
        """Return nodes that compute one value of the *known* ones."""
        known, nodes = list(known), list[NodeProto]()
        for _ in range(self.draw.randint(1, 2)):
            step = self.step(known, flags, depth)
            self.made += 1
            if self.made == self.changed:
                change(step)
            if self.turned and step.input and step.input[0] in known and self.made % 2:
                turn = f"{step.output[0]}t", f"{step.output[0]}tt"
                nodes += [node("Transpose", step.input[0], turn[0], perm=[1, 0])]
                nodes += [node("Transpose", turn[0], turn[1], perm=[1, 0])]
                step.input[0] = turn[1]
            nodes.append(step)
            known.append(step.output[0])
        return nodes, known[-1]

    def step(self, known: list[str], flags: list[str], depth: int) -> NodeProto:
        name, kind = self.name(), self.draw.random()
        if depth < 2 and kind < 0.2:
            branches = [self.steps(known, flags, depth + 1) for _ in range(2)]
            then, otherwise = (body(nodes, "", end) for nodes, end in branches)
            return node("If", self.draw.choice(flags), name, then_branch=then, else_branch=otherwise)
        if depth < 2 and kind < 0.6:
            i, go, h, k = (self.name() for _ in range(4))
            ends = [self.steps([*known, h, k], [*flags, go], depth + 1) for _ in range(2)]
            stop = node("Less", f"{i}, {self.draw.choice(('one', 'three'))}", self.name())
            nodes = [*ends[0][0], *ends[1][0], stop]
            inner = body(nodes, ", ".join((i, go, h, k)), f"{stop.output[0]}, {ends[0][1]}, {ends[1][1]}")
            first = f"{self.draw.choice(known)}, {self.draw.choice(known)}"
            trips = self.draw.choice(("zero", "one", "three"))
            return node("Loop", f"{trips}, {self.draw.choice(flags)}, {first}", f"{name}, {self.name()}", body=inner)
        op, count = self.draw.choice((("Sub", 2), ("Neg", 1), ("Mul", 2), ("Transpose", 1)))
        more: dict[str, Any] = {"perm": [1, 0]} if op == "Transpose" else {}
        return node(op, ", ".join(self.draw.choice(known) for _ in range(count)), name, **more)


def change(made: NodeProto) -> None:
    """Let a node compute something else, in most cases."""
    if made.op_type == "If":
        made.attribute[0].name, made.attribute[1].name = made.attribute[1].name, made.attribute[0].name
    elif made.op_type == "Loop":
        ends = made.attribute[0].g.output
        ends[1].name, ends[2].name = ends[2].name, ends[1].name
    elif made.op_type == "Sub":
        made.input[0], made.input[1] = made.input[1], made.input[0]
    else:
        made.op_type = "Identity" if made.op_type == "Neg" else "Neg"
        del made.attribute[:]
        del made.input[1:]


@pytest.mark.slow
def test_models_that_are_proved_equal_compute_equal_values(tmp_path: Path) -> None:
    values = [{name: NUMBERS.integers(-3, 4, (2, 2)).astype(np.float32) for name in ("x", "z")} for _ in range(2)]
    feeds = [{**v, "c": np.bool_(c)} for v in values for c in (False, True)]
    numbers = [numpy_helper.from_array(np.int64(n), name) for n, name in ((0, "zero"), (1, "one"), (3, "three"))]
    inputs = [value_info("x", (2, 2)), value_info("z", (2, 2)), value_info("c", (), BOOL)]

    def made(drawn: Drawn, name: str) -> tuple[Path, list[Any]]:
        nodes, end = drawn.steps(["x", "z"], ["c"], 0)
        path = tmp_path / f"{name}.onnx"
        path.write_bytes(model([*nodes, node("Identity", end, "y")], inputs, constants=numbers, opset=17))
        return path, [ReferenceEvaluator(str(path)).run(None, feed)[0].tolist() for feed in feeds]

    proved, others = 0, 0
    for seed in range(50):
        first = Drawn(seed)
        before, results = made(first, "before")
        after, again = made(Drawn(seed, turned=True), "after")
        assert results == again
        are_one(before, after)
        for changed in range(1, first.made + 1):
            other, found = made(Drawn(seed, changed, turned=True), "other")
            verdict = sl.verify(before, other, run=False, budget=0).verdict
            assert found == results or verdict is not PROVED, (seed, changed)
            proved, others = proved + (verdict is PROVED), others + (found != results)
    assert proved > 10
    assert others > 60
