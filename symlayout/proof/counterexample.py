"""Search for a witness, a point at which two tensors differ; small sizes come first.

Finitely many sizes never prove a claim about all sizes.  So the search only refutes, unless the sizes are fixed and it
has compared every element.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, permutations
from typing import Any

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, evaluate, product, symbol
from symlayout.algebra.search.enumerate_sizes import sizes
from symlayout.compute.fixed_kinds import OPEN, ROUNDED, are_other_kinds, is_open, where_finite
from symlayout.deadlines import work
from symlayout.errors import ArrayError, InconclusiveError, ShapeError
from symlayout.language import sympy_bridge
from symlayout.maps.compose_chain import output_digits
from symlayout.maps.evaluate_bodies import evaluated, stirred
from symlayout.maps.gather_elements import READ_PER_GOAL, gathers, int_extents
from symlayout.maps.index_ranges import in_range, ranges_of
from symlayout.proof.cases.array_difference import difference_of, is_float
from symlayout.proof.cases.quantized_units import explained_by_units
from symlayout.tensors.chain import Tensor, graph_of
from symlayout.tensors.declaration import UNDETERMINED, Body
from symlayout.tensors.element_types import same_fill

Array = np.ndarray[Any, Any]

_PART_GOALS = 3  # of finding one part of a map at one choice of sizes
_DRAWS = 4  # of elements, where there is one size only: maxima of two draws are often equal
_SMALL = 100  # the first draw of small elements, beside which a small summand counts, such as that of a variance
_MIDDLE = 200  # the first draw of elements of about 1, whose products do not saturate a softmax and do not vanish in it
_PARTS = {_SMALL: 256, _MIDDLE: 16}  # by what the integers of a draw are divided
_SPECIAL = 300  # the first draw of signed zeros, infinities and NaN, with a few plain numbers
_SPECIAL_VALUES = (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0, -2.0, 0.5)
_SPECIAL_DRAWS = 12  # of such elements at each of few sizes
_SPECIAL_POINTS = 3  # at which these are drawn, beside a few large ones
_MORE_POINTS = 4  # that are tried for a finite difference where an infinite one or NaN is found
_INDICES = 1000  # added to a draw in which integers are 0 or 1: places that each axis has, but for one of extent 1
_WITH_ELEMENTS = 20  # candidate points with no extent 0 that are tried first for values that are computed
_EVERY = 4  # how many sizes there are to one for which small elements are drawn, too, and to one for those of about 1
_FAR = (64, 16, 256)  # extents of one dim, or of all, that are tried last: small sizes do not reach all constants
_MOST_FAR = 1 << 24  # most elements that bodies read there
_MOST_SPECIAL = 1 << 20  # most elements that bodies read where special values are drawn
_CHEAP = 40  # most candidate points to test for each point that is evaluated
_MAX_ELEMENTS = 1 << 22  # most elements of an output that is evaluated
_MOST_DRAWN = 1 << 30  # most elements that bodies read in all draws at one point, if there is more than one
_MOST_WORK = 1 << 28  # most elements that bodies read where sides are evaluated to say by how much they differ
_STEPS, _ELEMENTS = 16, 1 << 16  # so many steps of both chains, or output elements, cost as much as one more point


@dataclass(frozen=True, slots=True)
class Witness:
    """A point at which two sides differ.

    Attributes
    ----------
    dims : dict
        The value of each dim, by its SymPy symbol.
    coord : tuple of int or None
        The output coordinate; None if the shapes differ.
    left, right : object
        The element that each side reads at *coord*: ``(input name, coordinate)`` or ``("fill", value)``.  A computed
        element is ``("value", value)``, for inputs that are small integers, or 16ths or 256ths of them.  If *coord* is
        None, the two shapes.
    is_plain : bool
        Whether the sides differ by more than rounding in another order ever explains.
    draw : int
        Which elements were drawn for the inputs, if values were computed (see `sample`).
    is_special : bool
        Whether the sides differ in the sign of a zero, or in whether they are infinite or NaN, and nothing more was
        found.

    Examples
    --------
    >>> import symlayout as sl
    >>> w = sl.prove_equal(sl.flip(sl.tensor("N", name="x")), sl.tensor("N", name="x")).witness
    >>> w.dims, w.coord, w.left, w.right
    ({N: 2}, (0,), ('x', (1,)), ('x', (0,)))
    """

    dims: dict[Any, int]
    coord: tuple[int, ...] | None
    left: Any
    right: Any
    is_plain: bool = field(default=True, compare=False, repr=False)
    draw: int = field(default=0, compare=False, repr=False)
    is_special: bool = field(default=False, compare=False, repr=False)

    @property
    def is_finite(self) -> bool:
        """Whether neither side is an infinity or NaN at *coord*: runtimes differ in what becomes such a value."""
        return all(
            not isinstance(s, tuple) or s[:1] != ("value",) or not _is_infinite(s[1]) for s in (self.left, self.right)
        )

    def __str__(self) -> str:
        at = ", ".join(f"{symbol} = {value}" for symbol, value in self.dims.items())
        computed = isinstance(self.left, tuple) and self.left[:1] == ("value",)
        where = "the shapes are" if self.coord is None else f"at {self.coord} the sides {'are' if computed else 'read'}"
        return f"{at + ': ' if at else ''}{where} {_read_text(self.left)} and {_read_text(self.right)}"


class WitnessSearch:
    """The search for a witness against ``left == right``, over one system of facts.

    The values *reading* have to be valid at a witness, too.  With *units*, quantized values may be one unit off.
    """

    def __init__(
        self,
        left: Tensor,
        right: Tensor,
        facts: Facts,
        dtype: Any,
        reading: Sequence[Tensor] = (),
        *,
        units: bool = False,
    ) -> None:
        self.left, self.right, self.facts, self.dtype, self.reading = left, right, facts, dtype, reading
        self._steps, self._units = len(left.graph()) + len(right.graph()), units
        self._spent = 0  # cost of the points so far, in small points
        self._searched = 0  # points of D so far
        self._tried = 0  # points so far, those outside D included
        self._sizes: Iterator[dict[str, int]] | None = None

    def run(self, budget: int) -> tuple[Witness | None, int, bool]:
        """Return a witness or None, the number of points of D that were evaluated, and whether these are all of D.

        D is the set of dims for which both sides are valid.  *budget* is a number of small points; a point with long
        chains or many elements counts as several.  A second call goes on with what its budget leaves.  A few more
        points are evaluated for a witness of finite values.
        """
        first: Witness | None = None
        last = math.inf  # the point that is the last one to be searched
        dims = list(self.facts.dims.values())
        if self._sizes is None:
            least = self._least()
            self._sizes = sizes(self.facts, least)
            if self.left.computes or self.right.computes:  # first those of inputs with elements
                some = {name: max(least.get(name) or 0, 1) for name in self.facts.dims}
                self._sizes = chain(islice(sizes(self.facts, some), _WITH_ELEMENTS), self._sizes)
        while self._spent < budget and self._tried < budget * _CHEAP and self._searched < last:
            values = next(self._sizes, None)
            if values is None:
                break
            self._tried += 1
            if not self._holds(values):
                continue
            self._searched += 1
            try:
                witness, compared = self.differ(values)
            except (ShapeError, InconclusiveError):
                continue  # binding or evaluation refused these dims: not a point of D
            if not dims:
                return witness, self._searched, witness is None and compared
            if witness is not None and witness.is_finite:
                return witness, self._searched, False
            if witness is not None and first is None:
                first, last = witness, self._searched + _MORE_POINTS
        return first, self._searched, False

    def run_far(self) -> tuple[Witness | None, int]:
        """Return a witness at a few large sizes or None, and the number of points of D in all that were evaluated."""
        for values in self._far():
            try:
                sides = self._bound(values)
                if sum(work_of(t.graph()) for t in sides) > _MOST_FAR:
                    continue
                self._searched += 1
                witness, _ = self.differ(values)
            except (ShapeError, InconclusiveError):
                continue
            if witness is not None:
                return witness, self._searched
        return None, self._searched

    def run_special(self) -> Witness | None:
        """Return a witness at which the sides are zeros of unlike signs, or one is an infinity or NaN; None without.

        Only differences count that the standard fixes, and that small changes of the inputs leave as they are.  Where
        all functions are of `symlayout.compute.fixed_kinds`, special values are drawn for the inputs, too.
        """
        bodies = [node.body for t in (self.left, self.right) for node in t.graph() if node.body is not None]
        if not bodies or any(body.function is None or body.random for body in bodies):
            return None
        first = _SPECIAL if all(body.function in OPEN for body in bodies) else 0
        exact = all(body.function in OPEN.keys() - ROUNDED for body in bodies)
        with_elements = sizes(self.facts, dict.fromkeys(self.facts.dims, 1))
        near = islice(filter(self._holds, islice(with_elements, _CHEAP)), _SPECIAL_POINTS)
        for values in chain(near, self._far()):
            try:
                sides = self._bound(values)
                if sides[0].extents != sides[1].extents or sum(work_of(t.graph()) for t in sides) > _MOST_SPECIAL:
                    continue
                reading = self._reading(values)
                found = (_specially_apart(*sides, k, exact, reading) for k in range(first, first + _SPECIAL_DRAWS))
                apart = next(filter(None, found), None)
            except (ShapeError, InconclusiveError):
                continue
            if apart is not None:
                return replace(apart, dims=self._by_symbol(values))
        return None

    def _bound(self, values: Mapping[str, int]) -> tuple[Tensor, Tensor]:
        return self.left.bind(_only(values, self.left)), self.right.bind(_only(values, self.right))

    def _reading(self, values: Mapping[str, int]) -> list[Tensor]:
        """Return what has to be valid, with these values of the dims.

        Raises
        ------
        ShapeError
            It is not valid for them.
        """
        return [t.bind(_only(values, t)) for t in self.reading]

    def _by_symbol(self, values: Mapping[str, int]) -> dict[Any, int]:
        return {sympy_bridge.symbol_of(self.facts.dims[name]): v for name, v in values.items()}

    def _far(self) -> Iterator[dict[str, int]]:
        """Yield a few large sizes that are valid.

        One dim is large, or all are, as far as their bounds allow; the others are as small as they may be.
        """
        names = list(self.facts.dims)
        ends = {name: self.facts.interval(self.facts.reduce(symbol(name))) for name in names}
        least = {name: max(low or 0, 1) for name, (low, _) in ends.items()}
        seen: list[dict[str, int]] = []
        for extent in _FAR:
            for large in [*([name] for name in names), names]:
                values = dict(least)
                for name in large:
                    high = ends[name][1]
                    values[name] = max(least[name], extent if high is None else min(high, extent))
                if values != least and values not in seen and self._holds(values):
                    seen.append(values)
                    yield values

    def _holds(self, values: dict[str, int]) -> bool:
        """Return whether sizes meet the requirements of both sides, and the output has an element."""
        known = self.facts.values(values)
        return all(r.holds(known) for r in self.facts.requirements) and not self._is_empty(known)

    def _is_empty(self, known: dict[str, int]) -> bool:
        """Return whether both shapes are equal and empty: then nothing can differ."""
        shapes = []
        for t in (self.left, self.right):
            parts = [t.facts.to_user(e) for e in t.extents]
            try:
                shapes.append([evaluate(n, known) // (evaluate(d, known) or 1) for n, d in parts])
            except KeyError:  # the joint system has another symbol in its place
                return False
        return shapes[0] == shapes[1] and 0 in shapes[0]

    def _least(self) -> dict[str, int | None]:
        """Return least values of the dims for the search: if the shapes agree, the output must have an element."""
        pairs = zip(self.left.extents, self.right.extents, strict=False)
        if self.left.rank != self.right.rank or not all(self._agree(a, b) for a, b in pairs):
            return {}
        facts = self.facts.fork()
        try:
            output_digits(self.left, facts)
        except ShapeError:  # the output is empty for all sizes
            return {}
        return {name: facts.interval(facts.reduce(symbol(name)))[0] for name in self.facts.dims}

    def _agree(self, a: Extent, b: Extent) -> bool:
        return self.facts.vanishes(self.facts.reduce(a) - self.facts.reduce(b))

    def differ(self, values: dict[str, int]) -> tuple[Witness | None, bool]:
        """Return a witness for one point of D or None, and whether all elements were compared there."""
        self._spent += 1 + self._steps // _STEPS
        return self.apart(values, *self._bound(values))

    def apart(self, values: Mapping[str, int], left: Tensor, right: Tensor) -> tuple[Witness | None, bool]:
        """Return what `differ` returns; *left* and *right* are the sides with these values."""
        dims = self._by_symbol(values)
        if left.extents != right.extents:
            _, draw = valid_inputs([left], 0, self._reading(values))  # it reads at places that there are
            return Witness(dims, None, left.extents, right.extents, draw=draw), True
        size = product(left.extents)
        if not isinstance(size, int) or size > _MAX_ELEMENTS:
            return None, False
        if size == 0:
            return None, True
        self._spent += size // _ELEMENTS
        if left.computes or right.computes:
            work = sum(work_of(t.graph()) for t in (left, right))
            draws = list(range(1 if dims else _DRAWS))  # other sizes are another draw
            draws += [_SMALL] * (not dims or self._searched % _EVERY == _EVERY - 1)
            draws += [_MIDDLE] * (not dims or self._searched % _EVERY == 1)
            draws = draws[: max(1, _MOST_DRAWN // max(work, 1))]
            self._spent += len(draws) * work // _ELEMENTS
            reading = self._reading(values)
            found = filter(None, (self._computed_apart(left, right, dims, k, reading) for k in draws))
            first = next(found, None)
            return first if first is None or first.is_finite else next((w for w in found if w.is_finite), first), False
        keys = sorted({leaf.key for t in (left, right) for leaf in t.leaves()})
        fills: list[Any] = []
        codes = [self._codes(t, keys, fills) for t in (left, right)]
        different = np.flatnonzero(np.any(codes[0] != codes[1], axis=0))
        if not different.size:
            return None, True
        if any(fill is UNDETERMINED for fill in fills):  # which no array holds
            place, draw = int(different[0]), valid_inputs([left, right], 0, self._reading(values))[1]
        else:
            place, draw = _shown((left, right), different, self._reading(values))
        coord = tuple(int(c) for c in np.unravel_index(place, int_extents(left)))
        a, b = (_read(code[:, place], keys, fills, left, right) for code in codes)
        return Witness(dims, coord, a, b, draw=draw), True

    def _computed_apart(
        self, left: Tensor, right: Tensor, dims: dict[Any, int], draw: int, reading: Sequence[Tensor]
    ) -> Witness | None:
        """Return a witness if the sides compute values that differ by more than rounding explains.

        Infinities and NaN do not count where a zero meets one in a product, as a pad does: runtimes leave pads out.
        """
        found, arrays, draw = sampled([left, right], draw, reading)
        shape = int_extents(left)
        a, b = (np.broadcast_to(found[id(t)], shape) for t in (left, right))

        def again() -> Array:
            moved = {key: stirred(array) for key, array in arrays.items()}
            return np.broadcast_to(evaluated([left], moved)[id(left)], shape)

        if self._units:
            b = np.where(explained_by_units((left, right), arrays, (a, b)), a, b)
        apart = difference_of(a, b, again)
        if apart is None or apart.coord is None:
            return None
        values = ("value", apart.left), ("value", apart.right)
        witness = Witness(dims, apart.coord, *values, is_plain=apart.is_plain, draw=draw)
        return None if not witness.is_finite and _has_lost_products([left, right], arrays) else witness

    def _codes(self, t: Tensor, keys: list[str], fills: list[Any]) -> np.ndarray[Any, Any]:
        """Return a code for each output element: an input's number and a coordinate, or -1 and a fill's number."""
        rank = max((leaf.rank for leaf in (*self.left.leaves(), *self.right.leaves())), default=0)
        shape = tuple(e for e in t.extents if isinstance(e, int))
        code = np.zeros((rank + 2, *shape), np.int64)
        for part in gathers(t):
            work(_PART_GOALS * (1 + code[0].size // READ_PER_GOAL))
            mask = np.broadcast_to(part.mask, shape)
            if part.key is None:
                number = next((k for k, f in enumerate(fills) if same_fill(f, part.fill, self.dtype)), len(fills))
                if number == len(fills):
                    fills.append(part.fill)
                code[0, ...][mask], code[1, ...][mask] = -1, number
            else:
                code[0, ...][mask] = keys.index(part.key)
                for k, c in enumerate(part.coords):
                    code[k + 1, ...][mask] = np.broadcast_to(c, shape)[mask]
        return code.reshape(rank + 2, -1)


def _shown(sides: tuple[Tensor, Tensor], places: Array, reading: Sequence[Tensor]) -> tuple[int, int]:
    """Return the first of *places* at which the sides have unlike elements for a draw of the inputs, and that draw.

    The sides compute nothing, and read apart at *places*.  Draws that give both one value everywhere are the first one,
    and so are all if a side has a fill that no array of drawn elements holds.
    """
    first = None
    for wanted in range(_DRAWS):
        arrays, draw = valid_inputs(sides, wanted, reading)
        try:
            found = evaluated(sides, arrays)
        except ArrayError:
            return int(places[0]), draw
        a, b = (np.broadcast_to(found[id(t)], int_extents(t)).reshape(-1)[places] for t in sides)
        unlike = places[a != b]
        if unlike.size:
            return int(unlike[0]), draw
        first = (int(places[0]), draw) if first is None else first
    assert first is not None
    return first


def _specially_apart(
    left: Tensor, right: Tensor, draw: int, exact: bool, reading: Sequence[Tensor] = ()
) -> Witness | None:
    """Return a witness without dims if the sides are zeros of unlike signs, or one is an infinity or NaN.

    If they are not *exact*, they are evaluated with `stirred` inputs, too.
    """
    open_: list[bool] = []
    made: list[tuple[Array, Array]] = []
    arrays, shape = inputs_drawn([left, right, *reading], draw), int_extents(left)
    _check_valid(reading, arrays)
    for given in (arrays, {key: stirred(array) for key, array in arrays.items()})[: 1 if exact else 2]:
        found = evaluated([left, right], given, seen=lambda *read: open_.append(is_open(*read)))
        made.append((np.broadcast_to(found[id(left)], shape), np.broadcast_to(found[id(right)], shape)))
        if any(open_) or not all(is_float(t.dtype) for t in made[-1]):
            return None
    places = np.flatnonzero(np.logical_and.reduce([are_other_kinds(*pair) for pair in made]))
    if not places.size:
        return None
    coord = tuple(int(c) for c in np.unravel_index(places[0], shape))
    a, b = (("value", t[coord].item()) for t in made[0])
    return Witness({}, coord, a, b, is_plain=False, draw=draw, is_special=True)


def _has_lost_products(sides: Sequence[Tensor], arrays: Mapping[str, Array]) -> bool:
    """Return whether the sum of products of a side has one of zero and an infinity or NaN for these inputs."""
    found: list[bool] = []

    def seen(body: Body, operands: Sequence[Array], _: Array) -> None:
        if body.sums_products:
            found.extend(bool(np.any((a == 0) & ~where_finite(b))) for a, b in permutations(operands, 2))

    evaluated(sides, arrays, seen=seen)
    return any(found)


def _is_infinite(value: Any) -> bool:
    """Return whether a number is an infinity or NaN."""
    return isinstance(value, float | complex) and not cmath.isfinite(value)


def difference(left: Tensor, right: Tensor, facts: Facts, sizes_of_dims: int = 3) -> tuple[float, float] | None:
    """Return by how much two sides differ at sampled inputs: the largest difference, and its part of the largest value.

    Inputs are random numbers, at the first sizes for which both sides have elements; None if neither can be evaluated.
    """
    found: list[tuple[float, float]] = []
    for values in islice(sizes(facts, dict.fromkeys(facts.dims, 1)), _CHEAP * sizes_of_dims):
        if len(found) == sizes_of_dims:
            break
        try:
            a, b = (t.bind(_only(values, t)) for t in (left, right))
            size = product(a.extents)
            if a.extents != b.extents or not isinstance(size, int) or not 0 < size <= _MAX_ELEMENTS:
                continue
            if max(work_of(a.graph()), work_of(b.graph())) > _MOST_WORK:
                break
            arrays = {leaf.key: _drawn(leaf) for leaf in (*a.arguments(), *b.arguments())}
            results = evaluated([a, b], arrays)
        except (ShapeError, InconclusiveError):
            continue
        x, y = (np.broadcast_to(results[id(t)], int_extents(a)).astype(np.float64) for t in (a, b))
        with np.errstate(invalid="ignore"):  # where both are infinite, or no number, they do not differ
            apart = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0.0, np.abs(x - y))
        largest = float(np.abs(x[np.isfinite(x)]).max(initial=0.0))
        found.append((float(apart.max()), float(apart.max()) / largest if largest else 0.0))
    if not found:
        return None
    return max(absolute for absolute, _ in found), max(relative for _, relative in found)


def _drawn(leaf: Tensor) -> np.ndarray[Any, Any]:
    """Return random elements for an input."""
    if leaf.dtype is not None and leaf.dtype.kind != "f":
        return sample(leaf)
    return np.random.default_rng(0).normal(size=int_extents(leaf)).astype(leaf.dtype or np.float64)


def work_of(nodes: Iterable[Tensor]) -> int:
    """Return how many elements the bodies of *nodes* read, whose extents are ints."""
    views = [v for node in nodes if node.body is not None for v in node.inputs]
    return sum(int(np.prod(int_extents(v), dtype=object)) for v in views)


def sampled(
    sides: Sequence[Tensor], draw: int = 0, reading: Sequence[Tensor] = ()
) -> tuple[dict[int, Array], dict[str, Array], int]:
    """Return the elements of *sides* by ``id``, the arrays of the inputs by key, and the draw that these are of.

    The extents are ints.  If bodies refuse the draw, integers are 0 or 1.  The values *reading* are valid for these
    arrays, as far as their functions are known.

    Raises
    ------
    ShapeError, InconclusiveError
        Bodies refuse both, or one of *sides* has no function.
    """
    try:
        arrays = inputs_drawn([*sides, *reading], draw)
        _check_valid(reading, arrays)
        _check_unread(sides)
        return evaluated(sides, arrays, seen=_check_elements), arrays, draw
    except (ShapeError, InconclusiveError):  # such as for places that an axis does not have
        leaves = [leaf for t in (*sides, *reading) for leaf in t.arguments()]
        if draw >= _INDICES or not any(leaf.dtype is not None and leaf.dtype.kind in "iu" for leaf in leaves):
            raise
    return sampled(sides, draw + _INDICES, reading)


def valid_inputs(sides: Sequence[Tensor], draw: int, reading: Sequence[Tensor]) -> tuple[dict[str, Array], int]:
    """Return the arrays of the inputs of *sides* and *reading*, and their draw, without the elements: see `sampled`."""
    try:
        arrays = inputs_drawn([*sides, *reading], draw)
        _check_valid(reading, arrays)
        _check_unread(sides)
    except (ShapeError, InconclusiveError):
        if draw >= _INDICES:
            raise
        return valid_inputs(sides, draw + _INDICES, reading)
    return arrays, draw


def _check_valid(reading: Iterable[Tensor], arrays: Mapping[str, Array]) -> None:
    """Raise `InconclusiveError` if a value cannot be computed of these arrays although its functions are known."""
    known = [t for t in reading if all(node.body is None or node.body.function is not None for node in t.graph())]
    if known:
        _check_unread(known)
        evaluated(known, arrays, seen=_check_elements)


def _check_unread(tensors: Iterable[Tensor]) -> None:
    """Raise `InconclusiveError` if a value without elements has places to read at, which then nothing looks at.

    Runtimes look at them, as they do not repeat places along the other axes.
    """
    for node in graph_of(tensors):
        if node.body is None or 0 not in node.extents[: node.batch]:
            continue
        for places in node.body.places:
            views = [] if places.divisors or places.operand >= len(node.inputs) else [node.inputs[places.operand]]
            if any(product(leaf.extents) for view in views for leaf in view.leaves()):
                raise InconclusiveError(f"{node.body.name} has no elements, so its places are not looked at")


def _check_elements(body: Body, operands: Sequence[Array], value: Array) -> None:
    """Raise `InconclusiveError` if *body* does not take an element of an operand."""
    for places in body.places:
        if places.operand < len(operands) and places.refuses(operands[places.operand]):
            raise InconclusiveError(f"{body.name} takes the elements of its operand {places.operand}")


def inputs_drawn(sides: Sequence[Tensor], draw: int = 0) -> dict[str, Array]:
    """Return the arrays of the inputs of *sides* by key, whose extents are ints: see `sample`.

    Raises
    ------
    InconclusiveError
        An operation reads at places of an axis that has none.
    """
    ranges = ranges_of(sides, lambda _, e: e if isinstance(e, int) else None)
    leaves = {leaf.key: leaf for t in sides for leaf in t.arguments()}
    return {key: sample(leaf, draw, ranges.get(key)) for key, leaf in leaves.items()}


def sample(leaf: Tensor, draw: int = 0, allowed: range | None = None) -> np.ndarray[Any, Any]:
    """Return elements for an input: small integers, so that sums and products of them are exact.

    Places and lengths are in the range that is *allowed*.  Floats of a draw from `_SMALL` on are these integers divided
    by 256, from `_MIDDLE` on by 16, and from `_SPECIAL` on signed zeros, infinities and NaN, too.  Integers of a draw
    from `_INDICES` on are 0 or 1.
    """
    seed = [*np.frombuffer(leaf.name.encode().ljust(4, b"_")[-4:], np.uint32), *[draw] * (draw > 0)]
    drawn = np.random.default_rng(seed).integers(-9, 10, int_extents(leaf))
    dtype = np.dtype(np.float64) if leaf.dtype is None else leaf.dtype
    if dtype.kind == "b":
        return drawn > 0
    if allowed is not None:
        return in_range(drawn, allowed).astype(dtype)
    if draw >= _INDICES:
        draw -= _INDICES
        drawn = drawn % 2 if dtype.kind in "iu" else drawn
    if draw >= _SPECIAL and is_float(dtype):
        return np.asarray(_SPECIAL_VALUES)[drawn % len(_SPECIAL_VALUES)].astype(dtype)
    if draw >= _SMALL and dtype.kind in "fc":
        return (drawn / _PARTS[_MIDDLE if draw >= _MIDDLE else _SMALL]).astype(dtype)
    return np.asarray(np.abs(drawn) if dtype.kind == "u" else drawn).astype(dtype)


def _only(values: Mapping[str, int], t: Tensor) -> dict[str, Extent]:
    return {name: v for name, v in values.items() if name in t.facts.dims}


def _read(code: np.ndarray[Any, Any], keys: list[str], fills: list[Any], left: Tensor, right: Tensor) -> Any:
    if code[0] < 0:
        return ("fill", fills[code[1]])
    leaf = next(leaf for t in (left, right) for leaf in t.leaves() if leaf.key == keys[code[0]])
    return (leaf.name, tuple(int(c) for c in code[1 : leaf.rank + 1]))


def _read_text(read: Any) -> str:
    if isinstance(read, tuple) and len(read) == 2 and isinstance(read[0], str):
        if read[0] == "value":
            return str(read[1])
        return f"fill {read[1]}" if read[0] == "fill" else f"{read[0]}{list(read[1])}"
    return str(read)
