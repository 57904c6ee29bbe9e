"""Resize axes by reading the nearest element."""

from __future__ import annotations

from math import gcd
from typing import Any

from symlayout.algebra.polynomial import Extent
from symlayout.errors import ShapeError, shown
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.declaration import Declared, Operand, as_list, index_map, is_list

MODES = ("asymmetric", "half_pixel")


@core_operation
def resize_nearest(
    x: Operand, shape: Any = None, scale: Any = None, axes: Any = None, mode: str = "asymmetric"
) -> Declared:
    """Return *x* with *axes* resized: each element is the nearest element of *x*.

    With ``scale = p / q``, an axis of extent ``n`` becomes ``m = floor(n * p / q)``.  With *shape*, the extents ``m``
    are given, and ``p / q = m / n``.  Then ``o`` reads, in exact integers:

    * ``"asymmetric"``: ``floor(o * q / p)``, which aligns the corners of elements;
    * ``"half_pixel"``: ``floor((o + 1/2) * q / p)``, which aligns their centres.

    Parameters
    ----------
    shape : int, dim, expression, or one per axis of *axes*
        The new extents, >= 0.
    scale : int, Fraction, dim, SymPy rational, or one per axis of *axes*
        > 0; give either *shape* or *scale*.  One value stands for every axis.
    axes : int or sequence of int, optional
        None is every axis.
    mode : str
        ``"asymmetric"`` or ``"half_pixel"``.

    Raises
    ------
    ShapeError
        ``size_mismatch`` for a negative extent, a scale that is not > 0, or an empty axis that grows; ``bad_mode``,
        ``bad_axis``, ``length_mismatch``, ``attr_dtype``, ``overflow``.

    References
    ----------
    torch's ``torch.nn.functional.interpolate``: its modes ``nearest`` and ``nearest-exact`` are these two.

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> sl.resize_nearest(sl.tensor("H, W"), scale=2).index_map
    (i0, i1) -> (i0//2, i1//2)
    >>> sl.interpret(sl.resize_nearest(sl.tensor("N"), shape=5), np.array([1, 2, 3]))
    array([1, 1, 2, 2, 3])
    """
    if not isinstance(mode, str) or mode not in MODES:
        raise ShapeError(f"{x.where}: mode {shown(mode)} is not one of {', '.join(MODES)}", "bad_mode")
    along = list(range(x.rank)) if axes is None else [x.axis(a) for a in as_list(axes)]
    if len(set(along)) != len(along):
        raise ShapeError(f"{x.where}: axes {axes} repeats an axis", "bad_axis")
    if (shape is None) == (scale is None):
        raise ShapeError(f"{x.where}: give either shape or scale", "length_mismatch")
    domain = list(x.shape)
    ratios: dict[int, tuple[Extent, Extent]] = {}
    if scale is None:
        for a, m in zip(along, x.extents(shape, "shape", len(along)), strict=True):
            n, domain[a], ratios[a] = x.shape[a], m, _lowest_terms(m, x.shape[a])
            x.require(m, "size_mismatch", "extent {} of axis {} is negative", m, a)
            least = n - 1 if x.facts.positive(m) else m * (n - 1)  # nothing is made of nothing
            x.require(least, "size_mismatch", "axis {} is empty and cannot have {} elements", a, m)
    else:
        for a, (p, q) in zip(along, _scales(x, scale, len(along)), strict=True):
            domain[a], ratios[a] = x.floor_div(x.shape[a] * p, q), (p, q)
    half = mode == "half_pixel"
    for a, (p, q) in ratios.items():
        x.countable(2 * p + (2 * domain[a] + 1) * q, "coordinate")

    def coords(*o: Any) -> list[Any]:
        i = list(o)
        for a, (p, q) in ratios.items():
            i[a] = (2 * o[a] + 1) * q // (2 * p) if half else o[a] * q // p
        return i

    return index_map(domain, coords)


def _lowest_terms(p: Extent, q: Extent) -> tuple[Extent, Extent]:
    """Return *p* and *q* without common factors if both are ints, else unchanged."""
    if isinstance(p, int) and isinstance(q, int) and (common := gcd(p, q)):
        return p // common, q // common
    return p, q


def _scales(x: Operand, scale: Any, length: int) -> list[tuple[Extent, Extent]]:
    """Return the scales as pairs of a numerator and a denominator."""
    values = list(scale) if is_list(scale) else [scale] * length
    if len(values) != length:
        raise ShapeError(f"{x.where}: scale has {len(values)} values, expected {length}", "length_mismatch")
    ratios = []
    for value in values:
        top, bottom = value.as_numer_denom() if hasattr(value, "as_numer_denom") else _fraction(value)
        p, q = x.extent(top, "scale"), x.extent(bottom, "scale")
        for e in (p, q):
            x.require(e - 1, "size_mismatch", "scale {} is not > 0", value)
        ratios.append((p, q))
    return ratios


def _fraction(value: Any) -> tuple[Any, Any]:
    """Return numerator and denominator of an int or a Fraction; `Operand.extent` refuses anything else."""
    return getattr(value, "numerator", value), getattr(value, "denominator", 1)
