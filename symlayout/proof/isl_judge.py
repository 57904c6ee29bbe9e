"""Decide with isl whether two tensors are equal.  This judge shares nothing with the normal form.

If all divisors and factors of coordinates are integers, an index map is a piecewise quasi-affine function of the output
coordinate, with the dims as parameters.  isl decides equality of such functions and finds a point where they differ
(Verdoolaege, isl: An Integer Set Library for the Polyhedral Model, 2010).  The declared maps are evaluated on isl's own
expressions, as the interpreter evaluates them on arrays.

Not supported: symbolic radices (``o // b``, ``o % n``), products of dims, and requirements with either.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symlayout.algebra.arithmetic import Arithmetic
from symlayout.algebra.facts import Dim, Facts, Requirement
from symlayout.algebra.polynomial import terms_of
from symlayout.budgets import limits
from symlayout.errors import InconclusiveError
from symlayout.proof.decide_equal import dtype_of
from symlayout.tensors.chain import Tensor
from symlayout.tensors.element_types import same_fill


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer of isl about a claim.

    Attributes
    ----------
    equal : bool or None
        Whether the sides are equal for all sizes for which both are valid; None if isl does not apply.
    dims : dict
        Values of the dims, by name, for which the sides differ; empty unless *equal* is False.
    coord : tuple of int or None
        The output coordinate at which they differ; None if the shapes differ.
    reason : str
        Why isl does not apply; empty if it does.
    """

    equal: bool | None
    dims: dict[str, int] | None = None
    coord: tuple[int, ...] | None = None
    reason: str = ""


def decide(left: Tensor, right: Tensor) -> Judgement:
    """Return whether *left* and *right* are equal wherever both are valid, if isl can decide that.

    >>> from symlayout.ops.flip import flip
    >>> from symlayout.tensors.input_tensor import tensor
    >>> x = tensor("2*h, W", name="x")
    >>> decide(flip(flip(x, 0), 0), x).equal  # doctest: +SKIP
    True
    >>> decide(flip(x, 0), x).coord is not None  # doctest: +SKIP
    True
    """
    try:
        import islpy
    except ModuleNotFoundError:
        return Judgement(None, reason="islpy is not installed")
    try:
        return _Claim(left, right, islpy).decide()
    except InconclusiveError as error:
        return Judgement(None, reason=f"isl needs that {error.claim}")
    except islpy.Error as error:
        return Judgement(None, reason=f"isl gave up: {error}")


@dataclass(frozen=True, slots=True)
class _Read:
    """A read: at the points of *where*, the element of leaf *key* at *coords*, or *fill* if *key* is None."""

    where: Any
    key: str | None
    coords: Sequence[Any] = ()
    fill: Any = None


class _Claim:
    """The claim ``left == right`` in isl: a space of output coordinates, with the dims as parameters."""

    def __init__(self, left: Tensor, right: Tensor, isl: Any) -> None:
        self.left, self.right = left, right
        self.dtype = dtype_of(left, right)
        self.space = _Space(isl, {**left.facts.dims, **right.facts.dims}, left.rank)

    def decide(self) -> Judgement:
        """Compare the ranks, the shapes, and the reads of both sides."""
        sizes = self._sizes()
        if sizes.is_empty():
            raise InconclusiveError("there are sizes for which both sides are valid")
        if self.left.rank != self.right.rank:
            return self._different(sizes, shapes=True)
        shapes = [[_IslNames(self.space, t.facts).affine(e) for e in t.extents] for t in (self.left, self.right)]
        for a, b in zip(*shapes, strict=True):
            if not (other := sizes.intersect(a.ne_set(b))).is_empty():
                return self._different(other, shapes=True)
        box = sizes
        for digit, extent in zip(self.space.digits, shapes[0], strict=True):
            box = box.intersect(_window(digit, extent))
        for a, b in itertools.product(self._reads(self.left, box), self._reads(self.right, box)):
            if not (other := self._disagreement(a, b)).is_empty():
                return self._different(other)
        return Judgement(True)

    def _sizes(self) -> Any:
        """Return the set of dims that meet their bounds and the requirements of both sides."""
        sizes = self.space.universe
        for t in (self.left, self.right):
            scope = _IslNames(self.space, t.facts)
            for dim in t.facts.dims.values():
                sizes = sizes.intersect(scope.bounds(dim))
            for requirement in t.facts.requirements:
                sizes = sizes.intersect(scope.meets(requirement))
        return sizes

    def _reads(self, t: Tensor, box: Any) -> list[_Read]:
        """Return disjoint reads of *t* that cover *box*."""
        reads: list[_Read] = []
        todo: list[tuple[Tensor, list[Any], Any]] = [(t, self.space.digits, box)]
        while todo:
            node, coords, where = todo.pop()
            if node.declared is None:
                reads.append(_Read(where, node.key, coords))
                continue
            scope = _IslNames(self.space, node.facts)
            given = [_Affine(c, scope) for c in coords]
            for case in node.declared.cases:
                part = where
                for value, extent in () if case.where is None else case.where(*given):
                    part = part.intersect(_window(scope.affine(value), scope.affine(extent)))
                if part.is_empty():
                    continue  # do not evaluate what is undefined there, such as a remainder by 0
                source = node.inputs[case.source]
                read = [scope.affine(c).gist(part) for c in case.coords(*given)]
                shape = [_IslNames(self.space, source.facts).affine(e) for e in source.extents]
                inside = part
                for c, extent in zip(read, shape, strict=True):
                    inside = inside.intersect(_window(c, extent))
                outside = part.subtract(inside)
                if case.fill is not None:
                    reads.append(_Read(outside, None, fill=case.fill.value))
                elif not outside.is_empty():
                    raise InconclusiveError(f"{node.name} reads inside its input")
                if not inside.is_empty():
                    todo.append((source, read, inside))
        return reads

    def _disagreement(self, a: _Read, b: _Read) -> Any:
        """Return the set of points at which both reads apply and differ."""
        both = a.where.intersect(b.where)
        if a.key is None and b.key is None:
            return self.space.nowhere if same_fill(a.fill, b.fill, self.dtype) else both
        if a.key != b.key:
            return both
        other = self.space.nowhere
        for x, y in zip(a.coords, b.coords, strict=True):
            other = other.union(x.ne_set(y))
        return both.intersect(other)

    def _different(self, where: Any, *, shapes: bool = False) -> Judgement:
        dims, coord = self.space.sample(where)
        return Judgement(False, dims, None if shapes else coord)


class _Space:
    """The isl space of one claim: output coordinates, with the dims as parameters."""

    def __init__(self, isl: Any, dims: Mapping[str, Dim], rank: int) -> None:
        self._isl = isl
        self._context = isl.Context()
        self._context.set_max_operations(limits.isl_operations)
        parameters = [f"n{k}" for k in range(len(dims))]  # isl may not accept the names of dims
        space = isl.Space.create_from_names(self._context, set=[f"i{k}" for k in range(rank)], params=parameters)
        self._local = isl.LocalSpace.from_space(space)
        self.universe, self.nowhere = isl.Set.universe(space), isl.Set.empty(space)
        self.dims = {name: self._variable(isl.dim_type.param, k) for k, name in enumerate(dims)}
        self.digits = [self._variable(isl.dim_type.set, k) for k in range(rank)]

    def _variable(self, kind: Any, k: int) -> Any:
        return self._isl.PwAff.from_aff(self._isl.Aff.var_on_domain(self._local, kind, k))

    def number(self, n: int) -> Any:
        """Return an isl value."""
        return self._isl.Val(n, self._context)

    def constant(self, n: int) -> Any:
        """Return the constant function *n*."""
        return self._isl.PwAff.from_aff(self._isl.Aff.val_on_domain(self._local, self.number(n)))

    def sample(self, where: Any) -> tuple[dict[str, int], tuple[int, ...]]:
        """Return the dims and the coordinate of a point of a nonempty set."""
        value, kind = where.sample_point().get_coordinate_val, self._isl.dim_type
        dims = {name: value(kind.param, k).to_python() for k, name in enumerate(self.dims)}
        return dims, tuple(value(kind.set, k).to_python() for k in range(len(self.digits)))


@dataclass(frozen=True, slots=True)
class _IslNames:
    """The symbols of one tensor as isl functions."""

    space: _Space
    facts: Facts

    def affine(self, value: Any) -> Any:
        """Return a coordinate, an extent or an int as an isl function.

        Raises
        ------
        InconclusiveError
            *value* is not quasi-affine.
        """
        if isinstance(value, _Affine):
            return value.function
        total = self.space.constant(0)
        for monomial, coefficient in terms_of(value).items():
            if len(monomial) > 1:
                raise InconclusiveError(f"{self.facts.spell(value)} is affine")
            term = self._symbol(monomial[0]) if monomial else self.space.constant(1)
            total = total.add(term.scale_val(self.space.number(coefficient)))
        return total

    def _symbol(self, name: str) -> Any:
        """Return the isl function of a dim, a quotient, a floor or a maximum."""
        if name in self.space.dims:
            return self.space.dims[name]
        if name in self.facts.quotients:  # exact wherever the requirements hold
            return self.floor(*self.facts.quotients[name])
        definition = self.facts.definitions[name]
        if definition.form == "floor":
            return self.floor(definition.left, definition.right)
        return self.affine(definition.left).max(self.affine(definition.right))

    def floor(self, numerator: Any, divisor: Any) -> Any:
        """Return ``floor(numerator / divisor)``."""
        return self.affine(numerator).scale_down_val(self._divisor(divisor)).floor()

    def remainder(self, numerator: Any, divisor: Any) -> Any:
        """Return ``numerator % divisor``."""
        return self.affine(numerator).mod_val(self._divisor(divisor))

    def _divisor(self, divisor: Any) -> Any:
        if not isinstance(divisor, int) or divisor < 1:
            raise InconclusiveError(f"the divisor {self.facts.spell(divisor)} is an integer >= 1")
        return self.space.number(divisor)

    def bounds(self, dim: Dim) -> Any:
        """Return the set on which a dim has one of its allowed values."""
        value = self.space.dims[dim.name]
        allowed = self.remainder(_Affine(value, self), dim.multiple_of).zero_set()
        if dim.min is not None:
            allowed = allowed.intersect(value.ge_set(self.space.constant(dim.min)))
        if dim.max is not None:
            allowed = allowed.intersect(value.le_set(self.space.constant(dim.max)))
        return allowed

    def meets(self, requirement: Requirement) -> Any:
        """Return the set on which a requirement holds."""
        if requirement.relation == "divides":
            return self.remainder(requirement.value, requirement.modulus).zero_set()
        value = self.affine(requirement.value)
        return value.nonneg_set() if requirement.relation == "nonnegative" else value.zero_set()


@dataclass(frozen=True, slots=True)
class _Affine(Arithmetic):
    """A coordinate with the operators that declarations use."""

    function: Any
    scope: _IslNames

    def __add__(self, other: Any) -> _Affine:
        return _Affine(self.function.add(self.scope.affine(other)), self.scope)

    __radd__ = __add__

    def __neg__(self) -> _Affine:
        return _Affine(self.function.neg(), self.scope)

    def __sub__(self, other: Any) -> _Affine:
        return _Affine(self.function.sub(self.scope.affine(other)), self.scope)

    def __rsub__(self, other: Any) -> _Affine:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> _Affine:
        if not isinstance(other, int):
            raise InconclusiveError("a coordinate is multiplied by an integer")
        return _Affine(self.function.scale_val(self.scope.space.number(other)), self.scope)

    __rmul__ = __mul__

    def __floordiv__(self, divisor: Any) -> _Affine:
        return _Affine(self.scope.floor(self, divisor), self.scope)

    def __mod__(self, divisor: Any) -> _Affine:
        return _Affine(self.scope.remainder(self, divisor), self.scope)


def _window(value: Any, extent: Any) -> Any:
    """Return the set on which ``0 <= value < extent``."""
    return value.nonneg_set().intersect(value.lt_set(extent))
