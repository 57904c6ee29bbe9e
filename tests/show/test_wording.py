"""Shapes, bounds and requirements in words are read back as what they say."""

from __future__ import annotations

import pytest

import symlayout as sl
from symlayout.language.parse import parse_relations, parse_shape
from symlayout.show import wording


@pytest.mark.parametrize(("text", "rank"), [("()", 0), ("(3,)", 1), ("(N, 2*H)", 2)])
def test_a_shape_is_written_as_it_is_read(text: str, rank: int) -> None:
    assert wording.shape(sl.tensor(text).shape) == text
    assert len(parse_shape(text)) == rank


@pytest.mark.parametrize(
    ("bounds", "said"),
    [((None, None), "unbounded"), ((None, 3), "at most 3"), ((2, None), "at least 2"), ((2, 2), "exactly 2")],
)
def test_bounds_in_words(bounds: tuple[int | None, int | None], said: str) -> None:
    assert wording.interval(*bounds) == said


def test_requirements_are_relations_that_the_parser_reads() -> None:
    t = sl.space_to_depth(sl.tensor("1, 1, H, W", name="x"), 2)
    for r in t.requires:
        assert parse_relations(wording.relation(r))
        assert "is a multiple of 2" in wording.words(r)
    assert wording.facts(t)["requires"] == [wording.relation(r) for r in t.requires]


def test_digits_are_those_of_each_piece() -> None:
    lines = wording.digits(sl.pad(sl.tensor("H", name="x"), 1))
    assert lines
    assert all(": " in line and " < " in line for line in lines)
