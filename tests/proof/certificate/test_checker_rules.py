"""The rules of the checker: each is known to the schema of steps by one name, and says what it shows."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

from symlayout.proof.certificate.checker import blocks, points, rules


@pytest.mark.parametrize("module", [rules, points], ids=lambda module: module.__name__.rpartition(".")[2])
def test_every_rule_can_be_a_step(module: ModuleType) -> None:
    steps = inspect.getsource(blocks)
    public = [f for name, f in vars(module).items() if inspect.isfunction(f) and f.__module__ == module.__name__]
    found = [f for f in public if not f.__name__.startswith("_")]
    assert found
    for rule in found:
        assert f"{module.__name__.rpartition('.')[2]}.{rule.__name__}," in steps, rule.__name__
        assert rule.__doc__, rule.__name__
