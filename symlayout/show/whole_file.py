"""Write a file so that it is whole or absent, whatever happens meanwhile."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


def write_with(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Let *write* fill a new file beside *path*, then rename it to *path*.

    Raises
    ------
    OSError
        The file cannot be written; what was at *path* before is still there.
    """
    staging = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with staging.open("x+b") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        staging.replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            staging.unlink()
        raise


def write_file(path: Path, content: bytes) -> None:
    """Write *content* to *path*, in place at once (see `write_with`)."""
    write_with(path, lambda file: file.write(content))
