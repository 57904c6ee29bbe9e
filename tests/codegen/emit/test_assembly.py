"""The assembly of the runtime and of kernels: no vector is stored in pieces and loaded whole from the stack.

A load that is wider than the store that wrote its bytes cannot be forwarded from the store buffer: it waits until the
store has reached the cache.  gcc 12 makes such pairs of a `memcpy` of 32 bytes into a vector.
"""

from __future__ import annotations

import itertools
import platform
import re
import shutil
import subprocess
from functools import cache

import pytest

from symlayout_codegen.emit.header import KERNELS_HEADER, RUNTIME_HEADER, print_header, runtime
from symlayout_codegen.emit.printer import print_kernel
from symlayout_codegen.emit.transposes import compiled_apart
from symlayout_codegen.ir.choice import MODEL
from symlayout_codegen.ir.nest import Nest
from symlayout_codegen.passes.schedule import schedule
from tests.support import nests

LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")
COMPILERS = ("gcc", "clang")
FLAGS = ("-std=c11", "-fPIC", "-S", "-o", "-", "-x", "c", "-", "-w")
BEST = ("-O3",)
KERNELS = {"transpose": nests.transpose(), "pad": nests.pad()}

_SLOT = re.compile(r"(-?\d*)\(%(rsp|rbp)\)")
_REGISTER = re.compile(r"%([xyz])mm\d+")
_BYTES = {"x": 16, "y": 32, "z": 64}
# Of a vector register these move a part, or spread an element over it.
_NARROW = re.compile(r"v?(pinsr|pextr|mov[hl]p|movq|movd\b|movs[sd]|p?broadcast|insert|extract|pmov)")

needs_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="x86-64's assembly")


def waits(assembly: str) -> list[str]:
    """Return the loads of vectors from the stack that are wider than the last store before them, as text.

    Each block that other code jumps to is read by itself, in the order of the text: spilled values share places.  What
    a register points to is not followed.
    """
    found: list[str] = []
    function, written = "", dict[tuple[str, int], tuple[int, str]]()
    for line in assembly.splitlines():
        if label := re.match(r"(\.?[A-Za-z_]\w*):", line):
            function, written = function if label[1].startswith(".") else label[1], {}
        operation, _, operands = line.split("#")[0].strip().partition("\t")
        slot = _SLOT.search(operands)
        if slot is None or not re.match(r"v|mov|p|ins", operation):
            continue
        register = _REGISTER.search(operands.replace(slot[0], ""))
        size = _BYTES[register[1]] if register and not _NARROW.match(operation) else 8
        places = [(slot[2], int(slot[1] or 0) + k) for k in range(size)]
        if operands.endswith(slot[0]):
            written.update(dict.fromkeys(places, (size, line.strip())))
        elif size >= 16:
            narrow = {written[place][1] for place in places if written.get(place, (size,))[0] < size}
            found += [f"{function}: {line.strip()} after {store}" for store in sorted(narrow)]
    return found


@cache
def knows(compiler: str, level: str) -> str:
    """Return why *compiler* cannot compile for *level*; "" if it can."""
    if shutil.which(compiler) is None:
        return f"{compiler} is not installed"
    done = subprocess.run([compiler, *FLAGS, f"-march={level}"], input="", capture_output=True, text=True)
    return "" if done.returncode == 0 else f"{compiler} does not know -march={level}"


@cache
def compiled(compiler: str, level: str, optimise: tuple[str, ...], text: str, *flags: str) -> str:
    """Return the assembly of *text*; of the whole runtime it takes seconds."""
    if reason := knows(compiler, level):
        pytest.skip(reason)
    words = [compiler, *FLAGS, *optimise, f"-march={level}", *flags]
    done = subprocess.run(words, input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_vector_stored_by_halves_and_loaded_whole_is_found() -> None:
    halves = "\tvmovdqa\t%xmm0, 16(%rsp)\n\tvmovdqa\t%xmm1, 32(%rsp)\n"
    assert waits(f"f:\n{halves}\tvmovdqa\t16(%rsp), %ymm2\n") != []
    assert waits(f"f:\n{halves}\tvpaddb\t16(%rsp), %ymm2, %ymm3\n") != []
    assert waits(f"f:\n{halves}\tvmovdqa\t16(%rsp), %xmm2\n") == []
    assert waits(f"f:\n{halves}\tvmovdqa\t%ymm4, 16(%rsp)\n\tvmovdqa\t16(%rsp), %ymm2\n") == []
    assert waits(f"f:\n{halves}g:\n\tvmovdqa\t16(%rsp), %ymm2\n") == []
    assert waits(f"f:\n{halves}\tvpbroadcastd\t16(%rsp), %ymm2\n") == []
    assert waits("f:\n\tmovq\t%rax, -8(%rbp)\n\tmovdqa\t-16(%rbp), %xmm0\n") != []


@pytest.mark.slow
@needs_x86
@pytest.mark.parametrize(("level", "size"), [*itertools.product(LEVELS, (1, 4)), ("x86-64-v3", 2), ("x86-64-v3", 8)])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_runtime_loads_no_vector_that_it_stored_in_pieces(compiler: str, level: str, size: int) -> None:
    header = runtime(halves=False)[RUNTIME_HEADER]
    # without `static` the compiler keeps what nothing calls
    assembly = compiled(compiler, level, BEST, header, f"-DSL_ELEMENT_SIZE={size}", "-Dstatic=")
    functions = set(re.findall(r"^(sl_\w+):", assembly, re.MULTILINE))
    assert {
        "sl_copy_turns",
        "sl_split_2",
        "sl_join_4",
        f"sl_deal_rows_{'' if level == LEVELS[2] else 'wide_'}3",
        "sl_transpose_tile",
        "sl_transpose_tiles",
    } <= functions
    assert waits(assembly) == []
    # The loop over the lines of a staged row is not made a call of memcpy.
    staged = re.split(r"\nsl_write_staged:.*\n", assembly)[1].partition("\n\t.size\tsl_write_staged")[0]
    assert "mov" in staged
    assert "memcpy" not in staged


# As objects are compiled that kernels share; all but a tile of 1 and 2 byte elements, which is transposed in memory.
@pytest.mark.slow
@needs_x86
@pytest.mark.parametrize("flags", [("-O1", "-fexpensive-optimizations"), ("-O2",), BEST])
@pytest.mark.parametrize(("level", "size"), [("x86-64-v3", 4), ("x86-64-v4", 1), ("x86-64-v4", 4)])
def test_squares_are_transposed_in_registers_at_each_level(level: str, size: int, flags: tuple[str, ...]) -> None:
    header = runtime(halves=False)[RUNTIME_HEADER]
    assembly = compiled("gcc", level, flags, header, f"-DSL_ELEMENT_SIZE={size}", "-Dstatic=")
    for name in ("sl_transpose_flat", "sl_transpose_tall", "sl_transpose_square"):
        text = assembly.partition(f"\n{name}:\n")[2].partition(f"\t.size\t{name}")[0]
        assert "mm" in text
        assert _SLOT.findall(text) == []
        assert name == "sl_transpose_square" or not re.findall(r"\tj[a-z]+\t", text)  # it may write a few rows
    text = assembly.partition("\nsl_transpose_even_tile:\n")[2].partition("\t.size\tsl_transpose_even_tile")[0]
    assert ("mm" in text) == (size == 4)
    assert re.findall(r"mm\d+, -?\d*\(%r[sb]p\)|\(%r[sb]p\), %[xyz]mm", text) == []
    # Else what runs next, which has no wide vectors, waits.
    text = assembly.partition("\nsl_split_2:\n")[2].partition("\t.size\tsl_split_2")[0]
    assert "vzeroupper" in text


# A function that leaves them in use makes code without wide vectors slow: NumPy's, or that of a kernel for x86-64-v2.
@pytest.mark.sample(2)
@needs_x86
@pytest.mark.parametrize("level", LEVELS[1:])
@pytest.mark.parametrize("linked", [(), ("-DSL_LINKED",)])
@pytest.mark.parametrize("flags", [("-O1", "-fexpensive-optimizations"), BEST])
def test_functions_clear_the_upper_halves_of_vectors(
    flags: tuple[str, ...], linked: tuple[str, ...], level: str
) -> None:
    arguments = "element *to, sl_axis rows, const element *from, sl_axis columns, sl_turns turns"
    kernel = f"void kernel({arguments}) {{ sl_transpose(to, 0, rows, from, 0, columns, turns, 0); }}\n"
    header = runtime(halves=False)[RUNTIME_HEADER]
    assembly = compiled("gcc", level, flags, f"{header}\n{kernel}", "-DSL_ELEMENT_SIZE=4", *linked)
    functions = re.findall(r"\n(\w+):\n(.*?)\t\.size\t", assembly, re.DOTALL)
    wide = {name: text for name, text in functions if re.search(r"%[yz]mm(\d|1[0-5])\b", text) and "\tret" in text}
    assert len(wide) >= (1 if linked else 10) or level != LEVELS[2]
    assert [name for name, text in wide.items() if "vzeroupper" not in text] == []


# gcc drops the calls of a function that has prefetches and nothing else: it has no effect on values.
@needs_x86
@pytest.mark.parametrize("flags", [("-O1", "-fexpensive-optimizations"), BEST])
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", ["transpose_large_tiles.c", "transpose_large.c"])
def test_a_transpose_reads_ahead_and_fetches_its_output_at_each_level(
    name: str, compiler: str, flags: tuple[str, ...]
) -> None:
    text = (compiled_apart(schedule(nests.transpose(), MODEL), 4) or {})[name]
    assembly = compiled(compiler, "x86-64-v3", (*flags, "-mprfchw"), text)  # writes have one of their own
    assert re.search(r"\tprefetcht[01]\t", assembly)
    assert "\tprefetchw\t" in assembly


@pytest.mark.slow
@needs_x86
@pytest.mark.parametrize("flags", [("-O1", "-fexpensive-optimizations"), ("-O2",), BEST])
def test_bytes_are_transposed_in_16_registers(flags: tuple[str, ...]) -> None:
    header = runtime(halves=False)[RUNTIME_HEADER]
    assembly = compiled("gcc", "x86-64-v2", flags, header, "-DSL_ELEMENT_SIZE=1", "-Dstatic=")
    for name in ("sl_transpose_square", "sl_transpose_band"):
        text = assembly.partition(f"\n{name}:\n")[2].partition(f"\t.size\t{name}")[0]
        assert "punpcklbw" in text
        assert re.findall(r"mm\d+, -?\d*\(%r[sb]p\)|\(%r[sb]p\), %[xy]mm", text) == []


@pytest.mark.slow
@needs_x86
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_kernel_loads_no_vector_that_it_stored_in_pieces(compiler: str, level: str, name: str) -> None:
    for size in (1, 4):
        assembly = compiled(compiler, level, BEST, whole(KERNELS[name], size))
        assert f"{KERNELS[name].name}_part:" in assembly
        assert waits(assembly) == []


def whole(nest: Nest, size: int) -> str:
    """Return the C of *nest* with its headers in place."""
    headers = {KERNELS_HEADER: print_header([nest]), **runtime(halves=False)}
    text = print_kernel(nest, size)
    for name, header in headers.items():
        text = text.replace(f'#include "{name}"', header)
    return text
