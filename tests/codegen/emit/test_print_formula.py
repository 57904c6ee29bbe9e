"""Formulas as C: constants keep their bits, and C does each step in its type."""

from __future__ import annotations

import struct

import pytest

from symlayout_codegen.emit.print_formula import constant, formula_statement
from symlayout_codegen.ir.formula import Formula, Step
from symlayout_codegen.ir.integer_expressions import Expr, NamedInt
from symlayout_codegen.ir.statements import Compute, FoldTerms, LoadAt, StartFolds


def bits(value: float, form: str) -> int:
    return int.from_bytes(struct.pack(f"<{form}", value), "little")


@pytest.mark.parametrize(
    ("type", "pattern", "text"),
    [
        ("float32", bits(0.1, "f"), "0x1.99999ap-4F"),
        ("float64", bits(-0.0, "d"), "-0x0p+0"),
        ("float32", 0x7FC00001, "sl_float32_of_bits(UINT32_C(0x7fc00001))"),
        ("float16", bits(1.5, "e"), "0x1.8p+0F"),
        ("int8", 0x80, "-128"),
        ("int32", 1 << 31, "INT32_MIN"),
        ("int64", (1 << 64) - 1, "INT64_C(-1)"),
        ("uint64", (1 << 64) - 1, "UINT64_C(18446744073709551615)"),
        ("bool", 1, "1"),
    ],
)
def test_a_constant_has_its_bits(type: str, pattern: int, text: str) -> None:
    assert constant(type, pattern) == text


def show(e: Expr) -> str:
    assert isinstance(e, NamedInt)
    return e.name


def test_each_step_is_a_local_and_a_guarded_load_is_a_condition() -> None:
    formula = Formula((Step("load", "int8", (), 0), Step("literal", "int8", (), 3), Step("add", "int8", (0, 1))))
    load = LoadAt(0, NamedInt("at"), ((NamedInt("i"), NamedInt("n"), 0xFF),))
    lines = list(formula_statement(Compute(NamedInt("to_at"), "", formula, (load,)), ["int8"], "int8", show))
    assert lines == [
        "{",
        "    const int8_t sl_v0 = i >= 0 && i < n ? from0[at] : -1;",
        "    const int8_t sl_v2 = (int8_t)((uint32_t)sl_v0 + (uint32_t)3);",
        "    to[to_at] = sl_v2;",
        "}",
    ]


@pytest.mark.parametrize("type", ["float16", "float32", "float64"])
@pytest.mark.parametrize("function", ["where", "maximum", "clip"])
def test_what_is_chosen_among_computed_values_takes_no_jump(function: str, type: str) -> None:
    names = {"where": ("bool", type, type), "maximum": (type, type), "clip": (type, type, type)}[function]
    loads = tuple(Step("load", name, (), k) for k, name in enumerate(names))
    formula = Formula((*loads, Step(function, type, tuple(range(len(names))))))
    at = tuple(LoadAt(k, NamedInt("at")) for k in range(len(names)))
    if function != "clip" or type != "bool":
        assert not any(
            "?" in line for line in formula_statement(Compute(NamedInt("o"), "", formula, at), names, type, show)
        )


def test_folds_have_a_variable_that_terms_change() -> None:
    formula = Formula((Step("load", "float64", (), 0), Step("fold_add", "float64", (0,), 0)))
    load = (LoadAt(0, NamedInt("at")),)
    statements = (StartFolds("s", formula), FoldTerms("s", formula, load), Compute(NamedInt("o"), "s", formula, load))
    lines = [line.strip() for s in statements for line in formula_statement(s, ["float64"], "float64", show)]
    assert lines == [
        "double sl_s_1 = 0x0p+0;",
        "{",
        "const double sl_v0 = from0[at];",
        "sl_s_1 = sl_s_1 + sl_v0;",
        "}",
        "to[o] = sl_s_1;",
    ]
