"""Random layouts beside an enumeration of their own: ``python -m tests.layouts.brute_layouts 5000``.

A layout is a function here, and nothing of the package but its public names is used.  Each result is compared with its
definition at every coordinate.  A refused composition is right if no layout has its values; `is_layout` decides that.
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections import Counter
from collections.abc import Callable, Sequence
from math import prod

import symlayout as sl

Function = Callable[[int], int]
Modes = Sequence[tuple[int, int]]

SIZES = (1, 2, 3, 4, 5, 6)
STRIDES = (0, 1, 2, 3, 4, 5, 6, 8, 12)


def value(modes: Modes, k: int) -> int:
    """Return the offset of the number *k*; the last digit has no end."""
    total = 0
    for size, stride in modes[:-1]:
        total += k % size * stride
        k //= size
    return total + k * modes[-1][1]


def is_layout(f: Function, sizes: Sequence[int]) -> bool:
    """Return whether modes that refine *sizes* have the values of *f*, a function of the number of a coordinate."""
    units = [prod(sizes[:axis]) for axis in range(len(sizes))]
    boxes = itertools.product(*map(range, sizes))
    sums = all(
        f(sum(c * u for c, u in zip(at, units, strict=True))) == sum(f(c * u) for c, u in zip(at, units, strict=True))
        for at in boxes
    )
    axes = [_along(f, unit) for unit in units]
    return f(0) == 0 and sums and all(_is_mode(axis, n) for axis, n in zip(axes, sizes, strict=True))


def _along(f: Function, unit: int) -> Function:
    return lambda k: f(k * unit)


def _is_mode(f: Function, size: int) -> bool:
    run = next((k for k in range(1, size) if f(k) != k * f(1)), size)
    if run == size:
        return True
    rows = range(size // run)
    repeats = size % run == 0 and all(f(q * run + i) == f(q * run) + f(i) for q in rows for i in range(run))
    return repeats and _is_mode(_along(f, run), size // run)


def nested(modes: Modes, rng: random.Random) -> sl.Layout:
    """Return the layout of the modes, some of them in a tuple."""
    parts = list(modes)
    if len(parts) == 1 and rng.random() < 0.5:
        return sl.layout(*parts[0])
    if len(parts) > 1 and rng.random() < 0.5:
        cut = rng.randint(1, len(parts) - 1)
        (a, b), rest = zip(*parts[:cut], strict=True), zip(*parts[cut:], strict=True)
        c, d = rest
        return sl.layout((a, *c), (b, *d))
    sizes, strides = zip(*parts, strict=True)
    return sl.layout(sizes, strides)


def try_one(rng: random.Random, tally: Counter[str]) -> None:
    """Compare all operations on two random layouts with their definitions."""
    outer = [(rng.choice(SIZES), rng.choice(STRIDES)) for _ in range(rng.randint(1, 3))]
    inner = [(rng.choice(SIZES), rng.choice(STRIDES)) for _ in range(rng.randint(1, 2))]
    a, b = nested(outer, rng), nested(inner, rng)
    assert sl.layout(str(a)) == a
    _try_composition(a, b, outer, inner, tally)
    _try_complement(a, outer, rng.choice((1, 7, 24)), tally)
    values = [value(outer, k) for k in range(a.size)]
    assert [a(k) for k in range(a.size)] == values
    short = a.coalesce()
    assert [short(k) for k in range(a.size)] == values
    right = a.right_inverse()
    assert [a(right(k)) for k in range(right.size)] == list(range(right.size)), a
    try:
        left = a.left_inverse()
        assert [a(left(v)) for v in values] == values, a
        still = any(d == 0 and n > 1 for n, d in outer)
        assert still or [left(v) for v in values] == list(range(a.size)), a
        tally["left inverse that is one of several" if still else "left inverse"] += 1
    except sl.InconclusiveError:
        tally["left inverse not found"] += 1


def _try_composition(a: sl.Layout, b: sl.Layout, outer: Modes, inner: Modes, tally: Counter[str]) -> None:
    sizes = [n for n, _ in inner]

    def expected(k: int) -> int:
        digits = [k // prod(sizes[:axis]) % n for axis, n in enumerate(sizes)]
        return value(outer, sum(digit * d for digit, (_, d) in zip(digits, inner, strict=True)))

    try:
        found = a.composition(b)
    except sl.ShapeError:
        assert not is_layout(expected, sizes), (a, b)
        tally["no composition"] += 1
        return
    assert [found(k) for k in range(prod(sizes))] == [expected(k) for k in range(prod(sizes))], (a, b, found)
    tally["composition"] += 1


def _try_complement(a: sl.Layout, outer: Modes, size: int, tally: Counter[str]) -> None:
    moving = [(n, d) for n, d in outer if n > 1 and d > 0]
    reached = [
        sum(c * d for c, (_, d) in zip(at, moving, strict=True))
        for at in itertools.product(*(range(n) for n, _ in moving))
    ]
    try:
        found = a.complement(size)
    except sl.ShapeError:
        tally["no complement"] += 1
        return
    others = [found(k) for k in range(found.size)]
    assert others == sorted(others)
    sums = sorted(x + y for x in reached for y in others)
    assert len(set(sums)) == len(sums), (a, found)
    assert sums[-1] + 1 >= size, (a, found)
    tally["complement" if sums == list(range(len(sums))) else "complement with gaps"] += 1


def run(count: int, seed: int) -> Counter[str]:
    """Try *count* pairs of layouts."""
    rng, tally = random.Random(seed), Counter[str]()
    for _ in range(count):
        try_one(rng, tally)
    return tally


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for what, number in sorted(run(given.count, given.seed).items()):
        print(f"{number:8} {what}")
