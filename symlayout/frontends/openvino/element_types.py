"""OpenVINO's names of element types, as NumPy types."""

from __future__ import annotations

from typing import Any

import numpy as np

from symlayout.errors import ShapeError, shown
from symlayout.frontends.registry import NotDeclaredError
from symlayout.tensors.element_types import element_type

NAMES = {
    "boolean": "bool", "f16": "float16", "f32": "float32", "f64": "float64",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
}  # fmt: skip

_OTHERS = (
    "bf16",
    "u1",
    "u2",
    "u3",
    "u4",
    "u6",
    "i4",
    "nf4",
    "f4e2m1",
    "f8e4m3",
    "f8e5m2",
    "f8e8m0",
    "string",
    "dynamic",
)


def of_name(attribute: str, name: Any) -> np.dtype[Any]:
    """Return the NumPy type of a name.

    Raises
    ------
    ShapeError
        ``attr_dtype`` if there is no such type; ``not_declared`` if NumPy has none for it.

    >>> of_name("destination_type", "f16")
    dtype('float16')
    """
    if isinstance(name, str) and name in NAMES:
        return element_type(NAMES[name])
    if name in _OTHERS:
        raise NotDeclaredError(f"{attribute} is {shown(name)}, an element type that NumPy does not have")
    raise ShapeError(f"{attribute} is {shown(name)}, which is the name of no element type", "attr_dtype")
