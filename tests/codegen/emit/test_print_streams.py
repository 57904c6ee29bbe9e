"""The text of loops over streams: eight points of each at a time, and fewer ones point by point."""

from __future__ import annotations

from symlayout_codegen.emit.print_streams import stream_loop
from symlayout_codegen.ir.formula import Formula, Step
from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, NamedInt, add, mul
from symlayout_codegen.ir.queries import ZERO
from symlayout_codegen.ir.statements import Compute, LoadAt, Loop

COLUMN = NamedInt("j")
SCALED = Formula(
    (
        Step("load", "uint8", (), 0),
        Step("cast", "float32", (0,)),
        Step("load", "float32", (), 1),
        Step("multiply", "float32", (2, 1)),
    )
)


def shown(expr: Expr) -> str:
    return {COLUMN: "j", ZERO: "0", IntLiteral(20): "20"}.get(expr, "_")


def test_vectors_and_single_points_have_the_same_steps() -> None:
    points = [
        Compute(add(mul(20, k), COLUMN), "", SCALED, (LoadAt(0, add(mul(2, COLUMN), k)), LoadAt(1, IntLiteral(k))))
        for k in range(2)
    ]
    loop = Loop("j", ZERO, IntLiteral(20), tuple(points), "", 0)
    lines = [line.strip() for line in stream_loop(loop, ("uint8", "float32"), "float32", shown, "")]
    assert lines[0] == "if (20 < 8) {"
    assert lines[1] == "for (int64_t j = 0; j < 20; ++j) {"
    assert lines.count("const float sl_v1 = (float)sl_v0;") == 2
    assert lines.count("const float sl_v3 = sl_v2 * sl_v1;") == 2
    assert "const int64_t j = sl_octet_within(sl_at, 0, 20);" in lines
    assert [line for line in lines if "sl_floats_of_uint8" in line] == [
        f"const sl_floats sl_v1 = sl_floats_of_uint8(sl_read, 2, {k}, sl_part);" for k in range(2)
    ]
    assert lines.count("const sl_floats sl_v3 = sl_v2 * sl_v1;") == 2
    assert sum(line.startswith("sl_store_floats(to + ") for line in lines) == 2
