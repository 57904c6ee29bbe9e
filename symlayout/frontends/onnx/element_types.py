"""ONNX's numbers of element types (``TensorProto.DataType``), as NumPy types."""

from __future__ import annotations

from typing import Any

import numpy as np

from symlayout.errors import ShapeError, shown
from symlayout.tensors.element_types import element_type

_NAMES = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    8: "str",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    14: "complex64",
    15: "complex128",
    16: "bfloat16",
    17: "float8_e4m3fn",
    18: "float8_e4m3fnuz",
    19: "float8_e5m2",
    20: "float8_e5m2fnuz",
    21: "uint4",
    22: "int4",
    23: "float4_e2m1fn",
    24: "float8_e8m0fnu",
    25: "uint2",
    26: "int2",
    27: "float6_e2m3fn",
    28: "float6_e3m2fn",
}


def of_number(name: str, value: Any) -> np.dtype[Any] | None:
    """Return the NumPy type of a number; a name or a type is accepted too.  Text has no fixed type: None.

    Raises
    ------
    ShapeError
        ``attr_dtype`` if there is no such type.

    >>> of_number("to", 10)
    dtype('float16')
    """
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        if int(value) not in _NAMES:
            raise ShapeError(f"{name} is {shown(value)}, which is the number of no element type", "attr_dtype")
        text = _NAMES[int(value)]
        return None if text == "str" else element_type(text)
    return element_type(value)
