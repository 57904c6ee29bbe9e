"""Which values of one computation are blocks of the values of another: rows of a step beside those of a whole run.

Values are compared in order, operands before what is made of them.  A value of the part is a block of a value of the
whole, if both are one function at each coordinate, and if each of its views is the block of the other's view.  Computed
values stand as leaves in these views, so that each claim is about movement alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from symlayout.algebra.facts import Facts
from symlayout.errors import SymlayoutError
from symlayout.ops.slicing import getitem
from symlayout.proof.prove import prove_on
from symlayout.proof.verdict import Verdict
from symlayout.tensors.chain import Tensor, graph_of

_MOST_PAIRS = 24  # values of the whole that one value is compared with
_POINTS = 40  # sizes at which movements are told apart


class Blocks:
    """The values of a whole computation, and the values of a part of it as blocks of them.

    Parameters
    ----------
    whole : iterable of Tensor
        What is computed of all rows.
    domain : Facts
        The sizes that the claims are about: what the outputs of both computations demand.
    """

    def __init__(self, whole: Iterable[Tensor], domain: Facts) -> None:
        self._domain = domain
        self._of: dict[int, Tensor] = {}  # values of both, by id, over leaves in the places of computed ones
        self._kept: list[Tensor] = []  # whose ids are in use
        self._values: dict[str, list[tuple[Tensor, Tensor, frozenset[str]]]] = {}
        self.unmatched: list[Tensor] = []
        for t in graph_of(whole):
            made = self._moved(t)
            if t.body is not None:
                made = self._once(t, made)
            self._of[id(t)] = made
            self._kept.append(t)

    def _once(self, t: Tensor, made: Tensor) -> Tensor:
        """Return the leaf in the place of a computed value of the whole: that of an equal one, if there is one."""
        assert t.body is not None
        read = frozenset().union(*map(_read, made.inputs))
        others = self._values.setdefault(t.body.name, [])
        for other, leaf, reads in others:
            if read == reads and other.shape == made.shape and next(self._blocks_among(made, [(other, leaf)]), None):
                return leaf
        others.append((made, leaf := _leaf_of(t), read))
        return leaf

    def of_whole(self, t: Tensor) -> Tensor:
        """Return a value of the whole computation, over leaves in the places of computed values."""
        return self._of[id(t)]

    def of_part(self, outputs: Iterable[Tensor]) -> list[Tensor]:
        """Return values of the part in the same way, with those that are blocks of values of the whole as these."""
        outputs = list(outputs)
        for t in graph_of(outputs):
            if id(t) in self._of:
                continue
            made = self._moved(t)
            if t.body is not None:
                found = next(self._blocks_for(made), None)
                if found is None:
                    self.unmatched.append(t)
                made = _leaf_of(t) if found is None else found
            self._of[id(t)] = made
            self._kept.append(t)
        return [self._of[id(t)] for t in outputs]

    def _moved(self, t: Tensor) -> Tensor:
        inputs = tuple(self._of[id(x)] for x in t.inputs)
        return t if all(a is b for a, b in zip(inputs, t.inputs, strict=True)) else t.remade(inputs, {})

    def _blocks_for(self, part: Tensor) -> Iterator[Tensor]:
        """Yield blocks of values of the whole that a computed value is proved to be."""
        assert part.body is not None
        read = frozenset().union(*map(_read, part.inputs))
        near = ((made, leaf) for made, leaf, others in self._values.get(part.body.name, []) if read <= others)
        yield from self._blocks_among(part, itertools.islice(near, _MOST_PAIRS))

    def _blocks_among(self, part: Tensor, near: Iterable[tuple[Tensor, Tensor]]) -> Iterator[Tensor]:
        assert part.body is not None
        for made, leaf in near:
            kind = (made.body, made.dtype, made.batch, made.rank, len(made.inputs))
            if part.body.random or kind != (part.body, part.dtype, part.batch, part.rank, len(part.inputs)):
                continue
            if (block := self._block(part, made)) is not None and self._are_blocks(part, made, block):
                yield getitem(leaf, block)

    def _block(self, part: Tensor, whole: Tensor) -> tuple[slice, ...] | None:
        """Return which last rows of a value have the extents of another one; None if none can be it."""
        found = []
        for axis, (e, n) in enumerate(zip(part.shape, whole.shape, strict=True)):
            if e == n:
                found.append(slice(None))
            elif axis >= part.batch:
                return None
            else:
                found.append(slice(n - e, None))
        return tuple(found)

    def _are_blocks(self, part: Tensor, whole: Tensor, block: Sequence[slice]) -> bool:
        """Return whether each view of the part is the block of the view of the whole."""
        batch = tuple(block[: part.batch])
        return all(
            self.are_equal(a, getitem(b, batch) if batch else b) for a, b in zip(part.inputs, whole.inputs, strict=True)
        )

    def are_equal(self, left: Tensor, right: Tensor) -> bool:
        """Return whether two movements are proved to be equal, for all sizes of the domain."""
        if left.rank != right.rank or left.dtype != right.dtype:
            return False
        try:
            return prove_on(self._domain, left, right, budget=_POINTS).verdict is Verdict.PROVED
        except SymlayoutError:
            return False


def _read(view: Tensor) -> frozenset[str]:
    """Return the keys of the leaves that a view reads, without constants."""
    return frozenset(leaf.key for leaf in view.leaves_read() if leaf.values is None)


def _leaf_of(t: Tensor) -> Tensor:
    return Tensor(t.name, t.dtype, t.extents, t.facts, key=f"value {t.key}")
