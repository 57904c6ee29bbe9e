"""Formulas: which steps a value needs, and which are done for each term."""

from __future__ import annotations

from symlayout_codegen.ir.formula import Formula, Step, literal

MEAN = Formula(
    (
        Step("load", "float32", (), 0),
        Step("cast", "float64", (0,)),
        Step("fold_add", "float64", (1,), 0),
        Step("load", "float64", (), 1),
        Step("divide", "float64", (2, 3)),
    )
)


def test_terms_are_what_folds_need_and_the_rest_is_done_once() -> None:
    assert MEAN.folds == (2,)
    assert MEAN.terms == [0, 1]
    assert MEAN.needed((4,)) == [2, 3, 4]
    assert list(MEAN.loads(MEAN.terms)) == [0]
    assert list(MEAN.loads(MEAN.needed((4,)))) == [1]


def test_a_literal_needs_nothing() -> None:
    made = literal("int8", 255)
    assert (made.type, made.folds, made.needed((0,))) == ("int8", (), [0])
