"""Why a derivation shows its goal, by arithmetic at points."""

from __future__ import annotations

from collections.abc import Sequence

from symlayout.algebra.derivation import Derivation, Factor
from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, evaluate


def identities(facts: Facts, proof: Factor, points: Sequence[dict[str, int]]) -> int:
    """Check that a derivation, and each that it is made of, is an identity of what is >= 0; return how many there are.

    Where a maximum is told apart, each of the two cases is about points of its own, and is not looked into.
    """
    if not isinstance(proof, Derivation):
        assert all(evaluate(proof, p) >= 0 for p in points)
        return 0
    if proof.maximum:
        return 1
    for p in points if proof.products else []:
        scale = evaluate(proof.scale, p)
        assert scale >= 1
        products = sum(evaluate(_goal(a), p) * evaluate(_goal(b), p) for a, b in proof.products)
        assert scale * evaluate(facts.reduce(proof.goal), p) + scale - 1 == products
    return 1 + sum(identities(facts, factor, points) for product in proof.products for factor in product)


def _goal(factor: Factor) -> Extent:
    return factor.goal if isinstance(factor, Derivation) else factor
