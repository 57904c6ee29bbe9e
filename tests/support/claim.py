"""The corpus of claims: what a claim says, and what it says for given numbers, by brute force.

Nothing of symlayout is imported: the text of shapes and steps is read by Python's own parser, and the
operations are those of `tests.support.brute` and `tests.support.brute_frameworks`.

A file of ``tests/claims`` is a list of claims.  ``input`` is the shape of ``x``, or a shape for each of
several inputs.  ``left`` and ``right`` are chains on the first input.  A step of a chain is

* text as on the command line, ``"roll(s, axis=1)"``, ``"[:, ::2]"``, ``"onnx:DepthToSpace(blocksize=2)"``;
* the name of an input, which is then the value at hand;
* ``{"concatenate(axis=1)": [chain, ...]}``, which joins several chains on the value at hand;
* ``{"split(2, axis=1)": k}``, part ``k`` of an operation that gives several.

Fills are given by name, ``constant_values=1``.  A dim's bounds may be stated where it occurs, ``b>=1``.
``verdict`` says whether the sides are equal for all sizes that both are valid for: ``"proved"`` or
``"refuted"``; ``dims`` may then have sizes where they differ.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import json
import math
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tests.support.brute import JOINT, OPERATIONS, SEVERAL, Dim, Grid, Invalid
from tests.support.brute_frameworks import FRAMEWORK_JOINT, FRAMEWORKS
from tests.support.claim_text import WORDS, Numbers, bounds_of, has_dims, read_shape, read_step, value
from tests.support.paths import ROOT

FOLDER = ROOT / "tests" / "claims"
MOST_ELEMENTS = 50_000
LARGEST_PRODUCT = 20_000  # of the sizes of a point
SINGLE: Mapping[str, Callable[..., Any]] = OPERATIONS | SEVERAL | FRAMEWORKS
JOINED: Mapping[str, Callable[..., Any]] = JOINT | FRAMEWORK_JOINT

FILLS = {"constant_values", "constant_value", "pad_value", "value"}  # attributes whose value is put in

Item = str | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the corpus; `category` is the name of its file."""

    category: str
    name: str
    verdict: str
    inputs: Mapping[str, str]
    left: tuple[Item, ...]
    right: tuple[Item, ...]
    dtype: str | None = None
    dims: Mapping[str, int] | None = None

    def __str__(self) -> str:
        return f"{self.category}: {self.name}"

    def declared_dims(self) -> list[Dim]:
        """Return the dims with their bounds, in order of use."""
        nodes = [e for shape in self.inputs.values() for e in read_shape(shape)]
        nodes += [read_step(text)[1] for side in (self.left, self.right) for text in _steps(side, self.inputs)]
        bounds: dict[str, tuple[int, int | None]] = {}
        for name, low, high in itertools.chain(*map(bounds_of, nodes)):
            least, most = bounds.get(name, (0, None))
            bounds[name] = (max(least, low or 0), min((n for n in (most, high) if n is not None), default=None))
        return [Dim(name, *limits) for name, limits in bounds.items()]

    def run(self, side: tuple[Item, ...], numbers: Numbers) -> Grid:
        """Return which element each coordinate of a side reads, numbered over all inputs; a fill is <= 0.

        Raises
        ------
        Invalid
            The side has no meaning for these numbers.
        """
        grids, count = {}, 0
        for name, text in self.inputs.items():
            shape = [value(node, numbers) for node in read_shape(text)]
            if min(shape, default=0) < 0 or math.prod(shape) > MOST_ELEMENTS:
                raise Invalid
            grids[name] = np.arange(count + 1, count + math.prod(shape) + 1, dtype=np.int64).reshape(shape)
            count += math.prod(shape)
        return _chain(side, next(iter(grids.values())), _Scope(grids, numbers, self.dtype))

    def difference(self, numbers: Numbers) -> tuple[tuple[int, ...] | None, Any, Any] | type[Invalid] | None:
        """Return ``(coordinate, left, right)`` where the sides differ first; None if they do not.

        The coordinate is None and the two are shapes if these differ; `Invalid` if a side has no meaning.
        """
        try:
            a, b = self.run(self.left, numbers), self.run(self.right, numbers)
        except Invalid:
            return Invalid
        if a.shape != b.shape:
            return None, a.shape, b.shape
        places = np.argwhere(a != b)
        if not len(places):
            return None
        coord = tuple(int(c) for c in places[0])
        return coord, self.read(int(a[coord]), numbers), self.read(int(b[coord]), numbers)

    def read(self, number: int, numbers: Numbers) -> tuple[str, Any]:
        """Return what an element of a result is: an input's name and a coordinate, or a fill's code."""
        if number <= 0:
            return "fill", number
        for name, text in self.inputs.items():
            shape = [value(node, numbers) for node in read_shape(text)]
            if number <= math.prod(shape):
                return name, tuple(int(c) for c in np.unravel_index(number - 1, shape))
            number -= math.prod(shape)
        raise AssertionError(f"no input has element {number}")

    def points(self) -> Iterator[dict[str, int]]:
        """Yield sizes: those of `dims` if there are some, then random ones, small, with 0 and 1 among them.

        The sizes of a point tend to share a factor, so that blocks divide what they have to divide.
        """
        if self.dims is not None:
            yield dict(self.dims)
        dims = self.declared_dims()
        rnd = random.Random(self.name)
        while True:
            f = rnd.choice((1, 2, 2, 3, 4))
            some = (0, 1, 1, f, f, 2 * f, f * f, f**3, rnd.randint(0, 8))
            point = {d.name: max(d.min, rnd.choice(some)) for d in dims}
            point |= {d.name: min(point[d.name], d.max) for d in dims if d.max is not None}
            if math.prod(max(n, 1) for n in point.values()) <= LARGEST_PRODUCT:
                yield point


def load() -> list[Claim]:
    """Return the claims of all files."""
    claims = []
    for file in sorted(FOLDER.glob("*.json")):
        for row in json.loads(file.read_text(encoding="utf-8")):
            given = row.pop("input")
            inputs = {"x": given} if isinstance(given, str) else given
            left, right = tuple(row.pop("left")), tuple(row.pop("right"))
            claims.append(Claim(file.stem, inputs=inputs, left=left, right=right, **row))
    return claims


def _steps(items: tuple[Item, ...], inputs: Mapping[str, str]) -> Iterator[str]:
    """Yield the text of each step."""
    for item in items:
        if isinstance(item, str):
            yield from () if item in inputs else (item,)
            continue
        for text, parts in item.items():
            yield text
            yield from () if isinstance(parts, int) else itertools.chain(*(_steps(tuple(p), inputs) for p in parts))


def fill_code(fill: Any, dtype: str | None) -> int:
    """Return a number <= 0 for a fill, equal for fills of equal bits: 0 for zero bits."""
    if dtype is not None:
        bits: Any = np.array(fill, dtype).tobytes()
        zero = not any(bits)
    else:
        bits = "nan" if fill != fill else (Fraction(fill) if math.isfinite(fill) else fill, math.copysign(1, fill))
        zero = bits == (0, 1)
    return 0 if zero else -1 - _FILLS.setdefault((dtype, bits), len(_FILLS))


_FILLS: dict[tuple[str | None, Any], int] = {}


# ---------------------------------------------------------------------- steps


@dataclass(frozen=True, slots=True)
class _Scope:
    """What the names of a chain mean."""

    grids: Mapping[str, Grid]
    numbers: Numbers
    dtype: str | None


def _chain(items: tuple[Item, ...], x: Grid, scope: _Scope) -> Grid:
    for item in items:
        if isinstance(item, str):
            x = scope.grids[item] if item in scope.grids else _apply(item, x, scope)
            continue
        ((text, parts),) = item.items()
        if isinstance(parts, int):
            x = _apply(text, x, scope)[parts]
        else:
            x = _apply(text, [_chain(tuple(part), x, scope) for part in parts], scope)
    return x


def _apply(text: str, x: Any, scope: _Scope) -> Any:
    name, node = read_step(text)
    if name == "[]":
        return _getitem(x, node, scope.numbers)
    function = (JOINED if isinstance(x, list) else SINGLE)[name]
    given = [value(a, scope.numbers) for a in node.args]
    keywords = {k.arg: _keyword(k, scope) for k in node.keywords}
    if "reshape" in name.lower():
        _check_extents([*node.args, *(k.value for k in node.keywords if k.arg == "shape")], scope.numbers)
    if len(given) >= len(_parameters(function)) and all(isinstance(v, int) for v in given):
        given = [given]  # transpose(0, 2, 1) for transpose((0, 2, 1))
    return function(x, *given, **keywords)


def _check_extents(nodes: list[ast.expr], numbers: Numbers) -> None:
    """Refuse extents that come out negative: only a -1 that is written as such stands for what remains."""
    for node in nodes:
        for e in node.elts if isinstance(node, ast.List | ast.Tuple) else [node]:
            if has_dims(e) and value(e, numbers) < 0:
                raise Invalid


def _keyword(k: ast.keyword, scope: _Scope) -> Any:
    if k.arg in WORDS:
        return k.value.id if isinstance(k.value, ast.Name) else ast.literal_eval(k.value)
    found = value(k.value, scope.numbers)
    return _codes(found, scope.dtype) if k.arg in FILLS else found


def _codes(fill: Any, dtype: str | None) -> Any:
    return [_codes(f, dtype) for f in fill] if isinstance(fill, list) else fill_code(fill, dtype)


@functools.cache
def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function).parameters


def _getitem(x: Grid, node: ast.expr, numbers: Numbers) -> Grid:
    """Index as NumPy does; bounds with dims in them have to be in range and in order."""
    entries = list(node.elts) if isinstance(node, ast.Tuple) else [node]
    at = next((k for k, e in enumerate(entries) if isinstance(e, ast.Constant) and e.value is ...), len(entries))
    used = [e for e in entries if not (isinstance(e, ast.Constant) and e.value in (None, ...))]
    rest: list[ast.expr] = [ast.Slice()] * (x.ndim - len(used))
    key: list[Any] = []
    axis = 0
    for e in (*entries[:at], *rest, *entries[at + 1 :]):
        if isinstance(e, ast.Constant) and e.value is None:
            key.append(None)
            continue
        n = x.shape[axis]
        axis += 1
        if isinstance(e, ast.Slice):
            key.append(_slice(e, n, numbers))
            continue
        index = value(e, numbers)
        if not (0 if has_dims(e) else -n) <= index < n:
            raise Invalid
        key.append(index)
    picked: Grid = x[tuple(key)]
    return picked


def _slice(e: ast.Slice, n: int, numbers: Numbers) -> slice:
    step: int = 1 if e.step is None else value(e.step, numbers)
    if not has_dims(e):
        start, stop = (None if part is None else value(part, numbers) for part in (e.lower, e.upper))
        return slice(start, stop, step)
    first = _bound(e.lower, 0 if step > 0 else n - 1, n, numbers)
    last = _bound(e.upper, n if step > 0 else -1, n, numbers)
    if not (0 <= first <= last <= n if step > 0 else -1 <= last <= first < n):
        raise Invalid
    return slice(first, None if last < 0 else last, step)


def _bound(part: ast.expr | None, default: int, n: int, numbers: Numbers) -> int:
    """Return a bound of a slice; one that is written as a negative number counts from the end."""
    if part is None:
        return default
    number: int = value(part, numbers)
    return number + n if number < 0 and not has_dims(part) else number
