"""Where a fused function and the chain with its formula part: at signed zeros, infinities and NaN.

A formula is one over real numbers.  What a function and a chain make of other floats is evaluated: operand by operand,
at the smallest size that is valid, with one value in all places of an operand.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from symlayout.algebra.search.enumerate_sizes import sizes
from symlayout.compute.fixed_kinds import kind
from symlayout.errors import SymlayoutError
from symlayout.maps.evaluate_bodies import evaluated
from symlayout.maps.gather_elements import int_extents
from symlayout.tensors.chain import Tensor
from symlayout.tensors.stand_in import rebased, stand_in

SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan)
_MOST_SIZES = 100  # that are tried until one is valid
_MOST_OPERANDS = 3  # of which all combinations are evaluated
_MOST_NAMED = 4  # values at which both part

Array = np.ndarray[Any, Any]


class Formula(NamedTuple):
    """A fused function, a chain with its formula, and the values that are operands of both, in pairs."""

    function: Tensor
    chain: Tensor
    operands: tuple[tuple[Tensor, Tensor], ...]


def parts_at(formula: Formula) -> tuple[str, ...] | None:
    """Return at which special values of the operands both sides part, as text; None if that cannot be evaluated.

    They part where one is NaN, infinite, or a zero of a sign, and the other is not.
    """
    found = _on_operands(formula)
    if found is None or not formula.operands or len(found[0].arguments()) > _MOST_OPERANDS:
        return None
    for values in islice(sizes(found[0].facts), _MOST_SIZES):
        try:
            sides = [t.bind({k: v for k, v in values.items() if k in t.facts.dims}) for t in found]
            shapes = [int_extents(leaf) for leaf in sides[0].arguments()]
            if not all(0 not in shape for shape in (int_extents(sides[0]), *shapes)):
                continue
            return tuple(islice(_apart(sides), _MOST_NAMED))
        except SymlayoutError:
            continue
    return None


def _on_operands(formula: Formula) -> tuple[Tensor, Tensor] | None:
    """Return both sides as functions of their operands alone; None if they read other values."""
    made: list[Tensor] = []
    numbers = {id(x): k for k, (x, _) in enumerate(formula.operands)}  # a chain may have one operand several times
    for side, t in enumerate((formula.function, formula.chain)):
        keys = [(pair[side], f"operand {numbers[id(pair[0])]}") for pair in formula.operands]
        stands = {id(x): stand_in(x, x.facts.dims.keys(), key) for x, key in keys}
        found = rebased(t, stands)
        if found is None:
            return None
        made.append(found)
    return made[0], made[1]


def _apart(sides: Sequence[Tensor]) -> Iterator[str]:
    leaves = {leaf.key: leaf for t in sides for leaf in t.arguments()}
    for chosen in itertools.product(SPECIAL, repeat=len(leaves)):
        arrays = {
            key: np.full(int_extents(leaf), value).astype(leaf.dtype or np.float64)
            for (key, leaf), value in zip(sorted(leaves.items()), chosen, strict=True)
        }
        a, b = _values(sides, arrays)
        if bool((kind(a) != kind(b)).any()):
            place = np.flatnonzero(kind(a) != kind(b))[0]
            yield f"{', '.join(map(str, chosen))}: {a.reshape(-1)[place]} and {b.reshape(-1)[place]}"


def _values(sides: Sequence[Tensor], arrays: Mapping[str, Array]) -> list[Array]:
    with np.errstate(all="ignore"):
        found = evaluated(sides, arrays)
    return [np.broadcast_to(found[id(t)], int_extents(t)).astype(np.float64) for t in sides]
