"""What users know of the dims of a model's inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symlayout.algebra.facts import Dim
from symlayout.errors import FormatError, ShapeError, shown
from symlayout.language import sympy_bridge
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import as_list, is_list


class KnownDims:
    """Values and bounds of dims, by name, for the inputs of one model.

    Raises
    ------
    ShapeError
        ``length_mismatch`` for bounds that are not a pair, ``infeasible`` for an empty range.
    """

    def __init__(self, dims: Mapping[str, Any]) -> None:
        self._values = {name: _value(name, given) for name, given in dims.items()}
        self._met: dict[str, None] = {}

    def of_leaf(self, leaf: Tensor) -> Tensor:
        """Return an input with what is known of its dims."""
        self._met |= dict.fromkeys(leaf.facts.dims)
        return leaf.subs({name: value for name, value in self._values.items() if name in leaf.facts.dims})

    def check_used(self) -> None:
        """Raise `FormatError` if a dim is in the shape of no input."""
        if unknown := [name for name in self._values if name not in self._met]:
            raise FormatError(f"{shown(unknown[0])} is a dim of no input\n  known: {', '.join(self._met) or 'none'}")


def _value(name: str, given: Any) -> Any:
    """Return a value for `Tensor.subs`; a pair becomes the dim with these bounds."""
    if not is_list(given):
        return given
    bounds = as_list(given)
    if len(bounds) != 2:
        raise ShapeError(f"dims: {name} = {shown(given)} is not a pair (lo, hi)", "length_mismatch")
    low, high = (None if e is None else sympy_bridge.whole(e, name) for e in bounds)
    if low is not None and high is not None and low > high:
        raise ShapeError(f"dims: {name} = {shown(given)} is an empty range", "infeasible")
    return low if low == high and low is not None else sympy_bridge.symbol_of(Dim(name, low, high))
