"""Claims through operations that compute, each beside one with a single thing wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import symlayout as sl

Sides = tuple[sl.Tensor, sl.Tensor]


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim that is true, and neighbours of it that are false.

    Attributes
    ----------
    name : str
        What is claimed.
    true : function
        Returns both sides.
    false : tuple of functions
        Each returns both sides of a claim with one thing wrong.
    law : str
        The law that the proof needs; empty if none.
    """

    name: str
    true: Callable[[], Sides]
    false: tuple[Callable[[], Sides], ...]
    law: str = ""


def leaf(shape: Sequence[Any], name: str) -> sl.Tensor:
    """Return a float32 input."""
    return sl.tensor(tuple(shape), "float32", name=name)


N, C, H, W, M, K, P, Q = sl.dims("N C H W M K P Q", min=1)
KH, KW = sl.dims("kh kw", min=1)
IMAGE, KERNEL = leaf((N, C, H + 2, W + 2), "x"), leaf((M, C, 3, 3), "w")
op: Any = sl.onnx
swap = sl.transpose
TO_LAST, TO_FIRST = (0, 2, 3, 1), (0, 3, 1, 2)


def _layouts(back: Sequence[int] = TO_FIRST, pads: Sequence[int] = (1, 1, 1, 1)) -> Sides:
    x = leaf((N, H + 2, W + 2, C), "x")
    w = leaf((M, 3, 3, C), "w")
    left = op.conv(swap(x, back), swap(w, TO_FIRST), pads=pads)
    right = op.conv(sl.moveaxis(x, -1, 1), sl.moveaxis(w, 3, 1), pads=(1, 1, 1, 1))
    return swap(left, TO_LAST), swap(right, TO_LAST)


def _dilated(d: int = 2, block: Sequence[int] = (2, 2), crop: int = 0) -> Sides:
    x, w = leaf((N, C, 2 * H + 4 * KH, 2 * W + 4 * KW), "x"), leaf((M, C, KH, KW), "w")
    none = [[0, 0], [0, 0]]
    last = swap(x, TO_LAST)
    batch = sl.tensorflow.space_to_batch_nd(last, block_shape=list(block), paddings=none)
    y = swap(op.conv(swap(batch, TO_FIRST), w), TO_LAST)
    back = swap(sl.tensorflow.batch_to_space_nd(y, block_shape=[2, 2], crops=[[crop, 0], [0, 0]]), TO_FIRST)
    return back, op.conv(x, w, dilations=(d, d))[:, :, crop:]


def _dilated_padded(pads: Sequence[int] = (2, 2, 2, 2)) -> Sides:
    x, w = leaf((N, C, 2 * H + 4, 2 * W + 4), "x"), KERNEL
    batch = sl.tensorflow.space_to_batch_nd(swap(x, TO_LAST), block_shape=[2, 2], paddings=[[2, 2], [2, 2]])
    y = swap(op.conv(swap(batch, TO_FIRST), w), TO_LAST)
    back = swap(sl.tensorflow.batch_to_space_nd(y, block_shape=[2, 2], crops=[[0, 0], [0, 0]]), TO_FIRST)
    return back, op.conv(x, w, dilations=(2, 2), pads=pads)


def _product(left: Sequence[int] = (0, 2, 1), right: Sequence[int] = (0, 2, 1)) -> Sides:
    a, b = leaf((N, M, M), "a"), leaf((N, M, M), "b")
    return swap(op.matmul(a, b), (0, 2, 1)), op.matmul(swap(b, left), swap(a, right))


def _softmax(axis: int = 1) -> Sides:
    x = leaf((N, H, H, C), "x")
    return op.softmax(swap(x, (0, 3, 1, 2)), axis=1), swap(op.softmax(x, axis=3 if axis == 1 else axis), (0, 3, 1, 2))


def _relu(value: float = 0.0) -> Sides:
    widths = [(0, 0), (0, 0), (1, 2), (3, 0)]
    return op.relu(sl.pad(IMAGE, widths, constant_values=value)), sl.pad(op.relu(IMAGE), widths, constant_values=value)


def _relu_moved(axes: Sequence[int] = (1, 2, 3, 0)) -> Sides:
    x = leaf((H, H, H, H), "x")
    return op.relu(swap(x, (1, 2, 3, 0))[:, ::-1]), swap(op.relu(x), axes)[:, ::-1]


def _concat(order: Sequence[int] = (0, 1)) -> Sides:
    xs = [leaf((N, M, W), "a"), leaf((N, M, W), "b")]
    return op.sigmoid(sl.concatenate(xs, 1)), sl.concatenate([op.sigmoid(xs[k]) for k in order], 1)


def _added(shift: int = 0) -> Sides:
    a, b, s = leaf((N, C, W), "a"), leaf((N, M, W), "b"), leaf((C + M + 1, 1), "s")
    left = op.add(sl.concatenate([a, b], 1), s[:-1])
    return left, sl.concatenate([op.add(a, s[shift : C + shift]), op.add(b, s[C : C + M])], 1)


def _grouped(order: Sequence[int] = (0, 1, 2), groups: int = 3) -> Sides:
    x, w = leaf((N, 3 * C, H + 2, W + 2), "x"), leaf((3 * M, C, 3, 3), "w")
    parts = [op.conv(a, b, pads=(1, 0, 1, 0)) for a, b in zip(sl.split(x, 3, 1), sl.split(w, 3, 0), strict=True)]
    return op.conv(x, w, group=3, pads=(1, 0, 1, 0)), sl.concatenate([parts[k] for k in order], 1)


def _max_pool(start: int = 2) -> Sides:
    x = leaf((N, C, 2 * H + 4, 2 * W), "x")
    pool = {"kernel_shape": (2, 2), "strides": (2, 2)}
    return op.max_pool(x, **pool)[:, :, 1 : H + 1], op.max_pool(x[:, :, start : 2 * H + start], **pool)


def _average_pool(size: int = 2) -> Sides:
    x = leaf((N, C, 2 * H, 2 * W), "x")
    windows = sl.reshape(x, (N, C, H, 2, W, 2))
    left = op.average_pool(x, kernel_shape=(size, size), strides=(2, 2), pads=(0, 0, size - 2, size - 2))
    return left, op.reduce_mean(windows, axes=[3, 5], keepdims=0)


def _reduced(axes: Sequence[int] = (1, 2)) -> Sides:
    x = leaf((N, C, C, W), "x")
    return op.reduce_max(sl.reshape(x, (N, C * C, W)), axes=[1], keepdims=0), op.reduce_max(x, axes=axes, keepdims=0)


def _sum_reshaped(axes: Sequence[int] = (1, 2)) -> Sides:
    x = leaf((N, C, C, C), "x")
    return op.reduce_sum(sl.reshape(x, (N, C * C, C)), axes=[1], keepdims=0), op.reduce_sum(x, axes=axes, keepdims=0)


def _layer_norm(axis: int = 3) -> Sides:
    x, s, b = leaf((N, H, H, H), "x"), leaf((H,), "s"), leaf((H,), "b")
    left = op.layer_normalization(swap(x, (0, 2, 1, 3)), s, b)
    order = (0, 2, 1, 3) if axis == 3 else (0, 3, 2, 1)
    return left, swap(op.layer_normalization(x, s, b), order)


def _gathered(axis: int = 2) -> Sides:
    x, i = leaf((M, C, C), "x"), sl.tensor((P,), "int64", name="i")
    right = op.gather(swap(x, (0, 2, 1)), i, axis=axis)
    return swap(op.gather(x, i, axis=1), (0, 2, 1)), right if axis == 2 else swap(right, (0, 2, 1))


def _scattered(step: int = 1) -> Sides:
    x, u = leaf((M, C), "x"), leaf((P, C), "u")
    i = sl.tensor((P, 1), "int64", name="i")
    again = sl.reshape(sl.reshape(x, (M, 1, C)), (M, C))
    return op.scatter_nd(x, i, u), op.scatter_nd(again, i, u[::step])


def _padded_conv(pads: Sequence[int] = (1, 2, 3, 0)) -> Sides:
    padded = sl.pad(IMAGE, [(0, 0), (0, 0), (1, 3), (2, 0)])
    return op.conv(padded, KERNEL), op.conv(IMAGE, KERNEL, pads=pads)


def _blocked(first: int = 0) -> Sides:
    a, b = leaf((M, K, 2), "a"), leaf((2 * K, P), "b")
    flat = sl.reshape(a, (M, 2 * K))
    halves = sl.reshape(b, (K, 2, P))
    right = op.einsum(a, halves if first == 0 else halves[:, ::-1], equation="mkj,kjp->mp")
    return op.matmul(flat, b), right


def _heads(order: Sequence[int] = (0, 2, 1, 3)) -> Sides:
    q, k = leaf((N, H, M * M), "q"), leaf((N, H, M * M), "k")

    def split(x: sl.Tensor, axes: Sequence[int]) -> sl.Tensor:
        return swap(sl.reshape(x, (N, H, M, M)), axes)

    left = op.matmul(split(q, (0, 2, 1, 3)), swap(split(k, (0, 2, 1, 3)), (0, 1, 3, 2)))
    flat = [sl.reshape(split(x, o), (N * M, H, M)) for x, o in ((q, (0, 2, 1, 3)), (k, order))]
    right = op.matmul(flat[0], swap(flat[1], (0, 2, 1)))
    return sl.reshape(left, (N * M, H, H)), right


def _pointwise(turned: bool = False) -> Sides:
    x, w = leaf((N, M, H, W), "x"), leaf((M, M, 1, 1), "w")
    matrix = sl.reshape(w, (M, M))
    flat = sl.reshape(swap(x, TO_LAST), (N * H * W, M))
    product = op.matmul(flat, matrix if turned else swap(matrix))
    return op.conv(x, w), swap(sl.reshape(product, (N, H, W, M)), TO_FIRST)


def _depthwise(flipped: bool = False) -> Sides:
    x, w = leaf((N, C, H + 2, W + 2), "x"), leaf((C, 1, 3, 3), "w")
    left = op.conv(x[:, ::-1], w if flipped else w[::-1], group=C)
    return left, op.conv(x, w, group=C)[:, ::-1]


def _batch_norm(order: Sequence[int] = (0, 1, 2, 3)) -> Sides:
    x = leaf((N, H, W, C), "x")
    p = [leaf((C,), name) for name in "abcd"]
    back = swap(op.batch_normalization(swap(x, TO_FIRST), *p), TO_LAST)
    flat = op.batch_normalization(sl.reshape(x, (N * H * W, C)), *(p[k] for k in order))
    return back, sl.reshape(flat, (N, H, W, C))


def _transposed_conv(axes: Sequence[int] = (0, 1, 3, 2)) -> Sides:
    x, w = leaf((N, H, W, C), "x"), leaf((C, M, 3, 3), "w")
    left = op.conv_transpose(swap(x, TO_FIRST), w, strides=(2, 2))
    right = swap(op.conv_transpose(swap(x, (0, 3, 2, 1)), swap(w, axes), strides=(2, 2)), (0, 1, 3, 2))
    return left, right


def _cumulated(axis: int = 0) -> Sides:
    x = leaf((M, M, C), "x")
    return swap(op.cum_sum(x, axis=axis), (1, 0, 2)), op.cum_sum(swap(x, (1, 0, 2)), axis=1)


def _embedding(parts: int = 2) -> Sides:
    table, i = leaf((2 * M, C), "t"), sl.tensor((N, 2 * P), "int64", name="i")
    rows = op.gather(table, i)
    halves = [op.gather(table, i[:, k * P : (k + 1) * P]) for k in ((0, 1) if parts == 2 else (1, 0))]
    return rows, sl.concatenate(halves, 1)


def _top_k(axis: int = 1) -> Sides:
    x = leaf((N, 7, 7), "x")
    return swap(op.top_k(x, K=3, axis=axis)[0], (0, 2, 1)), op.top_k(swap(x, (0, 2, 1)), K=3, axis=2)[0]


def _resized(mode: str = "linear") -> Sides:
    x = leaf((N, H, W, C), "x")
    left = op.resize(swap(x, TO_FIRST), scales=(1, 1, 2, 3), mode="linear")
    return left, swap(op.resize(x, scales=(1, 2, 3, 1), mode=mode), TO_FIRST)


def _windows(dilation: int = 1) -> Sides:
    x = leaf((N, C, H + 4), "x")
    windows = sl.window(x, (3,), axis=(2,), dilation=dilation)
    return op.max_pool(x, kernel_shape=(3,))[:, :, : windows.shape[2]], op.reduce_max(windows, axes=[3], keepdims=0)


CLAIMS = (
    Claim(
        "convolution in two layouts", _layouts, (lambda: _layouts((0, 3, 2, 1)), lambda: _layouts(pads=(1, 1, 0, 2)))
    ),
    Claim("convolution between space_to_batch and back is dilated", _dilated, (lambda: _dilated(3),)),
    Claim("the same with a crop", lambda: _dilated(crop=1), ()),
    Claim("the same with pads", _dilated_padded, (lambda: _dilated_padded((3, 2, 1, 2)),)),
    Claim("product of transposes", _product, (lambda: _product(right=(0, 1, 2)), lambda: _product(left=(0, 1, 2)))),
    Claim("softmax along a moved axis", _softmax, (lambda: _softmax(2),)),
    Claim("relu and a pad with its fixed point", _relu, (lambda: _relu(-1.0),)),
    Claim("relu and movement without fill", _relu_moved, (lambda: _relu_moved((2, 1, 3, 0)),)),
    Claim("sigmoid of a concatenation", _concat, (lambda: _concat((1, 0)),)),
    Claim("a sum over a concatenation", _added, (lambda: _added(1),)),
    Claim("grouped convolution is split", _grouped, (lambda: _grouped((0, 2, 1)),)),
    Claim("maximum pool and a crop that fits", _max_pool, (lambda: _max_pool(1), lambda: _max_pool(0))),
    Claim("average pool is the mean of blocks", _average_pool, (lambda: _average_pool(3),)),
    Claim("maximum over reshaped axes", _reduced, (lambda: _reduced((1, 3)),)),
    Claim("sum over reshaped axes", _sum_reshaped, (lambda: _sum_reshaped((1, 3)),)),
    Claim("layer normalisation along moved axes", _layer_norm, (lambda: _layer_norm(1),)),
    Claim("gather at runtime indices and movement", _gathered, (lambda: _gathered(1),)),
    Claim("scatter is a function of its operands", _scattered, (lambda: _scattered(-1),)),
    Claim(
        "convolution of a padded image",
        _padded_conv,
        (lambda: _padded_conv((1, 2, 2, 1)), lambda: _padded_conv((3, 2, 1, 0))),
    ),
    Claim("product blocked by a reshape", _blocked, (lambda: _blocked(1),)),
    Claim("heads in the batch", _heads, (lambda: _heads((0, 3, 1, 2)),)),
    Claim("pointwise convolution is a product", _pointwise, (lambda: _pointwise(True),)),
    Claim("depthwise convolution of turned channels", _depthwise, (lambda: _depthwise(True),)),
    Claim("batch normalisation in two layouts", _batch_norm, (lambda: _batch_norm((1, 0, 2, 3)),)),
    Claim(
        "transposed convolution of transposed images",
        _transposed_conv,
        (lambda: _transposed_conv((0, 1, 2, 3)),),
        "reassociate",
    ),
    Claim("cumulative sum along a moved axis", _cumulated, (lambda: _cumulated(1),)),
    Claim("rows of a table, in parts", _embedding, (lambda: _embedding(0),)),
    Claim("the largest along a moved axis", _top_k, (lambda: _top_k(2),)),
    Claim("linear interpolation in two layouts", _resized, (lambda: _resized("nearest"),)),
    Claim("maximum pool of windows", _windows, (lambda: _windows(2),)),
)
