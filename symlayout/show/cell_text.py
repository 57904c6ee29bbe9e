"""Write the elements that an output reads as text: one plane of numbers for each pair of inner axes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from symlayout.show.read_numbers import Cells, Grid, IntArray

LINE = 96  # width of the text, in characters


def text(drawn: Cells) -> str:
    """Return the cells as text: planes of two axes, with a dot for each fill.

    Where coordinates are left out, a last line lists those that are shown.
    """
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
    """Return the coordinates that a grid shows, for each axis where some are left out."""
    cut = [(k, axis) for k, axis in enumerate(grid.axes) if len(axis) != grid.shape[k]]
    return "; ".join(f"{', '.join(map(str, axis))} of axis {k}" for k, axis in cut)


def _side_by_side(blocks: list[list[str]]) -> Iterator[str]:
    """Yield rows of blocks.  The blocks have equal heights; a row holds as many as `LINE` characters allow."""
    wide = max(len(line) for block in blocks for line in block) + 3
    count = max(1, LINE // wide)
    for group in (blocks[k : k + count] for k in range(0, len(blocks), count)):
        yield "\n".join("".join(f"{line:{wide}}" for line in lines).rstrip() for lines in zip(*group, strict=True))


def _text_planes(grid: Grid, numbers: IntArray) -> Iterator[tuple[str, IntArray]]:
    """Yield each plane of the last two axes longer than 1, with a title that says its coordinate on the other axes."""
    spare = max(0, 2 - numbers.ndim)
    padded = numbers.reshape((1,) * spare + numbers.shape)
    names = ((0,),) * spare + grid.axes
    long = [axis for axis in range(padded.ndim) if padded.shape[axis] > 1]
    rest = [axis for axis in range(padded.ndim) if axis not in long]
    drawn = sorted((rest + long)[-2:])
    others = tuple(1 if axis in drawn else extent for axis, extent in enumerate(padded.shape))
    for index in np.ndindex(others):
        places = [":" if axis in drawn else str(names[axis][index[axis]]) for axis in range(padded.ndim)]
        title = f"[{', '.join(places)}]" if numbers.ndim > 2 else ""
        yield title, padded[tuple(slice(None) if axis in drawn else index[axis] for axis in range(padded.ndim))]
