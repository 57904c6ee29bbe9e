"""Trace one output element through each operation to the leaf element that it reads, or to a fill.

Each declared map is evaluated twice: on integers for the coordinates, and on unsimplified expressions for the formula.
This module knows no operation by name.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import prod
from typing import Any

from symlayout.errors import InconclusiveError, ShapeError, shown
from symlayout.language.readable import atom
from symlayout.language.sympy_bridge import whole
from symlayout.language.to_text import axis_names, spell
from symlayout.language.unsimplified import Literal, literal
from symlayout.maps.gather_elements import int_extents
from symlayout.show import small_sizes
from symlayout.tensors.chain import Tensor, check_tensors
from symlayout.tensors.declaration import Case

Coordinate = tuple[int, ...]

_MOST_AXES = 100  # entries that are read of a coordinate: it may be an endless iterable


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One step of a trace: an operation, a coordinate of its output, and the input coordinate that it reads.

    Attributes
    ----------
    name : str
        The operation.
    number : int
        Its position in ``Tensor.nodes``.
    shape, coord : tuple of int
        The shape of the operation's output, and the coordinate in it.
    source : str
        The name of the tensor that is read: a leaf, or the operation before.
    source_shape, read : tuple of int
        The shape of that tensor, and the coordinate in it.  The coordinate is outside the shape if the step is a fill.
    formula : str
        The declared map, such as ``(i0, i1) -> (i1, i0)``.
    values : str
        The right side of the formula, with numbers for its names.
    where : str
        The windows of the case that applies; empty if it has none.
    """

    name: str
    number: int
    shape: Coordinate
    coord: Coordinate
    source: str
    source_shape: Coordinate
    read: Coordinate
    formula: str
    values: str
    where: str

    @property
    def outside(self) -> list[int]:
        """The axes on which the coordinate *read* is outside the source."""
        return [k for k, (c, e) in enumerate(zip(self.read, self.source_shape, strict=True)) if not 0 <= c < e]


@dataclass(frozen=True, slots=True)
class Trace:
    """The trace of one element.

    Attributes
    ----------
    dims : dict
        The value of each dim, given or chosen.
    shape, coord : tuple of int
        The output's shape, and the coordinate in it.
    steps : tuple of TraceStep
        The steps from the output to the leaf.
    source : str or None
        The name of the leaf that is read; None if the element is a fill.
    read : tuple of int or None
        The coordinate in the leaf; None if the element is a fill.
    fill : object
        The value of the fill, if *source* is None.

    Examples
    --------
    >>> import symlayout as sl
    >>> way = sl.trace(sl.pad(sl.tensor((3,), name="x"), 1), (0,))
    >>> print(way)
    output (5,) at (0,)
    pad: reads x (3,) at (-1,)
      map     (i0,) -> (i0 - 1,)
      here    (0 - 1,) = (-1,)
      outside axis 0: 0 <= -1 < 3 does not hold
    so it is the fill 0 of pad
    """

    dims: dict[str, int]
    shape: Coordinate
    coord: Coordinate
    steps: tuple[TraceStep, ...]
    source: str | None
    read: Coordinate | None
    fill: Any = None

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, names: Mapping[int, str] | None = None) -> list[str]:
        """Return the trace as lines of text; *names* replaces the names of operations, by their `TraceStep.number`."""
        lines = [", ".join(f"{name} = {value}" for name, value in self.dims.items())] if self.dims else []
        lines += [f"output {_tuple(self.shape)} at {_tuple(self.coord)}"]
        for step in self.steps:
            name = (names or {}).get(step.number, step.name)
            lines += [f"{name}: reads {step.source} {_tuple(step.source_shape)} at {_tuple(step.read)}"]
            lines += [f"  map     {step.formula}"]
            if step.values != _tuple(step.read):
                lines += [f"  here    {step.values} = {_tuple(step.read)}"]
            if step.where:
                lines += [f"  where   {step.where}"]
            lines += [
                f"  outside axis {k}: 0 <= {step.read[k]} < {step.source_shape[k]} does not hold" for k in step.outside
            ]
        return [*lines, self.conclusion()]

    def conclusion(self) -> str:
        """Return a line that says which leaf element or fill the element is."""
        if self.source is None:
            return f"so it is the fill {self.fill} of {self.steps[-1].name}"
        return f"so it is {self.source}[{', '.join(map(str, self.read or ()))}]"


def trace(t: Tensor, coord: Sequence[int], dims: Mapping[Any, Any] | None = None) -> Trace:
    """Return the trace of the element of *t* at *coord*.

    Parameters
    ----------
    t : Tensor
        A tensor with any number of leaves.
    coord : sequence of int
        A coordinate of the output, ``0 <= coord[k] < shape[k]``.
    dims : mapping, optional
        Values of dims, by dim or name.  The other dims get small values that satisfy the requirements and for which
        the coordinate is inside the output.

    Raises
    ------
    ShapeError
        ``rank`` if *coord* has another number of axes than *t*; ``bad_coord`` if it is outside the output; other kinds
        if *dims* do not meet the requirements.
    InconclusiveError
        No small sizes were found for which the coordinate is inside the output.

    Examples
    --------
    >>> from symlayout.ops.flip import flip
    >>> from symlayout.tensors.input_tensor import tensor
    >>> print(trace(flip(tensor("N", name="x"), 0), (1,), dims={"N": 5}))
    N = 5
    output (5,) at (1,)
    flip: reads x (5,) at (3,)
      map     (i0,) -> (N - i0 - 1,)
      here    (5 - 1 - 1,) = (3,)
    so it is x[3]
    """
    check_tensors("trace", t)
    fixed, given = small_sizes.with_sizes(t, dims)
    start = at = as_coordinate(t, coord)
    bound, chosen = sizes_with_coordinate(fixed, at)
    check_inside(bound, at)
    values = {**given, **chosen}
    numbers = {id(node): k for k, node in enumerate(bound.nodes())}
    written = t.nodes()
    node, steps = bound, []
    while node.declared is not None:
        step, case = _step(node, written[numbers[id(node)]], numbers[id(node)], at, values)
        steps.append(step)
        if step.outside:
            return Trace(values, int_extents(bound), start, tuple(steps), None, None, _fill(case, step))
        node, at = node.inputs[case.source], step.read
    return Trace(values, int_extents(bound), start, tuple(steps), node.name, at)


def as_coordinate(t: Tensor, coord: Sequence[int]) -> Coordinate:
    """Return *coord* as integers, one for each axis of *t*.

    Raises
    ------
    ShapeError
        ``attr_dtype`` if an entry is not an integer, ``rank`` if their number is not the rank of *t*, ``bad_coord`` if
        one is negative.
    """
    try:
        at = tuple(whole(operator.index(c), "the coordinate") for c in islice(coord, _MOST_AXES))
    except TypeError:
        raise ShapeError(f"coordinate {shown(coord)} is not a sequence of integers", "attr_dtype") from None
    if len(at) != t.rank:
        raise ShapeError(f"coordinate {_tuple(at)} has {len(at)} axes, the output has {t.rank}", "rank")
    if any(c < 0 for c in at):
        raise ShapeError(f"coordinate {_tuple(at)} has a negative entry", "bad_coord")
    return at


def check_inside(t: Tensor, at: Coordinate) -> None:
    """Raise `ShapeError` of kind ``bad_coord`` if *t* has no element at *at*.  The extents of *t* are integers."""
    if not _has_element(t, at):
        raise ShapeError(f"coordinate {_tuple(at)} is not in the output {_tuple(int_extents(t))}", "bad_coord")


def number_of(found: Trace, shape: Sequence[int]) -> int:
    """Return the row-major number, in the leaf of the given shape, of the element that is read."""
    return sum(c * prod(shape[k + 1 :]) for k, c in enumerate(found.read or ()))


def sizes_with_coordinate(t: Tensor, at: Coordinate) -> small_sizes.Example:
    """Return *t* on small sizes for which it has an element at *at*, and the sizes.

    `small_sizes.illustrative_sizes` are preferred.
    """
    bound, values = small_sizes.illustrative_sizes(t)
    if not t.facts.dims or _has_element(bound, at):
        return bound, values
    near = [m * (c + 1) for c in at for m in (1, 2, 4)]
    try:
        preferred = tuple(dict.fromkeys((*small_sizes.LEAST, *near)))
        return small_sizes.small(t, lambda bound: _has_element(bound, at), preferred)
    except InconclusiveError:
        shape = ", ".join(map(t.facts.spell, t.extents))
        raise InconclusiveError(f"coordinate {_tuple(at)} is inside ({shape}) for some small sizes") from None


def _has_element(t: Tensor, at: Coordinate) -> bool:
    return all(0 <= c < e for c, e in zip(at, int_extents(t), strict=True))


def _step(
    node: Tensor, written: Tensor, number: int, at: Coordinate, values: Mapping[str, int]
) -> tuple[TraceStep, Case]:
    """Return the step of *node*, and the case that applies; *written* is the same node in the user's dims."""
    declared, symbolic = node.declared, written.declared
    if declared is None or symbolic is None:
        raise InconclusiveError(f"{node.name} has a map")
    k, case = next((k, c) for k, c in enumerate(declared.cases) if _holds(c, at))
    if len(symbolic.cases) != len(declared.cases):  # for fixed sizes the declaration has other cases
        written, symbolic = node, declared
    source = node.inputs[case.source]
    names = axis_names(node.rank, {*written.facts.dims, *values})
    numbers = {**values, **dict(zip(names, at, strict=True))}
    given = [Literal(atom(name), written.facts) for name in names]
    reads = [_as_text(c, written) for c in symbolic.cases[k].coords(*given)]
    windows = symbolic.cases[k].where(*given) if symbolic.cases[k].where is not None else ()  # type: ignore[misc]
    conditions = [f"0 <= {_as_text(value, written)} < {_as_text(extent, written)}" for value, extent in windows]
    where = " and ".join(conditions)
    return (
        TraceStep(
            node.name,
            number,
            int_extents(node),
            at,
            source.name,
            int_extents(source),
            tuple(int(c) for c in case.coords(*at)),
            f"{_joined(names)} -> {_joined(reads)}",
            _with_values(_joined(reads), numbers),
            f"{where}, that is {_with_values(where, numbers)}" if where else "",
        ),
        case,
    )


def _holds(case: Case, at: Coordinate) -> bool:
    return case.where is None or all(0 <= value < extent for value, extent in case.where(*at))


def _fill(case: Case, step: TraceStep) -> Any:
    if case.fill is None:
        raise InconclusiveError(f"{step.name} reads inside its input at {_tuple(step.read)}")
    return case.fill.value


def _as_text(value: Any, node: Tensor) -> str:
    return spell(literal(value, node.facts).e)


def _with_values(formula: str, numbers: Mapping[str, int]) -> str:
    """Return a formula with each name replaced by its value.

    >>> _with_values("2*i1 + ceil_div(H, b)", {"i1": 3, "H": 5, "b": 2})
    '2*3 + ceil_div(5, 2)'
    """
    return re.sub(r"[A-Za-z_][\w.]*(?![\w.]*\()", lambda m: str(numbers.get(m[0], m[0])), formula)


def _joined(items: Sequence[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _tuple(values: Sequence[int]) -> str:
    return _joined([str(v) for v in values])
