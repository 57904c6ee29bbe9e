"""Say what decides the C of a kernel, without printing it: a kernel that is in the cache is never scheduled.

The C is a function of the nest, the size of its elements, the choice, and the code of this package.  The
first three are values of which the text says everything; of the code it is the hash of the files.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from symlayout_codegen.choice import Choice
from symlayout_codegen.nest import Nest


def _code_hash() -> str:
    """Return the SHA-256 of the package's files; "" where it does not lie in a folder."""
    folder = Path(__file__).parent
    digest = hashlib.sha256()
    try:
        for file in sorted((*folder.glob("*.py"), *folder.glob("templates/*.[ch]"))):
            content = file.read_bytes()
            digest.update(f"{file.name} {len(content)}\n".encode() + content)
    except OSError:
        return ""
    return digest.hexdigest()


# Of the files as they are when the package is imported: later they may be another version's.
_CODE = _code_hash()


def identity(nest: Nest, element_size: int, choice: Choice) -> str:
    """Return a text that is different for kernels whose C is; "" where the package's code cannot be told."""
    if not _CODE:
        return ""
    proved = [sorted(map(repr, facts)) for facts in (nest.positive, nest.nonnegative)]  # sets have no order
    rest = replace(nest, positive=frozenset(), nonnegative=frozenset())
    return f"{_CODE}\n{element_size}\n{choice!r}\n{proved}\n{rest!r}"
