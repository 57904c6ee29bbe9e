"""The transpose of a tensor's map as a linear operator: its gradient, or vector-Jacobian product.

A map ``y[o] = x[f(o)]``, with fills where it reads nothing, is linear in *x* up to a constant.  Its transpose
is ``dx[c] = sum of dy[o] over the o with f(o) = c``: a gather where no element is read twice, a sum over
the copies for tile, repeat and broadcast, col2im for a window.  Fills contribute nothing, and what is never
read gets 0.

Here it is only described: the interpreter and the lowering carry it out, each with the two faces of the
map swapped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, Poly, coefficient_of, names_of
from symlayout.errors import ArrayError, InconclusiveError, shown
from symlayout.maps.compose_chain import Read, normalise
from symlayout.maps.split_digits import Box, refine
from symlayout.tensors.chain import Tensor

if TYPE_CHECKING:
    import numpy as np

    from symlayout.maps.composed_map import IndexMap


@dataclass(frozen=True, slots=True)
class Adjoint:
    """What maps a cotangent of *tensor* to that of *leaf*; made by `adjoint`.

    Attributes
    ----------
    tensor : Tensor
        The tensor whose map is transposed.
    leaf : Tensor
        The input with respect to which.
    copies : bool
        Whether no element of *leaf* is proved to be read twice.  Then elements move as they are, down to
        the sign of a zero; else the result starts at 0 and the terms are added to it one by one: by the pieces
        of `index_map` in order, and within a piece by output coordinate in row-major order.

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
        """The input: a leaf ``dy`` of the tensor's shape, under the tensor's requirements."""
        t = self.tensor
        return Tensor("dy", t.dtype, t.extents, t.facts, key="dy")

    @property
    def extents(self) -> tuple[Extent, ...]:
        """The shape in solved symbols, for the engine."""
        return self.leaf.extents

    @property
    def shape(self) -> tuple[Any, ...]:
        """The shape of the result: that of the leaf."""
        return self.leaf.shape

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The element type; None accepts any type of numbers."""
        return self.tensor.dtype

    @property
    def requires(self) -> tuple[Any, ...]:
        """What must hold of the dims: as for the tensor."""
        return self.tensor.requires

    @property
    def index_map(self) -> IndexMap:
        """The tensor's own map, of which this is the transpose."""
        return self.tensor.index_map

    def subs(self, values: Mapping[Any, Any]) -> Adjoint:
        """Return the adjoint with dims bound (see `Tensor.subs`)."""
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

    `interpret` and `compile` take it like a tensor; the array is the cotangent *dy*, of the shape of *y*.

    Parameters
    ----------
    y : Tensor
        What is differentiated; its map is linear in the elements of each leaf.
    wrt : Tensor or str, optional
        The leaf *x*, or its name; the only one if left out.

    Raises
    ------
    ArrayError
        *wrt* is not one leaf of *y*, or is left out where there are several; the elements are no numbers.

    Examples
    --------
    >>> from symlayout.ops.tile import repeat
    >>> from symlayout.tensors.chain import tensor
    >>> adjoint(repeat(tensor("N", name="x"), 3)).shape
    (N,)
    """
    if not isinstance(y, Tensor):
        raise TypeError(f"adjoint takes a symlayout tensor, not {type(y).__name__}")
    if y.dtype is not None:
        check_numbers(y.dtype)
    leaf = _leaf(y, wrt)
    return Adjoint(y, leaf, _reads_once(y, leaf))


def check_numbers(dtype: np.dtype[Any]) -> None:
    """Raise `ArrayError` unless *dtype* is of integers, floats or complex numbers: an adjoint adds them."""
    if dtype.kind not in "iufc":
        raise ArrayError(
            f"an adjoint adds elements, and {dtype} has no sum\n  help: pass integers, floats or complex numbers"
        )


def _leaf(y: Tensor, wrt: Tensor | str | None) -> Tensor:
    leaves = y.leaves()
    found = [x for x in leaves if wrt is None or (x.key == wrt.key if isinstance(wrt, Tensor) else x.name == wrt)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(x.name for x in leaves)
    if wrt is None or found:
        raise ArrayError(f"adjoint with respect to which of {len(leaves)} inputs: {names}\n  help: pass wrt=")
    asked = wrt.name if isinstance(wrt, Tensor) else wrt
    raise ArrayError(f"adjoint with respect to {shown(asked)}, which is no input\n  known: {names}")


# --- is an element read twice? ----------------------------------------------------------------


def _reads_once(t: Tensor, leaf: Tensor) -> bool:
    """Return whether it is proved that no two output coordinates read one element of *leaf*."""
    try:
        reads = [read for read in normalise(t) if read.leaf is not None and read.leaf.key == leaf.key]
        return not reads or (len(reads) == 1 and any(_separates(t, reads[0], by) for by in (_by_axes, _by_number)))
    except InconclusiveError:  # some read is not shown to be inside its source
        return False


def _by_axes(box: Box, read: Read) -> list[Extent]:
    return list(read.coords)


def _by_number(box: Box, read: Read) -> list[Extent]:
    """Return the row-major number of what is read: simpler than its coordinates where a reshape mixes axes."""
    number: Extent = 0
    for c, e in zip(read.coords, read.leaf.extents if read.leaf else (), strict=True):
        number = number * read.facts.reduce(e) + c
    return [read.facts.reduce(number)]


def _separates(t: Tensor, read: Read, by: Callable[[Box, Read], list[Extent]]) -> bool:
    """Return whether the values of *by* determine all digits of the box that *read* is refined to.

    A window helps: two points at which it holds differ by less than its extent in its value.
    """
    box, read = refine(t, read.path, by)
    known: list[tuple[Extent, Extent]] = [(value, 0) for value in by(box, read)]
    known += [(window.value, window.extent - 1) for window in (*box.windows, *read.windows)]
    told: set[str] = set()
    for _ in known:  # each may tell what another one needs
        for value, slack in known:
            told |= _determined(read.facts.reduce(value), slack, told, box, read.facts)
    return told >= set(box.digits())


def _determined(value: Extent, slack: Extent, told: set[str], box: Box, facts: Facts) -> set[str]:
    """Return the digits that follow from those *told* and from *value* within *slack*: all it has, or none.

    ``c_1*d_1 + ... + c_0`` within *slack* determines its digits if in some order each ``|c_k|`` exceeds *slack* and
    what the digits before it can add up to, ``sum(|c_j|*(extent(d_j) - 1))``: the last one is read off first.
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
    """Return whether *e* has a digit, or a floor that may have one."""
    return any(n in box.extents or (n in facts.floors and n not in facts.definitions) for n in names_of(e))
