"""List the entries of the cache, the folder of compiled kernels."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from symlayout.errors import one_line
from symlayout_codegen.jit.cache import SOURCE


def state(root: Path) -> str:
    """Return in words whether the folder is used as the cache.  It is if the words begin with ``ready``."""
    try:
        status = root.lstat()
    except FileNotFoundError:
        return "not made yet"
    except OSError as error:
        return f"not usable, {error.strerror}"
    if not stat.S_ISDIR(status.st_mode):
        return "not used, it is no folder"
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        return "not used, it belongs to another user"
    if status.st_mode & 0o022:
        return "not used, others may write to it"
    return "ready" if os.access(root, os.W_OK) else "ready, but read only"


@dataclass(frozen=True, slots=True)
class Entry:
    """One kernel in the cache.

    Attributes
    ----------
    path : Path
        Its folder, named by the key.
    size : int
        The size of its files, in bytes.
    made : float
        When it was made, in seconds since 1970.
    kernel : str
        The kernel's map, from the comment in its C text.
    """

    path: Path
    size: int
    made: float
    kernel: str


def entries(root: Path) -> list[Entry]:
    """Return the entries of the folder, the oldest first; none if the folder is not used."""
    if not state(root).startswith("ready"):
        return []
    found = [_entry(path) for path in root.iterdir() if re.fullmatch(r"[0-9a-f]{64}", path.name)]
    return sorted((entry for entry in found if entry), key=lambda entry: (entry.made, entry.path.name))


def _entry(path: Path) -> Entry | None:
    """Return the entry at *path*, also if it is not a folder; None if it is gone.  Links are not followed."""
    try:
        status = path.lstat()
        if not stat.S_ISDIR(status.st_mode):
            return Entry(path, 0, status.st_mtime, "no folder")
        size = sum(file.lstat().st_size for file in path.iterdir())
    except OSError:
        return None
    return Entry(path, size, status.st_mtime, _title(path / SOURCE))


def _title(source: Path) -> str:
    """Return the kernel's map from the comment at the top of a C text; "" if there is none."""
    try:
        if not stat.S_ISREG(source.lstat().st_mode):
            return ""
        with source.open("rb") as file:
            text = file.read(2000).decode("ascii", "replace")
    except OSError:
        return ""
    found = re.search(r"^ \* \w+ : (.{1,100})", text, re.MULTILINE)
    return one_line(found[1], 100) if found else ""
