"""Operations that read or write images at places that other operands have."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from symlayout.compute.reductions import wide

Array = np.ndarray[Any, Any]
Axes = tuple[int, ...]
_CUBIC = -0.75


def _reflected(x: Array, low: float, high: float) -> Array:
    """Return places outside of an interval reflected at its ends, until they are inside."""
    room = high - low
    if room <= 0:
        return np.full_like(x, low)
    outside = np.where(x < low, low - x, x - high)
    turns = np.trunc(outside / room)
    rest = outside - turns * room
    from_low = (turns % 2 == 0) == (x < low)
    return np.where((x >= low) & (x <= high), x, np.where(from_low, low + rest, high - rest))


def _weights(fraction: Array, mode: str) -> list[tuple[int, Array]]:
    """Return the neighbours of a place, relative to the one before it, with their weights."""
    if mode == "nearest":
        return [(0, np.ones_like(fraction))]
    if mode == "linear":
        return [(0, 1 - fraction), (1, fraction)]
    a, f = fraction.dtype.type(_CUBIC), fraction

    def outer(t: Array) -> Array:
        return np.asarray(((a * t - 5 * a) * t + 8 * a) * t - 4 * a)

    def inner(t: Array) -> Array:
        return np.asarray(((a + 2) * t - (a + 3)) * t * t + 1)

    return [(-1, outer(f + 1)), (0, inner(f)), (1, inner(1 - f)), (2, outer(2 - f))]


def interpolated(
    x: Array, places: Sequence[Array], mode: str, padding: str, ends: Sequence[tuple[float, float]]
) -> Array:
    """Return the elements of (n, c, ...) at places, each of shape (n, ...), as (n, c, ...).

    *padding* says what is read outside: ``zeros``, ``border``, or ``reflection`` between *ends*.
    """
    flat = x.reshape(*x.shape[:2], -1)
    dtype = np.result_type(places[0].dtype, np.complex64) if x.dtype.kind == "c" else places[0].dtype
    result = np.zeros((x.shape[0], x.shape[1], places[0][0].size), dtype)
    taps = []
    for place, n, (low, high) in zip(places, x.shape[2:], ends, strict=True):
        if padding == "border" and mode != "cubic":  # cubic: each neighbour is clipped on its own
            place = np.clip(place, 0, n - 1)
        elif padding == "reflection":
            place = _reflected(place, low, high)
        before = np.rint(place) if mode == "nearest" else np.floor(place)
        own = []
        for shift, weight in _weights(place - before, mode):
            at = (before + shift).astype(np.int64)
            inside = (at >= 0) & (at < n)
            if padding == "reflection":
                at = np.trunc(_reflected(at.astype(np.float64), low, high)).astype(np.int64)
            elif padding == "zeros":
                weight = np.where(inside, weight, 0)
            own.append((np.clip(at, 0, n - 1), weight))
        taps.append(own)
    for chosen in itertools.product(*taps):
        index = np.zeros_like(chosen[0][0])
        weight = np.ones_like(chosen[0][1])
        for (at, w), n in zip(chosen, x.shape[2:], strict=True):
            index, weight = index * n + at, weight * w
        rows = index.reshape(x.shape[0], 1, -1)
        result += weight.reshape(x.shape[0], 1, -1) * np.take_along_axis(flat, rows, 2)
    return result.reshape(*x.shape[:2], *places[0].shape[1:])


def grid_sample(x: Array, grid: Array, axes: Axes, align: bool, mode: str, padding: str) -> Array:
    """Return the elements at the places of a grid, where -1 and 1 are the ends of an axis."""
    sizes = x.shape[2:]
    places, ends = [], []
    for k, n in enumerate(sizes):
        g = wide(grid[..., len(sizes) - 1 - k])
        place = (g + 1) / 2 * (n - 1) if align else ((g + 1) * n - 1) / 2
        places.append(np.rint(place) if mode == "nearest" else place)
        ends.append((0.0, n - 1.0) if align else (-0.5, n - 0.5))
    if x.size == 0 or grid.size == 0:
        return np.zeros((*x.shape[:2], *grid.shape[1:-1]), x.dtype)
    return interpolated(wide(x), places, mode, padding, ends).astype(x.dtype)


def affine_grid(theta: Array, room: Array, axes: Axes, align: bool) -> Array:
    """Return the places that an affine map makes of a regular grid over the extents of *room*."""
    sizes = room.shape
    base = []
    for n in sizes:
        k = np.arange(n)
        base.append(2 * k / max(n - 1, 1) - 1 if align else (2 * k + 1) / n - 1)
    grid = np.stack([*np.meshgrid(*base, indexing="ij")[::-1], np.ones(sizes)], -1)
    made: Array = np.einsum("nij,...j->n...i", theta.astype(np.float64), grid)
    return made.astype(theta.dtype)


def roi_align(
    x: Array,
    rois: Array,
    batch: Array,
    axes: Axes,
    coordinates: str,
    mode: str,
    ratio: int,
    scale: float,
    size: tuple[int, int],
) -> Array:
    """Return a grid of means, or of maxima, of each box: of elements that are interpolated on a finer grid."""
    made = np.zeros((len(rois), x.shape[1], *size), x.dtype)
    half = coordinates == "half_pixel"
    for number, (roi, image) in enumerate(zip(rois, batch, strict=True)):
        taps = []
        for axis, count in enumerate(size):
            start, end = (float(roi[k]) * scale - 0.5 * half for k in (1 - axis, 3 - axis))
            length = end - start if half else max(end - start, 1.0)
            fine = int(ratio) if ratio > 0 else max(int(np.ceil(length / count)), 0)  # a box may end before it starts
            at = start + (np.arange(count * fine) + 0.5) * (length / count / fine if fine else 0)
            taps.append((*_bounded(at, x.shape[2 + axis]), fine))
        (y, high_y, wy, inside_y, rows), (c, high_c, wc, inside_c, columns) = taps
        terms = []
        for row, column, weight_y, weight_c in itertools.product((y, high_y), (c, high_c), (0, 1), (0, 1)):
            if (row is high_y) != bool(weight_y) or (column is high_c) != bool(weight_c):
                continue
            wide_y = (wy if weight_y else 1 - wy) * inside_y
            wide_c = (wc if weight_c else 1 - wc) * inside_c
            terms.append(x[int(image)][:, row][:, :, column] * (wide_y[:, None] * wide_c))
        value = sum(terms) if mode == "avg" else np.maximum.reduce(terms)
        cells = np.asarray(value).reshape(x.shape[1], size[0], rows, size[1], columns)
        if rows and columns:
            made[number] = cells.mean((2, 4)) if mode == "avg" else cells.max((2, 4))
    return made


def _bounded(at: Array, n: int) -> tuple[Array, Array, Array, Array]:
    """Return the neighbours of places, the weight of the later one, and which places count."""
    inside = (at >= -1) & (at <= n)
    at = np.maximum(at, 0)
    low = np.minimum(at.astype(np.int64), n - 1)
    high = np.minimum(low + 1, n - 1)
    return low, high, np.where(low >= n - 1, 0, at - low), inside


def max_roi_pool(x: Array, rois: Array, batches: Array, axes: Axes, scale: float, size: tuple[int, int]) -> Array:
    """Return the maxima of a grid of parts of each box, of the image that *batches* name; 0 where a part is empty."""
    images = batches.astype(np.int64)
    if ((images < 0) | (images >= len(x))).any():
        raise IndexError(f"an image is out of range for {len(x)} of them")
    made = np.zeros((len(rois), x.shape[1], *size), x.dtype)
    for number, roi in enumerate(rois):
        parts = []
        for axis, count in enumerate(size):
            start, end = (int(np.floor(float(roi[k]) * scale + 0.5)) for k in (2 - axis, 4 - axis))
            each = max(end - start + 1, 1) / count
            n = x.shape[2 + axis]
            edges = [(int(np.floor(k * each)) + start, int(np.ceil((k + 1) * each)) + start) for k in range(count)]
            parts.append([slice(min(max(a, 0), n), min(max(b, 0), n)) for a, b in edges])
        for (i, rows), (j, columns) in itertools.product(*map(enumerate, parts)):
            part = x[images[number], :, rows, columns]
            if part.size:
                made[number, :, i, j] = part.max((1, 2))
    return made


def max_unpool(x: Array, index: Array, pooled: Array, room: Array | None = None, *, axes: Axes) -> Array:
    """Return zeros, with the elements of *x* at positions that count the elements of *pooled*.

    The shape is that of *pooled*, or of *room*, which is no smaller.
    """
    if ((index < 0) | (index >= pooled.size)).any():
        raise IndexError(f"a position is out of range for {pooled.size} elements")
    flat = np.zeros(pooled.size, x.dtype)
    flat[index.reshape(-1)] = x.reshape(-1)
    if room is None:
        return flat.reshape(pooled.shape)
    made = np.zeros(room.shape, x.dtype)
    common = tuple(slice(0, min(a, b)) for a, b in zip(pooled.shape, room.shape, strict=True))
    made[common] = flat.reshape(pooled.shape)[common]
    return made


def columns_to_images(
    x: Array, room: Array, axes: Axes, block: Axes, strides: Axes, dilations: Axes, pads: tuple[Axes, ...]
) -> Array:
    """Return images to which the columns of (n, c*block, places) are added as blocks."""
    padded = [n + begin + end for n, (begin, end) in zip(room.shape, pads, strict=True)]
    counts = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(padded, block, strides, dilations, strict=True)]
    parts = x.reshape(x.shape[0], -1, *block, *counts)
    made = np.zeros((*parts.shape[:2], *padded), x.dtype)
    for at in np.ndindex(*block):
        spots = tuple(slice(k * d, k * d + s * c, s) for k, d, s, c in zip(at, dilations, strides, counts, strict=True))
        made[(slice(None), slice(None), *spots)] += parts[(slice(None), slice(None), *at)]
    inner = tuple(slice(begin, begin + n) for n, (begin, _) in zip(room.shape, pads, strict=True))
    return made[(slice(None), slice(None), *inner)]


def deformed_convolution(
    x: Array,
    w: Array,
    offset: Array,
    *rest: Array,
    axes: Axes,
    given: tuple[bool, bool],
    groups: tuple[int, int],
    strides: Axes,
    dilations: Axes,
    pads: tuple[Axes, ...],
) -> Array:
    """Return a convolution whose kernel elements are moved by *offset*; *rest* are the bias and the mask, if given."""
    slots = iter(rest)
    bias, mask = (next(slots) if there else None for there in given)
    n, kernel, places = x.shape[0], w.shape[2:], offset.shape[2:]
    rank = len(kernel)
    moved = wide(offset).reshape(n, groups[1], *kernel, rank, *places)
    factor = None if mask is None else mask.reshape(n, groups[1], 1, *kernel, *places)
    each = x.shape[1] // groups[1]
    read = []
    for group in range(groups[1]):
        spots = []
        for k in range(rank):
            along = [np.arange(e).reshape([-1 if a == j else 1 for j in range(2 * rank)]) for a, e in
                     ((k, kernel[k]), (rank + k, places[k]))]  # fmt: skip
            regular = along[1] * strides[k] + along[0] * dilations[k] - pads[k][0]
            spots.append(np.moveaxis(moved[:, group], 1 + rank, 0)[k] + regular.astype(moved.dtype))
        values = interpolated(
            wide(x[:, group * each : (group + 1) * each]), spots, "linear", "zeros", [(0.0, 0.0)] * rank
        )
        read.append(values if factor is None else values * factor[:, group])
    taken = np.concatenate(read, 1).reshape(n, groups[0], w.shape[1], -1, int(np.prod(places)))
    kernels = wide(w).reshape(groups[0], w.shape[0] // groups[0], w.shape[1], -1)
    made: Array = np.einsum("ngckp,gmck->ngmp", taken, kernels).reshape(n, w.shape[0], *places)
    if bias is not None:
        made = made + bias.reshape(1, -1, *[1] * rank)
    return made.astype(x.dtype)


def chosen_boxes(
    boxes: Array, scores: Array, *rest: Array, axes: Axes, given: tuple[bool, bool, bool], center_point_box: int
) -> Array:
    """Return batch, class and number of boxes, best first, that overlap no better box of their class too much.

    *rest* are the number of boxes for each class, the largest overlap and the least score, if given.
    """
    slots = iter(rest)
    limit, overlap, least = (next(slots).reshape(-1)[0].item() if there else None for there in given)
    found = []
    for (batch, label), row in ((at, scores[at]) for at in np.ndindex(*scores.shape[:2])):
        corners = _corners(boxes[batch].astype(np.float64), center_point_box)
        chosen: list[int] = []
        for number in np.argsort(-row, kind="stable").tolist():
            if len(chosen) >= max(limit or 0, 0):
                break
            if least is not None and not row[number] > least:
                continue
            if all(_overlap(corners[number], corners[other]) <= (overlap or 0) for other in chosen):
                chosen.append(number)
        found += [(batch, label, number) for number in chosen]
    return np.array(found, np.int64).reshape(-1, 3)


def _corners(boxes: Array, center_point_box: int) -> Array:
    """Return boxes as their two corners, the smaller coordinates first."""
    if center_point_box:
        x, y, width, height = boxes.T
        return np.stack([y - height / 2, x - width / 2, y + height / 2, x + width / 2], -1)
    a, b = boxes[:, :2], boxes[:, 2:]
    return np.concatenate([np.minimum(a, b), np.maximum(a, b)], -1)


def _overlap(a: Array, b: Array) -> float:
    """Return the area of the intersection of two boxes, divided by that of the union."""
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    if (sides <= 0).any():
        return 0.0
    common = float(np.prod(sides))
    return common / (float(np.prod(a[2:] - a[:2])) + float(np.prod(b[2:] - b[:2])) - common)
