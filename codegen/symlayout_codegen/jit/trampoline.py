"""Build the trampoline: a small module in C that makes the remembered calls of kernels.

It does what `symlayout.run.repeat_calls` does in Python, in a fifth of the time.  It needs the headers of Python and
NumPy, is built once for both of them, and is kept in the cache as kernels are.  Calls work without it.  A build that
fails is not reported unless requested (`state`).  ``SYMLAYOUT_TRAMPOLINE=0`` turns it off.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from symlayout_codegen.emit.header import template
from symlayout_codegen.errors import CompilerError
from symlayout_codegen.forks import held_off
from symlayout_codegen.jit import cache
from symlayout_codegen.jit.cache_identity import cache_key
from symlayout_codegen.jit.compiler import compiling, find_compiler, words
from symlayout_codegen.jit.load import load_module

MODULE = "symlayout_calls"
FLAGS = ("-std=c11", "-O1", "-fPIC", "-shared")  # as fast as at -O2, and compiled sooner


class _Trampoline:
    """The one of this process: the type `Calls` of the module, or why there is none."""

    def __init__(self) -> None:
        self.calls: Any = None
        self.problem = _unwanted()
        self.lock = threading.Lock()

    def take(self, content: bytes) -> None:
        self.calls = load_module(content, MODULE).Calls


def _unwanted() -> str:
    """Return why this process does without it from the start, or ""."""
    if os.environ.get("SYMLAYOUT_TRAMPOLINE") == "0":
        return "SYMLAYOUT_TRAMPOLINE is 0"
    if sys.implementation.name != "cpython" or "t" in sys.abiflags:
        return "it needs CPython with a global lock"
    return ""


_own = _Trampoline()


def calls() -> Any:
    """Return the type `Calls` of the module; None where there is none."""
    return _own.calls


def state() -> str:
    """Return in words whether it is in use, and if not, why."""
    return "in use" if _own.calls else f"not in use: {_own.problem or 'nothing has been compiled yet'}"


@contextlib.contextmanager
def beside() -> Iterator[None]:
    """Have it ready when the body, which compiles a kernel, ends: loaded, or compiled meanwhile where it was not kept.

    Its own failures are not raised but kept for `state`.
    """
    if _own.calls or _own.problem or not _own.lock.acquire(blocking=False):  # or another thread is about it
        yield
        return
    try:
        with contextlib.ExitStack() as stack:
            with held_off:
                finish = _begun(stack)
            try:
                yield
            except CompilerError:
                _own.problem = "the compiler failed"  # and would fail again
                raise
            if finish:
                finish()
    finally:
        _own.lock.release()


def _begun(stack: contextlib.ExitStack) -> Callable[[], None] | None:
    """Load it, or have the compiler begin, and return what ends that; None where nothing is left to be done."""
    try:
        source, command, flags = template(f"{MODULE}.c"), find_compiler(), [*FLAGS, *words("CFLAGS")]
        interpreter = f"{sys.version}\n{sys.base_prefix}\n{np.__version__}\n{np.get_include()}"
        key = cache_key(f"{interpreter}\n{source}", command, flags)
        if (content := cache.load(key)) is not None:
            with contextlib.suppress(CompilerError, OSError):  # another system's: to be built anew
                _own.take(content)
                return None
        finish = stack.enter_context(compiling({cache.SOURCE: source}, command, [*flags, *_headers()]))
    except CompilerError as error:
        _own.problem = str(error)
        return None

    def end() -> None:
        try:
            content, _ = finish()
            with held_off:
                _own.take(content)
                cache.store(key, content, source)
        except (CompilerError, OSError) as error:
            _own.problem = str(error)

    return end


def _headers() -> list[str]:
    """Return where the compiler finds the headers; `CompilerError` if Python's are not installed."""
    import sysconfig

    folders = [sysconfig.get_path("include"), sysconfig.get_path("platinclude"), np.get_include()]
    if not any(os.path.exists(os.path.join(folder, "Python.h")) for folder in folders):
        raise CompilerError(f"{folders[0]} has no Python.h\n  help: install the development files of Python")
    return [f"-I{folder}" for folder in dict.fromkeys(folders)]


def _after_fork() -> None:
    _own.lock = threading.Lock()  # another thread may have held it


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
