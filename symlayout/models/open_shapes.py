"""What is known of results whose shapes depend on data: the rank, other extents, bounds, and what is demanded.

A declaration is applied with new dims for elements that are read at run time.  It does not say what the result is, but
what it says of extents without these dims holds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from symlayout.algebra.facts import Facts, Requirement
from symlayout.algebra.polynomial import Extent, Poly, names_of
from symlayout.deadlines import in_question
from symlayout.errors import LEFT_OUT, SymlayoutError
from symlayout.language.sympy_bridge import fresh, to_sympy
from symlayout.models.arithmetic.shape_arrays import gather, moved
from symlayout.models.opaque import Demand, OutputType, UnknownExtent
from symlayout.tensors.chain import Tensor
from symlayout.tensors.requirements import bounds

_MOST = 64  # elements of a value that are looked at one by one
_MOVING = frozenset(("Concat", "Unsqueeze", "Squeeze", "Reshape", "Slice", "Gather", "Identity", "Cast"))


@dataclass(frozen=True, slots=True)
class OpenShapes:
    """The types of results, and what their operation demands of the sizes."""

    types: tuple[OutputType | None, ...]
    demands: tuple[Demand, ...]

    def merged(self, others: Sequence[OutputType | None]) -> list[OutputType | None]:
        """Return what is known by this and by *others*: extents that one of them does not know are the other's."""
        own = (*self.types, *[None] * len(others))
        return [_merged(mine, other) for mine, other in zip(own, others, strict=False)]


def _merged(mine: OutputType | None, other: OutputType | None) -> OutputType | None:
    if mine is None or mine.shape is None or other is None:
        return other
    dtype = other.dtype if mine.dtype is None else mine.dtype
    if other.shape is None or len(other.shape) != len(mine.shape):
        return OutputType(dtype, mine.shape)
    return OutputType(dtype, tuple(map(_known_best, mine.shape, other.shape)))


def _known_best(mine: Any, other: Any) -> Any:
    if not isinstance(mine, UnknownExtent) or not isinstance(other, UnknownExtent):
        return other if isinstance(mine, UnknownExtent) else mine
    return mine if other.most is None or mine.most is not None else other


def open_shapes(results: Sequence[Any], inputs: Sequence[Tensor], given: Collection[str]) -> OpenShapes:
    """Return what the results say that a declaration made; only the dims *given* have a meaning."""
    seen: dict[Any, UnknownExtent] = {}
    types = tuple(
        _type_of(t, inputs, given, seen, number) if isinstance(t, Tensor) else None for number, t in enumerate(results)
    )
    stated = [r for x in inputs for r in x.facts.requirements]
    demands: dict[Demand, None] = {}
    for t in results:
        for r in t.facts.requirements if isinstance(t, Tensor) else ():
            if not any(r.states(o) for o in stated) and (made := _demand(r, t.facts, given)) is not None:
                demands[made] = None
    return OpenShapes(types, tuple(demands))


def _demand(r: Requirement, facts: Facts, given: Collection[str]) -> Demand | None:
    value, modulus = (to_sympy(e, facts) for e in (r.value, r.modulus))
    return Demand(r.kind, r.relation, value, modulus) if _is_of((value, modulus), given) else None


def _is_of(values: Sequence[Any], given: Collection[str]) -> bool:
    return all(s.name in given for e in values for s in getattr(e, "free_symbols", ()))


def _type_of(
    t: Tensor, inputs: Sequence[Tensor], given: Collection[str], seen: dict[Any, UnknownExtent], number: int
) -> OutputType:
    """Return what is known of output *number*; an extent that was *seen* in another output is the same one here."""
    shape: list[Any] = []
    for k, e in enumerate(t.shape):
        if not _is_of((e,), given) and e not in seen:
            known = in_question(partial(_bounded, t, k, inputs, given), UnknownExtent)
            seen[e] = replace(known, place=(number, k))
        shape.append(seen.get(e, e))
    return OutputType(t.dtype, tuple(shape))


def _bounded(t: Tensor, axis: int, inputs: Sequence[Tensor], given: Collection[str]) -> UnknownExtent:
    """Return an extent that depends on data, between bounds that the facts prove within the goals of reading."""
    e, facts = t.extents[axis], t.facts
    if any(r.kind == LEFT_OUT and not _is_of((to_sympy(r.value, facts),), given) for r in facts.requirements):
        return UnknownExtent()  # what is not known may be what is left out
    ((low, high),) = bounds((e,), facts)
    most: tuple[Any, ...] | None = None if not isinstance(high, int) else (high,)
    uppers = [fact + e for fact in facts.known] if isinstance(e, Poly) and len(e.terms) == 1 else []
    own: list[Extent] = [x.extents[axis] for x in inputs if x.rank == t.rank and axis < x.rank]
    known = facts.low.keys() | facts.solved.keys()  # a result does not have the dims of operands that it leaves out
    for upper in [u for u in [*own, *uppers] if names_of(u) <= known] if most is None else ():
        written = to_sympy(upper, facts)
        if _is_of((written,), given) and facts.nonnegative(facts.reduce(upper) - e):
            most = (written,)
            break
    return UnknownExtent(max(low or 0, 0), most)


class ElementsReadLater:
    """The elements of small tensors, of which some are read at run time."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Tensor, np.ndarray[Any, Any]]] = {}  # by id; None is not known

    def of(self, t: Tensor) -> np.ndarray[Any, Any] | None:
        """Return the elements of a small tensor: a new dim for each integer that is not known, None for a float."""
        found = self._seen(t)
        if found is None or t.dtype is None or t.dtype.kind not in "iuf":
            return None
        made = np.empty(found.shape, object)
        for place, n in np.ndenumerate(found):
            made[place] = fresh("element", None) if n is None and t.dtype.kind != "f" else n
        return made

    def _seen(self, value: Any) -> np.ndarray[Any, Any] | None:
        if isinstance(value, Tensor):
            if id(value) in self._known:
                return self._known[id(value)][1]
            if value.values is None:
                shape = value.shape
                if not all(isinstance(n, int) for n in shape) or prod(shape) > _MOST:
                    return None
                return np.full(shape, None, object)
            value = value.values
        if not isinstance(value, np.ndarray) or value.size > _MOST:
            return None
        return value.astype(object)

    def note(self, op: str, inputs: Sequence[Any], attributes: Mapping[str, Any], results: Sequence[Any]) -> None:
        """Note which elements of the result of a node are known, if it moves them."""
        if op not in _MOVING or len(results) != 1 or not isinstance(t := results[0], Tensor) or t.values is not None:
            return
        count = len(inputs) if op == "Concat" else 1
        data = [self._seen(v) for v in inputs[:count]]
        if not data or any(a is None for a in data) or not any(n is not None for a in data for n in a.reshape(-1)):  # type: ignore[union-attr]
            return
        if op == "Cast":
            source = inputs[0].dtype
            if source is None or t.dtype is None or (source.kind == "f") != (t.dtype.kind == "f"):
                return
            made = data[0]
        else:
            rest = [v.values if isinstance(v, Tensor) else v for v in inputs[count:]]
            if any(v is None for v in rest) or data[0] is None:
                return
            try:
                if op == "Gather":
                    made = gather(data[0], np.asarray(rest[0]), **attributes)
                else:
                    made = moved(f"onnx:{op}", [*data, *rest], attributes, op)[0]
            except SymlayoutError:  # the result is a tensor, whose elements are not looked at
                return
        if made is not None:
            self._known[id(t)] = t, made
