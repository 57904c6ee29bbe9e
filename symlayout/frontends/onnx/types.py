"""ONNX's operators that change the element type."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from symlayout.compute import quantization, reductions, trace
from symlayout.compute.demands import demanding, spread
from symlayout.compute.elementwise import elementwise
from symlayout.compute.whole import where_elements
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.element_types import of_number
from symlayout.frontends.onnx.elementwise import apply, several
from symlayout.frontends.onnx.operator import AT_LEAST_0, as_tensor, is_known, known, operator
from symlayout.frontends.registry import NotDeclaredError
from symlayout.ops.reshape import reshape
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import compute
from symlayout.tensors.declaration import Body, Places
from symlayout.tensors.element_types import type_name

_ABOUT = {
    "round_mode": 'How values become powers of two: ``"up"``, ``"down"`` or ``"nearest"``.',
    "precision": "The number of the element type of the division; 0 is that of the inputs.",
}
_KINDS = "attr_dtype, bad_axis, rank, size_mismatch"


def cast_to(x: Tensor, dtype: Any, saturate: bool = True, round_mode: str = "up") -> Tensor:
    """Return *x* in the element type *dtype*; None leaves it as it is, and so does its own type without infinities."""
    if dtype is None or (x.dtype == dtype and not (saturate and np.dtype(dtype).name == "float8_e5m2")):
        return x
    return elementwise(_cast(np.dtype(dtype), saturate, round_mode), x, dtype=dtype)


@functools.lru_cache(maxsize=64)
def _cast(dtype: np.dtype[Any], saturate: bool, round_mode: str) -> Body:
    """Return the body of a cast, with the attributes that matter for the type *dtype*."""
    given: list[tuple[str, Any]] = [("to", dtype)]
    if dtype.name.startswith("float8"):
        given.append(("saturate", saturate))
    if dtype.name == "float8_e8m0fnu":
        given.append(("round_mode", round_mode))
    return Body("cast", quantization.cast, tuple(given))


@operator("Cast", example=("N, C", "to=10", "(N, C)"), kinds="attr_dtype", about=_ABOUT)
def cast(input: Tensor, to: Any, saturate: Any = 1, round_mode: str = "up") -> Tensor:
    """Return *input* in another element type."""
    dtype = of_number("to", to)
    if dtype is None:
        return compute(Body("cast_to_text", quantization.to_text), [input], batch=input.rank, dtype=np.dtype("U32"))
    return cast_to(input, dtype, attributes.flag("saturate", saturate), round_mode)


@operator("CastLike", example=("N, C; 1", "", "(N, C)"), kinds="attr_dtype", about=_ABOUT)
def cast_like(input: Tensor, target_type: Tensor, saturate: Any = 1, round_mode: str = "up") -> Tensor:
    """Return *input* in the element type of *target_type*."""
    return cast_to(input, target_type.dtype, attributes.flag("saturate", saturate), round_mode)


@operator("BitCast", example=("N, C", "to=6", "(N, C)"), kinds="attr_dtype, size_mismatch")
def bit_cast(input: Tensor, to: Any) -> Tensor:
    """Return the bits of *input* as elements of another type of the same size."""
    dtype = of_number("to", to)
    if dtype is None or (input.dtype is not None and input.dtype.itemsize != dtype.itemsize):
        raise ShapeError(
            f"elements of {type_name(input.dtype)} have another size than those of {type_name(dtype)}", "size_mismatch"
        )
    return elementwise(Body("bits", quantization.bits, (("to", dtype),)), input, dtype=dtype)


@operator(
    "QuantizeLinear",
    example=("N, C; C", "axis=1", "(N, C)"),
    kinds=_KINDS,
    about=_ABOUT,
    allowed={"block_size": AT_LEAST_0},
)
def quantize_linear(
    x: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor | None = None,
    axis: Any = 1,
    saturate: Any = 1,
    block_size: Any = 0,
    output_dtype: Any = 0,
    precision: Any = 0,
) -> Tensor:
    """Return ``x / y_scale`` rounded, plus the zero point, in a narrow type."""
    dtype = of_number("output_dtype", output_dtype) if output_dtype else None
    if y_zero_point is not None and y_zero_point.dtype is not None:
        if dtype not in (None, y_zero_point.dtype):
            raise ShapeError(
                f"output_dtype is {type_name(dtype)}, the zero point has {type_name(y_zero_point.dtype)}", "attr_dtype"
            )
        dtype = y_zero_point.dtype
    dtype = dtype or np.dtype(np.uint8)
    if dtype.kind in "bc" or dtype.name == "bfloat16" or dtype.itemsize > 2 or dtype == np.float16:
        raise ShapeError(f"output_dtype is {type_name(dtype)}, which is no type of quantised values", "attr_dtype")
    given: list[tuple[str, Any]] = [("to", dtype), ("saturate", attributes.flag("saturate", saturate))]
    if precision:
        given.append(("precision", of_number("precision", precision)))
    parameters = [y_scale] if y_zero_point is None else [y_scale, y_zero_point]
    block = attributes.constant("block_size", block_size)
    parameters, along = _fitting(x, parameters, axis, block)
    return quantization.per_channel(quantization.quantized, x, parameters, along, block, tuple(given), dtype)


@operator(
    "DequantizeLinear",
    example=("N, C; C", "axis=1", "(N, C)"),
    kinds=_KINDS,
    allowed={"block_size": AT_LEAST_0},
)
def dequantize_linear(
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor | None = None,
    axis: Any = 1,
    block_size: Any = 0,
    output_dtype: Any = 0,
) -> Tensor:
    """Return ``(x - x_zero_point) * x_scale``."""
    dtype = of_number("output_dtype", output_dtype) if output_dtype else None
    if dtype is not None and not (dtype.name == "bfloat16" or (dtype.kind == "f" and dtype.itemsize <= 4)):
        raise ShapeError(f"output_dtype is {type_name(dtype)}, which is no type of real values", "attr_dtype")
    given = (("to", dtype),) if dtype is not None else ()
    parameters = [x_scale] if x_zero_point is None else [x_scale, x_zero_point]
    if x_zero_point is not None and quantization.is_float8(x.dtype or x_zero_point.dtype):
        x = _around_zero(x, x_zero_point)
    block = attributes.constant("block_size", block_size)
    result = dtype or x_scale.dtype or np.dtype(np.float32)
    parameters, along = _fitting(x, parameters, axis, block)
    return quantization.per_channel(quantization.dequantized, x, parameters, along, block, given, result)


def _around_zero(x: Tensor, point: Tensor) -> Tensor:
    """Return *x*, whose zero *point* is 0.

    Runtimes refuse another one for narrow floats; the standard's formula subtracts it, and its reference does not.
    """
    if not is_known(point):
        return where_elements(x, point, "zero_points", Places(0, limits=(0, 0)))
    if known("x_zero_point", point).astype(np.float32).any():
        raise NotDeclaredError("a zero point of narrow floats is not 0", "attr_range")
    return x


def _fitting(x: Tensor, parameters: list[Tensor], axis: Any, block: int) -> tuple[list[Tensor], int]:
    """Return parameters of which there is one for all elements, or one for each place on an axis; and the axis.

    If *x* does not have the axis, there is one for all elements.
    """
    single = all(p.extents in ((), (1,)) for p in parameters)
    if block and single:
        raise NotDeclaredError(f"block_size is {block}, and there is one scale")
    if single:
        return [p if x.rank else reshape(p, ()) for p in parameters], 0
    scale, *zero = parameters
    parameters = [scale, *(_of_shape(p, scale.shape) for p in zero)]
    along = attributes.constant("axis", axis)
    if block or any(p.rank > 1 for p in parameters):
        (along,) = attributes.axes("axis", axis, x.rank)
        blocks = [-(-n // block) if block and k == along else n for k, n in enumerate(x.shape)]
        return [_of_shape(scale, blocks), *parameters[1:]], along
    if -x.rank <= along < x.rank:
        along %= x.rank
        return [spread(p, (x.shape[along],)) if p.rank else p for p in parameters], along
    what = f"{{}} scales or zero points beside axis {along} of a tensor of rank {x.rank}, not {{}}"
    return [reshape(demanding(p, what, [(p.shape[0], 1)], kind="bad_axis"), ()) if p.rank else p for p in parameters], 0


def _of_shape(p: Tensor, shape: Sequence[Any]) -> Tensor:
    """Return scales or zero points of this shape; one of them may stand without axes, or in one."""
    if p.rank == len(shape):
        return demanding(
            p, "scales or zero points have an extent of {}, not {}", list(zip(p.shape, shape, strict=True))
        )
    if {p.rank, len(shape)} == {0, 1}:
        return demanding(p, "there are {} scales or zero points, not {}", [(n, 1) for n in (*p.shape, *shape)])
    raise ShapeError(f"scales or zero points have rank {p.rank}, not {len(shape)}", "rank")


@operator("DynamicQuantizeLinear", example=("N, C", "", "[(N, C), (), ()]"), kinds="overflow")
def dynamic_quantize_linear(x: Tensor) -> list[Tensor]:
    """Return *x* as uint8 with the scale and the zero point of its range."""
    zero = as_tensor("DynamicQuantizeLinear", "zero", np.float32(0))
    axes = range(x.rank)
    low, high = (
        several(name, ufunc, [reductions.reduced(x, axes, function, keepdims=False, exact=True), zero])
        for name, ufunc, function in (
            ("Min", trace.smaller, reductions.least),
            ("Max", trace.larger, reductions.greatest),
        )
    )
    scale = apply("Div", apply("Sub", high, low), as_tensor("DynamicQuantizeLinear", "range", np.float32(255)))
    level = apply("Div", apply("Neg", low), scale)
    point = quantization.per_channel(quantization.rounded_to_uint8, level, [], 0, 0, (), np.dtype(np.uint8))
    given = (("to", np.dtype(np.uint8)), ("saturate", True))
    return [
        quantization.per_channel(quantization.quantized, x, [scale, point], 0, 0, given, np.dtype(np.uint8)),
        scale,
        point,
    ]
