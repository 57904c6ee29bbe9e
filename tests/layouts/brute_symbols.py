"""Random layouts with symbols beside an enumeration of sizes: ``python -m tests.layouts.brute_symbols 500``.

Nothing of the package but its public names is used.  A result is read from its text, its sizes are numbers then, and
each is compared with its definition at every coordinate.  So are the sizes of each case, and those that have no layout.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import prod
from typing import Any

import symlayout as sl
from tests.layouts.brute_layouts import is_layout, value

Modes = list[tuple[int, int]]

SIZES = ("1", "2", "3", "4", "6", "8", "M", "N", "2*M", "4*N", "M*N")
STRIDES = ("0", "1", "2", "3", "4", "6", "8", "12", "M", "N", "2*N", "K", "4*K", "M*N")
VALUES = (1, 2, 3, 4, 6, 8)
_MOST_ELEMENTS = 600
_MOST_POINTS = 40

WORDS = {"floor": math.floor, "ceiling": math.ceil, "Max": max, "Min": min, "Mod": lambda a, b: a % b}
RELATIONS = {"Eq": lambda a, b: a == b, **WORDS}


def number(e: Any, at: dict[str, int]) -> int:
    """Return the integer that an expression is at these values."""
    found = Fraction(eval(str(e), dict(WORDS), {name: Fraction(v) for name, v in at.items()}))
    assert found.denominator == 1, (e, at)
    return int(found)


def holds(relations: Sequence[Any], at: dict[str, int]) -> bool:
    """Return whether all relations hold at these values."""
    known = {name: Fraction(v) for name, v in at.items()}
    try:
        return all(eval(str(r), dict(RELATIONS), known) for r in relations)
    except ZeroDivisionError:
        return False


def modes_at(a: sl.Layout, at: dict[str, int]) -> Modes:
    """Return the flat modes of a layout at these values."""
    return [(number(n, at), number(d, at)) for n, d in zip(_flat(a.shape), _flat(a.stride), strict=True)] or [(1, 0)]


def _flat(e: Any) -> Iterator[Any]:
    if isinstance(e, tuple):
        for part in e:
            yield from _flat(part)
    else:
        yield e


def spread(modes: Modes) -> list[int]:
    """Return all values."""
    sums = [0]
    for n, d in modes:
        sums = [x + k * d for k in range(n) for x in sums]
    return sums


def tops(a: sl.Layout, at: dict[str, int]) -> list[Modes]:
    """Return the modes of each mode at the top."""
    return [modes_at(a[axis], at) for axis in range(a.rank)]


class Judge:
    """What each operation is defined by, at sizes; an assertion fails where a result is wrong."""

    @staticmethod
    def coalesce(a: Modes, _: Modes, found: Modes) -> None:
        assert spread(a) == spread(found)

    @staticmethod
    def filter(a: Modes, _: Modes, found: Modes) -> None:
        assert spread([(n, d) for n, d in a if d]) == spread(found)

    @staticmethod
    def composition(a: Modes, b: Modes, found: Modes) -> None:
        assert spread(found) == [value(a, k) for k in spread(b)]

    @staticmethod
    def complement(a: Modes, b: Modes, found: Modes) -> None:
        own, others = set(spread(a)), spread(found)
        sums = {x + y for x in own for y in others}
        assert len(sums) == len(own) * len(others)
        assert others == sorted(others)
        assert max(sums) + 1 >= prod(n for n, _ in b)

    @staticmethod
    def right_inverse(a: Modes, _: Modes, found: Modes) -> None:
        size = prod(n for n, _ in found)
        assert [value(a, value(found, k)) for k in range(size)] == list(range(size))

    @staticmethod
    def left_inverse(a: Modes, _: Modes, found: Modes) -> None:
        values = spread(a)
        assert [value(a, value(found, v)) for v in values] == values
        if all(d for n, d in a if n > 1):
            assert [value(found, v) for v in values] == list(range(len(values)))

    @staticmethod
    def upcast(a: Modes, _: Modes, found: Modes) -> None:
        assert {v // 4 for v in spread(a)} == set(spread(found))

    @staticmethod
    def downcast(a: Modes, _: Modes, found: Modes) -> None:
        parts = {4 * v + k for v in spread(a) for k in (range(4) if any(d == 1 for _, d in a) else (0,))}
        assert set(spread(found)) == parts

    @staticmethod
    def logical_divide(a: Modes, b: Modes, found: list[Modes]) -> None:
        tile, rest = found
        assert spread(tile) == [value(a, k) for k in spread(b)]
        size = prod(n for n, _ in a)
        if len(spread(tile)) * len(spread(rest)) == size and _leaves_no_gap(b):
            assert sorted(spread(tile + rest)) == sorted(spread(a))

    @staticmethod
    def logical_product(a: Modes, b: Modes, found: list[Modes]) -> None:
        block, copies = found
        assert spread(block) == spread(a)
        assert len(spread(copies)) == len(spread(b))
        assert len({x + y for x in spread(block) for y in spread(copies)}) == len(set(spread(a))) * len(set(spread(b)))


def _leaves_no_gap(b: Modes) -> bool:
    """Return whether each stride is a multiple of what the smaller ones reach: the rest takes in all that is left."""
    reached = 1
    for d, n in sorted((d, n) for n, d in b if n > 1):
        if d == 0 or d % reached:
            return False
        reached = n * d
    return True


def refuted(what: str, a: Modes, b: Modes) -> bool:
    """Return whether no layout is the composition, where that is asked."""
    sizes = [n for n, _ in b]

    def f(k: int) -> int:
        digits = [k // prod(sizes[:axis]) % n for axis, n in enumerate(sizes)]
        return value(a, sum(digit * d for digit, (_, d) in zip(digits, b, strict=True)))

    return what != "composition" or not is_layout(f, sizes)


def points(a: sl.Layout, b: sl.Layout, rng: random.Random) -> list[dict[str, int]]:
    """Return values of the symbols of two layouts that have few elements."""
    extents = [e for one in (a, b) for e in (*_flat(one.shape), *_flat(one.stride))]
    names = sorted({s.name for e in extents for s in getattr(e, "free_symbols", ())})
    found = [dict(zip(names, at, strict=True)) for at in itertools.product(VALUES, repeat=len(names))]
    small = [at for at in found if all(prod(n for n, _ in modes_at(x, at)) <= 200 for x in (a, b))]
    return rng.sample(small, min(len(small), _MOST_POINTS))


def drawn(rng: random.Random, rank: int) -> sl.Layout:
    """Return a layout of random sizes and strides; half of them are compact in part."""
    sizes = [rng.choice(SIZES) for _ in range(rank)]
    strides = [rng.choice(STRIDES) for _ in range(rank)]
    if rng.random() < 0.6:
        order = rng.sample(range(rank), rank)
        step = "1"
        for axis in order:
            strides[axis] = step
            step = f"{step}*{sizes[axis]}" if step != "1" else sizes[axis]
        if rng.random() < 0.4:
            strides[rng.choice(order)] = rng.choice(STRIDES)
    return sl.layout(f"({','.join(sizes)}):({','.join(strides)})")


OPERATIONS: dict[str, Callable[[Any, sl.Layout], Any]] = {
    "coalesce": lambda a, b: a.coalesce(),
    "filter": lambda a, b: a.filter(),
    "composition": lambda a, b: a.composition(b),
    "complement": lambda a, b: a.complement(b.size),
    "right_inverse": lambda a, b: a.right_inverse(),
    "left_inverse": lambda a, b: a.left_inverse(),
    "upcast": lambda a, b: a.upcast(4),
    "downcast": lambda a, b: a.downcast(4),
    "logical_divide": lambda a, b: a.logical_divide(b),
    "logical_product": lambda a, b: a.logical_product(b),
}


def judge(what: str, a: sl.Layout, b: sl.Layout, found: sl.Layout, at: dict[str, int]) -> bool:
    """Compare a result with its definition at these values; return whether it is small enough to compare."""
    x, y = modes_at(a, at), modes_at(b, at)
    if prod(n for n, _ in modes_at(found, at)) > _MOST_ELEMENTS:
        return False
    parts = what in ("logical_divide", "logical_product")
    getattr(Judge, what)(x, y, tops(found, at) if parts else modes_at(found, at))
    return True


def try_one(rng: random.Random, tally: Counter[str], times: list[float]) -> None:
    """Compare one operation on random layouts with its definition, and its cases."""
    what = rng.choice(["composition", *OPERATIONS])
    a, b = drawn(rng, rng.randint(1, 3)), drawn(rng, rng.randint(1, 2))
    ask = OPERATIONS[what]
    here = points(a, b, rng)
    begun = time.perf_counter()
    try:
        found = ask(a, b)
        times.append(time.perf_counter() - begun)
    except sl.ShapeError as refused:
        tally[f"{what}: {refused.kind}"] += 1
        if refused.kind == "no_layout" and not all(refuted(what, modes_at(a, at), modes_at(b, at)) for at in here):
            raise AssertionError(f"{what} of {a}, {b} has a layout") from refused
        return
    except sl.InconclusiveError:
        tally[f"{what}: open"] += 1
        return
    chosen = [at for at in here if holds(found.requires, at)]
    try:
        compared = sum(judge(what, a, b, found, at) for at in chosen)
    except AssertionError as error:
        raise AssertionError(f"{what} of {a}, {b} is {found} for {found.requires}: {error}") from error
    tally[f"{what}: {'right' if compared else 'not compared'}{' with requirements' if found.requires else ''}"] += 1
    if rng.random() < 0.2:
        _try_cases(what, a, b, ask(a.cases, b), here, tally)


def _try_cases(
    what: str, a: sl.Layout, b: sl.Layout, found: Any, here: list[dict[str, int]], tally: Counter[str]
) -> None:
    for at in here:
        own = [case for case in found if holds(case.requires, at)]
        complete = all("cases is left" not in case.reason for case in found)
        assert len(own) == 1 or not complete, (what, a, b, at, [case.requires for case in found])
        for case in own:
            tally[f"case: {case.kind}"] += 1
            if case.layout is not None:
                judge(what, a, b, case.layout, at)
            elif case.kind == "no_layout":
                assert refuted(what, modes_at(a, at), modes_at(b, at)), (what, a, b, at, case.reason)


def run(count: int, seed: int) -> tuple[Counter[str], list[float]]:
    """Try *count* questions; return the tally, and the seconds of each answer."""
    rng, tally = random.Random(seed), Counter[str]()
    times: list[float] = []
    for _ in range(count):
        try_one(rng, tally, times)
    return tally, times


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    counted, seconds = run(given.count, given.seed)
    for label, many in sorted(counted.items()):
        print(f"{many:8} {label}")
    print(f"median {1000 * sorted(seconds)[len(seconds) // 2]:.1f} ms, 0 wrong")
