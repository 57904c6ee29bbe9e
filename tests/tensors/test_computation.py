"""Operations that compute, declared in coordinates: shape, requirements, kinds of errors, interpreter, pickles."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.algebra.facts import Facts
from symlayout.compute.whole import whole
from symlayout.declare import Fill, Operand
from symlayout.maps.evaluate_bodies import evaluated
from symlayout.tensors.apply_operation import operand_of
from symlayout.tensors.computation import Computed, View, computation, constant
from tests.tensors.depthwise import depthwise, sum_of_products


def test_a_depthwise_convolution_has_its_shape_in_symbols() -> None:
    n, c, h, w, k = sl.dims("n c h w k")
    s, d = sl.dim("s", min=1), sl.dim("d", min=1)
    y = depthwise(sl.tensor((n, c, h, w), name="x"), sl.tensor((c, k, 3), name="w"), s, d)
    assert y.subs({"n": 2, "c": 3, "h": 11, "w": 12, "k": 2, "s": 2, "d": 3}).shape == (2, 3, 4, 3)
    assert len(y.requires) == 2
    assert all(str(r).count("d") for r in y.requires)


def test_a_function_whose_result_has_another_shape_is_inconclusive() -> None:
    """Whoever searches for a witness goes on: this is no error of NumPy's."""
    x = sl.tensor("2, 3", "float32", name="x")
    y = whole("odd", [x], (2, 2), function=lambda a: a, dtype=x.dtype)
    with pytest.raises(sl.InconclusiveError, match="odd has a value here"):
        evaluated([y], {x.key: np.ones((2, 3), np.float32)})


def test_a_kernel_that_is_too_large_is_refused_early_and_late_with_the_same_kind() -> None:
    h, w = sl.tensor("1, 2, h, 9", name="x"), sl.tensor("2, 3, 3", name="w")
    with pytest.raises(sl.ShapeError) as early:
        depthwise(sl.tensor("1, 2, 4, 9", name="x"), w, 1, 2)
    y = depthwise(h, w, 1, 2)
    with pytest.raises(sl.ShapeError) as late:
        y.subs({"h": 4})
    with pytest.raises(sl.ShapeError) as bound:
        sl.interpret(y, np.zeros((1, 2, 4, 9)), np.zeros((2, 3, 3)))
    assert early.value.kind == late.value.kind == bound.value.kind == "infeasible"


def test_other_channels_are_refused_early_and_late() -> None:
    with pytest.raises(sl.ShapeError) as early:
        depthwise(sl.tensor("1, 2, 9, 9", name="x"), sl.tensor("3, 3, 3", name="w"), 1, 1)
    y = depthwise(sl.tensor("1, c, 9, 9", name="x"), sl.tensor("2, 3, 3", name="w"), 1, 1)
    with pytest.raises(sl.ShapeError) as late:
        y.subs({"c": 3})
    assert early.value.kind == late.value.kind == "size_mismatch"


@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (2, 1), (1, 3), (2, 2)])
def test_the_interpreter_computes_what_loops_compute(stride: int, dilation: int) -> None:
    rng = np.random.default_rng(stride)
    a, b = rng.integers(-9, 9, (2, 3, 9, 8)), rng.integers(-9, 9, (3, 3, 2))
    y = depthwise(sl.tensor("n, c, h, w", name="x"), sl.tensor("c, k, l", name="w"), stride, dilation)
    found = sl.interpret(y, a, b)
    expected = np.zeros(found.shape, a.dtype)
    for n, c, i, j in np.ndindex(*found.shape):
        for k, m in np.ndindex(3, 2):
            expected[n, c, i, j] += a[n, c, i * stride + k * dilation, j * stride + m * dilation] * b[c, k, m]
    assert (found == expected).all()


def test_a_large_contraction_is_computed_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def counted(x: Any, w: Any, axes: Any) -> Any:
        seen.append(max(x.size, w.size))
        return (x * w).sum(axes)

    @sl.computation
    def matmul(x: Operand) -> sl.Computed:
        (m, k), (_, n) = x.shapes
        rows = sl.View(lambda i, j, r: (i, r), (k,))
        return sl.Computed((m, n), (rows, sl.View(lambda i, j, r: (r, j), (k,), 1)), sl.Body("dot", counted, over=True))

    monkeypatch.setattr("symlayout.maps.evaluate_bodies.BLOCK", 1000)
    a, b = np.arange(300).reshape(30, 10), np.arange(200).reshape(10, 20)
    found = sl.interpret(matmul(sl.tensor("m, k", name="a"), sl.tensor("k, n", name="b")), a, b)
    assert (found == a @ b).all()
    assert len(seen) > 5
    assert max(seen) <= 1000


def test_a_computed_value_is_moved_and_computed_again() -> None:
    double = sl.Body("double", lambda x: 2 * x)
    x = sl.tensor("n, c", name="x")
    y = sl.compute(double, [sl.flip(sl.compute(double, [sl.transpose(x)], batch=2), 0)], batch=2)
    assert y.shape == sl.transpose(x).shape
    a = np.arange(6).reshape(2, 3)
    assert (sl.interpret(y, a) == 4 * a.T[::-1]).all()


def test_a_computed_value_is_the_same_after_a_pickle() -> None:
    y = depthwise(sl.tensor("n, c, h, w", name="x"), sl.tensor("c, 3, 3", name="w"), 1, 1)
    a, b = np.arange(2 * 36).reshape(1, 2, 6, 6), np.arange(18).reshape(2, 3, 3)
    again = pickle.loads(pickle.dumps(y))
    assert again.shape == y.shape
    assert (sl.interpret(again, a, b) == sl.interpret(y, a, b)).all()


def test_operands_of_other_batches_are_refused() -> None:
    add = sl.Body("add", np.add)
    with pytest.raises(sl.ShapeError) as error:
        sl.compute(add, [sl.tensor("2, 3", name="x"), sl.tensor("2, 4", name="y")], batch=2)
    assert error.value.kind == "size_mismatch"
    with pytest.raises(sl.ShapeError) as error:
        sl.compute(add, [sl.tensor("2, 3", name="x"), sl.tensor("2", name="y")], batch=2)
    assert error.value.kind == "rank"
    y = sl.compute(add, [sl.tensor("n", name="x"), sl.tensor("m", name="y")], batch=1)
    assert len(y.requires) == 1
    with pytest.raises(sl.ShapeError):
        y.subs({"n": 1, "m": 2})


def test_a_value_without_a_function_is_not_evaluated() -> None:
    y = sl.compute(sl.Body("unknown"), [sl.tensor("n", name="x")], batch=1)
    with pytest.raises(sl.InconclusiveError, match="the body of unknown has a function"):
        sl.interpret(y, np.zeros(3))


def test_a_constant_has_its_elements() -> None:
    y = sl.concatenate([sl.tensor("n", dtype="int64", name="x"), constant(np.array([7, 8]))], 0)
    assert sl.interpret(y, np.array([1, 2])).tolist() == [1, 2, 7, 8]
    assert [x.name for x in y.arguments()] == ["x"]


def test_an_axis_that_nothing_depends_on_is_not_written_out() -> None:
    y = sl.broadcast_to(sl.tensor("1, 3", name="x"), (1000, 3))
    z = sl.compute(sl.Body("double", lambda x: 2 * x), [y], batch=2)
    found = evaluated([z], {"x": np.arange(3).reshape(1, 3)})[id(z)]
    assert found.tolist() == [[0, 2, 4]]


def test_what_a_view_fills_is_read_by_the_body() -> None:
    @sl.computation
    def neighbours(x: Operand) -> sl.Computed:
        (n,) = x.shape
        views = (sl.View(lambda i, r: (i + r - 1,), (3,), fill=Fill(0)), sl.View(lambda i, r: (r,), (3,), 1))
        return sl.Computed((n,), views, sum_of_products)

    y = neighbours(sl.tensor("n", name="x"), sl.tensor("3", name="w"))
    assert sl.interpret(y, np.array([1, 2, 3]), np.array([1, 10, 100])).tolist() == [210, 321, 32]


def test_a_kernel_moves_what_is_computed() -> None:
    double = sl.Body("double", lambda x: 2 * x)
    x, w = sl.tensor("n, c", name="x"), sl.constant(np.arange(3.0, dtype="float32"))
    moved = sl.concatenate([sl.transpose(sl.compute(double, [x], batch=2)), sl.reshape(w, (3, 1))], 1)
    kernel = sl.compile(moved, strict=True)
    a = np.arange(6, dtype="float32").reshape(2, 3)
    expected = np.concatenate([2 * a.T, np.arange(3.0)[:, None]], 1)
    assert [leaf.name for leaf in kernel.inputs] == ["x"]
    assert (kernel(a) == expected).all()
    assert (kernel(x=a) == expected).all()
    out = np.empty((3, 3), "float32")
    assert kernel(a, out=out) is out
    assert (out == expected).all()


def test_a_declaration_runs_once_however_many_operands_its_body_reads() -> None:
    runs = []

    @computation
    def weighted(x: Operand) -> Computed:
        runs.append(x.shapes)
        n, k = x.shape
        return Computed((n,), (View(lambda i, r: (i, r), (k,)), View(lambda i, r: (r,), (k,), 1)), sum_of_products)

    y = weighted(sl.tensor("N, K", name="x"), sl.tensor("K", name="w"))
    assert len(runs) == 1
    assert [v.facts is y.facts for v in y.inputs] == [True, True]
    assert sl.interpret(y, np.array([[1.0, 2.0]]), np.array([3.0, 4.0])).tolist() == [11.0]


def test_tensors_share_the_facts_of_the_one_that_has_all_of_them() -> None:
    x, scale, other = sl.tensor("N, C", name="x"), sl.tensor("C", name="s"), sl.tensor("D, C", name="y")
    assert operand_of("joint", [x, scale]).facts is x.facts
    assert operand_of("joint", [scale, x]).facts is x.facts
    assert operand_of("joint", [scale, x, scale]).facts is x.facts
    both = operand_of("joint", [x, other]).facts
    assert both is not x.facts
    assert both.includes(x.facts)
    assert both.includes(other.facts)
    assert operand_of("joint", [scale, other, x]).facts.includes(both)
    assert not x.facts.includes(other.facts)


def test_facts_that_were_joined_for_an_operation_are_its_own_and_take_its_requirements(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, w = sl.tensor("N, C, H, W", name="x"), sl.tensor("M, C, 3, 3", name="w")
    before = list(x.facts.requirements), list(w.facts.requirements)
    forks: list[Facts] = []
    fork = Facts.fork

    def counted(facts: Facts) -> Facts:
        forks.append(facts)
        return fork(facts)

    monkeypatch.setattr(Facts, "fork", counted)
    y = sl.onnx.conv(x, w)
    assert len(forks) == 1
    assert y.shape == sl.onnx.conv(sl.tensor("N, C, H, W", name="x"), sl.tensor("M, D, 3, 3", name="w")).shape
    assert len(y.requires) == 2
    assert (x.facts.requirements, w.facts.requirements) == before
