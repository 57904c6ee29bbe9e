"""Make a claim smaller while the same is said of it, and print it as something to type."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.fuzz_prove.claims import Claim, Family
from tests.fuzz_prove.extents import add, minus, over, times
from tests.fuzz_prove.judge import Finding, Judge, WrongError
from tests.support import brute
from tests.support.brute import Chain, Expression, Step

SECONDS = 30.0
WORDS = {"mode", "pad_mode", "data_format"}  # attributes whose value is a word
OPERATORS = {"+": add, "-": minus, "*": times, "/": over}


def judged(claim: Claim, budget: int, limit: float) -> Finding:
    """Return what is said of a claim."""
    judge = Judge(Family([claim.left, claim.right], [0, 0], claim.dims), random.Random(0), budget, limit)
    try:
        judge.build()
    except WrongError as error:
        return Finding((0, 1), claim.kind, "wrong", "", 0.0, str(error))
    if judge.refused:
        return Finding((0, 1), claim.kind, "refused", "", 0.0, judge.refused[0])
    return judge.finding(0, 1, claim.kind)


def shrunk(claim: Claim, budget: int, limit: float) -> Iterator[str]:
    """Yield a claim as code and what is said of it; then the same of the smallest like it that was found."""
    found = judged(claim, budget, limit)
    yield f"{typed(claim)}\n# {found.verdict}, {found.truth}: {found.text}"
    if found.verdict in ("wrong", "unknown", "no answer"):
        claim = smallest(claim, lambda c: _alike(judged(c, budget, limit), found))
        found = judged(claim, budget, limit)
        yield f"\n# shrunk\n{typed(claim)}\n# {found.verdict}, {found.truth}: {found.text}"


def smallest(claim: Claim, alike: Callable[[Claim], bool], seconds: float = SECONDS) -> Claim:
    """Return the smallest claim that was found, of which *alike* holds as of *claim*."""
    end = time.monotonic() + seconds
    again = True
    while again:
        again = False
        for smaller in smaller_claims(claim):
            if time.monotonic() > end:
                return claim
            try:
                again = alike(smaller)
            except Exception:
                continue
            if again:
                claim = smaller
                break
    return claim


def _alike(a: Finding, b: Finding) -> bool:
    return (a.verdict, a.truth == "equal") == (b.verdict, b.truth == "equal") and (
        a.verdict != "wrong" or a.text.split()[0] == b.text.split()[0]
    )


def smaller_claims(claim: Claim) -> Iterator[Claim]:
    """Yield claims that are a little smaller."""
    left, right = claim.left.steps, claim.right.steps
    shape = claim.left.shape
    for k in range(max(len(left), len(right))):
        for one, other in ((k, k), (len(left) - 1 - k, len(right) - 1 - k)):
            if 0 <= one < len(left) and 0 <= other < len(right) and left[one] == right[other]:
                yield _with(claim, shape, _without(left, one), _without(right, other))
    for k in range(len(left)):
        yield _with(claim, shape, _without(left, k), right)
    for k in range(len(right)):
        yield _with(claim, shape, left, _without(right, k))
    for k, d in enumerate(claim.dims):
        if (d.max, d.multiple_of) != (None, 1):
            dims = [*claim.dims[:k], brute.Dim(d.name, d.min), *claim.dims[k + 1 :]]
            yield Claim(claim.left, claim.right, claim.kind, dims)
        for n in (0, 1, 2):
            if n >= d.min:
                yield _bound(claim, d.name, n)
    for k, n in enumerate(shape):
        if n != 1:
            yield _with(claim, (*shape[:k], 1, *shape[k + 1 :]), left, right)
    for steps, side in ((left, 0), (right, 1)):
        for k, step in enumerate(steps):
            for plain in _plainer(step):
                changed = (*steps[:k], plain, *steps[k + 1 :])
                yield _with(claim, shape, *((changed, right) if side == 0 else (left, changed)))


def _without(steps: tuple[Step, ...], at: int) -> tuple[Step, ...]:
    return (*steps[:at], *steps[at + 1 :])


def _with(claim: Claim, shape: tuple[Expression, ...], left: tuple[Step, ...], right: tuple[Step, ...]) -> Claim:
    sides = Chain(shape, left), Chain(shape, right)
    names = {*sides[0].names(), *sides[1].names()}
    return Claim(*sides, claim.kind, [d for d in claim.dims if d.name in names])


def _plainer(step: Step) -> Iterator[Step]:
    """Yield a step with one of its margins made 0."""
    name, given = step
    for key in ("pad_width", "paddings", "crops", "padding"):
        for k, pair in enumerate(given.get(key, ())):
            for end in (0, 1):
                if pair[end] != 0:
                    changed = [0 if j == end else e for j, e in enumerate(pair)]
                    yield name, {**given, key: [*given[key][:k], changed, *given[key][k + 1 :]]}


def _bound(claim: Claim, name: str, n: int) -> Claim:
    """Return a claim with a number for one of its dims."""

    def steps(chain: tuple[Step, ...]) -> tuple[Step, ...]:
        return tuple(_clamped(operation, {key: put(e, key) for key, e in given.items()}) for operation, given in chain)

    def put(e: Any, key: str = "") -> Any:
        if key == "branches":
            return [steps(branch) for branch in e]
        if key in brute.PLAIN:
            return e
        if isinstance(e, list):
            return [put(item) for item in e]
        if isinstance(e, tuple):
            return OPERATORS[e[0]](put(e[1]), put(e[2]))
        return n if e == name else e

    shape = tuple(put(e) for e in claim.left.shape)
    return _with(claim, shape, steps(claim.left.steps), steps(claim.right.steps))


def _clamped(name: str, given: dict[str, Any]) -> Step:
    """Return a step; a slice whose bounds have become ints is one that clamps."""
    if name != "slice" or not (isinstance(given["start"], int) and isinstance(given["stop"], int)):
        return name, given
    cut = slice(given["start"], given["stop"], given["step"])
    return "getitem", {"key": [slice(None)] * given["axis"] + [cut]}


# ---------------------------------------------------------------------- claims as text


def typed(claim: Claim) -> str:
    """Return a claim as code."""
    lines = [*map(typed_dim, claim.dims), typed_input(claim.left.shape)]
    lines += [
        f"{side} = {typed_steps('x', chain.steps)}" for side, chain in (("left", claim.left), ("right", claim.right))
    ]
    return "\n".join([*lines, "sl.prove_equal(left, right)"])


def typed_dim(d: brute.Dim) -> str:
    """Return the declaration of a dim as code."""
    words = f'"{d.name}"' + (f", min={d.min}" if d.min else "") + (f", max={d.max}" if d.max is not None else "")
    return f"{d.name} = sl.dim({words}{f', multiple_of={d.multiple_of}' if d.multiple_of != 1 else ''})"


def typed_input(shape: Sequence[Expression], name: str = "x") -> str:
    """Return the declaration of an input as code."""
    return f'{name} = sl.tensor([{", ".join(map(spelled, shape))}], name="{name}")'


def typed_steps(text: str, steps: Sequence[Step]) -> str:
    """Return what steps make of the tensor *text*, as code."""
    for name, given in steps:
        if name == "getitem":
            text = f"{text}[{', '.join(spelled(item) for item in given['key'])}]"
        elif name == "slice":
            cut = f"{spelled(given['start'])}:{spelled(given['stop'])}:{given['step']}"
            text = f"{text}[{':, ' * given['axis']}{cut}]"
        elif name == "input":
            text = f"x{given['number']}"
        else:
            words = [
                f"{key}={e!r}" if key in WORDS else f"{key}={spelled(e)}"
                for key, e in given.items()
                if key not in ("branches", "part")
            ]
            if "branches" in given:
                text = f"[{', '.join(typed_steps(text, branch) for branch in given['branches'])}]"
            operation = f'sl.op("{name}")' if ":" in name else f"sl.{name}"
            text = f"{operation}({', '.join([text, *words])})" + (f"[{given['part']}]" if "part" in given else "")
    return text


def spelled(e: Any) -> str:
    """Return an expression, or a list or slice of expressions, as code."""
    if isinstance(e, tuple):
        return f"({spelled(e[1])} {e[0]} {spelled(e[2])})"
    if isinstance(e, list):
        return f"[{', '.join(map(spelled, e))}]"
    if isinstance(e, slice):
        return ":".join("" if part is None else spelled(part) for part in (e.start, e.stop, e.step))
    return str(e)
