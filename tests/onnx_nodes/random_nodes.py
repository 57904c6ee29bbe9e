"""Random nodes of model files, and a command that compares them with the framework that runs the model."""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

Array = np.ndarray[Any, Any]
FLOATS = ("float32", "float64", "float16")
INTEGERS = ("int32", "int64", "int8", "uint8")


class Node(Protocol):
    """A case: one node of a model, and its inputs."""

    op: str


N = TypeVar("N", bound=Node)
Cases = Callable[[int, int, str | None], Iterator[tuple[int, N]]]


class Draw:
    """Random choices of one case."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.rng = np.random.default_rng(seed)

    def extent(self) -> int:
        """Return a small extent, now and then 0 or 1."""
        return self.r.choice((0, 1, 1, 2, 3, 3, 4, 5))

    def shape(self, low: int = 0, high: int = 4) -> list[int]:
        """Return extents."""
        return [self.extent() for _ in range(self.r.randint(low, high))]

    def array(self, shape: Any, dtype: str) -> Array:
        """Return elements of small size."""
        made: Any = self.rng.integers(-16, 17, shape) / 8
        if dtype == "bool":
            made = self.rng.integers(0, 2, shape)
        elif dtype.startswith("u"):
            made = self.rng.integers(0, 9, shape)
        elif dtype.startswith("int"):
            made = self.rng.integers(-6, 7, shape)
        return np.asarray(made, np.dtype(dtype))

    def broadcast(self, shape: list[int]) -> list[int]:
        """Return a shape that broadcasts with *shape*."""
        cut = shape[self.r.randint(0, len(shape)) :]
        return [1 if self.r.random() < 0.3 else n for n in cut]

    def some(self, axes: int) -> list[int]:
        """Return distinct axes, negative ones too."""
        chosen = self.r.sample(range(axes), self.r.randint(0, axes))
        return [a - axes if self.r.random() < 0.4 else a for a in chosen]

    def axis(self, rank: int) -> int:
        """Return an axis."""
        return self.r.randrange(-rank, rank)


def numbered(draws: Sequence[Callable[[Draw], N]], count: int, first: int, op: str | None) -> Iterator[tuple[int, N]]:
    """Yield numbered cases, from each drawer in turn; only those of an operation if *op* names one."""
    for seed in range(first, first + count):
        case = draws[seed % len(draws)](Draw(seed))
        if op in (None, case.op):
            yield seed, case


def count_outcomes(module: str, arguments: list[str], cases: Cases[N], outcome: Callable[[N], tuple[str, str]]) -> int:
    """Run the command line of a module: count the outcomes of its cases; return 1 if one differs, else 0."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}")
    parser.add_argument("--cases", type=int, default=2000, help="how many cases (2000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case (0)")
    parser.add_argument("--op", help="only this operation")
    options = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    for seed, case in cases(options.cases, options.first, options.op):
        what, found = outcome(case)
        counts[what] += 1
        if found:
            print(f"{seed}: {case}: {found}", flush=True)
    for what, number in sorted(counts.items()):
        print(f"{number:9} {what}")
    return 1 if counts["different"] else 0
