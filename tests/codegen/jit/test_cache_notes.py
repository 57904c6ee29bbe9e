"""Notes beside a cached library, and the folders that processes leave."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from symlayout_codegen.jit import cache
from tests.codegen.jit.cached import compile_and_forget, entries

NOTE = {"choice": "outer loops first"}


@pytest.fixture
def entry(root: Path) -> Path:
    """Give an entry with a note that is read."""
    compile_and_forget()
    (entry,) = entries(root)
    assert cache.store_note(entry.name, "tuned", NOTE)
    assert cache.load_note(entry.name, "tuned") == NOTE
    return entry


def _make_pipe(note: Path) -> None:
    note.unlink()
    os.mkfifo(note, 0o600)


def _replace(note: Path, change: dict[str, str]) -> None:
    """Change words of the note, whose hash stays."""
    recorded = json.loads(note.read_text("ascii"))
    recorded["note"] = change
    note.write_text(json.dumps(recorded), "ascii")


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "spoil",
    [
        lambda note: note.unlink(),
        lambda note: note.write_bytes(note.read_bytes()[:-4]),
        lambda note: note.write_text("[" * 1000, "ascii"),
        lambda note: note.write_text("[]", "ascii"),
        lambda note: note.write_text('{"note": [], "sha256": ""}', "ascii"),
        lambda note: note.write_bytes(note.read_bytes() + b" " * 1024),
        lambda note: note.chmod(0o622),
        lambda note: note.parent.chmod(0o722),
        lambda note: (note.rename(note.with_name("elsewhere")), note.symlink_to("elsewhere")),
        lambda note: (note.unlink(), note.mkdir()),
        _make_pipe,  # to open it is to wait for a writer
        lambda note: _replace(note, {"choice": "another"}),
        lambda note: note.with_name("other.json").replace(note),
    ],
    ids=[
        *("absent", "truncated", "too deep", "no object", "no words", "too long", "of all", "in a folder of all"),
        *("a link", "a folder", "a pipe", "edited", "another note"),
    ],
)
def test_a_note_that_is_not_what_was_kept_is_not_read(entry: Path, spoil: Callable[[Path], object]) -> None:
    assert cache.store_note(entry.name, "other", NOTE)
    spoil(entry / "tuned.json")
    assert cache.load_note(entry.name, "tuned") is None


def test_a_note_of_another_entry_is_not_read(root: Path, entry: Path) -> None:
    shutil.copytree(entry, root / ("0" * 64))
    assert cache.load_note("0" * 64, "tuned") is None


def test_a_note_without_its_entry_is_not_kept(root: Path, entry: Path) -> None:
    assert not cache.store_note("0" * 64, "tuned", NOTE)
    assert entries(root) == [entry]


def test_a_note_is_kept_in_no_folder_that_others_may_write_to(root: Path, entry: Path) -> None:
    root.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="is not used"):
        assert not cache.store_note(entry.name, "more", NOTE)
    assert cache.load_note(entry.name, "tuned") is None
    assert sorted(file.name for file in entry.glob("*.json")) == ["manifest.json", "tuned.json"]


@pytest.mark.parametrize(
    ("failure", "removed"),
    [(ProcessLookupError, 1), (PermissionError, 0), (None, 0)],
    ids=["gone", "another's", "ours"],
)
def test_a_folder_of_a_process_that_lives_stays(
    root: Path, monkeypatch: pytest.MonkeyPatch, failure: type[OSError] | None, removed: int
) -> None:
    asked = []

    def kill(process: int, signal: int) -> None:
        asked.append((process, signal))
        if failure is not None:
            raise failure

    root.mkdir(mode=0o700)
    folder = root / f"{cache.STAGING}{cache._machine()}-4711-x"
    folder.mkdir(mode=0o700)
    os.utime(folder, (0, 0))  # age is nothing to go by, where the process is known
    monkeypatch.setattr(os, "kill", kill)
    assert cache.remove_stale(root, cache.STAGING) == removed
    assert asked == [(4711, 0)]  # which only asks
    assert folder.exists() == (not removed)


def test_hosts_and_containers_count_processes_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def machine(host: str, space: str) -> str:
        def readlink(_: str) -> str:
            if not space:
                raise FileNotFoundError  # no Linux
            return space

        monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(nodename=host))
        monkeypatch.setattr(os, "readlink", readlink)
        return str(cache._machine.__wrapped__())

    names = [machine(host, space) for host in ("one", "other") for space in ("", "pid:[1]", "pid:[2]")]
    assert len(set(names)) == len(names)
    assert {len(name) for name in names} == {8}


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_folders_of_others_and_files_are_left_alone(root: Path) -> None:
    root.mkdir(mode=0o700)
    folder, file = root / f"{cache.STAGING}foreign", root / f"{cache.STAGING}file"
    folder.mkdir()
    file.touch()
    os.chown(folder, 12345, 12345)
    for path in (folder, file):
        os.utime(path, (0, 0))
    assert cache.remove_stale(root, cache.STAGING) == 0
    assert folder.exists()
    assert file.exists()


def test_a_folder_that_another_process_removes_meanwhile_is_no_error(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root.mkdir(mode=0o700)
    gone = root / f"{cache.STAGING}gone"
    monkeypatch.setattr(Path, "glob", lambda *_: iter([gone]))
    assert cache.remove_stale(root, cache.STAGING) == 0


def test_ctrl_c_while_a_folder_is_removed_removes_it_all_the_same(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root.mkdir(mode=0o700)
    remove = shutil.rmtree
    presses = [KeyboardInterrupt()]

    def interrupted(folder: Path, **options: Any) -> None:
        if presses:
            raise presses.pop()
        remove(folder, **options)

    monkeypatch.setattr(shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt), cache.private_folder(root, cache.STAGING):
        pass
    assert not entries(root)


def test_what_stands_in_the_way_and_cannot_be_removed_costs_only_the_cache(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_and_forget()
    (entry,) = entries(root)
    (entry / "kernel.so").write_bytes(b"spoiled")
    monkeypatch.setattr(cache, "discard", lambda _: None)
    assert not cache.store(entry.name, b"library", "")
    assert entries(root) == [entry]
    assert cache.load(entry.name) is None
