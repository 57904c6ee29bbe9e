"""What is in the folder where compiled kernels are kept."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path


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


def entries(root: Path) -> list[Path]:
    """Return the entries of the folder, by name; nothing of a folder that is not used."""
    if not state(root).startswith("ready"):
        return []
    return sorted(path for path in root.iterdir() if re.fullmatch(r"[0-9a-f]{64}", path.name))


def size(entry: Path) -> int:
    """Return the bytes of an entry's files; links are not followed."""
    if entry.is_symlink() or not entry.is_dir():
        return 0
    return sum(path.lstat().st_size for path in entry.iterdir())
