"""Print text with colours on a terminal: for verdicts, headings and the first words of errors."""

from __future__ import annotations

import os
from typing import TextIO

from symlayout.errors import legible

_VERDICTS = (("PROVED", "bold green"), ("REFUTED", "bold red"), ("UNKNOWN", "bold yellow"))

ANSWER = (*((rf"(?m)^{word}\b", style) for word, style in _VERDICTS), (r"(?m)^[a-z][\w:-]*(?=  +\S)", "bold"))
"""Patterns in an answer with their styles in rich: verdicts, and headings of rows."""

ERROR = ((r"\A\w+(?=[: ])", "bold red"), (r"(?m)^  (?:in|known|help):", "dim"))
"""Patterns in an error with their styles: its class, and the first words of its further lines."""


def wanted(stream: TextIO) -> bool:
    """Return whether *stream* is a terminal with colours and NO_COLOR is not set (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def write(text: str, stream: TextIO, styles: tuple[tuple[str, str], ...]) -> None:
    """Print *text*, made `legible`; if colours are `wanted`, each match of a pattern in *styles* gets its style."""
    text = legible(text)
    if not wanted(stream):
        print(text, file=stream)
        return
    from rich.console import Console  # here, because the import takes 0.1 s
    from rich.text import Text

    painted = Text(text)
    for pattern, style in styles:
        painted.highlight_regex(pattern, style)
    Console(file=stream, force_terminal=True).print(painted, soft_wrap=True)
