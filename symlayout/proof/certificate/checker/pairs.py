"""The pairs of computed values in a certificate: each is what it says, and is proved by earlier pairs.

In the claims ``value k`` stands for both values of pair number *k*.  Where the values are in two models or chains, and
whether the function has operands that trade places, only these tell (`symlayout.proof.certificate.check_computed`).
"""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps
from typing import Any

from symlayout.proof.certificate.checker.polynomials import Refused
from symlayout.proof.certificate.checker.schema import Kind, anything, check_claim, index, items, name, optional, row

_VALUE = "value "


def check_pairs(certificate: dict[str, Any]) -> None:
    """Refuse pairs of another form, views in another order than is said, and claims about other sizes."""
    domain: Any = None
    pairs = certificate["pairs"]
    for number, pair in enumerate(pairs):
        _check_form(pair, number)
        for shown in pair["views"]:
            if shown is not None:
                domain = _check_claim(shown, number, domain)
                _check_order(shown["claim"], pair, number)
    for shown in certificate["outputs"].values():
        if shown is not None:
            domain = _check_claim(shown, len(pairs), domain)
    every = [view for pair in pairs for view in pair["views"]] + [*certificate["outputs"].values()]
    _check_shapes(pairs, [shown["claim"] for shown in every if shown is not None])
    laws = {pair["law"] for pair in pairs} - {""}
    if not laws <= set(certificate["laws"]):
        raise Refused(f"a pair needs the law {min(laws - set(certificate['laws']))}")
    if len({(pair["before"], pair["after"]) for pair in pairs if "before" in pair}) < sum("before" in p for p in pairs):
        raise Refused("two pairs are about the same values")


def _check_form(pair: dict[str, Any], number: int) -> None:
    place = f"pair {number}"
    _BOX(pair["box"], place)
    row(name, name)(pair["function"], place)
    items(index)(pair["order"], place)
    items(anything)(pair["views"], place)
    for key in ("before", "after"):
        index(pair.get(key, 0), place)
    axes, groups, back, turned = pair["box"]
    if sorted(axes) != [*range(len(axes))] or sorted(pair["order"]) != [*range(len(pair["order"]))]:
        raise Refused(f"{place}: an order is no permutation")
    if groups == []:
        raise Refused(f"{place}: a box has no groups of axes")
    if len(set(turned)) != len(turned) or not set(turned) <= set(axes):
        raise Refused(f"{place}: the box has no axes {turned}")
    if back and groups is None and not turned and axes == sorted(axes) and "bijection" not in pair:
        raise Refused(f"{place}: both boxes are the same")
    if type(pair["swapped"]) is not bool or (pair["swapped"] and len(pair["views"]) != 2):
        raise Refused(f"{place}: there are no two operands that trade places")
    if type(pair["law"]) is not str:
        raise Refused(f"{place}: {pair['law']!r:.80} is no law")


def _check_claim(shown: dict[str, Any], number: int, domain: Any) -> Any:
    """Refuse a claim of pair *number* that is about later pairs, or about other sizes than *domain*; return these."""
    claim = shown["claim"]
    check_claim(claim)
    for node in claim["nodes"]:
        known = node.get("input", "")
        if known.startswith(_VALUE) and not (known[len(_VALUE) :].isdecimal() and int(known[len(_VALUE) :]) < number):
            raise Refused(f"the claims of pair {number} are about {known:.80}, which is not shown before")
    own = claim["dims"], claim["assumptions"]
    if domain is not None and domain != own:
        raise Refused(f"the claims of pair {number} are about other sizes than those before")
    return own


def _check_order(claim: dict[str, Any], pair: dict[str, Any], number: int) -> None:
    """Refuse a view of the value after that is not in the order of the axes that the pair has."""
    order = pair["order"]
    if order == sorted(order) or pair["box"][2]:
        return
    for each in _moves(claim["nodes"], claim["right"]):
        wanted = [order.index(k) if k < len(order) else k for k in range(len(each))]  # the box follows
        if each == wanted or each == [*map(wanted.index, range(len(wanted)))]:
            return
    raise Refused(f"pair {number}: no view has its axes in the order {order}")


def _check_shapes(pairs: list[Any], claims: list[Any]) -> None:
    """Refuse a value that has, in the claims about later pairs, its axes in another order than its views say."""
    shapes = {node["input"]: node["shape"] for claim in claims for node in claim["nodes"] if "input" in node}
    for number, pair in enumerate(pairs):
        order, shape = pair["order"], shapes.get(f"{_VALUE}{number}", [])
        for shown in pair["views"]:
            if shown is not None and not pair["box"][2] and len(shape) >= len(order):
                turned = shown["claim"]["nodes"][shown["claim"]["right"]]["shape"]
                own, other = (list(map(dumps, e[: len(order)])) for e in (shape, turned))
                if len(other) == len(own) and sorted(own) == sorted(other) and own != [other[k] for k in order]:
                    raise Refused(f"pair {number}: its value does not have its axes in the order {order}")


def _moves(nodes: list[Any], number: int) -> Iterator[list[int]]:
    """Yield the permutations of axes by which a node, and those before it, read."""
    while "cases" in (node := nodes[number]) and len(node["cases"]) == 1:
        (case,) = node["cases"]
        if all(c[0] == "axis" for c in case["coords"]) and sorted(c[1] for c in case["coords"]) == [
            *range(len(node["shape"]))
        ]:
            yield [c[1] for c in case["coords"]]
        number = node["inputs"][case["source"]]


def _flag(value: Any, place: str) -> None:
    if type(value) is not bool:
        raise Refused(f"{place}: {value!r:.80} is neither true nor false")


_BOX: Kind = row(items(index), optional(items(row(index, index))), _flag, items(index))
