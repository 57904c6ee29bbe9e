"""Run the C compiler under a time limit, in a private folder.

It is ``$CC`` with its arguments, else the first of cc, gcc and clang on the path, else zig, on the path or of the
package ``ziglang``.
"""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from symlayout_codegen.errors import CompilerError
from symlayout_codegen.forks import held_off
from symlayout_codegen.jit import cache
from symlayout_codegen.limits import limits

FOLDER = "symlayout-build-"
"""How the names of folders begin in which something is compiled."""

_LOG_LIMIT = 1 << 20
_SLOWED = 0.05, 0.9
"""Shares of `limits.compiler_seconds` that are processor time: of one that works, and of one that others slow down."""
_PAUSE = 0.05  # seconds after which it is asked again whether the compiler has ended

_hung: set[tuple[str, ...]] = set()  # command lines, the same for every source, that took too long


def find_compiler() -> tuple[str, ...]:
    """Return the compiler's command: its resolved path and the arguments that ``$CC`` gives it.

    Raises
    ------
    CompilerError
        None of the candidates is on the path, or the system is none that this module knows.
    """
    if os.name != "posix":
        raise CompilerError(f"kernels are built on POSIX systems only; this one is {os.name!r}")
    named = words("CC")
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


def words(variable: str) -> list[str]:
    """Return the words of an environment variable, quoted as for a shell."""
    text = os.environ.get(variable, "")
    try:
        return shlex.split(text)
    except ValueError as error:
        raise CompilerError(f"{variable}={text!r} cannot be split into words: {error}") from error


@contextlib.contextmanager
def compiling(
    files: Mapping[str, str],
    command: Sequence[str],
    flags: Sequence[str],
    objects: Mapping[str, bytes] | None = None,
    made: str = cache.LIBRARY,
) -> Iterator[Callable[[], tuple[bytes, str]]]:
    """Have the compiler work while the body does: give the function that waits for what it makes and for its log.

    Whatever happens, the user's Ctrl-C included, the compiler and its children have ended afterwards, and
    their folder is gone.

    Parameters
    ----------
    files : the texts by name; `cache.SOURCE` is the one that is compiled.  Without it, objects are linked only.
    command : what `find_compiler` returned.
    flags : the arguments but for the names of the files.
    objects : what is linked to it, compiled before, by file names.
    made : the name of the file that is made.

    Raises
    ------
    CompilerError
        There is no folder for it, or the compiler cannot be started; from the function: it failed, printed without
        end, took longer than `limits.compiler_seconds`, or built nothing, or what no kernel is as large as.
    """
    with contextlib.ExitStack() as stack:
        with held_off:
            try:
                folder = stack.enter_context(cache.private_folder(Path(tempfile.gettempdir()), FOLDER))
                for file, text in files.items():
                    (folder / file).write_text(text, encoding="ascii")
                for file, content in (objects or {}).items():
                    (folder / file).write_bytes(content)
            except OSError as error:
                raise no_folder(error) from error
            sources = [cache.SOURCE] if cache.SOURCE in files else []
            arguments = [*command, *flags, "-o", made, *sources, *(objects or ())]
            finish = stack.enter_context(_started(arguments, folder))

        def result() -> tuple[bytes, str]:
            log = finish()
            library = folder / made
            try:
                if not library.is_file():
                    raise CompilerError(f"the compiler {command[0]} reported success and built nothing", log)
                if (size := library.stat().st_size) > cache.MOST_BYTES:
                    raise CompilerError(f"the compiler {command[0]} built a file of {size} bytes", log)
                return library.read_bytes(), log
            except OSError as error:
                raise no_folder(error) from error

        yield result


def no_folder(error: OSError) -> CompilerError:
    """Return the error of a folder that *error* made useless."""
    return CompilerError(f"there is no folder to compile in: {error}\n  help: set TMPDIR")


@contextlib.contextmanager
def _started(arguments: list[str], folder: Path) -> Iterator[Callable[[], str]]:
    """Start the compiler in *folder*; give the function that waits for it and returns what it printed."""
    name, end = arguments[0], time.monotonic() + limits.compiler_seconds
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

    def finish() -> str:
        printed = bytearray()
        if not _read(process, printed, end):
            _hung.add(tuple(arguments))
            limit = f"{limits.compiler_seconds:g} s (symlayout.limits.compiler_seconds)"
            raise CompilerError(f"the compiler {name} took longer than {limit}", _text(printed))
        if len(printed) > _LOG_LIMIT:
            raise CompilerError(f"the compiler {name} printed more than {_LOG_LIMIT} bytes", _text(printed))
        _kill(process)  # which has ended, its children perhaps not
        if status := process.wait():
            raise CompilerError(f"the compiler {name} failed with status {status}", _text(printed))
        return _text(printed)

    try:
        yield finish
    finally:
        if process.returncode is None:
            _kill(process)
            process.wait()
        assert process.stdout is not None  # a pipe was asked for
        process.stdout.close()


def _read(process: subprocess.Popen[bytes], printed: bytearray, end: float) -> bool:
    """Add to *printed* what the compiler prints until it has ended, or has printed more than the limit.

    A child that it left behind may hold its output open: this is not waited for.  Return False if the time *end* came,
    and it is not the machine that is slow.
    """
    assert process.stdout is not None  # a pipe was asked for
    ready, is_open, pause, before = select.poll(), True, _PAUSE, 0.0
    ready.register(process.stdout, select.POLLIN)
    while len(printed) <= _LOG_LIMIT:
        ended = _has_ended(process)  # asked first: all that it printed can then be read
        if not ended and time.monotonic() >= end:
            least, most = (share * limits.compiler_seconds for share in _SLOWED)
            used = _processor_seconds(process)
            if not before + least <= used < most:
                return False
            before, end = used, time.monotonic() + limits.compiler_seconds
        if is_open and ready.poll(0 if ended else 1000 * pause):
            chunk = os.read(process.stdout.fileno(), 1 << 16)
            printed += chunk
            if not chunk:
                is_open, pause = False, 0.0005  # it is about to end
        elif ended:
            break
        elif not is_open:
            time.sleep(pause)
            pause = min(2 * pause, _PAUSE)
    return True


def _processor_seconds(process: subprocess.Popen[bytes]) -> float:
    """Return the processor time of the compiler with its children; 0 where the system does not say."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
            if fields[3] == str(process.pid):  # its session
                ticks += sum(map(int, fields[11:15]))  # its own, and of children that it waited for
    return ticks / os.sysconf("SC_CLK_TCK")


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether it has, without taking its status: its number stays that of its group meanwhile."""
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # this process ignores how its children end
        return True


def _text(printed: bytearray) -> str:
    return printed[:_LOG_LIMIT].decode("utf-8", "replace")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the compiler and its children; its group is gone where it ended by itself."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
