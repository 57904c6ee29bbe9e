"""Colours for a terminal: verdicts, headings and the first words of errors; nothing else is changed."""

from __future__ import annotations

import os
import re
from typing import TextIO

_BOLD, _GREEN, _RED, _YELLOW, _DIM, _END = (f"\x1b[{code}m" for code in (1, 32, 31, 33, 2, 0))
_VERDICTS = {"PROVED": _GREEN, "REFUTED": _RED, "UNKNOWN": _YELLOW}


def wanted(stream: TextIO) -> bool:
    """Return whether *stream* is a terminal that shows colours, and nobody asked for none (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def answer(text: str) -> str:
    r"""Return an answer with its verdicts in colour and the headings of its columns bold.

    >>> answer("PROVED: yes")
    '\x1b[1m\x1b[32mPROVED\x1b[0m: yes'
    """
    text = re.sub(
        rf"^({'|'.join(_VERDICTS)})\b", lambda m: f"{_BOLD}{_VERDICTS[m[1]]}{m[1]}{_END}", text, flags=re.MULTILINE
    )
    return re.sub(r"^([a-z][\w:-]*)(?=  +\S)", rf"{_BOLD}\1{_END}", text, flags=re.MULTILINE)


def error(text: str) -> str:
    r"""Return an error with its class red and what leads its further lines dim.

    >>> error("FormatError: no")
    '\x1b[1m\x1b[31mFormatError\x1b[0m: no'
    """
    text = re.sub(r"^(\w+)(?=[: ])", rf"{_BOLD}{_RED}\1{_END}", text, count=1)
    return re.sub(r"^(  (?:in|known|help):)", rf"{_DIM}\1{_END}", text, flags=re.MULTILINE)
