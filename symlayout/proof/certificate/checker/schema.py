"""The form of a certificate: its members, their types, and the names and numbers that they refer to.

`check_form` refuses data of any other form.  So the modules that read a certificate afterwards test no types.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from symlayout.proof.certificate.checker.polynomials import Refused

Kind = Callable[[Any, str], None]  # called with a value and its place; refuses a value of another kind

MAX_VALUES = 3_000_000  # most values in a certificate
MAX_NESTING = 400  # most nested lists and objects


# ---------------------------------------------------------------------- any JSON, and its seal


def size(certificate: Any) -> int:
    """Return the number of characters of a certificate as JSON; refuse other data, and data too large or too nested."""
    count, level = 0, [certificate]
    for _ in range(MAX_NESTING):
        below: list[Any] = []
        for value in level:
            if type(value) is dict:
                below += [*value, *value.values()]
            elif type(value) is list:
                below += value
            elif value is not None and type(value) not in (bool, int, str):
                raise Refused(f"a {type(value).__name__} is not part of a certificate")
            if count + len(below) > MAX_VALUES:
                raise Refused(f"the certificate has more than {MAX_VALUES} values")
        if not below:
            return len(_body(certificate))
        count, level = count + len(below), below
    raise Refused(f"the certificate is nested more than {MAX_NESTING} times")


def seal(certificate: dict[str, Any]) -> str:
    """Return the digest of all other members.  It reveals only accidental changes: anybody can make it."""
    return digest({key: value for key, value in certificate.items() if key != "seal"})


def sealed(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """Return a certificate with the seal of what it says."""
    return {**certificate, "seal": seal(dict(certificate))}


def digest(data: Any) -> str:
    """Return the SHA-256 of JSON values."""
    return sha256(_body(data).encode()).hexdigest()


def _body(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"), sort_keys=True)


# ---------------------------------------------------------------------- kinds of values


def anything(value: Any, place: str) -> None:
    """Accept any JSON value."""


def integer(value: Any, place: str) -> None:
    """Accept an integer."""
    if type(value) is not int:  # not isinstance: a bool is not an integer here
        raise Refused(f"{place}: {value!r:.80} is not an integer")


def index(value: Any, place: str) -> None:
    """Accept an integer >= 0."""
    if type(value) is not int or value < 0:
        raise Refused(f"{place}: {value!r:.80} is not a number >= 0")


def name(value: Any, place: str) -> None:
    """Accept a nonempty text."""
    if type(value) is not str or not value:
        raise Refused(f"{place}: {value!r:.80} is not a name")


def one_of(*words: str) -> Kind:
    """Return the kind that accepts one of these texts."""

    def kind(value: Any, place: str) -> None:
        if type(value) is not str or value not in words:
            raise Refused(f"{place}: {value!r:.80} is not one of {', '.join(words)}")

    return kind


def optional(inner: Kind) -> Kind:
    """Return the kind that accepts null and the values of *inner*."""

    def kind(value: Any, place: str) -> None:
        if value is not None:
            inner(value, place)

    return kind


def items(inner: Kind) -> Kind:
    """Return the kind that accepts lists, of any length, of values of *inner*."""

    def kind(value: Any, place: str) -> None:
        if type(value) is not list:
            raise Refused(f"{place}: {value!r:.80} is not a list")
        for item in value:
            inner(item, place)

    return kind


def row(*inner: Kind) -> Kind:
    """Return the kind that accepts lists with one value of each kind, in order."""

    def kind(value: Any, place: str) -> None:
        if type(value) is not list or len(value) != len(inner):
            raise Refused(f"{place}: {value!r:.80} is not a list of {len(inner)}")
        for each, item in zip(inner, value, strict=True):
            each(item, place)

    return kind


def members(**inner: Kind) -> Kind:
    """Return the kind that accepts objects with exactly these members."""

    def kind(value: Any, place: str) -> None:
        if type(value) is not dict or value.keys() != inner.keys():
            found = sorted(value) if type(value) is dict else value
            raise Refused(f"{place}: {found!r:.200} is not {sorted(inner)}")
        for key, each in inner.items():
            each(value[key], f"{place}.{key}")

    return kind


def polynomial(value: Any, place: str) -> None:
    """Accept an int, or a list of terms ``[coefficient, name, ...]``."""
    if type(value) is int:
        return
    items(_term)(value, place)


def _term(value: Any, place: str) -> None:
    if type(value) is not list or not value:
        raise Refused(f"{place}: {value!r:.80} is not a term")
    integer(value[0], place)
    for factor in value[1:]:
        name(factor, place)


def table(value: Any, place: str) -> None:
    """Accept a list of one integer or more."""
    items(integer)(value, place)
    if not value:
        raise Refused(f"{place}: a table has an entry")


def function(value: Any, place: str) -> None:
    """Accept the denominator of a floor, or the table of an entry."""
    (table if type(value) is list else integer)(value, place)


def expression(value: Any, place: str) -> None:
    """Accept a coordinate: ``["axis", k]``, ``["extent", polynomial]``, an entry, or an operator and two expressions.

    ``["entry", [v0, v1, ...], expression]`` is the entry of a table at a place.
    """
    operator = value[0] if type(value) is list and value else None
    if operator == "axis":
        row(name, index)(value, place)
    elif operator == "extent":
        row(name, polynomial)(value, place)
    elif operator == "entry":
        row(name, table, expression)(value, place)
    else:
        row(one_of("+", "-", "*", "//", "%"), expression, expression)(value, place)


# ---------------------------------------------------------------------- claims


CASE = members(source=index, where=items(row(expression, polynomial)), coords=items(expression), fill=optional(name))
INPUT = members(input=name, shape=items(polynomial))
OPERATION = members(op=name, inputs=items(index), shape=items(polynomial), cases=items(CASE))


def _node(value: Any, place: str) -> None:
    (INPUT if type(value) is dict and "input" in value else OPERATION)(value, place)


def _assumption(value: Any, place: str) -> None:
    divides = type(value) is list and value[:1] == ["divides"]
    row(one_of("divides", ">=", "=="), polynomial, *[polynomial] * divides)(value, place)


_CLAIM: dict[str, Kind] = {
    "dims": items(row(name, optional(integer), optional(integer), index)),
    "symbols": items(row(name, one_of("/", "//", "max"), polynomial, polynomial)),
    "assumptions": items(_assumption),
    "nodes": items(_node),
    "left": index,
    "right": index,
}
_ELEMENT = row(name, items(polynomial))  # of a constant: its name and a coordinate
_ELEMENTS = items(row(_ELEMENT, _ELEMENT, items(row(name, integer, integer))))


def _claim(value: Any, place: str) -> None:
    stated = {"elements": _ELEMENTS} if type(value) is dict and "elements" in value else {}
    members(**_CLAIM, **stated)(value, place)


def check_claim(claim: Any) -> None:
    """Refuse a claim that has another form, or that refers to a missing name or number."""
    _claim(claim, "claim")
    known: set[str] = set()
    for dim, low, high, multiple in claim["dims"]:
        _check_new(dim, known)
        if multiple < 1 or (None not in (low, high) and high // multiple * multiple < low):
            raise Refused(f"the dim {dim} has no values")
    for symbol, _, a, b in claim["symbols"]:
        _check_names([a, b], known)
        _check_new(symbol, known)
    for _, *parts in claim["assumptions"]:
        _check_names(parts, known)
    nodes = claim["nodes"]
    for number, node in enumerate(nodes):
        _check_names(node["shape"], known)
        if "input" not in node:
            _check_operation(node, number, nodes, known)
    _check_elements(claim)
    _check_used(claim)
    if len(nodes[claim["left"]]["shape"]) != len(nodes[claim["right"]]["shape"]):
        raise Refused("the two sides differ in rank")


def _check_new(symbol: str, known: set[str]) -> None:
    if symbol in known:
        raise Refused(f"the name {symbol} stands for two things")
    known.add(symbol)


def _check_names(polynomials: list[Any], known: set[str]) -> None:
    for e in polynomials:
        for _, *names in [] if isinstance(e, int) else e:
            if unknown := set(names) - known:
                raise Refused(f"the claim does not say what {min(unknown)} is")


def _check_operation(node: dict[str, Any], number: int, nodes: list[Any], known: set[str]) -> None:
    """Refuse an operation that reads a later node, or whose number of coordinates is not the rank of its source."""
    if any(source >= number for source in node["inputs"]):
        raise Refused(f"node {number} reads a node that does not come before it")
    for case in node["cases"]:
        if case["source"] >= len(node["inputs"]):
            raise Refused(f"node {number} has no input number {case['source']}")
        rank = len(nodes[node["inputs"][case["source"]]]["shape"])
        if len(case["coords"]) != rank:
            raise Refused(f"a case gives {len(case['coords'])} coordinates in {rank} axes")
        windows = [part for value, extent in case["where"] for part in (value, ["extent", extent])]
        for operator, operand in _leaves([*case["coords"], *windows]):
            if operator == "extent":
                _check_names([operand], known)
            elif operand >= len(node["shape"]):
                raise Refused(f"node {number} has no axis {operand}")


def _leaves(expressions: list[Any]) -> Iterator[Any]:
    waiting = list(expressions)
    while waiting:
        if len(found := waiting.pop()) == 2:
            yield found
        elif found[0] == "entry":
            waiting.append(found[2])
        else:
            waiting += found[1:]


def _check_elements(claim: dict[str, Any]) -> None:
    """Refuse equal elements of what is no input, or at coordinates with names from outside of their box."""
    ranks = {node["input"]: len(node["shape"]) for node in claim["nodes"] if "input" in node}
    for *sides, box in claim.get("elements", []):
        inside: set[str] = set()
        for symbol, _, _ in box:
            _check_new(symbol, inside)
        for constant, coordinates in sides:
            if ranks.get(constant) != len(coordinates):
                raise Refused(f"the claim has no input {constant:.80} with {len(coordinates)} axes")
            _check_names(coordinates, inside)


def _check_used(claim: dict[str, Any]) -> None:
    """Refuse a claim with a node that neither side reads."""
    nodes, used = claim["nodes"], {claim["left"], claim["right"]}
    if max(used) >= len(nodes):
        raise Refused(f"there is no node {max(used)}")
    for number in reversed(range(len(nodes))):
        if number not in used:
            raise Refused(f"neither side reads node {number}")
        used.update(nodes[number].get("inputs", ()))
