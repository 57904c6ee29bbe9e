"""Decide properties of an index map for all sizes: injective, surjective, the identity.

Proofs use a candidate for an inverse (see `inverse_candidates`).  If the candidate finds each element at the only place
that reads it, no element is read twice.  If the candidate recovers the input, every element is read.  Otherwise sizes
are enumerated in search of a witness.  Enumeration only refutes, unless the map has no dims.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np

from symlayout.algebra.facts import Dim, Facts
from symlayout.algebra.floor_normal_form import digit_name
from symlayout.algebra.polynomial import Poly, coefficient_of, symbol
from symlayout.algebra.search.enumerate_sizes import sizes
from symlayout.deadlines import goals_within
from symlayout.errors import InconclusiveError, ShapeError, shown
from symlayout.inverses.inverse_by_steps import all_candidates
from symlayout.inverses.inverse_candidates import like
from symlayout.language import sympy_bridge
from symlayout.maps.compose_chain import Read, Window, assume, normalise, output_digits
from symlayout.maps.gather_elements import gathers, int_extents
from symlayout.maps.merge_pieces import is_fork
from symlayout.proof.attempts import DEFAULT_BUDGET
from symlayout.proof.points import is_empty, valid_sizes
from symlayout.proof.prove import prove_on
from symlayout.proof.verdict import Verdict
from symlayout.tensors.chain import Tensor, check_moves, check_tensors
from symlayout.tensors.declaration import UNDETERMINED
from symlayout.tensors.requirements import implies

_MAX_ELEMENTS = 1 << 20  # most elements of an output or input that is evaluated
_FEW = 4  # sizes that are looked at before a proof is tried
_GOALS = 20_000  # most goals that a proof visits, in all
_CHEAP = 40  # most sizes to test for each size that is evaluated
_FIRST_SIZES = 100  # budget of the search for sizes at which no inverse exists
_ELEMENTS = 1 << 13  # so many elements of an output or input cost as much as one more size
_MOST_SMALL = 4  # values of a dim that are cases of their own


@dataclass(frozen=True, slots=True, repr=False)
class Finding:
    """The answer to a question about a property.

    Attributes
    ----------
    property : str
        The property, in words.
    verdict : Verdict
        PROVED: it holds for all sizes.  REFUTED: it fails at the witness.  UNKNOWN: neither is known.
    dims : dict or None
        With REFUTED, the value of each dim, by its SymPy symbol.
    point : dict or None
        With PROVED, sizes for which the tensor is valid and the property was seen, as for *dims*.
    witness : tuple
        With REFUTED, the elements or coordinates that violate the property; each function describes its own.
    searched : int
        The number of sizes that the search for a witness evaluated.

    Examples
    --------
    >>> import symlayout as sl
    >>> f = sl.is_injective(sl.tile(sl.tensor("N", name="x"), 2))
    >>> f.verdict
    <Verdict.REFUTED: 'refuted'>
    >>> f.witness
    ('x', (0,), (0,), (1,))
    """

    property: str
    verdict: Verdict
    dims: dict[Any, int] | None = None
    witness: tuple[Any, ...] = ()
    reason: str = ""
    searched: int = 0
    point: dict[Any, int] | None = None

    def __bool__(self) -> bool:
        raise TypeError("a finding has three values; compare its verdict with Verdict.PROVED")

    def __str__(self) -> str:
        if self.verdict is Verdict.PROVED:
            return f"PROVED: {self.property}, for all sizes"
        if self.verdict is Verdict.UNKNOWN:
            return f"UNKNOWN: {self.property} ({self.searched} sizes searched, none says no)"
        at = ", ".join(f"{dim} = {value}" for dim, value in (self.dims or {}).items())
        return f"REFUTED: {at + ': ' if at else ''}{self.reason}"

    __repr__ = __str__

    def explain(self) -> str:
        """Return the answer as text."""
        return str(self)


@runtime_checkable
class AnswersItself(Protocol):
    """What is no tensor, and answers both questions itself: a layout."""

    def is_injective(self) -> Finding:
        """Return whether no two coordinates have one value."""
        ...

    def is_surjective(self) -> Finding:
        """Return whether each value is reached."""
        ...


def is_injective(t: Tensor | AnswersItself, *, budget: int = DEFAULT_BUDGET) -> Finding:
    """Decide whether no two output coordinates of *t* read the same element of the same input.

    Coordinates that read a fill or a constant read no element of an input, so a pad is injective.  The witness is
    ``(input, element, coordinate, other coordinate)``.

    Parameters
    ----------
    t : Tensor or Layout
        The tensor whose map is examined; of a layout, see `symlayout.Layout.is_injective`.
    budget : int
        The most sizes that the search for a witness evaluates.

    Raises
    ------
    ArrayError
        Elements of *t* are computed: they are no elements of an input.

    Examples
    --------
    >>> from symlayout.ops.tile import tile
    >>> from symlayout.tensors.input_tensor import tensor
    >>> print(is_injective(tile(tensor("N", name="x"), 2)))
    REFUTED: N = 1: x[0] is read at (0,) and at (1,)
    """
    if isinstance(t, AnswersItself):
        return t.is_injective()
    inputs = _inputs_of("is_injective", t)

    keys = [leaf.key for leaf in inputs]
    return _decide("no element is read twice", t, partial(_with_candidates, _finds_back, keys), _read_twice, budget)


def is_surjective(t: Tensor | AnswersItself, *, budget: int = DEFAULT_BUDGET) -> Finding:
    """Decide whether the index map of *t* is onto: every element of every input is read somewhere.

    This is `reads_all` for all inputs.  Fills make no difference.

    Parameters
    ----------
    t : Tensor or Layout
        The tensor whose map is examined; of a layout, see `symlayout.Layout.is_surjective`.
    budget : int
        The most sizes that the search for a witness evaluates.

    Raises
    ------
    ArrayError
        Elements of *t* are computed: they are no elements of an input.

    Examples
    --------
    >>> import symlayout as sl
    >>> print(sl.is_surjective(sl.tensor("N", name="x")[1:]))
    REFUTED: N = 1: x[0] is read nowhere
    """
    if isinstance(t, AnswersItself):
        return t.is_surjective()
    return _reads_all("is_surjective", t, (), budget)


def reads_all(t: Tensor, *sources: str, budget: int = DEFAULT_BUDGET) -> Finding:
    """Decide whether *t* reads every element of the inputs named *sources*, or of all inputs.

    The witness is ``(input, element)`` for an element that is not read.

    Parameters
    ----------
    t : Tensor
        The tensor whose map is examined.
    *sources : str
        Names of inputs of *t*; without names, all inputs.
    budget : int
        The most sizes that the search for a witness evaluates.

    Raises
    ------
    ShapeError
        ``source`` if *t* has no such input.
    ArrayError
        Elements of *t* are computed: they are no elements of an input.

    Examples
    --------
    >>> from symlayout.ops.concatenate import concatenate
    >>> from symlayout.tensors.input_tensor import tensor
    >>> x, w = tensor("N, 3", name="x"), tensor("N, C", name="w")
    >>> y = concatenate([x[:, :2], w], 1)
    >>> reads_all(y, "w").verdict, str(reads_all(y))
    (<Verdict.PROVED: 'proved'>, 'REFUTED: N = 1, C = 0: x[0, 2] is read nowhere')
    """
    return _reads_all("reads_all", t, sources, budget)


def _reads_all(name: str, t: Tensor, sources: Sequence[str], budget: int) -> Finding:
    inputs = _inputs_of(name, t)
    names = {leaf.name for leaf in inputs}
    for source in sources:
        if not isinstance(source, str) or source not in names:
            raise ShapeError(f"{t!r} has no input {shown(source)}\n  known: {', '.join(sorted(names))}", "source")
    leaves = [leaf for leaf in inputs if not sources or leaf.name in sources]
    keys = {leaf.key for leaf in leaves}
    what = f"every element of {', '.join(sources)} is read" if sources else "every element is read"
    return _decide(
        what, t, partial(_with_candidates, _recovers, keys), lambda bound: _read_nowhere(bound, keys), budget
    )


def is_identity(t: Tensor, *, budget: int = DEFAULT_BUDGET) -> Finding:
    """Decide whether *t* equals its input: the shapes are equal, and each element is that of the input.

    A tensor with several inputs is compared with the first one.  The witness is ``(coordinate, element that is read)``,
    or the two shapes.  Of values that are computed, the element is ``("value", value)``, as for `prove_equal`.

    Parameters
    ----------
    t : Tensor
        The tensor whose map is examined.
    budget : int
        The most sizes that the search for a witness evaluates.

    Raises
    ------
    ShapeError
        ``source`` if *t* has no input; otherwise as for `prove_equal`.
    ArrayError
        The element types differ.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.is_identity(sl.flip(sl.flip(sl.tensor("N", name="x")))).verdict
    <Verdict.PROVED: 'proved'>
    """
    check_tensors("is_identity", t)
    arguments = t.arguments()
    if not arguments:
        raise ShapeError(f"is_identity takes a tensor with an input, and {t!r} has none", "source")
    leaf = arguments[0]
    proof = prove_on(t.facts, t, leaf, budget=budget)
    what = f"the map is the identity on {leaf.name}"
    w = proof.witness
    if w is None:
        return Finding(what, proof.verdict, searched=proof.searched, point=proof.point)
    found = (w.left, w.right) if w.coord is None else (w.coord, w.left)
    return Finding(what, proof.verdict, w.dims, found, str(w).split(": ", 1)[-1], proof.searched)


def why_no_inverse(t: Tensor, budget: int = _FIRST_SIZES) -> str | None:
    """Return why neither round trip with an inverse of *t*, which has one input, can hold; None if one may hold."""
    keys = {leaf.key for leaf in t.leaves()}
    findings = (
        _decide("every element is read", t, None, lambda bound: _read_nowhere(bound, keys), budget),
        _decide("each coordinate reads an element of its own", t, None, _not_own, budget),
    )
    if any(finding.verdict is not Verdict.REFUTED for finding in findings):
        return None
    return ", ".join(map(str, findings))


# ---------------------------------------------------------------------- proofs


def _inputs_of(name: str, t: Tensor) -> list[Tensor]:
    """Return the inputs that elements of *t* are moved from; the function *name* takes no computed elements."""
    check_tensors(name, t)
    check_moves(name, t, constants=True)
    return [leaf for leaf in t.leaves() if leaf.values is None]


def _with_candidates(
    shows: Callable[[Tensor, Tensor, Callable[..., Tensor]], bool], keys: Collection[str], t: Tensor
) -> bool:
    """Return whether a candidate for an inverse of *t* shows a property for each of the inputs *keys*."""
    inputs = [leaf for leaf in t.leaves() if leaf.key in keys]
    return all(any(shows(t, leaf, c) for c in all_candidates(t, leaf)) for leaf in inputs)


def _recovers(t: Tensor, leaf: Tensor, candidate: Callable[..., Tensor]) -> bool:
    """Return whether it is proved that what the candidate makes of *t* equals the input *leaf*."""
    found = candidate(t)
    if not _stands_for(found, leaf, t):
        return False
    try:
        parts: list[tuple[Read, bool]] | None = _parts(found)
    except InconclusiveError:  # a read is not shown to be inside where maps are composed
        parts = None
    if parts is not None and all(
        is_empty or (read.leaf is not None and read.leaf.key == leaf.key and _stays(read)) for read, is_empty in parts
    ):
        return True
    return prove_on(t.facts, found, leaf, budget=1).verdict is Verdict.PROVED


def _stands_for(made: Tensor, wanted: Tensor, t: Tensor) -> bool:
    """Return whether *made* is proved to be valid, and to have the shape of *wanted*, for all sizes of *t*."""
    if made.rank != wanted.rank or not implies(t.facts, made.facts):
        return False
    facts = made.facts
    return all(facts.vanishes(facts.reduce(a - b)) for a, b in zip(made.extents, wanted.extents, strict=True))


def _finds_back(t: Tensor, leaf: Tensor, candidate: Callable[..., Tensor]) -> bool:
    """Return whether it is proved that the candidate finds every element of *leaf* at each place that reads it.

    The proof composes ``t(candidate(z))`` and shows that each part reads its own coordinate of *z*, except where *t*
    fills.  The tensors have no element type here, because undetermined elements have none.
    """
    z = _untyped(like(t))
    try:
        leaves = {other.key: _untyped(other) for other in t.leaves()}
        there = t.replace({**leaves, leaf.key: candidate(z, UNDETERMINED)})
    except (InconclusiveError, ShapeError):
        return False
    if not _stands_for(there, z, t):
        return False
    try:
        parts = _parts(there)
    except ShapeError:
        return False
    except InconclusiveError:  # a read is not shown to be inside where maps are composed
        parts = []
    if parts and all(
        is_empty or (read.leaf is not None and read.leaf.key != z.key) or _returns(read, there)
        for read, is_empty in parts
    ):
        return True
    fills = any(guard.fill is not UNDETERMINED for read, _ in parts for guard in read.guards)
    return not fills and len(leaves) == 1 and prove_on(t.facts, there, z, budget=1).verdict is Verdict.PROVED


def _untyped(leaf: Tensor) -> Tensor:
    return Tensor(leaf.name, None, leaf.extents, leaf.facts, key=leaf.key)


def _parts(t: Tensor) -> list[tuple[Read, bool]]:
    """Return the reads of *t*, each with whether its part of the domain is proved empty."""
    reads = normalise(t, shown=all(node.own for node in t.nodes()))
    return [(read, _never(read.windows, read, t)) for read in reads]


def _returns(read: Read, t: Tensor) -> bool:
    """Return whether a read is of its own coordinate wherever the map itself does not fill."""
    own = [guard for guard in read.guards if guard.fill is not UNDETERMINED]
    if len(own) < len(read.guards):  # the map's own guards come first
        return read.guards[: len(own)] == tuple(own) and _never(
            (*read.windows, *(guard.window for guard in own)), read, t
        )
    return read.fill is not UNDETERMINED if read.leaf is None else _has_own_coordinate(read)


def _never(windows: Sequence[Window], read: Read, t: Tensor) -> bool:
    """Return whether it is proved that no coordinate of *t* is in all of *windows*, the first windows of *read*."""
    facts = t.facts.fork()
    output_digits(t, facts)
    if not is_fork(read.facts, facts):
        return False
    facts.adopt(read.facts)
    try:
        for window in windows:
            assume(window, facts)
    except ShapeError:
        return True
    return any(facts.excludes(w.value) or facts.excludes(w.extent - 1 - w.value) for w in windows)


def _stays(read: Read) -> bool:
    """Return whether a read is of its own coordinate everywhere."""
    return not read.guards and _has_own_coordinate(read)


def _has_own_coordinate(read: Read) -> bool:
    facts = read.facts
    own = [symbol(digit_name(k)) if digit_name(k) in facts.low else 0 for k in range(len(read.coords))]
    return all(facts.vanishes(facts.reduce(c - d)) for c, d in zip(read.coords, own, strict=True))


# ---------------------------------------------------------------------- the search

_Wrong = tuple[tuple[Any, ...], str]


def _decide(
    what: str, t: Tensor, prove: Callable[[Tensor], bool] | None, wrong: Callable[[Tensor], _Wrong | None], budget: int
) -> Finding:
    """Return the finding: of a few sizes, of *prove*, which may visit `_GOALS`, or of more sizes."""
    search = _Search(what, t, wrong, _sizes(t.facts, max(budget, 1) * _CHEAP))
    if (found := search.run(min(budget, _FEW))) is not None:
        return found

    def proved() -> bool:
        return prove is not None and (prove(t) or any(_in_cases(*case, t, prove, wrong) for case in _cases(t)))

    if goals_within(_GOALS, proved, lambda: False):
        if search.point is None:  # it is found among larger sizes, or the property holds of nothing
            search.tried = valid_sizes(t.facts)
            if (found := search.run(budget + _FEW)) is not None:
                return found
        if search.point is not None:
            return Finding(what, Verdict.PROVED, point=search.point)
        if is_empty(t.facts):
            raise ShapeError(f"no sizes are valid for {t!r}", "infeasible")
        return Finding(what, Verdict.UNKNOWN)
    found = search.run(budget)
    return Finding(what, Verdict.UNKNOWN, searched=search.searched) if found is None else found


def _cases(t: Tensor) -> Iterator[tuple[Dim, int]]:
    """Yield dims of *t*, each with a value from which on the extents need fewer maxima; smaller ones are few."""
    facts = t.facts
    given = {name for leaf in t.leaves() for name in leaf.facts.dims}
    for d in facts.dims.values():
        if d.name not in given or d.min is None or d.multiple_of != 1:
            continue
        ends = {d.min}
        for m in facts.definitions.values():
            value = m.right - m.left
            split = coefficient_of(value, d.name) if m.form == "max" and isinstance(value, Poly) else None
            if split is not None and split[0] in (1, -1) and isinstance(split[1], int):
                ends.add(-split[1] if split[0] == 1 else split[1])
        if d.min < max(ends) <= d.min + _MOST_SMALL and (d.max is None or max(ends) <= d.max):
            yield d, max(ends)


def _in_cases(
    d: Dim, end: int, t: Tensor, prove: Callable[[Tensor], bool], wrong: Callable[[Tensor], _Wrong | None]
) -> bool:
    """Return whether a property is proved for each value of a dim below *end*, and for all others together."""
    apart = Facts()
    apart.declare(d.replaced(min=end))
    try:
        cases = [t.bind({d.name: symbol(d.name)}, apart)]
    except ShapeError:
        return False
    for n in range(d.min or 0, end):
        with suppress(ShapeError):  # no sizes have this value
            cases.append(t.bind({d.name: n}))
    try:
        return all(prove(case) if case.facts.dims else _holds(case, wrong) for case in cases)
    except (InconclusiveError, ShapeError):
        return False


def _holds(bound: Tensor, wrong: Callable[[Tensor], _Wrong | None]) -> bool:
    """Return whether a property of a tensor without dims holds; False if that is much work."""
    most = max(np.prod(int_extents(x), dtype=object) for x in (bound, *bound.leaves()))
    return most <= _MAX_ELEMENTS and wrong(bound) is None


def _sizes(facts: Facts, tries: int) -> Iterator[dict[str, int]]:
    """Yield sizes that meet *facts*, among so many that are tried."""
    evaluation = facts.evaluation()
    return (v for v in itertools.islice(sizes(facts), tries) if facts.failing(evaluation(v)) is None)


class _Search:
    """The search for sizes at which a property fails; *wrong* says how it fails for a tensor without dims."""

    def __init__(
        self, what: str, t: Tensor, wrong: Callable[[Tensor], _Wrong | None], tried: Iterator[dict[str, int]]
    ) -> None:
        self.what, self.t, self.wrong, self.tried = what, t, wrong, tried
        self.searched = self.spent = 0
        self.point: dict[Any, int] | None = None

    def run(self, budget: int) -> Finding | None:
        """Return the finding, or None once so many sizes have been looked at in all."""
        while self.spent < budget and (values := next(self.tried, None)) is not None:
            self.spent += 1
            try:
                bound = self.t.bind(values)
                most = max(np.prod(int_extents(x), dtype=object) for x in (bound, *bound.leaves()))
                if most > _MAX_ELEMENTS:
                    continue
                self.spent += most // _ELEMENTS
                found, is_known = self.wrong(bound), True
            except ShapeError:
                continue  # binding or evaluation refused these dims: no size of the map
            except InconclusiveError:  # a read is not proved inside its input: counts as work, gives no answer
                found, is_known = None, False
            self.searched += 1
            dims = {sympy_bridge.symbol_of(self.t.facts.dims[name]): n for name, n in values.items()}
            if found is not None:
                return Finding(self.what, Verdict.REFUTED, dims, *found, self.searched)
            if is_known:
                self.point = dims if self.point is None else self.point
                if not values:  # without dims, this was the only size
                    return Finding(self.what, Verdict.PROVED, searched=1, point=dims)
        return None


def _numbers(bound: Tensor) -> Iterator[tuple[Tensor, np.ndarray[Any, np.dtype[np.int64]]]]:
    """Yield each input with the row-major numbers of the elements that the coordinates read; -1 is none of them."""
    shape = int_extents(bound)
    parts = list(gathers(bound)) if 0 not in shape else []
    for leaf in (leaf for leaf in bound.leaves() if leaf.values is None):
        numbers = np.full(shape, -1, np.int64)
        for part in parts:
            if part.key == leaf.key:
                mask = np.broadcast_to(part.mask, shape)
                number = np.zeros((1,) * len(shape), np.int64)
                for c, n in zip(part.coords, int_extents(leaf), strict=True):
                    number = number * n + c
                numbers[mask] = np.broadcast_to(number, shape)[mask]
        yield leaf, numbers


def _read_twice(bound: Tensor) -> _Wrong | None:
    for leaf, numbers in _numbers(bound):
        flat = numbers.reshape(-1)
        places = np.flatnonzero(flat >= 0)
        order = places[np.argsort(flat[places], kind="stable")]
        again = np.flatnonzero(flat[order][1:] == flat[order][:-1])
        if again.size:
            first = min(again, key=lambda k: order[k + 1])
            element = _coordinate(int(flat[order[first]]), int_extents(leaf))
            there = [_coordinate(int(order[k]), numbers.shape) for k in (first, first + 1)]
            reason = f"{leaf.name}{list(element)} is read at {there[0]} and at {there[1]}"
            return (leaf.name, element, *there), reason
    return None


def _not_own(bound: Tensor) -> _Wrong | None:
    for leaf, numbers in _numbers(bound):
        if (numbers < 0).any():
            at = _coordinate(int(np.argmax(numbers.reshape(-1) < 0)), numbers.shape)
            return (leaf.name, at), f"a fill is at {at}"
    return _read_twice(bound)


def _read_nowhere(bound: Tensor, keys: set[str]) -> _Wrong | None:
    for leaf, numbers in _numbers(bound):
        shape = int_extents(leaf)
        read = np.zeros(int(np.prod(shape, dtype=object)), np.bool_)
        read[numbers[numbers >= 0]] = True
        if leaf.key in keys and not read.all():
            element = _coordinate(int(np.argmin(read)), shape)
            return (leaf.name, element), f"{leaf.name}{list(element)} is read nowhere"
    return None


def _coordinate(number: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(c) for c in np.unravel_index(number, shape)) if shape else ()
