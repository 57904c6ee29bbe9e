"""Folds over boxes of other extents: equal if each term of one, but those that change nothing, is a term of the other.

A maximum over a window that reaches into pads of minus infinity is the maximum of what is no pad.  So two windows, one
after the other, have the maximum of one larger window: each element of the one is met by the other.  A sum counts its
terms, so there each term also has to be met once: places correspond by maps that undo each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product
from math import prod
from typing import Protocol

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, Poly, names_of, substitute, symbol
from symlayout.errors import ShapeError
from symlayout.proof.bijections import Bijection, BoxReads, bijections, box_reads
from symlayout.proof.fills.copies_of_terms import is_neutral
from symlayout.proof.pull_functions import fills_of
from symlayout.tensors.chain import Tensor

_MOST_TERMS = 256  # of a box whose terms are looked at one by one
_MOST_FOUND = 8  # places in the other box that are tried for each
_MOST_TRIED = 4096  # combinations of digits of one equation

Views = Sequence[tuple[Tensor, Tensor]]


class TermJudge(Protocol):
    """Decides about terms of two folds."""

    def is_term(self, views: Views, at: Sequence[Extent], bt: Sequence[Extent], facts: Facts) -> bool:
        """Return whether the second of each two views reads what the first does, if no first one reads a fill."""

    def box_digits(self, extents: Sequence[Extent], facts: Facts) -> list[Extent]:
        """Return any coordinate in a box."""


def may_be_covered(a: Tensor, b: Tensor, facts: Facts) -> bool:
    """Return whether *a* and *b* are folds over boxes of other extents, none of whose fills change anything."""
    if a.body is None or a.body.joins is None or a.body != b.body or a.rank != a.batch or b.rank != b.batch:
        return False
    boxes = [[facts.reduce(e) for e in t.inputs[0].extents[t.batch :]] for t in (a, b)]
    if boxes[0] == boxes[1]:
        return False
    views = [*a.inputs, *b.inputs]
    fills = [(fill, view) for view in views for fill in fills_of(view)]
    if not all(is_neutral(fill, a.body, view.dtype) for fill, view in fills):
        return False
    return bool(fills) or a.body.idempotent


def are_of_one_value(
    judge: TermJudge,
    a: Tensor,
    b: Tensor,
    at: Sequence[Extent],
    bt: Sequence[Extent],
    order: tuple[int, ...],
    known: Facts,
    facts: Facts,
) -> bool:
    """Return whether it is proved that folds have the same terms, but for those that change nothing.

    *known* are the facts of the claim without coordinates; axis ``order[k]`` of the batch of *a* is axis k of that of
    *b*.
    """
    assert a.body is not None
    found = bijections(a, b, order, False, known)
    there, back = ([g for g in found if g.back == side] for side in (False, True))
    views = list(zip(a.inputs, b.inputs, strict=True))
    turned = [(w, v) for v, w in views]
    if a.body.idempotent:
        both = box_reads(a, b, order, False, known)
        return all(
            any(_covers(judge, pairs, *starts, guess, facts) for guess in guesses)
            or (both is not None and _covers_one_by_one(judge, pairs, *starts, both, first, facts))
            for first, pairs, starts, guesses in ((0, views, (at, bt), there), (1, turned, (bt, at), back))
        )
    return any(
        _undo_each_other(g, h) and _covers(judge, views, at, bt, g, facts) and _covers(judge, turned, bt, at, h, facts)
        for g, h in product(there, back)
    )


def _covers(
    judge: TermJudge, views: Views, at: Sequence[Extent], bt: Sequence[Extent], guess: Bijection, facts: Facts
) -> bool:
    """Return whether each term of the first views is the term of the second ones that *guess* says."""
    facts = facts.fork()
    moved = [(v, guess.applied(w, len(bt))) for v, w in views]
    try:
        for _, w in moved:
            facts.merge(w.facts)
        box = judge.box_digits([facts.reduce(e) for e in views[0][0].extents[len(at) :]], facts)
    except ShapeError as error:
        if error.kind != "infeasible":
            raise
        return True  # the box is empty
    return judge.is_term(moved, [*at, *box], [*bt, *box], facts)


def _undo_each_other(g: Bijection, h: Bijection) -> bool:
    """Return whether it is evident that each of two maps between boxes undoes the other."""
    if len(g.places.pieces) > 1 or len(h.places.pieces) > 1:
        return False
    for one, other in ((g.places, h.places), (h.places, g.places)):
        ((piece,), (then,)) = one.pieces, other.pieces
        if piece.windows or then.windows:
            return False
        values = dict(zip(other.names, piece.coords, strict=True))
        for name, extent, e in zip(one.names, one.extents, then.coords, strict=True):
            if extent != 1 and one.facts.reduce(substitute(e, values)) != symbol(name):
                return False
    return True


def _covers_one_by_one(
    judge: TermJudge,
    views: Views,
    at: Sequence[Extent],
    bt: Sequence[Extent],
    both: BoxReads,
    first: int,
    facts: Facts,
) -> bool:
    """Return whether each term of the first views, of which there are few, is some term of the second ones."""
    extents = [e for e in both.boxes[first] if isinstance(e, int)]
    others = [e for e in both.boxes[1 - first] if isinstance(e, int)]
    if len(extents) < len(both.boxes[first]) or len(others) < len(both.boxes[1 - first]):
        return False
    if prod(extents) > _MOST_TERMS:
        return False
    equations = both.equations()
    for place in product(*map(range, extents)):
        given = dict(zip(both.names[first], place, strict=True))
        here = [both.facts.reduce(substitute(e, given)) for e in equations]
        found = _solutions(here, both.names[1 - first], others)
        if not any(judge.is_term(views, [*at, *place], [*bt, *p], facts) for p in islice(found, _MOST_FOUND)):
            return False
    return True


def _solutions(equations: Sequence[Extent], names: Sequence[str], extents: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield places in a box where all equations hold, those in the middle first; a digit is in one equation at most."""
    ranges = [sorted(range(e), key=lambda k, e=e: abs(2 * k - e + 1)) for e in extents]  # type: ignore[misc]
    groups: list[list[dict[str, int]]] = []
    seen: set[str] = set()
    for e in equations:
        own = [name for name in names if name in names_of(e)]
        if names_of(e) - set(own) or seen & set(own) or prod(len(ranges[names.index(n)]) for n in own) > _MOST_TRIED:
            return
        if not own:
            if e != 0:
                return
            continue
        seen.update(own)
        tried = (dict(zip(own, values, strict=True)) for values in product(*(ranges[names.index(n)] for n in own)))
        groups.append([values for values in tried if isinstance(e, Poly) and substitute(e, values) == 0])
    for found in product(*groups):
        values = {name: value for part in found for name, value in part.items()}
        yield tuple(values.get(name, ranges[k][0]) for k, name in enumerate(names))
