"""What the values of two sides are at one size: values that differ there are not equal, whatever laws are granted.

A graph has many values of one shape and one function, such as all sums along a residual stream.  To try to prove two of
them equal that are not takes longer than any proof of two that are.  So both sides are evaluated once, and a few
numbers are kept of each value: pairs whose numbers are far apart are left out.  So are pairs of elements, such as those
of a query and a key that one product computes: they are looked up at a few places.  This never proves anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, evaluate, names_of
from symlayout.algebra.search.enumerate_sizes import sizes
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.maps.evaluate_bodies import each_value, stirred
from symlayout.maps.gather_elements import int_extents
from symlayout.proof.counterexample import inputs_drawn, work_of
from symlayout.tensors.chain import Tensor, graph_of, rebuilt

Array = np.ndarray[Any, Any]

_LEAST = ((3, 1 << 28), (2, 1 << 33), (1, 1 << 33))
"""Extents of dims, and the most elements that bodies read there; at those of 1, much is equal that is not at others."""

_MOST_SIZES = 2000  # sizes that are tried, to find one that is valid
_DRAW = 200  # elements of about 1
_APART = 2e-3  # of the size of the elements: rounding in another order does not explain more
_APART_SHORT = 0.05  # the same for elements of less than 4 bytes
_PLACES = 4  # at which elements are compared
_MOST_KEPT = 1 << 28  # bytes of elements that are kept
_NOISE = 100  # times what rounding of the inputs changes a value by


@dataclass(slots=True, eq=False)
class SampledValues:
    """What the values that *sides* are made of are at one size for which *facts* hold."""

    facts: Facts
    sides: tuple[Sequence[Tensor], Sequence[Tensor]]
    _numbers: dict[int, Array] | None = None
    _noise: dict[int, Array] = field(default_factory=dict)
    _size: dict[str, int] = field(default_factory=dict)  # the values of all symbols there
    _elements: dict[int, Array] = field(default_factory=dict)
    _element_noise: dict[int, float] = field(default_factory=dict)

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
        apart = np.abs(x - y) > _share(a) * np.maximum(x[-1], y[-1]) + _NOISE * noise
        return bool(np.any(apart if in_order else apart[_PLACED:]))

    def differ_at(self, a: Tensor, b: Tensor, at: Sequence[Extent], bt: Sequence[Extent], facts: Facts) -> bool:
        """Return whether *a* at *at* is seen not to be *b* at *bt*, at a place where *facts* hold.

        False if that is not known.
        """
        if self._numbers is None or id(a) not in self._elements or id(b) not in self._elements:
            return False
        arrays = self._elements[id(a)], self._elements[id(b)]
        size = max(float(self._numbers[id(t)][-1]) for t in (a, b))
        share = _share(a)
        for trial in range(_PLACES):
            place = facts.point(self._size, trial)
            if place is None:
                return False
            x, y = (_element(*read, place) for read in zip(arrays, (at, bt), strict=True))
            if x is None or y is None:
                return False
            if abs(x - y) > share * max(abs(x), abs(y), size) + _NOISE * self._element_noise.get(id(a), 0.0):
                return True
        return False

    def _evaluate(self) -> None:
        """Evaluate both sides, and the first one again with inputs that are changed by rounding."""
        sides = list({id(t): t for side in self.sides for t in side}.values())
        nodes = graph_of(sides)
        given = {name for node in nodes if not node.inputs for name in node.facts.dims}
        if not self.facts.dims.keys() <= given:  # an extent depends on data
            return
        found = self._bound(nodes)
        if found is None:
            return
        assert self._numbers is not None
        arrays = inputs_drawn([found[id(t)] for t in sides], _DRAW)
        moved = {key: stirred(array) for key, array in arrays.items()}
        first = [t for side in self.sides[:1] for t in side]
        kept = 0
        for tensors, given_arrays, numbers in ((sides, arrays, self._numbers), (first, moved, self._noise)):
            names = {id(found[id(node)]): id(node) for node in graph_of(tensors)}
            for node, value in each_value([found[id(t)] for t in tensors], given_arrays, partial=True):
                if node.body is None or value is None or (made := _numbers_of(value, node)) is None:
                    continue
                name = names[id(node)]
                numbers[name] = made
                if numbers is self._noise and name in self._elements:
                    self._element_noise[name] = _largest_difference(value, self._elements[name])
                elif numbers is self._numbers and kept + value.nbytes <= _MOST_KEPT:
                    kept += value.nbytes
                    self._elements[name] = np.broadcast_to(value, int_extents(node))
        self._noise = {key: np.abs(x - self._numbers[key]) for key, x in self._noise.items() if key in self._numbers}

    def _bound(self, nodes: Sequence[Tensor]) -> dict[int, Tensor] | None:
        """Return *nodes*, each after its inputs, by ``id`` and at a small size that is valid; None without one."""
        evaluation = self.facts.evaluation()
        for least, most_work in _LEAST:
            for values in islice(sizes(self.facts, dict.fromkeys(self.facts.dims, least)), _MOST_SIZES):
                known = evaluation(values)
                if self.facts.failing(known) is not None:
                    continue
                try:
                    made = rebuilt(nodes, lambda node, inputs, own=values: node.remade(inputs, own))  # type: ignore[misc]
                    work = work_of(made.values())
                except (ShapeError, InconclusiveError):
                    continue
                if work <= most_work:
                    self._size = known
                    return made
                break
        return None


_PLACED = 2  # numbers that depend on the places of the elements


def _share(t: Tensor) -> float:
    """Return which part of the size of its elements rounding in another order does not explain."""
    return _APART if t.dtype is None or t.dtype.itemsize >= 4 or t.dtype.kind in "biu" else _APART_SHORT


def _element(array: Array, at: Sequence[Extent], place: Mapping[str, int]) -> float | None:
    """Return the element that is read where symbols have these values; None if they say of no element."""
    if not all(names_of(e) <= place.keys() for e in at):
        return None
    coords = tuple(evaluate(e, place) for e in at)
    if len(coords) != array.ndim or not all(0 <= c < n for c, n in zip(coords, array.shape, strict=True)):
        return None
    return float(array[coords])


def _largest_difference(a: Array, b: Array) -> float:
    return float(np.abs(a.astype(np.float64) - b).max(initial=0.0))


def _numbers_of(value: Array, node: Tensor) -> Array | None:
    """Return two weighted sums of the elements, their mean, the mean of their sizes, and the root of that of squares.

    Each is as large as the elements are.  None is returned if there are none, or if some are no finite numbers.
    """
    if value.dtype.kind not in "biuf" or not value.size or not (size := int(np.prod(int_extents(node)))):
        return None
    flat = np.broadcast_to(value, int_extents(node)).astype(np.float64).ravel()
    if not np.isfinite(flat).all():
        return None
    placed = _weighted(flat) / np.sqrt(size)
    return np.array([*placed, flat.mean(), np.abs(flat).mean(), np.sqrt(np.square(flat).mean())])


def _weighted(flat: Array) -> Array:
    """Return the weighted sums; the weights start again after the last one."""
    weights = _weights()
    length = weights.shape[1]
    whole = flat.size // length * length
    folded = flat[:whole].reshape(-1, length).sum(axis=0)
    folded[: flat.size - whole] += flat[whole:]
    return np.asarray((weights * folded).sum(axis=1))  # a product of matrices would start threads


@cache
def _weights() -> Array:
    """Return weights for the elements: a prime number of them, so that no axis is as long as they are."""
    return np.random.default_rng(0).standard_normal((_PLACED, 65_521))
