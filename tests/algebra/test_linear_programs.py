"""Sums of inequalities: what follows from chains and from coefficients, with its certificate."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

import symlayout as sl
from symlayout.algebra.linear_programs import least_by_facts
from symlayout.language.sympy_bridge import to_extent
from tests.algebra.inequality_sweep import check

Terms = dict[tuple[str, ...], int]


def test_the_multiples_add_up_to_the_goal() -> None:
    """Each bound is checked by itself: what is left of the goal has no negative coefficient at the lower bounds."""
    for seed in range(300):
        rnd = random.Random(seed)
        names = "abcdef"[: rnd.randint(1, 6)]
        facts = [_terms(rnd, names) for _ in range(rnd.randint(0, 8))]
        lows: Terms = {(x,): rnd.choice((0, 0, 1, -2)) for x in names if rnd.random() < 0.85}
        goal = _terms(rnd, names)
        best = least_by_facts(goal, facts, lows).best
        if best is None:
            continue
        left = {m: best.scale * c for m, c in goal.items()}
        for number, factor in best.factors:
            assert factor >= 0
            for m, c in facts[number].items():
                left[m] = left.get(m, 0) - factor * c
        constant = left.pop((), 0)
        assert all(c == 0 or (c > 0 and m in lows) for m, c in left.items()), seed
        assert constant + sum([c * lows[m] for m, c in left.items() if c]) == best.constant, seed


def _terms(rnd: random.Random, names: str) -> Terms:
    found: Terms = {(x,): rnd.randint(-3, 3) for x in rnd.sample(names, min(len(names), rnd.randint(1, 3)))}
    found[()] = rnd.randint(-4, 8)
    return {m: c for m, c in found.items() if c}


@pytest.mark.parametrize("seed", range(12))
def test_random_systems_have_the_bounds_that_enumeration_finds(seed: int) -> None:
    check(seed)


@pytest.mark.parametrize("length", [3, 9, 24])
def test_a_chain_of_any_length_is_transitive(length: int) -> None:
    dims = sl.dims(" ".join(f"d{k}" for k in range(length)))
    t = sl.assume(sl.tensor(dims[:2]), *(a >= b + 1 for a, b in itertools.pairwise(dims)))
    first, last = dims[0], dims[-1]
    assert sl.assume(t, first >= last + length - 1).requires == t.requires
    with pytest.raises(sl.ShapeError) as error:
        sl.assume(t, first <= last + length - 2)
    assert error.value.kind == "infeasible"


def test_bounds_of_a_difference_come_from_a_chain() -> None:
    a, b, c, d = sl.dims("a b c d")
    t = sl.assume(sl.tensor((a - d + 7, a, b, c, d)), a >= b, b >= c, c >= d)
    assert t.bounds()[0] == (7, None)


def test_a_proof_that_adds_facts_has_a_certificate() -> None:
    """A read at ``i + e`` is inside, since ``a >= b + 2*c``, ``b >= d`` and ``2*c + d >= n + e``."""
    n, a, b, c, d, e = sl.dims("n a b c d e")
    x = sl.assume(sl.tensor((a,), name="x"), a >= b + 2 * c, b >= d, 2 * c + d >= n + e)
    y = sl.index_map(x, (n,), lambda i: (i + e,))
    p = sl.prove_equal(sl.flip(sl.flip(y, 0), 0), y)
    assert p.verdict is sl.Verdict.PROVED
    assert sl.check(p.certificate)


# What JAX's tests and tinygrad's tests of symbolic sizes state about sizes >= 1, in this spelling: expression, least,
# greatest, and what is assumed.  The numbers are those of enumeration over sizes to 40, None where they grow.
BOUNDS: list[tuple[Any, ...]] = [
    ("5 - a", None, 4),
    ("a % 5", 0, 4),
    ("5*a - 2", 3, None),
    ("2*a - 3*b + 5*c - 1", None, None),
    ("20 - 2*a - 3*b - 5*c", None, 10),
    ("a % 5 + 5 - a", None, 5),
    ("3*a*b*b - 5*a - 7", None, None),
    ("a*a + b - 2", 0, None),
    ("a - 5 % a", 1, None),
    ("(b + 5) % a - a", None, -1),
    ("11 % (a + 1)", 0, 11),
    ("(a + 5)//2", 3, None),
    ("11//(a + 1)", 0, 5),
    ("-11//(a + 1)", -6, -1),
    ("a - 2*(a//2)", 0, 1),
    ("max(15 - a, 0)//3", 0, 4),
    ("a - max(a - 3, 0)", 1, 3),
    ("max(a % 2 - 1, 0)", 0, 0),
    ("max(a, b) - a", 0, None),
    ("max(a, b) + c - 1 - b", 0, None),
    ("b - max(b - a, 0)", 1, None),
    ("max(a, b) - a - max(b - a, 0)", 0, 0),
    ("max(a, b) + max(c, d) - max(a + max(c, d), b + max(c, d))", 0, 0),
    ("max(a, b) + min(c, d) - max(a + min(c, d), b + min(c, d))", 0, 0),
    ("min(a - 5, 1)", -4, 1),
    ("min(15 - a, 20)", None, 14),
    ("max(min(a, b + 10), b) - b", 0, 10),
    ("max(min(a, b + 10), b)", 1, None),
    ("(max(-1, a - 2) - max(-1, a - 2*b - 2) + 1)//2", 0, None),
    ("max(1 - b, 0)//2", 0, 0),
    ("5*a - 2", 13, 13, "2*a >= 5, 3*a <= 10"),
    ("a + b - 2", 2, None, "2*a + 3*b >= 10"),
    ("a + 2*b", 9, None, "3*b - 2*a >= 10"),
    ("2*b - a", -1, 3, "2*a + 3*b <= 10"),
    ("b - a", 2, 5, "a + 2 <= b, b <= a + 5, a + b >= c"),
    ("c - 2*a - 5", None, 0, "a + 2 <= b, b <= a + 5, a + b >= c"),
    ("a - 2*d", 3, None, "a == 4*d + c, c <= 3"),
    ("a", 5, None, "a >= 4*d + c, a <= 4*d + c, c <= 3"),
    ("a - b - 2", 0, 0, "2*a >= 2*b + 3, 2*b - 2*a >= -5"),
    ("a", 3, 5, "max(a, b) == 5, min(a, b) == 3"),
    ("d//2 - c//3", 2, 2, "b == a, c >= b + 3, d//2 == max(c, a)//3 + 2"),
    ("d - b", None, 3, "b == a, c >= b + 3, max(d, a) == b + 3"),
    ("max(a, b) % 4", 2, 3, "max(a, b) % 4 >= 2"),
    ("a % b", 2, None, "a % b >= 2"),
    ("(a*4 + b % 4)//4 - a", 0, 0),
    ("(a % 6)//2", 0, 2),
    ("a//2*2 + a % 2 - a", 0, 0),
    ("(12*a + 4*(b % 3))//12 - a", 0, 0),
    ("(a//3)//4 - a//12", 0, 0),
    ("(3*a + 2) % 3", 2, 2),
    ("(a % 10) % 5 - a % 5", 0, 0),
    ("min(a, 4) + max(a, 4) - a", 4, 4),
]


@pytest.mark.parametrize(("text", "least", "greatest", "given"), [(*row, "")[:4] for row in BOUNDS])
def test_bounds_of_expressions_that_other_projects_test(
    text: str, least: int | None, greatest: int | None, given: str
) -> None:
    dims = "a >= 1, b >= 1, c >= 1, d >= 1"
    t = sl.tensor(dims)
    t = sl.assume(t, given) if given else t
    for sign, end in ((1, least), (-1, greatest)):
        shifted = sl.tensor(f"max({sign}*({text}) + 1000, 0), {dims}")
        low = (sl.assume(shifted, given) if given else shifted).bounds()[0][0]
        assert low == (0 if end is None else sign * end + 1000), (text, sign)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("(31*b + 1) % 18 + (31*b + 1)//18*18", "31*b + 1"),
        ("(7*b - 5*a) % 12 + (7*b - 5*a)//12*12", "7*b - 5*a"),
        ("(-5*b) % 18 + (-5*b)//18*18", "-5*b"),
        ("(4*a + 22*b + 1) % k + (4*a + 22*b + 1)//k*k", "4*a + 22*b + 1"),
        ("(-4*a - 22*b - 1) % k + (-4*a - 22*b - 1)//k*k", "-4*a - 22*b - 1"),
    ],
)
def test_remainder_and_quotient_make_the_number(text: str, same: str) -> None:
    t = sl.tensor(f"{text} + 100*a + 100*b + 1 - ({same}), a, b, k >= 1")
    assert str(t.shape[0]) == "100*a + 100*b + 1"


def test_what_is_printed_is_read_back() -> None:
    written = (
        "a % 3",
        "(a + 7) % k",
        "3*(a % 5) + 2",
        "a//2 % 3",
        "(-a) % k",
        "max(a, k)",
        "min(3, a)",
        "ceil_div(a, 4)",
    )
    for text in written:
        t = sl.tensor(f"{text}, a, k >= 1", name="x")
        assert repr(t) == f"Tensor(x: ({text}, a, k))"
        assert sl.tensor(f"{t.shape[0]}, a, k >= 1").shape[0] == t.shape[0]


@pytest.mark.parametrize(("text", "said"), [("a % -2", "divides by -2"), ("a % (0 - k)", "divides by -k")])
def test_a_modulus_that_is_not_positive_is_refused(text: str, said: str) -> None:
    with pytest.raises(sl.ShapeError, match=said) as error:
        sl.tensor(f"{text}, a, k >= 1")
    assert error.value.kind in ("non_divisible", "infeasible")


def test_quotients_of_quotients_cost_no_more_than_quotients() -> None:
    """150 sizes, each half or a third of the one before: the work, in goals of the prover, stays small."""
    t = sl.tensor("n", name="x")
    facts, rnd = t.facts.fork(), random.Random(1)
    from symlayout.algebra.floor_normal_form import floor_div

    e, before = to_extent(t.shape[0], facts), facts.effort
    for _ in range(150):
        e = floor_div(facts, e + 1, rnd.choice((2, 3)))
    assert facts.effort - before < 5_000
