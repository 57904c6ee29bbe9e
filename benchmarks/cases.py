"""What is measured: operations, layouts, sizes and element types.

A case is a chain of steps on one array.  `recipe` gives the chain as pads, reshapes, permutations and crops,
which is how it is written in NumPy, torch and jax; the result is compared with symlayout's interpreter
before anything is timed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt
from typing import Any

Shape = tuple[int, ...]
Move = tuple[str, Any]

DTYPES = {1: "uint8", 2: "float16", 4: "float32", 8: "float64"}
KIB, MIB = 1 << 10, 1 << 20

# The permutation between the two reshapes of a block operation.
_PERMUTATIONS = {
    ("space_to_depth", "NCHW"): (0, 3, 5, 1, 2, 4),
    ("space_to_depth", "NHWC"): (0, 1, 3, 2, 4, 5),
    ("depth_to_space", "NCHW"): (0, 3, 4, 1, 5, 2),
    ("depth_to_space", "NHWC"): (0, 1, 3, 2, 4, 5),
    ("space_to_batch", "NCHW"): (3, 5, 0, 1, 2, 4),
    ("space_to_batch", "NHWC"): (2, 4, 0, 1, 3, 5),
    ("batch_to_space", "NCHW"): (2, 3, 4, 0, 5, 1),
    ("batch_to_space", "NHWC"): (2, 3, 0, 4, 1, 5),
}


@dataclass(frozen=True, slots=True)
class Step:
    """One operation.  *margins* is ``(begin, end)`` of the pads or crops on both spatial axes."""

    op: str
    layout: str = ""
    block: int = 2
    margins: tuple[int, int] = (0, 0)
    axes: tuple[int, ...] = ()

    @property
    def spatial(self) -> list[int]:
        """The axes of height and width."""
        return [2, 3] if self.layout == "NCHW" else [1, 2]

    @property
    def depth(self) -> int:
        """The axis of the channels."""
        return 1 if self.layout == "NCHW" else 3

    def per_axis(self, on_space: Any, elsewhere: Any) -> list[Any]:
        """Return a value for each of the four axes."""
        return [on_space if axis in self.spatial else elsewhere for axis in range(4)]

    def __str__(self) -> str:
        if self.op == "transpose":
            return f"transpose {''.join(map(str, self.axes))}"
        margins = f" {self.margins}" if any(self.margins) else ""
        return f"{self.op} {self.layout}{margins}"


@dataclass(frozen=True, slots=True)
class Case:
    """A chain of steps on an array of *shape*, with elements of *itemsize* bytes."""

    group: str
    steps: tuple[Step, ...]
    shape: Shape
    itemsize: int

    @property
    def dtype(self) -> str:
        """The name of the element type."""
        return DTYPES[self.itemsize]

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.steps))}, {self.dtype} {'x'.join(map(str, self.shape))}"


def recipe(case: Case) -> tuple[list[Move], Shape]:
    """Return the moves ``(pad | reshape | transpose | crop, argument)`` of the chain, and its output shape."""
    moves: list[Move] = []
    shape = case.shape
    for step in case.steps:
        made, shape = _moves(step, shape)
        moves += made
    return moves, shape


def _moves(step: Step, shape: Shape) -> tuple[list[Move], Shape]:
    if step.op == "transpose":
        return [("transpose", step.axes)], tuple(shape[a] for a in step.axes)
    b, (begin, end) = step.block, step.margins
    permutation = _PERMUTATIONS[step.op, step.layout]
    moves: list[Move] = []
    if step.op == "space_to_batch" and any(step.margins):
        moves.append(("pad", step.per_axis((begin, end), (0, 0))))
        shape = tuple(n + begin + end if a in step.spatial else n for a, n in enumerate(shape))
    if step.op.startswith("space"):
        cut: Shape = tuple(n for a, e in enumerate(shape) for n in ((e // b, b) if a in step.spatial else (e,)))
        divided, grown = step.spatial, [step.depth if step.op.endswith("depth") else 0]
    else:
        source = step.depth if step.op.startswith("depth") else 0
        cut = (*shape[:source], b, b, shape[source] // (b * b), *shape[source + 1 :])
        divided, grown = [source], step.spatial
    factor = b * b if len(grown) == 1 else b
    share = b if len(divided) == 2 else b * b
    shape = tuple(n * factor if a in grown else n // share if a in divided else n for a, n in enumerate(shape))
    moves += [("reshape", cut), ("transpose", permutation), ("reshape", shape)]
    if step.op == "batch_to_space" and any(step.margins):
        shape = tuple(n - begin - end if a in step.spatial else n for a, n in enumerate(shape))
        kept = step.per_axis(slice(begin, -end if end else None), slice(None))
        moves.append(("crop", tuple(kept)))
    return moves, shape


def cases(*, quick: bool) -> Iterator[Case]:
    """Yield what is measured."""
    sizes = (64 * KIB, MIB) if quick else (64 * KIB, MIB, 16 * MIB)
    for layout in ("NCHW", "NHWC"):
        for itemsize in (1, 4) if quick else DTYPES:
            for size in sizes:
                yield from _blocks(layout, size, itemsize)
    shapes: list[tuple[Shape, Shape]] = [
        ((1000, 1000), (1, 0)),
        ((512, 512), (1, 0)),
        ((8, 3, 224, 224), (0, 2, 3, 1)),
        ((8, 224, 224, 3), (0, 3, 1, 2)),
    ]
    if not quick:
        shapes += [((2048, 2048), (1, 0)), ((32, 48, 20, 30), (3, 1, 0, 2))]
    for shape, axes in shapes:
        for itemsize in (1, 4) if quick else DTYPES:
            yield Case("transposes", (Step("transpose", axes=axes),), shape, itemsize)
    for size in sizes[1:]:
        there, back = Step("space_to_batch", "NHWC", 2, (2, 2)), Step("batch_to_space", "NHWC", 2, (1, 3))
        yield Case("chain", (there, back), _image("NHWC", size, 4), 4)
    yield Case("call on 3 KB", (Step("space_to_depth", "NCHW"),), (1, 3, 16, 16), 4)


def _blocks(layout: str, size: int, itemsize: int) -> Iterator[Case]:
    """Yield the four block operations with a larger side of about *size* bytes."""
    image = _image(layout, size, itemsize)
    group = f"block operations, {size // KIB} KiB" if size < MIB else f"block operations, {size // MIB} MiB"
    for op, back, margins in (
        ("space_to_depth", "depth_to_space", (0, 0)),
        ("space_to_batch", "batch_to_space", (1, 1)),
    ):
        there = Case(group, (Step(op, layout, 2, margins),), image, itemsize)
        yield there
        yield Case(group, (Step(back, layout, 2, margins),), recipe(there)[1], itemsize)


def _image(layout: str, size: int, itemsize: int) -> Shape:
    """Return the shape of one square image of 16 channels, its side a multiple of 4."""
    side = max(4, isqrt(size // itemsize // 16) // 4 * 4)
    return (1, 16, side, side) if layout == "NCHW" else (1, side, side, 16)
