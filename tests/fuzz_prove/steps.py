"""Random chains: every core operation, with symbolic extents, blocks, pads, shifts and bounds."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from tests.fuzz_prove.extents import add, after, minus, over, product, times
from tests.support.brute import Chain, Expression, Step

MAX_RANK = 6


@dataclass(frozen=True, slots=True)
class Draft:
    """A chain in the making, with its symbolic shape."""

    chain: Chain
    shape: list[Expression]

    def then(self, step: Step) -> Draft:
        """Return the chain with one more step."""
        return Draft(Chain(self.chain.shape, (*self.chain.steps, step)), after(step, self.shape))


def random_leaf(rnd: random.Random) -> Draft:
    """Return an input of 1 to 4 axes."""
    names = rnd.sample(["N", "H", "W", "C"], rnd.choice((1, 2, 2, 3, 3, 4)))
    shape = [
        rnd.choice((name, name, name, ("*", "b", name), ("*", 2, name), ("*", name, "b"), ("+", name, 1), 2, 4, 1))
        for name in names
    ]
    return Draft(Chain(tuple(shape)), shape)


def random_chain(rnd: random.Random, most: int) -> Draft:
    """Return a chain of at most *most* steps on an input of its own."""
    return lengthened(rnd, random_leaf(rnd), rnd.randint(0, most))


def lengthened(rnd: random.Random, draft: Draft, count: int) -> Draft:
    """Return *draft* with up to *count* random steps more."""
    for _ in range(count):
        propose = rnd.choices(PROPOSALS, WEIGHTS)[0]
        if (step := propose(rnd, draft.shape)) is not None:
            draft = draft.then(step)
    return draft


def axis_of(rnd: random.Random, shape: list[Expression], *, written: bool = False) -> int | None:
    """Return one of the axes, of those with a written extent if asked for; None if there is none."""
    axes = [a for a, n in enumerate(shape) if n is not None or not written]
    return rnd.choice(axes) if axes else None


def block_of(rnd: random.Random) -> Expression:
    """Return a block size."""
    return rnd.choice((2, 2, 3, "b", "b", "b", "c", 1))


def margins_of(rnd: random.Random, count: int) -> list[list[Expression]]:
    """Return pads or crops, none of them negative."""
    return [[rnd.choice((0, 0, 1, 1, "p", 2)), rnd.choice((0, 0, 1, 1, "p", "q"))] for _ in range(count)]


def transpose(rnd: random.Random, shape: list[Expression]) -> Step | None:
    return "transpose", {"axes": rnd.sample(range(len(shape)), len(shape))}


def moveaxis(rnd: random.Random, shape: list[Expression]) -> Step | None:
    if not shape:
        return None
    return "moveaxis", {"source": rnd.randrange(len(shape)), "destination": rnd.randrange(len(shape))}


def swapaxes(rnd: random.Random, shape: list[Expression]) -> Step | None:
    return ("swapaxes", {"axis1": rnd.randrange(len(shape)), "axis2": rnd.randrange(len(shape))}) if shape else None


def flip(rnd: random.Random, shape: list[Expression]) -> Step | None:
    return "flip", {"axis": [a for a in range(len(shape)) if rnd.random() < 0.5]}


def pad(rnd: random.Random, shape: list[Expression]) -> Step | None:
    widths = [[rnd.choice((0, 0, 0, 1, 1, 2, "p", "q", -1, ("-", 0, "p"))) for _ in range(2)] for _ in shape]
    return "pad", {"pad_width": widths, "constant_values": rnd.choice((0, 0, 0, -1))}


def pad_by_mode(rnd: random.Random, shape: list[Expression]) -> Step | None:
    at = rnd.randrange(len(shape)) if shape else 0  # one axis, sometimes all: pieces multiply
    every = rnd.random() < 0.2
    widths = [
        [rnd.choice((0, 1, 1, 2, "p", "q")) if every or k == at else 0 for _ in range(2)] for k in range(len(shape))
    ]
    return "pad", {"pad_width": widths, "mode": rnd.choice(("edge", "reflect", "symmetric", "wrap"))}


def getitem(rnd: random.Random, shape: list[Expression]) -> Step | None:
    axis = axis_of(rnd, shape)
    if axis is None or rnd.random() < 0.1:
        return ("getitem", {"key": [None]}) if len(shape) < MAX_RANK else None
    bounds = (None, None, 0, 1, 2, -1, -2)
    item = slice(rnd.choice(bounds), rnd.choice(bounds), rnd.choice((None, None, 1, 2, 3, -1, -2)))
    return "getitem", {"key": [slice(None)] * axis + [rnd.choice((item, item, item, item, 0, -1))]}


def cut(rnd: random.Random, shape: list[Expression]) -> Step | None:
    """Return a slice with symbolic bounds."""
    axis = axis_of(rnd, shape, written=True)
    if axis is None:
        return None
    n = shape[axis]
    start = rnd.choice((0, 1, "p"))
    stop = rnd.choice((n, minus(n, 1), minus(n, "p"), add(start, "q")))
    if isinstance(start, int) and isinstance(stop, int):
        return None  # integer bounds are for `getitem`: they clamp
    if start != 0 and not isinstance(stop, int) and rnd.random() < 0.2:  # an int below 0 would count from the end
        return "slice", {"axis": axis, "start": minus(stop, 1), "stop": minus(start, 1), "step": rnd.choice((-1, -2))}
    return "slice", {"axis": axis, "start": start, "stop": stop, "step": rnd.choice((1, 1, 1, 2))}


def space_to_batch(rnd: random.Random, shape: list[Expression]) -> Step | None:
    if len(shape) < 2:
        return None
    m = rnd.randint(1, min(2, len(shape) - 1))
    return "space_to_batch", {"block_shape": [block_of(rnd) for _ in range(m)], "paddings": margins_of(rnd, m)}


def batch_to_space(rnd: random.Random, shape: list[Expression]) -> Step | None:
    if len(shape) < 2:
        return None
    m = rnd.randint(1, min(2, len(shape) - 1))
    return "batch_to_space", {"block_shape": [block_of(rnd) for _ in range(m)], "crops": margins_of(rnd, m)}


def depth(rnd: random.Random, shape: list[Expression]) -> Step | None:
    """Return space to depth, or back."""
    if len(shape) < 3:
        return None
    name = rnd.choice(("space_to_depth", "depth_to_space"))
    return name, {"block_size": rnd.choice((2, 2, 3, "b", 1)), "mode": rnd.choice(("blocks_first", "depth_first"))}


def reshape(rnd: random.Random, shape: list[Expression]) -> Step | None:
    made = list(shape)
    kind = rnd.choice(("merge", "split", "split", "flat", "permuted"))
    if None in made or (kind == "flat" and rnd.random() < 0.5):
        return "reshape", {"shape": [-1]}
    if kind == "flat":
        return "reshape", {"shape": [product(made)]}
    if kind == "permuted":
        rnd.shuffle(made)
    elif kind == "merge" and len(made) > 1:
        k = rnd.randrange(len(made) - 1)
        made[k : k + 2] = [times(made[k], made[k + 1])]
    elif made and len(made) < MAX_RANK:
        k, b = rnd.randrange(len(made)), block_of(rnd)
        rest = over(made[k], b)
        made[k : k + 1] = [b, rest] if rnd.random() < 0.5 else [rest, b]
    if made and rnd.random() < 0.15:
        made[rnd.randrange(len(made))] = -1
    return "reshape", {"shape": made}


def ravel(rnd: random.Random, shape: list[Expression]) -> Step | None:
    return "ravel", {}


def roll(rnd: random.Random, shape: list[Expression]) -> Step | None:
    shift = rnd.choice((1, 2, -1, "p", "p", "q", ("-", 0, "p"), ("+", "p", 1)))
    return "roll", {"shift": shift, "axis": rnd.choice((axis_of(rnd, shape), axis_of(rnd, shape), None))}


def tile(rnd: random.Random, shape: list[Expression]) -> Step | None:
    reps: list[Expression] = [1] * len(shape)
    if shape and (len(shape) == MAX_RANK or rnd.random() < 0.8):
        reps[rnd.randrange(len(shape))] = rnd.choice((2, 2, "b", "p", 3))
    elif len(shape) < MAX_RANK:
        reps.insert(0, rnd.choice((2, "b", "p")))
    return "tile", {"reps": reps}


def repeat(rnd: random.Random, shape: list[Expression]) -> Step | None:
    axis = axis_of(rnd, shape)
    return None if axis is None else ("repeat", {"repeats": rnd.choice((2, 2, 3, "b", "p")), "axis": axis})


def broadcast_to(rnd: random.Random, shape: list[Expression]) -> Step | None:
    if None in shape:
        return None
    made = [rnd.choice((2, "b", "p")) if n == 1 and rnd.random() < 0.7 else n for n in shape]
    if len(made) < MAX_RANK and rnd.random() < 0.5:
        made.insert(0, rnd.choice((2, "b", "p", 1)))
    return "broadcast_to", {"shape": made}


def expand_dims(rnd: random.Random, shape: list[Expression]) -> Step | None:
    return ("expand_dims", {"axis": [rnd.randint(0, len(shape))]}) if len(shape) < MAX_RANK else None


def squeeze(rnd: random.Random, shape: list[Expression]) -> Step | None:
    single = [a for a, n in enumerate(shape) if n == 1]
    if single:
        return "squeeze", {"axis": [rnd.choice(single)]}
    axis = axis_of(rnd, shape)  # it is a requirement that it is 1
    return None if axis is None or rnd.random() < 0.8 else ("squeeze", {"axis": [axis]})


def channel_shuffle(rnd: random.Random, shape: list[Expression]) -> Step | None:
    axis = axis_of(rnd, shape)
    return None if axis is None else ("channel_shuffle", {"groups": rnd.choice((2, 2, 3, "b", "b")), "axis": axis})


def pack(rnd: random.Random, shape: list[Expression]) -> Step | None:
    axis = axis_of(rnd, shape)
    if axis is None or len(shape) == MAX_RANK:
        return None
    return "pack", {"axis": axis, "block": rnd.choice((2, 3, "b", "b")), "constant_values": rnd.choice((0, 0, -1))}


def unpack(rnd: random.Random, shape: list[Expression]) -> Step | None:
    if len(shape) < 2:
        return None
    axis = rnd.randrange(len(shape) - 1)
    whole = times(shape[axis], shape[-1])
    return "unpack", {
        "axis": axis,
        "extent": rnd.choice((None, None, whole and minus(whole, 1), whole and minus(whole, "p"))),
    }


def window(rnd: random.Random, shape: list[Expression]) -> Step | None:
    axis = axis_of(rnd, shape)
    if axis is None or len(shape) == MAX_RANK:
        return None
    given = {
        "window_shape": [rnd.choice((1, 2, 2, 3, "b"))], "axis": [axis], "strides": [rnd.choice((1, 1, 2, "b"))],
        "dilation": [rnd.choice((1, 1, 1, 2, "c"))], "padding": rnd.choice(([[0, 0]], margins_of(rnd, 1))),
    }  # fmt: skip
    return "window", given


def resize_nearest(rnd: random.Random, shape: list[Expression]) -> Step | None:
    axis = axis_of(rnd, shape)
    if axis is None:
        return None
    scale = rnd.choice((2, 2, 3, "b", Fraction(1, 2), Fraction(3, 2), Fraction(2, 3)))
    return "resize_nearest", {"scale": [scale], "axes": [axis], "mode": rnd.choice(("asymmetric", "half_pixel"))}


def concatenate(rnd: random.Random, shape: list[Expression]) -> Step | None:
    """Return slices of the tensor, or changes of it, one after the other."""
    axis = axis_of(rnd, shape, written=True)
    if axis is None:
        return None
    n = shape[axis]
    kind = rnd.choice(("split", "swapped", "self", "flipped", "strided"))
    whole = [slice(None)] * axis
    if kind in ("split", "swapped"):
        at = rnd.choice(("p", "p", 1, minus(n, "p")))
        parts: list[tuple[Step, ...]] = [part(axis, 0, at), part(axis, at, n)]
        return "concatenate", {"axis": axis, "branches": parts if kind == "split" else parts[::-1]}
    if kind == "strided":
        strided = [(("getitem", {"key": [*whole, slice(k, None, 2)]}),) for k in (0, 1)]
        return "concatenate", {"axis": rnd.randrange(len(shape)), "branches": strided}
    other: tuple[Step, ...] = () if kind == "self" else (("flip", {"axis": [axis]}),)
    if rnd.random() < 0.3 and len(shape) < MAX_RANK:
        return "stack", {"axis": rnd.randint(0, len(shape)), "branches": [(), other]}
    return "concatenate", {"axis": axis, "branches": [(), other]}


def part(axis: int, start: Expression, stop: Expression) -> tuple[Step, ...]:
    """Return the steps that take a range of an axis."""
    if isinstance(start, int) and isinstance(stop, int):
        return (("getitem", {"key": [slice(None)] * axis + [slice(start, stop)]}),)
    return (("slice", {"axis": axis, "start": start, "stop": stop, "step": 1}),)


PROPOSALS: tuple[Callable[[random.Random, list[Expression]], Step | None], ...] = (
    transpose, moveaxis, swapaxes, flip, pad, pad_by_mode, getitem, cut, space_to_batch, batch_to_space, depth,
    reshape, ravel, roll, tile, repeat, broadcast_to, expand_dims, squeeze, channel_shuffle, pack, unpack, window,
    resize_nearest, concatenate,
)  # fmt: skip
WEIGHTS = [3, 1, 1, 2, 3, 2, 3, 3, 4, 4, 4, 6, 1, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]
