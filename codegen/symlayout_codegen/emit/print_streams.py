"""Print loops over streams (`compute_streams`): eight steps at a time in vectors, fewer ones point by point."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from symlayout_codegen.emit.print_formula import applied, formula_statement, local_of, scalar_step
from symlayout_codegen.ir.integer_expressions import Expr
from symlayout_codegen.ir.queries import expanded, substitute, subtract
from symlayout_codegen.ir.statements import OCTET, Compute, Loop
from symlayout_codegen.passes.compute_streams import in_vectors


def stream_loop(
    loop: Loop, sources: Sequence[str], output: str, show: Callable[[Expr], str], note: str
) -> Iterator[str]:
    """Yield the lines of *loop*, without a margin.

    Parameters
    ----------
    sources : the type of each source.
    output : the type of the output.
    show : prints an offset.
    note : the comment of the loop.
    """
    name, start, stop = loop.name, show(loop.start), show(loop.stop)
    points = [point for point in loop.body if isinstance(point, Compute)]
    assert loop.streams is not None
    assert len(points) == len(loop.body)
    yield f"if ({show(subtract(loop.stop, loop.start))} < {OCTET}) {{"
    yield f"    for (int64_t {name} = {start}; {name} < {stop}; ++{name}) {{{note}"
    for point in points:
        yield from (f"        {line}" for line in formula_statement(point, sources, output, show))
    yield "    }"
    yield "} else {"
    first = show(expanded(substitute(points[0].to, {name: loop.start})))
    begin = f"sl_first_octet({start}, to + ({first}))"
    yield f"    for (int64_t sl_at = {begin}; sl_at < {stop}; sl_at += {OCTET}) {{{note}"
    yield f"        const int64_t {name} = sl_octet_within(sl_at, {start}, {stop});"
    load = points[0].loads[loop.streams]
    read = f"from{load.source} + ({show(load.start)})"
    yield "        SL_UNROLL"
    yield "        for (int sl_part = 0; sl_part < SL_OCTET_PARTS; ++sl_part) {"
    yield f"            const sl_octet sl_read = sl_load_octet({read}, {len(points)}, sl_part);"
    for k, point in enumerate(points):
        yield from (f"            {line}" for line in _point(point, loop.streams, k, len(points), sources, show))
    yield "        }"
    yield "    }"
    yield "}"


def _point(
    point: Compute, number: int, stream: int, streams: int, sources: Sequence[str], show: Callable[[Expr], str]
) -> Iterator[str]:
    """Yield the block that computes *stream* of a part of an octet."""
    formula, last = point.formula, len(point.formula.steps) - 1
    vectors = in_vectors(formula, number)
    yield "{"
    for k in formula.needed((last,)):
        step = formula.steps[k]
        if k not in vectors:
            yield from (f"    {line}" for line in scalar_step(point, k, sources, show))
        elif step.function == "cast":
            kind = sources[point.loads[number].source]
            yield f"    const sl_floats sl_v{k} = sl_floats_of_{kind}(sl_read, {streams}, {stream}, sl_part);"
        elif step.function != "load":
            operands = [local_of(formula, o, point.name) for o in step.operands]
            yield f"    const sl_floats sl_v{k} = {applied(step.function, step.type, [step.type] * 2, operands)};"
    yield f"    sl_store_floats(to + ({show(point.to)}) + SL_FLOATS*sl_part, {local_of(formula, last, point.name)});"
    yield "}"
