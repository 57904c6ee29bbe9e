"""The check on AArch64, here on this machine's own compiler; on the emulator where the tools are installed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import symlayout as sl
from symlayout.run.standalone_c import Unit, emit
from symlayout_codegen.emit.header import RUNTIME_HEADER, runtime
from tests.aarch64 import ANY_PROCESSOR, Subject, Target, Wrong, catalogue, check, check_leaves, fuzzed, main

HERE = Target(("gcc",), ())
SOME = ["--name", "pad_2d_x4", "--fuzzed", "3"]


@pytest.fixture(scope="module")
def pad() -> Subject:
    """Return a kernel of the catalogue."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    return next(tried for tried in catalogue() if tried.name == "pad_2d_x4")


@pytest.mark.slow
def test_kernels_agree_with_the_interpreter(pad: Subject, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(SOME, HERE) == 0
    assert "1 generated kernels, 3 cases\n3 kernels of the fuzz, " in capsys.readouterr().out


@pytest.mark.slow
def test_kernels_agree_on_an_emulated_aarch64(capsys: pytest.CaptureFixture[str]) -> None:
    if missing := Target().missing:
        pytest.skip(f"{missing} is not installed")
    assert main(SOME) == 0
    assert capsys.readouterr().out.endswith("all agree\n")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("target", "message"),
    [
        (Target(("gcc",), ("echo",)), "computes something else"),
        (Target(("gcc",), ("false",)), "false ended with 1"),
        (Target(("gcc", "-Wdeclaration-after-statement"), ()), "declaration-after-statement"),
    ],
    ids=["other bytes", "a failure", "a warning"],
)
def test_what_is_wrong_is_found(pad: Subject, target: Target, message: str, tmp_path: Path) -> None:
    with pytest.raises(Wrong, match=message):
        check(pad, target, tmp_path)


@pytest.mark.slow
def test_the_runtime_runs_too_and_what_is_wrong_with_a_panel_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    check_leaves("transposes", 4, ANY_PROCESSOR, HERE, tmp_path)
    right = runtime(halves=False)[RUNTIME_HEADER]
    wrong = right.replace("held + k * SL_PANEL_PITCH, across)", "held, across)")
    assert wrong != right
    monkeypatch.setattr("tests.aarch64.runtime", lambda **_: {RUNTIME_HEADER: wrong})
    check_leaves("transposes", 4, ["-DSL_LARGE_ARRAYS=0"], HERE, tmp_path)  # which take panels
    with pytest.raises(Wrong, match=r"4 bytes: \d+ times"):
        check_leaves("transposes", 4, ANY_PROCESSOR, HERE, tmp_path)


@pytest.mark.slow
def test_chains_whose_c_would_be_too_long_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    (first,) = fuzzed(1)
    text = emit([Unit(first.tensor, "kernel", first.dtype.itemsize, "none")])["kernel.c"]
    monkeypatch.setattr(sl.limits, "kernel_characters", len(text) - 1)
    with pytest.raises(sl.CompilerError, match="kernel_characters"):
        emit([Unit(first.tensor, "kernel", first.dtype.itemsize, "none")])
    (other,) = fuzzed(1)
    assert other.name != first.name


def test_a_tool_that_is_missing_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], Target(("no-such-compiler",), ())) == 2
    assert "no-such-compiler is not installed" in capsys.readouterr().err
