"""Functions of one integer, linear between points, against values of random sums and extremes at many integers."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import pytest

import symlayout as sl
from symlayout.algebra.fact_store import Dim
from symlayout.algebra.facts import Facts
from symlayout.algebra.intervals import Interval
from symlayout.algebra.piecewise_linear import Line, PiecewiseLinear, piecewise_linear
from symlayout.algebra.polynomial import Extent, symbol
from symlayout.errors import ShapeError

RANGES = [(0, None), (1, None), (-3, None), (None, None), (0, 12), (None, 5)]
L = sl.dim("L")


class Expression:
    """A random expression of sums and extremes of ``L``: as an extent, and as a function."""

    def __init__(self, rng: random.Random, facts: Facts, depth: int) -> None:
        self.form = rng.choice(["line", "min", "max", "sum"]) if depth else "line"
        if self.form == "line":
            self.slope, self.constant = rng.randint(-2, 2), rng.randint(-9, 9)
            self.extent: Extent = self.slope * symbol("L") + self.constant
            return
        self.parts = [Expression(rng, facts, depth - 1) for _ in range(2)]
        self.times = rng.choice([1, -1, 2])
        a, b = (part.extent for part in self.parts)
        if self.form == "sum":
            self.extent = a + self.times * b
        else:
            self.extent = facts.minimum(a, b) if self.form == "min" else facts.maximum(a, b)

    def at(self, x: int) -> int:
        """Return the value at an integer."""
        if self.form == "line":
            return self.slope * x + self.constant
        a, b = (part.at(x) for part in self.parts)
        return min(a, b) if self.form == "min" else max(a, b) if self.form == "max" else a + self.times * b


def has(intervals: list[Interval], x: int) -> bool:
    """Return whether an integer is in one of the intervals."""
    return any((a is None or x >= a) and (b is None or x <= b) for a, b in intervals)


def draw(seed: int) -> tuple[Expression, Facts, list[int], Interval]:
    """Return an expression, its system, the integers to try, and the bounds of ``L``."""
    rng, facts = random.Random(seed), Facts()
    low, high = bounds = rng.choice(RANGES)
    facts.declare(Dim("L", low, high))
    expression = Expression(rng, facts, rng.choice([1, 2, 3]))
    return expression, facts, [*range(-40 if low is None else low, (60 if high is None else high) + 1)], bounds


@pytest.mark.parametrize("block", range(8))
def test_values_zeros_signs_and_extremes_of_random_functions(block: int) -> None:
    found = written = 0
    for seed in range(60 * block, 60 * block + 60):
        expression, facts, places, (low, high) = draw(seed)
        if (read := piecewise_linear(facts, expression.extent)) is None:
            continue
        name, function = read
        values = {x: expression.at(x) for x in places}
        assert name == "L"
        assert {x: function.at(x) for x in places} == values, seed
        nonnegative, zero = function.where_nonnegative(low, high), function.where_zero(low, high)
        assert [x for x in places if has(nonnegative, x)] == [x for x in places if values[x] >= 0], seed
        assert [x for x in places if has(zero, x)] == [x for x in places if values[x] == 0], seed
        for intervals in (nonnegative, zero):
            assert all(
                a[1] is not None and b[0] is not None and a[1] + 1 < b[0] for a, b in itertools.pairwise(intervals)
            ), seed
        if (extremes := function.extremes(low, high)) is not None:
            written += 1
            inner, outer = (min, max) if extremes.form == "min" else (max, min)
            for x in places:
                value = inner(line.at(x) for line in extremes.lines)
                assert (value if extremes.end is None else outer(value, extremes.end)) == values[x], (seed, x)
        found += 1
    assert found >= 15
    assert written >= 10


@pytest.mark.parametrize("block", range(4))
def test_requirements_hold_for_the_sizes_at_which_they_are_meant(block: int) -> None:
    """What is stated instead of an equation or an inequality with maxima holds at the same integers."""
    solved = 0
    for seed in range(1000 + 60 * block, 1060 + 60 * block):
        expression, facts, places, _ = draw(seed)
        had = bool(facts.definitions)
        is_zero = bool(seed % 2)
        right = [x for x in places if (expression.at(x) == 0 if is_zero else expression.at(x) >= 0)]
        try:
            (facts.require_zero if is_zero else facts.require_nonnegative)(expression.extent, "infeasible")
        except ShapeError:
            assert right == [], seed
            continue
        assert [x for x in places if all(r.holds(facts.values({"L": x})) for r in facts.requirements)] == right, seed
        solved += had and not any(
            set(r.value.names) - {"L"} for r in facts.requirements if not isinstance(r.value, int)
        )
    assert solved >= 8


def test_a_function_is_one_value_however_it_is_written() -> None:
    def of(build: Any) -> PiecewiseLinear:
        facts = Facts()
        facts.declare(Dim("L"))
        read = piecewise_linear(facts, build(facts, symbol("L")))
        assert read is not None
        return read[1]

    left = of(lambda f, x: f.minimum(f.maximum(x - 3, 2), 9))
    right = of(lambda f, x: f.maximum(f.minimum(x - 3, 9), 2))
    assert left == right == PiecewiseLinear(Line(2, 0), ((Fraction(5), 1), (Fraction(12), -1)))


def test_products_and_functions_of_two_dims_are_left_to_others() -> None:
    facts = Facts()
    for name in "LM":
        facts.declare(Dim(name))
    x, y = symbol("L"), symbol("M")
    most = facts.maximum(x - 3, 2)
    for e in (most + y, most * x, facts.maximum(x - y, 1), facts.maximum(y - 1, most), x - 4):
        assert piecewise_linear(facts, e) is None


@pytest.mark.parametrize(
    ("begin", "end", "shape"),
    [
        (-1, 2**31 - 1, "Max(0, Min(1, L, 2147483648 - L))"),
        (-1, 100, "Max(0, Min(1, L, 101 - L))"),
        (2, 9, "Min(7, Max(0, L - 2))"),
        (1, -1, "Max(0, L - 2)"),
        (0, 5, "Min(5, L)"),
    ],
)
def test_the_extent_of_a_slice_is_read_at_a_glance(begin: int, end: int, shape: str) -> None:
    assert str(sl.onnx.slice(sl.tensor((L,)), [begin], [end]).shape[0]) == shape


@pytest.mark.parametrize(
    ("begin", "end", "requires"),
    [
        (-1, 2**31 - 1, "(L >= 1, L <= 2147483647)"),  # as tf2onnx writes the last element
        (2, 9, "(Eq(L, 3),)"),
        (2, -1, "(Eq(L, 4),)"),
        (0, 1, "(L >= 1,)"),
    ],
)
def test_what_a_slice_of_one_element_requires_is_a_range(begin: int, end: int, requires: str) -> None:
    y = sl.onnx.squeeze(sl.onnx.slice(sl.tensor((L, 3)), [begin], [end], [0]), axes=[0])
    assert str(y.requires) == requires


def test_sizes_apart_stay_an_equation() -> None:
    y = sl.onnx.squeeze(sl.onnx.slice(sl.tensor((L, 3)), [-4], [2], [0]), axes=[0])
    (requirement,) = y.requires
    assert (
        [n for n in range(9) if requirement.subs(L, n)] == [n for n in range(9) if len(range(n)[-4:2]) == 1] == [1, 5]
    )


def test_what_no_size_meets_is_refused_at_once() -> None:
    with pytest.raises(ShapeError, match="is not 1"):
        sl.onnx.squeeze(sl.onnx.slice(sl.tensor((sl.dim("L", min=5), 3)), [-4], [-1], [0]), axes=[0])


@pytest.mark.parametrize(("begin", "end"), [(-1, 2**31 - 1), (2, 9), (2, -1)])
def test_a_proof_about_such_sizes_has_a_certificate(begin: int, end: int) -> None:
    """The checker gets the range as an assumption, and derives that the slice has one element."""
    x = sl.tensor((L, 3), name="x")
    cut = sl.onnx.slice(x, [begin], [end], [0])
    proof = sl.prove_equal(sl.onnx.squeeze(cut, axes=[0]), sl.onnx.reshape(cut, [3]))
    assert proof.verdict == sl.Verdict.PROVED
    assert sl.check(proof.certificate)


def test_maxima_that_a_range_decides_are_gone() -> None:
    facts = Facts()
    facts.declare(Dim("L"))
    most = facts.maximum(symbol("L") - 4, 0)
    facts.require_nonnegative(facts.minimum(most, 9) - 2, "infeasible")
    assert [str(r) for r in facts.requirements] == ["L - 6 >= 0"]
    assert facts.reduce(most) == symbol("L") - 4
