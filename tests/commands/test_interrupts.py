"""An interrupt from the keyboard ends a command, wherever it is: with its own status, without text, without files."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from symlayout.commands.output.report import ExitStatus
from tests.commands.outcome import MODELS, environment
from tests.support.onnx_writer import model, node, value_info

INTERRUPTS = """
import os, signal, sys
class Interrupts:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupts())
"""
LOADED = ["symlayout.compute", "symlayout.ops.window", "symlayout.commands.command_line", "symlayout.commands.infer"]


@pytest.mark.parametrize("module", ["symlayout", "symlayout.__main__", *LOADED])
def test_an_interrupt_while_the_console_script_loads_ends_quietly(module: str) -> None:
    code = INTERRUPTS.format(module=module) + "from symlayout_command import main\nsys.exit(main())\n"
    done = subprocess.run([sys.executable, "-c", code, "infer", "N"], env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (ExitStatus.INTERRUPTED, "", "")


@pytest.mark.parametrize("module", LOADED)
def test_an_interrupt_while_python_loads_the_package_as_a_command_ends_quietly(tmp_path: Path, module: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTS.format(module=module), encoding="ascii")
    variables = environment()
    variables["PYTHONPATH"] = os.pathsep.join([str(tmp_path), variables["PYTHONPATH"]])
    command = [sys.executable, "-X", "utf8", "-m", "symlayout", "infer", "N"]
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (ExitStatus.INTERRUPTED, "", "")


def test_an_interrupt_while_a_program_imports_the_package_is_one(tmp_path: Path) -> None:
    """Not only of ``-c``: also of ``-m`` with another module, whose arguments name the package."""
    (tmp_path / "program.py").write_text(
        INTERRUPTS.format(module="symlayout.compute")
        + "try:\n    import symlayout\nexcept KeyboardInterrupt:\n    print('mine')\n",
        encoding="ascii",
    )
    command = [sys.executable, "-m", "program", "symlayout"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "mine\n", "")


def _heavy(folder: Path) -> None:
    """Write two models of many nodes that differ in the middle, and one whose transposes cancel pair by pair."""
    for file, ops in (
        ("before", ["Relu"] * 6000),
        ("after", ["Relu"] * 3000 + ["Celu"] + ["Relu"] * 2999),
        ("turned", ["Transpose", "Softmax"] * 1500),
    ):
        names = ["x", *(f"v{k}" for k in range(len(ops)))]
        nodes = [node(op, a, b) for op, (a, b) in zip(ops, pairwise(names), strict=True)]
        x = value_info("x", ("N", "C"))
        (folder / f"{file}.onnx").write_bytes(model(nodes, [x], [names[-1]]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("infer", "before.onnx", "--all"),
        ("verify", "before.onnx", "after.onnx"),
        ("optimize", "turned.onnx", "-o", "out.onnx"),
    ],
    ids=lambda words: words[0],
)
def test_an_interrupt_ends_a_heavy_command(tmp_path: Path, words: tuple[str, ...]) -> None:
    """The signal comes after many calls of functions, wherever the command is then."""
    _heavy(tmp_path)
    files = sorted(p.name for p in tmp_path.iterdir())
    code = (
        "import itertools, os, signal, sys, symlayout\n"
        "from symlayout.commands import command_line\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "calls = itertools.count()\n"
        "def count(*_):\n"
        "    if next(calls) == 200_000:\n"
        "        sys.setprofile(None)\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.setprofile(count)\n"
        "sys.exit(command_line.main(sys.argv[1:]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env=environment(), capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.returncode, done.stdout, done.stderr) == (ExitStatus.INTERRUPTED, "", "")
    assert sorted(p.name for p in tmp_path.iterdir()) == files


def test_an_interrupt_leaves_no_part_of_a_model(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys, symlayout\n"
        "from symlayout.commands import command_line\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.exit(command_line.main(sys.argv[1:]))\n"
    )
    words = ["optimize", str(MODELS / "pixel_unshuffle.onnx"), "-o", str(tmp_path / "out.onnx")]
    done = subprocess.run([sys.executable, "-c", code, *words], env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (ExitStatus.INTERRUPTED, "", "")
    assert list(tmp_path.iterdir()) == []
