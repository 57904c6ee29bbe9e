"""Add elements around an array, or take some away."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from symlayout.declare import Case, Coords, Declared, Fill, Operand, as_list, index_map, is_list
from symlayout.errors import ShapeError
from symlayout.polynomial import Extent
from symlayout.tensor import operation

MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


@operation
def pad(x: Operand, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Declared:
    """Return *x* with ``(before, after)`` elements added on each axis.

    With ``t = o - before`` an axis of extent ``n`` reads

    * ``"constant"``: ``t``; where ``0 <= t < n`` fails the element is *constant_values*;
    * ``"edge"``: 0 where ``t < 0``, ``t``, ``n - 1`` where ``t >= n``;
    * ``"reflect"``: with ``r = t % (2*n - 2)``, ``r`` where ``r < n``, ``2*n - 2 - r`` elsewhere;
    * ``"symmetric"``: with ``r = t % (2*n)``, ``r`` where ``r < n``, ``2*n - 1 - r`` elsewhere;
    * ``"wrap"``: ``t % n``.

    Parameters
    ----------
    pad_width : int, (before, after), or one pair per axis
        As in NumPy: a single value or pair stands for all axes.  A negative width takes elements away,
        in mode ``"constant"`` only.
    mode : str
        One of those above.  A single element is reflected to itself, as NumPy does; an extent that is not
        known to be 1 is then required to be >= 2.
    constant_values : scalar, (before, after), or one pair per axis
        The fill of mode ``"constant"``, cast to the element type when data is at hand.  Where several axes
        are outside, the last one's.

    Raises
    ------
    ShapeError
        ``crop_exceeds`` if more is taken away than there is, ``negative_pad`` in the other modes,
        ``size_mismatch`` if they find no element to repeat, ``length_mismatch``, ``bad_mode``.

    See `numpy.pad`.
    """
    if mode not in MODES:
        raise ShapeError(f"{x.where}: mode {mode!r:.80} is not one of {', '.join(MODES)}", "bad_mode")
    widths = x.pairs(_per_axis(pad_width, x.rank), "pad_width", x.rank)
    domain = [before + n + after for n, (before, after) in zip(x.shape, widths, strict=True)]
    if mode != "constant":
        axes = [_parts(x, k, mode, before, after) for k, (before, after) in enumerate(widths)]
        return Declared(tuple(domain), tuple(_joined(parts) for parts in itertools.product(*axes)))
    for k, (e, (before, after)) in enumerate(zip(domain, widths, strict=True)):
        x.require(e, "crop_exceeds", "axis {}: {} + {} taken from {}", k, -before, -after, x.shape[k])

    def coords(*o: Any) -> list[Any]:
        return [c - before for c, (before, _) in zip(o, widths, strict=True)]

    if not is_list(constant_values):
        return index_map(domain, coords, fill=Fill(constant_values))
    return Declared(tuple(domain), tuple(_filled(x, coords, widths, constant_values)))


def _per_axis(given: Any, rank: int) -> list[Any]:
    """Return what NumPy takes *given* for: one pair for each axis."""
    items = as_list(given)
    if not any(is_list(item) for item in items):
        if len(items) == 1:
            return [(items[0], items[0])] * rank
        if len(items) == 2:
            return [tuple(items)] * rank
    if len(items) == 1 and rank != 1 and is_list(items[0]):
        return items * rank
    return items


def _filled(x: Operand, coords: Coords, widths: Sequence[tuple[Extent, Extent]], values: Any) -> Iterator[Case]:
    """Yield the cases of a pad with several fills: what is inside, then both sides of each axis."""
    fills = _per_axis(values, x.rank)
    if len(fills) != x.rank or any(not is_list(pair) or len(pair) != 2 for pair in fills):
        rule = f"constant_values {values!r:.80} is not one pair [before, after] per axis"
        raise ShapeError(f"{x.where}: {rule}", "length_mismatch")

    def inside(o: Sequence[Any], first: int) -> list[tuple[Any, Extent]]:
        """Return the conditions that axes from *first* on are inside."""
        return list(zip(coords(*o)[first:], x.shape[first:], strict=True))

    yield Case(coords, where=lambda *o: inside(o, 0))
    for k, ((before, after), pair) in enumerate(zip(widths, fills, strict=True)):
        yield Case(coords, where=lambda *o, k=k, e=before: [(o[k], e), *inside(o, k + 1)], fill=Fill(pair[0]))
        yield Case(
            coords,
            where=lambda *o, k=k, e=after: [(coords(*o)[k] - x.shape[k], e), *inside(o, k + 1)],
            fill=Fill(pair[1]),
        )


@dataclass(frozen=True, slots=True)
class _Part:
    """What a part of one axis reads: ``read(o)`` where ``0 <= value(o) < extent``; everywhere if *value* is None."""

    read: Callable[[Any], Any]
    value: Callable[[Any], Any] | None = None
    extent: Extent = 1


def _parts(x: Operand, axis: int, mode: str, before: Extent, after: Extent) -> list[_Part]:
    """Return the parts of a padded axis in a mode that repeats elements."""
    n = x.shape[axis]
    for width in (before, after):
        x.require(width, "negative_pad", "axis {}: width {} is negative, the mode is {}", axis, width, mode)
    if before == 0 and after == 0:
        return [_Part(lambda o: o)]
    x.require(n - 1, "size_mismatch", "axis {} is empty, so that mode {} finds nothing to repeat", axis, mode)
    if n == 1:
        return [_Part(lambda o: 0)]
    if mode == "wrap":
        return [_Part(lambda o: (o - before) % n)]
    if mode == "edge":
        parts = [
            _Part(lambda o: 0, lambda o: o, before),
            _Part(lambda o: o - before, lambda o: o - before, n),
            _Part(lambda o: n - 1, lambda o: o - before - n, after),
        ]
    else:
        twice = 1 if mode == "symmetric" else 0  # how much more often the elements at the ends are read
        x.require(n - 2 + twice, "size_mismatch", "axis {} of extent {} has no element to reflect", axis, n)
        period = 2 * (n - 1 + twice)
        parts = [
            _Part(lambda o: (o - before) % period, lambda o: (o - before) % period, n),
            _Part(lambda o: period - twice - (o - before) % period, lambda o: (o - before) % period - n, period - n),
        ]
    return [part for part in parts if part.extent != 0]


def _joined(parts: Sequence[_Part]) -> Case:
    """Return the case of one part for each axis."""
    return Case(
        lambda *o: [part.read(c) for part, c in zip(parts, o, strict=True)],
        where=lambda *o: [(p.value(c), p.extent) for p, c in zip(parts, o, strict=True) if p.value is not None],
    )
