"""How the shapes of two layouts compare, by CuTe's names: for all sizes, or under a condition on them.

References
----------
CuTe: https://docs.nvidia.com/cutlass/latest/media/docs/cpp/cute/02_layout_algebra.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, product
from symlayout.errors import ShapeError
from symlayout.language.sympy_conditions import conjunction
from symlayout.layouts.answers import relations
from symlayout.layouts.nested import Nested, flat, profile
from symlayout.layouts.strided_layout import Layout, layout

KIND = "size_mismatch"
"""The kind of a condition that sizes break."""

Demand = Callable[[Facts, Extent, Nested], None]


def congruent(a: Any, b: Any) -> bool:
    """Return whether two shapes are nested alike.

    Parameters
    ----------
    a, b : int, dim, expression, nested tuple of them, text, or Layout
        The shapes; of a layout, its shape.

    Raises
    ------
    FormatError
        A text is not a shape.

    References
    ----------
    CuTe, int_tuple.hpp: https://github.com/NVIDIA/cutlass/blob/main/include/cute/int_tuple.hpp

    Examples
    --------
    >>> congruent("((2,M),4)", ((5, 6), 7)), congruent((2, 3), 6)
    (True, False)
    """
    return bool(profile(_read(a).nest.shape) == profile(_read(b).nest.shape))


def weakly_congruent(a: Any, b: Any) -> bool:
    """Return whether *b* is nested as *a* is, or deeper: each size of *a* may be a tuple in *b*.

    Parameters
    ----------
    a, b : int, dim, expression, nested tuple of them, text, or Layout
        The shapes; of a layout, its shape.

    Raises
    ------
    FormatError
        A text is not a shape.

    References
    ----------
    CuTe, int_tuple.hpp: https://github.com/NVIDIA/cutlass/blob/main/include/cute/int_tuple.hpp

    Examples
    --------
    >>> weakly_congruent((6, 4), "((2,M),4)"), weakly_congruent("((2,M),4)", (6, 4))
    (True, False)
    """
    return _within(_read(a).nest.shape, _read(b).nest.shape)


def compatible(a: Any, b: Any) -> Any:
    """Return whether each coordinate of *a* is one of *b*: *b* has tuples of the same size where *a* has sizes.

    Parameters
    ----------
    a, b : int, dim, expression, nested tuple of them, text, or Layout
        The shapes; of a layout, its shape.

    Returns
    -------
    bool or SymPy condition
        True or False if that is so for all sizes; else the condition on the dims for which it holds.

    Raises
    ------
    FormatError
        A text is not a shape.

    References
    ----------
    CuTe, int_tuple.hpp: https://github.com/NVIDIA/cutlass/blob/main/include/cute/int_tuple.hpp

    Examples
    --------
    >>> compatible("(4*M,8)", "((4,M),8)"), compatible((6, 8), (6, 9)), compatible("(N,8)", "((4,M),8)")
    (True, False, Eq(N, 4*M))
    """

    def same(facts: Facts, n: Extent, other: Nested) -> None:
        facts.require_zero(n - product(flat(other)), KIND)

    return _compared(a, b, same)


def weakly_compatible(a: Any, b: Any) -> Any:
    """Return whether *a* divides *b*: the tuples of *b* have multiples of the sizes of *a*.

    Parameters
    ----------
    a, b : int, dim, expression, nested tuple of them, text, or Layout
        The shapes; of a layout, its shape.

    Returns
    -------
    bool or SymPy condition
        As for `compatible`.

    Raises
    ------
    FormatError
        A text is not a shape.

    References
    ----------
    CuTe, int_tuple.hpp: https://github.com/NVIDIA/cutlass/blob/v3.5.0/include/cute/int_tuple.hpp

    Examples
    --------
    >>> weakly_compatible((2, 8), "((4,M),8)"), weakly_compatible(3, 8), weakly_compatible(64, "M")
    (True, False, Eq(Mod(M, 64), 0))
    """

    def divides(facts: Facts, n: Extent, other: Nested) -> None:
        facts.divide(facts.reduce(product(flat(other))), facts.reduce(n), KIND)

    return _compared(a, b, divides)


def _read(value: Any) -> Layout:
    return value if isinstance(value, Layout) else layout(value)


def _within(a: Nested, b: Nested) -> bool:
    if not isinstance(a, tuple):
        return True
    return isinstance(b, tuple) and len(a) == len(b) and all(_within(*pair) for pair in zip(a, b, strict=True))


def _compared(a: Any, b: Any, demand: Demand) -> Any:
    """Return the condition that *demand* holds for each size of *a* and what stands in its place in *b*."""
    left, right = _read(a), _read(b)
    facts = left.facts.fork()
    facts.merge(right.facts)
    x, y = left.nest.reduced(facts).shape, right.nest.reduced(facts).shape
    if not _within(x, y):
        return False
    given = set(relations(facts))
    try:
        _demand_each(x, y, facts, demand)
    except ShapeError as error:
        if error.kind not in (KIND, "infeasible"):
            raise
        return False  # no sizes are left
    found = [r for r in relations(facts) if r not in given]
    return conjunction(found) if found else True


def _demand_each(a: Nested, b: Nested, facts: Facts, demand: Demand) -> None:
    if isinstance(a, tuple):
        for pair in zip(a, b, strict=True):
            _demand_each(*pair, facts, demand)
    else:
        demand(facts, facts.reduce(a), b)
