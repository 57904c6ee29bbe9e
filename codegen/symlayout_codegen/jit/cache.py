"""Keep compiled libraries in a per-user folder, and never hand out one that was not kept there.

An entry is the folder ``<root>/<key>/`` with the library, its C text and a manifest that holds
the library's SHA-256.  It is written beside under another name and renamed into place, so that an
entry is whole or absent whatever is killed when.  What a reader cannot verify it treats as absent.

A root that others could write to, that someone else owns, or that is a link is not used at all:
loading a library is running it.

Folders that are being written bear their writer's process number.  What a killed process left is
thereby known, and the next writer removes it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from symlayout_codegen.forks import held_off

LIBRARY, SOURCE, MANIFEST = "kernel.so", "kernel.c", "manifest.json"
STAGING = ".staging-"
"""How the names of folders begin that are being written, or removed, in the root."""

MOST_BYTES = 64 << 20
"""Bytes of a library; one that is larger is no kernel, and is not read."""

_STALE_SECONDS = 3600
_WRITABLE_BY_OTHERS = 0o022
_MANIFEST_BYTES = 1024


def cache_root() -> Path:
    """Return where entries are kept: ``$SYMLAYOUT_CACHE_DIR``, else the user's cache folder."""
    if named := os.environ.get("SYMLAYOUT_CACHE_DIR"):
        return Path(named)
    with held_off:
        import platformdirs

    root = Path(platformdirs.user_cache_path("symlayout"))
    if root.is_absolute():
        return root
    return Path(tempfile.gettempdir()) / f"symlayout-{os.getuid()}"  # a user who has no home


def load(key: str) -> bytes | None:
    """Return the verified library of the entry *key*, or None if there is none to trust."""
    try:
        root = cache_root()
        return _verified(root / key, key) if _is_trusted(root) else None
    except OSError:  # there is no root yet, or it cannot even be looked at
        return None


def store(key: str, library: bytes, source: str) -> bool:
    """Keep *library* and its C text under *key*; return whether an entry is now there.

    Where the folder cannot be used (foreign, read-only, full) nothing is kept: caching is a
    convenience, and the caller has its library.
    """
    try:
        root = cache_root()
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_trusted(root):
            return False
        with private_folder(root, STAGING) as staging:
            _write(staging / LIBRARY, library)
            _write(staging / SOURCE, source.encode("ascii"))
            _write(staging / MANIFEST, _manifest(key, library))
            return _publish(staging, root / key, key)
    except OSError:
        return False


def load_note(key: str, name: str) -> dict[str, str] | None:
    """Return what `store_note` wrote beside the library of the entry *key*; None if there is nothing to trust."""
    with held_off:
        import json  # which a kernel that is only loaded does without

    try:
        root = cache_root()
        note = root / key / f"{name}.json"
        if not _is_trusted(root) or not _is_own(note.parent.lstat()) or not _is_own(status := note.lstat()):
            return None
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MANIFEST_BYTES:
            return None
        recorded = json.loads(note.read_bytes())
        content = {str(k): str(v) for k, v in recorded["note"].items()}
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return None
    return content if recorded == {"note": content, "sha256": _note_hash(key, name, content)} else None


def store_note(key: str, name: str, note: dict[str, str]) -> bool:
    """Keep *note* beside the library of the entry *key*; return whether it is there."""
    with held_off:
        import json

    try:
        root = cache_root()
        if not _is_trusted(root):
            return False
        content = json.dumps({"note": note, "sha256": _note_hash(key, name, note)}).encode("ascii")
        with private_folder(root, STAGING) as staging:
            _write(staging / name, content)
            (staging / name).replace(root / key / f"{name}.json")
    except OSError:
        return False
    return True


def _note_hash(key: str, name: str, note: dict[str, str]) -> str:
    with held_off:
        import json

    return hashlib.sha256(json.dumps([key, name, note], sort_keys=True).encode("ascii")).hexdigest()


def discard(entry: Path) -> None:
    """Remove an entry, whatever it is, at once: no reader sees a part of it.

    A link goes, and what it points to stays.

    Raises
    ------
    OSError
        It is not there, or may not be removed.
    """
    with private_folder(entry.parent, STAGING) as folder:
        entry.rename(folder / "discarded")


@contextlib.contextmanager
def private_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """Give a folder in *parent* that only this user can enter and that is removed afterwards.

    Those that killed processes left there are removed first.
    """
    remove_stale(parent, prefix)
    folder = Path(tempfile.mkdtemp(prefix=f"{prefix}{_machine()}-{os.getpid()}-", dir=parent))
    try:
        yield folder
    finally:
        try:
            shutil.rmtree(folder, ignore_errors=True)
        except BaseException:  # Ctrl-C: once more, then go on with it
            shutil.rmtree(folder, ignore_errors=True)
            raise


def remove_stale(parent: Path, prefix: str) -> int:
    """Delete what killed processes left in *parent* under *prefix*; return how many folders were found.

    A folder made on this machine is stale once its process is gone, any other if its time of change is
    more than an hour from now, in the past or, where clocks differ, in the future.
    """
    stale = list(_stale(parent, prefix))
    for folder in stale:
        shutil.rmtree(folder, ignore_errors=True)
    return len(stale)


def _stale(parent: Path, prefix: str) -> Iterator[Path]:
    maker = re.compile(rf"{re.escape(prefix)}{_machine()}-([0-9]{{1,9}})-")
    for folder in parent.glob(f"{prefix}*"):
        try:
            status = folder.lstat()
        except OSError:
            continue  # another process was faster
        if stat.S_ISDIR(status.st_mode) and _is_own(status):
            made_here = maker.match(folder.name)
            if not _is_alive(int(made_here[1])) if made_here else abs(time.time() - status.st_mtime) > _STALE_SECONDS:
                yield folder


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return True


@cache
def _machine() -> str:
    """Return eight characters that tell apart where process numbers are counted: hosts and containers."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""  # no Linux
    return hashlib.sha256(f"{os.uname().nodename} {space}".encode()).hexdigest()[:8]


def _write(path: Path, content: bytes) -> None:
    """Write a new file that only this user can write to, whatever the umask."""
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(content)


def _publish(staging: Path, entry: Path, key: str) -> bool:
    """Rename *staging* to *entry*; where a sound entry is there already, that one stays."""
    for _attempt in range(3):
        try:
            staging.rename(entry)
        except OSError:  # something is there, or a network file system reports a failure after the fact
            if _verified(entry, key) is not None:
                return True
            with contextlib.suppress(FileNotFoundError):  # another process discarded it
                discard(entry)
        else:
            return True
    return False


def _verified(entry: Path, key: str) -> bytes | None:
    """Return the library of *entry* if it is what `store` wrote under *key*: own plain files, hash and key right."""
    library, manifest = entry / LIBRARY, entry / MANIFEST
    try:
        folder, *files = entry.lstat(), library.lstat(), manifest.lstat()
        if not stat.S_ISDIR(folder.st_mode) or not all(stat.S_ISREG(file.st_mode) for file in files):
            return None
        if not all(map(_is_own, (folder, *files))):
            return None
        if files[0].st_size > MOST_BYTES or files[1].st_size > _MANIFEST_BYTES:
            return None
        recorded, content = manifest.read_bytes(), library.read_bytes()
    except OSError:
        return None
    return content if recorded == _manifest(key, content) else None


def _manifest(key: str, library: bytes) -> bytes:
    """Return the manifest of an entry, as JSON; its reader compares the bytes, and needs no parser."""
    return f'{{"key": "{key}", "sha256": "{hashlib.sha256(library).hexdigest()}"}}'.encode("ascii")


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
        f"the kernel cache {root} is not used: it is a link or no folder, or others own it or may write to it\n"
        "  help: make it yours with mode 0700, or set SYMLAYOUT_CACHE_DIR",
        RuntimeWarning,
        stacklevel=2,
    )
