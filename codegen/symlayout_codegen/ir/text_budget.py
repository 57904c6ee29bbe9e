"""The limit on the length of a kernel's C: compilers take seconds for longer texts."""

from __future__ import annotations

from collections.abc import Iterator

from symlayout_codegen.errors import CompilerError
from symlayout_codegen.ir.integer_expressions import (
    Expr,
    FloorDiv,
    FloorMod,
    IntLiteral,
    Maximum,
    Minimum,
    NamedInt,
    Product,
    Summation,
)
from symlayout_codegen.ir.nest import Nest
from symlayout_codegen.limits import limits

_LEAST_CHARACTERS = 2  # of a name or a number with the operator before it


def check_nest(nest: Nest) -> None:
    """Raise `CompilerError` if the expressions of *nest* alone exceed `limits.kernel_characters`."""
    count = 0
    for expr in _nest_expressions(nest):
        todo = [expr]
        while todo:
            match todo.pop():
                case IntLiteral() | NamedInt():
                    count += 1
                case Summation(parts) | Product(parts):
                    todo += parts
                case FloorDiv(left, right) | FloorMod(left, right) | Minimum(left, right) | Maximum(left, right):
                    todo += (left, right)
            if count * _LEAST_CHARACTERS > limits.kernel_characters:
                raise _too_long()


def within(lines: Iterator[str]) -> str:
    """Return *lines* as one text; raise `CompilerError` once it is longer than `limits.kernel_characters`."""
    made: list[str] = []
    left = limits.kernel_characters
    for line in lines:
        made.append(line)
        left -= len(line) + 1
        if left < 0:
            raise _too_long()
    return "\n".join(made) + "\n"


def _too_long() -> CompilerError:
    return CompilerError(
        f"the C of the kernel would have more than {limits.kernel_characters} characters\n"
        "  help: fix some dims, or set symlayout.limits.kernel_characters"
    )


def _nest_expressions(nest: Nest) -> Iterator[Expr]:
    yield from (step.value for step in nest.prelude)
    if nest.output_size is not None:
        yield nest.output_size
    yield from nest.spans
    for piece in nest.pieces:
        yield from (digit.extent for digit in piece.digits)
        for form in (*piece.faces, *piece.conditions):
            yield form.constant
            yield from (coefficient for _, coefficient in form.terms)
