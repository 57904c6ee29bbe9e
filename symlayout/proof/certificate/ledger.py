"""The checker's state after the steps written so far, seen in the prover's polynomials."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from symlayout.algebra.polynomial import Extent, collapse, terms_of
from symlayout.proof.certificate.checker.blocks import take
from symlayout.proof.certificate.checker.known import Known
from symlayout.proof.certificate.checker.polynomials import Polynomial, Work


class Ledger:
    """The checker's state at one place of a proof that is being written.

    Attributes
    ----------
    known : the facts that the checker knows there.
    maxima : symbols that are ``max(0, e)``, with their *e*.
    floors : ``floor(e/k)`` for each ``(e, k)`` whose floor has been proved.
    """

    def __init__(self, known: Known) -> None:
        self.known = known
        self.maxima: dict[str, Extent] = {}
        self.floors: dict[tuple[Extent, Extent], Extent] = {}

    @classmethod
    def of(cls, claim: dict[str, Any]) -> Ledger:
        """Return the ledger at the start of a proof of *claim*."""
        return cls(Known(claim, Work(sys.maxsize)))

    def fork(self) -> Ledger:
        """Return the ledger of a branch."""
        copy = Ledger(self.known.fork())
        copy.maxima, copy.floors = dict(self.maxima), dict(self.floors)
        return copy

    def take(self, step: Sequence[Any]) -> None:
        """Check a step, given as data, and add its conclusion; `Refused` if the checker refuses the step."""
        take(self.known, step)
        known = self.known
        if step[0] == "max":
            self.maxima[step[1]] = collapse(known.maxima[step[1]].terms)
        elif step[0] == "divide":
            e, k, q = (known.read(part) for part in step[1:])
            self.floors[collapse(e.terms), collapse(k.terms)] = collapse(q.terms)
        elif step[0] in ("solve", "rewrite"):
            self.maxima = {name: collapse(e.terms) for name, e in known.maxima.items()}
            floors = ((e.terms, k.terms, q.terms) for (e, k), q in known.floors.items())
            self.floors = {(collapse(e), collapse(k)): collapse(q) for e, k, q in floors}

    def suppose(self, e: Extent) -> None:
        """Add ``e >= 0``, as the checker does in a branch."""
        self.known.nonnegative.add(self.polynomial(e))

    def holds(self, e: Extent) -> bool:
        """Return whether the checker knows ``e >= 0``."""
        return e >= 0 if isinstance(e, int) else self.known.holds(self.polynomial(e))

    def vanishes(self, e: Extent) -> bool:
        """Return whether the checker knows ``e == 0``."""
        return e == 0 if isinstance(e, int) else self.known.vanishes(self.polynomial(e))

    def reduce(self, e: Extent) -> Extent:
        """Return *e* in the symbols that the checker has not replaced."""
        return collapse(self.known.reduce(self.polynomial(e)).terms)

    def polynomial(self, e: Extent) -> Polynomial:
        """Return *e* as a polynomial of the checker."""
        return Polynomial(dict(terms_of(e)), self.known.work)
