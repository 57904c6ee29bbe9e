"""Give an array a larger shape by reading elements more than once."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

from symlayout.algebra.polynomial import Extent, exact_quotient, names_of, text
from symlayout.budgets import limits
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.declaration import Declared, Operand, index_map


@core_operation
def broadcast_to(x: Operand, shape: Any) -> Declared:
    """Return *x* broadcast to *shape*: ``i = o % n`` on each axis of extent *n*; new axes come first.

    Parameters
    ----------
    shape : int, dim, expression, or a sequence of them
        At least as many extents as *x* has axes.  An extent ``n`` of *x* must be 1 or equal the extent ``m`` of
        *shape*.  If it is not known which, ``(n - 1)*(n - m) == 0`` becomes a requirement.

    Raises
    ------
    ShapeError
        ``size_mismatch`` if an extent of *x* is neither 1 nor that of *shape*, or an extent is negative;
        ``rank`` if *shape* has fewer axes than *x*; ``overflow``.

    References
    ----------
    `numpy.broadcast_to`.

    Examples
    --------
    >>> import symlayout as sl
    >>> W = sl.dim("W")
    >>> sl.broadcast_to(sl.tensor((1, W)), (5, 2, W)).shape
    (5, 2, W)
    """
    target = x.extents(shape, "shape")
    new = len(target) - x.rank
    if new < 0:
        raise ShapeError(f"{x.where}: shape has {len(target)} values, the rank is {x.rank}", "rank")
    for k, e in enumerate(target):
        x.require(e, "size_mismatch", "extent {} of axis {} is negative", e, k)
    repeated = [_is_repeated(x, k, n, e) for k, (n, e) in enumerate(zip(x.shape, target[new:], strict=True))]

    def coords(*o: Any) -> list[Any]:
        return [c % n if again else c for c, n, again in zip(o[new:], x.shape, repeated, strict=True)]

    return index_map(target, coords)


@core_operation
def broadcast_with(x: Operand, shape: Any) -> Declared:
    """Return *x* broadcast together with another shape: like `broadcast_to`, but *shape* may have extents of 1.

    Parameters
    ----------
    shape : int, dim, expression, or a sequence of them
        Extents of the last axes, if there are fewer than *x* has.  Two unknown extents are required to be equal,
        or one of them to be 1.  The result has the larger one, or 0 if one of them is 0.

    Raises
    ------
    ShapeError
        ``size_mismatch`` if two extents are not equal and neither is 1, or an extent is negative; ``overflow``.

    References
    ----------
    `numpy.broadcast_shapes`.

    Examples
    --------
    >>> import symlayout as sl
    >>> W = sl.dim("W")
    >>> broadcast_with(sl.tensor((4, W)), (5, 1, 1)).shape
    (5, 4, W)
    """
    given = x.extents(shape, "shape")
    target = [1] * (x.rank - len(given)) + given
    new = len(target) - x.rank
    for k, e in enumerate(target):
        x.require(e, "size_mismatch", "extent {} of axis {} is negative", e, k)
    domain = target[:new] + [_joint(x, k, n, e) for k, (n, e) in enumerate(zip(x.shape, target[new:], strict=True))]

    def coords(*o: Any) -> list[Any]:
        return [c if n == m else c % n for c, n, m in zip(o[new:], x.shape, domain[new:], strict=True)]

    return index_map(domain, coords)


def joint_extents(x: Operand, shapes: Sequence[Sequence[Extent]]) -> list[Extent]:
    """Return the extents of several shapes broadcast together; `ShapeError` ``size_mismatch`` if they do not fit."""
    domain: list[Extent] = [1] * max(map(len, shapes))
    for shape in shapes:
        new = len(domain) - len(shape)
        for axis, n in enumerate(shape, start=new):
            if n is not domain[axis]:
                domain[axis] = _joint(x, axis, n, domain[axis])
    return domain


def _joint(x: Operand, axis: int, n: Extent, e: Extent) -> Extent:
    """Return the extent of an axis that is broadcast from *n* and *e*, and require that the two fit."""
    if e == 1 or n == e:
        return n
    if n == 1 or _is_not_one(x, e):
        _is_repeated(x, axis, n, e)
        return e
    if _is_not_one(x, n):
        _require_product(x, axis, (e - 1) * (e - n), n, e)
        return n
    for part, whole in ((n, e), (e, n)):
        if _is_part(x, part, whole):
            return whole
        if (most := _most(x, part, whole)) is not None:
            x.require(most - whole, "size_mismatch", "axis {}: extent {} is not 1 and not {}", axis, part, whole)
            return whole
    for part, whole in ((n, e), (e, n)):
        other = exact_quotient(whole, part)
        if other is not None and _is_zero_or_one(x, other):  # where it is 0, the part has to be 0 or 1
            _require_product(x, axis, (part - 1) * (other - 1) * (part - other), n, e)
            return whole
    if _is_zero_or_one(x, n) or _is_zero_or_one(x, e):
        _require_product(x, axis, (n - 1) * (e - 1) * (n - e), n, e)
        return n * e
    first, second = _broadcast_from(x, n), _broadcast_from(x, e)
    parts = sorted(first | second, key=text)
    if len(parts) > limits.broadcast_parts:
        known = [f"the axis is broadcast from {len(parts)} extents, and at most {limits.broadcast_parts} are compared"]
        raise InconclusiveError(f"two extents of axis {axis} are equal, or one of them is 1", known)
    joint = x.minimum(functools.reduce(x.maximum, parts), math.prod(parts))  # first: the requirements decide no maximum
    for one, other in itertools.combinations(parts, 2):
        if not {one, other} <= first and not {one, other} <= second:
            _require_product(x, axis, (one - 1) * (other - 1) * (one - other), n, e)
    return joint


def _require_product(x: Operand, axis: int, product: Extent, n: Extent, e: Extent) -> None:
    """Require that *product* is 0: that the extents *n* and *e* fit."""
    rule = "axis {}: extents {} and {} are not equal, and neither is 1"
    x.require_equal(product, 0, "size_mismatch", rule, axis, n, e)


def _is_part(x: Operand, n: Extent, e: Extent) -> bool:
    """Return whether the facts say that *n* is 1 or equals *e*, since *e* is the joint extent of *n* and others."""
    if _broadcast_from(x, n) <= _broadcast_from(x, e):
        return True
    other = exact_quotient(e, n)
    if other is None:
        return False
    return _is_zero_or_one(x, n) or (_is_zero_or_one(x, other) and _fit(x, n, other))


def _most(x: Operand, n: Extent, e: Extent) -> Extent | None:
    """Return the number that *e* may be at most if *n* is 1 or *e*, since *n* is the minimum of both; None otherwise.

    The minimum of *e* and a number from 2 on is 1 only where *e* is.  An example is a slice up to a large end.
    """
    for pair in x.facts.either_of(n, -1):
        for one, most in (pair, pair[::-1]):
            if one == e and x.facts.positive(most - 1):
                return most
    return None


def _is_zero_or_one(x: Operand, e: Extent) -> bool:
    return x.facts.nonnegative(1 - e) and x.facts.nonnegative(e)


def _broadcast_from(x: Operand, e: Extent) -> frozenset[Extent]:
    """Return the extents that *e* is the joint extent of, as `_joint` writes it; only *e* if it is none.

    That is ``min(max(parts), product of the parts)`` of parts >= 0, or ``max(parts)`` of parts >= 1, where the facts
    say of every two parts that they fit.  Then each part is 1 or equals *e*.
    """
    forms: list[tuple[Extent, Extent | None]] = [(e, None)]
    for one, other in x.facts.either_of(e, -1):
        forms += [(one, other), (other, one)]
    for highest, product in forms:
        for parts in _parts_of_maximum(x, highest, product):
            least = 1 if product is None else 0
            if all(x.facts.nonnegative(part - least) for part in parts) and all(
                _fit(x, *pair) for pair in itertools.combinations(parts, 2)
            ):
                return frozenset(parts)
    return frozenset((e,))


def _fit(x: Operand, a: Extent, b: Extent) -> bool:
    """Return whether the facts say that *a* and *b* are equal, or that one of them is 1.

    Where one of them is a maximum, they say so at once or not at all: the cases of maxima within maxima are many.
    """
    product = x.facts.reduce((a - 1) * (b - 1) * (a - b))
    if product == 0 or {product, -product} <= x.facts.known.keys():
        return True
    definitions = x.facts.definitions
    if any(name in definitions and definitions[name].form == "max" for name in names_of(a) | names_of(b)):
        return False
    return x.facts.nonnegative(product) and x.facts.nonnegative(-product)


def _parts_of_maximum(x: Operand, highest: Extent, product: Extent | None) -> Iterator[list[Extent]]:
    """Yield lists of at least two extents with the maximum *highest* and, if that is given, the product *product*."""
    for pair in x.facts.either_of(highest, 1):
        for one, rest in (pair, pair[::-1]):
            others = None if product is None else exact_quotient(product, one)
            if product is None or others is not None:
                yield from ([one, *parts] for parts in _parts_of_maximum(x, rest, others))
            if others in (None, rest):
                yield [one, rest]


def _is_not_one(x: Operand, n: Extent) -> bool:
    return x.facts.positive(n - 1) or x.facts.nonnegative(-n)


def _is_repeated(x: Operand, axis: int, n: Extent, e: Extent) -> bool:
    """Require that *n* is 1 or *e*; return whether elements are repeated, False if *n* is known to equal *e*."""
    rule = "axis {}: extent {} is not 1 and not {}"
    if n in (1, e):
        return bool(n == 1)
    if e == 1 or _is_not_one(x, n):  # n can only equal e
        x.require_equal(n, e, "size_mismatch", rule, axis, n, e)
        return False
    if _is_part(x, n, e):
        return True
    if (most := _most(x, n, e)) is not None:
        x.require(most - e, "size_mismatch", rule, axis, n, e)
        return False
    x.require(e * (n - 1), "size_mismatch", rule, axis, n, e)  # follows from the next line, unproved
    x.require_equal((n - 1) * (n - e), 0, "size_mismatch", rule, axis, n, e)
    return True
