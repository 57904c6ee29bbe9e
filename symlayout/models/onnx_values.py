"""Attributes and constants of an ``.onnx`` file as Python's numbers, texts and NumPy's arrays.

The file is not trusted: what has not the type, the size or the place that it states is a `FormatError`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.errors import FormatError, MissingPackageError, printable, shortened
from symlayout.models.model_file import MAX_RANK, ConstantFiles
from symlayout.tensors.element_types import STRING, element_type, strings

if TYPE_CHECKING:
    from onnx import AttributeProto, NodeProto, SparseTensorProto, TensorProto

_MAX_DENSE = 1 << 22  # elements of a sparse constant
_STRING = 8  # ONNX's number of the type
Constant = np.ndarray[Any, Any]
Attribute = int | float | str | list[int] | list[float] | list[str] | Constant


def label(node: NodeProto) -> str:
    """Return the name of *node* for messages."""
    return f"node {shortened(node.name or next(iter(node.output), ''))!r}, {shortened(node.op_type, 40)}"


def attributes(node: NodeProto) -> dict[str, Attribute]:
    """Return the attributes of *node*.

    Raises
    ------
    FormatError
        If one has a type that holds no numbers or text, such as a graph, stands twice, or has text that is not UTF-8.
    """
    found: dict[str, Attribute] = {}
    for attribute in node.attribute:
        if attribute.name in found:
            raise FormatError(f"attribute {shortened(attribute.name, 40)!r} stands twice\n  in: {label(node)}")
        found[attribute.name] = attribute_value(
            attribute, f"attribute {shortened(attribute.name, 40)!r} of {label(node)}"
        )
    return found


def attribute_value(attribute: AttributeProto, where: str) -> Attribute:
    """Return the value of an attribute."""
    try:
        value = onnx_package().helper.get_attribute_value(attribute)
        if attribute.type == attribute.STRING:
            return str(value, "utf-8")
        if attribute.type == attribute.STRINGS:
            return [str(text, "utf-8") for text in value]
    except ValueError as error:  # a reference, a type that is not known, or no UTF-8
        raise FormatError(f"{where} is not read: {printable(error)}") from None
    if attribute.type == attribute.TENSOR:
        return array(value, where)
    if attribute.type == attribute.SPARSE_TENSOR:
        return _dense(value, where)
    if attribute.type not in (attribute.INT, attribute.INTS, attribute.FLOAT, attribute.FLOATS):
        raise FormatError(f"{where} has type {attribute.type}, which is not read")
    return value  # type: ignore[no-any-return]


def _dense(sparse: SparseTensorProto, where: str) -> Constant:
    """Return a sparse tensor with its zeros."""
    values, indices, shape = array(sparse.values, where), array(sparse.indices, where), tuple(sparse.dims)
    count = math.prod(shape)
    if len(shape) > MAX_RANK or any(n < 0 for n in shape) or count > _MAX_DENSE:
        raise FormatError(f"sparse constant has shape {shortened(str(list(shape)))}\n  in: {where}")
    if indices.ndim == 2 and indices.shape == (values.size, len(shape)):
        weights = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        inside = bool(((indices >= 0) & (indices < np.array(shape, np.int64))).all())
        indices = indices @ np.array(weights, np.int64) if inside else np.array([-1])
    fits = values.ndim == 1 and indices.shape == values.shape and indices.dtype == np.int64
    if not fits or (values.size and not 0 <= indices.min() <= indices.max() < count):
        raise FormatError(f"sparse constant has values or places that do not fit its shape\n  in: {where}")
    made = np.zeros(count, values.dtype)
    made[indices] = values
    return made.reshape(shape)


def plain_attribute(a: AttributeProto) -> Any:
    """Return an attribute without subgraphs as a plain value: equal values for equal attributes."""
    if a.type == a.INT:
        return a.i
    if a.type == a.INTS:
        return tuple(a.ints)
    if a.type == a.STRING:
        return a.s
    return a.f.hex() if a.type == a.FLOAT else a.SerializeToString(deterministic=True)


def array(tensor: TensorProto, where: str, files: ConstantFiles | None = None) -> Constant:
    """Return the value of a ``TensorProto``; mapped if it is kept in another file, one of *files*.

    Raises
    ------
    FormatError
        If it has not the bytes or elements of its shape and type, a type without elements of fixed size, or is kept
        in a file outside their folder.
    """
    dtype, shape = dtype_of(tensor.data_type, where), list(tensor.dims)
    if len(shape) > MAX_RANK or any(n < 0 for n in shape):
        raise FormatError(f"constant has shape {shortened(str(shape))}\n  in: {where}")
    if tensor.data_type == _STRING:
        return _strings(tensor.string_data, shape, where)
    if tensor.external_data or tensor.data_location:
        return _mapped(tensor, dtype, shape, where, files)
    try:
        if tensor.HasField("raw_data") and dtype.isbuiltin and dtype.kind in "iufcb":
            return np.frombuffer(tensor.raw_data, dtype.newbyteorder("<")).reshape(shape)
        return np.array(onnx_package().numpy_helper.to_array(tensor))
    except Exception as error:  # the package raises what NumPy raises
        raise FormatError(f"constant is no {dtype} {shape}: {printable(error)}\n  in: {where}") from None


def _strings(texts: Sequence[bytes], shape: list[int], where: str) -> Constant:
    if len(texts) != math.prod(shape):
        raise FormatError(f"constant has {len(texts)} strings, {shape} needs {math.prod(shape)}\n  in: {where}")
    return strings(texts).reshape(shape)


def _mapped(
    tensor: TensorProto, dtype: np.dtype[Any], shape: list[int], where: str, files: ConstantFiles | None
) -> Constant:
    """Return a constant of another file, which is not read before its elements are."""
    file = external_file(tensor, files, where)
    assert files is not None
    if dtype.itemsize * 8 != _bits(tensor.data_type):
        raise FormatError(f"constant of {dtype} is packed in another file, which is not read\n  in: {where}")
    entries = {entry.key: entry.value for entry in tensor.external_data}
    size = math.prod(shape) * dtype.itemsize
    start = number_of_bytes(entries.get("offset"), 0, where)
    length = number_of_bytes(entries.get("length"), size, where)
    if length != size:
        raise FormatError(f"constant has {length} bytes, {dtype} {shape} needs {size}\n  in: {where}")
    return files.part(file, start, size, where).view(dtype.newbyteorder("<")).reshape(shape)


def external_file(tensor: TensorProto, files: ConstantFiles | None, where: str) -> Path:
    """Return the file that a constant is kept in, one of *files*.

    Raises
    ------
    FormatError
        It is outside their folder.
    """
    location = next((entry.value for entry in tensor.external_data if entry.key == "location"), "")
    if "\0" in location:
        raise FormatError(f"the name {shortened(location)!r} of a file with a constant has a NUL\n  in: {where}")
    if files is None or not location or Path(location).is_absolute() or ".." in Path(location).parts:
        raise FormatError(
            f"constant is kept in {shortened(location)!r}, outside the folder of the model\n  in: {where}"
        )
    file = files.folder / location
    if not file.resolve().is_relative_to(files.folder.resolve()):
        raise FormatError(
            f"constant is kept in {shortened(location)!r}, outside the folder of the model\n  in: {where}"
        )
    return file


def number_of_bytes(text: str | None, default: int, where: str) -> int:
    """Return the number in an entry of a constant's place; *default* if there is none."""
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise FormatError(f"{shortened(text, 40)!r} is not a number of bytes\n  in: {where}")
    return int(text)


def _bits(number: int) -> int:
    """Return how many bits an element takes in a file."""
    kind = onnx_package().TensorProto
    small = {kind.INT4: 4, kind.UINT4: 4, getattr(kind, "FLOAT4E2M1", -1): 4, getattr(kind, "INT2", -1): 2}
    small[getattr(kind, "UINT2", -2)] = 2
    return small.get(number, int(onnx_package().helper.tensor_dtype_to_np_dtype(number).itemsize) * 8)


def dtype_of(number: int, where: str) -> np.dtype[Any]:
    """Return the element type of ONNX's *number*; `FormatError` if it has no fixed size or NumPy has none for it."""
    if (dtype := dtype_or_none(number)) is None:
        raise FormatError(f"element type number {number} has no elements of fixed size\n  in: {where}")
    return dtype


def dtype_or_none(number: Any) -> np.dtype[Any] | None:
    """Return the element type of ONNX's *number*; None if it has no fixed size or NumPy has none for it."""
    if number == _STRING:
        return STRING
    try:
        return element_type(onnx_package().helper.tensor_dtype_to_np_dtype(number))
    except (KeyError, TypeError):  # `ArrayError` is a TypeError
        return None


def number_of(dtype: np.dtype[Any] | None) -> int | None:
    """Return ONNX's number of an element type; None if it has none."""
    if dtype is None or dtype == STRING:
        return None if dtype is None else _STRING
    try:
        return int(onnx_package().helper.np_dtype_to_tensor_dtype(dtype))
    except (KeyError, ValueError):
        return None


def onnx_package() -> Any:
    """Return the package ``onnx``."""
    try:
        import onnx
    except Exception as error:  # protobuf refuses other versions of itself by errors of its own
        raise MissingPackageError(
            f"an .onnx file is read by the package onnx, which cannot be imported: {printable(error)}\n"
            "  help: pip install symlayout[onnx]"
        ) from error
    return onnx
