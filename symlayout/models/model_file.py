"""Open the file of a model, or raise an error that says why not."""

from __future__ import annotations

import difflib
import os
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from symlayout.errors import FormatError, MissingFileError, shortened

MAX_RANK = 64  # NumPy's
_MOST_NAMES, _MOST_NEAR, _LONGEST_NAME, _SIMILAR = (
    2000,
    2,
    100,
    0.7,
)  # of files that may be meant
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
        raise missing_file(path)
    if not path.is_file():
        raise FormatError(f"{shortened(path.name)!r} is not a regular file")
    return path.open("rb")


def missing_file(path: Path) -> MissingFileError:
    """Return the error that there is no such file, with the names in its folder that are similar."""
    where = path.parent if path.parent.parts else path.parent.absolute()
    text = f"there is no file {shortened(path.name)!r}\n  in: {shortened(str(where), 400)}"
    near = ", ".join(repr(shortened(name)) for name in near_files(path))
    return MissingFileError(text + (f"\n  help: there is {near}" if near else ""))


def near_files(path: Path) -> list[str]:
    """Return the names in the folder of *path* that are similar to its own."""
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry in islice(entries, _MOST_NAMES)]
    except OSError:
        return []
    return difflib.get_close_matches(path.name[:_LONGEST_NAME], names, n=_MOST_NEAR, cutoff=_SIMILAR)


class ConstantFiles:
    """The files in *folder* with the constants of a model.

    Each is mapped once, since processes may hold some ten thousand maps and mapping costs as much as inferring a shape.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._mapped: dict[Path, np.ndarray[Any, Any]] = {}

    def part(self, path: Path, start: int, size: int, where: str) -> np.ndarray[Any, Any]:
        """Return *size* bytes of a file from *start* on, mapped read-only into memory and not read.

        Raises
        ------
        FormatError
            The file is not regular, or ends before.
        MissingFileError
            There is no such file.
        """
        if path not in self._mapped:
            with open_model(path) as file:
                empty = os.fstat(file.fileno()).st_size == 0
                mapped = np.zeros(0, np.uint8) if empty else np.asarray(np.memmap(file, np.uint8, "r"))
            self._mapped[path] = mapped
        data = self._mapped[path]
        if start + size > len(data):
            text = f"constant is at bytes {start} to {start + size}, {shortened(path.name)!r} has {len(data)}"
            raise FormatError(f"{text}\n  in: {where}")
        return data[start : start + size]
