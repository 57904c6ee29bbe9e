"""Write small ONNX models by hand, without the onnx package: protobuf fields by their numbers in ``onnx.proto3``."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

FLOAT, INT64 = 1, 7  # element types
Extent = int | str | None


def varint(value: int) -> bytes:
    value &= 0xFFFF_FFFF_FFFF_FFFF
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*made, value])


def field(number: int, value: int | float | str | bytes) -> bytes:
    """Return a field: of an int a varint, of a float 32 bits, else bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def value_info(name: str, shape: Sequence[Extent] | None, dtype: int = FLOAT) -> bytes:
    kind = field(1, dtype)
    if shape is not None:
        dims = [b"" if n is None else field(1, n) if isinstance(n, int) else field(2, n) for n in shape]
        kind += field(2, b"".join(field(1, dim) for dim in dims))
    return field(1, name) + field(2, field(1, kind))


def tensor(values: Sequence[int], shape: Sequence[int] | None = None, name: str = "") -> bytes:
    """Return a TensorProto of int64 with packed elements; of one axis, if no shape is given."""
    dims = b"".join(field(1, n) for n in ([len(values)] if shape is None else shape))
    return dims + field(2, INT64) + field(7, b"".join(map(varint, values))) + field(8, name)


def attribute(name: str, value: int | float | str | bytes | list[int]) -> bytes:
    """Return an AttributeProto; bytes are a tensor."""
    if isinstance(value, list):
        return field(1, name) + field(8, b"".join(map(varint, value))) + field(20, 7)
    number, kind = {int: (3, 2), float: (2, 1), str: (4, 3), bytes: (5, 4)}[type(value)]
    return field(1, name) + field(number, value) + field(20, kind)


def node(op: str, inputs: str, outputs: str, domain: str = "", name: str = "", **attributes: Any) -> bytes:
    """Return a NodeProto; names are separated by commas, and an empty one is an input that is left out."""
    made = b"".join(field(1, n.strip()) for n in inputs.split(",") if inputs)
    made += b"".join(field(2, n.strip()) for n in outputs.split(",") if outputs)
    made += field(3, name) + field(4, op) + field(7, domain)
    return made + b"".join(field(5, attribute(key, value)) for key, value in attributes.items())


def model(
    nodes: Sequence[bytes],
    inputs: Sequence[bytes],
    outputs: Sequence[str] = ("y",),
    constants: Sequence[bytes] = (),
    opset: int = 20,
    ir_version: int = 9,
) -> bytes:
    """Return a ModelProto."""
    graph = b"".join(field(1, n) for n in nodes) + b"".join(field(5, c) for c in constants)
    graph += b"".join(field(11, i) for i in inputs)
    graph += b"".join(field(12, value_info(name, None)) for name in outputs)
    return field(1, ir_version) + field(8, field(1, "") + field(2, opset)) + field(7, graph)
