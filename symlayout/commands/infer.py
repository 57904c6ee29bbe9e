"""Print the output shape, what must hold for it, and the bounds of each extent.

for example:
  symlayout infer "N,C,2*h,2*w" "onnx:SpaceToDepth(blocksize=2)" "transpose(0,2,3,1)"
  symlayout infer "N,H,W,C" "tensorflow:SpaceToBatchND(block_shape=[2,b>=1], paddings=[[1,1],[0,0]])"
  symlayout infer "1..8, 3, ?, 224" "[:, ::-1]" --json
  symlayout infer model.xml
"""

from __future__ import annotations

import argparse

from symlayout import show
from symlayout.commands import subject
from symlayout.commands.report import Report, columns


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    subject.add_arguments(parser)


def run(arguments: argparse.Namespace) -> Report:
    """Infer."""
    (t,) = subject.read(arguments)
    bounds = t.bounds()
    intervals = [f"axis {k}: {show.interval(low, high)}" for k, (low, high) in enumerate(bounds)]
    text = columns(
        [
            ("shape", show.shape(t.shape)),
            ("requires", "\n".join(map(show.words, t.requires)) or "nothing"),
            ("bounds", "\n".join(intervals) or "no axes"),
        ]
    )
    return Report(text, {**show.facts(t), "bounds": [list(interval) for interval in bounds]})
