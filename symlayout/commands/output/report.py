"""The answer of a command, as text for people and as data for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Report:
    """The answer of one command.

    Attributes
    ----------
    text : str
        The answer as text, printed unless ``--json`` is given.
    data : mapping
        The answer as JSON data, printed with ``--json``.  Its keys are stable between releases.
    holds : bool
        Whether the exit status is 0; else it is 1.
    undecided : bool
        Whether the exit status is 3: it is not known whether the claim holds.
    """

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    holds: bool = True
    undecided: bool = False


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
