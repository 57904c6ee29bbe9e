"""Random systems of inequalities between dims: bounds and contradictions, judged by enumeration.

``python -m tests.algebra.inequality_sweep [SECONDS] [FIRST_SEED]`` checks systems until the time is up and prints how
often a bound is exact.  A bound that leaves out a point, or a system that is called infeasible and has one, stops it.
"""

from __future__ import annotations

import itertools
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import symlayout as sl
from symlayout.errors import ShapeError

_TOP = 7  # enumeration goes up to here, where a dim has no upper bound

Values = dict[Any, int]


class Linear:
    """A sum of multiples of dims, sometimes with a maximum, a minimum, a floor or a remainder of two such."""

    def __init__(self, rnd: random.Random, dims: tuple[Any, ...], *, rounded: bool) -> None:
        self.parts = [
            (rnd.choice((-3, -2, -1, -1, 1, 1, 2, 3)), d) for d in rnd.sample(dims, min(len(dims), rnd.randint(1, 3)))
        ]
        self.constant = rnd.randint(-4, 8)
        self.form = rnd.choice(("", "", "max", "min", "floor", "%")) if rounded else ""
        self.divisor = rnd.randint(2, 5)
        self.other = Linear(rnd, dims, rounded=False) if self.form in ("max", "min") else None

    def at(self, values: Values) -> int:
        """Return the value where the dims have these values."""
        whole = sum(c * values[d] for c, d in self.parts) + self.constant
        if self.other is not None:
            return (max if self.form == "max" else min)(whole, self.other.at(values))
        return {"": whole, "floor": whole // self.divisor, "%": whole % self.divisor}[self.form]

    def __str__(self) -> str:
        whole = " + ".join((*(f"{c}*{d}" for c, d in self.parts), str(self.constant))).replace("+ -", "- ")
        if self.other is not None:
            return f"{self.form}({whole}, {self.other})"
        return {"": whole, "floor": f"({whole})//{self.divisor}", "%": f"(({whole}) % {self.divisor})"}[self.form]


def check(seed: int) -> Counter[str]:
    """Check one system; return how many bounds are exact, of how many."""
    rnd = random.Random(seed)
    names = "abcdef"[: rnd.randint(2, 4)]
    ends = {name: (rnd.choice((0, 0, 1, 2)), rnd.choice((4, 5, 6, None))) for name in names}
    dims = tuple(names)
    facts = [Linear(rnd, dims, rounded=rnd.random() < 0.1) for _ in range(rnd.randint(1, 5))]
    if rnd.random() < 0.5:  # a chain
        facts = [_difference(a, b, rnd) for a, b in itertools.pairwise(rnd.sample(dims, len(dims)))]
    wanted = [Linear(rnd, dims, rounded=rnd.random() < 0.4) for _ in range(3)]
    points = [p for p in _points(dims, ends) if all(f.at(p) >= 0 for f in facts)]
    whole = all(high is not None for _, high in ends.values())
    shape = ", ".join(f"{n} >= {low}" if high is None else f"{low} <= {n} <= {high}" for n, (low, high) in ends.items())
    relations = [f"{f} >= 0" for f in facts]
    found = _assumed(shape, relations)
    if found is None:
        assert not points, (seed, "called infeasible", points[0])
        return Counter(infeasible=1)
    tally: Counter[str] = Counter(systems=1)
    if not points:
        tally["empty, not found"] += whole
        return tally
    for e in wanted:
        values = [e.at(p) for p in points]
        t = _assumed(f"{e} + 1000, {shape}", relations)
        assert t is not None, (seed, "extent called infeasible")
        low, high = t.bounds()[0]
        assert low is not None
        assert low <= min(values) + 1000, (seed, "low", str(e), low - 1000, min(values))
        assert high is None or high >= max(values) + 1000, (seed, "high", str(e), high - 1000, max(values))
        below, above = (_assumed(shape, [*relations, r]) for r in (f"{e} >= {min(values)}", f"{e} <= {max(values)}"))
        assert below is not None, (seed, str(e), "called infeasible")
        assert above is not None, (seed, str(e), "called infeasible")
        if whole:
            tally["bounds"] += 2
            tally["exact"] += (low == min(values) + 1000) + (high == max(values) + 1000)
            tally["followed"] += (below.requires == found.requires) + (above.requires == found.requires)
            outside = _assumed(shape, [*relations, f"{e} <= {min(values) - 1}"])
            tally["beyond"] += 1
            tally["beyond, refused"] += outside is None
    return tally


def _assumed(shape: str, relations: list[str]) -> sl.Tensor | None:
    """Return a tensor of which the relations are assumed, or None if they are called infeasible."""
    try:
        return sl.assume(sl.tensor(shape), *relations)
    except ShapeError as error:
        if error.kind != "infeasible":
            raise
        return None


def _difference(a: Any, b: Any, rnd: random.Random) -> Linear:
    made = Linear(rnd, (a, b), rounded=False)
    made.parts, made.constant = [(rnd.choice((1, 1, 2)), a), (-rnd.choice((1, 1, 2)), b)], rnd.randint(-2, 2)
    return made


def _points(dims: tuple[Any, ...], ends: dict[str, tuple[int, int | None]]) -> Iterator[Values]:
    ranges = [range(low, (_TOP if high is None else high) + 1) for low, high in ends.values()]
    for values in itertools.product(*ranges):
        yield dict(zip(dims, values, strict=True))


def main(seconds: float = 60.0, seed: int = 0) -> None:
    """Check systems until the time is up."""
    end = time.monotonic() + seconds
    total: Counter[str] = Counter()
    slowest = 0.0
    while time.monotonic() < end:
        begin = time.perf_counter()
        total += check(seed)
        slowest = max(slowest, time.perf_counter() - begin)
        seed += 1
    print(f"seeds to {seed}: {dict(total)}, slowest {slowest:.2f} s")


if __name__ == "__main__":
    main(*(kind(text) for kind, text in zip((float, int), sys.argv[1:], strict=False)))
