"""PyTorch's element types: which one operands become, and what numbers are beside tensors.

Semantics: c10/core/ScalarType.cpp (``promoteTypes``) and ATen/native/TypeProperties.cpp (``result_type``): tensors with
axes count before those without, and these before Python's numbers, unless a number is of a higher kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symlayout.errors import ShapeError
from symlayout.frontends.onnx.operator import as_tensor
from symlayout.frontends.onnx.types import cast_to
from symlayout.frontends.registry import NotDeclaredError
from symlayout.tensors.chain import Tensor

SINGLE = np.dtype(np.float32)
_KINDS = {"b": 0, "u": 1, "i": 1, "f": 2, "V": 2, "c": 3}


def kind_of(dtype: np.dtype[Any]) -> int:
    """Return 0 for truth values, 1 for integers, 2 for floats, 3 for complex numbers.

    >>> [kind_of(np.dtype(name)) for name in ("bool", "uint8", "float16", "complex64")]
    [0, 1, 2, 3]
    """
    if dtype.kind not in _KINDS:
        raise NotDeclaredError(f"numbers of type {dtype}")
    return _KINDS[dtype.kind]


def promoted(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type that two types of the same weight become.

    >>> promoted(np.dtype("int64"), np.dtype("float16")), promoted(np.dtype("uint8"), np.dtype("int8"))
    (dtype('float16'), dtype('int16'))
    """
    if a == b:
        return a
    kinds = kind_of(a), kind_of(b)
    if kinds[0] != kinds[1] and max(kinds) < 3:
        return a if kinds[0] > kinds[1] else b
    if kinds == (2, 2):
        if a.itemsize == b.itemsize:
            return SINGLE
        return a if a.itemsize > b.itemsize else b
    if kinds != (1, 1) or np.dtype(np.uint64) in (a, b):
        raise NotDeclaredError(f"operands of types {a} and {b}")
    return np.promote_types(a, b)


def _of_number(value: Any) -> np.dtype[Any]:
    if isinstance(value, bool):
        return np.dtype(bool)
    if isinstance(value, int):
        return np.dtype(np.int64)
    if isinstance(value, float):
        return SINGLE
    raise NotDeclaredError(f"a number of type {type(value).__name__}")


def _higher(first: np.dtype[Any] | None, second: np.dtype[Any] | None) -> np.dtype[Any] | None:
    """Return what two types become of which the first one counts before the second one."""
    if first is None or second is None:
        return second if first is None else first
    return first if kind_of(first) >= kind_of(second) else promoted(first, second)


def result_type(*xs: Any) -> np.dtype[Any] | None:
    """Return the type that tensors and numbers become together; None if the type of a tensor is not known.

    >>> import symlayout as sl
    >>> result_type(sl.tensor("N", dtype="int32"), 2), result_type(sl.tensor("N", dtype="int32"), 0.5)
    (dtype('int32'), dtype('float32'))
    """
    found: list[np.dtype[Any] | None] = [None, None, None]
    for x in xs:
        if isinstance(x, Tensor) and x.dtype is None:
            return None
        weight = 2 if not isinstance(x, Tensor) else 0 if x.rank else 1
        dtype = x.dtype if isinstance(x, Tensor) else _of_number(x)
        assert dtype is not None
        before = found[weight]
        found[weight] = dtype if before is None else promoted(before, dtype)
    return _higher(_higher(found[0], found[1]), found[2])


def operands(name: str, *xs: Any, floats: bool = False, dtype: Any = None) -> list[Tensor]:
    """Return tensors of one type for an operation: numbers become constants, others are cast.

    Parameters
    ----------
    floats : bool
        Whether integers become float32.
    dtype : numpy.dtype, optional
        The type, if it does not follow from *xs*.
    """
    given = [
        as_tensor(name, "an operand", x) if hasattr(x, "__array__") and x.__class__ is not Tensor else x for x in xs
    ]
    for x in given:
        if not isinstance(x, Tensor | bool | int | float):
            raise NotDeclaredError(f"{name} of {type(x).__name__}")
    if not any(isinstance(x, Tensor) for x in given):
        raise ShapeError(f"{name} has no tensor", "attr_dtype")
    common = result_type(*given) if dtype is None else np.dtype(dtype)
    if common is not None and floats and kind_of(common) < 2:
        common = SINGLE
    like = next(x for x in given if isinstance(x, Tensor))
    made = []
    for x in given:
        if isinstance(x, Tensor):
            made.append(cast_to(x, common))
        elif common is None:
            made.append(as_tensor(name, "an operand", x, like))
        else:
            made.append(number(name, x, common))
    return made


def number(name: str, value: Any, dtype: np.dtype[Any]) -> Tensor:
    """Return a number as a constant of a type, which has to hold it."""
    if kind_of(dtype) < 2 and isinstance(value, float):
        raise ShapeError(f"{name}: {value} is no {dtype}", "attr_dtype")
    try:
        return as_tensor(name, "a number", np.asarray(value, dtype))
    except (OverflowError, ValueError):
        raise ShapeError(f"{name}: {value} is no {dtype}", "attr_dtype") from None


def to_floats(name: str, x: Tensor) -> Tensor:
    """Return a tensor as floats: integers become float32."""
    return operands(name, x, floats=True)[0]


def typed(x: Tensor, dtype: Any) -> Tensor:
    """Return a tensor in an element type, by NumPy's name; None leaves it as it is."""
    return x if dtype is None else cast_to(x, np.dtype(dtype))
