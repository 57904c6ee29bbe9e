"""A table of values, filled from the inputs upwards: which of them are one value, up to the order of their axes.

Each value has a root, and says which axis of its own is each axis of the root.  Values with one root are built alike:
inputs of one name, constants of equal bits, and operations that do the same to values of the same roots.  The axes of
an operation are renamed by their first occurrence in what it reads, so ``transpose(relu(x))`` and
``relu(transpose(x))`` have the root of ``relu(x)``.  No fact is asked, and nothing is decided by cases.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np

from symlayout.algebra.polynomial import Extent
from symlayout.errors import ShapeError
from symlayout.ops.reshape import reshape
from symlayout.proof.certificate.claim import TracedCoordinate
from symlayout.tensors.chain import Tensor, same_size
from symlayout.tensors.declaration import UNDETERMINED, Case
from symlayout.tensors.element_types import fill_text
from symlayout.walks import Walk, settle

Order = tuple[int, ...]
Pairs = list[tuple[Tensor, Tensor]]


class Member(NamedTuple):
    """Where a value stands in the table: axis ``order[k]`` of the value is axis ``k`` of its root.

    *swapped* says that the operands of its function changed places.
    """

    root: int
    order: Order
    swapped: bool = False


class _Map(NamedTuple):
    """What a case reads: the number of its input, windows, coordinates there, and the fill as text."""

    source: int
    windows: tuple[tuple[Any, Any], ...]
    coords: tuple[Any, ...]
    fill: Any


@dataclass(slots=True)
class Classes:
    """The table.  Values enter it when they are asked about, after what they are made of.

    Attributes
    ----------
    exact : bool
        Whether one root also means the same operations on the same inputs, in the same order of the axes, of which the
        unread ones count as well; computed values are then only what they are.
    """

    exact: bool = False
    _members: dict[Tensor, Member] = field(default_factory=dict)
    _maps: dict[Tensor, list[_Map] | None] = field(default_factory=dict)
    _roots: dict[Hashable, int] = field(default_factory=dict)
    _flat: dict[int, tuple[int, tuple[Extent, ...]]] = field(default_factory=dict)  # what is reshaped, by its root
    _constants: dict[Hashable, list[np.ndarray[Any, Any]]] = field(default_factory=dict)

    def are_one(self, a: Tensor, b: Tensor) -> bool:
        """Return whether both values are one, each element that of the same coordinate."""
        return a is b or self.member(a)[:2] == self.member(b)[:2]

    def order_of(self, a: Tensor, b: Tensor) -> Order | None:
        """Return for each axis of *b* the same axis of *a*; None if they are not one value in two orders."""
        one, other = self.member(a), self.member(b)
        return None if one.root != other.root else tuple(one.order[other.order.index(k)] for k in range(b.rank))

    def are_swapped(self, a: Tensor, b: Tensor) -> bool:
        """Return whether one of two computed values of one root reads its operands in the other order."""
        return self.member(a).swapped != self.member(b).swapped

    def leaves(self, left: Tensor, right: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield the pairs of different computed values of one root that both sides read."""
        computed = [[t for t in side.leaves_read() if t.body is not None] for side in (left, right)]
        for a, b in product(*computed):
            if a.key != b.key and self.member(a).root == self.member(b).root:
                yield a, b

    def parts(self, left: Tensor, right: Tensor) -> tuple[Pairs, Pairs] | None:
        """Return what corresponds if both sides are the same operations of it; None if they end in two operations.

        Both sides are equal if all pairs are.  The first pairs are computed values of one function, and values that
        are one by the table, and read computed ones.  The others are values of one shape at which the operations part,
        and are movement, at least on one side.
        """
        found: dict[tuple[Tensor, Tensor], None] = {}
        parts: Pairs = []
        walk = Walk([(left, right)])
        for a, b in walk:
            if a is b:
                continue
            if self.are_one(a, b):
                if any(self.leaves(a, b)):
                    found[a, b] = None
            elif a.declared is None and b.declared is None:
                if not _are_of_one_function(a, b):
                    return None
                found[a, b] = None
            elif (maps := self._map_of(a)) is not None and a.extents == b.extents and maps == self._map_of(b):
                walk.to((a.inputs[k], b.inputs[k]) for k in sorted({m.source for m in maps}, reverse=True))
            elif (a, b) == (left, right) or a.extents != b.extents or a.dtype != b.dtype:
                return None
            else:
                parts.append((a, b))
        return list(found), parts

    # ------------------------------------------------------------------ how values enter

    def member(self, t: Tensor) -> Member:
        """Return where a value stands in the table."""
        return settle(t, self._made_of, self._members, self._found)

    def _made_of(self, t: Tensor) -> tuple[Tensor, ...]:
        return () if t.body is not None and (self.exact or t.body.random) else t.inputs

    def _found(self, t: Tensor) -> Member:
        if t.declared is not None:
            return self._of_movement(t)
        axes = tuple(range(t.rank))
        if t.values is not None:
            return Member(self._root(("constant", *self._bits(t.values))), axes)
        if t.body is None or self.exact or t.body.random:
            return Member(self._root(("input", t.key, t.extents)), axes)
        return self._of_computed(t)

    def _root(self, key: Hashable) -> int:
        return self._roots.setdefault(key, len(self._roots))

    def _of_movement(self, t: Tensor) -> Member:
        maps, axes = self._map_of(t), tuple(range(t.rank))
        if maps is None:  # an undetermined element equals no other
            return Member(self._root(("undetermined", len(self._roots))), axes)
        reads = [self._members[t.inputs[m.source]] for m in maps]
        if self.exact:
            inputs = tuple(self._members[x].root for x in t.inputs)
            return Member(self._root(("moved", t.extents, tuple(maps), inputs)), axes)
        coords = [tuple(m.coords[k] for k in read.order) for m, read in zip(maps, reads, strict=True)]
        if _is_transpose(t, maps):
            return Member(reads[0].root, tuple(axis for _, axis in coords[0]))
        if reads[0].order == tuple(range(len(reads[0].order))) and self._is_flat(t, maps):
            source = t.inputs[maps[0].source]
            origin, extents = self._flat.get(reads[0].root, (reads[0].root, source.extents))
            if extents == t.extents:
                return Member(origin, axes)
            root = self._root(("flat", t.extents, origin))
            self._flat[root] = origin, extents
            return Member(root, axes)
        met = chain.from_iterable((c, m.windows) for m, c in zip(maps, coords, strict=True))
        order = tuple(dict.fromkeys((*_axes(met), *axes)))
        names = {axis: k for k, axis in enumerate(order)}
        cases = tuple(
            (read.root, _renamed(m.windows, names), _renamed(c, names), m.fill)
            for m, c, read in zip(maps, coords, reads, strict=True)
        )
        return Member(self._root(("moved", tuple(t.extents[k] for k in order), cases)), order)

    def _is_flat(self, t: Tensor, maps: Sequence[_Map]) -> bool:
        """Return whether an operation keeps the elements of its input in row-major order, and does nothing else."""
        source = t.inputs[maps[0].source]
        if (
            len(maps) > 1
            or maps[0].windows
            or maps[0].fill is not None
            or not same_size(t.extents, source.extents, t.facts)
        ):
            return False
        try:
            again = reshape(source, t.shape)
        except ShapeError:
            return False
        return again.extents == t.extents and self._map_of(again) == [maps[0]._replace(source=0)]

    def _of_computed(self, t: Tensor) -> Member:
        assert t.body is not None
        first: tuple[Hashable, Order] | None = None
        for swapped in (False, True)[: 1 + (t.body.symmetric and len(t.inputs) == 2)]:
            views = [self._members[v] for v in (t.inputs[::-1] if swapped else t.inputs)]
            met = [axis for view in views for axis in view.order if axis < t.batch]
            order = tuple(dict.fromkeys((*met, *range(t.rank))))
            names = {axis: k for k, axis in enumerate(order[: t.batch])}
            read = tuple((view.root, tuple(names.get(axis, axis) for axis in view.order)) for view in views)
            key = "computed", t.body, t.dtype, t.batch, tuple(t.extents[k] for k in order), read
            if key in self._roots:
                return Member(self._roots[key], order, swapped)
            first = first or (key, order)
        assert first is not None
        return Member(self._root(first[0]), first[1])

    def _bits(self, values: np.ndarray[Any, Any]) -> tuple[Hashable, int]:
        """Return what constants share only if their types, shapes and bits are equal."""
        kind = values.dtype, values.shape, values.flat[:8].tobytes()
        alike = self._constants.setdefault(kind, [])
        for k, other in enumerate(alike):
            if other is values or other.tobytes() == values.tobytes():
                return kind, k
        alike.append(values)
        return kind, len(alike) - 1

    def _map_of(self, t: Tensor) -> list[_Map] | None:
        """Return what an operation reads at each coordinate; None for a leaf, and if elements are undetermined."""
        if t not in self._maps:
            cases = () if t.declared is None else t.declared.cases
            undetermined = any(case.fill is not None and case.fill.value is UNDETERMINED for case in cases)
            self._maps[t] = None if undetermined or not cases else [_map_of_case(case, t) for case in cases]
        return self._maps[t]


def are_one_expression(left: Tensor, right: Tensor, *, unread: bool = False) -> bool:
    """Return whether both sides are the same operations of the same inputs, whatever these are.

    Inputs that no case reads, such as those that only give an extent, count if *unread*.
    """
    if unread:
        return Classes(exact=True).are_one(left, right)
    return Classes(exact=True).parts(left, right) == ([], [])


def _are_of_one_function(a: Tensor, b: Tensor) -> bool:
    """Return whether two leaves are computed by one function, on boxes of equal extents."""
    if a.body is None or b.body is None or a.dtype != b.dtype or a.extents != b.extents:
        return False
    return a.body == b.body and not a.body.random and a.batch == b.batch and len(a.inputs) == len(b.inputs)


def _is_transpose(t: Tensor, maps: Sequence[_Map]) -> bool:
    """Return whether an operation permutes the axes of its input, and does nothing else."""
    (first, *others), source = maps, t.inputs[maps[0].source]
    if others or first.windows or first.fill is not None or source.rank != t.rank:
        return False
    axes = [c[1] for c in first.coords if type(c) is tuple and c[0] == "axis"]
    return sorted(axes) == list(range(t.rank)) and all(
        e == t.extents[axis] for e, axis in zip(source.extents, axes, strict=True)
    )


def _map_of_case(case: Case, t: Tensor) -> _Map:
    axes = [TracedCoordinate(("axis", k)) for k in range(t.rank)]
    windows = [] if case.where is None else [(_expression(v), extent) for v, extent in case.where(*axes)]
    fill = None if case.fill is None else fill_text(case.fill.value, t.dtype)
    return _Map(case.source, tuple(windows), tuple(_expression(c) for c in case.coords(*axes)), fill)


def _expression(value: Any) -> Any:
    return value.data if isinstance(value, TracedCoordinate) else value


def _axes(expressions: Iterable[Any]) -> Iterator[int]:
    """Yield the axes in expressions, in the order in which they are written."""
    for e in expressions:
        if type(e) is tuple:
            if e and e[0] == "axis":
                yield e[1]
            else:
                yield from _axes(e)


def _renamed(e: Any, names: Mapping[int, int]) -> Any:
    """Return an expression with its axes renamed."""
    if type(e) is not tuple:
        return e
    return ("axis", names[e[1]]) if e and e[0] == "axis" else tuple(_renamed(part, names) for part in e)
