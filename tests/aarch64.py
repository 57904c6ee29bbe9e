"""Compile kernels for AArch64, run them under an emulator, and compare with the interpreter, byte for byte.

The kernels are all of ``generated/`` and those of random chains of the fuzz.  Each must compile without a warning.  The
runtime's leaves run too, as on this processor's caches and as on any.
Debian has the tools: ``apt install gcc-aarch64-linux-gnu qemu-user``.
"""

from __future__ import annotations

import argparse
import itertools
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import symlayout as sl
from symlayout.commands import bench, subject
from symlayout.commands.generated_rows import kernels
from symlayout.run.lower import lower
from symlayout.run.standalone_c import Unit, emit
from symlayout.run.storage import WHOLE
from symlayout.show import small_sizes
from symlayout_codegen.emit.header import RUNTIME_HEADER, runtime
from tests.fuzz.chains import draw
from tests.fuzz.compare import shape_of
from tests.fuzz.judge import build, limit, plan
from tests.support.paths import C_SOURCES, LEAVES

DRIVER = C_SOURCES / "run_cases.c"
ELEMENT_SIZES = (1, 2, 3, 4, 8)
ANY_PROCESSOR = ["-include", str(C_SOURCES / "any_processor.h")]
FLAGS = ["-std=c11", "-O3", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
FUZZED = 200
MOST_POINTS = 12  # of a chain of the fuzz
PATIENCE = 600.0  # seconds for one compiler, or one run

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Target:
    """A compiler, and what runs its programs."""

    compiler: tuple[str, ...] = ("aarch64-linux-gnu-gcc", "-static")
    emulator: tuple[str, ...] = ("qemu-aarch64",)

    @property
    def missing(self) -> str | None:
        """The first tool that is not installed."""
        tools = (self.compiler[0], *self.emulator[:1])
        return next((tool for tool in tools if shutil.which(tool) is None), None)


@dataclass(frozen=True, slots=True)
class Subject:
    """A kernel by its name, what it computes, the type of its elements, and the dims to try."""

    name: str
    tensor: sl.Tensor
    dtype: np.dtype[Any]
    points: Sequence[dict[str, int]]


class Wrong(Exception):
    """A kernel that does not compile, or does not compute what the interpreter does."""


def catalogue() -> Iterator[Subject]:
    """Yield the kernels of ``generated/``: for small dims, for dims of about 1 MiB, and for these and 1."""
    for row, size, name in kernels():
        (t,) = subject.build([row.shape, *row.steps])
        points: list[dict[str, int]] = [{}]
        if t.facts.dims:
            large = bench.enlarged(t, size)[1]
            points = [small_sizes.small(t)[1], large]
            with suppress(sl.ShapeError):
                t.subs(odd := {name: n + 1 for name, n in large.items()})
                points.append(odd)
        yield Subject(name, t, np.dtype(f"u{size}"), points)


def fuzzed(count: int, first: int = 0) -> Iterator[Subject]:
    """Yield *count* kernels of random chains, at random points."""
    made = 0
    for seed in itertools.count(first):
        if made == count:
            return
        rnd = random.Random(seed)
        drawn = draw(rnd)
        how = plan(rnd, drawn)
        dtype = how.dtypes[0].newbyteorder("=")
        try:
            t = build(drawn.chain)
            nest = lower(WHOLE.chain(t), "kernel")[0]
            emit([Unit(t, "kernel", dtype.itemsize, "none")])
        except (sl.ShapeError, sl.InconclusiveError):
            continue  # the fuzz judges whether that is right
        except sl.CompilerError as error:
            limit(error)
            continue
        points = [point for point, _ in drawn.points if 0 not in _extents(t, drawn.chain, point)]
        if points and nest.pieces:
            made += 1
            yield Subject(f"seed_{seed}", t, dtype, rnd.sample(points, min(MOST_POINTS, len(points))))


def _extents(t: sl.Tensor, chain: Any, point: dict[str, int]) -> list[int]:
    bound = t.subs({name: n for name, n in point.items() if name in t.facts.dims})
    return [*map(int, bound.shape), *(n for leaf in t.leaves() for n in shape_of(leaf.name, chain, point))]


def check(tried: Subject, target: Target, folder: Path) -> int:
    """Compile the kernel of *tried* in *folder* and run it at its points; return how many there are.

    Raises
    ------
    Wrong
        The compiler has something to say, or a result is another one than the interpreter's.
    """
    nest, fills = lower(WHOLE.chain(tried.tensor), tried.name)
    unit = Unit(tried.tensor, tried.name, tried.dtype.itemsize, "none")
    for name, text in emit([unit]).items():
        (folder / name).write_text(text, encoding="ascii")
    (folder / "calls.c").write_text(_calls(tried.name, len(nest.parameters), len(nest.sources), bool(fills)))
    counts = [f"-DKERNEL_DIMS={len(nest.parameters)}", f"-DKERNEL_SOURCES={len(nest.sources)}"]
    program = folder / "program"
    files = [folder / f"{tried.name}.c", folder / "calls.c", DRIVER]
    printed = _run([*target.compiler, *FLAGS, *counts, *map(str, files), "-o", str(program)], b"")
    if printed:
        raise Wrong(printed.decode("utf-8", "replace"))
    given, expected = b"", b""
    for k, point in enumerate(tried.points):
        bound = tried.tensor.subs({name: n for name, n in point.items() if name in tried.tensor.facts.dims})
        sources = [_source(k, leaf, tried.dtype) for leaf in bound.leaves()]
        dims = {name: n for name, n in point.items() if name in tried.tensor.facts.dims}
        result = sl.interpret(tried.tensor, *sources, dims=dims)
        given += np.array([*(point[name] for name in nest.parameters), 0], np.int64).tobytes()
        for content in [*(s.tobytes() for s in sources), b"".join(WHOLE.fill(f, tried.dtype) for f in fills)]:
            given += len(content).to_bytes(8, "little") + content
        given += result.nbytes.to_bytes(8, "little")
        expected += bytes(4) + result.tobytes()
    if _run([*target.emulator, str(program)], given) != expected:
        raise Wrong(f"the kernel computes something else at one of {list(tried.points)}")
    return len(tried.points)


def check_leaves(name: str, size: int, flags: Sequence[str], target: Target, folder: Path) -> None:
    """Compile the program *name* of `LEAVES` for elements of *size* bytes, and run it.

    Raises
    ------
    Wrong
        The compiler has something to say, or the program finds a difference.
    """
    (folder / RUNTIME_HEADER).write_text(runtime(halves=False)[RUNTIME_HEADER], encoding="ascii")
    words = [*FLAGS, *flags, f"-DSL_ELEMENT_SIZE={size}", f"-I{folder}", str(C_SOURCES / f"{name}.c")]
    if printed := _run([*target.compiler, *words, "-o", str(folder / "program")], b""):
        raise Wrong(printed.decode("utf-8", "replace"))
    _run([*target.emulator, str(folder / "program")], b"")


def _calls(name: str, dims: int, sources: int, filled: bool) -> str:
    """Return the C of the two functions that the driver calls."""
    given = [*(f"dims[{k}]" for k in range(dims)), *(f"sources[{k}]" for k in range(sources)), "dst"]
    words = ", ".join([*given, *(["fill"] if filled else [])])
    unused = "    (void)dims;\n    (void)sources;\n    (void)fill;\n"
    arguments = "const int64_t *dims, const void *const *sources, void *dst, const void *fill)"
    return (
        '#include "symlayout_kernels.h"\n\n'
        f"int32_t whole({arguments};\nint32_t part(int64_t number, int64_t parts, {arguments};\n\n"
        f"int32_t whole({arguments}\n{{\n{unused}    return {name}({words});\n}}\n\n"
        f"int32_t part(int64_t number, int64_t parts, {arguments}\n"
        f"{{\n{unused}    return {name}_part(number, parts, {words});\n}}\n"
    )


def _source(seed: int, leaf: sl.Tensor, dtype: np.dtype[Any]) -> Array:
    """Return an array of random numbers."""
    shape = tuple(map(int, leaf.shape))
    numbers = np.random.default_rng(seed).integers(0, 100, shape)
    return numbers.astype(dtype) if dtype.fields is None and dtype.kind != "V" else _opaque(numbers, dtype)


def _opaque(numbers: Array, dtype: np.dtype[Any]) -> Array:
    wide = np.repeat(numbers[..., None].astype(np.uint8), dtype.itemsize, -1)
    return np.ascontiguousarray(wide).view(dtype)[..., 0]


def _run(command: list[str], given: bytes) -> bytes:
    done = subprocess.run(command, input=given, capture_output=True, timeout=PATIENCE, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).decode("utf-8", "replace")
        raise Wrong(f"{command[0]} ended with {done.returncode}: {said[:2000]}")
    return done.stdout + done.stderr


def main(words: list[str], target: Target | None = None) -> int:
    """Run the command line; return 1 if a kernel is wrong."""
    target = target or Target()
    parser = argparse.ArgumentParser(prog="python -m tests.aarch64", description=__doc__)
    parser.add_argument("--fuzzed", type=int, default=FUZZED, help=f"kernels of random chains ({FUZZED})")
    parser.add_argument("--first", type=int, default=0, help="seed of the first of them (0)")
    parser.add_argument("--name", default="", help="only kernels of the catalogue and programs whose name has it")
    options = parser.parse_args(words)
    if target.missing:
        print(f"{target.missing} is not installed: apt install gcc-aarch64-linux-gnu qemu-user", file=sys.stderr)
        return 2
    failed = programs = 0
    chosen = [name for name in LEAVES if options.name in name]
    for name, size, flags in itertools.product(chosen, ELEMENT_SIZES, ([], ANY_PROCESSOR)):
        with tempfile.TemporaryDirectory() as folder:
            programs += 1
            try:
                check_leaves(name, size, flags, target, Path(folder))
            except Wrong as error:
                failed += 1
                print(f"{name}, {size} bytes: {error}", flush=True)
    print(f"{programs} programs of the runtime", flush=True)
    for what, subjects in (
        ("generated kernels", (s for s in catalogue() if options.name in s.name)),
        ("kernels of the fuzz", fuzzed(options.fuzzed, options.first)),
    ):
        files = points = 0
        for tried in subjects:
            with tempfile.TemporaryDirectory() as folder:
                files += 1
                try:
                    points += check(tried, target, Path(folder))
                except Wrong as error:
                    failed += 1
                    print(f"{tried.name}, {tried.dtype}: {error}", flush=True)
            if sys.stderr.isatty():
                print(f"\r{files} {what} ", end="", file=sys.stderr, flush=True)
        print(f"{files} {what}, {points} cases", flush=True)
    print("all agree" if not failed else f"{failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
