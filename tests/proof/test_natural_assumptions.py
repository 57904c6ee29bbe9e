"""The text of an UNKNOWN proof says what to try: an assumption that decides the claim, if one is found."""

from __future__ import annotations

import pytest
from sympy import ceiling

import symlayout as sl
from symlayout.proof import natural_assumptions
from symlayout.proof.natural_assumptions import assumed

H = sl.dim("H")


def open_claim() -> tuple[sl.Tensor, sl.Tensor]:
    """Return equal sides that the prover leaves open: the period of reflections is a rounded size."""
    x = sl.tensor((2 * ceiling(H / 2),), name="x")
    return sl.flip(sl.pad(x, [(1, 2)], "reflect"), 0), sl.pad(sl.flip(x, 0), [(2, 1)], "reflect")


@pytest.mark.slow
def test_the_text_names_an_assumption_under_which_the_claim_is_proved() -> None:
    left, right = open_claim()
    proof = sl.prove_equal(left, right, budget=3)
    assert proof.verdict is sl.Verdict.UNKNOWN
    assert str(proof).splitlines() == [
        "UNKNOWN: not decided (3 sizes searched, none differs)",
        '  help: it is proved where H == 2: left.subs({"H": 2}), right.subs({"H": 2})',
    ]
    assert proof.explain().endswith(str(proof))
    assert proof.conclusion in repr(proof)
    assert "help" not in repr(proof)
    assert sl.prove_equal(left.subs({"H": 2}), right.subs({"H": 2})).verdict is sl.Verdict.PROVED


def test_the_text_says_that_a_claim_is_false_which_an_assumption_refutes() -> None:
    x = sl.tensor("N", name="x")
    text = str(sl.prove_equal(sl.flip(x), x, budget=0))
    assert text.startswith("UNKNOWN: ")
    assert text.endswith(
        "the claim is false, since it is refuted where N >= 1: N = 2: at (0,) the sides read x[1] and x[0]"
    )


@pytest.mark.slow
def test_the_text_says_what_else_helps_where_no_assumption_decides() -> None:
    noise = sl.Body("noise", None, random=True)
    first, second = (sl.compute(noise, [sl.tensor("N, H", name="x")], batch=2) for _ in range(2))
    assert str(sl.prove_equal(first, second)).endswith(
        "assumptions about its dims that were tried decides it; bind dims to numbers with subs, or raise budget="
    )
    fixed = sl.tensor((10**6, 10**6), name="x")
    assert "no dim to assume anything about" in str(sl.prove_equal(sl.flip(fixed), fixed))


def test_no_assumption_is_tried_before_the_text_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def counted(*claim: object) -> object:
        tried.append("once")
        return iter(())

    monkeypatch.setattr(natural_assumptions, "assumed", counted)
    proof = sl.prove_equal(*open_claim(), budget=3)
    assert (repr(proof), proof.conclusion, tried) == (f"<Proof: {proof.conclusion}>", proof.conclusion, [])
    assert (str(proof), tried) == (str(proof), ["once"])


def test_a_claim_that_is_proved_about_no_element_is_no_help() -> None:
    """Both sides are empty."""
    left, right = (t[t.shape[0] :] for t in open_claim())
    assert natural_assumptions._decided_briefly(left, right, 100, frozenset()) is None


def test_assumptions_come_from_the_dims_and_divisors_of_the_claim() -> None:
    h, w = sl.dims("H W")
    x = sl.tensor((h, w), name="x")
    left, right = x[::3], sl.flip(x, 0)[: (h + 2) // 3]
    facts = left.facts.fork()
    facts.merge(right.facts)
    found = {relation: (call, a, b) for relation, call, a, b in assumed(left, right, facts)}
    assert {"H >= 1", "W >= 1", "H % 3 == 0", "H == 3", "H == W", "H >= W", "W >= H"} <= found.keys()
    assert not any(relation.startswith("W %") for relation in found)
    call, made, other = found["H % 3 == 0"]
    assert (call, other) == ('sl.assume(left, "H % 3 == 0")', right)
    assert made.requires == sl.assume(left, "H % 3 == 0").requires
    known = sl.assume(left, "H >= 1")
    assert "H >= 1" not in [relation for relation, *_ in assumed(known, right, known.facts)]
