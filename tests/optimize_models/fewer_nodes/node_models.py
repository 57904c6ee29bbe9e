"""Small models for the rules that take nodes out, and what has to hold for whatever `sl.optimize` makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx

import symlayout as sl
from symlayout.optimize_models.optimize_model import OptimizedModel
from tests.equivalence import unoptimized_onnxruntime


def optimized(folder: Path, text: str, sizes: Sequence[Mapping[str, tuple[int, ...]]] = ()) -> OptimizedModel:
    """Return what `sl.optimize` makes of a model in ONNX's own text; both are run at some sizes of the inputs."""
    before, after = folder / "before.onnx", folder / "after.onnx"
    onnx.save(onnx.parser.parse_model(text), before)
    o = sl.optimize(before)
    o.save(after)
    onnx.checker.check_model(str(after), full_check=True)
    assert sl.verify(before, after).verdict is sl.Verdict.PROVED
    assert {p.verdict for c in o.report.changes for r in c.rewritten for p in r.proofs} <= {sl.Verdict.PROVED}
    again = sl.optimize(after)
    assert again.source.SerializeToString() == after.read_bytes()
    random = np.random.default_rng(0)
    for shapes in sizes if unoptimized_onnxruntime.is_installed() else ():
        given = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
        results = [unoptimized_onnxruntime.outputs(path, given) for path in (before, after)]
        for a, b in zip(*results, strict=True):
            assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    return o


def ops(o: sl.Model) -> list[str]:
    """Return the operations of a model in order."""
    return [node.op_type for node in o.source.graph.node]


def constant(o: sl.Model, name: str) -> list[float]:
    """Return the numbers of an initializer."""
    found: list[float] = next(onnx.numpy_helper.to_array(t) for t in o.source.graph.initializer if t.name == name)
    return np.asarray(found).tolist()  # type: ignore[no-any-return]
