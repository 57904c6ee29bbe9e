"""Whole networks are carried to another layout, with at most one transpose of each input and output."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import symlayout as sl
from symlayout.optimize_models.crossings.layouts import held_back, interior_cost
from symlayout.optimize_models.optimize_model import OptimizedModel
from tests.optimize_models.spellings.nhwc_models import NETWORKS, SHAPES, Network

SIZES = [{"N": 2, "H": 32, "W": 64}, {"N": 1, "H": 48, "W": 16}]


def carried(folder: Path, network: onnx.ModelProto, layout: str | None) -> OptimizedModel:
    """Return the optimized network, after the checks that hold for every result."""
    onnx.save(network, folder / "before.onnx")
    o = sl.optimize(folder / "before.onnx", layout=layout)
    o.save(folder / "after.onnx")
    onnx.checker.check_model(onnx.load(folder / "after.onnx"))
    assert sl.verify(folder / "before.onnx", folder / "after.onnx").verdict is sl.Verdict.PROVED
    again = sl.optimize(folder / "after.onnx", layout=layout)
    assert again.source.SerializeToString() == (folder / "after.onnx").read_bytes()
    compare_in_onnxruntime(folder, exact=not o.report.laws)
    return o


def compare_in_onnxruntime(folder: Path, *, exact: bool) -> None:
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    sessions = [
        ort.InferenceSession(str(folder / f"{name}.onnx"), options, providers=["CPUExecutionProvider"])
        for name in ("before", "after")
    ]
    shape = sessions[0].get_inputs()[0].shape
    for sizes in SIZES if any(isinstance(e, str) for e in shape) else SIZES[:1]:
        x = np.random.default_rng(0).normal(size=[sizes.get(e, e) for e in shape]).astype(np.float32)
        a, b = (s.run(None, {"x": x})[0] for s in sessions)
        if exact:
            np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def small(shape: tuple[int | str, ...], *, channels: int = 3, mean: bool = False) -> onnx.ModelProto:
    """Return two convolutions between operations that have their channels last."""
    n = Network()
    x = n("Relu", n.conv(n("Abs", "x"), channels, 4, 1))
    if mean:
        x = n("Mul", x, n.mean(x))
    return n.model(shape, n("Softmax", n.conv(x, 4, 4, 1), axis=-1), 4)


def transposes_inside(o: OptimizedModel) -> int:
    return interior_cost(o).transposes


def test_a_network_with_its_channels_last_is_carried(tmp_path: Path) -> None:
    o = carried(tmp_path, small(("N", 8, 6, 3)), "NCHW")
    assert (transposes_inside(o), o.report.after.transposes) == (0, 2)
    assert (o.report.held, o.report.laws) == ((), ())
    assert [n.op_type for n in o.source.graph.node][:2] == ["Transpose", "Abs"]


def test_rules_do_not_undo_what_the_layout_leaves_at_an_input(tmp_path: Path) -> None:
    """A Relu, part of which is read, costs less before the transpose of the input, whose layout takes it back."""
    n = Network()
    part = n("Slice", n("Relu", "x"), *(n.given([value], np.int64) for value in (1, 100, 1)))
    o = carried(tmp_path, n.model(("N", 8, 6, 3), n.conv(part, 3, 4, 1), 4), "NCHW")
    assert [change.rule for change in o.report.changes] == ["layout"]


def test_a_transpose_does_not_become_blocks_of_another_name(tmp_path: Path) -> None:
    """With extents such as (1, 8, 8, 4) a transpose is a DepthToSpace between reshapes, which moves as much."""
    o = carried(tmp_path, small((1, 8, 8, 4), channels=4), None)
    kinds = [n.op_type for n in o.source.graph.node]
    assert (kinds.count("Transpose"), "DepthToSpace" in kinds) == (2, False)


def test_a_layout_carries_sums_and_says_so(tmp_path: Path) -> None:
    network = small(("N", 8, 6, 3), mean=True)
    assert transposes_inside(carried(tmp_path, network, None)) > 0
    o = carried(tmp_path, network, "NCHW")
    assert (transposes_inside(o), o.report.laws) == (0, ("reassociate",))
    assert "under the laws: reassociate" in str(o.report)


def test_what_the_standard_has_in_one_layout_holds_a_network_back(tmp_path: Path) -> None:
    o = carried(tmp_path, small(("N", 8, 6, 3)), "NHWC")
    assert [name.split()[0] for name in o.report.held] == ["Conv", "Conv"]
    assert o.report.after.at_most(o.report.before)
    assert held_back(o, "NHWC", []) == o.report.held


def test_what_has_no_spelling_holds_a_network_back(tmp_path: Path) -> None:
    n = Network()
    x = n("LayerNormalization", n.conv("x", 3, 4, 1), n.given(np.ones(4)), axis=-1)
    o = carried(tmp_path, n.model(("N", 8, 6, 3), n("Relu", n.conv(x, 4, 4, 1)), 4), "NCHW")
    assert [name.split()[0] for name in o.report.held] == ["LayerNormalization"]
    assert transposes_inside(o) == 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["static", "dynamic batch"])
@pytest.mark.parametrize("name", NETWORKS)
def test_known_networks_are_carried(tmp_path: Path, name: str, kind: str) -> None:
    o = carried(tmp_path, NETWORKS[name](SHAPES[kind]), "NCHW")
    assert (transposes_inside(o), o.report.held) == (0, ())
    assert o.report.after.transposes <= 2


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NETWORKS if name != "efficientnet"])
def test_known_networks_have_one_transpose_for_each_end_without_a_layout(tmp_path: Path, name: str) -> None:
    """It stands where a value is smallest: behind the QuantizeLinear of an input, for example."""
    o = carried(tmp_path, NETWORKS[name](SHAPES["dynamic batch"]), None)
    assert o.report.after.transposes <= 2
    assert o.report.after.at_most(o.report.before)
