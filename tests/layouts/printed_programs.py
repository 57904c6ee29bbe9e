"""Programs that run printed layouts in other libraries: ``python -m tests.layouts.printed_programs 200`` draws some.

A program prints the offsets of every coordinate, a line for a case.  It is a text for a process of its own, so that a
peer meets only what is printed.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import symlayout as sl
from tests.layouts.brute_layouts import value
from tests.layouts.brute_symbols import drawn, holds, modes_at, number, points


class Case(NamedTuple):
    """A layout, and values of its dims by name."""

    layout: sl.Layout | sl.ComposedLayout
    dims: Mapping[str, int]

    def _inner(self) -> sl.Layout:
        return self.layout if isinstance(self.layout, sl.Layout) else self.layout.layout

    def sizes(self) -> list[int]:
        """Return the number of coordinates of each mode at the top."""
        inner = self._inner()
        return [number(inner[k].size, dict(self.dims)) for k in range(inner.rank)]

    def places(self) -> int:
        """Return the number of coordinates."""
        return number(self._inner().size, dict(self.dims))

    def offsets(self) -> list[int]:
        """Return the offsets by the definition of a layout, in the order of the numbers of coordinates.

        If strides step through coordinates, each value is several numbers.
        """
        inner, at, count = self._inner(), dict(self.dims), self.places()
        if inner.is_based:
            return self._coordinates(inner, count)
        modes = modes_at(inner, at)
        plain = [value(modes, k) for k in range(count)]
        if isinstance(self.layout, sl.Layout):
            return plain
        start = number(self.layout.offset, at)
        return [self.layout.swizzle(start + n) for n in plain]

    def _coordinates(self, inner: sl.Layout, count: int) -> list[int]:
        """Return the parts of each coordinate, one after the other."""
        at = dict(self.dims)
        flat = inner.flatten()
        pairs = [(flat[k].shape, flat[k].stride) for k in range(flat.rank)]
        paths = sorted({path for _, stride in pairs for path in stride.terms})
        modes = [[(number(n, at), number(d.terms.get(path, 0), at)) for n, d in pairs] for path in paths]
        return [value(along, k) for k in range(count) for along in modes]


def _names(case: Case, kind: str = "") -> str:
    return ", ".join(f"{name}{kind}" for name in case.dims)


def _values(case: Case, around: str = "{}") -> str:
    return ", ".join(around.format(n) for n in case.dims.values())


def _indented(text: str, by: str = "    ") -> str:
    return "".join(f"{by}{line}\n" for line in text.splitlines())


def in_python(cases: Sequence[Case], imports: str) -> str:
    """Return a program for a library of layouts in Python."""
    parts = [imports]
    for k, case in enumerate(cases):
        body = _indented(case.layout.to_pycute() + "\nreturn a")
        count = case.places()
        parts.append(f"def f{k}({_names(case)}):\n{body}\na = f{k}({_values(case)})")
        parts.append(f"print(*[a(k) for k in range({count})])")
    return "\n".join(parts)


def in_cute_dsl(cases: Sequence[Case]) -> str:
    """Return a program for CuTe's Python: dims are numbers at run time, then static."""
    parts = ["import cutlass, cutlass.cute as cute\nfrom cutlass import Int32\n"]
    for k, case in enumerate(cases):
        show = f"for k in range({case.places()}):\n    cute.printf('{{}} ', a(k))\ncute.printf(';')"
        body = _indented(case.layout.to_cute_dsl() + "\n" + show)
        for kind in (": Int32", ": cutlass.Constexpr"):
            parts.append(f"@cute.jit\ndef f{k}({_names(case, kind)}):\n{body}\nf{k}({_values(case)})")
    return "\n".join(parts)


def in_triton(cases: Sequence[Case]) -> str:
    """Return a program for Triton's interpreter."""
    parts = [
        "import os\nos.environ['TRITON_INTERPRET'] = '1'\nimport numpy as np\nimport triton, triton.language as tl\n"
    ]
    for k, case in enumerate(cases):
        sizes, count = case.sizes(), case.places()
        lines, step = [f"k = tl.arange(0, {1 << (count - 1).bit_length()})"], 1
        for axis, size in enumerate(sizes):
            lines.append(f"i{axis} = k // {step} % {size}")
            step *= size
        lines += [case.layout.to_triton(), "target = address.to(tl.pointer_type(tl.int64)) + k"]
        lines += [f"tl.store(target, (offset + 0 * k).to(tl.int64), mask=k < {count})"]
        parts.append(f"@triton.jit\ndef f{k}(address, {_names(case)}):\n{_indented(chr(10).join(lines))}")
        parts.append(f"out = np.zeros({count}, 'int64')\nf{k}[(1,)](out.ctypes.data, {_values(case)})\nprint(*out)")
    return "\n".join(parts)


def in_tvm(cases: Sequence[Case]) -> str:
    """Return a program for TVM's index maps: dims are its variables."""
    parts = [
        "try:\n    import tvm.tirx as T\nexcept ImportError:\n    import tvm.tir as T\n"
        "def n(k):\n    return T.IntImm('int64', k)\n"
        "def places(*sizes):\n"
        "    found = [()]\n"
        "    for size in sizes:\n        found = [(*at, k) for k in range(size) for at in found]\n"
        "    return found\n"
        "def show(f, dims, sizes):\n"
        "    m = T.IndexMap.from_func(f, index_dtype='int64')\n"
        "    print(*[int(e) for at in places(*sizes) for e in m.map_indices([*map(n, dims), *map(n, at)])])\n"
    ]
    for case in cases:
        names = [*case.dims, *(f"i{axis}" for axis in range(len(case.sizes())))]
        inner = ", ".join(names[len(case.dims) :])
        parts.append(f"show(lambda {', '.join(names)}: ({case.layout.to_tvm()})({inner}), "
                     f"{[*case.dims.values()]}, {case.sizes()})")  # fmt: skip
    return "\n".join(parts)


def in_cpp(cases: Sequence[Case]) -> str:
    """Return a program for CuTe in C++: dims are numbers at run time, then static."""
    parts = [
        "#include <cassert>\n#include <cstdio>\n#include <cute/layout.hpp>\n#include <cute/swizzle_layout.hpp>\n"
        "using namespace cute;\n"
        "template <class T> void put(T const& e) {\n"
        "  if constexpr (is_tuple<T>::value) for_each(e, [](auto const& part) { put(part); });\n"
        '  else std::printf("%d ", int(e));\n}\n'
        'template <class A> void show(A const& a, int n) { for (int k = 0; k < n; ++k) put(a(k)); std::printf(";"); }\n'
    ]
    for k, case in enumerate(cases):
        types = ", ".join(f"class T{axis}" for axis in range(len(case.dims)))
        head = f"template <{types}> " if types else ""
        takes = ", ".join(f"T{axis} {name}" for axis, name in enumerate(case.dims))
        body = _indented(case.layout.to_cute_cpp())
        parts.append(f"{head}void f{k}({takes}) {{\n{body}  show(a, {case.places()});\n}}")
    calls = (f"  f{k}({_values(case, around)});" for k, case in enumerate(cases) for around in ("{}", "Int<{}>{{}}"))
    return "\n".join([*parts, "int main() {", *calls, "}\n"])


def cute_headers() -> list[str] | str:
    """Return the folders of CuTe's headers and of CUDA's, or which are absent."""
    source = os.environ.get("CUTLASS_PATH")
    found = find_spec("cutlass_library")
    installed = found.submodule_search_locations if found else None
    roots = [Path(source)] if source else [Path(p) / "source" for p in installed or ()]
    cute = next((root / "include" for root in roots if (root / "include/cute/layout.hpp").is_file()), None)
    if cute is None:
        return "no headers of CuTe: set CUTLASS_PATH, or install nvidia-cutlass"
    cuda = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include"
    if not (cuda / "cuda_runtime.h").is_file():
        return f"no headers of CUDA in {cuda}: set CUDA_HOME"
    return [str(cute), str(cuda), str(cuda / "cccl")]


def run_cpp(cases: Sequence[Case], folder: Path) -> list[list[int]]:
    """Return what the program in C++ prints, which is built with checks of overflow; `cute_headers` are there."""
    headers, compiler = cute_headers(), shutil.which("g++")
    assert not isinstance(headers, str)
    assert compiler
    (folder / "program.cpp").write_text(in_cpp(cases), encoding="utf-8")
    options = ["-std=c++17", "-fsanitize=undefined", *(f"-isystem{folder}" for folder in headers)]
    run([compiler, *options, "program.cpp", "-o", "program"], folder)
    return numbers(run(["./program"], folder), ";")


def run(command: Sequence[str], folder: Path) -> str:
    """Return what a command prints; a failure shows what it says."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def run_python(program: str, folder: Path) -> str:
    """Return what a program of Python prints."""
    (folder / "program.py").write_text(program, encoding="utf-8")
    return run([sys.executable, "program.py"], folder)


def numbers(printed: str, end: str = "\n") -> list[list[int]]:
    """Return the numbers of each line."""
    return [list(map(int, re.findall(r"-?\d+", line))) for line in printed.split(end) if line.strip()]


def absent(peer: str) -> str:
    """Return why a peer is not run; nothing if it is."""
    if peer == "C++":
        found = cute_headers()
        return found if isinstance(found, str) else "" if shutil.which("g++") else "g++ is absent"
    try:
        return "" if find_spec(MODULES[peer]) else f"{MODULES[peer]} is absent"
    except ModuleNotFoundError:
        return f"{MODULES[peer]} is absent"


MODULES = {
    "pycute": "pycute",
    "tensor-layouts": "tensor_layouts",
    "CuTe DSL": "cutlass.cute",
    "Triton": "triton",
    "TVM": "tvm",
}
PYCUTE = "from pycute import Layout\nfrom pycute.swizzle import ComposedLayout, Swizzle\n"
RUN: Mapping[str, Callable[[Sequence[Case], Path], list[list[int]]]] = {
    "pycute": lambda cases, folder: numbers(run_python(in_python(cases, PYCUTE), folder)),
    "tensor-layouts": lambda cases, folder: numbers(
        run_python(in_python(cases, "from tensor_layouts import Layout\n"), folder)
    ),
    "C++": run_cpp,
    "CuTe DSL": lambda cases, folder: numbers(run_python(in_cute_dsl(cases), folder), ";"),
    "Triton": lambda cases, folder: numbers(run_python(in_triton(cases), folder)),
    "TVM": lambda cases, folder: numbers(run_python(in_tvm(cases), folder)),
}
"""What each peer prints for cases; C++ and CuTe DSL print each case twice: with dims at run time, and static."""
TWICE = ("C++", "CuTe DSL")


def _drawn(rng: random.Random) -> Case | None:
    """Return a random case of at most 64 offsets that fit 31 bits, some under a swizzle or made by the algebra."""
    a, b = drawn(rng, rng.randint(1, 3)), drawn(rng, rng.randint(1, 2))
    ways: list[Callable[[], sl.Layout]] = [lambda: a, lambda: a.composition(b), lambda: a.logical_divide(b), a.coalesce]
    try:
        made = rng.choice(ways)()
    except (sl.ShapeError, sl.InconclusiveError):
        return None
    here = [at for at in points(a, b, rng) if holds(made.requires, at)]
    if not here:
        return None
    at = rng.choice(here)
    is_swizzled = rng.random() < 0.3
    case = Case(sl.swizzle(rng.choice(["S<2,0,2>", "S<1,2,-2>", "S<3,1,3>"]))(made) if is_swizzled else made, at)
    modes = modes_at(made, at)
    is_small = len(modes) and number(made.size, at) <= 64 and sum(abs((n - 1) * d) for n, d in modes) < 1 << 30
    return case if is_small else None


def main(count: int, seed: int) -> None:
    """Print how many random cases each peer agrees with."""
    rng = random.Random(seed)
    cases: list[Case] = []
    while len(cases) < count:
        if (case := _drawn(rng)) is not None:
            cases.append(case)
    for peer, ask in RUN.items():
        if why := absent(peer):
            print(f"{peer}: skipped, {why}")
            continue
        asked = [case for case in cases if peer != "tensor-layouts" or isinstance(case.layout, sl.Layout)]
        with tempfile.TemporaryDirectory() as folder:
            found = ask(asked, Path(folder))
        times = 2 if peer in TWICE else 1
        expected = [case.offsets() for case in asked for _ in range(times)]
        wrong = [k // times for k, (x, y) in enumerate(zip(found, expected, strict=True)) if x != y]
        print(f"{peer}: {len(asked)} cases, {len(wrong)} wrong")
        for k in wrong:
            print("  WRONG", asked[k])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    main(given.count, given.seed)
