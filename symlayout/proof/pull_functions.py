"""Pull functions out of movement: a chain that moves computed values becomes the function of operands that are moved.

``flip(relu(x))`` becomes ``relu(flip(x))``, and the second half of ``concatenate([exp(x), exp(y)])`` the exponential of
that half of ``concatenate([x, y])``.  It holds for every function of single elements or of boxes that are read as a
whole, as long as the movement has no fills: each element of the result is computed, of what the views read there.
Both sides of a claim then have their functions outermost, and are compared whole value by whole value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from symlayout.tensors.apply_operation import Application, apply
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import compute
from symlayout.tensors.declaration import Case, Declared, Operand

MOST_VALUES = 200  # that are made; a chain in which more would be is left as it is


class _TooManyError(Exception):
    """More values would be made than `MOST_VALUES`."""


def pulled(ts: Sequence[Tensor]) -> tuple[list[Tensor], dict[str, str]]:
    """Return tensors with their functions outermost, and for the key of each new value that of an old one.

    The tensors are made by operations that correspond to each other.  A function is pulled out of all of them or of
    none.

    Examples
    --------
    >>> import symlayout as sl
    >>> (t,), _ = pulled([sl.flip(sl.onnx.relu(sl.tensor("N", name="x")))])
    >>> t.name, t.inputs[0].name
    ('Relu', 'flip')
    """
    pull = _Pull()
    try:
        return pull.out_of(tuple(ts)), pull.old
    except _TooManyError:
        return list(ts), {}


class _Pull:
    """One walk over tensors that correspond to each other."""

    def __init__(self) -> None:
        self.old: dict[str, str] = {}
        self._made: dict[tuple[int, ...], list[Tensor]] = {}
        self._kept: list[tuple[Tensor, ...]] = []  # whose ids are in use

    def out_of(self, ts: tuple[Tensor, ...]) -> list[Tensor]:
        """Return the tensors with their functions outermost."""
        key = tuple(map(id, ts))
        if key not in self._made:
            self._kept.append(ts)
            self._made[key] = self._outermost(ts) if all(map(_moves_values, ts)) else self._within(ts)
        return self._made[key]

    def _outermost(self, ts: tuple[Tensor, ...]) -> list[Tensor]:
        leaves = [_read(t) for t in ts]
        views = []
        for k in range(len(leaves[0][0].inputs)):
            there = [
                moved(t, {x.key: x.inputs[k] for x in own}, own[0].batch) for t, own in zip(ts, leaves, strict=True)
            ]
            views.append(self.out_of(tuple(there)))
        return [
            self._computed(own[0], [view[j] for view in views], t.rank)
            for j, (t, own) in enumerate(zip(ts, leaves, strict=True))
        ]

    def _within(self, ts: tuple[Tensor, ...]) -> list[Tensor]:
        """Return the last steps of the tensors again, on inputs with their functions outermost."""
        first = ts[0]
        if not all(t.inputs and len(t.inputs) == len(first.inputs) and t.body == first.body for t in ts):
            return list(ts)
        columns = [self.out_of(column) for column in zip(*(t.inputs for t in ts), strict=True)]
        return [self._again(t, [column[j] for column in columns]) for j, t in enumerate(ts)]

    def _again(self, t: Tensor, inputs: Sequence[Tensor]) -> Tensor:
        if t.body is not None:
            return self._computed(t, inputs, t.batch)
        return t if all(a is b for a, b in zip(inputs, t.inputs, strict=True)) else t.remade(tuple(inputs), {})

    def _computed(self, x: Tensor, views: Sequence[Tensor], batch: int) -> Tensor:
        """Return the value that the body of *x* computes of *views*: *x* itself if these are its own."""
        if all(a is b for a, b in zip(views, x.inputs, strict=True)):
            return x
        if len(self.old) == MOST_VALUES:
            raise _TooManyError
        assert x.body is not None
        own = x.rank > x.batch  # its result has axes of its own; then the views have the shapes of the old ones
        made = x.remade(tuple(views), {}) if own else compute(x.body, views, batch=batch, dtype=x.dtype)
        self.old[made.key] = self.old.get(x.key, x.key)
        return made


def _moves_values(t: Tensor) -> bool:
    """Return whether *t* moves values of one function, all axes of which are batch axes, and has no fill."""
    leaves = _read(t)
    if not leaves or leaves[0].body is None or (leaves[0].body.over and not _read_one_box(t, leaves)):
        return False
    first = leaves[0]
    return all(
        x.body is not None
        and x.body == first.body
        and not x.body.random
        and x.rank == x.batch
        and x.dtype == first.dtype
        and len(x.inputs) == len(first.inputs)
        for x in leaves
    ) and all(
        isinstance(node.again, Application) and all(case.fill is None for case in node.declared.cases)
        for node in t.nodes()
        if node.declared is not None
    )


def _read_one_box(t: Tensor, leaves: Sequence[Tensor]) -> bool:
    """Return whether the functions at the leaves of *t* read boxes of equal extents, and there are no other leaves."""
    boxes = [[[t.facts.reduce(e) for e in view.extents[x.batch :]] for view in x.inputs] for x in leaves]
    return len(leaves) == len(t.leaves()) and all(box == boxes[0] for box in boxes)


def _read(t: Tensor) -> list[Tensor]:
    """Return the leaves that elements are read from; operations may have others for their extents."""
    reached = {id(t)}
    for node in reversed(t.nodes()):
        if node.declared is not None and id(node) in reached:
            reached |= {id(node.inputs[case.source]) for case in node.declared.cases}
    return [leaf for leaf in t.leaves() if id(leaf) in reached]


def moved(t: Tensor, views: Mapping[str, Tensor], batch: int) -> Tensor:
    """Return *views*, by the keys of the leaves of *t*, moved as *t* moves them; their axes from *batch* on stay."""
    extra = next(iter(views.values())).rank - batch
    if not extra:
        return t.replace(views)
    made: dict[int, Tensor] = {}
    for node in t.nodes():
        if node.declared is None:
            made[id(node)] = views.get(node.key, node)
            continue
        again = node.again
        assert isinstance(again, Application)
        lifted = _Lifted(again.declaration, extra)
        inputs = tuple(made[id(x)] for x in node.inputs)
        made[id(node)] = apply(lifted, inputs, again.args, again.kwargs, again.values, own=again.own)
    return made[id(t)]


@dataclass(frozen=True, slots=True)
class _Lifted:
    """A declaration that leaves the last axes of its inputs, *extra* of them, alone."""

    declaration: Callable[..., Declared]
    extra: int

    @property
    def __name__(self) -> str:
        return self.declaration.__name__

    def __call__(self, x: Operand, *args: Any, **attributes: Any) -> Declared:
        n, extents = self.extra, x.shape[-self.extra :]
        x.shapes = tuple(shape[:-n] for shape in x.shapes)  # as the cases will see them, too
        declared = self.declaration(x, *args, **attributes)
        return Declared((*declared.domain, *extents), tuple(_lifted(case, n) for case in declared.cases))


def _lifted(case: Case, n: int) -> Case:
    where = case.where
    return replace(
        case,
        coords=lambda *o: [*case.coords(*o[:-n]), *o[-n:]],
        where=None if where is None else lambda *o: where(*o[:-n]),
    )
