"""What is in the folder where compiled kernels are kept."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from symlayout_codegen.jit.cache import SOURCE


def state(root: Path) -> str:
    """Return in words whether the folder is used; it is if the words begin with ``ready``."""
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
    """One kept kernel.

    Attributes
    ----------
    path : Path
        Its folder, which the key names.
    size : int
        The bytes of its files.
    made : float
        When it was made, in seconds of the epoch.
    kernel : str
        The map that it carries out, as its C text says.
    """

    path: Path
    size: int
    made: float
    kernel: str


def entries(root: Path) -> list[Entry]:
    """Return the entries of the folder, the oldest first; nothing of a folder that is not used."""
    if not state(root).startswith("ready"):
        return []
    found = [_entry(path) for path in root.iterdir() if re.fullmatch(r"[0-9a-f]{64}", path.name)]
    return sorted((entry for entry in found if entry), key=lambda entry: (entry.made, entry.path.name))


def _entry(path: Path) -> Entry | None:
    """Return what stands at *path*, whatever it is; None if it was removed just now.  Links are not followed."""
    try:
        status = path.lstat()
        if not stat.S_ISDIR(status.st_mode):
            return Entry(path, 0, status.st_mtime, "no folder")
        size = sum(file.lstat().st_size for file in path.iterdir())
    except OSError:
        return None
    return Entry(path, size, status.st_mtime, _title(path / SOURCE))


def _title(source: Path) -> str:
    """Return what the header of a C text says that the kernel is."""
    try:
        if not stat.S_ISREG(source.lstat().st_mode):
            return ""
        with source.open("rb") as file:
            text = file.read(2000).decode("ascii", "replace")
    except OSError:
        return ""
    found = re.search(r"^ \* \w+ : (.{1,100})", text, re.MULTILINE)
    return "".join(c if c.isprintable() else "?" for c in found[1]) if found else ""
