"""Write a file atomically: after an error or a crash, the path has its old content or the complete new one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


def write_with(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Call *write* with a new file beside *path*, then rename that file to *path*.

    Raises
    ------
    OSError
        The file cannot be written; *path* is unchanged.
    """
    staging = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with staging.open("x+b") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        staging.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            staging.unlink()
        if isinstance(error, OSError) and error.filename == str(staging):
            error.filename = str(path)  # the name that the caller knows
        raise


def write_file(path: Path, content: bytes) -> None:
    """Write *content* to *path* atomically, as `write_with` does."""
    write_with(path, lambda file: file.write(content))
