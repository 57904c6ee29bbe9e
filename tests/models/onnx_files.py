"""ONNX models for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from onnx import NodeProto, TensorProto, ValueInfoProto

import symlayout as sl
from tests.support.onnx_writer import model, node, tensor, value_info

NCHW = ("N", "C", "H", "W")
X = value_info("x", NCHW)


def load(folder: Path, data: bytes) -> dict[str, sl.Tensor]:
    path = folder / "model.onnx"
    path.write_bytes(data)
    return sl.load(path)


def loaded(
    folder: Path, *nodes: NodeProto, constants: Sequence[TensorProto] = (), x: ValueInfoProto = X, opset: int = 20
) -> sl.Tensor:
    """Return the output y of a model with the input x."""
    return load(folder, model(nodes, [x], constants=constants, opset=opset))["y"]


def constants(**values: list[int] | int) -> tuple[TensorProto, ...]:
    """Return initializers; an int has no axes."""
    return tuple(tensor([v], [], name) if isinstance(v, int) else tensor(v, name=name) for name, v in values.items())


def extent_nodes(**axes: int) -> list[NodeProto]:
    """Return nodes as PyTorch writes them, each of which gives an extent of x by its name, without axes."""
    made = [node("Shape", "x", "shape")]
    for name, axis in axes.items():
        made.append(node("Constant", "", f"axis_{name}", value=tensor([axis], [])))
        made.append(node("Gather", f"shape, axis_{name}", name, axis=0))
    return made


def joined(target: str, *names: str) -> list[NodeProto]:
    """Return nodes that make a list of scalars and lists; ``1`` stands for a constant."""
    made = []
    for k, name in enumerate(names):
        if name.lstrip("-").isdigit():
            made.append(node("Constant", "", f"{target}_{k}", value_ints=[int(name)]))
        else:
            made.append(node("Unsqueeze", f"{name}, zero", f"{target}_{k}"))
    return [*made, node("Concat", ", ".join(f"{target}_{k}" for k in range(len(names))), target, axis=0)]


ZERO = constants(zero=[0])

FINE = model([node("Transpose", "x", "y", perm=[0, 2, 3, 1])], [X])


def only(*nodes: NodeProto, x: ValueInfoProto = X, constants: Sequence[TensorProto] = (), **keywords: Any) -> bytes:
    return model(nodes, [x], constants=constants, **keywords)
