"""The option ``--html`` writes a page, says so, and leaves no half of a file."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

import symlayout as sl
from symlayout.commands.command_line import main
from symlayout.commands.output.page_option import add_html, write_html
from symlayout.commands.output.report import ExitStatus
from tests.commands.outcome import MODELS
from tests.reports.test_pages import data_in


def test_the_page_has_the_command_that_makes_it_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, page = str(MODELS / "pixel_unshuffle.onnx"), tmp_path / "a page.html"
    assert main(["verify", model, model, "--html", str(page)]) == ExitStatus.HOLDS
    assert f"  page: {page}" in capsys.readouterr().out
    assert data_in(page.read_text(encoding="utf-8"))["made_by"] == f"symlayout verify {model} {model} --html '{page}'"


def test_a_page_is_of_a_model(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["infer", "N,4", "transpose()", "--html", str(tmp_path / "page.html"), "--json"]) == ExitStatus.ERROR
    assert "take a MODEL" in json.loads(capsys.readouterr().out)["error"]["message"]
    assert list(tmp_path.iterdir()) == []


def test_without_the_option_nothing_is_written() -> None:
    parser = argparse.ArgumentParser()
    add_html(parser)
    assert write_html(sl.read_model(MODELS / "pixel_unshuffle.onnx"), parser.parse_args([]).html, "") == ""
