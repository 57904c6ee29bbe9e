"""Systems that write down what they prove, of dims and facts that a test gives and no claim."""

from __future__ import annotations

from symlayout.algebra.fact_store import Dim
from symlayout.algebra.polynomial import Extent, Poly, symbol
from symlayout.proof.certificate.logged_facts import Recorder


class Told(Recorder):
    """A recorder whose checker is told each fact, and each digit."""

    __slots__ = ()

    def declare(self, dim: Dim) -> None:
        """Add a dim to the claim, too."""
        if not hasattr(self, "context"):
            self.begin({"dims": [], "assumptions": []})
        self.context.known.claim["dims"].append([dim.name, dim.min, dim.max, dim.multiple_of])
        super().declare(dim)

    def divide(self, numerator: Extent, denominator: Extent, kind: str, where: str = "") -> Extent:
        """Return the quotient; the checker takes it that the denominator divides."""
        n, d = self.reduce(numerator), self.reduce(denominator)
        name = f"?{len(self.context.known.symbols)}"
        self.context.known.introduce(name)
        self.context.known.zero.add(self.context.polynomial(self.context.reduce(n - d * symbol(name))))
        self._dividing += ((n, d, name),)
        return super().divide(n, d, kind, where)

    def assume_nonnegative(self, e: Extent, where: str = "") -> None:
        """Add ``e >= 0``; the checker takes it as it is."""
        self.context.suppose(self.reduce(e))
        super().assume_nonnegative(e, where)

    def add_digit(self, name: str, extent: Extent) -> Poly:
        """Add a digit, as one of the output's coordinate."""
        self.context.known.introduce(name)
        for end in (symbol(name), extent - 1 - symbol(name)):
            self.context.suppose(self.reduce(end))
        return super().add_digit(name, extent)
