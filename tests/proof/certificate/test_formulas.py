"""Two functions that have one formula: the certificate has both as terms, which the checker compares by itself."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import product
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.compute import scalars
from symlayout.compute.trace import larger, smaller
from symlayout.proof.certificate.check_computed import refusal_alone, refusal_of_chains
from symlayout.proof.certificate.checker.formulas import OPERANDS, agreement
from symlayout.proof.certificate.checker.real_terms import FORMULAS
from symlayout.proof.certificate.checker.schema import sealed
from symlayout.proof.certificate.formula_terms import bits_of, term_of, views_of
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


def constant(value: float) -> Tensor:
    return sl.constant(np.float32(value))


def gelu(x: Tensor) -> Tensor:
    erf = op("Erf", op("Div", x, constant(2**0.5)))
    return op("Mul", op("Mul", x, op("Add", erf, constant(1.0))), constant(0.5))


def gelu_tanh(x: Tensor) -> Tensor:
    inner = op("Add", x, op("Mul", constant(0.044715), op("Pow", x, constant(3.0))))
    tanh = op("Tanh", op("Mul", constant((2 / np.pi) ** 0.5), inner))
    return op("Mul", op("Mul", constant(0.5), x), op("Add", constant(1.0), tanh))


CLAIMS: dict[str, tuple[Tensor, Tensor, tuple[str, ...]]] = {
    "a fused function": (hard_swish(X), op("HardSwish", X), ()),
    "another fused function": (op("Mul", op("Sigmoid", X), X), op("Swish", X), ()),
    "a quotient": (op("Mul", X, op("Reciprocal", op("Relu", Y))), op("Div", X, op("Relu", Y)), ("reciprocal",)),
    "Gelu": (gelu(X), op("Gelu", X), ()),
    "Gelu of a sum": (gelu(op("Add", X, Y)), op("Gelu", op("Add", Y, X)), ()),
    "Gelu by tanh": (gelu_tanh(X), op("Gelu", X, approximate="tanh"), ()),
    "Mish": (op("Mul", X, op("Tanh", op("Softplus", X))), op("Mish", X), ()),
    "a quotient by a number": (op("Div", X, constant(3.0)), op("Mul", X, constant(1 / 3)), ("reciprocal",)),
    "signs": (op("Mul", op("Neg", X), Y), op("Mul", op("Neg", Y), X), ()),
    "a zero": (op("Add", op("Mul", X, Y), constant(0.0)), op("Mul", Y, X), ("signed-zero",)),
    "HardSwish by Clip": (
        op("Mul", X, op("Clip", op("Add", op("Div", X, constant(6.0)), constant(0.5)), constant(0.0), constant(1.0))),
        op("HardSwish", X),
        (),
    ),
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


@pytest.mark.parametrize("function", [["formula", "()", 1], ["()", "formula"], ["formula"], ["y", "()"], "formula"])
def test_a_pair_by_formula_names_no_other_function(function: Any) -> None:
    left, right, certificate = certified("a fused function")
    formula_of(certificate)[0]["function"] = function
    assert refusal_alone(sealed(certificate))
    assert refusal_of_chains(sealed(certificate), left, right)


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
    "another precision": lambda _, formula: formula.update(bits=11),
    "no precision": lambda _, formula: formula.update(bits=23),
    "a place that is not there": lambda _, formula: formula["places"].__setitem__(0, [7, 0]),
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


ROOT = 1.4142135381698608  # of 2, in float32
ERF = ["erf", ["divide", VIEW, number(ROOT)]]
GELU = ["multiply", ["multiply", VIEW, ["add", ERF, number(1.0)]], number(0.5)]
CUBE = ["multiply", ["power", VIEW, number(3.0)], number(0.044714998453855515)]
TANH = ["tanh", ["multiply", ["add", VIEW, CUBE], number(0.7978845834732056)]]
GELU_TANH = ["multiply", ["multiply", number(0.5), VIEW], ["add", number(1.0), TANH]]
SIXTH = float(np.float32(1 / 6)).hex()
RAISED = ["add", ["divide", VIEW, number(6.0)], number(0.5)]
CLIPPED = ["smaller", ["larger", number(0.0), RAISED], number(1.0)]
PLACES = [(0, 0), (1, 1), (2, 2)]


@pytest.mark.parametrize(
    ("left", "right", "why"),
    [
        (["multiply", VIEW, OTHER], ["multiply", OTHER, VIEW], ("", [])),
        (["add", VIEW, OTHER], ["add", OTHER, VIEW], ("", [])),
        (["subtract", VIEW, OTHER], ["add", ["negate", OTHER], VIEW], ("", [])),
        (["negate", ["negate", VIEW]], ["multiply", VIEW, number(1.0)], ("", [])),
        (["multiply", ["negate", VIEW], OTHER], ["negate", ["multiply", OTHER, VIEW]], ("", [])),
        (["multiply", VIEW, number(-3.0)], ["multiply", ["negate", VIEW], number(3.0)], ("", [])),
        (["divide", ["negate", VIEW], ["negate", OTHER]], ["divide", VIEW, OTHER], ("", [])),
        (["add", VIEW, number(-0.0)], ["subtract", VIEW, number(0.0)], ("", [])),
        (["divide", VIEW, number(8.0)], ["scaled", (0.125).hex(), VIEW], ("", [])),
        (["divide", number(1.0), VIEW], ["reciprocal", VIEW], ("", [])),
        (["divide", VIEW, OTHER], ["multiply", ["reciprocal", OTHER], VIEW], ("reciprocal", [])),
        (["divide", VIEW, number(-3.0)], ["scaled", float(np.float32(-1 / 3)).hex(), VIEW], ("reciprocal", [])),
        (["divide", VIEW, OTHER], ["divide", VIEW, OTHER], ("", [])),
        (["divide", VIEW, number(2.0**20)], ["scaled", (2.0**-20).hex(), VIEW], ("reciprocal", [])),  # beyond 16 bits
        (["add", VIEW, number(0.0)], ["multiply", VIEW, number(1.0)], ("signed-zero", [])),
        (["subtract", ["negate", VIEW], OTHER], ["negate", ["add", OTHER, VIEW]], ("signed-zero", [])),
        (["multiply", VIEW, ["sigmoid", VIEW]], ["swish", (1.0).hex(), VIEW], ("", ["swish"])),
        (["swish", (2.0).hex(), VIEW], ["multiply", VIEW, ["sigmoid", ["add", VIEW, VIEW]]], ("", ["swish"])),
        (["mish", VIEW], ["multiply", ["tanh", ["softplus", VIEW]], VIEW], ("", ["mish"])),
        (["softsign", VIEW], ["divide", VIEW, ["add", ["absolute", VIEW], number(1.0)]], ("", ["softsign"])),
        (["hard_sigmoid", SIXTH, (0.5).hex(), VIEW], CLIPPED, ("", ["hard_sigmoid"])),
        (["hard_swish", VIEW], ["multiply", CLIPPED, VIEW], ("", ["hard_swish"])),
        (GELU, ["gelu", VIEW], ("", ["gelu"])),
        (["gelu_tanh", VIEW], GELU_TANH, ("", ["gelu_tanh"])),
    ],
)
def test_what_terms_are_one(left: Any, right: Any, why: tuple[str, list[str]]) -> None:
    assert agreement(left, right, PLACES, 24) == agreement(right, left, PLACES, 24) == why
    assert agreement(left, right, [], 24) is None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (["divide", VIEW, OTHER], ["divide", OTHER, VIEW]),
        (["subtract", VIEW, OTHER], ["subtract", OTHER, VIEW]),
        (["divide", VIEW, number(3.0)], ["scaled", (0.3333).hex(), VIEW]),
        (["divide", VIEW, number(-3.0)], ["scaled", (1 / 3).hex(), VIEW]),
        (["add", VIEW, OTHER], ["add", VIEW, VIEW]),
        (["add", VIEW, number(1e-30)], ["multiply", VIEW, number(1.0)]),
        (["multiply", VIEW, number(0.0)], number(0.0)),
        (["divide", VIEW, number(0.0)], ["multiply", VIEW, number(0.0)]),
        (["add", ["add", VIEW, OTHER], ["view", 2]], ["add", VIEW, ["add", OTHER, ["view", 2]]]),
        (["negate", ["power", VIEW, number(2.0)]], ["power", ["negate", VIEW], number(2.0)]),
        (["power", VIEW, number(2.0)], ["multiply", VIEW, VIEW]),
        (["scaled", (2.0).hex(), ["scaled", (0.5).hex(), VIEW]], ["scaled", (1.0).hex(), VIEW]),  # may overflow
        (["multiply", ["multiply", VIEW, OTHER], ["view", 2]], ["multiply", VIEW, ["multiply", OTHER, ["view", 2]]]),
        (["hard_swish", VIEW], ["multiply", VIEW, ["hard_sigmoid", (0.2).hex(), (0.5).hex(), VIEW]]),
        (["hard_swish", VIEW], ["multiply", VIEW, ["hard_sigmoid", (1 / 6).hex(), (0.4).hex(), VIEW]]),
        (["swish", (2.0).hex(), VIEW], ["multiply", VIEW, ["sigmoid", VIEW]]),
        (["swish", (1.0).hex(), VIEW], ["multiply", VIEW, ["sigmoid", OTHER]]),
        (["gelu", VIEW], GELU_TANH),
        (["gelu_tanh", VIEW], GELU),
        (["gelu", OTHER], GELU),
        (["gelu", VIEW], ["multiply", GELU[1], number(0.500001)]),
        (["gelu", VIEW], ["multiply", VIEW, ["add", ERF, number(1.0)]]),
        (
            ["gelu", ["add", VIEW, OTHER]],
            ["multiply", ["multiply", ["add", VIEW, OTHER], ["add", ERF, number(1.0)]], number(0.5)],
        ),
        (["mish", VIEW], ["multiply", ["tanh", VIEW], VIEW]),
        (["hard_swish", VIEW], ["multiply", ["larger", ["smaller", number(0.0), RAISED], number(1.0)], VIEW]),
        (["hard_swish", VIEW], ["multiply", ["smaller", ["larger", number(0.0), RAISED], number(6.0)], VIEW]),
        (["softsign", VIEW], ["divide", VIEW, ["add", VIEW, number(1.0)]]),
    ],
)
def test_what_terms_are_not_one(left: Any, right: Any) -> None:
    assert agreement(left, right, PLACES, 24) is None
    assert agreement(right, left, PLACES, 24) is None


@pytest.mark.parametrize(("bits", "holds"), [(11, True), (24, True), (53, False)])
def test_a_number_of_a_formula_is_rounded_to_the_precision_of_the_elements(bits: int, holds: bool) -> None:
    assert (agreement(GELU, ["gelu", VIEW], PLACES, bits) is not None) == holds
    third = ["scaled", float(np.float32(1 / 3)).hex(), VIEW]
    assert (agreement(third, ["divide", VIEW, number(3.0)], PLACES, bits) is not None) == holds


def test_each_formula_is_what_the_function_computes() -> None:
    x = np.linspace(-4.0, 4.0, 33)
    functions: dict[str, Callable[..., Any]] = {
        **FUNCTIONS,
        "erf": scalars.erf,
        "sigmoid": scalars.sigmoid,
        "softplus": scalars.softplus,
        "absolute": np.abs,
    }

    def value(term: Any) -> Any:
        kind, *parts = term
        if kind == "hard_sigmoid":
            return scalars.hard_sigmoid(x, *(float.fromhex(p) if isinstance(p, str) else float(p) for p in parts[:2]))
        if kind in ("real", "number"):
            return float(parts[0]) if kind == "real" else float.fromhex(parts[0])
        return x if kind == "x" else functions[kind](*map(value, parts))

    computed = {
        "gelu": (scalars.gelu(x), ()),
        "gelu_tanh": (scalars.gelu(x, approximate="tanh"), ()),
        "hard_swish": (scalars.hard_swish(x), ()),
        "hard_sigmoid": (scalars.hard_sigmoid(x, alpha=0.3, beta=0.4), ((0.3).hex(), (0.4).hex())),
        "softsign": (scalars.softsign(x), ()),
        "swish": (scalars.swish(x, alpha=0.3), ((0.3).hex(),)),
        "mish": (scalars.mish(x), ()),
    }
    assert computed.keys() == FORMULAS.keys()
    for name, (expected, numbers) in computed.items():
        np.testing.assert_allclose(value(FORMULAS[name](*numbers)), expected, rtol=1e-9, atol=1e-12)


def test_the_operand_of_a_fused_function_is_not_taken_apart() -> None:
    def gelu(x: Any, y: Any) -> Any:
        return ["multiply", ["multiply", x, ["add", ["erf", ["divide", y, number(ROOT)]], number(1.0)]], number(0.5)]

    total, turned = ["add", VIEW, OTHER], ["add", OTHER, VIEW]
    assert agreement(["gelu", total], gelu(total, turned), PLACES, 24) == ("", ["gelu"])
    parted = ["add", ["multiply", VIEW, number(1.0)], ["add", OTHER, ["view", 2]]]
    assert agreement(["gelu", ["add", total, ["view", 2]]], gelu(parted, parted), PLACES, 24) is None


VALUES = [0.0, -0.0, 1.0, -1.0, 2.5, -3.0, 1e-7, -6e4, 3e38, -3e38, np.inf, -np.inf, np.nan, 1e-40, 0.1]
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "negate": np.negative,
    "multiply": np.multiply,
    "divide": scalars.divide,
    "reciprocal": scalars.reciprocal,
    "power": scalars.power,
    "tanh": np.tanh,
    "absolute": np.absolute,
    "larger": larger,
    "smaller": smaller,
}


def value_of(term: Any, views: Sequence[Any]) -> Any:
    kind, *parts = term
    if kind == "view":
        return views[parts[0]]
    if kind == "number":
        return np.full_like(views[0], float.fromhex(parts[0]))
    if kind == "scaled":
        return scalars.scaled(value_of(parts[1], views), float.fromhex(parts[0]))
    return FUNCTIONS[kind](*(value_of(part, views) for part in parts))


def small_terms() -> list[Any]:
    """Return terms of up to two views and numbers, and their negations."""
    leaves = [VIEW, OTHER, *(number(x) for x in (0.0, -0.0, 1.0, -1.0, 2.0))]
    made = [["scaled", factor.hex(), x] for factor in (2.0, -1.0, 0.5) for x in leaves]
    for name in FUNCTIONS:
        made += [[name, *operands] for operands in product(leaves, repeat=OPERANDS[name][1])]
    signed = [["negate", x] for x in leaves[:2]]
    made += [[name, *pair] for name in ("add", "multiply", "divide") for pair in product(signed, leaves)]
    return made + [["negate", term] for term in made]


def test_terms_that_are_one_without_a_law_have_the_same_bits() -> None:
    terms, rng, laws = small_terms(), random.Random(0), Counter[str]()
    with np.errstate(all="ignore"):
        grids = [np.meshgrid(*[np.array(VALUES, dtype)] * 2) for dtype in ("float16", "float32", "float64")]
        for _ in range(20_000):
            left, right = rng.choice(terms), rng.choice(terms)
            found = agreement(left, right, PLACES, 24)
            if found is None or left == right:
                continue
            laws[found[0]] += 1
            for grid in grids if found[0] in ("", "signed-zero") else ():
                a, b = (value_of(term, grid) for term in (left, right))
                same = (a == b) | (np.isnan(a) & np.isnan(b))
                assert (same & (np.isnan(a) | (np.signbit(a) == np.signbit(b)) | (found[0] != ""))).all(), (left, right)
    assert laws[""] > 50
    assert laws["signed-zero"] > 10


def test_the_term_of_a_value_has_its_own_functions_but_for_values_that_stay_whole() -> None:
    def never(_: Tensor) -> bool:
        return False

    made = op("Mul", op("Reciprocal", X), Y)
    whole = term_of(made, lambda _: True)
    assert whole == (["multiply", VIEW, OTHER], list(made.inputs))
    deeper = term_of(made, never)
    assert deeper is not None
    assert deeper[0] == ["multiply", ["reciprocal", VIEW], OTHER]
    assert [views_of(made, term) for term, _ in (whole, deeper)] == [views for _, views in (whole, deeper)]
    assert views_of(made, ["multiply", ["reciprocal", OTHER], VIEW]) is None
    assert views_of(made, ["multiply", ["negate", VIEW], OTHER]) is None
    assert views_of(made, ["multiply", VIEW, number(1.0)]) is None
    assert term_of(op("Relu", X), never) is None
    assert term_of(sl.onnx.cast(X, to=7), never) is None
    assert [bits_of(sl.onnx.cast(X, to=to)) for to in (10, 1, 11, 7)] == [11, 24, 53, 0]
