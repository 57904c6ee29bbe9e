"""Solve for the inputs that give an output shape: values, relations, or the reason why none exist."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, names_of, substitute, symbol
from symlayout.algebra.search.branch_and_bound import PointSearch, can_hold, searches
from symlayout.errors import ShapeError, shown
from symlayout.language import sympy_bridge
from symlayout.tensors.chain import Tensor, check_tensors
from symlayout.tensors.declaration import Operand, as_list
from symlayout.tensors.requirements import requirements

_BUDGET = 2000  # most boxes that one search visits
_MOST_POINTS = 1000  # most solutions in a list


class Status(enum.Enum):
    """How many inputs give an output shape; ``UNKNOWN`` is an answer, not a failure.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.Status("none")
    <Status.NONE: 'none'>
    >>> bool(sl.Status.NONE)
    Traceback (most recent call last):
    TypeError: a Status has four values; compare it with Status.UNIQUE
    """

    UNIQUE = "unique"
    FAMILY = "family"
    NONE = "none"
    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        raise TypeError("a Status has four values; compare it with Status.UNIQUE")


@dataclass(frozen=True, slots=True)
class Solution:
    """The inputs of a tensor that give an output shape.

    Attributes
    ----------
    status : Status
        UNIQUE: the output shape determines every dim.  FAMILY: some dims remain free.  NONE: no sizes give the shape.
        UNKNOWN: the search gave up, either before it found a solution or before it excluded a second one.
    dims : dict
        The value of each dim of the tensor, by its SymPy symbol: an int, or an expression in the dims of the output
        shape and in free dims.  Empty if the status is NONE.
    relations : tuple
        SymPy relations that the dims in these expressions must satisfy.
    points : tuple of dict, or None
        All solutions as numbers, if there are at most 1000 and the output shape has no dims; else None.
    inputs : dict
        The shape of each input, by the name of the input.
    reason : str
        Why the status is NONE or UNKNOWN; else empty.

    Examples
    --------
    >>> import symlayout as sl
    >>> x = sl.tensor("H", name="x")
    >>> s = sl.solve_shape(sl.pad(x, (1, 2)), (10,))
    >>> s.status, s.dims, s.inputs
    (<Status.UNIQUE: 'unique'>, {H: 7}, {'x': (7,)})
    """

    status: Status
    dims: Mapping[Any, Any] = field(default_factory=dict)
    relations: tuple[Any, ...] = ()
    points: tuple[Mapping[Any, int], ...] | None = None
    inputs: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    reason: str = ""

    def __str__(self) -> str:
        if self.status is Status.NONE:
            return f"none: {self.reason}"
        values = ", ".join(f"{dim} = {value}" for dim, value in self.dims.items() if dim != value)
        where = f" where {', '.join(map(str, self.relations))}" if self.relations else ""
        reason = f"{self.reason}: " if self.reason else ""
        return f"{self.status.value}: {reason}{values or 'all sizes'}{where}"


def solve_shape(y: Tensor, output_shape: Any) -> Solution:
    """Return the values of the dims of *y*, and so the shapes of its inputs, for which *y* has an output shape.

    Parameters
    ----------
    y : Tensor
        The tensor that is to have the output shape.
    output_shape : sequence or str
        One entry for each axis, as for `tensor`: an int, a dim or expression, ``(lo, hi)``, or None or -1 for any
        extent.  In a string such as ``"4, 2*m, ?"``, names of dims of *y* mean these dims.

    Returns
    -------
    Solution
        The status, the dims and the input shapes.  ``UNKNOWN`` is a possible answer; no error is raised for it.

    Raises
    ------
    ShapeError
        ``rank`` if the number of entries is not the rank, ``infeasible`` for a negative entry, ``attr_dtype`` for an
        entry that is not an integer, ``dim_conflict`` if two dims share a name.
    FormatError
        The string is not a shape.

    Examples
    --------
    >>> from symlayout.ops.pad import pad
    >>> from symlayout.tensors.input_tensor import tensor
    >>> print(solve_shape(pad(tensor("H, W", name="x"), [(1, 2), (0, 0)]), (10, None)))
    family: H = 7
    """
    check_tensors("solve_shape", y)
    base = Facts()  # declare the dims of the output shape first: equations are solved for the newest dim
    goals = _goals(y, output_shape, base)
    given = frozenset(base.dims)
    base.merge(y.facts)
    facts = base.fork()
    error = _demand(goals, y, facts)
    return (None if error else _solution(y, facts, given)) or _conflict(y, goals, base, error)


# ---------------------------------------------------------------------- what is asked for


@dataclass(frozen=True, slots=True)
class _Goal:
    """A wanted extent of one output axis: between *low* and *high*; a *high* of None is unbounded."""

    axis: int
    low: Extent
    high: Extent | None
    text: str


def _goals(y: Tensor, output_shape: Any, facts: Facts) -> list[_Goal]:
    """Return the entries of an output shape as goals, and declare their dims."""
    if isinstance(output_shape, str):
        from symlayout.language.parse import evaluate, parse_shape
        from symlayout.language.parse import names_of as dims_in

        trees = parse_shape(output_shape)
        dims = {name: sympy_bridge.dim(name, *limits) for name, limits in dims_in(*trees).items()}
        dims |= {name: sympy_bridge.symbol_of(d) for name, d in y.facts.dims.items()}
        entries = [evaluate(tree, dims) for tree in trees]
    else:
        entries = as_list(output_shape)
    if len(entries) != y.rank:
        raise ShapeError(f"the output shape has {len(entries)} entries, {y!r} has {y.rank} axes", "rank")
    goals = []
    for axis, entry in enumerate(entries):
        if entry is None or (type(entry) is int and entry == -1):
            continue
        ends = entry if isinstance(entry, (tuple, list)) else (entry, entry)
        if len(ends) != 2:
            raise ShapeError(f"axis {axis}: {shown(entry)} is not an interval (lo, hi)", "length_mismatch")
        low = sympy_bridge.to_extent(ends[0], facts, f"axis {axis}")
        high = None if ends[1] is None else sympy_bridge.to_extent(ends[1], facts, f"axis {axis}")
        if isinstance(low, int) and low < 0:
            raise ShapeError(f"axis {axis}: extent {low} is negative", "infeasible")
        said = [facts.spell(e) for e in (low, high) if e is not None]
        text = said[0] if low == high else f"at least {said[0]}" if high is None else f"{said[0]} to {said[1]}"
        goals.append(_Goal(axis, low, high, text))
    return goals


def _demand(goals: Sequence[_Goal], y: Tensor, facts: Facts) -> str:
    """Add the goals to *facts*; return the text of the error if no sizes meet them, else an empty text."""
    for goal in goals:
        e, where = facts.reduce(y.extents[goal.axis]), f"axis {goal.axis}"
        try:
            if goal.low == goal.high:
                facts.require_zero(e - goal.low, "infeasible", where)
            else:
                facts.require_nonnegative(e - goal.low, "infeasible", where)
                if goal.high is not None:
                    facts.require_nonnegative(goal.high - e, "infeasible", where)
        except ShapeError as error:
            return str(error)
    return ""


def _conflict(y: Tensor, goals: Sequence[_Goal], base: Facts, error: str) -> Solution:
    """Return the solution NONE; its reason names axes whose goals conflict, and no axis that could be left out."""
    needed = list(goals)
    for goal in goals:
        fewer, facts = [g for g in needed if g is not goal], base.fork()
        if _demand(fewer, y, facts) or not can_hold(facts, _BUDGET):
            needed = fewer
    asked = " and ".join(f"axis {g.axis}, which is {y.facts.spell(y.extents[g.axis])}, to be {g.text}" for g in needed)
    known = y.facts.describe(sum(symbol(name) for g in needed for name in names_of(y.extents[g.axis])))
    lines = [f"no sizes allow {asked or 'the tensor itself'}", f"known: {known}", *error.splitlines()[:1]]
    return Solution(Status.NONE, reason="\n  ".join(lines))


# ---------------------------------------------------------------------- what meets it


def _solution(y: Tensor, facts: Facts, given: frozenset[str]) -> Solution | None:
    """Return the solution; None if there is none."""
    parts = list(dict.fromkeys(searches(facts, map(symbol, facts.dims))))
    found = [part.points(_BUDGET, _MOST_POINTS) for part in parts]
    for part, (some, complete) in zip(parts, found, strict=True):
        if not some:
            point, certain = (None, True) if complete else part.any_point(_BUDGET)
            if point is None:
                return None if certain else Solution(Status.UNKNOWN, reason="the search for a solution gave up")
    values = _values(y, facts, given)
    points = None if given else _points(parts, found, y.facts.dims)
    if points is not None:
        fixed = {name: n for name, n in points[0].items() if all(point[name] == n for point in points)}
        values = {name: (substitute(top, fixed), substitute(bottom, fixed)) for name, (top, bottom) in values.items()}
        values |= {name: (n, 1) for name, n in fixed.items()}
    status, reason = Status.FAMILY, ""
    if all(name in given or (name in values and _names(values[name]) <= given) for name in y.facts.dims):
        status = Status.UNIQUE
    elif points is None and not given and all(len(some) == 1 for some, _ in found):
        status, reason = Status.UNKNOWN, "the search for a second solution gave up"
    return _written(y, facts, values, status, points, reason)


def _points(
    parts: list[PointSearch], found: list[tuple[list[dict[str, int]], bool]], order: Iterable[str]
) -> list[dict[str, int]] | None:
    """Return all points as values of the dims, in order; None if some are unknown or there are too many."""
    if not all(complete for _, complete in found) or prod(len(some) for some, _ in found) > _MOST_POINTS:
        return None
    choices = [[part.dims_at(point) for point in some] for part, (some, _) in zip(parts, found, strict=True)]
    points = [{name: n for dims in chosen for name, n in dims.items()} for chosen in itertools.product(*choices)]
    return sorted(points, key=lambda point: [point[name] for name in order])


def _values(y: Tensor, facts: Facts, given: frozenset[str]) -> dict[str, tuple[Extent, Extent]]:
    """Return the dims that others determine, as fractions in free dims: no determined dim occurs in a fraction."""
    values: dict[str, tuple[Extent, Extent]] = {}
    used: frozenset[str] = frozenset()
    for name in y.facts.dims:
        top, bottom = facts.to_user(facts.reduce(symbol(name)))
        names = _names((top, bottom))
        if name not in given | used | names and names <= facts.dims.keys() - values.keys():
            values[name] = top, bottom
            used |= names
    return values


def _names(fraction: tuple[Extent, Extent]) -> frozenset[str]:
    return names_of(fraction[0]) | names_of(fraction[1])


def _written(
    y: Tensor,
    facts: Facts,
    values: Mapping[str, tuple[Extent, Extent]],
    status: Status,
    points: list[dict[str, int]] | None,
    reason: str,
) -> Solution:
    """Return a solution in the user's dims; its relations are the requirements with the values inserted."""
    left = Facts()
    for name, d in facts.dims.items():
        if name not in values:
            left.declare(d)
    bound = {name: left.divide(top, bottom, "infeasible") for name, (top, bottom) in values.items()}
    x = Operand((), left, "solution", bound)
    for name, value in bound.items():
        d = facts.dims[name]
        for e, _ in d.limits(value):
            x.require(e, "infeasible")
        x.divide(value, d.multiple_of, "infeasible")
    for r in facts.requirements:
        value = x.translate(r.value, facts)
        if r.relation == "divides":
            x.divide(value, x.translate(r.modulus, facts), "infeasible")
        elif r.relation == "nonnegative":
            x.require(value, "infeasible")
        else:
            x.require_equal(value, 0, "infeasible")
    shapes = {leaf.name: [x.translate(e, leaf.facts) for e in leaf.extents] for leaf in y.arguments()}
    known = x.facts

    def written(e: Extent) -> Any:
        return sympy_bridge.to_sympy(known.reduce(e), known)

    symbol_of = {name: sympy_bridge.symbol_of(d) for name, d in facts.dims.items()}
    return Solution(
        status,
        {symbol_of[name]: written(bound.get(name, symbol(name))) for name in y.facts.dims},
        tuple(sympy_bridge.to_relation(r, known) for r in requirements(known)),
        None if points is None else tuple({symbol_of[name]: p[name] for name in y.facts.dims} for p in points),
        {name: tuple(map(written, extents)) for name, extents in shapes.items()},
        reason,
    )
