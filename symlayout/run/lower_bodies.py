"""Lower computed values to a nest: movement, elementwise bodies and one reduction as one kernel.

`fuse_bodies` says which bodies the kernel computes, and what its sources are.  From the output on, each body is called
with traced operands, at the coordinate that its reader reads.  The coordinates that the loads have in the digits of the
output, and of the box that is reduced, are lowered as those of a chain are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from symlayout.algebra.fact_store import DIGIT
from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import digit_name
from symlayout.algebra.polynomial import Extent
from symlayout.compute.trace import BodyTrace, TracedElement, UntraceableError
from symlayout.errors import ArrayError, InconclusiveError, ShapeError
from symlayout.maps.compose_chain import NOTHING, Read, Window, normalise
from symlayout.maps.split_digits import Box, refine
from symlayout.run.fuse_bodies import Fusion, Types, call_body
from symlayout.run.lower import Lowering, View
from symlayout.tensors.chain import Tensor
from symlayout.tensors.element_types import fill_element
from symlayout_codegen.ir.formula import TYPES, Formula, Step
from symlayout_codegen.ir.integer_expressions import IntLiteral
from symlayout_codegen.ir.nest import AffineForm, Digit, Local, Nest, NestGuard, NestLoad, NestPiece
from symlayout_codegen.ir.queries import names

MOST_HELD = 64
"""A constant of at most this many elements is part of the C; a larger one is a source."""

_MOST_REFINED = 16


@dataclass(frozen=True, slots=True)
class Lowered:
    """A nest that computes, and the arrays that its kernel takes.

    Attributes
    ----------
    nest : Nest
        The nest.
    sources : list of Tensor
        For each source the input, constant or computed value whose elements it has.
    types : list of dtype
        The type of each source, and then that of the output.
    """

    nest: Nest
    sources: list[Tensor]
    types: list[np.dtype[Any]]


def lower_bodies(t: Tensor, types: Types, name: str = "kernel", *, strided: bool = False) -> Lowered | None:
    """Return the nest that computes *t*; None if no body of its last part has steps.

    Parameters
    ----------
    types : mapping
        The element type of each input of *t*, by key.
    name : str
        The kernel's name.
    strided : bool
        See `lower`.

    Raises
    ------
    InconclusiveError
        The reads are not affine in digits, are not shown to be inside their sources, or have several cases.
    """
    fusion = Fusion(t, types)
    while fusion.fuses:
        try:
            return _BodyLowering(fusion, strided).lowered(name)
        except _NotFusedError as error:
            fusion.stop(error.leaf)
    return None


class _NotFusedError(Exception):
    """A body cannot be part of the kernel because of how it reads: the interpreter computes it."""

    def __init__(self, leaf: Tensor) -> None:
        super().__init__(leaf.name)
        self.leaf = leaf


@dataclass(frozen=True, slots=True)
class _Stage:
    """A tensor that is read at coordinates in the digits, and the read of its normal form."""

    tensor: Tensor
    coords: tuple[Extent, ...]
    read: Read


@dataclass(slots=True)
class _Evaluation:
    """What a part of the output computes.

    Attributes
    ----------
    stages : the tensors that are read, readers first.
    loads : the read of each load, its source, and the guards outside of it.
    """

    trace: BodyTrace
    stages: list[_Stage] = field(default_factory=list)
    loads: list[tuple[Read, int, tuple[Any, ...]]] = field(default_factory=list)
    result: TracedElement | None = None


@dataclass(frozen=True, slots=True)
class _BodyPart:
    """A part of the output: its digits, and what it computes; or, without a result, its fill."""

    box: Box
    read: Read
    done: _Evaluation


class _BodyLowering(Lowering):
    """The lowering of a tensor with bodies.  The parts have the digits of the output, then those of the reduced box."""

    parts: list[_BodyPart]  # type: ignore[assignment]

    def __init__(self, fusion: Fusion, strided: bool) -> None:
        self.fusion = fusion
        self.held: list[Tensor] = []
        self.asks = False
        super().__init__(fusion.t, strided, "")

    def _leaves(self) -> list[Tensor]:
        """Return the sources; small constants are held by the kernel."""
        found = self.fusion.sources()
        self.held = [leaf for leaf in found if leaf.values is not None and leaf.values.size <= MOST_HELD]
        return [leaf for leaf in found if leaf not in self.held]

    def lowered(self, name: str) -> Lowered:
        """Return the nest."""
        nest, fills = self.nest(name)
        types = [self.fusion.type_of(leaf) for leaf in (*self.leaves, *self.held)]
        output = self._output_type()
        named = [_type_name(dtype) for dtype in (*types, output)]
        try:
            bits = tuple(_bits(fill_element(fill, output)) for fill in fills)
        except ArrayError as error:
            raise InconclusiveError(f"the fills are of type {output}") from error
        constants = [tuple(map(_bits, leaf.values.reshape(-1))) for leaf in self.held if leaf.values is not None]
        if self.asks:
            constants.append((1,))
            named.insert(-1, "bool")
        nest = replace(nest, types=tuple(named), fills=0, fill_bits=bits, constants=tuple(constants))
        _check_names(nest)
        return Lowered(nest, self.leaves, [*types[: len(self.leaves)], output])

    def _output_type(self) -> np.dtype[Any]:
        try:
            return self.fusion.view_type(self.t)
        except UntraceableError as error:
            raise InconclusiveError(f"{error} is known") from error

    # ------------------------------------------------------------------ parts

    def _parts(self, box: Box, reads: Sequence[Read]) -> Any:
        signs = box.facts.fork()
        facts = box.facts.fork()
        extents, over = dict(box.extents), list[Extent]()
        for k, e in enumerate(self.fusion.over, len(box.coords)):
            e = facts.reduce(e)
            if e == 1:
                over.append(0)
                continue
            if not facts.positive(e):
                try:
                    facts.assume_nonnegative(e - 1)
                except ShapeError as error:
                    raise InconclusiveError("the reduced box has elements") from error
            extents[digit_name(k)] = e
            over.append(facts.add_digit(digit_name(k), e))
        whole = Box(facts, (*box.coords, *over), extents, box.windows)
        found = []
        may_be_empty = any(not signs.positive(signs.reduce(e)) for e in self.fusion.over)
        for read, view in self._views(reads):
            # Each load is shown to be inside its source.
            _, first = self._evaluated(whole, read.path, view, shown=False)
            formula = None if first.result is None else _formula(first.trace, first.result)
            folds = formula is not None and bool(formula.folds)
            start = whole
            if not folds and may_be_empty:
                start = box
                self._evaluated(start, read.path, view, shown=False)
            settled = self._settled(start, read.path, view)
            # The value of an empty box is written too: what it needs may not rely on terms.
            after = [] if formula is None else [*formula.loads(formula.needed((len(formula.steps) - 1,)))]
            if folds and may_be_empty and (after or settled.extents != start.extents):
                raise _NotFusedError(self._reduction())
            root, done = self._evaluated(settled, read.path, view, shown=True)
            found.append(_BodyPart(settled, root, done))
        return found

    def _reduction(self) -> Tensor:
        """Return a body with a reduction that the kernel computes."""
        return next(n for n in self.t.graph() if n.body is not None and n.body.over and self.fusion.computes(n))

    def _settled(self, box: Box, path: tuple[int, ...], view: View) -> Box:
        """Return *box* with its digits split until all reads are affine in them, as far as that is achieved."""
        for _ in range(_MOST_REFINED):
            _, done = self._evaluated(box, path, view, shown=True)
            for stage in done.stages:
                start = replace(box, coords=stage.coords, others=box.coords)
                read = next(
                    (
                        r
                        for r in normalise(stage.tensor, box.facts.fork(), stage.coords, shown=True)
                        if r.path == stage.read.path
                    ),
                    None,
                )
                if read is None:
                    continue
                needed = partial(self._needed, stage.tensor is self.t, view)
                new, _ = refine(stage.tensor, read.path, needed, row_major=bool(self.fusion.over), start=(start, read))
                if new.extents != box.extents:
                    box = replace(new, coords=new.others, others=())
                    break
            else:
                return box
        return box

    def _needed(self, root: bool, view: View, box: Box, read: Read) -> list[Extent]:
        """Return the expressions of a stage that are to be affine."""
        read = view(read) if root else read
        output = self._offset(box.others[: self.t.rank], self.output_strides, box.facts)
        windows = (*box.windows, *read.windows, *(g.window for g in read.guards))
        if read.leaf is None:
            return [output, *(w.value for w in windows)]
        source = self._number_of(read.leaf)
        if source is None:
            return [output, *read.coords, *(w.value for w in windows)]
        return [output, self._load_offset(read, source), *(w.value for w in windows)]

    def _number_of(self, leaf: Tensor) -> int | None:
        """Return the number of the source or held constant with the elements of *leaf*; None if it is computed."""
        keys = [each.key for each in (*self.leaves, *self.held)]
        return keys.index(leaf.key) if leaf.key in keys else None

    def _load_offset(self, read: Read, source: int) -> Extent:
        if source < len(self.leaves):
            return self._offset(read.coords, self.source_strides[source], read.facts)
        steps: list[Extent] = []
        step: Extent = 1
        for e in reversed(self.held[source - len(self.leaves)].extents):
            steps.insert(0, step)
            step = step * e
        return self._offset(read.coords, steps, read.facts)

    # ------------------------------------------------------------------ evaluation

    def _evaluated(self, box: Box, path: tuple[int, ...], view: View, *, shown: bool) -> tuple[Read, _Evaluation]:
        """Return the read of the output with this path, and what it computes."""
        coords = box.coords[: self.t.rank]
        reads = normalise(self.t, box.facts.fork(), coords, shown=shown, path=path)
        if len(reads) != 1:
            raise InconclusiveError("each part of the output is one part in other digits")
        read = view(reads[0])
        done = _Evaluation(BodyTrace())
        done.stages.append(_Stage(self.t, coords, reads[0]))
        if read.leaf is not None:
            done.result = self._value(read, box.coords[self.t.rank :], done, (), shown)
        return read, done

    def _value(
        self, read: Read, over: tuple[Extent, ...], done: _Evaluation, outer: tuple[Any, ...], shown: bool
    ) -> TracedElement:
        """Return the element that *read* reads, without its guards."""
        leaf = read.leaf
        assert leaf is not None
        source = self._number_of(leaf)
        dtype = self.fusion.type_of(leaf)
        if source is not None:
            values = leaf.values
            if values is not None and values.size == 1 and not outer:
                return done.trace.literal(values.reshape(()), dtype)
            return self._load(read, source, dtype, done, outer)
        assert leaf.body is not None
        operands = []
        for v in leaf.inputs:
            coords = (*read.coords, *over) if leaf.body.over else read.coords
            reads = normalise(v, read.facts.fork(), coords, shown=shown)
            if len(reads) != 1 or reads[0].windows:
                raise _NotFusedError(leaf)
            done.stages.append(_Stage(v, coords, reads[0]))
            operands.append(self._guarded(v, reads[0], over, done, outer, shown))
        try:
            return call_body(done.trace, leaf, operands)
        except UntraceableError as error:
            raise _NotFusedError(leaf) from error

    def _guarded(
        self, v: Tensor, read: Read, over: tuple[Extent, ...], done: _Evaluation, outer: tuple[Any, ...], shown: bool
    ) -> TracedElement:
        """Return the element of a view: what *read* reads, or the fill of the first of its guards that fails."""
        dtype = self.fusion.view_type(v)
        if read.leaf is None:
            return done.trace.literal(fill_element(read.fill, dtype), dtype)
        guards = tuple((g.window, g.fill) for g in read.guards)
        if not guards:
            return self._value(read, over, done, outer, shown)
        if self._number_of(read.leaf) is not None:
            return self._load(read, self._number_of(read.leaf) or 0, dtype, done, outer, guards)
        value = self._value(read, over, done, (*outer, *guards), shown)
        for window, fill in reversed(guards):
            filled = done.trace.literal(fill_element(fill, dtype), dtype)
            value = done.trace.step("where", dtype, (self._inside(read, window, done), value, filled))
        return value

    def _inside(self, read: Read, window: Window, done: _Evaluation) -> TracedElement:
        """Return whether a window holds: a load of a constant that is true, with the window as its guard."""
        self.asks = True
        done.loads.append((read, len(self.leaves) + len(self.held), ((window, False),)))
        return done.trace.load(len(done.loads) - 1, np.bool_, reduced=False)

    def _load(
        self,
        read: Read,
        source: int,
        dtype: np.dtype[Any],
        done: _Evaluation,
        outer: tuple[Any, ...],
        guards: tuple[Any, ...] = (),
    ) -> TracedElement:
        """Return a load; loads of one element at equal coordinates are one."""
        every = (*((window, 0) for window, _ in outer), *guards)
        offset = self._load_offset(read, source)
        for k, (other, number, others) in enumerate(done.loads):
            if number == source and _are_equal(others, every) and self._load_offset(other, source) == offset:
                return done.trace.load(k, dtype, reduced=False)
        done.loads.append((read, source, every))
        return done.trace.load(len(done.loads) - 1, dtype, reduced=False)

    # ------------------------------------------------------------------ pieces

    def _piece(self, part: Any) -> NestPiece:
        box, read, done = part.box, part.read, part.done
        self.prelude.use_facts(self._signs(box), read.facts)
        inner = [name for name in box.extents if self._is_inner(name)]
        order = [*(name for name in box.extents if name not in inner), *inner]
        numbers = {name: k for k, name in enumerate(order)}
        formula = None if done.result is None else _formula(done.trace, done.result)
        written = len(order) - len(inner)
        reduced = len(inner) if formula is not None and formula.folds else 0
        digits = tuple(
            Digit(self._digit_name(name), self.prelude.expr(box.extents[name]), self._comment(name, box))
            for name in order[: written + reduced]
        )
        output = self._affine(self._offset(box.coords[: self.t.rank], self.output_strides, box.facts), numbers)
        windows = [self._window(w, numbers) for w in (*box.windows, *read.windows)]
        guards = [NestGuard(self._window(g.window, numbers), self._fill(g.fill)) for g in read.guards]
        for window in (*windows, *(g.window for g in guards)):
            if any(k >= written for k in window.value.coefficients()):
                raise InconclusiveError("the windows of the output have no digit of the reduced box")
        fill = self._fill(read.fill) if read.leaf is None and read.fill is not NOTHING else None
        return NestPiece(
            digits=digits,
            output=output,
            source=None,
            offset=None,
            windows=tuple(windows),
            guards=tuple(guards),
            fill=fill,
            formula=formula,
            loads=tuple(self._nest_load(*load, numbers=numbers) for load in done.loads),
            reduced=reduced,
        )

    def _nest_load(self, read: Read, source: int, guards: tuple[Any, ...], *, numbers: dict[str, int]) -> NestLoad:
        self.prelude.use_facts(self.prelude_facts, read.facts)
        asks = source == len(self.leaves) + len(self.held)
        dtype = np.dtype(np.bool_) if asks else self.fusion.type_of((*self.leaves, *self.held)[source])
        offset = AffineForm(IntLiteral(0)) if asks else self._affine(self._load_offset(read, source), numbers)
        made = []
        for window, fill in guards:
            made.append(NestGuard(self._window(window, numbers), _bits(fill_element(fill, dtype))))
        return NestLoad(source, offset, tuple(made))

    def _signs(self, box: Box) -> Facts:
        """Return the facts from which the kernel takes signs: those that hold if the reduced box is empty, too."""
        self.prelude_facts = box.facts if not self.fusion.over else self.box.facts if self.box else box.facts
        return self.prelude_facts

    def _is_inner(self, name: str) -> bool:
        """Return whether a digit is one of the reduced box.

        Raises
        ------
        InconclusiveError
            It is a digit of both.
        """
        axes = {int(part.split("_")[0]) >= self.t.rank for part in name.split(DIGIT) if part}
        if len(axes) != 1:
            raise InconclusiveError("no digit is one of the output and of the reduced box")
        return axes.pop()

    def _comment(self, name: str, box: Box) -> str:
        place = "the reduced box" if self._is_inner(name) else self._place(name)
        return f"{place} < {box.facts.spell(box.extents[name])}"

    def _about(self, name: str) -> tuple[str, ...]:
        first, *rest = super()._about(name)
        bodies = [leaf.name for leaf in self.t.graph() if leaf.body is not None and self.fusion.computes(leaf)]
        return (first, f"computes {', '.join(dict.fromkeys(bodies))}", *rest)


def _formula(trace: BodyTrace, result: TracedElement) -> Formula:
    """Return the steps that *result* needs, renumbered."""
    wanted = {result.number}
    for k in reversed(range(len(trace.steps))):
        if k in wanted:
            wanted.update(trace.steps[k].operands)
    order = [*sorted(wanted - {result.number}), result.number]
    number = {k: i for i, k in enumerate(order)}
    steps = (trace.steps[k] for k in order)
    return Formula(tuple(Step(s.function, s.type, tuple(number[o] for o in s.operands), s.number) for s in steps))


def _are_equal(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    return [(w.value, w.extent, repr(f)) for w, f in a] == [(w.value, w.extent, repr(f)) for w, f in b]


def _bits(element: Any) -> int:
    return int.from_bytes(np.asarray(element).tobytes(), "little")


def _type_name(dtype: np.dtype[Any]) -> str:
    if dtype.name not in TYPES or not dtype.isnative:
        raise InconclusiveError(f"C has the type {dtype}")
    return dtype.name


def _check_names(nest: Nest) -> None:
    """Raise unless the kernel defines each name in its expressions."""
    known = {*nest.parameters, *(step.name for step in nest.prelude if isinstance(step, Local))}
    for piece in nest.pieces:
        for form in (*piece.faces, *piece.conditions):
            for e in (form.constant, *(c for _, c in form.terms)):
                if names(e) - known:
                    raise InconclusiveError("each coordinate is affine in the loop digits")
