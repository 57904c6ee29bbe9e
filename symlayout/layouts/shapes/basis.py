"""Strides that step through coordinates: the scaled basis elements of CuTe, ``E(0)`` and multiples of them.

A layout whose strides are such has coordinates as its values.  In the algebra a basis element is a symbol of its own:
an equation of layouts holds for it exactly if it holds for each coordinate by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, Poly, collapse, names_of, symbol
from symlayout.errors import ShapeError, shown
from symlayout.language import sympy_bridge

SIGN = "@"
"""What the names of basis elements begin with: no dim has such a name."""

Path = tuple[int, ...]


class E:
    """A step of one along a coordinate, as a stride; sums and multiples of such steps.

    ``E(1)`` is a step of coordinate 1; ``E(1, 0)`` one of coordinate 0 of a tuple that is coordinate 1.  A layout
    prints them as CuTe does, ``1@1`` and ``1@0@1``.

    Attributes
    ----------
    terms : mapping
        The factor of each basis element, by its path: a number or an expression.

    Raises
    ------
    ShapeError
        ``rank`` if a path is empty, or has a number that is negative or no integer.

    References
    ----------
    CuTe: https://docs.nvidia.com/cutlass/latest/media/docs/cpp/cute/0z_tma_tensors.html

    Examples
    --------
    >>> import symlayout as sl
    >>> a = sl.layout((4, 8), (E(0), E(1) * 2))
    >>> a, a(3, 5), a.coshape
    ((4,8):(1@0,2@1), (3, 10), (4, 15))
    """

    __slots__ = ("_terms",)

    def __init__(self, *path: int) -> None:
        if not path or any(type(k) is not int or k < 0 for k in path):
            raise ShapeError(f"E{shown(path)} is no place of a coordinate", "rank")
        self._terms: Mapping[Path, Any] = {path: 1}

    @classmethod
    def _of(cls, terms: Mapping[Path, Any]) -> E:
        made = cls.__new__(cls)
        made._terms = {path: factor for path, factor in sorted(terms.items()) if factor != 0}
        return made

    @property
    def terms(self) -> Mapping[Path, Any]:
        """The factor of each basis element: a number or an expression."""
        return self._terms

    def __mul__(self, factor: Any) -> E:
        if isinstance(factor, E):
            return NotImplemented
        return E._of({path: own * factor for path, own in self._terms.items()})

    __rmul__ = __mul__

    def __add__(self, other: Any) -> E:
        if not isinstance(other, E):
            return NotImplemented
        paths = {*self._terms, *other._terms}
        return E._of({path: self._terms.get(path, 0) + other._terms.get(path, 0) for path in paths})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, E) and self._terms == other._terms

    def __hash__(self) -> int:
        return hash(tuple(self._terms.items()))

    def __repr__(self) -> str:
        parts = (f"E({', '.join(map(str, p))})" + ("" if f == 1 else f"*({f})") for p, f in self._terms.items())
        return " + ".join(parts) or "0*E(0)"

    def __reduce__(self) -> tuple[Any, ...]:
        return from_terms, (dict(self._terms),)


def from_terms(terms: Mapping[Path, Any]) -> E:
    """Return the sum of basis elements times their factors."""
    return E._of(terms)


def to_extent(e: E, facts: Facts) -> Extent:
    """Return the sum of basis elements in the symbols of *facts*, each element as a symbol."""
    total: Extent = 0
    for path, factor in e.terms.items():
        total = total + sympy_bridge.to_extent(factor, facts, "stride") * element(path)
    return total


def element(path: Path) -> Extent:
    """Return a basis element as a symbol."""
    return symbol(SIGN + ".".join(map(str, path)))


def is_based(e: Extent) -> bool:
    """Return whether an extent mentions a basis element."""
    return isinstance(e, Poly) and any(name.startswith(SIGN) for name in names_of(e))


def parts(e: Extent) -> dict[Path, Extent]:
    """Return the factor of each basis element; an extent without them has none, and is 0.

    Raises
    ------
    ShapeError
        ``attr_dtype`` for a number beside basis elements.
    """
    found: dict[Path, dict[tuple[str, ...], int]] = {}
    for monomial, number in e.terms.items() if isinstance(e, Poly) else {(): e}.items() if e else ():
        bases = [name for name in monomial if name.startswith(SIGN)]
        if len(bases) != 1:
            raise ShapeError(f"{e} is a sum of coordinates and numbers", "attr_dtype")
        path = tuple(map(int, bases[0][len(SIGN) :].split(".")))
        found.setdefault(path, {})[tuple(name for name in monomial if name != bases[0])] = number
    return {path: collapse(terms) for path, terms in sorted(found.items())}


def nested(values: Mapping[Path, Any], paths: Iterable[Path]) -> Any:
    """Return values as a nested tuple, each at its path; 0 at the other *paths* and where no path leads.

    Raises
    ------
    ShapeError
        ``rank`` if a path ends where another one goes on.
    """
    known = sorted({*paths, *values})
    if () in known:
        if len(known) > 1:
            raise ShapeError("one stride steps through a coordinate that another one takes apart", "rank")
        return values.get((), 0)
    heads = range(1 + max((path[0] for path in known), default=-1))
    found = []
    for head in heads:
        inside = {path[1:]: value for path, value in values.items() if path[0] == head}
        found.append(nested(inside, [path[1:] for path in known if path[0] == head] or [()]))
    return tuple(found)
