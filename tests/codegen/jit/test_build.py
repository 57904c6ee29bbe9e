"""A compiler that is absent, fails, hangs or lies is a CompilerError, soon; a good one gives a function."""

from __future__ import annotations

import contextlib
import io
import itertools
import multiprocessing
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import symlayout_codegen.jit.cache_identity
import symlayout_codegen.jit.kernel
from symlayout_codegen import CompilerError, compile_nest
from symlayout_codegen.ir.choice import CANDIDATES, MODEL
from symlayout_codegen.ir.integer_expressions import NamedInt
from symlayout_codegen.ir.nest import Add
from symlayout_codegen.jit import build, compiler, instruction_set, shared_objects
from symlayout_codegen.jit.build import kernel_flags
from symlayout_codegen.jit.cache_identity import cache_key, code_hash, identity
from symlayout_codegen.jit.compiler import find_compiler
from symlayout_codegen.jit.load import Functions, load_functions
from symlayout_codegen.limits import limits
from tests.support import nests


@pytest.fixture(autouse=True)
def _nothing_built_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMLAYOUT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.delenv("CFLAGS", raising=False)
    monkeypatch.setattr(build, "_loaded", {})
    monkeypatch.setattr(shared_objects, "_objects", {})
    monkeypatch.setattr(compiler, "_hung", set())


def script(folder: Path, text: str) -> str:
    path = folder / "fake-cc"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def failure() -> CompilerError:
    with pytest.raises(CompilerError) as caught:
        compile_nest(nests.flip(), 2)
    return caught.value


def test_no_compiler_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert str(failure()) == (
        "no C compiler found: none of cc, gcc, clang, zig is on the path\n  help: install one, or set CC"
    )


def test_cc_that_is_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/no/such/cc -m64")
    assert "CC='/no/such/cc -m64' is not a program" in str(failure())


def test_cc_that_is_not_quoted_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "gcc 'oops")
    assert str(failure()).startswith('CC="gcc \'oops" cannot be split into words: ')


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere libraries have all that they call")
@pytest.mark.parametrize(
    ("flags", "alone"),
    [
        ("", [True]),
        ("-fsanitize=undefined", [True, False]),  # calls functions of a library that this process has not loaded
        ("-Wl,-z,defs", [True, False]),  # the linker refuses what it does not find: memcpy
    ],
)
def test_libraries_are_searched_where_a_kernel_needs_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: str, alone: list[bool]
) -> None:
    seen = tmp_path / "seen"
    monkeypatch.setenv("CC", script(tmp_path, f'echo "$@" >> {seen}; exec {shutil.which("gcc")} "$@"'))
    monkeypatch.setenv("CFLAGS", flags)
    kernel = compile_nest(nests.transpose(), 2, ways=0)
    assert ["-nostdlib" in line.split() for line in seen.read_text().splitlines() if "-shared" in line.split()] == alone
    out = bytearray(2 * 3 * 5)
    kernel((3, 5), [bytes(range(30))], out)
    assert out == bytes(b for j in range(5) for i in range(3) for b in (2 * (5 * i + j), 2 * (5 * i + j) + 1))


def test_cc_with_arguments_and_cflags_reach_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = tmp_path / "seen"
    real = shutil.which("cc")
    monkeypatch.setenv("CC", script(tmp_path, f'echo "$@" > {seen}; shift; exec {real} "$@"') + " -Done")
    monkeypatch.setenv("CFLAGS", "-DWORDS='a b' -O1")
    compile_nest(nests.flip(), 2)
    words = seen.read_text().split()
    assert words[0] == "-Done"
    assert words.index("-O1") > words.index("-O3")


def test_failing_compiler_shows_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", script(tmp_path, "echo 'kernel.c:1: nonsense' >&2; exit 3"))
    error = failure()
    assert re.fullmatch(r"the compiler .*/fake-cc failed with status 3\n  in:\n    kernel.c:1: nonsense", str(error))
    assert error.log == "kernel.c:1: nonsense\n"


FOR_EVER = 100_000  # seconds


def clock_that_stands_until(there: Path) -> SimpleNamespace:
    """Return a module `time` by which years pass as soon as the file *there* is made, and before it no time."""
    return SimpleNamespace(monotonic=lambda: 1e9 * there.exists(), sleep=time.sleep)


def wait_for_the_end_of(left: Path) -> None:
    """Wait until the process whose number is in the file *left* has got the signal that ends it."""
    state = Path(f"/proc/{left.read_text().strip()}/stat")
    with contextlib.suppress(OSError):  # it is gone
        while " Z " not in state.read_text():
            time.sleep(0.01)


def test_hanging_compiler_is_ended_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = tmp_path / "pid"
    monkeypatch.setenv("CC", script(tmp_path, f"sleep {FOR_EVER} & echo $! > {left}.new; mv {left}.new {left}; wait"))
    monkeypatch.setattr(compiler, "time", clock_that_stands_until(left))
    limit = f"{limits.compiler_seconds:g} s (symlayout.limits.compiler_seconds)"
    assert str(failure()).endswith(f"took longer than {limit}")
    wait_for_the_end_of(left)


@pytest.mark.slow
@pytest.mark.parametrize("output", ["", ">/dev/null 2>&1"])
def test_a_child_that_a_compiler_leaves_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str
) -> None:
    left = tmp_path / "pid"
    real = shutil.which("cc")
    monkeypatch.setenv("CC", script(tmp_path, f'sleep {FOR_EVER} {output} & echo $! > {left}; exec {real} "$@"'))
    compile_nest(nests.flip(), 2)  # an error if the child is waited for: it took too long
    wait_for_the_end_of(left)


def test_a_process_that_ignores_how_its_children_end_compiles() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        compile_nest(nests.flip(), 2)
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_a_library_without_end_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", script(tmp_path, "truncate -s 100G kernel.so"))
    assert str(failure()).endswith("fake-cc built a file of 107374182400 bytes")


def test_a_compiler_that_others_slow_down_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It works for a tenth of the time, until the limit has passed three times."""
    go, asked, real = tmp_path / "go", itertools.count(1), shutil.which("cc")
    monkeypatch.setattr(limits, "compiler_seconds", 0.5)

    def processor_seconds(process: object) -> float:
        if (times := next(asked)) == 3:
            monkeypatch.setattr(limits, "compiler_seconds", 600)
            go.touch()
        return 0.05 * times

    monkeypatch.setattr(compiler, "_processor_seconds", processor_seconds)
    monkeypatch.setenv("CC", script(tmp_path, f'while [ ! -e {go} ]; do sleep 0.05; done; exec {real} "$@"'))
    compile_nest(nests.flip(), 2)
    assert next(asked) == 4


def test_a_compiler_that_computes_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "compiler_seconds", 0.5)
    monkeypatch.setenv("CC", script(tmp_path, "while :; do :; done & wait"))
    assert "took longer" in str(failure())


@pytest.mark.slow
def test_the_processor_time_of_a_compiler_is_that_of_its_children_too() -> None:
    text = f"{sys.executable} -S -c 'import time\nwhile time.process_time() < 0.2: pass'"
    process = subprocess.Popen(
        ["sh", "-c", f"({text}) & ({text}); wait; echo done; sleep {FOR_EVER}"],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        assert 0.3 < compiler._processor_seconds(process) < 60
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # what sleeps holds the pipe open
        process.communicate()


def test_a_compiler_that_hung_is_not_waited_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "compiler_seconds", 0.3)
    monkeypatch.setenv("CC", script(tmp_path, f"sleep {FOR_EVER}"))
    assert "took longer" in str(failure())
    monkeypatch.setattr(limits, "compiler_seconds", 30)
    assert str(failure()).endswith("fake-cc took too long before and is not run again in this process")


def test_ctrl_c_ends_the_compiler_and_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / "pid"
    monkeypatch.setenv("CC", script(tmp_path, f"echo $$ > {left}.new; mv {left}.new {left}; sleep {FOR_EVER}"))

    read, waited_for = compiler._read, threading.Event()

    def note(
        *given: Any,
    ) -> bool:  # before this, `subprocess.Popen` itself may be interrupted, which then loses its child
        waited_for.set()
        return read(*given)

    monkeypatch.setattr(compiler, "_read", note)

    def press() -> None:
        waited_for.wait()
        while not left.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with it ignored
    thread = threading.Thread(target=press)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            compile_nest(nests.flip(), 2)
    finally:
        signal.signal(signal.SIGINT, before)
    thread.join()
    assert not Path(f"/proc/{left.read_text().strip()}").exists()
    assert list(tmp_path.glob("symlayout-build-*")) == []
    monkeypatch.delenv("CC")
    compile_nest(nests.flip(), 2)


def test_no_folder_to_compile_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    assert str(failure()).startswith("there is no folder to compile in: ")


def test_zig_of_a_package_is_found_where_nothing_else_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "ziglang"
    package.mkdir()
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    (package / "zig").write_text("#!/bin/sh\n")
    (package / "zig").chmod(0o755)
    monkeypatch.syspath_prepend(tmp_path)
    assert find_compiler()[1:] == ()
    monkeypatch.setenv("PATH", "")
    assert find_compiler() == (str(package / "zig"), "cc")


def test_compiler_that_prints_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", script(tmp_path, "exec yes"))
    error = failure()
    assert "printed more than" in str(error)
    assert len(error.log) <= 1 << 20


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        ("exit 0", "reported success and built nothing"),
        ("echo garbage > kernel.so", "the compiled library is unusable"),
        (": > kernel.so", "the compiled library is unusable"),
        ("shift; {cc} -O3 -shared -fPIC -o whole kernel.c; head -c 9000 whole > kernel.so", "are not all of it"),
        ("echo 'int other;' | {cc} -shared -fPIC -x c -o kernel.so -", "the compiled library is unusable"),
    ],
)
def test_lying_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lie: str, message: str) -> None:
    monkeypatch.setenv("CC", script(tmp_path, lie.format(cc=shutil.which("cc"))))
    assert message in str(failure())
    assert not list((tmp_path / "cache").glob("*")), "a lie was cached"


def test_compiler_that_is_no_program_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cc"
    path.write_bytes(b"\x7fELF nonsense")
    path.chmod(0o755)
    monkeypatch.setenv("CC", str(path))
    assert "cannot be started" in str(failure())


def test_key_tells_apart_whatever_decides_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = find_compiler()
    other = tmp_path / "cc"
    shutil.copy(os.path.realpath(command[0]), other)

    def key(identity: str, command: tuple[str, ...] = command) -> str:
        return cache_key(identity, command, kernel_flags())

    keys = [key("a"), key("b"), key("a", (*command, "-m64")), key("a", (str(other),))]
    os.utime(other, (1, 1))
    keys.append(key("a", (str(other),)))
    monkeypatch.setenv("CFLAGS", "-O1")
    keys.append(key("a"))
    monkeypatch.setattr(instruction_set, "cpu_flags", lambda: frozenset({"other"}))
    keys.append(key("a"))
    assert len(set(keys)) == len(keys)


def test_key_tells_compilers_apart_by_path_size_and_time(tmp_path: Path) -> None:
    def key(name: str, content: bytes, time: int, flags: tuple[str, ...] = ()) -> str:
        (tmp_path / name).write_bytes(content)
        os.utime(tmp_path / name, ns=(time, time))
        return cache_key("identity", (str(tmp_path / name),), flags)

    keys = [key("one", b"cc", 1), key("one", b"gcc", 1), key("one", b"cc", 2), key("other", b"cc", 1)]
    keys += [key("one", b"cc", 1, flags) for flags in (("-Oa", "-b"), ("-Oa-b",), ("-O", "a-b"))]
    assert len(set(keys)) == len(keys)
    (tmp_path / "link").symlink_to("one")
    assert cache_key("identity", (str(tmp_path / "link"),), ()) == keys[0]


def test_identities_tell_apart_whatever_decides_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    nest = nests.transpose()
    other: dict[str, Any] = {
        "name": "other",
        "parameters": (*nest.parameters, "p"),
        "prelude": (),
        "output_size": None,
        "pieces": (),
        "fills": 3,
        "positive": frozenset((NamedInt("H"),)),
        "nonnegative": frozenset(),
        "combine": Add("uint8"),
        "background": nest.pieces[0],
    }
    texts = [identity(nest, 4, MODEL), identity(nest, 8, MODEL), identity(nest, 4, CANDIDATES[1])]
    texts += [identity(replace(nest, **{name: value}), 4, MODEL) for name, value in other.items()]
    monkeypatch.setattr(symlayout_codegen.jit.cache_identity, "_CODE", "other code")
    texts.append(identity(nest, 4, MODEL))
    assert len(set(texts)) == len(texts)


def test_an_identity_is_told_without_the_comment() -> None:
    nest = replace(nests.flip(), about=lambda: pytest.fail("the comment is written"))
    assert identity(nest, 4, MODEL) == identity(nests.flip(), 4, MODEL)


def test_the_hash_of_the_code_covers_all_files_in_all_folders(tmp_path: Path) -> None:
    names = ["", "printer.py", "other.py", "emit/runtime.h", "emit/kernel.c", "passes/other.py", "passes/deep/order.py"]
    hashes = []
    for name in names:
        file = tmp_path / (name or "printer.py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"of {name}")
        hashes.append(code_hash(tmp_path))
    (tmp_path / "notes.txt").touch()
    assert code_hash(tmp_path) == hashes[-1]
    assert len(set(hashes)) == len(hashes)


def test_the_hash_of_the_code_covers_the_files_that_are_imported() -> None:
    hashed = symlayout_codegen.jit.cache_identity._PACKAGE
    loaded = [m for name, m in sys.modules.items() if name.split(".")[0] == "symlayout_codegen"]
    assert all(Path(m.__file__ or "").is_relative_to(hashed) for m in loaded)
    assert code_hash(hashed) == symlayout_codegen.jit.cache_identity._CODE


def test_facts_have_no_order_in_an_identity() -> None:
    facts = [NamedInt(f"n{k}") for k in range(20)]
    texts = {identity(replace(nests.transpose(), positive=frozenset(f)), 4, MODEL) for f in (facts, facts[::-1])}
    assert len(texts) == 1


@pytest.mark.slow
def test_where_the_code_cannot_be_told_the_text_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_nest(nests.flip(), 2)
    monkeypatch.setattr(symlayout_codegen.jit.cache_identity, "_CODE", "")
    assert identity(nests.flip(), 4, MODEL) == ""
    kernel = compile_nest(nests.flip(), 2)
    assert kernel.key in build._loaded
    other = compile_nest(nests.flip().described(first=["other"]), 4)
    assert other.key != kernel.key
    assert len(build._loaded) == 3


def test_a_kernel_that_is_kept_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    source = compile_nest(nests.flip(), 2).source
    build._loaded.clear()
    with monkeypatch.context() as patch:
        patch.setattr(symlayout_codegen.jit.kernel, "schedule", lambda *_: pytest.fail("it is scheduled"))
        kernel = compile_nest(nests.flip(), 2)
    assert kernel.source == source


def _compile_in_child() -> None:
    compile_nest(nests.flip(), 2)


def test_a_fork_while_another_thread_builds_does_not_hang() -> None:
    _compile_in_child()
    (key,) = build._loaded
    build._loaded.clear()
    builds, forked = threading.Event(), threading.Event()

    def build_slowly() -> None:
        with build._locks[key]:
            builds.set()
            forked.wait()

    thread = threading.Thread(target=build_slowly)
    thread.start()
    builds.wait()
    child = multiprocessing.get_context("fork").Process(target=_compile_in_child, daemon=True)
    child.start()
    forked.set()
    thread.join()
    child.join(600)
    assert child.exitcode == 0


@pytest.mark.slow
def test_a_fork_waits_for_what_another_thread_locks() -> None:
    """The child would wait for the lock of a module, of a codec or of `tempfile` that no thread of its own releases."""
    program = """
import os, signal, sys, threading, time
import numpy as np, symlayout as sl

class Slow:
    def find_spec(self, name, path=None, target=None):
        time.sleep(0.05 if name.startswith(("symlayout_codegen.", "_cffi", "platformdirs")) else 0.01)
sys.meta_path.insert(0, Slow())

def compiles():
    return sl.compile(sl.flip(sl.tensor("N"), 0), strict=True)(np.arange(3)).tolist() == [2, 1, 0]

thread = threading.Thread(target=compiles)
thread.start()
children = []
for _ in range(12):
    time.sleep(0.03)
    child = os.fork()
    if not child:
        signal.alarm(600)
        os._exit(not compiles())
    children.append(child)
thread.join()
print([os.waitpid(child, 0)[1] for child in children])
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"{[0] * 12}\n"


def test_what_is_loaded_is_not_loaded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_nest(nests.flip(), 2)
    monkeypatch.setattr(build, "_load_kept", lambda *_: pytest.fail("it is loaded again"))
    compile_nest(nests.flip(), 2)


def test_importing_the_package_imports_neither_cffi_nor_the_schedule() -> None:
    program = (
        "import sys, symlayout_codegen.errors;"
        "print([m for m in ('cffi', '_cffi_backend', 'numpy', 'sympy', 'symlayout',"
        " 'symlayout_codegen.passes.schedule') if m in sys.modules]);"
        "import symlayout_codegen.jit.kernel;"
        "print([m for m in ('cffi', '_cffi_backend', 'numpy', 'sympy', 'symlayout') if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n[]\n"


def test_a_system_that_is_not_known_has_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as other:
        other.setattr(os, "name", "nt")
        with pytest.raises(CompilerError) as caught:
            find_compiler()
    assert str(caught.value) == "kernels are built on POSIX systems only; this one is 'nt'"


def test_a_compiler_that_is_gone_since_it_was_found(tmp_path: Path) -> None:
    gone = str(tmp_path / "cc")
    with pytest.raises(CompilerError, match=f"the compiler {gone} cannot be read: .*No such file"):
        cache_key("identity", (gone,), ())


def test_features_are_those_of_the_processor_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(text: str | None) -> str:
        def opened(*_: object, **__: object) -> io.StringIO:
            if text is None:
                raise FileNotFoundError
            return io.StringIO(text)

        monkeypatch.setattr(instruction_set, "open", opened, raising=False)
        flags = instruction_set.cpu_flags.__wrapped__()
        with monkeypatch.context() as inside:
            inside.setattr(instruction_set, "cpu_flags", lambda: flags)
            return instruction_set.processors("native")

    one = read("model name : A\nflags : sse2 avx2\nflags : other core\n")
    assert one == read("flags : avx2 sse2\n")
    assert one != read("flags : sse2\n")
    assert "neon" in read("Features : neon\n")
    assert platform.machine() in read(None)


@pytest.mark.slow
def test_a_library_of_another_systems_loader_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_nest(nests.flip(), 2)
    monkeypatch.setattr(build, "_loaded", {})
    load = load_functions
    refusals = [CompilerError("no symbol of that version")]

    def refused(content: bytes, declarations: Mapping[str, str]) -> Functions:
        if refusals:
            raise refusals.pop()
        return load(content, declarations)

    monkeypatch.setattr(build, "load_functions", refused)
    compile_nest(nests.flip(), 2)
    assert not refusals
