"""Systems of facts for tests: a random one beside the facts that it is made of, and small ones."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from symlayout.algebra import floor_normal_form
from symlayout.algebra.facts import Dim, Facts
from symlayout.algebra.polynomial import Extent, evaluate, symbol
from symlayout.errors import ShapeError

H, W, B = symbol("H"), symbol("W"), symbol("b")


class Undefined(Exception):
    """A division that is not exact, or not by something >= 1."""


@dataclass(frozen=True, slots=True)
class Term:
    """An extent, and a function of the dims that says by itself what it is."""

    e: Extent
    at: Callable[[dict[str, int]], int]


@dataclass(slots=True)
class Random:
    """A random system of facts beside the raw statements that it was made of."""

    rnd: random.Random
    dims: list[Dim]
    facts: Facts = field(default_factory=Facts)
    pool: list[Term] = field(default_factory=list)
    raw: list[Callable[[dict[str, int]], bool]] = field(default_factory=list)

    def term(self, depth: int = 2) -> Term:
        rnd = self.rnd
        if depth == 0 or rnd.random() < 0.3:
            number = rnd.randint(-3, 5)
            return Term(number, lambda p: number) if rnd.random() < 0.25 else rnd.choice(self.pool)
        a, b = self.term(depth - 1), self.term(depth - 1)
        kind = rnd.choice("++-*")
        if kind == "+":
            return Term(a.e + b.e, lambda p: a.at(p) + b.at(p))
        if kind == "-":
            return Term(a.e - b.e, lambda p: a.at(p) - b.at(p))
        return Term(a.e * b.e, lambda p: a.at(p) * b.at(p))

    def grow(self) -> None:
        """Add one statement, or one derived symbol; what `Facts` raises passes through."""
        rnd, facts = self.rnd, self.facts
        t = self.term()
        kind = rnd.choice(("divide", "divide", "nonnegative", "zero", "max", "min", "floor"))
        if kind == "divide":
            k = rnd.choice((2, 3, 4, 6))
            divisor = rnd.choice((Term(k, lambda p: k), self.term(1)))
            self.raw.append(lambda p: divisor.at(p) >= 1)
            facts.require_nonnegative(facts.reduce(divisor.e) - 1, "divisor")
            self.raw.append(lambda p: t.at(p) % divisor.at(p) == 0)
            quotient = facts.divide(t.e, divisor.e, "divide")
            floor_normal_form.renew(facts)
            self.pool.append(Term(facts.reduce(quotient), lambda p: exact(t.at(p), divisor.at(p))))
        elif kind == "nonnegative":
            self.raw.append(lambda p: t.at(p) >= 0)
            facts.require_nonnegative(t.e, "nonnegative")
        elif kind == "zero":
            self.raw.append(lambda p: t.at(p) == 0)
            facts.require_zero(t.e, "zero")
        elif kind == "floor":
            k = rnd.choice((2, 3, 4))
            self.pool.append(Term(floor_normal_form.floor_div(facts, t.e, k), lambda p: t.at(p) // k))
        else:
            other = self.term(1)
            largest = kind == "max"
            e = (facts.maximum if largest else facts.minimum)(t.e, other.e)
            self.pool.append(Term(e, lambda p: (max if largest else min)(t.at(p), other.at(p))))

    def points(self, most: int = 6) -> tuple[list[dict[str, int]], list[dict[str, int]]]:
        """Return the points of the box where the raw statements hold, and those where they do not."""
        found: tuple[list[dict[str, int]], list[dict[str, int]]] = [], []
        lows = [d.nearest() if d.min is None else d.min for d in self.dims]
        ranges = [range(low, (most if d.max is None else d.max) + 1) for low, d in zip(lows, self.dims, strict=True)]
        for values in itertools.product(*ranges):
            if all(v % d.multiple_of == 0 for v, d in zip(values, self.dims, strict=True)):
                point = {d.name: v for d, v in zip(self.dims, values, strict=True)}
                found[0 if self.holds(point) else 1].append(point)
        return found

    def holds(self, point: dict[str, int]) -> bool:
        try:
            return all(statement(point) for statement in self.raw)
        except Undefined:
            return False


def exact(a: int, b: int) -> int:
    if b < 1 or a % b:
        raise Undefined
    return a // b


def random_system(seed: int) -> tuple[Random, ShapeError | None]:
    """Return a system, and the error that says it has no points, if it says so."""
    rnd = random.Random(seed)
    dims = []
    for name in ("H", "W", "b")[: rnd.choice((1, 1, 2, 2, 3))]:
        low = rnd.choice((0, 0, 0, 1, 2, -2))
        dims.append(Dim(name, low, rnd.choice((None, None, low, low + 2)), rnd.choice((1, 1, 1, 2, 3))))
    system = Random(rnd, dims, pool=[Term(symbol(d.name), itemgetter(d.name)) for d in dims])
    try:
        for d in dims:
            system.facts.declare(d)
        for _ in range(rnd.randint(1, 4)):
            system.grow()
    except ShapeError as error:
        return system, error
    return system, None


def check_system(system: Random, feasible: Any, infeasible: Any, label: str) -> None:
    check_facts(system, system.facts, feasible, infeasible, label)
    if (turned := system.facts.turn()) is not None:
        check_facts(system, turned, feasible, infeasible, f"{label}, turned")


def check_facts(system: Random, facts: Facts, feasible: Any, infeasible: Any, label: str) -> None:
    for point in infeasible:
        values = facts.values(point)
        assert not all(r.holds(values) for r in facts.requirements), f"{label}: allows {point}"
    for point in feasible:
        values = facts.values(point)
        assert all(r.holds(values) for r in facts.requirements), f"{label}: forbids {point}"
        for name, low in facts.low.items():
            high = facts.high[name]
            assert low is None or values[name] >= low, f"{label}: {name} >= {low} at {point}"
            assert high is None or values[name] <= evaluate(high, values), f"{label}: {name} <= {high} at {point}"
        assert all(evaluate(fact, values) >= 0 for fact in facts.known), f"{label}: a fact fails at {point}"
        for rule in facts.rules:
            assert evaluate(rule.equation, values) == 0, f"{label}: {rule}"
        for t in system.pool:
            assert evaluate(facts.reduce(t.e), values) == t.at(point), f"{label}: {t.e} at {point}"
            top, bottom = facts.to_user(facts.reduce(t.e))
            assert evaluate(top, values) == t.at(point) * evaluate(bottom, values), f"{label}: {t.e} to the user"
    for _ in range(4):
        t = system.term(3)
        found = [t.at(point) for point in feasible]
        low, high = facts.interval(facts.reduce(t.e))
        assert all((low is None or low <= v) and (high is None or v <= high) for v in found), f"{label}: {t.e}"
        shift = system.rnd.choice((0, 1, -min(found, default=0)))
        if facts.nonnegative(t.e + shift):
            assert all(v + shift >= 0 for v in found), f"{label}: {t.e} + {shift} >= 0"


def facts_of(*dims: Dim) -> Facts:
    facts = Facts()
    for d in dims:
        facts.declare(d)
    return facts


def digit(facts: Facts, extent: Extent, name: str = "#0") -> Extent:
    return facts.add_digit(name, extent)


def base() -> Facts:
    return facts_of(Dim("H"), Dim("W"), Dim("b", 1))
