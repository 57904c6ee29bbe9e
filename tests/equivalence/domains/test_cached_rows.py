"""A step of a language model with a cache computes the last rows of the run over all tokens, or it is refuted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import symlayout as sl
from examples.make_language_model import DEPTH, HEADS, Decoder
from symlayout.equivalence.blocks import Blocks
from symlayout.equivalence.cached_rows import RowVerification
from tests.support.paths import ROOT

MODELS = ROOT / "examples" / "models"
RUN, STEP = MODELS / "language_model.onnx", MODELS / "language_model_step.onnx"


def test_step_is_the_last_rows_of_the_run() -> None:
    found = sl.verify_rows(RUN, STEP)
    assert isinstance(found, RowVerification)
    assert found.verdict is sl.Verdict.PROVED
    assert set(found.outputs) == {"logits", *(f"present.{k}.{n}" for k in (0, 1) for n in ("key", "value"))}
    assert found.cache["past.1.value"] == "present.1.value"


def test_one_file_is_the_run_with_an_empty_cache() -> None:
    assert sl.verify_rows(STEP, STEP).verdict is sl.Verdict.PROVED


@pytest.mark.parametrize("wrong", ["positions", "mask", "order", "keys"])
def test_mistakes_that_keep_shapes_are_refuted(wrong: str, tmp_path: Path) -> None:
    step = Decoder(cached=True, layers=1, wrong=wrong).save(tmp_path / "step.onnx")
    run = Decoder(cached=False, layers=1).save(tmp_path / "run.onnx")
    found = sl.verify_rows(run, step)
    assert found.verdict is sl.Verdict.REFUTED
    assert found.witness is not None
    assert found.output == "logits"
    with pytest.raises(AssertionError, match="REFUTED: a step differs"):
        sl.assert_same_rows(run, step)


@pytest.mark.parametrize("wrong", ["", "positions", "mask", "order", "keys"])
def test_onnxruntime_agrees(wrong: str, tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    files = [
        Decoder(cached=False, layers=2).save(tmp_path / "run.onnx"),
        Decoder(cached=True, layers=2, wrong=wrong).save(tmp_path / "step.onnx"),
    ]
    run, step = (runtime.InferenceSession(str(path), options, ["CPUExecutionProvider"]) for path in files)
    ids = np.array([[3, 1, 4, 1, 5, 9], [2, 6, 5, 3, 5, 8]])
    names = [o.name for o in run.get_outputs()]
    whole = dict(zip(names, run.run(names, {"ids": ids}), strict=True))
    cache = {f"past{name.removeprefix('present')}": t[:, :, :4] for name, t in whole.items() if name != "logits"}
    (logits,) = step.run(["logits"], {"ids": ids[:, 4:], **cache})
    assert np.allclose(logits, whole["logits"][:, 4:], atol=1e-5) is (wrong == "")


def test_model_is_a_function_of_tensors() -> None:
    step = sl.read_model(STEP)
    B, T = sl.dims("B T")
    ids = sl.tensor((B, 1), dtype="int64", name="token")
    past = {n: sl.tensor((B, HEADS, T + 2, DEPTH), dtype="float32", name=n.replace(".", "_")) for n in step.inputs}
    outputs = step({**past, "ids": ids})
    assert outputs["present.0.key"].shape == (B, HEADS, T + 3, DEPTH)
    assert outputs["logits"].shape == (B, 1, 11)
    with pytest.raises(sl.ShapeError, match=r"axis 1 of input 'past\.0\.key'"):
        step({**past, "ids": ids, "past.0.key": sl.tensor((B, 3, T, DEPTH), dtype="float32", name="k")})
    with pytest.raises(sl.FormatError, match="no input 'tokens'"):
        step({"tokens": ids})
    with pytest.raises(sl.ArrayError, match="int64, and float32 is given"):
        step({"ids": sl.tensor((B, 1), dtype="float32", name="token")})
    with pytest.raises(sl.ShapeError, match="has rank 2, and 1 is given"):
        step({"ids": sl.tensor((B,), dtype="int64", name="token")})


def test_sizes_that_an_unused_node_refuses_are_said(tmp_path: Path) -> None:
    step = onnx.load(STEP)
    step.graph.initializer.append(onnx.numpy_helper.from_array(np.array([-1, 3]), "pairs"))
    step.graph.node.append(onnx.helper.make_node("Reshape", ["ids", "pairs"], ["unused"]))
    onnx.save(step, tmp_path / "step.onnx")
    found = sl.verify_rows(RUN, tmp_path / "step.onnx")
    assert found.verdict is sl.Verdict.PROVED
    assert "% 3 == 0" in str(found)
    assert "% 3 == 0" not in str(sl.verify_rows(RUN, STEP))


def test_models_without_a_cache_are_refused() -> None:
    with pytest.raises(sl.FormatError, match="no input of the model is a cache"):
        sl.verify_rows(RUN, RUN)
    with pytest.raises(sl.FormatError, match="no input 'past'"):
        sl.verify_rows(RUN, STEP, cache={"past": "present.0.key"})


def test_blocks_of_views_are_matched_by_their_elements() -> None:
    L = sl.dim("L", min=1)
    x = sl.tensor((L, 4), dtype="float32", name="x")
    y = sl.onnx.relu(sl.onnx.add(x, np.ones(4, np.float32)))
    part = [sl.onnx.relu(sl.onnx.add(x[k:][:1], np.ones(4, np.float32))) for k in (L - 1, 0)]
    blocks = Blocks([y], y.facts)
    (last,), (first,) = blocks.of_part(part[:1]), blocks.of_part(part[1:])
    assert blocks.are_equal(last, blocks.of_whole(y)[L - 1 :])
    assert not blocks.are_equal(first, blocks.of_whole(y)[L - 1 :])


def test_dims_that_replace_others_are_known_where_nothing_is_read() -> None:
    N, M = sl.dim("N", min=2), sl.dim("M")
    moved = sl.broadcast_to(sl.constant(3), (N,)).subs({N: M + 1})
    assert moved.shape == (M + 1,)
    assert moved.requires == (M >= 1,)


def test_range_behind_a_cache_is_the_end_of_a_range() -> None:
    P, S = sl.dims("P S")
    made = sl.onnx.range(P, P + S, 1)
    assert sl.interpret(made, dims={"P": 3, "S": 2}).tolist() == [3, 4]
    assert sl.prove_equal(made, sl.onnx.range(0, P + S, 1)[P:]).verdict is sl.Verdict.PROVED
