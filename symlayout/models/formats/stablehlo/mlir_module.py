"""MLIR modules as data: functions of blocks, blocks of operations.  `mlir_process` parses them, in its own process."""

from __future__ import annotations

import importlib.util
import json
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from symlayout.budgets import limits
from symlayout.deadlines import check_time, remaining
from symlayout.errors import ArrayError, FormatError, MissingPackageError, shortened
from symlayout.models.formats.stablehlo import mlir_process
from symlayout.models.model_file import MAX_RANK, open_model
from symlayout.tensors.element_types import element_type as named_type

MAX_FILE = 1 << 30  # bytes
_SECONDS = 120.0

ELEMENT_TYPES = {
    "i1": "bool", **{f"i{n}": f"int{n}" for n in (8, 16, 32, 64)}, **{f"ui{n}": f"uint{n}" for n in (8, 16, 32, 64)},
    **{f"f{n}": f"float{n}" for n in (16, 32, 64)}, "bf16": "bfloat16", "complex<f32>": "complex64",
    "complex<f64>": "complex128", "f8E4M3FN": "float8_e4m3fn", "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2": "float8_e5m2", "f8E5M2FNUZ": "float8_e5m2fnuz",
}  # fmt: skip
"""NumPy's names of MLIR's element types."""

_TENSOR = re.compile(r"tensor<((?:(?:\d+|\?)x)*)([a-zA-Z][\w]*|complex<f(?:32|64)>)>")
_UNRANKED = re.compile(r"tensor<\*x(\w+)>")


@dataclass(frozen=True, slots=True)
class MLIRType:
    """The type of a value.

    Attributes
    ----------
    extents : tuple of int and None, or None
        None for an extent that is not known, or if the rank is not.
    dtype : numpy.dtype or None
        None if NumPy has none for it, or the value is no tensor.
    """

    extents: tuple[int | None, ...] | None
    dtype: np.dtype[Any] | None


@dataclass(frozen=True, slots=True)
class Stored:
    """The elements of a constant.

    Attributes
    ----------
    array : array or None
        The elements; None if they are not read.
    text : str
        Text that two constants share only if they are equal, for elements that are not read.
    """

    array: np.ndarray[Any, Any] | None = field(repr=False)
    text: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class OperationRecord:
    """An operation.

    Attributes
    ----------
    name : str
        With its dialect, such as ``"stablehlo.add"``.
    operands, results : tuple of int
        Numbers of values, each of which stands once in the module.
    types : tuple of MLIRType
        The types of the results.
    attributes : mapping
        By name: Python's numbers and texts, lists of them, `Stored`, or text as MLIR prints it within a mapping.
    regions : tuple of tuple of Block
        The regions, each a list of blocks.
    """

    name: str
    operands: tuple[int, ...]
    results: tuple[int, ...]
    types: tuple[MLIRType, ...]
    attributes: Mapping[str, Any]
    regions: tuple[tuple[Block, ...], ...]

    def __str__(self) -> str:
        return f"operation {shortened(self.name, 60)}"

    @property
    def callee(self) -> str:
        """The name of the function that a call names; an empty text for other operations."""
        symbol = self.attributes.get("callee", self.attributes.get("decomposition"))
        return str(symbol.get("symbol", "")) if isinstance(symbol, dict) else ""

    def captured(self) -> Iterator[int]:
        """Yield the values that regions read."""
        for region in self.regions:
            for block in region:
                for operation in block.operations:
                    yield from operation.operands
                    yield from operation.captured()


@dataclass(frozen=True, slots=True)
class Block:
    """A list of operations with arguments: their numbers, their types, and the names that a program gave them."""

    arguments: tuple[int, ...]
    types: tuple[MLIRType, ...]
    names: tuple[str, ...]
    operations: tuple[OperationRecord, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a module: its name, whether it is private, its block, and the attributes of results."""

    name: str
    private: bool
    block: Block
    result_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MLIRModule:
    """A module: its functions by name, and a digest of the file."""

    functions: Mapping[str, Function]
    digest: str

    @property
    def main(self) -> Function:
        """The function that others call: ``main``, or the only one that is not private.

        Raises
        ------
        FormatError
            There is none.
        """
        public = [f for f in self.functions.values() if not f.private]
        if "main" in self.functions:
            return self.functions["main"]
        if len(public) != 1:
            raise FormatError(f"the module has no function main, and {len(public)} that are not private")
        return public[0]


def type_of(text: str) -> MLIRType:
    """Return the type that MLIR prints so.

    >>> type_of("tensor<?x3xf32>")
    MLIRType(extents=(None, 3), dtype=dtype('float32'))
    """
    if found := _UNRANKED.fullmatch(text):
        return MLIRType(None, _dtype(found[1]))
    if (found := _TENSOR.fullmatch(text)) is None:
        return MLIRType(None, None)
    extents = tuple(None if n == "?" else int(n) for n in found[1].split("x")[:-1])
    if len(extents) > MAX_RANK or any(n is not None and n >= 1 << 63 for n in extents):
        raise FormatError(f"a tensor has the type {shortened(text, 60)}, at most {MAX_RANK} axes are read")
    return MLIRType(extents, _dtype(found[2]))


def _dtype(name: str) -> np.dtype[Any] | None:
    if name not in ELEMENT_TYPES:
        return None
    try:
        return named_type(ELEMENT_TYPES[name])
    except ArrayError:  # one of ml_dtypes, which is not installed
        return None


def read(data: Path) -> MLIRModule:
    """Return the module in a file of MLIR, as text or as a portable artefact.

    Raises
    ------
    FormatError
        MLIR refuses it, its parser ends by it, or it is too large.
    MissingPackageError
        The package ``jaxlib`` is not installed.
    """
    with open_model(data) as file:
        size = file.seek(0, 2)
    if size > MAX_FILE:
        raise FormatError(f"the file has {size} bytes, at most {MAX_FILE} are read")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        code = _call(data, folder)
        if (folder / "error.txt").is_file():
            why = (folder / "error.txt").read_text("utf-8", errors="replace")
            raise FormatError(f"the file is no module of StableHLO: {shortened(' '.join(why.split()), 300)}")
        if code or not (folder / "module.json").is_file():
            raise FormatError(f"the file is no module of StableHLO: MLIR's parser ended with status {code}")
        made = json.loads((folder / "module.json").read_text("utf-8"))
        return _Reader(np.fromfile(folder / "elements.bin", np.uint8)).module(made)


def _call(file: Path, folder: Path) -> int:
    """Parse a file in a process of its own; return its exit status."""
    if importlib.util.find_spec("jaxlib") is None:
        raise MissingPackageError("no package jaxlib reads StableHLO\n  help: pip install symlayout[jax]")
    check_time()
    command = [sys.executable, "-P", mlir_process.__file__, str(file.resolve()), str(folder), str(limits.run_bytes)]
    seconds = min(remaining(), _SECONDS)
    quiet = subprocess.DEVNULL
    try:
        done = subprocess.run(command, stdin=quiet, stdout=quiet, stderr=quiet, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        check_time()
        raise FormatError(f"MLIR's parser takes more than {_SECONDS:.0f} seconds") from None
    return done.returncode


class _Reader:
    def __init__(self, elements: np.ndarray[Any, Any]) -> None:
        self._elements = elements

    def module(self, made: dict[str, Any]) -> MLIRModule:
        functions: dict[str, Function] = {}
        for entry in made["functions"]:
            attributes, blocks = entry["attributes"], entry["blocks"]
            if not blocks:  # a declaration
                continue
            if len(blocks) > 1:
                raise FormatError(f"function {shortened(str(attributes['sym_name']), 40)} branches, which is not read")
            names = []
            for result in attributes.get("res_attrs", ()):
                given = result.get("entries", {}) if isinstance(result, dict) else {}
                names.append(str(given.get("jax.result_info", "")))
            private = attributes.get("sym_visibility") == "private"
            name = attributes["sym_name"]
            functions[name] = Function(name, private, self._block(blocks[0]), tuple(names))
        return MLIRModule(functions, made["digest"])

    def _block(self, made: dict[str, Any]) -> Block:
        arguments = made["arguments"]
        return Block(
            tuple(number for number, _, _ in arguments),
            tuple(type_of(text) for _, text, _ in arguments),
            tuple(name for _, _, name in arguments),
            tuple(self._operation(op) for op in made["operations"]),
        )

    def _operation(self, made: dict[str, Any]) -> OperationRecord:
        check_time()
        return OperationRecord(
            made["name"],
            tuple(made["operands"]),
            tuple(number for number, _ in made["results"]),
            tuple(type_of(text) for _, text in made["results"]),
            {key: self._value(value) for key, value in made["attributes"].items()},
            tuple(tuple(self._block(block) for block in region) for region in made["regions"]),
        )

    def _value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._value(v) for v in value]
        if not isinstance(value, dict):
            return value
        if "float" in value:
            return float(value["float"])
        if "type" not in value:
            return value
        kind = type_of(value["type"])
        if kind.extents is None or kind.dtype is None or None in kind.extents:
            return Stored(None, json.dumps(value))
        shape = tuple(n for n in kind.extents if n is not None)
        if "dense" in value:
            made = dense_elements(value["dense"], shape, kind.dtype)
            return Stored(made, "" if made is not None else value["dense"])
        start, size = value["at"]
        data = self._elements[start : start + size]
        wanted = kind.dtype.itemsize * (1 if value["splat"] else math.prod(shape))
        if size != wanted:
            raise FormatError(f"a constant of type {shortened(value['type'], 60)} has {size} bytes, not {wanted}")
        array = data.view(kind.dtype)
        return Stored(np.broadcast_to(array.reshape(()), shape) if value["splat"] else array.reshape(shape))


_DENSE = re.compile(r"dense<(.*)> : tensor<.*>", re.DOTALL)


def dense_elements(text: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any] | None:
    """Return the elements that MLIR prints of a constant; None if they are not read.

    >>> dense_elements("dense<[1.5, 0x7F800000]> : tensor<2xf32>", (2,), np.dtype("float32")).tolist()
    [1.5, inf]
    """
    found = _DENSE.fullmatch(text)
    if found is None or dtype.kind == "b":
        return None
    inner = found[1].strip()
    if inner.startswith('"0x'):
        data = bytes.fromhex(inner[3:-1])
        if len(data) == dtype.itemsize * math.prod(shape):
            return np.frombuffer(data, dtype).reshape(shape)
        return np.broadcast_to(np.frombuffer(data, dtype).reshape(()), shape) if len(data) == dtype.itemsize else None
    values: list[Any]
    if dtype.kind == "c":
        half = np.dtype(f"f{dtype.itemsize // 2}")
        pairs = re.findall(r"\(([^(),\s]+),\s*([^(),\s]+)\)", inner)
        parts = [(_number(a, half), _number(b, half)) for a, b in pairs]
        values = [None if None in pair else complex(*pair) for pair in parts]
    else:
        values = [_number(token, dtype) for token in re.findall(r"[^\s\[\],]+", inner)]
    if any(v is None for v in values):
        return None
    array = np.array([v for v in values if v is not None], dtype)
    if len(values) == math.prod(shape) and inner.startswith("[") == bool(shape):
        return array.reshape(shape)
    return np.broadcast_to(array.reshape(()), shape) if len(values) == 1 else None


def _number(token: str, dtype: np.dtype[Any]) -> Any:
    try:
        if token.startswith("0x"):
            return np.frombuffer(int(token, 16).to_bytes(dtype.itemsize, "little"), dtype)[0]
        return float(token) if dtype.kind not in "iu" else int(token)
    except (ValueError, OverflowError):
        return None
