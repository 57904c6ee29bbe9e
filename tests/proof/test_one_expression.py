"""Two chains of movement are one expression if the same operations read leaves that correspond."""

from __future__ import annotations

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof import compare_computed
from symlayout.proof.cases.one_expression import leaves_of_one_expression, parts_of_one_expression
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


def leaves(left: Tensor, right: Tensor) -> list[tuple[Tensor, Tensor]] | None:
    return leaves_of_one_expression(left, right, {})


def test_computed_leaves_correspond_in_the_order_in_which_they_are_read() -> None:
    x, y = sl.tensor("N, C", name="x"), sl.tensor("M, C", name="y")
    first, second = (relu(x), relu(y)), (relu(x), relu(y))
    assert leaves(joined(*first), joined(*second)) == list(zip(first, second, strict=True))
    assert leaves(joined(*first), joined(*first)) == []
    assert leaves(joined(x, y), joined(x, y)) == []


def test_other_operations_fills_or_leaves_are_another_expression() -> None:
    x, y = sl.tensor("N, C", name="x"), sl.tensor("N, C", name="y")
    left = joined(relu(x), relu(y))
    assert leaves(left, joined(relu(x), relu(y), 1.0)) is None
    assert leaves(left, joined(relu(x), y)) is None
    assert leaves(joined(x, y), joined(y, x)) is None
    assert leaves(left, sl.transpose(relu(x))) is None
    random = sl.Body("noise", lambda x: x, random=True)
    noise = [sl.compute(random, [x], batch=2) for _ in range(2)]
    assert leaves(sl.flip(noise[0]), sl.flip(noise[1])) is None
    assert leaves(sl.flip(noise[0]), sl.flip(noise[0])) == []


def test_constants_are_compared_by_their_bits() -> None:
    numbers = np.arange(6.0).reshape(2, 3)
    one, same, other = sl.constant(numbers), sl.constant(numbers.copy()), sl.constant(-numbers)
    assert leaves(sl.flip(one), sl.flip(same)) == []
    assert leaves(sl.flip(one), sl.flip(other)) is None
    assert leaves(sl.flip(sl.constant(numbers * 0)), sl.flip(sl.constant(-numbers * 0))) is None


def test_an_undetermined_element_equals_no_other() -> None:
    x = sl.tensor("N", name="x")
    assert leaves(moved_on(x), moved_on(x)) is None


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
    found = parts_of_one_expression(pooled(left).inputs[0], pooled(right).inputs[0], {})
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
    assert parts_of_one_expression(sl.flip(x), sl.roll(x, 1, 0), {}) is None
    assert parts_of_one_expression(sl.flip(sl.flip(x)), sl.flip(x[:, :2]), {}) is None
