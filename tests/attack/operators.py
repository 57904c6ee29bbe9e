"""Each operator in each version since opset 7: what our reading computes beside the runtimes.

    python -m tests.attack.operators --seconds 60 --seed 0

A case is a model of one node with drawn attributes, inputs that are left out, and outputs.  Where a runtime computes,
our answer has its shapes, its element types and its elements, but for rounding.  Where the runtimes differ from each
other, ours is that of one of them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from onnx import helper, shape_inference

import symlayout as sl
from tests.attack.one_nodes import Array, OneNode, arrays_of, drawn_node, in_a_process, model_of, seeds, versions
from tests.attack.runner import main_of
from tests.attack.runtimes import Ran, Sessions, has_onnxruntime
from tests.attack.tally import Tally, Wrong

_FOLDER = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
_RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}


def judged(model: Any, given: dict[str, Array]) -> dict[str, Ran]:
    """Return what the runtimes compute, by their names; a runtime may end its process."""
    sessions = Sessions(model)
    ways = {"reference": sessions.by_reference, "onnxruntime": sessions.by_onnxruntime}
    if not has_onnxruntime():
        del ways["onnxruntime"]
    return dict(zip(ways, in_a_process([partial(way, given) for way in ways.values()]), strict=False))


Tensors = Mapping[str, sl.Tensor]


def ours(
    model: Any, given: dict[str, Array], count: int, change: Callable[[Tensors], Tensors] = dict
) -> list[Any] | str:
    """Return our outputs, or why there are none: arrays, tensors that have no value, None where nothing is known.

    The outputs are those that *change* makes of what is read.
    """
    path = Path(_FOLDER.name) / f"{os.getpid()}.onnx"
    path.write_bytes(model.SerializeToString())
    try:
        read = sl.read_model(path).outputs
        outputs = {**read, **change({name: y for name, y in read.items() if y.rank is not None})}
    except sl.SymlayoutError as error:
        return f"refused: {error}"
    found: list[Any] = []
    for k in range(count):
        y = outputs[f"y{k}"]
        if y.rank is None:
            found.append(None)
            continue
        if any(v.body is not None and (v.body.function is None or v.body.random) for v in y.graph()):
            found.append(y)
            continue
        try:
            found.append(sl.interpret(y, *(given[x.name] for x in y.arguments())))
        except sl.SymlayoutError as error:
            if getattr(error, "kind", "") == "unbound" or "is not bound" in str(error):
                found.append(y)
                continue
            return f"not computed: {error}"
    return found


def apart(made: Any, expected: Array, op: str) -> str:
    """Return how one of our outputs differs from an array; an empty text if it does not."""
    if made is None:
        return ""
    if isinstance(made, sl.Tensor):
        if made.rank != expected.ndim or any(
            isinstance(n, int) and n != m for n, m in zip(made.shape, expected.shape, strict=True)
        ):
            return f"shape {made.shape} beside {expected.shape}"
        text = expected.dtype.kind in "USO"
        if made.dtype is not None and not text and made.dtype != expected.dtype:
            return f"type {made.dtype} beside {expected.dtype}"
        return ""
    if made.shape != expected.shape:
        return f"shape {made.shape} beside {expected.shape}"
    if expected.dtype.kind in "USO":
        return "" if made.astype(str).tolist() == expected.astype(str).tolist() else f"{made} beside {expected}"
    if made.dtype != expected.dtype:
        return f"type {made.dtype} beside {expected.dtype}"
    kind: Any = complex if expected.dtype.kind == "c" else np.float64
    loose = {8: 1e-6, 4: 3e-4, 2: 2e-2, 1: 0.13}[min(expected.dtype.itemsize, 8)]
    if expected.dtype.kind in "biu" or "int" in expected.dtype.name:
        steps = 1 if op.startswith(("QLinear", "Quantize", "DynamicQuantize")) else 0  # rounding before the last step
        with np.errstate(all="ignore"):
            far = np.abs(made.astype(object) - expected.astype(object)) if made.size else np.zeros(0)
        near = bool((far <= steps).all()) if expected.dtype.kind != "b" else bool((made == expected).all())
    else:
        with np.errstate(all="ignore"):
            largest = np.abs(expected.astype(kind))
            scale = float(np.max(largest[np.isfinite(largest)], initial=0.0))
            near = np.allclose(
                made.astype(kind),
                expected.astype(kind),
                rtol=loose,
                atol=loose * min(max(scale, 1e-3), 4),
                equal_nan=True,
            )
    return "" if near else f"{made.tolist()!s:.300} beside {expected.tolist()!s:.300}"


def differs(made: list[Any], expected: list[Array], op: str) -> str:
    """Return how our outputs differ from those of a runtime."""
    for k, (y, array) in enumerate(zip(made, expected, strict=True)):
        if op not in _RANDOM and (found := apart(y, array, op)):
            return f"output {k}: {found}"
    return ""


def _has(one: OneNode, test: Callable[[Array], Any]) -> bool:
    """Return whether an input of numbers passes a test somewhere."""
    for a in one.inputs:
        if a is not None and a.dtype.kind in "fcV" and "int" not in a.dtype.name:
            with np.errstate(all="ignore"):
                if np.any(test(a if a.dtype.kind in "fc" else a.astype(np.float32))):
                    return True
    return False


def _is_odd_type(a: Array | None) -> bool:
    return a is not None and (a.dtype.kind == "V" or a.dtype.isbuiltin != 1)


def _is_cast_out_of_range(one: OneNode) -> bool:
    return one.op.startswith("Cast") and _has(one, lambda a: ~np.isfinite(a) | (np.abs(a) > 7) | (a < 0))


def _is_label_out_of_range(one: OneNode) -> bool:
    x, labels = one.inputs[0], one.inputs[1]
    if x is None or labels is None or x.ndim < 2 or labels.dtype.kind not in "iu":
        return False
    return bool(((labels < 0) | (labels >= x.shape[1])).any())


def _reads_integers(one: OneNode) -> bool:
    return one.inputs[0] is not None and one.inputs[0].dtype.kind in "iu"


def _has_wide_pads(one: OneNode) -> bool:
    window = one.attributes.get("kernel_shape", [])
    return any(n >= k for n, k in zip(one.attributes.get("pads", []), [*window, *window], strict=False))


def _is_cropped(one: OneNode) -> bool:
    w = one.inputs[1] if len(one.inputs) > 1 else None
    spatial = one.attributes.get("kernel_shape", () if w is None else w.shape[2:])
    apart = one.attributes.get("strides", [1] * len(spatial))
    return "SAME" in str(one.attributes.get("auto_pad")) and any(map(int.__lt__, spatial, apart))


_ORDERED = {"ArgMax", "ArgMin", "Hardmax", "TopK", "MaxPool", "AveragePool", "LpPool", "RNN", "GRU", "LSTM", "Unique",
            "NonMaxSuppression", "Resize", "Upsample", "GridSample", "RoiAlign", "GlobalMaxPool", "MaxUnpool",
            "MaxRoiPool", "DeformConv", "QuantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul",
            "ScatterElements", "ScatterND", "Scatter"}  # fmt: skip
_HUGE = 1e4
_INTERPOLATING = {"GridSample", "Resize", "Upsample", "RoiAlign"}
_NOT_IN_REFERENCE = {"clip", "activations", "activation_alpha", "activation_beta"}
_NARROW = {"Cast", "CastLike", "QuantizeLinear", "DequantizeLinear", "BitCast"}

UNDECIDED: dict[str, tuple[str | None, Callable[[OneNode], bool]]] = {
    "a loss of labels that are no classes": (None, lambda one: one.op.endswith("Loss") and _is_label_out_of_range(one)),
    "a cast of floats to integers beyond their range": (None, _is_cast_out_of_range),
    "NaN in operators that compare, round or interpolate": (
        None, lambda one: one.op in _ORDERED and _has(one, np.isnan)),
    "a quantisation by a scale of 0": (None, lambda one: "Linear" in one.op and any(
        a is not None and a.size < 64 and (a == 0).any() for a in one.inputs[1:] if not _is_odd_type(a))),
    "transposed convolution with infinite weights: zeros between the elements count": (
        None, lambda one: one.op == "ConvTranspose" and _has(one, lambda a: ~np.isfinite(a))),
    "interpolated integers": (None, lambda one: one.op in _INTERPOLATING and _reads_integers(one)),
    "SAME where the stride is greater than the window: runtimes drop elements before the first window": (
        None, _is_cropped),
    "the reference evaluator has version 13 of the softmax and its kin only": (
        "reference", lambda one: one.op in ("Softmax", "LogSoftmax", "Hardmax") and one.opset < 13),
    "SAME with dilations: runtimes leave the dilations out of the pads": (None, lambda one: "SAME" in str(
        one.attributes.get("auto_pad")) and "dilations" in one.attributes),
    "huge numbers in sums of weighted elements, which cancel": (
        None, lambda one: one.op in _INTERPOLATING and _has(one, lambda a: np.abs(a) > _HUGE)),
    "windows of nothing but pads": (None, lambda one: one.op == "MaxPool" and _has_wide_pads(one)),
    "the reference evaluator adds pads to those that are computed": (
        "reference", lambda one: {"pads", "auto_pad"} <= one.attributes.keys()),
    "infinities that are quantised": (None, lambda one: "Quantize" in one.op and _has(one, np.isinf)),
    "the reference evaluator has no lengths of sequences": ("reference", lambda one: one.op in (
        "RNN", "GRU", "LSTM") and len(one.inputs) > 4 and one.inputs[4] is not None),
    "windows without elements": (None, lambda one: min(one.attributes.get("kernel_shape", [1]), default=1) < 1),
    "a depth that is no integer": (None, lambda one: one.op == "OneHot" and one.inputs[1] is not None and (
        one.inputs[1].dtype.kind == "f")),
    "the reference evaluator ignores zero points of floats": (
        "reference", lambda one: one.op == "DequantizeLinear" and "float" in str(getattr(one.inputs[0], "dtype", ""))),
    "the reference evaluator cuts the causal mask to one row where attn_mask has one": (
        "reference", lambda one: one.op == "Attention" and len(one.inputs) > 3 and one.inputs[3] is not None and (
            one.inputs[3].ndim < 2 or one.inputs[3].shape[-2] == 1)),
    "the reference evaluator has no kernel for these": ("reference", lambda one: one.op in ("LRN", "GlobalMaxPool")),
    "the reference evaluator adds integers of 32 bits in 32 bits": (
        "reference", lambda one: one.op == "ReduceMean" and _reads_integers(one)),
    "elements that MaxUnpool writes outside": (None, lambda one: one.op == "MaxUnpool"),
    "the reference evaluator ignores clip and activations": (
        "reference", lambda one: one.op in ("RNN", "GRU", "LSTM") and bool(_NOT_IN_REFERENCE & one.attributes.keys())),
    "the reference evaluator rounds narrow types between the steps": (
        "reference", lambda one: one.op not in _NARROW and any(map(_is_odd_type, one.inputs))),
    "onnxruntime computes logarithms of integers in integers": (
        "onnxruntime", lambda one: "Log" in one.op and _reads_integers(one)),
}  # fmt: skip
"""Where a judge says nothing, or none does: the standard leaves the case open, or the judge departs from its text."""


def _types(model: Any) -> list[int]:
    """Return the numbers of the types that the standard gives the outputs; 0 for those that are not known."""
    try:
        graph = shape_inference.infer_shapes(model, strict_mode=False).graph
    except Exception:  # the package refuses what a runtime runs
        return [0] * len(model.graph.output)
    return [o.type.tensor_type.elem_type for o in graph.output]


def judges(model: Any, one: OneNode, given: dict[str, Array]) -> dict[str, list[Array]]:
    """Return what those runtimes compute that can judge a case."""
    types = [helper.tensor_dtype_to_np_dtype(t) if t > 0 else None for t in _types(model)]
    found = {}
    for name, ran in judged(model, given).items():
        arrays = ran.arrays
        if arrays is None or any(t is not None and a.dtype != t for a, t in zip(arrays, types, strict=True)):
            continue
        found[name] = arrays
    return found


def compare(one: OneNode) -> tuple[str, str]:
    """Return what a case shows, and a text if the answer is wrong."""
    try:
        model, given = model_of(one), arrays_of(one)
    except (AssertionError, TypeError, ValueError, OverflowError):
        return "no model", ""
    ran = judges(model, one, given)
    if not ran:
        return "not run", ""
    made = ours(model, given, one.outputs)
    open_ = [judge for judge, holds in UNDECIDED.values() if holds(one)]
    if isinstance(made, str):
        if None in open_ and made.startswith("not computed"):
            return "undecided", ""
        if "onnxruntime" in ran or made.startswith("not computed"):
            return "wrong", f"{made}; run by {', '.join(ran)}"
        return "refused, only the reference runs it", ""
    found = {name: differs(made, arrays, one.op) for name, arrays in ran.items()}
    right = [name for name, text in found.items() if not text]
    if not right:
        if None in open_ or set(found) <= set(open_):
            return "undecided", ""
        return "wrong", "; ".join(f"{name}: {text}" for name, text in found.items())
    opaque = any(y is None or isinstance(y, sl.Tensor) for y in made)
    return f"{'shape of ' if opaque else ''}{' and '.join(sorted(right))}", ""


def attack(seed: int, tally: Tally) -> None:
    """Compare one node."""
    drawn = drawn_node(seed)
    if drawn is None:
        op, _, start, _ = versions()[seed % len(versions())]
        tally.note(f"{op}-{start}", "no tests")
        return
    subject, one, _ = drawn
    if one.op == "Loop":  # which may have no end
        tally.note(subject, "not run")
        return
    outcome, text = compare(one)
    if text:
        kind = f"{one.op}-{text[:40]}"
        tally.note_wrong(
            subject, Wrong(kind, f"case {seed}: {one}\n{text}", {"model.onnx": model_of(one).SerializeToString()})
        )
    else:
        tally.note(subject, outcome)


if __name__ == "__main__":
    for one in versions():  # once, before processes fork
        seeds(*one[:2])
    main_of("operators", attack, __doc__)
