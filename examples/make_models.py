"""Make the models in ``examples/models`` with OpenVINO: an ``.xml`` and a ``.bin`` each.

The models are the examples in the specifications of BatchToSpace-2, SpaceToBatch-2 and SpaceToDepth-1, and a chain
with dynamic shapes that returns its input.  Only this script needs the ``openvino`` package, because the models are
committed:

    python examples/make_models.py examples/models
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset13 as ops


def parameter(shape: str) -> ov.Node:
    """Return the input ``data``, of float32; in a shape ``?`` is any extent, ``2..`` one of 2 or more."""
    return ops.parameter(ov.PartialShape(shape), np.float32, name="data")


def integers(*lists: list[int]) -> list[ov.Node]:
    """Return constants for the inputs that are attributes."""
    return [ops.constant(np.array(values, np.int64)) for values in lists]


def save(folder: Path, name: str, data: ov.Node, result: ov.Node) -> None:
    """Save the model that computes *result*, its output called ``result``, from *data*."""
    result.output(0).set_names({"result"})
    ov.save_model(ov.Model([result], [data], name), folder / f"{name}.xml")


def save_all(folder: Path) -> None:
    """Save every model in *folder*."""
    data = parameter("10,2")
    crops = integers([1, 5], [0, 2], [0, 0])
    save(folder, "batch_to_space_2d", data, ops.batch_to_space(data, *crops))

    data = parameter("48,3,3,1,3")
    crops = integers([1, 2, 4, 3, 1], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0])
    save(folder, "batch_to_space_5d", data, ops.batch_to_space(data, *crops))

    data = parameter("2,6,10,3,3")
    pads = integers([1, 2, 4, 3, 1], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0])
    save(folder, "space_to_batch_5d", data, ops.space_to_batch(data, *pads))

    data = parameter("5,7,4,6")
    save(folder, "space_to_depth", data, ops.space_to_depth(data, "blocks_first", 2))

    data = parameter("?,1..8,2..,?")
    pads = integers([1, 1, 2, 2], [0, 0, 1, 1], [0, 0, 1, 0])
    there = ops.space_to_batch(data, *pads)
    save(folder, "round_trip_dynamic", data, ops.batch_to_space(there, *pads))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="make the example models")
    parser.add_argument("folder", type=Path, help="where the models go")
    save_all(parser.parse_args().folder)
