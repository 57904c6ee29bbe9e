"""Answers about access beside an enumeration: ``python -m tests.layouts.access_sweep 1000 --seed 1``.

A layout is a list of sizes and strides here.  Words, sectors and vectors are counted one by one, in plain Python; only
public names of the package are asked.  Half of the layouts have dims; their answers are compared at several values.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import symlayout as sl

Number = tuple[int, int, int]  # constant + a*A + b*B
Swizzled = tuple[int, int, int]
POINTS = (
    (0, 1),
    (1, 0),
    (1, 1),
    (2, 1),
    (3, 2),
    (4, 8),
    (7, 5),
    (8, 33),
    (31, 32),
    (32, 64),
    (33, 4),
    (64, 20),
    (100, 96),
)


def swizzled(n: int, numbers: Swizzled) -> int:
    bits, base, shift = numbers
    mask = ((1 << bits) - 1) << (base + max(0, shift))
    return n ^ ((n & mask) >> shift if shift >= 0 else (n & mask) << -shift)


def offset(sizes: Sequence[int], strides: Sequence[int], number: int) -> int:
    """Return the offset of the coordinate with a number; the first digit is the fastest."""
    total = 0
    for n, d in zip(sizes, strides, strict=True):
        total += number % n * d
        number //= n
    return total


def words(offsets: Sequence[int], element: int, block: int) -> set[int]:
    """Return the blocks that elements touch, byte by byte."""
    return {(o * element + byte) // block for o in offsets for byte in range(element)}


def ways(offsets: Sequence[int], element: int, width: int, banks: int) -> int:
    return max(Counter(w % banks for w in words(offsets, element, width)).values())


def width_of(sizes: Sequence[int], strides: Sequence[int], numbers: Swizzled, axis: int, base: int) -> int:
    """Return the most elements along an axis that are contiguous and aligned, for flat modes."""
    others = [range(n) for k, n in enumerate(sizes) if k != axis]
    steps = [d for k, d in enumerate(strides) if k != axis]
    for v in sorted((v for v in range(1, sizes[axis] + 1) if sizes[axis] % v == 0 and base % v == 0), reverse=True):
        if all(
            swizzled(at + (c + i) * strides[axis], numbers) == swizzled(at + c * strides[axis], numbers) + i
            and swizzled(at + c * strides[axis], numbers) % v == 0
            for other in itertools.product(*others)
            for at in [sum(x * d for x, d in zip(other, steps, strict=True))]
            for c in range(0, sizes[axis], v)
            for i in range(v)
        ):
            return v
    raise AssertionError("1 is always a width")


def drawn(rng: random.Random, numbers: bool) -> tuple[list[Number], list[Number], Swizzled]:
    """Return sizes, strides and a swizzle."""
    rank = rng.randint(1, 3)
    sizes: list[Number] = [(rng.choice([1, 2, 3, 4, 6, 8, 16, 32]), 0, 0) for _ in range(rank)]
    strides: list[Number] = [(rng.choice([0, 1, 1, 2, 3, 4, 5, 8, 12, 16, 32, 33, 64, 68]), 0, 0) for _ in range(rank)]
    swizzle = (0, 0, 0)
    kind = rng.random() * (0.5 if numbers else 1)
    if kind < 0.25:
        swizzle = rng.choice([(1, 0, 1), (2, 1, 2), (2, 0, -2), (3, 2, 3), (1, 3, -1), (3, 3, 3)])
    elif not numbers and kind < 0.75:
        for _ in range(rng.randint(1, 2)):
            where = rng.choice([strides, strides, strides, sizes])
            k = rng.randrange(rank)
            c = rng.choice([1, 1, 2, 4, 3, 8])
            dim = rng.choice([(c, 0), (0, c), (c, 0), (c, c)] if where is strides else [(c, 0)])
            constant = rng.choice([0, 0, 1, 4]) if where is strides else rng.choice([1, 2])
            where[k] = (constant, *dim)
    return sizes, strides, swizzle


def text(e: Number) -> str:
    return f"{e[0]} + {e[1]}*A + {e[2]}*B" if e[1] or e[2] else str(e[0])


def asked(rng: random.Random, tally: Counter[str], numbers: bool) -> list[str]:
    """Compare one random layout; return what is wrong."""
    sizes, strides, swizzle = drawn(rng, numbers)
    inner = f"({','.join(map(text, sizes))}):({','.join(map(text, strides))})"
    written = f"S<{swizzle[0]},{swizzle[1]},{swizzle[2]}> o 0 o {inner}" if swizzle[0] else inner
    threads, element = rng.choice([1, 4, 8, 16, 32]), rng.choice([1, 2, 2, 4, 4, 8, 16, 3])
    width, banks, sector = rng.choice([4, 4, 8]), rng.choice([32, 32, 16, 8]), rng.choice([32, 64, 128])
    axis, base = rng.randrange(len(sizes)), rng.choice([0, 0, 8, 16])
    found: dict[str, Any] = {}
    questions: dict[str, Callable[[], Any]] = {
        "bank_conflicts": lambda: sl.bank_conflicts(written, threads, banks, width, element),
        "coalescing": lambda: sl.coalescing(written, threads, element, sector),
        "vector_width": lambda: sl.vector_width(written, axis, base or None),
    }
    for name, question in questions.items():
        try:
            found[name] = question()
        except sl.InconclusiveError:
            tally[f"{name} refused"] += 1
    has_dims = any(a or b for _, a, b in (*sizes, *strides))
    wrong = []
    for a, b in POINTS if has_dims else POINTS[:1]:
        n, d = ([c + x * a + y * b for c, x, y in each] for each in (sizes, strides))
        if prod(n) > 4096:
            continue
        offsets = [swizzled(offset(n, d, t), swizzle) for t in range(min(threads, prod(n)))]
        expected = {
            "bank_conflicts": ways(offsets, element, width, banks),
            "coalescing": len(words(offsets, element, sector)),
            "vector_width": width_of(n, d, swizzle, axis, base),
        }
        for name, answer in found.items():
            got = answer.at({"A": a, "B": b})
            tally[f"{name} {'with dims' if has_dims else 'of numbers'}"] += 1
            if got != expected[name]:
                case = f"{threads=} {element=} {width=} {banks=} {sector=} {axis=} {base=}"
                wrong.append(f"{name} of {written} at A={a}, B={b}: {got}, not {expected[name]} ({case})")
    return wrong


def sweep(count: int, seed: int, *, numbers: bool = False) -> tuple[Counter[str], list[str]]:
    """Return how many answers were compared, and the wrong ones."""
    rng, tally = random.Random(seed), Counter[str]()
    return tally, [line for _ in range(count) for line in asked(rng, tally, numbers)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--numbers", action="store_true", help="layouts without dims only")
    options = parser.parse_args()
    tally, wrong = sweep(options.count, options.seed, numbers=options.numbers)
    print(f"{options.count} layouts, {len(wrong)} wrong")
    for name, number in sorted(tally.items()):
        print(f"  {name}: {number}")
    print("\n".join(wrong[:10]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
