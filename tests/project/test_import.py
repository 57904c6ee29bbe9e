"""The import of the package: rooms that are not needed yet stay out, and every public name can be had."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import symlayout

LATER = (
    "sympy", "cffi", "onnx", "importlib.resources", "symlayout.frontends", "symlayout.maps", "symlayout.models",
    "symlayout.equivalence", "symlayout.run",
)  # fmt: skip


def printed(program: str) -> str:
    """Return what a Python program prints in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.slow
def test_the_import_leaves_out_what_most_programs_do_not_use() -> None:
    assert printed(f"import sys, symlayout; print([m for m in {LATER} if m in sys.modules])") == "[]\n"


@pytest.mark.slow
def test_every_public_name_is_listed_and_can_be_had() -> None:
    program = """
import symlayout
assert set(symlayout.__all__) <= set(dir(symlayout))
for name in symlayout.__all__:
    getattr(symlayout, name)
from symlayout import *
print(*(name for name in symlayout.__all__ if globals()[name] is not getattr(symlayout, name)))
"""
    assert printed(program) == "\n"


@pytest.mark.slow
def test_a_function_keeps_its_name_when_the_room_of_that_name_is_imported() -> None:
    program = (
        "import symlayout as sl\nsl.onnx, sl.optimize\nimport symlayout.compute.trace\nprint(sl.compute.__module__)"
    )
    assert printed(program) == "symlayout.tensors.computation\n"


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(symlayout, "space_to_dept")
