"""Where two models part: the first values that are not shown to be equal although all that they are made of is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.maps.evaluate_bodies import evaluated
from symlayout.maps.gather_elements import int_extents
from symlayout.ops.transpose import transpose
from symlayout.proof.congruence import Congruence
from symlayout.proof.decide_equal import attempt
from symlayout.tensors.chain import Tensor
from symlayout.walks import Walk

_MOST_COMPARED = 400  # pairs of values
_MOST_NEAR = 40  # values after that one operand is compared with, where the functions differ


@dataclass(slots=True)
class Frontier:
    """The search for the first values that part, from outputs inwards.

    Attributes
    ----------
    names : pair of dict
        The name of each value of both models, by ``id``.
    facts : Facts
        What holds for both.
    known : tuple of Congruence
        What is known of pairs of computed values.  Those with their axes in another order count as equal.
    """

    names: tuple[Mapping[int, str], Mapping[int, str]]
    facts: Facts
    known: tuple[Congruence, ...]
    _equal: dict[tuple[int, int], bool] = field(default_factory=dict)
    _proved: set[tuple[Tensor, Tensor]] = field(default_factory=set)
    _read: list[int] = field(default_factory=list)  # how many pairs of each of *known* are in `_proved` if proved

    def of(self, outputs: Iterable[tuple[Tensor, Tensor]]) -> list[tuple[Tensor, Tensor]]:
        """Return the pairs of values, each not shown to be equal, whose operands are, that *outputs* are made of."""
        found: list[tuple[Tensor, Tensor]] = []
        walk = Walk(list(outputs)[::-1])
        for a, b in walk:
            if more := [(p, q) for p, q in self._before(a, b) if self._have_names(p, q)]:
                walk.to(more[::-1])
            else:
                found.append((a, b))
        return found

    def _before(self, a: Tensor, b: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Return pairs of operands that are not shown to be equal; nothing if all operands are."""
        one, other = self._operands(a, 0), self._operands(b, 1)
        if a.body == b.body and len(one) == len(other):
            orders = [other, other[::-1]] if a.body is not None and a.body.symmetric else [other]
            open_ = [[(p, q) for p, q in zip(one, order, strict=True) if not self._are_equal(p, q)] for order in orders]
            return min(open_, key=len)
        near = self._near(b)
        missing = [p for p in one if not any(self._are_equal(p, q) for q in near)]
        pairs = []
        for p in missing:
            alike = [q for q in near if q.body == p.body and q.rank == p.rank and id(q) in self.names[1]]
            if not alike:
                return []
            pairs.append((p, alike[0]))
        return pairs

    def _have_names(self, a: Tensor, b: Tensor) -> bool:
        """Return whether two values are computed or moved, and have names: constants part where they are read."""
        return bool(a.inputs and b.inputs) and id(a) in self.names[0] and id(b) in self.names[1]

    def _are_equal(self, a: Tensor, b: Tensor) -> bool:
        key = id(a), id(b)
        if key not in self._equal:
            self._equal[key] = self._is_proved(a, b) or self._are_shown_equal(a, b)
        return self._equal[key]

    def _is_proved(self, a: Tensor, b: Tensor) -> bool:
        """Return whether two values are known to be equal, in some order of their axes."""
        self._read = self._read or [0] * len(self.known)
        for k, known in enumerate(self.known):
            news = islice(known.known.items(), self._read[k], None)  # pairs are only added, by attempts
            self._proved.update(pair[:2] for pair, why in news if why is not None)
            self._read[k] = len(known.known)
        return (a, b) in self._proved

    def _are_shown_equal(self, a: Tensor, b: Tensor) -> bool:
        """Return whether a short attempt shows that two values are equal, computed ones in another layout too."""
        if a.rank != b.rank or a.dtype != b.dtype or len(self._equal) >= _MOST_COMPARED:
            return False
        others = [b]
        if a.body is not None and a.body == b.body and a.rank > 2:  # channels first, and channels last
            inner = range(2, a.rank)
            others += [transpose(b, (0, *inner, 1)), transpose(b, (0, a.rank - 1, *range(1, a.rank - 1)))]
        tries = (attempt(a, other, self.facts, self.known[0], finite=False) for other in others)
        return any(not isinstance(found, str) for found in tries)

    def _operands(self, t: Tensor, side: int) -> list[Tensor]:
        """Return the named values, inputs and constants that a value is made of, in order."""
        found: list[Tensor] = []
        walk = Walk(t.inputs[::-1])
        for node in walk:
            if id(node) in self.names[side] or not node.inputs or node.body is not None:
                found.append(node)
            else:
                walk.to(node.inputs[::-1])
        return found

    def _near(self, t: Tensor) -> list[Tensor]:
        """Return the values after that *t* is made of, the nearest first."""
        found: dict[int, Tensor] = {}
        waiting = [t]
        while waiting and len(found) < _MOST_NEAR:
            node = waiting.pop(0)
            for operand in self._operands(node, 1):
                if id(operand) not in found:
                    found[id(operand)] = operand
                    waiting.append(operand)
        return list(found.values())


def parted_at(
    pair: tuple[Tensor, Tensor], dims: Mapping[str, int], arrays: Mapping[str, Any]
) -> tuple[tuple[int, ...] | None, Any, Any] | None:
    """Return where two values differ for inputs, *arrays* by key, and what they are there: elements, or two shapes.

    None if they are equal there, or cannot be computed.
    """
    try:
        a, b = (t.bind({n: v for n, v in dims.items() if n in t.facts.dims}) for t in pair)
        if a.extents != b.extents:
            return None, a.extents, b.extents
        made = evaluated([a, b], arrays)
        one, other = (np.broadcast_to(made[id(t)], int_extents(t)) for t in (a, b))
    except (ShapeError, InconclusiveError, KeyError):
        return None
    apart = np.flatnonzero((one != other) & ~((one != one) & (other != other)))
    if not apart.size:
        return None
    coord = tuple(int(c) for c in np.unravel_index(apart[0], one.shape))
    return coord, one[coord].item(), other[coord].item()
