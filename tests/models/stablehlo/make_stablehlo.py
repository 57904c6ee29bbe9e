"""Make the files of JAX in ``files``, and what JAX computes of them: needs jax, and jax2onnx for the files of ONNX.

``python tests/models/stablehlo/make_stablehlo.py`` writes for each network ``NAME.jax``, jax.export's artefact, its
module as text in ``NAME.mlir``, ``NAME.onnx`` by jax2onnx, and ``NAME.npz`` with arrays for the inputs and what JAX
makes of them: ``in.0``, ``in.1``, ..., and ``out.0``, ....  ``parsed.zip`` has what jaxlib parses of the texts.
"""

# mypy: disable-error-code="import-untyped, import-not-found, no-untyped-call, misc"

from __future__ import annotations

import re
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax

from symlayout.models.formats.stablehlo import mlir_process

FOLDER = Path(__file__).parent / "files"
_RANDOM = np.random.default_rng(7)


def weights(*shape: int) -> Any:
    """Return small random weights."""
    return (_RANDOM.normal(size=shape) * 0.4).astype(np.float32)


W1, B1, W2, B2 = weights(6, 8), weights(8), weights(8, 3), weights(3)


def dense(x: Any) -> Any:
    return jax.nn.softmax(jax.nn.relu(x @ W1 + B1) @ W2 + B2, axis=-1)


K1, K2, KB = weights(3, 3, 2, 4), weights(3, 3, 1, 4), weights(4)
NHWC = ("NHWC", "HWIO", "NHWC")


def convolutional(x: Any) -> Any:
    y = lax.conv_general_dilated(x, K1, (1, 1), "SAME", dimension_numbers=NHWC) + KB
    y = lax.conv_general_dilated(jax.nn.relu(y), K2, (2, 2), "VALID", dimension_numbers=NHWC, feature_group_count=4)
    return jnp.mean(y, axis=(1, 2))


def pooled(x: Any) -> Any:
    y = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return lax.reduce_window(y, 0.0, lax.add, (1, 2, 2, 1), (1, 1, 1, 1), "VALID") / 4.0


Q, K, V, LAST = (weights(8, 8) for _ in range(4))


def attention(x: Any) -> Any:
    b, t = x.shape[:2]
    q, k, v = ((x @ w).reshape(b, t, 2, 4).transpose(0, 2, 1, 3) for w in (Q, K, V))
    scores = q @ k.transpose(0, 1, 3, 2) * 0.5
    return (jax.nn.softmax(scores, axis=-1) @ v).transpose(0, 2, 1, 3).reshape(b, t, 8) @ LAST


G, GB = weights(6) + 1, weights(6)


def normalised(x: Any) -> Any:
    mean = jnp.mean(x, axis=-1, keepdims=True)
    centred = x - mean
    variance = jnp.mean(centred * centred, axis=-1, keepdims=True)
    return centred * lax.rsqrt(variance + 1e-5) * G + GB


def moved(x: Any) -> Any:
    n, h, w, c = x.shape
    y = x.reshape(n, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h // 2, w // 2, 4 * c)
    y = jnp.concatenate([y[..., ::-1], y[..., 2:5]], axis=-1)
    return jnp.pad(y, ((0, 0), (1, 0), (0, 2), (0, 0)))


def upsampled(x: Any) -> Any:
    return jnp.repeat(jnp.repeat(x, 2, axis=1), 2, axis=2)


def resized(x: Any) -> Any:
    return jax.image.resize(x, (x.shape[0], 8, 6, 2), "bilinear")


TABLE = weights(11, 4)


def embedded(ids: Any) -> Any:
    return jnp.tanh(jnp.asarray(TABLE)[ids])


def activated(x: Any) -> Any:
    return (jax.nn.gelu(x), jax.nn.silu(x), jax.nn.softplus(x), jnp.clip(x, -1.0, 1.0), jnp.where(x > 0, x, 0.1 * x),
            jnp.square(jnp.sin(x)) + jnp.sign(x) * lax.erf(x))  # fmt: skip


def best(x: Any) -> Any:
    return jnp.argmax(x, axis=1), jnp.max(x, axis=0), jnp.sum(jnp.abs(x), axis=(0, 1)), jnp.cumsum(x, axis=1)


T1 = weights(3, 3, 2, 3)


def transposed(x: Any) -> Any:
    return lax.conv_transpose(x, T1, (2, 2), "SAME", dimension_numbers=NHWC)


def recurrent(x: Any) -> Any:
    def step(state: Any, entry: Any) -> Any:
        new = jnp.tanh(state @ W1[:, :6] + entry)
        return new, new

    return lax.scan(step, jnp.zeros((x.shape[1], 6), jnp.float32), x)[1]


S, F = jax.ShapeDtypeStruct, np.float32
NETWORKS: dict[str, tuple[Callable[..., Any], list[tuple[str, Any]]]] = {
    "activated": (activated, [("b, 5", F)]),
    "attention": (attention, [("b, t, 8", F)]),
    "best": (best, [("b, 5", F)]),
    "convolutional": (convolutional, [("b, h, w, 2", F)]),
    "dense": (dense, [("b, 6", F)]),
    "embedded": (embedded, [("b, t", np.int32)]),
    "moved": (moved, [("b, 2*h, 2*w, 3", F)]),
    "normalised": (normalised, [("b, t, 6", F)]),
    "pooled": (pooled, [("b, 12, 12, 3", F)]),
    "recurrent": (recurrent, [("5, 2, 6", F)]),
    "resized": (resized, [("2, 4, 3, 2", F)]),
    "transposed": (transposed, [("b, 5, 6, 2", F)]),
    "upsampled": (upsampled, [("b, h, w, 3", F)]),
}
SIZES = {"b": 2, "t": 3, "h": 4, "w": 5}


def text_of(exported: Any) -> str:
    """Return a module as text without locations."""
    found: str = exported.mlir_module()
    lines = [re.sub(r" ?loc\((?:[^()\"]|\"[^\"]*\"|\([^()]*\))*\)", "", line) for line in found.splitlines()]
    return "\n".join(line for line in lines if not line.startswith("#loc")) + "\n"


def save(name: str, function: Callable[..., Any], inputs: list[tuple[str, Any]]) -> None:
    """Write the files of a network."""
    scope = export.SymbolicScope()
    given = [S(export.symbolic_shape(text, scope=scope), dtype) for text, dtype in inputs]
    exported = export.export(jax.jit(function))(*given)
    (FOLDER / f"{name}.jax").write_bytes(exported.serialize())
    (FOLDER / f"{name}.mlir").write_text(text_of(exported), "utf-8")
    random = np.random.default_rng(len(name))
    arrays = {}
    for k, (text, dtype) in enumerate(inputs):
        shape = [eval(entry, {}, SIZES) for entry in text.split(",")]
        arrays[f"in.{k}"] = random.normal(size=shape).astype(F) if dtype is F else random.integers(0, 11, shape, dtype)
    made = jax.tree.leaves(function(*arrays.values()))
    arrays |= {f"out.{k}": np.asarray(y) for k, y in enumerate(made)}
    np.savez_compressed(FOLDER / f"{name}.npz", **arrays)  # type: ignore[arg-type]


def write_moved() -> None:
    """Write ``moved.onnx``, which jax2onnx does not make of extents such as ``2*h``: in other operations."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    def constant(title: str, *values: int) -> Any:
        return numpy_helper.from_array(np.array(values, np.int64), title)

    steps = [
        helper.make_node("Transpose", ["x"], ["a"], perm=[0, 3, 1, 2]),
        helper.make_node("SpaceToDepth", ["a"], ["d"], blocksize=2),
        helper.make_node("Transpose", ["d"], ["y"], perm=[0, 2, 3, 1]),
        helper.make_node("Slice", ["y", "last", "before", "axis", "back"], ["r"]),
        helper.make_node("Slice", ["y", "two", "five", "axis"], ["s"]),
        helper.make_node("Concat", ["r", "s"], ["j"], axis=3),
        helper.make_node("Pad", ["j", "pads"], ["result"]),
    ]
    numbers = [constant("last", -1), constant("before", -(1 << 40)), constant("axis", 3), constant("back", -1),
               constant("two", 2), constant("five", 5), constant("pads", 0, 1, 0, 0, 0, 0, 2, 0)]  # fmt: skip
    ends = [helper.make_tensor_value_info(title, TensorProto.FLOAT, shape)
            for title, shape in (("x", ["b", "2*h", "2*w", 3]), ("result", None))]  # fmt: skip
    graph = helper.make_graph(steps, "moved", ends[:1], ends[1:], numbers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.save(model, FOLDER / "moved.onnx")


def convert(name: str, function: Callable[..., Any], inputs: list[tuple[str, Any]]) -> None:
    """Write the file of ONNX: by jax2onnx, which reads the function and not the module."""
    import onnx
    from jax2onnx import to_onnx

    scope = export.SymbolicScope()
    shapes = [S(export.symbolic_shape(text, scope=scope), dtype) for text, dtype in inputs]
    model = to_onnx(function, inputs=shapes, model_name=name, opset=21)
    onnx.save(model, FOLDER / f"{name}.onnx")


def parse() -> None:
    """Write what jaxlib parses of all texts."""
    with zipfile.ZipFile(FOLDER / "parsed.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(FOLDER.glob("*.mlir")):
            with tempfile.TemporaryDirectory() as folder:
                mlir_process.main(path, Path(folder))
                for name in ("module.json", "elements.bin"):
                    entry = zipfile.ZipInfo(f"{path.stem}/{name}")
                    archive.writestr(entry, (Path(folder) / name).read_bytes(), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for title in sys.argv[1:] or NETWORKS:
        save(title, *NETWORKS[title])
        if title == "moved":
            write_moved()
        elif title != "resized":  # which jax2onnx refuses
            convert(title, *NETWORKS[title])
    parse()
