"""Names of a model may have any characters; no text that leaves the program has one that a terminal obeys."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from onnx import TensorProto, helper, save

import symlayout as sl
from symlayout.commands.output.report import ExitStatus
from tests.commands.outcome import MODELS, Command

EVIL = "\x1b[2J\x9b31m\x07\r\x7f\u202ePROVED\nPROVED: all\x00"
FORGED = "PROVED: all"


def evil_model(path: Path, *, perm: tuple[int, int] = (1, 0)) -> Path:
    """Write a model whose names, operators, domains and dims are hostile."""
    moved = [
        helper.make_node("Transpose", [f"x{EVIL}"], [f"t{EVIL}"], name=f"n{EVIL}", perm=perm),
        helper.make_node("Transpose", [f"t{EVIL}"], [f"u{EVIL}"], name=f"n{EVIL}", perm=[1, 0]),
        helper.make_node(f"Op{EVIL}", [f"u{EVIL}"], [f"o{EVIL}"], domain=f"d{EVIL}"),
        helper.make_node("Reshape", [f"x{EVIL}", f"s{EVIL}"], [f"y{EVIL}"], name=f"r{EVIL}"),
    ]
    extents = [f"N{EVIL}", "M"]
    graph = helper.make_graph(
        moved,
        f"g{EVIL}",
        [helper.make_tensor_value_info(f"x{EVIL}", TensorProto.FLOAT, extents)],
        [
            helper.make_tensor_value_info(f"o{EVIL}", TensorProto.FLOAT, extents),
            helper.make_tensor_value_info(f"y{EVIL}", TensorProto.FLOAT, None),
            helper.make_tensor_value_info(f"u{EVIL}", TensorProto.FLOAT, None),
        ],
        [helper.make_tensor(f"s{EVIL}", TensorProto.INT64, [2], [-1, 3])],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(f"d{EVIL}", 1)]
    save(helper.make_model(graph, opset_imports=opsets, producer_name=f"p{EVIL}"), path)
    return path


def assert_harmless(text: str) -> None:
    assert text
    assert all(c.isprintable() or c == "\n" for c in text), repr(text)
    assert not any(line.startswith(FORGED) for line in text.splitlines()), text


@pytest.mark.parametrize(
    "words",
    [
        ["infer", "MODEL"],
        ["infer", "MODEL", "--all"],
        ["infer", "MODEL", "--output", f"y{EVIL}"],
        ["infer", "MODEL", "--output", f"no{EVIL}"],
        ["show", "MODEL"],
        ["show", "MODEL", "--svg", "OUT.svg"],
        ["show", "MODEL", "--output", f"u{EVIL}"],
        ["explain", "MODEL", "--output", f"y{EVIL}"],
        ["prove", "MODEL", "--output", f"u{EVIL}"],
        ["verify", "MODEL", "MODEL"],
        ["verify", "MODEL", "OTHER"],
        ["optimize", "MODEL", "-o", "OUT.onnx"],
        ["infer", "MODEL", "--html", "OUT.html"],
        ["verify", "MODEL", "OTHER", "--html", "OUT.html"],
        ["optimize", "MODEL", "-o", "OUT.onnx", "--html", "OUT.html"],
        ["run", "MODEL", "-i", "x.npy", "-o", "y.npy", "--output", f"u{EVIL}"],
        ["bench", f"a{EVIL}"],
        [f"no{EVIL}"],
    ],
    ids=lambda words: " ".join(words).replace(EVIL, "*").replace("\0", ""),
)
def test_no_command_prints_what_a_terminal_obeys(
    symlayout: Command, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {"MODEL": str(evil_model(Path("m.onnx"))), "OTHER": str(evil_model(Path("o.onnx"), perm=(0, 1)))}
    words = [files.get(word, word.replace("\0", "")) for word in words]
    done = symlayout(*words)
    assert_harmless(done.out + done.err)
    if "--html" in words:
        assert_harmless(Path("OUT.html").read_text(encoding="utf-8").partition('id="data">')[2].partition("<")[0])
    data = symlayout(*words, "--json").out
    assert_harmless(data)
    json.loads(data)
    for svg in tmp_path.glob("*.svg"):
        ElementTree.fromstring(svg.read_text())


@pytest.mark.parametrize(
    "words", [["optimize", "-o"], ["show", "--svg"], ["infer", "--write"]], ids=lambda words: words[0]
)
def test_the_name_of_a_file_that_is_written_has_no_line_of_its_own(
    symlayout: Command, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = EVIL.replace("\0", "") + (".svg" if "--svg" in words else ".onnx")
    done = symlayout(words[0], str(MODELS / "pixel_unshuffle.onnx"), *words[1:], name)
    assert done.status == ExitStatus.HOLDS
    assert_harmless(done.out)
    assert Path(name).is_file()


@pytest.mark.parametrize(("kind", "command"), [(".onnx", "explain"), (".npy", "run")])
def test_the_name_of_a_file_that_is_read_has_no_line_of_its_own(
    symlayout: Command, kind: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = EVIL.replace("\0", "") + kind
    Path(name).write_bytes((MODELS / "pixel_unshuffle.onnx").read_bytes())
    words = (
        [name, "--output", "none"]
        if command == "explain"
        else ["N,2", "transpose(1,0)", "--input", name, "-o", "out.npy"]
    )
    done = symlayout(command, *words)
    assert done.status in (ExitStatus.ERROR, ExitStatus.USAGE)
    assert_harmless(done.out + done.err)


def _of_model(say: Callable[[sl.Model], object]) -> Callable[[Path], str]:
    return lambda path: str(say(sl.read_model(path)))


@pytest.mark.parametrize(
    "text",
    [
        _of_model(str),
        _of_model(repr),
        _of_model(lambda m: m.explain(f"y{EVIL}")),
        _of_model(lambda m: [repr(t) for t in m.tensors.values()]),
        _of_model(lambda m: [str(node) for node in m.nodes]),
        lambda path: str(sl.verify(path, evil_model(path.with_name("o.onnx"), perm=(0, 1)))),
        lambda path: sl.verify(path, path).explain(),
        lambda path: str(sl.optimize(path).report),
        lambda path: sl.optimize(path).report.svg(),
    ],
)
def test_no_text_of_the_library_has_what_a_terminal_obeys(text: Callable[[Path], str], tmp_path: Path) -> None:
    assert_harmless(text(evil_model(tmp_path / "m.onnx")))
