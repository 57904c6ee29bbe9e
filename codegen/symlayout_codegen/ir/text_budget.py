"""Refuse a kernel whose C would be so long that compilers take seconds for it."""

from __future__ import annotations

from collections.abc import Iterator

from symlayout_codegen.errors import CompilerError
from symlayout_codegen.ir.integer_expressions import (
    Expr,
    FloorDiv,
    FloorMod,
    Literal,
    Maximum,
    Minimum,
    Name,
    Product,
    Sum,
)
from symlayout_codegen.ir.nest import Affine, Nest, Piece
from symlayout_codegen.limits import limits

_LEAST = 2  # characters of a name or a number, with the operator before it


def check_nest(nest: Nest) -> None:
    """Raise `CompilerError` if the expressions of *nest* alone exceed `limits.kernel_characters`."""
    count = 0
    for expr in _expressions(nest):
        todo = [expr]
        while todo:
            match todo.pop():
                case Literal() | Name():
                    count += 1
                case Sum(parts) | Product(parts):
                    todo += parts
                case FloorDiv(left, right) | FloorMod(left, right) | Minimum(left, right) | Maximum(left, right):
                    todo += (left, right)
            if count * _LEAST > limits.kernel_characters:
                raise _too_long()


def within(lines: Iterator[str]) -> str:
    """Return *lines* as a text; `CompilerError` as soon as it has more than `limits.kernel_characters` characters."""
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


def _expressions(nest: Nest) -> Iterator[Expr]:
    yield from (step.value for step in nest.prelude)
    if nest.output_size is not None:
        yield nest.output_size
    for piece in nest.pieces:
        yield from (digit.extent for digit in piece.digits)
        for affine in _affines(piece):
            yield affine.constant
            yield from (coefficient for _, coefficient in affine.terms)


def _affines(piece: Piece) -> Iterator[Affine]:
    yield piece.output
    if piece.offset is not None:
        yield piece.offset
    yield from (carried.value for carried in piece.carried)
    yield from (window.value for window in piece.windows)
    yield from (guard.window.value for guard in piece.guards)
