"""Old paths of modules lead to the new ones."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

import pytest

import symlayout.moved
import symlayout_codegen.moved

PAIRS = [
    (f"{package}.{old}", f"{package}.{new}")
    for package, module in (("symlayout", symlayout.moved), ("symlayout_codegen", symlayout_codegen.moved))
    for old, new in module.MOVED.items()
]


def imported(name: str) -> ModuleType:
    return importlib.import_module(name)


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_where_a_module_moved_there_is_one(old: str, new: str) -> None:
    assert old != new
    assert importlib.util.find_spec(new) is not None
