"""Keep compiled libraries in a per-user folder, and never hand out one that was not kept there.

An entry is the folder ``<root>/<key>/`` with the library, its C text and a manifest that holds
the library's SHA-256.  It is written beside under another name and renamed into place, so that an
entry is whole or absent whatever is killed when.  What a reader cannot verify it treats as absent.

A root that others could write to, that someone else owns, or that is a link is not used at all:
loading a library is running it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
import warnings
from functools import cache
from pathlib import Path

LIBRARY, SOURCE, MANIFEST = "kernel.so", "kernel.c", "manifest.json"
_STAGING = ".staging-"
_STALE_SECONDS = 3600
_WRITABLE_BY_OTHERS = 0o022


def cache_root() -> Path:
    """Return where entries are kept: ``$SYMLAYOUT_CACHE_DIR``, else the user's cache folder."""
    if named := os.environ.get("SYMLAYOUT_CACHE_DIR"):
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_cache_path("symlayout"))


def load(key: str) -> Path | None:
    """Return the verified library of the entry *key*, or None if there is none to trust."""
    root = cache_root()
    if not root.is_dir() or not _is_trusted(root):
        return None
    entry = root / key
    return entry / LIBRARY if _is_verified(entry, key) else None


def store(key: str, library: Path, source: str) -> bool:
    """Keep a copy of *library* and its C text under *key*; return whether an entry is now there.

    Where the folder cannot be used (foreign, read-only, full) nothing is kept: caching is a
    convenience, and the caller has its library.
    """
    root = cache_root()
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_trusted(root):
            return False
        remove_stale(root, _STAGING)
        staging = Path(tempfile.mkdtemp(prefix=_STAGING, dir=root))
    except OSError:
        return False
    try:
        content = library.read_bytes()
        (staging / LIBRARY).write_bytes(content)
        (staging / SOURCE).write_text(source, encoding="ascii")
        manifest = {"key": key, "sha256": hashlib.sha256(content).hexdigest()}
        (staging / MANIFEST).write_text(json.dumps(manifest), encoding="ascii")
        return _publish(staging, root / key, key)
    except OSError:
        return False
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def remove_stale(folder: Path, prefix: str) -> None:
    """Delete what killed processes left in *folder* under *prefix*: own folders older than an hour."""
    oldest = time.time() - _STALE_SECONDS
    for left in folder.glob(f"{prefix}*"):
        try:
            status = left.lstat()
        except FileNotFoundError:
            continue  # another process was faster
        if stat.S_ISDIR(status.st_mode) and _is_own(status) and status.st_mtime < oldest:
            shutil.rmtree(left, ignore_errors=True)


def _publish(staging: Path, entry: Path, key: str) -> bool:
    """Rename *staging* to *entry*; where a sound entry is there already, that one stays."""
    for _attempt in range(3):
        try:
            staging.rename(entry)
            return True
        except OSError:  # something is there: a folder that is not empty, a file, a link
            if _is_verified(entry, key):
                return True
            with tempfile.TemporaryDirectory(prefix=_STAGING, dir=entry.parent) as bin_:
                entry.rename(Path(bin_) / "refused")
    return False


def _is_verified(entry: Path, key: str) -> bool:
    """Return whether *entry* is what `store` wrote under *key*: own plain files, hash and key right."""
    library, manifest = entry / LIBRARY, entry / MANIFEST
    try:
        if not stat.S_ISDIR(entry.lstat().st_mode):
            return False
        statuses = [entry.lstat(), library.lstat(), manifest.lstat()]
        if not all(map(_is_own, statuses)) or not all(stat.S_ISREG(s.st_mode) for s in statuses[1:]):
            return False
        recorded = json.loads(manifest.read_bytes())
        found = hashlib.sha256(library.read_bytes()).hexdigest()
    except (OSError, ValueError, RecursionError):
        return False
    return bool(recorded == {"key": key, "sha256": found})


def _is_own(status: os.stat_result) -> bool:
    """Return whether the file is this user's and nobody else can write to it."""
    if not hasattr(os, "getuid"):
        return True  # Windows: the user's folder is kept by its access list, not by modes
    return status.st_uid == os.getuid() and not status.st_mode & _WRITABLE_BY_OTHERS


def _is_trusted(root: Path) -> bool:
    status = root.lstat()
    if stat.S_ISDIR(status.st_mode) and _is_own(status):
        return True
    _warn_untrusted(str(root))
    return False


@cache  # once for each folder
def _warn_untrusted(root: str) -> None:
    warnings.warn(
        f"the kernel cache {root} is not used: it is a link, or others own it or may write to it\n"
        "  help: make it yours with mode 0700, or set SYMLAYOUT_CACHE_DIR",
        RuntimeWarning,
        stacklevel=2,
    )
