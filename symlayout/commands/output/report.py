"""The answer of a command, as text for people and as data for programs."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symlayout.proof.verdict import Verdict
    from symlayout.tensors.shape_solver import Status


class ExitStatus(enum.IntEnum):
    """The exit statuses of all commands; each has its meaning in words."""

    meaning: str

    def __new__(cls, value: int, meaning: str) -> ExitStatus:
        """Return the status with this number."""
        status = int.__new__(cls, value)
        status._value_, status.meaning = value, meaning
        return status

    HOLDS = 0, "the claim holds, or the work is done"
    FAILS = 1, "the claim does not hold"
    USAGE = 2, "the command line is wrong"
    UNDECIDED = 3, "it is not known whether the claim holds"
    ERROR = 4, "the work cannot be done"
    INTERRUPTED = 130, "interrupted"
    TERMINATED = 143, "terminated"


@dataclass(frozen=True, slots=True)
class Report:
    """The answer of one command.

    Attributes
    ----------
    text : str
        The answer as text, printed unless ``--json`` is given.
    data : mapping
        The answer as JSON data, printed with ``--json``.  Its keys are stable between releases.
    status : ExitStatus
        The exit status.
    """

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    status: ExitStatus = ExitStatus.HOLDS


def exit_status(answer: Verdict | Status) -> ExitStatus:
    """Return the exit status that says the verdict of a claim, or how many inputs give a shape.

    >>> import symlayout as sl
    >>> exit_status(sl.Verdict.UNKNOWN).meaning
    'it is not known whether the claim holds'
    """
    return _ANSWERS.get(answer.value, ExitStatus.HOLDS)


_ANSWERS = {"refuted": ExitStatus.FAILS, "none": ExitStatus.FAILS, "unknown": ExitStatus.UNDECIDED}


def columns(rows: Iterable[tuple[str, str]]) -> str:
    r"""Return rows as text, each a heading and one or more lines, in two aligned columns.

    >>> print(columns([("shape", "(N)"), ("requires", "one\ntwo")]))
    shape     (N)
    requires  one
              two
    """
    rows = list(rows)
    width = max((len(heading) for heading, _ in rows), default=0) + 2
    lines = []
    for heading, text in rows:
        for k, line in enumerate(text.splitlines() or [""]):
            lines.append(f"{'' if k else heading:{width}}{line}".rstrip())
    return "\n".join(lines)
