"""The parts of a declaration.

A declaration is a function of an `Operand`, which stands for the inputs, and of attributes.  It returns a `Declared`
map: the domain, which is the output shape, and a function for each case from output coordinates to input coordinates.
These functions use only ``+ - * // %``, so they work on integers, arrays, normal forms and SymPy expressions alike.
Shapes, the interpreter, proofs and C are all derived from that map.
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from symlayout.algebra import floor_normal_form
from symlayout.algebra.facts import INT64_MAX, Dim, Facts
from symlayout.algebra.polynomial import DIVIDED, Extent, Poly, exact_quotient, names_of, product, substitute
from symlayout.errors import ShapeError, shown
from symlayout.language import sympy_arithmetic, sympy_bridge
from symlayout.tensors.attribute_key import attribute_key
from symlayout.tensors.element_types import fill_value

Coordinate = Any  # an int, an array, a normal form, or a SymPy expression
Coords = Callable[..., Sequence[Coordinate]]
Windows = Callable[..., Sequence[tuple[Coordinate, Extent]]]


class Undetermined(enum.Enum):
    """The fill of elements with an undetermined value.  It equals no other fill."""

    UNDETERMINED = "undetermined"


UNDETERMINED = Undetermined.UNDETERMINED


@dataclass(frozen=True, slots=True)
class Fill:
    """The value of elements whose coordinate is outside the input: a number, bytes, or a NumPy scalar.

    Text and tuples are possible for element types that contain them.

    Raises
    ------
    ShapeError
        ``attr_dtype`` if *value* is not an element.
    """

    value: Any = 0

    def __post_init__(self) -> None:
        if self.value is not UNDETERMINED:
            object.__setattr__(self, "value", fill_value(self.value))


class Case(NamedTuple):
    """A part of the domain, and the coordinates that it reads.

    An output coordinate belongs to the case if ``0 <= value < extent`` for each pair ``where(*coordinate)`` returns.
    Then ``coords(*coordinate)`` is the coordinate in input number ``source``.  With a *fill*, a coordinate outside the
    input reads the fill; without a fill, every coordinate must be inside.
    """

    coords: Coords
    source: int = 0
    where: Windows | None = None
    fill: Fill | None = None


class Declared(NamedTuple):
    """An index map: the extents of its domain, and disjoint cases that cover the domain."""

    domain: tuple[Extent, ...]
    cases: tuple[Case, ...]


def index_map(domain: Sequence[Extent], coords: Coords, *, fill: Fill | None = None) -> Declared:
    """Return a map with a single case: ``coords(*output coordinate)`` is the input coordinate.

    >>> flipped = index_map((4, 3), lambda i, j: (3 - i, j))
    >>> flipped.cases[0].coords(0, 2)
    (3, 2)
    """
    return Declared(tuple(domain), (Case(coords, fill=fill),))


class Places(NamedTuple):
    """Which elements of an operand are places on axes of another one, or lengths there, or have other limits.

    An operation is not valid for others: constants demand so much of the extents, and inputs are drawn in these ranges.

    Attributes
    ----------
    operand : int
        The number of the operand whose elements they are.
    into : int
        The number of the operand that has the axes.
    axes : tuple of int or None
        The axes of its box.  None: the first ones, one for each element of the last axis of the places' box, or one.
    lengths : bool
        Whether they are lengths, from 0 to the extent.
    from_end : bool
        Whether places below 0 count from the end.
    other : int or None
        A value beside these.
    flat : bool
        Whether they count the elements of the other operand, along the last axis first.
    limits : tuple of int or None
        The least and the largest value, where no extent says what is valid.
    below : bool
        Whether the largest value of *limits* is not valid itself.
    divisors : bool
        Whether they are integers that others are divided by: they are not 0.

    Examples
    --------
    >>> Places(1).allowed(4), Places(1, from_end=False).allowed(4), Places(1, lengths=True).allowed(4)
    (range(-4, 4), range(0, 4), range(0, 5))
    """

    operand: int
    into: int = 0
    axes: tuple[int, ...] | None = None
    lengths: bool = False
    from_end: bool = True
    other: int | None = None
    flat: bool = False
    limits: tuple[int, int] | None = None
    divisors: bool = False
    below: bool = False

    def refuses(self, values: np.ndarray[Any, Any]) -> bool:
        """Return whether there is an element that is not valid whatever the extents are.

        >>> Places(1, divisors=True).refuses(np.array([2, 0])), Places(1, limits=(0, 1)).refuses(np.array([0.5]))
        (True, False)
        """
        if self.divisors:
            return not np.all(values)
        if self.limits is None:
            return False
        low, high = self.limits
        return not np.all((low <= values) & ((values < high) if self.below else (values <= high)))

    def allowed(self, extent: int) -> range:
        """Return the values that are allowed for an axis of this extent."""
        low, high = self.allowed_ends(extent)
        return range(low, high + 1)

    def allowed_ends(self, extent: Any) -> tuple[Any, Any]:
        """Return the least and the largest value that is allowed for an axis of this extent."""
        return -extent if self.from_end and not self.lengths else 0, extent - (not self.lengths)

    def spans(self, views: Sequence[Any], batch: int) -> list[Extent]:
        """Return the extents of the axes, one for each column of places; *views* are all operands."""
        if self.operand >= len(views) or self.divisors or self.limits is not None:  # it is left out, or reads nowhere
            return []
        box, places = views[self.into].extents[batch:], views[self.operand].extents[batch:]
        if self.flat:
            return [product(box)]
        if self.axes is not None:
            return [box[axis] for axis in self.axes]
        count = places[-1] if places else 1
        return list(box[:count]) if isinstance(count, int) else []


class Body(NamedTuple):
    """A named function of vectors, which an operation computes at each batch coordinate.

    Two bodies are equal, the same function, if all of their attributes are: those that the value depends on by
    type and bits (`symlayout.tensors.attribute_key`), so that 0.0 is not -0.0, and NaN is itself.

    Attributes
    ----------
    name : str
        The name of the function.
    function : callable or None
        ``function(*arrays, axes=..., **attributes)`` in NumPy, with one array for each operand.  The shape of an array
        is the batch, followed by the box of the view; an axis that does not matter may have extent 1.  If *over* is
        true, the function also gets *axes*, the axes of the first operand's box, counted from the end.  None means that
        no value can be computed.
    attributes : tuple of (str, hashable)
        The attributes that the value depends on.
    over : bool
        Whether the body reads vectors rather than one element of each operand.
    commutative : bool
        Whether the order of the terms changes the value by no more than the rounding of floats.  It does not change
        integers if the body has *joins*; others may be computed in floats, as a mean is.
    exact : bool
        Whether the order of the terms does not change the value at all, as for a maximum.
    symmetric : bool
        Whether two operands may be exchanged.
    random : bool
        Whether two evaluations may differ; then the value equals no other value.
    sums_products : bool
        Whether the value is the sum over the box of the products of the operands' elements.
    joins : callable or None
        For a fold of elements, or of their products: the function of two elements that makes the value of all terms
        from the values of two parts of them.  A fold of one element is that element if *exact*, or for integers.
    equivariant : bool
        Whether the value has the box of the operands, and moves as they do: if their elements change places by a
        bijection of boxes, the elements of the value change places by it, up to the rounding of floats unless *exact*.
        So each element of the value depends on the elements at its place, and on all elements in any order.
    idempotent : bool
        Whether the value of a commutative and exact body depends only on which terms there are, and not on how often
        each is read, as that of a maximum.
    places : tuple of Places
        The operands whose elements are places or lengths on axes of others.
    total : bool
        Whether there is a value for all sizes and elements of the operands, although there is no function here.
    rounds : bool
        Whether the value is that of the first operand as a runtime rounds it, which depends on the other operands too:
        the law ``"requantize"`` takes the one for the other.

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> relu = sl.Body("relu", lambda x: np.maximum(x, 0))
    >>> sl.interpret(sl.compute(relu, [sl.tensor("N", name="x")], batch=1), np.array([-1, 2])).tolist()
    [0, 2]
    """

    name: str
    function: Callable[..., Any] | None = None
    attributes: tuple[tuple[str, Any], ...] = ()
    over: bool = False
    commutative: bool = False
    exact: bool = False
    symmetric: bool = False
    random: bool = False
    sums_products: bool = False
    joins: Callable[..., Any] | None = None
    equivariant: bool = False
    idempotent: bool = False
    places: tuple[Places, ...] = ()
    total: bool = False
    rounds: bool = False

    @property
    def is_partial(self) -> bool:
        """Whether the value may not be valid for all elements of the operands."""
        return bool(self.places) or (self.function is None and not self.total)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Body):
            return NotImplemented
        same = self.name == other.name and self.function == other.function and self[3:] == other[3:]
        if not same or self.attributes is other.attributes:
            return same
        return attribute_key(self.attributes) == attribute_key(other.attributes)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.name, self.function, attribute_key(self.attributes)))


class Replacement(dict[str, Extent]):
    """What replaces dims, by their names.

    Attributes
    ----------
    brought_in : dict of str to Dim
        The dims that it is made of, so that an operation that reads none of them knows them.
    """

    __slots__ = ("brought_in",)

    def __init__(self, values: Mapping[str, Extent], brought_in: Mapping[str, Dim] = MappingProxyType({})) -> None:
        super().__init__(values)
        self.brought_in = dict(brought_in)

    @classmethod
    def of(cls, values: Mapping[str, Extent]) -> Replacement:
        """Return a mapping as a replacement; one that is one already is returned as it is."""
        return values if isinstance(values, cls) else cls(values)

    def then(self, other: Mapping[str, Extent]) -> Replacement:
        """Return what both do, one after the other."""
        other = Replacement.of(other)
        values = {**other, **{name: substitute(e, other) for name, e in self.items()}}
        return Replacement(values, {**self.brought_in, **other.brought_in})

    def __reduce__(self) -> tuple[Any, ...]:
        return Replacement, (dict(self), self.brought_in)


_NOTHING = Replacement({})


class Operand:
    """The inputs of an operation, as its declaration sees them.

    Attributes
    ----------
    shapes : tuple of tuple of Extent
        The extents of each input: ints or polynomials.
    facts : Facts
        The facts of the inputs, with the requirements that were added so far.
    where : str
        The name of the operation, for messages.
    counts : list of Extent
        The numbers beside the extents that have to be int64 (see `countable`).
    """

    __slots__ = ("_owned", "_values", "counts", "facts", "shapes", "where")

    def __init__(
        self,
        shapes: tuple[tuple[Extent, ...], ...],
        facts: Facts,
        where: str,
        values: Mapping[str, Extent] | None = None,
        *,
        owned: bool = False,
    ) -> None:
        self.shapes = shapes
        self.where = where
        self.facts = facts
        self.counts: list[Extent] = []
        self._owned = owned  # whether no tensor has these facts, so that they may be added to
        self._values = Replacement.of(values) if values else _NOTHING

    @property
    def shape(self) -> tuple[Extent, ...]:
        """The extents of the first input."""
        return self.shapes[0]

    @property
    def rank(self) -> int:
        """The number of axes of the first input."""
        return len(self.shapes[0])

    def _own(self) -> Facts:
        if not self._owned:
            self.facts, self._owned = self.facts.fork(), True
        return self.facts

    def extent(self, value: Any, what: str = "value") -> Extent:
        """Return an attribute (an int, a dim, an expression) as an extent.

        Raises
        ------
        ShapeError
            ``attr_dtype`` if *value* is none of these, ``dim_conflict`` if a known dim has other bounds.
        """
        if type(value) is int:
            return value if -INT64_MAX <= value <= INT64_MAX else sympy_bridge.whole(value, what)
        if not hasattr(value, "free_symbols"):
            return sympy_bridge.to_extent(value, self.facts, what)
        if not self._values:
            return sympy_bridge.to_extent(value, self._own(), what)
        apart = Facts()
        return self.translate(sympy_bridge.to_extent(value, apart, what), apart)

    def at_least(self, value: Any, low: int) -> bool:
        """Return whether an attribute is at least *low* for all values of its dims, whatever the operands require."""
        return sympy_arithmetic.at_least(value, low)

    def translate(self, e: Extent, facts: Facts) -> Extent:
        """Return an extent of another system in the symbols of this system, with bound dims replaced."""
        top, bottom = facts.to_user(e)
        meaning: dict[str, Extent] = {}
        for name in sorted(names_of(top) | names_of(bottom)):
            if (d := facts.definitions.get(name)) is not None:
                left, right = self.translate(d.left, facts), self.translate(d.right, facts)
                meaning[name] = self.floor_div(left, right) if d.form == "floor" else self.maximum(left, right)
            elif name in self._values:
                meaning[name] = self._replaced(facts.dims[name])
            else:
                self._own().declare(facts.dims[name])
        return self.divide(substitute(top, meaning), substitute(bottom, meaning))

    def _replaced(self, dim: Dim) -> Extent:
        """Return what replaces a dim, which has to be within its bounds."""
        value = self._values[dim.name]
        if not isinstance(value, int):
            for name in sorted(names_of(value) & self._values.brought_in.keys()):
                self._own().declare(self._values.brought_in[name])
            value = self.facts.reduce(value)
            for end, _ in dim.limits(value):
                self.require(end, "infeasible", "{} is out of the bounds of " + dim.name, value)
            if dim.multiple_of != 1:
                self.divide(value, dim.multiple_of, "infeasible")
        return value

    def extents(self, values: Any, what: str, length: int | None = None) -> list[Extent]:
        """Return a list of attributes as extents; a single value counts as a list of one.

        Raises
        ------
        ShapeError
            ``length_mismatch`` if the list is nested, or has not the given length.
        """
        items = as_list(values)
        if any([type(item) is not int and is_list(item) for item in items]):
            raise ShapeError(f"{self.where}: {what} {shown(values)} is nested, expected a flat list", "length_mismatch")
        if length is not None and len(items) != length:
            raise ShapeError(f"{self.where}: {what} has {len(items)} values, expected {length}", "length_mismatch")
        return [self.extent(item, what) for item in items]

    def pairs(self, values: Any, what: str, length: int) -> list[tuple[Extent, Extent]]:
        """Return an attribute as a list of ``length`` pairs ``(begin, end)``; ``length_mismatch`` if it is not one."""
        items = as_list(values)
        if len(items) != length or any(not is_list(item) or len(as_list(item)) != 2 for item in items):
            raise ShapeError(
                f"{self.where}: {what} {shown(values)} is not a list of {length} pairs [begin, end]",
                "length_mismatch",
            )
        return [(self.extent(a, what), self.extent(b, what)) for a, b in map(as_list, items)]

    def axis(self, value: Any, what: str = "axis") -> int:
        """Return an axis as ``0 <= axis < rank``; negative ones count from the end.

        Raises
        ------
        ShapeError
            ``bad_axis`` outside ``[-rank, rank)``, ``attr_dtype`` if it is not an integer.
        """
        if type(value) is int and 0 <= value < len(self.shapes[0]):
            return value
        try:
            axis = operator.index(value)
        except TypeError:
            raise ShapeError(f"{self.where}: {what} {shown(value)} is not an integer", "attr_dtype") from None
        if not -self.rank <= axis < self.rank:
            raise ShapeError(f"{self.where}: {what} {shown(axis)} is out of range for rank {self.rank}", "bad_axis")
        return axis % self.rank

    def divide(self, numerator: Extent, denominator: Extent, kind: str = "non_divisible") -> Extent:
        """Return the quotient, and require that the division is exact (see `Facts.divide`)."""
        if type(denominator) is int:
            if denominator == 1:
                return numerator
            if type(numerator) is int and denominator > 0 and numerator % denominator == 0:
                return numerator // denominator
        if not self.facts.floors:
            exact = exact_quotient(self.facts.reduce(numerator), self.facts.reduce(denominator))
            if exact is not None:
                return exact
        facts = self._own()
        quotient = facts.divide(numerator, denominator, kind, self.where)
        if facts.floors:
            floor_normal_form.renew(facts)
        return facts.reduce(quotient)

    def floor_div(self, numerator: Extent, denominator: Extent) -> Extent:
        """Return ``floor(numerator / denominator)`` for a denominator that is >= 1."""
        if type(denominator) is int and denominator == 1:
            return numerator
        if type(denominator) is int:
            if type(numerator) is int:
                return numerator // denominator
            if denominator > 0 and (exact := exact_quotient(self.facts.reduce(numerator), denominator)) is not None:
                return exact
        return floor_normal_form.floor_div(self._own(), numerator, denominator)

    def require_divisor(self, e: Extent) -> None:
        """Require that *e*, by which a map divides, is at least 1."""
        self.require(e - 1, "non_divisible", "the divisor {} is not positive", e)

    @contextmanager
    def dividing(self) -> Iterator[None]:
        """Let extents be divided by ``//`` and ``%`` within a ``with`` block; their divisors are at least 1."""

        def divided(numerator: Extent, denominator: Extent) -> Extent:
            self.require_divisor(denominator)
            return self.floor_div(numerator, denominator)

        token = DIVIDED.set(divided)
        try:
            yield
        finally:
            DIVIDED.reset(token)

    def maximum(self, a: Extent, b: Extent) -> Extent:
        """Return the larger of two extents."""
        if type(a) is int and type(b) is int:
            return max(a, b)
        facts = self.facts
        if not facts.definitions and facts.nonnegative(difference := facts.reduce(a - b)):
            return b + difference  # needs no symbol, so no facts of its own
        return self._own().maximum(a, b)

    def minimum(self, a: Extent, b: Extent) -> Extent:
        """Return the smaller of two extents."""
        if type(a) is int and type(b) is int:
            return min(a, b)
        facts = self.facts
        if not facts.definitions and facts.nonnegative(difference := facts.reduce(a - b)):
            return a - difference
        return self._own().minimum(a, b)

    def counted(self, e: Extent, n: Extent) -> Extent:
        """Return a position on an axis of extent *n* as Python counts it: a negative one counts from the end."""
        return e + n * self.maximum(0, self.minimum(1, -e))

    def require(self, e: Extent, kind: str, rule: str = "", *parts: Any) -> None:
        """Require ``e >= 0``.  If it is proved, nothing happens; if it is refuted, raise `ShapeError` with *kind*.

        The message is *rule* with each ``{}`` replaced by one of *parts*; extents appear in the user's dims.
        """
        if not (e >= 0 if type(e) is int else self.facts.nonnegative(e)):
            self._own().require_unproved(e, kind, self.where, rule=partial(self._message, rule, parts))

    def require_equal(self, left: Extent, right: Extent, kind: str, rule: str = "", *parts: Any) -> None:
        """Require ``left == right``, as `require` does for inequalities."""
        if left != right:
            facts = self._own()
            solved = len(facts.solved)
            facts.require_zero(left - right, kind, self.where, rule=partial(self._message, rule, parts))
            if facts.floors and len(facts.solved) > solved:
                floor_normal_form.renew(facts)

    def assume(self, e: Extent) -> None:
        """Add the fact ``e >= 0``, which holds for every value; no requirement records it."""
        if not self.facts.nonnegative(e):
            self._own().assume_nonnegative(e, self.where)

    def _message(self, rule: str, parts: tuple[Any, ...]) -> str:
        return rule.format(*(self.spell(p) if isinstance(p, Poly) else p for p in parts)) if parts else rule

    def spell(self, e: Extent) -> str:
        """Return an extent as text in the user's dims."""
        return self.facts.spell(e)

    def countable(self, e: Extent, what: str) -> Extent:
        """Return *e*, a count; raise ``overflow`` if it exceeds int64 for all sizes.  Kernels check it for theirs."""
        if (self.facts.least(e) or 0) > INT64_MAX:
            raise ShapeError(f"{self.where}: {what} {self.spell(e)} exceeds int64", "overflow")
        if type(e) is not int:
            self.counts.append(e)
        return e

    def check_countable(self, domain: Sequence[Extent], count: int = 1) -> int:
        """Return *count* times the least number of elements of the axes of *domain* that are not empty.

        Raises
        ------
        ShapeError
            ``overflow`` if that exceeds int64, also where the domain is empty: NumPy has no such array.
        """
        least_of = self.facts.least
        for e in domain:
            least = e if type(e) is int else least_of(e)
            if least is None or least <= 0:
                continue
            if least > INT64_MAX:
                axis = next(k for k, extent in enumerate(domain) if extent is e)
                raise ShapeError(f"{self.where}: extent of axis {axis} {self.spell(e)} exceeds int64", "overflow")
            count *= least
        if count > INT64_MAX:
            raise ShapeError(f"{self.where}: number of elements {count} exceeds int64", "overflow")
        return count


def is_list(value: Any) -> bool:
    """Return whether an attribute is a list, a tuple, or an array with axes."""
    if isinstance(value, (list, tuple)):
        return True
    return type(value) is not int and not isinstance(value, type) and getattr(value, "ndim", 0) > 0


def as_list(value: Any) -> list[Any]:
    """Return an attribute as a list; a single value becomes a list of one."""
    return list(value) if is_list(value) else [value]
