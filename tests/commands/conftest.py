"""Fixtures of the tests of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from symlayout.commands import command_line
from tests.commands.outcome import Command, Outcome


@pytest.fixture
def symlayout(capfd: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs a command line in this process."""

    def run(*words: str | Path) -> Outcome:
        status = command_line.main([str(word) for word in words])
        return Outcome(status, *capfd.readouterr())

    return run
