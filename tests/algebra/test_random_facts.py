"""Random systems of facts are true exactly where the facts that they are made of are."""

from __future__ import annotations

import pytest

from tests.algebra.systems import check_system, random_system

SEEDS = range(250)


@pytest.mark.sample(9)
@pytest.mark.parametrize("seed", range(0, len(SEEDS), 25))
def test_a_random_system_is_true_where_its_statements_are(seed: int) -> None:
    solved = 0
    for s in SEEDS[seed : seed + 25]:
        system, error = random_system(s)
        feasible, infeasible = system.points()
        if error is not None:
            assert not feasible, f"seed {s}: {error}, but {feasible[0]} meets all"
            continue
        solved += 1
        check_system(system, feasible, infeasible, f"seed {s}")
    assert solved
