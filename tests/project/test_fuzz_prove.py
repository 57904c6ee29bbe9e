"""The fuzz itself is right: brute force by NumPy, the rewritings, and that a wrong verdict is found."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from tests.fuzz_prove import Claim, Family, Judge, build, random_family
from tests.fuzz_prove.claims import DIMS, LONGEST, MANY, short_family
from tests.fuzz_prove.shrink import smallest, typed
from tests.fuzz_prove.steps import PROPOSALS
from tests.fuzz_prove.tally import Tally, operations
from tests.fuzz_prove.truth import Truth, by_sum, same
from tests.support import brute, oracle
from tests.support.brute import Chain, Step

FAMILIES = {seed: random_family(random.Random(seed)) for seed in range(120)}


# ---------------------------------------------------------------------- the judge


@pytest.mark.slow
def test_brute_force_by_numpy_is_brute_force_by_elements() -> None:
    compared: Counter[str] = Counter()
    for seed, family in FAMILIES.items():
        for chain in family.chains[:4]:
            for found, point in values(chain, family, seed):
                numbers = brute.leaf(chain.shape, point)
                if numbers.size > 60 or found.size > 300:
                    continue
                expected = by_elements(oracle.grid(numbers), chain.steps, point)
                assert (found.shape, found.tobytes()) == (expected.shape, expected.data()), (chain, point)
                compared.update(set(operations(chain)))
    assert min(compared.values()) > 10
    assert len(compared) >= len(PROPOSALS) + 4  # pads are of five modes


def values(chain: Chain, family: Family, seed: int) -> Iterator[tuple[brute.Grid, dict[str, int]]]:
    """Yield what a chain is at some points, and the points."""
    truth = Truth([chain], family.dims)
    for point in truth.sample(random.Random(seed))[::7]:
        if (found := truth.at(point)[0]) is not None:
            yield found, dict(zip(truth.names, point, strict=True))


def by_elements(x: oracle.Grid, steps: Sequence[Step], point: dict[str, int]) -> oracle.Grid:
    """Return what a chain makes of *x*, element by element."""
    for name, attributes in steps:
        given = {k: v if k in brute.PLAIN else brute.value(v, point) for k, v in attributes.items()}
        if name == "slice":
            stop = None if given["stop"] < 0 else given["stop"]
            key = [slice(None)] * given["axis"] + [slice(given["start"], stop, given["step"])]
            x = oracle.run(x, [("getitem", {"key": key})])
        elif "branches" in given:
            x = joined(name, [by_elements(x, branch, point) for branch in given["branches"]], given["axis"])
        elif name == "moveaxis":
            x = oracle.run(x, [(name, {k: [axis] for k, axis in given.items()})])
        else:
            x = oracle.run(x, [(name, given)])
    return x


def joined(name: str, parts: list[oracle.Grid], axis: int) -> oracle.Grid:
    """Return grids one after the other, on a new axis if they are stacked."""
    cells: dict[tuple[int, ...], bytes] = {}
    start = 0
    for part in parts:
        for c, cell in part.cells.items():
            at = c[axis] + start if name == "concatenate" else start
            cells[(*c[:axis], at, *c[axis + (name == "concatenate") :])] = cell
        start += part.shape[axis] if name == "concatenate" else 1
    shape = parts[0].shape
    return parts[0].with_cells((*shape[:axis], start, *shape[axis + (name == "concatenate") :]), cells)


def test_points_are_in_order_of_their_sum_and_complete() -> None:
    dims = [brute.Dim("a"), brute.Dim("b", 1, 3), brute.Dim("c", 0, None, 2)]
    found = list(by_sum(dims, until=6))
    everything = itertools.product(*(d.values(6) for d in dims))
    assert found == sorted((p for p in everything if sum(p) <= 6), key=lambda p: (sum(p), p))
    assert list(by_sum(dims[1:2])) == [(1,), (2,), (3,)]


# ---------------------------------------------------------------------- the claims


@pytest.mark.slow
def test_rewritten_chains_read_the_same() -> None:
    compared = 0
    for seed, family in FAMILIES.items():
        truth = Truth(family.chains, family.dims)
        pairs = [
            (i, k) for i, k, kind in family.pairs() if kind == "rewritten" and family.chains[i] != family.chains[k]
        ]
        for point in truth.sample(random.Random(seed)):
            grids = truth.at(point)
            for i, k in pairs:
                a, b = grids[i], grids[k]
                if a is not None and b is not None:
                    assert same(a, b), (family.chains[i], family.chains[k], point)
                    compared += 1
    assert compared > 5000


@pytest.mark.slow
def test_chains_have_up_to_8_steps_of_every_operation_and_dims_of_0_and_1() -> None:
    chains = [chain for family in FAMILIES.values() for chain in family.chains]
    assert max(len(chain.steps) for chain in chains) == 8
    assert {d.name for family in FAMILIES.values() for d in family.dims} == {d.name for d in DIMS}
    for seed, family in FAMILIES.items():
        points = Truth(family.chains, family.dims).sample(random.Random(seed))
        for k, d in enumerate(family.dims):
            assert {p[k] for p in points} >= set(d.values(1))


@pytest.mark.slow
def test_short_families_have_many_pairs_that_are_equal_as_they_say() -> None:
    compared = 0
    for seed in range(6):
        family = short_family(random.Random(seed))
        assert len(family.chains) == MANY
        assert max(len(chain.steps) for chain in family.chains) <= LONGEST
        truth = Truth(family.chains, family.dims)
        for point in truth.sample(random.Random(seed))[:20]:
            grids = truth.at(point)
            for i, k, kind in family.pairs():
                a, b = grids[i], grids[k]
                if kind == "rewritten" and a is not None and b is not None:
                    assert same(a, b), (family.chains[i], family.chains[k], point)
                    compared += 1
    assert compared > 1000


# ---------------------------------------------------------------------- verdicts


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(12))
def test_families_are_judged_right(seed: int) -> None:
    judge = Judge(FAMILIES[seed], random.Random(seed), budget=40, limit=1)
    judge.build()
    for finding in judge.findings():
        assert finding.verdict != "wrong", finding.text


def said(monkeypatch: pytest.MonkeyPatch, proof: Any, seeds: range) -> Counter[str]:
    """Return the verdicts on claims if symlayout said *proof* of all of them."""
    monkeypatch.setattr(sl, "prove_equal", proof)
    counts: Counter[str] = Counter()
    for seed in seeds:
        judge = Judge(FAMILIES[seed], random.Random(seed), budget=40)
        judge.build()
        counts.update(f"{finding.verdict}, {finding.truth}" for finding in judge.findings())
    return counts


def test_what_is_proved_and_is_not_so_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    x = sl.tensor([sl.dim("H")], name="x")
    proved = sl.prove_equal(x, x)
    counts = said(monkeypatch, lambda *_, **__: proved, range(6))
    assert counts["wrong, different"] > 10
    assert counts["proved, different"] == 0
    assert counts["proved, equal"] > 10


def test_a_witness_that_is_not_the_smallest_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    dims = [brute.Dim("H"), brute.Dim("p")]
    flipped = Chain(("H",), (("pad", {"pad_width": [[0, "p"]], "constant_values": 0}), ("flip", {"axis": [0]})))
    family = Family([flipped, Chain(("H",), flipped.steps[:1])], [0, 1], dims)
    judge = Judge(family, random.Random(0), budget=40)
    judge.build()
    assert judge.finding(0, 1, "mutated").verdict == "refuted"
    left, right = judge.tensors
    assert left is not None
    assert right is not None
    proof = sl.prove_equal(left, right)
    assert proof.witness is not None
    H, p = sl.dims("H p")
    for witness, wrong in (
        (dataclasses.replace(proof.witness, dims={H: 2, p: 0}, left=("x", (1,)), right=("x", (0,))), "larger"),
        (dataclasses.replace(proof.witness, left=("x", (7,))), "says"),
        (dataclasses.replace(proof.witness, dims={H: 0, p: 0}), "says"),
    ):
        proof.witness = witness
        monkeypatch.setattr(sl, "prove_equal", lambda *_, proof=proof, **__: proof)
        finding = judge.finding(0, 1, "mutated")
        assert finding.verdict == "wrong"
        assert wrong in finding.text


def test_a_proof_that_takes_too_long_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: Any, **__: Any) -> None:
        while True:
            pass

    monkeypatch.setattr(sl, "prove_equal", endless)
    judge = Judge(FAMILIES[0], random.Random(0), budget=40, limit=0.01)
    judge.build()
    assert {finding.verdict for finding in judge.findings()} == {"no answer"}


# ---------------------------------------------------------------------- counts and printed claims


def test_counts_add_up_and_survive_a_file(tmp_path: Path) -> None:
    family = FAMILIES[3]
    judge = Judge(family, random.Random(3), budget=40, limit=5)
    judge.build()
    findings = list(judge.findings())
    parts = [Tally(families=1), Tally()]
    for k, finding in enumerate(findings):
        parts[k % 2].add(3, family, finding)
    for k, part in enumerate(parts):
        part.write(tmp_path / f"{k}.json", source="x")
        parts[k] = Tally.read(json.loads((tmp_path / f"{k}.json").read_text()))
    parts[0].merge(parts[1])
    assert parts[0].pairs == len(findings) == sum(parts[0].verdicts.values())
    assert any(f"{len(findings)} pairs of 1 families" in line for line in parts[0].report())


def test_a_claim_is_printed_as_code_that_makes_it() -> None:
    for family in list(FAMILIES.values())[:30]:
        claim = Claim(family.chains[0], family.chains[1], "rewritten", family.dims)
        names: dict[str, Any] = {"sl": sl}
        try:
            exec(typed(claim).rpartition("\n")[0], names)
        except (sl.ShapeError, sl.InconclusiveError):
            continue
        symbols = {d.name: sl.dim(d.name, d.min, d.max, d.multiple_of) for d in claim.dims}
        from_chain = build(claim.left, symbols)
        assert names["left"].shape == from_chain.shape


def test_a_claim_shrinks_to_what_matters() -> None:
    pad: Step = ("pad", {"pad_width": [[1, "p"], [0, 0]], "constant_values": 0})
    flip: Step = ("flip", {"axis": [1]})
    dims = [brute.Dim("N"), brute.Dim("H", 0, 4), brute.Dim("p")]
    claim = Claim(Chain(("N", "H"), (pad, flip)), Chain(("N", "H"), (pad,)), "mutated", dims)

    def flipped(c: Claim) -> bool:
        return [name for name, _ in c.left.steps].count("flip") == 1 + [name for name, _ in c.right.steps].count("flip")

    small = smallest(claim, flipped)
    assert small.left == Chain((1, 1), (flip,))
    assert small.right == Chain((1, 1))
    assert small.dims == []


def test_an_array_is_numbered_from_one() -> None:
    assert np.array_equal(brute.leaf(("H", 2), {"H": 1}), [[1, 2]])


def test_a_slice_is_judged_unless_its_bounds_are_numbers_after_all() -> None:
    for stop, judged in ((("-", ("+", "W", 1), "p"), True), (("+", ("-", 1, "p"), "p"), False)):
        chain = Chain(("W",), (("slice", {"axis": 0, "start": 0, "stop": stop, "step": 1}),))
        truth = Truth([chain], [brute.Dim("W"), brute.Dim("p")])
        assert (truth.at((2, 1))[0] is not None) == judged
        assert ((2, 1), 0) not in truth.unjudged or not judged
