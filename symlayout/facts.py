"""What is known about the integers of a shape: bounds, divisibility, inequalities.

`Facts` is one system of statements about named integers.  Divisibility is solved, not kept as
a floor: from ``2 | H`` follows ``H = 2*g`` with a new symbol ``g``, written ``H/2``, and every
expression is `reduce`-d to the symbols that remain, where quotients are exact polynomials.
What cannot be solved (``b | H*W``) stays as a rewrite of one monomial.

`Facts.nonnegative` proves ``e >= 0``.  It is sound and not complete: it shifts symbols to their
bounds, moves loop digits and floors to the end that their coefficient's sign names, and
subtracts multiples of known facts.  False means "not proved".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from math import gcd

from symlayout.errors import ShapeError
from symlayout.polynomial import (
    Extent,
    Monomial,
    Poly,
    coefficient_of,
    collapse,
    content,
    evaluate,
    exact_quotient,
    names_of,
    replace_monomial,
    substitute,
    symbol,
    terms_of,
    text,
)

INT64_MAX = 2**63 - 1
Interval = tuple[int | None, int | None]

_SEARCH_DEPTH = 3  # how many known facts one proof may combine
_SEARCH_STEPS = 2000  # goals one proof may visit before it gives up
_NAME_LENGTH = 160
_TIGHTEN_ROUNDS = 4  # passes over the inequalities when one of them moved a bound
_REWRITE_STEPS = 200  # monomial rewrites in one reduction before it stops


@dataclass(frozen=True, slots=True)
class Dim:
    """A named integer of the user's: ``min <= name <= max`` and ``multiple_of | name``."""

    name: str
    min: int = 0
    max: int | None = None
    multiple_of: int = 1


@dataclass(frozen=True, slots=True)
class Requirement:
    """Something that must hold, in the user's dims.

    ``relation`` is ``"divides"`` (``modulus`` divides ``value``), ``"nonnegative"`` or ``"zero"``.
    ``kind`` is the error's kind when it fails, ``where`` the step that asked for it.
    """

    kind: str
    relation: str
    value: Extent
    modulus: Extent = 1
    where: str = ""

    def holds(self, values: Mapping[str, int]) -> bool:
        """Return whether the requirement holds where the dims have the given values."""
        value = evaluate(self.value, values)
        if self.relation == "divides":
            modulus = evaluate(self.modulus, values)
            return modulus != 0 and value % modulus == 0
        return value >= 0 if self.relation == "nonnegative" else value == 0

    def __str__(self) -> str:
        if self.relation == "divides":
            return f"({text(self.value)}) % ({text(self.modulus)}) == 0"
        return f"{text(self.value)} {'>=' if self.relation == 'nonnegative' else '=='} 0"


@dataclass(frozen=True, slots=True)
class Definition:
    """What a symbol stands for that is no polynomial: ``floor(left/right)``, ``max`` or ``min``.

    The two values are in the user's dims and in symbols that were defined before.
    """

    form: str
    left: Extent
    right: Extent

    def value(self, values: Mapping[str, int]) -> int:
        """Return the integer where the names have the given values."""
        left, right = evaluate(self.left, values), evaluate(self.right, values)
        return left // right if self.form == "floor" else max(left, right) if self.form == "max" else min(left, right)


@dataclass(slots=True)
class Facts:
    """A system of facts.  `fork` before adding to one that others share."""

    dims: dict[str, Dim] = field(default_factory=dict)
    low: dict[str, int | None] = field(default_factory=dict)
    high: dict[str, Extent | None] = field(default_factory=dict)
    solved: dict[str, Extent] = field(default_factory=dict)
    rules: list[tuple[Monomial, Extent]] = field(default_factory=list)
    quotients: dict[str, tuple[Extent, Extent]] = field(default_factory=dict)  # in the user's dims
    definitions: dict[str, Definition] = field(default_factory=dict)  # of symbols without digits
    floors: dict[str, tuple[Extent, Extent]] = field(default_factory=dict)
    bounded: list[str] = field(default_factory=list)  # digits and floors, oldest first
    known: list[Poly] = field(default_factory=list)  # each >= 0
    requirements: list[Requirement] = field(default_factory=list)
    _fresh: list[Poly] = field(default_factory=list)  # known facts not yet carried over to bounds
    _proofs: dict[Extent, bool] = field(default_factory=dict)
    _steps: int = 0

    def fork(self) -> Facts:
        """Return an independent copy."""
        return Facts(
            dict(self.dims),
            dict(self.low),
            dict(self.high),
            dict(self.solved),
            list(self.rules),
            dict(self.quotients),
            dict(self.definitions),
            dict(self.floors),
            list(self.bounded),
            list(self.known),
            list(self.requirements),
        )

    # ------------------------------------------------------------------ symbols

    def declare(self, dim: Dim) -> None:
        """Add a dim of the user's; one that is known already must have the same bounds.

        Raises
        ------
        ShapeError
            ``dim_conflict`` if another dim has this name, ``infeasible`` if its bounds are empty.
        """
        if (other := self.dims.get(dim.name)) is not None:
            if other != dim:
                raise ShapeError(
                    f"two dims are named {dim.name}: {_describe(other)} and {_describe(dim)}\n"
                    "  help: make the dim once and use it everywhere, or rename one",
                    "dim_conflict",
                )
            return
        if dim.max is not None and dim.max < dim.min:
            raise ShapeError(f"dim {dim.name} has no values: min {dim.min} > max {dim.max}", "infeasible")
        self.dims[dim.name] = dim
        self.low[dim.name], self.high[dim.name] = dim.min, dim.max
        self._proofs.clear()
        if dim.multiple_of != 1:
            self._solve_constant(symbol(dim.name), dim.multiple_of)

    def add_digit(self, name: str, extent: Extent) -> Poly:
        """Add a digit ``0 <= name < extent`` and return it; the extent is taken to be >= 1."""
        self.low[name], self.high[name] = 0, extent - 1
        self.bounded.append(name)
        return symbol(name)

    def add_floor(self, numerator: Extent, denominator: Extent) -> Poly:
        """Return the symbol for ``floor(numerator / denominator)``; the denominator is >= 1."""
        name = _short(f"({_parenthesised(numerator)}//{_parenthesised(denominator)})")
        if name not in self.low:
            low, high = _floor_interval(self.interval(numerator), self.interval(denominator))
            self.low[name], self.high[name] = (0 if self.nonnegative(numerator) else None) if low is None else low, high
            self.floors[name] = (numerator, denominator)
            self.bounded.append(name)
            self._define(name, "floor", numerator, denominator)
        return symbol(name)

    def maximum(self, a: Extent, b: Extent) -> Extent:
        """Return the larger of two extents: one of them if that is proved, else a new symbol."""
        if self.nonnegative(a - b):
            return a
        if self.nonnegative(b - a):
            return b
        return self._extreme("max", a, b)

    def minimum(self, a: Extent, b: Extent) -> Extent:
        """Return the smaller of two extents, as `maximum`."""
        if self.nonnegative(a - b):
            return b
        if self.nonnegative(b - a):
            return a
        return self._extreme("min", a, b)

    def _extreme(self, form: str, a: Extent, b: Extent) -> Extent:
        flat = self._flatten(form, a, b) or self._flatten(form, b, a)
        if flat is not None:
            return flat
        a, b = sorted((a, b), key=text)
        name = _short(f"{form}({text(a)}, {text(b)})")
        if name not in self.low:
            (a_low, a_high), (b_low, b_high) = self.interval(a), self.interval(b)
            lows, highs = [x for x in (a_low, b_low) if x is not None], [x for x in (a_high, b_high) if x is not None]
            if form == "max":
                self.low[name], self.high[name] = max(lows, default=None), max(highs) if len(highs) == 2 else None
            else:
                self.low[name], self.high[name] = min(lows) if len(lows) == 2 else None, min(highs, default=None)
            self._define(name, form, a, b)
            for e in (a, b):
                self._learn(symbol(name) - e if form == "max" else e - symbol(name))
        return symbol(name)

    def _flatten(self, form: str, a: Extent, b: Extent) -> Extent | None:
        """Return ``max(a, max(c, d) + k)`` as ``max(a, d + k)`` where ``c + k <= a``; None if it is no such."""
        for name in sorted(names_of(b)):
            d = self.definitions.get(name)
            shift = b - symbol(name)
            if d is None or d.form != form or name in names_of(shift):
                continue
            for inner, other in ((d.left, d.right), (d.right, d.left)):
                gap = a - inner - shift if form == "max" else inner + shift - a
                if self.nonnegative(self.reduce(gap)):
                    return self.maximum(a, other + shift) if form == "max" else self.minimum(a, other + shift)
        return None

    def _define(self, name: str, form: str, left: Extent, right: Extent) -> None:
        if any(n[0] == "#" for n in names_of(left) | names_of(right)):
            return  # a coordinate: not part of any shape
        (top, below), (bottom, above) = self.to_user(left), self.to_user(right)
        if form == "floor":
            top, bottom = lowest_terms(top * above, bottom * below)
        elif below != 1 or above != 1:  # a fraction has no place here: keep its symbol
            top, bottom = left, right
        self.definitions[name] = Definition(form, top, bottom)

    def values(self, dims: Mapping[str, int]) -> dict[str, int]:
        """Return the values of all symbols that follow from those of the dims."""
        found = dict(dims)
        waiting = {**self.quotients, **self.definitions}
        while True:
            ready = [n for n, d in waiting.items() if _names_used(d) <= found.keys()]
            if not ready:
                return found
            for name in ready:
                d = waiting.pop(name)
                if isinstance(d, Definition):
                    found[name] = d.value(found)
                elif bottom := evaluate(d[1], found):
                    found[name] = evaluate(d[0], found) // bottom

    # ------------------------------------------------------------------ reduction

    def reduce(self, e: Extent) -> Extent:
        """Return *e* in the symbols that remain, equal to it wherever the facts hold."""
        if isinstance(e, int):
            return e
        if self.solved:
            e = substitute(e, self.solved)
        for _ in range(_REWRITE_STEPS if self.rules else 0):
            before = e
            for monomial, value in self.rules:
                e = replace_monomial(e, monomial, value)
            if e is before:
                break
        return e

    def to_user(self, e: Extent) -> tuple[Extent, Extent]:
        """Return ``(n, d)`` in the user's dims with ``e == n/d``, in lowest terms where that is easy."""
        used = [name for name in names_of(e) if name in self.quotients]
        if not used or isinstance(e, int):
            return e, 1
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
        return lowest_terms(numerator, denominator)

    # ------------------------------------------------------------------ requirements

    def divide(self, numerator: Extent, denominator: Extent, kind: str, where: str = "") -> Extent:
        """Return the exact quotient; that the denominator divides becomes a requirement if unknown.

        The denominator is >= 1 by an earlier requirement.

        Raises
        ------
        ShapeError
            *kind* if it never divides; ``infeasible`` if the facts so far exclude it.
        """
        n, d = self.reduce(numerator), self.reduce(denominator)
        exact = exact_quotient(n, d)
        if exact is not None:
            return exact
        if isinstance(n, int) and isinstance(d, int):
            raise ShapeError(f"{_at(where)}{n} is not a multiple of {d}", kind)
        top, below = self.to_user(n)
        bottom, above = self.to_user(d)
        value, modulus = lowest_terms(top * above, bottom * below)
        self._proofs.clear()
        quotient = self._solve_constant(n, d) if isinstance(d, int) else self._solve_symbolic(n, d)
        if quotient is None:
            known = bool(names_of(n) & self.quotients.keys())
            raise ShapeError(
                f"{_at(where)}{text(value)} is never a multiple of {text(modulus)}"
                + (f"\n  known: {self.describe(n)}" if known else ""),
                "infeasible" if known else kind,
            )
        self.requirements.append(Requirement(kind, "divides", value, modulus, where))
        self._tighten(where)
        return quotient

    def require_nonnegative(self, e: Extent, kind: str, where: str = "", *, rule: str = "") -> None:
        """Make ``e >= 0`` a requirement, unless it is proved.

        Raises
        ------
        ShapeError
            *kind* if it is false for a concrete value, ``infeasible`` if the facts exclude it.
        """
        e = self.reduce(e)
        if isinstance(e, int):
            if e < 0:
                raise ShapeError(f"{_at(where)}{rule or f'{e} is negative'}", kind)
            return
        if self.nonnegative(e):
            return
        top, bottom = self.to_user(e)
        if (most := self.interval(e)[1]) is not None and most < 0:
            raise ShapeError(
                f"{_at(where)}{rule or f'{text(top)} >= 0'} fails for all sizes\n  known: {self.describe(e)}",
                "infeasible",
            )
        self.requirements.append(Requirement(kind, "nonnegative", _tightest(top), bottom, where))
        self.assume_nonnegative(e, where)

    def require_zero(self, e: Extent, kind: str, where: str = "", *, rule: str = "") -> None:
        """Make ``e == 0`` a requirement, unless it is proved; errors as `require_nonnegative`."""
        e = self.reduce(e)
        if isinstance(e, int):
            if e:
                raise ShapeError(f"{_at(where)}{rule or f'{e} is not 0'}", kind)
            return
        low, high = self.interval(e)
        solution = None if (low or 0) > 0 or (high is not None and high < 0) else self._unit_symbol(e)
        if (low or 0) > 0 or (high is not None and high < 0) or (solution is None and not self._zero_later(e)):
            raise ShapeError(
                f"{_at(where)}{rule or f'{self.spell(e)} == 0'} fails for all sizes\n  known: {self.describe(e)}",
                "infeasible" if names_of(e) & self.quotients.keys() else kind,
            )
        self._proofs.clear()
        top, _ = self.to_user(e)
        self.requirements.append(Requirement(kind, "zero", top, 1, where))
        if solution is not None:
            self._eliminate(*solution)
        else:
            self._rewrite_zero(e)
        self._tighten(where)

    def assume_nonnegative(self, e: Extent, where: str = "") -> None:
        """Add ``e >= 0`` as a fact that needs no requirement."""
        e = self.reduce(e)
        if not isinstance(e, Poly) or e in self.known:
            return
        self._learn(e)
        self._tighten(where)
        for name in sorted(names_of(e)):
            if e == symbol(name) - 1:
                self._assume_positive(name, where)

    def _assume_positive(self, name: str, where: str) -> None:
        """Draw on what ``name >= 1`` says of its definition: ``max(0, s)`` is then *s*."""
        if name in self.floors:
            numerator, denominator = self.floors[name]
            self.assume_nonnegative(numerator - denominator, where)
        elif (d := self.definitions.get(name)) is not None and d.form == "max" and 0 in (d.left, d.right):
            self._eliminate(name, self.reduce(d.right if d.left == 0 else d.left))
            self._tighten(where)

    def _learn(self, e: Extent) -> None:
        if isinstance(e, Poly):
            self.known.append(e)
            self._fresh.append(e)
            self._proofs.clear()

    # ------------------------------------------------------------------ solving

    def _solve_constant(self, n: Extent, d: int) -> Extent | None:
        """Solve ``d | n`` for one symbol of *n*; return n/d, or None if it never divides."""
        n = self.reduce(n)
        rest: dict[Monomial, int] = {m: c % d for m, c in terms_of(n).items() if c % d}
        constant = rest.pop((), 0)
        if not rest:
            return None if constant else exact_quotient(n, d)
        common = gcd(content(rest), d)
        if constant % common:
            return None
        rest = {m: c // common for m, c in rest.items()}
        constant, modulus = constant // common, d // common
        residue = collapse({**rest, (): constant} if constant else rest)
        if not isinstance(residue, Poly):  # pragma: no cover - rest has a symbol
            raise AssertionError("a residue with symbols is a polynomial")
        for name in self.low:
            split = coefficient_of(residue, name) if (name,) in residue.terms else None
            if split is None or not isinstance(split[0], int) or gcd(split[0], modulus) != 1:
                continue
            shift = _modulo(pow(split[0], -1, modulus) * split[1], modulus)
            t = self._quotient(symbol(name) + shift, modulus)
            self._eliminate(name, t * modulus - shift)
            return exact_quotient(self.reduce(n), d)
        return self._keep_equation(n, d)

    def _solve_symbolic(self, n: Extent, d: Poly) -> Extent | None:
        """Solve ``d | n`` for one symbol of *n* that *d* lacks; return the quotient."""
        n, reduced = lowest_terms(n, d)
        if isinstance(reduced, int):
            return exact_quotient(n, reduced) or self._solve_constant(n, reduced)
        d = reduced
        if isinstance(n, Poly):
            whole, rest = _split_multiples(n, d)
            used = names_of(d)
            for name in self.low:
                if name in used or not isinstance(rest, Poly) or (name,) not in rest.terms:
                    continue
                split = coefficient_of(rest, name)
                if split is not None and split[0] in (1, -1):
                    shift = split[1] * split[0]
                    t = self._quotient(symbol(name) + shift, d)
                    self._eliminate(name, d * t - shift)
                    return whole + t * split[0]
        return self._keep_equation(n, d)

    def _keep_equation(self, n: Extent, d: Extent) -> Extent | None:
        """Keep ``n == d*t`` as a rewrite of one monomial of *n*, for a new ``t``, and return ``t``."""
        low, high = self.interval(n)
        if low == high == 0:
            return 0
        t = self._quotient(n, d)
        equation = d * t - n
        self._learn(equation)
        self._learn(-equation)
        if low is not None and low > 0:  # a divisor of what is positive is not larger
            self._learn(n - d)
        self._rewrite_zero(equation)
        return t

    def _rewrite_zero(self, equation: Extent) -> None:
        """Use ``equation == 0`` as a rewrite of a monomial with coefficient +-1, if it has one."""
        candidates = [m for m, c in terms_of(equation).items() if c in (1, -1) and len(m) > 1]
        if not candidates:
            return
        newest = [name for name in self.quotients][-1:]
        lead = max(candidates, key=lambda m: (not any(n in newest for n in m), len(m), m))
        value = collapse({lead: 1}) - equation * terms_of(equation)[lead]
        if lead in [m for m, _ in self.rules] or replace_monomial(value, lead, 0) != value:
            return
        self.rules.append((lead, value))
        self._renew()

    def _zero_later(self, e: Extent) -> bool:
        low, high = self.interval(e)
        return (low is None or low <= 0) and (high is None or high >= 0)

    def _unit_symbol(self, e: Extent) -> tuple[str, Extent] | None:
        """Return ``(name, value)`` so that ``e == 0`` says ``name == value``, newest name first."""
        if not isinstance(e, Poly):
            return None
        for name in reversed(self.low):
            split = coefficient_of(e, name) if (name,) in e.terms and name not in self.floors else None
            if split is not None and split[0] in (1, -1):
                return name, -split[1] * split[0]
        return None

    def _quotient(self, numerator: Extent, denominator: Extent) -> Poly:
        """Return the symbol for the integer ``numerator / denominator``, named after it."""
        top, below = self.to_user(numerator)
        bottom, above = self.to_user(denominator)
        n, d = lowest_terms(top * above, bottom * below)
        name = f"{_parenthesised(n)}/{_parenthesised(d)}"
        if name not in self.quotients:
            self.quotients[name] = (n, d)
            self.low[name], self.high[name] = _quotient_interval(
                self.interval(numerator), self.interval(denominator)
            )
        return symbol(name)

    def _eliminate(self, name: str, value: Extent) -> None:
        """Replace *name* by *value* everywhere; its bounds live on as facts about *value*."""
        low, high = self.low.pop(name), self.high.pop(name)
        if low is not None and low != value:
            self._learn(value - low)
        if high is not None and high != value:
            self._learn(high - value)
        self.solved[name] = value
        self._renew(name)

    def replace_floor(self, name: str, value: Extent) -> None:
        """Replace a floor by what later facts make of it."""
        del self.floors[name]
        self.bounded.remove(name)
        self._eliminate(name, value)

    def _renew(self, name: str | None = None) -> None:
        """Bring every stored expression back to the symbols that remain."""
        if name is not None:
            self.solved = {k: substitute(v, {name: self.solved[name]}) for k, v in self.solved.items()}
            self.rules = [(m, substitute(v, self.solved)) for m, v in self.rules if name not in m]
            self.floors = {k: (self.reduce(n), self.reduce(d)) for k, (n, d) in self.floors.items()}
        self.solved = {k: self.reduce(v) for k, v in self.solved.items()}
        old, self.known = self.known, []
        for fact in old:
            reduced = self.reduce(fact)
            if isinstance(reduced, Poly) and reduced not in self.known:
                self.known.append(reduced)
                if reduced is not fact or fact in self._fresh:
                    self._fresh.append(reduced)
        self._proofs.clear()

    def _tighten(self, where: str = "") -> None:
        """Carry the known inequalities over to the bounds of single symbols."""
        facts, self._fresh = self._fresh, []
        for _ in range(_TIGHTEN_ROUNDS):
            changed = False
            for fact in facts:
                for name in sorted(names_of(fact)):
                    changed |= self._tighten_one(fact, name, where)
            if not changed:
                return
            facts = self.known

    def _tighten_one(self, fact: Poly, name: str, where: str) -> bool:
        split = coefficient_of(fact, name)
        if split is None or name not in self.low or name in self.floors or name[0] == "#":
            return False
        c, rest = split
        most = self.interval(rest)[1]
        if most is None:
            return False
        c_low, c_high = self.interval(c)
        low, high = self.low[name], self.high[name]
        if c_low is not None and c_low >= 0 and c_high and most < 0:  # c*name >= -most > 0
            least = -(most // c_high)
            if low is None or least > low:
                self.low[name] = least
                self._check_interval(name, where)
                return True
        elif isinstance(c, int) and c > 0:
            least = -(most // c)
            if low is None or least > low:
                self.low[name] = least
                self._check_interval(name, where)
                return True
        elif c_low is not None and c_low >= 0 and most < 0 and low is not None and low < 1 <= -most:
            self.low[name] = 1
            self._check_interval(name, where)
            return True
        if c_high is not None and c_high < 0 and (most >= 0 or isinstance(c, int)):
            greatest = most // -c_high
            if high is None or (isinstance(high, int) and greatest < high):
                self.high[name] = greatest
                self._check_interval(name, where)
                return True
        return False

    def _check_interval(self, name: str, where: str) -> None:
        self._proofs.clear()
        low, high = self.low[name], self.high[name]
        if low is not None and isinstance(high, int) and high < low:
            raise ShapeError(
                f"{_at(where)}no sizes are left: {name} would lie between {low} and {high}", "infeasible"
            )

    # ------------------------------------------------------------------ questions

    def interval(self, e: Extent) -> Interval:
        """Return ``(lo, hi)`` with ``lo <= e <= hi``; None is unbounded.

        Exact if *e* moves in one direction with each symbol and the symbols are independent.
        """
        if isinstance(e, int):
            return e, e
        lows = {n: v for n in names_of(e) if (v := self.low.get(n)) is not None}
        shifted = substitute(e, {n: symbol(n) + v for n, v in lows.items() if v})
        least: int | None = 0
        most: int | None = 0
        for monomial, coefficient in terms_of(shifted).items():
            low: int | None = coefficient
            high: int | None = coefficient
            for name in monomial:
                top = self.high.get(name)
                if isinstance(top, Poly):
                    top = self.interval(top)[1]
                span = top - lows[name] if name in lows and top is not None else top
                if name not in lows:
                    low, high = None, None
                    break
                low, high = (
                    (0, None if span is None or high is None else high * span)
                    if coefficient > 0
                    else (None if span is None or low is None else low * span, 0)
                )
            least = None if least is None or low is None else least + low
            most = None if most is None or high is None else most + high
        for fact in self.known:  # e itself, or its opposite, may be known better
            if isinstance(gap := e - fact, int) and (least is None or least < gap):
                least = gap
            if isinstance(gap := e + fact, int) and (most is None or most > gap):
                most = gap
        return least, most

    def positive(self, e: Extent) -> bool:
        """Return whether ``e >= 1`` is proved."""
        return self.nonnegative(e - 1)

    def nonnegative(self, e: Extent) -> bool:
        """Return whether ``e >= 0`` is proved; False says nothing about its truth."""
        if isinstance(e, int):
            return e >= 0
        e = self.reduce(e)
        proved = self._proofs.get(e)
        if proved is None:
            self._steps = 0
            proved = self._proofs[e] = self._prove(e, _SEARCH_DEPTH)
        return proved

    def sign(self, e: Extent) -> int:
        """Return 1 if ``e >= 0`` is proved, -1 if ``e <= 0`` is, 0 if neither."""
        return 1 if self.nonnegative(e) else -1 if self.nonnegative(-e) else 0

    def _prove(self, e: Extent, depth: int) -> bool:
        if isinstance(e, int):
            return e >= 0
        self._steps += 1
        if self._steps > _SEARCH_STEPS:
            return False
        primitive = self._primitive(e)
        if isinstance(primitive, int):
            return primitive >= 0
        e = primitive
        names = names_of(e)
        candidates = self._movable(e, names)
        if not candidates:
            if self._holds_at_lows(e) or self._holds_at_highs(e, depth):
                return True
        for name in candidates:
            if any(self._prove(bound, depth) for bound in self._lower_bounds(e, name, depth)):
                return True
        if depth:
            for fact in self.known:
                for factor in _multipliers(e, fact):
                    if (isinstance(factor, int) or self._holds_at_lows(factor)) and self._prove(
                        e - factor * fact, depth - 1
                    ):
                        return True
        return False

    def _primitive(self, e: Poly) -> Extent:
        """Return *e* without common factors that are >= 0, and its constant rounded down with them."""
        terms = e.terms
        shared = set.intersection(*(set(m) for m in terms))
        for name in sorted(shared):
            if (low := self.low.get(name)) is not None and low >= 0:
                terms = {_drop(m, name): c for m, c in terms.items()}
        common = gcd(*(c for m, c in terms.items() if m))
        if common > 1:
            terms = {m: c // common for m, c in terms.items()}
            if () in terms and not terms[()]:
                del terms[()]
        return e if terms is e.terms else collapse(terms)

    def _movable(self, e: Poly, names: frozenset[str]) -> list[str]:
        """Return the digits and floors to move to an end: floors of other floors in *e*, and the newest."""
        present = [name for name in reversed(self.bounded) if name in names]
        if len(present) < 2:
            return present
        nested = []
        for name in present:
            if name in self.floors and (split := coefficient_of(e, name)) is not None:
                if any(exact_quotient(split[0], m) is not None for _, m in self.coarsens(e, name)):
                    nested.append(name)
        return list(dict.fromkeys((*nested, present[0])))

    def _holds_at_lows(self, e: Extent) -> bool:
        """Shift each symbol to its lower bound: then non-negative coefficients suffice."""
        if isinstance(e, int):
            return e >= 0
        shifts: dict[str, Extent] = {}
        for name in names_of(e):
            low = self.low.get(name)
            if low is None:
                return False
            if low:
                shifts[name] = symbol(name) + low
        return all(c >= 0 for c in terms_of(substitute(e, shifts)).values())

    def _holds_at_highs(self, e: Poly, depth: int) -> bool:
        """Move one symbol whose coefficient is <= 0 to its upper bound."""
        for name in sorted(names_of(e)):
            high = self.high.get(name)
            if high is None:
                continue
            split = coefficient_of(e, name)
            if split is not None and self._holds_at_lows(-split[0]):
                return self._prove(split[1] + split[0] * high, depth)
        return False

    def _lower_bounds(self, e: Poly, name: str, depth: int) -> list[Extent]:
        """Return lower bounds of *e* without the digit or floor *name*, best first."""
        split = coefficient_of(e, name)
        if split is None:
            return []
        c, rest = split
        rising = self._prove(c, depth) if isinstance(c, int) or depth else self._holds_at_lows(c)
        if not rising and not (self._prove(-c, depth) if isinstance(c, int) or depth else self._holds_at_lows(-c)):
            return []
        if name not in self.floors:
            high = self.high[name]
            return [rest if rising else rest + c * (0 if high is None else high)]
        bounds = []
        for numerator, denominator in (*self.coarsens(e, name), self.floors[name]):
            # name = (numerator - r) / denominator with 0 <= r <= denominator - 1
            exact = exact_quotient(c, denominator)
            if exact is not None:
                bound = rest + exact * numerator
                bounds.append(bound - exact * (denominator - 1) if rising else bound)
            else:  # denominator*e > -denominator says e >= 0, since e is an integer
                bound = denominator * rest + c * numerator + denominator - 1
                bounds.append(bound - c * (denominator - 1) if rising else bound)
        if rising and self.low[name] == 0:
            bounds.append(rest)
        return bounds

    def coarsens(self, e: Poly, name: str) -> list[tuple[Extent, Extent]]:
        """Return ``(n, m)`` with ``name = floor(n/m)`` where *n* is a finer floor that *e* mentions."""
        numerator, denominator = self.floors[name]
        found = []
        for other in sorted(names_of(e)):
            if other == name or other not in self.floors:
                continue
            finer, step = self.floors[other]
            m = exact_quotient(denominator, step)
            shift = None if m is None else exact_quotient(numerator - finer, step)
            if m is not None and shift is not None:
                found.append((symbol(other) + shift, m))
        return found

    # ------------------------------------------------------------------ two systems

    def merge(self, other: Facts) -> None:
        """Add everything that *other* knows of its dims, solving both as one system.

        Afterwards expressions of *other* are understood here: `reduce` translates them.

        Raises
        ------
        ShapeError
            ``dim_conflict``, or ``infeasible`` if nothing satisfies both.
        """
        for dim in other.dims.values():
            self.declare(dim)
        meaning: dict[str, Extent] = {}

        def translate(e: Extent) -> Extent:
            for name in names_of(e):
                if name not in meaning:
                    meaning[name] = self._meaning(name, other, translate)
            return self.reduce(substitute(e, meaning))

        for r in other.requirements:
            value, where = translate(r.value), r.where
            if r.relation == "divides":
                self.divide(value, translate(r.modulus), r.kind, where)
            elif r.relation == "nonnegative":
                self.require_nonnegative(value, r.kind, where)
            else:
                self.require_zero(value, r.kind, where)
        for name in (*other.quotients, *other.definitions):
            value = translate(symbol(name))
            if name not in self.low and value != symbol(name):
                self.solved[name] = value
                if name in other.quotients:
                    self.quotients.setdefault(name, other.quotients[name])

    def _meaning(self, name: str, other: Facts, translate: Callable[[Extent], Extent]) -> Extent:
        if name in other.quotients:
            top, bottom = other.quotients[name]
            return self.divide(translate(top), translate(bottom), "non_divisible")
        if name not in other.definitions:
            return symbol(name)
        d = other.definitions[name]
        left, right = translate(d.left), translate(d.right)
        if d.form == "floor":
            return self.add_floor(left, right)
        return self.maximum(left, right) if d.form == "max" else self.minimum(left, right)

    def adopt(self, other: Facts) -> None:
        """Take over the floors of a fork of the same system, which are definitions and assume nothing."""
        for name in other.bounded:
            if name not in self.low and name in other.floors:
                self.floors[name] = other.floors[name]
                self.low[name], self.high[name] = other.low[name], other.high[name]
                self.bounded.append(name)
        self._proofs.clear()

    # ------------------------------------------------------------------ words

    def spell(self, e: Extent) -> str:
        """Return *e* as text in the user's dims."""
        top, bottom = self.to_user(e)
        return text(top) if bottom == 1 else f"{_parenthesised(top)}/{_parenthesised(bottom)}"

    def describe(self, e: Extent) -> str:
        """Return the bounds of the dims that *e* depends on, and the requirements on them."""
        top, bottom = self.to_user(e)
        names = names_of(top) | names_of(bottom)
        parts = [_describe(dim) for name, dim in self.dims.items() if name in names]
        parts += [str(r) for r in self.requirements if names & (names_of(r.value) | names_of(r.modulus))]
        return ", ".join(parts) or "nothing"


def lowest_terms(numerator: Extent, denominator: Extent) -> tuple[Extent, Extent]:
    """Cancel the whole denominator, or else common integer and monomial factors.

    Symbols cancelled are factors of a denominator that is >= 1, so they are not 0.
    """
    if denominator == 1:
        return numerator, 1
    whole = exact_quotient(numerator, denominator)
    if whole is not None:
        return whole, 1
    top, bottom = terms_of(numerator), terms_of(denominator)
    common = gcd(content(top), content(bottom))
    if common > 1:
        top = {m: c // common for m, c in top.items()}
        bottom = {m: c // common for m, c in bottom.items()}
    for name in next(iter(bottom)):
        if all(name in m for m in top) and all(name in m for m in bottom):
            top = {_drop(m, name): c for m, c in top.items()}
            bottom = {_drop(m, name): c for m, c in bottom.items()}
    return collapse(dict(top)), collapse(dict(bottom))


def _drop(monomial: Monomial, name: str) -> Monomial:
    at = monomial.index(name)
    return monomial[:at] + monomial[at + 1 :]


def _split_multiples(n: Poly, d: Poly) -> tuple[Extent, Extent]:
    """Return ``(whole, rest)`` with ``n = d*whole + rest``, term by term where *d* is one term."""
    if len(d.terms) > 1:
        return 0, n
    whole: Extent = 0
    rest: Extent = 0
    for monomial, coefficient in n.terms.items():
        term = collapse({monomial: coefficient})
        quotient = exact_quotient(term, d)
        whole, rest = (whole, term + rest) if quotient is None else (quotient + whole, rest)
    return whole, rest


def _modulo(e: Extent, modulus: int) -> Extent:
    return collapse({m: c % modulus for m, c in terms_of(e).items() if c % modulus})


def _tightest(e: Extent) -> Extent:
    """Return the primitive form of ``e >= 0`` over the integers: ``2*D - 3`` becomes ``D - 2``."""
    terms = dict(terms_of(e))
    constant = terms.pop((), 0)
    common = content(terms)
    if common > 1:
        terms = {m: c // common for m, c in terms.items()}
        constant //= common
    return collapse({**terms, (): constant} if constant else terms)


def _quotient_interval(n: Interval, d: Interval) -> Interval:
    """Return the integers between ``n/d``, for ``d >= 1``."""
    n_low, n_high = n
    d_low, d_high = max(d[0] or 1, 1), d[1]
    if n_low is None:
        low = None
    elif n_low >= 0:
        low = (1 if n_low else 0) if d_high is None else -(-n_low // d_high)
    else:
        low = -(-n_low // d_low)
    if n_high is None:
        high = None
    elif n_high >= 0:
        high = n_high // d_low
    else:
        high = -1 if d_high is None else n_high // d_high
    return low, high


def _names_used(d: Definition | tuple[Extent, Extent]) -> frozenset[str]:
    left, right = (d.left, d.right) if isinstance(d, Definition) else d
    return names_of(left) | names_of(right)


def _floor_interval(n: Interval, d: Interval) -> Interval:
    """Return the bounds of ``floor(n/d)``, for ``d >= 1``."""
    d_low, d_high = max(d[0] or 1, 1), d[1]
    low = high = None
    if n[0] is not None:
        low = n[0] // d_low if n[0] < 0 else 0 if d_high is None else n[0] // d_high
    if n[1] is not None:
        high = n[1] // d_low if n[1] >= 0 else -1 if d_high is None else n[1] // d_high
    return low, high


def _short(name: str) -> str:
    """Return a name no longer than a line, still unique: long ones end in a digest."""
    if len(name) <= _NAME_LENGTH:
        return name
    return name[: _NAME_LENGTH - 20] + "~" + sha256(name.encode()).hexdigest()[:16]


def _multipliers(e: Extent, fact: Poly) -> list[Extent]:
    """Return factors ``m``, one term each, for which ``e - m*fact`` loses a term of *e*."""
    found: dict[Extent, None] = {}
    for monomial, coefficient in fact.terms.items():
        if not monomial:
            continue
        for term, value in terms_of(e).items():
            if value * coefficient > 0 and value % coefficient == 0:
                rest = exact_quotient(collapse({term: value}), collapse({monomial: coefficient}))
                if rest is not None:
                    found[rest] = None
    return list(found)


def _parenthesised(e: Extent) -> str:
    written = text(e)
    return written if len(terms_of(e)) <= 1 and "*" not in written and written[0] != "-" else f"({written})"


def _describe(dim: Dim) -> str:
    upper = "" if dim.max is None else f" <= {dim.max}"
    multiple = "" if dim.multiple_of == 1 else f", multiple of {dim.multiple_of}"
    return f"{dim.min} <= {dim.name}{upper}{multiple}"


def _at(where: str) -> str:
    return f"{where}: " if where else ""
