"""Values are one class if they are built alike, up to the order of their axes; each test has its false neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof import compare_computed
from symlayout.proof.cases.split_cases import CaseDecision
from symlayout.proof.classes import Classes
from symlayout.tensors.apply_operation import operation
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import UNDETERMINED, Declared, Fill, Operand, index_map


@operation
def moved_on(x: Operand) -> Declared:
    return index_map(x.shape, lambda i: (i - 1,), fill=Fill(UNDETERMINED))


RELU = sl.Body("relu", lambda x: np.maximum(x, 0))


def relu(x: Tensor) -> Tensor:
    return sl.compute(RELU, [x], batch=x.rank)


def joined(x: Tensor, y: Tensor, pad: float = 0.0) -> Tensor:
    return sl.transpose(sl.pad(sl.concatenate([x, y], 0), [(1, 0), (0, 2)], constant_values=pad))


def noise(x: Tensor) -> Tensor:
    return sl.compute(sl.Body("noise", lambda x: x, random=True), [x], batch=x.rank)


def are_one(left: Tensor, right: Tensor) -> bool:
    return Classes().are_one(left, right)


def test_operations_of_the_same_leaves_are_one() -> None:
    x, y = sl.tensor("N, C", name="x"), sl.tensor("M, C", name="y")
    assert are_one(joined(relu(x), relu(y)), joined(relu(x), relu(y)))
    assert are_one(joined(x, y), joined(x, y))
    assert not are_one(joined(x, y), joined(y, x))
    assert not are_one(joined(x, y), joined(x, y, 1.0))
    assert not are_one(joined(relu(x), y), joined(x, y))


def test_each_computed_value_that_a_side_reads_has_a_partner() -> None:
    x, y = sl.tensor("N, C", name="x"), sl.tensor("M, C", name="y")
    first, second = (relu(x), relu(y), relu(x)), (relu(x), relu(y))
    left = sl.concatenate([sl.transpose(t) for t in first], 1)
    right = sl.concatenate([sl.transpose(t) for t in (*second, second[0])], 1)
    a, b, again = first
    assert set(Classes().leaves(left, right)) == {(a, second[0]), (b, second[1]), (again, second[0])}
    assert list(Classes().leaves(joined(a, b), joined(a, b))) == []


def test_random_values_are_one_only_with_themselves() -> None:
    x = sl.tensor("N, C", name="x")
    some, other = noise(x), noise(x)
    assert not are_one(sl.flip(some), sl.flip(other))
    assert not are_one(relu(some), relu(other))
    assert are_one(sl.flip(some), sl.flip(some))


def test_constants_are_one_by_their_bits() -> None:
    numbers = np.arange(60.0).reshape(3, 20)
    one, same, other = sl.constant(numbers), sl.constant(numbers.copy()), sl.constant(numbers + (numbers == 59))
    assert are_one(sl.flip(one), sl.flip(same))
    assert not are_one(sl.flip(one), sl.flip(other))
    assert not are_one(sl.flip(sl.constant(numbers * 0)), sl.flip(sl.constant(-numbers * 0)))
    assert not are_one(one, sl.constant(numbers.astype(np.int64).view(np.float64)))
    assert not are_one(sl.constant(numbers.astype(np.float32)), sl.constant(numbers.astype(np.float32).view(np.int32)))


def test_attributes_are_one_by_type_and_bits() -> None:
    x = sl.tensor("N", name="x")

    def scaled(by: object) -> Tensor:
        return sl.compute(sl.Body("scaled", np.multiply, (("by", by),)), [x], batch=1)

    assert are_one(scaled(1.0), scaled(1.0))
    assert are_one(scaled(float("nan")), scaled(float("nan")))
    for one, other in ((0.0, -0.0), (1, True), (1, 1.0)):
        assert not are_one(scaled(one), scaled(other))


def test_an_undetermined_element_equals_no_other() -> None:
    x = sl.tensor("N", name="x")
    assert not are_one(moved_on(x), moved_on(x))
    assert not are_one(relu(moved_on(x)), relu(moved_on(x)))


def test_values_in_two_orders_are_of_one_class() -> None:
    x, w = sl.tensor("N, C, H", name="x"), sl.tensor("C", name="w")
    one, other = relu(sl.onnx.add(x, sl.reshape(w, (w.shape[0], 1)))), sl.transpose(x, (2, 0, 1))
    other = relu(sl.onnx.add(other, sl.reshape(w, (1, w.shape[0]))))
    classes = Classes()
    assert not classes.are_one(one, other)
    assert classes.order_of(sl.pad(one, ((1, 0), (0, 0), (0, 2))), sl.pad(other, ((0, 2), (1, 0), (0, 0)))) is None
    assert classes.order_of(relu(x), relu(sl.transpose(x, (2, 0, 1)))) == (2, 0, 1)
    padded = sl.pad(relu(x), ((1, 0), (0, 0), (0, 2))), sl.pad(relu(sl.transpose(x)), ((0, 2), (0, 0), (1, 0)))
    assert classes.order_of(*padded) == (2, 1, 0)
    assert classes.are_one(padded[0], sl.transpose(padded[1]))


def test_a_reshape_of_a_reshape_is_a_reshape() -> None:
    x = sl.tensor("N, C, H", name="x")
    n, c, h = x.shape
    flat = relu(sl.reshape(x, (n * c, h)))
    assert are_one(sl.reshape(sl.reshape(flat, (h, n, c)), (n * c, h)), flat)
    assert are_one(sl.reshape(sl.reshape(flat, (h, n, c)), (n, c * h)), sl.reshape(flat, (n, c * h)))
    assert are_one(sl.reshape(sl.transpose(sl.transpose(sl.reshape(flat, (n, c, h)))), (n * c, h)), flat)
    assert not are_one(sl.reshape(sl.transpose(sl.reshape(flat, (n, c, h)), (1, 0, 2)), (n * c, h)), flat)
    assert not are_one(sl.reshape(sl.reshape(sl.transpose(flat), (h, n, c)), (n * c, h)), flat)
    assert not are_one(sl.reshape(flat, (c * n, h))[::-1], flat)


def test_what_reads_the_beginning_of_an_axis_is_another_value() -> None:
    x, y = sl.tensor("N, 4", name="x"), sl.tensor("N, 4", name="y")
    assert not are_one(relu(x[:, :3]), relu(x))
    assert not are_one(sl.transpose(x[:, :3]), sl.transpose(x))
    assert not are_one(x[:, :3], x[:, 1:])
    assert not are_one(sl.onnx.add(x, y[:, :1]), sl.onnx.add(x, y))


def test_only_a_symmetric_function_exchanges_its_operands() -> None:
    x, y = sl.tensor("N, C", name="x"), sl.tensor("N, C", name="y")
    assert are_one(sl.onnx.add(x, y), sl.onnx.add(y, x))
    assert not are_one(sl.onnx.sub(x, y), sl.onnx.sub(y, x))
    assert are_one(sl.transpose(sl.onnx.add(sl.transpose(x), sl.transpose(y))), sl.onnx.add(y, x))


def test_a_value_that_a_map_leaves_unchanged_is_not_its_operand_moved() -> None:
    """``x + transpose(x)`` is its own transpose; a false neighbour is ``x - transpose(x)``."""
    x = sl.tensor("N, N", name="x")
    for function, verdict in ((sl.onnx.add, sl.Verdict.PROVED), (sl.onnx.sub, sl.Verdict.REFUTED)):
        value = function(x, sl.transpose(x))
        assert sl.prove_equal(value, sl.transpose(value)).verdict is verdict
        assert sl.prove_equal(relu(value), sl.transpose(relu(value))).verdict is verdict
    assert sl.prove_equal(relu(x), sl.transpose(relu(x))).verdict is sl.Verdict.REFUTED


@pytest.mark.parametrize("shape", ["0, C", "1, C", "1, 1", "N, 1"])
def test_boxes_without_elements_or_with_one_are_decided_by_facts(shape: str) -> None:
    x = sl.tensor(shape, name="x")
    n, c = x.shape
    left, right = relu(sl.reshape(x, (c, n))), relu(sl.transpose(x))
    assert sl.prove_equal(left, right).verdict is sl.Verdict.PROVED
    assert sl.prove_equal(sl.transpose(left), relu(x)).verdict is sl.Verdict.PROVED


def steps(number: int) -> tuple[Tensor, Tensor]:
    """Return (transpose, add, transpose, relu) many times, and (add, relu) as often."""
    x = sl.tensor("N, C", name="x")
    left = right = x
    for k in range(number):
        w = sl.tensor("N, C", name=f"w{k}")
        left = sl.onnx.relu(sl.transpose(sl.onnx.add(sl.transpose(w), sl.transpose(left))))
        right = sl.onnx.relu(sl.onnx.add(right, w))
    return left, right


def test_many_steps_in_another_layout_need_no_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    decided: list[CaseDecision] = []
    decide = CaseDecision.decide

    def noted(decision: CaseDecision, *args: Any, **kwargs: Any) -> Any:
        decided.append(decision)
        return decide(decision, *args, **kwargs)

    monkeypatch.setattr(CaseDecision, "decide", noted)
    for number in (1, 10, 60):
        left, right = steps(number)
        proof = sl.prove_equal(left, right)
        assert proof.verdict is sl.Verdict.PROVED
        assert proof.known is not None
        assert len(proof.known.known) == 2 * number
        assert all(why is not None and why.swapped == (why.a.name == "Add") for why in proof.known.known.values())
    assert decided == []
    assert sl.prove_equal(steps(5)[0], steps(4)[1]).verdict is sl.Verdict.REFUTED


def test_what_the_table_shows_has_a_certificate() -> None:
    left, right = steps(3)
    proof = sl.prove_equal(left, right)
    assert proof.certificate is not None
    assert sl.check(proof.certificate, before=left, after=right)
    assert not sl.check(proof.certificate, before=left, after=sl.transpose(steps(3)[1]))


def test_deep_graphs_enter_without_recursion() -> None:
    x = sl.tensor("N, C", name="x")
    left = right = x
    for _ in range(3000):
        left, right = sl.transpose(relu(left)), relu(sl.transpose(right))
    assert are_one(left, right)
    assert not are_one(left, sl.transpose(right))


def image_of_grid(x: Tensor, way: str) -> Tensor:
    """Return (N, 16, 4, C), windows of a grid, as an image (N, C, 8, 8), spelled in one of several ways."""
    if way == "swapped":  # as torchvision's MaxViT writes it
        t = sl.reshape(sl.transpose(x, (0, 2, 1, 3)), (x.shape[0], 2, 2, 4, 4, x.shape[3]))
        return sl.reshape(sl.transpose(t, (0, 5, 1, 3, 2, 4)), (x.shape[0], x.shape[3], 8, 8))
    t = sl.reshape(x, (x.shape[0], 4, 4, 2, 2, x.shape[3]))
    order = {"at once": (0, 5, 3, 1, 4, 2), "turned": (0, 5, 4, 1, 3, 2)}[way]
    return sl.reshape(sl.transpose(t, order), (x.shape[0], x.shape[3], 8, 8))


def pooled(x: Tensor) -> Tensor:
    made: Tensor = sl.onnx.average_pool(x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    return made


@pytest.mark.slow
@pytest.mark.parametrize("share", [40, 10**9])
def test_values_of_one_function_of_equal_parts_are_equal(share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a share of no goals, only the parts are compared."""
    monkeypatch.setattr(compare_computed, "_PART_SHARE", share)
    x = relu(sl.tensor("N, 16, 4, C", name="x"))
    left, right, wrong = (image_of_grid(x, way) for way in ("swapped", "at once", "turned"))
    found = Classes().parts(pooled(left).inputs[0], pooled(right).inputs[0])
    assert found is not None
    assert [len(pairs) for pairs in found] == [0, 1]
    assert sl.prove_equal(pooled(left), pooled(right)).verdict is sl.Verdict.PROVED
    assert sl.prove_equal(relu(pooled(left)), relu(pooled(right))).verdict is sl.Verdict.PROVED
    assert sl.prove_equal(pooled(left), pooled(wrong)).verdict is sl.Verdict.REFUTED


@pytest.mark.parametrize("share", [40, 10**9])
def test_parts_may_differ_where_they_are_not_read(share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_computed, "_PART_SHARE", share)
    x = relu(sl.tensor("N, 4", name="x"))
    left, right = (relu(sl.pad(x, ((0, 0), (0, 1)), constant_values=c)[:, :4]) for c in (0.0, 1.0))
    assert sl.prove_equal(left, right).verdict is sl.Verdict.PROVED
    left, right = (relu(sl.pad(x, ((0, 0), (0, 1)), constant_values=c)[:, 1:]) for c in (0.0, 1.0))
    assert sl.prove_equal(left, right).verdict is sl.Verdict.REFUTED


def test_operations_that_part_at_once_have_no_parts() -> None:
    x = sl.tensor("N, 4", name="x")
    assert Classes().parts(sl.flip(x), sl.roll(x, 1, 0)) is None
    assert Classes().parts(sl.flip(sl.flip(x)), sl.flip(x[:, :2])) is None
