"""What services of continuous integration are told: names in models are no commands, and no markup."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from symlayout.commands.ci.github import annotated, guarded, summary, write_summary
from symlayout.commands.ci.junit import junit_xml
from symlayout.commands.ci.outcome import Outcome, worst
from symlayout.commands.output.report import ExitStatus
from tests.commands.outcome import MODELS, Command

EVIL = "a\n::error::forged\r\n::stop-commands::x\x00</pre><script>|`%0A"


def test_the_runner_obeys_no_name() -> None:
    lines = annotated([Outcome(EVIL, "UNKNOWN", EVIL)]).splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("::warning file=a")
    assert "%250A" in lines[0]
    assert "\r" not in lines[0]
    assert ":" not in lines[0].removeprefix("::warning ").partition("::")[0]


def test_the_text_of_a_verdict_stands_where_commands_are_stopped() -> None:
    first, *_, last = guarded("  ::error::forged").splitlines()
    token = re.fullmatch(r"::stop-commands::([0-9a-f]{32})", first)
    assert token is not None
    assert last == f"::{token[1]}::"
    assert guarded("") != guarded("")


def test_a_summary_is_a_table_and_text_without_markup() -> None:
    text = summary([Outcome(EVIL, "REFUTED", EVIL), Outcome("m.onnx", "NEW", "")])
    assert "<script>" not in text
    assert "| m.onnx | 🆕 NEW |" in text
    assert len([line for line in text.splitlines() if line.startswith("| ")]) == 3
    assert "No model was changed" in summary([])


def test_a_summary_is_written_where_the_service_asks_for_it(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    write_summary([])
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", f"{tmp_path}/s.md")
    write_summary([])
    write_summary([])
    with open(f"{tmp_path}/s.md", encoding="utf-8") as file:
        assert file.read().count("### symlayout") == 2


def test_junit_has_a_case_for_each_model() -> None:
    results = {"b": "NEW", "c": "ERROR", "d": "PROVED", "e": "UNKNOWN"}
    outcomes = [Outcome(EVIL, "REFUTED", EVIL, 1.5), *(Outcome(name, result, "") for name, result in results.items())]
    suite = ElementTree.fromstring(junit_xml(outcomes).encode("utf-8"))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors"), suite.get("skipped")) == (
        "5",
        "2",
        "1",
        "1",
    )
    assert [[child.tag for child in case] for case in suite] == [
        ["failure"],
        ["skipped"],
        ["error"],
        ["system-out"],
        ["failure"],
    ]
    assert suite[0].get("time") == "1.500"


@pytest.mark.parametrize(
    ("results", "status"),
    [
        ((), ExitStatus.HOLDS),
        (("PROVED", "NEW"), ExitStatus.HOLDS),
        (("PROVED", "UNKNOWN"), ExitStatus.UNDECIDED),
        (("UNKNOWN", "ERROR"), ExitStatus.ERROR),
        (("ERROR", "REFUTED", "UNKNOWN"), ExitStatus.FAILS),
    ],
)
def test_the_worst_result_is_the_status(results: tuple[str, ...], status: ExitStatus) -> None:
    assert worst(Outcome("m", result, "") for result in results) == status


def test_two_models_are_annotated(symlayout: Command) -> None:
    path = MODELS / "pixel_unshuffle.onnx"
    lines = symlayout("verify", path, path, "--github").out.splitlines()
    assert lines[0].startswith("::stop-commands::")
    assert lines[1].startswith("PROVED: ")
    assert lines[-1].startswith(f"::notice file={path},title=symlayout%3A PROVED::PROVED: ")


@pytest.mark.parametrize("words", [["a.onnx"], [], ["a.onnx", "b.onnx", "c.onnx"]])
def test_other_than_two_models_is_wrong_usage(symlayout: Command, words: list[str]) -> None:
    done = symlayout("verify", *words)
    assert done.status == ExitStatus.USAGE
    assert "BEFORE and AFTER" in done.err
