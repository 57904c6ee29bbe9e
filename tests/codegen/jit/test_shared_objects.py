"""Objects that kernels share: compiled once, kept, verified, and replaced where no kernel can be made with them."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import symlayout as sl
from symlayout.run.lower import lower
from symlayout_codegen import CompilerError, compile_nest
from symlayout_codegen.emit import transposes
from symlayout_codegen.emit.header import RUNTIME_HEADER, runtime
from symlayout_codegen.emit.printer import print_kernel, print_program
from symlayout_codegen.ir.choice import ALWAYS, MODEL, Choice
from symlayout_codegen.ir.nest import Nest
from symlayout_codegen.jit import build, cache, shared_objects
from symlayout_codegen.jit.instruction_set import available
from symlayout_codegen.jit.kernel import CompiledKernel
from symlayout_codegen.passes.schedule import schedule
from tests.support import nests

WHOLE = 9
"""The objects of a transpose: tiles, pieces, small and narrow matrices, two of large arrays, and 2, 3 and 4 streams."""

LOGGING = """#!/bin/sh
echo "$@" >> {log}
exec {compiler} "$@"
"""


@pytest.fixture
def log(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the file with a line for each call of the compiler."""
    path, file = tmp_path / "logging-cc", tmp_path / "log"
    path.write_text(LOGGING.format(log=file, compiler=os.environ["CC"]))
    path.chmod(0o755)
    monkeypatch.setenv("CC", str(path))
    return file


def compiled(log: Path) -> tuple[int, int]:
    """Return how many shared objects and how many libraries the compiler made since the last call."""
    lines = log.read_text().splitlines() if log.exists() else []
    log.write_text("")
    objects = sum("-o kernel.o" in line for line in lines)
    return objects - (objects > 0), len(lines) - objects  # a kernel whose objects are missing is compiled beside them


def check(nest: Nest | None = None, size: int = 4, march: str | None = None, choice: Choice = MODEL) -> None:
    """Assert that a transpose is right, which has full tiles, thin ones, and streams."""
    call(compile_nest(nest or nests.transpose(), size, choice, march), (70, 90), (3, 200), (200, 4), (2, 3))


def call(kernel: CompiledKernel, *shapes: tuple[int, int]) -> None:
    """Assert that a kernel transposes arrays of these shapes."""
    for shape in shapes:
        x = np.random.default_rng(0).integers(0, 256, (*shape, kernel.element_size), dtype=np.uint8)
        out = np.empty((shape[1], shape[0], kernel.element_size), np.uint8)
        kernel(shape, [x], out)
        assert np.array_equal(out, x.swapaxes(0, 1))


def forget() -> None:
    """Make the process one that has built nothing."""
    build._loaded.clear()
    shared_objects._objects.clear()


def objects(root: Path) -> list[Path]:
    """Return the entries of the cache that are objects."""
    return [entry for entry in root.iterdir() if is_object(entry / "kernel.so")]


def is_object(file: Path) -> bool:
    return file.read_bytes()[16:18] == b"\1\0"  # ELF's type: relocatable


def renamed(name: str) -> Nest:
    return replace(nests.transpose(), name=name)


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="objects are told from libraries by ELF")


@pytest.mark.slow
def test_kernels_of_an_element_size_share_objects(log: Path) -> None:
    check()
    assert compiled(log) == (WHOLE, 1)
    check(renamed("another"))
    assert compiled(log) == (0, 1)
    forget()
    check(renamed("later"))
    assert compiled(log) == (0, 1)
    check(size=2)
    assert compiled(log) == (WHOLE + 1, 1)  # and the plans of turns of small elements


@pytest.mark.slow
def test_streams_of_unknown_extents_are_linked_once_a_call_wants_them(log: Path) -> None:
    kernel = compile_nest(nests.transpose(), 4, ways=0)
    assert compiled(log) == (2, 1)  # tiles and their pieces
    call(kernel, (70, 90), (5, 200))
    assert kernel.as_wanted() is kernel
    call(kernel, (3, 200))
    linked = kernel.as_wanted()
    assert compiled(log) == (1, 1)
    assert kernel.as_wanted() is linked
    call(linked, (3, 200), (200, 3), (70, 90))
    assert linked.as_wanted() is linked
    call(linked, (200, 4))
    call(linked.as_wanted(), (200, 4), (3, 200))
    assert compiled(log) == (1, 1)
    assert kernel.whole().ways == transposes.ALL_WAYS & ~1
    assert compiled(log) == (5, 1)


def test_ways_of_large_arrays_are_linked_once_a_call_is_large(log: Path) -> None:
    kernel = compile_nest(nests.transpose(), 4, ways=0)
    call(kernel, (70, 90))
    assert kernel.as_wanted() is kernel
    compiled(log)
    call(kernel, (300, 200))
    linked = kernel.as_wanted()
    assert linked.ways in (transposes._PROMPT, transposes._WAITING)  # of this processor
    assert compiled(log) == (2, 1)  # tiles, and other ways
    call(linked, (300, 200), (1024, 256), (70, 90))
    assert linked.as_wanted() is linked


@pytest.mark.sample(2)
@pytest.mark.parametrize("march", available())
@pytest.mark.parametrize("size", [1, 2, 3, 4, 8])
def test_a_first_kernel_is_right_for_near_and_for_large_arrays(size: int, march: str) -> None:
    kernel = compile_nest(nests.transpose(), size, march=march, ways=0)
    call(kernel, (70, 90), (17, 300), (300, 17), (9, 4), (128, 128), (700, 520), (1024, 512))


def test_a_transpose_that_is_part_of_a_far_output_wants_the_ways_of_large_arrays(log: Path) -> None:
    kernel = compile_nest(nests.transpose(), 4, Choice(past=ALWAYS), ways=0)
    call(kernel, (64, 80))
    linked = kernel.as_wanted()
    assert linked.ways in (transposes._PROMPT, transposes._WAITING)
    call(linked, (64, 80), (300, 200))
    program = schedule(lower(sl.transpose(sl.tensor("64, 80"), (1, 0)))[0], Choice(past=ALWAYS))
    assert transposes.linked_ways(program, 4, 0) == transposes._LARGE


@pytest.mark.parametrize("size", [1, 4])
def test_ways_of_small_matrices_are_linked_once_a_call_has_many(log: Path, size: int) -> None:
    kernel = sl.compile(sl.transpose(sl.tensor("N, h, w"), (0, 2, 1)), dtype=f"uint{8 * size}", strict=True)
    for shape, ways in (((15, 5, 5), 0), ((5, 70, 90), 0), ((200, 5, 5), 1 << 5), ((200, 9, 9), 1 << 5)):
        x = np.random.default_rng(0).integers(0, 256, shape).astype(f"uint{8 * size}")
        assert np.array_equal(kernel(x), x.swapaxes(1, 2))
        assert {native.ways for native in kernel._natives.values() if native} == {ways}
        assert np.array_equal(kernel(x), x.swapaxes(1, 2))


@pytest.mark.parametrize(("dtype", "few"), [("uint8", 5), ("uint16", 7), ("float32", 3)])
def test_ways_of_narrow_matrices_are_linked_once_a_call_has_one(log: Path, dtype: str, few: int) -> None:
    pixels = sl.space_to_depth(sl.tensor("N, C, 2*h, 2*w"), 2, depth_axis=1)
    tensor = sl.transpose(pixels, (0, 2, 3, 1))
    kernel = sl.compile(tensor, dtype=dtype, strict=True)
    for shape, ways in (((1, 20, 32, 32), 0), ((1, few, 64, 64), 1 << 8), ((2, few, 20, 600), 1 << 8)):
        x = np.random.default_rng(0).integers(0, 100, shape).astype(dtype)
        for _ in range(2):
            assert np.array_equal(kernel(x), sl.interpret(tensor, x))
        assert {native.ways for native in kernel._natives.values() if native} == {ways}


def test_a_call_wants_the_streams_that_it_has_not_what_it_takes_instead(log: Path) -> None:
    """Until streams of three levels are linked, they are transposed in turns, which are small matrices."""
    tensor = sl.einops.rearrange(sl.tensor("n, h, w, 256*C"), "n h w (p q c) -> n c (h p) (w q)", p=16, q=16)
    kernel = sl.compile(tensor, dtype="uint8", strict=True)
    x = np.random.default_rng(0).integers(0, 256, (1, 14, 14, 3 * 256)).astype(np.uint8)
    for _ in range(2):
        assert np.array_equal(kernel(x), sl.interpret(tensor, x))
    assert {native.ways for native in kernel._natives.values() if native} == {1 << 3}


def test_a_kernel_that_cannot_be_linked_to_what_it_wants_stays_as_it_is(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = compile_nest(nests.transpose(), 4, ways=0)
    call(kernel, (3, 200))
    monkeypatch.setenv("CC", "no-such-compiler")
    assert kernel.as_wanted() is kernel
    assert kernel.whole() is kernel
    call(kernel, (3, 200))


@pytest.mark.parametrize(
    ("shape", "perm", "first", "later"),
    [
        ("n, 3, m", (0, 2, 1), 1 << 3, 0),
        ("n, k, m", (0, 2, 1), 0, transposes.ALL_WAYS & ~1),
        ("n, 3, m", (2, 1, 0), 0, transposes.ALL_WAYS & ~1),
        ("50, 30", (1, 0), 0, 0),
        ("128, 255", (1, 0), 0, 0),
        ("200, 5, 7", (0, 2, 1), transposes._SMALL, 0),
        ("3, 5, 7", (0, 2, 1), 1 << 3, 0),
        ("200, 50, 7", (0, 2, 1), transposes._LARGE, 0),
        ("128, 256", (1, 0), transposes._LARGE, 0),
        ("30, 2, 40", (2, 1, 0), 1 << 2 | transposes._SMALL | transposes._NARROW, 0),
        ("n, 256", (1, 0), 0, transposes.ALL_WAYS & ~1),
    ],
)
def test_ways_that_extents_state_are_linked_at_first(shape: str, perm: tuple[int, ...], first: int, later: int) -> None:
    program = schedule(lower(sl.transpose(sl.tensor(shape), perm))[0], MODEL)
    linked = transposes.compiled_apart(program, 4, 0) or {}
    assert {f"streams_{k}.c" for k in (2, 3, 4) if first >> k & 1} == {name for name in linked if "streams" in name}
    assert ("transpose_large_tiles.c" in linked) == ("transpose_large.c" in linked)
    assert ("transpose_large.c" in linked) == (first & transposes._LARGE == transposes._LARGE)
    assert ("transpose_matrices.c" in linked) == bool(first & transposes._SMALL)
    assert ("transpose_narrow.c" in linked) == bool(first & transposes._NARROW)
    assert transposes.later_ways(program, 4, 0) == later


def test_later_calls_take_the_streams_that_a_call_wanted(root: Path) -> None:
    kernel = sl.compile(sl.transpose(sl.tensor("N, C, w"), (0, 2, 1)), dtype="float32", strict=True)
    x = np.arange(2 * 3 * 100, dtype=np.float32).reshape(2, 3, 100)
    for threads in (None, 2, None):
        assert np.array_equal(kernel(x, threads=threads), x.transpose(0, 2, 1))
        assert {native.ways for native in kernel._natives.values() if native} == {1 << 3}
        assert {plan.native.ways for plan in kernel._plans.values() if plan.native} == {1 << 3}


def batched(channels: object = "C") -> sl.Tensor:
    return sl.space_to_batch(sl.tensor(f"N, H, w, {channels}"), [2, 2], [[0, 0], [0, 0]])


def test_row_plans_of_unknown_runs_are_linked_once_a_call_wants_them(log: Path) -> None:
    kernel = sl.compile(batched(), dtype="float32", strict=True)
    for channels, ways, made in ((16, 0, (0, 1)), (4, 0, (0, 0)), (2, 1, (1, 1)), (1, 1, (0, 0)), (3, 1, (0, 0))):
        x = np.random.default_rng(0).random((2, 8, 40, channels), np.float32)
        assert np.array_equal(kernel(x), sl.interpret(batched(), x))
        assert {native.ways for native in kernel._natives.values() if native} == {ways}
        assert compiled(log) == made


@pytest.mark.parametrize(("channels", "first", "later"), [(3, 1, 0), (2, 1, 0), (4, 0, 0), (16, 0, 0), ("C", 0, 1)])
def test_row_plans_that_runs_state_are_linked_at_first(channels: object, first: int, later: int) -> None:
    program = schedule(lower(batched(channels))[0], MODEL)
    assert transposes.compiled_apart(program, 4, 0) is not None
    assert transposes.linked_ways(program, 4, 0) == first
    assert transposes.later_ways(program, 4, 0) == later
    assert ("#define SL_ROW_PLANS 0" in print_program(program, 4, ways=0)) == (not first)


def test_what_is_large_and_what_is_small_is_what_the_runtime_takes_for_it(tmp_path: Path) -> None:
    main = """
#include <stdio.h>
int main(void)
{
    printf("%lld %d %d", (long long)SL_NEAR_LEAST, SL_HAS_LARGE_WAYS, SL_SMALL_BYTES);
    for (int64_t turns = 1; turns <= 32; ++turns)
        for (int64_t height = 1; height <= 1100; ++height)
            for (int64_t width = height; width <= 1100; ++width) {
                const sl_axis rows = sl_axis_1(height, width), columns = sl_axis_1(width, height);
                const sl_turns many = sl_turns_1(turns, height * width, height * width);
                const int found = sl_is_few(&rows, &columns, &many) || sl_is_small(&rows, &columns, &many) ||
                                  sl_may_be_planned(&rows, &columns, &many);
                if (found && (turns < FEWEST_TURNS || height * width * SL_ELEMENT_SIZE > SMALL_BYTES))
                    return 1;
            }
}
"""
    for size in (1, 2, 3, 4, 8, 16):
        text, program = tmp_path / "large.c", str(tmp_path / "large")
        text.write_text(f"#define SL_ELEMENT_SIZE {size}\n{runtime(halves=False)[RUNTIME_HEADER]}{main}")
        bounds = f"-DSMALL_BYTES={transposes._SMALL_BYTES}", f"-DFEWEST_TURNS={transposes._FEWEST_TURNS}"
        words = [*os.environ.get("CC", "cc").split(), "-std=c11", "-O1", "-w", *bounds, str(text), "-o", program]
        subprocess.run(words, check=True)
        printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
        assert [int(printed[0]), int(printed[2])] == [transposes._LARGE_BYTES, transposes._SMALL_BYTES]
        assert not int(printed[1]) or size in transposes._LARGE_SIZES


def test_the_runs_that_may_be_planned_are_those_that_the_runtime_plans(tmp_path: Path) -> None:
    main = """
#include <stdio.h>
int main(void)
{
    for (int run = 1; run <= 64; ++run)
        if (sl_is_planned(run, 1 << 20, 1))
            printf("%d ", run);
}
"""
    text = tmp_path / "planned.c"
    text.write_text(f"#define SL_ELEMENT_SIZE 1\n{runtime(halves=False)[RUNTIME_HEADER]}{main}")
    program = str(tmp_path / "planned")
    subprocess.run([*os.environ.get("CC", "cc").split(), "-std=c11", "-w", str(text), "-o", program], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    assert {int(run) for run in printed.split()} == set(transposes._PLANNED_RUNS)


@pytest.mark.slow
def test_another_choice_of_tiles_has_tiles_of_its_own(log: Path) -> None:
    check()
    compiled(log)
    check(choice=Choice(tiles=2))
    assert compiled(log) == (3, 1)  # tiles of near and of large arrays, and other ways, which are made of tiles too


@pytest.mark.slow
def test_each_instruction_set_has_its_own(log: Path) -> None:
    for march in available():
        check(march=march)
        assert compiled(log) == (WHOLE, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("flags", "last"), [("", "-fexpensive-optimizations"), ("-O3", "-O3"), ("-O2 -O0", "-O0")])
def test_the_level_of_objects_is_low_unless_the_user_names_one(
    log: Path, monkeypatch: pytest.MonkeyPatch, flags: str, last: str
) -> None:
    monkeypatch.setenv("CFLAGS", flags)
    check()
    levels = [re.findall(r" (-O\S|-fexpensive\S+)", line) for line in log.read_text().splitlines()]
    own = flags.split()
    assert levels.count(["-O1", "-fexpensive-optimizations", *own]) == WHOLE
    assert levels.count(["-O3", *own]) == 2  # the kernel, and its link
    assert all(found[-1] == last for found in levels if found[0] == "-O1")


@pytest.mark.slow
def test_other_flags_have_their_own(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check()
    compiled(log)
    monkeypatch.setenv("CFLAGS", "-O2 -DOTHER")
    check()
    assert compiled(log) == (WHOLE, 1)


@pytest.mark.slow
@linux
@pytest.mark.parametrize("content", [b"", b"garbage"])
def test_a_damaged_object_is_not_linked_but_replaced(root: Path, log: Path, content: bytes) -> None:
    check()
    compiled(log)
    for entry in objects(root):
        (entry / cache.LIBRARY).write_bytes(content)
    forget()
    check(renamed("next_one"))
    assert compiled(log) == (WHOLE, 1)
    assert len(objects(root)) == WHOLE
    forget()
    check(renamed("last_one"))
    assert compiled(log) == (0, 1)


@linux
def test_objects_with_which_no_kernel_can_be_linked_are_replaced(root: Path, log: Path) -> None:
    check()
    compiled(log)
    for entry in objects(root):  # an entry that is sound, and an object that is not
        cache.discard(entry)
        cache.store(entry.name, b"garbage", "")
    forget()
    check(renamed("next_one"))
    assert compiled(log) == (WHOLE, 2)
    assert len(objects(root)) == WHOLE


@pytest.mark.slow
def test_where_nothing_can_be_kept_kernels_are_right(log: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "store", lambda *_: False)
    check()
    compiled(log)
    check(renamed("another"))
    assert compiled(log) == (0, 1)
    forget()
    check(renamed("later"))
    assert compiled(log) == (WHOLE, 1)
    assert not root.exists()


def test_an_object_that_cannot_be_compiled_is_an_error(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "no-objects-cc"
    path.write_text(f'#!/bin/sh\ncase "$*" in *kernel.o*) echo no; exit 1;; esac\nexec {shutil.which("cc")} "$@"\n')
    path.chmod(0o755)
    monkeypatch.setenv("CC", str(path))
    with pytest.raises(CompilerError, match="failed with status 1"):
        check()
    assert not root.exists()


PROGRAM = """
from tests.codegen.jit.test_shared_objects import check
check()
"""


@pytest.mark.slow
def test_processes_that_race_leave_one_of_each(root: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    running = [subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment) for _ in range(4)]
    assert [process.wait(timeout=600) for process in running] == [0] * 4
    assert len(list(root.iterdir())) == WHOLE + 1


def test_texts_for_users_have_everything_in_their_headers() -> None:
    assert "SL_LINKED" not in print_kernel(nests.transpose(), 4)
    assert "#define SL_LINKED" not in "".join(runtime(halves=True, computes=True).values())


@pytest.mark.parametrize("nest", [nests.flip(), nests.pad()])
def test_kernels_without_transposes_have_all_in_one_text(nest: Nest) -> None:
    assert transposes.compiled_apart(schedule(nest, MODEL), 1) is None


@pytest.mark.slow
def test_whatever_streams_a_kernel_calls_are_linked() -> None:
    called: set[str] = set()
    for shape in itertools.product((1, 2, 3, 4, 9), repeat=3):
        for order in itertools.permutations(range(3)):
            nest, _ = lower(sl.transpose(sl.tensor(shape), order))
            program = schedule(nest, MODEL)
            found = set(re.findall(r"sl_(?:split|join)_(\d)\(", print_program(program, 4)))
            linked = transposes.compiled_apart(program, 4) or {}
            assert {f"streams_{k}.c" for k in found} <= linked.keys(), (shape, order)
            called |= found
    assert called == {"2", "3", "4"}


def test_a_kernel_that_splits_and_joins_is_linked() -> None:
    x = np.arange(32, dtype=np.float32).reshape(8, 2, 2)
    kernel = sl.compile(sl.swapaxes(sl.tensor(x.shape), 1, 2), dtype="float32", strict=True)
    assert np.array_equal(kernel(x), x.swapaxes(1, 2))
