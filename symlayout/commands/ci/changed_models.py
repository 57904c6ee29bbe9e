"""Which models of a git repository were changed since a commit, with their files as they were then."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from symlayout.errors import FormatError, MissingFileError, one_line, shown

_SUFFIXES = (".onnx", ".tflite", ".pt2", ".mlir", ".mlirbc", ".jax")
_LONGEST_HEAD = 4096  # bytes at the start of an .xml in which its root is looked for


@dataclass(frozen=True, slots=True)
class ChangedModel:
    """A model that was changed.

    Attributes
    ----------
    name : str
        Its path in the repository.
    before : Path or None
        The file as it was, with the files beside it; None if there was none.
    after : Path
        The file as it is.
    """

    name: str
    before: Path | None
    after: Path


@contextmanager
def changed_models(since: str, files: Sequence[str] = ()) -> Iterator[list[ChangedModel]]:
    """Find the models that were changed since a commit; their old files are there for the ``with`` block.

    Models are ``.onnx``, ``.tflite``, ``.pt2`` and StableHLO, and ``.xml`` of OpenVINO, also where only its ``.bin``
    was changed.  The new files are those of the working tree.  A file that was renamed is compared with the old one.

    Parameters
    ----------
    since : str
        A commit, as git names it.
    files : sequence of str
        The models to look at; all if it is empty.

    Raises
    ------
    FormatError
        git is not installed or does not know the commit, or this is no repository.
    MissingFileError
        One of *files* does not exist.
    """
    root = Path(_git("rev-parse", "--show-toplevel").rstrip("\n"))
    commit = _git("rev-parse", "--verify", "--end-of-options", f"{since}^{{commit}}").strip()
    for file in files:
        if not os.path.exists(file):
            raise MissingFileError(f"there is no file {shown(file)}")
    wanted = {os.path.realpath(file) for file in files}
    found = {new: old for new, old in _changes(root, commit).items() if _is_wanted(root / new, wanted)}
    with tempfile.TemporaryDirectory(prefix="symlayout-") as folder:
        _write_files(root, commit, {old for old in found.values() if old}, Path(folder))
        yield [ChangedModel(new, Path(folder) / old if old else None, root / new) for new, old in sorted(found.items())]


def _is_wanted(path: Path, wanted: Collection[str]) -> bool:
    return not wanted or os.path.realpath(path) in wanted


def _changes(root: Path, commit: str) -> dict[str, str]:
    """Return the old path of each model that was changed, by its new path; an empty one if it is new."""
    fields = _git("-C", str(root), "diff", "--name-status", "-z", "-M", "--diff-filter=AMR", commit, "--").split("\0")
    found: dict[str, str] = {}
    at = iter(fields)
    for status in at:
        if not status:
            break
        old = next(at)
        new = next(at) if status.startswith("R") else old
        found[new] = "" if status == "A" else old
    for name in list(found):
        network = str(PurePosixPath(name).with_suffix(".xml"))
        if name.endswith(".bin") and network not in found and (root / network).is_file():
            found[network] = network
    return {new: old for new, old in found.items() if new.endswith(_SUFFIXES) or _is_network(root / new)}


def _is_network(path: Path) -> bool:
    """Return whether a file is a network of OpenVINO IR."""
    if path.suffix != ".xml" or not path.is_file():
        return False
    with path.open("rb") as file:
        return b"<net " in file.read(_LONGEST_HEAD)


def _write_files(root: Path, commit: str, models: Collection[str], folder: Path) -> None:
    """Write the files in the folders of *models*, as they are in *commit*, to *folder*: constants stand beside them."""
    if not models:
        return
    listed: list[str] = []
    for parent in sorted({str(PurePosixPath(name).parent) for name in models}):
        where = [] if parent == "." else ["-r"]
        inside = [] if parent == "." else ["--", f"{parent}/"]
        entries = _git("-C", str(root), "ls-tree", "-z", *where, commit, *inside).split("\0")
        listed += [path for kind, _, path in (entry.partition("\t") for entry in entries) if " blob " in kind]
    index = {"GIT_INDEX_FILE": str(folder / ".index")}
    _git("-C", str(root), "read-tree", commit, more=index)
    words = ["-c", "core.symlinks=false", "checkout-index", "-q", "-f", "-z", "--stdin", f"--prefix={folder}/"]
    _git("-C", str(root), *words, given="\0".join(listed), more=index)


def _git(*words: str, given: str = "", more: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return what a command of git prints.  Paths may have any bytes."""
    try:
        done = subprocess.run(
            ["git", *words], input=os.fsencode(given), capture_output=True, check=False, env={**os.environ, **more}
        )
    except FileNotFoundError:
        raise FormatError("git is not installed") from None
    if done.returncode:
        raise FormatError(f"git {words[0]}: {one_line(os.fsdecode(done.stderr), 300)}")
    return os.fsdecode(done.stdout)
