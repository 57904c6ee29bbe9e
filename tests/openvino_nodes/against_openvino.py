"""Compare operations with openvino: ``python -m tests.openvino_nodes.against_openvino --cases 2000``.

Each case draws an operation of an operation set, attributes, element types and shapes.  openvino builds and runs the
model, and saves it as IR.  The IR that we read has the same shapes, element types and values.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import symlayout as sl
from tests.onnx_nodes.random_nodes import INTEGERS, Array, Draw, count_outcomes, numbered


@dataclass
class Case:
    """One operation: its function in openvino, its operation set, inputs, and other arguments by name."""

    op: str
    opset: int
    inputs: list[Array]
    given: dict[str, Any] = field(default_factory=dict)
    constants: tuple[int, ...] = ()  # inputs that the model has as constants

    def __str__(self) -> str:
        shapes = ", ".join(f"{a.dtype}{list(a.shape)}" for a in self.inputs)
        fixed = {k: self.inputs[k].tolist() for k in self.constants}
        return f"{self.op}, opset {self.opset} ({shapes}; {self.given}; constants {fixed})"


def _of(d: Draw, low: int, high: int) -> list[int]:
    return [max(n, 1) for n in d.shape(low, high)]


def _unary(d: Draw) -> Case:
    floats = (
        "abs", "acos", "asin", "atan", "ceiling", "cos", "cosh", "erf", "exp", "floor", "negative", "relu", "sigmoid",
        "sign", "sin", "sinh", "sqrt", "tan", "tanh", "softplus", "softsign", "hswish", "hsigmoid", "mish", "gelu",
        "log", "acosh", "asinh", "atanh", "round", "swish", "elu", "clamp", "hard_sigmoid", "selu", "is_nan",
        "is_inf", "is_finite"
    )  # fmt: skip
    op = d.r.choice(floats)
    x = d.array(_of(d, 1, 4), "float32")
    if op in ("sqrt", "log", "acosh"):
        x = np.abs(x) + np.float32(1.25)
    if op in ("acos", "asin", "atanh"):
        x = x / np.float32(4)
    given: dict[str, Any] = {}
    inputs = [x]
    if op == "elu":
        given["alpha"] = d.r.choice((0.5, 1.0))
    elif op == "clamp":
        given = {"min_value": -0.5, "max_value": d.r.choice((0.75, 6.0))}
    elif op == "round":
        given["mode"] = d.r.choice(("half_to_even", "half_away_from_zero"))
    elif op == "gelu":
        given["approximation_mode"] = d.r.choice(("erf", "tanh"))
    elif op in ("hard_sigmoid", "selu"):
        inputs += [np.array(0.25, np.float32), np.array(0.5, np.float32)]
    elif op == "swish" and d.r.random() < 0.5:
        inputs.append(np.array(0.5, np.float32))
    return Case(op, 13, inputs, given, tuple(range(1, len(inputs))))


def _binary(d: Draw) -> Case:
    ops = (
        "add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "squared_difference", "equal",
        "not_equal", "less", "less_equal", "greater", "greater_equal", "floor_mod", "mod", "logical_and",
        "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "prelu"
    )  # fmt: skip
    op = d.r.choice(ops)
    shape = _of(d, 1, 4)
    kind = "bool" if op.startswith("logical") else d.r.choice(("float32", "int32", "int64"))
    if op.startswith("bitwise"):
        kind = d.r.choice(("int32", "uint8", "int8"))
    if op in ("prelu", "squared_difference", "power"):
        kind = "float32"
    a, b = d.array(shape, kind), d.array(d.broadcast(shape), kind)
    if op in ("divide", "mod", "floor_mod"):
        b = np.where(b == 0, b.dtype.type(3), b)
    if (
        op == "divide" and kind != "float32"
    ):  # openvino's CPU plugin cuts quotients towards 0, whatever m_pythondiv says
        a, b = np.abs(a), np.abs(b)
    if op == "power":
        a = np.abs(a) + np.float32(1)
    if op == "prelu":
        b = d.array([shape[1] if len(shape) > 1 and d.r.random() < 0.7 else 1], kind)
    elif d.r.random() < 0.5 and op not in ("divide", "mod", "floor_mod", "power"):
        a, b = b, a
    return Case(op, 13, [a, b])


def _ternary(d: Draw) -> Case:
    shape = _of(d, 1, 4)
    if d.r.random() < 0.5:
        return Case("select", 13, [d.array(d.broadcast(shape), "bool"), d.array(shape, "float32"),
                                   d.array(d.broadcast(shape), "float32")])  # fmt: skip
    low = d.array([1] * len(shape), "float32")
    high = low + np.float32(d.r.choice((0.5, 1.0, 2.0)))
    limits = [low, high, low if d.r.random() < 0.5 else low * 0 - 1, high if d.r.random() < 0.5 else high * 0 + 2]
    return Case("fake_quantize", 13, [d.array(shape, "float32"), *limits], {"levels": d.r.choice((2, 16, 255, 256))},
                (1, 2, 3, 4))  # fmt: skip


def _reduce(d: Draw) -> Case:
    op = d.r.choice(("l1", "l2", "logical_and", "logical_or", "max", "mean", "min", "prod", "sum"))
    shape = _of(d, 1, 4)
    kind = "bool" if op.startswith("logical") else d.r.choice(("float32", "int32")) if op != "l2" else "float32"
    if op == "mean":
        kind = "float32"
    axes = d.some(len(shape)) or [0]
    return Case(f"reduce_{op}", 13, [d.array(shape, kind), np.array(axes)], {"keep_dims": d.r.random() < 0.5}, (1,))


def _along(d: Draw) -> Case:
    op = d.r.choice(("softmax", "log_softmax", "cum_sum", "topk", "mvn", "normalize_l2", "lrn", "batch_norm_inference",
                     "group_normalization", "grn"))  # fmt: skip
    shape = _of(d, 2, 4)
    x, axis = d.array(shape, "float32"), d.axis(len(shape))
    if op in ("softmax", "log_softmax"):
        return Case(op, 13, [x], {"axis": axis})
    if op == "cum_sum":
        flags = {"exclusive": d.r.random() < 0.5, "reverse": d.r.random() < 0.5}
        return Case(op, 13, [x, np.array(axis)], flags, (1,))
    if op == "topk":
        values = d.rng.permutation(int(np.prod(shape))).astype(np.float32).reshape(shape)
        k = d.r.randint(1, shape[axis])
        given = {"axis": axis % len(shape), "mode": d.r.choice(("max", "min")), "sort": d.r.choice(("value", "index")),
                 "index_element_type": d.r.choice(("i32", "i64"))}  # fmt: skip
        return Case(op, d.r.choice((3, 11, 13)), [values, np.array(k)], given, (1,))
    axes = np.array(sorted({a % len(shape) for a in d.some(len(shape))}) or [1])
    if op == "mvn":
        how: dict[str, Any] = {"normalize_variance": d.r.random() < 0.7, "eps": 1e-3,
                 "eps_mode": d.r.choice(("inside_sqrt", "outside_sqrt"))}  # fmt: skip
        return Case(op, 13, [x, axes], how, (1,))
    if op == "normalize_l2":
        return Case(op, 13, [x, axes], {"eps": 1e-2, "eps_mode": d.r.choice(("add", "max"))}, (1,))
    x = d.array([2, 4, *_of(d, 1, 2)], "float32")
    if op == "lrn":
        way: dict[str, Any] = {
            "alpha": 0.5,
            "beta": 0.75,
            "bias": d.r.choice((1.0, 2.0)),
            "size": d.r.choice((1, 3, 5)),
        }
        # openvino's CPU plugin cuts the bias to an integer
        return Case(op, 13, [x, np.array([1])], way, (1,))
    if op == "grn":
        return Case(op, 13, [d.array([2, 4, 3, 2], "float32")], {"bias": 0.5})
    one = [d.array([4], "float32") for _ in range(4)]
    if op == "group_normalization":
        return Case(op, 13, [x, *one[:2]], {"num_groups": d.r.choice((1, 2, 4)), "epsilon": 1e-3})
    return Case(op, 13, [x, *one[:3], np.abs(one[3]) + np.float32(0.5)], {"epsilon": 1e-3})


def _spatial(d: Draw, rank: int, kernel: list[int], *, dilated: bool = True) -> dict[str, Any]:
    auto = d.r.choice(("explicit", "explicit", "explicit", "valid", "same_upper", "same_lower"))
    pads = [[d.r.randint(0, k - 1) if auto == "explicit" else 0 for k in kernel] for _ in range(2)]
    given = {"strides": [d.r.randint(1, 3) for _ in kernel], "pads_begin": pads[0], "pads_end": pads[1],
             "auto_pad": auto}  # fmt: skip
    return {**given, "dilations": [d.r.randint(1, 2) for _ in kernel]} if dilated else given


def _conv(d: Draw) -> Case:
    rank = d.r.choice((1, 2, 2, 3))
    kernel = [d.r.randint(1, 3) for _ in range(rank)]
    size = [d.r.randint(5, 8) for _ in range(rank)]
    op = d.r.choice(("convolution", "group_convolution", "convolution_backprop_data",
                     "group_convolution_backprop_data"))  # fmt: skip
    given = _spatial(d, rank, kernel)
    back, grouped = "backprop" in op, op.startswith("group")
    g = d.r.choice((1, 2, 3)) if grouped else 1
    cin, cout = d.r.randint(1, 3), d.r.randint(1, 3)
    x = d.array([d.r.randint(1, 2), g * cin, *size], "float32")
    w = d.array([*([g] if grouped else []), *((cin, cout) if back else (cout, cin)), *kernel], "float32")
    inputs, constants = [x, w], (1,) if d.r.random() < 0.5 or back else ()
    if back:
        given["output_padding"] = (
            [d.r.randint(0, s - 1) for s in given["strides"]] if d.r.random() < 0.3 else [0] * rank
        )
        if given["auto_pad"] != "explicit" or d.r.random() < 0.3:
            given["auto_pad"] = d.r.choice(("same_upper", "same_lower", "valid", "explicit"))
            if given["auto_pad"] in ("same_upper", "same_lower"):
                shape = [s * n + d.r.randint(0, 1) for s, n in zip(given["strides"], size, strict=True)]
                given["output_shape"] = np.array(shape)
    return Case(op, 13, inputs, given, constants)


def _pool(d: Draw) -> Case:
    rank = d.r.choice((1, 2, 2, 3))
    kernel = [d.r.randint(1, 3) for _ in range(rank)]
    x = d.array([1, 2, *(d.r.randint(5, 8) for _ in range(rank))], "float32")
    if d.r.random() < 0.2:
        rank = d.r.choice((1, 2))
        x = d.array([1, 2, *(d.r.randint(5, 8) for _ in range(rank))], "float32")
        return Case("adaptive_avg_pool", 13, [x, np.array([d.r.randint(1, 4) for _ in range(rank)])], {}, (1,))
    op = d.r.choice(("max_pool", "avg_pool"))
    given = _spatial(d, rank, kernel, dilated=op == "max_pool")
    given |= {"kernel_shape": kernel, "rounding_type": d.r.choice(("floor", "ceil"))}
    if given["rounding_type"] == "ceil":  # the value of a window without elements is not specified
        given["pads_end"] = [0] * rank
        given["strides"] = [min(s, k) for s, k in zip(given["strides"], kernel, strict=True)]
    if op == "avg_pool":
        excluded = given["rounding_type"] == "ceil" or d.r.random() < 0.5  # else the divisor is not specified
        return Case(op, 13, [x], {**given, "exclude_pad": excluded})
    values = d.rng.permutation(x.size).astype(np.float32).reshape(x.shape)
    given |= {"axis": d.r.randint(0, 2), "index_element_type": d.r.choice(("i32", "i64"))}
    return Case(op, 13, [values], given)


def _matmul(d: Draw) -> Case:
    m, k, n = d.r.randint(1, 4), d.r.randint(1, 4), d.r.randint(1, 4)
    batch = _of(d, 0, 2)
    ta, tb = d.r.random() < 0.5, d.r.random() < 0.5
    if d.r.random() < 0.15:
        equation = d.r.choice(("bij,bjk->bik", "bij,bjk->bk", "bij,bjk->ijk"))
        pair = [d.array([2, 3, 4], "float32"), d.array([2, 4, 5], "float32")]
        return Case("einsum", 13, pair, {"equation": equation})
    a = d.array([*batch, *((k, m) if ta else (m, k))], "float32")
    b = d.array([*d.broadcast(batch), *((n, k) if tb else (k, n))], "float32")
    return Case("matmul", 13, [a, b], {"transpose_a": ta, "transpose_b": tb})


def _index(d: Draw) -> Case:
    op = d.r.choice(("gather", "gather_elements", "gather_nd", "scatter_update", "scatter_elements_update",
                     "scatter_nd_update", "reverse_sequence", "one_hot", "bucketize", "variadic_split", "convert",
                     "shape_of"))  # fmt: skip
    shape = _of(d, 2, 4)
    x, axis = d.array(shape, "float32"), d.axis(len(shape))
    n = shape[axis]
    if op == "gather":
        if d.r.random() < 0.4 and axis % len(shape) > 0:
            index = d.rng.integers(0, n, (shape[0], 3))
            return Case(op, 8, [x, index, np.array(axis)], {"batch_dims": 1}, (2,))
        index = d.rng.integers(0, n, _of(d, 0, 2))
        return Case(op, d.r.choice((1, 7, 8)), [x, index, np.array(axis)], {}, (2, 1) if d.r.random() < 0.4 else (2,))
    if op == "gather_elements":
        return Case(op, 6, [x, d.rng.integers(0, n, shape)], {"axis": axis})
    if op == "gather_nd":
        index = np.stack([d.rng.integers(0, m, (3,)) for m in shape[:2]], -1)
        return Case(op, 8, [x, index], {"batch_dims": 0})
    if op == "scatter_update":
        index = d.rng.permutation(n)[: d.r.randint(1, n)]
        where = axis % len(shape)
        updates = d.array([*shape[:where], len(index), *shape[where + 1 :]], "float32")
        return Case(op, 3, [x, index, updates, np.array(where)], {}, (3,))
    if op == "scatter_elements_update":
        updates = d.array([1] * len(shape), "float32")
        given = {"reduction": d.r.choice(("none", "sum", "max"))} if d.r.random() < 0.6 else {}
        return Case(op, 12 if given else 3, [x, d.rng.integers(0, n, [1] * len(shape)), updates, np.array(axis)], given,
                    (3,))  # fmt: skip
    if op == "scatter_nd_update":
        index = d.rng.permutation(shape[0])[:1].reshape(1, 1)
        return Case(op, 4, [x, index, d.array([1, *shape[1:]], "float32")])
    if op == "reverse_sequence":
        lengths = d.rng.integers(1, shape[1] + 1, (shape[0],))
        return Case(op, 13, [x, lengths], {"batch_axis": 0, "seq_axis": 1})
    if op == "one_hot":
        index = d.rng.integers(0, 5, shape)
        fixed = [np.array(4), np.array(2, np.float32), np.array(-1, np.float32)]
        return Case(op, 13, [index, *fixed], {"axis": d.r.randint(-len(shape) - 1, len(shape))}, (1, 2, 3))
    if op == "bucketize":
        limits = np.array([-1, -0.5, 0, 0.5, 1], np.float32)
        return Case(op, 13, [x, limits], {"output_type": "i64", "with_right_bound": d.r.random() < 0.5}, (1,))
    if op == "variadic_split":
        first = d.r.randint(1, n)
        return Case(op, 13, [x, np.array(axis), np.array([first, -1] if first < n else [n])], {}, (1, 2))
    if op == "convert":
        kind = d.r.choice(("float32", *INTEGERS))
        to = d.r.choice(("f32", "i32", "i64", "u8"))
        return Case(op, 13, [np.abs(d.array(shape, kind))], {"destination_type": to})
    return Case(op, 3, [x], {"output_type": d.r.choice(("i32", "i64"))})


def _resize(d: Draw) -> Case:
    mode = d.r.choice(("nearest", "linear", "linear_onnx", "cubic"))
    way = d.r.choice(("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "tf_half_pixel_for_nn"))
    if mode != "nearest" and way == "tf_half_pixel_for_nn":
        way = "half_pixel"
    given: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": way}
    if mode == "nearest":
        given["nearest_mode"] = d.r.choice(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
    if mode == "cubic" and d.r.random() < 0.5:
        given["cube_coeff"] = -0.5
    x = d.array([1, 2, d.r.randint(2, 6), d.r.randint(2, 6)], "float32")
    axes = np.array([2, 3])
    if d.r.random() < 0.5:
        factors = (1.0, 2.0, 3.0) if way == "align_corners" else (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
        values: Array = np.array([d.r.choice(factors) for _ in range(2)], np.float32)
        given["shape_calculation_mode"] = "scales"
    else:
        values = np.array([d.r.randint(1, 9), d.r.randint(1, 9)])
        given["shape_calculation_mode"] = "sizes"
    given["axes"] = axes
    if d.r.random() < 0.5:
        return Case("interpolate", 11, [x, values], given, (1,))
    exact = values / np.array(x.shape[2:]) if given["shape_calculation_mode"] == "sizes" else values
    sizes = values if given["shape_calculation_mode"] == "sizes" else np.floor(values * x.shape[2:])
    return Case("interpolate", 4, [x, sizes.astype(np.int64), exact.astype(np.float32)], given, (1, 2))


def _recurrent(d: Draw) -> Case:
    cell, gates = d.r.choice((("rnn", 1), ("gru", 3), ("lstm", 4)))
    once = d.r.random() < 0.3
    direction = "forward" if once else d.r.choice(("forward", "reverse", "bidirectional"))
    ways, hidden, batch, steps, size = (2 if direction == "bidirectional" else 1), 3, 2, d.r.randint(1, 4), 2
    lead = [] if once else [ways]
    given: dict[str, Any] = {"hidden_size": hidden}
    if once and cell == "rnn":
        given |= {"activations": ["tanh"], "activations_alpha": [], "activations_beta": []}
    if not once:
        given["direction"] = direction
    after = cell == "gru" and d.r.random() < 0.5
    if after:
        given["linear_before_reset"] = True
    x = d.array([batch, size] if once else [batch, steps, size], "float32")
    states = [d.array([batch, *lead, hidden], "float32") for _ in range(2 if cell == "lstm" else 1)]
    lengths = [] if once else [d.rng.integers(1, steps + 1, (batch,)).astype(np.int32)]
    weights = [d.array([*lead, gates * hidden, n], "float32") for n in (size, hidden)]
    bias = d.array([*lead, (4 if after else gates) * hidden], "float32")
    return Case(f"{cell}_{'cell' if once else 'sequence'}", 5, [x, *states, *lengths, *weights, bias], given)


def _sampled(d: Draw) -> Case:
    op = d.r.choice(("grid_sample", "roi_align", "scaled_dot_product_attention"))
    if op == "grid_sample":
        given = {"align_corners": d.r.random() < 0.5, "mode": d.r.choice(("bilinear", "nearest", "bicubic")),
                 "padding_mode": d.r.choice(("zeros", "border", "reflection"))}  # fmt: skip
        grid = (d.rng.random((1, 3, 4, 2)) * 3 - 1.5).astype(np.float32)
        return Case(op, 13, [d.array([1, 2, 4, 5], "float32"), grid], {"attributes": given})
    if op == "roi_align":
        low = d.rng.random((3, 2)) * 5
        rois = np.concatenate([low, low + d.rng.random((3, 2)) * 8 + 0.5], 1).astype(np.float32)
        how: dict[str, Any] = {"pooled_h": d.r.randint(1, 3), "pooled_w": d.r.randint(1, 3), "spatial_scale": 0.5,
               "sampling_ratio": d.r.randint(0, 2), "mode": "avg"}  # fmt: skip
        if d.r.random() < 0.5:
            how["aligned_mode"] = d.r.choice(("asymmetric", "half_pixel", "half_pixel_for_nn"))
        inputs = [d.array([2, 2, 7, 6], "float32"), rois, np.array([0, 1, 0])]
        return Case(op, 13 if "aligned_mode" in how else 3, inputs, how)
    s, t = d.r.randint(1, 4), d.r.randint(1, 4)
    inputs = [d.array([2, 3, s, 4], "float32"), d.array([2, 3, t, 4], "float32"), d.array([2, 3, t, 5], "float32")]
    causal = d.r.random() < 0.4
    if not causal and d.r.random() < 0.6:
        inputs.append(d.array([s, t], "float32"))
    return Case(op, 13, inputs, {"causal": causal})


DRAWS: tuple[Callable[[Draw], Case], ...] = (
    _unary, _binary, _ternary, _reduce, _along, _along, _conv, _conv, _pool, _matmul, _index, _index, _resize,
    _recurrent, _sampled,
)  # fmt: skip


def model_of(case: Case) -> Any:
    """Return the model of a case; None if openvino refuses it."""
    ov, ops = importlib.import_module("openvino"), importlib.import_module(f"openvino.opset{case.opset}")
    inputs, values = [], []
    for k, a in enumerate(case.inputs):
        if k in case.constants:
            values.append(ops.constant(a))
        else:
            inputs.append(ops.parameter(list(a.shape), a.dtype.type, name=f"x{k}"))
            inputs[-1].output(0).get_tensor().set_names({f"x{k}"})
            values.append(inputs[-1])
    given = {k: ops.constant(v) if isinstance(v, np.ndarray) else v for k, v in case.given.items()}
    try:
        node = ops.einsum(values, **given) if case.op == "einsum" else getattr(ops, case.op)(*values, **given)
    except Exception:  # each of its errors is a refusal
        return None
    results = []
    for k, output in enumerate(node.outputs()):
        output.get_tensor().set_names({f"y{k}"})
        results.append(ops.result(output))
    return ov.Model(results, inputs, "m")


def theirs(model: Any, case: Case) -> list[Array] | None:
    """Return what openvino computes; None if it refuses."""
    ov = importlib.import_module("openvino")
    given = {f"x{k}": a for k, a in enumerate(case.inputs) if k not in case.constants}
    exact = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0}
    try:
        made = ov.Core().compile_model(model, "CPU", exact)(given)
    except Exception:  # each of its errors is a refusal
        return None
    return [np.asarray(made[k]) for k in range(len(model.outputs))]


def difference(case: Case, expected: list[Array], model: Any) -> str:
    """Return what differs between our outputs and *expected*; an empty text if nothing does."""
    ov = importlib.import_module("openvino")
    given = {f"x{k}": a for k, a in enumerate(case.inputs) if k not in case.constants}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.xml"
        ov.save_model(model, path, compress_to_fp16=False)
        try:
            outputs = sl.read_model(path).outputs
        except sl.SymlayoutError as error:
            return f"refused: {str(error).splitlines()[0]}"
        for name, array in zip((f"y{k}" for k in range(len(expected))), expected, strict=True):
            y = outputs[name]
            if tuple(y.shape) != array.shape:
                return f"shape {y.shape}, expected {array.shape}"
            if any(v.body is not None and v.body.function is None for v in y.graph()):
                return "no value"
            own: dict[str, Any] = {x.name: given[x.name] for x in y.arguments()}
            try:
                made = sl.interpret(y, **own)
            except sl.SymlayoutError as error:
                return f"not computed: {str(error).splitlines()[0]}"
            if y.dtype != array.dtype or made.dtype != array.dtype:
                return f"element type {y.dtype}, {made.dtype}, expected {array.dtype}"
            kind = np.float64 if array.dtype.kind == "f" else array.dtype
            if not np.allclose(made.astype(kind), array.astype(kind), rtol=2e-4, atol=2e-4, equal_nan=True):
                return f"values differ\n    {made.ravel()[:12]}\n    {array.ravel()[:12]}"
    return ""


def cases(count: int, first: int = 0, op: str | None = None) -> Iterator[tuple[int, Case]]:
    """Yield numbered cases, from each drawer in turn."""
    return numbered(DRAWS, count, first, op)


def outcome(case: Case) -> tuple[str, str]:
    """Return the outcome of a case, and a text if the sides differ."""
    model = model_of(case)
    expected = None if model is None else theirs(model, case)
    if expected is None:
        return "refused by openvino", ""
    found = difference(case, expected, model)
    return "different" if found else "equal", found


if __name__ == "__main__":
    sys.exit(count_outcomes("tests.openvino_nodes.against_openvino", sys.argv[1:], cases, outcome))
