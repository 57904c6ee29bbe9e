"""What is proved with symbols is proved with numbers in the place of any of them, in about as many goals."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from math import prod
from typing import Any

import pytest

import symlayout as sl
from symlayout.proof.certificate.checker import seal
from symlayout.tensors.declaration import Declared, Operand, index_map
from tests.proof.test_claims import build
from tests.support import claim as corpus
from tests.support.bound_claims import faults

PROVED = sl.Verdict.PROVED


@pytest.fixture
def halves_apart() -> tuple[sl.Tensor, sl.Tensor]:
    """Return a tensor, and one that has the even columns of each row of it before the odd ones."""
    n = sl.dim("n")
    x = sl.tensor((n, 20, 40), name="x")
    return x, sl.reshape(sl.transpose(sl.reshape(x, (n, 20, 20, 2)), (0, 3, 1, 2)), (n, 40, 20))


def test_a_map_of_constants_is_undone_by_its_inverse(halves_apart: tuple[sl.Tensor, sl.Tensor]) -> None:
    x, y = halves_apart
    n = x.shape[0]
    back = sl.reshape(sl.transpose(sl.reshape(y, (n, 2, 20, 20)), (0, 2, 3, 1)), (n, 20, 40))
    proof = sl.prove_equal(back, x)
    assert proof.verdict is PROVED
    assert proof.searched == 0  # by the normal form alone
    assert sl.check(proof.certificate)
    assert sl.inverse(y).holds == "both"


def test_a_map_of_constants_prints_quotients_and_remainders(halves_apart: tuple[sl.Tensor, sl.Tensor]) -> None:
    assert str(halves_apart[1].index_map) == "(i0, i1, i2) -> (i0, i1 % 20, i1//20 + 2*i2)"


def test_a_map_whose_radices_do_not_line_up_prints_whole_coordinates() -> None:
    x = sl.tensor((12, 8), name="x")
    assert (
        str(sl.reshape(x, (8, 12)).index_map) == "(i0, i1) -> (i0 + (i0 + i1//4)//2, 4*((i0 + i1//4) % 2) + (i1 % 4))"
    )
    assert str(sl.resize_nearest(x, (18, 8), axes=(0, 1)).index_map) == "(i0, i1) -> (2*i0//3, i1)"


def test_space_to_depth_of_constants_is_a_reshape_of_a_transpose() -> None:
    n = sl.dim("n")
    x = sl.tensor((n, 3, 4, 6), name="x")
    y = sl.reshape(sl.transpose(sl.reshape(x, (n, 3, 2, 2, 3, 2)), (0, 3, 5, 1, 2, 4)), (n, 12, 2, 3))
    proof = sl.prove_equal(y, sl.space_to_depth(x, 2))
    assert (proof.verdict, proof.searched) == (PROVED, 0)
    assert sl.check(proof.certificate)


@pytest.mark.sample(47)
@pytest.mark.parametrize(
    "claim", random.Random(5).sample(corpus.load(), 90), ids=str
)  # all: python -m tests.support.bound_claims
def test_a_claim_has_its_verdict_with_numbers_too(claim: corpus.Claim) -> None:
    assert [line for line, is_fault in faults(claim, random.Random(claim.name), 1) if is_fault] == []


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("focus: Focus undone by depth_to_space on the transposed image", {"C": 4, "w": 6}),
        ("pad: edge pads add up", {"N": 2, "q": 12, "r": 24, "s": 7}),
        ("pad: symmetric pads by one are edge pads", {"H": 7}),
    ],
)
def test_numbers_take_few_goals_more_than_symbols(name: str, values: dict[str, int]) -> None:
    left, right = build(next(claim for claim in corpus.load() if str(claim) == name))
    goals, bound = sl.prove_equal(left, right)._facts.effort, sl.prove_equal(left.bind(values), right.bind(values))
    assert bound.verdict is PROVED
    assert bound._facts.effort <= 3 * goals


# ---------------------------------------------------------------------- chains of reshapes and transposes


def there_and_back(rnd: random.Random, sizes: tuple[int, ...]) -> tuple[sl.Tensor, sl.Tensor]:
    """Return a tensor ``(n, ...)`` after random reshapes and transposes and all of them undone, and the tensor."""
    n = sl.dim("n")
    x = sl.tensor((n, *(rnd.choice(sizes) for _ in range(rnd.randint(1, 3)))), name="x")
    undo: list[Callable[[sl.Tensor], sl.Tensor]] = []
    y = x
    for _ in range(rnd.randint(2, 7)):
        shape = y.shape
        if shape[0] != n or rnd.random() < 0.5:
            order = rnd.sample(range(len(shape)), len(shape))
            undo.append(partial(sl.transpose, axes=[order.index(k) for k in range(len(order))]))
            y = sl.transpose(y, order)
        else:
            left, new = prod(shape[1:]), []
            for _ in range(2):
                new.append(rnd.choice([d for d in range(1, left + 1) if left % d == 0]))
                left //= new[-1]
            undo.append(partial(sl.reshape, shape=shape))
            y = sl.reshape(y, (n, *new, left))
    for step in reversed(undo):
        y = step(y)
    return y, x


@pytest.mark.sample(10)
@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("sizes", [(2, 3, 4, 6, 8, 12, 24), (4, 6, 8, 9, 10, 12, 15)], ids=["aligned", "unaligned"])
def test_reshapes_and_transposes_of_constants_are_undone(sizes: tuple[int, ...], seed: int) -> None:
    proof = sl.prove_equal(*there_and_back(random.Random(seed), sizes), budget=20)
    assert proof.verdict is PROVED, str(proof)
    assert sl.check(proof.certificate)


def steps_of(block: Any) -> Iterator[list[Any]]:
    """Yield the steps of a proof."""
    yield from block["steps"]
    for end in ("split", "masked"):
        for branch in block.get(end, ()):
            yield from steps_of(branch) if isinstance(branch, dict) else ()


def test_a_certificate_has_all_points_of_a_box_and_the_checker_looks_at_them() -> None:
    proof = sl.prove_equal(*there_and_back(random.Random(29), (4, 6, 8, 9, 10, 12, 15)))
    certificate = proof.certificate
    assert certificate is not None
    assert sl.check(certificate)
    blocks = [*certificate["proof"]["maps"], certificate["proof"]["sides"]]
    step = next(step for block in blocks for step in steps_of(block) if step[0] == "points")
    goal, digits, floors, facts = step[1:]
    name, low, high = digits[0]
    for altered in (
        [[[-1, name]], digits, floors, facts],  # a goal that fails at most points
        [goal, [[name, low, high - 1], *digits[1:]], floors, facts],  # a box that is too small
        [goal, [[name, low, 10**9], *digits[1:]], floors, facts],  # one that is too large
        [goal, digits[1:], floors, facts],  # a digit that is not looked at
        [goal, digits, [], facts],  # a floor without its definition
        [goal, digits, floors, [[[-1, name], low - 1]]],  # a fact that is not known, and excludes all points
    ):
        step[1:] = altered
        certificate["seal"] = seal(certificate)
        assert not sl.check(certificate)
    step[1:] = [goal, digits, floors, facts]
    certificate["seal"] = seal(certificate)
    assert sl.check(certificate)


# ---------------------------------------------------------------------- digits with few values


def declared(x: sl.Tensor, coords: Callable[..., Any], *shape: Any) -> sl.Tensor:
    """Return a tensor that reads *x* at ``coords(i, j, ...)``."""

    @sl.operation
    def read(x: Operand, *extents: Any) -> Declared:
        return index_map(tuple(x.extent(e) for e in extents), coords)

    return read(x, *shape)


def swizzle(i: Any, j: Any) -> Any:
    """Return the exclusive or of *j* and the last three bits of *i*."""
    return sum(2**b * ((i // 2**b + j // 2**b) % 2) for b in range(3))


@pytest.mark.parametrize("rows", [8, 64, 8 * sl.dim("n"), sl.dim("n")], ids=str)
def test_a_swizzle_undoes_itself(rows: Any) -> None:
    x = sl.tensor((rows, 8), name="x")
    once = declared(x, lambda i, j: (i, swizzle(i, j)), rows, 8)
    twice = declared(once, lambda i, j: (i, swizzle(i, j)), rows, 8)
    proof = sl.prove_equal(twice, x)
    assert proof.verdict is PROVED
    assert sl.check(proof.certificate)


def test_a_quotient_of_digits_that_line_up_with_no_radix() -> None:
    n = sl.dim("n")
    x = sl.tensor((n, 3), name="x")
    left = declared(x, lambda i, j: (i, (3 * (j % 6) + j // 6) // 6), n, 18)
    right = declared(x, lambda i, j: (i, j % 6 // 2), n, 18)
    assert sl.prove_equal(left, right).verdict is PROVED


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3])
def test_the_parts_of_array_split_are_the_whole(count: int) -> None:
    """Their extents are ``n//3``, ``(n + 1)//3`` and ``(n + 2)//3``: what they add up to is a matter of ``n % 3``."""
    n = sl.dim("n")
    x = sl.tensor((n, sl.dim("C")), name="x")
    proof = sl.prove_equal(sl.concatenate(sl.array_split(x, count), 0), x)
    assert proof.verdict is PROVED
    assert sl.check(proof.certificate)


def test_a_roll_is_two_slices_on_each_axis() -> None:
    n, h, w, c = sl.dims("n h w c")
    x = sl.tensor((n, 7 * h, 7 * w, c), name="x")
    y = sl.concatenate([x[:, 3:], x[:, :3]], 1)
    y = sl.concatenate([y[:, :, 3:], y[:, :, :3]], 2)
    assert sl.prove_equal(sl.roll(x, (-3, -3), (1, 2)), y).verdict is PROVED


def test_interior_pads_of_one_element_each_are_one_of_three() -> None:
    def spread(t: sl.Tensor, zeros: int) -> sl.Tensor:
        return sl.reshape(sl.pad(sl.expand_dims(t, 1), {1: (0, zeros)}), (-1,))

    x = sl.tensor((sl.dim("n"),), name="x")
    assert sl.prove_equal(spread(spread(x, 1), 1), spread(x, 3)).verdict is PROVED
