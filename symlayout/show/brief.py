"""Answers as HTML for notebooks: a heading, lines of text, and a picture."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from symlayout.show.theme import escape


def brief_html(heading: str, text: str = "", picture: str = "") -> str:
    """Return an answer as HTML; *picture* is SVG or HTML of this package.

    >>> brief_html("<PROVED>", "for all sizes")
    '<div><b>&lt;PROVED&gt;</b><pre style="white-space:pre-wrap;margin:0">for all sizes</pre></div>'
    """
    lines = "\n".join(map(escape, text.splitlines()))
    body = f'<pre style="white-space:pre-wrap;margin:0">{lines}</pre>' if lines else ""
    return f"<div><b>{escape(heading)}</b>{body}{picture}</div>"


def table_html(rows: Iterable[Iterable[Any]]) -> str:
    """Return values as a table, one row for each of *rows*.

    >>> table_html([[1, 2]])
    '<table><tr><td>1</td><td>2</td></tr></table>'
    """
    lines = ("".join(f"<td>{escape(str(value))}</td>" for value in row) for row in rows)
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
