"""Operations without a declaration: a deterministic function of whole operands, with a shape as far as it is known."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symlayout.algebra.facts import Dim
from symlayout.algebra.polynomial import Extent, product
from symlayout.language.sympy_bridge import symbol_of
from symlayout.models.model import TENSOR, Unshaped
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import UNKNOWN_TYPE, compute, constant
from symlayout.tensors.declaration import Body, Operand

_UNIQUE = itertools.count()
_NOTHING = np.zeros(0, np.uint8)  # what an operation without operands reads


@dataclass(frozen=True, slots=True)
class SameAs:
    """The extent of an axis of an operand."""

    operand: int
    axis: int


@dataclass(frozen=True, slots=True)
class UnknownExtent:
    """An extent that depends on data.

    Attributes
    ----------
    least : int
        A lower bound.
    most : tuple of int, expression and SameAs, or None
        The factors of an upper bound; None if there is none.
    place : tuple of int or None
        The number of an output, and an axis, that has the same extent; None if no other one is known to.
    """

    least: int = 0
    most: tuple[Any, ...] | None = None
    place: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Demand:
    """What an operation demands of the sizes: a requirement, with expressions in dims."""

    kind: str
    relation: str
    value: Any
    modulus: Any

    def ask(self, operand: Operand) -> None:
        """Require it."""
        e = operand.extent(self.value)
        if self.relation == "divides":
            operand.divide(e, operand.extent(self.modulus), self.kind)
        elif self.relation == "zero":
            operand.require_equal(e, 0, self.kind)
        else:
            operand.require(e, self.kind)


Entry = Any  # int, an expression in dims, `SameAs` or `UnknownExtent`


@dataclass(frozen=True, slots=True)
class OutputType:
    """What is known of one output.

    Attributes
    ----------
    dtype : numpy.dtype or None
        Its element type; None if that is not known.
    shape : tuple or None
        An entry for each axis; None if the rank is not known.
    kind : str
        What it is: see `Unshaped`.
    """

    dtype: Any
    shape: tuple[Entry, ...] | None
    kind: str = TENSOR


@dataclass(frozen=True, slots=True)
class ResultShape:
    """The shape of an output as a function of the operands.

    Attributes
    ----------
    entries : tuple
        One for each axis.
    stems : tuple of str
        For each output what the names of dims that depend on data begin with.
    identities : tuple of str
        For each output what tells them from dims of other values with the same name.
    number : int
        The number of the output.
    demands : tuple of Demand
        What the operation requires of the sizes.
    """

    entries: tuple[Entry, ...]
    stems: tuple[str, ...]
    identities: tuple[str, ...]
    number: int
    demands: tuple[Demand, ...] = ()

    def __call__(self, operand: Operand, views: Sequence[Tensor]) -> list[Extent]:
        """Return the extents."""
        for demand in self.demands:
            demand.ask(operand)
        return [self._extent(operand, entry, axis) for axis, entry in enumerate(self.entries)]

    def _extent(self, operand: Operand, entry: Entry, axis: int = 0) -> Extent:
        if isinstance(entry, SameAs):
            return operand.shapes[entry.operand][entry.axis]
        if not isinstance(entry, UnknownExtent):
            e = operand.extent(entry, "extent of the result")
            operand.require(e, "infeasible", "extent {} of axis {} of the result is negative", e, axis)
            return e
        most = None if entry.most is None else product([self._extent(operand, factor) for factor in entry.most])
        if most == entry.least:
            return most
        # The bound is a fact, not part of the dim: it may be a number after dims are bound, and the dim stays the same.
        number, own = (self.number, axis) if entry.place is None else entry.place
        e = operand.extent(symbol_of(Dim(f"{self.stems[number]}.{own}", entry.least, process=self.identities[number])))
        if most is not None:
            operand.assume(most - e)
        return e


def opaque(
    title: str,
    operands: Sequence[Tensor | None],
    attributes: tuple[tuple[str, Any], ...],
    outputs: Sequence[OutputType | None],
    *,
    stem: str,
    identity: str,
    random: bool = False,
    total: bool = False,
    demands: tuple[Demand, ...] = (),
) -> list[Tensor | Unshaped | None]:
    """Return the outputs of an operation that is known by its name only.

    Parameters
    ----------
    operands : sequence of Tensor or None
        None is an input that is left out.
    attributes : tuple of pairs
        Whatever tells the operation from others of the same name; compared for equality.
    outputs : sequence of OutputType or None
        None is an output that nobody reads.
    stem, identity : str
        Name the dims that depend on data: two values may share an identity only if they are equal.
    random : bool
        Whether two evaluations may differ.
    total : bool
        Whether it takes all elements.
    demands : tuple of Demand
        What it requires of the sizes.
    """
    present = tuple(x is not None for x in operands)
    views = [x for x in operands if x is not None] or [constant(_NOTHING, "nothing")]
    place = list(itertools.accumulate(present, initial=0))
    results: list[Tensor | Unshaped | None] = []
    stems = tuple(f"{stem}_{k}" if k else stem for k in range(len(outputs)))
    own = f".random.{next(_UNIQUE)}" if random else ""
    identities = tuple(f"{identity}.{k}{own}" for k in range(len(outputs)))
    for number, output in enumerate(outputs):
        if output is None:
            results.append(None)
            continue
        kept = (*attributes, ("operands", present), ("output", number))
        body = Body(title, None, kept, over=True, random=random, total=total)
        shape = output.shape or ()
        entries = tuple(_in_views(entry, place) for entry in shape)
        dtype = UNKNOWN_TYPE if output.dtype is None else output.dtype
        result = ResultShape(entries, stems, identities, number, demands)
        made = compute(body, views, batch=0, result=result, dtype=dtype)
        results.append(made if output.shape is not None else Unshaped(made, output.kind))
    return results


def _in_views(entry: Entry, place: Sequence[int]) -> Entry:
    """Return an entry with the numbers of operands counted without those that are left out."""
    if isinstance(entry, SameAs):
        return SameAs(place[entry.operand], entry.axis)
    if isinstance(entry, UnknownExtent) and entry.most is not None:
        return replace(entry, most=tuple(_in_views(factor, place) for factor in entry.most))
    return entry


@dataclass(frozen=True, slots=True)
class DimPlace:
    """Where an operand's shape shows a dim: an axis with extent ``scale * dim + shift``."""

    dim: Any
    operand: int
    axis: int
    scale: int
    shift: int


def numbers_of_dims(values: np.ndarray[Any, Any], views: Sequence[Tensor], places: tuple[DimPlace, ...]) -> Tensor:
    """Return an array of expressions in dims as a tensor that is computed from the shapes of tensors.

    What dims are called has no meaning: the function has names of its own for them.
    """
    names = {p.dim: symbol_of(Dim(f"extent_{k}")) for k, p in enumerate(places)}
    attributes = (
        ("values", tuple(e if isinstance(e, int) else e.xreplace(names) for e in values.reshape(-1))),
        ("shape", values.shape),
        ("places", tuple(replace(p, dim=names[p.dim]) for p in places)),
    )
    body = Body("dims", evaluate_dims, attributes, over=True)
    return compute(body, views, batch=0, result=values.shape, dtype=np.int64)


def evaluate_dims(
    *arrays: np.ndarray[Any, Any],
    values: tuple[Any, ...],
    shape: tuple[int, ...],
    places: tuple[DimPlace, ...],
    axes: tuple[int, ...] = (),
) -> np.ndarray[Any, Any]:
    """Return the numbers of expressions, with the dims read off the shapes of *arrays*."""
    known = {p.dim: (arrays[p.operand].shape[p.axis] - p.shift) // p.scale for p in places}
    found = [e if isinstance(e, int) else int(e.subs(known)) for e in values]
    return np.array(found, np.int64).reshape(shape)
