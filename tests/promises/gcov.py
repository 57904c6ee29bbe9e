"""Take every branch of the generated C: ``python -m tests.promises.gcov [KERNEL...]``.

The kernels of ``generated/`` are built without optimisation and counted by gcc while they run on random sizes, small,
odd, long, empty and impossible ones, whole and in parts, from arrays at any address, as on any processor.  Each result
is compared with the interpreter's and each status with the error of `Tensor.subs`.  What gcov says was never taken is
printed, with the reason that `EXPLAINED` has for it; a kernel's own branch without a reason is a failure.

A kernel's own branches are its own.  Those of the runtime header count once for each size of elements, in all kernels
of that size together and in the programs of ``tests/c`` that call its leaves, and only where all kernels run.
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import symlayout as sl
from symlayout.algebra.polynomial import evaluate
from symlayout.commands import subject
from symlayout.commands.generated_rows import EXAMPLES, Row, kernels
from symlayout_codegen.jit.instruction_set import NATIVE, available
from symlayout_codegen.status import PRECONDITION, STATUS, status_code
from tests.support.paths import C_SOURCES, LEAVES, ROOT

GENERATED = ROOT / "generated"
PROGRAMS = {name: C_SOURCES / f"{name}.c" for name in LEAVES}
RUNTIME = "symlayout_runtime.h"
ANY_PROCESSOR = C_SOURCES / "any_processor.h"
"""Draws for each call what the runtime asks of the processor, so that small outputs are written in all ways."""
FAR_BYTES = 1024  # from which on it may have an output written past the caches
FLAGS = ("-std=c11", "-O0", "--coverage", "-fPIC", "-Wno-psabi", "-include", ANY_PROCESSOR.name)
ALWAYS = "static inline __attribute__((always_inline, unused))"  # which gcov would count once for each call
HERE = "SYMLAYOUT_TEST_COUNTED"
TYPES = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
Array = np.ndarray[Any, Any]

UNTOUCHED = 0xA5
PRIME = 0x9E3779B185EBCA87
FEW, MANY = 20_000, 400_000  # elements of an output: of most, and of one in forty
LENGTHS = (
    (0,),
    (0, 1, 2, 3, 4),
    (5, 6, 7, 8, 9, 12, 15, 16, 17, 18),
    (27, 32, 33, 48, 63, 64, 65, 100, 128, 129, 300, 640),
)
WRONG = (-1, 0, 1, 1 << 32, (1 << 32) + 1, 1 << 62, (1 << 63) - 1)
SIDE = 10  # outputs that must have been too small to be far, and as many that may have been far
MOST_DRAWS = 20  # times as many draws, until they have been
TRIES = 8  # spoiled sizes for each that fit

Branch = tuple[str, str, int]
"""The function, the text of the line, and the number of the branch among those of the line."""

_DIVISOR = "the divisor is >= 1, as was checked, and nothing else in this line can overflow"
_ELEMENT = "one element has as many bytes, or more"
EXPLAINED = {
    (
        "transpose_2d",
        "return overflow ? SL_OVERFLOW : SL_OK;",
    ): "an empty array of two axes has as many elements as the other",
    **{(row.name, "if (far)"): "the sizes of the example are fixed, and small" for row in EXAMPLES},
    ("KERNEL", "return overflow ? SL_OVERFLOW : SL_NON_DIVISIBLE; /* H % b == 0 */"): _DIVISOR,
    ("KERNEL", "return overflow ? SL_OVERFLOW : SL_NON_DIVISIBLE; /* W % b == 0 */"): _DIVISOR,
    (
        "tensorflow_space_to_batch_nd_4",
        "for (int64_t i2 = i2_first_3; i2 < i2_last_3; ++i2) { /* output axis 2 < 3 */",
    ): ("the sizes of the example are fixed, and its first column is all pad"),
    ("sl_copy", "else if (bytes >= 8)"): _ELEMENT,
    ("sl_copy", "else if (bytes >= 4)"): _ELEMENT,
    ("sl_copy", "else if (bytes >= 2)"): _ELEMENT,
    (
        "sl_copy_turns",
        "else if (bytes >= 16)",
    ): "one element alone has another way, and two have as many bytes, or more",
    ("sl_copy_turns", "else if (bytes >= 8)"): "one element alone has another way, and two have as many bytes, or more",
    ("sl_copy_turns", "else if (bytes >= 4)"): "one element alone has another way, and two have as many bytes, or more",
}
"""Why no call can take a branch: of a function, `KERNEL` for any kernel's, and a line of it."""


# ---------------------------------------------------------------------- the calls


@dataclass(frozen=True, slots=True)
class Subject:
    """A kernel, loaded, and the tensor that it computes."""

    name: str
    t: sl.Tensor
    size: int
    library: ctypes.CDLL

    def call(self, dims: Mapping[str, int], arrays: Sequence[Array], part: tuple[int, int] | None = None) -> int:
        """Return the status of the kernel, or of its function for one part."""
        function = getattr(self.library, self.name + ("" if part is None else "_part"))
        numbers = [ctypes.c_int64(n) for n in (*(part or ()), *dims.values())]
        status: int = function(*numbers, *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
        return status


def drawn(rng: random.Random, t: sl.Tensor) -> dict[str, int]:
    """Return sizes for the dims of *t*, which need not fit it."""
    weights = rng.choice([(0, 8, 2, 0), (0, 5, 4, 1), (0, 3, 3, 3), (0, 6, 0, 3), (6, 1, 0, 0)])
    return {name: dim.nearest() + rng.choice(*rng.choices(LENGTHS, weights)) for name, dim in t.facts.dims.items()}


def spoiled(rng: random.Random, dims: Mapping[str, int]) -> dict[str, int]:
    """Return *dims* with some that are negative, too large, or a little off."""
    found = dict(dims)
    for name in rng.sample(list(dims), min(len(dims), rng.choice([1, 1, 2]))):
        found[name] = rng.choice([*WRONG, found[name] + 1, found[name] - 1])
    return found


def large(dims: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Yield *dims* with two of them so large that their product is not a number of 64 bits, or their sum is not."""
    for name, other in itertools.combinations(dims, 2):
        for value in ((1 << 32) + 1, (1 << 63) - 1):
            yield {**dims, name: value, other: value}


def size_of(t: sl.Tensor, dims: Mapping[str, int]) -> int:
    """Return the number of elements of the output, 0 where a dim is out of its bounds or a division has a rest."""
    if any(n < t.facts.dims[name].nearest() for name, n in dims.items()):
        return 0
    ends = [[evaluate(e, dims) for e in t.facts.to_user(extent)] for extent in t.extents]
    return 0 if any(top % bottom for top, bottom in ends) else math.prod(top // bottom for top, bottom in ends)


def array_of(rng: random.Random, shape: Sequence[int], size: int) -> Array:
    """Return an array at any address: no element need be aligned."""
    count, lead = math.prod(shape) * size, rng.choice([0, 0, 1, size, 3 * size, 24])
    return np.empty(count + lead, np.uint8)[lead:].view(TYPES[size]).reshape(shape)


def try_wrong_sizes(s: Subject, dims: Mapping[str, int], kind: str) -> None:
    """Call the kernel with sizes that the map refuses with an error of this kind: it says so, and writes nothing."""
    if kind == "overflow" and 0 < size_of(s.t, dims) < 1 << 63:
        return  # the source is what cannot be, and the kernel would write
    out = np.full(64, UNTOUCHED, np.uint8)
    status = s.call(dims, [out, out, out])
    allowed = {status_code(kind)}
    if max(dims.values()) >= 1 << 31:  # where a number overflows, another rule may be broken too
        allowed.add(STATUS["overflow"])
    if kind == "overflow":
        allowed |= {0, *STATUS.values()}  # or the output be empty
    assert status in allowed, f"{s.name} {dims}: status {status}, not that of {kind}"
    assert (out == UNTOUCHED).all(), f"{s.name} {dims}: wrote, and returned {status}"


def try_sizes(rng: random.Random, s: Subject, dims: Mapping[str, int]) -> bool:
    """Call the kernel with these sizes and compare; return whether they fit the map."""
    fill = np.zeros(1, TYPES[s.size])
    try:
        fixed = s.t.subs(dims) if dims else s.t
    except sl.ShapeError as error:
        try_wrong_sizes(s, dims, error.kind)
        return False
    (leaf,) = fixed.leaves()
    shape, wanted_shape = ([int(e) for e in x.shape] for x in (leaf, fixed))
    most = MANY if rng.random() < 1 / 40 else FEW
    if any(math.prod(part) > most or max(part, default=0) > most for part in (shape, wanted_shape)):
        return False  # too much memory, or empty and yet too large for NumPy
    source, out = array_of(rng, shape, s.size), array_of(rng, wanted_shape, s.size)
    numbers = np.arange(1, source.size + 1, dtype=np.uint64) * np.uint64(PRIME)
    source[...] = numbers.astype(source.dtype).reshape(shape)
    wanted = sl.interpret(fixed, source)
    out[...] = UNTOUCHED
    assert s.call(dims, [source, out, fill]) == 0, f"{s.name} {dims}: refused"
    assert np.array_equal(out, wanted), f"{s.name} {dims}: differs from the interpreter"
    parts = rng.choice([1, 2, 3, 7, 40])
    out[...] = UNTOUCHED
    for part in range(parts):
        assert s.call(dims, [source, out, fill], (part, parts)) == 0, f"{s.name} {dims}: part {part} of {parts} refused"
    assert np.array_equal(out, wanted), f"{s.name} {dims}: {parts} parts differ from the whole"
    for none in ((-1, parts), (parts, parts)):
        assert s.call(dims, [source, out, fill], none) == PRECONDITION, f"{s.name}: part {none[0]} of {parts}"
    return True


def exercise(names: Sequence[str], draws: int, seed: int) -> int:
    """Call each kernel until *draws* sizes fitted, and outputs were small and large; return how many fitted in all."""
    chains: dict[Row, sl.Tensor] = {}
    fitted = 0
    for row, size, name in kernels():
        if row not in chains:
            (chains[row],) = subject.build([row.shape, *row.steps])
        if name not in names:
            continue
        s = Subject(name, chains[row], size, ctypes.CDLL(str(Path(os.environ[HERE]) / f"{name}.so")))
        rng = random.Random(f"{seed} {name}")
        done = 0
        sides = {True: 0, False: 0}
        most = MOST_DRAWS * draws
        while done < draws or (min(sides.values()) < SIDE and done < most) if s.t.facts.dims else not done:
            dims = drawn(rng, s.t)
            if try_sizes(rng, s, dims):
                done += 1
                if n := size_of(s.t, dims):
                    sides[n * size >= FAR_BYTES] += 1
                for wrong in (spoiled(rng, dims) for _ in range(TRIES)):
                    try_sizes(rng, s, wrong)
        for wrong in large(dict.fromkeys(s.t.facts.dims, 3)):
            try_sizes(rng, s, wrong)
        fitted += done
    return fitted


# ---------------------------------------------------------------------- the counts


def build(folder: Path, names: Sequence[str], march: str) -> None:
    """Compile the kernels in *folder* for the instruction set *march*, if any, each to a library that counts."""
    for file in (*GENERATED.glob("*.[ch]"), ANY_PROCESSOR):
        shutil.copy(file, folder)
    runtime = (folder / RUNTIME).read_text("ascii")
    assert ALWAYS in runtime, "the runtime header no longer says what is always inlined"
    (folder / RUNTIME).write_text(runtime.replace(ALWAYS, "static inline __attribute__((unused))"), "ascii")
    flags = [*FLAGS, *([f"-march={march}"] if march else [])]
    for name in names:
        subprocess.run(["gcc", *flags, "-c", f"{name}.c", "-o", f"{name}.o"], cwd=folder, check=True)
        subprocess.run(["gcc", "--coverage", "-shared", f"{name}.o", "-o", f"{name}.so"], cwd=folder, check=True)
    for name in programs(names):
        program, _, size = name.partition("_x")
        words = [*flags, f"-DSL_ELEMENT_SIZE={size}", "-I.", "-c", str(PROGRAMS[program]), "-o", f"{name}.o"]
        subprocess.run(["gcc", *words], cwd=folder, check=True)
        subprocess.run(["gcc", "--coverage", f"{name}.o", "-o", name], cwd=folder, check=True)


def sizes(names: Sequence[str]) -> list[int]:
    """Return the sizes of the elements that the kernels of these names move."""
    return sorted({int(name[-1]) for name in names})


def programs(names: Sequence[str]) -> list[str]:
    """Return the names of the programs that call the leaves for elements of these sizes."""
    return [f"{program}_x{size}" for program in PROGRAMS for size in sizes(names)]


def taken(folder: Path, name: str) -> Iterator[tuple[str, Branch, int, int]]:
    """Yield each branch of a kernel and of what it includes: the file, the branch, the line, and how often."""
    command = ["gcov", "--json-format", "--stdout", "--branch-probabilities", f"{name}.o"]
    printed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    for file in json.loads(printed)["files"]:
        lines = (folder / file["file"]).read_text("ascii").splitlines()
        for line in file["lines"]:
            text = " ".join(lines[line["line_number"] - 1].split())
            for k, branch in enumerate(line["branches"]):
                yield file["file"], (line["function_name"], text, k), line["line_number"], branch["count"]


def report(folder: Path, names: Sequence[str], *, whole: bool) -> int:
    """Print what was never taken; return how many branches of the kernels' own that are and have no explanation."""
    counts: dict[tuple[str, Branch, int], int] = {}
    for name in (*names, *programs(names)):
        for file, branch, line, count in taken(folder, name):
            place = f"{RUNTIME} with elements of {name[-1]}" if file == RUNTIME else file
            if whole if file == RUNTIME else name in names:
                counts[place, branch, line] = counts.get((place, branch, line), 0) + count
    missing = [key for key, count in counts.items() if not count]
    unexplained = 0
    for place, (function, text, k), line in sorted(missing, key=lambda key: (key[0], key[2])):
        kernel = re.sub("_x[0-9]_part$", "", function)
        reason = EXPLAINED.get((kernel, text)) or (EXPLAINED.get(("KERNEL", text)) if kernel != function else None)
        unexplained += reason is None and not place.startswith(RUNTIME)
        print(f"{place}:{line} {function}, branch {k} of: {text}\n  {reason or 'NEVER TAKEN'}")
    shared = [place.startswith(RUNTIME) for place, _, _ in counts]
    left = sum(place.startswith(RUNTIME) for place, _, _ in missing)
    print(
        f"{len(names)} kernels: of {len(counts) - sum(shared)} branches of their own {len(missing) - left} were not "
        f"taken, {unexplained} without an explanation; of {sum(shared)} of the runtime header {left} were not taken"
    )
    return unexplained


def main(arguments: list[str]) -> int:
    """Run the command line; return 0 unless a branch without an explanation was not taken, or a result is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.promises.gcov", description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*", help="their names, or parts of them; default: all")
    parser.add_argument("--draws", type=int, default=200, help="sizes that fit, for each kernel")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--portable", action="store_true", help="without this processor's wider vectors")
    parser.add_argument("--march", default=NATIVE, help="with the vectors of this instruction set (native)")
    options = parser.parse_args(arguments)
    if options.march not in (NATIVE, *available()):
        print(f"this processor lacks {options.march}")
        return 0
    names = [name for _, _, name in kernels() if not options.kernels or any(w in name for w in options.kernels)]
    if HERE in os.environ:
        print(f"{exercise(names, options.draws, options.seed)} sizes fitted", flush=True)
        return 0
    with tempfile.TemporaryDirectory(prefix="symlayout-promise-") as folder:
        build(Path(folder), names, "" if options.portable else options.march)
        # gcc writes its counts where the process ends
        again = [sys.executable, "-m", "tests.promises.gcov", *arguments]
        if status := subprocess.run(again, env={**os.environ, HERE: folder}).returncode:
            return status
        for program in programs(names):
            subprocess.run([Path(folder) / program], cwd=folder, check=True)
        return report(Path(folder), names, whole=not options.kernels) != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
