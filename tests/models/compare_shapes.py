"""Measure the shapes of exported networks: ``python -m tests.models.compare_shapes``.

For each file of ``tests/models/exported``: the share of dims, over all values, that are known in the dims of the
inputs, by symlayout, by onnx's shape inference with data propagation, and by onnxruntime's symbolic shape inference;
agreement with executions by onnxruntime at five sizes; and milliseconds for each node.  ``--docs`` writes the table to
``docs/models.md``.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import random
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import symlayout as sl
from symlayout.algebra.facts import Facts
from symlayout.models.model import Model
from tests.support.paths import ROOT

FOLDER = ROOT / "tests" / "models" / "exported"
DATA_DEPENDENT = ("NonZero", "Compress", "Unique", "NonMaxSuppression")
SIZES = 5


@dataclass(frozen=True)
class Row:
    """What is measured of one model."""

    name: str
    nodes: int
    dims: int
    ours: int
    onnx: int
    runtime: int | None
    points: int
    wrong: tuple[str, ...]
    milliseconds: float


def is_known(e: Any, names: set[str], facts: Facts | None = None) -> bool:
    """Return whether an extent is a number, made of the dims *names*, or depends on data by its operation's nature.

    How often a loop runs depends on data too: that is known where *facts* bound it by a number or by the dims *names*.
    """
    if isinstance(e, int):
        return True
    return all(
        s.name in names
        or s.name.startswith(DATA_DEPENDENT)
        or (s.name.startswith("Loop") and facts is not None and is_bounded(s.name, names, facts))
        for s in e.free_symbols
    )


def is_bounded(name: str, names: set[str], facts: Facts) -> bool:
    """Return whether a dim has an upper bound: a number, or one of a fact in the dims *names*."""
    if facts.high.get(name) is not None:
        return True
    return any(f.names - {name} <= names and f.terms.get((name,), 0) < 0 for f in facts.known if name in f.names)


def shares(m: Model) -> tuple[int, int]:
    """Return how many dims all computed values have, and how many are known."""
    names = {s.name for t in m.inputs.values() for e in t.shape for s in getattr(e, "free_symbols", ())}
    dims = known = 0
    for node in m.nodes:
        for name in node.outputs:
            if name in m.tensors:
                shape = m.tensors[name].shape
                dims += len(shape)
                known += sum(is_known(e, names, m.tensors[name].facts) for e in shape)
    return dims, known


def known_by_file(made: onnx.ModelProto, values: set[str]) -> int:
    """Return how many dims of *values* the file states, as numbers or in the names of the inputs' dims."""
    names = {d.dim_param for v in made.graph.input for d in v.type.tensor_type.shape.dim if d.dim_param}
    infos = {v.name: v for v in [*made.graph.value_info, *made.graph.output]}
    count = 0
    for name in values & infos.keys():
        for d in infos[name].type.tensor_type.shape.dim:
            words = set(re.findall(r"[^\W\d]\w*", d.dim_param)) - {"floor", "ceiling", "Max", "Min", "Mod"}
            count += d.HasField("dim_value") or bool(d.dim_param and words <= names)
    return count


def executed(m: Model, path: Path, seed: int) -> list[tuple[dict[Any, int], dict[str, tuple[int, ...]]]]:
    """Return random sizes, and the shapes that onnxruntime computes there for each value."""
    made = onnx.load(path)
    given = {v.name for v in made.graph.output}
    for node in made.graph.node:
        made.graph.output.extend(onnx.ValueInfoProto(name=n) for n in node.output if n and n not in given)
    import onnxruntime as ort  # here, so that the module is read without it

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
    found: list[tuple[dict[Any, int], dict[str, tuple[int, ...]]]] = []
    for sizes, arrays in random_inputs(m, seed):
        results = session.run(None, arrays)
        shapes = {o.name: np.shape(r) for o, r in zip(session.get_outputs(), results, strict=True)}
        found.append((sizes, shapes))
    return found


def random_inputs(m: Model, seed: int) -> Iterator[tuple[dict[Any, int], dict[str, np.ndarray[Any, Any]]]]:
    """Yield random sizes that are valid for a model, and its inputs there."""
    symbols = sorted({s for t in m.inputs.values() for e in t.shape for s in getattr(e, "free_symbols", ())}, key=str)
    rnd = random.Random(seed)
    found = 0
    for _ in range(40 * SIZES):
        if found == (SIZES if symbols else 1):
            break
        sizes = {s: rnd.choice((1, 2, 3, 4)) if s.name == "N" else 8 * rnd.randrange(2, 8) for s in symbols}
        try:
            bound = {name: t.subs({s.name: n for s, n in sizes.items()}) for name, t in m.outputs.items()}
        except sl.ShapeError:
            continue
        assert bound
        found += 1
        yield sizes, inputs_at(m, sizes, seed)


def inputs_at(m: Model, sizes: Mapping[Any, int], seed: int) -> dict[str, np.ndarray[Any, Any]]:
    """Return inputs of a model at some sizes: random floats, and integers that are all one."""
    arrays = {}
    for name, t in m.inputs.items():
        shape = [e if isinstance(e, int) else int(e.subs(sizes)) for e in t.shape]
        dtype = t.dtype or np.dtype(np.float32)
        arrays[name] = np.ones(shape, dtype) if dtype.kind in "iub" else np.asarray(
            np.random.default_rng(seed).standard_normal(shape), dtype)  # fmt: skip
    return arrays


def disagreements(m: Model, path: Path, seed: int = 0) -> tuple[int, list[str]]:
    """Return at how many sizes the model was executed, and where a shape differs from ours."""
    wrong: list[str] = []
    points = executed(m, path, seed)
    for sizes, shapes in points:
        for name, shape in shapes.items():
            if name not in m.tensors:
                continue
            wrong += difference(name, m.tensors[name], shape, sizes)
    return len(points), wrong


def difference(name: str, t: sl.Tensor, shape: Sequence[int | None], sizes: dict[Any, int]) -> Iterator[str]:
    """Yield where *shape*, computed at *sizes*, is not the shape of *t*; None is an extent that is not known."""
    if t.rank != len(shape):
        yield f"{name} has rank {len(shape)}, not {t.rank}"
        return
    for axis, (e, n) in enumerate(zip(t.shape, shape, strict=True)):
        value = e if isinstance(e, int) else e.subs(sizes)
        if n is None:
            continue
        if getattr(value, "free_symbols", None):
            low, high = t.bounds()[axis]
            if n < (low or 0) or (high is not None and n > high):
                yield f"axis {axis} of {name} has {n} elements, outside {low} to {high}"
        elif int(value) != n:
            yield f"axis {axis} of {name} has {n} elements at {sizes}, not {e}"


def timed(path: Path) -> tuple[Model, float]:
    """Return a model, and the processor time of the faster of two readings: the first one may import modules."""
    seconds = []
    for _ in range(2):
        start = time.process_time()
        m = sl.read_model(path)
        seconds.append(time.process_time() - start)
    return m, min(seconds)


def measured(path: Path) -> Row:
    """Return what is measured of one model."""
    m, seconds = timed(path)
    dims, ours = shares(m)
    values = {n for node in m.nodes for n in node.outputs if n in m.tensors}
    made = onnx.load(path)
    del made.graph.value_info[:]
    theirs = known_by_file(onnx.shape_inference.infer_shapes(made, data_prop=True), values)
    points, wrong = disagreements(m, path)
    count = max(len(m.nodes), 1)
    return Row(path.stem, len(m.nodes), dims, ours, theirs, by_runtime(made, values), points, tuple(wrong),
               seconds / count * 1e3)  # fmt: skip


def by_runtime(made: onnx.ModelProto, values: set[str]) -> int | None:
    """Return how many dims onnxruntime's symbolic inference knows; None if it fails."""
    infer = importlib.import_module("onnxruntime.tools.symbolic_shape_infer").SymbolicShapeInference.infer_shapes
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            done = infer(made, auto_merge=True, guess_output_rank=False)
    except Exception:  # it raises whatever its rules raise
        return None
    return known_by_file(done, values)


def table(rows: list[Row]) -> str:
    """Return the rows as Markdown."""

    def share(part: int | None, row: Row) -> str:
        return "fails" if part is None else f"{100 * part / row.dims:.1f} %"

    lines = ["| model | nodes | symlayout | onnx | onnxruntime | sizes | differences | ms a node |",
             "|---|--:|--:|--:|--:|--:|--:|--:|"]  # fmt: skip
    for r in rows:
        shown = (share(r.ours, r), share(r.onnx, r), share(r.runtime, r))
        lines.append(
            f"| {r.name} | {r.nodes} | {' | '.join(shown)} | {r.points} | {len(r.wrong)} | {r.milliseconds:.2f} |"
        )
    whole = sum(r.dims for r in rows)
    sums = [sum(r.ours for r in rows), sum(r.onnx for r in rows), sum(r.runtime or 0 for r in rows)]
    nodes = sum(r.nodes for r in rows)
    mean = sum(r.milliseconds * r.nodes for r in rows) / max(nodes, 1)
    lines.append(
        f"| all | {nodes} | {' | '.join(f'{100 * n / whole:.1f} %' for n in sums)} | {sum(r.points for r in rows)} | "
        f"{sum(len(r.wrong) for r in rows)} | {mean:.2f} |"
    )
    return "\n".join(lines)


PAGE = """# Shapes of whole models

Small networks of known architectures, with random weights (`tests/models/make_exported.py` exports them). The columns
say which share of the dims of all computed values is known as a number, an expression in the dims of the inputs, or a
bounded dim of an operation whose result depends on data. Beside symlayout: `onnx.shape_inference` with data
propagation, and onnxruntime's `symbolic_shape_infer`. Each model is executed by onnxruntime at random sizes; a
difference is a value with another shape there. Times are processor time to read a model and to infer all its shapes,
the faster of two readings.
A suffix names the exporter: `_dynamo` is `torch.onnx.export(dynamo=True)`, `keras_` is tf2onnx
(`tests/models/make_keras.py`), the others are torch's TorchScript exporter.
`_static`, `_batch` and `_dynamic` have no dynamic axes, the batch only, or all of them.

`python -m tests.models.compare_shapes --docs` writes this page.

"""


OPENVINO = """

## Models in OpenVINO's IR

The same networks as OpenVINO saves them (`tests/models/make_openvino.py`); `_v10` is the older version of the format.
OpenVINO's own column is the share of dims that it knows as numbers: it has intervals for the others. For each model the
inputs get random sizes, and OpenVINO infers all shapes again; a difference is a value with another shape there.

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="the models, or paths of other .onnx files; all models if none")
    parser.add_argument("--docs", action="store_true", help="write the table to docs/models.md")
    arguments = parser.parse_args()
    from tests.models import compare_openvino  # which imports this module

    rows = []
    others = [Path(name) for name in arguments.names if name.endswith(".onnx")]
    chosen = [path for path in sorted(FOLDER.glob("*.onnx")) if not arguments.names or path.stem in arguments.names]
    for path in [*chosen, *others]:
        rows.append(measured(path))
        print(rows[-1].name, f"{rows[-1].ours}/{rows[-1].dims}", *rows[-1].wrong[:3], flush=True)
    print(table(rows))
    if arguments.docs:
        irs = compare_openvino.table([compare_openvino.measured(path) for path in sorted(FOLDER.glob("*.xml"))])
        print(irs)
        text = PAGE + table(rows) + OPENVINO + irs + "\n"
        (ROOT / "docs" / "models.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
