"""onnxruntime's attention computes what onnxruntime does, and is the chain of its parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

import symlayout as sl
from symlayout.errors import ShapeError
from symlayout.frontends.microsoft_attention import attention

BATCH, TIME, HEADS, SIZE, PAST, KEYS = 2, 3, 4, 8, 2, 5
WIDTH = HEADS * SIZE
Array = np.ndarray[Any, Any]


def some(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def ints(*shape: int, below: int = 2) -> Array:
    return np.random.default_rng(sum(shape)).integers(0, below, shape).astype(np.int32)


X, W, BIAS = some(BATCH, TIME, WIDTH), some(WIDTH, 3 * WIDTH) / 5, some(3 * WIDTH)
Q, K, V = some(BATCH, TIME, WIDTH), some(BATCH, KEYS, WIDTH), some(BATCH, KEYS, 2 * WIDTH)
HEADED = some(BATCH, HEADS, TIME, SIZE)
CASES: dict[str, tuple[str, list[Array | None], int, dict[str, Any]]] = {
    "attention": ("Attention", [X, W, BIAS], 1, {}),
    "scale": ("Attention", [X, W, BIAS], 1, {"scale": 0.3}),
    "wider values": (
        "Attention",
        [X, some(WIDTH, 4 * WIDTH) / 5, some(4 * WIDTH)],
        1,
        {"qkv_hidden_sizes": [WIDTH, WIDTH, 2 * WIDTH]},
    ),
    "keys left out": ("Attention", [X, W, BIAS, ints(BATCH, TIME)], 1, {}),
    "keys nearly left out": ("Attention", [X, W, BIAS, ints(BATCH, TIME)], 1, {"mask_filter_value": -3.0}),
    "pairs left out": ("Attention", [X, W, BIAS, ints(BATCH, TIME, TIME)], 1, {"mask_filter_value": -3.0}),
    "past": ("Attention", [X, W, BIAS, None, some(2, BATCH, HEADS, PAST, SIZE)], 2, {}),
    "added scores": ("Attention", [X, W, BIAS, None, None, some(1, HEADS, TIME, TIME)], 1, {}),
    "three inputs": ("MultiHeadAttention", [Q, K, V], 1, {}),
    "bias": ("MultiHeadAttention", [Q, K, V, some(4 * WIDTH)], 1, {"scale": 0.2}),
    "padding": (
        "MultiHeadAttention",
        [Q, K, V, None, ints(BATCH, KEYS), some(1, HEADS, TIME, KEYS)],
        1,
        {"mask_filter_value": -2.0},
    ),
    "keys with heads": ("MultiHeadAttention", [Q, *[some(BATCH, HEADS, KEYS, SIZE)] * 2], 1, {}),
    "past keys": (
        "MultiHeadAttention",
        [Q, Q, Q, None, None, None, some(BATCH, HEADS, PAST, SIZE), some(BATCH, HEADS, PAST, SIZE)],
        3,
        {},
    ),
}
POSITIONS, CACHES = ints(BATCH, TIME, below=9).astype(np.int64), [some(16, SIZE // 2), some(17, SIZE // 2)[:16]]
TURNED: dict[str, tuple[str, list[Array | None], int, dict[str, Any]]] = {
    "heads": ("RotaryEmbedding", [HEADED, POSITIONS, *CACHES], 1, {}),
    "side by side": ("RotaryEmbedding", [X, POSITIONS, *CACHES], 1, {}),
    "neighbours": ("RotaryEmbedding", [X, POSITIONS, *CACHES], 1, {"interleaved": 1}),
    "some elements": (
        "RotaryEmbedding",
        [X, POSITIONS, some(16, 2), some(16, 2)],
        1,
        {"num_heads": HEADS, "rotary_embedding_dim": 4},
    ),
}


def written(path: Path, op: str, inputs: list[Array | None], outputs: int, attributes: dict[str, Any]) -> Path:
    names = ["" if x is None else f"i{k}" for k, x in enumerate(inputs)]
    made = [f"o{k}" for k in range(outputs)]
    given = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for name, x in zip(names, inputs, strict=True)
        if x is not None
    ]
    node = helper.make_node(op, names, made, domain="com.microsoft", **attributes)
    graph = helper.make_graph([node], "graph", given, [helper.make_tensor_value_info(o, 1, None) for o in made])
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    path.write_bytes(helper.make_model(graph, opset_imports=domains, ir_version=8).SerializeToString())
    return path


@pytest.mark.parametrize(
    ("op", "inputs", "outputs", "attributes"),
    [
        *((op, inputs, n, {"num_heads": HEADS, **given}) for op, inputs, n, given in CASES.values()),
        *TURNED.values(),
    ],
    ids=[*CASES, *TURNED],
)
def test_a_fused_layer_computes_what_onnxruntime_does(
    op: str, inputs: list[Array | None], outputs: int, attributes: dict[str, Any], tmp_path: Path
) -> None:
    runtime = pytest.importorskip("onnxruntime")
    path = written(tmp_path / "model.onnx", op, inputs, outputs, attributes)
    arrays = {f"i{k}": x for k, x in enumerate(inputs) if x is not None}
    expected = runtime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, arrays)
    model = sl.read_model(path)
    for name, want in zip(model.outputs, expected, strict=True):
        t = model.outputs[name]
        assert t.body is None or t.body.function is not None, "the operation has no declaration"
        found = sl.interpret(t, *(arrays[leaf.name] for leaf in t.arguments()))
        assert found.shape == want.shape
        np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("inputs", "attributes"),
    [
        ([X, W, BIAS], {"unidirectional": 1}),
        ([X, W, BIAS], {"do_rotary": 1}),
        ([X, W, BIAS, ints(BATCH)], {}),
    ],
    ids=["causal", "rotary", "counted keys"],
)
def test_what_is_not_declared_is_opaque(inputs: list[Array | None], attributes: dict[str, Any], tmp_path: Path) -> None:
    path = written(tmp_path / "model.onnx", "Attention", inputs, 1, {"num_heads": HEADS, **attributes})
    (y,) = sl.read_model(path).outputs.values()
    assert any(node.body is not None and node.body.function is None for node in y.graph())
    assert (y.shape, y.dtype) == ((*X.shape[:2], W.shape[1] // 3), np.float32)
    made = onnx.load(path)
    made.graph.output[0].type.CopyFrom(helper.make_tensor_type_proto(1, [7, 11]))  # which is false
    onnx.save(made, path)
    (z,) = sl.read_model(path).outputs.values()
    assert z.shape == y.shape


def chain(scale: float, *, turned: bool = False) -> sl.Tensor:
    """Return attention of one head after the other: columns of one product."""
    x, w = (sl.tensor(shape, "float32", name) for shape, name in (("N, T, 32", "x"), ("32, 96", "w")))
    projected = sl.onnx.mat_mul(x, w)
    n, t = x.shape[:2]
    q, k, v = (
        sl.transpose(sl.reshape(projected[..., 32 * j : 32 * j + 32], (n, t, 4, 8)), (0, 2, 1, 3)) for j in range(3)
    )
    q, k = (k, q) if turned else (q, k)
    scores = sl.onnx.mul(sl.onnx.mat_mul(q, sl.transpose(k, (0, 1, 3, 2))), np.float32(scale))
    y = sl.onnx.mat_mul(sl.onnx.softmax(scores), v)
    return sl.reshape(sl.transpose(y, (0, 2, 1, 3)), (n, t, 32))


def test_attention_is_the_chain_of_its_parts() -> None:
    x, w = (sl.tensor(shape, "float32", name) for shape, name in (("N, T, 32", "x"), ("32, 96", "w")))
    fused = sl.op("microsoft:Attention")(x, w, num_heads=4, scale=0.25)
    assert sl.prove_equal(fused, chain(0.25)).verdict is sl.Verdict.PROVED
    assert sl.prove_equal(fused, chain(0.5)).verdict is sl.Verdict.REFUTED
    assert sl.prove_equal(fused, chain(0.25, turned=True)).verdict is sl.Verdict.REFUTED


def test_missing_heads_are_an_error() -> None:
    x, w = (sl.tensor(shape, "float32", name) for shape, name in (("N, T, 32", "x"), ("32, 96", "w")))
    with pytest.raises(ShapeError) as caught:
        attention(x, w)
    assert caught.value.kind == "attr_missing"
