"""Both rules leave what is to stay, and come at the times at which they hinder no other rule."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

import symlayout as sl
from symlayout.optimize_models.fewer_nodes.biased_products import add_rows
from symlayout.optimize_models.fewer_nodes.constant_targets import state_targets
from symlayout.optimize_models.fewer_nodes.equal_nodes import merge_equal
from symlayout.optimize_models.fewer_nodes.known_constants import fold_constants
from symlayout.optimize_models.fewer_nodes.shape_numbers import respell_numbers
from symlayout.optimize_models.fewer_nodes.take_out_nodes import state_constants, take_out_nodes
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten
from tests.equivalence import unoptimized_onnxruntime
from tests.equivalence.tools import EXPORTED

TEXT = """<ir_version: 8, opset_import: ["": 17]>
g (float[N,4] x) => (float[N,4] y) <float[1] c = {2.0}> {
    k = Sqrt(c)
    a = Mul(x, k)
    b = Mul(x, k)
    y = Sub(a, b)
}"""


def read(folder: Path) -> sl.Model:
    onnx.save(onnx.parser.parse_model(TEXT), folder / "m.onnx")
    return sl.read_model(folder / "m.onnx")


def operations(source: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in source.graph.node]


def test_values_that_are_kept_are_made_as_they_are(tmp_path: Path) -> None:
    m = read(tmp_path)
    assert operations(state_constants(m)[0]) == ["Mul", "Mul", "Sub"]
    assert operations(state_constants(m, {"k"})[0]) == operations(m.source)
    assert operations(take_out_nodes(m)[0]) == ["Sqrt", "Mul", "Sub"]
    assert operations(take_out_nodes(m, {"b"})[0]) == operations(m.source)


@pytest.mark.parametrize("step", [fold_constants, state_targets, merge_equal, respell_numbers, add_rows])
def test_a_step_that_finds_nothing_changes_nothing(tmp_path: Path, step: Callable[..., list[Rewritten]]) -> None:
    text = TEXT.replace("b = Mul(x, k)", "b = Div(x, c)").replace("k = Sqrt(c)", "k = Exp(x)")
    onnx.save(onnx.parser.parse_model(text), tmp_path / "m.onnx")
    m = sl.read_model(tmp_path / "m.onnx")
    graph = EditedGraph(m.source)
    assert step(graph, m, frozenset()) == []
    assert graph.finish() == m.source


def test_each_value_that_is_made_in_another_way_has_a_proof(tmp_path: Path) -> None:
    report = sl.optimize(read(tmp_path)).report
    assert [(c.rule, len(c.rewritten)) for c in report.changes] == [("constants", 1), ("nodes", 1)]
    assert all(
        proof.verdict is sl.Verdict.PROVED for c in report.changes for each in c.rewritten for proof in each.proofs
    )
    assert all(each.proofs for c in report.changes for each in c.rewritten)


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["batch", "dynamic", "dynamo"])
def test_shapes_that_are_read_once_keep_no_movement(kind: str) -> None:
    assert sl.optimize(EXPORTED / f"shufflenet_{kind}.onnx").report.after.transposes == 0


@pytest.mark.parametrize(
    ("name", "most"),
    [
        pytest.param("llama_batch", 72, marks=pytest.mark.slow),
        pytest.param("swin_dynamic", 56, marks=pytest.mark.slow),
        ("gru_batch", 16),
        ("detector_dynamic", 11),
    ],
)
def test_an_export_has_few_nodes_and_the_same_bits(tmp_path: Path, name: str, most: int) -> None:
    before = EXPORTED / f"{name}.onnx"
    o = sl.optimize(before)
    o.save(tmp_path / "after.onnx")
    assert len(o.source.graph.node) <= most
    m = sl.read_model(before)
    random = np.random.default_rng(0)
    sizes = {"N": 3, "H": 32, "W": 16, "S": 7}
    given = {}
    for value, t in m.inputs.items():
        shape = [e if isinstance(e, int) else sizes[str(e)] for e in t.shape]
        whole = t.dtype is not None and t.dtype.kind == "i"
        given[value] = random.integers(0, 5, shape) if whole else random.normal(size=shape).astype(np.float32)
    results = [unoptimized_onnxruntime.outputs(path, given) for path in (before, tmp_path / "after.onnx")]
    assert all(a.tobytes() == b.tobytes() for a, b in zip(*results, strict=True))
