"""The page on what accesses cost: it is current with its pictures, and each number is counted again."""

from __future__ import annotations

import pytest

from tests.layouts.pages import access_page
from tests.layouts.pages.access_page import DIMS, Picture, Question


@pytest.mark.parametrize("question", access_page.CONSTANT, ids=lambda q: q.call)
def test_a_number_is_what_enumeration_counts(question: Question) -> None:
    assert question.answer() == question.counted()


@pytest.mark.parametrize("question", access_page.SYMBOLIC, ids=lambda q: q.call)
def test_the_cases_are_what_enumeration_counts(question: Question) -> None:
    found = question.answer()
    (name,) = (name for name in DIMS if name in question.layout)
    least = 1 if name == "k" else 32
    values = range(least, least + 130)
    assert [found.at({name: n}) for n in values] == [question.counted(**{name: n}) for n in values]


@pytest.mark.parametrize("picture", access_page.PICTURES, ids=lambda p: p.name)
def test_a_picture_shows_the_words_that_the_access_reads(picture: Picture) -> None:
    for panel in picture.panels:
        assert max(access_page.served(panel, picture.rows).values()) == panel.question.counted()
        assert sum(access_page.served(panel, picture.rows).values()) == 32


def test_the_page_and_its_pictures_are_current() -> None:
    for name, text in access_page.files().items():
        assert (access_page.PAGE.parent / name).read_text(encoding="utf-8") == text, f"run: {access_page.COMMAND}"
        assert name == "access.md" or f"]({name})" in access_page.page()
