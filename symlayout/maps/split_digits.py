"""Split the digits of an output box until the composed map is affine in them.

If the normal form contains ``floor((d + c)/k)`` of one digit, the digit is split: ``d + c = k*hi + lo`` with
``0 <= lo < k``.  If *c* is 0 and *k* divides the extent, ``hi`` and ``lo`` fill a box; otherwise ``0 <= d < extent``
remains as a window.  If the normal form contains the floor of a mixed-radix number, and the map needs its digits only
in that number, the number becomes one digit.  A floor that neither rule removes is carried by the nest.

The facts of a read hold where no guard fails, but a box also covers points where a guard fails.  There a divisor may be
0: the extent of an empty array that is tiled, then padded.  `divisor` finds such a divisor, and `where` makes a box for
each of the two cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from symlayout.algebra.fact_store import DIGIT, Split
from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import digit_name, floor_div, is_digital
from symlayout.algebra.polynomial import (
    Extent,
    Poly,
    coefficient_of,
    exact_quotient,
    names_of,
    product,
    substitute,
    symbol,
)
from symlayout.budgets import limits
from symlayout.errors import ShapeError
from symlayout.maps.compose_chain import Read, Window, normalise, output_digits
from symlayout.tensors.chain import Tensor

_MAX_SPLITS = 64

_Part = tuple[Extent, str]  # a part of a split digit: its radix weight in the whole digit, and its name


@dataclass(frozen=True, slots=True)
class Box:
    """Digits, the output coordinate in them, and the windows that bound it.

    *others* are more coordinates in the same digits, for callers that keep them.
    """

    facts: Facts
    coords: tuple[Extent, ...]
    extents: dict[str, Extent] = field(default_factory=dict)
    windows: tuple[Window, ...] = ()
    others: tuple[Extent, ...] = ()

    def digits(self) -> list[str]:
        """Return the digits of the coordinate, major digits first."""
        return list(self.extents)


def output_box(t: Tensor) -> Box:
    """Return the box of one digit per output axis."""
    facts = t.facts.fork()
    coords = tuple(output_digits(t, facts))
    extents = {digit_name(k): facts.reduce(e) for k, e in enumerate(t.extents) if coords[k] != 0}
    facts.find_samples()
    return Box(facts, coords, extents)


def refine(
    t: Tensor,
    part: tuple[int, ...],
    needed: Callable[[Box, Read], list[Extent]],
    *,
    row_major: bool = False,
    start: tuple[Box, Read] | None = None,
) -> tuple[Box, Read]:
    """Return a box over which the read of *t* with path *part* is affine, as far as splitting digits achieves that.

    ``needed(box, read)`` lists the expressions that matter: only floors in them are removed.  With *row_major*, the
    digits in their order walk the output in row-major order.  *start* may pass the output's box and the read over it.
    """
    if start is None:
        box = output_box(t)
        (read,) = normalise(t, box.facts.fork(), box.coords, path=part)
    else:
        box, read = start
    if _floors(needed(box, read), read.facts):
        box, read = _at_radices(t, box, read, needed)
    limit = box.facts.effort + limits.read_goals
    for _ in range(_MAX_SPLITS):
        floors = _floors(needed(box, read), read.facts)
        for candidate in _candidates(box, read, floors, row_major):
            if box.facts.effort > limit:
                return box, read
            tried = next(iter(normalise(t, candidate.facts.fork(), candidate.coords, shown=True, path=part)), None)
            if tried is None or tried.path != part:
                continue
            left = _floors(needed(candidate, tried), tried.facts)
            if _progress(floors, read.facts, left, tried.facts):
                box, read = candidate, tried
                break
        else:
            return box, read
    return box, read


def _at_radices(t: Tensor, box: Box, read: Read, needed: Callable[[Box, Read], list[Extent]]) -> tuple[Box, Read]:
    """Return *box* with digits split at the radices of the chain, so that floors that matter become digits."""
    tried = next(iter(normalise(t, box.facts.fork(), box.coords, shown=True, path=read.path, split=True)), None)
    if tried is None or tried.path != read.path:
        return box, read
    candidate = box
    apart, expressions = _told_apart(needed(box, tried), tried.facts)
    names = {name: symbol(name) for name in box.digits() if name not in apart}
    for digit in [name for name in box.digits() if name in apart]:
        name, (shift, parts) = digit, _parts(digit, apart)
        made: list[str] = []
        for high, low in pairwise(parts):  # the largest weight first: the rest is the low digit
            if not _are_apart(high, low, apart, expressions):
                continue
            if not box.facts.positive(high[0]):
                return box, read
            made.append(f"{name}_0")
            candidate, name, shift = _split(candidate, name, shift, high[0]), f"{name}_1", 0
        if len(parts) == len(made) + 1:
            names |= {part: symbol(new) for (_, part), new in zip(parts, (*made, name), strict=True)}
    if candidate is box:
        return box, read
    split = _in_digits_of(candidate, box, tried, names)
    if split is None:
        split = next(iter(normalise(t, candidate.facts.fork(), candidate.coords, shown=True, path=read.path)), None)
    if split is None or split.path != read.path:
        return box, read
    floors = _floors(needed(box, read), read.facts), _floors(needed(candidate, split), split.facts)
    return (candidate, split) if _progress(floors[0], read.facts, floors[1], split.facts) else (box, read)


def _in_digits_of(candidate: Box, box: Box, read: Read, names: Mapping[str, Poly]) -> Read | None:
    """Return *read*, which split digits of *box*, over the digits of *candidate*: *names* has those of its own digits.

    The result is None where the read is not affine in them, where they have other extents, or where its facts have
    solved for more than the digits that they split.  All facts of the result hold in the whole of *candidate*.
    """
    facts, known = read.facts, candidate.facts
    splits = facts.splits or {}
    solved = {name: e for name, e in facts.solved.items() if name not in splits}
    if solved != known.solved or facts.rules != known.rules or facts.definitions.keys() != known.definitions.keys():
        return None
    windows = (*read.windows, *(guard.window for guard in read.guards))
    coords = tuple(map(facts.reduce, box.coords))
    for e in (*coords, *read.coords, *(e for w in windows for e in (w.value, w.extent))):
        if any(name not in names if is_digital(name, facts) else name not in known.low for name in names_of(e)):
            return None

    def renamed(e: Extent) -> Extent:
        return substitute(e, names)

    def rewritten(window: Window) -> Window:
        return Window(renamed(window.value), renamed(window.extent), known)

    extents = {new: facts.high.get(old) for old, (new,) in ((old, new.names) for old, new in names.items())}
    if tuple(map(renamed, coords)) != candidate.coords or any(facts.low.get(name) != 0 for name in names):
        return None
    if any(extents.get(name) != known.reduce(e - 1) for name, e in candidate.extents.items()):
        return None
    return replace(
        read,
        coords=tuple(map(renamed, read.coords)),
        facts=known,
        windows=tuple(map(rewritten, read.windows)),
        guards=tuple(replace(guard, window=rewritten(guard.window)) for guard in read.guards),
    )


def _told_apart(expressions: list[Extent], facts: Facts) -> tuple[dict[str, Split], list[Extent]]:
    """Return the splits that matter: an expression uses the two parts of the digit other than as the whole digit.

    The second value is the expressions, with the numerators of their floors, written in the digits after these splits.
    """
    expressions = [facts.reduce(e) for e in expressions]
    expressions += _places(expressions, facts)
    expressions += [facts.reduce(e) for name in _floors(expressions, facts) for e in facts.floors[name]]
    apart: dict[str, Split] = {}
    for digit, split in reversed((facts.splits or {}).items()):
        joined = [_joined(e, digit, split) for e in expressions]
        if split[2] in apart or split[3] in apart or None in joined:
            apart[digit] = split
        else:
            expressions = [e for e in joined if e is not None]
    return apart, expressions


def _joined(e: Extent, digit: str, split: Split) -> Extent | None:
    """Return *e* written in the whole digit; None if it uses the parts other than as the whole."""
    shift, radix, high, low = split
    if not isinstance(e, Poly) or e.names.isdisjoint((high, low)):
        return e
    parts = coefficient_of(e, low)
    if parts is None or parts[0] == 0:
        return None
    whole = e - parts[0] * (radix * symbol(high) + symbol(low) - shift - symbol(digit))
    return None if names_of(whole) & {high, low} else whole


def _parts(digit: str, splits: Mapping[str, Split]) -> tuple[Extent, list[_Part]]:
    """Return the shift of a split digit and its parts, the largest weight first."""
    if digit not in splits:
        return 0, [(1, digit)]
    shift, radix, high, low = splits[digit]
    (more, longer), (other, shorter) = _parts(high, splits), _parts(low, splits)
    shorter = shorter if other == 0 else [(1, low)]  # a shift of the low digit carries into the high digit
    return shift + radix * more, [*((radix * step, name) for step, name in longer), *shorter]


def _are_apart(high: _Part, low: _Part, splits: Mapping[str, Split], expressions: list[Extent]) -> bool:
    """Return whether an expression uses two neighbouring parts other than as the number that they form."""
    if high[1] in splits or low[1] in splits:
        return True
    for e in expressions:
        if isinstance(e, Poly):
            more, less = coefficient_of(e, high[1]), coefficient_of(e, low[1])
            if more is None or less is None or more[0] * low[0] != less[0] * high[0]:
                return True
            if low[1] in names_of(more[0]):
                return True
    return False


def divisor(box: Box, read: Read, needed: Callable[[Box, Read], list[Extent]]) -> Extent | None:
    """Return a divisor, of a floor that matters, that is not proved positive on the whole box; None if there is none.

    Where the divisor is positive, digits can be split by it.  Elsewhere the nest carries its floors, with a division
    for each element.
    """
    divisors = (read.facts.floors[name][1] for name in _floors(needed(box, read), read.facts))
    return next((d for d in divisors if not box.facts.positive(d)), None)


def where(box: Box, e: Extent) -> Box | None:
    """Return the box restricted to sizes for which *e* is positive; None if there are none.  *e* has no digits."""
    facts = box.facts.fork()
    try:
        facts.assume_nonnegative(e - 1)
    except ShapeError:
        return None
    extents = {name: facts.reduce(n) for name, n in box.extents.items()}
    # the window 0 <= 0 < e holds for all points or for none
    windows = (*box.windows, Window(0, e, box.facts))
    return Box(
        facts, tuple(facts.reduce(c) for c in box.coords), extents, windows, tuple(map(facts.reduce, box.others))
    )


def _floors(expressions: list[Extent], facts: Facts) -> list[str]:
    """Return the floors of digits that the expressions mention, directly or inside other floors."""
    found: dict[str, None] = {}
    todo = [name for e in expressions for name in sorted(names_of(e))]
    while todo:
        name = todo.pop()
        if name not in found and is_digital(name, facts):
            found[name] = None
            todo += sorted({part for each in facts.terms_within(name) for part in names_of(each)})
    return [name for name in facts.bounded if name in found and name in facts.floors]


def _places(expressions: list[Extent], facts: Facts) -> list[Extent]:
    """Return the places in tables whose entries the expressions mention, directly or inside floors and tables."""
    found: dict[str, Extent] = {}
    todo = [name for e in expressions for name in sorted(names_of(e))]
    while todo:
        name = todo.pop()
        within = facts.terms_within(name)
        if name in facts.entries and name not in found:
            (found[name],) = within
        todo += sorted({part for each in within for part in names_of(each)})
    return list(found.values())


def _progress(before: list[str], facts: Facts, after: list[str], new: Facts) -> bool:
    """Return whether fewer floors remain, or as many with simpler numerators."""

    def weight(names: list[str], f: Facts) -> tuple[int, int]:
        return len(names), sum(len(_digits_in(f.floors[n][0])) for n in names)

    return weight(after, new) < weight(before, facts)


def _digits_in(e: Extent) -> list[str]:
    return sorted(n for n in names_of(e) if n[0] == DIGIT)


def _candidates(box: Box, read: Read, floors: list[str], row_major: bool) -> Iterator[Box]:
    facts = read.facts
    splits: dict[str, list[tuple[Extent, Extent]]] = {}
    for name in floors:
        numerator, denominator = facts.floors[name]
        digits = _digits_in(numerator)
        if (
            len(digits) != 1
            or digits[0] not in box.extents
            or any(n[0] != DIGIT and is_digital(n, facts) for n in names_of(numerator))
        ):
            continue
        split = coefficient_of(numerator, digits[0]) if isinstance(numerator, Poly) else None
        if split is not None and split[0] == 1 and not _digits_in(denominator) and box.facts.positive(denominator):
            splits.setdefault(digits[0], []).append((split[1], denominator))
    for digit, divisions in splits.items():
        # coarse radices first: a later split of the low digit handles the divisors of a radix
        order = sorted(divisions, key=lambda d: sum(exact_quotient(d[1], k) is not None for _, k in divisions))
        for shift, radix in reversed(order):
            yield _split(box, digit, shift, radix)
    for name in floors:
        numerator = facts.floors[name][0]
        if len(_digits_in(numerator)) > 1 and (root := _root(box, numerator, row_major)) is not None:
            yield root


def _split(box: Box, digit: str, shift: Extent, radix: Extent) -> Box:
    """Return *box* with one digit split: ``digit + shift = radix*hi + lo``."""
    facts = box.facts.fork()
    extent = box.extents[digit]
    high, low = f"{digit}_0", f"{digit}_1"
    whole = exact_quotient(facts.reduce(extent + shift), facts.reduce(radix))
    count = floor_div(facts, extent + shift + radix - 1, radix) if whole is None else whole
    first: Extent = 0 if facts.nonnegative(shift) else floor_div(facts, shift, radix)
    if first != 0:
        count = count - first
    if count == 1:
        facts_high: Extent = 0
    else:
        facts_high = facts.add_digit(high, count)
    facts_low = facts.add_digit(low, radix)
    value = radix * (facts_high + first) + facts_low - shift
    extents: dict[str, Extent] = {}
    for name, e in box.extents.items():
        if name != digit:
            extents[name] = e
            continue
        if count != 1:
            extents[high] = count
        extents[low] = radix
    windows = tuple(Window(substitute(w.value, {digit: value}), w.extent, facts) for w in box.windows)
    if shift != 0 or whole is None:
        windows = (*windows, Window(value, extent, facts))
        facts = facts.fork()
        facts.assume_nonnegative(value)
        facts.assume_nonnegative(extent - 1 - value)
    coords, others = (tuple(substitute(c, {digit: value}) for c in made) for made in (box.coords, box.others))
    return Box(facts, coords, extents, windows, others)


def _root(box: Box, numerator: Extent, row_major: bool) -> Box | None:
    """Return *box* with the digits of a complete mixed-radix number replaced by one digit, the number; or None.

    With *row_major*, only consecutive digits are replaced.
    """
    digits = _digits_in(numerator)
    if any(d not in box.extents for d in digits) or not isinstance(numerator, Poly):
        return None
    steps: dict[str, Extent] = {}
    for digit in digits:
        split = coefficient_of(numerator, digit)
        if split is None:
            return None
        steps[digit] = split[0]
    ordered = [d for d in box.digits() if d in steps]
    first = box.digits().index(ordered[0])
    if row_major and box.digits()[first : first + len(ordered)] != ordered:
        return None
    step: Extent = 1
    for digit in reversed(ordered):
        if steps[digit] != step:
            return None
        step = step * box.extents[digit]
    facts = box.facts.fork()
    root = "".join(ordered)
    number = facts.add_digit(root, product(box.extents[d] for d in ordered))
    values: dict[str, Extent] = {}
    rest: Extent = number
    for digit in reversed(ordered[1:]):
        quotient = facts.add_floor(rest, box.extents[digit])
        values[digit] = rest - quotient * box.extents[digit]
        rest = quotient
    values[ordered[0]] = rest
    extents: dict[str, Extent] = {}
    for name, e in box.extents.items():
        if name == ordered[0]:
            extents[root] = product(box.extents[d] for d in ordered)
        elif name not in values:
            extents[name] = e
    windows = tuple(Window(substitute(w.value, values), w.extent, facts) for w in box.windows)
    coords, others = (tuple(substitute(c, values) for c in made) for made in (box.coords, box.others))
    return Box(facts, coords, extents, windows, others)
