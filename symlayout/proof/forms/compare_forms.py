"""Decide whether two computed elements are equal over the real numbers, and by which laws they are equal as floats.

Two claims are decided.  A fused function, such as a Gelu, is the chain of operations that has its formula: the standard
gives the formula over real numbers, and no order of rounding, so no law is needed.  Other chains of sums, products and
contractions with equal forms round in different ways: `laws_of` names the laws that make them equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from math import prod
from typing import Any, Protocol

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import digit_name
from symlayout.algebra.polynomial import Extent, names_of, symbol
from symlayout.errors import InconclusiveError
from symlayout.ops.broadcast import broadcast_to
from symlayout.proof.cases.compare_constants import elements_at
from symlayout.proof.cases.read_element import SideRead
from symlayout.proof.classes import are_one_expression
from symlayout.proof.congruence import equal
from symlayout.proof.forms.coefficients import Coefficient, Rounding
from symlayout.proof.forms.embedded_sums import have_other_boxes, with_larger_boxes
from symlayout.proof.forms.function_forms import applied, plain_atoms
from symlayout.proof.forms.padded_functions import has_each_element, is_finite, is_zero_of, polynomial
from symlayout.proof.forms.real_forms import COMPUTED, Atom, Atoms, Form, Key, UnformedError
from symlayout.proof.forms.special_values import Formula
from symlayout.proof.laws import FOLD, REAL, REASSOCIATE, RECIPROCAL, SIGNED_ZERO
from symlayout.proof.pull_functions import fills_of, moved, moved_values
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import constant
from symlayout.tensors.declaration import Body
from symlayout.tensors.element_types import element_type
from symlayout.tensors.uniform_constants import everywhere

FORMULA = "formula"  # needs not be granted, but does not hold bit for bit
_STEPS, _MOST_ON_THE_WAY = 2, 8
_DEEPEST = 12  # operations, one after the other, that are taken apart
_FIRST_DIGIT = 500_000  # of those that boxes get here


class Judge(Protocol):
    """Decides whether reads are equal, until the facts have visited *limit* goals."""

    limit: int

    def element(
        self, view: Tensor, side: int, coords: Sequence[Extent], facts: Facts, *, inside: bool = False
    ) -> SideRead | None:
        """Return what *view* reads at *coords*; None if that depends on the coordinate.

        If *inside*, facts are added: that no fill is read there.
        """

    def same_elements(self, a: SideRead, b: SideRead, facts: Facts) -> bool:
        """Return whether two reads are proved to be equal."""

    def note_formula(self, formula: Formula) -> None:
        """Keep what was shown to be a fused function and the chain with its formula."""

    def same_views(self, v: Tensor, w: Tensor, at: Sequence[Extent], bt: Sequence[Extent], facts: Facts) -> bool:
        """Return whether two views are proved to be equal at these coordinates."""


def can_match(a: Tensor, b: Tensor, *, granted: bool) -> bool:
    """Return whether forms can say more of two computed values than that their functions are one.

    Without a law that is *granted*, values of one function are equal only if their operands are.
    """
    if a.dtype is None or a.dtype != b.dtype or a.dtype.kind != "f" or a.body is None or b.body is None:
        return False
    if a.body.function is None or b.body.function is None or a.body.random or b.body.random:
        return False
    if a.body == b.body:
        return granted and (a.body.sums_products or a.body.symmetric)
    return granted or any(is_fused(body) or _has_one_step(body) for body in (a.body, b.body))


def laws_of(
    judge: Judge, reads: tuple[SideRead, SideRead], facts: Facts, *, granted: frozenset[str]
) -> frozenset[str] | None:
    """Return the laws under which two computed elements are equal; None if *granted* laws do not show that.

    `FORMULA` is among them, with the names of the functions after it, if a fused function is the chain that has its
    formula.  No law is named without which the forms are equal, too.
    """
    bodies = [read.leaf.body for read in reads if read.leaf is not None]
    for fused in (0, 1):
        if is_fused(bodies[fused]) and _is_formula(judge, reads, fused, facts.fork()):
            leaf = reads[fused].leaf
            return frozenset({FORMULA, f"{FORMULA} {leaf.name if leaf is not None else ''}"})
    if _is_one_operation(judge, reads, facts.fork()):
        return frozenset()
    used = _laws_by_forms(judge, reads, facts, granted) if granted else None
    if granted and used is None:
        used = _laws_by_forms(judge, reads, facts, granted | {FORMULA})
    for law in (REAL, SIGNED_ZERO, RECIPROCAL, FOLD, REASSOCIATE):
        if used is not None and law in used:
            with suppress(InconclusiveError):  # the goals are spent: the law is named, though it may not be needed
                fewer = _laws_by_forms(judge, reads, facts, used - {law})
                used = used if fewer is None else fewer
    return used


def _laws_by_forms(
    judge: Judge, reads: tuple[SideRead, SideRead], facts: Facts, granted: frozenset[str]
) -> frozenset[str] | None:
    """Return the laws of the steps by which two elements have equal forms; None if they have not."""
    for expand in (None, 0, 1, 2):
        reader = _Reader(judge, facts.fork(), reads, laws=granted)
        if expand is None:
            reader.stop_at_equal(reads)
        forms = [reader.element(read, side) for side, read in enumerate(reads)]
        try:
            forms = [reader.expanded(f, deep=expand == 2) if expand else f for f in forms]
        except UnformedError:
            continue
        if not forms[0].is_near(forms[1]) and expand and have_other_boxes(forms):
            forms = [with_larger_boxes(f, reader, reader.extents()) for f in forms]
        if forms[0].is_near(forms[1]) and (FOLD not in reader.atoms.used or reader.atoms.computed):
            return reader.laws()
    return None


@lru_cache(maxsize=4096)
def _steps(body: Body) -> int:
    """Return how many operations a function of single elements applies to forms; 0 if it cannot be applied to them."""
    atoms = plain_atoms()
    assert body.function is not None
    for number in (1, 2, 3, 4, 5):
        try:
            body.function(*(atoms.form(Atom("read", (k,))) for k in range(number)), **dict(body.attributes))
        except (TypeError, ValueError, AttributeError):
            continue
        return atoms.steps
    return 0


def is_fused(body: Body | None) -> bool:
    """Return whether a function does in one what several operations do."""
    if body is None or body.function is None or body.random or body.commutative:
        return False
    return body.over or _steps(body) > 1


def _has_one_step(body: Body) -> bool:
    """Return whether a function is a sum of products, or a single operation on elements."""
    return body.sums_products or (not body.over and _steps(body) == 1)


def _is_formula(judge: Judge, reads: tuple[SideRead, SideRead], fused: int, facts: Facts) -> bool:
    """Return whether one element is a fused function of what the other element computes in several steps."""
    functions = [read.leaf.body.function for read in reads if read.leaf is not None and read.leaf.body is not None]
    if functions[0] is functions[1]:  # with other attributes, a function is another one, and no formula of it
        return False
    reader = _Reader(judge, facts, reads)
    made = reader.of_body(reads[fused], fused, stop=True)
    if made is None or reader.atoms.steps < 2:
        return False
    reader.met = {}
    other = reader.element(reads[1 - fused], 1 - fused)
    if not made.is_near(other) or reader.atoms.computed:
        return False
    function, chain = reads[fused].leaf, reads[1 - fused].leaf
    assert function is not None
    assert chain is not None
    operands = tuple((stop.content[1].leaf, x) for stop, x in reader.met.values())
    judge.note_formula(Formula(function, chain, operands))
    return True


def _is_one_operation(judge: Judge, reads: tuple[SideRead, SideRead], facts: Facts) -> bool:
    """Return whether both elements are one sum, product or quotient with the same value over the real numbers.

    Such an operation gives the float next to that value, so both are equal bit for bit.  That is not shown of more
    operations, nor of other factors: what is computed between them may overflow, underflow or be rounded.  Nor is it
    shown of roots: ``x ** 0.5`` of -0 and of minus infinity is not ``sqrt(x)``.
    """
    bodies = [read.leaf.body for read in reads if read.leaf is not None]
    if any(body is None or body.sums_products or not _has_one_step(body) for body in bodies):
        return False
    reader = _Reader(judge, facts, reads)
    forms = [reader.of_body(read, side, stop=True) for side, read in enumerate(reads)]
    left, right = forms
    if left is None or right is None or not left.is_near(right):
        return False
    if len(left.terms) != 1 or len(right.terms) != 1:  # 0 + x of -0 is 0
        return False
    (((powers, _), value),) = left.terms.items()
    return all(e in (1, 2) for _, e in powers) and sum(e for _, e in powers) <= 2 and value.is_power_of_two


@dataclass(slots=True)
class _Reader:
    """Makes forms of elements.

    Attributes
    ----------
    stops : list of Atom
        Elements that are not taken apart.
    """

    judge: Judge
    facts: Facts
    atoms: Atoms
    stops: list[Atom]
    boxes: dict[tuple[int, str], Extent]
    depth: int
    memo: dict[tuple[int, tuple[Any, ...], int], Form]
    kept: list[Any]
    fused: set[str]
    met: dict[int, tuple[Atom, Tensor]]

    def __init__(
        self, judge: Judge, facts: Facts, reads: Sequence[SideRead], *, laws: frozenset[str] | None = None
    ) -> None:
        leaf = reads[0].leaf
        assert leaf is not None
        self.judge, self.facts = judge, facts
        dtype = np.dtype(leaf.dtype or np.float64)
        self.atoms = Atoms(self._same, Rounding(dtype, folds=laws is not None), laws)
        self.stops, self.boxes, self.memo, self.kept, self.depth = [], {}, {}, [], 0
        self.fused, self.met = set(), {}

    # ------------------------------------------------------------------ elements

    def stop_at_equal(self, reads: Sequence[SideRead]) -> None:
        """Do not take apart what both sides read on the way, so that no law is needed for it."""
        left, right = (self._on_the_way(read, side) for side, read in enumerate(reads))
        for x in left:
            for y in right:
                if x.leaf.body == y.leaf.body and self.judge.same_elements(x, y, self.facts):
                    self.stops.append(Atom("read", (0, x)))
                    break

    def _on_the_way(self, read: SideRead, side: int) -> list[Any]:
        """Return what an element is computed of, in a few steps of elementwise functions."""
        found: list[Any] = []
        level: list[Any] = [read]
        for _ in range(_STEPS):
            operands: list[Any] = []
            for r in level:
                if r.leaf is not None and r.leaf.body is not None and not r.leaf.body.over:
                    operands += [self.judge.element(view, side, r.coords, self.facts) for view in r.leaf.inputs]
            level = [r for r in operands if r is not None and r.leaf is not None and r.leaf.body is not None]
            found += level
        return found[:_MOST_ON_THE_WAY]

    def element(self, read: SideRead, side: int) -> Form:
        """Return the form of an element that is read."""
        leaf = read.leaf
        if leaf is None:
            return self._number(read.fill)
        key = id(leaf), tuple(self.facts.reduce(e) for e in read.coords), side
        if key not in self.memo:
            self.kept.append(leaf)
            self.depth += 1
            try:
                self.memo[key] = self._element(read, side)
            finally:
                self.depth -= 1
        return self.memo[key]

    def _element(self, read: SideRead, side: int) -> Form:
        leaf = read.leaf
        assert leaf is not None
        self._spend()
        if leaf.values is not None:
            found = elements_at(leaf.values, read.coords, self.facts) if leaf.values.dtype.kind in "fiu" else None
            if found is not None:
                names, array = found
                folds = self.atoms.laws is not None and bool(leaf.rounding) and self.atoms.may(COMPUTED)
                error = np.asarray(leaf.rounding if folds else 0.0)
                return self.atoms.number(Coefficient(names, array.astype(np.float64), error))
        atom = Atom("read", (side, read))
        if self.depth > _DEEPEST:
            return self.atoms.form(atom)
        for stop in self.stops:
            if stop.kind == "read" and self._same(stop, atom):
                self.met[id(leaf)] = stop, leaf
                return self.atoms.form(stop)
        made = None if leaf.body is None else self.of_body(read, side)
        return self.atoms.form(atom) if made is None else made

    def _number(self, fill: Any) -> Form:
        if isinstance(fill, int | float | np.integer | np.floating):
            return self.atoms.number(float(fill))
        raise UnformedError("a fill that is no number")

    def of_body(self, read: SideRead, side: int, *, stop: bool = False) -> Form | None:
        """Return the form of a computed element, or None if it is not taken apart; *stop* makes its operands atoms."""
        node = read.leaf
        assert node is not None
        body = node.body
        if body is None or body.function is None or body.random or body.sums_products or not _is_float(node):
            return None
        if any(v.dtype != node.dtype and _is_float(v) for v in node.inputs):
            return None  # a conversion rounds
        if self.atoms.laws is not None and is_fused(body) and not stop:
            if FORMULA not in self.atoms.laws:
                return None
            self.fused.add(f"{FORMULA} {node.name}")
        at, place = read.coords[: node.batch], read.coords[node.batch :]
        operands: list[Form] = []
        try:
            for view in node.inputs:
                form = self._operand(view, side, (*at, *place) if body.over else at, stop)
                if body.over:
                    form = self._vector(view, side, at, form if place else None, stop)
                operands.append(form)
        except (TypeError, ValueError, AttributeError):  # the function does what forms do not
            return None
        made = applied(body, operands, **({"axes": tuple(range(-len(operands[0].box), 0))} if body.over else {}))
        return None if made is None else Form(made.atoms, made.terms)

    def _operand(self, view: Tensor, side: int, coords: Sequence[Extent], stop: bool) -> Form:
        if len(coords) != view.rank:  # a reduction has no place in the box
            return self.atoms.number(0)
        read = self.judge.element(view, side, coords, self.facts)
        if read is None:
            atom = Atom("view", (side, view, tuple(coords)))
        elif not stop or read.leaf is None or read.leaf.values is not None:
            return self.element(read, side)
        else:
            atom = Atom("read", (side, read))
        if stop:
            self.stops.append(atom)
        return self.atoms.form(atom)

    def _vector(self, view: Tensor, side: int, at: Sequence[Extent], own: Form | None, stop: bool) -> Form:
        """Return an element of a vector that also knows the element at any place."""
        box = self._box(view.extents[len(at) :], at)
        inner = self._operand(view, side, (*at, *(digit for digit, _ in box)), stop)
        named = tuple((str(digit), extent) for digit, extent in box)
        return Form(self.atoms, (inner if own is None else own).terms, inner, named)

    def _box(self, extents: Iterable[Extent], used: Sequence[Extent]) -> list[tuple[Extent, Extent]]:
        """Return digits for the axes of a box: the same for boxes of the same extents, but none of those *used*."""
        taken = {name for e in used for name in names_of(e)}
        found: list[tuple[Extent, Extent]] = []
        for extent in map(self.facts.reduce, extents):
            if extent == 1:
                found.append((0, 1))
                continue
            for k in count():
                key = k, str(extent)
                if key not in self.boxes:
                    names = (digit_name(_FIRST_DIGIT + n) for n in count(len(self.boxes)))
                    free = next(name for name in names if name not in self.facts.low)  # others are of readers around
                    self.boxes[key] = self.facts.add_digit(free, extent)
                if not names_of(self.boxes[key]) & taken:
                    break
            taken |= names_of(self.boxes[key])
            found.append((self.boxes[key], extent))
        return found

    def form_at(self, view: Tensor, side: int, coords: Sequence[Extent]) -> Form | None:
        """Return the form of what *view* reads at *coords*; None if that depends on the coordinate."""
        read = self.judge.element(view, side, coords, self.facts) if view.declared is not None else None
        read = SideRead(view, tuple(coords), None, ()) if view.declared is None else read
        return None if read is None or read.leaf is None else self.element(read, side)

    def extents(self) -> dict[str, int]:
        """Return the extents of digits that are numbers."""
        ends = {name: self.facts.interval(symbol(name)) for name in self.facts.low}
        return {name: high + 1 for name, (low, high) in ends.items() if low == 0 and high is not None}

    # ------------------------------------------------------------------ sums of products

    def expanded(self, form: Form, *, deep: bool) -> Form:
        """Return a form with the sums of products that are factors of its terms written out.

        If *deep*, what they add is taken apart, too.
        """
        if not self.atoms.may("terms in another order", of_constant=True):
            return form
        kept: dict[Key, Coefficient] = {}
        sums: list[Form] = []
        for (powers, box), value in form.terms.items():
            made, rest = None, list(powers)
            for number, exponent in powers if not box else ():
                atom = self.atoms.found[number]
                if exponent == 1 and atom.kind in ("read", "sum", "mean"):
                    one, other = atom.content
                    made = self._sum(other, one, deep) if atom.kind == "read" else self._sum_of_terms(one, other)
                    if atom.kind == "mean" and made is not None:
                        size = prod(e if isinstance(e, int) else 0 for _, e in other)
                        made = made / size if size else None
                    if made is not None:
                        rest.remove((number, exponent))
                        break
            if made is None:
                kept[powers, box] = value
            else:
                sums.append(
                    made
                    if not rest and value.is_unit and value.array.item() == 1
                    else Form(self.atoms, {(tuple(rest), ()): value}) * made
                )
        total = Form(self.atoms, kept)
        for made in sums:
            total += made
        return total

    def _sum(self, read: SideRead, side: int, deep: bool) -> Form | None:
        node = read.leaf
        if node is None or node.body is None or not node.body.sums_products:
            return None
        box = self._box(node.inputs[0].extents[node.batch :], read.coords)
        product: Form = self.atoms.number(1)
        for view in node.inputs:
            coords = (*read.coords, *(digit for digit, _ in box))
            found = self.judge.element(view, side, coords, self.facts)
            form = None
            if found is None:
                form = self._padded(view, side, coords) if deep else None
            elif deep or found.leaf is None or found.leaf.values is not None:
                form = self.element(found, side)
            product *= self.atoms.form(Atom("view", (side, view, coords))) if form is None else form
        over = self._over([str(digit) for digit, _ in box if digit != 0])
        if any(inner for _, inner in product.terms) or not self._may_part(product):
            return None
        return Form(self.atoms, {(powers, over): value for (powers, _), value in product.terms.items()})

    def _over(self, digits: list[str]) -> tuple[str, ...]:
        """Return the digits that terms are added over: in order, if that matters."""
        laws = self.atoms.laws
        return tuple(digits if laws is not None and REASSOCIATE not in laws else sorted(digits))

    def _sum_of_terms(self, inner: Form, box: Sequence[tuple[str, Extent]]) -> Form | None:
        """Return the sum of a form over a box as the sums of its terms; None if one of these is a sum already."""
        over = self._over([digit for digit, extent in box if extent != 1])
        if any(other for _, other in inner.terms) or not self._may_part(inner):
            return None
        return Form(self.atoms, {(powers, over): value for (powers, _), value in inner.terms.items()})

    def _may_part(self, form: Form) -> bool:
        """Return whether what a sum adds up may be parted into its terms."""
        free = sum(bool(powers) for powers, _ in form.terms)
        return len(form.terms) < 2 or self.atoms.may("terms in another order", of_constant=free < 2)

    def _padded(self, view: Tensor, side: int, coords: Sequence[Extent]) -> Form | None:
        """Return the form of a function's value that is padded with 0; None if the pads are not those of operands.

        A product is 0 where one factor is: that factor is padded, and the others are read as if there were no pads.
        Other functions, such as a sum, are 0 where all operands are.
        """
        leaves = moved_values(view)
        if len(leaves) != 1 or not _is_float(leaves[0]) or view.dtype != leaves[0].dtype or self.depth > _DEEPEST:
            return None
        (leaf,) = leaves
        if any(not isinstance(fill.value, int | float | np.floating) or fill.value != 0 for fill in fills_of(view)):
            return None
        self._spend()
        constants = [everywhere([operand]) for operand in leaf.inputs]
        free = [k for k, c in enumerate(constants) if c is None]
        for padded in (*([k] for k in free), free):
            others = [leaf.inputs[k] for k in free if k not in padded]
            # 0 is multiplied with finite constants, or with what has no element there, so that nothing is multiplied
            has_zeros = all(is_finite(v) or has_each_element(v) for v in others)
            if is_zero_of(leaf, padded, constants) and (has_zeros or self.atoms.may("a product with 0")):
                operands = self._operands_of_padded(view, leaf, padded, side, coords)
                if operands is not None:
                    assert leaf.body is not None
                    made: Any = leaf.body.function and leaf.body.function(*operands, **dict(leaf.body.attributes))
                    return Form(made.atoms, made.terms) if isinstance(made, Form) else None
        return self._padded_terms(view, leaf, constants, side, coords)

    def _padded_terms(
        self, view: Tensor, leaf: Tensor, constants: Sequence[Any], side: int, coords: Sequence[Extent]
    ) -> Form | None:
        """Return the form of a function's value that is padded with 0 as the sum of its terms, each padded with 0.

        A product of operands is padded where one of them is.  A number is one where there are no pads, and 0 there.
        """
        made = polynomial(leaf, constants)
        if made is None or not self.atoms.may("a product with a sum", of_constant=True):
            return None
        names = {number: k for number, k in enumerate(k for k, c in enumerate(constants) if c is None)}
        total = Form(self.atoms, {})
        for (powers, _), value in made.terms.items():
            factor: Form = self.atoms.number(value)
            if not powers:
                inside = np.ones((), leaf.dtype)
                there = moved(view, {leaf.key: broadcast_to(constant(inside, "inside"), leaf.shape)}, leaf.batch)
                self.kept.append(there)
                total += factor * self.atoms.form(Atom("view", (side, there, tuple(coords))))
                continue
            operands = self._operands_of_padded(view, leaf, [names[powers[0][0]]], side, coords)
            if operands is None:
                return None
            for number, _ in powers:
                factor = factor * operands[names[number]]
            total += factor
        return total

    def _operands_of_padded(
        self, view: Tensor, leaf: Tensor, padded: Sequence[int], side: int, coords: Sequence[Extent]
    ) -> list[Form] | None:
        """Return the forms of operands of *leaf*, as *view* moves it: those *padded* as it says, the others without."""
        found: list[Form] = []
        for k, operand in enumerate(leaf.inputs):
            there = moved(view, {leaf.key: operand}, leaf.batch)
            facts = self.facts.fork()
            read = self.judge.element(there, side, coords, facts, inside=k not in padded)
            if read is not None and all(names_of(e) <= self.facts.low.keys() for e in read.coords):
                found.append(self.element(read, side))
            elif k in padded:
                self.kept.append(there)
                made = self._padded(there, side, coords)
                atom = Atom("view", (side, there, tuple(coords)))
                found.append(self.atoms.form(atom) if made is None else made)
            else:
                return None
        return found

    # ------------------------------------------------------------------ what was found

    def _spend(self) -> None:
        """Count an element, or a comparison of two, as a goal."""
        self.facts.spend(1)
        if self.facts.effort > self.judge.limit:
            raise InconclusiveError("the formulas agree, within the budget of goals")

    def _same(self, a: Atom, b: Atom) -> bool:
        if a.kind != b.kind:
            return False
        self._spend()
        a, b = (b, a) if a.content[0] > b.content[0] else (a, b)  # answers are kept of the left with the right
        if a.kind == "view":
            (s, v, at), (t, w, bt) = a.content, b.content
            if s == t:
                return are_one_expression(v, w) and self._equal(at, bt)
            return self.judge.same_views(v, w, at, bt, self.facts)
        (s, x), (t, y) = a.content, b.content
        if s == t:
            return (x.leaf is y.leaf or x.leaf.key == y.leaf.key) and self._equal(x.coords, y.coords)
        if x.leaf.body != y.leaf.body:  # only what is fused may be another function than what it is equal to
            is_stop = a in self.stops or b in self.stops
            if not is_stop or not (is_fused(x.leaf.body) or is_fused(y.leaf.body)):
                return False
        return self.judge.same_elements(x, y, self.facts)

    def _equal(self, at: Sequence[Extent], bt: Sequence[Extent]) -> bool:
        return all(equal(x, y, self.facts) for x, y in zip(at, bt, strict=True))

    def laws(self) -> frozenset[str]:
        """Return the laws under which elements with equal forms are equal as floats."""
        return frozenset(self.atoms.used | ({FORMULA, *self.fused} if self.fused else set()))


def _is_float(t: Tensor) -> bool:
    return t.dtype is not None and element_type(t.dtype).kind == "f"
