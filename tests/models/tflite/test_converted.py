"""What TensorFlow's converter makes of Keras' networks: shapes, values, and the files of ONNX beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import symlayout as sl
from tests.models.tflite.test_load_tflite import run, values_of

FOLDER = Path(__file__).parent.parent / "exported"
NETWORKS = {
    "keras_attention": (3, (2, 7)),
    "keras_dilated": (4, (2, 17, 14, 3)),
    "keras_separable": (2, (2, 17, 14, 3)),
    "keras_sharpened": (4, (2, 9, 8, 3)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_shapes_and_values_are_those_of_the_runtime(name: str) -> None:
    path, (rank, shape) = FOLDER / f"{name}_dynamic.tflite", NETWORKS[name]
    model = sl.read_model(path)
    ((title, x),) = model.inputs.items()
    ((_, y),) = model.outputs.items()
    opaque = [t.name for t in y.graph() if t.body is not None and t.body.function is None]
    assert not opaque
    assert {str(s) for n in y.shape for s in getattr(n, "free_symbols", ())} <= {str(n) for n in x.shape}
    assert y.rank == rank
    draw = np.random.default_rng(0)
    assert x.dtype is not None
    given = draw.normal(size=shape) if x.dtype.kind == "f" else draw.integers(0, 40, shape)
    arrays = {title: given.astype(x.dtype)}
    (ours,), (theirs,) = values_of(model, arrays), run(path, arrays)
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["keras_dilated", "keras_sharpened"])
def test_a_network_is_the_one_that_tf2onnx_wrote(name: str) -> None:
    """Space to batch, a convolution and batch to space in the one file, a dilation in the other."""
    pytest.importorskip("onnx")
    files = FOLDER / f"{name}_dynamic.tflite", FOLDER / f"{name}_dynamic.onnx"
    for before, after in (files, files[::-1]):
        found = sl.verify(before, after, by_position=True, laws=("signed-zero",))
        assert found.verdict is sl.Verdict.PROVED, found.explain()
