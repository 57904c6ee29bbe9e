"""Deep models of one architecture: layers of a transformer as PyTorch exports them, as many as are asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper

WIDTH, HEADS = 32, 4
NODES_OF_LAYER = 46


class _Writer:
    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.weights: list[TensorProto] = []
        self._random = np.random.default_rng(0)

    def put(self, op: str, *inputs: str, name: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def floats(self, name: str, *shape: int) -> str:
        self.weights.append(numpy_helper.from_array(self._random.normal(size=shape).astype(np.float32), name))
        return name

    def linear(self, x: str, rows: int, columns: int, name: str) -> str:
        made = self.put("MatMul", x, self.floats(f"{name}_w", rows, columns), name=f"{name}_product")
        return self.put("Add", made, self.floats(f"{name}_b", columns), name=name)


def transformer(path: Path, layers: int) -> int:
    """Write a transformer with dynamic batch and length, and return its number of nodes."""
    w = _Writer()
    numbers = {"zero": 0, "one": 1, "minus": -1, "heads": HEADS, "of_head": WIDTH // HEADS, "width": WIDTH}
    w.weights += [numpy_helper.from_array(np.array([n], np.int64), name) for name, n in numbers.items()]
    scalars = {"sqrt2": 2**0.5, "1.0": 1.0, "half": 0.5, "scale": (WIDTH // HEADS) ** 0.5}
    w.weights += [numpy_helper.from_array(np.float32(value), name) for name, value in scalars.items()]
    x = "x"
    for k in range(layers):
        x = _layer(w, x, f"l{k}")
    graph = helper.make_graph(
        w.nodes,
        "transformer",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "S", WIDTH])],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, ["N", "S", WIDTH])],
        w.weights,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return len(w.nodes)


def _layer(w: _Writer, x: str, n: str) -> str:
    """Write a layer: attention, and functions of each element's own channels."""
    normed = w.put("LayerNormalization", x, w.floats(f"{n}_g1", WIDTH), w.floats(f"{n}_o1", WIDTH), name=f"{n}_ln1",
                   axis=-1)  # fmt: skip
    shape = w.put("Shape", normed, name=f"{n}_shape")
    batch, length = (
        w.put("Gather", shape, index, name=f"{n}_{what}", axis=0) for index, what in (("zero", "n"), ("one", "s"))
    )
    split = w.put("Concat", batch, length, "heads", "of_head", name=f"{n}_split", axis=0)
    q, k, v = (_heads(w, normed, split, f"{n}_{which}") for which in "qkv")
    keys = w.put("Transpose", k, name=f"{n}_keys", perm=[0, 1, 3, 2])
    scores = w.put("Div", w.put("MatMul", q, keys, name=f"{n}_qk"), "scale", name=f"{n}_scaled")
    mixed = w.put("MatMul", w.put("Softmax", scores, name=f"{n}_soft", axis=-1), v, name=f"{n}_mixed")
    joined = w.put("Concat", batch, length, "width", name=f"{n}_join", axis=0)
    back = w.put("Reshape", w.put("Transpose", mixed, name=f"{n}_back", perm=[0, 2, 1, 3]), joined, name=f"{n}_rows")
    x = w.put("Add", x, w.linear(back, WIDTH, WIDTH, f"{n}_out"), name=f"{n}_res1")
    normed = w.put("LayerNormalization", x, w.floats(f"{n}_g2", WIDTH), w.floats(f"{n}_o2", WIDTH), name=f"{n}_ln2",
                   axis=-1)  # fmt: skip
    h = w.linear(normed, WIDTH, 2 * WIDTH, f"{n}_up")
    erf = w.put("Erf", w.put("Div", h, "sqrt2", name=f"{n}_div"), name=f"{n}_erf")
    gelu = w.put("Mul", w.put("Mul", h, w.put("Add", erf, "1.0", name=f"{n}_plus"), name=f"{n}_mul"), "half",
                 name=f"{n}_gelu")  # fmt: skip
    return w.put("Add", x, w.linear(gelu, 2 * WIDTH, WIDTH, f"{n}_down"), name=f"{n}_res2")


def _heads(w: _Writer, x: str, split: str, n: str) -> str:
    cut = w.put("Reshape", w.linear(x, WIDTH, WIDTH, n), split, name=f"{n}_cut")
    return w.put("Transpose", cut, name=f"{n}_heads", perm=[0, 2, 1, 3])
