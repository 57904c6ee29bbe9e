"""What layouts reach, and who owns it, beside an enumeration: ``python -m tests.layouts.brute_image 2000``.

Nothing of the package but its public names is used.  An answer for all sizes is compared at values of the symbols: a
proved one at each of them, a refuted one at its witness.  Each case is compared at the values that meet its conditions.
"""

from __future__ import annotations

import argparse
import itertools
import random
import time
from collections import Counter
from collections.abc import Callable
from math import prod
from typing import Any

import symlayout as sl
from tests.layouts.brute_layouts import value
from tests.layouts.brute_symbols import Modes, drawn, holds, modes_at, number, spread, tops
from tests.layouts.shapes.brute_shapes import coordinate

VALUES = (1, 2, 3, 4, 5, 6, 8)
SIZES, STRIDES = (1, 2, 3, 4, 6), (-3, 0, 1, 2, 3, 4, 5, 6, 8, 12)
_MOST = 4096


def is_injective(modes: Modes) -> bool:
    """Return whether no two coordinates have one offset."""
    found = spread(modes)
    return len(set(found)) == len(found)


def is_surjective(modes: Modes, size: int | None = None) -> bool:
    """Return whether all offsets between the least and the largest one are reached; or just those below *size*."""
    found = set(spread(modes))
    return found == set(range(min(found), max(found) + 1) if size is None else range(size))


def points(a: sl.Layout, rng: random.Random) -> list[dict[str, int]]:
    """Return values of the symbols for which the layout is small."""
    names = sorted({s.name for e in (*_leaves(a.shape), *_leaves(a.stride)) for s in getattr(e, "free_symbols", ())})
    every = [dict(zip(names, at, strict=True)) for at in itertools.product((0, *VALUES), repeat=len(names))]
    sizes = [at for at in every if all(number(n, at) >= 1 for n in _leaves(a.shape))]
    small = [at for at in sizes if prod(number(n, at) for n in _leaves(a.shape)) <= _MOST]
    return rng.sample(small, min(len(small), 12))


def _leaves(e: Any) -> list[Any]:
    return [x for part in e for x in _leaves(part)] if isinstance(e, tuple) else [e]


def try_one(rng: random.Random, tally: Counter[str], times: list[float]) -> None:
    """Ask all three questions of one random layout."""
    if rng.random() < 0.5:
        rank = rng.randint(1, 4)
        a = sl.layout(tuple(rng.choice(SIZES) for _ in range(rank)), tuple(rng.choice(STRIDES) for _ in range(rank)))
    else:
        a = drawn(rng, rng.randint(1, 3))
    here = points(a, rng)
    size = rng.choice((None, None, 6, 24, a.size))
    questions: dict[str, Callable[[Any], Any]] = {
        "is_injective": lambda b: b.is_injective(),
        "is_surjective": lambda b: b.is_surjective(size),
    }
    for what, ask in questions.items():

        def expected(at: dict[str, int], what: str = what) -> bool:
            modes = modes_at(a, at)
            if what == "is_injective":
                return is_injective(modes)
            return is_surjective(modes, None if size is None else number(size, at))

        begun = time.perf_counter()
        found = ask(a)
        times.append(time.perf_counter() - begun)
        symbols = "symbols" if any(here) else "numbers"
        tally[f"{what}, {symbols}: {found.verdict.name}"] += 1
        if found.verdict is sl.Verdict.PROVED:
            assert all(expected(at) for at in here), (what, a, size, found)
        elif found.verdict is sl.Verdict.REFUTED:
            at = {s.name: n for s, n in (found.dims or {}).items()}
            assert not expected(at), (what, a, size, found)
            _check_witness(what, a, size, found, at)
        if symbols == "symbols":
            _check_cases(what, a, size, ask(a.cases), here, expected, tally)
    _check_owner(a, here, tally)


def _check_witness(what: str, a: sl.Layout, size: Any, found: sl.Finding, at: dict[str, int]) -> None:
    modes = modes_at(a, at)
    assert found.witness, (what, a)
    if what == "is_injective":
        offset, one, other = found.witness
        sizes = [prod(n for n, _ in mode) for mode in tops(a, at)]
        both = [sum(k * prod(sizes[:axis]) for axis, k in enumerate(c)) for c in (one, other)]
        assert one != other
        assert [value(modes, k) for k in both] == [offset, offset], (a, found)
    else:
        reached, inside = set(spread(modes)), None if size is None else range(number(size, at))
        (offset,) = found.witness
        assert (offset in reached) is (inside is not None and offset not in inside), (a, size, found)


def _check_cases(
    what: str, a: sl.Layout, size: Any, found: Any, here: list[dict[str, int]], expected: Any, tally: Counter[str]
) -> None:
    complete = all("cases is left" not in case.reason for case in found)
    for at in here:
        own = [case for case in found if holds(case.requires, at)]
        assert len(own) == 1 or not complete, (what, a, size, at, [case.requires for case in found])
        for case in own:
            tally[f"{what}, a case: {case.verdict.name}"] += 1
            if case.verdict is not sl.Verdict.UNKNOWN:
                assert expected(at) is (case.verdict is sl.Verdict.PROVED), (what, a, size, at, case.requires)


def _check_owner(a: sl.Layout, here: list[dict[str, int]], tally: Counter[str]) -> None:
    try:
        who = sl.owner(a)
    except sl.ShapeError as refused:
        tally[f"owner: {refused.kind}"] += 1
        return
    except sl.InconclusiveError:
        tally["owner: open"] += 1
        return
    chosen = [at for at in here if holds(who.requires, at)][:6]
    for at in chosen:
        sizes = tuple(prod(n for n, _ in mode) for mode in tops(a, at))
        modes = [
            (number(n, at), {} if d == 0 else {path[0]: number(f, at) for path, f in d.terms.items()})
            for n, d in zip(_leaves(who.shape), _leaves(who.stride), strict=True)
        ]
        for offset in set(spread(modes_at(a, at))):
            place = _place(modes, offset, len(sizes))
            assert all(0 <= c < n for c, n in zip(place, sizes, strict=True)), (a, who, at, offset)
            k = sum(c * prod(sizes[:axis]) for axis, c in enumerate(place))
            assert coordinate(k, sizes) == place
            assert value(modes_at(a, at), k) == offset, (a, who, at, offset)
    tally[f"owner{'' if chosen else ': for other sizes'}"] += 1


def _place(modes: list[tuple[int, dict[int, int]]], offset: int, rank: int) -> tuple[int, ...]:
    """Return the coordinate that a layout of coordinates has at an offset."""
    found = [0] * rank
    for n, step in modes:
        offset, digit = divmod(offset, n)
        for axis, factor in step.items():
            found[axis] += digit * factor
    return tuple(found)


def run(count: int, seed: int) -> tuple[Counter[str], list[float]]:
    """Try *count* layouts; return the tally, and the seconds of each answer."""
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
