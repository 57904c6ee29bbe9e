"""What a person meets at a terminal: colours, progress, completion, and the reference page of the commands."""

from __future__ import annotations

import io
import os
import pty
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from symlayout.commands import command_line, subject
from symlayout.commands.completion import SHELLS, make
from symlayout.commands.output import paint
from symlayout.commands.output.describe import describe_all
from symlayout.commands.output.progress import progress
from symlayout.commands.output.schemas import SCHEMAS
from tests.support.paths import ROOT
from tests.support.valid import problems

REFUTED = ["prove", "H,W", "flip(0)", "--", "flip(1)"]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


# --- colours ------------------------------------------------------------------------------------


def at_terminal(*words: str, **variables: str) -> str:
    """Return what a command line prints where its standard output and error are a terminal."""
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
    environment |= {"TERM": "xterm", "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "codegen")]), **variables}
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "symlayout", *words], env=environment, stdout=theirs, stderr=theirs, stdin=theirs
    ) as running:
        os.close(theirs)
        seen = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            seen += part
        running.wait(60)
    os.close(ours)
    return seen.decode()


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no pseudo-terminals")
def test_a_terminal_has_colours_unless_they_are_not_wanted() -> None:
    assert "\x1b[31mREFUTED\x1b[0m" in at_terminal(*REFUTED)
    assert "\x1b[31mShapeError\x1b[0m" in at_terminal("infer", "3", "reshape(2,-1)")
    plain = at_terminal(*REFUTED, NO_COLOR="1")
    assert "REFUTED" in plain
    assert not re.search(r"\x1b\[\d*m", plain)


def test_terminals_that_show_none_get_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert paint.wanted(Terminal())
    assert not paint.wanted(io.StringIO())
    monkeypatch.setenv("TERM", "dumb")
    assert not paint.wanted(Terminal())


def test_a_file_has_no_colours(capfd: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(REFUTED) == 1
    assert "\x1b" not in capfd.readouterr().out


def test_colours_change_nothing_else() -> None:
    text = "PROVED: yes\nshape     (N)\n  in: x\nthe map PROVED"
    painted = paint.answer(text)
    assert painted != text
    plain = painted
    for code in ("\x1b[0m", "\x1b[1m", "\x1b[32m"):
        plain = plain.replace(code, "")
    assert plain == text


# --- progress -----------------------------------------------------------------------------------


def test_long_work_shows_that_it_goes_on_and_leaves_nothing() -> None:
    stream = Terminal()
    with progress("prove", stream, after=0.01):
        while "prove" not in stream.getvalue():
            time.sleep(0.005)
    assert stream.getvalue().endswith("\r\x1b[2K")


def test_short_work_and_files_show_nothing() -> None:
    for stream in (Terminal(), io.StringIO()):
        with progress("prove", stream, after=5.0 if stream.isatty() else 0.0):
            pass
        assert stream.getvalue() == ""


def test_progress_ends_with_an_error() -> None:
    stream = Terminal()
    with pytest.raises(KeyError), progress("run", stream, after=0.0):
        raise KeyError("inside")
    assert stream.getvalue() in ("", stream.getvalue()[: stream.getvalue().rfind("\r")] + "\r\x1b[2K")


# --- completion ---------------------------------------------------------------------------------

LINES = [
    ("symlayout inf", "infer"),
    ("symlayout infer N,C transp", "transpose"),
    ("symlayout infer N,C onnx:SpaceTo", "SpaceToDepth"),
    ("symlayout run --dim", "--dims"),
    ("symlayout help pro", "prove"),
    ("symlayout cache ver", "verify"),
]


def script(tmp_path: Path, shell: str) -> Path:
    path = tmp_path / f"completion.{shell}"
    path.write_text(make(shell, describe_all(command_line.COMMANDS)) + "\n")
    return path


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
@pytest.mark.parametrize(("line", "expected"), LINES)
def test_bash_completes(tmp_path: Path, line: str, expected: str) -> None:
    words = line.split()
    commands = f"""
        source {script(tmp_path, "bash")}
        COMP_LINE='{line}' COMP_POINT={len(line)} COMP_WORDS=({line}) COMP_CWORD={len(words) - 1}
        _symlayout
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "--norc", "-c", commands], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [expected]
    assert done.stderr == ""


@pytest.mark.skipif(not shutil.which("fish"), reason="there is no fish")
@pytest.mark.parametrize(("line", "expected"), LINES)
def test_fish_completes(tmp_path: Path, line: str, expected: str) -> None:
    commands = f"source {script(tmp_path, 'fish')}; complete -C '{line}'"
    done = subprocess.run(["fish", "--no-config", "-c", commands], capture_output=True, text=True, check=True)
    assert [word for word in done.stdout.split() if word.endswith(expected)]


@pytest.mark.skipif(not shutil.which("zsh"), reason="there is no zsh")
def test_zsh_reads_the_completion(tmp_path: Path) -> None:
    commands = f"autoload -U compinit; compinit -u -D; source {script(tmp_path, 'zsh')}; echo ${{_comps[symlayout]}}"
    done = subprocess.run(["zsh", "-f", "-c", commands], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("_symlayout\n", "")


@pytest.mark.parametrize("shell", SHELLS)
def test_a_completion_knows_every_command_option_and_operation(shell: str) -> None:
    text = make(shell, describe_all(command_line.COMMANDS))
    for command in describe_all(command_line.COMMANDS):
        assert command.name in text
        names = [name for option in command.options for name in option.names if name.startswith("--")]
        assert all((f"-l {name[2:]} " if shell == "fish" else name) in text for name in names)
    assert all(op in text for op in subject.CORE_OPS)


# --- the reference page -------------------------------------------------------------------------


def test_the_page_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["help", "--markdown"]) == 0
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert capsys.readouterr().out == page, "run: symlayout help --markdown > docs/cli.md"


def test_every_command_has_a_schema() -> None:
    assert set(SCHEMAS) == set(command_line.COMMANDS)


@pytest.mark.parametrize(
    ("data", "schema"),
    [
        ({"a": 1}, {"type": "object", "properties": {}, "required": [], "additionalProperties": False}),
        ({}, {"type": "object", "properties": {"a": {}}, "required": ["a"]}),
        ([1, "x"], {"type": "array", "items": {"type": "integer"}}),
        (True, {"type": "integer"}),
        ("c", {"enum": ["a", "b"]}),
        (1, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (1, {"minimum": 0}),
    ],
)
def test_the_check_of_schemas_finds_what_is_wrong(data: Any, schema: dict[str, Any]) -> None:
    assert problems(data, schema)
