"""Operations of `ai.onnx.ml`: shapes, types and values are those of onnxruntime, at drawn sizes and special values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.frontends import onnx_ml
from symlayout.frontends.registry import names

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
Array = np.ndarray[Any, Any]
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 0.5)


def floats(rng: Any, *shape: int) -> Array:
    """Return normal numbers, of which some are special."""
    x = rng.standard_normal(shape).astype(np.float32)
    return np.asarray(np.where(rng.random(shape) < 0.2, rng.choice(SPECIAL, shape), x), np.float32)


def numbers(rng: Any, count: int) -> list[float]:
    return [float(v) for v in rng.standard_normal(count).astype(np.float32)]


def scaler(rng: Any, n: int, c: int) -> tuple[dict[str, Any], list[Array]]:
    count = int(rng.choice([1, c]))
    return {"offset": numbers(rng, count), "scale": numbers(rng, count)}, [floats(rng, n, c)]


def normalizer(rng: Any, n: int, c: int) -> tuple[dict[str, Any], list[Array]]:
    x = np.where(rng.random((n, c)) < 0.3, 0, rng.standard_normal((n, c))).astype(np.float32)
    return {"norm": str(rng.choice(["L1", "L2", "MAX"]))}, [x]


def imputer(rng: Any, n: int, c: int) -> tuple[dict[str, Any], list[Array]]:
    new, old = numbers(rng, int(rng.choice([1, c]))), float(rng.choice([0.0, 0.5, np.nan]))
    return {"imputed_value_floats": new, "replaced_value_float": old}, [floats(rng, n, c)]


def extractor(rng: Any, n: int, c: int) -> tuple[dict[str, Any], list[Array]]:
    x = floats(rng, *(c,) if rng.random() < 0.3 else (n, c) if rng.random() < 0.6 else (n, 2, c))
    return {}, [x, rng.integers(0, c, int(rng.integers(1, 4)))]


def regressor(rng: Any, n: int, c: int) -> tuple[dict[str, Any], list[Array]]:
    targets, x = int(rng.integers(1, 4)), rng.standard_normal((n, c)).astype(np.float32)
    given = {"coefficients": numbers(rng, targets * c), "targets": targets}
    return given | ({"intercepts": numbers(rng, targets)} if rng.random() < 0.5 else {}), [x]


def machine(rng: Any, n: int, c: int) -> tuple[dict[str, Any], list[Array]]:
    given = {"support_vectors": numbers(rng, 2 * c), "coefficients": numbers(rng, 2), "rho": numbers(rng, 1)}
    return given | {"n_supports": 2, "kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 3.0]}, [floats(rng, n, c)]


def vectorizer(rng: Any, n: int, c: int) -> tuple[dict[str, Any], list[Array]]:
    x, y = floats(rng, n, c), floats(rng, n, 2)
    return {"inputdimensions": [c, int(rng.choice([2, 2, 1, 3]))]}, [x, y]


DRAWN: dict[str, Callable[[Any, int, int], tuple[dict[str, Any], list[Array]]]] = {
    "Scaler": scaler,
    "Normalizer": normalizer,
    "Imputer": imputer,
    "ArrayFeatureExtractor": extractor,
    "LinearRegressor": regressor,
    "SVMRegressor": machine,
    "FeatureVectorizer": vectorizer,
}


def model(op: str, given: dict[str, Any], arrays: list[Array], shapes: list[list[Any]]) -> Any:
    helper = onnx.helper
    values = [
        helper.make_tensor_value_info(f"x{k}", helper.np_dtype_to_tensor_dtype(a.dtype), shape)
        for k, (a, shape) in enumerate(zip(arrays, shapes, strict=True))
    ]
    node = helper.make_node(op, [v.name for v in values], ["y"], domain="ai.onnx.ml", **given)
    graph = helper.make_graph([node], "g", values, [helper.make_empty_tensor_value_info("y")])
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=sets, ir_version=8)


@pytest.mark.parametrize("op", DRAWN)
@pytest.mark.parametrize("seed", range(8))
def test_values_are_those_of_onnxruntime(op: str, seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng([seed, *op.encode()])
    given, arrays = DRAWN[op](rng, int(rng.integers(1, 5)), int(rng.integers(1, 5)))
    feeds = {f"x{k}": a for k, a in enumerate(arrays)}
    for shapes in (
        [list(a.shape) for a in arrays],
        [[f"d{k}{i}" for i in range(a.ndim)] for k, a in enumerate(arrays)],
    ):
        made = model(op, given, arrays, shapes)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
        (expected,) = session.run(None, feeds)
        (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
        y = sl.read_model(tmp_path / "m.onnx").outputs["y"]
        sizes = {
            str(n): m for names_, a in zip(shapes, arrays, strict=True) for n, m in zip(names_, a.shape, strict=True)
        }
        known = {name: size for name, size in sizes.items() if name in y.facts.dims}
        assert y.subs(known).shape == expected.shape
        assert y.dtype == expected.dtype
        if all(value.body is None or value.body.function is not None for value in y.graph()):
            found = sl.interpret(y, *(feeds[x.name] for x in y.arguments()), dims=known)
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_each_operation_is_drawn() -> None:
    assert {f"ml:{op}" for op in DRAWN} == {name for name in names() if name.startswith("ml:")}


@pytest.mark.parametrize(
    ("op", "given", "shapes", "kind"),
    [
        ("Scaler", {"offset": [1.0, 2.0], "scale": [1.0, 2.0]}, ["N, 3"], "size_mismatch"),
        ("Scaler", {"offset": [1.0], "scale": [1.0, 2.0]}, ["N, 2"], "not_declared"),
        ("Normalizer", {}, ["N, C"], "not_declared"),
        ("Imputer", {}, ["N, C"], "not_declared"),
        ("LinearRegressor", {"coefficients": [1.0, 2.0, 3.0], "targets": 2}, ["N, C"], "length_mismatch"),
        ("LinearRegressor", {"coefficients": [1.0, 2.0]}, ["N, 3"], "size_mismatch"),
        ("LinearRegressor", {"coefficients": [1.0], "post_transform": "PROBIT"}, ["N, 1"], "not_declared"),
        ("FeatureVectorizer", {"inputdimensions": [1]}, ["N, 1", "N, 1"], "length_mismatch"),
        ("SVMRegressor", {}, ["N, C, D"], "rank"),
    ],
)
def test_what_does_not_fit_is_refused(op: str, given: dict[str, Any], shapes: list[str], kind: str) -> None:
    xs = [sl.tensor(shape, "float32", name=f"x{k}") for k, shape in enumerate(shapes)]
    with pytest.raises(sl.ShapeError) as found:
        sl.op(f"ml:{op}")(*xs, **given)
    assert found.value.kind == kind


def test_scaling_is_the_chain_that_tools_make_of_it() -> None:
    x = sl.tensor("N, 2", "float32", name="x")
    y = sl.op("ml:Scaler")(x, offset=[1.0, 2.0], scale=[0.5, 0.25])
    offset, scale = (sl.constant(np.asarray(v, np.float32)) for v in ([1, 2], [0.5, 0.25]))
    assert sl.prove_equal(y, sl.onnx.mul(sl.onnx.sub(x, offset), scale)).verdict is sl.Verdict.PROVED
    assert sl.prove_equal(y, sl.onnx.mul(sl.onnx.sub(x, scale), offset)).verdict is sl.Verdict.REFUTED


def test_a_scaler_is_a_difference_times_a_factor() -> None:
    x = sl.tensor("N, 3", "float32", name="x")
    offset, scale = (np.array(v, np.float32) for v in ([1, 2, 3], [0.5, 2, 4]))
    made = onnx_ml.scaler(x, offset=offset.tolist(), scale=scale.tolist())
    assert sl.prove_equal(made, sl.onnx.mul(sl.onnx.sub(x, offset), scale)).verdict is sl.Verdict.PROVED
    assert sl.prove_equal(made, sl.onnx.mul(sl.onnx.sub(x, scale), offset)).verdict is sl.Verdict.REFUTED
