"""Tables of FlatBuffers: fields have defaults, and no offset leads outside of the bytes."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

import symlayout as sl
from symlayout.models.formats.flat_buffer import FlatBuffer

TABLE = struct.pack("<IHHHHHHiiI", 16, 10, 12, 4, 0, 8, 0, 12, -7, 4) + struct.pack("<Iii", 2, 5, 6)
"""A root at byte 16: field 0 is -7, field 1 is left out, field 2 is a vector."""


def buffer(data: bytes = TABLE) -> FlatBuffer:
    return FlatBuffer(np.frombuffer(data, np.uint8))


def test_fields_are_read_and_have_defaults() -> None:
    table = buffer().root()
    assert table.number(0, "<i4", 1) == -7
    assert table.number(1, "<i4", 3) == 3
    assert table.number(9, "<i4", 3) == 3
    assert table.numbers(2, "<i4").tolist() == [5, 6]
    assert table.numbers(1, "<i4").tolist() == []
    assert table.tables(1) == []
    assert table.table(1) is None
    assert table.text(1) == ""
    assert table.has(2)
    assert not table.has(1)


@pytest.mark.parametrize("at", range(0, len(TABLE)))
def test_no_byte_leads_outside(at: int) -> None:
    for value in (0, 1, 127, 128, 255):
        data = bytearray(TABLE)
        data[at] = value
        for bad in (bytes(data), TABLE[:at]):
            try:
                table = buffer(bad).root()
                table.number(0, "<i4", 0)
                table.numbers(2, "<i8")
                table.tables(2)
            except sl.FormatError:
                continue


def test_overlapping_parts_do_not_multiply_the_work(tmp_path: Path) -> None:
    """All offsets of a vector may lead to one table, whose vectors may be as long as the file."""
    count = 40_000
    head = struct.pack("<I4s", 0, b"TFL3")
    vtable = struct.pack("<HHHHH", 10, 12, 0, 0, 4)  # field 2: subgraphs
    at = len(head) + len(vtable) + 2
    model = b"\0\0" + struct.pack("<iII", at - len(head), 8, 0)
    vector = struct.pack("<I", count) + b"".join(struct.pack("<I", 4 * (count - k)) for k in range(count))
    data = bytearray(head + vtable + model + vector + struct.pack("<iI", 4, 0))
    struct.pack_into("<I", data, 0, at)
    path = tmp_path / "m.tflite"
    path.write_bytes(bytes(data))
    with pytest.raises(sl.FormatError):
        sl.read_model(path)
