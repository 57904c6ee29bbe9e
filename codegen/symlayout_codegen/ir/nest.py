"""The nest: what the algebra hands to the backend, one frozen value per kernel.

A nest says which element of which source each element of the output holds.  It knows no tensor op, no SymPy and
no proof.  It consists of pieces.  A piece is a box of integer digits:

* Each *digit* ``d`` runs over ``0 <= d < extent``, independently of the other digits.  The extent is non-negative
  wherever the preconditions hold.
* A *carried* digit is ``floor(value / divisor)`` of the digits before it, or an entry of a table at a place that they
  give.  Carried digits are numbered after the digits, in order.  They stand for radices that have no common
  refinement, and for lists of indices.
* A point of the box belongs to the piece if every *window* holds: ``0 <= value < extent``.  Where a window without
  digits fails, the piece is empty, and its other expressions need not have a meaning.
* Each point of the piece writes the output element at offset ``output``.
* The *guards* are tested in order.  At the first guard whose window fails the point takes ``fills[fill]``.  If all
  guards hold, the point reads ``source`` at element offset ``offset``.

``output`` and ``offset`` are the two *faces* of a piece.  Offsets and strides are in elements.

The nest's *background* is carried out first, then its pieces in order.  The nest's *combine* says what a point does
to its output element: it replaces the element, or, with `Add`, it adds what it reads.  Additions keep the order of
the points: the last digit runs fastest.

A piece may compute instead of moving: it has a *formula*, and a *load* for each element that the formula reads.  A
load has guards of its own.  The last ``reduced`` digits of such a piece are no part of the output coordinate: the
folds of its formula go over them in order, the last digit fastest.  The nest then says the type of each array.

The algebra has shown, for all parameters that meet the preconditions:

* Pieces that replace write every output element exactly once.  Over a background they write each element at most
  once, and the background writes each exactly once.
* Pieces that add have a source and no guards.
* Every offset that is read or written lies inside its array.

`simulate` is this definition as a program.  The generated C is tested against it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from symlayout_codegen.ir.formula import Formula
from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, add, evaluate


@dataclass(frozen=True, slots=True)
class AffineForm:
    """``constant + sum(coefficient * digit)``, an affine form in the digits of a piece, given by number."""

    constant: Expr
    terms: tuple[tuple[int, Expr], ...] = ()

    def at(self, digits: list[int], values: Mapping[str, int]) -> int:
        """Return the value where digit ``k`` has the value ``digits[k]``."""
        return evaluate(self.constant, values) + sum(
            evaluate(coefficient, values) * digits[k] for k, coefficient in self.terms
        )

    def coefficients(self) -> dict[int, Expr]:
        """Return ``{digit: coefficient}``, one entry per digit, none that is literally 0."""
        total: dict[int, Expr] = {}
        for k, coefficient in self.terms:
            total[k] = add(total[k], coefficient) if k in total else coefficient
        return {k: coefficient for k, coefficient in total.items() if coefficient != IntLiteral(0)}

    def without(self, digits: Collection[int]) -> AffineForm:
        """Return the form where *digits* are 0."""
        return AffineForm(self.constant, tuple((k, c) for k, c in self.terms if k not in digits))

    def mapped(self, change: Callable[[Expr], Expr]) -> AffineForm:
        """Return the form with *change* made to the constant and to each coefficient."""
        return AffineForm(change(self.constant), tuple((k, change(coefficient)) for k, coefficient in self.terms))


@dataclass(frozen=True, slots=True)
class Digit:
    """A loop: ``0 <= name < extent``.  ``comment`` says in the user's terms what the loop walks over."""

    name: str
    extent: Expr
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Carried:
    """``name = floor(value / divisor)``, for a positive divisor; or ``name = table[value]`` if there is a *table*.

    A place before the first entry has the first, one after the last has the last.
    """

    name: str
    value: AffineForm
    divisor: Expr
    table: tuple[int, ...] = ()

    def at(self, digits: list[int], values: Mapping[str, int]) -> int:
        """Return the value where the digits before it have the values *digits*."""
        value = self.value.at(digits, values)
        if self.table:
            return self.table[min(max(value, 0), len(self.table) - 1)]
        return value // evaluate(self.divisor, values)


@dataclass(frozen=True, slots=True)
class NestWindow:
    """The condition ``0 <= value < extent``."""

    value: AffineForm
    extent: Expr


@dataclass(frozen=True, slots=True)
class NestGuard:
    """Where *window* fails, the output element is ``fills[fill]`` of the nest."""

    window: NestWindow
    fill: int


@dataclass(frozen=True, slots=True)
class NestLoad:
    """An element that a formula reads: of *source* at *offset*.

    The first guard whose window fails gives its fill instead, as the bits of a value of the source's type.
    """

    source: int
    offset: AffineForm
    guards: tuple[NestGuard, ...] = ()


@dataclass(frozen=True, slots=True)
class NestPiece:
    """One box of digits, and what its points write and read (see the module's text).

    Attributes
    ----------
    source : the number of the source; None where no element is read.
    fill : what points without a source write if no guard fails.  Where both are None, such points write nothing.
    apart : digits that tell output elements apart.  Take two points of the nest, of one piece or of two.  Where they
        differ in the digit at some position of their pieces' ``apart``, they write different elements.  All pieces
        over a background have equally many such digits, with the same extents.
    formula : what the points compute; None where they move.  A piece with a formula has no source.
    loads : the elements that the formula reads, by number.
    reduced : the number of digits, the last ones, that the folds of the formula go over.
    """

    digits: tuple[Digit, ...]
    output: AffineForm
    source: int | None
    offset: AffineForm | None
    carried: tuple[Carried, ...] = ()
    windows: tuple[NestWindow, ...] = ()
    guards: tuple[NestGuard, ...] = ()
    fill: int | None = None
    apart: tuple[int, ...] = ()
    formula: Formula | None = None
    loads: tuple[NestLoad, ...] = ()
    reduced: int = 0

    @property
    def faces(self) -> tuple[AffineForm, ...]:
        """The offset in the output, then the offset in the source if there is one, and those of the loads."""
        moved = (self.output,) if self.offset is None else (self.output, self.offset)
        return (*moved, *(load.offset for load in self.loads))

    @property
    def written(self) -> int:
        """The number of digits that the output coordinate has."""
        return len(self.digits) - self.reduced

    @property
    def conditions(self) -> Iterator[AffineForm]:
        """The affine forms of the windows, of the guards and of the carried digits."""
        yield from (window.value for window in self.windows)
        yield from (guard.window.value for guard in self.guards)
        yield from (guard.window.value for load in self.loads for guard in load.guards)
        yield from (carried.value for carried in self.carried)

    def mapped(self, form: Callable[[AffineForm], AffineForm]) -> NestPiece:
        """Return the piece with *form* made to each of its affine forms."""

        def window(old: NestWindow) -> NestWindow:
            return NestWindow(form(old.value), old.extent)

        return replace(
            self,
            carried=tuple(replace(c, value=form(c.value)) for c in self.carried),
            output=form(self.output),
            offset=form(self.offset) if self.offset is not None else None,
            windows=tuple(map(window, self.windows)),
            guards=tuple(NestGuard(window(guard.window), guard.fill) for guard in self.guards),
            loads=tuple(
                NestLoad(
                    load.source, form(load.offset), tuple(NestGuard(window(g.window), g.fill) for g in load.guards)
                )
                for load in self.loads
            ),
        )

    def map_expressions(self, change: Callable[[Expr], Expr]) -> NestPiece:
        """Return the piece with *change* made to each expression in it."""

        def window(old: NestWindow) -> NestWindow:
            return NestWindow(old.value.mapped(change), change(old.extent))

        return replace(
            self,
            digits=tuple(Digit(d.name, change(d.extent), d.comment) for d in self.digits),
            carried=tuple(replace(c, value=c.value.mapped(change), divisor=change(c.divisor)) for c in self.carried),
            output=self.output.mapped(change),
            offset=self.offset.mapped(change) if self.offset is not None else None,
            windows=tuple(map(window, self.windows)),
            guards=tuple(NestGuard(window(guard.window), guard.fill) for guard in self.guards),
            loads=tuple(
                NestLoad(
                    load.source,
                    load.offset.mapped(change),
                    tuple(NestGuard(window(g.window), g.fill) for g in load.guards),
                )
                for load in self.loads
            ),
        )

    def with_digits(self, kept: Sequence[int]) -> NestPiece:
        """Return the piece with the digits *kept*, in that order; the terms of the other digits are dropped.

        Carried digits are numbered after the digits, as before.  Reduced digits stay the last, in their order.
        """
        if list(kept) == list(range(len(self.digits))):
            return self
        number = {k: i for i, k in enumerate(kept)}
        number |= {len(self.digits) + i: len(kept) + i for i in range(len(self.carried))}

        def form(old: AffineForm) -> AffineForm:
            terms = ((number[k], c) for k, c in old.coefficients().items() if k in number)
            return AffineForm(old.constant, tuple(terms))

        renumbered = self.mapped(form)
        digits = tuple(self.digits[k] for k in kept)
        reduced = sum(k >= self.written for k in kept)
        return replace(renumbered, digits=digits, apart=tuple(number[k] for k in self.apart), reduced=reduced)


NUMBERS: dict[str, str] = {
    "uint8": "uint8_t",
    "uint16": "uint16_t",
    "uint32": "uint32_t",
    "uint64": "uint64_t",
    "float16": "_Float16",
    "float32": "float",
    "float64": "double",
    "complex64": "float _Complex",
    "complex128": "double _Complex",
}
"""The types in which points add, with their names in C.  Unsigned sums wrap: they serve signed integers too."""


@dataclass(frozen=True, slots=True)
class Add:
    """Points add what they read to the output, in the arithmetic of the type *number*, one of `NUMBERS`."""

    number: str


@dataclass(frozen=True, slots=True)
class Local:
    """An integer computed once on entry, in order: ``name = value``."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Precondition:
    """What must hold of the parameters: ``value == 0`` or ``value >= 0``.

    ``kind`` is the stable error kind of the rule; ``text`` states the rule for people.  Preconditions and locals
    stand in one list, since a local may have a meaning only where the preconditions before it hold.
    """

    value: Expr
    relation: str  # "==" or ">="
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Nest:
    """What a kernel does: its parameters, the integers derived from them, and the pieces.

    Attributes
    ----------
    name : C identifier of the kernel.
    parameters : C identifiers of the int64 arguments, in order.
    prelude : locals and preconditions, in order of evaluation.
    sources : C identifiers of the sources.
    source_sizes : number of elements of each source, or None where the source is strided.
    output_size : number of elements of the output, or None where the output is strided.
    spans : the integers that have to be int64 for the chain to have a meaning.  The last one is how many elements the
        axes of the output have that are not empty; () stands for the sizes of the sources and of the output.
    pieces : the boxes of digits.
    fills : number of distinct fill values.
    about : returns lines for the header comment: the map, the domain, the command that writes the file again.
    positive : expressions proved ``>= 1`` wherever the preconditions hold (blocks, divisors).
    nonnegative : expressions proved ``>= 0`` there (dims, extents).
    combine : what a point does to its output element: None replaces it, `Add` adds to it.
    background : a piece of fill that writes all of the output before the pieces, which need not cover it.
    halves : elements are half a byte: element *e* is in byte ``e // 2``, in the low half if *e* is even.  The digits
        ``apart`` of a piece then tell bytes apart, and a fill is a byte that holds the value twice.
    types : where pieces compute, the type of each source, of each constant and of the output, by their names in
        `TYPES`; () where elements only move, as bytes.  A nest that computes has no `fills`.
    fill_bits : where pieces compute, the bits of each fill in the output's type.
    constants : arrays that the kernel holds: the bits of each element.  They are numbered after the sources.
    """

    name: str
    parameters: tuple[str, ...]
    prelude: tuple[Local | Precondition, ...]
    sources: tuple[str, ...]
    source_sizes: tuple[Expr | None, ...]
    output_size: Expr | None
    pieces: tuple[NestPiece, ...]
    fills: int = 0
    about: Callable[[], tuple[str, ...]] = field(default=tuple, compare=False, repr=False)
    positive: frozenset[Expr] = frozenset()
    nonnegative: frozenset[Expr] = frozenset()
    combine: Add | None = None
    background: NestPiece | None = None
    halves: bool = False
    types: tuple[str, ...] = ()
    fill_bits: tuple[int, ...] = ()
    constants: tuple[tuple[int, ...], ...] = ()
    spans: tuple[Expr, ...] = ()

    @property
    def boxes(self) -> tuple[NestPiece, ...]:
        """The background, if there is one, then the pieces."""
        return self.pieces if self.background is None else (self.background, *self.pieces)

    def adds(self, piece: NestPiece) -> bool:
        """Return whether the points of *piece* add: then their order matters."""
        return self.combine is not None and piece.source is not None

    def described(self, *, first: Iterable[str] = (), last: Iterable[str] = ()) -> Nest:
        """Return the nest with more lines in its header comment."""
        return replace(self, about=lambda: (*first, *self.about(), *last))

    def map_boxes(self, change: Callable[[NestPiece], NestPiece]) -> Nest:
        """Return the nest with *change* made to the background and to each piece."""
        background = self.background and change(self.background)
        return replace(self, pieces=tuple(map(change, self.pieces)), background=background)


def points(piece: NestPiece, values: Mapping[str, int]) -> Iterator[list[int]]:
    """Yield the digits of each point that belongs to *piece*, the carried digits included."""
    if not all(holds(window, [], values) for window in piece.windows if not window.value.terms):
        return
    boxes = (range(evaluate(digit.extent, values)) for digit in piece.digits)
    for box in itertools.product(*boxes):
        digits = list(box)
        for carried in piece.carried:
            digits.append(carried.at(digits, values))
        if all(holds(window, digits, values) for window in piece.windows):
            yield digits


def holds(window: NestWindow, digits: list[int], values: Mapping[str, int]) -> bool:
    """Return whether ``0 <= value < extent``."""
    return 0 <= window.value.at(digits, values) < evaluate(window.extent, values)


Term = tuple[str, Any]
"""One summand of an output element: ``("fill", k)``, ``(source name, offset)`` or ``("value", (formula, loads))``.

The loads are a tuple for each point of the reduced digits: of each load, its ``(source name, offset)`` or fill.
"""


def simulate(nest: Nest, parameters: Mapping[str, int]) -> dict[int, tuple[Term, ...]]:
    """Return the terms whose sum each output offset holds; one term where points replace.

    Raises
    ------
    ValueError
        A precondition fails (the text is its kind), or an offset is replaced twice.
    """
    values = dict(parameters)
    for step in nest.prelude:
        value = evaluate(step.value, values)
        if isinstance(step, Local):
            values[step.name] = value
        elif not (value == 0 if step.relation == "==" else value >= 0):
            raise ValueError(step.kind)
    ground = dict(_terms(nest, nest.background, values)) if nest.background else {}
    written: dict[int, tuple[Term, ...]] = {at: (term,) for at, term in ground.items()}
    replaced: set[int] = set()
    for piece in nest.pieces:
        for at, term in _terms(nest, piece, values):
            if nest.combine is not None:
                written[at] += (term,)
                continue
            if at in replaced:
                raise ValueError(f"offset {at} is written twice")
            replaced.add(at)
            written[at] = (term,)
    return written


def _terms(nest: Nest, piece: NestPiece, values: Mapping[str, int]) -> Iterator[tuple[int, Term]]:
    """Yield the offset that each point of *piece* writes and the term that it writes there, in order."""
    if piece.formula is not None:
        yield from _computed_terms(nest, piece, values)
        return
    for digits in points(piece, values):
        failed = (g.fill for g in piece.guards if not holds(g.window, digits, values))
        fill = next(failed, piece.fill if piece.source is None else None)
        at = piece.output.at(digits, values)
        if fill is not None:
            yield at, ("fill", fill)
        elif piece.source is not None and piece.offset is not None:
            yield at, (nest.sources[piece.source], piece.offset.at(digits, values))


def _computed_terms(nest: Nest, piece: NestPiece, values: Mapping[str, int]) -> Iterator[tuple[int, Term]]:
    """Yield the offset and the value of each point of a piece that computes."""
    reads: dict[tuple[int, ...], list[Any]] = {}
    for digits in points(replace(piece, digits=piece.digits[: piece.written], reduced=0), values):
        reads[tuple(digits)] = []
    boxes = [range(evaluate(digit.extent, values)) for digit in piece.digits[piece.written :]]
    for written, terms in reads.items():
        at = piece.output.at([*written], values)
        failed = next((g.fill for g in piece.guards if not holds(g.window, [*written], values)), None)
        if failed is not None:
            yield at, ("fill", failed)
            continue
        for rest in itertools.product(*boxes):
            terms.append(tuple(_loaded(nest, load, [*written, *rest], values) for load in piece.loads))
        yield at, ("value", (piece.formula, tuple(terms)))


def _loaded(nest: Nest, load: NestLoad, digits: list[int], values: Mapping[str, int]) -> Term:
    failed = next((g.fill for g in load.guards if not holds(g.window, digits, values)), None)
    if failed is not None:
        return "fill", failed
    number = load.source - len(nest.sources)
    name = nest.sources[load.source] if number < 0 else f"constant{number}"
    return name, load.offset.at(digits, values)
