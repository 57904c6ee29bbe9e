"""The facts known at one place of a proof: polynomials that are >= 0 or == 0 at all points that the place is about."""

from __future__ import annotations

from typing import Any

from symlayout.proof.certificate.checker.polynomials import Monomial, Polynomial, Refused, Work, constant, decode

_REWRITES = 200  # most rewrites of monomials in one reduction


class Known:
    """The facts known at one place of a proof.

    Attributes
    ----------
    claim : the claim as data; `schema` has checked its form.
    place : the number of the operation whose cases the proof is about; None if it is about both sides.
    nonnegative, zero : polynomials known to be >= 0 and == 0.
    symbols : the names that polynomials may mention.
    solved, rewrites : the values of solved symbols, and the replacements of monomials.
    maxima : symbols that are ``max(0, e)``, with their *e*.
    floors : ``floor(e/k)`` for each ``(e, k)`` whose floor has been proved.
    entries : the symbol for the entry of each table, as a tuple, at each place that a step has named.
    meaning : the value of each name of the claim.
    point : an arbitrary coordinate of the output, or of the operation at *place*; None until a step introduces it.
    inside : the side that is assumed to read no fill.
    sides : the two nodes that the proof is about; None if these are the sides of the claim.
    equal : pairs of nodes that are proved to be equal at every coordinate.
    """

    def __init__(self, claim: dict[str, Any], work: Work) -> None:
        self.claim, self.work = claim, work
        self.place: int | None = None
        self.nonnegative: set[Polynomial] = set()
        self.zero: set[Polynomial] = set()
        self.symbols: set[str] = set()
        self.solved: dict[str, Polynomial] = {}
        self.rewrites: list[tuple[int, Monomial, Polynomial]] = []
        self.maxima: dict[str, Polynomial] = {}
        self.floors: dict[tuple[Polynomial, Polynomial], Polynomial] = {}
        self.entries: dict[tuple[tuple[int, ...], Polynomial], Polynomial] = {}
        self.meaning: dict[str, Polynomial] = {}
        self.point: list[Polynomial] | None = None
        self.inside: str | None = None
        self.sides: tuple[int, int] | None = None
        self.equal: list[tuple[int, int]] = []
        self._claimed: dict[int, Polynomial] = {}  # parts of the claim that were read, by their ids

    def fork(self) -> Known:
        """Return an independent copy."""
        self.work.spend(len(self.nonnegative) + len(self.zero) + len(self.symbols) + len(self.floors))
        copy = type(self)(self.claim, self.work)
        copy.nonnegative, copy.zero, copy.symbols = set(self.nonnegative), set(self.zero), set(self.symbols)
        copy.solved, copy.rewrites, copy.maxima = dict(self.solved), list(self.rewrites), dict(self.maxima)
        copy.floors, copy.entries, copy.meaning = dict(self.floors), dict(self.entries), dict(self.meaning)
        copy.place, copy.point, copy.inside = self.place, self.point, self.inside
        copy.sides, copy.equal = self.sides, list(self.equal)
        copy._claimed = dict(self._claimed)
        return copy

    # ------------------------------------------------------------------ polynomials

    def number(self, value: int) -> Polynomial:
        """Return an integer as a polynomial."""
        return constant(value, self.work)

    def symbol(self, name: str) -> Polynomial:
        """Return the polynomial that is the symbol *name*."""
        return Polynomial({(name,): 1}, self.work)

    def introduce(self, name: str) -> Polynomial:
        """Return a new symbol."""
        if name in self.symbols:
            raise Refused(f"the symbol {name} is not new")
        self.symbols.add(name)
        return self.symbol(name)

    def reduce(self, e: Polynomial) -> Polynomial:
        """Return *e* with solved symbols and rewritten monomials replaced by their values.

        A sum of reduced polynomials is reduced, but for multiples of monomials that are replaced.
        """
        e = e.substitute(self.solved)
        for _ in range(_REWRITES if self.rewrites else 0):
            before = e
            for times, monomial, value in self.rewrites:
                e = e.replace(monomial, value, times)
            if e is before:
                break
        return e

    def read(self, data: Any) -> Polynomial:
        """Return a polynomial of the proof, reduced."""
        e = decode(data, self.work)
        if not e.names:
            return e
        if not e.names <= self.symbols:
            raise Refused(f"{e} has symbols that nothing introduced")
        return self.reduce(e)

    def claimed(self, data: Any) -> Polynomial:
        """Return a polynomial of the claim in the symbols of the proof, reduced; *data* is a part of the claim."""
        found = self._claimed.get(id(data))
        if found is None:
            e = decode(data, self.work)
            if not e.names <= self.meaning.keys():
                raise Refused(f"{e} has names without a meaning")
            found = self._claimed[id(data)] = self.reduce(e.substitute(self.meaning))
        self.work.spend(1)
        return found

    def mean(self, name: str, value: Polynomial) -> None:
        """Give a name of the claim its value."""
        self.meaning[name] = value
        self._claimed = {}

    # ------------------------------------------------------------------ what is known

    def holds(self, e: Polynomial) -> bool:
        """Return whether ``e >= 0`` is known."""
        if (value := e.constant) is not None:
            return value >= 0
        return e in self.nonnegative or self.vanishes(e)

    def vanishes(self, e: Polynomial) -> bool:
        """Return whether ``e == 0`` is known."""
        if (value := e.constant) is not None:
            return value == 0
        return e in self.zero or -e in self.zero

    def need(self, e: Polynomial) -> None:
        """Refuse the certificate unless ``e >= 0`` is known."""
        if not self.holds(e):
            raise Refused(f"{e} >= 0 is not shown")

    def need_zero(self, e: Polynomial) -> None:
        """Refuse the certificate unless ``e == 0`` is known."""
        if not self.vanishes(e):
            raise Refused(f"{e} == 0 is not shown")

    def need_inside(self, value: Polynomial, extent: Polynomial) -> None:
        """Refuse the certificate unless ``0 <= value < extent`` is known."""
        self.need(value)
        self.need(extent - 1 - value)

    def need_floor(self, e: Polynomial, k: Polynomial, q: Polynomial) -> None:
        """Refuse the certificate unless ``q = floor(e/k)`` and ``k >= 1`` are known."""
        self.need(self.reduce(e - k * q))
        self.need(self.reduce(k * q + k - 1 - e))  # both together imply k >= 1

    def is_absurd(self) -> bool:
        """Return whether a false statement about a constant is known: then no point satisfies all known facts."""
        self.work.spend(len(self.nonnegative) + len(self.zero))
        below = any(value is not None and value < 0 for value in (e.constant for e in self.nonnegative))
        return below or any(e.constant for e in self.zero)

    # ------------------------------------------------------------------ equations in use

    def solve(self, name: str, value: Polynomial) -> None:
        """Replace a symbol by *value* everywhere; *value* mentions no solved symbol."""
        self.solved = {k: e.substitute({name: value}) for k, e in self.solved.items()} | {name: value}
        self.zero |= {Polynomial({m: k}, self.work) - e for k, m, e in self.rewrites if name in m}
        self.rewrites = [(k, m, self.reduce(e)) for k, m, e in self.rewrites if name not in m]
        self._renew(None if self.rewrites else name)

    def rewrite(self, times: int, monomial: Monomial, value: Polynomial) -> None:
        """Replace *times* a monomial by *value* everywhere."""
        self.rewrites.append((times, monomial, value))
        self._renew()

    def _renew(self, name: str | None = None) -> None:
        """Reduce all known facts; with *name*, only those that mention it."""

        def renewed(e: Polynomial) -> Polynomial:
            return self.reduce(e) if name is None or name in e.names else e

        self.nonnegative = {renewed(e) for e in self.nonnegative}
        self.zero = {renewed(e) for e in self.zero}
        self.maxima = {m: renewed(e) for m, e in self.maxima.items()}
        self.floors = {(renewed(e), renewed(k)): renewed(q) for (e, k), q in self.floors.items()}
        self.entries = {(table, renewed(at)): renewed(q) for (table, at), q in self.entries.items()}
        self.meaning = {n: renewed(e) for n, e in self.meaning.items()}
        self._claimed = {key: renewed(e) for key, e in self._claimed.items()}
