"""Print formulas as C: a local for each step, so that no expression has precedence to mind."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence

from symlayout_codegen.ir.formula import FOLD, FOLDS, ROUNDING, TYPES, Formula
from symlayout_codegen.ir.integer_expressions import Expr
from symlayout_codegen.ir.statements import Compute, FoldTerms, LoadAt, StartFolds

HALF = "float16"

_OPERATORS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "equal": "==",
    "not_equal": "!=",
}
_ON_TRUTH = {"add": "|", "multiply": "&", "maximum": "|", "minimum": "&", "invert": "!"}
"""What functions of truth values are in C."""


def is_float(type: str) -> bool:
    """Return whether *type* is a float type."""
    return type.startswith("float")


def in_registers(type: str) -> str:
    """Return the C type of a local: a half is held as a float."""
    if type == "bool":
        return "_Bool"
    return {"float16": "float", "float32": "float", "float64": "double"}.get(type, f"{type}_t")


def in_memory(type: str) -> str:
    """Return the C type of an element of an array."""
    return f"sl_{type}"


def constant(type: str, bits: int) -> str:
    """Return the C of the value of *type* with these bits.

    >>> constant("float32", 0x3F800000), constant("int8", 0xFF), constant("uint8", 7)
    ('0x1p+0F', '-1', '7')
    """
    if type == HALF:
        (half,) = struct.unpack("<e", bits.to_bytes(2, "little"))
        return constant("float32", int.from_bytes(struct.pack("<f", half), "little"))
    if is_float(type):
        size = TYPES[type]
        (value,) = struct.unpack("<f" if size == 4 else "<d", bits.to_bytes(size, "little"))
        if value - value != 0:  # infinite, or NaN
            return f"sl_{type}_of_bits(UINT{8 * size}_C(0x{bits:x}))"
        mantissa, exponent = value.hex().split("p")
        digits = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{digits}p{exponent}{'F' if size == 4 else ''}"
    if type == "bool":
        return str(bits)
    width = 8 * TYPES[type]
    if type.startswith("u"):
        return f"UINT64_C({bits})" if width == 64 else f"{bits}U" if width == 32 else str(bits)
    value = bits - (1 << width) if bits >> (width - 1) else bits
    if value == -(1 << (width - 1)) and width >= 32:
        return f"INT{width}_MIN"
    return f"INT64_C({value})" if width == 64 else str(value)


def formula_statement(
    statement: StartFolds | FoldTerms | Compute, sources: Sequence[str], output: str, show: Callable[[Expr], str]
) -> Iterator[str]:
    """Yield the lines of *statement*, without a margin.

    Parameters
    ----------
    sources : the type of each source.
    output : the type of the output.
    show : prints an offset.
    """
    formula = statement.formula
    match statement:
        case StartFolds(name):
            for k in formula.folds:
                step = formula.steps[k]
                start = constant(step.type, step.number)
                yield f"{in_registers(step.type)} {_fold(name, k)} = {_narrowed(step.type, start)};"
        case FoldTerms(name, _, loads):
            yield "{"
            for line in _steps(formula, formula.terms, loads, sources, name, show):
                yield f"    {line}"
            for k in formula.folds:
                step = formula.steps[k]
                total = _fold(name, k)
                operands = [total, local_of(formula, step.operands[0], name)]
                function = step.function.removeprefix(FOLD)
                yield f"    {total} = {applied(function, step.type, [step.type] * 2, operands)};"
            yield "}"
        case Compute(to, name, _, loads):
            last = len(formula.steps) - 1
            lines = list(_steps(formula, formula.needed((last,)), loads, sources, name, show))
            value = local_of(formula, last, name)
            if lines:
                yield "{"
                yield from (f"    {line}" for line in lines)
                yield f"    to[{show(to)}] = {_stored(output, value)};"
                yield "}"
            else:
                yield f"to[{show(to)}] = {_stored(output, value)};"


def _fold(name: str, number: int) -> str:
    return f"sl_{name}_{number}"


def local_of(formula: Formula, number: int, name: str) -> str:
    """Return what stands for the value of a step."""
    step = formula.steps[number]
    if step.function == "literal":
        return constant(step.type, step.number)
    return _fold(name, number) if step.function in FOLDS else f"sl_v{number}"


def _stored(type: str, value: str) -> str:
    return f"sl_half_of_float32({value})" if type == HALF else value


def _steps(
    formula: Formula,
    numbers: Sequence[int],
    loads: Sequence[LoadAt],
    sources: Sequence[str],
    name: str,
    show: Callable[[Expr], str],
) -> Iterator[str]:
    for k in numbers:
        yield from _step(formula, k, loads, sources, name, show)


def scalar_step(point: Compute, k: int, sources: Sequence[str], show: Callable[[Expr], str]) -> Iterator[str]:
    """Yield the line that computes step *k* of *point*; none for a literal."""
    yield from _step(point.formula, k, point.loads, sources, point.name, show)


def _step(
    formula: Formula, k: int, loads: Sequence[LoadAt], sources: Sequence[str], name: str, show: Callable[[Expr], str]
) -> Iterator[str]:
    step = formula.steps[k]
    if step.function == "literal" or step.function in FOLDS:
        return
    if step.function == "load":
        value = _load(step.number, loads[step.number], sources, show)
    else:
        operands = [local_of(formula, o, name) for o in step.operands]
        value = applied(step.function, step.type, [formula.steps[o].type for o in step.operands], operands)
    yield f"const {in_registers(step.type)} sl_v{k} = {value};"


def _load(number: int, load: LoadAt, sources: Sequence[str], show: Callable[[Expr], str]) -> str:
    type = sources[load.source]
    array = f"from{load.source}"
    if load.staged:
        array = f"((const {in_memory(type)} *)sl_tile{number})"
    text = f"{array}[{show(load.start)}]"
    if type == "bool":
        text = f"{text} != 0"
    if type == HALF:
        text = f"sl_float32_of_half({text})"
    for value, extent, bits in reversed(load.guards):
        at, end = show(value), show(extent)
        text = f"{at} >= 0 && {at} < {end} ? {text} : {constant(type, bits)}"
    return text


def _narrowed(type: str, text: str) -> str:
    """Return *text*, whose type is perhaps wider, as a value of an integer type of 16 bits or fewer."""
    return f"({type}_t){text}" if type in ("int8", "uint8", "int16", "uint16") and not text.isdigit() else text


def applied(function: str, type: str, types: list[str], operands: list[str]) -> str:
    """Return the C of *function* of *operands*, which have these *types*; the result has the type *type*."""
    if function == "cast":
        return _cast(types[0], type, operands[0])
    if function == "where":
        return _chosen(type, *operands)
    of = types[0]
    text = _truth(function, operands) if of == "bool" else _number(function, of, operands)
    rounds = type == HALF and function in ("add", "subtract", "multiply", "divide")
    return f"sl_round_to_half({text})" if rounds else text


def _chosen(type: str, first: str, a: str, b: str) -> str:
    """Return the C of *a* where *first* holds, else *b*; all have been computed.

    Floats are chosen by their bits, and truth values by operators: gcc makes jumps of ``?:`` between them, and then no
    vectors.
    """
    if is_float(type):
        return f"sl_choose_{'float32' if type == HALF else type}({first}, {a}, {b})"
    return f"({first} & {a}) | (!{first} & {b})" if type == "bool" else f"{first} ? {a} : {b}"


def _truth(function: str, operands: list[str]) -> str:
    if function == "invert":
        return f"!{operands[0]}"
    return f"{operands[0]} {_ON_TRUTH.get(function) or _OPERATORS[function]} {operands[1]}"


def _number(function: str, type: str, operands: list[str]) -> str:
    """Return the C of *function* of numbers of one type."""
    a, b = operands[0], operands[-1]
    number = "float32" if type == HALF else type
    match function:
        case "less" | "less_equal" | "greater" | "greater_equal" | "equal" | "not_equal":
            return f"{a} {_OPERATORS[function]} {b}"
        case "maximum" | "minimum":
            better = f"{a} {'>' if function == 'maximum' else '<'} {b}"
            return _chosen(type, f"({better}) | ({a} != {a})" if is_float(type) else better, a, b)
        case "clip":
            low, high = operands[1], operands[2]
            return _chosen(type, f"{a} < {low}", low, _chosen(type, f"{high} < {a}", high, a))
    if is_float(type):
        if function in _OPERATORS:
            return f"{a} {_OPERATORS[function]} {b}"
        if function == "negative":
            return f"-{a}"
        assert function in ("absolute", *ROUNDING)
        return f"sl_{function}_{number}({a})"
    width = 8 * TYPES[type]
    wide = "uint64_t" if width == 64 else "uint32_t"
    if function == "floor_divide":
        return f"sl_quotient_{type}({a}, {b})"
    if function in ("left_shift", "right_shift"):
        return _shift(function, type, a, b)
    if function == "invert":
        return f"({type}_t)~({wide}){a}"
    if function == "negative":
        return f"({type}_t)(0U - ({wide}){a})"
    if function == "absolute":
        return a if type.startswith("u") else f"{a} < 0 ? ({type}_t)(0U - ({wide}){a}) : {a}"
    return f"({type}_t)(({wide}){a} {_OPERATORS[function]} ({wide}){b})"


def _shift(function: str, type: str, a: str, b: str) -> str:
    """Return the C of a shift; one by the width of the type or more, or by a negative number, leaves no bit."""
    width = 8 * TYPES[type]
    wide, inside = "uint64_t" if width == 64 else "uint32_t", f"(uint64_t){b} < {width}"
    if function == "left_shift":
        return f"{inside} ? ({type}_t)(({wide}){a} << {b}) : 0"
    rest = f"({a} < 0 ? -1 : 0)" if type.startswith("i") else "0"
    return f"{inside} ? ({type}_t)({a} >> {b}) : ({type}_t){rest}"


def _cast(source: str, to: str, x: str) -> str:
    """Return the C of a conversion from one type to another."""
    number = "float32" if source == HALF else source
    if to == "bool":
        return f"{x} != 0"
    if is_float(to):
        if to == HALF:
            if source == "float64":
                return f"sl_round_double_to_half({x})"
            return x if source in ("bool", "int8", "uint8") else f"sl_round_to_half((float){x})"
        return x if number == to else f"({in_registers(to)}){x}"
    if is_float(source):
        if to in ("int64", "uint64"):
            return f"sl_{to}_of_{number}({x})"
        via = "int64" if to == "uint32" else "int32"
        return f"sl_{via}_of_{number}({x})" if via == to else f"({to}_t)sl_{via}_of_{number}({x})"
    return f"({to}_t){x}"


def used_sources(statement: FoldTerms | Compute) -> set[int]:
    """Return the numbers of the sources that *statement* reads other than in tiles."""
    formula = statement.formula
    numbers = formula.terms if isinstance(statement, FoldTerms) else formula.needed((len(formula.steps) - 1,))
    return {statement.loads[k].source for k in formula.loads(numbers) if not statement.loads[k].staged}


def halves_in(statement: FoldTerms | Compute | StartFolds) -> bool:
    """Return whether *statement* has a half."""
    return any(step.type == HALF for step in statement.formula.steps)
