"""Two values of one function whose batches differ in shape: a certificate has them as a pair that is reshaped."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof.certificate.check_computed import refusal_alone, refusal_of_chains
from symlayout.proof.certificate.checker.schema import sealed
from symlayout.tensors.chain import Tensor

N, S, K, H, D = sl.dims("N S K H D")
X = sl.tensor((N, S, K), "float32", "x")
W = sl.tensor((K, H * D), "float32", "w")
B = sl.tensor((H * D,), "float32", "b")
Certificate = dict[str, Any]


def op(name: str, *xs: Any) -> Tensor:
    made = sl.op(f"onnx:{name}")(*xs)
    assert isinstance(made, Tensor)
    return made


def heads(t: Tensor) -> Tensor:
    return sl.transpose(sl.reshape(t, (N, S, H, D)), (0, 2, 1, 3))


def of_rows(x: Tensor) -> Tensor:
    return op("Add", op("MatMul", sl.reshape(x, (N * S, K)), W), B)


LEFT = heads(op("Add", B, op("MatMul", X, W)))
RIGHT = heads(of_rows(X))


@pytest.fixture(scope="module", name="shown")
def fixture_shown() -> Certificate:
    proof = sl.prove_equal(LEFT, RIGHT)
    assert (proof.verdict, proof.laws) == (sl.Verdict.PROVED, ())
    shown: Certificate = json.loads(json.dumps(proof.certificate))
    return shown


def test_a_product_of_rows_of_another_shape_has_a_certificate(shown: Certificate) -> None:
    assert [pair["reshaped"] for pair in shown["pairs"]] == [2, 2]
    assert sl.check(shown, before=LEFT, after=RIGHT)
    assert refusal_alone(shown) == ""


@pytest.mark.parametrize(
    "right",
    [
        LEFT,
        heads(op("Relu", of_rows(X))),
        heads(op("Mul", of_rows(X), op("Add", B, B))),
        heads(of_rows(sl.flip(X, [1]))),
        sl.flip(RIGHT, [2]),
        sl.transpose(sl.reshape(of_rows(sl.transpose(X, (1, 0, 2))), (S, N, H, D)), (1, 2, 0, 3)),
    ],
)
def test_it_is_about_no_other_sides(shown: Certificate, right: Tensor) -> None:
    assert refusal_of_chains(shown, LEFT, right) != ""


EDITS: dict[str, Callable[[Certificate], Any]] = {
    "not reshaped": lambda pair: pair.pop("reshaped"),
    "another rank": lambda pair: pair.update(reshaped=3),
    "no number": lambda pair: pair.update(reshaped=True),
    "no views": lambda pair: pair.update(views=[None] * len(pair["views"])),
    "a view less": lambda pair: pair["views"].pop(),
    "views the other way round": lambda pair: pair.update(views=pair["views"][::-1]),
    "swapped": lambda pair: pair.update(swapped=not pair["swapped"]),
    "another order": lambda pair: pair.update(order=pair["order"][::-1]),
    "a box that is turned": lambda pair: pair["box"].__setitem__(3, [*range(len(pair["box"][0]))] or [0]),
    "a law": lambda pair: pair.update(law="reassociate"),
    "another value before": lambda pair: pair.update(before=pair["before"] - 1),
    "another value after": lambda pair: pair.update(after=pair["after"] - 1),
    "another function": lambda pair: pair.update(function=["Sub", "()"]),
}


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_pair_is_refused(shown: Certificate, edit: str, number: int) -> None:
    edited = deepcopy(shown)
    EDITS[edit](edited["pairs"][number])
    assert edited != shown
    assert refusal_of_chains(sealed(edited), LEFT, RIGHT) != ""


@pytest.mark.parametrize("number", [0, 1])
def test_a_pair_is_not_left_out(shown: Certificate, number: int) -> None:
    edited = deepcopy(shown)
    del edited["pairs"][number]
    assert refusal_of_chains(sealed(edited), LEFT, RIGHT) != ""
    edited["pairs"] = []
    assert refusal_of_chains(sealed(edited), LEFT, RIGHT) != ""


def test_pairs_are_not_claimed_of_values_that_a_reshape_does_not_make_equal(shown: Certificate) -> None:
    other = heads(of_rows(sl.reshape(sl.transpose(X, (1, 0, 2)), (N, S, K))))
    assert sl.prove_equal(LEFT, other).verdict is not sl.Verdict.PROVED
    assert refusal_of_chains(shown, LEFT, other) != ""


def test_a_formula_reads_values_that_are_reshaped() -> None:
    def gelu(x: Tensor) -> Tensor:
        root, one, half = (sl.constant(np.float32(value)) for value in (2**0.5, 1.0, 0.5))
        return op("Mul", op("Mul", x, op("Add", op("Erf", op("Div", x, root)), one)), half)

    left = gelu(op("Add", B, op("MatMul", X, W)))
    right = op("Gelu", sl.reshape(of_rows(X), (N, S, H * D)))
    certificate = sl.prove_equal(left, right).certificate
    assert sl.check(certificate, before=left, after=right)
    assert not sl.check(certificate, before=left, after=op("Gelu", right))


@pytest.mark.parametrize("shape", ["0, C", "1, C", "N, 1"])
def test_a_batch_may_be_empty_or_have_one_row(shape: str) -> None:
    x = sl.tensor(shape, "float32", name="x")
    left, right = sl.transpose(op("Relu", sl.reshape(x, x.shape[::-1]))), op("Relu", x)
    assert sl.check(sl.prove_equal(left, right).certificate, before=left, after=right)


def twisted(h: Tensor, last: str = "Erf") -> Tensor:
    """Return functions of single elements, deep and reading each value twice."""
    for name in ("Sigmoid", "Tanh", "Relu", last):
        h = op("Mul", h, op("Add", op(name, h), h))
    return h


@pytest.mark.parametrize("sizes", [(2, 12, 16), (N, S, K)])
def test_deep_functions_of_rows_are_compared_once_for_each_value(sizes: tuple[Any, ...]) -> None:
    n, s, k = sizes
    x, w = sl.tensor(sizes, "float32", "x"), sl.tensor((k, 8), "float32", "w")
    given = op("MatMul", x, w)
    left = op("MatMul", twisted(given), sl.transpose(w))
    rows = sl.reshape(given, (n * s, 8))
    right = sl.reshape(op("MatMul", twisted(rows), sl.transpose(w)), sizes)
    proof = sl.prove_equal(left, right)
    assert proof.verdict is sl.Verdict.PROVED
    assert sl.check(proof.certificate, before=left, after=right)
    other = sl.reshape(op("MatMul", twisted(rows, "Softsign"), sl.transpose(w)), sizes)
    assert sl.prove_equal(left, other).verdict is sl.Verdict.REFUTED


def test_rows_in_another_order_are_no_pair() -> None:
    x = sl.tensor((4, 4, 3), "float32", "x")
    left = sl.reshape(twisted(x), (16, 3))
    right = twisted(sl.reshape(sl.transpose(x, (1, 0, 2)), (16, 3)))
    assert sl.prove_equal(left, right).verdict is sl.Verdict.REFUTED
