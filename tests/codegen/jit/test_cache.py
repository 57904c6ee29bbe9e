"""What the cache hands out is what it was given; anything else is built again."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import platformdirs
import pytest

from symlayout_codegen import CompilerError, compile_nest
from symlayout_codegen.jit import build, cache, compiler, load
from tests.support import nests
from tests.support.steps import STEPS, counted

PROGRAM = """
import numpy as np
from symlayout_codegen import compile_nest
from tests.support import nests
x, out = np.arange(6, dtype=np.float32).reshape(2, 3), np.empty((3, 2), np.float32)
compile_nest(nests.transpose(), 4)((2, 3), [x], out)
assert np.array_equal(out, x.T)
"""


REMEMBERING = """#!/bin/sh
kept={folder}/$(printf '%s' "$*" | cat - kernel.c *.h | sha256sum | cut -c1-40)
if [ ! -e $kept ]; then
    {compiler} "$@" || exit
    cp kernel.so $kept.$$ && mv $kept.$$ $kept
fi
cp $kept kernel.so
"""


@pytest.fixture(scope="session")
def remembering_compiler(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a compiler that compiles each text once in a session: these tests are about what becomes of the library."""
    folder = tmp_path_factory.mktemp("compiled")
    path = folder / "cc"
    path.write_text(REMEMBERING.format(folder=folder, compiler=shutil.which("cc")))
    path.chmod(0o755)
    return path


@pytest.fixture
def root(tmp_path: Path, remembering_compiler: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty cache folder, and a process that has loaded nothing yet."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("SYMLAYOUT_CACHE_DIR", str(folder))
    monkeypatch.setenv("CC", str(remembering_compiler))
    monkeypatch.setattr(build, "_loaded", {})
    monkeypatch.setattr(compiler, "_hung", set())  # on a busy machine a compiler may be too slow, for one test
    cache._warn_untrusted.cache_clear()
    return folder


def compile_and_forget() -> None:
    build._loaded.clear()
    compile_nest(nests.transpose(), 4)


def entries(root: Path) -> list[Path]:
    return sorted(root.iterdir())


def test_a_second_process_compiles_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_and_forget()
    (entry,) = entries(root)
    assert {file.name for file in entry.iterdir()} == {"kernel.so", "kernel.c", "manifest.json"}
    assert root.stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(build, "compiling", lambda *_: pytest.fail("the compiler ran"))
    compile_and_forget()


def test_from_the_cache_takes_few_steps(root: Path) -> None:
    compile_and_forget()
    compile_and_forget()
    with counted(STEPS // 100):  # 5 ms are promised and benchmarked
        compile_and_forget()


def spoil(entry: Path, how: str) -> None:
    library, manifest = entry / "kernel.so", entry / "manifest.json"
    match how:
        case "flipped":
            content = bytearray(library.read_bytes())
            content[len(content) // 2] ^= 1
            library.write_bytes(content)
        case "truncated":
            library.write_bytes(library.read_bytes()[:1000])
        case "empty":
            library.write_bytes(b"")
        case "no library":
            library.unlink()
        case "no manifest":
            manifest.unlink()
        case "garbage manifest":
            manifest.write_bytes(b"\xff{")
        case "deep manifest":
            manifest.write_bytes(b"[" * 100_000)
        case "another key":
            manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "key": "0" * 64}))
        case "endless manifest":
            os.truncate(manifest, 1 << 36)  # of holes; to read it is to run out of memory
        case "link" | "linked manifest":
            moved, file = entry.with_name("elsewhere"), library if how == "link" else manifest
            file.rename(moved)
            file.symlink_to(moved)
        case "pipe" | "manifest is a pipe":  # to open it is to wait for a writer
            file = library if how == "pipe" else manifest
            file.unlink()
            os.mkfifo(file, 0o600)
        case "endless library":
            os.truncate(library, 1 << 40)
        case "writable by the group":
            library.chmod(0o620)
        case "writable by others":
            library.chmod(0o602)
        case "writable manifest":
            manifest.chmod(0o620)
        case "writable folder":
            entry.chmod(0o702)
        case "file":
            shutil.rmtree(entry)
            entry.write_text("not a folder")
        case "linked folder":
            moved = entry.with_name("elsewhere")
            entry.rename(moved)
            entry.symlink_to(moved)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "how",
    [
        *("flipped", "truncated", "empty", "no library", "no manifest", "garbage manifest", "deep manifest"),
        *(
            "endless manifest",
            "endless library",
            "another key",
            "link",
            "linked manifest",
            "pipe",
            "manifest is a pipe",
        ),
        *("writable by the group", "writable by others", "writable manifest", "writable folder"),
        *("manifest is a pipe", "file", "linked folder"),
    ],
)
def test_a_spoiled_entry_is_not_loaded_but_replaced(root: Path, how: str) -> None:
    compile_and_forget()
    (entry,) = entries(root)
    key = entry.name
    spoil(entry, how)
    assert cache.load(key) is None
    compile_and_forget()
    assert cache.load(key) == (root / key / "kernel.so").read_bytes()


@pytest.mark.slow
def test_eight_processes_leave_one_library(root: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    running = [subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment) for _ in range(8)]
    assert [process.wait(timeout=600) for process in running] == [0] * 8
    assert len(entries(root)) == 1


def test_threads_compile_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    compiling = compiler.compiling

    def counted(files: Mapping[str, str], command: Sequence[str], flags: Sequence[str]) -> Any:
        ran.append(command[0])
        return compiling(files, command, flags)

    monkeypatch.setattr(build, "compiling", counted)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: compile_nest(nests.transpose(), 4), range(8)))
    assert len(ran) == 1


def test_what_a_killed_process_left_is_removed_by_age(root: Path) -> None:
    compile_and_forget()
    old, new = root / ".staging-old", root / ".staging-new"
    for folder in (old, new):
        folder.mkdir()
        (folder / "kernel.so").write_bytes(b"half")
    os.utime(old, (0, 0))
    assert cache.store("0" * 64, b"library", "")
    assert not old.exists()
    assert new.exists()


@pytest.mark.sample(1)
@pytest.mark.parametrize("how", ["777", "720", "702", "link", "file"])
def test_a_foreign_folder_is_not_used_and_said_once(root: Path, tmp_path: Path, how: str) -> None:
    if how == "file":
        root.write_text("a file")
    elif how == "link":
        (tmp_path / "target").mkdir(mode=0o700)
        root.symlink_to(tmp_path / "target")
    else:
        root.mkdir()
        root.chmod(int(how, 8))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compile_and_forget()
        compile_and_forget()
        assert not cache.store("0" * 64, b"library", "")
    assert len(caught) == 1
    assert "is not used: it is a link or no folder, or others own it" in str(caught[0].message)
    assert root.is_file() or not entries(root)


def test_a_folder_owned_by_another_is_not_used(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_and_forget()
    (entry,) = entries(root)
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.warns(RuntimeWarning, match="is not used"):
        assert cache.load(entry.name) is None


@pytest.mark.sample(1)
@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("what", ["", "kernel.so", "manifest.json"])
def test_an_entry_that_another_owns_is_not_loaded(root: Path, what: str) -> None:
    compile_and_forget()
    (entry,) = entries(root)
    os.chown(entry / what, 12345, 12345)
    assert cache.load(entry.name) is None
    compile_and_forget()
    assert cache.load(entry.name) is not None
    assert entries(root) == [entry]


@pytest.mark.sample(1)
@pytest.mark.parametrize("umask", [0o000, 0o002, 0o077])
def test_the_umask_does_not_matter(root: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        compile_and_forget()
    finally:
        os.umask(before)
    (entry,) = entries(root)
    assert cache.load(entry.name) is not None  # files of mode 664 would be refused
    assert {path.stat().st_mode & 0o077 for path in (root, entry, *entry.iterdir())} == {0}


def test_a_clock_that_is_wrong_removes_nothing_in_use(root: Path) -> None:
    compile_and_forget()
    with cache.private_folder(root, cache.STAGING) as used:
        os.utime(used, (0, 0))
        foreign = root / f"{cache.STAGING}another machine's"
        foreign.mkdir()
        os.utime(foreign, (2**32, 2**32))
        assert cache.remove_stale(root, cache.STAGING) == 1  # from the future
        assert used.exists()
        assert not foreign.exists()


@pytest.mark.slow
def test_two_versions_share_a_cache(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_and_forget()
    (first,) = entries(root)
    monkeypatch.setattr(build, "VERSION", "another")
    compile_and_forget()
    assert len(entries(root)) == 2
    assert first in entries(root)


def test_an_entry_that_is_spoiled_while_its_library_is_in_use_does_no_harm(root: Path) -> None:
    compile_and_forget()
    build._loaded.clear()
    kernel = compile_nest(nests.transpose(), 4)  # from the cache
    next(root.glob("*/kernel.so")).write_bytes(b"")  # a file that is mapped would be a bus error
    x, out = np.arange(6, dtype=np.float32).reshape(2, 3), np.empty((3, 2), np.float32)
    kernel((2, 3), [x], out)
    assert np.array_equal(out, x.T)


@pytest.mark.parametrize("where", ["nothing in memory", "nothing loaded from memory"])
def test_a_library_is_loaded_from_a_folder_where_memory_will_not_do(
    root: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    if where == "nothing in memory":
        monkeypatch.delattr(os, "memfd_create")
    else:
        library = load._load
        monkeypatch.setattr(load, "_load", lambda path: library(path.replace("/proc/self/fd", "/nowhere")))
    compile_and_forget()
    compile_and_forget()


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="the system has no files in memory")
def test_a_library_is_loaded_from_memory_where_the_system_can(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "_from_folder", lambda *_: pytest.fail("it is loaded from a file"))
    compile_and_forget()


def test_what_is_no_module_is_an_error() -> None:
    with pytest.raises(CompilerError, match="the compiled module is unusable"):
        load.load_module(b"garbage", "garbage")


@pytest.mark.slow
def test_kernels_loaded_one_after_another_are_not_taken_for_each_other(root: Path) -> None:
    for size in (1, 2, 4, 8):
        x = np.arange(6 * size, dtype=np.uint8).reshape(2, 3, size)
        out = np.empty((3, 2, size), np.uint8)
        compile_nest(nests.transpose(), size)((2, 3), [x], out)
        assert np.array_equal(out, x.swapaxes(0, 1))


@pytest.mark.parametrize("done", [False, True])
def test_a_rename_that_fails_as_on_a_network_costs_only_the_cache(
    root: Path, monkeypatch: pytest.MonkeyPatch, done: bool
) -> None:
    rename = Path.rename

    def fail(path: Path, target: Path) -> None:
        if done and path.exists():
            rename(path, target)  # and the answer is lost
        raise OSError(errno.ESTALE, "Stale file handle")

    with monkeypatch.context() as network:
        network.setattr(Path, "rename", fail)
        compile_and_forget()
    assert len(entries(root)) == done
    assert all(cache.load(entry.name) for entry in entries(root))


def test_a_root_that_cannot_be_looked_at_costs_only_the_cache(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYMLAYOUT_CACHE_DIR", str(tmp_path / ("x" * 300)))  # too long a name
    compile_and_forget()
    assert not cache.store("0" * 64, b"library", "")
    assert not cache.store_note("0" * 64, "tuned", {})


def test_no_home_is_no_folder_called_tilde(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SYMLAYOUT_CACHE_DIR", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda _: Path("~/.cache/symlayout"))
    assert cache.cache_root() == Path(tempfile.gettempdir()) / f"symlayout-{os.getuid()}"


def test_a_read_only_folder_costs_only_the_cache(root: Path) -> None:
    if os.getuid() == 0:
        pytest.skip("root writes everywhere")
    root.mkdir(mode=0o500)
    compile_and_forget()
    root.chmod(0o700)
    assert not entries(root)


def test_without_a_name_the_folder_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SYMLAYOUT_CACHE_DIR", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda name: tmp_path / name)
    assert cache.cache_root() == tmp_path / "symlayout"


# ---------------------------------------------------------------------- notes beside a library

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


# ---------------------------------------------------------------------- folders that processes leave


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
