"""Every public name says what it does, of which parameters, with which errors, from which source, by an example.

That the examples are right is for doctest, which runs them all; here they are asked for.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest

import symlayout as sl
from symlayout.frontends import registry

# `check` refuses what is no certificate, `reasons` are of a tensor that was made, and the others answer UNKNOWN.
RAISES_NOTHING = {"check", "is_identity", "is_injective", "is_surjective", "reasons"}
PUBLIC = {name: getattr(sl, name) for name in sl.__all__}
FUNCTIONS = {name: value for name, value in PUBLIC.items() if inspect.isfunction(value)}
CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}
OF_FRAMEWORKS = {name: registry.find(name) for name in registry.names()}
CORE = {name: f for name, f in FUNCTIONS.items() if f.__module__.startswith("symlayout.ops.")}


def text(value: object) -> str:
    return inspect.getdoc(value) or ""


def section(value: object, title: str) -> str:
    """Return what stands under a NumPy heading of a docstring; empty if it has no such heading."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", text(value), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True)).get(title, "")


def parameters(function: Callable[..., Any]) -> set[str]:
    """Return the names that have to be explained: all but the operand of a core operation."""
    names = list(inspect.signature(function).parameters)
    return set(names[1:] if function.__module__.startswith("symlayout.ops.") else names)


def explained(function: Callable[..., Any]) -> set[str]:
    """Return the names before the colons of the section Parameters."""
    heads = re.findall(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: :|$)", section(function, "Parameters"), re.MULTILINE)
    return {name.strip("* ") for head in heads for name in head.split(",")}


def test_everything_public_is_a_function_a_class_a_module_or_the_limits() -> None:
    rest = PUBLIC.keys() - FUNCTIONS.keys() - CLASSES.keys()
    assert rest == {"einops", "limits", "onnx", "openvino", "tensorflow", "torch"}
    assert len(CORE) > 20
    assert len(OF_FRAMEWORKS) > 50


@pytest.mark.parametrize("name", [*PUBLIC, *OF_FRAMEWORKS])
def test_it_begins_with_a_sentence_of_one_line(name: str) -> None:
    first, _, rest = text((PUBLIC | OF_FRAMEWORKS)[name]).partition("\n")
    assert first.endswith((".", "``"))
    assert not rest or rest.startswith("\n")


@pytest.mark.parametrize("name", [*PUBLIC, *OF_FRAMEWORKS])
def test_it_has_an_example_that_doctest_runs(name: str) -> None:
    assert ">>> " in text((PUBLIC | OF_FRAMEWORKS)[name])
    assert "+SKIP" not in text((PUBLIC | OF_FRAMEWORKS)[name])


@pytest.mark.parametrize("name", [*FUNCTIONS, *OF_FRAMEWORKS])
def test_every_parameter_is_explained(name: str) -> None:
    function = (FUNCTIONS | OF_FRAMEWORKS)[name]
    assert parameters(function) - explained(function) == set()


@pytest.mark.parametrize("name", [*FUNCTIONS, *OF_FRAMEWORKS])
def test_the_errors_are_listed(name: str) -> None:
    assert name in RAISES_NOTHING or section((FUNCTIONS | OF_FRAMEWORKS)[name], "Raises")


@pytest.mark.parametrize("name", [*CORE, *OF_FRAMEWORKS])
def test_an_operation_says_where_it_comes_from(name: str) -> None:
    assert section((CORE | OF_FRAMEWORKS)[name], "References")


@pytest.mark.parametrize("name", [n for n, c in CLASSES.items() if not issubclass(c, Enum | Exception)])
def test_the_attributes_of_a_class_are_explained(name: str) -> None:
    assert section(CLASSES[name], "Attributes")


def test_a_signature_names_what_a_caller_passes() -> None:
    """An operation is declared on operands and called with tensors."""
    assert str(inspect.signature(sl.flip)) == "(x: 'Tensor', /, axis: 'Any' = None) -> 'Tensor'"
    assert str(inspect.signature(sl.stack)) == "(x: 'Sequence[Tensor]', /, axis: 'int' = 0) -> 'Tensor'"
    assert not [name for name, f in CORE.items() if re.search("Operand|Declared", str(inspect.signature(f)))]
