"""Operations that read whole operands: their shapes are exact, and nothing is known of how elements depend on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symlayout.algebra.polynomial import Extent
from symlayout.compute.elementwise import elementwise
from symlayout.compute.gather import placed
from symlayout.ops.broadcast import broadcast_to
from symlayout.ops.reshape import reshape
from symlayout.tensors.apply_operation import core_joint_operation
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import compute, constant
from symlayout.tensors.declaration import Body, Declared, Operand, Places, index_map

Array = np.ndarray[Any, Any]
Axes = tuple[int, ...]


class _Limited:
    """The extents of a result, of which some depend on data; each of those has a limit."""

    __slots__ = ("limits", "result")

    def __init__(self, result: tuple[Any, ...], limits: tuple[tuple[Any, Any], ...]) -> None:
        self.result, self.limits = result, limits

    def __call__(self, x: Operand, views: tuple[Tensor, ...]) -> Sequence[Extent]:
        made = [x.extent(e, "extent of the result") for e in self.result]
        for dim, limit in self.limits:
            low, high = x.extent(dim), x.extent(limit)
            x.require(high - low, "infeasible", "{} exceeds its limit {}", low, high)
        return made


def whole(
    name: str,
    xs: Sequence[Tensor],
    result: Sequence[Any],
    *,
    function: Callable[..., Any] | None = None,
    attributes: Sequence[tuple[str, Any]] = (),
    dtype: Any = None,
    random: bool = False,
    total: bool | None = None,
    limits: Sequence[tuple[Any, Any]] = (),
    places: tuple[Places, ...] = (),
) -> Tensor:
    """Return a value of the shape *result* that is computed of whole operands.

    Parameters
    ----------
    function : callable, optional
        Without it, no value is known.
    total : bool, optional
        Whether there is a value for all elements, although there is no function: where it is *random*, if not given.
    limits : sequence of pairs
        Extents that depend on data, each with its largest value.
    places : tuple of Places
        The operands whose elements are places or lengths on axes of others.

    Examples
    --------
    >>> import symlayout as sl
    >>> N, k = sl.dims("N k")
    >>> y = whole("chosen", [sl.tensor((N, 3), name="x")], (k, 3), limits=[(k, N)])
    >>> y.shape, y.requires
    ((k, 3), (N >= k,))
    """
    given = tuple((key, _frozen(v)) for key, v in attributes)
    total = random if total is None else total
    body = Body(name, function, given, over=True, random=random or _is_symbolic(given), places=places, total=total)
    views = list(xs) or [constant(np.zeros((), np.uint8))]
    return compute(body, views, batch=0, result=_Limited(tuple(result), tuple(limits)), dtype=dtype)


def as_runtimes_round(
    name: str,
    formula: Tensor,
    operands: Sequence[Tensor],
    attributes: Sequence[tuple[str, Any]] = (),
    *,
    pointwise: bool = False,
) -> Tensor:
    """Return what runtimes compute in place of *formula*, a value of *operands*, and round in a way of their own.

    It equals what is computed by the same name, with the same attributes, of equal operands.

    Parameters
    ----------
    pointwise : bool
        Whether an element depends on one element of each operand, broadcast, and not on whole operands.

    Examples
    --------
    >>> import symlayout as sl
    >>> x = sl.tensor("N", name="x")
    >>> first, again, other = (as_runtimes_round(name, x, [x]) for name in ("halved", "halved", "doubled"))
    >>> sl.prove_equal(first, again).verdict, sl.prove_equal(first, other).verdict
    (<Verdict.PROVED: 'proved'>, <Verdict.UNKNOWN: 'unknown'>)
    """
    given = tuple((key, _frozen(v)) for key, v in attributes)
    if pointwise:
        return elementwise(Body(name, None, given, total=True, rounds=True), formula, *operands, dtype=formula.dtype)
    body = Body(name, None, given, over=True, random=_is_symbolic(given), total=True, rounds=True)
    return compute(body, [formula, *operands], batch=0, result=_Limited(formula.shape, ()), dtype=formula.dtype)


def where_elements(x: Tensor, of: Tensor, name: str, places: Places) -> Tensor:
    """Return *x*, which is valid where the elements of a second tensor are, and reads none of these.

    Parameters
    ----------
    name : str
        What is demanded, as the name of the function that is valid for such elements only.
    places : Places
        What the elements of the only operand of that function have to be.

    Examples
    --------
    >>> import symlayout as sl
    >>> x, r = sl.tensor("N", name="x"), sl.tensor((), name="r")
    >>> sl.prove_equal(where_elements(x, r, "share", Places(0, limits=(0, 1))), x).verdict
    <Verdict.PROVED: 'proved'>
    """
    return beside([x, whole(name, [of], of.shape, function=_itself, dtype=of.dtype, places=(places,))])


@core_joint_operation
def beside(x: Operand) -> Declared:
    """Return the first of two tensors, which is valid where both are, and reads nothing of the second one."""
    return index_map(x.shapes[0], lambda *o: o)


def _itself(x: Array, axes: Axes) -> Array:
    return x


def room_of(shape: Sequence[Any]) -> Tensor:
    """Return zeros whose shape tells a body the extents of its result.

    >>> import symlayout as sl
    >>> room_of(sl.dims("N C")).shape
    (N, C)
    """
    return broadcast_to(reshape(constant(np.zeros((), np.int8)), (1,) * len(shape)), tuple(shape))


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


def _is_symbolic(value: Any) -> bool:
    """Return whether there are dims in an attribute: they may get other values, so that it decides no equality."""
    return any(map(_is_symbolic, value)) if isinstance(value, tuple) else bool(getattr(value, "free_symbols", ()))


def shape_of(x: Array, axes: Axes, start: int, end: int | None) -> Array:
    """Return some of the extents."""
    return np.asarray(x.shape[start:end], np.int64)


def size_of(x: Array, axes: Axes) -> Array:
    """Return the number of elements."""
    return np.asarray(x.size, np.int64)


def eye_like(x: Array, axes: Axes, k: int, to: Any) -> Array:
    """Return 1 on a diagonal and 0 elsewhere."""
    return np.eye(x.shape[0], x.shape[1], k).astype(x.dtype if to is None else to)


def nonzero(x: Array, axes: Axes) -> Array:
    """Return the coordinates of the elements that are not 0, one column for each."""
    return (
        np.asarray(np.nonzero(np.atleast_1d(x)), np.int64)[: x.ndim] if x.ndim else np.zeros((0, int(x != 0)), np.int64)
    )


def compressed(x: Array, condition: Array, axes: Axes, axis: int | None) -> Array:
    """Return the slices where a condition holds."""
    return np.asarray(np.compress(condition.astype(bool), x, axis))


def unique(x: Array, axes: Axes, axis: int | None, ordered: bool, output: int) -> Array:
    """Return the distinct slices, the first place of each, where each slice is among them, or how often each occurs."""
    values, first, inverse, counts = np.unique(x, True, True, True, axis=axis)
    inverse = inverse.reshape(-1)
    if not ordered:
        order = np.argsort(first)
        rank = np.argsort(order)
        values = np.take(values, order, 0 if axis is None else axis)
        first, inverse, counts = first[order], rank[inverse], counts[order]
    found: Array = (values, first, inverse, counts)[output]
    return found


def ranged(room: Array, axes: Axes, start: Any, delta: Any, to: Any) -> Array:
    """Return ``start + k * delta`` for each position k."""
    return np.asarray(start + np.arange(room.shape[-1]) * delta).astype(to)


def range_of(start: Array, limit: Array, delta: Array, axes: Axes) -> Array:
    """Return the values from the first operand to before the second."""
    first, last, step = (e.reshape(-1)[0] for e in (start, limit, delta))
    count = max(int(np.ceil((float(last) - float(first)) / float(step))), 0)
    return np.asarray(first + np.arange(count) * step).astype(start.dtype)


def one_hot(index: Array, values: Array, room: Array, axes: Axes) -> Array:
    """Return the second of the values at the index, and the first elsewhere."""
    depth = room.shape[-1]
    at = np.mod(index.astype(np.int64), depth) if depth else index.astype(np.int64)
    inside = (index >= -depth) & (index < depth)
    hit = (at[..., None] == np.arange(depth)) & inside[..., None]
    return np.where(hit, values[..., 1:2], values[..., 0:1])


def triangle(x: Array, axes: Axes, k: int, upper: bool) -> Array:
    """Return the elements on one side of a diagonal, and 0 elsewhere."""
    return np.asarray(np.triu(x, k) if upper else np.tril(x, k))


def determinant(x: Array, axes: Axes) -> Array:
    """Return determinants of matrices; those of narrow floats are computed in float32."""
    return np.asarray(np.linalg.det(x.astype(np.float32) if x.dtype.itemsize < 4 else x)).astype(x.dtype)


def reversed_parts(x: Array, lengths: Array, axes: Axes) -> Array:
    """Return the first elements of axis 1 in reverse order, as many as the length of each row says."""
    made = x.copy()
    for row, n in enumerate(lengths.astype(np.int64).tolist()):
        made[row, :n] = x[row, :n][::-1]
    return made


_COMBINE = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def scattered(x: Array, index: Array, updates: Array, axes: Axes, axis: int, reduction: str) -> Array:
    """Return *x* with updates written where an index replaces the coordinate on *axis*."""
    made = x.copy()
    spots: list[Array] = list(np.indices(index.shape))
    spots[axis] = placed(index, x.shape[axis])
    _write(made, tuple(spots), updates, reduction)
    return made


def scattered_nd(x: Array, index: Array, updates: Array, axes: Axes, reduction: str) -> Array:
    """Return *x* with slices written at the coordinates in the last axis of an index."""
    made = x.copy()
    count = index.shape[-1]
    flat = index.reshape(-1, count)
    spots = tuple(placed(flat[:, k], n) for k, n in enumerate(x.shape[:count]))
    _write(made, spots, updates.reshape(len(flat), *x.shape[count:]), reduction)
    return made


def scattered_slices(x: Array, index: Array, updates: Array, axes: Axes, axis: int) -> Array:
    """Return *x* with slices written at the indices of an axis."""
    made = x.copy()
    flat = placed(index, x.shape[axis]).reshape(-1)
    slices = updates.reshape(*x.shape[:axis], flat.size, *x.shape[axis + 1 :])
    made[(slice(None),) * axis + (flat,)] = slices
    return made


def bucket(x: Array, limits: Array, axes: Axes, right: bool) -> Array:
    """Return the number of limits that are below each element, or not above it if *right* is false."""
    return np.searchsorted(limits, x, "left" if right else "right").astype(np.int64)


def _write(made: Array, spots: tuple[Array, ...], updates: Array, reduction: str) -> None:
    if reduction == "none":
        made[spots] = updates
    else:
        _COMBINE[reduction].at(made, spots, updates)


def fourier(x: Array, axes: Axes, axis: int, length: int | None, inverse: bool, onesided: bool) -> Array:
    """Return the discrete Fourier transform along an axis; complex numbers are pairs in the last axis."""
    v = x[..., 0] + 1j * x[..., 1] if x.shape[-1] == 2 else x[..., 0].astype(np.complex128)
    if inverse and onesided:
        made: Array = np.fft.irfft(v, length, axis)[..., None]
        return made.astype(x.dtype)
    f = (np.fft.ifft if inverse else np.fft.fft)(v, length, axis)
    if onesided:
        f = np.take(f, range(f.shape[axis] // 2 + 1), axis)
    return np.stack([f.real, f.imag], -1).astype(x.dtype)


def short_time_fourier(x: Array, *rest: Array, axes: Axes, step: int, length: int, onesided: bool) -> Array:
    """Return the Fourier transforms of frames of a signal, each multiplied by a window if one is given."""
    v = x if x.ndim == 3 else x[..., None]
    frames = (v.shape[1] - length) // step + 1
    at = np.arange(frames)[:, None] * step + np.arange(length)
    cut = v[:, at]  # (batch, frames, length, parts)
    window = rest[0] if rest else np.ones(length, x.dtype)
    padded = np.zeros(length, window.dtype)
    padded[: len(window)] = window[:length]
    return fourier((cut * padded[:, None]).astype(x.dtype), (), 2, None, False, onesided)


_COSINES = {"hann": (0.5, 0.5, 0.0), "hamming": (25 / 46, 1 - 25 / 46, 0.0), "blackman": (0.42, 0.5, 0.08)}


def cosine_window(room: Array, axes: Axes, kind: str, periodic: bool, to: Any) -> Array:
    """Return a window of as many elements as *room*: a sum of cosines; integers are cut off from floats of 32 bits."""
    n = room.shape[0]
    angle = 2 * np.pi * np.arange(n) / max(n if periodic else n - 1, 1)
    first, second, third = _COSINES[kind]
    made = np.asarray(first - second * np.cos(angle) + third * np.cos(2 * angle))
    return (made if to.kind == "f" else made.astype(np.float32)).astype(to)


def mel_weights(bins: Array, length: Array, rate: Array, low: Array, high: Array, axes: Axes, to: Any) -> Array:
    """Return the matrix from the bins of a spectrum to those of the mel scale: triangles between their neighbours."""
    count, size = int(bins.reshape(-1)[0]), int(length.reshape(-1)[0])
    ends = [2595 * np.log10(1 + float(e.reshape(-1)[0]) / 700) for e in (low, high)]
    points = ends[0] + np.arange(count + 2) * ((ends[1] - ends[0]) / (count + 2))
    hertz = 700 * (10 ** (points / 2595) - 1)
    at = ((size + 1) * hertz // float(rate.reshape(-1)[0])).astype(np.int64)
    made = np.zeros((size // 2 + 1, count))
    rows = np.arange(len(made))
    for k, (left, centre, right) in enumerate(zip(at, at[1:], at[2:], strict=False)):
        rising = (rows >= left) & (rows <= centre)
        made[rising, k] = (rows[rising] - left) / (centre - left) if centre > left else 1
        falling = (rows >= centre) & (rows < right)
        made[falling, k] = (right - rows[falling]) / max(right - centre, 1)
    return made.astype(to)


def scattered_cache(x: Array, updates: Array, *rest: Array, axes: Axes, axis: int, circular: bool) -> Array:
    """Return *x* with updates written along *axis* from the index on that each element of axis 0 has."""
    made = x.copy()
    starts = rest[0].astype(np.int64) if rest else np.zeros(len(x), np.int64)
    at = starts.reshape(-1, *[1] * (x.ndim - 1)) + np.arange(updates.shape[axis]).reshape(
        [-1 if k == axis else 1 for k in range(x.ndim)]
    )
    if circular:
        at = at % x.shape[axis]
    np.put_along_axis(made, np.broadcast_to(at, updates.shape), updates, axis)
    return made


def class_loss(x: Array, labels: Array, *rest: Array, axes: Axes, ignore: int | None, reduction: str) -> Array:
    """Return the negative elements of (n, c, ...) at classes, times the weights of the classes; their sum or mean."""
    counts = np.full(labels.shape, True) if ignore is None else labels != ignore
    if (labels[counts] < 0).any():
        raise IndexError("a class is below 0")
    at = placed(np.where(counts, labels, 0), x.shape[1] if counts.any() else 1)
    weight = rest[0][at] if rest else np.ones(labels.shape, x.dtype)
    if ignore is not None:
        weight = np.where(labels == ignore, 0, weight)
    loss = -np.take_along_axis(x, at[:, None], 1)[:, 0] * weight
    if reduction == "none":
        return np.asarray(loss).astype(x.dtype)
    total = loss.sum(dtype=x.dtype)
    return np.asarray(total if reduction == "sum" else total / weight.sum(dtype=x.dtype)).astype(x.dtype)
