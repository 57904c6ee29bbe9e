"""Two functions that have one formula, such as ``x / y`` and ``x * (1 / y)``.

A pair may say of both of its values which term each element is: a product, a quotient or another function of numbers
and of what views read at that coordinate.  The terms are compared here, by what the functions mean:

- These have the same bits: ``x * y`` and ``y * x``, ``x + y`` and ``y + x``, ``x - y`` and ``x + -y``, ``-x * y`` and
  ``-(x * y)``, ``x * 1`` and ``x``, ``x + -0`` and ``x``, ``x / 2**k`` and ``x * 2**-k``.
- ``x / y`` is ``x * (1 / y)`` by the law ``"reciprocal"``; of a number, ``1 / y`` may be rounded once.
- ``x + 0`` is ``x``, and ``-(x + y)`` is ``-x - y``, by the law ``"signed-zero"``.
- A fused function is the formula that the standard defines it by (`symlayout.proof.certificate.checker.real_terms`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from fractions import Fraction
from typing import Any

from symlayout.proof.certificate.checker.polynomials import Refused
from symlayout.proof.certificate.checker.real_terms import FORMULAS, are_one_formula
from symlayout.proof.certificate.checker.schema import Kind, index, items, members, name, row

Places = Collection[tuple[int, int]]
RECIPROCAL, SIGNED_ZERO = "reciprocal", "signed-zero"

OPERANDS = {  # how many numbers and operands each function has
    "add": (0, 2),
    "subtract": (0, 2),
    "negate": (0, 1),
    "multiply": (0, 2),
    "divide": (0, 2),
    "power": (0, 2),
    "reciprocal": (0, 1),
    "scaled": (1, 1),
    "larger": (0, 2),
    "smaller": (0, 2),
    "absolute": (0, 1),
    "erf": (0, 1),
    "tanh": (0, 1),
    "sigmoid": (0, 1),
    "softplus": (0, 1),
    "hard_sigmoid": (2, 1),
    "hard_swish": (0, 1),
    "swish": (1, 1),
    "mish": (0, 1),
    "softsign": (0, 1),
    "gelu": (0, 1),
    "gelu_tanh": (0, 1),
}
BITS = (11, 24, 53)  # the precision of floats of 16, 32 and 64 bits
_MOST_NODES = 32  # of a term
_LARGEST_POWER = 14  # of two: it and its inverse are normal numbers of each type of 16 bits or more
_COMMUTATIVE = ("product", "sum")


def check_formula(formula: Any, pair: dict[str, Any], place: str) -> None:
    """Refuse terms of another form, and terms that are not equal where the views at *places* are."""
    members(left=_term, right=_term, bits=_bits, places=_PLACES, reads=_READS, fused=items(name))(formula, place)
    for side, reads in zip(("left", "right"), formula["reads"], strict=True):
        if [*_views(formula[side])] != [*range(len(reads))]:
            raise Refused(f"{place}: the views of a term are not numbered in order")
    if not formula["places"] or len(formula["places"]) != len(pair["views"]):
        raise Refused(f"{place}: its views are not those of its terms")
    if pair["swapped"] or pair["box"] != [[], None, False, []] or "bijection" in pair:
        raise Refused(f"{place}: a formula has no box")
    if pair["function"] != ["formula", "()"]:
        raise Refused(f"{place}: its function is no formula")
    if any(k >= len(reads) for at in formula["places"] for k, reads in zip(at, formula["reads"], strict=True)):
        raise Refused(f"{place}: its terms have no such views")
    places = [(i, j) for i, j in formula["places"]]
    found = agreement(formula["left"], formula["right"], places, formula["bits"])
    if found is None:
        raise Refused(f"{place}: the formulas differ")
    if [*found] != [pair["law"], formula["fused"]]:
        raise Refused(f"{place}: the formulas are equal by other laws")


def agreement(left: Any, right: Any, places: Places, bits: int) -> tuple[str, list[str]] | None:
    """Return how two terms are one where the views at *places* are equal: the law, or none, and the fused functions.

    None if they are not one.  Elements have *bits* of precision.
    """
    values = _values(places)
    for law in ("", RECIPROCAL, SIGNED_ZERO):
        one, other = (_normal(term, side, values, law) for side, term in enumerate((left, right)))
        if _is_same(one, other, bits):
            return law, []
        if not law:
            for side, (fused, chain) in enumerate(((left, right), (right, left))):
                if fused[0] in FORMULAS and fused[0] != chain[0]:
                    operand = _normal(fused[-1], side, values, law)

                    def is_operand(term: Any, side: int = 1 - side, operand: Any = operand) -> bool:
                        return _is_same(_normal(term, side, values, ""), operand, bits)

                    if are_one_formula(fused, chain, is_operand, bits):
                        return law, [fused[0]]
    return None


def _values(places: Places) -> dict[tuple[int, int], tuple[int, int]]:
    """Return one of the views that are equal to each view, as a side and a number there, by such pairs."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for i, j in places:
        one, other = found.setdefault((0, i), (0, i)), found.setdefault((1, j), (1, j))
        for key, value in found.items():
            if value == other:
                found[key] = one
    return found


def _normal(term: Any, side: int, values: dict[tuple[int, int], tuple[int, int]], law: str) -> Any:
    """Return a term of values, numbers, sums, products, negations and other functions, as the *law* allows."""
    kind, *parts = term
    if kind == "view":
        return "value", values.get((side, parts[0]), (side, parts[0]))
    if kind == "number":
        return _number(parts[0])
    count = OPERANDS[kind][0]
    numbers = [_number(text) for text in parts[:count]]
    operands = [_normal(part, side, values, law) for part in parts[count:]]
    if kind == "multiply":
        return _product(*operands)
    if kind == "scaled":
        return _product(operands[0], numbers[0])
    if kind == "divide":
        return _quotient(operands[0], operands[1], law)
    if kind == "reciprocal":
        return _quotient(_ONE, operands[0], law)
    if kind == "negate":
        return _negated(operands[0], law)
    if kind == "add":
        return _sum(operands[0], operands[1], law)
    if kind == "subtract":
        return _sum(operands[0], _negated(operands[1], law), law)
    return kind, *numbers, *operands


def _product(x: Any, y: Any) -> Any:
    x, y, negative = *(_size(each) for each in (x, y)), _is_negative(x) != _is_negative(y)
    made = x if y == _ONE else y if x == _ONE else ("product", x, y)
    return _negated(made, "") if negative else made


def _quotient(x: Any, y: Any, law: str) -> Any:
    x, y, negative = *(_size(each) for each in (x, y)), _is_negative(x) != _is_negative(y)
    if y[0] == "number" and _is_power_of_two(y[1]):
        made = _product(x, ("number", 1 / y[1], False))
    elif y[0] == "number" and y[1] and law == RECIPROCAL:
        made = _product(x, ("real", 1 / y[1]))
    elif x == _ONE:
        made = "reciprocal", y
    else:
        made = _product(x, ("reciprocal", y)) if law == RECIPROCAL else ("quotient", x, y)
    return _negated(made, "") if negative else made


def _sum(x: Any, y: Any, law: str) -> Any:
    for zero, other in ((x, y), (y, x)):
        if zero[0] == "number" and not zero[1] and (zero[2] or law == SIGNED_ZERO):
            return other
    return "sum", x, y


def _negated(x: Any, law: str) -> Any:
    if x[0] == "number":
        return "number", -x[1], not x[2]
    if x[0] == "sum" and law == SIGNED_ZERO:
        return _sum(_negated(x[1], law), _negated(x[2], law), law)
    return x[1] if x[0] == "negated" else ("negated", x)


def _is_negative(x: Any) -> bool:
    return bool(x[2]) if x[0] == "number" else x[0] == "negated"


def _size(x: Any) -> Any:
    """Return a factor without its sign."""
    return _negated(x, "") if _is_negative(x) else x


def _is_same(a: Any, b: Any, bits: int) -> bool:
    """Return whether two terms in normal form are one, but for the order of two operands and for how 1/c is rounded."""
    if "real" in (a[0], b[0]):
        return {a[0], b[0]} <= {"real", "number"} and abs(a[1] - b[1]) <= abs(b[1]) / 2**bits
    if a[0] != b[0] or len(a) != len(b):
        return False
    if a[0] in ("value", "number"):
        return bool(a == b)
    orders = (b[1:], b[:0:-1]) if a[0] in _COMMUTATIVE else (b[1:],)
    return any(all(_is_same(x, y, bits) for x, y in zip(a[1:], others, strict=True)) for others in orders)


def _is_power_of_two(x: Fraction) -> bool:
    size = abs(x)
    return any(size in (Fraction(2**k), Fraction(1, 2**k)) for k in range(_LARGEST_POWER + 1))


def _number(text: str) -> Any:
    """Return a number, and whether it is negative, which its fraction does not say of a zero."""
    value = float.fromhex(text)
    return "number", Fraction(value), math.copysign(1.0, value) < 0


def _views(term: Any) -> Iterator[int]:
    """Yield the numbers of the views of a term, in the order in which they are written."""
    kind, *parts = term
    if kind == "view":
        yield parts[0]
    elif kind != "number":
        for part in parts[OPERANDS[kind][0] :]:
            yield from _views(part)


def _term(value: Any, place: str) -> None:
    waiting, count = [value], 0
    while waiting:
        each = waiting.pop()
        count += 1
        kind = each[0] if type(each) is list and each and type(each[0]) is str else None
        if count > _MOST_NODES or (kind not in ("view", "number") and kind not in OPERANDS):
            raise Refused(f"{place}: {each!r:.80} is no term")
        if kind == "view":
            row(name, index)(each, place)
        elif kind == "number":
            row(name, _hexadecimal)(each, place)
        else:
            numbers, operands = OPERANDS[kind]
            if len(each) != 1 + numbers + operands:
                raise Refused(f"{place}: {kind} has {operands} operands")
            items(_hexadecimal)(each[1 : 1 + numbers], place)
            waiting += each[1 + numbers :]


def _hexadecimal(value: Any, place: str) -> None:
    """Accept a finite number, written as ``float.hex`` does."""
    try:
        number = float.fromhex(value) if type(value) is str else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or number.hex() != value:
        raise Refused(f"{place}: {value!r:.80} is no number of a term")


def _bits(value: Any, place: str) -> None:
    if type(value) is not int or value not in BITS:
        raise Refused(f"{place}: {value!r:.80} is no precision of a float")


def _read(value: Any, place: str) -> None:
    (index if type(value) is int else name)(value, place)


_ONE = ("number", Fraction(1), False)
_PLACES: Kind = items(row(index, index))
_READS: Kind = row(items(items(_read)), items(items(_read)))
