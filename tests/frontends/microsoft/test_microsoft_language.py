"""onnxruntime's operations of language models: the shapes that it prints, and the sizes that it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import symlayout as sl
from symlayout.frontends import microsoft_language

onnxruntime = pytest.importorskip("onnxruntime")

RANDOM = np.random.default_rng(7)


def floats(*shape: int) -> np.ndarray[Any, Any]:
    return RANDOM.standard_normal(shape).astype(np.float32)


def bytes_of(*shape: int, dtype: str = "uint8") -> np.ndarray[Any, Any]:
    return RANDOM.integers(0, 100, shape).astype(dtype)


def ints(*shape: int, below: int = 2) -> np.ndarray[Any, Any]:
    return RANDOM.integers(0, below, shape).astype(np.int32)


ONE, ZERO = np.array(0.1, np.float32), np.array(3, np.uint8)
WORDS = [("ids", "N S"), ("segments", "N S"), ("words", "5 4"), ("places", "P 4"), ("kinds", "2 4")]
NORM = [("scale", "4"), ("shift", "4")]
EMBEDDED = [ints(2, 3, below=5), ints(2, 3), floats(5, 4), floats(6, 4), floats(2, 4), floats(4), floats(4)]
QUERIES = [("q", "B S 32"), ("k", "B R 16"), ("v", "B R 16"), ("pk", "B 2 P 8"), ("pv", "B 2 P 8")]
COUNTS = [("lengths", "B"), ("total", "")]
LINEAR = [("a", "N C"), ("sa", ""), ("za", ""), ("b", "c"), ("sb", ""), ("zb", ""), ("sc", ""), ("zc", "")]

# The operator, its inputs with their shapes in the model, its attributes, how many outputs, whether values are compared
# too, and arrays.
CASES: list[tuple[str, list[tuple[str, str]], dict[str, Any], int, bool, list[Any]]] = [
    ("EmbedLayerNormalization", [*WORDS, *NORM], {}, 3, True, EMBEDDED),
    ("EmbedLayerNormalization", [*WORDS, *NORM, ("mask", "N S")], {}, 3, True, [*EMBEDDED, ints(2, 3, below=3)]),
    ("EmbedLayerNormalization", [*WORDS, *NORM], {}, 3, True, [*EMBEDDED[:3], floats(2, 4), *EMBEDDED[4:]]),
    ("EmbedLayerNormalization", [*WORDS, *NORM, ("", ""), ("at", "Q T")], {}, 3, True, [*EMBEDDED, ints(1, 3)]),
    ("EmbedLayerNormalization", [*WORDS, *NORM, ("", ""), ("at", "Q T")], {}, 3, True, [*EMBEDDED, ints(2, 1)]),
    *(
        (
            "GroupQueryAttention",
            [*QUERIES, *COUNTS],
            {"num_heads": 4, "kv_num_heads": 2},
            3,
            False,
            [floats(1, 1, 32), floats(1, keys, 16), floats(1, keys, 16), floats(1, 2, 5, 8), floats(1, 2, 5, 8),
             np.array([5], np.int32), np.array(6, np.int32)],
        )
        for keys in (1, 2)
    ),
    *(
        (
            "MatMulNBits",
            [("a", "B M K"), ("w", "32 2 16"), ("s", "64")],
            {"K": 64, "N": 32, "bits": 4, "block_size": 32},
            1,
            False,
            [floats(2, 3, k), bytes_of(32, 2, 16), floats(64)],
        )
        for k in (64, 60)
    ),
    *(
        ("DynamicQuantizeMatMul", [("a", "M K"), ("w", "L N"), ("s", "s")], {}, 1, False,
         [floats(2, 3), bytes_of(k, 4, dtype="int8"), floats(scales)])
        for k, scales in ((3, 1), (3, 4), (2, 1), (3, 2))
    ),
    *(
        ("MatMulIntegerToFloat",
         [("a", "B M K"), ("w", "L N"), ("sa", "1"), ("s", "s"), ("", ""), ("", ""), ("bias", "b")], {}, 1, False,
         [bytes_of(2, 2, 3), bytes_of(3, 4, dtype="int8"), floats(1), floats(1), floats(biases)])
        for biases in (4, 3)
    ),
    *(
        (name, LINEAR, {}, 1, False, [bytes_of(2, 3), ONE, ZERO, bytes_of(n), ONE, ZERO, ONE, ZERO])
        for name in ("QLinearAdd", "QLinearMul")
        for n in (3, 1, 2)
    ),
    *(
        (name, [*LINEAR[:3], *LINEAR[6:]], {}, 1, False, [bytes_of(2, 3), ONE, ZERO, ONE, ZERO])
        for name in ("QLinearSigmoid", "QLinearLeakyRelu")
    ),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{k}-{case[0]}" for k, case in enumerate(CASES)])
def test_shapes_and_refusals_are_those_of_onnxruntime(number: int, tmp_path: Path) -> None:
    name, inputs, attributes, count, compared, given = CASES[number]
    named = [(title, shape.split()) for title, shape in inputs if title]
    arrays = {title: a for (title, _), a in zip(named, given, strict=True)}
    dims = {d: n for title, shape in named for d, n in zip(shape, arrays[title].shape, strict=True) if d.isalpha()}
    model = _model(name, [title for title, _ in inputs], named, arrays, attributes, count)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    outputs = sl.read_model(tmp_path / "m.onnx").outputs
    found = _run(model, arrays)
    if found is None:
        first = next(iter(outputs.values()))
        own = {d: n for d, n in dims.items() if d in first.facts.dims}
        with pytest.raises(sl.ShapeError):
            sl.interpret(first, **_of(first, arrays), dims=own)
        return
    for t, value in zip(outputs.values(), found, strict=True):
        bound = t.subs(dims)
        assert t.dtype == value.dtype
        assert len(bound.shape) == value.ndim
        assert all(n in (m, None) for n, m in zip(map(_number, bound.shape), value.shape, strict=True))
        if compared:
            own = {d: n for d, n in dims.items() if d in t.facts.dims}
            np.testing.assert_allclose(sl.interpret(t, **_of(t, arrays), dims=own), value, atol=1e-5)


def test_layer_normalization_is_known_before_version_17_as_onnxruntime_writes_it() -> None:
    x, scale = sl.tensor("N, S, D", name="x"), sl.tensor("D", name="s")
    y, mean, deviation = sl.op("microsoft:LayerNormalization")(x, scale, outputs=3)
    assert [str(t.shape) for t in (y, mean, deviation)] == ["(N, S, D)", "(N, S, 1)", "(N, S, 1)"]


def _of(t: sl.Tensor, arrays: dict[str, Any]) -> dict[str, Any]:
    return {leaf.name: arrays[leaf.name] for leaf in t.arguments()}


def _number(extent: Any) -> int | None:
    return extent if isinstance(extent, int) else None


def _model(name: str, inputs: list[str], named: Any, arrays: Any, attributes: Any, count: int) -> Any:
    helper = onnx.helper
    outputs = [f"y{k}" for k in range(count)]
    node = helper.make_node(name, inputs, outputs, domain="com.microsoft", **attributes)
    values = [
        helper.make_tensor_value_info(
            title,
            helper.np_dtype_to_tensor_dtype(arrays[title].dtype),
            [int(d) if d.isdigit() else d for d in shape],
        )
        for title, shape in named
    ]
    graph = helper.make_graph([node], "g", values, [helper.make_empty_tensor_value_info(o) for o in outputs])
    domains = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=domains, ir_version=8)


def _run(model: Any, arrays: dict[str, Any]) -> list[Any] | None:
    """Return what onnxruntime prints; None if it refuses."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    try:
        return list(session.run(None, arrays))
    except Exception:  # of a class that onnxruntime does not name
        return None


def test_the_rows_are_registered() -> None:
    assert sl.op("microsoft:EmbedLayerNormalization") is microsoft_language.embed_layer_normalization
