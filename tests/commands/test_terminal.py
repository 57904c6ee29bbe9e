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

import numpy as np
import pytest

import symlayout as sl
from symlayout.commands import command_line, subject
from symlayout.commands.completion import SHELLS, make
from symlayout.commands.output import paint
from symlayout.commands.output.describe import describe_all
from symlayout.commands.output.progress import progress
from symlayout.commands.output.schemas import SCHEMAS
from symlayout.deadlines import at_phase, told_phases
from symlayout.interop.chunked import apply_chunked
from tests.commands.outcome import MODELS
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


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no pseudo-terminals")
def test_a_terminal_has_colours_unless_they_are_not_wanted() -> None:
    assert "\x1b[1;31mREFUTED\x1b[0m" in at_terminal(*REFUTED)
    assert "\x1b[1;31mShapeError\x1b[0m" in at_terminal("infer", "3", "reshape(2,-1)")
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


LONG = "PROVED: yes\nshape     (N)\n  in: x\nthe map PROVED [bold] :smile:  \n" + "wide " * 100
PAINTED = LONG.replace("PROVED:", "<1;32>PROVED<0>:", 1).replace("shape", "<1>shape<0>")
REFUSED = "FormatError: no 3 [red]\n  in: x\n  help: none"
DIMMED = "<1;31>FormatError<0>: no 3 [red]\n<2>  in:<0> x\n<2>  help:<0> none"


@pytest.mark.parametrize(
    ("text", "styles", "painted"),
    [(LONG, paint.ANSWER, PAINTED), (REFUSED, paint.ERROR, DIMMED)],
    ids=["answer", "error"],
)
def test_colours_change_nothing_else(text: str, styles: Any, painted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    terminal, file = Terminal(), io.StringIO()
    paint.write(text, terminal, styles)
    paint.write(text, file, styles)
    assert re.sub(r"\x1b\[([\d;]*)m", r"<\1>", terminal.getvalue()) == f"{painted}\n"
    assert file.getvalue() == f"{text}\n"


@pytest.mark.slow
def test_what_is_not_painted_imports_nothing_that_paints() -> None:
    program = (
        "import sys; from symlayout.commands import command_line; status = command_line.main(sys.argv[1:]);"
        "print(status, [m for m in ('rich', 'shtab', 'onnx') if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "codegen")])}
    command = [sys.executable, "-c", program, *REFUTED]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n1 []\n")


# --- progress -----------------------------------------------------------------------------------


CLEARED = "\x1b[?25h\r\x1b[1A\x1b[2K"  # the cursor is back, and the line erased


@pytest.fixture(autouse=True)
def terminal_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")


def test_long_work_shows_that_it_goes_on_and_leaves_nothing() -> None:
    stream = Terminal()
    with progress("prove", stream, after=0.01):
        while "prove" not in stream.getvalue():
            time.sleep(0.005)
    assert "0:00:0" in stream.getvalue()
    assert stream.getvalue().endswith(CLEARED)


def test_the_phase_and_its_share_are_shown() -> None:
    stream = Terminal()
    with progress("verify", stream, after=0.01):
        at_phase("read", 1, 4)
        while "read 25 %" not in stream.getvalue():
            time.sleep(0.005)
        at_phase("compare")
        while "compare " not in stream.getvalue():
            time.sleep(0.005)
    assert stream.getvalue().endswith(CLEARED)


def test_commands_tell_their_phases() -> None:
    """Reading and comparing have shares that grow; optimising names the rule."""
    seen: list[tuple[str, int, int]] = []
    path = MODELS / "pixel_unshuffle.onnx"
    with told_phases(lambda *phase: seen.append(phase)):
        sl.verify(path, path)
    assert {what for what, _, _ in seen} == {"read", "compare"}
    assert all(done < total for _, done, total in seen)
    seen.clear()
    with told_phases(lambda *phase: seen.append(phase)):
        sl.optimize(path)
    assert "optimize: movement" in {what for what, _, _ in seen}
    seen.clear()
    with told_phases(lambda *phase: seen.append(phase)):
        apply_chunked(sl.transpose(sl.tensor("N, M")), np.zeros((4, 6)), memory="100B")
    assert seen[-1][0] == "write blocks"
    assert [done for _, done, _ in seen] == list(range(seen[-1][2]))


def test_short_work_and_files_show_nothing() -> None:
    for stream in (Terminal(), io.StringIO()):
        with progress("prove", stream, after=600.0 if stream.isatty() else 0.0):
            pass
        assert stream.getvalue() == ""


def test_progress_ends_with_an_error() -> None:
    stream = Terminal()
    with pytest.raises(KeyError), progress("run", stream, after=0.0):
        raise KeyError("inside")
    assert stream.getvalue().endswith(CLEARED) or not stream.getvalue()


# --- completion ---------------------------------------------------------------------------------

LINES = [
    ("symlayout inf", "infer"),
    ("symlayout infer N,C transp", "transpose"),
    ("symlayout infer N,C onnx:SpaceTo", "SpaceToDepth"),
    ("symlayout run --dims", "--dims"),
    ("symlayout help pro", "prove"),
    ("symlayout cache ver", "verify"),
]


def script(tmp_path: Path, shell: str) -> Path:
    path = tmp_path / f"completion.{shell}"
    path.write_text(make(shell, command_line.COMMANDS) + "\n")
    return path


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
@pytest.mark.parametrize(("line", "expected"), LINES)
def test_bash_completes(tmp_path: Path, line: str, expected: str) -> None:
    words = re.findall(r"[^ :]+|:", line)  # bash takes a colon for a word
    commands = f"""
        source {script(tmp_path, "bash")}
        COMP_LINE='{line}' COMP_POINT={len(line)} COMP_WORDS=({" ".join(words)}) COMP_CWORD={len(words) - 1}
        _shtab_symlayout
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
    script(tmp_path, "zsh").rename(tmp_path / "_symlayout")
    commands = f"fpath=({tmp_path} $fpath); autoload -U compinit; compinit -u -D; echo ${{_comps[symlayout]}}"
    commands += f"; zsh -n {tmp_path}/_symlayout"
    done = subprocess.run(["zsh", "-f", "-c", commands], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("_symlayout\n", "")


def test_zsh_completes_each_step_and_not_the_first_word_only() -> None:
    described = [
        line for line in make("zsh", command_line.COMMANDS).splitlines() if '_symlayout_steps_or_files"' in line
    ]
    assert len(described) > 5
    assert all(line.strip().startswith('"*:') for line in described)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_completion_knows_every_command_option_and_operation(shell: str) -> None:
    text = make(shell, command_line.COMMANDS)
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
