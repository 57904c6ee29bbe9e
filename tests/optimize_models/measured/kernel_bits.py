"""Measure where onnxruntime's kernels round in another way once a constant is folded, or a cast crosses a transpose.

    python -m tests.optimize_models.measured.kernel_bits --docs

Each model runs twice with optimisation off and one thread: with a constant that a Transpose makes, and with the same
constant as an initializer; or with a cast before a Transpose, and behind it.  The rows are sizes of the first operand,
so that a kernel for one row, for few and for many runs.  ``--docs`` writes ``docs/kernel-bits.md``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from benchmarks.machine import processor
from tests.support.paths import ROOT

ROWS = (1, 2, 3, 4, 5, 7, 8, 16, 17, 64)
Array = np.ndarray[Any, Any]


def node(op: str, *inputs: str, **attributes: Any) -> NodeProto:
    """Return a node that makes the output."""
    return helper.make_node(op, list(inputs), ["y"], **attributes)


@dataclass(frozen=True)
class Case:
    """Two models that compute the same: what they differ in, and the shape of their input by a number of rows.

    Attributes
    ----------
    what, sizes : str
        What is folded or moved, and the sizes.
    models : tuple of ModelProto
        Before and after.
    shape : function
        Returns the shape of the input for a number of rows.
    dtype : dtype
        The type of the input.
    """

    what: str
    sizes: str
    models: tuple[ModelProto, ModelProto]
    shape: Callable[[int], tuple[int, ...]]
    dtype: Any = np.float32


def model(nodes: Sequence[NodeProto], constants: dict[str, Array], rank: int, dtype: Any) -> ModelProto:
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info("x", kind, [None] * rank)],
        [onnx.ValueInfoProto(name="y")],
        [numpy_helper.from_array(a, name) for name, a in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def folded(
    what: str,
    sizes: str,
    weights: Array,
    perm: Sequence[int],
    last: Sequence[NodeProto],
    shape: Callable[[int], tuple[int, ...]],
    **others: Array,
) -> Case:
    """Return a case of weights that a Transpose makes, or that are stated."""
    turned = helper.make_node("Transpose", ["v"], ["w"], perm=list(np.argsort(perm)))
    rank, dtype = len(shape(1)), weights.dtype
    stated = model(last, {"w": weights, **others}, rank, dtype)
    computed = model([turned, *last], {"v": weights.transpose(perm).copy(), **others}, rank, dtype)
    return Case(what, sizes, (computed, stated), shape, dtype)


def cases() -> Iterator[Case]:
    random = np.random.default_rng(0)

    def floats(*shape: int, dtype: Any = np.float32) -> Array:
        return random.normal(size=shape).astype(dtype)

    for terms, columns in ((8, 4), (64, 16), (128, 64), (128, 1), (128, 256), (129, 64), (256, 256), (512, 16)):
        sizes, weights = f"{terms} terms, {columns} columns", floats(terms, columns)
        rows = partial(_shape, (None, terms))
        yield folded("MatMul, second operand", sizes, weights, (1, 0), [node("MatMul", "x", "w")], rows)
        sums = [node("Gemm", "x", "w", "b")]
        yield folded("Gemm, second operand", sizes, weights, (1, 0), sums, rows, b=floats(columns))
    batch, left = [node("MatMul", "x", "w")], [node("MatMul", "w", "x")]
    rows = partial(_shape, (3, None, 256))
    yield folded("MatMul, batches of matrices", "256 terms", floats(3, 256, 64), (0, 2, 1), batch, rows)
    yield folded("MatMul, first operand", "256 terms", floats(64, 256), (1, 0), left, partial(_shape, (256, None)))
    for k in (1, 3):
        rows = partial(_shape, (None, 64, 9, 9))
        yield folded("Conv, weights", f"{k} x {k}", floats(32, 64, k, k), (2, 3, 1, 0), [node("Conv", "x", "w")], rows)
        back = [node("ConvTranspose", "x", "w")]
        yield folded("ConvTranspose, weights", f"{k} x {k}", floats(64, 32, k, k), (2, 3, 0, 1), back, rows)
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        rows = partial(_shape, (5, None, 64))
        weights, again = floats(1, gates * 16, 64), floats(1, gates * 16, 16)
        layer = [node(op, "x", "w", "r", hidden_size=16)]
        yield folded(f"{op}, weights", "64 terms", weights, (0, 2, 1), layer, rows, r=again)
        layer = [node(op, "x", "i", "w", hidden_size=16)]
        yield folded(f"{op}, recurrence", "16 terms", again, (0, 2, 1), layer, rows, i=weights)
    yield from _casts(floats)


def _casts(floats: Callable[..., Array]) -> Iterator[Case]:
    """Yield a cast before a Transpose or behind it, and transposes that cancel, before operations on float16."""
    weights = floats(12, 8).astype(np.float16)
    cast, turn = ("Cast", {"to": TensorProto.FLOAT16}), ("Transpose", {"perm": [0, 2, 1]})
    pairs = {
        "a cast to float16 crosses a Transpose": ([cast, turn], [turn, cast]),
        "transposes between operations on float16 cancel": ([cast, ("Exp", {}), turn, turn], [cast, ("Exp", {})]),
    }
    for what, steps in pairs.items():
        for last in ("Identity", "Add", "Mul", "Softmax", "MatMul"):
            made = [
                model(_chain(each, last), {"w": weights} if last == "MatMul" else {}, 3, np.float32) for each in steps
            ]
            width = 12 if last == "MatMul" and what.startswith("transposes") else 8
            shape = (None, width, 12) if width == 12 else (None, 12, 8)
            yield Case(what, f"before {last}", (made[0], made[1]), partial(_shape, shape))


def _chain(steps: Sequence[tuple[str, dict[str, Any]]], last: str) -> list[NodeProto]:
    nodes, at = [], "x"
    for k, (op, given) in enumerate(steps):
        nodes.append(helper.make_node(op, [at], [f"v{k}"], **given))
        at = f"v{k}"
    others = {"Add": [at], "Mul": [at], "MatMul": ["w"]}.get(last, [])
    return [*nodes, node(last, at, *others)]


def _shape(extents: Sequence[int | None], rows: int) -> tuple[int, ...]:
    return tuple(rows if e is None else e for e in extents)


def differing(case: Case) -> list[int]:
    """Return the numbers of rows at which the bits of both models differ."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level, options.intra_op_num_threads = 3, 1
    sessions = [
        ort.InferenceSession(m.SerializeToString(), options, providers=["CPUExecutionProvider"]) for m in case.models
    ]
    found = []
    for rows in ROWS:
        x = np.random.default_rng(rows).normal(size=case.shape(rows)).astype(case.dtype)
        a, b = (session.run(None, {"x": x})[0] for session in sessions)
        if a.tobytes() != b.tobytes():
            found.append(rows)
    return found


PAGE = """# Where folding a constant changes the bits of onnxruntime

`sl.optimize` promises that its result computes the same bits in onnxruntime with optimisation off, unless a law is
granted. Some kernels pack a constant operand, and round in another way than for one that a node makes. This page says
where that was measured. `symlayout/optimize_models/fewer_nodes/packed_operands.py` has the operands: without the law
`reassociate`, a float constant that a node makes is not folded there, unless a product of so few terms and so many rows
rounds alike.

Where a processor has no kernel for float16, onnxruntime computes in float32 between casts of its own, and drops a cast
to float16 that another one follows. So a value is rounded or not by what stands beside it. A cast to float16 crosses a
Transpose only with the law. That movement between two operations on float16 goes needs none: the promise of equal bits
is about float32 and float64.

`python -m tests.optimize_models.measured.kernel_bits --docs` measures again and writes this page.
"""


def table() -> str:
    """Return the page's table, with the versions."""
    rows = [f"onnxruntime {version('onnxruntime')}, one thread, {processor()}; rows: {', '.join(map(str, ROWS))}.", "",
            "| what | sizes | bits differ at rows |", "|---|---|---|"]  # fmt: skip
    for case in cases():
        try:
            found = differing(case)
            shown = "all" if len(found) == len(ROWS) else ", ".join(map(str, found)) or "none"
        except Exception as error:
            if not type(error).__module__.startswith("onnxruntime"):
                raise
            shown = "not run by this version"
        rows.append(f"| {case.what} | {case.sizes} | {shown} |")
        print(rows[-1], flush=True)
    return "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", action="store_true", help="write docs/kernel-bits.md")
    arguments = parser.parse_args()
    found = table()
    if arguments.docs:
        (ROOT / "docs" / "kernel-bits.md").write_text(f"{PAGE}\n{found}", encoding="utf-8")


if __name__ == "__main__":
    main()
