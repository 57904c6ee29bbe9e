"""What a command found: the same facts as text for people and as data for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of one command.

    Attributes
    ----------
    text : str
        For people; printed unless ``--json`` is given.
    data : mapping
        For programs; its keys are stable between releases.
    holds : bool
        Whether what was asked holds: exit status 0, else 1.
    """

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    holds: bool = True


def columns(rows: Iterable[tuple[str, str]]) -> str:
    r"""Return rows of a heading and a text of one or more lines, the texts under each other.

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
