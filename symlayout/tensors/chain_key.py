"""A key for what a chain does to a tensor: equal keys belong to equal chains on equal shapes with equal facts.

Tensors that are made twice, as when a model is read again after a rewrite, have no other identity in common.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.tensors.attribute_key import attribute_key
from symlayout.tensors.chain import Tensor
from symlayout.walks import settle

_MAX_BYTES = 1 << 16  # of a constant in a key


class _NoKeyError(Exception):
    """Something in the chain has no key."""


def chain_key(source: Tensor, value: Tensor, leaf: Tensor | None = None) -> Hashable | None:
    """Return a key for the movement from *source* to *value*; None if there is none.

    The key has the source's element type, shape and facts, or those of a leaf in its place, and each operation after
    it with its attributes.

    Examples
    --------
    >>> import symlayout as sl
    >>> x, y = sl.tensor("N, C", name="x"), sl.tensor("N, C", name="y")
    >>> chain_key(x, sl.transpose(x)) == chain_key(y, sl.transpose(y))
    True
    >>> chain_key(x, sl.transpose(x)) == chain_key(x, sl.flip(x))
    False
    """
    places = {source: 0}
    steps: list[Hashable] = []

    def placed(at: Tensor) -> int:
        steps.append(_step(at, tuple(places[x] for x in at.inputs)))
        return len(places)

    try:
        settle(value, lambda at: at.inputs, places, placed)
        start = source if leaf is None else leaf
        return str(start.dtype), start.extents, _facts(start.facts), tuple(steps)
    except _NoKeyError:
        return None


def step_key(t: Tensor, inputs: tuple[int, ...]) -> Hashable | None:
    """Return a key for the last step of a chain on *inputs*, or for a constant; None if there is none.

    Equal keys on the same inputs belong to equal values.
    """
    try:
        return _step(t, inputs)
    except _NoKeyError:
        return None


def _step(t: Tensor, inputs: tuple[int, ...]) -> Hashable:
    if t.values is not None:
        return _frozen(t.values)
    record = t.recorded()
    if record is None:
        raise _NoKeyError
    return inputs, tuple(_frozen(part) for part in record)


def _facts(facts: Facts) -> Hashable:
    """Return what tells facts apart: the dims, their requirements, and what other symbols stand for."""
    stated = tuple((r.kind, r.relation, r.value, r.modulus) for r in facts.requirements)
    return tuple(facts.dims.values()), stated, tuple(facts.definitions.items())


def _frozen(part: Any) -> Hashable:
    """Return the key of an attribute; `_NoKeyError` if it has none, or would be long."""
    if isinstance(part, np.ndarray) and part.nbytes > _MAX_BYTES:
        raise _NoKeyError
    if isinstance(part, list | tuple):
        return type(part), tuple(map(_frozen, part))
    if isinstance(part, slice):  # slices have no hash before Python 3.12
        return slice, tuple(map(_frozen, (part.start, part.stop, part.step)))
    if isinstance(part, Mapping):
        return type(part), tuple((name, _frozen(p)) for name, p in part.items())
    try:
        return attribute_key(part)
    except TypeError:
        raise _NoKeyError from None
