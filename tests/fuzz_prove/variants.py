"""What is made of a chain: another that is equal wherever both have a meaning, or one that is a little different."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from tests.fuzz_prove import steps as propose
from tests.fuzz_prove.extents import add, along, minus, over
from tests.fuzz_prove.written_out import strided, written_out
from tests.support.brute import Chain, Expression, Step

Shape = list[Expression]
Attributes = Mapping[str, Any]


def rewritten(rnd: random.Random, chain: Chain) -> Chain:
    """Return a chain that is equal to *chain* wherever both have a meaning."""
    shapes = along(chain.shape, chain.steps)
    kind = rnd.random()
    at = rnd.randrange(len(shapes))
    if kind < 0.35 and at < len(chain.steps) and (long := written_out(rnd, chain.steps[at], shapes[at])):
        made = _replaced(chain, at, at + 1, long)
    elif kind < 0.6 and at + 1 < len(chain.steps) and (joined := exchanged(chain, at, shapes[at])):
        made = _replaced(chain, at, at + 2, joined)
    else:
        made = _replaced(chain, at, at, there_and_back(rnd, shapes[at]))
    return chain if any(None in given.get("shape", ()) for _, given in made.steps) else made


def _replaced(chain: Chain, start: int, stop: int, steps: Sequence[Step]) -> Chain:
    return Chain(chain.shape, (*chain.steps[:start], *steps, *chain.steps[stop:]))


# ---------------------------------------------------------------------- steps that together do nothing


def there_and_back(rnd: random.Random, shape: Shape) -> list[Step]:
    """Return steps that lead from *shape* back to the same elements; none if the kind drawn has no such here."""
    rank = len(shape)
    axis = propose.axis_of(rnd, shape)
    written = propose.axis_of(rnd, shape, written=True)
    room = rank < propose.MAX_RANK
    given: Attributes
    pair: list[Step]
    match rnd.choice(INVERSE_PAIRS):
        case "transpose":
            axes = rnd.sample(range(rank), rank)
            return [("transpose", {"axes": axes}), ("transpose", {"axes": [axes.index(a) for a in range(rank)]})]
        case "flip":
            axes = [a for a in range(rank) if rnd.random() < 0.5]
            return [("flip", {"axis": axes})] * 2
        case "pad":
            widths = [[rnd.choice((0, 1, "p", "q")) for _ in range(2)] for _ in range(rank)]
            back = _negated(widths)
            return [("pad", {"pad_width": w, "constant_values": rnd.choice((0, -1))}) for w in (widths, back)]
        case "mode" if axis is not None:
            margins: list[Expression] = rnd.choice(([1, 0], [0, 1], ["p", 1], [1, "q"]))
            widths = [margins if k == axis else [0, 0] for k in range(rank)]
            mode = rnd.choice(("edge", "reflect", "symmetric", "wrap"))
            given = {"pad_width": _negated(widths), "constant_values": 0}
            return [("pad", {"pad_width": widths, "mode": mode}), ("pad", given)]
        case "batch" if rank > 1:
            m = rnd.randint(1, min(2, rank - 1))
            block, pads = [propose.block_of(rnd) for _ in range(m)], propose.margins_of(rnd, m)
            return [
                ("space_to_batch", {"block_shape": block, "paddings": pads}),
                ("batch_to_space", {"block_shape": block, "crops": pads}),
            ]
        case "depth" if rank > 2:
            given = {"block_size": rnd.choice((2, 3, "b")), "mode": rnd.choice(("blocks_first", "depth_first"))}
            pair = [("space_to_depth", given), ("depth_to_space", given)]
            return pair[:: rnd.choice((1, -1))]
        case "reshape" if None not in shape and (step := propose.reshape(rnd, shape)):
            return [step, ("reshape", {"shape": shape})]
        case "roll" if axis is not None:
            shift: Expression = rnd.choice((1, 2, "p", ("+", "p", 1)))
            return [("roll", {"shift": s, "axis": axis}) for s in (shift, minus(0, shift))]
        case "shuffle" if written is not None:
            groups = rnd.choice((2, 3, "b"))
            counts: list[Expression] = [groups, over(shape[written], groups)]
            if counts[1] is None:
                return []
            return [("channel_shuffle", {"groups": g, "axis": written}) for g in counts[:: rnd.choice((1, -1))]]
        case "pack" if written is not None and room:
            return [
                ("pack", {"axis": written, "block": rnd.choice((2, 3, "b")), "constant_values": 0}),
                ("unpack", {"axis": written, "extent": shape[written]}),
            ]
        case "dims" if room:
            at = [rnd.randint(0, rank)]
            return [("expand_dims", {"axis": at}), ("squeeze", {"axis": at})]
        case "tile" if written is not None:
            reps = [rnd.choice((2, 3, "b")) if k == written else 1 for k in range(rank)]
            return [("tile", {"reps": reps}), *propose.part(written, 0, shape[written])]
        case "repeat" if axis is not None:
            count = rnd.choice((2, 3))
            return [("repeat", {"repeats": count, "axis": axis}), strided(axis, count)]
        case "resize" if axis is not None:
            count = rnd.choice((2, 3))
            given = {"scale": [count], "axes": [axis], "mode": rnd.choice(("asymmetric", "half_pixel"))}
            return [("resize_nearest", given), strided(axis, count)]
        case "split" if written is not None:
            n = shape[written]
            at_: Expression = rnd.choice(("p", 1, minus(n, "p")))
            parts = [propose.part(written, 0, at_), propose.part(written, at_, n)]
            return [("concatenate", {"axis": written, "branches": parts})]
        case "broadcast" if None not in shape and room:
            return [("broadcast_to", {"shape": [rnd.choice((2, "b")), *shape]}), ("getitem", {"key": [0]})]
        case "window" if axis is not None and room:
            given = {"window_shape": [1], "axis": [axis], "strides": [1], "dilation": [1], "padding": [[0, 0]]}
            return [("window", given), ("squeeze", {"axis": [rank]})]
    return []


def _negated(widths: list[list[Expression]]) -> list[list[Expression]]:
    return [[minus(0, w) for w in pair] for pair in widths]


INVERSE_PAIRS = (
    "transpose", "flip", "pad", "mode", "batch", "batch", "depth", "reshape", "reshape", "roll", "shuffle", "pack",
    "dims", "tile", "repeat", "resize", "split", "broadcast", "window",
)  # fmt: skip


# ---------------------------------------------------------------------- two steps as one, or in the other order


def exchanged(chain: Chain, at: int, shape: Shape) -> list[Step]:
    """Return two steps that follow each other as one, or in the other order; none if that means something else."""
    first, second = chain.steps[at : at + 2]
    (one, a), (two, b) = first, second
    if one == two == "transpose":
        return [("transpose", {"axes": [a["axes"][k] for k in b["axes"]]})]
    if one == two == "roll" and a["axis"] == b["axis"] is not None:
        return [("roll", {"shift": add(a["shift"], b["shift"]), "axis": a["axis"]})]
    if one == two == "flip":
        return [("flip", {"axis": sorted(set(a["axis"]) ^ set(b["axis"]))})]
    if two == "transpose" and one in ("flip", "roll", "repeat") and a["axis"] is not None:
        there = [b["axes"].index(k) for k in range(len(shape))]
        axis = [there[k] for k in a["axis"]] if one == "flip" else there[a["axis"]]
        return [second, (one, {**a, "axis": axis})]
    if one == "transpose" and two in ("flip", "roll", "repeat") and b["axis"] is not None:
        axis = [a["axes"][k] for k in b["axis"]] if two == "flip" else a["axes"][b["axis"]]
        return [(two, {**b, "axis": axis}), first]
    if one == "transpose" and two == "pad":
        widths = [b["pad_width"][a["axes"].index(k)] for k in range(len(shape))]
        return [("pad", {**b, "pad_width": widths}), first]
    if one in ("reshape", "ravel", "squeeze", "expand_dims") and two in ("reshape", "ravel"):
        return [second]
    if one in ("tile", "repeat") and two == "flip":
        return [second, first] if one == "repeat" or len(a["reps"]) == len(shape) else []
    return []


# ---------------------------------------------------------------------- small changes


def mutated(rnd: random.Random, chain: Chain) -> Chain:
    """Return *chain* with one step changed a little, or left out; with a flip more if that does not fit."""
    for at in rnd.sample(range(len(chain.steps)), len(chain.steps)):
        name, given = chain.steps[at]
        changed = {**given, **_change(rnd, name, given)}
        made = _replaced(chain, at, at + 1, [(name, changed)] if changed != given else [])
        if fits(made):
            return made
    return Chain(chain.shape, (("flip", {"axis": [rnd.randrange(len(chain.shape))]}), *chain.steps))


def fits(chain: Chain) -> bool:
    """Return whether the attributes of all steps are for the ranks that they meet."""
    try:
        along(chain.shape, chain.steps)
    except (ValueError, IndexError):
        return False
    return True


def _change(rnd: random.Random, name: str, given: Attributes) -> dict[str, Any]:
    """Return attributes to put in the place of those that a step has; none if there are none to change."""
    match name:
        case "transpose" if len(given["axes"]) > 1:
            axes = list(given["axes"])
            i, k = rnd.sample(range(len(axes)), 2)
            axes[i], axes[k] = axes[k], axes[i]
            return {"axes": axes}
        case "pad" if "mode" in given and rnd.random() < 0.5:
            return {"mode": rnd.choice(("edge", "reflect", "symmetric", "wrap"))}
        case "pad" if "mode" not in given and rnd.random() < 0.3:
            return {"constant_values": -1 - given["constant_values"]}
        case "pad":
            return {"pad_width": _nudged(rnd, given["pad_width"])}
        case "space_to_batch" | "batch_to_space" if rnd.random() < 0.5:
            return {"block_shape": list(reversed(given["block_shape"]))}
        case "space_to_batch":
            return {"paddings": _nudged(rnd, given["paddings"])}
        case "batch_to_space":
            return {"crops": _nudged(rnd, given["crops"])}
        case "space_to_depth" | "depth_to_space":
            return {"mode": "depth_first" if given["mode"] == "blocks_first" else "blocks_first"}
        case "flip":
            return {"axis": [*given["axis"][1:]]}
        case "roll":
            return {"shift": rnd.choice((add(given["shift"], 1), minus(0, given["shift"])))}
        case "resize_nearest":
            return {"mode": "half_pixel" if given["mode"] == "asymmetric" else "asymmetric"}
        case "window":
            return {rnd.choice(("strides", "dilation")): [rnd.choice((1, 2))]}
        case "concatenate" | "stack":
            return {"branches": given["branches"][::-1]}
        case "channel_shuffle":
            return {"groups": rnd.choice((2, 3, "b"))}
        case "pack":
            return {"constant_values": -1 - given["constant_values"]}
        case "moveaxis":
            return {"source": given["destination"], "destination": given["source"]}
    return {}


def _nudged(rnd: random.Random, pairs: list[list[Expression]]) -> list[list[Expression]]:
    """Return margins with one of them moved by 1 from one end to the other, or with the ends swapped."""
    if not pairs:
        return pairs
    at = rnd.randrange(len(pairs))
    begin, end = pairs[at]
    pair = [end, begin] if rnd.random() < 0.5 and begin != end else [add(begin, 1), minus(end, 1)]
    return [*pairs[:at], pair, *pairs[at + 1 :]]
