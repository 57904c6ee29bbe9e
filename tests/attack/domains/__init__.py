"""The sizes that a node is valid for: what our reading demands of them beside what onnxruntime runs.

    python -m tests.attack.domains --seconds 60 --seed 0 --operators Pad,Gather

A case is a model of one node, in one of its versions, with drawn attributes; each extent of its inputs is a dim.  For
sizes of 0 to 4 and those of the node's test, the model has to be valid just where onnxruntime runs it, and the output
has the shape that is read.  Elements are drawn several times: sizes at which all are refused are outside.
"""

from __future__ import annotations

import os
import random
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import symlayout as sl
from symlayout.errors import LEFT_OUT
from tests.attack.bases import symbolic
from tests.attack.domains.exceptions import exceptions
from tests.attack.one_nodes import (
    Array,
    OneNode,
    arrays_of,
    at_version,
    in_a_process,
    model_of,
    seeds,
    versions,
    with_another_attribute,
    with_constants,
    with_other_inputs,
)
from tests.attack.runtimes import Ran, Sessions, has_onnxruntime
from tests.attack.tally import Tally, Wrong
from tests.attack.values import arrays, sizes

POINTS = 14  # sizes of one model
_DRAWS = 3  # of elements at one point
_FOLDER = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)


@dataclass(frozen=True)
class SizedNode:
    """A node whose inputs have dims for extents.

    Attributes
    ----------
    subject : str
        The operator, with the version that it has its meaning from.
    one : OneNode
        The node with arrays.
    proto : ModelProto
        Its model.
    data : dict of str to array
        The arrays of its inputs.
    base : dict of str to int
        The sizes of the dims there.
    """

    subject: str
    one: OneNode
    proto: Any
    data: Mapping[str, Array]
    base: Mapping[str, int]


def drawn_sized(seed: int, operators: tuple[str, ...] = ()) -> SizedNode | None:
    """Return a node of a version, each version in turn; of these *operators*, if there are any."""
    every = [v for v in versions() if not operators or v[0] in operators]
    op, domain, start, end = every[seed % len(every)]
    rnd = random.Random(seed)
    known = seeds(op, domain)
    if not known:
        return None
    one = at_version(rnd.choice(known), rnd.choice((start, end, rnd.randint(start, end))))
    for _ in range(rnd.choice((0, 1, 1, 2, 3))):
        one = rnd.choice((with_another_attribute, with_another_attribute, with_other_inputs))(one, rnd)
    one = with_constants(one, rnd)
    try:
        proto = model_of(one)
    except (AssertionError, TypeError, ValueError, OverflowError):
        return None
    base = symbolic(op, proto, arrays_of(one), rnd)
    subject = f"{domain and domain + '.'}{op}-{start}"
    return SizedNode(subject, one, base.proto, base.data, base.sizes)


class Reading:
    """What we read of a model: the sizes that it is valid for, and the shapes of its outputs."""

    def __init__(self, proto: Any) -> None:
        path = Path(_FOLDER.name) / f"{os.getpid()}.onnx"
        path.write_bytes(proto.SerializeToString())
        self.model: Any = None
        self.why = ""
        try:
            self.model = sl.read_model(path)
            self.facts = self.model.domain
        except sl.SymlayoutError as error:
            self.model, self.why = None, f"{type(error).__name__}: {error}"

    def refusal(self, at: Mapping[str, int]) -> tuple[str, bool]:
        """Return why sizes are outside, empty if they are not; and whether the reader says that it leaves them out."""
        if self.model is None:
            return self.why, False
        known = self.facts.values(at)
        failing = []
        for r in self.facts.requirements:
            try:
                if not r.holds(known):
                    failing.append(r)
            except KeyError:  # it is about an extent that depends on data
                continue
        return "; ".join(f"{r.kind}: {r}" for r in failing), any(r.kind == LEFT_OUT for r in failing)

    @property
    def is_opaque(self) -> bool:
        """Whether it says of a value that nothing is known of where it is valid: such values are compared as wholes."""
        values = () if self.model is None else self.model.partial
        return any(t.body is not None and t.body.function is None for t in values)

    def other_shape(self, at: Mapping[str, int], shapes: list[tuple[int, ...]]) -> str:
        """Return how the shapes of the outputs are others than *shapes*."""
        for y, expected in zip(self.model.outputs.values(), shapes, strict=False):
            if y.rank is None:
                continue
            if y.rank != len(expected):
                return f"rank {y.rank} beside {expected}"
            try:
                bound = y.bind({n: v for n, v in at.items() if n in y.facts.dims})
            except sl.ShapeError as error:
                return f"not bound, {error}"
            own = bound.extents
            if any(isinstance(n, int) and n != m for n, m in zip(own, expected, strict=True)):
                return f"shape {tuple(own)} beside {expected}"
        return ""


def _outcome(proto: Any, draws: list[dict[str, Array]], which: str) -> tuple[list[tuple[int, ...]] | None, str, bool]:
    """Return the shapes of what a runtime computes for the first inputs that it takes; else why it refuses."""
    sessions = Sessions(proto)
    way = sessions.by_onnxruntime if which == "onnxruntime" else sessions.by_reference
    ran = Ran(None)
    for given in draws:
        ran = way(given)
        if ran.arrays is not None or ran.lacks:
            break
    shapes = None if ran.arrays is None else [a.shape for a in ran.arrays]
    return shapes, _reason(ran.refusal), ran.lacks


def _reason(refusal: str) -> str:
    """Return what onnxruntime says, without the places in its source."""
    said = " ".join(refusal.split()).rpartition("Status Message: ")[2]
    return re.sub(r"/onnxruntime_src/\S+ .*?(\) const|\[with .*?\]|\)) (?=\S)", "", said)[:300]


def _elements(case: SizedNode, at: Mapping[str, int], rnd: random.Random) -> list[dict[str, Array]]:
    """Return inputs of these sizes: the test's where they have the size, drawn ones, and zeros and ones.

    Zeros and ones are those of integers and of numbers without axes, such as a ratio.
    """
    made = [arrays(case.proto, at, rnd, case.data, "small") for _ in range(_DRAWS)]
    for value in (0, 1):
        made.append(
            {n: np.full_like(a, value) if a.dtype.kind in "iu" or a.ndim == 0 else a for n, a in made[0].items()},
        )
    return [{n: np.asarray(a) for n, a in given.items()} for given in made]


def judged(case: SizedNode, points: list[dict[str, int]], rnd: random.Random, which: str) -> list[Any]:
    """Return the outcomes of a runtime at *points*; None where it ends its process."""
    found: list[Any] = []
    functions = [partial(_outcome, case.proto, _elements(case, at, rnd), which) for at in points]
    while len(found) < len(functions):
        found += in_a_process(functions[len(found) :])
        if len(found) < len(functions):
            found.append(None)
    return found


def findings(case: SizedNode, rnd: random.Random) -> list[tuple[str, str, str]]:
    """Return for each point that is judged an outcome, a kind and a text; the outcome is "wrong" if we are."""
    points = [dict(at) for at in {tuple(p.items()): p for p in sizes(case.proto, case.base, rnd, POINTS)}.values()]
    reading = Reading(case.proto)
    theirs = judged(case, points, rnd, "onnxruntime")
    if any(t is not None and t[0] is None and t[2] for t in theirs):
        return [("not run", "", "")]
    found = []
    for at, outcome in zip(points, theirs, strict=True):
        if outcome is None:
            found.append(("ends the process", "", ""))
            continue
        shapes, refusal, _ = outcome
        ours, beyond = reading.refusal(at)
        if shapes is not None and ours:
            if beyond:
                found.append(("left out", "", ""))
            else:
                found.append(("wrong", "narrow", f"at {at}: runs, gives {shapes}; we refuse: {ours}"))
        elif shapes is not None:
            other = reading.other_shape(at, shapes)
            found.append(("wrong", "shape", f"at {at}: {other}") if other else ("both run", "", ""))
        elif ours:
            found.append(("both refuse", "", ""))
        elif reading.is_opaque:
            found.append(("opaque", "", ""))
        else:
            found.append(("wrong", "wide", f"at {at}: refused, {refusal}; we demand {reading.model.requires}"))
    return found


def compare(case: SizedNode, rnd: random.Random) -> list[tuple[str, str, str]]:
    """Return `findings`, but for those where onnxruntime departs from the standard, or the standard is silent."""
    found = findings(case, rnd)
    made = []
    for outcome, kind, text in found:
        why = exceptions(case.one, kind, text) if outcome == "wrong" else ""
        made.append(("undecided", kind, text) if why else (outcome, kind, text))
    return made


def attack_of(operators: tuple[str, ...], seed: int, tally: Tally) -> None:
    """Compare one model."""
    case = drawn_sized(seed, operators)
    if case is None:
        return
    if case.one.op == "Loop":  # which may have no end
        return
    for outcome, kind, text in compare(case, random.Random(seed)):
        if outcome == "wrong":
            files = {"model.onnx": case.proto.SerializeToString()}
            said = re.sub(r"at {.*?}|\d+|\[.*?\]|\(.*?\)", "", text)
            title = f"{case.one.op}-{kind}-{said[:70]}"
            tally.note_wrong(case.subject, Wrong(title, f"case {seed}: {case.one}\n{text}", files))
        else:
            tally.note(case.subject, outcome)


def attack(seed: int, tally: Tally) -> None:
    """Compare one model of any operator."""
    if has_onnxruntime():
        attack_of((), seed, tally)


__all__ = ["SizedNode", "attack", "attack_of", "compare", "drawn_sized", "findings"]
