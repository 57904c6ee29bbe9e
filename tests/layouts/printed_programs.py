"""Programs that run printed layouts in other libraries: each prints the offsets of every coordinate, a line for a case.

A program is a text for a process of its own, so that a peer meets only what is printed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import symlayout as sl
from tests.layouts.brute_layouts import value
from tests.layouts.brute_symbols import modes_at, number


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

    def offsets(self) -> list[int]:
        """Return the offsets by the definition of a layout, in the order of the numbers of coordinates."""
        inner = self._inner()
        modes = modes_at(inner, dict(self.dims))
        count = number(inner.size, dict(self.dims))
        plain = [value(modes, k) for k in range(count)]
        if isinstance(self.layout, sl.Layout):
            return plain
        start = number(self.layout.offset, dict(self.dims))
        return [self.layout.swizzle(start + n) for n in plain]


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
        count = len(case.offsets())
        parts.append(f"def f{k}({_names(case)}):\n{body}\na = f{k}({_values(case)})")
        parts.append(f"print(*[a(k) for k in range({count})])")
    return "\n".join(parts)


def in_cute_dsl(cases: Sequence[Case]) -> str:
    """Return a program for CuTe's Python: dims are numbers at run time, then static."""
    parts = ["import cutlass, cutlass.cute as cute\nfrom cutlass import Int32\n"]
    for k, case in enumerate(cases):
        show = f"for k in range({len(case.offsets())}):\n    cute.printf('{{}} ', a(k))\ncute.printf(';')"
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
        sizes, count = case.sizes(), len(case.offsets())
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
        "    print(*[int(m.map_indices([*map(n, dims), *map(n, at)])[0]) for at in places(*sizes)])\n"
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
        'template <class A> void show(A const& a, int n) { for (int k = 0; k < n; ++k) std::printf("%d ", int(a(k)));'
        ' std::printf(";"); }\n'
    ]
    for k, case in enumerate(cases):
        types = ", ".join(f"class T{axis}" for axis in range(len(case.dims)))
        head = f"template <{types}> " if types else ""
        takes = ", ".join(f"T{axis} {name}" for axis, name in enumerate(case.dims))
        body = _indented(case.layout.to_cute_cpp())
        parts.append(f"{head}void f{k}({takes}) {{\n{body}  show(a, {len(case.offsets())});\n}}")
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
    return [list(map(int, line.split())) for line in printed.split(end) if line.strip()]
