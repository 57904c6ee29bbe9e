"""Compile C to a loaded function: find the compiler, run it under a time limit, load the library.

The compiler is ``$CC`` with its arguments, else the first of cc, gcc and clang; ``$CFLAGS`` come
last.  It runs in a private folder; what it built is loaded and must have the symbol before the
cache keeps it.  Its version is never asked for: path, size and time of change identify it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cache as once
from importlib import import_module
from pathlib import Path
from typing import Any

from symlayout_codegen import cache
from symlayout_codegen.errors import CompilerError
from symlayout_codegen.printer import VERSION

FLAGS = ("-std=c11", "-O3", "-fPIC", "-shared", "-Wall", "-Wextra")
TIME_LIMIT = 30.0
"""Seconds that the compiler may take."""

_LOG_LIMIT = 1 << 20
_FOLDER = "symlayout-build-"

Function = Callable[..., int]

_loaded: dict[str, Function] = {}
_libraries: list[Any] = []  # a function does not keep its library open
_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
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
    with _locks[key]:
        function = _loaded.get(key)
        if function is None:
            library = cache.load(key)
            if library is None:
                function = _compile(source, headers, command, symbol, declaration, key)
            else:
                function = load_function(library, symbol, declaration)
            _loaded[key] = function
    return function


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
    for candidate in [named] if named else [["cc"], ["gcc"], ["clang"]]:
        if path := shutil.which(candidate[0]):
            return (path, *candidate[1:])
    wanted = f"CC={os.environ['CC']!r} is not a program" if named else "none of cc, gcc, clang is on the path"
    raise CompilerError(f"no C compiler found: {wanted}\n  help: install one, or set CC")


def cache_key(source: str, headers: Mapping[str, str], command: tuple[str, ...]) -> str:
    """Return the SHA-256 of everything that decides what the library is."""
    path = os.path.realpath(command[0])
    status = os.stat(path)
    parts = [VERSION, source, *(f"{name}\n{text}" for name, text in sorted(headers.items()))]
    parts += [path, str(status.st_size), str(status.st_mtime_ns), *command[1:], *_flags(), cpu_features()]
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogateescape")
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()


def load_function(library: Path, symbol: str, declaration: str) -> Function:
    """Return the function *symbol* of the library, callable with integers and buffers.

    Raises
    ------
    CompilerError
        The file is no library, or has no such function.
    """
    try:
        handle = _engine().load_library(str(library), os.RTLD_NOW | os.RTLD_LOCAL)
        function: Function = handle.load_function(foreign_functions().typeof(declaration), symbol)
    except (OSError, AttributeError, KeyError) as error:
        raise CompilerError(f"the compiled library is unusable: {error}") from error
    _libraries.append(handle)
    return function


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


def _compile(
    source: str,
    headers: Mapping[str, str],
    command: tuple[str, ...],
    symbol: str,
    declaration: str,
    key: str,
) -> Function:
    """Compile, load, and keep what loaded."""
    cache.remove_stale(Path(tempfile.gettempdir()), _FOLDER)
    with tempfile.TemporaryDirectory(prefix=_FOLDER, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        for file, text in {**headers, cache.SOURCE: source}.items():
            (folder / file).write_text(text, encoding="ascii")
        library = folder / cache.LIBRARY
        arguments = [*command, *_flags(), "-o", cache.LIBRARY, cache.SOURCE]
        log = _run(arguments, folder)
        if not library.is_file():
            raise CompilerError(f"the compiler {command[0]} reported success and built nothing", log)
        function = load_function(library, symbol, declaration)
        cache.store(key, library, source)
        return function


def _run(arguments: list[str], folder: Path) -> str:
    """Run the compiler in *folder*; return what it printed.

    Raises
    ------
    CompilerError
        It cannot be started, fails, prints without end, or takes longer than `TIME_LIMIT`.
    """
    try:
        process = subprocess.Popen(
            arguments,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that the compiler's own children can be ended with it
        )
    except OSError as error:
        raise CompilerError(f"the compiler {arguments[0]} cannot be started: {error}") from error
    expired = threading.Event()

    def end() -> None:
        expired.set()
        _kill(process)

    timer = threading.Timer(TIME_LIMIT, end)
    timer.start()
    try:
        assert process.stdout is not None  # a pipe was asked for
        with process.stdout as output:
            printed = output.read(_LOG_LIMIT + 1)
        if endless := len(printed) > _LOG_LIMIT:
            _kill(process)
        status = process.wait()
    finally:
        timer.cancel()
    log = printed[:_LOG_LIMIT].decode("utf-8", "replace")
    if expired.is_set():
        raise CompilerError(f"the compiler {arguments[0]} took longer than {TIME_LIMIT:g} s", log)
    if endless:
        raise CompilerError(f"the compiler {arguments[0]} printed more than {_LOG_LIMIT} bytes", log)
    if status:
        raise CompilerError(f"the compiler {arguments[0]} failed with status {status}", log)
    return log


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the compiler and its children; its group is gone where it ended by itself."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
