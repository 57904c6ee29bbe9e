"""Outcomes as JUnit's XML, which services of continuous integration read."""

from __future__ import annotations

from collections.abc import Sequence

from symlayout.commands.ci.outcome import Outcome
from symlayout.show.theme import escape

_ELEMENTS = {"REFUTED": "failure", "ERROR": "error", "UNKNOWN": "failure", "NEW": "skipped"}


def junit_xml(outcomes: Sequence[Outcome]) -> str:
    """Return one test case for each outcome; UNKNOWN is a failure, a new model is skipped.

    >>> print(junit_xml([Outcome("a.onnx", "PROVED", "PROVED: both", 1.25)]).splitlines()[2])
    <testcase classname="symlayout.verify" name="a.onnx" time="1.250"><system-out>PROVED: both</system-out></testcase>
    """
    counts = {word: sum(_ELEMENTS.get(o.result) == word for o in outcomes) for word in ("failure", "error", "skipped")}
    head = f'tests="{len(outcomes)}" failures="{counts["failure"]}" errors="{counts["error"]}"'
    total = sum(o.seconds for o in outcomes)
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<testsuite name="symlayout" {head} skipped="{counts["skipped"]}" time="{total:.3f}">',
    ]
    return "\n".join([*lines, *map(_case, outcomes), "</testsuite>", ""])


def _case(outcome: Outcome) -> str:
    element, text = _ELEMENTS.get(outcome.result), escape(outcome.text)
    first = escape(outcome.text.partition("\n")[0])
    inside = f'<{element} message="{first}">{text}</{element}>' if element else f"<system-out>{text}</system-out>"
    head = f'classname="symlayout.verify" name="{escape(outcome.name)}" time="{outcome.seconds:.3f}"'
    return f"<testcase {head}>{inside}</testcase>"
