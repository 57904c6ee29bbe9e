"""What is spelled is read back by Python as the number that it stands for."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import symlayout as sl
from symlayout.language import latex, sympy_bridge
from symlayout.language.readable import Apply, Factor, Sum, atom, number
from symlayout.language.to_text import spell
from tests.support.effort import examples

NAMES = {"i0": 5, "i1": 2, "H": 7, "b": 3, "top": 1}


def ceil_div(n: int, d: int) -> int:
    return -(-n // d)


MEANING: dict[str, Callable[[int, int], int]] = {
    "//": lambda n, d: n // d,
    "%": lambda n, d: n % d,
    "ceil_div": ceil_div,
    "min": min,
    "max": max,
}


def evaluate(e: Sum) -> int:
    """Return the number that *e* is."""

    def value(f: Factor) -> int:
        return NAMES[f] if isinstance(f, str) else MEANING[f.form](*map(evaluate, f.parts))

    return sum(c * math.prod(map(value, factors)) for c, factors in e.terms)


def sums(children: st.SearchStrategy[Sum]) -> st.SearchStrategy[Sum]:
    def applied(form: str, left: Sum, right: Sum) -> Sum:
        divisor = right if form in ("min", "max") or evaluate(right) > 0 else number(4)
        return atom(Apply(form, (left, divisor)))

    return st.one_of(
        st.builds(lambda a, b: a + b, children, children),
        st.builds(lambda a, b: a * b, children, children),
        st.builds(lambda a: -a, children),
        st.builds(applied, st.sampled_from(sorted(MEANING)), children, children),
    )


TREES = st.recursive(
    st.builds(number, st.integers(-3, 4)) | st.sampled_from([atom(n) for n in NAMES]), sums, max_leaves=7
)


@settings(deadline=None, derandomize=True, max_examples=examples(500))
@given(TREES)
def test_text_means_the_number(e: Sum) -> None:
    assert eval(spell(e), {**NAMES, "ceil_div": ceil_div}) == evaluate(e), spell(e)


@settings(deadline=None, derandomize=True, max_examples=examples(200))
@given(TREES)
def test_sympy_means_the_number(e: Sum) -> None:
    assert int(sympy_bridge.written(e, lambda name: sympy.Integer(NAMES[name])).doit()) == evaluate(e)


@settings(deadline=None, derandomize=True, max_examples=examples(200))
@given(TREES)
def test_latex_is_balanced(e: Sum) -> None:
    check_latex(latex.sum_(e))


def check_latex(written: str) -> None:
    """Assert that braces, left delimiters and environments are closed, in order."""
    open_: list[str] = []
    pairs = {"}": "{", r"\right": r"\left", r"\end": r"\begin"}
    position = 0
    while position < len(written):
        if written[position] == "\\":
            end = position + 1
            while end < len(written) and written[end].isalpha():
                end += 1
            token = written[position : max(end, position + 2)]
        else:
            token = written[position]
        if token in ("{", r"\left", r"\begin"):
            open_.append(token)
        elif token in pairs:
            assert open_.pop() == pairs[token], written
        position += len(token)
    assert open_ == [], written


@pytest.mark.parametrize("broken", ["{", "{}}", r"\left(a", r"\left(\frac{a\right)}", r"\begin{cases}"])
def test_what_is_not_balanced_is_noticed(broken: str) -> None:
    with pytest.raises((AssertionError, IndexError)):
        check_latex(broken)


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (-atom(Apply("//", (atom("i0"), atom("b")))), "-(i0//b)"),
        (atom("H") + -atom(Apply("//", (atom("i0"), atom("b")))), "H - i0//b"),
        (atom(Apply("%", (atom(Apply("//", (atom("i0"), atom("H")))), atom("b")))), "i0//H % b"),
        (atom("b") * atom(Apply("%", (atom("i0") + number(1), number(2) * atom("H")))), "b*((i0 + 1) % (2*H))"),
        (atom("b") * atom("b") + -number(3), "b**2 - 3"),
        (Sum(()), "0"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_no_parenthesis_is_written_that_precedence_gives(e: Sum, text: str) -> None:
    assert spell(e) == text


def test_a_shape_is_rounded_up_as_people_write_it() -> None:
    n, b = sl.dim("n"), sl.dim("b", min=1)
    assert sl.pack(sl.tensor((n,)), 0, b).shape == (sympy.ceiling(n / b), b)
    assert sl.pack(sl.tensor((n,)), 0, 4).shape == (sympy.ceiling(n / 4), 4)


def test_a_clamped_distance_is_a_minimum() -> None:
    c = sl.dim("c")
    x = sl.tensor((c,), name="x")
    assert str(x[2:4].shape) == "(Min(2, Max(0, c - 2)),)"
    assert str(x[-4:-2].shape) == "(Min(2, Max(0, c - 2)),)"
    joined = sl.concatenate([x[2:4], x])
    assert str(joined.shape) == "(c + Min(2, Max(0, c - 2)),)"
    assert str(joined.index_map).endswith("where 0 <= i0 - min(2, max(0, c - 2)) < c")
    for n in range(7):
        assert x[2:4].subs({c: n}).shape == (len(range(n)[2:4]),)
        assert int(x[2:4].shape[0].subs(c, n)) == len(range(n)[2:4])


def test_an_extent_of_pieces_that_is_0_for_all_integers_has_a_text() -> None:
    n = sl.dim("N")
    (e,) = sl.tensor((n - sympy.Max(0, 2 * n - 1) + sympy.Max(0, n - 1),)).shape
    assert [e.subs(n, k) for k in range(5)] == [0] * 5
