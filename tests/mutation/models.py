"""Change models in one place, and count what `sl.verify` says of them; onnxruntime is the judge, at several sizes.

    python -m tests.mutation.models --count 200 --seed 0
    python -m tests.mutation.models --folder tests/models/exported --count 1000 --results mutants.jsonl

A change that keeps every shape is the one that breaks models silently: half of the mutants keep the shape of every
value, as far as a model has so many.  A mutant that differs and is PROVED is an error, and so is one that is REFUTED
and does not differ, not even at the sizes of the witness.  ``--results`` keeps what a run that was stopped found out:
the same command goes on with the rest.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import symlayout as sl
from tests.models.compare_shapes import inputs_at, random_inputs

_FORK = multiprocessing.get_context("fork")  # a fork has the imports already
_LIMIT = 60  # seconds for one mutant

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
                changed = next(a for a in copy.graph.node[number].attribute if a.name == attribute.name)
                changed.CopyFrom(helper.make_attribute(attribute.name, value))
                yield f"{node.name}.{attribute.name}: {change}", copy
        for first, second in itertools.pairwise(range(len(node.input))):
            copy = onnx.ModelProto.FromString(model.SerializeToString())
            into = copy.graph.node[number].input
            into[first], into[second] = into[second], into[first]
            yield f"{node.name}: inputs {first} and {second} swapped", copy
    for number, tensor in enumerate(model.graph.initializer):
        array = numpy_helper.to_array(tensor)
        for change, changed in _arrays(array):
            copy = onnx.ModelProto.FromString(model.SerializeToString())
            copy.graph.initializer[number].CopyFrom(numpy_helper.from_array(changed, tensor.name))
            yield f"{tensor.name}: {change}", copy


_SPELLINGS = {
    "DCR": ("CRD",),
    "CRD": ("DCR",),
    "reflect": ("edge", "constant"),
    "constant": ("edge", "reflect"),
    "nearest": ("linear",),
    "linear": ("nearest", "cubic"),
    "asymmetric": ("half_pixel", "align_corners"),
    "half_pixel": ("asymmetric", "align_corners", "pytorch_half_pixel"),
    "pytorch_half_pixel": ("asymmetric", "half_pixel"),
    "align_corners": ("half_pixel", "asymmetric"),
    "floor": ("ceil", "round_prefer_floor"),
    "round_prefer_floor": ("floor", "ceil"),
    "none": ("tanh",),
    "tanh": ("none",),
}  # the other values of attributes that are words: modes, how Resize rounds, which approximation


def _values(attribute: onnx.AttributeProto) -> Iterator[tuple[str, Any]]:
    value = helper.get_attribute_value(attribute)
    if attribute.type == onnx.AttributeProto.TENSOR:
        for change, array in _arrays(numpy_helper.to_array(value)):
            yield change, numpy_helper.from_array(array, value.name)
    elif attribute.name == "perm":
        for i in range(len(value)):
            for j in range(i):
                changed = list(value)
                changed[i], changed[j] = changed[j], changed[i]
                yield f"{list(value)} -> {changed}", changed
    elif attribute.type == onnx.AttributeProto.STRING:
        for other in _SPELLINGS.get(value.decode(), ()):
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
    if not array.size:
        return
    if array.dtype == np.int64:
        for k in range(array.size):
            for step in (-1, 1):
                changed = array.copy()
                with np.errstate(over="ignore"):  # the open end of a slice
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


@dataclass
class Found:
    """What the judge and `sl.verify` say of one mutant."""

    model: str
    change: str
    differs: bool
    keeps_shapes: bool
    verdict: str
    region: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def line(self) -> str:
        """The two answers in words."""
        return f"{'differs' if self.differs else 'is the same'}, {self.verdict}"

    @property
    def is_wrong(self) -> bool:
        """Whether the verdict contradicts the judge."""
        return self.line in ("differs, proved", "is the same, refuted")


Results = tuple[list[np.ndarray[Any, Any]], list[tuple[int, ...]]]


def _run(
    data: bytes, names: list[str], ends: list[str], feeds: list[dict[str, np.ndarray[Any, Any]]]
) -> Results | None:
    """Return what onnxruntime computes, and the shapes of all values; None if it refuses the model."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        shapes = [np.shape(a) for a in session.run(names, feeds[0])]
        return [a for feed in feeds for a in session.run(ends, feed)], shapes
    except Exception:  # onnxruntime has its own tree of errors, and refuses most of what no model may be
        return None


def _in_a_child(step: Callable[..., Any], *arguments: Any) -> Any:
    """Return what *step* returns in a process of its own; None if that ends, as onnxruntime does for some mutants."""
    here, there = _FORK.Pipe(duplex=False)
    child = _FORK.Process(target=lambda: there.send(step(*arguments)))
    child.start()
    there.close()
    try:
        return here.recv() if here.poll(_LIMIT) else None
    except EOFError:
        return None
    finally:
        child.kill()
        child.join()


class Subject:
    """A model whose mutants are judged.

    Attributes
    ----------
    name : str
        The name of the model.
    values : Model
        The model as it was read.
    feeds : list of dict
        Inputs at several sizes, small numbers and large ones, which reach what small ones leave behind a threshold.
    results : tuple
        What onnxruntime computes for them, and the shapes of all values that have names at the first one.
    """

    def __init__(self, name: str, model: onnx.ModelProto, folder: Path) -> None:
        self.name, self.model, self._folder = name, model, folder
        self._names = [n for node in model.graph.node for n in node.output if n]
        self.values = self._read(model)
        self.feeds = _scaled(arrays for _, arrays in itertools.islice(random_inputs(self.values, 0), 3))
        results = self.run(model, self.feeds)
        assert self.feeds, name
        assert results is not None, name
        self.results = results

    def _read(self, model: onnx.ModelProto) -> Any:
        path = self._folder / "model.onnx"
        onnx.save(model, path)
        return sl.read_model(path)

    def run(self, model: onnx.ModelProto, feeds: list[dict[str, np.ndarray[Any, Any]]]) -> Results | None:
        """Return what onnxruntime computes, and the shapes of values that the model here has; None if it refuses."""
        shown = onnx.ModelProto()
        shown.CopyFrom(model)
        ends = [o.name for o in model.graph.output]
        shown.graph.output.extend(onnx.ValueInfoProto(name=n) for n in self._names if n not in ends)
        found: Results | None = _in_a_child(_run, shown.SerializeToString(), self._names, ends, feeds)
        return found

    def mutants(self, draw: random.Random, done: set[str]) -> Iterator[tuple[str, onnx.ModelProto, Results]]:
        """Yield mutants that onnxruntime runs, those that keep every shape and others by turns, but none *done*."""
        waiting: tuple[list[Any], list[Any]] = ([], [])
        changes = list(mutants(self.model))
        draw.shuffle(changes)
        left = iter(changes)
        for keeps in itertools.cycle((True, False)):
            while not waiting[keeps]:
                found = next(left, None)
                if found is None:
                    yield from (m for m in waiting[not keeps] if m[0] not in done)
                    return
                what, model = found
                results = self.run(model, self.feeds)
                if results is not None:
                    waiting[results[1] == self.results[1]].append((what, model, results))
            what, model, results = waiting[keeps].pop(0)
            if what not in done:
                yield what, model, results

    def judged(self, what: str, model: onnx.ModelProto, results: Results) -> Found:
        """Return what the judge and `sl.verify` say of a mutant."""
        start = time.process_time()
        region: list[str] = []
        sizes = None
        try:
            found = sl.verify(self.values, self._read(model))
            verdict, region = found.verdict.value, list(found.region or ())
            sizes = found.witness.dims if found.witness else None
        except sl.SymlayoutError as error:
            verdict = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        seconds = round(time.process_time() - start, 2)
        other, same = differ(self.results[0], results[0]), self.results[1] == results[1]
        if sizes and not other:
            other = self._differs_at(sizes, model)
        return Found(self.name, what, other, same, verdict, region, seconds)

    def _differs_at(self, sizes: Mapping[Any, int], model: onnx.ModelProto) -> bool:
        """Return whether onnxruntime computes something else at the sizes of a witness, or refuses the mutant only.

        It may refuse both, for empty arrays: then it is no judge.
        """
        feeds = _scaled([inputs_at(self.values, sizes, 0)])
        before, after = self.run(self.model, feeds), self.run(model, feeds)
        return before is not None and (after is None or differ(before[0], after[0]))


def _scaled(feeds: Iterable[Mapping[str, np.ndarray[Any, Any]]]) -> list[dict[str, np.ndarray[Any, Any]]]:
    """Return each of the inputs with small numbers and with large ones."""
    return [{name: _redrawn(a, scale) for name, a in arrays.items()} for arrays in feeds for scale in (1, 16)]


def _redrawn(array: np.ndarray[Any, Any], scale: int) -> np.ndarray[Any, Any]:
    """Return floats times *scale*; small indices in place of integers that are all one."""
    if array.dtype.kind == "f":
        return np.asarray(array * array.dtype.type(scale))
    low, high = (0, 2) if array.dtype.kind in "bu" else (-4, 8)  # indices from the end reach the last row of a table
    return np.array(np.random.default_rng(scale).integers(low, high, array.shape), array.dtype)


def _summary(found: list[Found]) -> list[str]:
    """Return the counts of answers: of all mutants, and of those that keep every shape."""
    counts = Counter(f.line.partition(":")[0] for f in found)
    keeping = Counter(f.line.partition(":")[0] for f in found if f.keeps_shapes)
    lines = [f"{count:6} {line} ({keeping[line]} keep every shape)" for line, count in sorted(counts.items())]
    different = [f for f in found if f.differs]
    share = sum(f.verdict == "refuted" for f in different) / max(1, len(different))
    return [*lines, f"{len(found)} mutants of {len({f.model for f in found})} models: {share:.1%} of those that differ"
            f" are refuted, {sum(f.is_wrong for f in found)} verdicts are wrong"]  # fmt: skip


def main() -> int:
    """Count the verdicts of mutants, and print those that are wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="how many mutants")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--folder", type=Path, help="change the models of this folder, not those that are built here")
    parser.add_argument("--model", action="append", default=[], help="models whose name begins so; all without it")
    parser.add_argument("--results", type=Path, help="add a line of JSON for each mutant to this file")
    arguments = parser.parse_args()
    earlier: list[Found] = []
    if arguments.results is not None and arguments.results.exists():
        earlier = [Found(**json.loads(line)) for line in arguments.results.read_text().splitlines()]
    models = _models(arguments.folder, tuple(arguments.model))
    each = -(-arguments.count // len(models))
    found: list[Found] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, make in models:
            mine = [f for f in earlier if f.model == name][:each]
            if len(mine) < each:
                subject = Subject(name, make(), Path(folder))
                draw = random.Random(f"{arguments.seed} {name}")
                for mutant in subject.mutants(draw, {f.change for f in mine}):
                    if len(mine) == each:
                        break
                    mine.append(subject.judged(*mutant))
                    _tell(mine[-1], arguments.results)
            found += mine
            if len(found) >= arguments.count:
                break
    print("\n".join(_summary(found)))
    return int(any(f.is_wrong for f in found))


def _models(folder: Path | None, names: tuple[str, ...]) -> list[tuple[str, Callable[[], onnx.ModelProto]]]:
    """Return the models by name: those of a folder, or those built here, with any batch and with a fixed one."""
    models: list[tuple[str, Callable[[], onnx.ModelProto]]]
    if folder is None:
        models = [(f"{make.__name__}_{batch}", partial(built, make, batch)) for make in MODELS for batch in ("N", 2)]
    else:
        models = [(path.stem, partial(onnx.load, path)) for path in sorted(folder.glob("*.onnx"))]
    return [(name, make) for name, make in models if not names or name.startswith(names)]


def _tell(found: Found, results: Path | None) -> None:
    if results is not None:
        with results.open("a") as file:
            file.write(json.dumps(asdict(found)) + "\n")
    if found.is_wrong:
        print(f"WRONG: {found.model} {found.change}: {found.line}", flush=True)
    elif found.verdict not in ("proved", "refuted"):
        print(f"{found.model} {found.change}: {found.line} {' and '.join(found.region)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
