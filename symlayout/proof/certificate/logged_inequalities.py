"""A system of facts that logs why its inequalities hold, as steps of a certificate.

Each step is checked when it is logged, by the same code that checks certificates.  So a step that the checker would
refuse is never written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from symlayout.algebra.all_points import Points
from symlayout.algebra.derivation import Derivation, Factor
from symlayout.algebra.facts import Facts
from symlayout.algebra.interval_proofs import linear
from symlayout.algebra.polynomial import (
    Extent,
    Poly,
    coefficient_of,
    encode,
    names_of,
    symbol,
)
from symlayout.algebra.table import Table
from symlayout.proof.certificate.checker import Refused
from symlayout.proof.certificate.ledger import Ledger


class Solving(NamedTuple):
    """A quotient that is an integer: ``common*(d*t - n)`` is the sum of multiples of what is 0 that *given* lists."""

    numerator: Extent
    denominator: Extent
    quotient: Poly
    common: Extent
    given: tuple[tuple[Extent, Extent], ...]


class Notes(Facts):
    """A system of facts that logs its derivations.

    Attributes
    ----------
    context : the checker's state after the steps so far.
    steps : the steps since the last fork.
    """

    __slots__ = ("_dividing", "_divisions", "_ends", "_solving", "_writing", "context", "steps")

    is_written = True

    context: Ledger
    steps: list[list[Any]]
    _dividing: tuple[tuple[Extent, Extent, str], ...]  # (n, d, u): the claim assumes n = d*u
    _divisions: dict[tuple[Extent, Extent], Extent]
    _ends: dict[str, list[Derivation]]  # why floors and maxima are within the bounds that they began with
    _solving: list[Solving]
    _writing: set[Extent]

    def begin(self, claim: dict[str, Any]) -> None:
        """Start a certificate of *claim*."""
        self.context = Ledger.of(claim)
        self.steps, self._dividing, self._divisions, self._solving, self._writing = [], (), {}, [], set()
        self._ends = {}

    def fork(self) -> Self:
        """Return an independent copy; its steps come after the steps so far."""
        copy = super().fork()
        copy.context, copy.steps, copy._dividing = self.context.fork(), [], self._dividing
        copy._divisions, copy._solving, copy._writing = dict(self._divisions), list(self._solving), set()
        copy._ends = dict(self._ends)
        return copy

    def note(self, rule: str, *parts: Any) -> None:
        """Check a step, given as data, and log it."""
        step = [rule, *parts]
        self.context.take(step)
        self.steps.append(step)

    # ------------------------------------------------------------------ writing derivations

    def show(self, e: Extent) -> Extent:
        """Log the proof of ``e >= 0``, and return *e* reduced."""
        e = self.reduce(e)
        if not self.context.holds(e):
            proof = self.reason(e)
            if proof is None:
                raise Refused(f"{e} >= 0 has no derivation")
            self._write(proof)
        return e

    def show_zero(self, e: Extent) -> None:
        """Log the proof of ``e == 0``."""
        e = self.reduce(e)
        if not self.context.vanishes(e):
            self.show(e)
            self.show(-e)
            self.note("equal", encode(e))

    def _write(self, proof: Factor) -> Extent:
        """Log a derivation and return its goal, reduced."""
        if not isinstance(proof, Derivation):
            return self._write_fact(self.reduce(proof))
        goal = self.reduce(proof.goal)
        if self.context.holds(goal):
            return goal
        if proof.maximum:
            self._write_cases(goal, proof)
        elif proof.points is not None:
            self._write_points(goal, proof.points)
        elif not proof.products:
            self._write_lows(goal)
        else:
            products = [[encode(self._write(a)), encode(self._write(b))] for a, b in proof.products]
            self._combine(goal, proof.scale, products)
        return goal

    def _write_points(self, goal: Extent, points: Points) -> None:
        """Log that ``goal >= 0`` at all points."""
        inside = {name for name, *_ in (*points.digits, *points.functions)}
        for name, low, high in points.digits:
            self._write_fact(self.reduce(symbol(name) - low))
            self._write_fact(self.reduce(high - symbol(name)))
        for name in sorted(names_of(goal) - inside):
            self._write_fact(symbol(name))
        functions = [[n, encode(e), list(f.values) if isinstance(f, Table) else f] for n, e, f in points.functions]
        digits, facts = [list(d) for d in points.digits], [encode(f) for f in points.facts]
        self.note("points", encode(goal), digits, functions, facts)

    def _combine(self, goal: Extent, scale: Extent, products: list[Any], equations: Sequence[Any] = ()) -> None:
        scale = self.reduce(scale)
        self.show(scale - 1)
        self.note("combine", encode(goal), encode(scale), products, list(equations))

    def _write_fact(self, e: Extent) -> Extent:
        """Log why ``e >= 0``, for a known fact or a polynomial that is evident at the lower bounds."""
        if self.context.holds(e):
            return e
        bound = self._bound(e)
        if bound is not None and e not in self._writing:
            self._writing.add(e)
            self._write(bound)
            self._writing.discard(e)
        elif self.holds_at_lows(e) and not self._is_low(e):
            self._write_lows(e)
        else:
            raise Refused(f"{e} >= 0 has no derivation")
        return e

    def _is_low(self, e: Extent) -> bool:
        """Return whether *e* says that a symbol is >= its lower bound: the rule `lows` cannot prove such a bound."""
        return any(e == symbol(name) - (self.low[name] or 0) for name in names_of(e))

    def _write_lows(self, e: Extent) -> None:
        lows = [(name, self.low[name]) for name in sorted(names_of(e))]
        for name, low in lows:
            if low is not None:
                self._write_fact(self.reduce(symbol(name) - low))
        if not self.context.holds(e):
            self.note("lows", encode(e), [list(pair) for pair in lows])

    def _bound(self, e: Extent) -> Derivation | None:
        """Return a proof of ``e >= 0`` where *e* says that a floor or a maximum meets its lower or upper bound."""
        ends = (end for name in sorted(names_of(e)) for end in self._ends.get(name, ()))
        return next((end for end in ends if self.reduce(end.goal) == e), None)

    def take_floor(self, name: str, numerator: Extent, denominator: Extent) -> None:
        """Add a floor, as `Derived.take_floor` does, with the proofs of its bounds."""
        super().take_floor(name, numerator, denominator)
        n, d, q, form = numerator, denominator, symbol(name), self._form(name)
        self._ends[name] = []
        if (low := self.low[name]) is not None:
            rest = linear(self, [(1, n), (-low, d)], 0, d) or self.derive(n - d * low)
            self._ends[name] += [] if rest is None else [Derivation(q - low, ((1, form.above), (1, rest)), d)]
        if (high := self.high[name]) is not None:
            rest = linear(self, [(-1, n), (high + 1, d)], -1, d) if isinstance(high, int) else None
            rest = rest or self.derive(d * high + d - 1 - n)
            self._ends[name] += [] if rest is None else [Derivation(high - q, ((1, form.below), (1, rest)), d)]

    def take_maximum(self, name: str, e: Extent) -> None:
        """Add a maximum, as `Derived.take_maximum` does, with the proof of its upper bound."""
        super().take_maximum(name, e)
        high = self.high[name]
        rest = linear(self, [(-1, e)], high) if isinstance(high, int) else None
        if rest is not None and high is not None:
            self._ends[name] = [Derivation(high - symbol(name), ((1, Derivation(high)), (1, rest)), maximum=name)]

    def _write_cases(self, goal: Extent, proof: Derivation) -> None:
        """Log that *goal* holds both where a maximum is 0 and where it is its other value."""
        name, value = proof.maximum, self.reduce(self.context.maxima[proof.maximum])
        zero, other = (self._write(part) for _, part in proof.products)
        split = coefficient_of(goal, name) if isinstance(goal, Poly) else None
        if split is None:
            raise Refused(f"{goal} is not linear in {name}")
        m, factor = symbol(name), encode(split[0])
        yes: list[list[Any]] = [
            ["resolve", name],
            ["combine", encode(goal), 1, [[1, encode(other)]], [[factor, encode(self.reduce(m - value))]]],
        ]
        if self.context.holds(value) or self.context.holds(self.reduce(m - 1)):
            for step in yes:
                self.note(*step)
            return
        no = [
            ["combine", encode(self.reduce(-value)), 1, [[1, encode(self.reduce(-1 - value))], [1, 1]], []],
            ["resolve", name],
            ["combine", encode(goal), 1, [[1, encode(zero)]], [[factor, encode(m)]]],
        ]
        self.note("cases", encode(goal), encode(value), yes, no)

    def reason(self, e: Extent) -> Derivation | None:
        """Return a proof of ``e >= 0`` as `derive` does, and from logged facts as well."""
        if self.context.holds(e):
            return Derivation(e)
        return self.derive(e) or self._by_quotients(e) or self._by_floors(e)

    def _by_quotients(self, e: Extent) -> Derivation | None:
        """Return a proof of ``n - d >= 0`` for a quotient or a floor ``t = n/d >= 1``."""
        for name, (n, d) in self.floors.items():
            if self.reduce(n - d - e) == 0 and (positive := self.derive(symbol(name) - 1)) is not None:
                return Derivation(e, ((1, self._form(name).below), (d, positive)))
        for n, d, t, *_ in self._solving:
            if self.reduce(n - d - e) == 0 and (positive := self.derive(t - 1)) is not None:
                self._combine(e, 1, [[encode(self.show(d)), encode(self._write(positive))]], [[-1, encode(d * t - n)]])
                return Derivation(e)
            split = coefficient_of(e, *t.names) if isinstance(e, Poly) else None
            if split is not None and self.reduce(split[1] + n) == 0 and (rest := self.derive(split[0] - d)) is not None:
                # c*t - n = t*(c - d) + (d*t - n)
                self._combine(e, 1, [[encode(self.show(t)), encode(self._write(rest))]], [[1, encode(d * t - n)]])
                return Derivation(e)
        return None

    def _by_floors(self, e: Extent) -> Derivation | None:
        """Return a proof of ``e >= 0`` where *e* is ``q + r`` or ``r - q`` for a logged floor *q*."""
        for (n, k), q in self.context.floors.items():
            if isinstance(q, int) or isinstance(e, int) or not q.names <= e.names:
                continue
            for sign, end in ((1, k * q + k - 1 - n), (-1, n - k * q)):
                r = e - q * sign
                if not names_of(r).isdisjoint(q.names):
                    continue
                rest = self.derive(n * sign + k * r if sign > 0 else k * r + k - 1 - n)
                if rest is not None:
                    return Derivation(e, ((1, end), (1, rest)), k)
        return None
