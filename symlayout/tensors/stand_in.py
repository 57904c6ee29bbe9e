"""A leaf in the place of a tensor, with what is known of the dims that matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Poly
from symlayout.deadlines import work
from symlayout.errors import SymlayoutError
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Operand
from symlayout.walks import Walk


def dims_between(source: Tensor, value: Tensor) -> set[str]:
    """Return the dims that the steps from *source* to *value* mention, in extents and attributes."""
    found = set(_dims(source.extents, source.facts))
    walk = Walk([value])
    for at in walk:
        if at is not source:
            found.update(_dims((at.extents, at.recorded() or ()), at.facts))
            walk.to(at.inputs)
    work(len(walk.seen))
    return found


def dims_of(t: Tensor) -> set[str]:
    """Return the dims that the extents of a tensor mention."""
    return set(_dims(t.extents, t.facts))


def _dims(part: Any, facts: Facts) -> Iterator[str]:
    """Yield the dims that an attribute mentions; those of extents also where these are floors, maxima or quotients."""
    if isinstance(part, Poly):
        yield from facts.dims_behind(part.names)
    elif isinstance(part, list | tuple):
        for each in part:
            yield from _dims(each, facts)
    elif isinstance(part, Mapping):
        yield from _dims(tuple(part.values()), facts)
    else:
        yield from (s.name for s in getattr(part, "free_symbols", ()))


def stand_in(t: Tensor, dims: Set[str], key: str) -> Tensor:
    """Return a leaf with the shape and the element type of *t*, and its facts about *dims* alone.

    Facts about other dims are left out: what holds without them holds with them.  A model has the facts of all dims
    that came up before, such as one for each value whose extent depends on data.

    Examples
    --------
    >>> import symlayout as sl
    >>> t = sl.space_to_depth(sl.tensor("N, H, W, C", name="x"), 2)[0]
    >>> len(t.facts.requirements), len(stand_in(t, {"H", "C", "W"}, "x").facts.requirements)
    (3, 2)
    """
    if t.facts.dims.keys() <= dims:
        return Tensor("x", t.dtype, t.extents, t.facts, key=key)
    try:
        operand = Operand((), Facts(), "stand-in")
        for name, dim in t.facts.dims.items():
            if name in dims:
                operand.facts.declare(dim)
        for r in t.facts.requirements:
            if {*_dims((r.value, r.modulus), t.facts)} <= dims:
                value, modulus = operand.translate(r.value, t.facts), operand.translate(r.modulus, t.facts)
                if r.relation == "divides":
                    operand.facts.divide(value, modulus, r.kind, r.where)
                elif r.relation == "zero":
                    operand.facts.require_zero(value, r.kind, r.where)
                else:
                    operand.facts.require_nonnegative(value, r.kind, r.where)
        extents = [operand.translate(e, t.facts) for e in t.extents]
        return Tensor("x", t.dtype, operand.facts.reduce_all(extents), operand.facts, key=key)
    except SymlayoutError:  # the facts have no meaning without the others
        return Tensor("x", t.dtype, t.extents, t.facts, key=key)


def rebased(t: Tensor, sources: Mapping[int, Tensor]) -> Tensor | None:
    """Return *t* with other tensors in the places of some, by their ``id``; None if it reads others too.

    Constants stay.
    """
    made: dict[int, Tensor] = dict(sources)
    waiting = [t]
    while waiting:
        at = waiting[-1]
        if id(at) in made:
            waiting.pop()
        elif at.values is not None:
            made[id(at)] = at
        elif not at.inputs:
            return None
        elif missing := [x for x in at.inputs if id(x) not in made]:
            waiting += missing
        else:
            made[id(at)] = at.remade(tuple(made[id(x)] for x in at.inputs), {})
            waiting.pop()
    return made[id(t)]
