"""Lower a composed map to a nest of loops.

The digits of the map become loops.  Its coordinates, times the strides, become offsets; its guards and windows become
those of the nest; a floor that no split removes becomes a carried digit.  Every read is inside its source when `lower`
returns: `normalise` has proved it.  The nest of an adjoint has the same pieces with the two faces swapped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from symlayout.algebra.fact_store import DIGIT
from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import digit_name
from symlayout.algebra.polynomial import Extent, Poly, coefficient_of, names_of, product, symbol, text
from symlayout.algebra.table import Table
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.maps.adjoint_map import Adjoint, reads_each
from symlayout.maps.compose_chain import NOTHING, Read, Window, normalise
from symlayout.maps.composed_map import index_map_of
from symlayout.maps.split_digits import Box, divisor, output_box, refine, where
from symlayout.run.entry_checks import Prelude
from symlayout.run.lowered_piece import Part, part_in_bytes
from symlayout.tensors.chain import Tensor, same_size
from symlayout.tensors.element_types import same_fill
from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, mul
from symlayout_codegen.ir.nest import Add, AffineForm, Carried, Digit, Nest, NestGuard, NestPiece, NestWindow

_MOST_SHARED_AXES = 2  # axes in `NestPiece.apart`
View = Callable[[Read], Read]  # from a read to the part of it that one piece copies or fills
PARAMETER = "@"  # the first character of a kernel parameter that is not a dim


def lower(
    t: Tensor | Adjoint,
    name: str = "kernel",
    *,
    strided: bool = False,
    number: str = "float32",
    halves: bool = False,
) -> tuple[Nest, list[object]]:
    """Return the nest of *t*, and its fill values in the order of their numbers in the nest.

    Parameters
    ----------
    name : str
        The kernel's name.
    strided : bool
        False: all arrays are contiguous in row-major order.  True: the strides of the output and of
        each source, in elements, are parameters after the dims.
    number : str
        The type in which an adjoint adds, by its name in `symlayout_codegen.ir.nest.Add`.
    halves : bool
        Elements are half a byte.  The last axis of the tensor and of each source has extent 2 and is the place in the
        byte (see `Nibbles.chain`).  Strides are in bytes, and the strides of the last two axes are not parameters: the
        bytes along an axis are contiguous.  If the map keeps the two halves of each byte together, the nest moves
        bytes.

    Raises
    ------
    InconclusiveError
        A read is not shown to be inside its source, or the map is not affine in digits.
    """
    if not halves or isinstance(t, Adjoint):
        return Lowering(t, strided, number).nest(name)
    if (in_bytes := _in_bytes(t, strided)) is not None:
        return in_bytes.nest(name)
    (elements,) = t.inputs  # the chain before `paired`: here each half is an element
    return Lowering(elements, strided, number, "halves").nest(name)


def _in_bytes(t: Tensor, strided: bool) -> Lowering | None:
    """Return the lowering of *t* to moves of whole bytes; None unless the halves of each byte stay together."""
    try:
        lowering = Lowering(t, strided, "", "bytes")
    except InconclusiveError:
        return None
    return lowering if lowering.use_bytes() else None


class Lowering:
    """The state of one call of `lower`: the names and fills that its pieces share.

    The kernel writes ``output`` and reads ``sources``: a tensor and its leaves, or, for an adjoint, a leaf and the
    cotangent.  With the *form* "bytes" or "halves", the sources have a last axis for the two halves of a byte; with
    "bytes", the output has it too.
    """

    def __init__(self, t: Tensor | Adjoint, strided: bool, number: str, form: str = "") -> None:
        self.adjoint = t if isinstance(t, Adjoint) else None
        self.t = t.tensor if isinstance(t, Adjoint) else t
        self.strided, self.number, self.form = strided, number, form
        self.leaves = self._leaves()
        self.output: Tensor = t.leaf if isinstance(t, Adjoint) else t
        self.sources = [t.cotangent] if isinstance(t, Adjoint) else self.leaves
        self.fills: list[object] = []
        self.facts = self.t.facts
        self.prelude = Prelude(self.facts)
        self.nonempty: tuple[NestWindow, ...] = ()
        self.strides: list[str] = []  # the strides that are parameters
        self.output_strides = self._strides(self.output.extents, "out", [1] if form == "halves" else [2, 1])
        self.source_strides = [self._strides(s.extents, f"src{k}", [2, 1]) for k, s in enumerate(self.sources)]
        try:
            self.box: Box | None = output_box(self.t)
        except ShapeError:  # the output has no elements for any dims
            self.box = None
        reads = [] if self.box is None else self._reads(self.box)
        self.index_map = index_map_of(self.t, reads)
        self.parts = [] if self.box is None else self._parts(self.box, reads)
        self.covered = self._covered([read for read in reads if self._reads_output_leaf(read)])

    def _leaves(self) -> list[Tensor]:
        """Return the tensors whose arrays the kernel reads."""
        return self.t.leaves()

    def use_bytes(self) -> bool:
        """Replace the parts by parts in bytes; return False, with nothing done, if one has no such form."""
        in_bytes = [part_in_bytes(part, digit_name(self.t.rank - 1)) for part in self.parts]
        if None in in_bytes:
            return False
        self.parts = [part for part in in_bytes if part is not None]
        return True

    def nest(self, name: str) -> tuple[Nest, list[object]]:
        """Return the nest and its fills."""
        dims = tuple(self.prelude.identifier(n) for n in self.facts.dims)
        parameters = dims + tuple(map(self.prelude.identifier, self.strides))
        self.prelude.check_requirements()
        if self.form == "halves":
            self.prelude.check_multiple(self.output.extents[-1], 2)
        background = None
        if self.adjoint is not None and not self.covered:
            background = self._background()
            self.nonempty = self._nonempty()
        pieces = tuple(map(self._piece, self.parts))
        if background is not None or self.form == "halves":
            background, pieces = self._with_axes(background, pieces)
        counted = slice(-1 if self.form == "bytes" else None)
        # A size is a product of extents, shorter than the expanded sum.  It may still add locals to the prelude.
        sizes = [None if self.strided else self._size(s.extents[counted]) for s in self.sources]
        output_size = self._size(self.output.extents[counted])
        nodes = self.t.nodes()
        counts = [self.prelude.expr(self.facts.reduce(e)) for x in nodes for e in x.counts]
        others = [x for x in (*nodes, *self.sources) if not self._fits_in(x.extents, self.output.extents)]
        spans = (*counts, *map(self._span, (*others, self.output)))
        nest = Nest(
            name=name,
            parameters=parameters,
            prelude=tuple(self.prelude.steps),
            sources=tuple(f"src{k}" if len(self.sources) > 1 else "src" for k in range(len(self.sources))),
            source_sizes=tuple(sizes),
            output_size=output_size,
            spans=spans,
            pieces=pieces,
            fills=len(self.fills),
            about=partial(self._about, name),
            positive=frozenset(self.prelude.positive),
            nonnegative=frozenset(self.prelude.nonnegative),
            combine=None if self.adjoint is None or self.adjoint.copies else Add(self.number),
            background=background,
            halves=self.form == "halves",
        )
        return nest, self.fills

    def _size(self, extents: Sequence[Extent]) -> Expr:
        return mul(*(self.prelude.expr(e) for e in extents))

    def _fits_in(self, extents: Sequence[Extent], others: Sequence[Extent]) -> bool:
        """Return whether each of *extents* is one of *others*, or each is at most the one in its place."""
        own = Counter(e for e in self.facts.reduce_all(extents) if e != 1)
        others = self.facts.reduce_all(others)
        if own <= Counter(others):
            return True
        return len(extents) == len(others) and all(
            self.facts.nonnegative(self.facts.reduce(o - e)) for e, o in zip(extents, others, strict=True)
        )

    def _span(self, x: Tensor) -> Expr:
        """Return how many elements the axes of *x* have that are not empty."""
        return mul(*(self.prelude.at_least_1(e) for e in self.facts.reduce_all(x.extents)))

    def _strides(self, extents: Sequence[Extent], array: str, halves: list[Extent]) -> list[Extent]:
        """Return the strides of *array* in elements.  The last ones of a strided array of half bytes are *halves*."""
        strides: list[Extent] = []
        if self.strided:
            names = [f"{PARAMETER}{array}_stride{k}" for k in range(len(extents))]
            if not self.form:
                self.strides += names
                return [symbol(name) for name in names]
            self.strides += (names := names[: -len(halves)])
            return [*(2 * symbol(name) for name in names), *halves]
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
        """Return the number of the source that is read; None if the read is a fill."""
        if read.leaf is None:
            return None
        return 0 if self.adjoint is not None else [leaf.key for leaf in self.leaves].index(read.leaf.key)

    def _expressions(self, box: Box, read: Read) -> list[Extent]:
        """Return the offset in the output, the offset in the source, and the values of windows and guards."""
        windows = (*box.windows, *read.windows, *(g.window for g in read.guards))
        written, fetched = (read.coords, box.coords) if self.adjoint is not None else (box.coords, read.coords)
        # A copy writes a fill where its guards fail: the output offset may use only facts that hold there too.
        output = self._offset(written, self.output_strides, box.facts if self.adjoint is None else read.facts)
        source = self._source(read)
        offset = 0 if source is None else self._offset(fetched, self.source_strides[source], read.facts)
        return [output, offset, *(w.value for w in windows)]

    def _reads(self, box: Box, *, shown: bool = False) -> list[Read]:
        return normalise(self.t, box.facts.fork(), box.coords, shown=shown)

    def _parts(self, box: Box, reads: Sequence[Read]) -> list[Part]:
        """Return the parts of *reads* over *box*."""
        return self._parts_of_known_signs(box, reads, None, divided=True)

    def _parts_of_known_signs(
        self, box: Box, reads: Sequence[Read], signs: Facts | None, *, divided: bool
    ) -> list[Part]:
        """Return the parts of *reads* over *box*, or over two boxes.

        If *divided* and the sign of a divisor is not known, *box* is divided in two: one where the divisor is
        positive, and one where it is not.  In the second one an array is empty, only fills are written, and floors
        are carried.  The kernel takes the signs of its expressions from *signs*, the facts of the whole box.
        """
        sums = self.adjoint is not None and not self.adjoint.copies
        found: list[Part] = []
        for read, view in self._views(reads):
            expressions = _each_once(partial(self._expressions_of, view))
            refined, fetched = refine(self.t, read.path, expressions, row_major=sums, start=(box, read))
            extent = divisor(refined, fetched, expressions) if divided else None
            if extent is not None:
                return [
                    part
                    for e, again in ((extent, True), (1 - extent, False))
                    if (each := where(box, e)) is not None
                    for part in self._parts_of_known_signs(
                        each, self._reads(each, shown=True), signs or box.facts, divided=again
                    )
                ]
            found.append(self._part(refined, view(fetched), expressions(refined, fetched), signs or refined.facts))
        return found

    def _views(self, reads: Sequence[Read]) -> Iterator[tuple[Read, View]]:
        """Yield each read with its view.  A fill that surrounds several reads comes once, with the first of them."""
        seen: set[tuple[int, ...]] = set()
        for read in reads:
            if self.adjoint is not None:
                if self._reads_output_leaf(read):
                    yield read, lambda r: r
                continue
            first, guards = 0, 0
            for branch in read.branches:
                if branch.guards == guards:
                    continue
                if (steps := read.path[: branch.steps]) not in seen:
                    seen.add(steps)
                    yield read, partial(Read.around, first=first, last=branch.steps)
                first, guards = branch.steps, branch.guards
            yield read, Read.within

    def _expressions_of(self, view: View, box: Box, read: Read) -> list[Extent]:
        return self._expressions(box, view(read))

    def _reads_output_leaf(self, read: Read) -> bool:
        """Return whether *read* reads the leaf that the adjoint writes."""
        return read.leaf is not None and read.leaf.key == self.output.key

    def _part(self, box: Box, read: Read, expressions: Sequence[Extent], signs: Facts) -> Part:
        output, offset, *_ = expressions
        windows, guards = (*box.windows, *read.windows), read.guards
        if self.adjoint is not None:  # fills are constants without gradient: only elements inside all guards count
            windows, guards = (*windows, *(g.window for g in guards)), ()
        apart = self._axes(box, read) if self.adjoint is not None or self.form == "halves" else {}
        source = self._source(read)
        return Part(signs, read.facts, box.extents, output, offset, source, windows, guards, read.fill, apart)

    def _piece(self, part: Part) -> NestPiece:
        self.prelude.use_facts(part.box, part.facts)  # these facts have the quotients of the splits too
        numbers: dict[str, int] = {name: k for k, name in enumerate(part.digits)}
        digits = tuple(
            Digit(self._digit_name(name), self.prelude.expr(e), f"{self._place(name)} < {part.box.spell(e)}")
            for name, e in part.digits.items()
        )
        carried: list[Carried] = []
        for name, (numerator, denominator) in part.carried().items():
            value = self._affine(numerator, numbers)
            if isinstance(denominator, Table):
                carried.append(Carried(f"q{len(carried)}", value, IntLiteral(1), denominator.values))
            else:
                carried.append(Carried(f"q{len(carried)}", value, self.prelude.at_least_1(denominator)))
            numbers[name] = len(numbers)
        windows = [self._window(w, numbers) for w in part.windows]
        guards = [NestGuard(self._window(g.window, numbers), self._fill(g.fill)) for g in part.guards]
        return NestPiece(
            digits=digits,
            output=self._affine(part.output, numbers),
            source=part.source,
            offset=None if part.source is None else self._affine(part.offset, numbers),
            carried=tuple(carried),
            windows=(*windows, *self.nonempty),
            guards=tuple(guards),
            fill=self._fill(part.fill) if part.source is None and part.fill is not NOTHING else None,
        )

    # ------------------------------------------------------------------ adjoints

    def _covered(self, reads: Sequence[Read]) -> bool:
        """Return whether each element of the leaf is read exactly once.

        It is if each is read at most once, and the tensor has as many elements as the leaf, or each is read.
        """
        if self.adjoint is None or not self.adjoint.copies or len(reads) != 1:
            return False
        (read,) = reads
        whole = not read.windows and not read.guards
        return (whole and same_size(self.t.extents, self.output.extents, self.facts)) or reads_each(self.t, self.output)

    def _background(self) -> NestPiece:
        """Return the piece that fills the output with zeros."""
        digits = tuple(
            Digit(f"i{k}", self.prelude.expr(self.facts.reduce(e)), f"output axis {k} < {self.facts.spell(e)}")
            for k, e in enumerate(self.output.extents)
        )
        face = AffineForm(IntLiteral(0), tuple((k, self.prelude.expr(s)) for k, s in enumerate(self.output_strides)))
        return NestPiece(digits, face, None, None, fill=self._fill(0))

    def _axes(self, box: Box, read: Read) -> dict[int, str]:
        """Return the output axes whose coordinate is a single digit with the axis's extent, with that digit.

        Elements with different values of such a digit are at different places in the output.
        """
        whole: dict[int, str] = {}
        written = box.coords if self.adjoint is None else read.coords
        for axis, (coordinate, e) in enumerate(zip(written, self.output.extents, strict=True)):
            reduced = read.facts.reduce(coordinate)
            name = next((name for name in box.extents if reduced == symbol(name)), None)
            if name is not None and read.facts.reduce(box.extents[name] - e) == 0:
                whole[axis] = name
        return whole

    def _with_axes(
        self, background: NestPiece | None, pieces: Sequence[NestPiece]
    ) -> tuple[NestPiece | None, tuple[NestPiece, ...]]:
        """Return the pieces with `NestPiece.apart` set: output axes on which each piece has a single digit.

        With half bytes, the last axis does not count: two elements share a byte there.
        """
        extents = self.output.extents[:-1] if self.form == "halves" else self.output.extents
        split = [axis for axis, e in enumerate(extents) if e != 1 and all(axis in part.apart for part in self.parts)]
        shared = split[:_MOST_SHARED_AXES]
        if background is not None:
            background = replace(background, apart=tuple(shared))  # it has one digit for each axis
        found = [tuple(list(part.digits).index(part.apart[axis]) for axis in shared) for part in self.parts]
        return background, tuple(replace(p, apart=apart) for p, apart in zip(pieces, found, strict=True))

    def _nonempty(self) -> tuple[NestWindow, ...]:
        """Return the window "the cotangent is not empty": only then do the facts inside the map hold."""
        count = self.facts.reduce(product(self.t.extents))
        if self.facts.positive(count):
            return ()
        size = self.prelude.local(f"{PARAMETER}size", self.prelude.expr(count))
        return (NestWindow(AffineForm(IntLiteral(0)), size),)

    def _affine(self, e: Extent, numbers: dict[str, int]) -> AffineForm:
        terms = []
        rest = e
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
        return AffineForm(self.prelude.expr(rest), tuple(terms))

    def _window(self, window: Window, numbers: dict[str, int]) -> NestWindow:
        return NestWindow(self._affine(window.value, numbers), self.prelude.expr(window.extent))

    def _fill(self, value: object) -> int:
        for k, other in enumerate(self.fills):
            if same_fill(value, other, self.t.dtype):
                return k
        self.fills.append(value)
        return len(self.fills) - 1

    # ------------------------------------------------------------------ comments in the C

    def _digit_name(self, name: str) -> str:
        return "i" + name.replace(DIGIT, "_").strip("_")

    def _place(self, name: str) -> str:
        axes = sorted({part.split("_")[0] for part in name.split(DIGIT) if part})
        what = f"output axis {axes[0]}" if len(axes) == 1 else f"output axes {', '.join(axes)} together"
        return what + (", a digit of it" if "_" in name else "")

    def _about(self, name: str) -> tuple[str, ...]:
        of = "" if self.adjoint is None else f"adjoint, with respect to {self.output.name}, of "
        lines = [f"{name} : {of}{self.index_map}"]
        shape = ", ".join(self.output.facts.spell(e) for e in self.output.extents)
        for source in self.sources:
            lines.append(f"source {source.name} : ({', '.join(source.facts.spell(e) for e in source.extents)})")
        lines.append(f"output : ({shape}), row-major" if not self.strided else f"output : ({shape}), any strides")
        if self.form:
            along = "the last axis of a source" + (" and of the output" if self.form == "bytes" else "")
            lines.append(f"elements are half a byte, the low half first; {along} is the place in the byte")
        lines += [f"requires {r}" for r in self.t.facts.requirements]
        return tuple(lines)


def _each_once(expressions: Callable[[Box, Read], list[Extent]]) -> Callable[[Box, Read], list[Extent]]:
    """Return a function that computes the expressions of each box with its read once, for one piece of a kernel."""
    known: dict[tuple[int, int], tuple[Box, Read, list[Extent]]] = {}  # which keeps both alive: no number comes twice

    def of(box: Box, read: Read) -> list[Extent]:
        key = id(box), id(read)
        if key not in known:
            known[key] = box, read, expressions(box, read)
        return known[key][2]

    return of
