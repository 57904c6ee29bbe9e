"""Optimize a model, and run it and the result in onnxruntime at sizes drawn at random, with special values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import GraphProto, NodeProto, TensorProto, numpy_helper

import symlayout as sl
from symlayout.optimize_models.optimize_model import OptimizedModel
from tests.equivalence import unoptimized_onnxruntime
from tests.support.onnx_writer import model, value_info

Shape = Sequence[int | str]

SPECIAL = np.array([-0.0, 0.0, np.nan, np.inf, -np.inf, np.finfo(np.float32).max, 1e-45], np.float32)
SIZES = (0, 1, 2, 3, 5, 8)  # of which a dim is drawn


def constants(**values: Any) -> list[TensorProto]:
    """Return initializers by their names; integers are int64, floats float32."""
    arrays = {name: np.asarray(value) for name, value in values.items()}
    return [
        numpy_helper.from_array(a.astype(np.float32) if a.dtype.kind == "f" else a, name) for name, a in arrays.items()
    ]


def ops(o: OptimizedModel) -> list[str]:
    """Return the operations of a model, in order."""
    return [n.op_type for n in o.source.graph.node]


def optimized_and_run(
    folder: Path,
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, Shape],
    given: Sequence[TensorProto] = (),
    *,
    outputs: Sequence[str] = ("y",),
    laws: Sequence[str] = (),
    runs: int = 12,
    rtol: float = 0.0,
    types: Mapping[str, int] | None = None,
    steps: int = 1,
    special: bool = True,
) -> OptimizedModel:
    """Return the optimized model after the checks that hold for every result.

    Parameters
    ----------
    laws : sequence of str
        Those that are granted; without one, the bits of both are compared.
    runs : int
        At how many sizes both are run.
    rtol : float
        By how much results may differ under a law.
    types : mapping
        The element types of inputs that are not float32, by ONNX's numbers.
    steps : int
        What each drawn size is multiplied by.
    special : bool
        Whether some elements are infinite, NaN, or the largest float: their sums depend on the order of the terms.
    """
    before, after = folder / "before.onnx", folder / "after.onnx"
    infos = [value_info(name, shape, (types or {}).get(name, TensorProto.FLOAT)) for name, shape in inputs.items()]
    made = onnx.load_from_string(model(nodes, infos, constants=given, opset=20))
    del made.graph.output[:]
    made.graph.output.extend(onnx.ValueInfoProto(name=name) for name in outputs)
    before.write_bytes(made.SerializeToString())
    values = sl.read_model(before).outputs
    del made.graph.output[:]
    made.graph.output.extend(value_info(name, [None] * values[name].rank, _kind(values[name])) for name in outputs)
    before.write_bytes(made.SerializeToString())
    o = sl.optimize(before, laws=laws)
    o.save(after)
    onnx.checker.check_model(onnx.load(after), full_check=True)
    assert sl.verify(before, after, laws=laws).verdict is sl.Verdict.PROVED
    assert o.report.after.at_most(o.report.before)
    again = sl.optimize(after, laws=laws)
    assert again.source.SerializeToString() == after.read_bytes(), [str(c) for c in again.report.changes]
    if unoptimized_onnxruntime.is_installed():  # the test goes on without it
        given_types = [i.type.tensor_type.elem_type for i in infos]
        drawn = {name: (shape, t) for (name, shape), t in zip(inputs.items(), given_types, strict=True)}
        _run(before, after, drawn, runs, rtol, steps, special)
    return o


def _run(
    before: Path,
    after: Path,
    inputs: Mapping[str, tuple[Shape, int]],
    runs: int,
    rtol: float,
    steps: int,
    special: bool,
) -> None:
    random, done = np.random.default_rng(len(inputs)), 0
    names = sorted({e for shape, _ in inputs.values() for e in shape if isinstance(e, str)})
    for k in range(4 * runs):
        sizes: dict[int | str, int] = {n: steps * (SIZES[k] if k < 2 else int(random.choice(SIZES))) for n in names}
        arrays = {
            name: _drawn(random, [e if isinstance(e, int) else sizes[e] for e in shape], dtype, special)
            for name, (shape, dtype) in inputs.items()
        }
        try:
            wanted = unoptimized_onnxruntime.outputs(before, arrays)
        except Exception as error:  # the runtime refuses these sizes: then nothing is claimed of them
            if type(error).__module__.startswith("onnxruntime"):
                continue
            raise
        found = unoptimized_onnxruntime.outputs(after, arrays)
        for a, b in zip(wanted, found, strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            if rtol:
                np.testing.assert_allclose(b, a, rtol=rtol, atol=rtol)
            else:
                assert np.array_equal(_bits(a), _bits(b)), sizes
        done += 1
        if done == runs or (not names and done == 2):
            break
    assert done


def _kind(t: sl.Tensor) -> int:
    """Return the element type of a value by ONNX's number."""
    return TensorProto.FLOAT if t.dtype is None else int(onnx.helper.np_dtype_to_tensor_dtype(t.dtype))


def _bits(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the bits of floats, with one for every NaN: their signs and payloads are not defined."""
    if a.dtype.kind != "f":
        return a
    return np.where(np.isnan(a), np.array(np.nan, a.dtype), a).view(f"u{a.dtype.itemsize}")


def _drawn(random: np.random.Generator, shape: Sequence[int], dtype: int, special: bool) -> np.ndarray[Any, Any]:
    kind = onnx.helper.tensor_dtype_to_np_dtype(dtype)
    if kind.kind == "b":
        return np.asarray(random.integers(0, 2, shape).astype(bool))
    values = random.normal(size=shape).astype(kind)
    if special and kind.kind == "f" and values.size and random.integers(2):
        places = random.random(shape) < 0.2
        values = np.where(places, random.choice(SPECIAL, shape).astype(kind), values)
    return np.asarray(values, kind)


def body(nodes: Sequence[NodeProto], outputs: Sequence[str], name: str) -> GraphProto:
    """Return a subgraph without inputs."""
    return onnx.helper.make_graph(list(nodes), name, [], [onnx.ValueInfoProto(name=each) for each in outputs])
