"""What is measured: chains of operations, shapes, element sizes and states of memory, as rows.

A chain is written once, as a function of a namespace and an array.  `symlayout.commands.peers.program` describes how
symlayout and the peers run it.  A size is approximate, and is that of the larger side.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from symlayout.commands.peers.program import Chain, Shape, output_shape

DTYPES = {1: "uint8", 2: "float16", 4: "float32", 8: "float64"}
KIB, MIB = 1 << 10, 1 << 20


@dataclass(frozen=True, slots=True)
class Case:
    """A chain on an array of *shape*, with elements of *itemsize* bytes.

    Attributes
    ----------
    dims : str
        The shape for which symlayout's kernel is compiled; every extent a dim if empty.
    state : str
        ``warm``: calls follow each other; ``cold``: nothing is in the caches; ``fresh``: without ``out``.
    adjoint : bool
        Measure the adjoint: from the cotangent of the chain's output to that of its input.
    against : str
        Whom beside: ``peers``, or ``itself``, the kernel specialised on the shape.
    quick : bool
        Whether ``--quick`` measures it too.
    """

    group: str
    name: str
    chain: Chain
    shape: Shape
    itemsize: int
    dims: str = ""
    state: str = "warm"
    adjoint: bool = False
    against: str = "peers"
    quick: bool = False

    @property
    def dtype(self) -> str:
        """The name of the element type."""
        return DTYPES[self.itemsize]

    @property
    def size(self) -> int:
        """The bytes of the larger side."""
        return max(_count(self.shape), _count(output_shape(self.chain, self.shape))) * self.itemsize

    @property
    def label(self) -> str:
        """The group and the case: no other has the same."""
        return f"{self.group}: {self}"

    def __str__(self) -> str:
        return f"{self.name}, {self.dtype} {'x'.join(map(str, self.shape))}"


def cases() -> Iterator[Case]:
    """Yield all rows."""
    yield from _block_rows()
    yield from _transposes()
    yield from _moves()
    yield from _chains()
    yield from _adjoints()
    yield from _calls()
    yield from _dynamic()
    yield from _states()


# ---------------------------------------------------------------------- block operations

_NCHW, _NHWC, _NCDHW = "NCHW", "NHWC", "NCDHW"
_PAIRS = ((0, 0), (1, 1), (1, 1), (1, 1))


def _batch(block: Shape, pairs: Any) -> tuple[Chain, Chain]:
    return lambda op, x: op.space_to_batch(x, block, pairs), lambda op, x: op.batch_to_space(x, block, pairs)


def _depth(mode: str, axis: int = 1) -> tuple[Chain, Chain]:
    return lambda op, x: op.space_to_depth(x, 2, mode, axis), lambda op, x: op.depth_to_space(x, 2, mode, axis)


_BLOCKS: dict[str, tuple[str, tuple[Chain, Chain]]] = {
    "batch, OpenVINO 4-D": (_NCHW, _batch((1, 2, 2), _PAIRS[:3])),
    "batch, OpenVINO 5-D": (_NCDHW, _batch((1, 2, 2, 2), _PAIRS)),
    "batch, TensorFlow NHWC": (_NHWC, _batch((2, 2), _PAIRS[1:3])),
    "depth blocks_first, 4-D": (_NCHW, _depth("blocks_first")),
    "depth depth_first, 4-D": (_NCHW, _depth("depth_first")),
    "depth blocks_first, 5-D": (_NCDHW, _depth("blocks_first")),
    "depth depth_first, 5-D": (_NCDHW, _depth("depth_first")),
    "depth, TensorFlow NHWC": (_NHWC, _depth("blocks_first", 3)),
}
_SIZES = {  # the element sizes that are measured, by size; of ranks
    16 * KIB: ((1, 4), (_NCHW, _NHWC)),
    64 * KIB: ((1, 4), (_NCHW, _NHWC)),
    MIB: ((1, 2, 4, 8), (_NCHW, _NHWC, _NCDHW)),
    16 * MIB: ((1, 4), (_NCHW, _NHWC)),
    64 * MIB: ((4,), (_NCHW, _NHWC)),
}


def _block_rows() -> Iterator[Case]:
    for size, (itemsizes, layouts) in _SIZES.items():
        text = f"{size // MIB} MiB" if size >= MIB else f"{size // KIB} KiB"
        for itemsize, name in itertools.product(itemsizes, _BLOCKS):
            if _BLOCKS[name][0] in layouts:
                quick = size in (64 * KIB, MIB) and itemsize in (1, 4) and "4-D" in name + "4-D" * ("NHWC" in name)
                yield from _there_and_back(f"block operations, {text}", name, size, itemsize, quick)


def _there_and_back(group: str, name: str, size: int, itemsize: int, quick: bool) -> Iterator[Case]:
    layout, (there, back) = _BLOCKS[name]
    first = Case(group, f"space to {name}", there, _image(layout, size, itemsize), itemsize, quick=quick)
    yield first
    yield replace(first, name=name.replace(",", " to space,", 1), chain=back, shape=output_shape(there, first.shape))


def _image(layout: str, size: int, itemsize: int) -> Shape:
    """Return the shape of one image of 16 channels, its sides equal and a multiple of 4."""
    sides = 3 if layout == _NCDHW else 2
    side = max(4, round((size / itemsize / 16) ** (1 / sides) / 4) * 4)
    return (1, *[side] * sides, 16) if layout == _NHWC else (1, 16, *[side] * sides)


# ---------------------------------------------------------------------- transposes


def _transpose(axes: Shape) -> Chain:
    return lambda op, x: op.transpose(x, axes)


def _transposes() -> Iterator[Case]:
    orders = {axes: _transpose(axes) for axes in [*itertools.permutations(range(4)), (1, 0)]}
    some = [(0, 2, 3, 1), (0, 3, 1, 2), (3, 2, 1, 0), (2, 0, 3, 1)]
    for axes, itemsize in itertools.product(list(orders)[1:-1], DTYPES):
        name, quick = f"transpose {''.join(map(str, axes))}", axes in some and itemsize in (1, 4)
        yield Case("transposes, 1 MiB", name, orders[axes], (16 // itemsize, 24, 40, 72), itemsize, quick=quick)
    shapes: list[tuple[str, Shape, Shape]] = [
        ("", (1000, 1000), (1, 0)),
        (" of few rows", (3, 50176), (1, 0)),
        (" of few columns", (50176, 3), (1, 0)),
        (" of images", (8, 3, 224, 224), (0, 2, 3, 1)),
        (" of images", (8, 224, 224, 3), (0, 3, 1, 2)),
        (" of 6 channels", (8, 6, 224, 224), (0, 2, 3, 1)),
        (" of 6 channels", (8, 224, 224, 6), (0, 3, 1, 2)),
    ]
    for (what, shape, axes), itemsize in itertools.product(shapes, DTYPES):
        name, quick = f"transpose{what} {''.join(map(str, axes))}", itemsize in (1, 4)
        yield Case("transposes, other shapes", name, orders[axes], shape, itemsize, quick=quick)
    for side, itemsize in itertools.product((512, 1024, 2048, 4096), DTYPES):
        if side * side * itemsize <= 64 * MIB:
            quick = (side, itemsize) in [(512, 1), (1024, 4), (2048, 1)]
            yield Case("transposes, powers of two", "transpose", orders[1, 0], (side, side), itemsize, quick=quick)


# ---------------------------------------------------------------------- pads and other single operations

_ENDS = ((0, 0), (0, 0), (3, 3), (3, 3))


def _pad(mode: str) -> Chain:
    return lambda op, x: op.pad(x, _ENDS, mode=mode)


_MOVES: dict[str, tuple[str, Chain]] = {
    **{f"pad {mode}": ("pads", _pad(mode)) for mode in ("constant", "edge", "reflect", "symmetric", "wrap")},
    "pad constant, inner 1": ("pads", lambda op, x: op.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))),
    "pad constant, channels": ("pads", lambda op, x: op.pad(x, ((0, 0), (0, 8), (0, 0), (0, 0)))),
    "crop": ("other operations", lambda op, x: x[:, :, 5:-6, 3:-2]),
    "every second": ("other operations", lambda op, x: x[:, :, ::2, ::2]),
    "flip of rows": ("other operations", lambda op, x: op.flip(x, (3,))),
    "flip of images": ("other operations", lambda op, x: op.flip(x, (2,))),
    "rotate": ("other operations", lambda op, x: op.transpose(op.flip(x, (3,)), (0, 1, 3, 2))),
    "roll": ("other operations", lambda op, x: op.roll(x, (5, -3), (2, 3))),
    "tile": ("other operations", lambda op, x: op.tile(x, (1, 1, 2, 3))),
    "repeat": ("other operations", lambda op, x: op.repeat(x, 3, 3)),
    "nearest neighbours": ("other operations", lambda op, x: op.repeat(op.repeat(x, 2, 2), 2, 3)),
}


def _moves() -> Iterator[Case]:
    for (name, (group, chain)), itemsize in itertools.product(_MOVES.items(), (1, 4)):
        shape = _image(_NCHW, MIB // (4 if name in ("tile", "repeat", "nearest neighbours") else 1), itemsize)
        yield Case(group, name, chain, shape, itemsize, quick=name in ("pad constant", "pad reflect", "flip of rows"))


# ---------------------------------------------------------------------- chains


def _focus(op: Any, x: Any) -> Any:
    parts = [x[:, :, i::2, j::2] for j in (0, 1) for i in (0, 1)]
    return op.concatenate(parts, axis=1)


def _swin(op: Any, x: Any) -> Any:
    n, h, w, c = x.shape
    windows = op.reshape(op.roll(x, (-3, -3), (1, 2)), (n, h // 7, 7, w // 7, 7, c))
    return op.reshape(op.transpose(windows, (0, 1, 3, 2, 4, 5)), (n * (h // 7) * (w // 7), 49, c))


def _im2col(op: Any, x: Any) -> Any:
    n, c, h, w = x.shape
    windows = op.window(x, (3, 3), (2, 3))
    return op.reshape(op.transpose(windows, (0, 2, 3, 1, 4, 5)), (n * (h - 2) * (w - 2), c * 9))


def _six(op: Any, x: Any) -> Any:
    x = op.pad(op.transpose(x, (0, 2, 3, 1)), ((0, 0), (2, 2), (2, 2), (0, 0)))
    x = op.flip(op.space_to_batch(x, (2, 2), ((0, 0), (0, 0))), (3,))
    return op.batch_to_space(x, (2, 2), ((1, 1), (0, 2)))


_CHAINS: dict[str, tuple[Chain, str, str]] = {  # with the layout and the dims
    "space to batch and back, other crops": (
        lambda op, x: op.batch_to_space(
            op.space_to_batch(x, (2, 2), ((2, 2), (2, 2))), (2, 2), ((1, 3), (3, 1))
        ),
        _NHWC, "",
    ),
    "space to depth, transpose": (
        lambda op, x: op.transpose(op.space_to_depth(x, 2, "blocks_first", 1), (0, 2, 3, 1)), _NCHW, "",
    ),
    "space to depth, transpose, of 3 channels": (
        lambda op, x: op.transpose(op.space_to_depth(x, 2, "blocks_first", 1), (0, 2, 3, 1)), "RGB", "",
    ),
    "focus: 4 slices, concat": (_focus, _NCHW, "N, C, 2*h, 2*w"),
    "shift and partition (Swin)": (_swin, "swin", "N, 7*h, 7*w, C"),
    "im2col 3x3": (_im2col, _NCHW, "N, C, H>=3, W>=3"),
    "transpose, pad, space to batch, flip, batch to space, crop": (_six, _NCHW, "N, C, 2*h, 2*w"),
}  # fmt: skip


_CHANNELS = {"swin": (96, 7), "RGB": (3, 2)}  # of layouts with other channels, and what divides the sides


def _chains() -> Iterator[Case]:
    for (name, (chain, layout, dims)), (size, itemsize) in itertools.product(
        _CHAINS.items(), [(MIB, 1), (MIB, 4), (16 * MIB, 4)]
    ):
        if layout in _CHANNELS:
            channels, unit = _CHANNELS[layout]
            side = unit * max(2, round((size / itemsize / channels) ** 0.5 / unit))
            image: Shape = (1, side, side, channels) if layout == "swin" else (1, channels, side, side)
        else:
            image = _image(layout, size // (9 if "im2col" in name else 1), itemsize)
        yield Case(f"chains, {size // MIB} MiB", name, chain, image, itemsize, dims, quick=(size, itemsize) == (MIB, 4))


# ---------------------------------------------------------------------- adjoints, calls, dynamic dims, states of memory


def _adjoints() -> Iterator[Case]:
    chains: dict[str, tuple[Chain, str]] = {
        "space to depth": (_BLOCKS["depth blocks_first, 4-D"][1][0], "N, C, 2*h, 2*w"),
        "pad constant": (_MOVES["pad constant"][1], ""),
        "pad edge": (_MOVES["pad edge"][1], "N, C, H>=1, W>=1"),
        "every second": (_MOVES["every second"][1], ""),
        "tile": (_MOVES["tile"][1], ""),
        "repeat": (_MOVES["repeat"][1], ""),
        "im2col 3x3": (_im2col, "N, C, H>=3, W>=3"),
    }
    for (name, (chain, dims)), itemsize in itertools.product(chains.items(), (4, 8)):
        shape = _image(_NCHW, MIB // (9 if "im2col" in name else 1), itemsize)
        yield Case("adjoints, 1 MiB", name, chain, shape, itemsize, dims, adjoint=True, quick=itemsize == 4)


def _calls() -> Iterator[Case]:
    chains: dict[str, Chain] = {
        "space to depth": _BLOCKS["depth blocks_first, 4-D"][1][0],
        "transpose": _transpose((0, 2, 3, 1)),
        "crop": _MOVES["every second"][1],
    }
    for name, chain in chains.items():
        yield Case("calls on 3 KB", name, chain, (1, 3, 16, 16), 4, quick=True)


def _dynamic() -> Iterator[Case]:
    for size, itemsize in itertools.product((64 * KIB, MIB), (1, 4)):
        for name in _BLOCKS:
            for case in _there_and_back("dynamic beside specialised", name, size, itemsize, "4-D" in name):
                yield replace(case, against="itself")
        for axes in ((1, 0), (0, 2, 3, 1), (3, 2, 1, 0)):
            shape = (round((size / itemsize) ** 0.5),) * 2 if len(axes) == 2 else _image(_NCHW, size, itemsize)
            name = f"transpose {''.join(map(str, axes))}"
            yield Case("dynamic beside specialised", name, _transpose(axes), shape, itemsize, against="itself")


def _states() -> Iterator[Case]:
    names = ("batch, OpenVINO 4-D", "batch, TensorFlow NHWC", "depth blocks_first, 4-D", "depth, TensorFlow NHWC")
    for state, sizes in (("cold", (MIB,)), ("fresh", (MIB, 16 * MIB))):
        for size, itemsize, name in itertools.product(sizes, (1, 4), names):
            group = f"{'cold caches' if state == 'cold' else 'fresh memory'}, {size // MIB} MiB"
            there, _ = _there_and_back(group, name, size, itemsize, False)
            yield replace(there, state=state, quick=(size, itemsize) == (MIB, 4) and "blocks_first" in name)
        for itemsize in (1, 4):
            group = "cold caches, 1 MiB" if state == "cold" else "fresh memory, 1 MiB"
            yield Case(group, "transpose", _transpose((1, 0)), (1000, 1000 // itemsize), itemsize, state=state)


def _count(shape: Shape) -> int:
    count = 1
    for n in shape:
        count *= n
    return count
