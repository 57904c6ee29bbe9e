"""Two functions that have one formula: the certificate has both as terms, which the checker compares by itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

import symlayout as sl
from symlayout.proof.certificate.check_computed import refusal_alone, refusal_of_chains
from symlayout.proof.certificate.checker.formulas import agreements
from symlayout.proof.certificate.checker.schema import sealed
from symlayout.proof.certificate.formula_terms import term_of
from symlayout.tensors.chain import Tensor

X = sl.tensor("N, C", "float32", "x")
Y = sl.tensor("N, C", "float32", "y")
VIEW, OTHER = ["view", 0], ["view", 1]
Certificate = dict[str, Any]


def op(name: str, *xs: Any, **attributes: Any) -> Tensor:
    made = sl.op(f"onnx:{name}")(*xs, **attributes)
    assert isinstance(made, Tensor)
    return made


def hard_swish(x: Tensor, alpha: float = 1 / 6) -> Tensor:
    return op("Mul", x, op("HardSigmoid", x, alpha=alpha, beta=0.5))


CLAIMS: dict[str, tuple[Tensor, Tensor, tuple[str, ...]]] = {
    "a fused function": (hard_swish(X), op("HardSwish", X), ()),
    "another fused function": (op("Mul", op("Sigmoid", X), X), op("Swish", X), ()),
    "a quotient": (op("Mul", X, op("Reciprocal", op("Relu", Y))), op("Div", X, op("Relu", Y)), ("reciprocal",)),
    "moved": (
        sl.transpose(op("Mul", op("Reciprocal", op("Relu", Y)), X)),
        op("Div", sl.transpose(X), op("Relu", sl.transpose(Y))),
        ("reciprocal",),
    ),
}


def certified(name: str) -> tuple[Tensor, Tensor, Certificate]:
    left, right, laws = CLAIMS[name]
    proof = sl.prove_equal(left, right, laws=laws)
    assert (proof.verdict, proof.laws) == (sl.Verdict.PROVED, laws)
    return left, right, json.loads(json.dumps(proof.certificate))


def formula_of(certificate: Certificate) -> tuple[Certificate, Certificate]:
    (pair,) = [pair for pair in certificate["pairs"] if "formula" in pair]
    return pair, pair["formula"]


@pytest.mark.parametrize("name", CLAIMS)
def test_a_proof_by_formula_has_a_certificate_of_these_sides_alone(name: str) -> None:
    left, right, shown = certified(name)
    assert sl.check(shown, before=left, after=right)
    assert refusal_alone(shown) == ""
    for a, b in ((left, left), (right, left), (left, op("Relu", right))):
        assert refusal_of_chains(shown, a, b) != ""


def test_a_function_with_other_numbers_is_another_formula() -> None:
    left, right, shown = certified("a fused function")
    assert refusal_of_chains(shown, hard_swish(X, 0.2), right) != ""
    pair, formula = formula_of(shown)
    assert (pair["law"], formula["fused"]) == ("", ["hard_swish"])
    assert formula["right"] == ["hard_swish", VIEW]
    assert refusal_of_chains(shown, left, right) == ""


EDITS: dict[str, Callable[[Certificate, Certificate], Any]] = {
    "no fused function": lambda _, formula: formula.update(fused=[]),
    "a law": lambda pair, _: pair.update(law="reciprocal"),
    "another law": lambda pair, _: pair.update(law="reassociate"),
    "another number": lambda _, formula: formula["left"][2].__setitem__(1, (0.2).hex()),
    "another function": lambda _, formula: formula["left"].__setitem__(0, "divide"),
    "an unknown function": lambda _, formula: formula["left"].__setitem__(0, "Mul"),
    "a term alone": lambda _, formula: formula.update(left=VIEW),
    "no views": lambda pair, formula: (pair.update(views=[]), formula.update(places=[])),
    "fewer views": lambda pair, formula: (pair["views"].pop(), formula["places"].pop()),
    "a view twice": lambda _, formula: formula["left"].__setitem__(1, OTHER),
    "other reads": lambda _, formula: formula.update(reads=formula["reads"][::-1]),
    "nothing read": lambda _, formula: formula.update(reads=[[[] for _ in side] for side in formula["reads"]]),
    "another depth": lambda _, formula: formula.update(depths=[0, 0]),
    "a zero": lambda _, formula: formula["left"][2].__setitem__(1, (0.0).hex()),
    "swapped": lambda pair, _: pair.update(swapped=True),
    "a box": lambda pair, _: pair.update(box=[[0], None, False, []]),
    "no formula": lambda pair, _: pair.pop("formula"),
    "another value": lambda pair, _: pair.update(after=pair["after"] - 1),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_formula_is_refused(edit: str) -> None:
    left, right, shown = certified("a fused function")
    edited = deepcopy(shown)
    EDITS[edit](*formula_of(edited))
    assert edited != shown
    assert refusal_of_chains(sealed(edited), left, right) != ""


def test_a_law_that_a_formula_needs_is_not_left_out() -> None:
    left, right, shown = certified("a quotient")
    formula_of(shown)[0]["law"] = ""
    assert refusal_alone(sealed(shown)) != ""
    shown["laws"] = []
    assert refusal_of_chains(sealed(shown), left, right) != ""


def number(value: float) -> list[Any]:
    return ["number", value.hex()]


@pytest.mark.parametrize(
    ("left", "right", "why"),
    [
        (["multiply", VIEW, OTHER], ["multiply", OTHER, VIEW], ("", [])),
        (["divide", VIEW, number(8.0)], ["scaled", (0.125).hex(), VIEW], ("", [])),
        (["divide", number(1.0), VIEW], ["reciprocal", VIEW], ("", [])),
        (["divide", VIEW, OTHER], ["multiply", ["reciprocal", OTHER], VIEW], ("reciprocal", [])),
        (["divide", VIEW, OTHER], ["divide", VIEW, OTHER], ("", [])),
    ],
)
def test_what_terms_are_one(left: Any, right: Any, why: tuple[str, list[str]]) -> None:
    law, fused, needed = next(found for found in agreements(left, right) if all(i == j for i, j in found[2]))
    assert (law, fused) == why
    assert needed


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (["divide", VIEW, OTHER], ["divide", OTHER, VIEW]),
        (["divide", VIEW, number(3.0)], ["scaled", (1 / 3).hex(), VIEW]),  # two roundings
        (["divide", VIEW, number(2.0**20)], ["scaled", (2.0**-20).hex(), VIEW]),  # no normal number of 16 bits
        (["scaled", (2.0).hex(), ["scaled", (0.5).hex(), VIEW]], VIEW),  # the product may overflow
        (["multiply", ["multiply", VIEW, OTHER], ["view", 2]], ["multiply", VIEW, ["multiply", OTHER, ["view", 2]]]),
        (["hard_swish", VIEW], ["multiply", VIEW, ["hard_sigmoid", (0.2).hex(), (0.5).hex(), VIEW]]),
        (["hard_swish", VIEW], ["multiply", VIEW, ["hard_sigmoid", (1 / 6).hex(), (0.4).hex(), VIEW]]),
        (["swish", (2.0).hex(), VIEW], ["multiply", VIEW, ["sigmoid", VIEW]]),
        (["swish", (1.0).hex(), VIEW], ["multiply", VIEW, ["sigmoid", OTHER]]),
    ],
)
def test_what_terms_are_not_one(left: Any, right: Any) -> None:
    assert not [needed for *_, needed in agreements(left, right) if all(i == j for i, j in needed)]


def test_the_term_of_a_value_has_its_own_functions_to_a_depth() -> None:
    product = op("Mul", op("Reciprocal", X), Y)
    assert term_of(product, 0) == (["multiply", VIEW, OTHER], list(product.inputs))
    deeper = term_of(product, 1)
    assert deeper is not None
    assert deeper[0] == ["multiply", ["reciprocal", VIEW], OTHER]
    assert term_of(op("Relu", X), 1) is None
    assert term_of(sl.onnx.cast(X, to=7), 0) is None
