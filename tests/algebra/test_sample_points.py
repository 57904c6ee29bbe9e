"""How much is sampled: a search for points where a goal fails needs points where the facts hold."""

from __future__ import annotations

import pytest

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import symbol
from symlayout.algebra.sample_points import _SAMPLE_TRIALS, Samples
from symlayout.language.sympy_bridge import dim, to_extent


def facts(equation: int) -> Facts:
    """Return facts of two dims with ``(n + 2)*(m + 2) == equation``."""
    found = Facts()
    n, m = (to_extent(dim(name), found) for name in ("n", "m"))
    found.require_zero((n + 2) * (m + 2) - equation, "size_mismatch", "test")
    return found


@pytest.mark.parametrize(("equation", "has_points"), [(12, True), (101, False)])
def test_no_point_where_a_goal_fails_is_looked_for_where_none_was_found_for_the_facts(
    monkeypatch: pytest.MonkeyPatch, equation: int, has_points: bool
) -> None:
    known = facts(equation)
    count = 0
    sample = Samples._sample

    def counted(self: Samples, *given: object) -> dict[str, int] | None:
        nonlocal count
        count += 1
        return sample(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Samples, "_sample", counted)
    n, m = symbol("n"), symbol("m")
    assert not known.nonnegative(n * n - m * m * 2 + n * m - 3)
    assert not known.nonnegative(m * m * m - n * n - 3)
    assert (known._points() != []) is has_points
    assert 0 < count <= (2 * _SAMPLE_TRIALS if has_points else _SAMPLE_TRIALS)
