"""The operations that may spell a movement, from its digits: candidates, which nobody has proved yet."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

from symlayout.optimize_models.spellings.computed_bounds import Bounds
from symlayout.optimize_models.spellings.gather_by_table import gather
from symlayout.optimize_models.spellings.movement_digits import Digits, Example, digits_of, is_number
from symlayout.optimize_models.spellings.movement_steps import END, INPUTS, Step, steps_of
from symlayout.optimize_models.spellings.reshape_steps import Groups, Shape, reshapes, target_shape
from symlayout.optimize_models.spellings.slice_of_digits import one_slice, slice_of_digits
from symlayout.optimize_models.spellings.spell_flips import turned
from symlayout.optimize_models.spellings.spell_windows import WINDOWS, stacked

_MODES = 11  # from this version on DepthToSpace has two modes
_RESIZE = (("mode", "nearest"), ("coordinate_transformation_mode", "asymmetric"), ("nearest_mode", "floor"))

Group = tuple[int, ...]

Candidates = Iterator[list[Step] | None]
"""Operations that may be a spelling, or None."""

_BLOCK_OPS = (  # operation, mode, axes before and after in digits: blocks are a and b
    ("SpaceToDepth", "", ("n", "c", "ha", "wb"), ("n", "abc", "h", "w")),
    ("DepthToSpace", "DCR", ("n", "abc", "h", "w"), ("n", "c", "ha", "wb")),
    ("DepthToSpace", "CRD", ("n", "cab", "h", "w"), ("n", "c", "ha", "wb")),
)


def candidates_of(
    start: Shape, end: Shape, found: Sequence[Example], opset: int, bounds: Bounds | None = None
) -> Candidates:
    """Yield operations that may move a value of one shape to another, simpler ones first; None stands for no spelling.

    Parameters
    ----------
    start, end : tuple
        The shapes of the source and of the value.
    found : sequence of Example
        What the value reads, at small sizes.
    opset : int
        The version of ONNX's operations.
    bounds : Bounds, optional
        What computes bounds of slices that no constants are.
    """
    if all(x.is_identity for x in found):
        yield [] if start == end else _only(("Reshape", end), start)
    digits = digits_of(found, start, end)
    if digits is not None:
        for known in (None, start):
            yield from _of_digits(start, end, digits, known, opset, bounds)
    else:  # a table says nothing of other sizes, and takes long to prove
        yield gather(start, end, found)


def _of_digits(
    start: Shape, end: Shape, digits: Digits, known: Shape | None, opset: int, bounds: Bounds | None
) -> Candidates:
    cut = slice_of_digits(start, digits, bounds)
    yield from _in_pieces(start, end, digits, known, opset)
    yield from _in_turned_digits(start, end, digits, known, opset)
    if cut is None:
        return
    steps, start, digits = cut
    if steps and opset < INPUTS["Slice"]:
        return
    own = [k for k, d in enumerate(digits.digits) if d.source >= 0]
    if len(own) == len(digits.digits):
        for found in _reorderings(start, end, digits, known, opset):
            yield None if found is None else [*steps, *found]
    else:
        for found in _expansions(start, end, digits, known):
            yield None if found is None else [*steps, *found]


def _in_pieces(start: Shape, end: Shape, digits: Digits, known: Shape | None, opset: int) -> Candidates:
    """Yield slices that are joined: what overlaps has no other spelling, and a transpose may be too many."""
    if opset < INPUTS["Slice"] or any(d.source < 0 for d in digits.digits):
        return
    for axis, slices, shape, inner in stacked(start, digits, one_slice):
        step = Step(WINDOWS, (("axis", axis), ("slices", slices)), shape)
        for found in _reorderings(shape, end, inner, known, opset):
            yield None if found is None else [step, *found]


def _in_turned_digits(start: Shape, end: Shape, digits: Digits, known: Shape | None, opset: int) -> Candidates:
    """Yield spellings that read digits backwards, each on an axis of its own."""
    found = turned(start, digits) if opset >= INPUTS["Slice"] else None
    if found is None:
        return
    before, after, axes, inner = found
    extents = [d.extent for d in digits.digits]
    wide = tuple(prod((extents[k] for k in group), start=1) for group in after)
    first = reshapes(extents, before, after, known)
    ones, last = [-1] * len(axes), [-END] * len(axes)
    step = Step("Slice", (("starts", ones), ("ends", last), ("axes", axes), ("steps", ones)), wide)
    if first is None or len(after) == len(start):  # whole axes are turned: the Slice of what is read does that
        return
    for rest in _reorderings(wide, end, inner, known, opset):
        yield None if rest is None else [*steps_of(first), step, *rest]


def _reorderings(start: Shape, end: Shape, digits: Digits, known: Shape | None, opset: int) -> Candidates:
    """Yield spellings of a movement that reads each element once."""
    order = _by_stride(digits)
    extents = [d.extent for d in digits.digits]
    before, after = _axes(digits, len(start), len(end))
    for groups in _groupings(digits, order):
        yield _around(extents, before, groups, after, known)
    if sorted(before) == sorted(after):  # whole axes move
        yield _transpose(extents, _told_apart(before), _told_apart(after))
    yield from _blocks(extents, order, before, after, known, opset)


def _blocks(
    extents: Sequence[Any], order: Sequence[int], before: Groups, after: Groups, known: Shape | None, opset: int
) -> Candidates:
    """Yield SpaceToDepth, and DepthToSpace in both modes, between reshapes to four axes and back."""
    for op, mode, source, target in _BLOCK_OPS:
        if mode == "CRD" and opset < _MODES:
            continue
        for named in _named("".join(source), order):
            if not (named["h"] and named["w"]):  # a block as large as the picture is a transpose
                continue
            if [d for x in "".join(target) for d in named[x]] != sorted(order):
                continue
            size, other = (extents[named[x][0]] for x in "ab")
            if not is_number(size) or size != other:
                continue
            attributes: tuple[tuple[str, Any], ...] = (("blocksize", int(size)),)
            if op == "DepthToSpace" and opset >= _MODES:
                attributes += (("mode", mode),)
            sides = [tuple(tuple(d for x in axis for d in named[x]) for axis in axes) for axes in (source, target)]
            shape = tuple(prod((extents[d] for d in g), start=1) for g in sides[1])
            first, last = (
                reshapes(extents, before, sides[0], known),
                reshapes(extents, sides[1], after, known),
            )
            if first is not None and last is not None:
                yield [*steps_of(first), Step(op, attributes, shape), *steps_of(last)]


def _expansions(start: Shape, end: Shape, digits: Digits, known: Shape | None) -> Candidates:
    """Yield spellings of a movement that repeats elements."""
    extents = [d.extent for d in digits.digits]
    order = _by_stride(digits)
    repeated = [k for k, d in enumerate(digits.digits) if d.source < 0]
    if not all(is_number(extents[k]) for k in repeated):
        return
    before, after = _axes(digits, len(start), len(end))
    if len(before) == len(after) and all(
        now == (*(k for k in now if k in repeated), *old) for old, now in zip(before, after, strict=True)
    ):
        repeats = [int(prod(extents[k] for k in now if k in repeated)) for now in after]
        yield [Step("Tile", (("repeats", repeats),), end)]
    if len(before) == len(after) and all(
        now == (*old, *(k for k in now if k in repeated)) for old, now in zip(before, after, strict=True)
    ):
        scales = [int(prod(extents[k] for k in now if k in repeated)) for now in after]
        if all(scale.bit_count() == 1 for scale in scales):  # runtimes divide floats, which is exact for these
            yield [Step("Resize", (*_RESIZE, ("scales", scales)), end)]
    for groups in _groupings(digits, order):
        moved = sorted(groups)
        spread = sorted([*moved, *_runs(repeated, lambda _a, _b: True)])
        ones = tuple(() if g[0] in repeated else g for g in spread)
        wide = tuple(prod(extents[d] for d in g) for g in spread)
        turned = _transpose(extents, groups, moved)
        middle = tuple(groups) if turned else ones
        first, last = (
            reshapes(extents, before, middle, known),
            reshapes(extents, tuple(spread), after, known),
        )
        added = reshapes(extents, tuple(moved), ones, known) if turned else []
        if first is not None and last is not None and added is not None:
            yield [*steps_of(first), *turned, *steps_of(added), Step("Expand", (), wide), *steps_of(last)]


def _named(letters: str, order: Sequence[int]) -> Iterator[dict[str, Group]]:
    """Yield the ways to cut *order* into a group for each letter: one digit for a block, any number for others."""
    free = [x for x in letters if x not in "ab"]
    count = len(order) - len(letters) + len(free)
    for cuts in itertools.combinations_with_replacement(range(count + 1), len(free) - 1) if count >= 0 else ():
        bounds = (0, *cuts, count)
        sizes = dict.fromkeys("ab", 1) | {x: bounds[k + 1] - bounds[k] for k, x in enumerate(free)}
        named, at = {}, 0
        for x in letters:
            named[x] = tuple(order[at : at + sizes[x]])
            at += sizes[x]
        yield named


def _only(last: tuple[str, Shape], start: Shape) -> list[Step] | None:
    return None if target_shape(start, last[1]) is None else steps_of([last])


def _by_stride(digits: Digits) -> list[int]:
    """Return the numbers of the digits that read, in the order of the input."""
    own = [k for k, d in enumerate(digits.digits) if d.source >= 0]
    return sorted(own, key=lambda k: -digits.digits[k].stride)


def _axes(digits: Digits, start: int, end: int) -> tuple[Groups, Groups]:
    """Return the digits of each axis of the input and of the output."""
    order, all_ = _by_stride(digits), range(len(digits.digits))
    before = tuple(tuple(k for k in order if digits.digits[k].source == axis) for axis in range(start))
    return before, tuple(tuple(k for k in all_ if digits.digits[k].target == axis) for axis in range(end))


def _runs(order: Sequence[int], may: Callable[[int, int], bool]) -> list[Group]:
    """Return the digits in groups that stay together: neighbours in the input and in the output."""
    runs: list[Group] = []
    for k in order:
        if runs and k == runs[-1][-1] + 1 and may(runs[-1][-1], k):
            runs[-1] = (*runs[-1], k)
        else:
            runs.append((k,))
    return runs


def _groupings(digits: Digits, order: Sequence[int]) -> Iterator[list[Group]]:
    """Yield the ways to group the digits: as far as they stay together, and not beyond axes."""
    all_ = digits.digits
    ways: list[Callable[[int, int], bool]] = [
        lambda _a, _b: True,
        lambda a, b: all_[a].source == all_[b].source,
        lambda a, b: all_[a].target == all_[b].target,
        lambda _a, _b: False,
    ]
    yield from {tuple(made): made for made in (_runs(order, way) for way in ways)}.values()


def _around(
    extents: Sequence[Any], before: Groups, groups: Sequence[Group], after: Groups, known: Shape | None
) -> list[Step] | None:
    """Return reshape, transpose, reshape, as far as they are needed."""
    moved = sorted(groups)
    first, last = (
        reshapes(extents, before, tuple(groups), known),
        reshapes(extents, tuple(moved), after, known),
    )
    if first is None or last is None:
        return None
    return [*steps_of(first), *_transpose(extents, groups, moved), *steps_of(last)]


def _told_apart(axes: Groups) -> list[Group]:
    """Return the groups with axes of extent 1 numbered: -1, -2 and so on."""
    ones = itertools.count(1)
    return [g or (-next(ones),) for g in axes]


def _transpose(extents: Sequence[Any], groups: Sequence[Group], moved: Sequence[Group]) -> list[Step]:
    if list(groups) == list(moved):
        return []
    shape = tuple(prod((extents[d] for d in g if d >= 0), start=1) for g in moved)
    return [Step("Transpose", (("perm", [groups.index(g) for g in moved]),), shape)]
