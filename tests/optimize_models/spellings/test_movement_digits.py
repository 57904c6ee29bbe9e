"""The digits of a movement are found at examples; reshapes between groups of digits have targets for all sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.optimize_models.spellings.movement_digits import affine, digits_of, examples
from symlayout.optimize_models.spellings.reshape_steps import COMPUTED, Groups, added_ones, computed_shape, reshapes

N, C, H, W = sl.dims("N C H W")


def extents(y: sl.Tensor) -> list[tuple[Any, int, int]] | None:
    (x,) = y.leaves()
    found = digits_of(examples(y), x.shape, y.shape)
    return None if found is None else [(d.extent, d.source, d.step) for d in found.digits]


def test_space_to_depth_has_six_digits() -> None:
    y = sl.space_to_depth(sl.tensor((N, C, H, W), name="x"), 2)
    assert extents(y) == [
        (N, 0, 1), (2, 2, 1), (2, 3, 1), (C, 1, 1), (H / 2, 2, 2), (W / 2, 3, 2)
    ]  # fmt: skip


def test_slices_that_are_stacked_have_the_digits_of_their_map() -> None:
    x = sl.tensor((N, H), name="x")
    assert extents(sl.stack([x[:, 0::2], x[:, 1::2]], 1)) == [(N, 0, 1), (2, 1, 1), (H / 2, 1, 2)]


def test_a_repeated_element_has_a_digit_without_a_source() -> None:
    x = sl.tensor((N, 3), name="x")
    assert extents(sl.repeat(x, 2, 1)) == [(N, 0, 1), (3, 1, 1), (2, -1, 0)]
    assert extents(sl.flip(x, 1)) == [(N, 0, 1), (3, 1, -1)]


def test_quotients_that_round_up_have_other_sizes_in_the_second_example() -> None:
    x = sl.tensor((N, 2, 8, -(-H // 4), -(-W // 4)), name="x")
    n, _, _, height, width = x.shape
    y = sl.reshape(sl.transpose(x, [0, 2, 1, 3, 4]), (n, 16, height, width))
    assert len(examples(y)) == 2
    assert extents(y) == [(n, 0, 1), (8, 2, 1), (2, 1, 1), (height, 3, 1), (width, 4, 1)]


def test_a_roll_and_a_pad_have_no_digits() -> None:
    x = sl.tensor((N, 4), name="x")
    assert extents(sl.roll(x, 1, 1)) is None
    assert examples(sl.pad(x, [(1, 0), (0, 0)])) == []


@pytest.mark.parametrize("fill", [1, -2.5, float("nan")])
def test_a_fill_is_no_read_whatever_its_value(fill: float) -> None:
    assert examples(sl.pad(sl.tensor((N, 4), name="x"), [(1, 0), (0, 0)], constant_values=fill)) == []


@pytest.mark.parametrize("seed", range(20))
def test_reads_are_sums_over_their_digits(seed: int) -> None:
    random = np.random.default_rng(seed)
    shape = random.integers(2, 5, size=4)
    reads = np.arange(shape.prod()).reshape(shape).transpose(random.permutation(4)).ravel()
    runs = affine(reads)
    assert runs is not None
    made = np.zeros(1, int)
    for n, stride in runs:
        made = (np.arange(n)[:, None] * stride + made).ravel()
    np.testing.assert_array_equal(made, reads)
    reads[[0, 1]] = reads[[1, 0]]
    assert affine(reads) is None


@pytest.mark.parametrize(
    ("sizes", "before", "after", "known", "ops"),
    [
        ((N, C, H, W), ((0,), (1,), (2, 3)), ((0,), (1, 2), (3,)), None, None),
        ((N, H / 2, 2, W), ((0,), (1, 2), (3,)), ((0,), (1,), (2,), (3,)), None, ["Reshape", "Reshape"]),
        ((N, H / 2, 2, W), ((0,), (1, 2), (3,)), ((0,), (1,), (2,), (3,)), (N, H, W), [COMPUTED]),
        ((N, 2, 3), ((0,), (1, 2)), ((0,), (1,), (2,)), (), ["Reshape"]),
        ((N, C), ((0,), (1,)), ((0,), (), (1,), ()), (), ["Unsqueeze"]),
        ((N, C), ((), (0,), (1,)), ((0,), (1,)), (), ["Squeeze"]),
        ((N, C), ((0,), (1,)), ((0,), (1,)), (), []),
    ],
)
def test_reshapes_take_few_nodes(
    sizes: tuple[Any, ...], before: Groups, after: Groups, known: tuple[Any, ...] | None, ops: list[str] | None
) -> None:
    found = reshapes(sizes, before, after, known)
    assert (None if found is None else [op for op, _ in found]) == ops


def test_extents_are_computed_from_known_ones() -> None:
    parts = computed_shape((N * C, 4, H), (N, 4 * C, 2, H), (N, C, H))
    assert parts is not None
    assert [(p.axes, p.times, p.by) for p in parts] == [((0,), 1, 1), ((1,), 4, 1), ((), 2, 1), ((2,), 1, 1)]
    assert computed_shape((N,), (N + 1,), (N,)) is None
    assert added_ones((N, C), (1, N, C, 1)) == [0, 3]
    assert added_ones((N, C), (N, C)) is None
