"""Make ``examples/models/pixel_unshuffle.onnx`` as PyTorch exports it, with the nodes that compute its shapes.

Needs the ``torch`` and ``onnx`` packages; the model is committed, so that the examples do not need PyTorch:

    python examples/make_onnx_model.py examples/models
"""

from __future__ import annotations

import argparse
from pathlib import Path

import onnx
import torch


class PixelUnshuffle(torch.nn.Module):  # type: ignore[misc]  # PyTorch's types are not read
    """Blocks of 2 x 2 pixels to channels, in terms of the sizes that the input has."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the channels."""
        n, c, h, w = x.shape
        return x.reshape(n, c, h // 2, 2, w // 2, 2).permute(0, 1, 3, 5, 2, 4).reshape(n, 4 * c, h // 2, w // 2)


def make(path: Path) -> None:
    """Export the model, without the places in PyTorch's source that its nodes come from."""
    names = {"input_names": ["x"], "output_names": ["y"], "dynamic_axes": {"x": dict(enumerate("NCHW"))}}
    torch.onnx.export(PixelUnshuffle().eval(), (torch.zeros(2, 3, 4, 6),), str(path), dynamo=False, **names)
    model = onnx.load(path)
    for node in model.graph.node:
        node.doc_string = ""
    del model.graph.value_info[:]
    onnx.save(model, path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="make the example model")
    parser.add_argument("folder", type=Path, help="where the model goes")
    make(parser.parse_args().folder / "pixel_unshuffle.onnx")
