"""A step as others that mean the same."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from tests.fuzz_prove import steps as propose
from tests.fuzz_prove.extents import after, minus, over, product, times
from tests.support.brute import Expression, Step

Shape = list[Expression]
Attributes = Mapping[str, Any]


def strided(axis: int, step: int) -> Step:
    """Return the step that takes each *step*-th element of an axis."""
    return "getitem", {"key": [slice(None)] * axis + [slice(None, None, step)]}


def written_out(rnd: random.Random, step: Step, shape: Shape) -> list[Step]:
    """Return a step as others that mean the same; none if there is no such."""
    name, given = step
    rank = len(shape)
    match name:
        case "pad" if "mode" not in given:
            zero = [[0, 0]] * rank
            pairs = enumerate(given["pad_width"])
            return [("pad", {**given, "pad_width": [*zero[:k], pair, *zero[k + 1 :]]}) for k, pair in pairs]
        case "flip" if given["axis"]:
            if rnd.random() < 0.5:
                return [strided(a, -1) for a in given["axis"]]
            return [("flip", {"axis": [a]}) for a in given["axis"]]
        case "moveaxis" | "swapaxes":
            return [("transpose", {"axes": after(step, list(range(rank)))})]
        case "roll" if given["axis"] is not None:
            return _rolled(given["shift"], given["axis"], shape)
        case "squeeze" if None not in shape:
            return [("reshape", {"shape": after(step, shape)})]
        case "expand_dims":
            (at,) = given["axis"]
            return [("getitem", {"key": [slice(None)] * at + [None]})]
    if None in shape:
        return []
    made = after(step, shape)
    match name:
        case "space_to_batch":
            return _space_to_batch(given, shape, made)
        case "batch_to_space":
            return _batch_to_space(given, shape, made)
        case "space_to_depth":
            return _space_to_depth(given, shape, made)
        case "depth_to_space":
            return _depth_to_space(given, shape, made)
        case "ravel":
            return [("reshape", {"shape": made})]
        case "roll":
            (size,) = [product(shape)]
            flat: list[Step] = [("roll", {"shift": given["shift"], "axis": 0})]
            return [("reshape", {"shape": [size]}), *flat, ("reshape", {"shape": shape})]
        case "tile" if len(given["reps"]) == rank:
            apart = [e for n, r in zip(shape, given["reps"], strict=True) for e in ([n] if r == 1 else [1, n])]
            spread = [e for n, r in zip(shape, given["reps"], strict=True) for e in ([n] if r == 1 else [r, n])]
            return [("reshape", {"shape": apart}), ("broadcast_to", {"shape": spread}), ("reshape", {"shape": made})]
        case "repeat":
            a = given["axis"]
            apart, spread = [*shape[: a + 1], 1, *shape[a + 1 :]], [*shape[: a + 1], given["repeats"], *shape[a + 1 :]]
            return [("reshape", {"shape": apart}), ("broadcast_to", {"shape": spread}), ("reshape", {"shape": made})]
        case "channel_shuffle":
            a, groups = given["axis"], given["groups"]
            split = [*shape[:a], groups, over(shape[a], groups), *shape[a + 1 :]]
            swap: Step = ("swapaxes", {"axis1": a, "axis2": a + 1})
            return [("reshape", {"shape": split}), swap, ("reshape", {"shape": shape})]
        case "pack" if None not in made:
            a = given["axis"]
            split = [*made[: a + 1], given["block"], *made[a + 1 : -1]]
            return [("reshape", {"shape": split}), ("moveaxis", {"source": a + 1, "destination": len(made) - 1})]
        case "unpack" if given["extent"] is None:
            return [("moveaxis", {"source": rank - 1, "destination": given["axis"] + 1}), ("reshape", {"shape": made})]
    return []


def _rolled(shift: Expression, axis: int, shape: Shape) -> list[Step]:
    """Return a roll as two, or as the parts of the axis exchanged where that is what it does."""
    if shape[axis] is not None and isinstance(shift, str):
        at = minus(shape[axis], shift)
        parts = [propose.part(axis, at, shape[axis]), propose.part(axis, 0, at)]
        return [("concatenate", {"axis": axis, "branches": parts})]
    return [("roll", {"shift": 1, "axis": axis}), ("roll", {"shift": minus(shift, 1), "axis": axis})]


def _space_to_batch(given: Attributes, shape: Shape, made: Shape) -> list[Step]:
    block, rank, m = given["block_shape"], len(shape), len(given["block_shape"])
    widths = [[0, 0], *given["paddings"], *[[0, 0]] * (rank - m - 1)]
    split = [shape[0]]
    for cells, b in zip(made[1 : m + 1], block, strict=True):
        split += [cells, b]
    order = [*range(2, 2 * m + 1, 2), 0, *range(1, 2 * m + 1, 2), *range(2 * m + 1, rank + m)]
    return [
        ("pad", {"pad_width": widths, "constant_values": 0}),
        ("reshape", {"shape": [*split, *shape[m + 1 :]]}),
        ("transpose", {"axes": order}),
        ("reshape", {"shape": made}),
    ]


def _batch_to_space(given: Attributes, shape: Shape, made: Shape) -> list[Step]:
    block, rank, m = given["block_shape"], len(shape), len(given["block_shape"])
    order = [m]
    for k in range(m):
        order += [m + 1 + k, k]
    whole = [made[0], *(times(n, b) for n, b in zip(shape[1 : m + 1], block, strict=True)), *shape[m + 1 :]]
    crops = [[minus(0, e) for e in pair] for pair in given["crops"]]
    return [
        ("reshape", {"shape": [*block, made[0], *shape[1:]]}),
        ("transpose", {"axes": [*order, *range(2 * m + 1, rank + m)]}),
        ("reshape", {"shape": whole}),
        ("pad", {"pad_width": [[0, 0], *crops, *[[0, 0]] * (rank - m - 1)], "constant_values": 0}),
    ]


def _space_to_depth(given: Attributes, shape: Shape, made: Shape) -> list[Step]:
    m = len(shape) - 2
    split = shape[:2]
    for cells in made[2:]:
        split += [cells, given["block_size"]]
    blocks = range(3, 2 * m + 2, 2)
    depth = [*blocks, 1] if given["mode"] == "blocks_first" else [1, *blocks]
    return [
        ("reshape", {"shape": split}),
        ("transpose", {"axes": [0, *depth, *range(2, 2 * m + 2, 2)]}),
        ("reshape", {"shape": made}),
    ]


def _depth_to_space(given: Attributes, shape: Shape, made: Shape) -> list[Step]:
    m = len(shape) - 2
    block, first = [given["block_size"]] * m, given["mode"] == "blocks_first"
    order = [0, m + 1 if first else 1]
    for k in range(m):
        order += [m + 2 + k, k + (1 if first else 2)]
    depth = [*block, made[1]] if first else [made[1], *block]
    return [
        ("reshape", {"shape": [shape[0], *depth, *shape[2:]]}),
        ("transpose", {"axes": order}),
        ("reshape", {"shape": made}),
    ]
