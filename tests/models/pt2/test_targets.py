"""The rows of PyTorch's operators beside PyTorch's own schemas: names of arguments and their defaults."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from symlayout.frontends import find, is_known
from symlayout.models.formats.pt2_targets import IGNORED, TARGETS, OperatorRow

_NONE: tuple[Any, ...] = (None, (), [], "")
_MEANS_THE_SAME = {("padding", 0, "valid"), ("unbiased", None, True)}


def _same(ours: Any, theirs: Any) -> bool:
    if ours in _NONE and theirs in _NONE:
        return True
    if isinstance(theirs, list) and theirs:
        return bool(ours == theirs or [ours] * len(theirs) == theirs)
    return type(ours) in (int, float, bool, str) and (ours == theirs or (ours == "none" and theirs == "none"))


@pytest.mark.parametrize("target", TARGETS)
def test_each_row_has_a_declaration(target: str) -> None:
    assert is_known(TARGETS[target].title)
    assert target.split(".")[0] == "aten"


@pytest.mark.parametrize("target", TARGETS)
def test_arguments_and_defaults_are_those_of_the_schema(target: str) -> None:
    torch = pytest.importorskip("torch", reason="schemas of operators are PyTorch's")
    row: OperatorRow = TARGETS[target]
    _, base, overload = target.split(".")
    packet = getattr(torch.ops.aten, base)
    schema = getattr(packet, overload)._schema
    parameters = inspect.signature(find(row.title)).parameters
    names = dict(row.names)
    for argument in schema.arguments:
        name = names.get(argument.name, "input" if argument.name == "self" else argument.name)
        if argument.name in row.rest or (argument.name in IGNORED and name not in parameters):
            continue
        assert name in parameters, f"{target} has {argument.name}"
        default = parameters[name].default
        if argument.has_default_value() and default is not inspect.Parameter.empty:
            same = _same(default, argument.default_value)
            assert same or (name, default, argument.default_value) in _MEANS_THE_SAME, f"{target}: {name} is {default}"
        if argument.has_default_value() and default is inspect.Parameter.empty:
            assert argument.default_value is None or argument.name in row.rest, f"{target}: {name} has a default"
