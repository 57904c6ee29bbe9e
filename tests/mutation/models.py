"""Change models in one place, and count what `sl.verify` says of them; onnxruntime at several sizes is the judge.

    python -m tests.mutation.models --count 200 --seed 0

A change that keeps every shape is the one that breaks models silently, so most of the models have square images.  A
mutant that differs and is PROVED is an error, and so is one that is REFUTED and does not differ.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import symlayout as sl

Graph = tuple[list[onnx.NodeProto], list[onnx.TensorProto], list[Any]]


class _Builder:
    """Nodes and constants of a graph, with names made on the way."""

    def __init__(self, seed: int) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._draw = np.random.default_rng(seed)

    def weights(self, *shape: int) -> str:
        """Return the name of a constant of random numbers."""
        return self.constant(self._draw.normal(size=shape).astype("float32") / 2)

    def constant(self, array: Any) -> str:
        """Return the name of a constant."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def __call__(self, op: str, *inputs: str, **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=f"n{len(self.nodes)}_{op}", **attributes))
        return name

    def ints(self, *values: int) -> str:
        """Return the name of a constant of integers."""
        return self.constant(np.array(values, np.int64))


def convolutions(b: _Builder) -> str:
    """Convolutions between transposes, with a skip."""
    x = b("Transpose", "x", perm=[0, 3, 1, 2])
    y = b("Relu", b("Conv", x, b.weights(4, 4, 3, 3), b.weights(4), pads=[1, 1, 1, 1]))
    y = b("Add", b("Conv", y, b.weights(4, 4, 3, 3), pads=[2, 2, 2, 2], dilations=[2, 2]), x)
    y = b("MaxPool", y, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    return b("Transpose", y, perm=[0, 2, 3, 1])


def pixel_shuffles(b: _Builder) -> str:
    """Depth to space spelled in three ways, and space to depth."""
    x = b("Transpose", "x", perm=[0, 3, 1, 2])
    y = b("DepthToSpace", x, blocksize=2, mode="CRD")
    y = b("SpaceToDepth", b("Sigmoid", y), blocksize=2)
    y = b("Reshape", y, b.ints(0, 2, 2, 4, 4))
    y = b("Transpose", y, perm=[0, 2, 1, 4, 3])
    return b("Reshape", y, b.ints(0, 4, 4, 4))


def attention(b: _Builder) -> str:
    """One head of attention over rows."""
    x = b("Reshape", "x", b.ints(0, 16, 4))
    q, k, v = (b("MatMul", x, b.weights(4, 4)) for _ in range(3))
    scores = b("Mul", b("MatMul", q, b("Transpose", k, perm=[0, 2, 1])), b.constant(np.float32(0.5)))
    return b("Add", b("MatMul", b("Softmax", scores, axis=-1), v), x)


def slices(b: _Builder) -> str:
    """Slices, pads and a concatenation."""
    one = b("Slice", "x", b.ints(0, 0), b.ints(4, 2), b.ints(1, 2))
    two = b("Slice", "x", b.ints(0, 2), b.ints(4, 4), b.ints(1, 2))
    y = b("Concat", b("Relu", one), b("Neg", two), axis=2)
    y = b("Pad", y, b.ints(0, 1, 0, 0, 0, 0, 1, 0), mode="reflect")
    y = b("Slice", y, b.ints(5), b.ints(1), b.ints(1), b.ints(-1))
    return b("ReduceSum", b("Tile", y, b.ints(1, 1, 1, 2)), b.ints(1), keepdims=1)


def gathers(b: _Builder) -> str:
    """Gathers by constants, a split and reductions."""
    y = b("Gather", "x", b.ints(3, 1, 0, 2), axis=1)
    y = b("Mul", y, b("ReduceMean", y, axes=[2], keepdims=1))
    y = b("Sub", y, b("ReduceMax", "x", axes=[1], keepdims=1))
    return b("Transpose", b("LeakyRelu", y, alpha=0.1), perm=[0, 2, 1, 3])


MODELS: tuple[Callable[[_Builder], str], ...] = (convolutions, pixel_shuffles, attention, slices, gathers)


def built(make: Callable[[_Builder], str], batch: Any = "N") -> onnx.ModelProto:
    """Return a model of images (batch, 4, 4, 4)."""
    b = _Builder(7)
    b.nodes.append(helper.make_node("Identity", [make(b)], ["y"]))
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 4, 4, 4])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(b.nodes, make.__name__, [value], [result], b.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def mutants(model: onnx.ModelProto) -> Iterator[tuple[str, onnx.ModelProto]]:
    """Yield copies of a model that are changed in one place, with what was changed."""
    for number, node in enumerate(model.graph.node):
        for attribute in node.attribute:
            for change, value in _values(attribute):
                copy = onnx.ModelProto.FromString(model.SerializeToString())
                into = next(a for a in copy.graph.node[number].attribute if a.name == attribute.name)
                into.CopyFrom(helper.make_attribute(attribute.name, value))
                yield f"{node.name}.{attribute.name}: {change}", copy
        if len(node.input) > 1:
            copy = onnx.ModelProto.FromString(model.SerializeToString())
            first, second = copy.graph.node[number].input[:2]
            copy.graph.node[number].input[0], copy.graph.node[number].input[1] = second, first
            yield f"{node.name}: inputs swapped", copy
    for number, tensor in enumerate(model.graph.initializer):
        array = numpy_helper.to_array(tensor)
        for change, changed in _arrays(array):
            copy = onnx.ModelProto.FromString(model.SerializeToString())
            copy.graph.initializer[number].CopyFrom(numpy_helper.from_array(changed, tensor.name))
            yield f"{tensor.name}: {change}", copy


def _values(attribute: onnx.AttributeProto) -> Iterator[tuple[str, Any]]:
    value = helper.get_attribute_value(attribute)
    if attribute.name == "perm":
        for i in range(len(value)):
            for j in range(i):
                changed = list(value)
                changed[i], changed[j] = changed[j], changed[i]
                yield f"{list(value)} -> {changed}", changed
    elif attribute.name == "mode":
        for other in {b"DCR": ["CRD"], b"CRD": ["DCR"], b"reflect": ["edge", "constant"]}.get(value, []):
            yield f"{value!r} -> {other}", other
    elif attribute.type == onnx.AttributeProto.INTS:
        for k in range(len(value)):
            for step in (-1, 1):
                changed = list(value)
                changed[k] += step
                yield f"{list(value)} -> {changed}", changed
        if attribute.name == "pads":  # a begin and its end exchanged for another split of the same sum
            half = len(value) // 2
            changed = [v + 1 for v in value[:half]] + [v - 1 for v in value[half:]]
            yield f"{list(value)} -> {changed}", changed
    elif attribute.type == onnx.AttributeProto.INT:
        yield f"{value} -> {value + 1}", value + 1
        yield f"{value} -> {value - 1}", value - 1
    elif attribute.type == onnx.AttributeProto.FLOAT:
        yield f"{value} -> {value / 2}", value / 2


def _arrays(array: np.ndarray[Any, Any]) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    if array.dtype == np.int64:
        for k in range(array.size):
            for step in (-1, 1):
                changed = array.copy()
                changed.flat[k] += step
                yield f"{array.tolist()} -> {changed.tolist()}", changed
        for k in range(1, array.size):
            changed = array.copy()
            changed.flat[k], changed.flat[k - 1] = changed.flat[k - 1], changed.flat[k]
            yield f"{array.tolist()} -> {changed.tolist()}", changed
        return
    for i in range(array.ndim):
        for j in range(i):
            if array.shape[i] == array.shape[j]:
                yield f"axes {j} and {i} exchanged", np.ascontiguousarray(array.swapaxes(i, j))
    changed = array.copy()
    changed.flat[-1] += 0.25
    yield "the last element is another", changed


def outputs(model: onnx.ModelProto, sizes: Sequence[int]) -> list[np.ndarray[Any, Any]] | None:
    """Return what onnxruntime computes at several sizes of the batch; None if it refuses the model."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    found = []
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        for n in sizes:
            for scale in (1, 16):  # large inputs reach what small ones leave behind a threshold
                x = np.random.default_rng(n).normal(size=(n, 4, 4, 4)).astype("float32") * scale
                found.append(session.run(None, {"x": x})[0])
    except Exception:  # onnxruntime has its own tree of errors, and refuses most of what no model may be
        return None
    return found


def differ(a: list[np.ndarray[Any, Any]], b: list[np.ndarray[Any, Any]]) -> bool:
    """Return whether two models compute other shapes, or other numbers by more than rounding."""
    return any(x.shape != y.shape or not np.allclose(x, y, rtol=1e-4, atol=1e-5) for x, y in zip(a, b, strict=True))


def main() -> int:
    """Count the verdicts of mutants, and print those that are wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="how many mutants")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    arguments = parser.parse_args()
    drawn = random.Random(arguments.seed)
    chosen: list[tuple[int, str, onnx.ModelProto]] = []
    originals = [built(make, batch) for make in MODELS for batch in ("N", 2)]
    for k, model in enumerate(originals):
        chosen += [(k, what, mutant) for what, mutant in mutants(model)]
    drawn.shuffle(chosen)
    counts: Counter[str] = Counter()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path, other = Path(folder) / "before.onnx", Path(folder) / "after.onnx"
        for k, what, mutant in chosen:
            if sum(counts.values()) >= arguments.count:
                break
            sizes = (2,) if k % 2 else (1, 2, 5)
            expected, found = outputs(originals[k], sizes), outputs(mutant, sizes)
            if expected is None or found is None:
                continue
            judged = differ(expected, found)
            onnx.save(originals[k], path)
            onnx.save(mutant, other)
            try:
                verdict = sl.verify(path, other).verdict.value
            except sl.SymlayoutError as error:
                verdict = type(error).__name__
            line = f"{'differs' if judged else 'is the same'}, {verdict}"
            counts[line] += 1
            if line in ("differs, proved", "is the same, refuted"):
                wrong += 1
                print(f"WRONG: {originals[k].graph.name} {what}: {line}", flush=True)
            elif line in ("differs, unknown", "is the same, unknown") or "Error" in line:
                print(f"{originals[k].graph.name} {what}: {line}", flush=True)
    for line, count in sorted(counts.items()):
        print(f"{count:6} {line}")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
