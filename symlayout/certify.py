"""Write the certificate of a proof: the same derivation again, with every step noted as data.

A `Recorder` is a system of facts that notes what it concludes, and why, in the rules of `check`.  Each
step is checked as it is noted, by the code that will check the certificate, so that what the checker
would refuse is never written.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Any

from symlayout.agree import MAX_EFFORT, Absurd, Agreed, Masked, Path, Tree, agree
from symlayout.check import Context, Refused, encode, seal
from symlayout.claim import Claim
from symlayout.digits import floor_div
from symlayout.errors import InconclusiveError
from symlayout.facts import Facts, Fraction
from symlayout.inequalities import Derivation, Factor
from symlayout.polynomial import (
    Extent,
    Monomial,
    Poly,
    coefficient_of,
    exact_quotient,
    names_of,
    substitute,
    symbol,
    terms_of,
)
from symlayout.system import DIGIT, Dim
from symlayout.tensor import Tensor


def certify(left: Tensor, right: Tensor, facts: Facts, dtype: Any) -> dict[str, Any]:
    """Return the certificate that *left* equals *right* for all sizes that satisfy *facts*.

    It shows that every read is inside its source, unless that cannot be shown along with the rest: then the
    claim says that it is taken for granted (``trusted``), as it may be for operations of this package.

    Raises
    ------
    InconclusiveError
        A step has no derivation in the rules of `check`.
    """
    try:
        return _certify(Claim(left, right, facts, dtype))
    except (InconclusiveError, Refused):
        pass  # some read is not shown to be inside
    try:
        return _certify(Claim(left, right, facts, dtype, trusted=True))
    except Refused as error:
        raise InconclusiveError(f"the proof has a certificate: {error}") from error


def _certify(claim: Claim) -> dict[str, Any]:
    recorder = Recorder()
    recorder.begin(claim.data)
    recorder.introduce(claim)
    tree = agree(claim.left, claim.right, recorder, claim.dtype, shown=claim.data["trusted"], effort=4 * MAX_EFFORT)
    certificate = {"claim": claim.data, "proof": _block(tree)}
    return {**certificate, "seal": seal(certificate)}


def _block(tree: Tree) -> dict[str, Any]:
    """Return a tree of cases as data; its facts are recorders."""
    steps = tree.facts.steps if isinstance(tree.facts, Recorder) else []
    if isinstance(tree, Agreed):
        return {"steps": steps, "agree": [_data(path) for path in tree.paths]}
    if isinstance(tree, Masked):
        return {"steps": steps, "masked": [_block(tree.left), _block(tree.right)]}
    if isinstance(tree, Absurd):
        return {"steps": steps, "absurd": []}
    return {"steps": steps, "split": [encode(tree.value), _block(tree.yes), _block(tree.no)]}


def _data(path: Path) -> list[Any]:
    return [[number, None if outside is None else list(outside)] for number, outside in path]


class Recorder(Facts):
    """A system of facts that writes down its derivations.

    Attributes
    ----------
    context : what the checker knows after the steps so far.
    steps : the steps since the last fork.
    """

    __slots__ = ("_dividing", "_divisions", "_solving", "_writing", "context", "steps")

    context: Context
    steps: list[list[Any]]
    _dividing: tuple[Extent, Extent, str] | None
    _divisions: dict[tuple[Extent, Extent], Extent]
    _solving: list[tuple[Extent, Extent, Poly]]
    _writing: set[Extent]

    def begin(self, claim: dict[str, Any]) -> None:
        """Start a certificate of *claim*."""
        self.context = Context(claim)
        self.steps, self._dividing, self._divisions, self._solving, self._writing = [], None, {}, [], set()

    def introduce(self, claim: Claim) -> None:
        """Add the claim's dims, assumptions and symbols."""
        for dim in claim.facts.dims.values():
            self.declare(dim)
        values: dict[str, Extent] = {}

        def translated(e: Extent) -> Extent:
            for name in sorted(names_of(e)):
                if name in claim.symbols and name not in values:
                    form, a, b = claim.symbols[name]
                    values[name] = self.mean(name, form, translated(a), translated(b))
            return self.reduce(substitute(e, {name: self.reduce(v) for name, v in values.items()}))

        for number, r in enumerate(claim.facts.requirements):
            value = translated(r.value)
            if r.relation == "divides":
                self.divide_by(number, value, translated(r.modulus), r.kind)
                continue
            self.note("assume", number)
            if r.relation == "nonnegative":
                self.assume_given(value)
            else:
                self.require_zero(value, r.kind, r.where)
        for name in claim.symbols:
            value = translated(symbol(name))
            if name not in self.low and value != symbol(name):
                self.solved[name] = value

    def fork(self) -> Recorder:
        """Return an independent copy, whose steps follow those so far."""
        copy = super().fork()
        copy.context, copy.steps, copy._dividing = self.context.fork(), [], self._dividing
        copy._divisions, copy._solving, copy._writing = dict(self._divisions), list(self._solving), set()
        return copy

    def note(self, rule: str, *parts: Any) -> None:
        """Check a step, of data, and write it down."""
        step = [rule, *parts]
        self.context.step(step)
        self.steps.append(step)

    # ------------------------------------------------------------------ writing derivations

    def show(self, e: Extent) -> Extent:
        """Write down why ``e >= 0``, and return *e* reduced."""
        e = self.reduce(e)
        if not self.context.holds(e):
            proof = self.derive(e)
            if proof is None:
                raise Refused(f"{e} >= 0 has no derivation")
            self._write(proof)
        return e

    def show_zero(self, e: Extent) -> None:
        """Write down why ``e == 0``."""
        e = self.reduce(e)
        if not self.context.vanishes(e):
            self.show(e)
            self.show(-e)
            self.note("equal", encode(e))

    def _write(self, proof: Factor) -> Extent:
        """Write down a derivation and return its goal, reduced."""
        if not isinstance(proof, Derivation):
            return self._write_fact(self.reduce(proof))
        goal = self.reduce(proof.goal)
        if self.context.holds(goal):
            return goal
        if proof.maximum:
            self._write_cases(goal, proof)
        elif not proof.products:
            self._write_lows(goal)
        else:
            products = [[encode(self._write(a)), encode(self._write(b))] for a, b in proof.products]
            self._combine(goal, proof.scale, products)
        return goal

    def _combine(self, goal: Extent, scale: Extent, products: list[Any], equations: Sequence[Any] = ()) -> None:
        scale = self.reduce(scale)
        self.show(scale - 1)
        self.note("combine", encode(goal), encode(scale), products, list(equations))

    def _write_fact(self, e: Extent) -> Extent:
        """Write down why *e*, which is a fact or holds at the lower bounds, is >= 0."""
        if self.context.holds(e):
            return e
        bound = self._bound(e)
        if bound is not None and e not in self._writing:
            self._writing.add(e)
            self._write(bound)
            self._writing.discard(e)
        elif self.holds_at_lows(e):
            self._write_lows(e)
        else:
            raise Refused(f"{e} >= 0 has no derivation")
        return e

    def _write_lows(self, e: Extent) -> None:
        lows = [(name, self.low[name]) for name in sorted(names_of(e))]
        for name, low in lows:
            if low is not None:
                self._write_fact(self.reduce(symbol(name) - low))
        if not self.context.holds(e):
            self.note("lows", encode(e), [list(pair) for pair in lows])

    def _bound(self, e: Extent) -> Derivation | None:
        """Return why a floor or a maximum is at least its lower or at most its upper bound, which *e* says."""
        for name in sorted(names_of(e)):
            if name in self.floors:
                n, d = self.floors[name]
                form = self._form(name)
                for low, goal, end in (
                    (self.low[name], symbol(name), form.above),
                    (self.high[name], -symbol(name), form.below),
                ):
                    if low is None or e != (goal - low if goal.terms[(name,)] > 0 else goal + low):
                        continue
                    rest = self.derive(n - d * low if end is form.above else d * low + d - 1 - n)
                    if rest is not None:
                        return Derivation(e, ((1, end), (1, rest)), d)
            elif name in self.context.maxima and (high := self.high.get(name)) is not None and e == high - symbol(name):
                both = self.derive(high), self.derive(high - self.context.maxima[name])
                if both[0] is not None and both[1] is not None:
                    return Derivation(e, ((1, both[0]), (1, both[1])), maximum=name)
        return None

    def _write_cases(self, goal: Extent, proof: Derivation) -> None:
        """Write down that *goal* holds where a maximum is 0 and where it is its other value."""
        name, value = proof.maximum, self.reduce(self.context.maxima[proof.maximum])
        zero, other = (self._write(part) for _, part in proof.products)
        split = coefficient_of(goal, name) if isinstance(goal, Poly) else None
        if split is None:
            raise Refused(f"{goal} is not linear in {name}")
        m, factor = symbol(name), encode(split[0])
        yes = [
            ["resolve", name],
            ["combine", encode(goal), 1, [[1, encode(other)]], [[factor, encode(self.reduce(m - value))]]],
        ]
        no = [
            ["combine", encode(self.reduce(-value)), 1, [[1, encode(self.reduce(-1 - value))], [1, 1]], []],
            ["resolve", name],
            ["combine", encode(goal), 1, [[1, encode(zero)]], [[factor, encode(m)]]],
        ]
        self.note("cases", encode(goal), encode(value), yes, no)

    def derive(self, e: Extent) -> Derivation | None:
        """As `Inequalities.derive`, from what has been written down as well."""
        e = self.reduce(e)
        if self.context.holds(e):
            return Derivation(e)
        return super().derive(e) or self._by_quotients(e) or self._by_floors(e)

    def _by_quotients(self, e: Extent) -> Derivation | None:
        """Return why ``n - d >= 0`` for a quotient or a floor ``t = n/d >= 1``."""
        for name, (n, d) in self.floors.items():
            if self.reduce(n - d - e) == 0 and (positive := super().derive(symbol(name) - 1)) is not None:
                return Derivation(e, ((1, self._form(name).below), (d, positive)))
        for n, d, t in self._solving:
            if self.reduce(n - d - e) == 0 and (positive := super().derive(t - 1)) is not None:
                self._combine(e, 1, [[encode(self.show(d)), encode(self._write(positive))]], [[-1, encode(d * t - n)]])
                return Derivation(e)
            split = coefficient_of(e, *t.names) if isinstance(e, Poly) else None
            if (
                split is not None
                and self.reduce(split[1] + n) == 0
                and (rest := super().derive(split[0] - d)) is not None
            ):
                # c*t - n = t*(c - d) + (d*t - n)
                self._combine(e, 1, [[encode(self.show(t)), encode(self._write(rest))]], [[1, encode(d * t - n)]])
                return Derivation(e)
        return None

    def _by_floors(self, e: Extent) -> Derivation | None:
        """Return why *e*, which is ``q + r`` or ``r - q`` for a floor that was shown, is >= 0."""
        for (n, k), q in self.context.floors.items():
            if isinstance(q, int) or isinstance(e, int) or not q.names <= e.names:
                continue
            for sign, end in ((1, k * q + k - 1 - n), (-1, n - k * q)):
                r = e - q * sign
                if not names_of(r).isdisjoint(q.names):
                    continue
                rest = super().derive(n * sign + k * r if sign > 0 else k * r + k - 1 - n)
                if rest is not None:
                    return Derivation(e, ((1, end), (1, rest)), k)
        return None

    def nonnegative(self, e: Extent) -> bool:
        """As `Inequalities.nonnegative`."""
        return e >= 0 if isinstance(e, int) else self.derive(e) is not None

    # ------------------------------------------------------------------ what changes a system

    def declare(self, dim: Dim) -> None:
        """As `Facts.declare`."""
        if dim.name not in self.dims:
            self.note("dim", dim.name)
            self._dividing = symbol(dim.name), dim.multiple_of, "?" + dim.name
        super().declare(dim)

    def divide_by(self, number: int, numerator: Extent, denominator: Extent, kind: str) -> None:
        """Add the claim's assumption *number*: that the denominator divides the numerator."""
        n, d = self.reduce(numerator), self.reduce(denominator)
        self.note("assume", number)
        self._dividing = n, d, f"?{number}"
        self.divide(n, d, kind)

    def assume_given(self, e: Extent) -> None:
        """Add ``e >= 0``, one of the claim's assumptions, without the common factor of its coefficients."""
        e = self.reduce(e)
        if isinstance(e, Poly) and (common := gcd(*(c for m, c in e.terms.items() if m))) > 1:
            rest = e.terms.get((), 0) % common
            whole = exact_quotient(e - rest, common) or 0  # common*whole + common - 1 = e + (common - 1 - rest)
            self._combine(whole, common, [[encode(e), 1], [common - 1 - rest, 1]])
            e = whole
        self.assume_nonnegative(e)

    def require_zero(self, e: Extent, kind: str, where: str = "", *, rule: str = "") -> None:
        """As `Facts.require_zero`; the equation is one of the claim's assumptions."""
        e = self.reduce(e)
        if isinstance(e, Poly):
            self._without_factor(e)
        super().require_zero(e, kind, where, rule=rule)

    def learn(self, e: Extent, where: str = "") -> None:
        """As `Intervals.learn`."""
        if isinstance(e, Poly) and e not in self.known and not self.holds_at_lows(e):
            self.show(e)
        super().learn(e, where)

    def suppose(self, e: Extent) -> None:
        """As `Facts.suppose`: the checker adds it too."""
        self.context.nonnegative.add(self.reduce(e))
        super().suppose(e)

    def excludes(self, e: Extent) -> bool:
        """As `Facts.excludes`."""
        e = self.reduce(e)
        if isinstance(e, int):  # the checker sees it too
            return e < 0
        if not super().excludes(e):
            return False
        self.note("combine", -1, 1, [[encode(e), 1], [encode(self.show(-1 - e)), 1]], [])
        return True

    def assume_factors(self, factors: Sequence[Extent], others: Sequence[Extent]) -> None:
        """As `Facts.assume_factors`."""
        factors, others = [self.reduce(e) for e in factors], [self.reduce(e) for e in others]
        unknown = [k for k, e in enumerate(factors) if not self.positive(e)]
        if unknown:
            total = self._show_product(others, 1)
            for k in unknown:
                e, rest = factors[k], self._show_product([*factors[:k], *factors[k + 1 :]], 0)
                if not self.context.holds(self.reduce(e - 1)):
                    absurd = ["combine", -1, 1, [[encode(total), 1], [encode(self.reduce(-e)), encode(rest)]], []]
                    self.note("cases", encode(self.reduce(e - 1)), encode(self.reduce(e - 1)), [], [absurd])
        super().assume_factors(factors, others)

    def _show_product(self, factors: Sequence[Extent], least: int) -> Extent:
        """Write down why a product is >= *least*, which is 0 or 1 and that of each factor; return it less *least*."""
        total: Extent = 1
        for e in factors:
            before = self.show(total - least)
            if least == 0:
                total = self.reduce(total * e)
                products = [[encode(before), encode(self.show(e))]]
            else:  # a*b - 1 = (a - 1)*(b - 1) + (a - 1) + (b - 1)
                total = self.reduce(total * e)
                a, b = encode(before), encode(self.show(e - 1))
                products = [[a, b], [a, 1], [b, 1]]
            if not self.context.holds(self.reduce(total - least)):
                self._combine(self.reduce(total - least), 1, products)
        return self.reduce(total - least)

    def assume_inside(self, coords: Sequence[Extent], extents: Sequence[Extent], place: Any) -> None:
        """As `Facts.assume_inside`; the checker evaluates the coordinate itself."""
        side, path = place
        self.context.inside = side
        self.note("inside", side, _data(path))
        super().assume_inside(coords, extents, place)

    def assume_inhabited(self, coords: Sequence[Extent], extents: Sequence[Extent], taken: Any = None) -> None:
        """As `Facts.assume_inhabited`."""
        ends = [end for c, e in zip(coords, extents, strict=True) for end in (c, e - 1 - c)]
        if taken is not None and any(self.derive(self.reduce(end)) is None for end in ends):
            side, path = taken
            self.note("inside", side, _data(path))
        for c, e in zip(coords, extents, strict=True):
            goal = self.reduce(e - 1)
            if not self.context.holds(goal):
                products = [[encode(self.show(c)), 1], [encode(self.show(e - 1 - c)), 1]]
                self._combine(goal, 1, products)
        super().assume_inhabited(coords, extents, taken)

    def vanishes(self, e: Extent) -> bool:
        """As `Facts.vanishes`."""
        if not super().vanishes(e):
            return False
        self.show_zero(e)
        return True

    def rest_on(self, e: Extent) -> None:
        """As `Facts.rest_on`."""
        self.show(e)

    def mean(self, name: str, form: str, a: Extent, b: Extent) -> Extent:
        """Return the value of a symbol of the claim, and write down that its definition determines it."""
        a, b = self.reduce(a), self.reduce(b)
        if form == "max":
            value = self.reduce(self.maximum(a, b))
            for side in (a, b):
                self.show(value - side)
        else:
            value = floor_div(self, a, b) if form == "//" else self.divide(a, b, "non_divisible")
            self.show(b - 1)
        self.note("mean", name, encode(value))
        return value

    # ------------------------------------------------------------------ equations and symbols

    def eliminate(self, name: str, value: Extent) -> None:
        """As `Intervals.eliminate`."""
        difference = self.reduce(symbol(name) - value)
        if not self.context.vanishes(difference) and name in self.context.maxima:
            other = self.reduce(self.context.maxima[name])
            if not self.context.holds(other) and not self.context.holds(symbol(name) - 1):
                self.show(other if value != 0 else -other)
            self.note("resolve", name)
        elif not self.context.vanishes(difference):
            self.show_zero(difference)
        self.note("solve", name, encode(value))
        super().eliminate(name, value)

    def _resolve(self, name: str, difference: Extent) -> None:
        if not self.context.vanishes(self.reduce(difference)):
            m, other = self.reduce(symbol(name)), self.reduce(self.context.maxima[name])
            if not self.context.holds(other) and not self.context.holds(self.reduce(m - 1)):
                self.show(-other if difference == m else other if self.nonnegative(other) else m - 1)
            self.note("resolve", name)
        if isinstance(difference, Poly):
            self._without_factor(difference)
        super()._resolve(name, difference)

    def _without_factor(self, e: Poly) -> None:
        """Write down ``e == 0`` without the common factor of its coefficients, or that it has no solution."""
        primitive, whole = self.without_factors(e)
        if whole:
            if (common := exact_quotient(e, primitive) or 1) != 1:
                self.show(common - 1)
                self.note("equation", encode(primitive), encode(common), [[1, encode(e)]])
            return
        common = gcd(*(c for m, c in e.terms.items() if m))
        rest = e.terms.get((), 0) % common
        q = exact_quotient(e - rest, common) or 0  # e = common*q + rest, so that q >= 0 and q <= -1
        self._combine(q, common, [[encode(e), 1], [common - 1 - rest, 1]])
        self._combine(-1 - q, common, [[encode(-e), 1], [rest - 1, 1]])
        self._combine(-1, 1, [[encode(q), 1], [encode(-1 - q), 1]])

    def replace_floor(self, name: str, value: Extent) -> None:
        """As `Intervals.replace_floor`: a quotient is the only integer between its bounds."""
        n, d = self.floors[name]
        form, q = self._form(name), symbol(name)
        low, high = self.show(n - d * value), self.show(d * value + d - 1 - n)
        self._write(Derivation(q - value, ((1, form.above), (1, low)), d))
        self._write(Derivation(value - q, ((1, form.below), (1, high)), d))
        self.note("equal", encode(self.reduce(q - value)))
        super().replace_floor(name, value)

    def rewrite(self, monomial: Monomial, value: Extent) -> None:
        """As `Intervals.rewrite`."""
        self.note("rewrite", list(monomial), encode(value))
        super().rewrite(monomial, value)

    def raise_low(self, name: str, least: int, fact: Poly, where: str = "") -> None:
        """As `Intervals.raise_low`."""
        self._show_end(symbol(name) - least, name, fact)
        super().raise_low(name, least, fact, where)

    def lower_high(self, name: str, most: int, fact: Poly, where: str = "") -> None:
        """As `Intervals.lower_high`."""
        self._show_end(most - symbol(name), name, fact)
        super().lower_high(name, most, fact, where)

    def _show_end(self, goal: Extent, name: str, fact: Poly) -> None:
        """Write down why a bound of *name* follows from a fact ``c*name + rest >= 0``: otherwise it is negative."""
        split = coefficient_of(fact, name)
        if self.context.holds(goal) or split is None:
            return
        size = split[0] if isinstance(goal, Poly) and goal.terms[(name,)] > 0 else -split[0]
        # beyond the bound, where -1 - goal >= 0, the fact would be at most -1
        rest = self.show(-1 - fact - size * (-1 - goal))
        products = [[encode(fact), 1], [encode(self.show(size)), encode(-1 - goal)], [encode(rest), 1]]
        self.note("cases", encode(goal), encode(goal), [], [["combine", -1, 1, products, []]])

    def check_interval(self, name: str, where: str = "") -> None:
        """As `Intervals.check_interval`: bounds that leave nothing add up to a negative constant."""
        low, high = self.low[name], self.high[name]
        if low is not None and isinstance(high, int) and high < low:
            ends = self._write_fact(symbol(name) - low), self._write_fact(high - symbol(name))
            self.note("combine", high - low, 1, [[encode(e), 1] for e in ends], [])
        super().check_interval(name, where)

    def _define(self, name: str, form: str, left: Extent, right: Extent) -> None:
        if form == "max":
            self.note("max", name, encode(right))
        else:
            self.show(right - 1)
            self.note("floor", name, encode(left), encode(right))
        super()._define(name, form, left, right)

    def _quotient(self, numerator: Extent, denominator: Extent, asked: Fraction | None = None) -> Extent:
        before = len(self.quotients)
        found = super()._quotient(numerator, denominator, asked)
        if len(self.quotients) > before:
            t = symbol(next(reversed(self.quotients)))
            self._note_quotient(t, numerator, denominator)
        return found

    def _note_quotient(self, t: Poly, numerator: Extent, denominator: Extent) -> None:
        """Write down that ``t = numerator/denominator`` is an integer, since ``u = n/d`` is one."""
        if self._dividing is None:
            raise Refused(f"({numerator})/({denominator}) is not known to be an integer")
        n, d, u = self._dividing
        common = exact_quotient(d, denominator)
        if common is None:
            raise Refused(f"({numerator})/({denominator}) does not follow from ({n})/({d})")
        wholes = (
            (f, exact_quotient(f * n - common * numerator, d)) for f in (_bezout(n, numerator, denominator, common), -1)
        )
        factor, rest = next(((f, whole) for f, whole in wholes if whole is not None), (0, None))
        if rest is None:
            raise Refused(f"({numerator})/({denominator}) does not follow from ({n})/({d})")
        (name,) = t.names
        value = symbol(u) * factor - rest
        equation = denominator * t - numerator
        self.note("define", name, encode(value))
        self.show(common - 1)
        given = [[encode(d), encode(t - value)], [encode(-factor), encode(n - d * symbol(u))]]
        self.note("equation", encode(equation), encode(common), given)
        self._solving.append((numerator, denominator, t))
        self.show(denominator - 1)
        for sign, bound in ((1, self.low[name]), (-1, self.high[name])):
            if isinstance(bound, int):  # d*(t - v) + d - 1 = (n - d*v + d - 1) + (d*t - n)
                goal = (t - bound) * sign
                rest = self.show((numerator - denominator * bound) * sign + denominator - 1)
                self._combine(goal, denominator, [[encode(rest), 1]], [[sign, encode(equation)]])

    def note_quotient(self, numerator: Extent, denominator: Extent, quotient: Extent) -> None:
        """As `System.note_quotient`: ``0 <= e - k*q <= k - 1``."""
        super().note_quotient(numerator, denominator, quotient)
        e, k, q = (self.reduce(part) for part in (numerator, denominator, quotient))
        if self.context.floors.get((e, k)) != q:
            below, above = self.reduce(e - k * q), self.reduce(k * q + k - 1 - e)
            if not (self.context.holds(below) and self.context.holds(above)):
                self._show_floor(e, k, q, below, above)
            self.note("divide", encode(e), encode(k), encode(q))

    def _show_floor(self, e: Extent, k: Extent, q: Extent, below: Extent, above: Extent) -> None:
        """Write down why ``0 <= e - k*q <= k - 1``."""
        for proofs in self._divided_twice(e, k, q):
            for proof in proofs:
                self._write(proof)
            if self.context.holds(below) and self.context.holds(above):
                return
        self.show(below)
        self.show(above)

    def _divided_twice(self, e: Extent, k: Extent, q: Extent) -> list[tuple[Derivation, Derivation]]:
        """Return how the quotient may follow from two that were shown: by the factors of *k*, or of a floor's."""
        found = []
        known = [(*pair, floor) for pair, floor in self.context.floors.items()]
        for e1, g, q1 in known:
            w, m = exact_quotient(self.reduce(e - e1), k), exact_quotient(k, g)
            if w is None or m is None or m == 1 or g == 1:
                continue
            # e1 - g*m*q2 = (e1 - g*q1) + g*(q1 - m*q2), and the other end alike
            if self.context.floors.get((q1, m)) == self.reduce(q - w):
                q2 = q - w
                ends = (e1 - g * q1, g * q1 + g - 1 - e1), (q1 - m * q2, m * q2 + m - 1 - q1)
                below = Derivation(e1 - g * m * q2, ((1, ends[0][0]), (g, ends[1][0])))
                above = Derivation(g * m * q2 + g * m - 1 - e1, ((1, ends[0][1]), (g, ends[1][1])))
                found.append((below, above))
        for name in sorted(names_of(e) & self.floors.keys()):
            n, d = self.floors[name]
            split = coefficient_of(e, name) if isinstance(e, Poly) else None
            if split is None or split[0] != 1:
                continue
            form, c = self._form(name), split[1]
            for e1, k1, q1 in known:
                w = None if k1 != self.reduce(d * k) else exact_quotient(self.reduce(n + c * d - e1), k1)
                if w is not None and self.reduce(q1 + w - q) == 0:
                    # d*(f + c - k*q) + d - 1 = (d*f + d - 1 - n) + (n + c*d - d*k*q)
                    whole = n + c * d
                    below = Derivation(e - k * q, ((1, form.above), (1, whole - k1 * q)), d)
                    above = Derivation(k * q + k - 1 - e, ((1, form.below), (1, k1 * q + k1 - 1 - whole)), d)
                    found.append((below, above))
        return found

    # ------------------------------------------------------------------ the output coordinate

    def meet(self, extents: Sequence[Extent]) -> None:
        """As `Facts.meet`; the checker adds the digits of the coordinate."""
        self.note("point")
        for axis, e in enumerate(extents):
            i = symbol(f"{DIGIT}{axis}")
            ends = [[encode(i), 1], [encode(self.context.reduce(e - 1 - i)), 1]]
            if not self.context.holds(self.reduce(e - 1)):
                self._combine(self.reduce(e - 1), 1, ends)
        super().meet(extents)
        for axis, e in enumerate(extents):
            if self.reduce(e) == 1:
                self.note("equal", encode(symbol(f"{DIGIT}{axis}")))
                self.note("solve", f"{DIGIT}{axis}", 0)


def _bezout(n: Extent, numerator: Extent, modulus: Extent, common: Extent) -> int:
    """Return *f* with ``f*n = common*numerator`` modulo ``common*modulus``, from one symbol of the numerator."""
    if not isinstance(n, Poly):
        return 1
    for monomial, coefficient in terms_of(numerator).items():
        if coefficient != 1 or len(monomial) != 1:
            continue
        split = coefficient_of(n, monomial[0])
        r = None if split is None else exact_quotient(split[0], common)
        if r in (1, -1):
            return int(r)  # type: ignore[arg-type]
        if isinstance(r, int) and isinstance(modulus, int):
            try:
                return pow(r, -1, modulus)
            except ValueError:
                continue
    return 1
