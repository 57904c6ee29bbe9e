"""Invert a tensor's map, and prove in which direction the inverse holds.

In digit form a map has two faces: the output coordinate and the input coordinate, each affine in
the digits.  The inverse reads them the other way round: the digits are the mixed-radix digits of
the input coordinate, and the output coordinate follows from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from symlayout.declare import Declared, Fill, Operand, index_map
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.facts import Facts
from symlayout.normalise import Read, normalise
from symlayout.ops.reshape import linear
from symlayout.polynomial import Extent, Poly, coefficient_of, exact_quotient, names_of
from symlayout.prove import Proof, Verdict, prove_equal
from symlayout.refine import Box, refine
from symlayout.tensor import Tensor, apply


@dataclass(frozen=True)
class Inverse:
    """A function from tensors of the output's shape to the input, with what was proved of it.

    Attributes
    ----------
    left : Proof
        Of ``inverse(f(x)) == x`` for the tensor's own input *x*.
    right : Proof
        Of ``f(inverse(z)) == z`` for any *z* of the output's shape.
    """

    tensor: Tensor
    left: Proof
    right: Proof
    _faces: _Faces

    @property
    def holds(self) -> str:
        """``"both"``, ``"left"`` or ``"right"``: the round trips that are the identity."""
        sides = [name for name in ("left", "right") if getattr(self, name).verdict is Verdict.PROVED]
        return "both" if len(sides) == 2 else sides[0]

    def __call__(self, z: Tensor) -> Tensor:
        """Return the inverse applied to *z*, whose shape must be the tensor's."""
        return self._faces.invert(z)

    def explain(self) -> str:
        """Return both round trips with their derivations."""
        return f"inverse(f(x)) == x\n{self.left.explain()}\n\nf(inverse(z)) == z\n{self.right.explain()}"

    def __repr__(self) -> str:
        return f"Inverse(of {self.tensor!r}: holds {self.holds})"


def inverse(t: Tensor) -> Inverse:
    """Return the inverse of *t* as a function, with its round trips decided.

    A map that drops elements (a crop) has an inverse in one direction only, and so has one that adds
    some (a pad): the result says which.  Elements that the map does not determine become zero.

    Raises
    ------
    InconclusiveError
        The map is not a box of digits that each occur once on both sides, or neither round trip is
        proved: nothing unproved is returned.

    Examples
    --------
    >>> from symlayout.ops.pad import pad
    >>> from symlayout.tensor import tensor
    >>> x = tensor("N", name="x")
    >>> inverse(pad(x, 1)).holds
    'left'
    """
    leaves = t.leaves()
    if len(leaves) != 1:
        raise InconclusiveError(f"{t!r} has an inverse: it reads {len(leaves)} inputs")
    faces = _faces(t, leaves[0])
    z = _like(t)
    left = prove_equal(faces.invert(t), leaves[0])
    right = prove_equal(t.replace({leaves[0].key: faces.invert(z)}), z)
    if Verdict.PROVED not in (left.verdict, right.verdict):
        raise InconclusiveError(f"{t!r} has an inverse: neither round trip is proved", [str(left), str(right)])
    return Inverse(t, left, right, faces)


def _faces(t: Tensor, leaf: Tensor) -> _Faces:
    """Return the faces by axes of the input, or else by the row-major number of its elements."""
    reads = normalise(t)
    if len(reads) != 1 or reads[0].leaf is not leaf:
        raise InconclusiveError(f"{t!r} has an inverse: it reads {len(reads)} pieces")

    def by_axes(box: Box, read: Read) -> list[Extent]:
        return [*box.coords, *read.coords]

    def by_number(box: Box, read: Read) -> list[Extent]:
        return [*box.coords, _number(read, leaf)]

    try:
        box, read = refine(t, reads[0].path, by_axes)
        return _Faces(t, leaf, box, read.facts, read.coords)
    except InconclusiveError:
        box, read = refine(t, reads[0].path, by_number)
        return _Faces(t, leaf, box, read.facts, None, _number(read, leaf))


def _number(read: Read, leaf: Tensor) -> Extent:
    return read.facts.reduce(linear(read.coords, [read.facts.reduce(e) for e in leaf.extents]))


def _like(t: Tensor) -> Tensor:
    """Return a leaf of the shape of *t*."""
    return Tensor("z", t.dtype, t.extents, t.facts, key="z")


@dataclass(frozen=True, slots=True)
class _Digit:
    """``(number - shift) // step % extent``, where the number is the input's coordinate on *axis*.

    The leading digit of a number needs no ``%``.  A falling digit counts from its end.
    """

    axis: int
    shift: Extent
    step: Extent
    extent: Extent
    leading: bool
    falling: bool

    @property
    def counts(self) -> bool:
        """Whether the digit's extent matters."""
        return self.falling or not self.leading


class _Faces:
    """The two faces of a map over one box of digits.

    The input's face is its coordinate, or, where reshapes mix axes, the row-major number of it.
    """

    def __init__(
        self,
        t: Tensor,
        leaf: Tensor,
        box: Box,
        facts: Facts,
        coords: Sequence[Extent] | None,
        number: Extent = 0,
    ) -> None:
        self.t, self.leaf, self.box, self.facts = t, leaf, box, facts
        self.by_number = coords is None
        self.digits: dict[str, _Digit] = {}
        for axis, e in enumerate([number] if coords is None else coords):
            self._read_axis(axis, facts.reduce(e))
        missing = [d for d in box.digits() if d not in self.digits]
        if missing:
            raise InconclusiveError(f"{t!r} is injective: what it reads does not depend on output digit {missing[0]}")

    def _read_axis(self, axis: int, e: Extent) -> None:
        """Note the digits of one input coordinate; they must be those of a mixed-radix number."""
        facts = self.facts
        steps: list[tuple[str, Extent, bool]] = []
        shift = e
        for name in sorted(n for n in names_of(e) if n in self.box.extents):
            split = coefficient_of(shift, name) if isinstance(shift, Poly) else None
            if split is None or name in self.digits or not facts.sign(split[0]):
                raise self._not_a_box(axis)
            falling = facts.sign(split[0]) < 0
            steps.append((name, -split[0] if falling else split[0], falling))
            shift = split[1]
        if any(n in facts.floors and n not in facts.definitions for n in names_of(shift)):
            raise self._not_a_box(axis)
        for name, step, falling in steps:
            if falling:
                shift = shift - step * (self.box.extents[name] - 1)
        # least significant first: each step divides the next, and is the span of those below it
        ordered = sorted(steps, key=lambda s: sum(exact_quotient(s[1], other[1]) is not None for other in steps))
        span: Extent = 1
        for k, (name, step, falling) in enumerate(ordered):
            extent = self.box.extents[name]
            leading = k == len(ordered) - 1
            if facts.reduce(step - span) != 0:
                raise self._not_a_box(axis)
            self.digits[name] = _Digit(axis, shift, step, extent, leading, falling)
            span = step * extent

    def _not_a_box(self, axis: int) -> InconclusiveError:
        return InconclusiveError(
            f"{self.t!r} reads axis {axis} of its input by digits that each occur once, without gaps"
        )

    def invert(self, z: Tensor) -> Tensor:
        """Return the input that *z* came from, as a tensor."""
        return apply(self._declare, (z,), (), {})

    @property
    def _declare(self) -> Any:
        def inverse(z: Operand) -> Declared:
            """Read the output face from the input face."""
            if z.rank != self.t.rank:
                raise ShapeError(f"inverse: rank {z.rank}, expected {self.t.rank}", "rank")
            for axis, (given, e) in enumerate(zip(z.shape, self.t.extents, strict=True)):
                expected = z.translate(e, self.t.facts)
                rule = "axis {} has extent {}, expected {}"
                z.require_equal(given, expected, "size_mismatch", rule, axis, given, expected)
            translated = _Translated(z, self.facts)
            digits = {
                name: (d, translated(d.shift), translated(d.step), translated(d.extent) if d.counts else 0)
                for name, d in self.digits.items()
            }
            faces = [_Affine(e, list(digits), translated) for e in self.box.coords]

            domain = [z.translate(e, self.leaf.facts) for e in self.leaf.extents]

            def coords(*i: Any) -> list[Any]:
                numbers = [linear(i, domain)] if self.by_number else i
                values = {name: _value(numbers, *parts) for name, parts in digits.items()}
                return [face(values) for face in faces]

            return index_map(domain, coords, fill=Fill(0))

        return inverse


def _value(numbers: Sequence[Any], d: _Digit, shift: Extent, step: Extent, extent: Extent) -> Any:
    """Return a digit's value from the numbers that the input's face consists of."""
    number = (numbers[d.axis] - shift) // step
    if not d.leading:
        number = number % extent
    return extent - 1 - number if d.falling else number


class _Translated:
    """Extents of the map's system in the symbols of the operand's."""

    def __init__(self, z: Operand, facts: Facts) -> None:
        self._z, self._facts = z, facts

    def __call__(self, e: Extent) -> Extent:
        return self._z.translate(self._facts.reduce(e), self._facts)


class _Affine:
    """An output coordinate, affine in the digits, with translated coefficients."""

    def __init__(self, e: Extent, names: list[str], translated: _Translated) -> None:
        self.terms: list[tuple[str, Extent]] = []
        for name in names:
            split = coefficient_of(e, name) if isinstance(e, Poly) else None
            if split is not None and split[0] != 0:
                self.terms.append((name, translated(split[0])))
                e = split[1]
        self.constant = translated(e)

    def __call__(self, values: dict[str, Any]) -> Any:
        total: Any = self.constant
        for name, coefficient in self.terms:
            total = values[name] * coefficient + total
        return total
