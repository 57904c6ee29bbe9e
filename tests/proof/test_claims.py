"""The corpus of claims: brute force confirms every verdict, and the prover gives it.

What a claim's data says is in `tests.support.claim`, which knows nothing of symlayout.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

import symlayout as sl
from symlayout.commands import subject
from symlayout.language.grammar_trees import ParsedStep
from symlayout.language.parse import evaluate, names_of, parse_shape, parse_step
from tests.support import claim as corpus
from tests.support.brute import Invalid
from tests.support.claim import Claim, Item, fill_code

CLAIMS = corpus.load()
TRIES = 3000  # random sizes
ENOUGH = 40  # sizes where both sides have elements, after which a claim that holds there is taken for true

every_claim = pytest.mark.parametrize("claim", CLAIMS, ids=str)


# ---------------------------------------------------------------------- claims as tensors


def build(claim: Claim) -> tuple[sl.Tensor, sl.Tensor]:
    """Return both sides of a claim, by the command line's own reader of shapes and steps."""
    shapes = {name: parse_shape(text) for name, text in claim.inputs.items()}
    steps = [step for side in (claim.left, claim.right) for step in _steps(side, claim.inputs)]
    trees = [tree for step in steps for tree in (*step.positional, *(value for _, value in step.keywords))]
    dims = {
        name: sl.dim(name, *bounds) for name, bounds in names_of(*itertools.chain(*shapes.values()), *trees).items()
    }
    inputs = {
        name: sl.tensor(tuple(evaluate(entry, dims) for entry in shape), dtype=claim.dtype, name=name)
        for name, shape in shapes.items()
    }
    first = next(iter(inputs.values()))
    return _chain(claim.left, first, inputs, dims), _chain(claim.right, first, inputs, dims)


def _steps(items: Sequence[Item], inputs: Mapping[str, str]) -> Iterator[ParsedStep]:
    for item in items:
        if isinstance(item, str):
            yield from () if item in inputs else (parse_step(item),)
            continue
        for text, parts in item.items():
            yield parse_step(text)
            yield from () if isinstance(parts, int) else itertools.chain(*(_steps(part, inputs) for part in parts))


def _chain(items: Sequence[Item], x: sl.Tensor, inputs: Mapping[str, sl.Tensor], dims: Mapping[str, Any]) -> sl.Tensor:
    for item in items:
        if isinstance(item, str):
            x = inputs[item] if item in inputs else subject.apply(x, [parse_step(item)], dims)
            continue
        ((text, parts),) = item.items()
        if isinstance(parts, int):
            x = _call(text, x, dims)[parts]
        else:
            x = _call(text, [_chain(part, x, inputs, dims) for part in parts], dims)
    return x


def _call(text: str, x: sl.Tensor | list[sl.Tensor], dims: Mapping[str, Any]) -> Any:
    """Apply a step that takes or gives several tensors, which the command line has none of."""
    step = parse_step(text)
    function = sl.op(step.name) if ":" in step.name else getattr(sl, step.name)
    values = [evaluate(tree, dims) for tree in step.positional]
    return function(x, *values, **{key: evaluate(tree, dims) for key, tree in step.keywords})


# ---------------------------------------------------------------------- brute force


@pytest.mark.sample(77)
@every_claim
def test_brute_force_confirms_the_verdict(claim: Claim) -> None:
    compared = 0
    for numbers in itertools.islice(claim.points(), TRIES):
        found = claim.difference(numbers)
        if found is Invalid:
            continue
        if found is not None:
            assert claim.verdict == "refuted", (numbers, found)
            return
        compared += claim.run(claim.left, numbers).size > 0
        if compared == ENOUGH:
            break
    assert claim.verdict == "proved", "no sizes were found where the sides differ"
    assert compared == ENOUGH, f"only {compared} sizes were valid"


# ---------------------------------------------------------------------- the prover


@pytest.mark.sample(123)
@every_claim
def test_the_prover_gives_the_verdict(claim: Claim) -> None:
    left, right = build(claim)
    proof = sl.prove_equal(left, right)
    assert proof.verdict.value == claim.verdict, str(proof)
    if proof.witness is not None:
        check_witness(claim, proof.witness)


def check_witness(claim: Claim, witness: sl.Witness) -> None:
    """Assert that at the witness brute force finds the first difference, and the same two reads there."""
    numbers = {symbol.name: value for symbol, value in witness.dims.items()}
    found = claim.difference(numbers)
    assert isinstance(found, tuple), f"brute force finds {found} at {witness}"
    sides = [tuple(side) if witness.coord is None else coded(side, claim) for side in (witness.left, witness.right)]
    assert found == (witness.coord, *sides)


def coded(read: tuple[str, Any], claim: Claim) -> tuple[str, Any]:
    """Return a read with its fill, if it is one, as brute force numbers it."""
    return ("fill", fill_code(read[1], claim.dtype)) if read[0] == "fill" else read


# ---------------------------------------------------------------------- the corpus


def test_the_corpus_is_large_and_balanced() -> None:
    count = Counter(claim.verdict for claim in CLAIMS)
    assert count.keys() == {"proved", "refuted"}
    assert min(count.values()) >= 220
    mixed = Counter((claim.category, claim.verdict) for claim in CLAIMS)
    assert all(mixed[claim.category, verdict] >= 10 for claim in CLAIMS for verdict in count)


def test_names_are_unique() -> None:
    assert [name for name, n in Counter(claim.name for claim in CLAIMS).items() if n > 1] == []


def test_most_claims_are_about_all_sizes() -> None:
    assert sum(len(claim.declared_dims()) > 1 for claim in CLAIMS) > 0.8 * len(CLAIMS)
