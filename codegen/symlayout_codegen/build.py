"""Compile C to a loaded function: find the compiler, run it under a time limit, load the library.

The compiler is ``$CC`` with its arguments, else the first of cc, gcc and clang on the path, else zig,
on the path or of the package ``ziglang``; ``$CFLAGS`` come last.  It runs in a private folder; what it
built is loaded and must have the symbol before the cache keeps it.  Its version is never asked for:
path, size and time of change identify it.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import platform
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from functools import cache as once
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from symlayout_codegen import cache
from symlayout_codegen.errors import CompilerError
from symlayout_codegen.header import VERSION

FLAGS = ("-std=c11", "-O3", "-fPIC", "-shared", "-Wall", "-Wextra")
TIME_LIMIT = 30.0
"""Seconds that the compiler may take."""

_LOG_LIMIT = 1 << 20
_FOLDER = "symlayout-build-"

Function = Callable[..., int]

_loaded: dict[str, Function] = {}
_loads = itertools.count()
_libraries: list[Any] = []  # a function does not keep its library open
_hung: set[tuple[str, ...]] = set()  # command lines, the same for every source, that took too long
_locks: dict[str, threading.RLock] = {}  # a signal's handler may build while its thread does
if hasattr(os, "register_at_fork"):
    # A lock that another thread held at the fork would stay locked in the child.
    os.register_at_fork(after_in_child=_locks.clear)


def build(source: str, headers: Mapping[str, str], symbol: str, declaration: str) -> Function:
    """Return the function *symbol* of the C text *source*, compiled now or before.

    Parameters
    ----------
    source : the C text.
    headers : the files it includes, by name.
    symbol : the function's name.
    declaration : its type as a C pointer type, such as ``int32_t(*)(int64_t, void *)``.

    Raises
    ------
    CompilerError
        There is no compiler, or it failed, took too long, or built something unusable.
    """
    command = find_compiler()
    key = cache_key(source, headers, command)
    with _locks.setdefault(key, threading.RLock()):
        if key not in _loaded:
            kept = _load_kept(key, symbol, declaration)
            _loaded[key] = kept or _compile(source, headers, command, symbol, declaration, key)
        return _loaded[key]


def find_compiler() -> tuple[str, ...]:
    """Return the compiler's command: its resolved path and the arguments that ``$CC`` gives it.

    Raises
    ------
    CompilerError
        None of the candidates is on the path, or the system is none that this module knows.
    """
    if os.name != "posix":
        raise CompilerError(f"kernels are built on POSIX systems only; this one is {os.name!r}")
    named = _words("CC")
    for candidate in [named] if named else [["cc"], ["gcc"], ["clang"], ["zig", "cc"]]:
        if path := shutil.which(candidate[0]):
            return (path, *candidate[1:])
    if not named and (zig := _packaged_zig()):
        return (zig, "cc")
    wanted = f"CC={os.environ['CC']!r} is not a program" if named else "none of cc, gcc, clang, zig is on the path"
    raise CompilerError(f"no C compiler found: {wanted}\n  help: install one, or set CC")


def _packaged_zig() -> str | None:
    """Return the program in the package ``ziglang``, which is not imported; None if it is not installed."""
    package = find_spec("ziglang")
    return shutil.which("zig", path=str(Path(package.origin).parent)) if package and package.origin else None


def cache_key(source: str, headers: Mapping[str, str], command: tuple[str, ...]) -> str:
    """Return the SHA-256 of everything that decides what the library is.

    Raises
    ------
    CompilerError
        The compiler is not there any more.
    """
    path = os.path.realpath(command[0])
    try:
        status = os.stat(path)
    except OSError as error:
        raise CompilerError(f"the compiler {command[0]} cannot be read: {error}") from error
    parts = [VERSION, source, *(f"{name}\n{text}" for name, text in sorted(headers.items()))]
    parts += [path, str(status.st_size), str(status.st_mtime_ns), *command[1:], *_flags(), cpu_features()]
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogateescape")
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()


def load_function(content: bytes, symbol: str, declaration: str) -> Function:
    """Return the function *symbol* of a library, callable with integers and buffers.

    What is loaded is *content* itself and no file that could have changed since it was read, or be
    truncated while it is in use.

    Raises
    ------
    CompilerError
        It is no library, or not all of one, or has no such function.
    OSError
        There is no folder to load it from, where the system cannot load from memory.
    """
    _check_whole(content)
    try:
        handle = _load_from_memory(content) or _load_from_folder(content)
        function: Function = handle.load_function(foreign_functions().typeof(declaration), symbol)
    except (_NotLoaded, AttributeError, KeyError) as error:
        raise CompilerError(f"the compiled library is unusable: {error}") from error
    _libraries.append(handle)
    return function


class _NotLoaded(Exception):
    """The loader's words on a file that it cannot load."""


def _load(path: str) -> Any:
    try:
        return _engine().load_library(path, os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as error:
        raise _NotLoaded(error) from error


def _load_from_memory(content: bytes) -> Any:
    """Return the library, from an anonymous file; None where the system does not do that."""
    try:
        file = os.memfd_create("symlayout")
    except (AttributeError, OSError):
        return None
    try:
        with open(file, "wb") as writer:
            writer.write(content)
            writer.flush()
            # The loader takes a name that it has seen for the library that it has loaded: no name comes twice.
            number = f"{next(_loads):b}".replace("0", "/").replace("1", "./")
            return _load(f"/proc/self/fd/{number}{file}")
    except (OSError, _NotLoaded):
        return None


def _load_from_folder(content: bytes) -> Any:
    with cache.private_folder(Path(tempfile.gettempdir()), _FOLDER) as folder:
        library = folder / cache.LIBRARY
        library.write_bytes(content)
        return _load(str(library))


def _check_whole(content: bytes) -> None:
    """Raise where the end of an ELF file is missing: to load that would be a bus error, not an exception."""
    if content[:6] != b"\x7fELF\x02\x01":  # of 64 bits, little end first; the loader looks at others
        return
    start, count = int.from_bytes(content[40:48], "little"), int.from_bytes(content[60:62], "little")
    if max(64, start + 64 * count) > len(content):  # the table of sections is the last thing in it
        raise CompilerError(f"the compiled library is unusable: its {len(content)} bytes are not all of it")


@once
def foreign_functions() -> Any:
    """Return cffi's FFI object: ``from_buffer``, ``cast`` and ``typeof``."""
    return _engine().FFI()


def _engine() -> Any:
    """Return cffi's own engine, without its front end, whose C parser takes 30 ms to import."""
    return import_module("_cffi_backend")


@once
def cpu_features() -> str:
    """Return what tells this processor's instruction set from another's."""
    machine = platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            found = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    except OSError:
        return f"{machine} {platform.processor()}"
    return f"{machine} {' '.join(sorted(found.split()))}"


def _flags() -> list[str]:
    """Return the flags, the user's last; with this processor's instructions where gcc knows to name them."""
    native = ["-march=native"] if platform.machine() in ("x86_64", "AMD64", "aarch64") else []
    return [*FLAGS, *native, *_words("CFLAGS")]


def _words(variable: str) -> list[str]:
    """Return the words of an environment variable, quoted as for a shell."""
    text = os.environ.get(variable, "")
    try:
        return shlex.split(text)
    except ValueError as error:
        raise CompilerError(f"{variable}={text!r} cannot be split into words: {error}") from error


def _load_kept(key: str, symbol: str, declaration: str) -> Function | None:
    """Return the function from the cache; None if it is not there, or was built for another system's loader."""
    content = cache.load(key)
    with contextlib.suppress(CompilerError, OSError):
        return load_function(content, symbol, declaration) if content else None
    return None


def _compile(
    source: str,
    headers: Mapping[str, str],
    command: tuple[str, ...],
    symbol: str,
    declaration: str,
    key: str,
) -> Function:
    """Compile, load, and keep what loaded."""
    try:
        with cache.private_folder(Path(tempfile.gettempdir()), _FOLDER) as folder:
            for file, text in {**headers, cache.SOURCE: source}.items():
                (folder / file).write_text(text, encoding="ascii")
            library = folder / cache.LIBRARY
            log = _run([*command, *_flags(), "-o", cache.LIBRARY, cache.SOURCE], folder)
            if not library.is_file():
                raise CompilerError(f"the compiler {command[0]} reported success and built nothing", log)
            content = library.read_bytes()
            try:
                function = load_function(content, symbol, declaration)
            except CompilerError as error:
                raise CompilerError(str(error), log) from error
            cache.store(key, content, source)
            return function
    except OSError as error:
        raise CompilerError(f"there is no folder to compile in: {error}\n  help: set TMPDIR") from error


def _run(arguments: list[str], folder: Path) -> str:
    """Run the compiler in *folder*; return what it printed.

    Whatever happens, the user's Ctrl-C included, the compiler and its children have ended afterwards.

    Raises
    ------
    CompilerError
        It cannot be started, fails, prints without end, or takes longer than `TIME_LIMIT`.
    """
    name, end = arguments[0], time.monotonic() + TIME_LIMIT
    if tuple(arguments) in _hung:
        raise CompilerError(f"the compiler {name} took too long before and is not run again in this process")
    try:
        process = subprocess.Popen(
            arguments,
            cwd=folder,
            env={**os.environ, "TMPDIR": str(folder)},  # what it leaves if it is ended goes with the folder
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that the compiler's own children can be ended with it
        )
    except OSError as error:
        raise CompilerError(f"the compiler {name} cannot be started: {error}") from error
    printed = bytearray()
    try:
        _read(process, printed, end)
        status = process.wait(max(0.0, end - time.monotonic())) if len(printed) <= _LOG_LIMIT else None
    except subprocess.TimeoutExpired:
        _hung.add(tuple(arguments))
        raise CompilerError(f"the compiler {name} took longer than {TIME_LIMIT:g} s", _text(printed)) from None
    finally:
        if process.returncode is None:
            _kill(process)
            process.wait()
    if status is None:
        raise CompilerError(f"the compiler {name} printed more than {_LOG_LIMIT} bytes", _text(printed))
    if status:
        raise CompilerError(f"the compiler {name} failed with status {status}", _text(printed))
    return _text(printed)


def _read(process: subprocess.Popen[bytes], printed: bytearray, end: float) -> None:
    """Add to *printed* what the compiler prints, until it has done so, or has printed more than the limit.

    Raises
    ------
    subprocess.TimeoutExpired
        The time *end* has come.
    """
    assert process.stdout is not None  # a pipe was asked for
    with process.stdout as output:
        ready = select.poll()
        ready.register(output, select.POLLIN)
        while len(printed) <= _LOG_LIMIT:
            left = end - time.monotonic()
            if left <= 0 or not ready.poll(1000 * left):
                raise subprocess.TimeoutExpired(process.args, TIME_LIMIT)
            chunk = os.read(output.fileno(), 1 << 16)
            if not chunk:
                return
            printed += chunk


def _text(printed: bytearray) -> str:
    return printed[:_LOG_LIMIT].decode("utf-8", "replace")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the compiler and its children; its group is gone where it ended by itself."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
