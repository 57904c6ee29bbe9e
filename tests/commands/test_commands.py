"""Each command is a module that declares its arguments and answers with a report that meets its schema."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from onnx import TensorProto, helper, save

import symlayout.interrupts
import symlayout_command
from symlayout.budgets import limits
from symlayout.commands import (
    bench,
    cache,
    check,
    completion,
    doctor,
    emit,
    explain,
    infer,
    ops,
    optimize,
    prove,
    run,
    show,
    verify,
)
from symlayout.commands import help as help_command
from symlayout.commands.command_line import COMMANDS, make_parser
from symlayout.commands.output.report import ExitStatus, Report, columns
from symlayout.commands.output.schemas import SCHEMAS
from symlayout.commands.peers import graphs, rivals
from symlayout.equivalence.verification import Verification
from symlayout.proof.verdict import Verdict
from tests.commands.outcome import Command, environment
from tests.support.valid import assert_valid

_MODEL = Path(__file__).parents[2] / "examples" / "models" / "pixel_unshuffle.onnx"
MODULES = (
    bench,
    cache,
    check,
    completion,
    doctor,
    emit,
    explain,
    help_command,
    infer,
    ops,
    optimize,
    prove,
    run,
    show,
    verify,
)
WORDS: dict[ModuleType, list[str]] = {
    cache: [],
    doctor: [],
    explain: ["N,2*h", "transpose(1,0)"],
    help_command: ["infer"],
    infer: ["N,2*h", "transpose(1,0)"],
    ops: ["transpose"],
    optimize: [str(_MODEL), "-o", "OUT"],
    prove: ["N,M", "transpose(1,0)"],
    show: ["2,3", "transpose(1,0)"],
    verify: [str(_MODEL), str(_MODEL)],
}


def test_every_command_is_a_module_and_has_a_schema() -> None:
    assert set(COMMANDS.values()) == set(MODULES)
    assert set(COMMANDS) <= set(SCHEMAS)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_the_arguments_are_described(module: ModuleType) -> None:
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    for action in parser._actions:
        assert action.help or action.choices, action


@pytest.mark.sample(8)
@pytest.mark.parametrize("module", WORDS, ids=lambda module: module.__name__.rpartition(".")[2])
def test_a_report_meets_its_schema(module: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SYMLAYOUT_CACHE_DIR", str(tmp_path / "cache"))
    name = module.__name__.rpartition(".")[2]
    arguments = make_parser().parse_args([name, *(str(tmp_path / w) if w == "OUT" else w for w in WORDS[module])])
    arguments.right, arguments.commands = (["transpose(1,0)"] if module is prove else None), COMMANDS
    report = module.run(arguments)
    assert isinstance(report, Report)
    assert report.text
    assert_valid(report.data, SCHEMAS[name])


def test_the_package_runs_as_the_command() -> None:
    assert symlayout.interrupts.INTERRUPTED == symlayout_command.INTERRUPTED == ExitStatus.INTERRUPTED


def test_columns_stand_under_each_other() -> None:
    assert columns([("a", "one\ntwo"), ("long", "three")]).splitlines() == ["a     one", "      two", "long  three"]


def test_rivals_that_are_not_installed_are_left_out() -> None:
    assert rivals.installed(["numpy", "no_such_library"]) == ["numpy"]
    assert all(callable(getattr(graphs, name)) for name in ("onnxruntime", "openvino"))


def test_verify_has_a_status_for_each_verdict(
    symlayout: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    models = {
        "before": [helper.make_node("Transpose", ["x"], ["y"], perm=[1, 0])],
        "after": [helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0]), helper.make_node("Identity", ["t"], ["y"])],
        "other": [helper.make_node("Identity", ["x"], ["y"])],
    }
    for name, nodes in models.items():
        sizes = {"x": ["n", "n"], "y": ["n", "n"]}
        inputs, outputs = ([helper.make_tensor_value_info(v, TensorProto.FLOAT, sizes[v])] for v in "xy")
        graph = helper.make_graph(nodes, name, inputs, outputs)
        save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), f"{name}.onnx")
    assert symlayout("verify", "before.onnx", "after.onnx").status == 0
    refuted = symlayout("verify", "before.onnx", "other.onnx", "--witness", "there")
    assert refuted.status == 1
    assert "n = 2" in refuted.out
    assert (tmp_path / "there" / "inputs.npz").exists()
    assert symlayout("verify", "before.onnx", "missing.onnx").status == 4
    Path("junk.onnx").write_bytes(b"no model")
    assert symlayout("verify", "before.onnx", "junk.onnx").status == 4
    monkeypatch.setattr("symlayout.verify", lambda *_, **__: Verification({}, ()))
    monkeypatch.setattr(Verification, "verdict", Verdict.UNKNOWN)
    assert symlayout("verify", "before.onnx", "after.onnx").status == 3


def test_prove_has_a_status_for_each_verdict(symlayout: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert symlayout("prove", "H, W", "flip(0)", "flip(0)").status == 0
    assert symlayout("prove", "H, W", "flip(0)").status == 1
    assert symlayout("prove", "H, W", "reshape(3, -5)").status == 4
    assert symlayout("prove").status == 2
    monkeypatch.setattr(limits, "decision_goals", 1)
    hard = "space_to_batch([2,2], [[1,1],[1,1]])", "batch_to_space([2,2], [[1,1],[1,1]])"
    assert symlayout("prove", "N, H, W, C", *hard).status == 3


def test_a_command_that_is_terminated_leaves_no_part_of_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((4, 4)))
    code = (
        "import os, signal, sys, symlayout.commands.run as run\n"
        "from symlayout.commands import command_line\n"
        "from symlayout.show import whole_file\n"
        "def write(file):\n"
        "    file.write(b'half')\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "write_with = whole_file.write_with\n"
        "run.write_with = lambda path, _: write_with(path, write)\n"
        "sys.exit(command_line.main(sys.argv[1:]))\n"
    )
    words = ["run", "H, W", "flip(0)", "-i", str(tmp_path / "a.npy"), "-o", str(tmp_path / "b.npy")]
    done = subprocess.run([sys.executable, "-c", code, *words], env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (ExitStatus.TERMINATED, "")
    assert [p.name for p in tmp_path.iterdir()] == ["a.npy"]


@pytest.mark.parametrize(("words", "loaded"), [(["--version"], []), (["infer", "2,3"], ["symlayout.commands.infer"])])
def test_a_command_loads_its_own_modules_only(words: list[str], loaded: list[str]) -> None:
    code = (
        "import sys\nfrom symlayout.commands.command_line import COMMANDS, main\nmain(sys.argv[1:])\n"
        "print(sorted({'sympy', *(f'symlayout.commands.{name}' for name in COMMANDS)} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], env=environment(), capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == str(loaded)
