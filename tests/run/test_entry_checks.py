"""A prelude checks on entry exactly what the facts require."""

from __future__ import annotations

import symlayout as sl
from symlayout.run.entry_checks import Prelude
from symlayout_codegen.ir.integer_expressions import NamedInt, evaluate
from symlayout_codegen.ir.nest import Local, Precondition


def holds(steps: list[Local | Precondition], values: dict[str, int]) -> bool:
    """Return whether all preconditions hold, as the backend evaluates them."""
    known = dict(values)
    for step in steps:
        value = evaluate(step.value, known)
        if isinstance(step, Local):
            known[step.name] = value
        elif not (value >= 0 if step.relation == ">=" else value == 0):
            return False
    return True


def test_sizes_pass_that_meet_the_requirements_and_no_others() -> None:
    h = sl.dim("H", min=2, max=9)
    t = sl.reshape(sl.tensor((h,), name="x"), (3, -1))
    prelude = Prelude(t.facts)
    prelude.check_requirements()
    assert [n for n in range(12) if holds(prelude.steps, {"H": n})] == [3, 6, 9]


def test_a_derived_symbol_becomes_a_local_once() -> None:
    t = sl.tensor("N", name="x")[::2]
    prelude = Prelude(t.facts)
    first = prelude.expr(t.extents[0])
    count = len(prelude.steps)
    assert prelude.expr(t.extents[0]) == first
    assert len(prelude.steps) == count
    known = {"N": 7}
    for step in prelude.steps:
        if isinstance(step, Local):
            known[step.name] = evaluate(step.value, known)
    assert evaluate(first, known) == 4


def test_names_are_identifiers_of_their_own() -> None:
    prelude = Prelude(sl.tensor("N").facts)
    first, second = prelude.identifier("a b"), prelude.identifier("a.b")
    assert first != second
    assert first.isidentifier()
    assert second.isidentifier()
    assert prelude.identifier("a b") == first
    assert isinstance(prelude.local("a b", NamedInt("N")), NamedInt)


def test_an_extent_that_is_known_to_be_even_is_not_checked() -> None:
    t = sl.tensor("2*N, M")
    prelude = Prelude(t.facts)
    prelude.check_multiple(t.extents[0], 2)
    assert prelude.steps == []
    prelude.check_multiple(t.extents[1], 2)
    (step,) = prelude.steps
    assert isinstance(step, Precondition)
    assert step.kind == "non_divisible"
