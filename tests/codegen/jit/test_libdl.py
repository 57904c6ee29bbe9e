"""The module by which cffi calls the system's loader is the one that `symlayout_codegen.jit.write_libdl` writes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from symlayout_codegen.jit import libdl, write_libdl


def test_the_written_module_is_current(tmp_path: Path) -> None:
    write_libdl.write(str(tmp_path / "libdl.py"))
    assert Path(libdl.__file__).read_text(encoding="utf-8") == (tmp_path / "libdl.py").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_kernel_is_loaded_without_the_front_end_of_cffi_and_its_parser() -> None:
    program = (
        "import sys, numpy, symlayout as sl;"
        "sl.compile(sl.flip(sl.tensor('N'), 0), strict=True)(numpy.arange(3));"
        "print([m for m in ('cffi', 'pycparser', 'symlayout_codegen.jit.libdl') if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "['symlayout_codegen.jit.libdl']\n"
