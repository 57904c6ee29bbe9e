"""Random nodes of ONNX: an operator, a version of the standard, attributes, inputs; some extents are 0 or 1."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.onnx_nodes.random_nodes import FLOATS, INTEGERS, Array, Draw


@dataclass
class Case:
    """One node: its operator, the version of the standard, its inputs (None is left out) and attributes."""

    op: str
    version: int
    inputs: list[Array | None]
    attributes: dict[str, Any] = field(default_factory=dict)
    constants: tuple[int, ...] = ()  # inputs that the model has as constants
    outputs: int = 1

    def __str__(self) -> str:
        shapes = ", ".join("-" if a is None else f"{a.dtype}{list(a.shape)}" for a in self.inputs)
        fixed = {k: a.tolist() for k, a in enumerate(self.inputs) if a is not None and k in self.constants}
        return f"{self.op}-{self.version}({shapes}; {self.attributes}; constants {fixed})"


def _elementwise(d: Draw) -> Case:
    ops = {
        "Abs": FLOATS + INTEGERS, "Neg": ("float32", "int32", "int8", "int64"), "Relu": ("float32", "float64"),
        "Sigmoid": ("float32",), "Tanh": ("float32",), "Exp": ("float32", "float64"), "Floor": ("float32",),
        "Ceil": ("float32",), "Round": ("float32", "float64"), "Sign": ("float32", "int32", "int64"),
        "Softplus": ("float32",), "Softsign": ("float32",), "Erf": ("float32",), "Not": ("bool",),
        "HardSigmoid": ("float32",), "LeakyRelu": ("float32",), "Elu": ("float32",), "Selu": ("float32",),
        "Celu": ("float32",), "ThresholdedRelu": ("float32",), "HardSwish": ("float32",), "Mish": ("float32",),
        "Gelu": ("float32",), "IsNaN": ("float32",), "Shrink": ("float32",), "Sqrt": ("float32",),
        "Reciprocal": ("float32",), "Atan": ("float32",), "Sin": ("float32",), "Cosh": ("float32",),
    }  # fmt: skip
    op = d.r.choice(sorted(ops))
    given: dict[str, Any] = {}
    for name in {"HardSigmoid": ("alpha", "beta"), "LeakyRelu": ("alpha",), "Elu": ("alpha",), "Celu": ("alpha",),
                 "ThresholdedRelu": ("alpha",), "Selu": ("alpha", "gamma"),
                 "Shrink": ("bias", "lambd")}.get(op, ()):  # fmt: skip
        if d.r.random() < 0.6:
            given[name] = d.r.choice((0.25, 0.5, 1.5))
    if op == "Gelu" and d.r.random() < 0.5:
        given["approximate"] = d.r.choice(("none", "tanh"))
    version = (
        d.r.choice((20, 21, 22))
        if op == "Gelu"
        else d.r.choice((18, 20, 21))
        if op == "Mish"
        else d.r.choice((14, 15, 17, 19, 21))
    )
    return Case(op, version, [d.array(d.shape(), d.r.choice(ops[op]))], given)


def _binary(d: Draw) -> Case:
    numbers = ("float32", "float64", "int32", "int64")
    ops = {
        "Add": numbers, "Sub": numbers, "Mul": numbers, "Div": numbers, "Pow": ("float32", "float64", "int32", "int64"),
        "Equal": (*numbers, "bool"), "Less": numbers, "Greater": numbers, "LessOrEqual": numbers,
        "GreaterOrEqual": numbers, "And": ("bool",), "Or": ("bool",), "Xor": ("bool",), "Mod": INTEGERS,
        "PRelu": ("float32",), "BitShift": ("uint8",), "BitwiseAnd": INTEGERS, "BitwiseXor": INTEGERS,
        "Max": (*numbers, "float16"), "Min": (*numbers, "float16"), "Sum": ("float32",), "Mean": ("float32",),
    }  # fmt: skip
    op = d.r.choice(sorted(ops))
    dtype, shape = d.r.choice(ops[op]), d.shape()
    a, b = d.array(shape, dtype), d.array(d.broadcast(shape), dtype)
    given: dict[str, Any] = {}
    if op in ("Div", "Mod"):
        b = np.where(b == 0, b.dtype.type(3), b)
    if op == "Pow":
        a, b = np.abs(a) + a.dtype.type(1), np.abs(b).astype(d.r.choice(numbers))
    if op == "Mod" and d.r.random() < 0.5:
        given["fmod"] = 1
    if op == "BitShift":
        given["direction"] = d.r.choice(("LEFT", "RIGHT"))
    if d.r.random() < 0.5 and op not in ("Pow", "PRelu", "Mod", "Div", "BitShift"):
        a, b = b, a
    inputs: list[Array | None] = [a, b]
    if op in ("Max", "Min", "Sum", "Mean") and d.r.random() < 0.5:
        inputs.append(d.array(d.broadcast(shape), dtype))
    return Case(op, 18 if op.startswith("Bitwise") else d.r.choice((13, 15, 16, 17, 20)), inputs, given)


def _reduce(d: Draw) -> Case:
    names = ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum", "LogSumExp")
    name = d.r.choice(names)
    version = d.r.choice((11, 12, 13, 18, 20))
    dtype = d.r.choice(("float32", "float64", "int32", "int64") if name in ("Sum", "Max", "Min", "Prod", "SumSquare")
                       else ("float32",))  # fmt: skip
    shape = d.shape(1, 4)
    if name == "Mean":
        shape = [max(n, 1) for n in shape]  # the mean of nothing is undefined
    x = d.array(shape, dtype)
    if name.startswith("Log"):
        x = np.abs(x) + x.dtype.type(1)
    axes = d.some(len(shape)) if d.r.random() < 0.8 else None
    given: dict[str, Any] = {}
    if d.r.random() < 0.7:
        given["keepdims"] = d.r.randint(0, 1)
    by_input = version >= (13 if name == "Sum" else 18)
    inputs: list[Array | None] = [x]
    if by_input:
        if d.r.random() < 0.4:
            given["noop_with_empty_axes"] = d.r.randint(0, 1)
        if axes is not None:
            inputs.append(np.array(axes, np.int64))
    elif axes:
        given["axes"] = axes
    return Case(f"Reduce{name}", version, inputs, given, (1,))


def _arg(d: Draw) -> Case:
    shape = [max(n, 1) for n in d.shape(1, 4)]
    given: dict[str, Any] = {"axis": d.axis(len(shape))}
    for name in ("keepdims", "select_last_index"):
        if d.r.random() < 0.6:
            given[name] = d.r.randint(0, 1)
    x = d.array(shape, d.r.choice(("float32", "int32")))
    return Case(d.r.choice(("ArgMax", "ArgMin")), d.r.choice((12, 13, 18)), [x], given)


def _softmax(d: Draw) -> Case:
    shape = d.shape(1, 4)
    given = {"axis": d.axis(len(shape))} if d.r.random() < 0.8 else {}
    x = d.array(shape, d.r.choice(("float32", "float64")))
    return Case(d.r.choice(("Softmax", "LogSoftmax", "Hardmax")), d.r.choice((8, 11, 12, 13, 18)), [x], given)


def _matmul(d: Draw) -> Case:
    m, k, n = d.extent(), d.extent(), d.extent()
    outer = d.shape(0, 2)
    dtype = d.r.choice(("float32", "float64", "int32"))
    a = d.array([*outer, m, k] if d.r.random() < 0.8 else [k], dtype)
    b = d.array([*d.broadcast(outer), k, n] if d.r.random() < 0.8 else [k], dtype)
    return Case("MatMul", d.r.choice((9, 13, 17)), [a, b])


def _gemm(d: Draw) -> Case:
    m, k, n = (max(d.extent(), 1) for _ in range(3))
    given: dict[str, Any] = {}
    for name in ("transA", "transB"):
        if d.r.random() < 0.5:
            given[name] = 1
    for name in ("alpha", "beta"):
        if d.r.random() < 0.4:
            given[name] = d.r.choice((0.5, 2.0))
    a = d.array([k, m] if given.get("transA") else [m, k], "float32")
    b = d.array([n, k] if given.get("transB") else [k, n], "float32")
    inputs: list[Array | None] = [a, b]
    version = d.r.choice((9, 11, 13))
    if version < 11 or d.r.random() < 0.6:
        inputs.append(d.array(d.broadcast([m, n]), "float32"))
    return Case("Gemm", version, inputs, given)


def _window(d: Draw, rank: int, sizes: list[int], kernel: list[int]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if d.r.random() < 0.6:
        given["strides"] = [d.r.randint(1, 3) for _ in range(rank)]
    if d.r.random() < 0.25:
        given["auto_pad"] = d.r.choice(("SAME_UPPER", "SAME_LOWER", "VALID"))
    elif d.r.random() < 0.6:
        given["pads"] = [d.r.randint(0, k - 1) for k in (*kernel, *kernel)]
    return given


def _conv(d: Draw) -> Case:
    rank, group = d.r.randint(1, 3), d.r.choice((1, 1, 2, 3))
    kernel = [d.r.randint(1, 3) for _ in range(rank)]
    sizes = [d.r.randint(5, 8) for _ in range(rank)]
    c, m = d.r.randint(1, 2), d.r.randint(1, 2) * group
    given = _window(d, rank, sizes, kernel)
    if group > 1:
        given["group"] = group
    if d.r.random() < 0.4 and "auto_pad" not in given:
        given["dilations"] = [d.r.randint(1, 2) for _ in range(rank)]
    if d.r.random() < 0.4:
        given["kernel_shape"] = kernel
    n = d.r.choice((1, 2, 0))
    inputs: list[Array | None] = [d.array([n, c * group, *sizes], "float32"), d.array([m, c, *kernel], "float32")]
    if d.r.random() < 0.5:
        inputs.append(d.array([m], "float32"))
    return Case("Conv", d.r.choice((8, 11, 22)), inputs, given)


def _conv_transpose(d: Draw) -> Case:
    rank, group = d.r.randint(1, 2), d.r.choice((1, 1, 2))
    kernel = [d.r.randint(1, 3) for _ in range(rank)]
    sizes = [d.r.randint(2, 5) for _ in range(rank)]
    strides = [d.r.randint(1, 3) for _ in range(rank)]
    given: dict[str, Any] = {"strides": strides}
    if group > 1:
        given["group"] = group
    if d.r.random() < 0.4:
        given["dilations"] = [d.r.randint(1, 2) for _ in range(rank)]
    way = d.r.random()
    if way < 0.3:
        given["pads"] = [d.r.randint(0, k - 1) for k in (*kernel, *kernel)]
    elif way < 0.5:
        given["auto_pad"] = d.r.choice(("SAME_UPPER", "SAME_LOWER", "VALID"))
    if d.r.random() < 0.3:
        given["output_padding"] = [d.r.randint(0, s - 1) for s in strides]
    c, m = d.r.randint(1, 2) * group, d.r.randint(1, 2)
    inputs: list[Array | None] = [d.array([2, c, *sizes], "float32"), d.array([c, m, *kernel], "float32")]
    if d.r.random() < 0.5:
        inputs.append(d.array([m * group], "float32"))
    return Case("ConvTranspose", d.r.choice((10, 11, 22)), inputs, given)


def _pool(d: Draw) -> Case:
    op = d.r.choice(("MaxPool", "AveragePool", "LpPool"))
    rank = d.r.randint(1, 3)
    kernel = [d.r.randint(1, 3) for _ in range(rank)]
    sizes = [d.r.randint(4, 8) for _ in range(rank)]
    given = {"kernel_shape": kernel, **_window(d, rank, sizes, kernel)}
    version = d.r.choice({"MaxPool": (8, 10, 11, 12, 22), "AveragePool": (10, 11, 19, 22), "LpPool": (11, 18, 22)}[op])
    if op == "AveragePool" and d.r.random() < 0.5:
        given["count_include_pad"] = 1
    if d.r.random() < 0.4 and (op != "LpPool" or version >= 18) and version >= 10:
        given["ceil_mode"] = 1
    if d.r.random() < 0.3 and "auto_pad" not in given and ((op == "MaxPool" and version >= 10) or version >= 19):
        given["dilations"] = [d.r.randint(1, 2) for _ in range(rank)]
    if op == "LpPool" and d.r.random() < 0.5:
        given["p"] = d.r.choice((1, 2, 3))
    outputs = 2 if op == "MaxPool" and d.r.random() < 0.4 else 1
    if outputs == 2 and d.r.random() < 0.5:
        given["storage_order"] = d.r.randint(0, 1)
    return Case(op, version, [d.array([d.r.choice((1, 2)), 2, *sizes], "float32")], given, outputs=outputs)


def _global_pool(d: Draw) -> Case:
    op = d.r.choice(("GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"))
    return Case(
        op,
        d.r.choice((2, 11)) + 7,
        [d.array([2, 3, *[d.r.randint(1, 4) for _ in range(d.r.randint(1, 3))]], "float32")],
    )


def _normalize(d: Draw) -> Case:
    kind = d.r.choice(("LayerNormalization", "InstanceNormalization", "BatchNormalization", "LRN", "LpNormalization",
                       "MeanVarianceNormalization", "GroupNormalization"))  # fmt: skip
    shape = [max(n, 1) for n in d.shape(3, 4)]
    c = shape[1]

    def of(*s: int) -> Array:
        return d.array(s, "float32")

    x = of(*shape)
    if kind == "LayerNormalization":
        axis = d.axis(len(shape))
        own = shape[axis:] if axis >= 0 else shape[len(shape) + axis :]
        return Case(kind, 17, [x, of(*own), *([of(*own)] if d.r.random() < 0.5 else [])], {"axis": axis})
    if kind == "InstanceNormalization":
        return Case(kind, d.r.choice((8, 22)), [x, of(c), of(c)], {"epsilon": 0.5})
    if kind == "BatchNormalization":
        return Case(kind, d.r.choice((9, 14, 15)), [x, of(c), of(c), of(c), np.abs(of(c))], {"epsilon": 0.25})
    if kind == "LRN":
        return Case(kind, 13, [of(1, 4, 3, 3)], {"size": d.r.choice((1, 3, 5)), "alpha": 0.5, "beta": 0.75})
    if kind == "LpNormalization":
        return Case(
            kind, d.r.choice((8, 22)), [x + np.float32(3)], {"axis": d.axis(len(shape)), "p": d.r.choice((1, 2))}
        )
    if kind == "GroupNormalization":
        return Case(kind, 21, [of(2, 4, 3), of(4), of(4)], {"num_groups": d.r.choice((1, 2, 4))})
    return Case(kind, 13, [of(2, 2, 3, 3)], {"axes": d.r.choice(([0, 2, 3], [0, 1, 2, 3]))})


def _gather(d: Draw) -> Case:
    op = d.r.choice(("Gather", "GatherElements", "GatherND"))
    shape = [max(n, 1) for n in d.shape(1, 3)]
    axis = d.axis(len(shape))
    constants = (1,) if d.r.random() < 0.5 else ()
    x = d.array(shape, d.r.choice(("float32", "int64")))
    n = shape[axis]
    if op == "Gather":
        i = d.rng.integers(-n, n, d.shape(0, 2)).astype(d.r.choice((np.int32, np.int64)))
        return Case(op, d.r.choice((11, 13)), [x, i], {"axis": axis}, constants)
    if op == "GatherElements":
        own = [e if k != axis % len(shape) else d.extent() for k, e in enumerate(shape)]
        return Case(op, d.r.choice((11, 13)), [x, d.rng.integers(-n, n, own)], {"axis": axis}, constants)
    count = d.r.randint(1, len(shape))
    index = np.stack([d.rng.integers(-e, e, (3,)) for e in shape[:count]], -1)
    return Case(op, d.r.choice((11, 12, 13)), [x, index], {}, constants)


def _scatter(d: Draw) -> Case:
    shape = [max(n, 1) for n in d.shape(1, 3)]
    axis = d.axis(len(shape))
    x = d.array(shape, "float32")
    given: dict[str, Any] = {}
    version = d.r.choice((11, 13, 16, 18))
    if version >= 16 and d.r.random() < 0.6:
        given["reduction"] = d.r.choice(("none", "add", "mul", *(("max", "min") if version >= 18 else ())))
    if d.r.random() < 0.5:
        n = shape[axis]
        rows = d.r.sample(range(n), d.r.randint(1, n))
        own = [e if k != axis % len(shape) else len(rows) for k, e in enumerate(shape)]
        index = np.broadcast_to(
            np.array(rows).reshape([-1 if k == axis % len(shape) else 1 for k in range(len(shape))]), own
        )
        return Case("ScatterElements", version, [x, index.copy(), d.array(own, "float32")], {"axis": axis, **given})
    rows = d.r.sample(range(shape[0]), d.r.randint(1, shape[0]))
    return Case("ScatterND", version, [x, np.array(rows)[:, None], d.array([len(rows), *shape[1:]], "float32")], given)


def _move(d: Draw) -> Case:
    op = d.r.choice(("Transpose", "Flatten", "Squeeze", "Unsqueeze", "Slice", "Pad", "Tile", "Expand", "Split",
                     "Concat", "Reshape", "DepthToSpace", "SpaceToDepth", "Trilu", "CumSum", "TopK", "EyeLike",
                     "ReverseSequence"))  # fmt: skip
    shape = d.shape(1, 4)
    rank = len(shape)
    x = d.array(shape, d.r.choice(("float32", "int32", "int64")))
    if op == "Transpose":
        perm = d.r.sample(range(rank), rank)
        return Case(op, d.r.choice((1, 13)) + 7, [x], {"perm": perm} if d.r.random() < 0.8 else {})
    if op == "Flatten":
        return Case(op, d.r.choice((11, 13)), [x], {"axis": d.r.randint(-rank, rank)})
    if op == "Squeeze":
        ones = [k for k, n in enumerate(shape) if n == 1]
        version = d.r.choice((11, 13))
        if not ones or d.r.random() < 0.3:
            return Case(op, version, [x])
        return Case(op, 13, [x, np.array(ones)], {}, (1,)) if version == 13 else Case(op, 11, [x], {"axes": ones})
    if op == "Unsqueeze":
        added = sorted(d.r.sample(range(rank + 2), 2))
        return (
            Case(op, 13, [x, np.array(added)], {}, (1,)) if d.r.random() < 0.5 else Case(op, 11, [x], {"axes": added})
        )
    if op == "Slice":
        cut = d.some(rank) or [0]
        starts, ends = ([d.r.randint(-7, 7) for _ in cut] for _ in range(2))
        steps = [d.r.choice((-2, -1, 1, 1, 2, 3)) for _ in cut]
        return Case(op, d.r.choice((10, 11, 13)), [x, *map(np.array, (starts, ends, cut, steps))], {}, (1, 2, 3, 4))
    if op == "Pad":
        mode = d.r.choice(("constant", "edge", "reflect"))
        x = d.array([n + 3 for n in shape], "float32")
        pads = [d.r.randint(-1 if mode == "constant" else 0, 2) for _ in range(2 * rank)]
        inputs: list[Array | None] = [x, np.array(pads)]
        if mode == "constant" and d.r.random() < 0.5:
            inputs.append(np.array(1.5, np.float32))
        return Case(op, d.r.choice((11, 13, 18)), inputs, {"mode": mode}, tuple(range(1, len(inputs))))
    if op == "Tile":
        return Case(op, 13, [x, np.array([d.r.randint(0, 3) for _ in shape])], {}, (1,))
    if op == "Expand":
        return Case(op, 13, [d.array(d.broadcast(shape), "float32"), np.array(shape, np.int64)], {}, (1,))
    if op == "Split":
        axis = d.axis(rank)
        sizes = [d.r.randint(0, 3) for _ in range(d.r.randint(1, 3))]
        shape[axis] = sum(sizes)
        x = d.array(shape, "float32")
        if d.r.random() < 0.5:
            return Case(op, d.r.choice((13, 18)), [x, np.array(sizes)], {"axis": axis}, (1,), outputs=len(sizes))
        return Case(op, 11, [x], {"axis": axis, "split": sizes}, outputs=len(sizes))
    if op == "Concat":
        axis = d.axis(rank)
        parts = [x.astype(np.float32)]
        for _ in range(d.r.randint(0, 2)):
            shape[axis] = d.extent()
            parts.append(d.array(shape, "float32"))
        return Case(op, d.r.choice((11, 13)), list(parts), {"axis": axis})
    if op == "Reshape":
        x = d.array([2, 3, 4], "float32")
        target = d.r.choice(([4, 6], [-1], [0, -1], [0, 0, 2, 2], [24], [3, -1, 2], [1, 0, 4, 2]))
        return Case(op, d.r.choice((5, 13, 14)) if target != [1, 0, 4, 2] else 14, [x, np.array(target)], {}, (1,))
    if op in ("DepthToSpace", "SpaceToDepth"):
        b = d.r.choice((1, 2, 3))
        deep = d.array([2, 2 * b * b, 2, 3] if op == "DepthToSpace" else [2, 2, 2 * b, 3 * b], "float32")
        order = {"mode": d.r.choice(("DCR", "CRD"))} if op == "DepthToSpace" and d.r.random() < 0.7 else {}
        return Case(op, d.r.choice((11, 13)), [deep], {"blocksize": b, **order})
    if op == "Trilu":
        matrix = d.array([*d.shape(0, 1), d.extent(), d.extent()], "float32")
        more: list[Array | None] = [np.array(d.r.randint(-3, 3))] if d.r.random() < 0.6 else []
        return Case(op, 14, [matrix, *more], {"upper": d.r.randint(0, 1)}, (1,))
    if op == "CumSum":
        given = {k: 1 for k in ("exclusive", "reverse") if d.r.random() < 0.4}
        return Case(op, d.r.choice((11, 14)), [x.astype(np.float32), np.array(d.axis(rank))], given, (1,))
    if op == "TopK":
        axis = d.axis(rank)
        k = d.r.randint(0, shape[axis])
        values = d.rng.permutation(int(np.prod(shape))).astype(np.float32).reshape(shape)
        return Case(op, 11, [values, np.array([k])], {"axis": axis, "largest": d.r.randint(0, 1)}, (1,), outputs=2)
    if op == "EyeLike":
        return Case(op, 9, [d.array([d.extent(), d.extent()], "float32")], {"k": d.r.randint(-2, 2)})
    seq = d.array([4, 3, 2], "float32")
    axes = {"batch_axis": 1, "time_axis": 0} if d.r.random() < 0.5 else {"batch_axis": 0, "time_axis": 1}
    n, t = (3, 4) if axes["batch_axis"] == 1 else (4, 3)
    return Case(op, 10, [seq, d.rng.integers(1, t + 1, (n,))], axes)


def _resize(d: Draw) -> Case:
    mode = d.r.choice(("nearest", "linear", "cubic"))
    way = d.r.choice(("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"))
    given: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": way}
    if mode == "nearest":
        given["nearest_mode"] = d.r.choice(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
    if mode == "cubic" and d.r.random() < 0.5:
        given["cubic_coeff_a"] = -0.5
    if mode == "cubic" and d.r.random() < 0.4:
        given["exclude_outside"] = 1
    x = d.array([1, 2, d.r.randint(2, 6), d.r.randint(2, 6)], "float32")
    empty = np.array([], np.float32)
    if d.r.random() < 0.5:
        factors = (
            (1.0, 2.0, 3.0) if way == "align_corners" else (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
        )  # the last place is exact
        scales = np.array([1, 1, *(d.r.choice(factors) for _ in range(2))], np.float32)
        return Case("Resize", d.r.choice((11, 13, 18)), [x, empty, scales], given, (1, 2))
    sizes = np.array([1, 2, d.r.randint(1, 9), d.r.randint(1, 9)])
    return Case("Resize", d.r.choice((11, 13, 18)), [x, empty, empty, sizes], given, (1, 2, 3))


def _quantize(d: Draw) -> Case:
    dtype = d.r.choice(("uint8", "int8"))
    shape = [max(n, 1) for n in d.shape(1, 3)]
    axis = d.axis(len(shape))
    per = d.r.random() < 0.5
    scale = (np.abs(d.array([shape[axis]] if per else [], "float32")) + np.float32(0.25)).astype(np.float32)
    zero = d.array(scale.shape, dtype)
    given = {"axis": axis} if per else {}
    if d.r.random() < 0.5:
        return Case("QuantizeLinear", d.r.choice((13, 19, 21)), [d.array(shape, "float32"), scale, zero], given)
    return Case("DequantizeLinear", d.r.choice((13, 19, 21)), [d.array(shape, dtype), scale, zero], given)


def _cast(d: Draw) -> Case:
    onnx = importlib.import_module("onnx")
    source = d.r.choice((*FLOATS, "int32", "int64", "uint8", "bool"))
    target = d.r.choice((*FLOATS, "int32", "int64", "bool", "bfloat16"))
    kind = {"bool": onnx.TensorProto.BOOL, "bfloat16": onnx.TensorProto.BFLOAT16}
    to = kind[target] if target in kind else onnx.helper.np_dtype_to_tensor_dtype(np.dtype(target))
    return Case("Cast", d.r.choice((13, 19, 21)), [np.abs(d.array(d.shape(), source))], {"to": int(to)})


def _recurrent(d: Draw) -> Case:
    op, gates = d.r.choice((("RNN", 1), ("GRU", 3), ("LSTM", 4)))
    direction = d.r.choice(("forward", "reverse", "bidirectional"))
    ways, hidden, batch, steps, size = (2 if direction == "bidirectional" else 1), 3, 2, d.r.randint(1, 4), 2
    given: dict[str, Any] = {"hidden_size": hidden, "direction": direction}
    if op == "GRU" and d.r.random() < 0.5:
        given["linear_before_reset"] = 1
    if d.r.random() < 0.3:
        given["clip"] = 0.5
    if d.r.random() < 0.3:
        names = {"RNN": ("Relu",), "GRU": ("HardSigmoid", "Softsign"), "LSTM": ("Sigmoid", "Relu", "Tanh")}[op]
        given["activations"] = list(names * ways)
    inputs: list[Array | None] = [
        d.array([steps, batch, size], "float32"),
        d.array([ways, gates * hidden, size], "float32"),
        d.array([ways, gates * hidden, hidden], "float32"),
        d.array([ways, 2 * gates * hidden], "float32") if d.r.random() < 0.6 else None,
        d.rng.integers(1, steps + 1, (batch,)).astype(np.int32) if d.r.random() < 0.5 else None,
        d.array([ways, batch, hidden], "float32") if d.r.random() < 0.5 else None,
    ]
    if op == "LSTM":
        inputs.append(d.array([ways, batch, hidden], "float32") if d.r.random() < 0.5 else None)
        inputs.append(d.array([ways, 3 * hidden], "float32") if d.r.random() < 0.4 else None)
    while inputs[-1] is None:
        inputs.pop()
    return Case(op, d.r.choice((7, 14)), inputs, given, outputs=3 if op == "LSTM" else 2)


def _sampled(d: Draw) -> Case:
    op = d.r.choice(
        ("GridSample", "RoiAlign", "NonMaxSuppression", "Col2Im", "Einsum", "Where", "Clip", "OneHot", "Det")
    )
    if op == "GridSample":
        version = d.r.choice((16, 20))
        modes = ("bilinear", "nearest", "bicubic") if version == 16 else ("linear", "nearest", "cubic")
        given: dict[str, Any] = {"mode": d.r.choice(modes), "align_corners": d.r.randint(0, 1),
                 "padding_mode": d.r.choice(("zeros", "border", "reflection"))}  # fmt: skip
        grid = (d.rng.random((1, 3, 4, 2)) * 3 - 1.5).astype(np.float32)
        return Case(op, version, [d.array([1, 2, 4, 5], "float32"), grid], given)
    if op == "RoiAlign":
        given = {"output_height": d.r.randint(1, 3), "output_width": d.r.randint(1, 3), "spatial_scale": 0.5,
                 "sampling_ratio": d.r.randint(0, 2)}  # fmt: skip
        low = d.rng.random((3, 2)) * 5
        rois = np.concatenate([low, low + d.rng.random((3, 2)) * 8 + 0.5], 1).astype(np.float32)
        version = d.r.choice((10, 16))
        return Case(op, version, [d.array([2, 2, 7, 6], "float32"), rois, np.array([0, 1, 0])], given)
    if op == "NonMaxSuppression":
        low = d.rng.random((1, 8, 2)) * 5
        boxes = np.concatenate([low, low + d.rng.random((1, 8, 2)) * 5], 2).astype(np.float32)
        return Case(op, d.r.choice((10, 11)), [boxes, d.rng.random((1, 2, 8)).astype(np.float32),
                    np.array([d.r.randint(0, 4)]), np.array([0.3], np.float32), np.array([0.2], np.float32)],
                    {"center_point_box": d.r.randint(0, 1)}, (2, 3, 4))  # fmt: skip
    if op == "Col2Im":
        return Case(op, 18, [d.array([1, 8, 9], "float32"), np.array([4, 4]), np.array([2, 2])], {}, (1, 2))
    if op == "Einsum":
        a, b = d.array([2, 3, 4], "float32"), d.array([2, 4, 5], "float32")
        return Case(
            op, 12, [a, b], {"equation": d.r.choice(("bij,bjk->bik", "bij,bjk->bk", "...ij,...jk->...ik", "bij,bjk"))}
        )
    shape = d.shape()
    if op == "Where":
        return Case(op, d.r.choice((9, 16)), [d.array(d.broadcast(shape), "bool"), d.array(shape, "float32"),
                                              d.array(d.broadcast(shape), "float32")])  # fmt: skip
    if op == "Clip":
        lo, hi = np.array(-1, np.float32), np.array(1, np.float32)
        return Case(op, d.r.choice((11, 12, 13)), [d.array(shape, "float32"), d.r.choice((lo, None)), hi])
    if op == "OneHot":
        axis = d.r.randint(-len(shape) - 1, len(shape))
        return Case(
            op, 11, [d.array(shape, "int64"), np.array([4]), np.array([2, 5], np.float32)], {"axis": axis}, (1,)
        )
    return Case(op, 11, [d.array([2, 3, 3], "float32")])


def _attention(d: Draw) -> Case:
    op = d.r.choice(("Attention", "RotaryEmbedding"))
    n, h, s, t = 2, 4, 3, 5
    if op == "RotaryEmbedding":
        angle = d.array([n, s, 2], "float32")
        return Case(
            op, 23, [d.array([n, h, s, 4], "float32"), np.cos(angle), np.sin(angle)], {"interleaved": d.r.randint(0, 1)}
        )
    kv = d.r.choice((4, 2))
    inputs: list[Array | None] = [d.array([n, h, s, 4], "float32"), d.array([n, kv, t, 4], "float32"),
                                  d.array([n, kv, t, 6], "float32")]  # fmt: skip
    if d.r.random() < 0.4:
        inputs.append(d.array([s, t], d.r.choice(("float32", "bool"))))
    given: dict[str, Any] = {"is_causal": d.r.randint(0, 1)}
    if d.r.random() < 0.3:
        given["scale"] = 0.25
    if d.r.random() < 0.3:
        given["softcap"] = 2.0
    return Case(op, 23, inputs, given)


DRAWS: tuple[Callable[[Draw], Case], ...] = (
    _elementwise, _binary, _reduce, _arg, _softmax, _matmul, _gemm, _conv, _conv_transpose, _pool, _global_pool,
    _normalize, _gather, _scatter, _move, _move, _resize, _quantize, _cast, _recurrent, _sampled, _attention,
)  # fmt: skip
