"""One valid use of an operation, and what becomes of it when one thing is changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tests.peers.case import Case, Entry

LEFT_OUT: Any = object()  # an attribute that is not given
FAR = 2**63


@dataclass(frozen=True, slots=True)
class Asked:
    """A case, and the kind of error that DESIGN section 6 says; several are separated by ``|``, none is a result."""

    case: Case
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Use:
    """An operation on inputs of some shapes with attributes that are valid together.

    Attributes
    ----------
    op : str
        The operation, ``framework:Name``.
    shape : tuple of int, or of such tuples
        The shape of the input; of each input for an operation of several.
    attributes : dict
        By the framework's names.
    asked : list of Asked
        What was asked so far, the use itself first.
    """

    op: str
    shape: Any
    attributes: dict[str, Any] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ask()

    def ask(self, kind: str = "", /, *, of: Any = None, known: Any = None, **changed: Any) -> Use:
        """Ask for an error of *kind*, or for a result, of inputs *of* another shape, with other attributes.

        *known* is what is known of the input's extents, if that is less than all.
        """
        given = {k: v for k, v in (self.attributes | changed).items() if v is not LEFT_OUT}
        shapes = self.shape if of is None else of
        joint = bool(shapes) and not isinstance(shapes[0], int)
        shapes = tuple(map(tuple, shapes)) if joint else (tuple(shapes),)
        entries: tuple[tuple[Entry, ...], ...] = shapes if known is None else known if joint else (tuple(known),)
        self.asked.append(Asked(Case(self.op, shapes, given, "float32", None, joint, entries), kind))
        return self

    def each(self, kind: str, name: str, *values: Any) -> Use:
        """Ask with each of the values of one attribute."""
        for value in values:
            self.ask(kind, **{name: value})
        return self

    def shapes(self, kind: str, *shapes: Any) -> Use:
        """Ask with each of some shapes."""
        for shape in shapes:
            self.ask(kind, of=shape)
        return self

    def partly(self, *known: Any) -> Use:
        """Ask for results where only so much is known of the extents, and where all of them are bounded."""
        for entries in known:
            self.ask(known=entries)
            bounded = tuple(
                (e[0], max(6, n)) if isinstance(e, tuple) and e[1] is None else e
                for e, n in zip(entries, self.shape, strict=True)
            )
            if bounded != entries:
                self.ask(known=bounded)
        return self


def not_integers(use: Use) -> Iterator[Asked]:
    """Yield the use with one integer after the other replaced by a value of another type."""
    for name, value in use.attributes.items():
        if name in ("pad_value", "constant_value", "constant_values", "value", "special_zero"):
            continue
        if (first := _first(value)) is None:
            continue
        for wrong in (1.5, float(first), "2", True):
            if not (wrong is True and name == "allowzero"):  # a flag
                changed = use.attributes | {name: _replaced(value, wrong)}
                yield Asked(replace(use.asked[0].case, attributes=changed), "attr_dtype")


def _first(value: Any) -> int | None:
    """Return the first integer in an attribute."""
    if isinstance(value, list):
        return next((n for n in map(_first, value) if n is not None), None)
    return value if type(value) is int else None


def _replaced(value: Any, wrong: Any) -> Any:
    """Return an attribute with its first integer replaced."""
    if not isinstance(value, list):
        return wrong
    at = next(k for k, entry in enumerate(value) if _first(entry) is not None)
    return [_replaced(entry, wrong) if k == at else entry for k, entry in enumerate(value)]
