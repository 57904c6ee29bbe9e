"""What docs/c-interface.md teaches: its program runs as C and as C++, and what it says of the header is so."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from symlayout.commands import subject
from symlayout.commands.command_line import main
from symlayout.commands.generated_rows import kernels
from symlayout.run.standalone_c import Unit, emit
from symlayout_codegen.emit.header import kernels_of
from symlayout_codegen.status import MEANING, status_name
from tests.compile_generated import WARNINGS
from tests.support.paths import ROOT

GENERATED = ROOT / "generated"
HEADER = (GENERATED / "symlayout_kernels.h").read_text("ascii")
PAGE = (ROOT / "docs" / "c-interface.md").read_text("utf-8")
PROGRAM, PRINTED = re.findall(r"^```c\n(.*?)^```.*?^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0]
USED = [f"{name}.c" for name in sorted(set(re.findall(r"\b(\w+_x4)(?:_part)?\(", PROGRAM)))]
CONSUMER = """\
cmake_minimum_required(VERSION 3.14)
project(consumer LANGUAGES C CXX)
find_package(symlayout_kernels REQUIRED)
add_executable(as_c program.c)
target_link_libraries(as_c symlayout::symlayout_kernels)
add_executable(as_cpp program.cpp)
target_link_libraries(as_cpp symlayout::symlayout_kernels_shared)
"""


def run(*command: str | Path, timeout: float = 600) -> str:
    """Run *command* and return what it printed; fail with that if it fails."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def block(start: str) -> str:
    """Return the fenced block of the page that begins with *start*."""
    (found,) = re.findall(rf"^```\w+\n({re.escape(start)}.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.mark.slow
@pytest.mark.parametrize(("c", "cpp"), [("gcc", "g++"), ("clang", "clang++")])
def test_the_program_runs_as_c_and_as_cpp(c: str, cpp: str, tmp_path: Path) -> None:
    if not shutil.which(c) or not shutil.which(cpp):
        pytest.skip(f"{c} or {cpp} is not installed")
    for name in ("program.c", "program.cpp"):
        (tmp_path / name).write_text(PROGRAM)
    for file in USED:
        run(c, "-std=c11", "-O1", *WARNINGS, "-c", GENERATED / file, "-o", tmp_path / f"{file}.o")
    objects = [tmp_path / f"{file}.o" for file in USED]
    for compiler, standard, name in ((c, "-std=c11", "program.c"), (cpp, "-std=c++17", "program.cpp")):
        run(compiler, standard, *WARNINGS, f"-I{GENERATED}", tmp_path / name, *objects, "-o", tmp_path / "program")
        assert run(tmp_path / "program") == PRINTED


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("cmake"), reason="cmake is not installed")
def test_cmake_installs_libraries_that_a_project_finds(tmp_path: Path) -> None:
    source, build, prefix, consumer = (tmp_path / name for name in ("source", "build", "prefix", "consumer"))
    source.mkdir()
    units = [
        Unit(subject.build([row.shape, *row.steps])[0], name, size, "none")
        for row, size, name in kernels()
        if f"{name}.c" in USED
    ]
    for name, text in emit(units).items():
        (source / name).write_text(text, "ascii")
    run("cmake", "-S", source, "-B", build, "-DCMAKE_BUILD_TYPE=Debug")
    run("cmake", "--build", build)
    run("cmake", "--install", build, "--prefix", prefix)
    assert [path.name for path in prefix.rglob("*.h")] == ["symlayout_kernels.h"]
    consumer.mkdir()
    (consumer / "CMakeLists.txt").write_text(CONSUMER)
    for name in ("program.c", "program.cpp"):
        (consumer / name).write_text(PROGRAM)
    run("cmake", "-S", consumer, "-B", consumer / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", consumer / "build")
    assert run(consumer / "build" / "as_c") == run(consumer / "build" / "as_cpp") == PRINTED


@pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("nm"), reason="gcc or nm is not installed")
def test_a_kernel_has_two_symbols_and_no_data(tmp_path: Path) -> None:
    run("gcc", "-std=c11", "-O2", "-c", GENERATED / "pad_2d_x4.c", "-o", tmp_path / "pad.o")
    symbols = [line.split()[-2:] for line in run("nm", tmp_path / "pad.o").splitlines()]
    assert sorted(name for kind, name in symbols if kind == "T") == ["pad_2d_x4", "pad_2d_x4_part"]
    assert {kind for kind, _ in symbols} <= {"T", "t", "U", "r"}
    assert {name for kind, name in symbols if kind == "U"} <= {"memcpy", "memset", "memmove", "_GLOBAL_OFFSET_TABLE_"}


def test_the_prototype_is_quoted_as_it_is() -> None:
    comment, _, prototype = block("(i0, i1, i2, i3)").partition("\n\n")
    assert "".join(f" * {line}\n" for line in comment.splitlines()) in HEADER
    assert " ".join(prototype.split()) in " ".join(HEADER.split())


def test_the_statuses_are_listed_with_their_meaning() -> None:
    rows = re.findall(r"^\| `(SL_\w+)` (-?\d+) \| (.*) \|$", PAGE, re.MULTILINE)
    assert rows[1:-1] == [(status_name(kind), str(code), text) for kind, (code, text) in MEANING.items()]
    for name, code, text in rows:
        assert re.search(rf"^    {name} = {code},? +/\* {text} \*/$", HEADER, re.MULTILINE), name
        assert f'case {name}:\n        return "{text}";' in HEADER


BOTH = """\
#include "first.h"
#include "second.h"
#include <stdio.h>

int main(void)
{
    int32_t x[6] = {1, 2, 3, 4, 5, 6}, turned[6], mirrored[6], shifted[8], fill = 9;
    int failed = turn(2, 3, x, turned) != SL_OK;
    failed |= mirror(2, 3, x, mirrored) != SL_OK;
    failed |= shift(6, x, shifted, &fill) != SL_OK;
    if (failed)
        return 1;
    for (int i = 0; i < 6; ++i)
        printf("%d%d%d ", turned[i], mirrored[i], shifted[i]);
    puts(sl_status_text(SL_OK));
    return 0;
}
"""
PRINTED_BY_BOTH = "139 421 212 563 354 645 the output is written, or is empty\n"
PROJECT = """\
cmake_minimum_required(VERSION 3.14)
project(both LANGUAGES C CXX)
add_subdirectory(first)
add_subdirectory(second)
add_executable(as_c program.c)
target_link_libraries(as_c symlayout::first symlayout::second)
add_executable(as_cpp program.cpp)
target_link_libraries(as_cpp symlayout::first_shared symlayout::second_shared)
"""


def emit_two_libraries(folder: Path) -> None:
    """Write library first with the kernels turn and mirror, one after the other, and library second with shift."""
    first, second = folder / "first", folder / "second"
    for command in (
        ["N,M", "transpose(1,0)", "--name", "mirror", "--library", "first", "-o", first],
        ["N,M", "transpose(1,0)", "--name", "turn", "-o", first],
        ["N,M", "flip(1)", "--name", "mirror", "-o", first],
        ["N", "pad((1,1), constant_values=9)", "--name", "shift", "--library", "second", "-o", second],
    ):
        assert main(["emit", *map(str, command)]) == 0
    for name in ("program.c", "program.cpp"):
        (folder / name).write_text(BOTH)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("g++"), reason="gcc or g++ is not installed")
def test_kernels_of_one_folder_are_one_library_and_two_libraries_go_together(tmp_path: Path) -> None:
    emit_two_libraries(tmp_path)
    files = sorted(path.name for path in (tmp_path / "first").iterdir())
    assert files == ["CMakeLists.txt", "first.h", "mirror.c", "symlayout_runtime.h", "turn.c"]
    cmake = (tmp_path / "first" / "CMakeLists.txt").read_text()
    assert re.findall(r"^    (\w+\.c)$", cmake, re.MULTILINE) == ["mirror.c", "turn.c"]
    objects = []
    for file in sorted(tmp_path.glob("*/*.c")):
        objects.append(tmp_path / f"{file.stem}.o")
        run("gcc", "-std=c11", *WARNINGS, "-c", file, "-o", objects[-1])
    folders = [f"-I{tmp_path / name}" for name in ("first", "second")]
    for compiler, standard, name in (("gcc", "-std=c11", "program.c"), ("g++", "-std=c++17", "program.cpp")):
        run(compiler, standard, *WARNINGS, *folders, tmp_path / name, *objects, "-o", tmp_path / "program")
        assert run(tmp_path / "program") == PRINTED_BY_BOTH


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("cmake"), reason="cmake is not installed")
def test_one_cmake_project_uses_two_libraries(tmp_path: Path) -> None:
    emit_two_libraries(tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build")
    run("cmake", "--build", tmp_path / "build")
    assert run(tmp_path / "build" / "as_c") == run(tmp_path / "build" / "as_cpp") == PRINTED_BY_BOTH


def test_a_kernel_that_is_deleted_leaves_the_library(tmp_path: Path) -> None:
    emit_two_libraries(tmp_path)
    folder = tmp_path / "first"
    (folder / "turn.c").unlink()
    assert main(["emit", "N,M", "flip(0)", "--name", "over", "-o", str(folder)]) == 0
    header = (folder / "first.h").read_text()
    assert re.findall(r"^int32_t (\w+)\(", header, re.MULTILINE) == ["mirror", "mirror_part", "over", "over_part"]
    assert kernels_of(header) == ["mirror", "over"]
    assert "turn" not in (folder / "CMakeLists.txt").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--library", "third"], "the folder has the library first, not third"),
        (["--library", "9"], "cannot be a library's name"),
        (["--name", "turn_part"], "two functions would have the name"),
    ],
)
def test_a_library_that_cannot_be_is_refused(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    emit_two_libraries(tmp_path)
    before = (tmp_path / "first" / "first.h").read_bytes()
    assert main(["emit", "N,M", "flip(0)", *options, "-o", str(tmp_path / "first")]) == 4
    assert message in capsys.readouterr().err
    assert (tmp_path / "first" / "first.h").read_bytes() == before


def test_kernels_of_another_version_are_not_joined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    emit_two_libraries(tmp_path)
    header = tmp_path / "first" / "first.h"
    header.write_text(header.read_text().replace("Generated by symlayout 0.1.0", "Generated by symlayout 0.0.9", 1))
    assert main(["emit", "N,M", "flip(0)", "-o", str(tmp_path / "first")]) == 4
    assert "the folder has kernels of symlayout 0.0.9" in capsys.readouterr().err
