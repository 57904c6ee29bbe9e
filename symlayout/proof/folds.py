"""Merge folds: a fold of folds is one fold over both boxes, and folds that are joined are one fold over all terms.

A fold is a computed value whose body has a function `joins`: sums, products, maxima, minima, and sums of products.  The
merged value reads the same terms through one view, so the comparison of views decides whether two merged values agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from symlayout.algebra.facts import Facts
from symlayout.compute.reductions import mean
from symlayout.ops.axes import expand_dims, squeeze
from symlayout.ops.concatenate import concatenate
from symlayout.ops.reshape import reshape
from symlayout.proof.congruence import equal
from symlayout.proof.fills.copies_of_terms import is_neutral
from symlayout.proof.fills.monotone_functions import has_a_term, with_fills_of_function, with_function_inside
from symlayout.proof.laws import REAL, REASSOCIATE
from symlayout.proof.pull_functions import moved
from symlayout.tensors.apply_operation import Application
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import compute
from symlayout.tensors.declaration import Body
from symlayout.tensors.element_types import element_type


@dataclass(slots=True)
class Merging:
    """Merges the folds of tensors.

    Attributes
    ----------
    laws : frozenset of str
        The granted laws: sums and products of floats are merged only under ``"reassociate"``.
    turned : bool
        Whether the terms of the second of two joined folds come first.
    decides : bool
        Whether fills of maxima may be changed, for which it is proved that each box has another term.
    used, wanted : set of str
        The laws that were needed, and those that would allow to merge more.
    merged, joined : int
        How often something was merged, and how often these were folds that are joined.
    """

    laws: frozenset[str]
    turned: bool = False
    decides: bool = True
    used: set[str] = field(default_factory=set)
    wanted: set[str] = field(default_factory=set)
    merged: int = 0
    joined: int = 0
    _made: dict[int, Tensor] = field(default_factory=dict)
    _kept: list[Tensor] = field(default_factory=list)  # whose ids are in use

    def of(self, t: Tensor) -> Tensor:
        """Return *t* with its folds merged: *t* itself if there is nothing to merge."""
        made = self._made
        self._kept.append(t)
        for node in t.graph():
            if id(node) in made:
                continue
            here = node.remade(tuple(made[id(x)] for x in node.inputs), {})
            made[id(node)] = self._merged(here) if node.body is not None else here
        return made[id(t)]

    def _merged(self, node: Tensor) -> Tensor:
        rules = self._of_fold, self._of_mean, self._of_join, self._of_function
        while (found := next(filter(None, (rule(node) for rule in rules)), None)) is not None:
            self.merged += 1
            node = found
        return _without_units(node)

    def _of_function(self, node: Tensor) -> Tensor | None:
        """Return a function of a maximum as a maximum of the function, whose fills it makes; None for other values."""
        if (made := with_function_inside(node, _source)) is not None:
            return made
        made = with_fills_of_function(node) if self.decides else None
        return made if made is not None and has_a_term(node.inputs[0], node.batch) else None

    # ------------------------------------------------------------------ the rules

    def _of_fold(self, node: Tensor) -> Tensor | None:
        """Return a fold of one term as that term, or a fold of folds as one fold; None if *node* is neither."""
        if not _is_plain(node):
            return None
        (view,) = node.inputs
        box = [node.facts.reduce(e) for e in view.extents[node.batch :]]
        if all(e == 1 for e in box) and _is_exact(node):
            return reshape(view, node.shape) if box else view
        inner = _source(view, node.body)
        if inner is None or not self._may_merge(node, inner):
            return None
        assert inner.body is not None
        views = [moved(view, {inner.key: v}, inner.batch) for v in inner.inputs]
        return compute(inner.body, views, batch=node.batch, dtype=node.dtype)

    def _of_mean(self, node: Tensor) -> Tensor | None:
        """Return a mean of means, all of as many elements, as one mean; None if *node* is none, or a law is missing."""
        if node.body is None or node.body.function is not mean or not _is_real(node):
            return None
        inner = _source(node.inputs[0])
        if inner is None or inner.body != node.body or inner.rank != inner.batch or inner.dtype != node.dtype:
            return None
        if not self._may_use(REASSOCIATE, REAL):  # the numbers of terms are factors of sums
            return None
        view = moved(node.inputs[0], {inner.key: inner.inputs[0]}, inner.batch)
        return compute(node.body, [view], batch=node.batch, dtype=node.dtype)

    def _of_join(self, node: Tensor) -> Tensor | None:
        """Return the join of two folds, or of a fold and an element, as one fold; None if *node* is no join."""
        body = node.body
        if body is None or body.over or body.random or body.attributes or len(node.inputs) != 2:
            return None
        found = [_source(view) for view in node.inputs]
        folds = [f for f in found if f is not None and f.body is not None and f.body.joins == body.function]
        if not folds or not self._may_merge(node, *folds) or any(f.body != folds[0].body for f in folds):
            return None
        if len(folds) == 1 and not _is_plain(folds[0]):
            return None
        fold, pieces = folds[0].body, []
        assert fold is not None
        for view, inner in zip(node.inputs, found, strict=True):
            if inner is not None and inner.body == fold:
                pieces.append([moved(view, {inner.key: v}, inner.batch) for v in inner.inputs])
            elif view.dtype == node.dtype:
                pieces.append([expand_dims(view, -1)])
            else:
                return None
        if len(pieces[0]) != len(pieces[1]):
            return None
        self.joined += 1
        if self.turned:
            pieces.reverse()
        views = _joined(pieces, node.batch, node.facts)
        return compute(fold, views, batch=node.batch, dtype=node.dtype)

    def _may_merge(self, node: Tensor, *folds: Tensor) -> bool:
        """Return whether folds may be taken as parts of *node*: they are of its function, and no law is missing."""
        function = node.body and (node.body.joins or node.body.function)
        for f in folds:
            if f.body is None or f.body.joins is None or f.body.joins != function or f.body.random:
                return False
            if f.rank != f.batch or f.dtype != node.dtype:
                return False
        return all(_is_exact(f) for f in folds) or self._may_use(REASSOCIATE)

    def _may_use(self, *laws: str) -> bool:
        """Return whether *laws* are granted, and note that they are used or wanted."""
        granted = self.laws.issuperset(laws)
        (self.used if granted else self.wanted).update(laws)
        return granted


def _without_units(node: Tensor) -> Tensor:
    """Return a fold as one whose batch has no axis of extent 1, with these axes added after; others as they are."""
    units = [k for k in range(node.batch) if node.facts.reduce(node.extents[k]) == 1]
    if node.body is None or node.body.joins is None or not units or node.rank != node.batch:
        return node
    views = [squeeze(view, units) for view in node.inputs]
    return expand_dims(compute(node.body, views, batch=node.batch - len(units), dtype=node.dtype), units)


def _is_plain(node: Tensor) -> bool:
    """Return whether a value is a fold of elements, and not of products of elements."""
    body = node.body
    return (
        body is not None
        and body.joins is not None
        and len(node.inputs) == 1
        and node.rank == node.batch
        and node.dtype is not None
        and node.dtype == node.inputs[0].dtype
    )


def _is_real(node: Tensor) -> bool:
    """Return whether the elements of a value are floats."""
    return node.dtype is not None and element_type(node.dtype).kind == "f"


def _is_exact(node: Tensor) -> bool:
    """Return whether the fold of parts has the bits of the fold of all terms."""
    assert node.body is not None
    return node.dtype is not None and (node.body.exact or node.dtype.kind in "iub")


def _source(view: Tensor, fold: Body | None = None) -> Tensor | None:
    """Return the computed value that a view reads everywhere; None if it reads no such.

    It may read fills, too, if these are what *fold* makes of no term, and of any number of them.
    """
    dtype = view.dtype
    while view.declared is not None:
        fills = [case.fill for case in view.declared.cases if case.fill is not None]
        if len(view.inputs) != 1 or any(not is_neutral(fill, fold, dtype) for fill in fills):
            return None
        if not isinstance(view.again, Application):
            return None
        (view,) = view.inputs
    return view if view.body is not None else None


def _joined(pieces: Sequence[Sequence[Tensor]], batch: int, facts: Facts) -> list[Tensor]:
    """Return views over the terms of both pieces: along the only axis that differs, or over all terms in one axis."""
    one, other = (p[0].extents[batch:] for p in pieces)
    if len(one) == len(other):
        apart = [k for k, (x, y) in enumerate(zip(one, other, strict=True)) if not equal(x, y, facts)]
        if one and len(apart) < 2:
            axis = batch + (apart[0] if apart else 0)
            return [concatenate([v, w], axis) for v, w in zip(*pieces, strict=True)]
    flat = [[_flat(v, batch) for v in piece] for piece in pieces]
    return [concatenate([v, w], batch) for v, w in zip(*flat, strict=True)]


def _flat(view: Tensor, batch: int) -> Tensor:
    if view.rank == batch + 1:
        return view
    if view.rank == batch:
        return expand_dims(view, -1)
    return reshape(view, (*view.shape[:batch], prod(view.shape[batch:])))
