"""The fields of a protobuf message are counted before objects are made of them."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, numpy_helper

import symlayout as sl
from symlayout.models import protobuf_fields
from symlayout.models.protobuf_fields import check_fields

VERSION = b"\x08\x09"  # field 1, an integer: ir_version


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protobuf_fields, "MAX_FIELDS", 10)


def test_each_field_counts_once() -> None:
    check_fields(VERSION * 10, ModelProto.DESCRIPTOR)
    with pytest.raises(sl.FormatError, match="more than 10 fields"):
        check_fields(VERSION * 11, ModelProto.DESCRIPTOR)


def test_fields_of_inner_messages_count_too() -> None:
    inner = b"\x0a\x02n" + b"x"  # name, of 2 bytes
    for count, fits in ((2, True), (3, False)):
        operator_set = b"\x42\x04" + inner  # field 8, a message
        data = operator_set * count + VERSION * 6
        if fits:
            check_fields(data, ModelProto.DESCRIPTOR)
        else:
            with pytest.raises(sl.FormatError, match="more than 10 fields"):
                check_fields(data, ModelProto.DESCRIPTOR)


def test_packed_integers_count_by_their_bytes_and_raw_bytes_do_not() -> None:
    packed = TensorProto(int64_data=range(20)).SerializeToString()
    with pytest.raises(sl.FormatError, match="more than 10 fields"):
        check_fields(packed, TensorProto.DESCRIPTOR)
    raw = numpy_helper.from_array(np.arange(20)).SerializeToString()
    check_fields(raw, TensorProto.DESCRIPTOR)


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"\x0b", "wire type 3"),
        (b"\x3a\x05\x00", "ends inside a field"),
        (b"\x08" + b"\xff" * 11, "integer without an end"),
    ],
    ids=["group", "short", "endless"],
)
def test_a_damaged_message_is_refused(data: bytes, rule: str) -> None:
    with pytest.raises(sl.FormatError, match=rule):
        check_fields(data, ModelProto.DESCRIPTOR)


def test_text_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(UnicodeDecodeError):
        check_fields(b"\x12\x01\xff", ModelProto.DESCRIPTOR)  # field 2: producer_name
