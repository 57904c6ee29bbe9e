"""Open the file of a model, or raise an error that says why not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from symlayout.errors import FormatError, MissingFileError

MAX_RANK = 64  # NumPy's
MAX_CONSTANT = 4096  # elements of a constant that is read: attributes have a few per axis


def open_model(path: Path) -> BinaryIO:
    """Open a regular file for reading; a pipe or a device could be read for ever.

    Raises
    ------
    MissingFileError
        There is no such file.
    FormatError
        The path is not a regular file.
    OSError
        The file cannot be read.
    """
    if not path.exists():
        raise MissingFileError(f"there is no file {path.name[:80]!r}\n  in: {str(path.parent)[:400]}")
    if not path.is_file():
        raise FormatError(f"{path.name[:80]!r} is not a regular file")
    return path.open("rb")


def map_bytes(path: Path, start: int, size: int, where: str) -> np.ndarray[Any, Any]:
    """Return bytes of a file without reading them: they are mapped into memory, read-only.

    Raises
    ------
    FormatError
        The file is not regular, or ends before.
    MissingFileError
        There is no such file.
    """
    with open_model(path) as file:
        end = os.fstat(file.fileno()).st_size
        if start + size > end:
            text = f"constant is at bytes {start} to {start + size}, {path.name[:80]!r} has {end}"
            raise FormatError(f"{text}\n  in: {where}")
        if size == 0:
            return np.zeros(0, np.uint8)
        return np.memmap(file, np.uint8, "r", start, (size,))
