"""The limits are one object: a change holds everywhere, and what is no limit is refused."""

from __future__ import annotations

from typing import Any

import pytest

import symlayout as sl
from symlayout.budgets import Limits
from symlayout_codegen.limits import limits as backend


def test_a_limit_of_the_backend_is_one_value_with_two_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sl.limits, "kernel_characters", 7)
    assert backend.kernel_characters == sl.limits.kernel_characters == 7
    monkeypatch.setattr(backend, "compiler_seconds", 2.5)
    assert sl.limits.compiler_seconds == 2.5


@pytest.mark.parametrize(
    ("name", "value", "error", "text"),
    [
        ("search_term", 1, AttributeError, "there is no limit 'search_term'"),
        ("kernel_character", 1, AttributeError, "there is no limit 'kernel_character'"),
        ("nesting", 1.5, TypeError, "limit nesting: 1.5 is not an integer"),
        ("nesting", True, TypeError, "limit nesting: True is not an integer"),
        ("compiler_seconds", "1", TypeError, "limit compiler_seconds: '1' is not a number"),
        ("kernel_characters", -1, ValueError, "limit kernel_characters: -1 is negative"),
    ],
)
def test_what_is_not_a_limit_is_refused(name: str, value: Any, error: type[Exception], text: str) -> None:
    before = repr(sl.limits)
    with pytest.raises(error) as caught:
        setattr(sl.limits, name, value)
    assert str(caught.value).startswith(text)
    assert repr(sl.limits) == before


def test_a_changed_limit_holds_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    t = sl.space_to_depth(sl.tensor("N, 2*h, 2*w, C", name="x"), 2, depth_axis=3)
    monkeypatch.setattr(sl.limits, "normal_form_goals", 0)
    with pytest.raises(sl.InconclusiveError, match="within 0 goals"):
        str(sl.pad(t, 1)[1:].index_map)


def test_the_limits_of_the_package_are_of_its_class() -> None:
    assert isinstance(sl.limits, Limits)
    assert sl.limits.search_terms == Limits().search_terms
