"""What the docstrings and example scripts of each extra show is what happens; of its page, see `test_docs`."""

from __future__ import annotations

import doctest
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

# By the packages that they need: a module, and its script.
CASES = {
    "torch": (["torch"], "torch", "torch_op.py"),
    "jax": (["jax"], "jax", "jax_function.py"),
    "chunked": ([], "chunked", "big_arrays.py"),
    "models": ([], "shape_function", "model_shapes.py"),
    "dask": (["dask"], "dask", "dask_chunks.py"),
}


@pytest.mark.parametrize("name", CASES)
def test_docstrings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    packages, module, _ = CASES[name]
    for package in packages:
        pytest.importorskip(package, reason=f"{package} is not installed")
    shown = doctest.testmod(importlib.import_module(f"symlayout.interop.{module}"), optionflags=OPTIONS)
    assert (shown.failed, shown.attempted > 0) == (0, True)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", CASES)
def test_script(name: str, tmp_path: Path) -> None:
    packages, _, script = CASES[name]
    for package in packages:
        pytest.importorskip(package, reason=f"{package} is not installed")
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT), str(ROOT / "codegen")]))
    command = [sys.executable, str(ROOT / "examples" / script)]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert "False" not in done.stdout
