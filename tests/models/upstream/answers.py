"""What we answer to the shape tests of other projects: as they say, more than they say, or less and why.

``shapes.json`` has, for each model that a test of theirs infers, the name of the test, the element type and the shape
of each value as they say, and our answer, with the reason if it is worse.  The models stand one after the other in
``models``, each after its length in four bytes, all of them compressed and in base 64.  What the tests take for unknown
are inputs here.

The answers, the worst one first:

=========  ==========================================================================================
wrong      two numbers of which one is wrong: theirs, which ``reasons`` says, or ours
refused    a typed error
weaker     we know less
different  another expression of the dims of the inputs
equal      the same rank, numbers and dims
sharper    we know more
=========  ==========================================================================================
"""

from __future__ import annotations

import base64
import functools
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import symlayout as sl
from symlayout.models.model import Unshaped

ANSWERS = ("wrong", "refused", "weaker", "different", "equal", "sharper")
_TYPES = {"float": "float32", "double": "float64", "float6e2m3": "float6_e2m3fn", "float6e3m2": "float6_e3m2fn"}
_FUNCTIONS = {"Max", "Min", "floor", "ceiling", "Mod"}

Shape = Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Fact:
    """One model of one test.

    Attributes
    ----------
    test : str
        The name of the test, after that of its suite.
    model : bytes
        The model's file.
    values : dict
        For each value the element type and the shape as the test says; None if they are not known.
    answer : str
        Ours: see `ANSWERS`.
    reason : str
        Why it is worse.
    """

    test: str
    model: bytes
    values: dict[str, tuple[str | None, Shape]]
    answer: str
    reason: str


@functools.cache
def facts() -> list[Fact]:
    """Return what ``shapes.json`` has."""
    data = json.loads((Path(__file__).parent / "shapes.json").read_text("utf-8"))
    packed, models = zlib.decompress(base64.b64decode("".join(data["models"]))), []
    while packed:
        size = int.from_bytes(packed[:4], "little")
        models.append(packed[4 : 4 + size])
        packed = packed[4 + size :]
    return [
        Fact(
            test, model, {name: read_type(text) for name, text in values.items()}, answer, data["reasons"].get(why, "")
        )
        for model, (test, values, answer, why) in zip(models, data["facts"], strict=True)
    ]


def read_type(text: str) -> tuple[str | None, Shape]:
    """Return the element type and the shape of a text such as ``float (2, N)``; ``?`` is not known."""
    kind, _, shape = text.partition(" ")
    return None if kind == "?" else kind, None if shape == "?" else [e for e in shape[1:-1].split("; ") if e]


def answer_to(model: bytes, values: dict[str, tuple[str | None, Shape]], file: Path) -> str:
    """Return our answer to a model, which is written to *file*: the worst one of its values."""
    file.write_bytes(model)
    try:
        m = sl.read_model(file)
    except sl.SymlayoutError:
        return "refused"
    shapes = [t.shape for t in m.inputs.values() if t.shape is not None]
    dims = {str(s) for shape in shapes for e in shape for s in getattr(e, "free_symbols", ())}
    found = [_answer(kind, shape, m.tensors[name], dims) for name, (kind, shape) in values.items() if name in m.tensors]
    return min(found, key=ANSWERS.index, default="equal")


def _answer(kind: str | None, shape: Shape, ours: sl.Tensor | Unshaped, dims: set[str]) -> str:
    if kind is not None and kind not in ("sequence", "optional", "string"):
        if ours.dtype is None:
            return "weaker"
        if str(ours.dtype) != _TYPES.get(kind, kind):
            return "wrong"
    if ours.shape is None or shape is None:
        return "equal" if ours.shape is shape else "sharper" if shape is None else "weaker"
    if len(shape) != len(ours.shape):
        return "wrong"
    found = [_extent(theirs, e, dims) for theirs, e in zip(shape, map(str, ours.shape), strict=True)]
    worst = min(found, key=ANSWERS.index, default="equal")
    return "sharper" if worst == "equal" and "sharper" in found else worst


def _extent(theirs: str, ours: str, dims: set[str]) -> str:
    if theirs == ours:
        return "equal"
    known = set(re.findall(r"[A-Za-z_][\w.]*", ours)) <= dims | _FUNCTIONS
    if theirs.isdigit():
        return "wrong" if ours.isdigit() else "weaker"
    if theirs == "?" or re.match(r"_d\d|unk__", theirs):
        return "sharper" if known else "equal"
    if ours.isdigit():
        return "sharper"
    return "different" if known else "weaker"


def write(found: Sequence[tuple[str, bytes, dict[str, Any], str, str]], reasons: dict[str, str], file: Path) -> None:
    """Write tests, models, values, answers and keys of *reasons* as ``shapes.json``."""
    packed = b"".join(len(model).to_bytes(4, "little") + model for _, model, *_ in found)
    text = base64.b64encode(zlib.compress(packed, 9)).decode()
    lines = [text[at : at + 110] for at in range(0, len(text), 110)]
    rows = [[test, values, answer, why] for test, _, values, answer, why in found]
    parts = [f'"reasons": {json.dumps(reasons, indent=1)}']
    parts += ['"facts": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]", f'"models": {json.dumps(lines, indent=0)}']
    file.write_text("{\n" + ",\n".join(parts) + "\n}\n", "utf-8")
