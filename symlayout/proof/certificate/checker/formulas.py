"""Two functions that have one formula, such as ``x / y`` and ``x * (1 / y)``.

A pair may say of both of its values which term each element is: a product, a quotient or another function of numbers
and of what views read at that coordinate.  The terms are compared here, by what the functions mean:

- ``x * y`` is ``y * x``, and ``x / 2**k`` is ``x * 2**-k``: they have the same bits.
- ``x / y`` is ``x * (1 / y)`` by the law ``"reciprocal"``.
- A fused function is the term that the standard defines it by; its numbers may be rounded to 24 bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from symlayout.proof.certificate.checker.polynomials import Refused
from symlayout.proof.certificate.checker.schema import Kind, index, items, members, name, row

Places = frozenset[tuple[int, int]]
RECIPROCAL = "reciprocal"

_OPERANDS = {  # how many numbers and operands each function has
    "multiply": (0, 2),
    "divide": (0, 2),
    "reciprocal": (0, 1),
    "scaled": (1, 1),
    "hard_sigmoid": (2, 1),
    "hard_swish": (0, 1),
    "sigmoid": (0, 1),
    "swish": (1, 1),
}
_MOST_NODES = 32  # of a term
_LARGEST_POWER = 14  # of two: it and its inverse are normal numbers of each type of 16 bits or more
_ROUNDING = Fraction(1, 2**24)  # of a number of a formula, relative to it


def check_formula(formula: Any, pair: dict[str, Any], place: str) -> None:
    """Refuse terms of another form, and terms that are not equal where the views at *places* are."""
    members(left=_term, right=_term, depths=row(index, index), places=_PLACES, reads=_READS, fused=items(name))(
        formula, place
    )
    for side, reads in zip(("left", "right"), formula["reads"], strict=True):
        if [*_views(formula[side])] != [*range(len(reads))]:
            raise Refused(f"{place}: the views of a term are not numbered in order")
    if not formula["places"] or len(formula["places"]) != len(pair["views"]):
        raise Refused(f"{place}: its views are not those of its terms")
    if pair["swapped"] or pair["box"] != [[], None, False, []] or "bijection" in pair:
        raise Refused(f"{place}: a formula has no box")
    proved = frozenset((i, j) for i, j in formula["places"])
    found = next((why for *why, needed in agreements(formula["left"], formula["right"]) if needed <= proved), None)
    if found is None:
        raise Refused(f"{place}: the formulas differ")
    if found != [pair["law"], formula["fused"]]:
        raise Refused(f"{place}: the formulas are equal by other laws")


def agreements(left: Any, right: Any) -> Iterator[tuple[str, list[str], Places]]:
    """Yield how two terms are one: the law, the fused functions, and which views have to be equal; no law first."""
    for expand, turn in product((False, True), repeat=2):
        fused = set[str]()
        sides = [_normal(term, fused, turn=turn, expand=expand) for term in (left, right)]
        for needed in _needed(*sides):
            yield RECIPROCAL if turn else "", sorted(fused), needed


def _normal(term: Any, fused: set[str], *, turn: bool, expand: bool) -> Any:
    """Return a term of views, numbers, products and other functions; *expand* takes fused functions apart.

    If *turn*, quotients are products.
    """
    kind, *parts = term
    if kind == "view":
        return kind, parts[0]
    if kind == "number":
        return kind, _number(parts[0])
    count = _OPERANDS[kind][0]
    numbers = [("number", _number(text)) for text in parts[:count]]
    operands = [_normal(part, fused, turn=turn, expand=expand) for part in parts[count:]]
    if kind == "multiply":
        return "product", *operands
    if kind == "scaled":
        return "product", operands[0], numbers[0]
    if kind == "divide":
        return _quotient(operands[0], operands[1], turn=turn)
    if kind == "hard_swish" and expand:
        fused.add(kind)
        slope = ("hard_sigmoid", ("real", Fraction(1, 6)), ("real", Fraction(1, 2)), operands[0])
        return "product", operands[0], slope
    if kind == "swish" and expand and numbers[0][1] == 1:
        fused.add(kind)
        return "product", operands[0], ("sigmoid", operands[0])
    return kind, *numbers, *operands


def _quotient(x: Any, y: Any, *, turn: bool) -> Any:
    if y[0] == "number" and _is_power_of_two(y[1]):
        return "product", x, ("number", 1 / y[1])
    if x == ("number", Fraction(1)):
        return "reciprocal", y
    return ("product", x, ("reciprocal", y)) if turn else ("quotient", x, y)


def _needed(a: Any, b: Any) -> Iterator[Places]:
    """Yield the views that have to be equal for two terms in normal form to be equal."""
    if a[0] == b[0] == "view":
        yield frozenset({(a[1], b[1])})
    elif a[0] in _NUMBERS or b[0] in _NUMBERS:
        if a[0] in _NUMBERS and b[0] in _NUMBERS and _is_one_number(a, b):
            yield frozenset()
    elif a[0] == b[0] != "view" and len(a) == len(b):
        for others in (b[1:], b[:0:-1]) if a[0] == "product" else (b[1:],):
            for found in product(*(list(_needed(x, y)) for x, y in zip(a[1:], others, strict=True))):
                yield frozenset().union(*found)


def _is_one_number(a: Any, b: Any) -> bool:
    if a[0] == b[0]:
        return bool(a[1] == b[1])
    real = a[1] if a[0] == "real" else b[1]
    return bool(abs(a[1] - b[1]) <= abs(real) * _ROUNDING)


def _is_power_of_two(x: Fraction) -> bool:
    size = abs(x)
    return any(size in (Fraction(2**k), Fraction(1, 2**k)) for k in range(_LARGEST_POWER + 1))


def _number(text: str) -> Fraction:
    return Fraction(float.fromhex(text))


def _views(term: Any) -> Iterator[int]:
    """Yield the numbers of the views of a term, in the order in which they are written."""
    kind, *parts = term
    if kind == "view":
        yield parts[0]
    elif kind != "number":
        for part in parts[_OPERANDS[kind][0] :]:
            yield from _views(part)


def _term(value: Any, place: str) -> None:
    waiting, count = [value], 0
    while waiting:
        each = waiting.pop()
        count += 1
        kind = each[0] if type(each) is list and each and type(each[0]) is str else None
        if count > _MOST_NODES or (kind not in ("view", "number") and kind not in _OPERANDS):
            raise Refused(f"{place}: {each!r:.80} is no term")
        if kind == "view":
            row(name, index)(each, place)
        elif kind == "number":
            row(name, _hexadecimal)(each, place)
        else:
            numbers, operands = _OPERANDS[kind]
            if len(each) != 1 + numbers + operands:
                raise Refused(f"{place}: {kind} has {operands} operands")
            items(_hexadecimal)(each[1 : 1 + numbers], place)
            waiting += each[1 + numbers :]


def _hexadecimal(value: Any, place: str) -> None:
    """Accept a finite number that is not 0, written as ``float.hex`` does: zeros have signs."""
    try:
        number = float.fromhex(value) if type(value) is str else 0.0
    except (ValueError, OverflowError):
        number = 0.0
    if not number or not math.isfinite(number) or number.hex() != value:
        raise Refused(f"{place}: {value!r:.80} is no number of a term")


def _read(value: Any, place: str) -> None:
    (index if type(value) is int else name)(value, place)


_NUMBERS = ("number", "real")
_PLACES: Kind = items(row(index, index))
_READS: Kind = row(items(items(_read)), items(items(_read)))
