"""Write cells as text: planes of numbers beside each other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from symlayout.show.read_numbers import Cells, Grid, IntArray

LINE = 96  # characters of a line


def text(drawn: Cells) -> str:
    """Return the cells as text: planes of two axes, a dot for fill, where coordinates are left out a line of dots."""
    width = len(str(max(drawn.total - 1, 0)))
    blocks = []
    for title, plane in _text_planes(drawn.output, drawn.numbers):
        rows = [" ".join(f"{'.' if n < 0 else n:>{width}}" for n in row) for row in plane.tolist()]
        blocks.append([title, *rows] if title else rows)
    if not drawn.numbers.size:
        return "no elements"
    shown = "\n\n".join(_side_by_side(blocks))
    return shown if drawn.output.whole else f"{shown}\n\nshown are {_shown(drawn.output)}"


def _shown(grid: Grid) -> str:
    """Return which coordinates a grid shows."""
    cut = [(k, axis) for k, axis in enumerate(grid.axes) if len(axis) != grid.shape[k]]
    return "; ".join(f"{', '.join(map(str, axis))} of axis {k}" for k, axis in cut)


def _side_by_side(blocks: list[list[str]]) -> Iterator[str]:
    """Yield blocks of equal height, as many beside each other as a line of `LINE` characters holds."""
    wide = max(len(line) for block in blocks for line in block) + 3
    count = max(1, LINE // wide)
    for group in (blocks[k : k + count] for k in range(0, len(blocks), count)):
        yield "\n".join("".join(f"{line:{wide}}" for line in lines).rstrip() for lines in zip(*group, strict=True))


def _text_planes(grid: Grid, numbers: IntArray) -> Iterator[tuple[str, IntArray]]:
    """Yield planes of the last two axes that are longer than 1, each with its place among the others."""
    spare = max(0, 2 - numbers.ndim)
    whole = numbers.reshape((1,) * spare + numbers.shape)
    names = ((0,),) * spare + grid.axes
    long = [axis for axis in range(whole.ndim) if whole.shape[axis] > 1]
    rest = [axis for axis in range(whole.ndim) if axis not in long]
    drawn = sorted((rest + long)[-2:])
    others = tuple(1 if axis in drawn else extent for axis, extent in enumerate(whole.shape))
    for index in np.ndindex(others):
        places = [":" if axis in drawn else str(names[axis][index[axis]]) for axis in range(whole.ndim)]
        title = f"[{', '.join(places)}]" if numbers.ndim > 2 else ""
        yield title, whole[tuple(slice(None) if axis in drawn else index[axis] for axis in range(whole.ndim))]
