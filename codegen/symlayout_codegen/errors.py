"""The root of the error tree, and the backend's own branch of it.

The root lives here because the backend must raise it and never imports ``symlayout``;
``symlayout.errors`` re-exports both names.
"""

from __future__ import annotations

_SHOWN, _SHOWN_LINES = 2000, 20  # characters and lines of a log


def legible(text: str) -> str:
    r"""Return *text* with each character that a terminal may obey, and that is no end of a line, as Python writes it.

    Names in files of strangers may have any characters.  Each text that leaves the program goes through this function.

    Examples
    --------
    >>> print(legible("\x1b[2Jname\u202e"))
    \x1b[2Jname\u202e
    """
    return text if text.isprintable() else "".join(map(_legible, text))


def _legible(c: str) -> str:
    return c if c.isprintable() or c == "\n" else c.encode("unicode_escape", "surrogatepass").decode("ascii")


class SymlayoutError(Exception):
    """Base class of every error that symlayout raises on purpose.

    Its text is `legible`.

    Each is also a builtin: ``ShapeError`` is a ValueError, ``ArrayError`` a TypeError, and so on.

    Examples
    --------
    >>> issubclass(CompilerError, SymlayoutError) and issubclass(CompilerError, RuntimeError)
    True
    """

    def __str__(self) -> str:
        return legible(super().__str__())


class CompilerError(SymlayoutError, RuntimeError):
    """A C compiler that is absent, failed, hung, or built something unusable.

    Attributes
    ----------
    log : str
        What the compiler printed; empty if it never ran.  The error's text shows its first lines.

    Examples
    --------
    >>> CompilerError("cc failed", log="kernel.c:1: error").log
    'kernel.c:1: error'
    """

    def __init__(self, message: str, log: str = "") -> None:
        shown = legible(log[:_SHOWN]).splitlines()[:_SHOWN_LINES]
        super().__init__("\n    ".join([f"{message}\n  in:", *shown]) if shown else message)
        self.log = log


class ProcessorError(SymlayoutError, ValueError):
    """An instruction set that is unknown, or that this processor does not have.

    Examples
    --------
    >>> issubclass(ProcessorError, SymlayoutError) and issubclass(ProcessorError, ValueError)
    True
    """


class PreconditionFailed(SymlayoutError):
    """The arguments break a rule of the nest; nothing has been written.

    Attributes
    ----------
    kind : str
        The stable kind of the rule, such as ``"non_divisible"``.
    """

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind
