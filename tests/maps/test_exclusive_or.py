"""``i ^ j`` in maps: values beside Python's, proofs beside enumeration, and the errors of sides without bounds."""

from __future__ import annotations

import itertools
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

import symlayout as sl
from symlayout.declare import Case, Declared, Fill, Operand, index_map
from symlayout.language.index_expressions import xor

PROVED, REFUTED = sl.Verdict.PROVED, sl.Verdict.REFUTED
Function = Callable[..., Any]
SHAPE = (8, 5)
SIZE = 16


def random_map(rng: random.Random, depth: int = 3) -> Function:
    """Return a random function of two indices, written with Python's operators; its value has any sign."""
    if depth == 0 or rng.random() < 0.1:
        c = rng.randrange(-9, 20)
        return rng.choice([lambda i, j: i, lambda i, j: j, lambda i, j: c])
    a, b = random_map(rng, depth - 1), random_map(rng, depth - 1)
    k = rng.choice([1, 2, 3, 4, 6, 8])
    made: list[Function] = [
        lambda i, j: a(i, j) + b(i, j),
        lambda i, j: a(i, j) - b(i, j),
        lambda i, j: k * a(i, j),
        lambda i, j: a(i, j) // k,
        lambda i, j: a(i, j) % k,
        lambda i, j: a(i, j) ^ b(i, j) % 8,
        lambda i, j: a(i, j) % 4 ^ b(i, j),
        lambda i, j: a(i, j) ^ k,
        lambda i, j: a(i, j) ^ -k,
    ]
    return rng.choice(made)


def enumerated(f: Function) -> list[int]:
    """Return what the map reads at each coordinate, in row-major order."""
    return [f(i, j) % SIZE for i, j in itertools.product(*map(range, SHAPE))]


def mapped(f: Function) -> sl.Tensor:
    return sl.index_map(sl.tensor((SIZE,), name="x", dtype="int64"), SHAPE, lambda i, j: f(i, j) % SIZE)


def values_match(seed: int) -> None:
    f = random_map(random.Random(seed))
    assert sl.interpret(mapped(f), np.arange(SIZE)).ravel().tolist() == enumerated(f), seed


@pytest.mark.parametrize("seeds", [range(k, k + 25) for k in range(0, 200, 25)], ids=str)
def test_random_maps_read_what_python_reads(seeds: range) -> None:
    for seed in seeds:
        values_match(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(k, k + 1000) for k in range(1000, 11_000, 1000)], ids=str)
def test_ten_thousand_random_maps_read_what_python_reads(seeds: range) -> None:
    for seed in seeds:
        values_match(seed)


@pytest.mark.parametrize("seed", range(12))
def test_kernels_of_random_maps_read_what_python_reads(seed: int) -> None:
    f = random_map(random.Random(f"kernel {seed}"))
    assert sl.compile(mapped(f), strict=True)(np.arange(SIZE)).ravel().tolist() == enumerated(f)


@pytest.mark.parametrize("seeds", [range(k, k + 10) for k in range(0, 40, 10)], ids=str)
def test_verdicts_about_random_maps_are_those_of_enumeration(seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(f"pair {seed}")
        f, g = random_map(rng), random_map(rng)
        m = rng.randrange(16)
        twice: list[Function] = [lambda i, j, f=f, m=m: f(i, j) ^ m ^ m, lambda i, j, f=f: -1 ^ (-1 ^ f(i, j))]
        for left, right in ((f, g), *((f, h) for h in twice)):
            proof = sl.prove_equal(mapped(left), mapped(right))
            is_equal = enumerated(left) == enumerated(right)
            assert proof.verdict is (PROVED if is_equal else REFUTED), (seed, proof)


EQUAL: dict[str, tuple[Function, Function]] = {
    "twice": (lambda i, j: (i ^ j) ^ j, lambda i, j: i),
    "of itself": (lambda i, j: i ^ i, lambda i, j: 0 * i),
    "either order": (lambda i, j: i ^ j, lambda i, j: j ^ i),
    "all bits of one": (lambda i, j: i ^ 7, lambda i, j: 7 - i),
    "of a constant": (lambda i, j: i ^ j ^ 5, lambda i, j: 5 ^ i ^ j),
    "grouped": (lambda i, j: (i ^ 3) ^ (j ^ 6), lambda i, j: (i ^ j) ^ 5),
    "of quotients": (lambda i, j: (i // 2) ^ (j // 2), lambda i, j: (i ^ j) // 2),
    "of remainders": (lambda i, j: (i % 4) ^ (j % 4), lambda i, j: (i ^ j) % 4),
    "of the complement": (lambda i, j: -1 - (i ^ (-1 - j)), lambda i, j: i ^ j),
    "carry free sum": (lambda i, j: (i // 4 * 4) ^ (j % 4), lambda i, j: i // 4 * 4 + j % 4),
}


@pytest.mark.parametrize("name", EQUAL)
def test_the_laws_of_the_exclusive_or_are_proved(name: str) -> None:
    left, right = EQUAL[name]
    x = sl.tensor((8, 8), name="x")
    sides = [sl.index_map(x, (8, 8), lambda i, j, f=f: (f(i, j), j)) for f in (left, right)]
    proof = sl.prove_equal(*sides)
    assert proof.verdict is PROVED
    assert sl.check(proof.certificate)


def test_one_bit_less_is_refuted_at_a_witness() -> None:
    x = sl.tensor("8, 8", name="x")
    proof = sl.prove_equal(
        sl.index_map(x, (8, 8), lambda i, j: (i ^ j, j)), sl.index_map(x, (8, 8), lambda i, j: (i ^ j % 4, j))
    )
    assert proof.verdict is REFUTED
    assert proof.witness is not None


def test_a_swizzle_of_rows_is_its_own_inverse_for_all_sizes() -> None:
    n = sl.dim("N", min=1)
    x = sl.tensor((n, 64), name="x")

    def swizzled(t: sl.Tensor) -> sl.Tensor:
        return sl.index_map(t, (n, 64), lambda i, j: (i, j ^ 8 * (i % 8)))

    assert sl.prove_equal(swizzled(swizzled(x)), x).verdict is PROVED
    assert sl.prove_equal(sl.inverse(swizzled(x))(x), swizzled(x)).verdict is PROVED
    found = sl.inverse(swizzled(x))
    assert sl.prove_equal(found(swizzled(x)), x).verdict is PROVED
    assert found.left.verdict is found.right.verdict is PROVED


def test_the_operator_is_the_swizzle_of_layouts() -> None:
    n = sl.dim("N", min=1)
    x = sl.tensor((512 * n,), name="x")
    by_operator = sl.index_map(x, (512 * n,), lambda i: i ^ i // 64 % 8 * 8)
    assert sl.prove_equal(by_operator, sl.swizzle(3, 3, 3).composition(sl.layout((512 * n,))).view(x)).verdict is PROVED


def test_numbers_in_a_chain_of_operators_are_one() -> None:
    """The rows do not come in whole blocks, so that the bits of their numbers are no digits."""
    x = sl.tensor((16,), name="x")
    rows = sl.dim("N")
    sides = [sl.index_map(x, (rows,), f) for f in (lambda i: (i ^ 3) % 16, lambda i: ((i ^ 6) ^ 5) % 16)]
    assert sl.prove_equal(*sides).verdict is PROVED
    twice = sl.index_map(x, (rows, rows), lambda i, j: (i ^ j ^ 5 ^ j) % 16)  # each of the three may be of any size
    assert sl.prove_equal(twice, sl.index_map(x, (rows, rows), lambda i, j: (i ^ 5) % 16)).verdict is PROVED


def test_a_declaration_uses_the_operator() -> None:
    @sl.operation
    def swizzled_rows(x: Operand) -> Declared:
        """Return the rows with their columns in another order."""
        rows, columns = x.shape
        return index_map((rows, columns), lambda i, j: (i, j ^ i % 8))

    x = sl.tensor("N, 8", name="x")
    y = swizzled_rows(x)
    assert sl.prove_equal(swizzled_rows(y), x).verdict is PROVED
    a = np.arange(80).reshape(10, 8)
    want = [[a[i, j ^ i % 8] for j in range(8)] for i in range(10)]
    assert sl.interpret(y, a).tolist() == want
    assert sl.compile(y, strict=True)(a).tolist() == want


def test_the_windows_of_a_declaration_use_the_operator() -> None:
    @sl.operation
    def of_one_parity(x: Operand) -> Declared:
        """Return the elements whose indices have one parity, and 7 elsewhere."""
        same = Case(lambda i, j: (i, j), where=lambda i, j: [(i % 2 ^ j % 2, 1)])
        other = Case(lambda i, j: (-1, -1), where=lambda i, j: [((i ^ j ^ 1) % 2, 1)], fill=Fill(7))
        return Declared(x.shape, (same, other))

    a = np.arange(24).reshape(4, 6)
    y = of_one_parity(sl.tensor("4, 6", name="x"))
    assert sl.interpret(y, a).tolist() == [[a[i, j] if i % 2 == j % 2 else 7 for j in range(6)] for i in range(4)]


@pytest.mark.parametrize("extent", [5, 8, 12])
def test_a_bound_that_is_no_power_of_two_has_the_bits_of_its_largest_index(extent: int) -> None:
    x = sl.tensor((16, 16), name="x")
    y = sl.index_map(x, (extent, 16), lambda i, j: (i ^ j, j))
    a = np.arange(256).reshape(16, 16)
    want = [[a[i ^ j, j] for j in range(16)] for i in range(extent)]
    assert sl.interpret(y, a).tolist() == want
    assert sl.compile(y, strict=True)(a).tolist() == want


def test_a_bounded_dim_is_a_side() -> None:
    k = sl.dim("k", max=7)
    x = sl.tensor((8,), name="x")
    y = sl.index_map(x, (8,), lambda i: i ^ k)
    assert sl.interpret(y, np.arange(8), dims={k: 5}).tolist() == [i ^ 5 for i in range(8)]
    assert sl.prove_equal(sl.index_map(y, (8,), lambda i: k ^ i), x).verdict is PROVED


def test_pieces_and_conditions_may_have_the_operator() -> None:
    x = sl.tensor((8,), name="x")
    y = sl.index_map(x, (8, 8), lambda i, j: (sympy.Min(i ^ j, 5),), where=lambda i, j: (i ^ j) < 7, fill=-1)
    want = [[min(i ^ j, 5) if i ^ j < 7 else -1 for j in range(8)] for i in range(8)]
    assert sl.interpret(y, np.arange(8)).tolist() == want


def test_maps_in_sympy_have_a_function() -> None:
    i, j = sympy.symbols("i j", integer=True)
    x = sl.tensor((8, 8), name="x")
    by_function = sl.from_sympy(x, (8, 8), (i, j), (i, 2 * (xor(i // 2, j // 2)) + j % 2))
    by_operator = sl.index_map(x, (8, 8), lambda i, j: (i, 2 * (i // 2 ^ j // 2) + j % 2))
    assert sl.prove_equal(by_function, by_operator).verdict is PROVED
    logical = sl.from_sympy(x, (8, 8), (i, j), (i, i ^ j))  # SymPy's Xor of symbols
    assert sl.prove_equal(logical, sl.index_map(x, (8, 8), lambda i, j: (i, j ^ i))).verdict is PROVED
    assert xor(5, np.int64(3)) == 6
    assert xor(i, 0) == i
    assert xor(i, i) == 0
    assert xor(i, j) == xor(j, i)


def test_a_map_with_the_operator_is_pickled() -> None:
    x = sl.tensor((8, 8), name="x")
    y = sl.index_map(x, (8, 8), lambda i, j: (i, i ^ j))
    assert sl.prove_equal(pickle.loads(pickle.dumps(y)), y).verdict is PROVED


def test_where_elements_go_may_be_said_by_the_operator() -> None:
    x = sl.tensor((8, 8), name="x")
    y = sl.transform_layout(x, lambda i, j: (i, i ^ j))
    assert y.shape == (8, 8)
    assert sl.prove_equal(y, sl.index_map(x, (8, 8), lambda i, j: (i, i ^ j))).verdict is PROVED


@pytest.mark.parametrize(
    "f",
    [lambda i, j: (i ^ j, 0), lambda i, j: (j - 3 ^ i, 0), lambda i, j: (i ^ i - 2**50, 0)],
    ids=["two indices", "a difference", "a large number"],
)
def test_sides_without_a_bound_are_refused_with_the_remedy(f: Function) -> None:
    x = sl.tensor("N, M", name="x")
    with pytest.raises(sl.ShapeError, match=r"help: i \^ j % 2\*\*k takes k bits of j") as caught:
        sl.index_map(x, sl.dims("N M"), f)
    assert caught.value.kind == "unbounded"

    @sl.operation
    def declared(x: Operand) -> Declared:
        """Return a map with an exclusive or of sides that are not bounded."""
        return index_map(x.shape, f)

    with pytest.raises(sl.ShapeError) as caught:
        declared(x)
    assert caught.value.kind == "unbounded"


@pytest.mark.parametrize("k", [2, 3, 6])
def test_remainders_of_multiples_of_remainders_are_not_simplified_wrongly(k: int) -> None:
    """SymPy 1.14 has ``k*Mod(i, 4)`` for ``Mod(k*Mod(i, 4), 4)``, if 4 does not divide k."""
    x = sl.tensor((16,), name="x")
    want = [k * (i % 4) % 4 + min(k * (i % 4), 5) % 4 for i in range(8)]
    y = sl.index_map(x, (8,), lambda i: k * (i % 4) % 4 + sympy.Min(k * (i % 4), 5) % 4)
    assert sl.interpret(y, np.arange(16)).tolist() == want
    n = sl.dim("N")
    assert sl.tensor(f"{k}*(N%4)%4, N").subs({n: 3}).shape == (3 * k % 4, 3)


def test_what_is_no_integer_is_refused() -> None:
    x = sl.tensor("8, 8", name="x")
    with pytest.raises(sl.FormatError):
        sl.index_map(x, (8, 8), lambda i, j: (i ^ "j", j))
    with pytest.raises(sl.FormatError):
        xor(1.5, 2)
