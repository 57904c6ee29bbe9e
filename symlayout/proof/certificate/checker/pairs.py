"""The pairs of computed values in a certificate: each is what it says, and is proved by earlier pairs.

In the claims ``value k`` stands for both values of pair number *k*.  The text of the certificate says of both sides
which values there are, by number, with their functions, batches and what their views read.  The pairs prove what it
says: each has the function of both of its values, and its claims read what these do.  Whether two models or chains have
these values, and whether the function has operands that trade places, only they tell
(`symlayout.proof.certificate.check_computed`).

A pair that is ``reshaped`` says that the value before is the one after with its batch in another shape, row-major; the
number is the rank of the batch after.  Its views are claimed to be such reshapes, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps
from typing import Any

from symlayout.proof.certificate.checker.formulas import check_formula
from symlayout.proof.certificate.checker.polynomials import Refused
from symlayout.proof.certificate.checker.schema import (
    Kind,
    anything,
    check_claim,
    index,
    items,
    members,
    name,
    optional,
    row,
)

ROUNDED = "fold-batchnorm"  # the law that lets a tool compute constants, and round them in its own way
_VALUE = "value "
_MEMBERS = frozenset(
    ("before", "after", "function", "order", "swapped", "box", "law", "views", "formula", "bijection", "reshaped")
)


def check_pairs(certificate: dict[str, Any]) -> None:
    """Refuse pairs of another form, views in another order than is said, and claims about other sizes."""
    domain: Any = None
    pairs = certificate["pairs"]
    for number, pair in enumerate(pairs):
        _check_form(pair, number)
        if "formula" in pair:
            check_formula(pair["formula"], pair, f"pair {number}")
        if pair["order"] != sorted(pair["order"]) and not any(pair["views"]):
            raise Refused(f"pair {number}: no view shows that its axes have the order {pair['order']}")
        for place, shown in enumerate(pair["views"]):
            if shown is not None:
                domain = _check_claim(shown, number, domain)
                _check_order(shown["claim"], pair, number, place)
    for shown in certificate["outputs"].values():
        if shown is not None:
            domain = _check_claim(shown, len(pairs), domain)
    every = [view for pair in pairs for view in pair["views"]] + [*certificate["outputs"].values()]
    _check_shapes(pairs, [shown["claim"] for shown in every if shown is not None])
    laws = {pair["law"] for pair in pairs} - {""} | _laws_of_rounded(certificate)
    if not laws <= set(certificate["laws"]):
        raise Refused(f"a pair needs the law {min(laws - set(certificate['laws']))}")
    if len({(pair["before"], pair["after"]) for pair in pairs if "before" in pair}) < sum("before" in p for p in pairs):
        raise Refused("two pairs are about the same values")
    if "text" in certificate or any("before" in pair or "after" in pair for pair in pairs):
        _Text(certificate).check()


def _laws_of_rounded(certificate: dict[str, Any]) -> set[str]:
    """Return the law by which constants are one that are rounded in two ways, by their numbers on both sides."""
    rounded = certificate.get("rounded", [])
    items(row(index, index))(rounded, "rounded")
    for places in zip(*rounded, strict=True):
        if len({*places}) < len(places):
            raise Refused("a constant is rounded to two others")
    return {ROUNDED} if rounded else set()


def _check_form(pair: dict[str, Any], number: int) -> None:
    place = f"pair {number}"
    if not {*pair} <= _MEMBERS:
        raise Refused(f"{place}: it has a member that no pair has")
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
    if "reshaped" in pair:
        index(pair["reshaped"], place)
        plain = [*range(len(axes))] == axes and pair["order"] == sorted(pair["order"])
        if not plain or groups is not None or back or turned or "bijection" in pair or "formula" in pair:
            raise Refused(f"{place}: a batch of another shape has all axes in order")
        if not any(pair["views"]):
            raise Refused(f"{place}: no view shows that its batch is reshaped")


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


def _check_order(claim: dict[str, Any], pair: dict[str, Any], number: int, number_of_view: int) -> None:
    """Refuse other axes than those of the batch and the box of the pair, and the value after in another order."""
    order = pair["order"]
    if number_of_view == 0 and len(claim["nodes"][claim["right"]]["shape"]) != len(order) + len(pair["box"][0]):
        raise Refused(f"pair {number}: its first view does not have the axes of its batch and its box")
    if order == sorted(order) or pair["box"][2]:
        return
    for each in _moves(claim["nodes"], claim["right"]):
        wanted = [order.index(k) if k < len(order) else k for k in range(len(each))]  # the box follows
        if each == wanted or each == [*map(wanted.index, range(len(wanted)))]:
            return
    raise Refused(f"pair {number}: no view has its axes in the order {order}")


def _check_shapes(pairs: list[Any], claims: list[Any]) -> None:
    """Refuse a value that has, in the claims about later pairs, other axes than its batch and its views say."""
    shapes = {node["input"]: node["shape"] for claim in claims for node in claim["nodes"] if "input" in node}
    for number, pair in enumerate(pairs):
        order, shape = pair["order"], shapes.get(value := f"{_VALUE}{number}", [])
        if value in shapes and len(order) > len(shape) and "reshaped" not in pair:
            raise Refused(f"pair {number}: its value has {len(shape)} axes, and its batch {len(order)}")
        for shown in pair["views"]:
            if shown is not None and not pair["box"][2] and "reshaped" not in pair and len(shape) >= len(order):
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


class _Text:
    """What a certificate says of both sides, beside its pairs and their claims."""

    def __init__(self, certificate: dict[str, Any]) -> None:
        self.pairs, self.outputs = certificate["pairs"], certificate["outputs"]
        self.sides = certificate["text"]
        row(_SIDE, _SIDE)(self.sides, "text")
        self.values: list[dict[int, Any]] = [{each[0]: each[1:] for each in side["values"]} for side in self.sides]
        self.same: dict[Any, Any] = {}  # values and pairs that stand for one value
        for number, pair in enumerate(self.pairs):
            for k, key in enumerate(_KEYS):
                self._join(f"{_VALUE}{number}", (k, pair[key]))

    def _one(self, each: Any) -> Any:
        while each in self.same:
            each = self.same[each]
        return each

    def _join(self, a: Any, b: Any) -> None:
        a, b = self._one(a), self._one(b)
        if a != b:
            self.same[a] = b

    def check(self) -> None:
        """Refuse a text that says something else than the pairs prove."""
        for k, key in enumerate(_KEYS):
            listed = [each[0] for each in self.sides[k]["values"]]
            if listed != sorted({pair[key] for pair in self.pairs if "formula" not in pair}):
                raise Refused(f"the values {key} are not those of the pairs")
            if self.sides[k]["outputs"].keys() != self.outputs.keys():
                raise Refused(f"the outputs {key} are others")
        for number, pair in enumerate(self.pairs):
            place = f"pair {number}"
            if "formula" in pair:
                reads = pair["formula"]["reads"]
                for shown, (i, j) in zip(pair["views"], pair["formula"]["places"], strict=True):
                    self._check_reads(shown, [reads[0][i], reads[1][j]], place)
                continue
            made = [self.values[k][pair[key]] for k, key in enumerate(_KEYS)]
            ranks = len(pair["order"]), pair.get("reshaped", len(pair["order"]))
            if [each[:2] for each in made] != [[pair["function"], rank] for rank in ranks]:
                raise Refused(f"{place}: its values have another function or batch")
            reads = [views for _, _, views in made]
            if any(len(views) != len(pair["views"]) for views in reads):
                raise Refused(f"{place}: its values have another number of operands")
            if pair["swapped"]:
                reads[0] = reads[0][::-1]
            for shown, *two in zip(pair["views"], *reads, strict=True):
                self._check_reads(shown, two, place)
        for name_, shown in self.outputs.items():
            self._check_reads(shown, [side["outputs"][name_] for side in self.sides], f"output {name_}")

    def _check_reads(self, shown: Any, two: list[Any], place: str) -> None:
        """Refuse a claim whose sides read other values than the text says; without one, both read the same."""
        said = [{self._one((k, each) if type(each) is int else each) for each in reads} for k, reads in enumerate(two)]
        claim = None if shown is None else shown["claim"]
        for k, side in enumerate(("left", "right")):
            found = said[1] if claim is None else {*map(self._named, _inputs_read(claim["nodes"], claim[side]))}
            if said[k] != found:
                raise Refused(f"{place}: the text says that it reads other values")

    def _named(self, label: str) -> Any:
        """Return the value that an input of a claim stands for, or its name without the number that a claim adds."""
        return self._one(label if label.startswith(_VALUE) or "." not in label else label.rpartition(".")[0])


def _inputs_read(nodes: list[Any], number: int) -> set[str]:
    """Return the names of the inputs whose elements a node reads."""
    found, seen, waiting = set[str](), set[int](), [number]
    while waiting:
        if (k := waiting.pop()) not in seen:
            seen.add(k)
            if "input" in nodes[k]:
                found.add(nodes[k]["input"])
            else:
                waiting += [nodes[k]["inputs"][case["source"]] for case in nodes[k]["cases"]]
    return found


def _read(value: Any, place: str) -> None:
    (index if type(value) is int else name)(value, place)


def _reads(value: Any, place: str) -> None:
    items(_read)(value, place)
    if value != sorted({*value}, key=lambda each: (type(each) is str, each)):
        raise Refused(f"{place}: what a view reads is not listed in order")


def _outputs(value: Any, place: str) -> None:
    if type(value) is not dict:
        raise Refused(f"{place}: {value!r:.80} are no outputs")
    for each in value.values():
        _reads(each, place)


def _flag(value: Any, place: str) -> None:
    if type(value) is not bool:
        raise Refused(f"{place}: {value!r:.80} is neither true nor false")


_BOX: Kind = row(items(index), optional(items(row(index, index))), _flag, items(index))
_KEYS = ("before", "after")
_SIDE: Kind = members(values=items(row(index, row(name, name), index, items(_reads))), outputs=_outputs)
