"""The nest: what the algebra hands to the backend, one frozen value per kernel.

A nest says which element of which source each element of the output holds, as boxes of
integer digits.  It knows no tensor op, no SymPy and no proof.  For every piece:

* each *digit* ``d`` runs over ``0 <= d < extent``, independently of the others; the extent is
  non-negative wherever the preconditions hold;
* a *carried* digit is ``floor(value / divisor)`` of the digits before it (numbered after
  the digits, in order), for radices that have no common refinement;
* a point of the box belongs to the piece if every *window* holds: ``0 <= value < extent``; where one
  without digits fails, the piece is empty, and nothing else of it need have a meaning;
* the point writes the output element at offset ``output``;
* the *guards* are tried in order: the first whose window fails makes the point read
  ``fills[fill]``; if all hold it reads ``source`` at element offset ``offset``.

The nest's *background* is carried out first, then its pieces in order.  What a point does to the
output element is the nest's *combine*: the element is replaced, or, with `Add`, what is read is added
to it, point after point, the last digit running fastest.

Pieces that replace write every output element exactly once (at most once over a background, whose
points write each exactly once), and every offset read or written is inside its array: the algebra has
shown both for all parameters that meet the preconditions.  Offsets and strides are in elements.
`simulate` is this definition as a program, the reference that the generated C is tested against.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from symlayout_codegen.ir.integer_expressions import Expr, Literal, add, evaluate


@dataclass(frozen=True, slots=True)
class Affine:
    """``constant + sum(coefficient * digit)``, digits by their number in the piece."""

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
        return {k: coefficient for k, coefficient in total.items() if coefficient != Literal(0)}


@dataclass(frozen=True, slots=True)
class Digit:
    """A loop: ``0 <= name < extent``.  ``comment`` says in the user's terms what it walks."""

    name: str
    extent: Expr
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Carried:
    """``name = floor(value / divisor)``; the divisor is positive."""

    name: str
    value: Affine
    divisor: Expr


@dataclass(frozen=True, slots=True)
class Window:
    """The condition ``0 <= value < extent``."""

    value: Affine
    extent: Expr


@dataclass(frozen=True, slots=True)
class Guard:
    """Where *window* fails, the element is ``fills[fill]`` of the nest."""

    window: Window
    fill: int


@dataclass(frozen=True, slots=True)
class Piece:
    """One box of digits and what its points write and read (see the module's text).

    ``source`` is None for a piece that is all fill; then ``fill`` says which, and without one the guards alone fill:
    a point where none of them fails leaves what is there.  ``apart`` has digits that tell
    output elements apart: two points of the nest, of one piece or of two, that differ in the value of the k-th of
    their pieces' write different elements.  All pieces over a background have as many, of the same extents.
    """

    digits: tuple[Digit, ...]
    output: Affine
    source: int | None
    offset: Affine | None
    carried: tuple[Carried, ...] = ()
    windows: tuple[Window, ...] = ()
    guards: tuple[Guard, ...] = ()
    fill: int | None = None
    apart: tuple[int, ...] = ()


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
"""The types in which points can add up, with C's names.  Unsigned sums wrap, and are those of signed types too."""


@dataclass(frozen=True, slots=True)
class Add:
    """Points add what they read to the output, in the arithmetic of *number*, one of `NUMBERS`."""

    number: str


@dataclass(frozen=True, slots=True)
class Local:
    """An integer computed once on entry, in order: ``name = value``."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Precondition:
    """What must hold of the parameters: ``value == 0`` or ``value >= 0``.

    ``kind`` is the stable error kind of the rule that failed, ``text`` the rule for people.
    Preconditions and locals are in one list, since a local may need what stands before it.
    """

    value: Expr
    relation: str  # "==" or ">="
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Nest:
    """A kernel to be: parameters, what is derived from them, and the pieces.

    Attributes
    ----------
    name : C identifier of the kernel.
    parameters : C identifiers of the int64 arguments, in order.
    prelude : locals and preconditions, in order of evaluation.
    sources : C identifiers of the sources.
    source_sizes : elements that each source holds, or None where it is strided.
    output_size : elements that the output holds, or None where it is strided.
    pieces : the boxes.
    fills : number of distinct fill values.
    about : lines for the header comment: the map, the domain, the command that makes it again.
    positive : expressions proved ``>= 1`` wherever the preconditions hold (blocks, divisors).
    nonnegative : expressions proved ``>= 0`` there (dims, extents).
    combine : how points come to the output: None replaces, `Add` adds.
    background : a piece of fill that covers the output before the pieces, where they do not.
    halves : elements are half a byte: number *e* is in byte ``e // 2``, in the low half if *e* is even.  What is
        ``apart`` tells bytes apart then, and fills are bytes that hold the value twice.
    """

    name: str
    parameters: tuple[str, ...]
    prelude: tuple[Local | Precondition, ...]
    sources: tuple[str, ...]
    source_sizes: tuple[Expr | None, ...]
    output_size: Expr | None
    pieces: tuple[Piece, ...]
    fills: int = 0
    about: tuple[str, ...] = ()
    positive: frozenset[Expr] = frozenset()
    nonnegative: frozenset[Expr] = frozenset()
    combine: Add | None = None
    background: Piece | None = None
    halves: bool = False


def points(piece: Piece, values: Mapping[str, int]) -> Iterator[list[int]]:
    """Yield the digits, carried ones included, of each point that belongs to *piece*."""
    if not all(holds(window, [], values) for window in piece.windows if not window.value.terms):
        return
    boxes = (range(evaluate(digit.extent, values)) for digit in piece.digits)
    for box in itertools.product(*boxes):
        digits = list(box)
        for carried in piece.carried:
            divisor = evaluate(carried.divisor, values)
            digits.append(carried.value.at(digits, values) // divisor)
        if all(holds(window, digits, values) for window in piece.windows):
            yield digits


def holds(window: Window, digits: list[int], values: Mapping[str, int]) -> bool:
    """Return whether ``0 <= value < extent``."""
    return 0 <= window.value.at(digits, values) < evaluate(window.extent, values)


Term = tuple[str, int]
"""What an element is made of: ``("fill", k)`` or ``(source name, offset)``."""


def simulate(nest: Nest, parameters: Mapping[str, int]) -> dict[int, tuple[Term, ...]]:
    """Return the terms of which each output offset holds the sum: one where points replace.

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


def _terms(nest: Nest, piece: Piece, values: Mapping[str, int]) -> Iterator[tuple[int, Term]]:
    """Yield for each point of *piece*, in order, the offset that it writes and what it brings there."""
    for digits in points(piece, values):
        failed = (g.fill for g in piece.guards if not holds(g.window, digits, values))
        fill = next(failed, piece.fill if piece.source is None else None)
        at = piece.output.at(digits, values)
        if fill is not None:
            yield at, ("fill", fill)
        elif piece.source is not None and piece.offset is not None:
            yield at, (nest.sources[piece.source], piece.offset.at(digits, values))
