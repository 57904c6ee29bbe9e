"""Operations with subgraphs are one function whatever their values are called, of equal values around them."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import GraphProto, NodeProto, TensorProto, helper

import symlayout as sl
from tests.support.onnx_writer import model, node, tensor, value_info

PROVED = sl.Verdict.PROVED


def written(path: Path, *nodes: NodeProto) -> Path:
    inputs = [value_info("x", ("N", 4)), value_info("z", ("N", 4)), value_info("c", (), TensorProto.BOOL)]
    path.write_bytes(model(nodes, inputs, constants=[tensor([3], [], name="three"), tensor([0], [], name="first")]))
    return path


def body(names: dict[str, str], *, plus: str, times: str) -> GraphProto:
    """Return the body of a loop: the value becomes ``value * times + plus``; *names* are those of its values."""

    def own(name: str) -> str:
        return names.get(name, name)

    nodes = [
        node("Mul", f"{own('value')}, {times}", own("product"), name=own("node")),
        node("Add", f"{own('product')}, {plus}", own("next")),
        node("Identity", own("go"), own("again")),
    ]
    begin = [value_info(own("k"), (), TensorProto.INT64), value_info(own("go"), (), TensorProto.BOOL)]
    end = [value_info(own("again"), (), TensorProto.BOOL), value_info(own("next"), None)]
    return helper.make_graph(nodes, own("body"), [*begin, value_info(own("value"), None)], end)


def looped(path: Path, names: dict[str, str], *, plus: str = "r", times: str = "z", copies: str = "r") -> Path:
    loop = node("Loop", f"three, c, {copies}", "y", body=body(names, plus=plus, times=times))
    return written(path, node("Relu", "x", copies), *([node("Neg", "x", "s")] if plus == "s" else []), loop)


def test_a_loop_is_one_function_whatever_its_values_are_called(tmp_path: Path) -> None:
    before = looped(tmp_path / "before.onnx", {})
    names = {name: f"other {name}" for name in ("value", "product", "node", "next", "go", "again", "k", "body")}
    after = looped(tmp_path / "after.onnx", names, copies="q", plus="q")
    found = sl.verify(before, after, run=False)
    assert found.verdict is PROVED, found.explain()
    assert sl.check(found.certificate, before=before, after=after)


def test_a_body_that_a_tool_wrote_anew_is_the_same(tmp_path: Path) -> None:
    def rewritten(name: str, *, fills: float, tidy: bool) -> Path:
        two = helper.make_tensor("two", TensorProto.FLOAT, [], [fills])
        steps = [node("Mul", "value, two", "product"), node("Neg", "r", "minus"), node("Add", "product, minus", "next")]
        copies = [] if tidy else [node("Identity", "go", "again"), node("Identity", "next", "last")]
        steps = [*steps, *copies] if tidy else [steps[1], steps[0], steps[2], *copies]
        begin = [value_info("k", (), TensorProto.INT64), value_info("go", (), TensorProto.BOOL)]
        ends = "go, next" if tidy else "again, last"
        end = [value_info(n, None) for n in ends.split(", ")]
        body = helper.make_graph(steps, name, [*begin, value_info("value", None)], end, [] if tidy else [two])
        loop = node("Loop", "three, c, r", "y", body=body)
        around = [node("Constant", "", "two", value=two)] if tidy else []
        return written(tmp_path / f"{name}.onnx", *around, node("Relu", "x", "r"), loop)

    before, after = rewritten("before", fills=2, tidy=False), rewritten("after", fills=2, tidy=True)
    wrong = rewritten("wrong", fills=3, tidy=True)
    found = sl.verify(before, after, run=False)
    assert found.verdict is PROVED, found.explain()
    assert sl.check(found.certificate, before=before, after=after)
    assert not sl.check(found.certificate, before=before, after=wrong)
    assert sl.verify(before, wrong, run=False, budget=50).verdict is not PROVED


@pytest.mark.parametrize("wrong", [{"plus": "z", "times": "r"}, {"plus": "s"}, {"times": "r"}, {"plus": "z"}], ids=str)
def test_a_loop_that_reads_other_values_is_another(wrong: dict[str, str], tmp_path: Path) -> None:
    before, after = looped(tmp_path / "before.onnx", {}), looped(tmp_path / "after.onnx", {}, **wrong)
    assert sl.verify(before, after, run=False, budget=50).verdict is not PROVED
    assert not sl.check(sl.verify(before, before).certificate, before=before, after=after)


def chosen(path: Path, items: str) -> Path:
    """Write a model of two branches that read an element of a sequence that is made around them."""

    def branch(op: str) -> GraphProto:
        nodes = [node("SequenceAt", "all, place", "taken"), node(op, "taken", "made")]
        return helper.make_graph(nodes, op, [], [value_info("made", None)])

    place = node("ArgMax", "x", "places", axis=1, keepdims=0), node("ReduceMax", "places", "place", keepdims=0)
    choice = node("If", "c", "y", then_branch=branch("Relu"), else_branch=branch("Neg"))
    return written(path, *place, node("SequenceConstruct", items, "all"), choice)


def test_the_elements_of_a_sequence_around_a_branch_are_read(tmp_path: Path) -> None:
    before, after = chosen(tmp_path / "before.onnx", "x, z"), chosen(tmp_path / "after.onnx", "z, x")
    more = chosen(tmp_path / "more.onnx", "x, z, z")
    assert sl.verify(before, before, run=False).verdict is PROVED
    assert sl.verify(before, after, run=False, budget=50).verdict is not PROVED
    assert sl.verify(before, more, run=False, budget=50).verdict is not PROVED
