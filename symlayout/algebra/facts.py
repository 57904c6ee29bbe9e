"""Facts about the integers of a shape: bounds, divisibility, inequalities.

`Facts` is one system of facts about named integers.  It solves divisibility instead of keeping floors: ``2 | H``
becomes ``H = 2*g`` with a new symbol ``g``, printed as ``H/2``.  `reduce` writes an expression in the symbols that
remain; exact quotients are polynomials in them.  A divisibility that no symbol solves (``b | H*W``) becomes a rewrite
of one monomial.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import gcd
from typing import Any, Self

from symlayout.algebra.fact_store import DIGIT, INT64_MAX, Definition, Dim, Requirement, describe_dim
from symlayout.algebra.intervals import Interval, at
from symlayout.algebra.piecewise_linear import piecewise_linear
from symlayout.algebra.polynomial import (
    Extent,
    Poly,
    collapse,
    exact_quotient,
    names_of,
    substitute,
    symbol,
    terms_of,
    text,
)
from symlayout.algebra.remainder_equations import (
    RemainderEquation,
    common_remainders,
    one_remainder,
    remainder_equation,
)
from symlayout.algebra.solve_divisibility import Divisions, evident_floor
from symlayout.errors import ShapeError

__all__ = ["INT64_MAX", "Definition", "Dim", "Facts", "Interval", "Requirement"]

_NEVER: tuple[Extent, ...] = (-1,)  # ends that nothing is between
QUOTIENT = "quotient"  # the `where` of a division that is required only because an expression mentions its quotient


class Facts(Divisions):
    """A system of facts.  Facts are added in place; call `fork` first if others share the system."""

    __slots__ = ()

    is_written = False  # True in the systems of `certificate`, which log every derivation

    def declare(self, dim: Dim) -> None:
        """Add a dim.  A dim that is already known must have the same bounds.

        Raises
        ------
        ShapeError
            ``dim_conflict`` if another dim has this name, ``infeasible`` if its bounds are empty.
        """
        if (other := self.dims.get(dim.name)) is not None:
            if other is not dim and other != dim:
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
        self._extend_samples(dim.name)
        if dim.multiple_of != 1:
            self._solve_constant(symbol(dim.name), dim.multiple_of)

    # ------------------------------------------------------------------ requirements

    def divide(self, numerator: Extent, denominator: Extent, kind: str, where: str = "") -> Extent:
        """Return ``numerator / denominator``; require that the division is exact, unless that is proved.

        The caller has ensured ``denominator >= 1``.

        Raises
        ------
        ShapeError
            *kind* if the division is never exact; ``infeasible`` if earlier facts exclude it.
        """
        n, d = self.reduce(numerator), self.reduce(denominator)
        exact = exact_quotient(n, d)
        if exact is not None:
            return exact
        if isinstance(n, int) and isinstance(d, int):
            raise ShapeError(f"{at(where)}{n} is not a multiple of {d}", kind)
        if (known := self.exact_by_quotients(n, d)) is not None:
            return known
        asked = self._fraction(n, d)
        _, _, value, modulus, name = asked
        if modulus == 1:  # as in n/(n/b), which is b: earlier requirements cover it
            return self.reduce(value)
        if name in self.quotients:  # an earlier requirement covers it
            return self.reduce(symbol(name))
        self.forget()
        quotient = self._solve_constant(n, d, asked) if isinstance(d, int) else self._solve_symbolic(n, d, asked)
        if quotient is None:
            earlier = bool(names_of(n) & self.quotients.keys())
            raise ShapeError(
                f"{at(where)}{text(value)} is never a multiple of {text(modulus)}"
                + (f"\n  known: {self.describe(n)}" if earlier else ""),
                "infeasible" if earlier else kind,
            )
        self.requirements.append(Requirement(kind, "divides", value, modulus, where, (n, d)))
        self._settle_rules(where)
        self.tighten(where)
        return self.reduce(quotient)

    def require_nonnegative(self, e: Extent, kind: str, where: str = "", *, rule: str | Callable[[], str] = "") -> None:
        """Make ``e >= 0`` a requirement, unless it is proved.

        Raises
        ------
        ShapeError
            *kind* if *e* is a negative number; ``infeasible`` if the facts exclude ``e >= 0``.
        """
        if not self.nonnegative(e):
            self.require_unproved(e, kind, where, rule=rule)

    def require_unproved(self, e: Extent, kind: str, where: str = "", *, rule: str | Callable[[], str] = "") -> None:
        """Make ``e >= 0`` a requirement, as `require_nonnegative` does; the caller knows that it is not proved."""
        e = self.reduce(e)
        if isinstance(e, int):
            raise ShapeError(f"{at(where)}{_said(rule) or f'{e} is negative'}", kind)
        top, bottom = self.to_user(e)
        ends = self._solved(e, is_zero=False)
        if ends is _NEVER or ((most := self.greatest(e)) is not None and most < 0):
            raise ShapeError(
                f"{at(where)}{_said(rule) or f'{text(top)} >= 0'} fails for all sizes\n  known: {self.describe(e)}",
                "infeasible",
            )
        if ends is not None:
            self._require_ends(ends, kind, where, rule)
            self.assume_nonnegative(e, where)
            return
        self.requirements.append(Requirement(kind, "nonnegative", _tightest(top), bottom, where, (e, 1)))
        self._take(e, where)

    def require_zero(self, e: Extent, kind: str, where: str = "", *, rule: str | Callable[[], str] = "") -> None:
        """Make ``e == 0`` a requirement, unless it is proved.

        Raises
        ------
        ShapeError
            *kind* if *e* is a number other than 0, or never 0; ``infeasible`` if the facts exclude ``e == 0``.
        """
        e = self.reduce(e)
        if isinstance(e, int):
            if e:
                raise ShapeError(f"{at(where)}{_said(rule) or f'{e} is not 0'}", kind)
            return
        ends = self._solved(e, is_zero=True)
        if ends is not None and ends is not _NEVER:
            self._require_ends(ends, kind, where, rule)
            if isinstance(e := self.reduce(e), Poly):
                self._equate_primitive(e, where)
            return
        e, whole = self.without_factors(e)
        equations, remainders, period = self._remainder_of_zero(e)
        if (only := one_remainder(remainders, period)) is not None:
            self._divide_with_floors(equations, *only, kind, where)
            return
        low, high = self.interval(e)
        never = ends is _NEVER or not whole or (low or 0) > 0 or (high is not None and high < 0)
        never = never or (bool(equations) and not remainders)
        if not never and names_of(e) & self.definitions.keys():  # intervals take each rounding by itself
            never = self.nonnegative(e - 1) or self.nonnegative(-e - 1)
        if never:
            raise ShapeError(
                f"{at(where)}{_said(rule) or f'{self.spell(e)} == 0'} fails for all sizes\n  known: {self.describe(e)}",
                "infeasible" if len(equations) > 1 or names_of(e) & self.quotients.keys() else kind,
            )
        top, _ = self.to_user(e)
        if top != 0:
            self.requirements.append(Requirement(kind, "zero", top, 1, where))
        self._equate(e, where)

    def _solved(self, e: Extent, *, is_zero: bool) -> tuple[Extent, ...] | None:
        """Return what is >= 0 if and only if ``e >= 0``, or ``e == 0``: the ends of one interval of one symbol.

        `_NEVER` if no integer meets it.  None if *e* is no function of one symbol that is linear between points, or if
        several intervals meet it.
        """
        if self.is_written or (found := piecewise_linear(self, e)) is None:
            return None
        name, function = found
        low, high = (x if isinstance(x, int) else None for x in (self.low[name], self.high[name]))
        intervals = function.where_zero(low, high) if is_zero else function.where_nonnegative(low, high)
        if len(intervals) > 1:
            return None
        if not intervals:
            return _NEVER
        (first, last), x = intervals[0], symbol(name)
        least = () if first is None or first == low else (x - first,)
        return least if last is None or last == high else (*least, last - x)

    def _require_ends(self, ends: tuple[Extent, ...], kind: str, where: str, rule: str | Callable[[], str]) -> None:
        """Require that all *ends* are >= 0, as one equation if they leave one value; see `_solved`."""
        if len(ends) == 2 and ends[0] + ends[1] == 0:
            self.require_zero(ends[0], kind, where, rule=rule)
        else:
            for end in ends:
                self.require_nonnegative(end, kind, where, rule=rule)
        self.resolve_maxima()

    def _divide_with_floors(
        self, equations: Sequence[RemainderEquation], remainder: int, divisor: int, kind: str, where: str
    ) -> None:
        """Require that *divisor* divides the number of the equations less *remainder*; replace their floors by it."""
        quotient = self.divide(equations[0].base - remainder, divisor, kind, where)
        for floor in {floor.name: floor for each in equations for floor in each.floors}.values():
            whole, rest = divmod(floor.slope * divisor, floor.divisor)
            if rest == 0 and self.reduce(symbol(floor.name)) == symbol(floor.name):
                self.forget()
                offset = (floor.slope * remainder + floor.shift) // floor.divisor
                self.eliminate(floor.name, whole * quotient + offset)
        self._settle_rules(where)
        self.tighten(where)

    def _remainder_of_zero(self, e: Extent) -> tuple[list[RemainderEquation], list[range], int]:
        """Return what ``e == 0``, with the known equations about the same remainder, leaves of it.

        These are the equations, the remainders that they leave, and the period.  There are no equations if *e* is none
        about a remainder.
        """
        first = remainder_equation(self.to_user(e)[0], self.definitions)
        if first is None:
            return [], [], 1
        known = (remainder_equation(self.to_user(each)[0], self.definitions) for each in self.equations)
        equations = [first, *(each for each in known if each is not None and each.base == first.base)]
        return equations, *common_remainders(equations, self.reduce(first.base))

    def _equate(self, e: Extent, where: str = "") -> None:
        """Add the equation ``e == 0``: solve it for a symbol, or rewrite by it.  *e* has no common factor."""
        solution = self._unit_symbol(e)
        self.forget()
        if solution is not None:
            self.eliminate(*solution)
            self._settle_rules(where)
        else:
            self.learn(e)
            self.learn(-e)
            self._rewrite_zero(e)
        self.tighten(where)

    def _settle_rules(self, where: str = "") -> None:
        """Solve what rules say in the symbols that remain: ``H*W == b*q`` says ``q == t*W`` after ``H == b*t``."""
        for rule in list(self.rules):
            if isinstance(e := rule.equation, Poly) and self.without_factors(e)[0] != e:
                self.rules.remove(rule)
                self.equations.append(e)
        for equation in list(self.equations):
            e = self.reduce(equation)
            if e != equation or (isinstance(e, Poly) and self.without_factors(e)[0] != e):
                self.equations.remove(equation)
                if isinstance(e, int) and e:
                    raise ShapeError(f"{at(where)}no sizes are left: {e} is not 0", "infeasible")
                if isinstance(e, Poly):
                    self._equate_primitive(e, where)
                return self._settle_rules(where)

    def assume_nonnegative(self, e: Extent, where: str = "") -> None:
        """Add the fact ``e >= 0``; no requirement records it.

        Raises
        ------
        ShapeError
            ``infeasible`` if the facts exclude it.
        """
        e = self.reduce(e)
        if isinstance(e, int) and e < 0:
            raise ShapeError(f"{at(where)}no sizes are left: {e} >= 0 is false", "infeasible")
        if isinstance(e, Poly) and not (self.known and e in self.known):
            self._take(e, where)

    def _take(self, e: Poly, where: str) -> None:
        """Add the fact ``e >= 0``, which is reduced and not known, and draw conclusions from it."""
        self.learn(e, where)
        self.tighten(where)
        if len(names := e.names) == 1:
            (name,) = names
            if e.terms == {(name,): 1, (): -1}:
                self._assume_positive(name, where)

    def rest_on(self, e: Extent) -> None:
        """Note that a proof uses ``e >= 0``, which is proved.  Systems that write certificates override this."""

    def suppose(self, e: Extent) -> None:
        """Add ``e >= 0``, one case of a proof by cases; errors as in `assume_nonnegative`."""
        self.assume_nonnegative(e)
        for name in sorted(names_of(e)):
            self._set_end(name, self.reduce(e))
        self.resolve_maxima()

    def resolve_maxima(self) -> None:
        """Replace each maximum that the facts decide: ``max(0, s)`` is *s* if ``s >= 0`` or the maximum is positive."""
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
        """Add ``difference == 0``, which says that the maximum *name* has its decided value."""
        if not isinstance(difference, Poly):
            if difference:
                raise ShapeError(f"no sizes are left: {name} is decided against the facts", "infeasible")
            return
        self._equate_primitive(difference)

    def _equate_primitive(self, e: Poly, where: str = "") -> None:
        """Add the equation ``e == 0``, divided by the common factors of *e*."""
        primitive, whole = self.without_factors(e)
        if not whole or not isinstance(primitive, Poly):
            raise ShapeError(f"{at(where)}no sizes are left: {self.spell(e)} is never 0", "infeasible")
        self._equate(primitive, where)

    def _set_end(self, name: str, e: Extent) -> None:
        """Tighten the bounds of the digit *name* by ``e >= 0``; replace a symbol that has only one value left."""
        if name not in self.low or name in self.floors or not isinstance(e, Poly):
            return
        if name[0] == DIGIT and e.form == symbol(name).form:
            self.raise_low(name, max(self.low[name] or 0, -e.terms.get((), 0)), e)
        elif name[0] == DIGIT and e.form == (-symbol(name)).form:
            self.lower_high(name, e.terms.get((), 0), e)
        low, high = self.low[name], self.high[name]
        if low is not None and low == high:
            self.eliminate(name, low)
            self._settle_rules()

    def meet(self, extents: Sequence[Extent]) -> None:
        """Add that each extent is >= 1: a claim about elements holds trivially where there are none."""
        for e in extents:
            self.assume_nonnegative(e - 1)
        self.resolve_maxima()

    def question(self, e: Extent) -> Extent:
        """Return the expression whose sign to decide first: *s* if *e* is made of an open ``max(0, s)``, else *e*.

        Numerators of floors in *e* are looked at, too.  Of several it is the one that is nested least: it may decide
        the others.
        """
        seen = set[str]()
        waiting = names_of(e) | names_of(self.to_user(e)[0])
        while names := waiting & self.definitions.keys() - seen:
            name = min(names, key=lambda name: (self._nesting[name], name))
            seen.add(name)
            found = self.definitions[name]
            if found.form == "max":
                value = self.reduce(found.right)
                if self.reduce(symbol(name)) not in (0, value):
                    return self.question(value)
            else:
                waiting |= names_of(found.left)
        return e

    def assume_factors(self, factors: Sequence[Extent], others: Sequence[Extent]) -> None:
        """Add that each factor is >= 1.

        The caller knows why: no factor is negative, all of *others* are >= 1, and both have the same product.
        """
        for e in factors:
            self.assume_nonnegative(e - 1)

    def assume_inside(self, coords: Sequence[Extent], extents: Sequence[Extent], place: Any) -> None:
        """Add ``0 <= c < extent`` on each axis: the proof goes on for those points only.  *place* says where it is."""
        for c, e in zip(coords, extents, strict=True):
            self.assume_nonnegative(c)
            self.assume_nonnegative(e - 1 - c)
        if self.definitions:
            self.resolve_maxima()

    def assume_inhabited(self, coords: Sequence[Extent], extents: Sequence[Extent], taken: Any = None) -> None:
        """Add that each extent is >= 1, because a coordinate lies inside: proved here, or *taken* as given."""
        news = [e for e in extents if not self.nonnegative(e - 1)]
        for e in news:
            self.assume_nonnegative(e - 1)
        if self.definitions and news:
            self.resolve_maxima()

    def vanishes(self, e: Extent) -> bool:
        """Return whether ``e == 0`` is proved."""
        return self.nonnegative(e) and self.nonnegative(-e)

    def excludes(self, e: Extent) -> bool:
        """Return whether the added fact ``e >= 0`` is proved false: then no values satisfy the facts."""
        return self.nonnegative(-1 - self.reduce(e))

    def _assume_positive(self, name: str, where: str) -> None:
        """Draw conclusions from ``name >= 1``: if *name* is ``max(0, s)``, then it equals *s*."""
        if name in self.floors:
            numerator, denominator = self.floors[name]
            self.assume_nonnegative(numerator - denominator, where)
        elif (d := self.definitions.get(name)) is not None and d.form == "max" and d.left == 0:
            value = self.reduce(d.right)
            if not self.is_made_of(value, name):
                self.eliminate(name, value)
                self._settle_rules(where)
                self.tighten(where)

    # ------------------------------------------------------------------ two systems

    def includes(self, other: Facts) -> bool:
        """Return whether this system has the dims and requirements of *other* already, so that merging adds nothing."""
        if self is other:
            return True
        for name, dim in other.dims.items():
            own = self.dims.get(name)
            if own is not dim and (own is None or own != dim):
                return False
        return self._states(other)

    def _states(self, other: Facts) -> bool:
        """Return whether this system has the symbols and requirements of *other* already; it has the dims."""
        if other.definitions and not other.definitions.keys() <= self.definitions.keys():
            return False
        if other.quotients and not other.quotients.keys() <= self.quotients.keys():
            return False
        return not other.requirements or not self._unstated(other)

    def _unstated(self, other: Facts) -> list[Requirement]:
        own = set(map(id, self.requirements))
        if own.issuperset(map(id, other.requirements)):
            return []
        if len(self._stated) < len(self.requirements):  # requirements are only added
            self._stated |= {(r.relation, r.value, r.modulus): None for r in self.requirements}
        return [r for r in other.requirements if (r.relation, r.value, r.modulus) not in self._stated]

    def merge(self, other: Facts) -> None:
        """Add the dims and requirements of *other*, and solve both systems as one.

        Afterwards `reduce` translates expressions of *other* to this system.

        Raises
        ------
        ShapeError
            ``dim_conflict`` if two dims share a name; ``infeasible`` if no values satisfy both systems.
        """
        for dim in other.dims.values():
            self.declare(dim)
        if self._states(other):
            return
        news = self._unstated(other)
        meaning: dict[str, Extent] = {}

        def translate(e: Extent) -> Extent:
            for name in names_of(e):
                if name not in meaning:
                    meaning[name] = self._meaning(name, other, translate)
            return self.reduce(substitute(e, meaning))

        for r in news:
            value, where = translate(r.value), r.where
            try:
                if r.relation == "divides":
                    self.divide(value, translate(r.modulus), r.kind, where)
                elif r.relation == "nonnegative":
                    if (
                        r.modulus != 1 and r.solving is not None
                    ):  # H/b - 1 >= 0 says more to the algebra than H - b >= 0
                        value = translate(other.reduce(r.solving[0]))
                    self.require_nonnegative(value, r.kind, where)
                else:
                    self.require_zero(value, r.kind, where)
            except ShapeError as error:  # each system alone has solutions, both together have none
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
        if name not in other.definitions or self._defines_as(other, name):
            return symbol(name)
        d = other.definitions[name]
        left, right = translate(d.left), translate(d.right)
        if d.form == "floor":
            known = evident_floor(left, right)
            return self.add_floor(left, right) if known is None else known
        return self.maximum(left, right)

    def _defines_as(self, other: Facts, name: str) -> bool:
        """Return whether *name* has the definition that *other* gives it, with all symbols that it is made of."""
        waiting = [name]
        for each in waiting:  # grows in the loop
            d, quotient = other.definitions.get(each), other.quotients.get(each)
            if self.definitions.get(each) != d or self.quotients.get(each) != quotient:
                return False
            parts = () if d is None else (d.left, d.right)
            waiting += {part for e in parts for part in names_of(e)}.difference(waiting)
        return True

    def mentioning(self, names: Iterable[str]) -> Self:
        """Return a fork without the floors and maxima that nothing mentions, neither *names* nor what is required.

        A floor or a maximum has a value whatever the dims are.  So one that nothing mentions restricts no dim.
        """
        here = self.fork()
        if self.definitions.keys() <= (used := self._mentioned_by(names)):
            return here
        idle = {name for name in self.definitions if name in self.low and name not in used}
        for stored in (here.low, here.high, here.definitions, here.floors):
            for name in idle & stored.keys():
                del stored[name]
        here.bounded = [name for name in self.bounded if name not in idle]
        here.known = {e: None for e in self.known if e.names.isdisjoint(idle)}
        here._fresh = [e for e in self._fresh if e in here.known]
        here._restricted, here._looked_at = set(), 0
        for sample in here._samples or ():
            for name in idle & sample.keys():
                del sample[name]
        here.forget()
        return here

    def _mentioned_by(self, names: Iterable[str]) -> set[str]:
        """Return *names* and what the requirements and equations mention, with all symbols that these are made of."""
        said: list[Extent | None] = [e for r in self.requirements for e in (r.value, r.modulus)]
        said += [*self.solved.values(), *[rule.equation for rule in self.rules], *self.equations]
        said += [end for name, end in self.high.items() if name not in self.definitions]
        found = {*names, *self.solved}
        for e in (*said, *[part for pair in self.quotients.values() for part in pair]):
            found |= e.names if isinstance(e, Poly) else frozenset()
        waiting = [name for name in found if name in self.definitions or name in self.low]
        for name in waiting:  # grows in the loop
            d = self.definitions.get(name)
            parts = (*self.terms_within(name), *(() if d is None else (d.left, d.right)))
            for e in parts:
                fresh = (names_of(e) | names_of(self.reduce(e))) - found
                found |= fresh
                waiting += fresh
        return found

    def adopt(self, other: Facts) -> None:
        """Add the floors, entries and maxima that a fork of this system has defined, without the fork's assumptions."""
        for name in other.bounded:
            if name not in self.low and name in other.entries and name in other.low:
                self.take_entry(name, *other.entries[name])
            if name not in self.low and name in other.floors and name in other.low:  # the fork has not solved it
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
    common = gcd(*[c for m, c in terms_of(e).items() if m])
    if common == 1:
        return e
    terms = dict(terms_of(e))
    constant = terms.pop((), 0)
    if common > 1:
        terms = {m: c // common for m, c in terms.items()}
        constant //= common
    return collapse({**terms, (): constant} if constant else terms)


def _said(rule: str | Callable[[], str]) -> str:
    return rule if isinstance(rule, str) else rule()
