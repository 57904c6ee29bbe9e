"""Claims with numbers in the place of dims; ``python -m tests.support.bound_claims`` takes all sets of dims.

A claim that is proved for all sizes is proved for any of them, and a claim that differs at a witness differs there.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import symlayout as sl
from tests.proof.test_claims import build
from tests.support import claim as corpus
from tests.support.brute import Dim
from tests.support.claim import Claim

VALUES = (1, 2, 2, 3, 4, 5, 6, 6, 7, 8, 9, 10, 12, 12, 16, 20, 24)
TRIES = 400  # of values for one set of dims
SLACK, FACTOR = 100, 4  # a claim with numbers may take this many goals, and this many times those with symbols


@dataclass(frozen=True, slots=True)
class Bound:
    """Both sides of a claim with the dims of `values` bound."""

    claim: Claim
    values: dict[str, int]
    left: sl.Tensor
    right: sl.Tensor


def subsets(dims: Sequence[Dim], rnd: random.Random) -> Iterator[list[Dim]]:
    """Yield all sets of dims but the empty one, in random order."""
    found = list(chain.from_iterable(combinations(dims, k) for k in range(1, len(dims) + 1)))
    yield from map(list, rnd.sample(found, len(found)))


def bind(claim: Claim, sides: tuple[sl.Tensor, sl.Tensor], dims: Sequence[Dim], rnd: random.Random) -> Bound | None:
    """Return the claim with numbers for *dims* at which both sides have a meaning; None if none are found."""
    for _ in range(TRIES):
        values = {d.name: min(max(d.min, rnd.choice(VALUES)), d.max or max(VALUES)) for d in dims}
        try:
            left, right = (t.bind({k: v for k, v in values.items() if k in t.facts.dims}) for t in sides)
            sl.prove_equal(left, right, budget=0)
        except sl.SymlayoutError:
            continue
        return Bound(claim, values, left, right)
    return None


def faults(claim: Claim, rnd: random.Random, most: int) -> Iterator[tuple[str, bool]]:
    """Yield a line for each of up to *most* sets of dims of a claim, and whether it says what is wrong."""
    sides = build(claim)
    proof = sl.prove_equal(*sides)
    allowed = SLACK + FACTOR * proof._facts.effort
    tried = 0
    for dims in subsets(claim.declared_dims(), rnd):
        if tried == most:
            return
        if claim.verdict == "refuted":
            at = {symbol.name: n for symbol, n in proof.witness.dims.items()} if proof.witness else {}
            values = {d.name: at[d.name] for d in dims if d.name in at}
            left, right = (t.bind({k: v for k, v in values.items() if k in t.facts.dims}) for t in sides)
            bound: Bound | None = Bound(claim, values, left, right)
        else:
            bound = bind(claim, sides, dims, rnd)
        if bound is None:
            continue
        tried += 1
        found = sl.prove_equal(bound.left, bound.right)
        if found.verdict.value != claim.verdict:
            yield f"{claim} at {bound.values}: {found}", True
        elif claim.verdict == "proved" and found._facts.effort > allowed:
            yield f"{claim} at {bound.values}: {found._facts.effort} goals, {proof._facts.effort} with symbols", True
        else:
            yield f"{claim} at {bound.values}", False


def main() -> int:
    """Judge claims of the corpus with numbers, and return whether one is at fault."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.support.bound_claims")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=1 << 20, help="sets of dims of each claim (all)")
    parser.add_argument("--only", default="", help="claims whose name has this text")
    given = parser.parse_args()
    rnd, count, wrong = random.Random(given.seed), 0, 0
    for claim in corpus.load():
        if given.only in str(claim):
            for line, is_fault in faults(claim, rnd, given.most):
                count, wrong = count + 1, wrong + is_fault
                if is_fault:
                    print(line, flush=True)
    print(f"{count} claims with numbers for dims, {wrong} at fault")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
