"""What operations demand of sizes, beyond what their maps read: extents that are equal, or not below a number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

from symlayout.errors import LEFT_OUT, ShapeError, shown
from symlayout.ops.broadcast import broadcast_to
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Declared, Operand, index_map

Pairs = Sequence[tuple[Any, Any]]


def demanding(x: Tensor, what: str, equal: Pairs = (), at_least: Pairs = (), kind: str = "size_mismatch") -> Tensor:
    """Return *x*, where the pairs are *equal*, or the first of each pair is at least the second.

    Parameters
    ----------
    what : str
        What the message says of the numbers, with two ``{}`` for them.
    equal, at_least : sequence of pairs
        Of ints, dims and expressions.

    Raises
    ------
    ShapeError
        *kind* if two numbers do not fit.

    Examples
    --------
    >>> import symlayout as sl
    >>> demanding(sl.tensor("N, C"), "{} channels, not {}", [(sl.dim("C"), 3)]).requires
    (Eq(C, 3),)
    """
    same, above = _open(equal, what, kind, least=False), _open(at_least, what, kind, least=True)
    return demanded(x, what, same, above, kind) if same or above else x


def nonempty(x: Tensor, axes: Iterable[int] | None = None) -> Tensor:
    """Return *x*, where none of these *axes* is empty: all axes if none are given.

    The standard does not say what the operation is without elements, and runtimes refuse it: such sizes are left out.

    Examples
    --------
    >>> import symlayout as sl
    >>> nonempty(sl.tensor("N, C, 3"), [1, 2]).requires
    (C >= 1,)
    """
    extents = [x.shape[k] for k in (range(x.rank) if axes is None else axes)]
    return demanding(x, "an axis has extent {}, at least {} is read", at_least=[(n, 1) for n in extents], kind=LEFT_OUT)


def chosen_from(x: Tensor, axes: Iterable[int], places: Sequence[Any]) -> Tensor:
    """Return *x*, whose *axes* have an element each, from which as many are chosen as a value of shape *places* has.

    None is chosen for sure if *places* may be empty: then an empty axis may be valid, and such sizes are left out.

    Examples
    --------
    >>> import symlayout as sl
    >>> N, K = sl.dims("N K")
    >>> chosen_from(sl.tensor((N, 3)), [0, 1], (K,)).requires
    (N >= 1,)
    """
    extents = [x.shape[k] for k in axes]
    if all(_is_number(n) and n >= 1 for n in extents):
        return x
    return chosen(x, tuple(extents), tuple(places))


@core_operation
def chosen(x: Operand, extents: Sequence[Any], places: Sequence[Any]) -> Declared:
    """Return *x* itself, with the requirements of `chosen_from`."""
    count = x.extent(prod(places))
    kind = "bad_axis" if x.facts.nonnegative(count - 1) else LEFT_OUT
    for e in extents:
        n = x.extent(e)
        x.require(n - 1, kind, "{} elements are chosen of an axis of extent {}", count, n)
    return index_map(x.shape, lambda *o: o)


def spread(x: Tensor, shape: Sequence[Any]) -> Tensor:
    """Return *x*, which broadcasts to *shape* and does not stretch it: its extents are 1, or the last of *shape*.

    Raises
    ------
    ShapeError
        ``size_mismatch`` if it does not fit.

    Examples
    --------
    >>> import symlayout as sl
    >>> N, C = sl.dims("N C")
    >>> spread(sl.tensor((C,)), (N, 5)).requires
    (Eq((C - 5)*(C - 1), 0),)
    """
    if x.rank > len(shape):
        raise ShapeError(f"a tensor of rank {x.rank} does not broadcast to rank {len(shape)}", "size_mismatch")
    own = tuple(shape[len(shape) - x.rank :])
    return x if all(n in (1, m) for n, m in zip(x.shape, own, strict=True)) else broadcast_to(x, own)


def _open(pairs: Pairs, what: str, kind: str, *, least: bool) -> tuple[tuple[Any, Any], ...]:
    """Return the pairs that sizes decide; `ShapeError` for numbers that do not fit."""
    for a, b in pairs:
        if _is_number(a) and _is_number(b) and (int(a) < int(b) if least else int(a) != int(b)):
            raise ShapeError(what.format(shown(a), shown(b)), kind)
    return tuple((a, b) for a, b in pairs if not (_is_number(a) and _is_number(b)) and a != b)


def _is_number(e: Any) -> bool:
    return hasattr(e, "__index__") and not getattr(e, "free_symbols", ())


@core_operation
def demanded(x: Operand, what: str, equal: Pairs, at_least: Pairs, kind: str) -> Declared:
    """Return *x* itself, with the requirements of `demanding`."""
    for a, b in equal:
        left, right = x.extent(a), x.extent(b)
        x.require_equal(left, right, kind, what, left, right)
    for a, b in at_least:
        left, right = x.extent(a), x.extent(b)
        x.require(left - right, kind, what, left, right)
    return index_map(x.shape, lambda *o: o)
