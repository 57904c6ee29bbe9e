"""Random operations that users declare in coordinates: interpreter, kernel, prover and brute force agree.

python -m tests.fuzz.declared 200 --seed 0
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from typing import Any

import numpy as np

import symlayout as sl

SIZES = (1, 2, 3, 5)


def coordinate(rnd: random.Random, axes: int) -> Any:
    """Return a random function of the output's coordinate and extents, and its text."""
    k, by, kind = rnd.randrange(axes), rnd.choice((1, 2, 3)), rnd.randrange(6)
    other = rnd.randrange(axes)
    forms = [
        (lambda i, n: i[k], f"i{k}"),
        (lambda i, n: n[k] - 1 - i[k], f"n{k} - 1 - i{k}"),
        (lambda i, n: i[k] // by, f"i{k} // {by}"),
        (lambda i, n: i[k] % by, f"i{k} % {by}"),
        (lambda i, n: (i[k] + by) % n[k], f"(i{k} + {by}) % n{k}"),
        (lambda i, n: i[k] - by + i[other], f"i{k} - {by} + i{other}"),
    ]
    return forms[kind]


def judged(seed: int, *, kernel: bool = False) -> str:
    """Return what is wrong with a random declaration; an empty text if all agree."""
    rnd = random.Random(seed)
    axes = rnd.choice((1, 2))
    chosen = [coordinate(rnd, axes) for _ in range(axes)]
    text = ", ".join(t for _, t in chosen)
    dims = sl.dims("N M", min=1)[:axes]
    x = sl.tensor(dims, dtype="int64", name="x")

    def read(*i: Any) -> list[Any]:
        return [f(i, x.shape) for f, _ in chosen]

    y = sl.index_map(x, x.shape, read, fill=-7)
    again = sl.index_map(x, x.shape, lambda *i: [c + 0 for c in read(*i)], fill=-7)
    turned = sl.flip(y, 0)
    equal, other = sl.prove_equal(y, again, budget=50), sl.prove_equal(y, turned, budget=50)
    if equal.verdict is sl.Verdict.REFUTED:
        return f"{seed}: {text} differs from itself"
    for sizes in itertools.product(SIZES, repeat=axes):
        a = np.arange(int(np.prod(sizes))).reshape(sizes)
        expected = np.full(sizes, -7)
        for i in np.ndindex(*sizes):
            place = tuple(f(i, sizes) for f, _ in chosen)
            if all(0 <= c < n for c, n in zip(place, sizes, strict=True)):
                expected[i] = a[place]
        if not np.array_equal(sl.interpret(y, a), expected):
            return f"{seed}: {text} at {sizes}: the interpreter"
        if kernel and not np.array_equal(sl.compile(y)(a), expected):
            return f"{seed}: {text} at {sizes}: the kernel"
        if other.verdict is sl.Verdict.PROVED and not np.array_equal(expected, expected[::-1]):
            return f"{seed}: {text} at {sizes}: PROVED to be its own reverse"
    return ""


def main(arguments: list[str]) -> int:
    """Run the command line; return 1 if something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.declared")
    parser.add_argument("count", type=int, nargs="?", default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    seeds = range(options.seed, options.seed + options.count)
    found = [text for seed in seeds if (text := judged(seed, kernel=seed % 10 == 0))]
    print("\n".join([*found, f"{options.count} declarations, {len(found)} wrong"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
