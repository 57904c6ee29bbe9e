"""Kernels that compute, beside memcpy, NumPy, torch and onnxruntime: ``python -m benchmarks.bodies``.

Each row is one chain of movement and arithmetic.  All contenders take turns, on one thread, and write the same output.
A ratio above 1 says how often the kernel is faster.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

import symlayout as sl
from benchmarks.machine import machine
from symlayout.commands.peers.timing import Spread, repeatedly, take_turns
from symlayout.compute.contractions import Spatial
from symlayout.compute.pooling import max_pool

Array = np.ndarray[Any, Any]
SCALE, SHIFT = np.array([0.017, 0.0175, 0.0174], np.float32), np.array([-2.1, -2.0, -1.8], np.float32)
LEVELS = ("v2", "v3", "v4")


@dataclass(frozen=True, slots=True)
class Chain:
    """A row: the tensor, its input, and what NumPy calls for it (into an array that it is given)."""

    name: str
    tensor: sl.Tensor
    array: Array
    numpy: Callable[[Array, Array], Any]


def preprocess(size: int) -> Chain:
    """Crop, scale and shift per channel, channels first."""
    x = sl.tensor("H, W, 3", dtype="uint8", name="x")
    image = sl.onnx.cast(x[16:-16, 16:-16], to=1)
    y = sl.transpose(sl.onnx.add(sl.onnx.mul(image, SCALE), SHIFT), (2, 0, 1))
    a = np.random.default_rng(0).integers(0, 256, (size, size, 3), dtype=np.uint8)

    def numpy(a: Array, out: Array) -> None:
        made = a[16:-16, 16:-16].astype(np.float32)
        np.multiply(made, SCALE, out=made)
        np.add(made, SHIFT, out=made)
        np.copyto(out, made.transpose(2, 0, 1))

    return Chain(f"preprocess {size - 32} x {size - 32} x 3", y, a, numpy)


def unpack() -> Chain:
    """Unpack two 4-bit integers of each byte, and dequantise them."""
    x = sl.tensor("H, W", dtype="uint8", name="x")
    shifted = sl.onnx.bit_shift(sl.expand_dims(x, -1), np.array([0, 4], np.uint8), direction="RIGHT")
    n, m = x.shape
    nibbles = sl.reshape(sl.onnx.bitwise_and(shifted, np.uint8(15)), (n, 2 * m))
    y = sl.onnx.dequantize_linear(nibbles, np.float32(0.5), np.uint8(8))
    a = np.random.default_rng(0).integers(0, 256, (1024, 512), dtype=np.uint8)

    def numpy(a: Array, out: Array) -> None:
        np.multiply((a & 15).astype(np.float32) - 8, np.float32(0.5), out=out[:, ::2])
        np.multiply((a >> 4).astype(np.float32) - 8, np.float32(0.5), out=out[:, 1::2])

    return Chain("unpack and dequantise int4", y, a, numpy)


def pool() -> Chain:
    """Take the maximum of each window of 2 x 2."""
    x = sl.tensor("N, C, 2*h, 2*w", dtype="float32", name="x")
    y = max_pool(x, (2, 2), Spatial((2, 2), (1, 1), ((0, 0), (0, 0))))
    a = np.random.default_rng(0).standard_normal((1, 32, 224, 224)).astype(np.float32)

    def numpy(a: Array, out: Array) -> None:
        np.maximum(a[..., ::2, ::2], a[..., ::2, 1::2], out=out)
        np.maximum(out, a[..., 1::2, ::2], out=out)
        np.maximum(out, a[..., 1::2, 1::2], out=out)

    return Chain("max pool 2 x 2", y, a, numpy)


def layout() -> Chain:
    """Put channels first and convert halves to floats."""
    x = sl.tensor("N, H, W, C", dtype="float16", name="x")
    y = sl.onnx.cast(sl.transpose(x, (0, 3, 1, 2)), to=1)
    a = np.random.default_rng(0).standard_normal((1, 112, 112, 64)).astype(np.float16)
    return Chain("NHWC float16 to NCHW float32", y, a, lambda a, out: np.copyto(out, a.transpose(0, 3, 1, 2)))


def torch_preprocess(chain: Chain, out: Array) -> Callable[[], Any]:
    """Return torch's call for `preprocess`."""
    import torch

    torch.set_num_threads(1)
    image, target = torch.from_numpy(chain.array), torch.from_numpy(out)
    scale, shift = torch.from_numpy(SCALE), torch.from_numpy(SHIFT)

    def call() -> None:
        target.copy_((image[16:-16, 16:-16].to(torch.float32) * scale + shift).permute(2, 0, 1))

    return call


def onnx_preprocess(chain: Chain) -> Callable[[], Any]:
    """Return onnxruntime's call for `preprocess`: one session, with all its optimisations."""
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    size = chain.array.shape[0] - 16
    constants = {"starts": [16, 16], "ends": [size, size], "axes": [0, 1]}
    held = [numpy_helper.from_array(np.array(v, np.int64), k) for k, v in constants.items()]
    held += [numpy_helper.from_array(SCALE, "scale"), numpy_helper.from_array(SHIFT, "shift")]
    nodes = [
        helper.make_node("Slice", ["x", "starts", "ends", "axes"], ["cropped"]),
        helper.make_node("Cast", ["cropped"], ["cast"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["cast", "scale"], ["scaled"]),
        helper.make_node("Add", ["scaled", "shift"], ["shifted"]),
        helper.make_node("Transpose", ["shifted"], ["y"], perm=[2, 0, 1]),
    ]
    given = [helper.make_tensor_value_info("x", TensorProto.UINT8, list(chain.array.shape))]
    graph = helper.make_graph(nodes, "g", given, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return partial(session.run, None, {"x": chain.array})


def rows(seconds: float) -> list[str]:
    """Return a line for each chain and instruction set."""
    lines = [
        "| chain | set | memcpy, us | kernel / memcpy | NumPy | torch | onnxruntime |",
        "|---|---|---|---|---|---|---|",
    ]
    for chain in (preprocess(256), preprocess(1056), unpack(), pool(), layout()):
        expected = sl.interpret(chain.tensor, chain.array)
        out, copied = np.empty_like(expected), expected.copy()
        calls: dict[str, Callable[[], Any]] = {"memcpy": partial(np.copyto, out, copied)}
        for level in LEVELS:
            k = sl.compile(chain.tensor, march=level)
            assert k(chain.array, out=out).tobytes() == expected.tobytes()
            calls[level] = partial(k, chain.array, out=out)
        calls["NumPy"] = partial(chain.numpy, chain.array, out)
        if chain.name.startswith("preprocess"):
            if find_spec("torch"):
                calls["torch"] = torch_preprocess(chain, out)
            if find_spec("onnxruntime") and find_spec("onnx"):
                calls["onnxruntime"] = onnx_preprocess(chain)
        found = take_turns({name: repeatedly(call) for name, call in calls.items()}, seconds)
        times = {name: Spread.of(each).median for name, each in found.items()}
        for level in LEVELS:
            peers = [
                f"{times[p] / times[level]:.1f} x" if p in times else "-" for p in ("NumPy", "torch", "onnxruntime")
            ]
            ratio = times[level] / times["memcpy"]
            lines.append(
                f"| {chain.name} | {level} | {1e6 * times['memcpy']:.0f} | {ratio:.2f} | {' | '.join(peers)} |"
            )
    return lines


def main(arguments: list[str]) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bodies", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="for each chain (2)")
    options = parser.parse_args(arguments)
    print(machine())
    print("\n".join(rows(options.seconds)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
