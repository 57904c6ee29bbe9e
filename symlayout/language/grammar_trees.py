"""The parsed form of shapes, steps and relations: trees of frozen values, and their evaluation.

`parse` makes the trees.  `evaluate` turns a tree into a Python value with the operators of the values that the names
have, so that one tree serves integers and symbols.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from symlayout.errors import FormatError
from symlayout.language import sympy_bridge
from symlayout_codegen.values import Value


class Size(Value):
    """Upper bounds for an expression that is multiplied out: bits of a coefficient, and number of terms."""

    bits: int = 0
    terms: int = 1


class Int(Value):
    """An integer literal."""

    value: int


class Constant(Value):
    """A literal that is not an integer: a real number, a truth value, or text."""

    value: float | bool | str


class Name(Value):
    """A dim, with the bounds written at this occurrence."""

    name: str
    low: int | None = None
    high: int | None = None


class Unknown(Value):
    """An unknown value: ``?`` or ``None``, and ``-1`` as an entry of a shape."""


class Range(Value):
    """An entry between two bounds, both included.  A *high* of None is unbounded."""

    low: Tree
    high: Tree | None


class Negative(Value):
    """``-operand``."""

    operand: Tree


class Power(Value):
    """``base ** exponent``, where the exponent is a small integer."""

    base: Tree
    exponent: int


class Chain(Value):
    """``first op operand op operand ...``, evaluated from left to right; all operators have one precedence."""

    first: Tree
    rest: tuple[tuple[str, Tree], ...]
    size: Size = Size()

    def _key(self) -> tuple[Any, ...]:
        return self.first, self.rest


class Call(Value):
    """A function of sums, such as ``max(a, b)``: *name* is a row of `sympy_bridge.FUNCTIONS`."""

    name: str
    arguments: tuple[Tree, ...]


class Group(Value):
    """A list ``[a, b]``, or a tuple ``(a, b)``."""

    items: tuple[Tree, ...]
    is_tuple: bool = False


class Slice(Value):
    """``start:stop:step`` of an index, each part optional."""

    start: Tree | None
    stop: Tree | None
    step: Tree | None


class Dots(Value):
    """``...`` of an index."""


Tree = Int | Constant | Name | Unknown | Range | Negative | Power | Chain | Call | Group | Slice | Dots


class ParsedStep(Value):
    """One operation to apply: its name, its arguments, and the text that it was parsed from.

    An indexing step has the name ``"[]"``, and its indices are the positional arguments.
    """

    name: str
    positional: tuple[Tree, ...]
    keywords: tuple[tuple[str, Tree], ...]
    text: str


class Comparison(Value):
    """``left sign right``; the sign is ``==``, ``>=``, ``<=``, ``>`` or ``<``."""

    left: Tree
    sign: str
    right: Tree


def names_of(*trees: Tree) -> dict[str, tuple[int, int | None]]:
    """Return the dims in *trees* in order of first use, each with its ``(min, max)``.

    The default minimum is 0.  Of bounds at several occurrences, the strictest count.

    >>> names_of(Name("N"), Name("b", low=1), Chain(Int(2), (("*", Name("b")),)))
    {'N': (0, None), 'b': (1, None)}

    Raises
    ------
    FormatError
        The bounds of a dim exclude every value.
    """
    names: dict[str, tuple[int, int | None]] = {}
    for tree in trees:
        for name in _names(tree):
            low, high = names.get(name.name, (0, None))
            low = low if name.low is None else max(low, name.low)
            highs = [bound for bound in (high, name.high) if bound is not None]
            names[name.name] = low, min(highs, default=None)
    for key, (low, high) in names.items():
        if high is not None and high < low:
            raise FormatError(f"no value of {key} is at least {low} and at most {high}")
    return names


def evaluate(tree: Tree, names: Mapping[str, Any], *, fractions: bool = False) -> Any:
    """Return the Python value of *tree*, with the values of the dims in *names*.

    An unknown value is None, a range is ``(low, high)``, a list is a list, a slice is a slice.
    ``/`` of two integers must be exact; with *fractions* it may also be a `Fraction`.  ``/`` of symbols is theirs.

    >>> evaluate(Chain(Int(2), (("*", Name("h")),)), {"h": 5})
    10
    >>> evaluate(Chain(Int(3), (("/", Int(2)),)), {}, fractions=True)
    Fraction(3, 2)

    Raises
    ------
    FormatError
        A dim has no value in *names*, a divisor is 0, or ``/`` of integers has a remainder.
    """

    def within(part: Tree) -> Any:
        return evaluate(part, names, fractions=fractions)

    match tree:
        case Int(value) | Constant(value):
            return value
        case Name(name):
            if name not in names:
                known = ", ".join(names) or "none"
                raise FormatError(f"{name} is not a dim here\n  known: {known}")
            return names[name]
        case Unknown():
            return None
        case Range(low, high):
            return within(low), None if high is None else within(high)
        case Negative(operand):
            return -within(operand)
        case Power(base, exponent):
            return within(base) ** exponent
        case Call(name, arguments):
            return sympy_bridge.applied(name, [evaluate(part, names, fractions=True) for part in arguments])
        case Group(items, is_tuple):
            values = [within(item) for item in items]
            return tuple(values) if is_tuple else values
        case Slice(start, stop, step):
            parts = (start, stop, step)
            return slice(*(None if part is None else within(part) for part in parts))
        case Dots():
            return ...
        case Chain(first, rest):
            operands = [(symbol, within(operand)) for symbol, operand in rest]
            if rest[0][0] in "+-":
                terms = [-value if symbol == "-" else value for symbol, value in operands]
                return _pairwise_sum([within(first), *terms])
            value = within(first)
            for symbol, operand in operands:
                value = _multiplicative(symbol, value, operand, fractions)
            return value


def _names(tree: Tree) -> Iterator[Name]:
    """Yield the names in *tree* from left to right."""
    match tree:
        case Name():
            yield tree
        case Negative(inner) | Power(inner, _):
            yield from _names(inner)
        case Range(low, high):
            yield from _names(low)
            yield from () if high is None else _names(high)
        case Slice(start, stop, step):
            for part in (start, stop, step):
                yield from () if part is None else _names(part)
        case Group(items) | Call(_, items):
            for item in items:
                yield from _names(item)
        case Chain(first, rest):
            yield from _names(first)
            for _, operand in rest:
                yield from _names(operand)


def _pairwise_sum(terms: list[Any]) -> Any:
    """Return the sum of *terms*, added pairwise: n symbolic terms take n log n steps, instead of n squared."""
    while len(terms) > 1:
        odd = terms[len(terms) & ~1 :]
        terms = [a + b for a, b in zip(terms[::2], terms[1::2], strict=False)] + odd
    return terms[0]


_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": sympy_bridge.remainder,
}  # fmt: skip


def _multiplicative(symbol: str, left: Any, right: Any, fractions: bool) -> Any:
    """Return ``left symbol right``.  An inexact ``/`` of integers is a `Fraction` with *fractions*, else an error."""
    if symbol != "*" and right == 0:
        raise FormatError(f"{left} {symbol} 0 divides by zero")
    if symbol == "/" and isinstance(left, int) and isinstance(right, int):
        if left % right and not fractions:
            raise FormatError(f"{left}/{right} is not an integer\n  help: // rounds down")
        return _whole(Fraction(left, right))
    return _whole(_OPERATORS[symbol](left, right))


def _whole(value: Any) -> Any:
    """Return an int for a `Fraction` with denominator 1, and any other value unchanged."""
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value
