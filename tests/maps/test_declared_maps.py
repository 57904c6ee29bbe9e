"""Maps that users declare in coordinates mean one thing: a short sample of `tests.fuzz.declared`."""

from __future__ import annotations

import pytest

from tests.fuzz.declared import judged


@pytest.mark.parametrize("first", [0, 10, 20])
def test_interpreter_brute_force_and_prover_agree_on_random_declarations(first: int) -> None:
    assert not list(filter(None, map(judged, range(first, first + 5))))


def test_the_kernel_computes_the_same() -> None:
    assert judged(3, kernel=True) == ""
