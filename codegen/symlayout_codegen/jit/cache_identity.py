"""Say what decides the C of a kernel, without printing it: a kernel that is in the cache is never scheduled.

The C is a function of the nest, the size of its elements, the choice, and the code of this package.  The
first three are values of which the text says everything; of the code it is the hash of the files.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import symlayout_codegen
from symlayout_codegen.emit.header import VERSION
from symlayout_codegen.errors import CompilerError
from symlayout_codegen.ir.choice import Choice
from symlayout_codegen.ir.nest import Nest
from symlayout_codegen.jit.instruction_set import NATIVE, processors

_PACKAGE = Path(symlayout_codegen.__file__).parent
"""The folder of the whole backend."""


def code_hash(folder: Path) -> str:
    """Return the SHA-256 of the Python and C files in *folder* and its sub-folders; "" where they cannot be read."""
    digest = hashlib.sha256()
    try:
        for file in sorted(f for pattern in ("*.py", "*.[ch]") for f in folder.rglob(pattern)):
            content = file.read_bytes()
            digest.update(f"{file.relative_to(folder).as_posix()} {len(content)}\n".encode() + content)
    except OSError:
        return ""
    return digest.hexdigest()


# Of the files as they are when the package is imported: later they may be another version's.
_CODE = code_hash(_PACKAGE)


def identity(nest: Nest, element_size: int, choice: Choice) -> str:
    """Return a text that is different for kernels whose C is; "" where the package's code cannot be told."""
    if not _CODE:
        return ""
    proved = [sorted(map(repr, facts)) for facts in (nest.positive, nest.nonnegative)]  # sets have no order
    rest = replace(nest, positive=frozenset(), nonnegative=frozenset())
    return f"{_CODE}\n{element_size}\n{choice!r}\n{proved}\n{rest!r}"


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
