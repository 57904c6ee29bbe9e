"""Files of TensorFlow Lite that tests write, table by table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symlayout.models.formats.tflite_schema import BUILTINS, CUSTOM, ELEMENT_TYPES, Field

NUMBERS = {row.name: number for number, row in BUILTINS.items()}
TYPES = {np.dtype(name): number for number, name in ELEMENT_TYPES.items()}


@dataclass(frozen=True)
class T:
    """A tensor; None in its shape is an extent that is not known."""

    name: str
    shape: Sequence[int | None]
    dtype: Any = np.float32
    data: Any = None
    scale: Sequence[float] = ()
    zero_point: Sequence[int] = ()
    axis: int = 0
    variable: bool = False
    has_rank: bool = True


@dataclass(frozen=True)
class Op:
    """An operator: the name of a builtin one or its number, the names of tensors, and options by attribute."""

    name: str | int
    inputs: str
    outputs: str
    options: Mapping[str, Any] = field(default_factory=dict)
    custom: bytes = b""
    version: int = 1


def const(name: str, values: Any, dtype: Any = None) -> T:
    """Return a tensor with elements."""
    array = np.asarray(values, dtype)
    return T(name, array.shape, array.dtype, array)


def flat_model(
    tensors: Sequence[T],
    operators: Sequence[Op],
    inputs: str = "x",
    outputs: str = "y",
    signature: Mapping[str, str] | None = None,
    version: int = 3,
) -> bytes:
    """Return the bytes of a model; *signature* has the names that callers use, by the names of tensors.

    The package ``flatbuffers`` writes it.
    """
    b = pytest.importorskip("flatbuffers").Builder(1024)
    at = {t.name: k for k, t in enumerate(tensors)}
    numbers = [NUMBERS[op.name] if isinstance(op.name, str) and op.name in NUMBERS else op.name for op in operators]
    versions = [op.version for op in operators]
    codes = list(dict.fromkeys(zip(numbers, versions, strict=True)))
    buffers, made = [_table(b, {})], []
    for t in tensors:
        number = 0
        if t.data is not None:
            raw = np.ascontiguousarray(t.data, t.dtype).tobytes()
            b.StartVector(1, len(raw), 16)
            b.head -= len(raw)
            b.Bytes[b.head : b.head + len(raw)] = raw
            buffers.append(_table(b, {0: ("ref", b.EndVector())}))
            number = len(buffers) - 1
        made.append(_tensor(b, t, number))
    ops = []
    for op, n, v in zip(operators, numbers, versions, strict=True):
        slots: dict[int, Any] = {
            0: ("<u4", codes.index((n, v))),
            1: ("ref", _numbers(b, [at[name] if name != "-" else -1 for name in op.inputs.split()])),
            2: ("ref", _numbers(b, [at[name] for name in op.outputs.split()])),
        }
        if isinstance(n, int) and n in BUILTINS and BUILTINS[n].options and op.options is not None:
            fields = {f.name: f for f in BUILTINS[n].fields}
            assert op.options.keys() <= fields.keys()
            own = {fields[k].number: _option(b, fields[k], v) for k, v in op.options.items()}
            slots |= {3: ("u1", BUILTINS[n].options), 4: ("ref", _table(b, own))}
        if op.custom:
            slots[5] = ("ref", b.CreateByteVector(op.custom))
        ops.append(_table(b, slots))
    main = _table(
        b,
        {
            0: ("ref", _refs(b, made)),
            1: ("ref", _numbers(b, [at[n] for n in inputs.split()])),
            2: ("ref", _numbers(b, [at[n] for n in outputs.split()])),
            3: ("ref", _refs(b, ops)),
        },
    )
    known = [
        _table(b, {0: ("<i1", min(n, 127)), 2: ("<i4", v), 3: ("<i4", n)})
        if isinstance(n, int)
        else _table(b, {0: ("<i1", CUSTOM), 1: ("ref", b.CreateString(n)), 3: ("<i4", CUSTOM)})
        for n, v in codes
    ]
    slots = {
        0: ("<u4", version),
        1: ("ref", _refs(b, known)),
        2: ("ref", _refs(b, [main])),
        4: ("ref", _refs(b, buffers)),
    }
    if signature is not None:
        ends = [
            _refs(b, [_table(b, {0: ("ref", b.CreateString(signature[n])), 1: ("<u4", at[n])}) for n in names.split()])
            for names in (inputs, outputs)
        ]
        key = b.CreateString("serving_default")
        one = _table(b, {0: ("ref", ends[0]), 1: ("ref", ends[1]), 2: ("ref", key), 4: ("<u4", 0)})
        slots[7] = ("ref", _refs(b, [one]))
    b.Finish(_table(b, slots), file_identifier=b"TFL3")
    return bytes(b.Output())


def write(folder: Path, *args: Any, name: str = "model.tflite", **kwargs: Any) -> Path:
    """Write `flat_model` to a file."""
    path = folder / name
    path.write_bytes(flat_model(*args, **kwargs))
    return path


def _tensor(b: Any, t: T, buffer: int) -> int:
    slots: dict[int, Any] = {
        0: ("ref", _numbers(b, [1 if n is None else n for n in t.shape])),
        1: ("<i1", TYPES[np.dtype(t.dtype)]),
        2: ("<u4", buffer),
        3: ("ref", b.CreateString(t.name)),
        5: ("?", t.variable),
        8: ("?", t.has_rank),
    }
    if None in t.shape:
        slots[7] = ("ref", _numbers(b, [-1 if n is None else n for n in t.shape]))
    if t.scale:
        scale, zero = _numbers(b, t.scale, "f"), _numbers(b, t.zero_point, "q")
        slots[4] = ("ref", _table(b, {2: ("ref", scale), 3: ("ref", zero), 6: ("<i4", t.axis)}))
    return _table(b, slots)


def _option(b: Any, f: Field, value: Any) -> tuple[str, Any]:
    if isinstance(f.kind, tuple):
        return "<i1", f.kind.index(value)
    if f.kind == "list":
        return "ref", _numbers(b, value)
    return ("<i1", TYPES[np.dtype(value)]) if f.kind == "type" else (f.kind, value)


def _numbers(b: Any, values: Sequence[Any], kind: str = "i") -> int:
    prepend = {"i": b.PrependInt32, "f": b.PrependFloat32, "q": b.PrependInt64}[kind]
    size = 8 if kind == "q" else 4
    b.StartVector(size, len(values), size)
    for value in reversed(values):
        prepend(value)
    made: int = b.EndVector()
    return made


def _refs(b: Any, tables: Sequence[int]) -> int:
    b.StartVector(4, len(tables), 4)
    for t in reversed(tables):
        b.PrependUOffsetTRelative(t)
    made: int = b.EndVector()
    return made


def _table(b: Any, slots: Mapping[int, tuple[str, Any]]) -> int:
    b.StartObject(max(slots, default=-1) + 1)
    prepend = {
        "u1": b.PrependUint8,
        "<i1": b.PrependInt8,
        "<i4": b.PrependInt32,
        "<u4": b.PrependUint32,
        "<f4": b.PrependFloat32,
        "?": b.PrependBool,
        "ref": b.PrependUOffsetTRelative,
    }
    for slot, (kind, value) in slots.items():
        prepend[kind](value)
        b.Slot(slot)
    made: int = b.EndObject()
    return made
