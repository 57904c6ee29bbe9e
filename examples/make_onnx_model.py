"""Make ``examples/models/pixel_unshuffle.onnx`` with PyTorch, including the nodes that compute its shapes.

This script needs the ``torch`` and ``onnx`` packages.  The model is committed, so the examples do not need PyTorch:

    python examples/make_onnx_model.py examples/models
"""

from __future__ import annotations

import argparse
from pathlib import Path

import onnx
import torch


class PixelUnshuffle(torch.nn.Module):  # type: ignore[misc]  # PyTorch's types are not read
    """Move blocks of 2 x 2 pixels to the channels, with shapes computed from the input's sizes."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the channels."""
        n, c, h, w = x.shape
        return x.reshape(n, c, h // 2, 2, w // 2, 2).permute(0, 1, 3, 5, 2, 4).reshape(n, 4 * c, h // 2, w // 2)


def make(path: Path) -> None:
    """Export the model, without the nodes' locations in PyTorch's source."""
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
