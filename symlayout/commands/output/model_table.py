"""The shapes of a model's values, as a table for people and as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symlayout.errors import one_line
from symlayout.models.model import TENSOR, Model, Unshaped
from symlayout.show import wording
from symlayout.tensors.chain import Tensor
from symlayout.tensors.element_types import type_name

_WIDEST = 60  # characters of a name; a longer one keeps its end


def table(model: Model, *, every: bool) -> str:
    """Return the values of a model as lines: name, shape, element type, operation.

    Parameters
    ----------
    every : bool
        Whether all values are listed, or inputs and outputs only.
    """
    rows = [("", "shape", "type", "from")]
    rows += [_row(name, t, "input") for name, t in model.inputs.items()]
    for name in model.tensors if every else ():
        if (node := model.producer(name)) is not None and name not in model.outputs:
            rows.append(_row(name, model.tensors[name], one_line(node.op_type)))
    for name, t in model.outputs.items():
        node = model.producer(name)
        rows.append(_row(name, t, f"output, {one_line(node.op_type)}" if node else "output"))
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, (*widths, 0), strict=True)) for row in rows]
    demands: dict[str, list[str]] = {}
    for t in model.outputs.values():
        for r, nodes in zip(t.requires, model.asked_by(t), strict=True):
            demands.setdefault(wording.words(r), nodes)
    for k, (text, nodes) in enumerate(demands.items()):
        by = f"  [{'; '.join(nodes)}]" if nodes else ""
        lines.append(f"{'requires' if k == 0 else '':10}{text}{by}")
    lines += [f"note      {note}" for note in model.notes]
    return "\n".join(line.rstrip() for line in lines)


def _row(name: str, t: Tensor | Unshaped, source: str) -> tuple[str, str, str, str]:
    shown = name if len(name) <= _WIDEST else f"...{name[3 - _WIDEST :]}"
    unknown = "any" if isinstance(t, Tensor) or t.kind == TENSOR else t.kind
    return one_line(shown), wording.shape(t.shape), type_name(t.dtype) or unknown, source


def data(model: Model, *, every: bool) -> Mapping[str, Any]:
    """Return what `table` shows as JSON data: for each value its shape, element type and operation."""
    names = [*model.inputs, *(n for n in model.tensors if every and model.producer(n) is not None), *model.outputs]
    found = {}
    for name in dict.fromkeys(names):
        t = model.outputs[name] if name in model.outputs else model.tensors[name]
        node = model.producer(name)
        found[name] = {
            "shape": wording.shape_data(t.shape),
            "dtype": type_name(t.dtype),
            "kind": TENSOR if isinstance(t, Tensor) else t.kind,
            "op": None if node is None else node.op_type,
        }
    return found
