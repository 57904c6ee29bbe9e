"""ONNX's operations, by the attribute and input names of the operator schemas.

A function is called as its operator, in snake case: ``sl.onnx.reduce_sum``, ``sl.onnx.gather_nd``.  Underscores may be
left out: ``sl.onnx.matmul``.

>>> from symlayout import tensor
>>> depth_to_space(tensor("N, 4*c, h, w"), blocksize=2, mode="CRD").shape
(N, c, 2*h, 2*w)
"""

from typing import Any

from symlayout.frontends import registry
from symlayout.frontends.common import concat
from symlayout.frontends.onnx import (
    data_dependent,
    elementwise,
    indexing,
    layers,
    normalization,
    products,
    reductions,
    resampling,
    shape_values,
    signals,
    text,
    transformer_layers,
    types,
    windows,
)
from symlayout.frontends.onnx.blocks import depth_to_space, space_to_depth
from symlayout.frontends.onnx.bounds import pad, slice
from symlayout.frontends.onnx.operator import snake_case
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

MODULES = (
    data_dependent,
    elementwise,
    indexing,
    layers,
    normalization,
    products,
    reductions,
    resampling,
    shape_values,
    signals,
    text,
    transformer_layers,
    types,
    windows,
)
_FUNCTIONS = {
    snake_case(name.partition(":")[2]): registry.find(name)
    for name in registry.names()
    if name.startswith("onnx:") and "-" not in name
}
globals().update(_FUNCTIONS)
_SHORT = {name.replace("_", ""): name for name in _FUNCTIONS}

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
__all__ += sorted(_FUNCTIONS.keys() - set(__all__))


def __getattr__(name: str) -> Any:
    """Return an operator whose name is written with other underscores."""
    if name.startswith("__") or (full := _SHORT.get(name.replace("_", ""))) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _FUNCTIONS[full]
