"""Reshapes from one shape to another for all sizes: with a constant target, in few steps, or with a computed one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from symlayout.optimize_models.spellings.movement_digits import is_number

Shape = tuple[Any, ...]
COMPUTED = "computed Reshape"
Groups = tuple[tuple[int, ...], ...]  # for each axis the numbers of its digits


def target_shape(shape: Sequence[Any], wanted: Sequence[Any]) -> list[int] | None:
    """Return the constant with which Reshape makes *wanted* of *shape*; None if no constant does for all sizes."""
    numbers: list[int] = []
    for k, e in enumerate(wanted):
        if is_number(e):
            if int(e) == 0:
                return None
            numbers.append(int(e))
        elif k < len(shape) and shape[k] == e:
            numbers.append(0)
        elif -1 in numbers:
            return None
        else:
            numbers.append(-1)
    return numbers


def added_ones(shape: Sequence[Any], wanted: Sequence[Any]) -> list[int] | None:
    """Return the axes of extent 1 with which Unsqueeze makes *wanted* of *shape*; None if there are none."""
    axes = []
    k = 0
    for axis, e in enumerate(wanted):
        left = len(wanted) - axis - (len(shape) - k)
        if k < len(shape) and shape[k] == e and (left == 0 or e != 1):
            k += 1
        elif e == 1 and left > 0:
            axes.append(axis)
        else:
            return None
    return axes if k == len(shape) and axes else None


@dataclass(frozen=True, slots=True)
class ComputedExtent:
    """An extent ``product(known[axes]) * times / by``, or the constant *times* if there are no axes."""

    axes: tuple[int, ...]
    times: int
    by: int = 1

    @property
    def nodes(self) -> int:
        """How many nodes compute it from the shape."""
        return 0 if not self.axes else 1 + (len(self.axes) > 1) + (self.times != 1) + (self.by != 1)


def computed_shape(shape: Sequence[Any], wanted: Sequence[Any], known: Sequence[Any]) -> list[ComputedExtent] | None:
    """Return how the target of a Reshape from *shape* to *wanted* is computed from the extents *known*.

    A constant 0 stands for the extent of the same axis, as in Reshape.  None if an extent is no quotient of products.
    """
    found = []
    for k, e in enumerate(wanted):
        if is_number(e):
            if int(e) == 0:
                return None
            found.append(ComputedExtent((), int(e)))
        elif k < len(shape) and shape[k] == e:
            found.append(ComputedExtent((), 0))
        else:
            ranges = [tuple(range(i, i + n)) for n in range(1, len(known) + 1) for i in range(len(known) - n + 1)]
            ratios = ((axes, e / prod(known[a] for a in axes)) for axes in ranges if all(known[a] != 0 for a in axes))
            fit = next(((axes, ratio) for axes, ratio in ratios if ratio.is_Rational), None)
            if fit is None:
                return None
            found.append(ComputedExtent(fit[0], int(fit[1].p), int(fit[1].q)))
    return found


def node_count(step: tuple[str, Shape], shape: Shape, known: Shape) -> int:
    """Return how many nodes a step on a value of this *shape* takes, with extents computed from those *known*."""
    if step[0] != COMPUTED:
        return 1
    parts = computed_shape(shape, step[1], known)
    assert parts is not None
    return 3 + sum(part.nodes for part in parts)  # Shape, Concat and Reshape


def reshapes(
    extents: Sequence[Any], before: Groups, after: Groups, known: Shape | None = ()
) -> list[tuple[str, Shape]] | None:
    """Return the operations that regroup the digits of a shape in the fewest nodes, as ``(op, shape)``.

    The operations are Reshape, Unsqueeze and Squeeze, and `COMPUTED`: a Reshape whose target is computed.

    Parameters
    ----------
    extents : sequence
        The extent of each digit.
    before, after : tuple of tuples of int
        The digits of each axis; an axis without digits has the extent 1.
    known : tuple
        The extents that targets are computed from.  None for constants only, which may have a -1 beside dims: such a
        Reshape refuses values without elements.

    Examples
    --------
    >>> import symlayout as sl
    >>> N, H, W = sl.dims("N H W")
    >>> reshapes((N, H / 2, 2), ((0,), (1, 2)), ((0,), (1,), (2,)), None)
    [('Reshape', (N, H/2, 2))]
    >>> reshapes((N, H, W), ((0,), (1,), (2,)), ((0,), (), (1,), (2,)))
    [('Unsqueeze', (N, 1, H, W))]
    """

    def shape(groups: Groups) -> Shape:
        return tuple(prod((extents[d] for d in group), start=1) for group in groups)

    if shape(before) == shape(after):
        return []
    atoms = _common(before, after)
    path = [*_cuts(before, atoms), *reversed(_cuts(after, atoms))]
    shapes = [shape(groups) for groups in path]
    best: list[tuple[int, list[tuple[str, Shape]]] | None] = [(0, [])] + [None] * (len(shapes) - 1)
    for k in range(1, len(shapes)):
        for j in range(k):
            so_far = best[j]
            op = _operation(shapes[j], shapes[k], known)
            if so_far is None or op is None:
                continue
            step = [] if shapes[j] == shapes[k] else [(op, shapes[k])]
            count = so_far[0] + sum(node_count(s, shapes[j], known or ()) for s in step)
            kept = best[k]
            if kept is None or count < kept[0]:
                best[k] = count, [*so_far[1], *step]
    found = best[-1]
    return None if found is None else found[1]


def _operation(shape: Shape, wanted: Shape, known: Shape | None) -> str | None:
    """Return the operation that makes one shape of another."""
    target = target_shape(shape, wanted)
    if target is not None and (known is None or -1 not in target or 0 not in target):
        return "Reshape"
    if added_ones(shape, wanted) is not None:
        return "Unsqueeze"
    if added_ones(wanted, shape) is not None:
        return "Squeeze"
    if known is None:
        return None
    return COMPUTED if computed_shape(shape, wanted, known) is not None else None


def _common(before: Groups, after: Groups) -> Groups:
    """Return the runs of digits that share an axis before and after."""
    homes = [{d: k for k, group in enumerate(groups) for d in group} for groups in (before, after)]
    atoms: list[tuple[int, ...]] = []
    for d in (d for group in before for d in group):
        last = atoms[-1][-1] if atoms else None
        if last is not None and all(home[last] == home[d] for home in homes):
            atoms[-1] = (*atoms[-1], d)
        else:
            atoms.append((d,))
    return tuple(atoms)


def _cuts(groups: Groups, atoms: Groups) -> list[Groups]:
    """Return the groupings on the way to *atoms*: ones are put beside axes, then one axis after another is cut."""
    parts = [[a for a in atoms if a[0] in group] for group in groups]
    padded: list[tuple[int, ...]] = []
    spots = []
    for group, own in zip(groups, parts, strict=True):
        spots.append(len(padded))
        padded += [group, *[()] * (len(own) - 1)]
    path = [groups]
    if padded != list(groups):
        path.append(tuple(padded))
    for spot, own in zip(spots, parts, strict=True):
        if len(own) > 1:
            padded[spot : spot + len(own)] = own
            path.append(tuple(padded))
    path.append(atoms)
    return path
