"""Chains as data for another process: leaves, and the names and attributes of operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symlayout.tensors.apply_operation import apply
from symlayout.tensors.chain import ASSUMED, Tensor
from symlayout.tensors.input_tensor import unnamed_key


def pickled(t: Tensor) -> tuple[Callable[..., Tensor], tuple[Any, ...]]:
    """Return what pickle makes a chain of: `rebuilt`, and its records."""
    nodes = t.graph()
    place = {id(node): k for k, node in enumerate(nodes)}
    records: list[tuple[Any, ...]] = []
    for node in nodes:
        if (again := node.again) is None:
            records.append((None, node.name, node.dtype, node.extents, node.facts, node.key, node.values))
        else:
            records.append((tuple(place[id(i)] for i in node.inputs), *again.record()))
    return rebuilt, (records,)


def rebuilt(records: Sequence[tuple[Any, ...]]) -> Tensor:
    """Make the tensors that *records* describe, leaves and operations on earlier tensors; return the last one."""
    made: list[Tensor] = []
    token = ASSUMED.set(None)  # the records contain the assumptions
    try:
        for inputs, *record in records:
            if inputs is None:
                name, dtype, extents, facts, key, elements = record
                if elements is not None:
                    key = unnamed_key(name)  # another process's is taken
                made.append(Tensor(name, dtype, extents, facts, key=key, values=elements))
            else:
                operation, args, kwargs, values, own = record
                if own is None:  # a body
                    made.append(operation(tuple(made[k] for k in inputs), *args, values))
                    continue
                declaration = getattr(operation, "__wrapped__", operation)
                made.append(apply(declaration, tuple(made[k] for k in inputs), args, kwargs, values, own=own))
    finally:
        ASSUMED.reset(token)
    return made[-1]
