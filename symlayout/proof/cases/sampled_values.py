"""What the values of two sides are at one size: values that differ there are not equal, whatever laws are granted.

A graph has many values of one shape and one function, such as all sums along a residual stream.  To try to prove two of
them equal that are not takes longer than any proof of two that are.  So both sides are evaluated once, and a few
numbers are kept of each value: pairs whose numbers are far apart are left out.  This never proves anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any

import numpy as np

from symlayout.algebra.enumerate_sizes import sizes
from symlayout.algebra.facts import Facts
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.maps.evaluate_bodies import each_value, stirred
from symlayout.maps.gather_elements import int_extents
from symlayout.proof.counterexample import sample, work_of
from symlayout.tensors.chain import Tensor

Array = np.ndarray[Any, Any]

_LEAST = (3, 1)  # extents of dims: at those of 1, much is equal that is not at others
_MOST_SIZES = 2000  # sizes that are tried, to find one that is valid
_MOST_WORK = 1 << 33  # most elements that bodies read
_DRAW = 200  # elements of about 1
_APART = 2e-3  # of the size of the elements: rounding in another order does not explain more
_APART_SHORT = 0.05  # the same for elements of less than 4 bytes
_NOISE = 100  # times what rounding of the inputs changes a value by


@dataclass(slots=True, eq=False)
class SampledValues:
    """What the values that *sides* are made of are at one size for which *facts* hold."""

    facts: Facts
    sides: tuple[Sequence[Tensor], Sequence[Tensor]]
    _numbers: dict[int, Array] | None = None
    _noise: dict[int, Array] = field(default_factory=dict)

    @property
    def are_known(self) -> bool:
        """Whether the sides were evaluated."""
        return self._numbers is not None

    def differ(self, a: Tensor, b: Tensor, order: Sequence[int]) -> bool:
        """Return whether *b*, with its axes in this *order*, is seen not to be *a*; False if that is not known."""
        if self._numbers is None:
            self._numbers = {}
            self._evaluate()
        x, y = self._numbers.get(id(a)), self._numbers.get(id(b))
        if x is None or y is None:
            return False
        in_order = list(order) == list(range(a.rank))  # else only what does not depend on it is compared
        noise = self._noise.get(id(a), np.zeros_like(x))
        share = _APART if a.dtype is None or a.dtype.itemsize >= 4 or a.dtype.kind in "biu" else _APART_SHORT
        apart = np.abs(x - y) > share * np.maximum(x[-1], y[-1]) + _NOISE * noise
        return bool(np.any(apart if in_order else apart[_PLACED:]))

    def _evaluate(self) -> None:
        """Evaluate both sides, and the first one again with inputs that are changed by rounding."""
        sides = list({id(t): t for side in self.sides for t in side}.values())
        nodes = list({id(node): node for t in sides for node in t.graph()}.values())
        given = {name for node in nodes if not node.inputs for name in node.facts.dims}
        if not self.facts.dims.keys() <= given:  # an extent depends on data
            return
        found = self._bound(nodes)
        if found is None:
            return
        assert self._numbers is not None
        arrays = {leaf.key: sample(leaf, _DRAW) for t in sides for leaf in found[id(t)].arguments()}
        moved = {key: stirred(array) for key, array in arrays.items()}
        first = [t for side in self.sides[:1] for t in side]
        for tensors, given_arrays, numbers in ((sides, arrays, self._numbers), (first, moved, self._noise)):
            names = {id(found[id(node)]): id(node) for t in tensors for node in t.graph()}
            for node, value in each_value([found[id(t)] for t in tensors], given_arrays, partial=True):
                if node.body is not None and value is not None and (made := _numbers_of(value, node)) is not None:
                    numbers[names[id(node)]] = made
        self._noise = {key: np.abs(x - self._numbers[key]) for key, x in self._noise.items() if key in self._numbers}

    def _bound(self, nodes: Sequence[Tensor]) -> dict[int, Tensor] | None:
        """Return *nodes*, each after its inputs, by ``id`` and at a small size that is valid; None without one."""
        evaluation = self.facts.evaluation()
        for least in _LEAST:
            for values in islice(sizes(self.facts, dict.fromkeys(self.facts.dims, least)), _MOST_SIZES):
                known = evaluation(values)
                if self.facts.failing(known) is not None:
                    continue
                try:
                    made = _made(nodes, values)
                    work = work_of(made.values())
                except (ShapeError, InconclusiveError):
                    continue
                if work <= _MOST_WORK:
                    return made
                break
        return None


def _made(nodes: Sequence[Tensor], values: Mapping[str, int]) -> dict[int, Tensor]:
    made: dict[int, Tensor] = {}
    for node in nodes:
        made[id(node)] = node.remade(tuple(made[id(t)] for t in node.inputs), values)
    return made


_PLACED = 2  # numbers that depend on the places of the elements


def _numbers_of(value: Array, node: Tensor) -> Array | None:
    """Return two weighted sums of the elements, their mean, the mean of their sizes, and the root of that of squares.

    Each is as large as the elements are.  None is returned if there are none, or if some are no finite numbers.
    """
    if value.dtype.kind not in "biuf" or not value.size or not (size := int(np.prod(int_extents(node)))):
        return None
    flat = np.broadcast_to(value, int_extents(node)).astype(np.float64).ravel()
    if not np.isfinite(flat).all():
        return None
    placed = [_weighted(flat, weights) / np.sqrt(size) for weights in _weights()]
    return np.array([*placed, flat.mean(), np.abs(flat).mean(), np.sqrt(np.square(flat).mean())])


def _weighted(flat: Array, weights: Array) -> float:
    """Return a weighted sum; the weights start again after the last one."""
    whole = flat.size // weights.size * weights.size
    blocks = flat[:whole].reshape(-1, weights.size) @ weights
    return float(blocks.sum() + flat[whole:] @ weights[: flat.size - whole])


@cache
def _weights() -> Array:
    """Return weights for the elements: a prime number of them, so that no axis is as long as they are."""
    return np.random.default_rng(0).standard_normal((_PLACED, 65_521))
