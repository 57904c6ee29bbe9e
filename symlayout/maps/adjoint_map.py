"""The transpose of a tensor's map as a linear operator: its gradient, or vector-Jacobian product.

A map ``y[o] = x[f(o)]``, with fills at some coordinates, is linear in *x* up to a constant.  Its transpose is
``dx[c] = sum of dy[o] over the o with f(o) = c``.  If no element is read twice, the transpose is a gather; for tile,
repeat and broadcast it sums over the copies; for a window it is col2im.  Fills contribute nothing.  Elements that are
never read get 0.

This module only describes the transpose.  The interpreter and the lowering evaluate it: each swaps the two faces of the
map.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, Poly, coefficient_of, names_of
from symlayout.errors import ArrayError, InconclusiveError, ShapeError, shown
from symlayout.maps.compose_chain import Read, normalise
from symlayout.maps.split_digits import Box, output_box, refine
from symlayout.tensors.chain import Tensor, check_moves, not_a_tensor

if TYPE_CHECKING:
    import numpy as np

    from symlayout.maps.composed_map import IndexMap


@dataclass(frozen=True, slots=True)
class Adjoint:
    """The linear map from a cotangent of *tensor* to a cotangent of *leaf*; `adjoint` makes it.

    Attributes
    ----------
    tensor : Tensor
        The tensor whose map is transposed.
    leaf : Tensor
        The input to differentiate by.
    copies : bool
        Whether it is proved that no element of *leaf* is read twice.  If so, elements are copied bit for bit, also the
        sign of a zero.  If not, the result starts at 0 and terms are added one by one: the pieces of `index_map` in
        their order, and the output coordinates of a piece in row-major order.

    Examples
    --------
    >>> import symlayout as sl
    >>> y = sl.pad(sl.tensor("N", name="x"), 1)
    >>> dx = adjoint(y)
    >>> dx.shape, dx.cotangent.shape
    ((N,), (N + 2,))
    >>> dx.copies
    True
    """

    tensor: Tensor
    leaf: Tensor
    copies: bool

    @property
    def cotangent(self) -> Tensor:
        """The input of the adjoint: a leaf ``dy`` with the shape and the requirements of the tensor."""
        t = self.tensor
        return Tensor("dy", t.dtype, t.extents, t.facts, key="dy")

    @property
    def extents(self) -> tuple[Extent, ...]:
        """The shape in the symbols of the algebra, for the engine."""
        return self.leaf.extents

    @property
    def shape(self) -> tuple[Any, ...]:
        """The shape of the result, which is the shape of the leaf."""
        return self.leaf.shape

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The element type; None accepts any numeric type."""
        return self.tensor.dtype

    @property
    def requires(self) -> tuple[Any, ...]:
        """The requirements of the dims, which are those of the tensor."""
        return self.tensor.requires

    @property
    def index_map(self) -> IndexMap:
        """The map of the tensor; the adjoint is its transpose."""
        return self.tensor.index_map

    def subs(self, values: Mapping[Any, Any]) -> Adjoint:
        """Return the adjoint with dims replaced by values (see `Tensor.subs`)."""
        return self._of(self.tensor.subs(values))

    def bind(self, values: Mapping[str, Extent]) -> Adjoint:
        """Return the adjoint built again with dims replaced by extents (see `Tensor.bind`)."""
        return self._of(self.tensor.bind(values))

    def _of(self, bound: Tensor) -> Adjoint:
        (leaf,) = (leaf for leaf in bound.leaves() if leaf.key == self.leaf.key)
        return replace(self, tensor=bound, leaf=leaf)

    def __repr__(self) -> str:
        return f"Adjoint(of {self.tensor!r} with respect to {self.leaf!r})"


def adjoint(y: Tensor, wrt: Tensor | str | None = None) -> Adjoint:
    """Return the transpose of the map of *y*: ``dx[c]`` is the sum of ``dy[o]`` where ``y[o]`` reads ``x[c]``.

    `interpret` and `compile` accept the adjoint like a tensor.  Its input is the cotangent *dy*, with the shape of *y*.

    Parameters
    ----------
    y : Tensor
        The tensor to differentiate; its map is linear in the elements of each leaf.
    wrt : Tensor or str, optional
        The leaf *x*, or its name.  It may be omitted if there is only one leaf.

    Returns
    -------
    Adjoint
        The transpose; its shape is the shape of *x*.

    Raises
    ------
    ArrayError
        *wrt* is not an input of *y*, or is omitted although there are several; the element type is not numeric; or
        elements of *y* are computed, so that its map is not from the inputs.

    Examples
    --------
    >>> from symlayout.ops.tile import repeat
    >>> from symlayout.tensors.input_tensor import tensor
    >>> adjoint(repeat(tensor("N", name="x"), 3)).shape
    (N,)
    """
    if not isinstance(y, Tensor):
        raise not_a_tensor("adjoint", y)
    if y.dtype is not None:
        check_numbers(y.dtype)
    check_moves("adjoint", y, constants=True)
    leaf = _leaf(y, wrt)
    return Adjoint(y, leaf, _reads_once(y, leaf))


def check_numbers(dtype: np.dtype[Any]) -> None:
    """Raise `ArrayError` unless *dtype* holds integers, floats or complex numbers: an adjoint adds elements."""
    if dtype.kind not in "iufc":
        raise ArrayError(
            f"an adjoint adds elements, and {dtype} has no sum\n  help: pass integers, floats or complex numbers"
        )


def _leaf(y: Tensor, wrt: Tensor | str | None) -> Tensor:
    leaves = [x for x in y.leaves() if x.values is None]
    found = [x for x in leaves if wrt is None or (x.key == wrt.key if isinstance(wrt, Tensor) else x.name == wrt)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(x.name for x in leaves)
    if wrt is None or found:
        raise ArrayError(f"adjoint with respect to which of {len(leaves)} inputs: {names}\n  help: pass wrt=")
    asked = wrt.name if isinstance(wrt, Tensor) else wrt
    raise ArrayError(f"adjoint with respect to {shown(asked)}, which is not an input\n  known: {names}")


# --- is an element read twice? ----------------------------------------------------------------


def _reads_once(t: Tensor, leaf: Tensor) -> bool:
    """Return whether it is proved that no two output coordinates read one element of *leaf*."""
    try:
        reads = [read for read in normalise(t) if _reads(read, leaf)]
        return not reads or (len(reads) == 1 and any(_separates(t, reads[0], by) for by in (_by_axes, _by_number)))
    except InconclusiveError:  # a read is not proved to be inside its source
        return False


def _by_axes(box: Box, read: Read) -> list[Extent]:
    return list(read.coords)


def _by_number(box: Box, read: Read) -> list[Extent]:
    """Return the row-major number of the element that is read: simpler than coordinates if a reshape mixes axes."""
    number: Extent = 0
    for c, e in zip(read.coords, read.leaf.extents if read.leaf else (), strict=True):
        number = number * read.facts.reduce(e) + c
    return [read.facts.reduce(number)]


def _separates(t: Tensor, read: Read, by: Callable[[Box, Read], list[Extent]]) -> bool:
    """Return whether the values of *by* determine all digits of the box over which *read* is affine.

    Windows help: at two points where a window holds, its values differ by less than its extent.
    """
    box, read = refine(t, read.path, by)
    known: list[tuple[Extent, Extent]] = [(value, 0) for value in by(box, read)]
    known += [(window.value, window.extent - 1) for window in (*box.windows, *read.windows)]
    told: set[str] = set()
    for _ in known:  # repeat: one value may determine the digits that another one needs
        for value, slack in known:
            told |= _determined(read.facts.reduce(value), slack, told, box, read.facts)
    return told >= set(box.digits())


def _determined(value: Extent, slack: Extent, told: set[str], box: Box, facts: Facts) -> set[str]:
    """Return the digits of *value* if they are determined: by the digits *told*, and by *value* up to *slack*.

    ``c_1*d_1 + ... + c_0``, known up to *slack*, determines its digits if they can be ordered so that each ``|c_k|``
    exceeds *slack* plus the reach of all earlier digits, ``sum(|c_j|*(extent(d_j) - 1))``.  The result is all digits of
    *value* or none.
    """
    left: dict[str, Extent] = {}
    for name in sorted(names_of(value) & box.extents.keys()):
        split = coefficient_of(value, name) if isinstance(value, Poly) else None
        if split is None or _varies(split[0], box, facts) or not (sign := facts.sign(split[0])):
            return set()
        value = split[1]
        if name not in told:
            left[name] = sign * split[0]
    if _varies(value, box, facts):
        return set()
    found, reach = set(left), slack
    while left:
        above = {d: reach + step * (box.extents[d] - 1) for d, step in left.items()}
        lowest = next((d for d in left if _is_lowest(d, left, reach, above[d], facts)), None)
        if lowest is None:
            return set()
        reach = above[lowest]
        del left[lowest]
    return found


def _is_lowest(digit: str, steps: Mapping[str, Extent], reach: Extent, above: Extent, facts: Facts) -> bool:
    """Return whether the step of *digit* exceeds *reach*, and all other steps exceed *above*."""
    return facts.nonnegative(steps[digit] - reach - 1) and all(
        facts.nonnegative(step - above - 1) for other, step in steps.items() if other != digit
    )


def _varies(e: Extent, box: Box, facts: Facts) -> bool:
    """Return whether *e* mentions a digit, or a floor or an entry of a table that may depend on one."""
    return any(
        n in box.extents or n in facts.entries or (n in facts.floors and n not in facts.definitions)
        for n in names_of(e)
    )


# --- is each element read? --------------------------------------------------------------------


def reads_each(t: Tensor, leaf: Tensor) -> bool:
    """Return whether it is proved that each element of *leaf* is read: then its adjoint has no zeros of its own.

    It is if each axis of *leaf* has digits of its own, their number takes all values of the axis, and no window says
    more than that a coordinate is inside its axis.  An output without elements reads none.
    """
    try:
        box = output_box(t)
        reads = [read for read in normalise(t, box.facts.fork(), box.coords) if _reads(read, leaf)]
        if len(reads) != 1 or not _is_full_with(t, leaf):
            return False
        box, read = refine(t, reads[0].path, _by_axes, start=(box, reads[0]))
    except (InconclusiveError, ShapeError):  # a read is not proved to be inside its source, or there is none
        return False
    axes = [(box.facts.reduce(c), box.facts.reduce(e)) for c, e in zip(read.coords, leaf.extents, strict=True)]
    left = set(box.digits())
    for coordinate, extent in axes:
        own = names_of(coordinate) & box.extents.keys()
        if not own <= left or not _takes_all(coordinate, extent, own, box):
            return False
        left -= own
    windows = (*box.windows, *read.windows, *(guard.window for guard in read.guards))
    return not left and all((box.facts.reduce(w.value), box.facts.reduce(w.extent)) in axes for w in windows)


def _reads(read: Read, leaf: Tensor) -> bool:
    return read.leaf is not None and read.leaf.key == leaf.key


def _is_full_with(t: Tensor, leaf: Tensor) -> bool:
    """Return whether *t* is proved to have elements where *leaf* has."""
    facts = t.facts.fork()
    try:
        facts.meet(leaf.extents)
    except ShapeError:  # the leaf never has any
        return True
    return all(facts.positive(facts.reduce(e)) for e in t.extents)


def _takes_all(value: Extent, extent: Extent, digits: frozenset[str], box: Box) -> bool:
    """Return whether ``value = c_1*d_1 + ... + c_0`` takes all of ``0, ..., extent - 1`` over its *digits*.

    With each ``c_k`` the product of the extents before it, and ``c_1 = 1``, the sum takes all values from ``c_0`` on.
    """
    facts, left = box.facts, dict[str, Extent]()
    for name in digits:
        split = coefficient_of(value, name) if isinstance(value, Poly) else None
        if split is None or _varies(split[0], box, facts) or not (sign := facts.sign(split[0])):
            return False
        value = split[1]
        if sign < 0:  # the digit counts down
            value = value + split[0] * (box.extents[name] - 1)
        left[name] = sign * split[0]
    reach: Extent = 1
    while left:
        lowest = next((name for name, step in left.items() if facts.reduce(step - reach) == 0), None)
        if lowest is None:
            return False
        reach = facts.reduce(reach * box.extents[lowest])
        del left[lowest]
    if _varies(value, box, facts):
        return False
    return facts.nonnegative(facts.reduce(-1 * value)) and facts.nonnegative(facts.reduce(value + reach - extent))
