"""The point of a proof: sizes that meet all facts of a claim, at which its sides were bound and evaluated.

From facts that contradict each other everything follows.  So no claim is proved without such sizes.  A point is found
among small sizes, then by searches; the declarations of both sides run again on its numbers, which do not depend on
what the algebra concluded.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, evaluate, names_of, product, symbol
from symlayout.algebra.search.branch_and_bound import can_hold, searches
from symlayout.algebra.search.enumerate_sizes import sizes
from symlayout.errors import InconclusiveError, ShapeError, SymlayoutError
from symlayout.maps.gather_elements import gathers, int_extents
from symlayout.proof.counterexample import sampled, work_of
from symlayout.tensors.chain import Tensor, graph_of
from symlayout.tensors.chain_key import step_key

ELEMENTS, SHAPES = "elements", "shapes"
Evaluate = Callable[[Mapping[str, int], Sequence[Tensor], bool], bool]

_FEW, _MANY = 60, 2000  # sizes that are tried before the searches, and after them
_BOXES = 200  # that the search for sizes of some dims visits
_TRIALS = 6  # choices of start values from which sizes are looked for
_MOST_REBUILT = 20_000  # most operations that are made again where declarations refuse sizes
_MOST_INCLUDING = 16  # systems of facts, the largest ones, that may include the others
_MOST_BOUND = 8  # valid sizes of which one with elements is taken
_MOST_ELEMENTS = 1 << 14  # most elements of a side that is evaluated
_MOST_WORK = 1 << 16  # most elements that bodies read there


@dataclass(frozen=True, slots=True)
class Point:
    """Sizes at which all sides of a claim are valid.

    Attributes
    ----------
    dims : mapping
        The value of each dim, by its name.
    evaluated : str
        ``"elements"`` if all elements of the sides were evaluated there, ``"shapes"`` if only their shapes and
        requirements were: they have many elements, or their extents depend on data.
    """

    dims: Mapping[str, int]
    evaluated: str


def point_of(sides: Sequence[Tensor], facts: Facts, compare: Evaluate | None = None) -> Point | None:
    """Return sizes that meet *facts* and at which each of *sides* was bound and evaluated; None if none are found.

    The first sizes are taken at which all elements of the sides were evaluated and each side has an element; without
    such sizes, the first ones that are valid.

    Parameters
    ----------
    sides : sequence of Tensor
        What is evaluated.
    facts : Facts
        A system that knows the symbols of all sides.
    compare : function, optional
        What evaluates the sides, given the sizes, the sides with these sizes, and whether their elements are few; it
        says whether it evaluated these.

    Examples
    --------
    >>> from symlayout.tensors.input_tensor import tensor
    >>> x = tensor("N, 2*h", name="x")
    >>> point_of([x], x.facts).dims
    {'N': 1, 'h': 1}
    """
    compare = compare or are_evaluated
    nodes = graph_of(sides)
    depends = not facts.dims.keys() <= {name for node in nodes if not node.inputs for name in node.facts.dims}
    point = None
    for values, bound in islice(bound_sides(sides, facts, max(1, _MOST_REBUILT // len(nodes))), _MOST_BOUND):
        is_small = not depends and _is_small(bound)
        seen = compare(values, bound, is_small) and is_small
        found = Point(values, ELEMENTS if seen else SHAPES)
        if seen is is_small and all(product(t.extents) != 0 for t in bound):
            return found
        if point is None or (seen and point.evaluated == SHAPES):
            point = found
    return point


def bound_sides(
    sides: Sequence[Tensor], facts: Facts, tries: int
) -> Iterator[tuple[dict[str, int], tuple[Tensor, ...]]]:
    """Yield sizes that meet *facts*, and the sides with these sizes; so many *tries* may be refused."""
    for values in islice(valid_sizes(facts), tries):
        try:
            bound = bound_as_one(sides, values)
        except (ShapeError, InconclusiveError):
            continue  # a declaration refuses these sizes
        yield values, bound


def bound_as_one(sides: Sequence[Tensor], values: Mapping[str, int]) -> tuple[Tensor, ...]:
    """Return *sides* with these sizes of all dims; what both make by the same steps of the same inputs is made once.

    Raises
    ------
    ShapeError, InconclusiveError
        A declaration refuses the sizes.

    Examples
    --------
    >>> import symlayout as sl
    >>> x = sl.tensor("N", name="x")
    >>> y, z = bound_as_one([sl.flip(x), sl.flip(x)], {"N": 3})
    >>> y is z, y.shape
    (True, (3,))
    """
    made: dict[int, Tensor] = {}
    known: dict[Hashable, Tensor] = {}
    systems = list({id(t.facts): t for t in sides}.values())
    for t in systems:
        t.check_dims(_of(t, values))
    for node in graph_of(sides):
        inputs = tuple([made[id(x)] for x in node.inputs])
        own = _of(node, values)
        if not node.inputs and node.values is None:
            leaf = node.remade((), own)
            key: Hashable | None = leaf.key, leaf.dtype, leaf.extents
            made[id(node)] = known.setdefault(key, leaf)
        elif (key := step_key(node, tuple(map(id, inputs)))) in known and key is not None:
            made[id(node)] = known[key]
        else:
            made[id(node)] = known[key] = node.remade(inputs, own)
    checked: list[Tensor] = []
    demanding = [t for t in systems if t.facts.requirements]
    for t in sorted(demanding, key=lambda t: -len(t.facts.requirements)):
        if not any(other.facts.includes(t.facts) for other in checked[:_MOST_INCLUDING]):  # else the other's hold them
            t.check_requirements(_of(t, values))
            checked.append(t)
    return tuple([made[id(t)] for t in sides])


def are_evaluated(values: Mapping[str, int], sides: Sequence[Tensor], elements: bool) -> bool:
    """Return whether the elements of sides, whose extents are ints, can be evaluated: they were, where *elements*."""
    sides = list({id(t): t for t in sides}.values())
    try:
        if elements and any(t.computes for t in sides):
            sampled(sides)
        for t in sides if elements else ():
            if product(t.extents) and not t.computes:
                list(gathers(t))
    except SymlayoutError:  # such as for a body without a function
        return False
    return elements


def _is_small(sides: Sequence[Tensor]) -> bool:
    """Return whether the elements of sides are few, and computed with little work; their extents are ints."""
    counts = [product(t.extents) for t in sides]
    if not all(isinstance(n, int) and n <= _MOST_ELEMENTS for n in counts):
        return False
    nodes = graph_of(sides) if any(t.computes for t in sides) else ()
    work = work_of(nodes) + sum(int(np.prod(int_extents(node), dtype=object)) for node in nodes if not node.inputs)
    return work <= _MOST_WORK and not any(node.body is not None and node.body.random for node in nodes)


def valid_sizes(facts: Facts) -> Iterator[dict[str, int]]:
    """Yield sizes that meet the bounds of the dims and the requirements: small ones first, then those of searches."""
    if not facts.dims:
        yield {}
        return
    evaluation = facts.evaluation()

    def holds(values: Mapping[str, int]) -> bool:
        allowed = all(name in values and d.allows(values[name]) for name, d in facts.dims.items())
        return allowed and facts.failing(evaluation(values)) is None

    ones = dict.fromkeys(facts.dims, 1)
    yield from filter(holds, islice(sizes(facts, ones), _FEW))
    yield from filter(holds, islice(sizes(facts), _FEW))
    yield from filter(holds, _solved(facts))
    yield from filter(holds, _found(facts))
    ends = {name: facts.interval(facts.reduce(symbol(name)))[0] for name in facts.dims}
    for least in ({name: max(low or 0, 1) for name, low in ends.items()}, ends):
        yield from filter(holds, islice(sizes(facts, least), _MANY))


def is_empty(facts: Facts) -> bool:
    """Return whether it is proved that no sizes meet *facts*; False says nothing."""
    return not can_hold(facts, _BOXES)


def _solved(facts: Facts) -> Iterator[dict[str, int]]:
    """Yield the sizes that follow where all symbols which equations leave have their least values, from 1 on, or 0."""
    dims = {name: facts.reduce(symbol(name)) for name in facts.dims}
    left = {name for e in dims.values() for name in names_of(e)}
    for least in (1, 0):
        free = {name: max(facts.low.get(name) or 0, least) for name in left}
        yield {name: evaluate(e, free) for name, e in dims.items()}


def _found(facts: Facts) -> Iterator[dict[str, int]]:
    """Yield sizes that searches find; what holds at them is tested by the caller."""
    values: dict[str, int] = {}
    for part in dict.fromkeys(searches(facts, map(symbol, facts.dims))):
        found = part.any_point(_BOXES)[0]
        if found is None:
            break
        values |= part.dims_at(found)
    if facts.dims.keys() <= values.keys():
        yield values
    for trial in range(_TRIALS):
        found = facts.point({}, trial)
        if found is not None:
            dims = {name: facts.reduce(symbol(name)) for name in facts.dims}
            yield {name: evaluate(e, found) for name, e in dims.items() if names_of(e) <= found.keys()}


def _of(t: Tensor, values: Mapping[str, int]) -> dict[str, Extent]:
    """Return the values of the dims that a node has."""
    return {name: value for name, value in values.items() if name in t.facts.dims}
