"""Models of one node that is odd in one place: the reader answers, or raises an error of its own.

    python -m tests.attack.one_node_models --seconds 60 --seed 0

Each operator in each version: an input is left out, stands in another's place, has another rank or another type; an
attribute is missing, of another type, or an odd number; an output is missing or one too many.  What onnxruntime runs is
read.  A sample is optimised, and verified beside itself.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from onnx import defs, helper

import symlayout as sl
from tests.attack.one_nodes import OneNode, arrays_of, drawn_node, in_a_process, model_of, seeds, versions
from tests.attack.runner import main_of
from tests.attack.runtimes import Sessions, has_onnxruntime
from tests.attack.tally import Tally, Wrong

_FOLDER = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
_ODD = (0, -1, -2, 1, 2, 3, 7, 1 << 31, -(1 << 63), (1 << 63) - 1)
_OTHER_TYPES = ("float32", "float16", "float64", "int64", "int32", "int8", "uint8", "bool", "bfloat16", "complex64")


def _left_out(one: OneNode, rnd: random.Random) -> OneNode:
    inputs = list(one.inputs)
    k = rnd.randrange(len(inputs))
    inputs[k : k + 1] = rnd.choice(([], [None]))
    return replace(one, inputs=inputs, constants=set())


def _one_more(one: OneNode, rnd: random.Random) -> OneNode:
    return replace(one, inputs=[*one.inputs, rnd.choice((None, *one.inputs))])


def _swapped(one: OneNode, rnd: random.Random) -> OneNode:
    inputs = list(one.inputs)
    a, b = rnd.randrange(len(inputs)), rnd.randrange(len(inputs))
    inputs[a], inputs[b] = inputs[b], inputs[a]
    return replace(one, inputs=inputs)


def _changed(one: OneNode, rnd: random.Random, change: Callable[[Any], Any]) -> OneNode:
    inputs = list(one.inputs)
    k = rnd.randrange(len(inputs))
    if inputs[k] is not None:
        with np.errstate(all="ignore"):
            inputs[k] = change(inputs[k])
    return replace(one, inputs=inputs)


def _of_another_rank(one: OneNode, rnd: random.Random) -> OneNode:
    def change(a: Any) -> Any:
        flat = a.reshape(-1)
        ways = [a[None], a[..., None, None], flat, flat[:0]]
        if a.size:
            ways += [a[0] if a.ndim else a, flat[0], a[..., :0] if a.ndim else a]
        return np.asarray(rnd.choice(ways))

    return _changed(one, rnd, change)


def _of_another_type(one: OneNode, rnd: random.Random) -> OneNode:
    dtype = helper.tensor_dtype_to_np_dtype(helper.TensorProto.BFLOAT16)
    other = rnd.choice(_OTHER_TYPES)

    def change(a: Any) -> Any:
        return a if a.dtype.kind in "USO" else a.astype(dtype if other == "bfloat16" else other)

    return _changed(one, rnd, change)


def _of_odd_elements(one: OneNode, rnd: random.Random) -> OneNode:
    def change(a: Any) -> Any:
        made = np.array(a)
        if made.size and made.dtype.kind in "iuf":
            odd = rnd.choice(_ODD)
            if made.dtype.kind != "f":
                limits = np.iinfo(made.dtype)
                odd = min(max(odd, int(limits.min)), int(limits.max))
            made.reshape(-1)[rnd.randrange(made.size)] = odd
        return made

    return _changed(one, rnd, change)


def _without_attribute(one: OneNode, rnd: random.Random) -> OneNode:
    gone = rnd.choice(sorted(one.attributes)) if one.attributes else ""
    return replace(one, attributes={n: v for n, v in one.attributes.items() if n != gone})


def _with_odd_attribute(one: OneNode, rnd: random.Random) -> OneNode:
    schema = defs.get_schema(one.op, one.opset, one.domain)
    names = [*schema.attributes, "unheard_of"] if rnd.random() < 0.1 else [*schema.attributes]
    if not names or one.op == "Constant":  # onnxruntime takes one of several values
        return one
    name = rnd.choice(sorted(names))
    kind = schema.attributes[name].type.name if name in schema.attributes else "INT"
    known = one.attributes.get(name)
    if kind == "INTS":
        listed = list(known) if isinstance(known, list) else [1, 1]
        if listed:
            listed[rnd.randrange(len(listed))] = rnd.choice(_ODD)
        value: Any = rnd.choice((listed, listed[1:], [*listed, 1], [], 3))
    elif kind == "INT":
        value = rnd.choice((*_ODD, *_ODD, 1.5, "x", [1]))
    elif kind == "FLOAT":
        value = rnd.choice((0.0, -1.0, float("nan"), float("inf"), 3e38, 1e-45, 2, "x"))
    elif kind == "STRING":
        value = rnd.choice(("", "x", "LINEAR", "none", 1))
    elif kind in ("FLOATS", "STRINGS"):
        value = rnd.choice(([], ["x"], [1.0], [1.0] * 9, ["Tanh"] * 9))
    else:
        return one
    return replace(one, attributes={**one.attributes, name: value})


def _with_other_outputs(one: OneNode, rnd: random.Random) -> OneNode:
    return replace(one, outputs=rnd.choice((one.outputs + 1, max(one.outputs - 1, 1), 1, 9)))


CHANGES = {
    "input left out": _left_out,
    "input too many": _one_more,
    "inputs swapped": _swapped,
    "another rank": _of_another_rank,
    "another type": _of_another_type,
    "odd elements": _of_odd_elements,
    "no attribute": _without_attribute,
    "odd attribute": _with_odd_attribute,
    "other outputs": _with_other_outputs,
}


def odd_node(seed: int) -> tuple[str, str, OneNode] | None:
    """Return an operator with its version, what is odd, and the node; None if the operator has no tests."""
    drawn = drawn_node(seed, changed=False)
    if drawn is None:
        return None
    subject, one, rnd = drawn
    what = rnd.choice(sorted(CHANGES))
    if not one.inputs and what not in ("no attribute", "odd attribute", "other outputs"):
        what = "odd attribute"
    return subject, what, CHANGES[what](one, rnd)


def read(data: bytes, *, thoroughly: bool) -> str:
    """Read a model and ask for all that it has; return what it is: "answer", or the name of our error.

    Other errors are raised.
    """
    path = Path(_FOLDER.name) / f"{os.getpid()}.onnx"
    path.write_bytes(data)
    try:
        model = sl.read_model(path)
        for tensor in (*model.outputs.values(), *model.tensors.values()):
            str(tensor.shape), tensor.requires, tensor.bounds()
        if thoroughly:
            found = sl.verify(path, path)
            if found.verdict is sl.Verdict.REFUTED:
                return "REFUTED beside itself"
            sl.optimize(path)
    except sl.SymlayoutError as error:
        return type(error).__name__
    return "answer"


def attack(seed: int, tally: Tally) -> None:
    """Read one model."""
    drawn = odd_node(seed)
    if drawn is None:
        op, _, start, _ = versions()[seed % len(versions())]
        tally.note(f"{op}-{start}", "no tests")
        return
    subject, what, one = drawn
    try:
        model = model_of(one)
    except (AssertionError, TypeError, ValueError, OverflowError):
        tally.note(subject, "no model")
        return
    data = model.SerializeToString()
    outcome = read(data, thoroughly=random.Random(seed).random() < 0.15)
    wrong = outcome.startswith("REFUTED")
    if outcome not in ("answer", "REFUTED beside itself") and has_onnxruntime():
        (ran,) = in_a_process([partial(Sessions(model).by_onnxruntime, arrays_of(one))]) or (None,)
        if ran is not None and ran.arrays is not None:
            wrong, outcome = True, f"{outcome}, but onnxruntime runs it"
    if wrong:
        text = f"case {seed}: {what}: {one}\n{outcome}"
        tally.note_wrong(subject, Wrong(f"{one.op}-{what}", text, {"model.onnx": data}))
    else:
        tally.note(subject, outcome)


if __name__ == "__main__":
    for one in versions():  # once, before processes fork
        seeds(*one[:2])
    main_of("one_node_models", attack, __doc__)
