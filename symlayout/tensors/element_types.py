"""Element types, fills, and the arrays that callers pass in: views as NumPy arrays over the same memory."""

from __future__ import annotations

import hashlib
import operator
import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from symlayout.algebra.facts import INT64_MAX
from symlayout.errors import ArrayError, ShapeError, printable, shown

MAX_AXES = 64 if int(np.__version__.split(".")[0]) >= 2 else 32  # of an array of NumPy

STRING = np.dtype([("string", "V32")])
"""The element type of a model's strings.  An element is the SHA-256 of its bytes; zeros are the empty string."""


def strings(texts: Sequence[bytes]) -> np.ndarray[Any, Any]:
    """Return strings as an array of `STRING`."""
    found = [hashlib.sha256(text).digest() if text else bytes(STRING.itemsize) for text in texts]
    return np.frombuffer(b"".join(found), STRING)


def type_name(dtype: np.dtype[Any] | None) -> str | None:
    """Return what answers call an element type; None for None.

    >>> type_name(np.dtype("float32")), type_name(STRING)
    ('float32', 'string')
    """
    return None if dtype is None else "string" if dtype == STRING else str(dtype)


def as_array(value: Any, name: str) -> np.ndarray[Any, Any]:
    """Return *value* as a NumPy array over the same memory.

    *value* is an array, or supports the buffer protocol, ``__array_interface__`` or DLPack.

    Raises
    ------
    ArrayError
        *value* is none of these; its elements are objects or vary in size; it is masked; or the CPU cannot read it.
    """
    if type(value) is not np.ndarray:
        value = _converted(value, name)
    _check(value.dtype, f"array {name}")
    return value  # type: ignore[no-any-return]


def new_array(shape: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return an array whose elements are not set.

    Raises
    ------
    ShapeError
        ``overflow`` if the bytes, or those of the axes that are not empty, exceed int64; ``rank`` if NumPy has no array
        of as many axes.
    """
    try:
        return np.empty(shape, dtype)
    except ValueError as error:
        if prod(n for n in shape if n) * dtype.itemsize > INT64_MAX:
            what = f"a result of shape {tuple(shape)} and type {dtype}: its bytes exceed int64"
            raise ShapeError(what, "overflow") from error
        check_axes(len(shape))
        raise


def check_axes(rank: int) -> None:
    """Raise `ShapeError` of kind ``rank`` if NumPy has no array of so many axes."""
    if rank > MAX_AXES:
        raise ShapeError(f"a result has {rank} axes, more than the {MAX_AXES} that an array of NumPy can have", "rank")


def _converted(value: Any, name: str) -> np.ndarray[Any, Any]:
    if isinstance(value, np.ma.MaskedArray):
        raise ArrayError(f"array {name} is masked, and the mask would be lost\n  help: pass .filled(...) or .data")
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    if isinstance(value, (str, list, tuple, int, float, complex, set, dict)) or value is None:
        raise ArrayError(f"array {name} is a {type(value).__name__}, not an array\n  help: pass numpy.asarray(...)")
    try:
        if hasattr(value, "__array_interface__"):
            return _inside(np.asarray(value), value.__array_interface__)
        if hasattr(value, "__dlpack__"):
            return _from_dlpack(value)
        return np.asarray(memoryview(value))
    except Exception as error:  # the object's own code runs here and may raise anything
        raise ArrayError(
            f"array {name} of type {type(value).__name__} cannot be read as an array: {printable(error)}\n"
            "  help: pass a NumPy array, a buffer, or an object with __array_interface__ or __dlpack__ on the CPU"
        ) from error


def _from_dlpack(value: Any) -> np.ndarray[Any, Any]:
    """Return an array over the memory of *value*, also where NumPy lacks its element type."""
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError):
        from symlayout.tensors.read_dlpack import read_dlpack

        found = read_dlpack(value)
        if found is None:
            raise
        numbers, name = found
        return numbers.view(element_type(name))


def _inside(a: np.ndarray[Any, Any], interface: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """Return *a*, an array made from *interface*, after checking it against the buffer that the interface names.

    NumPy does not make this check.

    Raises
    ------
    ValueError
        Elements are outside the buffer.
    """
    data = interface.get("data")
    if a.size and data is not None and not isinstance(data, tuple):
        whole = np.frombuffer(data, np.uint8)
        (low, high), (first, last) = byte_bounds(a), byte_bounds(whole)
        if low < first or high > last:
            raise ValueError(f"elements are outside its buffer of {whole.size} bytes")
    return a


def byte_bounds(a: np.ndarray[Any, Any]) -> tuple[int, int]:
    """Return the address of the first byte of the elements of *a*, and the address after the last; *a* is not empty."""
    start = a.__array_interface__["data"][0]
    reach = [(n - 1) * stride for n, stride in zip(a.shape, a.strides, strict=True)]
    return start + sum(min(0, r) for r in reach), start + sum(max(0, r) for r in reach) + a.itemsize


def element_type(dtype: Any) -> np.dtype[Any]:
    """Return *dtype* as a NumPy dtype of fixed size.

    Names of ml_dtypes, such as ``"bfloat16"``, ``"float8_e4m3fn"`` and ``"int4"``, need that package.

    Raises
    ------
    ArrayError
        *dtype* is not an element type of fixed size, or needs a package that is not installed.
    """
    try:
        made: np.dtype[Any] = np.dtype(_extended(dtype) if isinstance(dtype, str) else dtype)
    except (TypeError, ValueError, SyntaxError) as error:  # NumPy parses lists of types as Python code
        packed = isinstance(dtype, str) and dtype.endswith("int4x2")
        remedy = "\n  help: two of its elements share a byte; give it to compile(dtype=...)" if packed else ""
        raise ArrayError(f"{shown(dtype)} is not an element type: {printable(error)}{remedy}") from error
    _check(made, "dtype")
    if made.subdtype is not None:
        raise ArrayError(f"dtype {made} is an array, not an element type\n  help: add its shape to the tensor's")
    return made


def _extended(name: str) -> Any:
    """Return the type of ml_dtypes called *name*, if there is one; else *name*."""
    if not re.fullmatch(r"bfloat16|u?int[124]|float[468]_\w{1,20}", name, re.ASCII):
        return name
    try:
        import ml_dtypes
    except ImportError:
        raise ArrayError(f"element type {name} needs ml_dtypes\n  help: pip install symlayout[ml_dtypes]") from None
    return getattr(ml_dtypes, name, name)


def end_of_type(dtype: np.dtype[Any], *, lowest: bool, finite: bool = False) -> Any:
    """Return the least or the greatest value of a type: an infinity if it has one, or the last number if *finite*.

    >>> end_of_type(np.dtype("int8"), lowest=True), float(end_of_type(np.dtype("float16"), lowest=False))
    (-128, inf)
    >>> float(end_of_type(np.dtype("float16"), lowest=False, finite=True))
    65504.0
    """
    if dtype.kind == "b":
        return not lowest
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if lowest else np.iinfo(dtype).max
    infinity = dtype.type(-np.inf if lowest else np.inf)
    if not finite and (dtype.kind == "f" or np.isinf(infinity)):  # narrow types may have none
        return infinity
    if dtype.kind == "f":
        return np.finfo(dtype).min if lowest else np.finfo(dtype).max
    import ml_dtypes

    return ml_dtypes.finfo(dtype).min if lowest else ml_dtypes.finfo(dtype).max


def check_dtype(array: np.ndarray[Any, Any], declared: np.dtype[Any] | None, name: str) -> None:
    """Raise `ArrayError` unless *array* has the declared element type, in any byte order."""
    if declared is not None and array.dtype != declared and array.dtype.newbyteorder("=") != declared.newbyteorder("="):
        raise ArrayError(f"array {name} has dtype {type_name(array.dtype)}, declared is {declared}")


def fill_value(value: Any) -> Any:
    """Return a fill as a number, a text or a NumPy scalar.

    Raises
    ------
    ShapeError
        ``attr_dtype`` if *value* is not an element: a dim, a tensor, a list.

    Examples
    --------
    >>> fill_value(np.array(3)), fill_value(True)
    (np.int64(3), True)
    """
    value = _scalar(value)
    if isinstance(value, (bool, int, float, complex, bytes, str, tuple, np.generic)):
        return value
    if not isinstance(value, np.ndarray) and hasattr(value, "__index__"):
        try:
            return int(operator.index(value))
        except TypeError:  # for example a SymPy symbol
            pass
    raise ShapeError(
        f"fill {shown(value)} is not an element\n  help: fill with a number, or with an element of NumPy", "attr_dtype"
    )


def check_fill(value: Any, dtype: np.dtype[Any] | None) -> None:
    """Raise if *dtype* cannot hold *value*; without a dtype, raise if *value* is text or a tuple."""
    if type(value) is int and value == 0:
        return  # all zero bits, in every type
    if dtype is not None:
        fill_element(value, dtype)
    elif isinstance(value, (str, tuple)) and not isinstance(value, np.generic):
        raise ShapeError(
            f"fill {shown(value)} is not an element of every type\n  help: declare the dtype, or fill with a number",
            "attr_dtype",
        )


def fill_element(value: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    r"""Return a 0-d array of *dtype* that holds a fill.  The fill 0 is all zero bits in every type.

    A value that already has the type *dtype* keeps its bits, also if it is a NaN.  Other values round to a float type,
    must be equal to a value of an integer type, and become true for a boolean type unless they are 0.

    Raises
    ------
    ArrayError
        The type cannot hold the value.

    Examples
    --------
    >>> fill_element(-0.0, np.dtype("float16")).tobytes()
    b'\x00\x80'
    >>> fill_element(np.array(3.0), np.dtype("uint8"))  # the element of an array without axes
    array(3, dtype=uint8)
    """
    value = _scalar(value)
    number = _number(value)
    if number is not None and number == 0 and not any(_negative_zeros(number)):
        return np.zeros((), dtype)
    try:
        with np.errstate(over="raise", invalid="raise"):
            made = np.array(value).astype(dtype) if isinstance(value, np.generic) else np.array(value, dtype=dtype)
        if made.shape or dtype.kind in ("biufc" if number is None else "SU") or not _holds(made, number):
            raise ValueError("the value would change")
    except (TypeError, ValueError, OverflowError, FloatingPointError) as error:
        raise ArrayError(
            f"fill {shown(value)} does not fit {dtype}: {printable(error)}\n"
            f"  help: fill with a value of {dtype}, or convert the input to a type that holds the fill"
        ) from error
    return made


def same_fill(a: Any, b: Any, dtype: np.dtype[Any] | None) -> bool:
    """Return whether two fills are equal bit for bit in *dtype*; without a dtype, in every type that holds both.

    >>> same_fill(0.5, np.float32(0.5), None), same_fill(0.1, np.float32(0.1), None)
    (True, False)
    """
    return a is b or fill_text(a, dtype) == fill_text(b, dtype)


def fill_text(value: Any, dtype: np.dtype[Any] | None) -> str:
    """Return a text of a fill: two fills have the same text if and only if `same_fill` holds for them.

    Examples
    --------
    >>> fill_text(2.0, None), fill_text(2, None), fill_text(-0.0, None), fill_text(0.5j, None)
    ('2', '2', '-0', '0 + 1/2j')
    """
    if dtype is not None:
        return fill_element(value, dtype).tobytes().hex()
    value = _scalar(value)
    number = _number(value)
    if number is None:
        return f"{type(value).__name__} {np.array(value).dtype!r} {_bits(value).hex()}"
    if number != number:
        return f"nan {_bits(np.complex128(number)).hex()}"
    real, imaginary = _negative_zeros(number)
    text = "-0" if real else _number_text(number.real)
    return (
        text if not imaginary and number.imag == 0 else text + f" + {'-0' if imaginary else _number_text(number.imag)}j"
    )


def _number_text(number: Any) -> str:
    """Return a real number as text that does not depend on its type."""
    if isinstance(number, np.bool_):
        number = bool(number)
    if abs(number) == np.inf:
        return "inf" if number > 0 else "-inf"
    numerator, denominator = number.as_integer_ratio() if hasattr(number, "as_integer_ratio") else (int(number), 1)
    return str(numerator) if denominator == 1 else f"{numerator}/{denominator}"


def _scalar(value: Any) -> Any:
    """Return the element of an array without axes (models hold constants so); return other values unchanged."""
    return value[()] if type(value) is np.ndarray and value.ndim == 0 else value


def _number(value: Any) -> Any:
    """Return *value* as a Python number; None if it is not a number."""
    if isinstance(value, (int, float, complex, np.number, np.bool_)) and not isinstance(value, np.timedelta64):
        return value
    if isinstance(value, np.generic) and type(value).__module__.partition(".")[0] != "numpy":
        return float(value)  # a type of ml_dtypes: all of its real types are narrower than float
    return None


def _negative_zeros(number: Any) -> tuple[bool, bool]:
    """Return, for the real and the imaginary part, whether it is -0."""
    if not isinstance(number, (float, complex, np.inexact)):
        return (False, False)
    return (
        bool(number.real == 0 and np.signbit(number.real)),
        bool(number.imag == 0 and np.signbit(number.imag)),
    )


def _holds(made: np.ndarray[Any, Any], number: Any) -> bool:
    """Return whether the element *made* equals *number*, or is *number* rounded without overflow to infinity."""
    if number is None or made.dtype.kind in "bmMSU" or number != number:  # NumPy: nonzero is true
        return True
    if np.array(0.5).astype(made.dtype) == 0.5:
        finite = isinstance(number, int) or bool(np.isfinite(number))  # NumPy has no isfinite of ints beyond int64
        return bool(np.isfinite(made)) == finite
    return bool(made[()] == number)


def _bits(value: Any) -> bytes:
    return np.array(value).tobytes()


def _check(dtype: np.dtype[Any], what: str) -> None:
    if dtype.hasobject or dtype.kind == "T" or dtype.itemsize == 0:
        raise ArrayError(f"{what} has dtype {dtype}, which has no fixed-size elements")
