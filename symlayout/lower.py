"""From the normal form to a nest of loops.

Strides, offsets and guards are the composed map, linearised; its digits become loops, its guards
and windows the nest's, and what is left as a floor is carried.  Every read is inside its source
when this returns: `normalise` has proved it.  For an adjoint the same pieces have their faces swapped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symlayout.adjoint import Adjoint
from symlayout.arrays import same_fill
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.facts import Facts
from symlayout.index_map import IndexMap, index_map_of
from symlayout.normalise import Read, Window, normalise
from symlayout.polynomial import Extent, Poly, coefficient_of, names_of, product, symbol, text
from symlayout.prelude import Prelude
from symlayout.refine import Box, output_box, refine
from symlayout.system import DIGIT
from symlayout.tensor import Tensor, same_size
from symlayout_codegen.cir import Literal, mul
from symlayout_codegen.nest import Add, Affine, Carried, Digit, Guard, Nest, Piece
from symlayout_codegen.nest import Window as NestWindow

_MOST_APART = 2
PARAMETER = "@"  # the first character of a name that is no dim's


def lower(
    t: Tensor | Adjoint, name: str = "kernel", *, strided: bool = False, number: str = "float32"
) -> tuple[Nest, list[object]]:
    """Return the nest of *t* and its fill values, by number.

    Parameters
    ----------
    name : str
        What the kernel is called.
    strided : bool
        False: all arrays are contiguous in row-major order.  True: the strides of the output and of
        each source, in elements, are parameters after the dims.
    number : str
        In what the terms of an adjoint add up, by the name that `symlayout_codegen.nest.Add` has for it.

    Raises
    ------
    InconclusiveError
        A read is not shown to be inside its source, or the map is not affine in digits.
    """
    return _Lowering(t, strided, number).nest(name)


class _Lowering:
    """One call of `lower`: the names and fills that its pieces share.

    The map is that of the tensor ``t``.  It goes from the array *output* to the *sources*: from the tensor to its
    leaves, or, transposed, from a leaf to the cotangent.
    """

    def __init__(self, t: Tensor | Adjoint, strided: bool, number: str) -> None:
        self.adjoint = t if isinstance(t, Adjoint) else None
        self.t = t.tensor if isinstance(t, Adjoint) else t
        self.strided, self.number = strided, number
        self.leaves = self.t.leaves()
        self.output: Tensor = t.leaf if isinstance(t, Adjoint) else t
        self.sources = [t.cotangent] if isinstance(t, Adjoint) else self.leaves
        self.fills: list[object] = []
        self.facts = self.t.facts
        self.prelude = Prelude(self.facts)
        self.nonempty: tuple[NestWindow, ...] = ()
        self._whole: list[dict[int, int]] = []  # for each piece of an adjoint, the axes that are a digit of its own
        self.output_strides = self._strides(self.output.extents, "out")
        self.source_strides = [self._strides(s.extents, f"src{k}") for k, s in enumerate(self.sources)]

    def nest(self, name: str) -> tuple[Nest, list[object]]:
        dims = tuple(self.prelude.identifier(n) for n in self.facts.dims)
        strides = [s for group in (self.output_strides, *self.source_strides) for s in group] if self.strided else []
        parameters = dims + tuple(self.prelude.identifier(next(iter(names_of(s)))) for s in strides)
        self.prelude.demand()
        reads, box = self._reads()
        index_map = index_map_of(self.t, reads)
        background = None
        if self.adjoint is not None:
            reads = [read for read in reads if read.leaf is not None and read.leaf.key == self.output.key]
            if not self._covered(reads):
                background = self._background()
                self.nonempty = self._nonempty()
        pieces = tuple(self._piece(box, read) for read in reads)
        if background is not None:
            background, *rest = self._apart(background, pieces)
            pieces = tuple(rest)
        sizes = tuple(None if self.strided else self.prelude.expr(product(s.extents)) for s in self.sources)
        # A product of the extents, not of their expanded sums: it is shorter, and may still add to the prelude.
        output_size = mul(*(self.prelude.expr(e) for e in self.output.extents))
        nest = Nest(
            name=name,
            parameters=parameters,
            prelude=tuple(self.prelude.steps),
            sources=tuple(f"src{k}" if len(self.sources) > 1 else "src" for k in range(len(self.sources))),
            source_sizes=sizes,
            output_size=output_size,
            pieces=pieces,
            fills=len(self.fills),
            about=self._about(name, index_map),
            positive=frozenset(self.prelude.positive),
            nonnegative=frozenset(self.prelude.nonnegative),
            combine=None if self.adjoint is None or self.adjoint.copies else Add(self.number),
            background=background,
        )
        return nest, self.fills

    def _strides(self, extents: Sequence[Extent], array: str) -> list[Extent]:
        if self.strided:
            return [symbol(f"{PARAMETER}{array}_stride{k}") for k in range(len(extents))]
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

    def _source(self, read: Read) -> int | None:
        """Return the number of the array that is read, None for a piece that is all fill."""
        if read.leaf is None:
            return None
        return 0 if self.adjoint is not None else [leaf.key for leaf in self.leaves].index(read.leaf.key)

    def _needed(self, box: Box, read: Read) -> list[Extent]:
        """Return the offset in the output, that in the source, and the values of the windows."""
        windows = (*box.windows, *read.windows, *(g.window for g in read.guards))
        written, fetched = (read.coords, box.coords) if self.adjoint is not None else (box.coords, read.coords)
        output = self._offset(written, self.output_strides, read.facts)
        source = self._source(read)
        offset = 0 if source is None else self._offset(fetched, self.source_strides[source], read.facts)
        return [output, offset, *(w.value for w in windows)]

    def _reads(self) -> tuple[list[Read], Box]:
        """Return the reads over one digit for each output axis, and these digits; none if there is no coordinate."""
        try:
            box = output_box(self.t)
        except ShapeError:
            return [], Box(self.facts, ())
        return normalise(self.t, box.facts.fork(), box.coords), box

    def _piece(self, box: Box, read: Read) -> Piece:
        sums = self.adjoint is not None and not self.adjoint.copies
        box, read = refine(self.t, read.path, self._needed, row_major=sums, start=(box, read))
        self.prelude.within(box.facts, read.facts)  # which know the splits' quotients too
        output, offset, *_ = self._needed(box, read)
        numbers: dict[str, int] = {name: k for k, name in enumerate(box.digits())}
        digits = tuple(
            Digit(self._digit_name(name), self.prelude.expr(e), f"{self._place(name)} < {box.facts.spell(e)}")
            for name, e in box.extents.items()
        )
        carried: list[Carried] = []
        expressions = self._needed(box, read)
        for name in self._carried(expressions, read.facts):
            numerator, denominator = read.facts.floors[name]
            value = self._affine(numerator, numbers, read.facts)
            carried.append(Carried(f"q{len(carried)}", value, self.prelude.expr(denominator)))
            numbers[name] = len(numbers)
        windows = [self._window(w, numbers, read.facts) for w in (*box.windows, *read.windows)]
        guards = [(self._window(g.window, numbers, read.facts), g.fill) for g in read.guards]
        if self.adjoint is not None:  # fills are constants: only where all guards hold does an element go through
            windows += [*self.nonempty, *(window for window, _ in guards)]
            guards = []
        if self.adjoint is not None:
            self._whole.append(self._axes(box, read, numbers))
        source = self._source(read)
        return Piece(
            digits=digits,
            output=self._affine(output, numbers, read.facts),
            source=source,
            offset=None if source is None else self._affine(offset, numbers, read.facts),
            carried=tuple(carried),
            windows=tuple(windows),
            guards=tuple(Guard(window, self._fill(fill)) for window, fill in guards),
            fill=self._fill(read.fill) if source is None else None,
        )

    # ------------------------------------------------------------------ of an adjoint

    def _covered(self, reads: Sequence[Read]) -> bool:
        """Return whether each element of the leaf is read exactly once: at most once, by as many as there are."""
        if self.adjoint is None or not self.adjoint.copies or len(reads) != 1:
            return False
        (read,) = reads
        whole = not read.windows and not read.guards
        return whole and same_size(self.t.extents, self.output.extents, self.facts)

    def _background(self) -> Piece:
        """Return the piece that makes all of the output zero."""
        digits = tuple(
            Digit(f"i{k}", self.prelude.expr(self.facts.reduce(e)), f"output axis {k} < {self.facts.spell(e)}")
            for k, e in enumerate(self.output.extents)
        )
        face = Affine(Literal(0), tuple((k, self.prelude.expr(s)) for k, s in enumerate(self.output_strides)))
        return Piece(digits, face, None, None, fill=self._fill(0))

    def _axes(self, box: Box, read: Read, numbers: dict[str, int]) -> dict[int, int]:
        """Return the axes of the leaf whose coordinate is one digit of the box over its whole extent, with the digit.

        The other coordinates are inside the leaf, so that elements differ wherever this one does.
        """
        whole: dict[int, int] = {}
        for axis, (coordinate, e) in enumerate(zip(read.coords, self.output.extents, strict=True)):
            reduced = read.facts.reduce(coordinate)
            name = next((name for name in box.extents if reduced == symbol(name)), None)
            if name is not None and read.facts.reduce(box.extents[name] - e) == 0:
                whole[axis] = numbers[name]
        return whole

    def _apart(self, background: Piece, pieces: Sequence[Piece]) -> list[Piece]:
        """Return the pieces with what tells their elements apart: axes of the leaf on which each has one digit."""
        shared = [
            axis
            for axis, e in enumerate(self.output.extents)
            if e != 1 and all(axis in self._whole[k] for k in range(len(pieces)))
        ][:_MOST_APART]
        digits = [dict(zip(range(len(background.digits)), range(len(background.digits)), strict=True)), *self._whole]
        return [
            replace(piece, apart=tuple(found[axis] for axis in shared))
            for piece, found in zip((background, *pieces), digits, strict=True)
        ]

    def _nonempty(self) -> tuple[NestWindow, ...]:
        """Return the condition under which what is known inside the map holds: that the cotangent is not empty."""
        count = self.facts.reduce(product(self.t.extents))
        if self.facts.positive(count):
            return ()
        size = self.prelude.local(f"{PARAMETER}size", self.prelude.expr(count))
        return (NestWindow(Affine(Literal(0)), size),)

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
                terms.append((number, self.prelude.expr(coefficient)))
        return Affine(self.prelude.expr(rest), tuple(terms))

    def _window(self, window: Window, numbers: dict[str, int], facts: Facts) -> NestWindow:
        return NestWindow(self._affine(window.value, numbers, facts), self.prelude.expr(facts.reduce(window.extent)))

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

    def _about(self, name: str, index_map: IndexMap) -> tuple[str, ...]:
        of = "" if self.adjoint is None else f"adjoint, with respect to {self.output.name}, of "
        lines = [f"{name} : {of}{index_map}"]
        shape = ", ".join(self.output.facts.spell(e) for e in self.output.extents)
        for source in self.sources:
            lines.append(f"source {source.name} : ({', '.join(source.facts.spell(e) for e in source.extents)})")
        lines.append(f"output : ({shape}), row-major" if not self.strided else f"output : ({shape}), any strides")
        lines += [f"requires {r}" for r in self.t.facts.requirements]
        return tuple(lines)
