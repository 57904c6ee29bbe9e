"""Random claims that two chains are equal, each verdict checked by enumeration: ``python -m tests.fuzz_prove``.

A chain has symbolic extents, blocks, pads and crops.  The other side of the claim is an equal rewriting of
it, a small mutation, both, or a chain of its own.  PROVED must agree at every point of small dims; the witness
of REFUTED must differ as it says and be the smallest; requirements must hold exactly where the chain has a
meaning.  A failure prints the claim as something to type.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from sympy import sympify

import symlayout as sl
from symlayout.infer import requirements
from tests import brute
from tests.brute import Chain, Expression, Step

MOST = 3  # the largest value of a dim where PROVED claims are enumerated
MOST_POINTS = 1200
DIMS = (
    brute.Dim("N"), brute.Dim("H"), brute.Dim("W"), brute.Dim("C"),
    brute.Dim("b", 1), brute.Dim("c", 1), brute.Dim("p"), brute.Dim("q"),
)  # fmt: skip


class WrongError(AssertionError):
    """A verdict, a witness or a requirement that enumeration contradicts."""


# ---------------------------------------------------------------------- random chains


@dataclass(slots=True)
class Draft:
    """A chain in the making, with its symbolic shape; None is an extent that is not written out."""

    chain: Chain
    shape: list[Expression]

    def then(self, step: Step, shape: list[Expression]) -> Draft:
        return Draft(Chain(self.chain.shape, (*self.chain.steps, step)), shape)


def add(a: Expression, b: Expression) -> Expression:
    if a is None or b is None:
        return None
    if b == 0:
        return a
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    return b if a == 0 else ("+", a, b)


def minus(a: Expression, b: Expression) -> Expression:
    if a is None or b is None:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    return a if b == 0 else ("-", a, b)


def times(a: Expression, b: Expression) -> Expression:
    if a is None or b is None:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    return b if a == 1 else a if b == 1 else ("*", a, b)


def over(a: Expression, b: Expression) -> Expression:
    if a is None or b is None or b == 1:
        return a
    if isinstance(a, int) and isinstance(b, int) and a % b == 0:
        return a // b
    if isinstance(a, tuple) and a[0] == "*" and b in a[1:]:
        return a[2] if a[1] == b else a[1]
    return ("/", a, b)


def random_leaf(rnd: random.Random) -> Draft:
    names = rnd.sample(["N", "H", "W", "C"], rnd.choice((1, 2, 2, 3, 3, 4)))
    shape: list[Expression] = []
    for name in names:
        shape.append(
            rnd.choice((name, name, name, ("*", "b", name), ("*", 2, name), ("*", name, "b"), ("+", name, 1), 2, 4))
        )
    return Draft(Chain(tuple(shape)), shape)


def random_chain(rnd: random.Random, most: int) -> Draft:
    draft = random_leaf(rnd)
    for _ in range(rnd.randint(0, most)):
        draft = rnd.choice(STEPS)(rnd, draft)
    return draft


def _transpose(rnd: random.Random, d: Draft) -> Draft:
    axes = rnd.sample(range(len(d.shape)), len(d.shape))
    return d.then(("transpose", {"axes": axes}), [d.shape[a] for a in axes])


def _flip(rnd: random.Random, d: Draft) -> Draft:
    axes = [a for a in range(len(d.shape)) if rnd.random() < 0.5]
    return d.then(("flip", {"axis": axes}), d.shape)


def _pad(rnd: random.Random, d: Draft) -> Draft:
    widths = [[_width(rnd), _width(rnd)] for _ in d.shape]
    fill = rnd.choice((0, 0, 0, -1))
    shape = [add(add(n, b), e) for n, (b, e) in zip(d.shape, widths, strict=True)]
    return d.then(("pad", {"pad_width": widths, "constant_values": fill}), shape)


def _width(rnd: random.Random) -> Expression:
    return rnd.choice((0, 0, 0, 1, 1, 2, "p", "q", -1, ("-", 0, "p")))


def _getitem(rnd: random.Random, d: Draft) -> Draft:
    if not d.shape:
        return d
    axis = rnd.randrange(len(d.shape))
    bounds = (None, None, 0, 1, 2, -1, -2)
    cut = slice(rnd.choice(bounds), rnd.choice(bounds), rnd.choice((None, None, 1, 2, 3, -1, -2)))
    extent = d.shape[axis] if cut in (slice(None), slice(None, None, 1), slice(None, None, -1)) else None
    return d.then(("getitem", {"key": [slice(None)] * axis + [cut]}), [*d.shape[:axis], extent, *d.shape[axis + 1 :]])


def _slice(rnd: random.Random, d: Draft) -> Draft:
    known = [a for a, n in enumerate(d.shape) if n is not None]
    if not known:
        return d
    axis = rnd.choice(known)
    n = d.shape[axis]
    start = rnd.choice((0, 1, "p"))
    stop = rnd.choice((n, minus(n, 1), minus(n, "p"), add(start, "q")))
    if isinstance(start, int) and isinstance(stop, int):
        return d  # integer bounds are for `_getitem`: they clamp
    attributes = {"axis": axis, "start": start, "stop": stop, "step": 1}
    return d.then(("slice", attributes), [*d.shape[:axis], minus(stop, start), *d.shape[axis + 1 :]])


def _block(rnd: random.Random) -> Expression:
    return rnd.choice((2, 2, 3, "b", "b", "b", "c", 1))


def _margins(rnd: random.Random, m: int) -> list[list[Expression]]:
    return [[rnd.choice((0, 0, 1, 1, "p", 2)), rnd.choice((0, 0, 1, 1, "p", "q"))] for _ in range(m)]


def _space_to_batch(rnd: random.Random, d: Draft) -> Draft:
    if len(d.shape) < 2:
        return d
    m = rnd.randint(1, min(2, len(d.shape) - 1))
    return _to_batch(d, [_block(rnd) for _ in range(m)], _margins(rnd, m))


def _to_batch(d: Draft, block: list[Expression], pads: list[list[Expression]]) -> Draft:
    batch, shape = d.shape[0], list(d.shape)
    for k, (b, (begin, end)) in enumerate(zip(block, pads, strict=True), 1):
        batch = times(batch, b)
        shape[k] = over(add(add(shape[k], begin), end), b)
    return d.then(("space_to_batch", {"block_shape": block, "paddings": pads}), [batch, *shape[1:]])


def _batch_to_space(rnd: random.Random, d: Draft) -> Draft:
    if len(d.shape) < 2:
        return d
    m = rnd.randint(1, min(2, len(d.shape) - 1))
    return _from_batch(d, [_block(rnd) for _ in range(m)], _margins(rnd, m))


def _from_batch(d: Draft, block: list[Expression], crops: list[list[Expression]]) -> Draft:
    batch, shape = d.shape[0], list(d.shape)
    for k, (b, (begin, end)) in enumerate(zip(block, crops, strict=True), 1):
        batch = over(batch, b)
        shape[k] = minus(minus(times(shape[k], b), begin), end)
    return d.then(("batch_to_space", {"block_shape": block, "crops": crops}), [batch, *shape[1:]])


def _depth(rnd: random.Random, d: Draft) -> Draft:
    if len(d.shape) < 3:
        return d
    block, mode = rnd.choice((2, 2, 3, "b", 1)), rnd.choice(("blocks_first", "depth_first"))
    return rnd.choice((_to_depth, _from_depth))(d, block, mode)


def _to_depth(d: Draft, block: Expression, mode: str) -> Draft:
    depth, shape = d.shape[1], list(d.shape)
    for k in range(2, len(shape)):
        depth, shape[k] = times(depth, block), over(shape[k], block)
    return d.then(("space_to_depth", {"block_size": block, "mode": mode}), [shape[0], depth, *shape[2:]])


def _from_depth(d: Draft, block: Expression, mode: str) -> Draft:
    depth, shape = d.shape[1], list(d.shape)
    for k in range(2, len(shape)):
        depth, shape[k] = over(depth, block), times(shape[k], block)
    return d.then(("depth_to_space", {"block_size": block, "mode": mode}), [shape[0], depth, *shape[2:]])


def _reshape(rnd: random.Random, d: Draft) -> Draft:
    shape: list[Expression] = list(d.shape)
    kind = rnd.choice(("merge", "split", "split", "flat"))
    if None in shape or (kind == "flat" and rnd.random() < 0.5):
        return d.then(("reshape", {"shape": [-1]}), [None])
    if kind == "flat":
        total: Expression = 1
        for n in shape:
            total = times(total, n)
        return d.then(("reshape", {"shape": [total]}), [total])
    if kind == "merge" and len(shape) > 1:
        k = rnd.randrange(len(shape) - 1)
        shape[k : k + 2] = [times(shape[k], shape[k + 1])]
    elif shape and len(shape) < 5:
        k, b = rnd.randrange(len(shape)), _block(rnd)
        rest = over(shape[k], b)
        shape[k : k + 1] = [b, rest] if rnd.random() < 0.5 else [rest, b]
    return d.then(("reshape", {"shape": shape}), shape)


STEPS = (
    _transpose, _flip, _pad, _getitem, _slice, _space_to_batch, _batch_to_space, _space_to_batch, _batch_to_space,
    _depth, _depth, _reshape, _reshape,
)  # fmt: skip


# ---------------------------------------------------------------------- claims


@dataclass(slots=True)
class Claim:
    """Two chains on one input, and how the second was made."""

    left: Chain
    right: Chain
    kind: str
    dims: list[brute.Dim] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.kind}: {self.dims}\n  {self.left}\n  {self.right}"


def random_claim(rnd: random.Random) -> Claim:
    """Return a claim: equal by construction, mutated, or of two chains of their own on one input."""
    left = random_chain(rnd, 4)
    kind = rnd.choice(("rewritten", "rewritten", "mutated", "both", "independent"))
    right = left.chain
    if kind in ("rewritten", "both"):
        for _ in range(rnd.randint(1, 2)):
            right = rewritten(rnd, right)
    if kind in ("mutated", "both"):
        right = mutated(rnd, right)
    if kind == "independent":
        other = Draft(Chain(left.chain.shape), list(left.chain.shape))
        for _ in range(rnd.randint(0, 4)):
            other = rnd.choice(STEPS)(rnd, other)
        right = other.chain
    if rnd.random() < 0.5:
        return Claim(left.chain, right, kind, random_dims(rnd, left.chain, right))
    return Claim(right, left.chain, kind, random_dims(rnd, right, left.chain))


def random_dims(rnd: random.Random, left: Chain, right: Chain) -> list[brute.Dim]:
    """Return the dims of two chains in order of use, some of them with bounds."""
    names = dict.fromkeys((*left.names(), *right.names()))
    found = []
    for d in (d for name in names for d in DIMS if d.name == name):
        change = rnd.random()
        if change < 0.1:
            d = brute.Dim(d.name, 1)
        elif change < 0.2:
            d = brute.Dim(d.name, d.min, d.min + 2)
        elif change < 0.25:
            d = brute.Dim(d.name, d.min, None, 2)
        found.append(d)
    return found


def shapes_along(chain: Chain) -> list[list[Expression]]:
    """Return the symbolic shape before each step and at the end, as `Draft` tracks it."""
    shapes: list[list[Expression]] = [list(chain.shape)]
    for name, given in chain.steps:
        d = Draft(Chain(()), shapes[-1])
        if name == "transpose":
            shape = [d.shape[a] for a in given["axes"]]
        elif name == "pad":
            shape = [add(add(n, b), e) for n, (b, e) in zip(d.shape, given["pad_width"], strict=True)]
        elif name == "slice":
            shape = list(d.shape)
            shape[given["axis"]] = minus(given["stop"], given["start"])
        elif name == "getitem":
            shape = list(d.shape)
            shape[len(given["key"]) - 1] = None
        elif name == "space_to_batch":
            shape = _to_batch(d, given["block_shape"], given["paddings"]).shape
        elif name == "batch_to_space":
            shape = _from_batch(d, given["block_shape"], given["crops"]).shape
        elif name == "space_to_depth":
            shape = _to_depth(d, given["block_size"], given["mode"]).shape
        elif name == "depth_to_space":
            shape = _from_depth(d, given["block_size"], given["mode"]).shape
        elif name == "reshape":
            shape = [None if n == -1 else n for n in given["shape"]]
        else:
            shape = d.shape
        shapes.append(list(shape))
    return shapes


def rewritten(rnd: random.Random, chain: Chain) -> Chain:
    """Return a chain that is equal to *chain* wherever both have a meaning."""
    shapes = shapes_along(chain)
    at = rnd.randrange(len(shapes))
    shape, steps = shapes[at], chain.steps
    if at < len(steps) and rnd.random() < 0.5 and (long := written_out(steps[at], shape)):
        return Chain(chain.shape, (*steps[:at], *long, *steps[at + 1 :]))
    here = Draft(Chain(()), shape)
    rank = len(shape)
    kind = rnd.choice(("transpose", "flip", "pad", "batch", "depth", "reshape"))
    there: list[Step] = []
    if kind == "transpose":
        axes = rnd.sample(range(rank), rank)
        there = [("transpose", {"axes": axes}), ("transpose", {"axes": [axes.index(a) for a in range(rank)]})]
    elif kind == "flip":
        axes = [a for a in range(rank) if rnd.random() < 0.5]
        there = [("flip", {"axis": axes}), ("flip", {"axis": axes})]
    elif kind == "pad":
        widths = [[rnd.choice((0, 1, "p", "q")) for _ in range(2)] for _ in range(rank)]
        back = [[minus(0, w) for w in pair] for pair in widths]
        there = [("pad", {"pad_width": w, "constant_values": rnd.choice((0, -1))}) for w in (widths, back)]
    elif kind == "batch" and rank > 1:
        m = rnd.randint(1, min(2, rank - 1))
        block, pads = [_block(rnd) for _ in range(m)], _margins(rnd, m)
        there = [
            ("space_to_batch", {"block_shape": block, "paddings": pads}),
            ("batch_to_space", {"block_shape": block, "crops": pads}),
        ]
    elif kind == "depth" and rank > 2:
        given = {"block_size": rnd.choice((2, 3, "b")), "mode": rnd.choice(("blocks_first", "depth_first"))}
        there = [("space_to_depth", given), ("depth_to_space", given)]
        if rnd.random() < 0.5:
            there.reverse()
    elif kind == "reshape" and None not in shape:
        there = [*_reshape(rnd, here).chain.steps, ("reshape", {"shape": shape})]
    return Chain(chain.shape, (*steps[:at], *there, *steps[at:]))


def written_out(step: Step, shape: list[Expression]) -> list[Step]:
    """Return a step as others that mean the same; none if there is no such."""
    name, given = step
    rank = len(shape)
    if name == "pad":
        zero = [[0, 0] for _ in range(rank)]
        return [
            ("pad", {**given, "pad_width": [*zero[:k], pair, *zero[k + 1 :]]})
            for k, pair in enumerate(given["pad_width"])
        ]
    if name == "flip" and given["axis"]:
        return [("flip", {"axis": [a]}) for a in given["axis"]]
    if None in shape:
        return []
    if name == "space_to_batch":
        block, pads = given["block_shape"], given["paddings"]
        m = len(block)
        widths = [[0, 0], *pads, *[[0, 0]] * (rank - m - 1)]
        split: list[Expression] = [shape[0]]
        cells = []
        for n, b, (begin, end) in zip(shape[1 : m + 1], block, pads, strict=True):
            cells.append(over(add(add(n, begin), end), b))
            split += [cells[-1], b]
        batch = shape[0]
        for b in block:
            batch = times(batch, b)
        order = [*range(2, 2 * m + 1, 2), 0, *range(1, 2 * m + 1, 2), *range(2 * m + 1, rank + m)]
        return [
            ("pad", {"pad_width": widths, "constant_values": 0}),
            ("reshape", {"shape": [*split, *shape[m + 1 :]]}),
            ("transpose", {"axes": order}),
            ("reshape", {"shape": [batch, *cells, *shape[m + 1 :]]}),
        ]
    if name == "space_to_depth":
        b, space = given["block_size"], shape[2:]
        m = len(space)
        split, depth = list(shape[:2]), shape[1]
        for n in space:
            split += [over(n, b), b]
            depth = times(depth, b)
        blocks = range(3, 2 * m + 2, 2)
        order = [
            0,
            *((*blocks, 1) if given["mode"] == "blocks_first" else (1, *blocks)),
            *range(2, 2 * m + 2, 2),
        ]
        return [
            ("reshape", {"shape": split}),
            ("transpose", {"axes": order}),
            ("reshape", {"shape": [shape[0], depth, *(over(n, b) for n in space)]}),
        ]
    return []


def mutated(rnd: random.Random, chain: Chain) -> Chain:
    """Return *chain* with one step changed a little, or left out."""
    if not chain.steps:
        return Chain(chain.shape, (("flip", {"axis": [rnd.randrange(len(chain.shape))]}),))
    at = rnd.randrange(len(chain.steps))
    name, given = chain.steps[at]
    changed = dict(given)
    if name == "transpose" and len(given["axes"]) > 1:
        axes = list(given["axes"])
        i, k = rnd.sample(range(len(axes)), 2)
        axes[i], axes[k] = axes[k], axes[i]
        changed["axes"] = axes
    elif name == "pad":
        if rnd.random() < 0.3:
            changed["constant_values"] = -1 - given["constant_values"]
        else:
            changed["pad_width"] = _nudged(rnd, given["pad_width"])
    elif name in ("space_to_batch", "batch_to_space"):
        what = "paddings" if name == "space_to_batch" else "crops"
        if rnd.random() < 0.5:
            changed[what] = _nudged(rnd, given[what])
        else:
            changed["block_shape"] = list(reversed(given["block_shape"]))
    elif name in ("space_to_depth", "depth_to_space"):
        changed["mode"] = "depth_first" if given["mode"] == "blocks_first" else "blocks_first"
    elif name == "flip":
        changed["axis"] = [*given["axis"][1:]]
    else:
        return Chain(chain.shape, (*chain.steps[:at], *chain.steps[at + 1 :]))
    return Chain(chain.shape, (*chain.steps[:at], (name, changed), *chain.steps[at + 1 :]))


def _nudged(rnd: random.Random, pairs: list[list[Expression]]) -> list[list[Expression]]:
    """Return margins with one of them moved by 1 from one end to the other, or with the ends swapped."""
    if not pairs:
        return pairs
    at = rnd.randrange(len(pairs))
    begin, end = pairs[at]
    pair = [end, begin] if rnd.random() < 0.5 and begin != end else [add(begin, 1), minus(end, 1)]
    return [*pairs[:at], pair, *pairs[at + 1 :]]


# ---------------------------------------------------------------------- checks


def expression(e: Expression, dims: dict[str, Any]) -> Any:
    """Return an expression, or a list of them, in dims of symlayout."""
    if isinstance(e, str):
        return dims[e]
    if isinstance(e, list):
        return [expression(item, dims) for item in e]
    if not isinstance(e, tuple):
        return e
    a, b = sympify(expression(e[1], dims)), sympify(expression(e[2], dims))
    return a + b if e[0] == "+" else a - b if e[0] == "-" else a * b if e[0] == "*" else a / b


def build(chain: Chain, dims: dict[str, Any]) -> sl.Tensor:
    """Return a chain as a tensor of symlayout."""
    t = sl.tensor([expression(e, dims) for e in chain.shape], name="x")
    for name, attributes in chain.steps:
        given = {k: v if k in brute.PLAIN else expression(v, dims) for k, v in attributes.items()}
        if name == "getitem":
            t = t[tuple(given["key"])]
        elif name == "slice":
            cut = slice(given["start"], given["stop"], given["step"])
            t = t[(slice(None),) * given["axis"] + (cut,)]
        else:
            t = getattr(sl, name)(t, **given)
    return t


def check(claim: Claim, budget: int = 300) -> str:
    """Check what symlayout says of a claim by enumeration, and return what it says.

    Raises
    ------
    WrongError
        Enumeration contradicts it.
    """
    symbols = {d.name: sl.dim(d.name, d.min, d.max, d.multiple_of) for d in claim.dims}
    sides = []
    for chain in (claim.left, claim.right):
        try:
            sides.append(build(chain, symbols))
        except sl.ShapeError as error:
            if (point := valid_point(chain, claim)) is not None:
                raise WrongError(f"{chain} has a meaning at {point}, but: {error}") from error
            return f"{error.kind} when built"
        except sl.InconclusiveError as error:
            return f"inconclusive when built: {error.claim}"
        check_requirements(sides[-1], chain, claim)
    try:
        proof = sl.prove_equal(*sides, budget=budget)
    except sl.ShapeError as error:
        if error.kind != "infeasible":
            raise
        if brute.compare(claim.left, claim.right, claim.dims, most(claim)).valid:
            raise WrongError(f"both sides have a meaning at a point, but: {error}") from error
        return "infeasible together"
    if proof.verdict is sl.Verdict.PROVED:
        outcome = brute.compare(claim.left, claim.right, claim.dims, most(claim))
        if outcome.difference is not None:
            raise WrongError(f"proved, but {outcome.difference}")
        return "proved" if outcome.valid else "proved, no point enumerated"
    if proof.verdict is sl.Verdict.REFUTED:
        assert proof.witness is not None
        check_witness(proof.witness, claim)
        return "refuted"
    if claim.kind == "rewritten":
        return f"UNKNOWN rewritten: {shape_of(proof.obligation)}"
    return f"UNKNOWN {claim.kind}: {shape_of(proof.obligation)}"


def check_witness(witness: sl.Witness, claim: Claim) -> None:
    """Raise `WrongError` unless the witness is the smallest difference, as it says."""
    found = {symbol.name: n for symbol, n in witness.dims.items()}
    order = [next(d for d in claim.dims if d.name == name) for name in found]
    if set(found) != {d.name for d in claim.dims}:
        raise WrongError(f"the witness {witness} has not all dims")
    said = brute.Difference(found, witness.coord, witness.left, witness.right)
    true = brute.difference(claim.left, claim.right, found)
    if true != said:
        raise WrongError(f"the witness says {said}, but {true}")
    total = sum(found.values())
    box = brute.compare(claim.left, claim.right, order, min(total, most(claim)), until=total).difference
    if box is not None and (sum(box.dims.values()), list(box.dims.values())) < (total, list(found.values())):
        raise WrongError(f"the witness {said} is larger than {box}")


def check_requirements(t: sl.Tensor, chain: Chain, claim: Claim) -> None:
    """Raise `WrongError` unless the requirements hold where the chain has a meaning, and only there."""
    needed = requirements(t)
    for point in brute.points(claim.dims, min(most(claim), 4)):
        try:
            brute.run(chain, point)
            valid = True
        except brute.Invalid:
            valid = False
        known = t.facts.values(point)
        if valid != all(r.holds(known) for r in needed):
            text = ", ".join(map(str, needed))
            raise WrongError(f"{chain} {'has a' if valid else 'has no'} meaning at {point}: [{text}]")


def valid_point(chain: Chain, claim: Claim) -> dict[str, int] | None:
    """Return a point where a chain has a meaning, if there is one among small dims."""
    for point in brute.points(claim.dims, most(claim)):
        try:
            brute.run(chain, point)
        except brute.Invalid:
            continue
        return point
    return None


def most(claim: Claim) -> int:
    """Return how far the dims are enumerated, so that the points are not too many."""
    return next((k for k in (6, 5, 4) if (k + 1) ** len(claim.dims) <= MOST_POINTS), MOST - (len(claim.dims) > 5))


def shape_of(obligation: str) -> str:
    """Return an obligation without its names and numbers, to count kinds of it."""
    if obligation.startswith("the extents of axis"):
        return "the extents are equal"
    if "wherever the other side" in obligation:
        return "a fill is outside the other side"
    if "reads inside its input" in obligation:
        return "reads inside its input"
    if "== " in obligation:
        return "a coordinate is equal"
    return obligation


def main(arguments: list[str]) -> int:
    """Run the command line; return 1 if a verdict is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz_prove", description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000, help="how many claims (10000)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--budget", type=int, default=300, help="points that a search evaluates (300)")
    options = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    wrong = 0
    slowest = (0.0, 0)
    started = time.perf_counter()
    for seed in range(options.seed, options.seed + options.cases):
        claim = random_claim(random.Random(seed))
        before = time.perf_counter()
        try:
            counts[f"{claim.kind:12} {check(claim, options.budget)}"] += 1
        except Exception as error:  # a crash is a finding as well
            wrong += 1
            print(f"seed {seed}: {type(error).__name__}: {error}\n  {claim}", flush=True)
            if not isinstance(error, WrongError):
                traceback.print_exception(error, limit=-4)
        slowest = max(slowest, (time.perf_counter() - before, seed))
    for what, number in sorted(counts.items()):
        print(f"{number:9} {what}")
    print(f"{wrong:9} wrong\n{time.perf_counter() - started:9.0f} seconds, the slowest claim {slowest}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
