"""Elements whose signs are turned: by a negation, or a factor of 1 or -1.

Only the bit of the sign changes, so such elements are compared without a law: ``-x`` is ``x * -1``, and ``-x * y`` is
``x * -y``.  A constant factor may be 1 at some places and -1 at others: it is looked at where the facts of a case hold.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent
from symlayout.errors import InconclusiveError
from symlayout.proof.cases.compare_constants import elements_at, same_elements
from symlayout.proof.cases.read_element import SideRead
from symlayout.proof.forms.function_forms import form_of
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Body
from symlayout.tensors.element_types import element_type
from symlayout.tensors.uniform_constants import uniform
from symlayout.walks import Walk

_MOST_SIGNS = 4  # that are turned, one after the other
_MOST_NODES = 64  # between a product and what its operands are moved from
_ONCE = ((0, Fraction(1)),)  # the power of an element that is a factor


class Reader(Protocol):
    """Reads the elements of both sides of a claim, and compares them."""

    def read(
        self, node: Tensor, coords: Sequence[Extent], facts: Facts, *, side: int, inside: bool = False
    ) -> SideRead:
        """Return what *node* reads at *coords*; `OpenSign` if that depends on the coordinate."""

    def element(
        self, view: Tensor, side: int, coords: Sequence[Extent], facts: Facts, *, inside: bool = False
    ) -> SideRead | None:
        """Return what *view* reads at *coords*; None if that depends on the coordinate."""

    def same_elements(self, a: SideRead, b: SideRead, facts: Facts) -> bool:
        """Return whether two reads are proved to be equal."""


def differ_by_no_sign(reader: Reader, reads: tuple[SideRead, SideRead], facts: Facts) -> bool:
    """Return whether both elements are one element with as many signs turned, and signs are turned on a side."""
    (negative, x), (other, y) = (_unsigned(reader, read, side, facts) for side, read in enumerate(reads))
    return negative == other and (x is not reads[0] or y is not reads[1]) and reader.same_elements(x, y, facts)


def are_products_of_one_sign(reader: Reader, reads: tuple[SideRead, SideRead], facts: Facts) -> bool:
    """Return whether both elements are one product, or quotient, of equal elements with as many signs turned.

    It is decided where a side turns signs.  Then it is asked which element each operand is: `OpenSign` if that depends
    on the coordinate.
    """
    a, b = (read.leaf for read in reads)
    if a is None or b is None or a.body is None or a.body != b.body or not multiplies(a.body):
        return False
    if len(a.inputs) != 2 or not any(map(_may_turn_signs, (*a.inputs, *b.inputs))):
        return False
    if not all(_is_float(t) for t in (a, b, *a.inputs, *b.inputs)):
        return False
    found = []
    for side, (t, read) in enumerate(zip((a, b), reads, strict=True)):
        operands = [reader.read(view, read.coords, facts, side=side) for view in t.inputs]
        if any(operand.leaf is None for operand in operands):
            return False
        found.append([_unsigned(reader, operand, side, facts) for operand in operands])
    orders = (found[1], found[1][::-1]) if a.body.symmetric else (found[1],)
    try:
        return any(_agree(reader, found[0], order, facts) for order in orders)
    except InconclusiveError:  # the goals are spent
        return False


def _agree(
    reader: Reader, left: Sequence[tuple[bool, SideRead]], right: Sequence[tuple[bool, SideRead]], facts: Facts
) -> bool:
    """Return whether factors are equal up to their signs, and as many of them are turned, but for an even number."""
    turned = False
    for (negative, x), (other, y) in zip(left, right, strict=True):
        if not reader.same_elements(x, y, facts):
            if not _are_negatives(x, y, facts):
                return False
            turned = not turned
        turned ^= negative ^ other
    return not turned


def _are_negatives(x: SideRead, y: SideRead, facts: Facts) -> bool:
    """Return whether each element of one constant is the negative of the other one's, bit for bit."""
    if x.leaf is None or y.leaf is None or x.leaf.values is None or y.leaf.values is None:
        return False
    return same_elements(np.negative(x.leaf.values), y.leaf.values, x.coords, y.coords, facts) is not None


def _unsigned(reader: Reader, read: SideRead, side: int, facts: Facts) -> tuple[bool, SideRead]:
    """Return the element behind all negations of an element, and whether their number is odd."""
    negative = False
    for _ in range(_MOST_SIGNS):
        found = _sign(reader, read, side, facts)
        if found is None:
            break
        turned, read = found
        negative ^= turned
    return negative, read


def _sign(reader: Reader, read: SideRead, side: int, facts: Facts) -> tuple[bool, SideRead] | None:
    """Return the only element that a computed one depends on, and whether its sign is turned; None if more happens."""
    node = read.leaf
    body = None if node is None else node.body
    if node is None or body is None or not _is_arithmetic(body) or len(node.inputs) > 2:
        return None
    if not _is_float(node) or any(v.dtype != node.dtype for v in node.inputs):
        return None
    numbers: list[float | None] = []
    inner: list[SideRead] = []
    for view in node.inputs:
        operand = reader.element(view, side, read.coords, facts)
        if operand is None or (operand.leaf is None and operand.fill is None):
            return None
        numbers.append(_number(operand, facts))
        if numbers[-1] is None:
            inner.append(operand)
    if len(inner) != 1 or inner[0].leaf is None:
        return None
    sign = _factor(body, numbers, _ONCE)
    return None if sign is None else (sign < 0, inner[0])


def _number(read: SideRead, facts: Facts) -> float | None:
    """Return the number that is read; None if it is no constant, or not the same wherever the facts hold."""
    if read.leaf is None:
        return float(read.fill) if isinstance(read.fill, int | float | np.integer | np.floating) else None
    if read.leaf.values is None or element_type(read.leaf.values.dtype).kind != "f":
        return None
    found = elements_at(read.leaf.values, read.coords, facts)
    number = None if found is None else uniform(found[1])
    return None if number is None else float(number)


def _factor(body: Body, numbers: Sequence[float | None], powers: tuple[tuple[int, Fraction], ...]) -> int | None:
    """Return 1 or -1 if a function of *numbers*, and of an element for each None, is that times powers of elements."""
    made, _ = form_of(body, numbers)
    if made is None or list(made.terms) != [(powers, ())]:
        return None
    (value,) = made.terms.values()
    return int(value.array) if value.is_scalar and value.is_unit and not value.error.any() else None


@lru_cache(maxsize=4096)
def _is_arithmetic(body: Body) -> bool:
    """Return whether a function of single elements is one operation on forms."""
    if body.function is None or body.random or body.over:
        return False
    for number in (1, 2):
        made, atoms = form_of(body, [None] * number)
        if made is not None:
            return atoms.steps == 1
    return False


@lru_cache(maxsize=4096)
def multiplies(body: Body) -> bool:
    """Return whether a function is a product or a quotient of two elements."""
    powers = [(*_ONCE, (1, Fraction(sign))) for sign in (1, -1)]
    return _is_arithmetic(body) and any(_factor(body, [None, None], each) == 1 for each in powers)


def _may_turn_signs(view: Tensor) -> bool:
    """Return whether an operand is moved from a negated value, among others."""
    walk = Walk([view])
    for t in itertools.islice(walk, _MOST_NODES):
        is_function = t.body is not None and len(t.inputs) == 1 and _is_arithmetic(t.body)
        if is_function and t.body is not None and _factor(t.body, [None], _ONCE) == -1:
            return True
        if t.declared is not None:
            walk.to(t.inputs)
    return False


def _is_float(t: Tensor) -> bool:
    return t.dtype is not None and element_type(t.dtype).kind == "f"
