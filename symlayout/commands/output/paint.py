"""Print in colours on a terminal: verdicts, headings and the first words of errors; nothing else is changed."""

from __future__ import annotations

import os
from typing import TextIO

_VERDICTS = (("PROVED", "bold green"), ("REFUTED", "bold red"), ("UNKNOWN", "bold yellow"))

ANSWER = (*((rf"(?m)^{word}\b", style) for word, style in _VERDICTS), (r"(?m)^[a-z][\w:-]*(?=  +\S)", "bold"))
"""Patterns of an answer, and rich's styles: verdicts, and the headings of columns."""

ERROR = ((r"\A\w+(?=[: ])", "bold red"), (r"(?m)^  (?:in|known|help):", "dim"))
"""The same of an error: its class, and what leads its further lines."""


def wanted(stream: TextIO) -> bool:
    """Return whether *stream* is a terminal that shows colours, and nobody asked for none (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def write(text: str, stream: TextIO, styles: tuple[tuple[str, str], ...]) -> None:
    """Print *text*, with the parts that match a pattern in its style where colours are `wanted`."""
    if not wanted(stream):
        print(text, file=stream)
        return
    from rich.console import Console  # for those at a terminal only: 0.1 s
    from rich.text import Text

    painted = Text(text)
    for pattern, style in styles:
        painted.highlight_regex(pattern, style)
    Console(file=stream, force_terminal=True).print(painted, soft_wrap=True)
