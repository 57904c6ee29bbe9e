"""Arrays of DLPack whose element types NumPy does not know: the memory is described by hand, and not copied.

Source: `DLManagedTensor` and `DLManagedTensorVersioned` of DLPack's ``dlpack.h``, versions 0 and 1.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

_READ_ONLY = 1  # a bit of DLManagedTensorVersioned.flags
_CPU = 1  # DLDeviceType
_BITS = {4: 16}  # of an element, where they are not 8
TYPES = {
    4: "bfloat16",
    7: "float8_e3m4",
    8: "float8_e4m3",
    9: "float8_e4m3b11fnuz",
    10: "float8_e4m3fn",
    11: "float8_e4m3fnuz",
    12: "float8_e5m2",
    13: "float8_e5m2fnuz",
    14: "float8_e8m0fnu",
}
"""The names in ml_dtypes of the types that NumPy lacks, by their `DLDataTypeCode`."""


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),  # in elements; null if the array is contiguous
        ("byte_offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


class _Memory:
    """The memory of a capsule, which has to live as long: its end gives the memory back."""

    def __init__(self, capsule: object, interface: dict[str, Any]) -> None:
        self.capsule = capsule
        self.__array_interface__ = interface


def read_dlpack(value: Any) -> tuple[np.ndarray[Any, Any], str] | None:
    """Return the elements of *value* as unsigned integers over the same memory, and the name of their type.

    None if the type is not one of `TYPES`, or the array is not in the CPU's memory.
    """
    try:
        capsule = value.__dlpack__(max_version=(1, 0))
    except TypeError:  # the exporter is older than version 1
        capsule = value.__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    is_valid = ctypes.pythonapi.PyCapsule_IsValid
    is_valid.restype, is_valid.argtypes = ctypes.c_int, (ctypes.py_object, ctypes.c_char_p)
    if is_valid(capsule, b"dltensor_versioned"):
        whole = _Versioned.from_address(pointer(capsule, b"dltensor_versioned"))
        if whole.major != 1:
            return None
        t, read_only = whole.tensor, bool(whole.flags & _READ_ONLY)
    elif not is_valid(capsule, b"dltensor"):
        return None
    else:  # of such an array it is not known whether it may be written
        t, read_only = _Tensor.from_address(pointer(capsule, b"dltensor")), True
    name = TYPES.get(t.code)
    if name is None or t.device_type != _CPU or t.lanes != 1 or t.bits != _BITS.get(t.code, 8):
        return None
    size = t.bits // 8
    interface = {
        "version": 3,
        "shape": tuple(t.shape[: t.ndim]),
        "typestr": np.dtype(f"u{size}").str,
        "data": ((t.data or 0) + t.byte_offset, read_only),
        "strides": tuple(stride * size for stride in t.strides[: t.ndim]) if t.strides else None,
    }
    return np.asarray(_Memory(capsule, interface)), name
