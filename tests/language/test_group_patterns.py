"""Shapes and patterns with a group of axes, and texts that are neither."""

from __future__ import annotations

from typing import Any

import pytest

import symlayout as sl
from symlayout.language.group_patterns import has_group, read_pattern, read_shape


@pytest.mark.parametrize("text", ["N, 2*S", "(N, C)", "N*S", "(2 *S, C)", "2 * h", "(N *S)", "()"])
def test_a_product_is_no_group(text: str) -> None:
    assert not has_group(text)
    assert isinstance(sl.tensor(text), sl.Tensor)


@pytest.mark.parametrize("text", ["*S", " * S, N", "N,*S", "(*b N), C", "(N, *S)"])
def test_a_star_at_the_front_of_an_entry_is_a_group(text: str) -> None:
    assert has_group(text)
    assert any(star for entry in read_shape(text) for star in entry.stars)


def test_bounds_are_read_in_every_entry() -> None:
    t: Any = sl.tensor("N>=1, *S>=2, (*b N)")
    assert str(t) == "AnyRankTensor(x: (N, *S, (*b N)))"
    assert str(sl.tensor("*S, ")) == "AnyRankTensor(x: (*S))"
    assert t.at(2).bounds() == [(1, None), (2, None), (2, None), (0, None)]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("N *S", "two sides"),
        ("N *S -> N", r"\*S is on one side"),
        ("N *S -> N S", "is on one side"),
        ("N N *S -> N *S", "N stands twice"),
        ("(N *S -> N *S", r"\( is not closed"),
        ("() *S -> *S", r"\) cannot stand here"),
        ("*(*S) -> *S", r"\*S cannot stand here"),
        ("((N *S)) -> N *S", r"\( cannot stand here"),
        ("N 2 *S -> N *S", "2 cannot stand here"),
        ("N *S -> N *S" + " " * 100_000, "two sides"),
    ],
)
def test_other_patterns_are_refused(text: str, what: str) -> None:
    with pytest.raises(sl.FormatError, match=what):
        read_pattern(text)


@pytest.mark.parametrize("text", ["*S, (*b N, C", "(*b N M)", "*S, N N", "*2S", "(*), *S", "*S, (* b)"])
def test_other_shapes_are_refused(text: str) -> None:
    with pytest.raises(sl.FormatError):
        sl.tensor(text)
