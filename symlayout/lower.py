"""From the normal form to a nest of loops.

Strides, offsets and guards are the composed map, linearised; its digits become loops, its guards
and windows the nest's, and what is left as a floor is carried.  Every read is inside its source
when this returns: `normalise` has proved it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from symlayout.arrays import same_fill
from symlayout.errors import InconclusiveError
from symlayout.facts import Definition, Facts
from symlayout.normalise import Read, Window, normalise
from symlayout.polynomial import Extent, Poly, coefficient_of, names_of, product, symbol, terms_of, text
from symlayout.refine import Box, refine
from symlayout.system import DIGIT
from symlayout_codegen.cir import Expr, FloorDiv, FloorMod, Literal, Maximum, Name, add, mul
from symlayout_codegen.nest import Affine, Carried, Digit, Guard, Local, Nest, Piece, Precondition
from symlayout_codegen.nest import Window as NestWindow

if TYPE_CHECKING:
    from symlayout.tensor import Tensor

STRIDE = "@"  # the first character of a stride parameter's name, which no dim's name has


def lower(t: Tensor, name: str = "kernel", *, strided: bool = False) -> tuple[Nest, list[object]]:
    """Return the nest of *t* and its fill values, by number.

    Parameters
    ----------
    name : str
        What the kernel is called.
    strided : bool
        False: all arrays are contiguous in row-major order.  True: the strides of the output and of
        each source, in elements, are parameters after the dims.

    Raises
    ------
    InconclusiveError
        A read is not shown to be inside its source, or the map is not affine in digits.
    """
    return _Lowering(t, strided).nest(name)


class _Lowering:
    """One call of `lower`: the names and fills that its pieces share."""

    def __init__(self, t: Tensor, strided: bool) -> None:
        self.t = t
        self.strided = strided
        self.leaves = t.leaves()
        self.prelude: list[Local | Precondition] = []
        self.fills: list[object] = []
        self.facts = t.facts
        self.identifiers: dict[str, str] = {}
        self.positive: set[Expr] = set()
        self.nonnegative: set[Expr] = set()
        self.output_strides = self._strides(t.extents, "out")
        self.source_strides = {leaf.key: self._strides(leaf.extents, f"src{k}") for k, leaf in enumerate(self.leaves)}

    def nest(self, name: str) -> tuple[Nest, list[object]]:
        dims = tuple(self._identifier(n) for n in self.facts.dims)
        strides = (
            [s for group in (self.output_strides, *self.source_strides.values()) for s in group] if self.strided else []
        )
        parameters = dims + tuple(self._identifier(next(iter(names_of(s)))) for s in strides)
        self._demand()
        pieces = tuple(self._piece(read.path) for read in normalise(self.t))
        sizes = tuple(None if self.strided else self._expr(product(leaf.extents)) for leaf in self.leaves)
        nest = Nest(
            name=name,
            parameters=parameters,
            prelude=tuple(self.prelude),
            sources=tuple(f"src{k}" if len(self.leaves) > 1 else "src" for k in range(len(self.leaves))),
            source_sizes=sizes,
            output_size=self._expr(product(self.t.extents)),
            pieces=pieces,
            fills=len(self.fills),
            about=self._about(name),
            positive=frozenset(self.positive),
            nonnegative=frozenset(self.nonnegative),
        )
        return nest, self.fills

    # ------------------------------------------------------------------ the prelude

    def _demand(self) -> None:
        """Put the bounds of the dims and the requirements into the prelude."""
        for name, dim in self.facts.dims.items():
            value: Expr = Name(self._identifier(name))
            self._check(add(value, -dim.min), ">=", "infeasible", f"{name} >= {dim.min}")
            if dim.max is not None:
                self._check(add(dim.max, mul(-1, value)), ">=", "infeasible", f"{name} <= {dim.max}")
            if dim.multiple_of != 1:
                rule = f"{name} % {dim.multiple_of} == 0"
                self._check(FloorMod(value, Literal(dim.multiple_of)), "==", "infeasible", rule)
        for r in self.facts.requirements:
            value = self._expr(r.value)
            if r.relation == "divides":
                self._check(FloorMod(value, self._expr(r.modulus)), "==", r.kind, str(r))
            else:
                self._check(value, ">=" if r.relation == "nonnegative" else "==", r.kind, str(r))

    def _check(self, value: Expr, relation: str, kind: str, rule: str) -> None:
        self.prelude.append(Precondition(value, relation, kind, rule))

    def _expr(self, e: Extent) -> Expr:
        """Return an extent as an expression of the backend, with its signs noted where proved."""
        top, bottom = self.facts.to_user(e)
        if bottom == 1 and len(terms_of(top)) <= len(terms_of(e)):
            e = top  # the user's dims are shorter to read than the solved ones
        made = add(*(mul(c, *(self._name(n) for n in m)) for m, c in sorted(terms_of(e).items(), key=_order)))
        if not isinstance(made, Literal):
            if self.facts.positive(e):
                self.positive.add(made)
            if self.facts.nonnegative(e):
                self.nonnegative.add(made)
        return made

    def _name(self, name: str) -> Expr:
        """Return a symbol by its identifier; one that is derived becomes a local of the prelude first."""
        if name in self.identifiers:
            return Name(self.identifiers[name])
        if name in self.facts.quotients:
            top, bottom = self.facts.quotients[name]
            value: Expr = FloorDiv(self._expr(top), self._expr(bottom))
        elif name in self.facts.definitions:
            value = self._definition(self.facts.definitions[name])
        else:
            return Name(self._identifier(name))
        identifier = self._identifier(name)
        self.prelude.append(Local(identifier, value))
        return Name(identifier)

    def _definition(self, d: Definition) -> Expr:
        left, right = self._expr(d.left), self._expr(d.right)
        if d.form == "floor":
            return FloorDiv(left, right)
        return Maximum(left, right)

    def _identifier(self, name: str) -> str:
        if name not in self.identifiers:
            plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "v"
            if name in self.facts.quotients or name in self.facts.definitions:
                plain = plain if len(plain) <= 16 else "v"
                plain = re.sub(r"^(\d)", r"v\1", plain)
            taken = set(self.identifiers.values())
            self.identifiers[name] = next(
                c for c in (plain, *(f"{plain}_{k}" for k in range(len(taken) + 1))) if c not in taken
            )
        return self.identifiers[name]

    def _strides(self, extents: Sequence[Extent], array: str) -> list[Extent]:
        if self.strided:
            return [symbol(f"{STRIDE}{array}_stride{k}") for k in range(len(extents))]
        strides: list[Extent] = []
        step: Extent = 1
        for e in reversed(extents):
            strides.append(step)
            step = step * e
        return strides[::-1]

    # ------------------------------------------------------------------ the pieces

    def _offset(self, coords: Sequence[Extent], strides: Sequence[Extent], facts: Facts) -> Extent:
        total: Extent = 0
        for c, s in zip(coords, strides, strict=True):
            total = total + facts.reduce(c) * facts.reduce(s)
        return facts.reduce(total)

    def _needed(self, box: Box, read: Read) -> list[Extent]:
        offset: Extent = 0
        if read.leaf is not None:
            offset = self._offset(read.coords, self.source_strides[read.leaf.key], read.facts)
        output = self._offset(box.coords, self.output_strides, read.facts)
        windows = (*box.windows, *read.windows, *(g.window for g in read.guards))
        return [output, offset, *(w.value for w in windows)]

    def _piece(self, part: tuple[int, ...]) -> Piece:
        box, read = refine(self.t, part, self._needed)
        self.facts = box.facts  # which knows the splits' quotients too
        output, offset, *_ = self._needed(box, read)
        numbers: dict[str, int] = {name: k for k, name in enumerate(box.digits())}
        digits = tuple(
            Digit(self._digit_name(name), self._expr(e), f"{self._place(name)} < {self.facts.spell(e)}")
            for name, e in box.extents.items()
        )
        carried: list[Carried] = []
        expressions = self._needed(box, read)
        for name in self._carried(expressions, read.facts):
            numerator, denominator = read.facts.floors[name]
            value = self._affine(numerator, numbers, read.facts)
            carried.append(Carried(f"q{len(carried)}", value, self._expr(denominator)))
            numbers[name] = len(numbers)
        windows = (*box.windows, *read.windows)
        guards = tuple(Guard(self._window(g.window, numbers, read.facts), self._fill(g.fill)) for g in read.guards)
        return Piece(
            digits=digits,
            output=self._affine(output, numbers, read.facts),
            source=None if read.leaf is None else [leaf.key for leaf in self.leaves].index(read.leaf.key),
            offset=None if read.leaf is None else self._affine(offset, numbers, read.facts),
            carried=tuple(carried),
            windows=tuple(self._window(w, numbers, read.facts) for w in windows),
            guards=guards,
            fill=self._fill(read.fill) if read.leaf is None else None,
        )

    def _carried(self, expressions: Sequence[Extent], facts: Facts) -> list[str]:
        """Return the floors over digits that are needed, each after those it is made of."""
        order: dict[str, None] = {}

        def visit(e: Extent) -> bool:
            varies = False
            for name in sorted(names_of(e)):
                if name in facts.floors and (name in order or visit(facts.floors[name][0])):
                    order[name] = None
                    varies = True
                varies |= name[0] == DIGIT
            return varies

        for e in expressions:
            visit(e)
        return list(order)

    def _affine(self, e: Extent, numbers: dict[str, int], facts: Facts) -> Affine:
        terms = []
        rest = facts.reduce(e)
        for name, number in numbers.items():
            if not isinstance(rest, Poly):
                break
            split = coefficient_of(rest, name)
            if split is None:
                raise InconclusiveError(f"{text(e)} is affine in the loop digits")
            coefficient, rest = split
            if any(n in numbers for n in names_of(coefficient)):
                raise InconclusiveError(f"{text(e)} is affine in the loop digits")
            if coefficient != 0:
                terms.append((number, self._expr(coefficient)))
        return Affine(self._expr(rest), tuple(terms))

    def _window(self, window: Window, numbers: dict[str, int], facts: Facts) -> NestWindow:
        return NestWindow(self._affine(window.value, numbers, facts), self._expr(facts.reduce(window.extent)))

    def _fill(self, value: object) -> int:
        for k, other in enumerate(self.fills):
            if same_fill(value, other, self.t.dtype):
                return k
        self.fills.append(value)
        return len(self.fills) - 1

    # ------------------------------------------------------------------ words

    def _digit_name(self, name: str) -> str:
        return "i" + name.replace(DIGIT, "_").strip("_")

    def _place(self, name: str) -> str:
        axes = sorted({part.split("_")[0] for part in name.split(DIGIT) if part})
        what = f"output axis {axes[0]}" if len(axes) == 1 else f"output axes {', '.join(axes)} together"
        return what + (", a digit of it" if "_" in name else "")

    def _about(self, name: str) -> tuple[str, ...]:
        lines = [f"{name} : {self.t.index_map}"]
        shape = ", ".join(self.t.facts.spell(e) for e in self.t.extents)
        for leaf in self.leaves:
            lines.append(f"source {leaf.name} : ({', '.join(leaf.facts.spell(e) for e in leaf.extents)})")
        lines.append(f"output : ({shape}), row-major" if not self.strided else f"output : ({shape}), any strides")
        lines += [f"requires {r}" for r in self.t.facts.requirements]
        return tuple(lines)


def _order(item: tuple[tuple[str, ...], int]) -> tuple[int, tuple[str, ...]]:
    return -len(item[0]), item[0]
