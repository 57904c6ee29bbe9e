"""Read FlatBuffers: tables of numbered fields in a byte array, as TensorFlow Lite's files are.

The bytes are not trusted.  Each read is within them, or it is a `FormatError`; parts may overlap, so there is a limit
on how many elements are read in all.  Format: https://flatbuffers.dev/internals/
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symlayout.errors import FormatError

Bytes = np.ndarray[Any, Any]

_EACH = 8  # how often each byte of a file may be read, about
_LEAST = 1 << 16


class FlatBuffer:
    """The bytes of a file, with a limit on what is read of them."""

    def __init__(self, data: Bytes) -> None:
        self.data = data
        self._left = _EACH * len(data) + _LEAST

    def root(self) -> FlatTable:
        """Return the first table."""
        return FlatTable(self, self.offset(0))

    def spend(self, work: int) -> None:
        """Count what is read; `FormatError` if that is more than a file of this size holds."""
        self._left -= work
        if self._left < 0:
            raise FormatError("the parts of the file overlap: it holds more elements than it has bytes for")

    def number(self, at: int, dtype: str) -> Any:
        """Return the number at a byte, a Python int, float or bool."""
        kind = np.dtype(dtype)
        self.spend(1)
        return self.part(at, kind.itemsize).view(kind)[0].item()

    def part(self, at: int, size: int) -> Bytes:
        """Return bytes, not copied."""
        if at < 0 or size < 0 or at + size > len(self.data):
            raise FormatError(f"the file ends before byte {at + size}: it has {len(self.data)}")
        return self.data[at : at + size]

    def offset(self, at: int) -> int:
        """Return the byte that an offset points to; it is after the offset."""
        distance: int = self.number(at, "<u4")
        if distance < 1:
            raise FormatError(f"an offset at byte {at} points to itself")
        return at + distance

    def vector(self, at: int, dtype: str) -> Bytes:
        """Return a vector of numbers, not copied."""
        kind, count = np.dtype(dtype), self.number(at, "<u4")
        self.spend(count if kind.itemsize > 1 else 1)
        return self.part(at + 4, count * kind.itemsize).view(kind)


class FlatTable:
    """A table: fields by their numbers, each of which may be left out."""

    __slots__ = ("_buffer", "_ends", "_fields", "_start")

    def __init__(self, buffer: FlatBuffer, start: int) -> None:
        self._buffer, self._start = buffer, start
        fields = start - buffer.number(start, "<i4")
        size, inline = buffer.number(fields, "<u2"), buffer.number(fields + 2, "<u2")
        if size < 4 or size % 2 or inline < 4:
            raise FormatError(f"the table at byte {start} has fields of {size} bytes")
        buffer.spend(size // 2)
        buffer.part(start, inline)
        self._fields, self._ends = buffer.part(fields + 4, size - 4).view("<u2"), inline

    def _at(self, field: int, size: int = 4) -> int | None:
        """Return where a field is; None if it is left out."""
        distance = int(self._fields[field]) if field < len(self._fields) else 0
        if not distance:
            return None
        if distance < 4 or distance + size > self._ends:
            raise FormatError(f"field {field} of the table at byte {self._start} is outside of it")
        return self._start + distance

    def has(self, field: int) -> bool:
        """Return whether a field is there."""
        return field < len(self._fields) and bool(self._fields[field])

    def number(self, field: int, dtype: str, default: Any) -> Any:
        """Return a number, or its default."""
        at = self._at(field, np.dtype(dtype).itemsize)
        return default if at is None else self._buffer.number(at, dtype)

    def table(self, field: int) -> FlatTable | None:
        """Return a table; None if it is left out."""
        at = self._at(field)
        return None if at is None else FlatTable(self._buffer, self._buffer.offset(at))

    def tables(self, field: int) -> list[FlatTable]:
        """Return a vector of tables; an empty list if it is left out."""
        at = self._at(field)
        if at is None:
            return []
        start = self._buffer.offset(at)
        count = len(self._buffer.vector(start, "<u4"))
        return [FlatTable(self._buffer, self._buffer.offset(start + 4 + 4 * k)) for k in range(count)]

    def numbers(self, field: int, dtype: str) -> Bytes:
        """Return a vector of numbers; an empty one if it is left out."""
        at = self._at(field)
        return np.zeros(0, dtype) if at is None else self._buffer.vector(self._buffer.offset(at), dtype)

    def text(self, field: int) -> str:
        """Return a text; an empty one if it is left out."""
        data = self.numbers(field, "u1")
        self._buffer.spend(len(data))
        return data.tobytes().decode("utf-8", "replace")

    def texts(self, field: int) -> list[str]:
        """Return a vector of texts; an empty list if it is left out."""
        at = self._at(field)
        if at is None:
            return []
        start = self._buffer.offset(at)
        count = len(self._buffer.vector(start, "<u4"))
        found = []
        for k in range(count):
            data = self._buffer.vector(self._buffer.offset(start + 4 + 4 * k), "u1")
            self._buffer.spend(len(data))
            found.append(data.tobytes().decode("utf-8", "replace"))
        return found
