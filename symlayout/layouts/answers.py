"""Answers about a layout that may depend on its dims: one number, or a number for each of several conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, names_of, symbol
from symlayout.errors import ShapeError, shown
from symlayout.language import sympy_bridge
from symlayout.language.sympy_conditions import Conjunction, number_at, separated
from symlayout.tensors.requirements import requirements

SIZE = "layout"
"""The step that requires that each size of a layout is at least 1."""
_MOST_MINIMIZED = 8  # a list of more requirements is shown as it is: to find which of them follow takes long


def relations(facts: Facts) -> tuple[Any, ...]:
    """Return the requirements as SymPy relations, without those that only say that a size is at least 1."""
    stated = facts.requirements
    kept = (r for r in (requirements(facts) if len(stated) <= _MOST_MINIMIZED else stated) if r.where != SIZE)
    return tuple(sympy_bridge.to_relation(r, facts) for r in kept)


class Answer(Mapping[Any, Any]):
    """A number with its conditions: a mapping from conditions, which exclude each other, to numbers.

    An answer that has one number for all sizes equals that number.

    Attributes
    ----------
    value : int, expression or None
        The number, if it is the same for all sizes.
    requires : tuple of conditions
        What the layout itself demands of its dims.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.bank_conflicts("32:2", element=4) == 2
    True
    >>> found = sl.bank_conflicts("(8,4):(1,8*k)", element=4)
    >>> found
    1 if Eq(k, 0) | Eq(Mod(k, 2), 1)
    2 if Eq(Mod(k, 4), 2)
    4 if Ne(k, 0) & Eq(Mod(k, 4), 0)
    >>> found.at({"k": 8}), found.most
    (4, 4)
    """

    __slots__ = ("_cases", "_conditions", "_facts", "requires")

    def __init__(self, cases: Sequence[tuple[Conjunction, Any]], facts: Facts) -> None:
        self._cases, self._facts = tuple(cases), facts
        self._conditions: dict[Any, Any] | None = None
        self.requires = tuple(sympy_bridge.to_relation(r, facts) for r in facts.requirements)

    def _by_condition(self) -> dict[Any, Any]:
        if self._conditions is None:
            self._conditions = separated(self._cases, self._facts)
        return self._conditions

    @property
    def value(self) -> Any:
        """The number, if it is the same for all sizes; None otherwise."""
        values = {value for _, value in self._cases}
        return values.pop() if len(values) == 1 else None

    @property
    def most(self) -> Any:
        """The largest of the numbers."""
        return max(value for _, value in self._cases)

    @property
    def least(self) -> Any:
        """The smallest of the numbers."""
        return min(value for _, value in self._cases)

    def at(self, dims: Mapping[Any, int]) -> Any:
        """Return the number where dims have the given values.

        Raises
        ------
        ShapeError
            ``unbound_dim`` if the answer depends on another dim; ``infeasible`` if no case holds there, or a
            quotient that the layout has is not an integer.
        """
        for name, value in ((str(dim), value) for dim, value in dims.items()):
            if (known := self._facts.dims.get(name)) is not None and not known.allows(value):
                raise ShapeError(f"the dim {name} cannot be {value}", "infeasible")
        names = {name for own, _ in self._cases for r in own for name in names_of(r.value)}
        values = {name: self._number(symbol(name), dims) for name in names}
        for own, value in self._cases:
            if all(r.holds(values) for r in own):
                return value if isinstance(value, int) else number_at(value, dims)
        raise ShapeError(f"no case of the answer holds at {shown(dict(dims))}", "infeasible")

    def _number(self, e: Extent, dims: Mapping[Any, int]) -> int:
        return number_at(sympy_bridge.to_sympy(e, self._facts), dims)

    def __getitem__(self, condition: Any) -> Any:
        return self._by_condition()[condition]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._by_condition())

    def __len__(self) -> int:
        return len(self._by_condition())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Mapping):
            return self._by_condition() == dict(other)
        return self.value is not None and bool(self.value == other)

    def __hash__(self) -> int:
        value = self.value
        return hash(frozenset(self._by_condition().items()) if value is None else value)

    def __index__(self) -> int:
        value = self.value
        if not isinstance(value, int):
            raise TypeError(f"the answer depends on dims:\n{self}")
        return value

    __int__ = __index__

    def __repr__(self) -> str:
        value = self.value
        if value is not None:
            return str(value)
        return "\n".join(f"{value} if {condition}" for condition, value in self._by_condition().items())
