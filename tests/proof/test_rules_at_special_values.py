"""Every rule and every declared property holds bit for bit at -0.0, NaN, infinities, subnormals and integer extremes.

The cases are made from the tables themselves, so that a new row is tested, too; each table has a test that its rows
were applied.  The judge is NumPy: the functions of bodies, and the interpreter.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.compute import along_axis, pooling, reductions, trace
from symlayout.compute.contractions import SUM_OF_PRODUCTS
from symlayout.frontends.onnx import elementwise
from symlayout.frontends.onnx import reductions as onnx_reductions
from symlayout.frontends.onnx.operator import snake_case
from symlayout.proof.added_zeros import _summand
from symlayout.proof.congruence import any_order
from symlayout.proof.fills import monotone_functions
from symlayout.proof.fills.copies_of_terms import fold_of_copies, neutral
from symlayout.proof.forms.real_forms import LAW_OF_STEP
from symlayout.proof.idle_functions import idle_operand
from symlayout.proof.laws import LAWS
from tests.attack.rules import same_bits, specials

Array = np.ndarray[Any, Any]
op: Any = sl.onnx
FLOATS = ("float16", "float32", "float64")
DTYPES = (*FLOATS, "int8", "int32", "int64", "uint8", "uint64", "bool")
DRAW = np.random.default_rng(0)


def number(value: Any, dtype: Any = np.float32) -> sl.Tensor:
    return sl.constant(np.asarray(value, dtype))


def vectors(dtype: str, length: int, count: int = 200) -> Array:
    """Return vectors of special values, a row for each."""
    return DRAW.choice(specials(dtype), (count, length))


def interpreted(t: sl.Tensor, *arrays: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(sl.interpret(t, *arrays))


# ---------------------------------------------------------------------- properties of bodies


def folds(dtype: str) -> Iterator[tuple[str, Any, sl.Tensor]]:
    """Yield the body of each reduction, with a value that it computes."""
    x = sl.tensor("N, C", dtype, name="x")
    rows = onnx_reductions.ROWS.items()
    made = {name: reductions.reduced(x, [1], f, keepdims=False, exact=exact) for name, (f, exact) in rows}
    for name, body in pooling._REDUCE.items():
        made[f"pool {name}"] = sl.compute(body, [x], batch=1)
    made["products"] = sl.compute(SUM_OF_PRODUCTS, [x], batch=1)
    for name, t in made.items():
        assert t.body is not None
        yield name, t.body, t


def folded(body: Any, x: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(body.function(x, axes=(-1,), **dict(body.attributes)))


def evaluates(body: Any, dtype: str) -> bool:
    return dtype != "bool" or body.joins is not None


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_fold_whose_order_does_not_matter_gives_equal_bits_in_any_order(dtype: str) -> None:
    applied = set()
    x = vectors(dtype, 3)
    for name, body, t in folds(dtype):
        if any_order(t) and evaluates(body, dtype):
            applied.add(name)
            for order in itertools.permutations(range(3)):
                assert same_bits(folded(body, x), folded(body, x[:, order])), name
    assert {"ReduceMax", "ReduceMin", "pool max"} <= applied
    assert (dtype in FLOATS) != ({"ReduceSum", "ReduceProd", "products"} <= applied)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_fold_of_parts_is_the_fold_of_all_terms_also_where_a_part_is_empty(dtype: str) -> None:
    applied = set()
    for name, body, t in folds(dtype):
        if body.joins is None or not (body.exact or t.dtype is None or t.dtype.kind in "iub"):
            continue
        applied.add(name)
        for first, second in ((0, 0), (0, 1), (1, 0), (0, 2), (1, 1), (2, 2)):
            x = vectors(dtype, first + second)
            with np.errstate(all="ignore"):
                parts = body.joins(folded(body, x[:, :first]), folded(body, x[:, first:]))
            assert same_bits(np.asarray(parts).astype(dtype), folded(body, x)), (name, first, second)
        one = vectors(dtype, 1)
        assert same_bits(folded(body, one), one[:, 0]), name
    assert {"ReduceMax", "ReduceMin"} <= applied


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_idempotent_fold_does_not_count_its_terms(dtype: str) -> None:
    applied = set()
    x = vectors(dtype, 3)
    for name, body, _ in folds(dtype):
        if body.idempotent:
            applied.add(name)
            assert same_bits(folded(body, x), folded(body, x[:, [0, 1, 1, 2, 0]])), name
    assert applied == {"ReduceMax", "ReduceMin", "pool max"}


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_neutral_element_changes_nothing_and_copies_make_what_one_makes(dtype: str) -> None:
    applied = set()
    for name, body, _ in folds(dtype):
        value = neutral(body, np.dtype(dtype))
        if value is not None:
            applied.add(name)
            for length in (0, 1, 3):
                x = vectors(dtype, length)
                wide = np.concatenate([x, np.full((len(x), 1), value, dtype)], axis=1)
                assert same_bits(folded(body, x), folded(body, wide)), (name, length)
        for term in specials(dtype) if body.joins is not None else ():
            found = fold_of_copies(body, term)
            for count in (0, 1, 2, 5) if found is not None else ():
                if found is not None and (count or found.of_none):
                    assert same_bits(folded(body, np.full((1, count), term))[0], np.asarray(found.value)), (name, term)
    assert {"ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd"} <= applied


@pytest.mark.parametrize("dtype", DTYPES)
def test_operands_of_symmetric_functions_may_be_exchanged(dtype: str) -> None:
    applied = set()
    x, y = (a.ravel() for a in np.meshgrid(specials(dtype), specials(dtype)))
    rows = [(name, row.function) for name, row in elementwise.ROWS.items() if row.symmetric]
    rows += [("Max", trace.larger), ("Min", trace.smaller)]
    for name, function in rows:
        try:
            with np.errstate(all="ignore"):
                found = [np.asarray(function(*pair)) for pair in ((x, y), (y, x))]
        except TypeError:  # bits of floats
            continue
        applied.add(name)
        assert same_bits(*found), name
    assert {"Add", "Mul", "Equal", "Max", "Min"} <= applied


@pytest.mark.parametrize("dtype", FLOATS)
def test_an_equivariant_function_moves_as_its_operand(dtype: str) -> None:
    assert along_axis._EQUIVARIANT
    finite = specials(dtype)[np.abs(specials(dtype).astype(np.float64)) < 100]
    for values, exact in ((finite, False), (specials(dtype), True)):
        x = DRAW.choice(values, (100, 3))
        for function in along_axis._EQUIVARIANT:
            wanted = inspect.signature(function).parameters
            given = {name: value for name, value in (("epsilon", 0.1), ("added", True)) if name in wanted}
            with np.errstate(all="ignore"):
                made = np.asarray(function(x, axes=(-1,), **given)).astype(np.float64)
                for order in itertools.permutations(range(3)):
                    moved = np.asarray(function(x[:, order], axes=(-1,), **given)).astype(np.float64)
                    there = made[:, order]
                    if exact:  # which elements are no numbers, or infinite
                        moved, there = (np.where(np.isfinite(t), 0, t) for t in (moved, there))
                    np.testing.assert_allclose(moved, there, rtol=1e-2 if dtype == "float16" else 1e-5, atol=1e-7)


def test_a_mean_of_integers_is_rounded_so_its_order_matters() -> None:
    x = sl.tensor("N", "int64", name="x")
    sides = op.reduce_mean(x, axes=[0]), op.reduce_mean(sl.flip(x), axes=[0])
    values = np.array([2**62, 300, -(2**62)])
    assert interpreted(sides[0], values) != interpreted(sides[1], values)
    assert sl.prove_equal(*sides, budget=20).verdict is not sl.Verdict.PROVED
    assert sl.prove_equal(*sides, laws=("reassociate",)).laws == ("reassociate",)
    total = op.reduce_sum(x, axes=[0]), op.reduce_sum(sl.flip(x), axes=[0])
    assert sl.prove_equal(*total).verdict is sl.Verdict.PROVED


# ---------------------------------------------------------------------- functions that keep or turn an order


def monotone(dtype: str) -> Iterator[sl.Tensor]:
    """Yield functions of single elements of *x*, with special values as constants and attributes."""
    x = sl.tensor("N", dtype, name="x")
    made: list[Callable[[], sl.Tensor]] = []
    for c in specials(dtype):
        k = sl.constant(np.array(c))
        for name in ("add", "sub", "mul", "div", "max", "min", "pow"):
            made += [partial(getattr(op, name), *pair) for pair in ((x, k), (k, x))]
        made += [
            partial(getattr(op, name), x, alpha=float(c)) for name in ("leaky_relu", "elu", "thresholded_relu", "celu")
        ]
    made += [partial(op.leaky_relu, x, alpha=alpha) for alpha in (1e-50, 1e300, 0.25)]
    made += [partial(getattr(op, name), x) for name in ("relu", "ceil", "floor", "round", "neg", "abs", "sign")]
    made += [partial(op.cast, x, to) for to in DTYPES]
    made += [partial(op.dequantize_linear, x, number(scale)) for scale in specials("float32")]
    for make in made:
        try:
            with np.errstate(all="ignore"):
                yield make()
        except (sl.SymlayoutError, OverflowError, ValueError):  # the operation does not have the type
            continue


MONOTONE: set[Any] = set()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_function_that_keeps_or_turns_the_order_moves_through_maxima(dtype: str) -> None:
    s = specials(dtype)
    pairs = np.array(list(itertools.product(s, s)), s.dtype)
    for value in monotone(dtype):
        found = monotone_functions.direction(value)
        if found is None or value.body is None:
            continue
        MONOTONE.add(value.body.function)
        made = np.broadcast_to(interpreted(value, pairs.ravel()), pairs.size).reshape(pairs.shape)
        turned = {1: (0, 1), -1: (1, 0)}[found[1]]
        ends = (reductions.greatest, reductions.least)
        for fold, other in zip(ends, (ends[k] for k in turned), strict=True):
            left = np.broadcast_to(interpreted(value, fold(pairs, (-1,))), len(pairs))
            assert same_bits(left, other(made, (-1,))), (value.body, dtype)


def test_each_function_of_the_table_was_moved() -> None:
    for dtype in DTYPES:
        for value in monotone(dtype):
            if value.body is not None and monotone_functions.direction(value) is not None:
                MONOTONE.add(value.body.function)
    assert set(monotone_functions._RULES) == MONOTONE


def test_a_slope_of_0_is_no_number_at_infinity() -> None:
    t = sl.tensor("N, C", "float32", name="t")
    for alpha in (0.0, -0.0, 1e-50):  # the last one is 0 as a float32
        left = op.leaky_relu(op.reduce_max(t, axes=[1]), alpha=alpha)
        right = op.reduce_max(op.leaky_relu(t, alpha=alpha), axes=[1])
        data = np.array([[-np.inf, 1]], np.float32)
        assert not same_bits(interpreted(left, data), interpreted(right, data))
        assert monotone_functions.direction(op.leaky_relu(t, alpha=alpha)) is None
    assert sl.prove_equal(left, right, budget=1, time_limit=5).verdict is not sl.Verdict.PROVED


def test_a_factor_that_is_no_number_keeps_no_order() -> None:
    t = sl.tensor("N, C", "float32", name="t")
    for factor in (np.nan, np.inf, 0.0):
        left = op.mul(op.reduce_max(t, axes=[1]), number(factor))
        right = op.reduce_max(op.mul(t, number(factor)), axes=[1])
        assert sl.prove_equal(left, right, budget=20).verdict is not sl.Verdict.PROVED


# ---------------------------------------------------------------------- functions that return an operand


def with_constants(name: str, row: Any, dtype: str) -> Iterator[tuple[sl.Tensor, int, tuple[Any, ...]]]:
    """Yield an elementwise operator of one input and special constants, the input's number, and the constants."""
    count = len(row.inputs.split())
    types = {"Where": ["bool", dtype, dtype]}.get(name, [dtype] * count)
    given = {"direction": "LEFT"} if "direction" in row.attributes else {}
    for free in range(count):
        x = sl.tensor("N", types[free], name="x")
        choices = ([None] if k == free else specials(types[k]) for k in range(count))
        for constants in itertools.islice(itertools.product(*choices), 30):
            operands = [x if c is None else sl.constant(np.array(c)) for c in constants]
            try:
                with np.errstate(all="ignore"):
                    yield getattr(op, snake_case(name))(*operands, **given), free, constants
            except (sl.SymlayoutError, TypeError):
                continue


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_function_that_is_taken_out_returns_its_operand_bit_for_bit(dtype: str) -> None:
    taken: dict[str, int] = {}
    for name, row in elementwise.ROWS.items():
        for value, free, constants in with_constants(name, row, dtype):
            zero = _summand(value)
            kept = idle_operand(value) if zero is None else zero
            if kept is None:
                continue
            x = specials("bool" if value.inputs[free].dtype == bool else dtype)
            drawn = np.frombuffer(DRAW.bytes(x.itemsize * 500), x.dtype) if x.dtype != bool else x
            x = np.concatenate([x, drawn])
            made = np.broadcast_to(interpreted(value, x), x.shape)
            expected = x if kept == free else np.broadcast_to(np.asarray(constants[kept]), x.shape)
            if zero is not None:  # under the law, another zero is the same
                made, expected = (np.where(t == 0, np.zeros_like(t), t) for t in (made, expected))
            assert same_bits(made, expected), (value.body, constants)
            taken[name] = taken.get(name, 0) + 1
    assert {"Mul", "Sub"} <= taken.keys() if dtype != "bool" else {"And", "Or"} <= taken.keys()


# ---------------------------------------------------------------------- the steps of forms

X, Y, Z = (sl.tensor("N", "float32", name=name) for name in "xyz")
M, W = sl.tensor("N, C", "float32", name="m"), sl.tensor("C, K", "float32", name="w")
SCALE, WEIGHTS = (np.array(v, np.float32) for v in ([0.3, 0.7, 1.1], [[1.3, 2.1], [0.7, 0.2], [0.1, 5.3]]))
T = sl.tensor("N, 3", "float32", name="t")
KERNEL = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3) / 7
IMAGE = sl.tensor("N, 1, H, W", "float32", name="image")
POINT = np.full((1, 1, 1, 1), 0.3, np.float32)
STEPS: dict[str, tuple[sl.Tensor, sl.Tensor, tuple[str, ...]]] = {
    "terms in another order": (op.add(op.add(X, Y), Z), op.add(X, op.add(Y, Z)), ("reassociate",)),
    "factors in another order": (op.mul(op.mul(X, Y), Z), op.mul(X, op.mul(Y, Z)), ("reassociate",)),
    "a quotient as a product": (op.div(X, Y), op.mul(X, op.div(number(1), Y)), ("reciprocal",)),
    "a negated sum": (op.neg(op.add(X, Y)), op.sub(op.neg(X), Y), ("signed-zero",)),
    "a summand 0": (op.div(number(1), op.sub(number(0), X)), op.div(number(1), op.neg(X)), ("signed-zero",)),
    "a constant 0 or -0": (op.mul(X, number(0)), op.mul(X, number(-0.0)), ("signed-zero",)),
    "a product with a sum": (op.mul(X, op.add(Y, Z)), op.add(op.mul(X, Y), op.mul(X, Z)), ("real",)),
    "like terms": (op.add(op.mul(X, number(2)), op.mul(X, number(3))), op.mul(X, number(5)), ("real",)),
    "terms that cancel": (op.mul(op.add(op.sub(X, X), Y), Z), op.mul(Y, Z), ("real",)),
    "powers": (op.pow(X, number(0.5)), op.sqrt(X), ("real",)),
    "a product with 0": (
        op.add(op.conv(IMAGE, KERNEL, pads=[1] * 4), op.conv(IMAGE, POINT)),
        op.conv(IMAGE, KERNEL + np.pad(POINT, ((0, 0), (0, 0), (1, 1), (1, 1))), pads=[1] * 4),
        ("fold-batchnorm", "real"),
    ),
    "constants that are computed": (
        op.mat_mul(op.mul(T, sl.constant(SCALE)), sl.constant(WEIGHTS)),
        op.mat_mul(T, sl.constant(SCALE[:, None] * WEIGHTS)),
        ("fold-batchnorm",),
    ),
}


def test_each_step_has_a_claim() -> None:
    assert STEPS.keys() == LAW_OF_STEP.keys()


@pytest.mark.parametrize("step", STEPS)
def test_a_step_needs_its_law_and_no_other(step: str) -> None:
    left, right, laws = STEPS[step]
    assert LAW_OF_STEP[step] in laws
    assert sl.prove_equal(left, right, budget=20).verdict is not sl.Verdict.PROVED
    proof = sl.prove_equal(left, right, laws=LAWS)
    assert set(laws) <= set(proof.laws)
    assert set(proof.laws) - set(laws) <= {"reassociate"}
    others = [law for law in LAWS if law != LAW_OF_STEP[step]]
    assert sl.prove_equal(left, right, laws=others, budget=20).verdict is not sl.Verdict.PROVED


def test_another_order_changes_nothing_that_is_exact() -> None:
    """Sums and products of few bits are exact, so only what else a law allows would show: signs of zeros, NaN."""
    values = np.array([0, -0.0, 1, -1, 2, 3, np.inf, -np.inf, np.nan], np.float32)
    x, y, z = (a.ravel() for a in np.meshgrid(values, values, values))
    for step in ("terms in another order", "factors in another order"):
        left, right, _ = STEPS[step]
        assert same_bits(interpreted(left, x, y, z), interpreted(right, x, y, z))


def test_a_square_is_one_product() -> None:
    for dtype in FLOATS:
        x = np.concatenate([specials(dtype), DRAW.standard_normal(20000).astype(dtype)])
        t = sl.tensor("N", dtype, name="t")
        with np.errstate(all="ignore"):
            assert same_bits(interpreted(op.pow(t, number(2, dtype)), x), x * x)


# ---------------------------------------------------------------------- no row without a test

ELSEWHERE = Path(__file__).parent
TESTED = {  # each table of rules and each property of a body, and the test that is made from it
    "commutative": test_a_fold_whose_order_does_not_matter_gives_equal_bits_in_any_order,
    "exact": test_a_fold_whose_order_does_not_matter_gives_equal_bits_in_any_order,
    "joins": test_a_fold_of_parts_is_the_fold_of_all_terms_also_where_a_part_is_empty,
    "sums_products": test_a_fold_whose_order_does_not_matter_gives_equal_bits_in_any_order,
    "symmetric": test_operands_of_symmetric_functions_may_be_exchanged,
    "idempotent": test_an_idempotent_fold_does_not_count_its_terms,
    "equivariant": test_an_equivariant_function_moves_as_its_operand,
}
NO_RULE = {"name", "function", "attributes", "over", "random", "places", "total", "rounds"}
FILES = {
    "fills_of_operands": ELSEWHERE / "fills" / "test_fills_at_special_values.py",
    "turned_signs": ELSEWHERE / "cases" / "test_signs_at_special_values.py",
}


def test_each_property_of_a_body_that_a_rule_relies_on_has_a_test_at_special_values() -> None:
    assert set(sl.Body._fields) == TESTED.keys() | NO_RULE


@pytest.mark.parametrize("rule", FILES)
def test_rules_on_all_operators_are_tested_from_the_table_of_operators(rule: str) -> None:
    text = FILES[rule].read_text("utf-8")
    assert "elementwise.ROWS" in text
    assert f"import {rule}" in text or f".{rule} import" in text
