"""Resize in its spellings: those that read the same places are one operation, and their neighbours are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symlayout as sl

X = "N, C, H, 8"
HALF = {"coordinate_transformation_mode": "half_pixel"}
TORCH = {"coordinate_transformation_mode": "pytorch_half_pixel"}
SYMMETRIC = {"coordinate_transformation_mode": "half_pixel_symmetric"}
FLOOR = {"mode": "nearest", "nearest_mode": "floor"}
H = sl.dim("H")
Spelling = dict[str, Any]
ONE: list[tuple[Spelling, Spelling]] = [
    ({"scales": (1, 1, 2, 2), "mode": "linear", **HALF}, {"scales": (1, 1, 2, 2), "mode": "linear", **TORCH}),
    ({"scales": (1, 1, 4, 0.5), "mode": "cubic", **HALF}, {"scales": (1, 1, 4, 0.5), "mode": "cubic", **SYMMETRIC}),
    ({"scales": (2, 0.25), "axes": (2, 3), "mode": "linear"}, {"sizes": (2 * H, 2), "axes": (2, 3), "mode": "linear"}),
    ({"sizes": (5,), "axes": (3,), "mode": "linear", **HALF}, {"sizes": (5,), "axes": (3,), "mode": "linear", **TORCH}),
    (
        {"scales": (1, 1, 2, 3), "coordinate_transformation_mode": "tf_half_pixel_for_nn", **FLOOR},
        {"scales": (1, 1, 2, 3), "coordinate_transformation_mode": "asymmetric", **FLOOR},
    ),
]
NEIGHBOURS: list[tuple[Spelling, Spelling]] = [
    ({"scales": (1, 1, 3, 1), "mode": "cubic", **HALF}, {"scales": (1, 1, 3, 1), "mode": "cubic", **SYMMETRIC}),
    ({"sizes": (1,), "axes": (3,), "mode": "linear", **HALF}, {"sizes": (1,), "axes": (3,), "mode": "linear", **TORCH}),
    (
        {"scales": (1.3,), "axes": (3,), "mode": "linear", **HALF},
        {"scales": (1.3,), "axes": (3,), "mode": "linear", **SYMMETRIC},
    ),
    (
        {"scales": (0.5,), "axes": (2,), "mode": "linear", **HALF},
        {"scales": (0.5,), "axes": (2,), "mode": "linear", **TORCH},
    ),
    (
        {"scales": (0.5,), "axes": (3,), "coordinate_transformation_mode": "tf_half_pixel_for_nn", **FLOOR},
        {"scales": (0.5,), "axes": (3,), "coordinate_transformation_mode": "asymmetric", **FLOOR},
    ),
]


def resized(given: Spelling) -> sl.Tensor:
    x = sl.tensor(X, name="x", dtype="float32")
    made: sl.Tensor = sl.op("onnx:Resize")(x, **given)
    return made


@pytest.mark.parametrize(("one", "other"), ONE)
def test_spellings_that_read_the_same_places_are_proved_to_be_one(one: Spelling, other: Spelling) -> None:
    assert sl.prove_equal(resized(one), resized(other)).verdict is sl.Verdict.PROVED


@pytest.mark.parametrize(("one", "other"), NEIGHBOURS)
def test_spellings_that_read_other_places_somewhere_are_not_proved(one: Spelling, other: Spelling) -> None:
    assert sl.prove_equal(resized(one), resized(other), budget=20).verdict is not sl.Verdict.PROVED


def _by_onnxruntime(given: Spelling, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    onnxruntime = pytest.importorskip("onnxruntime")
    from onnx import TensorProto, helper, numpy_helper

    lists = {"scales": np.float32, "sizes": np.int64}
    values = {
        k: [int(n.subs(H, x.shape[2])) if hasattr(n, "subs") else n for n in given[k]] for k in lists if k in given
    }
    constants = [numpy_helper.from_array(np.array(v, lists[k]), k) for k, v in values.items()]
    reads = ["x", "", *(["scales"] if "scales" in values else ["", "sizes"])]
    node = helper.make_node("Resize", reads, ["y"], **{k: v for k, v in given.items() if k not in lists})
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * 4) for name in "xy"]
    graph = helper.make_graph([node], "g", ends[:1], ends[1:], initializer=constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    made: np.ndarray[Any, Any] = session.run(None, {"x": x})[0]
    return made


@pytest.mark.parametrize(("one", "other"), ONE)
@pytest.mark.parametrize("height", [1, 2, 3, 7])
def test_onnxruntime_reads_the_same_places(one: Spelling, other: Spelling, height: int) -> None:
    x = np.random.default_rng(height).standard_normal((2, 1, height, 8)).astype(np.float32)
    np.testing.assert_array_equal(_by_onnxruntime(one, x), _by_onnxruntime(other, x))


@pytest.mark.parametrize(
    "given", [{"mode": "linear"}, {"mode": "cubic"}, {"mode": "nearest", "nearest_mode": "round_prefer_ceil"}]
)
def test_half_an_element_for_nearest_has_no_meaning_in_other_modes(given: Spelling) -> None:
    """Runtimes copy an axis that keeps its extent; the formula would move its elements."""
    with pytest.raises(sl.SymlayoutError, match="tf_half_pixel_for_nn"):
        resized({"scales": (1, 1, 2, 2), "coordinate_transformation_mode": "tf_half_pixel_for_nn", **given})
