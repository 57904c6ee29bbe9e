"""What became of one model, as services of continuous integration show it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from symlayout.commands.output.report import ExitStatus


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one model.

    Attributes
    ----------
    name : str
        The file of the model after.
    result : str
        ``"PROVED"``, ``"REFUTED"``, ``"UNKNOWN"``, ``"ERROR"``, or ``"NEW"`` if there was none before.
    text : str
        The verdict or the error as text.
    seconds : float
        How long it took.
    """

    name: str
    result: str
    text: str
    seconds: float = 0.0

    @property
    def status(self) -> ExitStatus:
        """The exit status that says the result."""
        return _STATUS.get(self.result, ExitStatus.HOLDS)


_STATUS = {"REFUTED": ExitStatus.FAILS, "ERROR": ExitStatus.ERROR, "UNKNOWN": ExitStatus.UNDECIDED}


def worst(outcomes: Iterable[Outcome]) -> ExitStatus:
    """Return the exit status of all outcomes: a model that differs counts more than an error, and that than UNKNOWN.

    >>> worst([Outcome("a", "PROVED", ""), Outcome("b", "UNKNOWN", ""), Outcome("c", "ERROR", "")]).meaning
    'the work cannot be done'
    """
    found = {outcome.status for outcome in outcomes}
    return next((status for status in _STATUS.values() if status in found), ExitStatus.HOLDS)
