"""OpenVINO's operations, by the attribute and input names of its specifications.

Block shapes, pads and crops of BatchToSpace-2 and SpaceToBatch-2 have one entry per axis, the batch
included.  The batch's entry must be 1 in block shapes, and 0 in pads and crops: OpenVINO's own kernels disagree on
other values.

Each specification is a page of its own, such as
https://docs.openvino.ai/2024/documentation/openvino-ir-format/operation-sets/operation-specs/movement/batch-to-space-2.html

>>> from symlayout import tensor
>>> x = tensor("100, 7, 13, 3")
>>> batch_to_space(x, block_shape=[1, 10, 5, 1], crops_begin=[0, 3, 1, 0], crops_end=[0, 3, 0, 0]).shape
(2, 64, 64, 3)
>>> space_to_depth(tensor("5, 7, 4, 6"), mode="blocks_first", block_size=2).shape
(5, 28, 2, 3)

A function has the newest version of its operation; ``sl.op`` has each version by its name.  Underscores may be left
out: ``sl.openvino.matmul``.
"""

from typing import Any

from symlayout.frontends import registry
from symlayout.frontends.common import concat
from symlayout.frontends.onnx.operator import snake_case
from symlayout.frontends.openvino import (
    along_axes,
    elementwise,
    indexing,
    layers,
    resampling,
    windows,
)
from symlayout.frontends.openvino.blocks import (
    batch_to_space,
    depth_to_space,
    shuffle_channels,
    space_to_batch,
    space_to_depth,
)
from symlayout.frontends.openvino.bounds import pad, slice
from symlayout.frontends.openvino.shapes import broadcast, reshape, roll, split, squeeze, tile, transpose, unsqueeze

MODULES = (along_axes, elementwise, indexing, layers, resampling, windows)
_VERSIONS = {
    name: int(name.rpartition("-")[2]) for name in registry.names() if name.startswith("openvino:") and "-" in name
}
_FUNCTIONS = {snake_case(name): registry.find(name) for name in sorted(_VERSIONS, key=lambda name: _VERSIONS[name])}
_FUNCTIONS = {registry.find(name).__name__: registry.find(name) for name in _VERSIONS} | _FUNCTIONS
globals().update(_FUNCTIONS)
_SHORT = {name.replace("_", ""): name for name in _FUNCTIONS}

__all__ = [
    "batch_to_space",
    "broadcast",
    "concat",
    "depth_to_space",
    "pad",
    "reshape",
    "roll",
    "shuffle_channels",
    "slice",
    "space_to_batch",
    "space_to_depth",
    "split",
    "squeeze",
    "tile",
    "transpose",
    "unsqueeze",
]
__all__ += sorted(_FUNCTIONS.keys() - set(__all__))


def __getattr__(name: str) -> Any:
    """Return an operation whose name is written with other underscores."""
    if name.startswith("__") or (full := _SHORT.get(name.replace("_", ""))) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _FUNCTIONS[full]
