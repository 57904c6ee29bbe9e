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
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
import pytest

from symlayout_codegen import CompilerError, compile_nest
from symlayout_codegen.jit import build, cache, cache_identity, compiler, load
from tests.codegen.jit.cached import PROGRAM, compile_and_forget, entries
from tests.support import nests
from tests.support.steps import STEPS, counted


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

    def counted(files: Mapping[str, str], command: Sequence[str], flags: Sequence[str], objects: object) -> Any:
        ran.append(command[0])
        return compiling(files, command, flags, {})

    monkeypatch.setattr(build, "compiling", counted)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: compile_nest(nests.flip(), 2), range(8)))
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
    monkeypatch.setattr(cache_identity, "VERSION", "another")
    compile_and_forget()
    assert len(entries(root)) == 2
    assert first in entries(root)


def test_an_entry_that_is_spoiled_while_its_library_is_in_use_does_no_harm(root: Path) -> None:
    compile_and_forget()
    build._loaded.clear()
    kernel = compile_nest(nests.flip(), 2)  # from the cache
    next(root.glob("*/kernel.so")).write_bytes(b"")  # a file that is mapped would be a bus error
    x, out = np.arange(6, dtype=np.int16).reshape(2, 3), np.empty((2, 3), np.int16)
    kernel((2, 3), [x], out)
    assert np.array_equal(out, x[::-1, ::-1])


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
