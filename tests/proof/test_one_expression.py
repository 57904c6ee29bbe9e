"""Two chains of movement are one expression if the same operations read leaves that correspond."""

from __future__ import annotations

import numpy as np

import symlayout as sl
from symlayout.proof.one_expression import leaves_of_one_expression
from symlayout.tensors.chain import Tensor, operation
from symlayout.tensors.declaration import UNDETERMINED, Declared, Fill, Operand, index_map

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
    @operation
    def moved_on(x: Operand) -> Declared:
        return index_map(x.shape, lambda i: (i - 1,), fill=Fill(UNDETERMINED))

    x = sl.tensor("N", name="x")
    assert leaves(moved_on(x), moved_on(x)) is None
