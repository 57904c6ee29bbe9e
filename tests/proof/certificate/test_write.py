"""Certificates of true claims: they check, they are the same every time, and altered they prove nothing false."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import symlayout as sl
from symlayout.algebra.polynomial import encode
from symlayout.proof.cases.case_tree import Agreed, Split
from symlayout.proof.certificate import write
from symlayout.proof.certificate.checker import refusal
from symlayout.proof.certificate.claim import Claim
from symlayout.proof.certificate.write import certify
from symlayout.proof.decide_equal import agree
from tests.fuzz_check import alterations, at, certificate, few, run, sealed, sites, words_of
from tests.fuzz_prove import build as build_chain
from tests.fuzz_prove import random_claim
from tests.fuzz_prove.claims import random_family
from tests.proof.test_claims import CLAIMS, build
from tests.support.brute import Invalid
from tests.support.certificates.certified import EndlessError, Meaning, falsity
from tests.support.certificates.watched import Certificate, watch
from tests.support.paths import ROOT

ALTERED = "the seal does not match: the certificate was altered"
SIZES = 12  # at which a claim is enumerated


def space(m: int) -> tuple[sl.Tensor, list[Any], list[list[Any]]]:
    """Return a tensor with *m* spatial axes, and a block and a pair of pads for each."""
    x = sl.tensor([sl.dim("N"), *sl.dims(" ".join(f"s{k}" for k in range(m))), 3], name="x")
    block = list(sl.dims(" ".join(f"b{k}" for k in range(m)), min=1))
    return x, block, [list(sl.dims(f"p{k} q{k}")) for k in range(m)]


def round_trip(m: int) -> tuple[sl.Tensor, sl.Tensor]:
    x, block, pads = space(m)
    return sl.batch_to_space(sl.space_to_batch(x, block, pads), block, pads), x


def depth_round_trip(m: int) -> tuple[sl.Tensor, sl.Tensor]:
    _, block, _ = space(m)
    cells = sl.dims(" ".join(f"h{k}" for k in range(m)))
    x = sl.tensor([sl.dim("N"), sl.dim("C"), *(h * b for h, b in zip(cells, block, strict=True))], name="x")
    return sl.depth_to_space(sl.space_to_depth(x, block), block), x


def named() -> dict[str, tuple[sl.Tensor, sl.Tensor]]:
    """Return claims that the corpus does not have."""
    h, w, p, q = sl.dims("h w p q")
    b = sl.dim("b", min=1)
    small = sl.dim("k", min=1, max=3)
    x, v = sl.tensor([h, w], name="x"), sl.tensor([h], name="x")
    pair = sl.tensor([2], name="x")
    empty = sl.tensor([2, sl.dim("e", max=1)], name="x")[:, 2:]
    return {
        **{f"space_to_batch in {m} axes": round_trip(m) for m in (1, 2, 3, 4)},
        **{f"space_to_depth in {m} axes": depth_round_trip(m) for m in (1, 2, 3, 4)},
        "pads add up": (sl.pad(sl.pad(v, [[p, 0]]), [[q, 1]]), sl.pad(v, [[p + q, 1]])),
        "a product that is divided": (sl.reshape(sl.reshape(x, [h * w / b, b]), [h, w]), x),
        "clamped slices": (v[2:5][1:], v[3:5]),
        "a slice by a maximum": (v[1:][1:], v[2:]),
        "every second of the flipped": (sl.flip(sl.flip(v)[::2])[::-1], sl.flip(v)[::2]),
        "parts joined": (sl.concatenate([v[:p], v[p:]], 0), v),
        "stacked": (sl.stack([x, x], 0)[1], x),
        "rolled around": (sl.roll(sl.roll(v, p, 0), q, 0), sl.roll(v, p + q, 0)),
        "an empty output": (sl.flip(empty), empty),
        "no element": (sl.flip(pair[1:1:-2]), pair[1:1:-2]),
        "few values": (sl.roll(sl.tensor([small], name="x"), 6, 0), sl.tensor([small], name="x")),
        "a scalar": (sl.tensor([], name="x"), sl.tensor([], name="x")),
        **once_refused(),
    }


def once_refused() -> dict[str, tuple[sl.Tensor, sl.Tensor]]:
    """Return true claims whose certificates were refused, or could not be written."""
    n, m, c, q = sl.dims("N M C q")
    b = sl.dim("b", min=1)
    x, y = sl.tensor([2 * b], name="x"), sl.tensor([2 * b, 4 * c], name="x")
    solved = sl.repeat(sl.channel_shuffle(x, n, 0), [1, 2], 0)
    solved_earlier = sl.repeat(sl.channel_shuffle(sl.channel_shuffle(y, n, 0), m, 1), [1, 2], 0)
    z = sl.tensor([c, 1, 4], name="x")
    padded = sl.reshape(sl.pad(z, [[0, 0], [1, q], [0, 0]]), (c, (2 + q) / 2, 2, 4))
    packed = sl.unpack(sl.pack(padded, 1, 2), 1, (2 + q) / 2)
    there = sl.reshape(sl.transpose(packed, (2, 0, 1, 3)), (2 * c, (2 + q) / 2, 4))
    tiled = sl.tile(sl.tile(sl.tensor([2], name="x"), [sl.dim("p"), 1]), [sl.dim("p"), 1])
    batched, divided = divided_again(n, b, q)
    return {
        "a division of a quotient": (batched, divided),
        "a quotient whose numerator is solved": (solved, solved),
        "a quotient whose numerator is solved after another": (solved_earlier, solved_earlier),
        "a floor that has one value in a branch": (sl.space_to_batch(z, [2], [[1, q]]), there),
        "an axis that is empty in a branch": (tiled, tiled),
    }


def divided_again(n: Any, b: Any, q: Any) -> tuple[sl.Tensor, sl.Tensor]:
    """Return a claim whose shapes divide a quotient: 2 divides ``2/b + 1``, which users read as ``2*b | b + 2``."""
    few = sl.dim("H", max=2)
    x = sl.tensor([few * b, 2, 2], name="x")
    depth = sl.space_to_depth(sl.roll(x, 1, None), b, mode="depth_first")
    pads = [[0, q], [0, 1]]
    batched = sl.batch_to_space(sl.space_to_batch(depth, [b, 2], pads), [b, 2], pads)
    return sl.reshape(batched, (2 / b, few * b, -1)), sl.reshape(depth, (2 / b, few * b, -1))


NAMED = named()


def sample() -> list[Any]:
    """Return three claims of each category of the corpus, of its beginning, middle and end."""
    found = []
    for _, group in itertools.groupby([c for c in CLAIMS if c.verdict == "proved"], lambda claim: claim.category):
        claims = list(group)
        found += [claims[0], claims[len(claims) // 2], claims[-1]]
    return found


def claim_of(left: sl.Tensor, right: sl.Tensor) -> dict[str, Any]:
    """Return the claim that two tensors are equal as data, whether it is true or not."""
    facts = left.facts.fork()
    facts.merge(right.facts)
    found: dict[str, Any] = json.loads(json.dumps(Claim(left, right, facts, None).data))
    return found


# ---------------------------------------------------------------------- what a claim says


@pytest.mark.slow
@pytest.mark.parametrize("verdict", ["proved", "refuted"])
def test_a_claim_as_data_says_what_the_claim_says(verdict: str) -> None:
    counts: Counter[str] = Counter()
    for claim in [c for c in CLAIMS if c.verdict == verdict and c.dtype is None][::7]:
        found = claim_of(*build(claim))
        for numbers in itertools.islice(claim.points(), 25):
            if max(numbers.values(), default=0) > 4:
                continue
            if 0 in numbers.values() and "-1" in str((claim.left, claim.right)):
                continue  # the evaluator refuses a -1 beside an extent of 0, which cancels among symbols
            difference, meaning = claim.difference(numbers), Meaning(found, numbers)
            assert meaning.is_admitted() == (difference is not Invalid), (str(claim), numbers)
            if difference is not Invalid:
                assert (meaning.difference() == "") == (difference is None), (str(claim), numbers)
            counts["invalid" if difference is Invalid else "equal" if difference is None else "different"] += 1
    assert min(counts["invalid"], counts["equal"], counts["different"] if verdict == "refuted" else 99) > 12, counts


# ---------------------------------------------------------------------- true claims


def confirm(left: sl.Tensor, right: sl.Tensor) -> None:
    """Assert that a claim has a certificate that checks as JSON, and is true."""
    proof = sl.prove_equal(left, right)
    found = json.loads(json.dumps(proof.certificate))
    assert found == proof.certificate
    assert refusal(found) == ""
    assert sl.check(found)
    turned = {key: dict(reversed(part.items())) if isinstance(part, dict) else part for key, part in found.items()}
    assert refusal(turned) == ""
    assert falsity(found["claim"], SIZES) == ""


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", NAMED)
def test_a_named_claim_has_a_certificate(name: str) -> None:
    confirm(*NAMED[name])


@pytest.mark.sample(8)
@pytest.mark.parametrize("claim", sample(), ids=str)
def test_a_claim_of_the_corpus_has_a_certificate(claim: Any) -> None:
    confirm(*build(claim))


def test_a_read_is_shown_to_be_inside_by_the_operation_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the coordinates that a chain composes it takes long: 17 s for this one, of which the proof is that y is y."""
    h, w = sl.dims("h w", min=1)
    x = sl.tensor([h, w], name="x")[::2, ::3]
    y = sl.resize_nearest(sl.broadcast_to(x, (4, (h + 1) // 2, (w + 2) // 3)), (4, h, w))
    monkeypatch.setattr(sl.limits, "decision_goals", 200)
    confirm(y, y)


def test_there_is_no_certificate_without_a_proof() -> None:
    x = sl.tensor([sl.dim("h")], name="x")
    refuted, unknown = sl.prove_equal(sl.flip(x), x), sl.prove_equal(sl.flip(x), x, budget=0)
    assert (refuted.verdict, unknown.verdict) == (sl.Verdict.REFUTED, sl.Verdict.UNKNOWN)
    assert refuted.certificate is None
    assert unknown.certificate is None


def test_a_verdict_that_the_normal_form_does_not_give_has_no_certificate() -> None:
    x = sl.tensor([sl.dim("h")], name="x")
    claimed = sl.Proof(sl.flip(x), x, x.facts, sl.Verdict.PROVED)  # as by another judge
    with pytest.raises(sl.InconclusiveError, match="on axis 0 of x"):
        _ = claimed.certificate


# ---------------------------------------------------------------------- the same every time

DIGEST = """
import hashlib, json
from tests.fuzz_check import few
print(hashlib.sha256(json.dumps(few()).encode()).hexdigest())
"""


@pytest.mark.slow
def test_certificates_are_the_same_in_every_process() -> None:
    path = os.pathsep.join([str(ROOT), str(ROOT / "codegen")])
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", DIGEST],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": number},
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in ("1", "2")
    ]
    here = hashlib.sha256(json.dumps(few()).encode()).hexdigest()
    assert [process.communicate()[0].strip() for process in runs] == [here, here]


# ---------------------------------------------------------------------- altered certificates


def changes(rnd: random.Random, found: Certificate, part: str, most: int) -> list[Certificate]:
    """Return certificates with one place of a part altered, not sealed again: all, or *most* at random."""
    words = words_of(found)[:6]
    every = [((part, *path), new) for path in sites(found[part]) for new in alterations(at(found[part], path), words)]
    return [changed(found, path, new) for path, new in (every if len(every) <= most else rnd.sample(every, most))]


def changed(found: Certificate, path: Sequence[Any], new: Any) -> Certificate:
    trial = copy.deepcopy(found)
    at(trial, path[:-1])[path[-1]] = new
    return trial


@pytest.mark.slow
def test_every_single_alteration_is_refused() -> None:
    count = 0
    for found in sorted(few(), key=lambda c: len(json.dumps(c)))[:5]:
        for part in ("claim", "proof"):
            for trial in changes(random.Random(0), found, part, 10_000):
                if json.dumps(trial) != json.dumps(found):
                    assert refusal(trial) == ALTERED
                    count += 1
        assert refusal({**found, "seal": found["seal"][::-1]}) == ALTERED
        assert refusal({**found, "seal": None}) == "the certificate.seal: None is not a name"
        for trial in ({**found, "more": 0}, {key: found[key] for key in found if key != "seal"}):
            assert refusal(trial) == f"the certificate: {sorted(trial)} is not {sorted(found)}"
    assert count > 3000


@pytest.mark.slow
def test_a_claim_that_is_altered_and_sealed_again_is_proved_only_if_it_is_true() -> None:
    counts: Counter[str] = Counter()
    rnd = random.Random(1)
    for found in few():
        for trial in map(sealed, changes(rnd, found, "claim", 120)):
            accepted = not refusal(trial)
            if accepted or counts["refused"] % 8 == 0:
                where = truth(trial["claim"])
                assert not (accepted and where), (where, json.dumps(trial))
                counts[f"{'true' if not where else 'false'}, {'accepted' if accepted else 'refused'}"] += 1
            counts["refused"] += not accepted
    assert counts["true, accepted"] > 80
    assert counts["false, refused"] > 60


def truth(claim: dict[str, Any]) -> str:
    """Return where a claim is false; what cannot be read is false."""
    try:
        return falsity(claim, SIZES)
    except (LookupError, TypeError, ValueError):
        return "it is no claim"
    except EndlessError:
        return ""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_certificates_that_are_altered_at_random_show_nothing_false(seed: int) -> None:
    counts = run(few(), 400, seed)
    assert min(counts.values()) > 5
    assert len(counts) == 3


# ---------------------------------------------------------------------- proofs of other claims


def false_claims() -> dict[str, tuple[tuple[sl.Tensor, sl.Tensor], tuple[sl.Tensor, sl.Tensor]]]:
    """Return a true claim and a false one that differs from it in one respect."""
    x, block, pads = space(1)
    there = sl.space_to_batch(x, block, pads)
    ((p, q),) = pads
    v = sl.tensor([sl.dim("h")], name="x")
    cube = sl.tensor([sl.dim("h")] * 3, name="x")
    depth = sl.tensor([1, sl.dim("C"), 2 * sl.dim("h")], name="x")
    split = sl.space_to_depth(depth, 2)
    few_values, more_values = (sl.tensor([sl.dim("k", min=1, max=m)], name="x") for m in (3, 4))
    even, any_size = (sl.tensor([sl.dim("e", multiple_of=m)], name="x") for m in (2, 1))
    return {
        "crops exchanged": ((sl.batch_to_space(there, block, pads), x), (sl.batch_to_space(there, block, [[q, p]]), x)),
        "a crop less": ((sl.batch_to_space(there, block, pads), x), (sl.batch_to_space(there, block, [[p, 0]]), x)),
        "a pad more": (NAMED["pads add up"], (sl.pad(sl.pad(v, [[p, 0]]), [[q, 1]]), sl.pad(v, [[p + q + 1, 1]]))),
        "a pad on the other side": (
            NAMED["pads add up"],
            (sl.pad(sl.pad(v, [[p, 0]]), [[q, 1]]), sl.pad(v, [[p, q + 1]])),
        ),
        "another fill": (
            (sl.pad(sl.flip(v), 1), sl.flip(sl.pad(v, 1))),
            (sl.pad(sl.flip(v), 1), sl.flip(sl.pad(v, 1, constant_values=1))),
        ),
        "another permutation": (
            (sl.transpose(sl.transpose(cube, (1, 2, 0)), (2, 0, 1)), cube),
            (sl.transpose(sl.transpose(cube, (1, 2, 0)), (1, 2, 0)), cube),
        ),
        "another block": (
            (sl.depth_to_space(split, 2), depth),
            (sl.depth_to_space(split, 1), depth),
        ),
        "another order of blocks": (
            (sl.depth_to_space(split, 2), depth),
            (sl.depth_to_space(split, 2, "depth_first"), depth),
        ),
        "a shift more": (NAMED["rolled around"], (sl.roll(sl.roll(v, p, 0), q, 0), sl.roll(v, p + q + 1, 0))),
        "a part left out": (NAMED["parts joined"], (sl.concatenate([v[:p], v[p + 1 :]], 0), v)),
        "parts exchanged": (NAMED["parts joined"], (sl.concatenate([v[p:], v[:p]], 0), v)),
        "a larger bound": (
            (sl.roll(few_values, 6, 0), few_values),
            (sl.roll(more_values, 6, 0), more_values),
        ),
        "a multiple dropped": (
            (sl.roll(even, even.shape[0] / 2 * 2, 0), even),
            (sl.roll(any_size, 2, 0), any_size),
        ),
        "another input": ((sl.flip(sl.flip(v)), v), (sl.flip(sl.flip(v)), sl.tensor(v.shape, name="y"))),
        "a flip less": ((sl.flip(sl.flip(v)), v), (sl.flip(v), v)),
    }


FALSE = false_claims()


@pytest.mark.slow
def test_no_proof_of_a_true_claim_proves_a_false_one() -> None:
    proofs = [
        found["proof"]
        for pair in [*NAMED.values(), *(true for true, _ in FALSE.values())]
        if (found := certificate(*pair))
    ]
    absurd: dict[str, Any] = {"steps": [], "absurd": []}
    proofs += [{**proof, "sides": absurd} for proof in proofs] + [{**proof, "given": []} for proof in proofs]
    for name, (_, false) in FALSE.items():
        claim = claim_of(*false)
        assert falsity(claim, 60) != "", name
        assert [proof for proof in proofs if sl.check(sealed({"claim": claim, "proof": proof}))] == [], name


def test_without_what_it_assumes_a_claim_is_not_proved() -> None:
    dropped = 0
    for found in few():
        for number in range(len(found["claim"]["assumptions"])):
            trial = copy.deepcopy(found)
            trial["claim"]["assumptions"][number] = [">=", 0]
            if where := falsity(trial["claim"], 100):
                assert refusal(sealed(trial)) != "", where
                dropped += 1
    assert dropped


# ---------------------------------------------------------------------- random claims


@pytest.mark.slow
def test_random_claims_that_are_proved_have_certificates() -> None:
    certified = 0
    for seed in range(40):
        pair = random_claim(random.Random(seed))
        symbols = {d.name: sl.dim(d.name, d.min, d.max, d.multiple_of) for d in pair.dims}
        try:
            proof = sl.prove_equal(build_chain(pair.left, symbols), build_chain(pair.right, symbols), budget=5)
        except (sl.InconclusiveError, sl.ShapeError):
            continue
        if proof.verdict is sl.Verdict.PROVED:
            assert watch(json.loads(json.dumps(proof.certificate)), SIZES) == ""
            certified += 1
    assert certified > 10


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(421, id="a floor by factors"),
        pytest.param(501, id="a bound by an interval"),
        pytest.param(719, id="a quotient by an interval"),
        pytest.param(818, id="a product that is 0"),
        pytest.param(324, id="one floor in two fractions"),
        pytest.param(1433, id="a maximum that is positive"),
        pytest.param(1452, id="a map alone"),
        pytest.param(1467, id="a fact that is written and not yet used"),
    ],
)
def test_random_claims_that_had_no_certificate_have_one(seed: int) -> None:
    pair = random_claim(random.Random(seed))
    symbols = {d.name: sl.dim(d.name, d.min, d.max, d.multiple_of) for d in pair.dims}
    confirm(build_chain(pair.left, symbols), build_chain(pair.right, symbols))


def test_a_case_of_the_proof_whose_symbols_the_certificate_has_not_met_is_not_taken() -> None:
    family = random_family(random.Random(1017))
    symbols = {d.name: sl.dim(d.name, d.min, d.max, d.multiple_of) for d in family.dims}
    left, right = (build_chain(chain, symbols) for chain in family.chains[:2])
    assert sl.check(sl.prove_equal(left, right).certificate)


def test_a_quotient_that_is_twice_another_one_has_its_value() -> None:
    c = sl.dim("c", min=1)
    y = sl.batch_to_space(sl.tensor((4, 8), name="x"), [c], [[0, 0]])
    twice = sl.broadcast_to(sl.reshape(y, (1, 4 / c, 8 * c)), (2, 4 / c, 8 * c))
    confirm(sl.reshape(twice, (8 / c, 8 * c))[: 4 / c], y)


@pytest.mark.parametrize("sizes", [(8, 21), (12, 18), (4, 2)], ids=str)
def test_a_divisor_of_two_numbers_divides_their_greatest_common_divisor(sizes: tuple[int, int]) -> None:
    x = sl.tensor((1, *sizes), name="x")
    block, none = [sl.dim("b", min=1)] * 2, [[0, 0]] * 2
    confirm(sl.batch_to_space(sl.space_to_batch(x, block, none), block, none), x)


def test_a_block_whose_end_the_checker_refuses_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    x = sl.tensor("N, C", name="x")
    monkeypatch.setattr(write, "agree", lambda left, right, facts, dtype, **_: Agreed(facts, ((), ())))
    with pytest.raises(sl.InconclusiveError, match="has a certificate: no coordinate is introduced"):
        _ = sl.prove_equal(sl.flip(sl.flip(x)), x).certificate


def test_a_certificate_takes_the_cases_of_the_proof_that_gave_the_verdict() -> None:
    left, right = NAMED["parts joined"]
    facts = left.facts.fork()
    facts.merge(right.facts)
    tree = agree(left, right, facts.fork(), None, shown=True)
    assert isinstance(tree, Split)
    other = Split(tree.facts, tree.value - 2, tree, tree)  # cases that no search suggests
    for plan in (tree, other):
        data = certify(left, right, facts, None, plan)
        assert refusal(data) == ""
        assert data["proof"]["sides"]["split"][0] == encode(plan.value)
    assert data["proof"]["sides"]["split"][2]["split"][0] == encode(tree.value)


def test_a_proof_that_took_more_goals_than_are_left_has_a_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    left, right = NAMED["parts joined"]
    proof = sl.prove_equal(left, right)
    monkeypatch.setattr("symlayout.proof.certificate.write._MORE", 0)
    assert sl.check(proof.certificate)


def test_a_claim_that_is_not_proved_has_no_certificate() -> None:
    x = sl.tensor("N", name="x")
    with pytest.raises(sl.InconclusiveError):
        certify(x, sl.flip(x), x.facts.fork(), None)


# ---------------------------------------------------------------------- proofs that once had no certificate

b = sl.dim("b", min=1)
H, N, C, p, q = sl.dims("H N C p q")


def by_blocks() -> tuple[sl.Tensor, sl.Tensor]:
    """Return a tensor that is cut into blocks, and one that is reshaped: the extents are quotients of a dim."""
    x = sl.tensor((b * H, 2 * N), name="x")
    left = sl.batch_to_space(sl.space_to_batch(x, [b], [(0, 0)]), [b], [(0, 0)])
    right = sl.reshape(sl.reshape(x, (b * H, b, -1)), (b * H, 2 * N))
    return left, sl.reshape(right, (b * H, 2 * N))


def by_shuffles() -> tuple[sl.Tensor, sl.Tensor]:
    """Return two shuffles, in groups whose number is a quotient, and a reshape without an empty axis."""
    x = sl.tensor((b * H, 2 * N), name="x")
    left = sl.reshape(sl.reshape(x, (b * H, b, -1)), (b * H, 2 * N))
    same = sl.reshape(x, (b * H, 2 * N))
    return left, sl.channel_shuffle(sl.channel_shuffle(same, 2 * N / b, 1), b, 1)


def by_divisors() -> tuple[sl.Tensor, sl.Tensor]:
    """Return shuffles in ``4/b`` groups of ``4/(4/b)`` elements, and their input."""
    x = sl.tensor((4, C), name="x")
    return sl.channel_shuffle(sl.channel_shuffle(x, 4 / b, 0), b, 0), x


def by_maxima() -> tuple[sl.Tensor, sl.Tensor]:
    """Return a slice whose extent is a maximum, and the same where ``N`` is a multiple of 2, so that it is ``2*g``."""
    x = sl.tensor((C, N), name="x")

    def cut(t: sl.Tensor) -> sl.Tensor:
        return sl.pad(t, [[1, q], [0, 1]])[:, N - 1 : p - 1 : -1][:, -1:1]

    return cut(x), cut(sl.reshape(sl.reshape(x, (C, 2, N / 2)), (C, N)))


@pytest.mark.parametrize("claim", [by_blocks, by_shuffles, by_divisors, by_maxima], ids=lambda claim: claim.__name__)
def test_a_proof_has_a_certificate(claim: Callable[[], tuple[sl.Tensor, sl.Tensor]]) -> None:
    proof = sl.prove_equal(*claim())
    assert proof.verdict is sl.Verdict.PROVED
    assert sl.check(proof.certificate)
