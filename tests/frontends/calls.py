"""Dims, and the kind of the error that a call raises."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import symlayout as sl
from symlayout.frontends import names

N, C, H, W = sl.dims("N C H W")


def kind_of(call: Any) -> str:
    with pytest.raises(sl.ShapeError) as caught:
        call()
    return caught.value.kind


_COMPUTING = {module.__name__ for module in (*sl.onnx.MODULES, *sl.openvino.MODULES, *sl.torch.MODULES)}
FRAMEWORKS = ("openvino", "tensorflow", "onnx", "torch")
MOVEMENT = tuple(
    name
    for name in names()
    if name.partition(":")[0] in FRAMEWORKS and inspect.unwrap(sl.op(name)).__module__ not in _COMPUTING
    if not (name.startswith("onnx:") and "-" in name)  # an earlier version
)
"""The operations that move elements, in their last versions."""
