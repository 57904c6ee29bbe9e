"""Draw an index map on small dims: which source element each output element reads."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from symlayout.errors import InconclusiveError, ShapeError
from symlayout.interpret import gathers
from symlayout.tensor import Tensor

MAX_CELLS = 512
LINE = 96
_TRIES = 2000
_PREFERRED = (2, 1, 3, 4, 6, 8, 5, 9, 7, 10, 12, 16, 24, 0)
_CELL = 32  # edge of a drawn cell, in SVG units

IntArray = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class Cells:
    """For each output element the number of the element that it reads.

    Attributes
    ----------
    numbers : array
        Elements are counted in row-major order, source after source; -1 is fill.
    total : int
        The number of source elements.
    """

    numbers: IntArray
    total: int


def small(t: Tensor) -> tuple[Tensor, dict[str, int]]:
    """Return *t* with all of its dims bound to small values that satisfy it, and the values.

    Raises
    ------
    InconclusiveError
        No such values were found within the budget.
    ShapeError
        The shape is fixed and has more than `MAX_CELLS` elements (kind ``overflow``).
    """
    if not t.facts.dims:
        if not _is_small(t):
            raise ShapeError(f"a picture has at most {MAX_CELLS} elements, not {prod(t.shape)}", "overflow")
        return t, {}
    empty = None
    for values in itertools.islice(_candidates(t), _TRIES):
        try:
            bound = t.subs(values)
        except ShapeError:
            continue
        if _is_small(bound) and 0 not in bound.shape:
            return bound, values
        if empty is None and _is_small(bound):
            empty = bound, values
    if empty is not None:
        return empty
    raise InconclusiveError(f"some dims with at most {MAX_CELLS} elements satisfy the chain", list(t.facts.dims))


def _candidates(t: Tensor) -> Iterator[dict[str, int]]:
    """Yield values for the dims, the preferred ones first."""
    choices = []
    for dim in t.facts.dims.values():
        near = [dim.min + k * dim.multiple_of for k in range(3)]
        fitting = [
            value
            for value in dict.fromkeys((*_PREFERRED, *near))
            if dim.min <= value and (dim.max is None or value <= dim.max) and value % dim.multiple_of == 0
        ]
        choices.append(fitting or [dim.min])
    for width in range(1, max(map(len, choices)) + 1):
        for values in itertools.product(*(choice[:width] for choice in choices)):
            newest = any(len(c) >= width and v == c[width - 1] for v, c in zip(values, choices, strict=True))
            if newest:
                yield dict(zip(t.facts.dims, values, strict=True))


def _is_small(t: Tensor) -> bool:
    return all(prod(part.shape) <= MAX_CELLS for part in (t, *t.leaves()))


def cells(t: Tensor) -> Cells:
    """Return what each element of *t* reads; all extents of *t* are integers."""
    starts, total = {}, 0
    for leaf in t.leaves():
        starts[leaf.key] = leaf.shape, total
        total += prod(leaf.shape)
    numbers = np.full(t.shape, -1, dtype=np.int64)
    for part in gathers(t):
        if part.key is not None and part.mask.any():
            extents, start = starts[part.key]
            inside = [np.clip(c, 0, n - 1) for c, n in zip(part.coords, extents, strict=True)]
            linear = np.ravel_multi_index(np.broadcast_arrays(*inside), extents) if extents else np.int64(0)
            np.copyto(numbers, linear + start, where=part.mask)
    return Cells(numbers, total)


def text(drawn: Cells) -> str:
    """Return the picture as text: planes of two axes, a dot for fill."""
    width = len(str(max(drawn.total - 1, 0)))
    blocks = []
    for title, plane in _planes(drawn.numbers):
        rows = [" ".join(f"{'.' if n < 0 else n:>{width}}" for n in row) for row in plane.tolist()]
        blocks.append([title, *rows] if title else rows)
    return "\n\n".join(_side_by_side(blocks)) if drawn.numbers.size else "no elements"


def _side_by_side(blocks: list[list[str]]) -> Iterator[str]:
    """Yield blocks of equal height, as many beside each other as a line of `LINE` characters holds."""
    wide = max(len(line) for block in blocks for line in block) + 3
    count = max(1, LINE // wide)
    for group in (blocks[k : k + count] for k in range(0, len(blocks), count)):
        yield "\n".join("".join(f"{line:{wide}}" for line in lines).rstrip() for lines in zip(*group, strict=True))


def svg(drawn: Cells) -> str:
    """Return the picture as SVG: cells coloured by the element that they read, fill hatched."""
    shapes, left, height = [], 0, 0
    for title, plane in _planes(drawn.numbers):
        rows, columns = plane.shape
        shapes.append(f'<text x="{left + 4}" y="14">{title}</text>')
        for (row, column), number in np.ndenumerate(plane):
            shapes += _cell(left + column * _CELL, 20 + row * _CELL, int(number), drawn.total)
        left += (max(columns, 3) + 1) * _CELL
        height = max(height, 20 + rows * _CELL)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left} {height + 4}" '
            'font-family="monospace" font-size="11">',
            '<defs><pattern id="fill" width="6" height="6" patternUnits="userSpaceOnUse" '
            'patternTransform="rotate(45)">',
            '<path d="M0 0V6" stroke="#888" stroke-width="2"/></pattern></defs>',
            *shapes,
            "</svg>\n",
        ]
    )


def _cell(x: int, y: int, number: int, total: int) -> list[str]:
    """Return the drawing of one cell."""
    box = f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" stroke="#fff" '
    if number < 0:
        return [f'{box}fill="url(#fill)"><title>fill</title></rect>']
    hue = 300 * number // max(total - 1, 1)
    return [
        f'{box}fill="hsl({hue},65%,78%)"/>',
        f'<text x="{x + _CELL // 2}" y="{y + _CELL // 2 + 4}" text-anchor="middle">{number}</text>',
    ]


def _planes(numbers: IntArray) -> Iterator[tuple[str, IntArray]]:
    """Yield planes of the last two axes that are longer than 1, each with its place among the others."""
    whole = numbers.reshape((1,) * (2 - numbers.ndim) + numbers.shape)
    long = [axis for axis in range(whole.ndim) if whole.shape[axis] > 1]
    rest = [axis for axis in range(whole.ndim) if axis not in long]
    drawn = sorted((rest + long)[-2:])
    others = tuple(1 if axis in drawn else extent for axis, extent in enumerate(whole.shape))
    for index in np.ndindex(others):
        places = [":" if axis in drawn else str(index[axis]) for axis in range(whole.ndim)]
        title = f"[{', '.join(places)}]" if numbers.ndim > 2 else ""
        yield title, whole[tuple(slice(None) if axis in drawn else index[axis] for axis in range(whole.ndim))]
