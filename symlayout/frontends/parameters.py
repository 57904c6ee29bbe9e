"""What the parameters of a framework's operation are, by its signature: tensors, constants, or attributes."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from symlayout.frontends.registry import find


@functools.lru_cache(maxsize=1024)
def takes_tensors(title: str) -> tuple[tuple[bool, ...], bool]:
    """Return for each parameter of an operation whether it takes a tensor, and the same for further inputs."""
    roles, rest = [], False
    for k, p in enumerate(inspect.signature(find(title)).parameters.values()):
        takes = "Tensor" in str(p.annotation) or k == 0
        if p.kind is inspect.Parameter.VAR_POSITIONAL:
            rest = takes
        elif p.kind is not inspect.Parameter.KEYWORD_ONLY:
            roles.append(takes)
    return tuple(roles), rest


@functools.lru_cache(maxsize=1024)
def takes_sizes(title: str) -> tuple[bool, ...]:
    """Return for each parameter of an operation whether it also takes integers that are computed from dims."""
    return tuple("Sizes" in str(p.annotation) for p in inspect.signature(find(title)).parameters.values())


@functools.lru_cache(maxsize=1024)
def needed_tensors(title: str) -> tuple[str, ...]:
    """Return the name of each parameter of an operation that a tensor has to be given for, else an empty text."""
    found = []
    for p in inspect.signature(find(title)).parameters.values():
        needed = str(p.annotation) == "Tensor" and p.default is inspect.Parameter.empty
        found.append(p.name if needed and p.kind is not inspect.Parameter.VAR_POSITIONAL else "")
    return tuple(found)


@functools.lru_cache(maxsize=1024)
def takes_outputs(title: str) -> bool:
    """Return whether an operation has to be told how many outputs are wanted."""
    return "outputs" in inspect.signature(find(title)).parameters


@functools.lru_cache(maxsize=1024)
def defaults_of(title: str) -> dict[str, Any]:
    """Return the default of each parameter of an operation that has one."""
    known = inspect.signature(find(title)).parameters.values()
    return {p.name: p.default for p in known if p.default is not inspect.Parameter.empty}
