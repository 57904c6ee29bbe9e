"""Tokens are read from left to right; errors say where the text goes wrong."""

from __future__ import annotations

import pytest

import symlayout as sl
from symlayout.language import read_tokens
from symlayout.language.read_tokens import TokenReader, pointed


def kinds(text: str) -> list[tuple[str, str]]:
    reader, found = TokenReader(text, "a text"), []
    while reader.token.kind != "end":
        token = reader.take()
        found.append((token.kind, token.text))
    return found


def test_a_text_is_its_tokens() -> None:
    assert kinds("2*h + 1.5e3, 'a b' ...4..8") == [
        ("int", "2"), ("sign", "*"), ("name", "h"), ("sign", "+"), ("real", "1.5e3"), ("sign", ","), ("text", "'a b'"),
        ("sign", "..."), ("int", "4"), ("sign", ".."), ("int", "8"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("N, $", "cannot read '$', at column 4 of a text\n  in: N, $\n         ^"),
        ("2h", "cannot read '2', at column 1 of a text\n  in: 2h\n      ^\n  help: a product is written 2*h"),
    ],
)
def test_what_is_no_token_is_shown(text: str, error: str) -> None:
    with pytest.raises(sl.FormatError) as caught:
        kinds(text)
    assert str(caught.value) == error


def test_an_expected_sign_that_is_missing_is_named() -> None:
    reader = TokenReader("(N", "a text")
    assert reader.accept("(")
    reader.take()
    with pytest.raises(sl.FormatError, match=r"expected '\)', found the end"):
        reader.expect(")")


@pytest.mark.parametrize(("text", "closed"), [("(N, C)", ")"), ("(N), (C)", ""), ("(N, C", ""), ("[(N)] ", "]")])
def test_a_bracket_that_encloses_the_whole_text_is_found(text: str, closed: str) -> None:
    assert TokenReader(text, "a text").enclosing_bracket() == closed


def test_nesting_and_length_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_tokens, "MAX_NESTING", 2)
    monkeypatch.setattr(read_tokens, "MAX_TEXT", 8)
    reader = TokenReader("(", "a text")
    reader.enter()
    reader.enter()
    with pytest.raises(sl.FormatError, match="nested more than 2 deep"):
        reader.enter()
    with pytest.raises(sl.FormatError, match="a text has at most 8 characters, not 9"):
        TokenReader("123456789", "a text")


def test_a_long_text_is_shown_around_the_place() -> None:
    lines = pointed("x" * 100 + "?" + "y" * 100, 100).splitlines()
    assert lines[0].startswith("  in: ...x")
    assert lines[0].endswith("y...")
    assert lines[0][lines[1].index("^")] == "?"
