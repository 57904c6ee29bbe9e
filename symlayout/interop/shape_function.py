"""Compute the shape of a result from the shapes of its inputs, where the sizes may be symbols of another library.

Such sizes are `torch.SymInt` and the symbolic dimensions of ``jax.export``.  The dims are solved for once, as
polynomials in the inputs' extents.  Then only ``+ - * // %``, minimum and maximum are applied to the sizes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from symlayout.algebra.facts import Facts, Requirement
from symlayout.algebra.polynomial import Extent, Poly, coefficient_of, names_of, symbol, terms_of
from symlayout.algebra.table import Table
from symlayout.errors import ShapeError
from symlayout.language.readable import Apply, Factor, Sum, fold_fixed
from symlayout.tensors.chain import Tensor, check_moves

Size = Any  # an int, or a symbolic integer of another library
Entry = Callable[[Table, Size], Size]

_SIZE = "@"  # the first character of the symbol of an input's extent; no dim begins with it


@dataclass(frozen=True, slots=True)
class SizeRequirement:
    """A requirement on sizes: ``value == 0``, ``value >= 0`` or ``value % modulus == 0``, by *relation*.

    *relation* is "zero", "nonnegative" or "divides"; *rule* is the requirement as text.
    """

    relation: str
    value: Size
    modulus: Size
    rule: str


class ShapeFunction:
    """The shape of a tensor as a function of its inputs' shapes.

    Parameters
    ----------
    minimum, maximum : functions of two sizes
        The minimum and maximum of the sizes' library.
    floor_div : function of two sizes
        Its division that rounds down.

    Attributes
    ----------
    free : tuple of str
        The dims that the shapes do not determine.

    Examples
    --------
    >>> from symlayout.ops.space_depth import space_to_depth
    >>> from symlayout.tensors.input_tensor import tensor
    >>> shape = ShapeFunction(space_to_depth(tensor("N, C, H, W"), 2))
    >>> shape.of(shape.dims([(1, 3, 4, 6)]))
    (1, 12, 2, 3)
    """

    def __init__(
        self,
        t: Tensor,
        minimum: Callable[[Size, Size], Size] = min,
        maximum: Callable[[Size, Size], Size] = max,
        floor_div: Callable[[Size, Size], Size] = operator.floordiv,
    ) -> None:
        check_moves("an operator of a framework", t)
        self.t = t
        self._minimum, self._maximum, self._floor_div = minimum, maximum, floor_div
        self._steps: list[tuple[str, Extent, int]] = []
        known: set[str] = set()
        waiting = []
        for number, leaf in enumerate(t.leaves()):
            for axis, e in enumerate(leaf.extents):
                top, bottom = leaf.facts.to_user(e)
                waiting.append(top - symbol(_size(number, axis)) * bottom)
        while solved := [e for e in waiting if self._solve(e, known)]:
            waiting = [e for e in waiting if e not in solved]
        self.free = tuple(name for name in t.facts.dims if name not in known)

    def _solve(self, equation: Extent, known: set[str]) -> bool:
        """Add a step that solves ``equation == 0`` for its only unknown dim; return False if it has none or several."""
        unknown = [n for n in names_of(equation) if n[0] != _SIZE and n not in known]
        if len(unknown) != 1 or not isinstance(equation, Poly) or unknown[0] not in self.t.facts.dims:
            return False
        split = coefficient_of(equation, unknown[0])
        if split is None or not isinstance(split[0], int):
            return False
        self._steps.append((unknown[0], -split[1] if split[0] > 0 else split[1], abs(split[0])))
        known.add(unknown[0])
        return True

    def dims(self, shapes: Sequence[Sequence[Size]], given: Mapping[str, Size] | None = None) -> dict[str, Size]:
        """Return the value of each dim, from the shape of each input in order of first use and the dims in *given*.

        Raises
        ------
        ShapeError
            ``rank`` if a shape has the wrong number of axes, ``unbound_dim`` if nothing determines a dim.
        """
        values: dict[str, Size] = dict(given or {})
        for number, (leaf, shape) in enumerate(zip(self.t.leaves(), shapes, strict=True)):
            if len(shape) != leaf.rank:
                raise ShapeError(f"array {leaf.name} has rank {len(shape)}, declared is {leaf!r}", "rank")
            values |= {_size(number, axis): n for axis, n in enumerate(shape)}
        for name, top, bottom in self._steps:
            value = self._polynomial(top, values)
            values.setdefault(name, value if bottom == 1 else self._floor_div(value, bottom))
        if missing := [name for name in self.free if name not in values]:
            raise ShapeError(f"nothing determines {', '.join(missing)}", "unbound_dim")
        return {name: values[name] for name in self.t.facts.dims}

    def of(self, dims: Mapping[str, Size], t: Tensor | None = None) -> tuple[Size, ...]:
        """Return the shape of the tensor, or of *t*, another tensor in the same dims such as an input."""
        t = t or self.t
        return tuple(self.extent(e, t.facts, dims) for e in t.extents)

    def requirements(self, dims: Mapping[str, Size], shapes: Sequence[Sequence[Size]]) -> list[SizeRequirement]:
        """Return the requirements on the dims, and on the shapes that the dims were solved from."""
        found = []
        for leaf, shape in zip(self.t.leaves(), shapes, strict=True):
            for axis, (size, expected) in enumerate(zip(shape, self.of(dims, leaf), strict=True)):
                rule = f"axis {axis} of {leaf.name} is {leaf.facts.spell(leaf.extents[axis])}"
                found.append(SizeRequirement("zero", size - expected, 0, rule))
        for name, dim in self.t.facts.dims.items():
            if dim.min is not None:
                found.append(SizeRequirement("nonnegative", dims[name] - dim.min, 0, f"{name} >= {dim.min}"))
            if dim.max is not None:
                found.append(SizeRequirement("nonnegative", dim.max - dims[name], 0, f"{name} <= {dim.max}"))
            if dim.multiple_of != 1:
                rule = f"{name} % {dim.multiple_of} == 0"
                found.append(SizeRequirement("divides", dims[name], dim.multiple_of, rule))
        return found + [self._requirement(r, dims) for r in self.t.facts.requirements]

    def _requirement(self, r: Requirement, dims: Mapping[str, Size]) -> SizeRequirement:
        value, modulus = (self.extent(e, self.t.facts, dims) for e in (r.value, r.modulus))
        return SizeRequirement(r.relation, value, modulus, f"{r.where}: {r}")

    def extent(self, e: Extent, facts: Facts, dims: Mapping[str, Size]) -> Size:
        """Return the value of an extent that is known in terms of *facts*."""
        return self.evaluate(fold_fixed(e, facts), dims)

    def _polynomial(self, e: Extent, values: Mapping[str, Size]) -> Size:
        return self.evaluate(Sum(tuple((c, monomial) for monomial, c in terms_of(e).items())), values)

    def evaluate(self, e: Sum, values: Mapping[str, Size], entry: Entry = Table.__getitem__) -> Size:
        """Return the value of a folded expression where its names have *values*; *entry* reads a table."""
        total: Size = 0
        for coefficient, factors in e.terms:
            term: Size = coefficient
            for factor in factors:
                value = self._factor(factor, values, entry)
                term = value if isinstance(term, int) and term == 1 else term * value
            total = term if isinstance(total, int) and total == 0 else total + term
        return total

    def _factor(self, factor: Factor, values: Mapping[str, Size], entry: Entry) -> Size:
        if not isinstance(factor, Apply):
            return values[factor]
        parts = [self.evaluate(part, values, entry) for part in factor.parts]
        if factor.table is not None:
            return entry(factor.table, parts[0])
        if factor.form in ("min", "max"):
            return reduce(self._minimum if factor.form == "min" else self._maximum, parts)
        a, b = parts
        if factor.form == "%":
            return a % b
        return -self._floor_div(-a, b) if factor.form == "ceil_div" else self._floor_div(a, b)


def _size(number: int, axis: int) -> str:
    """Return the symbol of the extent of input *number* on *axis*."""
    return f"{_SIZE}{number}.{axis}"
