"""Add elements around an array, or take some away."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from symlayout.declare import Case, Declared, Fill, Operand, as_list, index_map, is_list
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
    constant_values : scalar
        The fill of mode ``"constant"``, cast to the element type when data is at hand.

    Raises
    ------
    ShapeError
        ``crop_exceeds`` if more is taken away than there is, ``negative_pad`` in the other modes,
        ``size_mismatch`` if they find no element to repeat, ``length_mismatch``, ``bad_mode``.

    See `numpy.pad`.
    """
    if mode not in MODES:
        raise ShapeError(f"{x.where}: mode {mode!r:.80} is not one of {', '.join(MODES)}", "bad_mode")
    if is_list(constant_values):
        raise ShapeError(f"{x.where}: constant_values {constant_values!r:.80} is not one value", "length_mismatch")
    widths = x.pairs(_widths(pad_width, x.rank), "pad_width", x.rank)
    domain = [before + n + after for n, (before, after) in zip(x.shape, widths, strict=True)]
    if mode != "constant":
        axes = [_parts(x, k, mode, before, after) for k, (before, after) in enumerate(widths)]
        return Declared(tuple(domain), tuple(_joined(parts) for parts in itertools.product(*axes)))
    for k, (e, (before, after)) in enumerate(zip(domain, widths, strict=True)):
        rule = f"axis {k}: {x.spell(-before)} + {x.spell(-after)} taken from {x.spell(x.shape[k])}"
        x.require(e, "crop_exceeds", rule)
    return index_map(
        domain,
        lambda *o: [c - before for c, (before, _) in zip(o, widths, strict=True)],
        fill=Fill(constant_values),
    )


def _widths(pad_width: Any, rank: int) -> list[Any]:
    items = as_list(pad_width)
    if not any(is_list(item) for item in items):
        if len(items) == 1:
            return [(items[0], items[0])] * rank
        if len(items) == 2:
            return [tuple(items)] * rank
    if len(items) == 1 and rank != 1 and is_list(items[0]):
        return items * rank
    return items


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
        x.require(width, "negative_pad", f"axis {axis}: width {x.spell(width)} is negative, the mode is {mode}")
    if before == 0 and after == 0:
        return [_Part(lambda o: o)]
    x.require(n - 1, "size_mismatch", f"axis {axis} is empty, so that mode {mode} finds nothing to repeat")
    if mode == "wrap":
        return [_Part(lambda o: (o - before) % n)]
    if mode == "reflect" and n == 1:
        return [_Part(lambda o: 0)]
    if mode == "edge":
        parts = [
            _Part(lambda o: 0, lambda o: o, before),
            _Part(lambda o: o - before, lambda o: o - before, n),
            _Part(lambda o: n - 1, lambda o: o - before - n, after),
        ]
    else:
        twice = 1 if mode == "symmetric" else 0  # how much more often the elements at the ends are read
        x.require(n - 2 + twice, "size_mismatch", f"axis {axis} of extent {x.spell(n)} has no element to reflect")
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
