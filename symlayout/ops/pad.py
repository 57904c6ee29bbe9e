"""Add elements around an array, or remove some."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from symlayout.algebra.polynomial import Extent
from symlayout.errors import ShapeError, shown
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.declaration import Case, Coords, Declared, Fill, Operand, as_list, index_map, is_list
from symlayout_codegen.values import Value

MODES = ("constant", "empty", "edge", "reflect", "symmetric", "wrap")
_SPARE = {"reflect": 1, "symmetric": 0, "wrap": 0}  # how many elements of an axis one repetition leaves out


@core_operation
def pad(
    x: Operand,
    pad_width: Any,
    mode: str = "constant",
    constant_values: Any = 0,
    bounded: bool = False,
    interior: Any = 0,
) -> Declared:
    """Return *x* with ``(before, after)`` elements added on each axis, and *interior* ones between two elements.

    Let ``t = o - before``.  An axis of extent ``n`` reads, by mode:

    * ``"constant"``: ``t``; outside ``0 <= t < n``, the element is *constant_values*;
    * ``"empty"``: as ``"constant"`` with zeros; NumPy leaves these elements uninitialised;
    * ``"edge"``: 0 where ``t < 0``, ``n - 1`` where ``t >= n``, ``t`` elsewhere;
    * ``"reflect"``: with ``r = t % (2*n - 2)``, ``r`` where ``r < n``, ``2*n - 2 - r`` elsewhere;
    * ``"symmetric"``: with ``r = t % (2*n)``, ``r`` where ``r < n``, ``2*n - 1 - r`` elsewhere;
    * ``"wrap"``: ``t % n``.

    With *interior*, let ``s = interior + 1``.  Then ``t // s`` is read where ``t % s == 0``, in mode ``"constant"``.

    Parameters
    ----------
    pad_width : int, (before, after), one pair per axis, or a mapping
        As in NumPy: a single value or pair stands for all axes; a mapping is from axes to values or pairs.  A
        negative width removes elements, in modes ``"constant"`` and ``"empty"`` only.
    mode : str
        One of those above; NumPy's other modes compute new elements.  As in NumPy, an axis to which nothing is added
        may be empty, and ``"reflect"`` repeats a single element.  There the period is 1, not ``2*n - 2``.  Where the
        widths are known to be positive and the extent is not known, ``"reflect"`` requires ``n >= 2`` instead: its
        kernels are faster.
    constant_values : scalar, (before, after), or one pair per axis
        The fill of mode ``"constant"``, cast to the element type.  Where several axes are outside, the fill of
        the last of them.
    bounded : bool
        Whether widths have the limits of the frameworks, also symbolic ones: no width is negative, and each side
        repeats the axis at most once.  So ``"reflect"`` adds at most ``n - 1`` elements on a side, ``"symmetric"``
        and ``"wrap"`` add at most ``n``.
    interior : int, dim, expression, or one per axis
        The number of fills between two neighbours of an axis, >= 0, as in XLA's ``Pad``; in mode ``"constant"`` with
        a single fill.  Widths that are negative remove elements of the result, fills among them.

    Raises
    ------
    ShapeError
        ``crop_exceeds`` if more elements are removed than the axis has; ``negative_pad`` for a negative *interior*,
        and for a negative width in a mode that repeats elements or if *bounded*; ``size_mismatch`` if there is no
        element to repeat or, if *bounded*, too few; ``length_mismatch``, ``bad_mode``.

    References
    ----------
    `numpy.pad`; XLA's ``Pad``: https://openxla.org/xla/operation_semantics#pad

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> x = sl.tensor("H, W")
    >>> sl.pad(x, ((1, 2), (0, 0))).shape
    (H + 3, W)
    >>> sl.pad(x, ((1, 2), (0, 0)), mode="reflect").requires
    (H >= 2,)
    >>> sl.interpret(sl.pad(sl.tensor("N"), 2, mode="symmetric"), np.array([1, 2, 3]))
    array([2, 1, 1, 2, 3, 3, 2])
    >>> sl.interpret(sl.pad(sl.tensor("N"), (1, 0), interior=2), np.array([1, 2, 3]))
    array([0, 1, 0, 0, 2, 0, 0, 3])
    """
    if not isinstance(mode, str) or mode not in MODES:
        raise ShapeError(f"{x.where}: mode {shown(mode)} is not one of {', '.join(MODES)}", "bad_mode")
    if isinstance(pad_width, Mapping):
        widths = x.pairs(_of_mapping(x, pad_width), "pad_width", x.rank)
    elif is_list(pad_width):
        widths = x.pairs(_per_axis(pad_width, x.rank), "pad_width", x.rank)
    else:
        width = x.extent(pad_width, "pad_width")
        widths = [(width, width)] * x.rank
    repeats = mode not in ("constant", "empty")
    if repeats or bounded:
        _require_no_negative(x, widths, mode)
    gaps = x.extents(interior, "interior", x.rank) if is_list(interior) else [x.extent(interior, "interior")] * x.rank
    apart = any(gap != 0 for gap in gaps)
    if apart and (mode != "constant" or is_list(constant_values)):
        raise ShapeError(f"{x.where}: interior is for mode constant with a single fill", "bad_mode")
    held = [_spread(x, k, gap) for k, gap in enumerate(gaps)]
    domain = [
        n + (before + after) if type(before) is int else before + n + after
        for n, (before, after) in zip(held, widths, strict=True)
    ]
    if repeats:
        parts_of = _parts_once if bounded and mode in _SPARE else _parts
        axes = [parts_of(x, k, mode, before, after) for k, (before, after) in enumerate(widths)]
        return Declared(tuple(domain), tuple(_joined(parts) for parts in itertools.product(*axes)))
    for k, (e, (before, after)) in enumerate(zip(domain, widths, strict=True)):
        if type(before) is int and type(after) is int and before + after >= 0:
            continue  # the axis does not get shorter
        x.require(e, "crop_exceeds", "axis {}: {} + {} taken from {}", k, -before, -after, held[k])

    def coords(*o: Any) -> list[Any]:
        return [c - before for c, (before, _) in zip(o, widths, strict=True)]

    if apart:
        steps = [gap + 1 for gap in gaps]
        return Declared(tuple(domain), tuple(_between(coords, steps, Fill(constant_values))))
    if mode == "empty" or not is_list(constant_values):
        return index_map(domain, coords, fill=Fill(constant_values if mode == "constant" else 0))
    return Declared(tuple(domain), tuple(_filled(x, coords, widths, constant_values)))


def _require_no_negative(x: Operand, widths: Sequence[tuple[Extent, Extent]], mode: str) -> None:
    """Require that no width is negative."""
    for axis, pair in enumerate(widths):
        for width in pair:
            x.require(width, "negative_pad", "axis {}: width {} is negative, the mode is {}", axis, width, mode)


def _of_mapping(x: Operand, given: Mapping[Any, Any]) -> list[Any]:
    """Return one pair for each axis: ``(0, 0)`` for axes that are not in the mapping."""
    pairs: list[Any] = [(0, 0)] * x.rank
    for axis, width in given.items():
        (pairs[x.axis(axis)],) = _per_axis(width, 1)
    return pairs


def _per_axis(given: Any, rank: int) -> list[Any]:
    """Return one pair for each axis, as NumPy reads *given*."""
    items = as_list(given)
    if not any(is_list(item) for item in items):
        if len(items) == 1:
            return [(items[0], items[0])] * rank
        if len(items) == 2:
            return [tuple(items)] * rank
    if len(items) == 1 and rank != 1 and is_list(items[0]):
        return items * rank
    return items


def _spread(x: Operand, axis: int, gap: Extent) -> Extent:
    """Return the extent of an axis with *gap* elements between two neighbours."""
    if gap == 0:
        return x.shape[axis]
    x.require(gap, "negative_pad", "axis {}: interior {} is negative", axis, gap)
    n = x.shape[axis]
    return n + x.maximum(n - 1, 0) * gap


def _between(coords: Coords, steps: Sequence[Extent], fill: Fill) -> Iterator[Case]:
    """Yield the cases of a pad whose elements stand *steps* apart: the elements, then for each axis what is between."""

    def rests(o: Sequence[Any]) -> list[tuple[int, Any]]:
        return [(k, c % steps[k]) for k, c in enumerate(coords(*o)) if steps[k] != 1]

    def elements(o: Sequence[Any], before: int) -> list[tuple[Any, Extent]]:
        """Return the windows that keep the axes before number *before* on elements."""
        return [(rest, 1) for k, rest in rests(o) if k < before]

    def read(*o: Any) -> list[Any]:
        return [c if step == 1 else c // step for c, step in zip(coords(*o), steps, strict=True)]

    yield Case(read, where=lambda *o: elements(o, len(steps)), fill=fill)
    for axis, step in enumerate(steps):
        if step != 1:
            yield Case(
                lambda *_: [-1] * len(steps),
                where=lambda *o, axis=axis, step=step: [
                    *elements(o, axis),
                    *((rest - 1, step - 1) for k, rest in rests(o) if k == axis),
                ],
                fill=fill,
            )


def _filled(x: Operand, coords: Coords, widths: Sequence[tuple[Extent, Extent]], values: Any) -> Iterator[Case]:
    """Yield the cases of a pad with several fills: the inside, then both sides of each axis."""
    fills = _per_axis(values, x.rank)
    if len(fills) != x.rank or any(not is_list(pair) or len(pair) != 2 for pair in fills):
        rule = f"constant_values {shown(values)} is not one pair [before, after] per axis"
        raise ShapeError(f"{x.where}: {rule}", "length_mismatch")

    def inside(o: Sequence[Any], first: int) -> list[tuple[Any, Extent]]:
        """Return the windows that keep the axes from *first* on inside."""
        return list(zip(coords(*o)[first:], x.shape[first:], strict=True))

    yield Case(coords, where=lambda *o: inside(o, 0))
    for k, ((before, after), pair) in enumerate(zip(widths, fills, strict=True)):
        yield Case(coords, where=lambda *o, k=k, e=before: [(o[k], e), *inside(o, k + 1)], fill=Fill(pair[0]))
        yield Case(
            coords,
            where=lambda *o, k=k, e=after: [(coords(*o)[k] - x.shape[k], e), *inside(o, k + 1)],
            fill=Fill(pair[1]),
        )


class _AxisPart(Value):
    """A part of one axis: it reads ``read(o)`` where ``0 <= value(o) < extent``; everywhere if *value* is None."""

    read: Callable[[Any], Any]
    value: Callable[[Any], Any] | None = None
    extent: Extent = 1


def _parts(x: Operand, axis: int, mode: str, before: Extent, after: Extent) -> list[_AxisPart]:
    """Return the parts of a padded axis in a mode that repeats elements."""
    n = x.shape[axis]
    if before == 0 and after == 0:
        return [_AxisPart(lambda o: o)]
    rule = "axis {} is empty, so that mode {} finds nothing to repeat"
    x.require(_where_added(x, before + after, n - 1), "size_mismatch", rule, axis, mode)
    if n == 1:
        return [_AxisPart(lambda o: 0)]
    if mode == "wrap":
        return [_AxisPart(lambda o: (o - before) % n)]
    if mode == "edge":
        parts = [
            _AxisPart(lambda o: 0, lambda o: o, before),
            _AxisPart(lambda o: o - before, lambda o: o - before, n),
            _AxisPart(lambda o: n - 1, lambda o: o - before - n, after),
        ]
    else:
        twice = 1 if mode == "symmetric" else 0  # how many more times a period reads the elements at the ends
        period = 2 * (n - 1 + twice)
        if mode == "reflect" and not x.facts.nonnegative(n - 2):
            if x.facts.positive(before + after):
                x.require(n - 2, "size_mismatch", "axis {} of extent {} has no element to reflect", axis, n)
            else:
                period = x.maximum(period, 1)
        parts = [
            _AxisPart(lambda o: (o - before) % period, lambda o: (o - before) % period, n),
            _AxisPart(
                lambda o: period - twice - (o - before) % period, lambda o: (o - before) % period - n, period - n
            ),
        ]
    return [part for part in parts if part.extent != 0]


def _parts_once(x: Operand, axis: int, mode: str, before: Extent, after: Extent) -> list[_AxisPart]:
    """Return the parts of an axis that each side repeats at most once: one affine part for each side."""
    n, spare = x.shape[axis], _SPARE[mode]
    for width in (before, after):
        if width != 0:
            rule = "axis {}: {} elements are added, mode {} has {} to repeat"
            least = n - width - spare if spare == 0 else _where_added(x, width, n - width - spare)
            x.require(least, "size_mismatch", rule, axis, width, mode, n - spare)
    inside = _AxisPart(lambda o: o - before, lambda o: o - before, n)
    if mode == "wrap":
        parts = [
            _AxisPart(lambda o: o - before + n, lambda o: o, before),
            inside,
            _AxisPart(lambda o: o - before - n, lambda o: o - before - n, after),
        ]
    else:
        parts = [
            _AxisPart(lambda o: before - 1 + spare - o, lambda o: o, before),
            inside,
            _AxisPart(lambda o: 2 * n - 1 - spare - (o - before), lambda o: o - before - n, after),
        ]
    return [part for part in parts if part.extent != 0]


def _where_added(x: Operand, added: Extent, least: Extent) -> Extent:
    """Return what is >= 0 exactly where *least* is, or where no element is *added*."""
    return least if x.facts.positive(added) else added * least


def _joined(parts: Sequence[_AxisPart]) -> Case:
    """Return the case of one part for each axis."""
    return Case(
        lambda *o: [part.read(c) for part, c in zip(parts, o, strict=True)],
        where=lambda *o: [(p.value(c), p.extent) for p, c in zip(parts, o, strict=True) if p.value is not None],
    )
