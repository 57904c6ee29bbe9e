"""The error tree.  Every error raised on purpose is a `SymlayoutError` and also a builtin.

The root, `CompilerError` and `ProcessorError` live in the backend, which never imports this package.
The functions `legible`, `shortened`, `one_line`, `shown` and `printable` write foreign texts and values for messages.
"""

from __future__ import annotations

from collections.abc import Sequence

from symlayout_codegen.errors import CompilerError, ProcessorError, SymlayoutError, legible

__all__ = [
    "ArrayError",
    "CompilerError",
    "FormatError",
    "InconclusiveError",
    "MissingFileError",
    "MissingPackageError",
    "ProcessorError",
    "ShapeError",
    "SymlayoutError",
    "TimeLimitError",
    "UnknownOpError",
    "legible",
    "one_line",
    "printable",
    "shortened",
    "shown",
]


def shortened(text: str, most: int = 80) -> str:
    """Return *text* cut to at most *most* characters, with ``…`` for the end that was cut.

    Names and texts of models and users have any length.  Messages, reports and pictures show them shortened.

    Examples
    --------
    >>> shortened("space_to_batch", 9), shortened("flip", 9)
    ('space_to…', 'flip')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def one_line(text: str, most: int = 80) -> str:
    r"""Return a foreign text for a line of a report: shortened, `legible`, and with its ends of lines escaped.

    Examples
    --------
    >>> print(one_line("a\nPROVED"))
    a\nPROVED
    """
    return legible(shortened(text, most)).replace("\n", "\\n")


def shown(value: object) -> str:
    """Return a value for a message: as Python writes it, shortened.

    What cannot be written, such as an integer of 5000 digits, is called by its type.

    Examples
    --------
    >>> shown([1, "a"]), shown(10**5000)
    ("[1, 'a']", '<int>')
    """
    try:
        text = repr(value)
    except Exception:  # whatever a foreign class does
        text = f"<{type(value).__name__}>"
    return shortened(text)


def printable(error: Exception) -> str:
    """Return the text of another package's error, on one line."""
    return one_line(str(error), 200)


LEFT_OUT = "left_out"
"""The kind of a requirement that leaves out sizes for which a standard has a meaning that is not read."""


class ShapeError(SymlayoutError, ValueError):
    """Shapes, attributes or dims that cannot belong together.

    Attributes
    ----------
    kind : str
        The broken rule, stable between releases: ``"non_divisible"``, ``"crop_exceeds"``, ...
        The same rule has the same kind when it breaks as a shape is bound later.

    Examples
    --------
    >>> import symlayout as sl
    >>> try:
    ...     sl.space_to_depth(sl.tensor("N, C, 5, 6"), 2)
    ... except ShapeError as error:
    ...     print(error.kind)
    non_divisible
    """

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[type[ShapeError], tuple[str, str]]:
        return type(self), (str(self), self.kind)


class ArrayError(SymlayoutError, TypeError):
    """An array, or an ``out=``, that cannot be used as it is.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.interpret(sl.flip(sl.tensor("N", name="x")), [1, 2, 3])
    Traceback (most recent call last):
    symlayout.errors.ArrayError: array x is a list, not an array
      help: pass numpy.asarray(...)
    """


class UnknownOpError(SymlayoutError, LookupError):
    """An operation name that no framework of the catalogue has.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.op("onnx:SpaceToDept")
    Traceback (most recent call last):
    symlayout.errors.UnknownOpError: no operation is called 'onnx:SpaceToDept'
      help: the nearest are onnx:SpaceToDepth, openvino:SpaceToDepth-1, tensorflow:SpaceToDepth
    """


class FormatError(SymlayoutError, ValueError):
    """A string or a file that does not follow its grammar or format.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.dim("2H")
    Traceback (most recent call last):
    symlayout.errors.FormatError: dim name '2H' is not an identifier
      help: use letters, digits and _
    """


class MissingFileError(SymlayoutError, FileNotFoundError):
    """A file of a model that is not there.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.load("no/model.onnx")
    Traceback (most recent call last):
    symlayout.errors.MissingFileError: there is no file 'model.onnx'
      in: no
    """


class MissingPackageError(SymlayoutError, ImportError):
    r"""A package that an extra of symlayout installs is not there, or cannot be imported.

    Examples
    --------
    >>> raise MissingPackageError("no package onnx\n  help: pip install symlayout[onnx]")
    Traceback (most recent call last):
    symlayout.errors.MissingPackageError: no package onnx
      help: pip install symlayout[onnx]
    """


class TimeLimitError(SymlayoutError, TimeoutError):
    """An answer that takes longer than the caller allows, where there is no part of it to return.

    Examples
    --------
    >>> raise TimeLimitError("'large.onnx' is not read within 1.5 seconds")
    Traceback (most recent call last):
    symlayout.errors.TimeLimitError: 'large.onnx' is not read within 1.5 seconds
    """


class InconclusiveError(SymlayoutError):
    """A property that is needed could be neither proved nor refuted.

    Attributes
    ----------
    claim : str
        What had to be decided.
    known : tuple of str
        The facts that were at hand.

    Examples
    --------
    >>> print(InconclusiveError("H >= W", ["H >= 1"]))
    cannot decide whether H >= W
      known: H >= 1
      help: tighten the bounds of the dims, or fix some of them
    """

    def __init__(self, claim: str, known: Sequence[str] = ()) -> None:
        super().__init__(
            f"cannot decide whether {claim}\n  known: {', '.join(known) or 'nothing'}\n"
            "  help: tighten the bounds of the dims, or fix some of them"
        )
        self.claim, self.known = claim, tuple(known)

    def __reduce__(self) -> tuple[type[InconclusiveError], tuple[str, tuple[str, ...]]]:
        return type(self), (self.claim, self.known)
