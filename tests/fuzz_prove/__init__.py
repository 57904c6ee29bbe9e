"""Random claims that two chains are equal, each verdict checked by enumeration: ``python -m tests.fuzz_prove``.

A chain has up to 8 steps of any core operations, with symbolic extents, blocks, pads, shifts and bounds.  A
family is a chain and others on the same input: equal rewritings of it, a small mutation, a chain of its own.
Pairs of them are claims.  PROVED must agree at every point that is enumerated; the witness of REFUTED must
differ as it says and be the smallest; requirements must hold exactly where the chain has a meaning.
"""

from tests.fuzz_prove.claims import Claim, Family, random_claim, random_dims, random_family
from tests.fuzz_prove.judge import Judge, WrongError, build, check, check_requirements, most
from tests.fuzz_prove.steps import random_chain

__all__ = [
    "Claim", "Family", "Judge", "WrongError", "build", "check", "check_requirements", "most", "random_chain",
    "random_claim", "random_dims", "random_family",
]  # fmt: skip
