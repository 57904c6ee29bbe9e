"""Random chains of core operations as plain data, and random arrays to run them on.

A chain is a list of ``(name, attributes)`` that is valid for its shape: the brute-force oracle follows
along and says what shape each step leaves.  Shapes have extents of 0 and 1 as well.  An array is drawn as
a recipe (dtype, layout, seed), so that a failing example prints as something to type.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.support import oracle

MOST_ELEMENTS = 600
MOST_AXES = 6
DTYPES = (
    "bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16",
    ">i2", ">u4", ">f4", ">f8", ">c16", "M8[ns]", "m8[s]", ">M8[D]", "S1", "S5", "U3", ">U2", "V3", "V16",
    "i4,f8", "u1,>i2,S3",
)  # fmt: skip
LAYOUTS = ("contiguous", "fortran", "reversed", "stepped", "broadcast", "unaligned")


@dataclass(frozen=True, slots=True)
class Case:
    """A chain, and the recipe of the array to run it on."""

    shape: tuple[int, ...]
    steps: tuple[oracle.Step, ...]
    dtype: str = "i4"
    layout: str = "contiguous"
    seed: int = 0

    def array(self) -> np.ndarray[Any, Any]:
        """Return an array of random bytes, NaN payloads and negative zeros included."""
        return make_array(self.shape, self.dtype, self.layout, self.seed)


def make_array(shape: tuple[int, ...], dtype: str, layout: str, seed: int) -> np.ndarray[Any, Any]:
    """Return an array of random bytes with the strides that *layout* names."""
    kind = np.dtype(dtype)
    stored = {
        "fortran": shape[::-1],
        "stepped": tuple(2 * n + 1 for n in shape),
        "broadcast": (*shape[:-1], 1) if shape else shape,
    }.get(layout, shape)
    offset = 1 if layout == "unaligned" else 0
    data = np.random.default_rng(seed).bytes(math.prod(stored) * kind.itemsize + offset)
    if kind.kind == "b":
        data = bytes(byte & 1 for byte in data)
    whole = np.frombuffer(data, kind, offset=offset).reshape(stored)
    if layout == "fortran":
        return whole.T
    if layout == "reversed":
        return whole[(slice(None, None, -1),) * len(shape)]
    if layout == "stepped":
        return whole[(slice(1, None, 2),) * len(shape)]
    return np.broadcast_to(whole, shape)


@st.composite
def cases(draw: st.DrawFn, most_steps: int = 5, only: Collection[str] = ()) -> Case:
    """Draw a chain of core operations, of those in *only* if any, and the recipe of an array for it."""
    rank = draw(st.sampled_from((0, 1, 2, 3, 3, 4, 4, 5)))
    extent = st.sampled_from((4, 2, 6, 3, 8, 1, 0))
    shape = tuple(draw(st.lists(extent, min_size=rank, max_size=rank)))
    while math.prod(shape) > MOST_ELEMENTS // 2:
        shape = shape[:-1]
    dtype = draw(st.sampled_from(DTYPES))
    return Case(
        shape,
        draw(chains(shape, np.dtype(dtype), most_steps, only or STEPS)),
        dtype,
        draw(st.sampled_from(LAYOUTS)),
        draw(st.integers(0, 2**16)),
    )


@st.composite
def chains(
    draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any], most: int, only: Collection[str]
) -> tuple[oracle.Step, ...]:
    """Draw one to *most* steps that are valid one after another on an array of *shape*."""
    steps: list[oracle.Step] = []
    state = oracle.grid(np.zeros(shape, "u1"))
    for _ in range(draw(st.integers(1, most))):
        name = draw(st.sampled_from([n for n in only if len(state.shape) >= STEPS[n][0]]))
        attributes = draw(STEPS[name][1](state.shape, dtype))
        following = oracle.run(state, [(name, attributes)])
        if len(following.cells) <= MOST_ELEMENTS and len(following.shape) <= MOST_AXES:
            state = following
            steps.append((name, attributes))
    return tuple(steps)


@st.composite
def _transpose(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    order = draw(st.permutations(range(len(shape))))
    return {"axes": draw(st.sampled_from((None, order, [a - len(shape) for a in order])))}


@st.composite
def _reshape(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    size = math.prod(shape)
    extents: list[int] = []
    rest = size
    for _ in range(draw(st.integers(0, 4))):
        extents.append(draw(st.integers(0, 4)) if size == 0 else draw(st.sampled_from(_divisors(rest))))
        rest = rest // extents[-1] if size else 0
    if size or 0 not in extents:
        extents.insert(draw(st.integers(0, len(extents))), rest)
    unknown = draw(st.integers(0, len(extents))) - 1
    if unknown >= 0 and 0 not in extents[:unknown] + extents[unknown + 1 :]:
        extents[unknown] = -1
    return {"shape": extents}


@st.composite
def _pad(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    widths = []
    for n in shape:
        begin = draw(st.integers(-min(n, 2), 3))
        widths.append([begin, draw(st.integers(max(-min(n, 2), -n - begin), 3))])
    if draw(st.booleans()) and 0 not in shape:
        mode = draw(st.sampled_from(("edge", "symmetric", "wrap", "wrap" if 1 in shape else "reflect")))
        return {"pad_width": [[abs(begin), abs(end)] for begin, end in widths], "mode": mode}
    fill = draw(st.sampled_from((0, 1, 5))) if dtype.kind in "iufc" else 0
    return {"pad_width": widths, "constant_values": fill}


@st.composite
def _flip(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    axes = draw(st.lists(st.integers(0, len(shape) - 1), unique=True))
    return {"axis": draw(st.sampled_from((None, axes, axes[0] - len(shape) if axes else None)))}


@st.composite
def _getitem(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    key: list[slice | int | None] = []
    for n in shape[: draw(st.integers(0, len(shape)))]:
        if draw(st.integers(0, 9)) == 0 and len(shape) + key.count(None) < 6:
            key.append(None)
        if n and draw(st.integers(0, 4)) == 0:
            key.append(draw(st.integers(-n, n - 1)))
        else:
            bound = st.none() | st.integers(-n - 2, n + 2)
            key.append(slice(draw(bound), draw(bound), draw(st.sampled_from((None, 1, 2, 3, -1, -2, -3)))))
    return {"key": key}


@st.composite
def _space_to_batch(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    blocks, paddings = [], []
    for n in shape[1 : draw(st.integers(1, len(shape)))]:
        block, begin = draw(st.sampled_from((1, 2, 2, 3, 4))), draw(st.integers(0, 3))
        blocks.append(block)
        paddings.append([begin, -(n + begin) % block + block * draw(st.integers(0, 1))])
    return {"block_shape": blocks, "paddings": paddings}


@st.composite
def _batch_to_space(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    batch, blocks, crops = shape[0] or 12, [], []
    for n in shape[1 : draw(st.integers(1, len(shape)))]:
        block = draw(st.sampled_from(_divisors(batch)))
        batch //= block
        blocks.append(block)
        begin = draw(st.integers(0, min(3, n * block)))
        crops.append([begin, draw(st.integers(0, min(3, n * block - begin)))])
    return {"block_shape": blocks, "crops": crops}


@st.composite
def _space_to_depth(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    _depth, spatial, attributes = draw(_depth_axes(shape))
    blocks = [draw(st.sampled_from([b for b in (1, 2, 3, 4) if shape[a] % b == 0])) for a in spatial]
    return {"block_size": _one_or_each(draw, blocks), **attributes}


@st.composite
def _depth_to_space(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    depth, spatial, attributes = draw(_depth_axes(shape))
    rest, blocks = shape[depth] or 12, []
    for _ in spatial:
        blocks.append(draw(st.sampled_from(_divisors(rest))))
        rest //= blocks[-1]
    return {"block_size": _one_or_each(draw, blocks), **attributes}


@st.composite
def _depth_axes(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[int, list[int], dict[str, Any]]:
    mode = draw(st.sampled_from(("blocks_first", "depth_first")))
    if draw(st.booleans()):
        return 1, list(range(2, len(shape))), {"mode": mode}
    depth, *others = draw(st.permutations(range(len(shape))))
    spatial = others[: draw(st.integers(0, 3))]
    return depth, spatial, {"mode": mode, "depth_axis": depth - len(shape), "spatial_axes": spatial}


def _one_or_each(draw: st.DrawFn, blocks: list[int]) -> int | list[int]:
    return blocks[0] if blocks and len(set(blocks)) == 1 and draw(st.booleans()) else blocks


def _divisors(n: int) -> list[int]:
    return [d for d in range(1, n + 1) if n % d == 0]


@st.composite
def _roll(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    axes = draw(st.lists(st.integers(-len(shape), len(shape) - 1), max_size=3)) if shape else []
    shifts = [draw(st.integers(-9, 9)) for _ in axes]
    one = draw(st.integers(-9, 9))
    return draw(st.sampled_from(({"shift": one}, {"shift": shifts or [one], "axis": axes or None})))


@st.composite
def _tile(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    return {"reps": draw(st.lists(st.sampled_from((1, 2, 3, 0)), max_size=min(len(shape) + 1, 5)))}


@st.composite
def _repeat(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    axes = st.none() | st.integers(-len(shape), len(shape) - 1) if shape else st.none()
    return {"repeats": draw(st.sampled_from((2, 3, 1, 0))), "axis": draw(axes)}


@st.composite
def _take(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    n = shape[axis]
    count = draw(st.sampled_from((3, 60))) if n else 0  # pieces, and mostly a table
    rows = draw(st.sampled_from((1, 2)))
    indices = draw(st.lists(st.integers(-n, n - 1), min_size=count, max_size=count)) if n else []
    if rows == 2 and count and len(shape) < MOST_AXES:
        return {"indices": [indices, indices[::-1]], "axis": axis}
    return {"indices": indices, "axis": axis}


@st.composite
def _broadcast_to(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    new = draw(st.lists(st.integers(0, 3), max_size=max(0, min(2, 5 - len(shape)))))
    return {"shape": [*new, *(draw(st.integers(0, 4)) if n == 1 else n for n in shape)]}


@st.composite
def _squeeze(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    ones = [a - draw(st.sampled_from((0, len(shape)))) for a, n in enumerate(shape) if n == 1]
    return {"axis": draw(st.sampled_from((None, ones, ones[:1])))}


@st.composite
def _expand_dims(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    count = draw(st.integers(0, min(2, MOST_AXES - len(shape))))
    rank = len(shape) + count
    places = draw(st.permutations(range(rank)))[:count]
    return {"axis": [a - draw(st.sampled_from((0, rank))) for a in places]}


@st.composite
def _moveaxis(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    count = draw(st.integers(0, len(shape)))
    source, places = (draw(st.permutations(range(len(shape))))[:count] for _ in range(2))
    return {"source": source, "destination": [a - len(shape) for a in places]}


@st.composite
def _swapaxes(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    axes = st.integers(-len(shape), len(shape) - 1)
    return {"axis1": draw(axes), "axis2": draw(axes)}


def _ravel(shape: tuple[int, ...], dtype: np.dtype[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.just({})


@st.composite
def _window(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    axes = draw(st.permutations(range(len(shape))))[: draw(st.integers(0, 2))]
    attributes: dict[str, Any] = {"axis": axes, "window_shape": [], "strides": [], "dilation": [], "padding": []}
    for a in axes:
        begin, end = draw(st.integers(0, 2)), draw(st.integers(0, 2))
        begin += not shape[a] + begin + end
        whole = shape[a] + begin + end
        size = draw(st.integers(1, min(whole, 3)))
        attributes["window_shape"].append(size)
        attributes["strides"].append(draw(st.integers(1, 3)))
        attributes["dilation"].append(draw(st.integers(1, max(1, (whole - 1) // (size - 1) if size > 1 else 3))))
        attributes["padding"].append([begin, end])
    return attributes


@st.composite
def _pack(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    fill = draw(st.sampled_from((0, 1, 5))) if dtype.kind in "iufc" else 0
    axis = draw(st.integers(0, len(shape) - 1))
    return {"axis": axis, "block": draw(st.integers(1, 5)), "constant_values": fill}


@st.composite
def _unpack(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    axis = draw(st.integers(0, len(shape) - 2))
    return {"axis": axis, "extent": draw(st.none() | st.integers(0, shape[axis] * shape[-1]))}


@st.composite
def _channel_shuffle(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    axis = draw(st.integers(0, len(shape) - 1))
    return {"groups": draw(st.sampled_from(_divisors(shape[axis] or 6))), "axis": axis}


@st.composite
def _resize_nearest(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> dict[str, Any]:
    axes = [a for a in draw(st.permutations(range(len(shape))))[: draw(st.integers(0, 2))] if shape[a]]
    scales = [1, 2, 3, Fraction(3, 2), Fraction(2, 3), Fraction(1, 2), Fraction(5, 4)]
    if draw(st.booleans()):
        sizes: dict[str, Any] = {"scale": [draw(st.sampled_from(scales)) for _ in axes]}
    else:
        sizes = {"shape": [draw(st.integers(1, 9)) for _ in axes]}
    return {**sizes, "axes": axes, "mode": draw(st.sampled_from(("asymmetric", "half_pixel")))}


# name: the least rank, and the strategy of its attributes for a shape and an element type
STEPS: dict[str, tuple[int, Any]] = {
    "transpose": (0, _transpose),
    "moveaxis": (0, _moveaxis),
    "swapaxes": (1, _swapaxes),
    "reshape": (0, _reshape),
    "ravel": (0, _ravel),
    "squeeze": (0, _squeeze),
    "expand_dims": (0, _expand_dims),
    "getitem": (0, _getitem),
    "pad": (0, _pad),
    "flip": (1, _flip),
    "roll": (0, _roll),
    "tile": (0, _tile),
    "repeat": (0, _repeat),
    "take": (1, _take),
    "broadcast_to": (0, _broadcast_to),
    "window": (0, _window),
    "resize_nearest": (0, _resize_nearest),
    "space_to_batch": (1, _space_to_batch),
    "batch_to_space": (1, _batch_to_space),
    "space_to_depth": (2, _space_to_depth),
    "depth_to_space": (2, _depth_to_space),
    "pack": (1, _pack),
    "unpack": (2, _unpack),
    "channel_shuffle": (1, _channel_shuffle),
}

# Operations whose attributes mean the same on a symbolic shape; the others name extents.
DYNAMIC = tuple(name for name in STEPS if name not in ("reshape", "getitem", "broadcast_to", "squeeze"))
