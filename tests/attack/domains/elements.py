"""The elements that a node is valid for: where we say that it takes all of them, onnxruntime does.

    python -m tests.attack.domains.elements --seconds 60 --seed 0

A case is a model of one node with the sizes of its test.  A model with the node beside one without it is PROVED only if
the node takes all elements: then onnxruntime has to run it for elements of all kinds.  A model beside one that changes
what the node computes is REFUTED: then onnxruntime has to run the node at the witness.
"""

from __future__ import annotations

import os
import random
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, helper

import symlayout as sl
from tests.attack.one_nodes import Array, OneNode, arrays_of, drawn_node, in_a_process, model_of, seeds, versions
from tests.attack.runner import main_of
from tests.attack.runtimes import Ran, Sessions, has_onnxruntime
from tests.attack.tally import Tally, Wrong
from tests.attack.values import drawn

_FOLDER = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
_KINDS = ("small", "normal", "special", "small")
_CHANGED = {"b": "Not", "f": "Neg", "i": "Neg"}


def _copied(model: ModelProto) -> ModelProto:
    made = ModelProto()
    made.CopyFrom(model)
    return made


def with_and_without(model: ModelProto) -> tuple[ModelProto, ModelProto]:
    """Return a model that returns its inputs, and one that has the node beside that."""
    without = _copied(model)
    del without.graph.output[:]
    del without.graph.node[:]
    for k, x in enumerate(model.graph.input):
        without.graph.node.append(helper.make_node("Identity", [x.name], [f"kept{k}"]))
        without.graph.output.append(helper.make_empty_tensor_value_info(f"kept{k}"))
    beside = _copied(without)
    beside.graph.node.extend(model.graph.node)
    return without, beside


def changed(model: ModelProto, kind: str) -> ModelProto | None:
    """Return a model whose first output is changed; None for an element type that has no change."""
    if kind not in _CHANGED:
        return None
    made = _copied(model)
    made.graph.node[0].output[0] = "before"
    made.graph.node.append(helper.make_node(_CHANGED[kind], ["before"], ["y0"]))
    return made


def verdict_of(before: ModelProto, after: ModelProto) -> Any:
    """Return what is found of two models; None if one is not read."""
    paths = [Path(_FOLDER.name) / f"{os.getpid()}-{k}.onnx" for k in range(2)]
    for path, model in zip(paths, (before, after), strict=True):
        path.write_bytes(model.SerializeToString())
    try:
        return sl.verify(*paths, run=False, time_limit=6)
    except sl.SymlayoutError:
        return None


def _of_kind(one: OneNode, kind: str, rnd: random.Random) -> dict[str, Array]:
    rng = np.random.default_rng(rnd.getrandbits(32))
    return {
        name: a if a.dtype.kind in "USO" else np.asarray(drawn(rng, a.shape, a.dtype, kind)).astype(a.dtype)
        for name, a in arrays_of(one).items()
    }


def _runs(model: ModelProto, given: list[dict[str, Array]]) -> list[Ran]:
    sessions = Sessions(model)
    return [sessions.by_onnxruntime(arrays) for arrays in given]


def findings(one: OneNode, rnd: random.Random) -> list[tuple[str, str]]:
    """Return outcomes, each with a text; the outcome is "wrong" if our verdict is."""
    model = model_of(one)
    (ran,) = in_a_process([partial(_runs, model, [arrays_of(one)])]) or (None,)
    if ran is None or ran[0].arrays is None:
        return [("not run", "")]
    found = []
    verdict = verdict_of(*with_and_without(model))
    if verdict is not None and verdict.verdict is sl.Verdict.PROVED:
        draws = [_of_kind(one, kind, rnd) for kind in _KINDS]
        for arrays in draws:
            (ran_so,) = in_a_process([partial(_runs, model, [arrays])]) or ([Ran(None, "it ends its process")],)
            if ran_so[0].arrays is None and not ran_so[0].lacks:
                shown = {n: a.tolist() for n, a in arrays.items() if a.size < 20}
                found.append(("wrong", f"total: {ran_so[0].refusal} at {shown}"))
                break
        else:
            found.append(("total", ""))
    elif verdict is not None:
        found.append(("partial", ""))
    other = changed(model, ran[0].arrays[0].dtype.kind)
    verdict = None if other is None else verdict_of(model, other)
    if verdict is not None and verdict.witness is not None:
        arrays = verdict.witness.inputs
        (ran_so,) = in_a_process([partial(_runs, model, [arrays])]) or ([Ran(None, "it ends its process")],)
        if ran_so[0].arrays is None and not ran_so[0].lacks and "position_ids value -" in ran_so[0].refusal:
            found.append(("undecided", ""))  # by the standard's algorithm they count from the end
        elif ran_so[0].arrays is None and not ran_so[0].lacks:
            shown = {n: a.tolist() for n, a in arrays.items() if a.size < 20}
            found.append(("wrong", f"witness: {ran_so[0].refusal} at {shown}"))
        else:
            found.append(("witness", ""))
    return found


def attack(seed: int, tally: Tally) -> None:
    """Judge one node."""
    case = drawn_node(seed) if has_onnxruntime() else None
    if case is None or case[1].op == "Loop":  # which may have no end
        return
    subject, one, rnd = case
    try:
        proto = model_of(one)
        found = findings(one, rnd)
    except (AssertionError, TypeError, ValueError, OverflowError):
        tally.note(subject, "no model")
        return
    for outcome, text in found:
        if outcome == "wrong":
            files = {"model.onnx": proto.SerializeToString()}
            tally.note_wrong(subject, Wrong(f"{one.op}-{text[:5]}", f"case {seed}: {one}\n{text}", files))
        else:
            tally.note(subject, outcome)


if __name__ == "__main__":
    for version in versions():  # once, before processes fork
        seeds(*version[:2])
    main_of("elements", attack, __doc__)
