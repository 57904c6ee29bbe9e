"""Shapes and steps as text, read by Python's own parser, with numbers for the dims.

Nothing of symlayout is imported.  The grammar is that of the command line, as far as it is also Python's.
"""

from __future__ import annotations

import ast
import functools
import math
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from tests.support.brute import Invalid, exact

CONSTANTS = {"true": True, "false": False, "inf": math.inf, "nan": math.nan}
WORDS = {"mode", "data_format", "pad_mode"}  # attributes whose value is a word

Numbers = Mapping[str, int]

_STEP = re.compile(r"(?P<name>([A-Za-z_]\w*:)?[A-Za-z_]\w*(-\d+)?)(?P<rest>\(.*\))?")


@functools.cache
def read_step(text: str) -> tuple[str, Any]:
    """Return the name and the call of a step, or ``[]`` and what stands in the brackets of an index."""
    if text.startswith("["):
        subscript = ast.parse(f"x{text}", mode="eval").body
        assert isinstance(subscript, ast.Subscript), text
        return "[]", subscript.slice
    found = _STEP.fullmatch(text)
    assert found is not None, text
    return found["name"], ast.parse(f"f{found['rest'] or '()'}", mode="eval").body


@functools.cache
def read_shape(shape: str) -> tuple[ast.expr, ...]:
    """Return the entries of a shape."""
    parsed = ast.parse("()" if shape == "()" else f"({shape},)", mode="eval").body
    assert isinstance(parsed, ast.Tuple), shape
    return tuple(parsed.elts)


def bounds_of(node: ast.AST) -> Iterator[tuple[str, int | None, int | None]]:
    """Yield the dims under *node* with the bounds that are stated there."""
    match node:
        case ast.Name(name):
            yield from () if name in CONSTANTS else ((name, None, None),)
        case ast.Compare(ast.Name(name), [ast.GtE()], [ast.Constant(int(low))]):
            yield name, low, None
        case ast.Compare(ast.Name(name), [ast.LtE()], [ast.Constant(int(high))]):
            yield name, None, high
        case ast.Compare(ast.Constant(int(low)), [ast.LtE()], [ast.Name(name)]):
            yield name, low, None
        case ast.Compare(ast.Constant(int(low)), [ast.LtE(), ast.LtE()], [ast.Name(name), ast.Constant(int(high))]):
            yield name, low, high
        case ast.keyword(arg) if arg in WORDS:
            return
        case ast.Call(_, arguments, keywords):
            for part in (*arguments, *keywords):
                yield from bounds_of(part)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from bounds_of(child)


@functools.cache
def has_dims(node: ast.AST) -> bool:
    return next(bounds_of(node), None) is not None


def value(node: ast.expr, numbers: Numbers) -> Any:
    """Return what an expression is with numbers for its dims; an integer where it has dims."""
    if isinstance(node, ast.List | ast.Tuple):
        return [value(e, numbers) for e in node.elts]
    if isinstance(node, ast.Compare):
        ((name, _low, _high),) = bounds_of(node)
        return numbers[name]
    number = _rational(node, numbers)
    return exact(number.numerator, number.denominator) if isinstance(number, Fraction) else number


def _rational(node: ast.expr, numbers: Numbers) -> Any:
    match node:
        case ast.Constant(found):
            return found
        case ast.Name(name):
            return CONSTANTS[name] if name in CONSTANTS else numbers[name]
        case ast.UnaryOp(ast.USub(), operand):
            return -_rational(operand, numbers)
        case ast.BinOp(left, sign, right):
            a, b = _rational(left, numbers), _rational(right, numbers)
            match sign:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.Pow():
                    return a**b
            if b == 0:
                raise Invalid
            match sign:
                case ast.Div():
                    return Fraction(a) / b
                case ast.FloorDiv():
                    return Fraction(a) // b
                case ast.Mod():
                    return Fraction(a) % b
    raise ValueError(f"no expression: {ast.unparse(node)}")
