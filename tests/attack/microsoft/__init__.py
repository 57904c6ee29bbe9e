"""Each operation of onnxruntime's own domain that we read: what our reading computes and demands beside onnxruntime.

    python -m tests.attack.microsoft --seconds 60 --seed 0

A case is a model of one node with drawn inputs and attributes, of which one may have another extent or rank, or be
left out.  It has to be valid just where onnxruntime runs it, with the shapes, the types and the elements that this
computes, but for rounding: a value that onnxruntime rounds is compared by its formula.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from onnx import helper

from symlayout.proof.forms.rounded_functions import without_rounding
from tests.attack.domains import Reading
from tests.attack.one_nodes import Array, in_a_process
from tests.attack.operators import differs, ours
from tests.attack.runtimes import Ran, Sessions, has_onnxruntime
from tests.attack.tally import Tally, Wrong

DOMAIN = "com.microsoft"


@dataclass
class Node:
    """A node of onnxruntime's domain, and arrays for its inputs; None is one that is left out."""

    op: str
    inputs: Sequence[Array | None]
    attributes: dict[str, Any] = field(default_factory=dict)
    outputs: int = 1

    def __str__(self) -> str:
        shown = ", ".join("-" if a is None else f"{a.dtype}{list(a.shape)}" for a in self.inputs)
        return f"{self.op} ({shown}; {self.attributes}) -> {self.outputs}"

    @property
    def given(self) -> dict[str, Array]:
        """The arrays by the names of inputs."""
        return {f"x{k}": a for k, a in enumerate(self.inputs) if a is not None}

    @property
    def is_empty(self) -> bool:
        """Whether the first array has no elements."""
        return self.inputs[0] is not None and not self.inputs[0].size

    def model(self) -> Any:
        """Return the model of the node."""
        names = ["" if a is None else f"x{k}" for k, a in enumerate(self.inputs)]
        values = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for name, a in self.given.items()
        ]
        results = [f"y{k}" for k in range(self.outputs)]
        node = helper.make_node(self.op, names, results, domain=DOMAIN, **self.attributes)
        graph = helper.make_graph([node], "g", values, [helper.make_empty_tensor_value_info(r) for r in results])
        sets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
        return helper.make_model(graph, opset_imports=sets, ir_version=8)


class Draw:
    """Drawn arrays and numbers."""

    def __init__(self, seed: int) -> None:
        self.rnd, self.rng = random.Random(seed), np.random.default_rng(seed)

    def size(self, low: int = 1, high: int = 4) -> int:
        """Return an extent, seldom 0."""
        return 0 if self.rnd.random() < 0.03 else self.rnd.randint(low, high)

    def sizes(self, low: int = 0, high: int = 3) -> list[int]:
        """Return extents of some axes."""
        return [self.size() for _ in range(self.rnd.randint(low, high))]

    def floats(self, *shape: int) -> Array:
        """Return normal numbers."""
        return np.asarray(self.rng.standard_normal(shape), np.float32)

    def ints(self, low: int, high: int, *shape: int, dtype: Any = np.int32) -> Array:
        """Return integers from *low* to below *high*."""
        return np.asarray(self.rng.integers(low, max(high, low + 1), shape), dtype)

    def some(self, array: Array) -> Array | None:
        """Return the array, or None."""
        return array if self.rnd.random() < 0.5 else None

    def flag(self) -> int:
        """Return 0 or 1."""
        return self.rnd.randint(0, 1)

    def one_of(self, *values: Any) -> Any:
        """Return one of some values."""
        return self.rnd.choice(values)


def _gelu(op: str, with_bias: Any) -> Callable[[Draw], Node]:
    def drawn(d: Draw) -> Node:
        shape = d.sizes(1, 4)
        bias = d.floats(*shape[-1:])
        return Node(op, [d.floats(*shape), *([bias] if with_bias == "needed" or (with_bias and d.flag()) else [])])

    return drawn


def _quick_gelu(d: Draw) -> Node:
    return Node("QuickGelu", [d.floats(*d.sizes(0, 4))], d.one_of({}, {"alpha": 1.0}, {"alpha": -0.5}))


def _activation(d: Draw, *, named: bool) -> dict[str, Any]:
    """Return an activation: with parameters in a list, or *named*."""
    name = d.one_of("Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", *(() if named else ("Clip",)))
    values = {"LeakyRelu": [0.25], "HardSigmoid": [0.5, 0.25], "Clip": [-0.5, 0.75]}.get(name, [])
    if named:
        return {"activation": name, **dict(zip(("activation_alpha", "activation_beta"), values, strict=False))}
    return {"activation": name, **({"activation_params": values} if values else {})}


def _fused_conv(d: Draw) -> Node:
    group, rank = d.one_of(1, 1, 2), d.one_of(1, 2)
    ins, outs, kernel = group * d.size(1, 2), group * d.size(1, 2), [d.one_of(1, 2, 3) for _ in range(rank)]
    x = d.floats(d.size(), ins, *(d.rnd.randint(3, 6) for _ in range(rank)))
    given = {"group": group, "strides": [d.one_of(1, 2)] * rank, "pads": [d.flag() for _ in range(2 * rank)]}
    inputs: list[Array | None] = [x, d.floats(outs, ins // group, *kernel), d.some(d.floats(outs))]
    if d.flag():
        sizes = [
            (n + given["pads"][k] + given["pads"][rank + k] - kernel[k]) // given["strides"][k] + 1
            for k, n in enumerate(x.shape[2:])
        ]
        inputs.append(d.floats(x.shape[0], outs, *sizes))
    return Node("FusedConv", inputs, {**given, **_activation(d, named=False)})


def _fused_gemm(d: Draw) -> Node:
    m, k, n, flips = d.size(), d.size(), d.size(), (d.flag(), d.flag())
    a, b = ((d.floats(*((q, p) if flip else (p, q)))) for flip, p, q in zip(flips, (m, k), (k, n), strict=True))
    inputs = [a, b, *([d.floats(*d.one_of((n,), (1,), (m, n), (m, 1), (1, n), ()))] if d.flag() else [])]
    given = {"transA": flips[0], "transB": flips[1], "alpha": d.one_of(1.0, 0.5), "beta": d.one_of(1.0, 0.5, 0.0)}
    return Node("FusedGemm", inputs, {**given, **_activation(d, named=True)})


def _fused_mat_mul(d: Draw) -> Node:
    batch = d.sizes(0, 2)
    m, k, n = d.size(), d.size(), d.size()
    flips, moved = (d.flag(), d.flag()), (d.flag(), d.flag()) if batch and d.flag() else (0, 0)
    sides = []
    for flip, move, p, q in zip(flips, moved, (m, k), (k, n), strict=True):
        own = batch if d.flag() or any(moved) else [1] * len(batch)
        last = (q, p) if flip else (p, q)
        shape = [*own[1:], last[0], own[0], last[1]] if move else [*own, *last]
        sides.append(d.floats(*shape))
    given = dict(zip(("transA", "transB", "transBatchA", "transBatchB"), (*flips, *moved), strict=True))
    return Node("FusedMatMul", sides, {**given, "alpha": d.one_of(1.0, 0.25)})


def _skip(op: str) -> Callable[[Draw], Node]:
    def drawn(d: Draw) -> Node:
        n, s, c = d.size(), d.size(), d.size()
        x = d.floats(*d.one_of((n, s, c), (s, c)))
        skip = d.floats(*d.one_of(x.shape, x.shape, (1, s, c)[-x.ndim :], (s, c)))
        inputs: list[Array | None] = [x, skip, d.floats(c)]
        inputs += [d.some(d.floats(c))] * (op == "SkipLayerNormalization") + [d.some(d.floats(c))]
        return Node(op, inputs, {"epsilon": d.one_of(1e-5, 1e-3)}, d.one_of(1, 4) if "Simpl" not in op else 1)

    return drawn


def _embed(d: Draw) -> Node:
    n, s, c, words, places, kinds = d.size(), d.size(), d.size(), d.size(2), d.size(3, 5), d.size(2)
    ids, segmented = d.ints(0, words, n, s), d.flag()
    inputs: list[Array | None] = [ids, d.ints(0, kinds, n, s) if segmented else None, d.floats(words, c)]
    inputs += [d.floats(places, c), d.floats(kinds, c) if segmented else None, d.floats(c), d.floats(c)]
    inputs += [d.some(d.ints(0, 2, n, s)), d.some(d.ints(0, places, d.one_of(1, n), s))]
    return Node("EmbedLayerNormalization", inputs, {"epsilon": 1e-5}, d.one_of(2, 2, 3))


def _seen(d: Draw, *shape: int) -> Array:
    """Return which keys are seen: the first one, at least, as the scores of others are rounded."""
    mask = d.ints(0, 2, *shape)
    mask[..., :1] = 1
    return mask


def _attention(d: Draw) -> Node:
    n, s, c, heads = d.size(), d.size(), d.size(), d.one_of(1, 2)
    size = d.rnd.randint(1, 3)
    width, given = heads * size, {"num_heads": heads}
    widths = [width, width, width]
    if d.flag():
        widths[2] = heads * d.rnd.randint(1, 3)
        given["qkv_hidden_sizes"] = widths
    mask = d.one_of(None, _seen(d, n, s), _seen(d, n, s, s))
    inputs: list[Array | None] = [d.floats(n, s, c), d.floats(c, sum(widths)), d.floats(sum(widths)), mask]
    if d.flag():
        inputs += [None, d.floats(d.one_of(1, n), d.one_of(1, heads), s, s)]
    if d.flag():
        given["scale"] = 0.5
    return Node("Attention", inputs, given)


def _multi_head(d: Draw) -> Node:
    n, s, t, heads = d.size(), d.size(), d.size(), d.one_of(1, 2)
    size, values = d.rnd.randint(1, 3), d.rnd.randint(1, 3)
    widths = [heads * size, heads * size, heads * values]
    inputs: list[Array | None] = [d.floats(n, s, widths[0]), d.floats(n, t, widths[1]), d.floats(n, t, widths[2])]
    inputs += [d.some(d.floats(sum(widths))), d.one_of(None, None, _seen(d, n, t), _seen(d, n, s, t))]
    inputs += [d.some(d.floats(d.one_of(1, n), d.one_of(1, heads), s, t))]
    return Node("MultiHeadAttention", inputs, {"num_heads": heads, **d.one_of({}, {"scale": 0.5})}, d.one_of(1, 1, 3))


def _rotary(d: Draw) -> Node:
    n, s, heads, half, most = d.size(), d.size(), d.rnd.randint(1, 2), d.rnd.randint(1, 3), d.rnd.randint(4, 6)
    x = d.floats(*d.one_of((n, heads, s, 2 * half), (n, s, heads * 2 * half)))
    caches = [np.asarray(f(d.floats(most, half))) for f in (np.cos, np.sin)]
    given = {"interleaved": d.flag(), **d.one_of({}, {"num_heads": heads})}
    return Node("RotaryEmbedding", [x, d.ints(0, most, n, s, dtype=np.int64), *caches], given)


def _number(d: Draw, value: float, dtype: Any) -> Array:
    """Return a scale or a zero point, which may have an axis."""
    return np.full(d.one_of((), (), (1,)), value, dtype)


def _level(d: Draw, *shape: int, dtype: Any) -> Array:
    """Return quantized numbers of the whole range."""
    info = np.iinfo(dtype)
    return d.ints(info.min, info.max + 1, *shape, dtype=dtype)


def _scaled(d: Draw, dtype: Any) -> list[Array | None]:
    """Return a scale and a zero point."""
    return [_number(d, d.one_of(0.1, 0.03, 1.0), np.float32), _number(d, d.rnd.randint(0, 100), dtype)]


def _linear_where(d: Draw) -> Node:
    dtype, shape = d.one_of(np.uint8, np.int8), d.sizes(0, 3)
    shapes = [d.one_of(shape, shape[1:], [1, *shape[1:]][: len(shape)]) for _ in range(3)]
    inputs: list[Array | None] = [d.ints(0, 2, *shapes[0], dtype=np.bool_)]
    for own in shapes[1:]:
        inputs += [_level(d, *own, dtype=dtype), *_scaled(d, dtype)]
    return Node("QLinearWhere", [*inputs, *_scaled(d, dtype)])


def _linear_concat(d: Draw) -> Node:
    dtype, shape = d.one_of(np.uint8, np.int8), d.sizes(1, 3)
    axis = d.rnd.randrange(len(shape))
    inputs = _scaled(d, dtype)
    for _ in range(d.size(1, 3)):
        inputs += [_level(d, *shape[:axis], d.size(), *shape[axis + 1 :], dtype=dtype), *_scaled(d, dtype)]
    return Node("QLinearConcat", inputs, {"axis": axis - d.one_of(0, len(shape))})


def _linear_softmax(d: Draw) -> Node:
    dtype, shape, opset = d.one_of(np.uint8, np.int8), d.sizes(1, 3), d.one_of(11, 13)
    inputs = [_level(d, *shape, dtype=dtype), *_scaled(d, dtype), *_scaled(d, dtype)]
    return Node("QLinearSoftmax", inputs, {"opset": opset, "axis": d.rnd.randrange(-len(shape), len(shape))})


def _pool(d: Draw) -> tuple[list[int], dict[str, Any]]:
    """Return the shape of images with channels first, and attributes of windows on them."""
    rank = d.one_of(1, 2, 2)
    kernel = [d.one_of(1, 2, 3) for _ in range(rank)]
    given = {"kernel_shape": kernel, "strides": [d.one_of(1, 2) for _ in range(rank)], "ceil_mode": d.flag()}
    if d.flag():
        given["pads"] = [d.rnd.randrange(k) for k in (*kernel, *kernel)]
    elif d.flag():
        given["auto_pad"] = d.one_of("SAME_UPPER", "SAME_LOWER", "VALID")
    return [d.size(), d.size(), *(d.rnd.randint(3, 6) for _ in range(rank))], given


def _linear_average_pool(d: Draw) -> Node:
    dtype, last = d.one_of(np.uint8, np.int8), d.flag()
    shape, given = _pool(d)
    shape = [shape[0], *shape[2:], shape[1]] if last else shape
    inputs = [_level(d, *shape, dtype=dtype), *_scaled(d, dtype), *_scaled(d, dtype)]
    return Node("QLinearAveragePool", inputs, {**given, "channels_last": last, "count_include_pad": d.flag()})


def _linear_global_pool(d: Draw) -> Node:
    dtype = d.one_of(np.uint8, np.int8)
    inputs = [_level(d, *d.sizes(3, 4), dtype=dtype), *_scaled(d, dtype), *_scaled(d, dtype)]
    return Node("QLinearGlobalAveragePool", inputs, {"channels_last": d.flag()})


def _nhwc_max_pool(d: Draw) -> Node:
    shape, given = _pool(d)
    dtype = d.one_of(np.uint8, np.int8)
    if "auto_pad" not in given and d.flag():
        given["dilations"] = [d.one_of(1, 2) for _ in given["kernel_shape"]]
    return Node("NhwcMaxPool", [_level(d, shape[0], *shape[2:], shape[1], dtype=dtype)], given)


def _linear_conv(d: Draw) -> Node:
    group, last, (kind, of_w) = (
        d.one_of(1, 1, 2),
        d.flag(),
        d.one_of((np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)),
    )
    ins, outs, kernel = group * d.size(1, 2), group * d.size(1, 2), [d.one_of(1, 2, 3) for _ in range(2)]
    shape = [d.size(), ins, *(d.rnd.randint(3, 6) for _ in range(2))]
    shape = [shape[0], *shape[2:], shape[1]] if last else shape
    by = d.one_of((), (1,), (outs,))
    inputs = [_level(d, *shape, dtype=kind), *_scaled(d, kind), _level(d, outs, ins // group, *kernel, dtype=of_w)]
    inputs += [np.asarray(np.abs(d.floats(*by)) / 10), np.full(by, d.one_of(0, 3), of_w), *_scaled(d, kind)]
    inputs.append(d.some(d.ints(-900, 900, outs)))
    given = {"group": group, "strides": [d.one_of(1, 2)] * 2, "pads": [d.flag() for _ in range(4)]}
    return Node("QLinearConv", inputs, {**given, "channels_last": last})


def _quantized_gemm(d: Draw) -> Node:
    m, k, n, flips = d.size(), d.size(), d.size(), (d.flag(), d.flag())
    kind, of_b = d.one_of(np.uint8, np.int8), d.one_of(np.uint8, np.int8)
    a = _level(d, *((k, m) if flips[0] else (m, k)), dtype=kind)
    b = _level(d, *((n, k) if flips[1] else (k, n)), dtype=of_b)
    by = d.one_of((), (1,), (n,))
    inputs = [a, *_scaled(d, kind), b, np.asarray(np.abs(d.floats(*by)) / 10), d.ints(0, 9, *by, dtype=of_b)]
    inputs.append(d.some(d.ints(-900, 900, *d.one_of((n,), (1,), (m, n), (m, 1), (1, n), ()))))
    inputs += _scaled(d, kind) if d.flag() else []
    given = {"transA": flips[0], "transB": flips[1], "alpha": d.one_of(1.0, 0.5)}
    return Node("QGemm", inputs, given)


def _dynamic_lstm(d: Draw) -> Node:
    time, batch, width, size, ways = d.size(1), d.size(1), d.size(1), d.size(1), d.one_of(1, 1, 2)
    kind, by = d.one_of(np.uint8, np.int8), d.one_of((ways,), (ways, 4 * size))
    weights = [_level(d, ways, n, 4 * size, dtype=kind) for n in (width, size)]
    inputs = [d.floats(time, batch, width), *weights, d.some(d.floats(ways, 8 * size))]
    inputs += [d.some(d.ints(1, time + 1, batch)), d.some(d.floats(ways, batch, size))]
    inputs += [d.some(d.floats(ways, batch, size)), d.some(d.floats(ways, 3 * size))]
    for _ in weights:
        inputs += [np.asarray(np.abs(d.floats(*by)) + 0.1), np.full(by, 0 if kind is np.int8 else 3, kind)]
    given = {"hidden_size": size, "direction": "bidirectional" if ways == 2 else d.one_of("forward", "reverse")}
    return Node("DynamicQuantizeLSTM", inputs, given, d.size(1, 3))


def _cast(op: str) -> Callable[[Draw], Node]:
    def drawn(d: Draw) -> Node:
        shape, dtype = d.sizes(0, 3), d.one_of(np.uint8, np.int8, np.uint16, np.int16)
        axis = d.rnd.randrange(len(shape)) if shape else 0
        by = (shape[axis],) if shape and d.flag() else d.one_of((), (1,))
        x = np.asarray(9 * d.floats(*shape)) if op == "QuantizeLinear" else _level(d, *shape, dtype=dtype)
        inputs: list[Array | None] = [x, np.asarray(np.abs(d.floats(*by)) + 0.01), d.ints(0, 9, *by, dtype=dtype)]
        return Node(op, inputs, {"axis": axis} if d.flag() or len(by) == 1 else {})

    return drawn


def _bnb4(d: Draw) -> Node:
    block, k, n = d.one_of(16, 32), 16 * d.rnd.randint(1, 3), d.rnd.randint(1, 5)
    codes, blocks, turned = -(-k * n // 2), -(-k * n // block), d.one_of(1, 1, 0)
    inputs = [d.floats(*d.sizes(0, 2), d.size(), k if turned else n), _level(d, codes, dtype=np.uint8)]
    inputs.append(np.asarray(np.abs(d.floats(blocks))))
    given = {"K": k, "N": n, "block_size": block, "quant_type": d.flag(), "transB": turned}
    return Node("MatMulBnb4", inputs, given)


def _gather_blocks(d: Draw) -> Node:
    block, bits, rows, blocks = 16, d.one_of(2, 4, 8), d.size(2), d.rnd.randint(1, 3)
    width = block * blocks - d.one_of(0, 0, 8)
    inputs: list[Array | None] = [_level(d, rows, width * bits // 8, dtype=np.uint8)]
    inputs += [d.ints(0, rows, *d.sizes(0, 2), dtype=np.int64)]
    inputs.append(np.asarray(np.abs(d.floats(rows, blocks))))
    inputs.append(d.some(_level(d, rows, -(-blocks * bits // 8), dtype=np.uint8)))
    return Node("GatherBlockQuantized", inputs, {"block_size": block, "bits": bits})


def _quantized(op: str, count: int) -> Callable[[Draw], Node]:
    def drawn(d: Draw) -> Node:
        dtype, shape = d.one_of(np.uint8, np.int8), d.sizes(0, 3)
        other = d.one_of(shape, shape[1:], [1, *shape[1:]][: len(shape)])
        inputs: list[Array | None] = []
        for own in [shape, other][:count]:
            inputs += [_level(d, *own, dtype=dtype), np.asarray(0.1, np.float32), d.some(np.asarray(3, dtype))]
        last = np.asarray(5, dtype)  # without it, onnxruntime's functions of one tensor end the process
        inputs += [np.asarray(0.2, np.float32), last if count == 1 else d.some(last)]
        given = {"alpha": d.one_of(0.01, 0.5)} if op == "QLinearLeakyRelu" else {}
        return Node(op, inputs, given)

    return drawn


def _product(op: str) -> Callable[[Draw], Node]:
    def drawn(d: Draw) -> Node:
        batch, m, k, n = d.sizes(0, 1), d.size(), d.size(), d.size()
        dtype = d.one_of(np.uint8, np.int8)
        b, by = d.ints(0, 100, k, n, dtype=dtype), d.one_of((), (1,), (n,))
        scale, zero = np.asarray(np.abs(d.floats(*by))), d.ints(0, 9, *by, dtype=dtype)
        bias = d.some(d.floats(n))
        if op == "DynamicQuantizeMatMul":
            inputs = [d.floats(*batch, m, k), b, scale, d.some(zero), bias]
        else:
            own = d.one_of((), (1,))
            a, of_a = d.ints(0, 100, *batch, m, k, dtype=np.uint8), d.ints(0, 9, *own, dtype=np.uint8)
            inputs = [a, b, np.asarray(np.abs(d.floats(*own))), scale, d.some(of_a), d.some(zero), bias]
        return Node(op, inputs)

    return drawn


def _n_bits(d: Draw) -> Node:
    block, bits, blocks, n = d.one_of(16, 32), d.one_of(4, 4, 8, 2), d.rnd.randint(1, 3), d.rnd.randint(1, 4)
    k = block * blocks - d.one_of(0, 0, 4)
    shape = d.one_of((n, blocks), (n * blocks,))
    inputs: list[Array | None] = [d.floats(*d.sizes(0, 2), d.size(), k)]
    inputs += [_level(d, n, blocks, block * bits // 8, dtype=np.uint8), np.asarray(np.abs(d.floats(*shape)))]
    packed = d.one_of((n * -(-blocks * bits // 8),), (n, -(-blocks * bits // 8)))
    inputs += [d.one_of(None, _level(d, *packed, dtype=np.uint8), np.asarray(8 + d.floats(*shape))), None]
    inputs.append(d.some(d.floats(n)))
    given = {"K": k, "N": n, "bits": bits, "block_size": block, "accuracy_level": d.one_of(0, 0, 1, 4)}
    return Node("MatMulNBits", inputs, given)


def _group_query(d: Draw) -> Node:
    n, groups, each, size, past = d.rnd.randint(1, 2), d.rnd.randint(1, 2), d.rnd.randint(1, 2), 8, d.size(1, 3)
    heads = groups * each
    shapes = [(n, 1, heads * size), (n, 1, groups * size), (n, 1, groups * size)]
    inputs: list[Array | None] = [d.floats(*shape) for shape in shapes]
    inputs += [d.floats(n, groups, past, size), d.floats(n, groups, past, size)]
    inputs += [np.full(n, past, np.int32), np.asarray(past + 1, np.int32)]
    return Node("GroupQueryAttention", inputs, {"num_heads": heads, "kv_num_heads": groups}, 3)


DRAWERS: tuple[Callable[[Draw], Node], ...] = (
    _gelu("Gelu", None), _gelu("BiasGelu", "needed"), _gelu("FastGelu", "optional"), _quick_gelu, _fused_conv,
    _fused_gemm, _fused_mat_mul, _skip("SkipLayerNormalization"), _skip("SkipSimplifiedLayerNormalization"), _embed,
    _attention, _multi_head, _rotary, _quantized("QLinearAdd", 2), _quantized("QLinearMul", 2),
    _quantized("QLinearSigmoid", 1), _quantized("QLinearLeakyRelu", 1), _product("DynamicQuantizeMatMul"),
    _product("MatMulIntegerToFloat"), _n_bits, _group_query, _linear_where, _linear_concat, _linear_softmax,
    _linear_average_pool, _linear_global_pool, _nhwc_max_pool, _linear_conv, _quantized_gemm, _dynamic_lstm,
    _cast("QuantizeLinear"), _cast("DequantizeLinear"), _bnb4, _gather_blocks)  # fmt: skip


def _changed(node: Node, d: Draw) -> Node:
    """Return a node of which an input has another extent or rank, or is left out."""
    places = [k for k, a in enumerate(node.inputs) if a is not None]
    k = d.rnd.choice(places)
    a = node.inputs[k]
    assert a is not None
    shape = list(a.shape)
    way = d.rnd.random()
    if way < 0.6 and shape:
        shape[d.rnd.randrange(len(shape))] = d.rnd.randint(0, 5)
    elif way < 0.75:
        shape.insert(0, d.one_of(1, 2))
    elif way < 0.9 and shape:
        shape.pop(d.one_of(0, -1))
    elif k:
        return replace(node, inputs=[*node.inputs[:k], None, *node.inputs[k + 1 :]])
    made = np.asarray(np.resize(a, shape) if a.size else np.zeros(shape, a.dtype), a.dtype)
    return replace(node, inputs=[*node.inputs[:k], made, *node.inputs[k + 1 :]])


def drawn_node(seed: int) -> Node:
    """Return a node, each operation in turn; of half of them a place is changed."""
    d = Draw(seed)
    node = DRAWERS[seed % len(DRAWERS)](d)
    node = _changed(node, d) if d.flag() else node
    given = [k for k, a in enumerate(node.inputs) if a is not None]
    return replace(node, inputs=node.inputs[: given[-1] + 1])


_NOT_CHECKED = {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "DynamicQuantizeMatMul",
                "MatMulIntegerToFloat"}  # fmt: skip
UNDECIDED: dict[str, Callable[[Node, str], bool]] = {
    "onnxruntime reads the skip again from its first text on, and scales that fit no column, which its page forbids": (
        lambda node, text: node.op in _NOT_CHECKED and "narrow" in text and ("broadcast" in text or "rank" in text)),
    "onnxruntime leaves a bias out, or writes nothing, where there is nothing to multiply": (
        lambda node, text: node.op in ("QGemm", *_NOT_CHECKED) and "other" in text and node.is_empty),
    "onnxruntime reads the first of several scales, or none, and codes with an axis more, which their pages forbid": (
        lambda node, text: (
            node.op in ("QLinearSoftmax", "QLinearConcat", "MatMulBnb4") and "narrow" in text and "refused" in text)),
    "onnxruntime does not look at the bias of no columns": (
        lambda node, text: node.op in _NOT_CHECKED and "narrow" in text and ", 0)]" in text and "bias" in text),
    "onnxruntime does not look at what is added to no elements": (
        lambda node, text: node.op == "FusedConv" and "narrow" in text and text.endswith("of Z") and "0" in text),
    "onnxruntime reads a mask of one key as none": (
        lambda node, text: node.op == "Attention" and "narrow" in text and text.endswith("of a mask")),
    "onnxruntime takes numbers of keys with an axis too many": (
        lambda node, text: node.op == "GroupQueryAttention" and "narrow" in text and _rank(node, 5) == 2),
    "onnxruntime infers no type of a sum whose first zero point is left out, which its page allows": (
        lambda node, text: node.op in ("QLinearAdd", "QLinearMul") and "TypeInferenceError" in text),
    "onnxruntime does not look at positions where there are no texts": (
        lambda node, text: "narrow" in text and "positions" in text and "[(0," in text),
}  # fmt: skip
"""Where onnxruntime is no judge: it runs what the page of its operations forbids."""


def _rank(node: Node, k: int) -> int | None:
    a = node.inputs[k] if k < len(node.inputs) else None
    return None if a is None else a.ndim


def _judged(node: Node, text: str) -> tuple[str, str]:
    return ("undecided", "") if any(holds(node, text) for holds in UNDECIDED.values()) else ("wrong", text)


def compare(node: Node) -> tuple[str, str]:
    """Return what a case shows, and a text if the answer is wrong."""
    model, given = node.model(), node.given
    found: list[Ran] = in_a_process([partial(Sessions(model).by_onnxruntime, given)])
    if not found:
        return "ends the process", ""
    (ran,) = found
    if ran.lacks:
        return "not run", ""
    made = ours(model, given, node.outputs, without_rounding)
    if ran.arrays is None:
        refusal = " ".join(ran.refusal.split())[-300:]
        if isinstance(made, str):
            return "both refuse", ""
        return ("opaque", "") if Reading(model).is_opaque else _judged(node, f"wide: refused, {refusal}")
    shapes = [a.shape for a in ran.arrays]
    if isinstance(made, str):
        return _judged(node, f"narrow: runs, gives {shapes}; {made.splitlines()[0]}")
    text = differs(made, ran.arrays, "QLinear" if node.op.startswith("QLinear") else node.op)
    return _judged(node, f"other: {text}") if text else ("both run", "")


def attack(seed: int, tally: Tally) -> None:
    """Compare one node."""
    if not has_onnxruntime():
        return
    node = drawn_node(seed)
    outcome, text = compare(node)
    if text:
        wrong = Wrong(f"{node.op}-{text[:50]}", f"case {seed}: {node}\n{text}", {"model.onnx": _data(node)})
        tally.note_wrong(node.op, wrong)
    else:
        tally.note(node.op, outcome)


def _data(node: Node) -> bytes:
    data: bytes = node.model().SerializeToString()
    return data
