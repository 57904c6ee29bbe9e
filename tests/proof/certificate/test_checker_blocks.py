"""The checker uses equations everywhere, checks both branches of a split, and bounds its work."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import pytest

from symlayout.algebra.polynomial import Poly, symbol
from symlayout.proof.certificate.checker import known as known_module
from symlayout.proof.certificate.checker import polynomials, refusal, schema
from symlayout.proof.certificate.checker.blocks import budget, take
from symlayout.proof.certificate.checker.known import Known
from symlayout.proof.certificate.checker.polynomials import Work
from tests.support.certificates.handmade import (
    OPEN,
    N,
    T,
    U,
    X,
    Y,
    Z,
    claim,
    data,
    known,
    said,
    sealed,
    steps_said,
)
from tests.support.certificates.handmade import given as given_by


def test_a_solved_symbol_is_written_out_everywhere() -> None:
    about = claim(
        assumptions=[["==", X - Z - 1], ["==", Z - N], [">=", X - 7], ["==", X * Y - 8], [">=", X * Y - N]],
        symbols=[["w", "/", Z, 1]],
    )
    steps = [
        ["max", "m", Z], ["mean", "w", Z], ["divide", Z * 2, 2, Z], ["solve", "x", Z + 1],
        ["rewrite", 1, ["y", "z"], 8 - Y], ["solve", "z", N],
    ]  # fmt: skip
    context = known(*steps, about=about)
    assert {N - 6, 8 - N} <= context.nonnegative
    assert all(e.names <= {"n", "y", "m", "u"} for e in context.nonnegative | context.zero if isinstance(e, Poly))
    assert context.solved == {"x": N + 1, "z": N}
    assert context.maxima == {"m": N}
    assert context.meaning == {"x": N + 1, "y": Y, "z": N, "n": N, "u": U, "w": N}
    assert context.floors == {(2 * N, 2): N}
    assert context.rewrites == []
    assert context.read(X * Z) == (N + 1) * N


def test_a_rewritten_monomial_is_written_out_everywhere() -> None:
    context = known(
        ["rewrite", 1, ["y", "x"], N], ["solve", "n", 4], about=claim(assumptions=[["==", X * Y - N], ["==", N - 4]])
    )
    assert context.rewrites == [(1, ("x", "y"), 4)]
    assert context.read(X * X * Y * Y + X * 3) == 16 + X * 3


def test_multiples_of_a_monomial_are_written_out_and_the_rest_stays() -> None:
    context = known(["rewrite", 2, ["x"], Y * Z], about=claim(assumptions=[["==", X * 2 - Y * Z]]))
    assert context.rewrites == [(2, ("x",), Y * Z)]
    assert context.read(X * 5 + X * Y * 2 - X * Z * 3) == X + Y * Z * 2 + Y * Y * Z - X * Z - Y * Z * Z
    assert context.read(X - Z) == X - Z


def test_rewriting_in_circles_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_module, "_REWRITES", 5)
    context = known(["rewrite", 1, ["x"], X * X], about=claim(assumptions=[["==", X - X * X]]))
    assert context.read(X) == symbol("x") * X * X * X * X * X


def test_a_degree_does_not_double_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    squares = [
        step
        for k in range(12)
        for step in (["define", f"a{k + 1}", [[1, f"a{k}", f"a{k}"]]], ["solve", f"a{k + 1}", [[1, f"a{k}", f"a{k}"]]])
    ]
    assert steps_said(["define", "a0", X], *squares) == "a polynomial has a degree beyond 200"
    monkeypatch.setattr(polynomials, "MAX_DEGREE", 3)
    assert steps_said(["define", "w", X * Y * Z]) == OPEN
    assert steps_said(["define", "w", X * Y * Z * N]) == "a polynomial has a degree beyond 3"
    assert steps_said(["define", "w", X * Y * Z * N + 1]) == "a polynomial has a degree beyond 3"


def test_a_coefficient_does_not_double_without_end() -> None:
    squares = [["define", "a0", 3]] + [
        step
        for k in range(12)
        for step in (["solve", f"a{k}", 3 ** (2**k)], ["define", f"a{k + 1}", [[1, f"a{k}", f"a{k}"]]])
    ]
    assert steps_said(*squares[:18]) == OPEN
    assert steps_said(*squares) == "a coefficient has more than 2000 bits"


def test_a_block_has_one_end() -> None:
    agreed = {"steps": [["point"]], "agree": [[], []]}
    assert said(agreed, claim()) == ""
    assert said({"steps": [["point"]]}, claim()) == "proof.sides: [] is not one end of a block"
    two = "proof.sides: ['agree', 'absurd'] is not one end of a block"
    assert said({**agreed, "absurd": []}, claim()) == two
    assert said({"agree": [[], []]}, claim()) == "proof.sides: ['agree'] is not ['agree', 'steps']"
    for known_to_be in (0, -1):
        about = claim(assumptions=[[">=", known_to_be]])
        end = {"steps": [["point"]], "believe": []}
        assert said(end, about) == "proof.sides: ['believe'] is not one end of a block"


@pytest.mark.parametrize(
    ("assumption", "is_absurd"),
    [([">=", -1], True), ([">=", 0], False), (["==", 1], True), (["==", -1], True), (["==", 0], False)],
    ids=str,
)
def test_a_block_is_absurd_where_a_false_constant_is_known(assumption: Any, is_absurd: bool) -> None:
    assert (steps_said(about=claim(assumptions=[assumption])) == "") == is_absurd


MEET = {"steps": [["point"]], "agree": [[], []]}


def split(w: Any, yes: Any, no: Any, **changes: Any) -> str:
    about = claim(**changes)
    return said({"steps": [], "split": [w, yes, no]}, about)


def test_both_branches_of_a_split_are_checked_with_what_they_suppose() -> None:
    absurd: dict[str, Any] = {"steps": [], "absurd": []}
    assert split(Z, MEET, MEET) == ""
    assert split(Z, MEET, absurd) == OPEN
    assert split(Z, absurd, MEET) == OPEN
    assert split(Z, absurd, MEET, assumptions=[[">=", -1 - Z]]) == OPEN
    excluded = {"steps": [["combine", -1, 1, [[Z, 1], [-1 - Z, 1]], []]], "absurd": []}
    assert split(Z, excluded, MEET, assumptions=[[">=", -1 - Z]]) == ""
    assert split(Z, MEET, excluded, assumptions=[[">=", Z]]) == ""
    assert split(Z, MEET, excluded, assumptions=[[">=", Z + 1]]) == "z >= 0 is not shown"
    assert split(Z, excluded, MEET, assumptions=[[">=", -Z]]) == "-z - 1 >= 0 is not shown"
    assert split(T, MEET, MEET) == "t has symbols that nothing introduced"


@pytest.mark.parametrize(("depth", "is_refused"), [(190, False), (200, True)])
def test_a_certificate_is_not_nested_without_end(depth: int, is_refused: bool) -> None:
    about = claim(nodes=[{"input": "x", "shape": []}], dims=[])
    met: dict[str, Any] = {"steps": [["point"]], "agree": [[], []]}
    split, masked = met, met
    for _ in range(depth):
        split = {"steps": [], "split": [0, split, {"steps": [], "absurd": []}]}
        masked = {"steps": [], "masked": [met, masked]}
    reason = f"the certificate is nested more than {schema.MAX_NESTING} times" if is_refused else ""
    assert [said(split, about), said(masked, about)] == [reason] * 2


def renamed(count: int) -> list[Any]:
    """Return steps, each of which writes all that is known anew."""
    steps: list[Any] = [["define", f"c{k}", [[k + 1, "x"], [1, "x", "y"], [1, "x", "x"]]] for k in range(count)]
    names = ["x", *(f"d{k}" for k in range(count))]
    for old, new in itertools.pairwise(names):
        steps += [["define", new, [[1, old]]], ["solve", old, [[1, new]]]]
    return steps


@pytest.mark.slow
def test_the_work_that_a_certificate_may_take_grows_with_its_size_alone() -> None:
    known_to_work = Known(claim(), Work(sys.maxsize))
    for step in data([*given_by(claim()), *renamed(300)]):
        take(known_to_work, step)
    done = known_to_work.work.done
    certificate = sealed(claim(), {"given": given_by(claim()), "maps": [], "sides": {"steps": renamed(300), **END}})
    most = budget(schema.size(certificate))
    assert done > most
    assert refusal(certificate) == f"the check takes more than {most} operations on terms"
    assert steps_said(*renamed(10)) == OPEN


def test_twice_the_steps_that_rename_take_four_times_the_work() -> None:
    """So that a budget is needed: the count is of terms, and the same on every machine."""
    done = []
    for count in (40, 80):
        found = Known(claim(), Work(sys.maxsize))
        for step in data([*given_by(claim()), *renamed(count)]):
            take(found, step)
        done.append(found.work.done)
    assert 3 * done[0] < done[1] < 5 * done[0]


END: dict[str, Any] = {"absurd": []}
