"""Contractions: sums of products over a box, as matrix products and convolutions are."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symlayout.algebra.polynomial import Extent
from symlayout.compute.scalars import is_narrow
from symlayout.errors import ShapeError
from symlayout.ops.axes import expand_dims, moveaxis
from symlayout.ops.broadcast import joint_extents
from symlayout.ops.flip import flip
from symlayout.ops.pad import pad
from symlayout.ops.reshape import reshape
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import Computed, View, computation
from symlayout.tensors.declaration import Body, Fill, Operand

Array = np.ndarray[Any, Any]


def sum_of_products(*arrays: Array, axes: tuple[int, ...]) -> Array:
    """Return the products of the arrays' elements, added over the last axes."""
    dtype = arrays[0].dtype
    wide = [a.astype(np.float32) if is_narrow(a.dtype) else a for a in arrays]
    if not wide[1:]:
        return np.asarray(wide[0].sum(axes, dtype=wide[0].dtype)).astype(dtype)
    rank = max(a.ndim for a in wide)
    letters = string.ascii_letters[:rank]
    extents = np.broadcast_shapes(*(a.shape for a in wide))
    operands, used = [], set()
    for a in wide:  # BLAS works where each operand has only the axes that it depends on
        kept = [k for k in range(rank) if a.shape[k] != 1 or extents[k] == 1]
        operands.append((a.reshape([a.shape[k] for k in kept]), "".join(letters[k] for k in kept)))
        used.update(kept)
    inner = {rank + k for k in axes}
    result = "".join(letters[k] for k in range(rank) if k not in inner and k in used)
    made = np.einsum(
        f"{','.join(text for _, text in operands)}->{result}", *(a for a, _ in operands), optimize=len(arrays) > 1
    )
    return np.asarray(made).reshape([extents[k] for k in range(rank) if k not in inner]).astype(dtype)


SUM_OF_PRODUCTS = Body(
    "sum_of_products",
    sum_of_products,
    over=True,
    commutative=True,
    symmetric=True,
    sums_products=True,
    joins=np.add,
)


@computation
def matmul(x: Operand) -> Computed:
    """Return the matrix product of two tensors: ``sum(a[..., i, k] * b[..., k, j] for k)``, as `numpy.matmul`."""
    first, second = x.shapes
    for shape in (first, second):
        if not shape:
            raise ShapeError(f"{x.where}: a tensor has rank 0, expected 1 or more", "rank")
    k, j = first[-1], second[-2] if len(second) > 1 else second[-1]
    x.require_equal(k, j, "size_mismatch", "the matrices have {} columns and {} rows", k, j)
    outer = joint_extents(x, (first[:-2], second[:-2]))
    rows, columns = first[-2:-1], second[-1:] if len(second) > 1 else ()
    count = len(outer)

    def batch(o: Sequence[Any], shape: Sequence[Extent]) -> list[Any]:
        own = shape[:-2]
        axes = range(count - len(own), count)
        return [0 if n == 1 else o[a] if n == outer[a] else o[a] % n for n, a in zip(own, axes, strict=True)]

    def left(*o: Any) -> list[Any]:
        return [*batch(o, first), *o[count : count + len(rows)], o[-1]]

    def right(*o: Any) -> list[Any]:
        return [*batch(o, second), o[-1], *o[count + len(rows) : -1]]

    return Computed((*outer, *rows, *columns), (View(left, (k,)), View(right, (k,), 1)), SUM_OF_PRODUCTS)


@computation
def einsum(x: Operand, inputs: tuple[tuple[str, ...], ...], output: tuple[str, ...]) -> Computed:
    """Return a sum of products over the indices of *inputs* that *output* lacks; an index is a label of axes."""
    extents: dict[str, Extent] = {}
    for labels, shape in zip(inputs, x.shapes, strict=True):
        if len(labels) != len(shape):
            raise ShapeError(f"{x.where}: {len(labels)} labels for rank {len(shape)}", "rank")
        for label, n in zip(labels, shape, strict=True):
            e = extents.setdefault(label, n)
            if e == 1 or n == 1:
                extents[label] = n if e == 1 else e
            else:
                x.require_equal(e, n, "size_mismatch", "index {} has extents {} and {}", label, e, n)
    over = [label for label in extents if label not in output]
    order = [*output, *over]
    at = {label: k for k, label in enumerate(order)}

    def view(number: int) -> View:
        labels, shape = inputs[number], x.shapes[number]

        def coords(*o: Any) -> list[Any]:
            return [0 if n == 1 else o[at[label]] for label, n in zip(labels, shape, strict=True)]

        return View(coords, tuple(extents[label] for label in over), number)

    views = tuple(view(k) for k in range(len(inputs)))
    return Computed(tuple(extents[label] for label in output), views, SUM_OF_PRODUCTS)


# ---------------------------------------------------------------------- windows


@dataclass(frozen=True, slots=True)
class Spatial:
    """How windows lie on the spatial axes: one entry of each for each axis.

    Attributes
    ----------
    strides, dilations : tuple
        Distances between windows, and between the elements of a window.
    pads : tuple of pairs, or str
        Elements before and after; or ``"SAME_UPPER"``, ``"SAME_LOWER"``, ``"VALID"``.
    ceil : bool
        Whether a last window may reach past the end.
    outside : bool
        Whether such a window may start in the pads at the end.
    """

    strides: tuple[Any, ...]
    dilations: tuple[Any, ...]
    pads: Any
    ceil: bool = False
    outside: bool = False

    def windows(self, x: Operand, extents: Sequence[Extent], kernel: Sequence[Extent]) -> list[Window]:
        """Return the windows along each axis.

        Raises
        ------
        ShapeError
            ``infeasible`` if a window does not fit, ``block_lt_1`` for a stride or dilation below 1.
        """
        found = []
        for k, (n, size) in enumerate(zip(extents, kernel, strict=True)):
            s, d = x.extent(self.strides[k], "strides"), x.extent(self.dilations[k], "dilations")
            x.require(s - 1, "block_lt_1", "stride {} is below 1", s)
            x.require(d - 1, "block_lt_1", "dilation {} is below 1", d)
            reach = d * (size - 1) + 1
            if isinstance(self.pads, str) and self.pads != "VALID":
                count = x.floor_div(n + s - 1, s)
                added = x.maximum((count - 1) * s + reach - n, 0)
                less = x.floor_div(added, 2)
                begin = less if self.pads == "SAME_UPPER" else added - less
                if self.ceil and self.outside:
                    count = x.floor_div(n + added - reach + s - 1, s) + 1
                found.append(Window(n, size, s, d, begin, added - begin, count))
                continue
            begin, end = (0, 0) if self.pads == "VALID" else (x.extent(e, "pads") for e in self.pads[k])
            room = n + begin + end - reach
            rule = "a window of {} does not fit {} elements on spatial axis {}"
            x.require(room, "infeasible", rule, reach, n + begin + end, k)
            count = x.floor_div(room, s) + 1
            if self.ceil and s != 1:
                count = x.floor_div(room + s - 1, s) + 1
                if not self.outside:
                    count = x.minimum(count, x.floor_div(n + begin - 1, s) + 1)
            found.append(Window(n, size, s, d, begin, end, count))
        return found


@dataclass(frozen=True, slots=True)
class Window:
    """Windows along one axis: of *size* elements, *count* of them."""

    extent: Extent
    size: Extent
    stride: Extent
    dilation: Extent
    begin: Extent
    end: Extent
    count: Extent

    def at(self, o: Any, r: Any) -> Any:
        """Return the coordinate of element *r* of window *o*."""
        return o * self.stride + r * self.dilation - self.begin

    @property
    def inside(self) -> bool:
        """Whether no window can reach outside."""
        return self.begin == 0 and self.end == 0


@computation
def conv(x: Operand, groups: Any, spatial: Spatial, fill: Any = 0) -> Computed:
    """Return the convolution of (n, c, ...) with kernels (m, c/groups, ...): ``sum(x * w)``."""
    (n, c, *extents), (m, each, *kernel) = x.shapes
    if len(extents) != len(kernel):
        raise ShapeError(f"{x.where}: the kernels have rank {len(kernel) + 2}, not {len(extents) + 2}", "rank")
    g = x.extent(groups, "group")
    x.require(g - 1, "block_lt_1", "group {} is below 1", g)
    x.require_equal(c, each * g, "size_mismatch", "the input has {} channels, the kernels take {}", c, each * g)
    per = x.divide(m, g)  # kernels of a group
    windows = spatial.windows(x, extents, kernel)
    rank = len(extents)

    def image(*o: Any) -> list[Any]:
        i, k, places, r, offsets = o[0], o[1], o[2 : 2 + rank], o[2 + rank], o[3 + rank :]
        channel = r if g == 1 else k // per * each + r
        return [i, channel, *(w.at(p, q) for w, p, q in zip(windows, places, offsets, strict=True))]

    box = (each, *kernel)
    padded = None if all(w.inside for w in windows) and not spatial.ceil else Fill(fill)
    views = (View(image, box, fill=padded), View(lambda *o: [o[1], *o[2 + rank :]], box, 1))
    return Computed((n, m, *(w.count for w in windows)), views, SUM_OF_PRODUCTS)


def conv_transpose(x: Tensor, w: Tensor, groups: int, strides: Any, dilations: Any, pads: Any, extra: Any) -> Tensor:
    """Return the transposed convolution of (n, c, ...) with kernels (c, m/groups, ...).

    It is the convolution with turned kernels of the input with ``stride - 1`` zeros between its elements.

    Parameters
    ----------
    pads : sequence of pairs
        What is taken away of the result on each spatial axis; negative numbers add.
    extra : sequence
        What is added at the end of each spatial axis.

    Raises
    ------
    ShapeError
        ``rank``, ``size_mismatch``, ``infeasible``.
    """
    rank = x.rank - 2
    if w.rank != x.rank:
        raise ShapeError(f"conv_transpose: the kernels have rank {w.rank}, not {x.rank}", "rank")
    for k, s in enumerate(strides):
        if s != 1:
            x = _spread(x, 2 + k, s)
    around = []
    for k in range(rank):
        reach = dilations[k] * (w.shape[2 + k] - 1)
        around.append((reach - pads[k][0], reach - pads[k][1] + extra[k]))
    spatial = Spatial((1,) * rank, tuple(dilations), tuple(around))
    return conv(x, _turned(w, groups), groups, spatial)


def _spread(x: Tensor, axis: int, stride: Any) -> Tensor:
    """Return *x* with ``stride - 1`` zeros between the elements of an axis."""
    apart = expand_dims(x, axis + 1)
    widths = [(0, stride - 1 if k == axis + 1 else 0) for k in range(apart.rank)]
    shape = [n * stride if k == axis else n for k, n in enumerate(x.shape)]
    spread = reshape(pad(apart, widths), shape)
    return pad(spread, [(0, 1 - stride if k == axis else 0) for k in range(x.rank)])


def _turned(w: Tensor, groups: int) -> Tensor:
    """Return kernels (c, m/groups, ...) as kernels (m, c/groups, ...) whose elements run backwards."""
    c, each, *kernel = w.shape
    split = reshape(w, [groups, c // groups if isinstance(c, int) else c / groups, each, *kernel])
    swapped = moveaxis(split, 2, 1)
    joined = reshape(swapped, [groups * each, swapped.shape[2], *kernel])
    return flip(joined, list(range(2, w.rank))) if kernel else joined
