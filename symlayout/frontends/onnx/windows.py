"""ONNX's convolutions and pools: attributes to windows."""

from __future__ import annotations

import functools
import inspect
import operator as python
from collections.abc import Callable
from typing import Any, TypeVar, cast

from symlayout.compute import contractions, pooling, reductions
from symlayout.compute.contractions import Spatial
from symlayout.compute.demands import demanding, nonempty
from symlayout.errors import LEFT_OUT, ShapeError, shown
from symlayout.frontends import attributes
from symlayout.frontends.onnx.elementwise import apply
from symlayout.frontends.onnx.operator import operator
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import NotDeclaredError
from symlayout.language.sympy_bridge import extreme
from symlayout.ops.axes import expand_dims
from symlayout.tensors.chain import Tensor

F = TypeVar("F", bound=Callable[..., Tensor])

_AUTO = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
_KINDS = "rank, size_mismatch, infeasible, length_mismatch, attr_dtype, attr_range, block_lt_1, bad_mode, overflow"

_EACH_AT_LEAST = {"kernel_shape": 1, "strides": 1, "dilations": 1, "pads": 0, "output_padding": 0, "output_shape": 0}
"""The attributes that have a number for each spatial axis, and pads two, with the least that the standard has."""


def check_windows(rank: int, **given: Any) -> None:
    """Refuse attributes that are not what the standard says of them, also those that no other attribute uses.

    Parameters
    ----------
    rank : int
        The number of spatial axes.
    **given : Any
        Attributes of `_EACH_AT_LEAST` by their names; None is one that is left out.

    Raises
    ------
    ShapeError
        ``length_mismatch`` if there are more or fewer numbers than axes, ``block_lt_1`` for a number below 1,
        ``attr_range`` for one below 0, ``attr_dtype`` for what is no integer.
    """
    for name, value in given.items():
        least = _EACH_AT_LEAST[name]
        numbers = [] if value is None else attributes.vector(name, value, 2 * rank if name == "pads" else rank)
        if any(isinstance(n, int) and n < least for n in numbers):
            what = f"{name} are {shown(numbers)}, each is at least {least}"
            raise ShapeError(what, "block_lt_1" if least else "attr_range")


def _pairs(pads: Any, rank: int) -> tuple[tuple[Any, Any], ...]:
    if pads is None:
        return ((0, 0),) * rank
    flat = attributes.fill("pads", attributes.vector("pads", pads, 2 * rank), 0)
    return tuple(zip(flat[:rank], flat[rank:], strict=True))


def spatial_of(
    rank: int,
    auto_pad: Any,
    dilations: Any,
    pads: Any,
    strides: Any,
    ceil_mode: Any = 0,
    unfit: str = "infeasible",
    cropped: str = "",
) -> Spatial:
    """Return how windows lie on *rank* spatial axes, of ONNX's attributes; see `Spatial` for *unfit* and *cropped*."""
    mode = attributes.choice("auto_pad", auto_pad or "NOTSET", _AUTO)
    steps, apart = _steps("strides", strides, rank), _steps("dilations", dilations, rank)
    around = _pairs(pads, rank)
    given = around if mode == "NOTSET" else mode
    return Spatial(steps, apart, given, attributes.flag("ceil_mode", ceil_mode), unfit=unfit, cropped=cropped)


def _steps(name: str, value: Any, rank: int) -> tuple[Any, ...]:
    return (1,) * rank if value is None else tuple(attributes.fill(name, attributes.vector(name, value, rank), 1))


def _only_one_way(auto_pad: Any, pads: Any) -> None:
    """Refuse pads beside a mode that computes them."""
    if pads is not None and auto_pad not in (None, "", "NOTSET"):
        raise ShapeError(f"auto_pad is {shown(auto_pad)}, and there are pads", "attr_range")


def with_bias(y: Tensor, bias: Tensor | None) -> Tensor:
    """Return *y* plus one number for each channel, if there are any."""
    if bias is None:
        return y
    require_rank("bias", bias, 1, 1)
    bias = demanding(bias, "there are {} biases for {} channels", [(bias.shape[0], y.shape[1])])
    return apply("Add", y, expand_dims(bias, list(range(1, y.rank - 1))) if y.rank > 2 else bias)


def of_kernel_shape(W: Tensor, kernel_shape: Any) -> Tensor:
    """Return kernels, which have the extents *kernel_shape* if that is given."""
    if kernel_shape is None:
        return W
    given = attributes.vector("kernel_shape", kernel_shape, W.rank - 2)
    pairs = [(n, e) for n, e in zip(W.shape[2:], given, strict=True) if e is not None]
    return demanding(W, "kernels have an extent of {}, kernel_shape says {}", pairs)


@operator("Conv", example=("N, C, H, W; M, C, 3, 3", "pads=(1, 1, 1, 1)", "(N, M, H, W)"), kinds=_KINDS)
def conv(
    X: Tensor,
    W: Tensor,
    B: Tensor | None = None,
    auto_pad: Any = "NOTSET",
    dilations: Any = None,
    group: Any = 1,
    kernel_shape: Any = None,
    pads: Any = None,
    strides: Any = None,
) -> Tensor:
    """Return the convolution of images *X* with kernels *W*, plus the bias *B*."""
    rank = require_rank("Conv", X, 3) - 2
    check_windows(rank, kernel_shape=kernel_shape, strides=strides, dilations=dilations, pads=pads)
    _only_one_way(auto_pad, pads)
    W = of_kernel_shape(W, kernel_shape)
    spatial = spatial_of(rank, auto_pad, dilations, pads, strides, cropped=LEFT_OUT)
    if isinstance(spatial.pads, str) and spatial.pads.startswith("SAME"):  # others demand that a window fits
        X = nonempty(X, range(2, X.rank))
    return with_bias(contractions.conv(X, W, attributes.scalar("group", group, 1), spatial), B)


def with_attributes_of(like: Callable[..., Any], *without: str) -> Callable[[F], F]:
    """Return a decorator: a function that ends in ``**attributes`` gets those of the operator *like* in its signature.

    *without* names the operator's inputs, and attributes that the function does not take.
    """
    given = [p for p in inspect.signature(like).parameters.values() if p.name not in without]

    def keep(function: F) -> F:
        own = inspect.signature(function)
        inputs = [p for p in own.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        names_only = inputs[-1].default is not inputs[-1].empty and any(p.default is p.empty for p in given)
        more = [p.replace(kind=p.KEYWORD_ONLY) for p in given] if names_only else given
        signature = own.replace(parameters=[*inputs, *more])

        def bound(*args: Any, **kwargs: Any) -> Tensor:
            made: Tensor = function(**signature.bind(*args, **kwargs).arguments)
            return made

        functools.update_wrapper(bound, function)
        bound.__signature__ = signature  # type: ignore[attr-defined]
        return cast("F", bound)

    return keep


with_conv_attributes = with_attributes_of(conv, "X", "W", "B")


@operator("ConvTranspose", example=("N, 8, H; 8, M, 3", "strides=(2,)", "(N, M, 2*H + 1)"), kinds=_KINDS)
def conv_transpose(
    X: Tensor,
    W: Tensor,
    B: Tensor | None = None,
    auto_pad: Any = "NOTSET",
    dilations: Any = None,
    group: Any = 1,
    kernel_shape: Any = None,
    output_padding: Any = None,
    output_shape: Any = None,
    pads: Any = None,
    strides: Any = None,
) -> Tensor:
    """Return the transposed convolution of *X* with kernels *W*, plus the bias *B*."""
    rank = require_rank("ConvTranspose", X, 3) - 2
    check_windows(rank, kernel_shape=kernel_shape, strides=strides, dilations=dilations, pads=pads)
    check_windows(rank, output_padding=output_padding, output_shape=output_shape)
    _only_one_way(auto_pad, pads)
    steps, apart = _steps("strides", strides, rank), _steps("dilations", dilations, rank)
    extra = [0] * rank if output_padding is None else attributes.vector("output_padding", output_padding, rank)
    for e, s, d in zip(extra, steps, apart, strict=True):
        if all(isinstance(n, int) for n in (e, s, d)) and e >= max(s, d):
            raise ShapeError(f"output_padding has {e}, beside a stride of {s} and a dilation of {d}", "attr_range")
    if any(isinstance(e, int) and isinstance(s, int) and e >= s for e, s in zip(extra, steps, strict=True)):
        raise NotDeclaredError(f"output_padding is {shown(extra)}, not below the strides {shown(steps)}")
    W = demanding(W, "kernels have an extent of {}, not {}", at_least=[(n, 1) for n in W.shape[1:]], kind=LEFT_OUT)
    X = nonempty(X, range(2, X.rank))
    given = (auto_pad, dilations, group, kernel_shape, output_padding, output_shape, pads, strides)
    return transposed_conv(X, W, B, *given, beyond=False)


def transposed_conv(
    X: Tensor,
    W: Tensor,
    B: Tensor | None,
    auto_pad: Any,
    dilations: Any,
    group: Any,
    kernel_shape: Any,
    output_padding: Any,
    output_shape: Any,
    pads: Any,
    strides: Any,
    *,
    beyond: bool,
) -> Tensor:
    """Return what `conv_transpose` returns, of attributes that fit each other.

    *beyond* says whether a result may reach a stride or more beyond the last kernel; else such sizes are left out.
    """
    rank = X.rank - 2
    require_rank("the kernel", W, X.rank, X.rank)
    W = of_kernel_shape(W, kernel_shape)
    given = spatial_of(rank, "NOTSET", dilations, None, strides)
    mode = attributes.choice("auto_pad", auto_pad or "NOTSET", _AUTO)
    extra = [0] * rank if output_padding is None else attributes.vector("output_padding", output_padding, rank)
    if output_shape is None and mode in ("NOTSET", "VALID"):
        around = list(_pairs(pads if mode == "NOTSET" else None, rank))
    else:
        around = []
        sizes = None if output_shape is None else attributes.vector("output_shape", output_shape)[-rank:]
        if sizes is not None and len(sizes) < rank:
            raise ShapeError(f"output_shape has {len(sizes)} values for {rank} axes", "length_mismatch")
        for k, (n, s, d) in enumerate(zip(X.shape[2:], given.strides, given.dilations, strict=True)):
            whole = s * (n - 1) + extra[k] + (W.shape[2 + k] - 1) * d + 1
            removed = whole - (n * s if sizes is None else sizes[k])
            if not beyond:
                least = 0 if sizes is None else 1 - s
                X = demanding(X, "{} elements are taken away, not {}", at_least=[(removed, least)], kind=LEFT_OUT)
            taken = extreme("max", (removed, 0))
            less = taken // 2
            begin = less if mode == "SAME_UPPER" else taken - less
            around.append((begin, (taken if beyond and sizes is None else removed) - begin))
    groups = attributes.constant("group", group)
    made = contractions.conv_transpose(X, W, groups, given.strides, given.dilations, around, extra)
    return with_bias(made, B)


def _windows(
    name: str, X: Tensor, kernel_shape: Any, auto_pad: Any, dilations: Any, pads: Any, strides: Any, ceil_mode: Any
) -> tuple[Tensor, list[Any], Spatial]:
    """Return images that have elements, the extents of a pool's windows, and how these lie.

    The standard does not say what a window of pads only is.
    """
    rank = require_rank(name, X, 3) - 2
    if kernel_shape is None:
        raise ShapeError("kernel_shape is missing", "length_mismatch")
    check_windows(rank, kernel_shape=kernel_shape, strides=strides, dilations=dilations, pads=pads)
    window = attributes.fill("kernel_shape", attributes.vector("kernel_shape", kernel_shape, rank), 1)
    for pair, k in zip(_pairs(pads, rank), window, strict=True):
        if any(isinstance(n, int) and isinstance(k, int) and n >= k for n in pair):
            raise NotDeclaredError(f"pads are {shown(pads)}, which are not below the windows' extents {shown(window)}")
    spatial = spatial_of(rank, auto_pad, dilations, pads, strides, ceil_mode, LEFT_OUT, LEFT_OUT)
    if isinstance(spatial.pads, str) and spatial.pads != "VALID" and any(d != 1 for d in spatial.dilations):
        raise NotDeclaredError("automatic pads with dilations, which runtimes leave out of them")
    return nonempty(X, range(1, X.rank)), window, spatial


@operator(
    "MaxPool",
    example=("N, C, 2*h, 2*w", "kernel_shape=(2, 2), strides=(2, 2)", "(N, C, h, w)"),
    kinds=_KINDS,
    about={"storage_order": "0: *Indices* count in row-major order; 1: in column-major order."},
)
def max_pool(
    X: Tensor,
    kernel_shape: Any,
    auto_pad: Any = "NOTSET",
    ceil_mode: Any = 0,
    dilations: Any = None,
    pads: Any = None,
    storage_order: Any = 0,
    strides: Any = None,
    outputs: int = 1,
) -> Tensor | list[Tensor]:
    """Return the maximum of each window; with two *outputs* also its position in the flattened input."""
    X, window, spatial = _windows("MaxPool", X, kernel_shape, auto_pad, dilations, pads, strides, ceil_mode)
    columns = attributes.flag("storage_order", storage_order)
    if outputs == 1:
        return pooling.max_pool(X, window, spatial)
    count = pooling.column_major_numbers if columns else pooling.row_major_numbers
    return [pooling.max_pool(X, window, spatial), pooling.max_pool_numbers(X, window, spatial, count)]


@operator(
    "AveragePool",
    example=("N, C, 2*h, 2*w", "kernel_shape=(2, 2), strides=(2, 2)", "(N, C, h, w)"),
    kinds=_KINDS,
)
def average_pool(
    X: Tensor,
    kernel_shape: Any,
    auto_pad: Any = "NOTSET",
    ceil_mode: Any = 0,
    count_include_pad: Any = 0,
    dilations: Any = None,
    pads: Any = None,
    strides: Any = None,
) -> Tensor:
    """Return the mean of each window."""
    X, window, spatial = _windows("AveragePool", X, kernel_shape, auto_pad, dilations, pads, strides, ceil_mode)
    count = attributes.flag("count_include_pad", count_include_pad)
    return pooling.average_pool(X, window, spatial, count_pads=count)


@operator(
    "LpPool",
    example=("N, C, 2*h, 2*w", "kernel_shape=(2, 2), strides=(2, 2)", "(N, C, h, w)"),
    kinds=_KINDS,
)
def lp_pool(
    X: Tensor,
    kernel_shape: Any,
    auto_pad: Any = "NOTSET",
    ceil_mode: Any = 0,
    dilations: Any = None,
    p: Any = 2,
    pads: Any = None,
    strides: Any = None,
) -> Tensor:
    """Return the norm of each window."""
    X, window, spatial = _windows("LpPool", X, kernel_shape, auto_pad, dilations, pads, strides, ceil_mode)
    return pooling.lp_pool(X, window, spatial, _exponent(p))


def _exponent(p: Any) -> int:
    """Return the exponent of a norm; the standard does not say what others than 1 and more mean.

    Version 1 writes it as a float.
    """
    if isinstance(p, float) and not p.is_integer():
        raise NotDeclaredError(f"p is {p}, which is no integer")
    if (found := python.index(int(p) if isinstance(p, float) else p)) < 1:
        raise NotDeclaredError(f"p is {found}, which is the exponent of no norm")
    return found


def _over_space(name: str, X: Tensor, function: Callable[..., Any], **given: Any) -> Tensor:
    axes = range(2, require_rank(name, X, 3))
    return reductions.reduced(nonempty(X, range(1, X.rank)), axes, function, keepdims=True, **given)


@operator("GlobalMaxPool", example=("N, C, H, W", "", "(N, C, 1, 1)"), kinds="rank")
def global_max_pool(X: Tensor) -> Tensor:
    """Return the maximum over the spatial axes."""
    return _over_space("GlobalMaxPool", X, reductions.greatest, exact=True)


@operator("GlobalAveragePool", example=("N, C, H, W", "", "(N, C, 1, 1)"), kinds="rank")
def global_average_pool(X: Tensor) -> Tensor:
    """Return the mean over the spatial axes."""
    return _over_space("GlobalAveragePool", X, reductions.mean)


@operator("GlobalLpPool", example=("N, C, H, W", "", "(N, C, 1, 1)"), kinds="rank")
def global_lp_pool(X: Tensor, p: Any = 2) -> Tensor:
    """Return the norm over the spatial axes."""
    return _over_space("GlobalLpPool", X, reductions.norm, attributes=(("p", _exponent(p)),))
