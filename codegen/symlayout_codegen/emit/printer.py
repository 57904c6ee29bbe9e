"""Print a scheduled nest as C11.

The text depends on the nest alone: the same map gives the same bytes on every machine.  Helpers
are not printed; they live in `emit/runtime/`, whose parts make the header that the text includes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from symlayout_codegen.emit.header import HALVES_HEADER, KERNELS_HEADER, RUNTIME_HEADER, VALUES_HEADER, VERSION
from symlayout_codegen.emit.print_expressions import CheckedPrinter, ExpressionPrinter, is_negative
from symlayout_codegen.emit.print_formula import HALF, constant, formula_statement, halves_in, in_memory, used_sources
from symlayout_codegen.emit.print_nibbles import grid_arguments, half_leaf
from symlayout_codegen.emit.print_streams import stream_loop
from symlayout_codegen.emit.text import comment_text, folded, literal, signature, wrapped
from symlayout_codegen.emit.transposes import ALL_WAYS, later_ways, moved_size, way_macros
from symlayout_codegen.ir.identifiers import PACKED, PARTED, WAYS
from symlayout_codegen.ir.integer_expressions import (
    Expr,
    IntLiteral,
    Product,
    Summation,
    add,
)
from symlayout_codegen.ir.nest import NUMBERS, Local, Nest, Precondition
from symlayout_codegen.ir.queries import ONE, SignFacts, names, negate
from symlayout_codegen.ir.statements import (
    AccumulateRows,
    AccumulateRun,
    Axis,
    Body,
    Compute,
    CopyGrid,
    CopyRows,
    CopyRun,
    CutGrid,
    Deal,
    Entry,
    FillRows,
    FillRun,
    FoldTerms,
    If,
    Interval,
    JoinGrid,
    Let,
    Loop,
    Share,
    Stage,
    StartFolds,
    Statement,
    Transpose,
    expressions,
    walk,
)
from symlayout_codegen.ir.text_budget import within
from symlayout_codegen.passes.schedule import Program, schedule
from symlayout_codegen.passes.stage_tiles import MOST_ELEMENTS
from symlayout_codegen.status import status_name

MOST_PLANS = 4
"""A kernel keeps at most this many plans of rows, of about a kilobyte each; statements beyond share them."""


def print_kernel(nest: Nest, element_size: int, header: str = KERNELS_HEADER) -> str:
    """Return the C of *nest* for elements of *element_size* bytes (at least 1).

    The text includes *header* (`print_header`) and `symlayout_runtime.h`
    (`runtime`), and needs nothing else.

    Raises
    ------
    CompilerError
        The nest holds a literal that is not an int64.
    CompilerError
        The text would be longer than `limits.kernel_characters`.
    """
    return print_program(schedule(nest), element_size, header)


def print_program(program: Program, element_size: int, header: str = KERNELS_HEADER, ways: int = ALL_WAYS) -> str:
    """Return the C of a scheduled nest; see `print_kernel`, and `linked_ways` of *ways*."""
    return within(map(folded, _lines(program, element_size, header, ways)))


def print_packed(nest: Nest) -> str:
    """Return the C of one more function: the kernel, for callers that keep its arguments in arrays.

    Parameters
    ----------
    nest : Nest
        The program's, whose names are C's.
    """
    numbers = [f"number[{k}]" for k in range(len(nest.parameters))]
    addresses = [f"address[{k}]" for k in range(len(nest.sources) + 1 + bool(nest.fills))]
    lines = [
        f"int32_t {nest.name}{PACKED}(const int64_t *number, void *const *address)",
        "{",
        *([] if numbers else ["    (void)number;"]),
        wrapped(f"    return {nest.name}{PARTED}(", ["0", "1", *numbers, *addresses], ");"),
        "}",
    ]
    return "\n".join(["", *lines, ""])


def print_ways(program: Program, element_size: int, ways: int) -> str:
    """Return the C of one more function, of the ways that the kernel is not linked to, as bits.

    It returns those that calls wanted, or, if its argument is 0, all that they may want; see `later_ways`.
    """
    body = ["(void)wanted;", "return 0;"]
    if later := later_ways(program, element_size, ways):
        body = [f"return wanted ? __atomic_load_n(&sl_wanted_ways, __ATOMIC_RELAXED) : {later};"]
    lines = [f"int32_t {program.nest.name}{WAYS}(int32_t wanted)", "{", *(f"    {line}" for line in body), "}"]
    return "\n".join(["", *lines, ""])


def print_extents(nest: Nest, extents: Sequence[Expr]) -> str:
    """Return the C of a static function that checks the dims of a kernel, and computes extents from them.

    It takes the dims and the array for the extents, and returns a status.

    Parameters
    ----------
    nest : Nest
        A nest without pieces: its name, parameters and prelude are used.
    """
    locals_ = [Local(f"extent_{k}", e) for k, e in enumerate(extents)]
    program = schedule(replace(nest, prelude=(*nest.prelude, *locals_)))
    steps = program.nest.prelude
    names_ = [step.name for step in steps[len(steps) - len(locals_) :] if isinstance(step, Local)]
    dims = [f"    const int64_t {name} = dim[{k}];" for k, name in enumerate(program.nest.parameters)]
    lines = [
        f"static int32_t {nest.name}_extents(const int64_t *dim, int64_t *extent)",
        "{",
        *(dims or ["    (void)dim;"]),
        *(f"    (void){name};" for name in program.nest.parameters),
        *_prelude(program, _used_names(program) | set(names_), 1),
        *(f"    extent[{k}] = {name};" for k, name in enumerate(names_)),
        *([] if names_ else ["    (void)extent;"]),
        "    return SL_OK;",
        "}",
    ]
    return "\n".join([*map(folded, lines), ""])


def describe(program: Program) -> str:
    """Return the loops of *program* as indented lines, for people."""
    show = _Printer(program.facts, program.nest.halves, program.nest.types, _tables(program))
    return "\n".join(_statements((*program.steps, *program.body), show, 0))


# --- the file ---------------------------------------------------------------------------------


def _lines(program: Program, element_size: int, header: str, ways: int) -> Iterator[str]:
    nest = program.nest
    yield f"/* Generated by symlayout {VERSION}.  Do not edit."
    for line in nest.about():
        yield f" * {comment_text(line)}".rstrip()
    yield " */"
    yield f'#include "{header}"'
    computes = bool(nest.types)
    if computes:
        if any(type == HALF for type in nest.types) or any(
            isinstance(s, StartFolds | FoldTerms | Compute) and halves_in(s) for s in walk(program.body)
        ):
            yield "#define SL_FLOAT16"
        yield f'#include "{VALUES_HEADER}"'
    yield f"#define SL_ELEMENT_SIZE {moved_size(program, element_size)}"
    if nest.combine is not None:
        if nest.combine.number == "float16":
            yield "#ifndef __FLT16_MANT_DIG__"
            yield '#error "sums of float16 need a compiler that has _Float16: gcc 12, clang 15, or later ones"'
            yield "#endif"
        yield f"#define SL_NUMBER {NUMBERS[nest.combine.number]}"
    yield from way_macros(program, element_size, ways)
    yield f'#include "{HALVES_HEADER if nest.halves else RUNTIME_HEADER}"'
    yield ""
    yield signature(nest, PARTED)
    yield "{"
    yield "    if (part < 0 || part >= parts)"
    yield "        return SL_PRECONDITION;  /* 0 <= part < parts */"
    used = _used_names(program)
    reads = CopyRun | AccumulateRun | CopyRows | CopyGrid | AccumulateRows | Transpose | Deal | CutGrid | JoinGrid
    sources = {s.source for s in walk(program.body) if isinstance(s, reads | Stage)}
    for statement in walk(program.body):
        if isinstance(statement, FoldTerms | Compute):
            sources |= used_sources(statement)
    fills = {s.fill for s in walk(program.body) if isinstance(s, FillRun | FillRows | Deal | CutGrid)}
    for name in nest.parameters:
        if name not in used:
            yield f"    (void){name};"
    yield from _prelude(program, used, element_size)
    for k, source in enumerate(nest.sources):
        if k in sources:
            yield f"    const {in_memory(nest.types[k]) if computes else 'element'} *restrict const from{k} = {source};"
        else:
            yield f"    (void){source};"
    for k in range(nest.fills):
        if k in fills:
            yield f"    const element fill{k} = ((const element *)fill)[{k}];"
    for k, bits in enumerate(nest.constants, len(nest.sources)):
        if k in sources:
            declared = f"    static const {in_memory(nest.types[k])} from{k}[{len(bits)}]"
            yield wrapped(f"{declared} = {{", _elements(nest.types[k], bits), "};")
    if nest.fills and not fills:
        yield "    (void)fill;"
    if program.body:
        yield f"    {in_memory(nest.types[-1]) if computes else 'element'} *restrict const to = dst;"
        for k in sorted({s.number for s in walk(program.body) if isinstance(s, Stage)}):
            yield f"    element sl_tile{k}[{MOST_ELEMENTS}] __attribute__((aligned(64)));"
        yield ""
    else:
        yield "    (void)dst;"
    tables = _tables(program)
    for table, k in tables.items():
        declared = f"    static const {_integer(table)} table{k}[{len(table)}]"
        yield wrapped(f"{declared} = {{", list(map(literal, table)), "};")
    show = _Printer(program.facts, nest.halves, nest.types, tables)
    plans = sum(isinstance(statement, CopyRows | CopyGrid | CutGrid) for statement in walk(program.body))
    for k in range(min(plans, MOST_PLANS)):
        yield f"    sl_plan plan{k};"
        yield f"    sl_no_plan(&plan{k});"
    reaches = (
        any(
            isinstance(statement, CopyRows | CopyGrid | CutGrid | Deal | JoinGrid | Transpose)
            for statement in walk(program.body)
        )
        and not nest.halves
    )
    if reaches:
        reach = "SL_NEAREST" if nest.output_size is None else f"sl_reach({show(nest.output_size)})"
        yield f"    const int reach = {reach};"
    yield from _statements(program.body, show, 1)
    if reaches:
        yield "    if (reach == SL_FAR)"
        yield "        sl_store_fence();"
    yield "    return SL_OK;"
    yield "}"
    yield ""
    yield signature(nest)
    yield "{"
    arguments = ["0", "1", *nest.parameters, *nest.sources, "dst", *(["fill"] if nest.fills else [])]
    yield wrapped(f"    return {nest.name}{PARTED}(", arguments, ");")
    yield "}"


def _tables(program: Program) -> dict[tuple[int, ...], int]:
    """Return the tables of the statements with their numbers, in order of first use."""
    tables = dict.fromkeys(s.table for s in walk(program.body) if isinstance(s, Entry))
    return {table: k for k, table in enumerate(tables)}


def _integer(table: tuple[int, ...]) -> str:
    """Return the type in C of the entries of a table."""
    least, most = min(table), max(table)
    return next(f"int{bits}_t" for bits in (16, 32, 64) if -(1 << bits - 1) <= least and most < 1 << bits - 1)


def _used_names(program: Program) -> frozenset[str]:
    """Return the names that the body, the output size or the prelude read."""
    exprs = [step.value for step in program.nest.prelude]
    exprs += [e for statement in (*program.steps, *walk(program.body)) for e in expressions(statement)]
    if program.nest.output_size is not None:
        exprs.append(program.nest.output_size)
    exprs += program.nest.spans
    return frozenset().union(*map(names, exprs))


def _prelude(program: Program, used: frozenset[str], element_size: int) -> Iterator[str]:
    """Yield the locals and the preconditions.  Their arithmetic is checked: an argument may be anything."""
    nest, checked = program.nest, CheckedPrinter(empty=True)
    flagged = False
    for step in nest.prelude:
        text = checked(step.value) if isinstance(step, Local) else _failure(step, checked)
        if "&overflow" in text and not flagged:
            flagged = True
            yield "    int overflow = 0;"
        if isinstance(step, Local):
            yield f"    const int64_t {step.name} = {text};"
            if step.name not in used:
                yield f"    (void){step.name};"
        else:
            status = status_name(step.kind)
            comment = f"  /* {comment_text(step.text)} */" if step.text else ""
            yield f"    if ({text})"
            yield f"        return {f'overflow ? SL_OVERFLOW : {status}' if flagged else status};{comment}"
    for text in _spans(nest, element_size, checked):  # that there are the arrays of the chain
        if not flagged:
            flagged = True
            yield "    int overflow = 0;"
        yield f"    (void){text};"
    if nest.output_size is not None and nest.output_size != ONE:
        text = " || ".join(f"{checked(extent)} == 0" for extent in _factors(nest.output_size)) or "0"
        if "&overflow" in text and not flagged:
            flagged = True
            yield "    int overflow = 0;"
        yield f"    if ({text})"
        yield f"        return {'overflow ? SL_OVERFLOW : SL_OK' if flagged else 'SL_OK'};"
    checked = CheckedPrinter()
    for let in program.steps:
        text = checked(let.value)
        if "&overflow" in text and not flagged:
            flagged = True
            yield "    int overflow = 0;"
        yield f"    const int64_t {let.name} = {text};"
    if flagged:
        # A value that overflowed is only ever used by the checked helpers, so one test is enough.
        yield "    if (overflow)"
        yield "        return SL_OVERFLOW;"


def _spans(nest: Nest, element_size: int, checked: CheckedPrinter) -> Iterator[str]:
    """Yield the numbers that have to be int64: elements of each array of the chain, and bytes of the output."""
    sizes = [size for size in (*nest.source_sizes, nest.output_size) if size is not None]
    *others, output = nest.spans or sizes or [ONE]
    texts = [checked(span) for span in dict.fromkeys(others) if span != output]
    of_output = checked(output)
    if not isinstance(output, IntLiteral) and element_size > 1 and not nest.halves:
        of_output = f"sl_mul({of_output}, {element_size}, &overflow)"
    yield from (text for text in (*texts, of_output) if "&overflow" in text)


def _factors(size: Expr) -> tuple[Expr, ...]:
    """Return the factors of *size* that may be 0."""
    factors = size.factors if isinstance(size, Product) else (size,)
    return tuple(factor for factor in factors if not isinstance(factor, IntLiteral) or factor.value == 0)


def _failure(step: Precondition, checked: CheckedPrinter) -> str:
    """Return the comparison that is true where *step* fails, each term on the side where it is positive."""
    terms = step.value.terms if isinstance(step.value, Summation) else (step.value,)
    left = add(*(term for term in terms if not is_negative(term)))
    right = add(*(negate(term) for term in terms if is_negative(term)))
    return f"{checked(left)} {'!=' if step.relation == '==' else '<'} {checked(right)}"


# --- statements -------------------------------------------------------------------------------


def _statements(body: Body, show: _Printer, depth: int) -> Iterator[str]:
    for statement in body:
        yield from (f"{'    ' * depth}{line}" for line in _statement(statement, show))


def _statement(statement: Statement, show: _Printer) -> Iterator[str]:
    plan = show.plan(statement)
    if show.halves and (leaf := half_leaf(statement, show, plan)) is not None:
        yield leaf
        return
    match statement:
        case Share(name, loops):
            yield f"sl_part {name} = {{part, parts}};"
            yield wrapped("int64_t ", [name for begin, end, _ in loops for name in (begin, end)], ";")
            for begin, end, extent in loops:
                helper = "sl_share_last" if (begin, end, extent) == loops[-1] else "sl_share"
                yield f"{helper}(&{name}, {show(extent)}, &{begin}, &{end});"
        case Let(name, value):
            yield f"const int64_t {name} = {show(value)};"
        case Entry(name, table, place):
            yield f"const int64_t {name} = table{show.tables[table]}[{show(place)}];"
        case Interval(first, last, base, step, extent, count):
            arguments = ", ".join(map(show, (base, step, extent, count)))
            yield f"int64_t {first}, {last};"
            yield f"sl_interval({arguments}, &{first}, &{last});"
        case Loop(name, start, stop, body, comment):
            note = f"  /* {comment_text(comment)} */" if comment else ""
            if statement.streams is not None:
                yield from stream_loop(statement, show.types[:-1], show.types[-1], show, note)
                return
            yield f"for (int64_t {name} = {show(start)}; {name} < {show(stop)}; ++{name}) {{{note}"
            yield from _statements(body, show, 1)
            yield "}"
        case If(value, extent, inside, outside):
            at, end = show(value), show(extent)
            positive = f"{at} < {end}" if show.facts.is_nonnegative(value) else f"{at} >= 0 && {at} < {end}"
            yield f"if ({positive}) {{"
            yield from _statements(inside, show, 1)
            if outside:
                yield "} else {"
                yield from _statements(outside, show, 1)
            yield "}"
        case CopyRun(to, source, start, IntLiteral(1)):
            yield f"to[{show(to)}] = from{source}[{show(start)}];"
        case CopyRun(to, source, start, count):
            yield f"sl_copy(to, {show(to)}, from{source}, {show(start)}, {show(count)});"
        case AccumulateRun(to, source, start, count):
            yield f"sl_accumulate(to, {show(to)}, from{source}, {show(start)}, {show(count)});"
        case FillRun(to, fill, IntLiteral(1)):
            yield f"to[{show(to)}] = fill{fill};"
        case FillRun(to, fill, count):
            yield f"sl_fill(to, {show(to)}, fill{fill}, {show(count)});"
        case CopyRows(to, to_step, source, start, step, rows, count):
            faces = f"to, {show(to)}, {show(to_step)}, from{source}, {show(start)}, {show(step)}"
            yield f"sl_copy_rows({faces}, {show(rows)}, {show(count)}, reach, {plan});"
        case CopyGrid():
            yield f"sl_copy_grid({grid_arguments(statement, show)}, reach, {plan});"
        case AccumulateRows(to, to_step, to_each, source, start, step, each, rows, columns):
            written = f"to, {show(to)}, {show(to_step)}, {show(to_each)}"
            read = f"from{source}, {show(start)}, {show(step)}, {show(each)}"
            yield f"sl_accumulate_rows({written}, {read}, {show(rows)}, {show(columns)});"
        case FillRows(to, to_step, fill, rows, count):
            yield f"sl_fill_rows(to, {show(to)}, {show(to_step)}, fill{fill}, {show(rows)}, {show(count)});"
        case Deal():
            yield _deal(statement, show)
        case CutGrid():
            yield _cut_grid(statement, show, plan)
        case JoinGrid():
            yield _join_grid(statement, show)
        case Transpose():
            yield _transpose(statement, show)
        case StartFolds() | FoldTerms() | Compute():
            yield from formula_statement(statement, show.types[:-1], show.types[-1], show)
        case Stage(number=number, source=source):
            array = f"(const element *)from{source}"
            yield _transpose(statement.transpose, show, f"sl_tile{number}", array, "SL_NEAREST")


def _elements(type: str, bits: Sequence[int]) -> list[str]:
    """Return the elements of an array as C; halves are their bits."""
    return [constant("uint16" if type == HALF else type, each) for each in bits]


def _transpose(leaf: Transpose, show: _Printer, output: str = "to", source: str = "", reach: str = "reach") -> str:
    """Return the call for *leaf*: that for two to four streams where it is known to be of so many.

    *output* and *source* are the arrays, and *reach* says how far the output is.
    """

    def axis(of: Axis) -> str:
        return f"sl_axis_{len(of.levels) // 2}({', '.join(map(show, of.levels))})"

    rows, columns = leaf.rows, leaf.columns
    written, read = f"{output}, {show(leaf.to)}", f"{source or f'from{leaf.source}'}, {show(leaf.start)}"
    turns = ", ".join(map(show, (leaf.count, leaf.to_step, leaf.step, leaf.high, leaf.to_leap, leaf.leap)))
    if leaf.splits is None and leaf.joins is None:
        turns = f"sl_turns_{len(leaf.turns) // 3}({', '.join(map(show, leaf.turns))})"
    if leaf.splits is not None:
        return f"sl_split_{leaf.splits}({written}, {show(rows.step)}, {read}, {show(columns.count)}, {turns}, {reach});"
    if leaf.joins is not None:
        return f"sl_join_{leaf.joins}({written}, {read}, {show(columns.step)}, {show(rows.count)}, {turns}, {reach});"
    return f"sl_transpose({written}, {axis(rows)}, {read}, {axis(columns)}, {turns}, {reach});"


def _deal(leaf: Deal, show: _Printer) -> str:
    """Return the call for *leaf*."""
    written = f"to, {show(leaf.to)}, {show(leaf.to_stride)}"
    read = f"from{leaf.source}, {show(leaf.start)}, {show(leaf.size)}"
    row = f"{show(leaf.columns)}, {show(leaf.low)}, {show(leaf.inside)}, fill{leaf.fill}"
    loops = [(t.before, t.count, t.after, t.to_step, t.step) for t in (leaf.rows, leaf.planes, leaf.images)]
    turns = ", ".join(f"{{{', '.join(map(show, loop))}}}" for loop in loops)
    return f"sl_deal_{leaf.streams}({written}, {read}, {row}, (const sl_dealt_turns[]){{{turns}}}, reach);"


def _cut_grid(leaf: CutGrid, show: _Printer, plan: str) -> str:
    """Return the call for *leaf*."""
    written = f"to, {show(leaf.to)}, {show(leaf.to_leap)}, {show(leaf.to_step)}"
    read = f"from{leaf.source}, {show(leaf.start)}, {show(leaf.leap)}, {show(leaf.step)}"
    extents = ", ".join(map(show, (leaf.turns, leaf.rows, leaf.count, leaf.low, leaf.inside)))
    fill = "0" if leaf.fill is None else f"&fill{leaf.fill}"
    times = ", ".join(map(show, (leaf.before, leaf.high, leaf.after, leaf.to_jump, leaf.jump)))
    return f"sl_cut_grid({written}, {read}, {extents}, {fill}, {times}, reach, {plan});"


def _join_grid(leaf: JoinGrid, show: _Printer) -> str:
    """Return the call for *leaf*."""
    read = (leaf.start, leaf.size, leaf.stride, leaf.low, leaf.columns, leaf.first, leaf.rows)
    arguments = ", ".join(map(show, (*read, leaf.turns, leaf.leap, leaf.step)))
    loops = ((leaf.count, leaf.to_jump, leaf.jump), (leaf.high, leaf.to_leap, leaf.from_leap))
    around = ", ".join(f"{{{', '.join(map(show, loop))}}}" for loop in loops)
    start = f"sl_join_grid_{leaf.streams}(to, {show(leaf.to)}, from{leaf.source}"
    return f"{start}, {arguments}, (const sl_join_loop[]){{{around}}}, reach);"


# --- expressions ------------------------------------------------------------------------------


class _Printer(ExpressionPrinter):
    """Prints expressions, and keeps what the statements around them share: plans, element types and tables."""

    def __init__(
        self,
        facts: SignFacts,
        halves: bool = False,
        types: tuple[str, ...] = (),
        tables: Mapping[tuple[int, ...], int] | None = None,
    ) -> None:
        super().__init__(facts)
        self.halves, self.types, self.tables = halves, types, tables or {}
        self.plans = 0

    def plan(self, statement: Statement) -> str:
        """Return the C of the plan that the rows of *statement* keep; "" if it has no rows that are copied."""
        if not isinstance(statement, CopyRows | CopyGrid | CutGrid):
            return ""
        self.plans += 1
        return f"&plan{(self.plans - 1) % MOST_PLANS}"
