"""A witness that a runtime finds: where an extent depends on data, and in loops."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

import symlayout as sl
from symlayout.equivalence import run_models, runtime_process
from tests.support.onnx_writer import model, node, tensor, value_info


@pytest.fixture(autouse=True, params=run_models.installed_runtimes())
def runtime(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run each test with each runtime that is installed, as if there were no other one."""
    monkeypatch.setattr(run_models, "installed_runtimes", lambda: (request.param,))
    return str(request.param)


def written(path: Path, *nodes: NodeProto, **options: Any) -> Path:
    path.write_bytes(model(nodes, [value_info("x", ("N", 4))], **options))
    return path


def loop(step: str, count: int) -> tuple[list[NodeProto], list[TensorProto]]:
    """Return a Loop that does *step* to ``x`` *count* times."""
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [node("Identity", "go", "more"), node(step, "state, state", "next")],
        "body",
        [value("k", TensorProto.INT64, []), value("go", TensorProto.BOOL, []), value("state", TensorProto.FLOAT, None)],
        [value("more", TensorProto.BOOL, []), value("next", TensorProto.FLOAT, None)],
    )
    constants = [tensor([count], [], "count"), numpy_helper.from_array(np.array(True), "yes")]
    return [node("Loop", "count, yes, x", "y", body=body)], constants


def picked(limit: float, *more: NodeProto) -> tuple[list[NodeProto], list[TensorProto]]:
    """Return nodes that pick the elements above a limit."""
    constant = numpy_helper.from_array(np.float32(limit), "limit")
    nodes = [node("Greater", "x, limit", "m"), node("NonZero", "m", "at"), node("Transpose", "at", "rows", perm=[1, 0])]
    return [*nodes, node("GatherND", "x, rows", "found"), *more], [constant]


def both(folder: Path, left: Any, right: Any) -> tuple[Path, Path]:
    return tuple(  # type: ignore[return-value]
        written(folder / f"{k}.onnx", *nodes, constants=constants) for k, (nodes, constants) in enumerate((left, right))
    )


@pytest.mark.slow
def test_other_elements_that_data_pick_are_a_difference(tmp_path: Path) -> None:
    pair = both(tmp_path, picked(0.5, node("Neg", "found", "y")), picked(0.25, node("Neg", "found", "y")))
    found = sl.verify(*pair)
    assert found.verdict is sl.Verdict.REFUTED
    witness = found.witness
    assert witness is not None
    x = np.load(witness.save(tmp_path / "witness"))["x"]
    assert x.shape == (*witness.dims.values(), 4)
    assert np.count_nonzero(x > 0.5) != np.count_nonzero(x > 0.25)
    assert sl.verify(*pair, run=False).verdict is sl.Verdict.UNKNOWN
    assert sl.verify(pair[0], pair[0]).verdict is sl.Verdict.PROVED


@pytest.mark.slow
def test_another_function_of_what_data_pick_is_a_difference(tmp_path: Path) -> None:
    found = sl.verify(
        *both(tmp_path, picked(0.5, node("Neg", "found", "y")), picked(0.5, node("Reciprocal", "found", "y")))
    )
    assert found.verdict is sl.Verdict.REFUTED
    assert found.witness is not None
    assert found.witness.left * found.witness.right == pytest.approx(-1)
    assert found.proofs["y"].witness is not None


@pytest.mark.slow
def test_another_body_of_a_loop_is_a_difference(tmp_path: Path) -> None:
    assert sl.verify(*both(tmp_path, loop("Add", 2), loop("Mul", 2))).verdict is sl.Verdict.REFUTED
    assert sl.verify(*both(tmp_path, loop("Add", 2), loop("Add", 3))).verdict is sl.Verdict.REFUTED


@pytest.mark.slow
def test_what_rounding_explains_is_no_difference(tmp_path: Path) -> None:
    third = numpy_helper.from_array(np.float32(3), "third")
    divided = (node("Div", "found, third", "d"), node("Sqrt", "d", "y"))
    rooted = (node("Sqrt", "found", "r"), node("Sqrt", "third", "s"), node("Div", "r, s", "y"))
    pair = [(nodes, [*constants, third]) for nodes, constants in (picked(0.5, *divided), picked(0.5, *rooted))]
    assert sl.verify(*both(tmp_path, *pair)).verdict is sl.Verdict.UNKNOWN


@pytest.mark.slow
def test_a_loop_without_end_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sl.limits, "run_seconds", 0.5)
    assert sl.verify(*both(tmp_path, loop("Add", 1 << 62), loop("Mul", 1 << 62))).verdict is sl.Verdict.UNKNOWN


def test_a_model_that_a_runtime_refuses_is_no_witness(tmp_path: Path, runtime: str) -> None:
    """A local domain that the runtime does not know."""
    foreign = model([node("Foreign", "x", "y", domain="none.such")], [value_info("x", ("N", 4))])
    (tmp_path / "0-0.in.npz").write_bytes(b"")
    (tmp_path / "0.onnx").write_bytes(foreign)
    subprocess.run([sys.executable, runtime_process.__file__, runtime, str(tmp_path), str(4 << 30)], check=True)
    assert (tmp_path / "0-0.error.txt").exists()
    assert not (tmp_path / "0-0.out.npz").exists()


@pytest.mark.slow
def test_constants_in_other_files_are_found(tmp_path: Path) -> None:
    (tmp_path / "w").write_bytes(np.full(4, 0.5, "float32").tobytes())
    paths = []
    for k, limit in enumerate((0.5, 0.25)):
        nodes, constants = picked(limit, node("Shape", "found", "n"), node("Expand", "w, m4", "e"))
        weights = TensorProto(dims=[4], data_type=TensorProto.FLOAT, name="w", data_location=TensorProto.EXTERNAL)
        weights.external_data.add(key="location", value="w")
        nodes = [*nodes[:-1], node("ReduceSum", "w", "s"), node("Mul", "found, s", "y")]
        paths.append(written(tmp_path / f"{k}.onnx", *nodes, constants=[*constants, weights]))
    assert sl.verify(*paths).verdict is sl.Verdict.REFUTED


def test_no_larger_sizes_are_tried_where_the_smallest_are_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[Any] = []
    small = run_models.TwoRuns._is_small

    def counted(self: run_models.TwoRuns, values: Any) -> bool:
        tried.append(values)
        return small(self, values)

    monkeypatch.setattr(run_models, "_MOST_ELEMENTS", 3)
    monkeypatch.setattr(run_models.TwoRuns, "_is_small", counted)
    pair = both(tmp_path, picked(0.5, node("Neg", "found", "y")), picked(0.25, node("Neg", "found", "y")))
    assert sl.verify(*pair).verdict is sl.Verdict.UNKNOWN
    assert len(tried) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the memory of a process")
def test_a_runtime_gets_no_more_memory_than_its_limit(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import runtime_process as child\n"
        "child.limit_memory(1 << 30)\n"
        "try:\n    bytearray(1 << 31)\nexcept MemoryError:\n    sys.exit(7)\n"
    )
    folder = str(Path(runtime_process.__file__).parent)
    assert subprocess.run([sys.executable, "-c", code, folder], check=False).returncode == 7
