"""The C runtime: its parts, alone and joined, and which of them a kernel's source has."""

from __future__ import annotations

import ctypes
import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import symlayout as sl
from symlayout.commands import subject
from symlayout.commands.generated_rows import kernels
from symlayout.run.lower import lower
from symlayout.run.storage import NIBBLES as NIBBLES_OF
from symlayout_codegen.emit import runtime
from symlayout_codegen.emit.header import (
    HALVES_HEADER,
    KERNELS_HEADER,
    RUNTIME_HEADER,
    VALUES_HEADER,
    print_header,
    runtime_of,
)
from symlayout_codegen.emit.header import runtime as headers
from symlayout_codegen.emit.printer import print_program
from symlayout_codegen.emit.runtime import NIBBLES, PARTS, in_order, join, part
from symlayout_codegen.ir.choice import MODEL
from symlayout_codegen.passes.schedule import schedule
from tests.support import nests

FOLDER = Path(runtime.__file__).parent
NAMES = sorted(path.stem for path in FOLDER.glob("*.h"))
STRICT = ["-std=c11", "-O0", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror", "-fsyntax-only"]


def compiles(folder: Path, text: str, *flags: str) -> None:
    """Fail with what gcc says of *text*, compiled beside the headers in *folder*."""
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("neither gcc nor clang is installed")
    (folder / "text.c").write_text(text, "ascii")
    done = subprocess.run([compiler, *STRICT, *flags, "text.c"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def status(folder: Path, text: str) -> int:
    """Return the exit status of the program *text*, compiled in *folder* beside the runtime."""
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("neither gcc nor clang is installed")
    (folder / RUNTIME_HEADER).write_text(headers(halves=False)[RUNTIME_HEADER], "ascii")
    (folder / "program.c").write_text(text, "ascii")
    subprocess.run([compiler, "-std=c11", "-O1", "program.c", "-o", "program"], cwd=folder, check=True)
    return subprocess.run([folder / "program"], check=False).returncode


def test_each_part_belongs_to_a_header() -> None:
    assert sorted(in_order(PARTS)) == NAMES
    whole = headers(halves=True, computes=True)
    assert set(whole) == {RUNTIME_HEADER, HALVES_HEADER, VALUES_HEADER}
    functions = set(re.findall(r"^SL_\w+ (?:\w+ )*\*?(sl_\w+)\(", "".join(map(part, NAMES)), re.MULTILINE))
    assert {"sl_add", "sl_fill", "sl_transpose", "sl_nibble_load"} <= functions
    for name in functions:
        assert any(re.search(rf"^SL_.* \*?{name}\(", text, re.MULTILINE) for text in whole.values())


@pytest.mark.parametrize("name", NAMES)
def test_a_part_says_what_it_assumes_and_needs(name: str) -> None:
    text = part(name)
    assert len(text.splitlines()) <= 500
    comment = re.match(r"/\* .*?\*/", text, re.DOTALL)
    assert comment
    assert "Assumes: " in comment[0]
    said = re.search(r"Needs(?:: ([\w,\s*]+)| no other part)\. \*/$", comment[0])
    assert said
    needs = re.split(r",[\s*]+", said[1]) if said[1] else []  # on one line or several
    assert sorted(re.findall(r'^#include "(\w+)\.h"$', text, re.MULTILINE)) == needs


@pytest.mark.sample(32)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [1, 3, 4])
def test_a_part_compiles_alone_with_what_it_needs(name: str, size: int, tmp_path: Path) -> None:
    compiles(tmp_path, join([name]), f"-DSL_ELEMENT_SIZE={1 if name in NIBBLES else size}")


def test_joined_parts_follow_those_that_they_need() -> None:
    order = in_order(PARTS)
    for k, name in enumerate(order):
        assert set(re.findall(r'^#include "(\w+)\.h"$', part(name), re.MULTILINE)) <= set(order[:k])
    assert "#pragma once" not in join(PARTS)
    assert set(re.findall(r"^#include .*$", join(PARTS), re.MULTILINE)) == {
        "#include <stdint.h>",
        "#include <string.h>",
    }


def test_a_kernel_has_the_parts_that_it_calls_and_no_others() -> None:
    padded = runtime_of(schedule(nests.pad()).body, halves=False)[RUNTIME_HEADER]
    assert "sl_fill_rows(" in padded
    assert "sl_transpose(" not in padded
    assert "sl_accumulate" not in padded
    transposed = runtime_of(schedule(nests.transpose()).body, halves=False)[RUNTIME_HEADER]
    assert "sl_transpose(" in transposed
    assert "sl_fill_rows(" not in transposed
    assert HALVES_HEADER not in runtime_of(schedule(nests.transpose()).body, halves=False)


@pytest.mark.slow
def test_every_kernel_of_the_catalogue_compiles_with_its_own_parts(tmp_path: Path) -> None:
    made: dict[str, list[str]] = {}
    for row, size, name in kernels():
        (t,) = subject.build([row.shape, *row.steps])
        nest, _ = lower(t, name)
        program = schedule(nest, MODEL)
        text = print_program(program, size).replace(f'#include "{KERNELS_HEADER}"', print_header([nest]))
        own = runtime_of(program.body, nest.halves)[RUNTIME_HEADER]
        made.setdefault(own, []).append(text.replace(f'#include "{RUNTIME_HEADER}"', own))
    assert len(made) > 4
    for texts in made.values():
        compiles(tmp_path, texts[0])


@pytest.mark.parametrize(
    ("shape", "perm", "streams"),
    [
        ("300, 200", (1, 0), "0"),
        ("300, 5, 7", (2, 0, 1), "0"),
        ("9, 3, 200", (2, 1, 0), "8"),
        ("2, 70, 2, 90", (3, 2, 1, 0), "20"),
        ("9, 3, 200", (0, 2, 1), None),  # three streams, without the part for any extents
        ("n, 200", (1, 0), None),
    ],
)
def test_a_transpose_names_the_streams_that_its_extents_can_give(
    shape: str, perm: tuple[int, ...], streams: str | None
) -> None:
    nest, _ = lower(sl.transpose(sl.tensor(shape), perm), "k")
    text = print_program(schedule(nest, MODEL), 4)
    assert re.findall(r"#define SL_STREAMS (\d+)", text) == ([] if streams is None else [streams])


def test_half_bytes_have_their_own_parts(tmp_path: Path) -> None:
    chain = NIBBLES_OF["int4x2"].chain(sl.transpose(sl.tensor("2*n, 2*m")))
    nest, _ = lower(chain, "k", halves=True)
    program = schedule(nest, MODEL)
    own = runtime_of(program.body, nest.halves)
    assert "sl_nibble_transpose(" in own[HALVES_HEADER]
    for file, text in {**own, KERNELS_HEADER: print_header([nest])}.items():
        (tmp_path / file).write_text(text, "ascii")
    compiles(tmp_path, print_program(program, 1))


SECOND = """
#define SL_ELEMENT_SIZE 4
#include "symlayout_runtime.h"
#include <stdint.h>
int main(void)
{
    static element memory[4096];
    element *line = memory + sl_bytes_to_line(memory) / 4;
    for (int64_t each = 1; each <= 4; each += each)
        for (int64_t n = 4; n <= 16; n += n)
            for (int64_t begin = 0; begin < 16; ++begin) {
                const int64_t second = sl_second_vector(line + begin, 64, each, 4 * n, n);
                const uintptr_t at = (uintptr_t)(line + begin + each * second);
                if (second < 0 || second >= n || (begin % each == 0 && at % (uintptr_t)(4 * n) != 0))
                    return 1;
                if (sl_second_vector(line + begin, 64, each, 4 * n - 1, n) != 0) /* few vectors: nothing to gain */
                    return 2;
                if (sl_second_vector(line + begin, 63, each, 4 * n, n) != 0) /* streams at different places in lines */
                    return 3;
            }
    return 0;
}
"""


def test_the_second_vector_of_a_long_stream_begins_where_its_stores_cross_no_line(tmp_path: Path) -> None:
    assert status(tmp_path, SECOND) == 0


LEVELS = """
#define SL_ELEMENT_SIZE 1
#include "symlayout_runtime.h"
static element memory[1 << 25]; /* which no one touches */
static int strides_of_no_level, moved, with_levels;
static int has_strides_of_no_level(const sl_axis *axis)
{
    return (axis->high == 1 && axis->leap) || (axis->top == 1 && axis->jump);
}
SL_DECLARE_TILES(look)
{
    (void)to, (void)from, (void)far;
    moved += (int)(sl_extent(rows) * sl_extent(columns) * turns->count * turns->high);
    with_levels += rows->high > 1 || columns->high > 1;
    strides_of_no_level += has_strides_of_no_level(rows) || has_strides_of_no_level(columns);
}
int main(void)
{
    const sl_further_ways ways = {.tiles = {look, look}};
    const int64_t extents[] = {1, 2, 4, 16};
    int wanted = 0;
    for (int drawn = 0; drawn < 4096; ++drawn) { /* all extents */
        int64_t n[6];
        for (int k = 0; k < 6; ++k)
            n[k] = extents[drawn >> 2 * k & 3];
        sl_axis columns = sl_axis_3(n[0], n[3] * n[4] * n[5], n[1], n[3] * n[4] * n[5] * n[0], n[2],
                                    n[3] * n[4] * n[5] * n[0] * n[1]);
        sl_axis rows = sl_axis_3(n[3], n[0] * n[1] * n[2] * n[5], n[4], n[0] * n[1] * n[2], n[5],
                                 n[0] * n[1] * n[2] * n[3] * n[4] * n[5]);
        sl_turns turns = sl_turns_1(2, n[0] * n[1] * n[2], 1 << 20);
        wanted += (int)(2 * sl_extent(&rows) * sl_extent(&columns));
        sl_transpose_simplified(memory, &rows, memory, &columns, &turns, &ways, SL_FAR);
        /* The upper level of the rows continues the columns. */
        columns = sl_axis_1(n[0], n[1] * n[2]);
        rows = sl_axis_2(n[1], n[0] * n[2], n[2], n[0]);
        turns = sl_turns_0();
        wanted += (int)(n[0] * n[1] * n[2]);
        sl_transpose_simplified(memory, &rows, memory, &columns, &turns, &ways, SL_FAR);
    }
    return strides_of_no_level ? 1 : moved != wanted ? 2 : with_levels ? 0 : 3;
}
"""


def test_a_level_that_an_axis_loses_leaves_no_stride(tmp_path: Path) -> None:
    """Strides say which offsets begin cache lines, and so which way a transpose takes."""
    assert status(tmp_path, LEVELS) == 0


@pytest.mark.skipif(platform.machine() != "x86_64", reason="x86-64's processors state their caches")
def test_kernels_know_the_sizes_of_the_caches(tmp_path: Path) -> None:
    """As the system has read them from the same processor."""
    sizes: dict[int, int] = {}
    for folder in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        level, kind, size = ((folder / name).read_text().strip() for name in ("level", "type", "size"))
        if kind != "Instruction" and size.endswith("K"):
            sizes[int(level)] = int(size[:-1]) << 10
    if not {2, 3} <= set(sizes):
        pytest.skip("the system does not say")
    asked = "".join(f"int64_t cache_{number}(void) {{ return sl_cache_bytes({number}); }}\n" for number in (2, 3))
    compiles(tmp_path, f"{join(['caches'])}\n{asked}", "-DSL_ELEMENT_SIZE=1")
    compiler = shutil.which("gcc") or shutil.which("clang")
    assert compiler is not None  # it has compiled
    words = [compiler, "-std=c11", "-O1", "-shared", "-fPIC", "-DSL_ELEMENT_SIZE=1", "text.c", "-o", "text.so"]
    subprocess.run(words, cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "text.so"))
    for number in (2, 3):
        function = getattr(library, f"cache_{number}")
        function.restype = ctypes.c_int64
        assert [function(), function()] == [sizes[number]] * 2


def test_the_vendor_says_whether_stores_wait(tmp_path: Path) -> None:
    """As the system has read the vendor from the same processor."""
    information = Path("/proc/cpuinfo")
    text = information.read_text() if information.exists() else ""
    if "vendor_id" not in text:
        pytest.skip("the system does not say")
    asked = "int waits(void) { return sl_stores_wait(); }\n"
    compiles(tmp_path, f"{join(['caches'])}\n{asked}", "-DSL_ELEMENT_SIZE=1")
    compiler = shutil.which("gcc") or shutil.which("clang")
    assert compiler is not None  # it has compiled
    words = [compiler, "-std=c11", "-O1", "-shared", "-fPIC", "-DSL_ELEMENT_SIZE=1", "text.c", "-o", "text.so"]
    subprocess.run(words, cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "text.so"))
    waits = "AuthenticAMD" not in text and "HygonGenuine" not in text
    assert [library.waits(), library.waits()] == [waits] * 2
