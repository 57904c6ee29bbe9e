"""Read TensorFlow Lite's files, ``.tflite``, to a typed graph: the first subgraph, which is the model's.

The file is not trusted: everything is checked before it is used, and an inconsistent file is a `FormatError`.
Constants are views of the mapped file.  `symlayout.models.formats.load_tflite` knows what operations mean.

Left out: bodies of branches and loops, whose operators are opaque.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from symlayout.errors import FormatError, shortened
from symlayout.models.formats.flat_buffer import FlatBuffer, FlatTable
from symlayout.models.formats.tflite_schema import BUILTINS, CUSTOM, ELEMENT_TYPES, RANDOM, Builtin, Field
from symlayout.models.model_file import MAX_RANK, open_model
from symlayout_codegen.forks import cached_property

IDENTIFIER = b"TFL3"
VERSION = 3
_FIRST_EXTERNAL = 2  # an offset of 0 or 1 stands for data in the buffer itself


@dataclass(frozen=True, slots=True)
class Levels:
    """What the integers of a quantised tensor stand for.

    Attributes
    ----------
    scale : tuple of float
        The distance of levels: one, or one for each index of *axis*.
    zero_point : tuple of int
        The level of 0.
    axis : int
        The axis that has several scales.
    """

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int


@dataclass(frozen=True, slots=True)
class TensorRecord:
    """A tensor of the graph.

    Attributes
    ----------
    number : int
        Its number in the file.
    name : str
        Its name in the file; any text.
    extents : tuple of int and None, or None
        None for an extent that is not known, or if the rank is not.
    dtype : numpy.dtype or None
        The element type; None if NumPy has none for it.
    constant : array or None
        The elements, if they are in the file.
    unread : str
        For elements that are in the file and not read, such as sparse ones, a digest of all that is stored.
    levels : Levels or None
        For a quantised tensor, what its integers stand for.
    is_variable : bool
        Whether it keeps a state from run to run.
    """

    number: int
    name: str
    extents: tuple[int | None, ...] | None
    dtype: np.dtype[Any] | None
    constant: np.ndarray[Any, Any] | None = field(repr=False)
    unread: str
    levels: Levels | None
    is_variable: bool


@dataclass(frozen=True, slots=True)
class OperatorRecord:
    """An operator of the graph.

    Attributes
    ----------
    number : int
        Its number in the file.
    name : str
        The operation: of the schema, or the custom code.
    builtin : Builtin or None
        Its row in the schema; None if it has none.
    version : int
        The version of the operation.
    attributes : mapping
        Its options by the names of the declaration; empty without a row.
    inputs, outputs : tuple of int
        Numbers of tensors; -1 for an input that is left out.
    is_random : bool
        Whether two evaluations may differ.
    custom : str
        The digest of a custom operation's options.
    """

    number: int
    name: str
    builtin: Builtin | None
    version: int
    attributes: Mapping[str, Any]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    is_random: bool
    custom: str

    def __str__(self) -> str:
        return f"operator {self.number}, {shortened(self.name, 40)}"


@dataclass(frozen=True)
class TFLiteGraph:
    """A model.

    Attributes
    ----------
    tensors : tuple of TensorRecord
        All tensors of the graph, by number.
    operators : tuple of OperatorRecord
        The operators, each after its inputs.
    inputs, outputs : tuple of pairs of str and int
        The names that callers use, those of the signature if there is one, and the numbers of the tensors.
    data : array
        The bytes of the file.
    """

    tensors: tuple[TensorRecord, ...]
    operators: tuple[OperatorRecord, ...]
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[str, int], ...]
    data: np.ndarray[Any, Any] = field(repr=False)

    @cached_property
    def digest(self) -> str:
        """A digest of the file, which is read for it."""
        return hashlib.sha256(self.data.data).hexdigest()


def read(path: Path) -> TFLiteGraph:
    """Return the graph of the model in the file *path*.

    Raises
    ------
    FormatError
        If *path* is no regular file, no model of TensorFlow Lite, or a graph that does not hold together: a number of
        no tensor, a tensor that two operators write, an operator that reads what none before it writes.
    MissingFileError
        If there is no such file.
    """
    with open_model(path) as file:
        file.seek(0, 2)
        data = np.asarray(np.memmap(file, np.uint8, "r")) if file.tell() else np.zeros(0, np.uint8)
    try:
        return _read(data)
    except FormatError as error:
        raise FormatError(f"{error}\n  in: {shortened(path.name)!r}") from None


def _read(data: np.ndarray[Any, Any]) -> TFLiteGraph:
    if data[4:8].tobytes() != IDENTIFIER:
        raise FormatError("the file does not begin as one of TensorFlow Lite")
    buffer = FlatBuffer(data)
    model = buffer.root()
    if (version := model.number(0, "<u4", 0)) != VERSION:
        raise FormatError(f"the file has version {version} of the schema, {VERSION} is known")
    codes = [_code(table) for table in model.tables(1)]
    graphs, stored = model.tables(2), model.tables(4)
    if not graphs:
        raise FormatError("the model has no subgraph")
    main = graphs[0]
    inputs, outputs = _list(main, 1), _list(main, 2)
    tables = main.tables(0)
    for number in (*inputs, *outputs):
        _check_tensor(number, len(tables), "the subgraph")
    tensors = tuple(_tensor(k, table, buffer, stored, is_input=k in inputs) for k, table in enumerate(tables))
    operators = tuple(_operator(k, table, buffer, codes, tensors) for k, table in enumerate(main.tables(3)))
    _check_order(tensors, operators, inputs, outputs)
    if not outputs:
        raise FormatError("the model has no outputs")
    ends = _ends(model, tensors, inputs, outputs)
    return TFLiteGraph(tensors, operators, *ends, data)


def _list(table: FlatTable, field: int) -> tuple[int, ...]:
    return tuple(table.numbers(field, "<i4").tolist())


def _code(table: FlatTable) -> tuple[int, str, int]:
    """Return the number of an operation, its custom name, and its version."""
    code = max(table.number(0, "<i1", 0), table.number(3, "<i4", 0))
    return code, table.text(1), table.number(2, "<i4", 1)


def _check_tensor(number: int, count: int, where: str) -> None:
    if not 0 <= number < count:
        raise FormatError(f"{where} names tensor {number}, there are {count}")


def _tensor(
    number: int, table: FlatTable, buffer: FlatBuffer, stored: list[FlatTable], *, is_input: bool
) -> TensorRecord:
    name = table.text(3)
    where = f"tensor {number}, {shortened(name)!r}"
    shape, signature = _list(table, 0), _list(table, 7)
    if signature and len(signature) != len(shape):
        raise FormatError(f"{where} has a shape of {len(shape)} axes and a signature of {len(signature)}")
    if len(shape) > MAX_RANK or any(n < 0 for n in shape) or any(n < -1 for n in signature):
        raise FormatError(f"{where} has no shape: {shortened(str(signature or shape), 80)}")
    kind = table.number(1, "<i1", 0)
    dtype = np.dtype(ELEMENT_TYPES[kind]) if kind in ELEMENT_TYPES else None
    at = table.number(2, "<u4", 0)
    if at >= len(stored) and at:
        raise FormatError(f"{where} is in buffer {at}, there are {len(stored)}")
    data = _elements(stored[at], buffer) if at else np.zeros(0, np.uint8)
    constant, unread = None, ""
    if len(data):
        if is_input:
            raise FormatError(f"{where} is an input, and has elements in the file")
        if dtype is None or table.has(6):
            unread = hashlib.sha256(
                f"{kind} {shape} {number if table.has(6) else ''}\n".encode() + data.tobytes()
            ).hexdigest()
        else:
            needed = math.prod(shape) * dtype.itemsize
            if len(data) != needed:
                raise FormatError(f"{where} has {len(data)} bytes, {dtype} {list(shape)} needs {needed}")
            if dtype == np.bool_ and (data > 1).any():
                raise FormatError(f"{where} has a boolean that is neither 0 nor 1")
            constant = data.view(dtype.newbyteorder("<")).reshape(shape)
    extents: tuple[int | None, ...] | None = tuple(None if n < 0 else n for n in signature or shape)
    if not shape and not table.number(8, "?", False) and constant is None:
        extents = None  # it may be a scalar, or have an unknown rank
    elif constant is not None:
        extents = shape
    levels = _levels(table, where) if table.has(4) else None
    return TensorRecord(number, name, extents, dtype, constant, unread, levels, bool(table.number(5, "?", False)))


def _elements(table: FlatTable, buffer: FlatBuffer) -> np.ndarray[Any, Any]:
    """Return the bytes of a buffer, not copied; large files have them behind the tables."""
    offset, size = table.number(1, "<u8", 0), table.number(2, "<u8", 0)
    return buffer.part(offset, size) if offset >= _FIRST_EXTERNAL else table.numbers(0, "u1")


def _levels(table: FlatTable, where: str) -> Levels | None:
    quantization = table.table(4)
    assert quantization is not None
    scale, zero = quantization.numbers(2, "<f4"), quantization.numbers(3, "<i8")
    if quantization.number(4, "u1", 0):
        raise FormatError(f"{where} is quantised in a way of its own, which is not known")
    if not len(scale):
        return None
    if len(zero) not in (0, 1, len(scale)) or not np.isfinite(scale).all():
        raise FormatError(f"{where} has {len(scale)} scales and {len(zero)} zero points")
    zeros = np.broadcast_to(zero if len(zero) else np.zeros(1, np.int64), scale.shape)
    return Levels(tuple(scale.tolist()), tuple(zeros.tolist()), quantization.number(6, "<i4", 0))


def _operator(
    number: int,
    table: FlatTable,
    buffer: FlatBuffer,
    codes: list[tuple[int, str, int]],
    tensors: tuple[TensorRecord, ...],
) -> OperatorRecord:
    at = table.number(0, "<u4", 0)
    if at >= len(codes):
        raise FormatError(f"operator {number} has code {at}, there are {len(codes)}")
    code, custom, version = codes[at]
    builtin = BUILTINS.get(code)
    name = custom if code == CUSTOM else builtin.name if builtin else f"BUILTIN_{code}"
    inputs, outputs = _list(table, 1), _list(table, 2)
    for n in (*(n for n in inputs if n != -1), *outputs):
        _check_tensor(n, len(tensors), f"operator {number}, {shortened(name, 40)}")
    given = table.number(3, "u1", 0)
    attributes: dict[str, Any] = {}
    if builtin is not None and builtin.options:
        if given not in (0, builtin.options):
            raise FormatError(f"operator {number}, {name} has options of kind {given}, not {builtin.options}")
        options = table.table(4) if given else None
        attributes = {f.name: _attribute(f, options, f"operator {number}, {name}") for f in builtin.fields}
    own = ""
    if code == CUSTOM:
        more = buffer.part(table.number(9, "<u8", 0), table.number(10, "<u8", 0)) if table.has(9) else b""
        own = hashlib.sha256(table.numbers(5, "u1").tobytes() + bytes(more)).hexdigest()
    return OperatorRecord(number, name, builtin, version, attributes, inputs, outputs, code in RANDOM, own)


def _attribute(field: Field, options: FlatTable | None, where: str) -> Any:
    if isinstance(field.kind, tuple):
        number = field.default if options is None else options.number(field.number, "<i1", field.default)
        if not 0 <= number < len(field.kind):
            raise FormatError(f"{where} has {number} as {field.name}, which is none of {', '.join(field.kind)}")
        return field.kind[number]
    if field.kind == "list":
        return () if options is None else _list(options, field.number)
    if field.kind == "type":
        number = field.default if options is None else options.number(field.number, "<i1", field.default)
        if number not in ELEMENT_TYPES:
            raise FormatError(f"{where} has {number} as {field.name}, which is no element type")
        return ELEMENT_TYPES[number]
    return field.default if options is None else options.number(field.number, field.kind, field.default)


def _check_order(
    tensors: tuple[TensorRecord, ...],
    operators: tuple[OperatorRecord, ...],
    inputs: tuple[int, ...],
    outputs: tuple[int, ...],
) -> None:
    """Raise unless each tensor has one origin, which stands before what reads it."""
    known = {t.number for t in tensors if t.constant is not None or t.unread or t.is_variable}
    known |= {t.number for t in tensors if t.extents is not None and 0 in t.extents} - {
        n for operator in operators for n in operator.outputs
    }
    if len({*inputs}) < len(inputs):
        raise FormatError("a tensor is an input twice")
    known |= {*inputs}
    for operator in operators:
        for n in operator.inputs:
            if n != -1 and n not in known:
                raise FormatError(f"{operator} reads tensor {n}, which nothing before it computes")
        for n in operator.outputs:
            if n in known and not tensors[n].is_variable:
                raise FormatError(f"{operator} writes tensor {n}, which has a value already")
            known.add(n)
    for n in outputs:
        if n not in known:
            raise FormatError(f"tensor {n} is an output, and nothing computes it")


Ends = tuple[tuple[str, int], ...]


def _ends(
    model: FlatTable, tensors: tuple[TensorRecord, ...], inputs: tuple[int, ...], outputs: tuple[int, ...]
) -> tuple[Ends, Ends]:
    """Return the names of inputs and outputs: those of the first signature of the graph that names them all."""
    for signature in model.tables(7):
        if signature.number(4, "<u4", 0):
            continue
        named = []
        for number, numbers in ((0, inputs), (1, outputs)):
            pairs = [(pair.text(0), pair.number(1, "<u4", 0)) for pair in signature.tables(number)]
            if {n for _, n in pairs} == {*numbers} and len({name for name, _ in pairs}) == len(pairs):
                order = {n: k for k, n in enumerate(numbers)}
                named.append(tuple(sorted(pairs, key=lambda pair: order[pair[1]])))
        if len(named) == 2 and len(named[0]) == len(inputs):
            return named[0], named[1]
    ends = []
    for numbers in (inputs, outputs):
        names: dict[str, int] = {}
        for n in dict.fromkeys(numbers):
            name = tensors[n].name or f"tensor_{n}"
            names[name if name not in names else f"{name}:{n}"] = n
        ends.append(tuple(names.items()))
    return ends[0], ends[1]
