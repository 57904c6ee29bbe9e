"""Evaluate the maps of a claim, and the rules of a proof that depend on them.

A proof shows once for each operation that it is a map: at each of its coordinates exactly one case holds, and a case
without a fill reads inside its source (`check_case`).  Later steps use this for any coordinate without a new proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from json import dumps
from typing import Any

from symlayout.proof.certificate.checker.known import Known
from symlayout.proof.certificate.checker.polynomials import Polynomial, Refused, decode

SIDES = ("left", "right")
_CHARACTERS_PER_OPERATION = 20  # writing so many characters takes as long as one operation on a term

# ---------------------------------------------------------------------- the claim as a whole


def check_given(known: Known) -> None:
    """Refuse the certificate unless each name of the claim has a value, and each input has one shape."""
    if known.point is not None:
        raise Refused("a coordinate is introduced before the maps, which have coordinates of their own")
    if missing := {name for name, *_ in (*known.claim["dims"], *known.claim["symbols"])} - known.meaning.keys():
        raise Refused(f"{min(missing)} has no meaning")
    shapes: dict[str, list[Polynomial]] = {}
    for node in known.claim["nodes"]:
        if "input" in node:
            shape = [known.claimed(e) for e in node["shape"]]
            _need_same(known, shape, shapes.setdefault(node["input"], shape), f"the shapes of {node['input']}")


def point(known: Known) -> None:
    """Introduce any coordinate ``0 <= i < extent`` of one operation, or of both sides if their shapes agree."""
    left, right = _sides(known) if known.place is None else (known.place, known.place)
    extents, others = ([known.claimed(e) for e in known.claim["nodes"][node]["shape"]] for node in (left, right))
    _need_same(known, extents, others, "the shapes")
    known.point = [known.introduce(f"#{axis}") for axis in range(len(extents))]
    known.nonnegative.update(known.point)
    known.nonnegative.update(e - 1 - i for e, i in zip(extents, known.point, strict=True))


def _sides(known: Known) -> tuple[int, int]:
    return known.sides or (known.claim["left"], known.claim["right"])


def _need_same(known: Known, left: Sequence[Polynomial], right: Sequence[Polynomial], what: str) -> None:
    if len(left) != len(right):
        raise Refused(f"{what} differ in rank")
    for a, b in zip(left, right, strict=True):
        known.need_zero(a - b)


# ---------------------------------------------------------------------- one map


def check_case(known: Known, number: int, others: Sequence[Any]) -> None:
    """Refuse the certificate unless case *number* of the operation holds and reads inside, and no other case holds.

    *others* gives, for each other case in order, a window that fails and the end at which the coordinate is outside.
    """
    if known.place is None:
        raise Refused("a case is named where the proof is about both sides")
    node = known.claim["nodes"][known.place]
    if not (number < len(node["cases"]) == len(others) + 1):
        raise Refused(f"the end does not tell apart all cases of node {known.place}")
    at = _point(known)
    case, extents = _enter(known, node, number, at)
    for each, (window, end) in zip((c for k, c in enumerate(node["cases"]) if k != number), others, strict=True):
        if window >= len(each["where"]):
            raise Refused(f"a case has no window {window}")
        value, extent = each["where"][window]
        _need_outside(known, value, known.claimed(extent), at, end)
    if case["fill"] is None:
        for coordinate, extent in zip(case["coords"], extents, strict=True):
            known.need_inside(evaluate(known, coordinate, at), extent)


def _enter(
    known: Known, node: dict[str, Any], number: int, at: list[Polynomial]
) -> tuple[dict[str, Any], list[Polynomial]]:
    """Return a case of a node and the extents of its source; refuse unless the case is known to hold at *at*."""
    if "cases" not in node or number >= len(node["cases"]):
        raise Refused(f"{node.get('op', 'an input')} has no case {number}")
    case: dict[str, Any] = node["cases"][number]
    for value, extent in case["where"]:
        known.need_inside(evaluate(known, value, at), known.claimed(extent))
    return case, [known.claimed(e) for e in _source(known, node, case)["shape"]]


def _source(known: Known, node: dict[str, Any], case: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = known.claim["nodes"][node["inputs"][case["source"]]]
    return found


def _need_outside(known: Known, expression: Any, extent: Polynomial, at: list[Polynomial], end: str) -> None:
    """Refuse the certificate unless a coordinate is outside: below 0, at least the extent, or the extent is 0."""
    if end == "empty":
        known.need(-extent)
    elif end == "below":
        known.need(-1 - evaluate(known, expression, at))
    else:
        known.need(evaluate(known, expression, at) - extent)


def evaluate(known: Known, expression: Any, at: list[Polynomial]) -> Polynomial:
    """Return the value of a coordinate expression at *at*; refuse if a floor in it has not been proved."""
    known.work.spend(1)
    operator, *operands = expression
    if operator == "axis":
        coordinate: Polynomial = at[operands[0]]
        return coordinate
    if operator == "extent":
        return known.claimed(operands[0])
    if operator == "entry":
        return _entry(known, tuple(operands[0]), evaluate(known, operands[1], at))
    a, b = evaluate(known, operands[0], at), evaluate(known, operands[1], at)
    if operator in ("+", "-"):
        return a + b if operator == "+" else a - b
    if operator == "*":
        return known.reduce(a * b)
    if (a, b) not in known.floors:
        raise Refused(f"floor(({a}) / ({b})) is not shown")
    quotient = known.floors[a, b]
    return quotient if operator == "//" else known.reduce(a - b * quotient)


def _entry(known: Known, table: tuple[int, ...], place: Polynomial) -> Polynomial:
    """Return the entry of a table; before the first entry it is the first, and after the last it is the last."""
    known.work.spend(len(table))
    if (number := place.constant) is not None:
        return known.number(table[min(max(number, 0), len(table) - 1)])
    if min(table) == max(table):
        return known.number(table[0])
    if (table, place) not in known.entries:
        raise Refused(f"no step names the entry of a table at {place}")
    return known.entries[table, place]


# ---------------------------------------------------------------------- the two sides


def check_agreement(known: Known, left: Sequence[Any], right: Sequence[Any]) -> None:
    """Refuse the certificate unless both sides read the same element at the point, by the cases of the paths."""
    (a, at), (b, others) = (read_side(known, side, path) for side, path in zip(SIDES, (left, right), strict=True))
    if a != b:
        raise Refused(f"the sides read {a} and {b}")
    _need_same(known, at, others, "the coordinates")


def check_equal_elements(
    known: Known, left: Sequence[Any], right: Sequence[Any], number: int, values: Sequence[Any]
) -> None:
    """Refuse unless both sides read elements of constants that the claim states to be equal.

    *number* is that of the statement in the claim, and *values* are those of the names of its box.
    """
    stated = known.claim.get("elements", [])
    if number >= len(stated):
        raise Refused(f"the claim states no equal elements {number}")
    *sides, box = stated[number]
    if len(values) != len(box):
        raise Refused(f"a box of {len(box)} names has {len(values)} values")
    meaning: dict[str, Polynomial] = {}
    for (name, low, high), data in zip(box, values, strict=True):
        value = meaning[name] = known.read(data)
        known.need(value - low)
        known.need(known.number(high) - value)
    for (constant, coordinates), side, path in zip(sides, SIDES, (left, right), strict=True):
        read, at = read_side(known, side, path)
        if read != ("input", constant):
            raise Refused(f"the {side} side reads {read}, not {constant}")
        stands = [known.reduce(decode(e, known.work).substitute(meaning)) for e in coordinates]
        _need_same(known, at, stands, "the coordinates")


def check_meeting(known: Known, left: Sequence[Any], right: Sequence[Any]) -> None:
    """Refuse the certificate unless both paths lead to one coordinate of nodes that are one expression."""
    (a, at), (b, others) = (_follow(known, side, path) for side, path in zip(SIDES, (left, right), strict=True))
    forms = _forms(known)
    if forms[a] != forms[b]:
        raise Refused(f"nodes {a} and {b} are two expressions")
    _need_same(known, at, others, "the coordinates")


def _forms(known: Known) -> list[int]:
    """Return a number for each node: nodes of one number are the same operations of nodes that are equal.

    Inputs are equal if their names are; others are equal if that is proved.  Inputs that no case reads do not count.
    """
    numbers: dict[str, int] = {}
    found: list[int] = []
    for place, node in enumerate(known.claim["nodes"]):
        form = node
        if "cases" in node:
            read = {case["source"] for case in node["cases"]}
            sources = [found[n] if k in read else None for k, n in enumerate(node["inputs"])]
            form = {"shape": node["shape"], "cases": node["cases"], "inputs": sources}  # its name means nothing
        text = dumps(form, sort_keys=True)
        known.work.spend(1 + len(text) // _CHARACTERS_PER_OPERATION)
        same = next((min(pair) for pair in known.equal if max(pair) == place), None)
        found.append(numbers.setdefault(text, len(numbers)) if same is None else found[same])
    return found


def read_side(known: Known, side: str, path: Sequence[Any]) -> tuple[tuple[str, str], list[Polynomial]]:
    """Return the element that a side reads: an input with a coordinate, or a fill."""
    end = path[-1][1] if path else None
    number, at = _follow(known, side, path if end is None else path[:-1])
    node = known.claim["nodes"][number]
    if end is None:
        if "input" not in node:
            raise Refused(f"a path ends at {node['op']}, which is not an input")
        return ("input", node["input"]), at
    axis, where = end
    case, extents = _enter(known, node, path[-1][0], at)
    if case["fill"] is None or axis >= len(extents):
        raise Refused("a case without a fill reads outside its source")
    _need_outside(known, case["coords"][axis], extents[axis], at, where)
    return ("fill", case["fill"]), []


def _follow(known: Known, side: str, path: Sequence[Any]) -> tuple[int, list[Polynomial]]:
    """Follow *path* from the output coordinate; return the node that it reaches, and the coordinate there."""
    if known.place is not None:
        raise Refused("a side is read in a block that is about one operation")
    place, at = _sides(known)[SIDES.index(side)], _point(known)
    for number, end in path:
        if end is not None:
            raise Refused("a path goes on outside a source")
        node = known.claim["nodes"][place]
        case, extents = _enter(known, node, number, at)
        at = [evaluate(known, c, at) for c in case["coords"]]
        if case["fill"] is not None:
            for coordinate, extent in zip(at, extents, strict=True):
                known.need_inside(coordinate, extent)
        place = node["inputs"][case["source"]]
    return place, at


def _point(known: Known) -> list[Polynomial]:
    if known.point is None:
        raise Refused("no coordinate is introduced")
    return [known.reduce(i) for i in known.point]


def inside(known: Known, side: str, path: Sequence[Any]) -> None:
    """``0 <= c < extent`` for the case at the end of *path*: it has no fill, or its side is assumed to read none."""
    if not path or path[-1][1] is not None:
        raise Refused("no case ends the path")
    place, at = _follow(known, side, path[:-1])
    case, extents = _enter(known, known.claim["nodes"][place], path[-1][0], at)
    if case["fill"] is not None and known.inside != side:
        raise Refused("this case is not assumed to read inside its source")
    for expression, extent in zip(case["coords"], extents, strict=True):
        c = evaluate(known, expression, at)
        known.nonnegative |= {c, extent - 1 - c}


def suppositions(known: Known) -> Iterator[Known]:
    """Yield the known facts for the points at which the left side reads no fill, then for the right side.

    No map may have several cases, and all fills must be equal.  Then both sides read that fill at all other points.
    """
    cases = [node["cases"] for node in known.claim["nodes"] if "cases" in node]
    known.work.spend(len(cases))
    fills = {case["fill"] for each in cases for case in each} - {None}
    if known.place is not None or len(fills) > 1 or any(len(each) != 1 or each[0]["where"] for each in cases):
        raise Refused("there are several cases or fills")
    for side in SIDES:
        branch = known.fork()
        branch.inside = side
        yield branch
