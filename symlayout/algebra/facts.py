"""What is known about the integers of a shape: bounds, divisibility, inequalities.

`Facts` is one system of facts about named integers.  Divisibility is solved, not kept as
a floor: from ``2 | H`` follows ``H = 2*g`` with a new symbol ``g``, written ``H/2``, and every
expression is `reduce`-d to the symbols that remain, where quotients are exact polynomials.
What cannot be solved (``b | H*W``) stays as a rewrite of one monomial.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symlayout.algebra.fact_store import DIGIT, INT64_MAX, Definition, Dim, Requirement, describe_dim
from symlayout.algebra.intervals import Interval, at
from symlayout.algebra.polynomial import (
    Extent,
    Poly,
    collapse,
    content,
    exact_quotient,
    names_of,
    substitute,
    symbol,
    terms_of,
    text,
)
from symlayout.algebra.solve_divisibility import Divisions
from symlayout.errors import ShapeError

__all__ = ["INT64_MAX", "Definition", "Dim", "Facts", "Interval", "Requirement"]

QUOTIENT = "quotient"  # where a division comes from that nothing but the mention of its quotient asks for


class Facts(Divisions):
    """A system of facts.  `fork` before adding to one that others share."""

    __slots__ = ()

    is_written = False  # whether derivations are written down, each in the terms that hold in the end

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
                    f"two dims are named {dim.name}: {describe_dim(other)} and {describe_dim(dim)}\n"
                    "  help: make the dim once and use it everywhere, or rename one",
                    "dim_conflict",
                )
            return
        if dim.min is not None and dim.max is not None and dim.max // dim.multiple_of < -(-dim.min // dim.multiple_of):
            raise ShapeError(f"dim {dim.name} has no values: {describe_dim(dim)}", "infeasible")
        self.dims[dim.name] = dim
        self.low[dim.name], self.high[dim.name] = dim.min, dim.max
        self._samples = None
        if dim.multiple_of != 1:
            self._solve_constant(symbol(dim.name), dim.multiple_of)

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
            raise ShapeError(f"{at(where)}{n} is not a multiple of {d}", kind)
        asked = self._fraction(n, d)
        _, _, value, modulus, name = asked
        if name in self.quotients:  # it was asked for before
            return self.reduce(symbol(name))
        self.forget()
        quotient = self._solve_constant(n, d, asked) if isinstance(d, int) else self._solve_symbolic(n, d, asked)
        if quotient is None:
            known = bool(names_of(n) & self.quotients.keys())
            raise ShapeError(
                f"{at(where)}{text(value)} is never a multiple of {text(modulus)}"
                + (f"\n  known: {self.describe(n)}" if known else ""),
                "infeasible" if known else kind,
            )
        self.requirements.append(Requirement(kind, "divides", value, modulus, where))
        self.tighten(where)
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
                raise ShapeError(f"{at(where)}{rule or f'{e} is negative'}", kind)
            return
        if self.nonnegative(e):
            return
        top, bottom = self.to_user(e)
        if (most := self.interval(e)[1]) is not None and most < 0:
            raise ShapeError(
                f"{at(where)}{rule or f'{text(top)} >= 0'} fails for all sizes\n  known: {self.describe(e)}",
                "infeasible",
            )
        self.requirements.append(Requirement(kind, "nonnegative", _tightest(top), bottom, where))
        self.assume_nonnegative(e, where)

    def require_zero(self, e: Extent, kind: str, where: str = "", *, rule: str = "") -> None:
        """Make ``e == 0`` a requirement, unless it is proved; errors as `require_nonnegative`."""
        e = self.reduce(e)
        if isinstance(e, int):
            if e:
                raise ShapeError(f"{at(where)}{rule or f'{e} is not 0'}", kind)
            return
        e, whole = self.without_factors(e)
        low, high = self.interval(e)
        if not whole or (low or 0) > 0 or (high is not None and high < 0):
            raise ShapeError(
                f"{at(where)}{rule or f'{self.spell(e)} == 0'} fails for all sizes\n  known: {self.describe(e)}",
                "infeasible" if names_of(e) & self.quotients.keys() else kind,
            )
        top, _ = self.to_user(e)
        if top != 0:
            self.requirements.append(Requirement(kind, "zero", top, 1, where))
        self._equate(e, where)

    def _equate(self, e: Extent, where: str = "") -> None:
        """Use ``e == 0``, where *e* has no common factor: solve it, or rewrite by it."""
        solution = self._unit_symbol(e)
        self.forget()
        if solution is not None:
            self.eliminate(*solution)
        else:
            self.learn(e)
            self.learn(-e)
            self._rewrite_zero(e)
        self.tighten(where)

    def assume_nonnegative(self, e: Extent, where: str = "") -> None:
        """Add ``e >= 0`` as a fact that needs no requirement.

        Raises
        ------
        ShapeError
            ``infeasible`` if nothing satisfies it.
        """
        e = self.reduce(e)
        if isinstance(e, int) and e < 0:
            raise ShapeError(f"{at(where)}no sizes are left: {e} >= 0 is false", "infeasible")
        if not isinstance(e, Poly) or e in self.known:
            return
        self.learn(e, where)
        self.tighten(where)
        for name in sorted(names_of(e)):
            if e == symbol(name) - 1:
                self._assume_positive(name, where)

    def rest_on(self, e: Extent) -> None:
        """Note that a proof rests on ``e >= 0``, which is proved: a system that writes proofs down does so here."""

    def suppose(self, e: Extent) -> None:
        """Add ``e >= 0`` to what holds here, as `assume_nonnegative`: a case of a proof that covers the others too."""
        self.assume_nonnegative(e)
        for name in sorted(names_of(e)):
            self._set_end(name, self.reduce(e))
        self._resolve_maxima()

    def _resolve_maxima(self) -> None:
        """Write its value for each maximum that is decided here: ``max(0, s)`` is *s* where one of them is positive."""
        for name, d in self.definitions.items():
            if d.form != "max" or d.left != 0:
                continue
            m, value = self.reduce(symbol(name)), self.reduce(d.right)
            if m in (0, value):
                continue
            if self.nonnegative(value) or self.positive(m):
                self._resolve(name, m - value)
            elif self.nonnegative(-value):
                self._resolve(name, m)

    def _resolve(self, name: str, difference: Extent) -> None:
        """Use that a maximum is decided, which says ``difference == 0``."""
        if not isinstance(difference, Poly):
            if difference:
                raise ShapeError(f"no sizes are left: {name} is decided against the facts", "infeasible")
            return
        primitive, whole = self.without_factors(difference)
        if not whole or not isinstance(primitive, Poly):
            raise ShapeError(f"no sizes are left: {self.spell(difference)} is never 0", "infeasible")
        self._equate(primitive)

    def _set_end(self, name: str, e: Extent) -> None:
        """Carry ``e >= 0`` over to a bound of a digit, and write a symbol's only value for it."""
        if name not in self.low or name in self.floors or not isinstance(e, Poly):
            return
        if name[0] == DIGIT and e.form == symbol(name).form:
            self.raise_low(name, max(self.low[name] or 0, -e.terms.get((), 0)), e)
        elif name[0] == DIGIT and e.form == (-symbol(name)).form:
            self.lower_high(name, e.terms.get((), 0), e)
        low, high = self.low[name], self.high[name]
        if low is not None and low == high:
            self.eliminate(name, low)

    def meet(self, extents: Sequence[Extent]) -> None:
        """Add that an output of these extents has an element: there is a coordinate to speak of."""
        for e in extents:
            self.assume_nonnegative(e - 1)
        self._resolve_maxima()

    def question(self, e: Extent) -> Extent:
        """Return what to ask before the sign of *e*: that of the value of a maximum in it."""
        for name in sorted(names_of(e) & self.definitions.keys()):
            if self.definitions[name].form == "max":
                return self.question(self.reduce(self.definitions[name].right))
        return e

    def assume_factors(self, factors: Sequence[Extent], others: Sequence[Extent]) -> None:
        """Add that each factor is >= 1: their product is that of *others*, which are >= 1, and none is negative."""
        for e in factors:
            self.assume_nonnegative(e - 1)

    def assume_inside(self, coords: Sequence[Extent], extents: Sequence[Extent], place: Any) -> None:
        """Add ``0 <= c < extent`` on each axis, where a proof considers the points with that; *place* is where."""
        for c, e in zip(coords, extents, strict=True):
            self.assume_nonnegative(c)
            self.assume_nonnegative(e - 1 - c)
        if self.definitions:
            self._resolve_maxima()

    def assume_inhabited(self, coords: Sequence[Extent], extents: Sequence[Extent], taken: Any = None) -> None:
        """Add that each extent is >= 1: a coordinate lies inside, as was shown here or is *taken* for granted."""
        news = [e for e in extents if not self.nonnegative(e - 1)]
        for e in news:
            self.assume_nonnegative(e - 1)
        if self.definitions and news:
            self._resolve_maxima()

    def vanishes(self, e: Extent) -> bool:
        """Return whether ``e == 0`` is proved."""
        return self.nonnegative(e) and self.nonnegative(-e)

    def excludes(self, e: Extent) -> bool:
        """Return whether ``e >= 0``, which was added, is proved to be false: then nothing satisfies the facts."""
        return self.nonnegative(-1 - self.reduce(e))

    def _assume_positive(self, name: str, where: str) -> None:
        """Draw on what ``name >= 1`` says of its definition: ``max(0, s)`` is then *s*."""
        if name in self.floors:
            numerator, denominator = self.floors[name]
            self.assume_nonnegative(numerator - denominator, where)
        elif (d := self.definitions.get(name)) is not None and d.form == "max" and d.left == 0:
            value = self.reduce(d.right)
            if not self.is_made_of(value, name):
                self.eliminate(name, value)
                self.tighten(where)

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
        if all(any(r is mine for mine in self.requirements) for r in other.requirements) and (
            other.definitions.keys() <= self.definitions.keys() and other.quotients.keys() <= self.quotients.keys()
        ):
            return  # an earlier stage of this same system
        meaning: dict[str, Extent] = {}

        def translate(e: Extent) -> Extent:
            for name in names_of(e):
                if name not in meaning:
                    meaning[name] = self._meaning(name, other, translate)
            return self.reduce(substitute(e, meaning))

        for r in other.requirements:
            value, where = translate(r.value), r.where
            try:
                if r.relation == "divides":
                    self.divide(value, translate(r.modulus), r.kind, where)
                elif r.relation == "nonnegative":
                    self.require_nonnegative(value, r.kind, where)
                else:
                    self.require_zero(value, r.kind, where)
            except ShapeError as error:  # each system alone has sizes, both together have none
                raise ShapeError(str(error), "infeasible") from error
        for name in (*other.quotients, *other.definitions):
            value = translate(symbol(name))
            if name not in self.low and value != symbol(name):
                self.solved[name] = value
                if name in other.quotients:
                    self.quotients.setdefault(name, other.quotients[name])

    def _meaning(self, name: str, other: Facts, translate: Callable[[Extent], Extent]) -> Extent:
        if name in other.quotients:
            top, bottom = other.quotients[name]
            return self.divide(translate(top), translate(bottom), "non_divisible", QUOTIENT)
        if name not in other.definitions:
            return symbol(name)
        d = other.definitions[name]
        left, right = translate(d.left), translate(d.right)
        if d.form == "floor":
            return self.add_floor(left, right)
        return self.maximum(left, right)

    def adopt(self, other: Facts) -> None:
        """Take over the floors and maxima of a fork of the same system: definitions, without its assumptions."""
        for name in other.bounded:
            if name not in self.low and name in other.floors and name in other.low:  # not solved there
                self.take_floor(name, *other.floors[name])
                if name in other.definitions:
                    self.definitions[name] = other.definitions[name]
        for name, d in other.definitions.items():
            if d.form == "max" and name not in self.low and name in other.low:
                self.definitions[name] = d
                self.take_maximum(name, self.reduce(d.right))
        self.forget()
        self._samples = None


def _tightest(e: Extent) -> Extent:
    """Return the primitive form of ``e >= 0`` over the integers: ``2*D - 3`` becomes ``D - 2``."""
    terms = dict(terms_of(e))
    constant = terms.pop((), 0)
    common = content(terms)
    if common > 1:
        terms = {m: c // common for m, c in terms.items()}
        constant //= common
    return collapse({**terms, (): constant} if constant else terms)
