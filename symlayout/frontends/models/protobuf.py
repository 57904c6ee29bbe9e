"""Read protobuf messages from a stranger, within fixed limits.

A message is a row of fields, each a number, a wire type and a value; which numbers mean what is said by a `Schema`.
One message is read at a time and the messages inside it stay bytes, so that nothing here is recursive: how deep
a file is read is up to the caller, and what is not asked for is stepped over.  Format: Protocol Buffers,
"Encoding".

Left out: groups (wire types 3 and 4), which ``proto3`` does not have, zigzag integers and maps.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from symlayout.errors import FormatError

MAX_FIELDS = 300_000  # of one file, those included that are stepped over

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True, slots=True)
class Field:
    """What a field is called, and its kind.

    The kinds: ``"int"`` is an int64; ``"float"`` and ``"double"``; ``"text"`` is UTF-8; ``"bytes"`` stands for
    messages too.  With *many* the value is a list, for numbers also a packed one.
    """

    name: str
    kind: str
    many: bool = False


Schema = Mapping[int, Field]
_FORMATS = {"float": ("<f", _FIXED32), "double": ("<d", _FIXED64)}


class Reader:
    """Reads the messages of one file, whose fields are counted together."""

    def __init__(self) -> None:
        self._left = MAX_FIELDS

    def read(self, data: memoryview, schema: Schema, where: str) -> dict[str, Any]:
        r"""Return the fields of a message by name: of a field that is not there, an empty list or None.

        Of a number or a text that stands several times, the last one counts, as the format has it.

        Raises
        ------
        FormatError
            If *data* ends inside a field, a field has another wire type than *schema* says, a text is not UTF-8,
            a message stands twice where there is one, or the file has more than `MAX_FIELDS` fields.

        Examples
        --------
        >>> Reader().read(memoryview(b"\x08\x96\x01"), {1: Field("a", "int")}, "an example")
        {'a': 150}
        """
        found: dict[str, Any] = {field.name: [] if field.many else None for field in schema.values()}
        at, end = 0, len(data)
        while at < end:
            tag, at = self._varint(data, at, where)
            wire = tag & 7
            value: Any
            if wire == _VARINT:
                value, at = self._varint(data, at, where)
            elif wire == _BYTES:
                size, at = self._varint(data, at, where)
                value, at = data[at : at + size], at + size
            elif wire in (_FIXED32, _FIXED64):
                size = 4 if wire == _FIXED32 else 8
                value, at = data[at : at + size], at + size
            else:
                raise FormatError(f"protobuf has a field of wire type {wire}\n  in: {where}")
            if at > end:
                raise FormatError(f"protobuf ends inside a field\n  in: {where}")
            self._count(1)
            if (field := schema.get(tag >> 3)) is None:
                continue
            if field.many:
                found[field.name] += self._values(field, wire, value, where)
            elif field.kind == "bytes" and found[field.name] is not None:
                raise FormatError(f"protobuf has {field.name!r} twice\n  in: {where}")
            else:
                (found[field.name],) = self._values(field, wire, value, where, packed=False)
        return found

    def _values(self, field: Field, wire: int, value: Any, where: str, *, packed: bool = True) -> list[Any]:
        """Return the one value of a field, or all of a packed one."""
        if field.kind == "int" and wire == _VARINT:
            return [_signed(value)]
        if field.kind in _FORMATS and wire == _FORMATS[field.kind][1]:
            return [struct.unpack(_FORMATS[field.kind][0], value)[0]]
        if wire == _BYTES and field.kind == "text":
            return [_text(value, where)]
        if wire == _BYTES and field.kind == "bytes":
            return [value]
        if wire == _BYTES and packed and field.kind != "text":
            return self._packed(field.kind, value, where)
        raise FormatError(f"protobuf has {field.name!r} of wire type {wire}, which is no {field.kind}\n  in: {where}")

    def _packed(self, kind: str, data: memoryview, where: str) -> list[Any]:
        """Return numbers that stand one after the other."""
        if kind in _FORMATS:
            form = _FORMATS[kind][0]
            if len(data) % struct.calcsize(form):
                raise FormatError(f"protobuf ends inside a field\n  in: {where}")
            self._count(len(data) // struct.calcsize(form))
            return [value for (value,) in struct.iter_unpack(form, data)]
        found, at = [], 0
        while at < len(data):
            value, at = self._varint(data, at, where)
            self._count(1)
            found.append(_signed(value))
        return found

    def _count(self, fields: int) -> None:
        self._left -= fields
        if self._left < 0:
            raise FormatError(f"protobuf has more than {MAX_FIELDS} fields")

    @staticmethod
    def _varint(data: memoryview, at: int, where: str) -> tuple[int, int]:
        """Return the integer at *at*, 7 bits a byte and the lowest first, and where it ends."""
        value = 0
        for k, byte in enumerate(data[at : at + 10]):
            value |= (byte & 0x7F) << 7 * k
            if byte < 0x80:
                return value & 0xFFFF_FFFF_FFFF_FFFF, at + k + 1
        raise FormatError(f"protobuf has an integer without an end\n  in: {where}")


def _signed(value: int) -> int:
    """Return an int64 from its 64 bits."""
    return value - (1 << 64) if value >> 63 else value


def _text(value: memoryview, where: str) -> str:
    try:
        return str(value, "utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"protobuf has a text that is not UTF-8: {error.reason}\n  in: {where}") from None
