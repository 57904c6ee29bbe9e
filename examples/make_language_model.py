"""Make ``language_model.onnx`` and ``language_model_step.onnx``: a language model as a whole run, and with a cache.

The weights are random; the graph is that of exported decoders: positions behind those of the cache, a causal mask,
attention over the cache and the step.  This script needs the packages ``onnx`` and ``numpy``:

    python examples/make_language_model.py examples/models
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HEADS, DEPTH, VOCABULARY, POSITIONS = 2, 4, 11, 64
WIDTH = HEADS * DEPTH


class Decoder:
    """A decoder as a graph that grows.

    Parameters
    ----------
    cached : bool
        Whether it takes a cache.
    layers : int
        The number of layers.
    wrong : str
        What is wrong with it, for tests: ``"positions"`` (they start at 0 in each step), ``"mask"`` (a token does not
        read itself), ``"order"`` (the step stands before the cache), ``"keys"`` (keys and values are exchanged).
    """

    def __init__(self, cached: bool, layers: int = 2, wrong: str = "") -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._random = np.random.default_rng(0)
        self.inputs = [helper.make_tensor_value_info("ids", TensorProto.INT64, ["B", "S"])]
        self.outputs = ["logits"]
        for k in range(layers):
            self.outputs += [f"present.{k}.key", f"present.{k}.value"]
            shape = ["B", HEADS, "P", DEPTH]
            names = [f"past.{k}.key", f"past.{k}.value"] if cached else []
            self.inputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in names]
        size = self.op("Shape", "ids", start=1, end=2)
        past = self.op("Shape", "past.0.key", start=2, end=3) if cached else self.number([0])
        total = self.op("Add", past, size)
        keys = self.counted(self.number([0]), total)
        rows = self.counted(self.number([0]), size) if wrong == "positions" else self.counted(past, total)
        places = [self.op("Unsqueeze", x, self.number([axis])) for x, axis in ((keys, 0), (rows, 1))]
        seen = self.op("Less" if wrong == "mask" else "LessOrEqual", *places)
        x = self.op("Gather", self.weight(VOCABULARY, WIDTH), "ids")
        x = self.op("Add", x, self.op("Gather", self.weight(POSITIONS, WIDTH), rows))
        for k in range(layers):
            x = self.op("Add", x, self.attention(self.norm(x), seen, k, cached, wrong))
            y = self.op("MatMul", self.norm(x), self.weight(WIDTH, 2 * WIDTH))
            y = self.op("Mul", y, self.op("Sigmoid", y))
            x = self.op("Add", x, self.op("MatMul", y, self.weight(2 * WIDTH, WIDTH)))
        self.op("MatMul", self.norm(x), self.weight(WIDTH, VOCABULARY), out="logits")

    def op(self, kind: str, *inputs: str, out: str = "", **attributes: Any) -> str:
        """Add a node, and return what its output is called."""
        out = out or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [out], name=out, **attributes))
        return out

    def constant(self, array: np.ndarray[Any, Any]) -> str:
        """Add a constant."""
        self.constants.append(numpy_helper.from_array(array, f"constant_{len(self.constants)}"))
        return str(self.constants[-1].name)

    def number(self, values: Any) -> str:
        """Add integers."""
        return self.constant(np.array(values, np.int64))

    def weight(self, *shape: int) -> str:
        """Add random weights."""
        return self.constant(self._random.normal(scale=0.3, size=shape).astype(np.float32))

    def counted(self, start: str, end: str) -> str:
        """Add a range of integers."""
        ends = [self.op("Squeeze", n, self.number([0])) for n in (start, end)]
        return self.op("Range", *ends, self.number(1))

    def norm(self, x: str) -> str:
        """Add a normalisation."""
        return self.op("LayerNormalization", x, self.weight(WIDTH), self.weight(WIDTH), axis=-1)

    def attention(self, x: str, seen: str, layer: int, cached: bool, wrong: str) -> str:
        """Add attention over the cache and the step."""
        parts = []
        for _ in range(3):
            split = self.op(
                "Reshape", self.op("MatMul", x, self.weight(WIDTH, WIDTH)), self.number([0, 0, HEADS, DEPTH])
            )
            parts.append(self.op("Transpose", split, perm=[0, 2, 1, 3]))
        query, *pair = parts
        past = [f"past.{layer}.key", f"past.{layer}.value"]
        past = past[::-1] if wrong == "keys" else past
        for j, name in enumerate(("key", "value")):
            both = [past[j], pair[j]] if cached else [pair[j]]
            both = both[::-1] if wrong == "order" else both
            pair[j] = self.op("Concat", *both, axis=2, out=f"present.{layer}.{name}")
        scores = self.op("MatMul", query, self.op("Transpose", pair[0], perm=[0, 1, 3, 2]))
        scores = self.op("Mul", scores, self.constant(np.array(DEPTH**-0.5, np.float32)))
        scores = self.op("Where", seen, scores, self.constant(np.array(-np.inf, np.float32)))
        read = self.op("Transpose", self.op("MatMul", self.op("Softmax", scores, axis=-1), pair[1]), perm=[0, 2, 1, 3])
        return self.op("MatMul", self.op("Reshape", read, self.number([0, 0, WIDTH])), self.weight(WIDTH, WIDTH))

    def save(self, path: Path) -> Path:
        """Write the file."""
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in self.outputs]
        graph = helper.make_graph(self.nodes, "decoder", self.inputs, ends, self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
        return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="make the example models")
    parser.add_argument("folder", type=Path, help="where the models go")
    folder = parser.parse_args().folder
    Decoder(cached=False).save(folder / "language_model.onnx")
    Decoder(cached=True).save(folder / "language_model_step.onnx")
