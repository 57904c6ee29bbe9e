"""Data that is not a certificate is refused and raises nothing."""

from __future__ import annotations

import ast
import io
import json
import sys
import tokenize
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import symlayout as sl
from symlayout.algebra.polynomial import Extent, Poly, encode, replace_monomial, substitute
from symlayout.proof.certificate import checker
from symlayout.proof.certificate.checker import refusal, schema, seal
from symlayout.proof.certificate.checker.polynomials import Work, decode
from tests.support.certificates.handmade import (
    X,
    Y,
    Z,
    at,
    claim,
    data,
    extent,
    maps,
    reader,
    sealed,
    steps_said,
)
from tests.support.certificates.handmade import given as given_by
from tests.support.effort import examples

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda items: st.lists(items, max_size=4) | st.dictionaries(st.text(max_size=8), items, max_size=4),
    max_leaves=12,
)
NAMES = ["dim", "assume", "mean", "point", "define", "floor", "max", "lows", "combine", "cases", "equation", "equal"]
NAMES += ["resolve", "solve", "rewrite", "divide", "inside"]
PARTS = st.sampled_from([0, 1, -1, "x", "n", [[1, "x"]], [[1, "n"], [-1]], [[0, None]], [], None]) | JSON

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # however busy the machine is


@UNHURRIED
@given(JSON)
def test_a_value_of_any_kind_is_no_certificate(value: Any) -> None:
    assert not sl.check(value)
    assert refusal(value)


@UNHURRIED
@given(JSON, JSON)
def test_a_claim_and_a_proof_of_any_kind_are_no_certificate(about: Any, block: Any) -> None:
    for parts in ({"claim": about, "proof": block}, {"claim": claim(), "proof": block}, {"claim": about, "proof": {}}):
        assert refusal({**parts, "seal": seal(parts)})


@settings(UNHURRIED, max_examples=examples(300))
@given(st.sampled_from(NAMES), st.lists(PARTS, max_size=4))
def test_a_step_of_any_parts_does_not_show_what_is_false(name: str, parts: list[Any]) -> None:
    assert steps_said([name, *parts])


@UNHURRIED
@given(st.sampled_from(["dims", "symbols", "assumptions", "nodes", "left", "right"]), PARTS)
def test_a_claim_with_a_part_of_any_kind_raises_nothing(key: str, value: Any) -> None:
    about = {**claim(reader(at(Z, fill="0"))), key: value}
    ends: list[dict[str, Any]] = [
        {"agree": [[], [[0, None]]]},
        {"absurd": []},
        {"masked": [{"steps": [], "absurd": []}] * 2},
    ]
    for end in ends:
        sides = {"steps": [["point"]], **end}
        certificate = {"claim": about, "proof": {"given": given_by(claim()), "maps": maps(claim()), "sides": sides}}
        assert refusal({**certificate, "seal": seal(certificate)})


@pytest.mark.parametrize(
    "value",
    [{1, 2}, object(), {"claim": {1}, "proof": {}, "seal": ""}, {"claim": 0, "proof": 0, "seal": 0, "more": 0}],
    ids=["a set", "an object", "a claim that is a set", "parts that are numbers"],
)
def test_what_is_not_json_is_no_certificate(value: Any) -> None:
    assert refusal(value)


def test_a_value_that_holds_itself_is_no_certificate() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert refusal({"claim": endless, "proof": {}, "seal": "0"}) != ""
    shared: Any = 0
    for _ in range(60):
        shared = [shared, shared]
    many = f"the certificate has more than {schema.MAX_VALUES} values"
    assert refusal({"claim": shared, "proof": {}, "seal": "0"}) == many


def test_values_that_only_look_like_json_are_no_certificate() -> None:
    class Changing(dict[str, Any]):
        """A dict that answers otherwise each time."""

    about = claim(nodes=[{"input": "x", "shape": []}], dims=[])
    certificate = sealed(about, {"given": [], "maps": [], "sides": {"steps": [["point"]], "agree": [[], []]}})
    assert refusal(certificate) == ""
    assert refusal(Changing(certificate)) == "a Changing is not part of a certificate"
    assert (
        refusal({**certificate, "claim": Changing(certificate["claim"])}) == "a Changing is not part of a certificate"
    )


@pytest.mark.slow
@pytest.mark.parametrize("depth", [500, 5000, 200_000])
def test_data_that_is_nested_deeply_is_refused(depth: int) -> None:
    nested: Any = []
    expression: Any = ["axis", 0]
    for _ in range(depth):
        nested, expression = [nested], ["-", ["extent", 0], expression]
    deep = f"the certificate is nested more than {schema.MAX_NESTING} times"
    assert refusal({"claim": claim(), "proof": nested, "seal": "0"}) == deep
    about = claim(reader(at(0)))
    about["nodes"][1]["cases"][0]["coords"] = [expression]
    assert refusal({"claim": about, "proof": {}, "seal": "0"}) == deep


def test_polynomials_are_written_and_read() -> None:
    work = Work(sys.maxsize)
    for e in (0, -7, X, X * X * Y - 3 * X + 5, -X):
        assert extent(decode(json.loads(json.dumps(encode(e))), work)) == e
    assert encode(X * Y - 2) == [[-2], [1, "x", "y"]]
    assert extent(decode([], work)) == 0
    assert extent(decode([[4]], work)) == 4


E = st.recursive(
    st.integers(-9, 9) | st.sampled_from([X, Y, Z]),
    lambda inner: st.builds(lambda a, b, sign: a * b if sign else a - b, inner, inner, st.booleans()),
    max_leaves=8,
)


@UNHURRIED
@given(E, E, E, st.integers(1, 3))
def test_the_checker_computes_as_the_prover_does(a: Extent, b: Extent, c: Extent, times: int) -> None:
    work = Work(sys.maxsize)
    p, q, r = (decode(data(e), work) for e in (a, b, c))
    assert [extent(e) for e in (p + q, p - q, p * q, -p, 3 - p)] == [a + b, a - b, a * b, -a, 3 - a]
    assert extent(p.substitute({"x": q, "y": r})) == substitute(a, {"x": b, "y": c})
    assert extent(p.replace(("x", "y"), r, times)) == replace_monomial(a, ("x", "y"), c, times)
    assert (p == q, p.constant is None) == (a == b, isinstance(a, Poly))


def test_the_checker_can_be_read_in_one_sitting() -> None:
    counts = [code_lines(path.read_text(encoding="utf-8")) for path in Path(checker.__file__).parent.glob("*.py")]
    assert 1000 < sum(counts) <= 2000


def code_lines(text: str) -> int:
    """Return the number of lines that have more than a comment or a docstring."""
    lines = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            lines -= {*range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)}
    return len(lines)
