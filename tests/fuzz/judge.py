"""One chain: built, compiled once, and called for many sizes, types and layouts."""

from __future__ import annotations

import os
import platform
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import symlayout as sl
from symlayout.algebra.fact_store import DIGIT
from symlayout.run.storage import WHOLE
from symlayout_codegen.jit.instruction_set import LEVELS, NATIVE, available
from tests.fuzz.chains import Chain, Drawn, Point
from tests.fuzz.compare import Case, Subject, Wrong, compare, shape_of
from tests.fuzz.memory import by_size
from tests.fuzz_prove.judge import applied, expression
from tests.support import brute

MOST_POINTS = 160  # of a chain
VARIANTS = 8  # types and layouts at each of them
ALONE = 100  # where there is but one
REFUSALS = 6  # points without a meaning that are tried
FILLS = ("constant_values", "constant_value", "pad_value", "value")
PORTABLE = {"x86_64": "x86-64", "AMD64": "x86-64", "aarch64": "armv8-a"}.get(platform.machine(), NATIVE)
"""What compilers compile for where nobody names an instruction set: what users of the generated C get."""
ITEM_SIZES = {1: 5, 2: 4, 4: 6, 8: 4, 16: 2, 3: 1, 5: 1, 6: 1, 12: 1}  # and how often each is drawn


@dataclass(frozen=True, slots=True)
class Plan:
    """How a chain is compiled: for which types and instruction set, one declared or not, some dims fixed or not."""

    dtypes: tuple[np.dtype[Any], ...]
    declared: str  # "", "tensor" or "kernel"
    fixed: Point
    optimise: str
    march: str = NATIVE  # or `PORTABLE`


@dataclass(slots=True)
class Findings:
    """What became of a chain: the cases that agreed, and one failure at most."""

    state: str = "compiled"
    cases: set[Case] = field(default_factory=set)
    interpreted: int = 0
    refused: int = 0
    failure: str = ""


def plan(rnd: random.Random, drawn: Drawn) -> Plan:
    """Return how to compile a chain."""
    filled = any(-1 in (given.get(key) for key in FILLS) for _, given in (link.said for link in drawn.chain.links))
    kinds = "" if not filled else "iufc" if drawn.chain.fill in (1, 5) else "fc"
    fitting = {
        size: found
        for size, dtypes in by_size().items()
        if (found := [d for d in dtypes if not kinds or (d.kind in kinds and d.fields is None)])
    }
    sizes = list(fitting)
    dtypes = fitting[rnd.choices(sizes, [ITEM_SIZES.get(n, 1) for n in sizes])[0]]
    declared = rnd.choice(("", "", "", "tensor", "kernel"))
    if declared:
        one = rnd.choice(dtypes)
        dtypes = list(dict.fromkeys((one, one.newbyteorder())))
    fixed: Point = {}
    if drawn.points and rnd.random() < 0.3:
        point = rnd.choice(drawn.points)[0]
        fixed = {
            name: point[name] for name in rnd.sample(list(point), rnd.choice((1, 1, 1, len(point))) if point else 0)
        }
    optimise = rnd.choice(("-O1", "-O1", "-O1", "-O3"))
    march = rnd.choice((NATIVE, PORTABLE, *LEVELS))  # the same draw on every machine
    return Plan(tuple(dtypes), declared, fixed, optimise, march if march in (PORTABLE, *available()) else NATIVE)


def judge(drawn: Drawn, how: Plan, seed: int) -> Findings:
    """Compare the results of a chain at its points with brute force."""
    found = Findings()
    try:
        t = build(drawn.chain, how.dtypes[0] if how.declared == "tensor" else None)
    except sl.ShapeError as error:
        found.state = "refused when built"
        if drawn.points:
            found.failure = f"it has a meaning at {drawn.points[0][0]}, but: {error}"
        return found
    except sl.InconclusiveError:
        found.state = "not decided when built"
        return found
    try:
        with flags(f"-march={PORTABLE} {how.optimise}" if how.march == PORTABLE != NATIVE else how.optimise):
            _judge(drawn, how, t, random.Random(seed), found)
    except Exception as error:
        found.failure = f"{type(error).__name__}: {error}"
    return found


def _judge(drawn: Drawn, how: Plan, t: sl.Tensor, rnd: random.Random, found: Findings) -> None:
    points = [(p, grid) for p, grid in drawn.points if how.fixed.items() <= p.items()]
    points = rnd.sample(points, min(MOST_POINTS, len(points)))
    fixed = t.subs({name: n for name, n in how.fixed.items() if name in t.facts.dims})
    kernel: sl.Kernel | None = None
    try:
        kernel = compiled(fixed, how)
    except (sl.InconclusiveError, sl.CompilerError) as error:
        found.state = limit(error)
    if DIGIT in (text := _map_of(fixed)):
        raise Wrong(f"the map is printed with names of its own: {text}")
    known = frozenset(e for shape in drawn.chain.inputs().values() for e in shape if isinstance(e, str))
    for point, grid in points:
        bound = t.subs({name: n for name, n in point.items() if name in t.facts.dims})
        for k in range(VARIANTS if len(points) > 1 else ALONE):
            subject = Subject(drawn.chain, how.dtypes, kernel, frozenset(fixed.facts.dims), known)
            try:
                case = compare(rnd, subject, bound if k else t, point, grid)
            except (sl.InconclusiveError, sl.CompilerError) as error:  # of another kernel, for strides that are given
                kernel, found.state = None, limit(error)
                break
            if kernel is not None:
                found.cases.add(case)
            else:
                found.interpreted += 1
                break
    for point in drawn.without[:REFUSALS]:
        found.refused += _is_refused(t, fixed, kernel, drawn.chain, how, point)


def _map_of(t: sl.Tensor) -> str:
    """Return the map of *t* as it is printed, if it has been found."""
    try:
        return str(t.index_map)
    except sl.InconclusiveError:
        return ""


def limit(error: sl.InconclusiveError | sl.CompilerError) -> str:
    """Return why there is no kernel, if that is as promised; raise *error* if it is not."""
    if isinstance(error, sl.InconclusiveError):
        return "not shown to be inside its inputs"
    if "limits.kernel_characters" not in str(error):
        raise error
    return "of too long a text"


def build(chain: Chain, dtype: np.dtype[Any] | None = None) -> sl.Tensor:
    """Return a chain as a tensor of symlayout."""
    dims = {d.name: sl.dim(d.name, d.min, d.max, d.multiple_of) for d in chain.dims}
    leaf = sl.tensor([expression(e, dims) for e in chain.shape], dtype=dtype, name="x0")
    return applied(leaf, tuple(filled(link.said, chain.fill) for link in chain.links), dims)


def filled(step: brute.Step, fill: float) -> brute.Step:
    """Return a step with the fill in the place of its code."""
    name, given = step
    return name, {key: fill if key in FILLS and e == -1 else e for key, e in given.items()}


def compiled(t: sl.Tensor, how: Plan) -> sl.Kernel:
    """Return the kernel of *t*."""
    # `sl.compile` compiles for float32 too where no type is named, which takes as long again
    march = NATIVE if how.march == PORTABLE else how.march  # `flags` names the portable one
    return sl.Kernel(t, how.dtypes[0] if how.declared else None, WHOLE, True, 1, False, march)


@contextmanager
def flags(optimise: str) -> Iterator[None]:
    """Have kernels compiled with *optimise*, after the user's own flags."""
    before = os.environ.get("CFLAGS")
    os.environ["CFLAGS"] = f"{before or ''} {optimise}".strip()
    try:
        yield
    finally:
        if before is None:
            del os.environ["CFLAGS"]
        else:
            os.environ["CFLAGS"] = before


def _is_refused(
    t: sl.Tensor, fixed: sl.Tensor, kernel: sl.Kernel | None, chain: Chain, how: Plan, point: Point
) -> bool:
    """Check that a point without a meaning is refused, with one kind by both; False if there is no such input."""
    try:
        shapes = [shape_of(leaf.name, chain, point) for leaf in t.leaves()]
    except brute.Invalid:
        return False
    if any(n < 0 for shape in shapes for n in shape):
        return False
    arrays = [np.zeros(shape, how.dtypes[0]) for shape in shapes]
    kinds = [_kind(lambda: sl.interpret(t, *arrays, dims={k: n for k, n in point.items() if k in t.facts.dims}))]
    if kernel is not None and how.fixed.items() <= point.items():
        dims = {name: n for name, n in point.items() if name in fixed.facts.dims}
        kinds.append(_kind(lambda: kernel(*arrays, dims=dims)))
    if "" in kinds or (len(set(kinds)) > 1 and not how.fixed):
        raise Wrong(f"there is no meaning at {point}, but the interpreter and the kernel say {kinds}")
    return True


def _kind(call: Callable[[], object]) -> str:
    """Return the kind of error that *call* raises; empty if it raises none."""
    try:
        call()
    except sl.ShapeError as error:
        return error.kind
    return ""
