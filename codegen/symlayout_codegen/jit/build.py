"""Build the functions of a C text: take them from the cache, or compile, load and keep them.

What was built is loaded and must have its symbols before the cache keeps it.  The compiler's version is never
asked for: path, size and time of change identify it.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping, MutableMapping, Sequence

from symlayout_codegen.errors import CompilerError, ProcessorError
from symlayout_codegen.forks import held_off
from symlayout_codegen.jit import cache
from symlayout_codegen.jit.cache_identity import cache_key
from symlayout_codegen.jit.compiler import compiling, find_compiler, no_folder, words
from symlayout_codegen.jit.instruction_set import LACKS, NATIVE, guard, target_flags
from symlayout_codegen.jit.load import Functions, load_functions
from symlayout_codegen.jit.shared_objects import OBJECT, SharedObjects, object_flags

# No warnings: nobody reads them, and they take time.  Where a short loop lies took up to half of its time.
FLAGS = ("-std=c11", "-O3", "-falign-loops=32", "-fPIC", "-shared")

_ALONE = ("-nostdlib",) if sys.platform.startswith("linux") else ()
"""What has the linker search no libraries, which takes two thirds of its time: the process has what kernels call."""

_GUARD = "instruction_set.h"

KEPT = 256
"""Libraries that stay loaded though no kernel needs them: about 33 KiB each, and a thousand times sooner at hand."""

_loaded: MutableMapping[str, Functions] = weakref.WeakValueDictionary()
_recent: deque[Functions] = deque(maxlen=KEPT)
_locks: dict[str, threading.RLock] = {}  # a signal's handler may build while its thread does
if hasattr(os, "register_at_fork"):
    # A lock that another thread held at the fork would stay locked in the child.
    os.register_at_fork(after_in_child=_locks.clear)


def build(
    identity: str, files: Callable[[], Mapping[str, str]], declarations: Mapping[str, str], march: str = NATIVE
) -> Functions:
    """Return functions of a C text, compiled now or before, by their names.

    They are loaded for as long as one of them lives; those of the last `KEPT` calls live on.

    Parameters
    ----------
    identity : what decides the texts: no others have it.
    files : gives the texts by name: `cache.SOURCE`, those that it includes, and further files of C, which are compiled
        apart and kept for other kernels too.  Called if they must be compiled.
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
        functions = _loaded.get(key)
        if functions is None:
            functions = _load_kept(key, declarations) or _compile(files, command, flags, declarations, key, march)
            _loaded[key] = functions
        _recent.append(functions)
        return functions


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
        guarding = guard(march, words("CFLAGS"))
    units = {name: texts.pop(name) for name in [*texts] if name.endswith(".c") and name != cache.SOURCE}
    if guarding:
        texts[_GUARD] = guarding
        flags = [*flags, "-include", _GUARD]
    shared = SharedObjects(units, command, flags, march, {_GUARD: guarding} if guarding else {})
    with shared.lent():
        try:
            content, functions = _link(texts, command, flags, shared, declarations)
        except CompilerError as error:
            if lacks := re.search(f"{LACKS}([\\w ./-]+)", error.log):
                raise ProcessorError(
                    f"CFLAGS={os.environ.get('CFLAGS')!r}: {lacks[1]}\n  help: name fewer instructions in CFLAGS"
                ) from error
            if not shared.kept:
                raise
            shared.forget()  # such as an object that another system's linker made
            content, functions = _link(texts, command, flags, shared, declarations)
        with held_off:
            shared.keep()
            cache.store(key, content, texts[cache.SOURCE])
    return functions


def _link(
    texts: Mapping[str, str],
    command: Sequence[str],
    flags: Sequence[str],
    shared: SharedObjects,
    declarations: Mapping[str, str],
) -> tuple[bytes, Functions]:
    """Return the library of *texts* and of the objects *shared*, and its functions."""
    with shared.compiling() as objects:
        if shared.complete:
            linked = objects()
        else:  # all at the same time
            with compiling(texts, command, object_flags(flags), made=OBJECT) as finish:
                linked = {OBJECT: finish()[0], **objects()}
            texts = {}
    if _ALONE:
        try:
            return _library(texts, command, [*flags, *_ALONE], linked, declarations)
        except CompilerError as error:  # perhaps CFLAGS asks for what only libraries have
            if not isinstance(error, _Unusable) and "undefined" not in error.log:
                raise
    return _library(texts, command, flags, linked, declarations)


class _Unusable(CompilerError):
    """What the compiler built cannot be loaded, or has not all functions."""


def _library(
    texts: Mapping[str, str],
    command: Sequence[str],
    flags: Sequence[str],
    linked: Mapping[str, bytes],
    declarations: Mapping[str, str],
) -> tuple[bytes, Functions]:
    """Return the library of *texts* and of the objects *linked*, and its functions."""
    with compiling(texts, command, flags, linked) as finish:
        content, log = finish()
    with held_off:
        try:
            return content, load_functions(content, declarations)
        except CompilerError as error:
            raise _Unusable(str(error), log) from error
        except OSError as error:
            raise no_folder(error) from error
