"""The facts of tests/conformance as frozen rows, and what our frontends make of them.

`_verification.json`, `findings.json` and `disagreements.json` describe the rows and hold none.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import symlayout as sl

FOLDER = Path(__file__).parent
NO_ROWS = {"_verification.json", "disagreements.json", "findings.json", "symbolic.json"}

# The corpus has names of its own for some kinds.
KINDS = {"rank_too_low": "rank", "attr_shape": "length_mismatch", "attr_rank": "length_mismatch"}


@dataclass(frozen=True, slots=True)
class Row:
    """One fact: an operation with attributes, an input, and what is expected of it."""

    id: str
    op: str
    attrs: Mapping[str, Any]
    input: Mapping[str, Any]
    expect: Mapping[str, Any]
    rest: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kinds(self) -> set[str]:
        """The error kinds that the row allows; empty if it expects a result."""
        named = self.expect.get("error", "")
        return {KINDS.get(kind, kind) for kind in named.split("|")} - {""}

    @property
    def static_shape(self) -> tuple[int, ...] | None:
        """The shape of the input if it is known."""
        return tuple(self.input["shape"]) if "shape" in self.input else None

    def attributes(self) -> dict[str, Any]:
        """Return the attributes by name, as arrays of the type that the peer's attribute had."""
        given = {k: v for k, v in self.attrs.items() if k not in ("len", "M")}  # lengths, not attributes
        types = self.rest.get("attr_dtype")
        if types is None:
            return given
        each = [types] * len(given) if isinstance(types, str) else types
        return {
            name: np.array(value, dtype) if isinstance(value, list) else value
            for (name, value), dtype in zip(given.items(), each, strict=True)
        }

    def tensor(self) -> sl.Tensor:
        """Return the input as a tensor; intervals and unknowns become dims."""
        shape = self.input.get("shape", self.input.get("partial_shape"))
        if shape is not None:
            shape = [tuple(n) if isinstance(n, list) else n for n in shape]
        return sl.tensor(shape, dtype=self.input.get("dtype"), name="x")

    def array(self) -> np.ndarray[Any, Any]:
        """Return the input's values; ones where the row has none."""
        shape = self.input["shape"]
        values = self.input.get("values", "iota1")
        if isinstance(values, str):
            first = {"iota": 0, "iota1": 1}[values]
            values = np.arange(first, first + math.prod(shape))
        return np.array(values).astype(self.input.get("dtype", "float32")).reshape(shape)

    def apply(self, x: sl.Tensor, **attributes: Any) -> sl.Tensor:
        """Return the operation on *x*, with the row's attributes unless others are given."""
        result: sl.Tensor = sl.op(self.op)(x, **(attributes or self.attributes()))
        return result


def rows() -> Iterator[Row]:
    """Yield every row of the corpus."""
    for file in sorted(FOLDER.glob("*.json")):
        if file.name in NO_ROWS:
            continue
        for row in json.loads(file.read_text(encoding="utf-8")):
            op = f"{row.pop('framework')}:{row.pop('op')}"
            yield Row(row.pop("id"), op, row.pop("attrs"), row.pop("input"), row.pop("expect"), row)


def contains(outer: list[Any], inner: list[tuple[int | None, int | None]]) -> bool:
    """Return whether each of our intervals *inner* lies in the peer's (an int, -1, or ``[lo, hi]``)."""
    if len(outer) != len(inner):
        return False
    for theirs, (low, high) in zip(outer, inner, strict=True):
        lo, hi = theirs if isinstance(theirs, list) else (0, None) if theirs == -1 else (theirs, theirs)
        if low is None or low < lo or (hi is not None and (high is None or high > hi)):
            return False
    return True
