"""Check a certificate: a proof that two chains of index maps are equal, as data.

This module trusts nothing of the prover and imports nothing of it: it expands polynomials and compares.
A certificate is a dict of JSON values.

``claim``
    ``dims``: ``[name, min, max, multiple_of]``.  ``symbols``: ``[name, form, a, b]``, where form is
    ``/`` (the exact quotient), ``//`` or ``max``.  ``assumptions``: ``["divides", e, k]``, ``[">=", e]`` or
    ``["==", e]``.  ``nodes``: inputs ``{"input", "shape"}`` and operations ``{"op", "inputs", "shape", "cases"}``;
    ``left`` and ``right`` are numbers of nodes.  A case holds where ``0 <= value < extent`` for each pair of its
    ``where``, and the cases of a map are disjoint, by declaration; it reads its source at ``coords``, or ``fill``
    where one of these lies outside.  ``trusted`` says whether the claim takes for granted that cases without a fill
    read inside their source; otherwise the proof shows it.
``proof``
    A block: ``steps``, each of which adds to what is known, and an end: ``agree`` (both sides are evaluated
    and read the same), ``split`` (a polynomial, the block where it is >= 0 and the block where it is < 0),
    ``masked`` (where all fills are equal: a block for the points where the left side reads inside all its sources
    that have a fill, and one for the right side), or ``absurd`` (something known is false, so no point is left).
``seal``
    The SHA-256 of the rest.  It shows accidents; the check does not rely on it.

A polynomial is an int or a list of terms ``[coefficient, name, ...]``.  What is known is polynomials that are
``>= 0`` or ``== 0`` for all integers the claim is about.  ``docs/algebra.md`` states why each step is sound.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from symlayout.algebra.polynomial import (
    Extent,
    Monomial,
    Poly,
    collapse,
    names_of,
    replace_monomial,
    substitute,
    symbol,
    terms_of,
)

_SIDES = ("left", "right")
_REWRITES = 200  # of monomials, in one reduction
_MAX_DEPTH = 400  # of nested blocks and expressions
_MAX_POINTS = 1_000_000  # of a box of digits
_MAX_INT = 1 << 62  # of a polynomial at a point
_MAX_DEGREE = 200  # of polynomials, which repeated substitution could double without end


class Refused(Exception):
    """A certificate that proves nothing, and why."""


def check(certificate: Any) -> bool:
    """Return whether *certificate* proves its claim.

    Parameters
    ----------
    certificate : dict
        What `Proof.certificate` gives, or the same read back from JSON.  Anything else is refused, not raised about.

    Examples
    --------
    >>> import symlayout as sl
    >>> x = sl.tensor("N, C", name="x")
    >>> certificate = sl.prove_equal(sl.transpose(sl.transpose(x)), x).certificate
    >>> check(certificate)
    True
    >>> certificate["claim"]["dims"][0][1] = -1  # altered: N may be negative
    >>> check(certificate)
    False
    """
    return refusal(certificate) == ""


def refusal(certificate: Any) -> str:
    """Return why *certificate* does not prove its claim; empty if it does."""
    try:
        if certificate.keys() != {"claim", "proof", "seal"} or certificate["seal"] != seal(certificate):
            return "the seal does not match: the certificate was altered"
        Context(certificate["claim"]).block(certificate["proof"], 0)
    except Refused as error:
        return str(error)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError) as error:
        return f"this is no certificate: {error!r:.200}"
    return ""


def seal(certificate: dict[str, Any]) -> str:
    """Return the digest of a certificate's claim and proof."""
    import json  # both take longer to load than this module, and are needed here alone
    from hashlib import sha256

    body = json.dumps([certificate["claim"], certificate["proof"]], separators=(",", ":"), sort_keys=True)
    return sha256(body.encode()).hexdigest()


def encode(e: Extent) -> Any:
    """Return a polynomial as data."""
    return e if isinstance(e, int) else [[c, *m] for m, c in sorted(e.terms.items())]


def decode(data: Any) -> Extent:
    """Return the polynomial that *data* stands for."""
    if type(data) is int:
        return data
    terms: dict[Monomial, int] = {}
    for coefficient, *names in data:
        monomial = tuple(sorted(names))
        if type(coefficient) is not int or not coefficient or monomial in terms:
            raise Refused(f"{data!r:.200} is no polynomial")
        terms[monomial] = coefficient
    return collapse(terms)


class Context:
    """What is known at one place of a proof.

    Attributes
    ----------
    nonnegative, zero : polynomials known to be >= 0 and == 0.
    solved, rules : equations in use as rewrites of one symbol and of one monomial.
    maxima : symbols that are ``max(0, e)``, with their *e*.
    floors : ``floor(e/k)`` for each ``(e, k)`` that was shown.
    meaning : the value of each name of the claim.
    point : the output coordinate, once the shapes are shown to agree.
    inside : the side that is assumed to read inside all its sources.
    """

    def __init__(self, claim: dict[str, Any]) -> None:
        self.claim = claim
        self.nonnegative: set[Extent] = set()
        self.zero: set[Extent] = set()
        self.solved: dict[str, Extent] = {}
        self.rules: list[tuple[Monomial, Extent]] = []
        self.maxima: dict[str, Extent] = {}
        self.floors: dict[tuple[Extent, Extent], Extent] = {}
        self.meaning: dict[str, Extent] = {}
        self.symbols: set[str] = set()
        self.point: list[Extent] | None = None
        self.inside: int | None = None

    def fork(self) -> Context:
        """Return a copy to which more can be added."""
        copy = Context(self.claim)
        copy.nonnegative, copy.zero, copy.symbols = set(self.nonnegative), set(self.zero), set(self.symbols)
        copy.solved, copy.rules, copy.maxima = dict(self.solved), list(self.rules), dict(self.maxima)
        copy.floors, copy.meaning = dict(self.floors), dict(self.meaning)
        copy.point, copy.inside = self.point, self.inside
        return copy

    # ------------------------------------------------------------------ what is known

    def reduce(self, e: Extent) -> Extent:
        """Return *e* after all rewrites, equal to it at every point."""
        e = substitute(e, self.solved)
        for _ in range(_REWRITES if self.rules else 0):
            before = e
            for monomial, value in self.rules:
                e = replace_monomial(e, monomial, value)
            if e is before:
                break
        if any(len(monomial) > _MAX_DEGREE for monomial in terms_of(e)):
            raise Refused(f"a polynomial has a degree beyond {_MAX_DEGREE}")
        return e

    def read(self, data: Any) -> Extent:
        """Return a polynomial of the proof, reduced; its symbols must have been introduced."""
        e = decode(data)
        if not names_of(e) <= self.symbols:
            raise Refused(f"{e} has symbols that nothing introduced")
        return self.reduce(e)

    def claimed(self, data: Any) -> Extent:
        """Return a polynomial of the claim in the proof's symbols."""
        e = decode(data)
        if not names_of(e) <= self.meaning.keys():
            raise Refused(f"{e} has names without a meaning")
        return self.reduce(substitute(e, self.meaning))

    def holds(self, e: Extent) -> bool:
        """Return whether ``e >= 0`` is known."""
        return e >= 0 if isinstance(e, int) else e in self.nonnegative or e in self.zero or -e in self.zero

    def vanishes(self, e: Extent) -> bool:
        """Return whether ``e == 0`` is known."""
        return e == 0 if isinstance(e, int) else e in self.zero or -e in self.zero

    def need(self, e: Extent) -> None:
        """Refuse the certificate unless ``e >= 0`` is known."""
        if not self.holds(e):
            raise Refused(f"{e} >= 0 is not shown")

    def need_zero(self, e: Extent) -> None:
        """Refuse the certificate unless ``e == 0`` is known."""
        if not self.vanishes(e):
            raise Refused(f"{e} == 0 is not shown")

    def is_absurd(self) -> bool:
        """Return whether a constant that is false is known: then no point satisfies all that is known."""
        return any(isinstance(e, int) and e < 0 for e in self.nonnegative) or any(
            isinstance(e, int) and e != 0 for e in self.zero
        )

    def introduce(self, name: str) -> Poly:
        """Return a new symbol."""
        if name in self.symbols or not isinstance(name, str):
            raise Refused(f"the symbol {name} is not new")
        self.symbols.add(name)
        return symbol(name)

    def _rewrite(self) -> None:
        """Bring all that is known back to the symbols that remain."""
        self.nonnegative = {self.reduce(e) for e in self.nonnegative}
        self.zero = {self.reduce(e) for e in self.zero}
        self.maxima = {name: self.reduce(e) for name, e in self.maxima.items()}
        self.floors = {(self.reduce(e), self.reduce(k)): self.reduce(q) for (e, k), q in self.floors.items()}
        self.meaning = {name: self.reduce(e) for name, e in self.meaning.items()}

    # ------------------------------------------------------------------ blocks

    def block(self, block: dict[str, Any], depth: int) -> None:
        """Check the steps of a block and its end."""
        if depth > _MAX_DEPTH:
            raise Refused("the proof is nested too deeply")
        for step in block["steps"]:
            self.step(step)
        (end,) = block.keys() - {"steps"}
        if end == "agree":
            self._agree(block["agree"])
        elif end == "split":
            w, yes, no = block["split"]
            for bound, branch in ((self.read(w), yes), (-1 - self.read(w), no)):
                context = self.fork()
                context.nonnegative.add(bound)
                context.block(branch, depth + 1)
        elif end == "masked":
            self._need_one_fill()
            left, right = block["masked"]
            for side, branch in enumerate((left, right)):
                context = self.fork()
                context.inside = side
                context.block(branch, depth + 1)
        elif end != "absurd" or not self.is_absurd():
            raise Refused(f"the block ends in {end!r:.80}, which is not shown")

    def step(self, step: Sequence[Any]) -> None:
        """Check one step and add what it shows."""
        rule, *rest = step
        checked = getattr(self, "_rule_" + rule.replace(" ", "_"), None)
        if checked is None:
            raise Refused(f"there is no rule {rule!r:.80}")
        checked(*rest)

    # ------------------------------------------------------------------ rules: what the claim gives

    def _rule_dim(self, name: str) -> None:
        """``min <= d <= max``, and ``d = k*t`` for a new ``t`` where it is a multiple of ``k``."""
        ((_, low, high, multiple),) = [dim for dim in self.claim["dims"] if dim[0] == name]
        d = self.meaning[name] = self.introduce(name)
        if low is not None:
            self.nonnegative.add(d - low)
        if high is not None:
            self.nonnegative.add(high - d)
        if multiple != 1:
            self.zero.add(d - self.introduce("?" + name) * multiple)

    def _rule_assume(self, number: int) -> None:
        """One of the claim's assumptions; one that ``k`` divides ``e`` is ``e = k*t`` for a new ``t``."""
        relation, *parts = self.claim["assumptions"][number]
        e = self.claimed(parts[0])
        if relation == "divides":
            self.zero.add(e - self.claimed(parts[1]) * self.introduce(f"?{number}"))
        elif relation == ">=":
            self.nonnegative.add(e)
        elif relation == "==":
            self.zero.add(e)
        else:
            raise Refused(f"there is no relation {relation!r:.80}")

    def _rule_mean(self, name: str, value: Any) -> None:
        """``name = value`` for a symbol of the claim: its definition determines it."""
        if name in self.meaning or any(dim[0] == name for dim in self.claim["dims"]):
            raise Refused(f"{name} has a meaning already")
        ((_, form, a, b),) = [defined for defined in self.claim["symbols"] if defined[0] == name]
        v, left, right = self.read(value), self.claimed(a), self.claimed(b)
        if form == "/":
            self.need(right - 1)
            self.need_zero(self.reduce(right * v - left))
        elif form == "//":
            self._is_floor(left, right, v)
        elif form == "max":
            self.need(self.reduce(v - left))
            self.need(self.reduce(v - right))
            if not any(self._is_maximum(self.reduce(v - x), y - x) for x, y in ((left, right), (right, left))):
                raise Refused(f"{v} is not shown to be max({left}, {right})")
        else:
            raise Refused(f"there is no form {form!r:.80}")
        self.meaning[name] = v

    def _is_maximum(self, excess: Extent, e: Extent) -> bool:
        """Return whether *excess*, which is at least 0 and *e*, is one of them or ``max(0, e)``."""
        if self.vanishes(excess) or self.vanishes(self.reduce(excess - e)):
            return True
        return any(self.reduce(symbol(m) - excess) == 0 and self.reduce(s - e) == 0 for m, s in self.maxima.items())

    def _rule_point(self) -> None:
        """Any output coordinate: ``0 <= i < extent`` on each axis, once the shapes are shown to agree."""
        left, right = (self.claim["nodes"][self.claim[side]]["shape"] for side in _SIDES)
        extents = [self.claimed(e) for e in left]
        for a, b in zip(extents, right, strict=True):
            self.need_zero(self.reduce(a - self.claimed(b)))
        self.point = [self.introduce(f"#{axis}") for axis in range(len(left))]
        self.nonnegative.update(self.point)
        self.nonnegative.update(e - 1 - i for e, i in zip(extents, self.point, strict=True))

    # ------------------------------------------------------------------ rules: new symbols

    def _rule_define(self, name: str, value: Any) -> None:
        """``t = e``, a new name for a polynomial."""
        e = self.read(value)
        self.zero.add(self.introduce(name) - e)

    def _rule_floor(self, name: str, numerator: Any, denominator: Any) -> None:
        """``q = floor(n/d)`` for ``d >= 1``: ``0 <= n - d*q <= d - 1``."""
        n, d = self.read(numerator), self.read(denominator)
        self.need(d - 1)
        q = self.introduce(name)
        self.nonnegative |= {n - d * q, d * q + d - 1 - n}

    def _rule_max(self, name: str, value: Any) -> None:
        """``m = max(0, e)``."""
        e = self.read(value)
        m = self.introduce(name)
        self.maxima[name] = e
        self.nonnegative |= {m, m - e}

    # ------------------------------------------------------------------ rules: inequalities

    def _rule_lows(self, goal: Any, lows: list[Any]) -> None:
        """``g >= 0``: with each symbol written as its lower bound and more, no coefficient is negative."""
        g = self.read(goal)
        shifts: dict[str, Extent] = {}
        for name, low in lows:
            self.need(self.read([[1, name]]) - low)
            shifts[name] = symbol(name) + low
        if not names_of(g) <= shifts.keys() or any(c < 0 for c in terms_of(substitute(g, shifts)).values()):
            raise Refused(f"{g} >= 0 does not follow from the lower bounds")
        self.nonnegative.add(g)

    def _rule_combine(self, goal: Any, scale: Any, products: list[Any], equations: list[Any]) -> None:
        """``g >= 0``: ``s*g + s - 1``, for ``s >= 1``, is a sum of products of what is known to be >= 0.

        So ``g > -1``.  Multiples of what is known to be 0 may be added.
        """
        g, s = self.read(goal), self.read(scale)
        self.need(s - 1)
        rest: Extent = s * g + s - 1
        for left, right in products:
            a, b = self.read(left), self.read(right)
            self.need(a)
            self.need(b)
            rest = rest - a * b
        self._balance(rest, equations)
        self.nonnegative.add(g)

    def _balance(self, rest: Extent, equations: list[Any]) -> None:
        """Refuse the certificate unless *rest* is a sum of multiples of what is known to be 0."""
        for factor, equation in equations:
            zero = self.read(equation)
            self.need_zero(zero)
            rest = rest - self.read(factor) * zero
        if self.reduce(rest) != 0:
            raise Refused(f"the identity leaves {self.reduce(rest)}")

    def _rule_cases(self, goal: Any, w: Any, yes: list[Any], no: list[Any]) -> None:
        """``g >= 0`` both where ``w >= 0`` and where ``w < 0``."""
        g = self.read(goal)
        for bound, steps in ((self.read(w), yes), (-1 - self.read(w), no)):
            context = self.fork()
            context.nonnegative.add(bound)
            for step in steps:
                context.step(step)
            if not context.is_absurd():
                context.need(context.reduce(g))
        self.nonnegative.add(g)

    def _rule_points(self, goal: Any, digits: list[Any], floors: list[Any], facts: list[Any]) -> None:
        """``g >= 0`` at all points of a box of digits: each polynomial is that *g* has beside symbols from outside.

        Digits have integers as ends, the floors of digits are known, as are symbols from outside and facts to be >= 0.
        """
        if prod(len(range(low, high + 1)) for _, low, high in digits) > _MAX_POINTS:
            raise Refused(f"a box has more than {_MAX_POINTS} points")
        values: dict[str, Any] = {}
        for axis, (name, low, high) in enumerate(digits):
            self.need(self.read([[1, name]]) - low)
            self.need(high - self.read([[1, name]]))
            values[name] = np.arange(low, high + 1).reshape([-1 if k == axis else 1 for k in range(len(digits))])
        for name, numerator, d in floors:
            n, q = self.read(numerator), self.read([[1, name]])
            self._is_floor(n, d, q)
            values[name] = _at(n, values) // d
        g, allowed = self.read(goal), np.array(True)
        for fact in map(self.read, facts):
            self.need(fact)
            allowed = allowed & (_at(fact, values) >= 0)
        apart: dict[Monomial, Extent] = {}
        for monomial, c in terms_of(g).items():
            outside = tuple(name for name in monomial if name not in values)
            inside = tuple(name for name in monomial if name in values)
            apart[outside] = apart.get(outside, 0) + collapse({inside: c})
        for outside, part in apart.items():
            for name in outside:
                self.need(self.read([[1, name]]))
            if not np.all((_at(part, values) >= 0) | ~allowed):
                raise Refused(f"{g} >= 0 fails at a point")
        self.nonnegative.add(g)

    # ------------------------------------------------------------------ rules: equations

    def _rule_equation(self, goal: Any, scale: Any, equations: list[Any]) -> None:
        """``g == 0``: ``s*g``, for ``s >= 1``, is a sum of multiples of what is known to be 0."""
        g, s = self.read(goal), self.read(scale)
        self.need(s - 1)
        self._balance(s * g, equations)
        self.zero.add(g)

    def _rule_equal(self, goal: Any) -> None:
        """``g == 0``: it is known to be >= 0 and <= 0."""
        g = self.read(goal)
        self.need(g)
        self.need(-g)
        self.zero.add(g)

    def _rule_resolve(self, name: str) -> None:
        """``max(0, e)`` is *e* where ``e >= 0`` or the maximum is >= 1, and 0 where ``e <= 0``."""
        m, e = self.read([[1, name]]), self.maxima[name]
        if self.holds(e) or self.holds(m - 1):
            self.zero.add(self.reduce(m - e))
        else:
            self.need(-e)
            self.zero.add(m)

    def _rule_solve(self, name: str, value: Any) -> None:
        """Write *value* for a symbol everywhere, where they are known to be equal."""
        v = self.read(value)
        if name in names_of(v) or name in self.solved or name not in self.symbols:
            raise Refused(f"{name} cannot be written as {v}")
        self.need_zero(self.reduce(symbol(name) - v))
        self.solved = {k: substitute(e, {name: v}) for k, e in self.solved.items()} | {name: v}
        self.rules = [(m, self.reduce(e)) for m, e in self.rules if name not in m]
        self._rewrite()

    def _rule_rewrite(self, monomial: list[str], value: Any) -> None:
        """Write *value* for a monomial everywhere, where they are known to be equal."""
        m, v = tuple(sorted(monomial)), self.read(value)
        self.need_zero(collapse({m: 1}) - v)
        self.rules.append((m, v))
        self._rewrite()

    # ------------------------------------------------------------------ the two sides

    def _is_floor(self, e: Extent, k: Extent, q: Extent) -> None:
        self.need(self.reduce(e - k * q))
        self.need(self.reduce(k * q + k - 1 - e))  # the sum of the two says k >= 1

    def _rule_divide(self, numerator: Any, denominator: Any, quotient: Any) -> None:
        """``q = floor(e/k)``: ``0 <= e - k*q <= k - 1``."""
        e, k, q = (self.read(part) for part in (numerator, denominator, quotient))
        self._is_floor(e, k, q)
        self.floors[e, k] = q

    def _agree(self, choices: Sequence[Any]) -> None:
        """Evaluate both sides at the digits, taking the cases that the certificate names, and compare."""
        left, right = (self._reads(side, path) for side, path in zip(_SIDES, choices, strict=True))
        if repr(left[0]) != repr(right[0]) or len(left[1]) != len(right[1]):  # 0 == False == -0.0
            raise Refused(f"the sides read {left} and {right}")
        for a, b in zip(left[1], right[1], strict=True):
            self.need_zero(self.reduce(a - b))

    def _rule_inside(self, side: int, path: Sequence[Any]) -> None:
        """``0 <= c < extent`` for the case that ends *path*: it has a fill, on the side that is assumed to read none.

        Or it has no fill, and the claim takes it for granted.
        """
        node, at = self._follow(_SIDES[side], path[:-1])
        case, extents = self._enter(node, path[-1][0], at)
        if not (self.claim["trusted"] is True if case["fill"] is None else self.inside == side):
            raise Refused("it is not taken for granted that this case reads inside its source")
        for expression, extent in zip(case["coords"], extents, strict=True):
            c = self._value(expression, at, 0)
            self.nonnegative |= {c, self.reduce(extent - 1 - c)}

    def _need_one_fill(self) -> None:
        """Refuse the certificate unless no map has cases and all fills are equal.

        Where the one side or the other reads inside all its sources, the two branches show that both read the same;
        at all other points both read the fill.
        """
        cases = [node["cases"] for node in self.claim["nodes"] if "cases" in node]
        fills = {repr(case["fill"]) for each in cases for case in each if case["fill"] is not None}
        if len(fills) > 1 or any(len(each) != 1 or each[0]["where"] for each in cases):
            raise Refused("there are several cases or fills")

    def _reads(self, side: str, path: Sequence[Any]) -> tuple[Any, list[Extent]]:
        """Return what a side reads: an input, and the coordinate in it with its extents, or a fill."""
        outside = path[-1][1] if path else None
        node, at = self._follow(side, path[:-1] if outside is not None else path)
        if outside is None:
            return ("input", node["input"]), at + [self.claimed(e) for e in node["shape"]]
        case, extents = self._enter(node, path[-1][0], at)
        if case["fill"] is None:
            raise Refused("a case without a fill reads outside its source")
        self._need_outside(case["coords"], at, extents, *outside)
        return ("fill", case["fill"]), []

    def _follow(self, side: str, path: Sequence[Any]) -> tuple[dict[str, Any], list[Extent]]:
        """Return the node and the coordinate in it that *path* leads to, from the output coordinate."""
        if self.point is None:
            raise Refused("the shapes are not compared")
        node, at = self.claim["nodes"][self.claim[side]], [self.reduce(i) for i in self.point]
        for number, outside in path:
            if outside is not None:
                raise Refused("a path goes on outside a source")
            case, extents = self._enter(node, number, at)
            coords = [self._value(c, at, 0) for c in case["coords"]]
            for coordinate, extent in zip(coords, extents, strict=True):
                if case["fill"] is not None or self.claim["trusted"] is not True:
                    self._need_inside(coordinate, extent)
            node, at = self.claim["nodes"][node["inputs"][case["source"]]], coords
        return node, at

    def _enter(self, node: dict[str, Any], number: int, at: list[Extent]) -> tuple[dict[str, Any], list[Extent]]:
        """Return a case of a node, which is shown to apply, and the extents of its source."""
        case: dict[str, Any] = node["cases"][number]
        for value, extent in case["where"]:
            self._need_inside(self._value(value, at, 0), self.claimed(extent))
        source = self.claim["nodes"][node["inputs"][case["source"]]]
        if len(case["coords"]) != len(source["shape"]):
            raise Refused(f"a case gives {len(case['coords'])} coordinates in {len(source['shape'])} axes")
        return case, [self.claimed(e) for e in source["shape"]]

    def _need_outside(self, coords: list[Any], at: list[Extent], extents: list[Extent], axis: int, side: str) -> None:
        if side == "empty":
            self.need(-extents[axis])
        elif side == "below":
            self.need(self.reduce(-1 - self._value(coords[axis], at, 0)))
        else:
            self.need(self.reduce(self._value(coords[axis], at, 0) - extents[axis]))

    def _need_inside(self, value: Extent, extent: Extent) -> None:
        self.need(value)
        self.need(self.reduce(extent - 1 - value))

    def _value(self, expression: Any, at: list[Extent], depth: int) -> Extent:
        """Return a coordinate expression at the coordinates *at*."""
        if depth > _MAX_DEPTH:
            raise Refused("an expression is nested too deeply")
        operator, *operands = expression
        if operator == "axis":
            coordinate: Extent = at[operands[0]]
            return coordinate
        if operator == "extent":
            return self.claimed(operands[0])
        a, b = (self._value(e, at, depth + 1) for e in operands)
        if operator == "+":
            return self.reduce(a + b)
        if operator == "-":
            return self.reduce(a - b)
        if operator == "*":
            return self.reduce(a * b)
        if operator not in ("//", "%"):
            raise Refused(f"there is no operator {operator!r:.80}")
        if (a, b) not in self.floors:
            raise Refused(f"floor({a} / {b}) is not shown")
        quotient = self.floors[a, b]
        return quotient if operator == "//" else self.reduce(a - b * quotient)


def _at(e: Extent, values: dict[str, Any]) -> Any:
    """Return a polynomial at all points of a box."""
    terms = terms_of(e)
    if not names_of(e) <= values.keys():
        raise Refused(f"{e} has symbols from outside the box")
    largest = {name: max(abs(int(v.min())), abs(int(v.max()))) for name, v in values.items()}
    if sum(abs(c) * prod(largest[name] for name in monomial) for monomial, c in terms.items()) >= _MAX_INT:
        raise Refused(f"{e} may be too large for 64 bits")
    return sum((prod((values[name] for name in m), start=np.int64(c)) for m, c in terms.items()), start=np.int64(0))
