"""How many random cases a test takes: all of them, or a tenth in ``make test``."""

from __future__ import annotations

from hypothesis import settings

FULL = 100
"""The examples of hypothesis's own profile; `tests.conftest` has the profile ``quick`` with fewer."""


def examples(count: int) -> int:
    """Return *count*, or the share of it that the profile takes, but at least 3.

    >>> examples(2)
    2
    """
    profile = settings.default
    assert profile is not None
    return max(min(count, 3), count * profile.max_examples // FULL)
