"""Objects that many kernels are linked to: compiled once, in parallel, and kept in the cache beside the libraries.

An entry of the cache is that of a library, with the object in place of it: what holds for the one holds for the other.
An object is kept once a kernel that is linked to it was loaded.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence

from symlayout_codegen.forks import held_off
from symlayout_codegen.jit import cache
from symlayout_codegen.jit.cache_identity import cache_key
from symlayout_codegen.jit.compiler import compiling

OBJECT = "kernel.o"
"""The name of the file that the compiler makes of a text without linking it."""

_LEVEL, _OWN_LEVEL = "-O3", ("-O1", "-fexpensive-optimizations", "-falign-loops=32")
"""How kernels are optimised, and how objects are: their vectors are explicit, and their loops say how far to unroll.

With ``-O1`` alone, gcc leaves the upper halves of vectors in use at a function's end: what runs next is slow.  It
aligns no loop either: where a short one lies took up to a fifth of the time of a transpose.
"""

_objects: dict[str, bytes] = {}  # of this process, by key
_locks: dict[str, threading.RLock] = {}  # one, under ""
if hasattr(os, "register_at_fork"):
    # A lock that another thread held at the fork would stay locked in the child.
    os.register_at_fork(after_in_child=_locks.clear)


def object_flags(flags: Sequence[str]) -> list[str]:
    """Return *flags*, with which a library is made, for an object."""
    return [*(flag for flag in flags if flag != "-shared"), "-c"]


class SharedObjects:
    """The objects that one kernel is linked to.

    Attributes
    ----------
    kept : bool
        Whether one of them was compiled before.
    complete : bool
        Whether all of them were.
    """

    def __init__(
        self,
        texts: Mapping[str, str],
        command: Sequence[str],
        flags: Sequence[str],
        march: str,
        included: Mapping[str, str],
    ) -> None:
        """Take *texts*, the C of each by file name, and what a kernel is compiled with: *flags* include *included*."""
        self._texts, self._command, self._included = texts, command, included
        self._flags = object_flags(flags)
        if _LEVEL in self._flags:
            at = self._flags.index(_LEVEL)  # ours: what the user says comes later, and stays
            self._flags[at : at + 1] = _OWN_LEVEL
        with held_off:
            self._keys = {
                name: cache_key("\n".join([text, *included.values()]), command, self._flags, march)
                for name, text in texts.items()
            }
        self._found: dict[str, bytes] = {}
        self._made: dict[str, bytes] = {}
        self._anew = False
        self.kept = self.complete = False

    @contextlib.contextmanager
    def lent(self) -> Iterator[None]:
        """Have other threads wait meanwhile if objects must be read or compiled: they may need the same ones."""
        if all(key in _objects for key in self._keys.values()):
            yield
            return
        with _locks.setdefault("", threading.RLock()):
            yield

    @contextlib.contextmanager
    def compiling(self) -> Iterator[Callable[[], dict[str, bytes]]]:
        """Have the compiler make what is missing while the body runs: give the function that waits for it.

        That returns the objects by file names: those of this process or of the cache, and the others.

        Raises
        ------
        CompilerError
            See `compiler.compiling`; also from the function.
        """
        with held_off:
            wanted = {} if self._anew else self._keys
            read = {name: _objects.get(key) or cache.load(key) for name, key in wanted.items()}
        self._found = {name: content for name, content in read.items() if content}
        self.kept, self.complete = bool(self._found), len(self._found) == len(self._texts)
        with contextlib.ExitStack() as stack:
            working = {
                name: stack.enter_context(
                    compiling(
                        {**self._included, cache.SOURCE: self._texts[name]}, self._command, self._flags, made=OBJECT
                    )
                )
                for name in self._texts
                if name not in self._found
            }

            def result() -> dict[str, bytes]:
                self._made = {name: finish()[0] for name, finish in working.items()}
                both = {**self._found, **self._made}
                return {f"{name.removesuffix('.c')}.o": both[name] for name in self._texts}

            yield result

    def keep(self) -> None:
        """Keep what was compiled: a kernel that is linked to it was loaded."""
        for name, content in {**self._found, **self._made}.items():
            _objects[self._keys[name]] = content
        for name, content in self._made.items():
            cache.store(self._keys[name], content, self._texts[name])

    def forget(self) -> None:
        """Remove the objects of this process and of the cache, and compile anew: with them no kernel was made."""
        self._anew = True
        with held_off:
            for key in self._keys.values():
                _objects.pop(key, None)
                if cache.load(key):
                    with contextlib.suppress(OSError):  # it may not be removed
                        cache.discard(cache.cache_root() / key)
