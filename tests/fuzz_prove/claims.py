"""Random claims, in families: chains on one input that are equal, nearly equal or unrelated."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.fuzz_prove.steps import Draft, lengthened, random_chain, random_leaf
from tests.fuzz_prove.variants import mutated, rewritten
from tests.support import brute
from tests.support.brute import Chain

LONGEST = 8
SHORTEST, SMALL_RANK, MANY = 2, 2, 24  # of a family of short chains: steps and rank of the first, number of chains
DIMS = (
    brute.Dim("N"), brute.Dim("H"), brute.Dim("W"), brute.Dim("C"),
    brute.Dim("b", 1), brute.Dim("c", 1), brute.Dim("p"), brute.Dim("q"),
)  # fmt: skip


@dataclass(slots=True)
class Claim:
    """Two chains on one input, and how the second was made."""

    left: Chain
    right: Chain
    kind: str
    dims: list[brute.Dim] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.kind}: {self.dims}\n  {self.left}\n  {self.right}"


@dataclass(slots=True)
class Family:
    """Chains on one input, each with the number of what it means: chains of one number are equal by construction."""

    chains: list[Chain]
    meanings: list[int]
    dims: list[brute.Dim]

    def pairs(self) -> Iterator[tuple[int, int, str]]:
        """Yield the pairs of chains to compare, which are not written alike, and the kind of each."""
        for i, k in itertools.combinations(range(len(self.chains)), 2):
            a, b = self.meanings[i], self.meanings[k]
            if self.chains[i] == self.chains[k]:
                continue
            if a == b:
                yield i, k, "rewritten"
            elif UNRELATED not in (a, b):
                yield i, k, "mutated"
            elif i == 0:
                yield i, k, "independent"


UNRELATED = 2  # other chains of a number of their own have greater ones


def random_family(rnd: random.Random) -> Family:
    """Return a chain, two equal ones, a mutation with an equal one, and one of its own on the same input."""
    base = random_chain(rnd, rnd.choice((3, 4, 5, 6, 6, LONGEST))).chain
    changed = mutated(rnd, base)
    fresh = Draft(Chain(base.shape), list(base.shape))
    other = lengthened(rnd, fresh, rnd.randint(0, 4)).chain
    chains = [base, changed_form(rnd, base), changed_form(rnd, base), changed, changed_form(rnd, changed), other]
    return Family(chains, [0, 0, 0, 1, 1, UNRELATED], random_dims(rnd, *chains))


def short_family(rnd: random.Random) -> Family:
    """Return many chains of few steps on one small input: its pairs take milliseconds each."""
    leaf = random_leaf(rnd)
    while len(leaf.shape) > SMALL_RANK:
        leaf = random_leaf(rnd)
    base = lengthened(rnd, leaf, rnd.randint(0, SHORTEST)).chain
    chains, meanings = [base], [0]
    for number in range(1, MANY):
        source = rnd.randrange(min(number, 3))
        kind = rnd.random()
        if kind < 0.7:
            made, meaning = changed_form(rnd, chains[source], most=1), meanings[source]
        elif kind < 0.9:
            made, meaning = mutated(rnd, chains[source]), UNRELATED + number
        else:
            made, meaning = lengthened(rnd, leaf, rnd.randint(0, SHORTEST)).chain, UNRELATED + number
        chains.append(made)
        meanings.append(meaning)
    return Family(chains, meanings, random_dims(rnd, *chains))


def changed_form(rnd: random.Random, chain: Chain, most: int = 3) -> Chain:
    """Return a chain of at most 8 steps that is equal to *chain*, rewritten once to *most* times if it can be."""
    wanted = rnd.randint(1, most)
    for _ in range(12):
        longer = rewritten(rnd, chain)
        if longer != chain and len(longer.steps) <= LONGEST:
            chain, wanted = longer, wanted - 1
        if not wanted:
            break
    return chain


def random_claim(rnd: random.Random) -> Claim:
    """Return one claim of a random family."""
    family = random_family(rnd)
    i, k, kind = rnd.choice(list(family.pairs()))
    left, right = rnd.sample((family.chains[i], family.chains[k]), 2)
    names = {*left.names(), *right.names()}
    return Claim(left, right, kind, [d for d in family.dims if d.name in names])


def random_dims(rnd: random.Random, *chains: Chain) -> list[brute.Dim]:
    """Return the dims of chains in order of use, some of them with bounds."""
    names = dict.fromkeys(name for chain in chains for name in chain.names())
    found = []
    for d in (d for name in names for d in DIMS if d.name == name):
        change = rnd.random()
        if change < 0.1:
            d = brute.Dim(d.name, 1)
        elif change < 0.2:
            d = brute.Dim(d.name, d.min, d.min + 2)
        elif change < 0.25:
            d = brute.Dim(d.name, d.min, None, 2)
        found.append(d)
    return found
