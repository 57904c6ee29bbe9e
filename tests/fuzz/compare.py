"""One case: the interpreter and the kernel beside brute force, byte for byte."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import symlayout as sl
from tests.fuzz.chains import Chain, Point
from tests.fuzz.memory import LAYOUTS, PLACES, SIZE, Array, Bytes, Guarded, layout
from tests.support import brute
from tests.support.brute import Grid

BESIDE = 0xA5  # what the bytes beside the elements of an output are, before and after


class Wrong(AssertionError):
    """A result, or a refusal, that brute force contradicts."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A chain, its kernel if it has one, and the element types to try; *known* dims are those of the inputs' shapes."""

    chain: Chain
    dtypes: tuple[np.dtype[Any], ...]
    kernel: sl.Kernel | None
    kernel_dims: frozenset[str]
    known: frozenset[str]


@dataclass(frozen=True, slots=True)
class Case:
    """What one comparison is of, besides the chain."""

    point: tuple[tuple[str, int], ...]
    dtype: str
    inputs: tuple[str, ...]  # the layout of each, and where it lies
    out: str
    passed: bool  # whether all dims are passed, or those only that the shapes do not determine

    def __str__(self) -> str:
        dims = ", ".join(f"{name}={n}" for name, n in self.point)
        how = "all dims passed" if self.passed else "dims from the shapes"
        return f"{dims}; {self.dtype}; inputs {', '.join(self.inputs)}; out {self.out or 'of the interpreter'}; {how}"


@cache
def _memory(number: int) -> Guarded:
    return Guarded(SIZE)


@cache
def _bytes() -> Bytes:
    return Bytes(0)


def compare(rnd: random.Random, subject: Subject, t: sl.Tensor, point: Point, grid: Grid) -> Case:
    """Run the chain, whose tensor is *t*, at *point* for a random type and random layouts; *grid* is what it reads.

    Raises
    ------
    Wrong
        The interpreter or the kernel does not give what brute force gives, or writes where it should not.
    """
    dtype = rnd.choice(subject.dtypes)
    arrays, raw, parts, inputs = [], [], [], []
    for k, leaf in enumerate(t.leaves()):
        shape = shape_of(leaf.name, subject.chain, point)
        laid, place = layout(rnd, rnd.choice(LAYOUTS), shape, dtype.itemsize), rnd.choice(PLACES)
        part = _memory(k).part(laid.size, place)
        _bytes().fill(rnd, part, dtype)
        arrays.append(laid.view(part, shape, dtype))
        raw.append(laid.view(part, shape, f"V{dtype.itemsize}").reshape(-1).copy())
        parts.append((part, part.tobytes()))
        inputs.append(f"{laid.name} {place}")
    expected = values(grid, raw, [leaf.name for leaf in t.leaves()], subject.chain.fill, dtype)
    every = rnd.random() < 0.5
    passed = {name: n for name, n in point.items() if every or name not in subject.known}
    here = Case(tuple(point.items()), dtype.str if dtype.fields is None else str(dtype), tuple(inputs), "", every)
    try:
        _check("the interpreter", sl.interpret(t, *arrays, dims=_of(t.facts.dims, passed)), expected, dtype)
        if subject.kernel is not None:
            dims = _of(subject.kernel_dims, passed) or None
            out = _called(rnd, subject.kernel, arrays, dims, expected, dtype)
            here = Case(here.point, here.dtype, here.inputs, out, every)
    except Wrong as error:
        raise Wrong(f"{error}\n  {here}") from error
    if any(part.tobytes() != before for part, before in parts):
        raise Wrong(f"an input has changed\n  {here}")
    return here


def _called(
    rnd: random.Random, kernel: sl.Kernel, arrays: list[Array], dims: Point | None, expected: Array, dtype: Any
) -> str:
    """Check what the kernel gives, in a new array or in one of some layout, sometimes twice; return which."""
    times = rnd.choice((1, 1, 2))  # the second time it remembers what it has checked
    if rnd.random() < 0.4:
        for _ in range(times):
            _check("the kernel", kernel(*arrays, dims=dims), expected, dtype)
        return "new"
    laid = layout(rnd, rnd.choice(LAYOUTS[:-1]), expected.shape, dtype.itemsize)
    place = rnd.choice(PLACES)
    part = _memory(-1).part(laid.size, place)
    part[:] = BESIDE
    image = part.copy()
    laid.view(image, expected.shape, expected.dtype)[...] = expected
    out = laid.view(part, expected.shape, dtype)
    for _ in range(times):
        if kernel(*arrays, out=out, dims=dims) is not out:
            raise Wrong("the kernel returns another array than out=")
    if part.tobytes() != image.tobytes():
        right = laid.view(part, expected.shape, expected.dtype).tobytes() == expected.tobytes()
        raise Wrong(
            f"the kernel writes {'beside the elements' if right else 'other elements'} of out, {laid.name} {place}"
        )
    return f"{laid.name} {place}"


def values(grid: Grid, raw: list[Array], names: list[str], fill: float, dtype: np.dtype[Any]) -> Array:
    """Return the elements that *grid* numbers, as opaque bits; *raw* has those of the inputs with *names*."""
    bits = np.dtype(f"V{dtype.itemsize}")
    codes = np.zeros(2, bits)  # of the fills -1 and 0
    if grid.size and grid.min() < 0:
        codes[0] = np.array(fill).astype(dtype).view(bits)
    table = np.concatenate([codes, *raw])
    if names == ["x0"]:
        return table[grid + 1]
    starts = np.zeros(max(int(name[1:]) for name in names) + 1, np.int64)
    start = 1
    for name, elements in zip(names, raw, strict=True):
        starts[int(name[1:])] = start
        start += elements.size
    which = np.maximum(grid - 1, 0) // brute.APART
    return table[np.where(grid > 0, grid - which * brute.APART + starts[which], grid + 1)]


def shape_of(name: str, chain: Chain, point: Mapping[str, int]) -> tuple[int, ...]:
    """Return the shape of an input at a point."""
    return tuple(brute.value(e, point) for e in chain.inputs()[name])


def _of(names: Any, dims: Point) -> Point:
    return {name: n for name, n in dims.items() if name in names}


def _check(who: str, result: Array, expected: Array, dtype: np.dtype[Any]) -> None:
    if result.shape != expected.shape:
        raise Wrong(f"{who} gives the shape {result.shape}, not {expected.shape}")
    if result.dtype != dtype:
        raise Wrong(f"{who} gives {result.dtype}, not {dtype}")
    if result.tobytes() != expected.tobytes():
        raise Wrong(f"{who} gives other elements")
