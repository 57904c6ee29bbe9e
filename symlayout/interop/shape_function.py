"""From the shapes of arrays to the shape of a result, on sizes that need not be ints.

The sizes of `torch.SymInt` and of ``jax.export`` are symbols of those libraries.  Here the dims are solved for once, as
polynomials; then only ``+ - * // %`` are applied to whatever the sizes are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symlayout.algebra.facts import Facts, Requirement
from symlayout.algebra.polynomial import Extent, Poly, coefficient_of, names_of, symbol, terms_of
from symlayout.errors import ShapeError
from symlayout.language.readable import Apply, Factor, Sum, fold_fixed
from symlayout.tensors.chain import Tensor

Size = Any  # an int, or what stands for one

_SIZE = "@"  # the first character of a name that is no dim's


@dataclass(frozen=True, slots=True)
class Demand:
    """What has to hold of the sizes: ``value == 0``, ``value >= 0`` or ``value % modulus == 0``."""

    relation: str
    value: Size
    modulus: Size
    rule: str


class ShapeFunction:
    """The shape of a tensor as a function of its inputs' shapes.

    Parameters
    ----------
    minimum, maximum : functions of two sizes
        Those of the library that the sizes are from.

    Attributes
    ----------
    free : tuple of str
        The dims that the shapes do not determine.

    Examples
    --------
    >>> from symlayout.ops.space_depth import space_to_depth
    >>> from symlayout.tensors.chain import tensor
    >>> shape = ShapeFunction(space_to_depth(tensor("N, C, H, W"), 2))
    >>> shape.of(shape.dims([(1, 3, 4, 6)]))
    (1, 12, 2, 3)
    """

    def __init__(
        self, t: Tensor, minimum: Callable[[Size, Size], Size] = min, maximum: Callable[[Size, Size], Size] = max
    ) -> None:
        self.t = t
        self._minimum, self._maximum = minimum, maximum
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
        """Find a dim from ``equation == 0``; False if there is none, or more than one."""
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
        """Return the dims, from one shape per input, in order of first use, and from what is *given*.

        Raises
        ------
        ShapeError
            ``rank`` for a shape with another number of axes, ``unbound_dim`` for one that nothing determines.
        """
        values: dict[str, Size] = dict(given or {})
        for number, (leaf, shape) in enumerate(zip(self.t.leaves(), shapes, strict=True)):
            if len(shape) != leaf.rank:
                raise ShapeError(f"array {leaf.name} has rank {len(shape)}, declared is {leaf!r}", "rank")
            values |= {_size(number, axis): n for axis, n in enumerate(shape)}
        for name, top, bottom in self._steps:
            value = self._polynomial(top, values)
            values.setdefault(name, value if bottom == 1 else value // bottom)
        if missing := [name for name in self.free if name not in values]:
            raise ShapeError(f"nothing determines {', '.join(missing)}", "unbound_dim")
        return {name: values[name] for name in self.t.facts.dims}

    def of(self, dims: Mapping[str, Size], t: Tensor | None = None) -> tuple[Size, ...]:
        """Return the shape of the tensor, or of another *t* in its dims, such as an input."""
        t = t or self.t
        return tuple(self._extent(e, t.facts, dims) for e in t.extents)

    def demands(self, dims: Mapping[str, Size], shapes: Sequence[Sequence[Size]]) -> list[Demand]:
        """Return what has to hold of the dims and of the shapes that they were taken from."""
        found = []
        for leaf, shape in zip(self.t.leaves(), shapes, strict=True):
            for axis, (size, expected) in enumerate(zip(shape, self.of(dims, leaf), strict=True)):
                rule = f"axis {axis} of {leaf.name} is {leaf.facts.spell(leaf.extents[axis])}"
                found.append(Demand("zero", size - expected, 0, rule))
        for name, dim in self.t.facts.dims.items():
            if dim.min is not None:
                found.append(Demand("nonnegative", dims[name] - dim.min, 0, f"{name} >= {dim.min}"))
            if dim.max is not None:
                found.append(Demand("nonnegative", dim.max - dims[name], 0, f"{name} <= {dim.max}"))
            if dim.multiple_of != 1:
                found.append(Demand("divides", dims[name], dim.multiple_of, f"{name} % {dim.multiple_of} == 0"))
        return found + [self._demand(r, dims) for r in self.t.facts.requirements]

    def _demand(self, r: Requirement, dims: Mapping[str, Size]) -> Demand:
        value, modulus = (self._extent(e, self.t.facts, dims) for e in (r.value, r.modulus))
        return Demand(r.relation, value, modulus, f"{r.where}: {r}")

    def _extent(self, e: Extent, facts: Facts, dims: Mapping[str, Size]) -> Size:
        return self.evaluate(fold_fixed(e, facts), dims)

    def _polynomial(self, e: Extent, values: Mapping[str, Size]) -> Size:
        return self.evaluate(Sum(tuple((c, monomial) for monomial, c in terms_of(e).items())), values)

    def evaluate(self, e: Sum, values: Mapping[str, Size]) -> Size:
        """Return a folded expression, with its names replaced by *values*."""
        total: Size = 0
        for coefficient, factors in e.terms:
            term: Size = coefficient
            for factor in factors:
                value = self._factor(factor, values)
                term = value if isinstance(term, int) and term == 1 else term * value
            total = term if isinstance(total, int) and total == 0 else total + term
        return total

    def _factor(self, factor: Factor, values: Mapping[str, Size]) -> Size:
        if not isinstance(factor, Apply):
            return values[factor]
        a, b = (self.evaluate(part, values) for part in factor.parts)
        if factor.form == "%":
            return a % b
        if factor.form in ("min", "max"):
            return (self._minimum if factor.form == "min" else self._maximum)(a, b)
        return -(-a // b) if factor.form == "ceil_div" else a // b


def _size(number: int, axis: int) -> str:
    return f"{_SIZE}{number}.{axis}"
