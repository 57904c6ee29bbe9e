"""A wrong command is one typed message; the examples of the help run."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from symlayout.commands import command_line, subject
from symlayout.commands.output.schemas import ERROR, SCHEMAS
from tests.commands.ci.repository import commit, git
from tests.commands.outcome import MODELS, Command, process
from tests.support.onnx_writer import model, node, value_info
from tests.support.valid import assert_valid


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["infer", "1,1,3,4", "onnx:SpaceToDepth(blocksize=2)"], "ShapeError (non_divisible): "),
        (["infer", "N", "pad(1, width=2)"], "FormatError: pad: got an unexpected keyword argument 'width'\n"),
        (["bench", "N", "--peers", "numba"], "FormatError: --peers: 'numba' is not a peer\n  known: numpy, torch"),
        (["infer", "N", "nonsense(1)"], "UnknownOpError: no core operation is called 'nonsense'\n"),
        (["infer", "N", "onnx:Nonsense(1)"], "UnknownOpError: "),
        (
            ["infer", "N,M", "flip(0)", "transpos(1,0)"],
            "UnknownOpError: no core operation is called 'transpos'\n  in: transpos(1,0)\n      ^\n"
            "  help: the nearest are transpose, ",
        ),
        (
            ["infer", "N", "pad(1, constant_value=2)"],
            "FormatError: pad: got an unexpected keyword argument 'constant_value'\n"
            "  in: pad(1, constant_value=2)\n             ^\n"
            "  known: pad_width, mode, constant_values, bounded, interior\n  help: the nearest is constant_values\n",
        ),
        (
            ["infer", "N,M", "flip(0)", "transpose(0,5)"],
            "ShapeError (bad_axis): transpose: axis 5 is out of range for rank 2\n  in: transpose(0,5)\n",
        ),
        (["infer", "7/2"], "FormatError: 7/2 is not an integer\n"),
        (["infer", "4", "pad(1/2)"], "ShapeError (attr_dtype): "),
        (["explain", "2,3", "--at", "0,3"], "ShapeError (bad_coord): coordinate (0, 3) is not in the output (2, 3)\n"),
        (["explain", "2,3", "--at", "0"], "ShapeError (rank): "),
        (["show", "2,3", "--at", "0"], "ShapeError (rank): "),
        (["help", "nonsense"], "UnknownOpError: no command is called 'nonsense'\n"),
        (
            ["infer", "N,,M"],
            "FormatError: expected a number or a dim such as N, found ',', at column 3 of a shape\n",
        ),
        (["infer", "nowhere.xml"], f"MissingFileError: there is no file 'nowhere.xml'\n  in: {os.getcwd()}\n"),
        (["infer", "N", "--dtype", "nonsense"], "ArrayError: "),
        (["infer", "b>=5, b<=4"], "FormatError: no value of b is at least 5 and at most 4\n"),
        (["infer", "N", "flip('a')"], "ShapeError (attr_dtype): "),
        (["show", "N", "--dims", "M=1"], "FormatError: --dims: M is not a dim here\n  known: N\n"),
        (["show", "N", "--dims", "N=x"], "FormatError: --dims 'N=x' is not a list of name=integer\n"),
        (["infer", "N, 2**H"], "FormatError: an exponent is an integer, at column 8 of a shape\n"),
        (["infer", "N<=H"], "FormatError: a bound is an integer, at column 5 of a shape\n"),
        (["show", "N", "--dims", "N=1.5"], "FormatError: --dims 'N=1.5' is not a list of name=integer\n"),
    ],
)
def test_an_error_is_one_typed_message(symlayout: Command, words: list[str], message: str) -> None:
    done = symlayout(*words)
    assert done.status == 4
    assert done.out == ""
    assert done.err.startswith(message)
    assert "Traceback" not in done.err


def test_an_error_is_data_too(symlayout: Command) -> None:
    done = symlayout("infer", "1,1,3,4", "onnx:SpaceToDepth(blocksize=2)", "--json")
    assert done.status == 4
    assert done.data["error"]["type"] == "ShapeError"
    assert done.data["error"]["kind"] == "non_divisible"
    assert_valid(done.data, ERROR)


@pytest.mark.parametrize("words", [["--json"], ["--dtype", "uint8"], ["--dim", "N=1.."], ["--json", "--dtype", "u1"]])
def test_steps_may_stand_after_an_option(symlayout: Command, words: list[str]) -> None:
    last = symlayout("infer", "N, H", "flip(0)", "transpose(1, 0)", *words)
    done = symlayout("infer", "N, H", *words, "flip(0)", "transpose(1, 0)")
    assert done.status == 0
    assert done.out == last.out
    assert symlayout("infer", "N, H", "flip(0)", *words, "transpose(1, 0)").out == last.out
    assert symlayout("infer", "N, H", *words, "flip(0)", "--nonsense").status == 2


@pytest.mark.parametrize(
    "words",
    [
        [], ["nonsense"], ["infer"], ["infer", "N", "--nonsense"], ["run", "N"], ["emit"], ["emit", "N"],
        ["emit", "N", "--catalogue", "x"], ["cache", "nonsense"], ["cache", "--all"],
        ["verify", "a.onnx", "b.onnx", "--law", "nonsense"],
        ["run", "-", "-i", "-", "-o", "b"], ["explain", "N", "--at", "x"], ["explain", "N", "--at", "-1"],
        ["explain", "N", "--dims", "N=3"], ["completion"], ["completion", "nonsense"],
    ],
)  # fmt: skip
def test_a_wrong_command_line_has_status_2(symlayout: Command, words: list[str]) -> None:
    done = symlayout(*words)
    assert done.status == 2
    assert done.out == ""
    assert f"symlayout {words[0]} --help" in done.err if words and words[0] != "nonsense" else "--help" in done.err


@pytest.mark.parametrize("words", [["nonsense"], ["infer"], ["emit", "N"]])
def test_a_wrong_command_line_is_data_too(symlayout: Command, words: list[str]) -> None:
    done = symlayout(*words, "--json")
    assert done.status == 2
    assert done.data["error"]["type"] == "UsageError"
    assert_valid(done.data, ERROR)


def test_the_step_of_an_error_is_shown_once(symlayout: Command) -> None:
    done = symlayout("infer", "N,C,H,W", "onnx:SpaceToDept(blocksize=2, mode='DCR')")
    assert done.err.count("\n  in: ") == 1


def test_a_file_that_cannot_be_written_is_named_as_it_was_given(symlayout: Command, tmp_path: Path) -> None:
    done = symlayout("show", "N", "--svg", tmp_path / "nowhere" / "a.svg")
    assert done.status == 4
    assert done.err == f"FileNotFoundError: {tmp_path}/nowhere/a.svg: No such file or directory\n"


@pytest.mark.parametrize(
    "words", [["infer", "unet.onx"], ["verify", "unett.onnx", "unet.onnx"], ["show", "unet.onnx2"]]
)
def test_a_file_that_is_not_there_has_a_near_one(
    symlayout: Command, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(MODELS)
    done = symlayout(*words)
    assert done.status == 4
    assert (
        done.err == f"MissingFileError: there is no file {words[1]!r}\n  in: {MODELS}\n  help: there is 'unet.onnx'\n"
    )


def test_a_file_that_is_no_model_is_named(symlayout: Command, tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(b"")
    assert symlayout("infer", tmp_path / "photo.png").err.startswith("FormatError: 'photo.png' is no model that can be")


def test_a_shape_with_a_dot_is_no_file(symlayout: Command) -> None:
    for shape in ("x.0", "N, 2.5", "N.M, 4"):
        assert " of a shape\n" in symlayout("infer", shape).err


def test_help_of_a_misspelled_command_has_a_nearest_one(symlayout: Command) -> None:
    assert "'optimise'; the nearest is optimize\n" in symlayout("help", "optimise").err


def test_a_damaged_xml_is_named(symlayout: Command, tmp_path: Path) -> None:
    (tmp_path / "cut.xml").write_text('<net version="11"><layers>')
    done = symlayout("infer", tmp_path / "cut.xml")
    assert done.err == "FormatError: XML is not well formed: no element found\n  in: line 1\n  in: 'cut.xml'\n"


def test_a_command_that_is_misspelled_has_a_nearest_one(symlayout: Command) -> None:
    done = symlayout("infr", "N")
    assert done.status == 2
    assert done.err.startswith("symlayout: no command is called 'infr'; the nearest is infer\n")


@pytest.mark.parametrize("command", command_line.COMMANDS)
def test_help_teaches_by_example(symlayout: Command, command: str) -> None:
    done = symlayout(command, "--help")
    assert done.status == 0
    shown = done.out.partition("for example:")[2]
    assert 2 <= shown.count(f"symlayout {command}") <= 5


def examples() -> list[str]:
    """Return the command lines of the help texts."""
    texts = [module.__doc__ or "" for module in command_line.COMMANDS.values()]
    lines = [line.strip() for text in texts for line in text.splitlines()]
    return [line.partition("    ")[0].partition(" > ")[0] for line in lines if line.startswith("symlayout ")]


def _write_layouts(folder: Path) -> None:
    """Write a model whose image has its channels last, and the same one with the channels first."""
    for name, made, shape in (
        ("nhwc", node("Transpose", "image", "y", perm=[0, 3, 1, 2]), ("N", "H", "W", "C")),
        ("nchw", node("Identity", "x", "y"), ("N", "C", "H", "W")),
    ):
        data = model([made], [value_info("image" if name == "nhwc" else "x", shape)], ["y"])
        (folder / f"{name}.onnx").write_bytes(data)


@pytest.mark.sample(2)
@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
@pytest.mark.parametrize("line", examples())
def test_the_examples_of_the_help_run(
    symlayout: Command, line: str, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for suffix in (".xml", ".bin"):
        shutil.copy(MODELS / f"space_to_depth{suffix}", tmp_path / f"model{suffix}")
    for name in ("before", "after", "model"):
        shutil.copy(MODELS / "pixel_unshuffle.onnx", tmp_path / f"{name}.onnx")
    _write_layouts(tmp_path)
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path)
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "HEAD")
    certificate = tmp_path / "proof.json"
    assert symlayout("verify", "before.onnx", "after.onnx", "--certificate", str(certificate)).status == 0
    shapes = {"image": (2, 3, 4, 6), "a": (4, 2, 2, 1), "input": (5, 7, 4, 6)}
    for name, shape in shapes.items():
        np.save(tmp_path / f"{name}.npy", np.zeros(shape, np.float32))
    np.save(tmp_path / "weights.npy", np.zeros((4, 3), np.uint8))  # of 4 by 6 halves of a byte
    _, *words = shlex.split(line)
    words += ["--seconds", "0", "--peers", "numpy"] if words[0] == "bench" else []
    done = symlayout(*words)
    assert done.status == 0, done.out + done.err
    if "--catalogue" not in words:  # which takes long, and whose data is that of the other examples
        data = done.data if "--json" in words else symlayout(*words, "--json").data
        assert_valid(data, SCHEMAS[words[0]])


def test_a_defect_is_one_message_too(symlayout: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("inside")

    monkeypatch.setattr(subject, "trace", broken)
    done = symlayout("infer", "N")
    assert done.status == 4
    assert done.err.startswith("KeyError: 'inside'\n  help: this is a defect of symlayout")
    monkeypatch.setenv("SYMLAYOUT_TRACEBACK", "1")
    with pytest.raises(KeyError):
        symlayout("infer", "N")


@pytest.mark.slow
def test_a_reader_that_leaves_is_no_error() -> None:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with process("ops", **pipes) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        err = running.stderr.read()
    assert err == b""


def test_an_interrupt_ends_quietly(symlayout: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(subject, "trace", interrupted)
    done = symlayout("infer", "N")
    assert (done.status, done.out, done.err) == (130, "", "")


def test_nothing_is_shown_on_standard_error_without_a_terminal(symlayout: Command) -> None:
    assert symlayout("bench", "N,M", "transpose(1,0)", "--seconds", "0", "--peers", "numpy").err == ""


@pytest.mark.parametrize(
    "shape",
    [
        "(" * 5000, "(-2,)", "(9223372036854775807,)", "(10000000000,)", "(1.5,)", "__import__('os')", "()" * 4000,
        "(True, 3, 4)", "(False,)", "(9223372036854775808, 0, 4)", "(9223372036854775807, 9223372036854775807, 0)",
    ],
)  # fmt: skip
def test_a_hostile_npy_file_is_a_format_error(symlayout: Command, tmp_path: Path, shape: str) -> None:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    path = tmp_path / "x.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    done = symlayout("run", "n", "flip", "-i", str(path), "-o", str(tmp_path / "y.npy"))
    assert done.status == 4
    assert "is not a .npy array" in done.err
    assert "defect" not in done.err


@pytest.mark.slow
def test_files_that_exceed_the_memory_are_computed_in_blocks(symlayout: Command, tmp_path: Path) -> None:
    x = np.arange(2 * 6 * 8 * 4, dtype=np.float32).reshape(2, 6, 8, 4)
    np.save(tmp_path / "x.npy", x)
    words = ["run", "N,H,W,C", "space_to_depth(2, depth_axis=3)", "-i", str(tmp_path / "x.npy")]
    for memory, out in (("600B", "blocks.npy"), ("1GB", "whole.npy")):
        done = symlayout(*words, "-o", str(tmp_path / out), "--memory", memory)
        assert (done.status, done.out) == (0, f"wrote {tmp_path / out}: float32 (2, 3, 4, 16)\n")
    assert np.array_equal(np.load(tmp_path / "blocks.npy"), np.load(tmp_path / "whole.npy"))
    done = symlayout(*words, "-o", str(tmp_path / "none.npy"), "--memory", "8B")
    assert (done.status, done.err.startswith("ArrayError: one element and what it reads")) == (4, True)
    done = symlayout(*words, "-o", str(tmp_path / "none.npy"), "--memory", "much")
    assert (done.status, done.err.startswith("FormatError: memory 'much' is no number of bytes")) == (4, True)
    assert sorted(path.name for path in tmp_path.glob("*.npy*")) == ["blocks.npy", "whole.npy", "x.npy"]
