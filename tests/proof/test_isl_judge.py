"""The judge isl: it agrees with brute force and with the prover wherever radices are constants."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from functools import partial

import pytest

import symlayout as sl
from symlayout import Verdict, limits
from symlayout.proof import decide_equal, isl_judge
from tests.proof.test_claims import CLAIMS, build
from tests.support.brute import Invalid
from tests.support.claim import Claim

pytest.importorskip("islpy", reason="islpy, which is optional, is not installed")

RANDOM_CLAIMS = 300
POINTS = 12  # sizes at which brute force looks at a random claim


def confirm(claim: Claim, found: isl_judge.Judgement) -> None:
    """Assert by brute force that the sides differ where isl says so."""
    assert found.dims is not None
    difference = claim.difference(found.dims)
    assert isinstance(difference, tuple), f"{claim}: brute force finds {difference} at {found.dims}"
    assert (difference[0] is None) == (found.coord is None)
    if found.coord is not None:
        a, b = (claim.run(side, found.dims) for side in (claim.left, claim.right))
        assert a[found.coord] != b[found.coord]


# ---------------------------------------------------------------------- the corpus


def test_isl_gives_the_verdicts_of_the_corpus() -> None:
    decided: Counter[str] = Counter()
    for claim in CLAIMS:
        if (pair := sides(claim)) is None:
            continue  # which fails in test_claims
        found = isl_judge.decide(*pair)
        if found.equal is None:
            assert found.reason
            continue
        decided[claim.verdict] += 1
        assert found.equal == (claim.verdict == "proved"), (str(claim), found)
        if not found.equal:
            confirm(claim, found)
    assert min(decided["proved"], decided["refuted"]) >= 100, decided


# ---------------------------------------------------------------------- random chains


def random_claim(seed: int) -> Claim:
    """Return a claim whose radices are constants: two chains, the second an equal or a changed first."""
    rnd = random.Random(seed)
    shape = [rnd.choice(("N", "2*H", "H + 2", "4*W", "W + 1", "6", "4", "1")) for _ in range(rnd.randint(1, 3))]
    rank, chain = len(shape), []
    for _ in range(rnd.randint(1, 5)):
        step, rank = random_step(rnd, rank)
        chain.append(step)
    other = list(chain)
    at = rnd.randint(0, len(other))
    match rnd.randrange(4):
        case 0:
            other[at:at] = next(both_ways(rnd, len(shape))) if at == 0 else ["flip(0)", "flip(0)"]
        case 1:
            other[at:at] = ["flip(0)"]
        case 2:
            other.pop(min(at, len(other) - 1))
        case _:
            other[at:at] = ["pad([1, 2])", "pad([-1, -2])"]
    return Claim("random", f"random {seed}", "", {"x": ", ".join(shape)}, tuple(chain), tuple(other))


def random_step(rnd: random.Random, rank: int) -> tuple[str, int]:
    """Return a step for a tensor of *rank*, and the rank of what it gives."""
    axis, b = rnd.randrange(rank), rnd.choice((2, 2, 3))
    ends = [[0, 0] if k != axis else [rnd.randint(0, 2), rnd.randint(0, 2)] for k in range(rank)]
    steps = [
        (f"transpose({rnd.sample(range(rank), rank)})", rank),
        (f"flip({axis})", rank),
        (f"pad([{rnd.randint(-1, 2)}, {rnd.randint(-1, 2)}], constant_values={rnd.randint(0, 1)})", rank),
        (f"pad({ends}, mode={rnd.choice(('edge', 'reflect', 'wrap'))})", rank),
        (f"[{':, ' * axis}{random_slice(rnd)}]", rank),
        (f"repeat({b}, axis={axis})", rank),
        (f"pack({axis}, {b})", rank + 1),
        (f"window({b}, axis={axis}, strides={rnd.choice((1, 2))})", rank + 1),
        (f"expand_dims({axis})", rank + 1),
    ]
    if rank > 1:
        steps += [
            (f"space_to_batch([{b}], [[{rnd.randint(0, 2)}, {rnd.randint(0, 2)}]])", rank),
            (f"batch_to_space([{b}], [[{rnd.randint(0, 1)}, {rnd.randint(0, 1)}]])", rank),
            (f"[{':, ' * axis}0]", rank - 1),
            (f"unpack({rnd.randrange(rank - 1)})", rank - 1),
        ]
    if rank > 2:
        mode = rnd.choice(("blocks_first", "depth_first"))
        steps += [(f"space_to_depth({b}, mode={mode})", rank), (f"depth_to_space({b}, mode={mode})", rank)]
    return rnd.choice(steps)


def random_slice(rnd: random.Random) -> str:
    bounds = ["", "", "0", "1", "2", "-1", "-2", "5"]
    return f"{rnd.choice(bounds)}:{rnd.choice(bounds)}:{rnd.choice((1, 1, 2, 3, -1, -2))}"


def both_ways(rnd: random.Random, rank: int) -> Iterator[list[str]]:
    """Yield steps that give the input back."""
    order = rnd.sample(range(rank), rank)
    yield [f"transpose({order})", f"transpose({[order.index(k) for k in range(rank)]})"]


def sides(claim: Claim) -> tuple[sl.Tensor, sl.Tensor] | None:
    """Return both sides, or None if one has no meaning for any sizes."""
    try:
        return build(claim)
    except (sl.ShapeError, sl.InconclusiveError):
        return None


def test_isl_agrees_with_the_prover_and_with_brute_force_on_random_claims() -> None:
    count: Counter[str] = Counter()
    for claim in map(random_claim, itertools.count()):
        if count.total() == RANDOM_CLAIMS:
            break
        if (pair := sides(claim)) is None:
            continue
        found = isl_judge.decide(*pair)
        count[str(found.equal)] += 1
        if found.equal is None:
            continue
        verdict = sl.prove_equal(*pair, budget=60).verdict
        assert verdict in (Verdict.UNKNOWN, Verdict.PROVED if found.equal else Verdict.REFUTED), (claim, found)
        if not found.equal:
            confirm(claim, found)
            continue
        for numbers in itertools.islice(claim.points(), POINTS):
            assert claim.difference(numbers) in (None, Invalid), (claim, numbers)
    assert min(count["True"], count["False"]) >= RANDOM_CLAIMS / 5, count


# ---------------------------------------------------------------------- where it does not apply

H, W = sl.dims("H W")
b = sl.dim("b", min=1)


@pytest.mark.parametrize(
    ("left", "reason"),
    [
        (partial(sl.roll, shift=1, axis=0), "isl needs that the divisor H is an integer >= 1"),
        (partial(sl.reshape, shape=(H * W,)), "isl needs that H*W is affine"),
        (partial(sl.repeat, repeats=b, axis=0), "isl needs that H*b is affine"),
        (partial(sl.transpose, axes=(1, 0)), ""),
    ],
)
def test_symbolic_radices_are_refused_with_the_reason(left: partial[sl.Tensor], reason: str) -> None:
    x = sl.tensor((H, W), name="x")
    assert isl_judge.decide(left(x), left(x)).reason == reason


def test_a_claim_about_no_sizes_is_refused() -> None:
    x = sl.tensor((H,), name="x")
    three, four = sl.reshape(x, (3,)), sl.reshape(x, (4,))
    assert isl_judge.decide(three, four).reason == "isl needs that there are sizes for which both sides are valid"


def test_isl_gives_up_after_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "isl_operations", 10)
    x = sl.tensor((H, W), name="x")
    found = isl_judge.decide(sl.pad(x, 1), sl.pad(x, 2))
    assert found.equal is None
    assert found.reason.startswith("isl gave up")


def test_ranks_and_shapes_that_differ_have_no_coordinate() -> None:
    x = sl.tensor((H, W), name="x")
    for other in (sl.expand_dims(x, 0), sl.pad(x, 1)):
        found = isl_judge.decide(x, other)
        assert found.equal is False
        assert found.coord is None
        assert found.dims is not None


def test_fills_are_compared_by_their_bits() -> None:
    x = sl.tensor((H,), dtype="float32", name="x")
    assert isl_judge.decide(sl.pad(x, 1, constant_values=0.1), sl.pad(x, 1, constant_values=0.10000000149011612)).equal
    assert isl_judge.decide(sl.pad(x, 1, constant_values=0.0), sl.pad(x, 1, constant_values=-0.0)).equal is False


def test_the_prover_asks_isl_where_it_is_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    def stuck(*_: object, **__: object) -> None:
        raise sl.InconclusiveError("the sides agree", [])

    monkeypatch.setattr(decide_equal, "agree", stuck)
    x = sl.tensor("N", name="x")
    same = sl.flip(sl.flip(x))
    assert sl.prove_equal(same, x, budget=0).verdict is sl.Verdict.UNKNOWN
    assert sl.prove_equal(same, x, budget=0, judge="isl").verdict is sl.Verdict.PROVED
    refuted = sl.prove_equal(sl.flip(x), x, budget=0, judge="isl")
    assert refuted.verdict is sl.Verdict.REFUTED
    assert refuted.witness is not None
    assert refuted.witness.coord is not None
    symbolic = sl.reshape(sl.tensor("n*b", name="x"), sl.dims("n b"))
    unknown = sl.prove_equal(symbolic, sl.flip(symbolic, 0), budget=0, judge="isl")
    assert unknown.verdict is sl.Verdict.UNKNOWN
    assert unknown.obligation.startswith("the sides agree; ")
    with pytest.raises(sl.ShapeError, match="judge 'z3' is not 'isl'") as caught:
        sl.prove_equal(x, x, judge="z3")
    assert caught.value.kind == "bad_mode"
