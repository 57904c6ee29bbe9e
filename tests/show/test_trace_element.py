"""The walk of one element, and the reasons of requirements: checked against the interpreter and by breaking them."""

from __future__ import annotations

import itertools
from typing import Any
from unittest.mock import patch
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings

import symlayout as sl
from symlayout.algebra.table import Table
from symlayout.commands import subject
from symlayout.commands.output import ops_page
from symlayout.show.trace_element import number_of
from tests.support import chains, strategies
from tests.support.effort import examples

SYMBOLIC = [
    ("N, H, W, C", lambda x: sl.space_to_batch(x, [2, sl.dim("b", min=1)], [[1, 1], [0, sl.dim("q")]])),
    ("H, W", lambda x: sl.pad(x, [[1, 0], [0, 2]], mode="reflect")),
    ("N, C, 2*h, 2*w", lambda x: sl.transpose(sl.space_to_depth(x, 2), (0, 2, 3, 1))),
    ("H, W", lambda x: sl.roll(sl.flip(x, 0), (sl.dim("s"), 1), (0, 1))),
    ("H, W", lambda x: sl.reshape(sl.tile(x, (2, 3)), (-1,))[::-2]),
    ("", lambda x: sl.expand_dims(x, 0)),
    ("4, N", lambda x: sl.take(x, [i * i % 7 % 4 for i in range(90)], 0)),
]


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def check(t: sl.Tensor, dims: dict[str, int]) -> None:
    """Assert that each element's walk ends where the interpreter reads, and that its formulas say so.

    Texts leave out the middle of a long table.  Here they have all entries, so that Python can evaluate them.
    """
    with patch.object(Table, "__repr__", lambda table: repr(list(table.values))):
        check_steps(t, dims)


def check_steps(t: sl.Tensor, dims: dict[str, int]) -> None:
    bound = t.subs(dims)
    sources = {leaf.name: np.arange(np.prod(leaf.shape, dtype=int)).reshape(leaf.shape) for leaf in bound.leaves()}
    expected = sl.interpret(bound, *sources.values())
    for at in itertools.islice(np.ndindex(expected.shape), 200):
        found = sl.trace(t, at, dims)
        if found.source is None:
            assert expected[at] == found.fill
            assert found.steps[-1].outside
        else:
            assert found.read is not None
            assert expected[at] == sources[found.source][found.read]
            assert number_of(found, sources[found.source].shape) == expected[at]
        for step, after in itertools.pairwise(found.steps):
            assert after.coord == step.read
            assert after.shape == step.source_shape
            assert step.outside == []
        for step in found.steps:
            assert arithmetic(step.values) == step.read, step


def arithmetic(formula: str) -> tuple[int, ...]:
    """Return the value of a formula in numbers, by Python's own rules."""
    names = {"min": min, "max": max, "ceil_div": ceil_div}
    value: tuple[int, ...] = eval(formula.replace("/", "//").replace("////", "//"), {"__builtins__": {}}, names)
    return value


@settings(max_examples=examples(60), deadline=None)
@given(strategies.cases(most_steps=4))
def test_a_walk_ends_where_the_interpreter_reads(case: strategies.Case) -> None:
    check(chains.build(sl.tensor(case.shape, name="x"), case.steps), {})


@pytest.mark.parametrize(("shape", "make"), SYMBOLIC)
@pytest.mark.parametrize("dims", [{"N": 2, "H": 4, "W": 6, "C": 2, "b": 2, "q": 2, "h": 2, "w": 1, "s": 5}])
def test_a_symbolic_walk_has_the_users_dims_in_its_formulas(shape: str, make: Any, dims: dict[str, int]) -> None:
    t = make(sl.tensor(shape or (), name="x"))
    check(t, {name: value for name, value in dims.items() if name in t.facts.dims})


SEVERAL = {  # which give several tensors, and a step gives one
    "onnx:TopK",
    *(f"torch:{name}" for name in ("chunk", "max.dim", "max_pool2d_with_indices", "min.dim", "sort", "topk")),
    *(f"torch:{name}" for name in ("unbind", "var_mean")),
    "onnx:DynamicQuantizeLinear",
    *(f"openvino:TopK-{k}" for k in (1, 3, 11)),
    *(f"openvino:MaxPool-{k}" for k in (8, 14)),
    *(f"stablehlo:{name}" for name in ("chlo.top_k", "reduce", "reduce_window")),
    *(f"tflite:{name}" for name in ("SPLIT", "SPLIT_V", "TOPK_V2", "UNPACK")),
}
OPERATIONS = {
    name: [shapes, attributes if name == ops_page.INDEX else f"{name}({attributes})"]
    for table in (ops_page.CORE_EXAMPLES, ops_page.FRAMEWORK_EXAMPLES)
    for name, (shapes, attributes) in table.items()
    if shapes and ";" not in shapes and "plit" not in name and name not in SEVERAL
}


@pytest.mark.sample(24)
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_is_walked_explained_and_drawn(name: str) -> None:
    for t in subject.build(OPERATIONS[name]):
        drawn = t.show()
        assert ElementTree.fromstring(drawn.svg) is not None
        if not t.computes:
            check(t, drawn.dims)
        for reason in sl.reasons(t):
            if not t.computes:  # sizes do not break what depends on data
                assert reason.breaks
                assert reason.message


def test_a_walk_through_a_joint_operation_finds_the_input() -> None:
    x, y = sl.tensor("H, W", name="x"), sl.tensor("K, W", name="y")
    t = sl.flip(sl.concatenate([x, y], axis=0), 0)
    check(t, {"H": 2, "K": 3, "W": 2})
    assert sl.trace(t, (0, 1), {"H": 2, "K": 3, "W": 2}).source == "y"
    assert "0 <= i0 - H < K" in str(sl.trace(t, (0, 1)))


def test_a_walk_reads_as_it_is_shown() -> None:
    t = sl.pad(sl.tensor("H, W", name="x"), 1)[::-1]
    assert str(sl.trace(t, (0, 2), {"H": 4, "W": 4})) == (
        "H = 4, W = 4\n"
        "output (6, 6) at (0, 2)\n"
        "getitem: reads pad (6, 6) at (5, 2)\n"
        "  map     (i0, i1) -> (H - i0 + 1, i1)\n"
        "  here    (4 - 0 + 1, 2) = (5, 2)\n"
        "pad: reads x (4, 4) at (4, 1)\n"
        "  map     (i0, i1) -> (i0 - 1, i1 - 1)\n"
        "  here    (5 - 1, 2 - 1) = (4, 1)\n"
        "  outside axis 0: 0 <= 4 < 4 does not hold\n"
        "so it is the fill 0 of pad"
    )


def test_sizes_are_chosen_that_have_the_coordinate() -> None:
    found = sl.trace(sl.transpose(sl.tensor("H, W", name="x")), (40, 1))
    assert found.dims["W"] > 40
    assert found.read == (1, 40)
    assert sl.tensor("H, W", name="x").show(at=(40, 1)).dims["H"] > 40


@pytest.mark.parametrize(
    ("at", "kind"),
    [((1,), "rank"), ((0, 3), "bad_coord"), ((-1, 0), "bad_coord"), ((0, 1.0), "attr_dtype"), (5, "attr_dtype")],
)
def test_what_is_no_coordinate_is_refused(at: Any, kind: str) -> None:
    fixed, symbolic = sl.tensor("2, 3", name="x"), sl.tensor("N, 3", name="x")
    for x, call in itertools.product((fixed, symbolic), (lambda x: sl.trace(x, at), lambda x: x.show(at=at))):
        if x is symbolic and at == (0, 3):
            continue  # of some sizes there is no more to say than that none was found
        with pytest.raises(sl.ShapeError) as caught:
            call(x)
        assert caught.value.kind == kind


def test_sizes_are_integers() -> None:
    x = sl.tensor("N, C", name="x")
    for size in ("4", 4.0, sl.dim("M"), None):
        for call in (lambda size=size: sl.trace(x, (0, 0), {"N": size}), lambda size=size: x.show({"N": size})):
            with pytest.raises(sl.ShapeError) as caught:
                call()
            assert caught.value.kind == "attr_dtype"
    assert x.show({sl.dim("N"): np.int64(2)}).dims.keys() == {"N", "C"}
    with pytest.raises(sl.ShapeError) as caught:
        x.show({"other": 3})
    assert caught.value.kind == "unknown_dim"


# --- reasons ------------------------------------------------------------------------------------


def test_each_requirement_has_a_reason_and_sizes_that_break_it() -> None:
    x = sl.tensor("N, H, W, C", name="x")
    b = sl.dim("b", min=1)
    y = sl.space_to_batch(x, [2, b], [[1, 1], [0, 0]])
    t = sl.reshape(y[:, 1:], (-1, 6))
    reasons = sl.reasons(t)
    assert tuple(r.relation for r in reasons) == t.requires
    assert [r.operation for r in reasons] == ["space_to_batch", "space_to_batch", "reshape"]
    for reason in reasons:
        assert reason.rule
        assert reason.breaks
        with pytest.raises(sl.ShapeError) as caught:
            t.subs(reason.breaks)
        assert caught.value.kind == reason.kind
        assert str(caught.value).startswith(reason.message)
        others = [r.relation for r in reasons if r is not reason]
        values = {symbol: reason.breaks[symbol.name] for r in others for symbol in r.free_symbols}
        assert all(r.subs(values) for r in others)


def test_an_empty_axis_is_what_breaks_a_rule_too() -> None:
    (reason,) = sl.reasons(sl.reshape(sl.tensor("N, C", name="x"), (sl.dim("N"), -1)))
    assert reason.breaks["N"] == 0
    assert reason.message.startswith("reshape: ")


def test_what_requires_nothing_has_no_reasons() -> None:
    assert sl.reasons(sl.transpose(sl.tensor("N, C"))) == ()


def test_dims_without_a_name_are_drawn() -> None:
    drawn = sl.transpose(sl.tensor((None, None), name="x")).show()
    assert "elements moved by a step" in drawn.svg
