"""ONNX's operations, by the attribute and input names of the operator schemas.

>>> from symlayout import tensor
>>> depth_to_space(tensor("N, 4*c, h, w"), blocksize=2, mode="CRD").shape
(N, c, 2*h, 2*w)
"""

from symlayout.frontends.common import concat
from symlayout.frontends.onnx.blocks import depth_to_space, space_to_depth
from symlayout.frontends.onnx.bounds import pad, slice
from symlayout.frontends.onnx.shapes import (
    expand,
    flatten,
    identity,
    reshape,
    split,
    squeeze,
    tile,
    transpose,
    unsqueeze,
)

__all__ = [
    "concat",
    "depth_to_space",
    "expand",
    "flatten",
    "identity",
    "pad",
    "reshape",
    "slice",
    "space_to_depth",
    "split",
    "squeeze",
    "tile",
    "transpose",
    "unsqueeze",
]
