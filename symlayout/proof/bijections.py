"""Bijections between the boxes that two values read, found from what their views read.

If both views read one element, the coordinates of that element are equations between a coordinate of the first box and
one of the second.  Solved for the second, they say where each term of the first value stands in the box of the second:
a roll, a shuffle, another order of the digits of a joined axis.  This is a guess.  It is used only where the views are
proved to be equal under it, and where it is proved to have an inverse.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from symlayout import facade
from symlayout.algebra.fact_store import DIGIT
from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import Coordinate, axis_digits, digit_name, extent_of
from symlayout.algebra.polynomial import Extent, Poly, coefficient_of, exact_quotient, names_of, substitute
from symlayout.errors import SymlayoutError
from symlayout.maps.digit_expressions import Expression, Translated
from symlayout.tensors.chain import Tensor, apply
from symlayout.tensors.declaration import Declared, Operand, index_map
from symlayout_codegen.forks import cached_property

_DEEPEST = 4  # functions, one after the other, through which the elements of a view are followed
_MOST_AXES = 8  # of a box
_MOST_READS = 16  # elements of a view that are looked at


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """Coordinates *coords* in a box, in the digits *names* of another box of *extents* and the symbols of *facts*."""

    facts: Facts
    extents: tuple[Extent, ...]
    names: tuple[str, ...]
    coords: tuple[Extent, ...]


@dataclass(frozen=True, eq=False)
class Bijection:
    """Where each coordinate of the first box stands in the second.

    Attributes
    ----------
    back : bool
        Whether the first box is that of the second value.
    """

    places: _Places
    box: Tensor  # stands for the elements of the second box
    back: bool

    @cached_property
    def tensor(self) -> Tensor:
        """The elements of the second box, read over the first."""
        return self.applied(self.box, 0)

    @cached_property
    def inverse(self) -> Tensor | None:
        """The elements of the first box, read over the second; None if it is not proved that this undoes `tensor`."""
        found: Tensor | None = facade.two_sided_inverse(self.tensor)
        return found

    def applied(self, t: Tensor, batch: int) -> Tensor:
        """Return *t*, whose axes after the batch are the second box, over the first box."""
        return apply(reindexed, (t,), (self.places, batch), {}, own=False)

    def extents(self, facts: Facts) -> tuple[list[Extent], list[Extent]]:
        """Return the extents of both boxes."""
        one, other = ([facts.reduce(e) for e in t.extents] for t in (self.tensor, self.box))
        return one, other

    def coordinates(self, box: Sequence[Extent], facts: Facts) -> list[Extent]:
        """Return the coordinate in the second box, given one of the first."""
        assert self.tensor.declared is not None
        found = self.tensor.declared.cases[0].coords(*(Coordinate(facts.reduce(c), facts) for c in box))
        return [facts.reduce(extent_of(c)) for c in found]

    def claims(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield the two claims that make it a bijection: one after the other is the identity, in both orders."""
        if self.inverse is not None:
            (leaf,) = self.inverse.leaves()
            yield self.inverse.replace({leaf.key: self.tensor}), self.box
            yield self.tensor.replace({self.box.key: self.inverse}), leaf


def reindexed(x: Operand, places: _Places, batch: int) -> Declared:
    """Return the elements of *x* at the places that each coordinate after the batch has."""
    translated = Translated(x, places.facts)
    domain = [*x.shape[:batch], *(translated(e) for e in places.extents)]
    found = [Expression(e, translated) for e in places.coords]

    def coords(*o: object) -> list[object]:
        values = dict(zip(places.names, o[batch:], strict=True))
        return [*o[:batch], *(e(values) for e in found)]

    return index_map(domain, coords)


def bijections(a: Tensor, b: Tensor, order: Sequence[int], swapped: bool, facts: Facts) -> list[Bijection]:
    """Return the bijections that the views of *a* and *b* suggest: of the box of *a* to that of *b*, or back.

    *facts* are those of both, without coordinates.  Axis ``order[k]`` of the batch of *a* is axis k of that of *b*.
    """
    whole, batch = facts, a.batch
    facts = facts.fork()
    facts.splits = None
    try:
        boxes = [[facts.reduce(e) for e in t.inputs[0].extents[batch:]] for t in (a, b)]
        if not all(0 < len(box) <= _MOST_AXES for box in boxes):
            return []
        outer = [facts.reduce(e) for e in a.inputs[0].extents[:batch]]
        facts.meet([*outer, *boxes[0], *boxes[1]])
        digits = axis_digits(tuple(outer + boxes[0] + boxes[1]), facts)
        at, middle = digits[:batch], batch + len(boxes[0])
        ends = digits[batch:middle], digits[middle:]
        equations: list[Extent] = []
        for v, w in zip(a.inputs[::-1] if swapped else a.inputs, b.inputs, strict=True):
            bt = [at[k] for k in order]
            found = _reads(v, [*at, *ends[0]], facts), _reads(w, [*bt, *ends[1]], facts)
            for (x, one), (y, other) in zip(*found, strict=False):
                if x.key == y.key or (x.body is not None and x.body == y.body and x.rank == y.rank):
                    equations += [facts.reduce(d - c) for c, d in zip(one, other, strict=True)]
    except SymlayoutError:  # a box is empty, or a coordinate has no normal form
        return []
    made: list[Bijection] = []
    numbers = range(batch, middle), range(middle, middle + len(boxes[1]))
    for back in (False, True):
        first, second = (1, 0) if back else (0, 1)
        names = [tuple(digit_name(k) for k in numbers[side]) for side in (first, second)]
        coords = _solved(equations, names[0], names[1], boxes[first], boxes[second], facts)
        if coords is not None and coords != ends[first]:
            extents = (a if back else b).inputs[0].extents[batch:]
            box = Tensor("box", a.dtype, tuple(whole.reduce(e) for e in extents), whole, key="box")
            made.append(Bijection(_Places(facts, tuple(boxes[first]), names[0], tuple(coords)), box, back))
    return made


def _reads(
    view: Tensor, coords: Sequence[Extent], facts: Facts, depth: int = _DEEPEST
) -> list[tuple[Tensor, list[Extent]]]:
    """Return what *view* reads at *coords*, each with its coordinates; of operations with several cases, the first.

    Functions whose elements follow those that they read are looked through.
    """
    while view.declared is not None:
        case = view.declared.cases[0]
        coords = [facts.reduce(extent_of(c)) for c in case.coords(*(Coordinate(c, facts) for c in coords))]
        view = view.inputs[case.source]
    if depth and view.body is not None and (not view.body.over or view.body.equivariant):
        operands = [x for x in view.inputs if x.rank == len(coords)]
        return [read for x in operands for read in _reads(x, coords, facts, depth - 1)][:_MOST_READS]
    return [(view, list(coords))]


def _solved(
    equations: Sequence[Extent],
    known: Sequence[str],
    wanted: Sequence[str],
    given: Sequence[Extent],
    extents: Sequence[Extent],
    facts: Facts,
) -> list[Extent] | None:
    """Return the digits *wanted*, of a box of *extents*, in terms of the digits *known*, of a box *given*.

    None if the equations, each of which says that a polynomial is 0, do not determine them.
    """
    values: dict[str, Extent] = {}
    open_ones = list(equations)
    while open_ones:
        left: list[Extent] = []
        for e in open_ones:
            e = facts.reduce(substitute(e, values))
            unknown = [name for name in names_of(e) if _digits_of(name, facts) & set(wanted)]
            value = _root(e, unknown[0]) if len(unknown) == 1 and isinstance(e, Poly) else None
            if value is None:
                left += [e] * (len(unknown) > 0)
            elif all(_digits_of(name, facts) <= set(known) for name in names_of(value)):
                values[unknown[0]] = value
        if len(left) == len(open_ones):
            break
        open_ones = left
    unused = set(known) - {d for e in values.values() for name in names_of(e) for d in _digits_of(name, facts)}
    found: list[Extent] = []
    for name, e in zip(wanted, extents, strict=True):
        if e != 1 and name not in values:  # nothing reads this axis: it may be any other such axis
            free = [k for k, n in enumerate(known) if n in unused and given[k] == e]
            if not free:
                return None
            unused.discard(known[free[0]])
            values[name] = Poly({(known[free[0]],): 1})
        found.append(0 if e == 1 else values[name])
    return found


def _root(e: Poly, name: str) -> Extent | None:
    """Return the value of *name* for which *e*, which is linear in it, is 0; None if that is no polynomial."""
    split = coefficient_of(e, name)
    return None if split is None else exact_quotient(-1 * split[1], split[0])


def _digits_of(name: str, facts: Facts) -> frozenset[str]:
    """Return the digits that a symbol depends on: itself, or those in the numerator of a floor."""
    if name in facts.floors:
        numerator, divisor = facts.floors[name]
        return frozenset(d for n in names_of(numerator) | names_of(divisor) for d in _digits_of(n, facts))
    return frozenset((name,)) if name[0] == DIGIT else frozenset()
