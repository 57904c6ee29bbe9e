"""The symbols of a system of facts, what they stand for, and how they are written.

A `System` only stores facts and rewrites expressions.  Other modules draw conclusions from it: `intervals` (bounds),
`nonnegative` (proofs of ``e >= 0``) and `facts` (requirements).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import gcd
from typing import Any, NamedTuple, Self

from symlayout.algebra.polynomial import (
    Extent,
    Monomial,
    Poly,
    collapse,
    evaluate,
    exact_quotient,
    names_of,
    replace_monomial,
    substitute,
    symbol,
    terms_of,
    text,
    without,
)
from symlayout.algebra.table import Table
from symlayout.deadlines import check_time, spend_goals
from symlayout.errors import ShapeError
from symlayout.walks import Walk
from symlayout_codegen.values import Value

INT64_MAX = 2**63 - 1
DIGIT = "#"  # the first character of a digit's name; no dim's name contains it

Split = tuple[Extent, Extent, str, str]  # ``digit + first = second*third + fourth``

_NAME_LENGTH = 160
_REWRITE_STEPS = 200  # a reduction stops after so many monomial rewrites


class Dim(Value):
    """A named integer that the user declares: ``min <= name <= max`` and ``multiple_of | name``; None is unbounded."""

    name: str
    min: int | None = 0
    max: int | None = None
    multiple_of: int = 1
    process: str = ""  # set where the user gave no name: such names are unique only within one process

    def __hash__(self) -> int:
        return hash(self.name)  # few dims share a name, and tables of dims are read for each extent of each shape

    def allows(self, value: int) -> bool:
        """Return whether the dim may have this value."""
        above = self.min is None or value >= self.min
        return above and (self.max is None or value <= self.max) and value % self.multiple_of == 0

    def limits(self, value: Extent) -> list[tuple[Extent, str]]:
        """Return ``(e, rule)`` for each bound: *value* meets the bound if ``e >= 0``; *rule* is the bound as text."""
        found: list[tuple[Extent, str]] = []
        if self.min is not None:
            found.append((value - self.min, f"{self.name} >= {self.min}"))
        if self.max is not None:
            found.append((self.max - value, f"{self.name} <= {self.max}"))
        return found

    def nearest(self) -> int:
        """Return the allowed value that is nearest to 0."""
        if self.min is not None and self.min > 0:
            return -(-self.min // self.multiple_of) * self.multiple_of
        if self.max is not None and self.max < 0:
            return self.max // self.multiple_of * self.multiple_of
        return 0


class Requirement(Value):
    """A predicate in the user's dims that an operation requires.

    ``relation`` is ``"divides"`` (``modulus`` divides ``value``), ``"nonnegative"`` or ``"zero"``.
    ``kind`` is the kind of the error that reports a violation.  ``where`` names the step that requires it.
    ``solving`` is the division as the system solved it, in the symbols that it had then; or ``value/modulus``, which is
    >= 0, and 1.
    """

    kind: str
    relation: str
    value: Extent
    modulus: Extent = 1
    where: str = ""
    solving: tuple[Extent, Extent] | None = None

    def _key(self) -> tuple[Any, ...]:
        return self.kind, self.relation, self.value, self.modulus, self.where

    def states(self, other: Requirement) -> bool:
        """Return whether the requirement states what *other* does, whatever step asks for it."""
        return (self.relation, self.value, self.modulus) == (other.relation, other.value, other.modulus)

    def holds(self, values: Mapping[str, int]) -> bool:
        """Return whether the requirement holds where the dims have the given values."""
        value = evaluate(self.value, values)
        if self.relation == "divides":
            modulus = evaluate(self.modulus, values)
            return modulus != 0 and value % modulus == 0
        return value >= 0 if self.relation == "nonnegative" else value == 0

    def __str__(self) -> str:
        if self.relation == "divides":
            return f"{parenthesised(self.value)} % {parenthesised(self.modulus)} == 0"
        return f"{text(self.value)} {'>=' if self.relation == 'nonnegative' else '=='} 0"


class Definition(Value):
    """The meaning of a symbol that no polynomial expresses: ``floor(left/right)`` or ``max(left, right)``.

    *left* and *right* are written in the user's dims and in symbols that are defined earlier.
    """

    form: str
    left: Extent
    right: Extent

    def value(self, values: Mapping[str, int]) -> int | None:
        """Return the integer where the names have the given values; None for a division by 0."""
        left, right = evaluate(self.left, values), evaluate(self.right, values)
        if self.form == "floor":
            return left // right if right else None
        return max(left, right)


class Rule(NamedTuple):
    """The equation ``times * monomial == value``, by which expressions are rewritten from left to right."""

    monomial: Monomial
    value: Extent
    times: int = 1

    @property
    def equation(self) -> Extent:
        """What is 0."""
        return collapse({self.monomial: self.times}) - self.value

    def loops(self) -> bool:
        """Return whether the value has a term to which the rule may apply again."""
        return any(without(term, self.monomial) is not None for term in terms_of(self.value))


@dataclass(slots=True)
class System:
    """The stored part of `Facts`.

    An equation that has been solved for a symbol eliminates it: every stored expression is written in the symbols that
    remain.

    Attributes
    ----------
    dims : the user's dims, by name, in order of declaration.
    low, high : bounds of the symbols that remain; a digit's upper bound may be a polynomial.
    solved : the value of each eliminated symbol.
    rules : replacements of multiples of monomials, from equations that cannot be solved for a symbol.
    equations : what is 0 and neither eliminates a symbol nor is a rule.
    turned : whether these replace multiples of a symbol rather than products with a quotient (see `Divisions.turn`).
    quotients : symbols for exact quotients, with numerator and denominator in the user's dims.
    definitions : symbols for floors, maxima and minima that shapes may mention.
    floors : symbols for all floors, with numerator and denominator.
    entries : symbols for the entries of tables, with the table and the place in it.
    bounded : digits, floors and entries of tables, oldest first.
    known : polynomials that are >= 0, as keys.
    requirements : the requirements, in the order of the steps that state them.
    splits : for each digit that has been split: the shift, the radix, and the names of the high and the low digit (see
        `Split`); None forbids splits.
    """

    dims: dict[str, Dim] = field(default_factory=dict)
    low: dict[str, int | None] = field(default_factory=dict)
    high: dict[str, Extent | None] = field(default_factory=dict)
    solved: dict[str, Extent] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    equations: list[Extent] = field(default_factory=list)
    turned: bool = False
    quotients: dict[str, tuple[Extent, Extent]] = field(default_factory=dict)
    definitions: dict[str, Definition] = field(default_factory=dict)
    floors: dict[str, tuple[Extent, Extent]] = field(default_factory=dict)
    entries: dict[str, tuple[Table, Extent]] = field(default_factory=dict)
    bounded: list[str] = field(default_factory=list)
    known: dict[Poly, None] = field(default_factory=dict)
    requirements: list[Requirement] = field(default_factory=list)
    _fresh: list[Poly] = field(default_factory=list)  # known facts that have not yet tightened the bounds
    _best: dict[frozenset[tuple[Monomial, int]], int] = field(default_factory=dict)  # known lower bounds of forms
    _proofs: dict[Extent, Any] = field(default_factory=dict)  # derivations by goal; None where the search found none
    _divided: dict[tuple[Extent, Extent], Extent] = field(default_factory=dict)
    _samples: list[dict[str, int]] | None = None
    _effort: list[int] = field(default_factory=lambda: [0])  # one counter of visited goals, shared by all forks
    _nesting: dict[str, int] = field(default_factory=dict)  # depth of each floor and maximum, shared by all forks
    _written: dict[str, int] = field(default_factory=dict)  # names of each when it is written out, shared likewise
    splits: dict[str, Split] | None = None
    _steps: int = 0
    _restricted: set[str] = field(default_factory=set)  # what known facts but definitions mention, of those looked at
    _looked_at: int = 0  # known facts, from the first one on
    _stated: dict[tuple[str, Extent, Extent], None] = field(default_factory=dict)  # by the requirements

    def spend(self, goals: int) -> None:
        """Add the work of so many goals to `effort`."""
        self._effort[0] += goals
        spend_goals(goals)

    @property
    def effort(self) -> int:
        """The number of goals that this system and its forks have visited: a measure of work without a clock.

        Who asks wants to know whether to go on, so this is where a decision ends that has a deadline.

        Raises
        ------
        OutOfTime
            A deadline has passed: see `symlayout.deadlines`.
        """
        check_time()
        return self._effort[0]

    def forget(self) -> None:
        """Drop the cached answers that a new fact may change."""
        self._proofs.clear()
        self._divided.clear()

    def quotient_of(self, numerator: Extent, denominator: Extent) -> Extent | None:
        """Return the floor that `note_quotient` cached since the facts last changed, or None."""
        return self._divided.get((numerator, denominator))

    def note_quotient(self, numerator: Extent, denominator: Extent, quotient: Extent, why: Any = ()) -> None:
        """Cache ``floor(numerator / denominator)``: both `//` and `%` compute it.

        A system that writes proofs writes *why*, the reasons of a `Division`.
        """
        self._divided[numerator, denominator] = quotient

    def fork(self) -> Self:
        """Return an independent copy."""
        return type(self)(
            dims=dict(self.dims),
            low=dict(self.low),
            high=dict(self.high),
            solved=dict(self.solved),
            rules=list(self.rules),
            equations=list(self.equations),
            turned=self.turned,
            quotients=dict(self.quotients),
            definitions=dict(self.definitions),
            floors=dict(self.floors),
            entries=dict(self.entries),
            bounded=list(self.bounded),
            known=dict(self.known),
            requirements=list(self.requirements),
            _fresh=list(self._fresh),
            _best=dict(self._best),
            _proofs=dict(self._proofs),
            _divided=dict(self._divided),
            _samples=None if self._samples is None else [dict(sample) for sample in self._samples],
            _effort=self._effort,
            _nesting=self._nesting,
            _written=self._written,
            splits=None if self.splits is None else dict(self.splits),
            _stated=dict(self._stated),
            _restricted=set(self._restricted),
            _looked_at=self._looked_at,
        )

    def reduce(self, e: Extent) -> Extent:
        """Return *e* written in the symbols that remain.  Both are equal wherever the facts hold."""
        if isinstance(e, int):
            return e
        if self.solved:
            e = substitute(e, self.solved)
        for _ in range(_REWRITE_STEPS if self.rules else 0):
            before = e
            for monomial, value, times in self.rules:
                e = replace_monomial(e, monomial, value, times)
            if e is before:
                break
        return e

    def reduce_all(self, extents: Iterable[Extent]) -> tuple[Extent, ...]:
        """Return the extents of a shape written in the symbols that remain (see `reduce`)."""
        if not self.solved and not self.rules:
            return tuple(extents)
        return tuple([self.reduce(e) for e in extents])

    def terms_within(self, name: str) -> tuple[Extent, ...]:
        """Return what a floor or an entry of a table is a function of, in the symbols that remain; else nothing."""
        if name in self.entries:
            return (self.reduce(self.entries[name][1]),)
        return self.floors.get(name, ())

    def is_made_of(self, e: Extent, name: str) -> bool:
        """Return whether *e* depends on *name*, also through floors, tables and maxima: then *name* cannot be *e*."""
        if not self.floors and not self.definitions and not self.entries:
            return name in names_of(e)
        walk = Walk(names_of(e))
        for derived in walk:
            parts = self.terms_within(derived)
            if not parts and (d := self.definitions.get(derived)) is not None:
                parts = self.reduce(d.left), self.reduce(d.right)
            walk.to(part for each in parts for part in names_of(each))
        return name in walk.seen

    def behind(self, names: Iterable[str]) -> set[str]:
        """Return *names*, and the symbols that the definitions and quotients among them are made of."""
        walk = Walk(names)
        for name in walk:
            d = self.definitions.get(name)
            for e in self.quotients.get(name, ()) if d is None else (d.left, d.right):
                walk.to(names_of(e))
        return set(walk.seen)

    def dims_behind(self, names: Iterable[str]) -> set[str]:
        """Return the dims that *names* depend on, directly or through definitions."""
        return self.behind(names) & self.dims.keys()

    def to_user(self, e: Extent) -> tuple[Extent, Extent]:
        """Return ``(n, d)`` in the user's dims with ``e == n/d``, reduced by the factors that `lowest_terms` finds."""
        if isinstance(e, int) or not self.quotients or e.names.isdisjoint(self.quotients):
            return e, 1
        used = [name for name in e.names if name in self.quotients]
        degree = {name: max(monomial.count(name) for monomial in e.terms) for name in used}
        numerator: Extent = 0
        for monomial, coefficient in e.terms.items():
            term: Extent = coefficient
            for name in used:
                top, bottom = self.quotients[name]
                power = monomial.count(name)
                for _ in range(power):
                    term = top * term
                for _ in range(degree[name] - power):
                    term = bottom * term
            rest = tuple(name for name in monomial if name not in self.quotients)
            numerator = numerator + term * collapse({rest: 1})
        denominator: Extent = 1
        for name in sorted(used):
            for _ in range(degree[name]):
                divisor = self.quotients[name][1]
                smaller = exact_quotient(numerator, divisor)
                if smaller is None:
                    denominator = divisor * denominator
                else:
                    numerator = smaller
        return self.lowest_terms(numerator, denominator)

    def lowest_terms(self, numerator: Extent, denominator: Extent) -> tuple[Extent, Extent]:
        """Cancel the whole denominator; failing that, common integer factors and common symbols that are >= 0.

        The denominator is >= 1.  So a factor of it that is >= 0 is >= 1, and the rest of the denominator is >= 1.
        """
        if denominator == 1:
            return numerator, 1
        if denominator == 0:
            raise ShapeError(f"{text(numerator)} is divided by 0", "infeasible")
        if type(denominator) is int and denominator > 0:
            common = gcd(denominator, *terms_of(numerator).values())
            if common == 1:
                return numerator, denominator
            return collapse({m: c // common for m, c in terms_of(numerator).items()}), denominator // common
        whole = exact_quotient(numerator, denominator)
        if whole is not None:
            return whole, 1
        top, bottom = terms_of(numerator), terms_of(denominator)
        common = gcd(*top.values(), *bottom.values())
        if common > 1:
            top = {m: c // common for m, c in top.items()}
            bottom = {m: c // common for m, c in bottom.items()}
        for name in next(iter(bottom)):
            if not all(name in m for m in top) or not all(name in m for m in bottom):
                continue
            least = self.dims[name].min if name in self.dims else self.low.get(name)
            if least is not None and least >= 0:
                top = {drop(m, name): c for m, c in top.items()}
                bottom = {drop(m, name): c for m, c in bottom.items()}
        if bottom is terms_of(denominator):
            return numerator, denominator
        return collapse(dict(top)), collapse(dict(bottom))

    def values(self, dims: Mapping[str, int]) -> dict[str, int]:
        """Return the values of all symbols, computed from the values of the dims.

        Dims that violate a requirement may leave a symbol without a value.
        """
        return self.evaluation()(dims)

    def evaluation(self) -> Callable[[Mapping[str, int]], dict[str, int]]:
        """Return `values` as a function, for many choices of dims: what it needs of the system is found once."""
        waiting = {n: Definition("floor", *d) for n, d in self.quotients.items()} | self.definitions
        needed = {n: _names_used(d) for n, d in waiting.items()}
        order: list[tuple[str, Definition, frozenset[str]]] = []  # each after the symbols that it mentions
        while ready := [n for n in waiting if needed[n].isdisjoint(waiting)]:
            order += [(name, waiting.pop(name), needed[name]) for name in ready]

        def evaluated(dims: Mapping[str, int]) -> dict[str, int]:
            found = dict(dims)
            for name, d, used in order:
                if used <= found.keys() and (value := d.value(found)) is not None:
                    found[name] = value
            return found

        return evaluated

    def failing(self, known: Mapping[str, int]) -> Requirement | None:
        """Return a requirement that fails where the symbols have these values (see `values`); others are left out."""
        for r in self.requirements:
            if names_of(r.value) | names_of(r.modulus) <= known.keys() and not r.holds(known):
                return r
        return None

    def spell(self, e: Extent) -> str:
        """Return *e* as text in the user's dims."""
        top, bottom = self.to_user(e)
        if bottom == 1 and (pair := self.extremes(top)) is not None:
            form, a, b = pair
            return f"{form}({self.spell(a)}, {self.spell(b)})"
        return text(top) if bottom == 1 else f"{parenthesised(top)}/{parenthesised(bottom)}"

    def extremes(self, e: Extent) -> tuple[str, Extent, Extent] | None:
        """Return ``("max", a, b)`` or ``("min", a, b)`` if *e* is one of these, else None.

        The system stores both as ``a + max(0, s)`` and ``a - max(0, s)``.
        """
        if not isinstance(e, Poly) or (name := self.extreme_of(e)) is None:
            return None
        sign = e.terms[(name,)]
        rest = e - symbol(name) * sign
        form = "max" if sign == 1 else "min"
        sides = rest, rest + self.definitions[name].right * sign
        a, b = sorted(sides, key=lambda side: (len(terms_of(side)), text(side)))
        return form, a, b

    def extreme_of(self, e: Poly) -> str | None:
        """Return the name of the ``max(0, s)`` where *e* is ``a -+ max(0, s)``, and *a* has no other; else None."""
        for name in sorted(e.names & self.definitions.keys()):
            if self.definitions[name].form == "max" and e.terms.get((name,), 0) in (1, -1):
                rest = e - symbol(name) * e.terms[(name,)]
                if names_of(rest).isdisjoint(self.definitions):
                    return name
        return None

    def describe(self, e: Extent) -> str:
        """Return the bounds of the dims that *e* depends on, and the requirements on them."""
        top, bottom = self.to_user(e)
        names = names_of(top) | names_of(bottom)
        parts = [describe_dim(dim) for name, dim in self.dims.items() if name in names]
        parts += [str(r) for r in self.requirements if names & (names_of(r.value) | names_of(r.modulus))]
        return ", ".join(parts) or "nothing"


def drop(monomial: Monomial, name: str) -> Monomial:
    """Return *monomial* without one factor *name*."""
    at = monomial.index(name)
    return monomial[:at] + monomial[at + 1 :]


def parenthesised(e: Extent) -> str:
    """Return *e* as text, in parentheses if it is more than a number or a name."""
    written = text(e)
    plain = (isinstance(e, int) or len(e.terms) == 1) and "*" not in written and written[0] != "-"
    return written if plain else f"({written})"


def describe_dim(dim: Dim) -> str:
    """Return the bounds of a dim in words."""
    upper = "" if dim.max is None else f" <= {dim.max}"
    multiple = "" if dim.multiple_of == 1 else f", multiple of {dim.multiple_of}"
    lower = "" if dim.min is None else f"{dim.min} <= "
    return f"{lower}{dim.name}{upper}{multiple}"


def short(name: str) -> str:
    """Return *name*, shortened to at most a line; a digest keeps shortened names unique."""
    if len(name) <= _NAME_LENGTH:
        return name
    from hashlib import sha256  # imported late: OpenSSL loads slower than this whole module

    return name[: _NAME_LENGTH - 20] + "~" + sha256(name.encode()).hexdigest()[:16]


def _names_used(d: Definition) -> frozenset[str]:
    return names_of(d.left) | names_of(d.right)
