"""Load what was compiled, from memory: no file that could have changed since its bytes were verified."""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
import weakref
from collections.abc import Callable, Mapping
from functools import cache as once
from functools import partial
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from symlayout_codegen.errors import CompilerError
from symlayout_codegen.forks import held_off
from symlayout_codegen.jit import cache
from symlayout_codegen.jit.compiler import FOLDER

Function = Callable[..., int]
Loaded = TypeVar("Loaded")

_loads = itertools.count()
_unclosed: list[Any] = []  # handles of libraries that no function needs


class Functions(dict[str, Function]):
    """Functions by their names, to which references may be weak."""


def load_functions(content: bytes, declarations: Mapping[str, str]) -> Functions:
    """Return the functions of a library, callable with integers and buffers, by their names.

    What is loaded is *content* itself and no file that could have changed since it was read, or be
    truncated while it is in use.  Each function keeps it loaded; when none is left, it is unloaded.

    Parameters
    ----------
    content : the library.
    declarations : for each name the type as a C pointer type, such as ``int32_t(*)(int64_t, void *)``.

    Raises
    ------
    CompilerError
        It is no library, or not all of one, or has no such function.
    OSError
        There is no folder to load it from, where the system cannot load from memory.
    """
    try:
        library = _Library(_loaded(content, _load))
        return Functions((name, library.function(name, kind)) for name, kind in declarations.items())
    except _NotLoaded as error:
        raise CompilerError(f"the compiled library is unusable: {error}") from error


def load_module(content: bytes, name: str) -> ModuleType:
    """Return the extension module *name* in the same way; it is not added to `sys.modules`.

    Raises
    ------
    CompilerError, OSError
        As for a library.
    """

    def load(path: str) -> ModuleType:
        loader = ExtensionFileLoader(name, path)
        try:
            module = loader.create_module(ModuleSpec(name, loader, origin=path))
            loader.exec_module(module)
        except ImportError as error:
            raise _NotLoaded(error) from error
        return module

    try:
        return _loaded(content, load)
    except _NotLoaded as error:
        raise CompilerError(f"the compiled module is unusable: {error}") from error


class _NotLoaded(Exception):
    """The loader's words on a file that it cannot load."""


def _loaded(content: bytes, load: Callable[[str], Loaded]) -> Loaded:
    """Return what *load* makes of the path of a file with *content*."""
    _check_whole(content)
    return _from_memory(content, load) or _from_folder(content, load)


def _load(path: str) -> Any:
    """Return the system's handle of the library *path*."""
    ffi, dlopen, _, dlerror, _ = _cffi()
    if handle := dlopen(os.fsencode(path), os.RTLD_NOW | os.RTLD_LOCAL):
        return handle
    message = dlerror()
    raise _NotLoaded(os.fsdecode(ffi.string(message)) if message else "the loader does not say why")


class _Library:
    """A library that is loaded for as long as this object, or one of its functions, lives."""

    def __init__(self, handle: Any) -> None:
        _close_all()
        self._handle = handle
        weakref.finalize(self, _close, handle).atexit = False  # a thread may run it until the process ends

    def function(self, name: str, kind: str) -> Function:
        """Return the function *name*, whose type is *kind*."""
        ffi, _, dlsym, *_ = _cffi()
        if address := dlsym(self._handle, name.encode()):
            function: Function = ffi.gc(ffi.cast(kind, address), partial(_let_go, self))
            return function
        raise _NotLoaded(f"it has no function {name}")


def _let_go(library: _Library, function: Any) -> None:
    """Do nothing: that this call of a function is due keeps its library."""


def _close(handle: Any) -> None:
    """Unload a library.  This may run anywhere, with any lock held, so it waits for none."""
    _unclosed.append(handle)
    _close_all()


def _close_all() -> None:
    """Unload what no function needs, unless another thread makes a kernel: a fork must not find the loader at work."""
    if held_off.acquire(blocking=False):
        try:
            with contextlib.suppress(IndexError):
                while True:
                    _cffi()[-1](_unclosed.pop())
        finally:
            held_off.release()


def _from_memory(content: bytes, load: Callable[[str], Loaded]) -> Loaded | None:
    """Return the same, of an anonymous file; None where the system does not do that."""
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
            return load(f"/proc/self/fd/{number}{file}")
    except (OSError, _NotLoaded):
        return None


def _from_folder(content: bytes, load: Callable[[str], Loaded]) -> Loaded:
    with cache.private_folder(Path(tempfile.gettempdir()), FOLDER) as folder:
        library = folder / cache.LIBRARY
        library.write_bytes(content)
        return load(str(library))


def _check_whole(content: bytes) -> None:
    """Raise where the end of an ELF file is missing: to load that would be a bus error, not an exception."""
    if content[:6] != b"\x7fELF\x02\x01":  # of 64 bits, little end first; the loader looks at others
        return
    start, count = int.from_bytes(content[40:48], "little"), int.from_bytes(content[60:62], "little")
    if max(64, start + 64 * count) > len(content):  # the table of sections is the last thing in it
        raise CompilerError(f"the compiled library is unusable: its {len(content)} bytes are not all of it")


def foreign_functions() -> Any:
    """Return cffi's FFI object: ``from_buffer``, ``cast`` and ``typeof``."""
    return _cffi()[0]


@once
def _cffi() -> tuple[Any, Any, Any, Any, Any]:
    """Return cffi's FFI object, and ``dlopen``, ``dlsym``, ``dlerror`` and ``dlclose`` of the system."""
    with held_off:  # imported with the first kernel
        from symlayout_codegen.jit.libdl import ffi
    system = ffi.dlopen(None)
    # Looked up here: cffi's own look-up of a function clears what dlerror returns.
    return ffi, system.dlopen, system.dlsym, system.dlerror, system.dlclose
