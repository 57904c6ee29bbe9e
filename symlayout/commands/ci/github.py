"""Annotations and step summaries of GitHub's workflows.

A line that begins with ``::`` is a command to the runner.  Names in models may be hostile, so the text of a verdict is
printed while commands are stopped, and what stands in an annotation is escaped.
"""

from __future__ import annotations

import html
import os
import secrets
from collections.abc import Sequence

from symlayout.commands.ci.outcome import Outcome
from symlayout.errors import legible, one_line

_LEVELS = {"PROVED": "notice", "NEW": "notice", "UNKNOWN": "warning"}
_LONGEST = 4000  # characters of an annotation
_SIGNS = {"PROVED": "✅", "NEW": "🆕", "UNKNOWN": "❔"}


def guarded(text: str) -> str:
    """Return *text* in lines between which the runner obeys nothing."""
    token = secrets.token_hex(16)
    return f"::stop-commands::{token}\n{text}\n::{token}::"


def annotated(outcomes: Sequence[Outcome]) -> str:
    r"""Return one line for each outcome, which shows it at its file.

    >>> annotated([Outcome("a,b.onnx", "REFUTED", "REFUTED: 100%\nwitness")])
    '::error file=a%2Cb.onnx,title=symlayout%3A REFUTED::REFUTED: 100%25%0Awitness'
    """
    return "\n".join(_annotation(outcome) for outcome in outcomes)


def _annotation(outcome: Outcome) -> str:
    level = _LEVELS.get(outcome.result, "error")
    title = _property(f"symlayout: {outcome.result}")
    return (
        f"::{level} file={_property(one_line(outcome.name))},title={title}::{_data(legible(outcome.text)[:_LONGEST])}"
    )


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def write_summary(outcomes: Sequence[Outcome]) -> None:
    """Add the outcomes to the summary of the step, if the environment names its file."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(summary(outcomes))


def summary(outcomes: Sequence[Outcome]) -> str:
    """Return the outcomes as Markdown: a table, and each text folded."""
    lines = ["### symlayout", "", "| model | result |", "|---|---|"]
    lines += [f"| {_markdown(o.name)} | {_SIGNS.get(o.result, '❌')} {o.result} |" for o in outcomes]
    for o in outcomes:
        text = html.escape(legible(o.text))
        lines += [
            "",
            f"<details><summary>{_markdown(o.name)}: {o.result}</summary>",
            "",
            f"<pre>{text}</pre></details>",
        ]
    return "\n".join([*lines, "", ""]) if outcomes else "### symlayout\n\nNo model was changed.\n"


def _markdown(name: str) -> str:
    """Return a name as HTML that Markdown leaves as it is."""
    return "".join(c if c.isalnum() or c in "./-_ " else f"&#{ord(c)};" for c in one_line(name))
