"""The chains that attacks draw, as `tests.fuzz` does, each said before it is run: a crash then has a name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.support.strategies import DYNAMIC, Case, cases

Work = Callable[[Case], object]


def each_chain(count: int, start: int, last: Path, fixed: Work, for_all: Work) -> int:
    """Draw *count* chains for *fixed*, which fixes their shapes, and half as many for *for_all*, which does not.

    The chain at hand stands in the file *last*.  Return how many were run.
    """
    done = 0

    def run(work: Work, case: Case) -> None:
        nonlocal done
        done += 1
        last.write_text(repr(case), encoding="utf-8")
        work(case)

    quick = settings(
        deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck), print_blob=False
    )

    @seed(start)
    @settings(quick, max_examples=count)
    @given(cases())
    def first(case: Case) -> None:
        run(fixed, case)

    @seed(start)
    @settings(quick, max_examples=max(1, count // 2))
    @given(cases(only=DYNAMIC, most_steps=3))
    def second(case: Case) -> None:
        run(for_all, case)

    first()
    second()
    return done
