"""Proofs of ``e >= 0`` and of floor divisions, as values: the prover returns them, and certificates hold them."""

from __future__ import annotations

from typing import NamedTuple, Union

from symlayout.algebra.all_points import Points
from symlayout.algebra.polynomial import Extent


class Derivation(NamedTuple):
    """A proof of ``goal >= 0`` by one of four rules.

    - Sum: ``scale*goal + scale - 1`` is the sum of the *products*, all factors are >= 0, and ``scale >= 1``.  A factor
      is a derivation, or a polynomial that is a known fact or is evident at the lower bounds of its symbols.
    - No products: the goal itself is such a polynomial.
    - *maximum* names a ``max(0, e)``: one product holds a derivation for a maximum of 0, the other for *e*.
    - *points*: the goal is >= 0 at each of them.
    """

    goal: Extent
    products: tuple[tuple[Factor, Factor], ...] = ()
    scale: Extent = 1
    maximum: str = ""
    points: Points | None = None


Factor = Union[Extent, Derivation]  # noqa: UP007 - Derivation is not defined above


class Division(NamedTuple):
    """A proof of ``quotient = floor(e/k)``: *below* of ``e - k*q >= 0``, and *above* of ``k*q + k - 1 - e >= 0``.

    None stands for the goal itself, where it is a fact: of a symbol for a floor, these two are the definition.
    """

    quotient: Extent
    below: Factor | None = None
    above: Factor | None = None

    def ends(self, e: Extent, k: Extent) -> tuple[Factor, Factor]:
        """Return the two proofs, of ``quotient = floor(e/k)``."""
        q, below, above = self
        return e - k * q if below is None else below, k * q + k - 1 - e if above is None else above
