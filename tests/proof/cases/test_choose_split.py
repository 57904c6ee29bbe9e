"""Each polynomial that is chosen cuts the values of a symbol into two parts, neither of them empty."""

from __future__ import annotations

import pytest

import symlayout as sl
from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import floor_mod
from symlayout.algebra.polynomial import Extent, evaluate, names_of, symbol
from symlayout.proof.cases.choose_split import (
    MAX_VALUES,
    has_symbols,
    sign_to_decide,
    split_by_divisors,
    split_by_values,
)
from symlayout.tensors.chain import Tensor

C, FIRST, SECOND = symbol("C"), symbol("#0"), symbol("#1")


def facts_of(t: Tensor, *digits: Extent) -> Facts:
    facts = t.facts.fork()
    facts.splits = {}
    for k, extent in enumerate(digits):
        facts.add_digit(f"#{k}", extent)
    return facts


@pytest.mark.parametrize("most", [1, 2, 5, MAX_VALUES])
def test_a_symbol_with_few_values_is_halved(most: int) -> None:
    facts = facts_of(sl.tensor((sl.dim("C", min=0, max=most),), name="x"))
    value = split_by_values(facts, (), ())
    assert value is not None
    upper = [c for c in range(most + 1) if evaluate(value, {"C": c}) >= 0]
    assert abs(2 * len(upper) - (most + 1)) <= 1


def test_of_a_symbol_with_many_values_the_least_is_separated_once() -> None:
    facts = facts_of(sl.tensor((sl.dim("C", min=3, max=3 + MAX_VALUES + 1),), name="x"))
    assert split_by_values(facts, (), ()) is None
    assert split_by_values(facts, (C,), ()) == C - 4
    assert split_by_values(facts, (C,), (3 - C,)) is None


def test_a_divisor_of_a_number_is_split_between_its_divisors() -> None:
    g = sl.dim("g", min=1)
    facts = facts_of(sl.reshape(sl.tensor("12", name="x"), (g, sl.dim("h", min=1))))
    value = split_by_divisors(facts)
    assert value is not None
    (name,) = names_of(value)
    upper = [evaluate(value, {name: divisor}) >= 0 for divisor in (1, 2, 3, 4, 6, 12)]
    assert upper == [False] * 3 + [True] * 3


def test_without_a_product_that_is_a_number_there_is_no_divisor() -> None:
    assert split_by_divisors(facts_of(sl.tensor("H, W", name="x"))) is None


def test_a_digit_that_is_multiplied_by_an_extent_is_halved_first() -> None:
    facts = facts_of(sl.tensor((sl.dim("C", min=1),), name="x"), 4, C)
    assert sign_to_decide(facts, FIRST * C + SECOND - C, ()) == FIRST - 2
    assert sign_to_decide(facts, SECOND - 1, ()) == SECOND - 1


def test_a_remainder_that_is_multiplied_by_an_extent_is_halved_first() -> None:
    facts = facts_of(sl.tensor((sl.dim("C", min=1), sl.dim("N")), name="x"), symbol("N"))
    remainder = floor_mod(facts, FIRST, 2)
    value = sign_to_decide(facts, remainder * C - 1, ())
    found = {r: evaluate(value, {"#0": r, **_floors(facts, r)}) >= 0 for r in (0, 1)}
    assert found[0] != found[1]


def _floors(facts: Facts, i: int) -> dict[str, int]:
    return {name: i // 2 for name in facts.floors}


def test_of_several_digits_with_numbers_the_leading_one_is_halved() -> None:
    facts = facts_of(sl.tensor("6", name="x"), 4, 6)
    assert sign_to_decide(facts, 6 * FIRST + SECOND - 9, ()) == FIRST - 2


def test_facts_have_the_symbols_of_a_polynomial_or_not() -> None:
    facts = facts_of(sl.tensor((sl.dim("C"),), name="x"))
    assert has_symbols(C + 1, facts)
    assert not has_symbols(C + FIRST, facts)
