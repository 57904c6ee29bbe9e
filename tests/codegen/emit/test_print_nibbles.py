"""Statements on half bytes are calls of the runtime's functions for these."""

from __future__ import annotations

import pytest

from symlayout_codegen.emit.print_nibbles import half_leaf
from symlayout_codegen.emit.runtime import NIBBLES, part
from symlayout_codegen.ir.integer_expressions import IntLiteral, NamedInt
from symlayout_codegen.ir.statements import CopyGrid, CopyRows, CopyRun, FillRows, FillRun, Let, Statement

N, K = NamedInt("n"), NamedInt("k")
STATEMENTS: list[Statement] = [
    CopyRun(N, 0, K, IntLiteral(1)),
    CopyRun(N, 0, K, N),
    FillRun(N, 0, IntLiteral(1)),
    FillRun(N, 0, N),
    CopyRows(N, K, 0, N, K, N, K),
    CopyGrid(N, K, K, 0, N, K, K, N, N, K),
    FillRows(N, K, 0, N, K),
]


def show(e: object) -> str:
    return e.name if isinstance(e, NamedInt) else str(getattr(e, "value", e))


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda s: type(s).__name__)
def test_the_function_is_in_the_runtime(statement: Statement) -> None:
    text = half_leaf(statement, show, "&plan0")
    assert text is not None
    assert text.endswith(");")
    function = text.partition("(")[0] + "("
    assert any(function in part(name) for name in NIBBLES)


def test_one_element_and_many_are_different_calls() -> None:
    one, many = (half_leaf(s, show, "") for s in STATEMENTS[:2])
    assert one == "sl_nibble_move(to, n, from0, k);"
    assert many == "sl_nibble_copy(to, n, from0, k, n);"


def test_what_holds_no_element_is_printed_elsewhere() -> None:
    assert half_leaf(Let("a", N), show, "") is None
