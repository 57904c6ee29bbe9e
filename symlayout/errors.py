"""The error tree.  Every error raised on purpose is a `SymlayoutError` and also a builtin.

The root and `CompilerError` live in the backend, which never imports this package.
"""

from __future__ import annotations

from collections.abc import Sequence

from symlayout_codegen.errors import CompilerError, SymlayoutError

__all__ = [
    "ArrayError",
    "CompilerError",
    "FormatError",
    "InconclusiveError",
    "ShapeError",
    "SymlayoutError",
    "UnknownOpError",
]


class ShapeError(SymlayoutError, ValueError):
    """Shapes, attributes or dims that cannot belong together.

    Attributes
    ----------
    kind : str
        The broken rule, stable between releases: ``"non_divisible"``, ``"crop_exceeds"``, ...
        The same rule has the same kind when it breaks as a shape is bound later.
    """

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


class ArrayError(SymlayoutError, TypeError):
    """An array, or an ``out=``, that cannot be used as it is."""


class UnknownOpError(SymlayoutError, LookupError):
    """An operation name that no framework of the catalogue has."""


class FormatError(SymlayoutError, ValueError):
    """A string or a file that does not follow its grammar or format."""


class InconclusiveError(SymlayoutError):
    """A property that is needed could be neither proved nor refuted.

    Attributes
    ----------
    claim : str
        What had to be decided.
    known : tuple of str
        The facts that were at hand.
    """

    def __init__(self, claim: str, known: Sequence[str] = ()) -> None:
        super().__init__(
            f"cannot decide whether {claim}\n  known: {', '.join(known) or 'nothing'}\n"
            "  help: tighten the bounds of the dims, or fix some of them"
        )
        self.claim, self.known = claim, tuple(known)
