"""Build the functions of a C text: take them from the cache, or compile, load and keep them.

What was built is loaded and must have its symbols before the cache keeps it.  The compiler's version is never
asked for: path, size and time of change identify it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence

from symlayout_codegen.emit.header import VERSION
from symlayout_codegen.errors import CompilerError, ProcessorError
from symlayout_codegen.forks import held_off
from symlayout_codegen.jit import cache
from symlayout_codegen.jit.compiler import compiling, find_compiler, no_folder, words
from symlayout_codegen.jit.instruction_set import LACKS, NATIVE, guard, processors, target_flags
from symlayout_codegen.jit.load import Functions, load_functions

FLAGS = ("-std=c11", "-O3", "-fPIC", "-shared")  # no warnings: nobody reads them, and they take time

_GUARD = "instruction_set.h"

_loaded: dict[str, Functions] = {}
_locks: dict[str, threading.RLock] = {}  # a signal's handler may build while its thread does
if hasattr(os, "register_at_fork"):
    # A lock that another thread held at the fork would stay locked in the child.
    os.register_at_fork(after_in_child=_locks.clear)


def build(
    identity: str, files: Callable[[], Mapping[str, str]], declarations: Mapping[str, str], march: str = NATIVE
) -> Functions:
    """Return functions of a C text, compiled now or before, by their names.

    Parameters
    ----------
    identity : what decides the texts: no others have it.
    files : gives the texts by name, `cache.SOURCE` and those that it includes; called if they must be compiled.
    declarations : for each function its type as a C pointer type, such as ``int32_t(*)(int64_t, void *)``.
    march : the instruction set, as `instruction_set.choose` returns it.

    Raises
    ------
    CompilerError
        There is no compiler, or it failed, took too long, or built something unusable.
    ProcessorError
        ``CFLAGS`` lets the compiler use instructions that *march* lacks.
    """
    with held_off:
        command, flags = find_compiler(), kernel_flags(march)
        key = cache_key(identity, command, flags, march)
    with _locks.setdefault(key, threading.RLock()):
        if key not in _loaded:
            _loaded[key] = _load_kept(key, declarations) or _compile(files, command, flags, declarations, key, march)
        return _loaded[key]


def cache_key(identity: str, command: Sequence[str], flags: Sequence[str], march: str = NATIVE) -> str:
    """Return the SHA-256 of everything that decides what the library is: *identity* decides the texts.

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
    parts = [
        VERSION,
        identity,
        path,
        str(status.st_size),
        str(status.st_mtime_ns),
        *command[1:],
        *flags,
        processors(march),
    ]
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogateescape")
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()


def kernel_flags(march: str = NATIVE) -> list[str]:
    """Return the flags, the user's after ours; an instruction set that was named and checked comes last."""
    target = target_flags(march)
    return [*FLAGS, *target, *words("CFLAGS")] if march == NATIVE else [*FLAGS, *words("CFLAGS"), *target]


def _load_kept(key: str, declarations: Mapping[str, str]) -> Functions | None:
    """Return the functions from the cache; None if they are not there, or were built for another system's loader."""
    with held_off, contextlib.suppress(CompilerError, OSError):
        content = cache.load(key)
        return load_functions(content, declarations) if content else None
    return None


def _compile(
    files: Callable[[], Mapping[str, str]],
    command: Sequence[str],
    flags: Sequence[str],
    declarations: Mapping[str, str],
    key: str,
    march: str,
) -> Functions:
    """Compile, load, and keep what loaded."""
    with held_off:
        texts = dict(files())
        if refused := guard(march, words("CFLAGS")):
            texts[_GUARD] = refused
            flags = [*flags, "-include", _GUARD]
    try:
        with compiling(texts, command, flags) as finish:
            content, log = finish()
    except CompilerError as error:
        if lacks := re.search(f"{LACKS}([\\w ./-]+)", error.log):
            raise ProcessorError(
                f"CFLAGS={os.environ.get('CFLAGS')!r}: {lacks[1]}\n  help: name fewer instructions in CFLAGS"
            ) from error
        raise
    with held_off:
        try:
            functions = load_functions(content, declarations)
        except CompilerError as error:
            raise CompilerError(str(error), log) from error
        except OSError as error:
            raise no_folder(error) from error
        cache.store(key, content, texts[cache.SOURCE])
    return functions
