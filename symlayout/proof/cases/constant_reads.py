"""The element that is read where no input determines it: a fill, a constant, or what a function makes of those."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import digit_name, digits_of
from symlayout.algebra.polynomial import Extent, names_of
from symlayout.errors import ShapeError
from symlayout.proof.cases.read_element import OpenSign, SideRead
from symlayout.proof.fills.copies_of_terms import fold_of_copies
from symlayout.tensors.chain import Tensor
from symlayout.tensors.uniform_constants import uniform


@dataclass(frozen=True, slots=True)
class ConstantReads:
    """Evaluates reads that do not depend on the inputs.

    Attributes
    ----------
    read : callable
        Returns what a tensor reads at a coordinate, where facts hold.
    digits : iterator of int
        Numbers for the digits of boxes; none is taken twice.
    of_reals : bool
        Whether a sum of products with a factor 0 is 0 for floats, too, of which some are infinite.
    """

    read: Callable[[Tensor, Sequence[Extent], Facts], SideRead]
    digits: Iterator[int]
    of_reals: bool = False

    def element(self, read: SideRead, facts: Facts) -> Any:
        """Return the element that is read, as an array, if it does not depend on the inputs; else None."""
        node = read.leaf
        if node is None:
            return np.asarray(read.fill)
        if node.values is not None:
            return uniform(node.values)
        if node.body is None or node.body.random or node.body.function is None:
            return None
        if node.body.over:
            return self._fold(node, read.coords, facts)
        operands = []
        for view in node.inputs:
            value = self.element(self.read(view, read.coords, facts), facts)
            if value is None:
                return None
            operands.append(value if view.dtype is None else np.asarray(value).astype(view.dtype))
        with np.errstate(all="ignore"):
            return np.asarray(node.body.function(*operands, **dict(node.body.attributes)))

    def _fold(self, node: Tensor, coords: Sequence[Extent], facts: Facts) -> Any:
        """Return what a fold makes of terms of which each is one constant, however many there are; None if it varies.

        If two such terms make what one makes, so do all numbers of them but 0.
        """
        body = node.body
        if body is None or body.joins is None or node.rank != node.batch:
            return None
        if body.sums_products:
            return self._product(node, coords, facts)
        if len(node.inputs) > 1:
            return None
        (view,) = node.inputs
        term = self._term(view, node.batch, coords, facts)
        found = (
            None if term is None or view.dtype is None else fold_of_copies(body, np.asarray(term).astype(view.dtype))
        )
        extents = [facts.reduce(e) for e in view.extents[node.batch :]]
        if found is None or not (found.of_none or all(facts.positive(e) for e in extents)):
            return None
        return found.value

    def _product(self, node: Tensor, coords: Sequence[Extent], facts: Facts) -> Any:
        """Return 0 if one factor of all products is 0; None if none is, or infinite factors may make it NaN."""
        if node.dtype is None or (node.dtype.kind not in "iu" and not self.of_reals):
            return None
        terms = (self._term(view, node.batch, coords, facts) for view in node.inputs)
        return np.zeros((), node.dtype) if any(term is not None and term == 0 for term in terms) else None

    def _term(self, view: Tensor, batch: int, coords: Sequence[Extent], facts: Facts) -> Any:
        """Return the element that *view* reads everywhere in its box, if no input determines it; None if it varies."""
        facts = facts.fork()
        facts.splits = None  # a question about a part of a digit is not one of the whole claim
        extents = [facts.reduce(e) for e in view.extents[batch:]]
        try:
            facts.meet(extents)
            names = [digit_name(next(self.digits)) for _ in extents]
            box = [0 if e == 1 else facts.add_digit(name, e) for name, e in zip(names, extents, strict=True)]
            return self.element(self.read(view, (*coords, *box), facts), facts)
        except ShapeError as error:
            if error.kind != "infeasible":
                raise
            return None
        except OpenSign as question:
            if any(digits_of(n, facts) & set(names) for n in names_of(question.value)):  # some terms may differ
                return None
            raise
