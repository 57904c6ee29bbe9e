"""The sizes that a reason gives break its requirement and no other."""

from __future__ import annotations

import pytest

import symlayout as sl
from symlayout.show.requirement_reasons import RULES, reasons

CHAINS = {
    "blocks": sl.space_to_depth(sl.tensor("1, C, H, W", name="x"), 2),
    "reshape": sl.reshape(sl.tensor("N", name="x"), (4, -1)),
    "join": sl.concatenate([sl.tensor("A, B", name="x"), sl.tensor("C, D", name="y")]),
}


@pytest.mark.parametrize("name", CHAINS)
def test_the_sizes_of_a_reason_break_it_alone(name: str) -> None:
    t = CHAINS[name]
    found = reasons(t)
    assert [reason.relation for reason in found] == list(t.requires)
    for reason in found:
        assert reason.breaks
        assert reason.rule == RULES[reason.kind]
        with pytest.raises(sl.ShapeError) as caught:
            t.subs(reason.breaks)
        assert caught.value.kind == reason.kind
        values = {sl.dim(k): v for k, v in reason.breaks.items()}
        others = [r for r in t.requires if r != reason.relation]
        named = [{s: values[sl.dim(s.name)] for s in r.free_symbols} for r in others]
        assert all(bool(r.subs(at)) for r, at in zip(others, named, strict=True))


def test_a_reason_names_the_operation_that_asked() -> None:
    (reason,) = reasons(CHAINS["reshape"])
    assert reason.operation == "reshape"
