"""The point of a certificate: sizes that the claim is about, at which its sides are evaluated.

Without them a claim whose assumptions contradict each other would be proved, as everything follows from these.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, product
from math import prod
from typing import Any

from symlayout.proof.certificate.checker.polynomials import Refused
from symlayout.proof.certificate.checker.schema import Kind, integer, name, one_of

MAX_STEPS = 100_000  # most parts of expressions that are evaluated to compare the elements of both sides
MAX_BITS = 4096  # most bits of a size, and of a value that is computed of sizes

Values = dict[str, int]


def check_point(claim: dict[str, Any], point: Values, evaluated: str) -> None:
    """Refuse sizes that a claim is not about, or at which its sides are seen to differ.

    Of the elements as many are compared as `MAX_STEPS` allows, in row-major order.
    """
    at = sizes(claim, point)
    shapes = [[value(e, at) for e in node["shape"]] for node in claim["nodes"]]
    if any(extent < 0 for shape in shapes for extent in shape):
        raise Refused("an extent is negative at the point")
    inputs: dict[str, list[int]] = {}
    for node, shape in zip(claim["nodes"], shapes, strict=True):
        if "input" in node and inputs.setdefault(node["input"], shape) != shape:
            raise Refused(f"input {node['input']:.80} has two shapes at the point")
    left, right = claim["left"], claim["right"]
    if shapes[left] != shapes[right]:
        raise Refused(f"at the point the sides have the shapes {shapes[left]} and {shapes[right]}")
    if evaluated == "elements" and "elements" not in claim:
        _Elements(claim, at, shapes).compare(left, right)


def sizes(claim: dict[str, Any], point: Values) -> Values:
    """Return the values of all names of a claim where its dims are those of *point*; refuse others than it is about.

    A symbol without a value, such as a quotient by 0, is left out.
    """
    if point.keys() != {dim for dim, *_ in claim["dims"]}:
        raise Refused("the point gives values to other dims than those of the claim")
    for dim, low, high, multiple in claim["dims"]:
        n = point[dim]
        if (low is not None and n < low) or (high is not None and n > high) or n % multiple:
            raise Refused(f"the point gives {dim} the value {n}, which is outside of its bounds")
    at = dict(point)
    for symbol, form, top, bottom in claim["symbols"]:
        if names_of(top) | names_of(bottom) <= at.keys():
            a, b = value(top, at), value(bottom, at)
            if form == "max":
                at[symbol] = max(a, b)
            elif b >= 1:
                if form == "/" and a % b:
                    raise Refused(f"{symbol} is no integer at the point")
                at[symbol] = a // b
    for relation, e, *modulus in claim["assumptions"]:
        a = value(e, at)
        k = value(modulus[0], at) if modulus else 1
        if not {"divides": k != 0 and a % (k or 1) == 0, ">=": a >= 0, "==": a == 0}[relation]:
            raise Refused("an assumption of the claim fails at the point")
    return at


def names_of(e: Any) -> set[str]:
    """Return the names in a polynomial."""
    return set() if type(e) is int else {factor for _, *factors in e for factor in factors}


def value(e: Any, at: Mapping[str, int]) -> int:
    """Return the value of a polynomial; refuse one with a name that has no value."""
    if type(e) is int:
        return e
    if missing := names_of(e) - at.keys():
        raise Refused(f"{min(missing)} has no value at the point")
    found: int = sum(c * prod(at[factor] for factor in factors) for c, *factors in e)
    if found.bit_length() > MAX_BITS:
        raise Refused("a value is too large at the point")
    return found


class _Elements:
    """The elements that both sides of a claim read at one point."""

    def __init__(self, claim: dict[str, Any], at: Values, shapes: list[list[int]]) -> None:
        self.nodes, self.at, self.shapes = claim["nodes"], at, shapes
        self.steps = 0

    def compare(self, left: int, right: int) -> None:
        """Refuse unless both nodes read the same elements."""
        for coordinate in product(*map(range, self.shapes[left])):
            if self.steps > MAX_STEPS:
                return
            one, other = (self.read(node, coordinate) for node in (left, right))
            if one != other:
                raise Refused(f"at the point the sides read {one} and {other} at {coordinate}")

    def read(self, number: int, coordinate: tuple[int, ...]) -> tuple[Any, ...]:
        """Return what a node reads at a coordinate: an input with a coordinate, or a fill."""
        while "input" not in (node := self.nodes[number]):
            cases = (case for case in node["cases"] if self.holds(case, coordinate))
            case, *others = islice(cases, 2) or [None]
            if case is None or others:
                raise Refused(f"at the point no case, or several, of node {number} hold at {coordinate}")
            coordinate = tuple(self.evaluate(c, coordinate) for c in case["coords"])
            number = node["inputs"][case["source"]]
            if not all(0 <= c < n for c, n in zip(coordinate, self.shapes[number], strict=True)):
                if case["fill"] is None:
                    raise Refused(f"at the point a case without a fill reads outside of node {number}")
                return "fill", case["fill"]
        return node["input"], coordinate

    def holds(self, case: dict[str, Any], coordinate: tuple[int, ...]) -> bool:
        """Return whether a case holds at a coordinate of its operation."""
        return all(0 <= self.evaluate(w, coordinate) < value(extent, self.at) for w, extent in case["where"])

    def evaluate(self, expression: Any, coordinate: tuple[int, ...]) -> int:
        """Return the value of a coordinate expression."""
        self.steps += 1
        operator, *operands = expression
        if operator == "axis":
            axis: int = operands[0]
            return coordinate[axis]
        if operator == "extent":
            return value(operands[0], self.at)
        if operator == "entry":
            table = operands[0]
            found: int = table[min(max(self.evaluate(operands[1], coordinate), 0), len(table) - 1)]
            return found
        a, b = (self.evaluate(part, coordinate) for part in operands)
        if operator in ("//", "%"):
            if b < 1:
                raise Refused("at the point a divisor is not positive")
            return a // b if operator == "//" else a % b
        return a + b if operator == "+" else a - b if operator == "-" else a * b


def POINT(data: Any, place: str) -> None:
    """Accept an integer for each name."""
    if type(data) is not dict:
        raise Refused(f"{place}: {data!r:.80} is not an object")
    for key, each in data.items():
        name(key, place)
        integer(each, place)
        if each.bit_length() > MAX_BITS:
            raise Refused(f"{place}: {key:.80} is too large")


EVALUATED: Kind = one_of("elements", "shapes")
