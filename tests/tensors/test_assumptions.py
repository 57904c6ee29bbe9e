"""Assumptions mean what their text says: what is required, bounded and proved under them is checked by enumeration."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from sympy import And, Eq, Max, Min, Mod, Ne, Or, ceiling, floor

import symlayout as sl
from symlayout.tensors.assumptions import assume

H, W, N = sl.dims("H W N")
B = sl.dim("b", min=1)
X = sl.tensor((N, H, W), name="x")
MOST = 14

Point = dict[Any, int]


def points(*dims: Any, most: int = MOST) -> list[Point]:
    """Return all values of *dims* up to *most*."""
    ranges = [range(d.min, most + 1) for d in dims]
    return [dict(zip(dims, values, strict=True)) for values in itertools.product(*ranges)]


def holds(relations: Any, point: Point) -> bool:
    """Return whether SymPy finds all *relations* true at a point."""
    return all(bool(r.subs(point)) for r in relations)


@dataclass(frozen=True, slots=True)
class Case:
    """Relations, their meaning in Python's own integers, and what they are required as."""

    relations: tuple[Any, ...]
    means: Callable[[int, int], bool]
    requires: str


CASES = (
    Case(("H % 4 == 0", "H % 6 == 0"), lambda h, w: h % 12 == 0, "(Eq(Mod(H, 12), 0),)"),
    Case((Eq(Mod(H, 4), 2), H >= 3), lambda h, w: h % 4 == 2 and h >= 3, "(Eq(Mod(H, 4), 2), H >= 3)"),
    Case(("3 <= H <= 8",), lambda h, w: 3 <= h <= 8, "(H >= 3, H <= 8)"),
    Case((And(H > 3, H < 8),), lambda h, w: 3 < h < 8, "(H <= 7, H >= 4)"),
    Case(("H == 2*W",), lambda h, w: h == 2 * w, "(Eq(H, 2*W),)"),
    Case((Eq(H, 2 * W), "W <= 3"), lambda h, w: h == 2 * w and w <= 3, "(Eq(H, 2*W), W <= 3)"),
    Case(("W <= 2*H + 1, H*W <= 20",), lambda h, w: w <= 2 * h + 1 and h * w <= 20, "(2*H >= W - 1, H*W <= 20)"),
    Case(("H % W == 0",), lambda h, w: w >= 1 and h % w == 0, "(W >= 1, Eq(Mod(H, W), 0))"),
    Case(("(H + 1) % 3 == 2",), lambda h, w: (h + 1) % 3 == 2, "(Eq(Mod(H, 3), 1),)"),
    Case((Eq(2, Mod(H, W)),), lambda h, w: w >= 3 and h % w == 2, "(W >= 3, Eq(Mod(H - 2, W), 0))"),
    Case(("H/2 >= 3",), lambda h, w: h >= 6, "(H >= 6,)"),
    Case((W <= H / 2,), lambda h, w: 2 * w <= h, "(H >= 2*W,)"),
    Case(("H // 3 == 2",), lambda h, w: h // 3 == 2, "(Eq(floor(H/3), 2),)"),
    Case((Eq(floor(H / 3), 2),), lambda h, w: h // 3 == 2, "(Eq(floor(H/3), 2),)"),
    Case((ceiling(H / 3) <= W,), lambda h, w: -(-h // 3) <= w, "(3*W >= H,)"),
    Case(("H % 4 <= 1",), lambda h, w: h % 4 <= 1, "(4*floor(H/4) >= H - 1,)"),
    Case((Max(H, W) >= 9,), lambda h, w: max(h, w) >= 9, "(Max(H, W) >= 9,)"),
    Case((Eq(Min(H, W), 2),), lambda h, w: min(h, w) == 2, "(Eq(Min(H, W), 2),)"),
    Case(("H**2 == W",), lambda h, w: h**2 == w, "(Eq(H**2, W),)"),
    Case(("H*W == 12",), lambda h, w: h * w == 12, "(Eq(H*W, 12),)"),
    Case((True, H >= 0, "H >= -1"), lambda h, w: True, "()"),
)


@pytest.mark.sample(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.relations))
def test_an_assumption_is_required_and_means_what_it_says(case: Case) -> None:
    y = assume(X, *case.relations)
    assert y.shape[0] == N
    feasible = [p for p in points(H, W) if case.means(p[H], p[W])]
    assert feasible
    for p in points(H, W):
        assert holds(y.requires, p) is case.means(p[H], p[W]), p
    for p in points(H, W, most=6):
        if case.means(p[H], p[W]):
            assert y.subs(p).shape[1:] == (p[H], p[W])
        else:
            with pytest.raises(sl.ShapeError) as caught:
                y.subs(p)
            assert caught.value.kind == "infeasible"


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.relations))
def test_an_assumption_is_required_in_few_words(case: Case) -> None:
    assert str(assume(X, *case.relations).requires) == case.requires


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.relations))
def test_bounds_under_an_assumption_are_the_hull(case: Case) -> None:
    bounds = assume(X, *case.relations).bounds()
    feasible = [p for p in points(H, W, most=40) if case.means(p[H], p[W])]
    for axis, d in ((1, H), (2, W)):
        values = [p[d] for p in feasible]
        assert bounds[axis][0] == min(values)
        small = [p[d] for p in feasible if max(p.values()) <= 20]
        assert bounds[axis][1] == (max(values) if max(values) == max(small) else None)


@pytest.mark.parametrize(
    "relations",
    [
        ("H % 2 == 0", "(H + 1) % 2 == 0"),
        ("H % 4 == 1", "H % 6 == 2"),
        ("H >= 5", "H <= 3"),
        ("H > W", "W > N", "N > H"),
        ("H == W + 1", "W == H + 1"),
        ("2*H == 4*W + 3",),
        ("H*W >= 20", "H <= 4", "W <= 4"),
        ("H*W == 12", "H >= 5", "W >= 3"),
        ("H*W == 7", "2 <= H <= 6"),
        ("H**2 == 2",),
        ("H*H + W*W == 3",),
        ("H % W == 3", "W <= 3"),
        ("H // 3 == 5", "H <= 14"),
        ("H % 4 >= 4",),
        (False,),
    ],
    ids=str,
)
def test_a_contradiction_is_an_error_at_once_that_shows_the_conflict(relations: tuple[Any, ...]) -> None:
    with pytest.raises(sl.ShapeError) as caught:
        assume(X, *relations)
    assert caught.value.kind == "infeasible"
    assert str(caught.value).startswith(f"the assumption {relations[-1]} fails: ")


def test_a_remainder_of_a_negative_divisor_is_one_of_the_negated_number() -> None:
    y = assume(X, "(H + 1) % -2 == 0", "W % -4 == -1")
    assert [str(r) for r in y.requires] == [str(r) for r in assume(X, "(H + 1) % 2 == 0", "(W + 1) % 4 == 0").requires]
    for relation in ("H % -2 == 1", "H % -2 == -2"):
        with pytest.raises(sl.ShapeError) as caught:
            assume(X, relation)
        assert caught.value.kind == "infeasible"


def test_a_contradiction_names_what_it_contradicts() -> None:
    with pytest.raises(sl.ShapeError) as caught:
        assume(X, "H % 2 == 0", "(H + 1) % 2 == 0")
    assert str(caught.value) == (
        "the assumption (H + 1) % 2 == 0 fails: H + 1 is never a multiple of 2\n  known: 0 <= H, H % 2 == 0"
    )


def test_an_assumption_contradicts_the_requirements_of_earlier_steps() -> None:
    y = sl.space_to_batch(sl.tensor((N, H)), [2], [[0, 1]])
    with pytest.raises(sl.ShapeError) as caught:
        assume(y, "H % 2 == 0")
    assert caught.value.kind == "infeasible"
    with pytest.raises(sl.ShapeError) as later:
        sl.space_to_batch(assume(sl.tensor((N, H)), "H % 2 == 0"), [2], [[0, 1]])
    assert later.value.kind == "infeasible"


@pytest.mark.parametrize(
    "relation",
    [Ne(H, 3), Or(H >= 3, W >= 3), H, 3, None, "H != 3", "H = 3", "H", "", "H >=", "H >= 3 W", "f(H) >= 3"],
    ids=str,
)
def test_what_is_no_relation_is_refused(relation: Any) -> None:
    for call in (lambda: assume(X, relation), lambda: assume(relation)):
        with pytest.raises(sl.FormatError):
            call()


def test_an_expression_that_is_no_integer_is_refused() -> None:
    with pytest.raises(sl.ShapeError) as caught:
        assume(X, Eq(2**H, W))
    assert caught.value.kind == "attr_dtype"


def test_another_dim_of_the_same_name_is_a_conflict() -> None:
    with pytest.raises(sl.ShapeError) as caught:
        assume(X, sl.dim("H", min=1) >= 3)
    assert caught.value.kind == "dim_conflict"


def test_names_in_a_text_are_the_tensors_dims() -> None:
    y = assume(sl.tensor((sl.dim("H", min=2, max=9),)), "H >= 1", "H <= q")
    assert str(y.requires) == "(q >= H,)"
    assert y.facts.dims["q"].min == 0


# ---------------------------------------------------------------------- what follows


def test_what_is_assumed_is_no_longer_required() -> None:
    y = sl.space_to_depth(assume(sl.tensor((N, 3, H, W)), "H % 4 == 0", "W % 2 == 0"), 2)
    assert str(y.requires) == "(Eq(Mod(H, 4), 0), Eq(Mod(W, 2), 0))"
    assert y.shape == (N, 12, H / 2, W / 2)


def test_equalities_are_substituted() -> None:
    y = sl.reshape(assume(X, "H == 2*W", "N == W"), (-1,))
    (size,) = y.shape
    assert all(size.subs(p) == 2 * p[W] ** 3 for p in points(W) if size.free_symbols <= {W})
    assert len(size.free_symbols) == 1


def test_products_of_facts_are_known() -> None:
    # a*b >= a for b >= 1, so that a slice of a elements is inside an axis of a*b
    a = sl.dim("a")
    y = sl.tensor((a * B,))[:a]
    assert y.requires == ()
    assert y.shape == (a,)
    y = assume(sl.tensor((H * W,)), "W >= 2")[: 2 * H]
    assert str(y.requires) == "(W >= 2,)"
    assert y.shape == (2 * H,)
    product = assume(sl.tensor((H * W, N)), "H >= 3", "W >= N")[: 3 * N]
    assert str(product.requires) == "(H >= 3, W >= N)"
    for p in points(H, W, N, most=6):
        if holds(product.requires, p):
            assert p[H] * p[W] >= 3 * p[N]


def test_divisibility_by_a_dim_follows_through_an_equality() -> None:
    x = assume(sl.tensor((N, H, W)), Eq(Mod(H, B), 0), Eq(W, 2 * H))
    y = sl.space_to_batch(x, [B, B], [[0, 0], [0, 0]])
    assert len(y.requires) == 2
    bound = y.subs({N: 1, H: 6, W: 12, B: 3})
    assert bound.shape == (9, 2, 4)
    for p in points(H, W, B, most=6):
        assert holds(y.requires, p) is (p[H] % p[B] == 0 and p[W] == 2 * p[H])


def test_requirements_of_earlier_steps_are_facts_for_later_ones() -> None:
    y = sl.batch_to_space(sl.space_to_batch(sl.tensor((N, H)), [6], [[0, 0]]), [2], [[0, 0]])
    y = sl.space_to_batch(y, [2], [[0, 0]])
    assert str(y.requires) == "(Eq(Mod(H, 6), 0),)"


def test_proofs_use_the_assumptions_of_both_sides() -> None:
    x = sl.tensor((H, W), name="x")
    square = assume(x, "H == W")
    swapped = sl.reshape(square, (W, H))
    p = sl.prove_equal(swapped, x)
    assert p.verdict is sl.Verdict.PROVED
    assert str(p.requires) == "(Eq(H, W),)"
    assert p.same_requires is False
    assert sl.prove_equal(sl.reshape(x, (W, H)), x).verdict is sl.Verdict.REFUTED
    left, right = assume(x, "H % 2 == 0"), assume(x, "H % 2 == 1")
    with pytest.raises(sl.ShapeError) as caught:
        sl.prove_equal(left, right)
    assert caught.value.kind == "infeasible"


def test_a_witness_meets_the_assumptions() -> None:
    x = sl.tensor((H,), name="x")
    p = sl.prove_equal(sl.flip(assume(x, "H % 3 == 0", "H >= 4"), 0), x)
    assert p.verdict is sl.Verdict.REFUTED
    assert p.witness is not None
    assert p.witness.dims == {H: 6}


def test_an_assumption_changes_no_element() -> None:
    y = assume(sl.tensor((H, W), name="v"), "H % 2 == 0", "H >= W")[::2]
    a = np.arange(24).reshape(6, 4)
    assert np.array_equal(sl.interpret(y, a), a[::2])
    assert np.array_equal(sl.compile(y, strict=True)(a), a[::2])
    assert str(y.index_map) == str(sl.tensor((H, W), name="v")[::2].index_map)
    runs: list[Callable[[Any], Any]] = [lambda a: sl.interpret(y, a), sl.compile(y, strict=True)]
    for run, shape in itertools.product(runs, [(5, 4), (4, 6)]):
        with pytest.raises(sl.ShapeError) as caught:
            run(np.zeros(shape))
        assert caught.value.kind == "infeasible"


def test_requirements_can_be_assumed_again() -> None:
    y = sl.space_to_batch(sl.tensor((N, H, W)), [B, 2], [[0, 1], [1, 0]])
    assert assume(X, *y.requires).requires == y.requires


def test_a_dim_that_is_bound_to_another_keeps_the_assumption() -> None:
    y = assume(sl.tensor((H,)), "H % 4 == 0", "H >= 8")
    assert str(y.subs({H: 2 * W}).requires) == "(Eq(Mod(W, 2), 0), W >= 4)"
    assert str(y.subs({H: 4 * W}).requires) == "(W >= 2,)"


# ---------------------------------------------------------------------- blocks


def test_inside_a_block_tensors_know_what_is_assumed_of_their_dims() -> None:
    with assume("H % 2 == 0", W >= 4):
        x = sl.tensor((N, H))
        both = sl.tensor((H, W))
    assert str(x.requires) == "(Eq(Mod(H, 2), 0),)"
    assert str(both.requires) == "(Eq(Mod(H, 2), 0), W >= 4)"
    assert sl.tensor((N, H)).requires == ()
    assert sl.space_to_batch(x, [2], [[0, 0]]).requires == x.requires


def test_a_dim_of_an_attribute_is_known_before_the_operation_needs_it() -> None:
    x = sl.tensor((N, H))
    with assume(Eq(Mod(H, B), 0), "b >= 2"):
        y = sl.space_to_batch(x, [B], [[0, 0]])
        assert x.requires == ()
    assert [str(r) for r in y.requires] == ["Eq(Mod(H, b), 0)", "b >= 2"]
    assert y.bounds()[0] == (0, None)
    with pytest.raises(sl.ShapeError) as caught:
        y.subs({B: 1})
    assert caught.value.kind == "infeasible"


def test_blocks_nest_and_end() -> None:
    with assume("H >= 3"):
        with assume("H <= 9"):
            assert sl.tensor((H,)).bounds() == [(3, 9)]
        assert sl.tensor((H,)).bounds() == [(3, None)]
        with pytest.raises(RuntimeError), assume("H <= 5"):
            raise RuntimeError
        assert sl.tensor((H,)).bounds() == [(3, None)]
    assert sl.tensor((H,)).bounds() == [(0, None)]


def test_a_block_is_of_its_thread() -> None:
    found: list[Any] = []
    with assume("H >= 3"):
        other = threading.Thread(target=lambda: found.append(sl.tensor((H,)).bounds()))
        other.start()
        other.join()
    assert found == [[(0, None)]]


def test_a_contradiction_inside_a_block_is_an_error() -> None:
    with assume("H >= 3"), pytest.raises(sl.ShapeError) as caught:
        sl.tensor((sl.dim("H", max=2),))
    assert caught.value.kind == "infeasible"
