"""Open the archives of torch.export, ``.pt2``: a zip with JSON and the bytes of weights, none of them compressed.

The file is not trusted.  torch writes no entry compressed, so that none takes more memory than the file has bytes; one
that is compressed is refused.  Pickles are never opened: those of the example inputs, and of weights that torch has no
bytes for.  Weights are views of the mapped file.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from symlayout.errors import ArrayError, FormatError, shortened
from symlayout.models.model_file import MAX_RANK, open_model
from symlayout.tensors.element_types import element_type as named_type

MAX_JSON = 1 << 26  # bytes of one JSON text: its values take some twenty times as many
MAX_REPEATED = 1 << 24  # elements of a weight that has more of them than the file has
_MAX_DIGITS = 40  # of an integer in JSON
_HEADER = struct.Struct("<4s22xHH")  # of an entry: its signature, and the lengths of its name and of more fields
_DAMAGED = (
    zipfile.BadZipFile, NotImplementedError, EOFError, OSError, struct.error, ValueError, OverflowError, RuntimeError,
    KeyError, IndexError,
)  # fmt: skip

ELEMENT_TYPES = {
    1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32", 8: "float64",
    10: "complex64", 11: "complex128", 12: "bool", 13: "bfloat16", 28: "uint16", 29: "float8_e4m3fn",
    30: "float8_e5m2", 31: "float8_e4m3fnuz", 32: "float8_e5m2fnuz", 33: "float8_e8m0fnu", 34: "uint32", 35: "uint64",
}  # fmt: skip
"""NumPy's names of torch's element types by number, as the schema of the files has them."""

STRIDED = 7
"""The layout of tensors that have strides."""


def element_type(number: Any) -> np.dtype[Any] | None:
    """Return torch's element type of a number; None if NumPy has none for it.

    Those that NumPy has by the package ``ml_dtypes`` only are None without it.
    """
    name = ELEMENT_TYPES.get(number) if type(number) is int else None
    if name is None:
        return None
    try:
        return named_type(name)
    except ArrayError:
        return None


class Archive:
    """A ``.pt2`` file.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    FormatError
        *path* is no regular file or no such archive, an entry is compressed, or the archive is one of an older torch,
        whose weights are pickles.
    MissingFileError
        There is no such file.
    """

    def __init__(self, path: Path) -> None:
        with open_model(path) as file:
            file.seek(0, 2)
            size = file.tell()
            self.data = np.asarray(np.memmap(file, np.uint8, "r")) if size else np.zeros(0, np.uint8)
            try:
                with zipfile.ZipFile(file) as archive:
                    entries = archive.infolist()
            except _DAMAGED as error:
                raise FormatError(f"the file is no zip archive: {shortened(str(error), 80)}") from None
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            _, _, name = entry.filename.partition("/")
            if name in self._entries:
                raise FormatError(f"the archive has two entries {shortened(entry.filename)!r}")
            self._entries[name] = entry
        roots = {entry.filename.partition("/")[0] for entry in entries}
        if len(roots) > 1:
            raise FormatError("the archive has more than one folder")
        if "models/model.json" not in self._entries:
            older = " (an archive of torch 2.7 or older)" if "serialized_exported_program.json" in roots else ""
            raise FormatError(f"the archive has no models/model.json{older}: torch.export.save writes one from 2.8 on")
        order = self._text("byteorder") if "byteorder" in self._entries else "little"
        if order != "little":
            raise FormatError(f"the weights have byte order {shortened(order)!r}, little is read")

    def _text(self, name: str) -> str:
        return self.bytes(name).tobytes().decode("utf-8", "replace").strip()

    def bytes(self, name: str) -> np.ndarray[Any, Any]:
        """Return the bytes of an entry, mapped and not read.

        Raises
        ------
        FormatError
            There is no such entry, it is compressed or encrypted, or it is not inside the file.
        """
        entry = self._entries.get(name)
        if entry is None:
            raise FormatError(f"the archive has no {shortened(name)!r}")
        if entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size or entry.flag_bits & 1:
            raise FormatError(f"{shortened(name)!r} is compressed or encrypted, which torch writes no entry")
        start = entry.header_offset
        header = self.data[start : start + _HEADER.size].tobytes() if start >= 0 else b""
        if len(header) < _HEADER.size:
            raise FormatError(f"{shortened(name)!r} is not inside the file")
        signature, named, more = _HEADER.unpack(header)
        if signature != b"PK\3\4":
            raise FormatError(f"{shortened(name)!r} has no header")
        start += _HEADER.size + named + more
        found = self.data[start : start + entry.file_size]
        if len(found) != entry.file_size:
            raise FormatError(f"{shortened(name)!r} has {entry.file_size} bytes, the file ends before")
        return found

    def json(self, name: str) -> Any:
        """Return the value of a JSON text.

        Raises
        ------
        FormatError
            It is too large or too deep, no JSON, or has numbers that are not finite or too long.
        """
        data = self.bytes(name)
        if len(data) > MAX_JSON:
            raise FormatError(f"{shortened(name)!r} has {len(data)} bytes, at most {MAX_JSON} are read")
        try:
            return json.loads(data.tobytes(), parse_int=_integer)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{shortened(name)!r} is no JSON: {shortened(str(error), 80)}") from None

    def tensors(self, kind: str) -> dict[str, np.ndarray[Any, Any] | str]:
        """Return the weights or constants by name; text for one whose elements are not read, equal for equal ones.

        Parameters
        ----------
        kind : str
            ``"weights"`` or ``"constants"``.
        """
        config = f"data/{kind}/model_{kind}_config.json"
        if config not in self._entries:
            return {}
        table = self.json(config)
        found: dict[str, np.ndarray[Any, Any] | str] = {}
        for name, meta in mapping(mapping(table, config).get("config"), config).items():
            where = f"{kind[:-1]} {shortened(name)!r}"
            given = mapping(meta, where)
            path = f"data/{kind}/{text(given.get('path_name'), where)}"
            data = self.bytes(path)
            tensor = given.get("tensor_meta")
            made = None if given.get("use_pickle") or tensor is None else stored(data, mapping(tensor, where), where)
            found[name] = hashlib.sha256(repr(tensor).encode() + data.tobytes()).hexdigest() if made is None else made
        return found


def _integer(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f"an integer has {len(digits)} digits")
    return int(digits)


def stored(data: np.ndarray[Any, Any], meta: dict[str, Any], where: str) -> np.ndarray[Any, Any] | None:
    """Return a tensor as a view of its storage; None if its type or its layout has none in NumPy.

    Raises
    ------
    FormatError
        Sizes, strides and offset are no numbers, an element lies outside the storage, or there are very many.
    """
    dtype = element_type(meta.get("dtype"))
    if dtype is None or meta.get("layout") != STRIDED:
        return None
    sizes, strides = (_numbers(meta.get(key), f"the {key} of {where}") for key in ("sizes", "strides"))
    (offset,) = _numbers([meta.get("storage_offset")], f"the offset of {where}")
    if len(sizes) != len(strides) or len(sizes) > MAX_RANK:
        raise FormatError(f"{where} has {len(sizes)} sizes and {len(strides)} strides")
    count = 1
    for n in sizes:
        count *= n
    if count == 0:
        return np.zeros(sizes, dtype) if sum(sizes) <= MAX_REPEATED else None
    elements = len(data) // dtype.itemsize
    last = offset + sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))
    if last >= elements:
        raise FormatError(f"{where} reads element {last} of a storage that has {elements}")
    if count > max(elements, MAX_REPEATED):
        raise FormatError(f"{where} has {count} elements, its storage {elements}")
    storage = data[: elements * dtype.itemsize].view(dtype)[offset:]
    if dtype == np.bool_ and (data[: elements * dtype.itemsize] > 1).any():
        raise FormatError(f"{where} has a boolean that is neither 0 nor 1")
    steps = [step * dtype.itemsize for step in strides]
    made = np.lib.stride_tricks.as_strided(storage, sizes, steps, writeable=False)
    return made if made.flags.c_contiguous else np.ascontiguousarray(made).reshape(sizes)


def _numbers(values: Any, where: str) -> tuple[int, ...]:
    """Return sizes, which the file writes as ``{"as_int": 3}``."""
    found = []
    for value in listed(values, where):
        number = value.get("as_int") if isinstance(value, dict) else None
        if type(number) is not int or not 0 <= number < 1 << 62:
            raise FormatError(f"{where} has an entry that is no size: {shortened(str(value), 40)}")
        found.append(number)
    return tuple(found)


def mapping(value: Any, where: str) -> dict[str, Any]:
    """Return a JSON object; raise `FormatError` for anything else."""
    if not isinstance(value, dict):
        raise FormatError(f"{where}: {shortened(str(value), 40)!r} is no object")
    return value


def listed(value: Any, where: str) -> Sequence[Any]:
    """Return a JSON array; raise `FormatError` for anything else."""
    if not isinstance(value, list):
        raise FormatError(f"{where}: {shortened(str(value), 40)!r} is no array")
    return value


def text(value: Any, where: str) -> str:
    """Return a JSON string; raise `FormatError` for anything else."""
    if not isinstance(value, str):
        raise FormatError(f"{where}: {shortened(str(value), 40)!r} is no text")
    return value
