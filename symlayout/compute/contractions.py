"""Contractions: sums of products over a box, as matrix products and convolutions are."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symlayout.algebra.polynomial import Extent, product
from symlayout.compute.demands import nonempty
from symlayout.compute.scalars import is_narrow
from symlayout.errors import LEFT_OUT, ShapeError
from symlayout.ops.axes import expand_dims
from symlayout.ops.broadcast import joint_extents
from symlayout.ops.pad import pad
from symlayout.ops.reshape import reshape
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import Computed, View, computation
from symlayout.tensors.declaration import Body, Declared, Fill, Operand, index_map

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
                fixed = isinstance(e, int) and isinstance(n, int)
                apart = fixed or (x.facts.nonnegative(e - 2) and x.facts.nonnegative(n - 2))
                kind = "size_mismatch" if apart else LEFT_OUT  # runtimes repeat one element
                x.require_equal(e, n, kind, "index {} has extents {} and {}", label, e, n)
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
    unfit : str
        The kind of the requirement that a window fits.
    cropped : str
        The kind of the requirement that windows of ``"SAME_UPPER"`` and ``"SAME_LOWER"`` reach the last element; if it
        is empty, the last elements may be in no window.
    """

    strides: tuple[Any, ...]
    dilations: tuple[Any, ...]
    pads: Any
    ceil: bool = False
    outside: bool = False
    unfit: str = "infeasible"
    cropped: str = ""

    def windows(self, x: Operand, extents: Sequence[Extent], kernel: Sequence[Extent]) -> list[AxisWindows]:
        """Return the windows along each axis.

        Raises
        ------
        ShapeError
            ``infeasible``, or *unfit*, if a window does not fit, *cropped* if windows end too early, ``block_lt_1`` for
            a stride or dilation below 1, ``left_out`` for windows without elements.
        """
        found = []
        for k, (n, size) in enumerate(zip(extents, kernel, strict=True)):
            s, d = x.extent(self.strides[k], "strides"), x.extent(self.dilations[k], "dilations")
            x.require(s - 1, "block_lt_1", "stride {} is below 1", s)
            x.require(d - 1, "block_lt_1", "dilation {} is below 1", d)
            x.require(size - 1, LEFT_OUT, "the window has extent {} on spatial axis {}", size, k)
            reach = d * (size - 1) + 1
            if isinstance(self.pads, str) and self.pads != "VALID":
                count = x.floor_div(n + s - 1, s)
                short = (count - 1) * s + reach - n
                if self.cropped and not x.facts.nonnegative(reach - s):
                    x.require(short, self.cropped, "windows leave out {} elements of spatial axis {}", -short, k)
                added = x.maximum(short, 0)
                less = x.floor_div(added, 2)
                begin = less if self.pads == "SAME_UPPER" else added - less
                if self.ceil and self.outside:
                    count = x.floor_div(n + added - reach + s - 1, s) + 1
                found.append(AxisWindows(n, size, s, d, begin, added - begin, count))
                continue
            begin, end = (0, 0) if self.pads == "VALID" else [x.extent(e, "pads") for e in self.pads[k]]
            padded = n + (begin + end)
            room = padded - reach
            rule = "a window of {} does not fit {} elements on spatial axis {}"
            x.require(room, self.unfit, rule, reach, padded, k)
            count = x.floor_div(room, s) + 1
            if self.ceil and s != 1:
                count = x.floor_div(room + s - 1, s) + 1
                if not self.outside:
                    count = x.minimum(count, x.floor_div(n + begin - 1, s) + 1)
            found.append(AxisWindows(n, size, s, d, begin, end, count))
        return found


@dataclass(slots=True)
class AxisWindows:
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
    image_rank, kernel_rank = map(len, x.shapes)
    if image_rank != kernel_rank or image_rank < 2:
        raise ShapeError(f"{x.where}: the kernels have rank {kernel_rank}, not {image_rank}", "rank")
    (n, c, *extents), (m, each, *kernel) = x.shapes
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

    Along an axis of stride s, every s-th element of a kernel meets a given element of the result.  So the result is
    made of the convolutions with s kernels, each of every s-th element of the kernel, turned.  Where the stride and the
    dilation are not 1, it is the convolution of the input with ``stride - 1`` zeros between its elements.

    Parameters
    ----------
    pads : sequence of pairs
        What is taken away of the result on each spatial axis; negative numbers add.
    extra : sequence
        What is added at the end of each spatial axis.

    Raises
    ------
    ShapeError
        ``rank``, ``size_mismatch``, ``infeasible``, ``block_lt_1``, ``non_divisible``.
    """
    rank = x.rank - 2
    if w.rank != x.rank:
        raise ShapeError(f"conv_transpose: the kernels have rank {w.rank}, not {x.rank}", "rank")
    steps = list(strides)
    for k, (s, d) in enumerate(zip(strides, dilations, strict=True)):
        if s != 1 and d != 1:
            x, steps[k] = _spread(x, 2 + k, s), 1
    kernels = kernels_of_phases(w, groups, tuple(steps))
    around, sizes = [], []
    for k, (s, d, (begin, end), more) in enumerate(zip(steps, dilations, pads, extra, strict=True)):
        reach = d * (kernels.shape[2 + k] - 1)
        around.append((reach - begin, reach - end + more) if s == 1 else (reach, reach))
        sizes.append(None if s == 1 else (x.shape[2 + k] - 1) * s + w.shape[2 + k] - begin - end + more)
    made = conv(x, kernels, groups, Spatial((1,) * rank, tuple(dilations), tuple(around)))
    if all(s == 1 for s in steps):
        return made
    return interleaved(made, tuple(steps), tuple(begin for begin, _ in pads), tuple(sizes))


def _spread(x: Tensor, axis: int, stride: Any) -> Tensor:
    """Return *x* with ``stride - 1`` zeros between the elements of an axis."""
    apart = expand_dims(nonempty(x, [axis]), axis + 1)
    widths = [(0, stride - 1 if k == axis + 1 else 0) for k in range(apart.rank)]
    shape = [n * stride if k == axis else n for k, n in enumerate(x.shape)]
    spread = reshape(pad(apart, widths), shape)
    return pad(spread, [(0, 1 - stride if k == axis else 0) for k in range(x.rank)])


@core_operation
def kernels_of_phases(w: Operand, groups: int, strides: Sequence[Any]) -> Declared:
    """Return kernels (c, m/groups, ...) as kernels (m*phases, c/groups, ...), each of every stride-th element, turned.

    A channel of the result has one kernel for each combination of remainders by the strides.

    Parameters
    ----------
    groups : int
        The number of groups of channels.
    strides : sequence of int, dim or expression
        The stride along each spatial axis.

    Raises
    ------
    ShapeError
        ``block_lt_1`` for a stride below 1, ``non_divisible`` if *groups* does not divide the channels.

    References
    ----------
    W. Shi et al., "Is the deconvolution layer the same as a convolutional layer?", 2016.

    Examples
    --------
    >>> import symlayout as sl
    >>> kernels_of_phases(sl.tensor("C, M, 4, 3", name="w"), 1, (2, 1)).shape
    (2*M, C, 2, 3)
    """
    c, each, *kernel = w.shape
    steps = _steps(w, strides, len(kernel))
    per = w.divide(c, groups)
    counts = [w.floor_div(n + s - 1, s) for n, s in zip(kernel, steps, strict=True)]

    def coords(m: Any, r: Any, *offsets: Any) -> list[Any]:
        spots: list[Any] = []
        for s, count, j in zip(reversed(steps), reversed(counts), reversed(offsets), strict=True):
            turned = count - 1 - j
            spots.insert(0, turned if s == 1 else turned * s + m % s)
            m = m if s == 1 else m // s
        return [r if groups == 1 else m // each * per + r, m if groups == 1 else m % each, *spots]

    whole = all(count * s == n for n, s, count in zip(kernel, steps, counts, strict=True))
    domain = (groups * each * product(steps), per, *counts)
    return index_map(domain, coords, fill=None if whole else Fill(0))


@core_operation
def interleaved(x: Operand, strides: Sequence[Any], begins: Sequence[Any], sizes: Sequence[Any]) -> Declared:
    """Return (n, m*phases, ...) as (n, m, ...), where each phase has every stride-th element of the spatial axes.

    Parameters
    ----------
    strides : sequence of int, dim or expression
        The number of phases along each spatial axis; an axis of stride 1 stays.
    begins : sequence of int, dim or expression
        How many elements are taken away at the beginning of each axis.
    sizes : sequence of int, dim, expression or None
        The extents of the result.  Elements beyond the input are 0.

    Raises
    ------
    ShapeError
        ``block_lt_1`` for a stride below 1, ``infeasible`` if an extent is below 1, ``non_divisible``.

    References
    ----------
    W. Shi et al., "Is the deconvolution layer the same as a convolutional layer?", 2016.

    Examples
    --------
    >>> import symlayout as sl
    >>> interleaved(sl.tensor("N, 2*C, H, W", name="x"), (2, 1), (1, 0), (7, None)).shape
    (N, C, 7, W)
    """
    n, channels, *extents = x.shape
    steps = _steps(x, strides, len(extents))
    starts = x.extents(begins, "pads", len(extents))
    found: list[Extent] = []
    whole = True
    for k, (e, s, start, size) in enumerate(zip(extents, steps, starts, sizes, strict=True)):
        if s == 1:
            found.append(e)
            continue
        found.append(x.extent(size, "extent"))
        x.require(found[-1] - 1, "infeasible", "extent {} of spatial axis {} is below 1", found[-1], k)
        whole = whole and x.facts.nonnegative(start) and x.facts.nonnegative(e * s - start - found[-1])

    def coords(i: Any, m: Any, *places: Any) -> list[Any]:
        spots: list[Any] = []
        for s, start, place in zip(steps, starts, places, strict=True):
            if s == 1:
                spots.append(place)
                continue
            m = m * s + (place + start) % s
            spots.append((place + start) // s)
        return [i, m, *spots]

    domain = (n, x.divide(channels, product(steps)), *found)
    return index_map(domain, coords, fill=None if whole else Fill(0))


def _steps(x: Operand, strides: Sequence[Any], rank: int) -> list[Extent]:
    steps = x.extents(list(strides), "strides", rank)
    for s in steps:
        x.require(s - 1, "block_lt_1", "stride {} is below 1", s)
    return steps
