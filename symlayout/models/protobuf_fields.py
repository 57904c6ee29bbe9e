"""Count the fields of a protobuf message before the package ``protobuf`` makes objects of them.

A message takes a hundred times the memory of its two bytes in a file, so that a small file could take all memory.
Format: Protocol Buffers, "Encoding", without groups, which ONNX does not have.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from symlayout.errors import FormatError

MAX_FIELDS = 2_000_000  # of one file, including numbers packed into one field

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types


def check_fields(data: bytes, model: Any) -> None:
    """Raise `FormatError` if *data*, a message like *model*, has more than `MAX_FIELDS` fields or is damaged."""
    left = MAX_FIELDS
    messages = [(0, len(data), model)]
    while messages:
        at, end, kind = messages.pop()
        fields = _fields(kind)
        while at < end:
            tag, at = _varint(data, at)
            wire, field, size = tag & 7, fields.get(tag >> 3), 0
            if wire == _VARINT:
                _, at = _varint(data, at)
            elif wire == _BYTES:
                size, at = _varint(data, at)
            elif wire in (_FIXED32, _FIXED64):
                size = 4 if wire == _FIXED32 else 8
            else:
                raise FormatError(f"protobuf has a field of wire type {wire}")
            at += size
            if at > end:
                raise FormatError("protobuf ends inside a field")
            left -= size + 1 if field is int else 1
            if left < 0:
                raise FormatError(f"protobuf has more than {MAX_FIELDS} fields")
            if wire == _BYTES and field is str:
                data[at - size : at].decode()
            elif wire == _BYTES and field not in (None, int):
                messages.append((at - size, at, field))


@cache
def _fields(message: Any) -> dict[int, Any]:
    """Return for each number of a field of *message* what it holds: `str`, `int` or another message.

    Fields whose memory is that of their bytes are left out: bytes, and numbers of a fixed size.
    """
    found: dict[int, Any] = {}
    for field in message.fields:
        if field.message_type is not None:
            found[field.number] = field.message_type
        elif field.type == field.TYPE_STRING:
            found[field.number] = str
        elif field.cpp_type not in (field.CPPTYPE_STRING, field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
            found[field.number] = int
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the integer at *at*, 7 bits a byte and the lowest first, and where it ends."""
    byte = data[at]
    if byte < 0x80:
        return byte, at + 1
    value = 0
    for k, byte in enumerate(data[at : at + 10]):
        value |= (byte & 0x7F) << 7 * k
        if byte < 0x80:
            return value, at + k + 1
    raise FormatError("protobuf has an integer without an end")
