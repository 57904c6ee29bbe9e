"""Inverses and properties of random chains, judged by enumeration.

python -m tests.attack.inverses --seconds 60 --seed 0

NumPy moves numbers through each chain at all small sizes of its dims.  What is proved must hold at each of them, and a
witness must be what it says.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

import symlayout as sl
from symlayout.inverses.inverse_candidates import like
from tests.attack.runner import main_of
from tests.attack.tally import Tally, Wrong

Array = np.ndarray[Any, Any]
Apply = Callable[[Any], Any]

SIZES = (0, 1, 2, 3, 4, 5)  # of each dim
MOST_ELEMENTS = 3000  # of an array that is judged


@dataclass(frozen=True)
class Step:
    """One operation: its text, and what makes it of a tensor and of an array."""

    text: str
    tensor: Apply
    array: Apply


@dataclass(frozen=True)
class Chain:
    """A tensor, its input's shape in dims, and the steps that make it."""

    tensor: sl.Tensor
    shape: tuple[Any, ...]
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return f"x of {self.shape}: " + ", ".join(step.text for step in self.steps)

    def sizes(self) -> Iterator[tuple[dict[str, int], Array, Array]]:
        """Yield small sizes at which the tensor is valid, the input's numbers, from 1 on, and what becomes of them."""
        dims = sorted({s for e in self.shape if not isinstance(e, int) for s in e.free_symbols}, key=str)
        for values in itertools.product(SIZES, repeat=len(dims)):
            given = dict(zip(dims, values, strict=True))
            at = {str(d): n for d, n in given.items()}
            extents = [e if isinstance(e, int) else int(e.subs(given)) for e in self.shape]
            x = np.arange(1, int(np.prod(extents)) + 1).reshape(extents)
            try:
                self.tensor.subs(at)
            except sl.ShapeError:
                continue
            y = x
            for step in self.steps:
                y = step.array(y)
            if y.size <= MOST_ELEMENTS:
                yield at, x, y


def chain(rnd: random.Random) -> Chain:
    """Return a random chain, of one to five steps."""
    shape = input_shape(rnd)
    t, steps = sl.tensor(shape, dtype="int64", name="x"), []
    for _ in range(rnd.randint(1, 5)):
        step = STEPS[rnd.randrange(len(STEPS))](rnd, t)
        if step is None:
            continue
        try:
            made = step.tensor(t)
        except (sl.ShapeError, sl.InconclusiveError):
            continue
        if made.rank <= 4:
            t = made
            steps.append(step)
    return Chain(t, shape, tuple(steps))


def input_shape(rnd: random.Random) -> tuple[Any, ...]:
    """Return a shape of one to three axes, with one or two dims."""
    w, n = sl.dim("W", min=rnd.choice((0, 0, 1))), sl.dim("N", min=rnd.choice((0, 1)))
    some = [w, w, 2 * w, w + 1, 1, 2, 3, 4, 6]
    if rnd.random() < 0.4:
        some += [n, n, n * w]
    while True:
        shape = tuple(rnd.choice(some) for _ in range(rnd.randint(1, 3)))
        if any(not isinstance(e, int) for e in shape):
            return shape


def _axis(rnd: random.Random, t: sl.Tensor) -> int | None:
    return rnd.randrange(t.rank) if t.rank else None


def tile(rnd: random.Random, t: sl.Tensor) -> Step | None:
    reps = [rnd.choice((1, 1, 2, 2, 3)) for _ in range(t.rank)]
    return Step(f"tile {reps}", lambda y: sl.tile(y, reps), lambda a: np.tile(a, reps)) if reps else None


def repeat(rnd: random.Random, t: sl.Tensor) -> Step | None:
    axis, times = _axis(rnd, t), rnd.choice((1, 2, 3))
    if axis is None:
        return None
    return Step(f"repeat {times} on {axis}", lambda y: sl.repeat(y, times, axis), lambda a: np.repeat(a, times, axis))


def roll(rnd: random.Random, t: sl.Tensor) -> Step | None:
    axis, by = _axis(rnd, t), rnd.randint(-3, 3)
    if axis is None:
        return None
    return Step(f"roll {by} on {axis}", lambda y: sl.roll(y, by, axis), lambda a: np.roll(a, by, axis))


def pad(rnd: random.Random, t: sl.Tensor) -> Step | None:
    mode = rnd.choice(("constant", "edge", "reflect", "symmetric", "wrap"))
    widths = [(rnd.choice((0, 0, 1, 2)), rnd.choice((0, 0, 1, 2))) for _ in range(t.rank)]
    if not widths:
        return None

    def padded(a: Array) -> Array:
        return np.pad(a, widths, mode=mode)  # type: ignore[call-overload,no-any-return]

    return Step(f"pad {widths} {mode}", lambda y: sl.pad(y, widths, mode=mode), padded)


def merge(rnd: random.Random, t: sl.Tensor) -> Step | None:
    if t.rank < 2:
        return None
    k = rnd.randrange(t.rank - 1)

    def joined(y: Any) -> tuple[Any, ...]:
        return (*y.shape[:k], y.shape[k] * y.shape[k + 1], *y.shape[k + 2 :])

    return Step(f"merge {k}", lambda y: sl.reshape(y, joined(y)), lambda a: np.reshape(a, joined(a)))


def split(rnd: random.Random, t: sl.Tensor) -> Step | None:
    axis, by, first = _axis(rnd, t), rnd.choice((2, 3)), rnd.random() < 0.5
    if axis is None:
        return None

    def parts(y: Any, quotient: Any) -> tuple[Any, ...]:
        return (*y.shape[:axis], *((by, quotient) if first else (quotient, by)), *y.shape[axis + 1 :])

    if isinstance(t.shape[axis], int) and t.shape[axis] % by:
        return None
    return Step(
        f"split {axis} by {by} {'first' if first else 'last'}",
        lambda y: sl.reshape(y, parts(y, sympy.Integer(1) * y.shape[axis] / by)),
        lambda a: np.reshape(a, parts(a, a.shape[axis] // by)),
    )


def turn(rnd: random.Random, t: sl.Tensor) -> Step | None:
    order = rnd.sample(range(t.rank), t.rank)
    return Step(f"transpose {order}", lambda y: sl.transpose(y, order), lambda a: np.transpose(a, order))


def flip(rnd: random.Random, t: sl.Tensor) -> Step | None:
    axis = _axis(rnd, t)
    return None if axis is None else Step(f"flip {axis}", lambda y: sl.flip(y, axis), lambda a: np.flip(a, axis))


def cut(rnd: random.Random, t: sl.Tensor) -> Step | None:
    axis = _axis(rnd, t)
    if axis is None:
        return None
    ends = [rnd.choice((None, None, *range(-3, 4))) for _ in range(2)]
    part = slice(ends[0], ends[1], rnd.choice((None, None, 1, 2, -1, -2)))
    key = (*[slice(None)] * axis, part)
    return Step(f"[{axis}: {part}]", lambda y: y[key], lambda a: a[key])


def halves(rnd: random.Random, t: sl.Tensor) -> Step | None:
    """Join two parts of one tensor, such as its end and its beginning."""
    axis, at = _axis(rnd, t), rnd.choice((1, 2, -1))
    if axis is None:
        return None
    cuts = [slice(at, None), slice(None, at), slice(None), slice(None, None, -1), slice(0, None, 2), slice(1, None, 2)]
    keys = [(*[slice(None)] * axis, part) for part in rnd.choice((cuts[:2], cuts[4:], rnd.sample(cuts, 2)))]
    return Step(
        f"concatenate {[key[-1] for key in keys]} on {axis}",
        lambda y: sl.concatenate([y[key] for key in keys], axis),
        lambda a: np.concatenate([a[key] for key in keys], axis),
    )


def listed(rnd: random.Random, t: sl.Tensor) -> Step | None:
    axes = [k for k, e in enumerate(t.shape) if isinstance(e, int) and 0 < e <= 12]
    if not axes:
        return None
    axis = rnd.choice(axes)
    n = t.shape[axis]
    places = rnd.choice((rnd.sample(range(n), n), [rnd.randrange(n) for _ in range(rnd.randint(1, n + 2))]))
    return Step(f"take {places} on {axis}", lambda y: sl.take(y, places, axis), lambda a: np.take(a, places, axis))


STEPS = (tile, repeat, roll, pad, pad, merge, split, turn, flip, cut, cut, halves, listed)


def attack(seed: int, tally: Tally) -> None:
    """Ask about one chain, and note the answers."""
    c = chain(random.Random(seed))
    for fault in wrong(c, tally):
        name = fault.partition(" ")[0]
        tally.note_wrong("inverses", Wrong(f"inverses-{name}", f"{seed}: {c}: {fault}"))


def wrong(c: Chain, tally: Tally) -> Iterator[str]:
    """Yield what is wrong in the answers about a chain; count the answers."""
    sizes = list(c.sizes())
    for name, ask, holds in PROPERTIES:
        try:
            found = ask(c.tensor)
        except sl.ShapeError as error:
            tally.note(name, error.kind)
            if sizes:
                yield f"{name}: {error}"
            continue
        tally.note(name, found.verdict.name)
        seen = [(at, holds(x, y)) for at, x, y in sizes]
        if found.verdict is sl.Verdict.PROVED:
            yield from (f"{name} is proved, and false at {at}" for at, good in seen if not good)
        elif found.verdict is sl.Verdict.REFUTED:
            at = {str(k): v for k, v in (found.dims or {}).items()}
            yield from (f"{name} is refuted at {at}, and true there" for other, good in seen if other == at and good)
    yield from _wrong_inverse(c, sizes, tally)


def _wrong_inverse(c: Chain, sizes: list[tuple[dict[str, int], Array, Array]], tally: Tally) -> Iterator[str]:
    try:
        undo = sl.inverse(c.tensor)
    except sl.InconclusiveError:
        tally.note("inverse", "open")
        return
    except sl.ShapeError as error:
        tally.note("inverse", error.kind)
        if sizes and error.kind != "no_inverse":
            yield f"inverse: {error}"
        return
    tally.note("inverse", undo.holds)
    z = like(c.tensor)  # of its shape, and with what it requires
    (leaf,) = c.tensor.arguments()
    back, there = undo(c.tensor), c.tensor.replace({leaf.key: undo(z)})
    for at, x, y in sizes:
        numbers = np.arange(1, y.size + 1).reshape(y.shape)
        for name, proof, t, given in (("left", undo.left, back, x), ("right", undo.right, there, numbers)):
            if proof.verdict is sl.Verdict.UNKNOWN:
                continue
            same = _is_undone(t, at, given)
            if proof.verdict is sl.Verdict.PROVED and not same:
                yield f"{name} round trip is proved, and false at {at}"
            elif proof.witness is not None and same and {str(k): v for k, v in proof.witness.dims.items()} == at:
                yield f"{name} round trip is refuted at {at}, and true there"


def _is_undone(t: sl.Tensor, at: dict[str, int], given: Array) -> bool:
    """Return whether *t* is valid at some sizes, and returns what it is given."""
    try:
        made = np.asarray(sl.interpret(t.subs(at), given))
    except sl.ShapeError:
        return False
    return made.shape == given.shape and bool((made == given).all())


def _is_injective(x: Array, y: Array) -> bool:
    read = y[y > 0]
    return np.unique(read).size == read.size


def _is_surjective(x: Array, y: Array) -> bool:
    return np.unique(y[y > 0]).size == x.size


def _is_identity(x: Array, y: Array) -> bool:
    return x.shape == y.shape and bool((x == y).all())


PROPERTIES: tuple[tuple[str, Callable[[sl.Tensor], sl.Finding], Callable[[Array, Array], bool]], ...] = (
    ("injective", lambda t: sl.is_injective(t, budget=30), _is_injective),
    ("surjective", lambda t: sl.is_surjective(t, budget=30), _is_surjective),
    ("identity", lambda t: sl.is_identity(t, budget=30), _is_identity),
)


if __name__ == "__main__":
    main_of("inverses", attack, __doc__)
