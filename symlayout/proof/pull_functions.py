"""Pull functions out of movement: a chain that moves computed values becomes the function of operands that are moved.

``flip(relu(x))`` becomes ``relu(flip(x))``, and the second half of ``concatenate([exp(x), exp(y)])`` the exponential of
that half of ``concatenate([x, y])``.  It holds for every function of single elements or of boxes that are read as a
whole: each element of the result is computed, of what the views read there.  Movement with fills, such as a pad, is
passed by functions of single elements that make these fills of others (`symlayout.proof.fills.fills_of_operands`).
An element that is chosen at run time of a function's values is the function of chosen operands.
Both sides of a claim then have their functions outermost, and are compared whole value by whole value.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from symlayout.compute.gather import selected
from symlayout.errors import ShapeError
from symlayout.ops.broadcast import broadcast_to
from symlayout.ops.reshape import reshape
from symlayout.ops.slicing import getitem
from symlayout.proof.classes import Classes
from symlayout.proof.fills.fills_of_operands import Fills, Refilled, fills_of_operands
from symlayout.tensors.apply_operation import Application, apply
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import compute, is_pointwise
from symlayout.tensors.declaration import Case, Declared, Fill, Operand
from symlayout.tensors.uniform_constants import everywhere

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
        return pull.run(tuple(ts)), pull.old
    except _TooManyError:
        return list(ts), {}


_Row = tuple[Tensor, ...]
"""Tensors that correspond to each other."""

T = TypeVar("T")
_Walk = Generator[_Row, Any, T]
"""A part of the walk: it yields rows, and is sent them with their functions outermost."""


class _Pull:
    """One walk over tensors that correspond to each other.

    Its parts are generators, which a stack holds, so that deep graphs cause no deep recursion.
    """

    def __init__(self) -> None:
        self.old: dict[str, str] = {}
        self._classes = Classes()
        self._made: dict[tuple[int, ...], list[Tensor]] = {}
        self._kept: list[_Row] = []  # whose ids are in use
        self._begun = 0  # functions that are pulled out of movement

    def run(self, ts: _Row) -> list[Tensor]:
        """Return the tensors with their functions outermost."""
        waiting: list[tuple[tuple[int, ...], _Walk[list[Tensor]]]] = []
        made = self._begun_or_made(ts, waiting)
        while waiting:
            key, walk = waiting[-1]
            try:
                row = walk.send(made)
            except StopIteration as end:
                waiting.pop()
                made = self._made[key] = end.value
            else:
                made = self._begun_or_made(row, waiting)
        assert made is not None
        return made

    def _begun_or_made(
        self, row: _Row, waiting: list[tuple[tuple[int, ...], _Walk[list[Tensor]]]]
    ) -> list[Tensor] | None:
        """Return what is made of a row; None if its walk is put on the stack, which begins when it is sent that."""
        key = tuple(map(id, row))
        if key not in self._made:
            self._kept.append(row)
            waiting.append((key, self._out_of(row)))
        return self._made.get(key)

    def _out_of(self, ts: _Row) -> _Walk[list[Tensor]]:
        """Return the tensors with their functions outermost."""
        if len(ts) == 1 and (source := self._unmoved(ts[0])) is not None:
            before: list[Tensor] = yield (source,)
            return before
        if all(map(_moves_values, ts)) and not any(map(fills_of, ts)):
            made = yield from self._outermost(ts)
        else:
            found = (yield from self._out_of_fills(ts[0])) if len(ts) == 1 else None
            made = (yield from self._within(ts)) if found is None else [found]
        if len(ts) == 1 and (chosen := self._out_of_choice(made[0])) is not None:
            return [chosen]
        return made

    def _unmoved(self, t: Tensor) -> Tensor | None:
        """Return the value that *t* moves back to where it was; None if it is built otherwise."""
        below, found = t, None
        while below.declared is not None and len(below.declared.cases) == 1:
            below = below.inputs[below.declared.cases[0].source]
            if below.extents == t.extents and self._classes.are_one(t, below):
                found = below
        return found

    def _begin(self, functions: int) -> None:
        """Count functions that are pulled out; each makes a value."""
        self._begun += functions
        if self._begun > MOST_VALUES:
            raise _TooManyError

    def _out_of_fills(self, t: Tensor) -> _Walk[Tensor | None]:
        """Return *t*, whose movement has fills, with its function outermost; None if that does not make these fills."""
        if not _moves_values(t):
            return None
        leaves = read_leaves(t)
        body = leaves[0].body
        assert body is not None
        operands = [[x.inputs[k] for x in leaves] for k in range(len(leaves[0].inputs))]
        found = fills_of_operands(body, operands, fills_of(t), t.dtype)
        if found is None:
            return None
        self._begin(1)
        views = []
        for views_of_one, fills in zip(operands, found, strict=True):
            view = constant_of_shape(views_of_one, t)
            if view is None:
                sources = {x.key: v for x, v in zip(leaves, views_of_one, strict=True)}
                (view,) = yield (moved(t, sources, leaves[0].batch, fills),)
            views.append(view)
        return self._computed(leaves[0], views, t.rank)

    def _outermost(self, ts: _Row) -> _Walk[list[Tensor]]:
        self._begin(len(ts))
        leaves = [read_leaves(t) for t in ts]
        views = []
        for k in range(len(leaves[0][0].inputs)):
            there = [
                moved(t, {x.key: x.inputs[k] for x in own}, own[0].batch) for t, own in zip(ts, leaves, strict=True)
            ]
            views.append((yield tuple(there)))
        return [
            self._computed(own[0], [view[j] for view in views], t.rank)
            for j, (t, own) in enumerate(zip(ts, leaves, strict=True))
        ]

    def _within(self, ts: _Row) -> _Walk[list[Tensor]]:
        """Return the last steps of the tensors again, on inputs with their functions outermost."""
        first = ts[0]
        if not all(t.inputs and len(t.inputs) == len(first.inputs) and t.body == first.body for t in ts):
            return list(ts)
        columns = []
        for column in zip(*(t.inputs for t in ts), strict=True):
            columns.append((yield column))
        return [self._again(t, [column[j] for column in columns]) for j, t in enumerate(ts)]

    def _out_of_choice(self, t: Tensor) -> Tensor | None:
        """Return an element that is chosen of a function's values as the function of chosen operands; else None."""
        if t.body is None or t.body.function is not selected or t.rank != t.batch:
            return None
        value, *places = t.inputs
        body = value.body
        if body is None or body.random or not is_pointwise(value) or value.dtype != t.dtype:
            return None
        operands: list[Tensor] = []
        for view in value.inputs:
            constant = constant_of_shape([view], t)
            operands.append(
                compute(t.body, [view, *places], batch=t.batch, dtype=view.dtype) if constant is None else constant
            )
        return self._computed(value, operands, t.batch)

    def _again(self, t: Tensor, inputs: Sequence[Tensor]) -> Tensor:
        if t.body is not None:
            return self._computed(t, inputs, t.batch)
        return t.remade(tuple(inputs), {})

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


def moved_values(t: Tensor) -> list[Tensor]:
    """Return the values of one function of single elements that the movement *t* reads; none if it reads others."""
    if t.declared is None or not _moves_values(t):
        return []
    leaves = read_leaves(t)
    return leaves if leaves[0].body is not None and not leaves[0].body.over else []


def _moves_values(t: Tensor) -> bool:
    """Return whether *t* moves values of one function, all axes of which are batch axes, and nothing else."""
    leaves = read_leaves(t)
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
    ) and all(isinstance(node.again, Application) for node in t.nodes() if node.declared is not None)


def _read_one_box(t: Tensor, leaves: Sequence[Tensor]) -> bool:
    """Return whether the functions at the leaves that *t* reads read boxes of equal extents."""
    boxes = [[[t.facts.reduce(e) for e in view.extents[x.batch :]] for view in x.inputs] for x in leaves]
    return all(box == boxes[0] for box in boxes)


def fills_of(t: Tensor) -> list[Fill]:
    """Return the fills of the movement *t*."""
    cases = (case for node in t.nodes() if node.declared is not None for case in node.declared.cases)
    return [case.fill for case in cases if case.fill is not None]


def constant_of_shape(views: Sequence[Tensor], t: Tensor) -> Tensor | None:
    """Return the element that all *views* read everywhere in the shape of *t*; None if there is no such element."""
    if everywhere(views) is None:
        return None
    (leaf,) = read_leaves(views[0])[:1]
    try:
        one = leaf if not leaf.rank else reshape(getitem(leaf, (slice(0, 1),) * leaf.rank), ())
        return broadcast_to(one, t.shape)
    except ShapeError:  # the shape of *t* is not one that an attribute can have
        return None


def read_leaves(t: Tensor) -> list[Tensor]:
    """Return the leaves that elements are read from; operations may have others for their extents."""
    reached = set(t.leaves_read())
    return [leaf for leaf in t.leaves() if leaf in reached]


def moved(t: Tensor, views: Mapping[str, Tensor], batch: int, fills: Fills | None = None) -> Tensor:
    """Return *views*, by the keys of the leaves of *t*, moved as *t* moves them; their axes from *batch* on stay.

    *fills* has the fill that replaces each fill of *t*, if others are to be read.
    """
    extra = next(iter(views.values())).rank - batch
    if not extra and fills is None:
        return t.replace(views)
    made: dict[int, Tensor] = {}
    lifted: set[int] = set()  # leaves that give only an extent stay as they are
    for node in t.nodes():
        if node.declared is None:  # a computed leaf may read what *t* is made of, and stays as it is
            if node.key in views:
                lifted.add(id(node))
            made[id(node)] = views.get(node.key, node)
            continue
        longer = tuple(id(x) in lifted for x in node.inputs)
        if any(longer):
            lifted.add(id(node))
        again = node.again
        assert isinstance(again, Application)
        declaration = _Lifted(again.declaration, extra, longer) if extra and any(longer) else again.declaration
        if fills is not None and any(case.fill is not None for case in node.declared.cases):
            declaration = Refilled(declaration, t.dtype, fills)
        inputs = tuple(made[id(x)] for x in node.inputs)
        made[id(node)] = apply(declaration, inputs, again.args, again.kwargs, again.values, own=again.own)
    return made[id(t)]


def refilled(t: Tensor, fills: Fills) -> Tensor:
    """Return the movement *t* with other fills, by the texts of its own."""
    leaf = t.leaves()[0]
    return moved(t, {leaf.key: leaf}, leaf.rank, fills)


@dataclass(frozen=True, slots=True)
class _Lifted:
    """A declaration that leaves the last axes, *extra* of them, alone of the inputs that are *longer* by these."""

    declaration: Callable[..., Declared]
    extra: int
    longer: tuple[bool, ...]

    @property
    def __name__(self) -> str:
        return self.declaration.__name__

    def __call__(self, x: Operand, *args: Any, **attributes: Any) -> Declared:
        n, extents = self.extra, x.shapes[self.longer.index(True)][-self.extra :]
        ends = [-n if longer else None for longer in self.longer]
        x.shapes = tuple(shape[:end] for shape, end in zip(x.shapes, ends, strict=True))  # as the cases will see them
        declared = self.declaration(x, *args, **attributes)
        return Declared((*declared.domain, *extents), tuple(_lifted(case, n) for case in declared.cases))


def _lifted(case: Case, n: int) -> Case:
    where = case.where
    return case._replace(
        coords=lambda *o: [*case.coords(*o[:-n]), *o[-n:]],
        where=None if where is None else lambda *o: where(*o[:-n]),
    )
