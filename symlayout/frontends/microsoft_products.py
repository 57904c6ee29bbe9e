"""onnxruntime's products of quantized matrices, and its layer with states of them (domain ``com.microsoft``).

onnxruntime rounds their values in a way of its own.  So each is a function that nothing is known of bit for bit, beside
the formula of its page: the law ``"requantize"`` takes it for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symlayout.compute.demands import demanding, spread
from symlayout.compute.whole import as_runtimes_round, whole
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.elementwise import apply
from symlayout.frontends.onnx.operator import AT_LEAST_1, operator
from symlayout.frontends.onnx.products import gemm, mat_mul_integer, one_number, scaled
from symlayout.frontends.onnx.types import cast_to, dynamic_quantize_linear, quantize_linear
from symlayout.frontends.rank import require_rank, require_shape
from symlayout.frontends.registry import NotDeclaredError
from symlayout.ops.reshape import reshape
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Places

_SIZES = "rank, size_mismatch, bad_axis"
_FLOAT, _INT32 = np.dtype(np.float32), np.dtype(np.int32)


# ---------------------------------------------------------------------- products


_QUANTIZED = {
    "A": "What is multiplied.",
    "B": "A matrix.",
    "C": "What is added to the product of integers.",
    "a_scale": "The scale of *A*.",
    "b_scale": "The scale of *B*, or of each column.",
    "a_zero_point": "What stands for 0 in *A*.",
    "b_zero_point": "What stands for 0 in *B*, or in each column.",
    "y_scale": "The scale of the result; without it, the result is real.",
    "y_zero_point": "What stands for 0 in the result.",
}


@operator("microsoft:DynamicQuantizeMatMul", example=("M, K; K, N; 1", "", "(M, N)"), kinds=_SIZES, about=_QUANTIZED)
def dynamic_quantize_mat_mul(
    A: Tensor, B: Tensor, b_scale: Tensor, b_zero_point: Tensor | None = None, bias: Tensor | None = None
) -> Tensor:
    """Return the product of *A*, which is quantized first, and *B*, to which *bias* is added."""
    require_rank("DynamicQuantizeMatMul", A, 2)
    levels, scale, zero = dynamic_quantize_linear(A)
    made = _product("DynamicQuantizeMatMul", (levels, B), (scale, b_scale), (zero, b_zero_point), bias)
    return _rounded_product("dynamic_quantize_mat_mul", cast_to(made, A.dtype), [A, B, b_scale, b_zero_point, bias])


@operator("microsoft:MatMulIntegerToFloat", example=("M, K; K, N; 1; 1", "", "(M, N)"), kinds=_SIZES, about=_QUANTIZED)
def mat_mul_integer_to_float(
    A: Tensor,
    B: Tensor,
    a_scale: Tensor,
    b_scale: Tensor,
    a_zero_point: Tensor | None = None,
    b_zero_point: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:
    """Return the product of integers, times their scales, to which *bias* is added."""
    require_rank("MatMulIntegerToFloat", A, 2)
    numbers = [None if x is None else one_number(x) for x in (a_scale, a_zero_point)]
    assert numbers[0] is not None
    made = _product("MatMulIntegerToFloat", (A, B), (numbers[0], b_scale), (numbers[1], b_zero_point), bias)
    return _rounded_product(
        "mat_mul_integer_to_float", made, [A, B, a_scale, b_scale, a_zero_point, b_zero_point, bias]
    )


def _product(
    name: str,
    sides: tuple[Tensor, Tensor],
    scales: tuple[Tensor, Tensor],
    zeros: tuple[Tensor | None, Tensor | None],
    bias: Tensor | None,
) -> Tensor:
    """Return a product of integers as a real one; the matrix has a scale and a zero point, or one for each column."""
    a, b = sides
    if b.rank != 2:
        raise NotDeclaredError(f"{name} has a declaration for a matrix only", result=None)
    scale, zero = (None if x is None else spread(x, b.shape[1:]) for x in (scales[1], zeros[1]))
    assert scale is not None
    dtype = scales[0].dtype or _FLOAT
    made = cast_to(mat_mul_integer(a, b, zeros[0], zero), dtype)
    made = apply("Mul", made, apply("Mul", scales[0], scale))
    if bias is None:
        return made
    require_rank(name, bias, 1, 1)
    return apply("Add", made, demanding(bias, "a bias of {} elements, not {}", [(bias.shape[0], made.shape[-1])]))


def _rounded_product(name: str, made: Tensor, read: Sequence[Tensor | None], **given: Any) -> Tensor:
    """Return a product as onnxruntime rounds it, a function of those of *read* that are given."""
    present = ("operands", tuple(x is not None for x in read))
    return as_runtimes_round(name, made, [x for x in read if x is not None], [*given.items(), present])


@operator(
    "microsoft:QGemm",
    example=("M, K; (); (); N, K; (); (); N; (); ()", "transB=1", "(M, N)"),
    kinds=f"{_SIZES}, attr_dtype",
    about=_QUANTIZED | {"transA": "Whether *A* is transposed.", "transB": "Whether *B* is transposed."},
)
def q_gemm(
    A: Tensor,
    a_scale: Tensor,
    a_zero_point: Tensor,
    B: Tensor,
    b_scale: Tensor,
    b_zero_point: Tensor,
    C: Tensor | None = None,
    y_scale: Tensor | None = None,
    y_zero_point: Tensor | None = None,
    alpha: float = 1.0,
    transA: Any = 0,
    transB: Any = 0,
) -> Tensor:
    """Return *alpha* times the product of quantized matrices, quantized or real.

    First *C* is added to the product of integers: its scale is the product of *alpha* and the scales.
    """
    if (y_scale is None) != (y_zero_point is None):  # onnxruntime runs some of these, and its page knows none
        raise NotDeclaredError("QGemm has a declaration for y_scale and y_zero_point together", result=None)
    flips = attributes.flag("transA", transA), attributes.flag("transB", transB)
    columns = B.shape[0 if flips[1] else 1] if require_rank("QGemm", B, 2, 2) else None
    points = [one_number(x) for x in (a_scale, a_zero_point)]
    by_column = [x if x.rank == 0 else spread(x, (columns,)) for x in (b_scale, b_zero_point)]
    for x in by_column:
        require_rank("a scale", x, 0, 1)
    a = apply("Sub", cast_to(A, _INT32), cast_to(points[1], _INT32))
    b_zero = by_column[1]
    if b_zero.rank and flips[1]:
        b_zero = reshape(b_zero, (b_zero.shape[0], 1))
    b = apply("Sub", cast_to(B, _INT32), cast_to(b_zero, _INT32))
    made = cast_to(gemm(a, b, C, transA=flips[0], transB=flips[1]), _FLOAT)
    made = apply("Mul", made, scaled(apply("Mul", points[0], by_column[0]), float(alpha)))
    if y_scale is not None and y_zero_point is not None:
        made = quantize_linear(made, one_number(y_scale), one_number(y_zero_point))
    read = [A, a_scale, a_zero_point, B, b_scale, b_zero_point, C, y_scale, y_zero_point]
    return _rounded_product("q_gemm", made, read, alpha=float(alpha), flips=flips)


# ---------------------------------------------------------------------- layers


_LSTM = {
    "X": "Sequences, as (time, batch, channels).",
    "W": "The weights of each direction, as (directions, channels, 4*hidden).",
    "R": "The weights of the recurrence, as (directions, hidden, 4*hidden).",
    "B": "What is added to both products, as (directions, 8*hidden).",
    "sequence_lens": "The length of each sequence.",
    "initial_h": "The state before, as (directions, batch, hidden).",
    "initial_c": "The cell before, likewise.",
    "P": "The weights of peepholes, as (directions, 3*hidden).",
    "hidden_size": "The number of values of a state.",
    "clip": "The largest absolute value of what functions get.",
    "activations": "Names of functions.",
    "activation_alpha": "Coefficients of the functions.",
    "activation_beta": "Coefficients of the functions.",
    "input_forget": "Whether the input gate follows from the forget gate.",
}


@operator(
    "microsoft:DynamicQuantizeLSTM",
    example=(
        "L, N, C; 1, C, 16; 1, 4, 16; 1, 32; N; 1, N, 4; 1, N, 4; 1, 12; 1; 1; 1; 1",
        "hidden_size=4",
        "(L, 1, N, 4)",
    ),
    kinds=f"{_SIZES}, bad_mode, attr_missing",
    about=_LSTM,
    allowed={"hidden_size": AT_LEAST_1},
)
def dynamic_quantize_lstm(
    X: Tensor,
    W: Tensor,
    R: Tensor,
    B: Tensor | None = None,
    sequence_lens: Tensor | None = None,
    initial_h: Tensor | None = None,
    initial_c: Tensor | None = None,
    P: Tensor | None = None,
    W_scale: Tensor | None = None,
    W_zero_point: Tensor | None = None,
    R_scale: Tensor | None = None,
    R_zero_point: Tensor | None = None,
    activations: Any = (),
    activation_alpha: Any = (),
    activation_beta: Any = (),
    clip: Any = None,
    direction: str = "forward",
    hidden_size: Any = None,
    input_forget: Any = 0,
    outputs: int = 1,
) -> Tensor | list[Tensor]:
    """Return the states of a layer of long short-term memory, then the last ones, and the last cells.

    Products are of quantized states: nothing is known of the values but what they depend on.
    """
    name = "DynamicQuantizeLSTM"
    points = (W_scale, W_zero_point, R_scale, R_zero_point)
    if hidden_size is None or any(x is None for x in points):
        raise ShapeError(f"{name} needs hidden_size, and scales and zero points of the weights", "attr_missing")
    mode = attributes.choice("direction", direction, ("forward", "reverse", "bidirectional"))
    require_rank(name, X, 3, 3)
    time, batch, channels = X.shape
    size, ways = attributes.constant("hidden_size", hidden_size), 2 if mode == "bidirectional" else 1
    state = (ways, batch, size)
    shapes = [(ways, channels, 4 * size), (ways, size, 4 * size), (ways, 8 * size), (batch,), state, state]
    shapes.append((ways, 3 * size))
    given = [W, R, B, sequence_lens, initial_h, initial_c, P]
    xs = [
        None if x is None else require_shape(f"input {k} of {name}", x, shape)
        for k, (x, shape) in enumerate(zip(given, shapes, strict=True), 1)
    ]
    for x in points:
        assert x is not None
        require_rank("a scale", x, 1, 2)
        xs.append(demanding(x, "{} scales, not {}", list(zip(x.shape, (ways, 4 * size), strict=False))))
    settings: list[tuple[str, Any]] = [
        ("given", tuple(x is not None for x in xs)),
        ("direction", mode),
        ("activations", tuple(activations or ())),
        ("alpha", tuple(activation_alpha or ())),
        ("beta", tuple(activation_beta or ())),
        ("clip", clip),
        ("coupled", attributes.flag("input_forget", input_forget)),
    ]
    read = [X, *(x for x in xs if x is not None)]
    number = 1 + sum(x is not None for x in xs[:3])
    places = () if sequence_lens is None else (Places(number, axes=(0,), lengths=True),)
    found = [
        whole("dynamic_quantize_lstm", read, shape, attributes=[*settings, ("output", k)], dtype=X.dtype, places=places)
        for k, shape in enumerate([(time, *state), state, state][:outputs])
    ]
    return found if outputs > 1 else found[0]
