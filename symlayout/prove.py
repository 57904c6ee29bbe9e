"""Decide whether two tensors are equal for all sizes: proved, refuted with a witness, or unknown.

First the normal form of both sides over the same digits; then a search for a point where they
differ.  Finitely many sizes never prove a claim about all: the search only refutes, unless
the sizes are fixed and it has seen every element.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from symlayout import symbols
from symlayout.arrays import same_fill
from symlayout.digits import digit_name
from symlayout.errors import ArrayError, InconclusiveError, ShapeError
from symlayout.facts import Facts
from symlayout.spell import spell_coordinate
from symlayout.infer import requirements
from symlayout.interpret import gathers
from symlayout.normalise import Guard, Read, Window, assume, normalise, output_digits
from symlayout.polynomial import Extent, evaluate, product, symbol
from symlayout.tensor import Tensor

DEFAULT_BUDGET = 2000  # points of D that a search for a witness evaluates
_CHEAP = 40  # candidates looked at for each one evaluated
_MAX_ELEMENTS = 1 << 22  # elements of an output that one evaluation may have


class Verdict(enum.Enum):
    """The outcome of a proof attempt; ``UNKNOWN`` is an answer, not a failure."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        raise TypeError("a Verdict has three values; compare it with Verdict.PROVED")


@dataclass(frozen=True, slots=True)
class Witness:
    """Where two sides differ.

    Attributes
    ----------
    dims : dict
        A value for each dim, by its SymPy symbol.
    coord : tuple of int or None
        The output coordinate; None if the shapes differ already.
    left, right : object
        What each side reads there: ``(input name, coordinate)`` or ``("fill", value)``; the two
        shapes if *coord* is None.
    """

    dims: dict[Any, int]
    coord: tuple[int, ...] | None
    left: Any
    right: Any

    def __str__(self) -> str:
        at = ", ".join(f"{symbol} = {value}" for symbol, value in self.dims.items())
        where = "the shapes are" if self.coord is None else f"at {self.coord} the sides read"
        return f"{at + ': ' if at else ''}{where} {_read_text(self.left)} and {_read_text(self.right)}"


class Proof:
    """What was found out about the claim that two tensors are equal.

    Attributes
    ----------
    verdict : Verdict
        PROVED, REFUTED or UNKNOWN.
    witness : Witness or None
        With REFUTED, a point where the sides differ: of the smallest sum of dims that the search met.
    obligation : str
        With UNKNOWN, what could not be decided.
    searched : int
        How many points of the sizes were evaluated in search of a witness.
    """

    def __init__(
        self,
        claim: _Claim,
        verdict: Verdict,
        witness: Witness | None = None,
        obligation: str = "",
        searched: int = 0,
    ) -> None:
        self._claim = claim
        self.verdict, self.witness, self.obligation, self.searched = verdict, witness, obligation, searched

    @cached_property
    def requires(self) -> tuple[Any, ...]:
        """The conditions of validity of both sides, as SymPy relations: the claim is about dims that meet them."""
        facts = self._claim.facts
        return tuple(symbols.to_relation(r, facts) for r in requirements(Tensor("claim", None, (), facts)))

    @cached_property
    def certificate(self) -> dict[str, Any] | None:
        """With PROVED, the derivation as data, which `check` verifies; None otherwise.

        Raises
        ------
        InconclusiveError
            The proof has no certificate: it rests on enumeration, or on a step that `check` has no rule for.
        """
        from symlayout.certify import certify

        if self.verdict is not Verdict.PROVED:
            return None
        return certify(self._claim.left, self._claim.right, self._claim.facts, self._claim.dtype)

    @cached_property
    def same_requires(self) -> bool:
        """Whether the two sides are valid for the same dims, as far as that is proved."""
        left, right = self._claim.left.facts, self._claim.right.facts
        return _implies(left, right) and _implies(right, left)

    def explain(self) -> str:
        """Return the derivation as text: the steps of both sides, and why they agree or where they differ."""
        return "\n".join((*self._claim.derivation(), self._conclusion()))

    def _conclusion(self) -> str:
        if self.verdict is Verdict.PROVED:
            return "PROVED: both sides read the same element at every coordinate, for all such sizes."
        if self.verdict is Verdict.REFUTED:
            return f"REFUTED: {self.witness}"
        return f"UNKNOWN: {self.obligation} ({self.searched} sizes searched, none differs)"

    def __str__(self) -> str:
        return self._conclusion()

    def __repr__(self) -> str:
        return f"<Proof: {self._conclusion()}>"


def prove_equal(left: Tensor, right: Tensor, *, budget: int = DEFAULT_BUDGET) -> Proof:
    """Decide whether *left* and *right* are equal for all sizes that both are valid for.

    D is the set of integer dims that meet the bounds and the requirements of both sides.  PROVED: on
    all of D the shapes agree and each coordinate reads the same element of an input, or fills of equal
    bits.  REFUTED: at the witness, a point of D, they differ.  Leaves match by name; their elements
    are opaque, distinct from each other and from fills.

    Parameters
    ----------
    budget : int
        How many points of D the search for a witness may evaluate.

    Raises
    ------
    ArrayError
        The dtypes differ.
    ShapeError
        ``infeasible`` if no sizes are valid for both sides, ``dim_conflict``, ``size_mismatch`` if an input has
        one shape on the left and another on the right.

    Examples
    --------
    >>> from symlayout.ops.transpose import transpose
    >>> from symlayout.tensor import tensor
    >>> x = tensor("N, C", name="x")
    >>> prove_equal(transpose(transpose(x)), x).verdict
    <Verdict.PROVED: 'proved'>
    """
    if left.dtype != right.dtype and left.dtype is not None and right.dtype is not None:
        raise ArrayError(f"the sides have dtypes {left.dtype} and {right.dtype}")
    facts = left.facts.fork()
    facts.merge(right.facts)
    _match_leaves(left, right, facts)
    claim = _Claim(left, right, facts)
    obligation = claim.derive()
    if not obligation:
        return Proof(claim, Verdict.PROVED)
    witness, searched, complete = claim.search(budget)
    if witness is not None:
        return Proof(claim, Verdict.REFUTED, witness, searched=searched)
    if complete:  # no dims, and every element compared
        return Proof(claim, Verdict.PROVED, searched=searched)
    return Proof(claim, Verdict.UNKNOWN, None, obligation, searched)


def _all_own(t: Tensor) -> bool:
    """Return whether the reads of *t* need no proof of being inside: see `Tensor.own`."""
    return all(node.own for node in t.nodes())


def _match_leaves(left: Tensor, right: Tensor, facts: Facts) -> None:
    shapes = {leaf.key: leaf for leaf in left.leaves()}
    for leaf in right.leaves():
        other = shapes.get(leaf.key)
        if other is None or other is leaf:
            continue
        a, b = [tuple(facts.reduce(e) for e in x.extents) for x in (other, leaf)]
        if a != b:
            raise ShapeError(f"input {leaf.name} is {other!r} on the left and {leaf!r} on the right", "size_mismatch")
        if other.dtype is not None and leaf.dtype is not None and other.dtype != leaf.dtype:
            raise ArrayError(f"input {leaf.name} has dtype {other.dtype} on the left and {leaf.dtype} on the right")


def _implies(given: Facts, wanted: Facts) -> bool:
    """Return whether every requirement of *wanted* is proved from *given*."""
    trial = given.fork()
    before = len(trial.requirements)
    try:
        trial.merge(wanted)
    except ShapeError:
        return False
    return len(trial.requirements) == before


class _Claim:
    """The claim ``left == right`` over one system of facts."""

    def __init__(self, left: Tensor, right: Tensor, facts: Facts) -> None:
        self.left, self.right, self.facts = left, right, facts
        self.dtype = left.dtype if left.dtype is not None else right.dtype
        self.names = {digit_name(k): f"i{k}" for k in range(left.rank)}
        self.reads: list[list[Read]] = []
        self.least: dict[str, int | None] = {}  # of the dims, where the output has an element

    # ------------------------------------------------------------------ the normal form

    def derive(self) -> str:
        """Return what the normal form does not decide; empty if it proves the claim."""
        if self.left.rank != self.right.rank:
            return "the ranks are equal"
        for axis, (a, b) in enumerate(zip(self.left.extents, self.right.extents, strict=True)):
            if not _equal(a, b, self.facts):
                left, right = (self.facts.spell(self.facts.reduce(e)) for e in (a, b))
                return f"the extents of axis {axis} are equal: {left} and {right}"
        facts = self.facts.fork()
        try:
            digits = output_digits(self.left, facts)
        except ShapeError:  # some extent can only be 0, so there is no element to compare
            return ""
        for name in self.facts.dims:
            self.least[name] = facts.interval(facts.reduce(symbol(name)))[0]
        try:
            self.reads = [normalise(t, facts.fork(), digits, shown=_all_own(t)) for t in (self.left, self.right)]
        except InconclusiveError as error:
            return error.claim
        if len(self.reads[0]) == len(self.reads[1]) == 1:
            pairs = [(self.reads[0][0], self.reads[1][0])]
        else:
            pairs = [pair for a, b in itertools.product(*self.reads) for pair in self._both(a, b, facts, digits)]
        return next((o for a, b in pairs if (o := self._compare(a, b))), "")

    def _both(self, a: Read, b: Read, facts: Facts, digits: list[Extent]) -> list[tuple[Read, Read]]:
        """Return two reads as they are where both apply: evaluated again with all their windows known."""
        here = facts.fork()
        here.adopt(a.facts)
        here.adopt(b.facts)
        try:
            for window in (*a.windows, *b.windows):
                assume(window, here)
        except ShapeError:
            return []  # no point is in both
        again = [
            next((r for r in normalise(t, here.fork(), digits, shown=True) if r.path == read.path), None)
            for t, read in ((self.left, a), (self.right, b))
        ]
        return [(again[0], again[1])] if again[0] is not None and again[1] is not None else []

    def derivation(self) -> list[str]:
        """Return the steps of both sides, a line each."""
        lines = []
        for side, t in (("left", self.left), ("right", self.right)):
            shape = ", ".join(self.facts.spell(self.facts.reduce(e)) for e in t.extents)
            lines.append(f"{side}: the shape is ({shape})")
        for side, reads in zip(("left", "right"), self.reads, strict=False):
            for read in reads:
                lines += _trail(side, read, self.names)
        return lines

    def _compare(self, a: Read, b: Read) -> str:
        """Return what keeps two reads from being equal where both apply; empty if nothing does."""
        facts = a.facts.fork()
        facts.adopt(b.facts)
        try:
            for window in (*a.windows, *b.windows):
                assume(window, facts)
        except ShapeError:
            return ""  # no point is in both
        if (a.guards or b.guards or a.leaf is None or b.leaf is None) and (
            obligation := self._compare_guards(a, b, facts)
        ):
            return obligation
        if a.leaf is None or b.leaf is None:
            return "" if a.leaf is b.leaf else "one side is all fill"
        if a.leaf.key != b.leaf.key:
            return f"{a.leaf.name} and {b.leaf.name} are one input"
        for axis, (x, y) in enumerate(zip(a.coords, b.coords, strict=True)):
            if not _equal(x, y, facts):
                left, right = (spell_coordinate(e, facts, self.names) for e in (x, y))
                return f"{left} == {right} on axis {axis} of {a.leaf.name}"
        return ""

    def _compare_guards(self, a: Read, b: Read, facts: Facts) -> str:
        fills = [g.fill for g in (*a.guards, *b.guards)] + [r.fill for r in (a, b) if r.leaf is None]
        if all(same_fill(fills[0], f, self.dtype) for f in fills[1:]):
            if a.leaf is None and b.leaf is None:
                return ""
            for one, other in ((a, b), (b, a)):
                for g in other.guards:
                    if not _inside(g.window, one, facts):
                        value, extent = (
                            spell_coordinate(e, facts, self.names) for e in (g.window.value, g.window.extent)
                        )
                        return f"0 <= {value} < {extent} wherever the other side reads its input"
            return ""
        same_rest = a.leaf is not None or b.leaf is not None or same_fill(a.fill, b.fill, self.dtype)
        if len(a.guards) == len(b.guards) and all(
            self._same_guard(g, h, facts) for g, h in zip(a.guards, b.guards, strict=True)
        ):
            return "" if same_rest else "the fills agree"
        return "the fills agree wherever an input is left"

    def _same_guard(self, g: Guard, h: Guard, facts: Facts) -> bool:
        return (
            same_fill(g.fill, h.fill, self.dtype)
            and facts.reduce(g.window.value - h.window.value) == 0
            and facts.reduce(g.window.extent - h.window.extent) == 0
        )

    # ------------------------------------------------------------------ the search

    def search(self, budget: int) -> tuple[Witness | None, int, bool]:
        """Return a witness or None, how many points of D were evaluated, and whether D is no larger."""
        searched = 0
        dims = list(self.facts.dims.values())
        for values in itertools.islice(self._points(), budget * _CHEAP):
            if searched >= budget:
                break
            known = self.facts.values(values)
            if not all(r.holds(known) for r in self.facts.requirements):
                continue
            if self._is_empty(known):
                continue
            searched += 1
            try:
                witness, compared = self._differ(values)
            except (ShapeError, InconclusiveError):
                continue  # a rule that only construction or evaluation knows: not a point of D
            if witness is not None:
                return witness, searched, False
            if not dims:
                return None, searched, compared
        return None, searched, False

    def _is_empty(self, known: dict[str, int]) -> bool:
        """Return whether both shapes are the same and hold no element, so that nothing can differ."""
        shapes = []
        for t in (self.left, self.right):
            parts = [t.facts.to_user(e) for e in t.extents]
            try:
                shapes.append([evaluate(n, known) // (evaluate(d, known) or 1) for n, d in parts])
            except KeyError:  # a symbol of one side that the joint system has solved differently
                return False
        return shapes[0] == shapes[1] and 0 in shapes[0]

    def _points(self) -> Iterator[dict[str, int]]:
        """Yield values of the dims within their bounds, by sum, then in lexicographic order.

        Once the shapes are known to agree, only sizes with an element can be a witness.
        """
        dims = list(self.facts.dims.values())
        starts = [_first(max(d.min, self.least.get(d.name) or d.min), d.multiple_of) for d in dims]
        rooms = [
            None if d.max is None else (d.max - start) // d.multiple_of for d, start in zip(dims, starts, strict=True)
        ]
        steps = [d.multiple_of for d in dims]
        most = sum(s * r for s, r in zip(steps, rooms, strict=True) if r is not None) if None not in rooms else None
        for total in itertools.count() if most is None else range(most + 1):
            for extra in _compositions(total, steps, rooms):
                yield {d.name: start + e for d, start, e in zip(dims, starts, extra, strict=True)}

    def _differ(self, values: dict[str, int]) -> tuple[Witness | None, bool]:
        """Return a witness at one point of D, and whether all its elements were compared."""
        left, right = self.left.bind(_only(values, self.left)), self.right.bind(_only(values, self.right))
        dims = {symbols.symbol_of(self.facts.dims[name]): v for name, v in values.items()}
        if left.extents != right.extents:
            return Witness(dims, None, left.extents, right.extents), True
        size = product(left.extents)
        if not isinstance(size, int) or size > _MAX_ELEMENTS:
            return None, False
        if size == 0:
            return None, True
        keys = sorted({leaf.key for t in (left, right) for leaf in t.leaves()})
        fills: list[Any] = []
        codes = [self._codes(t, keys, fills) for t in (left, right)]
        different = np.flatnonzero(np.any(codes[0] != codes[1], axis=0))
        if not different.size:
            return None, True
        coord = tuple(int(c) for c in np.unravel_index(different[0], [e for e in left.extents if isinstance(e, int)]))
        reads = [_read(code[:, different[0]], keys, fills, left, right) for code in codes]
        return Witness(dims, coord, *reads), True

    def _codes(self, t: Tensor, keys: list[str], fills: list[Any]) -> np.ndarray[Any, Any]:
        """Return what each output element is: an input's number, or -1, and coordinates or a fill's number."""
        rank = max((leaf.rank for leaf in (*self.left.leaves(), *self.right.leaves())), default=0)
        shape = tuple(e for e in t.extents if isinstance(e, int))
        code = np.zeros((rank + 2, *shape), np.int64)
        for part in gathers(t):
            mask = np.broadcast_to(part.mask, shape)
            if part.key is None:
                number = next((k for k, f in enumerate(fills) if same_fill(f, part.fill, self.dtype)), len(fills))
                if number == len(fills):
                    fills.append(part.fill)
                code[0][mask], code[1][mask] = -1, number
            else:
                code[0][mask] = keys.index(part.key)
                for k, c in enumerate(part.coords):
                    code[k + 1][mask] = np.broadcast_to(c, shape)[mask]
        return code.reshape(rank + 2, -1)


def _only(values: dict[str, int], t: Tensor) -> dict[str, Extent]:
    return {name: v for name, v in values.items() if name in t.facts.dims}


def _first(low: int, step: int) -> int:
    return -(-low // step) * step


def _compositions(total: int, steps: list[int], rooms: list[int | None]) -> Iterator[tuple[int, ...]]:
    """Yield multiples of *steps* that add up to *total*, each at most its room, in lexicographic order."""
    if not steps:
        if total == 0:
            yield ()
        return
    most = total // steps[0] if rooms[0] is None else min(total // steps[0], rooms[0])
    for k in range(most + 1):
        for rest in _compositions(total - k * steps[0], steps[1:], rooms[1:]):
            yield (k * steps[0], *rest)


def _read(code: np.ndarray[Any, Any], keys: list[str], fills: list[Any], left: Tensor, right: Tensor) -> Any:
    if code[0] < 0:
        return ("fill", fills[code[1]])
    leaf = next(leaf for t in (left, right) for leaf in t.leaves() if leaf.key == keys[code[0]])
    return (leaf.name, tuple(int(c) for c in code[1 : leaf.rank + 1]))


def _equal(a: Extent, b: Extent, facts: Facts) -> bool:
    difference = facts.reduce(facts.reduce(a) - facts.reduce(b))
    return difference == 0 or (facts.nonnegative(difference) and facts.nonnegative(-difference))


def _inside(window: Window, where: Read, facts: Facts) -> bool:
    """Return whether *window* is proved to hold wherever all guards of *where* do."""
    local = where.facts.fork()
    local.adopt(facts)
    return local.nonnegative(window.value) and local.nonnegative(window.extent - 1 - window.value)


def _trail(side: str, read: Read, names: dict[str, str]) -> list[str]:
    """Return one line per step: the coordinate that it reads."""

    def spell(coords: tuple[Extent, ...]) -> str:
        return f"({', '.join(spell_coordinate(e, read.facts, names) for e in coords)})"

    lines = [f"{side}: the output coordinate is ({', '.join(names.values())})"]
    lines += [f"{side}: {step} reads {spell(coords)}" for step, coords in read.trail]
    lines += [
        f"{side}: {g.step} gives {g.fill} unless 0 <= {spell_coordinate(g.window.value, read.facts, names)} < "
        f"{spell_coordinate(g.window.extent, read.facts, names)}"
        for g in read.guards
    ]
    reads = f"fill {read.fill}" if read.leaf is None else f"{read.leaf.name}{spell(read.coords)}"
    return [*lines, f"{side}: so it reads {reads}"]


def _read_text(read: Any) -> str:
    if isinstance(read, tuple) and len(read) == 2 and isinstance(read[0], str):
        return f"fill {read[1]}" if read[0] == "fill" else f"{read[0]}{list(read[1])}"
    return str(read)
